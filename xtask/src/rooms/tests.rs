//! Each rule on the smallest workspace that breaks it.

use serde_json::json;

use super::*;

fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
    let dependencies: Vec<_> =
        dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
    serde_json::from_value(json!({
        "name": name,
        "manifest_path": format!("/house/{name}/Cargo.toml"),
        "dependencies": dependencies,
        "features": {},
    }))
    .unwrap()
}

fn messages(packages: &[Package]) -> Vec<String> {
    check(packages).iter().map(ToString::to_string).collect()
}

#[test]
fn arrows_that_point_down_are_fine() {
    let house = [
        package("mngr", &[("mngr-ops", None), ("mngr-model", None), ("clap", None)]),
        package("mngr-ops", &[("mngr-host", None), ("mngr-testkit", Some("dev"))]),
        package("mngr-testkit", &[("tempfile", None)]),
        package("xtask", &[("mngr-testkit", None)]),
    ];
    assert_eq!(check(&house), []);
}

#[test]
fn an_arrow_that_points_up_is_found() {
    let house = [package("mngr-host", &[("mngr-ops", None)])];
    assert_eq!(
        messages(&house),
        ["`mngr-host` on floor 1 uses `mngr-ops` on floor 3, which is not below it"]
    );
}

#[test]
fn an_arrow_to_the_same_floor_is_found_even_for_tests() {
    for kind in [None, Some("dev"), Some("build")] {
        let house = [package("mngr-config", &[("mngr-model", kind)])];
        assert_eq!(
            messages(&house),
            ["`mngr-config` on floor 0 uses `mngr-model` on floor 0, which is not below it"]
        );
    }
}

#[test]
fn the_testkit_is_for_tests_only() {
    for kind in [None, Some("build")] {
        let house = [package("mngr", &[("mngr-testkit", kind)])];
        assert_eq!(messages(&house), ["`mngr` uses `mngr-testkit` outside its [dev-dependencies]"]);
    }
}

#[test]
fn nobody_uses_the_chores() {
    let house = [package("mngr", &[("xtask", Some("dev"))])];
    assert_eq!(messages(&house), ["`mngr` uses `xtask`, which no crate may use"]);
}

#[test]
fn the_testkit_knows_no_crate_of_the_house() {
    let house = [package("mngr-testkit", &[("mngr-model", None)])];
    assert_eq!(
        messages(&house),
        ["`mngr-testkit` stands beside the house and uses `mngr-model`, which is in it"]
    );
}

#[test]
fn a_crate_without_a_floor_is_found() {
    let house = [package("mngr-extra", &[])];
    assert_eq!(check(&house), [Violation::NoFloor { krate: "mngr-extra".into() }]);
}

#[test]
fn a_feature_is_found() {
    let mut with_feature = package("mngr-host", &[]);
    with_feature.features.insert("ssh".into(), Vec::new());
    assert_eq!(
        check(&[with_feature]),
        [Violation::Features { krate: "mngr-host".into(), features: vec!["ssh".into()] }]
    );
}
