//! Command-line arguments: one struct per verb.

mod verbs;

pub use verbs::*;

use crate::catalog::{ENVIRONMENT_NAMES, ENVIRONMENTS, METHOD_NAMES};
use clap::{Args, Parser, Subcommand, ValueEnum};
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

/// Flags of every verb.
#[derive(Clone, Debug, Default, Args)]
pub struct CommonArgs {
    /// Folder of sessions.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub sessions: Option<PathBuf>,
    /// Configuration file to read instead of the user's.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Folder of ALFWorld's data; overrides $ALFWORLD_DATA.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub data: Option<PathBuf>,
}

/// Flags of the screen.
#[derive(Clone, Debug, Default, Args)]
pub struct ScreenArgs {
    /// Theme: a name or a theme file.
    #[arg(long, value_name = "NAME", help_heading = "Screen")]
    pub theme: Option<String>,
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
    /// Open a bundled example session.
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
    #[arg(long, value_name = "E", help = env_help())]
    pub env: Option<String>,
    /// Task id; may be repeated. For alfworld also a game.tw-pddl or its folder, for babyai a level number or name, for
    /// pddl `gripper/3`.
    #[arg(long = "task", value_name = "T")]
    pub task: Vec<String>,
    /// Tasks from a file (one id per line, JSON lines with `task`, or an AgentBoard label file) or from a named set
    /// such as `normal/*/1-20`.
    #[arg(long, value_name = "FILE|NAME")]
    pub tasks: Option<String>,
    /// Only the first N of the tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub only: Option<u32>,
    /// Split: train, valid_seen, valid_unseen (alfworld), test (babyai).
    #[arg(long, value_name = "S")]
    pub split: Option<String>,
    #[command(flatten)]
    pub files: PddlFiles,
}

/// Flags that name a PDDL problem by its files.
#[derive(Clone, Debug, Default, Args)]
pub struct PddlFiles {
    /// PDDL domain file (requires --problem).
    #[arg(long, value_name = "F", requires = "problem")]
    pub domain: Option<PathBuf>,
    /// PDDL problem file; without --domain, for a built-in domain.
    #[arg(long, value_name = "F")]
    pub problem: Option<PathBuf>,
}

impl PddlFiles {
    /// Returns the task name that stands for the files, or `None` without `--problem`.
    pub fn task_name(&self) -> Option<String> {
        let problem = self.problem.as_deref()?;
        ENVIRONMENTS
            .iter()
            .find_map(|entry| Some(entry.task_facts.problem_task?(self.domain.as_deref(), problem)))
    }

    /// Returns the environment: `explicit`, else the one of the problem files if they are given.
    pub fn implied_env(&self, explicit: Option<&String>) -> Option<String> {
        let plays_files = || ENVIRONMENTS.iter().find(|entry| entry.task_facts.problem_task.is_some());
        let implied = || self.problem.as_ref().and_then(|_| plays_files()).map(|entry| entry.name.to_owned());
        explicit.cloned().or_else(implied)
    }
}

/// Returns the help of `--method`, which names all methods of this program.
fn method_help() -> String {
    format!("Method: {}", METHOD_NAMES.join(", "))
}

/// Returns the help of `--env`, which names all environments of this program.
pub(super) fn env_help() -> String {
    format!("Environment: {}", ENVIRONMENT_NAMES.join(", "))
}

/// Flags of the method.
#[derive(Clone, Debug, Default, Args)]
pub struct MethodArgs {
    #[arg(long, value_name = "M", help_heading = "Method", help = method_help())]
    pub method: Option<String>,
    /// Actor: openai:MODEL, rules (built in, not a model), human, or recorded:SESSION.
    #[arg(long, value_name = "A", help_heading = "Method")]
    pub actor: Option<String>,
    /// Mentor (writes reflections): openai:MODEL, symbolic (rules), recorded:SESSION or none.
    #[arg(long, value_name = "R", help_heading = "Method")]
    pub mentor: Option<String>,
    /// Random seed of the run.
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub seed: Option<u64>,
    /// Maximum number of trials per task.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Step limit of an episode.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Initial lessons: a pool file.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub pool: Option<PathBuf>,
    /// Initial lessons: a text file with one lesson per line (`mistake -> solution` is an Error lesson), or the
    /// Abstract and Error lessons of a pool file.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub constitution: Option<PathBuf>,
    /// Pool file from a symbolic calibration; its lessons are the examples for neuro-symbolic generation.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub exemplars: Option<PathBuf>,
    /// Follow the paper or the public code where they differ.
    #[arg(long = "as", value_name = "paper|code", help_heading = "Method")]
    pub reading: Option<Reading>,
    /// Named group of settings: a row of a paper's table (`--help` lists them) or `[preset.P]` of the configuration
    /// file.
    #[arg(long, value_name = "P", help_heading = "Method", long_help = super::config::preset_help())]
    pub preset: Option<String>,
    /// Set a setting by name; `retrospect config show` lists them. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Method")]
    pub set: Vec<String>,
    /// How observations are shown to the agent: raw, react or agentboard.
    #[arg(long, value_name = "I", help_heading = "Method")]
    pub interface: Option<String>,
    /// Folder of prompt templates; each replaces the built-in one with the same file name.
    #[arg(long, value_name = "DIR", help_heading = "Method")]
    pub prompts: Option<PathBuf>,
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
    #[arg(long, value_name = "DIR|FILE", help_heading = "Method")]
    pub reflexion: Option<PathBuf>,
    /// Play calibration tasks first (settings per_type and explore), as `calibrate` does; excluded from rates.
    #[arg(long, help_heading = "Method")]
    pub calibrate: bool,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The tasks come from ALFWorld's train split, or from the built-in generator's tasks that are in no task \
                  list, unless --task, --tasks or --split names others. Lessons stay in the session until `lessons promote` or \
                  --out adds them to a pool.\nExamples:\n  retrospect calibrate --env household --out constitution.jsonl\n  \
                  retrospect run --env household --only 10 --method react --constitution constitution.jsonl --headless"
)]
pub struct Calibrate {
    #[command(flatten)]
    pub world: TaskArgs,
    #[command(flatten)]
    pub how: MethodArgs,
    /// Number of tasks to play per task type (the paper uses 1, 3 and 5).
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub per_type: Option<u64>,
    /// Number of these tasks per type to explore without a goal as well.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub explore: Option<u64>,
    /// Pool file to add the constitution to at the end.
    #[arg(long, short, value_name = "FILE", help_heading = "Method")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Flags of the model servers.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelArgs {
    /// Address of the model server, such as http://127.0.0.1:8080/v1; also $OPENAI_BASE_URL. The key is read from
    /// $OPENAI_API_KEY.
    #[arg(long, value_name = "URL", help_heading = "Models")]
    pub base_url: Option<String>,
    /// Server profiles, separated by commas: `[models.P]` of the configuration file or built in.
    #[arg(long, value_name = "P", help_heading = "Models")]
    pub profile: Option<String>,
    /// Environment variable that holds the key, if not $OPENAI_API_KEY.
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    pub key_env: Option<String>,
    /// Extra header, `NAME: VALUE`; may be repeated. `$NAME` in the value is an environment variable, `$$` a dollar
    /// sign.
    #[arg(long, value_name = "HEADER", help_heading = "Models")]
    pub header: Vec<String>,
    /// Trusted CA certificates (PEM), in addition to the system's.
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    pub ca_file: Option<String>,
    /// API: chat, or completions (the prompt as one text that the model continues).
    #[arg(long, value_name = "chat|completions", help_heading = "Models")]
    pub api: Option<String>,
    /// Address of the mentor's server, if different.
    #[arg(long, value_name = "URL", help_heading = "Models")]
    pub mentor_base_url: Option<String>,
    /// The mentor's server profiles, if different.
    #[arg(long, value_name = "P", help_heading = "Models")]
    pub mentor_profile: Option<String>,
    /// Cache of replies on disk: off, read, read-write. The seed is part of the cache key.
    #[arg(long, value_name = "MODE", help_heading = "Models")]
    pub cache: Option<String>,
    /// Request the next reply while a person reads the current proposal (needs --cache read-write; unused prefetches
    /// are recorded and counted separately).
    #[arg(long, help_heading = "Models")]
    pub prefetch: bool,
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
    /// Print only the summary.
    #[arg(long, short, conflicts_with_all = ["plain", "json"], help_heading = "Run control")]
    pub quiet: bool,
    /// Number of independent runs in parallel, one per task; rejected if tasks share lessons.
    #[arg(long, value_name = "N", help_heading = "Run control", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// What to do without a screen when a call fails: stop (exit 3, resumable) or skip the task.
    #[arg(long, value_name = "POLICY", help_heading = "Run control")]
    pub on_error: Option<OnError>,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// Session (folder, name, or end of its name), optionally with @BRANCH; the default is the branch written last.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Folder of the prompt templates the session started with, or `builtin`; others are rejected.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Pool file with the examples for neuro-symbolic generation that the session started with.
    #[arg(long, value_name = "F")]
    pub exemplars: Option<PathBuf>,
    /// Disable the session's breakpoints and watches first.
    #[arg(long, help_heading = "Run control")]
    pub no_breaks: bool,
    /// Continue with the current prompt templates even if the session started with others.
    #[arg(long)]
    pub accept_prompts: bool,
    /// Change a sampling parameter (actor.max_tokens=1024, mentor.temperature=0.7) or context_tokens from now on.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Which source a method follows where paper and public code differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Reading {
    /// Follow the paper.
    #[default]
    Paper,
    /// Follow the public code.
    Code,
}

/// What an unattended run does when a call fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// Stop the session, which can be resumed; exit 3.
    #[default]
    Stop,
    /// End the episode and start the next task.
    SkipTask,
}
