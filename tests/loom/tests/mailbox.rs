// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The mailboxes in every interleaving: the shipped code on loom's atomics, payloads in cells in
//! which loom finds an access that is not ordered before the next one.
#![cfg(loom)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_shortmsg::mailbox::{
    spsc, Consumer, Line, MailboxGeometry, MailboxRegion, Outlet, SendError,
};
use loom::thread;
use std::ptr::NonNull;

/// Two slots, so that a third message waits for the first to be read.
const SLOTS: u32 = 2;

/// A mailbox whose positions begin at `start`. Loom's threads want memory that outlives them; a few
/// hundred bytes an execution are leaked.
fn mailbox(start: u32) -> MailboxRegion<'static> {
    let geometry = MailboxGeometry::new(SLOTS, 64).unwrap();
    let lines = geometry.bytes_needed().div_ceil(size_of::<Line>());
    let memory = vec![Line::ZERO; lines].leak();
    let base = NonNull::new(memory.as_mut_ptr()).unwrap().cast();
    // SAFETY: leaked, and used by this mailbox only.
    let region = unsafe { MailboxRegion::new(base, size_of_val(memory)) }.unwrap();
    // SAFETY: no side is attached yet.
    unsafe { region.format(geometry, start) }.unwrap();
    region
}

fn consumer(region: MailboxRegion<'static>) -> Consumer<'static> {
    // SAFETY: each model attaches one consumer.
    unsafe { Consumer::attach(region) }.unwrap()
}

fn spsc_ends(start: u32) -> (spsc::Producer<'static>, Consumer<'static>) {
    let region = mailbox(start);
    // SAFETY: each model attaches one producer.
    let producer = unsafe { spsc::Producer::attach(region) }.unwrap();
    (producer, consumer(region))
}

fn send(producer: &mut impl Outlet, message: [u8; 2]) {
    while let Err(error) = producer.send(&message) {
        assert_eq!(error, SendError::Full);
        thread::yield_now();
    }
}

fn receive(consumer: &mut Consumer<'_>) -> [u8; 2] {
    let mut scratch = [0; 56];
    loop {
        if let Some(message) = consumer.recv(&mut scratch).unwrap() {
            return message.try_into().unwrap();
        }
        thread::yield_now();
    }
}

/// Three messages through two slots: full, wrap of the ring, and (started late) of the numbers.
fn three_messages(start: u32) {
    lnd_loom::model(move || {
        let (mut producer, mut consumer) = spsc_ends(start);
        let sender = thread::spawn(move || (1..=3).for_each(|n| send(&mut producer, [n, !n])));
        for n in 1..=3 {
            assert_eq!(receive(&mut consumer), [n, !n]);
        }
        sender.join().unwrap();
        assert_eq!(consumer.recv(&mut [0; 56]), Ok(None));
    });
}

#[test]
fn spsc_three_messages_through_two_slots() {
    three_messages(0);
}

#[test]
fn spsc_across_the_wrap_of_the_numbers() {
    three_messages(u32::MAX - 1);
}

#[test]
fn spsc_a_peeked_message_is_not_overwritten() {
    lnd_loom::model(|| {
        let (mut producer, mut consumer) = spsc_ends(0);
        send(&mut producer, [1, 0]);
        send(&mut producer, [2, 0]);
        // Full: this one must wait for the release.
        let sender = thread::spawn(move || send(&mut producer, [3, 0]));
        let (mut once, mut twice) = ([0; 56], [0; 56]);
        let seen = consumer.peek(&mut once).unwrap().unwrap().bytes();
        let mail = consumer.peek(&mut twice).unwrap().unwrap();
        assert_eq!(seen, mail.bytes());
        assert_eq!(mail.release(), [1, 0]);
        assert_eq!(receive(&mut consumer), [2, 0]);
        assert_eq!(receive(&mut consumer), [3, 0]);
        sender.join().unwrap();
    });
}

#[test]
fn spsc_a_producer_attaches_while_the_consumer_reads() {
    lnd_loom::model(|| {
        let region = mailbox(0);
        {
            // SAFETY: gone before the second producer attaches.
            let mut first = unsafe { spsc::Producer::attach(region) }.unwrap();
            send(&mut first, [1, 0]);
            send(&mut first, [2, 0]);
        }
        let mut consumer = consumer(region);
        let second = thread::spawn(move || {
            // SAFETY: the only one now.
            let mut second = unsafe { spsc::Producer::attach(region) }.unwrap();
            send(&mut second, [3, 0]);
        });
        for n in 1..=3 {
            assert_eq!(receive(&mut consumer), [n, 0]);
        }
        second.join().unwrap();
    });
}
