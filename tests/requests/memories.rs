//! What the prompts of an actor remember of earlier attempts and steps.

use crate::matrix::{STEPS, server_for};
use crate::outline::{goals_of, outlines, remembered};
use crate::play;
use crate::stand_in::Exchange;
use crate::worlds::{World, worlds};

/// Plays some attempts and returns what the first prompt of each remembers.
fn memories(world: &'static World, method: &str, trials: usize, args: &[&str]) -> Vec<Vec<usize>> {
    let (trials, steps) = (trials.to_string(), STEPS.to_string());
    let own = ["--method", method, "--trials", &trials, "--max-steps", &steps];
    let exchanges = play(&server_for(world, method), world, &[&own, args].concat());
    exchanges.iter().filter(|e| e.is_actor()).step_by(STEPS).map(remembered).collect()
}

#[test]
fn an_attempt_remembers_what_the_papers_say_in_every_environment() {
    for world in worlds() {
        let task = world.task;
        // Reflexion's code shows the last three plans.
        assert_eq!(
            memories(world, "reflexion", 5, &["--as", "code"]),
            [vec![], vec![1], vec![1, 2], vec![1, 2, 3], vec![2, 3, 4]],
            "{task}"
        );
        // FCRF's memories have the experience and the plan of each attempt.
        assert_eq!(
            memories(world, "fcrf", 5, &["--as", "code"]),
            [vec![], vec![1, 2], vec![1, 2, 3, 4], vec![1, 2, 3, 4, 5, 6], vec![3, 4, 5, 6, 7, 8]],
            "{task}"
        );
        // Sweet&Sour's long-term memory has no limit in the paper.
        assert_eq!(
            memories(world, "sweet_sour", 4, &["--preset", "sweet-and-sour-2"]),
            [vec![], vec![1], vec![1, 2], vec![1, 2, 3]],
            "{task}"
        );
        // ExpeL gathers with Reflexion's memory.
        assert_eq!(
            memories(world, "expel", 5, &["--as", "paper"]),
            [vec![], vec![1], vec![1, 2], vec![1, 2, 3], vec![2, 3, 4]],
            "{task}"
        );
        assert_eq!(memories(world, "react", 1, &[]), [Vec::<usize>::new()], "{task}");
    }
}

/// The numbers of the rules that each prompt to the actor remembers, in ascending order.
fn remembered_by_actor(exchanges: &[Exchange]) -> Vec<Vec<usize>> {
    let prompts = exchanges.iter().filter(|e| e.is_actor()).map(remembered);
    prompts
        .map(|mut rules| {
            rules.sort_unstable();
            rules
        })
        .collect()
}

/// Abstract and Error lessons stay; a Progress lesson is replaced by the next one (Algorithm 1 keeps it for the episode).
/// With the paper's `r_freq` of 10 the mentor reflects after the first and the eleventh step; the constitution is summarised
/// after the task (after ten of them in the paper).
#[test]
fn a_constitution_grows_within_an_attempt_and_is_summarised_after_it_in_every_environment() {
    for world in worlds() {
        let args = ["--preset", "omnireflect-1-neural", "--set", "s_freq=1", "--max-steps", "12"];
        let exchanges = play(&server_for(world, "omnireflect"), world, &args);
        let mut expected = vec![vec![]];
        expected.resize(11, vec![1, 2, 3]);
        let (rules, task) = (remembered_by_actor(&exchanges), world.task);
        assert_eq!(rules[..11], expected, "{task}");
        // Error, Abstract and Progress are asked in this order; the third reply was a Progress lesson.
        assert_eq!(
            rules[11..],
            [[1, 2, 4, 5, 6]],
            "{task}: two of each lasting kind, and the newer Progress"
        );
        let order: Vec<bool> = exchanges.iter().map(Exchange::is_actor).collect();
        let rounds: Vec<usize> = (0..order.len()).filter(|at| !order[*at]).collect();
        assert_eq!(
            rounds,
            [1, 2, 3, 14, 15, 16, 18, 19],
            "{task}: after the 1st and 11th step, and at the end"
        );
        let mentor: Vec<&Exchange> = exchanges.iter().filter(|e| !e.is_actor()).collect();
        assert_eq!(
            outlines(&mentor, &goals_of(&exchanges)),
            [
                (1, "system: instruction; user: task, steps, question".to_owned()),
                (5, "system: instruction; user: memory, task, steps, question".to_owned()),
                (2, "system: instruction; user: memory, question".to_owned()),
            ],
            "{task}"
        );
        // A summary is about one list.
        let mut summarised: Vec<Vec<usize>> = mentor[6..].iter().map(|e| remembered(e)).collect();
        summarised.sort();
        assert_eq!(summarised, [[1, 4], [2, 5]], "{task}");
    }
}
