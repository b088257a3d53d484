// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Engines that push: the answer to a GET is written into what its requester has exposed (S3-11).
//!
//! The devices are the oracle, as in `called_off`: one that is asked for exposed memory looks for
//! pushes into it at all others, and one that is given a push looks whether its sink was taken back
//! before.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::{Kind, Role};
use lnd_core::id::Tag;
use lnd_core::message::{Message, NakReason, PullReady};
use lnd_core::ports::{Features, Returned, Sent};
use lnd_core::time::Span;
use lnd_core::transfer::{Cause, Place};

use crate::driver::device::OnInvalidate;
use crate::driver::fabric::{Fabric, InjectedFault};
use crate::driver::hello::forged;
use crate::driver::letter::Letter;
use crate::driver::node::{Decision, Order, TAKE};
use crate::driver::world::{config, WorldOf, LINK0};

mod cancelled;
mod wrong;

/// Two nodes that have connected to each other. `pushes`: which of them have engines that push.
fn met_of<const SAFE: bool>(pushes: [bool; 2], config: Config) -> WorldOf<SAFE> {
    let mut fabric = Fabric::new(2, config.links as usize);
    for (&(node, _), device) in &mut fabric.devices {
        device.connects = true;
        if pushes[node] {
            device.features |= Features::PUSHES.0;
        }
    }
    let mut w = WorldOf::on(fabric, 2, config);
    for (from, to) in [(0, 1), (1, 0)] {
        w.put(from, to, 0).unwrap();
        w.settle();
    }
    w.node(0).done.clear();
    w.node(1).done.clear();
    w.fabric.borrow_mut().said.clear();
    w
}

fn small() -> Config {
    let mut config = config();
    (config.links, config.connections, config.depth) = (1, 4, 2);
    config
}

fn met<const SAFE: bool>() -> WorldOf<SAFE> {
    met_of([true; 2], small())
}

fn pushed<const SAFE: bool>(w: &WorldOf<SAFE>) -> usize {
    w.fabric.borrow().pushed.len()
}

/// Why and where a transfer ended.
fn end<const SAFE: bool>(w: &WorldOf<SAFE>, node: usize, tag: Tag) -> Option<(Cause, Place)> {
    w.report(node, tag).status.evidence
}

fn invalidates<const SAFE: bool>(w: &WorldOf<SAFE>, node: usize) -> usize {
    w.device(node, 0, |d| d.calls.invalidates)
}

fn withdraw<const SAFE: bool>(w: &mut WorldOf<SAFE>, node: usize, tag: Tag) {
    let now = w.now;
    w.nodes[node].driver.withdraw(now, tag);
    w.nodes[node].check();
}

fn patient_get<const SAFE: bool>(w: &mut WorldOf<SAFE>, length: u32) -> Tag {
    let deadline = w.now.after(Span::from_secs(100));
    let order = Order { deadline, ..w.order(Kind::Get, 1, length) };
    w.send(0, order).unwrap()
}

fn assert_goes_on<const SAFE: bool>(w: &mut WorldOf<SAFE>) {
    (w.node(1).put, w.node(1).get) = (TAKE, TAKE);
    for kind in [Kind::Get, Kind::Put, Kind::Get] {
        let tag = w.submit(kind, 0, 1, 3000).unwrap();
        w.sleep(Span::from_secs(1));
        assert_eq!(w.report(0, tag).status.errno, 0);
    }
    w.sleep(Span::from_secs(40));
    assert_eq!(w.count(0, Counter::BadCredits) + w.count(0, Counter::Resyncs), 0);
    w.assert_drained();
    w.assert_deliveries();
}

/// Two messages in place of three, nothing is staged by the target, and each side has one report.
#[test]
fn s3_11_a_get_between_engines_that_push_is_pushed() {
    fn it<const SAFE: bool>() {
        let mut w = met::<SAFE>();
        let tag = w.get(0, 1, 5000).unwrap();
        w.settle();
        let said = |kind| w.said(0, 1, kind) + w.said(1, 0, kind);
        assert_eq!((said("get_req"), said("get_done"), said("pull_ready")), (1, 1, 0));
        assert_eq!((said("put_done"), said("cancel_push"), pushed(&w)), (0, 0, 1));
        let (got, gave) = (w.report(0, tag), w.nodes[1].done[0]);
        assert_eq!((got.role, got.status.errno, got.bytes), (Role::PushSink, 0, 5000));
        // R8: one report, and it is of both messages.
        assert!(got.reply && !gave.reply && !got.lost_race);
        assert_eq!((gave.role, gave.status.errno, gave.bytes), (Role::PushSource, 0, 5000));
        // The sink's key is invalid before its report: see `with_device` in the ledger.
        assert_eq!((invalidates(&w, 0), invalidates(&w, 1)), (1, 0));
        w.assert_drained();
    }
    it::<true>();
    it::<false>();
}

/// A peer whose engine does not push is asked in the usual way, and asks so.
#[test]
fn s3_11_both_ends_must_push() {
    for pushes in [[true, false], [false, true], [false, false]] {
        let mut w = met_of::<false>(pushes, small());
        for from in [0, 1] {
            let tag = w.get(from, 1 - from, 5000).unwrap();
            w.settle();
            let report = w.report(from, tag);
            assert_eq!((report.role, report.status.errno), (Role::GetPull, 0), "{pushes:?}");
        }
        assert_eq!((pushed(&w), w.said(0, 1, "pull_ready")), (0, 1));
        w.assert_drained();
    }
}

/// One link whose engine does not push decides for all links of a driver. So do engines without
/// keys: a peer could not be asked.
#[test]
fn s3_11_every_link_must_push_and_have_keys() {
    let mut two = small();
    two.links = 2;
    for plain in [false, true] {
        let mut fabric = Fabric::new(2, 2);
        fabric.plain = plain;
        for (&(node, link), device) in &mut fabric.devices {
            if plain || (node, link) != (1, 1) {
                device.features |= Features::PUSHES.0;
            }
        }
        let mut w = WorldOf::<true>::on(fabric, 2, two);
        for _ in 0..3 {
            let tag = w.get(0, 1, 5000).unwrap();
            w.settle();
            assert_eq!((w.report(0, tag).role, pushed(&w)), (Role::GetPull, 0));
        }
        w.assert_drained();
    }
}

/// Engines that do not invalidate safely expose nothing to a peer that does not answer CANCEL.
#[test]
fn s3_11_memory_is_exposed_only_to_a_peer_that_gives_it_back() {
    let mut fabric = Fabric::new(2, 1);
    fabric.no_cancel = true;
    for device in fabric.devices.values_mut() {
        device.features |= Features::PUSHES.0;
        device.connects = true;
    }
    let mut w = WorldOf::<false>::on(fabric, 2, small());
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.report(0, tag).role, w.report(0, tag).status.errno), (Role::GetPull, 0));
    assert_eq!(pushed(&w), 0);
    w.assert_drained();
}

/// PUTs are pulled as before, and short GETs go inline.
#[test]
fn s3_11_puts_and_inline_gets_stay_as_they_are() {
    let mut w = met::<false>();
    let put = w.put(0, 1, 5000).unwrap();
    let get = w.get(0, 1, 100).unwrap();
    w.settle();
    let roles = (w.report(0, put).role, w.report(0, get).role);
    assert_eq!((roles, pushed(&w)), ((Role::PutSource, Role::Immediate), 0));
    w.assert_drained();
}

/// S1-8: the report says how much there is, not how much there is room for.
#[test]
fn s3_11_a_target_may_push_less_than_was_asked_for() {
    for given in [1, 1234, 4999, 0] {
        let mut w = met::<false>();
        w.node(1).get = Decision::UpTo(given);
        let tag = w.get(0, 1, 5000).unwrap();
        w.settle();
        assert_eq!((w.report(0, tag).status.errno, w.report(0, tag).bytes), (0, given));
        assert_eq!((pushed(&w), w.nodes[1].done[0].bytes), (1, given));
        w.assert_drained();
    }
}

/// A GET that waits for the hello learns only then what its peer can do. A request that the upper
/// layer keeps is answered by its own key.
#[test]
fn s3_11_a_get_that_waits_and_a_request_that_is_kept_are_pushed() {
    let mut fabric = Fabric::new(2, 1);
    fabric.devices.values_mut().for_each(|d| d.features |= Features::PUSHES.0);
    let mut w = WorldOf::<false>::on(fabric, 2, Config { pulls: 1, ..small() });
    w.node(1).get = Decision::Keep;
    let tags: Vec<Tag> = (0..2).map(|_| w.get(0, 1, 5000).unwrap()).collect();
    w.settle();
    assert_eq!((w.nodes[1].kept.len(), pushed(&w)), (2, 0));
    w.node(1).kept.reverse();
    // R25: pushes share the limit of the pulls.
    w.device(1, 0, |d| d.frozen = true);
    w.node(1).answer_kept(5000).unwrap();
    w.node(1).answer_kept(5000).unwrap();
    w.settle();
    assert_eq!((w.count(1, Counter::PullsWaited), w.device(1, 0, |d| d.calls.posts)), (1, 1));
    w.device(1, 0, |d| d.frozen = false);
    w.settle();
    assert_eq!(pushed(&w), 2);
    assert!(tags.iter().all(|&tag| w.report(0, tag).status.errno == 0));
    w.assert_drained();
}

#[test]
fn s3_11_a_refused_get_gives_its_memory_back() {
    let mut w = met::<false>();
    w.node(1).get = Decision::Refuse(NakReason::NoMatch);
    let tag = w.get(0, 1, 5000).unwrap();
    w.settle();
    assert_eq!((w.said(1, 0, "get_nak"), w.said(0, 1, "cancel_push")), (1, 0));
    assert_eq!(end(&w, 0, tag), Some((Cause::Refused, Place::Staged)));
    assert!(w.report(0, tag).reply, "R8: the reply's message ends too");
    assert_goes_on(&mut w);
}

/// A push that fails is reported to its sink. The GET ends before its deadline.
#[test]
fn s3_11_a_push_that_fails_is_told() {
    for posted in [true, false] {
        let mut w = met::<false>();
        if posted {
            w.device(1, 0, |d| d.frozen = true);
        } else {
            w.device(1, 0, |d| d.refuse_posts = 1);
        }
        let tag = w.get(0, 1, 5000).unwrap();
        w.settle();
        if posted {
            let push = w.device(1, 0, |d| d.posted.values().next().unwrap().tag);
            withdraw(&mut w, 1, push);
            w.device(1, 0, |d| (d.frozen, d.on_invalidate) = (false, OnInvalidate::Touched));
            w.settle();
        }
        assert_eq!((w.said(1, 0, "get_done"), w.reported(0, tag)), (1, true));
        assert_eq!(w.report(0, tag).status.evidence.unwrap().0, Cause::Refused);
        assert_eq!((w.report(0, tag).bytes, w.said(0, 1, "cancel_push")), (0, 0));
        w.device(1, 0, |d| d.on_invalidate = OnInvalidate::Honest);
        assert_goes_on(&mut w);
    }
}

/// The end of a push finds no way. It waits for one, with the length that it has to say.
#[test]
fn s3_11_the_end_of_a_push_waits_for_a_way_with_its_length() {
    let mut w = met_of::<true>([true; 2], small());
    w.node(1).get = Decision::UpTo(1234);
    w.device(1, 0, |d| d.frozen = true);
    let tag = patient_get(&mut w, 5000);
    w.settle();
    w.device(1, 0, |d| d.frozen = false);
    assert!(w.devices() >= 1);
    w.interrupts();
    w.notify_link(1, LINK0, false);
    w.settle();
    assert_eq!((w.said(1, 0, "get_done"), w.count(1, Counter::FinalsWaited)), (0, 1));
    let source = w.nodes[1].done[0];
    assert_eq!((source.role, source.status.errno, source.bytes), (Role::PushSource, 0, 1234));
    w.notify_link(1, LINK0, true);
    w.sleep(Span::from_secs(1));
    assert_eq!(w.said(1, 0, "get_done"), 1);
    assert_eq!((w.report(0, tag).status.errno, w.report(0, tag).bytes), (0, 1234));
    w.sleep(Span::from_secs(40));
    w.assert_drained();
}

/// One side takes back at once what it has lent, and the other asks its peer first. They agree that
/// nothing is pushed.
#[test]
fn s3_11_engines_that_invalidate_differently_pull_from_each_other() {
    let mut fabric = Fabric::new(2, 1);
    for (&(node, _), device) in &mut fabric.devices {
        device.connects = true;
        device.features |= Features::PUSHES.0;
        device.safe = node == 0;
    }
    let mut w = WorldOf::<false>::on(fabric, 2, small());
    for (from, to) in [(0, 1), (1, 0)] {
        let get = w.get(from, to, 5000).unwrap();
        w.settle();
        let got = w.report(from, get);
        assert_eq!((got.role, got.status.errno, got.bytes), (Role::GetPull, 0, 5000));
        assert_eq!((pushed(&w), w.count(from, Counter::WrongAnswer)), (0, 0));
    }
    w.assert_drained();
}
