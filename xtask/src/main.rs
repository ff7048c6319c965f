//! The chores of this repository, run as `cargo xtask CHORE`.
//!
//! Nothing here is part of the product: no crate may depend on it, and it knows the product's crates only as
//! names in a table and its binary as a file.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who runs it")]

mod bench;
mod budget;
mod generate;
mod metadata;
mod rooms;
mod source;

use std::error::Error;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Chores of the mngr repository
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Check that every crate uses only the floors below its own
    Rooms,
    /// Check the size and shape of every source file
    Budget,
    /// Write the man pages, the reference and the schemas from what the binary says of itself
    Gen(generate::Options),
    /// Compare the release binary with the bare tools
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Rooms => rooms::run().map_err(Box::<dyn Error>::from),
        Chore::Budget => budget::run().map_err(Box::from),
        Chore::Gen(options) => generate::run(&options).map_err(Box::from),
        Chore::Bench(options) => bench::run(&options).map_err(Box::from),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  caused by: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}
