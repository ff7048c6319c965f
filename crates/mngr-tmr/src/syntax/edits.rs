//! Small changes of the program by the rules of its language.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tree_sitter::Node;

use super::begin::Place;
use super::query::Matches;
use super::rules::{Action, Change, Rule, RuleKind};
use super::source::{Source, replaced, text_of};

/// What a text is changed to.
const OTHER_TEXT: &str = "mngr";

/// What a body says that does nothing, in any of our languages.
const NOTHING: [&str; 4] = ["", "pass", "...", ":"];

/// The weight of changes that say little.
const MINOR: u8 = 100;

/// A small change of the program. It never adds or removes a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The function it is in.
    pub function: usize,
    /// The name of its rule.
    pub rule: String,
    /// How telling it is: 0 most.
    pub weight: u8,
    /// Its first line, from 1.
    pub line: usize,
    /// What is replaced, in bytes.
    pub range: Range<usize>,
    /// By what.
    pub replacement: String,
}

/// Changed nodes by the rule that changes them.
type Changed<'r> = BTreeMap<&'r str, BTreeSet<usize>>;

impl Source {
    /// Every change there is outside of test code, in the order of the text.
    pub fn edits(&self) -> Vec<Edit> {
        let matches = Matches::find(self.rules, self.root(), &self.text);
        let ranges = |section, name| -> Vec<Range<usize>> {
            outermost(matches.nodes(section, name).iter().map(Node::byte_range))
        };
        let skipped = ranges(self.rules.skip, "skip");
        let minor = ranges(self.rules.minor, "minor");
        let mut changed = Changed::new();
        let mut edits = Vec::new();
        for rule in &self.rules.rules {
            let found = match &rule.what {
                RuleKind::Found { query, action } => {
                    let found = matches.nodes(*query, "edit");
                    self.found_by(rule, &found, action, &mut changed)
                }
                RuleKind::Begin { function, main } => self.at_beginnings(function, main.as_deref()),
            };
            let is_found = matches!(rule.what, RuleKind::Found { .. });
            for (range, replacement) in found {
                if is_found && is_inside(&range, &skipped) {
                    continue;
                }
                let is_minor = is_inside(&range, &minor);
                let weight = if is_minor { MINOR } else { rule.weight };
                edits.extend(self.edit(rule, weight, range, replacement));
            }
        }
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end, edit.weight));
        let mut seen = BTreeSet::new();
        edits.retain(|edit| seen.insert((edit.range.start, edit.range.end, edit.replacement.clone())));
        edits
    }

    /// The text with a change made.
    pub fn apply(&self, edit: &Edit) -> String {
        replaced(&self.text, vec![(edit.range.clone(), edit.replacement.clone())])
    }

    fn edit(&self, rule: &Rule, weight: u8, range: Range<usize>, replacement: String) -> Option<Edit> {
        let function = self.function_at(&range)?;
        let line = self.line_at(range.start);
        let is_test = self.functions().get(function)?.is_test
            || self.is_test_line(line)
            || self.found.tests.iter().any(|test| test.contains(&range.start));
        let replacement = self.keep_lines(&range, &replacement);
        let is_same = self.text.get(range.clone())? == replacement;
        let rule = rule.name.clone();
        (!is_test && !is_same).then_some(Edit { function, rule, weight, line, range, replacement })
    }

    /// What a rule makes of the nodes that its query finds.
    fn found_by<'r>(
        &self,
        rule: &'r Rule,
        found: &[Node<'_>],
        action: &Action,
        changed: &mut Changed<'r>,
    ) -> Vec<(Range<usize>, String)> {
        let others = rule.not_below.iter().filter_map(|other| changed.get(other.as_str()));
        let others: BTreeSet<usize> = others.flatten().copied().collect();
        let is_same_mutant = |node: Node<'_>| {
            let other = |node: Node<'_>| others.contains(&node.id());
            let mut around = node.parent();
            while let Some(parent) = around.filter(|parent| parent.kind().starts_with("parenthesized")) {
                if other(parent) {
                    return true;
                }
                around = parent.parent();
            }
            other(node) || around.is_some_and(other)
        };
        let made = found.iter().filter(|node| !is_same_mutant(**node)).filter_map(|node| {
            let replacement = self.replacement(*node, action)?;
            Some((node.byte_range(), replacement))
        });
        let made = made.collect();
        changed.entry(&rule.name).or_default().extend(found.iter().map(Node::id));
        made
    }

    fn replacement(&self, node: Node<'_>, action: &Action) -> Option<String> {
        let text = text_of(&self.text, node);
        match action {
            Action::To(to) => Some(self.with_default(to, &node.byte_range())?.replacen("{}", text, 1)),
            Action::Swap(swap) => {
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                swap.get(&words).cloned()
            }
            Action::Change(Change::Number) => next_number(text),
            Action::Change(Change::Text) => Some(other_text(text)),
        }
    }

    /// With the default of the return type of the function around; `None` where there is no default.
    fn with_default(&self, template: &str, range: &Range<usize>) -> Option<String> {
        let returns = self.function_at(range).and_then(|index| self.found.shapes.get(index));
        self.for_type(template, returns.map(|shape| shape.returns.as_str()).unwrap_or_default())
    }

    fn for_type(&self, template: &str, returns: &str) -> Option<String> {
        let mut filled = template.to_owned();
        if filled.contains("{default}") {
            filled = filled.replace("{default}", &self.rules.default_for(returns)?.value);
        }
        if filled.contains("{other}") {
            filled = filled.replace("{other}", self.rules.default_for(returns)?.other.as_ref()?);
        }
        // `return ` without a value.
        Some(filled.replace(" ;", ";").trim_end().to_owned())
    }

    /// A statement at the beginning of each function.
    fn at_beginnings(&self, function: &str, main: Option<&str>) -> Vec<(Range<usize>, String)> {
        let mut made = Vec::new();
        for shape in &self.found.shapes {
            let template = if shape.is_main { main } else { Some(function) };
            let (Some(place), Some(template)) = (&shape.entry.ending, template) else { continue };
            let Some(statement) = self.for_type(template, &shape.returns) else { continue };
            let (Place::Before(at) | Place::After(at)) = place else {
                // Without what it yields, a generator would be something else.
                if let Place::Instead(range) = place
                    && !self.text.get(range.clone()).unwrap_or_default().contains("yield")
                {
                    made.push((range.clone(), statement));
                }
                continue;
            };
            let end = shape.parts.last().map_or(*at, |part| part.end);
            let rest = self.text.get(*at..end).unwrap_or_default();
            let rest = rest.trim_matches(|c: char| c.is_whitespace() || [';', '}', ')'].contains(&c));
            // Otherwise the function does nothing anyway.
            if !rest.starts_with(&statement) && !NOTHING.contains(&rest) {
                made.extend(self.put(place, &statement, ""));
            }
        }
        made
    }
}

/// Of ranges in the order of the text those that are in no other.
fn outermost(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut kept: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        if kept.last().is_none_or(|last| last.end < range.end) {
            kept.push(range);
        }
    }
    kept
}

/// Whether a range is in one of these, of which none overlap.
fn is_inside(range: &Range<usize>, others: &[Range<usize>]) -> bool {
    let begun = others.partition_point(|other| other.start <= range.start);
    let last = begun.checked_sub(1).and_then(|index| others.get(index));
    last.is_some_and(|other| range.end <= other.end)
}

/// The next number, as it is written in any of our languages; `None` for one that is not decimal.
fn next_number(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    let is_decimal = digits.len() == 1 || !digits.starts_with('0');
    let is_other_base = digits == "0" && rest.starts_with(['x', 'X', 'b', 'B', 'o', 'O']);
    if !is_decimal || is_other_base {
        return None;
    }
    let number: u128 = digits.replace('_', "").parse().ok()?;
    Some(format!("{}{rest}", number.checked_add(1)?))
}

/// Another text. Where a part of it may mean something to whoever formats or unescapes it, all of it stays.
fn other_text(text: &str) -> String {
    let stays = text.contains(['{', '%', '\\', '\n', '$', '`']) || text == OTHER_TEXT;
    if stays { format!("{OTHER_TEXT}{text}") } else { OTHER_TEXT.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_keeps_its_type_and_leaves_other_bases_alone() {
        for (number, next) in [("0", "1"), ("9", "10"), ("1_000u32", "1001u32"), ("0.5", "1.5")] {
            assert_eq!(next_number(number).as_deref(), Some(next));
        }
        for number in ["0x10", "0755", "", "x", "0b1"] {
            assert_eq!(next_number(number), None, "{number}");
        }
    }
}
