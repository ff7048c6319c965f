//! Commits and files of a host that are to end up where they do not belong.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::super::ground::Ground;
use super::{assert_unchanged, canary, ground, picture, run};

/// A folder of this machine beside the repository, with something to lose.
fn outside(ground: &Ground) -> PathBuf {
    let folder = ground.env.root().join("outside");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("precious"), "precious").unwrap();
    folder
}

/// Git of the host, which for one subcommand says something else.
fn lying_git(subcommand: &str, says: &str) -> String {
    format!(
        r#"for word in "$@"; do
    [ "$word" = "{subcommand}" ] && {{ {says}; exit 0; }}
done
exec "$real" "$@""#
    )
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let ground = ground();
    outside(&ground);
    let work_dir = ground.work_dir("far");
    // What would be run by the next merge here.
    let hook = format!("#!/bin/sh\ntouch {}\n", canary(&ground).display());
    fs::create_dir_all(work_dir.join(".git/hooks")).unwrap();
    fs::write(work_dir.join(".git/hooks/post-merge"), hook).unwrap();
    fs::write(work_dir.join("evil"), "evil").unwrap();
    let before = picture(&ground);
    let oid = "0".repeat(40);
    let gone = format!("1 .D N... 100644 100644 000000 {oid} {oid} ");
    let head = r"# branch.oid 1\000# branch.head mngr/far\000";
    let names = [
        "../outside/precious",
        "/etc/passwd",
        ".git/hooks/post-merge",
        ".GIT/config",
        "a/../../x",
        "./x",
        "sub/.git/config",
    ];
    for name in names {
        for (subcommand, says) in [
            ("status", format!(r"printf '{head}{gone}{name}\000'")),
            ("status", format!(r"printf '{head}? {name}\000'")),
            ("status", format!(r"printf '{head}? evil\000! {name}\000'")),
            ("ls-files", format!(r"printf 'evil\000{name}\000'")),
        ] {
            ground.sshd().replace_program("git", &lying_git(subcommand, &says));
            let mode = if subcommand == "status" { "full" } else { "files" };
            let output = run(&ground, &["pull", "far", "--sync-mode", mode]).code(1);
            assert!(output.stderr.contains("unexpected"), "{name}: {output}");
            ground.sshd().restore_program("git");
            assert_unchanged(&ground, &before);
        }
        let says = format!(r"printf '{head}? {name}\000'");
        ground.sshd().replace_program("git", &lying_git("status", &says));
        let copy =
            ["create", "copy", "--from", "far", "--no-connect", "--include-unclean", "--", "sleep", "1000"];
        let _ = run(&ground, &copy).code(1);
        ground.sshd().restore_program("git");
    }
}

#[test]
fn branches_with_names_of_their_own_move_nothing_else() {
    let ground = ground();
    let refs = || {
        let mut git = ground.env.command("git");
        git.args(["for-each-ref"]);
        ground.env.run(git).success().stdout
    };
    let before = refs();
    for name in
        ["main:refs/heads/main", "--upload-pack=x", "../../HEAD", "*", "a..b", "x\ny", "\u{1b}[2J", ""]
    {
        let says = format!("printf 'refs/heads/%s\\n' '{name}'");
        ground.sshd().replace_program("git", &lying_git("symbolic-ref", &says));
        let _ = run(&ground, &["pull", "far"]).code(1);
        let _ = run(&ground, &["pull", "far", "--merge"]).code(1);
        ground.sshd().restore_program("git");
        assert_eq!(refs(), before, "{name}");
    }
}

#[test]
fn commits_that_hold_what_git_must_not_have_are_refused() {
    let ground = ground();
    let before = picture(&ground);
    let touch = format!("touch {}", canary(&ground).display());
    for entry in [".git", ".GIT", "..", ".gitmodules"] {
        let script = format!(
            r#"set -e
blob=$(printf '[submodule "x"]\n\tpath = x\n\turl = -u./{touch}\n' | git hash-object -w --stdin)
tree=$(printf '100644 blob %s\thooks\n' "$blob" | git mktree)
case {entry} in
.gitmodules) tree=$(printf '100644 blob %s\t{entry}\n' "$blob" | git mktree) ;;
*) tree=$(printf '40000 {entry}\000' | cat - <(printf "$(echo "$tree" | sed 's/../\\x&/g')") | git hash-object -t tree -w --literally --stdin) ;;
esac
commit=$(git commit-tree -p HEAD -m evil "$tree")
git update-ref refs/heads/mngr/far "$commit""#
        );
        let made = ground.env.mngr(["exec", "far", "--", "bash", "-c", &script]);
        let _ = made.success();
        for pull in [&["pull", "far"][..], &["pull", "far", "--merge"]] {
            let output = run(&ground, pull).code(1);
            assert!(
                output.stderr.contains("fsck")
                    || output.stderr.contains("hasDot")
                    || output.stderr.contains("gitmodules"),
                "{entry}: {output}"
            );
        }
        assert_eq!(
            picture(&ground)
                .into_iter()
                .filter(|(path, _)| !path.to_string_lossy().contains("/.git/"))
                .collect::<Vec<_>>(),
            before
                .iter()
                .filter(|(path, _)| !path.to_string_lossy().contains("/.git/"))
                .cloned()
                .collect::<Vec<_>>()
        );
        let back = "git update-ref refs/heads/mngr/far main";
        let _ = ground.env.mngr(["exec", "far", "--", "sh", "-c", back]).success();
    }
}

#[test]
fn a_link_of_an_agent_does_not_decide_where_files_go() {
    let ground = ground();
    let outside = outside(&ground);
    let (here, there) = (ground.env.work_dir(), ground.work_dir("far"));
    // It came with an earlier pull.
    symlink(&outside, here.join("link")).unwrap();
    fs::create_dir(there.join("link")).unwrap();
    fs::write(there.join("link/precious"), "evil").unwrap();
    fs::write(there.join("link/new"), "evil").unwrap();
    for pull in [
        &["pull", "far:link"][..],
        &["pull", "far:link", "."],
        &["pull", "far:link/precious"],
        &["pull", "far:link/new"],
        &["rsync", "far:link", "./"],
        &["pull", "far", "--sync-mode", "files", "--uncommitted-changes", "clobber"],
        &["pull", "far", "--sync-mode", "full", "--uncommitted-changes", "clobber"],
    ] {
        let output = run(&ground, pull).code(1);
        assert!(output.stderr.contains("`link` is a link to"), "{output}");
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "precious", "{pull:?}");
        assert!(!outside.join("new").exists(), "{pull:?}");
    }
}

#[test]
fn nothing_is_written_behind_a_link_in_a_work_dir_on_another_machine() {
    let ground = ground();
    let there = ground.work_dir("far");
    let secret = ground.sshd().home().join("secret");
    fs::create_dir(&secret).unwrap();
    symlink("/root/secret", there.join("trap")).unwrap();
    symlink("/root/secret/file", there.join("file-trap")).unwrap();
    let commit = "git add --all && git -c user.name=x -c user.email=x@x commit --quiet -m links";
    let _ = ground.env.mngr(["exec", "far", "--", "sh", "-c", commit]).success();
    let here = ground.env.work_dir();
    fs::create_dir(here.join("trap")).unwrap();
    fs::write(here.join("trap/mine"), "mine").unwrap();
    let upload = format!("{}:trap/mine", here.join("trap/mine").display());
    let copy =
        ["create", "copy", "--from", "far", "--no-connect", "--include-unclean", "--upload-file", &upload];
    for (args, link) in [
        (&["push", "far:trap"][..], "trap"),
        (&["push", "far:trap/deeper/mine", "trap/mine"], "trap"),
        (&["push", "far", "--sync-mode", "files"], "trap"),
        (&["rsync", "./trap", "far:"], "trap"),
        (&["rsync", "./trap/", "far:trap/"], "trap"),
        (&["file", "put", "far", "trap/mine"], "trap"),
        (&["file", "put", "far", "file-trap"], "file-trap"),
        (&[&copy[..], &["--", "sleep", "1000"]].concat(), "trap"),
    ] {
        let output = run(&ground, args).code(1);
        let refusal = format!("`{link}` is a link to `/root/secret");
        assert!(output.stderr.contains(&refusal), "{args:?}: {output}");
        assert_eq!(fs::read_dir(&secret).unwrap().count(), 0, "{args:?}");
        assert!(there.join("trap").is_symlink(), "{args:?}");
    }
}

#[test]
fn a_file_that_is_pulled_has_no_rights_of_its_own() {
    use std::os::unix::fs::PermissionsExt;
    let ground = ground();
    let there = ground.work_dir("far").join("tool");
    fs::write(&there, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&there, fs::Permissions::from_mode(0o6755)).unwrap();
    let _ = run(&ground, &["pull", "far:tool"]).success();
    let mode = fs::metadata(ground.env.work_dir().join("tool")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

/// Hands another path to the real program than the one that was asked for. The words come over the link, each with a NUL
/// behind it, until one is empty.
const SWAPPED: &str = r#"import os, subprocess, sys
words = b""
while not words.endswith(b"\0\0"):
    words += os.read(0, 1)
words = words[:-2].split(b"\0")
words[-1] = b"/root/trap/" + os.environb.get(b"TRAP", b"y")
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
child.stdin.write(b"".join(word + b"\0" for word in words) + b"\0")
child.stdin.flush()
while True:
    data = os.read(0, 65536)
    if not data:
        break
    child.stdin.write(data)
    child.stdin.flush()
child.stdin.close()
sys.exit(child.wait())"#;

#[test]
fn an_rsync_that_sends_what_nobody_asked_for_changes_nothing() {
    let ground = ground();
    let there = ground.work_dir("far");
    fs::write(there.join("x"), "x").unwrap();
    let trap = ground.sshd().home().join("trap");
    fs::create_dir(&trap).unwrap();
    fs::write(trap.join("y"), "evil").unwrap();
    fs::write(ground.sshd().home().join("swapped.py"), SWAPPED).unwrap();
    let before = picture(&ground);
    let script = "exec python3 /root/swapped.py \"$real\" \"$@\"";
    ground.sshd().replace_program("rsync", script);
    let refused = run(&ground, &["pull", "far:x"]).code(1);
    assert!(refused.stderr.contains("rejecting"), "{refused}");
    assert_unchanged(&ground, &before);
}
