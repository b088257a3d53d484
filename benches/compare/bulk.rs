// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! PUTs and GETs with nothing inside of messages, against the floor of the protocol.
//!
//! * **PUT:** submitted, staged, requested, received, pulled by the partner's engine, completed and
//!   reported at both ends. **GET:** requested, staged by the partner, pulled by our engine, ended
//!   at both ends.
//! * **Floor:** a message of one line, the copy by the partner, and a message back. Nothing is
//!   recorded, claimed or checked. The copy is the engine's.
//! * **Touched:** the sender writes the source before each PUT, and the receiver reads the sink
//!   after it, in both programs.
//! * **Copy:** the floor, touched, by the string instruction against the same by the library.
//! * **Claimed:** the floor with what no engine can leave out, against the floor: the message is as
//!   long as a PUT_REQ; the source has a descriptor in memory of both, which the sender writes, the
//!   partner claims before the copy and settles after it, and the sender takes back.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use lnd_bench::copy::CopyWay;
use lnd_bench::pair::{fragments, mailbox, pair_with, Node};
use lnd_bench::probe::{agree, Patience, Probe, LINE, QUIT};
use lnd_bench::shared::{beside, Arena, Between, PAIR};
use lnd_bench::wire::Window;
use lnd_bench::Options;
use lnd_core::fragment::Fragment;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, Outlet};

use super::Out;

const POLL: u32 = 2;
const POLL_READ: u32 = 3;
const FLOOR: u32 = 4;
const FLOOR_READ: u32 = 5;
const STRINGS_READ: u32 = 6;
const CLAIMED: u32 = 7;

/// Bytes of a PUT_REQ: a short head, the tag, an upper layer's header.
const PUT_REQ: usize = 120;
/// The states of a descriptor's own word, above which its generation lies.
const OWNED: u32 = 1;
const BUSY: u32 = 2;
const DONE: u32 = 3;
const STATES: u32 = 4;

const SIZES: [usize; 4] = [4 << 10, 64 << 10, 1 << 20, 4 << 20];
const WINDOWS: usize = 8;
const LARGEST: usize = 4 << 20;
/// Sources lie in the first half of the window, sinks in the second.
const SINKS: usize = WINDOWS * LARGEST;

/// What the partner is told beside its mode.
#[derive(Default)]
struct Words {
    /// Bytes of each transfer, and how many buffers are used in turn.
    size: CachePadded<AtomicU32>,
    buffers: CachePadded<AtomicU32>,
    /// The descriptors of the sources: one line each, the own word first.
    descriptors: [CachePadded<[AtomicU32; 16]>; WINDOWS],
}

struct Side {
    probe: &'static Probe,
    words: &'static Words,
    window: Window,
    node: Node,
    out: Producer<'static>,
    back: Consumer<'static>,
    /// For messages as long as a PUT_REQ.
    requests: (Producer<'static>, Consumer<'static>),
    /// The processor's fastest string copy, if it has one.
    way: CopyWay,
    /// Changes what is written.
    byte: u8,
}

/// Reads all lines of a buffer.
fn read(window: Window, at: usize, size: usize) {
    let place = window.place(window.address(at), size).unwrap();
    let mut sum = 0_u64;
    for offset in (0..size).step_by(64) {
        // SAFETY: within the buffer.
        let line = unsafe { place.add(offset) };
        // SAFETY: a word of the buffer, which the protocol gives to the reader.
        sum ^= unsafe { line.cast::<u64>().read_unaligned() };
    }
    black_box(sum);
}

impl Side {
    fn partner(&mut self) {
        let mut patience = Patience::default();
        loop {
            patience.look();
            match self.probe.mode() {
                QUIT => return,
                LINE => self.probe.answer(),
                mode @ (POLL | POLL_READ) => self.poll(mode),
                CLAIMED => self.claim_and_copy(),
                mode => self.copy(mode),
            }
        }
    }

    fn turns(&self) -> (usize, usize) {
        let load = |word: &AtomicU32| word.load(Ordering::Relaxed) as usize;
        (load(&self.words.size), load(&self.words.buffers))
    }

    /// The sinks or, of GETs, the sources that the partner uses in turn.
    fn set_buffers(&mut self) {
        let (size, buffers) = self.turns();
        let sink = |n: usize| fragments(self.window.address(SINKS + n * LARGEST), size);
        self.node.set_sinks((0..buffers).map(sink).collect());
    }

    fn poll(&mut self, mode: u32) {
        self.set_buffers();
        let (size, buffers) = self.turns();
        let (mut seen, mut turn) = (self.node.done.1, 0);
        let mut patience = Patience::default();
        while self.probe.mode() == mode {
            patience.look();
            self.node.poll();
            while mode == POLL_READ && seen < self.node.done.1 {
                read(self.window, SINKS + turn % buffers * LARGEST, size);
                (seen, turn) = (seen + 1, turn + 1);
            }
        }
    }

    fn copy(&mut self, mode: u32) {
        let (size, _) = self.turns();
        let mut patience = Patience::default();
        let mut frame = [0; 64];
        while self.probe.mode() == mode {
            patience.look();
            let Some(message) = self.back.recv(&mut frame).unwrap() else { continue };
            let at = usize::from(message[0]) * LARGEST;
            let (from, to) = (self.window.address(at), self.window.address(SINKS + at));
            match mode {
                STRINGS_READ => self.window.copy_by(self.way, from, to, size).unwrap(),
                _ => self.window.copy(from, to, size).unwrap(),
            }
            self.out.send(message).unwrap();
            if mode != FLOOR {
                read(self.window, SINKS + at, size);
            }
        }
    }

    /// The partner's part of a claimed exchange.
    fn claim_and_copy(&mut self) {
        let (size, _) = self.turns();
        let mut patience = Patience::default();
        let mut frame = [0; PUT_REQ];
        while self.probe.mode() == CLAIMED {
            patience.look();
            let Some(message) = self.requests.1.recv(&mut frame).unwrap() else { continue };
            let turn = usize::from(message[0]);
            let [own, content @ ..] = &*self.words.descriptors[turn];
            // Acquire: partner is the Release of `stage`.
            let staged = own.load(Ordering::Acquire);
            assert_eq!(staged % STATES, OWNED, "the sender has staged it");
            let length = content.iter().fold(0, |sum, word| sum ^ word.load(Ordering::Relaxed));
            let order = (Ordering::AcqRel, Ordering::Acquire);
            let busy = staged - OWNED + BUSY;
            own.compare_exchange(staged, busy, order.0, order.1).unwrap();
            let (from, to) = (turn * LARGEST, SINKS + turn * LARGEST);
            let (from, to) = (self.window.address(from), self.window.address(to));
            self.window.copy(from, to, size.min(length as usize)).unwrap();
            own.compare_exchange(busy, staged - OWNED + DONE, order.0, order.1).unwrap();
            self.out.send(message.first_chunk::<16>().unwrap()).unwrap();
        }
    }

    /// The sender's descriptor of a source, and its request.
    fn stage(&mut self, turn: usize, size: usize) {
        let [own, content @ ..] = &*self.words.descriptors[turn];
        // All words are written; together they hold the length.
        for (at, word) in content.iter().enumerate() {
            word.store(if at == 0 { size as u32 } else { 0 }, Ordering::Relaxed);
        }
        let next = own.load(Ordering::Relaxed) / STATES * STATES + STATES;
        // Release: partner is the Acquire in `claim_and_copy`.
        own.store(next | OWNED, Ordering::Release);
        self.requests.0.send(&[turn as u8; PUT_REQ]).unwrap();
    }

    /// Takes back the sources that the partner has settled. Returns how many.
    fn take_back(&mut self) -> u64 {
        let mut frame = [0; 64];
        let Some(message) = self.back.recv(&mut frame).unwrap() else { return 0 };
        let [own, ..] = &*self.words.descriptors[usize::from(message[0])];
        let word = own.load(Ordering::Acquire);
        assert_eq!(word % STATES, DONE, "the partner has settled it");
        own.store(word - DONE, Ordering::Release);
        1
    }

    /// A claimed exchange.
    fn claimed(&mut self, case: &Case, many: u64) -> f64 {
        let Case { size, outstanding, .. } = *case;
        self.begin(CLAIMED, size, outstanding);
        self.transfers(many, outstanding, |side, n| side.stage(n, size), Self::take_back)
    }

    /// Tells the partner what comes, once it has left what was before.
    fn begin(&self, mode: u32, size: usize, buffers: usize) {
        self.probe.one_way(1);
        self.words.size.store(size as u32, Ordering::Relaxed);
        self.words.buffers.store(buffers as u32, Ordering::Relaxed);
        self.probe.set_mode(mode);
    }

    fn write(&mut self, buffer: usize, size: usize) {
        self.byte = self.byte.wrapping_add(1).max(1);
        self.window.fill(self.window.address(buffer * LARGEST), size, self.byte);
    }

    /// Nanoseconds of each of many transfers, so many outstanding at a time.
    fn transfers(
        &mut self,
        many: u64,
        outstanding: usize,
        mut begin: impl FnMut(&mut Self, usize),
        mut ended: impl FnMut(&mut Self) -> u64,
    ) -> f64 {
        let (mut begun, mut done, mut patience) = (0, 0, Patience::default());
        let clock = Instant::now();
        while done < many {
            while begun < many && begun - done < outstanding as u64 {
                begin(self, begun as usize % outstanding);
                begun += 1;
            }
            patience.look();
            done += ended(self);
        }
        clock.elapsed().as_nanos() as f64 / many as f64
    }

    fn whole(&mut self, case: &Case, many: u64) -> f64 {
        let Case { kind, size, outstanding } = *case;
        match kind {
            "copy" => return self.exchange(case, STRINGS_READ, many),
            "claimed" => return self.claimed(case, many),
            _ => {}
        }
        self.begin(if kind == "touched" { POLL_READ } else { POLL }, size, outstanding);
        let buffer = |n: usize| fragments(self.window.address(n * LARGEST), size);
        let buffers: Vec<Vec<Fragment>> = (0..outstanding).map(buffer).collect();
        self.transfers(
            many,
            outstanding,
            |side, n| match kind {
                "get" => side.node.get(&buffers[n]),
                "touched" => {
                    side.write(n, size);
                    side.node.put(&buffers[n]);
                }
                _ => side.node.put(&buffers[n]),
            },
            |side| {
                let before = side.node.done.0;
                side.node.poll();
                side.node.done.0 - before
            },
        )
    }

    fn floor(&mut self, case: &Case, many: u64) -> f64 {
        let mode = match case.kind {
            "touched" | "copy" => FLOOR_READ,
            _ => FLOOR,
        };
        self.exchange(case, mode, many)
    }

    /// A message, a copy and a message.
    fn exchange(&mut self, case: &Case, mode: u32, many: u64) -> f64 {
        let Case { size, outstanding, .. } = *case;
        let touched = mode != FLOOR;
        self.begin(mode, size, outstanding);
        let mut frame = [0; 64];
        self.transfers(
            many,
            outstanding,
            |side, n| {
                if touched {
                    side.write(n, size);
                }
                side.out.send(&[n as u8; 16]).unwrap();
            },
            |side| u64::from(side.back.recv(&mut frame).unwrap().is_some()),
        )
    }
}

/// One row.
struct Case {
    kind: &'static str,
    size: usize,
    outstanding: usize,
}

fn cases() -> Vec<Case> {
    let mut cases = vec![Case { kind: "put", size: SIZES[0], outstanding: 1 }];
    for kind in ["put", "get", "touched", "copy"] {
        cases.extend(SIZES.map(|size| Case { kind, size, outstanding: WINDOWS }));
    }
    cases.extend([1, WINDOWS].map(|outstanding| {
        let (kind, size) = ("claimed", SIZES[0]);
        Case { kind, size, outstanding }
    }));
    cases
}

pub fn run(options: &Options, between: Between) {
    let mut arena = Arena::new(between, 2 * WINDOWS * LARGEST + PAIR);
    let (probe, words) = (arena.value::<Probe>(), arena.value::<Words>());
    let window = arena.window(2 * WINDOWS * LARGEST);
    let [a, b] = pair_with(&mut arena, window, 0);
    let mut small = || mailbox(&mut arena, 64, 64);
    let (there, back) = (small(), small());
    let mut large = || mailbox(&mut arena, 64, PUT_REQ as u32 + 8);
    let (asked, answered) = (large(), large());
    let way = CopyWay::probe();
    let side = |node, out, back, requests| {
        let byte = 1;
        Side { probe, words, window, node, out, back, requests, way, byte }
    };
    let mut here = side(a, there.0, back.1, (asked.0, answered.1));
    let mut there = side(b, back.0, there.1, (answered.0, asked.1));
    probe.set_mode(LINE);
    beside(
        between,
        || there.partner(),
        || {
            for round in 0..options.rounds(11, 1) {
                for case in cases() {
                    measure(&mut here, &case, options, round, between);
                }
            }
            check_bytes(&mut here);
            probe.set_mode(QUIT);
        },
    );
    assert_eq!(here.node.in_use().0, 0, "everything has ended");
}

fn measure(side: &mut Side, case: &Case, options: &Options, round: usize, between: Between) {
    let bytes = options.scale(64 << 20, 1 << 20);
    let many = (bytes / case.size as u64).clamp(2 * WINDOWS as u64, options.scale(4000, 100));
    let before = side.probe.probe();
    // One turn of all buffers before each: both begin with the same memory in the caches.
    side.whole(case, WINDOWS as u64);
    let whole = side.whole(case, many);
    let middle = side.probe.probe();
    side.floor(case, WINDOWS as u64);
    let floor = side.floor(case, many);
    let after = side.probe.probe();
    // What moved in the middle has moved.
    let before = if agree(before, middle) { before } else { middle };
    let out = Out { between: between.name(), round, placement: Some((before, after)) };
    let row = format!("{}-{}-w{}", case.kind, case.size >> 10, case.outstanding);
    out.say(&row, "project", "ns", whole);
    out.say(&row, "floor", "ns", floor);
}

/// The bytes that a PUT and a GET move are the bytes that were there.
fn check_bytes(side: &mut Side) {
    let size = SIZES[1];
    for kind in ["put", "get"] {
        let case = Case { kind, size, outstanding: 2 };
        for n in 0..case.outstanding {
            side.write(n, size);
        }
        let at = |side: &Side, at| side.window.bytes(side.window.address(at), size);
        let (source, sink) = (at(side, 0), at(side, SINKS));
        assert!(source != sink);
        side.whole(&case, 2);
        side.probe.one_way(1);
        let want = if kind == "get" { sink } else { source };
        assert!(at(side, 0) == want && at(side, SINKS) == want, "a {kind} moved other bytes");
    }
}
