//! A plausible session for tests and benchmarks: real events, folded into a real store. No method and no world is
//! behind it; the words are what such an episode could say.

mod learnt;
mod sample_session;

pub use learnt::{fcrf, planned, reflexion, summary, sweet_sour};
pub use sample_session::sample_session;
use sample_session::{INTRO, PLACES, at, task};

use crate::domain::{
    Author, Autonomy, By, CallId, EndReason, EpisodeRole, EpisodeSummary, Executed, Item, Kind, LessonId,
    LessonOp, LessonOrigin, LessonText, Limits, Note, NoteKind, Origin, PromptRecord, Reflection, RunSpec,
    Scope, SegmentRecord, Seq, ShownAs, Speaker, StepResult, ThoughtDisposition, Usage,
};
use crate::driver::Store;
use crate::engine::{Cause, Envelope, Event, PauseReason, State};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes events as a driver would and keeps them in a store.
pub struct Fixture {
    /// What the screen looks at.
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
    /// A run that has begun, without an episode.
    pub fn new() -> Self {
        Self::of("omnireflect", "symbolic", 1)
    }

    /// The same by this method and mentor, with so many trials.
    pub fn of(method: &str, mentor: &str, trials: u32) -> Self {
        let mut fixture = Self::empty();
        fixture.write(
            Cause::Policy,
            Event::RunStarted {
                session: "20261120T104000Z-hot-apple-k3v9q2".to_owned(),
                spec: Box::new(RunSpec {
                    method: method.to_owned(),
                    actor: "rules".to_owned(),
                    mentor: mentor.to_owned(),
                    interface: "react".to_owned(),
                    tasks: vec![task()],
                    trials,
                    seed: 0,
                    autonomy: Autonomy::Auto,
                    limits: Limits { steps: 50, moves: None, wall_seconds: None },
                    loop_detector: false,
                    settings: crate::method::defaults(method, crate::method::PaperOrCode::Paper).1,
                }),
            },
        );
        fixture
    }

    /// Before the first event.
    pub fn empty() -> Self {
        let store = Arc::new(Store::default());
        Self { store, state: State::default(), step: 0, progress: 0.0, lessons: 0, calls: 0 }
    }

    /// Journals and folds one event.
    pub fn write(&mut self, cause: Cause, event: Event) -> Seq {
        let seq = Seq(self.state.head.0 + 1);
        let at = jiff::Timestamp::from_second(1_795_171_200 + seq.0.cast_signed())
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let envelope = Envelope { seq, at, cause, more: false, event };
        self.state.apply(&envelope);
        self.store.append([Arc::new(envelope)], Arc::new(self.state.clone()));
        seq
    }

    /// Begins an episode in the kitchen.
    pub fn begin(&mut self) -> &mut Self {
        self.step = 0;
        self.progress = 0.0;
        let call = self.call();
        let episode = self.state.past.len() as u32 + 1;
        let event = Event::EpisodeStarted {
            episode,
            task: Box::new(task()),
            trial: episode,
            role: EpisodeRole::Test,
            call,
        };
        self.write(Cause::Policy, event);
        let shown = json!({"receptacles": PLACES});
        let turn = StepResult { observation: INTRO.to_owned(), valid: true, shown, ..StepResult::default() };
        let goal = "put a hot apple in the fridge".to_owned();
        self.write(Cause::World, Event::WorldReset { call, turn: Box::new(turn), seen: None, goal });
        self
    }

    /// Asks the actor and reads its reply; the step waits for a decision.
    pub fn propose(&mut self, thought: Option<&str>, action: Option<&str>) -> &mut Self {
        let call = self.ask();
        let usage = Usage {
            prompt_tokens: 1210,
            reply_tokens: 61,
            estimated: false,
            millis: 4100,
            ..Usage::default()
        };
        let text = action.or(thought).unwrap_or_default().to_owned();
        self.write(
            Cause::Model,
            Event::ReplyReceived { truncated: None, call, text, reasoning: String::new(), usage, from: None },
        );
        let event = Event::Proposed {
            step: self.step,
            thought: thought.map(str::to_owned),
            action: action.map(str::to_owned),
            complaints: Vec::new(),
        };
        self.write(Cause::Model, event);
        self
    }

    /// Sends the prompt of the next step and leaves the call in flight.
    pub fn ask(&mut self) -> CallId {
        let open = self.state.open_episode().and_then(|e| e.last()).is_some_and(|s| s.answer.is_none());
        if !open {
            self.step += 1;
        }
        let call = self.call();
        let lessons: Vec<SegmentRecord> = self
            .state
            .pool
            .all()
            .filter(|l| l.in_force())
            .map(|l| SegmentRecord {
                label: crate::domain::Label::Error,
                origin: Origin::Lesson { id: l.id.clone(), version: l.version() },
                speaker: Speaker::User,
                tokens: 14,
            })
            .collect();
        let prompt = PromptRecord {
            call,
            episode: self.state.past.len() as u32 + 1,
            step: self.step,
            segments: lessons,
            tokens: 1210,
            ..PromptRecord::default()
        };
        self.write(Cause::Policy, Event::PromptSent { prompt: Arc::new(prompt) });
        call
    }

    /// Runs an action and takes the answer of the world in.
    pub fn take(
        &mut self,
        action: &str,
        by: By,
        observation: &str,
        progress: f64,
        shown: Value,
    ) -> &mut Self {
        let executed = Executed {
            action: action.to_owned(),
            sent: None,
            rule: None,
            by,
            shown_as: ShownAs::Own,
            fate: ThoughtDisposition::Kept,
        };
        let call = self.call();
        let event = Event::ActionTaken { step: self.step, call: Some(call), executed, list: false };
        self.write(if by == By::Person { Cause::Person } else { Cause::Policy }, event);
        let gained = progress > self.progress;
        self.progress = progress;
        let turn = StepResult {
            observation: observation.to_owned(),
            progress,
            valid: observation != "Nothing happens.",
            shown,
            ..StepResult::default()
        };
        let step = self.step;
        self.write(
            Cause::World,
            Event::Observed { step, call: Some(call), turn: Box::new(turn), seen: None },
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

    /// A whole step of a person who plays.
    pub fn played(&mut self, action: &str, observation: &str) -> &mut Self {
        self.step += 1;
        let step = self.step;
        self.write(Cause::Person, Event::StepOpened { step });
        self.take(action, By::Person, observation, self.progress, Value::Null)
    }

    /// A whole step of the actor.
    pub fn act(&mut self, action: &str, observation: &str, progress: f64, shown: Value) -> &mut Self {
        self.propose(None, Some(action));
        self.take(action, By::Actor, observation, progress, shown)
    }

    /// A step that only thinks.
    pub fn think(&mut self, thought: &str) -> &mut Self {
        self.propose(Some(thought), None);
        let progress = self.progress;
        self.take(&format!("think: {thought}"), By::Actor, "OK.", progress, Value::Null)
    }

    /// A reflection, and the lesson kept from it.
    pub fn reflect(&mut self, kind: Kind, text: LessonText) -> &mut Self {
        let item = Item { text: text.clone(), ..Item::default() };
        let reflection = Reflection {
            kind,
            author: Author::Symbolic,
            episode: self.state.past.len() as u32 + 1,
            step: self.step,
            purpose: crate::domain::Purpose::Reflect,
            items: vec![item],
            complaints: Vec::new(),
            dropped: Vec::new(),
            truncated: None,
            call: None,
            from: None,
            prompt_edited: false,
            seq: Seq(0),
        };
        self.write(Cause::Policy, Event::Reflected { reflection: Box::new(reflection) });
        self.lesson(kind, text, LessonOrigin::Mentor)
    }

    /// A lesson without a reflection before it.
    pub fn lesson(&mut self, kind: Kind, text: LessonText, origin: LessonOrigin) -> &mut Self {
        self.lessons += 1;
        let op = LessonOp::Add {
            id: LessonId(format!("{:012x}", self.lessons).into()),
            kind,
            scope: if kind == Kind::Progress { Scope::Episode } else { Scope::Environment },
            origin,
            text,
            evidence: String::new(),
            rule: None,
            parents: Vec::new(),
            moment: None,
            about: None,
        };
        let (cause, by) = match origin {
            LessonOrigin::Person => (Cause::Person, Author::Person),
            _ => (Cause::Policy, Author::Symbolic),
        };
        self.write(cause, Event::LessonChanged { op: Box::new(op), by });
        self
    }

    /// Ends the episode.
    pub fn end(&mut self, won: bool, reason: EndReason) -> &mut Self {
        let Some(e) = self.state.open_episode() else { return self };
        let summary = EpisodeSummary {
            number: e.number,
            task: e.task.clone(),
            trial: e.trial,
            role: e.role,
            won,
            reason,
            steps: e.answered(),
            moves: e.moves,
            progress: e.progress,
            calls: e.calls,
            tokens: e.tokens,
            assisted: e.assisted,
            span: (e.first_seq.0, self.state.head.0 + 1),
            hindsight: crate::domain::Hindsight::default(),
        };
        self.write(Cause::Policy, Event::EpisodeEnded { summary: Box::new(summary) });
        self
    }

    /// Stands still, as after a step.
    pub fn pause(&mut self) -> &mut Self {
        self.write(Cause::Policy, Event::Paused { reason: PauseReason::StepDone });
        self
    }

    /// The state after the last event.
    pub fn state(&self) -> &State {
        &self.state
    }

    fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }
}

fn note(detector: &str, kind: NoteKind, evidence: &str) -> Note {
    Note { detector: detector.to_owned(), kind, evidence: evidence.to_owned(), parts: BTreeMap::new() }
}

/// A session of at least this many events: one long episode after a short one.
pub fn long(events: u64) -> Fixture {
    let mut f = sample_session();
    f.end(false, EndReason::StepLimit);
    f.begin();
    let mut turn = 0_u32;
    while f.state.head.0 < events {
        turn += 1;
        let place = PLACES[turn as usize % PLACES.len()];
        f.act(
            &format!("go to {place}"),
            &format!("On the {place}, you see a apple {turn}, and a mug 2."),
            0.0,
            at(place, None, &["apple 1", "mug 2"]),
        );
    }
    f.propose(None, Some("go to fridge 1"));
    f.pause();
    f
}
