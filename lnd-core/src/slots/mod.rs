// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the slots of one shard. A slot is for what outlives the call (decision 0021).
//!
//! Each slot is one line of memory: words that every context may touch ([`Shared`]), and a half
//! that only the shard's thread touches ([`SlotState`]). What only a waiting transfer needs is
//! stored apart. The shard's thread claims, publishes and releases a slot. Any context may decide
//! its end, and [`next_ended`](Slots::next_ended) returns it.

mod alone;
pub mod attention;
mod drains;
mod fragment_lists;
mod owner;
mod pieces;
mod queue;
pub mod shared;
mod slot;
mod state;
mod sweep;
mod waiting;

pub(crate) use fragment_lists::FragmentLists;
pub(crate) use pieces::Pieces;
pub(crate) use queue::{Queue, Round, Rounds};
pub(crate) use slot::Owned;
pub use state::Role;
pub(crate) use state::{Flags, New, PutOff, SlotState, NONE};
pub(crate) use sweep::Sweep;
pub(crate) use waiting::Waiting;

use crate::base::fragment::Fragment;
use crate::base::id::Tag;
use crate::base::key::{Key, MAX_KEY};
use crate::base::message::NakReason;
use crate::base::sync::PREFETCHES;
use crate::base::time::{Instant, Span};
use crate::machines::transfer::{Event, Phase, Word};
use crate::table::claims::Cursor;
use crate::table::completed::{Batch, FinalizeToken};
use crate::table::deadlines::Deadlines;

use drains::{Drains, SHARES};
use shared::{Applied, Owner, Shared};

/// Slots that requests of peers leave to our own transfers.
const fn own_share(count: u32, reserved: u32) -> u32 {
    let quarter = count.saturating_sub(reserved) / 4;
    if quarter == 0 {
        1
    } else {
        quarter
    }
}

/// Why no slot was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSlot {
    /// All slots for this direction are in use.
    Slots,
    /// All fragment lists are in use.
    Lists,
}

/// The slots of one shard. Context: the shard's owner.
#[derive(Debug)]
pub(crate) struct Slots<'m> {
    shared: &'m Shared<'m>,
    pub states: Owned<'m>,
    waiting: &'m mut [Waiting],
    pub lists: FragmentLists<'m>,
    timers: Deadlines<'m>,
    drains: Drains,
    cursor: Cursor,
    /// Transfers that have ended: taken from the shared list, not yet reported.
    ended: Batch,
    sweep: Sweep,
    /// The slot whose end was announced last.
    expected: u32,
    count: u32,
    /// Most slots for our own transfers. They leave the others to requests of peers.
    active_max: u32,
    /// Most slots for requests of peers. They leave the others to our own transfers.
    passive_max: u32,
    /// Slots in use: for our own transfers, and for requests of peers.
    active: u32,
    passive: u32,
}

impl<'m> Slots<'m> {
    /// All slots are free. `reserved` of them are for requests of peers alone, and of the others a
    /// quarter, one at least, for our own transfers (decision 0061).
    pub fn new(
        shared: &'m Shared<'m>,
        states: Owned<'m>,
        waiting: &'m mut [Waiting],
        lists: FragmentLists<'m>,
        timers: Deadlines<'m>,
        reserved: u32,
    ) -> Self {
        let count = states.len() as u32;
        Self {
            shared,
            states,
            waiting,
            lists,
            timers,
            drains: Drains::NONE,
            cursor: Cursor::default(),
            ended: Batch::default(),
            sweep: Sweep::default(),
            expected: NONE,
            count,
            active_max: count.saturating_sub(reserved),
            passive_max: count - own_share(count, reserved),
            active: 0,
            passive: 0,
        }
    }

    /// Number of slots.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Slots in use: `(ours, requests of peers)`.
    pub const fn in_use(&self) -> (u32, u32) {
        (self.active, self.passive)
    }

    /// Turns a slot's transfer into its final message.
    pub fn answer(&mut self, slot: u32, role: Role, why: Option<NakReason>) {
        if let Some(state) = self.states.get_mut(slot) {
            state.answer(role, why);
        }
    }

    /// Whether a request of a peer would find a slot. Without the other share requests that wait
    /// for a decision could fill the table, and our transfers that the upper layer must end before
    /// it can decide would find no slot (decision 0061).
    #[inline]
    pub fn has_room(&self) -> bool {
        self.passive < self.passive_max && self.active + self.passive < self.count
    }

    /// The owned half of a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&SlotState> {
        self.states.get(slot)
    }

    /// The owned half of a slot.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut SlotState> {
        self.states.get_mut(slot)
    }

    /// A slot's word at this moment.
    #[inline]
    pub fn word(&self, slot: u32) -> Word {
        self.shared.word(slot)
    }

    /// The tag of a slot's current use.
    #[inline]
    pub fn tag(&self, slot: u32) -> Tag {
        self.shared.tag(slot)
    }

    /// Whether a tag, of any origin, names the present use of a slot.
    #[inline]
    pub fn is_current(&self, tag: Tag) -> bool {
        // A slot that was never used has generation 0.
        self.tag(tag.index) == tag && self.word(tag.index).phase() != Phase::Free
    }

    /// The peer, incarnation and link of a slot's transfer.
    #[inline]
    pub fn owner(&self, slot: u32) -> Owner {
        self.shared.owner(slot)
    }

    /// Tag, word and owner of a slot's current use.
    #[inline]
    pub fn use_of(&self, slot: u32) -> Option<(Tag, Word, Owner)> {
        self.shared.use_of(slot)
    }

    /// Claims a slot and keeps the fragments. Transfers of ours leave the reserve to the peers.
    ///
    /// # Errors
    /// [`NoSlot`]; nothing was taken.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn claim(&mut self, new: &New<'_>) -> Result<Tag, NoSlot> {
        // Without the reserve our own requests could fill the table, and the peers' requests that
        // ours wait for would find no slot: a deadlock between two nodes (INV-11).
        if !new.passive && self.active >= self.active_max {
            return Err(NoSlot::Slots);
        }
        // The list comes first. It is returned below if no slot is free.
        let (pieces, address) = self.keep_fragments(new.fragments).ok_or(NoSlot::Lists)?;
        let claimed = self.shared.claims().claim(&mut self.cursor);
        let Some((slot, state)) = claimed.and_then(|slot| Some((slot, self.states.get_mut(slot)?)))
        else {
            self.give_back(pieces);
            return Err(NoSlot::Slots);
        };
        *state = SlotState::begun(new, pieces, address);
        if new.passive {
            self.passive += 1;
        } else {
            self.active += 1;
        }
        Ok(self.shared.renew(slot))
    }

    /// Keeps fragments: their place, and the address of a single one. `None`: all lists are in use.
    #[inline]
    pub fn keep_fragments(&mut self, fragments: &[Fragment]) -> Option<(Pieces, u64)> {
        match fragments {
            [] => Some((Pieces::NONE, 0)),
            // A single fragment is stored in the slot itself, so the usual transfer needs no list.
            [one] => Some((Pieces::one(one.length), one.address)),
            many => Some((Pieces::listed(self.lists.take(many)?, many.len()), 0)),
        }
    }

    fn give_back(&mut self, pieces: Pieces) {
        if let Some((list, _)) = pieces.list() {
            self.lists.give_back(list);
        }
    }

    /// Keeps the upper layer's header of a request that is to wait. It has at most
    /// [`MAX_HEADER`](crate::base::message::MAX_HEADER) bytes.
    pub fn keep_header(&mut self, slot: u32, header: &[u8]) {
        let Some(entry) = self.waiting.get_mut(slot as usize) else { return };
        let Some(place) = entry.header.get_mut(..header.len()) else { return };
        for (to, from) in place.iter_mut().zip(header) {
            *to = *from;
        }
        if let Some(state) = self.states.get_mut(slot) {
            state.header_length = header.len() as u8;
        }
    }

    /// Keeps the key of a pull in place of a header. A pull that waits needs no header: its own
    /// request is sent, or it is a peer's. A key that is too long is no key.
    pub fn keep_key(&mut self, slot: u32, key: &[u8]) {
        // An empty key is refused where the pull is posted.
        self.keep_header(slot, if key.len() > MAX_KEY { &[] } else { key });
    }

    /// The key that was kept for a pull.
    pub fn key(&self, slot: u32) -> Key {
        Key::new(self.header(slot)).unwrap_or(Key::NONE)
    }

    /// Links two slots of a queue, one behind the other.
    fn link(&mut self, slot: u32, behind: u32) {
        if let Some(entry) = self.waiting.get_mut(slot as usize) {
            entry.next = behind;
        }
        if let Some(entry) = self.waiting.get_mut(behind as usize) {
            entry.previous = slot;
        }
    }

    /// The upper layer's header, if it was kept.
    pub fn header(&self, slot: u32) -> &[u8] {
        let kept = self.get(slot).zip(self.waiting.get(slot as usize));
        let header = kept.and_then(|(s, entry)| entry.header.get(..s.header_length as usize));
        header.unwrap_or(&[])
    }

    /// Sets the peer, incarnation and link of a transfer. Context: the holder of its `CPU` debt.
    #[inline]
    pub fn assign(&self, tag: Tag, owner: Owner) {
        self.shared.assign(tag, owner);
    }

    /// Publishes a claimed slot. From now on every context may see it.
    #[inline]
    pub fn publish(&self, tag: Tag, word: Word) {
        self.shared.publish(tag, word);
    }

    /// Applies an event to the transfer that `tag` names. [`next_ended`](Self::next_ended) returns
    /// a transfer that has ended behind all earlier ones. `None`: the tag is stale (R14).
    #[inline]
    pub fn apply(&mut self, tag: Tag, event: Event) -> Option<Applied> {
        // The owner appends to its own batch without a locked operation (decision 0021).
        self.shared.apply_owned(tag, event, &mut self.ended)
    }

    /// As [`apply`](Self::apply), compiled into its caller: for a constant event.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn apply_here(&mut self, tag: Tag, event: Event) -> Option<Applied> {
        self.shared.apply_here(tag, event, &mut self.ended)
    }

    /// As [`apply_here`](Self::apply_here) or [`apply`](Self::apply). Returns the token of a
    /// transfer that has ended and is the next to be reported.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn apply_last<const HERE: bool>(
        &mut self,
        tag: Tag,
        event: Event,
    ) -> (Option<Applied>, Option<FinalizeToken>) {
        self.shared.apply_last::<HERE>(tag, event, &mut self.ended)
    }

    /// Asks for the cache lines that the end of the transfer in a slot touches.
    ///
    /// The neighbours of its timer are named by the timer itself, so they are asked for in the next
    /// call, when it has come.
    #[inline]
    pub fn expect(&mut self, slot: u32) {
        if PREFETCHES {
            self.timers.expect_neighbours(core::mem::replace(&mut self.expected, slot));
            self.timers.expect(slot);
            self.shared.expect(slot);
        }
    }

    /// Takes the next slot whose transfer has ended, oldest first.
    #[inline]
    pub fn next_ended(&mut self) -> Option<u32> {
        // A batch is emptied before the next one is taken: the order of the ends is the order of
        // the reports (R9).
        if self.ended.is_empty() {
            self.ended = self.shared.take_completed();
        }
        self.shared.next_completed(&mut self.ended)
    }

    /// Whether every ended transfer was taken. A hint.
    #[inline]
    pub fn nothing_ended(&self) -> bool {
        // A transfer may end in another context right after. That context then wakes this thread.
        self.ended.is_empty() && self.shared.nothing_completed()
    }

    /// Releases an ended slot, with its fragment list and its timer. `DRAINED`: it may have been
    /// given up.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn release<const DRAINED: bool>(&mut self, tag: Tag) {
        self.timers.disarm(tag.index);
        let Some(state) = self.states.get_mut(tag.index) else { return };
        // The count that a slot leaves is the one it entered, whatever its role has become since.
        let (pieces, flags) = (state.pieces, state.flags);
        if SHARES && DRAINED && flags.contains(Flags::TOGETHER) {
            state.flags.remove(Flags::TOGETHER);
            self.drains.leave();
        }
        self.give_back(pieces);
        if flags.contains(Flags::PASSIVE) {
            self.passive = self.passive.saturating_sub(1);
        } else {
            self.active = self.active.saturating_sub(1);
        }
        // The word comes last. From then on the slot may be claimed again.
        self.shared.release(tag);
    }

    /// Arms a slot's timer, or moves it.
    #[inline]
    pub fn arm(&mut self, slot: u32, due: Instant) {
        self.timers.arm(slot, due);
    }

    /// From now on the slot's timer bounds its drain. If it `may_share`, it may be that of others
    /// that were given up at about the same time. No effect on a slot that drains already.
    #[cfg_attr(not(feature = "compact"), inline(always))]
    pub fn begin_drain(&mut self, slot: u32, now: Instant, bound: Span, may_share: bool) {
        let Some(state) = self.states.get_mut(slot) else { return };
        // Until a proof ends the drain, the slot itself is the quarantine (R13). The quarantine is
        // bounded by the slots: new work is refused when none is left, and the end of the bound
        // stops the engine.
        if state.flags.contains(Flags::DRAINING) {
            return;
        }
        let shares = SHARES && may_share && self.drains.join(now, bound, self.timers.armed(slot));
        state.begin_drain(shares);
        if !shares {
            self.timers.arm(slot, now.after(bound));
        }
    }

    /// Whether a slot's timer is armed, and for when.
    #[inline]
    pub fn armed(&self, slot: u32) -> Option<Instant> {
        let is_member = |state: &SlotState| state.flags.contains(Flags::TOGETHER);
        if SHARES && self.get(slot).is_some_and(is_member) {
            return self.drains.due();
        }
        self.timers.armed(slot)
    }

    /// The next timer's time, if it ever comes.
    pub fn next_due(&self) -> Instant {
        self.timers.next_due().min(self.drains.due().unwrap_or(Instant::NEVER))
    }

    /// Disarms one slot whose timer is due, and returns it with the time at which it was. No slot:
    /// one of those that might share a timer was looked at, and does not.
    #[cfg_attr(feature = "compact", inline(never))]
    pub fn expire(&mut self, now: Instant) -> Option<(Instant, Option<u32>)> {
        let Some((due, slot)) = self.drains.next_slot(now) else {
            return self.timers.expire(now).map(|(due, slot)| (due, Some(slot)));
        };
        match self.states.get_mut(slot) {
            Some(state) if state.flags.contains(Flags::TOGETHER) => {
                state.flags.remove(Flags::TOGETHER);
                self.drains.leave();
                self.timers.disarm(slot);
                Some((due, Some(slot)))
            }
            Some(_) => Some((due, None)),
            // Every slot was looked at.
            None => {
                self.drains = Drains::NONE;
                Some((due, None))
            }
        }
    }

    /// Slots that share a timer. For audits.
    pub const fn draining_together(&self) -> u32 {
        self.drains.left()
    }

    /// Requests one whole pass over the table.
    pub fn request_sweep(&mut self) {
        self.sweep.request(self.count);
    }

    /// Whether no pass over the table is under way.
    pub const fn is_swept(&self) -> bool {
        self.sweep.is_done()
    }

    /// The next slot of the pass over the table.
    pub fn next_to_sweep(&mut self) -> Option<u32> {
        self.sweep.next(self.count)
    }

    /// The slots in use, by the claim bitmap. For audits.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        let claims = self.shared.claims();
        (0..self.count.div_ceil(32)).flat_map(move |group| {
            let mut left = claims.used_in(group);
            core::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 32).then(|| group.wrapping_mul(32).wrapping_add(bit))
            })
        })
    }

    /// Whether a slot is free. For audits.
    #[inline]
    pub fn is_free(&self, slot: u32) -> bool {
        self.shared.claims().is_free(slot)
    }

    /// Whether a slot holds a transfer that has not ended.
    #[inline]
    pub fn is_under_way(&self, slot: u32) -> bool {
        matches!(self.word(slot).phase(), Phase::Queued | Phase::Live)
    }

    /// Hashes the owner's half of a slot in use, and what it needs while it waits.
    pub fn hash_slot(&self, slot: u32, hasher: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        let Some(mut state) = self.get(slot).copied() else { return };
        if state.is_queued() {
            self.waiting.get(slot as usize).map(|it| (it.previous, it.next)).hash(hasher);
            self.header(slot).hash(hasher);
        } else if state.role == Role::RxRequest {
            // The key of what it will pull.
            self.header(slot).hash(hasher);
        } else {
            // The transfer has left the queue, so what was kept for waiting is meaningless.
            state.header_length = 0;
        }
        state.hash(hasher);
    }

    /// Hashes the part of the table's own state on which its future depends.
    pub fn hash_state(&self, hasher: &mut impl core::hash::Hasher) {
        use core::hash::Hash;
        (&self.sweep, &self.drains, &self.cursor, self.active, self.passive).hash(hasher);
    }
}
