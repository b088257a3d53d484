// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Format, attach, and the places within a fabric.

use core::fmt;
use core::ops::Range;
use core::ptr::NonNull;

use lnd_core::id::LinkId;
use lnd_core::sync::{AtomicU32, Ordering};
use lnd_dma::memory::{LayoutError, LinkMemory};
use lnd_dma::regs::{LinkBits, Register, RegisterAccess, RegisterBlock};
use lnd_shortmsg::mailbox;

use crate::region::SharedRegion;
use crate::shape::{Offsets, Shape, ShapeError, ENTRY, PAGE, WORDS};

/// First words of a fabric: `LNDFabrc`.
const MAGIC: [u32; 2] = [u32::from_le_bytes(*b"LNDF"), u32::from_le_bytes(*b"abrc")];
/// The layout's version.
pub const VERSION: u32 = 4;
/// Byte offsets of the header's words.
const SECOND: usize = 4;
const VERSION_AT: usize = 8;
const DIGEST: usize = 12;
const SHAPE: usize = 16;

/// Why a region is not a fabric, or cannot become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// Not a fabric: too short for a header, or another magic number.
    Foreign,
    /// A fabric of another version.
    Version(u32),
    /// The header's numbers do not match its check.
    Damaged,
    /// Impossible numbers.
    Shape(ShapeError),
    /// The region is smaller than it has to be.
    TooSmall {
        /// Bytes of the region.
        have: usize,
        /// Bytes required.
        need: usize,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("not a fabric (wrong magic number)"),
            Self::Version(v) => write!(f, "fabric version {v}; this program supports {VERSION}"),
            Self::Damaged => f.write_str("fabric header is damaged (check does not match)"),
            Self::Shape(error) => write!(f, "fabric header is not valid: {error}"),
            Self::TooSmall { have, need } => write!(f, "fabric has {have} bytes, needs {need}"),
        }
    }
}

impl core::error::Error for AttachError {}

/// A fabric in a region. Copies refer to the same fabric. Context: any.
#[derive(Clone, Copy, Debug)]
pub struct SoftFabric<'m> {
    region: SharedRegion<'m>,
    shape: Shape,
    offsets: Offsets,
}

impl<'m> SoftFabric<'m> {
    /// Makes a fabric of `shape` in a fresh region: all zero, and nothing attached.
    ///
    /// # Errors
    /// The shape is not valid, or does not fit. Nothing was written.
    pub fn format(region: SharedRegion<'m>, shape: Shape) -> Result<Self, AttachError> {
        let this = Self::over(region, shape)?;
        let put = |offset: usize, value: u32, order: Ordering| {
            if let Some(word) = region.word(offset) {
                word.store(value, order);
            }
        };
        for (at, value) in shape.words().into_iter().enumerate() {
            put(SHAPE + at * 4, value, Ordering::Relaxed);
        }
        put(DIGEST, shape.digest(), Ordering::Relaxed);
        put(VERSION_AT, VERSION, Ordering::Relaxed);
        put(SECOND, MAGIC[1], Ordering::Relaxed);
        // Release: partner is the Acquire in `attach`: a reader that sees the magic sees the
        // numbers.
        put(0, MAGIC[0], Ordering::Release);
        Ok(this)
    }

    /// Attaches to a formatted fabric. The header is read once.
    ///
    /// # Errors
    /// Why the region is not a fabric.
    pub fn attach(region: SharedRegion<'m>) -> Result<Self, AttachError> {
        if region.len() < PAGE as usize {
            return Err(AttachError::Foreign);
        }
        let get = |offset: usize, order: Ordering| region.word(offset).map_or(0, |w| w.load(order));
        // Acquire: partner is the Release in `format`.
        let magic = get(0, Ordering::Acquire);
        if [magic, get(SECOND, Ordering::Relaxed)] != MAGIC {
            return Err(AttachError::Foreign);
        }
        let version = get(VERSION_AT, Ordering::Relaxed);
        if version != VERSION {
            return Err(AttachError::Version(version));
        }
        let mut words = [0; WORDS];
        for (at, word) in words.iter_mut().enumerate() {
            *word = get(SHAPE + at * 4, Ordering::Relaxed);
        }
        let shape = Shape::from_words(words);
        // Reserved words are checked too.
        if get(DIGEST, Ordering::Relaxed) != shape.digest() || words != shape.words() {
            return Err(AttachError::Damaged);
        }
        Self::over(region, shape)
    }

    fn over(region: SharedRegion<'m>, shape: Shape) -> Result<Self, AttachError> {
        let offsets = shape.offsets().map_err(AttachError::Shape)?;
        if region.len() < offsets.end {
            return Err(AttachError::TooSmall { have: region.len(), need: offsets.end });
        }
        Ok(Self { region, shape, offsets })
    }

    /// The numbers that define the fabric.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The places of all parts.
    pub const fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// Bytes of each node's payload window.
    pub const fn window_bytes(&self) -> u64 {
        self.shape.window
    }

    /// The links of a node.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        (0..self.shape.links as usize).filter_map(LinkId::new)
    }

    /// Attaches to a node's link memory, if the node has joined before.
    ///
    /// # Errors
    /// It has not joined, or the memory is damaged.
    pub fn link_memory(&self, node: u32, link: LinkId) -> Result<LinkMemory<'m>, LayoutError> {
        let (base, len) = self.link_place(node, link).ok_or(LayoutError::Geometry)?;
        // SAFETY: the place is within the region, and used for this link's memory only (the layout
        // gives it to nothing else).
        let memory = unsafe { LinkMemory::attach(base, len)? };
        if memory.geometry() == self.shape.geometry() {
            Ok(memory)
        } else {
            Err(LayoutError::Geometry)
        }
    }

    /// The place of a link's memory, and its length in bytes.
    pub fn link_place(&self, node: u32, link: LinkId) -> Option<(NonNull<u8>, usize)> {
        if node >= self.shape.nodes || link.index() >= self.shape.links as usize {
            return None;
        }
        let bytes = self.shape.link_bytes();
        let number = node as usize * self.shape.links as usize + link.index();
        let place = self.region.place(self.offsets.links + number * bytes, bytes)?;
        Some((place, bytes))
    }

    /// Whether one node's link has its clock. One that has never been there has none.
    #[inline(never)]
    pub(crate) fn link_up(&self, node: u32, link: LinkId) -> bool {
        let Some((place, _)) = self.link_place(node, link) else { return false };
        // SAFETY: a link's memory lies within the region at a page's begin and is longer than its
        // registers. These are atomics, for which every bit pattern is valid.
        let registers: &RegisterBlock = unsafe { place.cast().as_ref() };
        // Acquire: partner is the Release of the writes of registers.
        let bits = registers.link.load(Ordering::Acquire);
        LinkBits::from_bits_retain(bits).contains(LinkBits::UP)
    }

    /// Whether a link has its cable at both of two nodes.
    pub(crate) fn is_whole(&self, link: LinkId, nodes: [u32; 2]) -> bool {
        nodes.into_iter().all(|node| self.link_up(node, link))
    }

    /// Whether any link has its cable at both of two nodes. Context: any.
    pub fn has_way(&self, nodes: [u32; 2]) -> bool {
        self.links().any(|link| self.is_whole(link, nodes))
    }

    /// Sets the link register of one node's link: the cable is pulled or put back. The node's
    /// engine must be stepped to see it. Returns whether there is such a link.
    pub fn set_link(&self, node: u32, link: LinkId, up: bool) -> bool {
        let memory = self.link_memory(node, link);
        if let Ok(memory) = &memory {
            let bits = if up { LinkBits::UP.bits() } else { 0 };
            memory.write(Register::Link, bits);
        }
        memory.is_ok()
    }

    /// The place of `length` bytes of a node's window, if they are within it.
    pub(crate) fn window_place(&self, node: u32, address: u64, length: u32) -> Option<NonNull<u8>> {
        let end = address.checked_add(u64::from(length))?;
        if node >= self.shape.nodes || end > self.shape.window {
            return None;
        }
        // The windows lie within the region, so within the machine's addresses.
        let window = self.offsets.windows + node as usize * self.shape.window as usize;
        self.region.place(window + address as usize, length as usize)
    }

    /// A node's whole window.
    pub fn window(&self, node: u32) -> Option<NonNull<u8>> {
        self.window_place(node, self.shape.window, 0)?;
        self.window_place(node, 0, 0)
    }

    /// A word of a node's table entry.
    pub(crate) fn entry(&self, node: u32, word: usize) -> Option<&'m AtomicU32> {
        if node >= self.shape.nodes {
            return None;
        }
        self.region.word(self.offsets.nodes + node as usize * ENTRY + word)
    }

    /// The lease words of some pages of a window, of those that it has.
    pub(crate) fn leases(&self, node: u32, pages: Range<u64>) -> &'m [AtomicU32] {
        let all = self.shape.pages();
        let (begin, end) = (pages.start.min(all), pages.end.min(all));
        if node >= self.shape.nodes || begin >= end {
            return &[];
        }
        let number = node as usize * all as usize + begin as usize;
        let words = self.region.words(self.offsets.leases + number * 4, (end - begin) as usize);
        words.unwrap_or_default()
    }

    /// The memory of the mailbox from `source` to `sink` over `link`; lane 0 requests, 1 control.
    pub(crate) fn mailbox(
        &self,
        source: u32,
        sink: u32,
        link: usize,
        lane: usize,
    ) -> Option<mailbox::MailboxRegion<'m>> {
        let (nodes, links) = (self.shape.nodes, self.shape.links as usize);
        if source >= nodes || sink >= nodes || link >= links {
            return None;
        }
        let number = (source as usize * nodes as usize + sink as usize) * links + link;
        let bytes = self.shape.box_bytes(lane);
        // All request mailboxes come before all control mailboxes.
        let all = (nodes as usize * nodes as usize) * links;
        let area = if lane == 0 { 0 } else { self.shape.box_bytes(0) * all };
        let place = self.region.place(self.offsets.boxes + area + number * bytes, bytes)?;
        // SAFETY: within the region, which is initialised, and by the layout used for this mailbox
        // only.
        unsafe { mailbox::MailboxRegion::new(place, bytes) }.ok()
    }
}
