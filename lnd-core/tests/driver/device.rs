// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Devices: they move bytes, and answer invalidations as each test sets them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroU32;

use lnd_core::fragment::Fragment;
use lnd_core::id::Tag;
use lnd_core::ports::{Completion, Features, Motion, Returned};

use super::fabric::{nid, node_of, Fabric};

/// How a device answers when it is asked for a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnInvalidate {
    /// It comes back; whether untouched or not is told truly.
    Honest,
    /// It comes back with an error after some bytes were moved.
    Touched,
    /// The transfer wins the race and comes back OK, if there is a node to move with.
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
    pub invalidated: bool,
    /// A peer has pulled from it, or pushed into it.
    pub pulled: bool,
    /// The done word: written, whether or not the completion got through.
    pub outcome: Option<Returned>,
}

impl Posted {
    /// The other node.
    pub fn with(&self) -> usize {
        node_of(self.motion.peer())
    }
}

/// How often an engine was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub posts: usize,
    pub doorbells: usize,
    pub invalidates: usize,
    pub stops: usize,
    pub resets: usize,
    pub reclaims: usize,
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
    pub asserted: bool,
    /// The bus does not answer: the device does not identify itself.
    pub unreadable: bool,
    /// The engine has found so.
    pub gone: bool,
    /// A stop takes effect only when the test says so.
    pub slow_stop: bool,
    /// Its connections can be stopped one by one.
    pub connects: bool,
    /// It invalidates safely, whatever its type says.
    pub safe: bool,
    /// A stop of a connection takes effect only when the test says so.
    pub slow_connections: bool,
    /// Completions no longer arrive, and the device says so.
    pub stuck: bool,
    /// The stop of the link waits for the same as those of its connections.
    pub link_waits_too: bool,
    /// Connections that were asked to stop, and whether they have; by the number of the other node.
    pub stopping: BTreeMap<usize, bool>,
    /// Connections whose proof has been handed out since their stop.
    pub asserted_for: BTreeSet<usize>,
    /// So many connections were made with a node before the present one.
    pub made: BTreeMap<usize, u32>,
    /// The device does nothing at all.
    pub frozen: bool,
    /// Completions are written to descriptors and never reach the ring.
    pub mute: bool,
    /// A pull whose source is not there never ends by itself.
    pub hangs: bool,
    pub on_invalidate: OnInvalidate,
    /// Refuse so many posts.
    pub refuse_posts: usize,
    pub posted: BTreeMap<u32, Posted>,
    pub ring: VecDeque<Completion>,
    pub calls: Calls,
}

impl Device {
    pub fn new() -> Self {
        Self {
            features: Features::REMOTE_COMPLETION.0 | Features::KNOWS_UNTOUCHED.0,
            link_works: true,
            stop_asked: false,
            stopped: false,
            asserted: false,
            unreadable: false,
            gone: false,
            slow_stop: false,
            connects: false,
            safe: false,
            stuck: false,
            link_waits_too: false,
            slow_connections: false,
            stopping: BTreeMap::new(),
            asserted_for: BTreeSet::new(),
            made: BTreeMap::new(),
            frozen: false,
            mute: false,
            hangs: false,
            on_invalidate: OnInvalidate::Honest,
            refuse_posts: 0,
            posted: BTreeMap::new(),
            ring: VecDeque::new(),
            calls: Calls::default(),
        }
    }

    pub fn works(&self) -> bool {
        self.link_works && !self.stopped && !self.frozen
    }

    /// Whether data moves between this device and another node.
    pub fn moves_with(&self, node: usize) -> bool {
        self.works() && self.stopping.get(&node) != Some(&true)
    }

    /// The number of the present connection with a node, if connections have numbers.
    pub fn connection(&self, with: usize) -> Option<NonZeroU32> {
        let before = self.made.get(&with).copied().unwrap_or(0);
        NonZeroU32::new((before << 8) | (with as u32 + 1)).filter(|_| self.connects)
    }

    /// Whether the connection with a node was asked to stop.
    pub fn asked_to_stop(&self, node: usize) -> bool {
        self.stop_asked || self.stopping.contains_key(&node)
    }

    pub fn finish(&mut self, index: u32, returned: Returned) {
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

/// What one descriptor of one device can do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Pull all bytes from its source, or push them into its sink.
    Move,
    /// Come back: there is nothing to pull from or push into.
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
        if !device.moves_with(bd.with()) {
            return None;
        }
        if bd.invalidated && device.on_invalidate != OnInvalidate::Wins {
            return (device.on_invalidate != OnInvalidate::Never).then_some(Deed::Return);
        }
        if bd.motion.remote().is_none() {
            return bd.invalidated.then_some(Deed::Return);
        }
        match self.lent(node, link, &bd.motion) {
            Some(_) => Some(Deed::Move),
            None if device.hangs && !bd.invalidated => None,
            None => Some(Deed::NoSource),
        }
    }

    /// What a pull or push of a node names, if that is there and its device moves data.
    fn lent(&self, mover: usize, link: usize, motion: &Motion) -> Option<&Posted> {
        let (owner, tag) = (node_of(motion.peer()), motion.remote()?);
        let device = self.devices.get(&(owner, link)).filter(|d| d.moves_with(mover))?;
        let bd = device.posted.get(&tag.index)?;
        let there = bd.tag == tag && bd.rung && bd.outcome.is_none();
        let to = nid(mover);
        let fits = match motion {
            Motion::Push { .. } => Motion::Expose { to },
            _ => Motion::Stage { to },
        };
        (there && bd.motion == fits).then_some(bd)
    }

    /// Does one deed of [`deeds`](Self::deeds).
    pub fn act(&mut self, node: usize, link: usize, index: u32, deed: Deed) {
        let bd = self.devices[&(node, link)].posted[&index].clone();
        match deed {
            Deed::Move => self.move_data(node, link, index, &bd),
            Deed::NoSource => self.device(node, link).finish(index, Returned::Untouched),
            Deed::Return => {
                let scribble = self.device(node, link).on_invalidate == OnInvalidate::Touched;
                let half = vec![0xab; bd.length as usize / 2];
                match bd.motion {
                    Motion::Pull { .. } if scribble => self.write(node, &bd.fragments, &half),
                    Motion::Push { to, .. } if scribble => {
                        let sink = self.lent(node, link, &bd.motion).map(|it| it.fragments.clone());
                        self.write(node_of(to), &sink.unwrap_or_default(), &half);
                    }
                    _ => {}
                }
                let returned =
                    if scribble || bd.pulled { Returned::Touched } else { Returned::Untouched };
                self.device(node, link).finish(index, returned);
            }
        }
    }

    fn move_data(&mut self, node: usize, link: usize, index: u32, bd: &Posted) {
        let Some(lent) = self.lent(node, link, &bd.motion).cloned() else { return };
        let (owner, tag) = (bd.with(), lent.tag);
        if bd.length > lent.length {
            self.device(node, link).finish(index, Returned::Touched);
            return;
        }
        let pushes = matches!(bd.motion, Motion::Push { .. });
        if pushes {
            let bytes = self.read(node, &bd.fragments, bd.length as usize);
            self.write(owner, &lent.fragments, &bytes);
            self.pushed.insert((node, self.incarnations[&node], bd.tag));
        } else {
            let bytes = self.read(owner, &lent.fragments, bd.length as usize);
            self.write(node, &bd.fragments, &bytes);
            self.pulled.insert((owner, self.incarnations[&owner], tag));
        }
        self.device(node, link).finish(index, Returned::Ok);
        let signals = Features::REMOTE_COMPLETION.0;
        let tells = self.device(owner, link).features & signals != 0 && !pushes;
        if let Some(lent) = self.device(owner, link).posted.get_mut(&tag.index) {
            lent.pulled = true;
        }
        if tells {
            self.device(owner, link).finish(tag.index, Returned::Ok);
        }
    }
}
