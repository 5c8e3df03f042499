//! The environment `hotpotqa`.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, Measure, TaskFacts};
use crate::domain::common_settings::{LOOP_DETECTOR, MAX_STEPS, THOUGHTS_COUNT};
use crate::domain::{DefaultValue, SettingOrigin, Task};
use crate::env::hotpotqa::{self, HotpotTasks};
use crate::prompt::interface::{EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::stand_in::question_reply;
use crate::symbolic::QUESTION_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: hotpotqa::NAME,
    tasks: &HotpotTasks,
    rules: &QUESTION_RULES,
    settings: &[],
    options: &[
        hotpotqa::QUESTIONS_OPTION,
        hotpotqa::PAGES_OPTION,
        hotpotqa::AGENT_OPTION,
        hotpotqa::STYLE_OPTION,
    ],
    // In Reflexion's code a thought and an action are one step, and looking up the same words again shows the next result.
    defaults: EnvironmentDefaults {
        settings: &[
            (MAX_STEPS.spec.name, DefaultValue::Number(6)),
            (THOUGHTS_COUNT.spec.name, DefaultValue::Switch(false)),
            (LOOP_DETECTOR.spec.name, DefaultValue::Switch(false)),
        ],
        origin: SettingOrigin::Code,
    },
    templates: &[
        ("hotpotqa.toml", include_str!("../../env/hotpotqa/prompts/hotpotqa.toml")),
        ("bridge.txt", include_str!("../../env/hotpotqa/prompts/bridge.txt")),
        ("comparison.txt", include_str!("../../env/hotpotqa/prompts/comparison.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(question_reply),
    texts: EnvironmentTexts {
        goal_lines: None,
        own_words: &[OwnWords {
            task_type: None,
            words: &["search[", "lookup[", "finish[", "wikipedia", "sundrel", "orvane"],
        }],
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        start_text: Some("questions answered from pages; a data set, or a few of our own"),
        difficulty: |task: &Task| task.difficulty.as_deref(),
        task_help: "the id of a question",
        measures: &[Measure { name: "F1", value: |shown| shown.pointer("/answer/f1")?.as_f64() }],
        solved_name: "exact match",
        has_progress: |_| false,
        lists_all_actions: false,
        ..TaskFacts::NONE
    },
    draw_picture: hotpotqa::draw_picture,
};
