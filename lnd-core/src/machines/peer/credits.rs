// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file counts the request credits of one session, in both directions (R33, R34, INV-12).
//!
//! Counts are cumulative and wrap at 16 bits: "so many of your requests are consumed in this
//! session". A lost or repeated message therefore loses or repeats nothing: the next message
//! carries the count again.

use super::window::{SequenceCheck, SequenceWindow};

/// Our credits towards a peer: requests sent and not yet consumed by it.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct Ours {
    depth: u8,
    in_flight: u8,
    returned: u16,
}

/// What is owed to a peer: requests of its session that were consumed here.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Theirs {
    consumed: u16,
    announced: u16,
    window: SequenceWindow,
}

impl Ours {
    /// A new session with `depth` credits, at most 255.
    pub const fn open(depth: u16) -> Self {
        Self::counting_from(depth, 0)
    }

    /// The same, whose requests are counted from `first`.
    pub const fn counting_from(depth: u16, first: u32) -> Self {
        // The configuration allows fewer. The cap keeps the counts in a byte whatever a peer
        // grants.
        let depth = if depth > 255 { 255 } else { depth as u8 };
        Self { depth, in_flight: 0, returned: first as u16 }
    }

    /// Credits there are in all.
    pub const fn depth(&self) -> u16 {
        self.depth as u16
    }

    /// Credits left.
    #[inline]
    pub const fn left(&self) -> u16 {
        self.depth.saturating_sub(self.in_flight) as u16
    }

    /// Requests sent and not known to be consumed. Never more than the depth (INV-12).
    #[inline]
    pub const fn in_flight(&self) -> u16 {
        self.in_flight as u16
    }

    /// Requests sent, and of these known to be consumed, in all.
    pub const fn counts(&self) -> (u16, u16) {
        (self.returned.wrapping_add(self.in_flight as u16), self.returned)
    }

    /// Spends a credit, or `None` if there is none.
    #[inline]
    pub fn take(&mut self) -> Option<()> {
        if self.left() == 0 {
            return None;
        }
        self.in_flight = self.in_flight.wrapping_add(1);
        Some(())
    }

    /// Whether the peer has announced before that it has consumed so many in all.
    #[inline]
    pub const fn has_returned(&self, total: u16) -> bool {
        self.returned == total
    }

    /// Applies the peer's count of consumed requests. Returns how many are new, or `None` if the
    /// count is larger than what was sent; nothing is changed then. An older count adds nothing.
    #[inline]
    pub fn returned(&mut self, total: u16) -> Option<u16> {
        let unannounced = total.wrapping_sub(self.returned);
        // The counts wrap. A difference beyond half the range is an older count that was overtaken,
        // not a newer one.
        if unannounced > u16::MAX / 2 {
            return Some(0);
        }
        // The count in flight must not fall below zero, whatever a peer claims (INV-12).
        if unannounced > self.in_flight() {
            return None;
        }
        self.returned = total;
        self.in_flight = self.in_flight.wrapping_sub(unannounced as u8);
        Some(unannounced)
    }
}

impl Theirs {
    /// A new session of the peer.
    pub const fn open() -> Self {
        Self::counting_from(0)
    }

    /// The same, whose requests are counted from `first`.
    pub const fn counting_from(first: u32) -> Self {
        let window = SequenceWindow::counting_from(first);
        Self { consumed: first as u16, announced: first as u16, window }
    }

    /// Requests consumed, and of these announced to the peer, in all.
    pub const fn counts(&self) -> (u16, u16) {
        (self.consumed, self.announced)
    }

    /// Whether a request is the next in order, and accepting it loses no other.
    #[inline]
    pub const fn expects(&self, sequence: u32) -> bool {
        self.window.expects(sequence)
    }

    /// Looks a request's sequence number up.
    #[inline]
    pub fn peek(&self, sequence: u32) -> SequenceCheck {
        self.window.peek(sequence)
    }

    /// How many requests are lost if this one is accepted.
    #[inline]
    pub const fn lost_by(&self, sequence: u32) -> u32 {
        match self.window.peek(sequence) {
            SequenceCheck::Fresh { lost } => lost,
            SequenceCheck::Duplicate | SequenceCheck::Outside => 0,
        }
    }

    /// Accepts a request. Its credit is owed once it is [`consumed`](Self::consume). The credits of
    /// those lost before it are owed at once.
    #[inline]
    pub fn take_in(&mut self, sequence: u32, lost: u32) {
        self.window.note(sequence);
        self.consumed = self.consumed.wrapping_add(lost as u16);
    }

    /// Accepts the next request in order, before which none is lost.
    #[inline]
    pub fn take_next(&mut self) {
        self.window.note_next();
    }

    /// Applies what the sender gives up. `last` is its latest request. Bit `i` of `given_up` is
    /// request `last - i`. Requests that were not received count as consumed and are refused from
    /// then on. Returns how many these are. A repetition changes nothing.
    ///
    /// `None`: the window would pass requests that have not arrived. In a `reliable` channel these
    /// are late, not lost (S0-18), so the session cannot be counted any more.
    pub fn give_up(&mut self, last: u32, given_up: u32, reliable: bool) -> Option<u32> {
        let mut count = 0;
        // The oldest comes first. A later number would move the window and turn older ones that are
        // given up too into losses.
        for behind in (0..u32::BITS).rev() {
            let sequence = last.wrapping_sub(behind);
            if given_up >> behind & 1 == 0 {
                continue;
            }
            if let SequenceCheck::Fresh { lost } = self.window.peek(sequence) {
                if lost > 0 && reliable {
                    return None;
                }
                self.take_in(sequence, lost);
                self.consume();
                count += lost + 1;
            }
        }
        Some(count)
    }

    /// Whether a number is further ahead than the window reaches. What is known here of the session
    /// is then too old.
    pub const fn is_behind(&self, last: u32) -> bool {
        let ahead = last.wrapping_sub(self.window.top());
        ahead > super::window::WIDTH && ahead < 1 << 31
    }

    /// Requests accepted and not consumed yet: "posted" in the words of INV-12.
    pub const fn posted(&self) -> u16 {
        let unseen = self.window.unseen() as u16;
        (self.window.top() as u16).wrapping_sub(self.consumed).wrapping_sub(unseen)
    }

    /// Consumes an accepted request: its place is free.
    #[inline]
    pub fn consume(&mut self) {
        self.consumed = self.consumed.wrapping_add(1);
    }

    /// Requests consumed in all: the count that the next message carries.
    #[inline]
    pub const fn total(&self) -> u16 {
        self.consumed
    }

    /// The count for the next message. It counts as announced from now on.
    #[inline]
    pub fn announce(&mut self) -> u16 {
        // The message may be lost. Each later one carries the same or a higher count, and a peer
        // that stalls asks for it.
        self.announced = self.consumed;
        self.consumed
    }

    /// Whether the peer has spent all of its `depth` credits, as far as its announced counts show.
    /// Requests lost on the way count as spent until the window has passed them.
    #[inline]
    pub const fn is_spent(&self, depth: u16) -> bool {
        (self.window.top() as u16).wrapping_sub(self.announced) >= depth
    }

    /// Consumed and not yet announced.
    #[inline]
    pub const fn owed(&self) -> u16 {
        self.consumed.wrapping_sub(self.announced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_no_more_credits_than_are_counted() {
        assert_eq!(
            [7, 255, 256, u16::MAX].map(|depth| Ours::open(depth).depth()),
            [7, 255, 255, 255]
        );
    }

    #[test]
    fn credits_are_conserved_over_losses_and_repeats() {
        // INV-12, b14425: mine + in flight + owed = depth, whatever is lost or repeated.
        conserved(0);
        // The 16 bits of the counts wrap within; the 32 of the numbers at once.
        conserved(u32::MAX - 3);
    }

    fn conserved(first: u32) {
        let (mut ours, mut theirs) = (Ours::counting_from(8, first), Theirs::counting_from(first));
        let (mut number, mut x) = (first, 7_u64);
        let rounds = if cfg!(miri) { 2_000 } else { 200_000 };
        for _ in 0..rounds {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if ours.take().is_some() {
                number = number.wrapping_add(1);
                // A request arrives unless it is lost; the last credit is never lost here, since
                // only a later request can show an earlier loss.
                if x >> 33 & 7 != 0 || ours.left() == 0 {
                    if let SequenceCheck::Fresh { lost } = theirs.peek(number) {
                        theirs.take_in(number, lost);
                        theirs.consume();
                    }
                }
            }
            if x >> 40 & 3 == 0 {
                let total = theirs.announce();
                assert!(ours.returned(total).is_some());
                assert_eq!(ours.returned(total), Some(0));
            }
            assert!(ours.in_flight() <= 8);
            assert_eq!(ours.left() + ours.in_flight(), 8);
        }
        let sent = number.wrapping_sub(first);
        assert!(sent > rounds / 20, "sent only {sent}");
    }

    #[test]
    fn a_peer_cannot_return_more_than_was_sent() {
        let mut ours = Ours::open(4);
        ours.take().unwrap();
        assert_eq!(ours.returned(2), None);
        assert_eq!(ours.returned(1), Some(1));
        assert_eq!(ours.returned(0), Some(0));
        assert_eq!(ours.left(), 4);
    }

    #[test]
    fn r34_every_credit_is_at_one_place_at_a_time() {
        // The 16 bits of the counts wrap after two requests.
        let mut ours = Ours::counting_from(4, 0xf_fffe);
        assert_eq!((ours.depth(), ours.left(), ours.in_flight()), (4, 4, 0));
        assert_eq!(ours.counts(), (0xfffe, 0xfffe));
        for sent in 1..=4 {
            assert_eq!(ours.take(), Some(()));
            assert_eq!((ours.depth(), ours.left(), ours.in_flight()), (4, 4 - sent, sent));
        }
        assert_eq!(ours.take(), None, "the fifth of four");
        assert_eq!(ours.counts(), (2, 0xfffe));
        assert_eq!(ours.returned(1), Some(3));
        assert_eq!((ours.left(), ours.in_flight()), (3, 1));
        assert_eq!(ours.counts(), (2, 1));
    }

    #[test]
    fn a_count_half_way_round_is_a_claim_and_one_further_is_old() {
        let mut ours = Ours::open(4);
        assert_eq!(ours.returned(0x7fff), None);
        assert_eq!(ours.returned(0x8000), Some(0));
        assert_eq!(ours.counts(), (0, 0));
    }

    #[test]
    fn r34_what_is_owed_is_told_once_and_a_peer_that_has_spent_all_is_known() {
        let mut theirs = Theirs::counting_from(0xf_fffe);
        assert_eq!((theirs.counts(), theirs.owed()), ((0xfffe, 0xfffe), 0));
        assert!(!theirs.is_spent(4));
        // The first comes late. The second never comes: in the end it is given up.
        theirs.take_in(0x10_0001, 0);
        assert!(!theirs.is_spent(4) && theirs.is_spent(3), "three of four, as far as is known");
        assert_eq!(theirs.peek(0xf_ffff), SequenceCheck::Fresh { lost: 0 });
        assert_eq!(theirs.peek(0x10_0001), SequenceCheck::Duplicate);
        theirs.take_in(0xf_ffff, 0);
        theirs.take_in(0x10_0002, 1);
        assert!(theirs.is_spent(4) && !theirs.is_spent(5));
        assert_eq!(theirs.owed(), 1, "the lost one");
        theirs.consume();
        theirs.consume();
        assert_eq!((theirs.counts(), theirs.owed()), ((1, 0xfffe), 3));
        assert_eq!(theirs.announce(), 1);
        assert_eq!((theirs.counts(), theirs.owed()), ((1, 1), 0));
        assert!(!theirs.is_spent(4), "it knows of three again");
    }

    #[test]
    fn what_is_given_up_is_consumed_and_counted_with_what_it_passes() {
        let mut theirs = Theirs::open();
        assert_eq!(theirs.give_up(3, 0b111, true), Some(3));
        assert_eq!(theirs.give_up(3, 0b111, true), Some(0), "repeated");
        assert_eq!((theirs.owed(), theirs.posted()), (3, 0));
        // 4 to 62 may still come; with 103, the first 36 of them fall out of the window.
        assert_eq!(theirs.give_up(63, 1, true), Some(1));
        assert_eq!(theirs.peek(103), SequenceCheck::Fresh { lost: 36 });
        assert_eq!(theirs.give_up(103, 1, true), None, "S0-18: they are late");
        assert_eq!(theirs.peek(4), SequenceCheck::Fresh { lost: 0 });
        assert_eq!(theirs.give_up(103, 1, false), Some(37));
    }

    #[test]
    fn behind_is_further_than_the_window_reaches_and_not_half_way_round() {
        let theirs = Theirs::open();
        let width = super::super::window::WIDTH;
        for (last, behind) in [
            (0, false),
            (width, false),
            (width + 1, true),
            ((1 << 31) - 1, true),
            (1 << 31, false),
            (u32::MAX, false),
        ] {
            assert_eq!(theirs.is_behind(last), behind, "{last:#x}");
        }
    }
}
