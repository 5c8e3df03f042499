//! Tests of generated problems.

use super::super::{Difficulty, Domain, GoalSeparator, TaskId, World, generate, offered_ids};
use crate::env::Environment;
use std::fmt::Write as _;
use std::sync::Arc;

#[test]
fn generated_problems_are_won_exactly_at_the_end_of_their_plan() {
    let mut lengths = Vec::new();
    for domain in Domain::ALL {
        for difficulty in Difficulty::ALL {
            let mut total = 0;
            for number in 0..4 {
                let id = TaskId { domain, difficulty, number };
                let problem = generate(&id).unwrap();
                let mut world = World::new(Arc::clone(&problem.game));
                for text in &problem.plan {
                    assert!(!world.is_won(), "{id}");
                    assert!(world.valid_actions().any(|valid| valid == text), "{id}: {text}");
                    assert!(world.play(text).changed, "{id}: {text}");
                }
                assert!(world.is_won() && !problem.plan.is_empty(), "{id}");
                total += problem.plan.len();
            }
            lengths.push(total / 4);
        }
    }
    // Harder means longer, in every domain.
    assert!(lengths.chunks(3).all(|group| group[0] < group[1] && group[1] < group[2]), "{lengths:?}");
}

/// Ids determine problems permanently: a change here requires a new `GENERATOR_VERSION`.
#[test]
fn ids_determine_the_bytes_of_a_problem() {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for id in offered_ids() {
        for byte in generate(&id).unwrap().text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let mut all_texts = String::new();
    write!(all_texts, "{} {hash:016x}", super::super::GENERATOR_VERSION).unwrap();
    assert_eq!(all_texts, "pddl 1 5e38a9c134f892b1");
}

#[test]
fn formatted_ids_parse_to_the_same_id() {
    for id in offered_ids() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    assert_eq!("gripper/normal/3".parse::<TaskId>().unwrap().to_string(), "gripper/3");
    for bad in [
        "",
        "gripper",
        "gripper/x",
        "gripper/03",
        "gripper/+3",
        "chess/3",
        "gripper/soft/3",
        "gripper/easy/3/4",
    ] {
        assert!(bad.parse::<TaskId>().unwrap_err().to_string().contains("gripper/3"), "{bad}");
    }
}

#[test]
fn environment_reports_goal_truth_and_reference_plan() {
    let problem = generate(&"blockworld/easy/2".parse().unwrap()).unwrap();
    let mut world = problem.open(GoalSeparator::Comma);
    let first = world.reset().unwrap();
    assert_eq!(
        first.shown["goal"],
        "The goal is to satisfy the following conditions: b1 is on b2., b2 is on b3."
    );
    assert_eq!(first.truth["plan"], problem.plan.len());
    assert_eq!(first.shown["objects"]["b1"], "object");
    let mut shown = first.shown;
    for text in &problem.plan {
        let result = world.step(text).unwrap();
        crate::domain::merge_patch(&mut shown, &result.shown);
    }
    assert_eq!(shown["subgoals"]["(on b1 b2)"], serde_json::json!({ "text": "b1 is on b2.", "held": true }));
    assert_eq!(shown["facts"]["on b2 b3"], true);
    assert_eq!(shown["facts"].as_object().unwrap().len(), world.world().state().facts().ones().count());
}

#[test]
fn prompt_examples_match_the_environment() {
    for (task, text) in [
        ("gripper/easy/900001", include_str!("../prompts/gripper-1.txt")),
        ("gripper/easy/900002", include_str!("../prompts/gripper-2.txt")),
        ("blockworld/easy/900003", include_str!("../prompts/blockworld-1.txt")),
        ("blockworld/900001", include_str!("../prompts/blockworld-2.txt")),
        ("barman/easy/900011", include_str!("../prompts/barman-1.txt")),
        ("barman/easy/900001", include_str!("../prompts/barman-2.txt")),
        ("tyreworld/easy/900002", include_str!("../prompts/tyreworld-1.txt")),
        ("tyreworld/easy/900003", include_str!("../prompts/tyreworld-2.txt")),
    ] {
        let problem = generate(&task.parse().unwrap()).unwrap();
        let goal = problem.game.goal_text(GoalSeparator::Comma);
        let mut world = World::new(problem.game);
        let mut transcript =
            format!("{}\nYour task is to: {}\n", world.restart().trim_end(), goal.trim_end());
        for line in text.lines().filter_map(|line| line.strip_prefix("> ")) {
            let answer = if line.starts_with("think:") { "OK." } else { world.play(line).observation };
            transcript.extend(["> ", line, "\n", answer.trim_end(), "\n"]);
        }
        assert_eq!(text.trim_end(), transcript.trim_end(), "{task}");
        assert!(world.is_won(), "{task}");
    }
}
