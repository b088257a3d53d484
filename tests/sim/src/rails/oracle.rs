// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What may never happen to a message, checked where it would: it ends exactly once, is never sent
//! again past its deadline or more often than allowed, and is delivered at most once (S4-19, R44,
//! R45).
//!
//! The oracle knows messages by a number of the whole world, which travels with them. It counts hop
//! by hop: what a router passes on is another message.

use std::collections::BTreeMap;
use std::fmt;

use lnd_core::time::{Instant, Span};

use crate::simulator::fail::Seconds;

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

impl Defect {
    /// Every defect, by its name and with what it does.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
        (
            Self::NoNumbers,
            "no-numbers",
            "receivers do not look at numbers: a second copy is delivered",
        ),
        (Self::NoHistory, "no-history", "a failed message is sent again whatever its history is"),
        (Self::NoDeadline, "no-deadline", "the time is never up, nor the number of tries"),
        (Self::LostEnd, "lost-end", "the end of a message is now and then not reported"),
        (
            Self::EarlyEnd,
            "early-end",
            "a message is now and then reported as ended while it is sent again",
        ),
    ];

    /// The defect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, its, _)| *its == name).map(|(defect, ..)| *defect)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(it, ..)| *it == self).map_or("", |(_, name, _)| name)
    }
}

/// Least time between two tries by one path: half of the shortest pause of a message that found no
/// room.
const PAUSE: Span = Span::from_micros(500);

/// One message on one hop.
#[derive(Clone, Debug)]
struct Message {
    host: u32,
    deadline: Instant,
    /// When each try began, and its (own interface, next hop's).
    tries: Vec<(Instant, (u32, u32))>,
    ended: bool,
    delivered: u32,
    /// A second delivery is harmless: a GET, whose requester takes one answer.
    harmless: bool,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from node {}, due at {}", self.host, Seconds(self.deadline))?;
        for (at, (own, next)) in &self.tries {
            write!(f, "; tried at {} from interface {own} to {next}", Seconds(*at))?;
        }
        f.write_str(if self.ended { "; ended" } else { "; not ended" })?;
        match self.delivered {
            0 => f.write_str(", not delivered"),
            1 => f.write_str(", delivered"),
            times => write!(f, ", delivered {times} times"),
        }
    }
}

/// The oracle.
#[derive(Debug, Default)]
pub struct Oracle {
    messages: BTreeMap<u64, Message>,
    next: u64,
    /// `None`: the deadline alone bounds them (S4-19).
    most_tries: Option<usize>,
    /// A path is tried again only after a pause.
    pauses: bool,
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
    /// An oracle for messages of so many tries; `pauses`: none by a path that was tried less than
    /// [`PAUSE`] before.
    pub fn new(most_tries: Option<usize>, pauses: bool) -> Self {
        Self { most_tries, pauses, ..Self::default() }
    }

    fn broken(&mut self, serial: u64, what: &str) {
        let message = match self.messages.get(&serial) {
            Some(message) => message.to_string(),
            None => "unknown".into(),
        };
        self.violations.push(format!("{what}: message {serial}: {message}"));
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
        let since = message.tries.iter().rev().find(|(_, tried)| *tried == path);
        let again = since.is_some_and(|(at, _)| now.since(*at) < PAUSE);
        message.tries.push((now, path));
        let (late, ended) = (now > message.deadline, message.ended);
        let many = self.most_tries.is_some_and(|most| message.tries.len() > most);
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
        if again && self.pauses {
            self.broken(serial, "R44: sent again over a path without a pause");
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
    pub fn mark_dead(&mut self, host: u32) {
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
        let mut oracle = Oracle::new(Some(2), true);
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
        let mut patient = Oracle::new(None, true);
        let message = patient.begin(0, Instant::NEVER, false);
        (0..9).for_each(|n| patient.tried(at(n * 500_000), message, (0, 5)));
        assert!(patient.violations.is_empty(), "after a pause, as often as it likes");
        let often = |o: &mut Oracle, m| (1..3).for_each(|path| o.tried(at(2), m, (path, 5)));
        assert_eq!(broken(often), 1, "too often");
        assert_eq!(broken(|o, m| (0..2).for_each(|_| o.end(m))), 1, "ended twice");
        assert_eq!(broken(|o, m| (0..2).for_each(|_| o.deliver(m))), 1, "delivered twice");
        assert_eq!(broken(|o, _| o.at_rest()), 1, "never ended");
        assert_eq!(broken(|o, m| (o.end(m), o.at_rest()).1), 0);
        assert_eq!(broken(|o, m| (o.end(m), o.tried(at(2), m, (1, 5))).1), 1, "after its end");
    }
}
