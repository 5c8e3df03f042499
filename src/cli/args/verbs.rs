//! Arguments of the verbs that don't start a run.

use super::task_help::{state_help, task_help};
use super::{
    ActorKeys, EffectArgs, KeyFlags, ModelKeys, PlayKeys, PoolKeys, ProblemFiles, ProgramArgs, RerunKeys,
    RoleKeys, ScreenArgs, TaskArgs, sampling_parser,
};
use crate::cli::exporters::{Exporter, exporter_parser};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Without a terminal, prints the transcript.\nExamples:\n  retrospect open --last\n  \
                  retrospect open report.html#1.14")]
pub struct Open {
    /// Session (folder, name, or end of its name), exported report or run directory of Reflexion's code, optionally with
    /// @BRANCH and #EPISODE.STEP.
    #[arg(value_name = "PATH[@BRANCH][#E.S]", required_unless_present = "last")]
    pub path: Option<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Follow a session that another program is writing (read-only, live).
    #[arg(long)]
    pub follow: bool,
    /// Print the events as JSON lines, as `run --json` does.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each line of standard input is one command, taken verbatim; with --json, a line that begins with a \
                  quotation mark is a JSON string. Each command prints the environment's reply, with --json as one \
                  object: step, action, observation, reward, progress, done, won, valid, admissible, world. Step 0 is \
                  the reset and also has goal and task. Commands still run after the episode ends; exit 0 at end of input."
)]
pub struct Play {
    #[command(flatten)]
    pub keys: KeyFlags<PlayKeys>,
    #[arg(long, value_name = "T", help = task_help("Task id. "))]
    pub task: Option<String>,
    /// Random seed of the environment.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Task list, as for run.
    #[arg(long, value_name = "F")]
    pub tasks: Option<String>,
    /// Index of the task in the list, from 0.
    #[arg(long, value_name = "N", requires = "tasks")]
    pub index: Option<usize>,
    #[arg(long, value_name = "F", help = state_help())]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub files: ProblemFiles,
    /// Set an option of the environment, with or without the environment's name in front. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Print one JSON object per reply.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub program: ProgramArgs,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Name of a bundled session (the default is the first), or a session of your own: its name, its folder or an exported
    /// report. Its remarks (`N` on the screen) are the captions, and a chapter begins at each.
    #[arg(value_name = "NAME|PATH")]
    pub name: Option<String>,
    /// List the bundled sessions, and how long each plays.
    #[arg(long)]
    pub list: bool,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect tasks --env household\n  \
                  retrospect tasks --env household --tasks 'normal/*/1-3' --write games/\n  \
                  retrospect tasks --env alfworld --split valid_unseen --json")]
pub struct Tasks {
    #[command(flatten)]
    pub world: TaskArgs,
    /// Write the tasks as folders that ALFWorld's own loader reads.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Sessions {
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pool file is an append-only log of lesson operations, one JSON object per line; files are merged by \
                  lesson id. The default is `pool.jsonl` in the user's data folder."
)]
pub struct Lessons {
    #[command(subcommand)]
    pub verb: LessonSubcommand,
    #[command(flatten)]
    pub keys: KeyFlags<PoolKeys>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 0 if all tests pass, with 1 if one fails, with 2 if there are none or the command is wrong. \
                  `=` at a proposal on the screen keeps a test.\nExamples:\n  retrospect lessons test\n  \
                  retrospect lessons test --pool other.jsonl --actor openai:MODEL --samples 5 --need 4 --json"
)]
pub struct LessonTestArgs {
    /// File of the tests; by default `tests.jsonl` next to the pool.
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// Keep the lessons that the prompts were kept with, instead of those of the pool.
    #[arg(long)]
    pub kept_lessons: bool,
    /// Ask this many times for each test; by default as often as the test says.
    #[arg(long, value_name = "N")]
    pub samples: Option<u32>,
    /// How many replies must comply; by default as the test says, or all of --samples.
    #[arg(long, value_name = "K")]
    pub need: Option<u32>,
    #[command(flatten)]
    pub actor: KeyFlags<ActorKeys>,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
    /// Print one JSON object per line: a `test` each, then a `summary`.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum LessonSubcommand {
    /// List the lessons of the pool, or of a session.
    List {
        /// Session or another pool file.
        from: Option<String>,
        /// Include retired lessons.
        #[arg(long)]
        all: bool,
        /// Print one JSON object per line.
        #[arg(long)]
        json: bool,
    },
    /// Add a lesson.
    Add {
        /// Text of the lesson; for an Error lesson, the mistake.
        text: String,
        /// What to do instead (Error lessons).
        #[arg(long)]
        solution: Option<String>,
        /// Kind: abstract, error, progress, plan, experience, lesson, positive, negative, advice.
        #[arg(long)]
        kind: Option<String>,
        /// Scope: episode, task, task_type, environment.
        #[arg(long, default_value = "environment")]
        scope: String,
    },
    /// Edit the text of a lesson.
    Edit {
        /// Number in the list, or id.
        lesson: String,
        /// New text.
        text: Option<String>,
        /// New solution.
        #[arg(long)]
        solution: Option<String>,
    },
    /// Retire a lesson: no longer used, but its history stays.
    Retire {
        /// Numbers in the list, or ids.
        #[arg(required = true)]
        lessons: Vec<String>,
    },
    /// Merge another pool file into this one, by id.
    Import {
        /// Pool file, text file with one lesson per line, or run directory of Reflexion (or its
        /// env_results_trial_N.json).
        file: PathBuf,
    },
    /// Print the active lessons.
    Export {
        /// Session or another pool file.
        from: Option<String>,
        /// Format: pool (a pool file), text (as --constitution reads it), markdown.
        #[arg(long, default_value = "pool")]
        format: PoolFormat,
    },
    /// Ask the actor at the decisions kept as tests, with the lessons of the pool: one call each.
    Test(LessonTestArgs),
    /// Check lessons: duplicates, contradictions, repeated advice, use, share of the prompt.
    Health {
        /// Session or another pool file.
        from: Option<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Copy lessons of a session into the pool, for use in other runs.
    Promote {
        /// Session.
        session: String,
        /// Promote only this lesson (number in the session, or id); may be repeated.
        #[arg(long = "lesson", value_name = "L")]
        lessons: Vec<String>,
    },
    /// Measure whether a lesson helps, by episodes with and without it.
    Effect(Box<EffectArgs>),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 1 if anything differs from the journal. Two kinds of differences are reported but don't count \
                        as failures: environment replies that changed and that a person accepted, and detector notes, \
                        reflections and lessons that this version's rules would write differently."
)]
pub struct Verify {
    /// Session or exported report; with @BRANCH only that branch, otherwise all branches.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Don't replay the actions in the environment.
    #[arg(long)]
    pub no_world: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub program: ProgramArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A and B are PATH, PATH#EPISODE, PATH@BRANCH or PATH@BRANCH#EPISODE; PATH is a session (folder, name, or \
                  end of its name) or an exported report. The default branch is the one written last. Without episodes, \
                  all episodes of both are paired by task and trial. If only one side names an episode, it is compared \
                  with the other side's episode of the same task and trial.\n\
                  Examples:\n  retrospect diff hot-mug-untaught hot-mug-taught\n  \
                  retrospect diff sessions/A#1 sessions/A#2 --only-differences\n  \
                  retrospect diff sessions/A sessions/B --json\n\
                  docs/COMPARE.md describes how steps are aligned and the fields of the JSON."
)]
pub struct Diff {
    /// Left side.
    #[arg(value_name = "A")]
    pub a: String,
    /// Right side.
    #[arg(value_name = "B")]
    pub b: String,
    /// Print JSON lines: one object per pair of episodes, and a summary.
    #[arg(long)]
    pub json: bool,
    /// Show only differences.
    #[arg(long)]
    pub only_differences: bool,
    /// Width of the text in columns, 40 to 500; the default is the terminal's width, or 80. Below 72 the sides are
    /// stacked.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(40..=500))]
    pub width: Option<u16>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect export --last --format html --out report.html\n  \
                        retrospect export --last --format svg --at 1.14 --size 120x36 --theme light > screen.svg\n  \
                        retrospect export --last --format cast-svg --size 100x30 --speed 2x --out recording.svg\n  \
                        retrospect export hot-mug-taught --format cast-svg --stage --out talk.svg")]
pub struct Export {
    /// Session, exported report or demo (`demo --list`), optionally with @BRANCH.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Format. Without it, the extension of --out decides; otherwise html.
    #[arg(long, short, value_name = "FORMAT", value_parser = exporter_parser())]
    pub format: Option<&'static Exporter>,
    /// Step to highlight (html), to show (svg) or to begin at (cast-svg): EPISODE.STEP.
    #[arg(long, value_name = "E.S")]
    pub at: Option<String>,
    /// Last step that cast-svg plays.
    #[arg(long, value_name = "E.S")]
    pub to: Option<String>,
    /// Speed of cast-svg: 0.25x, 0.5x, 1x, 2x, 4x or 8x.
    #[arg(long, value_name = "N", default_value = "1x")]
    pub speed: String,
    /// Size of the screen for svg and cast-svg, in columns and rows.
    #[arg(long, value_name = "WxH", default_value = "120x36")]
    pub size: String,
    /// Theme of the screen for svg and cast-svg.
    #[arg(long, value_name = "T")]
    pub theme: Option<String>,
    /// Stage mode for svg and cast-svg: large, without details, hosts and paths.
    #[arg(long)]
    pub stage: bool,
    /// File to write instead of standard output (`-`); for a run directory a folder.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Sessions with the same configuration are pooled; if there are several configurations, the others are \
                        compared with the first. docs/METRICS.md defines every number.\nExamples:\n  \
                        retrospect report --last\n  retrospect report sessions/A sessions/B --format markdown\n  \
                        retrospect report --last --against paper"
)]
pub struct Report {
    /// Sessions (folder, name, or end of its name) or exported reports.
    #[arg(value_name = "PATH", required_unless_present = "last")]
    pub paths: Vec<String>,
    /// Use the newest session.
    #[arg(long, conflicts_with = "paths")]
    pub last: bool,
    /// Print one JSON document.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Format: text, markdown or json.
    #[arg(long, short, default_value = "text")]
    pub format: ReportFormat,
    /// Show published figures for the same environment, split, method and settings, if any.
    #[arg(long, value_name = "paper")]
    pub against: Option<Baseline>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new session plays this task once, from the state in which the episode started: lessons, seeds, \
                        trial, the last attempt and the method's memory. It records which episode it came from.\nExample:\n  \
                        retrospect rerun --last#3 --headless"
)]
pub struct Rerun {
    /// Session and episode number; `--last#E` means the newest session.
    #[arg(value_name = "PATH#E", allow_hyphen_values = true)]
    pub path: String,
    #[command(flatten)]
    pub keys: KeyFlags<RerunKeys>,
    /// Continue with the current prompt templates even if the session started with others.
    #[arg(long)]
    pub accept_prompts: bool,
    #[command(flatten)]
    pub drive: super::DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// What a report is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Baseline {
    /// The papers' tables.
    Paper,
}

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Aligned columns.
    Text,
    /// Markdown tables.
    #[value(alias = "md")]
    Markdown,
    /// One JSON document.
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect doctor\n  retrospect doctor --env household\n  \
                        retrospect doctor --env stdio -- python3 bridge.py my_module:make")]
pub struct Doctor {
    #[command(flatten)]
    pub keys: KeyFlags<RoleKeys>,
    /// Check this environment instead: play ten random steps, and the same ones twice more, and say whether it is
    /// deterministic, how fast it is and what works.
    #[arg(long, value_name = "E")]
    pub env: Option<String>,
    /// Task to play (with --env).
    #[arg(long, value_name = "T")]
    pub task: Option<String>,
    /// Random seed of the environment and of the actions (with --env).
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Sampling parameter to send, as in a run: actor.max_tokens=1024, mentor.temperature=0.7.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = sampling_parser(), hide_possible_values = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub program: ProgramArgs,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// Shell: bash, zsh, fish, elvish or powershell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Folder to write this page and one page per command to.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Config {
    #[command(subcommand)]
    pub verb: ConfigVerb,
}

#[derive(Debug, Subcommand)]
pub enum ConfigVerb {
    /// Write a configuration file that lists every setting and its default as comments.
    Init {
        /// Overwrite an existing file.
        #[arg(long)]
        force: bool,
    },
    /// Show every setting with its value and origin, or all values of a preset.
    Show {
        /// Show what this preset sets, in each environment, instead.
        #[arg(long, value_name = "P")]
        preset: Option<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Format of exported lessons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PoolFormat {
    /// A pool file.
    Pool,
    /// One lesson per line.
    Text,
    /// Markdown.
    Markdown,
}
