// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The least that a small PUT costs beside its bytes, as bare instructions: a request with a name
//! that is used once, its deadline, its entry in a ledger, and its report, at both ends.
//!
//! There is one peer, one kind of message and one size. Nothing is checked but what has to be: the
//! number of a message, the session, and the generation of what ends. No bound, no fault, no link
//! and no trace.

use std::hint::black_box;

use crate::bare::SortedList;

const SLOTS: usize = 64;
/// Bytes of the head of a frame: number, session, name, credits and the lengths.
pub const HEAD: usize = 40;
/// What a deadline is away.
const AWAY: u64 = 50_000_000_000;
const SESSION: u32 = 0x5e55_1011;

/// What is kept of a request.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Slot {
    generation: u32,
    begun: bool,
    user: u64,
    bytes: u64,
}

/// What a request's or an arrival's owner gets.
#[derive(Clone, Copy, Debug)]
struct Report {
    name: u64,
    user: u64,
    bytes: u64,
    errno: u32,
}

/// The requests of one side, and what it keeps of the other one.
#[derive(Debug)]
pub struct Least {
    slots: [Slot; SLOTS],
    free: Vec<u32>,
    deadlines: SortedList,
    reports: Vec<Report>,
    now: u64,
    /// Numbers of the last message of ours and of the peer's; what the peer has consumed.
    sent: u32,
    came: u32,
    consumed: u32,
    /// The ledger: begun, ended well, come.
    ledger: (u64, u64, u64),
}

impl Default for Least {
    fn default() -> Self {
        Self {
            slots: [Slot::default(); SLOTS],
            free: (0..SLOTS as u32).rev().collect(),
            deadlines: SortedList::new(SLOTS, false),
            reports: Vec::with_capacity(SLOTS),
            now: 0,
            sent: 0,
            came: 0,
            consumed: 0,
            ledger: (0, 0, 0),
        }
    }
}

impl Least {
    /// Begins a request: writes head, header and payload into a frame. Returns its name.
    #[inline]
    pub fn begin(&mut self, frame: &mut [u8], header: &[u8], payload: &[u8]) -> u64 {
        let index = self.free.pop().expect("at most as many as there are slots");
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        (slot.begun, slot.user, slot.bytes) = (true, black_box(7), payload.len() as u64);
        let name = u64::from(slot.generation) << 32 | u64::from(index);
        self.now += 1;
        self.deadlines.arm(index, self.now + AWAY);
        self.ledger.0 += 1;
        self.sent = self.sent.wrapping_add(1);
        let (head, rest) = frame.split_at_mut(HEAD);
        head[..4].copy_from_slice(&self.sent.to_le_bytes());
        head[4..8].copy_from_slice(&SESSION.to_le_bytes());
        head[8..16].copy_from_slice(&name.to_le_bytes());
        head[16..20].copy_from_slice(&self.came.to_le_bytes());
        head[20..24].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        let (space, rest) = rest.split_at_mut(header.len());
        space.copy_from_slice(header);
        rest[..payload.len()].copy_from_slice(payload);
        name
    }

    /// The channel has taken it: it ends, and is reported.
    #[inline]
    pub fn end(&mut self, name: u64) {
        let (index, generation) = (name as u32, (name >> 32) as u32);
        let slot = &mut self.slots[index as usize];
        assert!(slot.begun && slot.generation == generation, "it ends once");
        slot.begun = false;
        self.deadlines.disarm(index);
        self.ledger.1 += 1;
        self.reports.push(Report { name, user: slot.user, bytes: slot.bytes, errno: 0 });
        self.free.push(index);
        black_box(self.deadlines.next());
        self.report();
    }

    /// A message came: its payload goes to its sink, and is reported.
    #[inline]
    pub fn receive(&mut self, frame: &[u8], header: usize, sink: &mut [u8]) {
        let word = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().unwrap());
        let (number, session, bytes) = (word(0), word(4), word(20) as usize);
        assert!(number == self.came.wrapping_add(1) && session == SESSION, "the next one");
        self.came = number;
        self.consumed = word(16);
        let name = u64::from(word(12)) << 32 | u64::from(word(8));
        black_box(&frame[HEAD..HEAD + header]);
        let from = HEAD + header;
        sink[..bytes].copy_from_slice(&frame[from..from + bytes]);
        self.ledger.2 += 1;
        self.reports.push(Report { name, user: 0, bytes: bytes as u64, errno: 0 });
        self.report();
    }

    fn report(&mut self) {
        let report = black_box(self.reports.pop().expect("just pushed"));
        black_box((report.name, report.user, report.bytes));
        assert_eq!(report.errno, 0);
    }

    /// Requests that have begun and have not ended, by the ledger; and messages that came.
    pub const fn open(&self) -> (u64, u64) {
        (self.ledger.0 - self.ledger.1, self.ledger.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_carries_its_payload_and_ends_once() {
        let (mut a, mut b) = (Least::default(), Least::default());
        let (mut frame, mut sink) = ([0; 256], [0; 64]);
        for n in 0..1000_u64 {
            let name = a.begin(&mut frame, &[5; 72], &n.to_le_bytes());
            assert_eq!(a.open().0, 1);
            a.end(name);
            b.receive(&frame, 72, &mut sink);
            assert_eq!((&sink[..8], b.open()), (n.to_le_bytes().as_slice(), (0, n + 1)));
        }
        assert_eq!((a.open(), a.free.len(), a.deadlines.next()), ((0, 0), SLOTS, None));
    }
}
