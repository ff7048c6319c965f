//! The binary as users run it: one test binary, one file per command or promise.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod config;
mod connect;
mod create;
mod destroy;
mod exec;
mod help;
mod label;
mod list;
mod message;
mod prompt;
mod pull;
mod push;
mod settings;
mod state;
mod support;
mod trust;
mod wait;
