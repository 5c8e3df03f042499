//! Questions to models on their way out: who is asked, and what cannot be asked at all.

use super::reply_override::OverrideProvider;
use super::request::build_request;
use super::{Driver, LiveCall, Message};
use crate::domain::{CallId, FailureKind, ModelRole, PartialReply, PromptRecord, Usage};
use crate::engine::{Cause, Effect, Event, Failure, PromptRequest, Reply};
use crate::provider::{Phase, Provider};
use std::sync::Arc;

impl Driver {
    /// Asks the role's model, or answers in its place why that cannot be.
    pub(super) fn ask_model(&mut self, call: CallId, prompt: &PromptRecord) {
        let stand_in = self.engine.state.reply_override(call).map(str::to_owned);
        let provider = match prompt.role {
            _ if stand_in.is_some() => {
                let (source, open) =
                    (stand_in.clone().unwrap_or_default(), self.run_config.reply_override.clone());
                let from = OverrideProvider { source, role: prompt.role, open_source: open };
                Some(Arc::new(from) as Arc<dyn Provider>)
            }
            ModelRole::Actor => Some(self.run_config.actor.clone()),
            ModelRole::Mentor => self.run_config.mentor.clone(),
        };
        let inbox = self.handle.inbox();
        let failure = match provider {
            None => Failure {
                message:
                    "rules reflect in this run, or nobody does, and neither answers what a model is asked"
                        .to_owned(),
                source: "mentor".to_owned(),
                hint: "go on without its answer, or let a model reflect".to_owned(),
                kind: Some(FailureKind::Misconfigured),
                partial_text: String::new(),
                usage: None,
            },
            Some(provider) => {
                let Some(failure) = self.check_prompt_size(prompt) else {
                    let rendered = (self.run_config.render_prompt)(&self.engine.state, prompt);
                    let accepted = self.engine.state.setting_flag("accept_truncated", false);
                    let mut request = build_request(prompt, rendered, accepted);
                    request.refresh_cache = self.calls_to_refresh.remove(&call) && stand_in.is_none();
                    if stand_in.is_none() {
                        provider.restore_quirks(&self.engine.state.unsent_settings(prompt.role));
                    }
                    let early = (stand_in.is_none() && !request.refresh_cache)
                        .then(|| self.take_prefetch(&request))
                        .flatten();
                    return self.call_runner.start_call(provider, prompt, request, early, &self.store, inbox);
                };
                failure
            }
        };
        // The driver holds a sender itself, so its inbox is open.
        let _ = inbox.send(Message::Reply(self.epoch, Reply::Failed { call, failure }));
    }

    /// Says of calls that a person breaks off what had come of them: the engine knows nothing of answers under way.
    pub(super) fn record_partial_replies(&self, events: &mut [(Cause, Event)]) {
        for (_, event) in events {
            let Event::CallCancelled { call, partial_reply: came } = event else { continue };
            let Some(Effect::Ask { prompt, .. }) = self.engine.state.calls.get(call) else { continue };
            let live = self.store.live();
            let Some(answer) = live.calls.iter().find(|c| c.call == *call) else { continue };
            let recorded = self.engine.state.reply_override(*call).is_some();
            **came = PartialReply { usage: usage_so_far(answer, prompt, recorded), ..answer.partial_reply() };
        }
    }

    /// Before the session is put down: a call whose question has gone out is cancelled there, so that what had come of its answer
    /// stays and its tokens count. A question that has not gone out is asked again when the session is taken up.
    pub(super) fn cancel_calls_before_close(&self, closing: &mut Vec<(Cause, Event)>) {
        if closing.is_empty() {
            return;
        }
        let live = self.store.live();
        let gone_out = |c: &&LiveCall| match self.engine.state.calls.get(&c.call) {
            Some(Effect::Ask { prompt, .. }) => {
                !c.partial_reply().is_blank() || usage_so_far(c, prompt, false).is_some()
            }
            _ => false,
        };
        let begun = live.calls.iter().filter(gone_out).map(|c| c.call);
        let off =
            begun.map(|call| (Cause::Policy, Event::CallCancelled { call, partial_reply: Box::default() }));
        closing.splice(..0, off.collect::<Vec<_>>());
    }

    /// What does not fit into the budget is not sent: a server would cut it without a word. Where only what is never cut (task,
    /// lessons, examples, the newest step) is left, a draft that was made now would be as long.
    pub(super) fn check_prompt_size(&self, prompt: &PromptRecord) -> Option<Failure> {
        let state = &self.engine.state;
        let budget = state.setting_number("context_tokens", crate::prompt::DEFAULT_CONTEXT_TOKENS);
        let tokens = state.counted_tokens(prompt);
        if tokens <= budget {
            return None;
        }
        let (asked, question, step, retry) = (prompt.role, prompt.question, prompt.step, prompt.retry);
        let now =
            (self.engine.policy.draft_prompt)(state, &PromptRequest { role: asked, question, step, retry })
                .record;
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
            message: format!("the prompt has about {tokens} tokens, and {budget} is all it may have: {why}"),
            source: "prompt".to_owned(),
            hint: next.to_owned(),
            kind: Some(FailureKind::TooLong),
            partial_text: String::new(),
            usage: None,
        })
    }
}

/// What an answer under way has cost by now: as counted, else about; none where the question has not gone out.
fn usage_so_far(answer: &LiveCall, prompt: &PromptRecord, recorded: bool) -> Option<Usage> {
    let millis = answer.started.elapsed().as_millis() as u64;
    let marked = |usage: Usage| Usage { millis, recorded: usage.recorded || recorded, ..usage };
    let earlier = answer.usage.filter(Usage::has_only_earlier);
    if earlier.is_none() && answer.usage.is_some() {
        return answer.usage.map(marked);
    }
    // What had come before is of an answer that is counted.
    if answer.phase == Phase::Connecting && (answer.pieces == 0 || earlier.is_some()) {
        return earlier.map(marked);
    }
    let letters = answer.text.len() as u64 + answer.reasoning.len() as u64;
    let last = Usage {
        prompt_tokens: u64::from(prompt.tokens),
        reply_tokens: letters.div_ceil(4),
        estimated: true,
        millis,
        recorded,
        ..Usage::default()
    };
    Some(last.with_earlier(&earlier.unwrap_or_default()))
}
