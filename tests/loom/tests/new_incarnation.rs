// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A new incarnation of the peer against an answer under way (INV-1, INV-2, R29, R31, LU-17841).
//!
//! Protocol: an answer of the peer's former incarnation is applied to the transfer that awaits it,
//! and may start a pull, while another context learns of the peer's next incarnation and sweeps.
//!
//! Property: one finalize. A pull that was started for the former incarnation is taken back before
//! it is posted, or it is asked for, exactly once; none goes on unnoticed.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::peer::HelloState;
use lnd_core::sync::{fence, Ordering};
use lnd_core::transfer::{Cause, Debts, Effect, Event, Phase};
use lnd_loom::{count, explore, Bound, World};
use loom::thread::{self, JoinHandle};

/// A world whose peer is in its second incarnation and good.
fn world() -> Rc<World> {
    let world = World::new(1);
    world.link_gate().open();
    world.peer_gate().change(|view| view.next_incarnation().with_state(HelloState::Good));
    world
}

/// The peer begins another incarnation, and what belongs to the former one is given up.
fn new_incarnation(world: &Rc<World>) -> JoinHandle<Option<Effect>> {
    let world = Rc::clone(world);
    thread::spawn(move || {
        world.peer_gate().change(|view| view.next_incarnation().with_state(HelloState::Good));
        let (tag, cause) = world.must_cancel(0)?;
        assert_eq!(cause, Cause::PeerRestarted);
        world.turn();
        world.effect(tag, Event::Cancel(cause))
    })
}

/// A debt is paid in a context of its own.
fn paid(world: &Rc<World>, tag: Tag, event: Event) -> JoinHandle<Option<Effect>> {
    let world = Rc::clone(world);
    thread::spawn(move || {
        world.turn();
        world.effect(tag, event)
    })
}

/// PULL_READY: the steps of a hand-out behind an answer. Whether the pull was posted, and what the
/// answer and the payment of `CPU` did.
fn pull_ready(world: &World, tag: Tag) -> (bool, [Option<Effect>; 2]) {
    let incarnation = world.shared().owner(tag.index).incarnation();
    world.turn();
    let accepted = world.effect(tag, Event::Accepted);
    if accepted != Some(Effect::StartPull) {
        return (false, [accepted, None]);
    }
    // Partner: the fence in `PeerGate::change`.
    fence(Ordering::SeqCst);
    let current = world.peer_gate().view().incarnation() == incarnation;
    if !current {
        world.turn();
        let withdrawn = world.effect(tag, Event::Withdraw(Debts::HW, Cause::PeerRestarted));
        assert_eq!(withdrawn, Some(Effect::None));
    }
    world.turn();
    (current, [accepted, world.effect(tag, Event::PayCpu)])
}

#[test]
fn r31_new_incarnation_against_pull_ready() {
    let ends = explore("PULL_READY ‖ new life, sweep", Bound::Exhaustive, || {
        let world = world();
        let tag = world.posted(Debts::PEER);
        let other = new_incarnation(&world);
        let (posted, [accepted, paid]) = pull_ready(&world, tag);
        let swept = other.join().unwrap();

        let mut effects = vec![accepted, paid, swept];
        assert_eq!(count(&effects, Effect::Invalidate), usize::from(posted), "{effects:?}");
        if posted {
            effects.push(world.effect(tag, Event::HwUntouched));
        }
        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert_eq!(world.take_completed(), [tag.index]);
        let word = world.word(tag.index);
        assert_eq!((word.phase(), word.lost()), (Phase::Done, true), "{word}");
        assert_eq!(word.cause(), Some(Cause::PeerRestarted));
        (posted, swept.is_some())
    });
    // Too late or taken back, with and without the sweep's help; posted and asked for.
    let all = [(false, false), (false, true), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn r31_new_incarnation_against_put_done_against_completion() {
    let ends = explore("PUT_DONE ‖ HwOk ‖ new life, sweep", Bound::Preemptions(3), || {
        let world = world();
        let tag = world.posted(Debts(Debts::HW.0 | Debts::PEER.0));
        let other = new_incarnation(&world);
        let engine = paid(&world, tag, Event::HwOk);
        world.turn();
        let done = world.effect(tag, Event::Done);
        let effects = [done, engine.join().unwrap(), other.join().unwrap()];

        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert!(count(&effects, Effect::Invalidate) <= 1, "{effects:?}");
        assert_eq!(world.take_completed(), [tag.index]);
        let word = world.word(tag.index);
        // INV-4: the pull is proven, so the data has arrived, whatever becomes of the peer.
        assert_eq!(
            (word.phase(), word.proven(), word.lost()),
            (Phase::Done, true, false),
            "{word}"
        );
        (done == Some(Effect::Late), word.cause())
    });
    // PUT_DONE is the proof, before a sweep or after it, as long as the descriptor is out (S0-16):
    // the cause that a sweep left is no evidence of a loss. Once all is back, PUT_DONE is late.
    let swept = Some(Cause::PeerRestarted);
    let all = [(false, None), (false, swept), (true, swept)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_1_new_incarnation_against_refusal_against_completion_against_deadline() {
    let name = "PUT_NAK ‖ HwUntouched ‖ deadline ‖ new life, sweep";
    let ends = explore(name, Bound::Between(2, 3), || {
        let world = world();
        let tag = world.posted(Debts::HW);
        let other = new_incarnation(&world);
        let engine = paid(&world, tag, Event::HwUntouched);
        let clock = paid(&world, tag, Event::Cancel(Cause::Deadline));
        world.turn();
        let refused = world.effect(tag, Event::Refused);
        let effects =
            [refused, engine.join().unwrap(), clock.join().unwrap(), other.join().unwrap()];

        assert_eq!(count(&effects, Effect::Finalize), 1, "{effects:?}");
        assert!(count(&effects, Effect::Invalidate) <= 1, "{effects:?}");
        let word = world.word(tag.index);
        assert_eq!((word.phase(), word.lost()), (Phase::Done, true), "{word}");
        word.cause()
    });
    let all = [
        Some(Cause::PeerRestarted),
        Some(Cause::Deadline),
        Some(Cause::Refused),
        Some(Cause::Device),
    ];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
