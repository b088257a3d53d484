// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file removes slots from the queues they wait in.

use crate::base::id::Tag;
use crate::ports::Ports;
use crate::shard::Driver;
use crate::slots::Flags;

impl<P: Ports> Driver<'_, P> {
    /// Removes a transfer from the queue it waits in, if it waits.
    pub(crate) fn unqueue(&mut self, tag: Tag) {
        let Some(state) = self.slots.get(tag.index) else { return };
        if !state.flags.contains(Flags::QUEUED) {
            return;
        }
        if state.role.requests() {
            let peer = self.peers.of_slot(tag.index);
            if let Some(peer) = self.peers.get_mut(peer) {
                peer.queue.remove(&mut self.slots, tag.index);
            }
        } else if state.role.pulls() {
            self.unqueue_pull(tag);
        } else {
            self.replies.remove(&mut self.slots, tag.index);
        }
    }

    /// Removes a pull from its peer's queue.
    pub(crate) fn unqueue_pull(&mut self, tag: Tag) {
        let id = self.peers.of_slot(tag.index);
        if let Some(peer) = self.peers.get_mut(id) {
            peer.pull_queue.remove(&mut self.slots, tag.index);
        }
    }
}
