//! The environment `programming`.

use crate::catalog::environment_entry::{EnvironmentDefaults, EnvironmentEntry, TaskFacts};
use crate::domain::common_settings::{ACTOR_REPLY, ActorReply, LOOP_DETECTOR, MAX_STEPS, THOUGHTS_COUNT};
use crate::domain::{DefaultValue, SettingOrigin};
use crate::env::programming::{self, ProgrammingTasks};
use crate::method::reflexion::settings::REPEAT_OPENING;
use crate::prompt::interface::{EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::symbolic::PROGRAM_RULES;

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: programming::NAME,
    tasks: &ProgrammingTasks,
    rules: &PROGRAM_RULES,
    settings: &[programming::RETRY_ON.spec],
    options: &[
        programming::EXERCISES_OPTION,
        programming::PYTHON_OPTION,
        programming::SANDBOX_OPTION,
        programming::MAX_TESTS_OPTION,
        programming::JUDGE_OPTION,
    ],
    // Tests, then a program; one more step if one of them wasn't understood.
    defaults: EnvironmentDefaults {
        settings: &[
            (MAX_STEPS.spec.name, DefaultValue::Number(3)),
            (ACTOR_REPLY.spec.name, ActorReply::Whole.as_default()),
            (REPEAT_OPENING.spec.name, DefaultValue::Switch(true)),
            (THOUGHTS_COUNT.spec.name, DefaultValue::Switch(false)),
            (LOOP_DETECTOR.spec.name, DefaultValue::Switch(false)),
        ],
        origin: SettingOrigin::Code,
    },
    templates: &[
        ("programming.toml", include_str!("../../env/programming/prompts/programming.toml")),
        ("programs.txt", include_str!("../../env/programming/prompts/programs.txt")),
    ],
    public_files: None,
    rule_based_reply: None,
    texts: EnvironmentTexts {
        goal_lines: None,
        own_words: &[OwnWords {
            task_type: None,
            words: &["in python", "```python", "docstring", "tests failed:", "def ", "unit test"],
        }],
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        start_text: Some("programs in Python, judged by hidden tests; needs bubblewrap and python3"),
        task_help: "the id of an exercise",
        solved_name: "pass@1",
        unsandboxed_option: Some((&programming::SANDBOX_OPTION, "none")),
        has_progress: |_| false,
        lists_all_actions: false,
        ..TaskFacts::NONE
    },
    draw_picture: programming::draw_picture,
};
