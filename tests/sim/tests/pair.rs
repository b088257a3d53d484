// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two stations on one fabric: PUT and GET of every size, threads in real time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::thread;

use lnd_core::config::Config;
use lnd_core::id::LinkId;
use lnd_core::link::LinkState;
use lnd_core::ports::Memory;
use lnd_core::sync::AtomicU32;
use lnd_core::time::Span;
use lnd_sim::fabric::{nid_of, Fabric, Mapping, MemoryWindow, Shape};
use lnd_sim::lnet::{span, Event, Get, Match, Md, Put, Target};
use lnd_sim::node::Arena;
use lnd_sim::runtime::{drive_engine, Bells, Clock, Station};

/// Where in A's memory a GET puts what it gets.
const BACK: u64 = 16 << 20;
const SIZES: [u32; 9] = [0, 1, 64, 3000, 4096, 5000, 65_536, (1 << 20) + 1, 4 << 20];

fn pattern(size: u32) -> Vec<u8> {
    (0..size).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn every_size_crosses_by_put_and_comes_back_by_get() {
    let shape = Shape::new(2, 2, 64, 64 << 20);
    let mapping = Mapping::anonymous(shape.bytes_needed()).unwrap();
    let fabric = Fabric::format(&mapping, shape).unwrap();
    let (arena, clock, violations) = (Arena::new(), Clock::start(), AtomicU32::new(0));
    let (kill, bells) = (AtomicBool::new(false), Bells::new(2, 2));
    let mut config = Config::new(64, 4, 2);
    config.immediate_max = 4096;
    let (mut a, engine_refs_a) =
        Station::join(&arena, &fabric, 0, clock, config, &violations, &bells).unwrap();
    let (mut b, engine_refs_b) =
        Station::join(&arena, &fabric, 1, clock, config, &violations, &bells).unwrap();
    thread::scope(|scope| {
        let killer = Killer(&kill);
        let mut engines = Vec::new();
        for mut engine_ref in engine_refs_a.into_iter().chain(engine_refs_b) {
            let kill = &kill;
            engines.push(scope.spawn(move || drive_engine(&mut engine_ref, clock, kill)));
        }
        a.open_links(Span::from_secs(60));
        b.open_links(Span::from_secs(60));
        for size in SIZES {
            there_and_back(&fabric, &mut a, &mut b, size);
        }
        let bound = Span::from_secs(5);
        assert!(
            a.shut_down(bound, |_| {
                b.poll(clock.now());
            }),
            "A comes to an end"
        );
        assert!(b.shut_down(bound, |_| {}), "B comes to an end");
        drop(killer);
        for engine in engines {
            let stats = engine.join().unwrap();
            assert_eq!(stats.violations.0, 0);
        }
    });
    assert_eq!(violations.load(lnd_core::sync::Ordering::Relaxed), 0);
}

/// The same between nodes whose own threads step their engines; here both have one thread. What is
/// much at a time is moved by the movers' threads.
#[test]
fn every_size_crosses_where_nodes_step_their_own_engines() {
    let shape = Shape::new(2, 2, 64, 64 << 20);
    let mapping = Mapping::anonymous(shape.bytes_needed()).unwrap();
    let fabric = Fabric::format(&mapping, shape).unwrap();
    let (arena, clock, violations) = (Arena::new(), Clock::start(), AtomicU32::new(0));
    let (kill, bells) = (AtomicBool::new(false), Bells::new(2, 2));
    let mut config = Config::new(64, 4, 2);
    config.immediate_max = 4096;
    let [(mut a, mover_a), (mut b, mover_b)] = [0, 1].map(|node| {
        Station::join_alone(&arena, &fabric, node, clock, config, &violations, &bells).unwrap()
    });
    thread::scope(|scope| {
        let _killer = Killer(&kill);
        for mover in [mover_a, mover_b] {
            let kill = &kill;
            scope.spawn(move || mover.drive(clock, kill));
        }
        a.open_links(Span::from_secs(60));
        b.open_links(Span::from_secs(60));
        for size in SIZES {
            there_and_back(&fabric, &mut a, &mut b, size);
        }
        eight_at_once(&fabric, &mut a, &mut b);
        let [first, second] = [0, 1].map(|number| LinkId::new(number).unwrap());
        for (link, other) in [(first, second), (second, first)] {
            for (up, state) in [(false, LinkState::Down), (true, LinkState::Up)] {
                assert!(fabric.set_link(0, link, up));
                wait_for(&mut a, link, state);
                assert_eq!(a.node.driver.link_state(other), Some(LinkState::Up));
            }
        }
        there_and_back(&fabric, &mut a, &mut b, 100_001);
        let polled = |_: &mut Station<'_>| {
            b.poll(clock.now());
        };
        assert!(a.shut_down(Span::from_secs(5), polled), "A comes to an end");
        assert!(b.shut_down(Span::from_secs(5), |_| {}), "B comes to an end");
    });
    assert_eq!(violations.load(lnd_core::sync::Ordering::Relaxed), 0);
}

/// PUTs eight MiB from A to B in eight messages.
fn eight_at_once<'m>(fabric: &'m Fabric<'m>, a: &mut Station<'m>, b: &mut Station<'m>) {
    let (mut wa, mut wb) = (MemoryWindow::new(fabric, 0), MemoryWindow::new(fabric, 1));
    let data = pattern(8 << 20);
    let mut got = vec![0; data.len()];
    wa.write(0, &data).unwrap();
    wb.write(0, &got).unwrap();
    let md = Md { memory: span(0, 8 << 20), put: true, manage_remote: true, ..Md::default() };
    b.node.lnet.attach(Match { portal: 2, ..Match::default() }, md).unwrap();
    for part in 0..8 {
        let (offset, to) = (part << 20, nid_of(1));
        let target = Target { portal: 2, match_bits: 0, offset, data: 0 };
        let memory = span(offset.into(), 1 << 20);
        a.node.lnet.put(Put { to, target, memory, ack: true, user: 0 }).unwrap();
    }
    let acks = Cell::new(0);
    run_until(a, b, |e| {
        acks.set(acks.get() + u32::from(matches!(e, Event::Ack { .. })));
        acks.get() == 8
    });
    wb.read(0, &mut got).unwrap();
    assert!(got == data);
}

/// A link that has lost its clock is out of service at once: not only when a transfer has waited on
/// it for its whole time. It comes back with its clock.
#[test]
fn a_link_that_is_pulled_is_out_of_service_before_anything_waits_for_it() {
    let shape = Shape::new(2, 2, 64, 64 << 20);
    let mapping = Mapping::anonymous(shape.bytes_needed()).unwrap();
    let fabric = Fabric::format(&mapping, shape).unwrap();
    let (arena, clock, violations) = (Arena::new(), Clock::start(), AtomicU32::new(0));
    let (kill, bells) = (AtomicBool::new(false), Bells::new(2, 2));
    let config = Config::new(64, 4, 2);
    let (mut a, engine_refs) =
        Station::join(&arena, &fabric, 0, clock, config, &violations, &bells).unwrap();
    thread::scope(|scope| {
        let _killer = Killer(&kill);
        for mut engine_ref in engine_refs {
            let kill = &kill;
            scope.spawn(move || drive_engine(&mut engine_ref, clock, kill));
        }
        let [first, second] = [0, 1].map(|number| LinkId::new(number).unwrap());
        [first, second].into_iter().for_each(|link| wait_for(&mut a, link, LinkState::Up));
        for (link, other) in [(first, second), (second, first)] {
            for (up, state) in [(false, LinkState::Down), (true, LinkState::Up)] {
                assert!(fabric.set_link(0, link, up));
                wait_for(&mut a, link, state);
                assert_eq!(a.node.driver.link_state(other), Some(LinkState::Up));
            }
        }
        assert!(a.shut_down(Span::from_secs(5), |_| {}), "A comes to an end");
    });
}

/// Polls until the link is in a state. The bound is in naps of this thread, a minute of them.
fn wait_for(a: &mut Station<'_>, link: LinkId, state: LinkState) {
    for _ in 0..60_000 {
        a.poll(a.now());
        if a.node.driver.link_state(link) == Some(state) {
            return;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("link {} is {:?}", link.index(), a.node.driver.link_state(link));
}

/// PUTs `size` bytes from A to B, and GETs them back to another place.
fn there_and_back<'m>(fabric: &'m Fabric<'m>, a: &mut Station<'m>, b: &mut Station<'m>, size: u32) {
    let (mut wa, mut wb) = (MemoryWindow::new(fabric, 0), MemoryWindow::new(fabric, 1));
    let (data, zeros) = (pattern(size), vec![0; size as usize]);
    wa.write(0, &data).unwrap();
    wb.write(0, &zeros).unwrap();
    wa.write(BACK, &zeros).unwrap();
    let md = Md {
        memory: span(0, 8 << 20),
        put: true,
        get: true,
        manage_remote: true,
        user: u64::from(size),
        ..Md::default()
    };
    let place = Match { portal: 1, bits: u64::from(size), ..Match::default() };
    b.node.lnet.attach(place, md).unwrap();
    let target = Target { portal: 1, match_bits: u64::from(size), offset: 0, data: 0 };
    let mut got = zeros;

    let put = Put { to: nid_of(1), target, memory: span(0, size), ack: true, user: 0 };
    a.node.lnet.put(put).unwrap();
    run_until(a, b, |e| matches!(e, Event::Ack { length, .. } if *length == size));
    wb.read(0, &mut got).unwrap();
    assert!(got == data, "PUT of {size}");

    let get = Get { to: nid_of(1), target, memory: span(BACK, size), user: 0 };
    a.node.lnet.get(get).unwrap();
    run_until(a, b, |e| match e {
        Event::Reply { length, status, .. } => *length == size && status.errno == 0,
        _ => false,
    });
    wa.read(BACK, &mut got).unwrap();
    assert!(got == data, "GET of {size}");
}

/// Lets the engines' threads end, whatever happens to the test's own.
struct Killer<'k>(&'k AtomicBool);

impl Drop for Killer<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Polls both until A has an event that satisfies `done`; a minute is far beyond every bound.
fn run_until<'m>(a: &mut Station<'m>, b: &mut Station<'m>, done: impl Fn(&Event) -> bool) {
    let begin = a.now();
    loop {
        let now = a.now();
        assert!(
            now.since(begin) < Span::from_secs(60),
            "stuck: {:?}, {:?}",
            a.node.driver.blocker(0),
            b.node.driver.blocker(0)
        );
        let busy_a = a.poll(now);
        let busy_b = b.poll(now);
        while let Some(event) = b.node.lnet.next_event() {
            if let Event::PutReceived { ack: Some(due), .. } = event {
                b.node.lnet.send_ack(due).expect("room for an ACK");
            }
        }
        while let Some(event) = a.node.lnet.next_event() {
            if done(&event) {
                assert_eq!(a.node.stats.violations, Vec::<String>::new());
                assert_eq!(b.node.stats.violations, Vec::<String>::new());
                return;
            }
        }
        if !busy_a && !busy_b {
            thread::yield_now();
        }
    }
}
