// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The words that say that the connection with one node has stopped: when they are a proof, and of
//! what (REG-18, INV-3).

use lnd_core::id::LinkId;
use lnd_core::link::{Connection, Quiesced};
use lnd_core::ports::{Engine, Returned};
use lnd_dma::descriptor::State;
use lnd_dma::driver::{ConnectingEngine, MmioEngine};
use lnd_dma::regs::{ControlBits, InterruptBits, Register, RegisterAccess};

use crate::harness::{nid, tag, At, Numbers, Plant, Shape};
use crate::part::{cut, plant, present, proof, proven, A, B, LENGTH};

/// Words that a co-tenant has written hold up no proof, and are none.
#[test]
fn words_of_a_stranger_hold_up_no_proof() {
    for register in [
        Register::PartedLow,
        Register::PartedHigh,
        Register::PartedRound,
        Register::CutLow,
        Register::CutRound,
    ] {
        for value in [0, 1, u32::MAX] {
            let plant = plant();
            let mut world = plant.world();
            world.step_all();
            let memory = world.memory(A);
            memory.write(register, value);
            world.script(B).chunk = Some(8);
            world.transfer(A, B, tag(0), tag(0), 64);
            world.step(B);
            let connection = cut(&mut world, 1);
            assert!(proven(&mut world, connection).is_none(), "written before the cut");
            world.step(A);
            assert!(proven(&mut world, connection).is_none());
            world.step(B);
            world.step(A);
            memory.write(register, value);
            let proof = proof(&mut world, connection);
            assert_eq!(world.reclaim(A, tag(0), &proof), Some(Returned::Touched));
        }
    }
}

/// Own words that name another live node, or descriptors of another, are not this node's.
#[test]
fn claims_of_others_hold_up_no_proof() {
    use lnd_dma::descriptor::{Own, State};
    let plant = plant();
    let mut world = plant.world();
    let memory = world.memory(A);
    world.transfer(A, B, tag(0), tag(0), 64);
    // A stranger's hand: claimed for C, for a node beyond all words, and states without a name.
    for (index, own) in [(0, 2), (1, 2), (2, 200)] {
        memory.descriptor(index).unwrap().set(Own::new(State::Owned, 1).busy(own));
    }
    memory.descriptor(3).unwrap().set(Own(7));
    let connection = cut(&mut world, 1);
    let _ = proof(&mut world, connection);
    for (index, own) in [(0, 2), (1, 2), (2, 200)] {
        let now = memory.descriptor(index).unwrap().own();
        assert_eq!(now, Own::new(State::Owned, 1).busy(own), "not this connection's");
    }
}

/// Nodes that have no bit have no connection of their own; nor has any of an engine that cannot do
/// it.
#[test]
fn who_has_connections() {
    let plant = plant();
    let mut world = plant.world();
    let driver = &world.port(A).driver;
    let has = |node| driver.connection(nid(node)).is_some();
    assert_eq!(
        [0, 1, 63, 64, 255, 999, 1000].map(has),
        [true, true, true, false, false, false, false]
    );
    let numbers: std::collections::BTreeSet<_> =
        (0..64).filter_map(|node| driver.connection(nid(node))).collect();
    assert_eq!(numbers.len(), 64, "each has its own number");
    let memory = world.memory(B);
    memory.write(Register::Features, 31);
    let engine = MmioEngine::new(LinkId::new(0).unwrap(), memory, memory, Numbers);
    let mut driver = ConnectingEngine::new(engine);
    assert_eq!(driver.connection(nid(1)), None);
    assert_eq!(
        memory.read(Register::CutRound),
        1,
        "only the harness's own driver has written there"
    );
    assert_eq!(driver.memory().geometry(), plant.shape.geometry());
    driver.stop();
    assert!(ControlBits(memory.read(Register::Control)).contains(ControlBits::STOP));
}

/// A proof is of one connection, or of the link, and takes nothing else.
#[test]
fn another_proof_takes_nothing() {
    let plant = Plant::new(Shape { nodes: 3, links: 2, ..Shape::default() });
    let mut world = plant.world();
    let other: At = (0, 1);
    world.transfer(A, B, tag(0), tag(0), 64);
    let connection = cut(&mut world, 2);
    let theirs = proof(&mut world, connection);
    // Of the same number on another link.
    let number = world.port(other).driver.connection(nid(1)).unwrap();
    let elsewhere = Connection { link: LinkId::new(1).unwrap(), peer: nid(1), number };
    assert!(proven(&mut world, elsewhere).is_none(), "it is not this engine's to say");
    world.port(other).driver.stop_connection(elsewhere);
    world.step_all();
    let proof = world.port(other).driver.connection_quiesced(elsewhere).unwrap();
    assert_eq!(world.port(A).driver.reclaim(tag(0), &proof), None);
    world.port(A).driver.reset(proof);
    // A proof that is used up already: its connection is no more.
    world.port(A).driver.reset(theirs);
    let stale = proven(&mut world, connection).unwrap();
    assert_eq!(world.port(A).driver.reclaim(tag(0), &stale), None);
    world.port(A).driver.reset(stale);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
}

/// A device that is not there for any of the reads proves nothing, and is gone until it is back.
#[test]
fn a_bus_that_does_not_answer_proves_nothing() {
    crate::gone::on_bus(|world, bus| {
        let mut driver = ConnectingEngine::new(bus.driver());
        let number = driver.connection(nid(0)).unwrap();
        let connection = Connection { link: LinkId::new(0).unwrap(), peer: nid(0), number };
        driver.stop_connection(connection);
        world.step(B);
        for change in [crate::gone::ONES, |_, _| 0] {
            for right in 0..8 {
                bus.breaks(change);
                bus.right.set(right);
                assert!(driver.connection_quiesced(connection).is_none(), "after {right} reads");
                assert!(driver.is_gone(), "after {right} reads");
                bus.heals();
            }
        }
        assert!(driver.connection_quiesced(connection).is_some());
        // A cut that was lost on the way is repeated.
        bus.lossy.set(true);
        driver.stop_connection(Connection {
            number: driver.connection(nid(2)).unwrap(),
            ..connection
        });
        bus.lossy.set(false);
        assert!(driver.connection_quiesced(connection).is_none());
        world.step(B);
        assert!(driver.connection_quiesced(connection).is_some());
    });
}

/// While its node is cut no pull from it begins, and each comes back in time when it is asked back:
/// nothing else would ever show that the end of the cut was lost.
#[test]
fn inv_15_a_device_that_did_not_hear_the_end_of_a_cut_is_gone() {
    for lost in [None, Some(1), Some(2), Some(3)] {
        crate::gone::on_bus(|world, bus| {
            let mut driver = ConnectingEngine::new(bus.driver());
            let number = driver.connection(nid(0)).unwrap();
            let connection = Connection { link: LinkId::new(0).unwrap(), peer: nid(0), number };
            driver.stop_connection(connection);
            world.step(B);
            let proof = driver.connection_quiesced(connection).unwrap();
            assert_eq!(bus.memory.read(Register::CutLow), 1);
            bus.lost.set(lost.unwrap_or(0));
            driver.reset(proof);
            bus.lost.set(0);
            assert_eq!(driver.is_gone(), lost.is_some(), "{lost:?}");
            // The link's stop and reset end it.
            driver.stop();
            world.step_all();
            world.step_all();
            let proof = driver.quiesced().unwrap();
            driver.reset(proof);
            world.step_all();
            assert!(driver.link_up() && !driver.is_gone());
            assert_eq!(bus.memory.read(Register::CutLow), 0);
        });
    }
}

#[test]
fn no_proof_without_a_cut() {
    let plant = plant();
    let mut world = plant.world();
    let connection = present(&mut world, 1);
    assert!(proven(&mut world, connection).is_none(), "fresh");
    world.step_all();
    assert!(proven(&mut world, connection).is_none(), "running");
    cut(&mut world, 2);
    world.step_all();
    assert!(proven(&mut world, connection).is_none(), "another node's was cut");
    cut(&mut world, 1);
    assert!(proven(&mut world, connection).is_none(), "asked, but it has not answered");
    world.step(A);
    assert!(proven(&mut world, connection).is_some());
    let known = InterruptBits::from_bits_retain(world.read(A, Register::Interrupt));
    assert!(known.contains(InterruptBits::LINK), "a driver that sleeps is told");
    assert!(world.port(A).driver.link_up(), "the link works on");
}

/// What lies in the registers at the reset cuts no connection.
#[test]
fn garbage_in_cut_does_not_survive_a_reset() {
    let plant = plant();
    let mut world = plant.world();
    world.port(A).driver.stop();
    let proof = world.proof(A);
    let memory = world.memory(A);
    for register in [Register::CutLow, Register::CutHigh, Register::CutRound] {
        memory.write(register, 0xdead_beef);
    }
    world.port(A).driver.reset(proof);
    world.transfer(A, B, tag(0), tag(0), LENGTH);
    world.transfer(B, A, tag(1), tag(1), LENGTH);
    world.settle();
    world.both((A, tag(0)), (B, tag(0)), Returned::Ok);
    world.both((B, tag(1)), (A, tag(1)), Returned::Ok);
}

/// A platform that stops connections by other means gives the proof itself. It takes descriptors
/// away, and resets no link.
#[test]
fn a_connections_proof_of_the_platform() {
    let plant = plant();
    let mut world = plant.world();
    let memory = world.memory(A);
    world.transfer(A, B, tag(0), tag(0), 64);
    let mut driver = MmioEngine::new(LinkId::new(0).unwrap(), memory, memory, Numbers);
    let number = std::num::NonZeroU32::new(7).unwrap();
    let proof = |link: usize| {
        let link = LinkId::new(link).unwrap();
        // SAFETY: no engine is stepped in this test.
        unsafe { Quiesced::assert_connection_stopped(Connection { link, peer: nid(1), number }) }
    };
    assert_eq!(driver.reclaim(tag(0), &proof(1)), None);
    assert!(memory.descriptor(0).unwrap().own().is(State::Owned), "another link's proof");
    assert_eq!(driver.reclaim(tag(0), &proof(0)), None);
    assert!(memory.descriptor(0).unwrap().own().is(State::Free), "it is taken away");
    driver.reset(proof(0));
    assert!(!ControlBits(memory.read(Register::Control)).contains(ControlBits::RESET));
}
