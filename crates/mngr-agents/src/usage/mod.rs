//! What agents use: which price an answer has, who pays for it, and what was used beside the conversation. Counting answers is
//! in `transcript`.

mod beside;
mod billing;
mod prices;
mod uncounted;

pub(crate) use beside::SESSION_USAGE;
pub use beside::SessionTotals;
pub use billing::Billing;
pub use prices::{BELIEVED_DAYS, PriceOrigin, Prices, PricesError};
pub use uncounted::Uncounted;
