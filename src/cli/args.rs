//! What can be typed: one struct a verb.

mod verbs;

pub use verbs::*;

use crate::driver::worlds;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Step through an agent's episode, watch it reflect, teach it, and see whether the lesson helped.
///
/// Without a verb: the start screen, with the built-in episode preselected. Where there is no terminal that episode is
/// played and printed.
#[derive(Debug, Parser)]
#[command(
    name = "retrospect",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Exit codes: 0 finished (also when tasks failed), 1 error, 2 usage, 3 stopped by a limit or the error \
                  policy, 130 interrupted.\nEvery verb explains itself: retrospect run --help"
)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What every verb takes.
#[derive(Clone, Debug, Default, Args)]
pub struct CommonArgs {
    /// Where sessions are kept.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub sessions: Option<PathBuf>,
    /// Read this configuration file instead of the user's.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub config: Option<PathBuf>,
    /// Folder of ALFWorld's data, in place of $ALFWORLD_DATA.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub data: Option<PathBuf>,
}

/// How the screen looks.
#[derive(Clone, Debug, Default, Args)]
pub struct ScreenArgs {
    /// A theme by name, or a theme file.
    #[arg(long, value_name = "NAME", help_heading = "Screen")]
    pub theme: Option<String>,
    /// Line by line: no frames, no cursor movement, commands by name (screen readers, logs).
    #[arg(long, help_heading = "Screen")]
    pub plain: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value a process")]
pub enum Verb {
    /// Play tasks with a method and an actor.
    Run(Run),
    /// Go on with a stopped or killed session.
    Resume(Resume),
    /// Look at a session or an exported report.
    Open(Open),
    /// Drive a world by hand: a command a line in, a reply a line out.
    Play(Play),
    /// Open a shipped session at its bookmark.
    Demo(Demo),
    /// Play a few tasks to learn from, and make a constitution of what was learnt.
    Calibrate(Calibrate),
    /// List the tasks an environment offers here.
    Tasks(Tasks),
    /// List the sessions kept here.
    Sessions(Sessions),
    /// Keep lessons in a pool file, apart from any session.
    Lessons(Lessons),
    /// Check a session: its files, its prompts, its world.
    Verify(Verify),
    /// Two episodes, trials or sessions side by side: the first difference, and what preceded it.
    Diff(Diff),
    /// Tell a session as a page, Markdown, JSON or a picture.
    Export(Export),
    /// Say what sessions come to: success, progress, costs, beside the papers' figures.
    Report(Report),
    /// Play one episode of a session again, with the lessons and the seeds it began with.
    Rerun(Rerun),
    /// Say what works here and what does not.
    Doctor(Doctor),
    /// Print completions for a shell.
    Completions(Completions),
    /// Print the manual page.
    Man(Man),
    /// Make or show the configuration.
    Config(Config),
}

/// Which world, and which tasks of it.
#[derive(Clone, Debug, Default, Args)]
pub struct TaskArgs {
    /// The environment: household, babyai or pddl (built in), or alfworld.
    #[arg(long, value_name = "E")]
    pub env: Option<String>,
    /// A task, by its id; may be given several times. For alfworld also a game.tw-pddl or its folder, for babyai a level's number or name, for pddl `gripper/3`.
    #[arg(long = "task", value_name = "T")]
    pub task: Vec<String>,
    /// Tasks of a file (an id a line, JSON lines with `task`, or a label file of AgentBoard), or of a set by name, such as `normal/*/1-20`.
    #[arg(long, value_name = "FILE|NAME")]
    pub tasks: Option<String>,
    /// Only the first N of the tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub only: Option<u32>,
    /// A split: train, valid_seen, valid_unseen (alfworld), test (babyai).
    #[arg(long, value_name = "S")]
    pub split: Option<String>,
    #[command(flatten)]
    pub files: PddlFiles,
}

/// A PDDL problem in files.
#[derive(Clone, Debug, Default, Args)]
pub struct PddlFiles {
    /// A PDDL domain (with --problem).
    #[arg(long, value_name = "F", requires = "problem")]
    pub domain: Option<PathBuf>,
    /// A PDDL problem; without --domain one of a built-in domain.
    #[arg(long, value_name = "F")]
    pub problem: Option<PathBuf>,
}

impl PddlFiles {
    /// The files as the name of a task.
    pub fn task_name(&self) -> Option<String> {
        self.problem.as_deref().map(|problem| worlds::pddl_files(self.domain.as_deref(), problem))
    }

    /// The environment that is meant: files are of `pddl`, unless another is asked for.
    pub fn implied_env(&self, asked: Option<&String>) -> Option<String> {
        asked.cloned().or_else(|| self.problem.as_ref().map(|_| "pddl".to_owned()))
    }
}

/// What is done with the tasks.
#[derive(Clone, Debug, Default, Args)]
pub struct MethodArgs {
    /// The method: react, reflexion, omnireflect, fcrf, sweet_sour or planning.
    #[arg(long, value_name = "M", help_heading = "Method")]
    pub method: Option<String>,
    /// Who acts: openai:MODEL, rules (built in), human, or recorded:SESSION.
    #[arg(long, value_name = "A", help_heading = "Method")]
    pub actor: Option<String>,
    /// Who reflects: openai:MODEL, symbolic (rules), recorded:SESSION or none.
    #[arg(long, value_name = "R", help_heading = "Method")]
    pub mentor: Option<String>,
    /// Seed of every chance in the run.
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub seed: Option<u64>,
    /// Trials a task gets at most.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: Option<u32>,
    /// Steps an episode may take.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Lessons to begin with: a pool file.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub pool: Option<PathBuf>,
    /// Lessons to begin with: a text of one lesson a line (`mistake -> solution` is an Error lesson), or the Abstract and Error lessons of a pool file.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub constitution: Option<PathBuf>,
    /// A pool file that symbolic calibration made: its lessons are the examples of neuro-symbolic generation.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub exemplars: Option<PathBuf>,
    /// Which reading of a method, where paper and public code differ.
    #[arg(long = "as", value_name = "paper|code", help_heading = "Method")]
    pub reading: Option<Reading>,
    /// Settings by one name: of a row of a paper's table (`--help` lists them), or `[preset.P]` of the configuration file.
    #[arg(long, value_name = "P", help_heading = "Method", long_help = super::config::preset_help())]
    pub preset: Option<String>,
    /// A setting by name; `retrospect config show` lists them.
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Method")]
    pub set: Vec<String>,
    /// What the agent is shown: raw, react or agentboard.
    #[arg(long, value_name = "I", help_heading = "Method")]
    pub interface: Option<String>,
    /// Folder of prompt templates that replace the built-in ones by file name.
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
    /// Go on where a run directory of Reflexion's public code ends (or one of its env_results_trial_N.json): its plans are
    /// in the pool, its solved tasks are left out.
    #[arg(long, value_name = "DIR|FILE", help_heading = "Method")]
    pub reflexion: Option<PathBuf>,
    /// First play tasks to learn from (settings per_type and explore), as `calibrate` does; they are in no rate.
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
    after_help = "The tasks are taken from ALFWorld's train split, or from those of our generator that no list shows; with \
                  --task, --tasks or --split from these. What was learnt stays in the session until it is promoted, by \
                  `lessons promote` or --out.\nExamples:\n  retrospect calibrate --env household --out constitution.jsonl\n  \
                  retrospect run --env household --only 10 --method react --constitution constitution.jsonl --headless"
)]
pub struct Calibrate {
    #[command(flatten)]
    pub world: TaskArgs,
    #[command(flatten)]
    pub how: MethodArgs,
    /// Tasks of each type that are played (the paper has 1, 3 and 5).
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub per_type: Option<u64>,
    /// How many of these of each type are also explored, without a goal.
    #[arg(long, value_name = "N", help_heading = "Method", value_parser = clap::value_parser!(u64).range(0..=1000))]
    pub explore: Option<u64>,
    /// Add the constitution to this pool file at the end.
    #[arg(long, short, value_name = "FILE", help_heading = "Method")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Where models are, and how they are spoken to.
#[derive(Clone, Debug, Default, Args)]
pub struct ModelArgs {
    /// Address of the model server, such as http://127.0.0.1:8080/v1; also $OPENAI_BASE_URL. The key: $OPENAI_API_KEY.
    #[arg(long, value_name = "URL", help_heading = "Models")]
    pub base_url: Option<String>,
    /// How it is spoken to: profiles of the configuration (`[models.P]`) or shipped ones, separated by commas.
    #[arg(long, value_name = "P", help_heading = "Models")]
    pub profile: Option<String>,
    /// The environment variable that holds the key, where it is another than $OPENAI_API_KEY.
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    pub key_env: Option<String>,
    /// One more header, `NAME: VALUE`, as often as needed; $NAME in a value is taken from the environment, $$ is a dollar sign.
    #[arg(long, value_name = "HEADER", help_heading = "Models")]
    pub header: Vec<String>,
    /// Certificates (PEM) whose authorities are believed beside the system's.
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    pub ca_file: Option<String>,
    /// The interface: chat, or completions (the prompt as one text that is continued).
    #[arg(long, value_name = "chat|completions", help_heading = "Models")]
    pub api: Option<String>,
    /// Address of the mentor's server, where it is another one.
    #[arg(long, value_name = "URL", help_heading = "Models")]
    pub mentor_base_url: Option<String>,
    /// The mentor's profiles, where they are others.
    #[arg(long, value_name = "P", help_heading = "Models")]
    pub mentor_profile: Option<String>,
    /// Answers kept on disk: off, read, read-write. The seed is part of the question.
    #[arg(long, value_name = "MODE", help_heading = "Models")]
    pub cache: Option<String>,
    /// While a person reads a proposal, ask for the next answer already (needs --cache read-write; what is asked for nothing
    /// is counted apart and shown).
    #[arg(long, help_heading = "Models")]
    pub prefetch: bool,
}

/// How a run is driven.
#[derive(Clone, Debug, Default, Args)]
pub struct DriveArgs {
    /// Stop where a condition comes true, such as `nothing 3`, `action ~ heat`, `end failure`; with `warn` before it: tell
    /// it and go on. May be given several times.
    #[arg(long = "break", value_name = "COND", help_heading = "Driving", long_help = super::breakpoints::break_flag_help())]
    pub breaks: Vec<String>,
    /// No screen: run to the end and print a transcript.
    #[arg(long, conflicts_with = "plain", help_heading = "Driving")]
    pub headless: bool,
    /// One JSON object a line on standard output; implies --headless.
    #[arg(long, conflicts_with = "plain", help_heading = "Driving")]
    pub json: bool,
    /// Print nothing but the summary.
    #[arg(long, short, conflicts_with_all = ["plain", "json"], help_heading = "Driving")]
    pub quiet: bool,
    /// Independent runs at the same time, one a task; refused where lessons cross tasks.
    #[arg(long, value_name = "N", help_heading = "Driving", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Without a screen, when a call fails: stop (exit 3, resumable) or go on with the next task.
    #[arg(long, value_name = "POLICY", help_heading = "Driving")]
    pub on_error: Option<OnError>,
}

#[derive(Debug, Args)]
pub struct Resume {
    /// A session: its folder, its name, or the end of its name; perhaps with @BRANCH. Without it the branch that was written last.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Folder of the prompt templates it was begun with, or `builtin`; others are refused.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// The examples of neuro-symbolic generation that it was begun with.
    #[arg(long, value_name = "F")]
    pub exemplars: Option<PathBuf>,
    /// Switch the session's own breakpoints and watches off first.
    #[arg(long, help_heading = "Driving")]
    pub no_breaks: bool,
    /// Go on with the prompt templates in force here, though it was begun with others.
    #[arg(long)]
    pub accept_prompts: bool,
    /// Another value from now on: a sampling parameter (actor.max_tokens=1024, mentor.temperature=0.7) or context_tokens.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(flatten)]
    pub drive: DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// Where paper and public code differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Reading {
    /// As the paper says.
    #[default]
    Paper,
    /// As the public code does.
    Code,
}

/// What becomes of a run without a person when a call fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The session is put down and can be resumed; exit 3.
    #[default]
    Stop,
    /// The episode ends and the next task begins.
    SkipTask,
}
