// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A driver among byzantine peers: any message, any envelope, any cookie, at any time, while its
//! own transfers, its links, its engine and its clock do anything.

use std::mem::MaybeUninit;

use arbitrary::{Arbitrary, Unstructured};
use lnd_core::driver::{Inbound, Kind, Receive, Reply, RxRequest};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::key::Key;
use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason, PullReady};
use lnd_core::ports::{Features, Returned, Sent};
use lnd_core::time::{Instant, Span};
use lnd_shortmsg::wire::{decode, Checksum};

use crate::hardware::key_of;
use crate::node::{config, nid, Node};

/// Peers that speak; one more than the driver has room for.
const PEERS: usize = 4;

/// A GET_REQ has a key with some lengths, a CANCEL_PUT with an odd session is a CANCEL_PUSH, and
/// the upper half of a GET_NAK's numbers makes a GET_DONE: kinds of their own would change what the
/// committed inputs say.
#[derive(Arbitrary, Debug)]
enum Say {
    Hello { versions: (u8, u8), immediate_max: u32, features: u32 },
    Ack { session: Option<u32>, version: Option<u8>, depth: u16, immediate_max: u32 },
    Immediate { header: u8, payload: u8 },
    PutReq { source: u64, length: u32 },
    GetReq { sink: u64, length: u32 },
    PutNak(Cookie, u8),
    PutDone(Cookie, Option<u8>),
    GetNak(Cookie, u8),
    PullReady { sink: Cookie, source: u64, length: u32 },
    Noop,
    Close,
    CancelPut { source: u64, session: u32, sequence: u32 },
    CancelGet { source: u64, sink: Cookie },
}

/// Which transfer an answer is about.
#[derive(Arbitrary, Debug)]
enum Cookie {
    /// One of the driver's own.
    Mine(u8),
    /// The same slot in another generation.
    Stale(u8, i8),
    Any(u64),
}

/// What a peer lies about; it says the truth about everything else.
#[derive(Arbitrary, Debug)]
enum Lie {
    Nothing,
    Incarnation(u64),
    ToIncarnation(Option<u64>),
    Session(u32),
    Sequence(u32),
    Credits(u16),
    CreditsOf(u32),
    From(u8),
    To(u8),
}

#[derive(Arbitrary, Debug)]
enum Decision {
    Take(u16),
    Reply(u16),
    Refuse,
    Later,
    Never,
}

#[derive(Arbitrary, Debug)]
enum Op {
    Say {
        peer: u8,
        link: u8,
        lie: Lie,
        say: Say,
        decision: Decision,
    },
    /// The peer says hello and answers ours: from here on it is heard.
    Meet(u8),
    Submit {
        kind: u8,
        peer: u8,
        length: u16,
        routed: bool,
        millis: u8,
    },
    /// Any of the requests that were kept.
    Decide {
        pick: u8,
        decision: Decision,
    },
    Complete {
        pick: u8,
        how: u8,
    },
    Stray {
        cookie: Cookie,
        how: u8,
    },
    Sent {
        pick: u8,
        how: u8,
    },
    Withdraw(Cookie),
    Pass(u16),
    /// The node does not run for some milliseconds: what comes next is not the clock.
    Pause(u8),
    Jump(u64),
    Peer {
        peer: u8,
        up: bool,
    },
    Link {
        link: u8,
        up: bool,
    },
    /// The registers of a link read all ones.
    Gone {
        link: u8,
        gone: bool,
    },
    Full(bool),
    Ring,
    Shutdown(u8),
}

/// What the engines of a peer can do that says hello by itself.
const MET: u32 = Features::REMOTE_COMPLETION.0 | Features::PUSHES.0;

#[derive(Clone, Copy)]
struct Peer {
    incarnation: u64,
    session: u32,
    requests: u32,
    controls: u32,
    /// The driver's session with it, from the driver's hello.
    theirs: u32,
    attempt: u8,
}

struct World<'m> {
    node: Node<'m>,
    peers: [Peer; PEERS],
    rx_requests: Vec<RxRequest<'static>>,
    mine: Vec<Tag>,
    shutting: bool,
}

/// INV-1, INV-2, INV-10, INV-12, INV-14, INV-15: the books are right after every step, everything
/// that was accepted is reported once, and the shutdown ends.
pub fn driver(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let mut memory = vec![MaybeUninit::uninit(); config().bytes_needed()];
    let incarnation = u64::arbitrary(&mut input).unwrap_or(1);
    let now = Instant::from_nanos(u64::from(u32::arbitrary(&mut input).unwrap_or(0)));
    let peer = Peer { incarnation: 1, session: 1, requests: 0, controls: 0, theirs: 0, attempt: 0 };
    let mut world = World {
        node: Node::new(&mut memory, nid(1), incarnation, now),
        peers: [peer; PEERS],
        rx_requests: Vec::new(),
        mine: Vec::new(),
        shutting: false,
    };
    while let Ok(op) = Op::arbitrary(&mut input) {
        world.apply(op);
        world.listen();
        world.node.check();
        if input.is_empty() {
            break;
        }
    }
    world.rx_requests.clear();
    // A clock that has jumped to its end cannot pass the bounds of a shutdown any more.
    if world.node.now < Instant::from_nanos(u64::MAX / 2) {
        world.node.hardware.borrow_mut().link_down = Default::default();
        world.node.run_down();
    }
}

impl World<'_> {
    fn apply(&mut self, op: Op) {
        let now = self.node.now;
        match op {
            Op::Say { peer, link, lie, say, decision } => {
                self.say(usize::from(peer) % PEERS, link, &lie, &say, &decision);
            }
            Op::Meet(peer) => self.meet(usize::from(peer) % PEERS),
            Op::Submit { kind, peer, length, routed, millis } => {
                let kind = [Kind::Put, Kind::Get, Kind::Ack, Kind::Reply][usize::from(kind) % 4];
                let patience = Span::from_millis(u64::from(millis));
                let to = nid(2 + peer % PEERS as u8);
                self.node.submit(kind, to, u32::from(length), routed, patience);
            }
            Op::Decide { pick, decision } => {
                let count = self.rx_requests.len();
                if count > 0 {
                    let rx_request = self.rx_requests.swap_remove(usize::from(pick) % count);
                    self.decide(rx_request, &decision);
                }
            }
            Op::Complete { pick, how } => self.node.complete(usize::from(pick), returned(how)),
            Op::Stray { cookie, how } => {
                let tag = self.tag(&cookie);
                self.node.stray_completion(tag, returned(how));
            }
            Op::Sent { pick, how } => {
                let sent = [Sent::Ok, Sent::NotDelivered, Sent::Unknown][usize::from(how) % 3];
                self.node.sent(usize::from(pick), sent);
            }
            Op::Withdraw(cookie) => {
                let tag = self.tag(&cookie);
                self.node.driver.withdraw(now, tag);
            }
            Op::Pass(micros) => self.node.tick(Span::from_micros(u64::from(micros))),
            Op::Pause(millis) => {
                self.node.now = now.after(Span::from_millis(u64::from(millis)));
            }
            Op::Jump(to) => {
                // Anywhere, backwards too (R40).
                self.node.now = Instant::from_nanos(to);
                self.node.tick(Span::from_nanos(0));
            }
            Op::Peer { peer, up } => {
                self.node.driver.on_peer(now, nid(2 + peer % PEERS as u8), up);
            }
            Op::Link { link, up } => {
                let number = usize::from(link) % 2;
                self.node.hardware.borrow_mut().link_down[number] = !up;
                let Some(link) = LinkId::new(number) else { return };
                self.node.driver.on_link(now, link, up);
            }
            Op::Gone { link, gone } => {
                self.node.hardware.borrow_mut().gone[usize::from(link) % 2] = gone;
            }
            Op::Full(full) => self.node.hardware.borrow_mut().full = full,
            Op::Ring => self.node.driver.ring(),
            Op::Shutdown(millis) => {
                let grace = now.after(Span::from_millis(u64::from(millis)));
                self.node.driver.shutdown(now, grace);
                self.shutting = true;
            }
        }
    }

    /// The peers read what the driver says: its sessions, and the names of its transfers.
    fn listen(&mut self) {
        let letters = std::mem::take(&mut self.node.hardware.borrow_mut().outbox);
        for letter in letters {
            let frame = decode(&letter.bytes, Checksum::On).expect("the driver's frames are sound");
            let (envelope, message) = frame.into_parts();
            let number = (letter.to.raw() as usize).wrapping_sub(2);
            let tag = match message {
                Message::Hello(hello) => {
                    if let Some(peer) = self.peers.get_mut(number) {
                        (peer.theirs, peer.attempt) = (envelope.session, hello.attempt);
                    }
                    continue;
                }
                Message::PutReq { source, .. } => source,
                Message::GetReq { sink, .. } => sink,
                Message::PullReady(ready) => ready.source,
                _ => continue,
            };
            self.mine.push(tag);
            if self.mine.len() > 16 {
                self.mine.remove(0);
            }
        }
    }

    fn tag(&self, cookie: &Cookie) -> Tag {
        let mine = |pick: u8| {
            let nth = usize::from(pick) % self.mine.len().max(1);
            self.mine.get(nth).copied().unwrap_or(Tag { index: 0, generation: 0 })
        };
        match *cookie {
            Cookie::Mine(pick) => mine(pick),
            Cookie::Stale(pick, by) => {
                let tag = mine(pick);
                Tag { generation: tag.generation.wrapping_add_signed(by.into()), ..tag }
            }
            Cookie::Any(raw) => Tag::from_cookie(raw),
        }
    }

    fn meet(&mut self, number: usize) {
        self.peers[number].session = self.peers[number].session.wrapping_add(1);
        (self.peers[number].requests, self.peers[number].controls) = (0, 0);
        let hello = Say::Hello { versions: (1, 1), immediate_max: 256, features: MET };
        self.say(number, 0, &Lie::Nothing, &hello, &Decision::Never);
        self.listen();
        let ack = Say::Ack { session: None, version: Some(1), depth: 2, immediate_max: 256 };
        self.say(number, 0, &Lie::Nothing, &ack, &Decision::Never);
    }

    fn envelope(&mut self, number: usize, say: &Say, lie: &Lie) -> Envelope {
        let me = self.node.driver.identity();
        let peer = &mut self.peers[number];
        let sequence = match say {
            Say::Hello { .. } | Say::Ack { .. } => 0,
            Say::Immediate { .. } | Say::PutReq { .. } | Say::GetReq { .. } => {
                peer.requests = peer.requests.wrapping_add(1);
                peer.requests
            }
            _ => {
                peer.controls = peer.controls.wrapping_add(1);
                peer.controls
            }
        };
        if let Lie::Incarnation(incarnation) = *lie {
            // Another incarnation of this peer: it stays so.
            peer.incarnation = incarnation.max(1);
        }
        let mut envelope = Envelope {
            from: nid(2 + number as u8),
            to: me.nid,
            from_incarnation: Incarnation::from_raw(peer.incarnation).expect("not zero"),
            to_incarnation: Some(me.incarnation),
            session: peer.session,
            sequence,
            credits: 0,
            credits_of: peer.theirs,
        };
        match *lie {
            Lie::Nothing | Lie::Incarnation(_) => {}
            Lie::ToIncarnation(incarnation) => {
                envelope.to_incarnation = incarnation.and_then(Incarnation::from_raw)
            }
            Lie::Session(session) => envelope.session = session,
            Lie::Sequence(sequence) => envelope.sequence = sequence,
            Lie::Credits(credits) => envelope.credits = credits,
            Lie::CreditsOf(session) => envelope.credits_of = session,
            Lie::From(from) => envelope.from = nid(from),
            Lie::To(to) => envelope.to = nid(to),
        }
        envelope
    }

    fn say(&mut self, number: usize, link: u8, lie: &Lie, say: &Say, decision: &Decision) {
        let envelope = self.envelope(number, say, lie);
        let bytes = [7; 255];
        let refusal = |wire: u8| NakReason::ALL[usize::from(wire) % NakReason::ALL.len()];
        let (theirs, attempt) = (self.peers[number].theirs, self.peers[number].attempt);
        let key;
        let message = match *say {
            Say::Hello { versions: (version_min, version_max), immediate_max, features } => {
                Message::Hello(Hello {
                    version_min,
                    version_max,
                    immediate_max,
                    features,
                    given_up: 0,
                    attempt: 1,
                })
            }
            Say::Ack { session, version, depth, immediate_max } => Message::HelloAck(HelloAck {
                session: session.unwrap_or(theirs),
                attempt,
                version,
                depth,
                immediate_max,
                features: MET,
            }),
            Say::Immediate { header, payload } => Message::Immediate {
                header: &bytes[..usize::from(header) % 97],
                payload: &bytes[..usize::from(payload)],
            },
            Say::PutReq { source, length } => {
                let source = Tag::from_cookie(source);
                key = key_of(source);
                Message::PutReq { header: b"put", source, length, key: key.as_bytes() }
            }
            Say::GetReq { sink, length } => {
                let sink = Tag::from_cookie(sink);
                key = if length % 4 == 3 { key_of(sink) } else { Key::NONE };
                Message::GetReq { header: b"get", sink, length, key: key.as_bytes() }
            }
            Say::PutNak(ref cookie, why) => {
                Message::PutNak { source: self.tag(cookie), why: refusal(why) }
            }
            Say::PutDone(ref cookie, failed) => {
                Message::PutDone { source: self.tag(cookie), failed: failed.map(refusal) }
            }
            Say::GetNak(ref cookie, how @ 128..) => {
                let failed = (how % 4 == 0).then(|| refusal(how / 4));
                let length = if failed.is_none() { u32::from(how) * 20 } else { 0 };
                Message::GetDone { sink: self.tag(cookie), length, failed }
            }
            Say::GetNak(ref cookie, why) => {
                Message::GetNak { sink: self.tag(cookie), why: refusal(why) }
            }
            Say::PullReady { ref sink, source, length } => {
                let (sink, source) = (self.tag(sink), Tag::from_cookie(source));
                key = key_of(source);
                Message::PullReady(PullReady { sink, source, length, key: key.as_bytes() })
            }
            Say::Noop => Message::Noop,
            Say::Close => Message::Close,
            Say::CancelPut { source, session, sequence } if session % 2 == 1 => {
                Message::CancelPush { sink: Tag::from_cookie(source), session, sequence }
            }
            Say::CancelPut { source, session, sequence } => {
                Message::CancelPut { source: Tag::from_cookie(source), session, sequence }
            }
            Say::CancelGet { source, ref sink } => {
                Message::CancelGet { source: Tag::from_cookie(source), sink: self.tag(sink) }
            }
        };
        let Some(link) = LinkId::new(usize::from(link) % 4) else { return };
        let inbound = self.node.driver.on_message(self.node.now, link, &envelope, &message);
        if let Inbound::Request(arrival) = inbound {
            let rx_request = arrival.keep();
            match decision {
                Decision::Later => self.rx_requests.push(rx_request.detach()),
                _ => self.decide(rx_request, decision),
            }
        }
    }

    fn decide(&mut self, rx_request: RxRequest<'_>, decision: &Decision) {
        let now = self.node.now;
        let node = &mut self.node;
        let user = node.rx_request();
        let deadline = now.after(Span::from_millis(30));
        let buffer = [Fragment::new(128, 4096), Fragment::new(8192, 4096)];
        let taken = match *decision {
            Decision::Take(length) => {
                let it = Receive { sink: &buffer, length: length.into(), deadline, user };
                node.driver.recv(now, rx_request, &it).ok()
            }
            Decision::Reply(length) => {
                let it = Reply { source: &buffer, length: length.into(), deadline, user };
                node.driver.reply(now, rx_request, &it).ok()
            }
            Decision::Refuse => {
                node.driver.nak(now, rx_request, NakReason::NoMatch);
                None
            }
            // Forgotten: it ends by itself.
            Decision::Later | Decision::Never => None,
        };
        if let Some(tag) = taken {
            node.accepted(user, tag);
            self.mine.push(tag);
        }
    }
}

fn returned(how: u8) -> Returned {
    [Returned::Ok, Returned::Untouched, Returned::Touched][usize::from(how) % 3]
}
