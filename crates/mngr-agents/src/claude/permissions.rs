//! A permission set as rules of Claude Code.
//!
//! What no rule covers would open a dialog. The hook of that event answers it: with what the judge says where mngr runs, else
//! with no.

use mngr_model::permission::PermissionSet;

use crate::brand::Provisioning;

/// The rules. Where a judge reads every command line, commands are left to it: rules compare beginnings only.
pub(super) fn rules(set: &PermissionSet, has_judge: bool, request: &Provisioning<'_>) -> Vec<String> {
    // Two slashes: a path of the machine, not of the project.
    let mut rules = vec!["Read".to_owned(), format!("Edit(/{}/**)", request.record.work_dir)];
    if has_judge {
        return rules;
    }
    rules.push("Edit(//tmp/**)".to_owned());
    let publish = request.agent.commands().join("publish");
    rules.extend([
        format!("Bash({publish}:*)"),
        "Bash(\"$MNGR_AGENT_STATE_DIR/commands/publish\":*)".to_owned(),
        "Bash(mktemp:*)".to_owned(),
    ]);
    rules.extend(set.lines.iter().map(|line| format!("Bash({line})")));
    let runners = set.runners.iter().filter(|words| words.len() > 1);
    rules.extend(runners.map(|words| format!("Bash({}:*)", words.join(" "))));
    rules.extend(set.git.iter().map(|verb| format!("Bash(git {verb}:*)")));
    rules.extend(set.allow.iter().map(|pattern| match pattern.strip_suffix(" *") {
        Some(beginning) => format!("Bash({beginning}:*)"),
        None => format!("Bash({pattern})"),
    }));
    rules
}
