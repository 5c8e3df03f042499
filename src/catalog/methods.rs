//! The entries of the methods.

mod fcrf;
mod omnireflect;
mod planning;
mod react;
mod reflexion;
mod sweet_sour;

use super::method_entry::MethodEntry;

/// All methods, in the order in which screens list them.
pub const METHODS: &[&MethodEntry] = &[
    &react::ENTRY,
    &omnireflect::ENTRY,
    &reflexion::ENTRY,
    &fcrf::ENTRY,
    &sweet_sour::ENTRY,
    &planning::ENTRY,
];

/// The method that reflects on calibration episodes, whichever method the test episodes use.
pub const CALIBRATION_METHOD: &MethodEntry = &omnireflect::ENTRY;
