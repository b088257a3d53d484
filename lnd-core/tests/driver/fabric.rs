// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What lies between and under the drivers: wires and memory, with every fault a knob.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::{Key, MAX_KEY};
use lnd_core::message::Lane;
use lnd_core::ports::Sent;

use super::device::{Device, Posted};
use super::letter::Letter;

pub type Shared = Rc<RefCell<Fabric>>;

/// The NID of node number `node`.
pub fn nid(node: usize) -> Nid {
    Nid::from_raw((7 << 32) | (node as u64 + 1)).unwrap()
}

/// The number of the node with a NID.
pub fn node_of(nid: Nid) -> usize {
    nid.address() as usize - 1
}

/// The key that a test's own messages name, of what no engine has staged.
pub fn forged_key() -> Key {
    Key::new(b"forged").unwrap()
}

/// What happens to messages of one kind instead of their delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// Lost; the channel says so, or not.
    Lost(Sent),
    /// Delivered, and the channel does not know.
    DeliveredUnknown,
    /// Delivered twice.
    Twice,
    /// The channel breaks its promise of room.
    Full,
}

/// The end of a short message that its sender has not been told yet.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    pub node: usize,
    pub to: usize,
    pub link: LinkId,
    pub tag: Tag,
    pub sent: Sent,
}

/// The world outside of the drivers.
#[derive(Debug, Default)]
pub struct Fabric {
    pub devices: BTreeMap<(usize, usize), Device>,
    pub windows: BTreeMap<usize, Vec<u8>>,
    pub wire: VecDeque<Letter>,
    pub endings: VecDeque<Ending>,
    /// The channel knows a message's end when it has taken the message.
    pub ends_at_once: bool,
    /// As much, without a promise of it.
    pub says_at_once: bool,
    /// The channel loses nothing of which it says that it was sent.
    pub reliable: bool,
    /// It loses something only with a connection, or a link.
    pub connected: bool,
    /// Letters of these kinds stay on the wire.
    pub held: BTreeSet<&'static str>,
    /// Injected faults of the next letters of a kind.
    pub injected_faults: BTreeMap<&'static str, VecDeque<InjectedFault>>,
    /// Letters that fit on the wire from one node to another on one link, by lane.
    pub room: BTreeMap<(usize, usize), [usize; 2]>,
    pub default_room: [usize; 2],
    pub immediate_max: u32,
    /// Hellos do not say that CANCEL is answered.
    pub no_cancel: bool,
    /// Staged memory that was taken back from a device: `(node, incarnation, tag)`.
    pub taken_back: BTreeSet<(usize, u64, Tag)>,
    /// The processor cannot reach memory that was called valid.
    pub memory_fails: bool,
    /// Nodes there is no way to.
    pub unreachable: BTreeSet<usize>,
    /// Kinds of every letter ever sent.
    pub said: Vec<(usize, usize, &'static str)>,
    /// Staged transfers that were pulled whole: `(node, incarnation, tag)`.
    pub pulled: BTreeSet<(usize, u64, Tag)>,
    /// Transfers that were pushed whole: `(node, incarnation, tag)` of the side that pushes.
    pub pushed: BTreeSet<(usize, u64, Tag)>,
    pub incarnations: BTreeMap<usize, u64>,
    /// Most pulls that the devices of one node had from another at once.
    pub most_pulls: BTreeMap<(usize, usize), usize>,
    /// The key that an engine has given to what was staged there under a tag: node, link, tag.
    pub keys: BTreeMap<(usize, usize, Tag), Key>,
    /// No engine says the keys that it has given.
    pub keyless: bool,
    /// Engines have no keys, though their type may.
    pub plain: bool,
    /// Pulls that were posted with the key of their source.
    pub keyed: usize,
    /// Messages that an upper layer has received, by their ids.
    pub delivered: BTreeSet<u64>,
    /// Requests that an upper layer has seen: the receiver's incarnation, and the message's id.
    pub seen: BTreeSet<(u64, u64)>,
    /// Messages that ended as delivered.
    pub promised: BTreeSet<u64>,
    /// Who sent a message, and to whom: nodes and incarnations.
    pub addressed: BTreeMap<u64, [(usize, u64); 2]>,
    /// Messages whose senders were told that they were not, and will not be, delivered.
    pub not_delivered: BTreeSet<u64>,
}

/// First bus address of every node's window.
pub const BASE: u64 = 0x10_0000;
/// Bytes of every node's window.
pub const WINDOW: usize = 4 << 20;

impl Fabric {
    pub fn new(nodes: usize, links: usize) -> Self {
        let mut fabric = Self::without_memory(nodes, links);
        for node in 0..nodes {
            fabric.windows.insert(node, vec![0; WINDOW]);
        }
        fabric
    }

    pub fn without_memory(nodes: usize, links: usize) -> Self {
        let mut fabric =
            Self { default_room: [64, 64], immediate_max: 256, reliable: true, ..Self::default() };
        for node in 0..nodes {
            for link in 0..links {
                fabric.devices.insert((node, link), Device::new());
            }
        }
        fabric
    }

    pub fn device(&mut self, node: usize, link: usize) -> &mut Device {
        self.devices.get_mut(&(node, link)).unwrap()
    }

    /// An engine has staged something: a key that no other use of any memory has had.
    pub fn give_key(&mut self, node: usize, link: usize, tag: Tag) {
        let number = self.keys.len() as u64;
        let bytes = [number.to_be_bytes(); MAX_KEY / 8].concat();
        // Of every length that tells them apart.
        let length = 8 + number as usize % (MAX_KEY - 7);
        self.keys.insert((node, link, tag), Key::new(&bytes[..length]).unwrap());
    }

    /// An engine is asked to pull: by the key that the other one has given to just this use, if it
    /// has any.
    pub fn check_key(&mut self, from: usize, link: usize, source: Tag, key: Key) {
        let given = self.keys.get(&(from, link, source)).copied();
        if self.plain {
            assert!(key.is_empty(), "pulls {source:?} of node {from} by a key");
            return;
        }
        assert_eq!(key, given.unwrap_or(forged_key()), "pulls {source:?} of node {from}");
        self.keyed += usize::from(given.is_some());
    }

    /// Whether one more letter fits.
    pub fn has_room(&self, from: usize, to: usize, link: LinkId, lane: Lane) -> bool {
        let room = self.room.get(&(from, to)).unwrap_or(&self.default_room)[lane as usize];
        let used = self
            .wire
            .iter()
            .filter(|l| (l.from, l.to, l.link, l.lane) == (from, to, link, lane))
            .count();
        used < room
    }

    pub fn injected(&mut self, kind: &'static str) -> Option<InjectedFault> {
        self.injected_faults.get_mut(kind)?.pop_front()
    }

    /// Pulls from a node, and pushes to it, that the devices of another have now.
    pub fn pulls(&self, node: usize, from: usize) -> usize {
        let devices = self.devices.iter().filter(|((n, _), _)| *n == node);
        let of = |bd: &&Posted| {
            let theirs = bd.motion.remote().is_some() && bd.with() == from;
            theirs && bd.outcome.is_none()
        };
        devices.map(|(_, device)| device.posted.values().filter(of).count()).sum()
    }

    /// What is lent may be taken back: no device has a pull of it, or a push into it, that has not
    /// ended, whatever drivers know. From now on none may get one.
    pub fn assert_not_pulled(&mut self, node: usize, link: usize, tag: Tag) {
        let staged = self.devices[&(node, link)].posted.get(&tag.index);
        if !staged.is_some_and(|bd| bd.tag == tag && bd.motion.remote().is_none()) {
            return;
        }
        for ((puller, _), device) in &self.devices {
            let stopped = device.stopped || device.stopping.get(&node) == Some(&true);
            let pulls = |bd: &Posted| {
                (bd.with(), bd.motion.remote()) == (node, Some(tag))
                    && bd.outcome.is_none()
                    && !stopped
            };
            let pulled = device.posted.values().find(|bd| pulls(bd));
            assert!(pulled.is_none(), "taken back while node {puller} moves it: {pulled:?}");
        }
        self.taken_back.insert((node, self.incarnations[&node], tag));
    }

    /// Bytes of a list of fragments, at most `length` of them.
    pub fn read(&self, node: usize, fragments: &[Fragment], length: usize) -> Vec<u8> {
        let window = &self.windows[&node];
        let mut bytes = Vec::new();
        for fragment in fragments {
            let start = (fragment.address - BASE) as usize;
            bytes.extend_from_slice(&window[start..start + fragment.length as usize]);
        }
        bytes.truncate(length);
        bytes
    }

    pub fn write(&mut self, node: usize, fragments: &[Fragment], mut bytes: &[u8]) {
        let window = self.windows.get_mut(&node).unwrap();
        for fragment in fragments {
            let start = (fragment.address - BASE) as usize;
            let (part, rest) = bytes.split_at(bytes.len().min(fragment.length as usize));
            window[start..start + part.len()].copy_from_slice(part);
            bytes = rest;
        }
    }

    /// A node's power goes: whatever it had in devices and on the way to be told is gone.
    pub fn power_off(&mut self, node: usize) {
        for (_, device) in self.devices.iter_mut().filter(|((n, _), _)| *n == node) {
            let fresh = Device::new();
            *device = Device {
                features: device.features,
                link_works: device.link_works,
                connects: device.connects,
                safe: device.safe,
                ..fresh
            };
        }
        self.endings.retain(|e| e.node != node);
    }

    /// Descriptors that the devices of a node may still work on.
    pub fn with_device(&self, node: usize, tag: Tag) -> bool {
        self.devices.iter().any(|((n, _), d)| {
            let mine = |bd: &Posted| bd.tag == tag && bd.outcome.is_none();
            let held = d.posted.get(&tag.index).filter(|bd| mine(bd));
            *n == node
                && held.is_some_and(|bd| !d.stopped && d.stopping.get(&bd.with()) != Some(&true))
        })
    }
}
