// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The claim bitmap, handed from one owner of the shard to the next (INV-2, INV-14).
//!
//! Protocol: claiming and releasing are the shard owner's, and neither is a locked operation. A
//! shard may change hands between threads, under a lock or whatever else the host orders them by.
//!
//! Property: that order is enough. A slot is in use by one owner at a time, the next one sees
//! everything that was done to it, and none is lost.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::claims::Cursor;
use lnd_core::transfer::Word;
use lnd_loom::{explore, Bound, World};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Claims, uses the slot, and releases what was claimed before, as the owner for the time being.
fn own(world: &World, held: &mut Vec<u32>) -> Option<u32> {
    let slot = world.shared().claims().claim(&mut Cursor::default());
    if let Some(slot) = slot {
        let tag = world.shared().renew(slot);
        assert!(!held.contains(&slot), "claimed twice");
        assert_eq!(world.slot_state(slot).get(), tag.generation - 1, "the uses are counted");
        world.slot_state(slot).set(tag.generation);
        world.shared().publish(tag, Word::queued(tag.generation));
    }
    for slot in held.drain(..) {
        world.shared().release(world.shared().tag(slot));
    }
    held.extend(slot);
    slot
}

#[test]
fn inv_2_a_slot_passes_from_owner_to_owner() {
    let ends = explore("claim, release ‖ claim, release", Bound::Exhaustive, || {
        let world = World::new(2);
        let shard = Arc::new(Mutex::new(Vec::new()));
        let other = thread::spawn({
            let (world, shard) = (Rc::clone(&world), Arc::clone(&shard));
            move || [(); 2].map(|()| own(&world, &mut shard.lock().unwrap()))
        });
        let mine = [(); 2].map(|()| own(&world, &mut shard.lock().unwrap()));
        let theirs = other.join().unwrap();

        assert!(mine.iter().chain(&theirs).all(Option::is_some), "none lost");
        let held = shard.lock().unwrap().clone();
        let free: Vec<_> = (0..2).map(|slot| world.shared().claims().is_free(slot)).collect();
        assert_eq!(free.iter().filter(|&&free| free).count(), 1);
        assert_eq!(held.len(), 1);
        (mine, theirs)
    });
    assert!(ends.len() >= 2, "more than one way to alternate: {ends:?}");
}
