// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a transfer's life costs in locked operations, full fences, allocations and bytes: counted,
//! not timed, so that it holds on every machine.
//!
//! The counts are process wide:
//! `cargo test -p lnd-core --features count-ops --release --test counts -- --test-threads=1`
#![cfg(feature = "count-ops")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "counts/mock.rs"]
mod mock;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use lnd_core::config::Config;
use lnd_core::counters::{Counter, Counters};
use lnd_core::driver::{Inbound, Kind, Receive, Received, Reply, Role, Submitted};
use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::message::{Message, PullReady};
use lnd_core::ports::{Completion, NoTrace, Returned, Sent};
use lnd_core::sync::tally;
use lnd_core::time::Span;
use lnd_core::transfer::Status;

use mock::{Rig, LINK};

/// Counts allocations, of which the core makes none.
struct Counted;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is the system allocator's own.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// What one life has cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    locked: usize,
    fences: usize,
    allocations: usize,
}

const LARGE: [Fragment; 1] = [Fragment::new(0x1000, 65_536)];
const SMALL: [Fragment; 1] = [Fragment::new(0x1000, 512)];

/// A driver alone: no other context has a handle.
fn alone() -> Rig {
    let mut rig = Rig::new(Config::new(64, 4, 1));
    rig.meet(1);
    rig
}

/// A driver whose interrupt has a handle.
fn rig() -> Rig {
    let rig = alone();
    let _ = rig.driver.irq_handle();
    rig
}

/// Runs `incarnation` some times on a met pair; all must cost the same, and none may move the
/// books.
fn cost(incarnation: impl FnMut(&mut Rig, u32)) -> Cost {
    cost_of(rig(), incarnation)
}

fn cost_of(mut rig: Rig, mut incarnation: impl FnMut(&mut Rig, u32)) -> Cost {
    // The first life settles whatever the handshake has left over.
    incarnation(&mut rig, 1);
    let mut costs = Vec::with_capacity(8);
    for round in 2..10 {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        let _ = tally::take();
        incarnation(&mut rig, round);
        let (locked, fences) = tally::take();
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
        costs.push(Cost { locked, fences, allocations });
    }
    assert_eq!(rig.driver.in_use(), (0, 0), "every slot has come back");
    assert!(costs.iter().all(|c| *c == costs[0]), "{costs:?}");
    costs[0]
}

/// The engine's interrupt, and the report that it leads to.
fn completed(rig: &mut Rig, tag: Tag) {
    let completion = Completion { tag, returned: Returned::Ok };
    let mut counters = Counters::new();
    rig.driver.irq_handle().on_completion(rig.now, completion, &mut counters, &mut NoTrace);
    assert_eq!(counters.value(Counter::StaleCompletion), 0);
}

fn reported(rig: &mut Rig, tag: Tag, role: Role) {
    let report = rig.driver.next_report(rig.now).expect("a report");
    assert_eq!((report.tag, report.role, report.status.errno), (tag, role, 0));
    assert!(rig.driver.next_report(rig.now).is_none());
    let now = rig.now;
    rig.driver.on_time(now);
}

/// Gives back the credits of all requests sent so far: the rig's first, and one a round.
fn credits(rig: &mut Rig, round: u32) {
    let envelope = rig.envelope(1, round, round as u16 + 1);
    let _ = rig.driver.on_message(rig.now, LINK, &envelope, &Message::Noop);
}

#[test]
fn a_large_put_costs_at_most_six_locked_operations_and_one_full_fence() {
    let cost = cost(|rig, round| {
        let request = rig.request(Kind::Put, 1, &LARGE);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        completed(rig, tag);
        reported(rig, tag, Role::PutSource);
        credits(rig, round);
    });
    println!("large PUT: {cost:?}");
    assert!(cost.locked <= 6, "{cost:?}");
    assert_eq!((cost.fences, cost.allocations), (1, 0));
}

fn polled_put(rig: &mut Rig, round: u32) {
    rig.driver.channel_mut().ends_at_once = true;
    let request = rig.request(Kind::Put, 1, &LARGE);
    let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
    let completion = Completion { tag, returned: Returned::Ok };
    let report = rig.driver.complete(rig.now, completion).expect("a report");
    assert_eq!((report.tag, report.role, report.status.errno), (tag, Role::PutSource, 0));
    rig.driver.on_time(rig.now);
    credits(rig, round);
}

/// A host that polls: its own thread takes completions, and its channel ends messages at once.
#[test]
fn a_large_put_of_a_polling_host_costs_no_locked_operation() {
    let cost = cost_of(alone(), polled_put);
    println!("large PUT, polling: {cost:?}");
    // No other context has a handle (decision 0037). The report needs no list of what has ended.
    assert_eq!(cost, Cost { locked: 0, fences: 0, allocations: 0 });
}

/// The same once another context may come: the post's end and the descriptor's are exchanges, and
/// the gates need their fence.
#[test]
fn a_handle_makes_every_change_a_locked_operation() {
    let cost = cost(polled_put);
    assert_eq!(cost, Cost { locked: 2, fences: 1, allocations: 0 });
}

#[test]
fn a_small_put_costs_no_more() {
    let cost = cost(|rig, round| {
        let request = rig.request(Kind::Put, 1, &SMALL);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        reported(rig, tag, Role::Immediate);
        credits(rig, round);
    });
    println!("small PUT: {cost:?}");
    assert!(cost.locked <= 6, "{cost:?}");
    assert_eq!((cost.fences, cost.allocations), (1, 0));
}

#[test]
fn a_message_that_ends_at_once_costs_no_locked_operation_and_no_fence() {
    let sent = cost(|rig, round| {
        rig.driver.channel_mut().ends_at_once = true;
        let request = rig.request(Kind::Put, 1, &SMALL);
        let submitted = rig.driver.submit(rig.now, request).unwrap();
        assert_eq!(submitted, Submitted::Done(Status::OK));
        credits(rig, round);
        rig.driver.on_time(rig.now);
    });
    let received = cost(|rig, round| {
        let message = Message::Immediate { header: &[1; 72], payload: &[2; 512] };
        let envelope = rig.envelope(1, round, 1);
        let got = rig.driver.on_message(rig.now, LINK, &envelope, &message);
        let Inbound::Request(arrival) = got else { panic!("{got:?}") };
        let deadline = rig.now.after(Span::from_secs(60));
        let it = Receive { sink: &SMALL, length: 512, deadline, user: 1 };
        assert_eq!(arrival.recv(&it).unwrap(), Received::Done(Status::OK));
        rig.driver.on_time(rig.now);
    });
    let nothing = Cost { locked: 0, fences: 0, allocations: 0 };
    assert_eq!([sent, received], [nothing; 2]);
}

#[test]
fn receiving_a_put_costs_no_more() {
    let cost = cost(|rig, round| {
        let source = Tag { index: 9, generation: round };
        let message = Message::PutReq { header: &[1; 72], source, length: 65_536, key: &[] };
        let envelope = rig.envelope(1, round, 1);
        let got = rig.driver.on_message(rig.now, LINK, &envelope, &message);
        let Inbound::Request(arrival) = got else { panic!("{got:?}") };
        let rx_request = arrival.keep();
        let deadline = rig.now.after(Span::from_secs(60));
        let it = Receive { sink: &LARGE, length: 65_536, deadline, user: 1 };
        let tag = rig.driver.recv(rig.now, rx_request, &it).unwrap();
        rig.driver.ring();
        completed(rig, tag);
        reported(rig, tag, Role::PutSink);
    });
    println!("receive PUT: {cost:?}");
    assert!(cost.locked <= 6, "{cost:?}");
    assert_eq!((cost.fences, cost.allocations), (1, 0));
}

#[test]
fn a_get_costs_one_fence_for_each_post() {
    let cost = cost(|rig, round| {
        let request = rig.request(Kind::Get, 1, &LARGE);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        let source = Tag { index: 9, generation: round };
        let ready = PullReady { sink: tag, source, length: 65_536, key: &[] };
        let envelope = rig.envelope(1, round, round as u16 + 1);
        rig.driver.on_pull_ready(rig.now, LINK, &envelope, &ready);
        rig.driver.ring();
        completed(rig, tag);
        reported(rig, tag, Role::GetPull);
    });
    println!("GET: {cost:?}");
    // Handed out twice: the request, and the pull when the answer has come.
    assert!(cost.locked <= 8, "{cost:?}");
    assert_eq!((cost.fences, cost.allocations), (2, 0));
}

#[test]
fn answering_a_get_costs_no_more_than_a_put() {
    let cost = cost(|rig, round| {
        let sink = Tag { index: 9, generation: round };
        let message = Message::GetReq { header: &[1; 72], sink, length: 65_536, key: &[] };
        let envelope = rig.envelope(1, round, 1);
        let got = rig.driver.on_message(rig.now, LINK, &envelope, &message);
        let Inbound::Request(arrival) = got else { panic!("{got:?}") };
        let rx_request = arrival.keep();
        let deadline = rig.now.after(Span::from_secs(60));
        let it = Reply { source: &LARGE, length: 65_536, deadline, user: 1 };
        let tag = rig.driver.reply(rig.now, rx_request, &it).unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        completed(rig, tag);
        reported(rig, tag, Role::GetSource);
    });
    println!("answer GET: {cost:?}");
    assert!(cost.locked <= 6, "{cost:?}");
    assert_eq!((cost.fences, cost.allocations), (1, 0));
}

/// Reports are taken in batches: ends that come together share the exchange of the list's head.
#[test]
fn ends_that_come_together_share_one_exchange() {
    let mut rig = rig();
    let incarnations = 16;
    let _ = tally::take();
    let mut tags = Vec::with_capacity(incarnations);
    for _ in 0..incarnations {
        let request = rig.request(Kind::Put, 1, &LARGE);
        tags.push(rig.driver.submit(rig.now, request).unwrap().tag().unwrap());
    }
    for &tag in &tags {
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        completed(&mut rig, tag);
    }
    for &tag in &tags {
        assert_eq!(rig.driver.next_report(rig.now).unwrap().tag, tag);
    }
    let (locked, fences) = tally::take();
    println!("16 large PUTs: {locked} locked operations, {fences} fences");
    assert_eq!(fences, incarnations);
    let alone = cost(|rig, round| {
        let request = rig.request(Kind::Put, 1, &LARGE);
        let tag = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
        rig.driver.on_sent(rig.now, tag, Sent::Ok);
        completed(rig, tag);
        reported(rig, tag, Role::PutSource);
        credits(rig, round);
    });
    assert_eq!(locked, incarnations * (alone.locked - 1) + 1);
}

/// Reads of shared words while a PULL_READY is taken in, with a table of `slots`.
fn loads_of_a_pull_ready(slots: u32) -> usize {
    let mut rig = Rig::new(Config::new(slots, 4, 1));
    rig.meet(1);
    let request = rig.request(Kind::Get, 1, &LARGE);
    let sink = rig.driver.submit(rig.now, request).unwrap().tag().unwrap();
    let source = Tag { index: 9, generation: 1 };
    let ready = PullReady { sink, source, length: 65_536, key: &[] };
    let envelope = rig.envelope(1, 1, 1);
    let _ = tally::take_loads();
    rig.driver.on_pull_ready(rig.now, LINK, &envelope, &ready);
    tally::take_loads()
}

#[test]
fn s3_7_a_pull_ready_takes_the_same_work_whatever_the_table() {
    let few = loads_of_a_pull_ready(4);
    assert!((1..100).contains(&few), "{few}");
    assert_eq!(loads_of_a_pull_ready(4096), few, "INV-8: constant time");
}

/// INV-14: what a slot and a peer cost does not depend on how many there are.
#[test]
fn a_slot_and_an_idle_peer_cost_at_most_256_bytes_each() {
    let bytes = |slots, peers| {
        let mut config = Config::new(slots, peers, 1);
        // Lists are a pool of their own, and no slot needs one for a single fragment.
        config.lists = 0;
        config.bytes_needed()
    };
    // A multiple of everything that tables are rounded up to.
    let step = 8192;
    let slot = (bytes(2 * step, step) - bytes(step, step)).div_ceil(step as usize);
    let peer = (bytes(step, 2 * step) - bytes(step, step)).div_ceil(step as usize);
    println!("a slot takes {slot} bytes, a peer {peer}");
    assert!(slot <= 256, "{slot}");
    assert!(peer <= 256, "{peer}");
}

/// The checker bites: an operation more is seen.
#[test]
fn one_locked_operation_more_is_seen() {
    let word = lnd_core::sync::AtomicU32::new(0);
    let _ = tally::take();
    word.fetch_add(1, Ordering::Relaxed);
    lnd_core::sync::fence(Ordering::SeqCst);
    lnd_core::sync::fence(Ordering::Release);
    assert_eq!(tally::take(), (1, 1));
    let _ = tally::take_loads();
    let _ = word.load(Ordering::Relaxed);
    assert_eq!(tally::take_loads(), 1);
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    drop(std::hint::black_box(Box::new(1_u8)));
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 1);
}
