//! Replies that the server interrupted: how they are recognized, requested again and learned from.

use super::super::finish::Finish;
use super::super::learned_quirks::LearnedQuirks;
use super::super::reply_reader::Completion;
use super::super::retry;
use super::Call;
use super::next_attempt::TentativeQuirks;
use crate::provider::{Delta, FailureKind, ProviderError};
use std::sync::Arc;
use std::time::Duration;

/// How often a reply that the server interrupted is requested again.
pub(super) const MAX_INTERRUPTIONS: u32 = 2;

/// After this many consecutive calls that got a reply only without streaming, streaming is turned off.
pub(super) const MAX_USELESS_STREAMS: u32 = 2;

impl Call {
    /// Returns whether the server interrupted the reply: its `finish_reason` says so; its stream ended with `[DONE]`
    /// but no `finish_reason`; or its stream just ended while another request of this program was in flight. Servers end
    /// streams in the latter two ways when another request arrives.
    ///
    /// A few servers never send a `finish_reason`. That is assumed if a request without streaming returns the same
    /// text, or, if the server streams regardless, when the same text has arrived `MAX_INTERRUPTIONS + 2` times.
    pub(super) fn is_interrupted(&self, completion: &Completion, interrupted: &[Arc<Completion>]) -> bool {
        if completion.server_finish() == Some(Finish::Interrupted) {
            return true;
        }
        let known = self.quirks.learned().sends_finish_reason;
        if !completion.done_without_finish_reason
            || (known == Some(false) && completion.stream_error.is_none())
        {
            return false;
        }
        let last = interrupted.last().map(|earlier| earlier.text.as_str());
        let is_repeated = interrupted.len() as u32 > MAX_INTERRUPTIONS && have_same_text(interrupted);
        if is_repeated
            && known.is_none()
            && !completion.server_was_shared
            && last == Some(completion.text.as_str())
        {
            self.learn_no_finish_reasons();
            return false;
        }
        true
    }

    pub(super) fn learn_no_finish_reasons(&self) {
        if self.quirks.update(|learned| learned.sends_finish_reason = Some(false)) {
            self.quirks.limiter().set_one_at_a_time(false);
            self.send_notice(format!(
                "{} never sends a finish_reason; from now on [DONE] ends its replies",
                self.endpoint.host()
            ));
        }
    }

    /// Prepares the next request after the server interrupted these replies: changes how it is sent, and waits if
    /// needed.
    pub(super) async fn prepare_retry_after_interruption(
        &self,
        replies: &[Arc<Completion>],
        trial: &mut TentativeQuirks,
    ) {
        let Some(last) = replies.last() else { return };
        let (host, count) = (self.endpoint.host(), replies.len() as u32);
        let (shared, stream_broke) =
            (last.server_was_shared && last.done_without_finish_reason, last.stream_error.is_some());
        let unknown = self.quirks.learned().sends_finish_reason.is_none();
        trial.alone |= shared;
        // A reply in one piece cannot be partial.
        trial.without_stream |=
            count >= MAX_INTERRUPTIONS && unknown && replies.iter().all(|reply| !reply.server_was_shared);
        let how = match (stream_broke, trial.without_stream) {
            (true, _) => " with no other request",
            (_, true) => " without streaming",
            _ => "",
        };
        let times = if count > MAX_INTERRUPTIONS {
            "once more, as it may never send a finish_reason".to_owned()
        } else {
            format!("({count} of {MAX_INTERRUPTIONS})")
        };
        let what = describe_interruption(last);
        self.send_notice(format!("{host} interrupted the reply: {what}; retrying{how} {times}"));
        let _ = self.delta_sender.send(Delta::Restarted);
        if shared && !stream_broke {
            // Otherwise this request would interrupt the one that interrupted it.
            self.quirks.limiter().set_one_at_a_time(true);
        } else if !shared
            && let Some(wait) =
                retry::next_wait(&self.endpoint.retry, self.request.seed, count, None, Duration::ZERO)
        {
            tokio::time::sleep(wait).await;
        }
    }

    /// Learns about interrupted streams from the complete reply that followed them.
    pub(super) fn learn_from_interruptions(&self, completion: &Completion, interrupted: &[Arc<Completion>]) {
        let Some(first) = interrupted.first() else { return };
        if first.stream_error.is_some() {
            // The same request succeeded without another one beside it.
            self.quirks.limiter().count_interruption(first.request_number);
        } else if !completion.streamed && !completion.done_without_finish_reason {
            let same = have_same_text(interrupted) && first.text.trim() == completion.text.trim();
            if same && self.quirks.learned().sends_finish_reason.is_none() {
                self.learn_no_finish_reasons();
            } else {
                self.count_useless_stream();
            }
        }
    }

    /// Counts a call that got a reply only without streaming. Returns whether this turned streaming off, after a
    /// notice.
    pub(super) fn count_useless_stream(&self) -> bool {
        let count = |learned: &mut LearnedQuirks| {
            learned.failed_streams = learned.failed_streams.saturating_add(1);
            learned.without_stream |= learned.failed_streams >= MAX_USELESS_STREAMS;
        };
        let was = self.quirks.learned().without_stream;
        self.quirks.update(count);
        let new = !was && self.quirks.learned().without_stream;
        if new {
            self.send_notice(format!(
                "{} replies only without streaming; streaming is off for it from now on",
                self.endpoint.host()
            ));
        }
        new
    }

    pub(super) fn interruption_error(&self, completion: &Completion) -> ProviderError {
        let what =
            format!("{} interrupted the reply: {}", self.endpoint.host(), describe_interruption(completion));
        let (what, next) = if completion.done_without_finish_reason {
            let next = "retry; if other programs use this server, let it finish one request at a time";
            (format!("{what}; another request may have interrupted it"), next)
        } else {
            (what, "retry later; check the server's log or status page")
        };
        ProviderError::new(what, next).with_kind(FailureKind::Interrupted)
    }
}

/// Describes how a reply shows that the server interrupted it.
pub(super) fn describe_interruption(completion: &Completion) -> String {
    if completion.stream_error.is_some() {
        "the stream ended while the server had another request".to_owned()
    } else if completion.done_without_finish_reason {
        "[DONE] without a finish_reason".to_owned()
    } else {
        format!("finish_reason {}", completion.finish_reason_text())
    }
}

/// Returns whether the connection or the stream ended before the reply did.
pub(super) fn is_interruption(error: &ProviderError) -> bool {
    use FailureKind::{EmptyReply, Interrupted, Unreachable};
    error.status.is_none() && matches!(error.kind, EmptyReply | Interrupted | Unreachable)
}

/// Returns whether all replies have the same text and none ran while another request of this program was in flight.
pub(super) fn have_same_text(replies: &[Arc<Completion>]) -> bool {
    let first = replies.first().map_or("", |first| first.text.as_str());
    !first.is_empty()
        && replies
            .iter()
            .all(|reply| reply.done_without_finish_reason && !reply.server_was_shared && reply.text == first)
}
