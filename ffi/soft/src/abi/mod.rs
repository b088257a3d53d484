// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The fabric for C: `lnd_soft_*`, beside the driver's own `lnd_*` of `lnd-ffi`.
//!
//! The rules are those of `lnd.h`: opaque objects in the caller's memory; structs begin with their
//! size; errors are `enum lnd_error`. NULL, a wrong size, an object of another type and two
//! contexts in one object are errors. The caller guarantees that other pointers point to what the
//! call requires, that memory given for an object stays until the object is destroyed, and that the
//! region stays until everything made of it is destroyed.
//!
//! `ring` is a set of nodes, bit `n` for node `n`: the nodes that now have work. The caller wakes
//! them: a thread, or an interrupt of another machine. It may be NULL.
#![allow(non_camel_case_types)]
// The callers' guarantees are the same for every function and are stated above.
#![allow(clippy::missing_safety_doc)]

#[cfg(feature = "connections")]
mod connections;
mod engine;
mod error;
mod fabric;
mod links;
mod mail;
mod memory;
mod node;
mod others;
mod payload;
#[cfg(feature = "reads")]
mod reads;
#[cfg(test)]
mod tests;
mod types;

#[cfg(feature = "connections")]
pub use connections::{
    lnd_soft_connection, lnd_soft_connection_quiesced, lnd_soft_connection_reset,
    lnd_soft_connection_stop,
};
pub use engine::{
    lnd_soft_engine, lnd_soft_engine_create, lnd_soft_engine_destroy, lnd_soft_engine_size,
    lnd_soft_engine_step,
};
pub use error::lnd_error;
pub use fabric::{
    lnd_soft_attach, lnd_soft_detach, lnd_soft_fabric, lnd_soft_fabric_size, lnd_soft_format,
    lnd_soft_frame_max, lnd_soft_nid, lnd_soft_node_of, lnd_soft_region_size, lnd_soft_shape_get,
    lnd_soft_shape_init,
};
pub use links::{
    lnd_soft_link_get, lnd_soft_link_set, lnd_soft_reg_read32, lnd_soft_reg_write32, lnd_soft_way,
};
pub use mail::{lnd_soft_ready, lnd_soft_receive, lnd_soft_release, lnd_soft_send};
pub use node::{
    lnd_soft_announce, lnd_soft_incarnation, lnd_soft_is_alive, lnd_soft_join, lnd_soft_leave,
    lnd_soft_node, lnd_soft_node_size, lnd_soft_prepare,
};
pub use others::{lnd_soft_declare_dead, lnd_soft_node_get, lnd_soft_watch};
pub use payload::{
    lnd_soft_lend, lnd_soft_read, lnd_soft_take_back, lnd_soft_valid, lnd_soft_window,
    lnd_soft_write,
};
#[cfg(feature = "reads")]
pub use reads::{
    lnd_soft_publish, lnd_soft_read_begin, lnd_soft_read_ended, lnd_soft_read_give_up,
};
pub use types::{
    lnd_soft_arrival, lnd_soft_join_args, lnd_soft_link, lnd_soft_node_info, lnd_soft_progress,
    lnd_soft_shape, lnd_soft_state, LND_SOFT_LEASES, LND_SOFT_NO_NODE,
};
