// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a plan can do to interfaces and hosts.

use super::plan::{Scheduled, What};
use super::world::World;
use crate::fabric::nid_of;
use crate::simulator::event::Fault;
use crate::simulator::faults::ms;
use crate::simulator::run_log::{words_of, Logged};

/// How long it takes until there is proof of a death.
const PROVEN_MS: u32 = 10;

/// What else happens in a world of this kind. Interfaces go by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// A node is told that its interface is unusable.
    Fatal(u32),
    /// The others are told that a node is dead.
    Noticed(u32),
    /// An interface takes work again.
    Refill(u32),
}

impl World<'_> {
    /// Number of an interface in the fabric.
    pub fn number(&self, host: u32, ni: u32) -> Option<u32> {
        let at = self.layer.specs.iter().position(|s| s.host == host && s.ni == ni)?;
        Some(at as u32)
    }

    /// Something of this kind of world happens.
    pub(super) fn own(&mut self, event: Own) {
        match event {
            Own::Fatal(_) if self.calm => {}
            Own::Fatal(number) => {
                self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, false))
            }
            Own::Noticed(host) => self.noticed(host),
            Own::Refill(number) => {
                self.tell(number, |incarnation, now, ni| {
                    incarnation.health_view.drain(now, ni, false)
                });
            }
        }
    }

    /// An interface's link works again; what was said of it ends.
    pub(super) fn link_works_again(&mut self, host: u32, ni: usize) {
        let Some(number) = self.number(host, ni as u32) else { return };
        self.turn_link(number, true);
        self.migrating(number, false);
        self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, true));
    }

    /// Tells a node something about one of its interfaces.
    fn tell(
        &mut self,
        number: u32,
        what: impl FnOnce(&mut super::host::HostIncarnation<'_>, lnd_core::time::Instant, usize),
    ) {
        let (now, Some(spec)) = (self.now, self.spec(number)) else { return };
        if let Some(incarnation) = self.incarnation(spec.host) {
            what(incarnation, now, spec.ni as usize);
        }
        self.wake(spec.host);
    }

    /// Lets something happen now.
    pub fn happens(&mut self, it: Scheduled) {
        let Some(number) = self.number(it.host, it.ni) else { return };
        if let Some(log) = self.tally.log() {
            log.add(Logged::Event {
                name: words_of(&format!("{:?}", it.what)),
                host: it.host,
                link: (it.what != What::Death).then_some(it.ni),
                peer: it.peer.filter(|_| it.what == What::Cut),
                for_ms: it.for_ms,
            });
        }
        match it.what {
            What::NiDown => {
                self.tally.count("interfaces down");
                self.turn_link(number, false);
                self.later(ms(it.for_ms), Fault::LinkUp(it.host, it.ni as usize));
                if let Some(noticed) = it.noticed_ms {
                    self.own_later(ms(noticed), Own::Fatal(number));
                }
            }
            What::Migration => {
                self.tally.count("migrations");
                self.turn_link(number, false);
                self.migrating(number, true);
                self.later(ms(it.for_ms), Fault::LinkUp(it.host, it.ni as usize));
            }
            What::Cut => {
                let peer = it.peer.and_then(|peer| self.number(peer, it.peer_ni));
                let Some(peer) = peer else { return };
                self.tally.count("paths cut");
                self.cut(number, peer, true);
                self.later(ms(it.for_ms), Fault::Joined(number, peer));
            }
            What::Death => self.node_dies(it),
            What::Drain => {
                self.tally.count("interfaces drained");
                self.tell(number, |incarnation, now, ni| {
                    incarnation.health_view.drain(now, ni, true)
                });
                self.own_later(ms(it.for_ms), Own::Refill(number));
            }
        }
    }

    /// Tells every other node that the way to an interface moves, or has moved (S2-8).
    fn migrating(&mut self, number: u32, migrating: bool) {
        for host in self.hosts.iter_mut().filter_map(|host| host.incarnation.as_mut()) {
            host.health_view.migrating(number, migrating);
        }
    }

    /// A node dies, and the others are told, if they are.
    fn node_dies(&mut self, it: Scheduled) {
        if !self.die(it.host, PROVEN_MS, it.for_ms) {
            return;
        }
        if let Some(noticed) = it.noticed_ms {
            self.own_later(ms(noticed), Own::Noticed(it.host));
        }
    }

    /// The fabric tells every interface of the others that those of a dead node are down.
    fn noticed(&mut self, dead: u32) {
        if self.incarnation(dead).is_some() {
            return;
        }
        let (now, gone) = (self.now, self.numbers_of(dead));
        for host in self.all() {
            for rail in self
                .incarnation(host)
                .into_iter()
                .flat_map(|incarnation| incarnation.rails.iter_mut())
            {
                for &number in &gone {
                    rail.driver.on_peer(now, nid_of(number), false);
                }
            }
            self.wake(host);
        }
    }

    fn numbers_of(&self, host: u32) -> Vec<u32> {
        let all = self.layer.specs.iter().enumerate();
        all.filter(|(_, s)| s.host == host).map(|(number, _)| number as u32).collect()
    }

    /// All faults end: links work, no node is cut off, no rule holds, and the dead will be back.
    pub fn calm_down(&mut self) {
        self.calm = true;
        self.traffic = false;
        self.layer.rules.clear();
        for number in 0..self.layer.specs.len() as u32 {
            // The former incarnation's links are its own affair.
            self.turn_link(number, true);
            self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, true));
            self.tell(number, |incarnation, now, ni| incarnation.health_view.drain(now, ni, false));
            for other in 0..number {
                self.cut(number, other, false);
            }
        }
    }
}
