//! Sessions for tests and benchmarks: real events, folded into a real store, without a method or an environment behind
//! them. The texts are made up.

mod method_sessions;
mod sample_session;

use crate::domain::{
    Author, Autonomy, CallId, DecidedBy, EndReason, EpisodeRole, EpisodeSummary, ExecutedAction, Interface,
    LessonId, LessonOp, LessonOrigin, LessonText, Limits, MessageRole, Note, NoteKind, PromptRecord,
    Reflection, ReflectionItem, ReflectionKind, RunSpec, Scope, SegmentOrigin, SegmentRecord, Seq, ShownAs,
    StepResult, Task, ThoughtDisposition, Usage,
};
use crate::driver::Store;
use crate::engine::{Cause, Envelope, Event, PauseReason, State};
pub use method_sessions::{
    dora, dora_long, dora_searches, fcrf, planning_only, rci, reflexion, summary, sweet_sour,
};
use ratatui::buffer::Buffer;
pub use sample_session::sample_session;
use sample_session::{INTRO, PLACES, shown_at, task};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes events as a driver would and keeps them in a store.
pub struct Fixture {
    /// The store that the screen reads.
    pub store: Arc<Store>,
    pub(in crate::ui) state: State,
    step: u32,
    progress: f64,
    lessons: u32,
    calls: u64,
}

impl Default for Fixture {
    fn default() -> Self {
        Self::new()
    }
}

impl Fixture {
    /// Creates a run that has started and has no episode yet.
    pub fn new() -> Self {
        Self::for_method("omnireflect", "symbolic", 1)
    }

    /// Creates such a run with a method, a mentor and a number of trials.
    pub fn for_method(method: &str, mentor: &str, trials: u32) -> Self {
        Self::for_tasks(method, mentor, trials, vec![task()])
    }

    /// Creates such a run of some tasks.
    pub fn for_tasks(method: &str, mentor: &str, trials: u32, tasks: Vec<Task>) -> Self {
        let mut fixture = Self::empty();
        fixture.write(
            Cause::Policy,
            Event::RunStarted {
                session: "20261120T104000Z-hot-apple-k3v9q2".to_owned(),
                spec: Box::new(RunSpec {
                    method: method.to_owned(),
                    actor: "rules".to_owned(),
                    mentor: mentor.to_owned(),
                    interface: Interface::React,
                    tasks,
                    trials,
                    seed: 0,
                    autonomy: Autonomy::Auto,
                    limits: Limits { steps: 50, moves: None, wall_seconds: None },
                    loop_detector: false,
                    settings: crate::catalog::defaults(method, crate::domain::PaperOrCode::Paper).1,
                }),
            },
        );
        fixture
    }

    /// Creates a session without events.
    pub fn empty() -> Self {
        let store = Arc::new(Store::default());
        Self { store, state: State::default(), step: 0, progress: 0.0, lessons: 0, calls: 0 }
    }

    /// Appends and applies one event. Returns its sequence number.
    pub fn write(&mut self, cause: Cause, event: Event) -> Seq {
        let seq = Seq(self.state.head.0 + 1);
        let at = jiff::Timestamp::from_second(1_795_171_200 + seq.0.cast_signed())
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let envelope = Envelope { seq, timestamp: at, cause, batch_continues: false, event };
        self.state.apply(&envelope);
        self.store.append([Arc::new(envelope)], Arc::new(self.state.clone()));
        seq
    }

    /// Begins an episode in a kitchen.
    pub fn begin_episode(&mut self) -> &mut Self {
        self.begin_episode_in("household")
    }

    /// Begins such an episode in an environment of this name.
    pub fn begin_episode_in(&mut self, environment: &str) -> &mut Self {
        self.begin_episode_with_goal(environment, "put a hot apple in the fridge")
    }

    /// Begins such an episode with a goal of its own.
    pub fn begin_episode_with_goal(&mut self, environment: &str, goal: &str) -> &mut Self {
        self.step = 0;
        self.progress = 0.0;
        let call = self.next_call();
        let episode = self.state.ended_episodes.len() as u32 + 1;
        let event = Event::EpisodeStarted {
            episode,
            task: Box::new(Task { env: environment.to_owned(), ..task() }),
            trial: episode,
            role: EpisodeRole::Test,
            call,
        };
        self.write(Cause::Policy, event);
        let shown = json!({"receptacles": PLACES});
        let result =
            StepResult { observation: INTRO.to_owned(), valid: true, shown, ..StepResult::default() };
        let goal = goal.to_owned();
        let reset = Event::WorldReset { call, result: Box::new(result), agent_view: None, goal };
        self.write(Cause::World, reset);
        self
    }

    /// Writes the reply of a call.
    pub fn receive_reply(&mut self, call: CallId, text: String, usage: Usage) {
        let event = Event::ReplyReceived {
            tool_calls: Vec::new(),
            truncated: None,
            call,
            text,
            reasoning: String::new(),
            usage,
            reply_source: None,
        };
        self.write(Cause::Model, event);
    }

    /// Calls the actor and records its reply; the step then waits for a decision.
    pub fn propose(&mut self, thought: Option<&str>, action: Option<&str>) -> &mut Self {
        let call = self.send_prompt();
        let usage = Usage {
            prompt_tokens: 1210,
            reply_tokens: 61,
            estimated: false,
            millis: 4100,
            ..Usage::default()
        };
        let text = action.or(thought).unwrap_or_default().to_owned();
        self.receive_reply(call, text, usage);
        let event = Event::Proposed {
            step: self.step,
            thought: thought.map(str::to_owned),
            action: action.map(str::to_owned),
            planned: Vec::new(),
            complaints: Vec::new(),
        };
        self.write(Cause::Model, event);
        self
    }

    /// Sends the prompt of the next step and leaves the call in flight.
    pub fn send_prompt(&mut self) -> CallId {
        let open = self.state.open_episode().and_then(|e| e.last_step()).is_some_and(|s| s.answer.is_none());
        if !open {
            self.step += 1;
        }
        let call = self.next_call();
        let lessons: Vec<SegmentRecord> = self
            .state
            .pool
            .all()
            .filter(|l| l.is_active())
            .map(|l| SegmentRecord {
                label: crate::domain::SegmentLabel::Error,
                origin: SegmentOrigin::Lesson { id: l.id.clone(), version: l.version() },
                message_role: MessageRole::User,
                tokens: 14,
            })
            .collect();
        let prompt = PromptRecord {
            call,
            episode: self.state.ended_episodes.len() as u32 + 1,
            step: self.step,
            segments: lessons,
            tokens: 1210,
            ..PromptRecord::default()
        };
        self.write(Cause::Policy, Event::PromptSent { prompt: Arc::new(prompt) });
        call
    }

    /// Executes an action and records the environment's response.
    pub fn execute(
        &mut self,
        action: &str,
        by: DecidedBy,
        observation: &str,
        progress: f64,
        shown: Value,
    ) -> &mut Self {
        let executed = ExecutedAction {
            action: action.to_owned(),
            sent: None,
            rewrite_rule: None,
            decided_by: by,
            shown_as: ShownAs::AgentAction,
            thought_disposition: ThoughtDisposition::Kept,
        };
        let call = self.next_call();
        let event =
            Event::ActionTaken { step: self.step, call: Some(call), executed, admissible_only: false };
        self.write(if by == DecidedBy::Person { Cause::Person } else { Cause::Policy }, event);
        let gained = progress > self.progress;
        self.progress = progress;
        let result = StepResult {
            observation: observation.to_owned(),
            progress,
            valid: observation != "Nothing happens.",
            shown,
            ..StepResult::default()
        };
        let step = self.step;
        self.write(
            Cause::World,
            Event::Observed { step, call: Some(call), result: Box::new(result), agent_view: None },
        );
        let mut notes = Vec::new();
        if gained {
            notes.push(note("subgoal_reached", NoteKind::Progress, observation));
        }
        if observation == "Nothing happens." {
            notes.push(note("nothing_happened", NoteKind::Mistake, observation));
        }
        self.write(Cause::Policy, Event::Noted { step, notes });
        self
    }

    /// Writes a complete step of a person who plays.
    pub fn person_step(&mut self, action: &str, observation: &str) -> &mut Self {
        self.step += 1;
        let step = self.step;
        self.write(Cause::Person, Event::StepOpened { step });
        self.execute(action, DecidedBy::Person, observation, self.progress, Value::Null)
    }

    /// Writes a complete step of the actor.
    pub fn actor_step(&mut self, action: &str, observation: &str, progress: f64, shown: Value) -> &mut Self {
        self.propose(None, Some(action));
        self.execute(action, DecidedBy::Actor, observation, progress, shown)
    }

    /// Writes a step that only thinks.
    pub fn thinking_step(&mut self, thought: &str) -> &mut Self {
        self.propose(Some(thought), None);
        let progress = self.progress;
        self.execute(&format!("think: {thought}"), DecidedBy::Actor, "OK.", progress, Value::Null)
    }

    /// Writes a reflection and the lesson kept from it.
    pub fn add_reflection(&mut self, kind: ReflectionKind, text: LessonText) -> &mut Self {
        let item = ReflectionItem { text: text.clone(), ..ReflectionItem::default() };
        let position = (self.state.ended_episodes.len() as u32 + 1, self.step);
        let reflection = Reflection::new(kind, Author::Symbolic, position, vec![item]);
        self.write(Cause::Policy, Event::Reflected { reflection: Box::new(reflection) });
        self.add_lesson(kind, text, LessonOrigin::Mentor)
    }

    /// Adds a lesson without a reflection.
    pub fn add_lesson(&mut self, kind: ReflectionKind, text: LessonText, origin: LessonOrigin) -> &mut Self {
        self.lessons += 1;
        let op = LessonOp::plain(
            LessonId(format!("{:012x}", self.lessons).into()),
            kind,
            if kind == ReflectionKind::Progress { Scope::Episode } else { Scope::Environment },
            origin,
            text,
        );
        let (cause, by) = match origin {
            LessonOrigin::Person => (Cause::Person, Author::Person),
            _ => (Cause::Policy, Author::Symbolic),
        };
        self.write(cause, Event::LessonChanged { op: Box::new(op), author: by });
        self
    }

    /// Ends the episode.
    pub fn end_episode(&mut self, won: bool, reason: EndReason) -> &mut Self {
        let Some(e) = self.state.open_episode() else { return self };
        let summary = EpisodeSummary {
            number: e.number,
            task: e.task.clone(),
            trial: e.trial,
            role: e.role,
            won,
            reason,
            steps: e.answered_steps(),
            moves: e.moves,
            progress: e.progress,
            calls: e.calls,
            tokens: e.tokens,
            assisted: e.assisted,
            seq_range: (e.first_seq.0, self.state.head.0 + 1),
            stats: crate::domain::EpisodeStats::default(),
        };
        self.write(Cause::Policy, Event::EpisodeEnded { summary: Box::new(summary) });
        self
    }

    /// Pauses, as after a step.
    pub fn pause(&mut self) -> &mut Self {
        self.write(Cause::Policy, Event::Paused { reason: PauseReason::StepDone });
        self
    }

    /// Returns the state after the last event.
    pub fn state(&self) -> &State {
        &self.state
    }

    fn next_call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }
}

fn note(detector: &str, kind: NoteKind, evidence: &str) -> Note {
    Note { detector: detector.to_owned(), kind, evidence: evidence.to_owned(), parts: BTreeMap::new() }
}

/// Returns a session of at least `events` events: a short episode, then a long one.
pub fn long_session(events: u64) -> Fixture {
    let mut f = sample_session();
    f.end_episode(false, EndReason::StepLimit);
    f.begin_episode();
    let mut step = 0_u32;
    while f.state.head.0 < events {
        step += 1;
        let place = PLACES[step as usize % PLACES.len()];
        f.actor_step(
            &format!("go to {place}"),
            &format!("On the {place}, you see a apple {step}, and a mug 2."),
            0.0,
            shown_at(place, None, &["apple 1", "mug 2"]),
        );
    }
    f.propose(None, Some("go to fridge 1"));
    f.pause();
    f
}

/// Returns the characters of a buffer, row by row, without trailing blanks.
pub fn screen_text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut row = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = crate::text::width(symbol).max(1);
            }
            skip -= 1;
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}
