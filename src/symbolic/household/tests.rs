//! The detectors on recorded ALFWorld games: what they infer compared with what the recording contains.

use super::situation::Situation;
use crate::catalog::fixture::{TestRun, test_spec};
use crate::domain::{Interface, StepResult};
use crate::engine::State;
use crate::symbolic::Goal;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

struct TraceLine {
    command: String,
    feedback: String,
    won: bool,
    inventory: Vec<String>,
}

/// Returns the traces of the shared golden games by game and name; empty if they are not on this machine.
fn load_traces() -> Vec<(String, Vec<TraceLine>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/traces");
    let Ok(files) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut traces: Vec<(String, Vec<TraceLine>)> = Vec::new();
    for file in files.map(|f| f.unwrap().path()) {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            // Two of the five random traces of a game are skipped, because the suite runs often.
            if matches!(line["trace"].as_str(), Some("walk1" | "walk2")) {
                continue;
            }
            if line["step"] == 0 {
                let name = format!(
                    "{} {}",
                    file.file_stem().unwrap().to_string_lossy(),
                    line["trace"].as_str().unwrap()
                );
                traces.push((name, Vec::new()));
            }
            let inventory = line["inventory"].as_array().unwrap().iter();
            traces.last_mut().unwrap().1.push(TraceLine {
                command: line["command"].as_str().unwrap_or_default().to_owned(),
                feedback: line["feedback"].as_str().unwrap().to_owned(),
                won: line["won"].as_bool().unwrap(),
                inventory: inventory.map(|i| i.as_str().unwrap().to_owned()).collect(),
            });
        }
    }
    traces.sort_by(|a, b| a.0.cmp(&b.0));
    traces
}

/// Plays a trace, answering with the recorded observations.
fn replay(lines: &[TraceLine]) -> TestRun {
    let mut run = test_spec("omnireflect", &[("recorded", "")]);
    run.interface = Interface::Raw;
    run.limits.steps = 1000;
    run.settings.set("context_tokens", 500, crate::domain::SettingOrigin::Flag);
    run.settings.set("examples", 0, crate::domain::SettingOrigin::Flag);
    let mut play = TestRun::new(run);
    let mut next = lines.iter();
    let mut world = |_: Option<&str>| {
        let line = next.next().unwrap();
        let valid = line.feedback != "Nothing happens.";
        StepResult { observation: line.feedback.clone(), valid, won: line.won, ..StepResult::default() }
    };
    let commands: Vec<&str> = lines[1..].iter().map(|l| l.command.as_str()).collect();
    play.play_script_in(&mut world, &commands);
    play
}

fn situation_at(state: &State, step: u32) -> Situation {
    let steps = (1..=step).rev().filter_map(|n| state.episode.as_ref()?.step(n));
    let mut notes = steps.flat_map(|s| s.notes.iter().filter(|n| n.detector == "situation"));
    notes.next().map_or_else(Situation::default, |n| Situation::from_parts(&n.parts))
}

#[test]
fn detectors_infer_the_recorded_state() {
    let traces = load_traces();
    if traces.is_empty() {
        println!("skipped: ../shared/golden/alfworld was not found");
        return;
    }
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    let (mut wins, mut steps) = (0, 0);
    for (name, lines) in &traces {
        // Commands that the reply parser would change (padding, empty ones) are covered by another test.
        let is_plain =
            |l: &TraceLine| l.command == l.command.trim() && !l.command.is_empty() && l.command.is_ascii();
        let end = lines[1..].iter().position(|l| !is_plain(l)).map_or(lines.len(), |n| n + 1);
        let play = replay(&lines[..end]);
        let state = play.state();
        let episode = state.episode.as_ref().unwrap();
        assert_eq!(episode.answered_steps() as usize, end - 1, "{name}");
        for (line, number) in lines[1..end].iter().zip(1..) {
            let held = situation_at(state, number).held;
            assert_eq!(
                held,
                line.inventory.first().cloned().unwrap_or_default(),
                "{name} step {number}: {}",
                line.command
            );
            steps += 1;
            for note in &episode.step(number).unwrap().notes {
                if note.detector == "nothing_happened" {
                    *reasons.entry(note.parts["why"].clone()).or_default() += 1;
                }
            }
        }
        let won = lines[1..end].iter().any(|l| l.won);
        if let Some(goal) = Goal::parse(&episode.task.goal).filter(|_| won) {
            let reached = super::detect::reached_subgoals(episode);
            assert_eq!(reached, goal.subgoals().len(), "{name}: {}", episode.task.goal);
            wins += 1;
        }
    }
    println!(
        "{} traces, {steps} steps, {wins} wins with every sub-goal reached; reasons for no effect: {reasons:?}",
        traces.len()
    );
    assert!(wins > 30, "only {wins} won games have a goal that could be parsed");
}
