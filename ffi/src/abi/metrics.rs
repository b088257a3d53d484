// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The table of metrics.

/// Bytes of a metric's name, its terminating zero included.
pub const LND_METRIC_NAME: usize = 32;
/// Bytes of a metric's unit, its terminating zero included.
pub const LND_METRIC_UNIT: usize = 16;
/// Bytes of a metric's help, its terminating zero included.
pub const LND_METRIC_HELP: usize = 200;

/// enum lnd_metric_kind - How a metric changes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_metric_kind {
    /// It only grows, and wraps.
    LND_METRIC_COUNTER = 1,
    /// It rises and falls.
    LND_METRIC_GAUGE = 2,
}

/// enum lnd_metric_format - What lnd_metrics_write() writes.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_metric_format {
    /// A line each: name and value.
    LND_METRIC_TEXT = 1,
    /// An array of objects: name, kind, unit, value, help.
    LND_METRIC_JSON = 2,
    /// The text format of Prometheus. Names begin with "lnd_"; those of counters end with "_total".
    LND_METRIC_PROMETHEUS = 3,
}

/// struct lnd_metric_info - What a metric is.
/// @size: sizeof(struct lnd_metric_info).
/// @kind: enum lnd_metric_kind.
/// @name: lower case, underscores. Names do not change between versions; numbers may.
/// @unit: what it counts, such as "transfers".
/// @help: what it means, in a sentence.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_metric_info {
    /// Bytes of this struct.
    pub size: u32,
    /// Kind.
    pub kind: u32,
    /// Name.
    pub name: [u8; LND_METRIC_NAME],
    /// Unit.
    pub unit: [u8; LND_METRIC_UNIT],
    /// Help.
    pub help: [u8; LND_METRIC_HELP],
}
