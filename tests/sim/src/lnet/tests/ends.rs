// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Exactly once: what ends a message, what may not, and answers that nothing waits for.

use lnd_core::id::Tag;
use lnd_core::message::NakReason;

use super::*;

/// A has handed a PUT to the driver, and B has accepted it. The debts, receiver's first.
fn put_under_way(ack: bool) -> (World, RequestHandle, Vec<Debt>) {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).put(put_of(b, 100, 5, ack)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    (world, request, debts)
}

fn answer(kind: Kind, from: Nid, to: Nid, request: Tag, length: u32) -> [u8; HEADER_BYTES] {
    let body = match kind {
        Kind::Ack => Body::Ack { request, length },
        _ => Body::Reply { request, length },
    };
    LnetHeader { hops: 0, source: from, destination: to, body }.encode()
}

#[test]
fn a_second_finalize_is_told_from_a_first() {
    // INV-1.
    let (mut world, _, debts) = put_under_way(false);
    for debt in debts {
        world.pay(debt);
        let before = world.events(debt.node);
        assert_ne!(before, []);
        let again = world.at(debt.node).on_finalized(debt.id, Status::OK, None);
        assert_eq!(again, Err(Violation::EndedTwice(debt.id)));
        assert_eq!(world.at(debt.node).send_refused(debt.id), Err(Violation::EndedTwice(debt.id)));
        assert_eq!(world.events(debt.node), [], "the user hears nothing of it");
        assert_eq!(world.at(debt.node).ledger().violations, 2);
    }
    world.assert_idle();
}

#[test]
fn a_driver_can_end_only_what_it_has() {
    let (a, b, _) = abr();
    let (mut world, _, debts) = put_under_way(false);
    world.at(a).put(put_of(b, 100, 5, false)).unwrap();
    let queued = debts[1].id + 1;
    let lnet = world.at(a);
    assert_eq!(lnet.on_finalized(queued, Status::OK, None), Err(Violation::NotHandedOver(queued)));
    assert_eq!(lnet.send_refused(queued), Err(Violation::NotHandedOver(queued)));
    assert_eq!(lnet.requeue(queued), Err(Violation::NotHandedOver(queued)));
    for id in [0, 4711] {
        assert_eq!(lnet.on_finalized(id, Status::OK, None), Err(Violation::NeverIssued(id)));
    }
    let incoming = debts[0].id;
    assert_eq!(world.at(b).requeue(incoming), Err(Violation::NotASend(incoming)));
    for debt in debts {
        world.pay(debt);
    }
    world.run();
    world.assert_idle();
}

#[test]
fn a_status_that_contradicts_itself_is_no_end() {
    // INV-4.
    let (mut world, _, debts) = put_under_way(false);
    let id = debts[1].id;
    let wrong = [
        Status { errno: -5, ..Status::OK },
        Status { errno: 5, ..lost() },
        Status { errno: 0, ..lost() },
        Status { health: lost().health, ..Status::OK },
        Status { delivery: lost().delivery, ..Status::OK },
    ];
    for status in wrong {
        let end = world.at(debts[1].node).on_finalized(id, status, None);
        assert_eq!(end, Err(Violation::StatusDisagrees(id)), "{status:?}");
    }
    for debt in debts {
        world.pay(debt);
    }
    world.assert_idle();
}

#[test]
fn a_reply_is_reported_only_with_an_optimised_get() {
    let (a, b, r) = abr();
    let mut world = World::pair();
    world.at(a).routes = Routes::default().with(nid(3), r);
    let end = |world: &mut World, expected: fn(u64) -> Violation, bytes| {
        let id = world.at(a).next_send().unwrap().id;
        let got = world.at(a).on_finalized(id, Status::OK, Some(bytes));
        assert_eq!(got, Err(expected(id)));
        id
    };
    world.at(a).put(put_of(b, 0, 8, true)).unwrap();
    end(&mut world, Violation::UnexpectedReply, 8);
    world.at(a).get(get_of(nid(3), 0, 8)).unwrap();
    end(&mut world, Violation::UnexpectedReply, 8);
    let request = world.at(a).get(get_of(b, 0, 8)).unwrap();
    let id = end(&mut world, Violation::ReplyTooLong, 9);
    // A REPLY message to the same GET, and then the driver's word for it as well.
    let reply = answer(Kind::Reply, b, a, request.0, 8);
    assert!(matches!(world.at(a).on_request(b, &reply, 8, false), Decision::Recv { .. }));
    let twice = world.at(a).on_finalized(id, Status::OK, Some(8));
    assert_eq!(twice, Err(Violation::RepliedTwice(id)));
    world.at(a).on_finalized(id + 1, Status::OK, None).unwrap();
    let twice = world.at(a).on_finalized(id, Status::OK, Some(8));
    assert_eq!(twice, Err(Violation::RepliedTwice(id)), "whether it is still coming or has come");
    world.at(a).audit().unwrap();
}

#[test]
fn a_refused_message_is_handed_back_and_goes_out_in_its_place() {
    // INV-1: nothing is finalized for it.
    let (a, b, _) = abr();
    let mut world = World::pair();
    for _ in 0..3 {
        world.at(a).put(put_of(b, 100, 5, false)).unwrap();
    }
    let ids = [0; 3].map(|_| world.at(a).next_send().unwrap().id);
    world.at(a).requeue(ids[0]).unwrap();
    world.at(a).requeue(ids[1]).unwrap();
    assert_eq!(world.at(a).next_send().unwrap().id, ids[0]);
    assert_eq!(world.at(a).next_send().unwrap().id, ids[1]);
    world.at(a).send_refused(ids[1]).unwrap();
    let events = world.events(a);
    assert!(matches!(
        events[..],
        [Event::SendDone { end: SendEnd::Refused, .. }, Event::RequestDone { .. }]
    ));
    let ledger = world.at(a).ledger();
    assert_eq!((ledger.offered, ledger.requeued, ledger.send_refused), (5, 2, 1));
    world.at(a).audit().unwrap();
}

#[test]
fn one_neighbour_that_is_not_ready_holds_up_no_other() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let mut put = |to| world.at(a).put(put_of(to, 100, 5, false)).unwrap();
    for to in [b, nid(3), b] {
        put(to);
    }
    let only_3 = |hop| hop == nid(3);
    assert_eq!(world.at(a).next_send_if(only_3).map(|out| out.next_hop), Some(nid(3)));
    assert_eq!(world.at(a).next_send_if(only_3), None);
    let ids = [0; 2].map(|_| world.at(a).next_send().unwrap().id);
    assert!(ids[0] < ids[1]);
}

#[test]
fn an_answer_is_matched_on_everything_that_is_known() {
    // R31.
    let (a, b, _) = abr();
    let (mut world, request, debts) = put_under_way(true);
    let tag = request.0;
    let other = |index, generation| Tag { index, generation };
    let stale = [
        answer(Kind::Ack, b, a, other(tag.index, tag.generation.wrapping_sub(1)), 5),
        answer(Kind::Ack, b, a, other(tag.index + 1, tag.generation), 5),
        answer(Kind::Ack, nid(3), a, tag, 5),
    ];
    for header in stale {
        let decision = world.at(a).on_request(b, &header, 0, false);
        assert_eq!(decision, Decision::Refuse(NakReason::NoMatch));
    }
    let reply = answer(Kind::Reply, b, a, tag, 5);
    assert_eq!(world.at(a).on_request(b, &reply, 5, false), Decision::Refuse(NakReason::NoMatch));
    assert_eq!(world.at(a).ledger().dropped(DropReason::Stale), 4);
    let long = answer(Kind::Ack, b, a, tag, 6);
    assert_eq!(world.at(a).on_request(b, &long, 0, false), Decision::Refuse(NakReason::BadRequest));
    // The right one is taken, and only once.
    for debt in debts {
        world.pay(debt);
    }
    let ack = world.at(b).next_send().unwrap();
    let decision = world.at(a).on_request(b, &ack.header, 0, false);
    assert!(matches!(decision, Decision::Recv { length: 0, .. }));
    let again = world.at(a).on_request(b, &ack.header, 0, false);
    assert_eq!(again, Decision::Refuse(NakReason::NoMatch));
}

#[test]
fn an_ack_that_comes_after_the_end_of_the_wait_is_counted() {
    let (a, _, _) = abr();
    let (mut world, request, debts) = put_under_way(true);
    for debt in debts {
        world.pay(debt);
    }
    assert_eq!(world.at(a).expire(request), Expiry::Ended);
    assert_eq!(world.at(a).expire(request), Expiry::Stale);
    world.run();
    assert_eq!(world.at(a).ledger().dropped(DropReason::Stale), 1);
    assert!(world.events(a).iter().all(|event| !matches!(event, Event::Ack { .. })));
    world.assert_idle();
}

#[test]
fn an_answer_to_a_former_incarnation_matches_nothing() {
    let (a, b, _) = abr();
    let (mut world, _, debts) = put_under_way(true);
    for debt in debts {
        world.pay(debt);
    }
    let restarted = Config { first_generation: 0x5eed, ..Config::new(a) };
    *world.at(a) = Lnet::new(restarted).unwrap();
    world.at(a).put(put_of(b, 100, 5, true)).unwrap();
    let ack = world.at(b).next_send().unwrap();
    let decision = world.at(a).on_request(b, &ack.header, 0, false);
    assert_eq!(decision, Decision::Refuse(NakReason::NoMatch));
}

#[test]
fn giving_up_leaves_the_driver_what_it_has() {
    // INV-2: no RequestDone while the memory is not free.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).get(get_of(b, 100, 5)).unwrap();
    let out = world.at(a).next_send().unwrap();
    assert_eq!(world.at(a).expire(request), Expiry::Ending);
    assert_eq!(world.at(a).expire(request), Expiry::Ending);
    assert_eq!(world.events(a), [Event::Expired { request, user: 2 }], "once");
    for debt in world.carry(a, &out) {
        world.pay(debt);
    }
    let events = world.events(a);
    assert!(matches!(events[..], [Event::SendDone { .. }, Event::RequestDone { .. }]));
    assert_eq!(world.at(a).ledger().late_replies, 1);
    world.assert_idle();
}

#[test]
fn giving_up_takes_a_waiting_message_out_of_the_queue() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    let get = world.at(a).get(get_of(b, 100, 5)).unwrap();
    let put = world.at(a).put(put_of(b, 100, 5, false)).unwrap();
    assert_eq!([get, put].map(|r| world.at(a).expire(r)), [Expiry::Ended; 2]);
    let end = SendEnd::Cancelled;
    assert_eq!(
        world.events(a),
        [
            Event::Expired { request: get, user: 2 },
            Event::SendDone { request: get, user: 2, end },
            Event::RequestDone { request: get, user: 2 },
            Event::SendDone { request: put, user: 1, end },
            Event::RequestDone { request: put, user: 1 },
        ]
    );
    assert_eq!(world.at(a).next_send(), None);
    world.assert_idle();
}

#[test]
fn an_ack_lost_on_its_last_hop_ends_the_wait() {
    let (a, b, _) = abr();
    let (mut world, request, debts) = put_under_way(true);
    for debt in debts {
        world.pay(debt);
    }
    world.events(a);
    let ack = world.at(b).next_send().unwrap();
    let debts = world.carry(b, &ack);
    world.pay(Debt { status: lost(), ..debts[0] });
    world.pay(debts[1]);
    let events = world.events(a);
    assert_eq!(
        events[1..],
        [Event::Expired { request, user: 1 }, Event::RequestDone { request, user: 1 },]
    );
    world.assert_idle();
}

#[test]
fn an_ack_that_cannot_be_sent_is_counted() {
    let (a, b, _) = abr();
    let (mut world, request, debts) = put_under_way(true);
    for debt in debts {
        world.pay(debt);
    }
    let ack = world.at(b).next_send().unwrap();
    world.at(b).send_refused(ack.id).unwrap();
    assert_eq!(world.at(b).ledger().dropped(DropReason::SendFailed), 1);
    assert_eq!(world.at(a).expire(request), Expiry::Ended);
    world.assert_idle();
}

#[test]
fn a_node_that_shuts_down_takes_nothing_new_and_finishes_the_rest() {
    // INV-15.
    let (a, b, _) = abr();
    let (mut world, request, debts) = put_under_way(true);
    world.at(a).shut_down();
    world.at(b).shut_down();
    assert_eq!(world.at(a).put(put_of(b, 0, 1, false)), Err(SendError::ShuttingDown));
    let body = Body::Put { target: target(0), length: 0, ack: None };
    let header = LnetHeader { hops: 0, source: a, destination: b, body }.encode();
    let decision = world.at(b).on_request(a, &header, 0, false);
    assert_eq!(decision, Decision::Refuse(NakReason::ShuttingDown));
    let (id, from_hop) = (debts[0].id, a);
    let receiving = Blocker::Receiving { id, kind: Kind::Put, from_hop };
    assert_eq!(world.at(b).blockers(), [receiving]);
    let (id, next_hop) = (debts[1].id, b);
    let sending = Blocker::Sending { id, kind: Kind::Put, next_hop };
    let awaiting = Blocker::Awaiting { request, user: 1, to: b };
    assert_eq!(world.at(a).blockers(), [sending, awaiting]);
    for debt in debts {
        world.pay(debt);
    }
    assert!(matches!(world.at(b).blockers()[..], [Blocker::Queued { kind: Kind::Ack, .. }]));
    world.run();
    assert!(world.events(a).contains(&Event::Ack { request, user: 1, length: 5 }));
    assert!(world.events(b).iter().any(|event| matches!(event, Event::Unlinked { .. })));
    world.assert_idle();
}

#[test]
fn every_table_has_a_limit() {
    // INV-14.
    let (a, b, _) = abr();
    let few = Config { max_requests: 2, max_messages: 3, max_drop_events: 1, ..Config::new(a) };
    let mut world = World::new([few, Config::new(b)]);
    let (criteria, md) = open_md(512, 64);
    world.at(a).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 0, 1, true)).unwrap();
    let request = world.at(a).put(put_of(b, 0, 1, true)).unwrap();
    assert_eq!(world.at(a).put(put_of(b, 0, 1, false)), Err(SendError::Full));
    let body = Body::Put { target: target(0), length: 0, ack: None };
    let header = LnetHeader { hops: 0, source: b, destination: a, body }.encode();
    let mut ask = || world.at(a).on_request(b, &header, 0, false);
    assert!(matches!(ask(), Decision::Recv { .. }));
    assert_eq!(ask(), Decision::Refuse(NakReason::NoResources));
    assert_eq!(ask(), Decision::Refuse(NakReason::NoResources));
    assert_eq!(world.at(a).ledger().dropped(DropReason::NoRoom), 2);
    assert_eq!(world.at(a).blockers().len(), 3 + 2, "three messages, two requests");
    assert_eq!(world.events(a).len(), 1, "one drop told, both counted");
    let decision = world.at(a).on_request(b, &[], 0, false);
    assert_eq!(decision, Decision::Refuse(NakReason::BadRequest));
    let notified = Event::Dropped { reason: DropReason::BadHeader, hop: b };
    assert_eq!(world.events(a), [notified], "there is room again once the first was read");
    // An answer is let in all the same (INV-11).
    let ack = answer(Kind::Ack, b, a, request.0, 1);
    assert!(matches!(world.at(a).on_request(b, &ack, 0, false), Decision::Recv { .. }));
}

#[test]
fn a_full_node_gives_back_what_it_cannot_take() {
    let (a, b, _) = abr();
    let one = Config { max_messages: 1, acks: AckPolicy::ByEvent, ..Config::new(b) };
    let mut world = World::new([Config::new(a), one]);
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.at(a).put(put_of(b, 0, 1, true)).unwrap();
    world.run();
    let Event::PutReceived { ack: Some(due), .. } = world.events(b).remove(0) else {
        panic!("no ACK is owed")
    };
    world.at(b).get(get_of(a, 0, 1)).unwrap();
    assert_eq!(world.at(b).get(get_of(a, 0, 1)), Err(SendError::Full));
    let (due, error) = world.at(b).send_ack(due).unwrap_err();
    assert_eq!(error, SendError::Full);
    world.run();
    world.at(b).send_ack(due).unwrap();
    world.run();
    world.assert_idle();
}

#[test]
fn a_get_that_fails_while_its_reply_comes_waits_for_the_reply() {
    // INV-2: the driver is filling the memory.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let request = world.at(a).get(get_of(b, 100, 5)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let reply = answer(Kind::Reply, b, a, request.0, 5);
    let decision = world.at(a).on_request(b, &reply, 5, false);
    let Decision::Recv { id, sink, .. } = decision else { panic!("{decision:?}") };
    assert_eq!(sink, span(100, 5));
    world.at(a).on_finalized(out.id, lost(), None).unwrap();
    let end = SendEnd::Finalized(lost());
    assert_eq!(world.events(a), [Event::SendDone { request, user: 2, end }]);
    world.at(a).audit().unwrap();
    world.at(a).on_finalized(id, Status::OK, None).unwrap();
    assert_eq!(
        world.events(a),
        [
            Event::Reply { request, user: 2, length: 5, status: Status::OK },
            Event::RequestDone { request, user: 2 },
        ]
    );
    world.assert_idle();
}
