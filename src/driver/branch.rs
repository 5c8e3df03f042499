//! Going on from the past, and with another branch: the line that is driven is put down in order, and another one taken up
//! in its place. Whoever looks sees the store's line change; whoever was asked for the old line is not heard any more.

use super::checkpoint_writer::CheckpointWriter;
use super::{Driver, DriverError, Handle, Health, Message, RunConfig, Signal, now};
use crate::domain::{BranchId, RunSpec, Seq};
use crate::engine::{Cause, Command, CommandError, Engine, Envelope, Event, Input, State};
use crate::journal::{
    BranchHeader, OpenBranch, ParentFile, Use, Writer, open_branch, parents_of_fork, summarise,
};
use crate::timeline::Timeline;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A wish to go on from an event of the past.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fork {
    /// The branch whose past is meant; none: the one that is driven.
    pub from: Option<BranchId>,
    /// The last event that stays. Inside a batch it is moved to the end of the batch before.
    pub at: Seq,
    /// Why, in words; empty: the place is named.
    pub reason: String,
    /// What is done there first: written with the branch, and carried out as soon as the world stands.
    pub then: Vec<Command>,
}

/// A line that can be driven.
struct Line {
    timeline: Timeline,
    writer: Writer,
    keeper: CheckpointWriter,
    branch: BranchId,
    launch: RunConfig,
}

/// Lines that were left and are still in memory, at most: going back to one is no opening.
const LEFT: usize = 2;

/// A line that was left, as long as nobody has written to its file since.
pub(super) struct Left {
    branch: BranchId,
    /// Bytes of its file.
    whole: u64,
    timeline: Timeline,
    keeper: CheckpointWriter,
    parents: Vec<Arc<ParentFile>>,
}

impl Driver {
    /// Goes on from the past as a new branch. All that can be refused is refused before anything is made or put down.
    pub(super) fn fork(&mut self, fork: &Fork) -> Result<BranchId, CommandError> {
        let other = fork.from.as_ref().filter(|from| **from != self.engine.branch);
        let opened = other.map(|from| self.look_at(from)).transpose()?;
        let from = opened.as_ref().map_or(&self.engine.branch, |o| &o.header.id).clone();
        let (at, state) = if let Some(opened) = &opened {
            let at = whole_batch(&opened.timeline, fork.at);
            (at, opened.timeline.state_at(at))
        } else {
            let at = whole_batch(&self.store.timeline(), fork.at);
            (at, self.store.state_at(at))
        };
        if state.head != at {
            return Err(CommandError::new(
                format!("the events up to {at} of branch {from} cannot be read any more"),
                "look at the session with `retrospect verify`",
            ));
        }
        let Some(run) = state.run.clone() else {
            return Err(CommandError::new("no run has begun there", "go on from a later event"));
        };
        let launch = self.launch_of(&run)?;
        let stops = self.engine.state.breakpoints.events_to_replace(&state.breakpoints);
        self.rehearse(&state, &launch, &stops, &fork.then)?;
        let reason =
            if fork.reason.trim().is_empty() { place(&state) } else { fork.reason.trim().to_owned() };
        let disk = |error: &dyn std::fmt::Display| {
            CommandError::new(format!("no branch could be made: {error}"), "free some space, then try again")
        };
        // What the new branch stands on must be on the disk before it.
        self.journal_must_stand()?;
        self.writer.sync().map_err(|e| disk(&e))?;
        let parents = match &opened {
            Some(opened) => parents_of_fork(&opened.parents, &opened.places, at),
            None => parents_of_fork(self.writer.parents(), self.writer.events(), at),
        };
        let parents = parents.map_err(|e| disk(&e))?;
        let (header, mut writer) = self.session.fork(&from, at, &reason, now()).map_err(|e| match e {
            crate::journal::JournalError::TooDeep { .. } => {
                CommandError::new(e.to_string(), "fork from an earlier branch")
            }
            e => disk(&e),
        })?;
        writer.stand_on(parents);
        let events = writer.events().clone();
        let file = self.session.branch_file(&header.id);
        let (timeline, keeper) = if let Some(opened) = opened {
            let keeper = CheckpointWriter::new(opened.checkpoints, opened.places);
            (opened.timeline.fork(state, events.fetch()), keeper.for_fork(&file, at, events))
        } else {
            let timeline = self.store.timeline().fork(state, events.fetch());
            (timeline, self.keeper.for_fork(&file, at, events))
        };
        let BranchHeader { id, .. } = header;
        self.put_down();
        self.take_over(Line { timeline, writer, keeper, branch: id.clone(), launch }, stops, &fork.then);
        Ok(id)
    }

    /// Goes on with another branch where it was left.
    pub(super) fn switch(&mut self, to: &BranchId) -> Result<(), CommandError> {
        if *to == self.engine.branch {
            return Err(CommandError::new(format!("branch {to} is the one at work"), "choose another one"));
        }
        self.journal_must_stand()?;
        let refused =
            |e: crate::journal::JournalError| CommandError::new(e.to_string(), "choose another branch");
        let file = self.session.branch_there(to).map_err(refused)?;
        let writer = Writer::lock(&file).map_err(refused)?;
        let left = self.still_here(to, writer.whole());
        let (timeline, whole, keeper, parents) = if let Some(left) = left {
            (left.timeline, left.whole, left.keeper, left.parents)
        } else {
            let opened = open_branch(&file, Use::GoOn).map_err(refused)?;
            if let Some(missing) = opened.missing {
                return Err(CommandError::new(
                    missing.to_string(),
                    format!("go on from what is left with `retrospect resume SESSION@{to}`"),
                ));
            }
            let keeper = CheckpointWriter::new(opened.checkpoints, opened.places);
            (opened.timeline, opened.whole, keeper, opened.parents)
        };
        let Some(run) = timeline.head().run.clone() else {
            return Err(CommandError::new("no run has begun there", "choose another branch"));
        };
        let launch = self.launch_of(&run)?;
        let mut writer = writer.cut_to(whole, keeper.places().clone()).map_err(refused)?;
        writer.stand_on(parents);
        self.put_down();
        self.take_over(Line { timeline, writer, keeper, branch: to.clone(), launch }, Vec::new(), &[]);
        Ok(())
    }

    /// A line that was left and whose file is as it was then.
    fn still_here(&mut self, branch: &BranchId, whole: u64) -> Option<Left> {
        let place = self.left.iter().position(|left| left.branch == *branch)?;
        self.left.remove(place).filter(|left| left.whole == whole)
    }

    fn look_at(&self, branch: &BranchId) -> Result<OpenBranch, CommandError> {
        let opened = self.session.branch_there(branch).and_then(|file| open_branch(&file, Use::Look));
        opened.map_err(|e| CommandError::new(e.to_string(), "choose another branch"))
    }

    /// Whether every wish would be granted there, one after the other. Nothing is written.
    fn rehearse(
        &self,
        state: &State,
        launch: &RunConfig,
        stops: &[Event],
        then: &[Command],
    ) -> Result<(), CommandError> {
        let policy = launch.policy.clone();
        let mut engine = Engine::resume(state.clone(), policy, self.engine.branch.clone());
        let at = now();
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
                engine.policy = self.outfit(spec)?.policy;
            }
            fold(&mut engine, events);
        }
        Ok(())
    }

    /// Puts the branch at work down in order. Where even that cannot be written it is left as after a crash, and goes on there
    /// some other time.
    fn put_down(&mut self) {
        self.close_ahead();
        let mut closing = Vec::new();
        if !self.engine.state.closed {
            closing = self.engine.decide(&Input::Command(Command::Close)).unwrap_or_default();
            self.break_off_before(&mut closing);
            self.hear_out(&mut closing);
        }
        self.line += 1;
        self.anew.clear();
        self.runner.begin_line(self.line);
        if let Some(timer) = self.timer.take() {
            timer.abort();
        }
        self.commit(closing);
        if self.unwritten.is_empty() {
            self.sync();
        } else {
            self.unwritten.clear();
            self.store.edit_live(|live| live.health = Health::Running);
            let left =
                format!("branch {} could not be closed in order; nothing of it is lost", self.engine.branch);
            self.store.signal(Signal::Said(left));
        }
        self.keeper.rest(&self.engine.state, self.writer.whole());
        self.summarise();
    }

    /// Drives another line from its last state on: what is to be done there is written, and its world is brought back for it.
    /// The stops stand in the line's first batch, so that no crash comes between the line and its breakpoints.
    fn take_over(&mut self, line: Line, stops: Vec<Event>, then: &[Command]) {
        let Line { timeline, writer, keeper, branch, launch } = line;
        let state = State::clone(timeline.head());
        let engine = Engine::resume(state, launch.policy.clone(), branch.clone());
        let left = std::mem::replace(&mut self.engine, engine).branch;
        let writer = std::mem::replace(&mut self.writer, writer);
        let (whole, parents) = (writer.whole(), writer.parents().to_vec());
        drop(writer);
        let kept = std::mem::replace(&mut self.keeper, keeper);
        self.launch = launch;
        self.outfitted = None;
        self.orders.begin_line();
        self.leave_undone("another branch was taken up before it", "say it again there");
        let timeline = self.store.swap(timeline, branch);
        self.left.retain(|other| other.branch != left);
        self.left.push_back(Left { branch: left, whole, timeline, keeper: kept, parents });
        if self.left.len() > LEFT {
            self.left.pop_front();
        }
        self.store.edit_live(|live| live.calls.clear());
        // Nothing is asked of anybody before the world stands; what was wished is written now, so that it is not lost with the
        // program. A failed write halts the session here as anywhere; the world is brought back meanwhile.
        self.orders.rebuilding = true;
        let mut begun = self.engine.decide(&Input::Command(Command::Reopen)).unwrap_or_default();
        begun.extend(stops.into_iter().map(|stop| (Cause::Policy, stop)));
        let _ = self.carry_out(begun);
        for command in then {
            if !self.unwritten.is_empty() {
                self.waiting.push_back(Message::Wish(command.clone(), None));
            } else if let Err(refusal) = self.command(command)
                && self.unwritten.is_empty()
            {
                self.store.signal(Signal::Refused(refusal));
                break;
            }
        }
        self.rebuild();
    }

    /// What waits for its turn is not done any more: whoever wished it is told.
    pub(super) fn leave_undone(&mut self, why: &str, next: &str) {
        for held in std::mem::take(&mut self.waiting) {
            let wish = Err(CommandError::new(format!("what was wished was not done: {why}"), next));
            match held {
                Message::Wish(_, tell) => self.answer(tell, |_| wish.map(|()| Seq(0))),
                Message::Fork(_, tell) => self.answer(tell, |_| wish.map(|()| BranchId::trunk())),
                Message::Switch(_, tell) => self.answer(tell, |_| wish),
                // Of the line that is left.
                _ => {}
            }
        }
    }

    /// Carries a wish out and says how it went.
    pub(super) fn answer<T>(
        &mut self,
        tell: Option<oneshot::Sender<Result<T, CommandError>>>,
        wish: impl FnOnce(&mut Self) -> Result<T, CommandError>,
    ) {
        match (tell, wish(self)) {
            // Whoever asked may have gone.
            (Some(tell), answer) => drop(tell.send(answer)),
            (None, Err(refusal)) => self.store.signal(Signal::Refused(refusal)),
            (None, Ok(_)) => {}
        }
    }

    /// Keeps what lists say of the branch at work.
    pub(super) fn summarise(&self) {
        let branch = &self.engine.branch;
        let bytes = std::fs::metadata(self.session.branch_file(branch)).map_or(0, |m| m.len());
        if let Err(error) = summarise(&self.engine.state, branch, bytes).save(&self.session.dir) {
            self.store.signal(Signal::Said(format!(
                "the session is whole, but its index was not written: {error}"
            )));
        }
    }

    /// What a run of this session needs: what is there, where it is the same run, else it is made.
    fn launch_of(&self, run: &RunSpec) -> Result<RunConfig, CommandError> {
        let here = self.engine.state.run.as_deref();
        let same = |here: &RunSpec| {
            (&here.method, &here.actor, &here.mentor) == (&run.method, &run.actor, &run.mentor)
        };
        match (&self.launch.outfit, here) {
            (_, Some(here)) if here == run => Ok(self.launch.clone()),
            (None, Some(here)) if same(here) => Ok(self.launch.clone()),
            _ => self.outfit(run),
        }
    }

    /// What another run of this session needs, or why it cannot be had; nothing has happened then.
    pub(super) fn outfit(&self, spec: &RunSpec) -> Result<RunConfig, CommandError> {
        let Some(outfit) = &self.launch.outfit else {
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
fn whole_batch(timeline: &Timeline, at: Seq) -> Seq {
    let mut at = at.min(Seq(timeline.len()));
    while timeline.event(at).is_some_and(|e: Arc<Envelope>| e.batch_continues) {
        at = Seq(at.0 - 1);
    }
    at
}

/// Where a state stands, in words.
fn place(state: &State) -> String {
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
        self.inbox().send(Message::Fork(fork, Some(tell))).map_err(|_| ended())?;
        told.await.map_err(|_| ended())?
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
        self.inbox().send(Message::Switch(to, Some(tell))).map_err(|_| ended())?;
        told.await.map_err(|_| ended())?
    }

    /// The same without waiting; a refusal comes back as a [`Signal`].
    pub fn send_switch(&self, to: BranchId) {
        let _ = self.inbox().send(Message::Switch(to, None));
    }
}

fn ended() -> CommandError {
    CommandError::new("the session has ended", "take it up again with `retrospect resume`")
}
