// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A mailbox against a queue, and against a hostile process that shares the memory.

use std::collections::VecDeque;

use arbitrary::{Arbitrary, Unstructured};
use lnd_shortmsg::mailbox::{spsc, Consumer, MailboxGeometry, Outlet, SendError};

use crate::ring::Shared;

#[derive(Arbitrary, Debug)]
enum Op {
    /// Sends a message of so many bytes, in place or from elsewhere.
    Send {
        length: u8,
        in_place: bool,
    },
    Recv,
    /// Looks, and leaves the message where it is.
    Peek,
    /// The consumer is given a buffer of so many bytes.
    RecvInto(u8),
    /// Another producer goes on where this one has stopped.
    NextProducer,
    /// Another consumer does.
    NextConsumer,
}

#[derive(Arbitrary, Debug)]
struct Shape {
    slots: u8,
    lines: u8,
    start: u32,
    near_wrap: bool,
}

impl Shape {
    fn make(&self) -> (MailboxGeometry, Shared) {
        let (slots, size) = (2 << (self.slots % 4), 64 * (1 + u32::from(self.lines) % 3));
        let geometry = MailboxGeometry::new(slots, size).expect("a sound geometry");
        let start = if self.near_wrap { (self.start % 64).wrapping_neg() } else { self.start };
        (geometry, Shared::new(geometry, start))
    }
}

fn producer<'m>(shared: &mut Shared) -> Option<spsc::Producer<'m>> {
    // SAFETY: the former one is not used any more.
    unsafe { spsc::Producer::attach(shared.region()) }.ok()
}

fn send(end: &mut spsc::Producer<'_>, message: &[u8], in_place: bool) -> Result<(), SendError> {
    if in_place {
        end.send_with(message.len(), |bytes| bytes.copy_from_slice(message))
    } else {
        end.send(message)
    }
}

fn consumer<'m>(shared: &mut Shared) -> Option<Consumer<'m>> {
    // SAFETY: the former one is not used any more.
    unsafe { Consumer::attach(shared.region()) }.ok()
}

/// R62: first in, first out, whole, once; full only when it is, whatever the positions began at.
pub fn mailbox(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(shape) = Shape::arbitrary(&mut input) else { return };
    let (geometry, mut shared) = shape.make();
    let mut producer_end = producer(&mut shared).expect("formatted");
    let mut consumer_end = consumer(&mut shared).expect("formatted");
    let (slots, capacity) = (geometry.slots() as usize, geometry.capacity());
    // A consumer may hold back the news of up to a quarter, or of 15 messages.
    let held_back = (slots / 4).clamp(1, 16) - 1;
    let (mut queue, mut number) = (VecDeque::new(), 0_u8);
    while let Ok(op) = Op::arbitrary(&mut input) {
        match op {
            Op::Send { length, in_place } => {
                number = number.wrapping_add(1);
                let message = vec![number; usize::from(length)];
                match send(&mut producer_end, &message, in_place) {
                    Ok(()) => queue.push_back(message),
                    Err(SendError::TooLong) => assert!(message.len() > capacity),
                    Err(SendError::Full) => assert!(queue.len() + held_back >= slots, "not full"),
                    Err(error) => panic!("{error}"),
                }
                assert!(queue.len() <= slots, "more messages than slots");
            }
            Op::Recv => {
                let mut buffer = vec![0; capacity];
                let got = consumer_end.recv(&mut buffer).expect("nothing is wrong");
                assert_eq!(got.map(<[u8]>::to_vec), queue.pop_front());
            }
            Op::Peek => {
                let mut buffer = vec![0; capacity];
                let got = consumer_end.peek(&mut buffer).expect("nothing is wrong");
                assert_eq!(got.map(|mail| mail.bytes().to_vec()), queue.front().cloned());
            }
            Op::RecvInto(size) => {
                let mut buffer = vec![0; usize::from(size)];
                let fits = queue.front().is_none_or(|first| first.len() <= buffer.len());
                let got = consumer_end.recv(&mut buffer);
                assert_eq!(got.is_ok(), fits, "NoRoom if and only if there is none");
                if let Ok(got) = got {
                    assert_eq!(got.map(<[u8]>::to_vec), queue.pop_front());
                }
            }
            Op::NextProducer => {
                producer_end = producer(&mut shared).expect("sound");
            }
            Op::NextConsumer => {
                drop(consumer_end);
                consumer_end = consumer(&mut shared).expect("sound");
            }
        }
        if input.is_empty() {
            break;
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Hostile {
    Op(Op),
    /// The other side writes a word: any word, or one that may lead further in.
    Write(u16, u32),
    Nudge(u16, i8),
}

/// INV-10, R77: whatever the other process writes, there is no panic and no access outside of the
/// mailbox, and what is received is no longer than a slot.
pub fn hostile_mailbox(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(shape) = Shape::arbitrary(&mut input) else { return };
    let (geometry, mut shared) = shape.make();
    let start = if shape.near_wrap { (shape.start % 64).wrapping_neg() } else { shape.start };
    let mut producer_end = producer(&mut shared);
    let mut consumer_end = consumer(&mut shared);
    while let Ok(hostile) = Hostile::arbitrary(&mut input) {
        match hostile {
            Hostile::Write(word, value) => shared.set(usize::from(word), value),
            Hostile::Nudge(word, by) => {
                shared.set(usize::from(word), start.wrapping_add_signed(by.into()));
            }
            Hostile::Op(Op::Send { length, in_place }) => {
                if let Some(end) = &mut producer_end {
                    let _ = send(end, &vec![7; usize::from(length)], in_place);
                }
            }
            Hostile::Op(Op::NextProducer) => producer_end = producer(&mut shared),
            Hostile::Op(Op::NextConsumer) => {
                drop(consumer_end.take());
                consumer_end = consumer(&mut shared);
            }
            Hostile::Op(Op::Peek) => receive(consumer_end.as_mut(), geometry.capacity(), true),
            Hostile::Op(Op::Recv) => receive(consumer_end.as_mut(), geometry.capacity(), false),
            Hostile::Op(Op::RecvInto(size)) => {
                receive(consumer_end.as_mut(), usize::from(size), false);
            }
        }
        let _ = shared.region().check();
        if input.is_empty() {
            break;
        }
    }
}

fn receive(consumer: Option<&mut Consumer<'_>>, size: usize, peek: bool) {
    let Some(consumer) = consumer else { return };
    let (mut buffer, capacity) = (vec![0; size], consumer.capacity());
    let length = if peek {
        consumer.peek(&mut buffer).map(|mail| mail.map_or(0, |mail| mail.bytes().len()))
    } else {
        consumer.recv(&mut buffer).map(|got| got.map_or(0, <[u8]>::len))
    };
    assert!(length.unwrap_or(0) <= capacity.min(size), "longer than a slot");
}
