//! How mngr was called, without what may be secret: it is kept in the journal of a run.

/// Options whose values may be secret. Their keys are kept.
const SECRET: [&str; 4] = ["--env", "--reducer-env", "--setting", "-S"];

/// The words with every secret value left out.
pub(super) fn without_secrets(argv: &[String]) -> Vec<String> {
    let mut shown = Vec::new();
    let mut words = argv.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            // Words for the test framework, which keeps no secret of them either.
            shown.push(word.clone());
            shown.extend(words.cloned());
            break;
        }
        if SECRET.contains(&word.as_str()) {
            shown.push(word.clone());
            shown.extend(words.next().map(|pair| key_of(pair)));
            continue;
        }
        let joined = SECRET.iter().find_map(|option| Some((option, word.strip_prefix(option)?)));
        shown.push(match joined {
            Some((option, rest)) if rest.starts_with('=') && option.starts_with("--") => {
                format!("{option}={}", key_of(&rest[1..]))
            }
            Some((option, rest)) if !option.starts_with("--") => format!("{option}{}", key_of(rest)),
            _ => word.clone(),
        });
    }
    shown
}

/// `KEY=VALUE` without its value.
fn key_of(pair: &str) -> String {
    match pair.split_once('=') {
        Some((key, _)) => format!("{key}=..."),
        None => "...".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_and_settings_are_left_out() {
        let given = "mngr tmr tests --env A=s1 --reducer-env=T=s2 -S k.l=s3 -Sm=s4 --env s5 --environment x -- --env B=1";
        let words: Vec<String> = given.split(' ').map(str::to_owned).collect();
        let expected = "mngr tmr tests --env A=... --reducer-env=T=... -S k.l=... -Sm=... --env ... --environment x -- --env B=1";
        assert_eq!(without_secrets(&words).join(" "), expected);
    }
}
