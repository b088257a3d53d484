// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frames of a simulated run, or of a node in a process, as a pcapng file, for Wireshark. The
//! dissector is `docs/wireshark/lnd.lua`.
//!
//! Of a run each frame is there twice: at the sender's link when it is handed over, and at the
//! receiver's when it reaches its mailbox. What is lost is there once. Copies have the same packet
//! id, and a comment says what has happened to them.

pub mod head;
mod live;
pub mod pcapng;

pub use live::Live;

use std::collections::BTreeMap;
use std::io::{self, Write};

use lnd_core::ports::Sent;
use lnd_shortmsg::wire::{Checksum, Wire};
use lnd_sim::fabric::nid_of;
use lnd_sim::simulator::mailbox::Lane;
use lnd_sim::simulator::run_log::{Entry, Logged};

use crate::recorded::Cast;
use head::Head;
use pcapng::{Direction, Packet, Writer};

/// How the frames of simulated channels look.
const SIMULATED: Wire = Wire::named(Checksum::On);

/// Writes the frames of a run. `command` runs it again. The number of packets.
///
/// # Errors
/// Those of the output.
pub fn write<W: Write>(out: W, command: &str, cast: &Cast, entries: &[Entry]) -> io::Result<u64> {
    let application = concat!("lnd ", env!("CARGO_PKG_VERSION"));
    let mut writer = Writer::new(out, application, command)?;
    let ends = entries.iter().filter_map(seen).map(|it| (it.unit, it.lane.link));
    let mut interfaces = BTreeMap::new();
    ends.for_each(|end| {
        interfaces.insert(end, 0);
    });
    for (&(unit, link), number) in &mut interfaces {
        let name = cast.link_name(unit, link.index());
        *number = writer.interface(&name, &format!("{}", nid_of(unit)))?;
    }
    let mut packets = 0;
    for entry in entries {
        let Some(it) = seen(entry) else { continue };
        let Some(&interface) = interfaces.get(&(it.unit, it.lane.link)) else { continue };
        packets += 1;
        writer.packet(&Packet {
            interface,
            at: entry.at.as_nanos(),
            direction: it.direction,
            id: it.id,
            comment: &it.comment,
            head: &head_of(it.lane).encode(),
            bytes: it.bytes,
        })?;
    }
    writer.finish()?;
    Ok(packets)
}

/// What the simulated channel knows of the frames of a lane.
pub fn head_of(lane: Lane) -> Head {
    Head {
        control: lane.control,
        link: lane.link.index() as u8,
        wire: SIMULATED,
        source: nid_of(lane.from),
        destination: nid_of(lane.to),
    }
}

/// A frame that was seen at a link.
struct Seen<'a> {
    unit: u32,
    lane: Lane,
    direction: Direction,
    id: u64,
    bytes: &'a [u8],
    comment: String,
}

fn seen(entry: &Entry) -> Option<Seen<'_>> {
    match &entry.what {
        Logged::Sent { frame, lane, bytes, leaves, told, fault, .. } => Some(Seen {
            unit: lane.from,
            lane: *lane,
            direction: Direction::Out,
            id: *frame,
            bytes,
            comment: on_leaving(*leaves, *told, fault),
        }),
        Logged::Arrived { frame, lane, bytes, fault } => Some(Seen {
            unit: lane.to,
            lane: *lane,
            direction: Direction::In,
            id: *frame,
            bytes,
            comment: (*fault).to_owned(),
        }),
        _ => None,
    }
}

/// What there is to say about a frame when it is handed over.
fn on_leaving(leaves: bool, told: Sent, fault: &str) -> String {
    let told = match told {
        Sent::Ok => "sent",
        Sent::NotDelivered => "not delivered",
        Sent::Unknown => "unknown",
    };
    match (leaves, fault) {
        (true, "") => String::new(),
        (true, fault) => format!("{fault}; its sender is told: {told}"),
        (false, fault) => format!("lost: {fault}; its sender is told: {told}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_says_what_became_of_a_frame() {
        assert_eq!(on_leaving(true, Sent::Ok, ""), "");
        assert_eq!(
            on_leaving(false, Sent::Ok, "messages dropped"),
            "lost: messages dropped; its sender is told: sent"
        );
        assert_eq!(
            on_leaving(true, Sent::Unknown, "messages with an unknown end"),
            "messages with an unknown end; its sender is told: unknown"
        );
    }
}
