//! The flags of the verbs that start no run.

use super::{PddlFiles, ScreenArgs, TaskArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Where there is no terminal the transcript is printed.\nExamples:\n  retrospect open --last\n  \
                  retrospect open report.html#1.14"
)]
pub struct Open {
    /// A session (folder, name, or end of its name) or an exported report, perhaps with @BRANCH and #EPISODE.STEP.
    #[arg(value_name = "PATH[@BRANCH][#E.S]", required_unless_present = "last")]
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
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every line of standard input is one command, exactly as it stands; with --json a line that begins with \
                  a quotation mark is a JSON string. Each line is answered by the world's text, or with --json by one \
                  object: step, action, observation, reward, progress, done, won, valid, admissible, world. Step 0 is \
                  the reset and has goal and task as well. Playing goes on after the end; exit 0 at end of input."
)]
pub struct Play {
    /// The environment: household, babyai or pddl (built in), or alfworld.
    #[arg(long, value_name = "E")]
    pub env: Option<String>,
    /// A task, by its id; for alfworld also a game.tw-pddl or its folder, for babyai a level's number or name, for pddl `gripper/3`.
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
    /// A level file to play (babyai).
    #[arg(long, value_name = "F")]
    pub state: Option<PathBuf>,
    #[command(flatten)]
    pub files: PddlFiles,
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
    pub screen: ScreenArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect tasks --env household\n  \
                  retrospect tasks --env household --tasks 'normal/*/1-3' --write games/\n  \
                  retrospect tasks --env alfworld --split valid_unseen --json")]
pub struct Tasks {
    #[command(flatten)]
    pub world: TaskArgs,
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
        /// The other pool file, a text of one lesson a line, or a run directory of Reflexion (or its env_results_trial_N.json).
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
#[command(
    after_help = "Ends with 1 where anything is not as the journal says. Two kinds of differences are told and are \
                        no failure: answers of a rebuilt world that a person accepted, and notes, reflections and \
                        lessons that the rules of this version draw otherwise."
)]
pub struct Verify {
    /// A session or an exported report; with @BRANCH only that line, without it every branch.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// Do not take its actions again in its world.
    #[arg(long)]
    pub no_world: bool,
    /// One JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A and B are PATH, PATH#EPISODE, PATH@BRANCH or PATH@BRANCH#EPISODE; PATH is a session (folder, name, or \
                  end of its name) or an exported report. Without a branch the one written last is meant. Without episodes, all of both are paired by task and trial. \
                  Where one side names an episode, the other's of the same task and trial stands beside it.\n\
                  Examples:\n  retrospect diff hot-mug-untaught hot-mug-taught\n  \
                  retrospect diff sessions/A#1 sessions/A#2 --only-differences\n  \
                  retrospect diff sessions/A sessions/B --json\n\
                  docs/COMPARE.md says how steps are aligned and what the JSON holds."
)]
pub struct Diff {
    /// The left side.
    #[arg(value_name = "A")]
    pub a: String,
    /// The right side.
    #[arg(value_name = "B")]
    pub b: String,
    /// JSON lines: an object for each pair of episodes, and a summary.
    #[arg(long)]
    pub json: bool,
    /// Leave out what is the same.
    #[arg(long)]
    pub only_differences: bool,
    /// Columns of the text, from 40 to 500; else the terminal's, or 80. Below 72 the sides stand one below the other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(40..=500))]
    pub width: Option<u16>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retrospect export --last --format html --out report.html\n  \
                        retrospect export --last --format svg --at 1.14 --size 120x36 --theme light > screen.svg")]
pub struct Export {
    /// A session, or an exported report; perhaps with @BRANCH.
    #[arg(value_name = "PATH[@BRANCH]", required_unless_present = "last")]
    pub path: Option<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "path")]
    pub last: bool,
    /// html (one page that carries the session), markdown, json, svg (the screen), text (the transcript), reflexion (a run
    /// directory as its public code writes it; --out names it).
    #[arg(long, short, default_value = "html")]
    pub format: ExportFormat,
    /// The place to mark or draw: EPISODE.STEP.
    #[arg(long, value_name = "E.S")]
    pub at: Option<String>,
    /// Size of the screen that svg draws, in columns and rows.
    #[arg(long, value_name = "WxH", default_value = "120x36")]
    pub size: String,
    /// Theme of the screen that svg draws.
    #[arg(long, value_name = "T")]
    pub theme: Option<String>,
    /// Write here instead of standard output; for reflexion a folder.
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Sessions that were run in the same way are taken together; with several ways the others are \
                        compared with the first. docs/METRICS.md defines every number.\nExamples:\n  \
                        retrospect report --last\n  retrospect report sessions/A sessions/B --format markdown\n  \
                        retrospect report --last --against paper"
)]
pub struct Report {
    /// Sessions (folder, name, or end of its name) or exported reports.
    #[arg(value_name = "PATH", required_unless_present = "last")]
    pub paths: Vec<String>,
    /// The newest session.
    #[arg(long, conflicts_with = "paths")]
    pub last: bool,
    /// One JSON document.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// text, markdown or json.
    #[arg(long, short, default_value = "text")]
    pub format: ReportFormat,
    /// Published figures beside ours, where there are any of this environment, split, method and settings.
    #[arg(long, value_name = "paper")]
    pub against: Option<Baseline>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The new session plays this one task once, with all that the episode had when it began: lessons, seeds, \
                        trial, the last attempt and the method's memory; it says where it comes from.\nExample:\n  \
                        retrospect rerun --last#3 --headless"
)]
pub struct Rerun {
    /// A session and the number of an episode in it; `--last#E` is of the newest.
    #[arg(value_name = "PATH#E", allow_hyphen_values = true)]
    pub path: String,
    /// Folder of the prompt templates it was begun with, or `builtin`; others are refused.
    #[arg(long, value_name = "DIR")]
    pub prompts: Option<PathBuf>,
    /// Go on with the prompt templates in force here, though it was begun with others.
    #[arg(long)]
    pub accept_prompts: bool,
    #[command(flatten)]
    pub drive: super::DriveArgs,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

/// What a report is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Baseline {
    /// The tables of the papers.
    Paper,
}

/// How a report is written.
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
pub struct Doctor {
    /// Check the server of this actor: openai:MODEL.
    #[arg(long, value_name = "A")]
    pub actor: Option<String>,
    /// Check the server of this mentor: openai:MODEL.
    #[arg(long, value_name = "R")]
    pub mentor: Option<String>,
    /// Ask with this sampling parameter, as a run would: actor.max_tokens=1024, mentor.temperature=0.7.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: super::ModelArgs,
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

/// What a session can be told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
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
    /// A run directory as Reflexion's public code writes it.
    Reflexion,
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
