//! Hosts in a real engine that belongs to each test alone. The names begin with `docker_`: where no engine can run, they
//! are left out and counted.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and stands outside"
)]

mod life;
mod snapshots;
mod talk;
mod world;
