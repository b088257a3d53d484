// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything that an NI counts, with its meaning: for hosts that show what they do not know.

use core::ffi::c_char;
use core::mem::size_of;

use lnd_core::counters::Counter;
use lnd_core::observe::{Gauge, GaugeValues, Metric, MetricInfo, MetricKind, Unit};
use lnd_shortmsg::wire::DecodeError;

use crate::abi::{
    lnd_error, lnd_metric_format, lnd_metric_info, lnd_metric_kind, LND_METRIC_HELP,
    LND_METRIC_NAME, LND_METRIC_UNIT,
};
use crate::errors::outcome;
use crate::input::{given, output, place, put};
use crate::ni::{lnd_ni, Thread};
use crate::pieces::{fill, Piece};
use crate::text::Text;

macro_rules! outside {
    ($($(#[doc = $doc:literal])+ $name:ident => $text:literal, $unit:ident,)+) => {
        /// What is counted outside of the driver.
        #[derive(Clone, Copy)]
        enum Outside { $($name,)+ }

        impl Outside {
            const ALL: [Self; [$($text,)+].len()] = [$(Self::$name,)+];

            const fn info(self) -> MetricInfo {
                let (name, unit, help) = match self {
                    $(Self::$name => ($text, Unit::$unit, concat!($($doc,)+)),)+
                };
                MetricInfo { name, unit, kind: MetricKind::Counter, help: help.trim_ascii() }
            }
        }
    };
}

outside! {
    /// Frames of the control layer that were received.
    FramesControl => "frames_control", Messages,
    /// Other frames that were received.
    FramesLnd => "frames_lnd", Messages,
    /// Frames that were dropped because they cannot be read.
    FramesBad => "frames_bad", Messages,
    /// Of these, frames that name another sender than their channel does.
    FramesForged => "frames_forged", Messages,
    /// Completions taken in interrupts.
    Completions => "completions", Events,
    /// Interrupts taken.
    Interrupts => "interrupts", Events,
    /// Calls refused as misuse: re-entry, wrong context, overlapping.
    Misuses => "misuses", Events,
}

/// A metric of an NI.
#[derive(Clone, Copy)]
enum Shown {
    Driver(Metric),
    Outside(Outside),
}

const COUNTERS: usize = Counter::ALL.len();
/// The age of the oldest descriptor needs an observer, which an NI has not.
const GAUGES: usize = Gauge::OldestPosted as usize;
const METRICS: usize = COUNTERS + GAUGES + Outside::ALL.len();

impl Shown {
    /// Counters in the order of lnd_counter(), then gauges, then what is counted outside.
    fn of(number: usize) -> Option<Self> {
        if let Some(counter) = Counter::ALL.get(number) {
            return Some(Self::Driver(Metric::Counter(*counter)));
        }
        let number = number.checked_sub(COUNTERS)?;
        if let Some(gauge) = Gauge::ALL.get(number).filter(|_| number < GAUGES) {
            return Some(Self::Driver(Metric::Gauge(*gauge)));
        }
        Outside::ALL.get(number.checked_sub(GAUGES)?).map(|it| Self::Outside(*it))
    }

    const fn info(self) -> MetricInfo {
        match self {
            Self::Driver(metric) => metric.info(),
            Self::Outside(outside) => outside.info(),
        }
    }
}

impl Thread {
    /// The value of a metric, with the gauges of this moment.
    fn metric(&self, it: Shown, gauges: &GaugeValues) -> u64 {
        match it {
            Shown::Driver(Metric::Counter(counter)) => self.counter(counter),
            Shown::Driver(Metric::Gauge(gauge)) => gauges.value(gauge),
            Shown::Outside(Outside::FramesControl) => self.receiver.control(),
            Shown::Outside(Outside::FramesLnd) => self.receiver.lnd(),
            Shown::Outside(Outside::FramesBad) => self.receiver.errors().total(),
            Shown::Outside(Outside::FramesForged) => self.receiver.errors().of(DecodeError::Sender),
            Shown::Outside(Outside::Completions) => self.totals.completions(),
            Shown::Outside(Outside::Interrupts) => self.totals.interrupts(),
            Shown::Outside(Outside::Misuses) => self.totals.misuses(),
        }
    }
}

impl Thread {
    /// Writes metrics from number `from` on. Returns the number to continue at, and whether it is
    /// the end.
    fn write_metrics(
        &mut self,
        ni: &lnd_ni,
        format: Format,
        from: u32,
        text: &mut Text<'_>,
    ) -> Result<(u32, bool), lnd_error> {
        self.follow(ni);
        let gauges = GaugeValues::read(self.driver);
        let mut at = from as usize;
        while let Some(metric) = Shown::of(at) {
            format.write(text, at, &metric.info(), self.metric(metric, &gauges));
            if !text.end_line() {
                let none = text.len() == 0;
                return if none { Err(lnd_error::LND_E_ROOM) } else { Ok((at as u32, false)) };
            }
            at += 1;
        }
        Ok((at as u32, true))
    }
}

/// lnd_metric_count() - Number of metrics of an NI: its counters and gauges.
///
/// Context: any.
/// Return: the number. The first lnd_counter_count() of them are those of lnd_counter().
#[no_mangle]
pub extern "C" fn lnd_metric_count() -> u32 {
    METRICS as u32
}

/// Text as bytes with a zero behind it. What does not fit is left out.
pub(crate) fn field<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    // The last place stays zero.
    let places = bytes.iter_mut().take(N.saturating_sub(1));
    places.zip(text.bytes()).for_each(|(place, byte)| *place = byte);
    bytes
}

/// lnd_metric_info_get() - What a metric is: name, unit, kind, help.
/// @metric: its number, from 0.
/// @info: filled in; the caller sets its size.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_SIZE, LND_E_ARGUMENT (no such metric).
#[no_mangle]
pub unsafe extern "C" fn lnd_metric_info_get(metric: u32, info: *mut lnd_metric_info) -> lnd_error {
    outcome(given!(output(info)).and_then(|place| {
        let it = Shown::of(metric as usize).ok_or(lnd_error::LND_E_ARGUMENT)?.info();
        let kind = match it.kind {
            MetricKind::Counter => lnd_metric_kind::LND_METRIC_COUNTER,
            MetricKind::Gauge => lnd_metric_kind::LND_METRIC_GAUGE,
        };
        *place = lnd_metric_info {
            size: size_of::<lnd_metric_info>() as u32,
            kind: kind as u32,
            name: field::<LND_METRIC_NAME>(it.name),
            unit: field::<LND_METRIC_UNIT>(it.unit.name()),
            help: field::<LND_METRIC_HELP>(it.help),
        };
        Ok(())
    }))
}

/// lnd_metrics_read() - The values of metrics, all of one moment.
/// @ni: the NI.
/// @values: where they are written, in the order of their numbers.
/// @count: how many: at most lnd_metric_count().
///
/// Two calls give a difference: counters wrap at 64 bits. Visits all peers, and all slots of links
/// that have failed.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY,
/// LND_E_ARGUMENT (there are not so many).
#[no_mangle]
pub unsafe extern "C" fn lnd_metrics_read(
    ni: *const lnd_ni,
    values: *mut u64,
    count: u32,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        place(values)?;
        if count as usize > METRICS {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        let mut entered = ni.enter()?;
        let thread = entered.thread();
        thread.follow(ni);
        let gauges = GaugeValues::read(thread.driver);
        for (at, metric) in (0..count as usize).filter_map(|at| Some((at, Shown::of(at)?))) {
            let value = thread.metric(metric, &gauges);
            given!(put(values.wrapping_add(at), value))?;
        }
        Ok(())
    }))
}

#[derive(Clone, Copy)]
enum Format {
    Text,
    Json,
    Prometheus,
}

impl Format {
    const fn of(format: u32) -> Result<Self, lnd_error> {
        match format {
            it if it == lnd_metric_format::LND_METRIC_TEXT as u32 => Ok(Self::Text),
            it if it == lnd_metric_format::LND_METRIC_JSON as u32 => Ok(Self::Json),
            it if it == lnd_metric_format::LND_METRIC_PROMETHEUS as u32 => Ok(Self::Prometheus),
            _ => Err(lnd_error::LND_E_ARGUMENT),
        }
    }

    /// Writes one metric.
    fn write(self, text: &mut Text<'_>, at: usize, it: &MetricInfo, value: u64) {
        match self {
            Self::Text => {
                text.str(it.name).str(" ").dec(value);
            }
            Self::Json => {
                text.str(if at == 0 { "[" } else { " " });
                text.str("{\"name\": \"").str(it.name).str("\", \"kind\": \"").str(it.kind.name());
                text.str("\", \"unit\": \"").str(it.unit.name()).str("\", \"value\": ").dec(value);
                text.str(", \"help\": \"").str(it.help);
                text.str(if at + 1 == METRICS { "\"}]" } else { "\"}," });
            }
            Self::Prometheus => {
                let total = if it.kind == MetricKind::Counter { "_total" } else { "" };
                text.str("# HELP lnd_").str(it.name).str(total).str(" ").str(it.help);
                text.str("\n# TYPE lnd_").str(it.name).str(total).str(" ").str(it.kind.name());
                text.str("\nlnd_").str(it.name).str(total).str(" ").dec(value);
            }
        }
    }
}

/// lnd_metrics_write() - Writes all metrics as text, for people or for programs.
/// @ni: the NI.
/// @format: enum lnd_metric_format.
/// @cursor: 0 at first, then unchanged from the call before: where to continue.
/// @buf: where to write; no zero is appended.
/// @len: its bytes; 512 are enough for every metric.
/// @written: where the number of bytes written is stored: whole metrics only.
///
/// Call it until it returns LND_E_END. The last metrics come with that call: use @written then,
/// too. What one call writes is of one moment.
///
/// Context: thread. Takes the lock.
/// Return: LND_OK, LND_E_END (all has been written), LND_E_NULL, LND_E_ALIGN, LND_E_NI,
/// LND_E_CONTEXT, LND_E_REENTRY, LND_E_BUSY, LND_E_ARGUMENT, LND_E_ROOM (no metric fits).
#[no_mangle]
pub unsafe extern "C" fn lnd_metrics_write(
    ni: *const lnd_ni,
    format: u32,
    cursor: *mut u32,
    buf: *mut c_char,
    len: usize,
    written: *mut usize,
) -> lnd_error {
    outcome(given!(lnd_ni::of(ni)).and_then(|ni| {
        let piece = Piece { cursor, buf, len, written };
        let write = |from: u32, text: &mut Text<'_>| {
            let format = Format::of(format)?;
            ni.enter()?.thread().write_metrics(ni, format, from, text)
        };
        given!(fill(piece, write))
    }))
}

/// Every text fits its field, or this does not compile.
const _: () = {
    let mut at = 0;
    while at < Counter::ALL.len() {
        fits(&Metric::Counter(Counter::ALL[at]).info());
        at += 1;
    }
    at = 0;
    while at < Gauge::ALL.len() {
        fits(&Metric::Gauge(Gauge::ALL[at]).info());
        at += 1;
    }
    at = 0;
    while at < Outside::ALL.len() {
        fits(&Outside::ALL[at].info());
        at += 1;
    }
};

// Compilers of the minimum version do not count the constant above as a use.
#[allow(dead_code)]
const fn fits(it: &MetricInfo) {
    assert!(it.name.len() < LND_METRIC_NAME);
    assert!(it.unit.name().len() < LND_METRIC_UNIT);
    assert!(it.help.len() < LND_METRIC_HELP);
}
