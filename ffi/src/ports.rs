// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The core's ports, implemented by the platform's table.

use core::mem::size_of;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{BadAddress, Channel, ChannelFull, Memory, Ports, Sent};
use lnd_shortmsg::wire::{encode, encode_inline, max_immediate, Checksum};

use crate::abi::{lnd_frame, lnd_send, LND_CONNECTION_CHANNEL, LND_ENDS_AT_ONCE, LND_RELIABLE};
use crate::engine::{is_whole, EngineRef};
use crate::handle;
use crate::platform::{lane_number, Platform};
use crate::tracing::Tracing;

/// The set of ports of a C host.
#[derive(Debug)]
pub(crate) struct Host;

impl Ports for Host {
    type Engine = EngineRef;
    type Channel = Frames;
    type Memory = Payload;
    type Tracer = Tracing;
}

/// Payload memory.
#[derive(Debug)]
pub(crate) struct Payload(pub &'static Platform);

impl Memory for Payload {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        self.0.mem_read(address, into).then_some(()).ok_or(BadAddress)
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        self.0.mem_write(address, from).then_some(()).ok_or(BadAddress)
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.0.mem_valid(fragment.address, fragment.length)
    }
}

/// The short-message channel: encodes frames and passes their bytes on.
#[derive(Debug)]
pub(crate) struct Frames {
    platform: &'static Platform,
    /// Room for the largest frame.
    buffer: &'static mut [u8],
    checksum: Checksum,
    reliable: bool,
    connected: bool,
    ends_at_once: bool,
    immediate_max: u32,
}

impl Frames {
    pub fn new(
        platform: &'static Platform,
        buffer: &'static mut [u8],
        checksum: Checksum,
        flags: u32,
    ) -> Self {
        let immediate_max = max_immediate(buffer.len());
        let reliable = flags & LND_RELIABLE != 0;
        let connected = flags & LND_CONNECTION_CHANNEL != 0;
        let ends_at_once = flags & LND_ENDS_AT_ONCE != 0;
        Self { platform, buffer, checksum, reliable, connected, ends_at_once, immediate_max }
    }
}

impl Channel for Frames {
    fn reaches(&self, to: Nid) -> bool {
        self.platform.reaches(to.raw())
    }

    fn is_reliable(&self) -> bool {
        self.reliable
    }

    fn is_connected(&self) -> bool {
        self.connected
    }

    fn ends_at_once(&self) -> bool {
        self.ends_at_once
    }

    fn immediate_max(&self) -> u32 {
        self.immediate_max
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        self.platform.ready(link.index() as u32, to.raw(), lane_number(lane))
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let len = encode(envelope, message, self.checksum, self.buffer).map_err(|_| ChannelFull)?;
        let tracked = tag.is_some() && !matches!(message, Message::Hello(_));
        self.pass_on(link, envelope, message.lane(), (tag, tracked), len)
    }

    // The payload is gathered where it is sent from: a copy less.
    fn send_inline(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        header: &[u8],
        scratch: &mut [u8],
        gather: impl FnOnce(&mut [u8]) -> bool,
    ) -> Option<Result<Option<Sent>, ChannelFull>> {
        let payload = scratch.len();
        match encode_inline(envelope, header, payload, self.checksum, self.buffer, gather) {
            Ok(Some(len)) => Some(self.pass_on(link, envelope, Lane::Request, (None, false), len)),
            Ok(None) => None,
            Err(_) => Some(Err(ChannelFull)),
        }
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        // The stop of a connection already covers its messages.
        if is_whole(proof) {
            self.platform.quiesce(link.index() as u32);
        }
    }
}

impl Frames {
    /// Passes the frame of `len` bytes in the buffer on, with its tag and whether its end is
    /// reported.
    fn pass_on(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        lane: Lane,
        (tag, tracked): (Option<Tag>, bool),
        len: usize,
    ) -> Result<Option<Sent>, ChannelFull> {
        let id = self.platform.id;
        let frame = lnd_frame {
            size: size_of::<lnd_frame>() as u32,
            link: link.index() as u32,
            lane: lane_number(lane),
            len: len as u32,
            bytes: self.buffer.as_ptr().cast(),
            nid: envelope.to.raw(),
            tracked: u32::from(tracked),
            reserved: 0,
            message: tag.map_or_else(Default::default, |tag| handle::message(id, tag)),
        };
        match self.platform.send(&frame) {
            Some(n) if n == lnd_send::LND_SEND_DONE as u32 => Ok(Some(Sent::Ok)),
            Some(n) if n == lnd_send::LND_SEND_PENDING as u32 && !self.ends_at_once => Ok(None),
            Some(n) if n == lnd_send::LND_SEND_PENDING as u32 => {
                self.platform.bug(c"send() is pending, and the channel ends messages at once");
                Ok(Some(Sent::Unknown))
            }
            Some(n) if n == lnd_send::LND_SEND_FAILED as u32 => Ok(Some(Sent::NotDelivered)),
            Some(n) if n == lnd_send::LND_SEND_FULL as u32 => Err(ChannelFull),
            Some(n) if n == lnd_send::LND_SEND_TOO_LONG as u32 => {
                self.platform
                    .bug(c"a frame is too long for the channel: immediate_max is too large");
                Err(ChannelFull)
            }
            _ => {
                // The channel may have taken the message: assume the worst.
                self.platform.bug(c"send() has returned no enum lnd_send");
                Ok(Some(Sent::Unknown))
            }
        }
    }
}
