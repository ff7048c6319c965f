//! The binary as users run it: one test binary, one file per command or promise.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod adopt;
mod brands;
mod clone;
mod completion;
mod config;
mod connect;
mod create;
mod destroy;
mod event;
mod examples;
mod exec;
mod full_disk;
mod headless;
mod help;
mod hostile;
mod hostile_agent;
mod hostile_repository;
mod hosts;
mod installation;
mod interruption;
mod label;
mod list;
mod made_up_brand;
mod man_pages;
mod message;
mod output_schemas;
mod own_tutorial;
mod prompt;
mod pull;
mod push;
mod record;
mod replay;
mod session;
mod settings;
mod state;
mod support;
mod tmr;
mod transcript;
mod trust;
mod tutorial;
mod tutorial_agents;
mod usage;
mod view;
mod wait;
