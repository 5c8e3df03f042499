//! What stands in for the screen in a build without the `tui` feature: every verb that would show it says so.

use super::config::Config;
use super::error::Fault;
use super::out::Out;
use super::place::Opened;
use super::watch::Shown;
use super::{args, setup::Plan};
use crate::report::At;

/// What every verb says that would show it.
pub(super) fn none() -> Fault {
    Fault::usage(
        "this program was built without the screen",
        "use --plain or --headless, or build it with the feature `tui`",
    )
}

pub(super) fn start(_: &Config, _: Plan, _: &args::Screen, _: Vec<String>, _: &mut Out) -> Result<(), Fault> {
    Err(none())
}

pub(super) fn show(_: &Config, _: Shown<'_>, _: &args::Screen, _: &mut Out) -> Result<(), Fault> {
    Err(none())
}

pub(super) fn picture(_: &Config, _: Opened, _: At, _: (u16, u16), _: Option<&str>) -> Result<String, Fault> {
    Err(none())
}

pub(super) fn check_theme(_: &Config, look: &args::Screen) -> Result<(), Fault> {
    if look.theme.is_some() { Err(none()) } else { Ok(()) }
}

pub(super) fn complaints(_: &Config) -> [(&'static str, Vec<String>); 0] {
    []
}
