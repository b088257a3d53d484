// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The frames of a node in a process of its own, as they pass. Every packet is in the file at once:
//! a process that is killed leaves a capture that can be read.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
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
    /// The file cannot be made, or another process writes its capture there.
    pub fn create(path: &Path, node: u32, links: usize) -> io::Result<Self> {
        let application = concat!("lnd ", env!("CARGO_PKG_VERSION"));
        let nid = nid_of(node).to_string();
        let out = BufWriter::new(open(path)?);
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

/// Opens a file and cuts it, unless another process has it for its capture.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // A FIFO is not waited for: the node is at work already.
    let options = options.write(true).create(true).truncate(false).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::other("no process reads this FIFO"),
        _ => error,
    })?;
    // SAFETY: it sets the flags of a descriptor that is open: this one waits from now on.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    if file.metadata()?.is_file() {
        // SAFETY: the descriptor is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            let error = io::Error::last_os_error();
            // A file system without locks has captures too.
            if error.kind() == io::ErrorKind::WouldBlock {
                return Err(io::Error::other("another process writes its capture there"));
            }
        }
        file.set_len(0)?;
    }
    Ok(file)
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
