// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of metrics: every counter is fed by the sources, and docs/operations.md has every
//! metric with what to do when it grows.
//!
//! LND_BLESS=1 writes the generated columns of the page anew; the last column is written by people
//! and stays.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use lnd_core::counters::Counter;
use lnd_core::observe::{Family, Metric, Unit};
use lnd_ffi::abi::*;
use lnd_ffi::metrics::{lnd_metric_count, lnd_metric_info_get};
use lnd_ffi::observed::lnd_observer_write;
use lnd_ffi::observer::{lnd_observer_create, lnd_observer_size};
use lnd_health::node::HealthCounter;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of all sources below a folder, tests left out.
fn sources(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        if entry.is_dir() {
            sources(&entry, into);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let text = fs::read_to_string(&entry).unwrap();
            into.push_str(text.split("#[cfg(test)]").next().unwrap());
        }
    }
}

/// Whether some source names this as a whole word.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let behind = text[at + name.len()..].chars().next();
        !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// The counters that no source counts.
fn unfed(text: &str, kind: &str, variants: impl Iterator<Item = String>) -> Vec<String> {
    variants.filter(|it| !names(text, &format!("{kind}::{it}"))).collect()
}

#[test]
fn every_counter_is_fed() {
    let (mut core, mut health) = (String::new(), String::new());
    for folder in ["lnd-core/src", "lnd-dma/src", "lnd-shortmsg/src", "ffi/src"] {
        sources(&root().join(folder), &mut core);
    }
    sources(&root().join("lnd-health/src"), &mut health);
    let counters = || Counter::ALL.iter().map(|it| format!("{it:?}"));
    assert_eq!(unfed(&core, "Counter", counters()), [""; 0]);
    let of_health = HealthCounter::ALL.iter().map(|it| format!("{it:?}"));
    assert_eq!(unfed(&health, "HealthCounter", of_health), [""; 0]);
    // The check bites: without the place that counts it, a counter is reported.
    let broken = core.replace("Counter::BadCredits", "Counter::Misrouted");
    assert_eq!(unfed(&broken, "Counter", counters()), ["BadCredits"]);
}

/// One row of the page: name, unit, help.
struct Row {
    name: String,
    unit: &'static str,
    help: String,
}

fn text(bytes: &[u8]) -> String {
    CStr::from_bytes_until_nul(bytes).unwrap().to_str().unwrap().to_owned()
}

/// The metrics that only the C library has.
fn of_the_library() -> Vec<Row> {
    let known: Vec<_> = Metric::all().map(|it| it.info().name).collect();
    let unit_of = |name: &str| {
        let units = [Unit::Messages, Unit::Events, Unit::Transfers];
        units.into_iter().map(Unit::name).find(|it| *it == name).unwrap()
    };
    let mut rows = Vec::new();
    for at in 0..lnd_metric_count() {
        let mut info = lnd_metric_info {
            size: size_of::<lnd_metric_info>() as u32,
            kind: 0,
            name: [0; LND_METRIC_NAME],
            unit: [0; LND_METRIC_UNIT],
            help: [0; LND_METRIC_HELP],
        };
        // SAFETY: a place of the right size.
        let got = unsafe { lnd_metric_info_get(at, &mut info) };
        assert_eq!(got, lnd_error::LND_OK);
        let name = text(&info.name);
        if !known.contains(&name.as_str()) {
            rows.push(Row { name, unit: unit_of(&text(&info.unit)), help: text(&info.help) });
        }
    }
    rows
}

fn sections() -> Vec<(&'static str, Vec<Row>)> {
    let of = |name: &str, unit: Unit, help: &str| Row {
        name: name.to_owned(),
        unit: unit.name(),
        help: help.to_owned(),
    };
    let metrics = |counter: bool| {
        let all = Metric::all().filter(move |it| matches!(it, Metric::Counter(_)) == counter);
        all.map(|it| of(it.info().name, it.info().unit, it.info().help)).collect()
    };
    let families = Family::ALL.map(|it| {
        let labels = it.labels();
        let by =
            if labels.is_empty() { String::new() } else { format!(" {{{}}}", labels.join(", ")) };
        of(&format!("{}{by}", it.name()), it.unit(), it.help())
    });
    let health = HealthCounter::ALL.map(|it| of(it.name(), it.unit(), it.help()));
    vec![
        ("counters", metrics(true)),
        ("gauges", metrics(false)),
        ("families", families.into()),
        ("library", of_the_library()),
        ("health", health.into()),
    ]
}

/// A section of the page, with what people wrote in its last column.
fn table(rows: &[Row], advice: &BTreeMap<String, String>) -> String {
    let mut text =
        String::from("\n| name | unit | what | what it calls for |\n|---|---|---|---|\n");
    for row in rows {
        let told = advice.get(&row.name).map_or("", String::as_str);
        writeln!(text, "| `{}` | {} | {} | {told} |", row.name, row.unit, row.help).unwrap();
    }
    text.push('\n');
    text
}

#[test]
fn the_page_has_every_metric_and_what_it_calls_for() {
    let path = root().join("docs/operations.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (name, rows) in sections() {
        let begin = format!("<!-- metrics: {name} -->\n");
        let from = page.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
        let to = from + page[from..].find("<!-- end -->").unwrap();
        let mut advice = BTreeMap::new();
        for line in page[from..to].lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            advice.insert(cells[0].trim_matches('`').to_owned(), cells[3].to_owned());
        }
        let made = table(&rows, &advice);
        if env::var_os("LND_BLESS").is_some() {
            page.replace_range(from..to, &made);
            fs::write(&path, &page).unwrap();
            continue;
        }
        assert_eq!(page[from..to], made, "{name}: LND_BLESS=1 writes it anew");
        let silent: Vec<_> = rows.iter().filter(|row| !advice.contains_key(&row.name)).collect();
        assert!(silent.is_empty());
        let empty: Vec<_> = advice.iter().filter(|(_, told)| told.is_empty()).collect();
        assert!(empty.is_empty(), "what do these call for? {empty:?}");
    }
}

/// The words in `text` that follow `before`, up to the next quotation mark.
fn quoted<'t>(text: &'t str, before: &str) -> BTreeSet<&'t str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// `PeerDown`: `peer_down`.
fn snake(name: impl std::fmt::Debug) -> String {
    let mut text = String::new();
    for char in format!("{name:?}").chars() {
        if char.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(char.to_ascii_lowercase());
    }
    text
}

#[test]
fn what_an_observer_has_measured_is_written_with_the_names_of_the_table() {
    use lnd_core::transfer::{Cause, HealthClass, Place};
    let mut memory = vec![0u64; lnd_observer_size(8, 1, 1) / 8 + 16];
    let bytes = memory.len() * 8;
    let start = memory.as_mut_ptr();
    let at = start.wrapping_byte_add(start.align_offset(64) * 8);
    let mut observer = std::ptr::null_mut();
    // SAFETY: the memory is of this size less the alignment, and stays to the end.
    let made = unsafe { lnd_observer_create(at.cast(), bytes - 64, 8, 1, 1, &raw mut observer) };
    assert_eq!(made, lnd_error::LND_OK);
    let (mut text, mut cursor, mut written) = (vec![0u8; 1 << 17], 0, 0);
    let json = lnd_metric_format::LND_METRIC_JSON as u32;
    // SAFETY: each pointer is to what it is for.
    let error = unsafe {
        let into = text.as_mut_ptr().cast();
        lnd_observer_write(observer, json, &raw mut cursor, into, text.len(), &raw mut written)
    };
    assert_eq!(error, lnd_error::LND_E_END);
    let text = std::str::from_utf8(&text[..written]).unwrap();
    let names = Family::ALL.map(|it| it.name());
    assert_eq!(quoted(text, "\"name\": \""), names.into_iter().collect());
    let of = |label: &str| -> BTreeSet<String> {
        quoted(text, &format!("\"{label}\": \"")).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(of("class"), HealthClass::ALL.into_iter().map(snake).collect());
    assert_eq!(of("cause"), Cause::ALL.into_iter().map(snake).collect());
    assert_eq!(of("place"), Place::ALL.into_iter().map(snake).collect());
    assert_eq!((of("wait").len(), of("size").len()), (7, 8));
    // Every combination of labels has a line of its own.
    let lines = 7 * 8 + 8 + 1 + 1 + 11 * 7 + 12 * 5 + 8 + 1 + 1;
    assert_eq!(text.lines().collect::<BTreeSet<_>>().len(), lines);
}
