// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Credits and the duplicate window of one session, over a way that loses, repeats and reorders.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::config::MAX_DEPTH;
use lnd_core::peer::credits::{Ours, Theirs};
use lnd_core::peer::window::{SequenceCheck, WIDTH};

#[derive(Arbitrary, Debug)]
enum Op {
    /// A request is sent if there is a credit.
    Send,
    /// A request under way arrives, and stays there or not: a repeat may follow.
    Arrive { pick: u8, again: bool },
    /// A request under way is lost.
    Lose(u8),
    /// One that was taken in is done with.
    Consume,
    /// The count is told, and arrives now or later.
    Tell,
    /// A count that was told arrives, perhaps for the second time.
    Hear { pick: u8, again: bool },
    /// A node that is not the peer says anything.
    Forge(u16),
    /// A sequence number that was never sent.
    Stray(u32),
}

struct Way {
    depth: u16,
    ours: Ours,
    theirs: Theirs,
    /// Requests sent, counted without wrapping.
    sent: u64,
    requests: Vec<u64>,
    taken: BTreeSet<u64>,
    waiting: u64,
    counts: Vec<u16>,
    /// Requests given up as lost, and the highest number that has arrived.
    lost: u64,
    top: u64,
    consumed: u64,
    heard: bool,
}

/// INV-12: credits are conserved over losses and repeats; no request is taken twice; no peer can
/// give back more than was sent.
pub fn credits(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let depth = 1 + u16::arbitrary(&mut input).unwrap_or(0) % MAX_DEPTH;
    let mut way = Way {
        depth,
        ours: Ours::open(depth),
        theirs: Theirs::open(),
        sent: 0,
        requests: Vec::new(),
        taken: BTreeSet::new(),
        waiting: 0,
        counts: Vec::new(),
        lost: 0,
        top: 0,
        consumed: 0,
        heard: true,
    };
    while let Ok(op) = Op::arbitrary(&mut input) {
        way.apply(op);
        way.check();
        if input.is_empty() {
            break;
        }
    }
}

impl Way {
    fn apply(&mut self, op: Op) {
        match op {
            Op::Send => {
                let left = self.ours.left();
                assert_eq!(self.ours.take().is_some(), left > 0, "a credit if there is one");
                if left > 0 {
                    self.sent += 1;
                    self.requests.push(self.sent);
                }
            }
            Op::Arrive { pick, again } => {
                if let Some(number) = pull(&mut self.requests, pick, again) {
                    self.arrive(number);
                }
            }
            Op::Lose(pick) => {
                pull(&mut self.requests, pick, false);
            }
            Op::Consume => {
                if self.waiting > 0 {
                    self.waiting -= 1;
                    self.consumed += 1;
                    self.theirs.consume();
                }
            }
            Op::Tell => self.counts.push(self.theirs.announce()),
            Op::Hear { pick, again } => {
                if let Some(total) = pull(&mut self.counts, pick, again) {
                    let before = self.ours.left();
                    let event = self.ours.returned(total);
                    // Half of the counter's range is far more than ever is in flight, so an old
                    // count is no news, and a true one never claims too much.
                    if self.heard {
                        let event = event.expect("a true count was refused");
                        assert_eq!(self.ours.left(), before + event);
                    }
                }
            }
            Op::Forge(total) => {
                let before = self.ours;
                match self.ours.returned(total) {
                    // From here on the two sides' counts need not agree any more.
                    Some(event) => {
                        assert!(event <= before.in_flight());
                        self.heard &= event == 0;
                    }
                    None => assert_eq!(self.ours.in_flight(), before.in_flight()),
                }
            }
            Op::Stray(number) => {
                let known = u64::from(number) <= self.sent;
                if !known && self.theirs.peek(number) == SequenceCheck::Duplicate {
                    // Numbers before the first count as seen.
                    assert!(number.wrapping_neg() <= WIDTH, "{number} was never sent");
                }
            }
        }
    }

    fn arrive(&mut self, number: u64) {
        match self.theirs.peek(number as u32) {
            SequenceCheck::Fresh { lost } => {
                assert!(self.taken.insert(number), "request {number} was taken twice");
                self.theirs.take_in(number as u32, lost);
                self.lost += u64::from(lost);
                self.waiting += 1;
                self.top = self.top.max(number);
            }
            SequenceCheck::Duplicate => assert!(self.taken.contains(&number), "{number} was lost"),
            SequenceCheck::Outside => {
                // A copy that was under way for longer than a window; or what was sent on the
                // credits of a forged count.
                let width = u64::from(WIDTH);
                let forged = !self.heard && number > self.top + width;
                assert!(number + width <= self.top || forged, "{number} is within a window");
            }
        }
    }

    fn check(&self) {
        let (left, flying) = (self.ours.left(), self.ours.in_flight());
        assert_eq!(left + flying, self.depth, "INV-12: mine and in flight are all");
        // Whatever left the window unseen was counted as lost, once.
        let settled = self.top.saturating_sub(u64::from(WIDTH));
        let missing = (1..=settled).filter(|number| !self.taken.contains(number)).count() as u64;
        assert_eq!(self.lost, missing, "losses");
        assert!(u64::from(self.theirs.owed()) <= self.consumed + self.lost);
    }
}

/// One of several that are under way; `again`: it stays there as well.
fn pull<T: Copy>(from: &mut Vec<T>, pick: u8, again: bool) -> Option<T> {
    let at = usize::from(pick) % from.len().max(1);
    let one = *from.get(at)?;
    if !again {
        from.swap_remove(at);
    }
    Some(one)
}
