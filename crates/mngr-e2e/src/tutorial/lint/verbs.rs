//! Which commands of known programs a text shows, without their arguments.

use super::grammar::Grammars;
use super::run::unwrapped;
use crate::tutorial::shell::commands;

/// `mngr config set` of `mngr config set key value`: each command once, in their order. One that its program does not
/// have is named by its first word.
pub fn verbs(text: &str, grammars: &Grammars<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for command in commands(text, 1).commands {
        let words = unwrapped(&command.words);
        let Some((program, rest)) = words.split_first() else { continue };
        let Some(grammar) = grammars.of(&program.text).filter(|_| program.is_known()) else { continue };
        let is_word = rest.first().is_some_and(|word| word.is_known() && !word.text.starts_with('-'));
        let count = grammar.verb_words(rest).max(usize::from(is_word));
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let words = rest.iter().take(count).map(|word| word.text.as_str());
        let verb = std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ");
        if !found.contains(&verb) {
            found.push(verb);
        }
    }
    found
}
