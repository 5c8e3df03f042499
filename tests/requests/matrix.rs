//! Each method in each environment: how often actor and mentor are called, with which sampling, what their prompts contain
//! in which order, and what later attempts remember.

use crate::outline::{goals_of, numbers, outline, outlines};
use crate::play;
use crate::stand_in::{Exchange, StandIn};
use crate::worlds::{World, worlds};
use retrospect::catalog::METHODS;
use serde_json::{Value, json};

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
    /// code. FCRF's code sends no `top_p`, and the papers of Sweet&Sour and ExpeL state none.
    actor_sampling: Value,
    mentor_sampling: Value,
}

pub(crate) const STEPS: usize = 3;

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
            actor_sampling: line(without_top_p(256)),
            mentor_sampling: without_top_p(1024),
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
        Expected {
            method: "rci",
            args: &["--as", "paper"],
            trials: 1,
            actor: vec![
                (1, "system: instruction; user: examples, task, memory, cue"),
                (STEPS - 1, "system: instruction; user: examples, task, memory, steps, cue"),
            ],
            mentor: vec![
                (1, "system: instruction; user: examples, task, question"),
                (2, "system: instruction; user: examples, task, memory, question"),
            ],
            actor_sampling: line(without_top_p(256)),
            mentor_sampling: without_top_p(1024),
        },
        Expected {
            method: "dora",
            args: &["--set", "n_init=1", "--set", "rounds=0"],
            // The attempts of one evaluation.
            trials: 1,
            actor: vec![
                (1, "system: instruction; user: examples, task, cue"),
                (STEPS - 1, "system: instruction; user: examples, task, steps, cue"),
                (2, "system: instruction; user: examples, task, memory, cue"),
                (2 * (STEPS - 1), "system: instruction; user: examples, task, memory, steps, cue"),
            ],
            mentor: vec![
                (1, "system: instruction; user: task, steps, outcome, question"),
                (2, "system: instruction; user: task, steps, outcome, memory, question"),
            ],
            actor_sampling: line(without_top_p(256)),
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
pub(crate) fn server_for(world: &'static World, method: &str) -> StandIn {
    let is_list = method == "omnireflect";
    let plan = (method == "planning").then(|| world.actions.join("\n"));
    StandIn::start(move |model, _, earlier| match (model, &plan) {
        ("actor", _) => world.actions[earlier % world.actions.len()].to_owned(),
        (_, Some(plan)) => plan.clone(),
        _ if is_list => format!("[\"Rule {} of the mentor.\"]", earlier + 1),
        _ => format!("Rule {} of the mentor.", earlier + 1),
    })
}

#[test]
fn every_method_sends_the_requests_of_its_paper_in_every_environment() {
    let mut problems = Vec::new();
    for method in METHODS.iter() {
        assert!(expected().iter().any(|e| e.method == method.name), "{} isn't in the matrix", method.name);
    }
    for world in worlds() {
        for expected in expected() {
            let (trials, steps) = (expected.trials.to_string(), STEPS.to_string());
            let server = server_for(world, expected.method);
            let own = ["--method", expected.method, "--trials", &trials, "--max-steps", &steps];
            let exchanges = play(&server, world, &[&own, expected.args].concat());
            let (actor, mentor): (Vec<_>, Vec<_>) = exchanges.iter().partition(|e| e.is_actor());
            let goals = goals_of(&exchanges);
            let mut check = |what: &str, is: String, should: String| {
                if is != should {
                    let place = format!("{} {} in {}", expected.method, expected.args[1], world.task);
                    problems.push(format!("{place}: {what}\n  is     {is}\n  should {should}"));
                }
            };
            let listed = |outlines: &[(usize, &str)]| format!("{outlines:?}");
            let sent = |prompts: &[&Exchange]| format!("{:?}", outlines(prompts, &goals));
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
        let last = outline(exchanges.last().unwrap(), &goals_of(&exchanges));
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

/// Regression: without a preset, every method sent OmniReflect's `top_p`, although its own paper states none.
#[test]
fn a_method_whose_paper_states_no_top_p_sends_none() {
    let world = worlds().into_iter().find(|world| world.env == "household").unwrap();
    for method in METHODS.iter() {
        let server = server_for(world, method.name);
        let mut args = vec![
            "--method",
            method.name,
            "--trials",
            "2",
            "--max-steps",
            "3",
            "--set",
            "loop_detector=false",
        ];
        // Such as one evaluation instead of 46.
        let short = method.dry_run_settings.iter().map(|(name, value)| format!("{name}={}", value.to_json()));
        let short: Vec<String> = short.collect();
        args.extend(short.iter().flat_map(|setting| ["--set", setting]));
        let exchanges = play(&server, world, &args);
        assert!(!exchanges.is_empty(), "{}", method.name);
        for exchange in &exchanges {
            let expected = method.states_top_p.then(|| json!(0.7));
            assert_eq!(exchange.sampling().get("top_p").cloned(), expected, "{}", method.name);
        }
    }
    // Somebody's own value stays.
    let server = server_for(world, "react");
    for exchange in
        play(&server, world, &["--method", "react", "--max-steps", "2", "--set", "actor.top_p=0.5"])
    {
        assert_eq!(exchange.sampling()["top_p"], 0.5);
    }
}
