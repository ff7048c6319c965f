//! What is copied, and where the programs look for it.

use mngr_host::local::LocalFiles;

use super::*;
use crate::conversation::of_agent;

const ONE: &str = "0aaa0000-1111-4222-8333-444444444444";
const TWO: &str = "0bbb0000-1111-4222-8333-444444444444";

fn put(path: &HostPath, text: &str) {
    LocalFiles.make_folder(&path.parent().unwrap()).unwrap();
    write(&LocalFiles, path, text.as_bytes()).unwrap();
}

fn conversation(brand: Brand, root: &HostPath, name: &str, id: &str, text: &str) -> Conversation {
    let path = root.join(name);
    put(&path, text);
    Conversation { brand, id: id.to_owned(), path }
}

#[test]
fn claude_goes_on_with_the_last_and_keeps_what_belongs_to_each() {
    let dir = tempfile::tempdir().unwrap();
    let root = HostPath::new(dir.path().to_str().unwrap());
    let one = conversation(Brand::Claude, &root, &format!("{ONE}.jsonl"), ONE, "{\"a\":1}\n{\"half");
    let two = conversation(Brand::Claude, &root, "talk.jsonl", TWO, "{\"b\":1}\n{\"c\":1}");
    put(&root.join(ONE).join("subagents/agent-1.jsonl"), "{}\n");
    let agent = AgentLayout::new(root.join("state"));
    carry(&LocalFiles, &[one, two], &LocalFiles, &agent, &HostPath::new("/w_1")).unwrap();
    let folder = root.join("state/plugin/claude/anthropic/projects/-w-1");
    let text = |path: HostPath| LocalFiles.read_text(&path).unwrap();
    assert_eq!(text(folder.join(&format!("{ONE}.jsonl"))), "{\"a\":1}\n", "only whole lines");
    assert_eq!(text(folder.join(&format!("{TWO}.jsonl"))), "{\"b\":1}\n{\"c\":1}");
    assert_eq!(text(folder.join(ONE).join("subagents/agent-1.jsonl")), "{}\n");
    let found = of_agent(&LocalFiles, agent.root(), Brand::Claude).unwrap();
    assert_eq!(found.iter().map(|found| found.id.as_str()).collect::<Vec<_>>(), [ONE, TWO]);
    put(&agent.root().join(claude::SESSION), ONE);
    let found = of_agent(&LocalFiles, agent.root(), Brand::Claude).unwrap();
    assert_eq!(found.last().unwrap().id, ONE, "the one it is in now is the last");
}

#[test]
fn codex_finds_its_rollout_by_day_thread_and_link() {
    let dir = tempfile::tempdir().unwrap();
    let root = HostPath::new(dir.path().canonicalize().unwrap().to_str().unwrap());
    let name = format!("rollout-2026-11-15T12-30-28-{ONE}.jsonl");
    let one = conversation(Brand::Codex, &root, &name, ONE, "{\"a\":1}\n");
    let agent = AgentLayout::new(root.join("state"));
    carry(&LocalFiles, &[one], &LocalFiles, &agent, &HostPath::new("/w")).unwrap();
    let copy = agent.root().join(codex::SESSIONS).join("2026/11/15").join(&name);
    assert_eq!(LocalFiles.canonical(&agent.root().join(codex::ROLLOUT)).unwrap(), copy);
    let found = of_agent(&LocalFiles, agent.root(), Brand::Codex).unwrap();
    assert_eq!(found, [Conversation { brand: Brand::Codex, id: ONE.to_owned(), path: copy }]);
}
