// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! How many locked operations and full fences a message costs: a count, so it cannot creep.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use lnd_core::sync::tally;
use lnd_shortmsg::mailbox::{spsc, Consumer, Line, MailboxGeometry, Outlet};

fn cost_of_a_message(producer: &mut impl Outlet, consumer: &mut Consumer<'_>) -> (usize, usize) {
    tally::take();
    producer.send(b"message").unwrap();
    assert_eq!(consumer.recv(&mut [0; 56]).unwrap(), Some(b"message".as_slice()));
    tally::take()
}

#[test]
fn a_message_costs_no_locked_operation() {
    let geometry = MailboxGeometry::new(2, 64).unwrap();
    let mut memory = [Line::ZERO; 6];
    let (mut producer, mut consumer) = spsc::channel(&mut memory, geometry).unwrap();
    assert_eq!(cost_of_a_message(&mut producer, &mut consumer), (0, 0));
}
