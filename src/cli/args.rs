//! Command-line arguments: one struct per verb.

mod effect;
mod key_flags;
mod task_help;
mod verbs;

pub use effect::*;
pub use key_flags::*;
pub use verbs::*;

use task_help::{command_help, split_help, task_help, unsandboxed_help};

use crate::catalog::{ENVIRONMENTS, EnvironmentEntry, PROGRAM_ENVIRONMENT, find_environment};
use crate::cli::config::{self, keys};
use crate::cli::error::CliError;
use crate::domain::TypedSetting;
use crate::domain::common_settings::{EXPLORE, MAX_STEPS, PER_TYPE};
use crate::env::EnvironmentOption;
use crate::text::{help_with_program_name, program_name};
use clap::builder::{RangedU64ValueParser, StyledStr};
use clap::{Arg, Args, Command, CommandFactory as _, Parser, Subcommand};
use std::path::PathBuf;

/// Step through an agent's episode, watch it reflect, teach it, and see whether the lesson helped.
///
/// Without a command, shows the start screen with the built-in episode preselected. Without a terminal, plays that
/// episode and prints the transcript.
#[derive(Debug, Parser)]
#[command(
    name = "retrospect",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 finished (also when tasks failed), 1 error, 2 usage, 3 stopped by a limit or the error \
                  policy, 130 interrupted.\nHelp for a command: retrospect run --help"
)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Returns the command line with the program's own name, also in its examples.
pub fn command_line() -> Command {
    named(Cli::command().name(program_name()))
}

/// Checks that every flag means one thing in its command, because methods bring flags of their own.
///
/// # Errors
/// Returns a description of the first flag that a command has twice.
pub fn check_flags() -> Result<(), String> {
    match repeated_flag(&Cli::command(), &["help", "version"]) {
        Some((command, flag)) => {
            Err(format!("`{command}` has two flags --{flag}; choose another one for the method's option"))
        }
        None => Ok(()),
    }
}

/// Returns the first flag that a command or one below it has twice, with the command's name. `inherited` are the flags of all
/// commands.
pub(super) fn repeated_flag(command: &Command, inherited: &[&str]) -> Option<(String, String)> {
    let own = command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg.is_global_set())));
    let mut seen: Vec<&str> = inherited.to_vec();
    let mut global = inherited.to_vec();
    for (flag, is_global) in own {
        if seen.contains(&flag) {
            return Some((command.get_name().to_owned(), flag.to_owned()));
        }
        seen.push(flag);
        global.extend(is_global.then_some(flag));
    }
    command.get_subcommands().find_map(|command| repeated_flag(command, &global))
}

/// Returns a parser for the values that a setting allows.
fn number_of(setting: &TypedSetting<u64>) -> RangedU64ValueParser {
    let (from, to) = setting.spec.range;
    RangedU64ValueParser::new().range(from..=to)
}

fn named(command: Command) -> Command {
    let with_name = |help: &StyledStr| help_with_program_name(&help.to_string()).into_owned();
    let after = command.get_after_help().map(with_name);
    let command = command
        .mut_args(|arg| {
            let [short, long] = [arg.get_help(), arg.get_long_help()].map(|help| help.map(with_name));
            let arg = short.into_iter().fold(arg, Arg::help);
            long.into_iter().fold(arg, Arg::long_help)
        })
        .mut_subcommands(named);
    after.into_iter().fold(command, Command::after_help)
}

/// Flags of every verb.
#[derive(Clone, Debug, Default, Args)]
pub struct CommonArgs {
    #[command(flatten)]
    pub keys: KeyFlags<GlobalKeys>,
    /// Configuration file to read instead of the user's.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
}

/// Flags of the screen.
#[derive(Clone, Debug, Default, Args)]
pub struct ScreenArgs {
    #[arg(long, value_name = keys::THEME.value_name, help_heading = "Screen", help = key_help(&keys::THEME))]
    pub theme: Option<String>,
    /// Stage mode, for an audience: large, without details, hosts and paths, with the pressed keys.
    #[arg(long, help_heading = "Screen")]
    pub stage: bool,
    /// Interactive, line by line: commands by name, no cursor movement, no frames (for screen readers and logs).
    #[arg(long, help_heading = "Screen")]
    pub plain: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value per process")]
pub enum Verb {
    /// Run tasks with a method and an actor.
    Run(Run),
    /// Resume a stopped or killed session.
    Resume(Resume),
    /// View a session or an exported report.
    Open(Open),
    /// Play an environment manually: one command per input line, one reply per output line.
    Play(Play),
    /// Play a bundled example session, or one of your own, like a film.
    Demo(Demo),
    /// Play calibration tasks and build a constitution from what was learned.
    Calibrate(Calibrate),
    /// List the tasks of an environment.
    Tasks(Tasks),
    /// List sessions.
    Sessions(Sessions),
    /// Manage lessons in a pool file, independent of any session.
    Lessons(Lessons),
    /// Check a session: its files, its prompts, its environment.
    Verify(Verify),
    /// Compare two episodes, trials or sessions: the first difference and what led to it.
    Diff(Diff),
    /// Export a session as HTML, Markdown, JSON or a picture.
    Export(Export),
    /// Summarize results of sessions: success, progress and costs, next to the papers' figures.
    Report(Report),
    /// Rerun one episode of a session with the lessons and seeds it started with.
    Rerun(Rerun),
    /// Check the installation: what works here and what doesn't.
    Doctor(Doctor),
    /// Print shell completions.
    Completions(Completions),
    /// Print the manual page.
    Man(Man),
    /// Create or show the configuration.
    Config(Config),
}

/// Flags that choose the environment and its tasks.
#[derive(Clone, Debug, Default, Args)]
pub struct TaskArgs {
    #[command(flatten)]
    pub keys: KeyFlags<TaskKeys>,
    #[arg(long = "task", value_name = "T", help = task_help("Task id; may be repeated. "))]
    pub task: Vec<String>,
    /// Tasks from a file (one id per line, JSON lines with `task`, or an AgentBoard label file) or from a named set
    /// such as `normal/*/1-20`.
    #[arg(long, value_name = "FILE|NAME")]
    pub tasks: Option<String>,
    /// Only the first N of the tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub only: Option<u32>,
    #[arg(long, value_name = "S", help = split_help())]
    pub split: Option<String>,
    #[command(flatten)]
    pub files: ProblemFiles,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// The program that an environment is.
#[derive(Clone, Debug, Default, Args)]
pub struct ProgramArgs {
    /// Show the window of the environment's program, such as a browser.
    #[arg(long, hide_short_help = true)]
    pub show: bool,
    #[arg(long, hide_short_help = true, help = unsandboxed_help())]
    pub unsandboxed: bool,
    #[arg(last = true, value_name = "COMMAND", help = command_help())]
    pub command: Vec<String>,
}

impl ProgramArgs {
    /// Copies the command into the configuration, and chooses its environment if `chosen` (by `--env`) names none. Makes the
    /// program visible if that was asked for.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if another environment was chosen, or if there is no window to show.
    pub fn apply(&self, chosen: Option<&str>, config: &mut config::Config) -> Result<(), CliError> {
        config.set_command(&self.command, chosen)?;
        if chosen.is_none() && !self.command.is_empty() {
            config.set_flag(&keys::ENV, Some(PROGRAM_ENVIRONMENT))?;
        }
        if self.show {
            let env = chosen.unwrap_or_else(|| config.get(keys::ENV));
            if find_environment(env).is_none_or(|entry| entry.task_facts.show_option.is_none()) {
                let with_window = ENVIRONMENTS.iter().filter(|entry| entry.task_facts.show_option.is_some());
                let names: Vec<&str> = with_window.map(|entry| entry.name).collect();
                return Err(CliError::usage(
                    format!(
                        "--show: the environment {env} has no window; those that have one: {}",
                        names.join(", ")
                    ),
                    "leave out --show, or choose another environment with --env",
                ));
            }
            set_option(config, |entry| entry.task_facts.show_option)?;
        }
        if self.unsandboxed {
            set_option(config, |entry| entry.task_facts.unsandboxed_option)?;
        }
        Ok(())
    }

    /// Copies the command and `--show` into the configuration of a verb about a session, which names its environments itself.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if the command names no program.
    pub fn apply_to_session(&self, config: &mut config::Config) -> Result<(), CliError> {
        config.set_command(&self.command, None)?;
        if self.show {
            set_option(config, |entry| entry.task_facts.show_option)?;
        }
        if self.unsandboxed {
            set_option(config, |entry| entry.task_facts.unsandboxed_option)?;
        }
        Ok(())
    }
}

/// Sets an option of each environment that has one of this sort.
fn set_option(
    config: &mut config::Config,
    option_of: fn(&EnvironmentEntry) -> Option<(&'static EnvironmentOption, &'static str)>,
) -> Result<(), CliError> {
    for (option, value) in ENVIRONMENTS.iter().filter_map(|entry| option_of(entry)) {
        match config::find_entry(option.name) {
            Some(entry) => config.set_flag(entry, Some(value))?,
            None => _ = config.set_by_flag_alone.insert(option.name, value),
        }
    }
    Ok(())
}

impl TaskArgs {
    /// Copies the environment into the configuration: the one of `--env`, else that of problem files.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if there is no such environment, or if it can't play the files.
    pub fn apply(&self, config: &mut config::Config) -> Result<(), CliError> {
        let chosen = self.keys.get(&keys::ENV);
        self.files.apply(chosen, config)?;
        self.program.apply(chosen, config)?;
        self.keys.apply(config)
    }
}

/// Flags that name a PDDL problem by its files.
#[derive(Clone, Debug, Default, Args)]
pub struct ProblemFiles {
    /// PDDL domain file (requires --problem).
    #[arg(long, value_name = "F", requires = "problem", hide_short_help = true)]
    pub domain: Option<PathBuf>,
    /// PDDL problem file; without --domain, for a built-in domain.
    #[arg(long, value_name = "F", hide_short_help = true)]
    pub problem: Option<PathBuf>,
}

impl ProblemFiles {
    /// Returns the task name that stands for the files in an environment. `None` without `--problem`, or if the
    /// environment has no problem files.
    pub fn task_name(&self, env: &str) -> Option<String> {
        let problem = self.problem.as_deref()?;
        Some(find_environment(env)?.task_facts.problem_task?(self.domain.as_deref(), problem))
    }

    /// Chooses the environment of the problem files, if they are given: `chosen` (by `--env`), else the configured one if
    /// it has such files, else the first one that has.
    ///
    /// # Errors
    /// Fails with a usage [`CliError`] if the chosen environment has no problem files.
    pub fn apply(&self, chosen: Option<&str>, config: &mut config::Config) -> Result<(), CliError> {
        if self.problem.is_none() {
            return Ok(());
        }
        let plays_files = |entry: &EnvironmentEntry| entry.task_facts.problem_task.is_some();
        if let Some(entry) = chosen.and_then(find_environment) {
            if plays_files(entry) {
                return Ok(());
            }
            let others = ENVIRONMENTS.iter().filter(|entry| plays_files(entry));
            let flags: Vec<String> = others.map(|entry| format!("--env {}", entry.name)).collect();
            return Err(CliError::usage(
                format!("--problem: {} has no problem files", entry.name),
                format!("use {}", flags.join(" or ")),
            ));
        }
        if find_environment(config.get(keys::ENV)).is_some_and(plays_files) {
            return Ok(());
        }
        let implied = ENVIRONMENTS.iter().find(|entry| plays_files(entry)).map(|entry| entry.name);
        config.set_flag(&keys::ENV, implied)
    }
}

/// What `--pool` does, also on the start screen.
pub const POOL_MEANING: &str = "initial lessons: a pool file";
/// What `--constitution` does, also on the start screen.
pub const CONSTITUTION_MEANING: &str = "initial lessons: a text file with one lesson per line (`mistake -> solution` is an Error lesson), \
     or the Abstract and Error lessons of a pool file";
/// What `run --calibrate` does, also on the start screen.
pub const CALIBRATE_MEANING: &str =
    "play calibration tasks first (settings per_type and explore), as `calibrate` does; excluded from rates";

/// Flags of the method.
#[derive(Clone, Debug, Default, Args)]
pub struct MethodArgs {
    #[command(flatten)]
    pub keys: KeyFlags<MethodKeys>,
    #[arg(long, value_name = "N", help_heading = "Method", help = sentence(MAX_STEPS.spec.meaning), value_parser = number_of(&MAX_STEPS))]
    pub max_steps: Option<u64>,
    #[arg(long, value_name = "F", help_heading = "Method", help = sentence(POOL_MEANING))]
    pub pool: Option<PathBuf>,
    #[arg(long, value_name = "F", help_heading = "Method", help = sentence(CONSTITUTION_MEANING), hide_short_help = true)]
    pub constitution: Option<PathBuf>,
    /// Named group of settings: a row of a paper's table (`--help` lists them) or `[preset.P]` of the configuration
    /// file.
    #[arg(long, value_name = "P", help_heading = "Method", long_help = super::config::preset_help())]
    pub preset: Option<String>,
    /// Set a setting or an option of the environment by name; `retrospect config show` lists them. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Method", value_parser = setting_parser(), hide_possible_values = true)]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect run --env household --task normal/heat/71\n  \
                  retrospect run --env household --tasks 'normal/*/1-5' --method omnireflect --headless --json\n  \
                  retrospect run --env alfworld --split valid_unseen --only 10 --headless")]
pub struct Run {
    #[command(flatten)]
    pub world: TaskArgs,
    #[command(flatten)]
    pub method_args: MethodArgs,
    /// Continue from a run directory of Reflexion's public code (or one of its env_results_trial_N.json): its plans go
    /// into the pool, its solved tasks are skipped.
    #[arg(long = "reflexion", value_name = "DIR|FILE", help_heading = "Method", hide_short_help = true)]
    pub run_directory: Option<PathBuf>,
    /// Print the prompts (actor, each question to the mentor) without calling a model: rules act in short attempts that end
    /// as each question needs it, and the mentor's replies are placeholders. Questions that need other settings than the
    /// run's are marked "not sent by this run".
    #[arg(long, conflicts_with_all = ["headless", "quiet", "jobs", "plain"], help_heading = "Run control")]
    pub dry_run: bool,
    #[arg(long, help_heading = "Method", help = sentence(CALIBRATE_MEANING))]
    pub calibrate: bool,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The tasks are those that the environment keeps for training, or others than its lists have, unless --task, \
                  --tasks or --split names others. Lessons stay in the session until `lessons promote` or \
                  --out adds them to a pool.\nExamples:\n  retrospect calibrate --env household --out constitution.jsonl\n  \
                  retrospect run --env household --only 10 --method react --constitution constitution.jsonl --headless"
)]
pub struct Calibrate {
    #[command(flatten)]
    pub world: TaskArgs,
    #[command(flatten)]
    pub how: MethodArgs,
    #[arg(long, value_name = "N", help = PER_TYPE.spec.meaning, help_heading = "Method", value_parser = number_of(&PER_TYPE))]
    pub per_type: Option<u64>,
    #[arg(long, value_name = "N", help = EXPLORE.spec.meaning, help_heading = "Method", value_parser = number_of(&EXPLORE))]
    pub explore: Option<u64>,
    /// Pool file to add the constitution to at the end.
    #[arg(long, short, value_name = "FILE", help_heading = "Method")]
    pub out: Option<PathBuf>,
    /// Print the prompts (actor, each question to the mentor) without calling a model, as `run --dry-run` does; writes no
    /// file.
    #[arg(long, conflicts_with_all = ["headless", "quiet", "jobs", "plain"], help_heading = "Run control")]
    pub dry_run: bool,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// How a run is driven.
#[derive(Clone, Debug, Default, Args)]
pub struct DriveArgs {
    /// Set a breakpoint, such as `nothing 3` (three actions in a row without effect), `action ~ heat` or
    /// `end failure`; with `warn` in front, a watch, which marks the step but doesn't pause. May be repeated.
    #[arg(long = "break", value_name = "COND", help_heading = "Run control", long_help = super::breakpoints::break_flag_help())]
    pub breaks: Vec<String>,
    /// Run to the end without a screen and print a transcript.
    #[arg(long, conflicts_with = "plain", help_heading = "Run control")]
    pub headless: bool,
    /// Print one JSON object per line; implies --headless.
    #[arg(long, conflicts_with = "plain", help_heading = "Run control")]
    pub json: bool,
    /// Print only the summary; with --json as one line.
    #[arg(long, short, conflicts_with = "plain", help_heading = "Run control")]
    pub quiet: bool,
    /// Number of independent runs in parallel, one per task; rejected if tasks share lessons.
    #[arg(long, value_name = "N", help_heading = "Run control", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub keys: KeyFlags<DriveKeys>,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// Session (folder, name, or end of its name), optionally with @BRANCH; the default is the branch written last.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    #[command(flatten)]
    pub keys: KeyFlags<ResumeKeys>,
    /// Disable the session's breakpoints and watches first.
    #[arg(long, help_heading = "Run control")]
    pub no_breaks: bool,
    /// Continue with the current prompt templates even if the session started with others.
    #[arg(long)]
    pub accept_prompts: bool,
    /// Change a sampling parameter (actor.max_tokens=1024, mentor.temperature=0.7) or context_tokens from now on.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = sampling_parser(), hide_possible_values = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
    #[command(flatten)]
    pub program: ProgramArgs,
}
