//! Turns the replies of models, environments and timers into events. A reply to a call that is no longer in flight
//! yields no events.

use crate::domain::{
    Author, EndReason, FailureKind, ModelRole, Purpose, Stage, Step, ToolCall, Truncation, Usage,
};
use crate::engine::advance::episode_end;
use crate::engine::{
    Cause, Computed, Effect, Engine, Event, Failure, Intent, MentorReply, ParsedActorReply, PauseReason,
    PrefetchStatus, Reply,
};

impl Engine {
    /// Returns what cut the reply off, or `None` if the reply may be used: it is complete, or `accept_truncated` is on.
    /// A refusal is never used.
    fn rejected_truncation(&self, truncated: Option<Truncation>) -> Option<Truncation> {
        let accepted = self.state.settings().accept_truncated;
        truncated.filter(|truncation| *truncation == Truncation::Refusal || !accepted)
    }

    /// Returns why an actor's reply can't be used and is requested again: the model refused to answer, the reply has
    /// neither action nor thought, it was cut off before its action was complete, it has fewer than `least_reply`
    /// characters (5 in Reflexion's public code), or its action has an unknown form (setting `irci`; a draft may have any).
    /// Returns `None` if the reply is usable or the request has no retries left (setting `ask_again`).
    fn unusable_reason(
        &self,
        step: u32,
        text: &str,
        parsed: &ParsedActorReply,
        truncated: Option<Truncation>,
    ) -> Option<String> {
        let retries = self.open_step(step).map_or(0, Step::unusable_since_draft);
        if u64::from(retries) < self.state.settings().form_retries
            && !self.is_drafted(step)
            && parsed.action.as_ref().is_some_and(|action| !self.has_known_form(action))
        {
            return Some("the action has none of the forms that the instruction lists".to_owned());
        }
        if u64::from(retries) >= self.state.settings().ask_again {
            return None;
        }
        if truncated == Some(Truncation::Refusal) {
            return Some(refusal_message(text));
        }
        let minimum = self.state.settings().least_reply;
        let length = text.trim().chars().count() as u64;
        if parsed.action.is_none() && parsed.thought.is_none() {
            return Some("the reply has no action".to_owned());
        }
        if let Some(truncation) = self.rejected_truncation(truncated).filter(|_| !parsed.complete) {
            return Some(incomplete_message(truncation));
        }
        let is_own_action = |action: &String| (self.policy.is_short_action)(&self.state, action);
        let is_too_short = length < minimum && !parsed.action.as_ref().is_some_and(is_own_action);
        is_too_short.then(|| format!("the reply has {length} characters, fewer than least_reply={minimum}"))
    }

    /// Takes prose for an action where the forms of actions are checked: in RCI's public code each reply is one. It has none of
    /// the forms, so it is asked for again, and after that the environment rejects it or the episode ends. As a thought it would be answered.
    fn with_checked_form(&self, mut parsed: ParsedActorReply) -> ParsedActorReply {
        let has_unknown_form = |text: &String| !self.has_known_form(text);
        if self.state.settings().checks_forms()
            && parsed.is_unlabelled
            && parsed.thought.as_ref().is_some_and(has_unknown_form)
        {
            parsed.action = parsed.thought.take();
            parsed.complaints.clear();
        }
        parsed
    }

    pub(in crate::engine) fn has_known_form(&self, action: &str) -> bool {
        (self.policy.has_known_form)(&self.state, action)
    }

    fn open_step(&self, step: u32) -> Option<&Step> {
        self.state.open_episode().and_then(|episode| episode.step(step))
    }

    /// Returns whether the next action that the actor replies in a step is a draft, which it is then asked to fit to the
    /// present state. The public code of RCI checks the form only after that.
    fn is_drafted(&self, step: u32) -> bool {
        self.state.settings().grounding && self.open_step(step).is_some_and(|s| s.current_draft().is_none())
    }

    /// Returns the failure for an actor's unusable reply that is not requested again; `reply` is (text, reasoning, tool calls).
    /// Returns `None` if the reply is usable. An empty reply is usable, as an empty action, if the setting
    /// `empty_action` is on (as in the public code of ReAct and Reflexion) and no person is present to decide.
    fn unusable_failure(
        &self,
        step: u32,
        reply: (&str, &str, &[ToolCall]),
        parsed: &ParsedActorReply,
        truncated: Option<Truncation>,
        source: &str,
    ) -> Option<Failure> {
        let refused = truncated == Some(Truncation::Refusal);
        let empty = !refused && parsed.action.is_none() && parsed.thought.is_none();
        let rejected = self.rejected_truncation(truncated).filter(|_| refused || !empty && !parsed.complete);
        let accepted_as_empty = empty && self.state.settings().empty_action && !self.policy.is_attended;
        if accepted_as_empty || (!empty && rejected.is_none()) {
            return None;
        }
        let (text, reasoning, tool_calls) = reply;
        let repeats = match self.open_step(step).map_or(0, |s| s.unusable_replies) {
            0 => String::new(),
            n => format!(", {} times", n + 1),
        };
        const RAISE_TOKEN_LIMIT_HINT: &str =
            "raise max_tokens or reduce reasoning, or change the prompt or the model";
        // Raising `max_tokens` wouldn't help: the provider has already retried with a higher limit and without one.
        const REDUCE_REASONING_HINT: &str =
            "reduce reasoning or switch it off, or change the prompt or the model";
        const NO_TOOLS_HINT: &str =
            "turn off tool calling in the server or its chat template, change the model";
        const CHANGE_PROMPT_HINT: &str = "change the prompt or the model";
        let with_hint = |message: &str, hint| (message.to_owned(), hint);
        let (message, hint) = match (rejected, text.trim().is_empty(), reasoning.trim().is_empty()) {
            (Some(Truncation::Refusal), ..) => (refusal_message(text), CHANGE_PROMPT_HINT),
            (Some(Truncation::Length), ..) => {
                (incomplete_message(Truncation::Length), RAISE_TOKEN_LIMIT_HINT)
            }
            (Some(other), ..) => (incomplete_message(other), CHANGE_PROMPT_HINT),
            (None, true, _) if !tool_calls.is_empty() => {
                with_hint("the model called a tool instead of writing a reply", NO_TOOLS_HINT)
            }
            (None, true, true) => with_hint("the model returned an empty reply", CHANGE_PROMPT_HINT),
            (None, true, false) => with_hint("the model returned only reasoning", REDUCE_REASONING_HINT),
            (None, false, _) => with_hint("the model's reply has no action", CHANGE_PROMPT_HINT),
        };
        let called = || tool_calls.iter().map(ToolCall::describe).collect::<Vec<_>>().join("; ");
        let partial = match [text, reasoning].into_iter().find(|part| !part.trim().is_empty()) {
            Some(part) => part.to_owned(),
            None => called(),
        };
        Some(Failure {
            message: format!("{message}{repeats}"),
            source: source.to_owned(),
            hint: format!("{hint}, use a recorded reply, or act yourself"),
            kind: Some(FailureKind::Unusable),
            partial_text: Failure::shorten(partial.trim()),
            usage: None,
        })
    }

    /// Returns the events that follow from a mentor's reply. `earlier_events` is the number of earlier events in the
    /// same batch.
    pub(super) fn mentor_reply_events(
        &self,
        reply: &MentorReply<'_>,
        earlier_events: usize,
    ) -> Vec<(Cause, Event)> {
        let mut intents = self.policy.method.on_mentor_reply(&self.state, reply);
        // Without a reflection the question counts as unanswered, and the method asks it again without end.
        if !intents.iter().any(|intent| matches!(intent, Intent::Reflect(_))) {
            intents.insert(0, Intent::Reflect(Box::new(reply.reflection())));
        }
        let summary_proposed = self.propose_pool_summary(reply, &mut intents);
        let events = self.intent_events(intents.iter(), Author::Mentor, earlier_events);
        events.into_iter().chain(summary_proposed).map(|event| (Cause::Model, event)).collect()
    }

    /// Returns the events that follow from the end of a job. `earlier_events` is the number of earlier events in the same
    /// batch.
    pub(super) fn computed_events(&self, computed: &Computed<'_>, earlier_events: usize) -> Vec<Event> {
        let intents = self.policy.method.on_computed(&self.state, computed);
        self.intent_events(intents.iter(), Author::Symbolic, earlier_events)
    }

    /// Returns the events that follow from a reply.
    pub(super) fn decide_reply(&self, reply: &Reply) -> Vec<(Cause, Event)> {
        match reply {
            Reply::Model { call, text, reasoning, tool_calls, usage, truncated } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let reply_source = self.state.reply_override(*call).map(str::to_owned);
                let mut events = vec![(
                    Cause::Model,
                    Event::ReplyReceived {
                        truncated: *truncated,
                        call: *call,
                        text: text.clone(),
                        reasoning: reasoning.clone(),
                        tool_calls: tool_calls.clone(),
                        usage: Usage { recorded: usage.recorded || reply_source.is_some(), ..*usage },
                        reply_source: reply_source.clone(),
                    },
                )];
                if prompt.role == ModelRole::Actor {
                    let parsed = (self.policy.parse_reply)(&self.state, prompt, text);
                    let parsed = self.with_checked_form(parsed);
                    let step = prompt.step;
                    let source = self.state.run.as_ref().map_or("actor", |r| r.actor.as_str());
                    let unusable_reason = self.unusable_reason(step, text, &parsed, *truncated);
                    if unusable_reason.is_some() {
                        events.push((Cause::Model, Event::AskedAgain { step, unusable_reason, draft: None }));
                    } else if let Some(failure) = self.unusable_failure(
                        step,
                        (text, reasoning, tool_calls),
                        &parsed,
                        *truncated,
                        source,
                    ) {
                        events.push((Cause::Model, Event::CallFailed { call: *call, failure }));
                        events.push((Cause::Model, Event::Paused { reason: PauseReason::Failure }));
                    } else if let Some(draft) = parsed.action.clone().filter(|_| self.is_drafted(step)) {
                        let draft = Some(draft);
                        events.push((Cause::Model, Event::AskedAgain { step, unusable_reason, draft }));
                    } else {
                        let ParsedActorReply { thought, action, planned, complaints, .. } =
                            parsed.with_truncation_note(*truncated);
                        let proposed = Event::Proposed { step, thought, action, planned, complaints };
                        events.push((Cause::Model, proposed));
                    }
                } else if let Some(question) = prompt.question {
                    // A summary replaces a list, so one that was cut off is never used.
                    let rejected = match question.purpose {
                        Purpose::Summarise => *truncated,
                        _ => self.rejected_truncation(*truncated),
                    };
                    let mut parsed = (self.policy.parse_mentor_reply)(question, text, rejected);
                    if let (Some(truncation), None) = (truncated, rejected) {
                        let by = truncation.name();
                        parsed.complaints.push(format!(
                            "the reply was cut off by {by} and is used unchanged (accept_truncated)"
                        ));
                    }
                    let mentor_reply = MentorReply {
                        prompt,
                        question,
                        author: Author::Mentor,
                        items: parsed.items,
                        complaints: parsed.complaints,
                        dropped: parsed.dropped,
                        truncated: *truncated,
                    };
                    let changes = self.mentor_reply_events(&mentor_reply, events.len());
                    events.extend(
                        changes
                            .into_iter()
                            .map(|(cause, event)| (cause, with_reply_source(event, reply_source.as_ref()))),
                    );
                }
                events
            }
            Reply::SettingDeviations { call, settings } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let role = prompt.role;
                if self.state.reply_override(*call).is_some()
                    || self.state.setting_deviations(role) == *settings
                {
                    return Vec::new();
                }
                vec![(
                    Cause::Model,
                    Event::SettingDeviationsChanged { call: *call, role, settings: settings.clone() },
                )]
            }
            Reply::Prefetch(update) => {
                let open = self.state.prefetched.iter().find(|open| open.number == update.number);
                let applies = match update.status {
                    PrefetchStatus::Requested => open.is_none() && self.state.run.is_some(),
                    // If a call already uses the prefetch, the reply is recorded as that call's.
                    PrefetchStatus::Answered => open.is_some_and(|open| open.call.is_none()),
                    PrefetchStatus::Used | PrefetchStatus::Dropped => open.is_some(),
                };
                let event = || (Cause::Model, Event::PrefetchChanged(update.clone()));
                (applies && !self.state.closed).then(event).into_iter().collect()
            }
            Reply::SamplesRequested { request, texts } => self.sample_request_events(request, texts),
            Reply::Sample(sample) => self.sample_events(sample),
            Reply::World { call, result, admissible } => match self.state.calls.get(call) {
                Some(Effect::ResetWorld { .. }) => {
                    let agent_view = (self.policy.rewrite_observation)(&self.state, "", result, admissible);
                    let goal = (self.policy.extract_goal)(result);
                    vec![(
                        Cause::World,
                        Event::WorldReset { call: *call, result: result.clone(), agent_view, goal },
                    )]
                }
                Some(Effect::StepWorld { .. }) => {
                    let Some(step) = self.state.last_step().filter(|s| s.stage == Stage::Observation) else {
                        return Vec::new();
                    };
                    let action = step.executed.as_ref().map_or("", |e| e.action.as_str());
                    let agent_view =
                        (self.policy.rewrite_observation)(&self.state, action, result, admissible);
                    vec![(
                        Cause::World,
                        Event::Observed {
                            step: step.number,
                            call: Some(*call),
                            result: result.clone(),
                            agent_view,
                        },
                    )]
                }
                _ => Vec::new(),
            },
            Reply::Computed { call, result, millis } => {
                let Some(Effect::Compute { job, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let computed = Event::Computed { call: *call, result: result.clone(), millis: *millis };
                let changes = self.computed_events(&Computed { job, result: Some(result) }, 1);
                std::iter::once(computed).chain(changes).map(|event| (Cause::Job, event)).collect()
            }
            Reply::Failed { call, failure } => {
                let Some(effect) = self.state.calls.get(call) else { return Vec::new() };
                let cause = match effect {
                    Effect::Ask { .. } => Cause::Model,
                    Effect::Compute { .. } => Cause::Job,
                    _ => Cause::World,
                };
                vec![
                    (cause, Event::CallFailed { call: *call, failure: failure.clone() }),
                    (cause, Event::Paused { reason: PauseReason::Failure }),
                ]
            }
            Reply::TimeUp { episode, elapsed } => {
                let state = &self.state;
                let limit = state.run.as_ref().and_then(|r| r.limits.wall_seconds);
                // Since the timer was set, the limit may have been raised or the session paused.
                let is_over = limit.is_some_and(|seconds| elapsed.as_secs() >= seconds)
                    && state.clock.running_since.is_some();
                match state.open_episode() {
                    Some(open) if open.number == *episode && is_over => {
                        vec![(Cause::Timer, episode_end(state, EndReason::TimeLimit))]
                    }
                    _ => Vec::new(),
                }
            }
            Reply::Diverged { episode, .. }
                if self.state.open_episode().is_none_or(|e| e.number != *episode) =>
            {
                Vec::new()
            }
            Reply::Diverged { episode, step, recorded, actual } => vec![
                (
                    Cause::World,
                    Event::Diverged {
                        episode: *episode,
                        step: *step,
                        recorded: recorded.clone(),
                        actual: actual.clone(),
                    },
                ),
                (Cause::World, Event::Paused { reason: PauseReason::Failure }),
            ],
        }
    }
}

/// Returns the message that a reply was cut off before its action was complete.
fn incomplete_message(truncation: Truncation) -> String {
    format!("the reply was cut off by {} before its action was complete", truncation.name())
}

/// Returns the message that the model refused to answer, with the beginning of the refusal.
fn refusal_message(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start: String = line.chars().take(200).collect();
    let ellipsis = if start.len() < line.len() { "…" } else { "" };
    format!("the model refused to answer: {start}{ellipsis}")
}

/// If the event is a reflection, records in it where a recorded reply came from; `None` if the model replied.
fn with_reply_source(event: Event, reply_source: Option<&String>) -> Event {
    match event {
        Event::Reflected { mut reflection } => {
            reflection.reply_source = reply_source.cloned();
            Event::Reflected { reflection }
        }
        other => other,
    }
}
