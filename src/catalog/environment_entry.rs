//! What the program needs to know about an environment.

use crate::domain::{DefaultValue, LessonText, Picture, PictureRequest, SettingOrigin, SettingSpec, Task};
use crate::env::{EnvironmentOption, ExportedGame, TaskSource};
use crate::prompt::PublicFiles;
use crate::prompt::interface::EnvironmentTexts;
use crate::stand_in::RuleBasedReply;
use crate::symbolic::EnvironmentRules;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// Returns a generated task, given by its id, as files.
pub type ExportTask = fn(&str) -> Result<ExportedGame, String>;

/// An environment.
pub struct EnvironmentEntry {
    /// The name on the command line and in journals.
    pub name: &'static str,
    /// Its tasks: how they are found, listed and opened.
    pub tasks: &'static dyn TaskSource,
    /// Its detectors, and the rules behind symbolic reflections.
    pub rules: &'static EnvironmentRules,
    /// Settings that concern it. Every run has them, since a run may play tasks of several environments.
    pub settings: &'static [SettingSpec],
    /// Its own configuration keys, which decide how its tasks are opened.
    pub options: &'static [EnvironmentOption],
    /// What its tasks need instead of the defaults of the methods.
    pub defaults: EnvironmentDefaults,
    /// Its prompt templates and examples, as (file name, text).
    pub templates: &'static [(&'static str, &'static str)],
    /// The files of public code about it, which a person may add.
    pub public_files: Option<PublicFiles>,
    /// How the rule-based actor plays it. `None`: it doesn't understand the texts, and a run with it starts with a warning.
    pub rule_based_reply: Option<RuleBasedReply>,
    /// How the interfaces treat its texts.
    pub texts: EnvironmentTexts,
    /// Draws what is known about its world. [`list_values`](crate::env::list_values) suits any environment.
    pub draw_picture: fn(&PictureRequest<'_>) -> Picture,
    /// What screens, the command line and reports ask about its tasks.
    pub task_facts: TaskFacts,
}

/// The settings of a run whose first task is of an environment, in place of the method's defaults. Presets and
/// flags replace them.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentDefaults {
    /// Values by name, of settings that the method has.
    pub settings: &'static [(&'static str, DefaultValue)],
    /// Where they come from.
    pub origin: SettingOrigin,
}

impl EnvironmentDefaults {
    /// Those of the methods.
    pub const NONE: Self = Self { settings: &[], origin: SettingOrigin::BuiltIn };
}

/// What screens, the command line and reports ask about the tasks of an environment.
pub struct TaskFacts {
    /// What the start screen says about its tasks; if `None`, the data folder.
    pub start_text: Option<&'static str>,
    /// Returns the name that reports and the list of episodes use for a task type. The type itself if it is short.
    pub short_type: fn(&str) -> &str,
    /// Returns how difficult a task without a label is, such as `easy`; reports group by it. `None` if nobody has rated it.
    pub difficulty: fn(&Task) -> Option<&str>,
    /// Returns the part of a goal that the status row shows: without words with which every goal begins.
    pub short_goal: fn(&str) -> Cow<'_, str>,
    /// Returns the number of a task's sub-goals, the goal itself included, from the task and what its environment shows; screens
    /// then count the progress (`2/4`). `None` if it isn't known.
    pub subgoals: fn(&Task, &Value) -> Option<u64>,
    /// Returns whether its progress rate says more than whether it is solved: it has sub-goals, or a score.
    pub has_progress: fn(&Task) -> bool,
    /// Whether the list of admissible actions has all actions that the environment accepts. `false` if actions contain free text,
    /// so that the list has only suggestions, or if nobody knows: then no other action is said to be inadmissible.
    pub lists_all_actions: bool,
    /// The environment of papers for which this one stands in: a preset that is for the other one is played here, too, if this one
    /// is configured.
    pub stands_in_for: Option<&'static str>,
    /// What `--task` takes, as one clause for its help, such as "a level number or name". Empty if there is nothing to say.
    pub task_help: &'static str,
    /// The names that `--split` takes, for its help.
    pub splits: &'static [&'static str],
    /// Whether task ids are paths that contain the folder of their split.
    pub split_in_id: bool,
    /// The tasks that the published figures are about. `None` if the split says so, or if nothing is published.
    pub published: Option<PublishedTasks>,
    /// Whether `play --state` opens a file as a task.
    pub has_state_files: bool,
    /// Returns the name of the task in a problem file and its domain file, if any (`--problem` and `--domain`). `None` if
    /// the environment has no such files.
    pub problem_task: Option<fn(Option<&Path>, &Path) -> String>,
    /// The option that makes its program visible (`--show`), and the value for that. `None` if it has none that could be seen.
    pub show_option: Option<(&'static EnvironmentOption, &'static str)>,
    /// The option with which programs of the agent run without a sandbox (`--unsandboxed`), and the value for that. `None` if it
    /// runs none.
    pub unsandboxed_option: Option<(&'static EnvironmentOption, &'static str)>,
    /// Returns what a person may read about a step beside its observation, as pairs of a label and a text, from the ground truth
    /// after it.
    pub step_texts: fn(&Value) -> Vec<(&'static str, String)>,
    /// Counts the elements that an observation lists, so that a plan for a screen ends when the screen changes. `None` if its
    /// observations list none.
    pub count_elements: Option<fn(&str) -> usize>,
    /// What reports measure in its episodes besides success, progress and steps.
    pub measures: &'static [Measure],
    /// What a solved task is called in the field, such as `pass@1`. Empty if nothing else than solved.
    pub solved_name: &'static str,
    /// For `tasks --write`; `None` if its tasks aren't generated as files.
    pub export_task: Option<ExportTask>,
    /// Values of its options with which the rule-based actor can't play, because it reads other texts or knows other actions.
    pub unplayable_by_rules: &'static [(&'static EnvironmentOption, &'static str)],
    /// The lessons that the rule-based actor understands. `None` if it doesn't know fixed sentences only.
    pub lesson_forms: Option<LessonForms>,
}

/// Sentences that teach the rule-based actor; it ignores all others.
#[derive(Clone, Copy)]
pub struct LessonForms {
    /// Returns whether a lesson's text has one of them.
    pub understands: fn(&str) -> bool,
    /// One sentence of each form (`docs/LESSON_FORMS.md`). The first is the example that messages name.
    pub sentences: &'static [&'static str],
}

impl LessonForms {
    /// Returns whether a lesson has a sentence that teaches the actor.
    pub fn teach(&self, lesson: &LessonText) -> bool {
        (self.understands)(&lesson.text) || lesson.solution.as_deref().is_some_and(self.understands)
    }
}

/// A measure of an episode besides success, progress and steps.
#[derive(Clone, Copy)]
pub struct Measure {
    /// Its name in reports, such as `F1`.
    pub name: &'static str,
    /// Returns its value, from what the environment shows at the end of the episode. An episode without one counts as 0.
    pub value: fn(&Value) -> Option<f64>,
}

/// The tasks behind published figures, and how they are recognised.
#[derive(Clone, Copy)]
pub struct PublishedTasks {
    /// Returns a key for each of them; tasks that can't be told apart have equal keys.
    pub keys: fn() -> Vec<String>,
    /// Returns the key of a task with its goal. `None` if it certainly isn't one of them.
    pub key: fn(&Task) -> Option<String>,
}

impl PublishedTasks {
    /// Returns how many of these tasks aren't among the published ones. Each published task counts once.
    pub fn count_others<'t>(&self, tasks: impl Iterator<Item = &'t Task>) -> usize {
        let mut unused = (self.keys)();
        let mut use_up = |task: &Task| {
            let key = (self.key)(task)?;
            unused.iter().position(|known| *known == key).map(|index| unused.swap_remove(index))
        };
        tasks.filter(|task| use_up(task).is_none()).count()
    }
}

impl TaskFacts {
    /// The facts of an environment with nothing special.
    pub const NONE: Self = Self {
        start_text: None,
        short_type: |task_type| task_type,
        difficulty: |_| None,
        short_goal: |goal| goal.into(),
        subgoals: shown_subgoals,
        has_progress: |_| true,
        lists_all_actions: true,
        stands_in_for: None,
        task_help: "",
        splits: &[],
        split_in_id: false,
        published: None,
        has_state_files: false,
        problem_task: None,
        show_option: None,
        unsandboxed_option: None,
        step_texts: |_| Vec::new(),
        count_elements: None,
        measures: &[],
        solved_name: "",
        export_task: None,
        unplayable_by_rules: &[],
        lesson_forms: None,
    };
}

/// The [`TaskFacts::subgoals`] of an environment that shows them as `subgoals`: their number, or the sub-goals themselves.
fn shown_subgoals(_: &Task, shown: &Value) -> Option<u64> {
    let subgoals = shown.get("subgoals")?;
    subgoals.as_u64().or_else(|| Some(subgoals.as_object()?.len() as u64))
}

/// The [`TaskFacts::difficulty`] of tasks whose ids contain it (`easy`, `normal`, `hard`) between slashes.
pub fn difficulty_in_id(task: &Task) -> Option<&str> {
    task.id.split('/').find(|part| ["easy", "normal", "hard"].contains(part))
}
