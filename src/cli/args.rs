//! What can be typed: one struct a verb.

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
    pub common: Common,
    #[command(flatten)]
    pub screen: Screen,
}

/// What every verb takes.
#[derive(Clone, Debug, Default, Args)]
pub struct Common {
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
pub struct Screen {
    /// A theme by name, or a theme file.
    #[arg(long, value_name = "NAME", help_heading = "Screen")]
    pub theme: Option<String>,
    /// Line by line: no frames, no cursor movement, commands by name (screen readers, logs).
    #[arg(long, help_heading = "Screen")]
    pub plain: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "one value a process")]
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
    /// List the tasks an environment offers here.
    Tasks(Tasks),
    /// List the sessions kept here.
    Sessions(Sessions),
    /// Keep lessons in a pool file, apart from any session.
    Lessons(Lessons),
    /// Check a session: its files, its prompts, its world.
    Verify(Verify),
    /// Tell a session as a page, Markdown, JSON or a picture.
    Export(Export),
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
pub struct World {
    /// The environment: household (built in) or alfworld.
    #[arg(long, value_name = "E")]
    pub env: Option<String>,
    /// A task, by its id; may be given several times. For alfworld also a game.tw-pddl or its folder.
    #[arg(long = "task", value_name = "T")]
    pub task: Vec<String>,
    /// Tasks of a file (an id a line, or JSON lines with `task`), or of a set by name, such as `normal/*/1-20`.
    #[arg(long, value_name = "FILE|NAME")]
    pub tasks: Option<String>,
    /// Only the first N of the tasks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub only: Option<u32>,
    /// A split of ALFWorld's data: train, valid_seen, valid_unseen.
    #[arg(long, value_name = "S")]
    pub split: Option<String>,
}

/// What is done with the tasks.
#[derive(Clone, Debug, Default, Args)]
pub struct How {
    /// The method: react or omnireflect.
    #[arg(long, value_name = "M", help_heading = "Method")]
    pub method: Option<String>,
    /// Who acts: rules (built in) or human.
    #[arg(long, value_name = "A", help_heading = "Method")]
    pub actor: Option<String>,
    /// Who reflects: symbolic (rules) or none.
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
    /// Lessons to begin with: a text of one lesson a line; `mistake -> solution` is an Error lesson.
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub constitution: Option<PathBuf>,
    /// Which reading of a method, where paper and public code differ.
    #[arg(long = "as", value_name = "paper|code", help_heading = "Method")]
    pub reading: Option<Reading>,
    /// Settings of one name from the configuration file (`[preset.P]`).
    #[arg(long, value_name = "P", help_heading = "Method")]
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
#[command(after_help = "Examples:\n  retrospect run --env household --task easy/heat/23\n  \
                  retrospect run --env household --tasks 'normal/*/1-5' --method omnireflect --headless --json\n  \
                  retrospect run --env alfworld --split valid_unseen --only 10 --headless")]
pub struct Run {
    #[command(flatten)]
    pub world: World,
    #[command(flatten)]
    pub how: How,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub screen: Screen,
}

/// How a run is driven.
#[derive(Clone, Debug, Default, Args)]
pub struct Drive {
    /// Stop where a condition holds: step=N, won, mistake, note=DETECTOR, reflection[=KIND], action=WORDS, seen=WORDS.
    #[arg(long = "break", value_name = "COND", help_heading = "Driving")]
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
    /// A session: its folder, its name, or the end of its name.
    #[arg(value_name = "PATH", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub screen: Screen,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Where there is no terminal the transcript is printed.\nExamples:\n  retrospect open --last\n  \
                  retrospect open report.html#1.14"
)]
pub struct Open {
    /// A session (folder, name, or end of its name) or an exported report, perhaps with #EPISODE.STEP.
    #[arg(value_name = "PATH[#E.S]", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Go on showing what another program writes to it, read-only.
    #[arg(long)]
    pub follow: bool,
    /// Print the events as JSON lines, as `run --json` does.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub screen: Screen,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every line of standard input is one command, exactly as it stands; with --json a line that begins with \
                  a quotation mark is a JSON string. Each line is answered by the world's text, or with --json by one \
                  object: step, action, observation, reward, progress, done, won, valid, admissible, world. Step 0 is \
                  the reset and has goal and task as well. Playing goes on after the end; exit 0 at end of input."
)]
pub struct Play {
    /// The environment: household (built in) or alfworld.
    #[arg(long, value_name = "E")]
    pub env: Option<String>,
    /// A task, by its id; for alfworld also a game.tw-pddl or its folder.
    #[arg(long, value_name = "T")]
    pub task: Option<String>,
    /// Seed of the world's own chance.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A list of tasks, as for run.
    #[arg(long, value_name = "F")]
    pub tasks: Option<String>,
    /// Which task of the list, counted from 0.
    #[arg(long, value_name = "N", requires = "tasks")]
    pub index: Option<usize>,
    /// How answers are shown: raw, react or agentboard.
    #[arg(long, value_name = "I")]
    pub interface: Option<String>,
    /// A world state to begin from (BabyAI).
    #[arg(long, value_name = "F", hide = true)]
    pub state: Option<PathBuf>,
    /// A PDDL domain (with --problem).
    #[arg(long, value_name = "F", hide = true)]
    pub domain: Option<PathBuf>,
    /// A PDDL problem (with --domain).
    #[arg(long, value_name = "F", hide = true)]
    pub problem: Option<PathBuf>,
    /// One JSON object a reply.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Which one; without a name the first is opened.
    pub name: Option<String>,
    /// List what there is.
    #[arg(long)]
    pub list: bool,
    #[command(flatten)]
    pub screen: Screen,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect tasks --env household\n  \
                  retrospect tasks --env household --tasks 'normal/*/1-3' --write games/\n  \
                  retrospect tasks --env alfworld --split valid_unseen --json")]
pub struct Tasks {
    #[command(flatten)]
    pub world: World,
    /// Write them as folders that ALFWorld's own loader reads.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Sessions {
    /// One JSON object a line.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A pool file is a log of lesson operations, one JSON object a line; it is only added to, and merged by \
                  the ids of its lessons. Without --pool it is `pool.jsonl` in the user's data folder."
)]
pub struct Lessons {
    #[command(subcommand)]
    pub verb: LessonVerb,
    /// The pool file.
    #[arg(long, global = true, value_name = "F")]
    pub pool: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum LessonVerb {
    /// List the lessons of the pool, or of a session.
    List {
        /// A session or another pool file.
        from: Option<String>,
        /// Retired ones too.
        #[arg(long)]
        all: bool,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Add a lesson.
    Add {
        /// The lesson; for an Error lesson the mistake.
        text: String,
        /// For an Error lesson: what to do instead.
        #[arg(long)]
        solution: Option<String>,
        /// Its kind: abstract, error, progress, plan, experience, lesson, positive, negative, advice.
        #[arg(long)]
        kind: Option<String>,
        /// Its reach: episode, task, task_type, environment.
        #[arg(long, default_value = "environment")]
        scope: String,
    },
    /// Give a lesson new words.
    Edit {
        /// Its number in the list, or its id.
        lesson: String,
        /// The new words.
        text: Option<String>,
        /// The new solution.
        #[arg(long)]
        solution: Option<String>,
    },
    /// Take a lesson out of use; its history stays.
    Retire {
        /// Numbers in the list, or ids.
        #[arg(required = true)]
        lessons: Vec<String>,
    },
    /// Merge another pool file into this one, by id.
    Import {
        /// The other pool file, or a text of one lesson a line.
        file: PathBuf,
    },
    /// Print the lessons in force.
    Export {
        /// A session or another pool file.
        from: Option<String>,
        /// How: pool (a pool file), text (as --constitution reads it), markdown.
        #[arg(long, default_value = "pool")]
        format: PoolFormat,
    },
    /// Take lessons of a session into the pool, so that other runs can begin with them.
    Promote {
        /// The session.
        session: String,
        /// Only these, by their number in the session or their id.
        #[arg(long = "lesson", value_name = "L")]
        lessons: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct Verify {
    /// A session or an exported report.
    pub path: String,
    /// Do not take its actions again in its world.
    #[arg(long)]
    pub no_world: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect export --last --format html --out report.html\n  \
                        retrospect export --last --format svg --at 1.14 --size 120x36 --theme light > screen.svg")]
pub struct Export {
    /// A session, or an exported report.
    #[arg(value_name = "PATH", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// html (one page that carries the session), markdown, json, svg (the screen), text (the transcript).
    #[arg(long, short, default_value = "html")]
    pub format: Format,
    /// The place to mark or draw: EPISODE.STEP.
    #[arg(long, value_name = "E.S")]
    pub at: Option<String>,
    /// Size of the screen that svg draws, in columns and rows.
    #[arg(long, value_name = "WxH", default_value = "120x36")]
    pub size: String,
    /// Theme of the screen that svg draws.
    #[arg(long, value_name = "T")]
    pub theme: Option<String>,
    /// Write here instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write this page and one for every verb into a folder.
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
    /// Write a configuration file with every setting and its default, as comments.
    Init {
        /// Replace a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// Show every setting, its value and where it comes from.
    Show {
        /// One JSON object.
        #[arg(long)]
        json: bool,
    },
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

/// What a session can be told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One page with the journal in it.
    Html,
    /// Markdown.
    #[value(alias = "md")]
    Markdown,
    /// One JSON document.
    Json,
    /// The screen at one step, as a picture.
    Svg,
    /// The plain transcript.
    Text,
}

/// What lessons can be told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PoolFormat {
    /// A pool file of its own.
    Pool,
    /// One lesson a line.
    Text,
    /// Markdown.
    Markdown,
}
