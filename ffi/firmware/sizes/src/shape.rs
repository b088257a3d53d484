// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The size of the measured node.

use lnd_core::config::Config;
use lnd_core::message::MAX_HEADER;
use lnd_shortmsg::wire::layout::IMMEDIATE_LEN;

const fn config() -> Config {
    let (slots, peers, links) = if cfg!(feature = "large") {
        (256, 64, 4)
    } else if cfg!(feature = "medium") {
        (64, 16, 2)
    } else {
        (16, 4, 1)
    };
    let mut config = Config::new(slots, peers, links);
    // Firmware has contiguous buffers, and sends small payloads inside messages.
    config.lists = 0;
    config.immediate_max = 64;
    config
}

/// Its tables.
pub const CONFIG: Config = config();
/// Bytes of its longest frame.
pub const FRAME: usize = CONFIG.immediate_max as usize + IMMEDIATE_LEN + MAX_HEADER;
