// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the program prints, and whether that was possible.

use std::fmt::{self, Arguments, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whether the caller had closed standard output. Rust's runtime opens `/dev/null` in its place, so
/// that all that is printed seems to arrive.
pub static CLOSED: AtomicBool = AtomicBool::new(false);
/// The first error of standard output.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);
static TO_STDERR: AtomicBool = AtomicBool::new(false);
/// Whether lines begin with the time.
static TIMES: AtomicBool = AtomicBool::new(false);

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
        let time = $crate::output::time();
        let _ = writeln!(std::io::stderr(), "{time}lnd: {what}");
    }};
}

/// From now on lines go to standard error: standard output carries a file.
pub fn use_stderr() {
    // Relaxed: set before there are threads that print.
    TO_STDERR.store(true, Ordering::Relaxed);
}

/// Whether lines begin with the time, in UTC, from now on.
pub fn use_times(are_wanted: bool) {
    // Relaxed: a line that another thread prints meanwhile may be of either kind.
    TIMES.store(are_wanted, Ordering::Relaxed);
}

/// Whether lines begin with the time.
pub fn has_times() -> bool {
    TIMES.load(Ordering::Relaxed)
}

/// The time with a blank behind it, if lines are to begin with it.
pub fn time() -> String {
    if !has_times() {
        return String::new();
    }
    // A clock before 1970 is a wrong one, and this is none of those who complain of it.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc(since) + " "
}

/// A time since 1970 as `2026-11-25T09:11:09.123Z`.
fn utc(since: Duration) -> String {
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // Years begin in March here, so that the day that some have and others do not comes last.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + u64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
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
    remember(to_stdout(format_args!("{}", escaped(format_args!("{value:#}")))));
}

/// Prints a JSON value as one line, as [`document`] does.
pub fn record(value: &serde_json::Value) {
    remember(to_stdout(format_args!("{}", escaped(format_args!("{value}")))));
}

/// JSON without the control characters that JSON allows and terminals may obey: DEL, and those from
/// U+0080 on.
pub fn escaped(json: Arguments<'_>) -> String {
    let mut text = String::new();
    for char in json.to_string().chars() {
        match char {
            '\u{7f}'..='\u{9f}' => text.push_str(&format!("\\u{:04x}", char as u32)),
            _ => text.push(char),
        }
    }
    text
}

fn to_stdout(what: Arguments<'_>) -> io::Result<()> {
    if CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    writeln!(io::stdout(), "{what}")
}

/// Prints a line; see [`say!`](crate::say).
pub fn line(what: Arguments<'_>) {
    let what = time() + &plain(what);
    let written = if TO_STDERR.load(Ordering::Relaxed) {
        writeln!(io::stderr(), "{what}")
    } else {
        to_stdout(format_args!("{what}"))
    };
    remember(written);
}

/// The first error is told at the end.
fn remember(written: io::Result<()>) {
    if let Err(error) = written {
        FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Whether there is no use in printing more: standard output has failed.
pub fn has_failed() -> bool {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Writes what is left, and says what went wrong with standard output, if anything did.
pub fn finish() -> Option<io::Error> {
    let flushed = io::stdout().flush();
    let failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner).take();
    failed.or(flushed.err())
}

#[cfg(test)]
mod tests {
    use super::utc;
    use std::time::Duration;

    /// As `date -u -d @SECONDS` has them.
    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.005Z"),
            (951_782_399, "2000-02-28T23:59:59.005Z"),
            (951_782_400, "2000-02-29T00:00:00.005Z"),
            (951_868_800, "2000-03-01T00:00:00.005Z"),
            (1_709_164_800, "2024-02-29T00:00:00.005Z"),
            (1_735_689_599, "2024-12-31T23:59:59.005Z"),
            (1_735_689_600, "2025-01-01T00:00:00.005Z"),
            (4_107_542_400, "2100-03-01T00:00:00.005Z"),
            (4_107_542_399, "2100-02-28T23:59:59.005Z"),
        ] {
            assert_eq!(utc(Duration::from_millis(seconds * 1000 + 5)), expected);
        }
    }
}
