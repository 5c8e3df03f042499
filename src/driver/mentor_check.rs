//! Refuses changes of a run after which its mentor could not write what the settings ask for.

use crate::catalog::unsuited_mentor_reason;
use crate::domain::{RunSpec, Setting, SettingOrigin};
use crate::engine::{Cause, CommandError, Event};

/// Checks the events of a command: a run must not lose the model that its settings need as mentor, nor get settings that
/// need one. A run that already lacks it can still be changed in other ways.
///
/// # Errors
/// Returns the same reason as the start of such a run, and what to change first.
pub(super) fn check_mentor(run: Option<&RunSpec>, events: &[(Cause, Event)]) -> Result<(), CommandError> {
    let reason = |run: &RunSpec| unsuited_mentor_reason(&run.method, &run.mentor, &run.settings);
    let Some(run) = run else { return Ok(()) };
    let before = reason(run);
    for (_, event) in events {
        let (after, hint) = match event {
            Event::SettingChanged { name, value } => {
                let mut after = run.clone();
                let setting = Setting { value: value.clone(), origin: SettingOrigin::Person };
                after.change_setting(name, Some(setting));
                (reason(&after), "change the mentor first, to openai:MODEL or recorded:PATH")
            }
            Event::RunChanged { spec } => {
                (reason(spec), "choose openai:MODEL or recorded:PATH as mentor, or change that setting first")
            }
            _ => continue,
        };
        if let Some(why) = after.filter(|why| before.as_ref() != Some(why)) {
            return Err(CommandError::new(why, hint));
        }
    }
    Ok(())
}
