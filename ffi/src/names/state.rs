// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Names of states and of what is reported of them.

use core::ffi::c_char;

use super::name_of;
use crate::abi::{
    lnd_blocker_kind, lnd_bound_origin, lnd_context, lnd_dump_what, lnd_event_kind, lnd_lane,
    lnd_link_state, lnd_metric_format, lnd_metric_kind, lnd_peer_state, lnd_point, lnd_run_state,
    lnd_trace_kind, lnd_wait,
};

/// lnd_peer_state_name() - The name of a constant of enum lnd_peer_state.
/// @value: enum lnd_peer_state, or any number.
///
/// Context: any.
/// Return: text such as "LND_PEER_UNKNOWN", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_peer_state_name(value: u32) -> *const c_char {
    name_of!(value, lnd_peer_state: LND_PEER_UNKNOWN LND_PEER_HANDSHAKE LND_PEER_GOOD
        LND_PEER_DOWN)
}

/// lnd_link_state_name() - The name of a constant of enum lnd_link_state.
/// @value: enum lnd_link_state, or any number.
///
/// Context: any.
/// Return: text such as "LND_LINK_UP", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_link_state_name(value: u32) -> *const c_char {
    name_of!(value, lnd_link_state: LND_LINK_UP LND_LINK_STALLED LND_LINK_STOPPING
        LND_LINK_RECLAIMING LND_LINK_DOWN LND_LINK_FAILED)
}

/// lnd_event_kind_name() - The name of a constant of enum lnd_event_kind.
/// @value: enum lnd_event_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_EVENT_PEER", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_event_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_event_kind: LND_EVENT_PEER LND_EVENT_LINK LND_EVENT_OVERRUN
        LND_EVENT_CONNECTION)
}

/// lnd_trace_kind_name() - The name of a constant of enum lnd_trace_kind.
/// @value: enum lnd_trace_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_TRACE_ACCEPTED", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_trace_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_trace_kind: LND_TRACE_ACCEPTED LND_TRACE_STEP LND_TRACE_STALE
        LND_TRACE_POSTED LND_TRACE_INVALIDATED LND_TRACE_RECLAIMED LND_TRACE_SENT
        LND_TRACE_RECEIVED LND_TRACE_PEER LND_TRACE_LINK LND_TRACE_FINALIZED LND_TRACE_ENDED
        LND_TRACE_CONNECTION)
}

/// lnd_run_state_name() - The name of a constant of enum lnd_run_state.
/// @value: enum lnd_run_state, or any number.
///
/// Context: any.
/// Return: text such as "LND_RUNNING", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_run_state_name(value: u32) -> *const c_char {
    name_of!(value, lnd_run_state: LND_RUNNING LND_REFUSING LND_DRAINING LND_CLOSING
        LND_STOPPING LND_QUIESCENT)
}

/// lnd_blocker_kind_name() - The name of a constant of enum lnd_blocker_kind.
/// @value: enum lnd_blocker_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_BLOCKER_TRANSFER", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_blocker_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_blocker_kind: LND_BLOCKER_TRANSFER LND_BLOCKER_UNREPORTED
        LND_BLOCKER_LINK)
}

/// lnd_dump_what_name() - The name of a constant of enum lnd_dump_what.
/// @value: enum lnd_dump_what, or any number.
///
/// Context: any.
/// Return: text such as "LND_DUMP_LINKS", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_dump_what_name(value: u32) -> *const c_char {
    name_of!(value, lnd_dump_what: LND_DUMP_LINKS LND_DUMP_PEERS LND_DUMP_TRANSFERS
        LND_DUMP_COUNTERS)
}

/// lnd_metric_kind_name() - The name of a constant of enum lnd_metric_kind.
/// @value: enum lnd_metric_kind, or any number.
///
/// Context: any.
/// Return: text such as "LND_METRIC_GAUGE", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_metric_kind_name(value: u32) -> *const c_char {
    name_of!(value, lnd_metric_kind: LND_METRIC_COUNTER LND_METRIC_GAUGE)
}

/// lnd_metric_format_name() - The name of a constant of enum lnd_metric_format.
/// @value: enum lnd_metric_format, or any number.
///
/// Context: any.
/// Return: text such as "LND_METRIC_JSON", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_metric_format_name(value: u32) -> *const c_char {
    name_of!(value, lnd_metric_format: LND_METRIC_TEXT LND_METRIC_JSON LND_METRIC_PROMETHEUS)
}

/// lnd_bound_origin_name() - The name of a constant of enum lnd_bound_origin.
/// @value: enum lnd_bound_origin, or any number.
///
/// Context: any.
/// Return: text such as "LND_BOUND_GIVEN", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_bound_origin_name(value: u32) -> *const c_char {
    name_of!(value, lnd_bound_origin: LND_BOUND_DEFAULT LND_BOUND_GIVEN LND_BOUND_DERIVED)
}

/// lnd_point_name() - The name of a constant of enum lnd_point.
/// @value: enum lnd_point, or any number.
///
/// Context: any.
/// Return: text such as "LND_POINT_SENT", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_point_name(value: u32) -> *const c_char {
    name_of!(value, lnd_point: LND_POINT_QUEUED LND_POINT_POSTED LND_POINT_SENT LND_POINT_LEFT
        LND_POINT_ANSWERED LND_POINT_COMPLETED LND_POINT_REPORTED)
}

/// lnd_wait_name() - The name of a constant of enum lnd_wait.
/// @value: enum lnd_wait, or any number.
///
/// Context: any.
/// Return: text such as "LND_WAIT_ANSWER", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_wait_name(value: u32) -> *const c_char {
    name_of!(value, lnd_wait: LND_WAIT_QUEUE LND_WAIT_POST LND_WAIT_SEND LND_WAIT_ANSWER
        LND_WAIT_ENGINE LND_WAIT_DRAIN LND_WAIT_REPORT LND_WAIT_WHOLE LND_WAIT_LATE)
}

/// lnd_context_name() - The name of a constant of enum lnd_context.
/// @value: enum lnd_context, or any number.
///
/// Context: any.
/// Return: text such as "LND_CONTEXT_THREAD", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_context_name(value: u32) -> *const c_char {
    name_of!(value, lnd_context: LND_CONTEXT_THREAD LND_CONTEXT_INTERRUPT)
}

/// lnd_lane_name() - The name of a constant of enum lnd_lane.
/// @value: enum lnd_lane, or any number.
///
/// Context: any.
/// Return: text such as "LND_LANE_REQUEST", "LND_?" for a number that has no name; never NULL.
#[no_mangle]
pub extern "C" fn lnd_lane_name(value: u32) -> *const c_char {
    name_of!(value, lnd_lane: LND_LANE_REQUEST LND_LANE_CONTROL)
}
