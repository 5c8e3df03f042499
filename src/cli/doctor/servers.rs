//! Checks the configured model servers with a few short requests.

use super::{CheckResult, CheckStatus, check_result};
use crate::cli::config::{Config, keys};
use crate::cli::error::CliError;
use crate::cli::{headless, models};
use crate::domain::{ModelRole, RoleSource, sampling_param};
use crate::provider::openai::{OpenAi, Verdict, check_server};
use serde_json::{Map, Value};

/// Checks the servers of actor and mentor; returns nothing if none is configured.
///
/// `changes` are sampling parameters by name; they override those of the profile.
pub(super) fn check_servers(
    config: &Config,
    changes: &[(String, Value)],
) -> Result<Vec<CheckResult>, CliError> {
    let mut results = Vec::new();
    let has_server = [keys::BASE_URL, keys::PROFILE].into_iter().any(|key| !config.get(key).is_empty());
    for (role, key) in [(ModelRole::Actor, keys::ACTOR), (ModelRole::Mentor, keys::MENTOR)] {
        let model = match RoleSource::parse(config.get(key)).model() {
            Some(model) => model,
            // An address without a model is enough for a check.
            None if has_server && role == ModelRole::Actor => "",
            None => continue,
        };
        let endpoint = match models::resolve_endpoint(config, role, model, None) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                results.push(check_result("server", CheckStatus::Broken, error.message, error.hint));
                continue;
            }
        };
        let findings = headless::new_runtime()?.block_on(check_server(
            &OpenAi::new(endpoint),
            role,
            &params_for_role(role, changes),
        ));
        results.extend(findings.into_iter().map(|finding| {
            let state = match finding.verdict {
                Verdict::Good => CheckStatus::Ok,
                Verdict::Warning => CheckStatus::Warning,
                Verdict::Bad => CheckStatus::Broken,
            };
            check_result(finding.topic, state, finding.message, finding.hint)
        }));
    }
    Ok(results)
}

/// Returns the sampling parameters of `role`, by the names of the request's fields.
fn params_for_role(role: ModelRole, changes: &[(String, Value)]) -> Map<String, Value> {
    let named = changes.iter().filter_map(|(name, value)| Some((sampling_param(name)?, value)));
    named
        .filter(|((param_role, _), _)| *param_role == role)
        .map(|((_, param), value)| (param.name.to_owned(), value.clone()))
        .collect()
}
