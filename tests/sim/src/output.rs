// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the program prints, and whether that was possible.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The first error of standard output.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);
static TO_STDERR: AtomicBool = AtomicBool::new(false);

/// Prints a line. An error is remembered for [`finish`].
#[macro_export]
macro_rules! say {
    ($($what:tt)*) => {
        $crate::output::line(format_args!($($what)*))
    };
}

/// Prints a complaint to standard error; there is no place to report that this failed.
#[macro_export]
macro_rules! complain {
    ($($what:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "lnd: {}", format_args!($($what)*));
    }};
}

/// From now on lines go to standard error: standard output carries a file.
pub fn use_stderr() {
    // Relaxed: set before there are threads that print.
    TO_STDERR.store(true, Ordering::Relaxed);
}

/// Prints a line; see [`say!`](crate::say).
pub fn line(what: Arguments<'_>) {
    let written = if TO_STDERR.load(Ordering::Relaxed) {
        writeln!(io::stderr(), "{what}")
    } else {
        writeln!(io::stdout(), "{what}")
    };
    if let Err(error) = written {
        FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Writes what is left, and says what went wrong with standard output, if anything did.
pub fn finish() -> Option<io::Error> {
    let flushed = io::stdout().flush();
    let failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner).take();
    failed.or(flushed.err())
}
