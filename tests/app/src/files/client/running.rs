// SPDX-License-Identifier: MIT OR GPL-2.0-only
//! A job under way.

use lnd_core::time::Instant;
use lnd_sim::lnet::Lnet;

use crate::files::pages::WindowMemory;
use crate::files::rpc::{Answer, Call, Refusal, FIXED_BYTES, MAX_MESSAGE};
use crate::files::store::parts;

use super::get::GetPlan;
use super::job::{Job, JobDone, JobError, JobId, Work};
use super::job_context::{JobContext, Progress, Step};
use super::operations::{End, Finished, Operations};
use super::put::{PutPlan, Whose};

#[derive(Debug)]
pub(super) struct Running {
    pub id: JobId,
    pub job: Job,
    plan: Plan,
    started: Instant,
    /// Begins nothing before this.
    paused_until: Option<Instant>,
    restarts: u32,
    names: Vec<String>,
}

#[derive(Debug)]
enum Plan {
    Put(PutPlan),
    Get(GetPlan),
    /// One call after the other.
    Talk {
        calling: bool,
    },
}

impl Running {
    pub fn new(id: JobId, job: Job, now: Instant) -> Self {
        let plan = match &job.work {
            Work::Put(_) => Plan::Put(PutPlan::new()),
            Work::Get { .. } => Plan::Get(GetPlan::new()),
            Work::Ping(_) | Work::List => Plan::Talk { calling: false },
        };
        let names = Vec::new();
        Self { id, job, plan, started: now, paused_until: None, restarts: 0, names }
    }

    /// Why the job need not be begun.
    pub fn objection(&self, now: Instant, max_chunk: u64) -> Option<JobError> {
        let chunk = u64::from(self.job.chunk);
        let too_large = Some(JobError::Refused(Refusal::TooLarge));
        let sized = |size: u64| chunk == 0 || size.min(chunk) > max_chunk;
        match &self.job.work {
            _ if self.job.deadline <= now => Some(JobError::Deadline),
            Work::Put(_) | Work::Get { .. } if parts(&self.job.name).is_none() => {
                Some(JobError::Refused(Refusal::BadName))
            }
            Work::Put(source) => {
                let size = source.size();
                let many = size.div_ceil(chunk.max(1)) > u64::from(u32::MAX);
                too_large.filter(|_| many || sized(size))
            }
            Work::Get { .. } => too_large.filter(|_| sized(chunk)),
            Work::Ping(echo) => too_large.filter(|_| echo.len() > MAX_MESSAGE - FIXED_BYTES),
            Work::List => None,
        }
    }

    /// When it has to be looked at, its operations apart.
    pub fn next_deadline(&self) -> Instant {
        self.paused_until.map_or(self.job.deadline, |until| until.min(self.job.deadline))
    }

    /// Bytes that are where they belong.
    pub fn bytes(&self) -> u64 {
        match &self.plan {
            Plan::Put(plan) => plan.bytes(self.size()),
            Plan::Get(plan) => plan.bytes(),
            Plan::Talk { .. } => 0,
        }
    }

    /// Bytes of the file, as far as known.
    pub fn size(&self) -> u64 {
        match (&self.job.work, &self.plan) {
            (Work::Put(source), _) => source.size(),
            (_, Plan::Get(plan)) => plan.size(),
            _ => 0,
        }
    }

    /// Whether it is sending the file with this id.
    pub fn sends(&self, id: u32) -> bool {
        matches!(&self.plan, Plan::Put(plan) if plan.id() == Some(id))
    }

    /// Whether the server has this open for the job.
    pub fn uses(&self, id: u32) -> bool {
        self.sends(id) || matches!(&self.plan, Plan::Get(plan) if plan.ids().any(|own| own == id))
    }

    /// Begins the next operation.
    pub fn advance(
        &mut self,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Result<Progress, JobError> {
        if self.paused_until.is_some_and(|until| context.at.now < until) {
            return Ok(Progress::Waits);
        }
        self.paused_until = None;
        let (whose, work) = split(self.id, &mut self.job);
        match (&mut self.plan, work) {
            (Plan::Put(plan), Work::Put(source)) => plan.advance(&whose, source.as_mut(), context),
            (Plan::Get(plan), _) => Ok(plan.advance(&whose, context)),
            (Plan::Talk { calling: false }, work) => {
                let call = match work {
                    Work::Ping(echo) => Call::Ping { echo: echo.clone() },
                    _ => Call::List { after: self.names.last().cloned().unwrap_or_default() },
                };
                let progress = context.call(whose.job, whose.server, &call);
                self.plan = Plan::Talk { calling: progress == Progress::Begun };
                Ok(progress)
            }
            _ => Ok(Progress::Waits),
        }
    }

    /// One of its operations has ended.
    pub fn on_end(
        &mut self,
        finished: &Finished,
        context: &mut JobContext<'_, '_, impl WindowMemory>,
    ) -> Step {
        let (whose, work) = split(self.id, &mut self.job);
        match (&mut self.plan, work) {
            (Plan::Put(plan), _) => {
                plan.on_end(finished.part, finished.buffer.length(), finished.end.clone())
            }
            (Plan::Get(plan), Work::Get { sink, .. }) => {
                plan.on_end(&whose, sink.as_mut(), finished, context)
            }
            (plan, work) => {
                *plan = Plan::Talk { calling: false };
                match (&finished.end, work) {
                    (End::Answered(Answer::Pong { echo }), Work::Ping(sent)) if echo == sent => {
                        Step::Done
                    }
                    (End::Answered(Answer::Names { names, more }), Work::List) => {
                        self.names.extend_from_slice(names);
                        if *more && !names.is_empty() {
                            Step::On
                        } else {
                            Step::Done
                        }
                    }
                    (End::Impossible(error), _) => Step::Fail(JobError::Unreachable(*error)),
                    _ => Step::Pause,
                }
            }
        }
    }

    /// Ends all operations, to go on later from the last safe point.
    pub fn set_back(&mut self, context: &mut JobContext<'_, '_, impl WindowMemory>) {
        self.leave(context);
        self.pause(context);
    }

    /// The server is gone, and with it all that it knew of the job: as
    /// [`set_back`](Self::set_back), but without a word to it.
    pub fn on_server_down(&mut self, context: &mut JobContext<'_, '_, impl WindowMemory>) {
        self.release(context.operations, context.at.lnet);
        self.pause(context);
    }

    fn pause(&mut self, context: &mut JobContext<'_, '_, impl WindowMemory>) {
        self.restarts += 1;
        context.operations.records.stats.restarts += 1;
        let pause = context.operations.pause(self.restarts);
        self.paused_until = Some(context.at.now.after(pause));
        if let Plan::Put(plan) = &mut self.plan {
            plan.reset();
        }
    }

    /// Ends all operations and tells the server that it need not wait for more.
    pub fn leave(&mut self, context: &mut JobContext<'_, '_, impl WindowMemory>) {
        let ids: Vec<u32> = match &self.plan {
            Plan::Put(plan) => plan.id().into_iter().collect(),
            Plan::Get(plan) => plan.ids().collect(),
            Plan::Talk { .. } => Vec::new(),
        };
        self.release(context.operations, context.at.lnet);
        for id in ids {
            context.close(self.job.server, id);
        }
    }

    /// Ends all operations and gives back all memory.
    pub fn release(&mut self, operations: &mut Operations, lnet: &mut Lnet) {
        operations.cancel(lnet, self.id.0);
        match &mut self.plan {
            Plan::Put(plan) => plan.release(&mut operations.pages),
            Plan::Get(plan) => plan.reset(operations),
            Plan::Talk { calling } => *calling = false,
        }
    }

    /// The last steps of a job whose operations have all succeeded.
    pub fn finish(&mut self) -> Result<(), JobError> {
        let (Work::Get { sink, expected }, Plan::Get(plan)) = (&mut self.job.work, &self.plan)
        else {
            return Ok(());
        };
        let checksum = plan.checksum();
        if expected.is_some_and(|expected| expected != checksum) {
            return Err(JobError::Unexpected { checksum });
        }
        sink.finish(plan.bytes()).map_err(|error| JobError::Sink(error.kind()))
    }

    pub fn into_done(self, now: Instant, error: Option<JobError>) -> JobDone {
        let checksum = match &self.plan {
            Plan::Put(plan) => Some(plan.checksum()),
            Plan::Get(plan) => Some(plan.checksum()),
            Plan::Talk { .. } => None,
        };
        JobDone {
            bytes: self.bytes(),
            id: self.id,
            checksum: checksum.filter(|_| error.is_none()),
            error,
            names: self.names,
            started: self.started,
            ended: now,
            restarts: self.restarts,
            job: self.job,
        }
    }
}

fn split(id: JobId, job: &mut Job) -> (Whose<'_>, &mut Work) {
    let Job { server, name, chunk, work, .. } = job;
    (Whose { job: id.0, server: *server, name, chunk: *chunk }, work)
}
