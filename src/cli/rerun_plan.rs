//! Plans a run that plays one episode of a session again.

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::setup::{Plan, build_run_config, check_templates, record_templates};
use super::worlds::world_options;
use super::{lesson_sources, locate};
use crate::domain::Lesson;
use crate::driver::{EpisodeReplay, ReplayError};
use crate::engine::LessonCommand;
use crate::timeline::Timeline;
use std::time::Duration;

/// Plans a run that plays one episode of a session again, with the lessons, seeds, trial number, method memory and last
/// attempt at the task that were current when the episode started.
pub(super) fn plan_rerun(
    config: &Config,
    path: Option<&str>,
    number: u32,
    accept_prompts: bool,
) -> Result<Plan, CliError> {
    let opened = locate::open_session(config, path)?;
    plan_rerun_of(config, &opened.timeline, &opened.meta.session, number, accept_prompts)
}

/// Like [`plan_rerun`], of a session that is open already: one that ships with the program, or is inside a report.
pub(super) fn plan_rerun_of(
    config: &Config,
    timeline: &Timeline,
    session: &str,
    number: u32,
    accept_prompts: bool,
) -> Result<Plan, CliError> {
    let replay = EpisodeReplay::from_timeline(timeline, session, number)
        .map_err(|error| to_cli_error(session, number, &error))?;
    let EpisodeReplay { original, mut spec, source, lessons, start, .. } = replay;
    // Templates that differ from those of the session are an error unless accepted.
    check_templates(&original, config, accept_prompts)?;
    record_templates(&mut spec, config)?;
    let load = |lesson: Lesson| {
        let lesson = lesson_sources::loadable(&lesson, timeline.head());
        (source.clone(), LessonCommand::Load(Box::new(lesson)))
    };
    let pool = lessons.into_iter().map(load).collect();
    let worlds = world_options(config);
    let mut run_config = build_run_config(&spec, config, &worlds, Duration::ZERO)?;
    run_config.replay_start = Some(Box::new(start));
    let unused_mentor = crate::catalog::unused_mentor_reason(&spec);
    let warnings = unused_mentor
        .into_iter()
        .chain(crate::catalog::unsuited_actor_warning(&spec))
        .chain(crate::catalog::uninformed_mentor_warning(&spec))
        .collect();
    Ok(Plan { spec, lessons: pool, run_config, world_options: worlds, warnings })
}

/// Says why an episode of a session can't be played again.
pub(super) fn to_cli_error(session: &str, number: u32, error: &ReplayError) -> CliError {
    match error {
        ReplayError::NoEpisode(episodes) => CliError::usage(
            format!("{session}: no episode {number}; the session has {episodes}"),
            "choose an existing episode; `retrospect open` lists them in the run view",
        ),
        ReplayError::Unreadable => CliError::new(
            CliErrorKind::Session,
            format!("{session}: can't read the beginning of episode {number}"),
            "`retrospect verify` shows what is wrong with the session",
        ),
        ReplayError::Imported(format) => CliError::new(
            CliErrorKind::Session,
            format!(
                "{session}: an imported {format} run can't be played again: its environment's data is not in it"
            ),
            "start a new run; `--reflexion DIR` continues a run directory with its plans",
        ),
    }
}
