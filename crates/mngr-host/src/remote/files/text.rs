//! What each call of files runs there, with the path in `$p`. Only text: who runs it quotes what it is about.

/// A pipe or a device would hold us, and a file that nobody could take is not even begun (`$most`).
pub(super) const READ: &str = r#"
if [ -p "$p" ] || [ -c "$p" ] || [ -b "$p" ]; then echo "it is not an ordinary file" >&2; exit 1; fi
size=$(stat -L -c %s "$p" 2>/dev/null)
[ "${size:-0}" -le "$most" ] || { echo "File too large" >&2; exit 1; }
cat "$p""#;

/// `$from` counts from 1. `stat` says why nothing is there.
pub(super) const ORDINARY: &str = r#"
[ -e "$p" ] || { stat -L "$p" >/dev/null || exit 1; }
[ -f "$p" ] || { echo "it is not an ordinary file" >&2; exit 1; }
"#;

pub(super) const READ_FROM: &str = r#"tail -c "+$from" "$p""#;

/// A reader that has enough ends the writer, which some of them complain about.
pub(super) const READ_PART: &str = r#"tail -c "+$from" "$p" 2>"${0%/*}/tail" | head -c "$limit"
grep -v "Broken pipe" "${0%/*}/tail" >&2 && exit 1
exit 0"#;

/// `$access` and `$sync`; `$take` copies the new contents from standard input. Busybox would not replace a link to a
/// folder.
pub(super) const WRITE: &str = r#"
target=$p
case $beneath$access in shared|as-before) [ -L "$p" ] && [ -e "$p" ] && target=$(readlink -f "$p") ;; esac
case $target in */*) folder=${target%/*} ;; *) folder=. ;; esac
temp=$folder/.mngr-$name
case $access in private*|exactly) umask 077 ;; esac
(set -C; $take >"$temp") || { rm -f "$temp"; exit 1; }
mode=
case $access in
private-executable) mode=700 ;;
exactly) mode=$bits ;;
as-before) [ -e "$target" ] && mode=$(stat -c %a "$target") ;;
esac
{ [ -z "$mode" ] || chmod "$mode" "$temp"; } &&
{ [ -z "$sync" ] || sync "$temp" || sync; } &&
{ [ ! -L "$target" ] || [ ! -d "$target" ] || rm -f "$target"; } &&
mv -fT "$temp" "$target" || { rm -f "$temp"; exit 1; }
"#;

/// Enters `$below` beneath `$root`. Links that lead to the root are followed, below it none is; what is entered is held,
/// whatever its name leads to from then on. With `$make` folders are made, without it there is nothing to be done where
/// one is missing.
pub(super) const ENTER: &str = r#"
refuse() { printf 'mngr: link %s -> %s\n' "$1" "$2" >&2; exit 1; }
[ -z "$make_root" ] || mkdir -p "$root" || exit 1
[ -n "$make" ] || [ -d "$root" ] || exit 0
[ -d "$root" ] || { stat -L "$root" >/dev/null; exit 1; }
cd "$root" || exit 1
here=$(pwd -P)
done=
rest=$below
while [ -n "$rest" ]; do
    part=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest= ;; esac
    [ ! -L "./$part" ] || refuse "$done$part" "$(readlink "./$part")"
    if [ -n "$make" ] && [ ! -d "./$part" ]; then mkdir "./$part" || [ -d "./$part" ] || exit 1; fi
    [ -n "$make" ] || [ -e "./$part" ] || exit 0
    cd -P "./$part" || exit 1
    here=${here%/}/$part
    # It may have been exchanged since the look.
    [ "$(pwd -P)" = "$here" ] || refuse "$done$part" "$(pwd -P)"
    done=$done$part/
done
"#;

/// None of the names that are read, each with a NUL behind it, may be a link.
pub(super) const REFUSE_LINKS: &str = r#"
xargs -0 sh -c 'for name; do
    if [ -L "./$name" ]; then printf "mngr: link %s -> %s\n" "$0$name" "$(readlink "./$name")" >&2; exit 255; fi
done' "$done" || exit 1
"#;

/// The file `$file` of the folder that was entered, as [`WRITE`] reads it.
pub(super) const NAME_FILE: &str = r#"
p=./$file
[ ! -L "$p" ] || refuse "$done$file" "$(readlink "$p")"
[ ! -d "$p" ] || { echo "Is a directory" >&2; exit 1; }
beneath=beneath-
"#;

/// Removes the files that are read, each with a NUL behind it; behind a link nothing.
pub(super) const REMOVE_FILES: &str = r#"
xargs -0 sh -c 'for name; do
    folder=$name
    while :; do
        case $folder in */*) folder=${folder%/*} ;; *) break ;; esac
        if [ -L "./$folder" ]; then
            printf "mngr: link %s -> %s\n" "$0$folder" "$(readlink "./$folder")" >&2; exit 255
        fi
    done
done
[ $# -eq 0 ] || rm -f -- "$@"' "$done" || exit 1
"#;

/// One write, so that lines of several writers never mix; a link must not lead elsewhere, nor a pipe hold us.
pub(super) const APPEND: &str = r#"
[ -L "$p" ] && { echo "Too many levels of symbolic links" >&2; exit 1; }
[ -p "$p" ] && { echo "No such device or address" >&2; exit 1; }
dd bs="$size" count=1 iflag=fullblock oflag=append conv="notrunc$sync" of="$p" status=none
"#;

pub(super) const TOUCH_NEW: &str = r#": >>"$p""#;

pub(super) const MAKE_FOLDER: &str = r#"mkdir -p "$p""#;

pub(super) const MAKE_NEW_FOLDER: &str = r#"mkdir "$p""#;

pub(super) const MAKE_PRIVATE_FOLDER: &str = r#"mkdir -m 700 "$p""#;

/// `stat` says why nothing is there.
pub(super) const REQUIRE_SOMETHING: &str = r#"stat "$p" >/dev/null"#;

pub(super) const REQUIRE_NOTHING: &str =
    r#"{ [ ! -e "$p" ] && [ ! -L "$p" ]; } || { echo "File exists" >&2; exit 1; }"#;

pub(super) const REQUIRE_EMPTY: &str =
    r#"{ [ ! -s "$p" ] && [ ! -L "$p" ]; } || { echo "File exists" >&2; exit 1; }"#;

/// A link must not lead elsewhere.
pub(super) const MAKE_PRIVATE_FILE: &str = r#"
if [ -e "$p" ] || [ -L "$p" ]; then exit 0; fi
umask 077
set -C
: >"$p""#;

pub(super) const TOUCH: &str = r#"touch "$p""#;

/// `mv` would copy to another file system, which is not what was asked for; busybox would replace neither a folder
/// nor a link to one.
pub(super) const RENAME: &str = r#"
case $to in */*) folder=${to%/*} ;; *) folder=. ;; esac
set -- $(stat -c %d "$p" "${folder:-/}") || exit 1
[ "$1" = "$2" ] || { echo "Invalid cross-device link" >&2; exit 1; }
if [ -L "$to" ]; then
    if [ -d "$to" ]; then rm -f "$to"; fi
elif [ -d "$to" ] && [ -d "$p" ] && [ ! -L "$p" ]; then
    rmdir "$to" || exit 1
fi
mv -fT "$p" "$to"
"#;

/// `ln` would put the link into a folder that has the name.
pub(super) const LINK: &str = r#"
if [ -e "$p" ] || [ -L "$p" ]; then echo "File exists" >&2; exit 1; fi
ln -sT -- "$target" "$p"
"#;

pub(super) const REMOVE_FILE: &str = r#"rm -f "$p""#;

pub(super) const REMOVE_TREE: &str = r#"
rm -rf "$p" 2>/dev/null && exit 0
{ [ -d "$p" ] && [ ! -L "$p" ]; } && chmod -R u+rwX "$p"
# A program that is just ending may have put its last files there.
rm -rf "$p" 2>/dev/null || rm -rf "$p" 2>/dev/null || rm -rf "$p"
"#;

pub(super) const STAT: &str = r#"stat -c '%f %s %Y %y' "$p""#;

/// What a glance tells: a line of [`STAT`], the length of the resolved path and the path, a letter for what is inside, and
/// the contents of an ordinary file of at most `$most` bytes. No NUL: that ends the answer.
pub(super) const GLANCE: &str = r#"
told=$(stat -c '%f %s %Y %y' "$p") || exit 1
real=
if [ -e "$p" ]; then real=$(readlink -f "$p"; printf x); real=${real%?x}; fi
printf '%s\n%s\n%s' "$told" "${#real}" "$real"
set -- $told
if [ -L "$p" ] || [ ! -r "$p" ]; then printf -- -
elif [ -d "$p" ]; then
    inside=n
    for name in "$p"/* "$p"/.[!.]* "$p"/..?*; do
        if [ -e "$name" ] || [ -L "$name" ]; then inside=e; break; fi
    done
    printf %s "$inside"
elif [ -f "$p" ] && [ "$2" -le "$most" ]; then printf t; tr '\000' '?' <"$p"
else printf -- -
fi
"#;

/// Kind, name, NUL for each entry: a name may hold anything else.
pub(super) const LIST: &str = r#"
[ -d "$p" ] || { [ -e "$p" ] || stat -L "$p" >/dev/null; exit; }
[ -r "$p" ] && cd "$p" 2>/dev/null || { echo "Permission denied" >&2; exit 1; }
for name in * .[!.]* ..?*; do
    if [ -L "$name" ]; then kind=l
    elif [ -d "$name" ]; then kind=d
    elif [ -f "$name" ]; then kind=f
    elif [ -e "$name" ]; then kind=o
    else continue
    fi
    printf '%s%s\0' "$kind" "$name"
done
"#;

/// A line of [`STAT`], the path below `$p` and NUL for everything at most `$deep` levels below it. What disappears
/// meanwhile is no failure.
pub(super) const LIST_BELOW: &str = r#"
[ -d "$p" ] || { [ -e "$p" ] || stat -L "$p" >/dev/null; exit; }
cd "$p" || exit
find . -mindepth 1 -maxdepth "$deep" -exec sh -c '
for path; do
    told=$(stat -c "%f %s %Y %y" "$path" 2>/dev/null) && printf "%s\n%s\000" "$told" "${path#./}"
done
exit 0' sh {} + 2>"${0%/*}/find"
grep -v "No such file" "${0%/*}/find" >&2 && exit 1
exit 0
"#;

pub(super) const CANONICAL: &str = r#"
[ -e "$p" ] || { stat -L "$p" >/dev/null || exit 1; }
readlink -f "$p"
"#;

pub(super) const TREE_SIZE: &str = r#"
[ -d "$p" ] || { echo 0; exit 0; }
find "$p/" ! -type d -exec stat -c %s {} + | { sum=0; while read -r size; do sum=$((sum + size)); done; echo "$sum"; }
"#;

/// Exactly `SIZE` bytes of standard input, and none of what follows them; busybox' `head` would take more.
pub(super) fn take(size: usize) -> String {
    match size {
        0 => ":".to_owned(),
        size => format!("dd bs={size} count=1 iflag=fullblock status=none"),
    }
}

/// Prints what is there from `$from` on once one of the `$lines` is, or after `$left` milliseconds. A look costs some
/// processes, so looks become rarer: what has not come within a second takes its time.
pub(super) const AWAIT_LINE: &str = r#"
look() {
    { [ -f "$p" ] && [ ! -L "$p" ]; } || return 0
    tail -c "+$from" "$p" 2>/dev/null | head -c "$most"
}
waited=0
until look | grep -qE "$lines" || [ "$left" -le "$waited" ]; do
    if [ "$waited" -lt 1000 ]; then sleep 0.02; waited=$((waited + 20)); else sleep 0.2; waited=$((waited + 200)); fi
done
look
exit 0
"#;

/// One of several scripts that are asked together: what it prints and `y`, or what it complains about and `n`; then NUL.
pub(super) fn one_of_all(script: &str) -> String {
    let complaints = r#""${0%/*}/complaints""#;
    format!(
        "if (\n{script}\n) 2>{complaints}; then printf y; else cat {complaints}; printf n; fi\nprintf '\\000'\n"
    )
}
