// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file lets interrupts note when they settled a debt, for the thread to read.

use super::wait::Wait;
use crate::base::id::Tag;
use crate::base::sync::{AtomicU32, Ordering};
use crate::base::time::{Instant, Span};
use crate::machines::transfer::{Debts, Event, Word};
use crate::ports::trace::Trace;
use crate::ports::Tracer;

/// Bits of a time in each of the two words. The rest is the low part of the slot's generation.
const BITS: u32 = 24;
const MASK: u32 = (1 << BITS) - 1;

/// The time at which a debt of a slot's present use was settled by an interrupt: 48 bits of
/// nanoseconds, 78 hours. Each word names the use, so words of two uses never make a time.
#[derive(Debug)]
struct Stamp {
    high: AtomicU32,
    low: AtomicU32,
}

impl Stamp {
    const fn word(generation: u32, part: u32) -> u32 {
        (generation << BITS) | (part & MASK)
    }

    /// Context: the one that settled the debt. There is one for each use of a slot.
    fn set(&self, generation: u32, now: Instant) {
        let ns = now.as_nanos();
        // Relaxed: both words name their use, and a reader that finds only one has no time.
        self.high.store(Self::word(generation, (ns >> BITS) as u32), Ordering::Relaxed);
        self.low.store(Self::word(generation, ns as u32), Ordering::Relaxed);
    }

    /// The time that was set for this use, which was accepted at `since` or later.
    fn get(&self, generation: u32, since: Instant) -> Option<Instant> {
        let (high, low) = (self.high.load(Ordering::Relaxed), self.low.load(Ordering::Relaxed));
        let of_use = (high ^ low) & !MASK == 0 && high >> BITS == generation & (u32::MAX >> BITS);
        // Zero generations are no use, and words that were never set are zero.
        if !of_use || generation == 0 || (high == 0 && low == 0) {
            return None;
        }
        let part = u64::from(high & MASK) << BITS | u64::from(low & MASK);
        let whole = (1u64 << (2 * BITS)) - 1;
        let passed = part.wrapping_sub(since.as_nanos()) & whole;
        // More than half of what fits: a clock that stepped back.
        (passed <= whole / 2).then(|| since.after(Span::from_nanos(passed)))
    }
}

/// The stamps of one slot: of its descriptor and of its message.
#[derive(Debug)]
pub struct Stamps {
    engine: Stamp,
    message: Stamp,
}

impl Stamps {
    /// Stamps that were never set.
    pub fn new() -> Self {
        let stamp = || Stamp { high: AtomicU32::new(0), low: AtomicU32::new(0) };
        Self { engine: stamp(), message: stamp() }
    }

    /// What interrupts have settled of a transfer since `since`, in the order of its time, by the
    /// debts that `before` owed.
    pub(super) fn settled(
        &self,
        tag: Tag,
        since: Instant,
        before: Word,
    ) -> [Option<(Instant, Debts)>; 2] {
        let one = |stamp: &Stamp, debt: Debts| {
            stamp.get(tag.generation, since).filter(|_| before.owes(debt)).map(|at| (at, debt))
        };
        let (engine, message) = (one(&self.engine, Debts::HW), one(&self.message, Debts::MSG));
        match (engine, message) {
            (Some(engine), Some(message)) if engine.0 < message.0 => [Some(engine), Some(message)],
            _ => [message, engine],
        }
    }
}

impl Default for Stamps {
    fn default() -> Self {
        Self::new()
    }
}

/// The tracer of an interrupt: notes when it settled what, and nothing else. Copies cost nothing.
/// Any number of contexts may have one.
#[derive(Clone, Copy, Debug)]
pub struct IrqObserver<'m>(&'m [Stamps]);

impl<'m> IrqObserver<'m> {
    /// Of the stamps that the shard's [`Observer`](super::Observer) reads, one for each slot.
    pub const fn new(stamps: &'m [Stamps]) -> Self {
        Self(stamps)
    }
}

impl Tracer for IrqObserver<'_> {
    #[inline]
    fn record(&mut self, now: Instant, trace: Trace) {
        let Trace::Step { tag, event, before, after, .. } = trace else { return };
        let Some(stamps) = self.0.get(tag.index as usize) else { return };
        let paid = before.debts().0 & !after.debts().0;
        if paid & Debts::HW.0 != 0 {
            stamps.engine.set(tag.generation, now);
        }
        // A message whose link was proven stopped has not left.
        if paid & Debts::MSG.0 != 0 && event != Event::Stopped {
            stamps.message.set(tag.generation, now);
        }
    }
}

/// A word without some of its debts. If none is left, it has ended.
pub(super) fn without(word: Word, debts: Debts) -> Word {
    Word::from_bits(word.bits() & !u32::from(debts.0))
}

/// A word that owes what an interrupt can settle, beside its own debts.
pub(super) fn owing(word: Word) -> Word {
    Word::from_bits(word.bits() | u32::from(Debts::HW.0 | Debts::MSG.0))
}

/// Whether a word waits for its report.
pub(super) fn has_ended(word: Word) -> bool {
    Wait::of(word) == Wait::Report
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_of_one_use_and_of_no_other() {
        let stamps = Stamps::new();
        let since = Instant::from_nanos(u64::MAX >> 3);
        let at = since.after(Span::from_secs(3_600));
        assert_eq!(stamps.engine.get(256, since), None, "never set");
        for generation in [1, 255, 256, 257, u32::MAX] {
            stamps.engine.set(generation, at);
            assert_eq!(stamps.engine.get(generation, since), Some(at));
            assert_eq!(stamps.engine.get(generation.wrapping_add(1), since), None);
            assert_eq!(stamps.engine.get(generation, at.after(Span::from_nanos(1))), None);
        }
        // A word may be zero, if not both are; and no use has generation 0.
        stamps.engine.set(256, Instant::from_nanos(5));
        assert_eq!(stamps.engine.get(256, Instant::ORIGIN), Some(Instant::from_nanos(5)));
        stamps.engine.set(0, Instant::from_nanos(5));
        assert_eq!(stamps.engine.get(0, Instant::ORIGIN), None);
        // One word of each of two uses.
        stamps.engine.set(7, at);
        let high = stamps.engine.high.load(Ordering::Relaxed);
        stamps.engine.set(8, at);
        stamps.engine.high.store(high, Ordering::Relaxed);
        assert_eq!((stamps.engine.get(7, since), stamps.engine.get(8, since)), (None, None));
    }

    #[test]
    fn what_was_settled_comes_in_the_order_of_its_time() {
        let (stamps, tag) = (Stamps::new(), Tag { index: 0, generation: 3 });
        let at = Instant::from_nanos;
        let word = Word::live(3, Debts(Debts::HW.0 | Debts::MSG.0));
        for (engine, message, order) in
            [(5, 9, [Debts::HW, Debts::MSG]), (9, 5, [Debts::MSG, Debts::HW])]
        {
            stamps.engine.set(3, at(engine));
            stamps.message.set(3, at(message));
            let settled = stamps.settled(tag, at(1), word).map(|it| it.map(|(_, debt)| debt));
            assert_eq!(settled, order.map(Some));
        }
        let settled = stamps.settled(tag, at(1), Word::live(3, Debts::HW));
        assert_eq!(settled, [None, Some((at(9), Debts::HW))], "the message was no debt");
    }
}
