// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file creates the driver: every table is carved once, from memory whose size a function
//! returns (R61, R22).

use core::mem::MaybeUninit;

use super::{Driver, Run};
use crate::base::counters::Counters;
use crate::base::fragment::{Fragment, MAX_FRAGMENTS};
use crate::base::id::{Identity, Incarnation};
use crate::base::sync::AtomicU32;
use crate::base::time::Instant;
use crate::links::{Link, Links, Out};
use crate::machines::link::LinkGate;
use crate::machines::peer::PeerGate;
use crate::peers::{HellosRefused, Peer, Peers};
use crate::ports::{Engine, Ports};
use crate::shard::config::{Config, ConfigError};
use crate::slots::shared::{Shared, Slot};
use crate::slots::{FragmentLists, Owned, Rounds, Slots, Waiting};
use crate::table::arena::{Arena, ArenaFull, LINE};
use crate::table::claims::Claims;
use crate::table::deadlines::{Deadlines, Heaped, Timer};
use crate::table::nids::NidIndex;

impl From<ArenaFull> for ConfigError {
    fn from(_: ArenaFull) -> Self {
        Self::Memory
    }
}

impl Config {
    /// Bytes of memory that a driver of this configuration needs, for any alignment of the memory.
    ///
    /// Per slot: its line, what it needs while it waits, a timer and a bit. Per peer: a gate, a
    /// record, a timer and two places of the index. Per fragment list: its fragments.
    pub const fn bytes_needed(&self) -> usize {
        let slots = self.slots as usize;
        let peers = self.peers as usize;
        LINE + Arena::table_bytes::<Slot>(slots)
            + Arena::table_bytes::<AtomicU32>(Claims::words(slots))
            + Arena::table_bytes::<PeerGate>(peers)
            + Arena::table_bytes::<LinkGate>(self.links as usize)
            + Arena::table_bytes::<Shared<'static>>(1)
            + Arena::table_bytes::<Waiting>(slots)
            + Arena::table_bytes::<Peer>(peers)
            + Arena::table_bytes::<u32>(NidIndex::places(self.peers))
            + Arena::table_bytes::<Timer<Heaped>>(slots)
            + Arena::table_bytes::<Timer<Heaped>>(peers)
            + Arena::table_bytes::<[Fragment; MAX_FRAGMENTS]>(self.lists as usize)
            + Arena::table_bytes::<u16>(self.lists as usize)
            + Arena::table_bytes::<u8>(self.immediate_max as usize)
            + Arena::table_bytes::<Option<Out>>(self.connections as usize)
    }
}

impl<'m, P: Ports> Driver<'m, P> {
    /// Creates a driver in `memory`, with one engine per configured link.
    ///
    /// All links start down. The first [`on_time`](Self::on_time) opens those that work.
    ///
    /// # Errors
    /// [`ConfigError`]: nothing was created, and the ports are dropped.
    pub fn create(
        memory: &'m mut [MaybeUninit<u8>],
        config: Config,
        me: Identity,
        engines: impl IntoIterator<Item = P::Engine>,
        channel: P::Channel,
        payload: P::Memory,
        tracer: P::Tracer,
    ) -> Result<Self, ConfigError> {
        let tables = Tables::carve(memory, &config, me)?;
        let mut driver = Self::over(tables, config, me, channel, payload, tracer);
        driver.take_engines(engines)?;
        Ok(driver)
    }

    /// As [`create`](Self::create), directly in its final place: for stacks that have no room for a
    /// driver.
    ///
    /// # Errors
    /// As for `create`. The place then holds no driver.
    #[allow(clippy::too_many_arguments)]
    pub fn create_in<'p>(
        place: &'p mut MaybeUninit<Self>,
        memory: &'m mut [MaybeUninit<u8>],
        config: Config,
        me: Identity,
        engines: impl IntoIterator<Item = P::Engine>,
        channel: P::Channel,
        payload: P::Memory,
        tracer: P::Tracer,
    ) -> Result<&'p mut Self, ConfigError> {
        let tables = Tables::carve(memory, &config, me)?;
        // The driver is built in place, because firmware stacks are smaller than it.
        let begun = place.write(Self::over(tables, config, me, channel, payload, tracer));
        if let Err(error) = begun.take_engines(engines) {
            // SAFETY: written above.
            unsafe { place.assume_init_drop() };
            return Err(error);
        }
        // SAFETY: written above.
        Ok(unsafe { place.assume_init_mut() })
    }

    /// A driver without engines. Inlined, so that it is written directly to its caller's place.
    #[inline(always)]
    fn over(
        tables: Tables<'m>,
        config: Config,
        me: Identity,
        channel: P::Channel,
        memory: P::Memory,
        tracer: P::Tracer,
    ) -> Self {
        Self {
            me,
            config,
            shared: tables.shared,
            slots: tables.slots,
            peers: tables.peers,
            links: Links::new(tables.shared, tables.out),
            channel,
            memory,
            tracer,
            scratch: tables.scratch,
            replies: Rounds::EMPTY,
            hellos_refused: HellosRefused::default(),
            offer: false,
            run: Run::new(),
            quiet_until: Instant::ORIGIN,
            polled: Instant::ORIGIN,
            ran: Instant::ORIGIN,
            gap: config.granularity().times(2),
            awake: Instant::ORIGIN,
            counters: Counters::new(),
        }
    }

    fn take_engines(
        &mut self,
        engines: impl IntoIterator<Item = P::Engine>,
    ) -> Result<(), ConfigError> {
        for engine in engines {
            let features = engine.features();
            // The features are read once: both sides rely on what the hello announced (R22).
            if !self.links.push(Link::new(engine, features)) {
                return Err(ConfigError::Engines);
            }
        }
        if self.links.len() == self.config.links as usize {
            Ok(())
        } else {
            Err(ConfigError::Engines)
        }
    }
}

/// The parts of a driver's memory.
struct Tables<'m> {
    shared: &'m Shared<'m>,
    slots: Slots<'m>,
    peers: Peers<'m>,
    scratch: &'m mut [u8],
    out: &'m mut [Option<Out>],
}

impl<'m> Tables<'m> {
    fn carve(
        memory: &'m mut [MaybeUninit<u8>],
        config: &Config,
        me: Identity,
    ) -> Result<Self, ConfigError> {
        // Everything is checked before the first table is carved, so a refusal leaves nothing
        // behind (R67).
        config.check()?;
        let slots = config.slots as usize;
        let peers = config.peers as usize;
        let mut arena = Arena::new(memory);
        let (shared, states) = carve_shared(&mut arena, config, me.incarnation)?;
        let waiting = arena.table(slots, |_| Waiting::NOTHING)?;
        let timers = Deadlines::new(arena.table(slots, |_| Timer::UNARMED)?);
        let lists = arena.table(config.lists as usize, |_| [Fragment::default(); MAX_FRAGMENTS])?;
        let free = arena.table(config.lists as usize, |i| i as u16)?;
        let lists = FragmentLists::new(lists, free);
        let slots = Slots::new(shared, states, waiting, lists, timers, config.passive_slots);
        let table = arena.table(peers, |_| Peer::UNUSED)?;
        let index = NidIndex::new(arena.table(NidIndex::places(config.peers), |_| 0)?);
        let timers = Deadlines::new(arena.table(peers, |_| Timer::UNARMED)?);
        let peers = Peers::new(shared, table, index, timers, config.counting_from);
        let scratch = arena.table(config.immediate_max as usize, |_| 0_u8)?;
        let out = arena.table(config.connections as usize, |_| None)?;
        Ok(Self { shared, slots, peers, scratch, out })
    }
}

impl Incarnation {
    /// The first generation of this incarnation's tags.
    const fn first_generation(self) -> u32 {
        // Engines know tags and no incarnations. A pull with a tag of a former incarnation may
        // still be under way when this one stages something in the same slot. It must not find that
        // (R14, R15, LU-17841). A multiplication by an odd constant spreads the incarnations of a
        // counter far apart.
        (self.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
    }
}

fn carve_shared<'m>(
    arena: &mut Arena<'m>,
    config: &Config,
    incarnation: Incarnation,
) -> Result<(&'m Shared<'m>, Owned<'m>), ConfigError> {
    let slots = config.slots as usize;
    let first = incarnation.first_generation();
    let table = arena.table(slots, |_| Slot::counting_from(first))?;
    let (table, states) = Owned::part(table);
    let words = arena.table(Claims::words(slots), |i| AtomicU32::new(Claims::initial(slots, i)))?;
    // Ids of a former incarnation are stale too.
    let gate = |_| PeerGate::counting_from(config.counting_from, first);
    let gates = arena.table(config.peers as usize, gate)?;
    let links = arena.table(config.links as usize, |_| LinkGate::new())?;
    let shared = Shared::new(table, Claims::new(words, slots), gates, links);
    shared.alone().begin();
    Ok((arena.place(shared)?, states))
}
