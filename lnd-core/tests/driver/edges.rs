// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ways through the driver that its everyday tests do not take: names of nothing, calls that come
//! twice, and what only a stranger would send.

use std::mem::MaybeUninit;

use lnd_core::arena::LINE;
use lnd_core::config::{Config, ConfigError};
use lnd_core::counters::Counter;
use lnd_core::driver::{Driver, Identity, Inbound, Receive, RunState, Why};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, PeerId};
use lnd_core::message::{Envelope, Message, PullReady};
use lnd_core::peer::HelloState;
use lnd_core::shared::Owner;
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Debts, Event, Word};

use super::fabric::{nid, Fabric, InjectedFault, Shared, BASE};
use super::hello::{forged, hello};
use super::letter::Letter;
use super::node::Decision;
use super::ports::{Log, Mock, MockChannel, MockEngine, MockMemory};
use super::size::with_memory;
use super::world::{config, World, LINK0};

/// A peer that only larger drivers have.
fn foreign_peer() -> PeerId {
    let mut w = World::new(4);
    for to in 1..4 {
        w.put(0, to, 0).unwrap();
    }
    w.peer(0, 3).unwrap()
}

fn with_one_peer() -> Config {
    let mut config = config();
    config.peers = 1;
    config
}

#[test]
fn what_does_not_exist_is_ignored() {
    let mut w = World::met_with(with_one_peer());
    let (stranger, nowhere) = (foreign_peer(), LinkId::new(7).unwrap());
    let irq_handle = w.nodes[0].driver.irq_handle();
    irq_handle.peer_down(stranger);
    irq_handle.link_failed(nowhere);
    let now = w.now;
    let driver = &mut w.node(0).driver;
    driver.on_link(now, nowhere, true);
    assert_eq!(driver.time_to_quiesce(nowhere), None);
    assert_eq!(driver.credits_with(stranger), None);
    assert_eq!(driver.peer_state(stranger), HelloState::Unknown);
    assert!(!irq_handle.shared().attention_wanted());
    w.put(0, 1, 10).unwrap();
    w.settle();
    w.assert_drained();
}

/// INV-8: the control layer's own entry, which hosts may use instead of `on_message`.
#[test]
fn pull_ready_by_the_control_entry() {
    let mut w = World::met();
    w.hold("pull_ready");
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    let letter = w.fabric.borrow_mut().wire.pop_front().unwrap();
    let Message::PullReady(ready) = letter.message() else { panic!("{letter:?}") };
    let node = w.node(0);
    node.driver.on_pull_ready(node.now, letter.link, &letter.envelope, &ready);
    w.settle();
    assert_eq!(w.report(0, tag).status.errno, 0);
    w.assert_drained();
    // R28, R29: that of an unknown node is dropped and counted, and that node gets a hello.
    let mut w = World::new(2);
    let letter = forged(&w, 1, 0, &Message::PullReady(ready));
    let node = w.node(0);
    node.driver.on_pull_ready(node.now, LINK0, &letter.envelope, &ready);
    assert_eq!((w.count(0, Counter::Early), w.said(0, 1, "hello")), (1, 1));
}

#[test]
fn a_stranger_whom_no_way_leads_to_is_not_taken_up() {
    let mut w = World::new(2);
    w.fabric.borrow_mut().unreachable.insert(1);
    let ready = PullReady { sink: FOREIGN, source: FOREIGN, length: 1, key: b"forged" };
    for message in [Message::Noop, Message::PullReady(ready)] {
        let letter = forged(&w, 1, 0, &message);
        w.hand(&letter);
    }
    assert_eq!((w.count(0, Counter::Early), w.peer(0, 1)), (2, None));
}

const FOREIGN: lnd_core::id::Tag = lnd_core::id::Tag { index: 3, generation: 9 };

/// S0-13: a session may be an echo although we have been answered, by an ack that knew of none.
#[test]
fn a_request_of_an_unverified_session_is_dropped_by_who_has_been_answered() {
    let mut w = World::new(2);
    w.fabric.borrow_mut().reliable = false;
    w.put(0, 1, 10).unwrap();
    w.hold("hello_ack");
    w.tick();
    w.deliver();
    w.fabric.borrow_mut().wire.retain(|l| l.from == 1 && l.kind() == "hello_ack");
    // The answer, as of one that has not connected.
    let mut ack = w.fabric.borrow_mut().wire.pop_front().unwrap();
    ack.envelope.session = 0;
    w.hand(&ack);
    assert_eq!(w.state(0, 1), HelloState::Good);
    let mut late = forged(&w, 1, 0, &hello());
    late.envelope.credits_of = 1;
    w.hand(&late);
    let echo = forged(&w, 1, 0, &Message::Immediate { header: &[0; 8], payload: &[1; 10] });
    w.hand(&echo);
    // Its sender is asked once more: it may be genuine and not count our session.
    assert_eq!((w.state(0, 1), w.count(0, Counter::WrongSession)), (HelloState::Handshake, 1));
    assert_eq!(w.nodes[0].driver.in_use().1, 0);
}

/// Buffers beyond the payload's end are left alone.
#[test]
fn an_inline_payload_may_end_before_the_buffers_do() {
    let mut w = World::met();
    let session = w.nodes[0].driver.credits_with(w.peer(0, 1).unwrap()).unwrap().session;
    let message = Message::Immediate { header: &[0; 8], payload: &[7; 10] };
    let right = forged(&w, 0, 1, &message).envelope;
    let envelope = Envelope { session, sequence: 2, ..right };
    let now = w.now;
    let driver = &mut w.node(1).driver;
    let Inbound::Request(arrival) = driver.on_message(now, LINK0, &envelope, &message) else {
        panic!("not taken in")
    };
    let rx_request = arrival.keep();
    let sink = [Fragment::new(BASE, 5), Fragment::new(BASE + 64, 5), Fragment::new(BASE + 128, 5)];
    let deadline = now.after(Span::from_secs(1));
    let tag = rx_request.tag();
    driver.recv(now, rx_request, &Receive { sink: &sink, length: 5, deadline, user: 9 }).unwrap();
    let report = driver.next_report(now).unwrap();
    assert_eq!((report.tag, report.status.errno, report.bytes), (tag, 0, 5));
    let bytes = w.fabric.borrow().read(1, &sink, 15);
    assert_eq!(bytes[..5], [7; 5]);
    assert!(bytes[5..].iter().all(|&b| b != 7));
}

#[test]
fn no_answer_can_go_where_no_link_was_chosen() {
    let mut w = World::new(2);
    let queued = w.put(0, 1, 10).unwrap();
    assert!(!w.node(0).driver.can_answer(queued));
}

/// A peer with whom nothing is under way, but to whom something is still to be said, keeps its
/// place.
#[test]
fn a_peer_that_waits_for_room_is_not_forgotten() {
    let mut w = World::with(3, with_one_peer());
    w.fabric.borrow_mut().room.insert((0, 1), [0, 0]);
    w.notify_link(0, LINK0, true);
    let letter = forged(&w, 1, 0, &hello());
    w.hand(&letter);
    w.notify_peer(0, 1, false);
    assert_eq!(w.state(0, 1), HelloState::Down);
    assert_eq!(w.put(0, 2, 10), Err(Why::PeersFull));
    w.fabric.borrow_mut().room.clear();
    w.settle();
    assert!(w.put(0, 2, 10).is_ok(), "forgotten once its answer is out");
}

/// INV-15: may be called again.
#[test]
fn a_shutdown_may_be_asked_for_twice_and_waits_for_a_peers_request() {
    let mut w = World::met();
    w.node(0).inline = Decision::Keep;
    w.put(1, 0, 10).unwrap();
    w.settle();
    let (now, later) = (w.now, w.now.after(Span::from_secs(1)));
    w.node(0).driver.shutdown(now, later);
    w.tick();
    assert_eq!((w.nodes[0].driver.in_use(), w.nodes[0].next), ((0, 1), Some(later)));
    for _ in 0..2 {
        w.node(0).driver.shutdown(now, now);
        assert_eq!(w.nodes[0].driver.run_state(), RunState::Draining);
    }
    // The request ends without a report: the next call sees that nothing is left.
    w.settle();
    w.sleep(Span::from_millis(20));
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Quiescent);
}

/// The last credit may go while a queue that has emptied is still to be looked at, and the peer
/// with it.
#[test]
fn a_look_at_a_queue_whose_peer_is_connected_anew_does_nothing() {
    let mut config = config();
    config.depth = 1;
    let mut w = World::met_with(config);
    w.fabric.borrow_mut().room.insert((0, 1), [0, 64]);
    let given_up = w.put(0, 1, 10).unwrap();
    let now = w.now;
    w.node(0).driver.withdraw(now, given_up);
    w.fabric.borrow_mut().room.clear();
    w.hold("immediate");
    let (out, waits) = (w.put(0, 1, 10).unwrap(), w.put(0, 1, 10).unwrap());
    let anew = forged(&w, 1, 0, &hello());
    let anew = Envelope { from_incarnation: Incarnation::from_raw(77).unwrap(), ..anew.envelope };
    w.injected("hello", InjectedFault::Lost(lnd_core::ports::Sent::Ok));
    w.hand(&Letter::new(LINK0, &anew, &hello()));
    w.tick();
    assert_eq!((w.state(0, 1), w.said(0, 1, "immediate")), (HelloState::Handshake, 1));
    w.free("immediate");
    w.sleep(Span::from_secs(60));
    assert!(w.reported(0, out) && w.reported(0, waits) && w.reported(0, given_up));
    w.assert_drained();
}

/// What a sweep reads of a slot may be of any moment.
#[test]
fn a_slot_between_two_uses_is_cancelled_by_nothing_and_moved_by_nothing() {
    let w = World::met_with(with_one_peer());
    let irq_handle = w.nodes[0].driver.irq_handle();
    let shared = irq_handle.shared();
    let tag = shared.renew(5);
    assert_eq!(shared.must_cancel(tag.index), None);
    assert_eq!(shared.apply(tag, Event::HwOk), None, "not published");
    let debts = Debts(Debts::HW.0 | Debts::CPU.0);
    shared.publish(tag, Word::live(tag.generation, debts));
    // Of a peer that is not there.
    shared.assign(tag, Owner::new(foreign_peer(), 0, None));
    assert_eq!(shared.must_cancel(tag.index), None);
    // Of one that was, and the next use has begun.
    irq_handle.peer_down(w.peer(0, 1).unwrap());
    shared.assign(tag, Owner::new(w.peer(0, 1).unwrap(), 0, None));
    assert_eq!(shared.must_cancel(tag.index), Some((tag, Cause::PeerDown)));
    let next = shared.renew(tag.index);
    assert_eq!(shared.must_cancel(tag.index), None);
    assert_eq!(shared.apply(next, Event::HwOk), None);
}

/// R61: whichever table has no room, nothing is created, and nothing is written past the end.
#[test]
fn a_driver_in_its_place_needs_its_memory_and_its_engines() {
    let mut config = Config::new(4, 2, 1);
    config.connections = 2;
    (config.lists, config.immediate_max) = (1, 64);
    let fabric = Shared::default();
    *fabric.borrow_mut() = Fabric::without_memory(1, 2);
    let create_in = |memory: &mut [MaybeUninit<u8>], config: Config, engines: usize| {
        let mut place = MaybeUninit::uninit();
        let made = Driver::<Mock>::create_in(
            &mut place,
            memory,
            config,
            Identity { nid: nid(0), incarnation: Incarnation::from_raw(1).unwrap() },
            (0..engines).map(|link| MockEngine { fabric: fabric.clone(), node: 0, link }),
            MockChannel { fabric: fabric.clone(), node: 0 },
            MockMemory { fabric: fabric.clone(), node: 0 },
            Log::default(),
        );
        made.map(|driver| {
            assert_eq!(driver.audit(), Ok(()));
            // SAFETY: created in this place, and not used any more.
            unsafe { std::ptr::drop_in_place(driver) };
        })
    };
    let create = |length: usize, config: Config, engines: usize| {
        with_memory(length, 0, |memory| create_in(memory, config, engines))
    };
    // Nothing is lost to alignment, and each table takes whole lines.
    let enough = config.bytes_needed() - LINE;
    assert_eq!(create(enough, config, 1), Ok(()));
    for length in (0..enough).step_by(if cfg!(miri) { 13 * LINE } else { LINE }) {
        assert_eq!(create(length, config, 1), Err(ConfigError::Memory), "{length} of {enough}");
    }
    assert_eq!(create(enough, config, 2), Err(ConfigError::Engines));
    let mut wrong = config;
    wrong.depth = 0;
    assert_eq!(create(enough, wrong, 1), Err(ConfigError::Depth));
}
