// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What lies between and under the drivers: wires, devices and memory, with every fault a knob.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::ports::{Completion, Features, Motion, Returned, Sent};

pub type Shared = Rc<RefCell<Fabric>>;

/// The NID of node number `node`.
pub fn nid(node: usize) -> Nid {
    Nid::from_raw((7 << 32) | (node as u64 + 1)).unwrap()
}

/// The number of the node with a NID.
pub fn node_of(nid: Nid) -> usize {
    nid.address() as usize - 1
}

/// How a device answers when it is asked for a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRecall {
    /// It comes back; whether untouched or not is told truly.
    Honest,
    /// It comes back with an error after some bytes were moved.
    Touched,
    /// The transfer wins the race and comes back OK, if there is anybody to move with.
    Wins,
    /// It does not come back.
    Never,
}

/// One descriptor with a device.
#[derive(Clone, Debug)]
pub struct Posted {
    pub tag: Tag,
    pub motion: Motion,
    pub length: u32,
    pub fragments: Vec<Fragment>,
    /// The doorbell has been rung since: the device knows of it.
    pub rung: bool,
    pub recalled: bool,
    /// A peer has pulled from it.
    pub pulled: bool,
    /// The done word: written, whether or not the completion got through.
    pub outcome: Option<Returned>,
}

/// How often an engine was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub posts: usize,
    pub doorbells: usize,
    pub invalidates: usize,
    pub stops: usize,
    pub resets: usize,
    pub yanks: usize,
}

/// One engine with its link.
#[derive(Debug)]
pub struct Device {
    pub features: u32,
    /// What the link register says.
    pub link_works: bool,
    pub stop_asked: bool,
    pub stopped: bool,
    /// The proof has been handed out since the stop.
    pub vouched: bool,
    /// A stop takes effect only when the test says so.
    pub slow_stop: bool,
    /// The device does nothing at all.
    pub frozen: bool,
    /// Completions are written to descriptors and never reach the ring.
    pub mute: bool,
    /// A pull whose source is not there never ends by itself.
    pub hangs: bool,
    pub on_recall: OnRecall,
    /// Refuse so many posts.
    pub refuse_posts: usize,
    pub posted: BTreeMap<u32, Posted>,
    pub ring: VecDeque<Completion>,
    pub calls: Calls,
}

impl Device {
    fn new() -> Self {
        Self {
            features: Features::REMOTE_COMPLETION.0 | Features::KNOWS_UNTOUCHED.0,
            link_works: true,
            stop_asked: false,
            stopped: false,
            vouched: false,
            slow_stop: false,
            frozen: false,
            mute: false,
            hangs: false,
            on_recall: OnRecall::Honest,
            refuse_posts: 0,
            posted: BTreeMap::new(),
            ring: VecDeque::new(),
            calls: Calls::default(),
        }
    }

    pub fn works(&self) -> bool {
        self.link_works && !self.stopped && !self.frozen
    }

    fn finish(&mut self, index: u32, returned: Returned) {
        let Some(bd) = self.posted.get_mut(&index) else { return };
        bd.outcome = Some(returned);
        if !self.mute {
            self.ring.push_back(Completion { tag: bd.tag, returned });
        }
    }

    /// The next completion; its descriptor is free from now on.
    pub fn pop(&mut self) -> Option<Completion> {
        let next = self.ring.pop_front()?;
        let index = next.tag.index;
        if self.posted.get(&index).is_some_and(|bd| bd.tag == next.tag && bd.outcome.is_some()) {
            self.posted.remove(&index);
        }
        Some(next)
    }
}

/// One short message on its way.
#[derive(Clone, Debug)]
pub struct Letter {
    pub from: usize,
    pub to: usize,
    pub link: LinkId,
    pub lane: Lane,
    pub envelope: Envelope,
    shape: Message<'static>,
    header: Vec<u8>,
    payload: Vec<u8>,
}

impl Letter {
    pub fn new(link: LinkId, envelope: &Envelope, message: &Message<'_>) -> Self {
        let (mut header, mut payload): (&[u8], &[u8]) = (&[], &[]);
        let shape = match *message {
            Message::Immediate { header: h, payload: p } => {
                (header, payload) = (h, p);
                Message::Immediate { header: &[], payload: &[] }
            }
            Message::PutReq { header: h, source, length } => {
                header = h;
                Message::PutReq { header: &[], source, length }
            }
            Message::GetReq { header: h, sink, length } => {
                header = h;
                Message::GetReq { header: &[], sink, length }
            }
            Message::Hello(it) => Message::Hello(it),
            Message::HelloAck(it) => Message::HelloAck(it),
            Message::PutNak { source, why } => Message::PutNak { source, why },
            Message::PutDone { source, failed } => Message::PutDone { source, failed },
            Message::GetNak { sink, why } => Message::GetNak { sink, why },
            Message::Noop => Message::Noop,
            Message::Close => Message::Close,
            Message::PullReady(it) => Message::PullReady(it),
        };
        Self {
            from: node_of(envelope.from),
            to: node_of(envelope.to),
            link,
            lane: message.lane(),
            envelope: *envelope,
            shape,
            header: header.to_vec(),
            payload: payload.to_vec(),
        }
    }

    pub fn message(&self) -> Message<'_> {
        match self.shape {
            Message::Immediate { .. } => {
                Message::Immediate { header: &self.header, payload: &self.payload }
            }
            Message::PutReq { source, length, .. } => {
                Message::PutReq { header: &self.header, source, length }
            }
            Message::GetReq { sink, length, .. } => {
                Message::GetReq { header: &self.header, sink, length }
            }
            other => other,
        }
    }

    /// The kind in one word, for filters and assertions.
    pub fn kind(&self) -> &'static str {
        match self.shape {
            Message::Hello(_) => "hello",
            Message::HelloAck(_) => "ack",
            Message::Immediate { .. } => "immediate",
            Message::PutReq { .. } => "put_req",
            Message::PutNak { .. } => "put_nak",
            Message::PutDone { .. } => "put_done",
            Message::GetReq { .. } => "get_req",
            Message::GetNak { .. } => "get_nak",
            Message::Noop => "noop",
            Message::Close => "close",
            Message::PullReady(_) => "pull_ready",
        }
    }
}

/// What happens to messages of one kind instead of their delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
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
    /// Letters of these kinds stay on the wire.
    pub held: BTreeSet<&'static str>,
    /// Fates of the next letters of a kind.
    pub fates: BTreeMap<&'static str, VecDeque<Fate>>,
    /// Letters that fit on the wire from one node to another on one link, by lane.
    pub room: BTreeMap<(usize, usize), [usize; 2]>,
    pub default_room: [usize; 2],
    pub immediate_max: u32,
    /// The processor cannot reach memory that was called valid.
    pub memory_fails: bool,
    /// Nodes there is no way to.
    pub unreachable: BTreeSet<usize>,
    /// Kinds of every letter ever sent.
    pub said: Vec<(usize, usize, &'static str)>,
    /// Staged transfers that were pulled whole: `(node, life, tag)`.
    pub pulled: BTreeSet<(usize, u64, Tag)>,
    pub lives: BTreeMap<usize, u64>,
    /// Messages that an upper layer has received, by their ids.
    pub delivered: BTreeSet<u64>,
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
        let mut fabric = Self { default_room: [64, 64], immediate_max: 256, ..Self::default() };
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

    pub fn fate(&mut self, kind: &'static str) -> Option<Fate> {
        self.fates.get_mut(kind)?.pop_front()
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
            let (features, link_works) = (device.features, device.link_works);
            *device = Device { features, link_works, ..fresh };
        }
        self.endings.retain(|e| e.node != node);
    }

    /// Descriptors that the devices of a node may still work on.
    pub fn with_device(&self, node: usize, tag: Tag) -> bool {
        self.devices.iter().any(|((n, _), d)| {
            let mine = |bd: &Posted| bd.tag == tag && bd.outcome.is_none();
            *n == node && !d.stopped && d.posted.get(&tag.index).is_some_and(mine)
        })
    }
}

/// What one descriptor of one device can do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Pull all bytes from its source.
    Move,
    /// Come back: there is nothing to pull from.
    NoSource,
    /// Come back since it was asked to.
    Return,
}

impl Fabric {
    /// Every descriptor that something can happen to.
    pub fn deeds(&self) -> Vec<(usize, usize, u32, Deed)> {
        let mut deeds = Vec::new();
        for (&(node, link), device) in self.devices.iter().filter(|(_, d)| d.works()) {
            for (&index, bd) in device.posted.iter().filter(|(_, b)| b.rung && b.outcome.is_none())
            {
                if let Some(deed) = self.deed(node, link, device, bd) {
                    deeds.push((node, link, index, deed));
                }
            }
        }
        deeds
    }

    fn deed(&self, node: usize, link: usize, device: &Device, bd: &Posted) -> Option<Deed> {
        if bd.recalled && device.on_recall != OnRecall::Wins {
            return (device.on_recall != OnRecall::Never).then_some(Deed::Return);
        }
        match bd.motion {
            Motion::Stage { .. } => bd.recalled.then_some(Deed::Return),
            Motion::Pull { from, source } => match self.stage(node_of(from), link, source, node) {
                Some(_) => Some(Deed::Move),
                None if device.hangs && !bd.recalled => None,
                None => Some(Deed::NoSource),
            },
        }
    }

    /// The staged descriptor that a pull names, if its device can be read from.
    fn stage(&self, node: usize, link: usize, source: Tag, to: usize) -> Option<&Posted> {
        let device = self.devices.get(&(node, link)).filter(|d| d.works())?;
        let bd = device.posted.get(&source.index)?;
        let staged = bd.tag == source && bd.rung && bd.outcome.is_none();
        (staged && bd.motion == Motion::Stage { to: nid(to) }).then_some(bd)
    }

    /// Does one deed of [`deeds`](Self::deeds).
    pub fn act(&mut self, node: usize, link: usize, index: u32, deed: Deed) {
        let bd = self.devices[&(node, link)].posted[&index].clone();
        match deed {
            Deed::Move => self.pull(node, link, index, &bd),
            Deed::NoSource => self.device(node, link).finish(index, Returned::Untouched),
            Deed::Return => {
                let scribble = self.device(node, link).on_recall == OnRecall::Touched;
                if scribble && matches!(bd.motion, Motion::Pull { .. }) {
                    let half = vec![0xab; bd.length as usize / 2];
                    self.write(node, &bd.fragments, &half);
                }
                let returned =
                    if scribble || bd.pulled { Returned::Touched } else { Returned::Untouched };
                self.device(node, link).finish(index, returned);
            }
        }
    }

    fn pull(&mut self, node: usize, link: usize, index: u32, bd: &Posted) {
        let Motion::Pull { from, source } = bd.motion else { return };
        let from = node_of(from);
        let Some(stage) = self.stage(from, link, source, node).cloned() else { return };
        if bd.length > stage.length {
            self.device(node, link).finish(index, Returned::Touched);
            return;
        }
        let bytes = self.read(from, &stage.fragments, bd.length as usize);
        self.write(node, &bd.fragments, &bytes);
        self.device(node, link).finish(index, Returned::Ok);
        self.pulled.insert((from, self.lives[&from], source));
        let signals = Features::REMOTE_COMPLETION.0;
        let tells = self.device(from, link).features & signals != 0;
        if let Some(stage) = self.device(from, link).posted.get_mut(&source.index) {
            stage.pulled = true;
        }
        if tells {
            self.device(from, link).finish(source.index, Returned::Ok);
        }
    }
}
