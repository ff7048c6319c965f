//! What a page of `--help` says a program accepts.
//!
//! The pages of clap, click, argparse, cobra, Go's `flag` and the GNU tools differ in layout; what is read here is what
//! they have in common. An option that a page only mentions is accepted: a wrong complaint is worse than a missed one.

use std::collections::BTreeSet;

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// None.
    Nothing,
    /// Perhaps.
    Optional,
    /// One.
    Value,
}

/// An option with its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HelpOption {
    /// `-f`, `--format`.
    pub(crate) names: Vec<String>,
    /// Whether it takes a value.
    pub(crate) takes: Takes,
    /// The only values it takes; empty when it takes others.
    pub(crate) choices: Vec<String>,
}

/// What a page says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HelpPage {
    /// Options that have a line of their own.
    pub(crate) options: Vec<HelpOption>,
    /// Everything on the page that looks like an option.
    pub(crate) mentioned: BTreeSet<String>,
    /// Commands below this one, with their other names.
    pub(crate) commands: BTreeSet<String>,
    /// Whether there are commands that the page does not list.
    pub(crate) has_more_commands: bool,
}

impl HelpPage {
    pub(crate) fn parse(text: &str) -> Self {
        let mut page = Self { mentioned: mentioned(text), ..Self::default() };
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            if line.trim_start().starts_with('-') {
                page.options.extend(option(line, lines.get(number + 1).copied().unwrap_or_default()));
            }
        }
        page.commands = commands(&lines);
        page.has_more_commands = has_more_commands(&lines, &page.commands);
        let spelled: Vec<String> = page.options.iter().flat_map(|option| option.names.clone()).collect();
        page.mentioned.extend(spelled);
        page
    }

    /// Whether nothing was understood.
    pub(crate) fn is_empty(&self) -> bool {
        self.mentioned.is_empty() && self.commands.is_empty()
    }

    pub(crate) fn option(&self, name: &str) -> Option<&HelpOption> {
        self.options.iter().find(|option| option.names.iter().any(|known| known == name))
    }
}

/// `-f, --format <FORMAT>   What it does`.
fn option(line: &str, below: &str) -> Option<HelpOption> {
    let line = line.trim();
    let end = line.find("  ").or_else(|| line.find('\t')).unwrap_or(line.len());
    let (spelling, description) = line.split_at(end);
    let mut names = Vec::new();
    let mut takes = Takes::Nothing;
    let mut choices = Vec::new();
    for part in spelling.split([',', '|']).flat_map(|part| part.split(" / ")).map(str::trim) {
        if !part.starts_with('-') {
            continue;
        }
        let (is_negatable, part) = match part.strip_prefix("--[no-]") {
            Some(rest) => (true, format!("--{rest}")),
            None => (false, part.to_owned()),
        };
        let name_end = part[1..].find([' ', '=', '[', '<']).map_or(part.len(), |at| at + 1);
        let (name, value) = part.split_at(name_end);
        let name = name.trim_end_matches('.');
        names.push(name.to_owned());
        if is_negatable {
            names.push(name.replacen("--", "--no-", 1));
        }
        let value = value.trim_matches([' ', '=']);
        if !value.is_empty() && value != "..." {
            takes =
                if value.starts_with('[') && !value.contains('|') { Takes::Optional } else { Takes::Value };
        }
    }
    // The parts above are cut at every bar: click writes `[a|b]`, argparse `{a,b}`.
    for (open, close, between) in [('[', ']', '|'), ('{', '}', ',')] {
        let inner =
            spelling.split_once(open).and_then(|(_, rest)| rest.split_once(close)).map(|(inner, _)| inner);
        if let Some(inner) = inner.filter(|inner| inner.contains(between)) {
            takes = Takes::Value;
            choices = inner.split(between).map(|choice| choice.trim().to_owned()).collect();
        }
    }
    // A long description begins on the line below.
    let below = if below.trim_start().starts_with('-') { "" } else { below };
    for text in [description, below] {
        let listed = text.split_once("[possible values: ").and_then(|(_, rest)| rest.split_once(']'));
        if let Some((listed, _)) = listed.filter(|_| choices.is_empty() && takes != Takes::Nothing) {
            choices = listed.split(',').map(|choice| choice.trim().to_owned()).collect();
        }
    }
    (!names.is_empty()).then_some(HelpOption { names, takes, choices })
}

/// Every `-x` and `--word` of a text.
fn mentioned(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = text.split(|c: char| !is_part(c));
    let options = words.filter(|word| word.starts_with('-') && word.trim_matches('-').len() + 2 >= 3);
    options.map(|word| word.trim_end_matches('-').to_owned()).filter(|word| word.len() >= 2).collect()
}

/// A page may list only the most common commands, or none although its usage speaks of them.
fn has_more_commands(lines: &[&str], listed: &BTreeSet<String>) -> bool {
    let text = |line: &&str| line.trim().to_ascii_lowercase();
    if !listed.is_empty() {
        let is_selection =
            |line: String| line.starts_with("...") || (line.starts_with("common") && line.ends_with(':'));
        return lines.iter().map(text).any(is_selection);
    }
    let usage = lines.iter().map(text).skip_while(|line| !line.starts_with("usage"));
    usage.take_while(|line| !line.is_empty()).any(|line| line.contains("command"))
}

/// The first words of the lines below a heading such as `Commands:`.
fn commands(lines: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut entry_indent = None;
    let mut is_list = false;
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        if line.trim().is_empty() {
            continue;
        }
        if indent == 0 {
            let heading = line.trim().trim_end_matches(':').to_ascii_lowercase();
            is_list = heading.ends_with("commands") || heading == "positional arguments";
            entry_indent = None;
            continue;
        }
        let indent_of_entries = *entry_indent.get_or_insert(indent);
        if is_list && indent == indent_of_entries {
            found.extend(names(line.trim()));
        } else if is_list
            && indent > indent_of_entries
            && line.trim_start().starts_with(|c: char| c.is_ascii_lowercase())
        {
            // argparse puts the commands below `{a,b,c}`, deeper than that.
            let is_below_choices = lines.iter().any(|other| other.trim().starts_with('{'));
            found.extend(names(line.trim()).into_iter().filter(|_| is_below_choices));
        }
    }
    found
}

/// `list, ls   Show all [aliases: l]` is called `list`, `ls` and `l`.
fn names(entry: &str) -> Vec<String> {
    if let Some(choices) = entry.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        return choices.0.split(',').map(str::to_owned).collect();
    }
    let (head, description) = entry.split_once("  ").unwrap_or((entry, ""));
    let head = head.trim_end_matches(':');
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
    };
    let heads: Vec<&str> = head.split(", ").collect();
    if !heads.iter().all(|name| is_name(&name.split(' ').next().unwrap_or_default())) {
        return Vec::new();
    }
    let also = ["[aliases: ", "[alias: ", "(also: "].iter().filter_map(|mark| description.split_once(mark));
    let also = also.flat_map(|(_, rest)| rest.split([']', ')']).next().unwrap_or_default().split(", "));
    heads
        .iter()
        .filter_map(|name| name.split(' ').next())
        .chain(also)
        .filter(|name| is_name(name))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
