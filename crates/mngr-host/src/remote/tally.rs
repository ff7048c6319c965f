//! A record of what crosses the wire, for tests that count round trips. In a release build it is not kept.
//!
//! One line each: `open HOST MS` for a process that carries a shell there, `ask HOST WHAT MS` for a request and its
//! answer. `MS` are milliseconds: since the start of this process for an opening, from request to answer for a request.

/// Environment variable: the file that takes the record.
pub const WIRE_LOG: &str = "MNGR_WIRE_LOG";

/// A process that carries a shell to that machine was started.
#[cfg(debug_assertions)]
pub(super) fn opened(host: &str) {
    write(&format!("open {host}\n"));
}

/// A request to that machine was answered, or was not.
#[cfg(debug_assertions)]
pub(super) fn asked(host: &str, what: &str, since: std::time::Instant) {
    write(&format!("ask {host} {} {}\n", what.replace(' ', "-"), since.elapsed().as_millis()));
}

#[cfg(debug_assertions)]
fn write(line: &str) {
    use std::io::Write;

    let Some(path) = std::env::var_os(WIRE_LOG) else { return };
    if let Ok(mut file) = std::fs::File::options().create(true).append(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(super) fn opened(_host: &str) {}

/// Nothing in a release build.
#[cfg(not(debug_assertions))]
pub(super) fn asked(_host: &str, _what: &str, _since: std::time::Instant) {}
