// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A stale completion against the release and the next use of its slot (R14, H10).
//!
//! Protocol: a tag names one use of a slot by its full generation; the transfer word repeats the
//! low half of it. Release and publication are plain stores, since no event touches a `Free` word.
//!
//! Property: an event with an old tag never changes a new use, whenever it arrives: before, during
//! or after the release, the claim and the publication; not even when the low halves of the two
//! generations are equal.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::transfer::{Debts, Effect, Event, Phase, Word};
use lnd_loom::{count, explore, spin_until, Bound, World};
use loom::thread;

const DEBTS: Debts = Debts(Debts::HW.0 | Debts::MSG.0);

/// A context that delivers `HwOk` with an old tag.
fn late(world: &Rc<World>, tag: Tag) -> thread::JoinHandle<Option<Effect>> {
    let world = Rc::clone(world);
    thread::spawn(move || {
        world.turn();
        world.effect(tag, Event::HwOk)
    })
}

/// Begins a use of the only slot; the tag, and the word as it was published.
fn begin(world: &World) -> (Tag, Word) {
    let tag = world.claim();
    let word = Word::live(tag.generation, DEBTS);
    world.turn();
    world.shared().publish(tag, word);
    (tag, word)
}

/// The new use goes on as if nothing had happened.
fn finish(world: &World, tag: Tag, published: Word) {
    assert_eq!(world.word(tag.index), published, "the new use is untouched");
    let effects = [Event::PayCpu, Event::HwOk, Event::MsgOk].map(|e| world.effect(tag, e));
    assert_eq!(effects, [Some(Effect::None), Some(Effect::None), Some(Effect::Finalize)]);
    assert_eq!(world.take_completed(), [tag.index]);
}

#[test]
fn r14_late_completion_against_release_and_next_use() {
    let ends = explore("HwOk of the old ‖ release, claim, publish", Bound::Exhaustive, || {
        let world = World::new(1);
        let old = world.posted(Debts::HW);
        let interrupt = late(&world, old);
        world.turn();
        let asserted = world.effect(old, Event::Stopped);
        let mut finished = Vec::new();
        spin_until(|| {
            finished = world.take_completed();
            !finished.is_empty()
        });
        world.turn();
        world.shared().release(old);
        let (new, published) = begin(&world);
        assert_eq!((new.index, new.generation), (old.index, old.generation + 1));

        let real = interrupt.join().unwrap();
        assert_eq!(count(&[asserted, real], Effect::Finalize), 1, "{asserted:?} {real:?}");
        finish(&world, new, published);
        assert_eq!(world.effect(old, Event::HwOk), None);
        format!("{real:?}")
    });
    let all = ["None", "Some(Finalize)", "Some(Late)"];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn r14_tag_of_65536_uses_ago_against_publication() {
    let ends = explore("HwOk of 2^16 uses ago ‖ publish", Bound::Exhaustive, || {
        let old = Tag { index: 0, generation: 1 };
        let world = World::used(1, old.generation + 0xffff);
        let interrupt = late(&world, old);
        let (new, published) = begin(&world);
        assert!(published.is_of(old.generation), "the low halves are equal");

        assert_eq!(interrupt.join().unwrap(), None);
        finish(&world, new, published);
        assert_eq!(world.word(new.index).phase(), Phase::Done);
    });
    assert!(ends[&()] > 1, "the two did race");
}
