//! Forks from a past event and switches branches: closes the active branch and activates another in its place.
//! Observers see the store's branch change; replies to calls of the old branch are discarded.

use super::cached_branch::CachedBranch;
use super::checkpoint_writer::CheckpointWriter;
use super::mentor_check::check_mentor;
use super::{Driver, DriverError, Fork, Handle, Health, Message, RunConfig, Signal, wall_clock_now};
use crate::domain::{BranchId, RunSpec, Seq};
use crate::engine::{Cause, Command, CommandError, Engine, Envelope, Event, Input, State};
use crate::journal::{BranchHeader, OpenBranch, OpenMode, Writer, open_branch, parents_of_fork, summarize};
use crate::timeline::Timeline;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A branch that can be made active.
struct ActiveBranch {
    timeline: Timeline,
    writer: Writer,
    checkpoint_writer: CheckpointWriter,
    branch: BranchId,
    run_config: RunConfig,
}

/// The maximum number of inactive branches kept in memory, so that switching back to one does not reopen it.
const MAX_CACHED_BRANCHES: usize = 2;

impl Driver {
    /// Continues from a past event in a new branch. Every error is detected before anything is created or closed.
    pub(super) fn fork(&mut self, fork: &Fork) -> Result<BranchId, CommandError> {
        let other = fork.source_branch.as_ref().filter(|from| **from != self.engine.branch);
        let opened = other.map(|from| self.open_for_reading(from)).transpose()?;
        let from = opened.as_ref().map_or(&self.engine.branch, |o| &o.header.id).clone();
        let (at, state) = if let Some(opened) = &opened {
            let at = last_batch_end(&opened.timeline, fork.at_seq);
            (at, opened.timeline.state_at(at))
        } else {
            let at = last_batch_end(&self.store.timeline(), fork.at_seq);
            (at, self.store.state_at(at))
        };
        if state.head != at {
            return Err(CommandError::new(
                format!("the events of branch {from} up to {at} can no longer be read"),
                "check the session with `retrospect verify`",
            ));
        }
        let Some(run) = state.run.clone() else {
            return Err(CommandError::new("no run has started at that point", "fork from a later event"));
        };
        let run_config = self.run_config_for(&run)?;
        let breakpoint_events = self.engine.state.breakpoints.events_to_replace(&state.breakpoints);
        self.dry_run(&state, &run_config, &breakpoint_events, &fork.commands)?;
        let reason = if fork.reason.trim().is_empty() {
            describe_position(&state)
        } else {
            fork.reason.trim().to_owned()
        };
        let disk_error = |error: &dyn std::fmt::Display| {
            CommandError::new(
                format!("the branch could not be created: {error}"),
                "check permissions and free disk space, then retry",
            )
        };
        // Events that the new branch depends on must reach the disk before the branch does.
        self.check_journal()?;
        self.sync_and_wait().map_err(|e| disk_error(&e))?;
        let parents = match &opened {
            Some(opened) => parents_of_fork(&opened.parents, &opened.event_file, at),
            None => parents_of_fork(self.writer.parents(), self.writer.event_file(), at),
        };
        let parents = parents.map_err(|e| disk_error(&e))?;
        let (header, mut writer) =
            self.session.fork(&from, at, &reason, wall_clock_now()).map_err(|e| match e {
                crate::journal::JournalError::TooDeep { .. } => CommandError::new(
                    e.to_string(),
                    "fork from an event that it shares with an earlier branch, or use `retrospect rerun`",
                ),
                e => disk_error(&e),
            })?;
        writer.set_ancestors(parents);
        let events = writer.event_file().clone();
        let file = self.session.branch_file(&header.id);
        let (timeline, checkpoint_writer) = if let Some(opened) = opened {
            let checkpoint_writer = CheckpointWriter::new(opened.checkpoints, opened.event_file);
            (opened.timeline.fork(state, events.fetcher()), checkpoint_writer.for_fork(&file, at, events))
        } else {
            let timeline = self.store.timeline().fork(state, events.fetcher());
            (timeline, self.checkpoint_writer.for_fork(&file, at, events))
        };
        let BranchHeader { id, .. } = header;
        self.close_active_branch();
        self.activate_branch(
            ActiveBranch { timeline, writer, checkpoint_writer, branch: id.clone(), run_config },
            breakpoint_events,
            &fork.commands,
        );
        Ok(id)
    }

    /// Continues another branch from its last event.
    pub(super) fn switch_branch(&mut self, to: &BranchId) -> Result<(), CommandError> {
        if *to == self.engine.branch {
            return Err(CommandError::new(format!("branch {to} is already active"), "choose another branch"));
        }
        self.check_journal()?;
        let to_error =
            |e: crate::journal::JournalError| CommandError::new(e.to_string(), "choose another branch");
        let file = self.session.existing_branch_file(to).map_err(to_error)?;
        let writer = Writer::lock(&file).map_err(to_error)?;
        let cached = self.take_cached_branch(to, writer.valid_len());
        let (timeline, file_len, checkpoint_writer, parents) = if let Some(cached) = cached {
            (cached.timeline, cached.file_len, cached.checkpoint_writer, cached.parents)
        } else {
            let opened = open_branch(&file, OpenMode::Resume).map_err(to_error)?;
            if let Some(missing) = opened.missing {
                return Err(CommandError::new(
                    missing.to_string(),
                    format!("continue from what is left with `retrospect resume SESSION@{to}`"),
                ));
            }
            let checkpoint_writer = CheckpointWriter::new(opened.checkpoints, opened.event_file);
            (opened.timeline, opened.valid_len, checkpoint_writer, opened.parents)
        };
        let Some(run) = timeline.head().run.clone() else {
            return Err(CommandError::new("no run has started on that branch", "choose another branch"));
        };
        let run_config = self.run_config_for(&run)?;
        let mut writer =
            writer.truncate_to(file_len, checkpoint_writer.event_file().clone()).map_err(to_error)?;
        writer.set_ancestors(parents);
        self.close_active_branch();
        self.activate_branch(
            ActiveBranch { timeline, writer, checkpoint_writer, branch: to.clone(), run_config },
            Vec::new(),
            &[],
        );
        Ok(())
    }

    /// Removes and returns a cached branch if its file is unchanged.
    fn take_cached_branch(&mut self, branch: &BranchId, file_len: u64) -> Option<CachedBranch> {
        let index = self.cached_branches.iter().position(|cached| cached.branch == *branch)?;
        self.cached_branches.remove(index).filter(|cached| cached.file_len == file_len)
    }

    fn open_for_reading(&self, branch: &BranchId) -> Result<OpenBranch, CommandError> {
        let opened =
            self.session.existing_branch_file(branch).and_then(|file| open_branch(&file, OpenMode::Read));
        opened.map_err(|e| CommandError::new(e.to_string(), "choose another branch"))
    }

    /// Checks whether every command would be accepted in this state, one after the other. Writes nothing.
    fn dry_run(
        &self,
        state: &State,
        run_config: &RunConfig,
        breakpoint_events: &[Event],
        commands: &[Command],
    ) -> Result<(), CommandError> {
        let policy = run_config.policy.clone();
        let mut engine = Engine::resume(state.clone(), policy, self.engine.branch.clone());
        let at = wall_clock_now();
        let fold = |engine: &mut Engine, events: Vec<(Cause, Event)>| {
            for (cause, event) in events {
                let seq = Seq(engine.state.head.0 + 1);
                engine.state.apply(&Envelope { seq, timestamp: at, cause, batch_continues: false, event });
            }
        };
        let first_events = std::iter::once(&Event::Reopened).chain(breakpoint_events);
        fold(&mut engine, first_events.map(|event| (Cause::Policy, event.clone())).collect());
        for command in commands {
            loop {
                let events = engine.advance();
                if events.is_empty() {
                    break;
                }
                fold(&mut engine, events);
            }
            let events = engine.decide(&Input::Command(command.clone()))?;
            check_mentor(engine.state.run.as_deref(), &events)?;
            if let Command::ChangeRun(spec) = command {
                self.run_config.remember_typed_servers(engine.state.run.as_deref(), spec);
                engine.policy = self.make_run_config(spec)?.policy;
            }
            fold(&mut engine, events);
        }
        Ok(())
    }

    /// Closes the active branch. If the closing events can't be written, the branch is left as after a crash and can
    /// still be resumed.
    fn close_active_branch(&mut self) {
        self.close_prefetches();
        self.cancel_samples();
        let mut closing = Vec::new();
        if !self.engine.state.closed {
            closing = self.engine.decide(&Input::Command(Command::Close)).unwrap_or_default();
            self.cancel_calls_before_close(&mut closing);
            self.record_partial_replies(&mut closing);
        }
        self.epoch += 1;
        self.calls_to_refresh.clear();
        self.call_runner.begin_epoch(self.epoch);
        self.job_runner.cancel_all();
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.commit(closing);
        if self.unwritten_events.is_empty() {
            let synced = self.sync_and_wait();
            self.on_synced(synced);
        } else {
            self.unwritten_events.clear();
            self.store.edit_live(|live| live.health = Health::Running);
            let notice =
                format!("branch {} could not be closed properly; none of it is lost", self.engine.branch);
            self.store.signal(Signal::Notice(notice));
        }
        self.checkpoint_writer.save_before_switch(&self.engine.state, self.writer.valid_len());
        self.write_summary();
    }

    /// Makes a branch active at its last state: writes its first commands and starts restoring its environment.
    /// The breakpoint events are in the branch's first batch, so that no crash can separate the branch from its
    /// breakpoints.
    fn activate_branch(&mut self, active: ActiveBranch, breakpoint_events: Vec<Event>, commands: &[Command]) {
        let ActiveBranch { timeline, writer, checkpoint_writer, branch, run_config } = active;
        let state = State::clone(timeline.head());
        let engine = Engine::resume(state, run_config.policy.clone(), branch.clone());
        let previous = std::mem::replace(&mut self.engine, engine).branch;
        let writer = std::mem::replace(&mut self.writer, writer);
        let (file_len, parents) = (writer.valid_len(), writer.parents().to_vec());
        drop(writer);
        let replaced_writer = std::mem::replace(&mut self.checkpoint_writer, checkpoint_writer);
        self.run_config = run_config;
        self.next_run_config = None;
        self.pending_requests.begin_epoch();
        self.fail_queued("the session switched to another branch first", "repeat it there");
        let timeline = self.store.swap_branch(timeline, branch);
        self.cached_branches.retain(|other| other.branch != previous);
        self.cached_branches.push_back(CachedBranch {
            branch: previous,
            file_len,
            timeline,
            checkpoint_writer: replaced_writer,
            parents,
        });
        if self.cached_branches.len() > MAX_CACHED_BRANCHES {
            self.cached_branches.pop_front();
        }
        self.store.edit_live(super::Live::clear_calls);
        // No call is started before the environment is restored. The commands are written now, so that they survive a
        // crash. If the write fails, the session halts as usual, and the environment is restored in the meantime.
        self.pending_requests.is_rebuilding = true;
        let mut first_events = self.engine.decide(&Input::Command(Command::Reopen)).unwrap_or_default();
        first_events.extend(breakpoint_events.into_iter().map(|event| (Cause::Policy, event)));
        let _ = self.commit_and_advance(first_events);
        for command in commands {
            if !self.unwritten_events.is_empty() {
                self.queued_messages.push_back(Message::Command(command.clone(), None));
            } else if let Err(error) = self.run_command(command)
                && self.unwritten_events.is_empty()
            {
                self.store.signal(Signal::CommandFailed(error));
                break;
            }
        }
        self.start_rebuild();
    }

    /// Fails the queued commands and reports it to their senders.
    pub(super) fn fail_queued(&mut self, why: &str, next: &str) {
        for message in std::mem::take(&mut self.queued_messages) {
            let error = Err(CommandError::new(format!("the command was not executed: {why}"), next));
            match message {
                Message::Command(_, reply_to) => self.respond(reply_to, |_| error.map(|()| Seq(0))),
                Message::Fork(_, reply_to) => self.respond(reply_to, |_| error.map(|()| BranchId::trunk())),
                Message::Switch(_, reply_to) | Message::Sample(_, reply_to) => {
                    self.respond(reply_to, |_| error);
                }
                // Belongs to the branch that is being closed.
                _ => {}
            }
        }
    }

    /// Runs a command and sends its result.
    pub(super) fn respond<T>(
        &mut self,
        reply_to: Option<oneshot::Sender<Result<T, CommandError>>>,
        run: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) {
        match (reply_to, run(self)) {
            // The receiver may be gone.
            (Some(reply_to), result) => drop(reply_to.send(result)),
            (None, Err(error)) => self.store.signal(Signal::CommandFailed(error)),
            (None, Ok(_)) => {}
        }
    }

    /// Writes the summary of the active branch for the lists of sessions and branches.
    pub(super) fn write_summary(&self) {
        let branch = &self.engine.branch;
        let bytes = std::fs::metadata(self.session.branch_file(branch)).map_or(0, |m| m.len());
        if let Err(error) = summarize(&self.engine.state, branch, bytes).save(&self.session.dir) {
            self.store.signal(Signal::Notice(format!(
                "the session is saved, but its index could not be written: {error}"
            )));
        }
    }

    /// Returns the configuration of a run of this session: the current one if it is the same run, otherwise a new
    /// one.
    fn run_config_for(&self, run: &RunSpec) -> Result<RunConfig, CommandError> {
        let current_run = self.engine.state.run.as_deref();
        let has_same_models = |current: &RunSpec| {
            (&current.method, &current.actor, &current.mentor) == (&run.method, &run.actor, &run.mentor)
        };
        match (&self.run_config.run_factory, current_run) {
            (_, Some(current)) if current == run => Ok(self.run_config.clone()),
            (None, Some(current)) if has_same_models(current) => Ok(self.run_config.clone()),
            _ => self.make_run_config(run),
        }
    }

    /// Returns the configuration of another run of this session. Changes nothing if it fails.
    pub(super) fn make_run_config(&self, spec: &RunSpec) -> Result<RunConfig, CommandError> {
        let Some(factory) = &self.run_config.run_factory else {
            return Err(CommandError::new(
                "the method and the models can't be changed in this session",
                "start a new session",
            ));
        };
        match factory(spec) {
            Ok(mut run_config) => {
                // A change of the run doesn't change whether a person is present.
                run_config.policy.is_attended = self.engine.policy.is_attended;
                Ok(run_config)
            }
            Err(DriverError::Refused(why, next)) => Err(CommandError::new(why, next)),
            Err(error) => {
                Err(CommandError::new(error.to_string(), "fix that first, or change something else"))
            }
        }
    }
}

/// Returns the last event at or before this one that ends a batch.
fn last_batch_end(timeline: &Timeline, at: Seq) -> Seq {
    let mut at = at.min(Seq(timeline.len()));
    while timeline.event(at).is_some_and(|e: Arc<Envelope>| e.batch_continues) {
        at = Seq(at.0 - 1);
    }
    at
}

/// Describes the position of a state.
fn describe_position(state: &State) -> String {
    match &state.episode {
        None => "from the beginning".to_owned(),
        Some(e) => format!("from step {} of episode {}", e.steps.len(), e.number),
    }
}

impl Handle {
    /// Continues from a past event in a new branch, and waits for its id.
    ///
    /// # Errors
    /// Returns an error if the fork was rejected, in which case nothing has been created, or if the session has ended.
    pub async fn fork(&self, fork: Fork) -> Result<BranchId, CommandError> {
        let (sender, receiver) = oneshot::channel();
        self.inbox().send(Message::Fork(fork, Some(sender))).map_err(|_| session_ended_error())?;
        receiver.await.map_err(|_| session_ended_error())?
    }

    /// The same without waiting. An error arrives as a [`Signal`].
    pub fn send_fork(&self, fork: Fork) {
        let _ = self.inbox().send(Message::Fork(fork, None));
    }

    /// Switches to another branch of the session.
    ///
    /// # Errors
    /// Returns an error if there is no branch of this name, if it cannot be read, or if another program is writing
    /// it.
    pub async fn switch(&self, to: BranchId) -> Result<(), CommandError> {
        let (sender, receiver) = oneshot::channel();
        self.inbox().send(Message::Switch(to, Some(sender))).map_err(|_| session_ended_error())?;
        receiver.await.map_err(|_| session_ended_error())?
    }

    /// The same without waiting. An error arrives as a [`Signal`].
    pub fn send_switch(&self, to: BranchId) {
        let _ = self.inbox().send(Message::Switch(to, None));
    }
}

fn session_ended_error() -> CommandError {
    CommandError::new("the session has ended", "resume it with `retrospect resume`")
}
