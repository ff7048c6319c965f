//! What is left of a text on its way through a program's input box: whether a record of a program holds the same text as
//! was typed. Which program changes what is told in `docs/concepts/delivery.md`.

use unicode_normalization::UnicodeNormalization;

/// The text without what programs may change in it: composed (NFC), without characters that nobody sees, each run of white
/// space as one blank. Two texts that agree in this are the same to a reader.
pub(crate) fn essence(text: &str) -> String {
    if text.is_ascii() {
        return squeeze(text);
    }
    // What is not seen goes first: it may stand between a letter and its accent, and keep them from being composed.
    let seen: String = text.chars().filter(|c| !is_unseen(*c)).nfc().collect();
    squeeze(&seen)
}

/// Whether a reader sees nothing of it.
pub(crate) fn is_unseen_text(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

/// The text with each run of white space as one blank: terminals change those.
pub(crate) fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the character has no shape of its own: those that Unicode says to ignore by default, and its other format
/// characters.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{110bd}'
        | '\u{110cd}' | '\u{13430}'..='\u{1343f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_programs_change_is_left_out_and_nothing_else() {
        assert_eq!(essence("cafe\u{301}\t\n ze\u{200b}ro"), "caf\u{e9} zero");
        assert_eq!(essence("e\u{200d}\u{301}"), "\u{e9}", "what is not seen keeps nothing apart");
        assert_eq!(essence("❤\u{fe0f} \u{1112}\u{1161}\u{11ab}"), "❤ 한");
        assert_ne!(essence("cafe"), essence("caf\u{e9}"));
        assert!(is_unseen_text("\u{200b} \u{feff}\n") && !is_unseen_text("\u{200b}x"));
    }

    proptest! {
        #[test]
        fn composed_or_not_and_with_unseen_characters_a_text_stays_the_same(text in ".*", at in 0_usize..20) {
            let wanted = essence(&text);
            prop_assert_eq!(&essence(&wanted), &wanted);
            prop_assert_eq!(&essence(&text.nfc().collect::<String>()), &wanted);
            prop_assert_eq!(&essence(&text.nfd().collect::<String>()), &wanted);
            let mut chars: Vec<char> = text.chars().collect();
            chars.insert(at.min(chars.len()), '\u{2060}');
            prop_assert_eq!(&essence(&chars.into_iter().collect::<String>()), &wanted);
        }
    }
}
