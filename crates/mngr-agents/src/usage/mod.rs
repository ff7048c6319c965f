//! What agents use: which price an answer has, and who pays for it. Counting is in `transcript`.

mod billing;
mod prices;

pub use billing::Billing;
pub use prices::{Prices, PricesError};
