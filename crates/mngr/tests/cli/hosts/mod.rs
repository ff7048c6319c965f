//! Agents on other machines: the same verbs with the same answers, and what happens when a link breaks.

mod asleep;
mod boot;
mod brands;
mod docker;
mod doctor;
mod equal;
mod exec;
mod faults;
mod ground;
mod hostile;
mod idle;
mod killed;
mod life;
mod migrate;
mod names;
mod places;
mod pool;
mod round_trips;
mod silent;
mod snapshot;
mod sockets;
mod tmr;
mod work;
