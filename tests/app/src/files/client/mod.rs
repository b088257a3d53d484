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

mod config;
mod flow;
mod get;
mod job;
mod job_context;
mod operation;
mod operations;
mod put;
mod records;
mod running;

use std::collections::VecDeque;

use lnd_core::id::Nid;
use lnd_core::time::Instant;

use super::pages::{Pages, TooSmall, WindowMemory};
use super::receive::ReceiveBuffers;
use super::rpc::{Answer, Window, MAX_MESSAGE};
use super::words::{about, Role};
use super::{At, PORTAL_ANSWER};
pub use config::ClientConfig;
pub use flow::Chunks;
pub use job::{Job, JobDone, JobError, JobId, Work};
use job_context::{JobContext, Progress, Step};
use lnd_sim::lnet::{Event, Lnet};
use lnd_sim::rng::Rng;
use operations::{Finished, Operations, Patience};
use records::Records;
pub use records::{ClientStats, OpDone, OpKind};
use running::Running;

/// Does jobs at servers.
///
/// After every batch of events, after [`add`](Self::add), and at
/// [`next_deadline`](Self::next_deadline), call [`poll`](Self::poll); calling it more often is
/// harmless. It may cause further events. Before the layer is shut down, call [`stop`](Self::stop)
/// and go on passing events until [`is_idle`](Self::is_idle). When the node has died,
/// [`into_jobs`](Self::into_jobs) saves what was not done for the client of the next incarnation.
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
    /// Bytes that may still be copied in this poll.
    budget: u32,
    /// The job whose large chunk has waited longest for the window of its server.
    first: Option<JobId>,
    /// The last poll has ended with its budget, and not because there was nothing to do.
    cut_short: bool,
    scratch: Vec<u8>,
}

impl FileClient {
    /// A client with nothing to do. It uses the pages and nothing else of the window.
    ///
    /// # Errors
    /// No page is left behind the buffers for answers. With fewer than [`ClientConfig::memory`],
    /// jobs wait for each other's memory.
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
            answer: config.answer_timeout,
        };
        let records = Records::new(config.max_records);
        let random = Rng::new(config.seed);
        let most = (config.max_bytes, config.max_chunks);
        let operations = Operations::new(pages, patience, random, records, most);
        Ok(Self {
            config,
            operations,
            answers,
            queue: VecDeque::new(),
            running: VecDeque::new(),
            done: VecDeque::new(),
            last_job: 0,
            max_chunk,
            budget: 0,
            first: None,
            cut_short: false,
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
        self.budget = self.config.copied_at_a_time.max(1);
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

    /// A server is known to be down, or to have begun another incarnation: what was under way with
    /// it will not be answered. Its jobs begin anew after a short pause. A wrong report costs that
    /// and nothing else.
    pub fn on_server_down(
        &mut self,
        now: Instant,
        lnet: &mut Lnet,
        memory: &mut impl WindowMemory,
        server: Nid,
    ) {
        let at = &mut At { now, lnet, memory };
        for mut run in std::mem::take(&mut self.running) {
            if run.job.server == server {
                run.on_server_down(&mut self.context(at));
            }
            self.running.push_back(run);
        }
    }

    /// When to call [`poll`](Self::poll) at the latest; the origin means at once.
    pub fn next_deadline(&self) -> Option<Instant> {
        if self.cut_short {
            return Some(Instant::ORIGIN);
        }
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

    /// Payload bytes that may be under way to or from a server now, small chunks apart.
    pub fn window_bytes(&mut self, server: Nid) -> u64 {
        self.operations.window_of(server)
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
        self.cut_short = false;
        for mut run in std::mem::take(&mut self.running) {
            run.release(&mut self.operations, lnet);
            self.end(run, now, Some(JobError::Stopped));
        }
        for (id, job) in std::mem::take(&mut self.queue) {
            self.end(Running::new(id, job, now), now, Some(JobError::Stopped));
        }
        // Only courtesies are left.
        self.operations.cancel(lnet, 0);
        self.answers.close(lnet, &mut self.operations.pages);
    }

    /// Ends all jobs, and tells their servers that files which were begun are of no use. That has
    /// arrived when the client [is quiet](Self::is_quiet).
    pub fn leave(&mut self, now: Instant, lnet: &mut Lnet, memory: &mut impl WindowMemory) {
        let at = &mut At { now, lnet, memory };
        while !self.running.is_empty() {
            self.fail(at, 0, JobError::Stopped);
        }
        for (id, job) in std::mem::take(&mut self.queue) {
            self.end(Running::new(id, job, now), now, Some(JobError::Stopped));
        }
    }

    /// Whether nothing is on its way.
    pub fn is_quiet(&self) -> bool {
        self.operations.len() == 0
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

    /// Lets jobs begin operations in turn, a piece each, until none can or the budget is spent.
    fn advance(&mut self, at: &mut At<'_, impl WindowMemory>) {
        self.cut_short = false;
        let is_there = |first: &JobId| self.running.iter().any(|run| run.id == *first);
        self.first = self.first.filter(is_there);
        let mut waiting = 0;
        while waiting < self.running.len() {
            if self.budget == 0 {
                self.cut_short = true;
                break;
            }
            let Some(mut run) = self.running.pop_front() else { break };
            let first = self.first;
            let mut context = self.context(at);
            context.large_waits = first.is_some_and(|first| first != run.id);
            let went = run.advance(&mut context);
            // The one that has waited longest is asked first, until it needs that no more.
            match went {
                Ok(Progress::Queues) => self.first = self.first.or(Some(run.id)),
                _ => self.first = self.first.filter(|first| *first != run.id),
            }
            match went {
                Ok(Progress::Begun) => {
                    waiting = 0;
                    self.running.push_back(run);
                }
                Ok(Progress::Waits | Progress::Queues) => {
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
                let opened = match &answer {
                    Answer::Writing { id, .. } | Answer::Reading(Window { id, .. }) => *id,
                    _ => 0,
                };
                let (waited, end) = self.operations.on_answer(at.now, from, xid, answer);
                if !waited {
                    self.operations.records.stats.stale_answers += 1;
                    self.disown(at, from, opened);
                }
                if let Some(finished) = end {
                    self.on_finished(at, finished);
                }
            }
            None => self.operations.records.stats.bad_answers += 1,
        }
    }

    /// A server has opened something that no job waits for any more: it shall forget it. The answer
    /// to a second attempt may come late, and name what is in use.
    fn disown(&mut self, at: &mut At<'_, impl WindowMemory>, server: Nid, id: u32) {
        let used = |run: &Running| run.job.server == server && run.uses(id);
        if id != 0 && !self.running.iter().any(used) {
            self.context(at).close(server, id);
        }
    }

    fn on_finished(&mut self, at: &mut At<'_, impl WindowMemory>, finished: Finished) {
        self.operations.records.count(&finished);
        let index = self.running.iter().position(|run| run.id.0 == finished.job);
        if let Some((index, mut run)) = index.and_then(|i| Some((i, self.running.remove(i)?))) {
            let step = run.on_end(&finished, &mut self.context(at));
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
                    run.set_back(&mut self.context(at));
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
            run.leave(&mut self.context(at));
            self.end(run, at.now, Some(error));
        }
    }

    fn end(&mut self, run: Running, now: Instant, error: Option<JobError>) {
        let stats = &mut self.operations.records.stats;
        stats.jobs_done += u64::from(error.is_none());
        stats.jobs_failed += u64::from(error.is_some());
        self.done.push_back(run.into_done(now, error));
    }

    fn context<'a, 'b, M>(&'a mut self, at: &'a mut At<'b, M>) -> JobContext<'a, 'b, M> {
        JobContext {
            at,
            operations: &mut self.operations,
            max_outstanding: self.config.max_outstanding,
            budget: &mut self.budget,
            large_waits: false,
            fetch_attempts: self.config.fetch_attempts,
        }
    }
}
