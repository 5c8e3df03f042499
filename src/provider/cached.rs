//! Answers kept on disk: exactly the same question to exactly the same endpoint gets the same answer, at no cost.
//!
//! A key is a hash of all that an answer may depend on: the endpoint without its secrets, who speaks which words, the seed,
//! the stop texts and the wishes. One file an answer, whole or not there.

use super::{Delta, Phase, Provider, ProviderError, Request};
use crate::domain::{Truncation, Usage, hex};
use crate::files;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the files; others are not read.
const FORMAT_VERSION: u32 = 1;

/// What a cache does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Nothing.
    #[default]
    Off,
    /// Known answers are given; new ones are not kept.
    Read,
    /// Known answers are given, new ones are kept.
    ReadWrite,
    /// Known answers are given, and nobody is asked for others.
    Only,
}

/// A provider whose answers are kept.
#[derive(Clone)]
pub struct CachedProvider {
    inner: Arc<dyn Provider>,
    identity: String,
    dir: PathBuf,
    mode: CacheMode,
}

#[derive(Serialize, Deserialize)]
struct CacheEntry {
    v: u32,
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncation>,
    usage: Usage,
}

impl CachedProvider {
    /// Keeps the answers of a provider in a folder; `identity` holds all of it that an answer depends on.
    pub fn new(inner: Arc<dyn Provider>, identity: String, dir: &Path, mode: CacheMode) -> Self {
        Self { inner, identity, dir: dir.to_owned(), mode }
    }

    /// The file of a question.
    fn entry_path(&self, request: &Request) -> PathBuf {
        let mut hash = Sha256::new();
        // Every part with its length, so that no two questions are one text.
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
        // Answers that were kept before there was such a choice are found again.
        if request.accept_truncated {
            part(b"accept truncated");
        }
        for segment in &request.prompt.segments {
            part(format!("{:?}", segment.message_role).as_bytes());
            part(segment.text.as_bytes());
        }
        let name = hex(&hash.finalize());
        self.dir.join(name.get(..2).unwrap_or("")).join(format!("{name}.json"))
    }
}

/// A file that is not there or cannot be read is no answer.
fn read_entry(path: &Path) -> Option<CacheEntry> {
    let bytes = files::read(path, MAX_ENTRY_BYTES).ok()?;
    serde_json::from_slice::<CacheEntry>(&bytes).ok().filter(|k| k.v == FORMAT_VERSION)
}

/// The longest kept answer that is read, in bytes.
const MAX_ENTRY_BYTES: u64 = 64 << 20;

/// Writes beside and renames, so that nobody ever reads half an answer.
fn write_entry(path: &Path, kept: &CacheEntry) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    files::create_folder(folder)?;
    files::replace_unsynced(path, &serde_json::to_vec(kept)?)
}

impl Provider for CachedProvider {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn unsent_settings(&self) -> Vec<String> {
        self.inner.unsent_settings()
    }

    fn restore_quirks(&self, unsent: &[String]) {
        self.inner.restore_quirks(unsent);
    }

    fn contains_secret(&self, text: &str) -> bool {
        self.inner.contains_secret(text)
    }

    fn has_write_cache(&self) -> bool {
        self.mode == CacheMode::ReadWrite
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        if self.mode == CacheMode::Off {
            return self.inner.stream(request);
        }
        let path = self.entry_path(&request);
        // Who may ask nobody has only what is kept.
        let known =
            if request.refresh_cache && self.mode != CacheMode::Only { None } else { read_entry(&path) };
        if let Some(kept) = known {
            let usage = Usage { cached: true, cost_nano: 0, ..kept.usage };
            let pieces = [
                Some(Delta::Phase(Phase::Answering)),
                (!kept.reasoning.is_empty()).then_some(Delta::Reasoning(kept.reasoning)),
                Some(Delta::Text(kept.text)),
                kept.truncated.map(Delta::Truncated),
                Some(Delta::Usage(usage)),
            ];
            return stream::iter(pieces.into_iter().flatten().map(Ok)).boxed();
        }
        if self.mode == CacheMode::Only {
            let what = format!(
                "no answer to exactly this request (prompt, seed and sampling) of {} is kept in {}",
                self.inner.name(),
                self.dir.display()
            );
            let error = ProviderError::new(what, "try again, take a recorded session, or act by hand");
            return stream::once(std::future::ready(Err(error))).boxed();
        }
        let answer = self.inner.stream(request);
        if self.mode == CacheMode::Read {
            return answer;
        }
        let kept = CacheEntry {
            v: FORMAT_VERSION,
            text: String::new(),
            reasoning: String::new(),
            truncated: None,
            usage: Usage::default(),
        };
        stream::unfold((answer, kept, path, false), |(mut answer, mut kept, path, mut failed)| async move {
            let Some(piece) = answer.next().await else {
                if failed {
                    return None;
                }
                let notice = write_entry(&path, &kept).err()?;
                let words = format!("{}: the answer was not kept: {notice}", path.display());
                return Some((Ok(Delta::Notice(words)), (answer, kept, path, true)));
            };
            match &piece {
                Ok(Delta::Text(words)) => kept.text.push_str(words),
                Ok(Delta::Reasoning(words)) => kept.reasoning.push_str(words),
                Ok(Delta::WasReasoning) => kept.reasoning.push_str(&std::mem::take(&mut kept.text)),
                Ok(Delta::Restarted) => {
                    kept.text.clear();
                    kept.reasoning.clear();
                    kept.truncated = None;
                }
                Ok(Delta::Truncated(by)) => kept.truncated = Some(*by),
                Ok(Delta::Usage(usage)) => kept.usage = *usage,
                Ok(Delta::Phase(_) | Delta::Notice(_) | Delta::KeepAlive) => {}
                Err(_) => failed = true,
            }
            Some((piece, (answer, kept, path, failed)))
        })
        .boxed()
    }
}
