// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file packs the state of a handshake attempt, or the end of a hold-off, into one value.

use crate::base::id::LinkId;
use crate::base::time::Instant;

/// In place of a link: the peer is down.
const DOWN: u8 = u8::MAX;

/// The state of a peer during a handshake or while it is down. A peer is never in both. The value
/// is packed because every idle peer has one.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(C, packed)]
pub(crate) struct Attempt {
    /// During a handshake: what the hellos of this attempt announce, and the number of the last
    /// hello. While the peer is down: the two halves of the time at which its hold-off ends.
    words: [u32; 2],
    /// The link of the last hello, or [`DOWN`].
    link: u8,
}

static_assertions::const_assert_eq!(core::mem::size_of::<Attempt>(), 9);
static_assertions::const_assert!(crate::base::id::MAX_LINKS < DOWN as usize);

impl Attempt {
    /// Nothing was announced or sent, and no hold-off was set.
    pub const NONE: Self = Self { words: [0; 2], link: 0 };

    /// The peer is down and gets no hello before `at`.
    pub const fn down(at: Instant) -> Self {
        let at = at.as_nanos();
        Self { words: [at as u32, (at >> 32) as u32], link: DOWN }
    }

    /// The end of the hold-off of a peer that is down. `None` until the owner has noted that the
    /// peer is down: an interrupt changes the gate alone.
    pub fn revive_at(&self) -> Option<Instant> {
        let [low, high] = self.words;
        let at = Instant::from_nanos(u64::from(high) << 32 | u64::from(low));
        Some(at).filter(|_| self.link == DOWN)
    }

    /// Requests given up that the hellos of this attempt announce.
    pub const fn announced(&self) -> u32 {
        // A peer that is down announces nothing: the words then hold a time.
        let [announced, _] = self.words;
        if self.link == DOWN {
            0
        } else {
            announced
        }
    }

    /// Begins an attempt whose hellos announce `given_up`.
    pub const fn announcing(given_up: u32) -> Self {
        Self { words: [given_up, 0], link: 0 }
    }

    /// Clears the announcement, because its session is over.
    pub fn announce_nothing(&mut self) {
        if self.link != DOWN {
            let [_, last] = self.words;
            self.words = [0, last];
        }
    }

    /// Hello `number` is sent on `link`.
    pub fn started(&mut self, number: u32, link: LinkId) {
        *self = Self { words: [self.announced(), number], link: link.index() as u8 };
    }

    /// The link of hello `number`, if that was the last one.
    pub fn link_of(&self, number: u32) -> Option<LinkId> {
        let [_, last] = self.words;
        // The number distinguishes the last hello from earlier ones. The completion of an earlier
        // one proves nothing about the present attempt.
        LinkId::new(self.link as usize).filter(|_| last == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_announces_and_connects_or_the_peer_is_down() {
        let mut it = Attempt::NONE;
        assert_eq!((it.announced(), it.revive_at(), it.link_of(1)), (0, None, None));
        it = Attempt::announcing(0xf0);
        for (number, link) in [(1, 0), (u32::MAX, 7)] {
            let link = LinkId::new(link).unwrap();
            it.started(number, link);
            assert_eq!((it.announced(), it.revive_at()), (0xf0, None));
            assert_eq!((it.link_of(number), it.link_of(2)), (Some(link), None));
        }
        it.announce_nothing();
        assert_eq!((it.announced(), it.link_of(u32::MAX)), (0, LinkId::new(7)));
        for nanos in [0, 1, u64::from(u32::MAX) + 1, u64::MAX] {
            it = Attempt::down(Instant::from_nanos(nanos));
            it.announce_nothing();
            assert_eq!(it.revive_at(), Some(Instant::from_nanos(nanos)));
            assert_eq!((it.announced(), it.link_of(nanos as u32)), (0, None));
        }
        it.started(5, LinkId::new(3).unwrap());
        assert_eq!(
            (it.announced(), it.link_of(5)),
            (0, LinkId::new(3)),
            "nothing is left of the time"
        );
    }
}
