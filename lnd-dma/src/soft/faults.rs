// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The adversary's decisions (R71). Without an adversary: [`NoFaults`].

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// The fault of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionFault {
    /// It is posted.
    Deliver,
    /// It is lost; the descriptor's memory still shows the outcome.
    Lose,
    /// It is posted twice.
    Twice,
    /// It is held back until the given time, and others overtake it.
    Hold(Instant),
    /// Its status is not valid.
    Garble,
}

/// Decides at each point where hardware may misbehave. A decision may depend on a seed only.
pub trait Faults {
    /// Whether this step does nothing.
    fn stalls(&mut self, _now: Instant) -> bool {
        false
    }

    /// The fault of a completion.
    fn completion(&mut self, _tag: Tag) -> CompletionFault {
        CompletionFault::Deliver
    }

    /// Whether an invalidation is overlooked in this step; the next step checks it again.
    fn overlooks_invalidate(&mut self, _tag: Tag) -> bool {
        false
    }

    /// The engine has just claimed a source and delays its check of the source link's stop: the
    /// other node may act in between.
    fn claimed(&mut self, _source: Tag) {}

    /// Whether a refused remote read puts this engine into an error state, as on hardware without
    /// what [`Features::ILLEGAL_READ`](lnd_core::ports::Features) promises.
    fn bad_read_breaks(&mut self) -> bool {
        false
    }

    /// Bytes to move in this chunk, at most `chunk`; zero: none in this step.
    fn chunk(&mut self, chunk: u32) -> u32 {
        chunk
    }
}

/// Hardware without faults.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl Faults for NoFaults {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_adversary_hardware_does_what_it_should() {
        let mut none = NoFaults;
        let tag = Tag { index: 1, generation: 2 };
        assert!(!none.stalls(Instant::ORIGIN));
        assert_eq!(none.completion(tag), CompletionFault::Deliver);
        assert!(!none.overlooks_invalidate(tag));
        assert!(!none.bad_read_breaks());
        assert_eq!(none.chunk(4096), 4096);
    }
}
