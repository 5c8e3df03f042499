//! Prints the tables about the built-in actor for the README and `docs/STAND_IN.md`: `cargo bench --bench
//! stand_in_table` for the household, `-- --env babyai` or `-- --env pddl` for the other two environments.
//!
//! The actor is a stand-in for a language model: the table shows that lessons reach an actor and change what it does,
//! but says nothing about models. The games run through engine, prompt and environment as in a real run, without disk
//! or screen. They use the table seeds, on which the actor's rates were never tuned.
//!
//! Options: `--tuning` plays the tuning seeds, `--games N` plays fewer games, `--from N` starts with another seed,
//! `--difficulty easy|normal|hard` selects other games, `--lesson SENTENCE` (repeatable) replaces the lessons, `--show`
//! prints the first game.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "this program prints its results, and may panic"
)]

#[path = "../tests/rig/run.rs"]
mod run;

use retrospect::catalog::rule_based_replies;
use retrospect::domain::Interface;
use retrospect::domain::{EpisodeSummary, LessonText, Limits, ReflectionKind, RunSpec, Scope, Task, Usage};
use retrospect::driver::worlds;
use retrospect::engine::{Command, Effect, Engine, Envelope, Input, LessonCommand, Reply};
use retrospect::env::Environment;
use retrospect::env::TaskOptions;
use retrospect::env::babyai::Level;
use retrospect::env::household::{Difficulty, TaskId, TaskKind as HouseholdKind};
use retrospect::env::pddl::Domain;
use retrospect::prompt::render;
use retrospect::stand_in::{TABLE_SEEDS, TUNING_SEEDS, answer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An environment with a table.
#[derive(Clone, Copy, PartialEq)]
enum World {
    Household,
    Babyai,
    Pddl,
}

impl World {
    fn from_word(word: &str) -> Option<Self> {
        [Self::Household, Self::Babyai, Self::Pddl].into_iter().find(|w| w.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Household => "household",
            Self::Babyai => "babyai",
            Self::Pddl => "pddl",
        }
    }

    /// Returns the three typed lessons of the table. They name no numbered object and are the same for every game.
    fn lessons(self) -> [&'static str; 3] {
        match self {
            Self::Household => [
                "Do not repeat an action that did nothing.",
                "Take only the object that the task names.",
                "Look inside closed containers too.",
            ],
            Self::Babyai => [
                "Say \"pickup\", never \"pick up\".",
                "Toggle a closed door before you go through it.",
                "Do not turn round more than once.",
            ],
            Self::Pddl => [
                "Carry a ball in each hand before you move to another room.",
                "Put a block that is in the way on the table.",
                "Leave what you hold on the table between tasks.",
            ],
        }
    }

    /// Returns the game of a seed. The seeds cycle through the kinds of task, the levels of AgentBoard's test split, or
    /// the four PDDL domains.
    fn task(self, seed: u64, difficulty: Difficulty) -> Task {
        let number = u32::try_from(seed).expect("seeds are small");
        let kind_index = |count: usize| usize::try_from(seed).expect("seeds are small") % count;
        let id = match self {
            Self::Household => {
                let kind = HouseholdKind::ALL[kind_index(HouseholdKind::ALL.len())];
                TaskId { difficulty, kind, seed: number }.to_string()
            }
            Self::Babyai => {
                let levels: Vec<&Level> = Level::all().iter().filter(|level| level.in_test_split).collect();
                format!("{}/{seed}", levels[kind_index(levels.len())].name)
            }
            Self::Pddl => {
                format!(
                    "{}/{}/{number}",
                    Domain::ALL[kind_index(Domain::ALL.len())].word(),
                    difficulty.word()
                )
            }
        };
        worlds::find(self.word(), &id, &TaskOptions::default()).expect("a known task")
    }
}

const STEP_LIMIT: u32 = 50;

/// A row of the table.
struct Row<'a> {
    title: &'static str,
    method: &'static str,
    lessons: &'a [String],
    /// Whether all games are one run, so that lessons learned in one game are used in the next ones.
    one_run: bool,
}

struct Options {
    seeds: std::ops::Range<u64>,
    games: usize,
    difficulty: Difficulty,
    world: World,
    lessons: Vec<String>,
    show: bool,
}

fn main() {
    let options = options();
    let seeds: Vec<u64> = options.seeds.clone().take(options.games).collect();
    let tasks: Vec<Task> = seeds.iter().map(|seed| options.world.task(*seed, options.difficulty)).collect();
    let rows = [
        Row { title: "no reflection", method: "react", lessons: &[], one_run: false },
        Row {
            title: "symbolic reflection, each game a run of its own",
            method: "omnireflect",
            lessons: &[],
            one_run: false,
        },
        Row {
            title: "symbolic reflection, all games one run",
            method: "omnireflect",
            lessons: &[],
            one_run: true,
        },
        Row {
            title: "three typed lessons, no reflection",
            method: "react",
            lessons: &options.lessons,
            one_run: false,
        },
    ];
    println!(
        "The built-in rules actor, a stand-in for a model (not a model): {} generated {} tasks",
        tasks.len(),
        options.world.word()
    );
    println!(
        "(`{}`, seeds {} to {}, {STEP_LIMIT} steps).\n",
        if options.world == World::Babyai { "levels of the test split" } else { options.difficulty.word() },
        seeds[0],
        seeds[seeds.len() - 1]
    );
    println!("| | success | steps to the end |\n|---|---|---|");
    let mut by_kind = Vec::new();
    for row in &rows {
        let played: Vec<EpisodeSummary> = if row.one_run {
            run_all(&tasks, row.method, row.lessons, false)
        } else {
            tasks
                .iter()
                .enumerate()
                .map(|(n, task)| play(task, row.method, row.lessons, options.show && n == 0))
                .collect()
        };
        let won = played.iter().filter(|e| e.won).count();
        let (low, high) = wilson(won, played.len());
        let steps: Vec<f64> = played.iter().map(|e| f64::from(e.steps)).collect();
        let (few, many) = bootstrap(&steps);
        println!(
            "| {} | {:.0} % ({:.0} to {:.0}) | {:.1} ({few:.1} to {many:.1}) |",
            row.title,
            100.0 * share(won, played.len()),
            100.0 * low,
            100.0 * high,
            mean(&steps),
        );
        by_kind.push((row.title, wins_by_kind(&played)));
    }
    println!(
        "\nIn brackets: 95 % intervals (Wilson for success, bootstrap over games for steps; a lost game counts its {STEP_LIMIT} steps)."
    );
    println!("Lessons: {}\n", options.lessons.iter().map(|l| format!("“{l}”")).collect::<Vec<_>>().join(" "));
    for (title, kinds) in by_kind {
        println!("{title}: {kinds}");
    }
}

fn options() -> Options {
    let mut options = Options {
        seeds: TABLE_SEEDS,
        games: 200,
        difficulty: Difficulty::Normal,
        world: World::Household,
        lessons: Vec::new(),
        show: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tuning" => options.seeds = TUNING_SEEDS,
            "--games" => {
                options.games =
                    arguments.next().and_then(|n| n.parse().ok()).expect("--games takes a number");
            }
            "--from" => {
                options.seeds.start =
                    arguments.next().and_then(|n| n.parse().ok()).expect("--from takes a seed");
            }
            "--env" => {
                let word = arguments.next().unwrap_or_default();
                options.world = World::from_word(&word).expect("--env takes household, babyai or pddl");
            }
            "--difficulty" => {
                let word = arguments.next().unwrap_or_default();
                let known = Difficulty::ALL.into_iter().find(|d| d.word() == word);
                options.difficulty = known.expect("--difficulty takes easy, normal or hard");
            }
            "--lesson" => options.lessons.extend(arguments.next()),
            "--show" => options.show = true,
            // Cargo passes `--bench`.
            _ => {}
        }
    }
    if options.lessons.is_empty() {
        options.lessons = options.world.lessons().map(str::to_owned).to_vec();
    }
    options
}

/// Plays one game as a run of its own.
fn play(task: &Task, method: &str, lessons: &[String], show: bool) -> EpisodeSummary {
    run_all(std::slice::from_ref(task), method, lessons, show).pop().expect("one task, one episode")
}

/// Plays these tasks as one run.
fn run_all(tasks: &[Task], method: &str, lessons: &[String], show: bool) -> Vec<EpisodeSummary> {
    let spec = RunSpec {
        // The household's table uses the `raw` interface. The others need `react`, which answers thoughts itself.
        interface: if tasks[0].env == "household" { Interface::Raw } else { Interface::React },
        limits: Limits { steps: STEP_LIMIT, moves: None, wall_seconds: None },
        ..run::spec(method, tasks.to_vec())
    };
    let policy = retrospect::catalog::build_policy(&spec, Arc::new(retrospect::catalog::builtin_templates()))
        .expect("a known method");
    let mut engine = Engine::new(policy);
    let pool = lessons
        .iter()
        .map(|text| {
            let add = LessonCommand::add(
                ReflectionKind::Abstract,
                Scope::Environment,
                LessonText::plain(text),
                String::new(),
            );
            ("typed".to_owned(), add)
        })
        .collect();
    let start = Command::Start {
        session: "table".to_owned(),
        spec: Box::new(spec),
        pool,
        replay_start: None,
        breakpoints: Vec::new(),
    };
    feed(&mut engine, &Input::Command(start));
    feed(&mut engine, &Input::Command(Command::Run));
    let mut world: Option<Box<dyn Environment>> = None;
    while let Some(effect) = engine.state.calls.values().next().cloned() {
        let reply = reply_to(&engine, &mut world, effect, show);
        feed(&mut engine, &Input::Reply(reply));
    }
    engine.state.ended_episodes.iter().map(|e| EpisodeSummary::clone(e)).collect()
}

/// Executes a call as the driver would.
fn reply_to(engine: &Engine, world: &mut Option<Box<dyn Environment>>, effect: Effect, show: bool) -> Reply {
    match effect {
        Effect::ResetWorld { call, task } => {
            let mut opened = worlds::open(&task, &TaskOptions::default()).expect("every game opens");
            let result = opened.reset().expect("every game starts");
            *world = Some(opened);
            Reply::World { call, result: Box::new(result), admissible: Vec::new() }
        }
        Effect::StepWorld { call, action, .. } => {
            let world = world.as_mut().expect("a world is open");
            let result = world.step(&action).expect("a step never fails");
            if show {
                println!("> {action}\n  {}", result.observation);
            }
            Reply::World { call, result: Box::new(result), admissible: Vec::new() }
        }
        Effect::Ask { call, prompt } => {
            let seed = prompt.seed;
            let environments =
                engine.state.run.iter().flat_map(|run| &run.tasks).map(|task| task.env.as_str());
            let text = answer(&rule_based_replies(environments), &render(&engine.state, &prompt), seed);
            Reply::Model {
                tool_calls: Vec::new(),
                truncated: None,
                call,
                text,
                reasoning: String::new(),
                usage: Usage::default(),
            }
        }
        other @ (Effect::Compute { .. } | Effect::Cancel { .. }) => unreachable!("{other:?}"),
    }
}

fn feed(engine: &mut Engine, input: &Input) {
    let mut events = engine.decide(input).expect("an accepted input");
    while !events.is_empty() {
        for (cause, event) in events {
            let seq = retrospect::domain::Seq(engine.state.head.0 + 1);
            engine.state.apply(&Envelope {
                seq,
                timestamp: jiff::Timestamp::UNIX_EPOCH,
                cause,
                batch_continues: false,
                event,
            });
        }
        events = engine.advance();
    }
}

/// Returns the number of won and played games of each kind, as text.
fn wins_by_kind(played: &[EpisodeSummary]) -> String {
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for episode in played {
        let (won, all) = kinds.entry(episode.task.task_type.as_deref().unwrap_or("-")).or_default();
        *won += usize::from(episode.won);
        *all += 1;
    }
    kinds.iter().map(|(kind, (won, all))| format!("{kind} {won}/{all}")).collect::<Vec<_>>().join(", ")
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns Wilson's score interval at 95 %.
fn wilson(won: usize, total: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let n = total.max(1) as f64;
    let p = won as f64 / n;
    let center = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((center - spread) / scale, (center + spread) / scale)
}

/// Returns the 95 % interval of the mean over 2,000 resamples, with a fixed seed.
fn bootstrap(values: &[f64]) -> (f64, f64) {
    let mut state = 20_261_120_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut means: Vec<f64> = (0..2_000)
        .map(|_| values.iter().map(|_| values[next() % values.len()]).sum::<f64>() / values.len() as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    (means[50], means[1_949])
}
