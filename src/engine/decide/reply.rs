//! Answers of models, worlds and timers. A call that is not in flight yields nothing.

use crate::domain::{Author, EndReason, FailureKind, ModelRole, Stage, Truncation, Usage};
use crate::engine::advance::episode_end;
use crate::engine::{
    Cause, Effect, Engine, Event, Failure, MentorReply, ParsedActorReply, PauseReason, PrefetchStatus, Reply,
};

impl Engine {
    /// What cut a reply off that is not used as it is: setting `accept_truncated` takes such replies for whole, but a refusal
    /// is no answer at all.
    fn rejected_truncation(&self, truncated: Option<Truncation>) -> Option<Truncation> {
        let accepted = self.state.setting_flag("accept_truncated", false);
        truncated.filter(|by| *by == Truncation::Refusal || !accepted)
    }

    /// Why an actor's reply is asked for again, as long as the step has tries left (setting `ask_again`): nothing in it says
    /// what to do, it was cut off before its action was complete, or it is shorter than `least_reply` characters
    /// (Reflexion's public code has 5).
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
            return Some("there was no action in the reply".to_owned());
        }
        if let Some(by) = self.rejected_truncation(truncated).filter(|_| !reading.complete) {
            return Some(incomplete_message(by));
        }
        (has < least).then(|| format!("the reply had {has} characters, fewer than {least}"))
    }

    /// An actor's reply that says nothing of what to do, as a failed call, where it is not asked for again. The public code of
    /// ReAct and Reflexion takes an empty action then (setting `empty_action`); so does a run that nobody attends.
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
            "give it a larger max_tokens or less to reason, or change the prompt or the model";
        // A larger limit was tried before, and none at all.
        const REASON_LESS_HINT: &str =
            "let it reason less or switch its reasoning off, or change the prompt or the model";
        const CHANGE_PROMPT_HINT: &str = "change the prompt or the model";
        let nothing = |words: &str, next| (words.to_owned(), next);
        let (what, next) = match (cut, text.trim().is_empty(), reasoning.trim().is_empty()) {
            (Some(Truncation::Refusal), ..) => (refusal_message(text), CHANGE_PROMPT_HINT),
            (Some(by @ Truncation::Length), ..) => (incomplete_message(by), RAISE_TOKEN_LIMIT_HINT),
            (Some(by), ..) => (incomplete_message(by), CHANGE_PROMPT_HINT),
            (None, true, true) => nothing("the model answered nothing", CHANGE_PROMPT_HINT),
            (None, true, false) => nothing("the model only reasoned and answered nothing", REASON_LESS_HINT),
            (None, false, _) => nothing("the model said nothing of what to do", CHANGE_PROMPT_HINT),
        };
        let came = if text.trim().is_empty() { reasoning } else { text };
        Some(Failure {
            message: format!("{what}{times}"),
            source: place.to_owned(),
            hint: format!("{next}, take a recorded reply, or act by hand"),
            kind: Some(FailureKind::Unusable),
            partial_text: Failure::shorten(came.trim()),
            usage: None,
        })
    }

    /// What a mentor's answer comes to, as events; `before` counts those of the same batch before them.
    pub(super) fn mentor_reply_events(&self, heard: &MentorReply<'_>, before: usize) -> Vec<(Cause, Event)> {
        let mut wants = self.policy.method.on_mentor_reply(&self.state, heard);
        let held = self.hold_summary(heard, &mut wants);
        let events = self.write_events(wants.iter(), Author::Mentor, before).into_iter().chain(held);
        events.map(|event| (Cause::Model, event)).collect()
    }

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
                            "the reply was cut off by {by}; its words are used as they are (accept_truncated)"
                        ));
                    }
                    let heard = MentorReply {
                        prompt,
                        question,
                        author: Author::Mentor,
                        items: read.items,
                        complaints: read.complaints,
                        dropped: read.dropped,
                        truncated: *truncated,
                    };
                    let came = self.mentor_reply_events(&heard, events.len());
                    events.extend(
                        came.into_iter()
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
            Reply::Prefetch(told) => {
                let open = self.state.prefetched.iter().find(|e| e.number == told.number);
                let counts = match told.status {
                    PrefetchStatus::Requested => open.is_none() && self.state.run.is_some(),
                    // The reply of the call that has it says so itself.
                    PrefetchStatus::Answered => open.is_some_and(|e| e.call.is_none()),
                    PrefetchStatus::Used | PrefetchStatus::Dropped => open.is_some(),
                };
                let event = || (Cause::Model, Event::PrefetchChanged(told.clone()));
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
            Reply::TimeUp { episode, elapsed: spent } => {
                let state = &self.state;
                let bound = state.run.as_ref().and_then(|r| r.limits.wall_seconds);
                // The bound may have been raised, or the session paused, since the timer was set.
                let over = bound.is_some_and(|seconds| spent.as_secs() >= seconds)
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

/// Why the action of a truncated reply is not used.
fn incomplete_message(by: Truncation) -> String {
    format!("the reply was cut off by {} before its action was complete", by.name())
}

/// Why a reply that is a refusal is not used, with its words.
fn refusal_message(text: &str) -> String {
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = words.chars().take(200).collect();
    let more = if shown.len() < words.len() { "…" } else { "" };
    format!("the model refused to answer: {shown}{more}")
}

/// A reflection says whose words it was made of, where a stand-in was asked for the model.
fn with_reply_source(event: Event, from: Option<&String>) -> Event {
    match event {
        Event::Reflected { mut reflection } => {
            reflection.reply_source = from.cloned();
            Event::Reflected { reflection }
        }
        other => other,
    }
}
