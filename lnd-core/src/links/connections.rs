// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps the connections that are out of service.

use core::hash::{Hash, Hasher};

use super::recovery::Recovery;
use crate::base::id::{LinkId, Nid};
use crate::machines::link::{Connection, LinkState};

/// A connection that is out of service.
pub(crate) struct Out {
    pub connection: Connection,
    pub recovery: Recovery,
}

/// All connections that are out of service.
pub(super) struct Connections<'m> {
    out: &'m mut [Option<Out>],
    count: usize,
    /// The place whose turn was last.
    turn: usize,
}

impl<'m> Connections<'m> {
    /// No connection is out of service. As many can be at once as there are places, at most 255.
    pub const fn new(out: &'m mut [Option<Out>]) -> Self {
        Self { out, count: 0, turn: 0 }
    }

    /// Number of places.
    pub const fn places(&self) -> u8 {
        // A configuration has at most 255 places.
        self.out.len() as u8
    }

    /// Whether none is out of service.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The connection in a place.
    pub fn get(&self, place: u8) -> Option<&Out> {
        self.out.get(usize::from(place))?.as_ref()
    }

    /// The connection in a place.
    pub fn get_mut(&mut self, place: u8) -> Option<&mut Out> {
        self.out.get_mut(usize::from(place))?.as_mut()
    }

    /// The next place, behind the last one, whose connection walks over the slots.
    pub fn next_turn(&mut self) -> Option<u8> {
        let walks = |out: &Option<Out>| {
            let state = out.as_ref().map(|out| out.recovery.state);
            matches!(state, Some(LinkState::Stalled | LinkState::Reclaiming))
        };
        // The turn goes round the places, so that one long recovery does not hold up the others.
        let (before, behind) =
            self.out.split_at_checked(self.turn + 1).unwrap_or((&*self.out, &[]));
        let next = behind.iter().position(walks).map(|at| before.len() + at);
        self.turn = next.or_else(|| before.iter().position(walks))?;
        Some(self.turn as u8)
    }

    /// All connections that are out of service.
    pub fn iter(&self) -> impl Iterator<Item = &Out> {
        self.out.iter().flatten()
    }

    /// Hashes whose turn is next.
    pub fn hash_turn(&self, hasher: &mut impl Hasher) {
        self.turn.hash(hasher);
    }

    /// The place of the first connection that matches.
    pub fn find(&self, is_meant: impl Fn(&Connection) -> bool) -> Option<u8> {
        let meant = |out: &Option<Out>| out.as_ref().is_some_and(|out| is_meant(&out.connection));
        self.out.iter().position(meant).map(|place| place as u8)
    }

    /// The place of the connection with a peer on a link.
    pub fn find_to(&self, peer: Nid, link: LinkId) -> Option<u8> {
        self.find(|it| (it.peer, it.link) == (peer, link))
    }

    /// Takes a connection out of service. `None`: all places are in use.
    pub fn add(&mut self, connection: Connection) -> Option<u8> {
        // The place is the connection's name during its recovery. It does not move until it is
        // removed.
        let free = self.out.iter().position(Option::is_none)?;
        // It starts as `Up`: the caller applies `Failed` to it, as to a link.
        *self.out.get_mut(free)? = Some(Out { connection, recovery: Recovery::of(LinkState::Up) });
        self.count += 1;
        Some(free as u8)
    }

    /// Forgets a connection: it is in service again.
    pub fn remove(&mut self, place: u8) {
        let out = self.out.get_mut(usize::from(place));
        // Removing an empty place changes nothing: the count stays right.
        self.count -= usize::from(out.and_then(Option::take).is_some());
    }
}
