// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a desk tells of its interfaces.

use lnd_core::time::Instant;
use lnd_health::journal::Entry;
use lnd_health::node::HealthCounter;
use lnd_health::{Aliveness, NiStatus, Object, MAX_HEALTH};

use super::HealthView;

/// Lines of the journal that are told.
const NOTIFIED: usize = 12;

/// What an interface is like, as one node sees it: three values, and what the operator and the
/// fabric say (R48).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NiHealth {
    /// Health, `0..=1000`.
    pub value: u16,
    /// Status.
    pub status: NiStatus,
    /// Aliveness, and when it was last heard of.
    pub alive: (Aliveness, Instant),
    /// The fabric says that it is unusable.
    pub fatal: bool,
    /// Being drained.
    pub draining: bool,
    /// When its next recovery ping is due, if it is queued.
    pub next_ping: Option<Instant>,
    /// Recovery pings without an answer.
    pub unanswered: u8,
}

impl HealthView<'_> {
    fn object(&self, number: u32, own: Option<usize>) -> Option<Object> {
        match own {
            Some(ni) => self.local(ni).map(Object::Local),
            None => self.peer_ni(number).map(Object::Peer),
        }
    }

    /// What an interface is like: its number, and its place among ours if it is one.
    pub fn health_of(&self, number: u32, own: Option<usize>) -> Option<NiHealth> {
        let object = self.object(number, own)?;
        let ni = self.health.ni(object)?;
        let place = match object {
            Object::Local(id) => id.index() as u32,
            Object::Peer(id) => u32::from(self.health.config().locals) + id.raw(),
        };
        let recovery = self.health.recovery();
        Some(NiHealth {
            value: ni.health().get(),
            status: ni.status(),
            alive: ni.aliveness(),
            fatal: ni.is_fatal(),
            draining: ni.is_draining(),
            next_ping: recovery.due(place),
            unanswered: recovery.count(place),
        })
    }

    /// Whether all is well that anything can be done about: LNet does not ping a peer of which it
    /// has never heard.
    pub fn all_well(&self) -> bool {
        self.ill().is_empty()
    }

    fn ill(&self) -> Vec<String> {
        let locals = self.locals.iter().map(|&id| Object::Local(id));
        let all = locals.chain(self.peer_nis.values().map(|&id| Object::Peer(id)));
        all.filter_map(|object| {
            let ni = self.health.ni(object)?;
            let stranger = self.compat
                && matches!(object, Object::Peer(_))
                && ni.aliveness().0 == Aliveness::Unknown;
            let well = ni.health().get() == MAX_HEALTH && ni.status() == NiStatus::Up;
            let usable = !ni.is_fatal() && !ni.is_draining();
            (!(stranger || well && usable)).then(|| format!("{object:?}: {ni:?}"))
        })
        .collect()
    }

    /// What is not well, in words.
    pub fn illness(&self) -> String {
        self.ill().join("; ")
    }

    /// What has been counted.
    pub fn count(&self, count: HealthCounter) -> u64 {
        self.health.tally().value(count)
    }

    /// The last changes of health: when, since `start`; which interface; on which evidence.
    pub fn journal(&self, start: Instant, name: impl Fn(u32) -> String) -> Vec<String> {
        let all: Vec<_> = self.health.journal().entries().collect();
        let last = all.iter().skip(all.len().saturating_sub(NOTIFIED));
        let line = |entry: &&&Entry| {
            let who = match entry.object {
                Object::Local(id) => format!("own {}", id.index()),
                Object::Peer(id) => {
                    let number = self.numbers.get(&id.raw()).copied();
                    number.map_or_else(String::new, &name)
                }
            };
            let ms = entry.at.since(start).as_nanos() / 1_000_000;
            format!(
                "{ms:>7} ms  {who:<6} {:>4} -> {:<4} {:?} {:?}",
                entry.from, entry.to, entry.status, entry.evidence
            )
        };
        last.map(|entry| line(&entry)).collect()
    }
}
