//! The model servers that are set here, asked a few short questions.

use super::{CheckResult, CheckStatus, check_result};
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::{headless, models};
use crate::domain::{ModelRole, sampling_param};
use crate::provider::openai::{OpenAi, Verdict, check_server};
use serde_json::{Map, Value};

/// What there is to say of the servers of actor and mentor; nothing where none is set.
///
/// `changes` are sampling parameters that are sent in place of the profile's, by their names.
pub(super) fn check_servers(
    config: &Config,
    changes: &[(String, Value)],
) -> Result<Vec<CheckResult>, CliError> {
    let mut lines = Vec::new();
    let set = ["run.base_url", "run.profile"].iter().any(|name| !config.text(name).is_empty());
    for (asked, name) in [(ModelRole::Actor, "run.actor"), (ModelRole::Mentor, "run.mentor")] {
        let model = match config.text(name).strip_prefix("openai:") {
            Some(model) => model,
            // An address alone is enough for a look.
            None if set && asked == ModelRole::Actor => "",
            None => continue,
        };
        let endpoint = match models::resolve_endpoint(config, asked, model, None) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                lines.push(check_result("server", CheckStatus::Broken, error.message, error.hint));
                continue;
            }
        };
        let found = headless::new_runtime()?.block_on(check_server(
            &OpenAi::new(endpoint),
            asked,
            &of_role(asked, changes),
        ));
        lines.extend(found.into_iter().map(|finding| {
            let state = match finding.verdict {
                Verdict::Good => CheckStatus::Ok,
                Verdict::Warning => CheckStatus::Warning,
                Verdict::Bad => CheckStatus::Broken,
            };
            check_result(finding.topic, state, finding.message, finding.hint)
        }));
    }
    Ok(lines)
}

/// The sampling parameters of a role, by the names of the request's fields.
fn of_role(asked: ModelRole, changes: &[(String, Value)]) -> Map<String, Value> {
    let named = changes.iter().filter_map(|(name, value)| Some((sampling_param(name)?, value)));
    named
        .filter(|((role, _), _)| *role == asked)
        .map(|((_, param), value)| (param.name.to_owned(), value.clone()))
        .collect()
}
