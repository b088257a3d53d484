// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What client and server say to each other: small messages, each the payload of one PUT.

mod wire;

use std::fmt;

pub use wire::{RpcError, FIXED_BYTES, MAGIC, VERSION};

/// Longest message in bytes.
pub const MAX_MESSAGE: usize = 4096;
/// Longest name of a file in bytes.
pub const MAX_NAME: usize = 1024;

/// The incarnation of the client that has made the call with this xid. Another one means that what
/// the former had open is over.
pub const fn incarnation_of(xid: u64) -> u32 {
    (xid >> 32) as u32
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Begin to write a file, in chunks of `chunk` bytes of which the last may be shorter.
    OpenWrite {
        /// Its name.
        name: String,
        /// Its length in bytes.
        size: u64,
        /// Bytes of a chunk, at least 1.
        chunk: u32,
    },
    /// All chunks have been sent: make it a file.
    Commit {
        /// The file.
        id: u32,
        /// What it has to hold.
        checksum: u64,
    },
    /// Make a part of a file ready to be read by GET: a window of it, as long as the server likes.
    OpenRead {
        /// Its name.
        name: String,
        /// Where the window begins.
        offset: u64,
    },
    /// Forget a window, or a file that is being written.
    Close {
        /// The file.
        id: u32,
    },
    /// Send this back.
    Ping {
        /// At most [`MAX_MESSAGE`]` - `[`FIXED_BYTES`] bytes.
        echo: Vec<u8>,
    },
    /// The names of the files, in order.
    List {
        /// The name to begin behind; empty: begin at the first.
        after: String,
    },
}

/// A part of a file that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Names it; zero if it is empty.
    pub id: u32,
    /// Its bytes.
    pub length: u32,
    /// Bytes of the whole file.
    pub size: u64,
    /// Another number means another content.
    pub version: u64,
    /// Checksum of the window.
    pub checksum: u64,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Send the chunks.
    Writing {
        /// Names the file.
        id: u32,
        /// The server's incarnation, to be sent with every chunk.
        incarnation: u64,
    },
    /// It is a file now.
    Committed,
    /// Get the chunks.
    Reading(Window),
    /// Forgotten.
    Closed,
    /// What the ping had.
    Pong {
        /// The same bytes.
        echo: Vec<u8>,
    },
    /// Names of files.
    Names {
        /// Some, in order.
        names: Vec<String>,
        /// There are others behind.
        more: bool,
    },
    /// A notice that no call asked for: a chunk has come for a file that the server does not know.
    Lost {
        /// The file.
        id: u32,
    },
    /// A notice that no call has asked for: the store has refused a chunk of this file for good.
    Broken {
        /// The file.
        id: u32,
        /// Why.
        why: Refusal,
    },
    /// No.
    Refused(Refusal),
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Refusal {
    /// Too much at a time; the same call may succeed later.
    Busy = 1,
    /// No such file.
    NotFound = 2,
    /// A name that no file may have.
    BadName = 3,
    /// A longer file, longer chunks or more of them than the server takes.
    TooLarge = 4,
    /// No such id, or not the caller's: perhaps the server has been restarted.
    Unknown = 5,
    /// Not all chunks have come.
    Incomplete = 6,
    /// The chunks are not what the checksum says.
    Mismatch = 7,
    /// The store has failed; the same call may succeed later.
    Failed = 8,
    /// The store has no room left.
    Full = 9,
    /// The store must not be written, or the file must not be read.
    Denied = 10,
    /// There is something of this name, or of a part of it, that is no regular file.
    NotAFile = 11,
    /// The name leads into a directory that another server owns.
    Foreign = 12,
    /// The server's directory may belong to another by now.
    Disowned = 13,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the server has too much to do",
            Self::NotFound => "no such file",
            Self::BadName => "no file may have this name",
            Self::TooLarge => "larger than the server takes",
            Self::Unknown => "the server does not know this transfer",
            Self::Incomplete => "not all of the file has arrived",
            Self::Mismatch => "the file has arrived damaged",
            Self::Failed => "the server's storage has failed",
            Self::Full => "no space left at the server",
            Self::Denied => "the server has no permission to read or write this file",
            Self::NotAFile => "the name does not lead to a regular file at the server",
            Self::Foreign => "the name leads into a directory that another server owns",
            Self::Disowned => {
                "the server has lost its directory: .owner in it was removed or replaced"
            }
        })
    }
}

impl Refusal {
    /// Every refusal, in the order of its wire value.
    pub const ALL: [Self; 13] = [
        Self::Busy,
        Self::NotFound,
        Self::BadName,
        Self::TooLarge,
        Self::Unknown,
        Self::Incomplete,
        Self::Mismatch,
        Self::Failed,
        Self::Full,
        Self::Denied,
        Self::NotAFile,
        Self::Foreign,
        Self::Disowned,
    ];

    /// Whether the same call is refused again, unless a user changes something.
    pub const fn is_final(self) -> bool {
        use Refusal::{BadName, Denied, Disowned, Foreign, Full, NotAFile, NotFound, TooLarge};
        let about_name = matches!(self, NotFound | BadName | NotAFile | Foreign);
        about_name || matches!(self, TooLarge | Full | Denied | Disowned)
    }
}
