// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::io::ErrorKind;
use std::process::ExitCode;
use std::time::Instant;

use lnd_app::{complain, output};

mod commands;

fn main() -> ExitCode {
    let started = Instant::now();
    let code = commands::main(started);
    match output::finish() {
        None => code,
        Some(error) => {
            // A reader that wants no more need not be told.
            if error.kind() != ErrorKind::BrokenPipe {
                complain!("standard output: {error}");
            }
            ExitCode::FAILURE
        }
    }
}
