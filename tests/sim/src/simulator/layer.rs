// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What one kind of world adds to the simulator: what a host consists of, and what else can happen
//! to it.

use lnd_core::id::{LinkId, Tag};
use lnd_core::time::{Instant, Span};

use super::book::Book;
use super::device::{Pace, Port, WatchedBus};
use super::fail::Violation;
use super::mailbox::{Lane, Pending};
use super::run_log::RunLog;
use super::tally::Recorder;
use super::user::User;
use super::world::World;
use crate::lnet::Lnet;
use crate::rng::Rng;

/// When a host's software runs next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// Its thread.
    pub thread_at: Option<Instant>,
    /// Its user.
    pub user_at: Option<Instant>,
}

/// Where a link of a host is in the fabric, and on which network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The fabric's number of its node or interface.
    pub number: u32,
    /// Which link of that.
    pub link: LinkId,
    /// Which of the networks.
    pub net: usize,
}

/// One incarnation of a host, as the simulator sees it.
pub trait Running<'m> {
    /// How its engines see the fabric.
    type Bus: WatchedBus<'m>;
    /// What is kept of incarnations that have ended.
    type Past: Default;

    /// One of its links.
    fn port(&mut self, at: usize) -> Option<&mut Port<'m, Self::Bus>>;

    /// When its software runs next.
    fn turns(&mut self) -> &mut Turns;

    /// Its user and its upper layer.
    fn user(&mut self) -> (&mut User<'m>, &mut Lnet);

    /// A short message has ended. Whether its thread has to look at it.
    fn on_sent(
        &mut self,
        now: Instant,
        ended: &Pending,
        by_thread: bool,
        recorder: &mut Recorder,
    ) -> bool;

    /// Adds its counts to what is kept.
    fn add_to(&self, past: &mut Self::Past);

    /// What is in the way of rest: the transfer, if it is one, and everything in words.
    fn blockers(&self) -> (Option<Tag>, String);

    /// Whether a link has remote reads under way, and whether one of them has its answer.
    fn reads(&self, _at: usize) -> (bool, bool) {
        (false, false)
    }

    /// Until when thread and user do not run, if they do not.
    fn stands_still(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// Called before each turn of its user. Whether the user begins a request in it.
    fn may_act(&mut self, _now: Instant, traffic: bool) -> bool {
        traffic
    }
}

/// A kind of world.
pub trait Layer<'m>: Sized {
    /// A running host.
    type HostIncarnation: Running<'m>;
    /// What its plans schedule.
    type Scheduled: Clone;
    /// What else happens in it.
    type Own: Clone;

    /// After every step of an engine the other hosts' engines are checked for work, not only after
    /// a step that has moved something.
    const LOOKS_OFTEN: bool;
    /// Users have turns without traffic, too: they give up what is overdue.
    const USERS_STAY: bool;

    /// The links of a host.
    fn places(&self, host: u32) -> Vec<Place>;
    /// The fabric's number of the node or interface to which a link of a host belongs.
    fn number_of(&self, host: u32, at: usize) -> u32 {
        self.places(host).get(at).map_or(host, |place| place.number)
    }
    /// The host to which a number of the fabric belongs.
    fn host_of(&self, number: u32) -> Option<u32>;
    /// How fast the engine of a link is.
    fn pace(&self, host: u32, at: usize) -> Pace;
    /// Descriptors of each link.
    fn slots(&self) -> u32;
    /// Average time between two turns of a user.
    fn pause(&self) -> Span;

    /// Whether nothing of a host is under way and everything is in service.
    fn is_at_rest(&self, incarnation: &Self::HostIncarnation) -> bool;

    /// The host that does not keep to the protocol, if there is one.
    fn lawless(&self) -> Option<u32> {
        None
    }

    /// Time until a thread, an interrupt or an engine runs that has to.
    fn latency(rng: &mut Rng) -> Span {
        Span::from_nanos(200 + rng.below(10_000))
    }

    /// Completions that one interrupt takes.
    fn interrupt_budget(_rng: &mut Rng) -> u32 {
        16
    }

    /// Whether the thread reports the end of a message to the driver, else an interrupt.
    fn notified_by_thread(_rng: &mut Rng) -> bool {
        true
    }

    /// Until when no software of a host runs, if it does not.
    fn paused(&self, _host: Option<&Self::HostIncarnation>, _now: Instant) -> Option<Instant> {
        None
    }

    /// The time has changed.
    fn on_time(&mut self, _now: Instant) {}

    /// Schedules the engines of a host that this layer simulates itself. Whether the host is one.
    fn kick_own(_world: &mut World<'m, Self>, _host: u32) -> bool {
        false
    }

    /// A frame has arrived in a mailbox of a host.
    fn on_frame(world: &mut World<'m, Self>, _net: usize, lane: Lane) {
        if let Some(host) = world.layer.host_of(lane.to) {
            world.wake(host);
        }
    }

    /// A host's thread runs. The host, unless the event was out of date.
    ///
    /// # Errors
    /// A broken rule.
    fn thread(world: &mut World<'m, Self>, host: u32) -> Result<Option<u32>, Violation>;

    /// The end of a turn of a host's user.
    fn after_idea(_world: &mut World<'m, Self>, _host: u32) {}

    /// An event that only this kind of world knows. The host that it has changed.
    ///
    /// # Errors
    /// A broken rule.
    fn own(world: &mut World<'m, Self>, event: Self::Own) -> Result<Option<u32>, Violation>;

    /// A scheduled event begins.
    fn begin(world: &mut World<'m, Self>, it: Self::Scheduled);

    /// A link works again.
    fn link_up(world: &mut World<'m, Self>, host: u32, at: usize);

    /// A host starts.
    ///
    /// # Errors
    /// In words.
    fn new_incarnation(
        world: &mut World<'m, Self>,
        host: u32,
    ) -> Result<Self::HostIncarnation, String>;

    /// An incarnation of a host has ended.
    fn forget(_world: &mut World<'m, Self>, _host: u32) {}

    /// Checks every rule that the last step of a host may have broken.
    ///
    /// # Errors
    /// A broken rule.
    fn check(world: &mut World<'m, Self>, host: u32) -> Result<(), Violation>;
}

/// A host, over all its incarnations.
#[derive(Debug)]
pub struct Host<N, P> {
    /// The present one; `None`: the host is down.
    pub incarnation: Option<N>,
    /// Incarnations started.
    pub incarnations: u32,
    /// Its trace.
    pub recorder: Recorder,
    /// What is kept of former ones.
    pub past: P,
}

impl<N, P: Default> Host<N, P> {
    /// A host that has not started.
    pub fn new() -> Self {
        Self::logged(0, None)
    }

    /// Host `number`, which has not started, and whose trace goes into the log of the run, too.
    pub fn logged(number: u32, log: Option<RunLog>) -> Self {
        Self {
            incarnation: None,
            incarnations: 0,
            recorder: Recorder::logged(4096, number, log),
            past: P::default(),
        }
    }
}

impl<N, P: Default> Default for Host<N, P> {
    fn default() -> Self {
        Self::new()
    }
}

/// A user begins requests of its own.
pub(super) fn act<'m>(
    incarnation: &mut impl Running<'m>,
    now: Instant,
    book: &mut Book,
    incarnations: &[u32],
) {
    let (user, lnet) = incarnation.user();
    user.act(lnet, now, book, incarnations);
}
