// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two nodes connect to each other over a way that loses, repeats and reorders, while a stranger
//! says hello in any node's name, nodes begin new incarnations and clocks pass. Then the way is
//! fair, and they must agree (S0-13, S0-14, R3, R27).

use std::mem::MaybeUninit;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::driver::{Inbound, Kind, Receive};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId};
use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason};
use lnd_core::peer::HelloState;
use lnd_core::ports::{Returned, Sent};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{decode, encode, Checksum};

use crate::hardware::Letter;
use crate::node::{config, nid, Node};

#[derive(Arbitrary, Debug)]
enum Op {
    /// A frame that is under way arrives, and perhaps again later.
    Deliver {
        pick: u8,
        again: bool,
    },
    Lose(u8),
    /// A bit of a frame is changed, and the checksum fits or not.
    Garble {
        pick: u8,
        at: u8,
        bit: u8,
    },
    Submit {
        node: bool,
        kind: u8,
        length: u8,
    },
    Pass {
        node: bool,
        millis: u8,
    },
    /// The fabric says something about the other.
    Told {
        node: bool,
        up: bool,
    },
    /// A hello or its answer with any content, from the other's name or a stranger's.
    Forge {
        node: bool,
        stranger: bool,
        incarnation: u8,
        to_incarnation: bool,
        session: u8,
        ack: Option<u8>,
    },
    /// The node begins another incarnation; all it knew is gone.
    Restarted(bool),
}

struct Pair<'m> {
    nodes: [Node<'m>; 2],
    way: Vec<Letter>,
    incarnations: [u64; 2],
}

/// Hellos converge, whatever has happened before.
pub fn hello(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let bytes = config().bytes_needed();
    // Incarnations come and go: each has memory of its own, and there are few of them.
    let mut memory: Vec<_> = (0..8).map(|_| vec![MaybeUninit::uninit(); bytes]).collect();
    let mut spare = memory.iter_mut();
    let mut start = |node: u8, incarnation: u64| {
        let memory = spare.next()?;
        Some(Node::new(memory, nid(1 + node), incarnation, Instant::ORIGIN))
    };
    let (Some(first), Some(second)) = (start(0, 101), start(1, 201)) else { return };
    let mut pair = Pair { nodes: [first, second], way: Vec::new(), incarnations: [101, 201] };
    while let Ok(op) = Op::arbitrary(&mut input) {
        if let Op::Restarted(node) = op {
            let number = usize::from(node);
            let now = pair.nodes[number].now;
            if let Some(mut started) = start(u8::from(node), pair.incarnations[number] + 1) {
                pair.incarnations[number] += 1;
                started.now = now;
                started.tick(Span::from_nanos(0));
                pair.nodes[number] = started;
            }
        } else {
            pair.apply(&op);
        }
        pair.collect();
        if input.is_empty() {
            break;
        }
    }
    pair.settle();
}

impl Pair<'_> {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Deliver { pick, again } => {
                if let Some(letter) = self.take(pick, again) {
                    self.deliver(&letter);
                }
            }
            Op::Lose(pick) => {
                self.take(pick, false);
            }
            Op::Garble { pick, at, bit } => {
                if let Some(mut letter) = self.take(pick, false) {
                    let at = usize::from(at) % letter.bytes.len();
                    letter.bytes[at] ^= 1 << (bit % 8);
                    self.deliver(&letter);
                }
            }
            Op::Submit { node, kind, length } => {
                let kind = [Kind::Put, Kind::Get, Kind::Ack][usize::from(kind) % 3];
                self.submit(usize::from(node), kind, u32::from(length) * 8);
            }
            Op::Pass { node, millis } => {
                self.nodes[usize::from(node)].tick(Span::from_millis(u64::from(millis)));
            }
            Op::Told { node, up } => {
                let (node, other) = (usize::from(node), nid(2 - u8::from(node)));
                let now = self.nodes[node].now;
                self.nodes[node].driver.on_peer(now, other, up);
            }
            Op::Forge { node, stranger, incarnation, to_incarnation, session, ack } => {
                self.forge(node, stranger, incarnation, to_incarnation.then_some(()), session, ack);
            }
            Op::Restarted(_) => {}
        }
    }

    fn submit(&mut self, node: usize, kind: Kind, length: u32) {
        let other = nid(2 - node as u8);
        self.nodes[node].submit(kind, other, length, false, Span::from_millis(200));
    }

    fn forge(
        &mut self,
        node: bool,
        stranger: bool,
        incarnation: u8,
        to_incarnation: Option<()>,
        session: u8,
        ack: Option<u8>,
    ) {
        let number = usize::from(node);
        let from = if stranger { nid(3) } else { nid(2 - u8::from(node)) };
        let me = self.nodes[number].driver.identity();
        let session = u32::from(session);
        let envelope = Envelope {
            from,
            to: me.nid,
            from_incarnation: Incarnation::from_raw(u64::from(incarnation) + 1).expect("not zero"),
            to_incarnation: to_incarnation.map(|()| me.incarnation).or(ack.map(|_| me.incarnation)),
            session,
            sequence: 0,
            credits: 0,
            credits_of: session,
        };
        let message = match ack {
            None => Message::Hello(Hello {
                version_min: 1,
                version_max: 1,
                immediate_max: 64,
                features: 1,
                given_up: 0,
                attempt: 1,
            }),
            Some(version) => Message::HelloAck(HelloAck {
                session,
                attempt: 1,
                version: (version > 0).then_some(version),
                depth: u16::from(version),
                immediate_max: 64,
                features: 0,
            }),
        };
        let mut bytes = vec![0; 96];
        let length = encode(&envelope, &message, Checksum::On, &mut bytes);
        assert_eq!(length, Ok(bytes.len()));
        let link = LinkId::new(0).expect("there is a first link");
        self.deliver(&Letter { link, to: me.nid, bytes, tag: None });
    }

    fn take(&mut self, pick: u8, again: bool) -> Option<Letter> {
        let at = usize::from(pick) % self.way.len().max(1);
        if again {
            return self.way.get(at).cloned();
        }
        (at < self.way.len()).then(|| self.way.remove(at))
    }

    /// Takes up what the nodes have said; every message ends well as far as the channel knows.
    fn collect(&mut self) {
        for node in &mut self.nodes {
            self.way.append(&mut node.hardware.borrow_mut().outbox);
            while !node.hardware.borrow().endings.is_empty() {
                node.sent(0, Sent::Ok);
            }
            node.check();
        }
        self.way.truncate(64);
    }

    fn deliver(&mut self, letter: &Letter) {
        let Ok(frame) = decode(&letter.bytes, Checksum::On) else { return };
        let (envelope, message) = frame.into_parts();
        let Some(node) = self.nodes.get_mut((letter.to.raw() as usize).wrapping_sub(1)) else {
            return;
        };
        let now = node.now;
        let inbound = node.driver.on_message(now, letter.link, &envelope, &message);
        if let Inbound::Request(arrival) = inbound {
            let rx_request = arrival.keep();
            let user = node.rx_request();
            let sink = [Fragment::new(0, 4096)];
            let deadline = now.after(Span::from_millis(100));
            let it = Receive { sink: &sink, length: rx_request.length.min(4096), deadline, user };
            match node.driver.recv(now, rx_request, &it) {
                Ok(tag) => node.accepted(user, tag),
                Err(lnd_core::driver::RecvError::Refused(rx_request, _)) => {
                    node.driver.nak(now, rx_request, NakReason::NoMatch);
                }
                Err(lnd_core::driver::RecvError::Gone) => {}
            }
        }
    }

    /// Nothing is lost any more, and both want to talk: they come to be good to each other, and
    /// then each message arrives.
    fn settle(&mut self) {
        for round in 0..400 {
            for node in 0..2 {
                let state = self.state(node);
                if state != Some(HelloState::Good) {
                    // A fabric reports a node that is up.
                    let (now, other) = (self.nodes[node].now, nid(2 - node as u8));
                    self.nodes[node].driver.on_peer(now, other, true);
                    self.submit(node, Kind::Put, 8);
                }
                while !self.nodes[node].hardware.borrow().posted.is_empty() {
                    self.nodes[node].complete(0, Returned::Ok);
                }
                self.nodes[node].tick(Span::from_millis(5));
            }
            self.collect();
            for letter in std::mem::take(&mut self.way) {
                self.deliver(&letter);
                self.collect();
            }
            let good = (0..2).all(|node| self.state(node) == Some(HelloState::Good));
            if good && round > 20 {
                break;
            }
        }
        for node in 0..2 {
            assert_eq!(self.state(node), Some(HelloState::Good), "node {node} does not converge");
        }
        self.nodes.iter_mut().for_each(Node::run_down);
    }

    fn state(&self, node: usize) -> Option<HelloState> {
        let driver = &self.nodes[node].driver;
        driver.peer(nid(2 - node as u8)).map(|peer| driver.peer_state(peer))
    }
}
