//! Profiles: endpoints as configuration files describe them. Several are merged, and the result becomes an endpoint.
//! A profile says where a key is found and never contains one.

use super::client;
use super::endpoint::{Api, Auth, Endpoint, MaxTokensField, Prices};
use super::secret::{KeySource, Secret};
use serde::de::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The shipped profiles.
const SHIPPED_PROFILES: &str = include_str!("profiles.toml");

/// Every key of a profile with its description, in the order of the reference.
pub const PROFILE_KEYS: &[(&str, &str)] = &[
    ("model", "model name used when the actor or mentor is just `openai:`"),
    ("base_url", "address without `/chat/completions`; most end in `/v1`"),
    ("api", "`chat` (default) or `completions` (the model continues the prompt as one text)"),
    ("auth", "`bearer` (default), `none`, or the name of a header for the key"),
    ("key_env", "environment variable that holds the API key"),
    ("key_file", "file whose first line is the API key"),
    ("headers", "additional headers; `$NAME` in a value is an environment variable, `$$` a dollar sign"),
    ("query", "additional query parameters; values as for `headers`"),
    ("ca_file", "trusted CA certificates (PEM), in addition to the system's, for your own https server"),
    ("temperature", "default 0 (the papers)"),
    ("top_p", "not sent unless the method's paper states it (`METHODS.md`)"),
    ("top_k", "sent only if you or a preset states it"),
    ("repetition_penalty", "sent only if you or a preset states it"),
    (
        "max_tokens",
        "maximum tokens per reply; default 256 for the actor, 1024 for the mentor; a truncated reply is requested again with a higher limit (`REPLIES.md`)",
    ),
    ("max_tokens_field", "`max_tokens` (default) or `max_completion_tokens`"),
    ("stop", "list of stop sequences, instead of the prompt's own"),
    ("seed", "send the seed; default true"),
    ("send_usage_option", "send `stream_options.include_usage`; default true"),
    ("omit", "list of fields that are never sent"),
    (
        "extra",
        "JSON merged into the request at its top level, such as `{ chat_template_kwargs = { enable_thinking = false } }`",
    ),
    (
        "reasoning_fields",
        "fields that contain reasoning, besides `content`; default `reasoning_content`, `reasoning`, `thinking`",
    ),
    ("think_tags", "list of tag pairs around reasoning inside the content; default `<think>` and similar"),
    ("reasoning_opened", "replies begin inside the reasoning, without an opening tag; default false"),
    ("one_message", "send the prompt as a single user message; default false"),
    (
        "one_at_a_time",
        "send one request at a time; default false, until the server interrupts a reply because another request arrives",
    ),
    ("connect_seconds", "timeout for connecting; default 10"),
    ("first_seconds", "timeout for the first part of a reply; default 180"),
    ("idle_seconds", "timeout for the next byte of a stream; default 60"),
    ("tail_seconds", "how long to wait for data after the end of a reply; default 2"),
    (
        "total_seconds",
        "timeout for the whole request, not counting the time spent waiting for the program's other requests; no limit by default",
    ),
    ("retries", "maximum number of retries; default 4"),
    ("retry_seconds", "wait before the first retry, doubled each time; default 0.5"),
    ("retry_total_seconds", "maximum total wait for retries; default 120"),
    ("price_prompt", "price per million prompt tokens, in any currency"),
    ("price_reply", "price per million reply tokens"),
    (
        "proxy",
        "token counts come from a proxy rather than the model server, so the program doesn't use them to correct its estimates; default false",
    ),
];

/// An endpoint as written in a configuration file. Keys that are not set leave the defaults.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    pub model: Option<String>,
    pub base_url: Option<String>,
    /// `chat` or `completions`.
    pub api: Option<String>,
    /// `bearer`, `none` or the name of a header.
    pub auth: Option<String>,
    /// Name of the environment variable that holds the key.
    pub key_env: Option<String>,
    /// Path of the file whose first line is the key.
    pub key_file: Option<String>,
    headers: BTreeMap<String, Secret>,
    query: BTreeMap<String, Secret>,
    ca_file: Option<String>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    top_k: Option<u32>,
    repetition_penalty: Option<f64>,
    max_tokens: Option<u32>,
    max_tokens_field: Option<String>,
    stop: Option<Vec<String>>,
    seed: Option<bool>,
    send_usage_option: Option<bool>,
    omit: Vec<String>,
    extra: Map<String, Value>,
    reasoning_fields: Option<Vec<String>>,
    think_tags: Option<Vec<(String, String)>>,
    reasoning_opened: Option<bool>,
    one_message: Option<bool>,
    one_at_a_time: Option<bool>,
    connect_seconds: Option<f64>,
    first_seconds: Option<f64>,
    idle_seconds: Option<f64>,
    tail_seconds: Option<f64>,
    total_seconds: Option<f64>,
    retries: Option<u32>,
    retry_seconds: Option<f64>,
    retry_total_seconds: Option<f64>,
    price_prompt: Option<f64>,
    price_reply: Option<f64>,
    proxy: Option<bool>,
}

/// Why a profile is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProfileError {
    /// What is wrong, naming the profile's key.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

fn profile_error(message: impl Into<String>, hint: impl Into<String>) -> ProfileError {
    ProfileError { message: message.into(), hint: hint.into() }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::new(&text))
    }
}

impl Profile {
    /// Reads a profile from a table.
    ///
    /// # Errors
    /// [`ProfileError`] if a key is unknown or has a value of the wrong type.
    pub fn from_table(table: &Value) -> Result<Self, ProfileError> {
        if table.get("key").or_else(|| table.get("api_key")).is_some() {
            return Err(profile_error(
                "API keys do not belong in this file",
                "set key_env to the name of an environment variable with the key, or key_file to the path of a file with it",
            ));
        }
        // serde's message may quote a value, and some values are secret.
        Self::deserialize(table).map_err(|error| {
            let message = error.to_string();
            let message = message.split(", expected one of").next().unwrap_or(&message);
            let secret = ["headers", "query"].iter().any(|name| {
                table
                    .get(name)
                    .is_some_and(|t| !t.as_object().is_some_and(|o| o.values().all(Value::is_string)))
            });
            let message = if secret { "headers and query must be tables of strings" } else { message };
            profile_error(message, "docs/CONFIG.md lists the keys of [models.NAME]")
        })
    }

    /// Returns the shipped profile of this name.
    pub fn shipped(name: &str) -> Option<Self> {
        Self::all_shipped().remove(name)
    }

    /// Returns the names of the shipped profiles.
    pub fn shipped_names() -> Vec<String> {
        Self::all_shipped().into_keys().collect()
    }

    fn all_shipped() -> BTreeMap<String, Self> {
        // A test checks that the file parses.
        toml::from_str(SHIPPED_PROFILES).unwrap_or_default()
    }

    /// Merges the profile over another; its own keys take precedence.
    pub fn merge_over(self, base: Self) -> Self {
        macro_rules! first {
            ($($name:ident)*) => { Self {
                $($name: self.$name.or(base.$name),)*
                headers: base.headers.into_iter().chain(self.headers).collect(),
                query: base.query.into_iter().chain(self.query).collect(),
                omit: base.omit.into_iter().chain(self.omit).collect(),
                extra: base.extra.into_iter().chain(self.extra).collect(),
            } };
        }
        first! {
            model base_url api auth key_env key_file ca_file temperature top_p top_k repetition_penalty max_tokens
            max_tokens_field stop seed send_usage_option reasoning_fields think_tags reasoning_opened one_message
            one_at_a_time connect_seconds first_seconds idle_seconds tail_seconds total_seconds retries retry_seconds
            retry_total_seconds price_prompt price_reply proxy
        }
    }

    /// Returns the profile without what gives access to its server and may be missing here: key, headers, query parameters
    /// and certificates.
    #[must_use]
    pub fn without_access(self) -> Self {
        let (headers, query) = (BTreeMap::new(), BTreeMap::new());
        Self { key_env: None, key_file: None, headers, query, ca_file: None, ..self }
    }

    /// Returns the endpoint that the profile describes. `variable` reads environment variables.
    ///
    /// # Errors
    /// [`ProfileError`] if there is no base URL, a value is invalid, or an API key is not found.
    pub fn to_endpoint(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Endpoint, ProfileError> {
        let base_url = self.base_url.as_deref().ok_or_else(|| {
            profile_error("base_url is not set", "set it in the profile or with --base-url")
        })?;
        let mut endpoint = Endpoint::new(base_url, self.model.as_deref().unwrap_or(""));
        client::check_base_url(&endpoint.base_url).map_err(|e| profile_error(e.message, &e.hint))?;
        if let Some(api) = &self.api {
            endpoint.api = Api::from_word(api).ok_or_else(|| {
                let allowed = format!("use {}", Api::WORDS.join(" or "));
                profile_error(format!("api = {api:?} is invalid"), &allowed)
            })?;
        }
        endpoint.auth = match self.auth.as_deref() {
            None | Some("bearer") => Auth::Bearer,
            Some("none") => Auth::None,
            Some(header) => Auth::Header(header.to_owned()),
        };
        endpoint.max_tokens_field = match self.max_tokens_field.as_deref() {
            None | Some("max_tokens") => MaxTokensField::MaxTokens,
            Some("max_completion_tokens") => MaxTokensField::MaxCompletionTokens,
            Some(other) => {
                return Err(profile_error(
                    format!("max_tokens_field = {other:?} is invalid"),
                    "use max_tokens or max_completion_tokens",
                ));
            }
        };
        endpoint.key = self.read_key(variable)?;
        endpoint.key_source = match (&self.key_env, &self.key_file) {
            (Some(name), _) => KeySource::Variable(name.clone()),
            (None, Some(path)) => KeySource::File(path.clone()),
            (None, None) => KeySource::Unknown,
        };
        endpoint.headers = expand_values(&self.headers, variable)?;
        endpoint.query = expand_values(&self.query, variable)?;
        endpoint.ca_file = self.ca_file.as_ref().map(PathBuf::from);
        endpoint.omit.extend(self.omit.iter().cloned());
        endpoint.extra.clone_from(&self.extra);
        self.apply_sampling(&mut endpoint)?;
        self.apply_timeouts(&mut endpoint)?;
        let reasoning = &mut endpoint.reasoning;
        set_if_some(&mut reasoning.fields, self.reasoning_fields.clone());
        set_if_some(&mut reasoning.tags, self.think_tags.clone());
        reasoning.tags.retain(|t| !t.0.is_empty() && !t.1.is_empty());
        set_if_some(&mut reasoning.opened, self.reasoning_opened);
        set_if_some(&mut endpoint.one_message, self.one_message);
        set_if_some(&mut endpoint.one_at_a_time, self.one_at_a_time);
        set_if_some(&mut endpoint.send_usage_option, self.send_usage_option);
        set_if_some(&mut endpoint.counted_by_proxy, self.proxy);
        if self.price_prompt.is_some() || self.price_reply.is_some() {
            let price = |name, p: Option<f64>| check_not_negative(name, p).map(|p| p.unwrap_or(0.0));
            endpoint.prices = Some(Prices {
                prompt_per_million: price("price_prompt", self.price_prompt)?,
                reply_per_million: price("price_reply", self.price_reply)?,
            });
        }
        Ok(endpoint)
    }

    fn apply_sampling(&self, endpoint: &mut Endpoint) -> Result<(), ProfileError> {
        endpoint.states_top_p = self.top_p.is_some();
        let sampling = &mut endpoint.sampling;
        sampling.temperature = check_not_negative("temperature", self.temperature)?.or(sampling.temperature);
        sampling.top_p = check_not_negative("top_p", self.top_p)?.or(sampling.top_p);
        sampling.top_k = self.top_k;
        sampling.repetition_penalty = check_not_negative("repetition_penalty", self.repetition_penalty)?;
        sampling.max_tokens = self.max_tokens;
        sampling.stop.clone_from(&self.stop);
        set_if_some(&mut sampling.seed, self.seed);
        Ok(())
    }

    fn apply_timeouts(&self, endpoint: &mut Endpoint) -> Result<(), ProfileError> {
        let (timeouts, retry) = (&mut endpoint.timeouts, &mut endpoint.retry);
        for (name, seconds, target) in [
            ("connect_seconds", self.connect_seconds, &mut timeouts.connect),
            ("first_seconds", self.first_seconds, &mut timeouts.first_piece),
            ("idle_seconds", self.idle_seconds, &mut timeouts.idle),
            ("tail_seconds", self.tail_seconds, &mut timeouts.tail),
            ("retry_seconds", self.retry_seconds, &mut retry.first_wait),
            ("retry_total_seconds", self.retry_total_seconds, &mut retry.max_total_wait),
        ] {
            if let Some(seconds) = seconds {
                *target = check_duration(name, seconds)?;
            }
        }
        timeouts.total = self.total_seconds.map(|s| check_duration("total_seconds", s)).transpose()?;
        set_if_some(&mut retry.max_retries, self.retries);
        retry.max_retries_after_500 = retry.max_retries_after_500.min(retry.max_retries);
        Ok(())
    }

    fn read_key(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Secret>, ProfileError> {
        if let Some(name) = &self.key_env {
            let found = variable(name).filter(|v| !v.trim().is_empty());
            let found = found.ok_or_else(|| {
                profile_error(
                    format!("${name}, which should hold the API key (key_env), is not set"),
                    format!("export {name}=..."),
                )
            })?;
            return Ok(Some(Secret::new(&found)));
        }
        let Some(path) = &self.key_file else { return Ok(None) };
        let text = read_key_file(path).map_err(|e| {
            profile_error(
                format!("could not read the API key from {path}: {e}"),
                "check key_file and the file's permissions",
            )
        })?;
        let line = text.lines().next().unwrap_or("").trim();
        if line.is_empty() {
            return Err(profile_error(
                format!("no API key in the first line of {path}"),
                "write the key there",
            ));
        }
        Ok(Some(Secret::new(line)))
    }
}

/// Reads the beginning of a key file: more than any key, but not all of an endless device. The file may be a pipe.
fn read_key_file(path: &str) -> std::io::Result<String> {
    use std::io::Read as _;
    let mut text = String::new();
    crate::files::open(std::path::Path::new(path))?.take(64 << 10).read_to_string(&mut text)?;
    Ok(text)
}

/// Expands the environment variables in the values of a table.
fn expand_values(
    table: &BTreeMap<String, Secret>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, Secret)>, ProfileError> {
    let value = |(name, value): (&String, &Secret)| {
        let expanded = Secret::expand(value.expose(), variable).map_err(|missing| {
            profile_error(
                format!("{name} uses an environment variable that is not set"),
                format!("export {missing}=..., or write $$ for a dollar sign"),
            )
        });
        Ok((name.clone(), expanded?))
    };
    table.iter().map(value).collect()
}

fn set_if_some<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

fn check_not_negative(name: &str, value: Option<f64>) -> Result<Option<f64>, ProfileError> {
    match value {
        Some(number) if !number.is_finite() || number < 0.0 => {
            Err(profile_error(format!("{name} = {number} is invalid"), "use a number of at least 0"))
        }
        other => Ok(other),
    }
}

fn check_duration(name: &str, seconds: f64) -> Result<Duration, ProfileError> {
    let wait = Duration::try_from_secs_f64(seconds).ok().filter(|d| !d.is_zero() && d.as_secs() < 1 << 30);
    wait.ok_or_else(|| {
        profile_error(format!("{name} = {seconds} is invalid"), "use a number of seconds above 0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NO_VARIABLES: &dyn Fn(&str) -> Option<String> = &|_| None;

    fn profile_with_url() -> Profile {
        Profile { base_url: Some("http://h".to_owned()), ..Profile::default() }
    }

    #[test]
    #[cfg_attr(not(feature = "tls"), ignore = "some of them need https")]
    fn shipped_profiles_are_valid_and_every_key_is_described() {
        let all: BTreeMap<String, Profile> = toml::from_str(SHIPPED_PROFILES).unwrap();
        assert!(all.contains_key("paper") && all.len() > 8);
        for (name, profile) in &all {
            let endpoint = profile
                .clone()
                .merge_over(profile_with_url())
                .to_endpoint(&|_| Some("secret-key".to_owned()))
                .unwrap();
            assert!(!format!("{endpoint:?}{profile:?}").contains("secret-key"), "{name}");
        }
        let full = Profile::shipped("paper").unwrap().merge_over(Profile::shipped("ollama").unwrap());
        let endpoint = full.to_endpoint(NO_VARIABLES).unwrap();
        assert_eq!(
            (endpoint.sampling.top_k, endpoint.base_url.as_str()),
            (Some(50), "http://127.0.0.1:11434/v1")
        );
        assert!(endpoint.unsent_settings().is_empty());
        assert_eq!(profile_with_url().to_endpoint(NO_VARIABLES).unwrap().unsent_settings().len(), 2);
        assert!(Profile::default().to_endpoint(NO_VARIABLES).is_err());
        // serde's message for an unknown key lists the known ones.
        let message = serde_json::from_value::<Profile>(json!({"?": 1})).unwrap_err().to_string();
        let mut known: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
        let mut described: Vec<&str> = PROFILE_KEYS.iter().map(|k| k.0).collect();
        known.sort_unstable();
        described.sort_unstable();
        assert_eq!(known, described);
    }

    #[test]
    fn profile_errors_do_not_contain_secrets() {
        let cases = [
            (json!({"key": "sk-secret"}), "API keys do not belong in this file"),
            (json!({"modle": "m"}), "unknown field `modle`"),
            (json!({"headers": {"x": 7, "y": "sk-secret"}}), "headers and query must be tables of strings"),
            (json!({"api": "responses"}), "api = \"responses\""),
            (json!({"idle_seconds": 0.0}), "idle_seconds = 0"),
            (json!({"idle_seconds": -1.0}), "idle_seconds = -1"),
            (json!({"temperature": -1.0}), "temperature = -1"),
            (json!({"key_env": "NOPE"}), "$NOPE, which should hold the API key (key_env), is not set"),
            (json!({"key_file": "/nowhere/key"}), "could not read the API key from /nowhere/key"),
            (json!({"key_file": "/dev/zero"}), "could not read the API key from /dev/zero"),
            (
                json!({"headers": {"x-api-key": "$NOPE"}}),
                "x-api-key uses an environment variable that is not set",
            ),
        ];
        for (table, want) in cases {
            let read = Profile::from_table(&table);
            let error = read
                .and_then(|p| p.merge_over(profile_with_url()).to_endpoint(NO_VARIABLES).map(drop))
                .unwrap_err();
            assert!(error.message.starts_with(want), "{}", error.message);
            assert!(!format!("{error:?}").contains("sk-secret"));
        }
    }
}
