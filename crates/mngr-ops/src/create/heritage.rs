//! What a new agent takes over besides files: the type and the conversations of the agent it is made from, or
//! conversations of the user's own. Spawns nothing, but opencode itself for a conversation of its own.

use mngr_agents::conversation::{self, AdoptError, Conversation};
use mngr_agents::manifest::BuiltIn;
use mngr_agents::opencode;
use mngr_agents::ordinary::read_ordinary;
use mngr_agents::transcript::Brand;
use mngr_agents::user::UserSide;
use mngr_host::host::Host;
use mngr_model::address::Location;
use mngr_model::facts::Detail;
use mngr_model::layout::AgentLayout;
use mngr_model::title::reported_title;
use mngr_model::{AgentRecord, AgentTypeName, HostPath};

use super::agent_type;
use super::error::CreateError;
use super::proof;
use super::request::{CreateRequest, Proof, SourceSpec};
use super::reuse::awake;
use crate::fleet::{Agent, Fleet};
use crate::remains::Remains;
use crate::snapshot;
use crate::text::error_chain;
use crate::world::World;

/// The agent another one is made from, alive or in a snapshot.
pub(super) struct Ancestor {
    /// Its state folder.
    pub(super) remains: Remains,
    /// Its record.
    pub(super) record: AgentRecord,
    /// Where its files are.
    pub(super) files: HostPath,
}

impl Ancestor {
    fn of(agent: &Agent) -> Self {
        let record = agent.facts.record.clone();
        Self { remains: Remains::of(agent), files: record.work_dir.clone(), record }
    }
}

impl Ancestor {
    /// What it was first told to do, or says that it does.
    fn first_words(&self) -> Option<String> {
        let reported = || {
            let path = AgentLayout::new(self.remains.state.clone()).status_title();
            let text = read_ordinary(self.remains.files(), &path).ok()??;
            reported_title(&String::from_utf8_lossy(&text))
        };
        self.record.first_words().or_else(reported)
    }
}

/// What there is to take over.
#[derive(Default)]
pub(super) struct Heritage {
    /// The agent it is made from.
    ancestor: Option<Ancestor>,
    /// Conversations the user named; the last one is gone on with.
    adopted: Vec<Conversation>,
}

/// Finds everything that the request names. Fails before anything is made.
pub(super) fn find(world: &World, request: &CreateRequest) -> Result<Heritage, CreateError> {
    let brand = request.agent_type.as_ref().and_then(|name| agent_type::base_of(&world.settings, name));
    let brand = brand.and_then(brand_of);
    let user = UserSide { files: world.client.files(), home: world.home.as_ref(), vars: &world.vars };
    let adopted = request.adopt.iter().map(|wanted| conversation::find(&user, &world.cwd, wanted, brand));
    let adopted = adopted.collect::<Result<Vec<_>, AdoptError>>()?;
    let ancestor = match &request.source {
        SourceSpec::Location(Location::Agent { address, path: None }) => {
            let fleet = Fleet::look(world, Detail::Basic);
            Some(Ancestor::of(&awake(world, fleet.one(address)?)?))
        }
        SourceSpec::Snapshot { host, id } => {
            let kept = snapshot::open(world, host, id).map_err(Box::new)?;
            Some(Ancestor { files: kept.files(), remains: kept.remains(), record: kept.manifest.agent })
        }
        _ => None,
    };
    Ok(Heritage { ancestor, adopted })
}

/// The brand whose conversations an agent of this type can go on with.
fn brand_of(base: BuiltIn) -> Option<Brand> {
    base.brand().and_then(|_| Brand::of_type(base.name()))
}

impl Heritage {
    /// Whether there is nothing to take over.
    pub(super) fn is_empty(&self) -> bool {
        self.ancestor.is_none() && self.adopted.is_empty()
    }

    /// The agent it is made from.
    pub(super) fn ancestor(&self) -> Option<&Ancestor> {
        self.ancestor.as_ref()
    }

    /// The type that follows when none is given: that of a conversation, else that of the agent.
    pub(super) fn agent_type(&self, world: &World) -> Option<AgentTypeName> {
        if let Some(last) = self.adopted.last() {
            let name = last.brand.name();
            world.reporter.note(&format!("no type was given: using `{name}`, whose conversation it is"));
            return name.parse().ok();
        }
        self.ancestor.as_ref().map(|ancestor| ancestor.record.agent_type.clone())
    }

    /// The words the agent it is made from runs, for a type that has none of its own.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        self.ancestor.as_ref().map(|ancestor| ancestor.record.argv.clone()).filter(|words| !words.is_empty())
    }

    /// What the agent it is made from was given after `--`.
    pub(super) fn args(&self) -> Vec<String> {
        self.ancestor.as_ref().map(|ancestor| ancestor.record.agent_args.clone()).unwrap_or_default()
    }

    /// What the conversation that is gone on with began with.
    pub(super) fn first_words(&self, world: &World) -> Option<String> {
        match self.adopted.last() {
            Some(last) => conversation::first_words(world.client.files(), last),
            None => self.ancestor.as_ref().and_then(Ancestor::first_words),
        }
    }

    /// Fails when an agent of this type cannot go on with what the user named.
    pub(super) fn check(&self, base: BuiltIn, agent_type: &AgentTypeName) -> Result<(), AdoptError> {
        match self.adopted.iter().find(|conversation| Some(conversation.brand) != brand_of(base)) {
            None => Ok(()),
            Some(other) => Err(AdoptError::OtherBrand {
                id: other.id.clone(),
                brand: other.brand,
                agent_type: agent_type.to_string(),
            }),
        }
    }

    /// Copies the conversations to an agent of this type, which goes on with the last one. What cannot be carried over is
    /// said.
    pub(super) fn hand_over(
        &self,
        world: &World,
        base: BuiltIn,
        host: &dyn Host,
        agent: &AgentLayout,
        work_dir: &HostPath,
        proof: Proof,
    ) -> Result<(), CreateError> {
        if !self.adopted.is_empty() {
            let files = world.client.files();
            conversation::carry(files, &self.adopted, host.files(), agent, work_dir)?;
            return match brand_of(base) {
                Some(brand) => Ok(conversation::note_adopted(host.files(), agent.root(), brand)?),
                None => Ok(()),
            };
        }
        let Some(parent) = self.ancestor.as_ref().map(|ancestor| &ancestor.remains) else { return Ok(()) };
        let Some(brand) = parent.brand()? else { return Ok(()) };
        let not_carried = |why: &str| {
            let name = &parent.name;
            if proof == Proof::Required {
                return Err(CreateError::ConversationLeft { name: name.clone(), why: why.to_owned() });
            }
            world.reporter.note(&format!("the conversation of `{name}` is not carried over: {why}"));
            Ok(())
        };
        if Some(brand) != brand_of(base) {
            return not_carried(&format!("it is one of {}", brand.program()));
        }
        if brand == Brand::Opencode {
            world.reporter.progress("opencode hands the conversation over");
            let theirs = AgentLayout::new(parent.state.clone());
            return match opencode::carry((parent.host.as_ref(), &theirs), (host, agent), work_dir) {
                Ok(()) => Ok(()),
                Err(error) => not_carried(&error_chain(&error)),
            };
        }
        let files = parent.host.files();
        let conversations = conversation::of_agent(files, &parent.state, brand)?;
        conversation::carry(files, &conversations, host.files(), agent, work_dir)?;
        if proof == Proof::Required {
            proof::conversations(&conversations, brand, host, agent)?;
        }
        Ok(())
    }
}
