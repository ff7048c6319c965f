# Makes a machine ready for agents and says what it found. Plain POSIX sh; one run, whatever is missing.
#
# usage: sh bootstrap.sh INSTALL HOST_DIR NEW_ID
#
# INSTALL is `install` or `look`. HOST_DIR may begin with `~/`. Prints one fact a line: `tool NAME VERSION`,
# `missing NAME`, `installed PACKAGES`, `refused HOW`, `log TEXT`, `home PATH`, `host_dir PATH`, `host_id ID`.
install=$1
host_dir=$2
new_id=$3
tools='tmux git rsync flock tar'

missing() {
    for tool in $tools; do
        command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$tool"
    done
}

# The name of the package that has a tool, which is not always the tool's.
packages() {
    for tool in "$@"; do
        case $manager:$tool in
        apk:flock | apt-get:flock | dnf:flock) printf '%s ' util-linux ;;
        *) printf '%s ' "$tool" ;;
        esac
    done
}

run_manager() {
    case $manager in
    apt-get)
        # The lists of a fresh machine are empty; a machine with lists need not fetch them again.
        DEBIAN_FRONTEND=noninteractive $sudo apt-get install --yes --quiet --no-install-recommends "$@" || {
            $sudo apt-get update --quiet &&
                DEBIAN_FRONTEND=noninteractive $sudo apt-get install --yes --quiet --no-install-recommends "$@"
        }
        ;;
    dnf) $sudo dnf install --assumeyes --quiet "$@" ;;
    apk) $sudo apk add --no-cache --quiet "$@" ;;
    esac </dev/null 2>&1
}

wanted=$(missing)
if [ -n "$wanted" ]; then
    manager=
    for name in apt-get dnf apk; do
        command -v "$name" >/dev/null 2>&1 && { manager=$name; break; }
    done
    sudo=
    may=yes
    if [ "$(id -u)" -ne 0 ]; then
        sudo='sudo -n'
        sudo -n true >/dev/null 2>&1 || may=no
    fi
    # shellcheck disable=SC2086 # the names are words of ours
    names=$(packages $wanted)
    if [ -z "$manager" ]; then
        echo "refused no apt-get, dnf or apk was found there"
    elif [ "$may" = no ]; then
        case $manager in
        apk) echo "refused run there as root: apk add $names" ;;
        *) echo "refused run there as root: $manager install $names" ;;
        esac
    elif [ "$install" = install ]; then
        # shellcheck disable=SC2086
        if log=$(run_manager $names); then
            echo "installed $names"
        else
            printf 'log %s\n' "$(printf %s "$log" | tail -n 1)"
        fi
    else
        echo "refused run there: $manager $([ "$manager" = apk ] && echo add || echo install) $names"
    fi
fi

for tool in $tools; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "missing $tool"
        continue
    fi
    case $tool in
    tmux) version=$(tmux -V 2>/dev/null) ;;
    git) version=$(git --version 2>/dev/null) ;;
    *) version= ;;
    esac
    echo "tool $tool $version"
done

case $host_dir in
'~/'*) host_dir=$HOME/${host_dir#??} ;;
esac
umask 077
mkdir -p "$host_dir" || exit 1
chmod 700 "$host_dir"
if [ ! -s "$host_dir/host_id" ]; then
    # A hard link fails if another first command was faster; then its id counts.
    echo "$new_id" >"$host_dir/.host_id.$new_id" && ln "$host_dir/.host_id.$new_id" "$host_dir/host_id" 2>/dev/null
    rm -f "$host_dir/.host_id.$new_id"
fi
echo "home $HOME"
echo "host_dir $(cd "$host_dir" && pwd -P)"
echo "host_id $(cat "$host_dir/host_id")"
