// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The bounds in effect.

use super::metrics::{LND_METRIC_HELP, LND_METRIC_NAME};

/// enum lnd_bound_origin - Where a bound comes from.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum lnd_bound_origin {
    /// The configuration has the value of lnd_config_init().
    LND_BOUND_DEFAULT = 1,
    /// The configuration has another value.
    LND_BOUND_GIVEN = 2,
    /// It follows from other values.
    LND_BOUND_DERIVED = 3,
}

/// struct lnd_bound - A bound in effect.
/// @size: sizeof(struct lnd_bound).
/// @origin: enum lnd_bound_origin: where it comes from.
/// @ns: its length in nanoseconds.
/// @name: lower case, underscores. Names do not change between versions; numbers may.
/// @help: what it bounds; of a derived one, also from what it follows.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct lnd_bound {
    /// Bytes of this struct.
    pub size: u32,
    /// Origin.
    pub origin: u32,
    /// Length.
    pub ns: u64,
    /// Name.
    pub name: [u8; LND_METRIC_NAME],
    /// Help.
    pub help: [u8; LND_METRIC_HELP],
}
