//! From the bytes a program prints, in whatever pieces they come, to text a recording can hold.

/// Takes bytes in pieces and gives text. A character split between two pieces waits for its rest; what is no UTF-8
/// becomes U+FFFD.
#[derive(Debug, Clone, Default)]
pub struct TextDecoder {
    /// The beginning of a character, at most three bytes.
    pending: Vec<u8>,
}

impl TextDecoder {
    /// A decoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of the next piece. Empty when it only begins a character.
    pub fn decode(&mut self, bytes: &[u8]) -> String {
        if self.pending.is_empty() {
            return self.decode_whole(bytes);
        }
        let mut joined = std::mem::take(&mut self.pending);
        joined.extend_from_slice(bytes);
        self.decode_whole(&joined)
    }

    /// What is left at the end: a character that never got its rest.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }

    fn decode_whole(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes;
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    return text;
                }
                Err(error) => error,
            };
            let (valid, tail) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            match error.error_len() {
                Some(length) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &tail[length..];
                }
                None => {
                    self.pending = tail.to_vec();
                    return text;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_give_the_text_of_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..200) {
            let mut decoder = TextDecoder::new();
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            let text = decoder.decode(first) + &decoder.decode(second) + &decoder.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn text_is_kept_wherever_it_is_split(text in "\\PC{0,40}", cut in 0usize..160) {
            let (first, second) = text.as_bytes().split_at(cut.min(text.len()));
            let mut decoder = TextDecoder::new();
            let decoded = decoder.decode(first) + &decoder.decode(second);
            prop_assert_eq!(decoded, text);
        }
    }
}
