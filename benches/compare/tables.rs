// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a large PUT costs from its submission to its report, by the number outstanding and by the
//! number of peers, and what a deadline costs: the driver alone on one thread, in processor time.

use std::hint::black_box;

use lnd_bench::bare::{Crowd, SortedList, Transfers};
use lnd_bench::floor::Floor;
use lnd_bench::mock::{nid, Rig, LINK};
use lnd_bench::{clock, place, Options};
use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::deadlines::{Deadlines, Timer};
use lnd_core::driver::Kind;
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::Message;
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::sync::prefetch_for_write;
use lnd_core::time::{Instant, Span};

use super::Out;

const PAYLOAD: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];
/// All but one slot of the largest table: one is left to requests of peers.
const MOST: usize = (1 << 20) - 1;
/// Lives that share a credit return and a call of `on_time`.
const BATCH: u32 = 16;
/// Turns that are chosen, and announced to the driver, before the first of them is done.
const AHEAD: usize = 4;

/// Numbers without order.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// A driver with as many PUTs outstanding as there are places, spread over its peers.
pub struct Load {
    rig: Rig,
    /// Our session with each peer, what it has consumed, and the number of its last message.
    peers: Vec<(u32, u16, u32)>,
    tags: Vec<Tag>,
    counters: Counters,
    begun: u32,
    /// Where the next turn in order is.
    cursor: usize,
    /// Each transfer returns its credit by itself: a peer may not be met again for long.
    alone: bool,
    random: Random,
}

impl Load {
    pub fn new(outstanding: usize, peers: usize, alone: bool) -> Self {
        let slots = (outstanding + 64).clamp(1024, MOST + 1) as u32;
        let mut config = Config::new(slots, peers.max(4) as u32, 1);
        (config.passive_slots, config.lists) = (1, 0);
        let mut rig = Rig::new(config);
        let peers = (1..=peers as u64).map(|peer| (rig.meet(peer), 1, 0)).collect();
        let mut load = Self {
            rig,
            peers,
            tags: Vec::with_capacity(outstanding),
            counters: Counters::new(),
            begun: 0,
            cursor: 0,
            alone,
            random: Random(0x9e37_79b9_7f4a_7c15),
        };
        while load.tags.len() < outstanding {
            let tag = load.begin(0);
            load.tags.push(tag);
        }
        load
    }

    /// The peer has consumed everything so far.
    fn credit(&mut self, at: usize) {
        let (session, consumed, number) = &mut self.peers[at];
        *number = number.wrapping_add(1);
        let mut envelope = self.rig.envelope(at as u64 + 1, *number, *consumed);
        envelope.credits_of = *session;
        let _ = self.rig.driver.on_message(self.rig.now, LINK, &envelope, &Message::Noop);
    }

    fn begin(&mut self, at: usize) -> Tag {
        let rig = &mut self.rig;
        let request = rig.request(Kind::Put, at as u64 + 1, &PAYLOAD);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        self.peers[at].1 = self.peers[at].1.wrapping_add(1);
        self.begun = self.begun.wrapping_add(1);
        let due = self.begun.is_multiple_of(BATCH);
        if due || self.alone {
            self.credit(at);
        }
        if due {
            self.rig.now = self.rig.now.after(Span::from_nanos(u64::from(BATCH) * 100));
            self.rig.driver.on_time(self.rig.now);
        }
        tag
    }

    fn end(&mut self, tag: Tag) {
        let rig = &mut self.rig;
        let completion = Completion { tag, returned: Returned::Ok };
        let handle = rig.driver.irq_handle();
        handle.on_completion(rig.now, completion, &mut self.counters, &mut NoTrace);
        let report = rig.driver.next_report(rig.now).unwrap();
        assert!(report.tag == tag && report.status.errno == 0);
    }

    /// Ends the oldest transfer and begins another one.
    pub fn run_one(&mut self) {
        let at = self.begun as usize % self.tags.len();
        self.end(self.tags[at]);
        self.tags[at] = self.begin(0);
    }

    /// Ends and begins a transfer in each of so many places, in the order in which they began or in
    /// none. Returns the nanoseconds of one.
    pub fn run(&mut self, transfers: usize, in_order: bool) -> f64 {
        let begin = clock::spent();
        let mut ahead: [_; AHEAD] = std::array::from_fn(|_| self.announce(in_order));
        for turn in 0..transfers {
            let next = self.announce(in_order);
            let (at, peer) = std::mem::replace(&mut ahead[turn % AHEAD], next);
            self.end(self.tags[at]);
            self.tags[at] = self.begin(peer);
        }
        (clock::spent() - begin) as f64 / transfers as f64
    }

    /// Chooses the place and the peer of a turn to come, and announces both to the driver: a
    /// completion ring and a host's queue show that many ahead.
    fn announce(&mut self, in_order: bool) -> (usize, usize) {
        let places = self.tags.len();
        let at = if in_order { self.cursor } else { self.random.below(places) };
        self.cursor = (self.cursor + 1) % places;
        let peer = match self.peers.len() {
            1 => 0,
            peers => self.random.below(peers),
        };
        if places > 1 {
            self.rig.driver.expect_end(self.tags[at]);
        }
        if self.peers.len() > 1 {
            self.rig.driver.expect_peer(nid(peer as u64 + 1));
            prefetch_for_write(&self.peers[peer]);
        }
        (at, peer)
    }

    /// Ends what is outstanding, of which nothing may be left.
    pub fn finish(mut self) {
        for tag in std::mem::take(&mut self.tags) {
            self.end(tag);
        }
        assert_eq!((self.rig.driver.in_use(), self.rig.driver.audit()), ((0, 0), Ok(())));
    }
}

/// The least that a deadline can cost: a hashed wheel of intrusive lists, without the exact next
/// one.
struct Wheel {
    heads: Vec<u32>,
    /// Neighbours and the bucket of each timer.
    timers: Vec<(u32, u32, u32)>,
}

const NONE: u32 = u32::MAX;
const BUCKETS: usize = 4096;
/// Nanoseconds of a bucket: 16 ms.
const BUCKET: u64 = 16_000_000;

impl Wheel {
    fn new(timers: usize) -> Self {
        Self { heads: vec![NONE; BUCKETS], timers: vec![(NONE, NONE, NONE); timers] }
    }

    #[inline]
    fn arm(&mut self, index: u32, due: u64) {
        let bucket = (due / BUCKET) as usize % BUCKETS;
        let head = std::mem::replace(&mut self.heads[bucket], index);
        if head != NONE {
            self.timers[head as usize].0 = index;
        }
        self.timers[index as usize] = (NONE, head, bucket as u32);
    }

    #[inline]
    fn disarm(&mut self, index: u32) {
        let (before, next, bucket) = self.timers[index as usize];
        if before == NONE {
            self.heads[bucket as usize] = next;
        } else {
            self.timers[before as usize].1 = next;
        }
        if next != NONE {
            self.timers[next as usize].0 = before;
        }
    }
}

/// A minute, which every deadline is away.
const AWAY: u64 = 60_000_000_000;

/// Nanoseconds of a cancel and an arm of one of so many timers.
fn deadlines(timers: usize, many: usize, in_order: bool, mut act: impl FnMut(u32, u64)) -> f64 {
    let mut random = Random(0x1234_5678_9abc_def1);
    let order: Vec<u32> = (0..timers)
        .map(|n| if in_order { n as u32 } else { random.below(timers) as u32 })
        .collect();
    let start = timers as u64 * 1000;
    let mut all = order.iter().copied().cycle().zip(start..);
    all.by_ref().take(timers.min(many)).for_each(|(index, now)| act(index, now));
    let begin = clock::spent();
    all.take(many).for_each(|(index, now)| act(index, now));
    (clock::spent() - begin) as f64 / many as f64
}

fn measure_deadlines(out: &Out, name: &str, timers: usize, many: usize, in_order: bool) {
    let row = format!("deadline-{}-{name}", if in_order { "order" } else { "random" });
    let mut wheel = Wheel::new(timers);
    (0..timers as u32).for_each(|n| wheel.arm(n, u64::from(n) + AWAY));
    let floor = deadlines(timers, many, in_order, |index, now| {
        wheel.disarm(index);
        wheel.arm(index, now + AWAY);
    });
    let mut memory = vec![Timer::UNARMED; timers];
    let mut exact = Deadlines::new(&mut memory);
    let due = |now: u64| Instant::from_nanos(now + AWAY);
    (0..timers as u32).for_each(|n| exact.arm(n, due(u64::from(n))));
    let ours = deadlines(timers, many, in_order, |index, now| {
        exact.disarm(index);
        exact.arm(index, due(now));
        black_box(exact.next());
    });
    let mut list = SortedList::new(timers, false);
    (0..timers as u32).for_each(|n| list.arm(n, u64::from(n) + AWAY));
    let least = deadlines(timers, many, in_order, |index, now| {
        list.disarm(index);
        list.arm(index, now + AWAY);
        black_box(list.next());
    });
    out.say(&row, "floor", "ns", floor);
    out.say(&row, "least", "ns", least);
    out.say(&row, "project", "ns", ours);
}

/// The two orders in which transfers end: the name of the row, and whether it is the one in which
/// they began. Each has tables of its own: at random, lists get an order of their own in memory,
/// which would stay for what is measured in order behind it.
const ORDERS: [(&str, bool); 2] = [("order", true), ("random", false)];

/// Bytes that the driver's tables have of each peer.
fn bytes_of_a_peer() -> usize {
    let needed = |peers| Config::new(1024, peers, 1).bytes_needed();
    let many = 1 << 20;
    (needed(many) - needed(4)).div_ceil(many as usize - 4)
}

/// How many there are of what, by the name of the row.
type Sizes = [(&'static str, usize); 3];

/// What the memory alone costs: tables of transfers and of peers, in pages of both sizes.
struct Bare {
    who: &'static str,
    transfers: Vec<(String, bool, Transfers)>,
    crowds: Vec<(String, Crowd)>,
    random: Random,
    cursor: usize,
}

impl Bare {
    fn new(who: &'static str, huge: bool, outstanding: Sizes, peers: Sizes) -> Self {
        let of = |(order, in_order): (&str, bool)| {
            outstanding.map(|(name, count)| {
                (format!("outstanding-{order}-{name}"), in_order, Transfers::new(count, huge))
            })
        };
        let crowd =
            |(name, count)| (format!("peers-{name}"), Crowd::new(count, bytes_of_a_peer(), huge));
        Self {
            who,
            transfers: ORDERS.into_iter().flat_map(of).collect(),
            crowds: peers.map(crowd).into(),
            random: Random(0x2545_f491_4f6c_dd1d),
            cursor: 0,
        }
    }

    /// Nanoseconds of each turn of all tables; `turns` of at most so many places.
    fn run(&mut self, turns: usize, mut say: impl FnMut(&str, &str, f64)) {
        let Self { who, random, cursor, .. } = self;
        for (row, in_order, transfers) in &mut self.transfers {
            let places = transfers.places();
            let mut at = *cursor % places;
            let each = timed(turns, || {
                at = if *in_order { (at + 1) % places } else { random.below(places) };
                transfers.turn(at);
            });
            say(row, who, each);
        }
        *cursor += turns;
        for (row, crowd) in &mut self.crowds {
            let each = timed(turns, || crowd.turn(random.below(crowd.places())));
            say(row, who, each);
        }
    }
}

/// Nanoseconds of each of many turns.
fn timed(turns: usize, mut turn: impl FnMut()) -> f64 {
    let begin = clock::spent();
    (0..turns).for_each(|_| turn());
    (clock::spent() - begin) as f64 / turns as f64
}

pub fn run(options: &Options) {
    place::pin(place::pair().0);
    let most = options.scale(MOST as u64, 20_000) as usize;
    let transfers = options.scale(200_000, 2000) as usize;
    let outstanding: Sizes = [("1", 1), ("1000", 1000), ("1m", most)];
    let crowded: Sizes =
        [("1", 1), ("1000", 1000), ("1m", options.scale(1_000_000, 5000) as usize)];
    let loads = |_| outstanding.map(|(_, outstanding)| Load::new(outstanding, 1, false));
    let mut loads = ORDERS.map(loads);
    let mut crowds = crowded.map(|(_, peers)| Load::new(1, peers, true));
    let least = [("least", false), ("least, huge pages", true)];
    let mut bare = least.map(|(who, huge)| Bare::new(who, huge, outstanding, crowded));
    let mut floors = outstanding.map(|(_, outstanding)| {
        let mut floor = Floor::new(outstanding);
        (0..outstanding as u64).for_each(|user| floor.begin(user));
        floor
    });
    // Every place is used once before anything is timed.
    for (loads, (_, in_order)) in loads.iter_mut().zip(ORDERS) {
        for (load, (_, places)) in loads.iter_mut().zip(outstanding) {
            load.run(places.max(transfers / 4), in_order);
        }
    }
    crowds.iter_mut().for_each(|load| _ = load.run(transfers, true));
    bare.iter_mut().for_each(|bare| bare.run(most, |_, _, _| ()));
    for round in 0..options.rounds(11, 1) {
        let out = Out { between: "one thread", round, placement: None };
        for (floor, (name, _)) in floors.iter_mut().zip(outstanding) {
            let mut user = 0;
            let each = timed(transfers, || {
                floor.end_oldest();
                floor.begin(user);
                user += 1;
            });
            out.say(&format!("outstanding-order-{name}"), "floor", "ns", each);
        }
        for (loads, (order, in_order)) in loads.iter_mut().zip(ORDERS) {
            for (load, (name, _)) in loads.iter_mut().zip(outstanding) {
                let each = load.run(transfers, in_order);
                out.say(&format!("outstanding-{order}-{name}"), "project", "ns", each);
            }
        }
        for (load, (peers, _)) in crowds.iter_mut().zip(crowded) {
            out.say(&format!("peers-{peers}"), "project", "ns", load.run(transfers, true));
        }
        for bare in &mut bare {
            bare.run(transfers, |row, who, each| out.say(row, who, "ns", each));
        }
        for (name, timers) in [("1000", 1000), ("1m", most)] {
            for in_order in [true, false] {
                measure_deadlines(&out, name, timers, transfers, in_order);
            }
        }
    }
    loads.into_iter().flatten().chain(crowds).for_each(Load::finish);
}
