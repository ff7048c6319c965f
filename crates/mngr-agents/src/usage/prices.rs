//! Prices of models, as data. Pure.

use std::collections::BTreeMap;

use jiff::Unit;
use jiff::civil::Date;
use mngr_config::PriceSettings;
use serde::{Deserialize, Serialize};

use crate::transcript::Spend;

const BUILT_IN: &str = include_str!("prices.toml");

const TOKENS_PER_UNIT: f64 = 1_000_000.0;

/// A price is believed for so many days.
pub const BELIEVED_DAYS: i32 = 90;

/// Prices that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// A file is none of prices.
    #[error("the prices cannot be read")]
    Damaged {
        /// Why.
        #[source]
        source: toml::de::Error,
    },
    /// The settings name a model of which nothing else is known.
    #[error("the price of model `{model}` has no `{missing}`, and there is no built-in one")]
    Incomplete {
        /// The model.
        model: String,
        /// What is missing.
        missing: &'static str,
    },
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
    /// The day on which it was true; of one without it nobody can say that it is old.
    as_of: Option<Date>,
    /// Where it is published.
    source: Option<String>,
}

/// What models cost.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    models: BTreeMap<String, Price>,
    /// The day on which they are used.
    #[serde(skip)]
    today: Option<Date>,
}

/// Where a price comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriceOrigin {
    /// The model, as its price is called.
    pub model: String,
    /// The day on which the price was true.
    pub as_of: Option<Date>,
    /// Where it is published.
    pub source: Option<String>,
    /// Whether that day is more than 90 days ago.
    pub is_old: bool,
}

impl Prices {
    /// Those that come with mngr.
    #[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the built-in prices are valid")
    }

    /// Those of a file.
    pub fn parse(text: &str) -> Result<Self, PricesError> {
        toml::from_str(text).map_err(|source| PricesError::Damaged { source })
    }

    /// These, with others laid over them model by model.
    #[must_use]
    pub fn overlaid(mut self, other: Self) -> Self {
        self.models.extend(other.models);
        self
    }

    /// These, with those of the settings laid over them value by value. A price that is changed has the date and the source
    /// that the settings give it, or none.
    pub fn with_settings(mut self, settings: &BTreeMap<String, PriceSettings>) -> Result<Self, PricesError> {
        for (model, set) in settings {
            let known = self.models.remove(model);
            let needed = |set: Option<f64>, known: Option<f64>, missing| {
                set.or(known).ok_or_else(|| PricesError::Incomplete { model: model.clone(), missing })
            };
            let price = Price {
                input: needed(set.input, known.as_ref().map(|known| known.input), "input")?,
                output: needed(set.output, known.as_ref().map(|known| known.output), "output")?,
                cache_read: set.cache_read.or(known.as_ref().and_then(|known| known.cache_read)),
                cache_write: set.cache_write.or(known.as_ref().and_then(|known| known.cache_write)),
                cache_write_1h: set.cache_write_1h.or(known.as_ref().and_then(|known| known.cache_write_1h)),
                as_of: set.as_of.as_ref().and_then(|day| day.as_str().parse().ok()),
                source: set.source.clone(),
            };
            self.models.insert(model.clone(), price);
        }
        Ok(self)
    }

    /// These, as they are used on this day.
    #[must_use]
    pub fn on(self, today: Date) -> Self {
        Self { today: Some(today), ..self }
    }

    /// What an answer costs in US dollars: as its record says, else by the price of its model; nothing when neither is
    /// known.
    pub fn cost(&self, spend: &Spend) -> Option<f64> {
        if spend.cost.is_some() {
            return spend.cost;
        }
        let (_, price) = self.of(spend.model.as_deref()?)?;
        let tokens = spend.tokens;
        let long = spend.long_cache_write_tokens.min(tokens.cache_write_tokens);
        let write = price.cache_write.unwrap_or(price.input);
        let parts = [
            (tokens.input_tokens, price.input),
            (tokens.output_tokens, price.output),
            (tokens.cache_read_tokens, price.cache_read.unwrap_or(price.input)),
            (tokens.cache_write_tokens - long, write),
            (long, price.cache_write_1h.unwrap_or(write)),
        ];
        Some(parts.into_iter().map(|(count, price)| count as f64 * price / TOKENS_PER_UNIT).sum())
    }

    /// Where the price that an answer is counted with comes from; nothing where its record says what it costs, or nobody
    /// does.
    pub fn origin(&self, spend: &Spend) -> Option<PriceOrigin> {
        let model = spend.model.as_deref().filter(|_| spend.cost.is_none())?;
        let (name, price) = self.of(model)?;
        let age = self.today.zip(price.as_of).and_then(|(today, then)| today.since((Unit::Day, then)).ok());
        Some(PriceOrigin {
            model: name.to_owned(),
            as_of: price.as_of,
            source: price.source.clone(),
            is_old: age.is_some_and(|age| age.get_days() > BELIEVED_DAYS),
        })
    }

    /// The price of a model and what it is called: by its full name, or without the date of its snapshot.
    fn of(&self, model: &str) -> Option<(&str, &Price)> {
        let found =
            self.models.get_key_value(model).or_else(|| self.models.get_key_value(without_date(model)));
        found.map(|(name, price)| (name.as_str(), price))
    }
}

/// `claude-sonnet-4-5-20250929` and `gpt-5-2025-08-07` are snapshots of the names before the dates.
fn without_date(model: &str) -> &str {
    let is_digits = |text: &str, count| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let mut parts = model.rsplitn(4, '-');
    match [parts.next(), parts.next(), parts.next(), parts.next()] {
        [Some(date), ..] if is_digits(date, 8) => &model[..model.len() - "-YYYYMMDD".len()],
        [Some(day), Some(month), Some(year), Some(name)]
            if is_digits(day, 2) && is_digits(month, 2) && is_digits(year, 4) =>
        {
            name
        }
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::transcript::{SpendKind, Tokens};

    fn million(model: &str) -> Spend {
        let tokens = Tokens {
            input_tokens: 1_000_000,
            output_tokens: 1_000_000,
            cache_read_tokens: 1_000_000,
            cache_write_tokens: 1_000_000,
        };
        Spend {
            key: String::new(),
            timestamp: Timestamp::UNIX_EPOCH,
            model: Some(model.to_owned()),
            requested: None,
            tokens,
            long_cache_write_tokens: 500_000,
            cost: None,
            session: None,
            kind: SpendKind::Answer,
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let prices = Prices::built_in();
        let cost = prices.cost(&million("claude-sonnet-4-5-20250929")).unwrap();
        assert!((cost - (3.0 + 15.0 + 0.3 + 3.75 / 2.0 + 6.0 / 2.0)).abs() < 1e-9, "{cost}");
        let cost = prices.cost(&million("gpt-5-2025-08-07")).unwrap();
        assert!(
            (cost - (1.25 + 10.0 + 0.125 + 1.25)).abs() < 1e-9,
            "without its own price a write is input: {cost}"
        );
    }

    #[test]
    fn what_the_record_says_wins_over_the_price_of_the_model() {
        let said = Spend { cost: Some(0.5), ..million("gpt-5") };
        assert_eq!(Prices::built_in().cost(&said), Some(0.5));
    }

    #[test]
    fn an_unknown_model_has_no_price_and_neither_has_a_variant_of_a_known_one() {
        let prices = Prices::built_in();
        for model in ["claude-sonnet-9", "claude-sonnet-4-5[1m]", "gpt-5-pro", "claude-sonnet-4-5-2025", ""] {
            assert_eq!(prices.cost(&million(model)), None, "{model}");
        }
    }

    #[test]
    fn the_users_prices_win_model_by_model() {
        let own = "[models.gpt-5]\ninput = 1\noutput = 2\n[models.house]\ninput = 0\noutput = 0\n";
        let prices = Prices::built_in().overlaid(Prices::parse(own).unwrap());
        assert_eq!(prices.cost(&million("gpt-5")), Some(1.0 + 2.0 + 1.0 + 1.0));
        assert_eq!(prices.cost(&million("house")), Some(0.0));
        assert!(prices.cost(&million("gpt-5-mini")).is_some());
        assert!(Prices::parse("[models.x]\ninput = 1\noutput = 2\ncached = 3").is_err());
    }

    #[test]
    fn settings_change_a_price_value_by_value_and_a_new_one_has_to_be_whole() {
        let set = |text: &str| toml::from_str::<BTreeMap<String, PriceSettings>>(text).unwrap();
        let own = set("[gpt-5]\noutput = 20\nas_of = '2026-11-18'\n[house]\ninput = 1\noutput = 2\n");
        let prices = Prices::built_in().with_settings(&own).unwrap();
        let cost = prices.cost(&million("gpt-5")).unwrap();
        assert!((cost - (1.25 + 20.0 + 0.125 + 1.25)).abs() < 1e-9, "{cost}");
        assert_eq!(prices.cost(&million("house")), Some(1.0 + 2.0 + 1.0 + 1.0));
        let origin = prices.origin(&million("gpt-5")).unwrap();
        assert_eq!((origin.as_of, origin.source), ("2026-11-18".parse().ok(), None));
        let half = Prices::built_in().with_settings(&set("[house]\ninput = 1")).unwrap_err();
        assert!(half.to_string().contains("`house` has no `output`"), "{half}");
    }

    #[test]
    fn a_price_is_old_after_ninety_days_and_every_built_in_one_has_a_date_and_a_source() {
        let prices = Prices::built_in();
        assert!(prices.models.values().all(|price| price.as_of.is_some() && price.source.is_some()));
        let is_old = |day: &str| {
            let prices = Prices::built_in().on(day.parse().unwrap());
            prices.origin(&million("gpt-5-2025-08-07")).unwrap().is_old
        };
        assert!(
            !is_old("2025-12-01") && !is_old("2026-03-01") && is_old("2026-03-02") && is_old("2026-11-18")
        );
        let said = Spend { cost: Some(0.5), ..million("gpt-5") };
        assert_eq!(prices.origin(&said), None);
        let own =
            Prices::parse("[models.m]\ninput = 1\noutput = 2\n").unwrap().on("2999-01-01".parse().unwrap());
        assert!(!own.origin(&million("m")).unwrap().is_old, "nobody knows how old it is");
    }
}
