// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Remote reads, by which a host finds out whether a peer is up (S2-4 to S2-11, R56): the
//! transport's side of `lnd_prober_ended()`.

use lnd_dma::read::{ReadEnd, ReadError, ReadKind, RemoteReads};

use super::error::{lnd_error, outcome};
use super::links::memory_of;
use super::memory::{given, object, put, put_if};
use super::node::{lnd_soft_node, Reads};
use crate::set::NodeSet;

// Numbers of `enum lnd_probe_kind` and `enum lnd_probe_end` in lnd.h: what the prober's actions ask
// for, and what it is told.
const ZERO_READ: u32 = 0;
const ILLEGAL_READ: u32 = 1;
const PUBLISHED_WORD: u32 = 2;
const NOOP: u32 = 3;
const SUCCESS: u32 = 0;
const ACCESS_ERROR: u32 = 1;
const RETRY_EXCEEDED: u32 = 2;
const OTHER: u32 = 3;

/// Applies `of` to the remote reads of one of the node's links. The first call takes control of
/// them.
///
/// # Safety
/// As for [`object`].
unsafe fn enter<T>(
    node: *mut lnd_soft_node,
    link: u32,
    of: impl FnOnce(&mut Reads) -> T,
) -> Result<T, lnd_error> {
    // SAFETY: the same promise.
    let node = unsafe { object(node) }?;
    let memory = memory_of(&node.fabric, node.number, link)?;
    let mut all = node.reads.enter()?;
    let its = all.get_mut(link as usize).ok_or(lnd_error::LND_E_LINK)?;
    Ok(of(its.get_or_insert_with(|| RemoteReads::new(memory))))
}

impl From<ReadError> for lnd_error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Busy => Self::LND_E_WAIT,
            ReadError::NotSupported => Self::LND_E_UNSUPPORTED,
            ReadError::BadNode => Self::LND_E_ARGUMENT,
        }
    }
}

/// lnd_soft_publish() - Lets other nodes read a word of this node.
/// @node: this host's node, prepared.
/// @link: the link.
/// @key: the word's key; 0: no word is published any more.
/// @word: the word.
///
/// For the published words of the prober (LND_PROBE_PUBLISHED_WORD).
///
/// Context: one at a time for a node, with the other calls about remote reads.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING (not prepared),
/// LND_E_BUSY (another context is in such a call).
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_publish(
    node: *mut lnd_soft_node,
    link: u32,
    key: u32,
    word: u32,
) -> lnd_error {
    outcome(given!(enter(node, link, |reads: &mut Reads| reads.publish(key, word))))
}

/// lnd_soft_read_begin() - Begins a remote read, which shows whether a peer is up.
/// @node: this host's node, prepared.
/// @link: the link. Each link has one remote read at a time.
/// @peer: the number of the other node, from lnd_soft_node_of().
/// @kind: enum lnd_probe_kind, as in lnd_action.probe.
/// @key: for LND_PROBE_PUBLISHED_WORD the word's key, which is not 0; else 0.
/// @ring: where the set of nodes to ring is written (the node itself), or NULL.
///
/// The read needs no receive buffer, no descriptor and no processor of the other side. The engine
/// answers at the latest after its retry bound, unless its own link has no clock: the caller sets a
/// bound of its own and then calls lnd_soft_read_give_up().
///
/// Context: as lnd_soft_publish().
/// Return: LND_OK; LND_E_WAIT (the link's last read has not ended); LND_E_UNSUPPORTED (the engine
/// has no reads of this kind); LND_E_ARGUMENT (no such node, kind or key); LND_E_NULL, LND_E_ALIGN,
/// LND_E_NI, LND_E_LINK, LND_E_RING (not prepared), LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_read_begin(
    node: *mut lnd_soft_node,
    link: u32,
    peer: u32,
    kind: u32,
    key: u32,
    ring: *mut u64,
) -> lnd_error {
    let begin = || {
        let kind = kind_of(kind, key)?;
        given!(put_if(ring, NodeSet::EMPTY.bits()))?;
        let mine = given!(object(node))?;
        if peer >= mine.fabric.shape().nodes {
            return Err(lnd_error::LND_E_ARGUMENT);
        }
        given!(enter(node, link, |reads: &mut Reads| reads.begin(peer, kind)))??;
        given!(put_if(ring, NodeSet::EMPTY.with(mine.number).bits()))
    };
    outcome(begin())
}

/// lnd_soft_read_ended() - The end of a link's remote read, once.
/// @node: this host's node.
/// @link: the link.
/// @end: where the end is written: enum lnd_probe_end, for lnd_prober_ended().
/// @word: where the word that was read is written, 0 if none was, or NULL.
///
/// Context: as lnd_soft_publish().
/// Return: LND_OK; LND_E_WAIT (it has not ended); LND_E_END (none is under way); LND_E_NULL,
/// LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_read_ended(
    node: *mut lnd_soft_node,
    link: u32,
    end: *mut u32,
    word: *mut u32,
) -> lnd_error {
    let ended = || {
        // A place that cannot be written is found before the end is taken, which comes once.
        given!(put(end, OTHER))?;
        given!(put_if(word, 0))?;
        let found = given!(enter(node, link, |reads: &mut Reads| {
            let waits = reads.is_under_way();
            reads.poll().ok_or(if waits { lnd_error::LND_E_WAIT } else { lnd_error::LND_E_END })
        }))??;
        let (found, read) = end_of(found);
        given!(put(end, found))?;
        given!(put_if(word, read))
    };
    outcome(ended())
}

/// lnd_soft_read_give_up() - Stops waiting for a link's remote read.
/// @node: this host's node.
/// @link: the link.
///
/// The next read can begin after the engine has answered this one.
///
/// Context: as lnd_soft_publish().
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_NI, LND_E_LINK, LND_E_RING, LND_E_BUSY.
#[no_mangle]
pub unsafe extern "C" fn lnd_soft_read_give_up(node: *mut lnd_soft_node, link: u32) -> lnd_error {
    outcome(given!(enter(node, link, RemoteReads::give_up)))
}

/// The read of an `enum lnd_probe_kind` of `lnd.h`.
const fn kind_of(kind: u32, key: u32) -> Result<ReadKind, lnd_error> {
    match (kind, key) {
        (ZERO_READ, 0) => Ok(ReadKind::Zero),
        (ILLEGAL_READ, 0) => Ok(ReadKind::Illegal),
        (PUBLISHED_WORD, 1..) => Ok(ReadKind::Published(key)),
        // A message, which this transport's host sends like any other.
        (NOOP, 0) => Err(lnd_error::LND_E_UNSUPPORTED),
        _ => Err(lnd_error::LND_E_ARGUMENT),
    }
}

/// The `enum lnd_probe_end` of an end, and the word that was read.
fn end_of(end: ReadEnd) -> (u32, u32) {
    match end {
        ReadEnd::Ok(word) => (SUCCESS, word),
        ReadEnd::AccessError => (ACCESS_ERROR, 0),
        ReadEnd::RetryExhausted => (RETRY_EXCEEDED, 0),
        ReadEnd::Aborted => (OTHER, 0),
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

    #[test]
    fn kinds_and_ends_have_the_numbers_of_the_drivers_abi() {
        let theirs = include_str!("../../../src/abi/health.rs");
        for (name, ours) in [
            ("LND_PROBE_ZERO_READ", ZERO_READ),
            ("LND_PROBE_ILLEGAL_READ", ILLEGAL_READ),
            ("LND_PROBE_PUBLISHED_WORD", PUBLISHED_WORD),
            ("LND_PROBE_NOOP", NOOP),
            ("LND_PROBE_SUCCESS", SUCCESS),
            ("LND_PROBE_ACCESS_ERROR", ACCESS_ERROR),
            ("LND_PROBE_RETRY_EXCEEDED", RETRY_EXCEEDED),
            ("LND_PROBE_OTHER", OTHER),
        ] {
            assert!(theirs.contains(&format!("    {name} = {ours},\n")), "{name}");
        }
    }
}
