//! The entries of the methods.

mod dora;
mod expel;
mod fcrf;
mod omnireflect;
mod planning;
mod rci;
mod react;
mod reflexion;
mod sweet_sour;

use super::extension::{Extension, extension};
use super::method_entry::MethodEntry;
use super::method_option::ExemplarFile;
use std::sync::LazyLock;

/// All methods, in the order in which screens list them: the built-in ones, then those of an extension.
pub static METHODS: LazyLock<Vec<&'static MethodEntry>> = LazyLock::new(|| with(extension()));

/// Returns the files with exemplars that methods declare.
pub fn exemplar_files() -> impl Iterator<Item = &'static ExemplarFile> {
    METHODS.iter().filter_map(|method| method.exemplar_file.as_ref())
}

/// The names of all methods, in the same order.
pub static METHOD_NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| METHODS.iter().map(|entry| entry.name).collect());

const BUILT_IN: &[&MethodEntry] = &[
    &react::ENTRY,
    &omnireflect::ENTRY,
    &reflexion::ENTRY,
    &fcrf::ENTRY,
    &sweet_sour::ENTRY,
    &planning::ENTRY,
    &expel::ENTRY,
    &rci::ENTRY,
    &dora::ENTRY,
];

/// The method whose prompts methods without their own use, and that `play` names where it applies an interface. A run that names none plays
/// [`CALIBRATION_METHOD`].
pub const BASE_METHOD: &MethodEntry = &react::ENTRY;

/// The method that reflects on calibration episodes, whichever method the test episodes use.
pub const CALIBRATION_METHOD: &MethodEntry = &omnireflect::ENTRY;

/// Returns the built-in methods and those of an extension.
pub(super) fn with(extension: &Extension) -> Vec<&'static MethodEntry> {
    BUILT_IN.iter().chain(extension.methods).copied().collect()
}
