//! Prepares model calls (chooses the provider, rejects calls that cannot be made) and cancels calls in progress.

use super::reply_override::OverrideProvider;
use super::request::build_request_in;
use super::{Driver, LiveCall, Message};
use crate::domain::{CallId, CallPhase, FailureKind, ModelRole, PartialReply, PromptRecord, Usage};
use crate::engine::{Cause, Effect, Engine, Event, Failure, PromptRequest, Reply};
use crate::provider::Provider;
use std::sync::Arc;

impl Driver {
    /// Calls the role's model. If that is not possible, sends a failed reply with the reason.
    pub(super) fn ask_model(&mut self, call: CallId, prompt: &PromptRecord) {
        let reply_source = self.engine.state.reply_override(call).map(str::to_owned);
        let provider = match prompt.role {
            _ if reply_source.is_some() => {
                let (source, open_source) =
                    (reply_source.clone().unwrap_or_default(), self.run_config.reply_override.clone());
                let override_provider = OverrideProvider { source, role: prompt.role, open_source };
                Some(Arc::new(override_provider) as Arc<dyn Provider>)
            }
            ModelRole::Actor => Some(self.run_config.actor.clone()),
            ModelRole::Mentor => self.run_config.mentor.clone(),
        };
        let inbox = self.handle.inbox();
        let failure = match provider {
            None => Failure {
                message: "this run has no mentor model that could be called".to_owned(),
                source: "mentor".to_owned(),
                hint: "continue without its reply, or set a mentor model".to_owned(),
                kind: Some(FailureKind::Misconfigured),
                partial_text: String::new(),
                usage: None,
            },
            Some(provider) => {
                let Some(failure) = self.missing_template(prompt).or_else(|| self.check_prompt_size(prompt))
                else {
                    let rendered = (self.run_config.render_prompt)(&self.engine.state, prompt);
                    let mut request = build_request_in(&self.engine.state, prompt, rendered);
                    request.refresh_cache = self.calls_to_refresh.remove(&call) && reply_source.is_none();
                    if reply_source.is_none() {
                        provider.restore_quirks(&self.engine.state.setting_deviations(prompt.role));
                    }
                    let prefetched = (reply_source.is_none() && !request.refresh_cache)
                        .then(|| self.take_prefetch(&request))
                        .flatten();
                    return self.call_runner.start_call(
                        provider,
                        prompt,
                        request,
                        prefetched,
                        &self.store,
                        inbox,
                    );
                };
                failure
            }
        };
        // The driver holds a sender of its inbox itself, so the inbox is open.
        let _ = inbox.send(Message::Reply(self.epoch, Reply::Failed { call, failure }));
    }

    /// Adds the partial replies to the given cancel events, because the engine has no access to replies in progress.
    pub(super) fn record_partial_replies(&self, events: &mut [(Cause, Event)]) {
        for (_, event) in events {
            let Event::CallCancelled { call, partial_reply } = event else { continue };
            let Some(Effect::Ask { prompt, .. }) = self.engine.state.calls.get(call) else { continue };
            let live = self.store.live();
            let Some(live_call) = live.calls.iter().find(|c| c.call == *call) else { continue };
            let is_recorded = self.engine.state.reply_override(*call).is_some();
            **partial_reply = PartialReply {
                usage: usage_so_far(live_call, prompt, is_recorded),
                ..live_call.partial_reply()
            };
        }
    }

    /// Cancels each call whose request has been sent, before the session is closed, so that its partial reply is kept
    /// and its tokens are counted. Requests that have not been sent are sent when the session is resumed.
    pub(super) fn cancel_calls_before_close(&self, closing: &mut Vec<(Cause, Event)>) {
        if closing.is_empty() {
            return;
        }
        let live = self.store.live();
        let was_sent = |c: &&LiveCall| match self.engine.state.calls.get(&c.call) {
            Some(Effect::Ask { prompt, .. }) => {
                !c.partial_reply().is_blank() || usage_so_far(c, prompt, false).is_some()
            }
            _ => false,
        };
        let sent_calls = live.calls.iter().filter(was_sent).map(|c| c.call);
        let cancelled = sent_calls
            .map(|call| (Cause::Policy, Event::CallCancelled { call, partial_reply: Box::default() }));
        closing.splice(..0, cancelled.collect::<Vec<_>>());
    }

    /// Rejects a question for which the run's method has no template. Those that its entry lists are checked at start.
    fn missing_template(&self, prompt: &PromptRecord) -> Option<Failure> {
        let question = prompt.question.filter(|_| prompt.segments.is_empty())?.template_name();
        let method = self.engine.policy.method.name();
        Some(Failure {
            message: format!(
                "the prompt of the question {question} is empty: {method} has no template for it"
            ),
            source: "prompt".to_owned(),
            hint: format!(
                "add a file with `method = {method:?}` and `question = {question:?}` to the templates of its entry"
            ),
            kind: Some(FailureKind::Misconfigured),
            partial_text: String::new(),
            usage: None,
        })
    }

    /// Rejects a prompt that exceeds the token budget; see [`oversized_prompt`].
    pub(super) fn check_prompt_size(&self, prompt: &PromptRecord) -> Option<Failure> {
        oversized_prompt(&self.engine, prompt)
    }
}

/// Rejects a prompt that exceeds the token budget, because a server would truncate it silently. Drafting the prompt
/// again makes it shorter unless it has only the parts that are never dropped (task, lessons, examples, the newest
/// step).
pub(super) fn oversized_prompt(engine: &Engine, prompt: &PromptRecord) -> Option<Failure> {
    let state = &engine.state;
    let budget = state.settings().context_tokens;
    let tokens = state.corrected_tokens(prompt);
    if tokens <= budget {
        return None;
    }
    let (role, question, step, retry) = (prompt.role, prompt.question, prompt.step, prompt.retry);
    let redrafted =
        (engine.policy.draft_prompt)(state, &PromptRequest { role, question, step, retry }).record;
    let (reason, hint) = if redrafted.tokens < prompt.tokens {
        (
            "a prompt drafted now would be shorter",
            "continue without the reply and ask again; or raise context_tokens and retry",
        )
    } else {
        (
            "task, lessons, examples and the newest step alone do not fit",
            "raise context_tokens and retry; or switch lessons off or lower examples, continue without the reply and ask again",
        )
    };
    Some(Failure {
        message: format!("the prompt has about {tokens} tokens, more than the {budget} allowed: {reason}"),
        source: "prompt".to_owned(),
        hint: hint.to_owned(),
        kind: Some(FailureKind::TooLong),
        partial_text: String::new(),
        usage: None,
    })
}

/// Returns the usage of a call in progress, as reported by the provider or else estimated. Returns `None` if its request
/// has not been sent.
fn usage_so_far(live_call: &LiveCall, prompt: &PromptRecord, is_recorded: bool) -> Option<Usage> {
    let millis = live_call.started.elapsed().as_millis() as u64;
    let annotate = |usage: Usage| Usage { millis, recorded: usage.recorded || is_recorded, ..usage };
    let earlier = live_call.usage.filter(Usage::has_only_earlier);
    if earlier.is_none() && live_call.usage.is_some() {
        return live_call.usage.map(annotate);
    }
    // Text that arrived before this attempt belongs to a discarded reply, which is counted in `earlier`.
    let is_unsent = matches!(live_call.phase, CallPhase::Connecting | CallPhase::Retrying(_));
    if is_unsent && (live_call.delta_count == 0 || earlier.is_some()) {
        return earlier.map(annotate);
    }
    let len = live_call.text.len() as u64 + live_call.reasoning.len() as u64;
    let estimate = Usage {
        prompt_tokens: u64::from(prompt.tokens),
        reply_tokens: len.div_ceil(4),
        estimated: true,
        millis,
        recorded: is_recorded,
        ..Usage::default()
    };
    Some(estimate.with_earlier(&earlier.unwrap_or_default()))
}
