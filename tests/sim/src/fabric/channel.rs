// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message channel of a process: the fabric's mailboxes, with messages instead of frames.

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{Channel, ChannelFull, Sent};
use lnd_shortmsg::dispatch::transmit;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::Consumer;
use lnd_shortmsg::wire::{encode, encoded_len, max_immediate, Checksum, Wire};
use lnd_soft::{node_of, Outbox};

use super::tap::{show, Passing, SharedTap};
use super::Membership;

/// The sending half.
#[derive(Debug)]
pub struct ShmChannel<'m> {
    outbox: Outbox<'m, Vec<Option<Producer<'m>>>>,
    immediate_max: u32,
    checksum: Checksum,
    refused: u64,
    tap: Option<SharedTap>,
}

impl<'m> ShmChannel<'m> {
    /// The channel of a node that has joined; its only one.
    pub fn new(membership: &Membership<'m>, checksum: Checksum) -> Self {
        let shape = membership.fabric().shape();
        let outlets = (0..shape.mailboxes()).map(|_| None).collect();
        // SAFETY: a station makes one channel for each incarnation, and no incarnation of a node
        // begins in this process while the channel of another is in use.
        let outbox = unsafe { Outbox::new(membership.soft(), outlets) };
        let immediate_max = max_immediate(shape.requests.1 as usize - 8);
        Self { outbox, immediate_max, checksum, refused: 0, tap: None }
    }

    /// Shows every frame that is sent from now on.
    pub fn tap(&mut self, tap: SharedTap) {
        self.tap = Some(tap);
    }

    /// Shows a frame that was sent. It is encoded a second time: the first one is in a mailbox.
    fn show(&self, link: LinkId, peer: u32, envelope: &Envelope, message: &Message<'_>) {
        let mut bytes = vec![0; encoded_len(envelope, message).unwrap_or(0)];
        if encode(envelope, message, self.checksum, &mut bytes).is_ok() {
            show(self.tap.as_ref(), &Passing { sent: true, link, peer, bytes: &bytes });
        }
    }
}

impl Channel for ShmChannel<'_> {
    fn reaches(&self, to: Nid) -> bool {
        node_of(to).is_some_and(|node| self.outbox.reaches(node))
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ends_at_once(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        self.immediate_max
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        node_of(to).is_some_and(|node| self.outbox.ready(link, node, lane))
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        if !self.outbox.link_up(link) {
            return Ok(Some(Sent::NotDelivered));
        }
        let node = node_of(envelope.to).ok_or(ChannelFull)?;
        let lane = message.lane();
        let outlet = self.outbox.outlet(link, node, lane).map_err(|_| ChannelFull)?;
        if transmit(outlet, envelope, message, Wire::named(self.checksum)).is_err() {
            self.refused += 1;
            return Err(ChannelFull);
        }
        if self.tap.is_some() {
            self.show(link, node, envelope, message);
        }
        Ok(Some(Sent::Ok))
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {
        // Every message completes while it is sent; there is nothing under way.
    }
}

/// What a look into the inbox has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames taken out.
    pub taken: u32,
    /// Frames left because their receiver has no room for now.
    pub waiting: u32,
}

type SoftInbox<'m> = lnd_soft::Inbox<'m, Vec<Option<Consumer<'m>>>>;

/// The receiving half.
#[derive(Debug)]
pub struct Inbox<'m> {
    inbox: SoftInbox<'m>,
    scratch: Vec<u8>,
    tap: Option<SharedTap>,
}

impl<'m> Inbox<'m> {
    /// The inbox of a node that has joined; its only one.
    pub fn new(membership: &Membership<'m>) -> Self {
        let shape = membership.fabric().shape();
        let boxes = (0..shape.mailboxes()).map(|_| None).collect();
        // SAFETY: as for the channel.
        let inbox = unsafe { lnd_soft::Inbox::new(membership.soft(), boxes) };
        Self { inbox, scratch: vec![0; shape.frame_max()], tap: None }
    }

    /// Shows every frame that is taken in from now on.
    pub fn tap(&mut self, tap: SharedTap) {
        self.tap = Some(tap);
    }

    /// Offers up to `budget` frames of each mailbox to `take`, with the node whose mailbox it is,
    /// which says whether it has taken the frame; one that it has not stays, and those behind it
    /// wait. `likely`: only of mailboxes that have had some lately.
    pub fn receive(
        &mut self,
        budget: u32,
        likely: bool,
        mut take: impl FnMut(LinkId, u32, &[u8]) -> bool,
    ) -> Received {
        let mut received = Received::default();
        let next = if likely { SoftInbox::next_likely } else { SoftInbox::next };
        while let Some(arrival) = next(&mut self.inbox, budget, &mut self.scratch) {
            let bytes = &self.scratch[..arrival.length];
            if take(arrival.link, arrival.from, bytes) {
                let (link, peer) = (arrival.link, arrival.from);
                show(self.tap.as_ref(), &Passing { sent: false, link, peer, bytes });
                self.inbox.release();
                received.taken += 1;
            } else {
                received.waiting += 1;
            }
        }
        received
    }

    /// Mailbox slots that made no sense.
    pub const fn faults(&self) -> u32 {
        self.inbox.faults()
    }
}
