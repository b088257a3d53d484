// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Everything that more than one context may touch, and the one place where a step is applied.

use crossbeam_utils::CachePadded;

use crate::claims::Claims;
use crate::completed::{Batch, Completed, FinalizeToken};
use crate::defect::{mistaken, ordered, seeded};
use crate::id::{LinkId, PeerId, Tag};
use crate::link::LinkGate;
use crate::peer::{HelloState, PeerGate, LIFE_BITS};
use crate::sync::{AtomicU32, Ordering};
use crate::transfer::{step, Cause, Effect, Event, Phase, Word};

/// The shared half of one transfer slot: its own cache line, since completions and submissions of
/// neighbouring slots come from different processors.
#[derive(Debug)]
#[cfg_attr(not(feature = "dense"), repr(C, align(64)))]
#[cfg_attr(feature = "dense", repr(C))]
pub struct Slot {
    /// The transfer word. Written by compare-and-swap, and by its owner when it publishes.
    word: AtomicU32,
    /// Link of the completed list; the token's holder's, then the reporting thread's.
    next: AtomicU32,
    /// How often the slot has been claimed. Written by the owner between claim and publication.
    generation: AtomicU32,
    /// Whose it is; see [`Whose`]. Written by the owner before publication and with `Arm`.
    whose: AtomicU32,
}

#[cfg(all(not(loom), not(feature = "dense")))]
static_assertions::const_assert_eq!(core::mem::size_of::<Slot>(), 64);
#[cfg(all(not(loom), feature = "dense"))]
static_assertions::const_assert_eq!(core::mem::size_of::<Slot>(), 16);

impl Slot {
    /// A slot that has never been used.
    pub fn new() -> Self {
        Self::counting_from(0)
    }

    /// A slot that has never been used, and that counts its uses from `generation`.
    pub fn counting_from(generation: u32) -> Self {
        Self {
            word: AtomicU32::new(Word::free(generation).bits()),
            next: AtomicU32::new(0),
            generation: AtomicU32::new(generation),
            whose: AtomicU32::new(0),
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::new()
    }
}

/// To which peer, which life of it and which link a transfer belongs, in 32 bits:
/// `peer 16 | life 12 | link 4`, the link's highest value meaning "none yet".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Whose(u32);

impl Whose {
    const NO_LINK: u32 = 0xf;

    /// A transfer of `peer` under life tag `life`, on `link` if it has one.
    pub const fn new(peer: PeerId, life: u32, link: Option<LinkId>) -> Self {
        let link = match link {
            Some(link) => link.index() as u32,
            None => Self::NO_LINK,
        };
        Self(((peer.index() as u32) << 16) | ((life & ((1 << LIFE_BITS) - 1)) << 4) | link)
    }

    /// The peer's place in the table. It has a transfer, so it is not forgotten meanwhile.
    pub const fn peer_index(self) -> u32 {
        self.0 >> 16
    }

    /// The peer's life tag.
    pub const fn life(self) -> u32 {
        (self.0 >> 4) & ((1 << LIFE_BITS) - 1)
    }

    /// The link, if one was chosen.
    pub const fn link(self) -> Option<LinkId> {
        LinkId::new((self.0 & 0xf) as usize)
    }
}

/// What applying an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The word before.
    pub before: Word,
    /// The word after.
    pub after: Word,
    /// What the caller must do. [`Effect::Finalize`] has been done already.
    pub effect: Effect,
}

/// Why something shall look at the shard soon; bits of the attention word.
pub mod attention {
    /// Some transfer may have to be cancelled or recalled: sweep.
    pub const SWEEP: u32 = 1 << 0;
    /// A hello was not delivered.
    pub const UNHEARD: u32 = 1 << 1;
    /// The shift of the links' failure bits.
    pub const LINK_SHIFT: u32 = 8;
    /// The shift of the links' bits that say that the device is gone.
    pub const GONE_SHIFT: u32 = 16;
}

/// The words of one shard.
#[derive(Debug)]
pub struct Shared<'m> {
    slots: &'m [Slot],
    claims: Claims<'m>,
    peers: &'m [PeerGate],
    links: &'m [LinkGate],
    completed: CachePadded<Completed>,
    /// Gates of peers to which a hello was not delivered.
    unheard: CachePadded<Completed>,
    attention: CachePadded<AtomicU32>,
}

impl<'m> Shared<'m> {
    /// The words over their tables.
    pub fn new(
        slots: &'m [Slot],
        claims: Claims<'m>,
        peers: &'m [PeerGate],
        links: &'m [LinkGate],
    ) -> Self {
        Self {
            slots,
            claims,
            peers,
            links,
            completed: CachePadded::new(Completed::new()),
            unheard: CachePadded::new(Completed::new()),
            attention: CachePadded::new(AtomicU32::new(0)),
        }
    }

    /// The claim bitmap.
    pub const fn claims(&self) -> &Claims<'m> {
        &self.claims
    }

    /// The gate of a peer; `None` if the id is stale. The peer may be forgotten at any time after, in
    /// contexts other than the shard's owner: see [`PeerGate::change_of`].
    pub fn peer(&self, peer: PeerId) -> Option<&'m PeerGate> {
        self.peers.get(peer.index()).filter(|gate| gate.is_of(peer.generation()))
    }

    /// The gate of a place in the peer table, whatever peer is in it. The shard's owner, who alone
    /// forgets peers, needs no more.
    pub fn peer_gate(&self, index: usize) -> Option<&'m PeerGate> {
        self.peers.get(index)
    }

    /// The gate of a link.
    pub fn link(&self, link: LinkId) -> Option<&'m LinkGate> {
        self.links.get(link.index())
    }

    fn slot(&self, index: u32) -> Option<&'m Slot> {
        self.slots.get(index as usize)
    }

    /// A slot's word at this moment.
    pub fn word(&self, index: u32) -> Word {
        // Acquire: partner is the Release of `publish` and `apply`.
        self.slot(index).map_or(Word::free(0), |s| Word::from_bits(s.word.load(Ordering::Acquire)))
    }

    /// Whose a slot's transfer is.
    pub fn whose(&self, index: u32) -> Whose {
        Whose(self.slot(index).map_or(0, |s| s.whose.load(Ordering::Relaxed)))
    }

    /// The tag of a slot's current use.
    pub fn tag(&self, index: u32) -> Tag {
        let generation = self.slot(index).map_or(0, |s| s.generation.load(Ordering::Relaxed));
        Tag { index, generation }
    }

    /// Begins a new use of a claimed slot: its tag.
    pub fn renew(&self, index: u32) -> Tag {
        let Some(slot) = self.slot(index) else { return Tag { index, generation: 0 } };
        // Relaxed: the slot is the claimer's own until it is published.
        let generation = slot.generation.load(Ordering::Relaxed);
        let generation = generation.wrapping_add(u32::from(!seeded("same-generation")));
        slot.generation.store(generation, Ordering::Relaxed);
        Tag { index, generation }
    }

    /// Says whose a transfer is. Context: the holder of its `CPU` debt.
    pub fn assign(&self, tag: Tag, whose: Whose) {
        if let Some(slot) = self.slot(tag.index) {
            // Relaxed: published with the word, or read by sweeps as a hint that the gate check of
            // the submitter makes good.
            slot.whose.store(whose.0, Ordering::Relaxed);
        }
    }

    /// Publishes a word for a slot that was just claimed: from now on every context may see it.
    pub fn publish(&self, tag: Tag, word: Word) {
        if let Some(slot) = self.slot(tag.index) {
            // A plain store, not a compare-and-swap: no event touches a `Free` word.
            // Release: partner is the Acquire in `word` and `apply`.
            slot.word.store(word.bits(), ordered("publish-relaxed", Ordering::Release));
        }
    }

    /// Gives a finished slot back: its word becomes `Free`, its tag stale. Context: the shard's owner.
    pub fn release(&self, tag: Tag) {
        if let Some(slot) = self.slot(tag.index) {
            // Relaxed: the next claimer is this same owner; a `Done` word and a `Free` one are
            // equally dead to every event.
            slot.word.store(Word::free(tag.generation).bits(), Ordering::Relaxed);
        }
        self.claims.release(tag.index);
    }

    /// Applies an event to the transfer that `tag` names: the one place that changes a live word
    /// and the one place that finalizes. `None`: the tag is stale (R14).
    ///
    /// Context: any. One locked operation unless contended, one more for the last debt.
    pub fn apply(&self, tag: Tag, event: Event) -> Option<Applied> {
        let slot = self.slot(tag.index)?;
        // Acquire: partner is the Release of `publish` and of the exchange below: whoever acts on
        // an effect sees everything that was written before the debts were published or paid.
        let mut seen = slot.word.load(Ordering::Acquire);
        // Relaxed: equal to the tag's or the tag is stale; a use that begins right now changes the
        // word's own generation, and the exchange fails.
        let stale = slot.generation.load(Ordering::Relaxed) != tag.generation;
        if stale && !seeded("stale-completion-taken") {
            return None;
        }
        loop {
            let before = Word::from_bits(seen);
            let stale = !before.is_of(tag.generation) && !seeded("stale-completion-taken");
            if stale || before.phase() == Phase::Free {
                return None;
            }
            let outcome = step(before, mistaken(before, event));
            if outcome.word == before {
                return Some(Applied { before, after: before, effect: outcome.effect });
            }
            // AcqRel: partner is this same exchange in the other contexts, and `publish`.
            let order = ordered("apply-relaxed", Ordering::AcqRel);
            if seeded("store-for-exchange") {
                seen = outcome.word.bits();
                slot.word.store(seen, Ordering::Release);
            }
            match slot.word.compare_exchange_weak(
                seen,
                outcome.word.bits(),
                order,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    if outcome.effect == Effect::Finalize {
                        self.complete(FinalizeToken::new(tag.index));
                    }
                    return Some(Applied { before, after: outcome.word, effect: outcome.effect });
                }
                Err(now) => seen = now,
            }
        }
    }

    fn next_word(&self, index: u32) -> Option<&'m AtomicU32> {
        self.slot(index).map(|slot| &slot.next)
    }

    fn complete(&self, token: FinalizeToken) {
        self.completed.push(token, |index| self.next_word(index));
    }

    /// Takes all finished transfers, oldest first. Context: the one thread that reports.
    pub fn take_completed(&self) -> Batch {
        self.completed.take(|index| self.next_word(index))
    }

    /// The next slot of a taken batch.
    pub fn next_completed(&self, batch: &mut Batch) -> Option<u32> {
        batch.next(|index| self.next_word(index))
    }

    /// Hello `number`, not zero, to the peer in a place was not delivered. Context: any. Whoever calls this wakes
    /// the thread.
    pub fn hello_unheard(&self, index: u32, number: u32) {
        let Some(gate) = self.peer_gate(index as usize) else { return };
        if gate.note_unheard(number) {
            let next_of = |index: u32| self.peer_gate(index as usize).map(PeerGate::next_unheard);
            self.unheard.push_index(index, next_of);
        }
        self.want(attention::UNHEARD);
    }

    /// Takes all places of peers to which a hello was not delivered. Context: the shard's owner.
    pub fn take_unheard(&self) -> Batch {
        self.unheard.take(|index| self.peer_gate(index as usize).map(PeerGate::next_unheard))
    }

    /// The next place of a taken batch, and the number of the hello.
    pub fn next_unheard(&self, batch: &mut Batch) -> Option<(u32, u32)> {
        let index =
            batch.next(|index| self.peer_gate(index as usize).map(PeerGate::next_unheard))?;
        Some((index, self.peer_gate(index as usize)?.take_unheard()))
    }

    /// Whether nothing waits to be reported. A hint.
    pub fn nothing_completed(&self) -> bool {
        self.completed.is_empty()
    }

    /// Asks the shard's thread to look. Context: any. Whoever calls this wakes the thread.
    pub fn want(&self, bits: u32) {
        // Release: partner is the Acquire in `take_attention`.
        self.attention.fetch_or(bits, ordered("want-relaxed", Ordering::Release));
    }

    /// Whether somebody asked. A hint.
    pub fn attention_wanted(&self) -> bool {
        self.attention.load(Ordering::Relaxed) != 0
    }

    /// What was asked for since the last call. Context: the shard's owner.
    pub fn take_attention(&self) -> u32 {
        if !self.attention_wanted() {
            return 0;
        }
        // Acquire: partner is the Release in `want`.
        self.attention.swap(0, Ordering::Acquire)
    }

    /// Why the transfer in a slot must be cancelled, going by the gates; `None` if it may go on.
    pub fn doomed(&self, index: u32) -> Option<(Tag, Cause)> {
        let word = self.word(index);
        let live = match word.phase() {
            Phase::Queued => false,
            Phase::Live => true,
            Phase::Free | Phase::Done => return None,
        };
        let (tag, whose) = (self.tag(index), self.whose(index));
        if !word.is_of(tag.generation) {
            return None;
        }
        let gate = self.peer_gate(whose.peer_index() as usize)?.view();
        if gate.state() == HelloState::Down {
            return Some((tag, Cause::PeerDown));
        }
        if live && gate.life() != whose.life() {
            return Some((tag, Cause::PeerRestarted));
        }
        let closed = whose.link().and_then(|l| self.link(l)).is_some_and(|g| !g.is_open());
        if live && closed {
            return Some((tag, Cause::LinkDown));
        }
        None
    }
}
