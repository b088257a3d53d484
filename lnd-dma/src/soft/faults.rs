// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The adversary's decisions (R71). Without one, [`NoFaults`].

use lnd_core::id::Tag;
use lnd_core::time::Instant;

/// What becomes of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionFault {
    /// It is posted.
    Deliver,
    /// It is lost; the descriptor's memory still tells.
    Lose,
    /// It is posted twice.
    Twice,
    /// It is held back until the given time, and others overtake it.
    Hold(Instant),
    /// Its status makes no sense.
    Garble,
}

/// Decides at each point where hardware may misbehave. A decision may depend on a seed, never on
/// anything else.
pub trait Faults {
    /// Whether this step does nothing at all.
    fn stalls(&mut self, _now: Instant) -> bool {
        false
    }

    /// What becomes of a completion.
    fn completion(&mut self, _tag: Tag) -> CompletionFault {
        CompletionFault::Deliver
    }

    /// Whether a recall is overlooked for now; it is looked at again in the next step.
    fn overlooks_invalidate(&mut self, _tag: Tag) -> bool {
        false
    }

    /// The engine has just claimed a source and is slow to look whether the source's link stops: the
    /// other node may do something now.
    fn claimed(&mut self, _source: Tag) {}

    /// Whether a remote read that the other side refuses puts this engine into an error state, as
    /// hardware may that lacks what [`Features::ILLEGAL_READ`](lnd_core::ports::Features) promises.
    fn bad_read_breaks(&mut self) -> bool {
        false
    }

    /// Bytes to move in this chunk, at most `chunk`; zero: none for now.
    fn chunk(&mut self, chunk: u32) -> u32 {
        chunk
    }
}

/// Hardware that does what it should.
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
