//! Detector cases in the environment itself: a generated or handwritten problem, actions, and the notes after the last
//! one.

use super::*;
use crate::domain::{CallId, DecidedBy, EpisodeRole, ExecutedAction, ShownAs, Task, ThoughtDisposition};
use crate::engine::{Cause, Envelope, Event};
use crate::env::Environment;
use crate::env::pddl::{Domain, Game, GoalSeparator, PddlEnvironment, ProblemSource, generate};

/// Plays actions through the fold of events. Returns the notes of the last step and the text about unmet conditions.
fn play_moves(mut world: PddlEnvironment, actions: &[&str]) -> (Vec<String>, Option<String>) {
    let mut state = State::default();
    let mut seq = 0;
    let mut fold = |state: &mut State, event: Event| {
        seq += 1;
        state.apply(&Envelope {
            seq: crate::domain::Seq(seq),
            timestamp: jiff::Timestamp::UNIX_EPOCH,
            cause: Cause::World,
            batch_continues: false,
            event,
        });
    };
    fold(
        &mut state,
        Event::RunStarted {
            session: "test".to_owned(),
            spec: Box::new(crate::catalog::fixture::test_spec("omnireflect", &[("pddl", "gripper/1")])),
        },
    );
    let task = Task {
        env: "pddl".to_owned(),
        id: "t".to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    let call = CallId(1);
    fold(
        &mut state,
        Event::EpisodeStarted { episode: 1, task: Box::new(task), trial: 1, role: EpisodeRole::Test, call },
    );
    let result = world.reset().unwrap();
    fold(
        &mut state,
        Event::WorldReset { call, result: Box::new(result), agent_view: None, goal: String::new() },
    );
    let mut last = Vec::new();
    for (index, action) in actions.iter().enumerate() {
        let (step, call) = (index as u32 + 1, CallId(index as u64 + 2));
        fold(&mut state, Event::StepOpened { step });
        let executed = ExecutedAction {
            action: (*action).to_owned(),
            sent: None,
            rewrite_rule: None,
            decided_by: DecidedBy::Actor,
            shown_as: ShownAs::AgentAction,
            thought_disposition: ThoughtDisposition::Kept,
        };
        fold(&mut state, Event::ActionTaken { step, call: Some(call), executed, admissible_only: false });
        let result = world.step(action).unwrap();
        fold(
            &mut state,
            Event::Observed { step, call: Some(call), result: Box::new(result), agent_view: None },
        );
        let notes = crate::catalog::RULES.detect(&state);
        last = notes.iter().map(|note| note.detector.clone()).filter(|name| name != "standing").collect();
        fold(&mut state, Event::Noted { step, notes });
    }
    (last, progress_text(state.episode.as_deref().unwrap()))
}

fn problem_from_text(domain: Domain, objects: &str, init: &str, goal: &str) -> PddlEnvironment {
    let problem = format!(
        "(define (problem p) (:domain {}) (:objects {objects}) (:init {init}) (:goal (and {goal})))",
        domain.pddl_name()
    );
    let source = ProblemSource {
        domain_label: "d",
        domain: domain.pddl_text().as_bytes(),
        problem_label: "p",
        problem: problem.as_bytes(),
    };
    PddlEnvironment::new(Game::load(&source).unwrap(), GoalSeparator::Comma, None)
}

fn rooms_problem() -> PddlEnvironment {
    problem_from_text(
        Domain::Gripper,
        "rooma roomb ball1 ball2 ball3 left right",
        "(room rooma) (room roomb) (ball ball1) (ball ball2) (ball ball3) (gripper left) (gripper right) (at-robby rooma)
         (at ball1 rooma) (at ball2 rooma) (at ball3 rooma) (free left) (free right)",
        "(at ball1 roomb) (at ball2 roomb)",
    )
}

fn blocks_problem() -> PddlEnvironment {
    problem_from_text(
        Domain::Blockworld,
        "b1 b2 b3",
        "(arm-empty) (on-table b1) (on b2 b1) (clear b2) (on-table b3) (clear b3)",
        "(on b1 b3) (on b2 b1)",
    )
}

#[test]
fn unhelpful_actions_are_noted() {
    type Case = (fn() -> PddlEnvironment, &'static [&'static str], &'static [&'static str]);
    let cases: &[Case] = &[
        (rooms_problem, &["pick ball1 rooma left", "move rooma roomb"], &["hand_left_free"]),
        (rooms_problem, &["pick ball3 rooma left"], &["ball_not_wanted"]),
        (rooms_problem, &["pick ball1 rooma left", "drop ball1 rooma left"], &["wrong_drop"]),
        (rooms_problem, &["pick ball1 rooma left", "pick ball2 rooma right"], &["carried_two"]),
        (
            rooms_problem,
            &["pick ball1 rooma left", "pick ball2 rooma left"],
            &["nothing_happened", "hand_not_free"],
        ),
        (rooms_problem, &["pick ball1 roomb left"], &["nothing_happened", "not_in_the_room"]),
        (rooms_problem, &["dance"], &["nothing_happened", "not_understood"]),
        (
            rooms_problem,
            &["pick ball1 rooma left", "move rooma roomb", "drop ball1 roomb left", "pick ball1 roomb left"],
            &["undone", "took_back"],
        ),
        (blocks_problem, &["pickup b2"], &["nothing_happened", "pickup_for_unstack"]),
        (blocks_problem, &["unstack b2 b1", "stack b2 b1"], &["subgoal", "two_towers", "stacked_back"]),
        (blocks_problem, &["unstack b2 b1", "stack b2 b3"], &["wrong_stack"]),
        (blocks_problem, &["unstack b2 b1", "putdown b2", "pickup b1", "stack b1 b3"], &["subgoal"]),
    ];
    for (world, actions, expected) in cases {
        assert_eq!(play_moves(world(), actions).0, *expected, "{actions:?}");
    }
    let bar = || generate(&"barman/1".parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    assert_eq!(play_moves(bar(), &["left grasp shot1", "right grasp shot2"]).0, ["both_hands_full"]);
    assert_eq!(
        play_moves(
            bar(),
            &["left grasp shot1", "right grasp shot2", "fill-shot shot1 ingredient1 left right dispenser1"]
        )
        .0,
        ["nothing_happened", "did_not_leave"]
    );
    let garage = || generate(&"tyreworld/hard/1".parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    assert_eq!(play_moves(garage(), &["open boot", "fetch w1 boot"]).0[0], "nothing_happened");
    assert_eq!(
        play_moves(garage(), &["open boot", "fetch wrench boot", "loosen nuts1 the-hub1"]).0,
        ["set_back"]
    );
}

#[test]
fn progress_text_lists_the_unmet_conditions() {
    let (_, text) =
        play_moves(rooms_problem(), &["pick ball1 rooma left", "move rooma roomb", "drop ball1 roomb left"]);
    assert_eq!(text.as_deref(), Some("1 of 2 goal conditions hold. Still open: ball2 is at roomb."));
    let (_, text) = play_moves(rooms_problem(), &["look around"]);
    assert_eq!(
        text.as_deref(),
        Some("No condition of the goal holds yet. Still open: ball1 is at roomb; ball2 is at roomb.")
    );
}
