// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The driver as a whole, over ports that obey their contracts and little else.
//!
//! `driver/fabric.rs`, with `device.rs` and `letter.rs`, is the world under the drivers; `ports.rs`
//! is the drivers' view of it; `node.rs` is one driver with an upper layer that keeps a ledger;
//! `world.rs` is several of them in virtual time. The other modules are the tests, by subject;
//! `random.rs` is all of it at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod driver {
    mod device;
    mod dice;
    mod fabric;
    mod letter;
    mod node;
    mod ports;
    mod tally;
    mod world;

    mod answers;
    mod books;
    mod called_off;
    mod catalogue;
    mod claims;
    mod conditions;
    mod connection;
    mod credit;
    mod deadline;
    mod drains;
    mod edges;
    mod ended;
    mod expect;
    mod fifth;
    mod finalize;
    mod finals;
    mod fingerprint;
    mod found;
    mod found_sessions;
    mod fourth;
    mod get;
    mod gone;
    mod guards;
    mod handshake;
    mod hello;
    mod immediate;
    mod incarnation;
    mod keys;
    mod late;
    mod leftovers;
    mod link;
    mod next_time;
    mod observed;
    mod parked;
    mod pauses;
    mod peer_down;
    mod promised;
    mod pulls;
    mod pushed;
    mod put;
    mod random;
    mod refused;
    mod rx_request;
    mod second;
    mod seeds;
    mod short_received;
    mod short_sent;
    mod shutdown;
    mod size;
    mod slow;
    mod strangers;
    mod stray;
    mod third;
    mod too_late;
    mod unknowing;
    mod unnoticed;
    mod view;
    mod waiting;
    mod waits;
}
