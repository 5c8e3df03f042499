//! A policy small enough to read, and a bench that folds what the engine says.

use crate::domain::{
    Autonomy, CallId, EpisodeRole, Item, Kind, Label, LessonText, Limits, ModelRole, Note, Origin,
    PromptRecord, Question, RunSpec, SegmentRecord, Seq, Settings, Speaker, StepResult, Stop, Task,
    Truncation, Usage,
};
use crate::engine::{
    Ask, Cause, Command, CommandError, Draft, Effect, Engine, Envelope, Event, Found, Input, Intent,
    MentorReading, Method, Outgoing, Policy, Reading, Reply, State, StopRules, with_model,
};
use std::sync::Arc;

/// Asks the actor until the task is done, every task once.
pub(super) struct Plain;

impl Method for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.open_episode().is_some() {
            return vec![Intent::AskActor];
        }
        let Some(run) = &state.run else { return Vec::new() };
        match run.tasks.get(state.past.len()) {
            Some(task) => {
                vec![Intent::StartEpisode { task: Box::new(task.clone()), trial: 1, role: EpisodeRole::Test }]
            }
            None => vec![Intent::EndRun],
        }
    }

    fn reflect_now(&self, _: &State, _: Kind) -> Vec<Intent> {
        Vec::new()
    }
}

/// As [`Plain`], with two questions to the mentor after every second step and one after each episode.
pub(super) struct Counselled;

impl Method for Counselled {
    fn name(&self) -> &'static str {
        "counselled"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let due: &[Kind] = match state.last_step() {
            Some(_) if state.open_episode().is_none() => &[Kind::Plan],
            Some(step) if step.noted && step.number.is_multiple_of(2) => &[Kind::Error, Kind::Abstract],
            _ => &[],
        };
        let questions = due.iter().map(|kind| Question::reflect(*kind));
        let mut wants: Vec<Intent> = questions.filter(|q| !state.heard(*q)).map(Intent::AskMentor).collect();
        wants.extend(Plain.next(state));
        wants
    }

    fn reflect_now(&self, _: &State, kind: Kind) -> Vec<Intent> {
        vec![Intent::AskMentor(Question::reflect(kind))]
    }
}

fn read_mentor(_: Question, text: &str, _: Option<Truncation>) -> MentorReading {
    let items = text.lines().map(|line| Item { text: LessonText::plain(line), ..Item::default() }).collect();
    MentorReading { items, ..MentorReading::default() }
}

fn draft(state: &State, ask: &Ask) -> Draft {
    let mut segments =
        vec![SegmentRecord { label: Label::Task, origin: Origin::Task, speaker: Speaker::User, tokens: 1 }];
    for kind in [Kind::Abstract, Kind::Error, Kind::Progress] {
        for lesson in state.pool.in_force(kind) {
            segments.push(SegmentRecord {
                label: Label::Error,
                origin: Origin::Lesson { id: lesson.id.clone(), version: lesson.version() },
                speaker: Speaker::User,
                tokens: 1,
            });
        }
    }
    Draft {
        record: PromptRecord { asked: ask.asked, segments, tokens: 1, ..PromptRecord::default() },
        texts: vec![("shared".to_owned(), "the same in every prompt".to_owned())]
            .into_iter()
            .filter(|(hash, _)| ask.asked == ModelRole::Mentor && !state.texts.contains_key(hash))
            .collect(),
    }
}

fn edit(_: &State, draft: &PromptRecord, segment: usize, text: &str) -> Option<Draft> {
    let mut record = draft.clone();
    let hash = format!("edited {text}");
    record.segments.get_mut(segment)?.origin = Origin::Text(hash.as_str().into());
    record.sha256 = hash.clone();
    Some(Draft { record, texts: vec![(hash, text.to_owned())] })
}

fn read(text: &str) -> Reading {
    match text.strip_prefix("think: ") {
        Some(thought) => Reading { thought: Some(thought.to_owned()), ..Reading::default() },
        None if text.is_empty() => Reading::default(),
        None => Reading { action: Some(text.to_owned()), ..Reading::default() },
    }
}

/// A condition is the type of an event; nothing else can be waited for here.
fn read_stop(text: &str) -> Result<Stop, CommandError> {
    let (warn, rest) = text.strip_prefix("warn ").map_or((false, text), |rest| (true, rest));
    let (once, rest) = rest.strip_prefix("once ").map_or((false, rest), |rest| (true, rest));
    if rest.is_empty() {
        return Err(CommandError::new("no condition", "write the type of an event"));
    }
    Ok(Stop { condition: rest.to_owned(), warn, once })
}

fn look_for_stops(before: &State, envelope: &Envelope, after: &State) -> Vec<Found> {
    let name = names(std::slice::from_ref(&envelope.event)).remove(0);
    let step = after.last_step().map_or(0, |s| s.number);
    let on = before.stops.all.iter().filter(|b| b.on && b.stop.condition == name);
    on.map(|b| Found { breakpoint: b.number, step, why: format!("{name} came") }).collect()
}

pub(super) fn policy() -> Policy {
    policy_of(Arc::new(Plain))
}

pub(super) fn policy_of(method: Arc<dyn Method>) -> Policy {
    Policy {
        method,
        draft: Arc::new(draft),
        read,
        read_mentor,
        edit,
        outgoing: |_, _| Outgoing { sent: None, rule: None, list: false },
        incoming: |_, action, _, _| action.starts_with("think:").then(|| "OK.".to_owned()),
        goal: |first| first.observation.rsplit(": ").next().unwrap_or_default().to_owned(),
        detect: Arc::new(|state: &State| {
            let step = state.last_step();
            let nothing = step.and_then(|s| s.answer.as_ref()).is_some_and(|a| !a.valid);
            if !nothing {
                return Vec::new();
            }
            vec![Note {
                detector: "nothing_happened".to_owned(),
                kind: crate::domain::NoteKind::Mistake,
                evidence: "Nothing happens.".to_owned(),
                parts: std::collections::BTreeMap::new(),
            }]
        }),
        stops: StopRules { read: Arc::new(read_stop), look: Arc::new(look_for_stops) },
        attended: true,
    }
}

pub(super) fn spec(tasks: usize, steps: u32) -> RunSpec {
    RunSpec {
        method: "plain".to_owned(),
        actor: "script".to_owned(),
        mentor: "none".to_owned(),
        interface: "raw".to_owned(),
        tasks: (0..tasks)
            .map(|n| Task {
                env: "toy".to_owned(),
                id: format!("toy/{n}"),
                goal: String::new(),
                task_type: None,
                difficulty: None,
                seed: 0,
            })
            .collect(),
        trials: 1,
        seed: 0,
        autonomy: Autonomy::Auto,
        limits: Limits { steps, moves: None, wall_seconds: None },
        loop_detector: false,
        settings: Settings::default(),
    }
}

/// An engine with its journal kept in memory and its calls answered by hand.
pub(super) struct Bench {
    pub(super) engine: Engine,
    pub(super) journal: Vec<Envelope>,
    /// The stamp of the events to come.
    pub(super) at: jiff::Timestamp,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { engine: Engine::new(policy()), journal: Vec::new(), at: jiff::Timestamp::UNIX_EPOCH }
    }

    pub(super) fn started(tasks: usize, steps: u32) -> Self {
        Self::with(spec(tasks, steps))
    }

    pub(super) fn with(spec: RunSpec) -> Self {
        let mut bench = Self::new();
        bench
            .wish(Command::Start {
                session: "s".to_owned(),
                spec: Box::new(spec),
                pool: Vec::new(),
                carried: None,
                breaks: Vec::new(),
            })
            .unwrap();
        bench
    }

    /// Two questions to a mentor that is a model are under way.
    pub(super) fn asking_the_mentor() -> Self {
        let mut bench = Self::counselled(1, 50);
        let other = with_model(bench.state().run.as_deref().unwrap(), ModelRole::Mentor, "openai:m");
        bench.wish(Command::ChangeRun(Box::new(other))).unwrap();
        bench.wish(Command::Run).unwrap();
        bench.world(turn("A room. Your task is to: rest."));
        for action in ["look", "dance"] {
            bench.says(action);
            bench.world(turn("Fine."));
        }
        bench
    }

    /// With a method that asks a mentor.
    pub(super) fn counselled(tasks: usize, steps: u32) -> Self {
        let engine = Engine::new(policy_of(Arc::new(Counselled)));
        let mut bench = Self { engine, ..Self::new() };
        let spec = Box::new(spec(tasks, steps));
        bench
            .wish(Command::Start {
                session: "s".to_owned(),
                spec,
                pool: Vec::new(),
                carried: None,
                breaks: Vec::new(),
            })
            .unwrap();
        bench
    }

    pub(super) fn state(&self) -> &State {
        &self.engine.state
    }

    fn feed(&mut self, input: &Input) -> Result<Vec<Event>, CommandError> {
        let before = self.journal.len();
        let events = self.engine.decide(input)?;
        self.fold(events);
        loop {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.fold(events);
            assert!(self.journal.len() - before < 200, "the engine does not come to rest");
        }
        Ok(self.journal[before..].iter().map(|e| e.event.clone()).collect())
    }

    pub(super) fn wish(&mut self, command: Command) -> Result<Vec<Event>, CommandError> {
        self.feed(&Input::Command(command))
    }

    pub(super) fn reply(&mut self, reply: Reply) -> Vec<Event> {
        self.feed(&Input::Reply(reply)).unwrap()
    }

    fn fold(&mut self, events: Vec<(Cause, Event)>) {
        let (head, at) = (self.engine.state.head.0, self.at);
        let stamped = |from: u64, events: Vec<(Cause, Event)>| -> Vec<Envelope> {
            let place =
                |(n, (cause, event))| Envelope { seq: Seq(from + n as u64), at, cause, more: true, event };
            events.into_iter().enumerate().map(place).collect()
        };
        let mut batch = stamped(head + 1, events);
        let hits = self.engine.watched(&batch);
        batch.extend(stamped(head + 1 + batch.len() as u64, hits));
        if let Some(last) = batch.last_mut() {
            last.more = false;
        }
        for envelope in batch {
            self.engine.state.apply(&envelope);
            self.journal.push(envelope);
        }
    }

    pub(super) fn call(&self) -> Option<(CallId, Effect)> {
        self.state().calls.iter().next().map(|(c, e)| (*c, e.clone()))
    }

    /// Answers the world's call in flight.
    pub(super) fn world(&mut self, turn: StepResult) -> Vec<Event> {
        let (call, _) = self.call().expect("a call is in flight");
        self.reply(Reply::World { call, turn: Box::new(turn), admissible: Vec::new() })
    }

    /// Answers the actor's call in flight.
    pub(super) fn says(&mut self, text: &str) -> Vec<Event> {
        let (call, effect) = self.call().expect("a call is in flight");
        assert!(
            matches!(effect, Effect::Ask { ref prompt, .. } if prompt.asked == ModelRole::Actor),
            "{effect:?}"
        );
        self.reply(Reply::Model {
            truncated: None,
            call,
            text: text.to_owned(),
            reasoning: String::new(),
            usage: Usage {
                prompt_tokens: 3,
                reply_tokens: 1,
                estimated: true,
                millis: 5,
                ..Usage::default()
            },
        })
    }
}

pub(super) fn turn(text: &str) -> StepResult {
    StepResult { observation: text.to_owned(), valid: text != "Nothing happens.", ..StepResult::default() }
}

pub(super) fn won(text: &str) -> StepResult {
    StepResult { won: true, done: true, reward: 1.0, progress: 1.0, ..turn(text) }
}

pub(super) fn names(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|e| serde_json::to_value(e).unwrap()["type"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// A call to the actor that came to nothing.
pub(super) fn no_answer() -> crate::engine::Failure {
    let [what, place, next] = ["no answer", "actor", "retry"].map(str::to_owned);
    crate::engine::Failure { what, place, next, kind: None, came: String::new(), usage: None }
}
