//! Agents on other machines: the same verbs with the same answers, and what happens when a link breaks.

mod brands;
mod docker;
mod equal;
mod faults;
mod ground;
mod hostile;
mod names;
mod work;
