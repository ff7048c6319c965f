//! What is offered where; the shells themselves are in `tests/cli/completion.rs`.

use super::candidate::Candidate;
use super::*;

/// The words that are offered where the line ends; a home without anything in it.
fn offered(line: &str) -> Vec<String> {
    let surroundings = Surroundings::of(&[("HOME", "/nonexistent")], "/nonexistent");
    match answer(&Line::read(&format!("mngr {line}")).words, &surroundings) {
        Answer::Words(words) | Answer::Beginnings(words) | Answer::Files(words) => {
            words.into_iter().map(|word| word.value).collect()
        }
        Answer::Folders => Vec::new(),
    }
}

fn how(line: &str) -> String {
    let surroundings = Surroundings::of(&[("HOME", "/nonexistent")], "/nonexistent");
    let answer = answer(&Line::read(&format!("mngr {line}")).words, &surroundings);
    answer.print(|word| word.value.clone()).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn commands_are_offered_by_their_full_names() {
    assert_eq!(offered("lis"), ["list"]);
    assert_eq!(offered("cfg se"), ["set"], "also below a short name");
    assert_eq!(offered("config s"), ["set"]);
    assert!(offered("").contains(&"create".to_owned()));
    assert!(!offered("").iter().any(|word| word.starts_with('_')), "what help does not show is not offered");
    assert_eq!(offered("tmr st"), ["status", "stop"], "a command that takes arguments has commands too");
}

#[test]
fn options_are_offered_once_unless_they_can_be_repeated() {
    assert_eq!(offered("list --run"), ["--running"]);
    assert!(!offered("list --running --").contains(&"--running".to_owned()));
    assert!(offered("list --label a=b --").contains(&"--label".to_owned()));
    assert!(!offered("list --").contains(&"--safe".to_owned()), "what help does not show is not offered");
    assert_eq!(offered("create x -- --no-con"), [""; 0], "another program's options are its own");
}

#[test]
fn values_are_offered_however_the_option_is_written() {
    assert_eq!(offered("list --format js"), ["json", "jsonl"]);
    assert_eq!(offered("list --format=js"), ["--format=json", "--format=jsonl"]);
    assert_eq!(offered("create -yq --transfer git-"), ["git-mirror", "git-worktree"]);
    assert_eq!(offered("config path --scope "), ["local", "project", "user"]);
    assert_eq!(offered("list --limit "), [""; 0]);
}

#[test]
fn arguments_are_counted_past_options_and_their_values() {
    assert_eq!(offered("create name scri"), ["scripted"]);
    assert_eq!(offered("create --label a=b -t x name scri"), ["scripted"]);
    assert_eq!(offered("create --label=a=b -tx name scri"), ["scripted"]);
}

#[test]
fn the_values_of_a_setting_are_those_of_its_key() {
    assert_eq!(offered("config set tmux.user_config "), ["false", "true"]);
    assert_eq!(offered("config set commands.create.type headless_cl"), ["headless_claude"]);
    assert_eq!(offered("config set commands.list.running t"), ["true"]);
    assert!(offered("config get tmux.").contains(&"tmux.socket".to_owned()));
    assert!(offered("config set commands.list.").contains(&"commands.list.host_label".to_owned()));
    assert_eq!(offered("list -S tmux.user_conf"), ["tmux.user_config="]);
    assert_eq!(offered("list -S tmux.user_config=t"), ["tmux.user_config=true"]);
    assert_eq!(how("list -S tmux.user_conf"), "open", "the value follows without a space");
}

#[test]
fn the_place_of_a_new_agent_is_offered_behind_its_name() {
    assert_eq!(offered("create foo@"), ["foo@.docker", "foo@.local", "foo@localhost"]);
    assert_eq!(offered("create foo@localhost."), ["foo@localhost.local"]);
    assert_eq!(offered("create foo"), [""; 0]);
}

#[test]
fn fields_and_states_and_topics_are_known() {
    assert_eq!(offered("list --fields name,waiting"), ["name,waiting_reason"]);
    assert_eq!(offered("wait fix WAIT"), ["WAITING"]);
    assert_eq!(offered("usage w"), ["wait"]);
    assert_eq!(offered("usage wait w"), [""; 0], "only once");
    assert_eq!(offered("help exit"), ["exit_codes"]);
    assert_eq!(offered("help config tru"), ["trust"]);
}

#[test]
fn files_and_folders_are_the_shells_own_business() {
    assert_eq!(how("create --message-file "), "files");
    assert_eq!(how("view "), "folders");
    assert_eq!(how("push fix ./no"), "files");
}

#[test]
fn what_a_shell_would_act_on_is_not_offered() {
    let odd = ["a b", "a\u{1b}[2J", "", "team=$(reboot)", "a;b", "`id`", "a\nb", "fine"]
        .map(Candidate::bare)
        .to_vec();
    let Answer::Words(words) = Answer::Words(odd).fitting("") else { panic!() };
    assert_eq!(words, [Candidate::bare("fine")]);
}
