//! A provider that answers from a function: deterministic replies for tests and benchmarks.

use super::{Delta, Provider, ProviderError, Request};
use crate::domain::CallPhase;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;

/// Maps a request to its reply or failure.
pub type Script = Arc<dyn Fn(&Request) -> Result<String, ProviderError> + Send + Sync>;

/// A provider that answers from a function.
#[derive(Clone)]
pub struct ScriptedProvider {
    script: Script,
}

impl ScriptedProvider {
    /// Creates a provider that answers every request with `script`.
    pub fn new(script: impl Fn(&Request) -> Result<String, ProviderError> + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script) }
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> String {
        "script".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let reply = (self.script)(&request).map(Delta::Text);
        stream::iter([Ok(Delta::Phase(CallPhase::Answering)), reply]).boxed()
    }
}
