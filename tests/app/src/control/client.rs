// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The asking end of a control socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::place::shortened;
use super::system::{connect, listener};
use super::{LINE, VERSION};
use crate::process::Broken;

/// Longest wait for an answer: longer than a node takes to say that it has none.
const PATIENCE: Duration = Duration::from_secs(8);

/// A connection with a node.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    stream: BufReader<UnixStream>,
}

impl Client {
    /// The process of the node.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn process(&self) -> Result<u32, Broken> {
        Ok(listener(self.stream.get_ref())?)
    }

    /// Connects.
    ///
    /// # Errors
    /// No node listens there.
    pub fn open(path: &Path) -> Result<Self, Broken> {
        let name = path.display();
        let connected = shortened(path).and_then(|(_dir, short)| connect(&short, PATIENCE));
        let stream = connected.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("{name}: no node has its control socket there"),
            io::ErrorKind::ConnectionRefused => {
                format!("{name}: the node is gone, or it is no control socket")
            }
            io::ErrorKind::WouldBlock => {
                let seconds = PATIENCE.as_secs();
                format!("{name}: no connection within {seconds} s: the node's process stands still")
            }
            _ => format!("{name}: {error}"),
        })?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { path: path.to_owned(), stream: BufReader::new(stream) })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The node is gone, does not answer, or refuses.
    pub fn ask(&mut self, mut request: Value) -> Result<Value, Broken> {
        let name = self.path.display().to_string();
        let named = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("{name}: no answer within {} s", PATIENCE.as_secs())
            }
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                format!("{name}: the node has ended")
            }
            _ => format!("{name}: {error}"),
        };
        request["version"] = VERSION.into();
        self.stream.get_mut().write_all(format!("{request}\n").as_bytes()).map_err(named)?;
        let mut line = Vec::new();
        // Answers are longer than requests: a dump has thousands of transfers.
        self.stream.by_ref().take(LINE << 6).read_until(b'\n', &mut line).map_err(named)?;
        if line.is_empty() {
            return Err(format!("{name}: the node has ended").into());
        }
        let mut answer: Value = serde_json::from_slice(&line)
            .map_err(|_| format!("{name}: no answer of a node: it is no control socket"))?;
        match (answer["version"].as_u64(), answer["ok"].as_bool()) {
            (Some(VERSION), Some(true)) => Ok(answer["answer"].take()),
            (Some(VERSION), Some(false)) => {
                let why = answer["error"].as_str().unwrap_or("refused");
                Err(format!("{name}: {why}").into())
            }
            _ => Err(format!("{name}: the node is of another version").into()),
        }
    }
}
