// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Duplicates (R45): the stamp of a message, and the receiver's check of it.

use ::lnd_health::dedup::STAMP_BYTES;
use ::lnd_health::{Number, Stamp, WindowCheck};
use lnd_core::id::Incarnation;
use static_assertions::const_assert_eq;

use super::{lnd_health, Whole};
use crate::abi::{lnd_error, lnd_health_peer, lnd_stamp, lnd_window_check, LND_STAMP_BYTES};
use crate::errors::outcome;
use crate::input::{bytes, given, place, put, value};

const_assert_eq!(LND_STAMP_BYTES, STAMP_BYTES);

/// Converts a stamp for C; all 0: none.
pub(super) fn to_c(stamp: Option<Stamp>) -> lnd_stamp {
    stamp.map_or(lnd_stamp { from: 0, to: 0, number: 0 }, |stamp| lnd_stamp {
        from: stamp.from.raw(),
        to: stamp.to.map_or(0, Incarnation::raw),
        number: stamp.number.raw(),
    })
}

/// The content of a stamp from the network.
enum Read {
    /// The message has no number: it has no duplicate.
    Unnumbered,
    Stamp(Stamp),
    /// No node makes such a stamp.
    Wrong,
}

fn read(stamp: lnd_stamp) -> Read {
    if stamp.number == 0 {
        return Read::Unnumbered;
    }
    match (Incarnation::from_raw(stamp.from), Number::from_raw(stamp.number)) {
        (Some(from), Some(number)) => {
            Read::Stamp(Stamp { from, to: Incarnation::from_raw(stamp.to), number })
        }
        _ => Read::Wrong,
    }
}

/// lnd_stamp_write() - Writes a stamp into a message's header.
/// @stamp: the stamp.
/// @header: where its LND_STAMP_BYTES bytes are written; any alignment.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
#[no_mangle]
pub unsafe extern "C" fn lnd_stamp_write(stamp: *const lnd_stamp, header: *mut u8) -> lnd_error {
    let write = || {
        let stamp = given!(value(stamp))?;
        let mut raw = [0; STAMP_BYTES];
        let words = [stamp.from, stamp.to, stamp.number];
        for (place, word) in raw.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        given!(put(header.cast::<[u8; STAMP_BYTES]>(), raw))
    };
    outcome(write())
}

/// lnd_stamp_read() - Reads the stamp in a message's header.
/// @header: its LND_STAMP_BYTES bytes; any alignment.
/// @stamp: where the stamp is written.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN.
#[no_mangle]
pub unsafe extern "C" fn lnd_stamp_read(header: *const u8, stamp: *mut lnd_stamp) -> lnd_error {
    let read = || {
        place(stamp)?;
        let raw = given!(bytes(header, STAMP_BYTES))?;
        let mut words = raw.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
        let mut next = || words.next().and_then(Result::ok).unwrap_or(0);
        let read = lnd_stamp { from: next(), to: next(), number: next() };
        given!(put(stamp, read))
    };
    outcome(read())
}

/// lnd_health_peer_incarnation() - Reports the incarnation that a handshake with a peer has shown.
/// @health: the object.
/// @peer: the peer, which already has an interface.
/// @incarnation: its incarnation: @incarnation of struct lnd_peer_info when LND_EVENT_PEER reports
///               the peer as good.
///
/// Call it for each such event of each NI, before any other call about that incarnation,
/// lnd_health_arrived() included. The same incarnation again has no effect, nor has an earlier one
/// from a delayed handshake. After a new one, a message that may have reached an earlier one is not
/// resent.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE,
/// LND_E_ARGUMENT (0, or the peer has no interface).
#[no_mangle]
pub unsafe extern "C" fn lnd_health_peer_incarnation(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    incarnation: u64,
) -> lnd_error {
    let shown = |id, whole: &mut Whole| {
        let incarnation = Incarnation::from_raw(incarnation).ok_or(lnd_error::LND_E_ARGUMENT)?;
        let peer = whole.peer(id, peer)?;
        let interfaces = whole.health.peer(peer).map_or(0, |peer| peer.interfaces());
        if interfaces == 0 {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        whole.health.peer_incarnation(peer, incarnation);
        Ok(())
    };
    outcome(given!(lnd_health::with(health, shown)))
}

/// lnd_health_arrived() - Checks whether a peer's request is a duplicate.
/// @health: the object.
/// @peer: the sender of the message.
/// @stamp: the stamp in its header.
/// @check: where enum lnd_window_check is written: how to handle it.
///
/// Call it for a request of lnd_frame_in(), before the upper layer receives it. After
/// LND_WINDOW_FIRST the message is *coming*, until lnd_health_message_received() or
/// lnd_health_message_not_received(), one of which must follow. A message without a number is
/// always LND_WINDOW_FIRST.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_arrived(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    stamp: *const lnd_stamp,
    check: *mut u32,
) -> lnd_error {
    let arrived = |id, whole: &mut Whole| {
        place(check)?;
        let stamp = given!(value(stamp))?;
        let peer = whole.peer(id, peer)?;
        let found = match read(stamp) {
            Read::Unnumbered => WindowCheck::First,
            Read::Stamp(stamp) => whole.health.arrived(peer, stamp),
            Read::Wrong => WindowCheck::Stale,
        };
        let found = match found {
            WindowCheck::First => lnd_window_check::LND_WINDOW_FIRST,
            WindowCheck::Coming => lnd_window_check::LND_WINDOW_COMING,
            WindowCheck::Second => lnd_window_check::LND_WINDOW_SECOND,
            WindowCheck::Outside => lnd_window_check::LND_WINDOW_OUTSIDE,
            WindowCheck::Stale => lnd_window_check::LND_WINDOW_STALE,
        };
        given!(put(check, found as u32))
    };
    outcome(given!(lnd_health::with(health, arrived)))
}

/// lnd_health_message_received() - Reports that a first copy was received.
/// @health: the object.
/// @peer: the sender of the message.
/// @stamp: its stamp.
///
/// Call it when the finalize() of its lnd_recv() reports no error. Later copies are
/// LND_WINDOW_SECOND. The call has no effect on a message that is not coming.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_message_received(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    stamp: *const lnd_stamp,
) -> lnd_error {
    // SAFETY: the same contract.
    unsafe { ended(health, peer, stamp, true) }
}

/// lnd_health_message_not_received() - Reports that a first copy was not received.
/// @health: the object.
/// @peer: the sender of the message.
/// @stamp: its stamp.
///
/// Call it when the finalize() of its lnd_recv() reports an error, when lnd_recv() itself fails,
/// and when the request is refused. The next copy is LND_WINDOW_FIRST again. The call has no effect
/// on a message that is not coming.
///
/// Context: the owner's.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_BUSY, LND_E_FOREIGN, LND_E_STALE.
#[no_mangle]
pub unsafe extern "C" fn lnd_health_message_not_received(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    stamp: *const lnd_stamp,
) -> lnd_error {
    // SAFETY: the same contract.
    unsafe { ended(health, peer, stamp, false) }
}

/// # Safety
/// As the two calls above.
unsafe fn ended(
    health: *mut lnd_health,
    peer: lnd_health_peer,
    stamp: *const lnd_stamp,
    received: bool,
) -> lnd_error {
    let ended = |id, whole: &mut Whole| {
        let stamp = given!(value(stamp))?;
        let peer = whole.peer(id, peer)?;
        if let Read::Stamp(stamp) = read(stamp) {
            if received {
                whole.health.message_received(peer, stamp);
            } else {
                whole.health.message_not_received(peer, stamp);
            }
        }
        Ok(())
    };
    outcome(given!(lnd_health::with(health, ended)))
}
