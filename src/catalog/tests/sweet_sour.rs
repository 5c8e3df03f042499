//! Sweet&Sour: both memories after each line of its algorithm.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    LessonStatus, PromptRecord, Question, ReflectionKind, RunSpec, Scope, SegmentOrigin, SettingOrigin,
    StepResult, TextForms, Transition,
};
use crate::engine::State;
use crate::prompt::{PromptBuilder, render};
use std::sync::Arc;

fn run(trials: u32) -> RunSpec {
    let mut run = test_spec("sweet_sour", &[("a", "")]);
    run.mentor = "script".to_owned();
    run.trials = trials;
    run.limits.steps = 4;
    run
}

fn play(run: RunSpec) -> TestRun {
    let mut play = TestRun::new(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        format!("{} {count}.", prompt.question.unwrap().kind.name())
    });
    play
}

/// An environment in which the second step reaches a subgoal, and the fourth the goal in the episodes that are won.
fn scripted_world(won: &[u32]) -> impl FnMut(Option<&str>) -> StepResult + '_ {
    let (mut episode, mut step) = (0, 0);
    move |action| {
        let Some(_) = action else {
            (episode, step) = (episode + 1, 0);
            return FakeHousehold::kitchen("put a hot apple in garbagecan").reset();
        };
        step += 1;
        let wins = step == 4 && won.contains(&episode);
        let progress = if wins {
            1.0
        } else if step >= 2 {
            0.5
        } else {
            0.0
        };
        // Each step but the last has a different reward, so that a sum reveals what is counted twice.
        let reward = if wins { 0.25 } else { f64::from(u8::from(step < 4)) / 4.0 };
        let observation = format!("Turn {step}.");
        StepResult {
            observation,
            valid: true,
            progress,
            reward,
            done: wins,
            won: wins,
            ..StepResult::default()
        }
    }
}

/// Returns short-term and long-term memory.
fn short_and_long_term(state: &State) -> (Vec<&str>, Vec<&str>) {
    let texts = |short: bool| -> Vec<&str> {
        let all = state.pool.all().filter(|l| l.is_active() && (l.scope == Scope::Episode) == short);
        all.map(|l| l.text().text.as_str()).collect()
    };
    (texts(true), texts(false))
}

/// Episode and step of a prompt, and the memories in it: short-term, long-term.
type MemoriesBefore<'a> = ((u32, u32), Vec<&'a str>, Vec<&'a str>);

/// Returns the memories before each prompt of the actor.
fn memories_before_prompts(play: &TestRun) -> Vec<MemoriesBefore<'_>> {
    let actor_prompts = play.prompts.iter().filter(|(_, p)| p.question.is_none());
    actor_prompts
        .map(|(state, p)| {
            let (short, long) = short_and_long_term(state);
            ((p.episode, p.step), short, long)
        })
        .collect()
}

#[test]
fn memories_follow_algorithm_1_line_by_line() {
    // Three attempts; the second reaches the goal, so there is no third.
    let mut play = play(run(3));
    play.play_script_in(
        &mut scripted_world(&[2]),
        &["inventory", "look around", "wait here", "go on"].repeat(3),
    );
    let none: Vec<&str> = Vec::new();
    assert_eq!(
        memories_before_prompts(&play),
        [
            ((1, 1), none.clone(), none.clone()),
            ((1, 2), none.clone(), none.clone()),
            // Line 12: the subgoal of step 2 is reflected on, and its memory is present at the next step.
            ((1, 3), vec!["Positive 1."], none.clone()),
            ((1, 4), vec!["Positive 1."], none.clone()),
            // Lines 20 to 23: the goal was not reached, so only the negative reflection stays.
            ((2, 1), none.clone(), vec!["Negative 2."]),
            ((2, 2), none.clone(), vec!["Negative 2."]),
            ((2, 3), vec!["Positive 3."], vec!["Negative 2."]),
            ((2, 4), vec!["Positive 3."], vec!["Negative 2."]),
        ]
    );
    // Line 18: the goal was reached, so short-term memory becomes long-term; the goal itself is a subgoal too.
    let (short, long) = short_and_long_term(play.state());
    assert!(short.is_empty());
    assert_eq!(long, ["Negative 2.", "Positive 3.", "Positive 4."]);
    assert_eq!(play.state().ended_episodes.len(), 2);
}

/// Regression: with the default scope, a positive memory reached only later attempts at its own task, and a task that was
/// solved is not played again. Algorithm 1 has one long-term memory for all episodes.
#[test]
fn memories_of_a_solved_task_reach_the_next_task() {
    let mut run = run(1);
    run.tasks.push(crate::domain::Task { id: "b".to_owned(), ..run.tasks[0].clone() });
    let mut play = play(run);
    play.play_script_in(
        &mut scripted_world(&[1]),
        &["inventory", "look around", "wait here", "go on"].repeat(2),
    );
    let second = memories_before_prompts(&play).into_iter().find(|((episode, _), ..)| *episode == 2).unwrap();
    assert_eq!(second, ((2, 1), Vec::new(), vec!["Positive 1.", "Positive 2."]));
    let (state, record) = play.prompts.iter().find(|(_, p)| p.episode == 2 && p.question.is_none()).unwrap();
    assert!(render(state, record).body().contains("Positive 1."));
}

/// The reward of the environment is 0 at subgoals that are not the goal.
#[test]
fn the_reward_of_a_memory_is_that_of_its_subgoal() {
    for (subgoal, expected) in [("progress", 0.5), ("reward", 0.25)] {
        let mut run = run(1);
        run.settings.set("subgoal", subgoal, SettingOrigin::Flag);
        let mut play = play(run);
        play.play_script_in(&mut scripted_world(&[]), &["inventory", "look around", "wait here", "go on"]);
        let positive = play.state().pool.all().find(|l| l.kind == ReflectionKind::Positive).unwrap();
        let reward = positive.transition.as_ref().unwrap().reward;
        assert!((reward - expected).abs() < 1e-9, "{subgoal}: {reward}");
    }
}

/// Regression: a reward counted only if it was higher than that of the step before. ScienceWorld rewards each subgoal, and two in
/// a row may be worth the same.
#[test]
fn every_rewarded_step_is_a_subgoal_where_the_reward_marks_them() {
    let mut run = run(1);
    run.settings.set("subgoal", "reward", SettingOrigin::Flag);
    let mut play = play(run);
    play.play_script_in(&mut scripted_world(&[]), &["inventory", "look around", "wait here", "go on"]);
    let memories = memories_before_prompts(&play);
    let short: Vec<usize> = memories.iter().map(|(_, short, _)| short.len()).collect();
    assert_eq!(short, [0, 1, 2, 3], "steps 1, 2 and 3 are rewarded alike");
}

#[test]
fn a_memory_is_stored_and_shown_as_a_tuple() {
    let mut play = play(run(1));
    play.play_script_in(&mut scripted_world(&[]), &["inventory", "look around", "wait here", "go on"]);
    let lesson = play.state().pool.all().find(|l| l.kind == ReflectionKind::Positive).unwrap();
    let transition =
        Transition { observation: "Turn 1.".to_owned(), action: "look around".to_owned(), reward: 0.5 };
    assert_eq!(lesson.transition.as_deref(), Some(&transition));
    let (state, record) = play.prompts.iter().rfind(|(_, p)| p.question.is_none()).unwrap();
    let body = render(state, record).body();
    assert!(
        body.contains("- Positive 1. (observation: Turn 1.; action: look around; reward: 0.5)\n"),
        "{body}"
    );
}

/// A record is rendered in the formats of the program that wrote it, whichever were rendered before it.
#[test]
fn records_of_version_0_1_keep_their_text_forms() {
    let mut play = play(run(1));
    play.play_script_in(&mut scripted_world(&[]), &["inventory", "look around", "wait here", "go on"]);
    let (state, record) = play.prompts.iter().rfind(|(_, p)| p.question.is_none()).unwrap();
    let mut old = serde_json::to_value(record).unwrap();
    assert_eq!(old.as_object_mut().unwrap().remove("text_forms"), Some(4.into()));
    let old: PromptRecord = serde_json::from_value(old).unwrap();
    assert_eq!(old.text_forms, TextForms::V1);
    let builder = PromptBuilder::new(Arc::new(crate::catalog::builtin_templates()));
    for _ in 0..2 {
        for record in [record, &old] {
            let body = builder.render(state, record).body();
            assert_eq!(body, render(state, record).body(), "the cache never changes a text");
            assert_eq!(
                body.contains("(saw: Turn 1.; did: look around; reward: 0.5)"),
                *record == old,
                "{body}"
            );
        }
    }
    let newer = serde_json::json!({"text_forms": 5});
    let newer = serde_json::from_value::<PromptRecord>(newer).unwrap_err().to_string();
    assert!(newer.contains("unknown prompt text format version 5"), "{newer}");
}

#[test]
fn settings_for_interpretations_and_ablations_work() {
    // Settings, long-term memory after two failed attempts.
    let cases: [(&str, serde_json::Value, &[&str]); 5] = [
        ("transfer", "success".into(), &["Negative 2.", "Negative 4."]),
        ("transfer", "always".into(), &["Positive 1.", "Negative 2.", "Positive 3.", "Negative 4."]),
        ("positive", false.into(), &["Negative 1.", "Negative 2."]),
        ("negative", false.into(), &[]),
        ("managed", false.into(), &["Positive 1.", "Negative 2.", "Positive 3.", "Negative 4."]),
    ];
    for (name, value, expected) in cases {
        let mut run = run(2);
        run.settings.set(name, value, SettingOrigin::Flag);
        let mut play = play(run);
        play.play_script_in(
            &mut scripted_world(&[]),
            &["inventory", "look around", "wait here", "go on"].repeat(2),
        );
        // Short-term memories are forgotten when the next episode begins; here none begins.
        let (_, long) = short_and_long_term(play.state());
        assert_eq!(long, expected, "{name}");
    }
}

#[test]
fn the_reward_accumulates_over_episodes_if_reward_carries_is_on() {
    for (carries, subgoal, expected) in
        [(true, "reward", "Total reward: 1.75\n"), (false, "reward", "Total reward: 0.75\n")]
    {
        let mut run = run(1);
        run.settings.set("subgoal", subgoal, SettingOrigin::Flag);
        run.tasks.push(crate::domain::Task { id: "b".to_owned(), ..run.tasks[0].clone() });
        run.settings.set("reward_carries", carries, SettingOrigin::Flag);
        let mut play = play(run);
        play.play_script_in(
            &mut scripted_world(&[1]),
            &["inventory", "look around", "wait here", "go on"].repeat(2),
        );
        let negative = Some(Question::reflect(ReflectionKind::Negative));
        let (state, record) = play.prompts.iter().find(|(_, p)| p.question == negative).unwrap();
        let body = render(state, record).body();
        assert!(body.contains(expected), "{carries}: {body}");
    }
}

#[test]
fn a_memory_that_is_switched_off_is_not_carried_over() {
    let mut play = play(run(1));
    play.play_script_in(&mut scripted_world(&[]), &["inventory", "look around"]);
    let id = play.state().pool.all().next().unwrap().id.clone();
    let off = crate::engine::LessonCommand::Status { id, status: LessonStatus::Off };
    play.command(crate::engine::Command::Lesson(off));
    let mut world = scripted_world(&[1]);
    // The same environment continues at its third step.
    (0..3).for_each(|n| drop(world(if n == 0 { None } else { Some("x") })));
    play.play_script_in(&mut world, &["wait here", "go on"]);
    let (_, long) = short_and_long_term(play.state());
    assert_eq!(long, ["Positive 2."]);
}

/// Memories share the budget of lessons (docs/METHODS.md): the oldest are left out first, and the prompt view says so.
#[test]
fn memories_over_the_budget_are_left_out_from_the_oldest_and_listed() {
    let mut run = run(3);
    run.settings.set("lesson_tokens", 40, SettingOrigin::Flag);
    let mut play = play(run);
    play.play_script_in(&mut scripted_world(&[]), &["inventory", "look"].repeat(6));
    let (state, record) = play.prompts.iter().rfind(|(_, p)| p.question.is_none()).unwrap();
    let memories: Vec<_> = state.pool.all().filter(|l| l.is_active()).map(|l| l.id.clone()).collect();
    let left_out: Vec<_> = record
        .dropped
        .iter()
        .filter_map(|d| match &d.origin {
            SegmentOrigin::Lesson { id, .. } => Some((id.clone(), d.reason.contains("budget of 40 tokens"))),
            _ => None,
        })
        .collect();
    assert!(!left_out.is_empty() && left_out.len() < memories.len(), "{left_out:?} of {memories:?}");
    for ((id, has_reason), oldest) in left_out.iter().zip(&memories) {
        assert!(id == oldest && *has_reason, "{id:?}");
    }
}
