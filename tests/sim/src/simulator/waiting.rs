// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes whose first frame the driver could not take, and when it is offered again: when the
//! driver says so, and not before. A request that a driver forgets to ask for stays where it is.

use std::collections::BTreeSet;

use lnd_core::driver::Driver;
use lnd_core::ports::Ports;

use super::mailbox::Lane;

/// What came of reading a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Frames that were taken out.
    pub taken: u32,
    /// The next one has to wait.
    pub waits: bool,
}

/// The mailboxes of one driver that wait.
#[derive(Debug, Default)]
pub struct Waiting(BTreeSet<Lane>);

impl Waiting {
    /// Whether nothing has changed for the first frame of a mailbox since it was offered.
    pub fn holds(&self, lane: Lane) -> bool {
        self.0.contains(&lane)
    }

    /// A mailbox was read. Returns whether others are to be offered because of that: after a
    /// control message all of them, after a request those of its sender (`Inbound::Wait`).
    pub fn note(&mut self, lane: Lane, reading: Reading) -> bool {
        let before = self.0.len();
        if reading.taken > 0 {
            self.0.retain(|it| !lane.control && it.from != lane.from);
        }
        let again = self.0.len() < before;
        if reading.waits {
            self.0.insert(lane);
        }
        again
    }

    /// Whether what waits is to be offered now, because the driver says so.
    pub fn offer_again<P: Ports>(&mut self, driver: &mut Driver<'_, P>) -> bool {
        let again = !self.0.is_empty() && driver.offer_again();
        if again {
            self.0.clear();
        }
        again
    }
}
