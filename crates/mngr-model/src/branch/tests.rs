//! Every form of the spec, and git itself as the judge of the ref name rules.

use proptest::prelude::*;

use super::*;

fn choice(spec: &str) -> (Option<String>, Option<String>) {
    let name: AgentName = "fixer".parse().unwrap();
    let spec: BranchSpec = spec.parse().unwrap_or_else(|error| panic!("{error}"));
    let choice = spec.resolve(&name).unwrap();
    (choice.base, choice.new)
}

fn both(base: &str, new: &str) -> (Option<String>, Option<String>) {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    (some(base), some(new))
}

#[test]
fn every_form_of_the_spec() {
    assert_eq!(choice(":mngr/*"), both("", "mngr/fixer"));
    assert_eq!(choice("main"), both("main", ""));
    assert_eq!(choice("main:"), both("main", "mngr/fixer"));
    assert_eq!(choice("main:feature"), both("main", "feature"));
    assert_eq!(choice("origin/main:wip-*-1"), both("origin/main", "wip-fixer-1"));
    assert_eq!(choice(":"), both("", "mngr/fixer"));
    assert_eq!(choice("HEAD~3^2:x"), both("HEAD~3^2", "x"));
    assert_eq!(choice("@:x"), both("@", "x"));
    assert_eq!(BranchSpec::default(), ":mngr/*".parse().unwrap());
}

#[test]
fn a_star_has_one_place() {
    assert_eq!("wip/*".parse::<BranchSpec>(), Err(BranchError::StarInBase("wip/*".into())));
    assert_eq!(":a*b*".parse::<BranchSpec>(), Err(BranchError::ManyStars("a*b*".into())));
    let error = "wip/*".parse::<BranchSpec>().unwrap_err().to_string();
    assert!(error.ends_with("write `:wip/*`"), "{error}");
}

#[test]
fn nothing_hostile_reaches_git() {
    let huge = "x".repeat(10_000);
    for text in
        ["-f", "--force", "a..b", "a b", "a\nb", "a\u{7f}", "main@{1}", "a\\b", "a?", "a[", "/a", "a/", &huge]
    {
        for spec in [text.to_owned(), format!("{text}:new"), format!("main:{text}")] {
            let error = spec.parse::<BranchSpec>().expect_err(&spec).to_string();
            assert!(!error.contains(char::is_control) && error.len() < 250, "{error}");
        }
    }
    for spec in ["", ":a:b", "HEAD", "@", "a.lock", ".a", "a.", "main~x:new", "~1:new", ":main~1", "-x~1:new"]
    {
        assert!(spec.parse::<BranchSpec>().is_err(), "{spec}");
    }
}

#[test]
fn an_agent_name_that_spoils_the_pattern_is_noticed() {
    let refused = |spec: &str, name: &str| {
        spec.parse::<BranchSpec>().unwrap().resolve(&name.parse().unwrap()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(":*", "HEAD"),
        "`HEAD` is not a valid branch name: git gives this word another meaning"
    );
    assert!(refused(":x.*", "lock").contains(".lock"));
}

/// One `git` process per name, so only a fixed list of them. `@` is not in it: here git would take it for `HEAD`.
#[test]
#[expect(clippy::disallowed_types, reason = "git itself is the judge here")]
fn git_agrees_about_what_a_branch_name_is() {
    let names = [
        "main", "a/b/c", "a.b", "a-b", "é", "@a", "a@", "a@b", "{a}", "x.lockx", "HEAD/x", "head", "a!$;&|'",
        "a\"`(x)", "-a", "a..b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[b", "a]", "/a", "a/", "a//b", "a.",
        "a./b", ".a", "a/.b", "a.lock", "a.lock/b", "a@{b", "a\\b", "a\tb", "a\u{7f}", "HEAD", "a/-b", "#",
        "%", "=", ",",
    ];
    for name in names {
        let mut git = std::process::Command::new("git");
        let status = git.args(["check-ref-format", "--branch", name]).output().unwrap().status;
        assert_eq!(check_branch_name(name).is_ok(), status.success(), "`{}`", name.escape_debug());
    }
}

proptest! {
    #[test]
    fn what_is_accepted_is_written_as_it_is_read(spec in "[a-z.~^@{/:*-]{0,10}|[a-z]{1,4}(/[a-z.]{1,4})?(:[a-z*]{0,4})?|.{0,8}") {
        if let Ok(parsed) = spec.parse::<BranchSpec>() {
            prop_assert_eq!(parsed.to_string().parse::<BranchSpec>(), Ok(parsed));
        }
    }

    #[test]
    fn what_is_resolved_is_never_an_option_a_range_or_a_pattern(spec in "[a-z.~^@{/:*-]{0,10}|.{0,12}", name in "[a-z]{1,5}") {
        let name: AgentName = name.parse().unwrap();
        if let Ok(choice) = spec.parse::<BranchSpec>().and_then(|parsed| parsed.resolve(&name)) {
            for text in choice.base.iter().chain(&choice.new) {
                prop_assert!(!text.starts_with('-') && !text.contains("..") && !text.contains("@{"), "{}", text);
                prop_assert!(!text.contains(|c: char| c.is_control() || " :*?[\\".contains(c)), "{}", text);
            }
        }
    }
}
