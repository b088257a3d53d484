// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Hosts start, go down and restart, links fail: the faults of every kind of world.

use lnd_core::time::Span;
use lnd_dma::descriptor::State;
use lnd_dma::regs::{ControlBits, Register, RegisterAccess};

use super::event::{Event, Fault};
use super::fail::Violation;
use super::layer::{Layer, Running};
use super::run_log::Logged;
use super::world::World;
use crate::fabric::NodeState;

/// So many milliseconds.
pub(crate) const fn ms(n: u32) -> Span {
    Span::from_millis(n as u64)
}

impl<'m, L: Layer<'m>> World<'m, L> {
    /// Puts what a plan schedules into the queue, by its milliseconds.
    pub(crate) fn schedule(&mut self, all: impl IntoIterator<Item = (u32, L::Scheduled)>) {
        for (at_ms, it) in all {
            self.queue.push(self.start.after(ms(at_ms)), Event::Fault(Fault::Begin(it)));
        }
    }

    /// Begins or ends a fault.
    pub(super) fn apply(&mut self, fault: Fault<L::Scheduled>) -> Result<(), Violation> {
        match fault {
            Fault::Begin(it) if !self.calm => L::begin(self, it),
            Fault::Begin(_) => {}
            Fault::LinkUp(host, at) => L::link_up(self, host, at),
            Fault::Joined(a, b) => self.cut(a, b, false),
            Fault::Proven(host) => self.declare_dead(host),
            Fault::Restart(host) => self.restart_host(host)?,
        }
        Ok(())
    }

    /// A host starts.
    pub(crate) fn start_host(&mut self, host: u32) -> Result<(), Violation> {
        let incarnation = L::new_incarnation(self, host)
            .map_err(|what| Violation::at(host, format!("start: {what}")))?;
        if let Some(place) = self.hosts.get_mut(host as usize) {
            place.incarnation = Some(incarnation);
            place.incarnations += 1;
            let incarnation = place.incarnations;
            if let Some(begun) = self.begun.get_mut(host as usize) {
                *begun = incarnation;
            }
            if let Some(log) = self.tally.log() {
                log.add(Logged::Host { host, up: true, incarnation });
            }
        }
        let first = self.now.after(Span::from_micros(self.rng.below(5_000)));
        if self.traffic || L::USERS_STAY {
            self.run_user_at(host, first);
        }
        self.wake(host);
        self.kick(host);
        Ok(())
    }

    /// An incarnation ends at once, in any state. The incarnation.
    pub(crate) fn mark_dead(&mut self, host: u32) -> Option<L::HostIncarnation> {
        let place = self.hosts.get_mut(host as usize)?;
        let incarnation = place.incarnation.take();
        if let Some(incarnation) = &incarnation {
            incarnation.add_to(&mut place.past);
            let incarnation = place.incarnations;
            if let Some(log) = self.tally.log() {
                log.add(Logged::Host { host, up: false, incarnation });
            }
        }
        self.book.mark_dead(host);
        for place in self.layer.places(host) {
            if let Some(net) = self.nets.get(place.net) {
                net.borrow_mut().forget(place.number);
            }
        }
        L::forget(self, host);
        incarnation
    }

    /// A host dies at once. Driver, engines and user are gone. Its memory stays until it restarts,
    /// because its peers may be reading it. The proof of its death and its restart are scheduled.
    /// Whether it was up.
    pub(crate) fn die(&mut self, host: u32, proven_ms: u32, for_ms: u32) -> bool {
        if self.incarnation(host).is_none() {
            return false;
        }
        self.tally.count("deaths");
        drop(self.mark_dead(host));
        self.later(ms(proven_ms), Fault::Proven(host));
        self.later(ms(proven_ms.max(for_ms)), Fault::Restart(host));
        true
    }

    fn declare_dead(&mut self, host: u32) {
        let fabric = self.ground.fabric;
        for place in self.layer.places(host) {
            if self.alive(host).is_none() && fabric.state_of(place.number) == NodeState::Alive {
                fabric.declare_dead(place.number);
            }
        }
    }

    /// A host that is down restarts, as soon as no engine of a peer reads its memory.
    fn restart_host(&mut self, host: u32) -> Result<(), Violation> {
        let fabric = self.ground.fabric;
        let places = self.layer.places(host);
        let gone = places.iter().all(|it| fabric.state_of(it.number) != NodeState::Alive);
        if self.incarnation(host).is_some() || !gone {
            return Ok(());
        }
        if self.still_read(host) {
            // Its engines have been told to stop; the engines that read from it have to see that.
            self.kick_stirred();
            self.later(ms(1), Fault::Restart(host));
            return Ok(());
        }
        self.start_host(host)
    }

    /// Stops the links of a host that is down. Whether an engine of a running host still reads from
    /// one.
    fn still_read(&self, host: u32) -> bool {
        let (fabric, slots) = (self.ground.fabric, self.layer.slots());
        let mut read = false;
        for place in self.layer.places(host) {
            let Ok(memory) = fabric.link_memory(place.number, place.link) else { continue };
            memory.write(Register::Control, ControlBits::STOP.bits());
            let owns = (0..slots).filter_map(|at| memory.descriptor(at));
            read |= owns.map(|d| d.own()).any(|own| {
                own.is(State::Busy) && fabric.state_of(own.puller()) == NodeState::Alive
            });
        }
        read
    }

    /// A link goes up or down. The engines that pull from it have to see that.
    pub(crate) fn set_link(&mut self, host: u32, at: usize, up: bool) {
        let Some(&place) = self.layer.places(host).get(at) else { return };
        if let Some(net) = self.nets.get(place.net) {
            net.borrow_mut().set_link(place.number, place.link, up);
        }
        self.ground.fabric.set_link(place.number, place.link, up);
        self.stirred.insert(host);
        self.kick_stirred();
    }

    /// Frames between all numbers of the fabric arrive again.
    pub(crate) fn join_all(&self) {
        self.nets.iter().for_each(|net| net.borrow_mut().cut.clear());
    }

    /// Frames between two numbers of the fabric are lost, or arrive again. No host is notified.
    pub(crate) fn cut(&mut self, a: u32, b: u32, on: bool) {
        for net in self.nets.iter() {
            net.borrow_mut().cut(a, b, on);
        }
    }
}
