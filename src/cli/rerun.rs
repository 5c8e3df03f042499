//! The `rerun` verb: plays one episode of a session again, as a new session.

use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::{args, rerun_plan, run};

/// Runs `rerun PATH#E`.
pub(super) fn rerun(mut config: Config, args: &args::Rerun, out: Output) -> Result<(), CliError> {
    args.drive.keys.apply(&mut config)?;
    args.keys.apply(&mut config)?;
    args.program.apply_to_session(&mut config)?;
    let (path, number) = parse_path(&args.path)?;
    let plan = rerun_plan::plan_rerun(&config, path, number, args.accept_prompts)?;
    run::start_run(&config, plan, &args.drive, &args.screen, out)
}

/// Parses session path and episode number. The path `--last` (returned as `None`) is the newest session; `#E.S` also
/// means episode E.
fn parse_path(text: &str) -> Result<(Option<&str>, u32), CliError> {
    let invalid = || {
        CliError::usage(
            format!("{text:?}: no episode given, expected PATH#EPISODE"),
            "for example `retrospect rerun sessions/NAME#3` or `retrospect rerun --last#3`",
        )
    };
    let (path, at) = text.rsplit_once('#').ok_or_else(invalid)?;
    let number = at.split('.').next().unwrap_or(at).parse().map_err(|_| invalid())?;
    if number == 0 {
        return Err(invalid());
    }
    Ok((Some(path).filter(|p| *p != "--last"), number))
}

#[cfg(test)]
mod tests {
    use super::parse_path;

    #[test]
    fn an_episode_is_given_by_session_and_number() {
        assert_eq!(parse_path("a/b#3").unwrap(), (Some("a/b"), 3));
        assert_eq!(parse_path("a#b#3.14").unwrap(), (Some("a#b"), 3));
        assert_eq!(parse_path("--last#1").unwrap(), (None, 1));
        for invalid in ["a/b", "a#", "a#x", "a#0", "#"] {
            assert!(parse_path(invalid).is_err(), "{invalid}");
        }
    }
}
