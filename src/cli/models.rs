//! From names, flags and profiles to the model servers of a run.
//!
//! What a run uses is written down with its settings: the address, the profiles, what is sampled, and which of the papers'
//! settings are not sent. Keys, headers and query parameters are not: they are read anew each time. A session that was
//! handed on can therefore name an address and never gets a key for it: on a resume only the address in force here, or one
//! on this machine, is spoken to.

mod shared_options;

pub(super) use shared_options::redact_header_values;

use super::args::ModelArgs;
use super::config::{Config, ValueOrigin};
use super::error::{CliError, CliErrorKind};
use super::locate;
use super::settings::setting_origin;
use crate::domain::{ModelRole, RunSpec, Setting, SettingOrigin, Settings};
use crate::driver::{DriverError, ReplyOverride, open_recording};
use crate::provider::openai::{Endpoint, OpenAi, Profile, ProfileError};
use crate::provider::{CacheMode, CachedProvider, Provider};
use etcetera::BaseStrategy as _;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The server of those who name none.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Takes the flags in.
pub(super) fn apply_flags(config: &mut Config, models: &ModelArgs) -> Result<(), CliError> {
    for (name, text) in [
        ("run.base_url", &models.base_url),
        ("run.profile", &models.profile),
        ("run.key_env", &models.key_env),
        ("run.ca_file", &models.ca_file),
        ("run.api", &models.api),
        ("run.mentor_base_url", &models.mentor_base_url),
        ("run.mentor_profile", &models.mentor_profile),
        ("run.cache", &models.cache),
    ] {
        config.set_flag(name, text.as_deref())?;
    }
    if !models.header.is_empty() {
        config.set_flag("run.headers", Some(&models.header.join("\n")))?;
    }
    config.set_flag("run.prefetch", models.prefetch.then_some("true"))?;
    Ok(())
}

/// The endpoint of a model, from what is set here; `begun` are the settings of a run that is taken up again.
pub(super) fn resolve_endpoint(
    config: &Config,
    asked: ModelRole,
    model: &str,
    begun: Option<&Settings>,
) -> Result<Endpoint, CliError> {
    resolve_endpoint_with(config, asked, model, begun, &|name| std::env::var(name).ok())
}

fn resolve_endpoint_with(
    config: &Config,
    asked: ModelRole,
    model: &str,
    begun: Option<&Settings>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Endpoint, CliError> {
    let (role, mentor) = (asked.name(), asked == ModelRole::Mentor);
    let was = |name: &str| begun.map_or("", |s| s.text(&format!("{role}.{name}"), ""));
    let mut profile = Profile::default();
    let names = profile_names(config, asked);
    // What a person chose while the run was going on is newer than the flags it was started with.
    let chosen = begun.and_then(|s| s.0.get(&format!("{role}.profile")));
    let chosen = chosen.is_some_and(|s| s.origin == SettingOrigin::Person);
    let stays = was("profile").is_empty() || (is_set_by_flag(config, "run.profile") && !chosen);
    let names = if stays { names } else { was("profile") };
    // The shipped profile of a server on this machine knows only where such a server usually is.
    let mut usual = false;
    for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        let next = config.profile(name)?;
        if let Some(address) = &next.base_url {
            usual = config.is_shipped(name) && Endpoint::new(address, "").is_loopback();
        }
        profile = next.merge_over(profile);
    }
    if config.origin("run.api") != &ValueOrigin::Default {
        profile.api = Some(config.text("run.api").to_owned());
    } else if !was("api").is_empty() {
        profile.api = Some(was("api").to_owned());
    }
    if !model.is_empty() {
        profile.model = Some(model.to_owned());
    }
    // A flag before a profile, a profile before what is set for every run; and what is the mentor's own before what both share.
    let own_address = mentor && !config.text("run.mentor_base_url").is_empty();
    let own_profile = mentor && (chosen || !config.text("run.mentor_profile").is_empty());
    let name = if own_address { "run.mentor_base_url" } else { "run.base_url" };
    let set = config.text(name);
    let by_flag = is_set_by_flag(config, name);
    // Not what the run was started with, where a person has chosen since.
    let usual = usual && !set.is_empty() && !(chosen && by_flag);
    let over = usual || (by_flag && !chosen);
    let over_profile = if own_address { over || !own_profile } else { over && !own_profile };
    let of_profile = profile.base_url.clone().filter(|_| !over_profile);
    let from_profile = of_profile.is_some();
    let hosted = config.text("run.key_env").is_empty();
    let key = shared_options::read_key(config, variable)?;
    let here = of_profile.or_else(|| (!set.is_empty()).then(|| set.to_owned()));
    // Only the key that is named after them is theirs.
    let here =
        here.or_else(|| (hosted && key.is_some() && begun.is_none()).then(|| DEFAULT_BASE_URL.to_owned()));
    let base_url = match (here, was("base_url")) {
        (Some(here), "") => here,
        (Some(here), was) if is_set_by_flag(config, name) || Endpoint::new(&here, "").base_url == was => here,
        (here, was) if !was.is_empty() => {
            let begun = Endpoint::new(was, "");
            let hosted = was == DEFAULT_BASE_URL && here.is_none();
            if !begun.is_loopback() && !hosted {
                let here = here.map_or_else(String::new, |h| format!("; here it is {h}"));
                return Err(CliError::usage(
                    format!("the {role} of this run was asked at {was}{here}"),
                    format!("say with --base-url which one is meant: --base-url {was}"),
                ));
            }
            was.to_owned()
        }
        _ => {
            return Err(CliError::usage(
                format!("--{role} openai:{model}: no model server is known here"),
                "give its address with --base-url or OPENAI_BASE_URL, or a --profile; for OpenAI's own set OPENAI_API_KEY",
            ));
        }
    };
    profile.base_url = Some(base_url);
    let keyed = profile.key_env.is_some() || profile.key_file.is_some();
    let mut endpoint = profile.to_endpoint(variable).map_err(|e| profile_error(names, &e))?;
    if !from_profile || endpoint.is_loopback() {
        if !keyed {
            endpoint.key = key;
            endpoint.key_source = shared_options::key_source(config);
        }
        shared_options::add_headers(config, variable, &mut endpoint)?;
    }
    shared_options::set_ca_file(config, &mut endpoint)?;
    Ok(endpoint)
}

fn profile_error(names: &str, error: &ProfileError) -> CliError {
    let of = if names.is_empty() { String::new() } else { format!("profile {names}: ") };
    CliError::new(CliErrorKind::Config, format!("{of}{}", error.message), error.hint.clone())
}

fn is_set_by_flag(config: &Config, name: &str) -> bool {
    matches!(config.origin(name), ValueOrigin::Flag(_))
}

/// The names of a role's profiles.
fn profile_names(config: &Config, asked: ModelRole) -> &str {
    let mentors = config.text("run.mentor_profile");
    if asked == ModelRole::Mentor && !mentors.is_empty() { mentors } else { config.text("run.profile") }
}

/// Whether one of these texts holds a secret of the model servers that are set here.
pub(super) fn holds_secret(config: &Config, texts: &[String]) -> bool {
    let variable = |name: &str| std::env::var(name).ok();
    let of_role = |asked| resolve_endpoint_with(config, asked, "", None, &variable).ok();
    let mut endpoints: Vec<Endpoint> =
        [ModelRole::Actor, ModelRole::Mentor].into_iter().filter_map(of_role).collect();
    // A key is a secret also where no server is set that would get it.
    let keyed = |key| Endpoint { key: Some(key), ..Endpoint::new(DEFAULT_BASE_URL, "") };
    endpoints.extend(shared_options::read_key(config, &variable).ok().flatten().map(keyed));
    let providers = endpoints.into_iter().map(|endpoint| OpenAi::with_quirks(endpoint, Arc::default()));
    providers.into_iter().any(|provider| texts.iter().any(|text| provider.contains_secret(text)))
}

/// The provider of a model.
pub(super) fn model_provider(
    config: &Config,
    asked: ModelRole,
    model: &str,
    begun: Option<&Settings>,
) -> Result<Arc<dyn Provider>, CliError> {
    let endpoint = resolve_endpoint(config, asked, model, begun)?;
    if endpoint.model.is_empty() {
        return Err(CliError::usage(
            format!("--{} openai: names no model", asked.name()),
            "write openai:MODEL; `retrospect doctor` lists the models of a server",
        ));
    }
    let mode = match config.text("run.cache") {
        "read" => CacheMode::Read,
        "read-write" => CacheMode::ReadWrite,
        _ => CacheMode::Off,
    };
    let identity = endpoint.identity();
    let provider: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint));
    Ok(match mode {
        CacheMode::Off => provider,
        _ => Arc::new(CachedProvider::new(provider, identity, &cache_folder(config), mode)),
    })
}

/// What a person may take a recorded reply from: a session by its name or path, or the answers kept of the role's model.
pub(super) fn reply_override(spec: &RunSpec, config: &Config) -> ReplyOverride {
    let (spec, config) = (spec.clone(), config.clone());
    Arc::new(move |asked, source| {
        let refused = |error: CliError| DriverError::Refused(error.message, error.hint);
        if let Some(name) = source.strip_prefix("recorded:") {
            let role = asked.name();
            let find = &mut |name: &str| {
                let opened = locate::open_session(&config, Some(name)).map_err(refused)?;
                Ok((opened.meta.session, opened.timeline))
            };
            return Ok(Arc::new(open_recording(role, name, find)?) as Arc<dyn Provider>);
        }
        let actor = if asked == ModelRole::Actor { &spec.actor } else { &spec.mentor };
        let Some(model) = actor.strip_prefix("openai:").filter(|_| source == "cache") else {
            return Err(DriverError::Refused(
                format!("{source}: {actor} has no kept answers"),
                "take the reply from a recorded session".to_owned(),
            ));
        };
        cached_provider(&config, asked, model, &spec.settings).map_err(refused)
    })
}

/// The kept answers of a role's model alone: nobody is asked.
fn cached_provider(
    config: &Config,
    asked: ModelRole,
    model: &str,
    begun: &Settings,
) -> Result<Arc<dyn Provider>, CliError> {
    let endpoint = resolve_endpoint(config, asked, model, Some(begun))?;
    let identity = endpoint.identity();
    let inner: Arc<dyn Provider> = Arc::new(OpenAi::new(endpoint));
    Ok(Arc::new(CachedProvider::new(inner, identity, &cache_folder(config), CacheMode::Only)))
}

fn cache_folder(config: &Config) -> PathBuf {
    config.path("cache").unwrap_or_else(|| {
        etcetera::choose_base_strategy()
            .map_or_else(|_| PathBuf::from("answers"), |s| s.cache_dir().join("retrospect").join("answers"))
    })
}

/// How a server samples by its profile.
fn sampling_json(endpoint: &Endpoint, asked: ModelRole) -> Value {
    let (sampling, number) = (&endpoint.sampling, |name: &str| endpoint.sampling_number(name));
    json!({
        "temperature": number("temperature"), "top_p": number("top_p"), "top_k": number("top_k").map(|k| k as u64),
        "repetition_penalty": number("repetition_penalty"), "max_tokens": endpoint.max_tokens(asked), "seed": sampling.seed,
    })
}

/// What a run that was changed on its way is to say of the servers it asks from then on, where it does not say it: all of it
/// comes from their profiles. One that cannot be had is said when it is asked for.
pub(super) fn missing_server_settings(spec: &RunSpec, config: &Config) -> Vec<(String, Setting)> {
    let mut noted = Vec::new();
    for (asked, name) in [(ModelRole::Actor, &spec.actor), (ModelRole::Mentor, &spec.mentor)] {
        let Some(model) = name.strip_prefix("openai:") else { continue };
        let Ok(endpoint) = resolve_endpoint(config, asked, model, Some(&spec.settings)) else { continue };
        for (part, value) in [
            ("base_url", json!(endpoint.display_url())),
            ("sampling", sampling_json(&endpoint, asked)),
            ("unsent", json!(endpoint.unsent_settings())),
        ] {
            let setting = Setting { value, origin: SettingOrigin::Config };
            noted.push((format!("{}.{part}", asked.name()), setting));
        }
    }
    noted
}

/// Writes down which servers a new run uses, without a secret.
pub(super) fn record_servers(
    config: &Config,
    actor: &str,
    mentor: &str,
    settings: &mut Settings,
) -> Result<(), CliError> {
    for (asked, name) in [(ModelRole::Actor, actor), (ModelRole::Mentor, mentor)] {
        let Some(model) = name.strip_prefix("openai:") else { continue };
        let endpoint = resolve_endpoint(config, asked, model, None)?;
        let role = asked.name();
        let profile = profile_names(config, asked);
        let from =
            if profile.is_empty() { config.origin("run.base_url") } else { config.origin("run.profile") };
        let from = setting_origin(from);
        let mut put = |name: &str, value: Value, from: SettingOrigin| {
            settings.set(&format!("{role}.{name}"), value, from);
        };
        put("base_url", json!(endpoint.display_url()), from);
        if !profile.is_empty() {
            put("profile", json!(profile), from);
        }
        if config.origin("run.api") != &ValueOrigin::Default {
            put("api", json!(config.text("run.api")), setting_origin(config.origin("run.api")));
        }
        put("sampling", sampling_json(&endpoint, asked), SettingOrigin::Config);
        put("unsent", json!(endpoint.unsent_settings()), from);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
