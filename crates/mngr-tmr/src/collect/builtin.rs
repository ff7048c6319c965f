//! The built-in collectors and those of the settings, put together. A new framework is a new file in `collectors/` and
//! its line here.

use std::collections::BTreeMap;

use mngr_config::CollectorSettings;

use super::collector::CollectorError;

/// The built-in ones, in the order in which they are looked for.
const BUILT_IN: [(&str, &str); 6] = [
    ("pytest", include_str!("../../collectors/pytest.toml")),
    ("cargo-nextest", include_str!("../../collectors/cargo-nextest.toml")),
    ("go-test", include_str!("../../collectors/go-test.toml")),
    ("vitest", include_str!("../../collectors/vitest.toml")),
    ("jest", include_str!("../../collectors/jest.toml")),
    ("command", include_str!("../../collectors/command.toml")),
];

/// Every name there is: those of the settings first, because they were made for this project.
pub(super) fn names(own: &BTreeMap<String, CollectorSettings>) -> Vec<&str> {
    let built_in = BUILT_IN.iter().map(|(name, _)| *name);
    let is_own = |name: &&String| BUILT_IN.iter().all(|(built_in, _)| built_in != name);
    own.keys().filter(is_own).map(String::as_str).chain(built_in).collect()
}

/// What is said of a collector: by the settings, by the built-in one of that name, by its parents.
pub(super) fn find(
    name: &str,
    own: &BTreeMap<String, CollectorSettings>,
) -> Result<CollectorSettings, CollectorError> {
    let mut lineage = vec![name.to_owned()];
    let mut said = look_up(name, own)?;
    while let Some(parent) = said.parent.take() {
        if lineage.contains(&parent) {
            return Err(CollectorError::Circle { name: name.to_owned(), parent });
        }
        let below = look_up(&parent, own)?;
        said = over(said, below);
        lineage.push(parent);
    }
    Ok(said)
}

fn look_up(
    name: &str,
    own: &BTreeMap<String, CollectorSettings>,
) -> Result<CollectorSettings, CollectorError> {
    match (own.get(name), built_in(name)) {
        (Some(own), Some(built_in)) => Ok(over(own.clone(), built_in)),
        (Some(own), None) => Ok(own.clone()),
        (None, Some(built_in)) => Ok(built_in),
        (None, None) => Err(CollectorError::Unknown {
            name: name.to_owned(),
            known: names(own).into_iter().map(str::to_owned).collect(),
        }),
    }
}

#[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
fn built_in(name: &str) -> Option<CollectorSettings> {
    let (_, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
    Some(toml::from_str(text).expect("a built-in collector is valid"))
}

/// What `above` says, and where it says nothing, what `below` says.
fn over(above: CollectorSettings, below: CollectorSettings) -> CollectorSettings {
    fn list<T>(above: Vec<T>, below: Vec<T>) -> Vec<T> {
        if above.is_empty() { below } else { above }
    }
    let mut env = below.env;
    env.extend(above.env);
    let mut report_env = below.report_env;
    report_env.extend(above.report_env);
    CollectorSettings {
        parent: above.parent.or(below.parent),
        detect: if above.detect.is_empty() { below.detect } else { above.detect },
        collect: above.collect.or(below.collect),
        paths_are_files: above.paths_are_files.or(below.paths_are_files),
        ids: above.ids.or(below.ids),
        id_pattern: above.id_pattern.or(below.id_pattern),
        id_pointers: list(above.id_pointers, below.id_pointers),
        id_where: if above.id_where.is_empty() { below.id_where } else { above.id_where },
        id_parts: above.id_parts.or(below.id_parts),
        one: above.one.or(below.one),
        many: above.many.or(below.many),
        report: above.report.or(below.report),
        report_flags: above.report_flags.or(below.report_flags),
        report_env,
        result_pattern: above.result_pattern.or(below.result_pattern),
        passed: list(above.passed, below.passed),
        skipped: list(above.skipped, below.skipped),
        none_exit: list(above.none_exit, below.none_exit),
        none_pattern: above.none_pattern.or(below.none_pattern),
        env,
        broken_pattern: above.broken_pattern.or(below.broken_pattern),
        outside: list(above.outside, below.outside),
        collect_timeout: above.collect_timeout.or(below.collect_timeout),
        one_timeout: above.one_timeout.or(below.one_timeout),
        many_timeout: above.many_timeout.or(below.many_timeout),
    }
}

#[cfg(test)]
mod tests {
    use mngr_config::{Layer, LayerKind};

    use super::*;

    fn own(text: &str) -> BTreeMap<String, CollectorSettings> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_built_in_collector_could_stand_in_the_settings() {
        for (name, text) in BUILT_IN {
            let said: toml::Table = toml::from_str(text).unwrap();
            let collectors = toml::Table::from_iter([(name.to_owned(), said.into())]);
            let tmr = toml::Table::from_iter([("collectors".to_owned(), collectors.into())]);
            let settings = toml::Table::from_iter([("tmr".to_owned(), tmr.into())]);
            let layer = Layer::from_toml(LayerKind::User, name, &settings.to_string()).unwrap();
            assert_eq!(layer.problems(), [], "{name}");
        }
    }

    #[test]
    fn settings_change_a_built_in_one_and_build_on_others() {
        let own =
            own("[pytest]\none = 'mine {id}'\n[uv]\nparent = 'pytest'\ncollect = 'uv run'\nenv.A = '1'");
        let pytest = find("pytest", &own).unwrap();
        assert_eq!(pytest.one.as_deref(), Some("mine {id}"));
        assert_eq!(pytest.none_exit, [5]);
        let uv = find("uv", &own).unwrap();
        assert_eq!((uv.collect.as_deref(), uv.one.as_deref()), (Some("uv run"), Some("mine {id}")));
        assert_eq!((uv.env["A"].as_str(), uv.env["PY_COLORS"].as_str()), ("1", "0"));
        assert_eq!(names(&own)[..2], ["uv", "pytest"]);
    }

    #[test]
    fn an_unknown_name_and_a_circle_are_refused() {
        assert!(matches!(find("nose", &own("")), Err(CollectorError::Unknown { .. })));
        let circle = own("[a]\nparent = 'b'\n[b]\nparent = 'a'");
        assert!(matches!(find("a", &circle), Err(CollectorError::Circle { .. })));
    }
}
