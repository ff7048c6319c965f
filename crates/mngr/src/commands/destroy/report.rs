//! What `destroy` did, or would do.

use mngr_model::HostPath;
use mngr_ops::destroy::{Destroyed, Plan, WorkDir};
use mngr_ops::fleet::Agent;
use mngr_ops::hosts::{DestroyedHost, HostPlan, Rescued, RescuedRef};
use mngr_query::sanitize;
use serde_json::{Value, json};

use crate::commands::batch::Batch;
use crate::commands::stop::ended_objects;
use crate::exit_code::ExitCode;
use crate::ui::output::{event, lines};
use crate::ui::{Console, Report};

/// What was destroyed.
pub(super) struct DestroyReport {
    /// The results.
    pub(super) batch: Batch<Destroyed>,
    /// Hosts that are gone.
    pub(super) hosts: Vec<DestroyedHost>,
    /// Agents of hosts that did not answer.
    pub(super) forgotten: Vec<Agent>,
    /// Hosts without agents, which were stopped.
    pub(super) stopped_hosts: Vec<String>,
    /// The exit code they come to.
    pub(super) code: ExitCode,
}

impl Report for DestroyReport {
    fn is_confirmation(&self) -> bool {
        true
    }

    fn human(&self, _console: &Console) -> String {
        let mut text = Vec::new();
        for (agent, destroyed) in &self.batch.done {
            text.push(format!("Destroyed agent: {}", agent.name()));
            text.extend(
                destroyed
                    .deleted_branch
                    .as_ref()
                    .map(|branch| format!("Deleted branch: {}", sanitize(branch))),
            );
        }
        for agent in &self.forgotten {
            let name = sanitize(agent.name().as_str());
            let host = agent.host.info().address();
            text.push(format!("Forgot agent: {name} (host {host} did not answer: the agent may still run there, and is listed again when it does)"));
        }
        for host in &self.hosts {
            text.extend(host.agents.iter().map(|name| format!("Destroyed agent: {name}")));
            text.push(format!("Destroyed host: {}", host.address));
            text.extend(brought(&host.rescued));
        }
        text.extend(self.stopped_hosts.iter().map(|host| {
            format!("Stopped host: {host} (no agent is left on it; `mngr undo` starts it again)")
        }));
        match self.names().len() {
            0 => {}
            count => text.push(format!("Successfully destroyed {count} agent(s)")),
        }
        lines(text)
    }

    fn json(&self) -> Value {
        let names = self.names();
        let hosts: Vec<&str> = self.hosts.iter().map(|host| host.address.as_str()).collect();
        let forgotten: Vec<&str> = self.forgotten.iter().map(|agent| agent.name().as_str()).collect();
        let detail = |(agent, destroyed): &(Agent, Destroyed)| {
            json!({
                "name": agent.name().as_str(),
                "id": destroyed.id.as_str(),
                "host": destroyed.host,
                "work_dir": work_dir_object(&destroyed.work_dir),
                "deleted_branch": destroyed.deleted_branch,
                "preserved": destroyed.preserved.as_ref().map(|path| path.as_str()),
                "ended_commands": ended_objects(agent, &destroyed.commands),
                "notes": destroyed.notes,
            })
        };
        json!({
            "destroyed_agents": names,
            "count": names.len(),
            "destroyed_hosts": hosts,
            "destroyed_host_count": hosts.len(),
            "stopped_hosts": self.stopped_hosts,
            "forgotten_agents": forgotten,
            "failures": self.batch.failure_objects(),
            "failure_count": self.batch.failures.len(),
            "exit_code": self.code.number(),
            "details": self.batch.done.iter().map(detail).collect::<Vec<_>>(),
            "host_details": self.hosts.iter().map(host_object).collect::<Vec<_>>(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("destroy_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.names().into_iter().map(|name| json!({ "name": name })).collect()
    }
}

impl DestroyReport {
    /// The agents that were named, and those that went with their hosts.
    fn names(&self) -> Vec<&str> {
        let named = self.batch.done.iter().map(|(agent, _)| agent.name().as_str());
        let with_hosts = self.hosts.iter().flat_map(|host| &host.agents).map(|name| name.as_str());
        named.chain(with_hosts).collect()
    }
}

/// Where the work of a host that is gone is now.
fn brought(rescued: &Rescued) -> Vec<String> {
    let refs = rescued.refs.iter().map(|held| format!("  commits: {} in {}", held.name, held.repository));
    let bundles = rescued.bundles.iter().map(|path| format!("  commits: {path}"));
    let folders = rescued.folders.iter().map(|path| format!("  uncommitted files: {path}"));
    refs.chain(bundles).chain(folders).map(|line| sanitize(&line).into_owned()).collect()
}

fn host_object(host: &DestroyedHost) -> Value {
    let paths = |paths: &[HostPath]| paths.iter().map(|path| path.to_string()).collect::<Vec<_>>();
    let held = |held: &RescuedRef| json!({ "repository": held.repository.as_str(), "ref": held.name });
    json!({
        "host": host.address,
        "agents": host.agents.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
        "bundles": paths(&host.rescued.bundles),
        "refs": host.rescued.refs.iter().map(held).collect::<Vec<_>>(),
        "files": paths(&host.rescued.folders),
        "notes": host.notes.iter().chain(&host.rescued.notes).collect::<Vec<_>>(),
    })
}

/// What would be destroyed.
pub(super) struct PlanReport {
    /// The plans.
    pub(super) batch: Batch<Plan>,
    /// Those for hosts.
    pub(super) hosts: Vec<HostPlan>,
}

impl Report for PlanReport {
    fn human(&self, _console: &Console) -> String {
        let agents = self.batch.done.iter().map(|(agent, plan)| {
            let force = if plan.needs_force { ", needs --force" } else { "" };
            let branch = plan
                .removed_branch
                .as_ref()
                .map(|branch| format!(", branch {branch} removed"))
                .unwrap_or_default();
            let work_dir = match &plan.work_dir {
                WorkDir::Trashed { from, .. } => format!("{from} goes into the trash"),
                WorkDir::Kept { path, reason } => format!("{path} stays: {reason}"),
                WorkDir::Missing { path } => format!("{path} is gone already"),
            };
            let text =
                format!("Would destroy agent: {} ({}{force}; {work_dir}{branch})", agent.name(), plan.state);
            sanitize(&text).into_owned()
        });
        let hosts = self.hosts.iter().map(|plan| {
            let names: Vec<&str> = plan.agents.iter().map(|name| name.as_str()).collect();
            let agents = if names.is_empty() { "no agents".to_owned() } else { names.join(", ") };
            format!("Would destroy host: {} ({agents}; what is only there comes here first)", plan.address)
        });
        lines(agents.chain(hosts))
    }

    fn json(&self) -> Value {
        let agent = |(agent, plan): &(Agent, Plan)| {
            json!({
                "name": agent.name().as_str(),
                "id": plan.id.as_str(),
                "host": plan.host,
                "offline": agent.is_host_off(),
                "state": plan.state.as_str(),
                "needs_force": plan.needs_force,
                "work_dir": work_dir_object(&plan.work_dir),
                "removed_branch": plan.removed_branch,
            })
        };
        let agents: Vec<Value> = self.batch.done.iter().map(agent).collect();
        let host = |plan: &HostPlan| json!({ "host": plan.address, "agent_count": plan.agents.len() });
        let hosts: Vec<Value> = self.hosts.iter().map(host).collect();
        json!({
            "dry_run": true,
            "count": agents.len(),
            "agents": agents,
            "hosts": hosts,
            "host_count": hosts.len(),
            "failures": self.batch.failure_objects(),
        })
    }

    fn events(&self) -> Vec<Value> {
        vec![event("destroy_result", self.json())]
    }

    fn items(&self) -> Vec<Value> {
        self.batch.names()
    }
}

/// What became of a work dir, for scripts.
pub(crate) fn work_dir_object(work_dir: &WorkDir) -> Value {
    match work_dir {
        WorkDir::Trashed { from, to } => {
            json!({ "path": from.as_str(), "fate": "trashed", "trash": to.as_str() })
        }
        WorkDir::Kept { path, reason } => json!({ "path": path.as_str(), "fate": "kept", "reason": reason }),
        WorkDir::Missing { path } => json!({ "path": path.as_str(), "fate": "missing" }),
    }
}
