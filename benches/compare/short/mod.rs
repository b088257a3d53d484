// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Short messages: the channel alone and whole small PUTs, their latency and their rate, between
//! two sides that poll, and between two that sleep.

mod partner;
mod sleep;
mod stream;
mod trips;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use lnd_bench::least::Least;
use lnd_bench::pair::{fragments, mailbox, pair, Node, HEADER};
use lnd_bench::probe::{Probe, LINE, QUIT};
use lnd_bench::shared::{beside, Arena, Between, PAIR};
use lnd_bench::Options;
use lnd_core::fragment::Fragment;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, Outlet};

use super::Out;
use partner::Streams;
use sleep::wake;
use stream::bytes_of;

/// Bytes of the payloads of whole messages. The last one is the largest that goes inline here.
const PAYLOADS: [usize; 4] = [8, 64, 128, 4096];
/// Bytes of a short head and an upper layer's header: what a frame has beside its payload.
const HEAD: usize = 40 + HEADER.len();
/// Bytes of the messages of bare mailboxes: two that are measured, and the frames of the payloads.
const LENGTHS: [usize; 6] =
    [8, 56, HEAD + PAYLOADS[0], HEAD + PAYLOADS[1], HEAD + PAYLOADS[2], HEAD + PAYLOADS[3]];
/// The first of the lengths that is a frame's.
const FRAMES: usize = 2;
/// Messages that are on their way at most in streams of bare messages.
const SLOTS: u32 = 1024;
/// Whole messages that wait for credits at most. One that waits becomes a transfer, which costs the
/// sender four times as much as one that goes out at once; so the host sends no more meanwhile.
const WAITING: u32 = 1;
/// Bytes of a message of a stream.
const STREAM: usize = 56;

/// What the partner does. An echo or a whole message adds the place of its length.
const ECHO: u32 = 16;
const WHOLE: u32 = 32;
const SLEEP: u32 = 48;
const AWAKE: u32 = 49;
const FUTEX: u32 = 50;
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
        let room = side.node.in_use().0 < WAITING;
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
