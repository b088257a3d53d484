// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps the last hello of a peer that was received.

use crate::base::id::LinkId;
use crate::base::message::{Envelope, Hello};

/// Whether it is of an incarnation other than the known one.
const OTHER: u8 = 1 << 5;
/// Whether its versions and ours meet.
const FITS: u8 = 1 << 6;
/// Whether its session can be counted from its sequence.
const COUNTS: u8 = 1 << 7;
/// The other bits: the link on which it arrived.
const LINK: u8 = OTHER - 1;

/// The last received hello of a peer, which is to be answered. The answer goes out at once, except
/// to an incarnation other than the one that has answered ours: that answer waits until our own
/// hello was answered. The value is packed because every idle peer has one.
#[derive(Clone, Copy, Debug, Hash)]
#[repr(C, packed(2))]
pub(crate) struct LastHello {
    pub session: u32,
    /// The number of the session's latest request.
    pub sequence: u32,
    pub attempt: u8,
    rest: u8,
}

static_assertions::const_assert_eq!(core::mem::size_of::<LastHello>(), 10);
static_assertions::const_assert!(crate::base::id::MAX_LINKS <= LINK as usize);

impl LastHello {
    pub const NOTHING: Self = Self { session: 0, sequence: 0, attempt: 0, rest: 0 };

    /// A hello that arrived on `link`.
    pub fn of(from: &Envelope, hello: &Hello, link: LinkId, (fits, counts): (bool, bool)) -> Self {
        let (session, sequence) = (from.session, from.sequence);
        let (fits, counts) = (if fits { FITS } else { 0 }, if counts { COUNTS } else { 0 });
        // One byte holds the link and three flags: every peer has a last hello, and most are idle.
        let rest = link.index() as u8 | fits | counts;
        Self { session, sequence, attempt: hello.attempt, rest }
    }

    /// Whether it is of an incarnation other than the known one.
    pub const fn is_of_other(&self) -> bool {
        self.rest & OTHER != 0
    }

    /// Notes whether it is of an incarnation other than the known one.
    pub fn set_of_other(&mut self, other: bool) {
        self.rest = self.rest & !OTHER | if other { OTHER } else { 0 };
    }

    /// The link on which it arrived.
    pub fn link(&self) -> Option<LinkId> {
        LinkId::new((self.rest & LINK) as usize)
    }

    /// Whether its versions and ours meet.
    pub const fn fits(&self) -> bool {
        self.rest & FITS != 0
    }

    /// Whether its session can be counted from `sequence`.
    pub const fn counts(&self) -> bool {
        self.rest & COUNTS != 0
    }

    /// Counts its session as an earlier hello of the same session does.
    pub fn count_as(&mut self, other: &Self) {
        // A session's start is fixed by its first hello. A repetition carries a later number, and
        // counting from that would skip requests that are still in the channel.
        self.sequence = other.sequence;
        self.rest = self.rest & !COUNTS | other.rest & COUNTS;
    }
}
