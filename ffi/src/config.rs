// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A caller's configuration, checked and converted; and ring memory of that size.

use core::ffi::{c_void, CStr};
use core::mem::size_of;
use core::ptr::NonNull;

use lnd_core::config::Config;
use lnd_core::time::Span;
use lnd_core::transfer::Policy;
use lnd_dma::memory::{LinkGeometry, LinkMemory, MAX_NODE};
use lnd_shortmsg::wire::layout::{IMMEDIATE_LEN, MAX_FRAME, REQ_LEN};

use crate::abi::{
    lnd_config, lnd_error, lnd_policy, lnd_ring, LND_CHECKSUM, LND_FLAGS, LND_MAX_HEADER,
    LND_MAX_KEY, LND_MAX_LINKS,
};
use crate::errors::{field_of, outcome, Unfit};
use crate::input::{given, input, put};
use crate::platform::OPERATIONS;
use crate::version::{LND_ABI_OLDEST, LND_ABI_VERSION};

/// Alignment of an NI's memory and of ring memory.
pub const LND_ALIGN: usize = 64;

/// Whether the library supports callers of this version of the ABI.
pub(crate) fn known(abi_version: u32) -> bool {
    (LND_ABI_OLDEST..=LND_ABI_VERSION).contains(&abi_version)
}

/// lnd_config_init() - Fills in a configuration with the usual times.
/// @config: the configuration; every byte of it is written.
/// @abi_version: LND_ABI_VERSION.
/// @slots: transfers at once.
/// @peers: peers in the table.
/// @links: links.
///
/// Writes 0 to @nid, @incarnation and @rings: the caller fills them in afterwards.
/// lnd_config_fault() checks the numbers; this call does not. The other fields become:
///
///   passive_slots   @slots / 4, at least 1
///   lists           @slots, at most 1,024
///   immediate_max   4,096 bytes
///   depth           8
///   pulls           8
///   hello_tries     5
///   batch           256
///   connections     0
///   policy          LND_POLICY_SEED
///   flags           LND_CHECKSUM
///   drain_bound     5 s
///   hello_timeout   1 s
///   credit_stall    2 s
///   link_poll       1 ms
///   decision_bound  50 s
///
/// Add a flag with |=. A plain assignment of another flag drops LND_CHECKSUM: the node's frames
/// then have no checksum, and a node that has LND_CHECKSUM refuses them.
///
/// Context: any.
/// Return: LND_OK, LND_E_NULL, LND_E_ALIGN, LND_E_VERSION.
#[no_mangle]
pub unsafe extern "C" fn lnd_config_init(
    config: *mut lnd_config,
    abi_version: u32,
    slots: u32,
    peers: u32,
    links: u32,
) -> lnd_error {
    if !known(abi_version) {
        return lnd_error::LND_E_VERSION;
    }
    let usual = Config::new(slots, peers, links.min(255) as u8);
    let filled = lnd_config {
        size: size_of::<lnd_config>() as u32,
        abi_version,
        nid: 0,
        incarnation: 0,
        slots,
        passive_slots: usual.passive_slots,
        peers,
        links,
        lists: u32::from(usual.lists),
        immediate_max: usual.immediate_max,
        depth: u32::from(usual.depth),
        hello_tries: u32::from(usual.hello_tries),
        batch: usual.batch,
        policy: lnd_policy::LND_POLICY_SEED as u32,
        flags: LND_CHECKSUM,
        pulls: u32::from(usual.pulls),
        connections: u32::from(usual.connections),
        reserved: 0,
        drain_bound: usual.drain_bound.as_nanos(),
        hello_timeout: usual.hello_timeout.as_nanos(),
        credit_stall: usual.credit_stall.as_nanos(),
        link_poll: usual.link_poll.as_nanos(),
        decision_bound: usual.decision_bound.as_nanos(),
        rings: [lnd_ring { base: core::ptr::null_mut(), len: 0 }; LND_MAX_LINKS],
    };
    outcome(given!(put(config, filled)))
}

/// Bytes of the longest frame: an inline message, or a request if hardly any payload goes inline.
pub(crate) fn frame_bytes(config: &Config) -> usize {
    let inline = IMMEDIATE_LEN + config.immediate_max as usize;
    // The longest key: a node of another build may send one.
    let request = REQ_LEN + LND_MAX_KEY;
    let body = if inline < request { request } else { inline };
    body + LND_MAX_HEADER
}

/// lnd_frame_size() - Bytes of the longest frame that an NI of this configuration sends.
/// @config: the configuration; @nid, @incarnation and @rings do not matter.
///
/// lnd_ops.send must take frames of that many bytes. If the channel takes less, lower
/// @immediate_max: each byte of it is a byte of the frame, down to 224 bytes. lnd_soft_frame_max()
/// returns the limit of lnd_soft.
///
/// Context: any.
/// Return: the bytes, or 0 if the configuration is not valid.
#[no_mangle]
pub unsafe extern "C" fn lnd_frame_size(config: *const lnd_config) -> usize {
    match given!(input(config)).and_then(|it| Ok(understand(it)?)) {
        Ok(config) => frame_bytes(&config),
        Err(_) => 0,
    }
}

/// Converts a field of C's width to the core's width.
fn narrow<T: TryFrom<u32>>(field: &'static CStr, value: u32) -> Result<T, Unfit> {
    T::try_from(value).map_err(|_| Unfit { error: lnd_error::LND_E_CONFIG, field })
}

/// Checks a caller's configuration as a whole and converts it.
pub(crate) fn understand(config: &lnd_config) -> Result<Config, Unfit> {
    let unfit = |field| Err(Unfit { error: lnd_error::LND_E_CONFIG, field });
    if !known(config.abi_version) {
        return Err(Unfit { error: lnd_error::LND_E_VERSION, field: c"abi_version" });
    }
    let policy = match config.policy {
        p if p == lnd_policy::LND_POLICY_SEED as u32 => Policy::Seed,
        p if p == lnd_policy::LND_POLICY_O2IB as u32 => Policy::O2ibCompat,
        _ => return unfit(c"policy"),
    };
    if config.flags & !LND_FLAGS != 0 {
        return unfit(c"flags");
    }
    if config.reserved != 0 {
        return unfit(c"reserved");
    }
    if config.immediate_max as usize > MAX_FRAME - IMMEDIATE_LEN - LND_MAX_HEADER {
        return unfit(c"immediate_max");
    }
    if config.connections != 0 && !OPERATIONS {
        return Err(Unfit { error: lnd_error::LND_E_UNSUPPORTED, field: c"connections" });
    }
    let meant = Config {
        connections: narrow(c"connections", config.connections)?,
        slots: config.slots,
        passive_slots: config.passive_slots,
        peers: config.peers,
        links: narrow(c"links", config.links)?,
        lists: narrow(c"lists", config.lists)?,
        immediate_max: config.immediate_max,
        depth: narrow(c"depth", config.depth)?,
        pulls: narrow(c"pulls", config.pulls)?,
        drain_bound: Span::from_nanos(config.drain_bound),
        hello_timeout: Span::from_nanos(config.hello_timeout),
        hello_tries: narrow(c"hello_tries", config.hello_tries)?,
        credit_stall: Span::from_nanos(config.credit_stall),
        link_poll: Span::from_nanos(config.link_poll),
        decision_bound: Span::from_nanos(config.decision_bound),
        batch: config.batch,
        policy,
        counting_from: 0,
    };
    meant.check().map_err(|why| Unfit { error: lnd_error::LND_E_CONFIG, field: field_of(why) })?;
    Ok(meant)
}

fn geometry(config: &Config) -> LinkGeometry {
    LinkGeometry { descriptors: config.slots, lists: u32::from(config.lists) }
}

/// lnd_ring_size() - Bytes of ring memory that each link of this configuration needs.
/// @config: the configuration; @nid, @incarnation and @rings do not matter.
///
/// Context: any.
/// Return: the bytes, or 0 if the configuration is not valid.
#[no_mangle]
pub unsafe extern "C" fn lnd_ring_size(config: *const lnd_config) -> usize {
    match given!(input(config)).and_then(|it| Ok(understand(it)?)) {
        Ok(config) => geometry(&config).bytes_needed(),
        Err(_) => 0,
    }
}

/// lnd_ring_format() - Prepares a link's ring memory before its engine is started.
/// @config: the configuration.
/// @base: the memory, aligned to LND_ALIGN; every byte in use is written.
/// @len: its bytes, at least lnd_ring_size().
/// @node: this node's number in the fabric, 0 to 255.
/// @features: the engine's capabilities: LND_FEATURE_REMOTE_COMPLETION and so on.
///
/// Not for memory that a fabric has formatted, nor for a device that is running.
///
/// Context: any, alone with the memory.
/// Return: LND_OK, LND_E_NULL, LND_E_SIZE, LND_E_ALIGN, LND_E_CONFIG, LND_E_VERSION, LND_E_ARGUMENT
/// (@node), LND_E_RING, LND_E_UNSUPPORTED (@connections, where the library has none).
#[no_mangle]
pub unsafe extern "C" fn lnd_ring_format(
    config: *const lnd_config,
    base: *mut c_void,
    len: usize,
    node: u32,
    features: u32,
) -> lnd_error {
    let config = match given!(input(config)).and_then(|it| Ok(understand(it)?)) {
        Ok(config) => config,
        Err(error) => return error,
    };
    let Some(start) = NonNull::new(base.cast::<u8>()) else { return lnd_error::LND_E_NULL };
    if base as usize % LND_ALIGN != 0 {
        return lnd_error::LND_E_ALIGN;
    }
    if node > MAX_NODE {
        return lnd_error::LND_E_ARGUMENT;
    }
    // SAFETY: by the contract of the ABI the memory is the caller's, and nothing else uses it yet.
    match unsafe { LinkMemory::format(start, len, geometry(&config), node, features, 0) } {
        Ok(_) => lnd_error::LND_OK,
        Err(_) => lnd_error::LND_E_RING,
    }
}

#[cfg(test)]
mod tests {
    use lnd_core::id::{Incarnation, Nid, Tag};
    use lnd_core::message::{Envelope, Hello, HelloAck, Message, NakReason, PullReady};
    use lnd_shortmsg::wire::encoded_len;

    use super::*;

    /// Every kind of message with the longest header, and the longest payload that goes inline.
    fn longest(immediate_max: usize) -> usize {
        let nid = Nid::from_raw(1).unwrap();
        let incarnation = Incarnation::from_raw(1).unwrap();
        let envelope = Envelope {
            from: nid,
            to: nid,
            from_incarnation: incarnation,
            to_incarnation: Some(incarnation),
            session: 1,
            sequence: 1,
            credits: 0,
            credits_of: 0,
        };
        let (header, payload) = (&[0; LND_MAX_HEADER][..], &std::vec![0; immediate_max][..]);
        let tag = Tag { index: 0, generation: 0 };
        let hello = Hello {
            given_up: 0,
            attempt: 0,
            version_min: 1,
            version_max: 1,
            immediate_max: 0,
            features: 0,
        };
        let ack = HelloAck {
            session: 1,
            attempt: 0,
            version: Some(1),
            depth: 1,
            immediate_max: 0,
            features: 0,
        };
        let key = &[1; LND_MAX_KEY][..];
        let messages = [
            Message::Hello(hello),
            Message::HelloAck(ack),
            Message::Immediate { header, payload },
            Message::PutReq { header, source: tag, length: 1, key },
            Message::GetReq { header, sink: tag, length: 1, key },
            Message::PutNak { source: tag, why: NakReason::NoMatch },
            Message::GetNak { sink: tag, why: NakReason::NoMatch },
            Message::PutDone { source: tag, failed: None },
            Message::PullReady(PullReady { sink: tag, source: tag, length: 1, key }),
            Message::CancelPut { source: tag, session: 1, sequence: 1 },
            Message::CancelGet { source: tag, sink: tag },
            Message::GetDone { sink: tag, length: 1, failed: None },
            Message::CancelPush { sink: tag, session: 1, sequence: 1 },
            Message::Noop,
            Message::Close,
        ];
        messages.iter().map(|it| encoded_len(&envelope, it).unwrap()).max().unwrap()
    }

    #[test]
    fn the_longest_frame_is_as_long_as_is_said() {
        for immediate_max in [0, 1, 7, 8, 9, 128, 4096, 65_352] {
            let mut config = Config::new(16, 4, 1);
            config.immediate_max = immediate_max;
            let longest = longest(immediate_max as usize);
            assert_eq!(frame_bytes(&config), longest, "immediate_max {immediate_max}");
        }
    }
}
