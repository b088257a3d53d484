// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The registers of a remote read (S2-4 to S2-13, R56): asker, own engine, the other end's driver
//! that publishes or stops.
//!
//! Property (REG-16): each ring of the bell has one answer, which is of that ring and true of the
//! other end at some time between ring and answer; a stop leaves no read behind.

use lnd_core::ports::Engine;
use lnd_core::time::{Instant, Span};
use lnd_dma::read::{ReadEnd, ReadError, ReadKind, RemoteReads};
use lnd_dma::regs::RegisterAccess;
use lnd_loom::{explore, Bound};
use loom::thread;

use super::yard::{Yard, NOW};

/// What node 0 publishes first, and what it publishes then.
const OLD: (u32, u32) = (7, 0x01d);
const NEW: (u32, u32) = (8, 0x9e3);

/// After the retry bound.
const LATER: Instant = NOW.after(Span::from_secs(9));

fn wanted(key: u32) -> ReadKind {
    ReadKind::Published(key)
}

/// Node 1 asks for `key` while node 0 publishes `to`: the words that are found; `None`: refused.
fn while_published(name: &str, key: u32, to: (u32, u32)) -> Vec<Option<u32>> {
    let ends = explore(name, Bound::Exhaustive, move || {
        let yard = Yard::new(0);
        let mut publisher = RemoteReads::new(yard.registers(0));
        publisher.publish(OLD.0, OLD.1);
        let mut asker = RemoteReads::new(yard.registers(1));
        asker.begin(0, wanted(key)).unwrap();
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || engine.step(NOW, 1));
        yard.turn();
        publisher.publish(to.0, to.1);
        device.join().unwrap();
        match asker.poll() {
            Some(ReadEnd::Ok(word)) => Some(word),
            Some(ReadEnd::AccessError) => None,
            other => panic!("the other end answers: {other:?}"),
        }
    });
    ends.into_keys().collect()
}

/// The word and the key are two registers: a word is never told under another's key.
#[test]
fn s2_9_a_word_under_another_key_against_read() {
    let old = while_published("publish under a new key ‖ read of the old one", OLD.0, NEW);
    assert_eq!(old, [None, Some(OLD.1)]);
    let new = while_published("publish under a new key ‖ read of the new one", NEW.0, NEW);
    assert_eq!(new, [None, Some(NEW.1)]);
}

/// Another word under the same key: the old one, the new one, or neither.
#[test]
fn s2_9_another_word_against_read() {
    let ends = while_published("publish another word ‖ read", OLD.0, (OLD.0, NEW.1));
    assert_eq!(ends, [None, Some(OLD.1), Some(NEW.1)]);
}

/// One after another: an answer is of the read that the asker waits for, and is told once.
#[test]
fn s2_13_two_reads_against_engine() {
    let ends = explore("ask, ask ‖ engine", Bound::Exhaustive, || {
        let yard = Yard::new(0);
        RemoteReads::new(yard.registers(0)).publish(OLD.0, OLD.1);
        let mut asker = RemoteReads::new(yard.registers(1));
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            (0..2).for_each(|_| _ = engine.step(NOW, 1));
            engine
        });
        asker.begin(0, wanted(OLD.0)).unwrap();
        yard.turn();
        let early = asker.poll();
        yard.turn();
        // Without an answer there is no second read, even for one who does not wait any more.
        asker.give_up();
        let second = asker.begin(0, ReadKind::Zero);
        let mut engine = device.join().unwrap();
        engine.step(NOW, 1);
        match (early, second) {
            (None, Err(why)) => {
                assert_eq!(why, ReadError::Busy);
                assert_eq!(asker.poll(), None, "an answer for a reader that does not wait");
                asker.begin(0, ReadKind::Zero).unwrap();
                engine.step(NOW, 1);
            }
            (None | Some(ReadEnd::Ok(_)), Ok(())) => {}
            other => panic!("{other:?}"),
        }
        assert!(early.is_none_or(|end| end == ReadEnd::Ok(OLD.1)));
        // A word would be the first read's.
        assert_eq!(asker.poll(), Some(ReadEnd::Ok(0)));
        assert_eq!(asker.poll(), None, "told twice");
        (early.is_some(), second.is_ok())
    });
    let all = [(false, false), (false, true), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// Our own engine is stopped: the read ends, by what was known before or by nothing.
#[test]
fn s2_13_own_stop_and_reset_against_read() {
    let ends = explore("ask, stop, reset ‖ engine", Bound::Exhaustive, || {
        let yard = Yard::new(0);
        RemoteReads::new(yard.registers(0)).publish(OLD.0, OLD.1);
        let mut asker = RemoteReads::new(yard.registers(1));
        let mut driver = yard.driver(1);
        asker.begin(0, wanted(OLD.0)).unwrap();
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            (0..2).for_each(|_| _ = engine.step(NOW, 1));
            engine
        });
        yard.turn();
        driver.engine.stop();
        yard.turn();
        let proof = driver.engine.quiesced();
        let early = proof.is_some();
        assert!(!early || asker.has_answer(), "a stopped engine that still owes an answer");
        let mut engine = device.join().unwrap();
        engine.step(NOW, 1);
        let proof = proof.or_else(|| driver.engine.quiesced()).unwrap();
        let end = asker.poll().expect("a stop leaves no read behind");
        assert!(matches!(end, ReadEnd::Ok(_) | ReadEnd::Aborted), "{end:?}");
        assert!(!matches!(end, ReadEnd::Ok(word) if word != OLD.1));
        driver.engine.reset(proof);
        engine.step(NOW, 1);
        assert_eq!(asker.poll(), None, "told twice");
        asker.begin(0, wanted(OLD.0)).unwrap();
        engine.step(NOW, 1);
        assert_eq!(asker.poll(), Some(ReadEnd::Ok(OLD.1)));
        (early, end == ReadEnd::Aborted)
    });
    let all = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// The other end stops, is reset, and runs again, while it is asked: it answers, or it does not
/// until the retry bound; neither is an error of the access.
#[test]
fn s2_11_the_other_ends_stop_and_reset_against_read() {
    let ends = explore("stop, reset there ‖ read", Bound::Exhaustive, || {
        let yard = Yard::new(0);
        RemoteReads::new(yard.registers(0)).publish(OLD.0, OLD.1);
        let mut asker = RemoteReads::new(yard.registers(1));
        asker.begin(0, wanted(OLD.0)).unwrap();
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            engine.step(NOW, 1);
            engine.step(LATER, 1);
            engine
        });
        let (mut driver, mut other) = (yard.driver(0), yard.engine(0));
        yard.turn();
        driver.engine.stop();
        other.step(NOW, 1);
        yard.turn();
        let proof = driver.engine.quiesced().unwrap();
        driver.engine.reset(proof);
        yard.turn();
        (0..2).for_each(|_| _ = other.step(NOW, 1));
        device.join().unwrap();
        let end = asker.poll().expect("an answer, at the latest after the bound");
        assert!(
            matches!(end, ReadEnd::Ok(word) if word == OLD.1) || end == ReadEnd::RetryExhausted
        );
        assert!(yard.registers(0).read(lnd_dma::regs::Register::PublishedKey) == OLD.0);
        end == ReadEnd::RetryExhausted
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}
