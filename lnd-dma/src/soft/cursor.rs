// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Iterates over a descriptor's fragments. The descriptor is not trusted.

use lnd_core::fragment::{Fragment, MAX_FRAGMENT, MAX_FRAGMENTS};

use crate::descriptor::{Content, Flags};
use crate::memory::LinkMemory;

/// A position in a descriptor's fragments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    at: u32,
    offset: u32,
}

impl Cursor {
    /// The rest of the current fragment: its address and length; `None` at the end, or if the
    /// descriptor is not valid.
    pub fn rest(&mut self, memory: &LinkMemory<'_>, content: &Content) -> Option<(u64, u32)> {
        let fragment = fragment(memory, content, self.at)?;
        if self.offset >= fragment.length {
            self.at += 1;
            self.offset = 0;
            let next = self::fragment(memory, content, self.at)?;
            return Some((next.address, next.length));
        }
        let address = fragment.address.checked_add(u64::from(self.offset))?;
        Some((address, fragment.length - self.offset))
    }

    /// Advances by at most what [`rest`](Self::rest) has returned.
    pub fn advance(&mut self, bytes: u32) {
        self.offset = self.offset.saturating_add(bytes);
    }
}

fn fragment(memory: &LinkMemory<'_>, content: &Content, at: u32) -> Option<Fragment> {
    if at >= content.fragments || at as usize >= MAX_FRAGMENTS {
        return None;
    }
    let found = if content.flags.contains(Flags::INDIRECT) {
        memory.read_fragment(content.list, at as usize)?
    } else if at == 0 {
        Fragment::new(content.address, content.fragment)
    } else {
        return None;
    };
    (found.length > 0 && found.length <= MAX_FRAGMENT).then_some(found)
}
