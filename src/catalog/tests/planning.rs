//! Planning-only: one call per attempt, the plan's actions in order, and a rule-based planner that needs no model.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::catalog::{self, build_policy, default_trials, defaults};
use crate::domain::{
    Autonomy, EndReason, LessonText, PaperOrCode, ReflectionKind, RunSpec, SegmentLabel, SettingOrigin,
};
use crate::engine::{Command, Event, LessonCommand};
use crate::prompt::render;
use std::sync::Arc;

const HEAT: &str = "pick_heat_then_place_in_recep";

fn run(trials: u32) -> RunSpec {
    let mut run = test_spec("planning", &[("a", HEAT)]);
    run.mentor = "script".to_owned();
    run.trials = trials;
    run
}

fn play(run: RunSpec, reply: &'static str) -> TestRun {
    let mut play = TestRun::new(run);
    play.mentor = Box::new(move |_| reply.to_owned());
    play
}

fn household() -> FakeHousehold {
    FakeHousehold::kitchen("put a hot apple in garbagecan")
}

/// Returns the executed actions of an episode, in order.
fn actions_taken(play: &TestRun, episode: u32) -> Vec<String> {
    let mut current_episode = 0;
    let mut actions = Vec::new();
    for envelope in &play.journal {
        match &envelope.event {
            Event::EpisodeStarted { episode, .. } => current_episode = *episode,
            Event::ActionTaken { executed, .. } if current_episode == episode => {
                actions.push(executed.action.clone());
            }
            _ => {}
        }
    }
    actions
}

const PLAN: &str = "Here is the plan:\n1. go to fridge 1\n2. dance\n3. > look\nthink: that is all\n";

/// A program in ProgPrompt's form. The apple is in the closed fridge, and the microwave is closed.
const PROGRAM: &str = "def heat_apple():
    # 1: fetch the apple
    go_to('countertop 2')
    take_from('apple 2', 'countertop 2')
    assert('apple 2' in 'hands')
        else: go_to('fridge 1')
        else: open('fridge 1')
        else: take_from('apple 2', 'fridge 1')
    # 2: heat it
    assert('close' to 'microwave') else: go_to('microwave 1')
    assert('microwave 1' is 'closed') else: close('microwave 1')
    heat_with('apple 2', 'microwave 1')
    # Done
";

/// Regression: the label of a reply was removed from its first comment, `#` included, so its words became an action.
#[test]
fn a_first_comment_that_begins_like_a_label_stays_a_comment() {
    for reply in [
        "# Plan: heat the apple\ngo to fridge 1\nlook",
        "```\n# New plan: heat the apple\ngo to fridge 1\nlook\n```",
        "# Plan:\ngo to fridge 1\nlook",
        "Plan:\ngo to fridge 1\nlook",
    ] {
        let mut play = play(run(1), reply);
        play.play_script(&mut household(), &[]);
        assert_eq!(actions_taken(&play, 1), ["go to fridge 1", "look"], "{reply}");
        let comment =
            play.state().episode.as_ref().unwrap().step(1).unwrap().thought_text().map(str::to_owned);
        assert_eq!(comment.is_some_and(|text| text.contains("heat the apple")), reply.contains("apple"));
    }
}

#[test]
fn an_attempt_costs_one_call_and_follows_the_plan_to_its_end() {
    let mut play = play(run(default_trials("planning")), PLAN);
    play.play_script(&mut household(), &[]);
    let state = play.state();
    assert!(state.run_over);
    // FCRF V-A: five rounds of planning; one call each, and none to an actor.
    assert_eq!((state.ended_episodes.len(), state.usage.mentor_calls, state.usage.actor_calls), (5, 5, 0));
    for episode in 1..=5 {
        assert_eq!(
            actions_taken(&play, episode),
            ["go to fridge 1", "dance", "look"],
            "an impossible action doesn't stop the plan"
        );
    }
    let ended: Vec<_> = state.ended_episodes.iter().map(|e| (e.reason, e.steps, e.calls)).collect();
    assert_eq!(ended, [(EndReason::PlanEnd, 3, 1); 5]);
    let complaints = &state.reflections.last().unwrap().complaints;
    assert_eq!(*complaints, ["a heading is not an action: Here is the plan:"]);
    assert!(
        state.pool.visible_of_kind(ReflectionKind::Plan).count() <= 1,
        "a plan is discarded when its attempt ends"
    );
}

#[test]
fn the_step_limit_ends_a_long_plan_and_an_empty_one_ends_at_once() {
    let mut long = run(1);
    long.limits.steps = 2;
    let mut long = play(long, PLAN);
    long.play_script(&mut household(), &[]);
    assert_eq!(long.state().ended_episodes.last().unwrap().reason, EndReason::StepLimit);
    let mut empty = play(run(2), "");
    empty.play_script(&mut household(), &[]);
    let state = empty.state();
    let ended: Vec<_> = state.ended_episodes.iter().map(|e| (e.reason, e.steps)).collect();
    assert_eq!(ended, [(EndReason::PlanEnd, 0); 2]);
    assert!(!state.reflections.last().unwrap().complaints.is_empty());
}

#[test]
fn with_autonomy_confirm_each_action_of_the_plan_can_be_changed() {
    let mut confirmed = run(1);
    confirmed.autonomy = Autonomy::Confirm;
    let mut play = play(confirmed, PLAN);
    play.play_script(&mut household(), &[]);
    let proposed_action =
        |play: &TestRun| play.state().step_awaiting_decision().and_then(|s| s.proposed.clone());
    let action_number = |play: &TestRun| catalog::current_action(play.state()).map(|l| l.1);
    assert_eq!(proposed_action(&play).as_deref(), Some("go to fridge 1"));
    assert_eq!(action_number(&play), Some(1));
    let error = play.engine.decide(&crate::engine::Input::Command(Command::AskAgain)).unwrap_err();
    assert!(error.message.contains("the method chose this action itself"), "{error:?}");
    assert!(play.engine.decide(&crate::engine::Input::Command(Command::Reject("no".to_owned()))).is_err());
    play.command(Command::Approve);
    play.play_script(&mut household(), &[]);
    assert_eq!(
        proposed_action(&play).as_deref(),
        Some("dance"),
        "`Approve` ran the first action, and the next one waits"
    );
    assert_eq!(action_number(&play), Some(2));
    // Line 3 is the action of step 3, even if the text was changed in the meantime.
    let id = play.state().pool.visible_of_kind(ReflectionKind::Plan).next().unwrap().id.clone();
    let text = LessonText::plain("go to fridge 1\ndance\ninventory\nlook");
    play.command(Command::Lesson(LessonCommand::Edit { id, text }));
    play.command(Command::SetAutonomy(Autonomy::Human));
    play.command(Command::Act("look".to_owned()));
    play.command(Command::SetAutonomy(Autonomy::Auto));
    play.play_script(&mut household(), &[]);
    let actions = actions_taken(&play, 1);
    assert_eq!(actions[actions.len() - 2..], ["inventory", "look"], "{actions:?}");
    assert!(play.state().ended_episodes.last().unwrap().assisted);
}

#[test]
fn the_setting_replan_shows_the_last_attempt_to_the_next_plan() {
    for (value, expected) in [("nothing", false), ("attempt", true)] {
        let mut run = run(2);
        run.settings.set("replan", value, SettingOrigin::Flag);
        let mut play = play(run, PLAN);
        play.play_script(&mut household(), &[]);
        let (state, record) = play.prompts.last().unwrap();
        assert_eq!(record.episode, 2);
        let prompt = render(state, record);
        assert_eq!(crate::prompt::body_hash(&prompt), record.sha256);
        let attempt =
            prompt.segments.iter().any(|s| s.label == SegmentLabel::Attempt && s.text.contains("> dance"));
        assert_eq!(attempt, expected, "{value}");
    }
}

#[test]
fn the_symbolic_mentor_plans_household_tasks_only() {
    let mut run = run(5);
    run.mentor = "symbolic".to_owned();
    let mut play = TestRun::new(run.clone());
    play.play_script(&mut household(), &[]);
    let state = play.state();
    assert!(state.run_over && state.usage.mentor_calls == 0, "no model is called");
    let actions = actions_taken(&play, 1);
    assert!(actions.iter().any(|a| a.starts_with("take apple 1 from ")), "{actions:?}");
    assert!(actions.len() <= run.limits.steps as usize);
    for (mentor, env, reason) in
        [("none", "household", "there is no mentor"), ("symbolic", "pddl", "tasks of pddl")]
    {
        run.mentor = mentor.to_owned();
        run.tasks[0].env = env.to_owned();
        let error = build_policy(&run, Arc::new(crate::catalog::builtin_templates())).err().unwrap();
        assert!(error.to_string().starts_with("planning: "), "{error}");
        assert!(error.to_string().contains(reason) && error.hint().contains("--mentor"), "{error}");
    }
    assert_eq!(defaults("planning", PaperOrCode::Code).0.steps, 50, "there is no public code for planning");
}

#[test]
fn only_the_lines_of_a_plan_that_are_actions_are_numbered() {
    let lines = crate::method::numbered_plan_lines(PLAN);
    let numbers: Vec<Option<u32>> = lines.iter().map(|l| l.0).collect();
    assert_eq!(numbers, [None, Some(1), Some(2), Some(3), None]);
    assert_eq!(lines[1].1, "go to fridge 1");
}

/// Returns the thought and the action of each step of the first episode.
fn thoughts_and_actions(play: &TestRun) -> Vec<(Option<String>, String)> {
    let proposed = play.journal.iter().filter_map(|envelope| match &envelope.event {
        Event::Proposed { thought, action, .. } => Some((thought.clone(), action.clone().unwrap())),
        _ => None,
    });
    proposed.collect()
}

#[test]
fn a_program_checks_its_assertions_and_recovers_if_they_fail() {
    let mut play = play(run(1), PROGRAM);
    play.play_script(&mut household(), &[]);
    let state = play.state();
    assert_eq!(state.reflections.last().unwrap().complaints, Vec::<String>::new());
    let thought = |text: &str| Some(text.to_owned());
    let expected = [
        (thought("1: fetch the apple"), "go to countertop 2"),
        (None, "take apple 2 from countertop 2"),
        (thought("The assertion 'apple 2' in 'hands' failed."), "go to fridge 1"),
        (None, "open fridge 1"),
        (None, "take apple 2 from fridge 1"),
        (thought("2: heat it The assertion 'close' to 'microwave' failed."), "go to microwave 1"),
        (None, "heat apple 2 with microwave 1"),
    ];
    let taken = thoughts_and_actions(&play);
    assert_eq!(taken, expected.map(|(thought, action)| (thought, action.to_owned())));
    assert_eq!(state.ended_episodes.last().unwrap().reason, EndReason::PlanEnd);
    assert_eq!((state.usage.mentor_calls, state.usage.actor_calls), (1, 0));
}

#[test]
fn the_lane_numbers_the_actions_of_a_program_and_marks_the_current_one() {
    let mut confirmed = run(1);
    confirmed.autonomy = Autonomy::Confirm;
    let mut play = play(confirmed, PROGRAM);
    let mut household = household();
    let mut marked = Vec::new();
    for _ in 0..7 {
        play.play_script(&mut household, &[]);
        let lesson = play.state().pool.visible_of_kind(ReflectionKind::Plan).next().unwrap();
        let lines = crate::method::numbered_plan_lines(&lesson.text().text);
        let (_, current) = catalog::current_action(play.state()).unwrap();
        marked.push(lines.into_iter().find(|(number, _)| *number == Some(current)).unwrap().1);
        play.command(Command::Approve);
    }
    assert_eq!(
        marked,
        [
            "go to countertop 2",
            "take apple 2 from countertop 2",
            "else: go to fridge 1",
            "else: open fridge 1",
            "else: take apple 2 from fridge 1",
            "assert('close' to 'microwave') else: go to microwave 1",
            "heat apple 2 with microwave 1",
        ]
    );
}

#[test]
fn an_unreadable_plan_says_so_and_is_asked_for_again_with_another_seed() {
    let mut run = run(1);
    run.settings.set("ask_again", 2, SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    let mut replies = ["I don't know:", "assert(somewhere):", "go to fridge 1"].iter();
    play.mentor = Box::new(move |_| (*replies.next().unwrap()).to_owned());
    play.play_script(&mut household(), &[]);
    assert_eq!(actions_taken(&play, 1), ["go to fridge 1"]);
    let seeds: std::collections::BTreeSet<u64> = play.prompts.iter().map(|(_, prompt)| prompt.seed).collect();
    assert_eq!((play.prompts.len(), seeds.len()), (3, 3));
    let complaints: Vec<String> =
        play.state().reflections.iter().map(|reflection| reflection.complaints.join("; ")).collect();
    assert_eq!(
        complaints,
        [
            "a heading is not an action: I don't know:; the reply has no action, so it is not a plan",
            "an assertion that can't be read: assert(somewhere):; the reply has no action, so it is not a plan",
            "",
        ]
    );
    // After `ask_again` requests more, the attempt ends.
    let mut run = self::run(1);
    run.settings.set("ask_again", 1, SettingOrigin::Flag);
    let mut play = self::play(run, "I don't know:");
    play.play_script(&mut household(), &[]);
    assert_eq!(play.state().usage.mentor_calls, 2);
    assert_eq!(play.state().ended_episodes.last().unwrap().reason, EndReason::PlanEnd);
}

#[test]
fn the_form_of_a_program_is_in_the_words_of_every_environment() {
    for (env, task_type, example) in [
        ("household", HEAT, "assert('drawer 1' is 'open') else: open drawer 1"),
        ("babyai", "GoToObj", "else: go to blue ball 1"),
        ("pddl", "blockworld", "assert('b2' is 'on the table') else: unstack b2 b3"),
        ("pddl", "ferry", "assert('docked' is 'north') else: sail south north"),
        ("elsewhere", "", "assert('[a thing]' is '[state]') else: [the action that brings it about]"),
    ] {
        let mut run = run(1);
        (run.tasks[0].env, run.tasks[0].task_type) = (env.to_owned(), Some(task_type.to_owned()));
        let mut play = play(run, "look");
        play.play_script(&mut household(), &[]);
        let (state, record) = play.prompts.last().unwrap();
        let body = render(state, record).body();
        assert!(body.contains(example) && body.contains("assert(CONDITION) else: ACTION"), "{env}: {body}");
    }
}
