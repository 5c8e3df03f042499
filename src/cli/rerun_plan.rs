//! One episode of a session as a run of its own.

use super::config::Config;
use super::error::{CliError, CliErrorKind};
use super::locate;
use super::setup::{Plan, build_run_config, check_templates};
use super::worlds::world_options;
use crate::domain::{
    CALIBRATION_SETTING, EXPLORATION_SETTING, EpisodeRole, Lesson, RunSpec, Scope, Seq, SettingOrigin,
};
use crate::engine::{
    Attempt, Episode, FIRST_EPISODE_SETTING, FIRST_TRIAL_SETTING, LessonCommand, ReplaySeed,
    SEED_EPISODE_SETTING, SEED_TASK_COUNT_SETTING, SOURCE_SESSION_SETTING, State, seeded_episode,
};
use std::time::Duration;

/// The run that plays one episode of a session again: the lessons, the seeds, the trial, the memory of the method and the
/// last attempt at the task are those of its start.
pub(super) fn plan_rerun(
    config: &Config,
    path: Option<&str>,
    number: u32,
    accept_prompts: bool,
) -> Result<Plan, CliError> {
    let opened = locate::open_session(config, path)?;
    let session = opened.meta.session.clone();
    let head = opened.timeline.head().clone();
    let past = head.ended_episodes.iter().find(|p| p.number == number);
    let open = head.episode.as_ref().filter(|e| e.number == number);
    let began = past.map(|p| p.seq_range.0).or(open.map(|e| e.first_seq.0)).ok_or_else(|| {
        CliError::usage(
            format!("{session}: there is no episode {number}; it has {}", head.ended_episodes.len()),
            "`retrospect open` shows them; the run view lists them",
        )
    })?;
    // The moment before its first event: the lessons, and the settings as they had become by then.
    let before = opened.timeline.state_at(Seq(began.saturating_sub(1)));
    let start = opened.timeline.state_at(Seq(began));
    let (Some(then), Some(episode)) = (before.run.as_deref(), start.episode.as_deref()) else {
        return Err(CliError::new(
            CliErrorKind::Session,
            format!("{session}: the beginning of episode {number} cannot be read"),
            "`retrospect verify` says what is wrong with the session",
        ));
    };
    let mut spec = RunSpec { tasks: vec![episode.task.clone()], ..then.clone() };
    spec.settings.set(SOURCE_SESSION_SETTING, session.clone(), SettingOrigin::Flag);
    // It keeps its number, of which its seeds are made.
    spec.settings.set(FIRST_EPISODE_SETTING, u64::from(number), SettingOrigin::Flag);
    spec.settings.set(FIRST_TRIAL_SETTING, u64::from(episode.trial), SettingOrigin::Flag);
    if then.settings.0.contains_key(SEED_TASK_COUNT_SETTING) {
        // Its seeds come from the place of its task, which is alone now.
        let place = then.test_tasks().iter().position(|t| t.key() == episode.task.key()).unwrap_or(0);
        let first = seeded_episode(Some(then), place as u32 + 1);
        spec.settings.set(SEED_EPISODE_SETTING, u64::from(first), SettingOrigin::Flag);
    }
    // What was played to learn from is played so again; of a test nothing comes before it.
    for (name, role) in
        [(CALIBRATION_SETTING, EpisodeRole::Calibrate), (EXPLORATION_SETTING, EpisodeRole::Explore)]
    {
        if spec.settings.0.contains_key(name) {
            spec.settings.set(name, u64::from(episode.role == role), SettingOrigin::Flag);
        }
    }
    // Other templates than it was begun with are refused, or meant and then written down.
    if let Some(hash) = check_templates(&spec, config, accept_prompts)? {
        spec.settings.set("templates", hash, SettingOrigin::Flag);
    }
    let source = format!("{session}#{number}");
    // The episode before it is over once this one begins: its attempt is held then, and lessons of its own are gone.
    let in_force: Vec<&Lesson> = start.pool.all().filter(|l| l.is_active()).collect();
    let learnt = in_force.iter().map(|l| (l.id.clone(), l.learnt_at.0, l.learnt_at.1)).collect();
    let load =
        |l: &&Lesson| (source.clone(), LessonCommand::Load(Box::new(bind_to_task(l, &before, episode))));
    let pool = in_force.iter().map(load).collect();
    let attempt = start.last_attempt(&episode.task).map(|attempt| Box::new(Attempt::from_episode(attempt)));
    let worlds = world_options(config);
    let mut launch = build_run_config(&spec, config, &worlds, Duration::ZERO)?;
    launch.replay_seed =
        Some(Box::new(ReplaySeed { source, attempt, memory: before.memory.clone(), learnt_at: learnt }));
    let warnings = crate::method::unused_mentor_reason(&spec).into_iter().collect();
    Ok(Plan { spec, lessons: pool, run_config: launch, world_options: worlds, warnings })
}

/// A lesson that says which task it is about, where it reaches no other: the tasks of the other episodes are not known to
/// the session that loads it.
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
