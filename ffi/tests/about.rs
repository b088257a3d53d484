// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What `send` may ask of a frame: see docs/decisions/0048-keys-with-frames.md.
#![cfg(feature = "operations")]
#![allow(clippy::unwrap_used)]

use std::mem::size_of;
use std::ptr::{null, null_mut};

use lnd_core::id::{Incarnation, Nid, Tag};
use lnd_core::message::{Envelope, Message, NakReason};
use lnd_ffi::abi::{lnd_about, lnd_frame, lnd_message, lnd_tag};
use lnd_ffi::messages::lnd_frame_about;
use lnd_shortmsg::wire::{encode, Checksum};

const SOURCE: Tag = Tag { index: 3, generation: 4 };
const NONE: lnd_tag = lnd_tag { index: 0, generation: 0 };

fn encoded(message: &Message<'_>) -> Vec<u8> {
    let envelope = Envelope {
        from: Nid::from_raw(1).unwrap(),
        to: Nid::from_raw(2).unwrap(),
        from_incarnation: Incarnation::from_raw(3).unwrap(),
        to_incarnation: Incarnation::from_raw(4),
        session: 5,
        sequence: 6,
        credits: 7,
        credits_of: 8,
    };
    let mut bytes = vec![0; 512];
    let length = encode(&envelope, message, Checksum::On, &mut bytes).unwrap();
    bytes.truncate(length);
    bytes
}

fn frame(bytes: &[u8], tracked: u32) -> lnd_frame {
    lnd_frame {
        size: size_of::<lnd_frame>() as u32,
        link: 0,
        lane: 0,
        len: bytes.len() as u32,
        bytes: bytes.as_ptr().cast(),
        nid: 2,
        tracked,
        reserved: 0,
        message: lnd_message::default(),
    }
}

fn asked(frame: &lnd_frame) -> (u32, lnd_tag) {
    let mut tag = lnd_tag { index: 9, generation: 9 };
    // SAFETY: both pointers are those of values that live during the call.
    let about = unsafe { lnd_frame_about(frame, &mut tag) };
    (about, tag)
}

#[test]
fn the_end_of_a_pull_that_has_waited_is_about_nothing() {
    let ours = lnd_tag { index: SOURCE.index, generation: SOURCE.generation };
    let done = encoded(&Message::PutDone { source: SOURCE, failed: None });
    assert_eq!(asked(&frame(&done, 0)), (lnd_about::LND_ABOUT_PULLED as u32, ours));
    // In a slot of its own it is tracked: the peer may have taken its memory back meanwhile.
    assert_eq!(asked(&frame(&done, 1)), (lnd_about::LND_ABOUT_NOTHING as u32, NONE));
    let failed = encoded(&Message::PutDone { source: SOURCE, failed: Some(NakReason::Failed) });
    assert_eq!(asked(&frame(&failed, 0)), (lnd_about::LND_ABOUT_NOTHING as u32, NONE));
}

#[test]
fn the_end_of_a_push_is_about_the_sink_as_that_of_a_pull_about_the_source() {
    let ours = lnd_tag { index: SOURCE.index, generation: SOURCE.generation };
    let done = |length, failed| encoded(&Message::GetDone { sink: SOURCE, length, failed });
    let found = asked(&frame(&done(9, None), 0));
    assert_eq!(found, (lnd_about::LND_ABOUT_PULLED as u32, ours));
    assert_eq!(asked(&frame(&done(9, None), 1)), (lnd_about::LND_ABOUT_NOTHING as u32, NONE));
    let failed = done(0, Some(NakReason::Failed));
    assert_eq!(asked(&frame(&failed, 0)), (lnd_about::LND_ABOUT_NOTHING as u32, NONE));
}

#[test]
fn a_request_announces_what_is_staged_whether_it_waited_or_not() {
    let ours = lnd_tag { index: SOURCE.index, generation: SOURCE.generation };
    let put = Message::PutReq { header: &[1; 72], source: SOURCE, length: 9, key: &[2; 24] };
    for tracked in [0, 1] {
        let found = asked(&frame(&encoded(&put), tracked));
        assert_eq!(found, (lnd_about::LND_ABOUT_STAGED as u32, ours));
    }
    let get = |key| encoded(&Message::GetReq { header: &[1; 72], sink: SOURCE, length: 9, key });
    for tracked in [0, 1] {
        let found = asked(&frame(&get(&[2; 24]), tracked));
        assert_eq!(found, (lnd_about::LND_ABOUT_STAGED as u32, ours));
        // Without a key the peer is to stage, and may touch nothing here.
        let found = asked(&frame(&get(&[]), tracked));
        assert_eq!(found, (lnd_about::LND_ABOUT_NOTHING as u32, NONE));
    }
}

#[test]
fn wrong_pointers_and_sizes_are_about_nothing() {
    let bytes = encoded(&Message::PutDone { source: SOURCE, failed: None });
    let good = frame(&bytes, 0);
    let nothing = lnd_about::LND_ABOUT_NOTHING as u32;
    let mut tag = NONE;
    // SAFETY: null, and a value that lives during the call.
    assert_eq!(unsafe { lnd_frame_about(null(), &mut tag) }, nothing);
    // SAFETY: a value that lives during the call, and null.
    assert_eq!(unsafe { lnd_frame_about(&good, null_mut()) }, nothing);
    let other = size_of::<lnd_frame>() as u32 + 8;
    assert_eq!(asked(&lnd_frame { size: other, ..good }), (nothing, NONE));
    assert_eq!(asked(&lnd_frame { len: 40, ..good }), (nothing, NONE));
    assert_eq!(asked(&lnd_frame { bytes: null(), ..good }), (nothing, NONE));
}
