// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The gate of one peer: submitters look at it, peer events change it, from any context.

use super::hello::{hello_step, HelloEvent, HelloState};
use crate::defect::seeded;
use crate::sync::{fence, AtomicU32, Ordering};

/// Bits of a life tag kept in gates and transfers.
pub const LIFE_BITS: u32 = 12;
const LIFE_MASK: u32 = (1 << LIFE_BITS) - 1;
const STATE_MASK: u32 = 0x3;
const ADMITTED: u32 = 1 << 2;
const LIFE_SHIFT: u32 = 8;

/// A value of the gate word: `life << 8 | admitted << 2 | state`.
///
/// `life` counts the lives of the peer that we have seen (12 bits, wraps): a transfer remembers the
/// count it was sent under, and a sweep cancels those of other lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GateView(u32);

impl GateView {
    /// How far our greeting has come.
    pub const fn state(self) -> HelloState {
        HelloState::from_bits(self.0 & STATE_MASK)
    }

    /// Whether this life has greeted us or answered us, so that its messages count (S0-13).
    pub const fn admitted(self) -> bool {
        self.0 & ADMITTED != 0
    }

    /// The life tag.
    pub const fn life(self) -> u32 {
        (self.0 >> LIFE_SHIFT) & LIFE_MASK
    }

    /// This value in another state.
    #[must_use]
    pub const fn with_state(self, state: HelloState) -> Self {
        Self(self.0 & !STATE_MASK | state as u32)
    }

    /// This value with the admission given or taken.
    #[must_use]
    pub const fn with_admission(self, admitted: bool) -> Self {
        Self(if admitted { self.0 | ADMITTED } else { self.0 & !ADMITTED })
    }

    /// This value after an event of the greeting.
    ///
    /// A peer that was down comes back under another life tag, though it be the same life: what it
    /// had when it went down is lost even if it is back before the sweep has come by.
    #[must_use]
    pub const fn on_hello(self, event: HelloEvent) -> Self {
        let (state, _) = hello_step(self.state(), event);
        let back = matches!(self.state(), HelloState::Down) && !matches!(state, HelloState::Down);
        let view = if back { self.next_life().with_admission(self.admitted()) } else { self };
        view.with_state(state)
    }

    /// The next life: not admitted yet.
    #[must_use]
    pub const fn next_life(self) -> Self {
        let life = self.life().wrapping_add(1) & LIFE_MASK;
        Self((life << LIFE_SHIFT) | (self.0 & STATE_MASK))
    }
}

/// The gate.
///
/// Closing it (any state but `Good`) and submitting form a Dekker pair: the submitter publishes its
/// transfer, fences, and looks at the gate; the closer changes the gate, fences, and sweeps the
/// transfers. One of the two always sees the other.
#[derive(Debug)]
pub struct PeerGate {
    word: AtomicU32,
}

impl PeerGate {
    /// The gate of a peer that nothing is known of.
    pub fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    /// What the gate shows. For a submitter: behind its full fence.
    #[inline]
    pub fn view(&self) -> GateView {
        // Relaxed: the fences order it; see the type's documentation.
        GateView(self.word.load(Ordering::Relaxed))
    }

    /// Shows something else; returns what was shown. Context: any.
    pub fn change(&self, make: impl Fn(GateView) -> GateView) -> GateView {
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            let next = make(GateView(seen)).0;
            match self.word.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // Orders the change before the sweep's reads of transfer words; partner: the submitter's
        // fence between publishing and `view`.
        if !seeded("no-fence-in-peer-gate") {
            fence(Ordering::SeqCst);
        }
        GateView(seen)
    }
}

impl Default for PeerGate {
    fn default() -> Self {
        Self::new()
    }
}
