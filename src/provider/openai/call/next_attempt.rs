//! What a call changes in its next request, and what its replies teach about the server.

use super::super::learned_quirks::{EMPTY_REPLIES_TO_BLAME_STOPS, LearnedQuirks, TokenLimit};
use super::super::rejected_param::RequestChange;
use super::super::reply_reader::Completion;
use super::super::request;
use super::{Call, FailedAttempt, REASONING_MAX_TOKENS};
use crate::domain::{Truncation, Usage};
use crate::provider::FailureKind;
use std::sync::Arc;

/// After this many retries of one kind (such as without newline stops) that didn't help, no more of that kind are made.
pub(super) const MAX_FRUITLESS_RETRIES: u32 = 2;

/// Changes to the request that a call tries, in addition to the learned quirks, until a reply shows whether they help.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent changes of a request")]
pub(super) struct TentativeQuirks {
    pub(super) skip_newline_stop: bool,
    /// Sends no stop sequences, and truncates replies locally.
    pub(super) match_stops_locally: bool,
    /// At least this limit, because the reply was empty with a smaller one.
    pub(super) min_limit: Option<TokenLimit>,
    pub(super) doubled_limit: Option<DoubledLimit>,
    /// Sends the configured limit, because a larger learned one leaves too little of the context for the prompt.
    pub(super) ignore_raised_limit: bool,
    /// Sends no other request at the same time, because one may have interrupted the reply.
    pub(super) alone: bool,
    /// Does not stream, because streams ended without a finish reason.
    pub(super) without_stream: bool,
}

/// A limit that was doubled because it cut a reply off.
#[derive(Clone, Debug)]
pub(super) struct DoubledLimit {
    pub(super) max_tokens: u32,
    /// The truncated reply, which is used if no better one arrives.
    pub(super) truncated_reply: Arc<Completion>,
    /// Usage of the call's other replies.
    pub(super) other_usage: Usage,
    /// Why the larger limit failed, if known.
    pub(super) failure: Option<String>,
}

impl TentativeQuirks {
    /// Returns the learned quirks with these changes applied. `long` is the limit of a reply that needs more room.
    pub(super) fn applied_to(
        &self,
        mut learned: LearnedQuirks,
        wanted: u32,
        long: Option<u32>,
        prompt: u64,
    ) -> LearnedQuirks {
        if let Some(long) = long.filter(|long| *long > wanted) {
            let raised = learned.raised_limits.entry(wanted).or_insert(long);
            *raised = long.max(*raised);
        }
        learned.skip_newline_stop |= self.skip_newline_stop;
        learned.match_stops_locally |= self.match_stops_locally;
        learned.without_stream |= self.without_stream;
        learned.min_limit = learned.min_limit.max(self.min_limit);
        let is_rejected =
            learned.raised_limits.get(&wanted).is_some_and(|limit| learned.rejects_limit(*limit, prompt));
        if self.ignore_raised_limit || is_rejected {
            learned.raised_limits.remove(&wanted);
        }
        if let Some(doubled) = &self.doubled_limit {
            learned.raised_limits.insert(wanted, doubled.max_tokens);
        }
        learned
    }
}

impl Call {
    /// Returns the learned quirks with the changes that this call tries.
    pub(super) fn effective_quirks(&self, trial: &TentativeQuirks) -> LearnedQuirks {
        let (wanted, long) = (self.wanted_max_tokens(), self.request.long_reply_tokens);
        trial.applied_to(self.quirks.learned(), wanted, long, self.estimate_prompt_tokens())
    }

    /// Returns how to repeat the request if a stop sequence or the token limit seems to have ended the reply too early, or
    /// `None` to keep the reply.
    pub(super) fn plan_next_attempt(
        &self,
        completion: &Arc<Completion>,
        before: &Usage,
        trial: &TentativeQuirks,
    ) -> Option<TentativeQuirks> {
        let learned = self.quirks.learned();
        if completion.refused {
            return None;
        }
        if completion.is_empty()
            && completion.is_complete_per_server()
            && completion.stops_sent
            && !trial.match_stops_locally
        {
            if completion.has_reasoning() {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if learned.fruitless_retries >= MAX_FRUITLESS_RETRIES
                || !completion.stop_sequences.iter().any(|s| request::is_newline_stop(s))
            {
                return None;
            }
            // The stop sequence may also have ended reasoning that the server does not send.
            return Some(TentativeQuirks { match_stops_locally: true, ..trial.clone() });
        }
        if !trial.skip_newline_stop && self.is_cut_at_newline(completion) {
            return Some(TentativeQuirks { skip_newline_stop: true, ..trial.clone() });
        }
        let sent = completion
            .max_tokens
            .filter(|_| completion.has_hit_limit() && self.request.sampling.max_tokens.is_none())?;
        if completion.is_empty() {
            if learned.empty_despite_limit >= MAX_FRUITLESS_RETRIES {
                return None;
            }
            let (min_limit, how) = if sent < REASONING_MAX_TOKENS
                && !learned.rejects_limit(REASONING_MAX_TOKENS, self.estimate_prompt_tokens())
            {
                (TokenLimit::Tokens(REASONING_MAX_TOKENS), format!("with {REASONING_MAX_TOKENS}"))
            } else if learned.empty_without_limit {
                return None;
            } else {
                (TokenLimit::ServerDefault, "without a limit".to_owned())
            };
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used before the reply began; retrying {how}"
            ));
            return Some(TentativeQuirks { min_limit: Some(min_limit), ..trial.clone() });
        }
        if self.request.accept_truncated || trial.doubled_limit.is_some() {
            return None;
        }
        if trial.skip_newline_stop
            && self.may_be_reasoning(completion)
            && learned.empty_despite_limit < MAX_FRUITLESS_RETRIES
        {
            if trial.min_limit.is_some() || sent >= REASONING_MAX_TOKENS {
                return None;
            }
            self.send_notice(format!(
                "all {sent} tokens of max_tokens were used for text without an action, which may be reasoning; retrying \
                 with {REASONING_MAX_TOKENS}"
            ));
            return Some(TentativeQuirks {
                min_limit: Some(TokenLimit::Tokens(REASONING_MAX_TOKENS)),
                ..trial.clone()
            });
        }
        if self.has_complete_action(completion) {
            return None;
        }
        let limit = sent.saturating_mul(2);
        if learned.rejects_limit(limit, self.estimate_prompt_tokens()) {
            return None;
        }
        self.send_notice(format!("the reply was cut off at max_tokens {sent}; retrying with {limit}"));
        Some(TentativeQuirks {
            doubled_limit: Some(DoubledLimit {
                max_tokens: limit,
                truncated_reply: completion.clone(),
                other_usage: *before,
                failure: None,
            }),
            ..trial.clone()
        })
    }

    /// Records the limit that the server rejected and returns it; later calls send a smaller one. If the context was
    /// too small, this applies only to prompts at least as long as this one.
    pub(super) fn learn_rejected_limit(
        &self,
        failed: &FailedAttempt,
        trial: &TentativeQuirks,
    ) -> Option<u32> {
        let TokenLimit::Tokens(limit) = self.effective_quirks(trial).token_limit(self.wanted_max_tokens())
        else {
            return None;
        };
        let prompt =
            if failed.error.kind == FailureKind::TooLong { self.estimate_prompt_tokens() } else { 0 };
        self.quirks.update(|learned| {
            let least = learned.rejected_limits.entry(limit).or_insert(prompt);
            *least = prompt.min(*least);
        });
        Some(limit)
    }

    /// Returns how to repeat the request after the server rejected a limit larger than the configured one, with a
    /// notice. Returns `None` if the request was rejected for another reason.
    pub(super) fn plan_lower_limit(
        &self,
        failed: &FailedAttempt,
        trial: &TentativeQuirks,
    ) -> Option<(TentativeQuirks, String)> {
        let learned = self.effective_quirks(trial);
        let TokenLimit::Tokens(limit) = learned.token_limit(self.wanted_max_tokens()) else { return None };
        // With `min_limit` set, the server accepted a smaller limit earlier in this call, so the rejection concerns the
        // limit. A limit learned in another call proves nothing: the request may be rejected for any reason.
        let refused = failed.error.kind == FailureKind::TooLong
            || (trial.min_limit.is_some() && failed.may_concern_limit());
        if !refused || limit <= self.wanted_max_tokens() || self.request.sampling.max_tokens.is_some() {
            return None;
        }
        let host = self.endpoint.host();
        Some(if learned.min_limit.is_some() {
            let notice = format!("{host} rejected max_tokens {limit}; retrying without max_tokens");
            (TentativeQuirks { min_limit: Some(TokenLimit::ServerDefault), ..trial.clone() }, notice)
        } else {
            let wanted = self.wanted_max_tokens();
            let notice = format!("{host} rejected max_tokens {limit}; retrying with {wanted}");
            (TentativeQuirks { ignore_raised_limit: true, ..trial.clone() }, notice)
        })
    }

    /// Returns whether a newline stop, sent or applied here, seems to have ended the reply before it named an action.
    /// Stops that a person set are respected. After [`MAX_FRUITLESS_RETRIES`] the model seems to end its replies there
    /// by itself.
    pub(super) fn is_cut_at_newline(&self, completion: &Completion) -> bool {
        let Some(check) =
            self.request.newline_stop_check.filter(|_| self.request.sampling.user_field("stop").is_none())
        else {
            return false;
        };
        let ended = completion.stopped_locally || completion.is_complete_per_server();
        let may_be_cut = ended
            && !completion.ended_in_reasoning
            && completion.stop_sequences.iter().any(|stop| request::is_newline_stop(stop));
        may_be_cut
            && (check.is_cut_short)(&completion.text, &self.request.action_verbs)
            && self.quirks.learned().fruitless_retries < MAX_FRUITLESS_RETRIES
    }

    /// Returns whether the reply's complete lines name an action; cutting off the line after them then loses nothing.
    pub(super) fn has_complete_action(&self, completion: &Completion) -> bool {
        let lines = completion.text.rfind('\n').and_then(|end| completion.text.get(..end));
        self.request.newline_stop_check.is_some_and(|check| {
            lines.is_some_and(|lines| (check.action)(lines, &self.request.action_verbs).is_some())
        })
    }

    /// Returns whether the token limit may have cut off untagged reasoning: the chat template opened it, and the
    /// closing tag never arrived.
    pub(super) fn may_be_reasoning(&self, completion: &Completion) -> bool {
        completion.has_hit_limit()
            && self.request.newline_stop_check.is_some_and(|check| (check.may_be_reasoning)(&completion.text))
    }

    /// Learns from the last reply which of the tried changes helped.
    pub(super) fn learn_from_attempt(&self, completion: &Completion, trial: &TentativeQuirks) {
        let learned = self.quirks.learned();
        let role = self.request.role.name();
        if trial.match_stops_locally && !learned.match_stops_locally {
            let counted = completion.token_counts.is_some_and(|counts| counts.reasoning > 0);
            let used_up = trial.min_limit.is_some() || (completion.is_empty() && completion.has_hit_limit());
            if completion.has_reasoning() || counted || used_up {
                self.apply_change(&RequestChange::MatchStopsLocally);
            } else if !completion.is_empty() {
                // A single case may be coincidence, because no reasoning was seen.
                self.quirks.update(|learned| learned.empty_with_stops += 1);
                if self.quirks.learned().empty_with_stops >= EMPTY_REPLIES_TO_BLAME_STOPS {
                    self.apply_change(&RequestChange::EmptyWithStops);
                }
            } else {
                self.quirks.update(|learned| learned.fruitless_retries += 1);
            }
        }
        if trial.skip_newline_stop && !learned.skip_newline_stop {
            self.learn_about_newline_stop(completion);
        }
        if let Some(min_limit) = trial.min_limit {
            if completion.is_empty() || self.may_be_reasoning(completion) {
                let unbounded = completion.is_empty() && min_limit == TokenLimit::ServerDefault;
                self.quirks.update(|learned| {
                    learned.empty_despite_limit += 1;
                    learned.empty_without_limit |= unbounded;
                });
            } else if self.quirks.update(|learned| learned.min_limit = learned.min_limit.max(Some(min_limit)))
            {
                let (change, value) = match min_limit {
                    TokenLimit::Tokens(n) => (format!("max_tokens is at least {n}"), n.to_string()),
                    TokenLimit::ServerDefault => ("max_tokens is not sent".to_owned(), "off".to_owned()),
                };
                self.send_notice(format!(
                    "{change} for this model from now on (--set {role}.max_tokens={value} skips the first attempt)"
                ));
            }
        }
        let Some(DoubledLimit { max_tokens: limit, .. }) = trial.doubled_limit else { return };
        let truncated = self.truncation(completion);
        if truncated == Some(Truncation::Length) {
            self.send_notice(format!(
                "the reply was cut off again at max_tokens {limit}; --set {}={} allows a longer one",
                self.token_limit_setting(),
                limit.saturating_mul(2)
            ));
        }
        // What a long reply needs says nothing about the others.
        if truncated.is_some() || self.request.long_reply_tokens.is_some() {
            return;
        }
        let wanted = self.wanted_max_tokens();
        let raise = |learned: &mut LearnedQuirks| {
            learned.raised_limits.insert(wanted, limit);
        };
        if self.quirks.update(raise) {
            self.send_notice(format!(
                "max_tokens is {limit} instead of {wanted} for this model from now on \
                 (--set {role}.max_tokens={limit} skips the first attempt)"
            ));
        }
    }

    /// Learns about the newline stop from a reply without it: the stop cut something off if an action or reasoning
    /// follows a newline.
    pub(super) fn learn_about_newline_stop(&self, completion: &Completion) {
        if completion.has_unopened_closing_tag {
            return self.apply_change(&RequestChange::MatchStopsLocally);
        }
        let (text, learned) = (&completion.text, self.quirks.learned());
        let Some(check) = self.request.newline_stop_check else { return };
        let stops = request::stop_sequences(&self.endpoint, &learned, &self.request);
        let ends = stops.iter().filter(|s| request::is_newline_stop(s)).filter_map(|s| text.find(s.as_str()));
        let line = ends.min().and_then(|end| text.get(..end));
        let verbs = &*self.request.action_verbs;
        let action = (check.action)(text, verbs);
        // If the rest of the reply contains no other action, the line that looked like a sentence was the action.
        let cut_off = |line: &str| {
            (check.is_cut_short)(line, verbs) && action.is_some() && (check.action)(line, verbs) != action
        };
        if line.is_some_and(cut_off) && !self.may_be_reasoning(completion) {
            self.apply_change(&RequestChange::SkipNewlineStop);
        } else {
            self.quirks.update(|learned| learned.fruitless_retries += 1);
            self.send_notice(
                "retrying without the newline stop produced no action after the first line; keeping the stop"
                    .to_owned(),
            );
        }
    }

    /// Learns a change and sends a notice, unless another call has learned the same in the meantime.
    pub(super) fn apply_change(&self, change: &RequestChange) {
        if self.quirks.update(|learned| change.apply(learned)) {
            self.send_notice(change.describe(&self.endpoint, ""));
        }
    }

    /// Returns the limit that the request would have if nothing had been learned.
    pub(super) fn wanted_max_tokens(&self) -> u32 {
        request::wanted_max_tokens(&self.endpoint, &self.request)
    }
}
