// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The next short message of a peer, received by the shortest way (decision 0031). The oracle is
//! [`on_message`](lnd_core::driver::Driver::on_message).

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Inbound, Kind, Why};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId};
use lnd_core::message::{Envelope, Message, NakReason};
use lnd_core::time::{Instant, Span};
use lnd_core::transfer::Status;

use super::fabric::{nid, BASE};
use super::letter::Letter;
use super::node::Order;
use super::world::{config, World};

/// What node 1 says of a letter that is received whole by the shortest way. `None`: it is not
/// taken.
fn received(w: &mut World, letter: &Letter) -> Option<Result<Status, Why>> {
    let (now, message) = (w.now, letter.message());
    let driver = &mut w.node(1).driver;
    let offered = driver.on_immediate(now, letter.link, &letter.envelope, message.payload())?;
    let length = offered.length();
    Some(offered.recv(&[Fragment::new(BASE, length)], length))
}

/// Node 1 refuses a letter by the shortest way.
fn refused(w: &mut World, letter: &Letter) {
    let (now, message) = (w.now, letter.message());
    let driver = &mut w.node(1).driver;
    driver.on_immediate(now, letter.link, &letter.envelope, message.payload()).unwrap().nak();
}

/// Short messages of node 0 that wait in the channel before node 1.
fn sent(w: &mut World, count: usize) -> Vec<Letter> {
    sent_by(w, 0, count)
}

/// Short messages of a node that wait in the channel before the other one.
fn sent_by(w: &mut World, from: usize, count: usize) -> Vec<Letter> {
    w.hold("immediate");
    for _ in 0..count {
        w.put(from, 1 - from, 10).unwrap();
    }
    w.settle();
    let ours = |it: &Letter| it.from == from && matches!(it.message(), Message::Immediate { .. });
    let fabric = w.fabric.borrow();
    fabric.wire.iter().filter(|it| ours(it)).cloned().collect()
}

/// What the driver of node 1 counts of node 0.
fn taken(w: &World) -> (u16, u64, (u32, u32)) {
    let driver = &w.nodes[1].driver;
    let credits = driver.credits_with(w.peer(1, 0).unwrap()).unwrap();
    (credits.consumed, driver.counters().value(Counter::Requests), driver.in_use())
}

/// S0-13, S3-10: each is received once, in its order, without a slot, and its credit is owed.
#[test]
fn inv_1_the_next_message_is_received_once_and_needs_no_slot() {
    let mut w = World::met();
    let letters = sent(&mut w, 3);
    let (consumed, requests, _) = taken(&w);
    let before = w.count(1, Counter::FinalizedOk);
    assert_eq!(received(&mut w, &letters[1]), None, "it is not the next one");
    for (number, letter) in (1..).zip(&letters) {
        assert_eq!(received(&mut w, letter), Some(Ok(Status::OK)));
        assert_eq!(taken(&w), (consumed + number, requests + u64::from(number), (0, 0)));
        assert_eq!(received(&mut w, letter), None, "the second copy");
    }
    let ended = w.count(1, Counter::FinalizedOk) - before;
    assert_eq!((ended, w.count(1, Counter::Duplicate)), (3, 0));
}

/// S3-10: a refused message is taken, its credit returns, and no transfer has ended.
#[test]
fn s3_10_a_message_that_is_refused_is_dropped_once() {
    let mut w = World::met();
    let letters = sent(&mut w, 2);
    let (consumed, requests, _) = taken(&w);
    let ended = w.count(1, Counter::FinalizedOk);
    let now = w.now;
    for (number, letter) in (1..).zip(&letters) {
        let message = letter.message();
        let driver = &mut w.node(1).driver;
        let offer =
            driver.on_immediate(now, letter.link, &letter.envelope, message.payload()).unwrap();
        assert_eq!(offer.from(), nid(0));
        offer.nak();
        assert_eq!(taken(&w), (consumed + number, requests + u64::from(number), (0, 0)));
        assert_eq!(received(&mut w, letter), None, "it is gone");
    }
    assert_eq!(w.count(1, Counter::FinalizedOk), ended);
}

/// INV-11: a host that has passed the payload of an offered message on can end it, whether there is
/// a slot or not.
#[test]
fn inv_11_an_offered_message_is_ended_without_a_slot() {
    let mut w = World::met_with(Config { slots: 8, passive_slots: 3, ..config() });
    let letters = sent(&mut w, 4);
    w.hold("put_req");
    for _ in 0..5 {
        w.put(1, 0, 1000).unwrap();
    }
    let now = w.now;
    let kept = letters.iter().take(3).map(|letter| {
        let message = letter.message();
        let driver = &mut w.node(1).driver;
        match driver.on_message(now, letter.link, &letter.envelope, &message) {
            Inbound::Request(arrival) => arrival.keep().detach(),
            other => panic!("{other:?}"),
        }
    });
    let kept: Vec<_> = kept.collect();
    let (consumed, requests, held) = taken(&w);
    assert_eq!(held, (5, 3));
    let (last, message) = (&letters[3], letters[3].message());
    let driver = &mut w.node(1).driver;
    let offered = driver.on_message(now, last.link, &last.envelope, &message);
    assert!(matches!(offered, Inbound::Wait));
    driver.nak_immediate(last.link, &last.envelope);
    assert_eq!(taken(&w), (consumed + 1, requests + 1, held));
    for it in kept {
        w.node(1).driver.nak(now, it, NakReason::Failed);
    }
    assert_eq!(taken(&w).0, consumed + 4);
}

/// S0-18: so can one whose peer goes down meanwhile. The message has its number all the same: its
/// session is the same when the peer is heard again, and nothing is missing in it.
#[test]
fn s0_18_an_offered_message_is_ended_though_its_sender_is_down() {
    let mut w = World::met();
    let letters = sent(&mut w, 2);
    let (consumed, requests, _) = taken(&w);
    w.notify_peer(1, 0, false);
    w.node(1).driver.nak_immediate(letters[0].link, &letters[0].envelope);
    assert_eq!(taken(&w), (consumed + 1, requests + 1, (0, 0)));
    w.node(1).driver.nak_immediate(letters[0].link, &letters[0].envelope);
    assert_eq!(taken(&w).0, consumed + 1, "the second time it has no number and no credit");
    let (link, next) = (letters[1].link, letters[1].envelope);
    for other in [
        Envelope { session: next.session + 1, ..next },
        Envelope { from_incarnation: Incarnation::from_raw(99).unwrap(), ..next },
        Envelope { from: nid(3), ..next },
    ] {
        w.node(1).driver.nak_immediate(link, &other);
        assert_eq!(taken(&w).0, consumed + 1, "nor has {other:?}");
    }
}

/// S3-10: until it is received nothing has changed, and the usual way takes it.
#[test]
fn a_message_that_is_not_received_at_once_has_changed_nothing() {
    let mut w = World::met();
    let letter = sent(&mut w, 1).remove(0);
    let (before, refused) = (taken(&w), w.count(1, Counter::Refused));
    let (now, message) = (w.now, letter.message());
    let nowhere = [Fragment::new(3, 10)];
    let short = [Fragment::new(BASE, 4), Fragment::new(BASE + 4, 5)];
    let whole = [Fragment::new(BASE, 16)];
    for (sink, length, why) in [
        (&nowhere[..], 10, Why::BadAddress),
        (&short[..], 10, Why::TooLong),
        (&whole[..], 11, Why::TooLong),
    ] {
        let driver = &mut w.node(1).driver;
        let offer = |driver: &mut _| -> Option<Result<Status, Why>> {
            let driver: &mut lnd_core::driver::Driver<'_, super::ports::Mock> = driver;
            let payload = message.payload();
            let offered = driver.on_immediate(now, letter.link, &letter.envelope, payload)?;
            Some(offered.recv(sink, length))
        };
        assert_eq!(offer(driver), Some(Err(why)));
        assert_eq!(taken(&w), before);
    }
    assert_eq!(w.count(1, Counter::Refused), refused + 3);
    let driver = &mut w.node(1).driver;
    let inbound = driver.on_message(now, letter.link, &letter.envelope, &message);
    assert!(matches!(inbound, Inbound::Request(_)));
}

/// S0-13: whatever of the envelope is not what is expected, the usual way decides.
#[test]
fn a_message_that_is_not_the_usual_one_is_not_taken() {
    let mut w = World::met();
    let letter = sent(&mut w, 1).remove(0);
    let before = taken(&w);
    let envelope = letter.envelope;
    let other = Incarnation::from_raw(99).unwrap();
    for changed in [
        Envelope { from: nid(7), ..envelope },
        Envelope { to: nid(0), ..envelope },
        Envelope { from_incarnation: other, ..envelope },
        Envelope { to_incarnation: Some(other), ..envelope },
        Envelope { to_incarnation: None, ..envelope },
        Envelope { session: envelope.session + 1, ..envelope },
        Envelope { sequence: envelope.sequence + 1, ..envelope },
        Envelope { sequence: envelope.sequence - 1, ..envelope },
        Envelope { credits_of: envelope.credits_of + 1, ..envelope },
    ] {
        let mut other = letter.clone();
        other.envelope = changed;
        assert_eq!(received(&mut w, &other), None, "{changed:?}");
    }
    let mut elsewhere = letter.clone();
    elsewhere.link = LinkId::new(7).unwrap();
    assert_eq!(received(&mut w, &elsewhere), None);
    assert_eq!(taken(&w), before);
    w.notify_peer(1, 0, false);
    assert_eq!(received(&mut w, &letter), None, "INV-6: its peer is down");
}

/// R33, INV-12: the count of our requests that comes with it is applied when the message is taken,
/// whatever became of it, and not before. A count that cannot be true is told and adds nothing.
#[test]
fn the_shortest_way_takes_the_peers_count() {
    let left = |w: &World| {
        let it = w.nodes[1].driver.credits_with(w.peer(1, 0).unwrap()).unwrap();
        it.sent - it.returned
    };
    for (memory_fails, is_refused) in [(false, false), (true, false), (false, true)] {
        let mut w = World::met();
        let unheard = sent_by(&mut w, 1, 3);
        assert_eq!((unheard.len(), left(&w)), (3, 3));
        let letter = sent(&mut w, 1).remove(0);
        let counted = |more| {
            let mut letter = letter.clone();
            letter.envelope.credits += more;
            letter
        };
        let heard = counted(2);
        w.fabric.borrow_mut().memory_fails = memory_fails;
        if is_refused {
            refused(&mut w, &heard);
        } else {
            assert!(received(&mut w, &heard).unwrap().is_ok());
        }
        assert_eq!(
            (left(&w), w.count(1, Counter::BadCredits)),
            (1, 0),
            "{memory_fails} {is_refused}"
        );
        w.fabric.borrow_mut().memory_fails = false;

        let mut next = counted(4);
        next.envelope.sequence += 1;
        assert!(received(&mut w, &next).unwrap().is_ok());
        assert_eq!((left(&w), w.count(1, Counter::BadCredits)), (1, 1), "more than was sent");
        let mut late = counted(1);
        late.envelope.sequence += 2;
        assert!(received(&mut w, &late).unwrap().is_ok());
        assert_eq!((left(&w), w.count(1, Counter::BadCredits)), (1, 1), "older than the last");
    }
}

/// R34: what waits for credits is sent by the message that brings them, after the message's own
/// effects.
#[test]
fn the_shortest_way_sends_what_waited_for_credits() {
    let config = Config { depth: 4, ..config() };
    let mut w = World::met_with(config);
    let sent = sent_by(&mut w, 1, 6);
    assert_eq!(sent.len(), 4, "two wait");
    let letter = self::sent(&mut w, 1).remove(0);
    let mut heard = letter.clone();
    heard.envelope.credits += 2;
    assert_eq!(received(&mut w, &heard), Some(Ok(Status::OK)));
    assert_eq!(w.said(1, 0, "immediate"), 6);
}

/// R34: credits that are back end the wait for them: no question is asked at its bound, and none at
/// once by the next request that finds no credit.
#[test]
fn credits_of_the_shortest_way_end_a_stall() {
    for half_bounds in [1, 3] {
        let config = Config { depth: 4, ..config() };
        let mut w = World::met_with(config);
        let half = Span::from_nanos(config.credit_stall.as_nanos() / 2);
        sent_by(&mut w, 1, 4);
        let deadline = w.now.after(Span::from_nanos(half.as_nanos() / 2));
        w.send(1, Order { deadline, ..w.order(Kind::Put, 0, 10) }).unwrap();
        w.sleep(Span::from_nanos(half.as_nanos() * half_bounds));
        let mut heard = sent(&mut w, 1).remove(0);
        heard.envelope.credits += 4;
        assert!(received(&mut w, &heard).unwrap().is_ok());
        w.sleep(config.credit_stall);
        for _ in 0..5 {
            w.put(1, 0, 10).unwrap();
        }
        w.settle();
        assert_eq!((w.said(1, 0, "immediate"), w.count(1, Counter::Resyncs)), (8, 0));
        assert_eq!(w.nodes[1].next, Some(w.now.after(config.credit_stall)), "{half_bounds}");
    }
}

/// R35: after the start of a shutdown no request is accepted.
#[test]
fn a_driver_that_shuts_down_takes_nothing_by_the_shortest_way() {
    let mut w = World::met();
    let letter = sent(&mut w, 1).remove(0);
    let now = w.now;
    w.node(1).driver.shutdown(now, Instant::NEVER);
    assert_eq!(received(&mut w, &letter), None);
}

#[test]
fn a_message_of_the_shortest_way_whose_buffer_cannot_be_written_has_ended() {
    let mut w = World::met();
    let letter = sent(&mut w, 1).remove(0);
    let (consumed, ..) = taken(&w);
    w.fabric.borrow_mut().memory_fails = true;
    let status = received(&mut w, &letter).unwrap().unwrap();
    assert_eq!((status.errno, w.count(1, Counter::FinalizedError)), (-14, 1));
    assert_eq!(taken(&w).0, consumed + 1, "its credit is owed");
}

/// INV-11: half of the credits come back before the sender has spent them all.
#[test]
fn the_shortest_way_returns_credits() {
    let config = Config { depth: 4, ..config() };
    let mut w = World::met_with(config);
    let letters = sent(&mut w, 4);
    for letter in &letters {
        assert_eq!(received(&mut w, letter), Some(Ok(Status::OK)));
    }
    w.fabric.borrow_mut().wire.clear();
    w.free("immediate");
    w.settle();
    let credits = w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap();
    assert!(credits.sent - credits.returned < 2, "{credits:?}");
    w.put(0, 1, 10).unwrap();
}
