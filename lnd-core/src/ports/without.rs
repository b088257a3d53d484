// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file holds the engine of a link that has none.

use crate::base::id::{LinkId, Tag};
use crate::machines::link::Quiesced;
use crate::ports::{Bd, Engine, PostError, Returned};

/// The engine of a link without one: every payload travels inline. A message whose payload is
/// longer than the channel's `immediate_max` ends with a local error, and nothing is sent.
///
/// ```
/// use lnd_core::host::WithoutEngine;
/// use lnd_core::id::LinkId;
/// use lnd_core::ports::Engine;
///
/// let link = LinkId::new(0).unwrap();
/// let mut engine = WithoutEngine::new(link);
/// assert_eq!(engine.quiesced().unwrap().link(), link);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WithoutEngine {
    link: LinkId,
}

impl WithoutEngine {
    /// The engine that `link` does not have.
    pub const fn new(link: LinkId) -> Self {
        Self { link }
    }
}

impl Engine for WithoutEngine {
    fn post(&mut self, _: &Bd<'_>) -> Result<(), PostError> {
        Err(PostError::Invalid)
    }

    fn doorbell(&mut self) {}

    fn invalidate(&mut self, _: Tag) {}

    fn stop(&mut self) {}

    fn quiesced(&mut self) -> Option<Quiesced> {
        // SAFETY: there is no engine, and no descriptor is ever posted: nothing moves on this link,
        // and no other node's engine has a key to this node's memory.
        Some(unsafe { Quiesced::assert_stopped(self.link) })
    }

    fn reclaim(&mut self, _: Tag, _: &Quiesced) -> Option<Returned> {
        None
    }

    fn reset(&mut self, _: Quiesced) {}
}
