//! A constitution from its calibration to another actor, in every environment, with a summary on the way and one summary
//! that its token limit cut off.

use crate::Home;
use crate::stand_in::{Reply, StandIn};
use crate::worlds::{WORLDS, World};
use serde_json::Value;

/// Starts a server: the mentor's n-th reply is a new rule; its first summary is cut off, further ones keep two rules.
fn server_for(world: &'static World) -> StandIn {
    let summaries = std::sync::atomic::AtomicUsize::new(0);
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
            format!("[\"Summary {earlier} of the mentor.\", \"Second line {earlier}.\"]")
        } else if prompt.contains("a Python list of dictionaries") {
            format!("[{{'mistake': 'Mistake {earlier}.', 'solution': 'Solution {earlier}.'}}]")
        } else {
            format!("[\"Rule {earlier} of the mentor.\"]")
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

#[test]
fn a_constitution_is_learned_summarised_and_used_by_another_actor_in_every_environment() {
    // Regression: with `--as code`, which uses cut replies, a summary that was cut off replaced the list.
    for (world, reading) in WORLDS.iter().flat_map(|world| [(world, "paper"), (world, "code")]) {
        let (home, server) = (Home::new(), server_for(world));
        let mut learn =
            vec!["calibrate", "--env", world.env, "--actor", "openai:actor", "--mentor", "openai:mentor"];
        learn.extend([
            "--max-steps",
            "3",
            "--set",
            "s_freq=2",
            "--set",
            "mentor_at_once=false",
            "--as",
            reading,
        ]);
        learn.extend(["--out", "constitution.jsonl"]);
        home.run(&server, &learn);
        let calibration = server.take();
        let summaries =
            calibration.iter().filter(|e| e.text().contains("Shorten the list below")).collect::<Vec<_>>();
        assert!(summaries.len() >= 2, "{}: {} summaries", world.env, summaries.len());
        // The cut one kept its list: what it was asked to shorten stands in a later request.
        let kept: Vec<&str> = {
            let text = summaries[0].messages().into_iter().last().unwrap().1;
            text.lines().filter_map(|line| line.strip_prefix("- ")).collect()
        };
        assert!(kept.len() >= 2, "{}: {:?}", world.env, summaries[0].messages());
        let later = calibration.iter().skip_while(|e| e.body != summaries[0].body).skip(1);
        assert!(later.clone().any(|e| kept.iter().all(|rule| e.text().contains(rule))), "{}", world.env);
        assert!(!later.clone().any(|e| e.text().contains("Summary that begins well")), "{}", world.env);

        let pool = std::fs::read_to_string(home.path("constitution.jsonl")).unwrap();
        let lessons = lessons_of(&pool);
        assert!(lessons.iter().any(|lesson| lesson.starts_with("Summary ")), "{}: {lessons:?}", world.env);
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
            assert!(exchange.text().contains(lesson.as_str()), "{}: {lesson:?} is missing", world.env);
        }
    }
}
