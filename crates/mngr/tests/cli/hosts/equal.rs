//! Every verb says the same wherever the agent is, but for what is about the host.

mod creation;
mod life;
mod options;
mod sync;
mod talk;

use serde_json::{Value, json};

use super::ground::{Ground, Kind};

/// What differs between any two agents, or is about the host.
const PASSED_OVER: [&str; 16] = [
    "ssh_user",
    "ssh_host",
    "ssh_port",
    "ssh_key_path",
    "ssh_known_hosts_path",
    "host_public_keys",
    "host",
    "socket",
    "host_id",
    "host_name",
    "stopped_hosts",
    "elapsed_seconds",
    "duration_seconds",
    "event_id",
    "key",
    // Which of them are seen is a matter of luck.
    "state_changes",
];

/// How hosts are called.
const HOSTS: [&str; 3] = ["localhost.local", "box.lab", "box"];

/// A part of an agent's life, told.
type Part = fn(&mut Teller<'_>);

#[test]
fn the_life_of_an_agent_is_told_alike() {
    compare(Kind::Ssh, life::play);
}

#[test]
fn agents_are_created_alike() {
    compare(Kind::Ssh, creation::play);
}

#[test]
fn work_is_pulled_and_pushed_alike() {
    compare(Kind::Ssh, sync::play);
}

#[test]
fn agents_are_spoken_with_alike() {
    compare(Kind::Ssh, talk::play);
}

#[test]
fn options_change_alike() {
    compare(Kind::Ssh, options::play);
}

#[test]
fn docker_options_change_alike() {
    compare(Kind::Docker, options::play);
}

#[test]
fn docker_the_life_of_an_agent_is_told_alike() {
    compare(Kind::Docker, life::play);
}

#[test]
fn docker_agents_are_created_alike() {
    compare(Kind::Docker, creation::play);
}

#[test]
fn docker_work_is_pulled_and_pushed_alike() {
    compare(Kind::Docker, sync::play);
}

#[test]
fn docker_agents_are_spoken_with_alike() {
    compare(Kind::Docker, talk::play);
}

/// Plays a part on this machine and elsewhere, side by side.
#[track_caller]
fn compare(elsewhere: Kind, part: Part) {
    let (here, there) = std::thread::scope(|scope| {
        let here = scope.spawn(|| tell(Kind::Local, part));
        let there = tell(elsewhere, part);
        (here.join(), there)
    });
    let here = here.unwrap_or_else(|failure| std::panic::resume_unwind(failure));
    for (here, there) in here.iter().zip(&there) {
        assert_eq!(here, there);
    }
    assert_eq!(here.len(), there.len());
}

fn tell(kind: Kind, part: Part) -> Vec<(String, Value)> {
    let ground = Ground::new(kind);
    let mut teller = Teller { ground: &ground, told: Vec::new() };
    part(&mut teller);
    teller.told
}

/// Runs commands and keeps what they say.
pub(super) struct Teller<'g> {
    pub(super) ground: &'g Ground,
    pub(super) told: Vec<(String, Value)>,
}

impl Teller<'_> {
    /// Runs a verb and keeps its JSON. `--format` stands before a `--`, where there is one.
    #[track_caller]
    pub(super) fn say(&mut self, code: i32, args: &[&str]) {
        let end = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
        let words = [&args[..end], &["--format", "json"], &args[end..]].concat();
        let output = self.ground.env.mngr(words).code(code);
        let what = args.iter().map(|arg| arg.split('@').next().unwrap_or_default()).collect::<Vec<_>>();
        self.keep(&plain(&what.join(" ")), alike(output.json()));
    }

    /// Creates an agent on the host and keeps the JSON.
    #[track_caller]
    pub(super) fn create(&mut self, name: &str, options: &[&str]) {
        let address = self.ground.address(name);
        self.say(0, &[&["create", &address, "--no-connect"], options].concat());
    }

    /// Runs a line of shell in the work dir of an agent and keeps what it prints and returns.
    #[track_caller]
    pub(super) fn there(&mut self, agent: &str, line: &str) {
        let output = self.ground.env.mngr(["exec", agent, "--", "sh", "-c", line]);
        self.keep(line, json!([output.status.code(), output.stdout, output.stderr]));
    }

    /// Runs a line of shell in the user's repository and keeps what it prints and returns.
    #[track_caller]
    fn here(&mut self, line: &str) {
        let mut command = self.ground.env.command("sh");
        command.args(["-c", line]);
        let output = self.ground.env.run(command);
        self.keep(line, json!([output.status.code(), output.stdout, output.stderr]));
    }

    pub(super) fn keep(&mut self, what: &str, value: Value) {
        self.told.push((what.to_owned(), value));
    }
}

/// Without what differs between any two agents.
fn alike(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !PASSED_OVER.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, alike(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(alike).collect()),
        Value::Number(number) if number.is_f64() || number.as_u64().is_some_and(|n| n > 9) => {
            "a number".into()
        }
        Value::String(text) => Value::String(plain(&text)),
        other => other,
    }
}

/// Paths, ids, times and addresses say where and when, not what.
fn plain(text: &str) -> String {
    let word = |word: &str| {
        let is_path = word.contains("//") || word.trim_start_matches(['`', '\'', '"']).starts_with('/');
        let has_digits = word.chars().filter(char::is_ascii_digit).count() > 1;
        match word {
            _ if is_path => "PATH".to_owned(),
            _ if has_digits => "NUMBER".to_owned(),
            word => HOSTS.iter().fold(word.to_owned(), |word, host| word.replace(host, "HOST")),
        }
    };
    // How to attach is a line of its own on each kind of host.
    if text.contains("attach") {
        return "ATTACH".to_owned();
    }
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}
