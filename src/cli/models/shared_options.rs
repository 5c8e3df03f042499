//! Server options of a run, in addition to profiles: key, headers, CA certificates. Key and headers go only to a server
//! whose address was given with the run and to servers on this machine; a profile with its own address has its own key
//! and headers.

use crate::cli::config::{Config, ValueOrigin, keys};
use crate::cli::error::{CliError, CliErrorKind};
use crate::provider::openai::{Endpoint, KeySource, Secret};

/// Returns the name of the variable that holds the run's key.
fn key_variable(config: &Config) -> &str {
    let configured = config.get(keys::KEY_ENV);
    if configured.is_empty() { "OPENAI_API_KEY" } else { configured }
}

/// Returns the source of the run's key.
pub(super) fn key_source(config: &Config) -> KeySource {
    KeySource::Variable(key_variable(config).to_owned())
}

/// Reads the run's key; `None` if `OPENAI_API_KEY` is not set.
///
/// # Errors
/// Fails if the variable named by `run.key_env` is not set.
pub(super) fn read_key(
    config: &Config,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, CliError> {
    let (configured, name) = (config.get(keys::KEY_ENV), key_variable(config));
    let found = variable(name).filter(|k| !k.trim().is_empty());
    if found.is_none() && !configured.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Config,
            format!("environment variable {name} ({}) is not set", config.origin(&keys::KEY_ENV)),
            format!("export {name}=..., or omit --key-env"),
        ));
    }
    Ok(found.as_deref().map(Secret::new))
}

/// Adds the run's headers; they replace headers of the same name from a profile.
pub(super) fn add_headers(
    config: &Config,
    variable: &dyn Fn(&str) -> Option<String>,
    endpoint: &mut Endpoint,
) -> Result<(), CliError> {
    let origin = config.origin(&keys::HEADERS);
    for line in config.get(keys::HEADERS).lines().map(str::trim).filter(|l| !l.is_empty()) {
        let Some((name, value)) = line.split_once(':').map(|(n, v)| (n.trim(), v.trim())) else {
            // Don't quote the line: it may be a value without a name, and a secret.
            return Err(config_error(origin, "header without a colon", "write NAME: VALUE"));
        };
        let value = Secret::expand(value, variable).map_err(|missing| {
            let message = format!("header {name} uses an environment variable that is not set");
            config_error(origin, &message, &format!("export {missing}=..., or write $$ for a dollar sign"))
        })?;
        endpoint.headers.retain(|h| !h.0.eq_ignore_ascii_case(name));
        endpoint.headers.push((name.to_owned(), value));
    }
    Ok(())
}

/// Sets the run's CA file if a flag names it or the profile has none; fails if the file cannot be opened.
pub(super) fn set_ca_file(config: &Config, endpoint: &mut Endpoint) -> Result<(), CliError> {
    if config.is_set_by_flag(&keys::CA_FILE) || endpoint.ca_file.is_none() {
        endpoint.ca_file = config.get(keys::CA_FILE).or_else(|| endpoint.ca_file.take());
    }
    let Some(file) = &endpoint.ca_file else { return Ok(()) };
    crate::files::open(file).map(drop).map_err(|e| CliError::file(file, "ca_file could not be read", &e))
}

/// Formats header lines for display: shows names, and a value only if it is an environment variable.
pub(in crate::cli) fn redact_header_values(lines: &str) -> String {
    let hidden = |line: &str| match line.split_once(':') {
        Some((name, value)) if Secret::is_variable(value) => format!("{}:{value}", name.trim()),
        Some((name, _)) => format!("{}: [hidden]", name.trim()),
        None => "[hidden]".to_owned(),
    };
    lines.lines().filter(|l| !l.trim().is_empty()).map(hidden).collect::<Vec<_>>().join(", ")
}

fn config_error(origin: &ValueOrigin, message: &str, hint: &str) -> CliError {
    CliError::new(CliErrorKind::Config, format!("{origin}: {message}"), hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::config::find_entry;
    use crate::cli::models::resolve_endpoint_with;
    use crate::domain::ModelRole;

    /// Returns the values of header `x-team` and key that a server would receive.
    fn sent_header_and_key(
        role: ModelRole,
        set: &[(&'static str, &str)],
    ) -> Result<(Option<String>, Option<String>), String> {
        let file = "[models.big]\nbase_url = \"http://big/v1\"\n[models.big.headers]\nx-team = \"of the profile\"\n\
                    [models.own]\n[models.own.headers]\nX-Team = \"own\"\n";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, file).unwrap();
        let variables = [("TEAM", "taken"), ("OTHER_KEY", "sk-other"), ("OPENAI_API_KEY", "sk-usual")];
        let variable = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned());
        let mut config = Config::load(Some(&path), variable).unwrap();
        for (name, value) in set {
            config.set_flag(find_entry(name).unwrap(), Some(value)).unwrap();
        }
        let endpoint = resolve_endpoint_with(&config, role, "m", None, &variable).map_err(|f| f.message)?;
        let team: Vec<_> = endpoint.headers.iter().filter(|h| h.0.eq_ignore_ascii_case("x-team")).collect();
        assert!(team.len() < 2, "one header per name");
        // A `Secret` can be compared but not read.
        let words = ["taken", "own", "of the profile", "sk-other", "sk-usual"];
        let reveal =
            |key: &Secret| words.iter().find(|w| *key == Secret::new(w)).map_or("?", |w| *w).to_owned();
        Ok((team.first().map(|h| reveal(&h.1)), endpoint.key.as_ref().map(reveal)))
    }

    #[test]
    fn key_and_headers_of_a_run_go_only_to_its_address() {
        let address = ("run.base_url", "http://here/v1");
        let header = ("run.headers", "X-Team: $TEAM\nX-Other: a: b");
        let key = ("run.key_env", "OTHER_KEY");
        let mentor = ("run.mentor_profile", "big");
        let some = |text: &str| Some(text.to_owned());
        let actor = |set: &[(&'static str, &str)]| sent_header_and_key(ModelRole::Actor, set);
        assert_eq!(actor(&[address]), Ok((None, some("sk-usual"))));
        assert_eq!(actor(&[address, header, key]), Ok((some("taken"), some("sk-other"))));
        assert_eq!(actor(&[address, header, ("run.profile", "own")]), Ok((some("taken"), some("sk-usual"))));
        assert_eq!(
            sent_header_and_key(ModelRole::Mentor, &[address, header, key, mentor]),
            Ok((some("of the profile"), None))
        );
        assert_eq!(
            sent_header_and_key(ModelRole::Mentor, &[address, header, key]),
            Ok((some("taken"), some("sk-other")))
        );
        for (set, message) in [
            (vec![address, ("run.key_env", "NOPE")], "environment variable NOPE (--key-env) is not set"),
            (vec![address, ("run.headers", "sk-secret")], "--header: header without a colon"),
            (
                vec![address, ("run.headers", "a: $NOPE")],
                "--header: header a uses an environment variable that is not set",
            ),
            // A key from another variable is never sent to the default server.
            (vec![key], "no model server is configured"),
        ] {
            let error = actor(&set).unwrap_err();
            assert!(error.contains(message) && !error.contains("sk-"), "{error}");
        }
    }

    #[test]
    fn headers_are_shown_without_their_values() {
        let shown =
            redact_header_values("X-Team: sk-secret\n\nX-Key: $MINE\nX-Pass: $$ecret\nA: $B c\nsk-alone");
        assert_eq!(shown, "X-Team: [hidden], X-Key: $MINE, X-Pass: [hidden], A: [hidden], [hidden]");
    }
}
