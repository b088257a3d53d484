// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This folder holds the links of one shard: their gates, their engines, and the recovery of each
//! link and connection.

mod connections;
mod domain;
mod recovery;

use core::hash::{Hash, Hasher};

use heapless::Vec;

use crate::base::id::{LinkId, Nid, MAX_LINKS};
use crate::base::time::Instant;
use crate::machines::link::{LinkGate, LinkState};
use crate::ports::{Engine, Features};
use crate::slots::shared::Shared;
use connections::Connections;
pub(crate) use connections::Out;
pub(crate) use domain::Domain;
pub(crate) use recovery::Recovery;

/// The owner's half of one link.
pub(crate) struct Link<E> {
    pub engine: E,
    pub features: Features,
    pub recovery: Recovery,
    pub doorbell_owed: bool,
    /// Another context has found the device gone. Cleared by the next proof.
    pub gone: bool,
}

impl<E> Link<E> {
    /// A link whose engine has just been reset. It opens when the engine reports that it is up.
    pub const fn new(engine: E, features: Features) -> Self {
        Self {
            engine,
            features,
            recovery: Recovery::of(LinkState::Down),
            doorbell_owed: false,
            gone: false,
        }
    }

    pub const fn state(&self) -> LinkState {
        self.recovery.state
    }

    /// Whether the engine processes descriptors, and new ones may be posted.
    pub const fn in_service(&self) -> bool {
        matches!(self.recovery.state, LinkState::Up)
    }
}

impl<E> Link<E> {
    /// Hashes the state on which its future depends.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        self.recovery.hash_state(hasher);
        (self.doorbell_owed, self.gone).hash(hasher);
    }
}

impl<E: Engine> Link<E> {
    /// Whether the device was found gone, by the engine or by another context.
    pub fn is_gone(&self) -> bool {
        self.gone || self.engine.is_gone()
    }

    /// Whether the engine may be asked for descriptors. It may until it is asked to stop, unless
    /// its device is gone.
    pub fn takes_invalidates(&self) -> bool {
        match self.recovery.state {
            LinkState::Up => true,
            // A stalled engine still answers, and its answers show which descriptors were touched.
            // A stopped one is not asked any more: its descriptors come back by the proof.
            LinkState::Stalled => !self.is_gone(),
            _ => false,
        }
    }

    /// Rings the doorbell if something was posted since the last ring; returns whether it did.
    pub fn ring(&mut self) -> bool {
        // The flag is cleared before the ring. A descriptor that is posted from then on sets it
        // again.
        // One ring covers every descriptor that was posted before it. A ring without a post would
        // cost a register access for nothing.
        let owed = core::mem::take(&mut self.doorbell_owed);
        if owed {
            self.engine.doorbell();
        }
        owed
    }
}

/// The links of one shard. Context: the shard's owner.
pub(crate) struct Links<'m, E> {
    shared: &'m Shared<'m>,
    list: Vec<Link<E>, MAX_LINKS>,
    /// Connections that are out of service.
    out: Connections<'m>,
    /// What all engines can do.
    features: u32,
    /// Whether every engine invalidates safely, where engines of this type may not.
    safe_invalidate: bool,
    /// The link that was chosen last where any link would do.
    next_link: usize,
    /// Until when a stall may come from the stop of a link.
    pub losses_until: Instant,
}

impl<'m, E: Engine> Links<'m, E> {
    /// No links. At most as many connections can be out of service at once as `out` has places.
    pub const fn new(shared: &'m Shared<'m>, out: &'m mut [Option<Out>]) -> Self {
        let out = Connections::new(out);
        Self {
            shared,
            list: Vec::new(),
            out,
            features: u32::MAX,
            safe_invalidate: true,
            next_link: 0,
            losses_until: Instant::ORIGIN,
        }
    }

    /// Adds a link. `false`: there are too many.
    pub fn push(&mut self, link: Link<E>) -> bool {
        // Both sides must agree on a feature whatever link a message uses, so only what all engines
        // can do is announced.
        self.features &= link.features.0;
        // Without keys a peer cannot be asked for a push.
        if !(E::PUSHES && link.engine.has_keys()) {
            self.features &= !Features::PUSHES.0;
        }
        self.safe_invalidate &= link.engine.safe_invalidate();
        self.list.push(link).is_ok()
    }

    /// Number of links.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// A link.
    #[inline]
    pub fn get(&self, id: LinkId) -> Option<&Link<E>> {
        self.list.get(id.index())
    }

    /// A link.
    #[inline]
    pub fn get_mut(&mut self, id: LinkId) -> Option<&mut Link<E>> {
        self.list.get_mut(id.index())
    }

    /// All links, in the order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Link<E>> {
        self.list.iter_mut()
    }

    /// The names of all links.
    pub fn ids(&self) -> impl Iterator<Item = LinkId> + use<E> {
        (0..self.list.len()).filter_map(LinkId::new)
    }

    /// The gate of a link.
    #[inline]
    pub fn gate(&self, id: LinkId) -> Option<&'m LinkGate> {
        self.shared.link(id)
    }

    /// Whether the gate of a link is open.
    #[inline]
    pub fn is_open(&self, id: LinkId) -> bool {
        self.gate(id).is_some_and(LinkGate::is_open)
    }

    /// Whether a peer can be reached on a link: its gate is open, and the connection is in service.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub fn leads_to(&self, peer: Nid, id: LinkId) -> bool {
        self.is_open(id) && !self.is_out(peer, id)
    }

    /// A link on which a peer can be reached: `preference`, else the next in turn.
    #[cfg_attr(feature = "compact", inline(never))]
    #[cfg_attr(not(feature = "compact"), inline)]
    pub fn way_to(&mut self, peer: Nid, preference: Option<LinkId>) -> Option<LinkId> {
        // A preferred link that is down fails at once. The caller decides whether another link will
        // do.
        if let Some(link) = preference {
            return self.leads_to(peer, link).then_some(link);
        }
        let link = self.next_in_turn()?;
        if self.leads_to(peer, link) {
            return Some(link);
        }
        self.way_after(peer)
    }

    /// The next open link in turn, after one that is closed.
    #[cold]
    #[inline(never)]
    fn way_after(&mut self, peer: Nid) -> Option<LinkId> {
        for _ in 1..self.list.len() {
            let link = self.next_in_turn()?;
            if self.leads_to(peer, link) {
                return Some(link);
            }
        }
        None
    }

    /// The next link in turn. The turn moves even if the link is closed, so that the load spreads
    /// over those that are open.
    #[inline]
    fn next_in_turn(&mut self) -> Option<LinkId> {
        let next = self.next_link + 1;
        self.next_link = if next < self.list.len() { next } else { 0 };
        LinkId::new(self.next_link)
    }

    /// Which link comes after the one that was chosen last.
    #[inline]
    pub const fn turn(&self) -> usize {
        self.next_link
    }

    /// Sets the turn back after a refused call. Refusals come at a steady rate from a host that
    /// keeps its slots full: if they took turns, some links would carry nothing.
    #[cold]
    pub fn set_turn_back(&mut self, turn: usize) {
        self.next_link = turn;
    }

    /// `preference` if the peer can be reached on it, else any link on which it can.
    pub fn any_way_to(&mut self, peer: Nid, preference: Option<LinkId>) -> Option<LinkId> {
        self.way_to(peer, preference).or_else(|| self.way_to(peer, None))
    }

    /// Whether any link is open.
    pub fn any_open(&self) -> bool {
        self.ids().any(|id| self.is_open(id))
    }

    /// Whether a message to a peer could be sent on any link.
    pub fn any_leads_to(&self, peer: Nid) -> bool {
        self.ids().any(|id| self.leads_to(peer, id))
    }

    /// Whether some connection is out of service.
    #[inline]
    pub fn any_connection_out(&self) -> bool {
        // A constant for engines without connections: the compiler removes everything behind it.
        E::CONNECTIONS && !self.out.is_empty()
    }

    /// Whether a peer's connection on a link is out of service.
    #[inline]
    pub fn is_out(&self, peer: Nid, link: LinkId) -> bool {
        self.any_connection_out() && self.out.find_to(peer, link).is_some()
    }

    /// Whether some link or connection is not in service.
    pub fn any_out(&self) -> bool {
        self.any_connection_out() || self.list.iter().any(|link| !link.in_service())
    }

    /// Whether work on some link or connection is due at once: a doorbell is owed, or a recovery
    /// can advance.
    pub fn any_goes_on(&self) -> bool {
        let posters_out = |id| self.gate(id).is_some_and(LinkGate::posters_out);
        let step =
            |out: &Out| matches!(out.recovery.state, LinkState::Stalled | LinkState::Reclaiming);
        if self.any_connection_out() && self.out.iter().any(step) {
            return true;
        }
        // A stalled link can advance only once its poster is out. Before that a call would find
        // nothing to do.
        self.ids().zip(&self.list).any(|(id, link)| match link.state() {
            _ if link.doorbell_owed => true,
            LinkState::Stalled => posters_out(id),
            LinkState::Reclaiming => true,
            LinkState::Up | LinkState::Stopping | LinkState::Failed | LinkState::Down => false,
        })
    }

    /// Whether the device of a link in service was found gone, and the link has not failed yet. An
    /// engine may find that at any time.
    pub fn any_gone(&self) -> bool {
        // No event announces this, so `on_time` and the next due time both check it.
        self.list.iter().any(|link| link.in_service() && link.is_gone())
    }

    /// Whether every engine has stopped and has been reset.
    pub fn all_down(&self) -> bool {
        self.list.iter().all(|link| link.state() == LinkState::Down)
    }

    /// Whether staged memory may be invalidated while its peer may be pulling it.
    #[inline]
    pub const fn safe_invalidate(&self) -> bool {
        // A constant for engine types that invalidate safely: the code for CANCEL is then not in
        // the image.
        E::SAFE_INVALIDATE || self.safe_invalidate
    }

    /// What all engines can do. It is announced to peers, and this side follows it.
    #[inline]
    pub const fn features(&self) -> u32 {
        if self.safe_invalidate() {
            // The bit belongs to the driver. A device that sets it by mistake must not promise
            // answers to CANCEL.
            self.features & !Features::CANCEL.0
        } else {
            self.features | Features::CANCEL.0
        }
    }

    /// Whether a peer that has announced `theirs` answers CANCEL, and this side sends it.
    #[inline]
    pub const fn cancels(&self, theirs: u32) -> bool {
        !self.safe_invalidate() && theirs & Features::CANCEL.0 != 0
    }

    /// Whether the engines of both sides report the end of a pull to its source. `theirs` is what
    /// the peer has announced. Both sides must reach the same answer on every link.
    #[inline]
    pub const fn signalled(&self, theirs: u32) -> bool {
        // If the sides disagreed, one would wait for a PUT_DONE that the other never sends.
        self.features & theirs & Features::REMOTE_COMPLETION.0 != 0
    }

    /// Whether the engine of a link reports the end of a pull to its source.
    #[inline]
    pub fn reports_pulls(&self, link: LinkId) -> bool {
        self.get(link).is_some_and(|it| it.features.contains(Features::REMOTE_COMPLETION))
    }

    /// Whether the engines of both sides push. `theirs` is what the peer has announced. The answer
    /// to a GET then needs no descriptor of the peer's to be read from (S3-11).
    #[inline]
    pub const fn pushes(&self, theirs: u32) -> bool {
        // Exposed memory comes back by a CANCEL where engines do not invalidate safely. A side that
        // does sends none and answers none. Both sides must reach the same answer.
        let alike = (self.features() ^ theirs) & Features::CANCEL.0 == 0;
        E::PUSHES && alike && self.features & theirs & Features::PUSHES.0 != 0
    }

    /// Hashes the state on which the links' future depends.
    pub fn hash_state(&self, hasher: &mut impl Hasher) {
        for (id, link) in self.ids().zip(&self.list) {
            self.gate(id).map(LinkGate::is_open).hash(hasher);
            link.hash_state(hasher);
        }
        for out in self.out.iter() {
            out.connection.hash(hasher);
            out.recovery.hash_state(hasher);
        }
        self.out.hash_turn(hasher);
        self.next_link.hash(hasher);
        self.losses_until.hash(hasher);
    }
}
