//! A branch built event by event, and a simple prompt renderer.

use super::super::{Side, action_or_thought};
use crate::domain::{
    Author, Autonomy, CallId, DecidedBy, EndReason, EpisodeRole, EpisodeSummary, ExecutedAction, Interface,
    LessonId, LessonOp, LessonOrigin, LessonText, Limits, MessageRole, Note, NoteKind, Prompt, PromptRecord,
    ReflectionKind, RunSpec, Scope, Segment, SegmentLabel, SegmentOrigin, SegmentRecord, Seq, Settings,
    ShownAs, StepResult, Task, ThoughtDisposition,
};
use crate::engine::{Cause, Envelope, Event, State};
use crate::timeline::{ReportProgress, no_progress};
use std::sync::Arc;

/// A branch built event by event.
#[derive(Clone, Default)]
pub(super) struct TestBranch {
    pub(super) events: Vec<Envelope>,
    pub(super) state: State,
    step: u32,
    calls: u64,
}

fn spec(actor: &str, seed: u64) -> RunSpec {
    RunSpec {
        method: "react".to_owned(),
        actor: actor.to_owned(),
        mentor: "none".to_owned(),
        interface: Interface::Raw,
        tasks: Vec::new(),
        trials: 1,
        seed,
        autonomy: Autonomy::Auto,
        limits: Limits { steps: 50, moves: None, wall_seconds: None },
        loop_detector: false,
        settings: Settings::default(),
    }
}

pub(super) fn task(id: &str) -> Task {
    Task {
        env: "toy".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    }
}

impl TestBranch {
    pub(super) fn new(actor: &str, seed: u64) -> Self {
        let mut branch = Self::default();
        branch.write(Event::RunStarted { session: "s".to_owned(), spec: Box::new(spec(actor, seed)) });
        branch.start_episode("one", 1);
        branch
    }

    fn write(&mut self, event: Event) {
        let seq = Seq(self.state.head.0 + 1);
        let at = jiff::Timestamp::UNIX_EPOCH;
        let envelope = Envelope { seq, timestamp: at, cause: Cause::Policy, batch_continues: false, event };
        self.state.apply(&envelope);
        self.events.push(envelope);
    }

    pub(super) fn start_episode(&mut self, id: &str, trial: u32) {
        self.step = 0;
        self.calls += 1;
        let (call, episode) = (CallId(self.calls), self.state.ended_episodes.len() as u32 + 1);
        let (task, role) = (Box::new(task(id)), EpisodeRole::Test);
        self.write(Event::EpisodeStarted { episode, task, trial, role, call });
        let result = StepResult { observation: "A room.".to_owned(), valid: true, ..StepResult::default() };
        self.write(Event::WorldReset {
            call,
            result: Box::new(result),
            agent_view: None,
            goal: "g".to_owned(),
        });
    }

    /// Adds a step that waits for a decision.
    pub(super) fn propose(&mut self, action: &str) {
        self.step += 1;
        self.calls += 1;
        let (step, call) = (self.step, CallId(self.calls));
        self.send_prompt(step, call);
        let action = Some(action.to_owned());
        self.write(Event::Proposed {
            step,
            thought: None,
            action,
            planned: Vec::new(),
            complaints: Vec::new(),
        });
    }

    /// Lets a person ask the agent again for the waiting step; it then proposes this action.
    pub(super) fn ask_again(&mut self, action: &str) {
        self.write(Event::AskedAgain { step: self.step, unusable_reason: None, draft: None });
        self.step -= 1;
        self.propose(action);
    }

    /// Adds a step. `action` can be `think: ...`; `observation` is the environment's answer, `progress` the rate after
    /// it, and `decided_by` who decided on the action.
    pub(super) fn add_step_with(
        &mut self,
        action: &str,
        observation: &str,
        progress: f64,
        decided_by: DecidedBy,
    ) {
        self.step += 1;
        self.calls += 1;
        let (step, call) = (self.step, CallId(self.calls));
        self.send_prompt(step, call);
        let thought = action.strip_prefix("think: ").map(str::to_owned);
        let is_thought_only = thought.is_some();
        let proposed_action = (!is_thought_only).then(|| action.to_owned());
        self.write(Event::Proposed {
            step,
            thought,
            action: proposed_action,
            planned: Vec::new(),
            complaints: Vec::new(),
        });
        let executed = ExecutedAction {
            action: action.to_owned(),
            sent: None,
            rewrite_rule: None,
            decided_by,
            shown_as: ShownAs::AgentAction,
            thought_disposition: ThoughtDisposition::Kept,
        };
        self.write(Event::ActionTaken { step, call: None, executed, admissible_only: false });
        let result = StepResult {
            observation: observation.to_owned(),
            progress,
            valid: true,
            shown: serde_json::json!({ "place": observation }),
            ..StepResult::default()
        };
        self.write(Event::Observed { step, call: None, result: Box::new(result), agent_view: None });
        let mistake = (observation == "Nothing happens.").then(|| Note {
            detector: "nothing_happened".to_owned(),
            kind: NoteKind::Mistake,
            evidence: observation.to_owned(),
            parts: std::collections::BTreeMap::new(),
        });
        self.write(Event::Noted { step, notes: mistake.into_iter().collect() });
    }

    /// Adds the actor's prompt for a step: the active lessons and the steps so far.
    fn send_prompt(&mut self, step: u32, call: CallId) {
        let lessons = self.state.pool.all().filter(|l| l.is_active()).map(|l| SegmentRecord {
            label: SegmentLabel::Error,
            origin: SegmentOrigin::Lesson { id: l.id.clone(), version: l.version() },
            message_role: MessageRole::User,
            tokens: 1,
        });
        let history = (step > 1).then(|| SegmentRecord {
            label: SegmentLabel::Action,
            origin: SegmentOrigin::Steps { from: 1, to: step - 1 },
            message_role: MessageRole::User,
            tokens: 1,
        });
        let segments = lessons.chain(history).collect();
        let episode = self.state.ended_episodes.len() as u32 + 1;
        let prompt = PromptRecord { call, episode, step, segments, ..PromptRecord::default() };
        self.write(Event::PromptSent { prompt: Arc::new(prompt) });
    }

    pub(super) fn add_step(&mut self, action: &str) -> &mut Self {
        self.add_step_with(action, &format!("After {action}."), 0.0, DecidedBy::Actor);
        self
    }

    pub(super) fn add_lesson(&mut self, id: &str, text: &str) -> &mut Self {
        let op = LessonOp::plain(
            LessonId(id.into()),
            ReflectionKind::Error,
            Scope::Environment,
            LessonOrigin::Person,
            LessonText::plain(text),
        );
        self.write(Event::LessonChanged { op: Box::new(op), author: Author::Person });
        self
    }

    /// Lets a person change a setting.
    pub(super) fn change_setting(&mut self, name: &str, value: serde_json::Value) {
        self.write(Event::SettingChanged { name: name.to_owned(), value });
    }

    /// Lets a person edit the observation of a step.
    pub(super) fn edit_observation(&mut self, step: u32, text: &str) {
        let previous =
            self.state.episode.as_ref().and_then(|e| e.step(step)?.answer.as_ref()?.agent_view.clone());
        self.write(Event::ObservationEdited { step, previous, text: text.to_owned() });
    }

    /// Lets a person edit the thought of a step.
    pub(super) fn edit_thought(&mut self, step: u32, text: &str) {
        let previous = self.state.episode.as_ref().and_then(|e| e.step(step)?.thought.clone());
        self.write(Event::ThoughtEdited { step, previous, text: Some(text.to_owned()) });
    }

    pub(super) fn end_episode(&mut self) {
        let e = self.state.open_episode().unwrap();
        let summary = EpisodeSummary {
            number: e.number,
            task: e.task.clone(),
            trial: e.trial,
            role: e.role,
            won: false,
            reason: EndReason::Done,
            steps: self.step,
            moves: e.moves,
            progress: e.progress,
            calls: 0,
            tokens: 0,
            assisted: false,
            seq_range: (e.first_seq.0, self.state.head.0 + 1),
            stats: crate::domain::EpisodeStats::default(),
        };
        self.write(Event::EpisodeEnded { summary: Box::new(summary) });
    }

    pub(super) fn with_actions(actions: &[&str]) -> Self {
        let mut branch = Self::new("rules", 0);
        for action in actions {
            branch.add_step(action);
        }
        branch
    }

    pub(super) fn side(&self, number: Option<u32>) -> Result<Side, String> {
        let events = self.events.clone();
        let states = move |seq: Seq, _: &ReportProgress<'_>| {
            let mut state = State::default();
            events.iter().take_while(|e| e.seq <= seq).for_each(|e| state.apply(e));
            Ok(Arc::new(state))
        };
        Side::load("x", &self.state, number, Arc::new(states), &no_progress)
    }
}

/// Renders a prompt without templates: lessons and steps unchanged.
pub(super) fn render(state: &State, record: &PromptRecord) -> Prompt {
    let mut segments = Vec::new();
    for segment in &record.segments {
        let mut push = |text: String| {
            let (label, origin, message_role) = (segment.label, segment.origin.clone(), segment.message_role);
            segments.push(Segment { label, origin, message_role, text: text.into() });
        };
        match &segment.origin {
            SegmentOrigin::Lesson { id, .. } => push(state.pool.get(id).unwrap().text().text.clone()),
            SegmentOrigin::Steps { from, to } => {
                let episode = state.episode.as_ref().unwrap();
                (*from..=*to).for_each(|n| push(action_or_thought(episode.step(n).unwrap()).into_owned()));
            }
            _ => {}
        }
    }
    Prompt { segments }
}
