// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! The client: a queue of jobs, some of them under way, each a small machine over operations that
//! are tried again until they succeed.
//!
//! ```text
//!   add(Job) ─▶ queue ─▶ Running: PutPlan | GetPlan | … ─▶ JobDone
//!                            │ begin        ▲ Finished
//!                            ▼              │
//!                        Operations: Paused ⇄ Flying      ─▶ OpDone, one an attempt
//!                            │ put, get     ▲ events
//!                            ▼              │
//!                                 Lnet
//! ```

mod desk;
mod get;
mod job;
mod operations;
mod put;
mod records;
mod running;

use std::collections::VecDeque;

use lnd_core::time::{Instant, Span};

use crate::lnet::{Event, Lnet};
use crate::rng::Rng;

use super::pages::{Pages, TooSmall, WindowMemory};
use super::receive::{ReceiveBuffers, Room};
use super::rpc::{Answer, MAX_MESSAGE};
use super::words::{about, Role};
use super::{At, PORTAL_ANSWER};
use desk::{Desk, Progress, Step};
pub use job::{Job, JobDone, JobError, JobId, Work};
use operations::{Finished, Operations, Patience};
use records::Records;
pub use records::{ClientStats, OpDone, OpKind};
use running::Running;

/// What a client is made with.
#[derive(Clone, Debug)]
pub struct ClientConfig {
    /// Another number for each life: answers to a former one do not match. Also the seed of pauses.
    pub seed: u64,
    /// Memory for answers.
    pub answers: Room,
    /// Most operations at a time, over all jobs; each holds the memory of its chunk.
    pub max_outstanding: usize,
    /// Most jobs under way at a time.
    pub max_jobs: usize,
    /// When an attempt is given up. Longer than the driver takes to give up its own.
    pub timeout: Span,
    /// Pause before a second attempt; doubled before each further one, a random half less…
    pub first_pause: Span,
    /// …up to this.
    pub longest_pause: Span,
    /// Attempts at fetching a chunk before its window is opened anew.
    pub fetch_attempts: u32,
    /// Most [`OpDone`] kept for the user; beyond, the oldest are dropped.
    pub max_records: usize,
}

impl ClientConfig {
    /// Sixteen operations and four jobs at a time.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            answers: Room { buffers: 2, bytes: 64 << 10 },
            max_outstanding: 16,
            max_jobs: 4,
            timeout: Span::from_secs(10),
            first_pause: Span::from_millis(1),
            longest_pause: Span::from_secs(1),
            fetch_attempts: 3,
            max_records: 1 << 16,
        }
    }

    /// Bytes of the window that a client needs for this, with chunks of `chunk` bytes.
    pub fn memory(&self, chunk: u32) -> u64 {
        let whole = |bytes: u32| u64::from(bytes).next_multiple_of(super::PAGE);
        let calls = (self.max_jobs as u64 + 4) * whole(MAX_MESSAGE as u32);
        self.answers.total(MAX_MESSAGE as u32) + calls + self.max_outstanding as u64 * whole(chunk)
    }
}

/// Does jobs at servers.
///
/// After every batch of events, after [`add`](Self::add), and at
/// [`next_deadline`](Self::next_deadline), call [`poll`](Self::poll); calling it more often is
/// harmless. It may cause further events. Before the layer is shut down, call [`stop`](Self::stop) and go on passing events until
/// [`is_idle`](Self::is_idle). When the node has died, [`into_jobs`](Self::into_jobs) saves what was
/// not done for the client of the next life.
#[derive(Debug)]
pub struct FileClient {
    config: ClientConfig,
    operations: Operations,
    answers: ReceiveBuffers,
    queue: VecDeque<(JobId, Job)>,
    running: VecDeque<Running>,
    done: VecDeque<JobDone>,
    last_job: u64,
    /// Longest chunk that there is memory for.
    max_chunk: u64,
    scratch: Vec<u8>,
}

impl FileClient {
    /// A client with nothing to do. It uses the pages and nothing else of the window.
    ///
    /// # Errors
    /// No page is left behind the buffers for answers. With fewer than [`ClientConfig::memory`], jobs
    /// wait for each other's memory.
    pub fn new(config: ClientConfig, mut pages: Pages, lnet: &mut Lnet) -> Result<Self, TooSmall> {
        let longest = MAX_MESSAGE as u32;
        pages.check(config.answers.total(longest) + MAX_MESSAGE as u64)?;
        let portal = (PORTAL_ANSWER, Role::Answers);
        let answers = ReceiveBuffers::new(lnet, &mut pages, portal, config.answers, longest);
        // One page is left for a call.
        let max_chunk = pages.free_bytes().saturating_sub(MAX_MESSAGE as u64);
        let patience = Patience {
            timeout: config.timeout,
            first_pause: config.first_pause,
            longest_pause: config.longest_pause,
        };
        let records = Records::new(config.max_records);
        let operations = Operations::new(pages, patience, Rng::new(config.seed), records);
        Ok(Self {
            config,
            operations,
            answers,
            queue: VecDeque::new(),
            running: VecDeque::new(),
            done: VecDeque::new(),
            last_job: 0,
            max_chunk,
            scratch: Vec::new(),
        })
    }

    /// Queues a job. The next [`poll`](Self::poll) begins it if it may be begun.
    pub fn add(&mut self, job: Job) -> JobId {
        self.last_job += 1;
        let id = JobId(self.last_job);
        self.queue.push_back((id, job));
        id
    }

    /// Begins what may be begun, tries again what is due, gives up what takes too long.
    pub fn poll(&mut self, now: Instant, lnet: &mut Lnet, memory: &mut impl WindowMemory) {
        let at = &mut At { now, lnet, memory };
        loop {
            self.expire(at);
            self.start(now);
            self.advance(at);
            let ended = self.operations.poll(now, at.lnet);
            if ended.is_empty() {
                return;
            }
            for finished in ended {
                self.on_finished(at, finished);
            }
        }
    }

    /// Takes an event of the layer, or gives it back if it is not about a job.
    pub fn on_event(
        &mut self,
        now: Instant,
        lnet: &mut Lnet,
        memory: &mut impl WindowMemory,
        event: Event,
    ) -> Option<Event> {
        let at = &mut At { now, lnet, memory };
        match (about(&event), &event) {
            (Some((Role::Operation, number)), event) => {
                if let Some(finished) = self.operations.on_event(now, number, event) {
                    self.on_finished(at, finished);
                }
            }
            (Some((Role::Answers, slot)), Event::Unlinked { .. }) => {
                self.answers.on_unlinked(at.lnet, &mut self.operations.pages, slot);
            }
            (Some((Role::Answers, slot)), event) => self.on_message(at, slot, event),
            _ => return Some(event),
        }
        None
    }

    /// When to call [`poll`](Self::poll) at the latest.
    pub fn next_deadline(&self) -> Option<Instant> {
        let jobs = self.running.iter().map(Running::next_deadline).min();
        [jobs, self.operations.next_deadline()].into_iter().flatten().min()
    }

    /// The next job that has ended.
    pub fn next_done(&mut self) -> Option<JobDone> {
        self.done.pop_front()
    }

    /// The record of the next attempt of an operation that has ended.
    pub fn next_record(&mut self) -> Option<OpDone> {
        self.operations.records.pop()
    }

    /// The counts so far.
    pub fn stats(&self) -> &ClientStats {
        &self.operations.records.stats
    }

    /// Bytes that are where they belong, of all that jobs under way have to move so far as known.
    pub fn progress(&self) -> (u64, u64) {
        let sums = self.running.iter().map(|run| (run.bytes(), run.size()));
        sums.fold((0, 0), |(done, size), run| (done + run.0, size + run.1))
    }

    /// Jobs waiting, and jobs under way.
    pub fn jobs(&self) -> (usize, usize) {
        (self.queue.len(), self.running.len())
    }

    /// Who has which pages, in bytes.
    pub fn pages(&self) -> &Pages {
        &self.operations.pages
    }

    /// Ends all jobs and takes no more answers.
    pub fn stop(&mut self, now: Instant, lnet: &mut Lnet) {
        for run in std::mem::take(&mut self.running) {
            self.operations.cancel(lnet, run.id.0);
            self.end(run, now, Some(JobError::Stopped));
        }
        for (id, job) in std::mem::take(&mut self.queue) {
            self.end(Running::new(id, job, now), now, Some(JobError::Stopped));
        }
        // Only courtesies are left.
        self.operations.cancel(lnet, 0);
        self.answers.close(lnet, &mut self.operations.pages);
    }

    /// Whether no memory is in use; only after [`stop`](Self::stop).
    pub fn is_idle(&self) -> bool {
        self.operations.len() == 0 && self.operations.pages.is_whole()
    }

    /// The jobs that have not ended, in the order of their ids; for another client.
    pub fn into_jobs(self) -> Vec<(JobId, Job)> {
        let running = self.running.into_iter().map(|run| (run.id, run.job));
        let mut jobs: Vec<(JobId, Job)> = running.chain(self.queue).collect();
        jobs.sort_by_key(|(id, _)| *id);
        jobs
    }

    /// Ends the jobs whose time is over.
    fn expire(&mut self, at: &mut At<'_, impl WindowMemory>) {
        let now = at.now;
        let late = |run: &Running| run.job.deadline <= now;
        while let Some(index) = self.running.iter().position(late) {
            self.fail(at, index, JobError::Deadline);
        }
    }

    /// Moves jobs from the queue to those under way.
    fn start(&mut self, now: Instant) {
        while self.running.len() < self.config.max_jobs {
            let Some((id, job)) = self.queue.pop_front() else { return };
            let run = Running::new(id, job, now);
            match run.objection(now, self.max_chunk) {
                Some(error) => self.end(run, now, Some(error)),
                None => self.running.push_back(run),
            }
        }
    }

    /// Lets jobs begin operations in turn, one each, until none can.
    fn advance(&mut self, at: &mut At<'_, impl WindowMemory>) {
        let mut waiting = 0;
        while waiting < self.running.len() {
            let Some(mut run) = self.running.pop_front() else { return };
            match run.advance(&mut self.desk(at)) {
                Ok(Progress::Begun) => {
                    waiting = 0;
                    self.running.push_back(run);
                }
                Ok(Progress::Waits) => {
                    waiting += 1;
                    self.running.push_back(run);
                }
                Ok(Progress::Starves) => {
                    // It is the first to be asked when memory has come back.
                    self.running.push_front(run);
                    return;
                }
                Err(error) => {
                    self.running.push_front(run);
                    self.fail(at, 0, error);
                }
            }
        }
    }

    /// A message has come to the answer portal.
    fn on_message(&mut self, at: &mut At<'_, impl WindowMemory>, slot: u64, event: &Event) {
        let &Event::PutReceived { from, offset, length, status, .. } = event else { return };
        let mut bytes = std::mem::take(&mut self.scratch);
        self.answers.copy_out(at.memory, slot, offset, length, &mut bytes);
        let message = Answer::decode(&bytes).ok().filter(|_| status.errno == 0);
        self.scratch = bytes;
        match message {
            Some((0, Answer::Lost { id })) => {
                let loser = |run: &Running| run.job.server == from && run.sends(id);
                match self.running.iter().position(loser) {
                    Some(index) => self.step(at, index, Step::Pause),
                    None => self.operations.records.stats.stale_answers += 1,
                }
            }
            Some((0, Answer::Broken { id, why })) => {
                let broken = |run: &Running| run.job.server == from && run.sends(id);
                match self.running.iter().position(broken) {
                    Some(index) => self.fail(at, index, JobError::Refused(why)),
                    None => self.operations.records.stats.stale_answers += 1,
                }
            }
            Some((xid, answer)) => {
                let (waited, end) = self.operations.on_answer(at.now, from, xid, answer);
                self.operations.records.stats.stale_answers += u64::from(!waited);
                if let Some(finished) = end {
                    self.on_finished(at, finished);
                }
            }
            None => self.operations.records.stats.bad_answers += 1,
        }
    }

    fn on_finished(&mut self, at: &mut At<'_, impl WindowMemory>, finished: Finished) {
        self.operations.records.count(&finished);
        let index = self.running.iter().position(|run| run.id.0 == finished.job);
        if let Some((index, mut run)) = index.and_then(|i| Some((i, self.running.remove(i)?))) {
            let step = run.on_end(&finished, &mut self.desk(at));
            self.running.insert(index, run);
            self.step(at, index, step);
        }
        self.operations.pages.free(finished.buffer);
    }

    fn step(&mut self, at: &mut At<'_, impl WindowMemory>, index: usize, step: Step) {
        match step {
            Step::On => {}
            Step::Pause => {
                if let Some(mut run) = self.running.remove(index) {
                    run.set_back(&mut self.desk(at));
                    self.running.insert(index, run);
                }
            }
            Step::Done => {
                if let Some(mut run) = self.running.remove(index) {
                    let error = run.finish().err();
                    self.end(run, at.now, error);
                }
            }
            Step::Fail(error) => self.fail(at, index, error),
        }
    }

    fn fail(&mut self, at: &mut At<'_, impl WindowMemory>, index: usize, error: JobError) {
        if let Some(mut run) = self.running.remove(index) {
            run.leave(&mut self.desk(at));
            self.end(run, at.now, Some(error));
        }
    }

    fn end(&mut self, run: Running, now: Instant, error: Option<JobError>) {
        let stats = &mut self.operations.records.stats;
        stats.jobs_done += u64::from(error.is_none());
        stats.jobs_failed += u64::from(error.is_some());
        self.done.push_back(run.into_done(now, error));
    }

    fn desk<'a, 'b, M>(&'a mut self, at: &'a mut At<'b, M>) -> Desk<'a, 'b, M> {
        Desk {
            at,
            operations: &mut self.operations,
            max_outstanding: self.config.max_outstanding,
            fetch_attempts: self.config.fetch_attempts,
        }
    }
}
