//! Answering what an agent asks permission for.

use serde_json::{Value, json};

use super::rpc::Client;
use super::threads::{self, APPROVAL};
use super::{PATIENCE, Server, ServerError};

/// What somebody decides about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may do that, this once.
    Approve,
    /// It may not, and goes on without.
    Deny,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// What the agent had asked for, in its own words. Untrusted text.
    pub what: String,
    /// How many more approvals are open.
    pub left: usize,
}

/// A request of the server that waits for an approval.
struct Open {
    id: Value,
    method: String,
    params: Value,
}

impl Server<'_> {
    /// Answers the oldest open approval of the agent and its sub-agents.
    pub fn answer(&self, decision: Decision) -> Result<Answered, ServerError> {
        let mut client = self.connect(PATIENCE)?;
        let loaded = threads::loaded(&mut client, &self.kept_threads())?;
        let asking: Vec<String> = loaded
            .into_iter()
            .filter(|(_, thread)| thread.as_ref().is_some_and(|thread| thread.status.waits_on(APPROVAL)))
            .map(|(id, _)| id)
            .collect();
        if asking.is_empty() {
            return Err(ServerError::NothingOpen);
        }
        let mut open = open_requests(&mut client, &asking)?;
        open.sort_by_key(|request| request.params.get("startedAtMs").and_then(Value::as_i64));
        let left = open.len() - 1;
        let request = open.swap_remove(0);
        let result = request.result(decision).ok_or(ServerError::NoYesOrNo)?;
        client.answer(&request.id, &result)?;
        wait_until_resolved(&mut client, &request.id)?;
        Ok(Answered { what: request.what(), left })
    }
}

/// Whoever joins a conversation is asked what is open there. Waits until each of these has asked.
fn open_requests(client: &mut Client, threads: &[String]) -> Result<Vec<Open>, ServerError> {
    let join = |id: &String| ("thread/resume", json!({ "threadId": id, "excludeTurns": true }));
    for answer in client.call_all(threads.iter().map(join).collect())? {
        answer?;
    }
    let mut open: Vec<Open> = Vec::new();
    let thread_of =
        |request: &Open| request.params.get("threadId").and_then(Value::as_str).map(str::to_owned);
    while !threads.iter().all(|id| open.iter().any(|request| thread_of(request).as_ref() == Some(id))) {
        let mut message = client.next()?;
        let (Some(id), Some(method)) = (message.get("id").cloned(), message.get("method")) else { continue };
        let method = method.as_str().unwrap_or_default().to_owned();
        if is_approval(&method) {
            let params = message.get_mut("params").map(Value::take).unwrap_or_default();
            open.push(Open { id, method, params });
        }
    }
    Ok(open)
}

fn is_approval(method: &str) -> bool {
    method.ends_with("/requestApproval") || method == "mcpServer/elicitation/request"
}

fn wait_until_resolved(client: &mut Client, id: &Value) -> Result<(), ServerError> {
    loop {
        let message = client.next()?;
        let is_resolved = message.get("method").and_then(Value::as_str) == Some("serverRequest/resolved");
        if is_resolved && message.pointer("/params/requestId") == Some(id) {
            return Ok(());
        }
    }
}

impl Open {
    /// What is answered; `None` where yes and no are no answers.
    fn result(&self, decision: Decision) -> Option<Value> {
        let word = match decision {
            Decision::Approve => "accept",
            Decision::Deny => "decline",
        };
        match self.method.as_str() {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                Some(json!({ "decision": word }))
            }
            "item/permissions/requestApproval" => {
                let granted = match decision {
                    Decision::Approve => self.params.get("permissions").cloned()?,
                    Decision::Deny => json!({}),
                };
                Some(json!({ "permissions": granted, "scope": "turn" }))
            }
            // A form wants more than a word; to decline it needs none.
            "mcpServer/elicitation/request" if decision == Decision::Deny => {
                Some(json!({ "action": word, "content": null, "_meta": null }))
            }
            _ => None,
        }
    }

    fn what(&self) -> String {
        let text = |key: &str| self.params.get(key).and_then(Value::as_str).map(str::to_owned);
        let kind = match self.method.as_str() {
            "item/fileChange/requestApproval" => "to change files",
            "item/permissions/requestApproval" => "further permissions",
            "mcpServer/elicitation/request" => "an answer to a tool server",
            _ => "to run a command",
        };
        text("command")
            .or_else(|| text("reason"))
            .or_else(|| text("message"))
            .unwrap_or_else(|| kind.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(method: &str, params: Value) -> Open {
        Open { id: json!(0), method: method.to_owned(), params }
    }

    #[test]
    fn each_kind_of_request_has_its_own_answer() {
        let command = open("item/commandExecution/requestApproval", json!({ "command": "touch x" }));
        assert_eq!(command.result(Decision::Approve), Some(json!({ "decision": "accept" })));
        assert_eq!(command.result(Decision::Deny), Some(json!({ "decision": "decline" })));
        assert_eq!(command.what(), "touch x");
        let more = open("item/permissions/requestApproval", json!({ "permissions": { "network": true } }));
        let granted = json!({ "permissions": { "network": true }, "scope": "turn" });
        assert_eq!(more.result(Decision::Approve), Some(granted));
        assert_eq!(more.result(Decision::Deny), Some(json!({ "permissions": {}, "scope": "turn" })));
        let form = open("mcpServer/elicitation/request", json!({ "message": "Name?" }));
        assert_eq!(form.result(Decision::Approve), None);
        assert!(form.result(Decision::Deny).is_some());
        assert_eq!(open("item/tool/somethingNew", json!({})).result(Decision::Approve), None);
    }
}
