//! A change that holds for some arguments of its function only. Tests that call the function several times come to their
//! later assertions this way, which a change for good never lets them reach.
//!
//! The same arguments always meet the same function: a test that compares the program with itself notices nothing.

use std::ops::Range;

use tree_sitter::Node;

use super::begin::Place;
use super::edits::Edit;
use super::language::Grammar;
use super::query::Matches;
use super::rules::SomeArguments;
use super::source::{Source, replaced, text_of};

/// A text in which lines have moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The text.
    pub text: String,
    /// The last line that may have moved by less than all the others.
    last: usize,
    /// By how many lines what follows was moved.
    by: usize,
}

impl Moved {
    /// Where a line of this text was before.
    pub fn line_before(&self, line: usize) -> usize {
        if line > self.last { line - self.by } else { line }
    }
}

impl Source {
    /// The text with a change that is made only for some arguments: the `nth` ones that are others than all before,
    /// counted from 1 in each test as far as the language can tell tests apart. Nothing where arguments cannot be
    /// compared, or the function cannot be there twice.
    pub fn apply_for(&self, edit: &Edit, nth: usize) -> Option<Moved> {
        let rule = self.rules.some_arguments.as_ref()?;
        let shape = self.found.shapes.get(edit.function)?;
        let head = self.text.get(shape.head.clone())?;
        let can_count = self.rules.begin.not_recorded.as_ref().is_none_or(|pattern| !pattern.is_match(head));
        if shape.is_main || !can_count {
            return None;
        }
        let body = match self.grammar {
            Grammar::Python => self.python_body(edit.function)?,
            _ => self.functions().get(edit.function)?.body.clone(),
        };
        if edit.range.start < body.start || edit.range.end > body.end {
            return None;
        }
        let (before, after) = (edit.range.start - body.start, edit.range.end - body.start);
        let own = self.text.get(body.clone())?;
        let changed = replaced(own, vec![(before..after, edit.replacement.clone())]);
        let is_it = rule.is_it.replace("{nth}", &nth.to_string());
        let is_it = match rule.arguments {
            Some(_) => is_it.replace("{arguments}", &self.arguments(&shape.head)?),
            None => is_it,
        };
        let twice = match self.grammar {
            Grammar::Python => self.twice_in_python(rule, &is_it, &body, &changed)?,
            _ if own.starts_with('{') => {
                rule.twice(&[("is_it", &is_it), ("body", own), ("changed", &changed)])
            }
            _ => return None,
        };
        let breaks = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
        let by = breaks(&twice) - breaks(own);
        let last = self.line_at(body.end) + by;
        Some(Moved { text: replaced(&self.text, vec![(body, twice)]), last, by })
    }

    /// The names of the arguments that can be compared, if there are any.
    fn arguments(&self, head: &Range<usize>) -> Option<String> {
        let matches = Matches::find(self.rules, self.root(), &self.text);
        let is_here = |node: &Node<'_>| head.start <= node.start_byte() && node.end_byte() <= head.end;
        let found = matches.nodes(self.rules.some_arguments.as_ref()?.arguments?, "argument");
        let names: Vec<&str> =
            found.into_iter().filter(is_here).map(|node| text_of(&self.text, node)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// What follows the docstring of a function, if it stands on lines of its own and none of its texts goes over several
    /// lines: such a text would change when it is moved to the right.
    fn python_body(&self, function: usize) -> Option<Range<usize>> {
        let shape = self.found.shapes.get(function)?;
        let mut body = self.functions().get(function)?.body.clone();
        if let Some(Place::After(at)) = shape.entry.ending {
            let rest = self.text.get(at..body.end)?;
            body.start = body.end - rest.trim_start_matches([';', ' ', '\t', '\r', '\n']).len();
        }
        let indent = self.text.get(..body.start)?.rsplit('\n').next()?;
        let is_alone = indent.chars().all(char::is_whitespace) && !body.is_empty();
        (is_alone && !has_long_text(self.root(), &body)).then_some(body)
    }

    /// The changed body first, further to the right and with an end, then the own one.
    fn twice_in_python(
        &self,
        rule: &SomeArguments,
        is_it: &str,
        body: &Range<usize>,
        changed: &str,
    ) -> Option<String> {
        let indent = self.text.get(..body.start)?.rsplit('\n').next()?;
        let moved = |line: &str| match line.strip_prefix(indent) {
            Some(rest) => format!("{indent} {rest}"),
            None => line.to_owned(),
        };
        let mut lines = changed.lines();
        let first = format!("{indent} {}", lines.next()?);
        let all: Vec<String> = std::iter::once(first).chain(lines.map(moved)).collect();
        let own = format!("{indent}{}", self.text.get(body.clone())?);
        let all = all.join("\n");
        Some(rule.twice(&[("is_it", is_it), ("body", &own), ("changed", &all), ("indent", indent)]))
    }
}

impl SomeArguments {
    /// A body that is there twice.
    fn twice(&self, values: &[(&str, &str)]) -> String {
        let mut result = String::new();
        let mut rest = self.twice.as_str();
        // In one go, so that nothing of the program is taken for a part of the template.
        while let Some(start) = rest.find('{') {
            let name = rest[start + 1..].split('}').next().unwrap_or_default();
            let known = values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
            let end = if known.is_some() { start + name.len() + 2 } else { start + 1 };
            result.push_str(&rest[..start]);
            result.push_str(known.unwrap_or("{"));
            rest = &rest[end..];
        }
        result + rest
    }
}

/// Whether a text in here goes over several lines.
fn has_long_text(root: Node<'_>, range: &Range<usize>) -> bool {
    let mut ahead = vec![root];
    while let Some(node) = ahead.pop() {
        if node.start_byte() >= range.end || node.end_byte() <= range.start {
            continue;
        }
        if node.kind() == "string" {
            if node.start_position().row != node.end_position().row {
                return true;
            }
            continue;
        }
        ahead.extend(node.children(&mut node.walk()));
    }
    false
}
