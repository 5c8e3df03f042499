//! Makes the tables about the built-in actor, in the README and in `docs/STAND_IN.md`: `cargo bench --bench stand_in_table`
//! for the household, with `-- --env babyai` or `-- --env pddl` for the other two worlds.
//!
//! The actor is a stand-in for a language model, so the table shows that lessons reach an actor and change what it does; it
//! says nothing about models. Everything goes the way of a real run, engine, prompt and world, without disk or screen.
//! The games are those of the table seeds, which the actor's rates were never tuned on; `--tuning` plays tuning seeds
//! instead, `--games N` plays fewer, `--from N` begins with another seed, `--difficulty easy|normal|hard` other rooms, `--lesson SENTENCE` (repeatable) another
//! set of lessons, `--show` prints the first game.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a program for people, which stops where it cannot go on"
)]

#[path = "../tests/rig/run.rs"]
mod run;

use retrospect::domain::{EpisodeSummary, LessonText, Limits, ReflectionKind, RunSpec, Scope, Task, Usage};
use retrospect::driver::worlds::{self, WorldOptions};
use retrospect::engine::{Command, Effect, Engine, Envelope, Input, LessonCommand, Reply};
use retrospect::env::Environment;
use retrospect::env::babyai::Level;
use retrospect::env::household::{Difficulty, TaskId, TaskKind as HouseholdKind};
use retrospect::env::pddl::Domain;
use retrospect::prompt::{Templates, render};
use retrospect::provider::rules::{TABLE_SEEDS, TUNING_SEEDS, answer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A world of the tables.
#[derive(Clone, Copy, PartialEq)]
enum World {
    Household,
    Babyai,
    Pddl,
}

impl World {
    fn of(word: &str) -> Option<Self> {
        [Self::Household, Self::Babyai, Self::Pddl].into_iter().find(|w| w.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Household => "household",
            Self::Babyai => "babyai",
            Self::Pddl => "pddl",
        }
    }

    /// The three lessons of the table: they name no numbered thing and are the same for every game.
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

    /// The game of a seed. Kinds of task (in grids the levels of AgentBoard's test split, in planning the four domains) take turns.
    fn task(self, seed: u64, difficulty: Difficulty) -> Task {
        let number = u32::try_from(seed).expect("seeds are small");
        let turn = |many: usize| usize::try_from(seed).expect("seeds are small") % many;
        let id = match self {
            Self::Household => {
                let kind = HouseholdKind::ALL[turn(HouseholdKind::ALL.len())];
                TaskId { difficulty, kind, seed: number }.to_string()
            }
            Self::Babyai => {
                let levels: Vec<&Level> = Level::all().iter().filter(|level| level.in_test_split).collect();
                format!("{}/{seed}", levels[turn(levels.len())].name)
            }
            Self::Pddl => {
                format!("{}/{}/{number}", Domain::ALL[turn(Domain::ALL.len())].word(), difficulty.word())
            }
        };
        worlds::find(self.word(), &id, &WorldOptions::default()).expect("our own names")
    }
}

const CAP: u32 = 50;

/// One line of the table.
struct Arm<'a> {
    title: &'static str,
    method: &'static str,
    lessons: &'a [String],
    /// All games are one run, so that what was learnt in one is known in the next.
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
    let arms = [
        Arm { title: "no reflection", method: "react", lessons: &[], one_run: false },
        Arm {
            title: "symbolic reflection, each game a run of its own",
            method: "omnireflect",
            lessons: &[],
            one_run: false,
        },
        Arm {
            title: "symbolic reflection, all games one run",
            method: "omnireflect",
            lessons: &[],
            one_run: true,
        },
        Arm {
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
        "(`{}`, seeds {} to {}, {CAP} steps).\n",
        if options.world == World::Babyai { "levels of the test split" } else { options.difficulty.word() },
        seeds[0],
        seeds[seeds.len() - 1]
    );
    println!("| | success | steps to the end |\n|---|---|---|");
    let mut by_kind = Vec::new();
    for arm in &arms {
        let played: Vec<EpisodeSummary> = if arm.one_run {
            run_all(&tasks, arm.method, arm.lessons, false)
        } else {
            tasks
                .iter()
                .enumerate()
                .map(|(n, task)| play(task, arm.method, arm.lessons, options.show && n == 0))
                .collect()
        };
        let won = played.iter().filter(|e| e.won).count();
        let (low, high) = wilson(won, played.len());
        let steps: Vec<f64> = played.iter().map(|e| f64::from(e.steps)).collect();
        let (few, many) = bootstrap(&steps);
        println!(
            "| {} | {:.0} % ({:.0} to {:.0}) | {:.1} ({few:.1} to {many:.1}) |",
            arm.title,
            100.0 * share(won, played.len()),
            100.0 * low,
            100.0 * high,
            mean(&steps),
        );
        by_kind.push((arm.title, kinds(&played)));
    }
    println!(
        "\nIn brackets: 95 % intervals (Wilson for success, bootstrap over games for steps; a lost game counts its {CAP} steps)."
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
                options.world = World::of(&word).expect("--env takes household, babyai or pddl");
            }
            "--difficulty" => {
                let word = arguments.next().unwrap_or_default();
                let known = Difficulty::ALL.into_iter().find(|d| d.word() == word);
                options.difficulty = known.expect("--difficulty takes easy, normal or hard");
            }
            "--lesson" => options.lessons.extend(arguments.next()),
            "--show" => options.show = true,
            // Cargo itself passes `--bench`.
            _ => {}
        }
    }
    if options.lessons.is_empty() {
        options.lessons = options.world.lessons().map(str::to_owned).to_vec();
    }
    options
}

/// One game as a run of its own.
fn play(task: &Task, method: &str, lessons: &[String], show: bool) -> EpisodeSummary {
    run_all(std::slice::from_ref(task), method, lessons, show).pop().expect("one task, one episode")
}

/// A run over these tasks, from its start to its end.
fn run_all(tasks: &[Task], method: &str, lessons: &[String], show: bool) -> Vec<EpisodeSummary> {
    let spec = RunSpec {
        // The household's table is of its own words; the other worlds have thoughts that are answered for them.
        interface: if tasks[0].env == "household" { "raw" } else { "react" }.to_owned(),
        limits: Limits { steps: CAP, moves: None, wall_seconds: None },
        ..run::spec(method, tasks.to_vec())
    };
    let policy =
        retrospect::method::build_policy(&spec, Arc::new(Templates::builtin())).expect("a known method");
    let mut engine = Engine::new(policy);
    let pool = lessons
        .iter()
        .map(|text| {
            let wish = LessonCommand::add(
                ReflectionKind::Abstract,
                Scope::Environment,
                LessonText::plain(text),
                String::new(),
            );
            ("typed".to_owned(), wish)
        })
        .collect();
    let start = Command::Start {
        session: "table".to_owned(),
        spec: Box::new(spec),
        pool,
        replay_seed: None,
        breakpoints: Vec::new(),
    };
    feed(&mut engine, &Input::Command(start));
    feed(&mut engine, &Input::Command(Command::Run));
    let mut world: Option<Box<dyn Environment>> = None;
    while let Some(effect) = engine.state.calls.values().next().cloned() {
        let reply = perform(&engine, &mut world, effect, show);
        feed(&mut engine, &Input::Reply(reply));
    }
    engine.state.ended_episodes.iter().map(|e| EpisodeSummary::clone(e)).collect()
}

/// Does what the driver's runner does.
fn perform(engine: &Engine, world: &mut Option<Box<dyn Environment>>, effect: Effect, show: bool) -> Reply {
    match effect {
        Effect::ResetWorld { call, task } => {
            let mut opened = worlds::open(&task, &WorldOptions::default()).expect("every game opens");
            let turn = opened.reset().expect("every game begins");
            *world = Some(opened);
            Reply::World { call, result: Box::new(turn), admissible: Vec::new() }
        }
        Effect::StepWorld { call, action, .. } => {
            let world = world.as_mut().expect("a world is open");
            let turn = world.step(&action).expect("no world fails");
            if show {
                println!("> {action}\n  {}", turn.observation);
            }
            Reply::World { call, result: Box::new(turn), admissible: Vec::new() }
        }
        Effect::Ask { call, prompt } => {
            let seed = prompt.seed;
            let text = answer(&render(&engine.state, &prompt), seed);
            Reply::Model { truncated: None, call, text, reasoning: String::new(), usage: Usage::default() }
        }
        Effect::Cancel { call } => unreachable!("nobody cancels {call:?}"),
    }
}

fn feed(engine: &mut Engine, input: &Input) {
    let mut events = engine.decide(input).expect("a granted wish");
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

/// How many of each kind were won.
fn kinds(played: &[EpisodeSummary]) -> String {
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

/// Wilson's score interval at 95 %.
fn wilson(won: usize, of: usize) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let n = of.max(1) as f64;
    let p = won as f64 / n;
    let middle = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    ((middle - spread) / scale, (middle + spread) / scale)
}

/// The 95 % interval of the mean over 2,000 resamples; the resampling's chance is fixed.
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
