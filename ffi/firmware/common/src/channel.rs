// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The short-message channel of a pair: a mailbox for each direction and lane, in memory.

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{Channel, ChannelFull, Sent};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{LinkBits, Register, RegisterAccess};
use lnd_shortmsg::dispatch::transmit;
use lnd_shortmsg::mailbox::spsc::{self, Producer};
use lnd_shortmsg::mailbox::{Consumer, Line, MailboxGeometry};
use lnd_shortmsg::wire::{Checksum, Wire};

/// The format of frames: a mailbox has one writer.
pub const WIRE: Wire = Wire::short(Checksum::On);

/// Messages in a mailbox.
const SLOTS: u32 = 8;
/// Bytes of a request's slot, and of a control message's.
const REQUEST: u32 = 768;
const CONTROL: u32 = 128;
/// Longest frame.
pub const FRAME: usize = REQUEST as usize;

/// Geometries checked at compile time.
const REQUESTS: MailboxGeometry = sound(MailboxGeometry::new(SLOTS, REQUEST));
const CONTROLS: MailboxGeometry = sound(MailboxGeometry::new(SLOTS, CONTROL));

/// For constants only: the compiler evaluates it and rejects an invalid geometry.
#[allow(clippy::panic)]
const fn sound(geometry: Option<MailboxGeometry>) -> MailboxGeometry {
    match geometry {
        Some(geometry) => geometry,
        None => panic!(),
    }
}

const fn lines(geometry: MailboxGeometry) -> usize {
    geometry.bytes_needed() / size_of::<Line>()
}

/// The mailboxes of one direction.
#[derive(Debug)]
pub struct Post {
    requests: [Line; lines(REQUESTS)],
    controls: [Line; lines(CONTROLS)],
}

impl Post {
    /// Empty mailboxes.
    pub const fn new() -> Self {
        Self { requests: [Line::ZERO; lines(REQUESTS)], controls: [Line::ZERO; lines(CONTROLS)] }
    }

    /// The two ends.
    pub fn split(&'static mut self) -> Option<(Outlets, Inlets)> {
        let (out_requests, requests) = spsc::channel(&mut self.requests, REQUESTS).ok()?;
        let (out_controls, controls) = spsc::channel(&mut self.controls, CONTROLS).ok()?;
        let outlets = Outlets { requests: out_requests, controls: out_controls };
        Some((outlets, Inlets { requests, controls }))
    }
}

impl Default for Post {
    fn default() -> Self {
        Self::new()
    }
}

/// The sending ends.
#[derive(Debug)]
pub struct Outlets {
    requests: Producer<'static>,
    controls: Producer<'static>,
}

/// The receiving ends; answers are read first, so that they never wait behind requests.
#[derive(Debug)]
pub struct Inlets {
    /// The request lane.
    pub requests: Consumer<'static>,
    /// The control lane.
    pub controls: Consumer<'static>,
}

/// This node's end of the channel: one peer, one link.
#[derive(Debug)]
pub struct PairChannel {
    peer: Nid,
    outlets: Outlets,
    link: LinkMemory<'static>,
}

impl PairChannel {
    /// The channel to `peer`. `link` is the memory of the local link: a message over a link that is
    /// down fails.
    pub const fn new(peer: Nid, outlets: Outlets, link: LinkMemory<'static>) -> Self {
        Self { peer, outlets, link }
    }

    fn outlet(&mut self, lane: Lane) -> &mut Producer<'static> {
        match lane {
            Lane::Request => &mut self.outlets.requests,
            Lane::Control => &mut self.outlets.controls,
        }
    }
}

impl Channel for PairChannel {
    fn reaches(&self, to: Nid) -> bool {
        to == self.peer
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        WIRE.max_immediate(REQUEST as usize - 8)
    }

    fn ready(&mut self, _link: LinkId, to: Nid, lane: Lane) -> bool {
        to == self.peer && self.outlet(lane).has_room()
    }

    fn send(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        if envelope.to != self.peer {
            return Err(ChannelFull);
        }
        let link = LinkBits::from_bits_retain(self.link.read(Register::Link));
        if !link.contains(LinkBits::UP) {
            return Ok(Some(Sent::NotDelivered));
        }
        let outlet = self.outlet(message.lane());
        transmit(outlet, envelope, message, WIRE).map_err(|_| ChannelFull)?;
        Ok(Some(Sent::Ok))
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {
        // A message ends when it is handed over.
    }
}
