// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! `lnd-shortmsg`: wire format, dispatch and mailboxes, on any bytes.

use lnd_core::message::{Envelope, Message};
use lnd_shortmsg::dispatch::{transmit, Receiver, Sender, TransmitError};
use lnd_shortmsg::mailbox::{mpsc, spsc, Consumer, Fault, Geometry, Line, RegionError};
use lnd_shortmsg::wire::{encode, Checksum, DecodeError, EncodeError, Frame};

#[no_mangle]
pub fn lnd_bare_receive<'f>(
    receiver: &mut Receiver,
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
    checksum: Checksum,
) -> Result<(), TransmitError> {
    transmit(mailbox, envelope, message, checksum)
}

#[no_mangle]
pub fn lnd_bare_transmit_shared(
    mailbox: &mut mpsc::Producer<'_>,
    envelope: &Envelope,
    message: &Message<'_>,
    checksum: Checksum,
) -> Result<(), TransmitError> {
    transmit(mailbox, envelope, message, checksum)
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
    geometry: Geometry,
) -> Result<(spsc::Producer<'_>, Consumer<'_>), RegionError> {
    spsc::channel(memory, geometry)
}

#[no_mangle]
pub fn lnd_bare_shared_mailbox(
    memory: &mut [Line],
    geometry: Geometry,
) -> Result<(mpsc::Producer<'_>, Consumer<'_>), RegionError> {
    mpsc::channel(memory, geometry)
}
