//! The line in the user's crontab that starts agents when a machine has booted. Only a line that is exactly ours is ever
//! touched.

use mngr_host::host::Host;
use mngr_host::proc::{Cmd, ExecError, Output};
use mngr_model::HostPath;
use mngr_model::quote::{excerpt, sh_quote};

use super::BootError;
use crate::host_lock;

/// What programs called `crontab` say when the user has none.
const NONE_YET: [&str; 2] = ["no crontab for", "No such file or directory"];

/// Fails where there is no crontab.
pub(super) fn check(host: &dyn Host) -> Result<(), BootError> {
    read(host).map(drop)
}

/// Whether the line is there.
pub(super) fn is_there(host: &dyn Host) -> Result<bool, BootError> {
    let line = line(&host.layout().start_on_boot());
    Ok(read(host)?.lines().any(|found| found == line))
}

/// Adds the line, unless it is there.
pub(super) fn add(host: &dyn Host) -> Result<(), BootError> {
    change(host, with_line)
}

/// Removes the line, if it is there. A host without a crontab has none.
pub(super) fn remove(host: &dyn Host) -> Result<(), BootError> {
    match change(host, without_line) {
        Err(BootError::NoCron { .. }) => Ok(()),
        other => other,
    }
}

fn change(host: &dyn Host, change: impl Fn(&str, &str) -> String) -> Result<(), BootError> {
    let _lock = host_lock::take(host)?;
    let text = read(host)?;
    let changed = change(&text, &line(&host.layout().start_on_boot()));
    if changed == text {
        return Ok(());
    }
    let output = run(host, Cmd::new("crontab").arg("-").stdin(changed))?;
    if output.success() { Ok(()) } else { Err(refused(host, &output)) }
}

/// The user's crontab; empty when there is none yet. One that cannot be read must not be replaced.
fn read(host: &dyn Host) -> Result<String, BootError> {
    let output = run(host, Cmd::new("crontab").arg("-l"))?;
    let said = output.stderr_text();
    match output.success() {
        true => Ok(output.stdout_text()),
        false if NONE_YET.iter().any(|words| said.contains(words)) => Ok(String::new()),
        false => Err(refused(host, &output)),
    }
}

fn run(host: &dyn Host, cmd: Cmd) -> Result<Output, BootError> {
    host.exec(&cmd.env("LC_ALL", "C")).map_err(|error| match error {
        ExecError::NotFound { .. } => BootError::NoCron { host: host.info().address() },
        other => other.into(),
    })
}

fn refused(host: &dyn Host, output: &Output) -> BootError {
    let said = output.stderr_text();
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("nothing");
    BootError::Cron { host: host.info().address(), said: excerpt(last) }
}

/// cron takes a `%` for the end of the command.
fn line(script: &HostPath) -> String {
    format!("@reboot sh {} # mngr start-on-boot", sh_quote(script.as_str()).replace('%', "\\%"))
}

fn with_line(text: &str, line: &str) -> String {
    if text.lines().any(|found| found == line) {
        return text.to_owned();
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}

fn without_line(text: &str, line: &str) -> String {
    text.split_inclusive('\n').filter(|found| found.trim_end_matches('\n') != line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_added_once_and_removed_exactly_and_what_else_is_there_stays() {
        let line = line(&HostPath::new("/home/a b/50%/start_on_boot.sh"));
        assert_eq!(line, "@reboot sh '/home/a b/50\\%/start_on_boot.sh' # mngr start-on-boot");
        let users = "# mine\n\n0 5 * * * backup\n@reboot sh other.sh";
        let added = with_line(users, &line);
        assert_eq!(added, format!("{users}\n{line}\n"));
        assert_eq!(with_line(&added, &line), added);
        assert_eq!(without_line(&added, &line), format!("{users}\n"));
        assert_eq!(without_line(users, &line), users);
        assert_eq!(without_line(&with_line("", &line), &line), "");
    }
}
