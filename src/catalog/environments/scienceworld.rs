//! The environment `scienceworld`.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, PublishedTasks, TaskFacts};
use crate::env::scienceworld::{self, ScienceWorldTasks};
use crate::prompt::interface::{EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::stand_in::science_reply;
use crate::symbolic::SCIENCE_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: scienceworld::NAME,
    tasks: &ScienceWorldTasks,
    rules: &SCIENCE_RULES,
    settings: &[],
    options: &[
        scienceworld::JAR_OPTION,
        scienceworld::PYTHON_OPTION,
        scienceworld::JAVA_OPTION,
        scienceworld::PY4J_OPTION,
        scienceworld::SIMPLIFICATIONS_OPTION,
        scienceworld::ENUMERATE_OPTION,
    ],
    defaults: EnvironmentDefaults::NONE,
    templates: &[
        ("scienceworld.toml", include_str!("../../env/scienceworld/prompts/scienceworld.toml")),
        ("find.txt", include_str!("../../env/scienceworld/prompts/find.txt")),
        ("measure.txt", include_str!("../../env/scienceworld/prompts/measure.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(science_reply),
    texts: EnvironmentTexts {
        thought_rule: Some("scienceworld.thought"),
        short_actions: Some(&["task", "wait"]),
        answers_list_request: |_| true,
        own_words: &[OwnWords {
            task_type: None,
            words: &["thermometer", "bee hive", "greenhouse", "ambiguous request", "art studio", "foundry"],
        }],
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        start_text: Some("another program; needs Java and its JAR"),
        short_goal: scienceworld::short_goal,
        task_help: "`boil/21` (a task and its variation)",
        splits: &["train", "dev", "test"],
        published: Some(PublishedTasks {
            keys: scienceworld::published_keys,
            key: |task| Some(task.id.clone()),
        }),
        ..TaskFacts::NONE
    },
    draw_picture: scienceworld::draw_picture,
};
