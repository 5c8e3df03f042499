//! The sampling parameters that a paper or a public code prescribes.

use crate::catalog::PaperRow;
use crate::catalog::{CALIBRATION_METHOD, find_method, has_no_mentor};
use crate::cli::config::{Config, keys};
use crate::cli::error::CliError;
use crate::cli::models::resolve_endpoint;
use crate::domain::{ModelRole, PaperOrCode, RunSpec, SettingOrigin, sampling_param};
use serde_json::Value;

/// Sets the sampling parameters of a row's paper (one that it doesn't state isn't sent), and with `--as code` those of the
/// method's public code, for the roles that a model has. Without either, `top_p` isn't sent if neither the method's paper
/// nor the server's profile states it. What a person has set and what a server's profile changes or omits stays.
pub(super) fn apply_prescribed_sampling(
    config: &Config,
    row: Option<&PaperRow>,
    spec: &mut RunSpec,
) -> Result<(), CliError> {
    let roles = [ModelRole::Actor, ModelRole::Mentor];
    let stated = row.into_iter().flat_map(PaperRow::sampling).map(|(name, value)| (name, value.clone()));
    let unstated = row.into_iter().flat_map(PaperRow::unstated_sampling);
    let unstated = unstated.map(|name| (name, Value::Bool(false)));
    let of_paper = stated.chain(unstated).flat_map(|(name, value)| {
        roles.map(|role| (format!("{}.{name}", role.name()), value.clone(), SettingOrigin::Paper))
    });
    let is_code = config.get(keys::AS) == PaperOrCode::Code;
    let entry = find_method(&spec.method).filter(|_| is_code);
    let of_code = entry.into_iter().flat_map(|entry| entry.code_sampling);
    let of_code = of_code.map(|(name, value)| ((*name).to_owned(), value.to_json(), SettingOrigin::Code));
    // The row of a paper that compares with a method has its own parameters for it, so they come first.
    let all: Vec<(String, Value, SettingOrigin)> = of_paper.chain(of_code).collect();
    for role in roles {
        let Some(model) = spec.role_source(role).model() else { continue };
        let endpoint = resolve_endpoint(config, role, model, None)?;
        let asking = if role == ModelRole::Mentor && has_no_mentor(&spec.method) {
            // Only a calibration calls the mentor.
            Some(CALIBRATION_METHOD)
        } else {
            find_method(&spec.method)
        };
        let unstated = asking
            .filter(|entry| !entry.states_top_p && !endpoint.states_top_p)
            .map(|entry| (format!("{}.top_p", role.name()), Value::Bool(false), entry.paper_origin()));
        for (name, value, origin) in all.iter().chain(&unstated) {
            let is_free = !spec.settings.contains(name);
            if sampling_param(name).is_some_and(|(of, param)| of == role && endpoint.has_default(param.name))
                && is_free
            {
                spec.settings.set(name, value.clone(), *origin);
            }
        }
    }
    Ok(())
}
