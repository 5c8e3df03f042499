//! Questions to models on their way out: who is asked, and what cannot be asked at all.

use super::{Driver, Message};
use crate::domain::{Asked, CallId, PromptRecord};
use crate::engine::{Failure, Reply};

impl Driver {
    /// Asks the role's model, or answers in its place why that cannot be.
    pub(super) fn ask(&mut self, call: CallId, prompt: &PromptRecord) {
        let provider = match prompt.asked {
            Asked::Actor => Some(self.launch.actor.clone()),
            Asked::Mentor => self.launch.mentor.clone(),
        };
        let inbox = self.handle.inbox();
        let failure = match provider {
            None => Failure {
                what: "this run has no mentor to ask".to_owned(),
                place: "mentor".to_owned(),
                next: "choose a mentor with --mentor".to_owned(),
            },
            Some(provider) => {
                let Some(failure) = self.too_long(prompt) else {
                    let rendered = (self.launch.render)(&self.engine.state, prompt);
                    return self.runner.ask(provider, prompt, rendered, &self.store, inbox);
                };
                failure
            }
        };
        // The driver holds a sender itself, so its inbox is open.
        let _ = inbox.send(Message::Reply(self.line, Reply::Failed { call, failure }));
    }

    /// What is never cut (task, lessons, examples, the newest step) does not fit into the budget: nothing is sent that a
    /// server would cut without a word.
    fn too_long(&self, prompt: &PromptRecord) -> Option<Failure> {
        let budget = self.engine.state.number("context_tokens", crate::prompt::CONTEXT_TOKENS);
        (u64::from(prompt.tokens) > budget).then(|| Failure {
            what: format!(
                "the prompt has about {} tokens, and {budget} is all it may have: task, lessons, examples and the newest turn alone do not fit",
                prompt.tokens
            ),
            place: "prompt".to_owned(),
            next: "set context_tokens higher and retry; or switch lessons off or set examples lower, give this call up and ask again".to_owned(),
        })
    }
}
