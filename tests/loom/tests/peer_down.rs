// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Submission against peer-down and against a new incarnation of the peer (INV-1, S0-13, R29).
//!
//! Protocol, a Dekker pair: the submitter publishes its debts, fences, and looks at the peer's
//! gate; the other side changes the gate, fences (inside [`PeerGate::change`]) and sweeps.
//!
//! Property: never "handed out and not cancelled": one of the two always sees the other. And the
//! sweep takes a transfer for what it is: a healthy one is left alone.
//!
//! [`PeerGate::change`]: lnd_core::peer::PeerGate::change
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::peer::{GateView, HelloState};
use lnd_core::shared::Owner;
use lnd_core::sync::{fence, Ordering};
use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase, Word};
use lnd_loom::{count, explore, Bound, World};
use loom::thread;

const DEBTS: Debts = Debts(Debts::HW.0 | Debts::MSG.0);

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The submitter saw the gate; the sweep had come too early for the transfer.
    TakenBack,
    /// Each saw the other.
    TakenBackAndSwept,
    /// The submitter came first; the sweep saw its debts.
    PostedAndSwept,
    /// The submitter saw the change before it chose an incarnation: it goes to the new one.
    ToTheNewIncarnation,
}

/// A world whose peer is in its second incarnation and good. What a slot says of its owner before
/// it is first used (peer 0, incarnation 0) would be wrong.
fn world() -> Rc<World> {
    let world = World::new(1);
    world.link_gate().open();
    world.peer_gate().change(|view| view.next_incarnation().with_state(HelloState::Good));
    world
}

/// Claims and publishes a request that is to go out at once; the incarnation it is for.
fn publish_at_once(world: &World) -> (Tag, u32) {
    let tag = world.claim();
    world.shared().publish(tag, Word::live(tag.generation, DEBTS));
    (tag, world.shared().owner(tag.index).incarnation())
}

/// Arms a request that has waited in the queue; the incarnation it is for.
fn arm(world: &World, tag: Tag) -> u32 {
    let incarnation = world.peer_gate().view().incarnation();
    world.shared().assign(tag, Owner::new(world.peer(), incarnation, Some(world.link())));
    world.turn();
    assert_eq!(world.effect(tag, Event::Arm(DEBTS)), Some(Effect::None));
    incarnation
}

/// Behind the publication: hands out, or takes the debts back. Whether it was handed out, and what
/// paying `CPU` did.
fn post(world: &World, tag: Tag, incarnation: u32) -> (bool, Option<Effect>) {
    // Partner: the fence in `PeerGate::change`.
    fence(Ordering::SeqCst);
    let view = world.peer_gate().view();
    let passes = view.state() == HelloState::Good && view.incarnation() == incarnation;
    if !passes {
        world.turn();
        assert!(world.effect(tag, Event::Withdraw(DEBTS, Cause::PeerDown)).is_some());
    }
    world.turn();
    (passes, world.effect(tag, Event::PayCpu))
}

/// Changes the gate, then cancels what must be. What the cancellation did, if there was one.
fn close(world: &World, change: fn(GateView) -> GateView) -> Option<Effect> {
    world.peer_gate().change(change);
    let (tag, cause) = world.must_cancel(0)?;
    world.turn();
    world.effect(tag, Event::Cancel(cause))
}

/// One execution: `publish` and hand out against `change`.
fn race(
    world: &Rc<World>,
    change: fn(GateView) -> GateView,
    publish: impl FnOnce(&World) -> (Tag, u32),
) -> End {
    let closer = thread::spawn({
        let world = Rc::clone(world);
        move || close(&world, change)
    });
    let (tag, incarnation) = publish(world);
    let (posted, paid) = post(world, tag, incarnation);
    let cancelled = closer.join().unwrap();

    let gate = world.peer_gate().view();
    let end = match (posted, cancelled.is_some()) {
        (false, false) => End::TakenBack,
        (false, true) => End::TakenBackAndSwept,
        (true, true) => End::PostedAndSwept,
        (true, false) => {
            let current = gate.state() == HelloState::Good && gate.incarnation() == incarnation;
            assert!(current, "handed out and not cancelled");
            End::ToTheNewIncarnation
        }
    };
    let mut effects = vec![paid, cancelled];
    let invalidated = count(&effects, Effect::Invalidate);
    assert_eq!(invalidated, usize::from(end == End::PostedAndSwept), "{effects:?}");
    if posted {
        effects.push(world.effect(tag, Event::HwUntouched));
        effects.push(world.effect(tag, Event::MsgOk));
    }
    let word = world.word(tag.index);
    assert_eq!((word.phase(), word.lost()), (Phase::Done, true), "{word}");
    assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
    assert_eq!(world.take_completed(), [tag.index]);
    end
}

#[test]
fn inv_1_submit_against_peer_down() {
    let ends = explore("submit ‖ peer-down", Bound::Exhaustive, || {
        race(&world(), |view| view.with_state(HelloState::Down), publish_at_once)
    });
    let all = [End::TakenBack, End::TakenBackAndSwept, End::PostedAndSwept];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_submit_against_new_incarnation() {
    let ends = explore("submit ‖ new life", Bound::Exhaustive, || {
        race(&world(), GateView::next_incarnation, publish_at_once)
    });
    let all =
        [End::TakenBack, End::TakenBackAndSwept, End::PostedAndSwept, End::ToTheNewIncarnation];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_queued_request_against_new_incarnation() {
    let ends = explore("queue ‖ new life", Bound::Exhaustive, || {
        let world = world();
        let tag = world.claim();
        world.shared().publish(tag, Word::queued(tag.generation));
        race(&world, GateView::next_incarnation, |world| (tag, arm(world, tag)))
    });
    let all =
        [End::TakenBack, End::TakenBackAndSwept, End::PostedAndSwept, End::ToTheNewIncarnation];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_sweep_leaves_a_healthy_request_alone() {
    let ends = explore("submit ‖ sweep for another", Bound::Exhaustive, || {
        let world = world();
        let sweeper = thread::spawn({
            let world = Rc::clone(&world);
            move || {
                assert_eq!(world.must_cancel(0), None);
                world.word(0).phase() == Phase::Live
            }
        });
        let (tag, incarnation) = publish_at_once(&world);
        assert_eq!(post(&world, tag, incarnation), (true, Some(Effect::None)));
        sweeper.join().unwrap()
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}
