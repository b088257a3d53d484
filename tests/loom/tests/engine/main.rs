// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The words that driver, interrupt and engines share: own words, rings, bitmaps, registers (S0-6,
//! S0-10, S0-20, R5, R14, R17).
//!
//! Node 0 stages a transfer, node 1 pulls it; the shipped driver, interrupt and engine of each,
//! every one of them in a context of its own.
//!
//! Property: what a completion tells is true and is told once; the engine sees a descriptor whole
//! or not at all; an invalidation and the pull that it crosses agree on who was first; and once an
//! engine is proven stopped, no other node's engine touches what it had staged. Remote reads: see
//! `reads.rs`; connections: see `cuts.rs`.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cuts;
mod reads;
mod yard;

use lnd_core::id::Tag;
use lnd_core::ports::{Completions, Engine, Returned};
use lnd_core::sync::AtomicU32;
use lnd_dma::bits::Bits;
use lnd_dma::regs::{InterruptBits, Register, RegisterAccess};
use lnd_loom::{explore, Bound};
use loom::thread;

use yard::{Yard, NOW, TAG};

/// Only the thread that takes may clear a bit, and a bit that is set is taken once.
#[test]
fn r5_bits_set_against_taken() {
    let ends = explore("set ‖ set ‖ take", Bound::Exhaustive, || {
        let words: &'static [AtomicU32] =
            (0..Bits::words(40)).map(|_| AtomicU32::new(0)).collect::<Vec<_>>().leak();
        let setters = [3, 35].map(|index| thread::spawn(move || Bits::new(words, 40).set(index)));
        let bits = Bits::new(words, 40);
        let mut taken = Vec::new();
        taken.extend(bits.take_one());
        taken.extend(bits.take_one());
        let early = taken.len();
        for setter in setters {
            setter.join().unwrap();
        }
        taken.extend(core::iter::from_fn(|| bits.take_one()));
        taken.sort_unstable();
        assert_eq!(taken, [3, 35], "each once, none lost");
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

/// Two bits of one word: while one is taken, and the summary cleared, the other is set.
#[test]
fn r5_a_bit_set_while_its_word_is_cleared() {
    let ends = explore("set, set ‖ take, take", Bound::Exhaustive, || {
        let words: &'static [AtomicU32] =
            (0..Bits::words(32)).map(|_| AtomicU32::new(0)).collect::<Vec<_>>().leak();
        let setter = thread::spawn(move || [1, 2].map(|index| Bits::new(words, 32).set(index)));
        let bits = Bits::new(words, 32);
        let mut taken: Vec<_> = (0..3).filter_map(|_| bits.take_one()).collect();
        let early = taken.len();
        setter.join().unwrap();
        assert!(taken.len() == 2 || bits.any(), "a bit that no thread will look for");
        taken.extend(core::iter::from_fn(|| bits.take_one()));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

/// All bits of a word are taken at once while others are set in it: each is taken once, and one
/// that is left is looked for.
#[test]
fn r5_words_taken_while_their_bits_are_set() {
    let ends = explore("set ‖ set, set ‖ take all, take all", Bound::Exhaustive, || {
        let words: &'static [AtomicU32] =
            (0..Bits::words(40)).map(|_| AtomicU32::new(0)).collect::<Vec<_>>().leak();
        let one = thread::spawn(move || Bits::new(words, 40).set(3));
        let two = thread::spawn(move || Bits::new(words, 40).set_many(0, 0b110));
        let bits = Bits::new(words, 40);
        let mut taken: Vec<_> = (0..2).filter_map(|_| bits.take_word()).collect();
        let early = taken.len();
        one.join().unwrap();
        two.join().unwrap();
        taken.extend(core::iter::from_fn(|| bits.take_word()));
        assert!(taken.iter().all(|(word, _)| *word == 0));
        let sum: u32 = taken.iter().map(|(_, set)| set).sum();
        let all = taken.iter().fold(0, |all, (_, set)| all | set);
        assert_eq!((sum, all), (0b1110, 0b1110), "each once, none lost: {taken:?}");
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

/// How a descriptor came back, if it has.
fn popped(queue: &mut impl Completions, tag: Tag) -> Option<Returned> {
    let completion = queue.pop()?;
    assert_eq!(completion.tag, tag);
    assert_eq!(queue.pop(), None, "told twice");
    Some(completion.returned)
}

/// The completion ring, and the interrupt register: an engine that has something to tell leaves
/// either the completion to be found, or the register to say so, if the interrupt is armed.
#[test]
fn r5_completion_against_interrupt() {
    let ends = explore("completion ‖ interrupt", Bound::Exhaustive, || {
        let yard = Yard::new(u32::MAX);
        yard.registers(0).write(Register::InterruptMask, InterruptBits::COMPLETION.bits());
        yard.driver(0).stage(TAG);
        yard.driver(1).pull(TAG);
        let mut puller = yard.engine(1);
        puller.step(NOW, 1);
        puller.step(NOW, 1);
        let mut engine = yard.engine(0);
        let device = thread::spawn(move || engine.step(NOW, 1).completions);
        let registers = yard.registers(0);
        let mut queue = yard.queue(0);
        let pending = registers.read(Register::Interrupt);
        registers.write(Register::Interrupt, pending);
        let early = popped(&mut queue, TAG);
        assert_eq!(device.join().unwrap(), 1);

        let again = registers.read(Register::Interrupt) & InterruptBits::COMPLETION.bits() != 0;
        assert!(early.is_some() || again, "no thread will look for it");
        let late = popped(&mut queue, TAG);
        assert_eq!(early.or(late), Some(Returned::Ok));
        assert!(early.is_none() || late.is_none(), "told twice");
        (early.is_some(), again)
    });
    let all = [(false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// A driver that has polled arms the interrupt, looks once more, and sleeps; to arm it is a
/// doorbell. It has found the completion, or the interrupt is raised by the step that the doorbell
/// has asked for. One that it has taken raises nothing afterwards.
#[test]
fn r5_arming_against_completion() {
    let ends = explore("completion ‖ arm, look", Bound::Exhaustive, || {
        let yard = Yard::new(u32::MAX);
        yard.driver(0).stage(TAG);
        yard.driver(1).pull(TAG);
        let mut puller = yard.engine(1);
        puller.step(NOW, 1);
        puller.step(NOW, 1);
        let mut engine = yard.engine(0);
        let device = thread::spawn(move || {
            assert_eq!(engine.step(NOW, 1).completions, 1);
            engine
        });
        let registers = yard.registers(0);
        let mut queue = yard.queue(0);
        registers.write(Register::InterruptMask, InterruptBits::COMPLETION.bits());
        let found = popped(&mut queue, TAG).is_some();
        let mut engine = device.join().unwrap();
        let raised = |registers: &lnd_dma::memory::LinkMemory<'_>| {
            registers.read(Register::Interrupt) & InterruptBits::COMPLETION.bits() != 0
        };
        let early = raised(&registers);
        engine.step(NOW, 1);
        assert!(found || raised(&registers), "it sleeps, and is not woken");
        assert!(early || !found || !raised(&registers), "woken for what it has taken");
        (found, early)
    });
    let all = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

/// The way back over all three: who is told has the memory for himself.
#[test]
fn s3_1_pull_against_return_against_interrupt() {
    let ends = explore("pull ‖ return ‖ interrupt", Bound::Exhaustive, || {
        let yard = Yard::new(0);
        yard.driver(0).stage(TAG);
        yard.driver(1).pull(TAG);
        let (mut puller, mut engine) = (yard.engine(1), yard.engine(0));
        let pull = thread::spawn(move || (0..3).for_each(|_| _ = puller.step(NOW, 1)));
        let back = thread::spawn(move || {
            engine.step(NOW, 1);
            engine
        });
        let mut queue = yard.queue(0);
        let mut end = popped(&mut queue, TAG);
        let early = end.is_some();
        if early {
            yard.staged.set(0);
        }
        pull.join().unwrap();
        let mut engine = back.join().unwrap();
        engine.step(NOW, 1);
        end = end.or_else(|| popped(&mut queue, TAG));
        assert_eq!((end, yard.arrived.get()), (Some(Returned::Ok), TAG.generation));
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

/// The post ring: the engine begins with what the doorbell has told it of, and sees all of it.
#[test]
fn r17_post_against_engine() {
    let ends = explore("post, doorbell ‖ engine", Bound::Exhaustive, || {
        let yard = Yard::new(u32::MAX);
        yard.driver(0).stage(TAG);
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            engine.step(NOW, 1);
            engine
        });
        yard.driver(1).pull(TAG);
        let mut engine = device.join().unwrap();
        let early = yard.moved.get() > 0;
        for _ in 0..3 {
            engine.step(NOW, 1);
        }
        assert_eq!(popped(&mut yard.queue(1), TAG), Some(Returned::Ok));
        assert_eq!((yard.arrived.get(), yard.moved.get()), (TAG.generation, 2));
        early
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [false, true]);
}

/// A Dekker pair (LU-9943): the driver posts again a descriptor whose first entry is in the ring
/// still, fences and looks whether it is; the engine takes the entry, fences and looks at the
/// descriptor.
#[test]
fn r17_a_post_that_relies_on_an_entry_against_engine() {
    let ends = explore("post again ‖ engine", Bound::Exhaustive, || {
        let yard = Yard::new(u32::MAX);
        yard.driver(0).stage(TAG);
        let mut driver = yard.driver(1);
        driver.pull(Tag { index: 0, generation: 0 });
        // It has come back, and its entry was not taken.
        yard.registers(1).descriptor(0).unwrap().free();
        let mut engine = yard.engine(1);
        let device = thread::spawn(move || {
            engine.step(NOW, 1);
            engine
        });
        driver.pull(TAG);
        let mut engine = device.join().unwrap();
        let head = yard.registers(1).read(Register::PostHead);
        let tail = yard.registers(1).read(Register::PostTail);
        for _ in 0..3 {
            engine.step(NOW, 1);
        }
        assert_eq!(popped(&mut yard.queue(1), TAG), Some(Returned::Ok), "never begun");
        assert_eq!((yard.arrived.get(), yard.moved.get()), (TAG.generation, 2));
        (head, tail)
    });
    // Taken late, taken and posted anew, taken before and after.
    assert!(ends.len() >= 2, "{ends:?}");
}

/// The reset renews the completion ring while the interrupt takes from it: nothing is told twice,
/// and what comes after the reset is told.
#[test]
fn s0_11_reset_against_interrupt() {
    let ends = explore("reset ‖ interrupt", Bound::Preemptions(3), || {
        let yard = Yard::new(0);
        let mut driver = yard.driver(0);
        driver.stage(TAG);
        let mut engine = yard.engine(0);
        driver.engine.invalidate(TAG);
        engine.step(NOW, 1);
        driver.engine.stop();
        engine.step(NOW, 1);
        let proof = driver.engine.quiesced().expect("no engine pulls");
        let mut queue = yard.queue(0);
        let interrupt = thread::spawn(move || {
            let early = [queue.pop(), queue.pop()];
            (queue, early)
        });
        assert_eq!(driver.engine.reclaim(TAG, &proof), Some(Returned::Untouched));
        driver.engine.reset(proof);
        let next = Tag { index: 0, generation: 2 };
        driver.stage(next);
        driver.engine.invalidate(next);
        engine.step(NOW, 1);
        let (mut queue, early) = interrupt.join().unwrap();
        let mut notified: Vec<_> = early.into_iter().flatten().map(|end| end.tag).collect();
        notified.extend(core::iter::from_fn(|| queue.pop()).map(|end| end.tag));
        let before = notified.iter().filter(|tag| **tag != next).count();
        assert_eq!(notified.len() - before, 1, "told once: {notified:?}");
        assert!(before <= 1, "{notified:?}");
        before
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1]);
}

/// An invalidation that crosses the pull: both sides are notified, once each, and agree.
#[test]
fn s0_6_invalidate_against_pull() {
    let ends = explore("invalidation ‖ pull", Bound::Exhaustive, || {
        let yard = Yard::new(0);
        let mut driver = yard.driver(0);
        driver.stage(TAG);
        yard.driver(1).pull(TAG);
        let (mut puller, mut engine) = (yard.engine(1), yard.engine(0));
        let pull = thread::spawn(move || {
            puller.step(NOW, 1);
            puller.step(NOW, 1);
            puller
        });
        yard.turn();
        driver.engine.invalidate(TAG);
        engine.step(NOW, 1);
        let mut queue = yard.queue(0);
        let mut ours = popped(&mut queue, TAG);
        if ours.is_some() {
            // Ours again, whatever the puller may still do.
            yard.staged.set(0);
        }
        let mut puller = pull.join().unwrap();
        for _ in 0..2 {
            puller.step(NOW, 1);
            engine.step(NOW, 1);
        }
        ours = ours.or_else(|| popped(&mut queue, TAG));
        assert_eq!(queue.pop(), None);
        let theirs = popped(&mut yard.queue(1), TAG);
        let moved = yard.moved.get();
        match (ours, theirs) {
            (Some(Returned::Ok), Some(Returned::Ok)) => assert_eq!(moved, 2),
            (Some(Returned::Touched), Some(Returned::Touched)) => assert_eq!(moved, 1),
            (Some(Returned::Untouched), Some(Returned::Untouched)) => assert_eq!(moved, 0),
            other => panic!("they do not agree: {other:?}"),
        }
        moved
    });
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

/// A Dekker pair: the puller claims, fences and looks at STOP; the stopped engine sees STOP, fences
/// and looks for claims.
#[test]
fn s0_20_stop_against_pull() {
    let ends = explore("stop, reclaim, reset ‖ pull", Bound::Preemptions(2), || {
        let yard = Yard::new(0);
        let mut driver = yard.driver(0);
        driver.stage(TAG);
        yard.driver(1).pull(TAG);
        let (mut puller, mut engine) = (yard.engine(1), yard.engine(0));
        let pull = thread::spawn(move || {
            puller.step(NOW, 1);
            puller.step(NOW, 1);
            puller
        });
        yard.turn();
        driver.engine.stop();
        let mut stopped = || {
            yard.turn();
            engine.step(NOW, 1);
            driver.engine.quiesced()
        };
        let mut pull = Some(pull);
        let (mut proof, mut puller) = (stopped().or_else(&mut stopped), None);
        let early = proof.is_some();
        if !early {
            // It waits for the puller, which lets go at its next look.
            puller = pull.take().map(|pull| pull.join().unwrap());
            puller.as_mut().unwrap().step(NOW, 1);
            proof = stopped().or_else(&mut stopped);
        }
        let proof = proof.expect("nothing is claimed any more");
        yard.turn();
        let ours = driver.engine.reclaim(TAG, &proof);
        driver.engine.reset(proof);
        engine.step(NOW, 1);
        // The memory is the upper layer's again. loom finds here any chunk that is not over, and
        // the bus any later one. (It cannot follow the next use of the descriptor: it does not know
        // that a plain store comes after an exchange that has read what was there before.)
        yard.staged.set(0);
        let mut puller = puller.or_else(|| pull.map(|pull| pull.join().unwrap())).unwrap();
        puller.step(NOW, 1);
        let theirs = popped(&mut yard.queue(1), TAG);
        assert_eq!(theirs == Some(Returned::Ok), ours == Some(Returned::Ok), "{theirs:?} {ours:?}");
        assert!(theirs.is_some());
        (early, format!("{ours:?} after {}", yard.moved.get()))
    });
    assert!(ends.len() >= 3, "{ends:?}");
}
