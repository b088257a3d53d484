// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How messages go.

use lnd_core::driver::Kind;

use super::picture::{assert_true, Item};
use super::ports::{fabric, Lanes, LANES};
use super::world::{Says, World};

#[test]
fn handshake() {
    let mut w = World::new(LANES, 8);
    let _ = w.submit(Kind::Put, 64);
    w.receive(1, Says::Takes);
    w.receive(0, Says::Takes);
    w.receive(1, Says::Takes);
    let happened = World::happened();
    // The picture ends with the message that waited.
    let end = happened.iter().rposition(|it| format!("{it:?}").contains("IMMEDIATE")).unwrap();
    assert_true("handshake", &happened[..=end]);
}

#[test]
fn small_put() {
    let mut w = World::met_with(Lanes { channel: Some("CH"), ..LANES }, 1);
    let _ = w.submit(Kind::Put, 64);
    w.sent(0);
    w.receive(1, Says::Takes);
    w.report(0);
    w.time(1);
    assert_true("small-put", &World::happened());
}

#[test]
fn large_put() {
    let mut w = World::met(LANES);
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    w.receive(1, Says::Takes);
    w.pull();
    for node in [0, 1] {
        w.interrupt(node);
        w.report(node);
    }
    assert_true("large-put", &World::happened());
}

#[test]
fn get() {
    let mut w = World::met(LANES);
    let _ = w.submit(Kind::Get, 4096);
    w.sent(0);
    w.receive(1, Says::Takes);
    w.sent(1);
    w.receive(0, Says::Takes);
    w.pull();
    for node in [0, 1] {
        w.interrupt(node);
        w.report(node);
    }
    assert_true("get", &World::happened());
}

#[test]
fn push() {
    fabric(|it| it.pushes = true);
    let mut w = World::met(LANES);
    let _ = w.submit(Kind::Get, 4096);
    w.sent(0);
    w.receive(1, Says::Takes);
    w.push();
    w.interrupt(1);
    w.report(1);
    w.receive(0, Says::Takes);
    w.interrupt(0);
    w.report(0);
    assert_true("push", &World::happened());
}

#[test]
fn nak() {
    let mut w = World::met(LANES);
    let _ = w.submit(Kind::Put, 4096);
    w.sent(0);
    w.receive(1, Says::Refuses);
    w.receive(0, Says::Takes);
    w.interrupt(0);
    w.report(0);
    assert_true("nak", &World::happened());
}

#[test]
fn cancel() {
    fabric(|it| it.safe = false);
    let mut w = World::met(LANES);
    let tag = w.submit(Kind::Put, 4096).unwrap();
    w.sent(0);
    w.receive(1, Says::Takes);
    fabric(|it| {
        it.forget();
        it.happened.extend(["L1", "L2"].map(|lane| Item::bar(true, lane, "lent")));
        it.calls(0, "withdraw()");
    });
    w.drivers[0].withdraw(w.now, tag);
    w.receive(1, Says::Takes);
    w.interrupt(1);
    w.report(1);
    w.receive(0, Says::Takes);
    w.interrupt(0);
    w.report(0);
    assert_true("cancel", &World::happened());
}
