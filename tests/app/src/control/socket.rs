// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The threads of a control socket. They read and write lines; what is asked goes to the node's own
//! thread, which alone touches the driver.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::{json, Value};

use super::place::{is_taken, shortened};
use super::system::{has_hung_up, listen_privately};
use super::{LINE, VERSION};
use crate::process::Broken;

/// Connections at a time.
const CONNECTIONS: u32 = 16;
/// A connection that asks nothing for so long is closed.
const IDLE: Duration = Duration::from_secs(60);
/// The node's thread answers within so long, or the client is told that it does not.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 5_000 });
/// A request that has been taken in hand is answered within so long.
const IN_HAND: Duration = Duration::from_secs(2);
/// Between two looks for a connection.
const LOOK: Duration = Duration::from_millis(20);

/// A question, and where its answer goes.
#[derive(Debug)]
pub struct Asked {
    /// The request, of a version that is known.
    pub request: Value,
    reply: SyncSender<Result<Value, String>>,
    /// Set by the node's thread, which then does it, or by the connection's, which then says that
    /// nothing was done.
    claimed: Arc<AtomicBool>,
    from: Arc<UnixStream>,
}

/// Whether the caller is the first to claim a request. The request itself goes through a channel,
/// which orders what is in it.
fn claims(claimed: &AtomicBool) -> bool {
    !claimed.swap(true, Ordering::Relaxed)
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
            // An error is of another kind, or another user's socket: it may well be in use.
            if is_taken(&short).map_err(named)? {
                let why = "another process has its control socket there";
                return Err(format!("{}: {why}", path.display()).into());
            }
            // Left behind by a process that was killed.
            fs::remove_file(path).map_err(named)?;
        }
        // Who may use the socket may stop the node.
        let listener = listen_privately(&short).map_err(named)?;
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

    /// The next question that waits for its answer. One whose client has been told that the node
    /// does not answer, or has gone, is not asked any more.
    pub fn next(&self) -> Option<Asked> {
        self.asked.try_iter().find(|it| !has_hung_up(&it.from) && claims(&it.claimed))
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
                    let _ = serve(&Arc::new(stream), &sender);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            // None is there, or the process has no room for it now.
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// One connection, until it ends.
fn serve(stream: &Arc<UnixStream>, sender: &Sender<Asked>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(IDLE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(&**stream);
    loop {
        let mut line = Vec::new();
        reader.by_ref().take(LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(());
        }
        if !line.ends_with(b"\n") {
            return write_line(stream, &refused("a request is one line of at most 1 MiB"));
        }
        write_line(stream, &ask(&line, stream, sender))?;
    }
}

fn ask(line: &[u8], from: &Arc<UnixStream>, sender: &Sender<Asked>) -> Value {
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
    let claimed = Arc::new(AtomicBool::new(false));
    let asked = Asked { request, reply, claimed: claimed.clone(), from: from.clone() };
    if sender.send(asked).is_err() {
        return refused("the node has ended");
    }
    let mut answered = answer.recv_timeout(PATIENCE);
    if answered == Err(RecvTimeoutError::Timeout) && !claims(&claimed) {
        answered = answer.recv_timeout(IN_HAND);
        if answered == Err(RecvTimeoutError::Timeout) {
            return refused("the node does it, but does not answer: its thread stands still");
        }
    }
    match answered {
        Ok(Ok(answer)) => json!({ "version": VERSION, "ok": true, "answer": answer }),
        Ok(Err(why)) => refused(&why),
        Err(RecvTimeoutError::Disconnected) => refused("the node has ended"),
        Err(RecvTimeoutError::Timeout) => {
            refused("the node does not answer: its thread stands still; nothing was done")
        }
    }
}

fn refused(why: &str) -> Value {
    json!({ "version": VERSION, "ok": false, "error": why })
}

fn write_line(mut stream: &UnixStream, value: &Value) -> io::Result<()> {
    stream.write_all(format!("{value}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_done_or_refused_and_never_both() {
        let path = std::env::temp_dir().join(format!("lnd-socket-{}", std::process::id()));
        let socket = Socket::open(&path).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let ask = |value: u32| {
            let request = json!({ "version": VERSION, "value": value });
            write_line(&client, &request).unwrap();
        };
        let (sender, answers) = mpsc::channel();
        let lines = BufReader::new(client.try_clone().unwrap()).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|it| sender.send(it)));
        // The node's thread stands still until the client has been told so.
        ask(1);
        let refused =
            |told: String| assert!(told.contains("stands still; nothing was done"), "{told}");
        refused(answers.recv().unwrap());
        // On a busy machine this thread may stand still, too, and more than the first be refused.
        let mut last = 2;
        ask(last);
        let asked = loop {
            if let Some(asked) = socket.next() {
                break asked;
            }
            if let Ok(told) = answers.try_recv() {
                refused(told);
                last += 1;
                ask(last);
            }
        };
        assert_eq!(asked.request["value"], last, "what was refused is not done any more");
        // What was taken in hand in time is answered, although late.
        thread::sleep(PATIENCE * 2);
        asked.answer(Ok("done".into()));
        let told = answers.recv().unwrap();
        assert!(told.contains("\"answer\":\"done\""), "{told}");
    }
}
