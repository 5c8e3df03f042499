//! What a run's servers get beside their profiles: a key, headers, authorities. Key and headers go where the address was given
//! with the run, and to servers on this machine; a profile that has an address of its own has its own key and headers.

use super::is_set_by_flag;
use crate::cli::config::{Config, ValueOrigin};
use crate::cli::error::{CliError, CliErrorKind};
use crate::provider::openai::{Endpoint, KeySource, Secret};

/// The name of the variable that holds the key of the run.
fn key_variable(config: &Config) -> &str {
    let named = config.text("run.key_env");
    if named.is_empty() { "OPENAI_API_KEY" } else { named }
}

/// Where the key of the run comes from.
pub(super) fn key_source(config: &Config) -> KeySource {
    KeySource::Variable(key_variable(config).to_owned())
}

/// The key of the run.
pub(super) fn read_key(
    config: &Config,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, CliError> {
    let (named, name) = (config.text("run.key_env"), key_variable(config));
    let found = variable(name).filter(|k| !k.trim().is_empty());
    if found.is_none() && !named.is_empty() {
        return Err(CliError::new(
            CliErrorKind::Config,
            format!("the key is to be in ${name} ({}), which is not set", config.origin("run.key_env")),
            format!("export {name}=..., or leave --key-env out"),
        ));
    }
    Ok(found.as_deref().map(Secret::new))
}

/// Adds the headers of the run; one that a profile has too is replaced.
pub(super) fn add_headers(
    config: &Config,
    variable: &dyn Fn(&str) -> Option<String>,
    endpoint: &mut Endpoint,
) -> Result<(), CliError> {
    let from = config.origin("run.headers");
    for line in config.text("run.headers").lines().map(str::trim).filter(|l| !l.is_empty()) {
        let Some((name, value)) = line.split_once(':').map(|(n, v)| (n.trim(), v.trim())) else {
            // The line may be a value alone, and a secret.
            return Err(config_error(from, "a header without a colon", "write it as NAME: VALUE"));
        };
        let value = Secret::expand(value, variable).map_err(|of| {
            let what = format!("{name} is to be taken from a variable that is not set");
            config_error(from, &what, &format!("export {of}=..., or write $$ where a dollar sign is meant"))
        })?;
        endpoint.headers.retain(|h| !h.0.eq_ignore_ascii_case(name));
        endpoint.headers.push((name.to_owned(), value));
    }
    Ok(())
}

/// The authorities of the run, where the profile names none or a flag does; the file has to be there.
pub(super) fn set_ca_file(config: &Config, endpoint: &mut Endpoint) -> Result<(), CliError> {
    if is_set_by_flag(config, "run.ca_file") || endpoint.ca_file.is_none() {
        endpoint.ca_file = config.path("run.ca_file").or_else(|| endpoint.ca_file.take());
    }
    let Some(file) = &endpoint.ca_file else { return Ok(()) };
    crate::files::open(file).map(drop).map_err(|e| CliError::file(file, "ca_file could not be read", &e))
}

/// The lines of headers with their names alone, for whoever shows the configuration.
pub(in crate::cli) fn redact_header_values(lines: &str) -> String {
    let hidden = |line: &str| match line.split_once(':') {
        Some((name, value)) if Secret::is_variable(value) => format!("{}:{value}", name.trim()),
        Some((name, _)) => format!("{}: [hidden]", name.trim()),
        None => "[hidden]".to_owned(),
    };
    lines.lines().filter(|l| !l.trim().is_empty()).map(hidden).collect::<Vec<_>>().join(", ")
}

fn config_error(from: &ValueOrigin, what: &str, next: &str) -> CliError {
    CliError::new(CliErrorKind::Config, format!("{from}: {what}"), next.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::models::resolve_endpoint_with;
    use crate::domain::ModelRole;

    /// The header `x-team` and the key that a server gets, of these values.
    fn sent_header_and_key(
        asked: ModelRole,
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
            config.set_flag(name, Some(value)).unwrap();
        }
        let endpoint = resolve_endpoint_with(&config, asked, "m", None, &variable).map_err(|f| f.message)?;
        let team: Vec<_> = endpoint.headers.iter().filter(|h| h.0.eq_ignore_ascii_case("x-team")).collect();
        assert!(team.len() < 2, "one of a name");
        // A value can be compared and not read.
        let words = ["taken", "own", "of the profile", "sk-other", "sk-usual"];
        let open =
            |key: &Secret| words.iter().find(|w| *key == Secret::new(w)).map_or("?", |w| *w).to_owned();
        Ok((team.first().map(|h| open(&h.1)), endpoint.key.as_ref().map(open)))
    }

    #[test]
    fn key_and_headers_of_a_flag_go_where_its_address_goes_and_nowhere_else() {
        let here = ("run.base_url", "http://here/v1");
        let header = ("run.headers", "X-Team: $TEAM\nX-Other: a: b");
        let key = ("run.key_env", "OTHER_KEY");
        let mentor = ("run.mentor_profile", "big");
        let some = |text: &str| Some(text.to_owned());
        let actor = |set: &[(&'static str, &str)]| sent_header_and_key(ModelRole::Actor, set);
        assert_eq!(actor(&[here]), Ok((None, some("sk-usual"))));
        assert_eq!(actor(&[here, header, key]), Ok((some("taken"), some("sk-other"))));
        assert_eq!(actor(&[here, header, ("run.profile", "own")]), Ok((some("taken"), some("sk-usual"))));
        assert_eq!(
            sent_header_and_key(ModelRole::Mentor, &[here, header, key, mentor]),
            Ok((some("of the profile"), None))
        );
        assert_eq!(
            sent_header_and_key(ModelRole::Mentor, &[here, header, key]),
            Ok((some("taken"), some("sk-other")))
        );
        for (set, words) in [
            (vec![here, ("run.key_env", "NOPE")], "the key is to be in $NOPE (--key-env), which is not set"),
            (vec![here, ("run.headers", "sk-secret")], "--header: a header without a colon"),
            (
                vec![here, ("run.headers", "a: $NOPE")],
                "--header: a is to be taken from a variable that is not set",
            ),
            // A key under another name is not shown to the server of those who name none.
            (vec![key], "no model server is known here"),
        ] {
            let refused = actor(&set).unwrap_err();
            assert!(refused.contains(words) && !refused.contains("sk-"), "{refused}");
        }
    }

    #[test]
    fn headers_are_shown_without_their_values() {
        let shown =
            redact_header_values("X-Team: sk-secret\n\nX-Key: $MINE\nX-Pass: $$ecret\nA: $B c\nsk-alone");
        assert_eq!(shown, "X-Team: [hidden], X-Key: $MINE, X-Pass: [hidden], A: [hidden], [hidden]");
    }
}
