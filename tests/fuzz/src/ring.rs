// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Memory of a mailbox, as the process on the other side sees it.

use std::ptr::NonNull;

use lnd_core::sync::{AtomicU32, Ordering};
use lnd_shortmsg::mailbox::{Line, MailboxGeometry, MailboxRegion};

/// Memory of one mailbox.
pub struct Shared {
    lines: Vec<Line>,
}

impl Shared {
    /// A mailbox whose positions count from `start`.
    pub fn new(geometry: MailboxGeometry, start: u32) -> Self {
        let mut this = Self { lines: vec![Line::ZERO; geometry.bytes_needed() / 64] };
        // SAFETY: no side is attached yet.
        unsafe { this.region().format(geometry, start) }.expect("the memory is large enough");
        this
    }

    fn base(&mut self) -> NonNull<u8> {
        NonNull::from(self.lines.as_mut_slice()).cast()
    }

    /// The lifetime is cut loose from the borrow, since the other side writes behind every borrow's
    /// back. The memory is kept until after the last use of any end.
    pub fn region<'m>(&mut self) -> MailboxRegion<'m> {
        let bytes = self.lines.len() * 64;
        // SAFETY: all of the memory, which only mailbox code and `set` access.
        unsafe { MailboxRegion::new(self.base(), bytes) }.expect("lines are aligned")
    }

    /// Writes a word anywhere, as a hostile process can.
    pub fn set(&mut self, word: usize, value: u32) {
        let count = self.lines.len() * 16;
        let place = self.base().cast::<AtomicU32>();
        // SAFETY: within the memory.
        let place = unsafe { place.add(word % count) };
        // SAFETY: aligned and alive; an atomic is valid for every bit pattern.
        unsafe { place.as_ref() }.store(value, Ordering::Relaxed);
    }
}
