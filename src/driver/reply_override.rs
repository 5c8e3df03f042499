//! Reply overrides: a recorded reply instead of the model's, for a single call that a person chose.

use super::DriverError;
use crate::domain::ModelRole;
use crate::provider::{Delta, FailureKind, Provider, ProviderError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;

/// Opens the source a person chose for a role: `recorded:SESSION`, or `cache` for the cached replies of the role's
/// model.
pub type ReplyOverride = Arc<dyn Fn(ModelRole, &str) -> Result<Arc<dyn Provider>, DriverError> + Send + Sync>;

/// A provider that opens its source outside the driver's thread, because reading a recording can take long.
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
        let (open_source, role, source) = (self.open_source.clone(), self.role, self.source.clone());
        let opened = async move {
            let Some(open_source) = open_source else {
                return error_stream(format!("{source}: recordings are not available here"), "act yourself");
            };
            let name = source.clone();
            match tokio::task::spawn_blocking(move || open_source(role, &name)).await {
                Ok(Ok(provider)) => provider.stream(request),
                Ok(Err(error)) => driver_error_stream(error),
                Err(_) => error_stream(format!("{source}: reading it panicked"), "choose another recording"),
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
