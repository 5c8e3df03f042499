//! The entries that a program built on this crate adds to the built-in ones.

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

/// Sets the added entries. Returns false if entries have been set or looked up before.
pub(super) fn set(extension: Extension) -> bool {
    EXTENSION.set(extension).is_ok()
}

/// Returns the added entries. Nothing can be added afterwards.
pub(super) fn extension() -> &'static Extension {
    EXTENSION.get_or_init(Extension::default)
}
