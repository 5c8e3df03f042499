//! A constitution from its calibration to another actor, in every environment and planning domain, with a summary on the way and
//! one summary that its token limit cut off.

use crate::Home;
use crate::stand_in::{Reply, StandIn};
use crate::worlds::{World, alfworld_games, worlds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Starts a server: the mentor's n-th reply is a new rule; its first summary is cut off, further ones keep two rules.
fn server_for(world: &'static World) -> StandIn {
    let summaries = std::sync::atomic::AtomicUsize::new(0);
    let place = place_of(world);
    StandIn::start(move |model, prompt, earlier| {
        let text = if model != "mentor" {
            world.actions[earlier % world.actions.len()].to_owned()
        } else if prompt.contains("Shorten the list below") {
            if summaries.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0 {
                return Reply {
                    text: "[\"Summary that begins well\", \"and is cut".to_owned(),
                    is_cut: true,
                };
            }
            format!("[\"Summary {earlier} for {place}.\", \"Second line {earlier} for {place}.\"]")
        } else if prompt.contains("a Python list of dictionaries") {
            format!("[{{'mistake': 'Mistake {earlier} in {place}.', 'solution': 'Solution {earlier}.'}}]")
        } else {
            format!("[\"Rule {earlier} for {place}.\"]")
        };
        text.into()
    })
}

fn lessons_of(pool: &str) -> Vec<String> {
    let lines = pool.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|lesson| lesson["text"]["text"].as_str().or(lesson["text"].as_str()).unwrap().to_owned())
        .collect()
}

/// The environment, or the planning domain, of a world.
fn place_of(world: &World) -> &'static str {
    if world.env == "pddl" { world.task.split('/').next().unwrap() } else { world.env }
}

/// The tasks of a calibration: those of its environment by default, two problems of each planning domain, and two games of
/// ALFWorld, whose train split may be absent.
fn tasks_of(world: &World) -> Vec<String> {
    let games = || {
        let all = alfworld_games();
        let of_type = |name: &str| all.iter().find(|game| game.contains(name)).unwrap().clone();
        ["pick_and_place_simple", "pick_heat_then_place"].map(of_type)
    };
    match world.env {
        "pddl" => {
            let set = format!("{}/hard/1-2", place_of(world));
            vec!["--tasks".to_owned(), set, "--set".to_owned(), "per_type=2".to_owned()]
        }
        "alfworld" => games().into_iter().flat_map(|game| ["--task".to_owned(), game]).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_constitution_is_learned_summarised_and_used_by_another_actor_in_every_environment() {
    let mut learned_from = BTreeMap::new();
    // Regression: with `--as code`, which uses cut replies, a summary that was cut off replaced the list.
    for (world, reading) in worlds().into_iter().flat_map(|world| [(world, "paper"), (world, "code")]) {
        let (home, server, tasks) = (Home::new(), server_for(world), tasks_of(world));
        let mut learn = vec!["calibrate", "--env", world.env];
        learn.extend(tasks.iter().map(String::as_str));
        learn.extend(["--actor", "openai:actor", "--mentor", "openai:mentor", "--max-steps", "3"]);
        learn.extend(["--set", "s_freq=2", "--set", "mentor_at_once=false", "--as", reading]);
        learn.extend(["--out", "constitution.jsonl"]);
        let lines = home.run(&server, &learn);
        let starts = lines.iter().filter(|line| line["type"] == "episode_start");
        let played: BTreeSet<String> =
            starts.map(|start| start["task"].as_str().unwrap().to_owned()).collect();
        assert!(played.len() >= 2, "{}: {played:?}", place_of(world));
        learned_from.insert(place_of(world), played);
        let calibration = server.take();
        let summaries =
            calibration.iter().filter(|e| e.text().contains("Shorten the list below")).collect::<Vec<_>>();
        assert!(summaries.len() >= 2, "{}: {} summaries", place_of(world), summaries.len());
        // The cut one kept its list: what it was asked to shorten stands in a later request.
        let kept: Vec<&str> = {
            let text = summaries[0].messages().into_iter().last().unwrap().1;
            text.lines().filter_map(|line| line.strip_prefix("- ")).collect()
        };
        assert!(kept.len() >= 2, "{}: {:?}", place_of(world), summaries[0].messages());
        let later = calibration.iter().skip_while(|e| e.body != summaries[0].body).skip(1);
        assert!(
            later.clone().any(|e| kept.iter().all(|rule| e.text().contains(rule))),
            "{}",
            place_of(world)
        );
        assert!(!later.clone().any(|e| e.text().contains("Summary that begins well")), "{}", place_of(world));

        let pool = std::fs::read_to_string(home.path("constitution.jsonl")).unwrap();
        let lessons = lessons_of(&pool);
        assert!(
            lessons.iter().any(|lesson| lesson.starts_with("Summary ")),
            "{}: {lessons:?}",
            place_of(world)
        );
        let mut play = vec!["run", "--env", world.env, "--task", world.task, "--method", "react"];
        play.extend([
            "--actor",
            "openai:another",
            "--max-steps",
            "2",
            "--constitution",
            "constitution.jsonl",
        ]);
        home.run(&server, &play);
        let exchanges = server.take();
        assert!(exchanges.iter().all(|e| e.model() == "another"), "no mentor is called at test time");
        assert_eq!(exchanges.len(), 2);
        for (exchange, lesson) in exchanges.iter().flat_map(|e| lessons.iter().map(move |lesson| (e, lesson)))
        {
            assert!(exchange.text().contains(lesson.as_str()), "{}: {lesson:?} is missing", place_of(world));
        }
        let about = lessons.iter().filter(|lesson| lesson.contains(place_of(world))).count();
        assert_eq!(about, lessons.len(), "{}: {lessons:?}", place_of(world));
    }
    // Regression: every planning domain played the same calibration.
    let all: Vec<&String> = learned_from.values().flatten().collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{learned_from:?}");
}
