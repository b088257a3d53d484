// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The receiving half of a node's short messages.

use lnd_core::id::LinkId;
use lnd_core::message::Lane;
use lnd_shortmsg::mailbox::{Consumer, Fault, Kind, RegionError};

use crate::fabric::Fabric;
use crate::join::Membership;
use crate::outbox::lane_number;
use crate::shape::LANES;

/// A frame that has been copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The node that has sent it, by its mailbox.
    pub from: u32,
    /// The link.
    pub link: LinkId,
    /// The lane.
    pub lane: Lane,
    /// Bytes of the frame.
    pub length: usize,
}

/// The receiving half. `S` is memory for [`Shape::mailboxes`](crate::Shape::mailboxes) consumers.
/// Context: one owner at a time; nothing waits.
///
/// [`next`](Self::next) goes through the mailboxes in passes, control lanes first, so that answers
/// never wait behind requests; a pass ends with `None`.
#[derive(Debug)]
pub struct Inbox<'m, S> {
    fabric: Fabric<'m>,
    boxes: S,
    /// Where the pass is, and how much of that mailbox it has seen.
    at: usize,
    seen: u32,
    /// The frame copied out last is still in its mailbox.
    offered: bool,
    faults: u32,
}

impl<'m, S: AsMut<[Option<Consumer<'m>>]>> Inbox<'m, S> {
    /// The inbox of a node that has joined; `boxes` is filled.
    ///
    /// # Errors
    /// A mailbox is damaged.
    ///
    /// # Safety
    /// This address space uses no other inbox of this node any more.
    pub unsafe fn new(membership: &Membership<'m>, mut boxes: S) -> Result<Self, RegionError> {
        let (fabric, me) = (*membership.fabric(), membership.node());
        let slots = boxes.as_mut();
        slots.fill_with(|| None);
        for (at, slot) in slots.iter_mut().enumerate().take(fabric.shape().mailboxes()) {
            let Some((from, link, lane)) = place(&fabric, at) else { continue };
            if from == me {
                continue;
            }
            let lane = lane_number(lane);
            let Some(region) = fabric.mailbox(from, me, link.index(), lane) else { continue };
            if Some(region.check(Kind::Spsc)?) != fabric.shape().box_geometry(lane) {
                return Err(RegionError::Geometry);
            }
            // SAFETY: the node's only inbox (contract), each mailbox once.
            *slot = Some(unsafe { Consumer::attach(region, Kind::Spsc)? });
        }
        Ok(Self { fabric, boxes, at: 0, seen: 0, offered: false, faults: 0 })
    }

    /// Copies the next frame of this pass into `into`, which has room for
    /// [`Shape::frame_max`](crate::Shape::frame_max) bytes. It stays in its mailbox until it is
    /// [released](Self::release); if the next call comes before, it waits there for the next pass,
    /// and what is behind it too. A pass takes at most `budget` frames of each mailbox. `None`: the
    /// pass is over; the next call begins another.
    pub fn next(&mut self, budget: u32, into: &mut [u8]) -> Option<Arrival> {
        if core::mem::take(&mut self.offered) {
            self.turn();
        }
        let all = self.fabric.shape().mailboxes();
        while self.at < all {
            if self.seen >= budget {
                self.turn();
                continue;
            }
            let Some(Some(consumer)) = self.boxes.as_mut().get_mut(self.at) else {
                self.turn();
                continue;
            };
            match consumer.peek(into).map(|mail| mail.map(|mail| mail.bytes().len())) {
                Ok(Some(length)) => {
                    let (from, link, lane) = place(&self.fabric, self.at)?;
                    self.offered = true;
                    return Some(Arrival { from, link, lane, length });
                }
                Ok(None) => self.turn(),
                Err(Fault::Length) => {
                    self.faults = self.faults.saturating_add(1);
                    self.seen = self.seen.saturating_add(1);
                }
                Err(_) => {
                    self.faults = self.faults.saturating_add(1);
                    self.turn();
                }
            }
        }
        self.at = 0;
        None
    }

    /// Takes the frame that [`next`](Self::next) has copied out of its mailbox. Without one, nothing
    /// happens.
    pub fn release(&mut self) {
        if !core::mem::take(&mut self.offered) {
            return;
        }
        self.seen = self.seen.saturating_add(1);
        if let Some(Some(consumer)) = self.boxes.as_mut().get_mut(self.at) {
            consumer.discard();
        }
    }

    /// Attached to nothing any more: senders know of all that was released.
    pub fn close(&mut self) {
        self.boxes.as_mut().fill_with(|| None);
    }

    /// Mailbox slots that made no sense.
    pub const fn faults(&self) -> u32 {
        self.faults
    }

    /// On to the next mailbox.
    fn turn(&mut self) {
        self.at = self.at.saturating_add(1);
        self.seen = 0;
    }
}

/// Which mailbox has number `at` in a pass.
fn place(fabric: &Fabric<'_>, at: usize) -> Option<(u32, LinkId, Lane)> {
    let shape = fabric.shape();
    let lane_boxes = shape.mailboxes() / LANES;
    let (lane, rest) = if at < lane_boxes {
        (Lane::Control, at)
    } else {
        (Lane::Request, at.wrapping_sub(lane_boxes))
    };
    let links = shape.links as usize;
    let from = u32::try_from(rest.checked_div(links)?).ok()?;
    Some((from, LinkId::new(rest.checked_rem(links)?)?, lane))
}
