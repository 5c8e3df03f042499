//! Builds everything that a run needs from flags and configuration.

mod method_options;
mod sampling;
mod templates;

#[cfg(feature = "tui")]
pub(super) use templates::are_templates_current;
pub(super) use templates::{check_templates, load_templates, record_templates};

use super::args::{MethodArgs, TaskArgs};
use super::calibration_setup::{self, CalibrationOptions};
use super::config::{Config, InitialLessons, ValueOrigin, find_entry, keys, preset_warnings};
use super::error::{CliError, CliErrorKind};
use super::settings::{
    apply_environment_options, check_assignment, find_environment_option, not_of_this_method,
    parse_assignment, setting_origin, split_set_flag,
};
use super::worlds::{task_selection, world_options};
use super::{exemplars, lesson_environments, locate, models, pool, run_directory};
use crate::catalog::{self, ENVIRONMENTS, EnvironmentEntry, ModelNeed, methods_with_setting};
use crate::domain::common_settings::{MAX_STEPS, OverriddenThought, THOUGHTS_SENT};
use crate::domain::{
    Autonomy, Interface, PRESET_SETTING, PaperOrCode, RoleSource, RunSpec, SEED_TASK_COUNT_SETTING,
    SamplingParam, SettingOrigin, Settings, ShownAs, Task, pluralize, sampling_param,
};
use crate::driver::worlds;
use crate::driver::{self, DriverError, OpenWorld, RunConfig};
use crate::engine::LessonCommand;
use crate::env::TaskOptions;
use crate::journal::{Meta, VERSION, session_name};
use crate::method;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A run that is ready to start.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) spec: RunSpec,
    pub(super) lessons: Vec<(String, LessonCommand)>,
    pub(super) run_config: RunConfig,
    pub(super) world_options: TaskOptions,
    /// Warnings to show before the run starts.
    pub(super) warnings: Vec<String>,
}

/// Plans a run.
pub(super) fn plan_run(
    config: &mut Config,
    task_args: &TaskArgs,
    method_args: &MethodArgs,
) -> Result<Plan, CliError> {
    plan_run_with_calibration(config, task_args, method_args, None)
}

/// Plans a run that starts with calibration if `calibration` is given; otherwise like [`plan_run`].
pub(super) fn plan_run_with_calibration(
    config: &mut Config,
    task_args: &TaskArgs,
    method_args: &MethodArgs,
    calibration: Option<&CalibrationOptions>,
) -> Result<Plan, CliError> {
    task_args.apply(config)?;
    method_args.keys.apply(config)?;
    let preset = config.built_in_preset(method_args.preset.as_deref());
    if let Some(preset) = preset {
        config.apply_preset_environment(preset);
    }
    apply_environment_options(&method_args.set, config)?;
    let row = preset.and_then(|preset| preset.row);
    let initial_lessons = InitialLessons {
        from_file: method_args.pool.is_some() || method_args.constitution.is_some(),
        by_calibration: calibration.is_some(),
    };
    if let Some(preset) = preset {
        config.apply_program_preset(preset)?;
        preset.check_lessons(initial_lessons)?;
    }
    let worlds = world_options(config);
    let env = config.get(keys::ENV);
    let is_calibration_only = calibration.is_some_and(|c| c.is_calibration_only);
    let tasks = if is_calibration_only {
        Vec::new()
    } else {
        worlds::select_tasks(env, &task_selection(env, task_args), &worlds)?
    };
    let mut spec = build_spec(config, method_args, tasks, calibration)?;
    let method_remark = method_options::record(config, &mut spec)?;
    sampling::apply_prescribed_sampling(config, row, &mut spec)?;
    if let Some(calibration) = calibration {
        calibration_setup::add_calibration_tasks(
            &mut spec,
            calibration,
            config.get(keys::ENV),
            task_args,
            &worlds,
        )?;
    }
    record_environment_options(&mut spec, config);
    let templates = record_templates(&mut spec, config)?;
    catalog::check_texts(&spec, &templates)?;
    // A task's seeds must not depend on how many trials earlier tasks took: with --jobs that number is unknown.
    if spec.trials > 1 && spec.tasks.len() > 1 && spec.test_tasks().len() == spec.tasks.len() {
        spec.settings.set(SEED_TASK_COUNT_SETTING, spec.tasks.len() as u64, SettingOrigin::BuiltIn);
    }
    let run_config = build_run_config(&spec, config, &worlds, Duration::ZERO)?;
    let mut lessons = Vec::new();
    if let Some(file) = &method_args.pool {
        lessons.extend(pool::load_commands(file)?);
    }
    if let Some(file) = &method_args.constitution {
        lessons.extend(pool::load_constitution(file)?);
    }
    reject_secrets(&run_config, &lessons, &spec)?;
    let unbound = run_directory::bind_to_tasks(&mut lessons, &spec);
    let files: Vec<&Path> = [&method_args.pool, &method_args.constitution]
        .into_iter()
        .filter_map(|file| file.as_deref())
        .collect();
    let mut warnings = calibration_setup::tasks_seen_in_calibration(&spec, &files)?;
    warnings.extend(lesson_environments::foreign_lessons(&spec, &files, &lessons)?);
    warnings.extend(exemplars::warnings(&spec, config)?);
    if unbound > 0 {
        let lessons = pluralize(unbound as u64, "lesson");
        warnings.push(format!("skipped {lessons} about tasks that are not in this run"));
    }
    warnings.extend(row.into_iter().flat_map(|row| preset_warnings(row, &spec, initial_lessons)));
    if config.get(keys::AS) == PaperOrCode::Code {
        warnings.extend(catalog::as_code_warning(&spec.method));
    }
    warnings.extend(method_remark);
    warnings.extend(catalog::unused_mentor_reason(&spec));
    warnings.extend(catalog::unsuited_actor_warning(&spec));
    warnings.extend(catalog::uninformed_mentor_warning(&spec));
    warnings.extend(catalog::unshown_lessons_warning(&spec, &templates));
    Ok(Plan { spec, lessons, run_config, world_options: worlds, warnings })
}

/// Rejects lessons and settings that contain the key of a model server: they are journaled, and journals are shared.
fn reject_secrets(
    run_config: &RunConfig,
    lessons: &[(String, LessonCommand)],
    spec: &RunSpec,
) -> Result<(), CliError> {
    let holds_secret = |text: &str| {
        std::iter::once(&run_config.actor)
            .chain(&run_config.mentor)
            .any(|provider| provider.contains_secret(text))
    };
    let error = |location: String| {
        CliError::new(
            CliErrorKind::Config,
            format!(
                "{location} contains the API key of a model server, which would be written to the journal"
            ),
            "remove the key; set it in OPENAI_API_KEY, or in the variable named by a profile's key_env",
        )
    };
    if let Some((file, _)) = lessons.iter().find(|(_, lesson)| holds_secret(&format!("{lesson:?}"))) {
        return Err(error(file.clone()));
    }
    // The program itself writes the settings that record the servers, without secrets.
    let is_chosen_by_user = |name: &str| !name.starts_with("actor.") && !name.starts_with("mentor.");
    let settings = spec.settings.iter().filter(|(name, _)| is_chosen_by_user(name));
    let mut texts = settings.filter_map(|(name, setting)| Some((name, setting.value.as_str()?)));
    match texts.find(|(_, text)| holds_secret(text)) {
        Some((name, _)) => Err(error(format!("setting {name}"))),
        None => Ok(()),
    }
}

/// Checks that the first task can be played. Called before the session is created, so that a broken game doesn't leave
/// an empty session behind. An environment that doesn't answer fails it after the same time as in a run.
///
/// # Errors
/// Fails with a [`CliError`] that says what is wrong with the game, and where.
pub(super) fn check_first_task_playable(plan: &Plan) -> Result<(), CliError> {
    let Some(task) = plan.spec.tasks.first() else { return Ok(()) };
    plan.run_config.try_reset(task).map_err(|error| super::error::world_error(task, &error))
}

fn build_spec(
    config: &Config,
    method_args: &MethodArgs,
    tasks: Vec<Task>,
    calibration: Option<&CalibrationOptions>,
) -> Result<RunSpec, CliError> {
    let method = config.get(keys::METHOD).to_owned();
    let reading = config.get(keys::AS);
    let mut settings = catalog::default_settings(&method, reading);
    if calibration.is_some() {
        // The calibration method reflects on the calibration episodes, unless the method of the tests does so itself.
        for (name, setting) in catalog::default_settings(catalog::calibration_method(&method).name, reading) {
            settings.insert_missing(&name, setting);
        }
    }
    let env = tasks.first().map_or_else(|| config.get(keys::ENV), |task| task.env.as_str());
    catalog::apply_environment_defaults(env, &mut settings);
    apply_preset(config, method_args.preset.as_deref(), (reading, env), &mut settings)?;
    for text in &method_args.set {
        let (name, text) = split_set_flag(text, "r_freq=5")?;
        if find_environment_option(config, name).is_some() {
            continue;
        }
        let value = parse_assignment(name, text)?;
        set_setting(&mut settings, name, &value, SettingOrigin::Flag)?;
    }
    withhold_thoughts(config.get(keys::INTERFACE), &mut settings);
    if let Some(steps) = method_args.max_steps {
        settings.set(MAX_STEPS.spec.name, steps, SettingOrigin::Flag);
    }
    let (limits, loop_detector) = method::take_limits(&mut settings);
    let reflecting_method = match calibration {
        Some(_) => Some(catalog::calibration_method(&method)),
        None => catalog::find_method(&method),
    };
    let mentor = choose_mentor(config, reflecting_method.map_or(&method, |entry| entry.name), &settings)?;
    catalog::apply_mentor_defaults(&mentor, &mut settings);
    if let Some(entry) = reflecting_method.filter(|_| RoleSource::parse(&mentor) == RoleSource::Nobody) {
        for (name, value) in entry.without_mentor {
            settings.set(name, value.to_json(), setting_origin(config.origin(&keys::MENTOR)));
        }
    }
    // Defaults aren't recorded: a run starts with these settings only if somebody has chosen them.
    let shown_as = config.get(keys::SHOWN_AS).map(ShownAs::word);
    let thought = config.get(keys::THOUGHT).map(OverriddenThought::word);
    for (key, choice) in [(keys::SHOWN_AS.entry(), shown_as), (keys::THOUGHT.entry(), thought)] {
        let is_default = matches!(config.origin(&key), ValueOrigin::Default);
        if let Some(word) = choice.filter(|_| !is_default && !settings.contains(key.name)) {
            settings.set(key.name, word, setting_origin(config.origin(&key)));
        }
    }
    let actor = config.get(keys::ACTOR).to_owned();
    models::record_servers(config, &actor, &mentor, &mut settings)?;
    let spec = RunSpec {
        autonomy: if RoleSource::parse(&actor) == RoleSource::Person {
            Autonomy::Human
        } else {
            Autonomy::Auto
        },
        actor,
        mentor,
        interface: config.get(keys::INTERFACE),
        tasks,
        trials: match config.origin(&keys::TRIALS) {
            ValueOrigin::Default => catalog::default_trials(&method),
            _ => u32::try_from(config.get(keys::TRIALS)).unwrap_or(u32::MAX),
        },
        seed: config.get(keys::SEED),
        limits,
        loop_detector,
        settings,
        method,
    };
    check_sampling(&spec)?;
    Ok(spec)
}

/// Keeps thoughts from the environment under the interface of AgentBoard, whose agents do so, unless somebody has decided on
/// it. Environments differ in whether they accept a thought, so sent ones would count as valid in some only.
fn withhold_thoughts(interface: Interface, settings: &mut Settings) {
    let name = THOUGHTS_SENT.spec.name;
    let is_default =
        settings.recorded(name).is_some_and(|setting| setting.origin == THOUGHTS_SENT.spec.origin);
    if interface == Interface::Agentboard && is_default {
        settings.set(name, false, SettingOrigin::Code);
    }
}

/// Records the options of all environments that the run has tasks of, `--env` or not: the tasks must be opened in the
/// same way later, after a resume or to verify the session.
fn record_environment_options(spec: &mut RunSpec, config: &Config) {
    let has_tasks = |entry: &&&EnvironmentEntry| spec.tasks.iter().any(|task| task.env == entry.name);
    let options: Vec<_> = ENVIRONMENTS.iter().filter(has_tasks).flat_map(|entry| entry.options).collect();
    for option in options.into_iter().filter(|option| option.values.is_recorded()) {
        let Some(entry) = find_entry(option.name) else { continue };
        spec.settings.set(option.name, config.display(entry), setting_origin(config.origin(entry)));
    }
}

/// Checks that the models of a run support its sampling parameters.
///
/// # Errors
/// Fails with a usage [`CliError`] for the first unsupported parameter.
fn check_sampling(spec: &RunSpec) -> Result<(), CliError> {
    for (name, setting) in spec.settings.iter() {
        let Some((role, param)) = sampling_param(name) else { continue };
        spec.check_param_supported(role, param, &setting.value).map_err(|why| {
            let (role, value) = (role.name(), SamplingParam::format_value(&setting.value));
            CliError::usage(
                format!("setting {name} = {value}: {why}"),
                format!("choose a model for this role with --{role} openai:MODEL, or omit the setting"),
            )
        })?;
    }
    Ok(())
}

/// Applies a preset to the settings of its method.
///
/// # Errors
/// Fails with a usage [`CliError`] if there is no such preset, or if it sets something that the method doesn't have.
pub(super) fn apply_preset(
    config: &Config,
    name: Option<&str>,
    (reading, env): (PaperOrCode, &str),
    settings: &mut Settings,
) -> Result<(), CliError> {
    let Some(name) = name else { return Ok(()) };
    if let Some(preset) = config.built_in_preset(Some(name)) {
        for (setting, value) in preset.settings_in(env, settings) {
            set_setting(settings, setting, value, preset.origin())?;
        }
        // Where the paper says 50 steps, the public code stops at 49; `--as code` keeps the code's limit.
        let keeps_code_limit = reading == PaperOrCode::Code && preset.row.is_some() && preset.steps == 50;
        if !keeps_code_limit {
            settings.set(MAX_STEPS.spec.name, preset.steps, preset.origin());
        }
        settings.set(PRESET_SETTING, preset.name, SettingOrigin::Flag);
        return Ok(());
    }
    for (setting, value) in config.preset_settings(name)? {
        set_setting(settings, setting, value, SettingOrigin::Config)?;
    }
    settings.set(PRESET_SETTING, name, SettingOrigin::Flag);
    Ok(())
}

/// Chooses the mentor. If none is configured and the method needs a model as mentor, the actor's model also acts as the
/// mentor (the papers' self-sustaining setup).
fn choose_mentor(config: &Config, method: &str, settings: &Settings) -> Result<String, CliError> {
    let (configured, actor) = (config.get(keys::MENTOR), config.get(keys::ACTOR));
    let need = catalog::find_method(method).map_or(ModelNeed::Always, |entry| entry.model_need);
    let needs_model = match need {
        ModelNeed::If(needed_for) => needed_for(settings).is_some(),
        ModelNeed::Always => true,
        ModelNeed::NoMentor => false,
    };
    let use_actor = matches!(config.origin(&keys::MENTOR), ValueOrigin::Default)
        && needs_model
        && RoleSource::parse(actor).is_model();
    if use_actor {
        return Ok(actor.to_owned());
    }
    if let Some(reason) = catalog::unsuited_mentor_reason(method, configured, settings) {
        return Err(CliError::usage(
            reason,
            "choose one with --mentor openai:MODEL or --mentor recorded:PATH, or change that setting",
        ));
    }
    Ok(configured.to_owned())
}

/// Sets a setting of the method, or a sampling parameter of a role, after checking its value.
fn set_setting(
    settings: &mut Settings,
    name: &str,
    value: &Value,
    origin: SettingOrigin,
) -> Result<(), CliError> {
    check_assignment(name, value)?;
    if methods_with_setting(name).is_some() && !settings.contains(name) {
        return Err(not_of_this_method(name));
    }
    settings.set(name, value.clone(), origin);
    Ok(())
}

/// Builds the configuration of a new or resumed run. `typing_delay` is the rule-based actor's pause before each word.
pub(super) fn build_run_config(
    spec: &RunSpec,
    config: &Config,
    worlds: &TaskOptions,
    typing_delay: Duration,
) -> Result<RunConfig, CliError> {
    let mut run_config = assemble_run_config(spec, config, worlds, typing_delay)?;
    let (config, worlds) = (config.clone(), worlds.clone());
    run_config.run_factory = Some(Arc::new(move |spec| {
        self::build_run_config(spec, &config, &worlds, typing_delay)
            .map_err(|error| DriverError::Refused(error.message, error.hint))
    }));
    Ok(run_config)
}

fn assemble_run_config(
    spec: &RunSpec,
    config: &Config,
    worlds: &TaskOptions,
    typing_delay: Duration,
) -> Result<RunConfig, CliError> {
    let templates = Arc::new(load_templates(config)?);
    let options = worlds.with_recorded(&spec.settings);
    let limit_options = options.clone();
    let open: OpenWorld = Arc::new(move |task| driver::worlds::open(task, &options));
    let mut recording_error = None;
    let find_recording = |name: &str| match locate::open_session(config, Some(name)) {
        Ok(opened) => Ok((opened.meta.session, opened.timeline)),
        Err(error) => {
            let driver_error = DriverError::Refused(error.message.clone(), error.hint.clone());
            recording_error = Some(error);
            Err(driver_error)
        }
    };
    let mut server_error = None;
    let create_provider = |role, model: &str| {
        models::model_provider(config, role, model, Some(&spec.settings)).map_err(|error| {
            let driver_error = DriverError::Refused(error.message.clone(), error.hint.clone());
            server_error = Some(error);
            driver_error
        })
    };
    let mut recorded_settings = models::server_settings_to_record(spec, config);
    recorded_settings.push(templates::templates_setting(spec, &templates, config));
    let built =
        RunConfig::from_spec_with(spec, templates, open, typing_delay, find_recording, create_provider).map(
            |run_config| RunConfig {
                reply_override: Some(models::reply_override(spec, config)),
                answer_deadlines: Arc::new(move |task| {
                    driver::worlds::answer_deadlines(task, &limit_options)
                }),
                prefetch: config.get(keys::PREFETCH),
                recorded_settings,
                typed_servers: config.typed_servers.clone(),
                ..run_config
            },
        );
    built.map_err(|error| match (recording_error.or(server_error), error) {
        (Some(error), _) => error,
        (None, DriverError::Refused(message, hint)) => CliError::usage(message, hint),
        (None, other) => other.into(),
    })
}

/// Returns a task's goal if it is known without opening the game, else what its environment calls it.
fn task_label(task: &Task) -> String {
    if !task.goal.is_empty() {
        return task.goal.clone();
    }
    catalog::find_environment(&task.env).map_or_else(|| task.id.clone(), |entry| entry.tasks.title(task))
}

/// Returns the metadata of a new session, written before its first event.
pub(super) fn session_meta(spec: &RunSpec, salt: u64) -> Meta {
    let created = driver::wall_clock_now();
    let first = spec.tasks.first();
    let env = first.map_or("", |t| t.env.as_str());
    let title = match spec.tasks.as_slice() {
        [one] => format!("{env} {}", task_label(one)),
        many => format!("{env} {} tasks", many.len()),
    };
    Meta {
        v: VERSION,
        session: session_name(created, &title, u64::from(std::process::id()) << 16 | salt),
        created,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        env: env.to_owned(),
        method: spec.method.clone(),
        actor: spec.actor.clone(),
        title,
        bookmark: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_after_its_goal() {
        let task = |env: &str, id: &str, goal: &str| Task {
            env: env.to_owned(),
            id: id.to_owned(),
            goal: goal.to_owned(),
            task_type: None,
            difficulty: None,
            seed: 0,
        };
        let path = "/home/me/data/json_2.1.1/valid_seen/pick_heat-Mug-None-Cabinet-10/trial_T2019";
        assert_eq!(
            task_label(&task("alfworld", path, "put a hot mug in cabinet")),
            "put a hot mug in cabinet"
        );
        assert_eq!(task_label(&task("alfworld", path, "")), "pick_heat-Mug-None-Cabinet-10");
        let built_in = task_label(&task("household", "easy/heat/23", ""));
        assert!(!built_in.contains('/') && built_in.contains(' '), "{built_in}");
    }
}
