// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Completion against peer-down against deadline (INV-1, S0-16, S0-21).
//!
//! Protocol: every context applies its event to the transfer word by compare-and-swap, and does
//! what the step that went in tells it.
//!
//! Property: in whatever order, exactly one context is told to finalize, and the transfer is on
//! the completed list exactly once; of the cancellations the first one's cause stays (R7); the
//! descriptor is asked for at most once; one that was asked for and comes back good is good.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Word};
use lnd_loom::{count, explore, Bound, World};
use loom::thread;

const DOWN: Event = Event::Cancel(Cause::PeerDown);
const EXPIRED: Event = Event::Cancel(Cause::Deadline);
const ALL: Debts = Debts(Debts::HW.0 | Debts::MSG.0);

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    lost: bool,
    asked_by: Option<Cause>,
    invalidated: bool,
}

impl End {
    const fn new(lost: bool, asked_by: Option<Cause>, invalidated: bool) -> Self {
        Self { lost, asked_by, invalidated }
    }
}

/// Applies every event in a context of its own, the first one in this.
fn race(published: Word, events: &[Event]) -> End {
    let world = World::new(1);
    let tag = world.claim();
    world.shared().publish(tag, Word::from_bits(published.bits() | Word::free(1).bits()));
    if !events.contains(&Event::PayCpu) {
        assert_eq!(world.effect(tag, Event::PayCpu), Some(Effect::None));
    }

    let (mine, others) = events.split_first().unwrap();
    let others: Vec<_> = others
        .iter()
        .map(|&event| {
            let world = Rc::clone(&world);
            thread::spawn(move || {
                world.turn();
                world.effect(tag, event)
            })
        })
        .collect();
    world.turn();
    let mut effects = vec![world.effect(tag, *mine)];
    effects.extend(others.into_iter().map(|other| other.join().unwrap()));

    assert!(!effects.contains(&None), "no event was stale: {effects:?}");
    assert_eq!(count(&effects, Effect::Finalize), 1, "one finalize: {effects:?}");
    assert_eq!(world.take_completed(), [tag.index], "on the list exactly once");
    let invalidations = count(&effects, Effect::Invalidate);
    assert!(invalidations <= 1, "asked for at most once: {effects:?}");
    let word = world.word(tag.index);
    assert_eq!((word.phase(), word.debts()), (Phase::Done, Debts(0)));
    let asked_by = if word.invalidating() { word.cause() } else { None };
    End::new(word.lost(), asked_by, invalidations == 1)
}

/// The ends that must all occur, and no others.
fn ends(name: &str, bound: Bound, debts: Debts, events: &'static [Event], expected: &[End]) {
    let seen = explore(name, bound, move || race(Word::live(0, debts), events));
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn inv_1_good_completion_against_peer_down_against_deadline() {
    ends(
        "HwOk ‖ peer-down ‖ deadline",
        Bound::Exhaustive,
        Debts::HW,
        &[Event::HwOk, DOWN, EXPIRED],
        // S0-16: no matter who asked: it came back good and is good.
        &[
            End::new(false, None, false),
            End::new(false, Some(Cause::PeerDown), true),
            End::new(false, Some(Cause::Deadline), true),
        ],
    );
}

#[test]
fn inv_1_bad_completion_against_peer_down_against_deadline() {
    ends(
        "HwUntouched ‖ peer-down ‖ deadline",
        Bound::Exhaustive,
        Debts::HW,
        &[Event::HwUntouched, DOWN, EXPIRED],
        &[
            End::new(true, None, false),
            End::new(true, Some(Cause::PeerDown), true),
            End::new(true, Some(Cause::Deadline), true),
        ],
    );
}

#[test]
fn inv_1_cancellation_against_completion_while_posting() {
    // The poster, or the cancelling context, asks for the descriptor; not both, and neither if it
    // has come back before.
    ends(
        "PayCpu ‖ HwOk ‖ peer-down",
        Bound::Exhaustive,
        Debts::HW,
        &[Event::PayCpu, Event::HwOk, DOWN],
        &[
            End::new(false, None, false),
            End::new(false, Some(Cause::PeerDown), false),
            End::new(false, Some(Cause::PeerDown), true),
        ],
    );
}

#[test]
fn inv_1_two_completions_against_peer_down_against_deadline() {
    ends(
        "HwOk ‖ MsgOk ‖ peer-down ‖ deadline",
        Bound::Between(3, 3),
        ALL,
        &[Event::HwOk, Event::MsgOk, DOWN, EXPIRED],
        // Asked for and not invalidated: only the message was still out.
        &[
            End::new(false, None, false),
            End::new(false, Some(Cause::PeerDown), false),
            End::new(false, Some(Cause::PeerDown), true),
            End::new(false, Some(Cause::Deadline), false),
            End::new(false, Some(Cause::Deadline), true),
        ],
    );
}
