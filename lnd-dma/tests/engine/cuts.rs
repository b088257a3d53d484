// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A connection that is stopped, proven stopped, emptied and begun anew again and again while its
//! node pulls from us and we pull from it; another node's transfers go on through all of it, and
//! all end well. Every engine and every driver is in a thread of its own (REG-18, INV-2, INV-3,
//! S0-21).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

use lnd_core::id::{LinkId, Tag};
use lnd_core::link::Connection;
use lnd_core::ports::{Engine, Returned};
use lnd_core::time::Instant;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};

use crate::cycles::{Side, LENGTH, SLOTS};
use crate::harness::{nid, Plant, Random, Shape};

/// Node 0 cuts the connection with node 1, and never that with node 2. Descriptors: what 0 stages
/// to 1, what it stages to 2, what 1 stages to 0.
const TO_CUT: std::ops::Range<u32> = 0..SLOTS;
const TO_OTHER: std::ops::Range<u32> = SLOTS..2 * SLOTS;
const FROM_CUT: std::ops::Range<u32> = 2 * SLOTS..3 * SLOTS;

const CYCLES: u32 = if cfg!(miri) { 2 } else { 60 };

type Ended = BTreeMap<Tag, Option<Returned>>;

/// The short messages to nodes 1 and 2.
enum Note {
    Pull(Tag),
    /// Take back what is still staged, and stage this generation.
    Stage(u32),
}

struct Cutter<'p> {
    side: Side<'p>,
    to: [Sender<Note>; 2],
    staged: Receiver<u32>,
}

impl Cutter<'_> {
    fn cycle(&mut self, generation: u32, wait: usize) {
        let tags = |range: std::ops::Range<u32>| range.map(move |index| Tag { index, generation });
        self.to[0].send(Note::Stage(generation)).unwrap();
        for (node, range) in [(1, TO_CUT), (2, TO_OTHER)] {
            for tag in tags(range) {
                self.side.stage(tag, node);
                self.to[node as usize - 1].send(Note::Pull(tag)).unwrap();
            }
        }
        assert_eq!(self.staged.recv(), Ok(generation));
        tags(FROM_CUT).for_each(|tag| self.side.pull(tag, 1));
        self.until(|side| side.out.len() <= wait + SLOTS as usize);
        self.cut();
        self.until(|side| side.out.is_empty());
    }

    fn until(&mut self, over: impl Fn(&Side<'_>) -> bool) {
        while !over(&self.side) {
            self.side.reap();
            thread::yield_now();
        }
    }

    fn cut(&mut self) {
        let driver = &mut self.side.driver;
        let number = driver.connection(nid(1)).unwrap();
        let connection = Connection { link: LinkId::new(0).unwrap(), peer: nid(1), number };
        driver.stop_connection(connection);
        let proof = loop {
            match driver.connection_quiesced(connection) {
                Some(proof) => break proof,
                None => thread::yield_now(),
            }
        };
        self.side.reap();
        let out: Vec<_> = self.side.out.keys().copied().collect();
        for tag in out.into_iter().filter(|tag| !TO_OTHER.contains(&tag.index)) {
            let returned = self.side.driver.reclaim(tag, &proof);
            assert!(returned.is_some(), "{tag:?}: its own word tells");
            self.side.end(tag, returned);
        }
        self.side.driver.reset(proof);
    }
}

/// Pulls and stages what it is told, and knows nothing of the cuts.
fn peer(mut side: Side<'_>, from: Receiver<Note>, staged: Option<Sender<u32>>) -> Ended {
    let wait = |side: &mut Side<'_>, over: &dyn Fn(&Side<'_>) -> bool| {
        while !over(side) {
            side.reap();
            thread::yield_now();
        }
    };
    while let Ok(note) = from.recv() {
        match note {
            Note::Pull(tag) => {
                wait(&mut side, &|side| !side.out.keys().any(|out| out.index == tag.index));
                side.pull(tag, 0);
            }
            Note::Stage(generation) => {
                let old: Vec<_> = side.out.keys().copied().collect();
                for tag in old.into_iter().filter(|tag| FROM_CUT.contains(&tag.index)) {
                    side.driver.invalidate(tag);
                }
                wait(&mut side, &|side| !side.out.keys().any(|out| FROM_CUT.contains(&out.index)));
                FROM_CUT.for_each(|index| side.stage(Tag { index, generation }, 0));
                staged.as_ref().unwrap().send(generation).unwrap();
            }
        }
    }
    let last: Vec<_> = side.out.keys().copied().collect();
    last.into_iter().for_each(|tag| side.driver.invalidate(tag));
    wait(&mut side, &|side| side.out.is_empty());
    side.ended
}

fn engine(plant: &Plant, me: u32, memory: LinkMemory<'_>, done: &AtomicBool) {
    let settings = plant.shape.settings;
    let link = LinkId::new(0).unwrap();
    let mut engine = SoftEngine::new(me, link, memory, plant.wire(me), NoFaults, settings);
    while !done.load(Ordering::Acquire) {
        engine.step(Instant::ORIGIN, 8);
        thread::yield_now();
    }
}

#[test]
fn cut_under_fire() {
    let settings = Settings { chunk: LENGTH / 4, ..Settings::default() };
    let plant = Plant::new(Shape {
        nodes: 3,
        descriptors: 3 * SLOTS,
        window: (3 * SLOTS * LENGTH) as usize,
        start: u32::MAX - 50,
        settings,
        ..Shape::default()
    });
    let memories = [0, 1, 2].map(|node| plant.format(node, 0));
    memories.iter().for_each(|memory| memory.write(Register::Link, LinkBits::UP.bits()));
    let done = AtomicBool::new(false);
    let (plant, done) = (&plant, &done);
    let [ours, first, second] = thread::scope(|scope| {
        for me in [0, 1, 2] {
            scope.spawn(move || engine(plant, me, memories[me as usize], done));
        }
        let sides = [0, 1, 2].map(|me| Side::new(plant, me, memories[me as usize]));
        let [cutter, first, second] = sides;
        let ((to_first, from), (to_second, other)) = (channel(), channel());
        let (says, staged) = channel();
        let ours = scope.spawn(move || {
            let mut cutter = Cutter { side: cutter, to: [to_first, to_second], staged };
            let mut random = Random(1);
            for cycle in 1..=CYCLES {
                cutter.cycle(cycle, random.below(2 * SLOTS + 1) as usize);
            }
            cutter.side.ended
        });
        let first = scope.spawn(move || peer(first, from, Some(says)));
        let second = scope.spawn(move || peer(second, other, None));
        let ended = [ours, first, second].map(|side| side.join());
        done.store(true, Ordering::Release);
        ended.map(Result::unwrap)
    });
    plant.bus.check();
    assert_eq!(ours.len(), (3 * SLOTS * CYCLES) as usize);
    let mut broken = 0;
    for (tag, returned) in ours {
        let theirs = if TO_OTHER.contains(&tag.index) { &second } else { &first };
        let both = [returned, theirs[&tag]].map(|side| side == Some(Returned::Ok));
        assert_eq!(both[0], both[1], "{tag:?}: {returned:?} and {:?}", theirs[&tag]);
        assert!(both[0] || !TO_OTHER.contains(&tag.index), "{tag:?}: not of the connection");
        broken += u32::from(!both[0]);
    }
    assert!(cfg!(miri) || broken > 0, "no cut has met a transfer");
}
