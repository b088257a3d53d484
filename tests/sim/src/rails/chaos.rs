// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What plans do to interfaces and nodes at a time of its own.

use lnd_core::time::Span;
use lnd_dma::descriptor::State;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};

use super::plan::{Scheduled, What};
use super::rail::the_link;
use super::world::{Event, World};
use crate::fabric::{nid_of, NodeState};
use crate::simulator::fail::Violation;

/// One blow, or its end. Interfaces go by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blow {
    /// A scheduled happening begins.
    Begin(Scheduled),
    /// An interface's link works again; what was said of it ends.
    LinkUp(u32),
    /// A node is told that its interface is unusable.
    Fatal(u32),
    /// Two interfaces can talk again.
    Joined(u32, u32),
    /// A dead node is proven dead.
    Proven(u32),
    /// The others are told that a node is dead.
    Noticed(u32),
    /// A dead node comes back.
    Restart(u32),
    /// An interface takes work again.
    Refill(u32),
}

const fn ms(n: u32) -> Span {
    Span::from_millis(n as u64)
}

impl World<'_> {
    /// Puts the plan's happenings into the queue.
    pub(super) fn schedule_plan(&mut self) {
        for event in self.plan.events.clone() {
            let at = self.start.after(ms(event.at_ms));
            self.queue.push(at, Event::Blow(Blow::Begin(event)));
        }
    }

    fn later(&mut self, after: Span, blow: Blow) {
        self.queue.push(self.now.after(after), Event::Blow(blow));
    }

    /// Number of an interface in the fabric.
    pub fn number(&self, host: u32, ni: u32) -> Option<u32> {
        let at = self.specs.iter().position(|s| s.host == host && s.ni == ni)?;
        Some(at as u32)
    }

    /// Deals a blow.
    pub(super) fn strike(&mut self, blow: Blow) -> Result<(), Violation> {
        match blow {
            Blow::Begin(it) if !self.calm => self.begin(it),
            Blow::Begin(_) => {}
            Blow::LinkUp(number) => {
                self.set_link(number, true);
                self.migrating(number, false);
                self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, true));
            }
            Blow::Fatal(number) => {
                if !self.calm {
                    self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, false));
                }
            }
            Blow::Joined(a, b) => self.cut(a, b, false),
            Blow::Proven(host) => self.proven(host),
            Blow::Noticed(host) => self.noticed(host),
            Blow::Restart(host) => self.restart(host)?,
            Blow::Refill(number) => self
                .tell(number, |incarnation, now, ni| incarnation.health_view.drain(now, ni, false)),
        }
        Ok(())
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
    pub fn begin(&mut self, it: Scheduled) {
        let Some(number) = self.number(it.host, it.ni) else { return };
        match it.what {
            What::NiDown => {
                self.ground.tally.count("interfaces down");
                self.set_link(number, false);
                self.later(ms(it.for_ms), Blow::LinkUp(number));
                if let Some(noticed) = it.noticed_ms {
                    self.later(ms(noticed), Blow::Fatal(number));
                }
            }
            What::Migration => {
                self.ground.tally.count("migrations");
                self.set_link(number, false);
                self.migrating(number, true);
                self.later(ms(it.for_ms), Blow::LinkUp(number));
            }
            What::Cut => {
                let peer = it.peer.and_then(|peer| self.number(peer, it.peer_ni));
                let Some(peer) = peer else { return };
                self.ground.tally.count("paths cut");
                self.cut(number, peer, true);
                self.later(ms(it.for_ms), Blow::Joined(number, peer));
            }
            What::Death => self.die(it),
            What::Drain => {
                self.ground.tally.count("interfaces drained");
                self.tell(number, |incarnation, now, ni| {
                    incarnation.health_view.drain(now, ni, true)
                });
                self.later(ms(it.for_ms), Blow::Refill(number));
            }
        }
    }

    /// Tells everybody else that the way to an interface moves, or has moved (S2-8).
    fn migrating(&mut self, number: u32, migrating: bool) {
        for host in self.hosts.iter_mut().filter_map(|host| host.incarnation.as_mut()) {
            host.health_view.migrating(number, migrating);
        }
    }

    fn cut(&mut self, a: u32, b: u32, on: bool) {
        for net in self.ground.nets.iter() {
            net.borrow_mut().cut(a, b, on);
        }
    }

    fn die(&mut self, it: Scheduled) {
        if self.incarnation(it.host).is_none() {
            return;
        }
        self.ground.tally.count("deaths");
        self.mark_dead(it.host);
        self.later(ms(10), Blow::Proven(it.host));
        self.later(ms(it.for_ms.max(10)), Blow::Restart(it.host));
        if let Some(noticed) = it.noticed_ms {
            self.later(ms(noticed), Blow::Noticed(it.host));
        }
    }

    /// The fabric tells every interface of the others that those of a dead node are down.
    fn noticed(&mut self, dead: u32) {
        if self.incarnation(dead).is_some() {
            return;
        }
        let (now, gone) = (self.now, self.numbers_of(dead));
        for host in 0..self.hosts.len() as u32 {
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
        let all = self.specs.iter().enumerate();
        all.filter(|(_, s)| s.host == host).map(|(number, _)| number as u32).collect()
    }

    fn proven(&mut self, host: u32) {
        if self.incarnation(host).is_some() {
            return;
        }
        for number in self.numbers_of(host) {
            self.ground.fabric.declare_dead(number);
        }
    }

    /// A dead node comes back, as soon as its peers have let go of its memory.
    fn restart(&mut self, host: u32) -> Result<(), Violation> {
        if self.incarnation(host).is_some() {
            return Ok(());
        }
        let numbers = self.numbers_of(host);
        let read = numbers.iter().filter(|&&number| self.still_read(number)).count();
        if read > 0 {
            (0..self.hosts.len() as u32).for_each(|other| self.kick(other));
            self.later(ms(1), Blow::Restart(host));
            return Ok(());
        }
        self.start(host)
    }

    /// Stops a dead interface's link; whether a live engine still reads from it.
    fn still_read(&self, number: u32) -> bool {
        let fabric = self.ground.fabric;
        let Ok(memory) = fabric.link_memory(number, the_link()) else { return false };
        memory.write(Register::Control, ControlBits::STOP.bits());
        let owns = (0..self.ground.slots).filter_map(|at| memory.descriptor(at));
        owns.map(|d| d.own())
            .any(|own| own.is(State::Busy) && fabric.state_of(own.puller()) == NodeState::Alive)
    }

    /// All faults end: links work, nobody is cut off, no rule holds, and the dead will be back.
    pub fn calm_down(&mut self) {
        self.calm = true;
        self.traffic = false;
        self.rules.clear();
        for number in 0..self.specs.len() as u32 {
            // The former life's links are its own affair.
            self.set_link(number, true);
            self.tell(number, |incarnation, now, ni| incarnation.usable(now, ni, true));
            self.tell(number, |incarnation, now, ni| incarnation.health_view.drain(now, ni, false));
            for other in 0..number {
                self.cut(number, other, false);
            }
        }
    }
}
