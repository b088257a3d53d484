// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The smallest ports a driver can have: one link, one peer, a device that remembers what it was
//! asked for.

use core::cell::Cell;
use std::rc::Rc;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Engine, Features, Memory, Ports, PostError, Returned,
    Sent, Tracer,
};
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_core::time::Instant;
use lnd_core::trace::Trace;
use loom::sync::Condvar;

/// What the other contexts see of the hardware. Only `posted` and `said` are part of the model.
#[derive(Debug)]
pub struct Device {
    turn: Condvar,
    /// Generation of the descriptor that the doorbell was rung for; zero: none.
    posted: AtomicU32,
    /// Generation of the message that was handed over; zero: none.
    said: AtomicU32,
    pub session: Cell<u32>,
    pub invalidated: Cell<u32>,
    pub reclaimed: Cell<u32>,
    stopped: Cell<bool>,
}

impl Device {
    pub fn new() -> Rc<Self> {
        Rc::new(Self {
            turn: Condvar::new(),
            posted: AtomicU32::new(0),
            said: AtomicU32::new(0),
            session: Cell::new(0),
            invalidated: Cell::new(0),
            reclaimed: Cell::new(0),
            stopped: Cell::new(false),
        })
    }

    /// As [`World::turn`](lnd_loom::World::turn): the ports take turns with the other contexts, for
    /// the driver's own words cannot.
    pub fn turn(&self) {
        self.turn.notify_one();
    }

    /// Whether the device has the descriptor of `tag`.
    pub fn has(&self, tag: Tag) -> bool {
        // Acquire: partner is the Release in `Engine::post`.
        self.posted.load(Ordering::Acquire) == tag.generation
    }

    /// Whether the channel has the message of `tag`.
    pub fn carries(&self, tag: Tag) -> bool {
        // Acquire: partner is the Release in `Channel::send`.
        self.said.load(Ordering::Acquire) == tag.generation
    }
}

#[derive(Debug)]
pub struct Port(pub Rc<Device>);

impl Ports for Port {
    type Engine = Self;
    type Channel = Self;
    type Memory = Self;
    type Tracer = Self;
}

/// Every step of the driver is traced: a place to take turns.
impl Tracer for Port {
    fn record(&mut self, _now: Instant, _trace: Trace) {
        self.0.turn();
    }
}

impl Engine for Port {
    fn features(&self) -> Features {
        Features::REMOTE_COMPLETION
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        assert!(!self.0.stopped.get(), "posted to a stopped engine (S0-20)");
        self.0.turn();
        // Release: partner is the Acquire in `has`.
        self.0.posted.store(bd.tag.generation, Ordering::Release);
        Ok(())
    }

    fn doorbell(&mut self) {}

    fn invalidate(&mut self, tag: Tag) {
        assert!(self.0.has(tag), "asked for a descriptor that was not posted");
        self.0.invalidated.set(self.0.invalidated.get() + 1);
    }

    fn stop(&mut self) {
        self.0.stopped.set(true);
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let link = LinkId::new(0).filter(|_| self.0.stopped.get())?;
        // SAFETY: this device moves nothing at all.
        Some(unsafe { Quiesced::assert_stopped(link) })
    }

    fn reclaim(&mut self, tag: Tag, _proof: &Quiesced) -> Option<Returned> {
        assert!(self.0.has(tag), "reclaimed what was not posted");
        self.0.reclaimed.set(self.0.reclaimed.get() + 1);
        None
    }

    fn reset(&mut self, _proof: Quiesced) {}

    fn is_gone(&self) -> bool {
        false
    }

    fn link_up(&mut self) -> bool {
        !self.0.stopped.get()
    }
}

impl Channel for Port {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        0
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, _lane: Lane) -> bool {
        self.0.turn();
        true
    }

    fn send(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        self.0.session.set(envelope.session);
        // How a hello ends is not watched for.
        if let Some(tag) = tag.filter(|_| !matches!(message, Message::Hello(_))) {
            self.0.turn();
            // Release: partner is the Acquire in `carries`.
            self.0.said.store(tag.generation, Ordering::Release);
        }
        Ok(None)
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {}
}

impl Memory for Port {
    fn read(&self, _address: u64, _into: &mut [u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn write(&mut self, _address: u64, _from: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, _fragment: &Fragment) -> bool {
        self.0.turn();
        true
    }
}
