// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node has missed while it did not run (R41): by the frames that leave, and by no clock of
//! a driver.

use lnd_core::message::Message;
use lnd_core::time::{Instant, Span};

use crate::node::config;

/// How a node listens.
#[derive(Debug, Default)]
pub struct Absence {
    /// When it has run last.
    ran: Option<Instant>,
    /// Times that it has not run for a while, since its last hello.
    pauses: u32,
    /// The other node has said hello, or has answered one, in the present pause.
    missed: bool,
    /// Its channel has said of a message that it was not, or perhaps not, delivered.
    pub notified: bool,
    /// Its hellos may have left late, for want of room or of a link.
    pub held_up: bool,
}

impl Absence {
    /// A frame of this node leaves.
    pub fn leaves(&mut self, message: &Message<'_>) {
        if matches!(message, Message::Hello(_)) {
            self.pauses = u32::from(self.held_up);
            self.held_up = false;
        }
    }

    /// A frame of the other node leaves while this one does not run.
    pub fn misses(&mut self, message: &Message<'_>) {
        self.missed |= matches!(message, Message::Hello(_) | Message::HelloAck(_));
    }

    /// The node looks at the clock. Returns whether it comes from a pause that was much longer than
    /// it waits for an answer, the first one since a hello that left at once, in which the other
    /// node has spoken: then the other node is not silent.
    pub fn ends(&mut self, now: Instant) -> bool {
        let pause = self.ran.map_or_else(Span::default, |ran| now.since(ran));
        self.pauses += u32::from(pause > Span::from_millis(5));
        let long = pause >= config().hello_timeout.times(2);
        let deaf = long && self.pauses == 1 && self.missed && !self.notified;
        (self.ran, self.missed, self.notified) = (Some(now), false, false);
        deaf
    }
}
