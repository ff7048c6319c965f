//! Adding up: tokens, and money where prices are known, apart by who pays. Pure.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use mngr_agents::transcript::{Spend, SpendKind, Tokens};
use mngr_agents::usage::{Billing, PriceOrigin, Prices, Uncounted};
use serde::Serialize;

use super::meter::Meter;

/// The group of what belongs to none.
const NONE: &str = "(none)";

/// What one sum is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupBy {
    /// An agent.
    Agent,
    /// All agents with the same value of this label.
    Label(String),
    /// A day, in UTC.
    Day,
    /// A model.
    Model,
}

/// What was used by one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sum {
    /// The agent, label value, day or model.
    pub group: String,
    /// The agent's id, where the group is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// How many answers of models.
    pub answers: u64,
    /// Tokens of requests beside the conversation, such as compaction and titles; they are among the others.
    pub side_tokens: u64,
    /// What they took.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// All tokens.
    pub total_tokens: u64,
    /// US dollars charged by the token.
    pub api_cost_usd: f64,
    /// US dollars that a subscription has covered.
    pub subscription_cost_usd: f64,
    /// US dollars of which it cannot be told who pays them.
    pub unknown_cost_usd: f64,
    /// All US dollars.
    pub total_cost_usd: f64,
    /// Tokens of models without a price, for which no money is counted.
    pub unpriced_tokens: u64,
    /// Those models.
    pub unpriced_models: BTreeSet<String>,
    /// Models whose price is older than 90 days.
    pub old_price_models: BTreeSet<String>,
    /// What is known to be missing: requests of which nobody recorded what they took.
    pub uncounted: BTreeSet<Uncounted>,
}

impl Sum {
    fn of(group: String) -> Self {
        Self { group, ..Self::default() }
    }

    fn add(&mut self, spend: &Spend, billing: Billing, prices: &Prices) {
        match spend.kind {
            SpendKind::Answer => self.answers += 1,
            SpendKind::Beside => self.side_tokens = self.side_tokens.saturating_add(spend.tokens.total()),
        }
        self.tokens += spend.tokens;
        let old = prices.origin(spend).filter(|origin| origin.is_old);
        self.old_price_models.extend(old.map(|origin| origin.model));
        self.total_tokens = self.tokens.total();
        let Some(cost) = prices.cost(spend) else {
            self.unpriced_tokens = self.unpriced_tokens.saturating_add(spend.tokens.total());
            self.unpriced_models.insert(spend.model.clone().unwrap_or_else(|| NONE.to_owned()));
            return;
        };
        self.total_cost_usd += cost;
        match billing {
            Billing::Api => self.api_cost_usd += cost,
            Billing::Subscription => self.subscription_cost_usd += cost,
            Billing::Unknown => self.unknown_cost_usd += cost,
        }
    }
}

/// Adds up what was used since then: the groups in their order, and everything together. An answer that two agents
/// have counts for the first.
pub fn sum_up(meters: &[Meter], by: &GroupBy, since: Option<Timestamp>, prices: &Prices) -> (Vec<Sum>, Sum) {
    let mut groups: BTreeMap<(String, Option<String>), Sum> = BTreeMap::new();
    let mut total = Sum::of("total".to_owned());
    // An agent made from another begins with a copy of its conversation, for which nobody paid again.
    let mut counted = HashSet::new();
    for meter in meters {
        let is_new = |spend: &&Spend| since.is_none_or(|since| spend.timestamp >= since);
        for spend in meter.answers().filter(is_new) {
            if !counted.insert((spend.key.as_str(), spend.timestamp)) {
                continue;
            }
            let key = key(by, meter, spend);
            let sum = groups.entry(key.clone()).or_insert_with(|| Sum { agent_id: key.1, ..Sum::of(key.0) });
            for sum in [sum, &mut total] {
                sum.add(spend, meter.billing, prices);
                sum.uncounted.extend(meter.uncounted());
            }
        }
    }
    (groups.into_values().collect(), total)
}

/// Where the prices come from that what was used since then is counted with, by model.
pub fn origins(meters: &[Meter], since: Option<Timestamp>, prices: &Prices) -> Vec<PriceOrigin> {
    let is_new = |spend: &&Spend| since.is_none_or(|since| spend.timestamp >= since);
    let spends = meters.iter().flat_map(Meter::answers).filter(is_new);
    let found = spends.filter_map(|spend| prices.origin(spend)).map(|origin| (origin.model.clone(), origin));
    found.collect::<BTreeMap<_, _>>().into_values().collect()
}

impl Meter {
    /// Everything this agent has used.
    pub fn total(&self, prices: &Prices) -> Sum {
        sum_up(std::slice::from_ref(self), &GroupBy::Agent, None, prices).1
    }
}

/// The group of an answer. Agents may share a name, but not an id.
fn key(by: &GroupBy, meter: &Meter, spend: &Spend) -> (String, Option<String>) {
    let none = || NONE.to_owned();
    match by {
        GroupBy::Agent => (meter.remains.name.to_string(), Some(meter.remains.id.to_string())),
        GroupBy::Label(label) => (meter.remains.labels.get(label).cloned().unwrap_or_else(none), None),
        GroupBy::Day => (spend.timestamp.strftime("%Y-%m-%d").to_string(), None),
        GroupBy::Model => (spend.model.clone().unwrap_or_else(none), None),
    }
}
