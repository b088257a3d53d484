// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a node does of its own accord: recovery pings and liveness probes (R50, R56).

use lnd_core::driver::{Kind, Request, Submitted, Why};
use lnd_core::id::Nid;
use lnd_core::link::LinkState;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{HealthClass, Status};
use lnd_dma::read::{ReadEnd, ReadKind};
use lnd_health::node::End;
use lnd_health::node::{Action, Ping, Probe};
use lnd_health::prober::{Finding, ProbeEnd};
use lnd_health::ProbeKind;

use super::envelope::Envelope;
use super::health_view::Route;
use super::host::{Around, HostIncarnation, Work};
use super::rail::{the_link, PUBLISHED};
use super::rules::{Class, Hit, Seen, Type};
use crate::fabric::{nid_of, node_of};
use crate::lnet::HEADER_BYTES;

/// How long an answer to a remote read is waited for: longer than any engine's retry bound.
const PATIENCE: Span = Span::from_millis(240);

/// How long a ping may take, there and back: less than the least time between two.
const PING_PATIENCE: Span = Span::from_millis(700);

impl HostIncarnation<'_> {
    /// Everything that health wants done now.
    pub(super) fn act(&mut self, around: &mut Around<'_>) {
        self.answer_pings(around);
        while let Some(action) = self.health_view.next_action(around.now) {
            match action {
                Action::Ping(ping) => self.ping(around, ping),
                Action::Probe(probe) => self.probe(around.now, probe),
                // Drivers connect peers by themselves; nothing asks for connections here.
                Action::Connect(_) => {}
            }
        }
    }

    /// Sends a recovery ping: its resources are its own (R50).
    fn ping(&mut self, around: &mut Around<'_>, ping: Ping) {
        let now = around.now;
        self.counts.pings.0 += 1;
        let own = self.own_place(&ping);
        let route = self.health_view.ping_route(&ping);
        let (from, to) = match (route, own) {
            (Some(route), _) => {
                let hop = self.specs.get(route.hop as usize).map(|s| (s.host, s.ni));
                ((self.host, route.local as u32), hop.unwrap_or_default())
            }
            (None, place) => ((self.host, place as u32), (self.host, place as u32)),
        };
        let seen = Seen { from, to, kind: Type::Ping, portal: None };
        match (around.rules.strike(now, seen), route) {
            (Some(Hit::Lost), _) => self.pinged(now, ping, Class::NetworkTimeout.health()),
            (Some(Hit::Shown(class, _)), _) => self.pinged(now, ping, class.health()),
            (_, Some(route)) => self.submit_ping(now, ping, route),
            (_, None) => {
                // To itself and back: its own link has to work, and no other.
                let rail = self.rails.get(own);
                let state = rail.and_then(|rail| rail.driver.link_state(the_link()));
                let works = state == Some(LinkState::Up) && rail.is_some_and(|r| r.has_clock());
                let class = if works { HealthClass::Ok } else { HealthClass::LocalDropped };
                self.pinged(now, ping, class);
            }
        }
    }

    fn own_place(&self, ping: &Ping) -> usize {
        let local = |ni: usize| self.health_view.local(ni).map(lnd_health::Object::Local);
        (0..self.rails.len()).find(|&ni| local(ni) == Some(ping.object)).unwrap_or(0)
    }

    pub(super) fn pinged(&mut self, now: Instant, ping: Ping, class: HealthClass) {
        self.counts.pings.1 += u64::from(class == HealthClass::Ok);
        self.health_view.pinged(now, ping, class);
    }

    fn submit_ping(&mut self, now: Instant, ping: Ping, route: Route) {
        let name = self.next_work;
        self.pings.insert(name, (ping, now.after(PING_PATIENCE)));
        let said = self.say(now, route, name, true);
        if matches!(said, Ok(None)) || matches!(said, Ok(Some(status)) if status.errno == 0) {
            return;
        }
        let Some((ping, _)) = self.pings.remove(&name) else { return };
        match said {
            Err(why) => self.health_view.pinged(now, ping, lnd_health::refusal(why)),
            Ok(status) => {
                self.health_view.pinged(now, ping, End::of(&status.unwrap_or(Status::OK)))
            }
        }
    }

    /// Sends a ping or the answer to one: a message of its own, with nothing behind it. Its end, if
    /// it has ended.
    fn say(
        &mut self,
        now: Instant,
        route: Route,
        name: u64,
        ping: bool,
    ) -> Result<Option<Status>, Why> {
        let envelope = Envelope {
            host: self.host,
            incarnation: self.number,
            stamp: None,
            ping,
            pong: !ping,
            serial: name,
        };
        let header = envelope.wrap(&[0; HEADER_BYTES]);
        let work = self.new_work(if ping { Work::Ping(name) } else { Work::Nothing });
        let request = Request {
            kind: if ping { Kind::Put } else { Kind::Ack },
            peer: nid_of(route.hop).into(),
            link: None,
            routed: false,
            header: &header,
            payload: &[],
            deadline: now.after(PING_PATIENCE),
            user: work,
        };
        let rail = self.rails.get_mut(route.local).ok_or(Why::BadLink);
        let done = rail.and_then(|rail| rail.driver.submit(now, request).map_err(|r| r.why));
        let ended = match done {
            Ok(Submitted::Pending(_)) => return Ok(None),
            Ok(Submitted::Done(status)) => Ok(Some(status)),
            Err(why) => Err(why),
        };
        self.work.remove(&work);
        ended
    }

    /// A ping, or the answer to one, has come in.
    pub(super) fn on_ping(&mut self, now: Instant, ni: usize, envelope: &Envelope, from: Nid) {
        if envelope.pong {
            if let Some((ping, _)) = self.pings.remove(&envelope.serial) {
                self.pinged(now, ping, HealthClass::Ok);
            }
        } else if let Some(hop) = node_of(from) {
            self.pongs.push((Route { local: ni, hop }, envelope.serial));
        }
    }

    /// Answers pings.
    fn answer_pings(&mut self, around: &mut Around<'_>) {
        for (route, name) in std::mem::take(&mut self.pongs) {
            let hop = self.specs.get(route.hop as usize).map(|s| (s.host, s.ni));
            let seen = Seen {
                from: (self.host, route.local as u32),
                to: hop.unwrap_or_default(),
                kind: Type::Ping,
                portal: None,
            };
            if !matches!(around.rules.strike(around.now, seen), Some(Hit::Lost | Hit::Shown(..))) {
                // One that finds no room is not answered; the next ping will be.
                let _ = self.say(around.now, route, name, false);
            }
        }
    }

    /// Gives up pings whose answers are overdue.
    pub(super) fn end_pings(&mut self, now: Instant) {
        let due: Vec<u64> = self
            .pings
            .iter()
            .filter(|(_, (_, bound))| *bound <= now)
            .map(|(&name, _)| name)
            .collect();
        for name in due {
            if let Some((ping, _)) = self.pings.remove(&name) {
                self.pinged(now, ping, HealthClass::NetworkTimeout);
            }
        }
    }

    /// Begins a remote read over an interface on the same network, if one is free.
    fn probe(&mut self, now: Instant, probe: Probe) {
        let number = self.health_view.probed_number(&probe).unwrap_or(u32::MAX);
        let net = self.specs.get(number as usize).map(|spec| spec.net);
        let wanted = match probe.kind {
            ProbeKind::ZeroRead | ProbeKind::Noop => ReadKind::Zero,
            ProbeKind::IllegalRead => ReadKind::Illegal,
            ProbeKind::PublishedWord => ReadKind::Published(PUBLISHED),
        };
        let free = (0..).zip(&mut self.rails).find(|(ni, rail)| {
            Some(rail.net) == net && !self.probes.contains_key(ni) && rail.has_clock()
        });
        let begun = free.and_then(|(ni, rail)| {
            // Not every fabric has every kind.
            let kinds = [wanted, ReadKind::Published(PUBLISHED)];
            let kind = kinds.into_iter().find(|&kind| rail.reads.supports(kind))?;
            rail.reads.begin(number, kind).ok().map(|()| ni)
        });
        match begun {
            Some(ni) => {
                self.probes.insert(ni, (probe, now.after(PATIENCE)));
            }
            None => self.probe_ended(now, probe, ProbeEnd::Other),
        }
    }

    /// Hears the ends of remote reads; silence is no finding (S2-13).
    pub(super) fn end_probes(&mut self, now: Instant) {
        let waiting: Vec<usize> = self.probes.keys().copied().collect();
        for ni in waiting {
            let Some(rail) = self.rails.get_mut(ni) else { continue };
            let end = match rail.reads.poll() {
                Some(ReadEnd::Ok(_)) => ProbeEnd::Success,
                Some(ReadEnd::AccessError) => ProbeEnd::AccessError,
                Some(ReadEnd::RetryExhausted) => ProbeEnd::RetryExceeded,
                Some(ReadEnd::Aborted) => ProbeEnd::Other,
                None if self.probes.get(&ni).is_some_and(|(_, bound)| *bound <= now) => {
                    rail.reads.give_up();
                    ProbeEnd::Other
                }
                None => continue,
            };
            if let Some((probe, _)) = self.probes.remove(&ni) {
                self.probe_ended(now, probe, end);
            }
        }
    }

    fn probe_ended(&mut self, now: Instant, probe: Probe, end: ProbeEnd) {
        let which = match end {
            ProbeEnd::Success | ProbeEnd::AccessError => 0,
            ProbeEnd::RetryExceeded => 1,
            ProbeEnd::Other => 2,
        };
        if let Some(count) = self.counts.probes.get_mut(which) {
            *count += 1;
        }
        let number = self.health_view.probed_number(&probe);
        let finding = self.health_view.probed(now, probe, end);
        match finding {
            Finding::Down | Finding::CleanUp => {
                self.counts.found_down += u64::from(finding == Finding::Down);
                self.counts.cleaned_up += u64::from(finding == Finding::CleanUp);
                let Some(number) = number else { return };
                // An input to the peer's machine like any other (R60).
                let net = self.specs.get(number as usize).map(|spec| spec.net);
                let rails = self.rails.iter_mut().filter(|rail| Some(rail.net) == net);
                rails.for_each(|rail| rail.driver.on_peer(now, nid_of(number), false));
            }
            Finding::Nothing | Finding::Alive => {}
        }
    }

    /// The fabric says that an interface is unusable, or usable again; the driver ends what waits
    /// for it (R53).
    pub(super) fn usable(&mut self, now: Instant, ni: usize, usable: bool) {
        self.health_view.fatal(now, ni, !usable);
        if let Some(rail) = self.rails.get_mut(ni).filter(|_| !usable) {
            rail.driver.on_link(now, the_link(), false);
        }
    }
}
