// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes: capacity, wrap-around, back-pressure, and a hostile other side.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(not(loom))]

#[path = "common/memory.rs"]
mod memory;

use lnd_shortmsg::mailbox::{
    spsc, Consumer, Fault, Line, MailboxGeometry, MailboxRegion, Outlet, RegionError, SendError,
    FIRST_LINE,
};
use memory::{geometry, Shared, SLOTS, SLOT_SIZE};
use std::ptr::NonNull;

/// One lap for each length from nothing to a full slot; for Miri, one for each tail of eight bytes.
const LAPS: u32 = if cfg!(miri) { 9 } else { 121 };
/// How often a process is replaced by another.
const ROUNDS: u32 = if cfg!(miri) { 8 } else { 400 };

/// Offset of a slot's sequence word; the length is 4 bytes further, the payload 8.
const fn slot(index: u32) -> usize {
    256 + (index * SLOT_SIZE) as usize
}

/// Offset of the consumed word.
const CONSUMED: usize = 128;

fn spsc_ends<'m>(shared: &mut Shared) -> (spsc::Producer<'m>, Consumer<'m>) {
    let producer = shared.producer().unwrap();
    let consumer = shared.consumer().unwrap();
    (producer, consumer)
}

fn numbered(number: u32, length: usize) -> Vec<u8> {
    (0..length).map(|i| (number as usize * 31 + i) as u8).collect()
}

fn fill_and_drain(producer: &mut impl Outlet, consumer: &mut Consumer<'_>, laps: u32) {
    let mut scratch = [0; SLOT_SIZE as usize];
    for lap in 0..laps {
        // Every length in turn, so both copies and every tail are taken.
        let length = (lap * 120 / (LAPS - 1)) as usize;
        for number in 0..SLOTS {
            assert_eq!(producer.send(&numbered(lap + number, length)), Ok(()));
        }
        assert_eq!(producer.send(b"too many"), Err(SendError::Full));
        for number in 0..SLOTS {
            let expected = numbered(lap + number, length);
            assert_eq!(consumer.recv(&mut scratch), Ok(Some(expected.as_slice())));
        }
        assert_eq!(consumer.recv(&mut scratch), Ok(None));
    }
}

#[test]
fn messages_arrive_in_order_and_full_is_reported() {
    for start in [0, 1, u32::MAX - 2, u32::MAX - 6] {
        let mut shared = Shared::formatted(start);
        let (mut producer, mut consumer) = spsc_ends(&mut shared);
        fill_and_drain(&mut producer, &mut consumer, LAPS);
    }
}

#[test]
fn the_smallest_mailbox_works() {
    let mut memory = [Line::ZERO; 6];
    let geometry = MailboxGeometry::new(2, 64).unwrap();
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    let mut scratch = [0; 64];
    for number in 0..100 {
        producer.send(&[number]).unwrap();
        producer.send(&[number, 1]).unwrap();
        assert_eq!(producer.send(&[number]), Err(SendError::Full));
        assert_eq!(consumer.recv(&mut scratch).unwrap(), Some([number].as_slice()));
        assert_eq!(consumer.recv(&mut scratch).unwrap(), Some([number, 1].as_slice()));
        assert_eq!(consumer.recv(&mut scratch).unwrap(), None);
    }
}

#[test]
fn too_little_memory_is_refused() {
    let geometry = MailboxGeometry::new(2, 64).unwrap();
    let mut memory = [Line::ZERO; 5];
    assert_eq!(spsc::channel(&mut memory, geometry).err(), Some(RegionError::TooSmall));
    assert_eq!(spsc::channel(&mut memory[..1], geometry).err(), Some(RegionError::TooSmall));
    assert_eq!(spsc::channel(&mut [], geometry).err(), Some(RegionError::TooSmall));
}

/// A region without a whole header is neither fresh nor marked, and one that was cleared is fresh.
#[test]
fn a_region_is_fresh_until_it_is_formatted_and_after_it_was_cleared() {
    let mut shared = Shared::formatted(0);
    let region = shared.region();
    assert!(!region.is_fresh() && region.is_open() && region.check().is_ok());
    region.condemn();
    assert!(!region.is_fresh() && !region.is_open());
    assert_eq!(region.check().err(), Some(RegionError::Magic));
    region.clear();
    assert!(region.is_fresh() && !region.is_open());
    let mut line = [Line::ZERO];
    let base = NonNull::from(&mut line).cast();
    // SAFETY: the line's own memory, which nothing else accesses meanwhile.
    let short = unsafe { MailboxRegion::new(base, size_of_val(&line)) }.unwrap();
    short.condemn();
    short.clear();
    assert!(!short.is_fresh() && !short.is_open());
    assert_eq!(short.check().err(), Some(RegionError::TooSmall));
}

#[test]
fn a_message_can_stay_in_the_mailbox() {
    let mut shared = Shared::formatted(0);
    let (mut producer, mut consumer) = spsc_ends(&mut shared);
    let mut scratch = [0; 120];
    (0..SLOTS).for_each(|number| producer.send(&numbered(number, 9)).unwrap());
    for _ in 0..3 {
        // Seen and left: the mailbox stays full.
        let mail = consumer.peek(&mut scratch).unwrap().unwrap();
        assert_eq!(mail.bytes(), numbered(0, 9));
        assert_eq!(producer.send(b""), Err(SendError::Full));
    }
    let mail = consumer.peek(&mut scratch).unwrap().unwrap();
    assert_eq!(mail.release(), numbered(0, 9));
    assert_eq!(producer.send(b""), Ok(()));
    assert_eq!(consumer.recv(&mut scratch).unwrap(), Some(numbered(1, 9).as_slice()));
}

#[test]
fn too_long_and_too_small() {
    let mut shared = Shared::formatted(0);
    let (mut producer, mut consumer) = spsc_ends(&mut shared);
    assert_eq!(producer.send(&[1; 121]), Err(SendError::TooLong));
    assert_eq!(producer.send_with(usize::MAX, |_| panic!("called")), Err(SendError::TooLong));
    assert_eq!(producer.send_with(120, |slot| slot.fill(7)), Ok(()));
    assert_eq!(producer.send(&[1; 50]), Ok(()));
    // A buffer too small loses nothing.
    assert_eq!(consumer.recv(&mut [0; 119]), Err(Fault::NoRoom));
    assert_eq!(consumer.recv(&mut [0; 120]), Ok(Some([7; 120].as_slice())));
    assert_eq!(consumer.recv(&mut [0; 49]), Err(Fault::NoRoom));
    assert_eq!(consumer.recv(&mut [0; 50]), Ok(Some([1; 50].as_slice())));
    assert_eq!(consumer.capacity(), 120);
    assert_eq!(producer.send_with(121, |_| panic!("called")), Err(SendError::TooLong));
}

#[test]
fn a_new_process_goes_on_where_the_old_one_stopped() {
    for start in [0, u32::MAX - 5] {
        let mut shared = Shared::formatted(start);
        let mut scratch = [0; 120];
        let (mut sent, mut received) = (0, 0);
        let mut random = 12345u32;
        for _ in 0..ROUNDS {
            // Both ends are new in each round, and meet any filling level.
            let (mut producer, mut consumer) = spsc_ends(&mut shared);
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for _ in 0..random >> 30 {
                match producer.send(&numbered(sent, 20)) {
                    Ok(()) => sent += 1,
                    Err(error) => assert_eq!((error, sent - received), (SendError::Full, SLOTS)),
                }
            }
            for _ in 0..(random >> 28) & 3 {
                match consumer.recv(&mut scratch).unwrap() {
                    Some(message) => assert_eq!(message, numbered(received, 20)),
                    None => {
                        assert_eq!(received, sent);
                        break;
                    }
                }
                received += 1;
            }
        }
        assert!(sent > ROUNDS / 2);
    }
}

#[test]
fn a_killed_consumer_is_followed_by_one_that_sees_little_again() {
    let geometry = MailboxGeometry::new(64, 64).unwrap();
    let mut shared = Shared::formatted_as(geometry, u32::MAX - 7);
    let (mut producer, mut killed) = spsc_ends(&mut shared);
    (0..50).for_each(|number| producer.send(&[number]).unwrap());
    for number in 0..20 {
        assert_eq!(killed.recv(&mut [0; 56]), Ok(Some([number].as_slice())));
    }
    std::mem::forget(killed);
    // It had told of 16.
    let mut consumer = shared.consumer().unwrap();
    for number in 16..20 {
        assert_eq!(consumer.recv(&mut [0; 56]), Ok(Some([number].as_slice())));
    }
    // One that ends in peace leaves nothing to see again.
    drop(consumer);
    let mut consumer = shared.consumer().unwrap();
    for number in 20..50 {
        assert_eq!(consumer.recv(&mut [0; 56]), Ok(Some([number].as_slice())));
    }
    assert_eq!(consumer.recv(&mut [0; 56]), Ok(None));
    assert!((0..64).all(|_| producer.has_room() && producer.send(b"").is_ok()));
    assert!(!producer.has_room());
}

#[test]
fn a_producer_killed_in_the_middle_has_sent_nothing() {
    let mut shared = Shared::formatted(0);
    let (_, mut consumer) = spsc_ends(&mut shared);
    // Length and part of the payload are there; the sequence word is not.
    shared.set(slot(0) + 4, 40);
    shared.set(slot(0) + 8, 0xdead);
    assert_eq!(consumer.recv(&mut [0; 120]), Ok(None));
    let (mut successor, _) = spsc_ends(&mut shared);
    successor.send(b"whole").unwrap();
    assert_eq!(consumer.recv(&mut [0; 120]), Ok(Some(b"whole".as_slice())));
}

#[test]
fn a_filler_that_panics_has_sent_nothing() {
    let mut memory = [Line::ZERO; 8];
    let (mut producer, mut consumer) =
        spsc::channel(&mut memory, MailboxGeometry::new(4, 64).unwrap()).unwrap();
    let panicking = || producer.send_with(8, |_| panic!("in the middle"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
    producer.send(b"next").unwrap();
    assert_eq!(consumer.recv(&mut [0; 56]).unwrap().unwrap(), b"next");
    assert_eq!(consumer.recv(&mut [0; 56]), Ok(None));
}

#[test]
fn hostile_lengths_are_bounded_and_skipped() {
    let mut shared = Shared::formatted(0);
    let (mut producer, mut consumer) = spsc_ends(&mut shared);
    for (index, length) in [121, 128, 1 << 31, u32::MAX].into_iter().enumerate() {
        producer.send(b"x").unwrap();
        shared.set(slot(index as u32) + 4, length);
    }
    for _ in 0..SLOTS {
        assert_eq!(consumer.recv(&mut [0; 500]), Err(Fault::Length));
    }
    // Each was discarded, and the mailbox works on.
    assert_eq!(consumer.recv(&mut [0; 500]), Ok(None));
    producer.send(b"fine").unwrap();
    assert_eq!(consumer.recv(&mut [0; 500]), Ok(Some(b"fine".as_slice())));
}

#[test]
fn hostile_words_are_reported() {
    for word in [0, 2, 3, 7, u32::MAX, 1 << 31] {
        let mut shared = Shared::formatted(0);
        let (_, mut consumer) = spsc_ends(&mut shared);
        shared.set(slot(0), word);
        assert_eq!(consumer.recv(&mut [0; 120]), Err(Fault::Sequence), "{word}");
        assert_eq!(consumer.recv(&mut [0; 120]), Err(Fault::Sequence), "{word} again");
    }
    for word in [1, 2, SLOTS, u32::MAX - SLOTS, 1 << 31] {
        // Consumed what was never sent, or more than a lap ago.
        let mut shared = Shared::formatted(0);
        let (mut producer, _) = spsc_ends(&mut shared);
        shared.set(CONSUMED, word);
        assert_eq!(producer.send(b""), Err(SendError::Broken), "{word}");
        assert!(!producer.has_room());
    }
}

#[test]
fn a_damaged_header_is_refused() {
    use RegionError as E;
    let attach = |shared: &mut Shared| {
        let error = shared.producer().err();
        assert_eq!(shared.consumer().err(), error);
        let header = shared.region().check();
        assert_eq!(header.err(), error.filter(|&error| error != E::Positions));
        error
    };
    assert_eq!(attach(&mut Shared::blank(geometry())), Some(E::Magic));
    // A sound header of another kind.
    let mut shared = Shared::formatted(0);
    let check = shared.get(20);
    shared.set(8, 2);
    shared.set(20, check ^ 1u32.rotate_left(24) ^ 2u32.rotate_left(24));
    assert_eq!(attach(&mut shared), Some(E::Kind));
    let swapped = 0x4c4e_446d_u32.swap_bytes();
    let cases = [
        (0, 0, E::Magic),
        (0, swapped, E::ByteOrder),
        (4, 2, E::Version),
        (8, 2, E::Geometry),
        (12, 2, E::Geometry),
        (12, 8, E::Geometry),
        (16, 64, E::Geometry),
        (20, 0, E::Geometry),
        (slot(2), 77, E::Positions),
        (slot(0), 8, E::Positions),
        (slot(3), 8, E::Positions),
        (slot(1), 1 << 31, E::Positions),
    ];
    for (offset, value, error) in cases {
        let mut shared = Shared::formatted(0);
        assert_eq!(attach(&mut shared), None);
        shared.set(offset, value);
        assert_eq!(attach(&mut shared), Some(error), "{value} at {offset}");
    }
    // Sound slots, of which more is consumed than was ever sent.
    let mut shared = Shared::formatted(0);
    shared.set(CONSUMED, 1);
    assert_eq!(shared.producer().err(), Some(E::Positions));
    // A sound header, but less memory than it speaks of.
    let mut shared = Shared::formatted(0);
    shared.0.pop();
    assert_eq!(attach(&mut shared), Some(E::TooSmall));
    shared.0.truncate(1);
    assert_eq!(attach(&mut shared), Some(E::TooSmall));
    // A header that agrees with itself on an impossible geometry.
    let mut shared = Shared::formatted(0);
    let check = shared.get(20);
    shared.set(12, 3);
    shared.set(20, check ^ SLOTS.rotate_left(3) ^ 3u32.rotate_left(3));
    assert_eq!(attach(&mut shared), Some(E::Geometry));
    let odd = NonNull::new(shared.word(8)).unwrap().cast();
    // SAFETY: 64 bytes of the memory.
    let odd = unsafe { MailboxRegion::new(odd, 64) };
    assert_eq!(odd.err(), Some(E::Misaligned));
}

#[test]
fn ends_do_not_share_cache_lines() {
    // Whatever one end writes, the other must not miss on (128: lines are fetched in pairs).
    assert!(align_of::<spsc::Producer<'_>>() >= 64);
    assert!(align_of::<Consumer<'_>>() >= 64);
    assert_eq!(FIRST_LINE, 56);
}
