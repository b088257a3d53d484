// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A peer that goes down with many transfers outstanding, while another peer is being served.
//!
//! Ports that record: what is timed is the driver. Each descriptor comes back as soon as it was
//! asked for, alternately untouched and done. After each call of `on_time`, whose work is bounded,
//! one PUT to the other peer goes through its whole life.

use std::time::Instant;

use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Kind, Report};
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::Message;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};

use crate::mock::{nid, Rig, LINK};
use crate::{clock, Column};

/// Lives of the other peer's PUT before the peer-down.
const ALONE: usize = 1001;
const VICTIM: u64 = 1;
const OTHER: u64 = 2;
const PAYLOAD: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];

/// What one peer-down has cost, in nanoseconds.
#[derive(Debug)]
pub struct Cost {
    /// All calls that served the peer-down.
    pub drain: f64,
    /// Lives of the other peer's PUT when nothing else is going on.
    pub alone: Column,
    /// The same between the calls that serve the peer-down.
    pub meanwhile: Column,
    /// The longest that the other peer had to wait between two of its lives.
    pub longest: f64,
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
pub struct Scene {
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
    /// So many PUTs outstanding; `polls`: the host's own thread takes completions.
    pub fn new(outstanding: usize, polls: bool) -> Self {
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
        let report = if self.polls {
            // Such a host takes no handle, so its driver stays alone (decision 0037).
            let completion = Completion { tag, returned: Returned::Ok };
            self.rig.driver.complete(self.rig.now, completion).unwrap()
        } else {
            self.complete(tag, Returned::Ok);
            self.rig.driver.next_report(self.rig.now).unwrap()
        };
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
    pub fn count(mut self) {
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
    pub fn drain(&mut self) -> Cost {
        let outstanding = self.tags.len();
        let mut alone = Column::default();
        for _ in 0..ALONE {
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
