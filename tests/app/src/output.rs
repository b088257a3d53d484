// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the program prints, and whether that was possible.

use std::fmt::{self, Arguments, Write as _};
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
        let what = $crate::output::plain(format_args!($($what)*));
        let _ = writeln!(std::io::stderr(), "lnd: {what}");
    }};
}

/// From now on lines go to standard error: standard output carries a file.
pub fn use_stderr() {
    // Relaxed: set before there are threads that print.
    TO_STDERR.store(true, Ordering::Relaxed);
}

/// The text as a terminal may get it: a file's name may hold anything, and what it holds is shown
/// (`\u{1b}`), not obeyed. Line ends and tabs stay.
pub fn plain(what: Arguments<'_>) -> String {
    let mut text = Plain(String::new());
    // Writing to a string does not fail; a value that cannot be shown ends the text.
    let _ = text.write_fmt(what);
    text.0
}

struct Plain(String);

impl fmt::Write for Plain {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        for char in piece.chars() {
            match char {
                '\n' | '\t' => self.0.push(char),
                _ if char.is_control() => self.0.extend(char.escape_default()),
                _ => self.0.push(char),
            }
        }
        Ok(())
    }
}

/// Prints a JSON document to standard output, wherever lines go.
pub fn document(value: &serde_json::Value) {
    remember(writeln!(io::stdout(), "{value:#}"));
}

/// Prints a line; see [`say!`](crate::say).
pub fn line(what: Arguments<'_>) {
    let what = plain(what);
    let written = if TO_STDERR.load(Ordering::Relaxed) {
        writeln!(io::stderr(), "{what}")
    } else {
        writeln!(io::stdout(), "{what}")
    };
    remember(written);
}

/// The first error is told at the end.
fn remember(written: io::Result<()>) {
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
