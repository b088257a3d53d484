// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message channel over the fabric's mailboxes: one per sender, receiver, link and lane.

use std::collections::VecDeque;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{Channel, ChannelFull, Sent};
use lnd_core::sync::Ordering;
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::LinkBits;
use lnd_shortmsg::dispatch::transmit;
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::mailbox::{Consumer, Fault, Kind, Region, RegionError};
use lnd_shortmsg::wire::{max_immediate, Checksum};

use super::layout::node_of;
use super::Fabric;

const LANES: usize = 2;

fn lane_number(lane: Lane) -> usize {
    match lane {
        Lane::Request => 0,
        Lane::Control => 1,
    }
}

impl<'m> Fabric<'m> {
    fn mailbox(&self, source: u32, sink: u32, link: usize, lane: usize) -> Region<'m> {
        let number = self.shape.box_number(source, sink, link);
        let (requests, bytes) = (self.shape.box_bytes(0), self.shape.box_bytes(lane));
        let area = if lane == 0 { 0 } else { requests * self.shape.boxes() };
        let place = self.place(self.offsets.boxes + area + number * bytes, bytes);
        // SAFETY: the place is mapped for 'm, initialised (a fresh file is zero), page-aligned, and
        // by the layout used for this mailbox only.
        match unsafe { Region::new(place, bytes) } {
            Ok(region) => region,
            Err(error) => unreachable!("pages are aligned: {error}"),
        }
    }

    /// Formats a mailbox that nobody ever used; leaves any other alone.
    fn sound_mailbox(
        &self,
        source: u32,
        sink: u32,
        link: usize,
        lane: usize,
    ) -> Result<Region<'m>, RegionError> {
        let region = self.mailbox(source, sink, link, lane);
        // SAFETY: only probed: the consumer is dropped at once and takes nothing.
        let probe = unsafe { Consumer::attach(region, Kind::Spsc) };
        if let (Err(RegionError::Magic), Some(geometry)) = (&probe, self.shape.box_geometry(lane)) {
            // SAFETY: a mailbox without magic number has no user; both ends are prepared under the
            // fabric's joining lock, see `Fabric::join`.
            unsafe { region.format(Kind::Spsc, geometry, 0)? };
        }
        Ok(region)
    }
}

/// The sending half.
#[derive(Debug)]
pub struct ShmChannel<'m> {
    me: u32,
    nodes: u32,
    links: usize,
    outlets: Vec<Option<Producer<'m>>>,
    /// Our links' registers: a message over a link that is down fails.
    registers: Vec<LinkMemory<'m>>,
    sent: VecDeque<(Tag, Sent)>,
    immediate_max: u32,
    checksum: Checksum,
    refused: u64,
}

impl<'m> ShmChannel<'m> {
    /// The channel of node `me`, which has joined.
    ///
    /// # Errors
    /// A damaged mailbox.
    pub fn new(fabric: &Fabric<'m>, me: u32, checksum: Checksum) -> Result<Self, RegionError> {
        let shape = *fabric.shape();
        let mut outlets = Vec::new();
        for sink in 0..shape.nodes {
            for link in 0..shape.links as usize {
                for lane in 0..LANES {
                    outlets.push(if sink == me {
                        None
                    } else {
                        let region = fabric.sound_mailbox(me, sink, link, lane)?;
                        // SAFETY: this node's only channel, by the node's membership.
                        Some(unsafe { Producer::attach(region)? })
                    });
                }
            }
        }
        let registers = (0..shape.links as usize)
            .filter_map(|l| fabric.link_memory(me, LinkId::new(l)?).ok())
            .collect();
        Ok(Self {
            me,
            nodes: shape.nodes,
            links: shape.links as usize,
            outlets,
            registers,
            sent: VecDeque::new(),
            immediate_max: max_immediate(shape.requests.1 as usize - 8),
            checksum,
            refused: 0,
        })
    }

    fn outlet(&mut self, link: LinkId, to: Nid, lane: Lane) -> Option<&mut Producer<'m>> {
        let node = node_of(to)? as usize;
        let at = (node * self.links + link.index()) * LANES + lane_number(lane);
        self.outlets.get_mut(at)?.as_mut()
    }

    /// The next short message's end, for the driver.
    pub fn next_sent(&mut self) -> Option<(Tag, Sent)> {
        self.sent.pop_front()
    }

    fn link_up(&self, link: LinkId) -> bool {
        self.registers.get(link.index()).is_some_and(|m| {
            let bits = m.registers().link.load(Ordering::Acquire);
            LinkBits::from_bits_retain(bits).contains(LinkBits::UP)
        })
    }
}

impl Channel for ShmChannel<'_> {
    fn reaches(&self, to: Nid) -> bool {
        node_of(to).is_some_and(|n| n < self.nodes && n != self.me)
    }

    fn immediate_max(&self) -> u32 {
        self.immediate_max
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        self.outlet(link, to, lane).is_some_and(|outlet| outlet.has_room())
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<(), ChannelFull> {
        let checksum = self.checksum;
        let sent = if self.link_up(link) {
            let outlet = self.outlet(link, envelope.to, message.lane()).ok_or(ChannelFull)?;
            if transmit(outlet, envelope, message, checksum).is_err() {
                self.refused += 1;
                return Err(ChannelFull);
            }
            Sent::Ok
        } else {
            Sent::NotDelivered
        };
        if let Some(tag) = tag {
            self.sent.push_back((tag, sent));
        }
        Ok(())
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

/// The receiving half.
#[derive(Debug)]
pub struct Inbox<'m> {
    /// Control lanes first, so that answers never wait behind requests.
    boxes: Vec<(LinkId, Consumer<'m>)>,
    scratch: Vec<u8>,
    faults: u64,
}

impl<'m> Inbox<'m> {
    /// The inbox of node `me`, which has joined.
    ///
    /// # Errors
    /// A damaged mailbox.
    pub fn new(fabric: &Fabric<'m>, me: u32) -> Result<Self, RegionError> {
        let shape = *fabric.shape();
        let mut boxes = Vec::new();
        for lane in [1, 0] {
            for source in (0..shape.nodes).filter(|&n| n != me) {
                for link in 0..shape.links as usize {
                    let region = fabric.sound_mailbox(source, me, link, lane)?;
                    // SAFETY: this node's only inbox, by the node's membership.
                    let consumer = unsafe { Consumer::attach(region, Kind::Spsc)? };
                    if let Some(link) = LinkId::new(link) {
                        boxes.push((link, consumer));
                    }
                }
            }
        }
        Ok(Self { boxes, scratch: vec![0; shape.requests.1 as usize], faults: 0 })
    }

    /// Offers up to `budget` frames of each mailbox to `take`, which says whether it has taken the
    /// frame; one that it has not stays, and those behind it wait.
    pub fn receive(
        &mut self,
        budget: u32,
        mut take: impl FnMut(LinkId, &[u8]) -> bool,
    ) -> Received {
        let mut received = Received::default();
        for (link, consumer) in &mut self.boxes {
            for _ in 0..budget {
                match consumer.peek(&mut self.scratch) {
                    Ok(None) => break,
                    Ok(Some(mail)) if take(*link, mail.bytes()) => {
                        mail.release();
                        received.taken += 1;
                    }
                    Ok(Some(_)) => {
                        received.waiting += 1;
                        break;
                    }
                    Err(Fault::Length) => self.faults += 1,
                    Err(_) => {
                        self.faults += 1;
                        break;
                    }
                }
            }
        }
        received
    }

    /// Mailbox slots that made no sense.
    pub const fn faults(&self) -> u64 {
        self.faults
    }
}
