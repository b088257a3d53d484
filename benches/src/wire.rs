// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ports of two nodes in one process: mailboxes between them, engines in software, and payload
//! memory by its own address. No oracle, no trace and no upper layer: what is timed is the driver,
//! the channel and the engine.

use std::ptr::NonNull;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{BadAddress, Channel, ChannelFull, Memory, Ports, Sent};
use lnd_dma::driver::{MmioEngine, Nodes};
use lnd_dma::memory::LinkMemory;
use lnd_dma::soft::{BusAddress, BusFault, Fabric};
use lnd_shortmsg::dispatch::{transmit, transmit_inline};
use lnd_shortmsg::mailbox::spsc::Producer;
use lnd_shortmsg::wire::{Checksum, Wire};

use crate::copy::CopyWay;

/// What frames look like: memory keeps what was written, and a mailbox has one writer.
pub const WIRE: Wire = Wire::short(Checksum::Off);
/// Bytes of a request mailbox's slot.
pub const REQUEST_SLOT: u32 = 4352;
/// Bytes of a control mailbox's slot.
pub const CONTROL_SLOT: u32 = 192;

/// The NID of a node's number.
pub fn nid_of(node: u32) -> Nid {
    Nid::from_raw(u64::from(node) + 1).unwrap()
}

/// Node numbers for engines' drivers.
#[derive(Clone, Copy, Debug)]
pub struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        nid.address().checked_sub(1)
    }
}

/// A node's ports.
#[derive(Debug)]
pub struct PairPorts;

impl Ports for PairPorts {
    type Engine = MmioEngine<'static, LinkMemory<'static>, Numbers>;
    type Channel = Outlets;
    type Memory = Window;
    type Tracer = crate::observed::Traces;
}

/// The sending half of a node's channel: one mailbox for each lane.
#[derive(Debug)]
pub struct Outlets {
    /// Control, requests.
    pub boxes: [Producer<'static>; 2],
    /// Most bytes of payload inside of a message; more is pulled.
    pub inline: u32,
}

impl Outlets {
    fn lane(&mut self, lane: Lane) -> &mut Producer<'static> {
        let [control, requests] = &mut self.boxes;
        match lane {
            Lane::Control => control,
            Lane::Request => requests,
        }
    }
}

impl Channel for Outlets {
    fn reaches(&self, to: Nid) -> bool {
        to.address() <= 2
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ends_at_once(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        self.inline
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, lane: Lane) -> bool {
        self.lane(lane).has_room()
    }

    // Compiled into its callers, most of which know the kind of the message.
    #[inline(always)]
    fn send(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let outlet = self.lane(message.lane());
        transmit(outlet, envelope, message, WIRE).map_err(|_| ChannelFull)?;
        Ok(Some(Sent::Ok))
    }

    fn send_inline(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        header: &[u8],
        scratch: &mut [u8],
        gather: impl FnOnce(&mut [u8]) -> bool,
    ) -> Option<Result<Option<Sent>, ChannelFull>> {
        let outlet = self.lane(Lane::Request);
        match transmit_inline(outlet, envelope, header, scratch, WIRE, gather) {
            Ok(sent) => sent.then_some(Ok(Some(Sent::Ok))),
            Err(_) => Some(Err(ChannelFull)),
        }
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

/// Payload memory of both nodes: one block whose bus addresses are its own.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is leaked, and accessed by address only; the protocol says who may when.
unsafe impl Send for Window {}
// SAFETY: likewise: a shared reference gives no more than a copy does.
unsafe impl Sync for Window {}

impl Window {
    /// A block of `bytes` bytes, never freed, filled with a pattern other than zero.
    pub fn new(bytes: usize) -> Self {
        Self::over(vec![0xa5_u8; bytes].leak())
    }

    /// A window over memory that is never freed.
    pub fn over(block: &'static mut [u8]) -> Self {
        let bytes = block.len();
        Self { base: NonNull::from(block).cast(), bytes }
    }

    /// The bus address of an offset.
    pub fn address(&self, offset: usize) -> u64 {
        self.base.as_ptr() as u64 + offset as u64
    }

    /// Where `length` bytes at a bus address lie, if they are in the block.
    pub fn place(&self, address: u64, length: usize) -> Option<NonNull<u8>> {
        let offset = usize::try_from(address.checked_sub(self.address(0))?).ok()?;
        if offset.checked_add(length)? > self.bytes {
            return None;
        }
        // SAFETY: within the block, just checked.
        Some(unsafe { self.base.add(offset) })
    }

    /// Fills a range with a byte.
    pub fn fill(&self, address: u64, length: usize, byte: u8) {
        let place = self.place(address, length).unwrap();
        // SAFETY: within the block; the caller's by the protocol.
        unsafe { place.as_ptr().write_bytes(byte, length) };
    }

    /// Copies within the block, as an engine does.
    #[inline]
    pub fn copy(&self, from: u64, to: u64, length: usize) -> Option<()> {
        self.copy_by(CopyWay::Plain, from, to, length)
    }

    /// Copies within the block in a way of the caller's.
    #[inline]
    pub fn copy_by(&self, way: CopyWay, from: u64, to: u64, length: usize) -> Option<()> {
        let (from, to) = (self.place(from, length)?, self.place(to, length)?);
        // SAFETY: both ranges are within the block; theirs by the protocol.
        unsafe { way.copy(from, to, length) };
        Some(())
    }

    /// The bytes of a range.
    pub fn bytes(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.read(address, &mut bytes).unwrap();
        bytes
    }
}

impl Memory for Window {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let from = self.place(address, into.len()).ok_or(BadAddress)?;
        // SAFETY: within the block; `into` is memory elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let to = self.place(address, from.len()).ok_or(BadAddress)?;
        // SAFETY: within the block; `from` is memory elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), from.len()) };
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.place(fragment.address, fragment.length as usize).is_some()
    }
}

/// What connects the two engines.
#[derive(Debug)]
pub struct Bus {
    /// Both nodes' link memories.
    pub links: [LinkMemory<'static>; 2],
    /// Payload.
    pub window: Window,
}

impl Fabric<'static> for Bus {
    fn memory_of(&self, node: u32, _link: LinkId) -> Option<LinkMemory<'static>> {
        self.links.get(node as usize).copied()
    }

    fn alive(&self, _node: u32) -> bool {
        true
    }

    fn copy(&mut self, from: BusAddress, to: BusAddress, length: u32) -> Result<(), BusFault> {
        self.window.copy(from.address, to.address, length as usize).ok_or(BusFault)
    }
}
