// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a plan says of a byzantine node, and what a seed draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rng::Rng;

/// A node that keeps to nothing. But for the last two, rates are frames a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Which node.
    pub node: u32,
    /// It goes on when all other faults have ended, at an eighth of its rates; else it falls
    /// silent.
    pub goes_on: bool,
    /// Random bytes.
    pub noise: u32,
    /// Frames that were sent by any node: cut, longer, spliced, some bits changed; most with a
    /// checksum that fits.
    pub spoilt: u32,
    /// Frames that were sent by any node, of any incarnation, as they were.
    pub replayed: u32,
    /// Well-formed messages of any kind, with arbitrary numbers in envelope and body.
    pub forged: u32,
    /// Bursts of hellos, of ever new incarnations and sessions.
    pub hellos: u32,
    /// Answers to what it was not asked.
    pub unasked: u32,
    /// Requests in good order, for which it does not do its part.
    pub requests: u32,
    /// Descriptors posted to its engine, to pull what was never staged for it.
    pub pulls: u32,
    /// Messages that it answers, rightly or wrongly, per million; to the others it says nothing.
    pub answers: u32,
    /// Messages after which it reads no mailbox for a while, per million.
    pub deaf: u32,
}

impl Rates {
    /// Everything that is a number of times, to be changed.
    pub fn rates_mut(&mut self) -> [&mut u32; 10] {
        [
            &mut self.noise,
            &mut self.spoilt,
            &mut self.replayed,
            &mut self.forged,
            &mut self.hellos,
            &mut self.unasked,
            &mut self.requests,
            &mut self.pulls,
            &mut self.answers,
            &mut self.deaf,
        ]
    }

    /// Frames that it sends of its own accord in a second.
    pub const fn ideas(&self) -> u32 {
        self.noise
            .saturating_add(self.spoilt)
            .saturating_add(self.replayed)
            .saturating_add(self.forged)
            .saturating_add(self.hellos)
            .saturating_add(self.unasked)
            .saturating_add(self.requests)
            .saturating_add(self.pulls)
    }

    /// A node of the seed's own: any but the one that all others may need as their router.
    pub fn draw(rng: &mut Rng, nodes: u32, routed: bool) -> Self {
        let node = match rng.below(u64::from(nodes)) as u32 {
            1 if routed => nodes - 1,
            node => node,
        };
        let rate = |rng: &mut Rng| {
            if rng.below(3) == 0 {
                0
            } else {
                let most = 400 >> rng.below(5);
                rng.between(1, most) as u32
            }
        };
        Self {
            node,
            goes_on: rng.below(2) == 0 && !routed,
            noise: rate(rng),
            spoilt: rate(rng),
            replayed: rate(rng),
            forged: rate(rng),
            hellos: rate(rng) / 4,
            unasked: rate(rng),
            requests: rate(rng),
            pulls: rate(rng),
            answers: [0, 300_000, 900_000, 1_000_000][rng.below(4) as usize],
            deaf: if rng.below(3) == 0 { 20_000 } else { 0 },
        }
    }
}
