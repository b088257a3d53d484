// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The proof that nothing moves on a link.

use crate::id::LinkId;

/// Proof that the engine of one link has stopped (INV-3, R11, S0-10).
///
/// With it, and only with it, descriptors may be taken away from the device and completed by hand
/// (R12, R19). It is not `Copy` and not `Clone`; resetting the engine uses it up.
#[derive(Debug)]
#[must_use = "the engine stays stopped until the proof is spent on its reset"]
pub struct Quiesced {
    link: LinkId,
}

impl Quiesced {
    /// Asserts that the engine of `link` has stopped.
    ///
    /// # Safety
    /// The engine has stopped, and it cannot start again before
    /// [`Engine::reset`](crate::ports::Engine::reset): it reads and writes no memory of this node,
    /// and no other node's engine reads or writes this node's memory through this link. An engine
    /// that identifies itself and whose registers say stopped is one such proof. A platform that
    /// knows it by other means is another: the slot has no power, or the device is cut off from
    /// memory. A register that reads all ones is none.
    pub unsafe fn assert_stopped(link: LinkId) -> Self {
        Self { link }
    }

    /// The link whose engine has stopped.
    pub fn link(&self) -> LinkId {
        self.link
    }
}

static_assertions::assert_not_impl_any!(Quiesced: Clone, Copy);
