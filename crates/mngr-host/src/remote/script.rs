//! A [`Cmd`] as lines of POSIX `sh` that become it. Pure: nothing is run here.
//!
//! Values of variables are never on a command line: every user of a machine can read those.

use std::fmt::Write;
use std::io;

use mngr_model::HostPath;
use mngr_model::quote::{sh_join, sh_quote};

use super::line::Terminal;
use super::shells::Obstacle;
use crate::proc::{Cmd, ExecError, Inheritance};

/// How a script is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// By the loop of a shell, which asks for the obstacle.
    Captured,
    /// From a folder of its own, with a user or a caller at its ends.
    Attached(Terminal),
}

/// The script; it lies in a file, whose name it finds in `$0`.
pub(super) fn script(cmd: &Cmd, setting: Setting) -> Result<String, ExecError> {
    refuse_nul(cmd)?;
    let mut text = String::new();
    if cmd.inheritance == Inheritance::Nothing {
        text.push_str("[ \"$1\" = clean ] || exec env -i PATH=\"$PATH\" /bin/sh \"$0\" clean\n");
    }
    match setting {
        Setting::Captured => {}
        Setting::Attached(Terminal::Ours) => text.push_str("rm -rf \"${0%/*}\"\n"),
        Setting::Attached(Terminal::None) => text.push_str("rm -f \"$0\"; echo $PPID >\"${0%/*}/pid\"\n"),
    }
    if let Some(dir) = &cmd.cwd {
        let word = path_word(dir);
        let missing = give_up(setting, Obstacle::NoFolder, &format!("the folder `{dir}` does not exist"));
        let denied = give_up(setting, Obstacle::Denied, &format!("the folder `{dir}` cannot be entered"));
        let _ = writeln!(text, "[ -d {word} ] || {missing}\ncd {word} 2>/dev/null || {denied}");
    }
    let odd = variables(cmd, &mut text);
    let program = sh_quote(&cmd.program);
    let missing = give_up(setting, Obstacle::NoProgram, &format!("`{}` was not found", cmd.program));
    let denied = give_up(setting, Obstacle::Denied, &format!("`{}` cannot be run", cmd.program));
    let found = format!("command -v {program} >/dev/null 2>&1");
    if cmd.program.contains('/') {
        let _ = writeln!(
            text,
            "[ -e {program} ] || {missing}\n{{ [ -x {program} ] && [ ! -d {program} ]; }} || {denied}"
        );
    } else {
        let _ = writeln!(text, "{found} || {missing}");
    }
    if cmd.inheritance == Inheritance::Nothing {
        // The shell has made these itself.
        let is_set = |name: &&str| cmd.env.iter().any(|(set, value)| set == name && value.is_some());
        let own: Vec<_> =
            ["PATH", "PWD", "OLDPWD", "SHLVL"].into_iter().filter(|name| !is_set(name)).collect();
        // Found before PATH goes, as a spawn without a PATH finds it.
        let _ = writeln!(text, "set -- \"$(command -v {program})\" \"$(command -v env)\"");
        let env = if odd.is_empty() { String::new() } else { format!("\"$2\" {odd} ") };
        let _ = writeln!(text, "unset {}\nexec {env}\"$1\" {}", own.join(" "), sh_join(&cmd.args));
    } else {
        let env = if odd.is_empty() { String::new() } else { format!("env {odd} ") };
        let _ = writeln!(text, "exec {env}{program} {}", sh_join(&cmd.args));
    }
    Ok(text)
}

/// The text of a script file as it is sent: without its comments, which are for readers here.
pub(super) fn without_comments(script: &str) -> String {
    let lines = script.lines().map(str::trim_start).filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.fold(String::with_capacity(script.len()), |text, line| text + line + "\n")
}

/// A path as one word that no program takes for an option or for standard input.
pub(super) fn path_word(path: &HostPath) -> String {
    let text = path.as_str();
    if text.starts_with('/') || text.is_empty() {
        sh_quote(text).into_owned()
    } else {
        sh_quote(&format!("./{text}")).into_owned()
    }
}

/// Sets the variables; those whose names `sh` cannot spell come back as words of `env`.
fn variables(cmd: &Cmd, text: &mut String) -> String {
    let mut odd = Vec::new();
    for (name, value) in &cmd.env {
        match (is_name(name), value) {
            (true, Some(value)) => {
                let _ = writeln!(text, "export {name}={}", sh_join([value]));
            }
            (true, None) => {
                let _ = writeln!(text, "unset {name}");
            }
            (false, Some(value)) => odd.push(format!("{name}={value}")),
            (false, None) => odd.extend(["-u".to_owned(), name.clone()]),
        }
    }
    sh_join(odd)
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn give_up(setting: Setting, obstacle: Obstacle, text: &str) -> String {
    // A path may come from a record that somebody made up.
    let text: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    match setting {
        Setting::Captured => format!("{{ echo {} >\"${{0%/*}}/why\"; exit 127; }}", obstacle.word()),
        Setting::Attached(_) => format!("{{ printf '%s\\n' {} >&2; exit 127; }}", sh_quote(&text)),
    }
}

/// No word of a process can hold a NUL, and a shell would drop it without a sign.
fn refuse_nul(cmd: &Cmd) -> Result<(), ExecError> {
    let variables = cmd.env.iter().flat_map(|(name, value)| [Some(name), value.as_ref()]).flatten();
    let mut words = cmd.args.iter().chain([&cmd.program]).chain(variables).map(String::as_str);
    if words.any(|word| word.contains('\0'))
        || cmd.cwd.as_ref().is_some_and(|dir| dir.as_str().contains('\0'))
    {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "a word of the command holds a NUL");
        return Err(ExecError::Io { program: cmd.program.clone(), source });
    }
    Ok(())
}
