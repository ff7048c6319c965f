//! The `mngr` command. All of it is in the library, where tests and the generator of the reference reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    mngr::main()
}
