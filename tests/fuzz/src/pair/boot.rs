// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How the two nodes are made.

use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::time::Instant;

use crate::hardware::Hardware;
use crate::node::{config, nid, Node};

/// Incarnations of both nodes together.
const INCARNATIONS: usize = 6;
pub type Memory = Vec<MaybeUninit<u8>>;

fn small() -> Config {
    let mut config = config();
    // More than one peer may have, so that its own bound counts.
    config.passive_slots = config.slots - 1;
    config
}

pub fn memory() -> Vec<Memory> {
    vec![vec![MaybeUninit::uninit(); small().bytes_needed()]; INCARNATIONS]
}

/// What all engines can do.
#[derive(Clone, Copy)]
pub struct Engines {
    /// They tell the source side of a pull's end.
    pub signals: bool,
    /// They push.
    pub pushes: bool,
}

/// A node starts, as another incarnation.
pub fn boot<'m>(
    memory: &'m mut [MaybeUninit<u8>],
    node: usize,
    incarnation: u64,
    now: Instant,
    Engines { signals, pushes }: Engines,
) -> Node<'m> {
    let hardware = Hardware { signals, pushes, ..Hardware::default() };
    Node::with(small(), memory, nid(1 + node as u8), incarnation, now, hardware)
}
