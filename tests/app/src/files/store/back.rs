// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! Reads drafts back on a thread of its own, so that the server's thread writes the next chunk
//! meanwhile.

use std::fs::File;
use std::io;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender, TryRecvError};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::directory::read_pieces;
use super::StoreError;
use crate::files::hash::Hash;

/// The checksum with what was read, or why it could not be read.
type Read = Result<Hash, StoreError>;

/// The thread.
#[derive(Debug)]
pub(super) struct BackReader {
    /// Gone when the thread is to end.
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

struct Order {
    file: Arc<File>,
    offset: u64,
    length: usize,
    hash: Hash,
    to: SyncSender<Read>,
}

/// A part of a file that is being read.
#[derive(Debug)]
pub(super) struct Reading(Receiver<Read>);

impl BackReader {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread.
    pub fn start() -> io::Result<Self> {
        let (orders, waiting) = channel::<Order>();
        let work = move || {
            for Order { file, offset, length, mut hash, to } in waiting {
                let read = read_pieces(&file, offset, length, &mut |piece| hash.update(piece));
                // A draft that was dropped meanwhile waits for nothing.
                let _ = to.send(read.map(|()| hash).map_err(StoreError::from));
            }
        };
        let thread = thread::Builder::new().name("lnd-verify".into()).spawn(work)?;
        Ok(Self { orders: Some(orders), thread: Some(thread) })
    }

    /// Begins to read a part of a file, behind the parts that were begun before.
    pub fn read(&self, file: &Arc<File>, offset: u64, length: usize, hash: Hash) -> Reading {
        // There is room for the result: the thread never waits.
        let (to, result) = sync_channel(1);
        let order = Order { file: Arc::clone(file), offset, length, hash, to };
        // Without the thread the result is an error.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
        Reading(result)
    }
}

impl Drop for BackReader {
    fn drop(&mut self) {
        drop(self.orders.take());
        // A thread that has panicked has said so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Reading {
    /// The result, if it is there.
    pub fn poll(&self) -> Option<Read> {
        match self.0.try_recv() {
            Ok(read) => Some(read),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(StoreError::Io(io::ErrorKind::Other))),
        }
    }
}
