//! `rerun`: one episode of a session once more, as a session of its own.

use super::config::Config;
use super::fault::{Fault, FaultKind};
use super::out::Out;
use super::setup::{Plan, launch, same_templates, world_options};
use super::{args, place, run};
use crate::domain::{Lesson, RunSpec, Seq, SettingOrigin};
use crate::engine::{FROM_EPISODE, FROM_SESSION, LessonWish};
use std::time::Duration;

/// `rerun PATH#E`.
pub(super) fn rerun(mut config: Config, args: &args::Rerun, out: Out) -> Result<(), Fault> {
    config.flag("run.on_error", args.drive.on_error.map(run::policy_word))?;
    config.flag("run.prompts", args.prompts.as_ref().map(|p| p.display().to_string()).as_deref())?;
    let (path, number) = split(&args.path)?;
    let opened = place::open(&config, path)?;
    let session = opened.meta.session.clone();
    let head = opened.timeline.head().clone();
    let past = head.past.iter().find(|p| p.number == number);
    let open = head.episode.as_ref().filter(|e| e.number == number);
    let began = past.map(|p| p.span.0).or(open.map(|e| e.first_seq.0)).ok_or_else(|| {
        Fault::usage(
            format!("{session}: there is no episode {number}; it has {}", head.past.len()),
            "`retrospect open` shows them; the run view lists them",
        )
    })?;
    // The moment before its first event: the lessons, and the settings as they had become by then.
    let before = opened.timeline.state_at(Seq(began.saturating_sub(1)));
    let start = opened.timeline.state_at(Seq(began));
    let (Some(then), Some(episode)) = (before.run.as_deref(), start.episode.as_deref()) else {
        return Err(Fault::new(
            FaultKind::Session,
            format!("{session}: the beginning of episode {number} cannot be read"),
            "`retrospect verify` says what is wrong with the session",
        ));
    };
    let mut spec = RunSpec { tasks: vec![episode.task.clone()], trials: 1, ..then.clone() };
    spec.settings.set(FROM_SESSION, session.clone(), SettingOrigin::Flag);
    // An episode that is itself one of a rerun keeps the seeds of the first.
    let first = then.settings.number(FROM_EPISODE, 1).max(1);
    spec.settings.set(FROM_EPISODE, u64::from(number) + first - 1, SettingOrigin::Flag);
    // Other templates than it was begun with are refused, or meant and then written down.
    if let Some(hash) = same_templates(&spec, &config, args.accept_prompts)? {
        spec.settings.set("templates", hash, SettingOrigin::Flag);
    }
    let source = format!("{session}#{number}");
    let load = |l: &Lesson| (source.clone(), LessonWish::Load(Box::new(l.clone())));
    let pool = before.pool.all().filter(|l| l.in_force()).map(load).collect();
    let worlds = world_options(&config);
    let launch = launch(&spec, &config, &worlds, Duration::ZERO)?;
    run::begin(
        &config,
        Plan { spec, pool, launch, worlds, warnings: Vec::new() },
        &args.drive,
        &args.screen,
        out,
    )
}

/// Session and episode; `--last` stands for the newest session. `#E.S` means episode E as well.
fn split(text: &str) -> Result<(Option<&str>, u32), Fault> {
    let wrong = || {
        Fault::usage(
            format!("{text:?} names no episode: expected PATH#EPISODE"),
            "such as `retrospect rerun sessions/NAME#3`, or `retrospect rerun --last#3`",
        )
    };
    let (path, at) = text.rsplit_once('#').ok_or_else(wrong)?;
    let number = at.split('.').next().unwrap_or(at).parse().map_err(|_| wrong())?;
    if number == 0 {
        return Err(wrong());
    }
    Ok((Some(path).filter(|p| *p != "--last"), number))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn an_episode_is_named_by_session_and_number() {
        assert_eq!(split("a/b#3").unwrap(), (Some("a/b"), 3));
        assert_eq!(split("a#b#3.14").unwrap(), (Some("a#b"), 3));
        assert_eq!(split("--last#1").unwrap(), (None, 1));
        for wrong in ["a/b", "a#", "a#x", "a#0", "#"] {
            assert!(split(wrong).is_err(), "{wrong}");
        }
    }
}
