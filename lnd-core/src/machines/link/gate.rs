// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the gate of one link: submitters read it, and link events close it from any
//! context.

use crate::base::defect::{fenced, ordered};
use crate::base::sync::{AtomicU32, Ordering};

/// Whether posting to a link is allowed, and whether a poster is inside (S0-20, R11).
///
/// A link's engine belongs to one shard, and a shard has one owner. So there is at most one poster.
/// It announces itself with a plain store instead of a locked count (decision 0002). The two sides
/// form a Dekker pair: the poster stores `poster` and then, behind the submit's one full fence,
/// reads `closed`. The closer stores `closed` and, behind its fence, reads `poster`. One of the two
/// always sees the other: the poster backs out, or the closer waits for it.
#[derive(Debug)]
#[cfg_attr(not(feature = "dense"), repr(C, align(64)))]
#[cfg_attr(feature = "dense", repr(C))]
pub struct LinkGate {
    /// Zero: open. Otherwise closed; the value is the number of closings, for the trace.
    closed: AtomicU32,
    /// Non-zero while a poster is inside.
    poster: AtomicU32,
}

/// A poster inside a gate. Posting ends when it is passed to [`LinkGate::exit`].
#[derive(Debug)]
#[must_use = "the link cannot be stopped while a poster is inside"]
pub struct Posting(());

impl LinkGate {
    /// A closed gate. A link opens once its engine reports that it is up.
    pub fn new() -> Self {
        Self { closed: AtomicU32::new(1), poster: AtomicU32::new(0) }
    }

    /// First half of entering: announces the poster. Must be followed by a full fence and
    /// [`admitted`](Self::admitted). Context: the shard's owner.
    #[inline]
    pub fn enter(&self) -> Posting {
        // Ordered before the reads of `admitted` by the caller's SeqCst fence; partner: `close`.
        self.poster.store(1, Ordering::Relaxed);
        Posting(())
    }

    /// Second half of entering, behind the fence: whether the gate is open.
    #[inline]
    pub fn admitted(&self, _inside: &Posting) -> bool {
        // Relaxed: the caller's SeqCst fence orders this read behind the store of `enter`. Partner:
        // `close`.
        self.closed.load(Ordering::Relaxed) == 0
    }

    /// Exits the gate. Everything posted is ordered before.
    #[inline]
    pub fn exit(&self, _inside: Posting) {
        // Release: partner is the Acquire load in `posters_out`.
        self.poster.store(0, ordered("leave-relaxed", Ordering::Release));
    }

    /// Whether the gate is open. Only a poster inside may rely on it.
    #[inline]
    pub fn is_open(&self) -> bool {
        // Relaxed: a hint. It is checked again from inside the gate before anything is posted.
        self.closed.load(Ordering::Relaxed) == 0
    }

    /// Closes the gate. Context: any, interrupts too.
    pub fn close(&self) {
        // Relaxed: the fence below orders this store.
        self.closed.store(1, Ordering::Relaxed);
        // Orders the store before the read of `poster`; partner: the fence between `enter` and
        // `admitted`.
        fenced("no-fence-in-link-gate", Ordering::SeqCst);
    }

    /// After [`close`](Self::close): whether the poster is out. Everything that it posted is then
    /// visible to the caller.
    pub fn posters_out(&self) -> bool {
        // Acquire: partner is the Release store in `exit`.
        self.poster.load(Ordering::Acquire) == 0
    }

    /// Opens the gate again. Context: the shard's owner, after the reset.
    pub fn open(&self) {
        // Relaxed: only the owner posts, and the owner is the caller.
        self.closed.store(0, Ordering::Relaxed);
    }
}

impl Default for LinkGate {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_20_a_gate_shuts_posters_out_and_knows_whether_one_is_inside() {
        let gate = LinkGate::new();
        assert!(!gate.is_open(), "open before its engine said that it is up");
        let early = gate.enter();
        assert!(!gate.admitted(&early));
        gate.exit(early);

        gate.open();
        assert!(gate.is_open() && gate.posters_out());
        let posting = gate.enter();
        assert!(gate.admitted(&posting) && !gate.posters_out());

        gate.close();
        assert!(!gate.is_open() && !gate.admitted(&posting));
        assert!(!gate.posters_out(), "the poster has not left");
        gate.exit(posting);
        assert!(gate.posters_out() && !gate.is_open());
    }
}
