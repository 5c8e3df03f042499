//! Commands about calls to models: reflecting now, continuing without a reply, editing a prompt.

use crate::domain::{Author, CallId, ModelRole, Question};
use crate::engine::{CommandError, Computed, Effect, Engine, Event, Intent, MentorReply};

impl Engine {
    pub(super) fn reflect(&self, kind: crate::domain::ReflectionKind) -> Result<Vec<Event>, CommandError> {
        if self.state.episode.is_none() {
            return Err(CommandError::new("no trajectory to reflect on yet", "take a step first"));
        }
        let intents = self.policy.method.reflect_now(&self.state, kind);
        let questions: Vec<Question> = intents
            .iter()
            .filter_map(
                |intent| if let Intent::AskMentor(question) = intent { Some(*question) } else { None },
            )
            .collect();
        if !questions.is_empty() {
            self.check_no_failed_call()?;
            if self.state.is_asking(ModelRole::Mentor) {
                return Err(CommandError::new(
                    "a mentor call is in progress",
                    "wait, or cancel it with Ctrl-C",
                ));
            }
            let events = self.question_events(&questions, false);
            let is_empty =
                |e: &Event| matches!(e, Event::PromptSent { prompt, .. } if prompt.segments.is_empty());
            if events.iter().any(is_empty) {
                return Err(CommandError::new(
                    format!("{} has no prompt for {} reflections", self.policy.method.name(), kind.name()),
                    "choose another kind, or add a lesson yourself (a)",
                ));
            }
            return Ok(events);
        }
        let events = self.intent_events(intents.iter(), Author::Symbolic, 0);
        let says_nothing = |event: &Event| matches!(event, Event::Reflected { reflection } if reflection.items.is_empty() && reflection.complaints.is_empty());
        if events.iter().all(says_nothing) {
            if let Some((reason, hint)) = self.policy.method.why_no_reflection(&self.state, kind) {
                return Err(CommandError::new(reason, hint));
            }
            return Err(CommandError::new(
                format!("no new {} reflection follows from this trajectory", kind.name()),
                "add a lesson yourself (a)",
            ));
        }
        Ok(events)
    }

    /// Gives up every failed or cancelled call to a model, and every failed or cancelled job. A question to the mentor is answered with an empty
    /// reflection that records the reason. A step whose actor call is given up stays open, without a proposal.
    pub(super) fn give_up(&self) -> Result<Vec<Event>, CommandError> {
        let mut events = Vec::new();
        let failed = self
            .state
            .failed_calls()
            .map(|(e, f)| (e, format!("given up after a failed call: {}", f.message)));
        let cancelled = self.state.cancelled_calls.iter();
        let cancelled = cancelled.map(|(e, _)| (e, "given up after the call was cancelled".to_owned()));
        for (effect, complaint) in failed.chain(cancelled) {
            if let Effect::Compute { call, job } = effect {
                events.push(Event::CallGivenUp { call: *call });
                events.extend(self.computed_events(&Computed { job, result: None }, events.len()));
                continue;
            }
            let Effect::Ask { call, prompt } = effect else { continue };
            events.push(Event::CallGivenUp { call: *call });
            if let Some(question) = prompt.question {
                let complaints = vec![complaint];
                let reply = MentorReply {
                    prompt,
                    question,
                    author: Author::Mentor,
                    items: Vec::new(),
                    complaints,
                    dropped: Vec::new(),
                    truncated: None,
                };
                events.extend(
                    self.mentor_reply_events(&reply, events.len()).into_iter().map(|(_, event)| event),
                );
            }
        }
        if events.is_empty() && self.state.calls.values().any(Effect::is_cancellable) {
            return Err(CommandError::new(
                "nothing to continue without yet: a call is in progress",
                "wait, or cancel it with Ctrl-C",
            ));
        }
        if events.is_empty() {
            return Err(CommandError::new(
                "no model call or job has failed or been cancelled",
                "if the environment failed, retry it or end the episode",
            ));
        }
        Ok(events)
    }

    /// Edits one segment of a waiting prompt: a draft, which exists only while a person steps by stages, or the prompt
    /// of a failed or cancelled call. The edited prompt isn't sent now, but when the session continues or the call is
    /// retried.
    pub(super) fn edit_prompt(
        &self,
        call: Option<CallId>,
        segment: usize,
        text: &str,
    ) -> Result<Vec<Event>, CommandError> {
        let state = &self.state;
        let Some(waiting) =
            call.map_or_else(|| state.waiting_prompts().next(), |call| state.waiting_prompt(call))
        else {
            return Err(CommandError::new(
                "no prompt is waiting to be sent",
                "run one stage (s) to pause before the next prompt is sent",
            ));
        };
        let Some(edited) = (self.policy.edit_prompt)(state, waiting, segment, text) else {
            return Err(CommandError::new(
                "the prompt has no such segment",
                "choose one of the segments shown",
            ));
        };
        if edited.record.sha256 == waiting.sha256 {
            return Ok(Vec::new());
        }
        let mut record = edited.record;
        record.edited = true;
        let mut events: Vec<Event> =
            edited.texts.into_iter().map(|(hash, text)| Event::TextDefined { hash, text }).collect();
        events.push(Event::PromptDrafted { prompt: std::sync::Arc::new(record) });
        Ok(events)
    }
}
