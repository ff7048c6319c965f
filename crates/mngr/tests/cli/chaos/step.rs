//! What a client does, as data: a list of steps that follows from the seed, so that parts of it can be done again.

use super::fault::Fault;
use super::random::Random;

/// How many clients there are.
pub(super) const CLIENTS: usize = 3;
/// How many steps each of them does between two quiet moments.
pub(super) const STEPS_AT_ONCE: usize = 12;
/// How often there is such a moment in an episode.
pub(super) const BATCHES: usize = 4;
/// The names of agents. Some begin like others, because tmux takes a beginning for the whole.
pub(super) const NAMES: [&str; 6] = ["a", "ab", "abc", "b", "b1", "b2"];

/// How the files of an agent come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    Worktree,
    Mirror,
    Rsync,
    None,
}

/// Which program plays the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Command,
    Scripted,
}

/// What is done. Numbers are places in [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Create {
        name: usize,
        transfer: Transfer,
        program: Program,
    },
    Clone {
        from: usize,
        name: usize,
    },
    List,
    Message {
        name: usize,
        work: bool,
        keyed: bool,
        start: bool,
    },
    Exec {
        name: usize,
    },
    Capture {
        name: usize,
    },
    Pull {
        name: usize,
        merge: bool,
    },
    PullFile {
        name: usize,
    },
    Push {
        name: usize,
    },
    PushFile {
        name: usize,
    },
    Rename {
        name: usize,
        to: usize,
    },
    Label {
        name: usize,
    },
    Stop {
        name: usize,
    },
    Start {
        name: usize,
        restart: bool,
    },
    Destroy {
        name: usize,
        branch: bool,
    },
    Undo {
        name: usize,
    },
    SnapshotCreate {
        name: usize,
    },
    SnapshotRestore {
        name: usize,
        replace: bool,
    },
    SnapshotDestroy,
    Gc,
    Doctor {
        fix: bool,
    },
    Cleanup {
        name: usize,
    },
    Wait {
        name: usize,
    },
    FilePut {
        name: usize,
    },
    FileGet {
        name: usize,
    },
    Event {
        name: usize,
    },
    Transcript {
        name: usize,
    },
    Explain {
        name: usize,
    },
    MessageTwo {
        name: usize,
        other: usize,
    },
    DestroyTwo {
        name: usize,
        other: usize,
    },
    StopTwo {
        name: usize,
        other: usize,
    },
    StartTwo {
        name: usize,
        other: usize,
    },
    ExecTwo {
        name: usize,
        other: usize,
    },
    CleanupStop {
        name: usize,
    },
    PullAll {
        name: usize,
        stop: bool,
    },
    GitPull {
        name: usize,
    },
    GitPush {
        name: usize,
    },
    Rsync {
        name: usize,
    },
    Archive {
        name: usize,
        back: bool,
    },
    Watch,
    Nonsense,
    /// Somebody writes a file into the work dir of an agent.
    AgentFile {
        name: usize,
    },
    /// Somebody commits there.
    AgentCommit {
        name: usize,
    },
    /// The user writes a file into their repository.
    UserFile,
    /// The user commits there.
    UserCommit,
    /// Something happens to the machine.
    Trouble(Fault),
}

/// One step with all the chance that is in it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Its place in the list of the client.
    pub(super) number: usize,
    pub(super) action: Action,
    /// What happens to the command.
    pub(super) fault: Option<Fault>,
    /// How long after its beginning, in milliseconds.
    pub(super) after: u64,
    /// For choices that depend on what is there.
    pub(super) dice: u64,
}

/// All steps of one client in one episode.
pub(super) fn steps(seed: u64, episode: u64, client: usize, troubles: &[Fault]) -> Vec<Step> {
    let mut random = Random::of(&[seed, episode, client as u64]);
    let mut planned: Vec<Action> = Vec::new();
    let mut next = |number| {
        let action = match planned.pop() {
            Some(action) => action,
            None => action(&mut random, troubles),
        };
        if planned.is_empty() && random.chance(60) {
            planned = sequel(action, &mut random);
        }
        step(number, action, &mut random)
    };
    (0..BATCHES * STEPS_AT_ONCE).map(&mut next).collect()
}

/// What somebody does next, the last first: most faults need several steps to show.
fn sequel(action: Action, random: &mut Random) -> Vec<Action> {
    let message = |name: usize, random: &mut Random| Action::Message {
        name,
        work: random.chance(40),
        keyed: random.chance(30),
        start: random.chance(50),
    };
    match action {
        Action::Trouble(Fault::RemovedSocket) => {
            let mut all: Vec<Action> = (0..3).map(|_| message(name(random), random)).collect();
            all.push(Action::Start { name: name(random), restart: true });
            all
        }
        Action::Trouble(Fault::KilledTmux) => {
            vec![message(name(random), random), Action::Start { name: name(random), restart: false }]
        }
        Action::Create { name, .. } | Action::Clone { name, .. } | Action::Start { name, .. } => {
            vec![message(name, random)]
        }
        Action::Stop { name } => vec![Action::Start { name, restart: false }],
        Action::Destroy { name, .. } => vec![Action::Undo { name }],
        Action::SnapshotCreate { name } => vec![Action::SnapshotRestore { name, replace: random.chance(30) }],
        _ => Vec::new(),
    }
}

/// What is there when a batch begins: an agent for most names, in steps that nothing happens to.
pub(super) fn prelude(seed: u64, episode: u64, batch: usize) -> Vec<Step> {
    let mut random = Random::of(&[seed, episode, batch as u64, 1000]);
    let names: Vec<usize> = (0..NAMES.len()).filter(|_| random.chance(75)).collect();
    names
        .into_iter()
        .map(|name| {
            let Action::Create { transfer, program, .. } = create(&mut random) else { unreachable!() };
            let number = 800 + batch * NAMES.len() + name;
            let action = Action::Create { name, transfer, program };
            Step { number, action, fault: None, after: 0, dice: random.next() }
        })
        .collect()
}

fn step(number: usize, action: Action, random: &mut Random) -> Step {
    let fault = match action {
        // Only an end from outside ends it.
        Action::Watch => Some(random.pick(&[Fault::KilledClient, Fault::Interrupt, Fault::Terminate])),
        _ => (random.chance(35) && runs_the_binary(action)).then(|| random.pick(Fault::OF_CLIENTS)),
    };
    // Most commands take less than a tenth of a second.
    let most = random.weighted(&[(5, 60), (3, 200), (1, 900)]);
    let after = random.below(most);
    Step { number, action, fault, after: after as u64, dice: random.next() }
}

fn runs_the_binary(action: Action) -> bool {
    !matches!(
        action,
        Action::AgentFile { .. }
            | Action::AgentCommit { .. }
            | Action::UserFile
            | Action::UserCommit
            | Action::Trouble(_)
    )
}

fn create(random: &mut Random) -> Action {
    let transfer = random.weighted(&[
        (8, Transfer::Worktree),
        (3, Transfer::Mirror),
        (2, Transfer::Rsync),
        (1, Transfer::None),
    ]);
    // Agents that share a folder must not share the file in which a script keeps its message.
    let program =
        if transfer == Transfer::None || random.chance(50) { Program::Command } else { Program::Scripted };
    Action::Create { name: name(random), transfer, program }
}

fn name(random: &mut Random) -> usize {
    random.below(NAMES.len())
}

fn action(random: &mut Random, troubles: &[Fault]) -> Action {
    type Make = fn(&mut Random) -> Action;
    let makers: &[(usize, Make)] = &[
        (12, create),
        (5, |random| Action::Clone { from: name(random), name: name(random) }),
        (4, |_| Action::List),
        (14, |random| Action::Message {
            name: name(random),
            work: random.chance(40),
            keyed: random.chance(30),
            start: random.chance(50),
        }),
        (6, |random| Action::Exec { name: name(random) }),
        (2, |random| Action::Capture { name: name(random) }),
        (4, |random| Action::Pull { name: name(random), merge: random.chance(40) }),
        (2, |random| Action::PullFile { name: name(random) }),
        (3, |random| Action::Push { name: name(random) }),
        (2, |random| Action::PushFile { name: name(random) }),
        (4, |random| Action::Rename { name: name(random), to: name(random) }),
        (2, |random| Action::Label { name: name(random) }),
        (5, |random| Action::Stop { name: name(random) }),
        (6, |random| Action::Start { name: name(random), restart: random.chance(25) }),
        (8, |random| Action::Destroy { name: name(random), branch: random.chance(30) }),
        (8, |random| Action::Undo { name: name(random) }),
        (4, |random| Action::SnapshotCreate { name: name(random) }),
        (3, |random| Action::SnapshotRestore { name: name(random), replace: random.chance(30) }),
        (1, |_| Action::SnapshotDestroy),
        (2, |_| Action::Gc),
        (2, |random| Action::Doctor { fix: random.chance(50) }),
        (1, |random| Action::Cleanup { name: name(random) }),
        (1, |random| Action::Wait { name: name(random) }),
        (3, |random| Action::FilePut { name: name(random) }),
        (1, |random| Action::FileGet { name: name(random) }),
        (1, |random| Action::Event { name: name(random) }),
        (1, |random| Action::Transcript { name: name(random) }),
        (1, |random| Action::Explain { name: name(random) }),
        (2, |random| Action::MessageTwo { name: name(random), other: name(random) }),
        (2, |random| Action::DestroyTwo { name: name(random), other: name(random) }),
        (1, |random| Action::StopTwo { name: name(random), other: name(random) }),
        (1, |random| Action::StartTwo { name: name(random), other: name(random) }),
        (1, |random| Action::ExecTwo { name: name(random), other: name(random) }),
        (1, |random| Action::CleanupStop { name: name(random) }),
        (1, |random| Action::PullAll { name: name(random), stop: random.chance(50) }),
        (1, |random| Action::GitPull { name: name(random) }),
        (1, |random| Action::GitPush { name: name(random) }),
        (1, |random| Action::Rsync { name: name(random) }),
        (1, |random| Action::Archive { name: name(random), back: random.chance(50) }),
        (1, |_| Action::Watch),
        (1, |_| Action::Nonsense),
        (8, |random| Action::AgentFile { name: name(random) }),
        (6, |random| Action::AgentCommit { name: name(random) }),
        (2, |_| Action::UserFile),
        (3, |_| Action::UserCommit),
    ];
    if !troubles.is_empty() && random.chance(9) {
        return Action::Trouble(random.pick(troubles));
    }
    random.weighted(makers)(random)
}

#[test]
fn the_steps_of_a_seed_are_always_the_same_and_those_of_clients_differ() {
    let troubles = [Fault::KilledTmux, Fault::RemovedSocket];
    let shown = |seed, client| format!("{:?}", steps(seed, 0, client, &troubles));
    assert_eq!(shown(7, 1), shown(7, 1));
    assert_ne!(shown(7, 1), shown(7, 2));
    assert_ne!(shown(7, 1), shown(8, 1));
}
