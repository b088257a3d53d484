// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! This file names a connection: the smallest part of a link that can be stopped by itself.

use core::num::NonZeroU32;

use crate::base::id::{LinkId, Nid};

/// One peer's connection on one link, of an engine that can stop each of its connections (S0-10,
/// INV-3).
///
/// What an engine keeps of its connections, and what its reset does with it. A link's own reset
/// makes the connections anew that were asked to stop: no other call names them.
///
/// ```
/// use lnd_core::prelude::*;
/// use std::collections::{BTreeMap, BTreeSet};
///
/// #[derive(Default)]
/// struct Connections {
///     numbers: BTreeMap<Nid, u32>,
///     stopping: BTreeSet<Nid>,
/// }
///
/// impl Connections {
///     /// `Engine::connection`: counted from 1.
///     fn number(&self, peer: Nid) -> u32 {
///         self.numbers.get(&peer).copied().unwrap_or(1)
///     }
///     /// `Engine::stop_connection`.
///     fn stop(&mut self, connection: Connection) {
///         self.stopping.insert(connection.peer);
///     }
///     /// `Engine::reset`.
///     fn reset(&mut self, proof: Quiesced) {
///         let all = core::mem::take(&mut self.stopping);
///         let only = proof.connection().map(|it| it.peer);
///         for peer in all {
///             if only.is_some_and(|it| it != peer) {
///                 self.stopping.insert(peer);
///             } else {
///                 self.numbers.insert(peer, self.number(peer) + 1);
///             }
///         }
///     }
/// }
///
/// let (link, mut it) = (LinkId::new(0).unwrap(), Connections::default());
/// let peer = |raw| Nid::from_raw(raw).unwrap();
/// let of = |raw| Connection { link, peer: peer(raw), number: 1.try_into().unwrap() };
/// [1, 2, 3].map(|raw| it.stop(of(raw)));
/// // SAFETY: no engine exists.
/// it.reset(unsafe { Quiesced::assert_connection_stopped(of(1)) });
/// assert_eq!([1, 2, 3].map(|raw| it.number(of(raw).peer)), [2, 1, 1]);
/// // SAFETY: no engine exists.
/// it.reset(unsafe { Quiesced::assert_stopped(link) });
/// assert_eq!([1, 2, 3, 4].map(|raw| it.number(of(raw).peer)), [2, 2, 2, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Connection {
    /// The link.
    pub link: LinkId,
    /// The peer.
    pub peer: Nid,
    /// The engine's number of this connection with this peer on this link. A new connection has
    /// another number, so a late report names the one it is about.
    pub number: NonZeroU32,
}
