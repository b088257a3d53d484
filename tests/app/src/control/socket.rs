// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The threads of a control socket. They read and write lines; what is asked goes to the node's own
//! thread, which alone touches the driver.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{json, Value};

use super::place::shortened;
use super::{LINE, VERSION};
use crate::process::Broken;

/// Connections at a time.
const CONNECTIONS: u32 = 16;
/// A connection that asks nothing for so long is closed.
const IDLE: Duration = Duration::from_secs(60);
/// The node's thread answers within so long, or the client is told that it does not.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks for a connection.
const LOOK: Duration = Duration::from_millis(20);

/// A question, and where its answer goes.
#[derive(Debug)]
pub struct Asked {
    /// The request, of a version that is known.
    pub request: Value,
    reply: SyncSender<Result<Value, String>>,
}

impl Asked {
    /// Answers it. A client that is gone is not missed.
    pub fn answer(self, answer: Result<Value, String>) {
        let _ = self.reply.send(answer);
    }
}

/// A socket that listens; gone, with its file, when it is dropped.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    /// Device and number of its file.
    file: (u64, u64),
    asked: Receiver<Asked>,
    end: Arc<AtomicBool>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        // Another process may have its own there by now.
        if file_at(&self.path).is_ok_and(|file| file == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|it| (it.dev(), it.ino()))
}

impl Socket {
    /// Listens at `path`. A socket that is there and that no process answers is replaced.
    ///
    /// # Errors
    /// The path cannot be used, or another process answers there.
    pub fn open(path: &Path) -> Result<Self, Broken> {
        let named = |error: io::Error| format!("{}: {error}", path.display());
        let (_dir, short) = shortened(path).map_err(named)?;
        if let Ok(found) = fs::symlink_metadata(path) {
            if !found.file_type().is_socket() {
                let why = "is there and is no socket";
                return Err(format!("{}: {why}", path.display()).into());
            }
            match UnixStream::connect(&short) {
                Ok(_) => {
                    let why = "another process has its control socket there";
                    return Err(format!("{}: {why}", path.display()).into());
                }
                // Left behind by a process that was killed.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(named)?;
                }
                // Of another kind, or another user's: it may well be in use.
                Err(error) => return Err(named(error).into()),
            }
        }
        let listener = UnixListener::bind(&short).map_err(named)?;
        // Who may use the socket may stop the node.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(named)?;
        let file = file_at(path).map_err(named)?;
        listener.set_nonblocking(true).map_err(named)?;
        let (sender, asked) = mpsc::channel();
        let end = Arc::new(AtomicBool::new(false));
        let ended = end.clone();
        thread::spawn(move || listen(&listener, &sender, &ended));
        Ok(Self { path: path.to_owned(), file, asked, end })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next question that waits for its answer.
    pub fn next(&self) -> Option<Asked> {
        self.asked.try_recv().ok()
    }
}

fn listen(listener: &UnixListener, sender: &Sender<Asked>, end: &AtomicBool) {
    let open = Arc::new(AtomicU32::new(0));
    while !end.load(Ordering::Acquire) {
        match listener.accept() {
            Ok((stream, _)) => {
                if open.load(Ordering::Relaxed) >= CONNECTIONS {
                    let why = format!("{CONNECTIONS} connections are open already");
                    // It is told as far as it listens.
                    let _ = write_line(&stream, &refused(&why));
                    continue;
                }
                open.fetch_add(1, Ordering::Relaxed);
                let (sender, open) = (sender.clone(), open.clone());
                thread::spawn(move || {
                    // An error ends the connection, which is all there is to do about it.
                    let _ = serve(&stream, &sender);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            // None is there, or the process has no room for it now.
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// One connection, until it ends.
fn serve(stream: &UnixStream, sender: &Sender<Asked>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        reader.by_ref().take(LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            return write_line(stream, &refused("a request is one line of at most 1 MiB"));
        }
        write_line(stream, &ask(&line, sender))?;
    }
}

fn ask(line: &[u8], sender: &Sender<Asked>) -> Value {
    let request: Value = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => return refused(&format!("no JSON: {error}")),
    };
    match request.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {}
        Some(other) => return refused(&format!("version {other}, and this is {VERSION}")),
        None => return refused("no version"),
    }
    let (reply, answer) = mpsc::sync_channel(1);
    if sender.send(Asked { request, reply }).is_err() {
        return refused("the node has ended");
    }
    match answer.recv_timeout(PATIENCE) {
        Ok(Ok(answer)) => json!({ "version": VERSION, "ok": true, "answer": answer }),
        Ok(Err(why)) => refused(&why),
        Err(_) => refused("the node does not answer: it is ending, or its thread stands still"),
    }
}

fn refused(why: &str) -> Value {
    json!({ "version": VERSION, "ok": false, "error": why })
}

fn write_line(mut stream: &UnixStream, value: &Value) -> io::Result<()> {
    stream.write_all(format!("{value}\n").as_bytes())
}
