//! The model servers that are set here, asked a few short questions.

use super::{Line, State, line};
use crate::cli::config::Config;
use crate::cli::error::CliError;
use crate::cli::{models, watch};
use crate::domain::ModelRole;
use crate::provider::openai::{OpenAi, Verdict, check};

/// What there is to say of the servers of actor and mentor; nothing where none is set.
pub(super) fn servers(config: &Config) -> Result<Vec<Line>, CliError> {
    let mut lines = Vec::new();
    let set = ["run.base_url", "run.profile"].iter().any(|name| !config.text(name).is_empty());
    for (asked, name) in [(ModelRole::Actor, "run.actor"), (ModelRole::Mentor, "run.mentor")] {
        let model = match config.text(name).strip_prefix("openai:") {
            Some(model) => model,
            // An address alone is enough for a look.
            None if set && asked == ModelRole::Actor => "",
            None => continue,
        };
        let endpoint = match models::endpoint(config, asked, model, None) {
            Ok(endpoint) => endpoint,
            Err(error) => {
                lines.push(line("server", State::Broken, error.message, error.hint));
                continue;
            }
        };
        let found = watch::runtime()?.block_on(check(&OpenAi::new(endpoint), asked));
        lines.extend(found.into_iter().map(|finding| {
            let state = match finding.verdict {
                Verdict::Good => State::Ok,
                Verdict::Warning => State::Warning,
                Verdict::Bad => State::Broken,
            };
            line(finding.about, state, finding.what, finding.next)
        }));
    }
    Ok(lines)
}
