// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Where everything lies.

use lnd_core::id::{Nid, MAX_LINKS};
use lnd_dma::memory::Geometry;
use lnd_shortmsg::mailbox;

/// Granularity of payload windows and of the memory oracle.
pub const PAGE: u64 = 4096;
/// Most nodes of a fabric.
pub const MAX_NODES: u32 = 64;

/// The numbers of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes, `2..=64`.
    pub nodes: u32,
    /// Links of each node, `1..=8`; link `k` of one node is connected to link `k` of the others.
    pub links: u32,
    /// Descriptors of each link.
    pub descriptors: u32,
    /// Indirect lists of each link.
    pub lists: u32,
    /// Bytes of each node's payload window, a multiple of the page size.
    pub window: u64,
    /// Slots of a request mailbox, and their size in bytes.
    pub requests: (u32, u32),
    /// Slots of a control mailbox, and their size in bytes.
    pub control: (u32, u32),
}

/// A shape that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// The number of nodes is out of range.
    Nodes,
    /// The number of links is out of range.
    Links,
    /// Descriptors or lists are out of range.
    Tables,
    /// The window is empty or no multiple of the page size.
    Window,
    /// A mailbox's geometry is impossible.
    Mailbox,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    pub nodes: usize,
    pub leases: usize,
    pub links: usize,
    pub boxes: usize,
    pub windows: usize,
    pub end: usize,
}

/// The NID of a node number: `number + 1` on network 0.
pub fn nid_of(node: u32) -> Nid {
    match Nid::from_raw(u64::from(node) + 1) {
        Some(nid) => nid,
        // A number plus one is never zero.
        None => unreachable!("NID zero"),
    }
}

/// The node number of a NID of this fabric's network.
pub fn node_of(nid: Nid) -> Option<u32> {
    (nid.network() == 0).then(|| nid.address().wrapping_sub(1)).filter(|&n| n < MAX_NODES)
}

impl Shape {
    /// A shape with usual sizes.
    pub const fn new(nodes: u32, links: u32, descriptors: u32, window: u64) -> Self {
        Self {
            nodes,
            links,
            descriptors,
            lists: if descriptors < 256 { descriptors } else { 256 },
            window,
            requests: (64, 4352),
            control: (256, 192),
        }
    }

    pub(super) fn check(&self) -> Result<(), ShapeError> {
        if self.nodes < 2 || self.nodes > MAX_NODES {
            return Err(ShapeError::Nodes);
        }
        if self.links == 0 || self.links as usize > MAX_LINKS {
            return Err(ShapeError::Links);
        }
        let most = lnd_dma::memory::MAX_DESCRIPTORS;
        if self.descriptors == 0 || self.descriptors > most || self.lists > most {
            return Err(ShapeError::Tables);
        }
        if self.window == 0 || !self.window.is_multiple_of(PAGE) || self.window > 1 << 40 {
            return Err(ShapeError::Window);
        }
        match (self.box_geometry(0), self.box_geometry(1)) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(ShapeError::Mailbox),
        }
    }

    pub(super) fn words(&self) -> [u32; 11] {
        [
            self.nodes,
            self.links,
            self.descriptors,
            self.lists,
            self.window as u32,
            (self.window >> 32) as u32,
            self.requests.0,
            self.requests.1,
            self.control.0,
            self.control.1,
            0,
        ]
    }

    pub(super) fn from_words(words: [u32; 11]) -> Self {
        Self {
            nodes: words[0],
            links: words[1],
            descriptors: words[2],
            lists: words[3],
            window: u64::from(words[4]) | u64::from(words[5]) << 32,
            requests: (words[6], words[7]),
            control: (words[8], words[9]),
        }
    }

    /// A check over the numbers.
    pub(super) fn digest(&self) -> u32 {
        let mut sum = 0x811c_9dc5_u32;
        for word in self.words() {
            for byte in word.to_le_bytes() {
                sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
            }
        }
        sum
    }

    /// The tables of one link.
    pub const fn geometry(&self) -> Geometry {
        Geometry { descriptors: self.descriptors, lists: self.lists }
    }

    pub(super) fn link_bytes(&self) -> usize {
        self.geometry().bytes_needed().next_multiple_of(PAGE as usize)
    }

    /// The geometry of a lane's mailboxes: 0 requests, 1 control.
    pub(super) fn box_geometry(&self, lane: usize) -> Option<mailbox::Geometry> {
        let (slots, size) = if lane == 0 { self.requests } else { self.control };
        mailbox::Geometry::new(slots, size)
    }

    pub(super) fn box_bytes(&self, lane: usize) -> usize {
        self.box_geometry(lane).map_or(0, |g| g.bytes_needed()).next_multiple_of(PAGE as usize)
    }

    /// The number of a mailbox of a lane: from `source` to `sink` over `link`.
    pub(super) fn box_number(&self, source: u32, sink: u32, link: usize) -> usize {
        (source as usize * self.nodes as usize + sink as usize) * self.links as usize + link
    }

    pub(super) fn boxes(&self) -> usize {
        (self.nodes * self.nodes * self.links) as usize
    }

    /// Pages of all windows.
    pub(super) fn pages(&self) -> usize {
        (self.window / PAGE) as usize
    }

    /// Bytes of the whole fabric.
    pub fn bytes_needed(&self) -> usize {
        self.offsets().end
    }

    pub(super) fn offsets(&self) -> Offsets {
        let page = PAGE as usize;
        let nodes = page;
        let leases = nodes + (self.nodes as usize * 64).next_multiple_of(page);
        let lease_bytes = (self.pages() * self.nodes as usize * 4).next_multiple_of(page);
        let links = leases + lease_bytes;
        let link_bytes = self.link_bytes() * (self.nodes * self.links) as usize;
        let boxes = links + link_bytes;
        let box_bytes = (self.box_bytes(0) + self.box_bytes(1)) * self.boxes();
        let windows = (boxes + box_bytes).next_multiple_of(2 << 20);
        let end = windows + self.window as usize * self.nodes as usize;
        Offsets { nodes, leases, links, boxes, windows, end }
    }
}
