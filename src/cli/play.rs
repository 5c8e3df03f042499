//! The `play` verb: drives an environment manually, one command per input line and one reply per output line. Scripts
//! rely on every byte of the output.

use super::args;
use super::bounded;
use super::config::{Config, keys};
use super::error::{self, CliError};
use super::output::Output;
use super::settings::{apply_environment_options, find_environment_option, split_set_flag};
use super::worlds::world_options;
use crate::catalog::BASE_METHOD;
use crate::catalog::{ENVIRONMENT_NAMES, find_environment};
use crate::domain::{
    EpisodeRole, Interface, ListingCost, RoleSource, RunSpec, Settings, StepResult, Task, pluralize,
};
use crate::driver::worlds::{self, Selection};
use crate::engine::{Cause, Envelope, Event, State};
use crate::env::{Environment, TaskOptions};
use crate::prompt::interface;
use crate::report::{StepExtras, step_fields};
use std::io::stdin;

/// Runs `play`.
pub(super) fn play(config: &mut Config, args: &args::Play, out: &mut Output) -> Result<(), CliError> {
    let chosen = args.keys.get(&keys::ENV);
    args.files.apply(chosen, config)?;
    args.program.apply(chosen, config)?;
    args.keys.apply(config)?;
    for text in &args.set {
        let (name, _) = split_set_flag(text, "enumerate=every-step")?;
        if find_environment_option(config, name).is_none() {
            return Err(CliError::usage(
                format!("--set {name}: {} has no such option", config.get(keys::ENV)),
                "`retrospect config show` lists the options of environments",
            ));
        }
    }
    apply_environment_options(&args.set, config)?;
    let mut options = world_options(config);
    options.seed = args.seed.unwrap_or(options.seed);
    let task = find_task(config, args, &options)?;
    for warning in worlds::warnings(&task, &options) {
        out.print_note(&format!("warning: {warning}"));
    }
    let env_error = |e: &_| error::world_error(&task, e);
    let mut world = worlds::open_guarded(&task, &options).map_err(|e| env_error(&e))?;
    let interface = args.keys.get(&keys::INTERFACE).and_then(Interface::from_word).unwrap_or_default();
    let mut view = InterfaceView::new(&task, interface);
    let first = world.reset().map_err(|e| env_error(&e))?;
    let goal = interface::goal_from_reset(&first);
    let first = view.show_reset(first);
    print_reply(out, args.json, 0, None, &first, world.as_mut(), Some((&goal, &task.id)))?;
    let mut input = stdin().lock();
    let mut line = Vec::new();
    for step in 1.. {
        line.clear();
        let read = bounded::read_line(&mut input, &mut line)
            .map_err(|e| CliError::file(std::path::Path::new("standard input"), "could not be read", &e))?;
        if read == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let text = String::from_utf8_lossy(&line);
        let action = parse_command(&text, args.json, step)?;
        let (result, _) = view.step(world.as_mut(), &action).map_err(|e| env_error(&e))?;
        print_reply(out, args.json, step, Some(&action), &result, world.as_mut(), None)?;
    }
    Ok(())
}

/// Returns a line unchanged; with `--json`, a line that begins with `"` is parsed as a JSON string.
fn parse_command(line: &str, json: bool, step: u32) -> Result<String, CliError> {
    if json && line.starts_with('"') {
        return serde_json::from_str(line).map_err(|e| {
            CliError::usage(
                format!("standard input, line {step}: a line that begins with a double quote must be a JSON string: {e}"),
                "correct the JSON string, or don't begin the line with a double quote",
            )
        });
    }
    Ok(line.to_owned())
}

fn find_task(config: &Config, args: &args::Play, options: &TaskOptions) -> Result<Task, CliError> {
    if let Some(file) = &args.state {
        return task_from_file(config, args, file, options);
    }
    let env = config.get(keys::ENV);
    let selection = Selection {
        tasks: args.task.clone().into_iter().chain(args.files.task_name(env)).collect(),
        list: args.tasks.clone(),
        ..Selection::default()
    };
    let tasks = worlds::select_tasks(env, &selection, options)?;
    let index = args.index.unwrap_or(0);
    let count = tasks.len();
    let mut task = tasks.into_iter().nth(index).ok_or_else(|| {
        CliError::usage(
            format!(
                "--index {index} is out of range: the list has {}, counted from 0",
                pluralize(count as u64, "task")
            ),
            "choose a smaller index",
        )
    })?;
    if let Some(seed) = args.seed {
        task = worlds::with_seed(task, seed);
    }
    Ok(task)
}

/// Returns the task of a level file (`--state`).
fn task_from_file(
    config: &Config,
    args: &args::Play,
    file: &std::path::Path,
    options: &TaskOptions,
) -> Result<Task, CliError> {
    let env = config.get(keys::ENV);
    let takes_files =
        |name: &str| find_environment(name).is_some_and(|entry| entry.task_facts.has_state_files);
    if !takes_files(env) || args.task.is_some() || args.tasks.is_some() {
        let with_files = std::iter::once(&env).chain(ENVIRONMENT_NAMES.iter());
        let known = with_files.copied().find(|name| takes_files(name)).unwrap_or(env);
        return Err(CliError::usage(
            format!("--state takes a {known} level file and can't be combined with --task or --tasks"),
            format!("for example `retrospect play --env {known} --state FILE`"),
        ));
    }
    // The full path is used, so that a file named like a built-in level is still read as a file.
    crate::files::open(file).map_err(|e| CliError::file(file, "could not be read", &e))?;
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    Ok(worlds::find(env, &path.to_string_lossy(), options)?)
}

fn print_reply(
    out: &mut Output,
    json: bool,
    step: u32,
    action: Option<&str>,
    result: &StepResult,
    world: &mut dyn Environment,
    goal_and_task: Option<(&str, &str)>,
) -> Result<(), CliError> {
    if !json {
        return out.print_text(&format!("{}\n", result.observation));
    }
    // Where listing costs a lot or changes the environment, only a person asks for it.
    let is_free = world.info().listing_cost == ListingCost::Free;
    let admissible = if is_free { world.admissible().unwrap_or_default() } else { Vec::new() };
    let extras = StepExtras { admissible, world: world.world_summary() };
    let line =
        serde_json::to_string(&step_fields(step, action, result, &extras, goal_and_task)).unwrap_or_default();
    out.print_json(&line)
}

/// Shows observations as the chosen interface formats them. `raw` passes them through; the other interfaces show what
/// an agent would see. That depends on the state, so this keeps the state that an agent's episode would have.
struct InterfaceView {
    state: State,
    is_raw: bool,
    seq: u64,
}

impl InterfaceView {
    fn new(task: &Task, interface: Interface) -> Self {
        let mut view = Self { state: State::default(), is_raw: interface == Interface::Raw, seq: 0 };
        if !view.is_raw {
            let (limits, ..) = crate::catalog::defaults(BASE_METHOD.name, crate::domain::PaperOrCode::Paper);
            let spec = RunSpec {
                method: BASE_METHOD.name.to_owned(),
                actor: RoleSource::PERSON.to_owned(),
                mentor: RoleSource::NOBODY.to_owned(),
                interface,
                tasks: vec![task.clone()],
                trials: 1,
                seed: 0,
                autonomy: crate::domain::Autonomy::Human,
                limits,
                loop_detector: false,
                settings: Settings::default(),
            };
            view.apply_event(Event::RunStarted { session: "play".to_owned(), spec: Box::new(spec) });
            let (task, call) = (Box::new(task.clone()), crate::domain::CallId(1));
            view.apply_event(Event::EpisodeStarted {
                episode: 1,
                task,
                trial: 1,
                role: EpisodeRole::Test,
                call,
            });
        }
        view
    }

    fn apply_event(&mut self, event: Event) {
        self.seq += 1;
        let seq = crate::domain::Seq(self.seq);
        self.state.apply(&Envelope {
            seq,
            timestamp: jiff::Timestamp::UNIX_EPOCH,
            cause: Cause::Policy,
            batch_continues: false,
            event,
        });
    }

    fn show_reset(&mut self, mut result: StepResult) -> StepResult {
        if self.is_raw {
            return result;
        }
        let agent_view = crate::catalog::rewrite_observation(&self.state, "", &result, &[]);
        let call = crate::domain::CallId(1);
        self.apply_event(Event::WorldReset {
            call,
            result: Box::new(result.clone()),
            agent_view: agent_view.clone(),
            goal: String::new(),
        });
        if let Some(agent_view) = agent_view {
            result.observation = agent_view;
        }
        result
    }

    /// Executes an action. Returns the result as shown, and whether the environment received an action.
    fn step(
        &mut self,
        world: &mut dyn Environment,
        action: &str,
    ) -> Result<(StepResult, bool), crate::env::EnvError> {
        use crate::domain::{CallId, DecidedBy, ExecutedAction, ShownAs, ThoughtDisposition};
        if self.is_raw {
            return Ok((world.step(action)?, true));
        }
        let outgoing = crate::catalog::rewrite_action(&self.state, action);
        let step = self.state.episode.as_ref().map_or(1, |e| e.steps.len() as u32 + 1);
        self.apply_event(Event::StepOpened { step });
        let executed = ExecutedAction {
            action: action.to_owned(),
            sent: outgoing.sent.clone(),
            rewrite_rule: outgoing.rewrite_rule,
            decided_by: DecidedBy::Person,
            shown_as: ShownAs::AgentAction,
            thought_disposition: ThoughtDisposition::Kept,
        };
        let call = Some(CallId(u64::from(step) + 1));
        self.apply_event(Event::ActionTaken {
            step,
            call,
            executed,
            admissible_only: outgoing.admissible_only,
        });
        let (mut result, listed) = if outgoing.admissible_only {
            let last = self.state.episode.as_ref().and_then(|e| {
                e.step(step.saturating_sub(1)).and_then(|s| s.answer.clone()).or(e.first_observation.clone())
            });
            let last = last.map_or_else(StepResult::default, |a| StepResult {
                reward: a.reward,
                progress: a.progress,
                done: a.done,
                won: a.won,
                valid: true,
                ..StepResult::default()
            });
            (last, world.admissible()?)
        } else {
            (world.step(outgoing.sent.as_deref().unwrap_or(action))?, Vec::new())
        };
        let agent_view = crate::catalog::rewrite_observation(&self.state, action, &result, &listed);
        self.apply_event(Event::Observed {
            step,
            call,
            result: Box::new(result.clone()),
            agent_view: agent_view.clone(),
        });
        if let Some(agent_view) = agent_view {
            result.observation = agent_view;
        }
        Ok((result, !outgoing.admissible_only))
    }
}
