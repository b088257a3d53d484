// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The registers that stop the connection with one node (REG-18): driver, own engine, that node's
//! engine.
//!
//! Property: once the connection is proven stopped, neither engine touches what was posted with
//! that node; both sides agree on how it ended; and what is posted after the cut's end is neither
//! lost nor taken.

use lnd_core::id::LinkId;
use lnd_core::key::Key;
use lnd_core::link::{Connection, Quiesced};
use lnd_core::ports::{Engine, Motion, Returned};
use lnd_loom::{explore, Bound};
use loom::thread;

use super::popped;
use super::yard::{nid, Connecting, Yard, NOW, TAG};

fn cut(driver: &mut Connecting, node: u32) -> Connection {
    let number = driver.engine.connection(nid(node)).unwrap();
    let connection = Connection { link: LinkId::new(0).unwrap(), peer: nid(node), number };
    driver.engine.stop_connection(connection);
    connection
}

/// The claim and the take-back are exchanges of one word; a chunk that is under way ends before the
/// proof.
#[test]
fn inv_3_cut_against_the_other_nodes_pull() {
    let ends = explore("cut, reclaim ‖ pull", Bound::Preemptions(2), || {
        let yard = Yard::new(0);
        let mut driver = yard.connecting(0);
        driver.post(TAG, Motion::Stage { to: nid(1) });
        yard.driver(1).pull(TAG);
        let (mut puller, mut engine) = (yard.engine(1), yard.engine(0));
        let pull = thread::spawn(move || {
            puller.step(NOW, 1);
            puller.step(NOW, 1);
            puller
        });
        yard.turn();
        let connection = cut(&mut driver, 1);
        let mut parted = || {
            yard.turn();
            engine.step(NOW, 1);
            driver.engine.connection_quiesced(connection)
        };
        let mut pull = Some(pull);
        let (mut proof, mut puller) = (parted().or_else(&mut parted), None);
        let early = proof.is_some();
        if !early {
            // It waits for the puller, which lets go at its next look.
            puller = pull.take().map(|pull| pull.join().unwrap());
            puller.as_mut().unwrap().step(NOW, 1);
            proof = parted().or_else(&mut parted);
        }
        let proof = proof.expect("nothing is claimed any more");
        let ours = driver.engine.reclaim(TAG, &proof);
        // The memory is the upper layer's again: loom finds any chunk that is not over.
        yard.staged.set(0);
        let mut puller = puller.or_else(|| pull.map(|pull| pull.join().unwrap())).unwrap();
        puller.step(NOW, 1);
        let theirs = popped(&mut yard.queue(1), TAG);
        assert_eq!(theirs == Some(Returned::Ok), ours == Some(Returned::Ok), "{theirs:?} {ours:?}");
        assert!(theirs.is_some() && ours.is_some(), "a word of each tells");
        assert_eq!(
            popped(&mut yard.queue(0), TAG).filter(|notified| Some(*notified) != ours),
            None
        );
        (early, format!("{ours:?} after {}", yard.moved.get()))
    });
    assert!(ends.len() >= 3, "{ends:?}");
}

/// Our own pull: nothing is written after the proof.
#[test]
fn inv_3_cut_against_our_own_pull() {
    let ends = explore("cut, reclaim ‖ our own pull", Bound::Preemptions(3), || {
        let yard = Yard::new(0);
        yard.driver(0).stage(TAG);
        let mut driver = yard.connecting(1);
        yard.arrived.set(0);
        driver.post(TAG, Motion::Pull { from: nid(0), source: TAG, key: Key::NONE });
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            (0..3).for_each(|_| _ = engine.step(NOW, 1));
            engine
        });
        yard.turn();
        let connection = cut(&mut driver, 0);
        yard.turn();
        let mut proof = driver.engine.connection_quiesced(connection);
        let early = proof.is_some();
        let mut device = Some(device);
        if !early {
            let mut engine = device.take().unwrap().join().unwrap();
            engine.step(NOW, 1);
            proof = driver.engine.connection_quiesced(connection);
        }
        let ours = driver.engine.reclaim(TAG, &proof.expect("its own engine has let go"));
        yard.arrived.set(7);
        device.map(|device| device.join().unwrap());
        assert_eq!(yard.arrived.get(), 7);
        let moved = yard.moved.get();
        assert_eq!(ours == Some(Returned::Ok), moved == 2, "{ours:?} after {moved}");
        assert!(ours.is_some());
        (early, moved)
    });
    assert!(ends.len() >= 3, "{ends:?}");
}

/// A stopped connection, and a cut of another that makes the engine look at both once more.
fn stopped(driver: &mut Connecting, yard: &std::rc::Rc<Yard>, node: u32) -> Quiesced {
    let connection = cut(driver, node);
    let mut engine = yard.engine(driver.node);
    engine.step(NOW, 1);
    driver.engine.connection_quiesced(connection).expect("nothing is there")
}

/// The next connection's pull is begun, though the engine is at the search for another cut.
#[test]
fn r17_a_pull_after_the_cuts_end_against_engine() {
    let ends = explore("cut another, end the cut, pull ‖ engine", Bound::Preemptions(3), || {
        let yard = Yard::new(0);
        yard.driver(0).stage(TAG);
        let mut driver = yard.connecting(1);
        let proof = stopped(&mut driver, &yard, 0);
        let mut engine = yard.engine(1);
        engine.step(NOW, 1);
        cut(&mut driver, 5);
        yard.arrived.set(0);
        let device = thread::spawn(move || {
            engine.step(NOW, 1);
            engine
        });
        yard.turn();
        driver.engine.reset(proof);
        driver.post(TAG, Motion::Pull { from: nid(0), source: TAG, key: Key::NONE });
        let mut engine = device.join().unwrap();
        let early = yard.moved.get();
        (0..3).for_each(|_| _ = engine.step(NOW, 1));
        assert_eq!(popped(&mut yard.queue(1), TAG), Some(Returned::Ok), "never begun, or taken");
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1]);
}

/// What is staged for the next connection stays staged.
#[test]
fn r17_a_stage_after_the_cuts_end_against_engine() {
    let ends = explore("cut another, end the cut, stage ‖ engine", Bound::Preemptions(3), || {
        let yard = Yard::new(0);
        let mut driver = yard.connecting(0);
        let proof = stopped(&mut driver, &yard, 1);
        let mut engine = yard.engine(0);
        engine.step(NOW, 1);
        let other = cut(&mut driver, 5);
        let device = thread::spawn(move || {
            engine.step(NOW, 1);
            engine
        });
        yard.turn();
        driver.engine.reset(proof);
        driver.post(TAG, Motion::Stage { to: nid(1) });
        let mut engine = device.join().unwrap();
        let early = driver.engine.connection_quiesced(other).is_some();
        engine.step(NOW, 1);
        assert!(driver.engine.connection_quiesced(other).is_some());
        yard.driver(1).pull(TAG);
        let mut puller = yard.engine(1);
        (0..3).for_each(|_| _ = puller.step(NOW, 1));
        engine.step(NOW, 1);
        assert_eq!(popped(&mut yard.queue(1), TAG), Some(Returned::Ok), "taken from the next one");
        assert_eq!(popped(&mut yard.queue(0), TAG), Some(Returned::Ok));
        early
    });
    assert!(!ends.is_empty());
}
