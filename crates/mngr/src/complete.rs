//! Completion: what may stand at the cursor. The scripts of the shells ask it at every TAB, through a word that help does
//! not show, so that they never grow old.
//!
//! Budget: files of this machine; no process, no round trip, and nothing is written. Under 20 ms with 500 agents. What goes
//! wrong is not told: a message in the middle of a line that is being typed helps nobody.

mod address;
mod candidate;
mod keys;
mod line;
mod place;
mod repository;
mod source;
mod ssh_config;
mod stock;

use crate::ctx::Surroundings;
use crate::exit_code::ExitCode;
use crate::ui::console::Console;
use candidate::Answer;
use line::Line;
use place::{Place, Wanted};
use source::Source;
use stock::Stock;

/// The word the scripts use.
pub(crate) const VERB: &str = "__complete";

/// The verb for a shell that gives the words up to the cursor, the one under it last.
const WORDS: &str = "words";
/// The verb for a shell that gives the line up to the cursor, and the characters that end a word for it.
const LINE: &str = "line";

/// Answers one question. Prints how the shell is to go on, then what may stand there, one per line.
pub(crate) fn run(words: &[String], surroundings: &Surroundings, console: &Console) -> ExitCode {
    let text = match words {
        [how, words @ ..] if how == WORDS => {
            let answer = answer(words, surroundings);
            answer.print(|candidate| candidate.with_about())
        }
        [how, line, breaks, ..] if how == LINE => {
            let line = Line::read(line);
            let answer = answer(&line.words, surroundings);
            let strip = line.replaced_from(breaks);
            answer.print(|candidate| candidate.value.get(strip..).unwrap_or_default().to_owned())
        }
        _ => return ExitCode::Usage,
    };
    // A shell that does not listen any more has what it wants.
    let _ = console.print(&text);
    ExitCode::Done
}

/// What may stand at the cursor.
fn answer(words: &[String], surroundings: &Surroundings) -> Answer {
    let place = Place::find(words);
    let stock = Stock::new(surroundings);
    let found = match &place.wanted {
        Wanted::Nothing => Answer::Words(Vec::new()),
        Wanted::Options => Answer::Words(place.options()),
        Wanted::Value(arg) => stock.answer(Source::of(&place.verb, arg), &place).or(place.commands()),
        Wanted::Command => Answer::Words(place.commands()),
    };
    found.fitting(&place.typed).behind(&place.prefix)
}

#[cfg(test)]
mod tests;
