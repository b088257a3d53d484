// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A simulated run as one page of HTML that needs nothing else: its figures, throughput, latency,
//! transfers by state, health, faults, and each transfer from its beginning to its end at both
//! nodes.
//!
//! The page's data is JSON inside of it; its scripts draw that.

mod figures;
mod strings;
mod timeline;
mod transfers;
mod words;

pub use figures::Outcome;

use std::io::{self, Write};

use lnd_sim::simulator::run_log::Entry;
use serde::Serialize;

use crate::recorded::Cast;
use figures::Figure;
use strings::Strings;
use timeline::Timeline;
use transfers::{Frame, Transfer, Transfers};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 3] =
    [include_str!("base.js"), include_str!("charts.js"), include_str!("page.js")];

/// A run to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The command that runs it again.
    pub command: &'a str,
    /// The drivers.
    pub cast: &'a Cast,
    /// How it has ended.
    pub outcome: Outcome<'a>,
    /// Its log.
    pub entries: &'a [Entry],
    /// What the log had no room for.
    pub left_out: u64,
}

#[derive(Serialize)]
struct Data<'a> {
    command: &'a str,
    ok: bool,
    broken: &'a str,
    printed: String,
    figures: Vec<Figure>,
    left_out: u64,
    /// Nanoseconds from the start to the last entry.
    whole: u64,
    rails: bool,
    units: Vec<(u32, String)>,
    timeline: Timeline,
    transfers: Vec<Transfer>,
    frames: Vec<Frame>,
    strings: Vec<String>,
}

/// Writes the page.
///
/// # Errors
/// Those of the output.
pub fn write<W: Write>(mut out: W, shown: &Shown<'_>) -> io::Result<()> {
    let data = serde_json::to_string(&data_of(shown))?;
    // A text may not end the element that it stands in.
    let data = data.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let mut rest = PAGE;
    let [base, charts, page] = SCRIPTS;
    let parts = [
        ("/*STYLE*/", STYLE),
        ("/*DATA*/", &data),
        ("/*BASE*/", base),
        ("/*CHARTS*/", charts),
        ("/*PAGE*/", page),
    ];
    for (mark, text) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.write_all(before.as_bytes())?;
        out.write_all(text.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())?;
    out.flush()
}

fn data_of<'a>(shown: &Shown<'a>) -> Data<'a> {
    let Shown { command, cast, outcome, entries, left_out } = *shown;
    let nanos = |entry: Option<&Entry>| entry.map_or(0, |entry| entry.at.as_nanos());
    let start = nanos(entries.first());
    let mut strings = Strings::default();
    let transfers = Transfers::of(entries, cast, start, &mut strings);
    let timeline = Timeline::of(entries, cast, start, &mut strings);
    let units = transfers.all.iter().map(|it| it.unit.max(it.peer.unwrap_or(0))).max();
    let units = (0..=units.unwrap_or(0)).map(|unit| (cast.host(unit), cast.name(unit)));
    Data {
        command,
        ok: outcome.is_ok(),
        broken: outcome.broken(),
        printed: outcome.printed(),
        figures: outcome.figures(),
        left_out,
        whole: nanos(entries.last()).saturating_sub(start),
        rails: cast.rails,
        units: units.collect(),
        timeline,
        transfers: transfers.all,
        frames: transfers.frames,
        strings: strings.into_all(),
    }
}
