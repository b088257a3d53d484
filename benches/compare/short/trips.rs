// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Round trips between two sides that poll: bare messages, the least program, whole messages.

use std::time::Instant;

use lnd_bench::pair::HEADER;
use lnd_bench::probe::Patience;
use lnd_shortmsg::mailbox::Outlet;

use super::{Memory, Side, ECHO, FRAMES, LEAST, LENGTHS, PAYLOADS, WHOLE};

impl Side {
    /// The partner's echo of bare messages.
    pub(super) fn echo(&mut self, at: usize) {
        let (out, back) = &mut self.boxes[at];
        let mut frame = [0; 4224];
        if let Some(message) = back.recv(&mut frame).unwrap() {
            out.send(message).unwrap();
        }
    }

    /// Nanoseconds one way of a bare message.
    pub(super) fn bare(&mut self, at: usize, trips: u32) -> f64 {
        self.probe.set_mode(ECHO + at as u32);
        let (out, back) = &mut self.boxes[at];
        let mut message = [0_u8; 4224];
        message.iter_mut().enumerate().for_each(|(n, byte)| *byte = (n * 131 + 7) as u8);
        let message = &mut message[..LENGTHS[at]];
        let mut frame = [0; 4224];
        timed(trips, |number| {
            message[..4].copy_from_slice(&number.to_le_bytes());
            out.send(message).unwrap();
            let mut patience = Patience::default();
            loop {
                patience.look();
                if let Some(back) = back.recv(&mut frame).unwrap() {
                    assert!(back.len() == message.len() && back[..4] == number.to_le_bytes());
                    return;
                }
            }
        }) / 2.0
    }

    /// Sends a message of the least program.
    pub(super) fn send_least(&mut self, at: usize) {
        let Memory { out, payload, .. } = &mut self.memory;
        let frame = &mut out[..LENGTHS[FRAMES + at]];
        let name = self.least.begin(frame, &HEADER, &payload[..PAYLOADS[at]]);
        self.boxes[FRAMES + at].0.send(frame).unwrap();
        self.least.end(name);
    }

    /// Receives one. Returns whether there was one.
    pub(super) fn receive_least(&mut self, at: usize) -> bool {
        let Memory { back, sink, .. } = &mut self.memory;
        let message = self.boxes[FRAMES + at].1.recv(back).unwrap();
        if let Some(message) = &message {
            self.least.receive(message, HEADER.len(), sink);
        }
        message.is_some()
    }

    /// Nanoseconds one way of a message of the least program.
    pub(super) fn least(&mut self, at: usize, trips: u32) -> f64 {
        // The partner has left the echo, which takes from the same mailbox.
        self.probe.one_way(1);
        self.probe.set_mode(LEAST + at as u32);
        let each = timed(trips, |_| {
            self.send_least(at);
            let mut patience = Patience::default();
            while !self.receive_least(at) {
                patience.look();
            }
        }) / 2.0;
        assert_eq!(self.least.open().0, 0, "everything has ended");
        each
    }

    /// Nanoseconds one way of a whole message.
    pub(super) fn whole(&mut self, at: usize, trips: u32) -> f64 {
        self.probe.set_mode(WHOLE + at as u32);
        let Self { node, payloads, .. } = self;
        timed(trips, |_| {
            let came = node.done.1;
            node.put(&payloads[at]);
            let mut patience = Patience::default();
            while node.done.1 == came {
                patience.look();
                node.poll_message();
            }
        }) / 2.0
    }

    /// The partner's answers to whole messages.
    pub(super) fn answer(&mut self, at: usize, mode: u32) {
        let Self { node, payloads, probe, .. } = self;
        let mut answered = node.done.1;
        let mut patience = Patience::default();
        while probe.mode() == mode {
            patience.look();
            node.poll_message();
            while answered < node.done.1 {
                answered += 1;
                node.put(&payloads[at]);
            }
        }
    }
}

/// Nanoseconds of each of many round trips, behind one that is not timed.
fn timed(trips: u32, mut trip: impl FnMut(u32)) -> f64 {
    trip(0);
    let begin = Instant::now();
    (1..=trips).for_each(&mut trip);
    begin.elapsed().as_nanos() as f64 / f64::from(trips)
}
