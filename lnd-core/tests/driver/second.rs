// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a second peer, and those after it, and a second link have of their own: timers, answers,
//! devices.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, RunState};
use lnd_core::link::LinkState;
use lnd_core::peer::HelloState;
use lnd_core::time::{Instant, Span};

use super::node::{Decision, Order};
use super::world::{config, World, LINK0, LINK1};

/// Each peer's stall has a timer of its own.
#[test]
fn the_second_peers_stall_is_noticed_and_ends() {
    let mut w = World::with(3, Config { depth: 1, ..config() });
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
        w.settle();
    }
    assert_eq!(w.nodes[0].next, None);
    w.node(2).inline = Decision::Keep;
    for _ in 0..2 {
        w.put(0, 2, 10).unwrap();
    }
    w.settle();
    let bound = w.now.after(w.config.credit_stall);
    assert_eq!(w.nodes[0].next, Some(bound));
    for _ in 0..2 {
        w.node(2).answer_kept(0).unwrap();
        w.settle();
    }
    assert_eq!(w.nodes[0].next, None, "a credit is back, and nothing waits");
    // Again, and nothing comes back: the peer is asked.
    for _ in 0..2 {
        w.put(0, 2, 10).unwrap();
    }
    w.settle();
    let hellos = w.said(0, 2, "hello");
    w.sleep(w.config.credit_stall);
    assert_eq!((w.said(0, 2, "hello"), w.count(0, Counter::Resyncs)), (hellos + 1, 1));
}

/// INV-11: an answer that finds no room does not hold up those behind it, or before it.
#[test]
fn inv_11_an_answer_to_another_peer_passes_one_that_waits() {
    for (free, waits) in [(1, 2), (2, 1)] {
        let mut w = World::with(3, config());
        for from in [1, 2] {
            w.put(from, 0, 0).unwrap();
            w.settle();
        }
        for to in [1, 2] {
            w.fabric.borrow_mut().room.insert((0, to), [0, 0]);
            w.get(to, 0, 5000).unwrap();
            w.settle();
        }
        let said = |w: &World| [free, waits].map(|to| w.said(0, to, "pull_ready"));
        assert_eq!(said(&w), [0, 0]);
        w.fabric.borrow_mut().room.insert((0, free), [64, 64]);
        w.tick();
        assert_eq!(said(&w), [1, 0]);
        w.fabric.borrow_mut().room.clear();
        w.settle();
        w.assert_drained();
    }
}

/// R66, as for one peer: after the goodbye the time of no peer counts.
#[test]
fn r66_goodbye_ends_the_handshake_of_every_peer() {
    let mut w = World::new(3);
    w.hold("hello");
    for to in [1, 2] {
        w.put(0, to, 10).unwrap();
    }
    w.settle();
    w.device(0, 0, |d| d.slow_stop = true);
    let now = w.now;
    w.nodes[0].driver.shutdown(now, now);
    w.settle();
    assert_eq!(w.nodes[0].driver.run_state(), RunState::Stopping);
    assert_eq!(w.nodes[0].next, Some(w.now.after(w.config.link_poll)));
    w.sleep(w.config.hello_timeout.times(10));
    for to in [1, 2] {
        assert_eq!((w.said(0, to, "hello"), w.state(0, to)), (1, HelloState::Handshake));
    }
    assert_eq!(w.count(0, Counter::PeersDown), 0);
}

/// INV-3: the interrupt of one link says so of its own device.
#[test]
fn inv_3_the_second_links_device_is_gone_and_no_other() {
    let mut w = World::met();
    w.device(0, 1, |d| (d.slow_stop, d.unreadable) = (true, true));
    w.nodes[0].interrupts()[1].on_impossible_status(LINK1);
    w.sleep(Span::from_millis(10));
    assert_eq!(w.nodes[0].driver.link_state(LINK1), Some(LinkState::Failed));
    assert_eq!(w.nodes[0].driver.link_state(LINK0), Some(LinkState::Up));
    assert_eq!(w.count(0, Counter::ImpossibleStatus), 1);
}

/// R39: the deadline of a transfer is not lost over a queue of the third peer that has been
/// emptied.
#[test]
fn r39_a_flushed_queue_leaves_the_deadlines_alone() {
    let mut w = World::with(4, Config { slots: 4, passive_slots: 1, ..config() });
    for to in 1..4 {
        w.put(0, to, 0).unwrap();
        w.settle();
    }
    w.hold("put_req");
    w.fabric.borrow_mut().room.insert((0, 3), [0, 0]);
    let waits = w.put(0, 3, 10).unwrap();
    let deadline = w.now.after(Span::from_secs(1));
    let held = [(); 2].map(|()| {
        let order = Order { deadline, ..w.order(Kind::Put, 1, 5000) };
        w.send(0, order).unwrap()
    });
    assert_eq!([waits, held[0], held[1]].map(|tag| tag.index), [0, 1, 2]);
    w.settle();
    assert!(!w.reported(0, waits));
    w.fabric.borrow_mut().room.clear();
    w.settle();
    assert_eq!(w.report(0, waits).status.errno, 0);
    w.sleep(Span::from_secs(8));
    assert!(held.iter().all(|&tag| w.reported(0, tag)));
}

/// R39, R41: each HELLO has a time of its own, whichever place its peer has.
#[test]
fn r39_every_peers_handshake_ends_in_its_own_time() {
    let mut w = World::with(4, config());
    for to in 1..4 {
        w.put(0, to, 0).unwrap();
    }
    w.settle();
    assert_eq!(w.nodes[0].next, None, "all have answered");
    let mut w = World::with(4, config());
    w.hold("hello");
    for to in 1..4 {
        let order = Order { deadline: Instant::NEVER, ..w.order(Kind::Put, to, 10) };
        w.send(0, order).unwrap();
    }
    w.sleep(w.config.hello_timeout.times(u32::from(w.config.hello_tries) + 1));
    for to in 1..4 {
        let hellos = w.said(0, to, "hello");
        let expected = (w.config.hello_tries as usize, HelloState::Down);
        assert_eq!((hellos, w.state(0, to)), expected, "{to}");
    }
    assert_eq!((w.nodes[0].done.len(), w.nodes[0].next), (3, None));
}

/// R39: the deadline of a transfer is its own, whatever becomes of the third peer.
#[test]
fn r39_the_third_peers_time_is_no_transfers_deadline() {
    let mut w = World::with(4, Config { slots: 4, passive_slots: 1, ..config() });
    for to in [1, 2] {
        w.put(0, to, 0).unwrap();
        w.settle();
    }
    w.hold("put_req");
    let first = w.put(0, 1, 10).unwrap();
    let deadline = w.now.after(Span::from_secs(1));
    let held = [(); 2].map(|()| {
        let order = Order { deadline, ..w.order(Kind::Put, 1, 5000) };
        w.send(0, order).unwrap()
    });
    assert_eq!([first, held[0], held[1]].map(|tag| tag.index), [0, 1, 2]);
    w.settle();
    assert!(w.reported(0, first));
    w.put(0, 3, 10).unwrap();
    assert_eq!(w.peer(0, 3).unwrap().index(), 2);
    w.settle();
    assert_eq!(w.nodes[0].next, Some(deadline));
    w.notify_peer(0, 3, false);
    w.settle();
    assert_eq!(w.nodes[0].next, Some(deadline));
    w.sleep(Span::from_secs(8));
    assert!(held.iter().all(|&tag| w.reported(0, tag)));
}

/// An interrupt has declared a peer down whose credits were awaited: that time asks for nothing any
/// more.
#[test]
fn a_peer_declared_down_from_an_interrupt_is_not_connected_unasked() {
    let mut w = World::met_with(Config { depth: 1, ..config() });
    w.node(1).inline = Decision::Keep;
    for _ in 0..2 {
        w.put(0, 1, 10).unwrap();
        w.settle();
    }
    w.kill(1);
    let peer = w.peer(0, 1).unwrap();
    let before = w.said(0, 1, "hello");
    assert!(w.nodes[0].driver.irq_handle().peer_down(peer));
    w.settle();
    w.sleep(Span::from_secs(3));
    assert_eq!((w.state(0, 1), w.said(0, 1, "hello")), (HelloState::Down, before));
}
