//! The environment `pddl`.

use crate::catalog::environment_entry::{
    EnvironmentDefaults, EnvironmentEntry, PublishedTasks, TaskFacts, difficulty_in_id,
};
use crate::env::pddl::{self, PddlTasks};
use crate::prompt::interface::{EnvironmentTexts, OwnWords, PLAIN_TEXTS};
use crate::stand_in::planning_reply;
use crate::symbolic::PLANNING_RULES;

const OWN_WORDS: &[OwnWords] = &[
    OwnWords {
        task_type: Some("gripper"),
        words: &["robby", "rooma", "roomb", "roomc", "arm left", "arm right", "ball1"],
    },
    OwnWords {
        task_type: Some("blockworld"),
        words: &["unstack", "putdown", "pickup b1", "stack b1", "block b", "arm is empty"],
    },
    OwnWords {
        task_type: Some("barman"),
        words: &["shaker", "cocktail", "dispenser", "bartender", "ingredient", "shot", "grasp"],
    },
    OwnWords {
        task_type: Some("tyreworld"),
        words: &[
            "wrench",
            "jack",
            "boot",
            "the-hub",
            "nuts1",
            "pump",
            "inflate",
            "wheel",
            "fetch wrench",
            "put-away",
            "loosen",
            "tighten",
        ],
    },
];

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: pddl::NAME,
    tasks: &PddlTasks,
    rules: &PLANNING_RULES,
    settings: &[],
    options: &[pddl::GOAL_OPTION],
    defaults: EnvironmentDefaults::NONE,
    templates: &[
        ("pddl.toml", include_str!("../../env/pddl/prompts/pddl.toml")),
        ("gripper-1.txt", include_str!("../../env/pddl/prompts/gripper-1.txt")),
        ("gripper-2.txt", include_str!("../../env/pddl/prompts/gripper-2.txt")),
        ("blockworld-1.txt", include_str!("../../env/pddl/prompts/blockworld-1.txt")),
        ("blockworld-2.txt", include_str!("../../env/pddl/prompts/blockworld-2.txt")),
        ("barman-1.txt", include_str!("../../env/pddl/prompts/barman-1.txt")),
        ("barman-2.txt", include_str!("../../env/pddl/prompts/barman-2.txt")),
        ("tyreworld-1.txt", include_str!("../../env/pddl/prompts/tyreworld-1.txt")),
        ("tyreworld-2.txt", include_str!("../../env/pddl/prompts/tyreworld-2.txt")),
    ],
    public_files: None,
    rule_based_reply: Some(planning_reply),
    texts: EnvironmentTexts {
        thought_rule: Some("pddl.thought"),
        // A person's own domain names its actions and objects, such as `go b`.
        short_actions: None,
        own_words: OWN_WORDS,
        ..PLAIN_TEXTS
    },
    task_facts: TaskFacts {
        difficulty: difficulty_in_id,
        short_goal: pddl::short_goal,
        published: Some(PublishedTasks { keys: pddl::published_keys, key: pddl::published_key }),
        task_help: "`gripper/3`",
        problem_task: Some(pddl::task_id_from_files),
        ..TaskFacts::NONE
    },
    draw_picture: pddl::draw_picture,
};
