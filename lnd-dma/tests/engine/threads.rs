// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Real threads: two engines and two drivers, each in a thread of its own. No step waits for time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion, Returned};
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};

use crate::harness::{nid, Access, Numbers, Plant, Random, Shape, WINDOW};

/// Descriptors of each node; the lower half stages, the upper half pulls.
const SLOTS: u32 = if cfg!(miri) { 6 } else { 32 };
const MOST: u32 = if cfg!(miri) { 64 } else { 3000 };
const TRANSFERS: u32 = if cfg!(miri) { 24 } else { 2000 };

/// What the nodes tell each other: the short messages.
enum Note {
    /// A transfer is staged: pull it. Its bytes come from this seed.
    Staged(Tag, u32, u64),
    /// A pull of ours has ended so.
    Ended(Tag, Returned),
}

struct Node<'p> {
    me: u32,
    plant: &'p Plant,
    driver: MmioEngine<'p, LinkMemory<'p>, Numbers>,
    queue: CompletionQueue<'p, LinkMemory<'p>>,
    random: Random,
    to: Sender<Note>,
    from: Receiver<Note>,
    /// Our slots' tags, and the fragments that are out.
    generations: Vec<u32>,
    out: BTreeMap<Tag, Vec<Fragment>>,
    /// Of each pull that is out: the source, the length and the seed.
    pulls: BTreeMap<Tag, (Tag, u32, u64)>,
    /// How each staged transfer ended here, and there.
    here: BTreeMap<Tag, Returned>,
    there: BTreeMap<Tag, Returned>,
    ok: u32,
}

impl<'p> Node<'p> {
    fn free(&self, slots: std::ops::Range<u32>) -> Option<Tag> {
        slots
            .map(|index| Tag { index, generation: self.generations[index as usize] })
            .find(|tag| !self.out.contains_key(tag) && !self.waits_for_the_other_side(*tag))
    }

    fn waits_for_the_other_side(&self, tag: Tag) -> bool {
        self.here.contains_key(&tag) || self.there.contains_key(&tag)
    }

    /// Two fragments in the slot's own part of the window.
    fn fragments(&mut self, tag: Tag, length: u32) -> Vec<Fragment> {
        let base = WINDOW + u64::from(tag.index * MOST);
        let cut = self.random.below(length + 1);
        let pieces = [(0, cut), (cut, length - cut)];
        let pieces = pieces.into_iter().filter(|&(_, length)| length > 0);
        pieces.map(|(at, length)| Fragment::new(base + u64::from(at), length)).collect()
    }

    fn write(&self, fragments: &[Fragment], bytes: &[u8]) {
        let mut bytes = bytes;
        for fragment in fragments {
            let (now, later) = bytes.split_at(fragment.length as usize);
            let payload = &self.plant.bus.node_memories[self.me as usize].payload;
            payload.write((fragment.address - WINDOW) as usize, now);
            bytes = later;
        }
    }

    fn read(&self, fragments: &[Fragment]) -> Vec<u8> {
        let mut all = Vec::new();
        for fragment in fragments {
            let mut bytes = vec![0; fragment.length as usize];
            let payload = &self.plant.bus.node_memories[self.me as usize].payload;
            payload.read((fragment.address - WINDOW) as usize, &mut bytes);
            all.extend(bytes);
        }
        all
    }

    fn post(&mut self, tag: Tag, motion: Motion, fragments: Vec<Fragment>, length: u32) {
        let access = match motion {
            Motion::Stage { .. } => Access::Read { by: 1 - self.me },
            _ => Access::Write,
        };
        self.plant.bus.grant(self.me, &fragments, access);
        let list = Some(tag.index as u16);
        let bd = Bd { tag, motion, length, fragments: &fragments, list };
        self.driver.post(&bd).unwrap();
        self.driver.doorbell();
        self.out.insert(tag, fragments);
        if self.random.below(20) == 0 {
            self.driver.invalidate(tag);
        }
    }

    /// Stages one more transfer, if a slot is free.
    fn stage(&mut self) -> bool {
        let Some(tag) = self.free(0..SLOTS / 2) else { return false };
        let (length, seed) = (self.random.below(MOST), self.random.next());
        let fragments = self.fragments(tag, length);
        self.write(&fragments, &Random(seed).bytes(length as usize));
        self.post(tag, Motion::Stage { to: nid(1 - self.me) }, fragments, length);
        self.to.send(Note::Staged(tag, length, seed)).unwrap();
        true
    }

    fn hear(&mut self, note: Note) {
        match note {
            Note::Staged(source, length, seed) => {
                let sink = self.free(SLOTS / 2..SLOTS).expect("as many as the other side stages");
                let fragments = self.fragments(sink, length);
                self.pulls.insert(sink, (source, length, seed));
                let motion = Motion::Pull { from: nid(1 - self.me), source, key: Key::NONE };
                self.post(sink, motion, fragments, length);
            }
            Note::Ended(source, returned) => {
                self.there.insert(source, returned);
                // Perhaps it was never claimed.
                self.driver.invalidate(source);
                self.match_up(source);
            }
        }
    }

    /// Both sides of one of our staged transfers are known: they agree.
    fn match_up(&mut self, tag: Tag) {
        let (Some(here), Some(there)) = (self.here.get(&tag), self.there.get(&tag)) else { return };
        let agree = here == there || (*here != Returned::Ok && *there != Returned::Ok);
        assert!(agree, "{here:?} here and {there:?} there");
        self.ok += u32::from(*here == Returned::Ok);
        self.here.remove(&tag);
        self.there.remove(&tag);
        self.generations[tag.index as usize] += 1;
    }

    fn reap(&mut self) {
        while let Some(completion) = self.queue.pop() {
            let tag = completion.tag;
            let fragments = self.out.remove(&tag).expect("came back once");
            self.plant.bus.revoke(self.me, &fragments);
            let length: u32 = fragments.iter().map(|f| f.length).sum();
            if let Some((source, length, seed)) = self.pulls.remove(&tag) {
                if completion.returned == Returned::Ok {
                    assert!(self.read(&fragments) == Random(seed).bytes(length as usize));
                }
                self.to.send(Note::Ended(source, completion.returned)).unwrap();
                self.generations[tag.index as usize] += 1;
            } else {
                self.here.insert(tag, completion.returned);
                self.match_up(tag);
            }
            // Ours again: a late access would be seen.
            self.write(&fragments, &vec![0xee; length as usize]);
        }
    }

    /// Stages its share and answers the other side until all of both is done.
    fn run(mut self, done: [&AtomicBool; 2]) -> u32 {
        let mut left = TRANSFERS;
        loop {
            if left > 0 && self.stage() {
                left -= 1;
            }
            while let Ok(note) = self.from.try_recv() {
                self.hear(note);
            }
            self.reap();
            if left == 0 && self.out.is_empty() && self.here.is_empty() && self.there.is_empty() {
                done[self.me as usize].store(true, Ordering::Release);
                if done[1 - self.me as usize].load(Ordering::Acquire) {
                    return self.ok;
                }
            }
            thread::yield_now();
        }
    }
}

pub fn engine(plant: &Plant, me: u32, memory: LinkMemory<'_>, done: [&AtomicBool; 2]) {
    let link = LinkId::new(0).unwrap();
    let settings = Settings { chunk: plant.shape.settings.chunk, ..Settings::default() };
    let mut engine = SoftEngine::new(me, link, memory, plant.wire(me), NoFaults, settings);
    while done.iter().any(|done| !done.load(Ordering::Acquire)) {
        engine.step(Instant::ORIGIN, 8);
        thread::yield_now();
    }
}

#[test]
fn two_engines_and_two_drivers() {
    let settings = Settings { chunk: 1000, ..Settings::default() };
    let plant = Plant::new(Shape {
        descriptors: SLOTS,
        lists: SLOTS,
        window: (SLOTS * MOST) as usize,
        start: u32::MAX - 100,
        settings,
        ..Shape::default()
    });
    let memories = [plant.format(0, 0), plant.format(1, 0)];
    let ((to_a, from_b), (to_b, from_a)) = (channel(), channel());
    let ends = [(0, to_b, from_b), (1, to_a, from_a)];
    let done = [AtomicBool::new(false), AtomicBool::new(false)];
    let done = [&done[0], &done[1]];
    let plant = &plant;
    let ok: Vec<u32> = thread::scope(|scope| {
        let drivers = ends.map(|(me, to, from)| {
            let memory = memories[me as usize];
            memory.write(Register::Link, LinkBits::UP.bits());
            scope.spawn(move || engine(plant, me, memory, done));
            let node = Node {
                me,
                plant,
                driver: MmioEngine::new(LinkId::new(0).unwrap(), memory, memory, Numbers),
                queue: CompletionQueue::new(memory, memory),
                random: Random(u64::from(me) + 1),
                to,
                from,
                generations: vec![1; SLOTS as usize],
                out: BTreeMap::new(),
                pulls: BTreeMap::new(),
                here: BTreeMap::new(),
                there: BTreeMap::new(),
                ok: 0,
            };
            scope.spawn(move || node.run(done))
        });
        drivers.into_iter().map(|driver| driver.join().unwrap()).collect()
    });
    plant.bus.check();
    assert!(ok.iter().all(|&ok| ok > TRANSFERS / 2), "{ok:?} of {TRANSFERS}");
}
