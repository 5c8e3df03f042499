//! A cache of replies on disk: the same request to the same endpoint gets the same reply, at no cost.
//!
//! The key is a hash of everything that a reply may depend on: the endpoint without its secrets, the prompt's messages
//! with their roles, the seed, the stop sequences and the sampling overrides. Each reply is one file, written atomically.

use super::{Delta, Provider, ProviderError, Request, RequestPreview};
use crate::domain::{CallPhase, ToolCall, Truncation, Usage, hex};
use crate::files;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Version of the file format; files of other versions are ignored.
const FORMAT_VERSION: u32 = 1;

/// How a cache is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    #[default]
    Off,
    /// Returns cached replies; new ones are not cached.
    Read,
    /// Returns cached replies and caches new ones.
    ReadWrite,
    /// Returns cached replies and fails if there is none, without calling the inner provider.
    Only,
}

/// A provider that caches the replies of another.
#[derive(Clone)]
pub struct CachedProvider {
    inner: Arc<dyn Provider>,
    identity: String,
    dir: PathBuf,
    mode: CacheMode,
}

#[derive(Default, Serialize, Deserialize)]
struct CacheEntry {
    v: u32,
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncation>,
    usage: Usage,
}

impl CachedProvider {
    /// Caches the replies of `inner` in the folder `dir`. `identity` holds everything about `inner` that a reply
    /// depends on.
    pub fn new(inner: Arc<dyn Provider>, identity: String, dir: &Path, mode: CacheMode) -> Self {
        Self { inner, identity, dir: dir.to_owned(), mode }
    }

    /// Returns the path of the file that caches the reply to a request.
    fn entry_path(&self, request: &Request) -> PathBuf {
        let mut hash = Sha256::new();
        // Each part is preceded by its length, so that different requests never hash the same bytes.
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&FORMAT_VERSION.to_le_bytes());
        part(self.identity.as_bytes());
        part(&request.seed.to_le_bytes());
        part(format!("{:?} {}", request.role, request.sampling.identity()).as_bytes());
        for stop in &request.stop {
            part(stop.as_bytes());
        }
        part(b"");
        // Hashed only if set, so that entries written before these settings existed are still found.
        if request.accept_truncated {
            part(b"accept truncated");
        }
        if let Some(tokens) = request.long_reply_tokens {
            part(format!("long reply {tokens}").as_bytes());
        }
        for segment in &request.prompt.segments {
            part(format!("{:?}", segment.message_role).as_bytes());
            part(segment.text.as_bytes());
        }
        let name = hex(&hash.finalize());
        self.dir.join(name.get(..2).unwrap_or("")).join(format!("{name}.json"))
    }
}

/// Up to this many bytes a reply is read and written at once, which takes no longer than a few pieces of a stream. Then
/// calls made at the same time are answered in their order, and a run with cached replies stays deterministic.
const SHORT_BYTES: u64 = 64 << 10;

/// Reads a cached reply. The streams of all calls share one thread, which must not parse megabytes: a long reply is read on
/// a thread for blocking work. Returns `None` if the file is missing or unreadable.
async fn load_entry(path: PathBuf) -> Option<CacheEntry> {
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > SHORT_BYTES) {
        return tokio::task::spawn_blocking(move || read_entry(&path)).await.ok().flatten();
    }
    read_entry(&path)
}

/// Writes a reply, a long one like [`load_entry`].
async fn store_entry(path: PathBuf, entry: CacheEntry) -> std::io::Result<()> {
    if (entry.text.len() + entry.reasoning.len()) as u64 > SHORT_BYTES {
        let written = tokio::task::spawn_blocking(move || write_entry(&path, &entry)).await;
        return written.map_err(std::io::Error::other)?;
    }
    write_entry(&path, &entry)
}

fn read_entry(path: &Path) -> Option<CacheEntry> {
    let bytes = files::read(path, MAX_ENTRY_BYTES).ok()?;
    serde_json::from_slice::<CacheEntry>(&bytes).ok().filter(|entry| entry.v == FORMAT_VERSION)
}

/// Maximum size of a cache file, in bytes.
const MAX_ENTRY_BYTES: u64 = 64 << 20;

/// Writes a temporary file and renames it, so that no reader ever sees half a reply.
fn write_entry(path: &Path, entry: &CacheEntry) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    files::create_folder(folder)?;
    files::replace_unsynced(path, &serde_json::to_vec(entry)?)
}

impl Provider for CachedProvider {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn setting_deviations(&self) -> Vec<String> {
        self.inner.setting_deviations()
    }

    fn restore_quirks(&self, unsent: &[String]) {
        self.inner.restore_quirks(unsent);
    }

    fn contains_secret(&self, text: &str) -> bool {
        self.inner.contains_secret(text)
    }

    fn call_price_nano(&self, prompt_tokens: u64, reply_tokens: u64) -> u64 {
        self.inner.call_price_nano(prompt_tokens, reply_tokens)
    }

    fn preview_request(&self, request: &Request) -> RequestPreview {
        self.inner.preview_request(request)
    }

    fn has_write_cache(&self) -> bool {
        self.mode == CacheMode::ReadWrite
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if self.mode == CacheMode::Off {
            return self.inner.stream(request);
        }
        let (provider, path) = (self.clone(), self.entry_path(&request));
        // With `Only` there is no other source, even for a reply that was unusable.
        let reads_cache = !request.refresh_cache || self.mode == CacheMode::Only;
        let reply = async move {
            let cached = if reads_cache { load_entry(path.clone()).await } else { None };
            match cached {
                Some(entry) => entry.into_stream(),
                None => provider.stream_uncached(request, path),
            }
        };
        reply.flatten_stream().boxed()
    }
}

impl CacheEntry {
    /// Streams the reply, at no cost.
    fn into_stream(self) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let usage = Usage { cached: true, cost_nano: 0, ..self.usage };
        let pieces = [
            Some(Delta::Phase(CallPhase::Answering)),
            (!self.reasoning.is_empty()).then_some(Delta::Reasoning(self.reasoning)),
            Some(Delta::Text(self.text)),
            (!self.tool_calls.is_empty()).then_some(Delta::ToolCalls(self.tool_calls)),
            self.truncated.map(Delta::Truncated),
            Some(Delta::Usage(usage)),
        ];
        stream::iter(pieces.into_iter().flatten().map(Ok)).boxed()
    }
}

impl CachedProvider {
    /// Streams a reply that isn't cached, and caches it at `path` if the mode says so.
    fn stream_uncached(
        &self,
        request: Request,
        path: PathBuf,
    ) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if self.mode == CacheMode::Only {
            let message = format!(
                "no cached reply of {} to this request (prompt, seed and sampling) in {}",
                self.inner.name(),
                self.dir.display()
            );
            let error = ProviderError::new(
                message,
                "call the model with --cache read-write, choose another actor (--actor), or enter the action yourself",
            );
            return stream::once(std::future::ready(Err(error))).boxed();
        }
        let reply = self.inner.stream(request);
        if self.mode == CacheMode::Read {
            return reply;
        }
        let entry = CacheEntry { v: FORMAT_VERSION, ..CacheEntry::default() };
        stream::unfold((reply, entry, path, false), |(mut reply, mut entry, path, mut failed)| async move {
            let Some(piece) = reply.next().await else {
                if failed {
                    return None;
                }
                let error = store_entry(path.clone(), std::mem::take(&mut entry)).await.err()?;
                let notice = format!("could not cache the reply in {}: {error}", path.display());
                return Some((Ok(Delta::Notice(notice)), (reply, entry, path, true)));
            };
            match &piece {
                Ok(Delta::Text(text)) => entry.text.push_str(text),
                Ok(Delta::Reasoning(text)) => entry.reasoning.push_str(text),
                Ok(Delta::WasReasoning) => entry.reasoning.push_str(&std::mem::take(&mut entry.text)),
                Ok(Delta::Restarted) => {
                    entry.text.clear();
                    entry.reasoning.clear();
                    entry.tool_calls.clear();
                    entry.truncated = None;
                }
                Ok(Delta::ToolCalls(calls)) => entry.tool_calls.clone_from(calls),
                Ok(Delta::Truncated(reason)) => entry.truncated = Some(*reason),
                Ok(Delta::Usage(usage)) => entry.usage = *usage,
                Ok(Delta::Phase(_) | Delta::Notice(_) | Delta::KeepAlive) => {}
                Err(_) => failed = true,
            }
            Some((piece, (reply, entry, path, failed)))
        })
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use tokio::runtime::Builder;

    /// Answers every request with the same text.
    struct Says(String);

    impl Provider for Says {
        fn name(&self) -> String {
            "toy".to_owned()
        }

        fn stream(&self, _: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
            stream::iter([Ok(Delta::Text(self.0.clone()))]).boxed()
        }
    }

    /// Regression: a slow disk stopped the thread that all streams share.
    #[test]
    fn long_replies_are_read_and_written_beside_other_streams() {
        let dir = tempfile::tempdir().unwrap();
        let provider = |text: &str, mode| {
            CachedProvider::new(Arc::new(Says(text.repeat(30_000))), String::new(), dir.path(), mode)
        };
        let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        // The disk hangs: the only thread for blocking work is occupied.
        let hang = || {
            let (release, hung) = channel::<()>();
            runtime.spawn_blocking(move || hung.recv());
            release
        };
        runtime.block_on(async {
            let mut written = provider("old", CacheMode::ReadWrite).stream(Request::default());
            assert!(matches!(written.next().await, Some(Ok(Delta::Text(_)))), "nothing is cached yet");
            let disk = hang();
            assert!(written.next().now_or_never().is_none(), "the write waits elsewhere");
            drop(disk);
            while written.next().await.is_some() {}
            let disk = hang();
            let mut read = provider("new", CacheMode::Only).stream(Request::default());
            assert!(read.next().now_or_never().is_none(), "the read waits elsewhere");
            drop(disk);
            let pieces: Vec<Delta> = read.filter_map(|piece| async { piece.ok() }).collect().await;
            assert!(pieces.contains(&Delta::Text("old".repeat(30_000))));
        });
    }
}
