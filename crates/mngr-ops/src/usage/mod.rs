//! `usage`: what agents have used, from what their own programs recorded. Spawns nothing.
//!
//! `meter` reads and keeps count, `sum` groups and adds up, `wait` goes on until something holds.

mod meter;
mod sum;
#[cfg(test)]
mod tests;
mod wait;

pub use meter::{Meter, UsageError};
pub use mngr_agents::usage::{BELIEVED_DAYS, Billing, PriceOrigin, Prices, PricesError, Uncounted};
pub use sum::{GroupBy, Sum, origins, sum_up};
pub use wait::{Waited, wait_until};
