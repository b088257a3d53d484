// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Makes and reads handles. Before a handle is used, its kind, its NI and its use of the slot are
//! checked (R14).

use lnd_core::id::{Nid, PeerId, Tag};

use crate::abi::{lnd_error, lnd_message, lnd_peer, lnd_request, lnd_transfer};

// Arbitrary, and not zero: a zeroed struct is no handle.
const TRANSFER: u32 = 0x5446_0001;
const REQUEST: u32 = 0x5251_0002;
const MESSAGE: u32 = 0x4d47_0003;
const PEER: u32 = 0x5052_0004;
const OFFERED: u32 = 0x4f46_0005;

macro_rules! handle {
    ($make:ident, $read:ident, $name:ident, $kind:ident) => {
        pub(crate) const fn $make(ni: u32, tag: Tag) -> $name {
            $name { index: tag.index, generation: tag.generation, ni, kind: $kind }
        }

        pub(crate) fn $read(ni: u32, handle: $name) -> Result<Tag, lnd_error> {
            if handle.kind != $kind {
                return Err(lnd_error::LND_E_STALE);
            }
            if handle.ni != ni {
                return Err(lnd_error::LND_E_FOREIGN);
            }
            Ok(Tag { index: handle.index, generation: handle.generation })
        }
    };
}

handle!(transfer, of_transfer, lnd_transfer, TRANSFER);
handle!(request, of_request, lnd_request, REQUEST);
handle!(message, of_message, lnd_message, MESSAGE);
// Names a link instead of a slot until the request is decided.
handle!(offered, of_offered, lnd_request, OFFERED);

/// Whether a handle names a request that was not kept.
pub(crate) const fn is_offered(handle: lnd_request) -> bool {
    handle.kind == OFFERED
}

pub(crate) const fn peer(ni: u32, nid: Nid, id: PeerId) -> lnd_peer {
    let (index, generation) = (id.index() as u32, id.generation());
    lnd_peer { nid: nid.raw(), index, generation, ni, kind: PEER }
}

pub(crate) fn of_peer(ni: u32, handle: lnd_peer) -> Result<PeerId, lnd_error> {
    if handle.kind != PEER {
        return Err(lnd_error::LND_E_STALE);
    }
    if handle.ni != ni {
        return Err(lnd_error::LND_E_FOREIGN);
    }
    Ok(PeerId::new(handle.index, handle.generation))
}
