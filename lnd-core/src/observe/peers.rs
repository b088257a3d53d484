// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file keeps the last transitions of peers and links.

use crate::base::id::{LinkId, Nid, MAX_LINKS};
use crate::base::time::Instant;
use crate::machines::link::{Connection, LinkState};
use crate::machines::peer::HelloState;

/// Transitions that are kept of each peer and link.
pub const KEPT: usize = 8;
/// Places of the table that are looked at for one peer.
const PROBES: usize = 8;

/// The last values of something, with their times.
#[derive(Clone, Copy, Debug)]
struct Ring<T> {
    kept: [Option<(Instant, T)>; KEPT],
    written: usize,
}

impl<T: Copy> Ring<T> {
    const EMPTY: Self = Self { kept: [None; KEPT], written: 0 };

    fn push(&mut self, now: Instant, value: T) {
        if let Some(place) = self.kept.get_mut(self.written % KEPT) {
            *place = Some((now, value));
        }
        self.written = self.written.wrapping_add(1);
    }

    fn iter(&self) -> impl Iterator<Item = (Instant, T)> + '_ {
        let (newer, older) = self.kept.split_at_checked(self.written % KEPT).unwrap_or((&[], &[]));
        older.iter().chain(newer).flatten().copied()
    }
}

/// A transition of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerTransition {
    /// Its handshake.
    Handshake(HelloState),
    /// A connection with it.
    Connection(Connection, LinkState),
}

/// What is kept of one peer.
#[derive(Clone, Copy, Debug)]
pub struct PeerLog {
    nid: Option<Nid>,
    last: Instant,
    ring: Ring<PeerTransition>,
}

impl PeerLog {
    /// A log of no peer: what tables are filled with.
    pub const EMPTY: Self = Self { nid: None, last: Instant::ORIGIN, ring: Ring::EMPTY };

    /// The peer.
    pub const fn nid(&self) -> Option<Nid> {
        self.nid
    }

    /// The transitions that are kept, oldest first.
    pub fn transitions(&self) -> impl Iterator<Item = (Instant, PeerTransition)> + '_ {
        self.ring.iter()
    }

    /// Transitions in all, also those that are not kept.
    pub const fn written(&self) -> usize {
        self.ring.written
    }
}

/// The logs of peers and links, in the caller's table.
#[derive(Debug)]
pub(super) struct Logs<'m> {
    peers: &'m mut [PeerLog],
    links: [Ring<LinkState>; MAX_LINKS],
}

impl<'m> Logs<'m> {
    pub fn new(peers: &'m mut [PeerLog]) -> Self {
        Self { peers, links: [Ring::EMPTY; MAX_LINKS] }
    }

    /// The places that a peer may have.
    fn places(&self, nid: Nid) -> impl Iterator<Item = usize> {
        let len = self.peers.len();
        // The golden ratio spreads neighbouring addresses.
        let hash = (nid.raw().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        (0..PROBES.min(len))
            .map(move |probe| hash.wrapping_add(probe).checked_rem(len).unwrap_or(0))
    }

    /// The log of a peer.
    pub fn peer(&self, nid: Nid) -> Option<&PeerLog> {
        self.places(nid).filter_map(|at| self.peers.get(at)).find(|log| log.nid == Some(nid))
    }

    /// The transitions of a link, oldest first.
    pub fn link(&self, link: LinkId) -> impl Iterator<Item = (Instant, LinkState)> + '_ {
        self.links.get(link.index()).into_iter().flat_map(Ring::iter)
    }

    pub fn link_changed(&mut self, now: Instant, link: LinkId, state: LinkState) {
        if let Some(ring) = self.links.get_mut(link.index()) {
            ring.push(now, state);
        }
    }

    /// Notes a transition. If the peer has no log, that of the longest quiet one is taken.
    pub fn peer_changed(&mut self, now: Instant, nid: Nid, transition: PeerTransition) {
        let places = self.places(nid);
        let mut chosen: Option<(usize, Instant)> = None;
        for at in places {
            let Some(log) = self.peers.get(at) else { continue };
            if log.nid == Some(nid) {
                chosen = Some((at, now));
                break;
            }
            let quiet = if log.nid.is_none() { Instant::ORIGIN } else { log.last };
            if chosen.is_none_or(|(_, since)| quiet < since) {
                chosen = Some((at, quiet));
            }
        }
        let Some(log) = chosen.and_then(|(at, _)| self.peers.get_mut(at)) else { return };
        if log.nid != Some(nid) {
            *log = PeerLog { nid: Some(nid), ..PeerLog::EMPTY };
        }
        log.last = now;
        log.ring.push(now, transition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn the_last_transitions_of_each_peer_are_kept_and_the_quiet_one_makes_room() {
        let mut table = [PeerLog::EMPTY; 3];
        let mut logs = Logs::new(&mut table);
        let nid = |n| Nid::from_raw(n).unwrap();
        let states = [HelloState::Handshake, HelloState::Good, HelloState::Down];
        for n in 0..20u64 {
            let state = states[n as usize % 3];
            logs.peer_changed(Instant::from_nanos(n), nid(1), PeerTransition::Handshake(state));
        }
        let kept: Vec<_> =
            logs.peer(nid(1)).unwrap().transitions().map(|(at, _)| at.as_nanos()).collect();
        assert_eq!(kept, (12..20).collect::<Vec<_>>());
        for n in 2..=3 {
            let up = PeerTransition::Handshake(HelloState::Good);
            logs.peer_changed(Instant::from_nanos(100 + n), nid(n), up);
        }
        assert!((1..=3).all(|n| logs.peer(nid(n)).is_some()));
        let up = PeerTransition::Handshake(HelloState::Good);
        logs.peer_changed(Instant::from_nanos(200), nid(4), up);
        assert!(logs.peer(nid(1)).is_none(), "the longest quiet one");
        assert!((2..=4).all(|n| logs.peer(nid(n)).is_some_and(|log| log.written() == 1)));
        let mut none = Logs::new(&mut []);
        none.peer_changed(Instant::ORIGIN, nid(4), up);
        assert!(none.peer(nid(4)).is_none());
    }
}
