// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The turns of engines, interrupts and users.

use lnd_core::time::{Instant, Span};

use super::device::WatchedBus;
use super::event::Event;
use super::fail::Violation;
use super::layer::{act, Layer, Running};
use super::world::World;

impl<'m, L: Layer<'m>> World<'m, L> {
    /// Schedules the engines of a host that have something new to do.
    pub(crate) fn kick(&mut self, host: u32) {
        if L::kick_own(self, host) {
            return;
        }
        self.stirred.remove(&host);
        for at in 0.. {
            let Some(incarnation) = self.incarnation(host) else { return };
            let (reads, _) = incarnation.reads(at);
            let Some(port) = incarnation.port(at) else { return };
            if port.device.has_event(reads) {
                let when = self.now.after(self.latency());
                self.run_engine_at(host, at, when);
            }
        }
    }

    /// Schedules the engines of the hosts that may have something new to do since they were kicked
    /// last.
    pub(crate) fn kick_stirred(&mut self) {
        self.kick_all_but(None);
    }

    fn kick_all_but(&mut self, host: Option<u32>) {
        self.stirred.extend(self.layer.lawless());
        let others = self.stirred.iter().copied().filter(|&it| Some(it) != host);
        let stirred: Vec<u32> = others.collect();
        stirred.into_iter().for_each(|other| self.kick(other));
        if cfg!(debug_assertions) {
            self.none_is_left_out(host);
        }
    }

    /// A host that is not stirred has no engine with something new to do: not one is forgotten.
    fn none_is_left_out(&mut self, host: Option<u32>) {
        let lawless = self.layer.lawless();
        for other in self.all().filter(|&it| Some(it) != host && Some(it) != lawless) {
            for at in 0.. {
                let Some(incarnation) = self.incarnation(other) else { break };
                let (reads, _) = incarnation.reads(at);
                let Some(port) = incarnation.port(at) else { break };
                assert!(!port.device.has_event(reads), "host {other}, link {at} is forgotten");
            }
        }
    }

    fn run_engine_at(&mut self, host: u32, at: usize, when: Instant) {
        let Some(port) = self.incarnation(host).and_then(|incarnation| incarnation.port(at)) else {
            return;
        };
        if port.device.engine_at.is_none_or(|already| when < already) {
            port.device.engine_at = Some(when);
            self.queue.push(when, Event::Engine(host, at));
        }
    }

    pub(super) fn engine(&mut self, host: u32, at: usize) -> Result<Option<u32>, Violation> {
        let (now, pace) = (self.now, self.layer.pace(host, at));
        let Some(incarnation) = self.incarnation(host) else { return Ok(None) };
        let Some(port) = incarnation.port(at) else { return Ok(None) };
        let Some(worked) = port.device.step(now, pace) else { return Ok(None) };
        let (has_work, objection) = (port.device.has_work(), port.device.objection());
        let given_back = port.device.engine.fabric_mut().given_back();
        let (reads, answered) = incarnation.reads(at);
        if has_work || reads {
            self.run_engine_at(host, at, now.after(worked.pause));
        }
        if worked.completed {
            let when = now.after(self.latency());
            self.interrupt_at(host, at, when);
        }
        if answered {
            self.wake(host);
        }
        // Its peers' engines have to see what it has given back.
        let given_back = given_back.into_iter().filter_map(|number| self.layer.host_of(number));
        self.stirred.extend(given_back);
        if worked.moved || L::LOOKS_OFTEN {
            self.kick_all_but(Some(host));
        }
        objection.map_or(Ok(Some(host)), |what| Err(Violation::at(host, what)))
    }

    fn interrupt_at(&mut self, host: u32, at: usize, when: Instant) {
        let Some(port) = self.incarnation(host).and_then(|incarnation| incarnation.port(at)) else {
            return;
        };
        if port.interrupt_at.is_none_or(|already| when < already) {
            port.interrupt_at = Some(when);
            self.queue.push(when, Event::Interrupt(host, at));
        }
    }

    pub(super) fn interrupt(&mut self, host: u32, at: usize) -> Option<u32> {
        let (now, budget) = (self.now, L::interrupt_budget(&mut self.rng));
        let paused = self.paused(host);
        let unit = self.layer.number_of(host, at);
        let place = self.hosts.get_mut(host as usize)?;
        let mut recorder = place.recorder.of_unit(unit);
        let port = place.incarnation.as_mut()?.port(at)?;
        if port.interrupt_at != Some(now) {
            return None;
        }
        port.interrupt_at = None;
        if let Some(until) = paused {
            self.interrupt_at(host, at, until);
            return None;
        }
        let served = port.interrupt.on_interrupt(now, budget, &mut recorder);
        if served.more {
            self.interrupt_at(host, at, now.after(Span::from_nanos(500)));
        }
        if served.wake {
            self.wake(host);
        }
        Some(host)
    }

    /// A short message has ended. An interrupt or the thread reports it to the driver.
    pub(super) fn sent(&mut self, net: usize, number: u64) -> Option<u32> {
        let now = self.now;
        let by_thread = L::notified_by_thread(&mut self.rng);
        let network = self.nets.get(net)?.clone();
        let sender = network.borrow().sender_of(number);
        let sender = sender.and_then(|number| self.layer.host_of(number));
        if let Some(until) = sender.and_then(|host| self.paused(host)) {
            self.queue.push(until, Event::Sent(net, number));
            return None;
        }
        let ended = network.borrow_mut().complete(number)?;
        let host = self.layer.host_of(ended.node)?;
        let place = self.hosts.get_mut(host as usize)?;
        let incarnation = place.incarnation.as_mut()?;
        let mut recorder = place.recorder.of_unit(ended.node);
        if incarnation.on_sent(now, &ended, by_thread, &mut recorder) {
            self.wake(host);
        }
        Some(host)
    }

    /// A host's user has a turn.
    pub(super) fn user(&mut self, host: u32) -> Option<u32> {
        let (now, traffic) = (self.now, self.traffic);
        let pause = self.layer.pause().as_nanos();
        let pause = Span::from_nanos(self.rng.between(pause / 4, pause * 7 / 4).max(1_000));
        if !traffic && !L::USERS_STAY {
            return None;
        }
        let incarnation = self.hosts.get_mut(host as usize)?.incarnation.as_mut();
        let incarnation = incarnation?;
        if incarnation.turns().user_at != Some(now) {
            return None;
        }
        if let Some(until) = incarnation.stands_still(now) {
            self.run_user_at(host, until);
            return None;
        }
        if incarnation.may_act(now, traffic) {
            act(incarnation, now, &mut self.book, &self.begun);
        }
        L::after_idea(self, host);
        self.run_user_at(host, now.after(pause));
        self.wake(host);
        Some(host)
    }

    pub(super) fn run_user_at(&mut self, host: u32, at: Instant) {
        let Some(incarnation) = self.incarnation(host) else { return };
        incarnation.turns().user_at = Some(at);
        self.queue.push(at, Event::User(host));
    }
}
