//! `mngr tmr`: the binary with agents that play a script, and with real ones.

mod args;
mod breaker;
mod budget;
mod causes;
mod claude;
mod contract;
mod cost;
pub(crate) mod demo;
mod earlier;
mod errors;
pub(crate) mod finished;
mod hostile;
mod integration;
mod mutant_in_place;
mod nextest;
pub(crate) mod own_suite;
mod owner;
mod project;
mod pypi;
mod resume;
mod review;
mod run;
mod scale;
mod scene;
mod set_ups;
mod status;
mod stopping;
