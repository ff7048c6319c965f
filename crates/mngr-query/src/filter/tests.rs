//! What filters promise their users.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::language::{FUNCTIONS, MACROS};
use super::*;

fn record() -> Value {
    json!({
        "name": "alpha", "state": "RUNNING", "type": "claude", "url": null, "pid": 42, "age": 90.5,
        "labels": {"team": "infra", "a.b": "dotted", "project": "web"},
        "activity_sources": ["USER", "SSH"],
        "host": {"name": "local", "provider_name": "docker", "tags": {}, "resource": {"cpu": {"count": 4}}},
        "create_time": "2026-01-02T03:04:05Z",
    })
}

fn compile(source: &str) -> Result<Filter, FilterError> {
    Filter::compile(source, FilterKind::Include, &Catalog::agents())
}

fn matches(source: &str) -> Match {
    compile(source).unwrap_or_else(|error| panic!("{source}: {error}")).matches(&record())
}

fn message(source: &str) -> String {
    compile(source).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn true_expressions_match() {
    for source in [
        r#"state == "RUNNING""#,
        r#"name.startsWith("al") && age > 60"#,
        r#"host.provider == "docker""#,
        r#"project == "web""#,
        r#"labels["team"] == "infra""#,
        r#""team" in labels"#,
        r#"labels.`a.b` == "dotted""#,
        r#"activity_sources.exists(x, x == "SSH")"#,
        r#"activity_sources.exists(name, name == "SSH") && name == "alpha""#,
        r#"name in ["alpha", "beta"]"#,
        r#"timestamp(create_time) < timestamp("2026-02-01T00:00:00Z")"#,
        "host.resource.cpu.count >= 4",
        "size(labels) == 3",
        r#"name.matches("^al.*a$")"#,
        r#"name.upperAscii() == "ALPHA" && "a,b".split(",").size() == 2"#,
        r#"labels.?nope.orValue("none") == "none""#,
        "type(name) == string",
        "age < 91 && age > 90 && pid == 42.0",
        "[pid, 1].map(x, x + 1).exists(x, x == 43) // a comment",
        r#"strings.quote(name) == "\"alpha\"""#,
    ] {
        assert_eq!(matches(source), Match::Yes, "{source}");
    }
}

#[test]
fn has_works_on_bare_fields_and_null_is_absent() {
    for source in ["has(pid)", "has(labels.team)", "!has(url)", "!has(labels.nope)", "!has(host.image)"] {
        assert_eq!(matches(source), Match::Yes, "{source}");
    }
    for source in ["has(url)", "has(exit_status)", "has(labels.nope)", "has(host.tags.x)"] {
        assert_eq!(matches(source), Match::No, "{source}");
    }
    assert_eq!(matches("name == 'has(url)'"), Match::No, "text is left alone");
    assert_eq!(matches("[{'a': 1}].exists(x, has(x.a) && !has(x.b))"), Match::Yes);
}

#[test]
fn comparing_with_null_asks_for_presence() {
    assert_eq!(matches("url == null && null == exit_status"), Match::Yes);
    assert_eq!(matches("pid != null"), Match::Yes);
    assert_eq!(matches("pid == null"), Match::No);
}

#[test]
fn a_missing_value_is_silently_no_match_also_when_negated() {
    for source in [
        r#"labels.nope == "x""#,
        r#"labels.nope != "x""#,
        r#"!(labels.nope == "x")"#,
        r#"labels["nope"] == "x""#,
        "exit_status != 0",
        "idle > 5",
        r#"url.contains("http")"#,
        "activity_sources[7] == 'x'",
        "host.boot_time > '2026'",
    ] {
        assert_eq!(matches(source), Match::No, "{source}");
    }
    assert_eq!(matches(r#"labels.nope == "x" || name == "alpha""#), Match::Yes, "the other side decides");
}

#[test]
fn a_type_error_is_no_match_with_one_reason() {
    let failed = |source| match matches(source) {
        Match::Failed { reason } => reason,
        other => panic!("{source}: {other:?}"),
    };
    assert_eq!(failed(r#"age > "x""#), "`>` does not work on double and string");
    assert_eq!(failed("name"), "it gives a string, not true or false");
    assert_eq!(failed("1 / 0 == 1"), "division by zero");
    assert_eq!(failed("name.matches('[')"), "`matches` failed: '[' not a valid regex:");
}

#[test]
fn problems_are_reported_once_per_expression() {
    let set = FilterSet::compile(&[r#"age > "x""#], &[], &Catalog::agents()).unwrap();
    let mut problems = FilterProblems::new();
    for _ in 0..3 {
        assert!(!set.keeps(&record(), &mut problems));
    }
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            r#"include filter `age > "x"` could not be applied to 3 records: `>` does not work on double and string"#
        ]
    );
}

#[test]
fn all_includes_must_match_and_no_exclude_may() {
    let keeps = |includes: &[&str], excludes: &[&str]| {
        let set = FilterSet::compile(includes, excludes, &Catalog::agents()).unwrap();
        set.keeps(&record(), &mut FilterProblems::new())
    };
    assert!(keeps(&[], &[]));
    assert!(keeps(&["pid == 42", "has(name)"], &["pid == 1"]));
    assert!(!keeps(&["pid == 42", "pid == 1"], &[]));
    assert!(!keeps(&["pid == 42"], &["pid == 1", "pid == 42"]));
    assert!(keeps(&[], &["labels.nope != 'x'"]), "a missing value excludes nothing");
}

#[test]
fn an_invalid_expression_is_one_error_with_a_caret() {
    let error = compile("state = \"RUNNING\"").map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "Invalid include filter expression: unexpected `=`, did you mean `==`?");
    assert_eq!(error.snippet(), "  state = \"RUNNING\"\n        ^");
    let error = Filter::compile("name ==", FilterKind::Exclude, &Catalog::agents()).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "Invalid exclude filter expression: it ends too early");
    assert_eq!(error.snippet(), "  name ==\n         ^");
}

#[test]
fn carets_stay_right_behind_has_and_wide_text() {
    for (source, at) in [
        ("has(url) && stat == 'x'", 12),
        ("name == 'é' && nmae == 'x'", 15),
        ("name == 'x' &&\n  nosuch == 1", 17),
        ("has(url) && )", 12),
        ("name == 'é' && )", 15),
        ("name.upper() == 'X'", 5),
        ("has(1)", 0),
    ] {
        assert_eq!(compile(source).map(|_| ()).unwrap_err().at(), at, "{source}");
    }
}

#[test]
fn unknown_names_are_found_before_any_record() {
    let cases = [
        ("stat == 'X'", "unknown field `stat`, did you mean `state`?"),
        ("state == RUNNING", "unknown field `RUNNING` (text must be in quotes)"),
        ("host.nmae == 'x'", "unknown field `host.nmae`, did you mean `host.name`?"),
        ("name.upperAsci() == 'X'", "unknown function `upperAsci`, did you mean `upperAscii`?"),
        ("_f(name)", "unknown function `_f`"),
        ("activity_sources.exists(x, y == x)", "unknown field `y` (text must be in quotes)"),
        ("has(nmae)", "unknown field `nmae`, did you mean `name`?"),
        ("has(name, url)", "`has` takes one field, such as `has(url)` or `has(labels.x)`"),
        ("Foo{a: 1}", "`Foo{...}` is not supported"),
        ("name == 'x' and pid == 1", "unexpected `and`, did you mean `&&`?"),
        ("name == \"x", "the quote never ends"),
        ("  ", "it is empty"),
    ];
    for (source, expected) in cases {
        assert_eq!(message(source), format!("Invalid include filter expression: {expected}"), "{source}");
    }
    assert!(message("activity_sources.exists(x)").contains("`exists` is called on a list"));
}

#[test]
fn only_the_named_fields_are_wanted() {
    let filter = compile("has(url) && host.provider == 'x' && labels.`a` == 'b' && idle > 3").unwrap();
    let wanted = filter.wanted();
    let paths: Vec<&str> = wanted.paths().collect();
    assert_eq!(paths, ["host.provider_name", "idle_seconds", "labels.a", "url"]);
}

#[test]
fn every_listed_function_exists() {
    let language = language::language().unwrap();
    for name in FUNCTIONS.iter().filter(|name| !MACROS.contains(name)) {
        // Whatever the arguments do to the function, an undeclared one is told apart by its error.
        let is_declared = [
            "f(1)",
            "'a'.f()",
            "f()",
            "[1].f('a')",
            "optional.of(1).f(1)",
            "timestamp(0).f()",
            "duration('1s').f()",
        ]
        .iter()
        .map(|shape| shape.replace("f(", &format!("{name}(")))
        .any(|source| {
            let program = language.compile(&source).unwrap();
            let result = program.execute(&cel::Context::with_env(Arc::clone(&language)));
            !matches!(result, Err(cel::ExecutionError::UndeclaredReference(_)))
        });
        assert!(is_declared, "{name}");
    }
}

#[test]
fn long_and_deep_expressions_neither_crash_nor_hang() {
    let long = "x".repeat(70_000);
    assert_eq!(
        message(&long),
        "Invalid include filter expression: it is 70000 bytes long, the limit is 65536"
    );
    let list = format!("name in [{}'alpha']", "'abcdefgh', ".repeat(800));
    assert_eq!(matches(&list), Match::Yes);
    for deep in [
        format!("{}true{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("{}true", "!".repeat(10_000)),
        format!("1{} == 1", " + 1".repeat(10_000)),
        format!("labels{} == 1", ".a".repeat(10_000)),
        format!("labels{} == 1", "['a']".repeat(10_000)),
        "true ? true : ".repeat(2_000) + "true",
    ] {
        assert_eq!(message(&deep), "Invalid include filter expression: it is nested too deeply");
    }
}

/// Run where the stack is as small as a thread's may be: what is accepted must fit.
#[test]
fn the_deepest_accepted_expressions_fit_a_thread() {
    let run = || {
        for deep in [
            format!("{}true{}", "(".repeat(7), ")".repeat(7)),
            format!("{}1{} != [1]", "[".repeat(7), "]".repeat(7)),
            format!("{}1{} != {{}}", "{1: ".repeat(7), "}".repeat(7)),
            format!("{}true{}", "[1].exists(x, ".repeat(5), ")".repeat(5)),
            format!("1{} > 1", " + 1".repeat(38)),
            format!("{}true", "!".repeat(40)),
            "true ? true : ".repeat(40) + "true",
        ] {
            assert_eq!(matches(&deep), Match::Yes, "{deep}");
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}

proptest! {
    #[test]
    fn any_text_compiles_or_is_one_error(source in "\\PC{0,60}|[a-z()\\[\\].\"'!&|=<>0-9 ]{0,60}") {
        match compile(&source) {
            Ok(filter) => drop(filter.matches(&record())),
            Err(error) => {
                prop_assert!(error.to_string().starts_with("Invalid include filter expression"));
                prop_assert_eq!(error.snippet().lines().count(), 2);
            }
        }
    }

    #[test]
    fn record_text_is_data_never_code(text in any::<String>()) {
        let filter = compile("name == labels.x").unwrap();
        prop_assert_eq!(filter.matches(&json!({"name": text, "labels": {"x": text}})), Match::Yes);
    }
}
