// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The books: every message that was begun has to end exactly once (INV-1, R1).

use std::collections::BTreeMap;

use super::events::DropReason;
use super::header::Kind;

/// Counts of everything. None ever decreases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Messages queued, by kind; a router's forwards are counted in `forwarded` instead.
    pub created: BTreeMap<Kind, u64>,
    /// Messages of others queued to be passed on.
    pub forwarded: u64,
    /// Times that a message was handed to the driver.
    pub offered: u64,
    /// Messages that the driver refused and that were queued again.
    pub requeued: u64,
    /// Sends that the driver finalized OK.
    pub sent: u64,
    /// Sends that the driver finalized with an error.
    pub send_failed: u64,
    /// Sends that the driver refused for good.
    pub send_refused: u64,
    /// Sends cancelled in the queue.
    pub send_cancelled: u64,
    /// Messages accepted from the driver: each is finalized.
    pub accepted: u64,
    /// Of these, finalized OK.
    pub received: u64,
    /// Of these, finalized with an error.
    pub receive_failed: u64,
    /// Requests whose answer was given up.
    pub expired: u64,
    /// Data of optimised GETs that came after the request had been given up.
    pub late_replies: u64,
    /// Dropped messages by reason.
    pub drops: BTreeMap<DropReason, u64>,
    /// Rules that the driver broke.
    pub violations: u64,
}

impl Ledger {
    /// Messages of one kind that this node made itself.
    pub fn created(&self, kind: Kind) -> u64 {
        self.created.get(&kind).copied().unwrap_or(0)
    }

    /// Messages dropped for one reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.drops.get(&reason).copied().unwrap_or(0)
    }

    /// Messages dropped.
    pub fn dropped_in_all(&self) -> u64 {
        self.drops.values().sum()
    }

    /// Compares the counts with what is under way: `queued` sends, sends and receives
    /// `with_driver`.
    pub(super) fn balance(&self, queued: u64, sending: u64, receiving: u64) -> Result<(), Fault> {
        let begun = self.created.values().sum::<u64>() + self.forwarded;
        let ended_by_driver = self.sent + self.send_failed + self.send_refused;
        let check = |equal: bool, fault| if equal { Ok(()) } else { Err(fault) };
        check(begun == ended_by_driver + self.send_cancelled + queued + sending, Fault::Sends)?;
        check(self.offered == ended_by_driver + self.requeued + sending, Fault::Offers)?;
        let taken = self.received + self.receive_failed + receiving;
        check(self.accepted == taken, Fault::Receives)
    }
}

/// What does not add up in a node's books: a defect of this layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Messages begun against messages ended and under way.
    Sends,
    /// Messages handed over against messages that came back.
    Offers,
    /// Messages accepted against messages finalized and under way.
    Receives,
    /// References to match entries against the messages that hold them.
    References,
    /// Router buffers taken against the messages that hold them.
    Buffers,
    /// A request that is over and still there, or a request and a message that do not belong
    /// together.
    Requests,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Books that balance with 3 messages queued, 5 sends and 7 receives with the driver.
    fn books() -> Ledger {
        Ledger {
            created: BTreeMap::from([(Kind::Put, 40), (Kind::Get, 21)]),
            forwarded: 6,
            sent: 29,
            send_failed: 11,
            send_refused: 13,
            send_cancelled: 6,
            offered: 77,
            requeued: 19,
            accepted: 28,
            received: 17,
            receive_failed: 4,
            drops: BTreeMap::from([(DropReason::NoMatch, 8), (DropReason::Stale, 9)]),
            ..Ledger::default()
        }
    }

    #[test]
    fn inv_1_the_books_balance_and_any_count_that_is_off_by_one_shows() {
        let balance = |books: &Ledger| books.balance(3, 5, 7);
        assert_eq!(balance(&books()), Ok(()));
        type Entry = fn(&mut Ledger) -> &mut u64;
        let entries: [(Entry, Fault); 10] = [
            (|b| b.created.entry(Kind::Put).or_default(), Fault::Sends),
            (|b| &mut b.forwarded, Fault::Sends),
            (|b| &mut b.sent, Fault::Sends),
            (|b| &mut b.send_failed, Fault::Sends),
            (|b| &mut b.send_refused, Fault::Sends),
            (|b| &mut b.send_cancelled, Fault::Sends),
            (|b| &mut b.offered, Fault::Offers),
            (|b| &mut b.requeued, Fault::Offers),
            (|b| &mut b.accepted, Fault::Receives),
            (|b| &mut b.received, Fault::Receives),
        ];
        for (entry, fault) in entries {
            let (mut more, mut less) = (books(), books());
            *entry(&mut more) += 1;
            *entry(&mut less) -= 1;
            assert_eq!((balance(&more), balance(&less)), (Err(fault), Err(fault)));
        }
        assert_eq!(books().balance(4, 5, 7), Err(Fault::Sends));
        assert_eq!(books().balance(2, 6, 7), Err(Fault::Offers));
        assert_eq!(books().balance(3, 5, 6), Err(Fault::Receives));
    }

    #[test]
    fn what_was_made_and_dropped_is_told_by_kind_and_reason() {
        let books = books();
        assert_eq!([Kind::Put, Kind::Get, Kind::Ack].map(|kind| books.created(kind)), [40, 21, 0]);
        assert_eq!((books.dropped(DropReason::NoMatch), books.dropped(DropReason::Stale)), (8, 9));
        assert_eq!((books.dropped(DropReason::TooLong), books.dropped_in_all()), (0, 17));
    }
}
