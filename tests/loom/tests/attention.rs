// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The attention word: what other contexts want against the owner who takes it (INV-15).
//!
//! Protocol: any context changes something (a gate), then ors its bit into the word and wakes the
//! owner; the owner takes all bits at once, then looks.
//!
//! Property: no bit is lost, none comes twice, and the thread that takes a bit sees what was
//! changed before it was set.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::LinkId;
use lnd_core::peer::HelloState;
use lnd_core::shared::attention::{self, SWEEP};
use lnd_core::transfer::{Cause, Debts, Event};
use lnd_loom::{explore, Bound, World};
use loom::thread;

const LINK: u32 = attention::failed(LinkId::new(0).unwrap());

/// Takes the word, and looks at what was written before each bit.
fn take(world: &World, taken: &mut u32) {
    world.turn();
    let bits = world.shared().take_attention();
    for (slot, bit) in [(0, SWEEP), (1, LINK)] {
        if bits & bit != 0 {
            assert_eq!(world.slot_state(slot).get(), bit);
        }
    }
    assert_eq!(*taken & bits, 0, "no bit comes twice");
    *taken |= bits;
}

#[test]
fn inv_15_two_wants_against_take() {
    let ends = explore("want ‖ want ‖ take", Bound::Exhaustive, || {
        let world = World::new(2);
        let wanters = [(0, SWEEP), (1, LINK)].map(|(slot, bit)| {
            let world = Rc::clone(&world);
            thread::spawn(move || {
                world.slot_state(slot).set(bit);
                world.turn();
                world.shared().want(bit);
            })
        });
        let mut taken = 0;
        take(&world, &mut taken);
        take(&world, &mut taken);
        let early = taken;
        for wanter in wanters {
            wanter.join().unwrap();
        }
        take(&world, &mut taken);
        assert_eq!(taken, SWEEP | LINK, "none lost");
        assert!(!world.shared().attention_wanted());
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, SWEEP, LINK, SWEEP | LINK]);
}

#[test]
fn inv_15_a_peer_that_is_told_to_sweep_sees_the_closed_gate() {
    let ends = explore("peer-down, want ‖ take, sweep", Bound::Exhaustive, || {
        let world = World::new(1);
        world.link_gate().open();
        world.peer_gate().change(|view| view.with_state(HelloState::Good));
        let tag = world.posted(Debts::HW);
        let interrupt = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                world.peer_gate().change(|view| view.with_state(HelloState::Down));
                world.shared().want(SWEEP);
            }
        });
        world.turn();
        let notified = world.shared().take_attention() == SWEEP;
        if notified {
            assert_eq!(world.must_cancel(tag.index), Some((tag, Cause::PeerDown)));
            assert!(world.effect(tag, Event::Cancel(Cause::PeerDown)).is_some());
        }
        interrupt.join().unwrap();
        // Who was not told will be.
        assert_eq!(world.shared().attention_wanted(), !notified);
        notified
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}
