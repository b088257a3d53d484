// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What happens when something fails.

use lnd_core::driver::Kind;
use lnd_core::link::Quiesced;
use lnd_core::time::Span;

use super::picture::{assert_true, Item};
use super::ports::{fabric, Lanes, LANES, LINKS, NIDS};
use super::world::{Says, World};

/// Goes on for so long, in calls of `on_time`; each report is fetched at once.
fn run(w: &mut World, calls: u32) {
    for _ in 0..calls {
        w.now = w.now.after(Span::from_millis(1));
        w.time(0);
        w.report(0);
    }
}

#[test]
fn peer_down() {
    let mut w = World::met(Lanes { core: ["C1", "P"], ..LANES });
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    fabric(|it| it.calls(0, "on_peer(B, down)"));
    w.drivers[0].on_peer(w.now, NIDS[1], false);
    w.time(0);
    w.interrupt(0);
    w.report(0);
    assert_eq!(w.submit(Kind::Put, 4096), None);
    w.now = w.now.after(Span::from_secs(5));
    let _ = w.submit(Kind::Put, 4096);
    assert_true("peer-down", &World::happened());
}

#[test]
fn restart() {
    let mut w = World::met(Lanes { core: ["C1", "P"], ..LANES });
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    w.restart();
    w.receive(0, Says::Takes);
    w.receive(1, Says::Takes);
    w.receive(0, Says::Takes);
    w.time(0);
    w.interrupt(0);
    w.report(0);
    assert_true("restart", &World::happened());
}

#[test]
fn link_failure() {
    let mut w = World::met(Lanes { engines: [["E0", "E1"], ["-", "-"]], ..LANES });
    fabric(|it| it.gives_back = false);
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    fabric(|it| it.note("-->", "E0", "C1", &["link_failed()"]));
    w.drivers[0].irq_handle().link_failed(LINKS[0]);
    w.link = None;
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    run(&mut w, 10);
    w.pulled(1);
    w.interrupt(0);
    w.report(0);
    assert_true("link-failure", &World::happened());
}

#[test]
fn stop_and_proof() {
    let mut w = World::met(LANES);
    fabric(|it| it.gives_back = false);
    let tag = w.submit(Kind::Put, 4096).unwrap();
    w.sent(0);
    fabric(|it| {
        it.forget();
        it.happened.push(Item::bar(true, "L1", "lent"));
        it.calls(0, "withdraw()");
    });
    w.drivers[0].withdraw(w.now, tag);
    fabric(|it| it.blank = true);
    w.now = w.now.after(Span::from_secs(5));
    run(&mut w, 10);
    assert_eq!(w.drivers[0].quarantined(LINKS[0]), 1);
    fabric(|it| it.note("->", "D", "C1", &["assert_stopped(proof)"]));
    // SAFETY: nothing moves in this world but in `World::pull`.
    let proof = unsafe { Quiesced::assert_stopped(LINKS[0]) };
    w.drivers[0].assert_stopped(w.now, proof).unwrap();
    run(&mut w, 10);
    assert_true("stop-and-proof", &World::happened());
}
