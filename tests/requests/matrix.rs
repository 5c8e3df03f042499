//! Each method in each environment: how often actor and mentor are called, with which sampling, what their prompts contain
//! in which order, and what later attempts remember.

use crate::stand_in::{Exchange, StandIn};
use crate::{WORLDS, World, play};
use serde_json::{Value, json};
use std::path::Path;

/// A method with the settings of its public code, or of a row of its paper.
struct Expected {
    method: &'static str,
    args: &'static [&'static str],
    /// Failed attempts at one task, of [`STEPS`] steps each.
    trials: usize,
    /// The outlines of the prompts to the actor, and to the mentor, each with the number of prompts that have it; see
    /// [`outline`].
    actor: Vec<(usize, &'static str)>,
    mentor: Vec<(usize, &'static str)>,
    /// What the requests say about sampling. OmniReflect's is in its section 4.1, that of others in their public
    /// code. FCRF's code sends no `top_p`, and Sweet&Sour's paper states none.
    actor_sampling: Value,
    mentor_sampling: Value,
}

const STEPS: usize = 3;

fn expected() -> Vec<Expected> {
    let sampling =
        |top_p: f64, max_tokens: u32| json!({"temperature": 0.0, "top_p": top_p, "max_tokens": max_tokens});
    let without_top_p = |max_tokens: u32| json!({"temperature": 0.0, "max_tokens": max_tokens});
    let with = |mut sampling: Value, more: Value| {
        sampling.as_object_mut().unwrap().append(more.clone().as_object_mut().unwrap());
        sampling
    };
    let line = |sampling: Value| with(sampling, json!({"stop": ["\n"]}));
    let omnireflect =
        |max_tokens| with(sampling(0.7, max_tokens), json!({"top_k": 50, "repetition_penalty": 1.0}));
    vec![
        Expected {
            method: "react",
            args: &["--as", "code"],
            trials: 1,
            actor: vec![
                (1, "system: instruction, examples; user: task, cue"),
                (STEPS - 1, "system: instruction, examples; user: task, steps, cue"),
            ],
            mentor: vec![],
            actor_sampling: line(sampling(1.0, 100)),
            mentor_sampling: Value::Null,
        },
        Expected {
            method: "reflexion",
            args: &["--as", "code"],
            trials: 5,
            actor: memories_from_the_second_trial(5),
            // One plan for each trial (the code reflects after the last one as well), from the second on with the earlier
            // ones.
            mentor: vec![
                (1, "system: instruction; user: failures, task, steps, outcome, cue"),
                (4, "system: instruction; user: failures, task, steps, outcome, memory, cue"),
            ],
            actor_sampling: line(sampling(1.0, 256)),
            mentor_sampling: sampling(1.0, 256),
        },
        Expected {
            method: "omnireflect",
            args: &["--preset", "omnireflect-1-neural"],
            trials: 1,
            actor: vec![
                (1, "system: instruction, examples; user: task, cue"),
                (STEPS - 1, "system: instruction, memory, examples; user: task, steps, cue"),
            ],
            // Three kinds after the first step; the next are due after the eleventh. Each sees what the ones before it wrote.
            mentor: vec![
                (1, "system: instruction; user: task, steps, question"),
                (2, "system: instruction; user: memory, task, steps, question"),
            ],
            actor_sampling: line(omnireflect(256)),
            mentor_sampling: omnireflect(1024),
        },
        Expected {
            method: "omnireflect",
            args: &["--preset", "omnireflect-1-neuro-symbolic"],
            trials: 1,
            actor: vec![
                (1, "system: instruction, examples; user: task, cue"),
                (STEPS - 1, "system: instruction, memory, examples; user: task, steps, cue"),
            ],
            mentor: vec![
                (1, "system: instruction; user: exemplars, task, steps, question"),
                (2, "system: instruction; user: exemplars, memory, task, steps, question"),
            ],
            actor_sampling: line(omnireflect(256)),
            mentor_sampling: omnireflect(1024),
        },
        Expected {
            method: "fcrf",
            args: &["--as", "code"],
            trials: 3,
            actor: memories_from_the_second_trial(3),
            // An experience, and a plan that is written with it, for each trial.
            mentor: vec![
                (3, "system: instruction; user: failures, task, steps, outcome, cue"),
                (3, "system: instruction; user: failures, task, steps, outcome, memory, cue"),
            ],
            actor_sampling: line(without_top_p(256)),
            mentor_sampling: without_top_p(256),
        },
        Expected {
            method: "sweet_sour",
            args: &["--preset", "sweet-and-sour-2"],
            trials: 3,
            actor: memories_from_the_second_trial(3),
            mentor: vec![
                (1, "system: instruction; user: task, steps, outcome, question"),
                (2, "system: instruction; user: memory, task, steps, outcome, question"),
            ],
            actor_sampling: line(without_top_p(256)),
            mentor_sampling: without_top_p(1024),
        },
        Expected {
            method: "expel",
            args: &["--as", "paper"],
            trials: 3,
            actor: memories_from_the_second_trial(3),
            // A plan between the trials, as Reflexion's.
            mentor: vec![
                (1, "system: instruction; user: failures, task, steps, outcome, cue"),
                (1, "system: instruction; user: failures, task, steps, outcome, memory, cue"),
            ],
            actor_sampling: line(sampling(0.7, 256)),
            mentor_sampling: sampling(0.7, 1024),
        },
        Expected {
            method: "planning",
            args: &["--preset", "fcrf-1-planning"],
            trials: 2,
            actor: vec![],
            mentor: vec![(2, "system: instruction; user: examples, task, question")],
            actor_sampling: Value::Null,
            mentor_sampling: without_top_p(1024),
        },
    ]
}

/// The prompts to the actor of a method whose memories are written after each failed trial.
fn memories_from_the_second_trial(trials: usize) -> Vec<(usize, &'static str)> {
    vec![
        (1, "system: instruction; user: examples, task, cue"),
        (STEPS - 1, "system: instruction; user: examples, task, steps, cue"),
        (trials - 1, "system: instruction; user: examples, memory, task, cue"),
        ((trials - 1) * (STEPS - 1), "system: instruction; user: examples, memory, task, steps, cue"),
    ]
}

/// Starts a server that acts as an environment's actor, and numbers the mentor's replies.
fn server_for(world: &'static World, method: &str) -> StandIn {
    let is_list = method == "omnireflect";
    let plan = (method == "planning").then(|| world.actions.join("\n"));
    StandIn::start(move |model, _, earlier| match (model, &plan) {
        ("actor", _) => world.actions[earlier % world.actions.len()].to_owned(),
        (_, Some(plan)) => plan.clone(),
        _ if is_list => format!("[\"Rule {} of the mentor.\"]", earlier + 1),
        _ => format!("Rule {} of the mentor.", earlier + 1),
    })
}

/// Returns the parts of a prompt in order, with the role of the message in which each begins. What asks for the reply is
/// `cue` if it is a line of a few words, else `question`.
fn outline(exchange: &Exchange, world: &World, goal: &str) -> String {
    let text = exchange.text();
    let task = text.rfind(goal).unwrap_or_else(|| panic!("the goal {goal:?} is missing:\n{text}"));
    let after_task = |words: &str| text[task..].find(words).map(|at| task + at);
    let memory = text.find("of the mentor.");
    // Lists that only rules have written to.
    let lists =
        || ["Mistakes made so far", "Your progress so far"].iter().find_map(|heading| text.find(heading));
    let mut parts: Vec<(&str, usize)> = [
        ("examples", text.find("Solved tasks ")),
        ("failures", text.find("attempts, each followed by")),
        ("memory", memory),
        ("exemplars", text.find("; follow its style:").or_else(|| text.find("; follow their style:"))),
        ("rules", if memory.is_some() { None } else { lists() }),
        ("task", Some(task)),
        ("steps", after_task(&format!("> {}\n", world.actions[0]))),
        ("outcome", after_task("STATUS: FAIL")),
    ]
    .into_iter()
    .filter_map(|(name, at)| Some((name, at?)))
    .collect();
    parts.sort_by_key(|(_, at)| *at);
    let (first, last) = (parts[0].1, parts[parts.len() - 1].1);
    if text[..first].split_whitespace().count() > 10 {
        parts.insert(0, ("instruction", 0));
    }
    let end = text.trim_end();
    let asks = end.rfind('\n').map_or(0, |at| at + 1);
    let words = end[asks..].split_whitespace().count();
    if asks > last && (words <= 3 || end[last..].contains("\n\n")) {
        parts.push((if words <= 3 { "cue" } else { "question" }, asks));
    }
    let (mut messages, mut begins) = (Vec::new(), 0);
    for (role, content) in exchange.messages() {
        let ends = begins + content.len();
        let here = parts.iter().filter(|(_, at)| (begins..ends).contains(at));
        let names: Vec<&str> = here.map(|(name, _)| *name).collect();
        messages.push(format!("{role}: {}", names.join(", ")));
        begins = ends;
    }
    messages.join("; ")
}

/// Returns the outlines of prompts in the order of their first appearance, each with the number of prompts that have it.
fn outlines(prompts: &[&Exchange], world: &World, goal: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for outline in prompts.iter().map(|prompt| outline(prompt, world, goal)) {
        match found.iter_mut().find(|(_, known)| *known == outline) {
            Some((count, _)) => *count += 1,
            None => found.push((1, outline)),
        }
    }
    found
}

/// Returns the goal as the last prompt says it.
fn goal_of(exchanges: &[Exchange]) -> String {
    let text = exchanges[0].text();
    let goal = text.rsplit("Your task is to: ").next().unwrap();
    goal.lines().next().unwrap().trim().to_owned()
}

/// Returns the environments, with a game of ALFWorld where the data is present.
fn worlds() -> Vec<&'static World> {
    let mut worlds: Vec<&World> = WORLDS.iter().collect();
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let all = std::fs::read_dir(games).ok();
    let game = all.and_then(|all| all.map(|game| game.unwrap().path()).min());
    match game {
        Some(game) => worlds.push(Box::leak(Box::new(World {
            env: "alfworld",
            task: game.join("game.tw-pddl").to_str().unwrap().to_owned().leak(),
            actions: ["inventory", "look", "inventory"],
        }))),
        None => eprintln!("skipped ALFWorld: its games are absent"),
    }
    worlds
}

#[test]
fn every_method_sends_the_requests_of_its_paper_in_every_environment() {
    let mut problems = Vec::new();
    for world in worlds() {
        for expected in expected() {
            let (trials, steps) = (expected.trials.to_string(), STEPS.to_string());
            let server = server_for(world, expected.method);
            let own = ["--method", expected.method, "--trials", &trials, "--max-steps", &steps];
            let exchanges = play(&server, world, &[&own, expected.args].concat());
            let (actor, mentor): (Vec<_>, Vec<_>) = exchanges.iter().partition(|e| e.is_actor());
            let goal = goal_of(&exchanges);
            let mut check = |what: &str, is: String, should: String| {
                if is != should {
                    let place = format!("{} {} in {}", expected.method, expected.args[1], world.task);
                    problems.push(format!("{place}: {what}\n  is     {is}\n  should {should}"));
                }
            };
            // Sweet&Sour also reflects where a step makes progress, which depends on the environment.
            let is_positive = |e: &&Exchange| e.text().contains("why the last action worked");
            let mentor: Vec<&Exchange> = mentor.into_iter().filter(|e| !is_positive(e)).collect();
            let listed = |outlines: &[(usize, &str)]| format!("{outlines:?}");
            let sent = |prompts: &[&Exchange]| format!("{:?}", outlines(prompts, world, &goal));
            check("actor prompts", sent(&actor), listed(&expected.actor));
            check("mentor prompts", sent(&mentor), listed(&expected.mentor));
            for exchange in &actor {
                check("actor sampling", numbers(&exchange.sampling()), numbers(&expected.actor_sampling));
            }
            for exchange in &mentor {
                check("mentor sampling", numbers(&exchange.sampling()), numbers(&expected.mentor_sampling));
            }
        }
    }
    problems.dedup();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Symbolic generation asks no mentor; what the rules write stands where a mentor's lessons would.
#[test]
fn rules_reflect_without_a_mentor_in_every_environment() {
    for world in worlds() {
        let args = ["--preset", "omnireflect-1-symbolic", "--mentor", "symbolic", "--max-steps", "8"];
        // The same action over and over is a mistake everywhere.
        let server = StandIn::start(|_, _, earlier| world.actions[usize::from(earlier > 0)].to_owned());
        let exchanges = play(&server, world, &args);
        assert!(exchanges.iter().all(Exchange::is_actor), "{}", world.task);
        let last = outline(exchanges.last().unwrap(), world, &goal_of(&exchanges));
        assert_eq!(last, "system: instruction, rules, examples; user: task, steps, cue", "{}", world.task);
        assert_eq!(
            numbers(&exchanges[0].sampling()),
            numbers(&json!({
                "temperature": 0.0, "top_p": 0.7, "max_tokens": 256, "top_k": 50, "repetition_penalty": 1.0, "stop": ["\n"]
            })),
            "{}",
            world.task
        );
    }
}

/// Writes parameters with every number as a decimal: 1 and 1.0 are the same.
fn numbers(sampling: &Value) -> String {
    let parameters = sampling.as_object().into_iter().flatten();
    let written = parameters.map(|(name, value)| match value.as_f64() {
        Some(number) => format!("{name}: {number:.3}"),
        None => format!("{name}: {value}"),
    });
    written.collect::<Vec<_>>().join(", ")
}

/// The numbers of the mentor's replies that a prompt contains, in order.
fn remembered(exchange: &Exchange) -> Vec<usize> {
    let text = exchange.text();
    let rules = text.match_indices("Rule ").filter_map(|(at, _)| {
        let (number, rest) = text[at + 5..].split_once(' ')?;
        rest.starts_with("of the mentor.").then(|| number.parse().unwrap())
    });
    rules.collect()
}

/// Plays some attempts and returns what the first prompt of each remembers.
fn memories(method: &'static str, trials: usize, args: &[&str]) -> Vec<Vec<usize>> {
    let world = &WORLDS[0];
    let (trials, steps) = (trials.to_string(), STEPS.to_string());
    let own = ["--method", method, "--trials", &trials, "--max-steps", &steps];
    let exchanges = play(&server_for(world, method), world, &[&own, args].concat());
    exchanges.iter().filter(|e| e.is_actor()).step_by(STEPS).map(remembered).collect()
}

#[test]
fn an_attempt_remembers_what_the_papers_say() {
    // Reflexion's code shows the last three plans.
    assert_eq!(
        memories("reflexion", 5, &["--as", "code"]),
        [vec![], vec![1], vec![1, 2], vec![1, 2, 3], vec![2, 3, 4]]
    );
    // FCRF's memories have the experience and the plan of each attempt.
    assert_eq!(
        memories("fcrf", 5, &["--as", "code"]),
        [vec![], vec![1, 2], vec![1, 2, 3, 4], vec![1, 2, 3, 4, 5, 6], vec![3, 4, 5, 6, 7, 8]]
    );
    // Sweet&Sour's long-term memory has no limit in the paper.
    assert_eq!(
        memories("sweet_sour", 4, &["--preset", "sweet-and-sour-2"]),
        [vec![], vec![1], vec![1, 2], vec![1, 2, 3]]
    );
    assert_eq!(memories("react", 1, &[]), [Vec::<usize>::new()]);
}

/// Abstract and Error lessons stay; a Progress lesson is replaced by the next one (Algorithm 1 keeps it for the episode).
#[test]
fn a_constitution_grows_within_an_episode() {
    let world = &WORLDS[0];
    let args =
        ["--method", "omnireflect", "--set", "generation=neural", "--set", "r_freq=2", "--max-steps", "4"];
    let exchanges = play(&server_for(world, "omnireflect"), world, &args);
    let prompts: Vec<Vec<usize>> = exchanges.iter().filter(|e| e.is_actor()).map(remembered).collect();
    let mut sorted = prompts.clone();
    for rules in &mut sorted {
        rules.sort_unstable();
    }
    assert!(sorted[0].is_empty(), "{prompts:?}");
    assert_eq!(sorted[1], [1, 2, 3], "{prompts:?}");
    assert_eq!(sorted[3].len(), 5, "two of each lasting kind, and the newer Progress: {prompts:?}");
}
