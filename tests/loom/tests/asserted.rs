// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Completion by hand against the real one (INV-1, INV-2, S0-12, S0-20, S0-21).
//!
//! Protocol: once an engine is proven stopped, the thread that reclaims settles by hand whatever
//! the link still owes, while completions that the engine had written before are still on their
//! way through an interrupt. After the finalize the slot is released and the engine reset.
//!
//! Property: exactly one of the two settles each debt, the other is late or stale and changes
//! nothing; one finalize; the transfer is lost if and only if nothing proves that its data was
//! moved.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::transfer::{Debts, Effect, Event, Phase};
use lnd_loom::{count, explore, spin_until, Bound, World};
use loom::thread::{self, JoinHandle};

/// A context that applies one event.
fn context(world: &Rc<World>, tag: Tag, event: Event) -> JoinHandle<Option<Effect>> {
    let world = Rc::clone(world);
    thread::spawn(move || {
        world.turn();
        world.effect(tag, event)
    })
}

/// S0-21: one of the two ends the transfer.
#[test]
fn inv_1_asserted_against_real_completion() {
    let ends = explore("Stopped ‖ HwOk", Bound::Exhaustive, || {
        let world = World::new(1);
        let tag = world.posted(Debts::HW);
        let interrupt = context(&world, tag, Event::HwOk);
        world.turn();
        let effects = [world.effect(tag, Event::Stopped), interrupt.join().unwrap()];

        let asserted = effects == [Some(Effect::Finalize), Some(Effect::Late)];
        let real = effects == [Some(Effect::Late), Some(Effect::Finalize)];
        assert!(asserted || real, "{effects:?}");
        assert_eq!(world.take_completed(), [tag.index]);
        assert_eq!(world.word(tag.index).lost(), asserted);
        asserted
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

#[test]
fn inv_1_asserted_against_both_real_completions() {
    let ends = explore("Stopped ‖ HwOk ‖ MsgOk", Bound::Exhaustive, || {
        let world = World::new(1);
        let tag = world.posted(Debts(Debts::HW.0 | Debts::MSG.0));
        let engine = context(&world, tag, Event::HwOk);
        let channel = context(&world, tag, Event::MsgOk);
        world.turn();
        let asserted = world.effect(tag, Event::Stopped);
        let effects = [asserted, engine.join().unwrap(), channel.join().unwrap()];

        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert!(!effects.contains(&None), "nothing was released: {effects:?}");
        assert_eq!(world.take_completed(), [tag.index]);
        let word = world.word(tag.index);
        assert_eq!((word.phase(), word.debts()), (Phase::Done, Debts(0)));
        // INV-4: the descriptor that came back by itself is the proof.
        let moved = effects[1] != Some(Effect::Late);
        assert_eq!((word.proven(), word.lost()), (moved, !moved), "{word}");
        (moved, asserted == Some(Effect::Finalize))
    });
    let all = [(false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_2_reset_against_late_completion() {
    let ends = explore("Stopped, release ‖ HwOk", Bound::Exhaustive, || {
        let world = World::new(1);
        let tag = world.posted(Debts::HW);
        let interrupt = context(&world, tag, Event::HwOk);
        // Reclaim, report and release; the engine is reset next.
        world.turn();
        let asserted = world.effect(tag, Event::Stopped);
        let mut finished = Vec::new();
        spin_until(|| {
            finished = world.take_completed();
            !finished.is_empty()
        });
        assert_eq!(finished, [tag.index]);
        world.shared().release(tag);

        let real = interrupt.join().unwrap();
        assert_eq!(count(&[asserted, real], Effect::Finalize), 1, "{asserted:?} {real:?}");
        assert_eq!(world.word(tag.index).phase(), Phase::Free);
        assert!(world.take_completed().is_empty());
        // One that comes even later finds nothing.
        assert_eq!(world.effect(tag, Event::HwOk), None);
        format!("{real:?}")
    });
    let all = ["None", "Some(Finalize)", "Some(Late)"];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
