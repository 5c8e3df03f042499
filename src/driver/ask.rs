//! Questions to models on their way out: who is asked, and what cannot be asked at all.

use super::request::request;
use super::stand_in::StandingIn;
use super::{Driver, Message};
use crate::domain::{Asked, CallId, FailureKind, PromptRecord};
use crate::engine::{Failure, Reply};
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
            },
            Some(provider) => {
                let Some(failure) = self.too_long(prompt) else {
                    let rendered = (self.launch.render)(&self.engine.state, prompt);
                    let request = request(prompt, rendered);
                    let early = stand_in.is_none().then(|| self.take_early(&request)).flatten();
                    return self.runner.ask(provider, prompt, request, early, &self.store, inbox);
                };
                failure
            }
        };
        // The driver holds a sender itself, so its inbox is open.
        let _ = inbox.send(Message::Reply(self.line, Reply::Failed { call, failure }));
    }

    /// What is never cut (task, lessons, examples, the newest step) does not fit into the budget: nothing is sent that a
    /// server would cut without a word.
    pub(super) fn too_long(&self, prompt: &PromptRecord) -> Option<Failure> {
        let budget = self.engine.state.number("context_tokens", crate::prompt::CONTEXT_TOKENS);
        let state = &self.engine.state;
        let tokens = state.as_counted(prompt.asked, u64::from(prompt.tokens));
        (u64::from(prompt.tokens) > state.as_estimated(prompt.asked, budget)).then(|| Failure {
            what: format!(
                "the prompt has about {tokens} tokens, and {budget} is all it may have: task, lessons, examples and the newest turn alone do not fit",
            ),
            place: "prompt".to_owned(),
            next: "set context_tokens higher and retry; or switch lessons off or set examples lower, give this call up and ask again".to_owned(),
            kind: Some(FailureKind::TooLong),
        })
    }
}
