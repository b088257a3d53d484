// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Which interface changed, when, and on which evidence (R51): the last changes, in a ring.

use crate::ids::Object;
use crate::standing::NiStatus;
use lnd_core::time::Instant;
use lnd_core::transfer::HealthClass;

/// The evidence of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The end of a message.
    Message(HealthClass),
    /// A send was refused at the call (R46).
    Refusal(HealthClass),
    /// The end of a recovery ping.
    Ping(HealthClass),
    /// Something was received from the interface.
    Heard,
    /// A response did not arrive in time.
    NoResponse,
    /// The liveness prober's result.
    Probe,
    /// The fabric reported that the interface is unusable, or usable again.
    Fabric,
    /// An operator.
    Operator,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Time.
    pub at: Instant,
    /// The message's or ping's cookie, or 0.
    pub message: u64,
    /// Interface.
    pub object: Object,
    /// Health before.
    pub from: u16,
    /// Health after.
    pub to: u16,
    /// Status after.
    pub status: NiStatus,
    /// Evidence.
    pub evidence: Evidence,
}

/// A ring of the last entries; the caller's table is its memory. An empty table journals nothing.
#[derive(Debug)]
pub struct Journal<'m> {
    ring: &'m mut [Option<Entry>],
    /// Place of the next entry.
    next: usize,
    written: u64,
}

impl<'m> Journal<'m> {
    /// An empty journal over `ring`.
    pub(crate) fn new(ring: &'m mut [Option<Entry>]) -> Self {
        Self { ring, next: 0, written: 0 }
    }

    /// Writes an entry over the oldest one.
    pub(crate) fn write(&mut self, entry: Entry) {
        if let Some(place) = self.ring.get_mut(self.next) {
            *place = Some(entry);
        }
        self.next = if self.next.saturating_add(1) >= self.ring.len() { 0 } else { self.next + 1 };
        self.written = self.written.wrapping_add(1);
    }

    /// Entries ever written: those beyond the ring's size are overwritten.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// What is kept, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let (newer, older) = self.ring.split_at_checked(self.next).unwrap_or((&[], &[]));
        older.iter().chain(newer).flatten()
    }

    /// The first stored entry from number `from` on, and its number. Numbers count all entries ever
    /// written, from 0; overwritten ones are skipped. Constant time.
    pub fn since(&self, from: u64) -> Option<(u64, &Entry)> {
        let kept = self.written.min(self.ring.len() as u64);
        let number = from.max(self.written.wrapping_sub(kept));
        let back = self.written.checked_sub(number).filter(|&back| back > 0)? as usize;
        let place = match self.next.checked_sub(back) {
            Some(place) => place,
            None => self.next.wrapping_add(self.ring.len()).wrapping_sub(back),
        };
        Some((number, self.ring.get(place)?.as_ref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NiId;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn keeps_the_last_in_order() {
        for size in [0, 1, 2, 7] {
            let mut ring = vec![None; size];
            let mut journal = Journal::new(&mut ring);
            for n in 0..20 {
                journal.write(Entry {
                    at: Instant::from_nanos(n),
                    message: n,
                    object: Object::Local(NiId::new(0).unwrap()),
                    from: 1000,
                    to: 900,
                    status: NiStatus::Up,
                    evidence: Evidence::Message(HealthClass::LocalDropped),
                });
                let kept: Vec<u64> = journal.entries().map(|e| e.message).collect();
                let expected: Vec<u64> = (0..=n).rev().take(size).collect::<Vec<_>>();
                assert_eq!(kept, expected.into_iter().rev().collect::<Vec<_>>());
                for from in 0..25 {
                    // Each entry's message is its number.
                    let found = journal.since(from).map(|(number, e)| (number, e.message));
                    let expected = kept.iter().find(|&&number| number >= from);
                    assert_eq!(found, expected.map(|&number| (number, number)));
                }
            }
            assert_eq!(journal.written(), 20);
        }
    }
}
