// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What one kind of world adds to the simulator: what a node is, and what can be done to it.

use lnd_core::id::LinkId;
use lnd_core::time::{Instant, Span};

use super::book::Book;
use super::device::{Pace, Port, WatchedBus};
use super::fail::Violation;
use super::mailbox::{Lane, Pending};
use super::tally::Recorder;
use super::user::User;
use super::world::World;
use crate::lnet::Lnet;
use crate::rng::Rng;

/// When a node's software runs next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// Its thread.
    pub thread_at: Option<Instant>,
    /// Its user.
    pub user_at: Option<Instant>,
}

/// Where a link is: its number in the fabric, its link there, its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The fabric's number of its node or interface.
    pub number: u32,
    /// Which link of that.
    pub link: LinkId,
    /// Which of the networks.
    pub net: usize,
}

/// A living node.
pub trait Running<'m> {
    /// How its engines see the fabric.
    type Bus: WatchedBus<'m>;
    /// What is kept of a life that has ended.
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

    /// Adds what is to be told of it to what is kept.
    fn add_to(&self, past: &mut Self::Past);

    /// Whether a link has remote reads under way, and whether one has an answer.
    fn reads(&self, _at: usize) -> (bool, bool) {
        (false, false)
    }

    /// Until when thread and user stand still, if they do.
    fn stands_still(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// Before its user has an idea: whether it may have one.
    fn may_act(&mut self, _now: Instant, traffic: bool) -> bool {
        traffic
    }
}

/// A kind of world.
pub trait Layer<'m>: Sized {
    /// A living node of it.
    type HostIncarnation: Running<'m>;
    /// What its plans schedule.
    type Scheduled: Clone;
    /// What else happens in it.
    type Own: Clone;

    /// All other engines are looked at after every step of one, not only after one that has moved something.
    const LOOKS_OFTEN: bool;
    /// Users go on when there is no traffic: they give up what is overdue.
    const USERS_STAY: bool;

    /// Where the links of a node are.
    fn places(&self, host: u32) -> Vec<Place>;
    /// The node to which a number of the fabric belongs.
    fn host_of(&self, number: u32) -> Option<u32>;
    /// How fast the engine of a link is.
    fn pace(&self, host: u32, at: usize) -> Pace;
    /// Descriptors of each link.
    fn slots(&self) -> u32;
    /// Average time between two ideas of a user.
    fn pause(&self) -> Span;

    /// How long it takes until something that waits is looked at.
    fn latency(rng: &mut Rng) -> Span {
        Span::from_nanos(200 + rng.below(10_000))
    }

    /// Completions that one interrupt takes.
    fn interrupt_budget(_rng: &mut Rng) -> u32 {
        16
    }

    /// Whether the end of a message is told by the thread, else by an interrupt.
    fn notified_by_thread(_rng: &mut Rng) -> bool {
        true
    }

    /// Until when a node does not run at all, if it does not.
    fn paused(&self, _host: Option<&Self::HostIncarnation>, _now: Instant) -> Option<Instant> {
        None
    }

    /// The time has changed.
    fn on_time(&mut self, _now: Instant) {}

    /// Has the engines of a node work that is none of the simulator's. Whether it is one.
    fn kick_own(_world: &mut World<'m, Self>, _host: u32) -> bool {
        false
    }

    /// A frame lies in a mailbox of a node.
    fn on_frame(world: &mut World<'m, Self>, _net: usize, lane: Lane) {
        if let Some(host) = world.layer.host_of(lane.to) {
            world.wake(host);
        }
    }

    /// A node's thread runs; the node, if it still meant something.
    ///
    /// # Errors
    /// A broken rule.
    fn thread(world: &mut World<'m, Self>, host: u32) -> Result<Option<u32>, Violation>;

    /// A node's user has had its idea.
    fn after_idea(_world: &mut World<'m, Self>, _host: u32) {}

    /// Something of this kind of world happens; the node that it has touched.
    ///
    /// # Errors
    /// A broken rule.
    fn own(world: &mut World<'m, Self>, event: Self::Own) -> Result<Option<u32>, Violation>;

    /// A scheduled happening begins.
    fn begin(world: &mut World<'m, Self>, it: Self::Scheduled);

    /// A link works again.
    fn link_up(world: &mut World<'m, Self>, host: u32, at: usize);

    /// A node begins a life.
    ///
    /// # Errors
    /// In words.
    fn new_incarnation(
        world: &mut World<'m, Self>,
        host: u32,
    ) -> Result<Self::HostIncarnation, String>;

    /// A node's life has ended.
    fn forget(_world: &mut World<'m, Self>, _host: u32) {}

    /// Checks everything that the last step at a node may have broken.
    ///
    /// # Errors
    /// A broken rule.
    fn check(world: &mut World<'m, Self>, host: u32) -> Result<(), Violation>;
}

/// A node over all its lives.
#[derive(Debug)]
pub struct Host<N, P> {
    /// The present life; `None`: dead or away.
    pub incarnation: Option<N>,
    /// Lives begun.
    pub incarnations: u32,
    /// Its trace.
    pub recorder: Recorder,
    /// What is kept of former lives.
    pub past: P,
}

impl<N, P: Default> Host<N, P> {
    /// A node that was never alive.
    pub fn new() -> Self {
        Self {
            incarnation: None,
            incarnations: 0,
            recorder: Recorder::new(4096),
            past: P::default(),
        }
    }
}

impl<N, P: Default> Default for Host<N, P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Has a user do something of its own accord.
pub(super) fn act<'m>(
    incarnation: &mut impl Running<'m>,
    now: Instant,
    book: &mut Book,
    incarnations: &[u32],
) {
    let (user, lnet) = incarnation.user();
    user.act(lnet, now, book, incarnations);
}
