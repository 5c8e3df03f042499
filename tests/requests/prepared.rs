//! What is asked only after attempts with certain outcomes: steps that make progress, tasks that are solved after a failure.

use crate::Home;
use crate::outline::{goals_of, numbers, outline, remembered};
use crate::stand_in::{Exchange, StandIn};
use crate::worlds::{World, worlds};
use serde_json::Value;

/// An attempt with its outcome; both have as many steps as the solution.
#[derive(Clone, Copy)]
enum Attempt {
    Lost,
    Won,
}
use Attempt::{Lost, Won};

/// Plays attempts at the tasks in the order of the run; returns what was sent, and the lines of the output. The mentor's replies
/// are numbered.
fn play(
    world: &'static World,
    tasks: &[&str],
    attempts: &[Attempt],
    args: &[&str],
) -> (Vec<Exchange>, Vec<Value>) {
    let steps = world.solution.len();
    let actions = attempts.iter().flat_map(|attempt| match attempt {
        Won => world.solution.to_vec(),
        Lost => world.actions[..2].iter().copied().cycle().take(steps).collect(),
    });
    let actions: Vec<&str> = actions.collect();
    let server = StandIn::start(move |model, prompt, earlier| {
        let rule = format!("Rule {} of the mentor.", earlier + 1);
        match model {
            "actor" => actions[earlier].to_owned(),
            _ if prompt.contains("The number of the most helpful lesson") => format!("1: {rule}"),
            _ if prompt.contains("The operations:") => format!("ADD: {rule}"),
            _ => rule,
        }
    });
    let home = Home::new();
    home.add_lesson("lesson", "A lesson of the pool.", "lessons.jsonl");
    let steps = steps.to_string();
    let mut all = vec!["run", "--env", world.env, "--max-steps", &steps];
    all.extend(tasks.iter().flat_map(|task| ["--task", task]));
    all.extend(["--actor", "openai:actor", "--mentor", "openai:mentor", "--set", "mentor_at_once=false"]);
    all.extend(args);
    let lines = home.run(&server, &all);
    (server.take(), lines)
}

/// Returns the outlines of the mentor's prompts in order.
fn mentor_prompts(exchanges: &[Exchange]) -> Vec<String> {
    let goals = goals_of(exchanges);
    exchanges.iter().filter(|e| !e.is_actor()).map(|exchange| outline(exchange, &goals)).collect()
}

/// Returns the outlines of the actor's prompts in one attempt, and the numbers of the rules in each.
fn actor_prompts(exchanges: &[Exchange], world: &World, attempt: usize) -> Vec<(String, Vec<usize>)> {
    let goals = goals_of(exchanges);
    let all = exchanges.iter().filter(|e| e.is_actor());
    let steps = world.solution.len();
    let prompts = all.skip((attempt - 1) * steps).take(steps);
    prompts.map(|exchange| (outline(exchange, &goals), remembered(exchange))).collect()
}

/// Algorithm 1: a positive reflection after each step that reaches a subgoal, the last one included; the next step remembers it,
/// and after the success so does the next task.
#[test]
fn sweet_and_sour_reflects_where_a_step_makes_progress_in_every_environment() {
    for world in worlds() {
        let tasks = [world.solved_task, world.task];
        let args = ["--preset", "sweet-and-sour-2", "--trials", "1"];
        let (exchanges, lines) = play(world, &tasks, &[Won, Lost], &args);
        let steps: Vec<&Value> =
            lines.iter().filter(|line| line["type"] == "step" && line["episode"] == 1).collect();
        let progress: Vec<f64> = steps.iter().map(|step| step["progress"].as_f64().unwrap()).collect();
        let rises: Vec<usize> = (0..progress.len())
            .filter(|at| progress[*at] > at.checked_sub(1).map_or(0.0, |before| progress[before]))
            .collect();
        let name = world.solved_task;
        assert!(rises.len() >= 2 && progress.last() == Some(&1.0), "{name}: {progress:?}");

        let mut mentor = vec!["system: instruction; user: task, steps, question"];
        mentor.resize(rises.len(), "system: instruction; user: memory, task, steps, question");
        mentor.push("system: instruction; user: memory, task, steps, outcome, question");
        assert_eq!(mentor_prompts(&exchanges), mentor, "{name}");
        for exchange in exchanges.iter().filter(|e| !e.is_actor()) {
            assert_eq!(numbers(&exchange.sampling()), "max_tokens: 1024.000, temperature: 0.000", "{name}");
        }
        let prompts = actor_prompts(&exchanges, world, 1);
        for (step, (outline, rules)) in prompts.iter().enumerate() {
            let known = rises.iter().filter(|rise| **rise < step).count();
            assert_eq!(*rules, (1..=known).collect::<Vec<_>>(), "{name}, step {}", step + 1);
            assert_eq!(outline.contains("examples, memory, task"), known > 0, "{name}: {outline}");
        }
        let later = actor_prompts(&exchanges, world, 2);
        let all = (1..=rises.len()).collect::<Vec<_>>();
        assert!(later.iter().all(|(_, rules)| *rules == all), "{name}: {later:?}");
        // A memory is a tuple: its action and the progress that this made stand beside it.
        let first = exchanges.iter().filter(|e| e.is_actor()).nth(world.solution.len()).unwrap().text();
        for rise in &rises {
            let action = steps[*rise]["action"].as_str().unwrap();
            let gain = progress[*rise] - rise.checked_sub(1).map_or(0.0, |before| progress[before]);
            let tuple = format!("; action: {action}; reward: {})", (gain * 1000.0).round() / 1000.0);
            assert!(first.contains(&tuple), "{name}: {tuple:?} is missing in {first}");
        }
    }
}

/// Equations 2 to 7: an experience and a plan after the first failures, an experience, a tip from the pool and a plan after the
/// others, and a lesson for the pool when the task is solved.
#[test]
fn fcrf_asks_its_questions_in_the_order_of_the_paper_in_every_environment() {
    let experience = "system: instruction; user: failures, task, steps, outcome, cue";
    let plan = "system: instruction; user: failures, task, steps, outcome, memory, cue";
    let tip = "system: instruction; user: pool, failures, task, steps, outcome, question";
    let lesson = "system: instruction; user: attempt, task, steps, outcome, cue";
    for world in worlds() {
        let args = ["--method", "fcrf", "--as", "code", "--pool", "lessons.jsonl"];
        let (exchanges, _) = play(world, &[world.solved_task], &[Lost, Lost, Lost, Lost, Won], &args);
        // The code's table: 3 simple reflections for putting one thing somewhere, 2 for medium difficulty. A level of one's own has no
        // type, so its goal counts (pick up).
        let simple = if world.env == "pddl" { 2 } else { 3 };
        let mut mentor = Vec::new();
        for trial in 1..=4 {
            mentor.push(experience);
            if trial > simple {
                mentor.push(tip);
            }
            mentor.push(plan);
        }
        mentor.push(lesson);
        assert_eq!(mentor_prompts(&exchanges), mentor, "{}", world.solved_task);
        for exchange in exchanges.iter().filter(|e| !e.is_actor()) {
            assert_eq!(numbers(&exchange.sampling()), "max_tokens: 256.000, temperature: 0.000");
            let is_tip = outline(exchange, &goals_of(&exchanges)) == tip;
            assert_eq!(exchange.text().contains("A lesson of the pool."), is_tip, "{}", exchange.text());
        }
    }
}

/// ExpeL draws insights from a pair of attempts, and from successes; the next task sees both, and the success as its example.
#[test]
fn expel_draws_insights_from_pairs_and_successes_in_every_environment() {
    let plan = "system: instruction; user: failures, task, steps, outcome, cue";
    for world in worlds() {
        let args = ["--method", "expel", "--trials", "2", "--set", "success_batch=1"];
        let tasks = [world.solved_task, world.task];
        let (exchanges, _) = play(world, &tasks, &[Lost, Lost, Won, Lost], &args);
        let name = world.solved_task;
        assert_eq!(
            mentor_prompts(&exchanges),
            [
                plan,
                plan,
                "system: instruction; user: attempt, task, steps, cue",
                "system: instruction; user: task, steps, list, memory, cue",
            ],
            "{name}"
        );
        let (insights, own_plan) = ([3, 4], [2]);
        for (outline, rules) in actor_prompts(&exchanges, world, 4) {
            assert!(
                outline.starts_with("system: instruction; user: memory, examples, task"),
                "{name}: {outline}"
            );
            assert_eq!(rules, [&insights[..], &own_plan].concat(), "{name}");
        }
        let first = exchanges.iter().filter(|e| e.is_actor()).nth(3 * world.solution.len()).unwrap().text();
        let recalled = world.solution.iter().all(|action| first.contains(&format!("> {action}\n")));
        assert!(recalled, "{name}: the success isn't among the examples of {first}");
    }
}

/// RCI's three ways of improving an answer: the plan is criticised and written again, each action is fitted to the state, and one of
/// an unknown form is asked for again. Off, as in the public code, grounding changes no byte of a request.
#[test]
fn rci_plans_criticises_improves_and_fits_each_action_to_the_state_in_every_environment() {
    for world in worlds() {
        let requests = |args: &[&str], is_drafted: bool| {
            let actions = world.solution;
            let server = StandIn::start(move |model, prompt, earlier| {
                if model == "mentor" {
                    return format!("Rule {} of the mentor.", earlier + 1);
                }
                let after_task = prompt.rsplit("Your task is to: ").next().unwrap();
                let is_fitted = after_task.contains("Your draft of the next action:");
                let step = after_task.matches("\n> ").count() - usize::from(is_fitted);
                let hasty = if is_drafted && !is_fitted { "quickly " } else { "" };
                format!("{hasty}{}", actions[step])
            });
            let home = Home::new();
            let steps = actions.len().to_string();
            let run = [
                "run",
                "--env",
                world.env,
                "--task",
                world.solved_task,
                "--max-steps",
                &steps,
                "--method",
                "rci",
            ];
            // Actions of domains that write them in other ways than their instruction would be asked for again.
            let models = ["--actor", "openai:actor", "--mentor", "openai:mentor", "--set", "irci=0"];
            let lines = home.run(&server, &[&run[..], &models, args].concat());
            let verified = home.command(&["verify", "--last"]).output().unwrap();
            assert!(verified.status.success(), "{verified:?}");
            (server.take(), lines)
        };
        let (plain, _) = requests(&[], false);
        let (off, _) = requests(&["--set", "grounding=false"], false);
        let bodies = |exchanges: &[Exchange]| exchanges.iter().map(|e| e.body.clone()).collect::<Vec<_>>();
        assert_eq!(bodies(&plain), bodies(&off), "{}", world.env);

        let (exchanges, lines) = requests(&["--set", "grounding=true"], true);
        let name = world.solved_task;
        assert_eq!(
            mentor_prompts(&exchanges),
            [
                "system: instruction; user: examples, task, question",
                "system: instruction; user: examples, task, memory, question",
                "system: instruction; user: examples, task, memory, question",
            ],
            "{name}"
        );
        let actor = |exchanges: &[Exchange]| -> Vec<String> {
            let mut texts: Vec<String> =
                exchanges.iter().filter(|e| e.is_actor()).map(Exchange::text).collect();
            // A server whose reply is cut off by a stop sequence is asked once more with the same prompt.
            texts.dedup();
            texts
        };
        let (asked, grounded) = (actor(&plain), actor(&exchanges));
        assert_eq!((asked.len(), grounded.len()), (world.solution.len(), 2 * world.solution.len()), "{name}");
        for (step, pair) in grounded.chunks(2).enumerate() {
            assert_eq!(pair[0], asked[step], "{name}, step {}", step + 1);
            let draft = format!("\nYour draft of the next action:\n> quickly {}\n", world.solution[step]);
            let added = pair[1].strip_prefix(pair[0].strip_suffix('>').unwrap().trim_end_matches('\n'));
            let added = added.unwrap_or_else(|| panic!("{name}: {} isn't continued by {}", pair[0], pair[1]));
            assert!(added.starts_with(&draft) && added.ends_with("\n>"), "{name}: {added}");
        }
        // What ran is the fitted action.
        let ran =
            lines.iter().filter(|line| line["type"] == "step").map(|line| line["action"].as_str().unwrap());
        assert_eq!(ran.collect::<Vec<_>>(), world.solution, "{name}");
    }
}
