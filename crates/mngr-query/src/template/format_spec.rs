//! The part of a field after its colon: `[[fill]<>^][0][width][,][.precision][s|d|f]`.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Number;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::TemplateFault;

/// The largest width and precision; a line has no use for more, and memory has.
const LIMIT: usize = 1000;

/// Digits after the point when `f` says nothing else.
const DEFAULT_PRECISION: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Center,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Whole,
    Fixed,
}

/// How a value is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormatSpec {
    fill: char,
    side: Option<Side>,
    zeros: bool,
    width: usize,
    thousands: bool,
    precision: Option<usize>,
    shape: Option<Shape>,
}

impl FormatSpec {
    /// Reads a format; the empty one changes nothing.
    pub(super) fn parse(spec: &str) -> Result<Self, TemplateFault> {
        let (fill, side, rest) = fill_and_side(spec);
        let mut rest = rest.chars().peekable();
        let zeros = rest.next_if_eq(&'0').is_some();
        let width = number(&mut rest)?.unwrap_or(0);
        let thousands = rest.next_if_eq(&',').is_some();
        let unknown = || TemplateFault::Format { spec: spec.to_owned() };
        let precision = match rest.next_if_eq(&'.') {
            Some(_) => Some(number(&mut rest)?.ok_or_else(unknown)?),
            None => None,
        };
        let shape = match rest.next() {
            None => None,
            Some('s') => Some(Shape::Text),
            Some('d') => Some(Shape::Whole),
            Some('f') => Some(Shape::Fixed),
            Some(_) => return Err(unknown()),
        };
        if rest.next().is_some() || (shape == Some(Shape::Text) && thousands) {
            return Err(unknown());
        }
        Ok(Self { fill, side, zeros, width, thousands, precision, shape })
    }

    /// Whether only a number can be laid out this way.
    pub(super) fn needs_number(&self) -> bool {
        self.thousands || matches!(self.shape, Some(Shape::Whole | Shape::Fixed))
    }

    /// Lays out text: cut to the precision, then padded, on the right unless the format says otherwise.
    pub(super) fn text(&self, text: &str) -> String {
        let text = match self.precision {
            // A precision of a number format says nothing about text (such as a missing value).
            Some(columns) if !self.needs_number() => first_columns(text, columns),
            _ => text,
        };
        self.pad(text, self.side.unwrap_or(Side::Left))
    }

    /// Lays out a number, padded on the left unless the format says otherwise.
    pub(super) fn number(&self, number: &Number) -> String {
        if self.shape == Some(Shape::Text) {
            return self.text(&number.to_string());
        }
        let digits = match (self.shape, self.precision) {
            (Some(Shape::Whole), _) => whole(number),
            (Some(Shape::Fixed), precision) => fixed(number, precision.unwrap_or(DEFAULT_PRECISION)),
            (_, Some(precision)) => fixed(number, precision),
            (_, None) => number.to_string(),
        };
        let digits = if self.thousands { with_thousands(&digits) } else { digits };
        if self.zeros && self.side.is_none() {
            return with_zeros(&digits, self.width);
        }
        self.pad(&digits, self.side.unwrap_or(Side::Right))
    }

    fn pad(&self, text: &str, side: Side) -> String {
        let missing = self.width.saturating_sub(text.width());
        let before = match side {
            Side::Left => 0,
            Side::Right => missing,
            Side::Center => missing / 2,
        };
        let fill = |count: usize| std::iter::repeat_n(self.fill, count);
        fill(before).chain(text.chars()).chain(fill(missing - before)).collect()
    }
}

fn fill_and_side(spec: &str) -> (char, Option<Side>, &str) {
    let side = |character: Option<char>| match character {
        Some('<') => Some(Side::Left),
        Some('>') => Some(Side::Right),
        Some('^') => Some(Side::Center),
        _ => None,
    };
    let mut chars = spec.chars();
    let (first, after_first) = (chars.next(), chars.as_str());
    let (second, after_second) = (chars.next(), chars.as_str());
    // A fill must be one column wide, or no amount of it would fit.
    if let (Some(fill), Some(side)) = (first.filter(|fill| fill.width() == Some(1)), side(second)) {
        return (fill, Some(side), after_second);
    }
    match side(first) {
        Some(side) => (' ', Some(side), after_first),
        None => (' ', None, spec),
    }
}

fn number(rest: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, TemplateFault> {
    let mut digits = String::new();
    while let Some(digit) = rest.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    if digits.is_empty() {
        return Ok(None);
    }
    match digits.parse() {
        Ok(width) if width <= LIMIT => Ok(Some(width)),
        _ => Err(TemplateFault::TooWide { width: digits, limit: LIMIT }),
    }
}

fn first_columns(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &text[..at];
        }
    }
    text
}

fn whole(number: &Number) -> String {
    if number.is_f64() { fixed(number, 0) } else { number.to_string() }
}

fn fixed(number: &Number, precision: usize) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |float| format!("{float:.precision$}"))
}

fn with_thousands(digits: &str) -> String {
    let (sign, digits) = split_sign(digits);
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{fraction}")
}

fn with_zeros(digits: &str, width: usize) -> String {
    let (sign, rest) = split_sign(digits);
    format!("{sign}{}{rest}", "0".repeat(width.saturating_sub(digits.len())))
}

fn split_sign(digits: &str) -> (&str, &str) {
    digits.split_at(usize::from(digits.starts_with('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(spec: &str, number: &str) -> String {
        FormatSpec::parse(spec).unwrap().number(&number.parse().unwrap())
    }

    #[test]
    fn numbers_are_grouped_rounded_and_padded_behind_their_sign() {
        assert_eq!(number(",d", "-1234567"), "-1,234,567");
        assert_eq!(number(",.2f", "1234.5"), "1,234.50");
        assert_eq!(number("08d", "-42"), "-0000042");
        assert_eq!(number("d", "2.7"), "3");
        assert_eq!(number("d", "18446744073709551615"), "18446744073709551615", "whole numbers stay exact");
        assert_eq!(number("*<5", "7"), "7****");
        assert_eq!(number("5s", "7"), "7    ");
    }

    #[test]
    fn nonsense_is_refused() {
        for spec in ["x", "5x", "..", ".", "5.s", "dd", "<<<", ",s", "+5", "{", "日<5"] {
            assert!(matches!(FormatSpec::parse(spec), Err(TemplateFault::Format { .. })), "{spec}");
        }
        for spec in ["1001", ".1001f", "99999999999999999999999"] {
            assert!(matches!(FormatSpec::parse(spec), Err(TemplateFault::TooWide { .. })), "{spec}");
        }
    }
}
