//! A recorded reply in the place of a model that failed: whom a person named is asked this one question.

use super::DriverError;
use crate::domain::ModelRole;
use crate::provider::{Delta, FailureKind, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;

/// Opens what a person named for a role: `recorded:SESSION`, or `cache` for the answers kept of the role's model.
pub type ReplyOverride = Arc<dyn Fn(ModelRole, &str) -> Result<Arc<dyn Provider>, DriverError> + Send + Sync>;

/// The reply is looked for away from the driver: a recording can be long, and others must not wait for it to be read.
pub(super) struct OverrideProvider {
    pub(super) source: String,
    pub(super) role: ModelRole,
    pub(super) open_source: Option<ReplyOverride>,
}

impl Provider for OverrideProvider {
    fn name(&self) -> String {
        self.source.clone()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (open, asked, source) = (self.open_source.clone(), self.role, self.source.clone());
        let opened = async move {
            let Some(open) = open else {
                return error_stream(format!("{source}: recordings are not to be had here"), "act by hand");
            };
            let named = source.clone();
            match tokio::task::spawn_blocking(move || open(asked, &named)).await {
                Ok(Ok(provider)) => provider.stream(request),
                Ok(Err(error)) => driver_error_stream(error),
                Err(_) => {
                    error_stream(format!("{source}: the reading of it broke"), "choose another recording")
                }
            }
        };
        stream::once(opened).flatten().boxed()
    }
}

fn driver_error_stream(error: DriverError) -> BoxStream<'static, Result<Delta, ProviderError>> {
    match error {
        DriverError::Refused(why, next) => error_stream(why, &next),
        other => error_stream(other.to_string(), "choose another recording"),
    }
}

fn error_stream(why: String, next: &str) -> BoxStream<'static, Result<Delta, ProviderError>> {
    let error = ProviderError::new(why, next).with_kind(FailureKind::NoAnswer);
    stream::once(std::future::ready(Err(error))).boxed()
}
