// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The engine of one link: behind registers, or operations of the platform.

use core::mem::size_of;
use core::num::NonZeroU32;

use lnd_core::id::{LinkId, Nid, Tag};
use lnd_core::key::Key;
use lnd_core::link::{Connection, Quiesced};
use lnd_core::ports::{Bd, Engine, Features, Motion, PostError, Returned};
use lnd_dma::driver::MmioEngine;

use crate::abi::{
    lnd_bd, lnd_motion, lnd_post, lnd_returned, lnd_tag, LND_CANCEL_FIRST, LND_MAX_KEY,
    LND_NID_UNKNOWN,
};
use crate::input::frags;
use crate::platform::{Platform, OPERATIONS};
use crate::registers::{Numbers, Registers};

/// The driver of an engine behind registers.
pub(crate) type LinkEngine = MmioEngine<'static, Registers, Numbers>;

/// The engine of one link. An engine behind registers has a place of its own: a driver that holds
/// eight of them by value would not fit a kernel's stack during its creation.
#[derive(Debug)]
pub(crate) struct EngineRef {
    link: LinkId,
    platform: &'static Platform,
    /// `None`: the engine is operations of the platform.
    behind_registers: Option<&'static mut LinkEngine>,
    /// Staged memory may be invalidated while the peer may be reading it.
    safe_invalidate: bool,
    /// An operation has reported that the device does not work.
    gone: bool,
}

/// Whether a proof is that of a whole link.
pub(crate) const fn is_whole(proof: &Quiesced) -> bool {
    !OPERATIONS || proof.connection().is_none()
}

/// A link's number, for C.
const fn number_of(link: LinkId) -> u32 {
    link.index() as u32
}

/// A tag, for C.
const fn named(tag: Tag) -> lnd_tag {
    lnd_tag { index: tag.index, generation: tag.generation }
}

/// Converts C's report of how a descriptor came back. `None`: not a number of enum lnd_returned.
pub(crate) fn returned(number: u32) -> Option<Returned> {
    match number {
        n if n == lnd_returned::LND_RETURNED_OK as u32 => Some(Returned::Ok),
        n if n == lnd_returned::LND_RETURNED_UNTOUCHED as u32 => Some(Returned::Untouched),
        n if n == lnd_returned::LND_RETURNED_TOUCHED as u32 => Some(Returned::Touched),
        _ => None,
    }
}

impl EngineRef {
    pub const fn new(
        platform: &'static Platform,
        link: LinkId,
        behind_registers: Option<&'static mut LinkEngine>,
        flags: u32,
    ) -> Self {
        let safe_invalidate = flags & LND_CANCEL_FIRST == 0;
        Self { link, platform, behind_registers, safe_invalidate, gone: false }
    }

    const fn number(&self) -> u32 {
        number_of(self.link)
    }

    /// Posts through the platform's operation.
    fn post_by_operation(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        if !OPERATIONS {
            return Err(PostError::Invalid);
        }
        let none = Tag { index: 0, generation: 0 };
        let (motion, key) = match &bd.motion {
            Motion::Stage { .. } => (lnd_motion::LND_MOTION_STAGE, &Key::NONE),
            Motion::Pull { key, .. } => (lnd_motion::LND_MOTION_PULL, key),
            Motion::Expose { .. } => (lnd_motion::LND_MOTION_EXPOSE, &Key::NONE),
            Motion::Push { key, .. } => (lnd_motion::LND_MOTION_PUSH, key),
        };
        let posted = self.platform.engine_post(&lnd_bd {
            size: size_of::<lnd_bd>() as u32,
            link: self.number(),
            tag: named(bd.tag),
            source: named(bd.motion.remote().unwrap_or(none)),
            nid: bd.motion.peer().raw(),
            motion: motion as u32,
            length: bd.length,
            frags: frags(bd.fragments),
            nfrags: bd.fragments.len() as u32,
            key_len: key.len() as u32,
            key: key.as_bytes().as_ptr().cast(),
        });
        match posted {
            Some(n) if n == lnd_post::LND_POST_DONE as u32 => Ok(()),
            Some(n) if n == lnd_post::LND_POST_INVALID as u32 => Err(PostError::Invalid),
            Some(n) if n == lnd_post::LND_POST_FULL as u32 => Err(PostError::Full),
            Some(n) if n == lnd_post::LND_POST_GONE as u32 => {
                self.gone = true;
                Err(PostError::Gone)
            }
            _ => {
                // It may have been posted: its memory is lent until the link stops.
                self.platform.bug(c"engine_post() has returned no enum lnd_post");
                self.gone = true;
                Ok(())
            }
        }
    }
}

impl Engine for EngineRef {
    const CONNECTIONS: bool = OPERATIONS;
    const SAFE_INVALIDATE: bool = !OPERATIONS;
    // Registers pull by tag alone: see `has_keys`.
    const KEYS: bool = OPERATIONS;
    const PUSHES: bool = OPERATIONS;

    fn safe_invalidate(&self) -> bool {
        self.safe_invalidate
    }

    fn has_keys(&self) -> bool {
        self.platform.has_keys()
    }

    fn key(&self, tag: Tag) -> Key {
        let mut bytes = [0; LND_MAX_KEY];
        let len = self.platform.engine_key(self.number(), named(tag), &mut bytes);
        let key = bytes.get(..len).and_then(Key::new);
        if key.is_none() {
            self.platform.bug(c"engine_key() has returned more than LND_MAX_KEY");
        }
        key.unwrap_or(Key::NONE)
    }

    fn features(&self) -> Features {
        match &self.behind_registers {
            Some(engine) => engine.features(),
            None => Features::from_bits_retain(self.platform.engine_features(self.number())),
        }
    }

    fn post(&mut self, bd: &Bd<'_>) -> Result<(), PostError> {
        match &mut self.behind_registers {
            Some(engine) => engine.post(bd),
            None => self.post_by_operation(bd),
        }
    }

    fn doorbell(&mut self) {
        match &mut self.behind_registers {
            Some(engine) => engine.doorbell(),
            None => self.platform.engine_doorbell(self.number()),
        }
    }

    fn invalidate(&mut self, tag: Tag) {
        match &mut self.behind_registers {
            Some(engine) => engine.invalidate(tag),
            None => self.platform.engine_invalidate(self.number(), named(tag)),
        }
    }

    fn stop(&mut self) {
        match &mut self.behind_registers {
            Some(engine) => engine.stop(),
            None => self.platform.engine_stop(self.number()),
        }
    }

    fn quiesced(&mut self) -> Option<Quiesced> {
        if let Some(engine) = &mut self.behind_registers {
            return engine.quiesced();
        }
        if !self.platform.engine_quiesced(self.number()) {
            return None;
        }
        self.gone = false;
        // SAFETY: the platform reports the stop; its table's contract guarantees what that means.
        Some(unsafe { Quiesced::assert_stopped(self.link) })
    }

    fn connection(&self, peer: Nid) -> Option<NonZeroU32> {
        self.platform.connection(self.number(), peer.raw())
    }

    fn stop_connection(&mut self, it: Connection) {
        self.platform.connection_stop(number_of(it.link), it.peer.raw(), it.number);
    }

    fn connection_quiesced(&mut self, it: Connection) -> Option<Quiesced> {
        let link = number_of(it.link);
        if !self.platform.connection_quiesced(link, it.peer.raw(), it.number) {
            return None;
        }
        // SAFETY: the platform reports the stop; its table's contract guarantees what that means.
        Some(unsafe { Quiesced::assert_connection_stopped(it) })
    }

    fn is_stuck(&self) -> bool {
        self.behind_registers.as_ref().is_some_and(|engine| engine.is_stuck())
    }

    fn reclaim(&mut self, tag: Tag, proof: &Quiesced) -> Option<Returned> {
        match &mut self.behind_registers {
            Some(engine) => engine.reclaim(tag, proof),
            None => self.platform.engine_reclaim(self.number(), named(tag)).and_then(returned),
        }
    }

    fn reset(&mut self, proof: Quiesced) {
        // Connections first: the link's engine starts with none of them stopped.
        if Self::CONNECTIONS {
            let whole = (LND_NID_UNKNOWN, 0);
            let (nid, number) =
                proof.connection().map_or(whole, |it| (it.peer.raw(), it.number.get()));
            self.platform.connection_reset(number_of(proof.link()), nid, number);
        }
        if !is_whole(&proof) {
            return;
        }
        self.gone = false;
        match &mut self.behind_registers {
            Some(engine) => engine.reset(proof),
            None => self.platform.engine_reset(self.number()),
        }
    }

    fn is_gone(&self) -> bool {
        self.gone || self.behind_registers.as_ref().is_some_and(|engine| engine.is_gone())
    }

    fn link_up(&mut self) -> bool {
        match &mut self.behind_registers {
            Some(engine) => engine.link_up(),
            None => self.platform.engine_link_up(self.number()),
        }
    }
}
