// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Requests that are decided while they are offered: received and ended in one call.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{
    Arrival, Inbound, Kind, Receive, Received, RecvError, Reply, RxRequest, Why,
};
use lnd_core::fragment::{Fragment, FragmentError};
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::{Cause, Place, Status};

use super::fabric::BASE;
use super::letter::Letter;
use super::node::{Decision, TAKE};
use super::ports::Mock;
use super::world::{config, World};

use super::short_sent::{announced, both, credits};

/// S3-10: until it is decided nothing is taken: not its number, not its credit, not a slot.
#[test]
fn a_request_that_is_let_go_undecided_is_offered_again() {
    let mut w = World::met();
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let letter = w.letter(0).unwrap();
    let before = (credits(&w), w.count(1, Counter::Requests));
    for _ in 0..3 {
        let (now, message) = (w.now, letter.message());
        let driver = &mut w.node(1).driver;
        let inbound = driver.on_message(now, letter.link, &letter.envelope, &message);
        assert!(matches!(inbound, Inbound::Request(arrival) if arrival.length() == 10));
        assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
        assert_eq!((credits(&w), w.count(1, Counter::Requests)), before);
    }
    w.free("immediate");
    w.settle();
    assert_eq!(w.nodes[1].done.len(), 1, "taken once");
    w.assert_drained();
}

/// S3-8: a short message that is refused at once is received and dropped: its number and its credit
/// count, and the sender does not hear of it.
#[test]
fn a_short_message_that_is_refused_at_once_counts() {
    let mut w = World::met();
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let (now, letter) = (w.now, w.letter(0).unwrap());
    let before = w.count(1, Counter::Requests);
    let message = letter.message();
    let offered = |w: &mut World| {
        let driver = &mut w.node(1).driver;
        match driver.on_message(now, letter.link, &letter.envelope, &message) {
            Inbound::Request(arrival) => arrival.nak(NakReason::NoMatch),
            other => assert!(matches!(other, Inbound::Handled), "{other:?}"),
        }
        (w.nodes[1].driver.in_use(), w.count(1, Counter::Requests) - before)
    };
    assert_eq!(offered(&mut w), ((0, 0), 1));
    assert_eq!(offered(&mut w), ((0, 0), 1), "the second copy is a duplicate");
    assert_eq!(w.count(1, Counter::Duplicate), 1);
}

/// Only the frame bounds what a peer sends inline, not what was announced to it. The length that is
/// offered is that of the payload, and the upper layer decides how much of it goes where.
#[test]
fn a_peer_may_send_more_inline_than_was_announced() {
    let mut w = World::met();
    w.hold("immediate");
    w.put(0, 1, 10).unwrap();
    w.settle();
    let (now, letter) = (w.now, w.letter(0).unwrap());
    // 256 bytes were announced: what the fabric's frames hold here.
    let longer = [7; 300];
    let message = Message::Immediate { header: &[], payload: &longer };
    let sink = [Fragment::new(BASE, 4000)];
    let it = |length| Receive::new(&sink, length, Instant::NEVER);
    let driver = &mut w.node(1).driver;
    match driver.on_message(now, letter.link, &letter.envelope, &message) {
        Inbound::Request(mut arrival) => {
            assert_eq!(arrival.length(), 300);
            assert_eq!(arrival.check_recv(&it(301)), Err(Why::TooLong));
            assert!(matches!(arrival.recv(&it(4)), Ok(Received::Done(Status::OK))));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(w.nodes[1].driver.in_use(), (0, 0));
}

const REQUESTS: [&str; 3] = ["immediate", "put_req", "get_req"];

/// What cannot be carried out is found before anything is taken.
#[test]
fn a_decision_that_cannot_be_carried_out_is_none() {
    let config = Config { lists: 0, ..config() };
    let mut w = World::with(2, config);
    w.put(0, 1, 10).unwrap();
    w.put(1, 0, 10).unwrap();
    w.settle();
    REQUESTS.iter().for_each(|kind| w.hold(kind));
    let whole = [Fragment::new(BASE, 4000)];
    let halves = [Fragment::new(BASE, 2000), Fragment::new(BASE + 2000, 2000)];
    let short = [Fragment::new(BASE, 4)];
    let (nowhere, empty) = ([Fragment::new(3, 10)], [Fragment::new(BASE, 0)]);
    let empty_is = Why::Fragments(FragmentError::Empty);
    // Of an inline message, a PUT and a GET: received by one fragment, by two, and given.
    let (no, wrong) = (Err(Why::NoLists), Err(Why::WrongKind));
    let cases = [
        (Kind::Put, 10, [Ok(()), Ok(()), wrong]),
        (Kind::Put, 3000, [Ok(()), no, wrong]),
        (Kind::Get, 3000, [wrong, wrong, Ok(())]),
    ];
    for (kind, length, [one, two, given]) in cases {
        w.submit(kind, 0, 1, length).unwrap();
        w.settle();
        let letter = w.letter(0).unwrap();
        let now = w.now;
        let deadline = now.after(Span::from_secs(9));
        let before = (w.nodes[1].driver.in_use(), w.count(1, Counter::Requests));
        let offered = |w: &mut World, decide: &dyn Fn(Arrival<'_, '_, '_, Mock>)| {
            let message = letter.message();
            let driver = &mut w.node(1).driver;
            match driver.on_message(now, letter.link, &letter.envelope, &message) {
                Inbound::Request(arrival) => decide(arrival),
                other => panic!("{other:?}"),
            }
            assert_eq!((w.nodes[1].driver.in_use(), w.count(1, Counter::Requests)), before);
        };
        let recv = |sink, length| Receive { sink, length, deadline, user: 1 };
        let give = |source, length| Reply { source, length, deadline, user: 1 };
        let refused = w.count(1, Counter::Refused);
        let get = kind == Kind::Get;
        offered(&mut w, &|mut it| assert_eq!(it.check_recv(&recv(&whole, length)), one));
        offered(&mut w, &|mut it| assert_eq!(it.check_recv(&recv(&halves, length)), two));
        offered(&mut w, &|mut it| assert_eq!(it.check_reply(&give(&whole, length)), given));
        for (memory, why) in [(&nowhere, Why::BadAddress), (&empty, empty_is)] {
            let why = if get { Why::WrongKind } else { why };
            offered(&mut w, &|mut it| assert_eq!(it.check_recv(&recv(memory, 4)), Err(why)));
        }
        for (memory, length) in [(&short, 5), (&whole, length + 1)] {
            let why = if get { Why::WrongKind } else { Why::TooLong };
            offered(&mut w, &|mut it| assert_eq!(it.check_recv(&recv(memory, length)), Err(why)));
        }
        if length > 10 {
            offered(&mut w, &|it| {
                assert_eq!(it.recv_at_once(&recv(&whole, length)), Err(Why::WrongKind));
            });
        }
        let count = [one, two, given].iter().filter(|it| it.is_err()).count() as u64;
        assert_eq!(
            w.count(1, Counter::Refused),
            refused + count + 4 + u64::from(length > 10),
            "each is counted"
        );
        REQUESTS.iter().for_each(|kind| w.free(kind));
        w.settle();
        REQUESTS.iter().for_each(|kind| w.hold(kind));
    }
    REQUESTS.iter().for_each(|kind| w.free(kind));
    w.settle();
    w.assert_drained();
}

/// Each decision gives the credit back, once.
#[test]
fn s3_10_whatever_is_decided_the_credit_comes_back() {
    let shut = Decision::Refuse(NakReason::NoMatch);
    for decision in [TAKE, Decision::UpTo(3), Decision::UpTo(0), shut] {
        let [slot, none] = both(|w| {
            w.node(1).inline = decision;
            for _ in 0..3 * w.config.depth {
                w.put(0, 1, 10).unwrap();
                w.settle();
            }
            let [ours, theirs] = credits(w);
            assert_eq!(ours.sent, theirs.consumed, "{decision:?}");
        });
        assert_eq!(announced(&slot), announced(&none), "{decision:?}");
        assert_eq!(none[0].len(), usize::from(config().depth) * 3, "{decision:?}");
    }
}

#[test]
fn a_buffer_that_cannot_be_written_is_the_receivers_own_fault() {
    let [slot, none] = both(|w| {
        w.hold("immediate");
        w.put(0, 1, 10).unwrap();
        w.settle();
        w.fabric.borrow_mut().memory_fails = true;
        w.free("immediate");
        w.settle();
        w.fabric.borrow_mut().memory_fails = false;
    });
    assert_eq!(announced(&slot), announced(&none));
    assert_eq!(none[1][0].status.errno, -14);
}

#[test]
fn a_payload_that_cannot_be_read_is_the_senders_own_fault() {
    let [slot, none] = both(|w| {
        w.fabric.borrow_mut().memory_fails = true;
        w.put(0, 1, 10).unwrap();
        w.fabric.borrow_mut().memory_fails = false;
    });
    assert_eq!(announced(&slot), announced(&none));
    assert_eq!(none[0][0].status.errno, -14);
}

/// A PUT from node 0 whose message stays in the channel, before node 1.
fn waiting(w: &mut World, message: &'static str, length: u32) -> (Tag, Letter) {
    w.hold(message);
    let put = w.put(0, 1, length).unwrap();
    w.settle();
    (put, w.letter(0).unwrap())
}

/// The PUT is offered and received into a buffer for `room` bytes, which does not do.
fn too_long<'a>(w: &mut World, letter: &'a Letter, room: u32, length: u32) -> RxRequest<'a> {
    let (fragments, _) = w.node(1).buffer(room);
    let (now, message) = (w.now, letter.message());
    let deadline = now.after(Span::from_secs(1));
    let driver = &mut w.node(1).driver;
    let inbound = driver.on_message(now, letter.link, &letter.envelope, &message);
    let Inbound::Request(arrival) = inbound else { panic!("not offered") };
    let it = Receive { sink: &fragments, length, deadline, user: 1 };
    match arrival.recv(&it) {
        Err(RecvError::Refused(rx_request, Why::TooLong)) => rx_request,
        _ => panic!("received"),
    }
}

/// The PUT of 5000 bytes is offered, received at once until `deadline`, and all that follows is
/// done.
fn received(w: &mut World, letter: &Letter, deadline: Instant) -> Tag {
    let (now, message) = (w.now, letter.message());
    let (fragments, chunk) = w.node(1).buffer(5000);
    let driver = &mut w.node(1).driver;
    let inbound = driver.on_message(now, letter.link, &letter.envelope, &message);
    let Inbound::Request(arrival) = inbound else { panic!("not offered") };
    let id = u64::from_le_bytes(arrival.header().try_into().unwrap());
    let it = Receive { sink: &fragments, length: 5000, deadline, user: id };
    let Ok(Received::Pending(tag)) = arrival.recv(&it) else { panic!("it is reported") };
    w.node(1).accept(tag, id, fragments, chunk);
    w.fabric.borrow_mut().wire.clear();
    w.settle();
    tag
}

/// Node 1 has posted nothing, and node 0 has been told that its PUT was refused.
fn assert_refused_unposted(w: &mut World, put: Tag) {
    assert_eq!((0..2).map(|l| w.device(1, l, |d| d.calls.posts)).sum::<usize>(), 0);
    assert_eq!(w.report(0, put).status.evidence.map(|(cause, _)| cause), Some(Cause::Refused));
}

#[test]
fn s1_11_buffers_that_do_not_do_give_the_request_back_kept() {
    for (room, length) in [(0, 10), (16, 11)] {
        let mut w = World::met();
        let (_, letter) = waiting(&mut w, "immediate", 10);
        let rx_request = too_long(&mut w, &letter, room, length);
        let now = w.now;
        let driver = &mut w.node(1).driver;
        assert_eq!((driver.in_use(), rx_request.payload().len()), ((0, 1), 10));
        driver.nak(now, rx_request, NakReason::NoResources);
        assert!(driver.next_report(now).is_none());
        assert_eq!(driver.in_use(), (0, 0));
    }
}

/// The same of one that has to be pulled.
#[test]
fn s1_11_buffers_that_do_not_do_for_a_pull_give_the_request_back_kept() {
    for (room, length) in [(16, 5000), (6000, 5001)] {
        let mut w = World::met();
        let (put, letter) = waiting(&mut w, "put_req", 5000);
        let rx_request = too_long(&mut w, &letter, room, length);
        let now = w.now;
        assert_eq!(w.node(1).driver.in_use(), (0, 1));
        w.fabric.borrow_mut().wire.clear();
        w.node(1).driver.nak(now, rx_request, NakReason::NoResources);
        w.settle();
        assert_refused_unposted(&mut w, put);
        w.assert_drained();
    }
}

#[test]
fn a_large_put_that_is_received_at_once_is_pulled_like_another() {
    let mut w = World::met();
    let (_, letter) = waiting(&mut w, "put_req", 5000);
    let deadline = w.now.after(Span::from_secs(1));
    let tag = received(&mut w, &letter, deadline);
    let report = w.report(1, tag);
    assert_eq!((report.status.errno, report.bytes), (0, 5000));
    w.assert_drained();
}

/// LU-16303: its upper layer is too slow. Nothing of it is posted, and the peer is told.
#[test]
fn lu16303_a_put_that_is_received_too_late_is_not_pulled() {
    let mut w = World::met();
    let (put, letter) = waiting(&mut w, "put_req", 5000);
    let late = w.now;
    let tag = received(&mut w, &letter, late);
    assert_eq!(w.report(1, tag).status.evidence, Some((Cause::Deadline, Place::Queue)));
    assert_refused_unposted(&mut w, put);
    w.sleep(Span::from_secs(31));
    w.assert_drained();
}

/// R66: one that shuts down refuses, and says so; what came whole is dropped.
#[test]
fn a_node_that_shuts_down_is_offered_nothing() {
    let mut w = World::met();
    w.hold("immediate");
    w.hold("get_req");
    w.hold("put_req");
    // Its own, which it waits for.
    w.put(1, 0, 5000).unwrap();
    w.put(0, 1, 10).unwrap();
    let get = w.get(0, 1, 5000).unwrap();
    w.settle();
    let now = w.now;
    w.node(1).driver.shutdown(now, now.after(Span::from_secs(9)));
    w.free("immediate");
    w.free("get_req");
    w.settle();
    assert_eq!(w.said(1, 0, "get_nak"), 1);
    assert_ne!(w.report(0, get).status.errno, 0);
    assert!(w.nodes[1].done.is_empty());
    let [ours, theirs] = credits(&w);
    assert_eq!(ours.sent, theirs.consumed, "both credits are owed");
}

/// A decision that finds no list for its fragments is refused, and may be made again.
#[test]
fn a_decision_without_a_list_is_refused_and_changes_nothing() {
    let mut w = World::met_with(Config { lists: 1, ..config() });
    w.hold("put_req");
    w.put(0, 1, 5000).unwrap();
    w.settle();
    let letter = w.letter(0).unwrap();
    let (now, refused) = (w.now, w.count(1, Counter::Refused));
    let deadline = now.after(Span::from_secs(9));
    let halves = [Fragment::new(BASE, 2500), Fragment::new(BASE + 4096, 2500)];
    let it = Receive { sink: &halves, length: 5000, deadline, user: 1 };
    let message = letter.message();
    let check = |w: &mut World| {
        let driver = &mut w.node(1).driver;
        match driver.on_message(now, letter.link, &letter.envelope, &message) {
            Inbound::Request(mut arrival) => arrival.check_recv(&it),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(check(&mut w), Ok(()));
    w.nodes[1].pieces = 2;
    let staged = w.put(1, 0, 5000).unwrap();
    assert_eq!(check(&mut w), Err(Why::NoLists));
    assert_eq!(w.count(1, Counter::Refused), refused + 1);
    w.free("put_req");
    w.settle();
    assert_eq!(w.report(1, staged).status.errno, 0);
}
