// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! PUT and ACK between neighbours.

use super::*;

#[test]
fn a_put_without_ack_ends_with_its_own_completion() {
    // S1-1, S1-7.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    let me = world.at(b).attach(criteria, md).unwrap();
    world.write(a, 100, b"five!");
    let put = Put { target: target(3), ..put_of(b, 100, 5, false) };
    let request = world.at(a).put(put).unwrap();
    world.run();

    assert_eq!(world.read(b, 515, 5), b"five!");
    let end = SendEnd::Finalized(Status::OK);
    assert_eq!(
        world.events(a),
        [Event::SendDone { request, user: 1, end }, Event::RequestDone { request, user: 1 }]
    );
    assert_eq!(
        world.events(b),
        [Event::PutReceived {
            me,
            user: 50,
            from: a,
            match_bits: 7,
            data: 0xda7a,
            offset: 3,
            length: 5,
            sent: 5,
            status: Status::OK,
            ack: None,
        }]
    );
    assert_eq!(world.path(), [(Kind::Put, a, b)]);
    world.assert_idle();
}

#[test]
fn a_put_of_no_bytes_is_a_put() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(0, 0);
    world.at(b).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 0, 0, true)).unwrap();
    world.run();
    assert!(world.events(a).iter().any(|e| matches!(e, Event::Ack { length: 0, .. })));
    world.assert_idle();
}

#[test]
fn an_ack_follows_by_itself() {
    // S1-7, S1-9: the two levels are two events.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).put(put_of(b, 100, 5, true)).unwrap();
    world.run();

    let end = SendEnd::Finalized(Status::OK);
    assert_eq!(
        world.events(a),
        [
            Event::SendDone { request, user: 1, end },
            Event::Ack { request, user: 1, length: 5 },
            Event::RequestDone { request, user: 1 },
        ]
    );
    assert_eq!(world.path(), [(Kind::Put, a, b), (Kind::Ack, b, a)]);
    assert_eq!(world.at(b).ledger().created(Kind::Ack), 1);
    world.assert_idle();
}

#[test]
fn an_ack_may_overtake_the_end_of_its_put() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).put(put_of(b, 100, 5, true)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    world.pay(debts[0]);
    world.run();
    assert_eq!(world.events(a), [Event::Ack { request, user: 1, length: 5 }]);
    assert!(!world.at(a).idle(), "the driver still has the memory");
    world.pay(debts[1]);
    let end = SendEnd::Finalized(Status::OK);
    assert_eq!(
        world.events(a),
        [Event::SendDone { request, user: 1, end }, Event::RequestDone { request, user: 1 }]
    );
    world.assert_idle();
}

/// A PUT with ACK has arrived at a node whose user sends ACKs; the event's debt.
fn ack_due(world: &mut World) -> (RequestHandle, AckDue) {
    let (a, b, _) = abr();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).put(put_of(b, 100, 5, true)).unwrap();
    world.run();
    assert_eq!(world.path(), [(Kind::Put, a, b)], "no ACK by itself");
    let due = world.events(b).into_iter().find_map(|event| match event {
        Event::PutReceived { ack, .. } => ack,
        _ => None,
    });
    (request, due.unwrap())
}

fn by_event() -> World {
    let (a, b, _) = abr();
    World::new([Config::new(a), Config { acks: AckPolicy::ByEvent, ..Config::new(b) }])
}

#[test]
fn by_event_the_user_sends_the_ack() {
    // S1-14.
    let (a, b, _) = abr();
    let mut world = by_event();
    let (request, due) = ack_due(&mut world);
    assert_eq!(world.at(a).blockers(), [Blocker::Awaiting { request, user: 1, to: b }]);
    assert!(!world.at(a).idle(), "a missing answer is not an end");
    world.at(b).send_ack(due).unwrap();
    world.run();
    assert!(world.events(a).contains(&Event::Ack { request, user: 1, length: 5 }));
    world.assert_idle();
}

#[test]
fn an_ack_that_is_never_sent_is_given_up_and_nothing_is_resent() {
    // S1-13.
    let (a, _, _) = abr();
    let mut world = by_event();
    let (request, _never_sent) = ack_due(&mut world);
    world.events(a);
    assert_eq!(world.at(a).expire(request), Expiry::Ended);
    assert_eq!(
        world.events(a),
        [Event::Expired { request, user: 1 }, Event::RequestDone { request, user: 1 }]
    );
    assert_eq!(world.at(a).next_send(), None);
    assert_eq!(world.at(a).ledger().expired, 1);
    world.assert_idle();
}

#[test]
fn a_put_that_was_not_received_is_not_acknowledged() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 100, 5, true)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    world.pay(Debt { status: lost(), ..debts[0] });
    world.pay(Debt { status: lost(), ..debts[1] });
    assert_eq!(world.at(b).next_send(), None);
    let events = world.events(b);
    assert!(
        matches!(events[..], [Event::PutReceived { status, ack: None, .. }] if status == lost())
    );
    // The sender's wait for the ACK ended with its failed send.
    world.assert_idle();
}

#[test]
fn header_and_driver_have_to_agree_on_the_length() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 100, 5, false)).unwrap();
    world.at(a).get(get_of(b, 100, 5)).unwrap();
    let put = world.at(a).next_send().unwrap().header;
    let get = world.at(a).next_send().unwrap().header;
    let wrong = [(put, 4, false), (put, 6, false), (put, 5, true), (get, 5, false), (get, 4, true)];
    for (header, length, rdma) in wrong {
        let decision = world.at(b).on_request(a, &header, length, rdma);
        assert_eq!(decision, Decision::Refuse(lnd_core::message::NakReason::BadRequest));
    }
    assert_eq!(world.at(b).ledger().dropped(DropReason::BadLength), 5);
    assert!(world.at(b).idle());
}
