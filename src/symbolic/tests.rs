//! Goal sentences, detectors and rules, over scripted episodes in the tests' household and over recorded games.

use super::*;
use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{LessonStatus, NoteKind, Purpose, Question, ReflectionKind, SettingOrigin};
use crate::engine::{Command, LessonCommand, State};
use proptest::prelude::*;

mod detectors;
mod failure;
mod grid;

const HEAT_TASK: &str = "put a hot apple in garbagecan";

fn play_kitchen(goal: &str, actions: &[&str]) -> TestRun {
    play_in(FakeHousehold::kitchen(goal), "omnireflect", actions)
}

fn play_in(mut household: FakeHousehold, method: &str, actions: &[&str]) -> TestRun {
    let mut run = test_spec(method, &[("kitchen-1", "")]);
    run.settings.set("ask_again", 0, crate::domain::SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    play.play_script(&mut household, actions);
    play
}

/// Returns the names of the last answered step's notes, except the situation note.
fn last_notes(state: &State) -> Vec<String> {
    let episode = state.episode.as_deref().unwrap();
    let notes = &episode.step(episode.answered_steps()).unwrap().notes;
    notes.iter().filter(|n| n.detector != "situation").map(|n| n.detector.clone()).collect()
}

fn lesson_texts(state: &State, kind: ReflectionKind) -> Vec<String> {
    let text = |l: &crate::domain::Lesson| l.text().solution.clone().unwrap_or_else(|| l.text().text.clone());
    state.pool.visible_of_kind(kind).map(text).collect()
}

#[test]
fn every_goal_template_is_parsed() {
    let place = |object: &str, target: &str, treatment, count| {
        Some(Goal::Place { object: object.to_owned(), destination: target.to_owned(), treatment, count })
    };
    let light = |object: &str, lamp: &str| {
        Some(Goal::ExamineInLight { object: object.to_owned(), lamp: lamp.to_owned() })
    };
    let cases = [
        ("put a mug in cabinet", place("mug", "cabinet", None, 1)),
        ("put some peppershaker on drawer", place("peppershaker", "drawer", None, 1)),
        ("put a clean bowl in shelf.", place("bowl", "shelf", Some(Treatment::Clean), 1)),
        ("clean some ladle and put it in drawer", place("ladle", "drawer", Some(Treatment::Clean), 1)),
        ("put a hot mug in cabinet", place("mug", "cabinet", Some(Treatment::Heat), 1)),
        ("heat some egg and put it in garbagecan", place("egg", "garbagecan", Some(Treatment::Heat), 1)),
        ("put a cool tomato in microwave", place("tomato", "microwave", Some(Treatment::Cool), 1)),
        ("cool some pan and put it in stoveburner", place("pan", "stoveburner", Some(Treatment::Cool), 1)),
        ("put two soapbar in garbagecan", place("soapbar", "garbagecan", None, 2)),
        ("find two newspaper and put them in armchair", place("newspaper", "armchair", None, 2)),
        ("look at bowl under the desklamp", light("bowl", "desklamp")),
        ("examine the alarmclock with the desklamp", light("alarmclock", "desklamp")),
        ("put a clean slice of bread in fridge", None),
        ("put a knife in a bowl and then put them in sink", None),
        ("Place the warm cup where it belongs", None),
        ("", None),
    ];
    for (sentence, expected) in cases {
        assert_eq!(Goal::parse(sentence), expected, "{sentence}");
    }
}

#[test]
fn accepted_actions_can_be_mistakes() {
    let take = ["go to countertop 2", "take apple 1 from countertop 2"];
    let after_taking = |more: &[&'static str]| [&take[..], more].concat();
    let cases: Vec<(&str, Vec<&str>, &[&str])> = vec![
        (HEAT_TASK, vec!["go to countertop 1", "take bread 1 from countertop 1"], &["wrong_object"]),
        (
            HEAT_TASK,
            after_taking(&["go to garbagecan 1", "move apple 1 to garbagecan 1"]),
            &["placed_untreated"],
        ),
        (HEAT_TASK, after_taking(&["go to fridge 1", "cool apple 1 with fridge 1"]), &["wrong_treatment"]),
        (HEAT_TASK, vec!["go to fridge 1", "go to countertop 1"], &["left_closed"]),
        (HEAT_TASK, vec!["go to countertop 2", "go to countertop 1"], &["left_target"]),
        (
            HEAT_TASK,
            vec!["go to countertop 1", "go to sinkbasin 1", "go to countertop 1"],
            &["searched_again"],
        ),
        (HEAT_TASK, vec!["look", "look"], &["repeat"]),
        (HEAT_TASK, vec!["open fridge 1", "open fridge 1"], &["nothing_happened", "not_at_place", "repeat"]),
        (
            "put a apple in garbagecan",
            after_taking(&[
                "go to garbagecan 1",
                "move apple 1 to garbagecan 1",
                "take apple 1 from garbagecan 1",
            ]),
            &["took_back"],
        ),
        (
            "examine the mug with the desklamp",
            vec!["go to sidetable 1", "use desklamp 1"],
            &["lamp_without_object"],
        ),
        (
            "examine the mug with the desklamp",
            vec!["go to countertop 2", "take mug 1 from countertop 2", "examine mug 1"],
            &["examined_without_lamp"],
        ),
        (HEAT_TASK, vec!["think: a", "think: b", "think: c"], &["only_thoughts"]),
        (HEAT_TASK, vec!["think: a", "think: b", "think: c", "think: d"], &[]),
        ("an unknown goal", vec!["go to countertop 1", "take bread 1 from countertop 1"], &[]),
    ];
    for (goal, actions, expected) in cases {
        let play = play_kitchen(goal, &actions);
        assert_eq!(last_notes(play.state()), expected, "{goal}: {actions:?}");
    }
}

#[test]
fn findings_name_the_objects_of_the_step() {
    let cases = [
        (
            vec!["go to fridge 1", "go to countertop 1"],
            "fridge 1 was left closed: reached at step 1, never opened",
        ),
        (vec!["go to fridge 1", "take apple 2 from fridge 1"], "fridge 1 is closed"),
        (
            vec!["go to countertop 1", "take apple 1 from countertop 2"],
            "countertop 2 is elsewhere: the agent is at countertop 1",
        ),
        (
            vec!["go to countertop 1", "take bread 1 from countertop 1"],
            "took bread 1, but the task asks for an apple",
        ),
        (vec!["dance"], "not an action here: dance"),
    ];
    for (actions, expected) in cases {
        let play = play_kitchen(HEAT_TASK, &actions);
        let episode = play.state().episode.as_deref().unwrap();
        let step = episode.step(episode.answered_steps()).unwrap();
        let found: Vec<String> = step
            .notes
            .iter()
            .filter_map(|note| crate::catalog::RULES.describe_finding(episode, step, note))
            .collect();
        assert!(found.iter().any(|text| text == expected), "{actions:?}: {found:?}");
    }
}

#[test]
fn all_subgoals_are_reached_in_both_wordings() {
    for old in [false, true] {
        let mut household = FakeHousehold::kitchen(HEAT_TASK);
        household.old_wording = old;
        let put = if old { "put apple 1 in/on garbagecan 1" } else { "move apple 1 to garbagecan 1" };
        let actions = [
            "go to countertop 2",
            "take apple 1 from countertop 2",
            "go to microwave 1",
            "heat apple 1 with microwave 1",
            "go to garbagecan 1",
            put,
        ];
        let play = play_in(household, "omnireflect", &actions);
        let episode = play.state().episode.as_deref().unwrap();
        let subgoals: Vec<(u32, String)> = episode
            .steps
            .iter()
            .flat_map(|s| s.notes.iter().map(move |n| (s.number, n)))
            .filter(|(_, n)| n.detector == "subgoal")
            .map(|(step, n)| (step, n.parts["name"].clone()))
            .collect();
        let expected = [(1, "seen"), (2, "taken"), (4, "heated"), (6, "placed")];
        assert_eq!(subgoals, expected.map(|(s, n)| (s, n.to_owned())));
    }
}

#[test]
fn two_object_goals_have_six_subgoals_and_lamp_goals_four() {
    let play = play_kitchen(
        "put two apple in garbagecan",
        &[
            "go to countertop 2",
            "take apple 1 from countertop 2",
            "go to garbagecan 1",
            "move apple 1 to garbagecan 1",
            "go to fridge 1",
            "open fridge 1",
            "take apple 2 from fridge 1",
            "go to garbagecan 1",
            "move apple 2 to garbagecan 1",
        ],
    );
    let tally = &play.state().episode.as_ref().unwrap().note_tallies["subgoal"];
    assert_eq!((tally.count, tally.last.parts["of"].as_str()), (6, "6"));
    let play = self::play_kitchen(
        "look at mug under the desklamp",
        &[
            "go to sidetable 1",
            "go to countertop 2",
            "take mug 1 from countertop 2",
            "go to sidetable 1",
            "use desklamp 1",
        ],
    );
    let tally = &play.state().episode.as_ref().unwrap().note_tallies["subgoal"];
    assert_eq!(
        (tally.count, tally.last_step),
        (4, 5),
        "the lamp was seen before, but counts only when its sub-goal is next"
    );
}

#[test]
fn symbolic_lessons_have_evidence_and_name_only_types() {
    let play = play_kitchen(
        HEAT_TASK,
        &[
            "go to fridge 1",
            "take apple 2 from fridge 1",
            "open fridge 1",
            "take apple 2 from fridge 1",
            "go to stoveburner 1",
            "heat apple 2 with stoveburner 1",
            "go to microwave 1",
            "heat apple 2 with microwave 1",
        ],
    );
    let state = play.state();
    assert_eq!(
        lesson_texts(state, ReflectionKind::Error),
        [
            "Open a closed container before you take something from it or put something in it.",
            "Only a microwave can heat things."
        ]
    );
    assert_eq!(
        lesson_texts(state, ReflectionKind::Abstract),
        [
            "Look for an apple in/on a fridge first.",
            "Look inside closed containers too.",
            "After you heat it, put it in/on the target."
        ]
    );
    assert_eq!(
        lesson_texts(state, ReflectionKind::Progress),
        ["You have heated apple 2. Next: put it in/on a garbagecan."]
    );
    for lesson in state.pool.all() {
        assert!(!lesson.evidence.is_empty(), "{lesson:?}");
        assert!(lesson.rule.is_some());
        if lesson.kind != ReflectionKind::Progress {
            let words = format!("{:?}", lesson.text());
            assert!(!words.contains(|c: char| c.is_ascii_digit()), "{words}");
        }
    }
    let heat = state.pool.visible_of_kind(ReflectionKind::Error).nth(1).unwrap();
    assert_eq!(&*heat.evidence, "heat apple 2 with stoveburner 1 -> Nothing happens.");
}

#[test]
fn equal_lessons_recur_and_deleted_ones_are_not_added_again() {
    let mut household = FakeHousehold::kitchen(HEAT_TASK);
    let mut run = TestRun::new(test_spec("omnireflect", &[("kitchen-1", "")]));
    run.play_script(&mut household, &["open fridge 1", "open microwave 1", "look", "open cabinet 1"]);
    let lesson = run.state().pool.visible_of_kind(ReflectionKind::Error).next().unwrap().clone();
    assert_eq!(
        (lesson.text().solution.as_deref(), lesson.recurrences),
        (Some("Go to a place before you act on it."), 1)
    );
    assert_eq!(run.state().pool.len(), 1);
    run.command(Command::Lesson(LessonCommand::Status { id: lesson.id, status: LessonStatus::Retired }));
    run.play_script(&mut household, &["look", "open microwave 1"]);
    assert_eq!(run.state().pool.visible_of_kind(ReflectionKind::Error).count(), 0);
}

#[test]
fn a_lesson_that_a_person_typed_is_not_duplicated() {
    let mut household = FakeHousehold::kitchen(HEAT_TASK);
    let mut run = TestRun::new(test_spec("omnireflect", &[("kitchen-1", "")]));
    run.command(Command::Lesson(LessonCommand::add(
        ReflectionKind::Error,
        crate::domain::Scope::Environment,
        crate::domain::LessonText::plain("go to a place before you act on it"),
        String::new(),
    )));
    run.play_script(&mut household, &["open fridge 1"]);
    assert_eq!(
        run.state().pool.visible_of_kind(ReflectionKind::Error).map(|l| l.recurrences).collect::<Vec<_>>(),
        [1]
    );
}

/// Regression: with a symbolic mentor every instruction led to the same advice, so that a search among instructions found nothing.
#[test]
fn advice_follows_what_the_instruction_says() {
    const PLACE: &str = "Go to a place before you act on it.";
    const NUMBER: &str = "Use the number of every object and place.";
    let advice = |instruction: Option<&str>| {
        let mut household = FakeHousehold::kitchen(HEAT_TASK);
        let mut run = TestRun::new(test_spec("react", &[("kitchen-1", "")]));
        if let Some(instruction) = instruction {
            run.command(Command::Lesson(LessonCommand::add(
                ReflectionKind::Instruction,
                crate::domain::Scope::Environment,
                crate::domain::LessonText::plain(instruction),
                String::new(),
            )));
        }
        let actions = [
            "open microwave 1",
            "go to countertop 2",
            "take apple from countertop 2",
            "take mug from countertop 2",
        ];
        run.play_script(&mut household, &actions);
        let question = Question { kind: ReflectionKind::Advice, purpose: Purpose::Reflect };
        let items = crate::catalog::RULES.answer_question(run.state(), question);
        items.into_iter().map(|item| item.text.text).collect::<String>()
    };
    let everything = advice(None);
    assert!(everything.starts_with(&format!("{PLACE} {NUMBER}")), "{everything}");
    assert!(everything.contains("At the end of the last attempt"), "{everything}");
    assert_eq!(advice(Some("Be kind.")), everything, "other words change nothing");
    let one = "Answer with one sentence that says what to do first.";
    let first = "Look at the first action that did not have the effect it was meant to have.";
    assert_eq!(advice(Some(&format!("{first} {one}"))), PLACE);
    assert_eq!(
        advice(Some(&format!("Look at the last few actions before the attempt ended. {one}"))),
        NUMBER
    );
    assert_eq!(advice(Some(&format!("Look at the choice that cost the most steps. {one}"))), NUMBER);
    let goal = advice(Some(&format!("Look at what the agent never tried. {one}")));
    assert!(goal.starts_with("At the end of the last attempt"), "{goal}");
}

#[test]
fn progress_lesson_is_replaced_or_appended_and_ends_with_its_episode() {
    let actions = ["go to countertop 2", "take apple 1 from countertop 2"];
    for (setting, expected) in [("replace", 1), ("append", 2)] {
        let mut run = test_spec("omnireflect", &[("kitchen-1", ""), ("kitchen-2", "")]);
        run.settings.set("progress", setting, SettingOrigin::Flag);
        run.limits.steps = 3;
        let mut play = TestRun::new(run);
        let mut household = FakeHousehold::kitchen(HEAT_TASK);
        play.play_script(&mut household, &actions);
        let progress: Vec<_> = play.state().pool.visible_of_kind(ReflectionKind::Progress).collect();
        assert_eq!(progress.len(), expected);
        assert_eq!(
            progress.last().unwrap().text().text,
            "You are holding apple 1. Next: heat it with a microwave."
        );
        play.play_script(&mut household, &["look"]);
        assert_eq!(play.state().ended_episodes.len(), 1, "the first episode reached the step limit");
        assert_eq!(
            play.state().pool.all().filter(|l| l.kind == ReflectionKind::Progress).count(),
            0,
            "the next episode starts without Progress lessons"
        );
        assert_eq!(
            lesson_texts(play.state(), ReflectionKind::Abstract),
            ["Look for an apple in/on a countertop first."]
        );
    }
}

#[test]
fn periodic_reflection_fires_only_at_its_interval() {
    let actions =
        ["open fridge 1", "go to countertop 1", "take bread 1 from countertop 1", "look", "open cabinet 1"];
    for (offset, expected) in [(0, vec![1, 4]), (2, vec![3])] {
        let mut run = test_spec("omnireflect", &[("kitchen-1", "")]);
        run.settings.set("reflect", "periodic", SettingOrigin::Flag);
        run.settings.set("r_freq", 3, SettingOrigin::Flag);
        run.settings.set("offset", offset, SettingOrigin::Flag);
        let mut play = TestRun::new(run);
        play.play_script(&mut FakeHousehold::kitchen(HEAT_TASK), &actions);
        let mut steps: Vec<u32> = play.state().reflections.iter().map(|r| r.step).collect();
        steps.dedup();
        assert_eq!(steps, expected, "offset {offset}");
    }
}

#[test]
fn a_person_can_request_a_reflection_under_react() {
    let mut play = play_in(FakeHousehold::kitchen(HEAT_TASK), "react", &["open fridge 1"]);
    assert!(play.state().pool.is_empty());
    play.command(Command::Reflect(ReflectionKind::Error));
    assert_eq!(lesson_texts(play.state(), ReflectionKind::Error), ["Go to a place before you act on it."]);
    let again = play.engine.decide(&crate::engine::Input::Command(Command::Reflect(ReflectionKind::Error)));
    assert!(again.is_err(), "nothing new");
}

#[test]
fn going_in_circles_is_noted_once_per_window() {
    let actions: Vec<&str> =
        ["go to countertop 1", "go to sinkbasin 1"].into_iter().cycle().take(16).collect();
    let play = play_kitchen("an unknown goal", &actions);
    let tally = &play.state().episode.as_ref().unwrap().note_tallies["circling"];
    assert_eq!((tally.count, tally.last_step), (2, 12));
    assert_eq!(tally.last.kind, NoteKind::Mistake);
    assert_eq!(
        lesson_texts(play.state(), ReflectionKind::Error),
        ["Do not go back to a place you have already searched."]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_run_survives_arbitrary_goals_and_actions(
        goal in "(put a hot apple in garbagecan|put two apple in fridge|look at mug under the desklamp|\\PC{0,30})",
        actions in proptest::collection::vec(
            prop_oneof![
                "(go to|open|close|examine|use) (fridge|countertop|microwave|cabinet|garbagecan|sidetable|desklamp) [12]",
                "(take|move|put) (apple|mug|plate) [12] (from|to|in/on) (countertop|garbagecan|fridge) [12]",
                "(heat|cool|clean) (apple|mug) 1 with (fridge|microwave|sinkbasin|stoveburner) 1",
                // A reply without a letter has no content.
                "[a-z]\\PC{0,29}",
            ],
            1..30,
        ),
    ) {
        let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
        let play = play_kitchen(&goal, &actions);
        let state = play.state();
        let answered = state.ended_episodes.first().map_or_else(|| state.open_episode().unwrap().answered_steps(), |p| p.steps);
        prop_assert_eq!(answered as usize, actions.len().min(50), "every reply became a step");
        let progress = state.pool.visible_of_kind(ReflectionKind::Progress).filter(|l| l.is_active()).count();
        prop_assert!(progress <= 1);
        let mut rules: Vec<_> = state.pool.all().filter(|l| l.kind != ReflectionKind::Progress).map(|l| &l.rule).collect();
        let rule_count = rules.len();
        rules.sort();
        rules.dedup();
        prop_assert_eq!(rules.len(), rule_count, "each rule has at most one lesson");
    }
}
