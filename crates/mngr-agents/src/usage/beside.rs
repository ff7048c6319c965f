//! What an agent used beside its conversation: compaction, titles and the like, which leave no answer in the record of it.
//!
//! Claude Code writes, when it ends, what each model has used in the session it was in, everything together. That is only
//! the last session: before the next start, and before only the conversation is kept, it is noted ([`SESSION_USAGE`]).
//! Spawns nothing.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mngr_host::files::{Access, Durability, Files, FilesError};
use mngr_model::HostPath;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ordinary::read_ordinary;
use crate::transcript::{Spend, SpendKind, Tokens};

/// What Claude Code remembers, below the state folder.
const MAIN_FILE: &str = "plugin/claude/anthropic/.claude.json";
/// What earlier sessions used, below the state folder.
pub(crate) const SESSION_USAGE: &str = "plugin/claude/session_usage.json";

/// What sessions used in all, by session and model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionTotals(BTreeMap<String, BTreeMap<String, Total>>);

/// What a model used in one session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Total {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Total {
    fn read(usage: &Value) -> Self {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        Self {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadInputTokens"),
            cache_write: count("cacheCreationInputTokens"),
        }
    }

    /// The larger of each: a session that was cut off and resumed may have begun to count again.
    fn at_least(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }

    fn tokens(self) -> Tokens {
        Tokens {
            input_tokens: self.input,
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
        }
    }
}

impl SessionTotals {
    /// What the state folder of an agent tells: the notes, and what its program wrote at its last end.
    pub fn of(files: &dyn Files, state: &HostPath) -> Result<Self, FilesError> {
        let noted = read_ordinary(files, &state.join(SESSION_USAGE))?.unwrap_or_default();
        let mut totals: Self = serde_json::from_slice(&noted).unwrap_or_default();
        let main = read_ordinary(files, &state.join(MAIN_FILE))?.unwrap_or_default();
        totals.add_last(&serde_json::from_slice(&main).unwrap_or_default());
        Ok(totals)
    }

    /// Notes what the program wrote at its last end, before something else takes its place.
    pub fn keep(files: &dyn Files, state: &HostPath) -> Result<(), FilesError> {
        let noted = read_ordinary(files, &state.join(SESSION_USAGE))?.unwrap_or_default();
        let totals = Self::of(files, state)?;
        match serde_json::to_vec(&totals) {
            Ok(text) if !totals.0.is_empty() && text != noted => {
                files.write(&state.join(SESSION_USAGE), &text, Access::Private, Durability::Cached)
            }
            _ => Ok(()),
        }
    }

    /// The last session of each folder the program was started in.
    fn add_last(&mut self, main: &Value) {
        let projects = main.get("projects").and_then(Value::as_object);
        for project in projects.into_iter().flat_map(|projects| projects.values()) {
            let session = project.get("lastSessionId").and_then(Value::as_str);
            let models = project.get("lastModelUsage").and_then(Value::as_object);
            let (Some(session), Some(models)) = (session, models) else { continue };
            let noted = self.0.entry(session.to_owned()).or_default();
            for (model, usage) in models {
                let total = noted.entry(model.clone()).or_default();
                *total = total.at_least(Total::read(usage));
            }
        }
    }

    /// What these sessions used beyond these answers. A session without an answer is not the agent's: its files may name
    /// those of the user.
    pub fn beside<'s>(&self, answers: impl Iterator<Item = &'s Spend>) -> Vec<Spend> {
        let mut known: BTreeMap<&str, Known> = BTreeMap::new();
        for answer in answers {
            let Some((session, totals)) = answer.session.as_ref().and_then(|id| self.0.get_key_value(id))
            else {
                continue;
            };
            let known = known.entry(session).or_default();
            known.latest = known.latest.max(Some(answer.timestamp));
            // It counts by the name it asked for, and an answer may come under another one.
            let names = [&answer.model, &answer.requested].into_iter().flatten();
            if let Some((model, _)) = names.filter_map(|name| totals.get_key_value(name)).next() {
                *known.models.entry(model).or_default() += answer.tokens;
            }
        }
        let mut spends = Vec::new();
        for (session, known) in known {
            for (model, total) in self.0.get(session).into_iter().flatten() {
                let counted = known.models.get(model.as_str()).copied().unwrap_or_default();
                let tokens = beyond(total.tokens(), counted);
                if tokens != Tokens::default() {
                    spends.push(Spend {
                        key: format!("beside/{session}/{model}"),
                        timestamp: known.latest.unwrap_or_default(),
                        model: Some(model.clone()),
                        requested: None,
                        tokens,
                        long_cache_write_tokens: 0,
                        cost: None,
                        session: Some(session.to_owned()),
                        kind: SpendKind::Beside,
                    });
                }
            }
        }
        spends
    }

    /// The sessions of which something is known.
    pub fn sessions(&self) -> BTreeSet<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

/// The answers of one session.
#[derive(Default)]
struct Known<'s> {
    latest: Option<Timestamp>,
    models: BTreeMap<&'s str, Tokens>,
}

fn beyond(total: Tokens, counted: Tokens) -> Tokens {
    Tokens {
        input_tokens: total.input_tokens.saturating_sub(counted.input_tokens),
        output_tokens: total.output_tokens.saturating_sub(counted.output_tokens),
        cache_read_tokens: total.cache_read_tokens.saturating_sub(counted.cache_read_tokens),
        cache_write_tokens: total.cache_write_tokens.saturating_sub(counted.cache_write_tokens),
    }
}

#[cfg(test)]
mod tests {
    use mngr_host::local::LocalFiles;
    use serde_json::json;

    use super::*;

    fn answer(session: &str, model: &str, requested: &str) -> Spend {
        Spend {
            key: format!("{session}/{model}/{requested}"),
            timestamp: Timestamp::UNIX_EPOCH,
            model: Some(model.to_owned()),
            requested: Some(requested.to_owned()),
            tokens: Tokens {
                input_tokens: 10,
                output_tokens: 5,
                cache_read_tokens: 300,
                cache_write_tokens: 20,
            },
            long_cache_write_tokens: 0,
            cost: None,
            session: Some(session.to_owned()),
            kind: SpendKind::Answer,
        }
    }

    fn used(times: u64) -> Value {
        json!({ "inputTokens": 10 * times, "outputTokens": 5 * times, "cacheReadInputTokens": 300 * times,
            "cacheCreationInputTokens": 20 * times, "costUSD": 1 })
    }

    fn main_file(session: &str, models: Value) -> Value {
        let last = json!({ "lastSessionId": session, "lastModelUsage": models });
        json!({ "projects": { "/repository": last, "/elsewhere": { "lastSessionId": "users" }, "odd": 1 } })
    }

    #[test]
    fn what_a_session_used_beyond_its_answers_is_beside_them() {
        let mut totals = SessionTotals::default();
        totals.add_last(&main_file("s", json!({ "big": used(3), "small": used(1), "odd": 7 })));
        let answers =
            [answer("s", "big-20260101", "big"), answer("s", "big", "big"), answer("other", "big", "big")];
        let beside = totals.beside(answers.iter());
        let told: Vec<_> =
            beside.iter().map(|s| (s.model.as_deref().unwrap_or(""), s.tokens.total())).collect();
        assert_eq!(told, [("big", 335), ("small", 335)]);
        assert!(
            totals.beside([answer("other", "big", "big")].iter()).is_empty(),
            "not a session of this agent"
        );
        let more = vec![answer("s", "big", "big"); 5];
        assert_eq!(totals.beside(more.iter()).len(), 1, "it may have counted less than its record");
    }

    #[test]
    fn what_was_written_at_an_end_is_noted_before_the_next_one() {
        let dir = tempfile::tempdir().unwrap();
        let state = HostPath::new(dir.path().to_str().unwrap());
        let put = |value: Value| {
            let path = state.join(MAIN_FILE);
            LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
            LocalFiles
                .write(&path, value.to_string().as_bytes(), Access::Private, Durability::Cached)
                .unwrap();
        };
        SessionTotals::keep(&LocalFiles, &state).unwrap();
        assert!(!LocalFiles.exists(&state.join(SESSION_USAGE)).unwrap());
        put(main_file("one", json!({ "big": used(3) })));
        SessionTotals::keep(&LocalFiles, &state).unwrap();
        put(main_file("two", json!({ "big": used(1) })));
        let totals = SessionTotals::of(&LocalFiles, &state).unwrap();
        assert_eq!(totals.sessions().into_iter().collect::<Vec<_>>(), ["one", "two"]);
        // Resumed after it was cut off: it has begun to count again.
        put(main_file("one", json!({ "big": used(1) })));
        SessionTotals::keep(&LocalFiles, &state).unwrap();
        let beside =
            SessionTotals::of(&LocalFiles, &state).unwrap().beside([answer("one", "big", "big")].iter());
        assert_eq!(beside[0].tokens.total(), 670);
        let noted = LocalFiles.read_file(&state.join(SESSION_USAGE)).unwrap();
        assert!(!String::from_utf8_lossy(&noted).contains("repository"), "nothing but counts is kept");
    }
}
