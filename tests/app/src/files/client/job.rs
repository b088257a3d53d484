// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! What a client is asked to do, and how that ended.

use std::fmt;
use std::io::ErrorKind;

use lnd_core::id::Nid;
use lnd_core::time::{Instant, Span};
use lnd_sim::lnet::SendError;

use crate::files::local::{Sink, Source};
use crate::files::rpc::Refusal;

/// Names a job of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub(crate) u64);

/// Something to be done at a server.
#[derive(Debug)]
pub struct Job {
    /// The server.
    pub server: Nid,
    /// The file's name there; see [`parts`](crate::files::parts) for what is a name.
    pub name: String,
    /// Bytes of a chunk; the last may be shorter.
    pub chunk: u32,
    /// When to give up. A job that waits for others to end fails when its turn comes.
    pub deadline: Instant,
    /// What.
    pub work: Work,
}

/// What to do.
pub enum Work {
    /// Send a file.
    Put(Box<dyn Source>),
    /// Fetch a file.
    Get {
        /// Where to.
        sink: Box<dyn Sink>,
        /// The checksum it has to have, if that is known.
        expected: Option<u64>,
    },
    /// Have bytes sent back.
    Ping(Vec<u8>),
    /// Ask for the names of all files.
    List,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(source) => write!(f, "Put({} bytes)", source.size()),
            Self::Get { expected, .. } => write!(f, "Get({expected:x?})"),
            Self::Ping(echo) => write!(f, "Ping({} bytes)", echo.len()),
            Self::List => f.write_str("List"),
        }
    }
}

impl Job {
    /// Bytes of a chunk if nothing else is said.
    pub const CHUNK: u32 = 1 << 20;

    /// Sends a file.
    pub fn put(server: Nid, name: &str, source: impl Source + 'static, deadline: Instant) -> Self {
        Self::new(server, name, deadline, Work::Put(Box::new(source)))
    }

    /// Fetches a file.
    pub fn get(server: Nid, name: &str, sink: impl Sink + 'static, deadline: Instant) -> Self {
        Self::new(server, name, deadline, Work::Get { sink: Box::new(sink), expected: None })
    }

    /// Has bytes sent back.
    pub fn ping(server: Nid, echo: Vec<u8>, deadline: Instant) -> Self {
        Self::new(server, "", deadline, Work::Ping(echo))
    }

    /// Asks for the names of all files.
    pub fn list(server: Nid, deadline: Instant) -> Self {
        Self::new(server, "", deadline, Work::List)
    }

    /// With chunks of this many bytes.
    #[must_use]
    pub fn with_chunk(self, chunk: u32) -> Self {
        Self { chunk, ..self }
    }

    /// With the checksum that the fetched file has to have.
    #[must_use]
    pub fn expecting(mut self, checksum: u64) -> Self {
        if let Work::Get { expected, .. } = &mut self.work {
            *expected = Some(checksum);
        }
        self
    }

    fn new(server: Nid, name: &str, deadline: Instant, work: Work) -> Self {
        Self { server, name: name.to_owned(), chunk: Self::CHUNK, deadline, work }
    }
}

/// The end of a job. Every job has exactly one, unless it is taken back.
#[derive(Debug)]
pub struct JobDone {
    /// Which.
    pub id: JobId,
    /// The job itself, to be looked at or done again.
    pub job: Job,
    /// Why it failed; `None`: it did not.
    pub error: Option<JobError>,
    /// Bytes of the file that were moved and verified.
    pub bytes: u64,
    /// The whole file's checksum, if it has succeeded.
    pub checksum: Option<u64>,
    /// Names of files, in order; only of [`Work::List`].
    pub names: Vec<String>,
    /// When its turn came.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
    /// How often the file, or a window of it, was begun anew.
    pub restarts: u32,
}

impl JobDone {
    /// Whether it has succeeded.
    pub const fn is_ok(&self) -> bool {
        self.error.is_none()
    }

    /// How long it took.
    pub fn duration(&self) -> Span {
        self.ended.since(self.started)
    }
}

/// Why a job failed. Everything else was tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobError {
    /// Its time was over.
    Deadline,
    /// The server will not do it, or no server could.
    Refused(Refusal),
    /// The layer will not send to that server.
    Unreachable(SendError),
    /// The source could not be read.
    Source(ErrorKind),
    /// The sink could not be written.
    Sink(ErrorKind),
    /// The file is there and sound, but another one than was expected.
    Unexpected {
        /// Its checksum.
        checksum: u64,
    },
    /// The file changes all the time while it is read.
    Changes,
    /// The source changed while it was read.
    Changed,
    /// The client was stopped.
    Stopped,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deadline => f.write_str("not done in time"),
            Self::Refused(why) => write!(f, "{why}"),
            Self::Unreachable(why) => write!(f, "cannot be sent: {why}"),
            Self::Source(kind) => write!(f, "source: {kind}"),
            Self::Sink(kind) => write!(f, "sink: {kind}"),
            Self::Unexpected { checksum } => write!(f, "another file: checksum {checksum:016x}"),
            Self::Changes => f.write_str("the file changes all the time while it is read"),
            Self::Changed => f.write_str("changed while it was read, so nothing is stored"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for JobError {}
