// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The drivers' ports over the fabric. A driver that breaks a port's contract breaks a rule.

use std::num::NonZeroU32;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::link::{Connection, Quiesced};
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Completion, Completions, Engine, Features, Memory,
    Motion, NoTrace, Ports, PostError, Returned, Sent,
};
use lnd_shortmsg::wire::{encode, Checksum};

use crate::device::{Posted, Run};
use crate::fabric::{End, Letter, Shared};

/// The only link.
pub const LINK: LinkId = LinkId::new(0).unwrap();

/// The ports of a modelled node; `SAFE_INVALIDATE` is its engine's ([`Engine::SAFE_INVALIDATE`]).
#[derive(Debug)]
pub struct Mock<const SAFE_INVALIDATE: bool>;

impl<const SAFE_INVALIDATE: bool> Ports for Mock<SAFE_INVALIDATE> {
    type Engine = Port<SAFE_INVALIDATE>;
    type Channel = Port<SAFE_INVALIDATE>;
    type Memory = NoMemory;
    type Tracer = NoTrace;
}

/// A node's engine and channel.
#[derive(Clone, Debug)]
pub struct Port<const SAFE_INVALIDATE: bool> {
    pub fabric: Shared,
    pub node: usize,
}

impl<const SAFE_INVALIDATE: bool> Port<SAFE_INVALIDATE> {
    fn runs(&self) -> bool {
        self.fabric.borrow().places[self.node].device.runs()
    }
}

/// The key of what a node has staged under a tag, which says in which of its incarnations.
fn key_of(node: usize, tag: Tag) -> Key {
    let words = [(node as u64).to_le_bytes(), tag.to_cookie().to_le_bytes()];
    Key::new(words.as_flattened()).expect("short enough")
}

impl<const SAFE_INVALIDATE: bool> Engine for Port<SAFE_INVALIDATE> {
    const CONNECTIONS: bool = true;
    const SAFE_INVALIDATE: bool = SAFE_INVALIDATE;
    const KEYS: bool = true;
    const PUSHES: bool = true;

    fn features(&self) -> Features {
        let fabric = self.fabric.borrow();
        let mut features = Features::empty();
        features.set(Features::REMOTE_COMPLETION, fabric.signalled);
        features.set(Features::PUSHES, fabric.pushes);
        features
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let mut fabric = self.fabric.borrow_mut();
        let content = fabric.content(self.node, bd.tag);
        let device = &mut fabric.places[self.node].device;
        let running = device.runs();
        let (source, key) = match bd.motion {
            Motion::Pull { source, key, .. } | Motion::Push { sink: source, key, .. } => {
                (Some(source), key)
            }
            Motion::Stage { .. } | Motion::Expose { .. } => (None, Key::NONE),
        };
        let pushes = matches!(bd.motion, Motion::Push { .. } | Motion::Expose { .. });
        let keyed = source.is_none_or(|source| key == key_of(1 - self.node, source));
        let may = fabric.pushes || !pushes;
        let after = match source {
            Some(source) if !SAFE_INVALIDATE => fabric.was_taken_back(self.node, source),
            _ => false,
        };
        let device = &mut fabric.places[self.node].device;
        let posted = Posted {
            tag: bd.tag,
            source,
            pushes,
            length: bd.length,
            content,
            rung: false,
            invalidated: false,
            pulled: false,
            done: None,
        };
        let before = device.posted.insert(bd.tag.index, posted);
        fabric.demand(running, "posted to an engine that was asked to stop (S0-20)");
        fabric.demand(!after, "moves what its owner was promised not to be moved");
        fabric.demand(before.is_none(), "posted over a descriptor that is out (R17)");
        fabric.demand(keyed, "pulls by another key than its source's");
        fabric.demand(may, "pushes with engines that do not push (S3-11)");
        Ok(())
    }

    fn key(&self, tag: Tag) -> Key {
        let mut fabric = self.fabric.borrow_mut();
        let staged = fabric.places[self.node].device.posted.get(&tag.index);
        let notified = staged.is_some_and(|p| p.tag == tag && p.source.is_none() && p.rung);
        fabric.demand(notified, "asked for the key of what is not staged (INV-7)");
        key_of(self.node, tag)
    }

    fn doorbell(&mut self) {
        for posted in self.fabric.borrow_mut().places[self.node].device.posted.values_mut() {
            posted.rung = true;
        }
    }

    fn invalidate(&mut self, tag: Tag) {
        let mut fabric = self.fabric.borrow_mut();
        let device = &mut fabric.places[self.node].device;
        let Some(posted) = device.posted.get_mut(&tag.index).filter(|p| p.tag == tag) else {
            return;
        };
        let (rung, again) = (posted.rung, posted.invalidated);
        let staged = posted.source.is_none();
        posted.invalidated = true;
        if !SAFE_INVALIDATE && staged {
            fabric.take_back(self.node, tag);
        }
        fabric.demand(rung, "asked for a descriptor that the engine was not told of");
        fabric.demand(!again, "asked for a descriptor twice (R17)");
    }

    fn stop(&mut self) {
        self.fabric.borrow_mut().places[self.node].device.run = Run::Stopping;
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let device = &mut self.fabric.borrow_mut().places[self.node].device;
        if device.run != Run::Stopped {
            return None;
        }
        device.run = Run::Asserted;
        // SAFETY: a stopped device moves nothing until `reset`: every action of the model asks
        // `Device::moves` of both ends first.
        Some(unsafe { Quiesced::assert_stopped(LINK) })
    }

    fn connection(&self, _peer: Nid) -> Option<NonZeroU32> {
        self.fabric.borrow().connects.then_some(NonZeroU32::MIN)
    }

    fn stop_connection(&mut self, _connection: Connection) {
        let mut fabric = self.fabric.borrow_mut();
        let before = fabric.places[self.node].device.connection;
        fabric.places[self.node].device.connection = Run::Stopping;
        fabric.demand(before == Run::Running, "asked a connection to stop twice");
    }

    fn connection_quiesced(&mut self, connection: Connection) -> Option<Quiesced> {
        let device = &mut self.fabric.borrow_mut().places[self.node].device;
        if device.connection != Run::Stopped {
            return None;
        }
        device.connection = Run::Asserted;
        // SAFETY: a stopped connection moves nothing until `reset`: as for the engine.
        Some(unsafe { Quiesced::assert_connection_stopped(connection) })
    }

    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        let mut fabric = self.fabric.borrow_mut();
        let device = &mut fabric.places[self.node].device;
        let stopped = match proof.connection() {
            None => device.run,
            Some(_) => device.connection,
        } == Run::Asserted;
        let there = device.posted.get(&tag.index).is_some_and(|p| p.tag == tag);
        let posted = if there { device.posted.remove(&tag.index) } else { None };
        fabric.demand(stopped, "reclaimed from an engine that runs (S0-12)");
        posted.and_then(|p| p.done)
    }

    fn reset(&mut self, proof: Quiesced) {
        let mut fabric = self.fabric.borrow_mut();
        let device = &mut fabric.places[self.node].device;
        let out = device.posted.values().any(|p| p.done.is_none());
        let stopped = match proof.connection() {
            None => {
                // With the engine its connections are made anew.
                device.connection = Run::Running;
                std::mem::take(&mut device.run)
            }
            Some(_) => std::mem::take(&mut device.connection),
        } == Run::Asserted;
        fabric.demand(stopped, "reset an engine that runs (S0-11)");
        fabric.demand(!out, "reset an engine that has descriptors (S0-12)");
    }

    fn is_gone(&self) -> bool {
        false
    }

    fn link_up(&mut self) -> bool {
        self.fabric.borrow().places[self.node].device.run == Run::Running
            && !self.fabric.borrow().places[self.node].unplugged
    }
}

impl<const SAFE_INVALIDATE: bool> Completions for Port<SAFE_INVALIDATE> {
    fn pop(&mut self) -> Option<Completion> {
        self.fabric.borrow_mut().places[self.node].device.pop()
    }
}

impl<const SAFE_INVALIDATE: bool> Channel for Port<SAFE_INVALIDATE> {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ends_at_once(&self) -> bool {
        self.fabric.borrow().ends_at_once
    }

    fn immediate_max(&self) -> u32 {
        64
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, lane: Lane) -> bool {
        let mut fabric = self.fabric.borrow_mut();
        let room = fabric.room;
        fabric.lane(self.node, lane).len() < room
    }

    fn send(
        &mut self,
        _link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let mut frame = vec![0; 512];
        let length = encode(envelope, message, Checksum::On, &mut frame).expect("encodes");
        frame.truncate(length);
        let running = self.runs();
        let mut fabric = self.fabric.borrow_mut();
        fabric.demand(running, "said on a link that was asked to stop");
        if let Message::Immediate { header, .. }
        | Message::PutReq { header, .. }
        | Message::GetReq { header, .. } = message
        {
            let message = u32::from_le_bytes((*header).try_into().expect("our header"));
            fabric.send(message, self.node, envelope.to_incarnation);
        }
        let incarnation = fabric.places[self.node].incarnation;
        // A hello is never undeliverable here, and nothing else need be reported of it.
        let at_once = fabric.ends_at_once;
        let tag = tag.filter(|_| !matches!(message, Message::Hello(_)));
        if let Some(tag) = tag.filter(|_| at_once) {
            let node = self.node;
            fabric.notified.insert((node, tag));
        }
        let tag = tag.filter(|_| !at_once);
        fabric.lane(self.node, message.lane()).push_back(Letter { frame, tag, incarnation });
        if let Some(tag) = tag {
            fabric.places[self.node].ends.push_back(End { tag, sent: None });
        }
        Ok(at_once.then_some(Sent::Ok))
    }

    fn quiesce(&mut self, _link: LinkId, _proof: &Quiesced) {
        self.fabric.borrow_mut().places[self.node].ends.clear();
    }
}

/// Payload is not modelled: what lies where is the oracle's.
#[derive(Debug)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _address: u64, _into: &mut [u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn write(&mut self, _address: u64, _from: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, _fragment: &Fragment) -> bool {
        true
    }
}
