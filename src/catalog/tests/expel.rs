//! ExpeL: which question follows which attempt, how operations change the insights, and what later prompts recall.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    CALIBRATION_SETTING, ENDS_TASK, EpisodeRole, LessonText, PromptRecord, Purpose, Question, ReflectionKind,
    RunSpec, Scope, SegmentLabel, SegmentOrigin, SettingOrigin, StepResult,
};
use crate::engine::{Command, LessonCommand, State};
use crate::prompt::{body_hash, render};

const HEAT: &str = "pick_heat_then_place_in_recep";
const PUT: &str = "pick_and_place_simple";
const PLAN: Question = Question { kind: ReflectionKind::Plan, purpose: Purpose::Reflect };
const COMPARE: Question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Contrast };
const EXTRACT: Question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Extract };

/// A run of one step per episode whose first `training` tasks are for calibration.
fn run(tasks: &[(&str, &str)], training: u64, settings: &[(&str, u64)]) -> RunSpec {
    let mut run = test_spec("expel", tasks);
    run.mentor = "script".to_owned();
    run.limits.steps = 1;
    if training > 0 {
        run.settings.set(CALIBRATION_SETTING, training, SettingOrigin::Flag);
    }
    for (name, value) in settings {
        run.settings.set(name, *value, SettingOrigin::Flag);
    }
    run
}

/// Plays to the end; the episodes with these numbers are won. The goal of each names its number.
fn play_to_end(play: &mut TestRun, won: &[u32]) {
    let mut episode = 0;
    let mut world = |action: Option<&str>| {
        if action.is_none() {
            episode += 1;
            return FakeHousehold::kitchen(&format!("put apple in fridge {episode}")).reset();
        }
        let won = won.contains(&episode);
        StepResult { done: won, won, valid: true, observation: "Well.".to_owned(), ..StepResult::default() }
    };
    let actions: Vec<String> = (1..50).map(|n| format!("go to shelf {n}")).collect();
    play.play_script_in(&mut world, &actions.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(play.state().run_over);
}

fn questions_asked(play: &TestRun) -> Vec<(u32, Question)> {
    play.prompts.iter().filter_map(|(_, p)| Some((p.episode, p.question?))).collect()
}

fn prompt_of(play: &TestRun, is_wanted: impl Fn(&PromptRecord) -> bool) -> (&State, &PromptRecord, String) {
    let (state, record) = play.prompts.iter().rfind(|(_, p)| is_wanted(p)).unwrap();
    let prompt = render(state, record);
    assert_eq!(body_hash(&prompt), record.sha256, "the prompt can be rebuilt from its record");
    (state, record, prompt.body())
}

fn insights(play: &TestRun) -> Vec<String> {
    play.state().pool.active_of_kind(ReflectionKind::Abstract).map(|l| l.text().text.clone()).collect()
}

#[test]
fn training_tasks_are_gathered_with_plans_and_insights_are_drawn_from_pairs_and_successes() {
    let tasks = [("a", HEAT), ("b", PUT), ("c", HEAT), ("test", HEAT)];
    let mut play = TestRun::new(run(&tasks, 3, &[("gather_trials", 2), ("success_batch", 2)]));
    play.mentor = Box::new(|prompt| match prompt.question.unwrap() {
        PLAN => "Try again.".to_owned(),
        COMPARE => "ADD: Compare first.".to_owned(),
        _ => "ADD: Extract first.\nAGREE 1: Compare first.".to_owned(),
    });
    // a fails and is solved; b fails twice; c is solved, and then the test is played.
    play_to_end(&mut play, &[2, 5, 6]);
    let episodes: Vec<_> = play
        .state()
        .ended_episodes
        .iter()
        .map(|e| (e.task.id.clone(), e.trial, e.role == EpisodeRole::Calibrate))
        .collect();
    let expected =
        [("a", 1, true), ("a", 2, true), ("b", 1, true), ("b", 2, true), ("c", 1, true), ("test", 1, false)];
    assert_eq!(episodes, expected.map(|(id, trial, training)| (id.to_owned(), trial, training)));
    assert_eq!(questions_asked(&play), [(1, PLAN), (2, COMPARE), (3, PLAN), (5, EXTRACT)]);
    assert_eq!(insights(&play), ["Compare first.", "Extract first."]);

    let (_, _, pair) = prompt_of(&play, |p| p.question == Some(COMPARE));
    assert!(pair.contains("failed:\nYou are") && pair.contains("> go to shelf 1\n"), "{pair}");
    assert!(
        pair.contains("> go to shelf 2\n") && !pair.contains("list below"),
        "no insight is listed: {pair}"
    );
    // Regression: the example showed operations on insights although the list was empty.
    assert!(["EDIT", "AGREE", "REMOVE"].iter().all(|operation| !pair.contains(operation)), "{pair}");
    let (_, _, list) = prompt_of(&play, |p| p.question == Some(EXTRACT));
    assert!(list.contains("> go to shelf 2\n") && list.contains("> go to shelf 5\n"), "{list}");
    assert!(list.contains("EDIT N") && list.contains("\nInsight 1 - Compare first.\n"), "{list}");
    assert!(!list.contains("> go to shelf 4\n"), "no failed attempt: {list}");

    // Gathering shows plans and no insights, the test insights and successes and no plans.
    let (_, _, gathering) = prompt_of(&play, |p| p.question.is_none() && p.episode == 4);
    assert!(gathering.contains("Try again.") && !gathering.contains("Compare first."), "{gathering}");
    let (_, record, test) = prompt_of(&play, |p| p.question.is_none() && p.episode == 6);
    assert!(test.contains("- Compare first.\n") && !test.contains("Try again."), "{test}");
    let examples = record.segments.iter().filter(|s| s.label == SegmentLabel::Example);
    let recalled: Vec<u32> = examples
        .filter_map(|s| match s.origin {
            SegmentOrigin::Attempt { episode, .. } => Some(episode),
            _ => None,
        })
        .collect();
    assert_eq!(recalled, [5, 2], "both successes are of the test's type, and the newer is first");
}

/// Regression: the mentor planned the next attempt at a task that gets none.
#[test]
fn a_training_task_that_its_environment_ends_gets_no_plan() {
    let mut play = TestRun::new(run(&[("a", HEAT), ("test", HEAT)], 1, &[("gather_trials", 2)]));
    play.mentor = Box::new(|_| "ADD: Look.".to_owned());
    let mut world = |action: Option<&str>| match action {
        None => FakeHousehold::kitchen("put apple in fridge").reset(),
        Some(_) => StepResult {
            done: true,
            valid: true,
            observation: "Wrong.".to_owned(),
            shown: serde_json::json!({ ENDS_TASK: true }),
            ..StepResult::default()
        },
    };
    play.play_script_in(&mut world, &["go to shelf 1", "go to shelf 2"]);
    assert!(play.state().run_over);
    assert_eq!(play.state().ended_episodes.iter().map(|e| e.trial).collect::<Vec<_>>(), [1, 1]);
    assert!(questions_asked(&play).iter().all(|(_, question)| *question != PLAN));
}

#[test]
fn the_most_similar_successes_are_recalled_in_place_of_examples() {
    let examples = |recall: u64, test_type: &str| {
        let tasks = [("a", HEAT), ("b", PUT), ("c", HEAT), ("test", test_type)];
        let mut play = TestRun::new(run(&tasks, 3, &[("recall", recall)]));
        play.mentor = Box::new(|_| "ADD: Look.".to_owned());
        play_to_end(&mut play, &[1, 2, 3]);
        let (_, record, _) = prompt_of(&play, |p| p.question.is_none());
        let examples = record.segments.iter().filter(|s| s.label == SegmentLabel::Example);
        examples
            .map(|s| match s.origin {
                SegmentOrigin::Attempt { episode, .. } => episode,
                _ => 0,
            })
            .collect::<Vec<u32>>()
    };
    // 0 stands for a text: the heading, and the environment's examples.
    assert_eq!(examples(1, PUT), [0, 2, 0], "the success of its own type, then one example");
    assert_eq!(examples(2, PUT), [0, 2, 3]);
    assert_eq!(examples(3, HEAT), [0, 3, 1, 2]);
    assert_eq!(examples(0, HEAT), [0, 0, 0]);
}

#[test]
fn counts_decide_how_long_an_insight_stays() {
    // The reply after each of the solved tasks; the insights after it.
    let cases: &[(&str, &[&str])] = &[
        ("ADD: One.\nADD: Two.", &["One.", "Two."]),
        ("REMOVE 1: One.\nAGREE 2", &["One.", "Two."]),
        ("REMOVE 1\nREMOVE 2", &["Two."]),
        ("EDIT 1: Two, better.\nADD: Two, better. And more.", &["Two, better."]),
        // An edit to a text that is already there agrees with it, and the count is now 2 + 1 - 1 + 1 + 1.
        ("EDIT 1: Two, better.", &["Two, better."]),
        ("REMOVE 1", &["Two, better."]),
        ("REMOVE 1", &["Two, better."]),
        ("REMOVE 1", &["Two, better."]),
        ("REMOVE 1", &[]),
    ];
    for length in 1..=cases.len() {
        let ids: Vec<String> = (0..length).map(|n| n.to_string()).collect();
        let tasks: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), PUT)).collect();
        let mut play = TestRun::new(run(&tasks, 0, &[("success_batch", 1)]));
        let mut replies = cases.iter().map(|case| case.0);
        play.mentor = Box::new(move |_| replies.next().unwrap().to_owned());
        play_to_end(&mut play, &(1..=length as u32).collect::<Vec<_>>());
        assert_eq!(insights(&play), cases[length - 1].1, "after {length} replies");
    }
}

#[test]
fn a_full_list_takes_no_insight_and_a_vote_against_one_counts_three_times() {
    let tasks = [("a", PUT), ("b", PUT)];
    let mut play = TestRun::new(run(&tasks, 0, &[("success_batch", 1), ("max_insights", 2)]));
    let mut replies =
        ["ADD: One.\nADD: Two.\nADD: Three.", "ADD: Four.\nREMOVE 1\nEDIT 7: No.\nWell done."].iter();
    play.mentor = Box::new(move |_| (*replies.next().unwrap()).to_owned());
    play_to_end(&mut play, &[1, 2]);
    assert_eq!(insights(&play), ["Two.", "Four."], "removals come first, and make room");
    let complaints: Vec<String> =
        play.state().reflections.iter().map(|reflection| reflection.complaints.join("; ")).collect();
    assert_eq!(
        complaints,
        [
            "ADD: Three.: the list is full (2 insights)",
            "not an operation on the list: Well done.; EDIT 7: No.: only 2 insights were shown",
        ]
    );
    let items: Vec<_> =
        play.state().reflections.iter().flat_map(|r| r.items.iter().map(|i| i.text.text.clone())).collect();
    assert_eq!(items, ["ADD: One.", "ADD: Two.", "REMOVE 1", "ADD: Four."]);
}

#[test]
fn a_persons_insight_is_not_removed_or_edited() {
    let mut play = TestRun::new(run(&[("a", PUT)], 0, &[("success_batch", 1)]));
    play.mentor = Box::new(|_| "REMOVE 1\nEDIT 1: Mine.\nAGREE 1".to_owned());
    let text = LessonText::plain("Keep this.");
    play.command(Command::Lesson(LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        text,
        String::new(),
    )));
    play_to_end(&mut play, &[1]);
    assert_eq!(insights(&play), ["Keep this."]);
    let reflection = play.state().reflections.last().unwrap();
    assert_eq!((reflection.items.len(), reflection.complaints.len()), (1, 2), "{:?}", reflection.complaints);
}

#[test]
fn rules_gather_insights_without_a_model() {
    let mut run = run(&[("a", HEAT), ("test", HEAT)], 1, &[]);
    run.mentor = "symbolic".to_owned();
    run.limits.steps = 4;
    let mut play = TestRun::new(run);
    let mut house = FakeHousehold::kitchen("put a hot apple in garbagecan");
    let (mut episode, mut step) = (0, 0);
    let mut world = |action: Option<&str>| {
        step += 1;
        let Some(action) = action else {
            (episode, step) = (episode + 1, 0);
            return house.reset();
        };
        let won = episode > 1 && step == 4;
        StepResult { won, done: won, ..house.step(action) }
    };
    // In the first attempt the agent goes back and forth without looking into anything.
    let attempt = ["go to fridge 1", "go to microwave 1", "go to fridge 1", "go to microwave 1"];
    play.play_script_in(&mut world, &attempt.repeat(3));
    assert!(play.state().run_over && play.state().usage.mentor_calls == 0);
    assert!(!insights(&play).is_empty(), "the mistakes of the failed attempt become insights");
}

#[test]
fn without_training_tasks_nothing_is_learned_from_a_single_short_run() {
    let mut short = run(&[("a", PUT)], 0, &[]);
    short.mentor = "openai:some".to_owned();
    let reason = crate::catalog::unused_mentor_reason(&short).unwrap();
    assert!(reason.contains("no training tasks") && reason.contains("--calibrate"), "{reason}");
    short.trials = 2;
    assert_eq!(crate::catalog::unused_mentor_reason(&short), None);
    let mut calibrated = run(&[("a", PUT), ("test", PUT)], 1, &[]);
    calibrated.mentor = "openai:some".to_owned();
    assert_eq!(crate::catalog::unused_mentor_reason(&calibrated), None);
}
