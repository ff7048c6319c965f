//! The oracle finds what it has to find: each rule is broken on purpose.

use super::*;
use crate::chaos::book::Book;

const ONE: &str = "agent-11111111111111111111111111111111";
const TWO: &str = "agent-22222222222222222222222222222222";

fn done(intent: Intent, args: &[&str], code: i32) -> Done {
    Done {
        client: 0,
        number: 0,
        args: args.iter().map(|word| (*word).to_owned()).collect(),
        intent,
        began: 1_000,
        ended: 1_200,
        ending: Ending::Code(code),
        fault: None,
        stdout: String::new(),
        stderr: String::new(),
    }
}

fn create(id: &str, name: &str, code: i32) -> Done {
    let intent =
        Intent::Create { id: id.to_owned(), name: name.to_owned(), branch: Some(format!("c/{name}")) };
    done(intent, &["create", name], code)
}

fn message(name: &str, token: &str, code: i32) -> Done {
    let intent = Intent::Message { name: name.to_owned(), token: token.to_owned() };
    done(intent, &["message", name], code)
}

fn listed(name: &str) -> Listed {
    let (state, work_dir, host) = ("RUNNING".to_owned(), "/w".into(), "localhost".to_owned());
    Listed { name: name.to_owned(), state, work_dir, path: "/w".to_owned(), host }
}

/// Two agents that were created, are listed and have their folders.
fn two() -> (Book, Facts, Quiet) {
    let book = Book { done: vec![create(ONE, "a", 0), create(TWO, "b", 0)], ..Book::default() };
    let mut facts = Facts::default();
    facts.add(&format!("entry agents {ONE}\nentry agents {TWO}\n"));
    let listed = [(ONE.to_owned(), listed("a")), (TWO.to_owned(), listed("b"))];
    (book, facts, Quiet { listed: listed.into(), trash: BTreeMap::new() })
}

/// The rules that are found broken.
fn rules((mut book, facts, quiet): (Book, Facts, Quiet)) -> Vec<&'static str> {
    judge_batch(&mut book, &facts, &quiet).iter().map(|violation| violation.rule).collect()
}

fn with(change: impl FnOnce(&mut Book, &mut Facts, &mut Quiet)) -> (Book, Facts, Quiet) {
    let (mut book, mut facts, mut quiet) = two();
    change(&mut book, &mut facts, &mut quiet);
    (book, facts, quiet)
}

#[test]
fn a_world_in_order_breaks_no_rule() {
    assert_eq!(rules(two()), [""; 0]);
    let busy = with(|book, facts, _| {
        book.done.push(message("a", "t1", 0));
        book.done.push(message("b", "t2", 1));
        book.done.push(done(Intent::Write { token: "t3".into() }, &["exec", "a"], 0));
        book.commits.insert("abc".into());
        facts.add(&format!("got {ONE} t1 hello\nfile t3\ncommit abc\n"));
    });
    assert_eq!(rules(busy), [""; 0]);
}

#[test]
fn lost_work_is_found() {
    let file = with(|book, _, _| book.writes.extend(["t1".into()]));
    assert_eq!(rules(file), ["file lost"]);
    let commit = with(|book, _, _| book.commits.extend(["abc".into()]));
    assert_eq!(rules(commit), ["commit lost"]);
    let of_an_agent = with(|_, facts, _| facts.add(&format!("wrote {ONE} abc t1\nfile t1\n")));
    assert_eq!(rules(of_an_agent), ["commit lost"]);
    let by_exec = with(|book, _, _| {
        book.done.push(done(Intent::Write { token: "t3".into() }, &["exec", "a"], 0));
    });
    assert_eq!(rules(by_exec), ["file lost"]);
}

#[test]
fn messages_that_are_lost_doubled_or_in_another_agent_are_found() {
    let lost = with(|book, _, _| book.done.push(message("a", "t1", 0)));
    assert_eq!(rules(lost), ["message lost"]);
    let doubled = with(|book, facts, _| {
        book.done.push(message("a", "t1", 1));
        facts.add(&format!("got {ONE} t1 hello\ngot {ONE} t1 hello\n"));
    });
    assert_eq!(rules(doubled), ["message doubled"]);
    let for_two = with(|book, facts, _| {
        book.done.extend([message("a", "t1", 0), message("b", "t1", 0)]);
        facts.add(&format!("got {ONE} t1 hello\n"));
    });
    assert_eq!(rules(for_two), ["message lost"], "one of two has it");
    let wrong = with(|book, facts, _| {
        book.done.push(message("a", "t1", 0));
        facts.add(&format!("got {TWO} t1 hello\n"));
    });
    assert_eq!(rules(wrong), ["wrong agent"]);
}

#[test]
fn a_message_may_only_be_missing_when_something_happened_to_its_agent() {
    let halt = |name: &str| done(Intent::Halt { name: name.to_owned() }, &["stop", name], 0);
    let stopped = with(|book, _, _| book.done.extend([message("a", "t1", 0), halt("a")]));
    assert_eq!(rules(stopped), [""; 0]);
    let other = with(|book, _, _| book.done.extend([message("a", "t1", 0), halt("b")]));
    assert_eq!(rules(other), ["message lost"]);
    let killed = with(|book, _, _| {
        book.done.push(message("a", "t1", 0));
        book.troubles.push((Fault::KilledTmux, 1_100, 1_101));
    });
    assert_eq!(rules(killed), [""; 0]);
    let before = with(|book, _, _| {
        book.done.push(message("a", "t1", 0));
        book.troubles.push((Fault::KilledTmux, 10, 20));
    });
    assert_eq!(rules(before), ["message lost"]);
}

#[test]
fn agents_that_are_missing_or_left_over_are_found() {
    let missing = with(|_, facts, quiet| {
        quiet.listed.remove(ONE);
        facts.entries.clear();
        facts.add(&format!("entry agents {TWO}\n"));
    });
    assert_eq!(rules(missing), ["agent lost"]);
    let destroyed_by_nobody = with(|_, facts, quiet| {
        quiet.listed.remove(ONE);
        quiet.trash.insert(ONE.to_owned(), "a".to_owned());
        facts.entries.clear();
        facts.add(&format!("entry agents {TWO}\nentry trash {ONE}\n"));
    });
    assert_eq!(rules(destroyed_by_nobody), ["agent lost"]);
    let failed_but_there = with(|book, _, _| book.done[0].ending = Ending::Code(130));
    let found = rules(failed_but_there);
    assert!(found.contains(&"failed create"), "{found:?}");
    let stray = with(|_, facts, _| facts.add("entry agents agent-3\nentry trash agent-4\n"));
    assert_eq!(rules(stray), ["stray folder", "stray folder"]);
    let branch = with(|book, facts, quiet| {
        book.done[0].ending = Ending::Code(1);
        quiet.listed.remove(ONE);
        facts.entries.clear();
        facts.add(&format!("entry agents {TWO}\nref /w/.git refs/heads/c/a\n"));
    });
    assert_eq!(rules(branch), ["failed create"]);
    let trash = with(|book, _, _| book.trash.extend([("agent-5".into(), "c".into())]));
    assert_eq!(rules(trash), ["trash lost"]);
}

#[test]
fn locks_journals_and_broken_repositories_are_found() {
    let left = with(|_, facts, _| {
        facts.add("lock /w/.git/packed-refs.lock\nentry journal x.jsonl\nfsck /w missing blob\n")
    });
    assert_eq!(rules(left), ["git fsck", "lock left", "journal left"]);
    let of_a_killed_agent = with(|book, facts, _| {
        facts.add("lock /w/.git/worktrees/a-1/index.lock\nlock /w/.git/index.lock\n");
        book.troubles.push((Fault::KilledTmux, 10, 20));
    });
    assert_eq!(rules(of_a_killed_agent), ["lock left"]);
}

#[test]
fn what_is_left_at_the_end_is_found() {
    let mut facts = Facts::default();
    let in_order = "worktree /w/.git /w\nworktree /w/.git /h/trash/agent-1/work\nworktree /h/copies/x/.git /h/copies/x\n";
    facts.add(in_order);
    assert_eq!(judge_end(&Book::default(), &facts, &Quiet::default(), "/w"), []);
    facts.add("entry copies b-1\nworktree /h/copies/b-1/.git /h/trash/agent-2/work\n");
    assert_eq!(judge_end(&Book::default(), &facts, &Quiet::default(), "/w"), []);
    facts.add("worktree /w/.git /h/worktrees/a-1\nsession mngr-a\nentry worktrees a-1\nprunable /w/.git x prunable\n");
    let listed = [(ONE.to_owned(), listed("a"))].into();
    assert_eq!(judge_end(&Book::default(), &facts, &Quiet { listed, ..Quiet::default() }, "/w").len(), 5);
}

#[test]
fn endings_that_no_page_tells_of_are_found() {
    let rules = |done: &Done| judge(done).iter().map(|violation| violation.rule).collect::<Vec<_>>();
    let plain = |args: &[&str], code| done(Intent::Other, args, code);
    assert_eq!(rules(&plain(&["list"], 0)), [""; 0]);
    assert_eq!(rules(&plain(&["list"], 101)), ["exit code"]);
    assert_eq!(rules(&plain(&["list"], 130)), ["exit code"], "nobody interrupted it");
    let interrupted = Done { fault: Some(Fault::Interrupt), ..plain(&["list"], 130) };
    assert_eq!(rules(&interrupted), [""; 0]);
    assert_eq!(rules(&plain(&["exec", "a", "--", "false"], 1)), [""; 0]);
    assert_eq!(rules(&plain(&["exec", "a", "--", "true"], 255)), ["exit code"]);
    let killed = Done { ending: Ending::Signal(6), ..plain(&["list"], 0) };
    assert_eq!(rules(&killed), ["exit code"]);
    let slow = Done { ended: 40_000, ..plain(&["gc"], 0) };
    assert_eq!(rules(&slow), ["time"]);
    let panicked = Done { stderr: "thread 'main' panicked at src/x.rs".into(), ..plain(&["gc"], 1) };
    assert_eq!(rules(&panicked), ["panic"]);
    assert_eq!(rules(&plain(&["list", "--format", "json"], 0)), ["json"]);
}
