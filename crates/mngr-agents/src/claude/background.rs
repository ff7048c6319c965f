//! What Claude Code has going on in the background, from the lines its hooks noted in the file `background`.
//!
//! `Stop` and `SubagentStop` bring everything that lives. A sub-agent that has just stopped is still in its own list: it is
//! over when the conversation is told of it, which begins a turn. What has gone from the list without that is news still
//! to come.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::Offset;
use mngr_model::background::{BackgroundTask, WakeUp};
use mngr_model::facts::ProgramFacts;
use serde::Deserialize;

use super::cron;

/// What is noted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Noted {
    /// What lives, in the order in which it began.
    pub(super) tasks: Vec<BackgroundTask>,
    /// When it wakes by itself.
    pub(super) wakeups: Vec<WakeUp>,
    /// Whether something ended in its last turn that it has not been told of: that begins the next one.
    pub(super) has_news: bool,
    /// Whether a sub-agent has come to its end that it has not been told of: that certainly begins the next turn.
    pub(super) has_answer: bool,
}

#[derive(Deserialize)]
struct Everything {
    background_tasks: Vec<Task>,
    #[serde(default)]
    session_crons: Vec<Cron>,
}

#[derive(Deserialize)]
struct Task {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct Cron {
    id: String,
    schedule: String,
    #[serde(default)]
    recurring: bool,
    #[serde(default)]
    prompt: String,
}

#[derive(Deserialize)]
struct ShellStart {
    tool_input: ShellInput,
    tool_response: ShellResponse,
}

#[derive(Deserialize)]
struct ShellInput {
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    command: Option<String>,
}

#[derive(Deserialize)]
struct ShellResponse {
    #[serde(rename = "backgroundTaskId")]
    id: String,
}

#[derive(Deserialize)]
struct SubagentStart {
    agent_id: String,
    #[serde(default)]
    agent_type: String,
}

/// Reads the notes. A line that is not understood, because it is just being written, says nothing.
pub(super) fn noted(facts: &ProgramFacts) -> Noted {
    let mut noted = Noted::default();
    let mut begun = BTreeMap::new();
    // What has gone since the last end of a turn.
    let mut unheard = BTreeSet::new();
    let mut finished = BTreeSet::new();
    for line in facts.background.as_deref().unwrap_or_default().lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(kind), Some(seconds), Some(zone), Some(rest)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let at = seconds.parse().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
        match kind {
            "Stop" | "SubagentStop" => {
                let (who, rest) = match kind {
                    "SubagentStop" => rest.split_once(' ').unwrap_or(("", rest)),
                    _ => ("", rest),
                };
                finished.insert(who);
                let Ok(all) = serde_json::from_str(&format!("{{\"background_tasks\":{rest}")) else {
                    continue;
                };
                let before = noted.tasks;
                noted = everything(all, at, offset(zone), &begun, facts.looked_at);
                let lives = |id: &str| noted.tasks.iter().any(|task| task.id == id);
                unheard.extend(before.into_iter().map(|task| task.id).filter(|id| !lives(id)));
                if kind == "Stop" {
                    noted.has_news = !std::mem::take(&mut unheard).is_empty();
                }
            }
            "Shell" => {
                let Ok(start) = serde_json::from_str::<ShellStart>(rest) else { continue };
                let ShellInput { description, command } = start.tool_input;
                let description = description.or(command).unwrap_or_default();
                add(&mut noted, &mut begun, task(start.tool_response.id, "shell", description, at));
            }
            "SubagentStart" => {
                let Ok(start) = serde_json::from_str::<SubagentStart>(rest) else { continue };
                finished.remove(start.agent_id.as_str());
                add(&mut noted, &mut begun, task(start.agent_id, "subagent", start.agent_type, at));
            }
            "Over" => {
                noted.tasks.retain(|task| task.id != rest);
                unheard.remove(rest);
                finished.remove(rest);
                noted.has_news = false;
            }
            _ => {}
        }
    }
    noted.has_answer = noted.tasks.iter().any(|task| finished.contains(task.id.as_str()));
    noted
}

fn task(id: String, kind: &str, description: String, since: Option<Timestamp>) -> BackgroundTask {
    BackgroundTask { id, kind: kind.to_owned(), description, since }
}

fn add(noted: &mut Noted, begun: &mut BTreeMap<String, Option<Timestamp>>, task: BackgroundTask) {
    begun.insert(task.id.clone(), task.since);
    noted.tasks.retain(|known| known.id != task.id);
    noted.tasks.push(task);
}

fn everything(
    all: Everything,
    at: Option<Timestamp>,
    zone: Offset,
    begun: &BTreeMap<String, Option<Timestamp>>,
    now: Option<Timestamp>,
) -> Noted {
    let since = |id: &str| begun.get(id).copied().flatten().or(at);
    let mut tasks: Vec<BackgroundTask> = all
        .background_tasks
        .into_iter()
        .map(|one| task(one.id.clone(), &one.kind, one.description, since(&one.id)))
        .collect();
    tasks.sort_by_key(|task| task.since);
    let wakeups = all.session_crons.into_iter().filter_map(|cron| {
        let from = if cron.recurring { now.max(at) } else { at };
        let next = from.and_then(|from| cron::next(&cron.schedule, from, zone));
        // One that has rung is not told of again.
        let is_over = !cron.recurring && next.zip(now).is_some_and(|(next, now)| next < now);
        let Cron { id, schedule, recurring: is_recurring, prompt } = cron;
        (!is_over).then_some(WakeUp { id, at: next, schedule, is_recurring, prompt })
    });
    Noted { tasks, wakeups: wakeups.collect(), ..Noted::default() }
}

/// `+0130`.
fn offset(text: &str) -> Offset {
    let minutes = text.get(1..3).zip(text.get(3..5)).and_then(|(hours, minutes)| {
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        Some(hours * 60 + minutes)
    });
    let seconds = 60 * minutes.unwrap_or(0) * if text.starts_with('-') { -1 } else { 1 };
    Offset::from_seconds(seconds).unwrap_or(Offset::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Noted {
        let facts = ProgramFacts {
            background: Some(lines.join("\n")),
            looked_at: Timestamp::from_second(2000).ok(),
            ..ProgramFacts::default()
        };
        noted(&facts)
    }

    fn shown(noted: &Noted) -> Vec<String> {
        let since = |task: &BackgroundTask| task.since.map_or(0, |since| since.as_second());
        noted
            .tasks
            .iter()
            .map(|task| format!("{} {} {} {}", task.id, task.kind, task.description, since(task)))
            .collect()
    }

    const SHELL: &str = r#"Shell 1000 +0000 {"tool_name":"Bash","tool_input":{"command":"npm start","description":"a server"},"tool_response":{"stdout":"","backgroundTaskId":"b1"}}"#;
    const AGENT: &str = r#"SubagentStart 1001 +0000 {"agent_id":"a1","agent_type":"general-purpose"}"#;
    const BOTH: &str = r#"Stop 1005 +0000 [{"id":"a1","type":"subagent","status":"running","description":"look around"},{"id":"b1","type":"shell","status":"running","description":"a server","command":"npm start"}],"session_crons":[]}"#;

    #[test]
    fn what_is_started_lives_until_it_is_over_and_keeps_its_time() {
        assert_eq!(
            shown(&read(&[SHELL, AGENT])),
            ["b1 shell a server 1000", "a1 subagent general-purpose 1001"]
        );
        assert_eq!(
            shown(&read(&[SHELL, AGENT, BOTH])),
            ["b1 shell a server 1000", "a1 subagent look around 1001"]
        );
        assert_eq!(shown(&read(&[BOTH])), ["a1 subagent look around 1005", "b1 shell a server 1005"]);
        assert_eq!(shown(&read(&[SHELL, AGENT, BOTH, "Over 1009 +0000 a1"])), ["b1 shell a server 1000"]);
        let none = r#"Stop 1010 +0000 [],"session_crons":[]}"#;
        let over = ["Over 1009 +0000 a1", "Over 1009 +0000 b1"];
        assert_eq!(read(&[SHELL, AGENT, over[0], over[1], none]), Noted::default());
    }

    #[test]
    fn what_ended_in_a_turn_is_news_until_it_was_told() {
        let none = r#"Stop 1010 +0000 [],"session_crons":[]}"#;
        let of_sub_agent = r#"SubagentStop 1009 +0000 a9 [],"session_crons":[]}"#;
        assert!(read(&[SHELL, none]).has_news);
        assert!(read(&[SHELL, of_sub_agent, none]).has_news);
        assert!(!read(&[SHELL, none, none]).has_news, "it was told in the middle of a turn");
        assert!(!read(&[SHELL, none, "Over 1011 +0000 b1"]).has_news);
        assert!(!read(&[SHELL, "Over 1009 +0000 b1", none]).has_news);
        let stopped = BOTH.replacen("Stop 1005 +0000", "SubagentStop 1006 +0000 a1", 1);
        assert!(read(&[AGENT, &stopped]).has_answer);
        assert!(!read(&[AGENT, BOTH]).has_answer);
        assert!(!read(&[AGENT, &stopped, "Over 1009 +0000 a1"]).has_answer);
        assert!(!read(&[AGENT, &stopped, AGENT]).has_answer, "it was woken");
    }

    #[test]
    fn lines_that_are_cut_or_strange_say_nothing() {
        for line in ["", "Shell", "Shell 1 +0000 {", "Stop x y [", "Dance 1 +0000 {}", &BOTH[..60]] {
            assert_eq!(read(&[line]), Noted::default(), "{line}");
        }
    }

    #[test]
    fn a_wake_up_has_its_time_in_the_zone_of_the_host_until_it_has_rung() {
        let line = |at: i64, recurring: bool| {
            format!(
                r#"Stop {at} +0130 [],"session_crons":[{{"id":"c","schedule":"50 6 * * *","recurring":{recurring},"prompt":"go"}}]}}"#
            )
        };
        // 6:50 an hour and a half ahead of UTC is 5:20.
        let wakeups = read(&[&line(1000, false)]).wakeups;
        assert_eq!(wakeups[0].at, Timestamp::from_second(5 * 3600 + 20 * 60).ok());
        assert_eq!(read(&[&line(-90_000, false)]).wakeups, []);
        assert_eq!(read(&[&line(-90_000, true)]).wakeups[0].at, wakeups[0].at);
    }
}
