//! Questions to models on their way out: who is asked, and what cannot be asked at all.

use super::request::request;
use super::stand_in::StandingIn;
use super::{Driver, Message};
use crate::domain::{Asked, CallId, FailureKind, PromptRecord};
use crate::engine::{Ask, Failure, Reply};
use crate::provider::Provider;
use std::sync::Arc;

impl Driver {
    /// Asks the role's model, or answers in its place why that cannot be.
    pub(super) fn ask(&mut self, call: CallId, prompt: &PromptRecord) {
        let stand_in = self.engine.state.stand_in(call).map(str::to_owned);
        let provider = match prompt.asked {
            _ if stand_in.is_some() => {
                let (source, open) = (stand_in.clone().unwrap_or_default(), self.launch.stand_in.clone());
                let from = StandingIn { source, asked: prompt.asked, open };
                Some(Arc::new(from) as Arc<dyn Provider>)
            }
            Asked::Actor => Some(self.launch.actor.clone()),
            Asked::Mentor => self.launch.mentor.clone(),
        };
        let inbox = self.handle.inbox();
        let failure = match provider {
            None => Failure {
                what: "this run has no mentor to ask".to_owned(),
                place: "mentor".to_owned(),
                next: "choose a mentor with --mentor".to_owned(),
                kind: Some(FailureKind::Setup),
                came: String::new(),
            },
            Some(provider) => {
                let Some(failure) = self.too_long(prompt) else {
                    let rendered = (self.launch.render)(&self.engine.state, prompt);
                    let request = request(prompt, rendered);
                    if stand_in.is_none() {
                        provider.recall(&self.engine.state.unsent(prompt.asked));
                    }
                    let early = stand_in.is_none().then(|| self.take_early(&request)).flatten();
                    return self.runner.ask(provider, prompt, request, early, &self.store, inbox);
                };
                failure
            }
        };
        // The driver holds a sender itself, so its inbox is open.
        let _ = inbox.send(Message::Reply(self.line, Reply::Failed { call, failure }));
    }

    /// What does not fit into the budget is not sent: a server would cut it without a word. Where only what is never cut (task,
    /// lessons, examples, the newest step) is left, a draft that was made now would be as long.
    pub(super) fn too_long(&self, prompt: &PromptRecord) -> Option<Failure> {
        let state = &self.engine.state;
        let budget = state.number("context_tokens", crate::prompt::CONTEXT_TOKENS);
        let tokens = state.counted(prompt);
        if tokens <= budget {
            return None;
        }
        let (asked, question, step, retry) = (prompt.asked, prompt.question, prompt.step, prompt.retry);
        let now = (self.engine.policy.draft)(state, &Ask { asked, question, step, retry }).record;
        let (why, next) = if now.tokens < prompt.tokens {
            (
                "drafted now it would be shorter",
                "give this call up and ask again; or set context_tokens higher and retry",
            )
        } else {
            (
                "task, lessons, examples and the newest turn alone do not fit",
                "set context_tokens higher and retry; or switch lessons off or set examples lower, give this call up and ask again",
            )
        };
        Some(Failure {
            what: format!("the prompt has about {tokens} tokens, and {budget} is all it may have: {why}"),
            place: "prompt".to_owned(),
            next: next.to_owned(),
            kind: Some(FailureKind::TooLong),
            came: String::new(),
        })
    }
}
