// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The page: as much of HTTP as Prometheus needs, for a few readers at a time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{render, Board};

/// Readers at a time; others wait. One that asks nothing holds up no other.
const READERS: u32 = 16;
/// Longest request that is read.
const REQUEST: usize = 8_192;
/// So long a reader may take to close its end.
const LINGER: Duration = Duration::from_millis(200);
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
    // Relaxed: a count, by which no memory is handed over.
    let open = &AtomicU32::new(0);
    thread::scope(|scope| {
        while !end.load(Ordering::Relaxed) {
            let has_room = open.load(Ordering::Relaxed) < READERS;
            let Some((stream, _)) = has_room.then(|| listener.accept().ok()).flatten() else {
                thread::sleep(NAP);
                continue;
            };
            open.fetch_add(1, Ordering::Relaxed);
            let reader = move || {
                // A reader that goes away in between is its own trouble.
                drop(answer(stream, board, end));
                open.fetch_sub(1, Ordering::Relaxed);
            };
            if thread::Builder::new().spawn_scoped(scope, reader).is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    });
}

/// The first line of a request; `None`: it is too long.
///
/// # Errors
/// It does not come in time, or the page is to end.
fn request(stream: &mut TcpStream, end: &AtomicBool) -> io::Result<Option<String>> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    // Lines of some end without \r.
    let is_whole = |bytes: &[u8]| {
        bytes.windows(4).any(|end| end == b"\r\n\r\n") || bytes.windows(2).any(|it| it == b"\n\n")
    };
    while !is_whole(&bytes) {
        if bytes.len() > REQUEST {
            return Ok(None);
        }
        if Instant::now() > until || end.load(Ordering::Relaxed) {
            return Err(ErrorKind::TimedOut.into());
        }
        match stream.read(&mut piece) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(error) if is_early(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}

/// Nothing has come yet.
fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Reads what else the reader sends, for a short time: a connection that is closed before takes
/// the answer with it.
fn linger(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let until = Instant::now() + LINGER;
    let mut piece = [0; 1024];
    while Instant::now() < until {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if is_early(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn answer(mut stream: TcpStream, board: &Board, end: &AtomicBool) -> io::Result<()> {
    const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const PLAIN: &str = "text/plain; charset=utf-8";
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(NAP))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let line = request(&mut stream, end)?;
    let mut words = line.as_deref().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    // What is asked about a page changes nothing of it.
    let path = path.split('?').next().unwrap_or_default();
    let (status, kind, body) = match (method, path) {
        _ if line.is_none() => ("431 Request Header Fields Too Large", PLAIN, String::new()),
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
    stream.flush()?;
    linger(&mut stream)
}
