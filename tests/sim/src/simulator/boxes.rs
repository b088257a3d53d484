// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The network's mailboxes: what lies in them, and what is on its way to them.

use super::mailbox::{Frame, Lane};
use super::network::Network;

impl Network<'_> {
    /// Whether no frame is on its way and no mailbox holds one, but for those from and to the
    /// byzantine node.
    pub const fn nothing_under_way(&self) -> bool {
        self.occupied == 0
    }

    /// Places are taken in a mailbox, or frames put into it.
    pub(crate) fn occupy(&mut self, lane: Lane, count: u32) {
        if self.counts(lane) {
            self.occupied += u64::from(count);
        }
    }

    pub(crate) fn vacate(&mut self, lane: Lane, count: u32) {
        if self.counts(lane) {
            self.occupied -= u64::from(count);
        }
    }

    fn counts(&self, lane: Lane) -> bool {
        self.lawless != Some(lane.from) && self.lawless != Some(lane.to)
    }

    /// The oldest frame in a mailbox.
    pub fn take(&mut self, lane: Lane) -> Option<Frame> {
        let inbox = &mut self.boxes.get_mut(&lane)?.inbox;
        let frame = inbox.pop_front()?;
        if inbox.is_empty() {
            if let Some(lanes) = self.unread.get_mut(&lane.to) {
                lanes.remove(&lane);
            }
        }
        self.vacate(lane, 1);
        Some(frame)
    }

    /// The frame was read: its place is free.
    pub fn release(&mut self, lane: Lane, frame: &Frame) {
        if let Some(mailbox) = self.boxes.get_mut(&lane) {
            mailbox.taken -= u32::from(frame.placed);
            self.vacate(lane, u32::from(frame.placed));
        }
    }

    /// The frame stays for now.
    pub fn put_back(&mut self, lane: Lane, frame: Frame) {
        self.boxes.entry(lane).or_default().inbox.push_front(frame);
        self.unread.entry(lane.to).or_default().insert(lane);
        self.occupy(lane, 1);
    }

    /// Mailboxes of a node that hold something, in the order in which a host reads them: all
    /// control mailboxes, then all others.
    pub fn waiting(&self, node: u32) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = self.unread(node).collect();
        if self.tracking.is_some() {
            lanes.sort_by_key(|lane| (!lane.control, lane.from, lane.link));
        }
        lanes
    }

    /// The same mailboxes, in their own order.
    pub fn unread(&self, node: u32) -> impl Iterator<Item = Lane> + '_ {
        self.unread.get(&node).into_iter().flatten().copied()
    }
}
