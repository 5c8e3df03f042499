//! Replies of models, environments and timers. A reply whose call is not in flight yields no events.

use crate::domain::{Author, EndReason, FailureKind, ModelRole, Stage, Truncation, Usage};
use crate::engine::advance::episode_end;
use crate::engine::{
    Cause, Effect, Engine, Event, Failure, MentorReply, ParsedActorReply, PauseReason, PrefetchStatus, Reply,
};

impl Engine {
    /// Returns what cut a reply off, or `None` if the reply may be used as it is: it is complete, or the setting
    /// `accept_truncated` is on. A refusal is never used.
    fn rejected_truncation(&self, truncated: Option<Truncation>) -> Option<Truncation> {
        let accepted = self.state.setting_flag("accept_truncated", false);
        truncated.filter(|by| *by == Truncation::Refusal || !accepted)
    }

    /// Returns why an actor's reply is requested again: it has neither action nor thought, it was cut off before its
    /// action was complete, or it has fewer than `least_reply` characters (5 in Reflexion's public code). Returns
    /// `None` if the reply is usable or the step has no retries left (setting `ask_again`).
    fn unusable_reason(
        &self,
        step: u32,
        text: &str,
        reading: &ParsedActorReply,
        truncated: Option<Truncation>,
    ) -> Option<String> {
        let tried = self.state.open_episode().and_then(|e| e.step(step)).map_or(0, |s| s.unusable_replies);
        if u64::from(tried) >= self.state.setting_number("ask_again", 0) {
            return None;
        }
        if truncated == Some(Truncation::Refusal) {
            return Some(refusal_message(text));
        }
        let (least, has) = (self.state.setting_number("least_reply", 0), text.trim().chars().count() as u64);
        if reading.action.is_none() && reading.thought.is_none() {
            return Some("the reply has no action".to_owned());
        }
        if let Some(by) = self.rejected_truncation(truncated).filter(|_| !reading.complete) {
            return Some(incomplete_message(by));
        }
        (has < least).then(|| format!("the reply has {has} characters, fewer than {least}"))
    }

    /// Returns the failure for an actor's unusable reply that is not requested again. Returns `None` if the reply is
    /// usable, or if it is taken as an empty action: with the setting `empty_action` (as in the public code of ReAct
    /// and Reflexion) and without a screen.
    fn unusable_failure(
        &self,
        step: u32,
        reply: (&str, &str),
        reading: &ParsedActorReply,
        truncated: Option<Truncation>,
        place: &str,
    ) -> Option<Failure> {
        let refused = truncated == Some(Truncation::Refusal);
        let empty = !refused && reading.action.is_none() && reading.thought.is_none();
        let cut = self.rejected_truncation(truncated).filter(|_| refused || !empty && !reading.complete);
        let taken = empty && self.state.setting_flag("empty_action", false) && !self.policy.is_attended;
        if taken || (!empty && cut.is_none()) {
            return None;
        }
        let (text, reasoning) = reply;
        let times =
            match self.state.open_episode().and_then(|e| e.step(step)).map_or(0, |s| s.unusable_replies) {
                0 => String::new(),
                n => format!(", {} times", n + 1),
            };
        const RAISE_TOKEN_LIMIT_HINT: &str =
            "raise max_tokens or reduce reasoning, or change the prompt or the model";
        // A larger limit and no limit have already been tried.
        const REASON_LESS_HINT: &str = "reduce reasoning or switch it off, or change the prompt or the model";
        const CHANGE_PROMPT_HINT: &str = "change the prompt or the model";
        let nothing = |words: &str, next| (words.to_owned(), next);
        let (what, next) = match (cut, text.trim().is_empty(), reasoning.trim().is_empty()) {
            (Some(Truncation::Refusal), ..) => (refusal_message(text), CHANGE_PROMPT_HINT),
            (Some(by @ Truncation::Length), ..) => (incomplete_message(by), RAISE_TOKEN_LIMIT_HINT),
            (Some(by), ..) => (incomplete_message(by), CHANGE_PROMPT_HINT),
            (None, true, true) => nothing("the model returned an empty reply", CHANGE_PROMPT_HINT),
            (None, true, false) => nothing("the model returned only reasoning", REASON_LESS_HINT),
            (None, false, _) => nothing("the model's reply has no action", CHANGE_PROMPT_HINT),
        };
        let partial = if text.trim().is_empty() { reasoning } else { text };
        Some(Failure {
            message: format!("{what}{times}"),
            source: place.to_owned(),
            hint: format!("{next}, take a recorded reply, or act yourself"),
            kind: Some(FailureKind::Unusable),
            partial_text: Failure::shorten(partial.trim()),
            usage: None,
        })
    }

    /// Returns the events that follow from a mentor's reply; `before` is the number of events before them in the same
    /// batch.
    pub(super) fn mentor_reply_events(&self, reply: &MentorReply<'_>, before: usize) -> Vec<(Cause, Event)> {
        let mut intents = self.policy.method.on_mentor_reply(&self.state, reply);
        let held = self.hold_summary(reply, &mut intents);
        let events = self.write_events(intents.iter(), Author::Mentor, before).into_iter().chain(held);
        events.map(|event| (Cause::Model, event)).collect()
    }

    /// Returns the events that follow from a reply.
    pub(super) fn decide_reply(&self, reply: &Reply) -> Vec<(Cause, Event)> {
        match reply {
            Reply::Model { call, text, reasoning, usage, truncated } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let from = self.state.reply_override(*call).map(str::to_owned);
                let mut events = vec![(
                    Cause::Model,
                    Event::ReplyReceived {
                        truncated: *truncated,
                        call: *call,
                        text: text.clone(),
                        reasoning: reasoning.clone(),
                        usage: Usage { recorded: usage.recorded || from.is_some(), ..*usage },
                        reply_source: from.clone(),
                    },
                )];
                if prompt.role == ModelRole::Actor {
                    let reading = (self.policy.parse_reply)(text);
                    let step = prompt.step;
                    let place = self.state.run.as_ref().map_or("actor", |r| r.actor.as_str());
                    if let Some(why) = self.unusable_reason(step, text, &reading, *truncated) {
                        events.push((Cause::Model, Event::AskedAgain { step, unusable_reason: Some(why) }));
                    } else if let Some(failure) =
                        self.unusable_failure(step, (text, reasoning), &reading, *truncated, place)
                    {
                        events.push((Cause::Model, Event::CallFailed { call: *call, failure }));
                        events.push((Cause::Model, Event::Paused { reason: PauseReason::Failure }));
                    } else {
                        let ParsedActorReply { thought, action, complaints, .. } =
                            reading.with_truncation_note(*truncated);
                        events.push((Cause::Model, Event::Proposed { step, thought, action, complaints }));
                    }
                } else if let Some(question) = prompt.question {
                    let cut = self.rejected_truncation(*truncated);
                    let mut read = (self.policy.parse_mentor_reply)(question, text, cut);
                    if let (Some(by), None) = (truncated, cut) {
                        let by = by.name();
                        read.complaints.push(format!(
                            "the reply was cut off by {by} and is used as it is (accept_truncated)"
                        ));
                    }
                    let mentor_reply = MentorReply {
                        prompt,
                        question,
                        author: Author::Mentor,
                        items: read.items,
                        complaints: read.complaints,
                        dropped: read.dropped,
                        truncated: *truncated,
                    };
                    let changes = self.mentor_reply_events(&mentor_reply, events.len());
                    events.extend(
                        changes
                            .into_iter()
                            .map(|(cause, event)| (cause, with_reply_source(event, from.as_ref()))),
                    );
                }
                events
            }
            Reply::UnsentSettings { call, settings: what } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let asked = prompt.role;
                if self.state.reply_override(*call).is_some() || self.state.unsent_settings(asked) == *what {
                    return Vec::new();
                }
                vec![(
                    Cause::Model,
                    Event::SettingsUnsent { call: *call, role: asked, settings: what.clone() },
                )]
            }
            Reply::Prefetch(update) => {
                let open = self.state.prefetched.iter().find(|e| e.number == update.number);
                let counts = match update.status {
                    PrefetchStatus::Requested => open.is_none() && self.state.run.is_some(),
                    // If a call has taken it, that call's reply is recorded instead.
                    PrefetchStatus::Answered => open.is_some_and(|e| e.call.is_none()),
                    PrefetchStatus::Used | PrefetchStatus::Dropped => open.is_some(),
                };
                let event = || (Cause::Model, Event::PrefetchChanged(update.clone()));
                (counts && !self.state.closed).then(event).into_iter().collect()
            }
            Reply::World { call, result: turn, admissible } => match self.state.calls.get(call) {
                Some(Effect::ResetWorld { .. }) => {
                    let seen = (self.policy.rewrite_observation)(&self.state, "", turn, admissible);
                    let goal = (self.policy.extract_goal)(turn);
                    vec![(
                        Cause::World,
                        Event::WorldReset { call: *call, result: turn.clone(), agent_view: seen, goal },
                    )]
                }
                Some(Effect::StepWorld { .. }) => {
                    let Some(step) = self.state.last_step().filter(|s| s.stage == Stage::Observation) else {
                        return Vec::new();
                    };
                    let action = step.executed.as_ref().map_or("", |e| e.action.as_str());
                    let seen = (self.policy.rewrite_observation)(&self.state, action, turn, admissible);
                    vec![(
                        Cause::World,
                        Event::Observed {
                            step: step.number,
                            call: Some(*call),
                            result: turn.clone(),
                            agent_view: seen,
                        },
                    )]
                }
                _ => Vec::new(),
            },
            Reply::Failed { call, failure } => {
                let Some(effect) = self.state.calls.get(call) else { return Vec::new() };
                let cause = match effect {
                    Effect::Ask { .. } => Cause::Model,
                    _ => Cause::World,
                };
                vec![
                    (cause, Event::CallFailed { call: *call, failure: failure.clone() }),
                    (cause, Event::Paused { reason: PauseReason::Failure }),
                ]
            }
            Reply::TimeUp { episode, elapsed } => {
                let state = &self.state;
                let bound = state.run.as_ref().and_then(|r| r.limits.wall_seconds);
                // The limit may have been raised or the session paused since the timer was set.
                let over = bound.is_some_and(|seconds| elapsed.as_secs() >= seconds)
                    && state.clock.running_since.is_some();
                match state.open_episode() {
                    Some(open) if open.number == *episode && over => {
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
            Reply::Diverged { episode, step, recorded, actual: now } => vec![
                (
                    Cause::World,
                    Event::Diverged {
                        episode: *episode,
                        step: *step,
                        recorded: recorded.clone(),
                        actual: now.clone(),
                    },
                ),
                (Cause::World, Event::Paused { reason: PauseReason::Failure }),
            ],
        }
    }
}

/// Says why the action of a truncated reply is not used.
fn incomplete_message(by: Truncation) -> String {
    format!("the reply was cut off by {} before its action was complete", by.name())
}

/// Says that the model refused to answer, and quotes the beginning of the refusal.
fn refusal_message(text: &str) -> String {
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = words.chars().take(200).collect();
    let more = if shown.len() < words.len() { "…" } else { "" };
    format!("the model refused to answer: {shown}{more}")
}

/// Records in a reflection where its reply came from, if it didn't come from the model.
fn with_reply_source(event: Event, from: Option<&String>) -> Event {
    match event {
        Event::Reflected { mut reflection } => {
            reflection.reply_source = from.cloned();
            Event::Reflected { reflection }
        }
        other => other,
    }
}
