// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page: as much of HTTP as Prometheus needs, one reader at a time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{render, Board};

/// Longest request that is read.
const REQUEST: usize = 8_192;
/// A reader that is slower is left alone.
const PATIENCE: Duration = Duration::from_secs(2);
/// What can be asked for.
const PATHS: &str = "/metrics   for Prometheus\n/failed    the latest transfers that failed\n\
    /blockers  what has not ended, and what it needs\n/bounds    bounds in effect\n";
/// Between two looks for a reader.
const NAP: Duration = Duration::from_millis(20);

/// A page that is served until it is dropped.
#[derive(Debug)]
pub struct Page {
    /// What it shows.
    pub board: Board,
    address: SocketAddr,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    /// Begins to serve.
    ///
    /// # Errors
    /// The address cannot be used.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        // The thread also looks whether it shall end.
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (board, end) = (Board::default(), Arc::new(AtomicBool::new(false)));
        let (shown, ended) = (board.clone(), end.clone());
        let thread = thread::spawn(move || serve(&listener, &shown, &ended));
        Ok(Self { board, address, end, thread: Some(thread) })
    }

    /// Where it is served.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A page that panicked has nothing to give back.
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, board: &Board, end: &AtomicBool) {
    while !end.load(Ordering::Relaxed) {
        match listener.accept() {
            // A reader that goes away in between is its own trouble.
            Ok((stream, _)) => drop(answer(stream, board)),
            Err(_) => thread::sleep(NAP),
        }
    }
}

/// The first line of a request, or none within bounds of time and size.
fn request(stream: &mut TcpStream) -> io::Result<String> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece)?;
        bytes.extend_from_slice(&piece[..read]);
        if read == 0 || bytes.len() > REQUEST || Instant::now() > until {
            return Err(ErrorKind::InvalidData.into());
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn answer(mut stream: TcpStream, board: &Board) -> io::Result<()> {
    const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const PLAIN: &str = "text/plain; charset=utf-8";
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let line = request(&mut stream)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => ("200 OK", METRICS, render(board.latest())),
        ("GET" | "HEAD", "/failed") => ("200 OK", PLAIN, board.latest().failed.join("\n")),
        ("GET" | "HEAD", "/blockers") => ("200 OK", PLAIN, board.latest().blockers.concat()),
        ("GET" | "HEAD", "/bounds") => ("200 OK", PLAIN, board.latest().bounds.concat()),
        ("GET" | "HEAD", "/") => ("200 OK", PLAIN, PATHS.into()),
        ("GET" | "HEAD", _) => ("404 Not Found", PLAIN, PATHS.into()),
        _ => ("405 Method Not Allowed", PLAIN, "GET\n".into()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}
