// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads what an image has printed and writes its trace as text: the log's number, nanoseconds, and
//! the event as the simulator prints it, since it is the same enum.
//!
//! ```text
//! lnd-decode [--merge] < output-of-the-image
//! ```
//!
//! `--merge`: all logs as one, by time. Exit status 1: a record made no sense, or a log has no end.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use lnd_core::time::Instant;
use lnd_core::trace::compact::decode;
use lnd_core::trace::Trace;

type Line = (usize, Instant, Trace);

fn main() -> ExitCode {
    let merge = std::env::args().any(|argument| argument == "--merge");
    match read(io::stdin().lock()) {
        Ok(mut lines) => {
            if merge {
                lines.sort_by_key(|(_, at, _)| *at);
            }
            let mut out = io::stdout().lock();
            for (log, at, trace) in lines {
                if writeln!(out, "{log} {} {trace:?}", at.as_nanos()).is_err() {
                    return ExitCode::FAILURE;
                }
            }
            ExitCode::SUCCESS
        }
        Err(wrong) => {
            eprintln!("lnd-decode: {wrong}");
            ExitCode::FAILURE
        }
    }
}

fn read(from: impl BufRead) -> Result<Vec<Line>, String> {
    let (mut lines, mut bytes, mut log) = (Vec::new(), Vec::new(), 0);
    for line in from.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let Some(record) = line.trim().strip_prefix("trace ") else { continue };
        if record.starts_with("end") {
            records(log, &bytes, &mut lines)?;
            bytes.clear();
            log += 1;
        } else {
            bytes.extend(hexadecimal(record)?);
        }
    }
    if bytes.is_empty() {
        Ok(lines)
    } else {
        Err(format!("log {log} has no end"))
    }
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let byte = |at| {
        let digits = text.get(at..at + 2).ok_or(format!("half a byte in '{text}'"))?;
        u8::from_str_radix(digits, 16).map_err(|error| format!("'{digits}': {error}"))
    };
    (0..text.len()).step_by(2).map(byte).collect()
}

fn records(log: usize, bytes: &[u8], lines: &mut Vec<Line>) -> Result<(), String> {
    let mut left = bytes;
    while !left.is_empty() {
        let (length, at, trace) = decode(left)
            .map_err(|_| format!("log {log}: no record at byte {}", bytes.len() - left.len()))?;
        lines.push((log, at, trace));
        left = &left[length..];
    }
    Ok(())
}
