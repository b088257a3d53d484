// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A sink that is written by a thread of its own, so that the node's thread goes on with its
//! messages while the file system works.

use std::io;
use std::sync::mpsc::{sync_channel, Receiver, SendError, SyncSender};
use std::thread::{self, JoinHandle};

use super::local::Sink;

/// Bytes that are handed over at a time: of longer ones fewer wake the thread, or its caller. A
/// file that is not longer is written by its caller.
const BLOCK: usize = 1 << 20;
/// Blocks that wait for the thread. The caller waits when there are more.
const WAITING: usize = 8;

/// A sink behind a thread. The sink's calls and their order are those of [`Sink`]; an error of
/// a [`write`](Sink::write) is reported by a later call, [`finish`](Sink::finish) at the latest.
#[derive(Debug)]
pub struct WriteBehind<S> {
    /// Not here while the thread has it, nor after an error.
    sink: Option<S>,
    writer: Option<Writer<S>>,
    /// Bytes that were not handed over yet, and the place of the first.
    block: Vec<u8>,
    offset: u64,
}

/// The thread that has the sink.
#[derive(Debug)]
struct Writer<S> {
    orders: SyncSender<(u64, Vec<u8>)>,
    /// Blocks that were written, for reuse.
    spare: Receiver<Vec<u8>>,
    thread: JoinHandle<Option<(S, io::Result<()>)>>,
}

impl<S: Sink + 'static> WriteBehind<S> {
    /// Starts nothing: the thread starts with the first whole block.
    pub const fn new(sink: S) -> Self {
        Self { sink: Some(sink), writer: None, block: Vec::new(), offset: 0 }
    }

    /// Hands the block over. Without a thread the caller writes it.
    fn hand_over(&mut self) -> io::Result<()> {
        if let Some(sink) = self.sink.take() {
            match Writer::start(sink) {
                Ok(writer) => self.writer = Some(writer),
                Err(sink) => self.sink = Some(sink),
            }
        }
        let Some(writer) = &self.writer else { return self.write_block() };
        let next = writer.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(BLOCK));
        let block = std::mem::replace(&mut self.block, next);
        if writer.orders.send((self.offset, block)).is_ok() {
            return Ok(());
        }
        // The thread ends before its orders only with an error.
        self.join()?;
        Err(io::ErrorKind::BrokenPipe.into())
    }

    /// Writes the block, if there is anything in it.
    fn write_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let sink = self.sink.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        sink.write(self.offset, &self.block)?;
        self.block.clear();
        Ok(())
    }
}

impl<S> WriteBehind<S> {
    /// Waits until all orders are done, and takes the sink back.
    fn join(&mut self) -> io::Result<()> {
        let Some(Writer { orders, thread, .. }) = self.writer.take() else { return Ok(()) };
        drop(orders);
        let ended = thread.join().ok().flatten();
        let (sink, written) = ended.ok_or(io::ErrorKind::Other)?;
        written?;
        self.sink = Some(sink);
        Ok(())
    }
}

impl<S: Sink + 'static> Writer<S> {
    /// Starts the thread; the sink comes back if the system has none.
    fn start(sink: S) -> Result<Self, S> {
        let (orders, waiting) = sync_channel::<(u64, Vec<u8>)>(WAITING);
        let (back, spare) = sync_channel(WAITING + 2);
        // What is moved into a thread that does not start is lost, so the sink follows when it has.
        let (give, take) = sync_channel::<S>(1);
        let work = move || {
            let mut sink = take.recv().ok()?;
            for (offset, mut block) in waiting {
                if let Err(error) = sink.write(offset, &block) {
                    return Some((sink, Err(error)));
                }
                block.clear();
                // One that has no place is not needed.
                let _ = back.try_send(block);
            }
            Some((sink, Ok(())))
        };
        let Ok(thread) = thread::Builder::new().name("lnd-write".into()).spawn(work) else {
            return Err(sink);
        };
        match give.send(sink) {
            Ok(()) => Ok(Self { orders, spare, thread }),
            Err(SendError(sink)) => Err(sink),
        }
    }
}

impl<S: Sink + 'static> Sink for WriteBehind<S> {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let follows = self.offset.checked_add(self.block.len() as u64) == Some(offset);
        if !follows && !self.block.is_empty() {
            self.hand_over()?;
        }
        if self.block.is_empty() {
            self.offset = offset;
        }
        self.block.extend_from_slice(bytes);
        if self.block.len() < BLOCK {
            return Ok(());
        }
        self.hand_over()
    }

    fn finish(&mut self, size: u64) -> io::Result<()> {
        if self.writer.is_some() && !self.block.is_empty() {
            self.hand_over()?;
        }
        self.join()?;
        self.write_block()?;
        self.sink.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.finish(size)
    }
}

impl<S> Drop for WriteBehind<S> {
    fn drop(&mut self) {
        // A sink that leaves nothing has done so when this returns. The error has no receiver.
        let _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::local::SharedSink;

    /// A sink that records the calls, and fails at one offset.
    #[derive(Clone, Default)]
    struct Recorded {
        bytes: SharedSink,
        bad: Option<u64>,
        finished: std::sync::Arc<std::sync::Mutex<Vec<u64>>>,
    }

    impl Sink for Recorded {
        fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            match self.bad {
                Some(bad) if (offset..offset + bytes.len() as u64).contains(&bad) => {
                    Err(io::ErrorKind::StorageFull.into())
                }
                _ => self.bytes.write(offset, bytes),
            }
        }

        fn finish(&mut self, size: u64) -> io::Result<()> {
            self.finished.lock().unwrap().push(size);
            self.bytes.finish(size)
        }
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
    }

    fn write_all(sink: &mut impl Sink, from: usize, bytes: &[u8]) -> io::Result<()> {
        let mut pieces = bytes.chunks(10_000).enumerate();
        pieces.try_for_each(|(at, piece)| sink.write((from + at * 10_000) as u64, piece))
    }

    #[test]
    fn all_bytes_are_written_in_order_before_the_file_is_finished() {
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 20 * BLOCK + 12_345] {
            let (own, sink) = (content(length), Recorded::default());
            let mut behind = WriteBehind::new(sink.clone());
            write_all(&mut behind, 0, &own).unwrap();
            assert_eq!(*sink.finished.lock().unwrap(), [0; 0]);
            behind.finish(length as u64).unwrap();
            assert_eq!(*sink.finished.lock().unwrap(), [length as u64]);
            assert!(sink.bytes.take() == own, "{length}");
        }
    }

    /// What was wrong is written again from an earlier offset.
    #[test]
    fn what_is_written_again_replaces_what_was_there() {
        let (own, sink) = (content(6 * BLOCK), Recorded::default());
        let mut behind = WriteBehind::new(sink.clone());
        write_all(&mut behind, 0, &vec![0xee; 5 * BLOCK + 77]).unwrap();
        write_all(&mut behind, 0, &own[..3 * BLOCK + 5]).unwrap();
        write_all(&mut behind, 2 * BLOCK + 1, &own[2 * BLOCK + 1..]).unwrap();
        behind.finish(own.len() as u64).unwrap();
        assert!(sink.bytes.take() == own);
    }

    #[test]
    fn an_error_of_the_thread_is_reported_and_the_file_is_not_finished() {
        for bad in [5, BLOCK as u64, 9 * BLOCK as u64] {
            let sink = Recorded { bad: Some(bad), ..Recorded::default() };
            let mut behind = WriteBehind::new(sink.clone());
            let length = 9 * BLOCK + 100;
            let written = write_all(&mut behind, 0, &content(length));
            let error = written.and_then(|()| behind.finish(length as u64)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{bad}");
            assert!(behind.write(0, &content(2 * BLOCK)).is_err());
            assert!(behind.finish(0).is_err());
            assert_eq!(*sink.finished.lock().unwrap(), [0; 0]);
        }
    }

    #[test]
    fn a_sink_that_is_dropped_is_gone_with_its_thread() {
        let path = std::env::temp_dir().join(format!("lnd-behind-{}", std::process::id()));
        let mut behind = WriteBehind::new(crate::files::FileSink::create(&path).unwrap());
        write_all(&mut behind, 0, &content(9 * BLOCK)).unwrap();
        drop(behind);
        let name = path.file_name().unwrap().to_str().unwrap();
        let left = std::fs::read_dir(std::env::temp_dir()).unwrap();
        let left =
            left.filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().contains(name));
        assert_eq!(left.count(), 0, "neither the file nor its draft");
    }
}
