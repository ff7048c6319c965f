//! Hosts of a provider that can stop them, played by folders of this machine.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use mngr_host::files::{Access, Durability};
use mngr_host::frozen::FrozenFiles;
use mngr_host::host::Host;
use mngr_host::proc::{Cmd, Exit};
use mngr_host::provider::{
    ColdFiles, ColdRead, HostActionError, HostEntry, HostError, HostMaker, HostReport, NewHost, Provider,
    ProviderError, StopReason,
};
use mngr_host::random;
use mngr_host::remote::{Line, RemoteHost, Shells, Terminal};
use mngr_model::facts::Detail;
use mngr_model::host::HostInfo;
use mngr_model::journal::{Header, Operation, Step};
use mngr_model::{AgentId, AgentState, HostId, HostName, HostPath, HostState, ProviderName};
use serde_json::json;

use super::*;
use crate::fleet::Fleet;
use crate::gc::{self, GcOptions};
use crate::journal::Journal;
use crate::remains::{self, OffHost, Place};
use crate::select::SelectError;
use crate::stop::StopOptions;
use crate::testing::TestWorld;

/// Runs everything on this machine.
struct Here;

impl Line for Here {
    fn name(&self) -> &str {
        "box"
    }

    fn command(&self, line: &str, _terminal: Terminal) -> Cmd {
        Cmd::shell(line)
    }

    fn is_broken_by(&self, exit: Exit) -> bool {
        matches!(exit, Exit::Signal(_))
    }

    fn copy_shell(&self) -> Vec<String> {
        vec!["false".to_owned()]
    }

    fn copy_name(&self) -> String {
        "box".to_owned()
    }
}

/// One host, whose state is what it was told to be.
#[derive(Clone)]
struct Lab(Arc<Inner>);

struct Inner {
    name: ProviderName,
    host: Arc<RemoteHost>,
    state: Mutex<Option<HostState>>,
    /// Whether the files of the host can be read to their end while it does not run.
    is_cold_whole: bool,
    /// When it was made, if it was never started.
    unstarted_since: Mutex<Option<Timestamp>>,
}

impl Lab {
    fn new(test: &TestWorld, is_cold_whole: bool) -> Self {
        let name: ProviderName = "lab".parse().unwrap();
        let info = HostInfo {
            id: random::host_id(),
            name: "box".parse().unwrap(),
            provider: name.clone(),
            host_dir: test.world.cwd.join("box"),
            home: None,
        };
        let host = Arc::new(RemoteHost::new(info, Arc::new(Shells::new(Arc::new(Here)))));
        host.files().make_folder(&host.layout().agents()).unwrap();
        Self(Arc::new(Inner {
            name,
            host,
            state: Mutex::new(Some(HostState::Running)),
            is_cold_whole,
            unstarted_since: Mutex::default(),
        }))
    }

    fn id(&self) -> HostId {
        self.0.host.info().id.clone()
    }

    fn state(&self) -> Option<HostState> {
        *self.0.state.lock().unwrap()
    }

    fn become_(&self, state: Option<HostState>) {
        *self.0.state.lock().unwrap() = state;
    }

    /// Writes the record of an agent that was never started.
    fn add(&self, name: &str) -> AgentId {
        let id = random::agent_id();
        let layout = self.0.host.layout().agent(&id);
        let record = json!({
            "id": id, "name": name, "type": "command", "work_dir": "/nowhere", "argv": ["cat"],
            "create_time": "2026-01-01T00:00:00Z", "command": "cat",
        });
        self.0.host.files().make_folder(layout.root()).unwrap();
        let text = record.to_string();
        self.0
            .host
            .files()
            .write(&layout.data(), text.as_bytes(), Access::Shared, Durability::Cached)
            .unwrap();
        id
    }
}

impl Provider for Lab {
    fn name(&self) -> &ProviderName {
        &self.0.name
    }

    fn hosts(&self) -> Result<Vec<Arc<dyn HostEntry>>, ProviderError> {
        let entry = |_| Arc::new(self.clone()) as Arc<dyn HostEntry>;
        Ok(self.state().map(entry).into_iter().collect())
    }

    fn maker(&self) -> Option<&dyn HostMaker> {
        Some(self)
    }
}

impl HostEntry for Lab {
    fn name(&self) -> &HostName {
        &self.0.host.info().name
    }

    fn provider(&self) -> &ProviderName {
        &self.0.name
    }

    fn id(&self) -> Option<HostId> {
        Some(Lab::id(self))
    }

    fn report(&self) -> HostReport {
        let state = self.state().unwrap_or(HostState::Destroyed);
        let reason = (state == HostState::Paused).then(|| "nobody used it".to_owned());
        let unstarted_since = *self.0.unstarted_since.lock().unwrap();
        HostReport { state, reason, unstarted_since, ..HostReport::default() }
    }

    fn cold_files(&self) -> Option<&dyn ColdFiles> {
        Some(self)
    }

    fn open(&self) -> Result<Option<Arc<dyn Host>>, HostError> {
        Ok(Some(self.0.host.clone()))
    }

    fn prepare(&self) -> Result<Arc<dyn Host>, HostError> {
        self.become_(Some(HostState::Running));
        Ok(self.0.host.clone())
    }
}

impl ColdFiles for Lab {
    fn read_below(&self, folder: &HostPath, name: &str) -> Result<ColdRead, HostError> {
        let files = self.0.host.files();
        let mut read = ColdRead { files: Vec::new(), is_whole: self.0.is_cold_whole };
        for entry in files.list(folder).unwrap().into_iter().filter(|_| self.0.is_cold_whole) {
            let bytes = files.read_file(&folder.join(&entry.name).join(name)).unwrap();
            read.files.push((entry.name, bytes));
        }
        Ok(read)
    }

    fn read_tree(&self, folder: &HostPath) -> Result<FrozenFiles, HostError> {
        let files = self.0.host.files();
        let mut read = FrozenFiles::new(folder.clone());
        let mut open = vec![folder.clone()];
        while let Some(path) = open.pop() {
            let stat = files.stat(&path).unwrap().unwrap();
            open.extend(files.list(&path).unwrap_or_default().iter().map(|entry| path.join(&entry.name)));
            read.add(path.clone(), stat, files.read_file(&path).ok());
        }
        if !self.0.is_cold_whole {
            read.cut_short();
        }
        Ok(read)
    }
}

impl HostMaker for Lab {
    fn make(&self, _new: &NewHost) -> Result<Arc<dyn Host>, HostActionError> {
        Ok(self.0.host.clone())
    }

    fn start(&self, _host: &HostId) -> Result<(), HostActionError> {
        self.become_(Some(HostState::Running));
        Ok(())
    }

    fn stop(&self, _host: &HostId, reason: StopReason) -> Result<(), HostActionError> {
        let state = match reason {
            StopReason::Asked => HostState::Stopped,
            StopReason::Idle => HostState::Paused,
        };
        self.become_(Some(state));
        Ok(())
    }

    fn destroy(&self, _host: &HostId) -> Result<(), HostActionError> {
        self.become_(None);
        Ok(())
    }

    fn states(&self) -> Result<BTreeMap<HostId, HostState>, ProviderError> {
        Ok(self.state().map(|state| (Lab::id(self), state)).into_iter().collect())
    }
}

fn world_with(is_cold_whole: bool) -> (TestWorld, Lab) {
    let mut test = TestWorld::new();
    let lab = Lab::new(&test, is_cold_whole);
    test.world.providers.push(Box::new(lab.clone()));
    (test, lab)
}

fn target<'w>(test: &'w TestWorld, lab: &Lab) -> Target<'w> {
    Target::of_host(&test.world, lab.0.host.info()).unwrap()
}

fn names(fleet: &Fleet) -> Vec<&str> {
    fleet.agents.iter().map(|agent| agent.name().as_str()).collect()
}

#[test]
fn agents_of_a_host_that_does_not_run_are_stopped_and_nobody_failed() {
    let (test, lab) = world_with(true);
    lab.add("worker");
    lab.become_(Some(HostState::Paused));
    let fleet = Fleet::look(&test.world, Detail::Basic);
    assert!(fleet.failures.is_empty());
    let agent = &fleet.agents[0];
    assert_eq!((agent.state.state, agent.is_host_off()), (AgentState::Stopped, true));
    assert_eq!(agent.state.evidence, "its host is PAUSED (nobody used it)");
    let host = fleet.hosts.iter().find(|host| host.id == Some(lab.id())).unwrap();
    assert!(host.is_off() && host.seen.is_none());
}

#[test]
fn what_cannot_be_read_of_a_host_that_does_not_run_is_remembered_from_before() {
    let (test, lab) = world_with(false);
    lab.add("worker");
    assert_eq!(names(&Fleet::look(&test.world, Detail::Basic)), ["worker"]);
    lab.become_(Some(HostState::Stopped));
    assert_eq!(names(&Fleet::look(&test.world, Detail::Basic)), ["worker"]);
}

#[test]
fn what_is_kept_of_an_agent_is_read_although_its_host_does_not_run() {
    for is_whole in [true, false] {
        let (test, lab) = world_with(is_whole);
        let id = lab.add("worker");
        Fleet::look(&test.world, Detail::Basic);
        lab.become_(Some(HostState::Stopped));
        let address = "worker@box.lab".parse().unwrap();
        let remains = remains::find(&test.world, &address).unwrap();
        assert_eq!(remains.place, Place::Asleep);
        let data = lab.0.host.layout().agent(&id).data();
        assert_eq!(remains.files().read_file(&data).unwrap(), lab.0.host.files().read_file(&data).unwrap());
        assert!(remains.files().append(&data, b"x", Durability::Cached).is_err());
        assert_eq!(lab.state(), Some(HostState::Stopped), "reading starts nothing");
        let refused = remains::find_with(&test.world, &address, OffHost::Refuse);
        assert!(matches!(refused, Err(SelectError::HostOff { .. })));
    }
}

#[test]
fn a_host_is_only_stopped_for_want_of_agents_when_it_has_none() {
    let (test, lab) = world_with(true);
    let id = lab.add("worker");
    let is_stopped = || stop_if_empty(&test.world, &target(&test, &lab), lab.0.host.as_ref()).unwrap();
    assert!(!is_stopped());
    lab.0.host.files().remove_tree(lab.0.host.layout().agent(&id).root()).unwrap();
    assert!(is_stopped());
    assert_eq!(lab.state(), Some(HostState::Stopped));
}

#[test]
fn a_host_is_stopped_once_and_started_again() {
    let (test, lab) = world_with(true);
    lab.add("worker");
    let options = StopOptions::from_settings(&test.world.settings);
    assert!(!stop(&test.world, &target(&test, &lab), &options).unwrap().was_stopped_already);
    assert!(stop(&test.world, &target(&test, &lab), &options).unwrap().was_stopped_already);
    assert!(!start(&test.world, &target(&test, &lab)).unwrap().was_running);
    assert!(start(&test.world, &target(&test, &lab)).unwrap().was_running);
}

#[test]
fn a_host_of_a_dead_command_goes_unless_somebody_is_there() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum There {
        Nobody,
        ItsAgent,
        AnotherAgent,
        CopiesOfAgents,
    }
    for state in [HostState::Running, HostState::Stopped] {
        for there in [There::Nobody, There::ItsAgent, There::AnotherAgent, There::CopiesOfAgents] {
            let (test, lab) = world_with(true);
            let found = if there == There::Nobody { random::agent_id() } else { lab.add("worker") };
            let header = Header {
                command: None,
                operation: Operation::MakeHost,
                agent_id: if there == There::ItsAgent { found } else { random::agent_id() },
                name: "worker".parse().unwrap(),
                started: test.world.clock.now(),
            };
            let mut journal = Journal::begin(test.host.as_ref(), &header).unwrap();
            let (provider, is_copy) = ("lab".parse().unwrap(), there == There::CopiesOfAgents);
            journal.step(Step::Host { provider, id: lab.id(), is_copy }).unwrap();
            lab.become_(Some(state));
            Fleet::look(&test.world, Detail::Basic);
            assert_eq!(lab.state(), Some(state), "its owner lives");
            drop(journal);
            Fleet::look(&test.world, Detail::Basic);
            let stays = matches!(there, There::ItsAgent | There::AnotherAgent);
            assert_eq!(lab.state().is_some(), stays, "{state:?}, {there:?}");
        }
    }
}

#[test]
fn a_host_of_a_pool_goes_with_its_maker_unless_somebody_is_there() {
    for somebody in [false, true] {
        let (test, lab) = world_with(true);
        if somebody {
            lab.add("other");
        }
        let header = Header {
            operation: Operation::MakeHost,
            agent_id: random::agent_id(),
            name: "worker".parse().unwrap(),
            started: test.world.clock.now(),
            command: None,
        };
        let mut journal = Journal::begin(test.host.as_ref(), &header).unwrap();
        let (provider, pool, address) = ("lab".parse().unwrap(), "crew".to_owned(), "box.lab".to_owned());
        journal.step(Step::PoolHost { pool, provider, id: lab.id(), address }).unwrap();
        Fleet::look(&test.world, Detail::Basic);
        assert!(lab.state().is_some(), "its maker lives");
        drop(journal);
        Fleet::look(&test.world, Detail::Basic);
        assert_eq!(lab.state().is_some(), somebody);
    }
}

#[test]
fn a_host_that_was_never_started_goes_by_gc_when_nobody_can_be_making_it() {
    for (age, goes) in [(SignedDuration::from_hours(2), false), (SignedDuration::from_hours(4), true)] {
        let (test, lab) = world_with(true);
        lab.become_(Some(HostState::Starting));
        *lab.0.unstarted_since.lock().unwrap() = Some(test.world.clock.now() - age);
        let gone = gc::collect(&test.world, &GcOptions::default()).unwrap().removed;
        assert_eq!((lab.state().is_none(), gone.len()), (goes, usize::from(goes)), "{gone:?}");
    }
}

#[test]
fn what_was_seen_of_a_host_is_forgotten_when_its_maker_has_it_no_more() {
    let (test, lab) = world_with(true);
    lab.add("worker");
    Fleet::look(&test.world, Detail::Basic);
    let (files, layout) = (test.host.files(), test.host.layout());
    assert!(crate::known::has_agents(files, &layout, "lab"));
    lab.become_(None);
    Fleet::look(&test.world, Detail::Basic);
    assert!(!crate::known::has_agents(files, &layout, "lab"));
}

#[test]
fn this_machine_cannot_be_stopped() {
    let test = TestWorld::new();
    let here = Target::of_host(&test.world, test.host.info()).unwrap();
    let refused = stop(&test.world, &here, &StopOptions::from_settings(&test.world.settings));
    let told = refused.err().unwrap().to_string();
    assert_eq!(told, "host `localhost.local` cannot be stopped: this provider cannot stop hosts");
}
