// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frames of a node in a process of its own, as they pass. Every packet is in the file at once:
//! a process that is killed leaves a capture that can be read.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use lnd_core::message::Lane;
use lnd_shortmsg::wire::{decode, Checksum, Wire};
use lnd_sim::fabric::{nid_of, Passing, Tap};

use super::head::Head;
use super::pcapng::{Direction, Packet, Writer};
use crate::complain;

/// A capture that is being written.
#[derive(Debug)]
pub struct Live {
    writer: Writer<BufWriter<File>>,
    node: u32,
    failed: bool,
}

impl Live {
    /// A capture of node `node`, which has so many links.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path, node: u32, links: usize) -> io::Result<Self> {
        let application = concat!("lnd ", env!("CARGO_PKG_VERSION"));
        let nid = nid_of(node).to_string();
        let out = BufWriter::new(File::create(path)?);
        let mut writer = Writer::new(out, application, &format!("the frames of {nid}"))?;
        for link in 0..links {
            writer.interface(&format!("{nid} link {link}"), &nid)?;
        }
        writer.flush()?;
        Ok(Self { writer, node, failed: false })
    }

    fn write(&mut self, frame: &Passing<'_>) -> io::Result<()> {
        let decoded = decode(frame.bytes, Checksum::On).ok().map(|it| it.into_parts().1);
        let control = decoded.is_none_or(|message| message.lane() == Lane::Control);
        let ends = (nid_of(self.node), nid_of(frame.peer));
        let (source, destination) = if frame.sent { ends } else { (ends.1, ends.0) };
        let link = frame.link.index();
        let wire = Wire::named(Checksum::On);
        let head = Head { control, link: link as u8, wire, source, destination };
        let at = UNIX_EPOCH.elapsed().unwrap_or(Duration::ZERO).as_nanos();
        self.writer.packet(&Packet {
            interface: link as u32,
            // Until the year 2554.
            at: at as u64,
            direction: if frame.sent { Direction::Out } else { Direction::In },
            id: 0,
            comment: "",
            head: &head.encode(),
            bytes: frame.bytes,
        })?;
        self.writer.flush()
    }
}

impl Tap for Live {
    fn see(&mut self, frame: &Passing<'_>) {
        if self.failed {
            return;
        }
        if let Err(error) = self.write(frame) {
            complain!("the capture ends here: {error}");
            self.failed = true;
        }
    }
}
