// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Our answers to peers' requests: when and by which way they are sent.

use super::handout::From;
use super::Driver;
use crate::defect::seeded;
use crate::id::{LinkId, Tag};
use crate::message::Lane;
use crate::ports::{Channel, Ports};
use crate::time::Instant;

impl<P: Ports> Driver<'_, P> {
    /// Sends a transfer's answer, now if the control lane has room, else as soon as it has. An
    /// answer needs no credit (INV-11).
    #[inline]
    pub(super) fn answer(&mut self, now: Instant, tag: Tag) {
        if !self.try_answer(now, tag) && !seeded("answer-forgotten") {
            self.answers.push(self.details, tag.index);
        }
    }

    #[inline(always)]
    fn try_answer(&mut self, now: Instant, tag: Tag) -> bool {
        let whose = self.shared.whose(tag.index);
        let Some(nid) = self.peers.get(self.peer_of(tag.index)).and_then(|p| p.nid) else {
            return false;
        };
        let Some(link) = self.way_back(tag, whose.link()) else { return false };
        let open = self.shared.link(link).is_some_and(|g| g.is_open());
        if open && !self.channel.ready(link, nid, Lane::Control) {
            return false;
        }
        self.hand_out(now, tag, link, From::Queue);
        true
    }

    /// The link for an answer: the one by which the request came. If that is closed a refusal takes
    /// any other (R62); what was to be staged takes it all the same, finds its gate closed and ends.
    fn way_back(&mut self, tag: Tag, link: Option<LinkId>) -> Option<LinkId> {
        let refuses = self.details.get(tag.index as usize).is_some_and(|d| d.role.refuses());
        match self.open_link(link) {
            None if refuses => self.open_link(None),
            open => open.or(link),
        }
    }

    /// Sends up to `budget` of the answers that wait now; those that must wait on go to the end.
    pub(super) fn send_answers(&mut self, now: Instant, budget: u32) {
        let last = self.answers.last;
        for _ in 0..budget {
            if self.answers.is_empty() {
                return;
            }
            let tag = self.shared.tag(self.answers.first);
            self.answers.remove(self.details, tag.index);
            if !self.try_answer(now, tag) {
                self.answers.push(self.details, tag.index);
            }
            if tag.index == last {
                return;
            }
        }
    }
}
