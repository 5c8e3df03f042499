//! Turns the flags of `lessons effect` into measurements.

use super::log_error;
use crate::cli::args::{EffectArgs, OnlyColumn, OutcomeWord, PlaceboWord};
use crate::cli::config::{Config, keys, method_entries};
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::lessons::parse_typed_lesson;
use crate::cli::output::Output;
#[cfg(feature = "tui")]
use crate::cli::pool::pool_path;
use crate::cli::pool::{PoolFile, find_lesson, typed_pool_lesson};
use crate::cli::setup::{build_run_config, check_templates, plan_run};
use crate::cli::worlds::{task_selection, world_options};
use crate::cli::{lesson_environments, lesson_sources, locate};
use crate::domain::{Lesson, LessonText, RunSpec, Task};
use crate::driver::measure::{
    DesignError, EpisodePlace, FEW_PAIRS, LOG_NAME, MANY_PAIRS, MeasureChoices, MeasuredSession, Measurement,
    PlaceboKind, SeveralLessons, measure_each, measure_over_tasks, measurements_folder, read_log,
};
use crate::driver::{DriverError, RunFactory, worlds};
use crate::engine::{LessonCommand, State};
use crate::env::TaskOptions;
use crate::report::effect::{DetectableEffect, PlannedCost};
#[cfg(feature = "tui")]
use crate::report::effect::{describe_cost, describe_detectable};
use crate::timeline::effect::{Contrast, EffectBudget, EffectLog, Outcome, Shard};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A measurement with its place on the disk.
pub(super) struct Prepared {
    pub(super) measurement: Measurement,
    pub(super) log: PathBuf,
    /// The state of the session, from whose episodes the costs are estimated.
    pub(super) recorded: Option<Arc<State>>,
}

impl Prepared {
    /// Reads what the log has, so that the plan is about the rest.
    pub(super) fn find_played(&mut self) -> Result<(), CliError> {
        if self.log.is_file() {
            let records = read_log(&self.log).map_err(|error| log_error(&error))?;
            if let Some(known) = EffectLog::fold(records) {
                self.measurement.continue_from(&known);
            }
        }
        Ok(())
    }
}

/// Designs the measurements that the flags ask for: one, or the two columns of a panel.
pub(super) fn prepare(
    config: &mut Config,
    pool: &Path,
    args: &EffectArgs,
    out: &mut Output,
) -> Result<Vec<Prepared>, CliError> {
    args.models.apply(config)?;
    let mut choices = choices(config, args)?;
    if args.session.is_some() {
        args.task_args().apply(config)?;
        args.method_keys.apply(config)?;
        return prepare_panel(config, pool, args, &mut choices, out);
    }
    if !args.names_tasks() && args.task_keys.get(&keys::ENV.entry()).is_none() {
        return Err(CliError::usage(
            "lessons effect: nothing to measure in",
            "name a session (--session PATH), or tasks (--env E --tasks NAME)",
        ));
    }
    prepare_task_set(config, pool, args, choices)
}

fn prepare_panel(
    config: &Config,
    pool: &Path,
    args: &EffectArgs,
    choices: &mut MeasureChoices,
    out: &mut Output,
) -> Result<Vec<Prepared>, CliError> {
    refuse_settings_of_the_session(args)?;
    let opened = locate::open_session(config, args.session.as_deref())?;
    let head = opened.timeline.head().clone();
    let Some(run) = head.run.as_deref() else { return Err(to_cli_error(DesignError::NoRun)) };
    // Both arms are played with the current prompts, so other ones in the session don't make the comparison unfair.
    if let Err(error) = check_templates(run, config, false) {
        out.print_note(&format!("note: the pairs are played with the current prompts: {}", error.message));
    }
    let lesson = session_lesson(pool, args, &head)?;
    let root = match &opened.dir {
        Some(dir) => measurements_folder(dir),
        None => effects_beside(pool),
    };
    let session = MeasuredSession {
        name: opened.meta.session.clone(),
        timeline: opened.timeline.clone(),
        asked: head.clone(),
        lesson,
    };
    let options = world_options(config);
    let tasks = args
        .names_tasks()
        .then(|| {
            let env = run.tasks.first().map_or_else(|| config.get(keys::ENV), |task| task.env.as_str());
            worlds::select_tasks(env, &task_selection(env, &args.task_args()), &options)
        })
        .transpose()?;
    choices.columns = if args.only.is_some() { 1 } else { 2 };
    let sources = lesson_sources::of_measured(&session.lesson, Some(&head), pool);
    let has_elsewhere = args.only != Some(OnlyColumn::Here);
    if let Some(warning) = sources.warning().filter(|_| has_elsewhere) {
        out.print_note(&format!("warning: {warning}"));
    }
    choices.learned_on = sources.tasks.into_iter().collect();
    let place = EpisodePlace { episode: args.in_episode, step: args.step };
    let measurements = design_columns(config, &session, place, (args.only, tasks), args.pairs, choices)?;
    let asked = head.asked_at(&opened.branch.id);
    let prepared = |mut measurement: Measurement| {
        measurement.plan.asked = Some(asked.clone());
        Prepared { log: log_path(&root, &measurement, args), measurement, recorded: Some(head.clone()) }
    };
    Ok(measurements.into_iter().map(prepared).collect())
}

/// Refuses the flags that would change what the session itself says: its method, its models and its settings.
fn refuse_settings_of_the_session(args: &EffectArgs) -> Result<(), CliError> {
    let of_session = [
        keys::METHOD.entry(),
        keys::ACTOR.entry(),
        keys::MENTOR.entry(),
        keys::TRIALS.entry(),
        keys::AS.entry(),
        keys::INTERFACE.entry(),
    ];
    let mut of_session = of_session.iter().chain(method_entries());
    let given = of_session.find(|entry| args.method_keys.get(entry).is_some()).map(|entry| entry.flag);
    let flag = given.or_else(|| (!args.set.is_empty()).then_some("--set"));
    let Some(flag) = flag else { return Ok(()) };
    Err(CliError::usage(
        format!("{flag}: with --session, the session's own method, models and settings play"),
        "leave it out, or change the session first (`retrospect resume`); tasks without a session take these flags",
    ))
}

/// Both columns of a panel, or the only one that can be measured.
#[cfg(feature = "tui")]
pub(super) struct DesignedPanel {
    pub(super) measurements: Vec<Measurement>,
    /// Why there is only one column.
    pub(super) missing: Option<CliError>,
    /// Says that tasks elsewhere may be ones on which the lesson was learned.
    pub(super) unknown_sources: Option<String>,
}

/// Designs both columns of a panel; without `pairs`, with as many as suits the run. If only one of them can be measured, returns it
/// alone, with the reason.
#[cfg(feature = "tui")]
pub(super) fn design_panel(
    config: &Config,
    session: &MeasuredSession,
    place: EpisodePlace,
    pairs: Option<u32>,
    choices: &MeasureChoices,
) -> Result<DesignedPanel, CliError> {
    let sources = lesson_sources::of_measured(&session.lesson, Some(&session.asked), &pool_path(config));
    let unknown_sources = sources.warning();
    let design = |only, columns| {
        let learned_on = sources.tasks.iter().cloned().collect();
        let mut choices = MeasureChoices { columns, learned_on, ..choices.clone() };
        design_columns(config, session, place, (only, None), pairs, &mut choices)
    };
    let (measurements, missing) = match design(None, 2) {
        Ok(both) => (both, None),
        Err(reason) => {
            let mut alone = [OnlyColumn::Here, OnlyColumn::Elsewhere].into_iter();
            match alone.find_map(|only| design(Some(only), 1).ok()) {
                Some(alone) => (alone, Some(reason)),
                None => return Err(reason),
            }
        }
    };
    Ok(DesignedPanel { measurements, missing, unknown_sources })
}

/// Designs the columns of a panel. Without `only`, both; without tasks, the column elsewhere has those of the environment.
fn design_columns(
    config: &Config,
    session: &MeasuredSession,
    place: EpisodePlace,
    (only, tasks): (Option<OnlyColumn>, Option<Vec<Task>>),
    pairs: Option<u32>,
    choices: &mut MeasureChoices,
) -> Result<Vec<Measurement>, CliError> {
    let options = world_options(config);
    let make = run_factory(config, &options);
    let has = |column| only.is_none_or(|only| only == column);
    let mut measurements = Vec::new();
    if has(OnlyColumn::Here) {
        measurements.push(with_default_pairs(pairs, choices, |choices| session.here(place, choices, &make))?);
    }
    if has(OnlyColumn::Elsewhere) {
        measurements.push(with_default_pairs(pairs, choices, |choices| {
            session.elsewhere(tasks.clone(), &options, choices, &make)
        })?);
    }
    Ok(measurements)
}

/// Describes what a measurement costs, and which effects it can show.
#[cfg(feature = "tui")]
pub(super) fn describe_estimate(
    measurement: &Measurement,
    recorded: Option<&State>,
) -> (String, Option<String>) {
    let (cost, detectable) = estimate(measurement, recorded, 1);
    (describe_cost(&cost), describe_detectable(detectable))
}

/// Estimates what a measurement costs, and which effects it can show.
pub(super) fn estimate(
    measurement: &Measurement,
    recorded: Option<&State>,
    jobs: usize,
) -> (PlannedCost, DetectableEffect) {
    let estimate = measurement.estimate(recorded, jobs);
    let detectable = measurement.detectable(recorded, jobs);
    let cost = PlannedCost {
        played: estimate.played,
        pairs: estimate.pairs,
        is_limited: estimate.is_limited,
        episodes: estimate.episodes,
        calls: estimate.calls,
        tokens: estimate.tokens,
        cost_nano: estimate.cost_nano,
        seconds: estimate.time.map(|time| time.as_secs_f64()),
        is_free: estimate.is_free,
    };
    (
        cost,
        DetectableEffect {
            independent: detectable.independent,
            best: detectable.best,
            pairs: detectable.pairs,
        },
    )
}

fn prepare_task_set(
    config: &mut Config,
    pool: &Path,
    args: &EffectArgs,
    mut choices: MeasureChoices,
) -> Result<Vec<Prepared>, CliError> {
    choices.columns = 1;
    // Without a file there may still be a lesson on the command line.
    let file = pool.exists().then_some(pool);
    let plan = plan_run(config, &args.task_args(), &args.method_args(file))?;
    let loaded = plan.lessons.iter().filter_map(|(_, command)| match command {
        LessonCommand::Load(lesson) => Some((**lesson).clone()),
        _ => None,
    });
    let mut lessons: Vec<Lesson> = loaded.collect();
    let measured: Vec<Lesson> = match &args.text {
        Some(text) => {
            let typed = typed_lesson(text)?;
            lessons.push(typed.clone());
            vec![typed]
        }
        None if args.lessons.is_empty() => lessons.clone(),
        None => {
            let all: Vec<&Lesson> = lessons.iter().collect();
            let chosen = args.lessons.iter().map(|word| find_lesson(&all, word).cloned());
            chosen.collect::<Result<_, _>>()?
        }
    };
    if measured.is_empty() {
        return Err(CliError::usage(
            format!("{}: no active lesson to measure", pool.display()),
            "`retrospect lessons add` adds one, or --text TEXT measures one that is in no pool",
        ));
    }
    let sources = measured.iter().map(|lesson| lesson_sources::of_measured(lesson, None, pool));
    choices.learned_on = sources.flat_map(|sources| sources.tasks).collect();
    let make = run_factory(config, &plan.world_options);
    let source = pool.display().to_string();
    let spec: &RunSpec = &plan.spec;
    let measurement =
        with_default_pairs(args.pairs.or(args.shapley), &mut choices, |choices| match measured.as_slice() {
            [lesson] if choices.several == SeveralLessons::LeaveOneOut => {
                measure_over_tasks(lesson, spec, (&source, lessons.clone()), choices, &make)
            }
            several => measure_each(several, spec, (&source, lessons.clone()), choices, &make),
        })?;
    let log = log_path(&effects_beside(pool), &measurement, args);
    Ok(vec![Prepared { measurement, log, recorded: None }])
}

/// Designs a measurement with the default number of pairs: many where they cost nothing.
fn with_default_pairs(
    pairs: Option<u32>,
    choices: &mut MeasureChoices,
    design: impl Fn(&MeasureChoices) -> Result<Measurement, DesignError>,
) -> Result<Measurement, CliError> {
    choices.pairs = pairs.unwrap_or(MANY_PAIRS);
    let measurement = design(choices).map_err(to_cli_error)?;
    check_price(&measurement).map_err(to_cli_error)?;
    if pairs.is_some() || measurement.is_free() {
        return Ok(measurement);
    }
    choices.pairs = FEW_PAIRS;
    design(choices).map_err(to_cli_error)
}

fn choices(config: &Config, args: &EffectArgs) -> Result<MeasureChoices, CliError> {
    let outcome = match args.outcome {
        OutcomeWord::Success => Outcome::Success,
        OutcomeWord::Progress => Outcome::Progress,
        OutcomeWord::Steps => Outcome::Steps,
        OutcomeWord::Tokens => Outcome::Tokens,
    };
    if let Some(margin) = args.margin.filter(|margin| !(0.0..1.0).contains(margin) || *margin == 0.0) {
        return Err(CliError::usage(
            format!("--margin {margin}: not a difference between 0 and 1"),
            "the default for success is 0.10",
        ));
    }
    let placebo = match args.placebo {
        PlaceboWord::Neutral => PlaceboKind::Neutral,
        PlaceboWord::Shuffled => PlaceboKind::Shuffled,
        PlaceboWord::None => PlaceboKind::None,
    };
    let edited = args.edited.as_deref().map(|text| parse_typed_lesson(text, None, None)).transpose()?;
    let edited: Option<LessonText> = edited.map(|(_, text)| text);
    Ok(MeasureChoices {
        outcome,
        margin: args.margin,
        budget: EffectBudget {
            episodes: args.episodes,
            tokens: args.tokens,
            calls: args.calls,
            cost_nano: args.cost.as_deref().map(parse_cost).transpose()?,
            minutes: args.minutes,
            keep_going: args.keep_going,
        },
        frozen: !args.live,
        primary: primary_contrast(args, placebo, edited.is_some())?,
        placebo,
        edited,
        seed: match args.method_keys.get(&keys::SEED.entry()) {
            Some(text) => text.parse().map_err(|_| {
                CliError::usage(format!("--seed {text}: not a number"), "give a whole number")
            })?,
            // The same as on the screen, whose measurements must not change with the configuration.
            None if args.session.is_some() => MeasureChoices::default().seed,
            None => config.get(keys::SEED),
        },
        repeats: args.repeats,
        shard: args.shard.as_deref().map(parse_shard).transpose()?,
        exactly_these: args.these,
        several: match args.shapley {
            Some(_) => SeveralLessons::Join,
            None if args.add_one_in => SeveralLessons::AddOneIn,
            None => SeveralLessons::LeaveOneOut,
        },
        ..MeasureChoices::default()
    })
}

/// Parses an amount of money, in billionths of the currency unit.
fn parse_cost(text: &str) -> Result<u64, CliError> {
    let amount = text.parse::<f64>().ok().filter(|amount| *amount > 0.0 && amount.is_finite());
    amount.map(|amount| ((amount * 1e9).round() as u64).max(1)).ok_or_else(|| {
        CliError::usage(format!("--cost {text}: not an amount of money"), "write a number such as 2.50")
    })
}

/// Refuses a budget in money where nobody knows what a call costs: it would never stop the measurement.
fn check_price(measurement: &Measurement) -> Result<(), DesignError> {
    if measurement.plan.budget.cost_nano.is_some() && !measurement.has_price() {
        return Err(DesignError::NoPrice(measurement.plan.actor.clone()));
    }
    Ok(())
}

/// Returns the position of the primary contrast among those of one lesson.
fn primary_contrast(args: &EffectArgs, placebo: PlaceboKind, edited: bool) -> Result<usize, CliError> {
    let Some(text) = &args.contrast else { return Ok(0) };
    let mut available = vec![Contrast::new("with", "without")];
    if placebo != PlaceboKind::None {
        available.push(Contrast::new("with", "placebo"));
    }
    if edited {
        available.push(Contrast::new("edited", "with"));
    }
    let chosen = text.split_once(',').map(|(first, second)| Contrast::new(first.trim(), second.trim()));
    let position = available.iter().position(|contrast| Some(contrast) == chosen.as_ref());
    position.ok_or_else(|| {
        let words: Vec<String> = available.iter().map(|c| format!("{},{}", c.first, c.second)).collect();
        CliError::usage(
            format!("--contrast {text}: no such arms"),
            format!("choose one of {}; --edited TEXT adds an arm", words.join(" ")),
        )
    })
}

fn parse_shard(text: &str) -> Result<Shard, CliError> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    match parts {
        Some((index, count)) if index >= 1 && index <= count => Ok(Shard { index, count }),
        _ => Err(CliError::usage(
            format!("--shard {text}: not a part of a whole"),
            "write I/N with I from 1 to N, such as 2/8",
        )),
    }
}

/// Returns the lesson to measure in a session: of the session, or else of the pool.
fn session_lesson(pool: &Path, args: &EffectArgs, head: &State) -> Result<Lesson, CliError> {
    if let Some(text) = &args.text {
        return typed_lesson(text);
    }
    let [word] = args.lessons.as_slice() else {
        return Err(CliError::usage(
            "lessons effect: in a session, one lesson is measured at a time",
            "name it with --lesson L; `retrospect lessons list SESSION` lists them",
        ));
    };
    let own: Vec<Lesson> = head.pool.all().map(|l| lesson_environments::with_task(l, head)).collect();
    let own: Vec<&Lesson> = own.iter().collect();
    match find_lesson(&own, word) {
        Ok(lesson) => Ok(lesson.clone()),
        Err(_) if pool.exists() => {
            let pool = PoolFile::read(pool)?;
            pool.find(word).map(|lesson| pool.loadable(lesson))
        }
        Err(error) => Err(error),
    }
}

fn typed_lesson(text: &str) -> Result<Lesson, CliError> {
    let (kind, text) = parse_typed_lesson(text, None, None)?;
    typed_pool_lesson(kind, text)
        .ok_or_else(|| CliError::usage("--text: no lesson", "give its text, at least one sentence"))
}

fn run_factory(config: &Config, options: &TaskOptions) -> RunFactory {
    let (config, options) = (config.clone(), options.clone());
    Arc::new(move |spec| {
        build_run_config(spec, &config, &options, Duration::ZERO)
            .map_err(|error| DriverError::Refused(error.message, error.hint))
    })
}

/// Returns the folder of measurements beside a pool file.
fn effects_beside(pool: &Path) -> PathBuf {
    pool.parent().unwrap_or(Path::new("")).join("effects")
}

fn log_path(root: &Path, measurement: &Measurement, args: &EffectArgs) -> PathBuf {
    let folder = root.join(&measurement.plan.effect);
    match measurement.plan.shard {
        Some(Shard { index, count }) if args.shard.is_some() => {
            folder.join(format!("shard-{index}-of-{count}.jsonl"))
        }
        _ => folder.join(LOG_NAME),
    }
}

fn to_cli_error(error: DesignError) -> CliError {
    match error {
        DesignError::Tasks(error) => error.into(),
        DesignError::Run(DriverError::Refused(message, hint)) => CliError::usage(message, hint),
        DesignError::Run(error) => error.into(),
        DesignError::NoEpisode(_)
        | DesignError::NoStep(_)
        | DesignError::NoTasks(_)
        | DesignError::NoProgress { .. }
        | DesignError::NoPrice(_)
        | DesignError::HumanActor => split_hint(&error, CliErrorKind::Usage),
        _ => split_hint(&error, CliErrorKind::Session),
    }
}

/// Divides an error's text at its semicolon into message and hint.
fn split_hint(error: &DesignError, kind: CliErrorKind) -> CliError {
    let text = error.to_string();
    let (message, hint) = text.split_once("; ").unwrap_or((&text, ""));
    CliError::new(kind, message, hint)
}
