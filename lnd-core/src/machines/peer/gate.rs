// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the gate of one peer: submitters read it, and peer events change it from any
//! context.

use super::hello::{hello_step, HelloEvent, HelloState};
use crate::base::defect::{fenced, ordered};
use crate::base::sync::{AtomicU32, Ordering};

/// Bits of an incarnation tag kept in gates and transfers.
pub const INCARNATION_BITS: u32 = 12;
const INCARNATION_MASK: u32 = (1 << INCARNATION_BITS) - 1;
const STATE_MASK: u32 = 0x3;
const ADMITTED: u32 = 1 << 2;
const INCARNATION_SHIFT: u32 = 8;

/// A value of the gate word: `incarnation << 8 | admitted << 2 | state`.
///
/// `incarnation` counts the incarnations of the peer that were seen here (12 bits, wraps). A
/// transfer keeps the count it was sent under. A sweep cancels the transfers with another count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GateView(u32);

impl GateView {
    /// How far our handshake has come.
    pub const fn state(self) -> HelloState {
        HelloState::from_bits(self.0 & STATE_MASK)
    }

    /// Whether this incarnation has sent a hello or answered ours, so that its messages count
    /// (S0-13).
    pub const fn admitted(self) -> bool {
        self.0 & ADMITTED != 0
    }

    /// Whether this incarnation's messages count, and our handshake with it is done.
    #[inline]
    pub const fn is_open(self) -> bool {
        self.admitted() && matches!(self.state(), HelloState::Good)
    }

    /// The incarnation tag.
    pub const fn incarnation(self) -> u32 {
        (self.0 >> INCARNATION_SHIFT) & INCARNATION_MASK
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

    /// This value after an event of the handshake.
    ///
    /// A peer that was down returns under another incarnation tag, even if the incarnation is the
    /// same. What it had when it went down is lost, even if it returns before the sweep. It is
    /// admitted again by its hello or by its answer to ours. Until then its requests wait in the
    /// channel.
    #[must_use]
    pub const fn on_hello(self, event: HelloEvent) -> Self {
        let (state, _) = hello_step(self.state(), event);
        // The tag changes on the way up, not down: the sweep then still cancels what was sent
        // before.
        let back = matches!(self.state(), HelloState::Down) && !matches!(state, HelloState::Down);
        let view = if back { self.next_incarnation() } else { self };
        view.with_state(state)
    }

    /// The next incarnation, not admitted yet.
    #[must_use]
    pub const fn next_incarnation(self) -> Self {
        let incarnation = self.incarnation().wrapping_add(1) & INCARNATION_MASK;
        Self((incarnation << INCARNATION_SHIFT) | (self.0 & STATE_MASK))
    }
}

/// The gate.
///
/// Closing it (any state but `Good`) and submitting form a Dekker pair. The submitter publishes its
/// transfer, fences, and reads the gate. The closer changes the gate, fences, and sweeps the
/// transfers. One of the two always sees the other.
///
/// The gate outlives its peers: a forgotten peer leaves it to the next one. `generation` names the
/// present one. A context that has only a [`PeerId`](crate::id::PeerId) changes the word by
/// [`change_of`](Self::change_of).
#[derive(Debug)]
pub struct PeerGate {
    word: AtomicU32,
    /// The use of the place that the word belongs to. The owner writes it before the word.
    generation: AtomicU32,
    /// The number of a hello that was not delivered. Zero: none.
    unheard: AtomicU32,
    /// Link of the list of gates with such a hello.
    next_unheard: AtomicU32,
}

impl PeerGate {
    /// The gate of an unknown peer.
    pub fn new() -> Self {
        Self::counting_from(0, 0)
    }

    /// The same, with incarnations counted from the low [`INCARNATION_BITS`] bits of `incarnation`,
    /// and uses from `generation`.
    pub fn counting_from(incarnation: u32, generation: u32) -> Self {
        Self {
            word: AtomicU32::new((incarnation & INCARNATION_MASK) << INCARNATION_SHIFT),
            generation: AtomicU32::new(generation),
            unheard: AtomicU32::new(0),
            next_unheard: AtomicU32::new(0),
        }
    }

    /// The number of the use of this gate's place.
    #[inline]
    pub fn generation(&self) -> u32 {
        // Relaxed: the owner reads what it has written. All other contexts use `change_of`.
        self.generation.load(Ordering::Relaxed)
    }

    /// Whether this is the gate of its place's use number `generation`.
    #[inline]
    pub fn is_of(&self, generation: u32) -> bool {
        self.generation() == generation
    }

    /// Hands the gate to the next peer in its place, which is unknown. Context: the shard's owner.
    pub fn renew(&self, generation: u32) {
        // Relaxed: published by the Release of the change.
        self.generation.store(generation, Ordering::Relaxed);
        // A new tag: no transfer of the former peer matches the gate any more.
        self.exchange(|view| Some(view.next_incarnation().with_state(HelloState::Unknown)));
    }

    /// Notes that hello `number`, not zero, was not delivered. Returns whether the caller has to
    /// put the gate on the shared list. `false`: it is on the list, or another caller is putting it
    /// there. Context: any.
    pub(crate) fn note_unheard(&self, number: u32) -> bool {
        // AcqRel: partner is `take_unheard`. A caller that finds zero also finds the gate off the
        // list.
        self.unheard.swap(number, Ordering::AcqRel) == 0
    }

    /// Takes the hello that was noted last. Context: the shard's owner, which has removed the gate
    /// from the list and does not read its link any more.
    pub(crate) fn take_unheard(&self) -> u32 {
        // AcqRel: partner is `note_unheard`.
        self.unheard.swap(0, Ordering::AcqRel)
    }

    pub(crate) fn next_unheard(&self) -> &AtomicU32 {
        &self.next_unheard
    }

    /// Changes the word, if this is still the gate of use number `generation`. Returns the former
    /// word, or `None`: the id is stale and nothing was changed. Context: any.
    ///
    /// A context that sees the word of a later use also sees that use's generation. A context that
    /// sees the word of the right use changes this very word, or it fails because the gate was
    /// renewed and reads again: every use begins with another incarnation tag.
    pub fn change_of(
        &self,
        generation: u32,
        make: impl Fn(GateView) -> GateView,
    ) -> Option<GateView> {
        self.exchange(|view| self.is_of(generation).then(|| make(view)))
    }

    /// The gate's word. A submitter reads it behind its full fence.
    #[inline]
    pub fn view(&self) -> GateView {
        // Relaxed: the fences order it. See the type's documentation.
        GateView(self.word.load(Ordering::Relaxed))
    }

    /// Changes the word and returns the former one. Context: any.
    pub fn change(&self, make: impl Fn(GateView) -> GateView) -> GateView {
        self.exchange(|view| Some(make(view))).unwrap_or(GateView(0))
    }

    fn exchange(&self, make: impl Fn(GateView) -> Option<GateView>) -> Option<GateView> {
        // Acquire, here and of the exchange that fails: the generation that `make` reads is that of
        // the word or a later one. Partner: the Release below, of `renew`.
        let acquire = ordered("gate-acquire-relaxed", Ordering::Acquire);
        let mut seen = self.word.load(acquire);
        loop {
            let next = make(GateView(seen))?.0;
            match self.word.compare_exchange_weak(seen, next, Ordering::Release, acquire) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // Orders the change before the sweep's reads of transfer words; partner: the submitter's
        // fence between publishing and `view`.
        fenced("no-fence-in-peer-gate", Ordering::SeqCst);
        Some(GateView(seen))
    }
}

impl Default for PeerGate {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Incarnations at both ends of the count, admitted or not, in every state, with the word.
    fn each(mut check: impl FnMut(GateView, u32, bool, HelloState)) {
        for incarnation in [0_u32, 1, 0x5a5, 0xffe, 0xfff] {
            for admitted in [false, true] {
                for state in HelloState::ALL {
                    let word = incarnation * 256 + u32::from(admitted) * 4 + state as u32;
                    check(GateView(word), incarnation, admitted, state);
                }
            }
        }
    }

    fn parts(view: GateView) -> (u32, bool, HelloState) {
        (view.incarnation(), view.admitted(), view.state())
    }

    #[test]
    fn a_gate_shows_and_changes_each_part_by_itself() {
        each(|view, incarnation, admitted, state| {
            assert_eq!(parts(view), (incarnation, admitted, state));
            for other in HelloState::ALL {
                assert_eq!(parts(view.with_state(other)), (incarnation, admitted, other));
            }
            for other in [false, true] {
                assert_eq!(parts(view.with_admission(other)), (incarnation, other, state));
            }
            // S0-13: a new incarnation is unknown.
            assert_eq!(parts(view.next_incarnation()), ((incarnation + 1) % 4096, false, state));
        });
    }

    #[test]
    fn r31_a_peer_that_comes_back_from_down_has_another_incarnation_tag_and_none_else_has() {
        each(|view, incarnation, admitted, state| {
            for event in HelloEvent::ALL {
                let (next, _) = hello_step(state, event);
                let back = state == HelloState::Down && next != HelloState::Down;
                let now = if back { (incarnation + 1) % 4096 } else { incarnation };
                let admitted = admitted && !back;
                assert_eq!(parts(view.on_hello(event)), (now, admitted, next), "{event:?}");
            }
        });
    }

    #[test]
    fn r14_a_gate_given_to_the_next_peer_shows_a_stranger_under_another_tag() {
        for state in HelloState::ALL {
            let gate = PeerGate::counting_from(0xfff, 7);
            let _ = gate.change(|view| view.with_state(state).with_admission(true));
            assert!(gate.is_of(7) && !gate.is_of(8));
            gate.renew(8);
            assert_eq!(parts(gate.view()), (0, false, HelloState::Unknown));
            assert!(gate.is_of(8) && !gate.is_of(7));
            // By the former name nothing is changed.
            assert_eq!(gate.change_of(7, |view| view.with_state(HelloState::Down)), None);
            assert_eq!(parts(gate.view()), (0, false, HelloState::Unknown));
            let before = gate.change_of(8, |view| view.with_state(HelloState::Down)).map(parts);
            assert_eq!(before, Some((0, false, HelloState::Unknown)));
            assert_eq!(parts(gate.view()), (0, false, HelloState::Down));
        }
    }

    #[test]
    fn a_change_says_what_was_shown_before() {
        let gate = PeerGate::counting_from(0xab_cfff, 7);
        assert_eq!(parts(gate.view()), (0xfff, false, HelloState::Unknown));
        let before = gate.change(|view| view.with_admission(true).with_state(HelloState::Good));
        assert_eq!(parts(before), (0xfff, false, HelloState::Unknown));
        assert_eq!(parts(gate.view()), (0xfff, true, HelloState::Good));
        assert_eq!(
            parts(gate.change(|view| view.next_incarnation())),
            (0xfff, true, HelloState::Good)
        );
        assert_eq!(parts(gate.view()), (0, false, HelloState::Good));
        assert_eq!(parts(PeerGate::new().view()), (0, false, HelloState::Unknown));
    }
}
