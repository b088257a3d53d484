// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd`: the command-line tool of the test bench.

use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lnd_app::{complain, output};

mod commands;

/// Runs before the runtime of the language, which opens `/dev/null` where standard output is
/// closed.
#[used]
#[link_section = ".init_array"]
static BEFORE_ALL: extern "C" fn() = look_at_standard_output;

extern "C" fn look_at_standard_output() {
    // SAFETY: sets no handler. A file beyond the limit of its size is an error of its write then,
    // and not the end of a node.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // SAFETY: asks for the flags of a descriptor, which may be closed.
    let is_open = unsafe { libc::fcntl(1, libc::F_GETFD) } >= 0;
    output::CLOSED.store(!is_open, Ordering::Relaxed);
}

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
