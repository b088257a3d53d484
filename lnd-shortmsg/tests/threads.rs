// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Mailboxes between real threads, across the wrap of the numbers. The models in `tests/loom` cover
//! every interleaving of a few messages; these cover many messages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(not(loom))]

#[path = "common/memory.rs"]
mod memory;

use lnd_shortmsg::mailbox::{Consumer, Outlet, SendError};
use memory::Shared;
use std::thread::{self, ScopedJoinHandle};

const fn stress(full: u32) -> u32 {
    if cfg!(miri) {
        24
    } else {
        full
    }
}

/// A message names its sender and number, and repeats the number to the end of its length.
fn stamped(from: u32, number: u32) -> Vec<u8> {
    let length = 8 + 4 * (number as usize % 28);
    let mut message = from.to_le_bytes().to_vec();
    while message.len() < length {
        message.extend(number.to_le_bytes());
    }
    message
}

fn check_stamp(message: &[u8], next: &mut [u32]) {
    let from = u32::from_le_bytes(*message.first_chunk().unwrap()) as usize;
    assert_eq!(message, stamped(from as u32, next[from]), "message {} of {from}", next[from]);
    next[from] += 1;
}

fn deliver(producer: &mut impl Outlet, message: &[u8]) {
    while let Err(error) = producer.send(message) {
        assert_eq!(error, SendError::Full);
        thread::yield_now();
    }
}

/// Receives until all producers are done and the mailbox is empty; returns how many of each.
fn receive_all<const N: usize>(
    mut consumer: Consumer<'_>,
    producers: [ScopedJoinHandle<'_, ()>; N],
) -> [u32; N] {
    let mut scratch = [0; 120];
    let mut next = [0; N];
    loop {
        match consumer.recv(&mut scratch).unwrap() {
            Some(message) => check_stamp(message, &mut next),
            None if producers.iter().all(ScopedJoinHandle::is_finished) => break,
            None => thread::yield_now(),
        }
    }
    producers.into_iter().for_each(|producer| producer.join().unwrap());
    // What was sent between the last look and the end.
    while let Some(message) = consumer.recv(&mut scratch).unwrap() {
        check_stamp(message, &mut next);
    }
    next
}

#[test]
fn two_threads_spsc() {
    let messages = stress(20_000);
    let mut shared = Shared::formatted(u32::MAX - messages / 2);
    let mut producer = shared.producer().unwrap();
    let consumer = shared.consumer().unwrap();
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            (0..messages).for_each(|number| deliver(&mut producer, &stamped(0, number)));
        });
        assert_eq!(receive_all(consumer, [sender]), [messages]);
    });
}
