// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything that an observer measures, as text: names, labels and units are those of the table
//! that other hosts' pages are made of.

use core::ffi::c_char;

use lnd_core::observe::{Family, Histogram, Measures, SizeClass, Unit, Wait};
use lnd_core::transfer::{Cause, HealthClass, Place};

use crate::abi::{lnd_error, lnd_metric_format};
use crate::dump::{cause_name, place_name};
use crate::errors::outcome;
use crate::input::given;
use crate::names::transfer::class_name;
use crate::observer::lnd_observer;
use crate::pieces::{fill, Piece};
use crate::text::Text;

/// What a label of a family tells apart.
#[derive(Clone, Copy)]
enum Label {
    Wait,
    Size,
    Class,
    Cause,
    Place,
}

impl Label {
    /// By its name in the table.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "wait" => Self::Wait,
            "size" => Self::Size,
            "class" => Self::Class,
            "cause" => Self::Cause,
            "place" => Self::Place,
            _ => return None,
        })
    }

    const fn values(self) -> usize {
        match self {
            Self::Wait => Wait::ALL.len(),
            Self::Size => SizeClass::ALL.len(),
            Self::Class => HealthClass::ALL.len(),
            Self::Cause => Cause::ALL.len(),
            Self::Place => Place::ALL.len(),
        }
    }

    /// A value's name; lower case on the page.
    fn value(self, at: usize) -> Option<&'static str> {
        match self {
            Self::Wait => Wait::ALL.get(at).map(|it| it.name()),
            Self::Size => SizeClass::ALL.get(at).map(|it| it.name()),
            Self::Class => HealthClass::ALL.get(at).map(|it| class_name(*it)),
            Self::Cause => Cause::ALL.get(at).map(|it| cause_name(*it)),
            Self::Place => Place::ALL.get(at).map(|it| place_name(*it)),
        }
    }
}

/// One value of a family: that of the labels' values with these numbers.
#[derive(Clone, Copy)]
struct Row {
    family: Family,
    at: [usize; 2],
}

enum Value<'m> {
    Times(&'m Histogram),
    Count(u64),
}

impl Row {
    /// The rows in the order of the table; of each family, the last label changes first.
    fn of(mut number: usize) -> Option<Self> {
        for family in Family::ALL {
            let values = |at: usize| {
                let label = family.labels().get(at).and_then(|name| Label::of(name));
                label.map_or(1, Label::values)
            };
            let (first, second) = (values(0), values(1));
            if let Some(behind) = number.checked_sub(first * second) {
                number = behind;
                continue;
            }
            let at = [number.checked_div(second)?, number.checked_rem(second)?];
            return Some(Self { family, at });
        }
        None
    }

    fn value(self, it: &Measures) -> Option<Value<'_>> {
        let [first, second] = self.at;
        Some(match self.family {
            Family::Wait => Value::Times(it.waited(*Wait::ALL.get(first)?, size(second)?)?),
            Family::Transfer => Value::Times(it.whole(size(first)?)?),
            Family::Late => Value::Times(it.late()),
            Family::LateGood => Value::Count(it.late_good()),
            Family::Ended => {
                Value::Count(it.ended(*HealthClass::ALL.get(first)?, *Wait::ALL.get(second)?))
            }
            Family::Lost => {
                Value::Count(it.lost(*Cause::ALL.get(first)?, *Place::ALL.get(second)?))
            }
            Family::Short => Value::Count(it.short(size(first)?).count),
            Family::ShortFailed => Value::Count(it.short_failed()),
            Family::Payload => Value::Count(it.bytes()),
        })
    }

    fn labels(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let names = self.family.labels().iter().zip(self.at);
        names.filter_map(|(name, at)| Some((*name, Label::of(name)?.value(at)?)))
    }

    fn write_text(self, text: &mut Text<'_>, value: &Value<'_>) {
        text.str(self.family.name());
        for (at, (name, value)) in self.labels().enumerate() {
            text.str(if at == 0 { "{" } else { "," });
            text.str(name).str("=\"").lower(value).str("\"");
        }
        text.str(if self.family.labels().is_empty() { " " } else { "} " });
        match value {
            Value::Count(count) => _ = text.dec(*count),
            Value::Times(it) => {
                for (at, (name, value)) in numbers(it).into_iter().enumerate() {
                    text.str(if at == 0 { "" } else { " " }).str(name).str(" ").dec(value);
                }
            }
        }
    }

    fn write_json(self, text: &mut Text<'_>, value: &Value<'_>) {
        let kind = if self.family.unit() == Unit::Nanoseconds { "histogram" } else { "counter" };
        text.str("{\"name\": \"").str(self.family.name()).str("\", \"kind\": \"").str(kind);
        text.str("\", \"unit\": \"").str(self.family.unit().name()).str("\", \"labels\": {");
        for (at, (name, value)) in self.labels().enumerate() {
            text.str(if at == 0 { "\"" } else { ", \"" });
            text.str(name).str("\": \"").lower(value).str("\"");
        }
        text.str("}");
        match value {
            Value::Count(count) => _ = text.str(", \"value\": ").dec(*count),
            Value::Times(it) => {
                for (name, value) in numbers(it) {
                    text.str(", \"").str(name).str("\": ").dec(value);
                }
            }
        }
        text.str("}");
    }
}

fn size(at: usize) -> Option<SizeClass> {
    SizeClass::ALL.get(at).copied()
}

/// The numbers of a histogram. Zero where nothing was counted.
fn numbers(it: &Histogram) -> [(&'static str, u64); 6] {
    let or_none = |value: Option<u64>| value.unwrap_or(0);
    [
        ("count", it.count()),
        ("sum", it.sum()),
        ("min", or_none(it.min())),
        ("max", or_none(it.max())),
        ("half", or_none(it.at_most(500))),
        ("most", or_none(it.at_most(990))),
    ]
}

/// lnd_observer_write() - Writes all that an observer has measured, for people or for programs.
/// @observer: the object.
/// @format: LND_METRIC_TEXT or LND_METRIC_JSON.
/// @cursor: 0 at first, then unchanged from the call before: where to continue.
/// @buf: where to write; no zero is appended.
/// @len: its bytes; 512 are enough for every line.
/// @written: where the number of bytes written is stored: whole lines only.
///
/// A line for each combination of labels. Times are in ns: how many, their sum, the least, the
/// most, and bounds that 50 % (half) and 99 % (most) do not exceed. Call it until it returns
/// LND_E_END. The last lines come with that call: use @written then, too.
///
/// Context: one at a time.
/// Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY,
/// LND_E_ARGUMENT, LND_E_ROOM (no line fits).
#[no_mangle]
pub unsafe extern "C" fn lnd_observer_write(
    observer: *mut lnd_observer,
    format: u32,
    cursor: *mut u32,
    buf: *mut c_char,
    len: usize,
    written: *mut usize,
) -> lnd_error {
    let piece = Piece { cursor, buf, len, written };
    let write = |from: u32, text: &mut Text<'_>| {
        let json = match format {
            it if it == lnd_metric_format::LND_METRIC_TEXT as u32 => false,
            it if it == lnd_metric_format::LND_METRIC_JSON as u32 => true,
            _ => return Err(lnd_error::LND_E_ARGUMENT),
        };
        let lines = |it: &mut lnd_core::observe::Observer<'static>| {
            write_from(it.measures(), json, from as usize, text)
        };
        given!(lnd_observer::with(observer, lines))
    };
    outcome(given!(fill(piece, write)))
}

/// Writes rows from number `at` on. Returns the number to continue at, and whether it is the end.
fn write_from(
    it: &Measures,
    json: bool,
    mut at: usize,
    text: &mut Text<'_>,
) -> Result<(u32, bool), lnd_error> {
    while let Some((row, value)) = Row::of(at).and_then(|row| Some((row, row.value(it)?))) {
        if json {
            text.str(if at == 0 { "[" } else { " " });
            row.write_json(text, &value);
            text.str(if Row::of(at + 1).is_some() { "," } else { "]" });
        } else {
            row.write_text(text, &value);
        }
        if !text.end_line() {
            let none = text.len() == 0;
            return if none { Err(lnd_error::LND_E_ROOM) } else { Ok((at as u32, false)) };
        }
        at += 1;
    }
    Ok((at as u32, true))
}
