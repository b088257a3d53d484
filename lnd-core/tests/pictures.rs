// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The sequences of `docs/pictures` are true: each arrow, debt and bar of a lane comes in the order
//! of the picture when the same is done with two drivers. What a picture leaves out on a lane fails
//! as what it makes up.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod pictures {
    mod picture;
    mod ports;
    mod world;

    mod messages;
    mod recovery;
}
