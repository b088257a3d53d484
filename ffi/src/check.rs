// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What is wrong with a configuration or a table of operations: the name of the field or the operation.

use core::ffi::{c_char, CStr};

use lnd_core::config::Config;

use crate::abi::{lnd_config, lnd_ops, LND_NO_RECALL};
use crate::config::understand;
use crate::input::input;
use crate::platform::OPERATIONS;

/// The first operation that is missing, or that cannot be given together with the others.
pub(crate) fn unfit_operation(ops: &lnd_ops, config: &Config, flags: u32) -> Option<&'static CStr> {
    let engine = ops.engine_post.is_some();
    let connections = ops.connection.is_some();
    let rules = [
        (ops.send.is_some(), c"send"),
        (ops.finalize.is_some(), c"finalize"),
        (ops.unlock.is_some() == ops.lock.is_some(), c"unlock"),
        // Without a name for the caller a re-entry could not be told from a wait for the lock.
        (ops.self_id.is_some() || ops.lock.is_none(), c"self_id"),
        (ops.reg_write32.is_some() == ops.reg_read32.is_some(), c"reg_write32"),
        (ops.mem_write.is_some() == ops.mem_read.is_some(), c"mem_write"),
        (ops.mem_read.is_some() || config.immediate_max == 0, c"mem_read"),
        // An engine is operations, all that are needed, or registers.
        (!engine || OPERATIONS, c"engine_post"),
        (engine || flags & LND_NO_RECALL == 0, c"engine_post"),
        (!engine || ops.reg_read32.is_none(), c"reg_read32"),
        (!engine || ops.dma_barrier.is_none(), c"dma_barrier"),
        (!engine || ops.node_of.is_none(), c"node_of"),
        (engine || ops.engine_key.is_none(), c"engine_key"),
        (ops.engine_doorbell.is_some() == engine, c"engine_doorbell"),
        (ops.engine_invalidate.is_some() == engine, c"engine_invalidate"),
        (ops.engine_stop.is_some() == engine, c"engine_stop"),
        (ops.engine_reset.is_some() == engine, c"engine_reset"),
        (engine || ops.engine_quiesced.is_none(), c"engine_quiesced"),
        (engine || ops.engine_yank.is_none(), c"engine_yank"),
        (engine || ops.engine_link_up.is_none(), c"engine_link_up"),
        (engine || ops.engine_features.is_none(), c"engine_features"),
        // Connections likewise.
        (connections || config.connections == 0, c"connection"),
        (ops.connection_stop.is_some() == connections, c"connection_stop"),
        (ops.connection_reset.is_some() == connections, c"connection_reset"),
        (connections || ops.connection_quiesced.is_none(), c"connection_quiesced"),
    ];
    rules.iter().find(|(holds, _)| !holds).map(|(_, name)| *name)
}

/// lnd_config_fault() - What is wrong with a configuration and its operations.
/// @config: the configuration; @nid, @life and @rings are not looked at.
/// @ops: the platform's operations, or NULL: then the configuration alone is looked at.
///
/// Names the first field of struct lnd_config for which lnd_ni_create() returns LND_E_CONFIG,
/// LND_E_VERSION, LND_E_SIZE or LND_E_UNSUPPORTED, or else the first operation of struct lnd_ops for which
/// it returns LND_E_OPS: one that is missing, or that others exclude.
///
/// Context: any.
/// Return: its name, such as "passive_slots" or "connection_stop"; NULL: there is none.
#[no_mangle]
pub unsafe extern "C" fn lnd_config_fault(
    config: *const lnd_config,
    ops: *const lnd_ops,
) -> *const c_char {
    // SAFETY: by the contract of the ABI.
    let given = match unsafe { input(config) } {
        Ok(given) => given,
        Err(_) => return c"size".as_ptr(),
    };
    let fault = match understand(given) {
        Err(unfit) => Some(unfit.field),
        Ok(_) if ops.is_null() => None,
        // SAFETY: by the contract of the ABI.
        Ok(meant) => match unsafe { input(ops) } {
            Ok(ops) => unfit_operation(ops, &meant, given.flags),
            Err(_) => Some(c"size"),
        },
    };
    fault.map_or(core::ptr::null(), CStr::as_ptr)
}
