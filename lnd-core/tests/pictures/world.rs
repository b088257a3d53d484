// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Two hosts, whose every call is an arrow.

use std::mem::MaybeUninit;

use lnd_core::config::Config;
use lnd_core::counters::Counters;
use lnd_core::driver::{
    Driver, Identity, Inbound, Kind, Receive, Received, Reply, Request, RequestKind, Submitted, To,
};
use lnd_core::fragment::Fragment;
use lnd_core::id::{Incarnation, LinkId, Tag};
use lnd_core::message::NakReason;
use lnd_core::owned::OwnedMessage;
use lnd_core::ports::{Completion, Motion, NoTrace, Returned, Sent};
use lnd_core::time::{Instant, Span};

use super::picture::Item;
use super::ports::{fabric, node_of, Lanes, Port, LINKS, NIDS, SLOTS};

/// What the upper layer says to a request.
#[derive(Clone, Copy, PartialEq)]
pub enum Says {
    Takes,
    Refuses,
}

pub struct World {
    pub drivers: [Driver<'static, Port>; 2],
    pub now: Instant,
    /// The link by which node A sends.
    pub link: Option<LinkId>,
}

impl World {
    fn driver(node: usize, incarnation: u64, depth: u16) -> Driver<'static, Port> {
        let config = Config { immediate_max: 256, depth, ..Config::new(SLOTS, 4, 2) };
        let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
        let incarnation = Incarnation::from_raw(incarnation).unwrap();
        let me = Identity { nid: NIDS[node], incarnation };
        let port = Port(node, LINKS[0]);
        let engines = LINKS.map(|link| Port(node, link));
        Driver::create(memory, config, me, engines, port, port, NoTrace).unwrap()
    }

    /// Two nodes that have not met.
    pub fn new(lanes: Lanes, depth: u16) -> Self {
        let drivers = [0, 1].map(|node| Self::driver(node, 5, depth));
        fabric(|it| {
            it.lanes = lanes;
            it.contexts = drivers.iter().map(Driver::irq_handle).collect();
        });
        let mut world = Self { drivers, now: Instant::ORIGIN, link: Some(LINKS[0]) };
        world.settle();
        fabric(|it| it.forget());
        world
    }

    /// Two nodes that have.
    pub fn met(lanes: Lanes) -> Self {
        Self::met_with(lanes, 8)
    }

    /// The same, each with so many credits.
    pub fn met_with(lanes: Lanes, depth: u16) -> Self {
        let mut world = Self::new(lanes, depth);
        let _ = world.send(Kind::Put, 64);
        world.settle();
        let peers = [0, 1].map(|node| world.drivers[node].peer(NIDS[1 - node]));
        fabric(|it| {
            it.peers = peers;
            it.forget();
        });
        world
    }

    /// What has happened.
    pub fn happened() -> Vec<Item> {
        fabric(|it| {
            it.look();
            it.happened.clone()
        })
    }

    /// Node B starts again, and has something to send.
    pub fn restart(&mut self) {
        self.drivers[1] = Self::driver(1, 6, 8);
        fabric(|it| {
            it.contexts[1] = self.drivers[1].irq_handle();
            it.peers[1] = None;
        });
        self.time(1);
        let payload = &[Fragment::new(0, 64)][..];
        let (kind, peer, deadline) =
            (Kind::Put, To::Nid(NIDS[0]), self.now.after(Span::from_secs(50)));
        let (link, routed, header, user) = (self.link, false, &b"header"[..], 0);
        let request = Request { kind, peer, link, routed, header, payload, deadline, user };
        let _ = self.drivers[1].submit(self.now, request).map_err(|it| it.why).unwrap();
    }

    fn send(&mut self, kind: Kind, length: u32) -> Option<Tag> {
        let payload = &[Fragment::new(0, length)][..];
        let (peer, deadline) = (To::Nid(NIDS[1]), self.now.after(Span::from_secs(50)));
        let (link, routed, header, user) = (self.link, false, &b"header"[..], 0);
        let request = Request { kind, peer, link, routed, header, payload, deadline, user };
        let submitted = self.drivers[0].submit(self.now, request);
        match submitted {
            Ok(Submitted::Pending(tag)) => {
                fabric(|it| it.lend(0));
                Some(tag)
            }
            Ok(Submitted::Done(_)) => panic!("this channel ends nothing at once"),
            Err(refused) => {
                fabric(|it| it.tells(0, "-->", &[&format!("{:?}", refused.why)]));
                None
            }
        }
    }

    /// Node A's upper layer sends.
    pub fn submit(&mut self, kind: Kind, length: u32) -> Option<Tag> {
        let call = if kind == Kind::Get { "submit(GET)" } else { "submit(PUT)" };
        fabric(|it| it.calls(0, call));
        self.send(kind, length)
    }

    /// The channel says how a node's messages have ended.
    pub fn sent(&mut self, node: usize) {
        let (mine, others): (Vec<_>, Vec<_>) =
            fabric(|it| it.sent.drain(..).partition(|sent| sent.0 == node));
        fabric(|it| it.sent.extend(others));
        for (_, tag) in mine {
            if let Some(channel) = fabric(|it| it.lanes.channel) {
                fabric(|it| it.note("-->", channel, it.lanes.core[node], &["on_sent(Ok)"]));
            }
            self.drivers[node].on_sent(self.now, tag, Sent::Ok);
            fabric(|it| it.look());
        }
    }

    /// A node takes in what has come, and decides on requests.
    pub fn receive(&mut self, node: usize, says: Says) {
        let (mine, others): (Vec<_>, Vec<_>) =
            fabric(|it| it.mail.drain(..).partition(|mail| mail.0 == node));
        fabric(|it| it.mail.extend(others));
        for (_, link, mail) in mine {
            self.receive_one(node, says, link, &mail);
        }
        self.drivers[node].ring();
        fabric(|it| it.look());
    }

    fn receive_one(&mut self, node: usize, says: Says, link: LinkId, mail: &OwnedMessage<256>) {
        let (now, deadline) = (self.now, self.now.after(Span::from_secs(50)));
        let message = mail.message();
        let inbound = self.drivers[node].on_message(now, link, mail.envelope(), &message);
        let Inbound::Request(request) = inbound else { return };
        fabric(|it| it.tells(node, "->", &["on_message()"]));
        let length = request.length();
        let memory = &[Fragment::new(0, length)][..];
        if says == Says::Refuses {
            fabric(|it| it.calls(node, "nak(NoResources)"));
            request.nak(NakReason::NoResources);
        } else if request.kind() == RequestKind::Get {
            fabric(|it| {
                it.calls(node, "reply(source)");
                it.lend(node);
            });
            let _ = request.reply(&Reply { source: memory, length, deadline, user: 0 }).unwrap();
        } else {
            fabric(|it| it.calls(node, "recv(sink)"));
            match request.recv(&Receive { sink: memory, length, deadline, user: 0 }).unwrap() {
                Received::Pending(_) => fabric(|it| it.lend(node)),
                Received::Done(status) => {
                    assert_eq!(status.errno, 0);
                    fabric(|it| it.tells(node, "-->", &["Done(OK)"]));
                }
            }
        }
    }

    /// The engines move what one has staged and the other pulls.
    pub fn pull(&mut self) {
        let posted: Vec<_> = fabric(|it| it.posted.iter().map(|(k, v)| (*k, *v)).collect());
        for ((node, link, index), (tag, motion)) in posted {
            let Motion::Pull { from, source, .. } = motion else { continue };
            let other = node_of(from);
            fabric(|it| {
                let staged = it.posted.remove(&(other, link, source.index)).expect("not staged");
                assert_eq!(staged.0, source);
                it.posted.remove(&(node, link, index));
                let (a, b) = (it.lanes.engines[other][link], it.lanes.engines[node][link]);
                it.note("~>", a, b, &[]);
                for (node, tag) in [(other, source), (node, tag)] {
                    let completion = Completion { tag, returned: Returned::Ok };
                    it.completions.push_back((node, LINKS[link], completion));
                }
            });
        }
    }

    /// The engines move what one pushes into what the other has exposed.
    pub fn push(&mut self) {
        let posted: Vec<_> = fabric(|it| it.posted.iter().map(|(k, v)| (*k, *v)).collect());
        for ((node, link, index), (tag, motion)) in posted {
            let Motion::Push { to, sink, .. } = motion else { continue };
            fabric(|it| {
                let exposed = it.posted.get(&(node_of(to), link, sink.index)).expect("not exposed");
                assert_eq!(exposed.0, sink);
                it.posted.remove(&(node, link, index));
                let engines = it.lanes.engines;
                it.note("~>", engines[node][link], engines[node_of(to)][link], &[]);
                let completion = Completion { tag, returned: Returned::Ok };
                it.completions.push_back((node, LINKS[link], completion));
            });
        }
    }

    /// A staged descriptor comes back OK: its peer, which no lane shows, has pulled.
    pub fn pulled(&mut self, link: usize) {
        fabric(|it| {
            let place = it.posted.keys().copied().find(|place| place.1 == link).unwrap();
            let (tag, _) = it.posted.remove(&place).unwrap();
            let completion = Completion { tag, returned: Returned::Ok };
            it.completions.push_back((place.0, LINKS[link], completion));
        });
    }

    /// The interrupts of a node's engines.
    pub fn interrupt(&mut self, node: usize) {
        let (mine, others): (Vec<_>, Vec<_>) =
            fabric(|it| it.completions.drain(..).partition(|it| it.0 == node));
        fabric(|it| it.completions.extend(others));
        let context = self.drivers[node].irq_handle();
        for (_, link, completion) in mine {
            fabric(|it| {
                let (engine, core) = (it.lanes.engines[node][link.index()], it.lanes.core[node]);
                let untouched = completion.returned == Returned::Untouched;
                let how = if untouched { "untouched" } else { "" };
                it.note("-->", engine, core, &["on_completion()", how]);
            });
            let counters = &mut Counters::new();
            let _ = context.on_completion_of(self.now, link, completion, counters, &mut NoTrace);
            fabric(|it| it.look());
        }
    }

    pub fn time(&mut self, node: usize) {
        let _ = self.drivers[node].on_time(self.now);
        fabric(|it| it.look());
    }

    /// A node's reports.
    pub fn report(&mut self, node: usize) {
        while let Some(report) = self.drivers[node].next_report(self.now) {
            let cause = report.status.evidence.map_or(String::new(), |it| format!("{:?}", it.0));
            let errno = match report.status.errno {
                0 => "OK",
                -103 => "-ECONNABORTED",
                -121 => "-EREMOTEIO",
                _ => "",
            };
            fabric(|it| {
                it.tells(node, "-->", &["next_report()", errno, &cause]);
                it.give_back(node);
            });
        }
    }

    /// Lets everything happen.
    pub fn settle(&mut self) {
        for _ in 0..20 {
            self.now = self.now.after(Span::from_millis(1));
            for node in [0, 1] {
                self.receive(node, Says::Takes);
                self.sent(node);
                self.interrupt(node);
                self.time(node);
                self.report(node);
            }
        }
    }
}
