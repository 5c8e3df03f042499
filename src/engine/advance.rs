//! Events that follow without input. Each call of [`Engine::advance`] returns one batch; the driver calls it until the
//! batch is empty.

use super::state::{Grant, RunStatus, State};
use super::{Cause, Engine, Episode, Event, Intent, PauseReason, PromptDraft, PromptRequest, limits};
use crate::domain::{
    Author, Autonomy, CallId, DecidedBy, EndReason, EpisodeStats, EpisodeSummary, ExecutedAction, ModelRole,
    Question, Reflection, ShownAs, Stage, Step, ThoughtDisposition,
};
use std::sync::Arc;

impl Engine {
    /// Returns the next events that need no input, each with its cause; empty if the session waits or is over.
    pub fn advance(&self) -> Vec<(Cause, Event)> {
        self.next_events().into_iter().map(|event| (Cause::Policy, event)).collect()
    }

    fn next_events(&self) -> Vec<Event> {
        let state = &self.state;
        if state.run.is_none() || state.closed {
            return Vec::new();
        }
        if let Some(warning) = state.no_action_warning() {
            return vec![warning];
        }
        if state.run_status == RunStatus::Pausing && state.calls.is_empty() {
            let hit = state.breakpoints.current_hit.is_some();
            let reason = if hit { PauseReason::Breakpoint } else { PauseReason::Person };
            return vec![Event::Paused { reason }];
        }
        if state.failed_call.is_some() || state.divergence.is_some() {
            return Vec::new();
        }
        if let Some(step) = state.last_step()
            && step.stage == Stage::Reflection
            && !step.detectors_ran
            && state.open_episode().is_some()
        {
            return vec![Event::Noted { step: step.number, notes: (self.policy.detect)(state) }];
        }
        if state.is_world_busy() || state.is_asking(ModelRole::Actor) || state.is_asking(ModelRole::Mentor) {
            return Vec::new();
        }
        if !state.waiting_summaries.is_empty() {
            let automatic = state.autonomy == Autonomy::Auto && can_proceed(state);
            return self.accept_summary().filter(|_| automatic).unwrap_or_default();
        }
        if let Some(step) = state.open_episode().and_then(|e| e.last_step())
            && step.stage == Stage::Observation
        {
            return self.answer_unsent_thought(step);
        }
        if let Some(step) = state.step_awaiting_decision() {
            return self.execute_proposal(step);
        }
        if state.open_episode().is_some_and(|e| {
            e.first_observation.is_some() && e.last_step().is_none_or(|s| s.answer.is_some())
        }) && let Some(reason) = limits::end_reason(state)
        {
            // The method may still reflect on the last step (OmniReflect reflects before its loop ends at a final
            // state).
            return match self.final_reflections() {
                Some(events) => events,
                None => vec![episode_end(state, reason)],
            };
        }
        if state.run_over || !can_proceed(state) {
            return Vec::new();
        }
        if let Some(draft) = &state.draft {
            return vec![Event::PromptSent { prompt: draft.clone() }];
        }
        if state.open_episode().is_some_and(|e| e.last_step().is_some_and(|s| s.stage == Stage::Prompt)) {
            return self.request_proposal();
        }
        self.execute_intents()
    }

    /// Executes the waiting proposal if that is allowed now.
    fn execute_proposal(&self, step: &Step) -> Vec<Event> {
        let state = &self.state;
        let empty = step.call.is_none() && step.proposed.is_none() && step.executed.is_none();
        if empty && state.autonomy != Autonomy::Human {
            // The step was opened for a person, who then returned control to the agent.
            return if can_proceed(state) { self.request_proposal() } else { Vec::new() };
        }
        let automatic = state.autonomy == Autonomy::Auto && can_proceed(state);
        if !(step.approved || automatic) {
            return Vec::new();
        }
        let executed = match (&step.executed, &step.proposed, &step.thought) {
            (Some(chosen), ..) => chosen.clone(),
            (None, Some(action), _) => actor_action(action.clone()),
            (None, None, Some(thought)) => actor_action(format!("think: {thought}")),
            (None, None, None) => {
                // An empty reply is an empty action, as in Reflexion's public code; a step opened for a person waits.
                if step.call.is_none() {
                    return Vec::new();
                }
                actor_action(String::new())
            }
        };
        self.take_action(step.number, executed)
    }

    fn take_action(&self, step: u32, mut executed: ExecutedAction) -> Vec<Event> {
        let state = &self.state;
        let is_thought = executed.action.trim_start().starts_with("think:");
        if is_thought && !state.setting_flag("thoughts_sent", true) {
            return vec![Event::ActionTaken { step, call: None, executed, admissible_only: false }];
        }
        let outgoing = (self.policy.rewrite_action)(state, &executed.action);
        executed.sent = outgoing.sent;
        executed.rewrite_rule = outgoing.rewrite_rule;
        vec![Event::ActionTaken {
            step,
            call: Some(CallId(state.next_call)),
            executed,
            admissible_only: outgoing.admissible_only,
        }]
    }

    /// Answers an unsent thought with the interface's own text, without calling the environment.
    fn answer_unsent_thought(&self, step: &Step) -> Vec<Event> {
        // The environment wasn't stepped, so its state is unchanged.
        let result = self.state.unchanged_result();
        let action = step.action().unwrap_or_default();
        let agent_view =
            Some((self.policy.rewrite_observation)(&self.state, action, &result, &[]).unwrap_or_default());
        vec![Event::Observed { step: step.number, call: None, result: Box::new(result), agent_view }]
    }

    /// Asks the actor for the open step, unless the method already knows the action.
    fn request_proposal(&self) -> Vec<Event> {
        let intents = self.policy.method.next(&self.state);
        match intents.into_iter().find(|intent| matches!(intent, Intent::Propose(_))) {
            Some(Intent::Propose(action)) => self.propose(action),
            _ => self.ask_actor(),
        }
    }

    /// Opens the next step if none is open, and proposes an action without asking the actor.
    fn propose(&self, action: String) -> Vec<Event> {
        let Some(episode) = self.state.open_episode() else { return Vec::new() };
        let (step, _, is_open) = current_step(episode);
        let mut events = if is_open { Vec::new() } else { vec![Event::StepOpened { step }] };
        if self.state.autonomy != Autonomy::Human {
            events.push(Event::Proposed {
                step,
                thought: None,
                action: Some(action),
                complaints: Vec::new(),
            });
        }
        events
    }

    fn ask_actor(&self) -> Vec<Event> {
        let state = &self.state;
        let Some(episode) = state.open_episode() else { return Vec::new() };
        let (step, retry, _) = current_step(episode);
        if state.autonomy == Autonomy::Human {
            return if episode.steps.len() < step as usize {
                vec![Event::StepOpened { step }]
            } else {
                Vec::new()
            };
        }
        self.prompt_events(
            PromptRequest { role: ModelRole::Actor, question: None, step, retry },
            0,
            self.state.run_allowance == Some(Grant::Stage),
        )
    }

    /// Returns the events that send a prompt, or that only draft it if `staged`. `call_index` is the index of its call
    /// in the batch, from 0.
    fn prompt_events(&self, request: PromptRequest, call_index: u64, staged: bool) -> Vec<Event> {
        let state = &self.state;
        let edited = state.edited_prompt_for(request.role, request.question);
        let draft = match edited {
            Some(prompt) => PromptDraft { record: (**prompt).clone(), texts: Vec::new() },
            None => (self.policy.draft_prompt)(state, &request),
        };
        let mut record = draft.record;
        record.call = CallId(state.next_call.saturating_add(call_index));
        record.role = request.role;
        record.question = request.question;
        record.step = request.step;
        record.retry = request.retry;
        record.temperature_level = self.temperature_level(&request);
        record.episode = state.episode.as_ref().map_or(0, |e| e.number);
        state.set_sampling(&mut record);
        let mut events: Vec<Event> =
            draft.texts.into_iter().map(|(hash, text)| Event::TextDefined { hash, text }).collect();
        let prompt = Arc::new(record);
        // A prompt that a person edited was already seen, so it isn't drafted again.
        events.push(if staged && edited.is_none() {
            Event::PromptDrafted { prompt }
        } else {
            Event::PromptSent { prompt }
        });
        events
    }

    /// Returns the temperature level: each unusable reply raises the temperature of the step's next attempt.
    fn temperature_level(&self, request: &PromptRequest) -> u32 {
        if request.role == ModelRole::Mentor || !self.state.setting_flag("warmer", false) {
            return 0;
        }
        let step = self.state.open_episode().and_then(|e| e.step(request.step));
        step.map_or(0, |s| s.unusable_replies.min(5))
    }

    /// Returns the method's last reflections, lesson changes, memory and mentor questions before the episode ends;
    /// other intents are ignored. Returns `None` if the episode may end, and no events if the mentor must be asked but
    /// the session is paused.
    fn final_reflections(&self) -> Option<Vec<Event>> {
        let intents = self.policy.method.next(&self.state);
        let written =
            self.write_events(intents.iter().take_while(|intent| is_write_only(intent)), Author::Symbolic, 0);
        if !written.is_empty() {
            return Some(written);
        }
        let next = intents.iter().find(|intent| !is_write_only(intent));
        matches!(next, Some(Intent::AskMentor(_)))
            .then(|| self.send_draft_or_ask(|| self.ask_mentor(&first_question_round(&intents))))
    }

    /// Sends the mentor's draft, or else asks; returns no events while the session is paused.
    fn send_draft_or_ask(&self, ask: impl FnOnce() -> Vec<Event>) -> Vec<Event> {
        match &self.state.draft {
            _ if !can_proceed(&self.state) => Vec::new(),
            Some(draft) => vec![Event::PromptSent { prompt: draft.clone() }],
            None => ask(),
        }
    }

    /// Asks the questions of one round. While a person steps by stages they are drafted and sent one at a time.
    fn ask_mentor(&self, questions: &[Question]) -> Vec<Event> {
        let state = &self.state;
        let staged = state.run_allowance == Some(Grant::Stage);
        let at_once = if staged || !state.setting_flag("mentor_at_once", true) { 1 } else { questions.len() };
        self.question_events(&questions[..at_once.min(questions.len())], staged)
    }

    /// Returns the prompts of questions to the mentor, each with its own call.
    pub(super) fn question_events(&self, questions: &[Question], staged: bool) -> Vec<Event> {
        let step = self.state.episode.as_ref().map_or(0, |e| e.answered_steps());
        let mut events: Vec<Event> = Vec::new();
        for (n, question) in questions.iter().enumerate() {
            let request =
                PromptRequest { role: ModelRole::Mentor, question: Some(*question), step, retry: 0 };
            for event in self.prompt_events(request, n as u64, staged) {
                // Text that two prompts of a round share is defined once.
                if !matches!(event, Event::TextDefined { .. }) || !events.contains(&event) {
                    events.push(event);
                }
            }
        }
        events
    }

    /// Returns the events of the intents that only write to the session, and skips the others. `earlier_events` is the
    /// number of earlier events in the same batch.
    pub(super) fn write_events<'a>(
        &self,
        intents: impl Iterator<Item = &'a Intent>,
        author: Author,
        earlier_events: usize,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for intent in intents {
            match intent {
                Intent::Reflect(reflection) => {
                    let reflection: Box<Reflection> = reflection.clone();
                    events.push(Event::Reflected { reflection });
                }
                Intent::Lesson(command) => {
                    if let Ok(op) = self.lesson_op(command, author, earlier_events + events.len()) {
                        events.push(Event::LessonChanged { op: Box::new(op), author });
                    }
                }
                Intent::SetMemory(value) => events.push(Event::MemorySet { value: value.clone() }),
                _ => {}
            }
        }
        events
    }

    fn execute_intents(&self) -> Vec<Event> {
        let state = &self.state;
        let intents = self.policy.method.next(state);
        let written =
            self.write_events(intents.iter().take_while(|intent| is_write_only(intent)), Author::Symbolic, 0);
        if !written.is_empty() {
            return written;
        }
        let questions = first_question_round(&intents);
        match intents.into_iter().find(|intent| !is_write_only(intent)) {
            Some(Intent::AskActor) => self.ask_actor(),
            Some(Intent::Propose(action)) => self.propose(action),
            Some(Intent::AskMentor(_)) => self.ask_mentor(&questions),
            Some(Intent::StartEpisode { task, trial, role }) => vec![Event::EpisodeStarted {
                episode: state.next_episode_number(),
                task,
                trial,
                role,
                call: CallId(state.next_call),
            }],
            Some(Intent::EndEpisode(reason)) if state.open_episode().is_some() => {
                vec![episode_end(state, reason)]
            }
            Some(Intent::EndRun) => vec![Event::RunEnded],
            _ => Vec::new(),
        }
    }
}

/// Returns whether the session may proceed: it is running, or has an unused grant.
fn can_proceed(state: &State) -> bool {
    state.run_status == RunStatus::Running
        || (state.run_status == RunStatus::Paused && state.run_allowance.is_some())
}

/// Returns the number of the open or next step, how many times the actor was asked for it, and whether it is open.
fn current_step(episode: &Episode) -> (u32, u32, bool) {
    match episode.last_step() {
        Some(open) if open.stage < Stage::Observation => (open.number, open.retry, true),
        _ => (episode.steps.len() as u32 + 1, 0, false),
    }
}

/// Returns the first run of consecutive questions among the intents.
fn first_question_round(intents: &[Intent]) -> Vec<Question> {
    let from = intents.iter().skip_while(|intent| !matches!(intent, Intent::AskMentor(_)));
    from.map_while(|intent| match intent {
        Intent::AskMentor(question) => Some(*question),
        _ => None,
    })
    .collect()
}

/// Returns whether an intent only writes to the session: a reflection, a lesson change or the memory.
fn is_write_only(intent: &Intent) -> bool {
    matches!(intent, Intent::Reflect(_) | Intent::Lesson(_) | Intent::SetMemory(_))
}

fn actor_action(action: String) -> ExecutedAction {
    ExecutedAction {
        action,
        sent: None,
        rewrite_rule: None,
        decided_by: DecidedBy::Actor,
        shown_as: ShownAs::AgentAction,
        thought_disposition: ThoughtDisposition::Kept,
    }
}

impl State {
    /// Returns the number of steps of an episode that count against the step limit.
    pub fn counted_steps(&self, episode: &Episode) -> u32 {
        if self.setting_flag("thoughts_count", true) { episode.answered_steps() } else { episode.moves }
    }
}

/// Creates the event that ends the open episode.
pub fn episode_end(state: &State, reason: EndReason) -> Event {
    let Some(e) = state.open_episode() else { return Event::RunEnded };
    let won =
        e.last_step().and_then(|s| s.answer.as_ref()).or(e.first_observation.as_ref()).is_some_and(|a| a.won);
    let steps = state.counted_steps(e);
    Event::EpisodeEnded {
        summary: Box::new(EpisodeSummary {
            number: e.number,
            task: e.task.clone(),
            trial: e.trial,
            role: e.role,
            won,
            reason,
            steps,
            moves: e.moves,
            progress: e.progress,
            calls: e.calls,
            tokens: e.tokens,
            assisted: e.assisted || reason == EndReason::Person,
            seq_range: (e.first_seq.0, state.head.0 + 1),
            // The fold computes them; an event doesn't repeat what can be derived.
            stats: EpisodeStats::default(),
        }),
    }
}
