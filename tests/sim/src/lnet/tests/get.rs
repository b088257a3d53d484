// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! GET and REPLY between neighbours.

use super::*;

fn get_five(optimise: bool) -> (World, RequestHandle, MeHandle) {
    let (a, b, _) = abr();
    let mut world = World::pair();
    world.optimise = optimise;
    let (criteria, md) = open_md(512, 64);
    let me = world.at(b).attach(criteria, md).unwrap();
    world.write(b, 514, b"bytes");
    let get = Get { target: target(2), ..get_of(b, 100, 5) };
    let request = world.at(a).get(get).unwrap();
    world.run();
    assert_eq!(world.read(a, 100, 5), b"bytes");
    (world, request, me)
}

fn served(me: MeHandle, from: Nid) -> Event {
    Event::GetServed {
        me,
        user: 50,
        from,
        match_bits: 7,
        data: 0xda7a,
        offset: 2,
        length: 5,
        end: SendEnd::Finalized(Status::OK),
    }
}

fn got(request: RequestHandle) -> [Event; 3] {
    let end = SendEnd::Finalized(Status::OK);
    [
        Event::SendDone { request, user: 2, end },
        Event::Reply { request, user: 2, length: 5, status: Status::OK },
        Event::RequestDone { request, user: 2 },
    ]
}

#[test]
fn an_optimised_get_needs_no_reply_message() {
    // S3-2, S3-9: one end at the requester stands for both messages.
    let (a, b, _) = abr();
    let (mut world, request, me) = get_five(true);
    assert_eq!(world.log, [Hop { from: a, to: b, kind: Kind::Get, rdma: true }]);
    assert_eq!(world.events(a), got(request));
    assert_eq!(world.events(b), [served(me, a)]);
    assert_eq!(world.at(b).ledger().created(Kind::Reply), 0);
    world.assert_idle();
}

#[test]
fn a_get_that_is_not_optimised_is_answered_by_a_reply_message() {
    let (a, b, _) = abr();
    let (mut world, request, me) = get_five(false);
    assert_eq!(world.path(), [(Kind::Get, a, b), (Kind::Reply, b, a)]);
    assert_eq!(world.events(a), got(request));
    assert_eq!(world.events(b), [served(me, a)]);
    assert_eq!(world.at(b).ledger().created(Kind::Reply), 1);
    world.assert_idle();
}

#[test]
fn a_get_from_less_memory_is_cut_either_way() {
    for optimise in [false, true] {
        let (a, b, _) = abr();
        let mut world = World::pair();
        world.optimise = optimise;
        let (criteria, md) = open_md(512, 8);
        world.at(b).attach(criteria, Md { truncate: true, ..md }).unwrap();
        world.write(b, 512, b"12345678");
        world.write(a, 100, b"..........");
        let get = Get { target: target(3), ..get_of(b, 100, 10) };
        let request = world.at(a).get(get).unwrap();
        world.run();
        let reply = Event::Reply { request, user: 2, length: 5, status: Status::OK };
        assert!(world.events(a).contains(&reply), "{optimise}");
        assert_eq!(world.read(a, 100, 10), b"45678.....", "{optimise}");
        world.assert_idle();
    }
}

#[test]
fn a_failed_optimised_get_fails_both_messages() {
    // R8.
    let (a, b, _) = abr();
    let mut world = World::pair();
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).get(get_of(b, 100, 5)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    world.pay(Debt { status: lost(), reply: Some(0), ..debts[1] });
    world.pay(Debt { status: lost(), ..debts[0] });
    let end = SendEnd::Finalized(lost());
    assert_eq!(
        world.events(a),
        [
            Event::SendDone { request, user: 2, end },
            Event::Reply { request, user: 2, length: 0, status: lost() },
            Event::RequestDone { request, user: 2 },
        ]
    );
    assert!(matches!(world.events(b)[..], [Event::GetServed { end: e, .. }] if e == end));
    world.assert_idle();
}

#[test]
fn a_get_whose_request_is_lost_at_the_target_is_not_answered() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    world.optimise = false;
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    world.at(a).get(get_of(b, 100, 5)).unwrap();
    let out = world.at(a).next_send().unwrap();
    let debts = world.carry(a, &out);
    world.pay(Debt { status: lost(), ..debts[0] });
    assert_eq!(world.at(b).next_send(), None);
    assert!(matches!(world.events(b)[..], [Event::GetServed { end, .. }] if !end.is_ok()));
    assert!(world.at(b).idle());
}

#[test]
fn a_reply_that_was_not_received_ends_the_get_with_its_status() {
    let (a, b, _) = abr();
    let mut world = World::pair();
    world.optimise = false;
    let (criteria, md) = open_md(512, 64);
    world.at(b).attach(criteria, md).unwrap();
    let request = world.at(a).get(get_of(b, 100, 5)).unwrap();
    let get = world.at(a).next_send().unwrap();
    for debt in world.carry(a, &get) {
        world.pay(debt);
    }
    world.events(a);
    let reply = world.at(b).next_send().unwrap();
    let debts = world.carry(b, &reply);
    assert_eq!(world.at(a).expire(request), Expiry::Ending, "the driver fills the memory");
    assert_eq!(world.events(a), []);
    world.pay(Debt { status: lost(), ..debts[0] });
    world.pay(debts[1]);
    assert_eq!(
        world.events(a),
        [
            Event::Reply { request, user: 2, length: 5, status: lost() },
            Event::RequestDone { request, user: 2 },
        ]
    );
    world.assert_idle();
}
