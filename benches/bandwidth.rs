// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! PUTs with the whole handshake between two threads, against `memcpy` by the receiving thread.
//!
//! The handshake: submit, stage, PUT_REQ through the mailbox, decode, the upper layer's decision,
//! post, pull by the engine in software, completion and report at both ends. Each node is polled by
//! its own thread with its engine stepped inline, so the bytes are copied by the receiving thread.
//!
//! * **W = 1**: the sending thread rewrites the buffer (not timed), then one PUT is timed from its
//!   submission to its report at the sender. Against it: one `memcpy` of a buffer that the sending
//!   thread has just rewritten, timed alone, without any handshake.
//! * **W = 8**: eight PUTs outstanding of eight buffers that are not touched in between. Against
//!   it: `memcpy` of the same eight buffers in turn by the receiving thread, the sender idle.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use lnd_bench::pair::{fragments, pair, Node};
use lnd_bench::probe::{agree, Patience, Probe, LINE, QUIT};
use lnd_bench::shared::Arena;
use lnd_bench::wire::Window;
use lnd_bench::{place, Column, Options, Table};

/// PUTs into one sink, and into eight in turn: the same memory as the copies they are held against.
const POLL_ONE: u32 = 2;
const POLL_ALL: u32 = 3;
const FRESH: u32 = 4;
const STREAM: u32 = 5;

const SIZES: [usize; 4] = [4 << 10, 64 << 10, 1 << 20, 4 << 20];
const WINDOWS: usize = 8;
const LARGEST: usize = 4 << 20;
/// Sources lie in the first half of the window, sinks in the second.
const SINKS: usize = WINDOWS * LARGEST;

/// What the measuring thread asks its partner for, and the answer.
#[derive(Default)]
struct HealthView {
    /// Bytes of each copy, and how many copies: `STREAM`.
    size: AtomicU32,
    copies: AtomicU32,
    /// A number for each copy asked for, and done.
    asked: CachePadded<AtomicU32>,
    done: CachePadded<AtomicU32>,
    nanoseconds: AtomicU64,
}

impl HealthView {
    /// The partner's side: copies when asked, and times the copying alone.
    fn serve(&self, window: Window, copies: u32) {
        let asked = self.asked.load(Ordering::Acquire);
        if asked == self.done.load(Ordering::Relaxed) {
            return;
        }
        let size = self.size.load(Ordering::Relaxed) as usize;
        let begin = Instant::now();
        for copy in 0..copies as usize {
            let at = copy % WINDOWS * LARGEST;
            window.copy(window.address(at), window.address(SINKS + at), size).unwrap();
        }
        let passed = begin.elapsed().as_nanos() as u64;
        self.nanoseconds.store(passed, Ordering::Relaxed);
        // Release: the measuring thread reads the time after this.
        self.done.store(asked, Ordering::Release);
    }

    /// The measuring side: has the partner copy; nanoseconds in all.
    fn ask(&self) -> u64 {
        let number = self.asked.load(Ordering::Relaxed).wrapping_add(1);
        self.asked.store(number, Ordering::Release);
        let mut patience = Patience::default();
        while self.done.load(Ordering::Acquire) != number {
            patience.look();
        }
        self.nanoseconds.load(Ordering::Relaxed)
    }
}

fn partner(probe: &Probe, health_view: &HealthView, node: &mut Node, window: Window) {
    let sink = |n: usize| fragments(window.address(SINKS + n * LARGEST), LARGEST);
    let poll = |node: &mut Node, mode, sinks| {
        node.set_sinks((0..sinks).map(sink).collect());
        let mut patience = Patience::default();
        while probe.mode() == mode {
            patience.look();
            node.poll();
        }
    };
    let mut patience = Patience::default();
    loop {
        patience.look();
        match probe.mode() {
            QUIT => return,
            LINE => probe.answer(),
            POLL_ONE => poll(node, POLL_ONE, 1),
            POLL_ALL => poll(node, POLL_ALL, WINDOWS),
            FRESH => health_view.serve(window, 1),
            _ => health_view.serve(window, health_view.copies.load(Ordering::Relaxed)),
        }
    }
}

/// The measuring thread's things.
struct Bench<'b> {
    probe: &'b Probe,
    health_view: &'b HealthView,
    node: Node,
    window: Window,
    byte: u8,
}

impl Bench<'_> {
    fn rewrite(&mut self, size: usize) {
        // Never zero: some processors and hypervisors treat zeros apart.
        self.byte = self.byte.wrapping_add(1).max(1);
        self.window.fill(self.window.address(0), size, self.byte);
    }

    /// Nanoseconds of one fresh `memcpy`: the median of some.
    fn fresh_copy(&mut self, size: usize, times: u64) -> f64 {
        self.probe.set_mode(FRESH);
        self.health_view.size.store(size as u32, Ordering::Relaxed);
        let mut column = Column::default();
        for _ in 0..times {
            self.rewrite(size);
            column.push(self.health_view.ask() as f64);
        }
        column.median()
    }

    /// Nanoseconds of one fresh PUT: the median of some.
    fn fresh_put(&mut self, size: usize, times: u64) -> f64 {
        self.probe.set_mode(POLL_ONE);
        let payload = fragments(self.window.address(0), size);
        let mut column = Column::default();
        for _ in 0..times {
            self.rewrite(size);
            let before = self.node.done.0;
            let begin = Instant::now();
            self.node.put(&payload);
            let mut patience = Patience::default();
            while self.node.done.0 == before {
                patience.look();
                self.node.poll();
            }
            column.push(begin.elapsed().as_nanos() as f64);
        }
        column.median()
    }

    /// Nanoseconds of each of many copies of the eight buffers in turn.
    fn stream_copy(&mut self, size: usize, copies: u64) -> f64 {
        self.probe.set_mode(STREAM);
        self.health_view.size.store(size as u32, Ordering::Relaxed);
        self.health_view.copies.store(copies as u32, Ordering::Relaxed);
        self.health_view.ask() as f64 / copies as f64
    }

    /// Nanoseconds of each of many PUTs, eight outstanding.
    fn stream_put(&mut self, size: usize, puts: u64) -> f64 {
        self.probe.set_mode(POLL_ALL);
        let payloads: Vec<_> =
            (0..WINDOWS).map(|n| fragments(self.window.address(n * LARGEST), size)).collect();
        let begun = self.node.done.0;
        let mut sent = 0;
        let begin = Instant::now();
        let mut patience = Patience::default();
        while self.node.done.0 - begun < puts {
            while sent < puts && sent - (self.node.done.0 - begun) < WINDOWS as u64 {
                self.node.put(&payloads[sent as usize % WINDOWS]);
                sent += 1;
            }
            patience.look();
            self.node.poll();
        }
        begin.elapsed().as_nanos() as f64 / puts as f64
    }
}

/// One size's results: each PUT, and the copy of the same round.
#[derive(Default)]
struct Result {
    fresh: (Column, Column),
    stream: (Column, Column),
    dropped: usize,
}

fn measure(bench: &mut Bench<'_>, size: usize, options: &Options, result: &mut Result) {
    let bytes = options.scale(16 << 20, 2 << 20);
    let times = (bytes / size as u64).clamp(3, 100);
    let many = (2 * bytes / size as u64).clamp(16, 2000);
    let before = bench.probe.probe();
    let fresh = (bench.fresh_put(size, times), bench.fresh_copy(size, times));
    let middle = bench.probe.probe();
    // One copy of everything before each: both begin with the same memory in the caches.
    let all = WINDOWS as u64;
    bench.stream_copy(size, all);
    let put = bench.stream_put(size, many);
    bench.stream_copy(size, all);
    let stream = (put, bench.stream_copy(size, many));
    let after = bench.probe.probe();
    let rate = |nanoseconds: f64| size as f64 / nanoseconds;
    if agree(before, middle) {
        result.fresh.0.push(rate(fresh.0));
        result.fresh.1.push(rate(fresh.1));
    } else {
        result.dropped += 1;
    }
    if agree(middle, after) {
        result.stream.0.push(rate(stream.0));
        result.stream.1.push(rate(stream.1));
    } else {
        result.dropped += 1;
    }
}

fn main() {
    let options = Options::read();
    let (here, there) = place::pair();
    let window = Window::new(2 * WINDOWS * LARGEST);
    let [a, mut b] = pair(&mut Arena::small(), window);
    let (probe, health_view) = (Probe::default(), HealthView::default());
    probe.set_mode(LINE);
    let mut results = SIZES.map(|_| Result::default());
    let mut bench = Bench { probe: &probe, health_view: &health_view, node: a, window, byte: 1 };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            place::pin(there);
            partner(&probe, &health_view, &mut b, window);
        });
        place::pin(here);
        for _ in 0..options.rounds(101, 2) {
            for (&size, result) in SIZES.iter().zip(&mut results) {
                measure(&mut bench, size, &options, result);
            }
        }
        check_bytes(&mut bench, &probe);
        probe.set_mode(QUIT);
    });
    let table = Table::begin("bandwidth", &options, "PUT against memcpy by the receiving thread");
    for (size, result) in SIZES.iter().zip(&results) {
        let kib = size >> 10;
        for (name, (put, copy)) in
            [("W=1, rewritten", &result.fresh), ("W=8, untouched", &result.stream)]
        {
            table.line(&format!("{kib} KiB, {name}: memcpy"), "GB/s", copy, None);
            let ratio = put.over(copy);
            let name = format!("{kib} KiB, {name}: PUT");
            table.line(&name, "GB/s", put, Some((&ratio, "of memcpy")));
        }
    }
    let dropped: usize = results.iter().map(|r| r.dropped).sum();
    println!("  measurements dropped because their probes disagree: {dropped}");
    assert_eq!((bench.node.in_use().0, b.in_use().1), (0, 0), "everything has ended");
}

/// The bytes that a PUT moves are the bytes that were there.
fn check_bytes(bench: &mut Bench<'_>, probe: &Probe) {
    // The receiver takes its sinks in turn: eight PUTs of the same bytes reach every sink.
    let size = SIZES[1];
    bench.rewrite(size);
    let want = bench.window.bytes(bench.window.address(0), size);
    probe.set_mode(POLL_ALL);
    let payload = fragments(bench.window.address(0), size);
    for _ in 0..WINDOWS {
        let before = bench.node.done.0;
        bench.node.put(&payload);
        while bench.node.done.0 == before {
            bench.node.poll();
        }
    }
    for sink in 0..WINDOWS {
        let got = bench.window.bytes(bench.window.address(SINKS + sink * LARGEST), size);
        assert!(got == want, "sink {sink} has other bytes");
    }
}
