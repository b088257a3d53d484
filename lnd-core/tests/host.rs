// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What the library does for hosts: waiting messages, rounds, the time of the next one.
#![allow(clippy::unwrap_used, clippy::panic)]

mod pair;

use lnd_core::prelude::*;

use pair::{nid, World, LINK, MS};

/// What a host does that receives everything at once, at the start of its memory.
fn receive<P: Ports>(arrival: Arrival<'_, '_, '_, P>) -> bool {
    let sink = [Fragment::new(0, arrival.length())];
    let it = Receive::new(&sink, arrival.length(), Instant::NEVER);
    arrival.recv(&it).is_ok()
}

#[test]
fn a_message_travels_inline_where_there_is_no_engine() {
    let mut w = World::new(4, |_| ());
    w.put(64, Instant::NEVER);
    for _ in 0..4 {
        w.round(1, receive);
        w.round(0, |_| panic!("a request"));
    }
    assert!(w.bytes[1][..64].iter().all(|byte| byte.get() == 0));
    assert_eq!(w.reports[0].pop().unwrap().status.errno, 0);
    // A longer one needs an engine.
    w.put(65, Instant::NEVER);
    w.round(0, |_| panic!("a request"));
    let status = w.reports[0].pop().unwrap().status;
    assert!(status.errno < 0 && status.delivery == Delivery::NotDelivered, "{status:?}");
    assert!(!w.round(1, |_| panic!("a request")).0);
}

/// The oracle is the deadline: a host that sleeps until the time it was given reports at that time,
/// whatever was called before it asked.
#[test]
fn a_host_wakes_up_when_a_submitted_message_ends() {
    let mut w = World::new(4, |config| config.hello_timeout = Span::from_secs(10));
    // Node 1 never answers, and the first message waits for it with a late deadline.
    w.put(1, w.now.after(MS.times(900)));
    let (_, next) = w.round(0, |_| panic!("a request"));
    let early = w.now.after(MS.times(7));
    assert!(next > Some(early));
    w.put(1, early);
    assert_eq!(w.nodes[0].wake_up_at(w.now), Some(early));
    let mut rounds = 0;
    while w.reports[0].is_empty() {
        let (_, next) = w.round(0, |_| panic!("a request"));
        assert!(w.reports[0].is_empty() || w.now == early);
        w.now = next.unwrap();
        rounds += 1;
        assert!(rounds < 20, "it does not sleep");
    }
    assert!(w.now >= early);
}

#[test]
fn a_report_that_waits_is_due_now() {
    let mut w = World::new(4, |config| config.batch = 1);
    let deadline = w.now.after(MS);
    (0..3).for_each(|_| w.put(1, deadline));
    w.now = deadline;
    // One timer a call, and one report.
    let mut next = Some(w.now);
    for rounds in 0.. {
        assert!(rounds < 10 && w.reports[0].len() <= rounds);
        if w.reports[0].len() == 3 {
            break;
        }
        assert_eq!(next, Some(w.now), "{rounds}");
        next = w.round(0, |_| panic!("a request")).1;
    }
    assert!(next != Some(w.now) && w.nodes[0].nothing_to_report());
}

#[test]
fn what_waits_stays_in_order_and_is_offered_when_there_is_room() {
    let mut w = World::new(3, |config| config.depth = 8);
    let mut kept = Vec::new();
    // They meet; then four requests.
    w.put(5, Instant::NEVER);
    for _ in 0..4 {
        w.round(1, receive);
        w.round(0, |_| panic!("a request"));
    }
    (1..=4).for_each(|length| w.put(length, Instant::NEVER));
    // Node 1 keeps requests in all slots but the one that they leave to its own transfers.
    let (waits, _) = w.round(1, |arrival| {
        kept.push(arrival.keep().detach());
        true
    });
    assert!(waits);
    assert_eq!(kept.iter().map(|it| it.length).collect::<Vec<_>>(), [1, 2]);
    assert!(w.round(1, |_| panic!("no room")).0);
    let _ = w.nodes[1].offer_again();
    assert!(!w.nodes[1].offer_again());
    // One is refused: there is room for one. A request that is not decided stays.
    let now = w.now;
    w.nodes[1].nak(now, kept.pop().unwrap(), NakReason::NoMatch);
    let mut next = Some(now);
    while next == Some(now) {
        next = w.nodes[1].run_once(now, [], |_| ());
    }
    assert!(w.nodes[1].offer_again());
    for _ in 0..2 {
        let (waits, _) = w.round(1, |arrival| {
            assert_eq!(arrival.length(), 3);
            false
        });
        assert!(waits);
    }
    let mut lengths = Vec::new();
    let (waits, _) = w.round(1, |arrival| {
        lengths.push(arrival.length());
        receive(arrival)
    });
    assert_eq!((waits, lengths), (false, vec![3, 4]));
}

#[test]
fn a_report_that_nothing_has_fetched_is_due_now() {
    let mut w = World::new(4, |_| ());
    let deadline = w.now.after(MS);
    w.put(1, deadline);
    let _ = w.nodes[0].on_time(deadline);
    assert!(!w.nodes[0].nothing_to_report());
    assert_eq!(w.nodes[0].wake_up_at(deadline), Some(deadline));
    assert!(w.nodes[0].next_report(deadline).is_some());
    assert!(w.nodes[0].wake_up_at(deadline) > Some(deadline));
}

#[test]
fn what_is_too_long_is_not_kept_and_what_is_for_another_node_does_not_wait() {
    let mut w = World::new(4, |_| ());
    let mut mail = Backlog::<64, 4>::default();
    let from = Envelope {
        from: nid(0),
        to: nid(0),
        from_incarnation: Incarnation::of_start(1, 0),
        to_incarnation: Some(Incarnation::of_start(1, 1)),
        session: 1,
        sequence: 1,
        credits: 0,
        credits_of: 1,
    };
    let long = Message::Immediate { header: &[], payload: &[0; 65] };
    assert!(mail.push(&from, &long).is_err());
    let short = Message::Immediate { header: &[], payload: &[0; 64] };
    assert!(mail.push(&from, &short).is_ok());
    assert!(!mail.offer(w.now, LINK, &mut w.nodes[1], |_| panic!("a request")));
    assert!(!mail.offer(w.now, LINK, &mut w.nodes[1], |_| panic!("it has stayed")));
}

#[test]
fn only_a_list_of_one_is_single() {
    let fragments = [Fragment::new(0, 8), Fragment::new(64, 8)];
    let tag = Tag { index: 0, generation: 1 };
    let motion = Motion::Stage { to: nid(1) };
    let bd = |fragments| Bd { tag, motion, length: 8, fragments, list: None };
    assert_eq!(bd(&fragments[1..]).single(), Some(fragments[1]));
    assert_eq!(bd(&fragments[..]).single(), None);
    assert_eq!(bd(&[]).single(), None);
}
