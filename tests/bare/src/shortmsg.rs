// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-shortmsg`: wire format, dispatch and mailboxes, on any bytes.

use lnd_core::message::{Envelope, Message};
use lnd_shortmsg::dispatch::{transmit, transmit_inline, Receiver, Sender, TransmitError};
use lnd_shortmsg::mailbox::{spsc, Consumer, Fault, Line, MailboxGeometry, RegionError};
use lnd_shortmsg::wire::{encode, Checksum, DecodeError, EncodeError, Frame, Wire};

#[no_mangle]
pub fn lnd_bare_receive<'f>(
    receiver: &mut Receiver<true>,
    sender: Sender,
    frame: &'f [u8],
) -> Result<Frame<'f>, DecodeError> {
    receiver.receive_from(sender, frame)
}

#[no_mangle]
pub fn lnd_bare_encode(
    envelope: &Envelope,
    message: &Message<'_>,
    checksum: Checksum,
    out: &mut [u8],
) -> Result<usize, EncodeError> {
    encode(envelope, message, checksum, out)
}

#[no_mangle]
pub fn lnd_bare_transmit(
    mailbox: &mut spsc::Producer<'_>,
    envelope: &Envelope,
    message: &Message<'_>,
    wire: Wire,
) -> Result<(), TransmitError> {
    transmit(mailbox, envelope, message, wire)
}

#[no_mangle]
pub fn lnd_bare_transmit_inline(
    mailbox: &mut spsc::Producer<'_>,
    envelope: &Envelope,
    header: &[u8],
    payload: &[u8],
    scratch: &mut [u8],
    wire: Wire,
) -> Result<bool, TransmitError> {
    transmit_inline(mailbox, envelope, header, scratch, wire, |place| {
        let fits = place.len() == payload.len();
        place.iter_mut().zip(payload).for_each(|(to, from)| *to = *from);
        fits
    })
}

#[no_mangle]
pub fn lnd_bare_consume<'b>(
    mailbox: &mut Consumer<'_>,
    into: &'b mut [u8],
) -> Result<Option<&'b [u8]>, Fault> {
    mailbox.recv(into)
}

#[no_mangle]
pub fn lnd_bare_mailbox(
    memory: &mut [Line],
    geometry: MailboxGeometry,
) -> Result<(spsc::Producer<'_>, Consumer<'_>), RegionError> {
    spsc::channel(memory, geometry)
}
