//! What the words after `--` mean.

/// The argv for the words a user gave: several words are taken verbatim; one word with shell syntax goes through `sh`.
pub fn words_after_dashes(words: &[String]) -> Vec<String> {
    match words {
        [single] if has_shell_syntax(single) => vec!["sh".to_owned(), "-c".to_owned(), single.clone()],
        other => other.to_vec(),
    }
}

/// Whether a shell would read more into the word than the word itself.
pub fn has_shell_syntax(word: &str) -> bool {
    word.chars().any(|c| c.is_whitespace() || "|&;<>()$`\\\"'*?[]#~{}!".contains(c))
        || word.split_once('=').is_some_and(|(name, _)| !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn one_plain_word_is_the_program() {
        assert_eq!(words_after_dashes(&words(&["htop"])), words(&["htop"]));
        assert_eq!(words_after_dashes(&words(&["/opt/a=b/tool"])), words(&["/opt/a=b/tool"]));
    }

    #[test]
    fn one_word_with_shell_syntax_runs_through_sh() {
        for text in ["a && b", "sleep 100", "echo $HOME", "X=1", "a|b", "(a)"] {
            assert_eq!(words_after_dashes(&words(&[text])), words(&["sh", "-c", text]));
        }
    }

    #[test]
    fn several_words_are_never_interpreted() {
        let given = words(&["echo", "$(id)", "a && b", ""]);
        assert_eq!(words_after_dashes(&given), given);
    }
}
