// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file packs the state of a handshake attempt, or the end of a hold-off, into one value.

use crate::base::id::LinkId;
use crate::base::time::Instant;

/// In the second word: the peer is down.
const DOWN: u32 = 1 << 31;
/// The bits of a hello's number that name its link. The others count.
const LINK: u32 = 0x7;
/// Numbers of hellos that differ.
const HELLOS: u32 = DOWN / (LINK + 1);

/// The state of a peer during a handshake or while it is down. A peer is never in both. The value
/// is packed because every idle peer has one.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Attempt {
    /// During a handshake: what the hellos of this attempt announce, and the number of the last
    /// hello. While the peer is down: the time at which its hold-off ends, in units of 2 ns, with
    /// [`DOWN`].
    words: [u32; 2],
}

static_assertions::const_assert_eq!(core::mem::size_of::<Attempt>(), 8);
static_assertions::const_assert!(crate::base::id::MAX_LINKS == LINK as usize + 1);

impl Attempt {
    /// Nothing was announced or sent, and no hold-off was set.
    pub const NONE: Self = Self { words: [0; 2] };

    /// The peer is down and gets no hello before `at`.
    pub const fn down(at: Instant) -> Self {
        // Rounded up: the hold-off is no shorter. The last value of the clock fits too.
        let at = at.as_nanos();
        let halves = (at >> 1) + if at == u64::MAX { 0 } else { at & 1 };
        Self { words: [halves as u32, (halves >> 32) as u32 | DOWN] }
    }

    /// The end of the hold-off of a peer that is down. `None` until the owner has noted that the
    /// peer is down: an interrupt changes the gate alone.
    pub fn revive_at(&self) -> Option<Instant> {
        let [low, high] = self.words;
        let halves = u64::from(high & !DOWN) << 32 | u64::from(low);
        Some(Instant::from_nanos(halves << 1)).filter(|_| self.is_down())
    }

    /// Requests given up that the hellos of this attempt announce.
    pub const fn announced(&self) -> u32 {
        // A peer that is down announces nothing: the words then hold a time.
        let [announced, _] = self.words;
        if self.is_down() {
            0
        } else {
            announced
        }
    }

    /// Begins an attempt whose hellos announce `given_up`.
    pub const fn announcing(given_up: u32) -> Self {
        Self { words: [given_up, 0] }
    }

    /// The number of the `count`th hello, on `link`. It is not zero.
    pub const fn number(count: u32, link: LinkId) -> u32 {
        let count = count & (HELLOS - 1);
        (if count == 0 { HELLOS - 1 } else { count }) * (LINK + 1) + link.index() as u32
    }

    /// Hello `number` is sent.
    pub fn started(&mut self, number: u32) {
        self.words = [self.announced(), number];
    }

    const fn is_down(&self) -> bool {
        let [_, last] = self.words;
        last & DOWN != 0
    }

    /// The link of hello `number`, if that was the last one.
    pub fn link_of(&self, number: u32) -> Option<LinkId> {
        let [_, last] = self.words;
        // The number distinguishes the last hello from earlier ones. The completion of an earlier
        // one proves nothing about the present attempt.
        LinkId::new((number & LINK) as usize).filter(|_| last == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_announces_and_connects_or_the_peer_is_down() {
        let mut it = Attempt::NONE;
        assert_eq!((it.announced(), it.revive_at(), it.link_of(8)), (0, None, None));
        it = Attempt::announcing(0xf0);
        for (count, link) in [(0, 0), (HELLOS - 3, 7), (u32::MAX, 5)] {
            let link = LinkId::new(link).unwrap();
            let (number, next) = (Attempt::number(count, link), Attempt::number(count ^ 1, link));
            assert!(number != 0 && number != next);
            it.started(number);
            assert_eq!((it.announced(), it.revive_at()), (0xf0, None));
            assert_eq!((it.link_of(number), it.link_of(next)), (Some(link), None));
        }
        let last = Attempt::number(u32::MAX, LinkId::new(5).unwrap());
        assert_eq!((it.announced(), it.link_of(last)), (0xf0, LinkId::new(5)));
        for nanos in [0, 2, u64::from(u32::MAX) + 1, 1 << 33, 1 << 63, u64::MAX - 1] {
            it = Attempt::down(Instant::from_nanos(nanos));
            assert_eq!(it.revive_at(), Some(Instant::from_nanos(nanos)));
            assert_eq!((it.announced(), it.link_of((nanos >> 1) as u32 & !DOWN)), (0, None));
        }
        for (nanos, kept) in [(1, 2), ((1 << 63) - 1, 1 << 63), (u64::MAX, u64::MAX - 1)] {
            it = Attempt::down(Instant::from_nanos(nanos));
            assert_eq!(it.revive_at(), Some(Instant::from_nanos(kept)), "no earlier than it ends");
        }
        it.started(last);
        assert_eq!(
            (it.announced(), it.link_of(last), it.revive_at()),
            (0, LinkId::new(5), None),
            "nothing is left of the time"
        );
    }
}
