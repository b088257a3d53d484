// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node with several interfaces: one upper layer, one desk that keeps the health, a driver for
//! each interface. This file holds them together; `send.rs` and `receive.rs` are the two ways
//! through it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::driver::RunState;
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::link::LinkState;
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::HealthClass;
use lnd_health::node::{Ping, Probe};
use lnd_health::Stamp;

use super::bus::HomeBus;
use super::health_view::{HealthView, Route};
use super::oracle::{Defect, Oracle};
use super::rail::{the_link, Rail};
use super::rules::{Class, Rules};
use super::send::{Message, Tracked};
use super::world::NiSpec;
use crate::fabric::{Lease, Oracle as MemoryOracle};
use crate::lnet::Lnet;
use crate::node::{blocker_words, few, upper_words, Stats};
use crate::simulator::device::Port;
use crate::simulator::layer::{Running, Turns};
use crate::simulator::mailbox::Pending;
use crate::simulator::tally::Recorder;
use crate::simulator::user::User;

/// Memory that a driver has.
#[derive(Debug)]
pub(super) struct Loan {
    pub fragments: Vec<Fragment>,
    pub lease: Lease,
}

/// What a driver is doing for us.
#[derive(Debug)]
pub(super) enum Work {
    /// One try of a message; what its end is to look like.
    Send(u64, Option<Class>),
    /// The upper layer takes or gives.
    Receive(Taking),
    /// A second copy is dropped, or a ping is answered.
    Nothing,
    /// The recovery ping of this name.
    Ping(u64),
}

/// Something that comes in or is given away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taking {
    /// The upper layer's id.
    pub id: u64,
    /// The sender, and the stamp by which a second copy would be known.
    pub number: Option<(u32, Stamp)>,
    /// The oracle's number.
    pub serial: u64,
    /// The request of ours that it answers.
    pub answers: Option<Tag>,
}

/// What a node has counted, over all its incarnations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages handed to this layer.
    pub messages: u64,
    /// Tries beyond the first.
    pub resends: u64,
    /// Messages that ended OK after a resend.
    pub resent_ok: u64,
    /// Messages that failed after a resend, or for want of another path.
    pub resent_failed: u64,
    /// Messages that failed.
    pub failed: u64,
    /// Failures past the deadline.
    pub late: u64,
    /// Recovery pings sent, and answered.
    pub pings: (u64, u64),
    /// Answers that did not come in time.
    pub response_timeouts: u64,
    /// Second copies recognised.
    pub second_copies: u64,
    /// Probes ended: alive, dead, unknown.
    pub probes: [u64; 3],
    /// Interfaces of peers that probing has found down, and one-way ones that were cleaned up.
    pub found_down: u64,
    /// See `found_down`.
    pub cleaned_up: u64,
    /// Ends of tries, by class.
    pub classes: BTreeMap<u8, u64>,
    /// How long recovered messages took from their first try, in nanoseconds: count and sum.
    pub recovered_after: (u64, u64),
}

impl Counts {
    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.resends += other.resends;
        self.resent_ok += other.resent_ok;
        self.resent_failed += other.resent_failed;
        self.failed += other.failed;
        self.late += other.late;
        self.pings.0 += other.pings.0;
        self.pings.1 += other.pings.1;
        self.response_timeouts += other.response_timeouts;
        self.second_copies += other.second_copies;
        self.found_down += other.found_down;
        self.cleaned_up += other.cleaned_up;
        for (mine, theirs) in self.probes.iter_mut().zip(other.probes) {
            *mine += theirs;
        }
        for (&class, count) in &other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        self.recovered_after.0 += other.recovered_after.0;
        self.recovered_after.1 += other.recovered_after.1;
    }

    /// Counts the end of a try.
    pub(super) fn class(&mut self, health: HealthClass) {
        *self.classes.entry(health as u8).or_default() += 1;
    }
}

/// What a node's work goes with: it is not the node's own.
pub(super) struct Around<'a> {
    pub now: Instant,
    pub rules: &'a mut Rules,
    pub oracle: &'a mut Oracle,
    pub defect: Option<Defect>,
}

/// One incarnation of a node.
pub struct HostIncarnation<'m> {
    /// Its number.
    pub host: u32,
    /// Which of its incarnations this is, from 1.
    pub number: u32,
    /// Its interfaces.
    pub rails: Vec<Rail<'m>>,
    /// The upper layer.
    pub lnet: Lnet,
    /// Its user.
    pub user: User<'m>,
    /// Its health.
    pub health_view: HealthView<'m>,
    /// When thread and user run next.
    pub turns: Turns,
    /// How transfers ended.
    pub stats: Stats,
    /// What else has happened.
    pub counts: Counts,
    pub(super) specs: Rc<[NiSpec]>,
    pub(super) timeout: Span,
    pub(super) memory: MemoryOracle<'m>,
    pub(super) loans: BTreeMap<u64, Loan>,
    pub(super) work: BTreeMap<u64, Work>,
    pub(super) next_work: u64,
    pub(super) messages: BTreeMap<u64, Message>,
    /// Messages to be tried (again) now.
    pub(super) again: VecDeque<u64>,
    /// Messages that fault rules have put off.
    pub(super) delayed: BTreeSet<(Instant, u64)>,
    pub(super) trackers: BTreeMap<Tag, Tracked>,
    /// The remote read of each interface that is a probe, and when no call waits for it any more.
    pub(super) probes: BTreeMap<usize, (Probe, Instant)>,
    /// Pings under way by their names, and when no call waits for their answers any more.
    pub(super) pings: BTreeMap<u64, (Ping, Instant)>,
    /// Pings to answer: by which path, and their names.
    pub(super) pongs: Vec<(Route, u64)>,
    pub(super) defect: Option<Defect>,
    pub(super) ending: bool,
}

/// What is kept of incarnations that have ended.
#[derive(Debug, Default)]
pub struct Past {
    /// How their transfers ended.
    pub stats: Stats,
    /// What they have counted.
    pub counts: Counts,
}

impl<'m> Running<'m> for HostIncarnation<'m> {
    type Bus = HomeBus<'m>;
    type Past = Past;

    fn port(&mut self, at: usize) -> Option<&mut Port<'m, HomeBus<'m>>> {
        self.rails.get_mut(at).map(|rail| &mut rail.port)
    }

    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }

    fn user(&mut self) -> (&mut User<'m>, &mut Lnet) {
        (&mut self.user, &mut self.lnet)
    }

    fn on_sent(&mut self, now: Instant, ended: &Pending, _: bool, _: &mut Recorder) -> bool {
        let rail = self.rails.iter_mut().find(|rail| rail.number == ended.node);
        rail.map(|rail| rail.driver.on_sent(now, ended.tag, ended.sent)).is_some()
    }

    fn add_to(&self, past: &mut Past) {
        past.stats.merge(&self.stats);
        past.counts.merge(&self.counts);
    }

    fn blockers(&self) -> (Option<Tag>, String) {
        let mut text: Vec<String> = Vec::new();
        for rail in &self.rails {
            if let Some(blocker) = rail.driver.blocker(0) {
                text.push(format!("interface {}: {}", rail.number, blocker_words(&blocker)));
            }
            let state = rail.driver.link_state(the_link());
            if state != Some(LinkState::Up) {
                text.push(format!("interface {}: link {state:?}", rail.number));
            }
        }
        text.extend(self.lnet.blockers().iter().map(upper_words));
        text.extend(self.messages.values().take(3).map(|m| format!("{:?}", m.attempts)));
        text.extend(self.work.values().take(3).map(|work| format!("{work:?}")));
        (None, few(text))
    }

    fn reads(&self, at: usize) -> (bool, bool) {
        let reads = self.rails.get(at).map(|rail| &rail.reads);
        reads.map_or((false, false), |reads| (reads.is_under_way(), reads.has_answer()))
    }
}

/// A node over all its incarnations.
pub type Host<'m> = crate::simulator::layer::Host<HostIncarnation<'m>, Past>;

impl Host<'_> {
    /// What all incarnations have counted, the present one included.
    pub fn all_counts(&self) -> Counts {
        let mut all = self.past.counts.clone();
        if let Some(incarnation) = &self.incarnation {
            all.merge(&incarnation.counts);
        }
        all
    }
}

impl HostIncarnation<'_> {
    /// Whether nothing is under way and everything is in service.
    pub fn at_rest(&self) -> bool {
        self.lnet.idle()
            && self.user.waiting() == 0
            && self.messages.is_empty()
            && self.work.is_empty()
            && self.rails.iter().all(|rail| {
                rail.driver.in_use() == (0, 0)
                    && rail.driver.nothing_to_report()
                    && rail.driver.link_state(the_link()) == Some(LinkState::Up)
            })
    }

    /// Begins to end, in good order: takes nothing new, pings no peer any more (R50).
    pub(super) fn shut_down(&mut self, now: Instant) {
        self.ending = true;
        self.lnet.shut_down();
        self.user.give_up(&mut self.lnet, now, true);
        self.health_view.shut_down();
        // No resend begins any more: what pauses ends now.
        self.again.extend(std::mem::take(&mut self.delayed).into_iter().map(|(_, id)| id));
        for rail in &mut self.rails {
            rail.driver.shutdown(now, now.after(Span::from_millis(50)));
        }
    }

    /// Whether it has ended.
    pub(super) fn ended(&self) -> bool {
        self.lnet.idle()
            && self.user.offered() == 0
            && self.messages.is_empty()
            && self.rails.iter().all(|rail| rail.driver.run_state() == RunState::Quiescent)
    }

    pub(super) fn new_work(&mut self, work: Work) -> u64 {
        let id = self.next_work;
        self.next_work += 1;
        self.work.insert(id, work);
        id
    }

    pub(super) fn lend(&mut self, id: u64, fragments: &[Fragment], lease: Lease) {
        self.memory.lend(self.host, fragments, lease);
        self.loans.insert(id, Loan { fragments: fragments.to_vec(), lease });
    }

    pub(super) fn take_back(&mut self, id: u64) {
        if let Some(loan) = self.loans.remove(&id) {
            self.memory.take_back(self.host, &loan.fragments, loan.lease);
        }
    }

    /// The thread's round, but for the mailboxes: time, reports, pings and probes, what there is to
    /// send. When it wants to run again, if its drivers do not.
    pub(super) fn run(&mut self, around: &mut Around<'_>) -> Option<Instant> {
        let now = around.now;
        let mut next = None;
        let mut soonest = |at: Option<Instant>| {
            next = [next, at].into_iter().flatten().min();
        };
        for rail in &mut self.rails {
            let _ = rail.driver.on_time(now);
        }
        self.report_all(around);
        self.expire_answers(now);
        self.end_probes(now);
        self.end_pings(now);
        self.act(around);
        self.send_all(around);
        if !self.again.is_empty() {
            // Short of a slot: look again, as a host's loop does.
            soonest(Some(now.after(Span::from_micros(200))));
        }
        soonest(self.delayed.first().map(|&(at, _)| at));
        soonest(self.trackers.values().filter_map(|t| t.tracker.deadline()).min());
        soonest(self.probes.values().map(|(_, bound)| *bound).min());
        soonest(self.pings.values().map(|(_, bound)| *bound).min());
        soonest(self.health_view.next());
        next
    }
}
