//! Two minimal methods, and a harness that does the driver's work: it passes inputs to the engine, folds the resulting
//! events and keeps them as a journal.

use crate::domain::{
    Autonomy, BreakpointConfig, CallId, EpisodeRole, Interface, LessonText, Limits, MessageRole, ModelRole,
    Note, PromptRecord, Question, ReflectionItem, ReflectionKind, RunSpec, SegmentLabel, SegmentOrigin,
    SegmentRecord, Seq, Settings, StepResult, Task, Truncation, Usage, with_model,
};
use crate::engine::{
    BreakpointMatch, BreakpointRules, Cause, Command, CommandError, Effect, Engine, Envelope, Event, Input,
    Intent, Method, OutgoingAction, ParsedActorReply, ParsedMentorReply, Policy, PromptDraft, PromptRequest,
    Reply, State,
};
use std::sync::Arc;

/// Plays every task once and asks only the actor.
pub(super) struct ActorOnlyMethod;

impl Method for ActorOnlyMethod {
    fn name(&self) -> &'static str {
        "actor_only"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        if state.open_episode().is_some() {
            return vec![Intent::AskActor];
        }
        let Some(run) = &state.run else { return Vec::new() };
        match run.tasks.get(state.ended_episodes.len()) {
            Some(task) => {
                vec![Intent::StartEpisode { task: Box::new(task.clone()), trial: 1, role: EpisodeRole::Test }]
            }
            None => vec![Intent::EndRun],
        }
    }

    fn reflect_now(&self, _: &State, _: ReflectionKind) -> Vec<Intent> {
        Vec::new()
    }
}

/// Like [`ActorOnlyMethod`], but also asks the mentor: two questions after every second step, and one after each
/// episode.
pub(super) struct MentorMethod;

impl Method for MentorMethod {
    fn name(&self) -> &'static str {
        "with_mentor"
    }

    fn next(&self, state: &State) -> Vec<Intent> {
        let due: &[ReflectionKind] = match state.last_step() {
            Some(_) if state.open_episode().is_none() => &[ReflectionKind::Plan],
            Some(step) if step.detectors_ran && step.number.is_multiple_of(2) => {
                &[ReflectionKind::Error, ReflectionKind::Abstract]
            }
            _ => &[],
        };
        let questions = due.iter().map(|kind| Question::reflect(*kind));
        let mut intents: Vec<Intent> =
            questions.filter(|q| !state.is_answered(*q)).map(Intent::AskMentor).collect();
        intents.extend(ActorOnlyMethod.next(state));
        intents
    }

    fn reflect_now(&self, _: &State, kind: ReflectionKind) -> Vec<Intent> {
        vec![Intent::AskMentor(Question::reflect(kind))]
    }
}

/// Parses every line of a mentor's reply as one lesson.
fn parse_mentor_reply(_: Question, text: &str, _: Option<Truncation>) -> ParsedMentorReply {
    let items = text
        .lines()
        .map(|line| ReflectionItem { text: LessonText::plain(line), ..ReflectionItem::default() })
        .collect();
    ParsedMentorReply { items, ..ParsedMentorReply::default() }
}

/// Drafts a prompt with one segment for the task and one for each active lesson. All prompts for the mentor refer to
/// the same text, which the first of them defines.
fn draft_prompt(state: &State, request: &PromptRequest) -> PromptDraft {
    let mut segments = vec![SegmentRecord {
        label: SegmentLabel::Task,
        origin: SegmentOrigin::Task,
        message_role: MessageRole::User,
        tokens: 1,
    }];
    for kind in [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress] {
        for lesson in state.pool.active_of_kind(kind) {
            segments.push(SegmentRecord {
                label: SegmentLabel::Error,
                origin: SegmentOrigin::Lesson { id: lesson.id.clone(), version: lesson.version() },
                message_role: MessageRole::User,
                tokens: 1,
            });
        }
    }
    PromptDraft {
        record: PromptRecord { role: request.role, segments, tokens: 1, ..PromptRecord::default() },
        texts: vec![("shared".to_owned(), "the same in every prompt".to_owned())]
            .into_iter()
            .filter(|(hash, _)| request.role == ModelRole::Mentor && !state.texts.contains_key(hash))
            .collect(),
    }
}

/// Edits a prompt. Its new hash contains the edited text, so that tests can compare prompts by their hashes.
fn edit_prompt(_: &State, draft: &PromptRecord, segment: usize, text: &str) -> Option<PromptDraft> {
    let mut record = draft.clone();
    let hash = format!("edited {text}");
    record.segments.get_mut(segment)?.origin = SegmentOrigin::Text(hash.as_str().into());
    record.sha256 = hash.clone();
    Some(PromptDraft { record, texts: vec![(hash, text.to_owned())] })
}

fn parse_reply(_: &State, _: &PromptRecord, text: &str) -> ParsedActorReply {
    match text.strip_prefix("think: ") {
        Some(thought) => {
            ParsedActorReply { thought: Some(thought.to_owned()), ..ParsedActorReply::default() }
        }
        None if text.is_empty() => ParsedActorReply::default(),
        None => ParsedActorReply { action: Some(text.to_owned()), ..ParsedActorReply::default() },
    }
}

/// Parses a breakpoint's condition. In these tests, every condition is the type of an event.
fn parse_condition(text: &str) -> Result<BreakpointConfig, CommandError> {
    let (is_watch, rest) = text.strip_prefix("warn ").map_or((false, text), |rest| (true, rest));
    let (once, rest) = rest.strip_prefix("once ").map_or((false, rest), |rest| (true, rest));
    if rest.is_empty() {
        return Err(CommandError::new("no condition", "write the type of an event"));
    }
    Ok(BreakpointConfig { condition: rest.to_owned(), is_watch, once })
}

/// Returns a match for each enabled breakpoint whose condition is the type of this event.
fn find_hits(before: &State, envelope: &Envelope, after: &State) -> Vec<BreakpointMatch> {
    let name = event_names(std::slice::from_ref(&envelope.event)).remove(0);
    let step = after.last_step().map_or(0, |s| s.number);
    let enabled = before.breakpoints.all.iter().filter(|b| b.enabled && b.config.condition == name);
    enabled
        .map(|b| BreakpointMatch { breakpoint: b.number, step, reason: format!("event {name} occurred") })
        .collect()
}

/// Returns the policy of a run that asks only the actor.
pub(super) fn policy() -> Policy {
    policy_with(Arc::new(ActorOnlyMethod))
}

fn policy_with(method: Arc<dyn Method>) -> Policy {
    Policy {
        method,
        draft_prompt: Arc::new(draft_prompt),
        parse_reply,
        parse_mentor_reply: Arc::new(parse_mentor_reply),
        edit_prompt,
        rewrite_action: |_, _| OutgoingAction { sent: None, rewrite_rule: None, admissible_only: false },
        is_short_action: |_, _| false,
        has_known_form: Arc::new(|_, _| true),
        rewrite_observation: |_, action, _, _| action.starts_with("think:").then(|| "OK.".to_owned()),
        extract_goal: |first| first.observation.rsplit(": ").next().unwrap_or_default().to_owned(),
        detect: Arc::new(|state: &State| {
            let step = state.last_step();
            let is_rejected = step.and_then(|s| s.answer.as_ref()).is_some_and(|a| !a.valid);
            if !is_rejected {
                return Vec::new();
            }
            vec![Note {
                detector: "nothing_happened".to_owned(),
                kind: crate::domain::NoteKind::Mistake,
                evidence: "Nothing happens.".to_owned(),
                parts: std::collections::BTreeMap::new(),
            }]
        }),
        breakpoints: BreakpointRules { parse: Arc::new(parse_condition), find_hits: Arc::new(find_hits) },
        is_attended: true,
    }
}

/// Returns a run with this many tasks. No test reaches its step limit of 50; tests of limits lower it.
pub(in crate::engine) fn spec_with_tasks(tasks: usize) -> RunSpec {
    RunSpec {
        // The engine doesn't look up a method by this name. It only compares the names when the run is changed.
        method: "test".to_owned(),
        actor: "script".to_owned(),
        mentor: "none".to_owned(),
        interface: Interface::Raw,
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
        limits: Limits { steps: 50, moves: None, wall_seconds: None },
        loop_detector: false,
        settings: Settings::default(),
    }
}

/// An engine with its journal in memory. The test replies to its calls.
pub(super) struct Harness {
    pub(super) engine: Engine,
    pub(super) journal: Vec<Envelope>,
    /// The timestamp that the next events get.
    pub(super) timestamp: jiff::Timestamp,
}

impl Harness {
    /// Returns a harness whose run hasn't started. Its method asks only the actor.
    pub(super) fn new() -> Self {
        Self::with_method(Arc::new(ActorOnlyMethod))
    }

    fn with_method(method: Arc<dyn Method>) -> Self {
        Self {
            engine: Engine::new(policy_with(method)),
            journal: Vec::new(),
            timestamp: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    /// Starts a run with this many tasks and a method that asks only the actor.
    pub(super) fn with_tasks(tasks: usize) -> Self {
        Self::with_spec(spec_with_tasks(tasks))
    }

    /// Starts this run with a method that asks only the actor.
    pub(super) fn with_spec(spec: RunSpec) -> Self {
        Self::new().start(spec)
    }

    /// Starts this run with any method.
    pub(super) fn with_any_method(method: Arc<dyn Method>, spec: RunSpec) -> Self {
        Self::with_method(method).start(spec)
    }

    /// Starts this run with a method that also asks a mentor.
    pub(super) fn with_mentor(mut spec: RunSpec) -> Self {
        spec.mentor = "script".to_owned();
        Self::with_method(Arc::new(MentorMethod)).start(spec)
    }

    fn start(mut self, spec: RunSpec) -> Self {
        self.command(Command::Start {
            session: "s".to_owned(),
            spec: Box::new(spec),
            pool: Vec::new(),
            replay_start: None,
            breakpoints: Vec::new(),
        })
        .unwrap();
        self
    }

    /// Returns a harness whose mentor is a model, with two calls to the mentor in flight: first Error, then Abstract.
    pub(super) fn with_mentor_calls() -> Self {
        let mut harness = Self::with_mentor(spec_with_tasks(1));
        let other =
            with_model(harness.state().run.as_deref().unwrap(), ModelRole::Mentor, "openai:m").unwrap();
        harness.command(Command::ChangeRun(Box::new(other))).unwrap();
        harness.command(Command::Run).unwrap();
        harness.reply_as_env(step_result("A room. Your task is to: rest."));
        for action in ["look", "dance"] {
            harness.reply_as_actor(action);
            harness.reply_as_env(step_result("Fine."));
        }
        harness
    }

    pub(super) fn state(&self) -> &State {
        &self.engine.state
    }

    /// Passes an input to the engine, then lets it advance until it has nothing more to do. Returns all new events.
    fn input(&mut self, input: &Input) -> Result<Vec<Event>, CommandError> {
        let before = self.journal.len();
        let events = self.engine.decide(input)?;
        self.fold(events);
        loop {
            let events = self.engine.advance();
            if events.is_empty() {
                break;
            }
            self.fold(events);
            assert!(self.journal.len() - before < 2_000, "the engine never stops producing events");
        }
        Ok(self.journal[before..].iter().map(|e| e.event.clone()).collect())
    }

    pub(super) fn command(&mut self, command: Command) -> Result<Vec<Event>, CommandError> {
        self.input(&Input::Command(command))
    }

    pub(super) fn reply(&mut self, reply: Reply) -> Vec<Event> {
        self.input(&Input::Reply(reply)).unwrap()
    }

    /// Folds events, and the breakpoint hits that they cause, as one batch.
    fn fold(&mut self, events: Vec<(Cause, Event)>) {
        let (head, timestamp) = (self.engine.state.head.0, self.timestamp);
        let to_envelopes = |first_seq: u64, events: Vec<(Cause, Event)>| -> Vec<Envelope> {
            let to_envelope = |(n, (cause, event))| Envelope {
                seq: Seq(first_seq + n as u64),
                timestamp,
                cause,
                batch_continues: true,
                event,
            };
            events.into_iter().enumerate().map(to_envelope).collect()
        };
        let mut batch = to_envelopes(head + 1, events);
        let hits = self.engine.breakpoint_events(&batch);
        batch.extend(to_envelopes(head + 1 + batch.len() as u64, hits));
        if let Some(last) = batch.last_mut() {
            last.batch_continues = false;
        }
        for envelope in batch {
            self.engine.state.apply(&envelope);
            self.journal.push(envelope);
        }
    }

    /// Returns the oldest call in flight.
    pub(super) fn first_call(&self) -> Option<(CallId, Effect)> {
        self.state().calls.iter().next().map(|(c, e)| (*c, e.clone()))
    }

    /// Replies to the environment call in flight.
    pub(super) fn reply_as_env(&mut self, result: StepResult) -> Vec<Event> {
        let (call, _) = self.first_call().expect("a call is in flight");
        self.reply(Reply::World { call, result: Box::new(result), admissible: Vec::new() })
    }

    /// Replies to the actor call in flight.
    pub(super) fn reply_as_actor(&mut self, text: &str) -> Vec<Event> {
        let (call, effect) = self.first_call().expect("a call is in flight");
        assert!(
            matches!(effect, Effect::Ask { ref prompt, .. } if prompt.role == ModelRole::Actor),
            "{effect:?}"
        );
        self.reply(Reply::Model {
            truncated: None,
            call,
            text: text.to_owned(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
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

/// Returns the environment's result of an action that didn't end the episode.
pub(super) fn step_result(text: &str) -> StepResult {
    StepResult { observation: text.to_owned(), valid: text != "Nothing happens.", ..StepResult::default() }
}

pub(super) fn won_result(text: &str) -> StepResult {
    StepResult { won: true, done: true, reward: 1.0, progress: 1.0, ..step_result(text) }
}

/// Returns the types of the events, as the journal writes them.
pub(super) fn event_names(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|e| serde_json::to_value(e).unwrap()["type"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Returns the failure of a call to a model.
pub(super) fn sample_failure() -> crate::engine::Failure {
    let [message, source, hint] = ["no answer", "actor", "retry"].map(str::to_owned);
    crate::engine::Failure { message, source, hint, kind: None, partial_text: String::new(), usage: None }
}
