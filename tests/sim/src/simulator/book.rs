// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the world knows of every PUT and GET ever begun: nodes do not share it, so it can be held
//! against what each of them was told.

use lnd_core::transfer::Delivery;

use crate::lnet::SendEnd;

/// One request, from its beginning on.
#[derive(Clone, Debug)]
pub struct Record {
    /// The node that began it.
    pub from: u32,
    /// Its destination.
    pub to: u32,
    /// A GET, else a PUT.
    pub get: bool,
    /// Bytes.
    pub length: u32,
    /// GET: where in the destination's shelf.
    pub offset: u32,
    /// No router lies between: the driver's end of the message is about the destination.
    pub straight: bool,
    /// So long that it cannot have travelled inline.
    pub staged: bool,
    /// How many incarnations the destination had had when it began.
    pub incarnations: u32,
    /// How the sender's message ended.
    pub end: Option<SendEnd>,
    /// PUT: the destination has reported an end, good or bad.
    pub received: bool,
    /// PUT: the destination has reported it OK, its content checked.
    pub delivered: bool,
    /// PUT: the ACK has come. GET: the data has come OK, its content checked.
    pub answered: bool,
    /// The request has had its last event, or its node has died.
    pub over: bool,
}

/// All requests; a request's number is its place.
#[derive(Debug, Default)]
pub struct Book {
    records: Vec<Record>,
    /// A byzantine node: what it says proves nothing.
    lawless: Option<u32>,
}

impl Book {
    /// Enters a request; its number.
    pub fn enter(&mut self, record: Record) -> u64 {
        self.records.push(record);
        self.records.len() as u64 - 1
    }

    /// The number that the next request will have.
    pub fn next_number(&self) -> u64 {
        self.records.len() as u64
    }

    /// An empty book of a world with or without a byzantine node.
    pub fn new(lawless: Option<u32>) -> Self {
        Self { records: Vec::new(), lawless }
    }

    /// Whether a node's word counts.
    pub fn trusts(&self, node: u32) -> bool {
        self.lawless != Some(node)
    }

    /// One request.
    pub fn get(&self, number: u64) -> Option<&Record> {
        self.records.get(usize::try_from(number).ok()?)
    }

    /// One request, to be changed.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(number).ok()?)
    }

    /// Everything.
    pub fn records(&self) -> impl Iterator<Item = (u64, &Record)> {
        self.records.iter().enumerate().map(|(at, record)| (at as u64, record))
    }

    /// Requests of a node that has died end with it.
    pub fn mark_dead(&mut self, node: u32) {
        for record in self.records.iter_mut().filter(|r| r.from == node) {
            record.over = true;
        }
    }
}

impl Record {
    /// Whether what both ends were told fits together (INV-4): what is known not to be delivered
    /// was not delivered.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), String> {
        if self.get || !self.delivered {
            return Ok(());
        }
        let never = match self.end {
            Some(SendEnd::Refused | SendEnd::Cancelled) => true,
            Some(SendEnd::Finalized(status)) => {
                self.straight && status.delivery == Delivery::NotDelivered
            }
            None => false,
        };
        if never {
            let end = self.end;
            return Err(format!("INV-4: delivered, and its sender was told otherwise: {end:?}"));
        }
        Ok(())
    }

    /// Whether a staged PUT that ended OK has reached a destination that still lives (INV-4).
    /// To be asked once everything has ended; `incarnations` is the destination's count now.
    ///
    /// # Errors
    /// It has not.
    pub fn check_arrival(&self, incarnations: u32) -> Result<(), String> {
        let ok = self.end.is_some_and(|end| end.is_ok());
        let missing = !self.get && self.straight && self.staged && ok && !self.received;
        if missing && self.incarnations == incarnations {
            return Err("INV-4: ended OK, and its destination never had it".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lnd_core::transfer::{Cause, Place, Policy, Status};

    use super::*;

    fn record(end: SendEnd) -> Record {
        Record {
            from: 0,
            to: 1,
            get: false,
            length: 9000,
            offset: 0,
            straight: true,
            staged: true,
            incarnations: 1,
            end: Some(end),
            received: true,
            delivered: true,
            answered: false,
            over: true,
        }
    }

    #[test]
    fn both_ends_are_held_against_each_other() {
        let of = |cause, place| SendEnd::Finalized(Status::of(Policy::Seed, cause, place));
        let unknown = record(of(Cause::PeerDown, Place::Moving));
        assert_eq!(unknown.check(), Ok(()));
        // Known not to be delivered, and delivered.
        let denied = record(of(Cause::PeerDown, Place::Staged));
        assert!(denied.check().is_err());
        assert_eq!(Record { delivered: false, ..denied.clone() }.check(), Ok(()));
        // Beyond the first hop the driver's end says nothing.
        assert_eq!(Record { straight: false, ..denied }.check(), Ok(()));
        assert!(record(SendEnd::Cancelled).check().is_err());
    }

    #[test]
    fn what_ended_ok_has_arrived() {
        let sent = record(SendEnd::Finalized(Status::OK));
        assert_eq!(sent.check_arrival(1), Ok(()));
        let lost = Record { received: false, delivered: false, ..sent };
        assert!(lost.check_arrival(1).is_err());
        // The destination that had it may be dead.
        assert_eq!(lost.check_arrival(2), Ok(()));
    }
}
