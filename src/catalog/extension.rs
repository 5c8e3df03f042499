//! Entries that a program built on this crate adds to the built-in ones (`docs/EXTENDING.md`).

use super::environment_entry::EnvironmentEntry;
use super::method_entry::MethodEntry;
use std::sync::OnceLock;

/// Methods and environments of a program built on this crate. Screens list them after the built-in ones.
#[derive(Clone, Copy, Default)]
pub struct Extension {
    pub methods: &'static [&'static MethodEntry],
    pub environments: &'static [&'static EnvironmentEntry],
}

static EXTENSION: OnceLock<Extension> = OnceLock::new();

/// Adds the entries of a program, which calls this first of all.
///
/// # Errors
/// Returns a message if entries have been added or looked up before.
pub fn extend(extension: Extension) -> Result<(), &'static str> {
    EXTENSION.set(extension).map_err(|_| "the catalog is extended once, before anything else")
}

/// Returns the added entries. Nothing can be added afterwards.
pub(super) fn extension() -> &'static Extension {
    EXTENSION.get_or_init(Extension::default)
}
