//! Prices of models, as data. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::transcript::Spend;

const BUILT_IN: &str = include_str!("prices.toml");

const TOKENS_PER_UNIT: f64 = 1_000_000.0;

/// A file of prices that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the prices cannot be read")]
pub struct PricesError {
    /// Why.
    #[source]
    source: toml::de::Error,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

/// What models cost.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// Those that come with mngr.
    #[expect(clippy::expect_used, reason = "compiled-in data that a test parses")]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("the built-in prices are valid")
    }

    /// Those of a file.
    pub fn parse(text: &str) -> Result<Self, PricesError> {
        toml::from_str(text).map_err(|source| PricesError { source })
    }

    /// These, with others laid over them model by model.
    #[must_use]
    pub fn overlaid(mut self, other: Self) -> Self {
        self.models.extend(other.models);
        self
    }

    /// What an answer costs in US dollars: as its record says, else by the price of its model; nothing when neither is
    /// known.
    pub fn cost(&self, spend: &Spend) -> Option<f64> {
        if spend.cost.is_some() {
            return spend.cost;
        }
        let price = self.of(spend.model.as_deref()?)?;
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

    /// The price of a model: by its full name, or without the date of its snapshot.
    fn of(&self, model: &str) -> Option<&Price> {
        self.models.get(model).or_else(|| self.models.get(without_date(model)))
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
    use crate::transcript::Tokens;

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
            tokens,
            long_cache_write_tokens: 500_000,
            cost: None,
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
}
