// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds everything that more than one context may touch, and the one place where a step
//! is applied.

use crossbeam_utils::CachePadded;

use super::alone::Alone;
pub use super::attention;
pub use super::owner::Owner;
pub use super::slot::Slot;
use crate::base::defect::ordered;
use crate::base::id::{LinkId, PeerId, Tag};
use crate::base::sync::{prefetch_for_write, AtomicU32, Ordering};
use crate::machines::link::LinkGate;
use crate::machines::peer::{HelloState, PeerGate};
use crate::machines::transfer::{step, step_here, Cause, Effect, Event, Phase, Word};
use crate::table::claims::Claims;
use crate::table::completed::{Batch, Completed, FinalizeToken};

/// What applying an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The word before.
    pub before: Word,
    /// The word after.
    pub after: Word,
    /// What the caller must do. [`Effect::Finalize`] is already done.
    pub effect: Effect,
}

/// The shared words of one shard.
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
    alone: Alone,
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
            alone: Alone::new(),
        }
    }

    /// Whether another context may use these words.
    #[inline]
    pub(crate) const fn alone(&self) -> &Alone {
        &self.alone
    }

    /// The claim bitmap.
    pub const fn claims(&self) -> &Claims<'m> {
        &self.claims
    }

    /// The gate of a peer. `None`: the id is stale. In contexts other than the shard's owner the
    /// peer may be forgotten at any time after: see [`PeerGate::change_of`].
    pub fn peer(&self, peer: PeerId) -> Option<&'m PeerGate> {
        self.peers.get(peer.index()).filter(|gate| gate.is_of(peer.generation()))
    }

    /// The gate of a place in the peer table, for any peer in it. The shard's owner needs no more,
    /// because it alone forgets peers.
    pub fn peer_gate(&self, index: usize) -> Option<&'m PeerGate> {
        self.peers.get(index)
    }

    /// The gates of all places.
    pub(crate) const fn peer_gates(&self) -> &'m [PeerGate] {
        self.peers
    }

    /// The gate of a link.
    pub fn link(&self, link: LinkId) -> Option<&'m LinkGate> {
        self.links.get(link.index())
    }

    #[inline]
    fn slot(&self, index: u32) -> Option<&'m Slot> {
        self.slots.get(index as usize)
    }

    /// Asks for the cache line of a slot.
    #[inline]
    pub(super) fn expect(&self, index: u32) {
        if let Some(slot) = self.slot(index) {
            prefetch_for_write(slot);
        }
    }

    /// A slot's word at this moment.
    #[inline]
    pub fn word(&self, index: u32) -> Word {
        // Acquire: partner is the Release of `publish` and `apply`.
        self.slot(index).map_or(Word::free(0), |s| Word::from_bits(s.word.load(Ordering::Acquire)))
    }

    /// The peer, incarnation and link of a slot's transfer.
    #[inline]
    pub fn owner(&self, index: u32) -> Owner {
        // Relaxed: see `assign`. The two words may be of two assignments. Each is a hint of its
        // own.
        let words = |s: &Slot| (s.peer.load(Ordering::Relaxed), s.link.load(Ordering::Relaxed));
        let (peer, link) = self.slot(index).map_or((0, 0), words);
        Owner::from_words(peer, link)
    }

    /// Tag, word and owner of a slot's current use. Context: the shard's owner.
    #[inline]
    pub(super) fn use_of(&self, index: u32) -> Option<(Tag, Word, Owner)> {
        let slot = self.slot(index)?;
        // Acquire: partner is the Release of `publish` and `apply`.
        let word = Word::from_bits(slot.word.load(Ordering::Acquire));
        // Relaxed, all: the shard's owner itself has written them.
        let generation = slot.generation.load(Ordering::Relaxed);
        let (peer, link) = (slot.peer.load(Ordering::Relaxed), slot.link.load(Ordering::Relaxed));
        Some((Tag { index, generation }, word, Owner::from_words(peer, link)))
    }

    /// The tag of a slot's current use.
    #[inline]
    pub fn tag(&self, index: u32) -> Tag {
        let generation = self.slot(index).map_or(0, |s| s.generation.load(Ordering::Relaxed));
        Tag { index, generation }
    }

    /// Begins a new use of a claimed slot, and returns its tag.
    #[inline]
    pub fn renew(&self, index: u32) -> Tag {
        let Some(slot) = self.slot(index) else { return Tag { index, generation: 0 } };
        // Relaxed: until it is published, only the claimer touches the slot.
        let generation = slot.generation.load(Ordering::Relaxed);
        let generation = generation.wrapping_add(1);
        slot.generation.store(generation, Ordering::Relaxed);
        Tag { index, generation }
    }

    /// Sets the peer, incarnation and link of a transfer. Context: the holder of its `CPU` debt.
    #[inline]
    pub fn assign(&self, tag: Tag, owner: Owner) {
        if let Some(slot) = self.slot(tag.index) {
            // Relaxed: published with the word, or read by a sweep as a hint. The submitter's own
            // check of the gate covers a sweep that reads too early.
            let (peer, link) = owner.words();
            slot.peer.store(peer, Ordering::Relaxed);
            slot.link.store(link, Ordering::Relaxed);
        }
    }

    /// Publishes a word for a slot that was just claimed. From now on every context may see it.
    #[inline]
    pub fn publish(&self, tag: Tag, word: Word) {
        if let Some(slot) = self.slot(tag.index) {
            // A plain store, not a compare-and-swap: no event touches a `Free` word.
            // Release: partner is the Acquire in `word` and `apply`.
            slot.word.store(word.bits(), ordered("publish-relaxed", Ordering::Release));
        }
    }

    /// Releases a finished slot: its word becomes `Free`, its tag stale. Context: the shard's
    /// owner.
    pub fn release(&self, tag: Tag) {
        if let Some(slot) = self.slot(tag.index) {
            // Relaxed: the next claimer is this same owner. No event changes a `Done` word or a
            // `Free` one.
            slot.word.store(Word::free(tag.generation).bits(), Ordering::Relaxed);
        }
        self.claims.release(tag.index);
    }

    /// Applies an event to the transfer that `tag` names. `None`: the tag is stale (R14).
    ///
    /// Context: any. One locked operation unless contended, one more for the last debt.
    pub fn apply(&self, tag: Tag, event: Event) -> Option<Applied> {
        self.exchange::<false>(tag, event, |token| self.complete(token, None))
    }

    /// As [`apply`](Self::apply). A transfer that has ended is appended to `batch`. Context: the
    /// one thread that reports. One locked operation unless contended.
    pub fn apply_owned(&self, tag: Tag, event: Event, batch: &mut Batch) -> Option<Applied> {
        self.exchange::<false>(tag, event, |token| self.complete(token, Some(batch)))
    }

    /// As [`apply_owned`](Self::apply_owned): the event is a constant here, too.
    #[cfg(feature = "compact")]
    pub fn apply_here(&self, tag: Tag, event: Event, batch: &mut Batch) -> Option<Applied> {
        self.apply_owned(tag, event, batch)
    }

    /// As [`apply_owned`](Self::apply_owned), compiled into its caller: for a constant event.
    #[cfg(not(feature = "compact"))]
    #[inline(always)]
    pub fn apply_here(&self, tag: Tag, event: Event, batch: &mut Batch) -> Option<Applied> {
        self.exchange::<true>(tag, event, |token| self.complete(token, Some(batch)))
    }

    /// As [`apply_owned`](Self::apply_owned). `HERE`: compiled into its caller, for a constant
    /// event. The token of a transfer that has ended is returned, if
    /// no other transfer waits to be reported before it (R9).
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn apply_last<const HERE: bool>(
        &self,
        tag: Tag,
        event: Event,
        batch: &mut Batch,
    ) -> (Option<Applied>, Option<FinalizeToken>) {
        let mut kept = None;
        let applied = self.exchange::<HERE>(tag, event, |token| {
            if batch.is_empty() && self.nothing_completed() {
                kept = Some(token);
            } else {
                self.complete(token, Some(batch));
            }
        });
        (applied, kept)
    }

    /// The one place that changes a live word and makes a finalize token, which `ended` takes.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    fn exchange<const HERE: bool>(
        &self,
        tag: Tag,
        event: Event,
        ended: impl FnOnce(FinalizeToken),
    ) -> Option<Applied> {
        let slot = self.slot(tag.index)?;
        // Acquire: partner is the Release of `publish` and of the exchange below. A context that
        // acts on an effect sees everything that was written before the debts were published or
        // paid.
        let mut seen = slot.word.load(Ordering::Acquire);
        // Relaxed: the generation equals the tag's, or the tag is stale. A use that begins right
        // now changes the word's own generation, so the exchange fails.
        if slot.generation.load(Ordering::Relaxed) != tag.generation {
            return None;
        }
        loop {
            let before = Word::from_bits(seen);
            if !before.is_of(tag.generation) || before.phase() == Phase::Free {
                return None;
            }
            let outcome = if HERE { step_here(before, event) } else { step(before, event) };
            // An unchanged word needs no exchange. A late event costs no locked operation.
            if outcome.word == before {
                return Some(Applied { before, after: before, effect: outcome.effect });
            }
            // AcqRel: partner is this same exchange in the other contexts, and `publish`.
            let order = ordered("apply-relaxed", Ordering::AcqRel);
            let changed = if self.alone.is_set() {
                // Relaxed: there is no other context. Those that come later get their handle after
                // this store (decision 0037).
                slot.word.store(outcome.word.bits(), Ordering::Relaxed);
                Ok(seen)
            } else {
                slot.word.compare_exchange_weak(seen, outcome.word.bits(), order, Ordering::Acquire)
            };
            match changed {
                Ok(_) => {
                    if outcome.effect == Effect::Finalize {
                        ended(FinalizeToken::new(tag.index));
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

    fn complete(&self, token: FinalizeToken, batch: Option<&mut Batch>) {
        match batch {
            // What has ended in other contexts before is reported first (R9).
            Some(batch) if self.nothing_completed() => {
                batch.append(token, |index| self.next_word(index));
            }
            _ => self.completed.push(token, |index| self.next_word(index)),
        }
    }

    /// Takes all finished transfers, oldest first. Context: the one thread that reports.
    #[inline]
    pub fn take_completed(&self) -> Batch {
        self.completed.take(|index| self.next_word(index))
    }

    /// The next slot of a taken batch.
    #[inline]
    pub fn next_completed(&self, batch: &mut Batch) -> Option<u32> {
        batch.next(|index| self.next_word(index))
    }

    /// Notes that hello `number`, not zero, to the peer in a place was not delivered. The caller
    /// then wakes the shard's thread. Context: any.
    pub fn hello_unheard(&self, index: u32, number: u32) {
        let Some(gate) = self.peer_gate(index as usize) else { return };
        // Only the caller that finds no earlier note puts the gate on the list. A gate is on the
        // list at most once, because its link word has room for one list.
        if gate.note_unheard(number) {
            let next_of = |index: u32| self.peer_gate(index as usize).map(PeerGate::next_unheard);
            self.unheard.push_index(index, next_of);
        }
        self.want(attention::UNHEARD);
    }

    /// Takes all places of peers with an undelivered hello. Context: the shard's owner.
    pub fn take_unheard(&self) -> Batch {
        self.unheard.take(|index| self.peer_gate(index as usize).map(PeerGate::next_unheard))
    }

    /// The next place of a taken batch, and the number of the hello.
    pub fn next_unheard(&self, batch: &mut Batch) -> Option<(u32, u32)> {
        let index =
            batch.next(|index| self.peer_gate(index as usize).map(PeerGate::next_unheard))?;
        // The link is read before the note is taken: from then on another context may put the gate
        // on the list again.
        Some((index, self.peer_gate(index as usize)?.take_unheard()))
    }

    /// Whether nothing waits to be reported. A hint.
    #[inline]
    pub fn nothing_completed(&self) -> bool {
        self.completed.is_empty()
    }

    /// Requests attention of the shard's thread. The caller then wakes that thread. Context: any.
    pub fn want(&self, bits: u32) {
        // Release: partner is the Acquire in `take_attention`.
        self.attention.fetch_or(bits, ordered("want-relaxed", Ordering::Release));
    }

    /// Whether attention was requested. A hint.
    #[inline]
    // Relaxed: a request that is missed here is seen by the run that the caller's wake-up starts.
    pub fn attention_wanted(&self) -> bool {
        self.attention.load(Ordering::Relaxed) != 0
    }

    /// What was requested since the last call. Context: the shard's owner.
    pub fn take_attention(&self) -> u32 {
        // The usual case is a plain load. The exchange would take the cache line from other
        // contexts.
        if !self.attention_wanted() {
            return 0;
        }
        // Acquire: partner is the Release in `want`.
        self.attention.swap(0, Ordering::Acquire)
    }

    /// Why the transfer in a slot must be cancelled, according to the gates. `None`: it goes on.
    pub fn must_cancel(&self, index: u32) -> Option<(Tag, Cause)> {
        let (tag, word, owner) = self.use_of(index)?;
        // The slot was reused between the two reads. The new use has its own check.
        if !word.is_of(tag.generation) {
            return None;
        }
        self.refused(word, owner).map(|cause| (tag, cause))
    }

    /// Why a transfer must be cancelled, according to the gates, by its word and its owner.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub(crate) fn refused(&self, word: Word, owner: Owner) -> Option<Cause> {
        let live = match word.phase() {
            Phase::Queued => false,
            Phase::Live => true,
            Phase::Free | Phase::Done => return None,
        };
        let gate = self.peer_gate(owner.peer_index() as usize)?.view();
        if gate.state() == HelloState::Down {
            return Some(Cause::PeerDown);
        }
        // A queued transfer has sent nothing to any incarnation yet, so only a live one ends with
        // its incarnation or its link.
        if live && gate.incarnation() != owner.incarnation() {
            return Some(Cause::PeerRestarted);
        }
        let closed = owner.link().and_then(|l| self.link(l)).is_some_and(|g| !g.is_open());
        if live && closed {
            return Some(Cause::LinkDown);
        }
        None
    }
}
