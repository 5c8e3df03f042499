//! From flags and configuration to everything a run needs.

use super::args::{How, World};
use super::config::{Config, From};
use super::fault::{Fault, FaultKind};
use super::{models, place, pool};
use crate::domain::{Autonomy, RunSpec, SettingOrigin, Settings, Task};
use crate::driver::worlds::{self, Selection, WorldOptions};
use crate::driver::{self, DriverError, Launch, OpenWorld};
use crate::engine::LessonWish;
use crate::env::pddl::Joining;
use crate::journal::{Meta, VERSION, session_name};
use crate::method::{self, PaperOrCode, SETTINGS};
use crate::prompt::Templates;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A run before it begins.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) spec: RunSpec,
    pub(super) pool: Vec<(String, LessonWish)>,
    pub(super) launch: Launch,
    pub(super) worlds: WorldOptions,
}

/// Puts a run together.
pub(super) fn plan(config: &mut Config, world: &World, how: &How) -> Result<Plan, Fault> {
    for (name, text) in [
        ("run.env", &world.files.env(world.env.as_ref())),
        ("run.method", &how.method),
        ("run.actor", &how.actor),
        ("run.mentor", &how.mentor),
        ("run.interface", &how.interface),
        ("run.seed", &how.seed.map(|n| n.to_string())),
        ("run.trials", &how.trials.map(|n| n.to_string())),
        ("run.prompts", &how.prompts.as_ref().map(|p| p.display().to_string())),
        ("run.as", &how.reading.map(|r| format!("{r:?}").to_lowercase())),
    ] {
        config.flag(name, text.as_deref())?;
    }
    let worlds = world_options(config);
    let tasks = worlds::chosen(config.text("run.env"), &selection(world), &worlds)?;
    let spec = spec(config, how, tasks)?;
    let launch = launch(&spec, config, &worlds, Duration::ZERO)?;
    let mut lessons = Vec::new();
    if let Some(file) = &how.pool {
        lessons.extend(pool::wishes(file)?);
    }
    if let Some(file) = &how.constitution {
        lessons.extend(pool::constitution(file)?);
    }
    Ok(Plan { spec, pool: lessons, launch, worlds })
}

/// Whether the first task can be played at all: asked before there is a session, so that a broken game leaves no empty one.
///
/// # Errors
/// What is wrong with the game, and where.
pub(super) fn playable(plan: &Plan) -> Result<(), Fault> {
    let Some(task) = plan.spec.tasks.first() else { return Ok(()) };
    let started = (plan.launch.open)(task).and_then(|mut world| world.reset());
    started.map(drop).map_err(|error| super::fault::world(task, &error))
}

/// Which tasks are meant.
pub(super) fn selection(world: &World) -> Selection {
    let files = world.files.named();
    Selection {
        tasks: world.task.iter().cloned().chain(files).collect(),
        list: world.tasks.clone(),
        split: world.split.clone(),
        only: world.only,
    }
}

/// Where worlds are looked for.
pub(super) fn world_options(config: &Config) -> WorldOptions {
    let joining = if config.text("pddl.goal") == "blank" { Joining::Blank } else { Joining::Comma };
    WorldOptions { data: config.path("data"), seed: config.number("run.seed"), joining }
}

fn spec(config: &Config, how: &How, tasks: Vec<Task>) -> Result<RunSpec, Fault> {
    let method = config.text("run.method").to_owned();
    let reading = if config.text("run.as") == "code" { PaperOrCode::Code } else { PaperOrCode::Paper };
    let (mut limits, mut settings, mut loop_detector) = method::defaults(&method, reading);
    if let Some(name) = &how.preset {
        for (setting, value) in config.preset(name)?.to_vec() {
            set(&mut settings, &setting, &value, SettingOrigin::Config)?;
        }
    }
    for text in &how.set {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Fault::usage(format!("--set {text:?}: expected NAME=VALUE"), "such as --set r_freq=5")
        })?;
        let value = word(value);
        set(&mut settings, name.trim(), &value, SettingOrigin::Flag)?;
    }
    method::bind(&settings, &mut limits, &mut loop_detector);
    if let Some(steps) = how.max_steps {
        limits.steps = steps;
    }
    let mentor = mentor(config, &method, &settings)?;
    if mentor == "none" && method == "omnireflect" {
        settings.set("reflect", "never", origin(config.from("run.mentor")));
    }
    for name in ["override.shown_as", "override.thought"] {
        let answer = config.text(name);
        // What is not set here is asked at the first override, and then is a setting of the session.
        if answer != "ask" {
            settings.set(name, answer, origin(config.from(name)));
        }
    }
    // Which templates were in force is part of what a run was.
    let prompts = templates(config.path("run.prompts").as_deref())?;
    settings.set("templates", prompts.hash(), origin(config.from("run.prompts")));
    let actor = config.text("run.actor").to_owned();
    models::note_down(config, &actor, &mentor, &mut settings)?;
    Ok(RunSpec {
        autonomy: if actor == "human" { Autonomy::Human } else { Autonomy::Auto },
        actor,
        mentor,
        interface: config.text("run.interface").to_owned(),
        tasks,
        trials: match config.from("run.trials") {
            From::Default => method::trials(&method),
            _ => u32::try_from(config.number("run.trials")).unwrap_or(u32::MAX),
        },
        seed: config.number("run.seed"),
        limits,
        loop_detector,
        settings,
        method,
    })
}

/// Who reflects. Where nobody says it, a model that acts also reflects (self-sustaining), and the rules do otherwise.
fn mentor(config: &Config, method: &str, settings: &Settings) -> Result<String, Fault> {
    let (named, actor) = (config.text("run.mentor"), config.text("run.actor"));
    let by_model = method == "omnireflect" && settings.word("generation", "symbolic") != "symbolic";
    let wants_model = by_model || !matches!(method, "omnireflect" | "react");
    let own =
        matches!(config.from("run.mentor"), From::Default) && wants_model && actor.starts_with("openai:");
    if own {
        return Ok(actor.to_owned());
    }
    if by_model && matches!(named, "symbolic" | "none") {
        return Err(Fault::usage(
            format!(
                "generation={} needs a mentor that is asked, and the mentor is {named}",
                settings.word("generation", "")
            ),
            "name one with --mentor openai:MODEL or --mentor recorded:PATH, or set generation=symbolic",
        ));
    }
    Ok(named.to_owned())
}

/// A value as it is typed: a number, a switch or a word.
pub(super) fn word(text: &str) -> Value {
    if let Ok(number) = text.parse::<u64>() {
        return json!(number);
    }
    match text {
        "true" | "on" => json!(true),
        "false" | "off" => json!(false),
        other => json!(other),
    }
}

/// Where a value of the configuration comes from, as the journal says it.
pub(super) fn origin(from: &From) -> SettingOrigin {
    match from {
        From::Default => SettingOrigin::Ours,
        From::File(..) | From::Variable(_) => SettingOrigin::Config,
        From::Flag(_) => SettingOrigin::Flag,
    }
}

/// Sets a setting that the method has, to a value of its kind.
fn set(settings: &mut Settings, name: &str, value: &Value, origin: SettingOrigin) -> Result<(), Fault> {
    let hint = "`retrospect config show` lists the settings";
    let Some(spec) = SETTINGS.iter().find(|s| s.name == name) else {
        return Err(Fault::usage(super::config::unknown_setting(name), hint));
    };
    if !settings.0.contains_key(name) {
        return Err(Fault::usage(
            format!("setting {name} is for {}, not for this method", spec.methods.join(", ")),
            "choose the method with --method",
        ));
    }
    spec.check(value).map_err(|why| Fault::usage(format!("setting {name} = {value}: {why}"), hint))?;
    settings.set(name, value.clone(), origin);
    Ok(())
}

/// The parts around the engine for a run, new or taken up again. `typing` is the built-in actor's pause before a word.
pub(super) fn launch(
    spec: &RunSpec,
    config: &Config,
    worlds: &WorldOptions,
    typing: Duration,
) -> Result<Launch, Fault> {
    let templates = Arc::new(templates(config.path("run.prompts").as_deref())?);
    let options = worlds.clone();
    let open: OpenWorld = Arc::new(move |task| driver::worlds::open(task, &options));
    let mut unfound = None;
    let find = |name: &str| match place::open(config, Some(name)) {
        Ok(opened) => Ok((opened.meta.session, opened.timeline)),
        Err(fault) => {
            let refused = DriverError::Refused(fault.message.clone(), fault.hint.clone());
            unfound = Some(fault);
            Err(refused)
        }
    };
    let mut unserved = None;
    let serve = |asked, model: &str| {
        models::provider(config, asked, model, Some(&spec.settings)).map_err(|fault| {
            let refused = DriverError::Refused(fault.message.clone(), fault.hint.clone());
            unserved = Some(fault);
            refused
        })
    };
    let launch = Launch::with(spec, templates, open, typing, find, serve);
    launch.map_err(|error| match (unfound.or(unserved), error) {
        (Some(fault), _) => fault,
        (None, DriverError::Refused(why, next)) => Fault::usage(why, next),
        (None, other) => other.into(),
    })
}

/// Whether a run may be taken up with the templates in force here. Where they are others than those it was begun with,
/// that has to be said (`accepted`); their hash is then to be written down.
pub(super) fn same_templates(
    spec: &RunSpec,
    config: &Config,
    accepted: bool,
) -> Result<Option<String>, Fault> {
    // A run that does not say which templates it had cannot be compared.
    let Some(begun) = spec.settings.0.get("templates") else { return Ok(None) };
    let had = begun.value.as_str().unwrap_or_default();
    let folder = config.path("run.prompts");
    let here = templates(folder.as_deref())?;
    if here.hash() == had {
        return Ok(None);
    }
    if accepted {
        return Ok(Some(here.hash().to_owned()));
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let were = match begun.origin {
        SettingOrigin::Ours => "the built-in ones of the program that began it",
        _ => "of a folder",
    };
    let are = match folder.filter(|f| !is_builtin(f)) {
        Some(folder) => folder.display().to_string(),
        None => "built in".to_owned(),
    };
    Err(Fault::usage(
        format!(
            "this run was begun with the prompt templates {} ({were}); those in force here are {} ({are})",
            short(had),
            short(here.hash())
        ),
        "give the folder it was begun with (--prompts DIR, or --prompts builtin), or go on with those in force here: \
         --accept-prompts",
    ))
}

/// `--prompts builtin` takes back a folder of the configuration.
fn is_builtin(folder: &Path) -> bool {
    folder == Path::new("builtin")
}

/// The prompt templates in force: the built-in ones, with those of a folder over them.
pub(super) fn templates(folder: Option<&Path>) -> Result<Templates, Fault> {
    let Some(folder) = folder.filter(|f| !is_builtin(f)) else { return Ok(Templates::builtin()) };
    let mut files = Vec::new();
    let entries =
        std::fs::read_dir(folder).map_err(|e| Fault::file(folder, "the templates could not be read", &e))?;
    for path in entries.flatten().map(|e| e.path()).filter(|p| p.is_file()) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        let text = super::bounded::text(&path).map_err(|e| Fault::file(&path, "could not be read", &e))?;
        files.push((name, text));
    }
    files.sort();
    Templates::with_overrides(files).map_err(|e| {
        Fault::new(
            FaultKind::Method,
            format!("{}/{e}", folder.display()),
            "mend the template, or take it out of the folder",
        )
    })
}

/// The goal of a task where it is cheap to know; else the last part of its name that says something.
fn about(task: &Task) -> String {
    if !task.goal.is_empty() {
        return task.goal.clone();
    }
    let built_in = task.id.parse().ok().filter(|_| task.env == "household");
    if let Some(goal) = built_in.and_then(|id| crate::env::household::task(&id).ok()).map(|t| t.goal) {
        return goal;
    }
    let parts: Vec<&str> = task.id.rsplit('/').take(2).collect();
    match (task.env.as_str(), parts.as_slice()) {
        // The last folder of ALFWorld's layout is a trial number; the one above it says the task.
        ("alfworld", [_, game]) => (*game).to_owned(),
        _ => task.id.clone(),
    }
}

/// What is written down of a new session before its first event.
pub(super) fn meta(spec: &RunSpec, salt: u64) -> Meta {
    let created = driver::now();
    let first = spec.tasks.first();
    let env = first.map_or("", |t| t.env.as_str());
    let words = match spec.tasks.as_slice() {
        [one] => format!("{env} {}", about(one)),
        many => format!("{env} {} tasks", many.len()),
    };
    Meta {
        v: VERSION,
        session: session_name(created, &words, u64::from(std::process::id()) << 16 | salt),
        created,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        env: env.to_owned(),
        method: spec.method.clone(),
        actor: spec.actor.clone(),
        title: words,
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
            seed: 0,
        };
        let path = "/home/me/data/json_2.1.1/valid_seen/pick_heat-Mug-None-Cabinet-10/trial_T2019";
        assert_eq!(about(&task("alfworld", path, "put a hot mug in cabinet")), "put a hot mug in cabinet");
        assert_eq!(about(&task("alfworld", path, "")), "pick_heat-Mug-None-Cabinet-10");
        let built_in = about(&task("household", "easy/heat/23", ""));
        assert!(!built_in.contains('/') && built_in.contains(' '), "{built_in}");
    }
}
