//! A plausible session for tests and benchmarks: real events, folded into a real store. No method and no world is
//! behind it; the words are what such an episode could say.

use crate::domain::{
    Author, Autonomy, By, CallId, EndReason, EpisodeRole, EpisodeSummary, Executed, Fate, Item, Kind,
    LessonId, LessonOp, LessonOrigin, LessonText, Limits, Note, NoteKind, Origin, PromptRecord, Reflection,
    RunSpec, Scope, SegmentRecord, Seq, Settings, ShownAs, Speaker, Task, Turn, Usage,
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
    state: State,
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
        let store = Arc::new(Store::default());
        let mut fixture =
            Self { store, state: State::default(), step: 0, progress: 0.0, lessons: 0, calls: 0 };
        fixture.write(
            Cause::Policy,
            Event::RunStarted {
                session: "20261120T104000Z-hot-apple-k3v9q2".to_owned(),
                spec: Box::new(RunSpec {
                    method: "omnireflect".to_owned(),
                    actor: "rules".to_owned(),
                    mentor: "symbolic".to_owned(),
                    interface: "react".to_owned(),
                    tasks: vec![task()],
                    trials: 1,
                    seed: 0,
                    autonomy: Autonomy::Auto,
                    limits: Limits { steps: 50, moves: None, wall_seconds: None },
                    loop_detector: false,
                    settings: Settings::default(),
                }),
            },
        );
        fixture
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
        let turn = Turn { observation: INTRO.to_owned(), valid: true, shown, ..Turn::default() };
        let goal = "put a hot apple in the fridge".to_owned();
        self.write(Cause::World, Event::WorldReset { call, turn: Box::new(turn), seen: None, goal });
        self
    }

    /// Asks the actor and reads its reply; the step waits for a decision.
    pub fn propose(&mut self, thought: Option<&str>, action: Option<&str>) -> &mut Self {
        let call = self.ask();
        let usage = Usage { prompt_tokens: 1210, reply_tokens: 61, estimated: false, millis: 4100 };
        let text = action.or(thought).unwrap_or_default().to_owned();
        self.write(Cause::Model, Event::ReplyReceived { call, text, reasoning: String::new(), usage });
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
        self.write(Cause::Policy, Event::PromptSent { prompt: Box::new(prompt) });
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
            fate: Fate::Kept,
        };
        let call = self.call();
        let event = Event::ActionTaken { step: self.step, call: Some(call), executed, list: false };
        self.write(if by == By::Person { Cause::Person } else { Cause::Policy }, event);
        let gained = progress > self.progress;
        self.progress = progress;
        let turn = Turn {
            observation: observation.to_owned(),
            progress,
            valid: observation != "Nothing happens.",
            shown,
            ..Turn::default()
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
        let item = Item { text: text.clone(), rule: None, evidence: String::new() };
        let reflection = Reflection {
            kind,
            author: Author::Symbolic,
            episode: self.state.past.len() as u32 + 1,
            step: self.step,
            items: vec![item],
            seq: Seq(0),
        };
        self.write(Cause::Policy, Event::Reflected { reflection: Box::new(reflection) });
        self.lesson(kind, text, LessonOrigin::Mentor)
    }

    /// A lesson without a reflection before it.
    pub fn lesson(&mut self, kind: Kind, text: LessonText, origin: LessonOrigin) -> &mut Self {
        self.lessons += 1;
        let op = LessonOp::Add {
            id: LessonId(format!("{:012x}", self.lessons)),
            kind,
            scope: if kind == Kind::Progress { Scope::Episode } else { Scope::Environment },
            origin,
            text,
            evidence: String::new(),
            rule: None,
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

fn task() -> Task {
    Task {
        env: "household".to_owned(),
        id: "heat/7".to_owned(),
        goal: String::new(),
        task_type: Some("pick_heat_then_place_in_recep".to_owned()),
        seed: 7,
    }
}

const INTRO: &str = "You are in the middle of a room. Looking quickly around you, you see a cabinet 4, a cabinet 3, \
a cabinet 2, a cabinet 1, a countertop 2, a countertop 1, a diningtable 1, a drawer 3, a drawer 2, a drawer 1, a fridge 1, \
a garbagecan 1, a microwave 1, a sinkbasin 1, a stoveburner 4, a stoveburner 3, a stoveburner 2, a stoveburner 1, \
a toaster 1, and a shelf 1.

Your task is to: put a hot apple in fridge.";

const PLACES: [&str; 20] = [
    "cabinet 4",
    "cabinet 3",
    "cabinet 2",
    "cabinet 1",
    "countertop 2",
    "countertop 1",
    "diningtable 1",
    "drawer 3",
    "drawer 2",
    "drawer 1",
    "fridge 1",
    "garbagecan 1",
    "microwave 1",
    "sinkbasin 1",
    "stoveburner 4",
    "stoveburner 3",
    "stoveburner 2",
    "stoveburner 1",
    "toaster 1",
    "shelf 1",
];

fn at(place: &str, open: Option<bool>, items: &[&str]) -> Value {
    let mut seen = json!({ "items": items });
    if let Some(open) = open {
        seen["open"] = open.into();
    }
    json!({"place": place, "seen": {place: seen}})
}

/// The episode of the drawings: twenty-three steps, the twenty-fourth proposed.
pub fn kitchen() -> Fixture {
    let mut f = Fixture::new();
    f.begin();
    f.lesson(
        Kind::Abstract,
        LessonText::plain("Look on open surfaces before you open closed receptacles."),
        LessonOrigin::File,
    );
    f.lesson(Kind::Abstract, LessonText::plain("Hold one object at a time."), LessonOrigin::Symbolic);
    f.think("To solve the task, I need to find an apple, take it, heat it with the microwave and put it in the fridge.");
    f.think(
        "An apple is more likely in a fridge, on a diningtable or on a countertop. I begin with the fridge.",
    );
    f.act(
        "go to fridge 1",
        "The fridge 1 is closed.",
        0.0,
        json!({"place": "fridge 1", "seen": {"fridge 1": {"open": false}}}),
    );
    f.act("take apple 1 from fridge 1", "Nothing happens.", 0.0, Value::Null);
    f.reflect(
        Kind::Error,
        LessonText::error("Tried to take from a closed fridge.", "Open a container before you take from it."),
    );
    f.act(
        "open fridge 1",
        "You open the fridge 1. The fridge 1 is open. In it, you see a bowl 1, a egg 2, and a lettuce 1.",
        0.0,
        at("fridge 1", Some(true), &["bowl 1", "egg 2", "lettuce 1"]),
    );
    f.act("close fridge 1", "You close the fridge 1.", 0.0, json!({"seen": {"fridge 1": {"open": false}}}));
    f.propose(None, Some("go to drawer 1"));
    f.take(
        "go to diningtable 1",
        By::Person,
        "On the diningtable 1, you see a bread 1, a dishsponge 2, a fork 1, a peppershaker 1, a plate 2, and a saltshaker 2.",
        0.0,
        at("diningtable 1", None, &["bread 1", "dishsponge 2", "fork 1", "peppershaker 1", "plate 2", "saltshaker 2"]),
    );
    f.lesson(
        Kind::Error,
        LessonText::error(
            "Searched drawers for food.",
            "Food lies on tables, on countertops or in the fridge.",
        ),
        LessonOrigin::Person,
    );
    f.reflect(Kind::Progress, LessonText::plain("The fridge and the diningtable hold no apple."));
    f.act(
        "go to cabinet 1",
        "The cabinet 1 is closed.",
        0.0,
        json!({"place": "cabinet 1", "seen": {"cabinet 1": {"open": false}}}),
    );
    f.act(
        "open cabinet 1",
        "You open the cabinet 1. The cabinet 1 is open. In it, you see nothing.",
        0.0,
        at("cabinet 1", Some(true), &[]),
    );
    f.think("Nothing here. I look at the surfaces first.");
    f.act(
        "go to sinkbasin 1",
        "On the sinkbasin 1, you see a spoon 1.",
        0.0,
        at("sinkbasin 1", None, &["spoon 1"]),
    );
    f.act(
        "go to stoveburner 2",
        "On the stoveburner 2, you see a pan 1.",
        0.0,
        at("stoveburner 2", None, &["pan 1"]),
    );
    f.act("take apple 1 from stoveburner 2", "Nothing happens.", 0.0, Value::Null);
    f.act(
        "go to countertop 1",
        "On the countertop 1, you see a bread 2, a cup 1, a papertowelroll 1, and a tomato 3.",
        0.0,
        at("countertop 1", None, &["bread 2", "cup 1", "papertowelroll 1", "tomato 3"]),
    );
    f.think("There is no apple. There is another countertop.");
    f.act("inventory", "You are not carrying anything.", 0.0, Value::Null);
    f.act("look", "You are facing the countertop 1. Next to it, you see nothing.", 0.0, Value::Null);
    f.reflect(Kind::Abstract, LessonText::plain("Apples are often on a countertop."));
    f.reflect(
        Kind::Abstract,
        LessonText::plain(
            "Two countertops stand in this kitchen; both are worth a look before any drawer is opened.",
        ),
    );
    f.think("The second countertop is left.");
    f.act(
        "examine countertop 1",
        "On the countertop 1, you see a bread 2, a cup 1, a papertowelroll 1, and a tomato 3.",
        0.0,
        Value::Null,
    );
    f.think("The apple is on countertop 2. I take it first.");
    f.act(
        "go to countertop 2",
        "On the countertop 2, you see a apple 1, a knife 1, and a mug 2.",
        0.25,
        at("countertop 2", None, &["apple 1", "knife 1", "mug 2"]),
    );
    f.reflect(Kind::Progress, LessonText::plain("Found an apple on countertop 2."));
    let mut taken = at("countertop 2", None, &["knife 1", "mug 2"]);
    taken["holding"] = "apple 1".into();
    f.act("take apple 1 from countertop 2", "You pick up the apple 1 from the countertop 2.", 0.5, taken);
    f.reflect(Kind::Progress, LessonText::plain("Took the apple."));
    f.think("Now heat the apple. A stoveburner is hot, I go there.");
    f.reflect(
        Kind::Error,
        LessonText::error("Went to a place that does not heat.", "Heat food in a microwave only."),
    );
    f.propose(None, Some("go to stoveburner 1"));
    f.pause();
    f
}

/// A session of at least this many events: one long episode after a short one.
pub fn long(events: u64) -> Fixture {
    let mut f = kitchen();
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
