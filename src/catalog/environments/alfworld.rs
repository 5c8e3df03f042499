//! The environment `alfworld`.

use crate::catalog::environment_entry::{
    EnvironmentDefaults, EnvironmentEntry, LessonForms, PublishedTasks, TaskFacts,
};
use crate::env::Label;
use crate::env::alfworld::{self, AlfWorldTasks};
use crate::prompt::interface::{EnvironmentTexts, OtherWording, OwnWords, PLAIN_TEXTS};
use crate::stand_in::{household_reply, household_understands};
use crate::symbolic::HOUSEHOLD_RULES;
use crate::symbolic::{CIRCLE_VISITS, CIRCLE_WINDOW};

/// The texts of ALFWorld's games, some of which have the wording of its older data.
pub(super) const TEXTS: EnvironmentTexts = EnvironmentTexts {
    other_wording: Some(OtherWording {
        is_used: alfworld::has_older_wording,
        rewrite_line: alfworld::to_older_wording,
    }),
    short_actions: Some(&["look", "help"]),
    answers_list_request: |task| Label::is_task_id(&task.id),
    own_words: &[OwnWords {
        task_type: None,
        words: &[
            "household",
            "microwave",
            "fridge",
            "sinkbasin",
            "countertop",
            "stoveburner",
            "desklamp",
            "garbagecan",
            "coffeemachine",
            "toaster",
            "bathtub",
            "toilet",
            "sofa",
            "armchair",
            "dresser",
            "sidetable",
            "diningtable",
            "coffeetable",
            "cabinet",
            "drawer",
            "shelf",
            "apple",
            "lettuce",
            "tomato",
            "potato",
            "mug",
            "spatula",
            "soapbar",
            "spraybottle",
            "pillow",
            "kettle",
            "nothing happens",
        ],
    }],
    is_rewritten: true,
    ..PLAIN_TEXTS
};

pub(super) const ENTRY: EnvironmentEntry = EnvironmentEntry {
    name: alfworld::NAME,
    tasks: &AlfWorldTasks,
    rules: &HOUSEHOLD_RULES,
    settings: &[CIRCLE_VISITS.spec, CIRCLE_WINDOW.spec],
    // It shares those of `household`.
    options: &[],
    defaults: EnvironmentDefaults::NONE,
    templates: &[],
    has_public_examples: true,
    rule_based_reply: Some(household_reply),
    texts: TEXTS,
    task_facts: TaskFacts {
        split_in_id: true,
        short_type: alfworld::short_type,
        subgoals: alfworld::subgoals,
        difficulty: alfworld::rated_difficulty,
        published: Some(PublishedTasks { keys: alfworld::published_keys, key: alfworld::published_key }),
        task_help: "also a game.tw-pddl or its folder",
        splits: &["train", "valid_seen", "valid_unseen"],
        lesson_forms: Some(LESSON_FORMS),
        ..TaskFacts::NONE
    },
    draw_picture: alfworld::draw_picture,
};

/// What teaches the rule-based actor in households.
pub(super) const LESSON_FORMS: LessonForms =
    LessonForms { understands: household_understands, example: "Look for a mug in/on a shelf first." };
