// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The ports: the rest of an image supplies the foreign functions.

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{BadAddress, Channel, ChannelFull, Memory, Ports, Sent};
use lnd_dma::driver::{MmioEngine, Nodes};
use lnd_dma::regs::{Register, RegisterAccess};
use lnd_shortmsg::wire::{encode, max_immediate, Checksum};

use crate::shape::FRAME;

extern "C" {
    fn lnd_port_register_read(link: u32, register: u32) -> u32;
    fn lnd_port_register_write(link: u32, register: u32, value: u32);
    fn lnd_port_node_of(nid: u64) -> u32;
    fn lnd_port_ready(link: u32, nid: u64, lane: u32) -> u32;
    fn lnd_port_send(link: u32, nid: u64, lane: u32, frame: *const u8, length: usize) -> u32;
    pub fn lnd_port_parse(kind: u32, header: *const u8, length: u32, into: *mut Decision) -> u32;
    pub fn lnd_port_finalize(user: u64, errno: i32, health: u32, bytes: u32);
    fn lnd_port_valid(address: u64, length: u32) -> u32;
}

/// The upper layer's decisions on a request.
#[allow(missing_docs)]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Decision {
    pub address: u64,
    pub length: u32,
    pub room: u32,
    pub deadline: u64,
    pub user: u64,
}

/// Registers of the device.
#[derive(Clone, Copy, Debug)]
pub struct Device(pub u32);

impl RegisterAccess for Device {
    fn read(&self, register: Register) -> u32 {
        // SAFETY: linked for measurement, never run.
        unsafe { lnd_port_register_read(self.0, register as u32) }
    }

    fn write(&self, register: Register, value: u32) {
        // SAFETY: linked for measurement, never run.
        unsafe { lnd_port_register_write(self.0, register as u32, value) };
    }
}

/// The fabric's numbers of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Numbers;

impl Nodes for Numbers {
    fn node_of(&self, nid: Nid) -> Option<u32> {
        // SAFETY: linked for measurement, never run.
        Some(unsafe { lnd_port_node_of(nid.raw()) })
    }
}

/// The wire: frames are written here and handed over.
#[derive(Debug)]
pub struct Wire {
    /// The buffer of frames.
    pub frame: &'static mut [u8; FRAME],
}

const fn number(lane: Lane) -> u32 {
    match lane {
        Lane::Request => 0,
        Lane::Control => 1,
    }
}

impl Channel for Wire {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        max_immediate(FRAME)
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        // SAFETY: linked for measurement, never run.
        unsafe { lnd_port_ready(link.index() as u32, to.raw(), number(lane)) != 0 }
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let length =
            encode(envelope, message, Checksum::On, self.frame).map_err(|_| ChannelFull)?;
        let (link, lane) = (link.index() as u32, number(message.lane()));
        // SAFETY: linked for measurement, never run.
        let full = unsafe {
            lnd_port_send(link, envelope.to.raw(), lane, self.frame.as_ptr(), length) != 0
        };
        if full {
            return Err(ChannelFull);
        }
        Ok(None)
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

/// Payload by its address.
#[derive(Debug)]
pub struct Payload;

impl Memory for Payload {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let from = core::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: linked for measurement, never run.
        unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let to = core::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: linked for measurement, never run.
        unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        // SAFETY: linked for measurement, never run.
        unsafe { lnd_port_valid(fragment.address, fragment.length) != 0 }
    }
}

#[cfg(feature = "trace")]
mod traced {
    /// The trace.
    pub type Tracer = lnd_fw::log::Log<2048>;
    /// An empty one.
    pub const fn tracer() -> Tracer {
        Tracer::new()
    }
}
#[cfg(not(feature = "trace"))]
mod traced {
    /// The trace.
    pub type Tracer = lnd_core::ports::NoTrace;
    /// An empty one.
    pub const fn tracer() -> Tracer {
        lnd_core::ports::NoTrace
    }
}
pub use traced::{tracer, Tracer};

/// The set of ports.
#[derive(Debug)]
pub struct Board;

impl Ports for Board {
    type Engine = MmioEngine<'static, Device, Numbers>;
    type Channel = Wire;
    type Memory = Payload;
    type Tracer = Tracer;
}
