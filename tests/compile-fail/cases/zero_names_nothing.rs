// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! No name has a magic zero (R10; LU-14654: zero was "for ever" in one place only).
use lnd_core::id::{Incarnation, Nid};

const NO_NODE: Nid = Nid(0);
const NEVER_STARTED: Incarnation = Incarnation::from_raw(0);

fn main() {}
