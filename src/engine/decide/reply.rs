//! Answers of models, worlds and timers. A call that is not in flight yields nothing.

use crate::domain::{Author, EndReason, FailureKind, ModelRole, Stage, Truncation, Usage};
use crate::engine::advance::end;
use crate::engine::{
    AheadNow, Cause, Effect, Engine, Event, Failure, MentorReply, PauseReason, Reading, Reply,
};

impl Engine {
    /// What cut a reply off that is not used as it is: setting `accept_truncated` takes such replies for whole.
    fn rejected_truncation(&self, truncated: Option<Truncation>) -> Option<Truncation> {
        truncated.filter(|_| !self.state.switch("accept_truncated", false))
    }

    /// Why an actor's reply is asked for again, as long as the step has tries left (setting `ask_again`): nothing in it says
    /// what to do, it was cut off before its action was complete, or it is shorter than `least_reply` characters
    /// (Reflexion's public code has 5).
    fn unusable(
        &self,
        step: u32,
        text: &str,
        reading: &Reading,
        truncated: Option<Truncation>,
    ) -> Option<String> {
        let tried = self.state.open_episode().and_then(|e| e.step(step)).map_or(0, |s| s.unusable);
        if u64::from(tried) >= self.state.number("ask_again", 0) {
            return None;
        }
        let (least, has) = (self.state.number("least_reply", 0), text.trim().chars().count() as u64);
        if reading.action.is_none() && reading.thought.is_none() {
            return Some("there was no action in the reply".to_owned());
        }
        if let Some(by) = self.rejected_truncation(truncated).filter(|_| !reading.complete) {
            return Some(incomplete(by));
        }
        (has < least).then(|| format!("the reply had {has} characters, fewer than {least}"))
    }

    /// An actor's reply that says nothing of what to do, as a failed call, where it is not asked for again. The public code of
    /// ReAct and Reflexion takes an empty action then (setting `empty_action`); so does a run that nobody attends.
    fn useless(
        &self,
        step: u32,
        reply: (&str, &str),
        reading: &Reading,
        truncated: Option<Truncation>,
        place: &str,
    ) -> Option<Failure> {
        let empty = reading.action.is_none() && reading.thought.is_none();
        let cut = self.rejected_truncation(truncated).filter(|_| !empty && !reading.complete);
        let taken = empty && self.state.switch("empty_action", false) && !self.policy.attended;
        if taken || (!empty && cut.is_none()) {
            return None;
        }
        let (text, reasoning) = reply;
        let times = match self.state.open_episode().and_then(|e| e.step(step)).map_or(0, |s| s.unusable) {
            0 => String::new(),
            n => format!(", {} times", n + 1),
        };
        const LARGER: &str =
            "give it a larger max_tokens or less to reason, or change the prompt or the model";
        const CHANGE: &str = "change the prompt or the model";
        let nothing = |words: &str, next| (words.to_owned(), next);
        let (what, next) = match (cut, text.trim().is_empty(), reasoning.trim().is_empty()) {
            (Some(by @ Truncation::Length), ..) => (incomplete(by), LARGER),
            (Some(by), ..) => (incomplete(by), CHANGE),
            (None, true, true) => nothing("the model answered nothing", CHANGE),
            (None, true, false) => nothing("the model only reasoned and answered nothing", LARGER),
            (None, false, _) => nothing("the model said nothing of what to do", CHANGE),
        };
        let came = if text.trim().is_empty() { reasoning } else { text };
        Some(Failure {
            what: format!("{what}{times}"),
            place: place.to_owned(),
            next: format!("{next}, take a recorded reply, or act by hand"),
            kind: Some(FailureKind::Unusable),
            came: Failure::beginning(came.trim()),
            usage: None,
        })
    }

    /// What a mentor's answer comes to, as events; `before` counts those of the same batch before them.
    pub(super) fn heard(&self, heard: &MentorReply<'_>, before: usize) -> Vec<(Cause, Event)> {
        let mut wants = self.policy.method.on_mentor_reply(&self.state, heard);
        let held = self.held(heard, &mut wants);
        let events = self.write_all(wants.iter(), Author::Mentor, before).into_iter().chain(held);
        events.map(|event| (Cause::Model, event)).collect()
    }

    pub(super) fn reply(&self, reply: &Reply) -> Vec<(Cause, Event)> {
        match reply {
            Reply::Model { call, text, reasoning, usage, truncated } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let from = self.state.stand_in(*call).map(str::to_owned);
                let mut events = vec![(
                    Cause::Model,
                    Event::ReplyReceived {
                        truncated: *truncated,
                        call: *call,
                        text: text.clone(),
                        reasoning: reasoning.clone(),
                        usage: Usage { recorded: usage.recorded || from.is_some(), ..*usage },
                        from: from.clone(),
                    },
                )];
                if prompt.asked == ModelRole::Actor {
                    let reading = (self.policy.read)(text);
                    let step = prompt.step;
                    let place = self.state.run.as_ref().map_or("actor", |r| r.actor.as_str());
                    if let Some(why) = self.unusable(step, text, &reading, *truncated) {
                        events.push((Cause::Model, Event::AskedAgain { step, unusable: Some(why) }));
                    } else if let Some(failure) =
                        self.useless(step, (text, reasoning), &reading, *truncated, place)
                    {
                        events.push((Cause::Model, Event::CallFailed { call: *call, failure }));
                        events.push((Cause::Model, Event::Paused { reason: PauseReason::Failure }));
                    } else {
                        let Reading { thought, action, complaints, .. } = reading.marked(*truncated);
                        events.push((Cause::Model, Event::Proposed { step, thought, action, complaints }));
                    }
                } else if let Some(question) = prompt.question {
                    let cut = self.rejected_truncation(*truncated);
                    let mut read = (self.policy.read_mentor)(question, text, cut);
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
                    let came = self.heard(&heard, events.len());
                    events
                        .extend(came.into_iter().map(|(cause, event)| (cause, named(event, from.as_ref()))));
                }
                events
            }
            Reply::Unsent { call, what } => {
                let Some(Effect::Ask { prompt, .. }) = self.state.calls.get(call) else { return Vec::new() };
                let asked = prompt.asked;
                if self.state.stand_in(*call).is_some() || self.state.unsent(asked) == *what {
                    return Vec::new();
                }
                vec![(Cause::Model, Event::SettingsUnsent { call: *call, asked, what: what.clone() })]
            }
            Reply::Ahead(told) => {
                let open = self.state.early.iter().find(|e| e.number == told.number);
                let counts = match told.now {
                    AheadNow::Asked => open.is_none() && self.state.run.is_some(),
                    // The reply of the call that has it says so itself.
                    AheadNow::Answered => open.is_some_and(|e| e.call.is_none()),
                    AheadNow::Taken | AheadNow::Dropped => open.is_some(),
                };
                let event = || (Cause::Model, Event::AskedAhead(told.clone()));
                (counts && !self.state.closed).then(event).into_iter().collect()
            }
            Reply::World { call, turn, admissible } => match self.state.calls.get(call) {
                Some(Effect::ResetWorld { .. }) => {
                    let seen = (self.policy.incoming)(&self.state, "", turn, admissible);
                    let goal = (self.policy.goal)(turn);
                    vec![(Cause::World, Event::WorldReset { call: *call, turn: turn.clone(), seen, goal })]
                }
                Some(Effect::StepWorld { .. }) => {
                    let Some(step) = self.state.last_step().filter(|s| s.stage == Stage::Observation) else {
                        return Vec::new();
                    };
                    let action = step.executed.as_ref().map_or("", |e| e.action.as_str());
                    let seen = (self.policy.incoming)(&self.state, action, turn, admissible);
                    vec![(
                        Cause::World,
                        Event::Observed { step: step.number, call: Some(*call), turn: turn.clone(), seen },
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
            Reply::TimeUp { episode, spent } => {
                let state = &self.state;
                let bound = state.run.as_ref().and_then(|r| r.limits.wall_seconds);
                // The bound may have been raised, or the session paused, since the timer was set.
                let over =
                    bound.is_some_and(|seconds| spent.as_secs() >= seconds) && state.clock.since.is_some();
                match state.open_episode() {
                    Some(open) if open.number == *episode && over => {
                        vec![(Cause::Timer, end(state, EndReason::TimeLimit))]
                    }
                    _ => Vec::new(),
                }
            }
            Reply::Diverged { episode, .. }
                if self.state.open_episode().is_none_or(|e| e.number != *episode) =>
            {
                Vec::new()
            }
            Reply::Diverged { episode, step, recorded, now } => vec![
                (
                    Cause::World,
                    Event::Diverged {
                        episode: *episode,
                        step: *step,
                        recorded: recorded.clone(),
                        now: now.clone(),
                    },
                ),
                (Cause::World, Event::Paused { reason: PauseReason::Failure }),
            ],
        }
    }
}

/// Why the action of a truncated reply is not used.
fn incomplete(by: Truncation) -> String {
    format!("the reply was cut off by {} before its action was complete", by.name())
}

/// A reflection says whose words it was made of, where a stand-in was asked for the model.
fn named(event: Event, from: Option<&String>) -> Event {
    match event {
        Event::Reflected { mut reflection } => {
            reflection.from = from.cloned();
            Event::Reflected { reflection }
        }
        other => other,
    }
}
