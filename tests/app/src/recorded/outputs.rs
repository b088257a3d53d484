// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The options of `lnd sim` that ask for files about a run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lnd_sim::simulator::{Entry, RunLog};

use super::Cast;
use crate::capture;
use crate::report::{self, Outcome, Shown};

/// The files that are asked for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Outputs {
    /// Write the run's frames to this file, as pcapng. The dissector is docs/wireshark/lnd.lua.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    capture: Option<PathBuf>,
    /// Write a page of HTML about the run to this file, for a browser.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    report: Option<PathBuf>,
}

/// A run that was logged: how it ended, and what to type to see it again.
#[derive(Debug)]
pub struct Told<'a> {
    /// What has happened.
    pub entries: &'a [Entry],
    /// How much more was not kept.
    pub left_out: u64,
    /// The command.
    pub command: &'a str,
    /// The drivers.
    pub cast: &'a Cast,
    /// How it has ended.
    pub outcome: Outcome<'a>,
}

impl Outputs {
    /// A log, if a file is asked for that needs one.
    pub fn log(&self) -> Option<RunLog> {
        (self.capture.is_some() || self.report.is_some()).then(RunLog::default)
    }

    /// The files, by their options.
    pub fn files(&self) -> [(&'static str, Option<&Path>); 2] {
        [("--capture", self.capture.as_deref()), ("--report", self.report.as_deref())]
    }

    /// Writes all files that are asked for.
    ///
    /// # Errors
    /// In words, with the file's name.
    pub fn write(&self, told: &Told<'_>) -> Result<(), String> {
        let Told { entries, left_out, command, cast, outcome } = *told;
        let captured = self.capture.as_deref().map_or(Ok(()), |path| {
            let write = |out: &mut _| capture::write(out, command, cast, entries).map(|_| ());
            whole(path, write)
        });
        let reported = self.report.as_deref().map_or(Ok(()), |path| {
            let shown = Shown { command, cast, outcome, entries, left_out };
            whole(path, |out| report::write(out, &shown))
        });
        captured.and(reported)
    }
}

/// Writes a file. One that cannot be written to its end is removed: a part of it would pass for the
/// whole.
///
/// # Errors
/// In words, with the file's name.
pub fn whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), String> {
    let mut out = File::create(path).map(BufWriter::new).map_err(named(path))?;
    let written = write(&mut out).and_then(|()| out.flush());
    if written.is_err() && out.get_ref().metadata().is_ok_and(|it| it.is_file()) {
        // The error that is told is the one before.
        let _ = fs::remove_file(path);
    }
    written.map_err(named(path))
}

fn named(path: &Path) -> impl Fn(io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}
