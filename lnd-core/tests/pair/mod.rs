// SPDX-License-Identifier: MIT OR GPL-2.0-only
// Two nodes in one thread, each with a backlog that the other one writes to: for the examples of
// the documentation, which include this file, and for `host.rs`.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use lnd_core::message::Lane;
use lnd_core::prelude::*;

pub type Mail = RefCell<Backlog<64, 4>>;
pub type Set = (WithoutEngine, Post, LinearMemory<'static>, NoTrace);
pub type Node = Driver<'static, Set>;

pub const LINK: LinkId = LinkId::new(0).unwrap();
pub const MS: Span = Span::from_millis(1);

/// Writes into the other node's backlog.
pub struct Post(pub &'static Mail);

impl Channel for Post {
    fn immediate_max(&self) -> u32 {
        64
    }
    fn is_reliable(&self) -> bool {
        true
    }
    fn ready(&mut self, _: LinkId, _: Nid, lane: Lane) -> bool {
        self.0.borrow().has_room(lane)
    }
    fn send(
        &mut self,
        _: LinkId,
        envelope: &Envelope,
        message: &Message<'_>,
        _: Option<Tag>,
    ) -> Result<Option<Sent>, ChannelFull> {
        self.0.borrow_mut().push(envelope, message).map(|()| Some(Sent::Ok))
    }
}

/// The NID of node 0 or 1.
pub fn nid(node: usize) -> Nid {
    Nid::from_raw(node as u64 + 1).unwrap()
}

/// The nodes, with the bytes of their memories and what they have reported.
pub struct World {
    pub now: Instant,
    pub nodes: [Node; 2],
    pub mail: [&'static Mail; 2],
    pub bytes: [&'static [Cell<u8>]; 2],
    pub reports: [Vec<Report>; 2],
}

impl World {
    /// Two nodes that have opened their links. `slots` is of node 1.
    pub fn new(slots: u32, change: impl Fn(&mut Config)) -> Self {
        let mail = [0, 1].map(|_| &*Box::leak(Box::new(Mail::default())));
        let bytes = [0, 1].map(|node| &*vec![Cell::new(node); 4096].leak());
        let nodes = [16, slots].map(|slots| {
            let mut config = Config::new(slots, 2, 1);
            change(&mut config);
            config
        });
        let nodes = [0, 1].map(|node| {
            let block = vec![MaybeUninit::uninit(); nodes[node].bytes_needed()].leak();
            let incarnation = Incarnation::of_start(1, node as u32);
            let me = Identity { nid: nid(node), incarnation };
            let (engine, channel) = (WithoutEngine::new(LINK), Post(mail[1 - node]));
            let memory = LinearMemory::new(bytes[node]);
            Driver::create(block, nodes[node], me, [engine], channel, memory, NoTrace).unwrap()
        });
        let mut world = Self {
            now: Instant::ORIGIN.after(MS),
            nodes,
            mail,
            bytes,
            reports: Default::default(),
        };
        world.round(0, |_| panic!("a request"));
        world.round(1, |_| panic!("a request"));
        world
    }

    /// A round of a node. Returns whether a message waits, and when the next round is due.
    pub fn round(
        &mut self,
        node: usize,
        decide: impl FnMut(Arrival<'_, '_, '_, Set>) -> bool,
    ) -> (bool, Option<Instant>) {
        let driver = &mut self.nodes[node];
        let waits = self.mail[node].borrow_mut().offer(self.now, LINK, driver, decide);
        let reports = &mut self.reports[node];
        (waits, driver.run_once(self.now, [], |report| reports.push(report)))
    }

    /// Node 0 sends its first bytes to node 1.
    pub fn put(&mut self, length: u32, deadline: Instant) {
        let payload = [Fragment::new(0, length)];
        let request = Request::put(nid(1), b"header", &payload, deadline);
        assert!(self.nodes[0].submit(self.now, request).is_ok());
    }
}
