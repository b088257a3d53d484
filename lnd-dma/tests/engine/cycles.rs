// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A link that is stopped, proven stopped, emptied and reset again and again while another node
//! pulls from it, each in threads of its own (INV-2, INV-3, S0-10 to S0-12, S0-21).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion, Returned};
use lnd_dma::driver::{CompletionQueue, ConnectingEngine, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::Settings;

use crate::harness::{nid, Access, Numbers, Plant, Random, Shape, WINDOW};
use crate::threads::engine;

pub const SLOTS: u32 = if cfg!(miri) { 3 } else { 8 };
pub const LENGTH: u32 = if cfg!(miri) { 64 } else { 4096 };
pub const CYCLES: u32 = if cfg!(miri) { 3 } else { 300 };

/// One node. A transfer has the same tag at both of its ends.
pub struct Side<'p> {
    me: u32,
    plant: &'p Plant,
    pub driver: ConnectingEngine<'p, LinkMemory<'p>, Numbers>,
    queue: CompletionQueue<'p, LinkMemory<'p>>,
    pub out: BTreeMap<Tag, [Fragment; 1]>,
    pub ended: BTreeMap<Tag, Option<Returned>>,
}

impl<'p> Side<'p> {
    pub fn new(plant: &'p Plant, me: u32, memory: LinkMemory<'p>) -> Self {
        let engine = MmioEngine::new(LinkId::new(0).unwrap(), memory, memory, Numbers);
        Self {
            me,
            plant,
            driver: ConnectingEngine::new(engine),
            queue: CompletionQueue::new(memory, memory),
            out: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }

    fn write(&self, index: u32, bytes: &[u8]) {
        self.plant.bus.node_memories[self.me as usize]
            .payload
            .write((index * LENGTH) as usize, bytes);
    }

    fn read(&self, index: u32) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH as usize];
        self.plant.bus.node_memories[self.me as usize]
            .payload
            .read((index * LENGTH) as usize, &mut bytes);
        bytes
    }

    /// Stages what this transfer carries.
    pub fn stage(&mut self, tag: Tag, to: u32) {
        self.write(tag.index, &content(tag));
        self.post(tag, Motion::Stage { to: nid(to) }, Access::Read { by: to });
    }

    /// Pulls it.
    pub fn pull(&mut self, tag: Tag, from: u32) {
        self.post(
            tag,
            Motion::Pull { from: nid(from), source: tag, key: Key::NONE },
            Access::Write,
        );
    }

    fn post(&mut self, tag: Tag, motion: Motion, access: Access) {
        let fragments = [Fragment::new(WINDOW + u64::from(tag.index * LENGTH), LENGTH)];
        self.plant.bus.grant(self.me, &fragments, access);
        let bd = Bd { tag, motion, length: LENGTH, fragments: &fragments, list: None };
        self.driver.post(&bd).unwrap();
        self.driver.doorbell();
        assert!(self.out.insert(tag, fragments).is_none());
    }

    /// The descriptor is the driver's again, and so is its memory, which is overwritten at once.
    pub fn end(&mut self, tag: Tag, returned: Option<Returned>) {
        let fragments = self.out.remove(&tag).expect("returned once");
        self.plant.bus.revoke(self.me, &fragments);
        if returned == Some(Returned::Ok) {
            assert!(self.read(tag.index) == content(tag));
        }
        self.write(tag.index, &[0xee; LENGTH as usize]);
        self.ended.insert(tag, returned);
    }

    pub fn reap(&mut self) {
        while let Some(completion) = self.queue.pop() {
            self.end(completion.tag, Some(completion.returned));
        }
    }

    /// Stages everything, waits for some, stops the link and takes the rest away.
    fn cycle(&mut self, generation: u32, wait: usize, to: &Sender<Tag>) {
        for index in 0..SLOTS {
            let tag = Tag { index, generation };
            self.stage(tag, 1);
            to.send(tag).unwrap();
        }
        while self.out.len() > wait {
            self.reap();
            thread::yield_now();
        }
        self.driver.stop();
        let proof = loop {
            match self.driver.quiesced() {
                Some(proof) => break proof,
                None => thread::yield_now(),
            }
        };
        self.reap();
        for tag in self.out.keys().copied().collect::<Vec<_>>() {
            let returned = self.driver.reclaim(tag, &proof);
            self.end(tag, returned);
        }
        self.driver.reset(proof);
    }
}

/// What a transfer carries.
fn content(tag: Tag) -> Vec<u8> {
    Random(u64::from(tag.generation) << 8 | u64::from(tag.index)).bytes(LENGTH as usize)
}

fn source(
    mut side: Side<'_>,
    to: Sender<Tag>,
    done: &AtomicBool,
) -> BTreeMap<Tag, Option<Returned>> {
    let mut random = Random(1);
    for cycle in 1..=CYCLES {
        side.cycle(cycle, random.below(SLOTS + 1) as usize, &to);
    }
    drop(to);
    done.store(true, Ordering::Release);
    side.ended
}

/// Pulls whatever it is told of, and knows nothing of the stops.
fn sink(
    mut side: Side<'_>,
    from: Receiver<Tag>,
    done: &AtomicBool,
) -> BTreeMap<Tag, Option<Returned>> {
    while let Ok(tag) = from.recv() {
        let busy = |side: &Side<'_>| side.out.keys().any(|out| out.index == tag.index);
        while busy(&side) {
            side.reap();
            thread::yield_now();
        }
        side.pull(tag, 0);
    }
    while !side.out.is_empty() {
        side.reap();
        thread::yield_now();
    }
    done.store(true, Ordering::Release);
    side.ended
}

#[test]
fn stopped_and_reset_under_fire() {
    let settings = Settings { chunk: LENGTH / 4, ..Settings::default() };
    let plant = Plant::new(Shape {
        descriptors: SLOTS,
        window: (SLOTS * LENGTH) as usize,
        settings,
        ..Shape::default()
    });
    let memories = [plant.format(0, 0), plant.format(1, 0)];
    memories.iter().for_each(|memory| memory.write(Register::Link, LinkBits::UP.bits()));
    let done = [AtomicBool::new(false), AtomicBool::new(false)];
    let (plant, done) = (&plant, [&done[0], &done[1]]);
    let (here, there) = thread::scope(|scope| {
        for me in [0, 1] {
            scope.spawn(move || engine(plant, me, memories[me as usize], done));
        }
        let (to, from) = channel();
        let [a, b] = [0, 1].map(|me| Side::new(plant, me, memories[me as usize]));
        let here = scope.spawn(move || source(a, to, done[0]));
        let there = scope.spawn(move || sink(b, from, done[1]));
        (here.join().unwrap(), there.join().unwrap())
    });
    plant.bus.check();
    assert_eq!(here.len(), (SLOTS * CYCLES) as usize);
    assert_eq!(here.len(), there.len());
    for (tag, returned) in here {
        let both = [returned, there[&tag]].map(|side| side == Some(Returned::Ok));
        assert_eq!(both[0], both[1], "{tag:?}: {returned:?} and {:?}", there[&tag]);
    }
}
