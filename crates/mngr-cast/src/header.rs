//! The first line of a recording.

use serde_json::{Map, Value};

/// A version of the asciicast format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Version {
    /// What asciinema 2 writes and everything reads: times since the start.
    #[default]
    V2,
    /// What asciinema 3 writes: times since the event before.
    V3,
}

impl Version {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Characters in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// A size no recording of ours has, small enough that a hostile one does not fill the memory.
const MAX_COLS: u16 = 1000;
const MAX_ROWS: u16 = 500;

impl Size {
    /// The size nobody said anything about.
    pub const DEFAULT: Self = Self { cols: 80, rows: 24 };

    /// Reads `80x24`.
    pub fn parse(text: &str) -> Option<Self> {
        let (cols, rows) = text.split_once('x')?;
        Some(Self { cols: cols.parse().ok()?, rows: rows.parse().ok()? })
    }

    /// The nearest size that can be emulated.
    #[must_use]
    pub fn clamped(self) -> Self {
        Self { cols: self.cols.clamp(1, MAX_COLS), rows: self.rows.clamp(1, MAX_ROWS) }
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}

/// What is said of a recording as a whole. Both versions hold the same, in other places.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// How the file is written.
    pub version: Version,
    /// The terminal's size at the start.
    pub size: Size,
    /// When it was made, in seconds since 1970.
    pub timestamp: Option<i64>,
    /// When it was made, in milliseconds since 1970: what a line of a transcript is found by.
    pub started_ms: Option<i64>,
    /// Players show no pause longer than these seconds. Times in the file are the real ones.
    pub idle_time_limit: Option<f64>,
    /// The program that was recorded.
    pub command: Option<String>,
    /// What it is called.
    pub title: Option<String>,
    /// The kind of terminal, `xterm-256color` for one.
    pub term: Option<String>,
    /// Its colours.
    pub theme: Option<Value>,
    /// Everything else, as it was found.
    pub more: Map<String, Value>,
}

/// The name under which mngr keeps what only it knows.
const OWN: &str = "mngr";

impl Header {
    /// A header that says only the size.
    pub fn new(version: Version, size: Size) -> Self {
        Self {
            version,
            size,
            timestamp: None,
            started_ms: None,
            idle_time_limit: None,
            command: None,
            title: None,
            term: None,
            theme: None,
            more: Map::new(),
        }
    }

    /// Reads a header of that version. Of what it does not understand nothing is lost.
    pub(crate) fn from_json(version: Version, mut json: Map<String, Value>) -> Option<Self> {
        json.remove("version");
        let (size, term, theme) = match version {
            Version::V2 => {
                let size = Size { cols: number(json.remove("width"))?, rows: number(json.remove("height"))? };
                let env = json.get_mut("env").and_then(Value::as_object_mut);
                let term = env.and_then(|env| text(env.remove("TERM")));
                (size, term, json.remove("theme"))
            }
            Version::V3 => {
                let mut term = json.get_mut("term").and_then(Value::as_object_mut).map(std::mem::take)?;
                let size = Size { cols: number(term.remove("cols"))?, rows: number(term.remove("rows"))? };
                let (kind, theme) = (text(term.remove("type")), term.remove("theme"));
                json.insert("term".into(), term.into());
                (size, kind, theme)
            }
        };
        let started_ms = json
            .get_mut(OWN)
            .and_then(Value::as_object_mut)
            .and_then(|own| own.remove("started_ms"))
            .and_then(|ms| ms.as_i64());
        for key in [OWN, "env", "term"] {
            if json.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
                json.remove(key);
            }
        }
        Some(Self {
            version,
            size,
            timestamp: json
                .remove("timestamp")
                .and_then(|seconds| seconds.as_f64())
                .map(|seconds| seconds as i64),
            started_ms,
            idle_time_limit: json.remove("idle_time_limit").and_then(|limit| limit.as_f64()),
            command: text(json.remove("command")),
            title: text(json.remove("title")),
            term,
            theme,
            more: json,
        })
    }

    /// The header as its version writes it.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut more = self.more.clone();
        let mut json = Map::new();
        json.insert("version".into(), self.version.number().into());
        match self.version {
            Version::V2 => {
                json.insert("width".into(), self.size.cols.into());
                json.insert("height".into(), self.size.rows.into());
            }
            Version::V3 => {
                let mut term = Map::new();
                term.insert("cols".into(), self.size.cols.into());
                term.insert("rows".into(), self.size.rows.into());
                if let Some(kind) = &self.term {
                    term.insert("type".into(), kind.clone().into());
                }
                if let Some(theme) = &self.theme {
                    term.insert("theme".into(), theme.clone());
                }
                if let Some(Value::Object(rest)) = more.remove("term") {
                    term.extend(rest);
                }
                json.insert("term".into(), term.into());
            }
        }
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                json.insert(key.into(), value);
            }
        };
        add("timestamp", self.timestamp.map(Into::into));
        add("idle_time_limit", self.idle_time_limit.map(Into::into));
        add("command", self.command.clone().map(Into::into));
        add("title", self.title.clone().map(Into::into));
        if self.version == Version::V2 {
            add("theme", self.theme.clone());
        }
        if let (Version::V2, Some(term)) = (self.version, &self.term) {
            insert_in(&mut more, "env", "TERM", term.clone().into());
        }
        if let Some(started_ms) = self.started_ms {
            insert_in(&mut more, OWN, "started_ms", started_ms.into());
        }
        json.extend(more);
        json
    }
}

/// Puts a value into the object of that name, which is made where there is none.
fn insert_in(json: &mut Map<String, Value>, name: &str, key: &str, value: Value) {
    let mut inner = match json.remove(name) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    inner.insert(key.to_owned(), value);
    json.insert(name.to_owned(), inner.into());
}

fn number(value: Option<Value>) -> Option<u16> {
    value?.as_u64()?.try_into().ok()
}

fn text(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text),
        _ => None,
    }
}
