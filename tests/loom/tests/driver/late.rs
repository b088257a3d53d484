// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Shutdown, and a sweep that the shard's thread does not make itself.

use lnd_core::driver::RunState;
use lnd_core::transfer::{Effect, Event, Phase};

use super::*;

impl Context {
    /// Declares the peer down, and gives up in the same breath what is handed out to it: what a
    /// context may do that has no time to wait for the shard's thread.
    fn down_and_sweep(&self, peer: PeerId, slot: u32) -> Option<Effect> {
        self.peer_down(peer);
        let shared = self.irq_handle.shared();
        self.device.turn();
        let (tag, cause) = shared.must_cancel(slot)?;
        self.device.turn();
        // What waits in a queue is the thread's to take out.
        let live = shared.word(slot).phase() == Phase::Live;
        let applied = live.then(|| shared.apply(tag, Event::Cancel(cause))).flatten();
        applied.map(|applied| applied.effect)
    }
}

impl Node {
    /// Lets time pass until the shutdown is over.
    fn shut_down(&mut self) {
        for _ in 0..8 {
            self.driver.on_time(NOW);
        }
        assert_eq!(self.driver.run_state(), RunState::Quiescent, "{:?}", self.driver.blocker(0));
    }
}

#[test]
fn inv_1_submit_against_a_sweep_elsewhere() {
    let ends = explore("driver: submit ‖ peer-down, sweep", Bound::Preemptions(3), || {
        let mut node = Node::new();
        let tag = node.next;
        let peer = node.driver.peer(nid(2)).unwrap();
        let other = node.context(move |context| context.down_and_sweep(peer, tag.index));
        let accepted = node.submit(STAGED);
        let swept = other.join().unwrap().is_some();
        let here = node.here();
        let posted = here.device.has(tag);
        assert!(swept || !posted, "handed out to a peer that is down, and not noticed");

        node.driver.on_time(NOW);
        assert_eq!(node.device.invalidated.get(), u32::from(posted), "asked for exactly once");
        here.complete(tag, Returned::Untouched);
        here.deliver(tag);
        let report = node.report();
        assert_eq!(report.map(|r| r.tag), accepted.ok());
        assert!(report.is_none_or(|r| r.status.errno != 0));
        node.end();
        (accepted.is_ok(), posted, swept)
    });
    // Refused; given up in the queue; taken back; taken back and swept; handed out and swept.
    let all =
        [(false, false, false), (true, false, false), (true, false, true), (true, true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_15_shutdown_against_completions() {
    let ends = explore("driver: shutdown ‖ completions", Bound::Preemptions(3), || {
        let mut node = Node::new();
        let tag = node.next;
        assert_eq!(node.submit(STAGED), Ok(tag));
        let interrupt = node.context(move |context| {
            assert!(context.complete(tag, Returned::Ok) && context.deliver(tag));
        });
        node.driver.shutdown(NOW, NOW);
        node.driver.on_time(NOW);
        assert_eq!(node.submit(STAGED), Err(Why::ShuttingDown));
        let early = node.report();
        let asked = node.device.invalidated.get();
        interrupt.join().unwrap();

        let was_early = early.is_some();
        let report = early.or_else(|| node.report()).unwrap();
        // S0-16: asked for or not, it came back good.
        assert_eq!((report.tag, report.status.errno), (tag, 0));
        assert!(asked <= 1, "asked for at most once");
        node.shut_down();
        node.end();
        (asked == 1, was_early)
    });
    let all = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}

#[test]
fn inv_15_submit_and_shutdown_against_peer_down() {
    let ends = explore("driver: submit, shutdown ‖ peer-down", Bound::Preemptions(3), || {
        let mut node = Node::new();
        let tag = node.next;
        let peer = node.driver.peer(nid(2)).unwrap();
        let interrupt = node.context(move |context| context.peer_down(peer));
        let accepted = node.submit(STAGED);
        node.driver.shutdown(NOW, NOW);
        node.driver.on_time(NOW);
        interrupt.join().unwrap();
        node.driver.on_time(NOW);

        let here = node.here();
        let posted = here.complete(tag, Returned::Untouched);
        assert_eq!(here.deliver(tag), posted);
        assert_eq!(node.device.invalidated.get(), u32::from(posted), "asked for exactly once");
        let report = node.report();
        assert_eq!(report.map(|r| r.tag), accepted.ok());
        assert!(report.is_none_or(|r| r.status.errno != 0));
        node.shut_down();
        node.end();
        (accepted.is_ok(), posted)
    });
    let all = [(false, false), (true, false), (true, true)];
    assert_eq!(ends.into_keys().collect::<Vec<_>>(), all);
}
