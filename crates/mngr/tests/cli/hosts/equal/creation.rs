//! What a new agent finds: every way its files come, the user's uncommitted work, uploads, variables, provisioning; and
//! an agent that is there already.

use std::fs;

use super::Teller;
use crate::support::text;

const SLEEP: [&str; 5] = ["--type", "command", "--", "sleep", "1000"];
/// What is in the work dir, and what git says of it.
const LOOK: &str = "git status --short; git log --format=%s; git rev-parse --abbrev-ref HEAD; ls -A | grep -v '^.git$'; \
                    cat unclean ignored extra/file tool provisioned 2>/dev/null; ls -l tool 2>/dev/null | cut -c1-10";

pub(super) fn play(teller: &mut Teller<'_>) {
    let env = &teller.ground.env;
    let work = env.work_dir();
    for (name, text) in
        [(".gitignore", "ignored\nextra\n"), ("unclean", "unclean\n"), ("ignored", "ignored\n")]
    {
        fs::write(work.join(name), text).unwrap();
    }
    fs::create_dir(work.join("extra")).unwrap();
    fs::write(work.join("extra/file"), "extra\n").unwrap();
    fs::write(env.root().join("tool"), "#!/bin/sh\necho tool\n").unwrap();
    fs::write(env.root().join("secret.env"), "TOKEN=s3cret\n").unwrap();
    let upload = format!("{}:tool", env.root().join("tool").display());
    let env_file = env.root().join("secret.env").display().to_string();

    let sleeping = |options: &[&'static str]| [options, &SLEEP].concat();
    teller.create("mirror", &sleeping(&["--transfer", "git-mirror", "--exclude-unclean"]));
    teller.there("mirror", LOOK);
    teller.create("unclean", &sleeping(&["--transfer", "git-mirror", "--include-unclean"]));
    teller.there("unclean", LOOK);
    teller.create(
        "ignored",
        &sleeping(&["--transfer", "git-mirror", "--include-unclean", "--include-gitignored"]),
    );
    teller.there("ignored", LOOK);
    let address = teller.ground.address("dirty");
    teller.say(1, &[&["create", &address, "--no-connect", "--ensure-clean"], &SLEEP[..]].concat());

    let set = ["config", "set", "--scope", "user", "work_dir_extra_paths.extra", "COPY"];
    let _ = env.mngr(set).success();
    let provision = "echo $TOKEN-$COLOUR >provisioned";
    let options = [
        "--exclude-unclean",
        "--transfer",
        "git-mirror",
        "--branch",
        "main:work/*",
        "--upload-file",
        &upload,
        "--env-file",
        &env_file,
        "--env",
        "COLOUR=red",
        "--extra-provision-command",
        provision,
    ];
    teller.create("full", &[&options[..], &SLEEP].concat());
    teller.there("full", LOOK);
    teller.there("full", "echo $TOKEN $COLOUR $MNGR_AGENT_NAME; test -n \"$MNGR_AGENT_ID\" && echo known");

    // The same again: it is there.
    teller.create("full", &sleeping(&["--reuse", "--exclude-unclean"]));
    let update = ["--reuse", "--update", "--exclude-unclean", "--env", "COLOUR=blue"];
    teller.create("full", &[&update[..], &SLEEP].concat());
    teller.there("full", "echo $COLOUR; cat provisioned");
    let address = teller.ground.address("full");
    teller.say(1, &[&["create", &address, "--no-connect", "--exclude-unclean"], &SLEEP[..]].concat());

    // A folder that is no repository, copied; and one that is there already, used as it is.
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("x"), "x\n").unwrap();
    let source = plain.display().to_string();
    teller.create("copied", &[&["--from", &source, "--transfer", "rsync"], &SLEEP[..]].concat());
    teller.there("copied", "ls -A; cat x");
    let made =
        env.mngr(["exec", "mirror", "--", "sh", "-c", "mkdir -p ~/there && cd ~/there && echo y >y && pwd"]);
    let place = made.success().stdout.trim().to_owned();
    // Here it is named as what it is: the source.
    let address = teller.ground.address("there");
    let at = format!("{address}:{place}");
    let is_here = address == "there";
    let words = if is_here { vec!["there", "--from", place.as_str()] } else { vec![at.as_str()] };
    let format = ["--no-connect", "--transfer", "none", "--format", "json"];
    let create = [&["create"], &words[..], &format, &SLEEP].concat();
    let created = env.mngr(create).success().json();
    teller.keep("create there", super::alike(created));
    teller.there("there", "ls -A; cat y");

    // What fails leaves nothing.
    let failing = ["--exclude-unclean", "--extra-provision-command", "exit 3"];
    let address = teller.ground.address("never");
    teller.say(1, &[&["create", &address, "--no-connect"], &failing[..], &SLEEP].concat());
    teller.say(0, &["list", "--include", "name == \"never\""]);
    let listing = env.mngr(["list", "--format", "json"]).success().json();
    let names: Vec<String> =
        listing["agents"].as_array().unwrap().iter().map(|agent| text(&agent["name"])).collect();
    teller.say(
        0,
        &[&["destroy", "--force"], &names.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat(),
    );
    fs::remove_dir_all(work.join("extra")).unwrap();
    for name in [".gitignore", "unclean", "ignored"] {
        fs::remove_file(work.join(name)).unwrap();
    }
}
