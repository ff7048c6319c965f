//! What a tutorial does not show yet, and what was proposed for it.
//!
//! [`gaps`] finds headings and comments without commands. What somebody proposes for them is untrusted text: it is read
//! with limits ([`read_offers`]), judged against the script and the grammars ([`Judge`]), kept as files ([`Store`]), and
//! put into the script or not, one by one ([`keep`], [`drop_from`]). Never in here: who proposes, and how they are asked.

mod confusing;
mod gap;
mod judge;
mod offer;
mod place;
mod proposal;
mod splice;
mod store;

pub use confusing::{Confusing, Misread, confusing};
pub use gap::{Gap, GapKind, gaps};
pub use judge::Judge;
pub use offer::{LARGEST_FILE, Offer, OfferError, Offers, Unreadable, read_offers};
pub use place::{PlaceError, Placed, drop_from, insert_marked, keep};
pub use proposal::{Origin, Proposal, ProposalId, ProposalIdError, Status};
pub use store::{Store, StoreError, Stored};
