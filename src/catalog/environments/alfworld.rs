//! The environment `alfworld`.

use crate::catalog::environment_entry::{
    EnvironmentDefaults, EnvironmentEntry, LessonForms, PublishedTasks, TaskFacts,
};
use crate::env::Label;
use crate::env::alfworld::{self, AlfWorldTasks};
use crate::prompt::PublicFiles;
use crate::prompt::interface::{EnvironmentTexts, OtherWording, OwnWords, PLAIN_TEXTS, Rewriting};
use crate::stand_in::{household_reply, household_understands};
use crate::symbolic::HOUSEHOLD_RULES;
use crate::symbolic::{CIRCLE_VISITS, CIRCLE_WINDOW};

/// The texts of ALFWorld's games, some of which have the wording of its older data.
pub(super) const TEXTS: EnvironmentTexts = EnvironmentTexts {
    other_wording: Some(OtherWording {
        is_used: alfworld::has_older_wording,
        rewrite_line: alfworld::to_older_wording,
        shorten: without_location,
    }),
    short_actions: Some(&["look", "help"]),
    // Of the instruction in public code, and of a first observation.
    episode_openings: &["Interact with a household", "You are in the middle of a room"],
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
    rewriting: Some(Rewriting { put: in_or_on, shows_view }),
    goal_lines: Some(&["Your task is to:"]),
    ..PLAIN_TEXTS
};

/// The files of ReAct's public code (methods.md 2.1, 4) and Reflexion's (methods.md 2.2).
const PUBLIC_FILES: PublicFiles = PublicFiles {
    examples: "alfworld_3prompts.json",
    // Those without thoughts only if a type has no others.
    formats: &["react", "act"],
    task_types: &[
        ("put", &["pick_and_place_simple"]),
        ("clean", &["pick_clean_then_place_in_recep", "clean"]),
        ("heat", &["pick_heat_then_place_in_recep", "hot", "heat"]),
        ("cool", &["pick_cool_then_place_in_recep", "cool"]),
        ("examine", &["look_at_obj_in_light", "look", "examine"]),
        ("puttwo", &["pick_two_obj_and_place", "two"]),
    ],
    // The code never shows the third.
    example_order: &["1", "0", "2"],
    failures: "reflexion_few_shot_examples.txt",
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
    public_files: Some(PUBLIC_FILES),
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
pub(super) const LESSON_FORMS: LessonForms = LessonForms {
    understands: household_understands,
    sentences: &[
        "Look for a mug in/on a shelf first.",
        "Look inside closed containers too.",
        "Open a closed container before you take something from it or put something in it.",
        "Put down what you are holding before you take another object.",
        "Take the object before you heat, cool or clean it.",
        "Heat it before you put it in/on the target.",
        "After you heat it, put it in/on the target.",
        "Only a microwave can heat things.",
        "Only a fridge can cool things.",
        "Only a sinkbasin can clean things.",
        "To examine something in the light, carry it to a lamp and use the lamp.",
        "Take only the object the task mentions.",
        "Go to a place before you act on it.",
        "Do not go back to a place you have already searched.",
        "Do not repeat an action that did nothing.",
        "Use the number of every object and place.",
        "Use \"move OBJECT to PLACE\" to put something down.",
    ],
};

/// Removes everything through the first `. ` from an arrival in a game of data version 2.1.1, which names a location without
/// information.
fn without_location(raw: &str) -> Option<&str> {
    raw.starts_with("You arrive at loc ").then(|| raw.split_once(". ").map(|(_, rest)| rest)).flatten()
}

/// Rewrites a `put` as AgentBoard does (methods.md 3.1): every ` in `, or every ` on ` if there is no ` in `.
fn in_or_on(action: &str) -> String {
    if !action.contains("put") {
        return action.to_owned();
    }
    action.replace(if action.contains(" in ") { " in " } else { " on " }, " in/on ")
}

/// Whether AgentBoard's `look` repeats the observation of an action.
fn shows_view(action: &str, observation: &str) -> bool {
    let is_about_view = action.contains("go to") || action.contains("open");
    is_about_view && !observation.contains("Nothing happens")
}
