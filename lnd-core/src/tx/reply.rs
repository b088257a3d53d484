// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file decides when and on which link answers to peers' requests are sent.

use super::gate::PostFrom;
use crate::base::id::{LinkId, Nid, Tag};
use crate::base::message::Lane;
use crate::base::time::Instant;
use crate::ports::{Channel, Ports};
use crate::shard::{Driver, RunState};

impl<P: Ports> Driver<'_, P> {
    /// Sends a transfer's answer, now if the control lane has room, otherwise as soon as it has. An
    /// answer needs no credit (INV-11).
    #[inline]
    pub(crate) fn post_answer(&mut self, now: Instant, tag: Tag) {
        if !self.try_answer(now, tag) {
            self.replies.push(&mut self.slots, tag.index);
        }
    }

    #[inline(always)]
    fn try_answer(&mut self, now: Instant, tag: Tag) -> bool {
        let peer = self.peers.of_slot(tag.index);
        let Some(nid) = self.peers.nid(peer) else { return false };
        let came_by = self.slots.owner(tag.index).link();
        let Some(link) = self.way_back(nid, tag, came_by) else { return false };
        // A closed link needs no room. The answer then goes on to the gate, which ends its
        // transfer.
        if self.links.leads_to(nid, link) && !self.channel.ready(link, nid, Lane::Control) {
            return false;
        }
        self.post(now, tag, peer, link, PostFrom::Queue);
        true
    }

    /// The link for an answer: the one on which the request arrived. If that is closed, a final
    /// message uses any other link (R62) or waits for one, unless the driver shuts down.
    fn way_back(&mut self, nid: Nid, tag: Tag, link: Option<LinkId>) -> Option<LinkId> {
        let is_final = self.slots.get(tag.index).is_some_and(|d| d.role.is_final());
        let open = match self.links.way_to(nid, link) {
            None if is_final => self.links.way_to(nid, None),
            open => open,
        };
        let waits = is_final && self.run.state() == RunState::Running;
        // A staged transfer still enters the gate of its closed link, finds it closed, and ends
        // with `LinkDown`.
        open.or(link.filter(|_| !waits))
    }

    /// Sends up to `budget` of the waiting answers, continuing the round of the last call. Those
    /// that must go on waiting move to the end.
    pub(crate) fn send_replies(&mut self, now: Instant, budget: u32, due: bool) {
        self.replies.begin(&self.slots, due);
        for _ in 0..budget {
            let Some(slot) = self.replies.next(&mut self.slots) else { return };
            let tag = self.slots.tag(slot);
            if !self.try_answer(now, tag) {
                self.replies.push(&mut self.slots, tag.index);
            }
        }
    }
}
