//! An agent type as it is in force: a built-in one with everything settings say on top, the user's own types included.
//!
//! Nothing is compiled before a living agent of the type is looked at: most commands look at none.

use std::borrow::Cow;
use std::sync::OnceLock;

use jiff::Timestamp;
use mngr_config::{AgentTypeSettings, InputBoxSettings, ProofFolder};
use mngr_host::files::FilesError;
use mngr_host::host::Host;
use mngr_host::tmux::{Cursor, PaneView};
use mngr_model::delivery::DeliveryLevel;
use mngr_model::facts::{Markers, ProgramFacts};
use mngr_model::layout::AgentLayout;
use mngr_model::quote::sh_join;
use mngr_model::state::StateReport;
use mngr_model::{AgentRecord, HostPath};

use crate::brand::{
    Brand, CommandFate, Composer, ProvisionError, Provisioned, Provisioning, QueuePlace, QueuePlaces,
};
use crate::login::{LoginPlace, MissingLogin};
use crate::manifest::{BuiltIn, Delivery, Draft, Framing, Manifest, Timing};
use crate::screen::{InputBox, Origin, Reading, Rules, ScreenError};

mod proof;

use proof::RecordPattern;

/// An agent type with everything that settings say of it.
#[derive(Debug)]
pub struct Kind {
    base: BuiltIn,
    manifest: Manifest,
    /// The types it is built on with their settings, nearest first.
    chain: Vec<(String, AgentTypeSettings)>,
    compiled: OnceLock<Result<Compiled, ScreenError>>,
}

#[derive(Debug)]
struct Compiled {
    rules: Rules,
    input_box: Option<InputBox>,
    record: RecordPattern,
}

impl Kind {
    /// The built-in type with the settings of the types on top of it, nearest first.
    pub fn new(base: BuiltIn, chain: Vec<(String, AgentTypeSettings)>) -> Self {
        Self { base, manifest: base.manifest(), chain, compiled: OnceLock::new() }
    }

    /// The built-in type it rests on.
    pub fn base(&self) -> BuiltIn {
        self.base
    }

    /// How long it may take to start, whatever is granted.
    pub fn start_seconds(&self) -> f64 {
        self.manifest.start_seconds
    }

    /// How messages reach its agents. A type without code of its own proves what its declarations allow.
    pub fn delivery(&self) -> Delivery {
        let settings = self.chain.iter().rev().map(|(_, settings)| &settings.delivery);
        let mut delivery =
            settings.fold(self.manifest.delivery, |delivery, settings| delivery.with(settings));
        if self.base.brand().is_none() && delivery.framing != Framing::Framed {
            delivery.proves = if self.record_file().is_some() {
                DeliveryLevel::Accepted
            } else if delivery.framing == Framing::Pasted && self.has_input_box() {
                DeliveryLevel::Submitted
            } else {
                DeliveryLevel::Written
            };
        }
        delivery
    }

    /// Whether its input box can be recognized.
    pub fn has_input_box(&self) -> bool {
        let is_read_by_code = || self.base.brand().is_some_and(|brand| brand.read_box("").is_some());
        self.input_boxes().any(|settings| settings.sign.is_some()) || is_read_by_code()
    }

    /// What is in its input box on this screen, which has its colours.
    pub fn read_box(&self, screen: &str) -> Reading {
        let input_box = self.compiled().ok().and_then(|compiled| compiled.input_box.as_ref());
        let reading = input_box.map(|input_box| input_box.read(screen));
        let reading = reading.or_else(|| self.base.brand()?.read_box(screen));
        reading.unwrap_or_else(|| Reading { composer: Composer::NotVisible, typed: String::new() })
    }

    /// The same, where it is known where the cursor is. Programs that keep it in the box at all times are believed it.
    pub fn read_box_at(&self, screen: &str, cursor: Cursor) -> Reading {
        let keeps_cursor = self.draft().is_some_and(Draft::keeps_cursor);
        let input_box = self.compiled().ok().and_then(|compiled| compiled.input_box.as_ref());
        match input_box.filter(|_| keeps_cursor) {
            Some(input_box) => input_box.read_at(screen, cursor),
            None => self.read_box(screen),
        }
    }

    /// What can be done with a text that somebody has typed into its box.
    pub fn draft(&self) -> Option<&Draft> {
        self.manifest.draft.as_ref()
    }

    /// The words right behind the program that make an agent which has run before go on with its conversation, as settings
    /// say; the nearest type that names some decides.
    pub fn resume_args(&self) -> &[String] {
        let declared = self.chain.iter().map(|(_, settings)| settings.resume_args.as_slice());
        declared.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
    }

    /// Whether everything it declares can be used.
    pub fn check(&self) -> Result<(), ScreenError> {
        self.compiled().map(drop).map_err(Clone::clone)
    }

    /// Whether it is a terminal program that settings alone describe.
    pub fn is_declared_tui(&self) -> bool {
        self.base.brand().is_none() && self.has_input_box()
    }

    /// Whether its agents say what they do on their screens alone. No event tells of a change there.
    pub fn is_told_by_screen(&self) -> bool {
        self.base.brand().is_none()
            && self.compiled().is_ok_and(|compiled| compiled.rules.has_unconditional())
    }

    /// Whether what the terminal shows could change this. Looking costs a process, so most states do without.
    pub fn wants_view(&self, report: &StateReport) -> bool {
        let has_rules = !self.manifest.screen.is_empty()
            || self.chain.iter().any(|(_, settings)| !settings.screen.is_empty());
        // Rules that cannot be used are complained about where they would be.
        has_rules && self.compiled().map_or(true, |compiled| compiled.rules.wants_view(report))
    }

    /// What is so, given the other evidence and what the terminal shows; `None` where that could not be seen.
    pub fn judge(&self, mut report: StateReport, view: Option<&PaneView>) -> StateReport {
        match self.compiled() {
            Ok(compiled) => {
                compiled.rules.judge(report, view.map(|view| (view, self.read_box(&view.screen))))
            }
            Err(error) => {
                report.evidence = format!("{}; its screen was not looked at: {error}", report.evidence);
                report
            }
        }
    }

    fn compiled(&self) -> Result<&Compiled, &ScreenError> {
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    fn compile(&self) -> Result<Compiled, ScreenError> {
        let input_box = InputBox::compile(&self.input_boxes().collect::<Vec<_>>())?;
        let own =
            self.chain.iter().map(|(name, settings)| (Origin::Settings(name.clone()), &settings.screen));
        let built_in = (Origin::Manifest(self.manifest.name.clone()), &self.manifest.screen);
        let places: Vec<_> = own.chain([built_in]).collect();
        let pattern = self.chain.iter().find_map(|(_, settings)| settings.proof.pattern.as_ref());
        Ok(Compiled { rules: Rules::compile(&places)?, input_box, record: RecordPattern::compile(pattern)? })
    }

    fn input_boxes(&self) -> impl Iterator<Item = &InputBoxSettings> {
        self.chain.iter().map(|(_, settings)| &settings.input_box).chain([&self.manifest.input_box])
    }

    /// The file in which its program notes what it was told, and the folder it is in.
    fn record_file(&self) -> Option<(&str, ProofFolder)> {
        let file = self.chain.iter().find_map(|(_, settings)| settings.proof.file.as_deref())?;
        let below = self.chain.iter().find_map(|(_, settings)| settings.proof.below);
        Some((file, below.unwrap_or(ProofFolder::WorkDir)))
    }
}

/// What settings declare goes before what the brand's code knows; the rest is the brand's.
impl Brand for Kind {
    fn provision(&self, request: &Provisioning<'_>) -> Result<Provisioned, ProvisionError> {
        self.base.brand().map_or_else(|| Ok(Provisioned::default()), |brand| brand.provision(request))
    }

    fn missing_login(&self, login: &LoginPlace<'_>) -> Result<Option<MissingLogin>, ProvisionError> {
        self.base.brand().map_or(Ok(None), |brand| brand.missing_login(login))
    }

    fn first_question(
        &self,
        login: &LoginPlace<'_>,
        source: &HostPath,
    ) -> Result<Option<ProvisionError>, ProvisionError> {
        self.base.brand().map_or(Ok(None), |brand| brand.first_question(login, source))
    }

    fn beyond_the_set(&self) -> Option<&'static str> {
        self.base.brand()?.beyond_the_set()
    }

    fn conversation_words(
        &self,
        host: &dyn Host,
        agent: &AgentLayout,
        record: &AgentRecord,
    ) -> Result<Vec<String>, FilesError> {
        let known = self.base.brand().map(|brand| brand.conversation_words(host, agent, record));
        let mut words = known.transpose()?.unwrap_or_default();
        // The supervisor's record is as old as the first launch.
        if !self.resume_args().is_empty() && host.files().exists(&agent.process())? {
            words.extend_from_slice(self.resume_args());
        }
        Ok(words)
    }

    fn conversation_at_boot(&self, agent: &AgentLayout, record: &AgentRecord) -> String {
        let known = self.base.brand().map(|brand| brand.conversation_at_boot(agent, record));
        // Who boots has been launched before.
        match self.resume_args() {
            [] => known.unwrap_or_default(),
            words => format!("{}set -- \"$@\" {}\n", known.unwrap_or_default(), sh_join(words)),
        }
    }

    fn state(&self, program: &ProgramFacts, markers: &Markers) -> Option<StateReport> {
        self.base.brand()?.state(program, markers)
    }

    fn is_ready(&self, program: &ProgramFacts, markers: &Markers) -> bool {
        self.base.brand().is_none_or(|brand| brand.is_ready(program, markers))
    }

    fn ready_folder(&self, agent: &AgentLayout) -> HostPath {
        self.base.brand().map_or_else(|| agent.root().clone(), |brand| brand.ready_folder(agent))
    }

    fn composer(&self, screen: &str) -> Composer {
        self.read_box(screen).composer
    }

    fn proof_files(
        &self,
        record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        text: &str,
    ) -> Vec<HostPath> {
        let declared = self.record_file().map(|(file, below)| match below {
            ProofFolder::WorkDir => record.work_dir.join(file),
            ProofFolder::StateDir => agent.root().join(file),
        });
        let known = self.base.brand().map(|brand| brand.proof_files(record, program, agent, text));
        declared.into_iter().chain(known.unwrap_or_default()).collect()
    }

    fn proves(&self, appended: &str, text: &str) -> bool {
        let is_declared = self.record_file().is_some();
        is_declared && self.compiled().is_ok_and(|compiled| compiled.record.shows(appended, text))
            || self.base.brand().is_some_and(|brand| brand.proves(appended, text))
    }

    fn is_taking(&self, appended: &str, text: &str) -> bool {
        self.base.brand().is_some_and(|brand| brand.is_taking(appended, text))
    }

    fn title(&self, program: &ProgramFacts) -> Option<String> {
        self.base.brand()?.title(program)
    }

    fn typed_beginning<'t>(&self, text: &'t str) -> &'t str {
        self.base.brand().map_or("", |brand| brand.typed_beginning(text))
    }

    fn typed<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.base.brand().map_or(Cow::Borrowed(text), |brand| brand.typed(text))
    }

    fn drops(&self, text: &str) -> bool {
        self.base.brand().is_some_and(|brand| brand.drops(text))
    }

    fn is_said_if_unknown(&self, text: &str) -> bool {
        self.base.brand().is_some_and(|brand| brand.is_said_if_unknown(text))
    }

    fn queue(
        &self,
        record: &AgentRecord,
        program: Option<&ProgramFacts>,
        agent: &AgentLayout,
        now: Timestamp,
    ) -> Option<QueuePlaces> {
        self.base.brand()?.queue(record, program, agent, now)
    }

    fn place_of(&self, record: &str, text: &str, since: Timestamp) -> QueuePlace {
        self.base.brand().map_or(QueuePlace::Begun, |brand| brand.place_of(record, text, since))
    }

    fn is_command(&self, text: &str) -> bool {
        self.base.brand().is_some_and(|brand| brand.is_command(text))
    }

    fn command_fate(&self, appended: &str, text: &str) -> Option<CommandFate> {
        self.base.brand()?.command_fate(appended, text)
    }

    fn timing(&self) -> Timing {
        self.delivery().timing
    }
}

#[cfg(test)]
mod tests;
