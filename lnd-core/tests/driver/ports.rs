// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The drivers' ports over the fabric. A driver that breaks a port's contract fails the test here.

use std::num::NonZeroU32;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::link::{Connection, Quiesced};
use lnd_core::message::{Envelope, Lane, Message, PullReady};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Completion, Completions, Engine, Features, Memory,
    Motion, Ports, PostError, Returned, Sent, Tracer,
};
use lnd_core::time::Instant;
use lnd_core::trace::Trace;

use super::device::Posted;
use super::fabric::{node_of, Ending, InjectedFault, Shared, BASE, WINDOW};
use super::letter::Letter;

/// The ports of a node; `SAFE_INVALIDATE` is its engines' ([`Engine::SAFE_INVALIDATE`]).
#[derive(Debug)]
pub struct MockOf<const SAFE_INVALIDATE: bool>;

/// The usual ones.
pub type Mock = MockOf<true>;

impl<const SAFE_INVALIDATE: bool> Ports for MockOf<SAFE_INVALIDATE> {
    type Engine = MockEngine<SAFE_INVALIDATE>;
    type Channel = MockChannel;
    type Memory = MockMemory;
    type Tracer = Log;
}

#[derive(Debug)]
pub struct MockEngine<const SAFE_INVALIDATE: bool = true> {
    pub fabric: Shared,
    pub node: usize,
    pub link: usize,
}

impl<const SAFE_INVALIDATE: bool> Engine for MockEngine<SAFE_INVALIDATE> {
    const CONNECTIONS: bool = true;
    const KEYS: bool = true;
    const PUSHES: bool = true;
    const SAFE_INVALIDATE: bool = SAFE_INVALIDATE;

    fn features(&self) -> Features {
        Features(self.fabric.borrow_mut().device(self.node, self.link).features)
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        let with = node_of(bd.motion.peer());
        let pushes = matches!(bd.motion, Motion::Push { .. } | Motion::Expose { .. });
        assert!(device.features & Features::PUSHES.0 != 0 || !pushes, "it does not push (S3-11)");
        let stopped = device.asked_to_stop(with);
        assert!(!stopped, "posted to what was asked to stop (S0-20)");
        if let (Some(lent), false) = (bd.motion.remote(), SAFE_INVALIDATE) {
            let back = (with, fabric.incarnations[&with], lent);
            assert!(!fabric.taken_back.contains(&back), "moves what was taken back: {lent:?}");
        }
        let device = fabric.device(self.node, self.link);
        let room: u32 = bd.fragments.iter().map(|f| f.length).sum();
        assert!(bd.length <= room, "length beyond the fragments");
        assert_eq!(bd.list.is_some(), bd.fragments.len() > 1, "a list for many fragments only");
        if device.gone {
            return Err(PostError::Gone);
        }
        if device.refuse_posts > 0 {
            device.refuse_posts -= 1;
            return Err(PostError::Full);
        }
        assert!(!device.posted.contains_key(&bd.tag.index), "posted twice (R17)");
        device.calls.posts += 1;
        let posted = Posted {
            tag: bd.tag,
            motion: bd.motion,
            length: bd.length,
            fragments: bd.fragments.to_vec(),
            rung: false,
            invalidated: false,
            pulled: false,
            outcome: None,
        };
        device.posted.insert(bd.tag.index, posted);
        if bd.motion.remote().is_none() {
            fabric.give_key(self.node, self.link, bd.tag);
        }
        if let Motion::Pull { source: lent, key, .. } | Motion::Push { sink: lent, key, .. } =
            bd.motion
        {
            fabric.check_key(with, self.link, lent, key);
            let pair = (self.node, with);
            let now = fabric.pulls(pair.0, pair.1);
            let most = fabric.most_pulls.entry(pair).or_default();
            *most = now.max(*most);
        }
        Ok(())
    }

    fn key(&self, tag: Tag) -> Key {
        let fabric = self.fabric.borrow();
        let given = fabric.keys.get(&(self.node, self.link, tag)).copied();
        given.filter(|_| !fabric.keyless && !fabric.plain).unwrap_or(Key::NONE)
    }

    fn safe_invalidate(&self) -> bool {
        SAFE_INVALIDATE || self.fabric.borrow_mut().device(self.node, self.link).safe
    }

    fn has_keys(&self) -> bool {
        !self.fabric.borrow().plain
    }

    fn doorbell(&mut self) {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        device.calls.doorbells += 1;
        for bd in device.posted.values_mut() {
            bd.rung = true;
        }
    }

    fn invalidate(&mut self, tag: Tag) {
        let mut fabric = self.fabric.borrow_mut();
        if !SAFE_INVALIDATE && !fabric.device(self.node, self.link).safe {
            fabric.assert_not_pulled(self.node, self.link, tag);
        }
        let device = fabric.device(self.node, self.link);
        device.calls.invalidates += 1;
        device.gone |= device.unreadable;
        assert!(!device.stop_asked, "asked for a descriptor after the stop (S0-20)");
        let with = device.posted.get(&tag.index).map(Posted::with);
        let cut = with.is_some_and(|with| device.stopping.contains_key(&with));
        if let Some(bd) = device.posted.get_mut(&tag.index).filter(|bd| bd.tag == tag) {
            assert!(!cut, "asked for a descriptor after the stop of its connection (S0-20)");
            assert!(bd.rung, "asked for a descriptor that the device has not been told of");
            assert!(!bd.invalidated, "asked twice (R17)");
            bd.invalidated = true;
        }
    }

    fn stop(&mut self) {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        device.calls.stops += 1;
        device.stop_asked = true;
        device.stopped = !device.slow_stop;
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        device.gone = device.unreadable;
        if !device.stopped || device.asserted || device.unreadable {
            return None;
        }
        device.asserted = true;
        let link = LinkId::new(self.link)?;
        // SAFETY: a stopped device moves no byte in either direction until `reset`: every deed
        // asks `Device::works` of both ends first.
        Some(unsafe { Quiesced::assert_stopped(link) })
    }

    fn connection(&self, peer: Nid) -> Option<NonZeroU32> {
        let mut fabric = self.fabric.borrow_mut();
        fabric.device(self.node, self.link).connection(node_of(peer))
    }

    fn stop_connection(&mut self, connection: Connection) {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        let peer = node_of(connection.peer);
        assert!(device.connects && connection.link.index() == self.link, "no such connection");
        assert_eq!(device.connection(peer), Some(connection.number));
        device.calls.stops += 1;
        let stopped = !device.slow_connections;
        assert!(device.stopping.insert(peer, stopped).is_none(), "stopped twice");
    }

    fn link_proves_more(&self) -> bool {
        !self.fabric.borrow_mut().device(self.node, self.link).link_waits_too
    }

    fn is_stuck(&self) -> bool {
        self.fabric.borrow_mut().device(self.node, self.link).stuck
    }

    fn connection_quiesced(&mut self, connection: Connection) -> Option<Quiesced> {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        let peer = node_of(connection.peer);
        if device.stopping.get(&peer) != Some(&true) || !device.asserted_for.insert(peer) {
            return None;
        }
        // SAFETY: a stopped connection moves no byte in either direction until `reset`: every deed
        // asks `Device::moves_with` of both ends first.
        Some(unsafe { Quiesced::assert_connection_stopped(connection) })
    }

    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        assert_eq!(proof.link().index(), self.link, "the proof of another link (S0-12)");
        let with = device.posted.get(&tag.index).filter(|bd| bd.tag == tag).map(Posted::with);
        let proven = match proof.connection() {
            None => device.stopped,
            Some(connection) => {
                let peer = node_of(connection.peer);
                let its = with.is_none_or(|with| with == peer);
                its && device.stopping.get(&peer) == Some(&true)
            }
        };
        assert!(proven, "reclaimed without proof (S0-12)");
        device.calls.reclaims += 1;
        device.posted.remove(&tag.index).filter(|bd| bd.tag == tag).and_then(|bd| bd.outcome)
    }

    fn reset(&mut self, proof: Quiesced) {
        let mut fabric = self.fabric.borrow_mut();
        let device = fabric.device(self.node, self.link);
        assert_eq!(proof.link().index(), self.link, "the proof of another link (S0-11)");
        if let Some(connection) = proof.connection() {
            let peer = node_of(connection.peer);
            let left = device.posted.values().find(|bd| bd.with() == peer);
            assert!(left.is_none(), "reset with descriptors not reclaimed: {left:?}");
            assert_eq!(device.stopping.remove(&peer), Some(true), "reset without proof (S0-11)");
            device.asserted_for.remove(&peer);
            *device.made.entry(peer).or_default() += 1;
            device.calls.resets += 1;
            return;
        }
        assert!(device.stopped, "reset without proof (S0-11)");
        assert!(
            device.posted.is_empty(),
            "reset with descriptors not reclaimed: {:?}",
            device.posted
        );
        device.calls.resets += 1;
        (device.stopped, device.stop_asked, device.asserted) = (false, false, false);
        device.stopping.clear();
        device.asserted_for.clear();
        device.gone = false;
    }

    fn is_gone(&self) -> bool {
        self.fabric.borrow_mut().device(self.node, self.link).gone
    }

    fn link_up(&mut self) -> bool {
        self.fabric.borrow_mut().device(self.node, self.link).link_works
    }
}

/// The completion ring of one link.
#[derive(Debug)]
pub struct Ring {
    pub fabric: Shared,
    pub node: usize,
    pub link: usize,
}

impl Completions for Ring {
    fn pop(&mut self) -> Option<Completion> {
        self.fabric.borrow_mut().device(self.node, self.link).pop()
    }
}

#[derive(Debug)]
pub struct MockChannel {
    pub fabric: Shared,
    pub node: usize,
}

impl Channel for MockChannel {
    fn reaches(&self, to: Nid) -> bool {
        let fabric = self.fabric.borrow();
        let node = node_of(to);
        fabric.windows.contains_key(&node) && !fabric.unreachable.contains(&node)
    }

    fn is_reliable(&self) -> bool {
        self.fabric.borrow().reliable
    }

    fn is_connected(&self) -> bool {
        self.fabric.borrow().connected
    }

    fn ends_at_once(&self) -> bool {
        self.fabric.borrow().ends_at_once
    }

    fn immediate_max(&self) -> u32 {
        self.fabric.borrow().immediate_max
    }

    fn ready(&mut self, link: LinkId, to: Nid, lane: Lane) -> bool {
        self.fabric.borrow().has_room(self.node, node_of(to), link, lane)
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let mut fabric = self.fabric.borrow_mut();
        let mut letter = Letter::new(link, envelope, message);
        if fabric.no_cancel {
            letter.hide(Features::CANCEL);
        }
        let stopped = fabric.device(self.node, link.index()).asked_to_stop(letter.to);
        assert!(!stopped, "said {} on a stopped link", letter.kind());
        assert_eq!(letter.from, self.node, "forged sender");
        assert!(
            fabric.has_room(letter.from, letter.to, link, letter.lane),
            "sent {} without room",
            letter.kind()
        );
        let announced = match *message {
            Message::PutReq { source, .. } | Message::PullReady(PullReady { source, .. }) => {
                Some(source)
            }
            Message::GetReq { sink, key, .. } if !key.is_empty() => Some(sink),
            _ => None,
        };
        if let Some(source) = announced {
            let staged = fabric.device(self.node, link.index()).posted.get(&source.index);
            let announced = staged.is_some_and(|bd| bd.tag == source && bd.rung);
            assert!(announced, "sent {} before its source was staged (INV-7)", letter.kind());
        }
        if let (Some(id), Some(incarnation)) = (letter.id(), envelope.to_incarnation) {
            let from = (letter.from, envelope.from_incarnation.raw());
            fabric.addressed.insert(id, [from, (letter.to, incarnation.raw())]);
        }
        let injected = fabric.injected(letter.kind());
        if injected == Some(InjectedFault::Full) {
            return Err(ChannelFull);
        }
        fabric.said.push((letter.from, letter.to, letter.kind()));
        let sent = match injected {
            Some(InjectedFault::Lost(sent)) => sent,
            Some(InjectedFault::DeliveredUnknown) => Sent::Unknown,
            _ => Sent::Ok,
        };
        let ended = (fabric.ends_at_once || fabric.says_at_once).then_some(sent);
        if let (Some(tag), None) = (tag, ended) {
            fabric.endings.push_back(Ending { node: self.node, to: letter.to, link, tag, sent });
        }
        match injected {
            Some(InjectedFault::Lost(_)) => {}
            Some(InjectedFault::Twice) => {
                fabric.wire.push_back(letter.clone());
                fabric.wire.push_back(letter);
            }
            _ => fabric.wire.push_back(letter),
        }
        Ok(ended)
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        let mut fabric = self.fabric.borrow_mut();
        assert_eq!(proof.link(), link, "the proof of another link (INV-3)");
        let node = self.node;
        let of = |e: &Ending| {
            (e.node, e.link) == (node, link)
                && proof.connection().is_none_or(|it| e.to == node_of(it.peer))
        };
        fabric.endings.retain(|e| !of(e));
    }
}

#[derive(Debug)]
pub struct MockMemory {
    pub fabric: Shared,
    pub node: usize,
}

impl MockMemory {
    fn within(address: u64, length: usize) -> bool {
        let end = address.checked_add(length as u64);
        address >= BASE && end.is_some_and(|end| end <= BASE + WINDOW as u64)
    }
}

impl Memory for MockMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        if !Self::within(address, into.len()) || self.fabric.borrow().memory_fails {
            return Err(BadAddress);
        }
        let start = (address - BASE) as usize;
        into.copy_from_slice(&self.fabric.borrow().windows[&self.node][start..][..into.len()]);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        if !Self::within(address, from.len()) || self.fabric.borrow().memory_fails {
            return Err(BadAddress);
        }
        let fragment = Fragment::new(address, from.len() as u32);
        self.fabric.borrow_mut().write(self.node, &[fragment], from);
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        Self::within(fragment.address, fragment.length as usize)
    }
}

/// A tracer that remembers.
#[derive(Debug, Default)]
pub struct Log(pub Vec<(Instant, Trace)>);

impl Tracer for Log {
    fn record(&mut self, now: Instant, trace: Trace) {
        self.0.push((now, trace));
    }
}
