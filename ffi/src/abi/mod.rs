// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The types that cross the ABI. They bear their C names, so that a search finds both sides. The
//! header is generated from them, comments included.
//!
//! Every struct that a caller fills or receives begins with its own size (R65). A value that C
//! passes as a number is a `u32` here with an `enum` beside it, because a C caller may pass any
//! number.

mod bound;
mod config;
mod copies;
mod engine;
mod error;
mod events;
mod handles;
mod health;
mod metrics;
mod observer;
mod operator;
mod ops;
mod report;
mod request;
mod state;
mod tracker;

pub use bound::{lnd_bound, lnd_bound_origin};
pub use config::{
    lnd_config, lnd_policy, lnd_ring, LND_CANCEL_FIRST, LND_CHECKSUM, LND_CONNECTION_CHANNEL,
    LND_ENDS_AT_ONCE, LND_FLAGS, LND_MAX_LINKS, LND_RELIABLE,
};
pub use copies::{lnd_stamp, lnd_window_check, LND_STAMP_BYTES};
pub use engine::{
    lnd_bd, lnd_motion, lnd_post, lnd_returned, lnd_tag, LND_FEATURE_CONNECTIONS,
    LND_FEATURE_ILLEGAL_READ, LND_FEATURE_KNOWS_UNTOUCHED, LND_FEATURE_PUBLISHED_READ,
    LND_FEATURE_PUSHES, LND_FEATURE_REMOTE_COMPLETION, LND_FEATURE_ZERO_READ, LND_MAX_KEY,
};
pub use error::lnd_error;
pub use events::{
    lnd_event, lnd_event_kind, lnd_link_state, lnd_peer_state, lnd_trace, lnd_trace_kind,
};
pub use handles::{
    lnd_health_ni, lnd_health_peer, lnd_health_route, lnd_message, lnd_peer, lnd_request,
    lnd_transfer,
};
pub use health::{
    lnd_action, lnd_action_kind, lnd_attempts, lnd_connected, lnd_connection, lnd_finding,
    lnd_health_config, lnd_health_info, lnd_next, lnd_object, lnd_outcome, lnd_path, lnd_probe_end,
    lnd_probe_kind, lnd_profile, lnd_why_ended, LND_UNTIL_DEADLINE,
};
pub use metrics::{
    lnd_metric_format, lnd_metric_info, lnd_metric_kind, LND_METRIC_HELP, LND_METRIC_NAME,
    LND_METRIC_UNIT,
};
pub use observer::{
    lnd_account, lnd_histogram, lnd_point, lnd_wait, LND_BUCKETS, LND_POINTS, LND_WAITS,
};
pub use operator::{
    lnd_distance, lnd_evidence, lnd_health_change, lnd_rule, lnd_rule_kind, LND_MAX_RULES,
    LND_NO_SENSITIVITY,
};
pub use ops::{lnd_about, lnd_context, lnd_frame, lnd_lane, lnd_ops, lnd_send, LND_NO_NODE};
pub use report::{lnd_cause, lnd_delivery, lnd_health_class, lnd_place, lnd_report, lnd_role};
pub use request::{
    lnd_arrival, lnd_decision, lnd_frag, lnd_kind, lnd_nak_reason, lnd_request_kind,
    lnd_send_request, LND_ANY_LINK, LND_MAX_FRAGMENTS, LND_MAX_HEADER, LND_NEVER, LND_NID_UNKNOWN,
};
pub use state::{
    lnd_blocker, lnd_blocker_kind, lnd_dump_what, lnd_peer_info, lnd_run_state, lnd_sent_how,
    lnd_stats,
};
pub use tracker::{lnd_tracker, lnd_tracker_state};
