// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The attempt at a handshake that is under way, or when the next one may begin.

use crate::base::id::LinkId;
use crate::base::time::Instant;

/// In place of a link: the peer is down.
const DOWN: u8 = u8::MAX;

/// What a peer needs while it is greeted or down, which it is not at once. Packed, since every idle peer has
/// one.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(C, packed)]
pub(crate) struct Attempt {
    /// What the hellos of this attempt announce, and the number of the last one; or the halves of the time at
    /// which a peer that is down may be asked again.
    words: [u32; 2],
    /// The link by which the last hello went, or [`DOWN`].
    link: u8,
}

static_assertions::const_assert_eq!(core::mem::size_of::<Attempt>(), 9);
static_assertions::const_assert!(crate::base::id::MAX_LINKS < DOWN as usize);

impl Attempt {
    /// Nothing was announced or sent, and it has not been noted that the peer is down.
    pub const NONE: Self = Self { words: [0; 2], link: 0 };

    /// The peer is down, and is sent no hello before `at`.
    pub const fn down(at: Instant) -> Self {
        let at = at.as_nanos();
        Self { words: [at as u32, (at >> 32) as u32], link: DOWN }
    }

    /// A peer that is down is sent no hello before this; `None` until we have taken note.
    pub fn revive_at(&self) -> Option<Instant> {
        let [low, high] = self.words;
        let at = Instant::from_nanos(u64::from(high) << 32 | u64::from(low));
        Some(at).filter(|_| self.link == DOWN)
    }

    /// Requests given up that the hellos of this attempt announce.
    pub const fn announced(&self) -> u32 {
        let [announced, _] = self.words;
        if self.link == DOWN {
            0
        } else {
            announced
        }
    }

    /// Begins with what its hellos announce.
    pub const fn announcing(given_up: u32) -> Self {
        Self { words: [given_up, 0], link: 0 }
    }

    /// What was given up is of a session that is over.
    pub fn announce_nothing(&mut self) {
        if self.link != DOWN {
            let [_, last] = self.words;
            self.words = [0, last];
        }
    }

    /// Hello `number` goes by `link`.
    pub fn started(&mut self, number: u32, link: LinkId) {
        *self = Self { words: [self.announced(), number], link: link.index() as u8 };
    }

    /// The link by which hello `number` went, if that was the last one.
    pub fn link_of(&self, number: u32) -> Option<LinkId> {
        let [_, last] = self.words;
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
