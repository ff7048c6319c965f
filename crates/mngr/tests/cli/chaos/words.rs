//! From a step to the words of a command.

use super::book::Intent;
use super::random::Random;
use super::settings::Place;
use super::step::{Action, NAMES, Program, Step, Transfer};
use super::world::World;

/// Notes every line it is told, under its own id; commits a file when a line says so.
const COMMAND: &str = r#"mkdir -p "$HOME/got" "$HOME/wrote"
while read -r line; do
    printf '%s\n' "$line" >>"$HOME/got/$MNGR_AGENT_ID"
    t=${line%% *}
    case $line in
    *' work') printf '%s\n' "$t" >"w-$t" && git add "w-$t" && git commit -qm "$t" -- "w-$t" &&
        printf '%s %s\n' "$(git rev-parse HEAD)" "$t" >>"$HOME/wrote/$MNGR_AGENT_ID" ;;
    esac
done"#;
/// The same for the type `scripted`.
const SCRIPTED: [&str; 4] = [
    "read",
    "write last.ign {message}",
    r#"run mkdir -p "$HOME/got" "$HOME/wrote"; read -r line <last.ign; printf '%s\n' "$line" >>"$HOME/got/$MNGR_AGENT_ID"; t=${line%% *}; case $line in *' work') printf '%s\n' "$t" >"w-$t" && git add "w-$t" && git commit -qm "$t" -- "w-$t" && printf '%s %s\n' "$(git rev-parse HEAD)" "$t" >>"$HOME/wrote/$MNGR_AGENT_ID" ;; esac"#,
    "repeat",
];

/// A command before it is run.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) args: Vec<String>,
    pub(super) intent: Intent,
    /// What else it is for.
    pub(super) also: Vec<Intent>,
    pub(super) stdin: Vec<u8>,
    /// The names it is about.
    pub(super) names: Vec<usize>,
}

/// A verb for two agents at once.
fn both(intent: fn(String) -> Intent, names: [usize; 2], args: &[&str]) -> Words {
    let mut words = Words::new(intent(NAMES[names[0]].to_owned()), &names, args);
    if names[0] != names[1] {
        words.also.push(intent(NAMES[names[1]].to_owned()));
    }
    words
}

impl Words {
    fn new(intent: Intent, names: &[usize], args: &[&str]) -> Self {
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        Self { args, intent, also: Vec::new(), stdin: Vec::new(), names: names.to_vec() }
    }
}

/// What tells the result of this step from all others.
pub(super) fn token(client: usize, step: &Step) -> String {
    format!("t{client}-{}", step.number)
}

/// The id of the agent that this step creates.
pub(super) fn agent_id(world: &World, client: usize, step: &Step) -> String {
    let part = &world.part;
    let mut random = Random::of(&[part.seed, part.episode, client as u64, step.number as u64]);
    format!("agent-{:016x}{:016x}", random.next(), random.next())
}

/// The words of a step that runs the binary.
pub(super) fn words(world: &World, client: usize, step: &Step) -> Words {
    let token = token(client, step);
    let owned = |name: usize| NAMES[name].to_owned();
    match step.action {
        Action::Create { name, transfer, program } => create(world, client, step, name, transfer, program),
        Action::Clone { from, name } => {
            let id = agent_id(world, client, step);
            let branch = format!("c/{}", &id[6..18]);
            let (address, new) = (world.address(name), format!(":{branch}"));
            let args = ["clone", NAMES[from], &address, "--id", &id, "--branch", &new, "--no-connect"];
            let intent = Intent::Create { id: id.clone(), name: owned(name), branch: Some(branch) };
            Words::new(intent, &[from, name], &[&args[..], &["--format", "json"]].concat())
        }
        Action::List => Words::new(Intent::Other, &[], &["list", "--format", "json"]),
        Action::Message { name, work, keyed, start } => {
            let text = if work { format!("{token} work") } else { format!("{token} it's \"$HOME\" `x`") };
            let mut args = vec!["message", NAMES[name], "-m", &text, "--timeout", "6s"];
            if keyed {
                args.extend(["--key", &token]);
            }
            args.extend(start.then_some("--start"));
            Words::new(Intent::Message { name: owned(name), token: token.clone() }, &[name], &args)
        }
        Action::Exec { name } => {
            let script = format!("sleep 0.{}; printf '%s\\n' {token} >w-{token}", step.dice % 4);
            let args = ["exec", NAMES[name], "--", "sh", "-c", &script];
            Words::new(Intent::Write { token: token.clone() }, &[name], &args)
        }
        Action::MessageTwo { name, other } => {
            let text = format!("{token} for both");
            let args = ["message", NAMES[name], NAMES[other], "-m", &text, "--timeout", "6s"];
            let mut words = Words::new(
                Intent::Message { name: owned(name), token: token.clone() },
                &[name, other],
                &args,
            );
            words.also.push(Intent::Message { name: owned(other), token: token.clone() });
            words
        }
        Action::DestroyTwo { name, other } => {
            let args = ["destroy", NAMES[name], NAMES[other], "--force", "--format", "json"];
            both(|name| Intent::Remove { name }, [name, other], &args)
        }
        Action::StopTwo { name, other } => {
            both(|name| Intent::Halt { name }, [name, other], &["stop", NAMES[name], NAMES[other]])
        }
        Action::StartTwo { name, other } => {
            both(|name| Intent::Halt { name }, [name, other], &["start", NAMES[name], NAMES[other]])
        }
        Action::ExecTwo { name, other } => {
            let args = ["exec", NAMES[name], NAMES[other], "--format", "json", "--", "true"];
            Words::new(Intent::Other, &[name, other], &args)
        }
        Action::CleanupStop { name } => {
            let which = format!("name == \"{}\"", NAMES[name]);
            let args = ["cleanup", "--stop", "--yes", "--include", &which];
            Words::new(Intent::Halt { name: owned(name) }, &[name], &args)
        }
        Action::PullAll { name, stop } => {
            let mut args = vec!["pull", NAMES[name], "--sync-mode", "full"];
            args.extend(stop.then_some("--stop"));
            Words::new(Intent::Halt { name: owned(name) }, &[name], &args)
        }
        Action::GitPull { name } => Words::new(Intent::Other, &[name], &["git", "pull", NAMES[name]]),
        Action::GitPush { name } => Words::new(Intent::Other, &[name], &["git", "push", NAMES[name]]),
        Action::Rsync { name } => {
            let to = world.env.root().join("copied").display().to_string();
            Words::new(Intent::Other, &[name], &["rsync", NAMES[name], &to])
        }
        Action::Archive { name, back } => {
            let args: &[&str] =
                if back { &["unarchive", NAMES[name]] } else { &["archive", "--force", NAMES[name]] };
            Words::new(Intent::Other, &[name], args)
        }
        Action::Watch => Words::new(Intent::Other, &[], &["list", "--watch", "--format", "jsonl"]),
        Action::Capture { name } => Words::new(Intent::Other, &[name], &["capture", NAMES[name]]),
        Action::Pull { name, merge } => {
            let args: &[&str] =
                if merge { &["pull", NAMES[name], "--merge"] } else { &["pull", NAMES[name]] };
            Words::new(Intent::Other, &[name], args)
        }
        Action::PullFile { name } => {
            Words::new(Intent::Other, &[name], &["pull", &format!("{}:dir-0", NAMES[name])])
        }
        Action::Push { name } => Words::new(Intent::Other, &[name], &["push", NAMES[name]]),
        Action::PushFile { name } => Words::new(Intent::Other, &[name], &["push", NAMES[name], "dir-1"]),
        Action::Rename { name, to } => {
            let intent = Intent::Rename { name: owned(name), to: owned(to) };
            Words::new(intent, &[name, to], &["rename", NAMES[name], NAMES[to], "--format", "json"])
        }
        Action::Label { name } => {
            let label = format!("k={token}");
            Words::new(Intent::Other, &[name], &["label", NAMES[name], "-l", &label])
        }
        Action::Stop { name } => {
            Words::new(Intent::Halt { name: owned(name) }, &[name], &["stop", NAMES[name]])
        }
        Action::Start { name, restart } => {
            let mut args = vec!["start", NAMES[name]];
            args.extend(restart.then_some("--restart"));
            Words::new(Intent::Halt { name: owned(name) }, &[name], &args)
        }
        Action::Destroy { name, branch } => {
            let mut args = vec!["destroy", NAMES[name], "--force", "--format", "json"];
            args.extend(branch.then_some("-b"));
            Words::new(Intent::Remove { name: owned(name) }, &[name], &args)
        }
        Action::Undo { name } => {
            let args = ["undo", NAMES[name], "--format", "json"];
            Words::new(Intent::Undo { name: owned(name) }, &[name], &args)
        }
        // In a container the whole host would be copied.
        Action::SnapshotCreate { name } if world.place_of(name) == Place::Docker => {
            Words::new(Intent::Other, &[name], &["snapshot", "list", NAMES[name], "--format", "json"])
        }
        Action::SnapshotCreate { name } => {
            let args = ["snapshot", "create", NAMES[name], "--format", "json"];
            Words::new(Intent::Other, &[name], &args)
        }
        Action::SnapshotRestore { name, replace } => {
            let id = world.some_snapshot(step.dice);
            let address = world.address(name);
            if replace {
                let args = ["snapshot", "restore", &id, "--replace", "--force", "--format", "json"];
                // It takes the place of any of them.
                let all: Vec<usize> = (0..NAMES.len()).collect();
                return Words::new(Intent::Replace, &all, &args);
            }
            let args = ["snapshot", "restore", &id, &address, "--format", "json"];
            Words::new(Intent::Restore { name: owned(name) }, &[name], &args)
        }
        Action::SnapshotDestroy => {
            let id = world.some_snapshot(step.dice);
            Words::new(Intent::Other, &[], &["snapshot", "destroy", "--snapshot", &id, "--force"])
        }
        Action::Gc => Words::new(Intent::Other, &[], &["gc", "--format", "json"]),
        Action::Doctor { fix } => {
            let args: &[&str] = if fix { &["doctor", "--fix"] } else { &["doctor", "--format", "json"] };
            Words::new(Intent::Other, &[], args)
        }
        Action::Cleanup { name } => {
            let which = format!("name == \"{}\"", NAMES[name]);
            let args = ["cleanup", "--yes", "--include", &which, "--format", "json"];
            Words::new(Intent::Remove { name: owned(name) }, &[name], &args)
        }
        Action::Wait { name } => {
            Words::new(Intent::Other, &[name], &["wait", NAMES[name], "--timeout", "1s"])
        }
        Action::FilePut { name } => {
            let args = ["file", "put", NAMES[name], &format!("w-{token}")];
            let mut words = Words::new(Intent::Write { token: token.clone() }, &[name], &args);
            words.stdin = format!("{token}\n").into_bytes();
            words
        }
        Action::FileGet { name } => {
            Words::new(Intent::Other, &[name], &["file", "get", NAMES[name], "dir-0/file-0000.txt"])
        }
        Action::Event { name } => Words::new(Intent::Other, &[name], &["event", NAMES[name]]),
        Action::Transcript { name } => Words::new(Intent::Other, &[name], &["transcript", NAMES[name]]),
        Action::Explain { name } => {
            Words::new(Intent::Other, &[name], &["explain", NAMES[name], "--format", "json"])
        }
        Action::Nonsense
        | Action::AgentFile { .. }
        | Action::AgentCommit { .. }
        | Action::UserFile
        | Action::UserCommit
        | Action::Trouble(_) => Words::new(Intent::Other, &[], nonsense(step.dice)),
    }
}

/// Words that are wrong in different ways.
fn nonsense(dice: u64) -> &'static [&'static str] {
    let all: [&[&str]; 8] = [
        &["destroy"],
        &["create", "bad name!", "--no-connect", "--", "true"],
        &["message", "nobody", "-m", "hello"],
        &["list", "--bogus"],
        &["exec", "nobody", "true"],
        &["rename", "nobody", "somebody"],
        &["pull", "nobody"],
        &["undo", "nobody"],
    ];
    all[usize::try_from(dice % 8).unwrap_or_default()]
}

fn create(
    world: &World,
    client: usize,
    step: &Step,
    name: usize,
    transfer: Transfer,
    program: Program,
) -> Words {
    let id = agent_id(world, client, step);
    let branch = format!("c/{}", &id[6..18]);
    let address = world.address(name);
    let is_local = world.place_of(name) == Place::Local;
    let plain = world.plain_folder().display().to_string();
    let new = format!(":{branch}");
    let own_branch: &[&str] = &["--no-ensure-clean", "--branch", &new];
    let (files, branch): (Vec<&str>, Option<String>) = match transfer {
        Transfer::Worktree if is_local => (own_branch.to_vec(), Some(branch)),
        Transfer::Rsync => (vec!["--transfer", "rsync", "--from", &plain], None),
        Transfer::None if is_local => (vec!["--transfer", "none"], None),
        // Elsewhere there is no repository to make a worktree of.
        Transfer::Worktree | Transfer::Mirror | Transfer::None => {
            ([own_branch, &["--transfer", "git-mirror"]].concat(), Some(branch))
        }
    };
    let ends: Vec<&str> = match program {
        Program::Command => vec!["--type", "command", "--", "sh", "-c", COMMAND],
        Program::Scripted => [&["--type", "scripted", "--"], &SCRIPTED[..]].concat(),
    };
    let common = ["create", &address, "--id", &id, "--no-connect", "--format", "json"];
    let intent = Intent::Create { id: id.clone(), name: NAMES[name].to_owned(), branch };
    let text = format!("{} first", token(client, step));
    let more: &[&str] = match step.dice % 12 {
        0 | 1 => &["-m", &text],
        2 => &["--extra-provision-command", "sleep 0.1; exit 3"],
        3 => &["--extra-provision-command", "sleep 0.1"],
        4 => &["--upload-file", "dir-0/file-0000.txt:uploaded/file"],
        _ => &[],
    };
    let mut words = Words::new(intent, &[name], &[&common[..], more, &files, &ends].concat());
    if step.dice % 12 < 2 {
        words.also.push(Intent::Message { name: NAMES[name].to_owned(), token: token(client, step) });
    }
    words
}
