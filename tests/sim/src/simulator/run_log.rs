// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! All that happens in a run, in its order: for captures and reports. A run decides nothing by it.
//!
//! Drivers go by *units*: the numbers of the fabric. A node with one driver is the unit of its own
//! number; of a multi-rail node each interface is one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::id::Tag;
use lnd_core::ports::Sent;
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

use super::mailbox::Lane;

/// Entries of a log, unless its maker says otherwise. What comes behind is counted, not kept.
const ROOM: usize = 2_000_000;

/// A frame's number in a run, from 1; all copies of a frame share it. Zero: none, or not known.
pub type FrameId = u64;

/// One entry.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it happened.
    pub at: Instant,
    /// What happened.
    pub what: Logged,
}

/// What can happen.
#[derive(Clone, Debug)]
pub enum Logged {
    /// A driver's trace has an entry.
    Trace {
        /// The driver.
        unit: u32,
        /// The entry.
        trace: Trace,
        /// The frame that the driver was reading; zero: none.
        reading: FrameId,
    },
    /// A frame was handed over to the network.
    Sent {
        /// Its number.
        frame: FrameId,
        /// Its mailbox.
        lane: Lane,
        /// The sender's transfer, if it has one.
        tag: Option<Tag>,
        /// Its bytes.
        bytes: Vec<u8>,
        /// It is on its way.
        leaves: bool,
        /// What its sender is told of it.
        told: Sent,
        /// What has happened to it; empty: nothing.
        fault: &'static str,
    },
    /// A frame has reached its mailbox.
    Arrived {
        /// Its number.
        frame: FrameId,
        /// Its mailbox.
        lane: Lane,
        /// Its bytes, as they came.
        bytes: Vec<u8>,
        /// What has happened to it on its way; empty: nothing.
        fault: &'static str,
    },
    /// A frame was lost with its link.
    Lost {
        /// Its number.
        frame: FrameId,
        /// Its mailbox.
        lane: Lane,
    },
    /// Something was done to the world.
    Fault {
        /// Its name.
        what: &'static str,
    },
    /// What a plan schedules begins.
    Event {
        /// Its name, in words.
        name: String,
        /// The node.
        host: u32,
        /// Which of its links or interfaces, if it is about one.
        link: Option<u32>,
        /// The other node, if there is one.
        peer: Option<u32>,
        /// How long it lasts, if it does, in milliseconds.
        for_ms: u32,
    },
    /// A node has started, or its incarnation has ended.
    Host {
        /// The node.
        host: u32,
        /// It has started.
        up: bool,
        /// Which of its incarnations, from 1.
        incarnation: u32,
    },
    /// A node's view of an interface's health has changed.
    Health {
        /// The node.
        host: u32,
        /// The interface.
        unit: u32,
        /// Health, `0..=1000`.
        value: u16,
    },
    /// A part of the run begins.
    Phase {
        /// Its name.
        name: &'static str,
    },
}

/// An event of a driver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// When.
    pub at: Instant,
    /// The driver.
    pub unit: u32,
    /// What.
    pub trace: Trace,
}

impl Recorded {
    /// The events of drivers among the entries of a log.
    pub fn of(entries: &[Entry]) -> Vec<Self> {
        let of = |entry: &Entry| match entry.what {
            Logged::Trace { unit, trace, .. } => Some(Self { at: entry.at, unit, trace }),
            _ => None,
        };
        entries.iter().filter_map(of).collect()
    }
}

#[derive(Debug)]
struct Entries {
    now: Instant,
    reading: FrameId,
    fault: &'static str,
    frames: u64,
    room: usize,
    entries: Vec<Entry>,
    left_out: u64,
    health: BTreeMap<(u32, u32), u16>,
}

/// The log: a handle that all who write to it share.
#[derive(Clone, Debug)]
pub struct RunLog(Rc<RefCell<Entries>>);

impl Default for RunLog {
    fn default() -> Self {
        Self::new(ROOM)
    }
}

impl RunLog {
    /// An empty log that keeps everything.
    pub fn whole() -> Self {
        Self::new(usize::MAX)
    }

    /// An empty log with room for so many entries.
    pub fn new(room: usize) -> Self {
        Self(Rc::new(RefCell::new(Entries {
            now: Instant::ORIGIN,
            reading: 0,
            fault: "",
            frames: 0,
            room,
            entries: Vec::new(),
            left_out: 0,
            health: BTreeMap::new(),
        })))
    }

    /// What has happened, and how much of it was not kept. The log is empty afterwards.
    pub fn take(&self) -> (Vec<Entry>, u64) {
        let mut log = self.0.borrow_mut();
        (std::mem::take(&mut log.entries), std::mem::take(&mut log.left_out))
    }

    /// The time has changed.
    pub(crate) fn set_now(&self, now: Instant) {
        self.0.borrow_mut().now = now;
    }

    /// A number for a frame.
    pub(crate) fn number_frame(&self) -> FrameId {
        let mut log = self.0.borrow_mut();
        log.frames += 1;
        log.fault = "";
        log.frames
    }

    /// A driver reads a frame now, or no longer.
    pub(crate) fn reads(&self, frame: FrameId) {
        self.0.borrow_mut().reading = frame;
    }

    /// The fault that was last injected since a frame was numbered; empty: none.
    pub(crate) fn last_fault(&self) -> &'static str {
        self.0.borrow().fault
    }

    /// Something happens now.
    pub(crate) fn add(&self, what: Logged) {
        let at = self.0.borrow().now;
        self.0.borrow_mut().push(at, what);
    }

    pub(crate) fn add_fault(&self, what: &'static str) {
        self.0.borrow_mut().fault = what;
        self.add(Logged::Fault { what });
    }

    pub(crate) fn add_trace(&self, at: Instant, unit: u32, trace: Trace) {
        let mut log = self.0.borrow_mut();
        let reading = log.reading;
        log.push(at, Logged::Trace { unit, trace, reading });
    }

    /// A node's view of an interface's health; only a change is an entry.
    pub(crate) fn add_health(&self, host: u32, unit: u32, value: u16) {
        if self.0.borrow_mut().health.insert((host, unit), value) != Some(value) {
            self.add(Logged::Health { host, unit, value });
        }
    }
}

/// The words of a name in camel case.
pub(crate) fn words_of(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

impl Entries {
    fn push(&mut self, at: Instant, what: Logged) {
        if self.entries.len() < self.room {
            self.entries.push(Entry { at, what });
        } else {
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_counted() {
        let log = RunLog::new(2);
        for name in ["a", "b", "c"] {
            log.add(Logged::Phase { name });
        }
        let (entries, left_out) = log.take();
        assert_eq!((entries.len(), left_out), (2, 1));
        assert_eq!(log.take().0.len(), 0);
    }

    #[test]
    fn names_become_words() {
        assert_eq!(words_of("LinkDown"), "link down");
        assert_eq!(words_of("Death"), "death");
    }

    #[test]
    fn health_is_an_entry_when_it_changes() {
        let log = RunLog::default();
        for value in [1000, 1000, 0, 0, 1000] {
            log.add_health(0, 1, value);
        }
        assert_eq!(log.take().0.len(), 3);
    }

    #[test]
    fn a_fault_belongs_to_the_frame_that_was_numbered_last() {
        let log = RunLog::default();
        log.add_fault("links down");
        assert_eq!(log.number_frame(), 1);
        assert_eq!(log.last_fault(), "");
        log.add_fault("messages dropped");
        assert_eq!(log.last_fault(), "messages dropped");
        assert_eq!(log.number_frame(), 2);
        assert_eq!(log.last_fault(), "");
    }
}
