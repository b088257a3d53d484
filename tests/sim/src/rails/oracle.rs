// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What may never happen to a message, checked where it would: it ends exactly once, is never sent again
//! past its deadline or more often than allowed, and is delivered at most once (S4-19, R44, R45).
//!
//! The oracle knows messages by a number of the whole world, which travels with them. It counts hop
//! by hop: what a router passes on is another message.

use std::collections::BTreeMap;

use lnd_core::time::Instant;

/// Defects to seed, so that the checks can be shown to bite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Receivers do not look at numbers: a second copy is delivered.
    NoNumbers,
    /// A failed message is sent again whatever its history says.
    NoHistory,
    /// The time is never up, nor the number of tries.
    NoDeadline,
    /// The end of a message is now and then not told.
    LostEnd,
    /// A message is now and then told to have ended while it is sent again.
    EarlyEnd,
}

/// One message on one hop.
#[derive(Clone, Debug)]
struct Message {
    host: u32,
    deadline: Instant,
    /// (Own interface, next hop's) of each try.
    tries: Vec<(u32, u32)>,
    ended: bool,
    delivered: u32,
    /// A second delivery is harmless: a GET, whose requester takes one answer.
    harmless: bool,
}

/// The oracle.
#[derive(Debug, Default)]
pub struct Oracle {
    messages: BTreeMap<u64, Message>,
    next: u64,
    most_tries: usize,
    /// Each path once.
    fresh_paths: bool,
    /// Rules that were broken.
    pub violations: Vec<String>,
    /// Messages that have begun and ended.
    pub begun: u64,
    /// Of these, ended.
    pub ended: u64,
    /// Tries beyond the first.
    pub resends: u64,
    /// Second copies that were recognised.
    pub suppressed: u64,
}

impl Oracle {
    /// An oracle for messages of at most `1 + retries` tries; `fresh_paths`: each by another path.
    pub fn new(retries: u8, fresh_paths: bool) -> Self {
        Self { most_tries: 1 + usize::from(retries), fresh_paths, ..Self::default() }
    }

    fn broken(&mut self, serial: u64, what: &str) {
        let message = self.messages.get(&serial);
        self.violations.push(format!("{what}: message {serial}: {message:?}"));
    }

    /// A message begins.
    pub fn begin(&mut self, host: u32, deadline: Instant, harmless: bool) -> u64 {
        let serial = self.next;
        self.next += 1;
        self.begun += 1;
        let message =
            Message { host, deadline, tries: Vec::new(), ended: false, delivered: 0, harmless };
        self.messages.insert(serial, message);
        serial
    }

    /// A try begins.
    pub fn tried(&mut self, now: Instant, serial: u64, path: (u32, u32)) {
        let Some(message) = self.messages.get_mut(&serial) else { return };
        let again = message.tries.contains(&path);
        message.tries.push(path);
        let (late, ended) = (now > message.deadline, message.ended);
        let many = message.tries.len() > self.most_tries;
        self.resends += u64::from(message.tries.len() > 1);
        if ended {
            self.broken(serial, "INV-1: sent after its end");
        }
        if late {
            self.broken(serial, "S4-19: sent past its deadline");
        }
        if many {
            self.broken(serial, "R44: sent too often");
        }
        if again && self.fresh_paths {
            self.broken(serial, "R44: sent over a path that was tried");
        }
    }

    /// The message's end was told.
    pub fn end(&mut self, serial: u64) {
        let Some(message) = self.messages.get_mut(&serial) else { return };
        let twice = std::mem::replace(&mut message.ended, true);
        self.ended += 1;
        if twice {
            self.broken(serial, "INV-1: ended twice");
        }
    }

    /// The next hop has taken it.
    pub fn deliver(&mut self, serial: u64) {
        let Some(message) = self.messages.get_mut(&serial) else { return };
        message.delivered += 1;
        if message.delivered > 1 && !message.harmless {
            self.broken(serial, "R45: delivered twice");
        }
    }

    /// Messages of a node that has died end with it.
    pub fn bury(&mut self, host: u32) {
        for message in self.messages.values_mut().filter(|m| m.host == host && !m.ended) {
            message.ended = true;
            self.ended += 1;
        }
    }

    /// At rest every message has ended.
    pub fn at_rest(&mut self) {
        let open = self.messages.iter().find(|(_, message)| !message.ended).map(|(&n, _)| n);
        if let Some(serial) = open {
            self.broken(serial, "INV-1: never ended");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(run: impl FnOnce(&mut Oracle, u64)) -> usize {
        let mut oracle = Oracle::new(1, true);
        let message = oracle.begin(0, Instant::from_nanos(10), false);
        oracle.tried(Instant::from_nanos(1), message, (0, 5));
        run(&mut oracle, message);
        oracle.violations.len()
    }

    #[test]
    fn each_rule_bites() {
        let at = Instant::from_nanos;
        assert_eq!(broken(|o, m| o.tried(at(10), m, (1, 5))), 0);
        assert_eq!(broken(|o, m| o.tried(at(11), m, (1, 5))), 1, "late");
        assert_eq!(broken(|o, m| o.tried(at(2), m, (0, 5))), 1, "the same path");
        let often = |o: &mut Oracle, m| (1..3).for_each(|path| o.tried(at(2), m, (path, 5)));
        assert_eq!(broken(often), 1, "too often");
        assert_eq!(broken(|o, m| (0..2).for_each(|_| o.end(m))), 1, "ended twice");
        assert_eq!(broken(|o, m| (0..2).for_each(|_| o.deliver(m))), 1, "delivered twice");
        assert_eq!(broken(|o, _| o.at_rest()), 1, "never ended");
        assert_eq!(broken(|o, m| (o.end(m), o.at_rest()).1), 0);
        assert_eq!(broken(|o, m| (o.end(m), o.tried(at(2), m, (1, 5))).1), 1, "after its end");
    }
}
