// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The numbers of a fabric, and the places of all its parts (`docs/fabric.md`).

use core::fmt;

use lnd_core::id::{Nid, MAX_LINKS};
use lnd_dma::memory::{LinkGeometry, MAX_LISTS};
use lnd_shortmsg::mailbox;

/// Most descriptors of each link of a fabric.
const MAX_DESCRIPTORS: u32 = 65_536;

/// Granularity of payload windows and of the memory oracle, in bytes.
pub const PAGE: u64 = 4096;
/// Most nodes of a fabric.
pub const MAX_NODES: u32 = 64;
/// Largest payload window of a node in bytes: 1 TiB.
pub const MAX_WINDOW: u64 = 1 << 40;
/// Bytes of a node table entry.
pub(crate) const ENTRY: usize = 64;
/// Alignment of the windows within the region: a large page.
const LARGE_PAGE: u64 = 2 << 20;
/// Lanes of the short-message channel.
pub(crate) const LANES: usize = 2;
/// Words of a shape in the header.
pub(crate) const WORDS: usize = 11;

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
    /// Slots of a request mailbox, and their size in bytes. With all four numbers zero there are no
    /// mailboxes, and short messages go another way.
    pub requests: (u32, u32),
    /// Slots of a control mailbox, and their size in bytes.
    pub control: (u32, u32),
}

/// Why a shape is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// The number of nodes is out of range.
    Nodes,
    /// The number of links is out of range.
    Links,
    /// Descriptors or lists are out of range.
    Tables,
    /// The window is empty, too large, or no multiple of the page size.
    Window,
    /// A mailbox's geometry is impossible.
    Mailbox,
    /// The fabric is larger than this machine can address.
    TooLarge,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nodes => "a fabric has 2 to 64 nodes",
            Self::Links => "a node has 1 to 8 links",
            Self::Tables => "impossible number of descriptors or lists",
            Self::Window => "a window is a positive multiple of 4096 bytes up to 1 TiB",
            Self::Mailbox => "impossible mailbox",
            Self::TooLarge => "more than this machine can address",
        })
    }
}

impl core::error::Error for ShapeError {}

/// Byte offsets within the region, all multiples of the page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The node table.
    pub nodes: usize,
    /// The page leases.
    pub leases: usize,
    /// The link memories.
    pub links: usize,
    /// The mailboxes.
    pub boxes: usize,
    /// The payload windows.
    pub windows: usize,
    /// The end.
    pub end: usize,
}

/// The number one.
const FIRST: Nid = match Nid::from_raw(1) {
    Some(nid) => nid,
    None => panic!("one is not zero"),
};

/// The NID of a node number: `number + 1` on network 0.
pub fn nid_of(node: u32) -> Nid {
    Nid::from_raw(u64::from(node) + 1).unwrap_or(FIRST)
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

    /// The same shape without mailboxes.
    #[must_use]
    pub const fn without_mailboxes(self) -> Self {
        Self { requests: (0, 0), control: (0, 0), ..self }
    }

    /// Bytes of the whole fabric; `usize::MAX` for a shape that is not valid.
    pub fn bytes_needed(&self) -> usize {
        self.offsets().map_or(usize::MAX, |offsets| offsets.end)
    }

    /// The tables of one link.
    pub const fn geometry(&self) -> LinkGeometry {
        LinkGeometry { descriptors: self.descriptors, lists: self.lists }
    }

    /// Longest short message in bytes: a buffer of this size is always large enough.
    pub const fn frame_max(&self) -> usize {
        let (requests, control) = (self.requests.1, self.control.1);
        (if requests > control { requests } else { control }) as usize
    }

    /// Mailboxes from one node to all nodes, and as many from all nodes; those to itself, which are
    /// not used, included.
    pub const fn mailboxes(&self) -> usize {
        self.nodes as usize * self.links as usize * LANES
    }

    /// The places of all parts.
    ///
    /// # Errors
    /// The shape is not valid.
    pub fn offsets(&self) -> Result<Offsets, ShapeError> {
        self.check()?;
        // After the check no sum or product approaches 2^64.
        let per_node = u64::from(self.links);
        let nodes = u64::from(self.nodes);
        let pairs = nodes * nodes * per_node;
        let leases = PAGE + pages(nodes * ENTRY as u64);
        let links = leases + pages(self.pages() * nodes * 4);
        let boxes = links + self.link_bytes() as u64 * nodes * per_node;
        let box_bytes = self.box_bytes(0) as u64 + self.box_bytes(1) as u64;
        let windows = (boxes + box_bytes * pairs).next_multiple_of(LARGE_PAGE);
        let end = windows + self.window * nodes;
        let fit = |offset: u64| usize::try_from(offset).ok().filter(|&o| o <= isize::MAX as usize);
        let offsets = || {
            Some(Offsets {
                nodes: fit(PAGE)?,
                leases: fit(leases)?,
                links: fit(links)?,
                boxes: fit(boxes)?,
                windows: fit(windows)?,
                end: fit(end)?,
            })
        };
        offsets().ok_or(ShapeError::TooLarge)
    }

    fn check(&self) -> Result<(), ShapeError> {
        if self.nodes < 2 || self.nodes > MAX_NODES {
            return Err(ShapeError::Nodes);
        }
        if self.links == 0 || self.links as usize > MAX_LINKS {
            return Err(ShapeError::Links);
        }
        if self.descriptors == 0 || self.descriptors > MAX_DESCRIPTORS || self.lists > MAX_LISTS {
            return Err(ShapeError::Tables);
        }
        if self.window == 0 || self.window % PAGE != 0 || self.window > MAX_WINDOW {
            return Err(ShapeError::Window);
        }
        match (self.box_geometry(0), self.box_geometry(1)) {
            (Some(_), Some(_)) => Ok(()),
            _ if self.requests == (0, 0) && self.control == (0, 0) => Ok(()),
            _ => Err(ShapeError::Mailbox),
        }
    }

    pub(crate) fn words(&self) -> [u32; WORDS] {
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

    pub(crate) fn from_words(words: [u32; WORDS]) -> Self {
        let [nodes, links, descriptors, lists, low, high, r0, r1, c0, c1, _] = words;
        let window = u64::from(low) | u64::from(high) << 32;
        Self { nodes, links, descriptors, lists, window, requests: (r0, r1), control: (c0, c1) }
    }

    /// A checksum over the numbers (FNV-1a).
    pub(crate) fn digest(&self) -> u32 {
        self.words()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Bytes of one link's memory.
    pub(crate) fn link_bytes(&self) -> usize {
        pages(self.geometry().bytes_needed() as u64) as usize
    }

    /// The geometry of a lane's mailboxes: 0 requests, 1 control.
    pub(crate) fn box_geometry(&self, lane: usize) -> Option<mailbox::MailboxGeometry> {
        let (slots, size) = if lane == 0 { self.requests } else { self.control };
        mailbox::MailboxGeometry::new(slots, size)
    }

    /// Bytes of a lane's mailbox. A geometry leaves room for a page.
    pub(crate) fn box_bytes(&self, lane: usize) -> usize {
        pages(self.box_geometry(lane).map_or(0, |g| g.bytes_needed()) as u64) as usize
    }

    /// Pages of one window.
    pub(crate) fn pages(&self) -> u64 {
        self.window / PAGE
    }
}

/// Rounded up to whole pages. No caller approaches the type's maximum.
fn pages(bytes: u64) -> u64 {
    bytes.wrapping_add(PAGE - 1) & !(PAGE - 1)
}
