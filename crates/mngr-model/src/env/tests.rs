//! Values come back exactly: through our own reader and through the real shell, whatever is in them.

use proptest::prelude::*;

use super::*;

fn pair(name: &str, value: &str) -> EnvPair {
    EnvPair::new(name.parse().unwrap(), value).unwrap()
}

fn read(text: &str) -> Vec<(String, String)> {
    let pairs = parse_env_file(text).unwrap_or_else(|error| panic!("{error}"));
    pairs.into_iter().map(|pair| (pair.name.0, pair.value)).collect()
}

fn value(line: &str) -> String {
    let mut pairs = read(line);
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    pairs.remove(0).1
}

/// Sources `file` in an empty environment and returns the values `sh` then has for `names`.
#[expect(clippy::disallowed_types, reason = "the real shell is the judge here")]
fn values_seen_by_sh(file: &str, names: &[&str]) -> Vec<String> {
    let mut script = String::from(file);
    for name in names {
        script.push_str(&format!("printf '%s\\0' \"${name}\"\n"));
    }
    let output = std::process::Command::new("/bin/sh").env_clear().args(["-c", &script]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn a_pair_is_split_at_the_first_equals_sign() {
    assert_eq!(EnvPair::parse("A=b=c"), Ok(pair("A", "b=c")));
    assert_eq!(EnvPair::parse("_a1="), Ok(pair("_a1", "")));
    assert_eq!(EnvPair::parse("A= 'x' "), Ok(pair("A", " 'x' ")));
}

#[test]
fn names_no_shell_can_set_are_refused() {
    for text in ["=x", "1A=x", "A B=x", "A-B=x", "A;id=x", "$(id)=x", "é=x", "A\n=x", "MNGR.X=x"] {
        let error = EnvPair::parse(text).unwrap_err();
        assert!(matches!(error, EnvError::BadName(_)), "{text}");
        assert!(
            error.to_string().contains("KEY=VALUE") && !error.to_string().contains(char::is_control),
            "{error}"
        );
    }
}

#[test]
fn no_message_and_no_debug_output_shows_a_value() {
    assert!(!format!("{:?}", pair("TOKEN", "hunter2")).contains("hunter2"));
    for text in ["sk-hunter2", "MY-TOKEN=hunter2", "TOKEN=hunter2\0"] {
        let error = EnvPair::parse(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
    for text in ["TOKEN='hunter2", "TOKEN='hunter2' x", "my token=hunter2"] {
        let error = parse_env_file(text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn a_bare_name_is_told_what_is_missing() {
    assert_eq!(EnvPair::parse("HOME").unwrap_err().to_string(), "`HOME` has no value, expected KEY=VALUE");
    assert!(EnvPair::parse("a b").unwrap_err().to_string().contains("KEY=VALUE"));
}

#[test]
fn a_nul_cannot_become_part_of_a_pair() {
    assert_eq!(EnvPair::parse("A=x\0y"), Err(EnvError::NulInValue("A".parse().unwrap())));
    assert!(parse_env_file("A='x\0y'").is_err());
}

#[test]
fn a_dotenv_file_in_its_usual_forms() {
    let text =
        "\u{feff}# comment\n\nA=1\r\nexport B = two words \nC=a#b # note\nD=\nE=#note\n  F='x y' # note\nA=2";
    let expected =
        [("A", "1"), ("B", "two words"), ("C", "a#b"), ("D", ""), ("E", ""), ("F", "x y"), ("A", "2")];
    let expected: Vec<_> = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert_eq!(read(text), expected);
}

#[test]
fn quotes_work_as_in_other_dotenv_readers() {
    assert_eq!(value(r"A='a\n$B'"), r"a\n$B");
    assert_eq!(value(r#"A="a\n\t\"\\\$x \q""#), "a\n\t\"\\$x \\q");
    assert_eq!(value("A=\"one\ntwo=2\n# three\""), "one\ntwo=2\n# three");
    assert_eq!(value(r"A='it'\''s'"), "it's");
    assert_eq!(value("A=C:\\dir\\new"), "C:\\dir\\new");
    assert_eq!(value("A=it's"), "it's");
}

#[test]
fn nothing_is_expanded() {
    for text in ["$HOME", "${HOME}", "$(id)", "`id`", "~", "a;id", "a&id", "*"] {
        assert_eq!(value(&format!("A={text}")), text);
        assert_eq!(value(&format!("A=\"{text}\"")), text);
    }
}

#[test]
fn a_mistake_is_reported_with_its_line() {
    let failing = |text: &str| {
        let error = parse_env_file(text).unwrap_err();
        (error.line, error.problem)
    };
    let name = |name: &str| name.parse::<EnvName>().unwrap();
    assert_eq!(failing("A=1\n\nB\n"), (3, EnvFileProblem::Variable(EnvError::NoValue(name("B")))));
    assert_eq!(failing("export\n"), (1, EnvFileProblem::Variable(EnvError::NoValue(name("export")))));
    assert_eq!(failing("A='1\n2'\nB='x\n"), (3, EnvFileProblem::UnclosedQuote(name("B"))));
    assert_eq!(failing("A='1'2\n"), (1, EnvFileProblem::TextAfterQuote(name("A"))));
    assert_eq!(failing("A='1'#2\n"), (1, EnvFileProblem::TextAfterQuote(name("A"))));
    assert_eq!(failing("A B=1"), (1, EnvFileProblem::Variable(EnvError::BadName("A B".into()))));
}

#[test]
fn sourcing_the_file_gives_exactly_the_values_and_runs_nothing() {
    let values = [
        "",
        "plain",
        "it's",
        "$(touch x) `id` $HOME ${PATH}",
        "a;b&c|d",
        "two\nlines\n",
        "\\",
        "'",
        "\"",
        "é\r\u{1b}",
    ];
    let names: Vec<String> = (0..values.len()).map(|index| format!("V{index}")).collect();
    let pairs: Vec<_> = names.iter().zip(values).map(|(name, value)| pair(name, value)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(values_seen_by_sh(&render_env_file(&pairs), &names), values);
}

proptest! {
    #[test]
    fn what_is_rendered_reads_back_verbatim(values in proptest::collection::vec("[^\\x00]{0,40}|['\"\\\\$`\n #=]{0,12}", 0..6)) {
        let pairs: Vec<_> = values.iter().map(|value| pair("KEY", value)).collect();
        prop_assert_eq!(parse_env_file(&render_env_file(&pairs)), Ok(pairs));
    }

    #[test]
    fn no_file_makes_the_reader_panic(text in "[A-Z=#'\"\\\\ \n\r]{0,40}|\\PC{0,40}") {
        if let Ok(pairs) = parse_env_file(&text) {
            prop_assert!(pairs.iter().all(|pair| pair.name.0.parse::<EnvName>().is_ok()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_real_shell_agrees(values in proptest::collection::vec("[^\\x00]{0,30}", 1..10)) {
        let names: Vec<String> = (0..values.len()).map(|index| format!("V{index}")).collect();
        let pairs: Vec<_> = names.iter().zip(&values).map(|(name, value)| pair(name, value)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(values_seen_by_sh(&render_env_file(&pairs), &names), values);
    }
}
