//! Which conversation is meant.

use std::collections::BTreeMap;

use mngr_host::files::{Access, Durability};
use mngr_host::local::LocalFiles;

use super::*;

const CLAUDE: &str = "0aaa0000-1111-4222-8333-444444444444";
const OTHER: &str = "0aaa0000-9999-4222-8333-444444444444";
const CODEX: &str = "01a1df30-02d5-7030-b8fb-7ba2773cd87c";

struct Home {
    _dir: tempfile::TempDir,
    path: HostPath,
    vars: BTreeMap<String, String>,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = HostPath::new(dir.path().to_str().unwrap());
        Self { _dir: dir, path, vars: BTreeMap::new() }
    }

    fn put(&self, path: &str, text: &str) -> HostPath {
        let path = self.path.join(path);
        LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
        LocalFiles.write(&path, text.as_bytes(), Access::Private, Durability::Cached).unwrap();
        path
    }

    fn find(&self, wanted: &str, brand: Option<Brand>) -> Result<Conversation, AdoptError> {
        let user = UserSide { files: &LocalFiles, home: Some(&self.path), vars: &self.vars };
        find(&user, &self.path, wanted, brand)
    }
}

fn filled() -> Home {
    let home = Home::new();
    let _ = home.put(&format!(".claude/projects/-w/{CLAUDE}.jsonl"), "");
    let _ = home.put(&format!(".claude/projects/-w/{OTHER}.jsonl"), "");
    let _ = home.put(&format!(".codex/sessions/2026/11/15/rollout-2026-11-15T12-30-28-{CODEX}.jsonl"), "");
    home
}

#[test]
fn an_id_or_the_beginning_of_one_finds_it_among_both_brands() {
    let home = filled();
    assert_eq!(home.find(CLAUDE, None).unwrap().brand, Brand::Claude);
    assert_eq!(home.find("0aaa0000-9", None).unwrap().id, OTHER);
    assert_eq!(home.find("01a1", None).unwrap().brand, Brand::Codex);
    assert!(
        matches!(home.find("0aaa", None), Err(AdoptError::Ambiguous { candidates, .. }) if candidates.len() == 2)
    );
    assert!(matches!(home.find("0aa", None), Err(AdoptError::NotFound { .. })), "too short to be meant");
    assert!(matches!(home.find(CODEX, Some(Brand::Claude)), Err(AdoptError::NotFound { .. })));
    assert!(matches!(home.find("ses_4f0c", None), Err(AdoptError::NotCopyable { .. })));
}

#[test]
fn the_same_id_in_two_projects_is_ambiguous() {
    let home = filled();
    let _ = home.put(&format!(".claude/projects/-v/{CLAUDE}.jsonl"), "");
    assert!(matches!(home.find(CLAUDE, None), Err(AdoptError::Ambiguous { .. })));
}

#[test]
fn a_file_says_itself_whose_it_is() {
    let home = Home::new();
    let claude = format!("{{\"type\":\"summary\"}}\n{{\"sessionId\":\"{CLAUDE}\"}}\n");
    let path = home.put("talk.jsonl", &claude);
    let found = home.find("./talk.jsonl", None).unwrap();
    assert_eq!(found, Conversation { brand: Brand::Claude, id: CLAUDE.to_owned(), path: path.clone() });
    assert_eq!(home.find("~/talk.jsonl", None).unwrap().path, path);
    let codex = format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{CODEX}\"}}}}\n");
    let path = home.put("x/talk", &codex);
    assert_eq!(home.find(path.as_str(), None).unwrap().brand, Brand::Codex);
    let _ = home.put("evil.jsonl", "{\"sessionId\":\"../../../../../../../../../../../tmp/x\"}\n");
    assert!(matches!(home.find("evil.jsonl", None), Err(AdoptError::NotOne { .. })));
    assert!(matches!(home.find("x/none.jsonl", None), Err(AdoptError::NoFile { .. })));
}
