//! Tests that the actor's mistakes in grid worlds and planning problems are the declared ones, are given up
//! eventually, and are ended and taught by the documented sentences and no others.

use super::super::habits::{GRID_HABITS, PlanningHabit, WORLDS_TOML, planning_habits};
use super::{answer, prompt, segment};
use crate::domain::{ModelRole, Prompt, SegmentLabel};
use crate::engine::request_seed;
use crate::env::Environment;
use crate::env::babyai::{Level, World};
use crate::env::pddl::{Domain, GoalSeparator, generate};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Hash of the data file. After changing a rate, make the tables of `docs/STAND_IN.md` again and update it.
const PINNED_SHA256: &str = "540afd2414f23f8121ced3788f93a03e36b0051014ba5de1ddbe0aef3d2e3f19";

#[test]
fn rates_match_the_published_tables() {
    assert_eq!(crate::domain::hex(&Sha256::digest(WORLDS_TOML.as_bytes())), PINNED_SHA256);
}

/// Returns a task of the tuning seeds.
fn grid_task(seed: u64) -> Box<dyn Environment> {
    let levels: Vec<&Level> = Level::all().iter().filter(|level| level.in_test_split).collect();
    let level = levels[usize::try_from(seed).unwrap() % levels.len()];
    Box::new(World::new(Arc::new(level.generate(seed).unwrap())))
}

/// Returns a problem of the tuning seeds.
fn planning_problem(seed: u64) -> Box<dyn Environment> {
    let domain = Domain::ALL[usize::try_from(seed).unwrap() % Domain::ALL.len()];
    let id = format!("{}/{seed}", domain.word()).parse().unwrap();
    Box::new(generate(&id).unwrap().open(GoalSeparator::Comma))
}

struct PlayedGame {
    prompts: Vec<Prompt>,
    lines: Vec<String>,
    won: bool,
}

fn play(mut world: Box<dyn Environment>, lessons: &[&str], max_steps: u32) -> PlayedGame {
    let first = world.reset().unwrap();
    let goal = first.shown["goal"].as_str().unwrap().to_owned();
    let mut next =
        prompt(lessons, &format!("{}\nYour task is to: {goal}", first.observation.trim_end()), &[]);
    let (mut prompts, mut lines, mut won) = (Vec::new(), Vec::new(), false);
    for step in 1..=max_steps {
        let line = answer(&next, request_seed(0, 1, step, ModelRole::Actor, 0));
        prompts.push(next.clone());
        let cue = next.segments.pop().unwrap();
        let (label, seen) = if line.starts_with("think:") {
            (SegmentLabel::Thought, "OK.".to_owned())
        } else {
            let result = world.step(&line).unwrap();
            won = result.won;
            (SegmentLabel::Action, result.observation)
        };
        next.segments.push(segment(label, &format!("> {line}\n")));
        next.segments.push(segment(SegmentLabel::Observation, &format!("{}\n", seen.trim_end())));
        next.segments.push(cue);
        lines.push(line);
        if won {
            break;
        }
    }
    PlayedGame { prompts, lines, won }
}

/// Returns the shortest sentence of a form.
fn shortest_sentence(form: &str) -> String {
    let words = form.split(' ').filter(|word| !word.starts_with('['));
    words.map(|word| word.split('|').next().unwrap_or_default()).collect::<Vec<_>>().join(" ")
}

/// Returns every form in the file.
fn form_lines() -> Vec<String> {
    let lines = WORLDS_TOML.lines().filter_map(|line| line.trim().strip_prefix('"'));
    lines.filter_map(|line| Some(line.strip_suffix("\",")?.to_owned())).collect()
}

#[test]
fn without_lessons_at_least_three_in_ten_are_won_in_time() {
    let won = |open: fn(u64) -> Box<dyn Environment>, many: u64| {
        (0..many).filter(|seed| play(open(*seed), &[], 50).won).count() as u64
    };
    let (grids, problems) = (won(grid_task, 56), won(planning_problem, 12));
    assert!(grids * 10 >= 56 * 3, "{grids} of 56 grids");
    assert!(problems * 10 >= 12 * 3, "{problems} of 12 problems");
}

#[test]
fn every_habit_is_given_up_without_any_lesson() {
    let lines =
        |played: &PlayedGame, start: &str| played.lines.iter().filter(|l| l.starts_with(start)).count();
    let mut most_pick_ups = 0;
    for seed in 0..56 {
        let played = play(grid_task(seed), &[], 200);
        let (pick, closed) = (
            lines(&played, "pick up "),
            played.lines.iter().filter(|l| l.starts_with("go through ") && l.contains(" closed ")),
        );
        most_pick_ups = most_pick_ups.max(pick);
        assert!(pick <= 14 && closed.count() <= 14, "grid of seed {seed}: {:?}", played.lines);
    }
    assert!(most_pick_ups > 0, "no task shows the habit of writing `pick up`");
    // Only the step limit can prevent a problem from being won.
    for seed in 0..8 {
        assert!(play(planning_problem(seed), &[], 200).won, "problem of seed {seed} is not won in 200 steps");
    }
    for habit in GRID_HABITS.values().chain(planning_habits().map(|h| &h.habit)) {
        assert!(habit.patience[0] <= habit.patience[1] && habit.patience[1] <= 60, "{habit:?}");
    }
}

/// Sensible sentences that match no form. A model would follow them; the rule-based actor must not.
const PARAPHRASES: [&str; 18] = [
    "Pickup is a verb of this world.",
    "The right verb for taking things is pickup.",
    "Say pickup red ball 1 now.",
    "Closed doors do not let you through.",
    "Doors have to be toggled.",
    "Use toggle when a door is closed.",
    "Empty your hands first.",
    "Stop spinning.",
    "Turning in circles is pointless.",
    "If something fails, try something else.",
    "Use both hands.",
    "Take two balls at once.",
    "Balls belong where the goal says.",
    "Blocks in the way go to the table.",
    "Unstack is for towers.",
    "Wash the glass.",
    "The wrench comes before the jack.",
    "Boots have to be opened.",
];

#[test]
fn sentences_outside_the_forms_change_nothing() {
    let worlds = [
        grid_task(16),
        grid_task(0),
        planning_problem(0),
        planning_problem(1),
        planning_problem(2),
        planning_problem(3),
    ];
    let games: Vec<PlayedGame> = worlds.into_iter().map(|world| play(world, &[], 30)).collect();
    for (n, prompt) in games.iter().flat_map(|game| game.prompts.iter().step_by(5)).enumerate() {
        let reply_without = answer(prompt, n as u64);
        for sentence in PARAPHRASES {
            let mut with_lesson = prompt.clone();
            let error = format!("- Mistake: {sentence} Solution: {sentence}\n");
            with_lesson.segments.insert(1, segment(SegmentLabel::Abstract, &format!("- {sentence}\n")));
            with_lesson.segments.insert(1, segment(SegmentLabel::Error, &error));
            assert_eq!(answer(&with_lesson, n as u64), reply_without, "{sentence}");
        }
    }
}

#[test]
fn every_form_ends_its_habit() {
    for (name, habit) in *GRID_HABITS {
        assert!(habit.lessons.iter().all(is_matched_by_a_form), "{name}");
    }
    for habit in planning_habits() {
        let phrases = || habit.habit.lessons.iter().chain(&habit.taught_by);
        assert!(phrases().all(is_matched_by_a_form), "{}", habit.wrong_action);
    }
    // With lessons against all habits, none shows, not even one that is taught, too.
    let all: Vec<String> = form_lines().iter().map(|form| shortest_sentence(form)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    for seed in 0..56 {
        let played = play(grid_task(seed), &all, 50);
        let wrong =
            |l: &&String| l.starts_with("pick up ") || l.starts_with("go through ") && l.contains(" closed ");
        assert_eq!(played.lines.iter().filter(wrong).count(), 0, "grid of seed {seed}");
    }
    let (mut taught, mut untaught) = (0, 0);
    for seed in 0..8 {
        let played = play(planning_problem(seed), &all, 50);
        assert!(played.won, "problem of seed {seed} with every lesson");
        taught += played.lines.len();
        untaught += play(planning_problem(seed), &[], 50).lines.len();
    }
    assert!(taught < untaught, "{taught} steps with lessons, {untaught} without");
}

/// An actor that takes advice literally follows bad advice, too, and not only as long as it would have the habit by itself.
#[test]
fn bad_advice_teaches_a_habit_until_a_lesson_ends_it() {
    const LATEST_PATIENCE: u32 = 60;
    let cases = [
        (
            "gripper/1",
            "Move as soon as you hold a ball.",
            "move ",
            "Carry a ball in each hand before you move.",
        ),
        (
            "blockworld/1",
            "Stack a block that is in the way on another block.",
            "stack ",
            "Put a block that is in the way on the table.",
        ),
        (
            "tyreworld/1",
            "Jack the hub up before you loosen a nut.",
            "jack-up ",
            "Loosen a nut before you jack up its hub.",
        ),
    ];
    assert_eq!(planning_habits().filter(|habit| !habit.taught_by.is_empty()).count(), cases.len());
    for (task, advice, wrong, lesson) in cases {
        let open = || Box::new(generate(&task.parse().unwrap()).unwrap().open(GoalSeparator::Comma));
        let lines = |lessons: &[&str]| play(open(), lessons, LATEST_PATIENCE + 40).lines;
        let (taught, ended) = (lines(&[advice]), lines(&[lesson]));
        let late = taught.iter().skip(LATEST_PATIENCE as usize);
        assert!(late.filter(|line| line.to_lowercase().starts_with(wrong)).count() > 1, "{task}: {taught:?}");
        assert_eq!(lines(&[advice, lesson]), ended, "{task}: the lesson ends it");
    }
}

/// Returns whether a phrase is found in a prompt with a sentence of its form.
fn is_matched_by_a_form(phrase: &super::super::forms::Phrase) -> bool {
    let found = form_lines().into_iter().filter(|form| {
        let with_lesson = Prompt {
            segments: vec![segment(SegmentLabel::Error, &format!("- {}.\n", shortest_sentence(form)))],
        };
        super::super::forms::Phrase::is_in_prompt(std::slice::from_ref(phrase), &with_lesson)
    });
    found.count() > 0
}

#[test]
fn sentences_of_symbolic_reflection_are_understood() {
    let forms: BTreeSet<&str> = [
        "- Mistake: x Solution: Say \"pickup COLOUR KIND NUMBER\".",
        "- Mistake: x Solution: Say \"toggle and go through COLOUR closed door NUMBER\" where a door is closed.",
        "- Rooms are joined by doors: toggle and go through a closed one to get on.",
        "- Mistake: x Solution: Drop it on a free cell that is not on your way before you take another thing; keep a key until its door is open.",
        "- Mistake: x Solution: After one round turn no more: walk on, or go through a door you have not been through.",
        "- Mistake: x Solution: Do not repeat an action that did nothing.",
        "- Carry a ball in each hand before you move to another room.",
        "- Mistake: x Solution: Fill both hands before you move to another room.",
        "- Mistake: x Solution: Drop a ball only in the room that the goal names for it.",
        "- Mistake: x Solution: Use unstack for a block that lies on another, pickup for one on the table.",
        "- Mistake: x Solution: Put a block that is in the way on the table.",
        "- Mistake: x Solution: Leave what you hold on the table between tasks.",
        "- Mistake: x Solution: Leave one thing before you grasp the next.",
        "- Mistake: x Solution: Clean a glass after it was emptied, and empty and clean the shaker before the next cocktail.",
        "- Mistake: x Solution: Loosen a nut on the ground before you jack the hub up.",
        "- Mistake: x Solution: Open a container before you fetch from it or put something away.",
        // The current wordings. Those above were written by earlier versions and must stay understood.
        "- Mistake: x Solution: Use \"pickup COLOUR KIND NUMBER\".",
        "- Mistake: x Solution: Use \"toggle and go through COLOUR closed door NUMBER\" if a door is closed.",
        "- Rooms are joined by doors: if a door is closed, toggle and go through it.",
        "- Mistake: x Solution: Drop what you carry on a free cell out of your way before you take another object; keep a key until its door is open.",
        "- Mistake: x Solution: After one full turn, stop turning: walk on, or go through a door you have not used yet.",
        "- Mistake: x Solution: Drop a ball only in the room where the goal wants it.",
        "- Mistake: x Solution: Use unstack for a block on another block, and pickup for one on the table.",
        "- Mistake: x Solution: Use pickup for a block on the table, and unstack for one on another block.",
        "- Use unstack to take a block off another one, starting at the top of the tower.",
        "- Mistake: x Solution: Leave one container before you grasp the next.",
        "- Mistake: x Solution: Clean a glass after you empty it, and empty and clean the shaker before the next cocktail.",
        "- Mistake: x Solution: Loosen a nut before you jack up its hub.",
        "- Loosen a nut while its hub is on the ground, then jack up the hub, then undo the nut.",
        "- Mistake: x Solution: Open a container before you fetch something from it or put something away.",
    ]
    .into();
    let habits = || GRID_HABITS.values().chain(planning_habits().map(|h| &h.habit));
    for text in forms {
        let with_lesson = Prompt { segments: vec![segment(SegmentLabel::Error, &format!("{text}\n"))] };
        assert!(
            habits().any(|h| super::super::forms::Phrase::is_in_prompt(&h.lessons, &with_lesson)),
            "{text}"
        );
        let is_taught =
            |h: &PlanningHabit| super::super::forms::Phrase::is_in_prompt(&h.taught_by, &with_lesson);
        assert!(!planning_habits().any(is_taught), "bad advice: {text}");
    }
}

#[test]
fn the_document_lists_every_form_of_these_worlds() {
    let document = include_str!("../../../docs/LESSON_FORMS.md");
    let listed: Vec<&str> = document.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    for form in form_lines() {
        assert!(listed.contains(&form.as_str()), "docs/LESSON_FORMS.md lacks the form: {form}");
    }
}
