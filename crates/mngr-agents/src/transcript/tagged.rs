//! Texts that programs put into the user's mouth: each stands between tags that name it. Pure.

use super::record::ProgramKind;

/// The tags that are known, by program. What stands between others is the user's own.
const TAGS: &[(&str, ProgramKind)] = &[
    // Claude Code.
    ("command-name", ProgramKind::Command),
    ("command-message", ProgramKind::Command),
    ("bash-input", ProgramKind::Command),
    ("bash-stdout", ProgramKind::CommandOutput),
    ("bash-stderr", ProgramKind::CommandOutput),
    ("local-command-stdout", ProgramKind::CommandOutput),
    ("local-command-stderr", ProgramKind::CommandOutput),
    ("local-command-caveat", ProgramKind::Context),
    ("system-reminder", ProgramKind::Context),
    ("user-memory-input", ProgramKind::Context),
    ("task-notification", ProgramKind::Notification),
    // Codex.
    ("user_shell_command", ProgramKind::Command),
    ("environment_context", ProgramKind::Context),
    ("user_instructions", ProgramKind::Context),
    ("permissions instructions", ProgramKind::Context),
    ("skills_instructions", ProgramKind::Context),
    ("skill", ProgramKind::Context),
    ("turn_aborted", ProgramKind::Notification),
    ("subagent_notification", ProgramKind::Notification),
];

/// What a text is that stands between tags, the last of which may be another one; `None` where it is the user's own.
pub(super) fn kind(text: &str) -> Option<ProgramKind> {
    let text = text.trim();
    let (name, rest) = text.strip_prefix('<')?.split_once('>')?;
    if !rest.ends_with('>') || !rest.contains("</") {
        return None;
    }
    TAGS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// A command as it was typed, out of the tags around its name and its arguments; the text itself where it has none.
pub(super) fn typed(text: &str) -> String {
    let inside = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (inside, _) = rest.split_once(&format!("</{name}>"))?;
        Some(inside.trim())
    };
    if let Some(shell) = inside("bash-input") {
        return format!("!{shell}");
    }
    match (inside("command-name"), inside("command-args")) {
        (Some(name), Some(args)) if !args.is_empty() => format!("{name} {args}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => text.trim().to_owned(),
    }
}

/// What is between the outermost tags, for people to read; the text itself where there are none.
pub(super) fn untagged(text: &str) -> &str {
    let text = text.trim();
    let inner = text.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</")).map(|(inner, _)| inner);
    inner.map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_texts_between_known_tags_are_the_programs() {
        let command = "<command-message>compact</command-message>\n<command-name>/compact</command-name>\n<command-args>keep it</command-args>";
        assert_eq!(kind(command), Some(ProgramKind::Command));
        assert_eq!(typed(command), "/compact keep it");
        assert_eq!(typed("<bash-input>ls -l</bash-input>"), "!ls -l");
        assert_eq!(
            kind("<task-notification>\n<id>1</id>\n</task-notification>"),
            Some(ProgramKind::Notification)
        );
        assert_eq!(untagged("<local-command-stdout>\nSet to x\n</local-command-stdout>"), "Set to x");
        for own in [
            "<b>bold</b>",
            "what does <system-reminder> mean?",
            "<system-reminder> is a tag, is it not",
            "<task-notification>",
            "a < b > c </b>",
            "",
        ] {
            assert_eq!(kind(own), None, "{own}");
        }
    }
}
