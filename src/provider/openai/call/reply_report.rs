//! What a call reports of its replies: usage, truncation and notices.

use super::super::finish::Finish;
use super::super::reply_reader::Completion;
use super::Call;
use super::next_attempt::TentativeQuirks;
use crate::domain::common_settings::SUMMARY_TOKENS;
use crate::domain::{Truncation, Usage};
use crate::provider::Delta;
use crate::text;

impl Call {
    /// Returns why an accepted reply ended early, or `None` if it is complete.
    pub(super) fn truncation(&self, completion: &Completion) -> Option<Truncation> {
        if completion.refused {
            return Some(Truncation::Refusal);
        }
        match completion.server_finish()? {
            Finish::Complete | Finish::ToolCall => None,
            Finish::Length => (!self.has_complete_action(completion)).then_some(Truncation::Length),
            Finish::Filter => Some(Truncation::Filter),
            Finish::Interrupted | Finish::Unknown => Some(Truncation::Other),
        }
    }

    /// Sends a discarded reply again, because the one that should replace it did not arrive or is incomplete.
    pub(super) fn resend_reply(&self, completion: &Completion, other_usage: &Usage) {
        let _ = self.delta_sender.send(Delta::Restarted);
        if !completion.reasoning.is_empty() {
            let _ = self.delta_sender.send(Delta::Reasoning(completion.reasoning.clone()));
        }
        let _ = self.delta_sender.send(Delta::Text(completion.text.clone()));
        self.report_reply(completion, other_usage);
    }

    /// Adds the usage of a discarded reply to `before`, and to the `other_usage` of a reply that may be restored. Sends
    /// the sum now, because the next request may fail.
    pub(super) fn count_discarded_reply(
        &self,
        completion: &Completion,
        before: &mut Usage,
        trial: &mut TentativeQuirks,
    ) {
        let usage = self.usage(completion);
        for sum in
            std::iter::once(&mut *before).chain(trial.doubled_limit.as_mut().map(|d| &mut d.other_usage))
        {
            *sum = Usage::default().with_earlier(&usage.with_earlier(sum));
        }
        let _ = self.delta_sender.send(Delta::Usage(*before));
    }

    /// Sends everything about a reply besides its text: truncation, notices, and usage including `before`, that of
    /// the discarded replies.
    pub(super) fn report_reply(&self, completion: &Completion, before: &Usage) {
        if !completion.tool_calls.is_empty() {
            let _ = self.delta_sender.send(Delta::ToolCalls(completion.tool_calls.clone()));
        }
        let truncated = self.truncation(completion);
        let _ = truncated.map(|by| self.delta_sender.send(Delta::Truncated(by)));
        let _ = self.delta_sender.send(Delta::Usage(self.usage(completion).with_earlier(before)));
        if completion.has_finish_reason && self.quirks.limiter().should_announce() {
            self.send_notice(format!(
                "{} interrupts a reply when another request arrives; from now on it gets one request at a time \
                 (one_at_a_time = true in its profile sets this from the start)",
                self.endpoint.host()
            ));
        }
        let host = self.endpoint.host();
        if completion.has_unopened_closing_tag {
            // A stop sequence would end its reasoning, which would then look like a reply.
            let stops = !completion.stop_sequences.is_empty();
            if self.quirks.update(|l| {
                (l.starts_in_reasoning, l.match_stops_locally) = (true, l.match_stops_locally || stops);
            }) {
                self.send_notice(format!(
                    "replies from {host} start inside their reasoning, without an opening tag; from now on this is expected"
                ));
            }
        }
        let reason = completion.finish_reason_text();
        let estimate = self.quirks.learned().scale_estimate(self.estimate_prompt_tokens());
        match (completion.server_finish(), completion.is_empty()) {
            _ if completion.refused => {
                self.send_notice(format!("the model refused to answer: {}", text::truncate(&completion.text, 200, "…")));
            }
            (Some(Finish::Length), true) => self.send_notice(self.empty_reply_notice(completion)),
            (finish, true) if finish == Some(Finish::ToolCall) || !completion.tool_calls.is_empty() => self.send_notice(format!(
                "the model replied with a tool call (finish_reason {reason}), but no tools are offered: turn off tool calling \
                 in the server or its chat template, or choose another model"
            )),
            (Some(Finish::Filter), true) => {
                self.send_notice(format!("the reply is empty: the content filter of {host} blocked it (finish_reason {reason})"));
            }
            (_, true) if !completion.has_reasoning() => self.send_notice(format!(
                "the reply from {host} is empty (finish_reason {reason}); some servers reply like this if the prompt (about \
                 {estimate} tokens) exceeds their context"
            )),
            (_, true) => {
                self.send_notice(format!("the model reasoned but wrote no reply (finish_reason {reason})"));
            }
            (Some(Finish::Filter), false) => {
                self.send_notice(format!("the content filter of {host} cut the reply off (finish_reason {reason})"));
            }
            (Some(Finish::Unknown), false) if self.quirks.update(|l| l.has_unknown_finish_reason = true) => {
                self.send_notice(format!(
                    "{host} sends an unknown finish_reason {reason}: such a reply counts as cut off, and only its complete \
                     part is used (--set accept_truncated=true uses all of it)"
                ));
            }
            _ => {}
        }
    }

    /// Returns the name of the setting that limits this reply. A summary has one of its own, which doesn't lengthen other
    /// replies.
    pub(super) fn token_limit_setting(&self) -> String {
        match self.request.long_reply_tokens {
            Some(_) => SUMMARY_TOKENS.spec.name.to_owned(),
            None => format!("{}.max_tokens", self.request.role.name()),
        }
    }

    /// Explains an empty reply that reached its token limit.
    pub(super) fn empty_reply_notice(&self, completion: &Completion) -> String {
        let setting = self.token_limit_setting();
        let counted = completion.token_counts.map(|counts| counts.reply);
        // A limit set by the request itself is not a setting that a person could change.
        let own = self.request.sampling.max_tokens.is_some();
        let unbounded = self.quirks.learned().empty_without_limit;
        match (completion.max_tokens, counted) {
            (Some(limit), Some(reply)) if reply < u64::from(limit) / 2 => format!(
                "the reply is empty: it ended after {reply} tokens, before max_tokens ({limit}), because the model's context \
                 is full (finish_reason length)"
            ),
            (Some(limit), _) if own => format!(
                "the reply is empty: it reached its limit of {limit} token{} before it began (finish_reason length)",
                if limit == 1 { "" } else { "s" }
            ),
            (Some(limit), _) if unbounded => format!(
                "the reply is empty: all {limit} tokens of max_tokens were used before it began (finish_reason length), and \
                 there was no reply without max_tokens either; turn off the model's reasoning, or choose another model"
            ),
            (Some(limit), _) => format!(
                "the reply is empty: all {limit} tokens of max_tokens were used before it began (finish_reason length); \
                 --set {setting}=N allows more; turning off the model's reasoning also helps"
            ),
            (None, _) => "the reply is empty: all tokens that the server allows were used before it began (finish_reason \
                          length); turn off the model's reasoning, or choose another model"
                .to_owned(),
        }
    }

    /// Returns the usage of a reply: the server's counts, or else estimates.
    pub(super) fn usage(&self, completion: &Completion) -> Usage {
        let estimate = self.estimate_prompt_tokens();
        if completion.impossible_counts && self.quirks.update(|learned| learned.impossible_counts = true) {
            self.send_notice(format!(
                "{} reports impossible token counts; they are replaced by estimates",
                self.endpoint.host()
            ));
        }
        let usage = if let Some(counts) = completion.token_counts {
            let proxy = completion.counted_by_proxy || self.endpoint.counted_by_proxy;
            if !proxy {
                self.quirks.calibrate(estimate, counts.prompt);
            }
            Usage {
                prompt_tokens: counts.prompt,
                reply_tokens: counts.reply,
                reasoning_tokens: counts.reasoning.min(counts.reply),
                counted_by_proxy: proxy,
                ..Usage::default()
            }
        } else {
            let chars = completion.text.chars().count() + completion.reasoning_chars;
            Usage {
                prompt_tokens: self.quirks.learned().scale_estimate(estimate),
                reply_tokens: (chars as u64).div_ceil(4),
                reasoning_tokens: (completion.reasoning_chars as u64).div_ceil(4),
                estimated: true,
                ..Usage::default()
            }
        };
        let cost = self.endpoint.prices.map_or(0, |p| p.cost_nano(usage.prompt_tokens, usage.reply_tokens));
        Usage { cost_nano: cost, ..usage }
    }

    /// Returns the estimated number of tokens in the prompt: a quarter of its characters.
    pub(super) fn estimate_prompt_tokens(&self) -> u64 {
        let chars: usize = self.request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        (chars as u64).div_ceil(4)
    }

    pub(super) fn send_notice(&self, notice: String) {
        let clean = self.redactor.redact(&notice);
        let _ = self.delta_sender.send(Delta::Notice(if clean == notice { notice } else { clean }));
    }
}
