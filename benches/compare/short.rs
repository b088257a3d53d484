// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages: the channel alone and whole small PUTs, their latency and their rate, between
//! two sides that poll, and between two that sleep.

use std::sync::atomic::{fence, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use lnd_bench::least::Least;
use lnd_bench::pair::{fragments, mailbox, pair, Node, HEADER};
use lnd_bench::probe::{Patience, Probe, LINE, QUIT};
use lnd_bench::shared::{beside, Arena, Between, PAIR};
use lnd_bench::{Column, Options};
use lnd_core::fragment::Fragment;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, Outlet};

use super::Out;

/// Bytes of the payloads of whole messages. The last one is the largest that goes inline here.
const PAYLOADS: [usize; 4] = [8, 64, 128, 4096];
/// Bytes of a short head and an upper layer's header: what a frame has beside its payload.
const HEAD: usize = 40 + HEADER.len();
/// Bytes of the messages of bare mailboxes: two that are measured, and the frames of the payloads.
const LENGTHS: [usize; 6] =
    [8, 56, HEAD + PAYLOADS[0], HEAD + PAYLOADS[1], HEAD + PAYLOADS[2], HEAD + PAYLOADS[3]];
/// The first of the lengths that is a frame's.
const FRAMES: usize = 2;
/// Messages that are on their way at most, in streams of bare messages and of whole ones.
const SLOTS: u32 = 1024;
const OUTSTANDING: u32 = 128;
/// Bytes of a message of a stream.
const STREAM: usize = 56;

/// What the partner does. An echo or a whole message adds the place of its length.
const ECHO: u32 = 16;
const WHOLE: u32 = 32;
const SLEEP: u32 = 48;
const AWAKE: u32 = 49;
const FUTEX: u32 = 50;
/// Nanoseconds for which a side that says it sleeps is left alone before it is woken.
const ASLEEP: u64 = 20_000;
const RECEIVE: u32 = 51;
const TAKE: u32 = 52;
const TAKE_BOTH: u32 = 53;
const QUEUE: u32 = 54;
const QUEUE_BOTH: u32 = 55;
const TAKE_FRAMES: u32 = 56;
/// The least program of a whole message. Adds the place of its length.
const LEAST: u32 = 64;

type Item = [u64; 7];
type Ends = (Producer<'static>, Consumer<'static>);

/// Words of both sides beside the probe.
#[derive(Default)]
struct Words {
    /// How many messages the partner is to take.
    goal: CachePadded<AtomicU32>,
    /// Set by the partner when it has taken them.
    reached: CachePadded<AtomicU32>,
    /// Each side's bell: 1 while the side sleeps.
    asleep: [CachePadded<AtomicU32>; 2],
    /// The bare futex.
    bare: CachePadded<AtomicU32>,
    /// When the partner was last awake again: nanoseconds of the clock of both sides.
    awake_at: CachePadded<AtomicU64>,
    /// Calls of the kernel to wake the other side, of both sides.
    woken: CachePadded<AtomicU32>,
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let time = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is memory of both sides, and no time is given.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, time) };
}

fn sleep_while(word: &AtomicU32, value: u32) {
    futex(word, libc::FUTEX_WAIT, value);
}

fn wake(word: &AtomicU32) {
    futex(word, libc::FUTEX_WAKE, 1);
}

/// One side: a mailbox of each length in both directions, and a node.
struct Side {
    me: usize,
    probe: &'static Probe,
    words: &'static Words,
    boxes: Vec<Ends>,
    node: Node,
    payloads: Vec<Vec<Fragment>>,
    least: Least,
    memory: Memory,
}

/// The memory of the least program: a frame that goes, one that comes, a payload and its sink.
struct Memory {
    out: [u8; 4224],
    back: [u8; 4224],
    payload: [u8; 4096],
    sink: [u8; 4096],
}

/// The far ends of the streams, and a stream of the partner's own.
struct Streams {
    taken: Consumer<'static>,
    own: Ends,
    queue: Option<&'static ArrayQueue<Item>>,
}

fn sides(arena: &mut Arena) -> [Side; 2] {
    let (probe, words) = (arena.value::<Probe>(), arena.value::<Words>());
    let window = arena.window(1 << 17);
    let nodes = pair(arena, window);
    let mut boxes = [Vec::new(), Vec::new()];
    for length in LENGTHS {
        let slot = (length as u32 + 8).next_multiple_of(64);
        let (there, back) = (mailbox(arena, 64, slot), mailbox(arena, 64, slot));
        boxes[0].push((there.0, back.1));
        boxes[1].push((back.0, there.1));
    }
    let mut me = 0;
    let [a, b] = nodes;
    let [first, second] = boxes;
    [(a, first), (b, second)].map(|(mut node, boxes)| {
        let mut place = me * 2 * PAYLOADS.len() * 4096;
        let mut next = |length| {
            place += 4096;
            fragments(window.address(place - 4096), length)
        };
        let payloads = PAYLOADS.iter().map(|&length| next(length)).collect();
        node.set_sinks(vec![next(4096)]);
        me += 1;
        let memory =
            Memory { out: [0; 4224], back: [0; 4224], payload: [0x5a; 4096], sink: [0; 4096] };
        let least = Least::default();
        Side { me: me - 1, probe, words, boxes, node, payloads, least, memory }
    })
}

impl Side {
    /// The partner's echo of bare messages.
    fn echo(&mut self, at: usize) {
        let (out, back) = &mut self.boxes[at];
        let mut frame = [0; 4224];
        if let Some(message) = back.recv(&mut frame).unwrap() {
            out.send(message).unwrap();
        }
    }

    /// Nanoseconds one way of a bare message.
    fn bare(&mut self, at: usize, trips: u32) -> f64 {
        self.probe.set_mode(ECHO + at as u32);
        let (out, back) = &mut self.boxes[at];
        let mut message = [0_u8; 4224];
        message.iter_mut().enumerate().for_each(|(n, byte)| *byte = (n * 131 + 7) as u8);
        let message = &mut message[..LENGTHS[at]];
        let mut frame = [0; 4224];
        timed(trips, |number| {
            message[..4].copy_from_slice(&number.to_le_bytes());
            out.send(message).unwrap();
            let mut patience = Patience::default();
            loop {
                patience.look();
                if let Some(back) = back.recv(&mut frame).unwrap() {
                    assert!(back.len() == message.len() && back[..4] == number.to_le_bytes());
                    return;
                }
            }
        }) / 2.0
    }

    /// Sends a message of the least program.
    fn send_least(&mut self, at: usize) {
        let Memory { out, payload, .. } = &mut self.memory;
        let frame = &mut out[..LENGTHS[FRAMES + at]];
        let name = self.least.begin(frame, &HEADER, &payload[..PAYLOADS[at]]);
        self.boxes[FRAMES + at].0.send(frame).unwrap();
        self.least.end(name);
    }

    /// Receives one. Returns whether there was one.
    fn receive_least(&mut self, at: usize) -> bool {
        let Memory { back, sink, .. } = &mut self.memory;
        let message = self.boxes[FRAMES + at].1.recv(back).unwrap();
        if let Some(message) = &message {
            self.least.receive(message, HEADER.len(), sink);
        }
        message.is_some()
    }

    /// Nanoseconds one way of a message of the least program.
    fn least(&mut self, at: usize, trips: u32) -> f64 {
        // The partner has left the echo, which takes from the same mailbox.
        self.probe.one_way(1);
        self.probe.set_mode(LEAST + at as u32);
        let each = timed(trips, |_| {
            self.send_least(at);
            let mut patience = Patience::default();
            while !self.receive_least(at) {
                patience.look();
            }
        }) / 2.0;
        assert_eq!(self.least.open().0, 0, "everything has ended");
        each
    }

    /// Nanoseconds one way of a whole message.
    fn whole(&mut self, at: usize, trips: u32) -> f64 {
        self.probe.set_mode(WHOLE + at as u32);
        let Self { node, payloads, .. } = self;
        timed(trips, |_| {
            let came = node.done.1;
            node.put(&payloads[at]);
            let mut patience = Patience::default();
            while node.done.1 == came {
                patience.look();
                node.poll_messages();
            }
        }) / 2.0
    }

    /// The partner's answers to whole messages.
    fn answer(&mut self, at: usize, mode: u32) {
        let Self { node, payloads, probe, .. } = self;
        let mut answered = node.done.1;
        let mut patience = Patience::default();
        while probe.mode() == mode {
            patience.look();
            node.poll_messages();
            while answered < node.done.1 {
                answered += 1;
                node.put(&payloads[at]);
            }
        }
    }

    /// Sends the smallest message, and wakes the other side if it sleeps.
    fn put_and_wake(&mut self) {
        self.node.put(&self.payloads[0]);
        let bell = &self.words.asleep[1 - self.me];
        // SeqCst: partner is the fence in `receive_or_sleep`. Either we see the other side asleep,
        // or it sees the message.
        fence(Ordering::SeqCst);
        if bell.load(Ordering::Relaxed) == 1 && bell.swap(0, Ordering::Relaxed) == 1 {
            self.words.woken.fetch_add(1, Ordering::Relaxed);
            wake(bell);
        }
    }

    /// Waits for a message: looks once and then sleeps until it is woken, or looks for ever.
    fn receive_or_sleep(&mut self, mode: u32) {
        let came = self.node.done.1;
        let bell = &self.words.asleep[self.me];
        let mut patience = Patience::default();
        loop {
            loop {
                self.node.poll_messages();
                if self.node.done.1 != came || self.probe.mode() != mode {
                    return;
                }
                if mode == SLEEP {
                    break;
                }
                patience.look();
            }
            bell.store(1, Ordering::Relaxed);
            // SeqCst: partner is the fence in `put_and_wake`.
            fence(Ordering::SeqCst);
            self.node.poll_messages();
            if self.node.done.1 != came || self.probe.mode() != mode {
                bell.store(0, Ordering::Relaxed);
                return;
            }
            sleep_while(bell, 1);
            bell.store(0, Ordering::Relaxed);
        }
    }

    /// Calls of the kernel during whole messages between sides that would wake each other, and are
    /// awake.
    fn awake(&mut self, trips: u32) -> f64 {
        let before = self.words.woken.load(Ordering::Relaxed);
        self.probe.set_mode(AWAKE);
        for _ in 0..trips {
            self.put_and_wake();
            self.receive_or_sleep(AWAKE);
        }
        f64::from(self.words.woken.load(Ordering::Relaxed) - before)
    }

    /// Nanoseconds from `act` here until the partner, which sleeps on `bell`, is awake and has seen
    /// what came: the median.
    fn woken_by(
        &mut self,
        mode: u32,
        times: u32,
        bell: fn(&'static Words) -> &'static AtomicU32,
        act: fn(&mut Self),
    ) -> f64 {
        let words = self.words;
        // The partner has answered on the line, so nothing it left before counts.
        bell(words).store(0, Ordering::SeqCst);
        self.probe.set_mode(mode);
        let mut column = Column::default();
        for _ in 0..times {
            let mut patience = Patience::default();
            while bell(words).load(Ordering::Acquire) != 1 {
                patience.look();
            }
            // It has said so, and needs some time to be. Credits come back meanwhile.
            let asleep = now();
            while now() - asleep < ASLEEP {
                self.node.poll_messages();
            }
            words.awake_at.store(0, Ordering::Relaxed);
            let begin = now();
            act(self);
            loop {
                // Acquire: partner is the Release in `partner`.
                let end = words.awake_at.load(Ordering::Acquire);
                if end != 0 {
                    column.push(end.saturating_sub(begin) as f64);
                    break;
                }
                patience.look();
            }
        }
        self.probe.set_mode(LINE);
        // The partner may sleep, and shall see the new mode.
        bell(words).store(0, Ordering::SeqCst);
        wake(bell(words));
        column.median()
    }

    /// The partner's side of a bare futex: sleeps until it is woken.
    fn sleep_bare(&self) {
        let bell = &self.words.bare;
        bell.store(1, Ordering::SeqCst);
        if self.probe.mode() != FUTEX {
            return;
        }
        while bell.load(Ordering::SeqCst) == 1 {
            sleep_while(bell, 1);
        }
    }

    /// Nanoseconds of each of `many` messages that the partner takes while `send` sends them, which
    /// returns whether there was room.
    fn stream(&mut self, mode: u32, many: u32, mut send: impl FnMut(&mut Self) -> bool) -> f64 {
        self.words.reached.store(0, Ordering::Relaxed);
        self.words.goal.store(many, Ordering::Relaxed);
        self.probe.set_mode(mode);
        let (mut sent, mut patience) = (0, Patience::default());
        let begin = Instant::now();
        // Acquire: partner is the Release in `stream_taken`.
        while self.words.reached.load(Ordering::Acquire) == 0 {
            if sent < many && send(self) {
                sent += 1;
                continue;
            }
            // What waits for credits is sent behind the last one, too.
            if mode == RECEIVE {
                self.node.poll_messages();
            }
            patience.look();
        }
        begin.elapsed().as_nanos() as f64 / f64::from(many)
    }

    /// The partner's side of a stream: `take` returns how many messages it took.
    fn stream_taken(&mut self, mode: u32, mut take: impl FnMut(&mut Self) -> u32) {
        let goal = self.words.goal.load(Ordering::Relaxed);
        let (mut taken, mut patience) = (0, Patience::default());
        while self.probe.mode() == mode {
            let more = take(self);
            if more == 0 {
                patience.look();
                continue;
            }
            taken += more;
            if taken == goal {
                self.words.reached.store(1, Ordering::Release);
            }
        }
    }

    fn partner(&mut self, streams: &mut Streams) {
        let item = [0x5a5a_u64; 7];
        let mut frame = [0; LENGTHS[FRAMES]];
        let mut patience = Patience::default();
        loop {
            match self.probe.mode() {
                QUIT => return,
                LINE => self.probe.answer(),
                mode @ (SLEEP | AWAKE) => {
                    let came = self.node.done.1;
                    self.receive_or_sleep(mode);
                    if self.node.done.1 == came {
                        continue;
                    }
                    if mode == SLEEP {
                        self.words.awake_at.store(now(), Ordering::Release);
                    } else {
                        self.put_and_wake();
                    }
                }
                FUTEX => {
                    self.sleep_bare();
                    self.words.awake_at.store(now(), Ordering::Release);
                }
                RECEIVE => self.stream_taken(RECEIVE, |side| {
                    let came = side.node.done.1;
                    side.node.poll_messages();
                    (side.node.done.1 - came) as u32
                }),
                TAKE => self.stream_taken(TAKE, |_| take(&mut streams.taken, &mut frame)),
                TAKE_BOTH => {
                    let mut left = self.words.goal.load(Ordering::Relaxed) / 2;
                    self.stream_taken(TAKE_BOTH, |_| {
                        let (own, back) = &mut streams.own;
                        if left > 0 && own.send(bytes_of(&item)).is_ok() {
                            left -= 1;
                        }
                        take(&mut streams.taken, &mut frame) + take(back, &mut frame)
                    });
                }
                QUEUE | QUEUE_BOTH => {
                    let mode = self.probe.mode();
                    let queue = streams.queue.expect("between threads");
                    let own = mode == QUEUE_BOTH;
                    let mut left = self.words.goal.load(Ordering::Relaxed) / 2;
                    self.stream_taken(mode, |_| {
                        if own && left > 0 && queue.push(item).is_ok() {
                            left -= 1;
                        }
                        u32::from(queue.pop().is_some_and(|got| got[0] != 0))
                    });
                }
                TAKE_FRAMES => self
                    .stream_taken(TAKE_FRAMES, |side| take(&mut side.boxes[FRAMES].1, &mut frame)),
                mode if mode >= LEAST => {
                    let at = (mode - LEAST) as usize;
                    while self.probe.mode() == mode {
                        patience.look();
                        if self.receive_least(at) {
                            self.send_least(at);
                        }
                    }
                }
                mode if mode >= WHOLE => self.answer((mode - WHOLE) as usize, mode),
                mode => {
                    while self.probe.mode() == mode {
                        patience.look();
                        self.echo((mode - ECHO) as usize);
                    }
                }
            }
        }
    }
}

/// The clock of both sides, in nanoseconds.
fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn take(from: &mut Consumer<'static>, frame: &mut [u8]) -> u32 {
    u32::from(from.recv(frame).unwrap().is_some_and(|message| message[0] != 0))
}

/// The bytes of an item of a queue, which a mailbox sends.
fn bytes_of(item: &Item) -> &[u8] {
    const { assert!(size_of::<Item>() == STREAM) };
    // SAFETY: words are bytes, and the length is theirs.
    unsafe { std::slice::from_raw_parts(item.as_ptr().cast(), STREAM) }
}

/// Nanoseconds of each of many round trips, behind one that is not timed.
fn timed(trips: u32, mut trip: impl FnMut(u32)) -> f64 {
    trip(0);
    let begin = Instant::now();
    (1..=trips).for_each(&mut trip);
    begin.elapsed().as_nanos() as f64 / f64::from(trips)
}

pub fn run(options: &Options, between: Between) {
    let mut arena = Arena::new(between, PAIR * 2);
    let [mut here, mut there] = sides(&mut arena);
    let (mut out, taken) = mailbox(&mut arena, SLOTS, 64);
    let own = mailbox(&mut arena, SLOTS, 64);
    let queue = (between == Between::Threads)
        .then(|| &*Box::leak(Box::new(ArrayQueue::new(SLOTS as usize))));
    let mut streams = Streams { taken, own, queue };
    here.probe.set_mode(LINE);
    let many = Many {
        trips: options.scale(5000, 100) as u32,
        sleeps: options.scale(200, 10) as u32,
        stream: options.scale(200_000, 2000) as u32,
    };
    beside(
        between,
        || there.partner(&mut streams),
        || {
            for round in 0..options.rounds(21, 1) {
                measure(&mut here, &mut out, queue, &many, round, between);
            }
            here.probe.set_mode(QUIT);
        },
    );
    assert_eq!(here.node.in_use().0, 0, "everything sent has ended");
}

/// How often each thing is done.
struct Many {
    trips: u32,
    sleeps: u32,
    stream: u32,
}

fn measure(
    side: &mut Side,
    out: &mut Producer<'static>,
    queue: Option<&'static ArrayQueue<Item>>,
    many: &Many,
    round: usize,
    between: Between,
) {
    let trips = many.trips;
    let before = side.probe.probe();
    let mut said = Vec::new();
    let line = side.probe.one_way(trips);
    for (at, length) in LENGTHS[..FRAMES].iter().enumerate() {
        let row = format!("channel-lat-{length}");
        said.push((row.clone(), "floor", line));
        said.push((row, "project", side.bare(at, trips)));
    }
    for (at, payload) in PAYLOADS.iter().enumerate() {
        let row = if *payload == 4096 { "put-inline".into() } else { "put-lat".to_owned() };
        let row = format!("{row}-{payload}");
        said.push((row.clone(), "floor", side.bare(FRAMES + at, trips)));
        said.push((row.clone(), "least", side.least(at, trips)));
        said.push((row, "project", side.whole(at, trips)));
    }
    // The partner has left the stream before when it answers on the line.
    let item: Item = [0x5a5a; 7];
    let both = many.stream / 2 * 2;
    let one = side.stream(TAKE, many.stream, |_| out.send(bytes_of(&item)).is_ok());
    said.push(("channel-rate-1".into(), "project", one));
    side.probe.one_way(1);
    let mut left = both / 2;
    let mut half = |_: &mut Side| {
        left > 0 && out.send(bytes_of(&item)).is_ok() && {
            left -= 1;
            true
        }
    };
    said.push(("channel-rate-2".into(), "project", side.stream(TAKE_BOTH, both, &mut half)));
    side.probe.one_way(1);
    if let Some(queue) = queue {
        let one = side.stream(QUEUE, many.stream, |_| queue.push(item).is_ok());
        said.push(("channel-rate-1".into(), "ArrayQueue", one));
        side.probe.one_way(1);
        let mut left = both / 2;
        let both = side.stream(QUEUE_BOTH, both, |_| {
            left > 0 && queue.push(item).is_ok() && {
                left -= 1;
                true
            }
        });
        said.push(("channel-rate-2".into(), "ArrayQueue", both));
        side.probe.one_way(1);
    }
    let bytes = [0x5a; LENGTHS[FRAMES]];
    let frames =
        side.stream(TAKE_FRAMES, many.stream, |side| side.boxes[FRAMES].0.send(&bytes).is_ok());
    said.push(("put-rate-8".into(), "floor", frames));
    side.probe.one_way(1);
    let rate = side.stream(RECEIVE, many.stream, |side| {
        side.node.poll_messages();
        let room = side.node.in_use().0 < OUTSTANDING;
        if room {
            side.node.put(&side.payloads[0]);
        }
        room
    });
    said.push(("put-rate-8".into(), "project", rate));
    // What is still to end here ends before the next measurement.
    while side.node.in_use().0 > 0 {
        side.node.poll_messages();
    }
    side.probe.one_way(1);
    let floor = side.woken_by(
        FUTEX,
        many.sleeps,
        |words| &words.bare,
        |side| {
            side.words.bare.store(0, Ordering::SeqCst);
            wake(&side.words.bare);
        },
    );
    said.push(("sleeping".into(), "floor", floor));
    side.probe.one_way(1);
    let whole = side.woken_by(SLEEP, many.sleeps, |words| &words.asleep[1], Side::put_and_wake);
    said.push(("sleeping".into(), "project", whole));
    side.probe.one_way(1);
    said.push(("polling-calls".into(), "project", side.awake(trips)));
    let out = Out { between: between.name(), round, placement: Some((before, side.probe.probe())) };
    for (row, who, value) in said {
        out.say(&row, who, if row == "polling-calls" { "calls" } else { "ns" }, value);
    }
}

/// The placement alone, for what runs outside of this program.
pub fn probe(options: &Options, between: Between) {
    let probe: &Probe = Arena::new(between, 1 << 16).value();
    probe.set_mode(LINE);
    beside(
        between,
        || {
            while probe.mode() != QUIT {
                probe.answer();
            }
        },
        || {
            let found = probe.one_way(options.scale(5000, 500) as u32).min(probe.probe());
            let out = Out { between: between.name(), round: 0, placement: None };
            out.say("placement", "floor", "ns", found);
            probe.set_mode(QUIT);
        },
    );
}
