// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engines, the channel and the memory of one node: in the hands of the input.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::{Key, MAX_KEY};
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{
    BadAddress, Bd, Channel, ChannelFull, Engine, Features, Memory, Motion, NoTrace, Ports,
    PostError, Returned, Sent,
};
use lnd_shortmsg::wire::{encode, encoded_len, Checksum};

/// Links of a node.
pub const LINKS: usize = 2;
/// Addresses below this are payload memory.
const MEMORY: u64 = 1 << 16;

/// A frame on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    pub link: LinkId,
    pub to: Nid,
    pub bytes: Vec<u8>,
    /// The transfer, or the hello, whose end its sender will be told.
    pub tag: Option<Tag>,
}

/// A descriptor that an engine has.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub tag: Tag,
    /// What it pulls, or pushes into; `None` if it is staged or exposed.
    pub source: Option<Tag>,
    /// It pushes, or is exposed.
    pub pushes: bool,
    /// It was asked for.
    pub invalidated: bool,
    /// A pull has taken its bytes, or a push has written them.
    pub pulled: bool,
    /// How it came back. No interrupt has taken note of that.
    pub done: Option<Returned>,
}

/// The hardware of one node.
#[derive(Debug, Default)]
pub struct Hardware {
    /// Descriptors that the engines have.
    pub posted: BTreeMap<(usize, u32), Posted>,
    /// Stop was asked for, and a proof was given.
    pub stopping: [bool; LINKS],
    pub asserted: [bool; LINKS],
    pub link_down: [bool; LINKS],
    /// The registers of the link read all ones. Its engine may run on.
    pub gone: [bool; LINKS],
    /// Every engine tells the source side of a pull's end.
    pub signals: bool,
    /// Every engine pushes.
    pub pushes: bool,
    /// Neither channel nor post ring has room.
    pub full: bool,
    pub outbox: Vec<Letter>,
    /// Messages whose end was not reported yet.
    pub endings: Vec<(usize, Tag)>,
}

pub type Shared = Rc<RefCell<Hardware>>;

pub struct Mock;

impl Ports for Mock {
    type Engine = MockEngine;
    type Channel = MockChannel;
    type Memory = MockMemory;
    type Tracer = NoTrace;
}

/// The key of what is staged under a tag, on every node: that of another use of the slot is another
/// one.
pub fn key_of(tag: Tag) -> Key {
    let mut bytes = [0x6b; MAX_KEY];
    bytes[..8].copy_from_slice(&tag.to_cookie().to_be_bytes());
    let length = 8 + tag.generation as usize % (MAX_KEY - 7);
    Key::new(&bytes[..length]).expect("short enough")
}

pub struct MockEngine {
    pub hardware: Shared,
    pub link: usize,
}

impl Engine for MockEngine {
    const KEYS: bool = true;
    const PUSHES: bool = true;

    fn features(&self) -> Features {
        // One link of each kind: with remote completion and without.
        let signals = self.link == 0 || self.hardware.borrow().signals;
        let mut features = Features::empty();
        features.set(Features::REMOTE_COMPLETION, signals);
        features.set(Features::PUSHES, self.hardware.borrow().pushes);
        features
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let mut hardware = self.hardware.borrow_mut();
        assert!(
            !hardware.stopping[self.link],
            "posted to an engine that was asked to stop (S0-20)"
        );
        if hardware.gone[self.link] {
            return Err(PostError::Gone);
        }
        if hardware.full {
            return Err(PostError::Full);
        }
        let source = match bd.motion {
            Motion::Pull { source, key, .. } | Motion::Push { sink: source, key, .. } => {
                assert_eq!(key, key_of(source), "moves {source:?} by another key");
                Some(source)
            }
            Motion::Stage { .. } | Motion::Expose { .. } => None,
        };
        let pushes = matches!(bd.motion, Motion::Push { .. } | Motion::Expose { .. });
        assert!(hardware.pushes || !pushes, "posted to an engine that does not push (S3-11)");
        let (invalidated, pulled, done) = (false, false, None);
        let posted = Posted { tag: bd.tag, source, pushes, invalidated, pulled, done };
        let old = hardware.posted.insert((self.link, bd.tag.index), posted);
        assert!(old.is_none(), "posted twice (R17): {old:?}");
        Ok(())
    }

    fn key(&self, tag: Tag) -> Key {
        let hardware = self.hardware.borrow();
        let staged = hardware.posted.get(&(self.link, tag.index)).map(|posted| posted.tag);
        assert_eq!(staged, Some(tag), "asked for the key of what is not posted");
        key_of(tag)
    }

    fn doorbell(&mut self) {}

    fn invalidate(&mut self, tag: Tag) {
        let mut hardware = self.hardware.borrow_mut();
        if let Some(posted) = hardware.posted.get_mut(&(self.link, tag.index)) {
            posted.invalidated |= posted.tag == tag;
        }
    }

    fn stop(&mut self) {
        self.hardware.borrow_mut().stopping[self.link] = true;
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let mut hardware = self.hardware.borrow_mut();
        let answers = hardware.stopping[self.link] && !hardware.gone[self.link];
        if !answers || hardware.asserted[self.link] {
            return None;
        }
        hardware.asserted[self.link] = true;
        let link = LinkId::new(self.link)?;
        // SAFETY: this engine moves nothing of its own, and the targets move nothing of a link that
        // is asserted.
        Some(unsafe { Quiesced::assert_stopped(link) })
    }

    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        assert_eq!(proof.link().index(), self.link, "reclaimed with another link's proof (S0-12)");
        let posted = self.hardware.borrow_mut().posted.remove(&(self.link, tag.index));
        posted.and_then(|posted| posted.done)
    }

    fn reset(&mut self, proof: Quiesced) {
        assert_eq!(proof.link().index(), self.link, "reset with another link's proof (S0-11)");
        let mut hardware = self.hardware.borrow_mut();
        let left = hardware.posted.keys().any(|&(link, _)| link == self.link);
        assert!(!left, "reset with descriptors that were not reclaimed");
        (hardware.stopping[self.link], hardware.asserted[self.link]) = (false, false);
    }

    fn is_gone(&self) -> bool {
        self.hardware.borrow().gone[self.link]
    }

    fn link_up(&mut self) -> bool {
        let hardware = self.hardware.borrow();
        !hardware.link_down[self.link] && !hardware.gone[self.link]
    }
}

pub struct MockChannel(pub Shared);

impl Channel for MockChannel {
    fn reaches(&self, _to: Nid) -> bool {
        true
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn immediate_max(&self) -> u32 {
        256
    }

    fn ready(&mut self, _link: LinkId, _to: Nid, _lane: Lane) -> bool {
        !self.0.borrow().full
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let mut hardware = self.0.borrow_mut();
        if hardware.full {
            return Err(ChannelFull);
        }
        assert!(!hardware.stopping[link.index()], "sent on a link that was asked to stop");
        let length = encoded_len(envelope, message).expect("the driver says what can be said");
        let mut bytes = vec![0; length];
        encode(envelope, message, Checksum::On, &mut bytes).expect("there is room");
        hardware.outbox.push(Letter { link, to: envelope.to, bytes, tag });
        if let Some(tag) = tag {
            hardware.endings.push((link.index(), tag));
        }
        Ok(None)
    }

    fn quiesce(&mut self, link: LinkId, proof: &Quiesced) {
        assert_eq!(proof.link(), link, "the proof of another link (INV-3)");
        self.0.borrow_mut().endings.retain(|&(of, _)| of != link.index());
    }
}

pub struct MockMemory;

impl Memory for MockMemory {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        into.fill(address as u8);
        Ok(())
    }

    fn write(&mut self, _address: u64, _from: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        fragment.address.checked_add(u64::from(fragment.length)).is_some_and(|end| end <= MEMORY)
    }
}
