//! Going on from the past, and with another branch: the line that is driven is put down in order, and another one taken up
//! in its place. Whoever looks sees the store's line change; whoever was asked for the old line is not heard any more.

use super::checkpoint_writer::CheckpointWriter;
use super::{Driver, DriverError, Handle, Health, Message, RunConfig, Signal, wall_clock_now};
use crate::domain::{BranchId, RunSpec, Seq};
use crate::engine::{Cause, Command, CommandError, Engine, Envelope, Event, Input, State};
use crate::journal::{
    BranchHeader, OpenBranch, OpenMode, ParentFile, Writer, open_branch, parents_of_fork, summarize,
};
use crate::timeline::Timeline;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A wish to go on from an event of the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fork {
    /// The branch whose past is meant; none: the one that is driven.
    pub source_branch: Option<BranchId>,
    /// The last event that stays. Inside a batch it is moved to the end of the batch before.
    pub at_seq: Seq,
    /// Why, in words; empty: the place is named.
    pub reason: String,
    /// What is done there first: written with the branch, and carried out as soon as the world stands.
    pub commands: Vec<Command>,
}

/// A line that can be driven.
struct ActiveBranch {
    timeline: Timeline,
    writer: Writer,
    checkpoint_writer: CheckpointWriter,
    branch: BranchId,
    run_config: RunConfig,
}

/// Lines that were left and are still in memory, at most: going back to one is no opening.
const MAX_CACHED_BRANCHES: usize = 2;

/// A line that was left, as long as nobody has written to its file since.
pub(super) struct CachedBranch {
    branch: BranchId,
    /// Bytes of its file.
    file_len: u64,
    timeline: Timeline,
    keeper: CheckpointWriter,
    parents: Vec<Arc<ParentFile>>,
}

impl Driver {
    /// Goes on from the past as a new branch. All that can be refused is refused before anything is made or put down.
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
                format!("the events up to {at} of branch {from} cannot be read any more"),
                "look at the session with `retrospect verify`",
            ));
        }
        let Some(run) = state.run.clone() else {
            return Err(CommandError::new("no run has started at that point", "choose a later event"));
        };
        let launch = self.run_config_for(&run)?;
        let stops = self.engine.state.breakpoints.events_to_replace(&state.breakpoints);
        self.dry_run(&state, &launch, &stops, &fork.commands)?;
        let reason = if fork.reason.trim().is_empty() {
            describe_position(&state)
        } else {
            fork.reason.trim().to_owned()
        };
        let disk = |error: &dyn std::fmt::Display| {
            CommandError::new(format!("no branch could be made: {error}"), "free some space, then try again")
        };
        // What the new branch stands on must be on the disk before it.
        self.check_journal()?;
        self.writer.sync().map_err(|e| disk(&e))?;
        let parents = match &opened {
            Some(opened) => parents_of_fork(&opened.parents, &opened.event_file, at),
            None => parents_of_fork(self.writer.parents(), self.writer.event_file(), at),
        };
        let parents = parents.map_err(|e| disk(&e))?;
        let (header, mut writer) =
            self.session.fork(&from, at, &reason, wall_clock_now()).map_err(|e| match e {
                crate::journal::JournalError::TooDeep { .. } => {
                    CommandError::new(e.to_string(), "fork from an earlier branch")
                }
                e => disk(&e),
            })?;
        writer.stand_on(parents);
        let events = writer.event_file().clone();
        let file = self.session.branch_file(&header.id);
        let (timeline, keeper) = if let Some(opened) = opened {
            let keeper = CheckpointWriter::new(opened.checkpoints, opened.event_file);
            (opened.timeline.fork(state, events.fetcher()), keeper.for_fork(&file, at, events))
        } else {
            let timeline = self.store.timeline().fork(state, events.fetcher());
            (timeline, self.checkpoint_writer.for_fork(&file, at, events))
        };
        let BranchHeader { id, .. } = header;
        self.close_active_branch();
        self.activate_branch(
            ActiveBranch {
                timeline,
                writer,
                checkpoint_writer: keeper,
                branch: id.clone(),
                run_config: launch,
            },
            stops,
            &fork.commands,
        );
        Ok(id)
    }

    /// Goes on with another branch where it was left.
    pub(super) fn switch_branch(&mut self, to: &BranchId) -> Result<(), CommandError> {
        if *to == self.engine.branch {
            return Err(CommandError::new(format!("branch {to} is the one at work"), "choose another one"));
        }
        self.check_journal()?;
        let refused =
            |e: crate::journal::JournalError| CommandError::new(e.to_string(), "choose another branch");
        let file = self.session.existing_branch_file(to).map_err(refused)?;
        let writer = Writer::lock(&file).map_err(refused)?;
        let left = self.take_cached_branch(to, writer.valid_len());
        let (timeline, whole, keeper, parents) = if let Some(left) = left {
            (left.timeline, left.file_len, left.keeper, left.parents)
        } else {
            let opened = open_branch(&file, OpenMode::Resume).map_err(refused)?;
            if let Some(missing) = opened.missing {
                return Err(CommandError::new(
                    missing.to_string(),
                    format!("go on from what is left with `retrospect resume SESSION@{to}`"),
                ));
            }
            let keeper = CheckpointWriter::new(opened.checkpoints, opened.event_file);
            (opened.timeline, opened.valid_len, keeper, opened.parents)
        };
        let Some(run) = timeline.head().run.clone() else {
            return Err(CommandError::new("no run has started on that branch", "choose another branch"));
        };
        let launch = self.run_config_for(&run)?;
        let mut writer = writer.truncate_to(whole, keeper.event_file().clone()).map_err(refused)?;
        writer.stand_on(parents);
        self.close_active_branch();
        self.activate_branch(
            ActiveBranch {
                timeline,
                writer,
                checkpoint_writer: keeper,
                branch: to.clone(),
                run_config: launch,
            },
            Vec::new(),
            &[],
        );
        Ok(())
    }

    /// A line that was left and whose file is as it was then.
    fn take_cached_branch(&mut self, branch: &BranchId, whole: u64) -> Option<CachedBranch> {
        let place = self.cached_branches.iter().position(|left| left.branch == *branch)?;
        self.cached_branches.remove(place).filter(|left| left.file_len == whole)
    }

    fn open_for_reading(&self, branch: &BranchId) -> Result<OpenBranch, CommandError> {
        let opened =
            self.session.existing_branch_file(branch).and_then(|file| open_branch(&file, OpenMode::Read));
        opened.map_err(|e| CommandError::new(e.to_string(), "choose another branch"))
    }

    /// Whether every wish would be granted there, one after the other. Nothing is written.
    fn dry_run(
        &self,
        state: &State,
        launch: &RunConfig,
        stops: &[Event],
        then: &[Command],
    ) -> Result<(), CommandError> {
        let policy = launch.policy.clone();
        let mut engine = Engine::resume(state.clone(), policy, self.engine.branch.clone());
        let at = wall_clock_now();
        let fold = |engine: &mut Engine, events: Vec<(Cause, Event)>| {
            for (cause, event) in events {
                let seq = Seq(engine.state.head.0 + 1);
                engine.state.apply(&Envelope { seq, timestamp: at, cause, batch_continues: false, event });
            }
        };
        let begun = std::iter::once(&Event::Reopened).chain(stops);
        fold(&mut engine, begun.map(|event| (Cause::Policy, event.clone())).collect());
        for command in then {
            loop {
                let events = engine.advance();
                if events.is_empty() {
                    break;
                }
                fold(&mut engine, events);
            }
            let events = engine.decide(&Input::Command(command.clone()))?;
            if let Command::ChangeRun(spec) = command {
                engine.policy = self.make_run_config(spec)?.policy;
            }
            fold(&mut engine, events);
        }
        Ok(())
    }

    /// Puts the branch at work down in order. Where even that cannot be written it is left as after a crash, and goes on there
    /// some other time.
    fn close_active_branch(&mut self) {
        self.close_prefetches();
        let mut closing = Vec::new();
        if !self.engine.state.closed {
            closing = self.engine.decide(&Input::Command(Command::Close)).unwrap_or_default();
            self.cancel_calls_before_close(&mut closing);
            self.record_partial_replies(&mut closing);
        }
        self.epoch += 1;
        self.calls_to_refresh.clear();
        self.call_runner.begin_epoch(self.epoch);
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.commit(closing);
        if self.unwritten_events.is_empty() {
            self.sync();
        } else {
            self.unwritten_events.clear();
            self.store.edit_live(|live| live.health = Health::Running);
            let left =
                format!("branch {} could not be closed in order; nothing of it is lost", self.engine.branch);
            self.store.signal(Signal::Notice(left));
        }
        self.checkpoint_writer.save_before_switch(&self.engine.state, self.writer.valid_len());
        self.write_summary();
    }

    /// Drives another line from its last state on: what is to be done there is written, and its world is brought back for it.
    /// The stops stand in the line's first batch, so that no crash comes between the line and its breakpoints.
    fn activate_branch(&mut self, line: ActiveBranch, stops: Vec<Event>, then: &[Command]) {
        let ActiveBranch { timeline, writer, checkpoint_writer: keeper, branch, run_config: launch } = line;
        let state = State::clone(timeline.head());
        let engine = Engine::resume(state, launch.policy.clone(), branch.clone());
        let left = std::mem::replace(&mut self.engine, engine).branch;
        let writer = std::mem::replace(&mut self.writer, writer);
        let (whole, parents) = (writer.valid_len(), writer.parents().to_vec());
        drop(writer);
        let kept = std::mem::replace(&mut self.checkpoint_writer, keeper);
        self.run_config = launch;
        self.next_run_config = None;
        self.pending_requests.begin_epoch();
        self.fail_queued("another branch was taken up before it", "say it again there");
        let timeline = self.store.swap_branch(timeline, branch);
        self.cached_branches.retain(|other| other.branch != left);
        self.cached_branches.push_back(CachedBranch {
            branch: left,
            file_len: whole,
            timeline,
            keeper: kept,
            parents,
        });
        if self.cached_branches.len() > MAX_CACHED_BRANCHES {
            self.cached_branches.pop_front();
        }
        self.store.edit_live(|live| live.calls.clear());
        // Nothing is asked of anybody before the world stands; what was wished is written now, so that it is not lost with the
        // program. A failed write halts the session here as anywhere; the world is brought back meanwhile.
        self.pending_requests.is_rebuilding = true;
        let mut begun = self.engine.decide(&Input::Command(Command::Reopen)).unwrap_or_default();
        begun.extend(stops.into_iter().map(|stop| (Cause::Policy, stop)));
        let _ = self.commit_and_advance(begun);
        for command in then {
            if !self.unwritten_events.is_empty() {
                self.queued_messages.push_back(Message::Command(command.clone(), None));
            } else if let Err(refusal) = self.run_command(command)
                && self.unwritten_events.is_empty()
            {
                self.store.signal(Signal::CommandFailed(refusal));
                break;
            }
        }
        self.start_rebuild();
    }

    /// What waits for its turn is not done any more: whoever wished it is told.
    pub(super) fn fail_queued(&mut self, why: &str, next: &str) {
        for held in std::mem::take(&mut self.queued_messages) {
            let wish = Err(CommandError::new(format!("what was wished was not done: {why}"), next));
            match held {
                Message::Command(_, tell) => self.respond(tell, |_| wish.map(|()| Seq(0))),
                Message::Fork(_, tell) => self.respond(tell, |_| wish.map(|()| BranchId::trunk())),
                Message::Switch(_, tell) => self.respond(tell, |_| wish),
                // Of the line that is left.
                _ => {}
            }
        }
    }

    /// Carries a wish out and says how it went.
    pub(super) fn respond<T>(
        &mut self,
        tell: Option<oneshot::Sender<Result<T, CommandError>>>,
        wish: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) {
        match (tell, wish(self)) {
            // Whoever asked may have gone.
            (Some(tell), answer) => drop(tell.send(answer)),
            (None, Err(refusal)) => self.store.signal(Signal::CommandFailed(refusal)),
            (None, Ok(_)) => {}
        }
    }

    /// Keeps what lists say of the branch at work.
    pub(super) fn write_summary(&self) {
        let branch = &self.engine.branch;
        let bytes = std::fs::metadata(self.session.branch_file(branch)).map_or(0, |m| m.len());
        if let Err(error) = summarize(&self.engine.state, branch, bytes).save(&self.session.dir) {
            self.store.signal(Signal::Notice(format!(
                "the session is whole, but its index was not written: {error}"
            )));
        }
    }

    /// What a run of this session needs: what is there, where it is the same run, else it is made.
    fn run_config_for(&self, run: &RunSpec) -> Result<RunConfig, CommandError> {
        let here = self.engine.state.run.as_deref();
        let same = |here: &RunSpec| {
            (&here.method, &here.actor, &here.mentor) == (&run.method, &run.actor, &run.mentor)
        };
        match (&self.run_config.run_factory, here) {
            (_, Some(here)) if here == run => Ok(self.run_config.clone()),
            (None, Some(here)) if same(here) => Ok(self.run_config.clone()),
            _ => self.make_run_config(run),
        }
    }

    /// What another run of this session needs, or why it cannot be had; nothing has happened then.
    pub(super) fn make_run_config(&self, spec: &RunSpec) -> Result<RunConfig, CommandError> {
        let Some(outfit) = &self.run_config.run_factory else {
            return Err(CommandError::new(
                "this session was not given the means to outfit another run",
                "start a session of its own for it",
            ));
        };
        match outfit(spec) {
            Ok(mut launch) => {
                // Who is there does not change with the run.
                launch.policy.is_attended = self.engine.policy.is_attended;
                Ok(launch)
            }
            Err(DriverError::Refused(why, next)) => Err(CommandError::new(why, next)),
            Err(error) => {
                Err(CommandError::new(error.to_string(), "change something else, or mend that first"))
            }
        }
    }
}

/// The last event at or before this one that ends a batch.
fn last_batch_end(timeline: &Timeline, at: Seq) -> Seq {
    let mut at = at.min(Seq(timeline.len()));
    while timeline.event(at).is_some_and(|e: Arc<Envelope>| e.batch_continues) {
        at = Seq(at.0 - 1);
    }
    at
}

/// Where a state stands, in words.
fn describe_position(state: &State) -> String {
    match &state.episode {
        None => "from the beginning".to_owned(),
        Some(e) => format!("from step {} of episode {}", e.steps.len(), e.number),
    }
}

impl Handle {
    /// Goes on from the past as a new branch, and waits for its name.
    ///
    /// # Errors
    /// The refusal in words; nothing has been made then. Also when the session has ended.
    pub async fn fork(&self, fork: Fork) -> Result<BranchId, CommandError> {
        let (tell, told) = oneshot::channel();
        self.inbox().send(Message::Fork(fork, Some(tell))).map_err(|_| session_ended_error())?;
        told.await.map_err(|_| session_ended_error())?
    }

    /// The same without waiting; a refusal comes back as a [`Signal`].
    pub fn send_fork(&self, fork: Fork) {
        let _ = self.inbox().send(Message::Fork(fork, None));
    }

    /// Goes on with another branch of the session.
    ///
    /// # Errors
    /// The refusal in words: there is none of this name, or it cannot be read or is written by another program.
    pub async fn switch(&self, to: BranchId) -> Result<(), CommandError> {
        let (tell, told) = oneshot::channel();
        self.inbox().send(Message::Switch(to, Some(tell))).map_err(|_| session_ended_error())?;
        told.await.map_err(|_| session_ended_error())?
    }

    /// The same without waiting; a refusal comes back as a [`Signal`].
    pub fn send_switch(&self, to: BranchId) {
        let _ = self.inbox().send(Message::Switch(to, None));
    }
}

fn session_ended_error() -> CommandError {
    CommandError::new("the session has ended", "take it up again with `retrospect resume`")
}
