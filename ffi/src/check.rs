// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Finds the wrong field of a configuration, or the wrong operation of a table.

use core::ffi::{c_char, CStr};

use lnd_core::config::Config;

use crate::abi::{lnd_config, lnd_ops, LND_CANCEL_FIRST};
use crate::config::understand;
use crate::input::{given, input};
use crate::platform::OPERATIONS;

/// Reports an operation unless a rule holds.
const fn need(holds: bool, operation: &'static CStr) -> Result<(), &'static CStr> {
    if holds {
        Ok(())
    } else {
        Err(operation)
    }
}

/// Checks that no required operation is missing, that no two exclude each other, and that the word
/// beside them can be read.
///
/// # Errors
/// The first operation that is missing or excluded by another.
pub(crate) fn operations(ops: &lnd_ops, config: &Config, flags: u32) -> Result<(), &'static CStr> {
    let engine = ops.engine_post.is_some();
    let connections = ops.connection.is_some();
    need(ops.send.is_some(), c"send")?;
    need(ops.finalize.is_some(), c"finalize")?;
    need(ops.unlock.is_some() == ops.lock.is_some(), c"unlock")?;
    // Without an id of the caller, a re-entry looks the same as a wait for the lock.
    need(ops.self_id.is_some() || ops.lock.is_none(), c"self_id")?;
    need(ops.reg_write32.is_some() == ops.reg_read32.is_some(), c"reg_write32")?;
    need(ops.mem_write.is_some() == ops.mem_read.is_some(), c"mem_write")?;
    need(ops.mem_read.is_some() || config.immediate_max == 0, c"mem_read")?;
    // An engine is a complete set of operations, or registers.
    need(!engine || OPERATIONS, c"engine_post")?;
    need(engine || flags & LND_CANCEL_FIRST == 0, c"engine_post")?;
    need(!engine || ops.reg_read32.is_none(), c"reg_read32")?;
    need(!engine || ops.dma_barrier.is_none(), c"dma_barrier")?;
    need(!engine || ops.node_of.is_none(), c"node_of")?;
    need(engine || ops.engine_key.is_none(), c"engine_key")?;
    need(ops.engine_doorbell.is_some() == engine, c"engine_doorbell")?;
    need(ops.engine_invalidate.is_some() == engine, c"engine_invalidate")?;
    need(ops.engine_stop.is_some() == engine, c"engine_stop")?;
    need(ops.engine_reset.is_some() == engine, c"engine_reset")?;
    need(engine || ops.engine_quiesced.is_none(), c"engine_quiesced")?;
    need(engine || ops.engine_reclaim.is_none(), c"engine_reclaim")?;
    need(engine || ops.engine_link_up.is_none(), c"engine_link_up")?;
    need(engine || ops.engine_features.is_none(), c"engine_features")?;
    // The same rule for connections.
    need(connections || config.connections == 0, c"connection")?;
    need(ops.connection_stop.is_some() == connections, c"connection_stop")?;
    need(ops.connection_reset.is_some() == connections, c"connection_reset")?;
    need(connections || ops.connection_quiesced.is_none(), c"connection_quiesced")?;
    need(ops.tracing.is_aligned(), c"tracing")?;
    Ok(())
}

/// lnd_config_fault() - Finds the error in a configuration and its operations.
/// @config: the configuration; @nid, @incarnation and @rings are not checked.
/// @ops: the platform's operations, or NULL: then only the configuration is checked.
///
/// Names the first field of struct lnd_config for which lnd_ni_create() returns LND_E_CONFIG,
/// LND_E_VERSION, LND_E_SIZE or LND_E_UNSUPPORTED. If there is none, names the first operation of
/// struct lnd_ops for which it returns LND_E_OPS: one that is missing, or that others exclude.
///
/// Context: any.
/// Return: its name, such as "passive_slots" or "connection_stop"; "size" also for a misaligned
/// pointer, and for @config NULL; NULL: no error.
#[no_mangle]
pub unsafe extern "C" fn lnd_config_fault(
    config: *const lnd_config,
    ops: *const lnd_ops,
) -> *const c_char {
    let given = match given!(input(config)) {
        Ok(given) => given,
        Err(_) => return c"size".as_ptr(),
    };
    let fault = match understand(given) {
        Err(unfit) => Some(unfit.field),
        Ok(_) if ops.is_null() => None,
        Ok(meant) => match given!(input(ops)) {
            Ok(ops) => operations(ops, &meant, given.flags).err(),
            Err(_) => Some(c"size"),
        },
    };
    fault.map_or(core::ptr::null(), CStr::as_ptr)
}
