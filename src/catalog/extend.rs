//! Adds the entries of a program built on this crate, after checking them (`docs/EXTENDING.md`).

use super::extension::{self, Extension};
use super::lane::LaneFormat;
use super::method_entry::MethodEntry;
use super::{environments, methods, settings, templates};
use crate::domain::ReflectionKind;
use crate::prompt::{TemplateError, Templates};
use std::collections::BTreeSet;

/// Entries that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// Entries have been added or looked up before.
    #[error("the catalog can be extended only once, before anything else; call extend() first in main()")]
    TooLate,
    /// Two entries have the same name.
    #[error("there are two {what}s named {name:?}; choose another name")]
    Duplicate { what: &'static str, name: String },
    /// A kind of lesson has no lane in a method.
    #[error("method {method}: no lane shows lessons of the kind {kind}; add it to Lane::other(..)")]
    NoLane { method: &'static str, kind: &'static str },
    /// The lanes of a method don't end with the one for all other kinds of lessons.
    #[error("method {method}: the last lane must be Lane::other(..)")]
    OtherLane { method: &'static str },
    /// An option of an environment has no words, so no default.
    #[error("the option {option} allows no words; its first word is the default")]
    NoWords { option: &'static str },
    /// A prompt template can't be parsed.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// Adds the entries of a program, which calls this first of all.
///
/// # Errors
/// Returns an [`ExtensionError`] for the first entry that can't be added, or if this is called too late.
pub fn extend(extension: Extension) -> Result<(), ExtensionError> {
    check(&extension)?;
    if extension::set(extension) { Ok(()) } else { Err(ExtensionError::TooLate) }
}

/// Checks the entries of an extension together with the built-in ones.
pub(super) fn check(extension: &Extension) -> Result<(), ExtensionError> {
    let methods = methods::with(extension);
    let environments = environments::with(extension);
    check_names("method", methods.iter().map(|entry| entry.name))?;
    check_names("environment", environments.iter().map(|entry| entry.name))?;
    check_names("job", methods.iter().flat_map(|entry| entry.jobs).map(|job| job.name))?;
    check_names("setting", settings::table(&methods, &environments).iter().map(|setting| setting.name))?;
    for method in &methods {
        check_lanes(method)?;
    }
    let options = || environments.iter().flat_map(|entry| entry.options);
    check_names("configuration key", options().map(|option| option.name))?;
    check_names("environment variable", options().map(|option| option.variable))?;
    if let Some(option) = options().find(|option| option.words.is_empty()) {
        return Err(ExtensionError::NoWords { option: option.name });
    }
    let files = templates::files(&methods, &environments);
    check_names("template file", files.files.iter().map(|(name, _)| *name))?;
    Templates::parse(&files, Vec::new())?;
    Ok(())
}

fn check_names<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ExtensionError> {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name) {
            return Err(ExtensionError::Duplicate { what, name: name.to_owned() });
        }
    }
    Ok(())
}

fn check_lanes(method: &MethodEntry) -> Result<(), ExtensionError> {
    for kind in ReflectionKind::ALL {
        if !method.lanes.iter().any(|lane| lane.kinds.contains(&kind)) {
            return Err(ExtensionError::NoLane { method: method.name, kind: kind.name() });
        }
    }
    match method.lanes.last() {
        Some(lane) if lane.format == LaneFormat::Other => Ok(()),
        _ => Err(ExtensionError::OtherLane { method: method.name }),
    }
}
