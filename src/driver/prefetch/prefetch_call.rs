//! A prefetch: a model call made before it is needed, and its progress.

use crate::domain::{ModelRole, Usage};
use crate::driver::call_thread::CallThread;
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// A model call made before it is needed.
pub(in crate::driver) struct PrefetchCall {
    /// Its number in the journal.
    pub(super) number: u64,
    request: Request,
    pieces: UnboundedReceiver<Result<Delta, ProviderError>>,
    progress: Arc<Mutex<PrefetchProgress>>,
    task: JoinHandle<()>,
}

/// The progress of a prefetch.
#[derive(Default)]
struct PrefetchProgress {
    /// Characters of the request, from which its cost is estimated until the server reports it.
    prompt_chars: u64,
    reply_chars: u64,
    usage: Option<Usage>,
    has_failed: bool,
}

impl PrefetchCall {
    /// Starts the call. At its end `on_done` gets its cost: `Ok` if the reply is complete, `Err` if the call failed.
    pub(super) fn start(
        thread: &CallThread,
        provider: &Arc<dyn Provider>,
        request: Request,
        number: u64,
        on_done: impl FnOnce(Result<Usage, Usage>) + Send + 'static,
    ) -> Self {
        // Unbounded, because it holds the reply until somebody wants it; the reply's length is limited.
        let (sender, pieces) = unbounded_channel();
        let chars: usize = request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        let progress = Arc::new(Mutex::new(PrefetchProgress {
            prompt_chars: chars as u64,
            ..PrefetchProgress::default()
        }));
        let (provider, shared, sent_request) = (provider.clone(), progress.clone(), request.clone());
        let task = thread.spawn(async move {
            let call = async {
                let mut stream = provider.stream(sent_request);
                while let Some(piece) = stream.next().await {
                    lock(&shared).record(&piece);
                    // The receiver may be gone; the reply still goes into the cache.
                    let _ = sender.send(Ok(piece?));
                }
                Ok(())
            };
            // After a panic a partial reply must not look complete.
            let panicked = ProviderError::new("the part of this program that calls it panicked", "ask again");
            let failed = AssertUnwindSafe(call).catch_unwind().await.unwrap_or(Err(panicked)).err();
            let usage = {
                let mut progress = lock(&shared);
                progress.has_failed |= failed.is_some();
                progress.usage()
            };
            on_done(if failed.is_some() { Err(usage) } else { Ok(usage) });
            // Sent last, because the receiver then calls again, and may get the reply at the same moment.
            if let Some(error) = failed {
                let _ = sender.send(Err(error));
            }
        });
        Self { number, request, pieces, progress, task }
    }

    pub(super) fn role(&self) -> ModelRole {
        self.request.role
    }

    /// Returns whether both are the same request. Ignores the call ids and the ids of the lessons in the prompt: they
    /// depend on event numbers, which differ in the lookahead.
    pub(super) fn is_same_request(&self, other: &Request) -> bool {
        let this = &self.request;
        let (mine, theirs) = (&this.prompt.segments, &other.prompt.segments);
        (this.role, this.seed, &this.stop, &this.sampling)
            == (other.role, other.seed, &other.stop, &other.sampling)
            && mine.len() == theirs.len()
            && mine
                .iter()
                .zip(theirs)
                .all(|(a, b)| (a.label, a.message_role, &a.text) == (b.label, b.message_role, &b.text))
    }

    pub(super) fn has_failed(&self) -> bool {
        lock(&self.progress).has_failed
    }

    /// Returns all its deltas: those that have arrived and those that will.
    pub(in crate::driver) fn into_stream(self) -> BoxStream<'static, Result<Delta, ProviderError>> {
        stream::unfold(self, |mut call| async move {
            let piece = call.pieces.recv().await?;
            Some((piece, call))
        })
        .boxed()
    }

    /// Returns its cost so far: as reported, otherwise estimated; zero for a failed call without a report.
    pub(super) fn usage(&self) -> Usage {
        lock(&self.progress).usage()
    }
}

impl Drop for PrefetchCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(progress: &Mutex<PrefetchProgress>) -> std::sync::MutexGuard<'_, PrefetchProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PrefetchProgress {
    fn record(&mut self, piece: &Result<Delta, ProviderError>) {
        match piece {
            Ok(Delta::Text(text) | Delta::Reasoning(text)) => {
                self.reply_chars += text.chars().count() as u64;
            }
            Ok(Delta::Usage(usage)) => self.usage = Some(*usage),
            // A reported cost need not be estimated.
            Ok(Delta::Restarted) if self.usage.is_some() => self.reply_chars = 0,
            Ok(
                Delta::Phase(_)
                | Delta::Notice(_)
                | Delta::KeepAlive
                | Delta::WasReasoning
                | Delta::Restarted
                | Delta::ToolCalls(_)
                | Delta::Truncated(_),
            ) => {}
            Err(_) => self.has_failed = true,
        }
    }

    fn usage(&self) -> Usage {
        let last = Usage {
            prompt_tokens: self.prompt_chars.div_ceil(4),
            reply_tokens: self.reply_chars.div_ceil(4),
            estimated: true,
            ..Usage::default()
        };
        match self.usage {
            Some(earlier) if earlier.has_only_earlier() && !self.has_failed => last.with_earlier(&earlier),
            Some(usage) => usage,
            None if self.has_failed => Usage::default(),
            None => last,
        }
    }
}
