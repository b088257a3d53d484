// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A byzantine node: it knows the protocol, hears every frame on the network, and keeps to nothing.
//!
//! Its messages are its own, and so are its descriptors: any bytes, in any of its mailboxes, at any
//! time. What it cannot do is what hardware rules out: write into another node's mailboxes in the
//! name of a third, or move memory past an engine. The honest nodes among themselves must not
//! suffer; of what they have with it only that it ends.

mod captured;
mod device;
mod forge;
mod rates;
mod react;

pub use rates::Rates;

use std::cell::RefCell;
use std::rc::Rc;

use lnd_core::id::{Incarnation, LinkId};
use lnd_core::message::Lane as Kind;
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::layout::{class, kind};

use super::faults::Own;
use super::incarnation::Host;
use super::world::World;
use crate::rng::Rng;
use crate::simulator::event::Event;
use crate::simulator::fail::Violation;
use crate::simulator::mailbox::Lane;
use crate::simulator::network::Network;
use crate::simulator::tally::Tally;
use captured::Captured;
use device::EngineRef;

/// The node.
pub struct Byzantine<'m> {
    node: u32,
    incarnation: Incarnation,
    rates: Rates,
    nodes: u32,
    links: u32,
    slots: u32,
    /// Bytes of the largest frame that a mailbox takes.
    frame: usize,
    /// Where sessions and the numbers of requests begin.
    first: u32,
    rng: Rng,
    tally: Tally,
    net: Rc<RefCell<Network<'m>>>,
    captured: Captured,
    engine_refs: Vec<EngineRef<'m>>,
    deaf_until: Instant,
    /// All other faults have ended.
    calm: bool,
}

impl Byzantine<'_> {
    /// A neighbour, any.
    fn any_node(&mut self) -> Option<u32> {
        let to = self.rng.below(u64::from(self.nodes)) as u32;
        self.net.borrow().neighbours(self.node, to).then_some(to)
    }

    fn any_link(&mut self) -> Option<LinkId> {
        LinkId::new(self.rng.below(u64::from(self.links)) as usize)
    }

    /// Hands a frame over, in the lane where its kind belongs or in the other one.
    fn say(&mut self, to: u32, link: LinkId, mut bytes: Vec<u8>) {
        bytes.truncate(self.frame);
        let request = bytes.first() == Some(&class::LND)
            && matches!(bytes.get(1), Some(&(kind::IMMEDIATE | kind::PUT_REQ | kind::GET_REQ)));
        let lane = if request { Kind::Request } else { Kind::Control };
        let control = (lane == Kind::Control) != (self.rng.below(16) == 0);
        self.net.borrow_mut().inject(Lane { from: self.node, to, link, control }, bytes);
    }

    /// Does one thing of its own accord.
    fn act(&mut self, now: Instant) {
        self.captured.learn(&mut self.net.borrow_mut().overheard);
        let (Some(to), Some(link)) = (self.any_node(), self.any_link()) else { return };
        let r = self.rates;
        let kinds =
            [r.noise, r.spoilt, r.replayed, r.forged, r.hellos, r.unasked, r.requests, r.pulls];
        let mut at = self.rng.below(u64::from(r.ideas()));
        let chosen = kinds.iter().position(|&rate| {
            let here = at < u64::from(rate);
            at = at.saturating_sub(u64::from(rate));
            here
        });
        let (what, bytes) = match chosen {
            Some(0) => ("byzantine: noise", Some(self.noise())),
            Some(1) => ("byzantine: spoilt frames", self.spoilt(to)),
            Some(2) => ("byzantine: old frames", self.replayed()),
            Some(3) => ("byzantine: forged messages", self.forged(to)),
            Some(4) => return self.handshake_often(to, link),
            Some(5) => ("byzantine: answers unasked", self.unasked(to)),
            Some(6) => ("byzantine: requests", self.request(to)),
            Some(7) => return self.pull_anything(now, to, link),
            _ => return,
        };
        let Some(bytes) = bytes else { return };
        self.tally.count(what);
        self.say(to, link, bytes);
    }

    /// When it has its next idea; `None`: it has none any more.
    fn next_idea(&mut self, now: Instant) -> Option<Instant> {
        let rate = match (self.calm, self.rates.goes_on) {
            (false, _) => self.rates.ideas(),
            (true, true) => self.rates.ideas().div_ceil(8),
            (true, false) => 0,
        };
        let pause = 1_000_000_000_u64.checked_div(u64::from(rate))?;
        Some(now.after(Span::from_nanos(self.rng.between(pause / 8, 2 * pause))))
    }
}

impl<'m> World<'m> {
    /// Whether a node is the one that keeps to nothing.
    pub(super) fn is_lawless(&self, node: u32) -> bool {
        self.layer.setup.lawless() == Some(node)
    }

    /// All other nodes.
    pub(super) fn honest(&self) -> impl Iterator<Item = (u32, &Host<'m>)> {
        let lawless = self.layer.setup.lawless();
        let all = self.hosts.iter().enumerate().map(|(node, host)| (node as u32, host));
        all.filter(move |&(node, _)| Some(node) != lawless)
    }

    /// The byzantine node takes its place.
    pub(super) fn begin_byzantine(&mut self, node: u32) -> Result<(), Violation> {
        let fail = |what: String| Violation::at(node, format!("start: {what}"));
        let Some(rates) = self.layer.setup.plan.byzantine else { return Ok(()) };
        let (incarnation, engine_refs) = self.take_place(node).map_err(fail)?;
        let byzantine = Byzantine {
            node,
            incarnation,
            rates,
            nodes: self.layer.setup.nodes,
            links: self.layer.setup.links,
            slots: self.layer.setup.config.slots,
            frame: self.layer.setup.frame,
            first: self.layer.setup.config.counting_from,
            rng: self.rng.fork(),
            tally: self.tally.clone(),
            net: self.layer.net.clone(),
            captured: Captured::default(),
            engine_refs,
            deaf_until: Instant::ORIGIN,
            calm: false,
        };
        self.layer.byzantine = Some(byzantine);
        self.queue.push(self.now, Event::Own(Own::Idea));
        Ok(())
    }

    /// An idea of the byzantine node.
    pub(super) fn idea(&mut self) -> Option<u32> {
        let (now, calm) = (self.now, self.calm);
        let it = self.layer.byzantine.as_mut()?;
        let node = it.node;
        it.calm = calm;
        if !calm || it.rates.goes_on {
            it.act(now);
        }
        it.drain();
        let next = it.next_idea(now);
        let waiting = self.layer.net.borrow().waiting(node);
        for lane in waiting {
            self.hear(lane);
        }
        if let Some(at) = next {
            self.queue.push(at, Event::Own(Own::Idea));
        }
        Some(node)
    }

    /// The byzantine node reads a mailbox, unless it does not listen.
    pub(super) fn hear(&mut self, lane: Lane) {
        let (now, calm) = (self.now, self.calm);
        let Some(mut it) = self.layer.byzantine.take() else { return };
        it.calm = calm;
        while now >= it.deaf_until || calm {
            let Some(frame) = self.layer.net.borrow_mut().take(lane) else { break };
            it.react(now, lane, &frame.bytes);
            self.layer.net.borrow_mut().release(lane, &frame);
        }
        self.layer.byzantine = Some(it);
        self.kick_byzantine();
    }
}
