// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! One node's payload memory, for its own processor. Addresses are offsets into the window.

use core::ptr::NonNull;

use lnd_core::fragment::Fragment;
use lnd_core::ports::{BadAddress, Memory};

use crate::fabric::SoftFabric;

/// The payload window of a node. Context: any; the upper layer decides who may access which bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryWindow<'m> {
    fabric: SoftFabric<'m>,
    node: u32,
}

impl<'m> MemoryWindow<'m> {
    /// The window of `node`; empty if the fabric has no such node.
    pub const fn new(fabric: &SoftFabric<'m>, node: u32) -> Self {
        Self { fabric: *fabric, node }
    }

    /// Bytes in the window.
    pub const fn bytes(&self) -> u64 {
        self.fabric.window_bytes()
    }

    /// The place of `length` bytes in this process, for copies elsewhere; `None` if they are not in
    /// the window. Engines of any node may write them whenever the protocol allows: no reference to
    /// them may be made.
    pub fn place(&self, address: u64, length: u32) -> Option<NonNull<u8>> {
        self.fabric.window_place(self.node, address, length)
    }
}

impl Memory for MemoryWindow<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(into.len()).map_err(|_| BadAddress)?;
        let from = self.fabric.window_place(self.node, address, length).ok_or(BadAddress)?;
        // SAFETY: the range is within the window. `into` may lie in the window too, if the host has
        // mapped it: `copy` allows overlap.
        unsafe { core::ptr::copy(from.as_ptr(), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), BadAddress> {
        let length = u32::try_from(from.len()).map_err(|_| BadAddress)?;
        let to = self.fabric.window_place(self.node, address, length).ok_or(BadAddress)?;
        // SAFETY: the range is within the window. `from` may lie in it too: `copy` allows overlap.
        unsafe { core::ptr::copy(from.as_ptr(), to.as_ptr(), from.len()) };
        Ok(())
    }

    fn valid(&self, fragment: &Fragment) -> bool {
        self.fabric.window_place(self.node, fragment.address, fragment.length).is_some()
    }
}
