//! The program at the near end of a line, for the tests of this crate: `mngr docker-pipe` without a terminal.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use mngr_docker::{BROKEN, EngineClient, Pipe, PipeRequest, PipeTerminal};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let request = PipeRequest::parse(&words)?;
    let engine = Arc::new(EngineClient::open(&request.endpoint, &request.links)?);
    let ended = Pipe::start(engine, &request.container, &request.line, PipeTerminal::None)
        .and_then(|pipe| pipe.run(io::stdin(), &mut io::stdout(), &mut io::stderr()));
    Ok(ExitCode::from(ended.map_or(BROKEN, |code| u8::try_from(code).unwrap_or(BROKEN))))
}
