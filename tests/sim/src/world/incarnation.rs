// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One incarnation of a node: the shipped driver and upper layer, its engines, its interrupts, its
//! user.

use std::cell::RefCell;
use std::rc::Rc;

use lnd_core::counters::Counters;
use lnd_core::driver::Blocker;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::DecodeCounters;

use super::defect::Wire;
use crate::fabric::{nid_of, Membership};
use crate::lnet::Lnet;
use crate::node::{Node, Stats};
use crate::simulator::channel::VirtualChannel;
use crate::simulator::layer::{Running, Turns};
use crate::simulator::mailbox::Pending;
use crate::simulator::tally::Recorder;
use crate::simulator::user::User;
use crate::simulator::waiting::Waiting;

/// One link of a living node.
pub type Port<'m> = crate::simulator::device::Port<'m, Wire<'m>>;

/// A node that is shutting down in good order.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// It must have ended by then.
    pub bound: Instant,
    /// How long it stays away.
    pub away: Option<Span>,
}

/// A living node.
pub struct HostIncarnation<'m> {
    /// Driver and upper layer.
    pub node: Node<'m, VirtualChannel<'m>, Recorder>,
    /// Its place in the fabric.
    pub membership: Membership<'m>,
    /// Its links.
    pub ports: Vec<Port<'m>>,
    /// Mailboxes whose first frame waits.
    pub waiting: Waiting,
    /// Its user.
    pub user: User<'m>,
    /// What interrupts of the channel have counted.
    pub counters: Rc<RefCell<Counters>>,
    /// When thread and user run next.
    pub turns: Turns,
    /// Thread and user stand still until then.
    pub frozen: Instant,
    /// Everything that is software stands still until then.
    pub paused: Instant,
    /// It is shutting down.
    pub ending: Option<Ending>,
}

impl<'m> HostIncarnation<'m> {
    /// All counters: the thread's, the channel's and the links' interrupts'.
    pub fn all_counters(&self) -> Counters {
        let mut all = self.node.driver.counters().clone();
        all.merge(&self.counters.borrow());
        for port in &self.ports {
            all.merge(port.interrupt.counters());
        }
        all
    }

    /// Connections that are out of service.
    fn connections_out(&self) -> usize {
        if self.node.driver.config().connections == 0 {
            return 0;
        }
        let links = || (0..self.ports.len()).filter_map(LinkId::new);
        let out = |peer| links().filter(move |&link| self.is_out(link, peer)).count();
        (0..self.membership.fabric().shape().nodes).map(out).sum()
    }

    fn is_out(&self, link: LinkId, peer: u32) -> bool {
        self.node.driver.connection_state(link, nid_of(peer)).is_some()
    }

    /// Whether nothing is under way and everything is in service. What is under way with `except`
    /// does not count.
    pub fn at_rest(&self, except: Option<Nid>) -> bool {
        let driver = &self.node.driver;
        let links = (0..self.ports.len()).filter_map(LinkId::new);
        let nothing = || {
            self.node.lnet.idle()
                && driver.in_use() == (0, 0)
                && driver.nothing_to_report()
                && self.node.outstanding() == 0
                && self.node.keeps() == 0
        };
        self.ending.is_none()
            && self.user.waiting() == 0
            && except.map_or_else(nothing, |peer| self.node.rests_but_for(peer))
            && links
                .map(|link| driver.link_state(link))
                .all(|state| state == Some(lnd_core::link::LinkState::Up))
            && self.connections_out() == 0
    }
}

/// What is kept of incarnations that have ended.
#[derive(Debug, Default)]
pub struct Past {
    /// How their transfers ended.
    pub stats: Stats,
    /// What they have counted.
    pub counters: Counters,
    /// Messages of others that they have passed on.
    pub forwarded: u64,
    /// Frames that they have refused, by cause.
    pub refused: DecodeCounters,
}

impl<'m> Running<'m> for HostIncarnation<'m> {
    type Bus = Wire<'m>;
    type Past = Past;

    fn port(&mut self, at: usize) -> Option<&mut Port<'m>> {
        self.ports.get_mut(at)
    }

    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn user(&mut self) -> (&mut User<'m>, &mut Lnet) {
        (&mut self.user, &mut self.node.lnet)
    }

    fn on_sent(
        &mut self,
        now: Instant,
        ended: &Pending,
        by_thread: bool,
        recorder: &mut Recorder,
    ) -> bool {
        let (tag, sent) = (ended.tag, ended.sent);
        if by_thread {
            self.node.driver.on_sent(now, tag, sent);
            return true;
        }
        let irq_handle = self.node.driver.irq_handle();
        irq_handle.on_sent(now, tag, sent, &mut *self.counters.borrow_mut(), recorder)
    }

    fn add_to(&self, past: &mut Past) {
        past.stats.merge(&self.node.stats);
        past.counters.merge(&self.all_counters());
        past.forwarded += self.node.lnet.ledger().forwarded;
        past.refused.merge(self.node.receiver().errors());
    }

    fn blockers(&self) -> (Option<Tag>, String) {
        let tag = match self.node.driver.blocker(0) {
            Some(Blocker::Transfer { tag, .. } | Blocker::Unreported { tag }) => Some(tag),
            _ => None,
        };
        (tag, super::checks::blockers(self))
    }

    fn stands_still(&self, now: Instant) -> Option<Instant> {
        let until = self.frozen.max(self.paused);
        (until > now).then_some(until)
    }

    fn may_act(&mut self, now: Instant, traffic: bool) -> bool {
        let ending = self.ending.is_some();
        self.user.give_up(&mut self.node.lnet, now, ending);
        traffic && !ending
    }
}

/// A node over all its incarnations.
pub type Host<'m> = crate::simulator::layer::Host<HostIncarnation<'m>, Past>;
