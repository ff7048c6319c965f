//! `[prices.<model>]`: what a model costs, where the built-in price is wrong or there is none.

use crate::declare::{ruled_text, settings_table};

ruled_text! {
    /// A day, as in `2026-11-18`.
    pub struct DaySetting, "a day such as `2026-11-18`", check_day
}

fn check_day(text: &str) -> Result<(), String> {
    let mut parts = text.split('-');
    let number = |part: Option<&str>, digits: usize| {
        let part = part.filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()));
        part.and_then(|part| part.parse::<u16>().ok())
    };
    let day = (number(parts.next(), 4), number(parts.next(), 2), number(parts.next(), 2), parts.next());
    match day {
        (Some(_), Some(1..=12), Some(1..=31), None) => Ok(()),
        _ => Err("it is not YYYY-MM-DD".to_owned()),
    }
}

settings_table! {
    /// `[prices.<model>]`: US dollars per million tokens. What is not set keeps the built-in price.
    #[derive(Default)]
    #[serde(default)]
    pub struct PriceSettings {
        /// US dollars per million tokens of input. Needed for a model without a built-in price.
        pub input: Option<f64>,
        /// US dollars per million tokens of output. Needed for a model without a built-in price.
        pub output: Option<f64>,
        /// US dollars per million tokens that come from the cache; without it what input costs.
        pub cache_read: Option<f64>,
        /// US dollars per million tokens that are put into the cache; without it what input costs.
        pub cache_write: Option<f64>,
        /// US dollars per million tokens that are put into the cache for an hour; without it as `cache_write`.
        pub cache_write_1h: Option<f64>,
        /// The day on which these prices were true; `mngr usage` says when that is more than 90 days ago.
        pub as_of: Option<DaySetting>,
        /// Where they come from, for people.
        pub source: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_in_one_way() {
        assert_eq!(check_day("2026-11-18"), Ok(()));
        for text in ["", "2026-11", "2026-13-01", "2026-11-00", "18.11.2026", "2026-11-18T00:00", "26-11-18"]
        {
            assert!(check_day(text).is_err(), "{text}");
        }
    }
}
