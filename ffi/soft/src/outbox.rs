// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sending half of a node's short-message channel: one mailbox per receiver, link and lane.

use core::fmt;

use lnd_core::id::LinkId;
use lnd_core::message::Lane;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{self, Outlet};

use crate::fabric::SoftFabric;
use crate::inlet::Found;
use crate::join::Membership;
use crate::shape::LANES;

/// Why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxError {
    /// There is no path to this node: it is the sender, or not in the fabric.
    NoSuchNode,
    /// No room now; or the receiver has never joined, or must format a damaged mailbox again.
    Full,
    /// Longer than a slot. It will never fit.
    TooLong,
    /// The local link is down: the frame would not be delivered.
    LinkDown,
    /// The mailbox is damaged.
    Broken,
}

impl fmt::Display for OutboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchNode => "no such node",
            Self::Full => "mailbox full",
            Self::TooLong => "message longer than a slot",
            Self::LinkDown => "link down",
            Self::Broken => "mailbox damaged",
        })
    }
}

impl core::error::Error for OutboxError {}

impl From<mailbox::SendError> for OutboxError {
    fn from(error: mailbox::SendError) -> Self {
        match error {
            mailbox::SendError::Full => Self::Full,
            mailbox::SendError::TooLong => Self::TooLong,
            mailbox::SendError::Broken => Self::Broken,
        }
    }
}

/// A lane's number in the fabric.
pub(crate) const fn lane_number(lane: Lane) -> usize {
    match lane {
        Lane::Request => 0,
        Lane::Control => 1,
    }
}

/// The sending half. `S` is memory for [`Shape::mailboxes`](crate::Shape::mailboxes) producers: a
/// slice, or a type that can be viewed as one. Context: one owner at a time; no call waits.
#[derive(Debug)]
pub struct Outbox<'m, S> {
    fabric: SoftFabric<'m>,
    me: u32,
    outlets: S,
    faults: u32,
}

impl<'m, S: AsMut<[Option<Producer<'m>>]>> Outbox<'m, S> {
    /// The outbox of a node that has joined; `outlets` is filled. A damaged mailbox counts as a
    /// [fault](Self::faults) and accepts no frame until its reader has formatted it again. The
    /// others are not affected.
    ///
    /// # Safety
    /// This address space uses no other outbox of this node any more.
    pub unsafe fn new(membership: &Membership<'m>, mut outlets: S) -> Self {
        outlets.as_mut().fill_with(|| None);
        let (fabric, me) = (*membership.fabric(), membership.node());
        let mut this = Self { fabric, me, outlets, faults: 0 };
        for to in (0..fabric.shape().nodes).filter(|&to| to != me) {
            for link in fabric.links() {
                for lane in [Lane::Request, Lane::Control] {
                    this.open(link, to, lane);
                }
            }
        }
        this
    }

    /// Number of damaged mailboxes.
    pub const fn faults(&self) -> u32 {
        self.faults
    }

    /// Whether there is a path to a node.
    pub const fn reaches(&self, to: u32) -> bool {
        to < self.fabric.shape().nodes && to != self.me
    }

    /// Whether the next frame into this mailbox finds room, and a request has its way. Only the
    /// sender uses up room, so the next frame is sent in any case.
    pub fn ready(&mut self, link: LinkId, to: u32, lane: Lane) -> bool {
        self.outlet(link, to, lane).is_ok_and(|outlet| outlet.has_room())
            && (lane == Lane::Control || self.is_way(link, to))
    }

    /// Whether requests to a node go by a link. Without a cable at the other end whatever a request
    /// asks for fails there, so requests go by a link that has both its cables, if there is one.
    fn is_way(&self, link: LinkId, to: u32) -> bool {
        let ends = [to, self.me];
        self.fabric.is_whole(link, ends) || !self.fabric.has_way(ends)
    }

    /// Whether the local link has its clock.
    pub fn link_up(&self, link: LinkId) -> bool {
        self.fabric.link_up(self.me, link)
    }

    /// Sends a frame. Ring node `to` afterwards.
    ///
    /// # Errors
    /// [`OutboxError`]; nothing was sent.
    pub fn send(
        &mut self,
        link: LinkId,
        to: u32,
        lane: Lane,
        frame: &[u8],
    ) -> Result<(), OutboxError> {
        if !self.link_up(link) {
            return Err(OutboxError::LinkDown);
        }
        Ok(self.outlet(link, to, lane)?.send(frame)?)
    }

    /// The mailbox itself, for encoding a message in place.
    ///
    /// # Errors
    /// [`OutboxError::NoSuchNode`], or [`OutboxError::Full`] if its reader has not formatted it
    /// yet.
    pub fn outlet(
        &mut self,
        link: LinkId,
        to: u32,
        lane: Lane,
    ) -> Result<&mut Producer<'m>, OutboxError> {
        if !self.reaches(to) {
            return Err(OutboxError::NoSuchNode);
        }
        self.detach_damaged(link, to, lane);
        self.open(link, to, lane);
        match self.slot(link, to, lane) {
            Some(Some(outlet)) => Ok(outlet),
            Some(None) => Err(OutboxError::Full),
            None => Err(OutboxError::NoSuchNode),
        }
    }

    fn slot(&mut self, link: LinkId, to: u32, lane: Lane) -> Option<&mut Option<Producer<'m>>> {
        let links = self.fabric.shape().links as usize;
        if link.index() >= links {
            return None;
        }
        let at = (to as usize * links + link.index()) * LANES + lane_number(lane);
        self.outlets.as_mut().get_mut(at)
    }

    /// Attaches to a mailbox if its reader has formatted it.
    fn open(&mut self, link: LinkId, to: u32, lane: Lane) {
        let (fabric, me) = (self.fabric, self.me);
        let Some(slot @ None) = self.slot(link, to, lane) else { return };
        match fabric.open_outlet(me, to, link, lane_number(lane)) {
            Found::Open(producer) => *slot = Some(producer),
            Found::Damaged => self.faults = self.faults.saturating_add(1),
            Found::Fresh | Found::Nowhere => {}
        }
    }

    /// Detaches from a mailbox that its reader has marked, or that has no room and is damaged or
    /// was formatted again: its reader waits for that. While there is room, one word is checked.
    fn detach_damaged(&mut self, link: LinkId, to: u32, lane: Lane) {
        let (fabric, me) = (self.fabric, self.me);
        let Some(slot) = self.slot(link, to, lane) else { return };
        let Some(producer) = slot.as_ref() else { return };
        let region = fabric.mailbox(me, to, link.index(), lane_number(lane));
        let is_open = region.is_some_and(|region| region.is_open());
        if is_open && producer.has_room() {
            return;
        }
        let is_sound =
            region.is_some_and(|region| fabric.has_sound_header(region, lane_number(lane)));
        if producer.is_broken() || !is_sound {
            *slot = None;
        }
    }
}
