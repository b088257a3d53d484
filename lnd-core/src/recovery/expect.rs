// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file asks for the memory of what comes next, before it comes (decision 0052).

use crate::base::id::Tag;
use crate::ports::Ports;
use crate::shard::Driver;
use crate::tx::To;

impl<P: Ports> Driver<'_, P> {
    /// Announces that the end of a transfer will be applied soon, as a completion ring shows it
    /// that holds several. A hint: its cache lines are asked for, and nothing changes. Any tag is
    /// allowed, and a stale one costs nothing but the lines.
    ///
    /// With so many transfers that their slots leave the cache, each line that is missed costs as
    /// much as all the instructions of an end. Best called for each end, some ends ahead:
    /// [`run_once`](Self::run_once) does that for the completions that it is given. Without effect
    /// in code for kernels and microcontrollers (feature `compact`).
    #[inline]
    pub fn expect_end(&mut self, tag: Tag) {
        self.slots.expect(tag.index);
    }

    /// Announces that a message to or from a node comes soon. A hint, as
    /// [`expect_end`](Self::expect_end): for hosts that hold several messages of many peers.
    #[inline]
    pub fn expect_peer(&mut self, peer: impl Into<To>) {
        match peer.into() {
            To::Nid(nid) => self.peers.expect(nid),
            To::Peer(peer) => self.peers.expect_place(peer.index() as u32),
        }
    }
}
