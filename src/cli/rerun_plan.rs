//! Plans a run that plays one episode of a session again.

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::locate;
use super::setup::{Plan, build_run_config, check_templates, record_templates};
use super::worlds::world_options;
use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, EpisodeRole, FIRST_EPISODE_SETTING, FIRST_TRIAL_SETTING,
    Lesson, RunSpec, SEED_EPISODE_SETTING, SEED_TASK_COUNT_SETTING, SOURCE_SESSION_SETTING, Scope, Seq,
    SettingOrigin,
};
use crate::engine::{Attempt, Episode, LessonCommand, ReplayStart, State, seeded_episode};
use crate::journal::import::imported_format;
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
    let session = opened.meta.session.clone();
    let head = opened.timeline.head().clone();
    let ended = head.ended_episodes.iter().find(|p| p.number == number);
    let open = head.episode.as_ref().filter(|e| e.number == number);
    let first_seq = ended.map(|p| p.seq_range.0).or(open.map(|e| e.first_seq.0)).ok_or_else(|| {
        CliError::usage(
            format!("{session}: no episode {number}; the session has {}", head.ended_episodes.len()),
            "choose an existing episode; `retrospect open` lists them in the run view",
        )
    })?;
    // The state before its first event has the lessons and settings that were current then.
    let before = opened.timeline.state_at(Seq(first_seq.saturating_sub(1)));
    let start = opened.timeline.state_at(Seq(first_seq));
    let (Some(run), Some(episode)) = (before.run.as_deref(), start.episode.as_deref()) else {
        return Err(CliError::new(
            CliErrorKind::Session,
            format!("{session}: can't read the beginning of episode {number}"),
            "`retrospect verify` shows what is wrong with the session",
        ));
    };
    if let Some(format) = imported_format(run) {
        return Err(CliError::new(
            CliErrorKind::Session,
            format!(
                "{session}: an imported {format} run can't be played again: its environment's data is not in it"
            ),
            "start a new run; `--reflexion DIR` continues a run directory with its plans",
        ));
    }
    let mut spec = RunSpec { tasks: vec![episode.task.clone()], ..run.clone() };
    spec.settings.set(SOURCE_SESSION_SETTING, session.clone(), SettingOrigin::Flag);
    // The episode keeps its number, from which its seeds are derived.
    spec.settings.set(FIRST_EPISODE_SETTING, u64::from(number), SettingOrigin::Flag);
    spec.settings.set(FIRST_TRIAL_SETTING, u64::from(episode.trial), SettingOrigin::Flag);
    if run.settings.contains(SEED_TASK_COUNT_SETTING) {
        // Its seeds are derived from the index of its task, and the new run has only this task.
        let index = run.test_tasks().iter().position(|t| t.key() == episode.task.key()).unwrap_or(0);
        let first = seeded_episode(Some(run), index as u32 + 1);
        spec.settings.set(SEED_EPISODE_SETTING, u64::from(first), SettingOrigin::Flag);
    }
    // A calibration or exploration episode keeps its role. For a test episode both counts become 0, so that no such
    // episode is played first.
    for (name, role) in
        [(CALIBRATION_SETTING, EpisodeRole::Calibrate), (EXPLORATION_SETTING, EpisodeRole::Explore)]
    {
        if spec.settings.contains(name) {
            spec.settings.set(name, u64::from(episode.role == role), SettingOrigin::Flag);
        }
    }
    // Templates that differ from those of the session are an error unless accepted.
    check_templates(run, config, accept_prompts)?;
    record_templates(&mut spec, config)?;
    let source = format!("{session}#{number}");
    // `start` is taken after the previous episode has ended: its attempt is stored and its lessons of scope episode are
    // gone.
    let active_lessons: Vec<&Lesson> = start.pool.all().filter(|l| l.is_active()).collect();
    let learnt = active_lessons.iter().map(|l| (l.id.clone(), l.learnt_at.0, l.learnt_at.1)).collect();
    let load =
        |l: &&Lesson| (source.clone(), LessonCommand::Load(Box::new(bind_to_task(l, &before, episode))));
    let pool = active_lessons.iter().map(load).collect();
    let attempt = start.last_attempt(&episode.task).map(|attempt| Box::new(Attempt::from_episode(attempt)));
    let mut successes: Vec<Attempt> = start.successes.values().map(|e| Attempt::from_episode(e)).collect();
    successes.sort_by_key(|success| success.number);
    let worlds = world_options(config);
    let mut run_config = build_run_config(&spec, config, &worlds, Duration::ZERO)?;
    let memory = before.memory.clone();
    run_config.replay_start =
        Some(Box::new(ReplayStart { source, attempt, successes, memory, learnt_at: learnt }));
    let unused_mentor = crate::catalog::unused_mentor_reason(&spec);
    let warnings = unused_mentor.into_iter().chain(crate::catalog::unsuited_actor_warning(&spec)).collect();
    Ok(Plan { spec, lessons: pool, run_config, world_options: worlds, warnings })
}

/// Returns a copy of a lesson. If its scope excludes the replayed task, sets the copy's task key to the task it was
/// learnt in, because the new session doesn't know the tasks of the earlier episodes.
fn bind_to_task(lesson: &Lesson, before: &State, episode: &Episode) -> Lesson {
    let mut lesson = lesson.clone();
    let learnt_in = before.ended_episode(lesson.learnt_at.0).map(|p| &p.task);
    if let Some(task) = learnt_in.filter(|_| lesson.task_key.is_none()) {
        let same_type = task.env == episode.task.env && task.task_type == episode.task.task_type;
        if lesson.scope == Scope::Task || (lesson.scope == Scope::TaskType && !same_type) {
            lesson.task_key = Some(task.key().into());
        }
    }
    lesson
}
