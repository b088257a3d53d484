// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A node to test with: some rails, peers with as many, and short ways to send.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::mem::MaybeUninit;

use lnd_core::id::{Incarnation, Nid};
use lnd_core::time::Instant;
use lnd_core::transfer::{Delivery, HealthClass as Class};
use lnd_health::attempts::{Attempts, Path, Terms};
use lnd_health::node::{End, Ended, Next, PeerSettings};
use lnd_health::{Health, HealthConfig, NiId, Number, Object, PeerId, PeerNiId, Stamp};

pub const CLASSES: [Class; 11] = [
    Class::Ok,
    Class::LocalInterrupt,
    Class::LocalDropped,
    Class::LocalAborted,
    Class::LocalNoRoute,
    Class::LocalError,
    Class::LocalTimeout,
    Class::RemoteError,
    Class::RemoteDropped,
    Class::RemoteTimeout,
    Class::NetworkTimeout,
];

pub fn at(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

pub fn nid(network: u32, address: u32) -> Nid {
    Nid::from_raw(u64::from(network) << 32 | u64::from(address)).unwrap()
}

pub fn local(n: usize) -> NiId {
    NiId::new(n).unwrap()
}

pub fn surely(class: Class) -> End {
    End::failed(class, Delivery::NotDelivered)
}

pub fn perhaps(class: Class) -> End {
    End::failed(class, Delivery::Unknown)
}

/// A node over leaked memory.
pub fn empty(config: HealthConfig) -> Health<'static> {
    let memory = vec![MaybeUninit::uninit(); config.bytes_needed()].leak();
    Health::create(memory, config, at(0)).unwrap()
}

pub fn incarnation(raw: u64) -> Incarnation {
    Incarnation::from_raw(raw).unwrap()
}

/// What a message of the first epoch carries, for any incarnation.
pub fn stamp(from: u64, count: u32) -> Stamp {
    Stamp { from: incarnation(from), to: None, number: Number::new(1, count).unwrap() }
}

/// The incarnation of the peers of [`Node::new`].
pub const FIRST: u64 = 1_000;

/// The incarnation of nodes made by [`plain`].
pub const OWN: u64 = 3;

/// Without jitter, so that times are exact.
pub fn plain(locals: u8, peers: u32, each: u32) -> HealthConfig {
    let mut config = HealthConfig::new(locals, peers, peers * each);
    config.incarnation = Some(incarnation(OWN));
    (config.recovery.jitter, config.probe.jitter, config.reconnect.backoff.jitter) = (0, 0, 0);
    (config.resend.jitter, config.pressure.jitter) = (0, 0);
    config
}

/// A node with rails on networks `0..networks` in turn, and peers with as many each.
pub struct Node {
    pub health: Health<'static>,
    pub peers: Vec<(PeerId, Vec<PeerNiId>)>,
}

impl Node {
    /// Its peers recognise second copies, and are in incarnation [`FIRST`].
    pub fn new(config: HealthConfig, networks: u32) -> Self {
        let mut node = Self::among_strangers(config, networks);
        for (peer, _) in &node.peers {
            assert!(node.health.peer_incarnation(*peer, incarnation(FIRST)));
        }
        node
    }

    /// There was no handshake with its peers yet.
    pub fn among_strangers(config: HealthConfig, networks: u32) -> Self {
        Self::with(config, networks, PeerSettings { suppresses: true, ..Default::default() })
    }

    pub fn with(config: HealthConfig, networks: u32, settings: PeerSettings) -> Self {
        let mut health = empty(config);
        for n in 0..u32::from(config.locals) {
            health.add_local(nid(n % networks, 1 + n)).unwrap();
        }
        let each = config.peer_nis / config.peers;
        let peers = (0..config.peers)
            .map(|p| {
                let peer = health.add_peer(settings).unwrap();
                let nis = (0..each).map(|n| {
                    let address = 100 + p * each + n;
                    health.add_peer_ni(peer, nid(n % networks, address)).unwrap()
                });
                (peer, nis.collect())
            })
            .collect();
        Self { health, peers }
    }

    pub fn peer(&self) -> PeerId {
        self.peers[0].0
    }

    pub fn open(&mut self, deadline: u64) -> Attempts {
        self.health.open(self.peer(), Terms::new(77, at(deadline))).unwrap()
    }

    /// Begins a try over the path that selection finds.
    pub fn begin(&mut self, attempts: &mut Attempts) -> Path {
        self.begin_at(at(0), attempts)
    }

    /// The same at a time.
    pub fn begin_at(&mut self, now: Instant, attempts: &mut Attempts) -> Path {
        let choice = self.health.choose(attempts, &[]).unwrap();
        assert!(self.health.begin(now, attempts, &choice));
        choice.path
    }

    /// Sends a message of which each try ends as `end` says for its number and path. A pause is
    /// waited out. Returns its end, and the paths.
    pub fn send(
        &mut self,
        mut attempts: Attempts,
        mut end: impl FnMut(usize, Path) -> (Instant, End),
    ) -> (Ended, Vec<Path>) {
        let (mut paths, mut begins) = (Vec::new(), at(0));
        loop {
            let path = self.begin_at(begins, &mut attempts);
            paths.push(path);
            let (now, how) = end(paths.len(), path);
            attempts = match self.health.outcome(now, attempts, how) {
                Next::Again(attempts) => attempts,
                Next::Later(attempts, at) => {
                    begins = at;
                    attempts
                }
                Next::Ended(ended) => return (ended, paths),
            };
            assert!(paths.len() < 200, "it never ends");
        }
    }

    pub fn value(&self, object: Object) -> u16 {
        self.health.ni(object).unwrap().health().get()
    }

    /// Health of all of ours, then of the first peer's.
    pub fn values(&self) -> (Vec<u16>, Vec<u16>) {
        let ours = (0..usize::from(self.health.config().locals)).map(local).map(Object::Local);
        let theirs = self.peers[0].1.iter().copied().map(Object::Peer);
        (ours.map(|o| self.value(o)).collect(), theirs.map(|o| self.value(o)).collect())
    }
}
