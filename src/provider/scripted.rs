//! A provider that answers from a function: deterministic replies for tests and benchmarks.

use super::{Delta, Phase, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;

/// What a script makes of a request: the answer, or why there is none.
pub type Script = Arc<dyn Fn(&Request) -> Result<String, ProviderError> + Send + Sync>;

/// Answers from a script.
#[derive(Clone)]
pub struct ScriptedProvider {
    script: Script,
}

impl ScriptedProvider {
    /// A provider that answers with what the script says.
    pub fn new(script: impl Fn(&Request) -> Result<String, ProviderError> + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script) }
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> String {
        "script".to_owned()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let answer = (self.script)(&request).map(Delta::Text);
        stream::iter([Ok(Delta::Phase(Phase::Answering)), answer]).boxed()
    }
}
