// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Submission against instant completion (INV-1, R5).
//!
//! Protocol: the submitter writes the details, publishes the word with every debt *and* its own
//! `CPU`, hands out, and pays `CPU` last. A completion may arrive in another context at any moment
//! after that, before the submitter's call has returned.
//!
//! Property: exactly one finalize, by whichever of them pays last; and the one that finalizes sees
//! what each of them wrote before it paid, though nothing but the transfer word and the completed
//! list passes between them.
//!
//! The completions are untrusted: they may even come before the publication. Such a one is stale,
//! touches nothing, and is delivered again later.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::transfer::{Debts, Effect, Event, Phase, Word};
use lnd_loom::{count, explore, Bound, World};
use loom::thread;

/// The first use of the first slot.
const TAG: Tag = Tag { index: 0, generation: 1 };

/// Cells for what each context writes: its debt's bit, as a sign that it was there.
const CPU: (u32, u32) = (0, Debts::CPU.0 as u32);
const HW: (u32, u32) = (1, Debts::HW.0 as u32);
const MSG: (u32, u32) = (2, Debts::MSG.0 as u32);

fn world() -> Rc<World> {
    World::new(3)
}

/// The submitter; what paying `CPU` did.
fn submit(world: &World, debts: Debts) -> Option<Effect> {
    let tag = world.claim();
    assert_eq!(tag, TAG);
    world.shared().publish(tag, Word::live(tag.generation, debts));
    // Here the descriptor is posted, the message sent, and the details say so.
    world.slot_state(CPU.0).set(CPU.1);
    world.turn();
    world.effect(tag, Event::PayCpu)
}

/// Another context, which has seen the end of its part; what paying for it did.
fn complete(world: &World, (cell, mark): (u32, u32), event: Event) -> Option<Effect> {
    world.slot_state(cell).set(mark);
    world.effect(TAG, event)
}

/// The thread that reports a transfer that owed `debts`. Returns how many it has reported.
fn report(world: &World, debts: Debts) -> usize {
    let finished = world.take_completed();
    for &slot in &finished {
        assert_eq!(world.word(slot).phase(), Phase::Done);
        assert_eq!(world.shared().tag(slot), TAG);
        for (cell, mark) in [CPU, HW, MSG] {
            if mark & u32::from(debts.0 | Debts::CPU.0) != 0 {
                assert_eq!(world.slot_state(cell).get(), mark);
            }
        }
    }
    finished.len()
}

#[test]
fn inv_1_submit_against_message_done_against_reporter() {
    let ends = explore("submit ‖ MsgOk ‖ report", Bound::Exhaustive, || {
        let world = world();
        let channel = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                world.turn();
                complete(&world, MSG, Event::MsgOk)
            }
        });
        let reporter = thread::spawn({
            let world = Rc::clone(&world);
            move || report(&world, Debts::MSG)
        });
        let mine = submit(&world, Debts::MSG);
        let mut theirs = channel.join().unwrap();
        let early = reporter.join().unwrap();

        let stale = theirs.is_none();
        if stale {
            theirs = world.effect(TAG, Event::MsgOk);
        }
        assert_eq!(count(&[mine, theirs], Effect::Finalize), 1, "{mine:?} {theirs:?}");
        assert_eq!(early + report(&world, Debts::MSG), 1, "reported exactly once");
        (mine == Some(Effect::Finalize), early == 1, stale)
    });
    // (submitter finalizes, reported at once, completion came before the publication)
    let all = [
        (false, false, false),
        (false, false, true),
        (false, true, false),
        (true, false, false),
        (true, true, false),
    ];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_submit_against_descriptor_done_against_message_done() {
    const DEBTS: Debts = Debts(Debts::HW.0 | Debts::MSG.0);
    let ends = explore("submit ‖ HwOk ‖ MsgOk", Bound::Exhaustive, || {
        let world = world();
        let contexts = [(HW, Event::HwOk), (MSG, Event::MsgOk)].map(|(cell, event)| {
            let world = Rc::clone(&world);
            let context = thread::spawn(move || {
                let effect = complete(&world, cell, event);
                // The only one who is told so, hence the only one who takes the list.
                let reported =
                    if effect == Some(Effect::Finalize) { report(&world, DEBTS) } else { 0 };
                (effect, reported)
            });
            (event, context)
        });
        let mine = submit(&world, DEBTS);
        let mut reported = if mine == Some(Effect::Finalize) { report(&world, DEBTS) } else { 0 };
        let mut effects = vec![mine];
        let mut last = (mine == Some(Effect::Finalize)).then_some(Event::PayCpu);
        for (event, context) in contexts {
            let (mut effect, theirs) = context.join().unwrap();
            reported += theirs;
            if effect.is_none() {
                effect = world.effect(TAG, event);
                reported +=
                    if effect == Some(Effect::Finalize) { report(&world, DEBTS) } else { 0 };
            }
            if effect == Some(Effect::Finalize) {
                last = Some(event);
            }
            effects.push(effect);
        }
        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert_eq!(reported, 1, "reported exactly once");
        format!("{:?} last", last.unwrap())
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), ["HwOk last", "MsgOk last", "PayCpu last"]);
}
