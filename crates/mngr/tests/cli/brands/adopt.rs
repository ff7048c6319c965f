//! A conversation of the user's own, gone on with by an agent.

use std::fs;
use std::path::PathBuf;

use mngr_testkit::model::Brand;

use super::every::holds_for;
use super::scene::{IDLE, NAME, Scene};
use crate::support::agent;

/// Has the program talk to the model without mngr; returns the file of the conversation and its id.
#[track_caller]
pub(super) fn talk(scene: &Scene, words: &str) -> (PathBuf, String) {
    let before = conversations(scene);
    let mut command = scene.env.command(scene.brand.program());
    match scene.brand {
        Brand::Claude => command.args(["-p", words]),
        _ => command.args(["exec", words]),
    };
    let _ = scene.env.run(command).success();
    let path = conversations(scene).into_iter().find(|path| !before.contains(path)).expect("a conversation");
    let name = path.file_stem().unwrap().to_str().unwrap();
    let id = name[name.len() - 36..].to_owned();
    (path, id)
}

fn conversations(scene: &Scene) -> Vec<PathBuf> {
    let root = match scene.brand {
        Brand::Claude => scene.env.home().join(".claude/projects"),
        _ => scene.env.home().join(".codex/sessions"),
    };
    let mut folders = vec![root];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "jsonl") => found.push(path),
                false => {}
            }
        }
    }
    found
}

fn an_adopted_conversation_goes_on_and_the_original_stays(brand: Brand) {
    let scene = Scene::of(brand);
    let (path, id) = talk(&scene, "remember the heron");
    let original = fs::read(&path).unwrap();
    let created = scene.env.mngr(["create", NAME, "--adopt", &id, "--no-connect"]).success();
    assert!(created.stderr.contains(&format!("using `{}`", brand.program())), "{created}");
    scene.wait_for(IDLE);
    scene.say("what was it");
    scene.wait_for(IDLE);
    assert_eq!(scene.history_with("what was it"), ["remember the heron", "what was it"]);
    let said = scene.env.mngr(["transcript", NAME, "--role", "user"]).success().stdout;
    assert!(said.contains("remember the heron") && said.contains("what was it"), "{said}");
    let used = scene.env.mngr(["usage", NAME, "--format", "json"]).success().json();
    assert_eq!(used["total"]["answers"], 1, "what was used before the adoption is the user's: {used}");
    assert_eq!(agent(&scene.env, NAME)["title"], "remember the heron");
    assert_eq!(fs::read(&path).unwrap(), original);
    // It is the agent's own from now on.
    let _ = scene.env.mngr(["stop", NAME]).success();
    let _ = scene.env.mngr(["start", NAME]).success();
    scene.say("and now");
    scene.wait_for(IDLE);
    assert_eq!(scene.history_with("and now").len(), 3);
    assert_eq!(fs::read(&path).unwrap(), original);
}

fn the_last_of_several_is_the_one_it_is_in(brand: Brand) {
    let scene = Scene::of(brand);
    let (first, _) = talk(&scene, "the first");
    let (_, second) = talk(&scene, "the second");
    let _ = scene.create(&["--adopt", first.to_str().unwrap(), "--adopt", &second, "-m", "go on"]).success();
    scene.wait_for(IDLE);
    assert_eq!(scene.history_with("go on"), ["the second", "go on"]);
    let said = scene.env.mngr(["transcript", NAME, "--role", "user"]).success().stdout;
    assert!(said.contains("the first") && said.contains("the second"), "{said}");
}

holds_for!(
    claude,
    Brand::Claude,
    an_adopted_conversation_goes_on_and_the_original_stays,
    the_last_of_several_is_the_one_it_is_in,
);

holds_for!(
    codex,
    Brand::Codex,
    an_adopted_conversation_goes_on_and_the_original_stays,
    the_last_of_several_is_the_one_it_is_in,
);
