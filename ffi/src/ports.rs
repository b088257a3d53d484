// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The core's ports over the platform's table.

use core::mem::size_of;
use core::num::NonZeroU32;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::{Connection, Quiesced};
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Engine, Features, Memory, Ports, PostError, Returned,
    Sent,
};
use lnd_dma::driver::{MmioEngine, Nodes};
use lnd_dma::memory::LinkMemory;
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_shortmsg::wire::{encode, max_immediate, Checksum};

use crate::abi::{lnd_frame, lnd_send, LND_ENDS_AT_ONCE, LND_NID_UNKNOWN, LND_RELIABLE};
use crate::handle;
use crate::platform::{lane_number, Platform};
use crate::tracing::Tracing;

/// The set of ports of a C host.
#[derive(Debug)]
pub(crate) struct Host;

impl Ports for Host {
    type Engine = Seat;
    type Channel = Frames;
    type Memory = Payload;
    type Tracer = Tracing;
}

/// The driver of a link's engine, in a place of its own: a driver that holds eight of them by value
/// would not fit a kernel's stack while it is made.
#[derive(Debug)]
pub(crate) struct Seat {
    engine: &'static mut MmioEngine<'static, Registers, Numbers>,
    platform: &'static Platform,
}

impl Seat {
    pub fn new(
        engine: &'static mut MmioEngine<'static, Registers, Numbers>,
        platform: &'static Platform,
    ) -> Self {
        Self { engine, platform }
    }
}

/// Whether a proof is that of a whole link.
const fn is_whole(proof: &Quiesced) -> bool {
    !Seat::CONNECTIONS || proof.connection().is_none()
}

/// A link's number, for C.
const fn number_of(link: LinkId) -> u32 {
    link.index() as u32
}

impl Engine for Seat {
    const CONNECTIONS: bool = cfg!(feature = "connections");

    fn features(&self) -> Features {
        self.engine.features()
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        self.engine.post(bd)
    }

    fn doorbell(&mut self) {
        self.engine.doorbell();
    }

    fn invalidate(&mut self, tag: Tag) {
        self.engine.invalidate(tag);
    }

    fn stop(&mut self) {
        self.engine.stop();
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        self.engine.quiesced()
    }

    fn connection(&self, peer: Nid) -> Option<NonZeroU32> {
        self.platform.connection(number_of(self.engine.link()), peer.raw())
    }

    fn stop_connection(&mut self, it: Connection) {
        self.platform.connection_stop(number_of(it.link), it.peer.raw(), it.number);
    }

    fn connection_quiesced(&mut self, it: Connection) -> Option<Quiesced> {
        let link = number_of(it.link);
        if !self.platform.connection_quiesced(link, it.peer.raw(), it.number) {
            return None;
        }
        // SAFETY: the platform says so, and promises by its table what that means.
        Some(unsafe { Quiesced::assert_connection_stopped(it) })
    }

    fn yank(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        self.engine.yank(tag, proof)
    }

    fn reset(&mut self, proof: Quiesced) {
        // First: the link's engine begins with connections that are not stopped.
        if Self::CONNECTIONS {
            let whole = (LND_NID_UNKNOWN, 0);
            let (nid, number) =
                proof.connection().map_or(whole, |it| (it.peer.raw(), it.number.get()));
            self.platform.connection_reset(number_of(proof.link()), nid, number);
        }
        if is_whole(&proof) {
            self.engine.reset(proof);
        }
    }

    fn is_gone(&self) -> bool {
        self.engine.is_gone()
    }

    fn link_up(&mut self) -> bool {
        self.engine.link_up()
    }
}

/// A link's registers: the platform's, or words of the ring memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    platform: &'static Platform,
    memory: &'static LinkMemory<'static>,
    link: u32,
}

impl Registers {
    pub const fn new(
        platform: &'static Platform,
        memory: &'static LinkMemory<'static>,
        link: LinkId,
    ) -> Self {
        Self { platform, memory, link: link.index() as u32 }
    }

    pub const fn memory(&self) -> LinkMemory<'static> {
        *self.memory
    }

    /// A register's offset in bytes, as docs/registers.md has it.
    fn offset(&self, register: Register) -> u32 {
        let block = self.memory.registers();
        let word = core::ptr::from_ref(block.word(register)) as usize;
        word.wrapping_sub(core::ptr::from_ref(block) as usize) as u32
    }
}

impl RegisterAccess for Registers {
    fn read(&self, register: Register) -> u32 {
        if self.platform.has_registers() {
            self.platform.reg_read(self.link, self.offset(register))
        } else {
            self.memory.read(register)
        }
    }

    fn write(&self, register: Register, value: u32) {
        if self.platform.has_registers() {
            self.platform.reg_write(self.link, self.offset(register), value);
        } else {
            self.memory.write(register, value);
        }
    }
}

/// The fabric's numbers of nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers(pub &'static Platform);

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        self.0.node_of(nid.raw())
    }
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

/// The short-message channel: encodes and hands the bytes over.
#[derive(Debug)]
pub(crate) struct Frames {
    platform: &'static Platform,
    /// Room for the largest frame.
    buffer: &'static mut [u8],
    checksum: Checksum,
    reliable: bool,
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
        let ends_at_once = flags & LND_ENDS_AT_ONCE != 0;
        Self { platform, buffer, checksum, reliable, ends_at_once, immediate_max }
    }
}

impl Channel for Frames {
    fn reaches(&self, to: Nid) -> bool {
        self.platform.reaches(to.raw())
    }

    fn is_reliable(&self) -> bool {
        self.reliable
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
        let id = self.platform.id;
        let frame = lnd_frame {
            size: size_of::<lnd_frame>() as u32,
            link: link.index() as u32,
            lane: lane_number(message.lane()),
            len: len as u32,
            bytes: self.buffer.as_ptr().cast(),
            nid: envelope.to.raw(),
            tracked: u32::from(tag.is_some() && !matches!(message, Message::Hello(_))),
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
                // Whether it has taken the message is anybody's guess: the worst is assumed.
                self.platform.bug(c"send() has returned no enum lnd_send");
                Ok(Some(Sent::Unknown))
            }
        }
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        // That a connection has stopped says the same of its messages already.
        if is_whole(proof) {
            self.platform.quiesce(link.index() as u32);
        }
    }
}
