//! A question under way ahead of its time, and what has come of it so far.

use crate::domain::{ModelRole, Usage};
use crate::driver::call_thread::CallThread;
use crate::provider::{Delta, Provider, ProviderError, Request};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// A question under way ahead of its time.
pub(in crate::driver) struct PrefetchCall {
    /// Its number in the journal.
    pub(super) number: u64,
    request: Request,
    pieces: UnboundedReceiver<Result<Delta, ProviderError>>,
    progress: Arc<Mutex<PrefetchProgress>>,
    task: JoinHandle<()>,
}

/// What has come of an early answer so far.
#[derive(Default)]
struct PrefetchProgress {
    /// Letters of the question: what it comes to, as long as nobody has counted.
    prompt_chars: u64,
    reply_chars: u64,
    usage: Option<Usage>,
    has_failed: bool,
}

impl PrefetchCall {
    /// Asks; `over` is told at the end what the answer cost when all of it has come, or, as an error, what one cost that failed.
    pub(super) fn start(
        thread: &CallThread,
        provider: &Arc<dyn Provider>,
        request: Request,
        number: u64,
        over: impl FnOnce(Result<Usage, Usage>) + Send + 'static,
    ) -> Self {
        let (tell, pieces) = unbounded_channel();
        let letters: usize = request.prompt.segments.iter().map(|s| s.text.chars().count()).sum();
        let heard = Arc::new(Mutex::new(PrefetchProgress {
            prompt_chars: letters as u64,
            ..PrefetchProgress::default()
        }));
        let (provider, noted, asked) = (provider.clone(), heard.clone(), request.clone());
        let task = thread.spawn(async move {
            let whole = async {
                let mut stream = provider.stream(asked);
                while let Some(piece) = stream.next().await {
                    lock(&noted).record(&piece);
                    // Whoever wanted it may have gone; it still goes into the cache.
                    let _ = tell.send(Ok(piece?));
                }
                Ok(())
            };
            // What a panic leaves of an answer must not look like the whole of it.
            let broken =
                ProviderError::new("the part of this program that asks broke (a panic)", "ask again");
            let failed = AssertUnwindSafe(whole).catch_unwind().await.unwrap_or(Err(broken)).err();
            let usage = {
                let mut heard = lock(&noted);
                heard.has_failed |= failed.is_some();
                heard.usage()
            };
            over(if failed.is_some() { Err(usage) } else { Ok(usage) });
            // Told last: whoever reads on from it asks anew, and may have the answer in the same moment.
            if let Some(error) = failed {
                let _ = tell.send(Err(error));
            }
        });
        Self { number, request, pieces, progress: heard, task }
    }

    pub(super) fn role(&self) -> ModelRole {
        self.request.role
    }

    /// Another question than its call's number, and than the names of the lessons in it: those go by numbers of events, of
    /// which the shadow has others.
    pub(super) fn is_same_request(&self, other: &Request) -> bool {
        let this = &self.request;
        let (mine, its) = (&this.prompt.segments, &other.prompt.segments);
        (this.role, this.seed, &this.stop, &this.sampling)
            == (other.role, other.seed, &other.stop, &other.sampling)
            && mine.len() == its.len()
            && mine
                .iter()
                .zip(its)
                .all(|(a, b)| (a.label, a.message_role, &a.text) == (b.label, b.message_role, &b.text))
    }

    pub(super) fn has_failed(&self) -> bool {
        lock(&self.progress).has_failed
    }

    /// Its pieces from the first on, those that have come and those that will.
    pub(in crate::driver) fn into_stream(self) -> BoxStream<'static, Result<Delta, ProviderError>> {
        stream::unfold(self, |mut early| async move {
            let piece = early.pieces.recv().await?;
            Some((piece, early))
        })
        .boxed()
    }

    /// What it has cost by now: as counted, else about; a failure that nobody counted has cost nothing that is known.
    pub(super) fn usage(&self) -> Usage {
        lock(&self.progress).usage()
    }
}

impl Drop for PrefetchCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(heard: &Mutex<PrefetchProgress>) -> std::sync::MutexGuard<'_, PrefetchProgress> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PrefetchProgress {
    fn record(&mut self, piece: &Result<Delta, ProviderError>) {
        match piece {
            Ok(Delta::Text(words) | Delta::Reasoning(words)) => {
                self.reply_chars += words.chars().count() as u64;
            }
            Ok(Delta::Usage(usage)) => self.usage = Some(*usage),
            // What is counted need not be estimated.
            Ok(Delta::Restarted) if self.usage.is_some() => self.reply_chars = 0,
            Ok(
                Delta::Phase(_)
                | Delta::Notice(_)
                | Delta::KeepAlive
                | Delta::WasReasoning
                | Delta::Restarted
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
