// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Ports of two nodes that note each call as an arrow.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

use lnd_core::driver::IrqHandle;
use lnd_core::fragment::Fragment;
use lnd_core::id::{LinkId, Nid, PeerId, Tag};
use lnd_core::key::Key;
use lnd_core::link::Quiesced;
use lnd_core::message::{Envelope, Lane, Message};
use lnd_core::owned::OwnedMessage;
use lnd_core::peer::HelloState;
use lnd_core::ports::*;
use lnd_core::transfer::Debts;

use super::picture::Item;

pub const SLOTS: u32 = 16;
pub const LINKS: [LinkId; 2] = [LinkId::new(0).unwrap(), LinkId::new(1).unwrap()];
pub const NIDS: [Nid; 2] = [Nid::from_raw(1).unwrap(), Nid::from_raw(2).unwrap()];

pub fn node_of(nid: Nid) -> usize {
    nid.raw() as usize - 1
}

/// What lanes are called.
#[derive(Clone, Copy)]
pub struct Lanes {
    pub upper: [&'static str; 2],
    pub core: [&'static str; 2],
    pub engines: [[&'static str; 2]; 2],
    pub channel: Option<&'static str>,
}

pub const LANES: Lanes = Lanes {
    upper: ["L1", "L2"],
    core: ["C1", "C2"],
    engines: [["E1", "-"], ["E2", "-"]],
    channel: None,
};

/// What a node looks like from outside.
#[derive(Clone, Default, PartialEq)]
struct View {
    owed: String,
    peer_down: bool,
    closed: [bool; 2],
}

/// The world under the drivers.
pub struct Fabric {
    pub lanes: Lanes,
    pub happened: Vec<Item>,
    pub mail: VecDeque<(usize, LinkId, OwnedMessage<256>)>,
    pub sent: VecDeque<(usize, Tag)>,
    pub posted: BTreeMap<(usize, usize, u32), (Tag, Motion)>,
    pub completions: VecDeque<(usize, LinkId, Completion)>,
    pub contexts: Vec<IrqHandle<'static>>,
    pub peers: [Option<PeerId>; 2],
    /// The engines give back what is invalidated.
    pub gives_back: bool,
    /// They may be asked for what a peer is reading.
    pub safe: bool,
    /// They push, and have keys for it.
    pub pushes: bool,
    /// The registers read all ones.
    pub blank: bool,
    stopped: bool,
    gone: bool,
    watched: [Option<Tag>; 2],
    seen: [View; 2],
    lent: [u32; 2],
}

thread_local!(static FABRIC: RefCell<Fabric> = RefCell::new(Fabric {
    lanes: LANES,
    happened: Vec::new(),
    mail: VecDeque::new(),
    sent: VecDeque::new(),
    posted: BTreeMap::new(),
    completions: VecDeque::new(),
    contexts: Vec::new(),
    peers: [None; 2],
    gives_back: true,
    safe: true,
    pushes: false,
    blank: false,
    stopped: false,
    gone: false,
    watched: [None; 2],
    seen: Default::default(),
    lent: [0; 2],
}));

pub fn fabric<R>(work: impl FnOnce(&mut Fabric) -> R) -> R {
    FABRIC.with(|fabric| work(&mut fabric.borrow_mut()))
}

impl Fabric {
    /// Notes what has changed since this was last asked.
    pub fn look(&mut self) {
        for (node, context) in self.contexts.clone().into_iter().enumerate() {
            let word = self.watched[node].map(|tag| context.shared().word(tag.index));
            let names = [(Debts::HW, "HW"), (Debts::MSG, "MSG"), (Debts::PEER, "PEER")];
            let owes = |it: &&(Debts, _)| word.is_some_and(|word| word.owes(it.0));
            let owed: Vec<_> = names.iter().filter(owes).map(|it| it.1).collect();
            let state = self.peers[node].map(|peer| context.peer_state(peer));
            let view = View {
                owed: owed.join(", "),
                peer_down: state == Some(HelloState::Down),
                closed: LINKS.map(|link| context.shared().link(link).is_some_and(|g| !g.is_open())),
            };
            let before = std::mem::replace(&mut self.seen[node], view.clone());
            let core = self.lanes.core[node];
            if before.owed != view.owed {
                self.happened.push(Item::debts(core, &view.owed));
            }
            if before.peer_down != view.peer_down {
                self.happened.push(Item::bar(view.peer_down, core, "closed"));
            }
            for link in LINKS.map(LinkId::index) {
                if before.closed[link] != view.closed[link] {
                    let lane = self.lanes.engines[node][link];
                    self.happened.push(Item::bar(view.closed[link], lane, "closed"));
                }
            }
        }
    }

    /// Notes an arrow, behind what has changed before it.
    pub fn note(&mut self, kind: &str, from: &str, to: &str, words: &[&str]) {
        self.look();
        self.happened.push(Item::arrow(kind, from, to, words));
    }

    /// An upper layer calls its driver.
    pub fn calls(&mut self, node: usize, word: &str) {
        self.note("->", self.lanes.upper[node], self.lanes.core[node], &[word]);
    }

    /// A driver calls its upper layer (`->`), or answers it (`-->`).
    pub fn tells(&mut self, node: usize, kind: &str, words: &[&str]) {
        self.note(kind, self.lanes.core[node], self.lanes.upper[node], words);
    }

    /// An upper layer has lent memory.
    pub fn lend(&mut self, node: usize) {
        self.lent[node] += 1;
        if self.lent[node] == 1 {
            self.happened.push(Item::bar(true, self.lanes.upper[node], "lent"));
        }
    }

    /// It has it back.
    pub fn give_back(&mut self, node: usize) {
        self.lent[node] -= 1;
        if self.lent[node] == 0 {
            self.happened.push(Item::bar(false, self.lanes.upper[node], "lent"));
        }
    }

    /// Forgets what has happened, but not what is owed.
    pub fn forget(&mut self) {
        self.look();
        let owed = self.seen.iter().zip(self.lanes.core);
        self.happened = owed.map(|(view, core)| Item::debts(core, &view.owed)).collect();
    }
}

/// All ports of a node; an engine's link.
#[derive(Clone, Copy)]
pub struct Port(pub usize, pub LinkId);

impl Port {
    /// The driver calls this engine.
    fn called(self, word: &str) {
        let (node, link) = (self.0, self.1.index());
        fabric(|it| it.note("->", it.lanes.core[node], it.lanes.engines[node][link], &[word]));
    }

    /// This engine answers the driver.
    fn answers(self, word: &str) {
        let (node, link) = (self.0, self.1.index());
        fabric(|it| it.note("-->", it.lanes.engines[node][link], it.lanes.core[node], &[word]));
    }
}

impl Ports for Port {
    type Engine = Self;
    type Channel = Self;
    type Memory = Self;
    type Tracer = NoTrace;
}

impl Engine for Port {
    const SAFE_INVALIDATE: bool = false;
    const KEYS: bool = true;
    const PUSHES: bool = true;

    fn has_keys(&self) -> bool {
        fabric(|it| it.pushes)
    }

    fn key(&self, _tag: Tag) -> Key {
        if self.has_keys() {
            Key::new(b"key").unwrap()
        } else {
            Key::NONE
        }
    }

    fn safe_invalidate(&self) -> bool {
        fabric(|it| it.safe)
    }

    fn features(&self) -> Features {
        if self.has_keys() {
            Features::PUSHES
        } else {
            Features::REMOTE_COMPLETION
        }
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        let place = (self.0, self.1.index(), bd.tag.index);
        fabric(|it| {
            it.watched[self.0] = Some(bd.tag);
            it.posted.insert(place, (bd.tag, bd.motion));
        });
        self.called(match bd.motion {
            Motion::Stage { .. } => "post(Stage)",
            Motion::Pull { .. } => "post(Pull)",
            Motion::Expose { .. } => "post(Expose)",
            Motion::Push { .. } => "post(Push)",
        });
        Ok(())
    }

    fn doorbell(&mut self) {
        self.called("doorbell()");
    }

    fn invalidate(&mut self, tag: Tag) {
        self.called("invalidate(tag)");
        fabric(|it| {
            if it.gives_back && it.posted.remove(&(self.0, self.1.index(), tag.index)).is_some() {
                let completion = Completion { tag, returned: Returned::Untouched };
                it.completions.push_back((self.0, self.1, completion));
            }
        });
    }

    fn stop(&mut self) {
        self.called("stop()");
        fabric(|it| it.stopped = true);
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        let (stopped, blank, known) = fabric(|it| (it.stopped, it.blank, it.gone));
        if blank && !known {
            fabric(|it| it.gone = true);
            self.answers("quiesced()");
        }
        if blank || !stopped {
            return None;
        }
        self.answers("quiesced()");
        // SAFETY: nothing moves in this world but in `World::pull`, which no test calls after a
        // stop.
        Some(unsafe { Quiesced::assert_stopped(self.1) })
    }

    fn is_gone(&self) -> bool {
        fabric(|it| it.gone)
    }

    fn reclaim(&mut self, tag: Tag, _: &Quiesced) -> Option<Returned> {
        self.called("reclaim(tag, proof)");
        fabric(|it| it.posted.remove(&(self.0, self.1.index(), tag.index)));
        None
    }

    fn reset(&mut self, _: Quiesced) {
        self.called("reset(proof)");
        fabric(|it| (it.stopped, it.gone, it.blank) = (false, false, false));
    }

    fn link_up(&mut self) -> bool {
        self.answers("link_up()");
        true
    }
}

fn name_of(message: &Message<'_>) -> &'static str {
    match message {
        Message::Hello(_) => "HELLO",
        Message::HelloAck(_) => "HELLO_ACK",
        Message::Immediate { .. } => "IMMEDIATE",
        Message::PutReq { .. } => "PUT_REQ",
        Message::PutNak { .. } => "PUT_NAK",
        Message::GetReq { .. } => "GET_REQ",
        Message::GetDone { .. } => "GET_DONE",
        Message::PullReady(_) => "PULL_READY",
        Message::CancelPut { .. } => "CANCEL_PUT",
        Message::Noop => "NOOP",
        _ => "?",
    }
}

impl Channel for Port {
    fn reaches(&self, to: Nid) -> bool {
        NIDS.contains(&to)
    }

    fn immediate_max(&self) -> u32 {
        256
    }

    fn is_reliable(&self) -> bool {
        true
    }

    fn ready(&mut self, _: LinkId, _: Nid, _: Lane) -> bool {
        true
    }

    fn send(
        &mut self,
        link: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        tag: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        let owned = OwnedMessage::new(envelope, message).ok_or(ChannelFull)?;
        fabric(|it| {
            let tag = tag.filter(|tag| tag.index < SLOTS);
            it.watched[self.0] = tag.or(it.watched[self.0]);
            let (from, to) = (it.lanes.core[self.0], it.lanes.core[node_of(envelope.to)]);
            let inline = matches!(message, Message::Immediate { .. });
            match it.lanes.channel.filter(|_| inline) {
                Some(channel) => {
                    it.note("->", from, channel, &["send(Immediate)"]);
                    it.note("=>", channel, to, &[name_of(message)]);
                }
                None => it.note("=>", from, to, &[name_of(message)]),
            }
            it.sent.extend(tag.map(|tag| (self.0, tag)));
            it.mail.push_back((node_of(envelope.to), link, owned));
        });
        Ok(None)
    }
}

impl Memory for Port {
    fn read(&self, _: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        into.fill(0);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), BadAddress> {
        Ok(())
    }

    fn valid(&self, _: &Fragment) -> bool {
        true
    }
}
