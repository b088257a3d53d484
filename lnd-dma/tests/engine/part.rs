// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Stopping the connection with one node, and what its proof is worth (REG-18, INV-3): nothing of
//! that node moves any more, and everything of the others goes on.

use lnd_core::id::{LinkId, Tag};
use lnd_core::link::{Connection, Quiesced};
use lnd_core::ports::{Engine, Returned};

use crate::harness::{nid, tag, At, Plant, Shape, World};

pub const A: At = (0, 0);
pub const B: At = (1, 0);
pub const C: At = (2, 0);
pub const LENGTH: u32 = 4096;

pub fn plant() -> Plant {
    Plant::new(Shape { nodes: 3, window: 1 << 17, ..Shape::default() })
}

/// The present connection of A with a node.
pub fn present(world: &mut World<'_>, node: u32) -> Connection {
    let number = world.port(A).driver.connection(nid(node)).expect("it has connections");
    Connection { link: LinkId::new(0).unwrap(), peer: nid(node), number }
}

/// Asks A's engine to stop the connection with a node.
pub fn cut(world: &mut World<'_>, node: u32) -> Connection {
    let connection = present(world, node);
    world.port(A).driver.stop_connection(connection);
    connection
}

pub fn proven(world: &mut World<'_>, connection: Connection) -> Option<Quiesced> {
    world.port(A).driver.connection_quiesced(connection)
}

/// Lets A's engine alone work until the connection is proven stopped.
pub fn proof(world: &mut World<'_>, connection: Connection) -> Quiesced {
    for _ in 0..100 {
        if let Some(proof) = proven(world, connection) {
            return proof;
        }
        world.step(A);
    }
    panic!("the connection does not stop");
}

pub fn copied(world: &World<'_>) -> u64 {
    world.plant.bus.copied.load(std::sync::atomic::Ordering::Relaxed)
}

/// Our own pulls from the node end where they are; those from another node go on to their end.
#[test]
fn cutting_the_pullers_side() {
    let plant = plant();
    let mut world = plant.world();
    world.script(A).chunk = Some(LENGTH / 4);
    world.transfer(B, A, tag(0), tag(0), LENGTH);
    world.transfer(C, A, tag(1), tag(1), LENGTH);
    world.step(A);
    // Posted before the cut, looked at after it: not begun.
    world.transfer(B, A, tag(2), tag(2), LENGTH);
    let connection = cut(&mut world, 1);
    let proof = proof(&mut world, connection);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    assert_eq!(world.reclaim(A, tag(0), &proof), None, "it is gone");
    assert_eq!(world.reclaim(A, tag(2), &proof), Some(Returned::Untouched));
    world.settle();
    assert_eq!(
        copied(&world),
        u64::from(LENGTH / 4 + LENGTH),
        "one chunk of the one, all of the other"
    );
    world.both((C, tag(1)), (A, tag(1)), Returned::Ok);
    assert_eq!(
        (world.ends(A, tag(0)), world.ends(A, tag(2))),
        (&[][..], &[][..]),
        "own words tell"
    );
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(world.ends(B, tag(2)), [], "its own driver's business");
}

/// The proof is not given while a live puller may read; the other node's transfer ends well
/// meanwhile.
#[test]
fn cutting_the_sources_side() {
    let plant = plant();
    let mut world = plant.world();
    world.script(B).chunk = Some(LENGTH / 4);
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.step(B);
    let connection = cut(&mut world, 1);
    world.transfer(A, C, tag(1), tag(1), LENGTH);
    for _ in 0..20 {
        assert!(world.step(A).busy, "it waits for the puller");
        assert!(proven(&mut world, connection).is_none(), "a live puller holds a descriptor");
        world.step(C);
        world.reap_all();
    }
    world.both((A, tag(1)), (C, tag(1)), Returned::Ok);
    // The puller looks between two chunks and lets go.
    let before = copied(&world);
    world.step(B);
    assert_eq!(copied(&world), before, "the puller has seen that it is wanted back");
    let proof = proof(&mut world, connection);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
    assert_eq!(world.ends(A, tag(0)), []);
    assert!(!world.step(A).busy, "nothing is left to do");
}

/// What was staged and not claimed cannot be claimed after the proof. Another node's can.
#[test]
fn what_is_staged_is_taken_back() {
    let plant = plant();
    let mut world = plant.world();
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.transfer(A, C, tag(1), tag(1), LENGTH);
    let connection = cut(&mut world, 1);
    let proof = proof(&mut world, connection);
    world.step(B);
    assert_eq!(copied(&world), 0, "pulled after the proof");
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Untouched));
    world.settle();
    assert_eq!(world.once(B, tag(0)), Returned::Untouched);
    world.both((A, tag(1)), (C, tag(1)), Returned::Ok);
}

/// A puller that is slow between its look at the descriptor and its claim finds another word there.
#[test]
fn a_claim_against_the_cut_is_won_by_one() {
    let plant = plant();
    let mut world = plant.world();
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    let connection = cut(&mut world, 1);
    let memory = world.memory(A);
    world.script(B).chunk = Some(0);
    // The puller has just claimed; it has not moved a byte.
    world.step(B);
    assert!(memory.descriptor(0).unwrap().own().is(lnd_dma::descriptor::State::Busy));
    world.step(A);
    assert!(proven(&mut world, connection).is_none());
    world.step(B);
    let proof = proof(&mut world, connection);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Untouched));
    world.settle();
    assert_eq!((world.once(B, tag(0)), copied(&world)), (Returned::Untouched, 0));
}

/// S0-9: a dead puller in the middle of a copy holds nothing up; a frozen one is waited for.
#[test]
fn a_dead_puller_does_not_hold_up_the_cut() {
    let plant = plant();
    let mut world = plant.world();
    world.script(B).chunk = Some(LENGTH / 4);
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.step(B);
    let connection = cut(&mut world, 1);
    for _ in 0..20 {
        world.step(A);
        assert!(proven(&mut world, connection).is_none());
    }
    world.kill(1);
    let proof = proof(&mut world, connection);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    world.settle();
    assert_eq!(world.ends(A, tag(0)), []);
}

/// What the descriptors' own memory says, for each way that one may stand at the cut; late bits of
/// them change nothing.
#[test]
fn a_reclaim_tells_real_outcomes_and_only_those() {
    let plant = plant();
    let mut world = plant.world();
    // 1: pulled to the end, its completion lost. 2: pulled, not told of. 3: told of.
    world.script(A).completion_faults.push_back(lnd_dma::soft::CompletionFault::Lose);
    for n in [1, 3] {
        world.transfer(A, B, tag(n), tag(n), 64);
        world.step(B);
        world.step(A);
    }
    world.transfer(A, B, tag(2), tag(2), 64);
    world.step(B);
    let memory = world.memory(A);
    assert!(memory.dones().any(), "the engine is to be told");
    let connection = cut(&mut world, 1);
    let completions = world.step(A).completions;
    assert_eq!(completions, 0, "what the stop has found is told by its own word");
    let proof = proof(&mut world, connection);
    world.reap(A);
    assert_eq!(world.once(A, tag(3)), Returned::Ok);
    assert_eq!(world.reclaim(A, tag(1), &proof), Some(Returned::Ok));
    assert_eq!(world.reclaim(A, Tag { index: 2, generation: 9 }, &proof), None, "not this one's");
    assert_eq!(world.reclaim(A, tag(2), &proof), Some(Returned::Ok));
    assert_eq!(world.reclaim(A, tag(1000), &proof), None, "no such descriptor");
    world.port(A).driver.reset(proof);
    // The next use of a slot whose bits are still to come: every bit there is.
    let again = world.filled(0, 64);
    world.stage(A, Tag { index: 2, generation: 2 }, &again, 2);
    for index in 0..16 {
        memory.invalidates().set(index);
        memory.dones().set(index);
    }
    world.settle();
    for n in [1, 2] {
        assert_eq!(world.ends(A, tag(n)), [], "taken away and reported as well");
    }
    assert_eq!(world.ends(A, Tag { index: 2, generation: 2 }), [], "it is still staged");
}

/// What is posted after the reset is not lost, though the engine has not seen the cut's end yet;
/// and the connection has another number, under which it can be stopped again.
#[test]
fn the_next_connection_begins_at_once() {
    let plant = plant();
    let mut world = plant.world();
    let mut before = Vec::new();
    for generation in 2..6 {
        let connection = cut(&mut world, 1);
        assert!(!before.contains(&connection.number), "a number that there was");
        before.push(connection.number);
        assert!(proven(&mut world, connection).is_none(), "the last answer is none to this cut");
        let proof = proof(&mut world, connection);
        world.port(A).driver.reset(proof);
        assert!(proven(&mut world, connection).is_some(), "it has stopped, and is no more");
        let [out, theirs, back, ours] = [0, 1, 2, 3].map(|index| Tag { index, generation });
        world.transfer(A, B, out, theirs, LENGTH);
        world.transfer(B, A, back, ours, LENGTH);
        world.settle();
        world.both((A, out), (B, theirs), Returned::Ok);
        world.both((B, back), (A, ours), Returned::Ok);
    }
}

/// While one connection is stopped, another one ends its stop and is used again. The pass that
/// looks at both once more takes nothing of the new one.
#[test]
fn a_cut_beside_another_takes_nothing_of_its_next_connection() {
    for ahead in [false, true] {
        let descriptors = 200;
        let plant =
            Plant::new(Shape { nodes: 3, descriptors, window: 1 << 15, ..Shape::default() });
        let mut world = plant.world();
        let first = cut(&mut world, 1);
        let proof_of_first = proof(&mut world, first);
        let second = cut(&mut world, 2);
        // A piece of the pass, or none yet.
        world.step(A);
        world.port(A).driver.reset(proof_of_first);
        let at = if ahead { 190 } else { 3 };
        world.transfer(A, B, tag(at), tag(1), LENGTH);
        world.transfer(B, A, tag(2), tag(at - 1), LENGTH);
        let _ = proof(&mut world, second);
        world.settle();
        world.both((A, tag(at)), (B, tag(1)), Returned::Ok);
        world.both((B, tag(2)), (A, tag(at - 1)), Returned::Ok);
    }
}

/// A large table is searched in bounded pieces, and every piece is.
#[test]
fn the_search_is_bounded_and_whole() {
    let descriptors = 200;
    for last in [0, 63, 64, 127, 128, 199] {
        let plant =
            Plant::new(Shape { nodes: 3, descriptors, window: 1 << 15, ..Shape::default() });
        let mut world = plant.world();
        world.script(B).chunk = Some(8);
        world.transfer(A, B, tag(last), tag(0), 64);
        world.step(B);
        let connection = cut(&mut world, 1);
        for _ in 0..20 {
            world.step(A);
            assert!(proven(&mut world, connection).is_none(), "{last}: a live puller holds it");
        }
        world.step(B);
        let mut steps = 0;
        while proven(&mut world, connection).is_none() {
            world.step(A);
            steps += 1;
        }
        assert!((3..=8).contains(&steps), "{steps} pieces of 64");
    }
}

/// As a stop: without the link's clock, and whatever else the engine does.
#[test]
fn a_cut_needs_no_clock() {
    let plant = plant();
    let mut world = plant.world();
    world.script(A).chunk = Some(LENGTH / 4);
    world.transfer(B, A, tag(0), tag(0), LENGTH);
    world.step(A);
    world.link(A, false);
    let before = copied(&world);
    let connection = cut(&mut world, 1);
    let proof = proof(&mut world, connection);
    assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
    world.link(A, true);
    world.settle();
    assert_eq!(copied(&world), before);
    assert_eq!(world.once(B, tag(0)), Returned::Touched);
}

/// The link's stop and reset are those of its connections: the cut is over, and each has a new
/// number.
#[test]
fn a_reset_of_the_link_ends_all_cuts() {
    let plant = plant();
    let mut world = plant.world();
    let before = [1, 2].map(|node| present(&mut world, node).number);
    world.script(B).chunk = Some(8);
    world.transfer(A, B, tag(0), tag(0), 64);
    world.step(B);
    let connection = cut(&mut world, 1);
    world.step(A);
    world.port(A).driver.stop();
    let proof = world.proof(A);
    let _ = world.reclaim(A, tag(0), &proof);
    world.port(A).driver.reset(proof);
    let after = [1, 2].map(|node| present(&mut world, node).number);
    assert!(before.iter().all(|number| !after.contains(number)), "{before:?} {after:?}");
    world.script(B).chunk = None;
    let again = Tag { index: 0, generation: 2 };
    world.transfer(A, B, again, again, LENGTH);
    world.settle();
    world.both((A, again), (B, again), Returned::Ok);
    assert_ne!(present(&mut world, 1).number, connection.number);
    let connection = cut(&mut world, 1);
    assert!(proven(&mut world, connection).is_none());
    let _ = self::proof(&mut world, connection);
}

/// A pull that a driver posts in spite of the cut is not begun; its invalidation brings it back.
#[test]
fn nothing_is_begun_while_the_connection_is_cut() {
    let plant = plant();
    let mut world = plant.world();
    let connection = cut(&mut world, 1);
    let _ = proof(&mut world, connection);
    let out = world.filled(1, 64);
    world.stage(B, tag(0), &out, 0);
    let into = world.filled(0, 64);
    world.pull(A, tag(0), &into, 1, tag(0), 64);
    world.settle();
    assert_eq!((copied(&world), world.ends(A, tag(0))), (0, &[][..]));
    world.invalidate(A, tag(0));
    world.settle();
    assert_eq!(world.once(A, tag(0)), Returned::Untouched);
}
