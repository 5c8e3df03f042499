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
pub(super) struct StandingIn {
    pub(super) source: String,
    pub(super) asked: ModelRole,
    pub(super) open: Option<ReplyOverride>,
}

impl Provider for StandingIn {
    fn name(&self) -> String {
        self.source.clone()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, Result<Delta, ProviderError>> {
        let (open, asked, source) = (self.open.clone(), self.asked, self.source.clone());
        let opened = async move {
            let Some(open) = open else {
                return refused(format!("{source}: recordings are not to be had here"), "act by hand");
            };
            let named = source.clone();
            match tokio::task::spawn_blocking(move || open(asked, &named)).await {
                Ok(Ok(provider)) => provider.stream(request),
                Ok(Err(error)) => refusal(error),
                Err(_) => refused(format!("{source}: the reading of it broke"), "choose another recording"),
            }
        };
        stream::once(opened).flatten().boxed()
    }
}

fn refusal(error: DriverError) -> BoxStream<'static, Result<Delta, ProviderError>> {
    match error {
        DriverError::Refused(why, next) => refused(why, &next),
        other => refused(other.to_string(), "choose another recording"),
    }
}

fn refused(why: String, next: &str) -> BoxStream<'static, Result<Delta, ProviderError>> {
    let error = ProviderError::new(why, next).of_kind(FailureKind::NoAnswer);
    stream::once(std::future::ready(Err(error))).boxed()
}
