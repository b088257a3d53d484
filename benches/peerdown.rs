// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer goes down with many transfers outstanding, while another peer is being served.
//!
//! Timed from `on_peer(down)` until every transfer has been asked back, has come back and has been
//! reported: nanoseconds of processor time for each transfer, which must not grow with their
//! number. After each call of `on_time`, whose work is bounded, one PUT to another peer goes
//! through its whole life; the longest time between two of those is what the other peer notices.
//! Its lives are not in the time for each transfer.
//!
//! Ports as in `lifecycle`: what is timed is the driver. Each descriptor comes back as soon as it
//! was asked for, alternately untouched and done.
//!
//! The yardstick is a [bare sweep](lnd_bench::floor) over as many: a compare-and-swap for each, and
//! back to the pool.
//!
//! "Polled" is the same of a host whose own thread takes completions: each report is the result of
//! the call that hands the descriptor back.
//!
//! `--count N`: the instructions of one peer-down with `N` outstanding, without another peer's
//! lives, are those in `lnd_measured`. With `--phase polls` those of a host that polls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant;

use lnd_bench::floor::Floor;
use lnd_bench::mock::{nid, Rig, LINK};
use lnd_bench::{clock, place, Column, Options, Table};
use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Kind, Report};
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::Message;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};

const OUTSTANDING: [usize; 3] = [1_000, 10_000, 60_000];
const VICTIM: u64 = 1;
const OTHER: u64 = 2;
const PAYLOAD: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];

/// What one peer-down has cost, in nanoseconds.
struct Cost {
    /// All calls that served the peer-down.
    drain: f64,
    /// One life of the other peer's PUT when nothing else is going on: the median.
    alone: f64,
    /// The same between the calls that serve the peer-down.
    meanwhile: f64,
    /// The longest that the other peer had to wait between two of its lives.
    longest: f64,
}

/// How far the end of the victim's transfers has come.
#[derive(Default)]
struct Ends {
    /// Descriptors that came back.
    seen: usize,
    good: usize,
    bad: usize,
}

impl Ends {
    fn note(&mut self, report: &Report) {
        match report.status.errno {
            0 => self.good += 1,
            _ => self.bad += 1,
        }
    }

    const fn reported(&self) -> usize {
        self.good + self.bad
    }
}

/// What a simulator of the processor counts: see `benches/instructions.rs`.
#[inline(never)]
fn lnd_measured(work: &mut dyn FnMut()) {
    work();
}

/// A driver with `outstanding` PUTs staged for the victim, their messages gone.
struct Scene {
    rig: Rig,
    /// The host's own thread takes completions, in place of an interrupt.
    polls: bool,
    /// Our session with each of the two, and how much they have consumed.
    sessions: [u32; 2],
    consumed: [u16; 2],
    counters: Counters,
    tags: Vec<Tag>,
}

impl Scene {
    fn new(outstanding: usize, polls: bool) -> Self {
        // A table of the transfers' own size: the sweep looks at each slot once.
        let mut config = Config::new(outstanding as u32 + 64, 4, 1);
        (config.passive_slots, config.lists) = (1, 0);
        let mut rig = Rig::new(config);
        let sessions = [rig.meet(VICTIM), rig.meet(OTHER)];
        let mut scene = Self {
            rig,
            polls,
            sessions,
            consumed: [1, 1],
            counters: Counters::new(),
            tags: Vec::with_capacity(outstanding),
        };
        for _ in 0..outstanding {
            let tag = scene.begin(VICTIM);
            scene.tags.push(tag);
        }
        scene
    }

    fn begin(&mut self, peer: u64) -> Tag {
        let at = peer as usize - 1;
        let rig = &mut self.rig;
        let tag = rig
            .driver
            .submit(rig.now, rig.request(Kind::Put, peer, &PAYLOAD))
            .unwrap()
            .tag()
            .unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        self.consumed[at] = self.consumed[at].wrapping_add(1);
        let mut envelope = rig.envelope(peer, 1, self.consumed[at]);
        envelope.credits_of = self.sessions[at];
        let _ = rig.driver.on_message(rig.now, LINK, &envelope, &Message::Noop);
        tag
    }

    fn complete(&mut self, tag: Tag, returned: Returned) {
        let completion = Completion { tag, returned };
        let irq_handle = self.rig.driver.irq_handle();
        irq_handle.on_completion(self.rig.now, completion, &mut self.counters, &mut NoTrace);
    }

    /// One life of the other peer's PUT, in nanoseconds.
    fn serve_other(&mut self) -> f64 {
        // Not the processor's time, which takes longer to read than a life takes.
        let begin = Instant::now();
        let tag = self.begin(OTHER);
        self.complete(tag, Returned::Ok);
        let report = self.rig.driver.next_report(self.rig.now).unwrap();
        assert!(report.tag == tag && report.status.errno == 0, "{report:?}");
        begin.elapsed().as_nanos() as f64
    }

    fn begin_down(&mut self) {
        self.rig.driver.on_peer(self.rig.now, nid(VICTIM), false);
    }

    /// One bounded step of the driver, and what it leads to.
    fn serve_down(&mut self, ends: &mut Ends) {
        self.rig.driver.on_time(self.rig.now);
        // The engine gives back what was asked for, some of it after the last byte (S0-16).
        let asked = self.rig.driver.engine_mut(LINK).unwrap().invalidated.len();
        while ends.seen < asked {
            let tag = self.rig.driver.engine_mut(LINK).unwrap().invalidated[ends.seen];
            let done = ends.seen.is_multiple_of(2);
            let returned = if done { Returned::Ok } else { Returned::Untouched };
            ends.seen += 1;
            if self.polls {
                let completion = Completion { tag, returned };
                let report = self.rig.driver.complete(self.rig.now, completion);
                ends.note(&report.expect("a report"));
            } else {
                self.complete(tag, returned);
            }
        }
        while let Some(report) = self.rig.driver.next_report(self.rig.now) {
            ends.note(&report);
        }
    }

    /// Peer down, for a count of instructions: until everything has ended, and nothing beside it.
    fn count(mut self) {
        let (outstanding, mut ends) = (self.tags.len(), Ends::default());
        lnd_measured(&mut || {
            self.begin_down();
            while ends.reported() < outstanding {
                self.serve_down(&mut ends);
            }
        });
        self.check(&ends);
    }

    /// Peer down: until everything has ended.
    fn drain(&mut self) -> Cost {
        let outstanding = self.tags.len();
        let mut alone = Column::default();
        for _ in 0..101 {
            alone.push(self.serve_other());
        }
        let (mut meanwhile, mut drain, mut longest) = (Column::default(), 0.0, 0.0_f64);
        let mut ends = Ends::default();
        let mut begin = clock::spent();
        self.begin_down();
        while ends.reported() < outstanding {
            self.serve_down(&mut ends);
            let spent = (clock::spent() - begin) as f64;
            (drain, longest) = (drain + spent, longest.max(spent));
            meanwhile.push(self.serve_other());
            begin = clock::spent();
        }
        self.check(&ends);
        let (alone, meanwhile) = (alone.median(), meanwhile.median());
        Cost { drain, alone, meanwhile, longest }
    }

    /// Everything was asked back once and has ended once, and nothing is left.
    fn check(&mut self, ends: &Ends) {
        let outstanding = self.tags.len();
        assert_eq!((ends.good, ends.bad), (outstanding.div_ceil(2), outstanding / 2));
        let driver = &mut self.rig.driver;
        let invalidated = driver.counters().value(Counter::Invalidated);
        assert_eq!(invalidated, outstanding as u64, "each descriptor is asked for once");
        assert!(driver.next_report(self.rig.now).is_none());
        assert_eq!((driver.in_use(), driver.audit()), ((0, 0), Ok(())));
        let mut invalidated = std::mem::take(&mut driver.engine_mut(LINK).unwrap().invalidated);
        invalidated.sort_unstable();
        self.tags.sort_unstable();
        assert!(invalidated == self.tags, "other descriptors were asked for than were staged");
    }
}

/// What all rounds have cost, for one number outstanding.
#[derive(Default)]
struct Costs {
    each: Column,
    polled: Column,
    bare: Column,
    alone: Column,
    meanwhile: Column,
    longest: Column,
}

/// One bare sweep over `outstanding`, in nanoseconds each.
fn bare_sweep(outstanding: usize) -> f64 {
    let mut floor = Floor::new(outstanding);
    (0..outstanding as u64).for_each(|user| floor.begin(user));
    let begin = clock::spent();
    assert_eq!(floor.sweep(), outstanding);
    (clock::spent() - begin) as f64 / outstanding as f64
}

fn main() {
    let options = Options::read();
    if let Some(count) = options.count {
        let polls = options.phase.as_deref() == Some("polls");
        return Scene::new(count as usize, polls).count();
    }
    place::pin(place::pair().0);
    let mut costs = OUTSTANDING.map(|_| Costs::default());
    for _ in 0..options.rounds(21, 1) {
        for (&outstanding, costs) in OUTSTANDING.iter().zip(&mut costs) {
            costs.bare.push(bare_sweep(outstanding));
            let cost = Scene::new(outstanding, true).drain();
            costs.polled.push(cost.drain / outstanding as f64);
            let cost = Scene::new(outstanding, false).drain();
            costs.each.push(cost.drain / outstanding as f64);
            costs.alone.push(cost.alone);
            costs.meanwhile.push(cost.meanwhile);
            costs.longest.push(cost.longest / 1000.0);
        }
    }
    let headline = "Peer down: asked back, come back, reported; processor time";
    let table = Table::begin("peerdown", &options, headline);
    for (outstanding, cost) in OUTSTANDING.iter().zip(&costs) {
        let name = |what: &str| format!("{outstanding} outstanding: {what}");
        let ratio = cost.each.over(&costs[0].each);
        table.line(&name("each"), "ns", &cost.each, Some((&ratio, "of 1000 outstanding")));
        table.line(&name("bare sweep"), "ns", &cost.bare, None);
        let ratio = cost.each.over(&cost.bare);
        table.line(&name("beside it"), "ns", &cost.each, Some((&ratio, "of the bare sweep")));
        let ratio = cost.polled.over(&cost.bare);
        table.line(&name("polled"), "ns", &cost.polled, Some((&ratio, "of the bare sweep")));
        table.line(&name("longest round"), "us", &cost.longest, None);
        let ratio = cost.meanwhile.over(&cost.alone);
        table.line(&name("other peer"), "ns", &cost.meanwhile, Some((&ratio, "of it alone")));
    }
}
