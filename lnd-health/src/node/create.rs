// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Creation in the caller's memory (R61).

use super::peers::Peer;
use super::tally::Tally;
use super::Health;
use crate::allowance::Allowance;
use crate::config::{HealthConfig, HealthConfigError};
use crate::endpoint::Endpoint;
use crate::ids::{MAX_NETS, NONE};
use crate::jitter::Jitter;
use crate::journal::{Entry, Journal};
use crate::ni::Ni;
use crate::probe_kind::ProbeKinds;
use crate::prober::Prober;
use crate::reconnect::{Attempt, Reconnect};
use crate::recovery::Recovery;
use crate::select::{Net, Route};
use core::mem::MaybeUninit;
use lnd_core::arena::{Arena, ArenaFull, LINE};
use lnd_core::lanes::Timer;
use lnd_core::time::Instant;

impl From<ArenaFull> for HealthConfigError {
    fn from(_: ArenaFull) -> Self {
        Self::Memory
    }
}

impl HealthConfig {
    /// Bytes of memory for [`Health::create`], alignment included.
    pub const fn bytes_needed(&self) -> usize {
        let (locals, nis) = (self.locals as usize, self.peer_nis as usize);
        Arena::table_bytes::<Ni>(locals)
            + Arena::table_bytes::<Ni>(nis)
            + Arena::table_bytes::<Peer>(self.peers as usize)
            + Arena::table_bytes::<Route>(self.routes as usize)
            + Arena::table_bytes::<Option<Entry>>(self.journal as usize)
            + Arena::table_bytes::<Timer>(locals + nis)
            + 2 * Arena::table_bytes::<Timer>(nis)
            + Arena::table_bytes::<Endpoint>(nis)
            + Arena::table_bytes::<Attempt>(nis)
            + LINE
    }
}

impl<'m> Health<'m> {
    /// A node's health, without interfaces and peers, at the time `now`.
    ///
    /// # Errors
    /// A configuration that [`HealthConfig::check`] refuses, or less memory than
    /// [`HealthConfig::bytes_needed`].
    pub fn create(
        memory: &'m mut [MaybeUninit<u8>],
        config: HealthConfig,
        now: Instant,
    ) -> Result<Self, HealthConfigError> {
        config.check()?;
        let (locals, nis) = (usize::from(config.locals), config.peer_nis as usize);
        let mut arena = Arena::new(memory);
        let arena = &mut arena;
        let queue = |arena: &mut Arena<'m>, count| arena.table(count, |_| Timer::UNARMED);
        Ok(Self {
            locals: arena.table(locals, |_| Ni::UNUSED)?,
            peer_nis: arena.table(nis, |index| Ni::UNUSED.linked(NONE, after(index, nis)))?,
            peers: arena.table(config.peers as usize, |index| {
                Peer::unused(after(index, config.peers as usize))
            })?,
            routes: arena.table(usize::from(config.routes), |_| Route::UNUSED)?,
            journal: Journal::new(arena.table(config.journal as usize, |_| None)?),
            recovery: Recovery::new(queue(arena, locals.saturating_add(nis))?, config.recovery),
            prober: Prober::new(
                queue(arena, nis)?,
                arena.table(nis, |_| Endpoint::UNUSED)?,
                config.probe,
            ),
            reconnect: Reconnect::new(
                queue(arena, nis)?,
                arena.table(nis, |_| Attempt::None)?,
                config.reconnect,
            ),
            nets: [Net::UNUSED; MAX_NETS],
            free_peer: 0,
            last_free_peer: config.peers.saturating_sub(1),
            free_peer_ni: 0,
            kinds: ProbeKinds::NONE,
            allowance: Allowance::new(config.action_every, config.action_burst, now),
            jitter: Jitter::new(config.seed),
            remembers: false,
            epoch: 1,
            turn: 1,
            recoveries: 0,
            poll_turn: 0,
            stopping: false,
            tally: Tally::new(),
            config,
        })
    }
}

/// The list of unused entries at the start: each links to the one after it.
const fn after(index: usize, count: usize) -> u32 {
    if index + 1 < count {
        index as u32 + 1
    } else {
        NONE
    }
}
