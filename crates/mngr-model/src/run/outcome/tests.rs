//! That schema, text, validator and types say the same, and that what is wrong is named.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};

use super::shape::{Need, Shape};
use super::*;

fn valid() -> Value {
    serde_json::to_value(Outcome::example()).unwrap()
}

fn problems(value: &Value) -> Vec<String> {
    Outcome::admit(value).unwrap_err().iter().map(ToString::to_string).collect()
}

/// The valid outcome with one place replaced.
fn with(pointer: &str, value: Value) -> Value {
    let mut outcome = valid();
    *outcome.pointer_mut(pointer).unwrap() = value;
    outcome
}

/// All shapes below this one, itself included.
fn shapes(shape: &Shape) -> Vec<Shape> {
    let below = shape.fields.iter().flat_map(|field| match field.kind {
        Kind::List(below) => shapes(below),
        _ => Vec::new(),
    });
    std::iter::once(*shape).chain(below).collect()
}

/// Values that fit a shape, whatever its rules.
fn fitting(shape: &'static Shape) -> BoxedStrategy<Value> {
    let fields: Vec<_> = shape
        .fields
        .iter()
        .map(|field| {
            let value = fitting_kind(field.kind).prop_map(Some);
            match field.need {
                Need::Required => value.boxed(),
                Need::Optional => prop_oneof![Just(None), value].boxed(),
            }
        })
        .collect();
    let names: Vec<_> = shape.fields.iter().map(|field| field.name).collect();
    fields
        .prop_map(move |values| {
            let pairs =
                names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
            Value::Object(pairs.collect::<Map<_, _>>())
        })
        .boxed()
}

fn fitting_kind(kind: Kind) -> BoxedStrategy<Value> {
    match kind {
        Kind::Choice(words) => select(words).prop_map(|word| json!(word.word)).boxed(),
        Kind::Flag => any::<bool>().prop_map(|flag| json!(flag)).boxed(),
        Kind::Count => (1..=u32::MAX).prop_map(|count| json!(count)).boxed(),
        Kind::Markdown { .. } => "[a-z<>&\"]{1,9}( [a-z\n]{1,9}){0,9}".prop_map(|text| json!(text)).boxed(),
        Kind::Label => "[a-z_0-9]{1,80}".prop_map(|text| json!(text)).boxed(),
        Kind::TestName => "[a-z_:./0-9]{1,200}".prop_map(|text| json!(text)).boxed(),
        Kind::SourcePath => "[a-z]{1,9}(/[a-z.]{3,9}){0,4}".prop_map(|text| json!(text)).boxed(),
        Kind::List(shape) => {
            // One entry at most, so that no two are alike.
            proptest::collection::vec(fitting(shape), 0..=1).prop_map(Value::Array).boxed()
        }
    }
}

proptest! {
    /// Types and description come from the same lines; this guards the impls that name a kind by hand.
    #[test]
    fn whatever_fits_the_description_is_read_by_the_types(value in fitting(&Outcome::SHAPE)) {
        let read = Outcome::deserialize(&value).unwrap();
        let is_rule = |problem: &Problem| matches!(problem.fault, Fault::Rule { .. });
        prop_assert!(check::check(&value, &Outcome::SHAPE).iter().all(is_rule));
        let written = serde_json::to_value(&read).unwrap();
        prop_assert!(check::check(&written, &Outcome::SHAPE).iter().all(is_rule), "{written}");
    }

    #[test]
    fn whatever_fits_the_description_of_an_integrator_is_read(value in fitting(&IntegratorOutcome::SHAPE)) {
        let read = IntegratorOutcome::admit(&value).unwrap();
        prop_assert_eq!(IntegratorOutcome::admit(&serde_json::to_value(&read).unwrap()), Ok(read));
    }

    #[test]
    fn nothing_makes_the_validator_or_a_reader_fail_otherwise(text in "\\PC{0,200}", at in select(vec!["/result", "/changes", "/changes/0/kind", "/escalations/0/locations/0/path"])) {
        for value in [json!(text), json!([text]), json!({&text: text}), json!(null), json!(1.5), json!(-1)] {
            if let Err(problems) = Outcome::admit(&with(at, value)) {
                prop_assert!(!problems.is_empty());
            }
        }
    }
}

#[test]
fn the_schema_the_text_and_the_types_name_the_same_fields_and_words() {
    let (words, schema) = (Outcome::in_words(), Outcome::json_schema());
    fn compare(shape: &Shape, schema: &Value, words: &str) {
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), shape.fields.len());
        for field in shape.fields {
            let property = &properties[field.name];
            assert!(words.contains(&format!("- `{}` (", field.name)), "{} in {words}", field.name);
            assert!(words.contains(field.about.trim()));
            let is_required = schema["required"].as_array().unwrap().contains(&json!(field.name));
            assert_eq!(is_required, field.need == Need::Required, "{}", field.name);
            match field.kind {
                Kind::Choice(known) => {
                    let listed = property["enum"].as_array().unwrap();
                    assert_eq!(listed.len(), known.len());
                    for word in known {
                        assert!(listed.contains(&json!(word.word)));
                        assert!(words.contains(&format!("- `{}`: {}", word.word, word.about.trim())));
                    }
                }
                Kind::Markdown { words: limit } => {
                    let limit = format!("t most {limit} words");
                    assert!(
                        property["description"].as_str().unwrap().contains(&limit) && words.contains(&limit)
                    );
                }
                Kind::List(below) => {
                    assert_eq!(property["maxItems"], below.at_most);
                    compare(below, &property["items"], words);
                }
                _ => {}
            }
        }
        let rules = schema.get("allOf").map_or(0, |rules| rules.as_array().unwrap().len());
        assert_eq!(rules, shape.rules.len());
    }
    compare(&Outcome::SHAPE, &schema, &words);
    compare(&IntegratorOutcome::SHAPE, &IntegratorOutcome::json_schema(), &IntegratorOutcome::in_words());
    assert!(IntegratorOutcome::admit(&serde_json::to_value(IntegratorOutcome::example()).unwrap()).is_ok());
    // The fields the types really write.
    let written = valid();
    let names: Vec<_> = written.as_object().unwrap().keys().map(String::as_str).collect();
    let declared: Vec<_> = Outcome::SHAPE.fields.iter().map(|field| field.name).collect();
    assert_eq!(names, declared);
}

#[test]
fn every_rule_speaks_of_fields_and_words_there_are() {
    for shape in shapes(&Outcome::SHAPE) {
        let kind_of =
            |name: &str| shape.fields.iter().find(|field| field.name == name).map(|field| field.kind);
        for rule in shape.rules {
            let Some(Kind::Choice(words)) = kind_of(rule.field) else {
                panic!("{} is no choice", rule.field)
            };
            assert!(words.iter().any(|word| word.word == rule.is), "{}", rule.is);
            assert!(rule.then.iter().all(|demand| kind_of(demand.field()).is_some()));
        }
        assert!(shape.unlike_in.is_none_or(|name| kind_of(name).is_some()));
    }
}

#[test]
fn every_change_kind_is_described() {
    let Kind::Choice(words) = ChangeKind::KIND else { panic!("a choice") };
    let described: Vec<_> = words.iter().map(|word| word.word).collect();
    assert_eq!(described, ChangeKind::ALL.map(ChangeKind::name));
}

#[test]
fn the_example_of_the_prompt_is_admitted() {
    assert_eq!(Outcome::admit(&valid()).unwrap(), Outcome::example());
}

#[test]
fn a_clean_outcome_needs_little() {
    let clean = json!({"result": "clean", "summary_markdown": "Fine.", "tests_passing_after": true});
    let read = Outcome::admit(&clean).unwrap();
    assert_eq!((read.result, read.changes.len()), (Claim::Clean, 0));
}

#[test]
fn a_wrong_word_is_answered_with_the_right_ones() {
    let found = problems(&with("/changes/0/kind", json!("FIX")));
    let expected =
        "`changes[0].kind`: `FIX` is not one of `FIX_TEST`, `IMPROVE_TEST`, `FIX_TUTORIAL`, `FIX_IMPL`";
    assert_eq!(found, [expected]);
}

#[test]
fn each_kind_of_fault_is_named_at_its_place() {
    let long = "word ".repeat(401);
    let rows = [
        (json!([]), "the outcome: expected an object, found a list"),
        (with("/summary_markdown", json!(1)), "`summary_markdown`: expected a string, found another number"),
        (with("/summary_markdown", json!(" ")), "`summary_markdown`: is empty"),
        (
            with("/summary_markdown", json!(long)),
            "`summary_markdown`: has 401 words, at most 400 are allowed",
        ),
        (
            with("/summary_markdown", json!("x".repeat(8_001))),
            "`summary_markdown`: has 8001 characters, at most 8000 are allowed",
        ),
        (with("/test_runs/0/run_name", json!("a\nb")), "`test_runs[0].run_name`: must be one line"),
        (
            with("/test_runs/1/run_name", json!("try_1")),
            "`test_runs[1].run_name`: `try_1` stands in an earlier entry already",
        ),
        (
            with("/escalations/0/locations/0/path", json!("../../etc/passwd")),
            "`escalations[0].locations[0].path`: `../../etc/passwd` is not a path relative to the root of the repository",
        ),
        (
            with("/escalations/0/locations/0/path", json!("/etc/passwd")),
            "`escalations[0].locations[0].path`: `/etc/passwd` is not a path relative to the root of the repository",
        ),
        (
            with("/escalations/0/locations/0/line", json!(0)),
            "`escalations[0].locations[0].line`: expected a whole number from 1 on, found another number",
        ),
        (with("/changes", json!(null)), "`changes`: expected a list, found `null`"),
        (
            with("/tests_passing_after", json!(false)),
            "`tests_passing_after`: must be `true` when `result` is `fixed`",
        ),
        (with("/changes", json!([])), "`changes`: must have at least one entry when `result` is `fixed`"),
        (with("/result", json!("blocked")), "`reason`: must be there when `result` is `blocked`"),
        (with("/result", json!("clean")), "`changes`: must be empty when `result` is `clean`"),
    ];
    for (value, expected) in rows {
        assert_eq!(problems(&value)[0], expected);
    }
}

#[test]
fn what_is_missing_or_misspelt_is_named() {
    let mut outcome = valid();
    let object = outcome.as_object_mut().unwrap();
    object.remove("result");
    object.insert("escalation\u{1b}[2J".to_owned(), json!([]));
    let found = problems(&outcome);
    assert_eq!(found[0], "`result`: is missing");
    assert!(
        found[1].starts_with("`escalation\\u{1b}[2J`: is not a field; the fields here are `result`"),
        "{found:?}"
    );
}

#[test]
fn a_report_of_a_repeated_change_is_kept_shorter_than_others() {
    let text = "word ".repeat(121);
    let mut outcome = with("/escalations/0/description_markdown", json!(text));
    assert!(Outcome::admit(&outcome).is_ok());
    outcome["escalations"][0]["kind"] = json!("SUITE_DUPLICATION");
    assert_eq!(
        problems(&outcome),
        [
            "`escalations[0].description_markdown`: must have at most 120 words when `kind` is `SUITE_DUPLICATION`"
        ]
    );
}

#[test]
fn the_number_of_entries_and_of_problems_is_limited() {
    let change = json!({"kind": "FIX_TEST", "summary_markdown": ""});
    let found = problems(&with("/changes", json!(vec![change; 100_000])));
    assert_eq!(found[0], "`changes`: has 100000 entries, at most 4 are allowed");
    assert!(found.len() <= Problem::MOST);
}

#[test]
fn a_journal_of_older_limits_is_still_read() {
    let mut outcome = with("/summary_markdown", json!("word ".repeat(1000)));
    outcome["later_field"] = json!(1);
    assert!(Outcome::deserialize(&outcome).is_ok());
}
