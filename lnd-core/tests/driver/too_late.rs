// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What comes late through a pause, or for want of room, and says how a transfer of the peer ends:
//! it is said all the same.

use lnd_core::config::Config;
use lnd_core::counters::Counter;
use lnd_core::driver::Kind;
use lnd_core::id::Tag;
use lnd_core::message::NakReason;
use lnd_core::time::Span;

use super::finals::met;
use super::node::{Decision, Order};
use super::world::{config, World};

fn order(w: &World, kind: Kind, seconds: u64) -> Order {
    Order { deadline: w.now.after(Span::from_secs(seconds)), ..w.order(kind, 1, 5000) }
}

/// INV-11: GETs that their requester has given up leave no stage behind. Else enough of them would
/// keep its next request out until the deadlines of the target's upper layer.
#[test]
fn inv_11_a_ready_for_a_get_that_has_ended_ends_the_stage() {
    let depth = config().depth;
    for passed_over in [false, true] {
        let mut w = met(true, Config { slots: 64, passive_slots: 32, ..config() });
        for _ in 0..2 {
            w.hold("pull_ready");
            for _ in 0..depth {
                let get = order(&w, Kind::Get, 1);
                w.send(0, get).unwrap();
                w.settle();
            }
            let late = Span::from_secs(2);
            if passed_over {
                // No call has ended them when the answers come.
                w.now = w.now.after(late);
            } else {
                w.sleep(late);
            }
            w.free("pull_ready");
            w.settle();
        }
        assert_eq!(w.nodes[0].driver.in_use(), (0, 0));
        assert_eq!(
            (w.nodes[1].driver.in_use(), w.said(0, 1, "put_nak")),
            ((0, 0), 2 * depth as usize)
        );
        assert!(w.nodes[1].done.iter().all(|it| it.status.errno != 0), "nothing was pulled");
        let put = order(&w, Kind::Put, 20);
        let put = w.send(0, put).unwrap();
        w.sleep(Span::from_secs(1));
        assert_eq!(w.report(0, put).status.errno, 0, "{passed_over}");
        w.assert_drained();
    }
}

/// R41: the pause has made more timers due than one call handles. The message is behind them.
#[test]
fn r41_a_pause_ends_no_final_message_behind_other_timers() {
    for (batch, own) in [(256, 300), (4, 8)] {
        let mut w = met(false, Config { slots: 1024, passive_slots: 64, batch, ..config() });
        w.fabric.borrow_mut().room.insert((1, 0), [0, 0]);
        for _ in 0..own {
            let late =
                Order { deadline: w.now.after(Span::from_secs(20)), ..w.order(Kind::Put, 0, 0) };
            w.send(1, late).unwrap();
        }
        let put = order(&w, Kind::Put, 300);
        let tag = w.send(0, put).unwrap();
        w.settle();
        assert_eq!(w.count(1, Counter::FinalsWaited), 1);
        w.fabric.borrow_mut().room.clear();
        w.now = w.now.after(Span::from_secs(60));
        w.settle();
        w.sleep(Span::from_secs(5));
        assert_eq!((w.count(1, Counter::Unsaid), w.reported(0, tag)), (0, true), "{batch}");
    }
}

/// Node 1 keeps a request of node 0, for which there is much time.
fn kept() -> (World, Tag) {
    let mut w = met(false, config());
    w.node(1).put = Decision::Keep;
    let put = order(&w, Kind::Put, 300);
    let tag = w.send(0, put).unwrap();
    w.settle();
    (w, tag)
}

fn refuse(w: &mut World) {
    let (now, kept) = (w.now, w.node(1).kept.remove(0));
    w.nodes[1].driver.nak(now, kept.rx_request, NakReason::NoMatch);
    w.settle();
}

/// R41: the host has paused for longer than a decision may take, and refuses before it lets time
/// pass.
#[test]
fn r41_a_refusal_after_a_pause_is_said() {
    let (mut w, tag) = kept();
    w.now = w.now.after(Span::from_secs(60));
    w.nodes[1].now = w.now;
    refuse(&mut w);
    w.sleep(Span::from_secs(5));
    assert_eq!((w.said(1, 0, "put_nak"), w.reported(0, tag)), (1, true));
    w.assert_drained();
}

/// INV-9: a refusal waits for room as long as any final message, however late it was decided.
#[test]
fn inv_9_a_refusal_at_the_last_moment_waits_for_room() {
    let (mut w, tag) = kept();
    w.sleep(Span::from_secs(49));
    w.fabric.borrow_mut().room.insert((1, 0), [64, 0]);
    refuse(&mut w);
    w.sleep(Span::from_secs(2));
    w.fabric.borrow_mut().room.clear();
    w.sleep(Span::from_secs(5));
    assert_eq!((w.said(1, 0, "put_nak"), w.reported(0, tag)), (1, true));
    w.assert_drained();
}
