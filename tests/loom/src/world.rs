// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The shared words of one shard, made anew for each execution.

use core::ptr::NonNull;
use std::rc::Rc;

use lnd_core::claims::{Claims, Cursor};
use lnd_core::id::{LinkId, PeerId, Tag};
use lnd_core::link::LinkGate;
use lnd_core::peer::PeerGate;
use lnd_core::shared::{Owner, Shared, Slot};
use lnd_core::sync::AtomicU32;
use lnd_core::transfer::{Cause, Debts, Effect, Event, Word};
use loom::sync::Condvar;

use crate::Watched;

/// The words of one shard with one peer and one link, both gates as new: the peer `Unknown`, the
/// link closed. One plain cell a slot stands for the transfer's details.
///
/// loom's threads are coroutines of one system thread, so an `Rc` is enough to share it, and
/// keeps reference counts out of the model.
#[derive(Debug)]
pub struct World {
    turn: Condvar,
    // Before the tables, which it borrows.
    shared: Shared<'static>,
    slot_state: Box<[Watched]>,
    _tables: (Table<Slot>, Table<AtomicU32>, Table<PeerGate>, Table<LinkGate>),
}

impl World {
    /// A world of `slots` slots, all free and never used.
    pub fn new(slots: usize) -> Rc<Self> {
        Self::used(slots, 0)
    }

    /// A world of `slots` free slots that have been used `generation` times.
    pub fn used(slots: usize, generation: u32) -> Rc<Self> {
        let (slot_table, slots_ref) = Table::new(slots, |_| Slot::counting_from(generation));
        let (word_table, words_ref) =
            Table::new(Claims::words(slots), |i| AtomicU32::new(Claims::initial(slots, i)));
        let (peer_table, peers_ref) = Table::new(1, |_| PeerGate::new());
        let (link_table, links_ref) = Table::new(1, |_| LinkGate::new());
        Rc::new(Self {
            turn: Condvar::new(),
            shared: Shared::new(slots_ref, Claims::new(words_ref, slots), peers_ref, links_ref),
            slot_state: (0..slots).map(|_| Watched::new(0)).collect(),
            _tables: (slot_table, word_table, peer_table, link_table),
        })
    }

    /// A point where loom tries all orders of the threads that come to one.
    ///
    /// Needed where one side only loads a word and the other loads and exchanges it: loom then
    /// overlooks orders (see the README). A turn orders nothing in the memory model: it notifies
    /// where no thread ever waits.
    pub fn turn(&self) {
        self.turn.notify_one();
    }

    /// The shared words.
    pub fn shared<'w>(&'w self) -> &'w Shared<'w> {
        &self.shared
    }

    /// The details of a slot.
    pub fn slot_state(&self, slot: u32) -> &Watched {
        &self.slot_state[slot as usize]
    }

    /// The peer.
    pub fn peer(&self) -> PeerId {
        PeerId::new(0, 0)
    }

    /// The peer's gate, after a turn.
    pub fn peer_gate(&self) -> &PeerGate {
        self.turn();
        self.shared().peer_gate(0).unwrap()
    }

    /// The link.
    pub fn link(&self) -> LinkId {
        LinkId::new(0).unwrap()
    }

    /// The link's gate.
    pub fn link_gate(&self) -> &LinkGate {
        self.shared().link(self.link()).unwrap()
    }

    /// Claims a slot and begins a use of it, for the peer as it shows itself now, on the link. Not
    /// yet published.
    pub fn claim(&self) -> Tag {
        let slot = self.shared().claims().claim(&mut Cursor::default()).unwrap();
        let tag = self.shared.renew(slot);
        let incarnation = self.peer_gate().view().incarnation();
        self.shared.assign(tag, Owner::new(self.peer(), incarnation, Some(self.link())));
        tag
    }

    /// A transfer that owes `debts` and nothing else: it has been handed out and its `CPU` is paid.
    pub fn posted(&self, debts: Debts) -> Tag {
        let tag = self.claim();
        self.shared().publish(tag, Word::live(tag.generation, debts));
        assert_eq!(self.effect(tag, Event::PayCpu), Some(Effect::None));
        tag
    }

    /// Applies an event. `None`: the tag is stale.
    pub fn effect(&self, tag: Tag, event: Event) -> Option<Effect> {
        self.shared.apply(tag, event).map(|applied| applied.effect)
    }

    /// A slot's word, after a turn.
    pub fn word(&self, slot: u32) -> Word {
        self.turn();
        self.shared.word(slot)
    }

    /// What the sweep finds of a slot, after a turn.
    pub fn must_cancel(&self, slot: u32) -> Option<(Tag, Cause)> {
        self.turn();
        self.shared.must_cancel(slot)
    }

    /// Takes the completed list, oldest first, after a turn.
    pub fn take_completed(&self) -> Vec<u32> {
        self.turn();
        let mut batch = self.shared.take_completed();
        core::iter::from_fn(|| self.shared.next_completed(&mut batch)).collect()
    }
}

/// How often `wanted` is among `effects`.
pub fn count(effects: &[Option<Effect>], wanted: Effect) -> usize {
    effects.iter().filter(|&&effect| effect == Some(wanted)).count()
}

/// A boxed table to which others hold references.
#[derive(Debug)]
struct Table<T>(NonNull<[T]>);

impl<T: 'static> Table<T> {
    /// The table, and a reference to it that must not be used once the table has been dropped.
    fn new(count: usize, make: impl FnMut(usize) -> T) -> (Self, &'static [T]) {
        let items: Box<[T]> = (0..count).map(make).collect();
        let table = NonNull::from(Box::leak(items));
        // SAFETY: `table` comes from a box that only `drop` frees. `World` keeps the reference
        // inside `shared`, which it drops first and lends for no longer than itself.
        (Self(table), unsafe { table.as_ref() })
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: from `Box::leak` in `new`, freed here only, and no reference is left.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
