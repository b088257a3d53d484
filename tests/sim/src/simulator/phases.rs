// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What every run consists of: requests that are waited for, rest, the comparison of what both ends
//! know.

use std::collections::BTreeMap;

use lnd_core::time::{Instant, Span};

use super::book::Record;
use super::fail::Violation;
use super::layer::{Layer, Running};
use super::user::Preference;
use super::world::World;

/// What every run that broke no rule tells.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The seed.
    pub seed: u64,
    /// Steps taken.
    pub steps: u64,
    /// The virtual time at the end.
    pub ended: Instant,
    /// The hash over everything that happened: the same for the same seed and options.
    pub hash: u64,
    /// PUTs and GETs begun.
    pub requests: u64,
    /// Of these: ACK or data came back.
    pub answered: u64,
    /// PUTs that were delivered OK, each byte checked.
    pub delivered: u64,
    /// Faults injected.
    pub faults: BTreeMap<&'static str, u64>,
}

impl<'m, L: Layer<'m>> World<'m, L> {
    /// Has a node's user begin a request; its number.
    pub(crate) fn ask(&mut self, from: u32, preference: Preference) -> Option<u64> {
        let now = self.now;
        let incarnation = self.hosts.get_mut(from as usize)?.incarnation.as_mut()?;
        let (user, lnet) = incarnation.user();
        user.begin(lnet, now, &mut self.book, &self.begun, preference)
    }

    /// Lets time pass until the given requests are over. Whether they are, within `patience`.
    pub(crate) fn all_over(&mut self, numbers: &[u64], patience: Span) -> Result<bool, Violation> {
        let bound = self.now.after(patience);
        // What is over stays over.
        let mut left = numbers;
        self.run_until(bound, move |world| {
            while let [first, rest @ ..] = left {
                if !world.book.get(*first).is_some_and(|record| record.over) {
                    return false;
                }
                left = rest;
            }
            true
        })
    }

    /// Whether the memory oracle has everything back from a node.
    pub(crate) fn nothing_lent(&self, host: u32) -> Result<(), Violation> {
        match self.ground.fabric.oracle().outstanding(host) {
            0 => Ok(()),
            leases => {
                let what = format!("INV-2: at rest, and {leases} pages are still lent");
                Err(Violation::at(host, what))
            }
        }
    }

    /// Lets time pass until every host is at rest and no message is under way, without faults and
    /// without new work.
    ///
    /// # Errors
    /// A broken rule; what does not come to rest within `patience`.
    pub(crate) fn rest(&mut self, patience: Span) -> Result<(), Violation> {
        let bound = self.now.after(patience);
        // Most often the host that was restless is still.
        let mut restless = 0;
        let resting = |world: &Self| {
            if world.nets.iter().any(|net| !net.borrow().nothing_under_way()) {
                return false;
            }
            let rests = |it: Option<_>| it.is_some_and(|it| world.layer.is_at_rest(it));
            if world.layer.lawless() != Some(restless) && !rests(world.alive(restless)) {
                return false;
            }
            match world.lawful().find(|&(_, it)| !rests(it)) {
                Some((host, _)) => {
                    restless = host;
                    false
                }
                None => true,
            }
        };
        if self.run_until(bound, resting)? {
            return Ok(());
        }
        Err(self.restless())
    }

    /// The first host that is not at rest, and what keeps it.
    pub(crate) fn restless(&self) -> Violation {
        for (host, incarnation) in self.lawful() {
            match incarnation {
                None => {
                    return Violation::at(host, "INV-15: liveness: the node does not come back")
                }
                Some(it) if !self.layer.is_at_rest(it) => {
                    let (tag, why) = it.blockers();
                    let what = format!("INV-15: liveness: the node does not come to rest: {why}");
                    return Violation { what, node: Some(host), tag };
                }
                Some(_) => {}
            }
        }
        Violation::whole("INV-15: liveness: a message is under way for ever")
    }

    /// Every host that keeps to the protocol, with its incarnation if it runs.
    fn lawful(&self) -> impl Iterator<Item = (u32, Option<&L::HostIncarnation>)> {
        let lawless = self.layer.lawless();
        let all = self.all().zip(self.hosts.iter().map(|host| host.incarnation.as_ref()));
        all.filter(move |&(host, _)| Some(host) != lawless)
    }

    /// Holds against each other what senders and destinations of PUTs know; `also` checks more.
    ///
    /// # Errors
    /// The first record that does not fit.
    pub(crate) fn compare_ends(
        &self,
        also: impl Fn(&Self, &Record) -> Result<(), String>,
    ) -> Result<(), Violation> {
        for (number, record) in self.book.records().filter(|(_, it)| self.book.trusts(it.to)) {
            record
                .check()
                .and_then(|()| also(self, record))
                .map_err(|what| Violation::at(record.from, format!("PUT {number}: {what}")))?;
        }
        Ok(())
    }

    /// What is to be told of the run.
    pub(crate) fn facts(&self, seed: u64) -> Facts {
        let mut hash = self.hash;
        self.nets.iter().for_each(|net| hash.add(net.borrow().hash.value()));
        for host in &self.hosts {
            let (trace, entries) = host.recorder.hash();
            hash.add(trace);
            hash.add(entries);
        }
        Facts {
            seed,
            steps: self.step,
            ended: self.now,
            hash: hash.value(),
            requests: self.book.next_number(),
            answered: self.book.records().filter(|(_, r)| r.answered).count() as u64,
            delivered: self.book.records().filter(|(_, r)| r.delivered).count() as u64,
            faults: self.tally.counts(),
        }
    }
}
