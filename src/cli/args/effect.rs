//! The flags of `lessons effect`.

use super::key_flags::{KeyFlags, MethodKeys, ModelKeys, TaskKeys, setting_parser};
use super::task_help::{split_help, task_help};
use super::{MethodArgs, ProblemFiles, ProgramArgs, TaskArgs, number_of};
use crate::domain::common_settings::MAX_STEPS;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "With --session, the lesson is measured here (in the session's last episode, from --step or from its start) and \
                  elsewhere (in other tasks of its environment); both together say whether it is a lesson or an answer. Without \
                  --session, it is measured over the tasks; without --lesson, each lesson of the pool is left out in turn.\n\
                  The measurement is kept in effects/ID beside the session or the pool; the same command continues it.\n\
                  Exit codes: 0 for any verdict, 1 error or another verdict than --expect, 2 usage, 3 stopped by a budget while \
                  undecided, 130 interrupted.\n\
                  Examples:\n  retrospect lessons effect --session hot-mug-taught --lesson 3 --yes\n  \
                  retrospect lessons effect --env household --tasks 'normal/*/1-20' --lesson 1 --pairs 120 --json"
)]
#[allow(clippy::struct_excessive_bools, reason = "one switch a flag")]
pub struct EffectArgs {
    /// Lesson to measure: number in the list, or id; may be repeated.
    #[arg(long = "lesson", value_name = "L")]
    pub lessons: Vec<String>,
    /// Measure a lesson with this text, which is in no pool (`mistake -> solution` is an Error lesson).
    #[arg(long, value_name = "TEXT", conflicts_with = "lessons")]
    pub text: Option<String>,
    /// Session in which the lesson is measured, optionally with @BRANCH; it plays with its own method, models and settings.
    #[arg(long, value_name = "PATH[@BRANCH]")]
    pub session: Option<String>,
    /// Episode of the session in which it is measured; the default is the last one.
    #[arg(long, value_name = "N", requires = "session", value_parser = clap::value_parser!(u32).range(1..))]
    pub in_episode: Option<u32>,
    /// Begin before the prompt of this step of the episode; the default is the episode's start.
    #[arg(long, value_name = "N", requires = "session", value_parser = clap::value_parser!(u32).range(1..))]
    pub step: Option<u32>,
    /// Measure only in this column.
    #[arg(long, value_name = "COLUMN", requires = "session")]
    pub only: Option<OnlyColumn>,
    #[command(flatten)]
    pub task_keys: KeyFlags<TaskKeys>,
    #[arg(long = "task", value_name = "T", help = task_help("Task id; may be repeated. "))]
    pub task: Vec<String>,
    /// Tasks from a file or from a named set such as `normal/*/1-20`.
    #[arg(long, value_name = "FILE|NAME")]
    pub tasks: Option<String>,
    #[arg(long, value_name = "S", help = split_help())]
    pub split: Option<String>,
    /// Claim something about exactly these tasks instead of tasks like these: a pair is one round over all of them.
    #[arg(long, help_heading = "Design")]
    pub these: bool,
    /// Outcome that gets the verdict: success, progress, steps or tokens (no verdict).
    #[arg(long, value_name = "O", default_value = "success", help_heading = "Design")]
    pub outcome: OutcomeWord,
    /// Differences smaller than this don't matter; the default is 0.10 for success, 0.05 for progress and steps.
    #[arg(long, value_name = "D", help_heading = "Design")]
    pub margin: Option<f64>,
    /// Primary contrast, such as `edited,with`; the default is `with,without`.
    #[arg(long, value_name = "A,B", help_heading = "Design")]
    pub contrast: Option<String>,
    /// Another wording to measure against the present one.
    #[arg(long, value_name = "TEXT", help_heading = "Design")]
    pub edited: Option<String>,
    /// What takes the lesson's place in the placebo arm.
    #[arg(long, value_name = "KIND", default_value = "neutral", help_heading = "Design")]
    pub placebo: PlaceboWord,
    /// Compare each lesson alone with an empty pool, instead of leaving it out of the pool.
    #[arg(long, conflicts_with_all = ["session", "contrast", "edited"], help_heading = "Design")]
    pub add_one_in: bool,
    /// Credit each lesson of the pool with what changes when it joins those before it, in N random orders; an order is a pair of L + 1
    /// episodes for L lessons.
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["session", "contrast", "edited", "lessons", "text", "add_one_in", "pairs"],
        help_heading = "Design",
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub shapley: Option<u32>,
    /// Let the method reflect during the episodes; by default it doesn't, so that the pool stays as it is.
    #[arg(long, help_heading = "Design")]
    pub live: bool,
    /// Episodes of each task in a pair.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Design", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
    /// Maximum number of pairs; the default is 200 where they cost nothing, else 60.
    #[arg(long, value_name = "N", help_heading = "Budget", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pairs: Option<u32>,
    /// Maximum number of episodes.
    #[arg(long, value_name = "N", help_heading = "Budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub episodes: Option<u64>,
    /// Maximum number of tokens.
    #[arg(long, value_name = "N", help_heading = "Budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub tokens: Option<u64>,
    /// Maximum number of calls to models.
    #[arg(long, value_name = "N", help_heading = "Budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub calls: Option<u64>,
    /// Maximum cost in the currency of the configured prices, such as 2.50.
    #[arg(long, value_name = "AMOUNT", help_heading = "Budget")]
    pub cost: Option<String>,
    /// Maximum duration in minutes.
    #[arg(long, value_name = "N", help_heading = "Budget", value_parser = clap::value_parser!(u64).range(1..))]
    pub minutes: Option<u64>,
    /// Go on after a verdict.
    #[arg(long, help_heading = "Budget")]
    pub keep_going: bool,
    /// Start without asking.
    #[arg(long, help_heading = "Budget")]
    pub yes: bool,
    /// Number of episodes that are played at once.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Run control", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Pairs whose journals are kept beside the log.
    #[arg(long, value_name = "WHICH", default_value = "differing", help_heading = "Run control")]
    pub keep: KeepWord,
    /// Play only the pairs k with k mod N = I - 1, and write their log; `--merge` judges.
    #[arg(long, value_name = "I/N", help_heading = "Run control")]
    pub shard: Option<String>,
    /// Judge the logs of shards as one measurement; plays nothing.
    #[arg(long, value_name = "LOG", num_args = 1.., conflicts_with_all = ["lessons", "text", "session", "shard"], help_heading = "Run control")]
    pub merge: Vec<PathBuf>,
    /// Exit with 1 on any other verdict.
    #[arg(long, value_name = "VERDICT", help_heading = "Output")]
    pub expect: Option<ExpectedVerdict>,
    /// Print one JSON object per line: the plan, each pair, the verdict.
    #[arg(long, conflicts_with = "markdown", help_heading = "Output")]
    pub json: bool,
    /// Print the result as Markdown.
    #[arg(long, help_heading = "Output")]
    pub markdown: bool,
    #[command(flatten)]
    pub method_keys: KeyFlags<MethodKeys>,
    /// Step limit of an episode; with --session, the session's own applies.
    #[arg(long, value_name = "N", help_heading = "Method", conflicts_with = "session", value_parser = number_of(&MAX_STEPS))]
    pub max_steps: Option<u64>,
    /// Set a setting by name; `retrospect config show` lists them. May be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE", help_heading = "Method", value_parser = setting_parser(), hide_possible_values = true)]
    pub set: Vec<String>,
    #[command(flatten)]
    pub models: KeyFlags<ModelKeys>,
}

/// A column of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnlyColumn {
    Here,
    Elsewhere,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutcomeWord {
    Success,
    Progress,
    Steps,
    Tokens,
}

/// The placebo arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlaceboWord {
    /// Neutral sentences of equal length.
    Neutral,
    /// The lesson's own words in a random order.
    Shuffled,
    /// No placebo arm.
    None,
}

/// Which pairs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeepWord {
    /// Those whose arms have different outcomes.
    Differing,
    All,
    None,
}

/// A verdict that a script expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExpectedVerdict {
    Helped,
    NoEffect,
    Harmful,
}

impl EffectArgs {
    /// Returns the flags that choose tasks, as other commands have them.
    pub fn task_args(&self) -> TaskArgs {
        TaskArgs {
            keys: self.task_keys.clone(),
            task: self.task.clone(),
            tasks: self.tasks.clone(),
            only: None,
            split: self.split.clone(),
            files: ProblemFiles::default(),
            program: ProgramArgs::default(),
        }
    }

    /// Returns the flags of the method, with a pool file.
    pub fn method_args(&self, pool: Option<&Path>) -> MethodArgs {
        MethodArgs {
            keys: self.method_keys.clone(),
            max_steps: self.max_steps,
            pool: pool.map(Path::to_owned),
            constitution: None,
            preset: None,
            set: self.set.clone(),
        }
    }

    /// Returns whether tasks are named.
    pub fn names_tasks(&self) -> bool {
        !self.task.is_empty() || self.tasks.is_some() || self.split.is_some()
    }

    /// Returns whether a flag limits what the measurement may cost.
    pub fn has_budget(&self) -> bool {
        let amounts = [self.episodes, self.tokens, self.calls, self.minutes];
        self.pairs.or(self.shapley).is_some() || self.cost.is_some() || amounts.iter().any(Option::is_some)
    }
}
