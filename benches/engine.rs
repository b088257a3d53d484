// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Pulls between the engines of two threads, without and with core drivers, against the floor of
//! the protocol.
//!
//! * **Pull:** the source stages a descriptor and sends the tag in a mailbox message of one line;
//!   the other thread posts a pull and steps its engine, which copies; both threads take
//!   completions.
//! * **Floor:** the source sends the same message; the other thread copies and answers with a
//!   message. Nothing is recorded, claimed or checked.
//!
//! * **PUT:** the same through two whole drivers, with nothing inside of messages: submitted,
//!   staged, requested, received, pulled, completed and reported.
//!
//! All move the same untouched buffers by the same copy. Each thread steps its own engine inline.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Instant as Clock;

use lnd_bench::pair::{fragments, link_memory, pair_with, Node};
use lnd_bench::probe::{agree, Patience, Probe, LINE, QUIT};
use lnd_bench::shared::Arena;
use lnd_bench::wire::{nid_of, Bus, Numbers, Window};
use lnd_bench::{place, Column, Options, Table};
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::ports::{Bd, Completions, Engine, Motion, Returned};
use lnd_core::time::Instant;
use lnd_dma::driver::{CompletionQueue, MmioEngine};
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{NoFaults, Settings, SoftEngine};
use lnd_shortmsg::mailbox::spsc::{channel, Producer};
use lnd_shortmsg::mailbox::{Consumer, Line, MailboxGeometry, Outlet};

const FLOOR: u32 = 2;
const PULL: u32 = 3;
const PUT: u32 = 4;
const LINK: LinkId = LinkId::new(0).unwrap();
/// Most transfers outstanding.
const WINDOWS: u32 = 8;
const LARGEST: u32 = 64 << 10;
const NOW: Instant = Instant::from_nanos(1);
/// Bytes and transfers outstanding of each line of the table.
const CASES: [(u32, u32); 3] = [(4 << 10, 1), (4 << 10, WINDOWS), (64 << 10, WINDOWS)];

/// One thread's link and mailboxes.
struct End {
    driver: MmioEngine<'static, LinkMemory<'static>, Numbers>,
    queue: CompletionQueue<'static, LinkMemory<'static>>,
    engine: SoftEngine<'static, Bus, NoFaults>,
    out: Producer<'static>,
    back: Consumer<'static>,
    window: Window,
    next: u32,
    ended: u64,
}

/// The two ends of one link.
fn ends(window: Window) -> [End; 2] {
    let mut arena = Arena::small();
    let links = [0, 1].map(|node| link_memory(&mut arena, node));
    let geometry = MailboxGeometry::new(64, 64).unwrap();
    let lines = geometry.bytes_needed() / size_of::<Line>();
    let make = || channel(vec![Line::ZERO; lines].leak(), geometry).unwrap();
    let (there, back) = (make(), make());
    let end = |node: u32, (out, back)| {
        let memory = links[node as usize];
        let bus = Bus { links, window };
        let settings = Settings::default();
        End {
            driver: MmioEngine::new(LINK, memory, memory, Numbers),
            queue: CompletionQueue::new(memory, memory),
            engine: SoftEngine::new(node, LINK, memory, bus, NoFaults, settings),
            out,
            back,
            window,
            next: 0,
            ended: 0,
        }
    };
    let mut ends = [end(0, (there.0, back.1)), end(1, (back.0, there.1))];
    while !ends.iter_mut().all(|end| end.driver.link_up()) {
        ends.iter_mut().for_each(|end| _ = end.engine.step(NOW, 1));
    }
    ends
}

impl End {
    fn source(&self, n: u32) -> u64 {
        self.window.address((n * LARGEST) as usize)
    }

    fn sink(&self, n: u32) -> u64 {
        self.window.address(((WINDOWS + n) * LARGEST) as usize)
    }

    /// Posts one descriptor and rings.
    fn post(&mut self, tag: Tag, motion: Motion, address: u64, length: u32) {
        let fragments = [Fragment::new(address, length)];
        let bd = Bd { tag, motion, length, fragments: &fragments, list: None };
        self.driver.post(&bd).unwrap();
        self.driver.doorbell();
    }

    fn send(&mut self, tag: Tag, length: u32) {
        let words = [tag.index, tag.generation, length].map(u32::to_le_bytes);
        self.out.send(words.as_flattened()).unwrap();
    }

    fn recv(&mut self) -> Option<(Tag, u32)> {
        let mut frame = [0; 64];
        let bytes = self.back.recv(&mut frame).unwrap()?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        Some((Tag { index: word(0), generation: word(4) }, word(8)))
    }

    /// The next tag: slots in turn, each use another generation.
    fn next_tag(&mut self, window: u32) -> Tag {
        let tag = Tag { index: self.next % window, generation: self.next / window + 1 };
        self.next += 1;
        tag
    }

    fn stage(&mut self, window: u32, length: u32) {
        let tag = self.next_tag(window);
        self.post(tag, Motion::Stage { to: nid_of(1) }, self.source(tag.index), length);
        self.send(tag, length);
    }

    /// One round: a request if there is one, the engine, completions.
    fn poll(&mut self) {
        while let Some((tag, length)) = self.recv() {
            let motion = Motion::Pull { from: nid_of(0), source: tag, key: Key::NONE };
            self.post(tag, motion, self.sink(tag.index), length);
        }
        if self.engine.step(NOW, 32).completions > 0 {
            self.queue.acknowledge().unwrap();
            while let Some(completion) = self.queue.pop() {
                assert_eq!(completion.returned, Returned::Ok);
                self.ended += 1;
            }
        }
    }

    /// The partner's side of the floor: copies, and answers.
    fn copy(&mut self) {
        if let Some((tag, length)) = self.recv() {
            let (from, to) = (self.source(tag.index), self.sink(tag.index));
            self.window.copy(from, to, length as usize).unwrap();
            self.send(tag, length);
        }
    }

    /// Nanoseconds of each of many transfers, `window` outstanding.
    fn stream(
        &mut self,
        many: u64,
        window: u32,
        begin: impl Fn(&mut Self),
        end: impl Fn(&mut Self),
    ) -> f64 {
        (self.ended, self.next) = (0, self.next.next_multiple_of(WINDOWS));
        let (mut begun, mut patience) = (0, Patience::default());
        let clock = Clock::now();
        while self.ended < many {
            while begun < many && begun - self.ended < u64::from(window) {
                begin(self);
                begun += 1;
            }
            patience.look();
            end(self);
        }
        clock.elapsed().as_nanos() as f64 / many as f64
    }

    fn pulls(&mut self, many: u64, window: u32, length: u32) -> f64 {
        self.stream(many, window, |end| end.stage(window, length), Self::poll)
    }

    fn floor(&mut self, many: u64, window: u32, length: u32) -> f64 {
        let begin = |end: &mut Self| {
            let tag = end.next_tag(window);
            end.send(tag, length);
        };
        self.stream(many, window, begin, |end| end.ended += u64::from(end.recv().is_some()))
    }
}

/// Nanoseconds of each of many PUTs from `node`, `outstanding` at a time.
fn puts(node: &mut Node, window: Window, many: u64, outstanding: u32, length: u32) -> f64 {
    let payload = |n| fragments(window.address((n * LARGEST) as usize), length as usize);
    let payloads: Vec<_> = (0..outstanding).map(payload).collect();
    let (begun, mut sent, mut patience) = (node.done.0, 0, Patience::default());
    let clock = Clock::now();
    while node.done.0 - begun < many {
        while sent < many && sent - (node.done.0 - begun) < u64::from(outstanding) {
            node.put(&payloads[sent as usize % payloads.len()]);
            sent += 1;
        }
        patience.look();
        node.poll();
    }
    clock.elapsed().as_nanos() as f64 / many as f64
}

fn partner(probe: &Probe, end: &mut End, node: &mut Node) {
    let mut patience = Patience::default();
    loop {
        patience.look();
        match probe.mode() {
            QUIT => return,
            LINE => probe.answer(),
            FLOOR => end.copy(),
            PUT => node.poll(),
            _ => end.poll(),
        }
    }
}

/// Both ends in turn on one thread: for counting instructions.
fn count(many: u64, window: u32, [mut source, mut puller]: [End; 2]) {
    let mut begun = 0;
    while source.ended < many {
        while begun < many && begun - source.ended < u64::from(window) {
            source.stage(window, 64);
            begun += 1;
        }
        puller.poll();
        source.poll();
    }
    assert_eq!(puller.ended, many);
}

fn main() {
    let options = Options::read();
    let window = Window::new((2 * WINDOWS * LARGEST) as usize);
    let both = ends(window);
    if let Some(many) = options.count {
        return count(many, options.outstanding.map_or(WINDOWS, |n| n as u32), both);
    }
    let [mut here, mut there] = both;
    let [mut sender, mut receiver] = pair_with(&mut Arena::small(), window, 0);
    let sink = |n| fragments(window.address(((WINDOWS + n) * LARGEST) as usize), LARGEST as usize);
    receiver.set_sinks((0..WINDOWS).map(sink).collect());
    let places = place::pair();
    let probe = Probe::default();
    probe.set_mode(LINE);
    let mut results = CASES.map(|_| <(Column, Column, Column)>::default());
    let mut dropped = 0;
    let many = options.scale(4000, 200);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            place::pin(places.1);
            partner(&probe, &mut there, &mut receiver);
        });
        place::pin(places.0);
        for _ in 0..options.rounds(201, 2) {
            for (&(length, outstanding), (put, pull, floor)) in CASES.iter().zip(&mut results) {
                let before = probe.probe();
                probe.set_mode(PUT);
                let whole = puts(&mut sender, window, many, outstanding, length);
                probe.one_way(1);
                probe.set_mode(PULL);
                let pulled = here.pulls(many, outstanding, length);
                // The partner has seen that the pulls are over when it has answered.
                probe.one_way(1);
                probe.set_mode(FLOOR);
                let bare = here.floor(many, outstanding, length);
                if agree(before, probe.probe()) {
                    put.push(f64::from(length) / whole);
                    pull.push(f64::from(length) / pulled);
                    floor.push(f64::from(length) / bare);
                } else {
                    dropped += 1;
                }
            }
        }
        probe.set_mode(QUIT);
    });
    let headline = "Pulls between two engines against the floor of the protocol";
    let table = Table::begin("engine", &options, headline);
    for ((length, outstanding), (put, pull, floor)) in CASES.iter().zip(&results) {
        let kib = length >> 10;
        table.line(&format!("{kib} KiB, W={outstanding}: floor"), "GB/s", floor, None);
        for (what, column) in [("pull", pull), ("PUT", put)] {
            let name = format!("{kib} KiB, W={outstanding}: {what}");
            table.line(&name, "GB/s", column, Some((&column.over(floor), "of the floor")));
        }
    }
    println!("  measurements dropped because their probes disagree: {dropped}");
    let bytes = LARGEST as usize;
    for n in 0..WINDOWS {
        let (from, to) = (here.source(n), here.sink(n));
        assert!(window.bytes(from, bytes) == window.bytes(to, bytes), "sink {n} has other bytes");
    }
}
