//! Reading a template into pieces.

use super::format_spec::FormatSpec;
use super::{Conversion, Piece, TemplateFault};
use crate::catalog::Catalog;
use crate::path::FieldPath;

type Fault = (TemplateFault, usize);

/// The pieces of a template; a fault has its place, in characters from the start.
pub(super) fn pieces(template: &str, catalog: &Catalog) -> Result<Vec<Piece>, Fault> {
    let chars: Vec<char> = template.chars().collect();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(&character) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        match (character, next) {
            ('{', Some('{')) | ('}', Some('}')) => {
                text.push(character);
                at += 2;
            }
            ('}', _) => return Err((TemplateFault::Unopened, at)),
            ('{', _) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                let end = field_end(&chars, at).ok_or((TemplateFault::Unclosed, at))?;
                pieces.push(field(&chars[at + 1..end], at + 1, catalog)?);
                at = end + 1;
            }
            ('\\', Some(letter)) if decoded(letter).is_some() => {
                text.extend(decoded(letter));
                at += 2;
            }
            _ => {
                text.push(character);
                at += 1;
            }
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

fn decoded(letter: char) -> Option<char> {
    match letter {
        't' => Some('\t'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        '\\' => Some('\\'),
        _ => None,
    }
}

fn field_end(chars: &[char], start: usize) -> Option<usize> {
    chars.iter().skip(start).position(|c| *c == '}').map(|length| start + length)
}

/// One field: path, conversion and format. `start` is where its first character stands in the template.
fn field(inside: &[char], start: usize, catalog: &Catalog) -> Result<Piece, Fault> {
    let path_end = path_end(inside);
    let path_text: String = inside[..path_end].iter().collect();
    if path_text.is_empty() {
        return Err((TemplateFault::EmptyField, start - 1));
    }
    let path = FieldPath::parse(&path_text, catalog).map_err(|error| (TemplateFault::Field(error), start))?;

    let rest = &inside[path_end..];
    let (conversion, rest_at) = match rest.first() {
        Some('!') => {
            let end = rest.iter().position(|c| *c == ':').unwrap_or(rest.len());
            (conversion(&rest[1..end]).map_err(|fault| (fault, start + path_end + 1))?, path_end + end)
        }
        _ => (Conversion::Plain, path_end),
    };
    let spec_at = (rest_at + 1).min(inside.len());
    let spec_text: String = inside[spec_at..].iter().collect();
    let spec_fault = |fault| (fault, start + spec_at);
    let spec = FormatSpec::parse(&spec_text).map_err(spec_fault)?;
    if spec.needs_number() && (conversion != Conversion::Plain || !path.kind().may_be_number()) {
        let kind = if conversion == Conversion::Plain { path.kind().name() } else { "string" };
        return Err(spec_fault(TemplateFault::NotANumber { spec: spec_text, field: path_text, kind }));
    }
    Ok(Piece::Field { path, conversion, spec })
}

/// The path ends at the first `!` or `:` that is not inside brackets.
fn path_end(inside: &[char]) -> usize {
    let mut depth = 0usize;
    let ends = |character: &char| {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '!' | ':' if depth == 0 => return true,
            _ => {}
        }
        false
    };
    inside.iter().position(ends).unwrap_or(inside.len())
}

fn conversion(letters: &[char]) -> Result<Conversion, TemplateFault> {
    match letters {
        ['s'] => Ok(Conversion::Plain),
        ['r'] => Ok(Conversion::Quoted),
        ['a'] => Ok(Conversion::QuotedAscii),
        other => Err(TemplateFault::Conversion { conversion: other.iter().collect() }),
    }
}
