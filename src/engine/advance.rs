//! Events that follow from the state without input. Each call of [`Engine::advance`] returns one batch; the driver
//! calls it until the batch is empty.

use super::method_guard::Stall;
use super::state::{Grant, RunStatus, State};
use super::{
    Cause, Engine, Episode, Event, Intent, LessonCommand, PauseReason, PromptDraft, PromptRequest, limits,
};
use crate::domain::{
    Author, Autonomy, CallId, DecidedBy, EndReason, EpisodeStats, EpisodeSummary, ExecutedAction, Job,
    LessonOrigin, ModelRole, Question, Reflection, ShownAs, Stage, Step, ThoughtDisposition,
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
        if state.is_world_busy()
            || state.is_asking(ModelRole::Actor)
            || state.is_asking(ModelRole::Mentor)
            || state.is_computing()
        {
            return Vec::new();
        }
        if !state.waiting_summaries.is_empty() {
            let automatic = state.autonomy == Autonomy::Auto && state.can_proceed();
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
            // While the session is paused, a person can still switch off the setting that ends the task.
            if reason == EndReason::RepeatedAdvice && !state.can_proceed() {
                return Vec::new();
            }
            // Before the episode ends, the method may reflect on the last step. (OmniReflect, Algorithm 1,
            // reflects before it
            // stops at a final state.)
            return match self.final_reflections() {
                Some(events) => events,
                None => vec![episode_end(state, reason)],
            };
        }
        if state.run_over || !state.can_proceed() {
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

    /// Returns the events that execute the waiting proposal, if it is approved or needs no approval.
    fn execute_proposal(&self, step: &Step) -> Vec<Event> {
        let state = &self.state;
        let has_no_proposal = step.call.is_none() && step.proposed.is_none() && step.executed.is_none();
        if has_no_proposal && state.autonomy != Autonomy::Human {
            // The step was opened for a person, who then returned control to the agent.
            return if state.can_proceed() { self.request_proposal() } else { Vec::new() };
        }
        let automatic = state.autonomy == Autonomy::Auto && state.can_proceed();
        if !(step.approved || automatic) {
            return Vec::new();
        }
        let executed = match (&step.executed, &step.proposed, &step.thought) {
            (Some(chosen), ..) => chosen.clone(),
            // It was asked for again as often as it may be. What a person writes in its place isn't checked.
            (None, Some(action), _) if state.settings().form_ends && !self.has_known_form(action) => {
                return vec![episode_end(state, EndReason::UnknownForm)];
            }
            (None, Some(action), _) => actor_action(action.clone()),
            (None, None, Some(thought)) => actor_action(format!("think: {thought}")),
            (None, None, None) => {
                // Without a call, the step was opened for a person, so it waits. With a call, the actor's reply was
                // empty and counts as an empty action, as in Reflexion's public code.
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
        if is_thought && !state.settings().thoughts_sent {
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

    /// Answers a thought that isn't sent to the environment with the interface's own text.
    fn answer_unsent_thought(&self, step: &Step) -> Vec<Event> {
        // The environment wasn't stepped, so its state is unchanged.
        let result = self.state.unchanged_result();
        let action = step.action().unwrap_or_default();
        let agent_view =
            Some((self.policy.rewrite_observation)(&self.state, action, &result, &[]).unwrap_or_default());
        vec![Event::Observed { step: step.number, call: None, result: Box::new(result), agent_view }]
    }

    /// Asks the actor for a proposal for the open step or, if the method proposes the action itself, uses that.
    fn request_proposal(&self) -> Vec<Event> {
        let intents = self.policy.method.next(&self.state);
        match intents.into_iter().find(|intent| matches!(intent, Intent::Propose { .. })) {
            Some(Intent::Propose { thought, action }) => self.propose(thought, action),
            _ => self.ask_actor(),
        }
    }

    /// Opens the next step if none is open, and proposes an action without asking the actor. If a person plays, only
    /// opens the step.
    fn propose(&self, thought: Option<String>, action: String) -> Vec<Event> {
        let Some(episode) = self.state.open_episode() else { return Vec::new() };
        let (step, _, is_open) = current_step(episode);
        let mut events = if is_open { Vec::new() } else { vec![Event::StepOpened { step }] };
        if self.state.autonomy != Autonomy::Human {
            let (action, planned, complaints) = (Some(action), Vec::new(), Vec::new());
            events.push(Event::Proposed { step, thought, action, planned, complaints });
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
            self.state.grant == Some(Grant::Stage),
        )
    }

    /// Returns the events that send a prompt, or that only draft it if `staged`. `call_index` is the index of its call
    /// in the batch, counted from 0.
    fn prompt_events(&self, request: PromptRequest, call_index: u64, staged: bool) -> Vec<Event> {
        let state = &self.state;
        let edited_prompt = state.edited_prompt_for(request.role, request.question);
        let draft = match edited_prompt {
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
        // A person has already seen a prompt that they edited, so it is sent without another stop.
        events.push(if staged && edited_prompt.is_none() {
            Event::PromptDrafted { prompt }
        } else {
            Event::PromptSent { prompt }
        });
        events
    }

    /// Returns the level by which the temperature of a request is raised: 0 or, if the setting `warmer` is on, the
    /// number of unusable replies that the actor has given in the step, at most 5.
    fn temperature_level(&self, request: &PromptRequest) -> u32 {
        if request.role == ModelRole::Mentor || !self.state.settings().warmer {
            return 0;
        }
        let step = self.state.open_episode().and_then(|e| e.step(request.step));
        step.map_or(0, |s| s.unusable_replies.min(5))
    }

    /// Returns the events for the method's last reflections, lesson changes, memory, mentor questions and jobs before the
    /// episode ends; the method's other intents are ignored. Returns `None` if the episode may end now, and an empty
    /// list if the mentor has to be asked first but the session is paused.
    fn final_reflections(&self) -> Option<Vec<Event>> {
        let intents = self.policy.method.next(&self.state);
        let written = self.intent_events(
            intents.iter().take_while(|intent| is_write_only(intent)),
            Author::Symbolic,
            0,
        );
        if !written.is_empty() {
            return Some(self.write_or_pause(written));
        }
        let next = intents.iter().find(|intent| !is_write_only(intent));
        match next {
            Some(Intent::AskMentor(_)) => {
                Some(self.send_draft_or_ask(|| self.ask_mentor(&first_question_round(&intents))))
            }
            Some(Intent::Compute { job, texts }) => {
                Some(if self.state.can_proceed() { self.request_job(job, texts) } else { Vec::new() })
            }
            _ => None,
        }
    }

    /// Returns the event that sends the waiting draft or, if there is none, the events of `ask`. Returns no events
    /// while the session is paused.
    fn send_draft_or_ask(&self, ask: impl FnOnce() -> Vec<Event>) -> Vec<Event> {
        match &self.state.draft {
            _ if !self.state.can_proceed() => Vec::new(),
            Some(draft) => vec![Event::PromptSent { prompt: draft.clone() }],
            None => ask(),
        }
    }

    /// Asks all questions of a round at once. Asks only the first if the setting `mentor_at_once` is off, or if a
    /// person steps by stages, so that each prompt is drafted and sent by itself.
    fn ask_mentor(&self, questions: &[Question]) -> Vec<Event> {
        let state = &self.state;
        let staged = state.grant == Some(Grant::Stage);
        let count = if staged || !state.settings().mentor_at_once { 1 } else { questions.len() };
        self.question_events(&questions[..count.min(questions.len())], staged)
    }

    /// Returns the prompts of questions to the mentor, each with its own call.
    pub(super) fn question_events(&self, questions: &[Question], staged: bool) -> Vec<Event> {
        let step = self.state.episode.as_ref().map_or(0, |e| e.answered_steps());
        let mut events: Vec<Event> = Vec::new();
        for (index, question) in questions.iter().enumerate() {
            // A question that was already answered here is asked with another seed.
            let retry = self.state.answers_to(*question);
            let request = PromptRequest { role: ModelRole::Mentor, question: Some(*question), step, retry };
            for event in self.prompt_events(request, index as u64, staged) {
                // A text that several prompts of a round share is defined only once.
                if !matches!(event, Event::TextDefined { .. }) || !events.contains(&event) {
                    events.push(event);
                }
            }
        }
        events
    }

    /// Returns the events for those intents that only write to the session; skips the other intents. `earlier_events`
    /// is the number of earlier events in the same batch, from which the ids of new lessons are derived.
    pub(super) fn intent_events<'a>(
        &self,
        intents: impl Iterator<Item = &'a Intent>,
        author: Author,
        earlier_events: usize,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for intent in intents {
            match intent {
                Intent::Reflect(reflection) => {
                    let mut reflection: Box<Reflection> = reflection.clone();
                    reflection.same_advice = self.state.same_advice(&reflection);
                    events.push(Event::Reflected { reflection });
                }
                Intent::Lesson(command) => {
                    let recurring = self.recurring_lesson(command).filter(|_| author == Author::Mentor);
                    let command = recurring.as_ref().unwrap_or(command);
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

    /// Returns the command that counts a person's lesson as learned again, if a new lesson would only repeat it. One that belongs to
    /// other lessons, or to an observation, says more than its text, and one with a wider scope applies where the person's doesn't.
    fn recurring_lesson(&self, command: &LessonCommand) -> Option<LessonCommand> {
        let LessonCommand::Add { kind, scope, text, parents, transition: None, .. } = command else {
            return None;
        };
        if !parents.is_empty() {
            return None;
        }
        let text = text.normalized();
        let mut same = self.state.pool.with_normalized_text(*kind, &text);
        let of_person = same.find(|lesson| {
            let is_of_person = lesson.origin == LessonOrigin::Person || lesson.edited_by_person;
            is_of_person && lesson.scope >= *scope && self.state.is_in_scope(lesson)
        })?;
        Some(LessonCommand::Recur { id: of_person.id.clone() })
    }

    fn execute_intents(&self) -> Vec<Event> {
        let state = &self.state;
        let intents = self.policy.method.next(state);
        let written = self.intent_events(
            intents.iter().take_while(|intent| is_write_only(intent)),
            Author::Symbolic,
            0,
        );
        if !written.is_empty() {
            return self.write_or_pause(written);
        }
        let questions = first_question_round(&intents);
        match intents.into_iter().find(|intent| !is_write_only(intent)) {
            Some(Intent::AskActor) => self.ask_actor(),
            Some(Intent::Propose { thought, action }) => self.propose(thought, action),
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
            Some(Intent::Compute { job, texts }) => self.request_job(&job, &texts),
            // The environment is being reset.
            _ if state.open_episode().is_some_and(|e| e.first_observation.is_none()) => Vec::new(),
            _ => self.pause_stalled_method(Stall::NothingToDo),
        }
    }

    /// Returns the events that define the texts which the session doesn't have yet, and the one that requests the job.
    fn request_job(&self, job: &Job, texts: &[(String, String)]) -> Vec<Event> {
        let new = texts.iter().filter(|(hash, _)| !self.state.texts.contains_key(hash));
        let mut events: Vec<Event> =
            new.map(|(hash, text)| Event::TextDefined { hash: hash.clone(), text: text.clone() }).collect();
        let job = Arc::new(job.clone());
        events.push(Event::ComputeRequested { call: CallId(self.state.next_call), job });
        events
    }
}

/// Returns the number of the open or next step, how many times the actor was already asked in it, and whether it is
/// open.
fn current_step(episode: &Episode) -> (u32, u32, bool) {
    match episode.last_step() {
        Some(open) if open.stage < Stage::Observation => (open.number, open.retry, true),
        _ => (episode.steps.len() as u32 + 1, 0, false),
    }
}

/// Returns the first round of questions: the first question among the intents and those that directly follow it.
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
        if self.settings().thoughts_count { episode.answered_steps() } else { episode.moves }
    }
}

/// Creates the event that ends the open episode or, if no episode is open, the run.
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
            // The event doesn't store the statistics, because the fold computes them.
            stats: EpisodeStats::default(),
        }),
    }
}
