// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How often the adversary does what to messages and engines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Faults of the short-message channel. Rates are per million messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageFaults {
    /// Lost, and reported as sent: what became of it is not known.
    pub drop: u32,
    /// Lost, and the channel says so.
    pub not_delivered: u32,
    /// Reported as failed with unknown outcome; delivered in half of the cases.
    pub unknown: u32,
    /// Delivered twice.
    pub duplicate: u32,
    /// Delivered late, so that others overtake it.
    pub delay: u32,
    /// Longest such delay in microseconds; also of replays and duplicates.
    pub delay_us: u32,
    /// Delivered with some bytes changed.
    pub corrupt: u32,
    /// Its completion never comes: only the stop of its link ends the wait.
    pub lost_completion: u32,
    /// An old frame of the same way is delivered again with it.
    pub replay: u32,
}

/// Faults of the engines. Rates are per million decisions of their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineFaults {
    /// Completions lost; the descriptor's memory still tells.
    pub lose: u32,
    /// Completions posted twice.
    pub twice: u32,
    /// Completions held back, so that others overtake them.
    pub hold: u32,
    /// Longest such hold in microseconds.
    pub hold_us: u32,
    /// Completions whose status makes no sense.
    pub garble: u32,
    /// Invalidations overlooked for a while: the engine goes on reading and writing.
    pub overlook: u32,
    /// Longest such while in microseconds.
    pub overlook_us: u32,
    /// Chunks cut short, down to nothing.
    pub small_chunk: u32,
    /// Steps in which a stall begins.
    pub stall: u32,
    /// Longest stall in microseconds.
    pub stall_us: u32,
}

impl MessageFaults {
    /// Its rates, to be changed.
    pub fn rates_mut(&mut self) -> [&mut u32; 8] {
        [
            &mut self.drop,
            &mut self.not_delivered,
            &mut self.unknown,
            &mut self.duplicate,
            &mut self.delay,
            &mut self.corrupt,
            &mut self.lost_completion,
            &mut self.replay,
        ]
    }
}

impl EngineFaults {
    /// Its rates, to be changed.
    pub fn rates_mut(&mut self) -> [&mut u32; 7] {
        [
            &mut self.lose,
            &mut self.twice,
            &mut self.hold,
            &mut self.garble,
            &mut self.overlook,
            &mut self.small_chunk,
            &mut self.stall,
        ]
    }
}
