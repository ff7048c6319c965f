//! What `[tmr]` says about paths and contracts, made ready for use. Wrong patterns are found here, before any agent is
//! launched.

use mngr_config::{ContractSettings, Forbidden, Pattern, ReadOnly, TmrSettings};
use mngr_model::run::ChangeKind;
use regex::Regex;

use super::contract::{ContractRule, Protected};
use super::glob::{Glob, GlobError};
use super::paths::PathRules;

/// The rules of a project.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which paths are tests and documentation.
    pub paths: PathRules,
    /// Paths that make a change come later.
    pub risky: Vec<Glob>,
    /// Files that several tests use.
    pub(super) shared: Vec<Glob>,
    /// Files that say how tests are run.
    pub(super) runner: Vec<Glob>,
    /// What no agent may change.
    pub contract: Vec<ContractRule>,
    /// What of tests no agent may change, besides.
    pub read_only: Vec<ReadOnly>,
}

/// A rule that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// A path pattern is wrong.
    #[error("the paths of `[tmr]` cannot be used")]
    Paths(#[source] GlobError),
    /// A path pattern of a rule is wrong.
    #[error("the paths of `[tmr.contract.{rule}]` cannot be used")]
    RulePaths {
        /// The rule.
        rule: String,
        /// Why.
        #[source]
        source: GlobError,
    },
    /// A key is missing.
    #[error("`[tmr.contract.{rule}]` needs `{key}`")]
    Missing {
        /// The rule.
        rule: String,
        /// The key.
        key: &'static str,
    },
    /// A regular expression is wrong.
    #[error("`{key}` of `[tmr.contract.{rule}]` cannot be used")]
    Pattern {
        /// The rule.
        rule: String,
        /// The key.
        key: &'static str,
        /// Why.
        #[source]
        source: regex::Error,
    },
    /// There is no such kind of change.
    #[error("`except` of `[tmr.contract.{rule}]` names `{kind}`, which is no kind of change")]
    Kind {
        /// The rule.
        rule: String,
        /// The word.
        kind: String,
    },
}

impl Rules {
    /// Reads the settings.
    pub fn new(settings: &TmrSettings) -> Result<Self, RuleError> {
        let paths = PathRules::new(&settings.test_paths, &settings.doc_paths)
            .and_then(|paths| paths.with_tutorials(&settings.tutorial_paths))
            .map_err(RuleError::Paths)?;
        let contract = settings.contract.iter().map(|(name, said)| rule(name, said, &settings.test_paths));
        Ok(Self {
            paths,
            risky: Glob::all(&settings.risky_paths).map_err(RuleError::Paths)?,
            shared: Glob::all(&settings.shared_paths).map_err(RuleError::Paths)?,
            runner: Glob::all(&settings.runner_paths).map_err(RuleError::Paths)?,
            contract: contract.collect::<Result<_, _>>()?,
            read_only: settings.read_only.clone(),
        })
    }
}

fn rule(name: &str, said: &ContractSettings, tests: &[String]) -> Result<ContractRule, RuleError> {
    let missing = |key| RuleError::Missing { rule: name.to_owned(), key };
    let pattern = |key: &'static str, said: &Option<Pattern>| {
        let text = said.as_ref().ok_or_else(|| missing(key))?.as_str();
        Regex::new(text).map_err(|source| RuleError::Pattern { rule: name.to_owned(), key, source })
    };
    let protected = match said.may_not.ok_or_else(|| missing("may_not"))? {
        Forbidden::ChangeFile => Protected::Whole,
        Forbidden::AddLines => Protected::Additions(pattern("pattern", &said.pattern)?),
        Forbidden::RemoveLines => Protected::Removals(pattern("pattern", &said.pattern)?),
        Forbidden::ChangeBlocks => {
            Protected::Blocks { begin: pattern("begin", &said.begin)?, end: pattern("end", &said.end)? }
        }
    };
    let kind = |word: &String| {
        let unknown = || RuleError::Kind { rule: name.to_owned(), kind: word.clone() };
        ChangeKind::named(word).ok_or_else(unknown)
    };
    let paths = if said.paths.is_empty() { tests } else { &said.paths };
    Ok(ContractRule {
        name: name.to_owned(),
        paths: Glob::all(paths).map_err(|source| RuleError::RulePaths { rule: name.to_owned(), source })?,
        protected,
        except: said.except.iter().map(kind).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mngr_config::{BuildOptions, Merged};
    use mngr_host::git::RepoPath;

    use crate::verify::PathClass;

    fn defaults() -> TmrSettings {
        Merged::build(&[], &BuildOptions::default()).unwrap().settings().tmr.clone()
    }

    #[test]
    fn the_usual_places_of_tests_and_documentation_are_known() {
        let rules = Rules::new(&defaults()).unwrap();
        for (path, class) in [
            ("tests/cli/list.rs", PathClass::Test),
            ("crates/a/tests/b.rs", PathClass::Test),
            ("pkg/util_test.go", PathClass::Test),
            ("web/list.spec.ts", PathClass::Test),
            ("src/conftest.py", PathClass::Test),
            ("docs/a.md", PathClass::Doc),
            ("README.md", PathClass::Doc),
            ("tutorial.sh", PathClass::Doc),
            ("src/latest.py", PathClass::Implementation),
            ("src/contest/a.py", PathClass::Implementation),
        ] {
            assert_eq!(rules.paths.class(&RepoPath::new(path)), class, "{path}");
        }
    }

    #[test]
    fn marks_that_skip_are_known_and_words_that_look_alike_are_not() {
        let rules = Rules::new(&defaults()).unwrap();
        let [rule] = &rules.contract[..] else { panic!("{:?}", rules.contract) };
        assert!(rule.is_about("tests/test_a.py", &[]) && !rule.is_about("src/a.py", &[]));
        let Protected::Additions(pattern) = &rule.protected else { panic!("{rule:?}") };
        for mark in [
            "@pytest.mark.skip",
            "    pytest.skip(\"x\")",
            "@pytest.mark.timeout(300)",
            "#[ignore]",
            "t.Skip()",
            "it.only(",
        ] {
            assert!(pattern.is_match(mark), "{mark}");
        }
        for plain in ["run(\"mngr tmr --skip x\")", "@pytest.mark.release", "list.skip(1)", "exit("] {
            assert!(!pattern.is_match(plain), "{plain}");
        }
    }

    #[test]
    fn a_rule_that_says_too_little_or_nonsense_is_refused() {
        for (said, error) in [
            ("", "`[tmr.contract.x]` needs `may_not`"),
            ("may_not = \"add_lines\"", "`[tmr.contract.x]` needs `pattern`"),
            ("may_not = \"change_blocks\"\nbegin = \"a\"", "`[tmr.contract.x]` needs `end`"),
            (
                "may_not = \"change_file\"\nexcept = [\"FIX\"]",
                "`except` of `[tmr.contract.x]` names `FIX`, which is no kind of change",
            ),
        ] {
            let mut settings = defaults();
            settings.contract.insert("x".to_owned(), toml::from_str(said).unwrap());
            assert_eq!(Rules::new(&settings).unwrap_err().to_string(), error);
        }
    }
}
