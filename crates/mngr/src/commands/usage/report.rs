//! How usage is shown.

use std::collections::BTreeMap;

use jiff::civil::Date;
use mngr_ops::usage::{BELIEVED_DAYS, GroupBy, PriceOrigin, Sum};
use mngr_query::{Align, Cell, CellStyle, Column, Table, sanitize};
use serde_json::{Value, json};

use crate::ui::output::event;
use crate::ui::{Console, Report};

/// The fields of a sum, for templates and conditions.
pub(super) const FIELDS: &[&str] = &[
    "group",
    "agent_id",
    "answers",
    "side_tokens",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "total_tokens",
    "api_cost_usd",
    "subscription_cost_usd",
    "unknown_cost_usd",
    "total_cost_usd",
    "unpriced_tokens",
    "unpriced_models",
    "old_price_models",
    "uncounted",
];

/// What was used.
pub(super) struct UsageReport {
    pub(super) by: GroupBy,
    pub(super) sums: Vec<Sum>,
    pub(super) total: Sum,
    /// Where the prices come from.
    pub(super) origins: Vec<PriceOrigin>,
}

/// A sum as a record.
pub(super) fn record(sum: &Sum) -> Value {
    serde_json::to_value(sum).unwrap_or_default()
}

impl UsageReport {
    fn header(&self) -> String {
        match &self.by {
            GroupBy::Agent => "AGENT".to_owned(),
            GroupBy::Label(label) => sanitize(label).to_uppercase(),
            GroupBy::Day => "DAY".to_owned(),
            GroupBy::Model => "MODEL".to_owned(),
        }
    }
}

impl UsageReport {
    /// Which prices may not be true any more, one line for each day and place they come from.
    fn old_prices(&self) -> String {
        let mut places: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for origin in self.origins.iter().filter(|origin| origin.is_old) {
            places.entry((origin.as_of, &origin.source)).or_default().push(&origin.model);
        }
        let line = |((day, source), models): ((Option<Date>, &Option<String>), Vec<&str>)| {
            let day = day.map(|day| day.to_string()).unwrap_or_default();
            let source = source.as_ref().map(|source| format!(", {}", sanitize(source))).unwrap_or_default();
            let models = sanitize(&models.join(", ")).into_owned();
            format!("the price of {models} is of {day}, more than {BELIEVED_DAYS} days ago{source}\n")
        };
        places.into_iter().map(line).collect()
    }

    fn uncounted(&self) -> String {
        self.total.uncounted.iter().map(|missing| format!("not counted: {}\n", missing.words())).collect()
    }
}

impl Report for UsageReport {
    fn human(&self, console: &Console) -> String {
        if self.sums.is_empty() {
            return "No usage found\n".to_owned();
        }
        let all = || self.sums.iter().chain([&self.total]);
        // Who pays is shown only where somebody does.
        let payers = [
            ("API $", all().any(|sum| sum.api_cost_usd > 0.0)),
            ("SUBSCRIPTION $", all().any(|sum| sum.subscription_cost_usd > 0.0)),
            ("PAYER UNKNOWN $", all().any(|sum| sum.unknown_cost_usd > 0.0)),
        ];
        let counts = ["ANSWERS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"];
        let shown = payers.iter().filter(|(_, is_shown)| *is_shown).map(|(header, _)| *header);
        let right = counts.into_iter().chain(shown).map(|header| Column::new(header, Align::Right));
        let header = Column::new(&self.header(), Align::Left);
        let mut table = Table::new([header].into_iter().chain(right).collect());
        for sum in all() {
            let counts = [
                sum.answers,
                sum.tokens.input_tokens,
                sum.tokens.output_tokens,
                sum.tokens.cache_read_tokens,
                sum.tokens.cache_write_tokens,
            ];
            let money = [sum.api_cost_usd, sum.subscription_cost_usd, sum.unknown_cost_usd];
            let money = money.iter().zip(&payers).filter(|(_, (_, is_shown))| *is_shown);
            // A sum with a part that has no price is more than it says.
            let more = if sum.unpriced_tokens > 0 { "+" } else { "" };
            let cells = [Cell::plain(&sum.group)].into_iter();
            let cells = cells.chain(counts.map(|count| Cell::plain(&count.to_string())));
            let cells =
                cells.chain(money.map(|(cost, _)| Cell::new(&format!("{cost:.4}{more}"), CellStyle::Plain)));
            table.push(cells.collect());
        }
        let mut text = console.table(&table);
        if self.total.unpriced_tokens > 0 {
            let models: Vec<&str> = self.total.unpriced_models.iter().map(String::as_str).collect();
            let models = sanitize(&models.join(", ")).into_owned();
            text += &format!(
                "no price is known for {models}: {} tokens without money\n",
                self.total.unpriced_tokens
            );
        }
        if self.total.side_tokens > 0 {
            text += &format!(
                "{} of these tokens were used beside the conversation (compaction, titles)\n",
                self.total.side_tokens
            );
        }
        text + &self.old_prices() + &self.uncounted()
    }

    fn json(&self) -> Value {
        json!({ "usage": self.items(), "total": record(&self.total), "prices": self.origins })
    }

    fn events(&self) -> Vec<Value> {
        let sums = self.sums.iter().map(|sum| event("usage", record(sum)));
        sums.chain([event("total", record(&self.total))]).collect()
    }

    fn items(&self) -> Vec<Value> {
        self.sums.iter().map(record).collect()
    }
}
