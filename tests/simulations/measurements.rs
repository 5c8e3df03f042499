//! Whole measurements of the rule-based actor, many times: how often their verdicts are wrong (`docs/EFFECT.md`).
//!
//! In each environment four kinds of lessons are measured: one that removes a frequent mistake, one that matches no form of the
//! actor, a placebo, and one that harms; in PDDL no harmful one, since none harms on its problem (`tests/effect/told_apart.rs` has one that harms
//! on others). Each measurement has its own seed, and so other plays and another order of the tasks.
//! `RETROSPECT_SOAK=full` makes 40 measurements of each (PDDL: 20), and more than half of them must find what the lesson does.
//! `cargo test` makes one with few pairs, too few for most verdicts: more of these pairs must be won by the right side.

use retrospect::timeline::effect::{placebo_text, wilson};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_retrospect");
const MEASUREMENTS: u64 = 40;
/// A play of a planning problem takes several times as long.
const PDDL_MEASUREMENTS: u64 = 20;
const PAIRS: u32 = 60;
const FEW_PAIRS: u32 = 24;
/// The same where a pair is a round over several tasks.
const FEW_ROUNDS: u32 = 8;
/// The error rate that a verdict claims.
const CLAIM: f64 = 0.05;
/// Fits no form of `docs/LESSON_FORMS.md`.
const NO_FORM: &str = "The mug may be on a shelf, so start there.";

/// What is known of a lesson on its tasks.
#[derive(Clone, Copy, PartialEq)]
enum Truth {
    Helps,
    Nothing,
    Harms,
}

/// A lesson on tasks of an environment.
struct Row {
    name: &'static str,
    lesson: String,
    truth: Truth,
    /// Where the tasks come from, and what else the command line says.
    options: Vec<String>,
}

impl Row {
    fn new(name: &'static str, lesson: impl Into<String>, truth: Truth, options: &[&str]) -> Self {
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self { name, lesson: lesson.into(), truth, options }
    }

    /// The lesson as measured for the nth time: each placebo has its own sentences.
    fn text(&self, number: u64) -> String {
        match self.name {
            "placebo" => placebo_text(&self.lesson, &format!("soak {number}"), 1),
            _ => self.lesson.clone(),
        }
    }
}

/// How often a row had each verdict.
#[derive(Default)]
struct Verdicts {
    /// Pairs that were won only with the lesson, and only without it.
    won: (u64, u64),
    helped: u64,
    harmful: u64,
    no_effect: u64,
    undecided: u64,
    inconsistent: u64,
}

impl Verdicts {
    fn count(&mut self, judged: &Judged) {
        self.won = (self.won.0 + judged.won.0, self.won.1 + judged.won.1);
        *match judged.verdict.as_str() {
            "helped" => &mut self.helped,
            "harmful" => &mut self.harmful,
            "no_effect" => &mut self.no_effect,
            "undecided" => &mut self.undecided,
            "inconsistent" => &mut self.inconsistent,
            other => panic!("unknown verdict {other}"),
        } += 1;
    }

    /// How many measurements found what the lesson does.
    fn found(&self, truth: Truth) -> u64 {
        match truth {
            Truth::Helps => self.helped,
            Truth::Nothing => self.no_effect,
            Truth::Harms => self.harmful,
        }
    }

    fn wrong(&self, truth: Truth) -> u64 {
        self.inconsistent
            + match truth {
                Truth::Helps => self.harmful + self.no_effect,
                Truth::Nothing => self.helped + self.harmful,
                Truth::Harms => self.helped + self.no_effect,
            }
    }
}

/// `Look for an egg in/on a cabinet first.` for each of these things.
fn look_in_cabinets(things: &[&str]) -> String {
    let article = |thing: &str| if thing.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let sentence = |thing: &&str| format!("Look for {} {thing} in/on a cabinet first.", article(thing));
    things.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn seed() -> u64 {
    std::env::var("RETROSPECT_SOAK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// What a measurement shows.
struct Judged {
    verdict: String,
    /// Pairs that were won only with the lesson, and only without it.
    won: (u64, u64),
}

/// Measures a lesson.
fn measure(env: &str, row: &Row, number: u64, pairs: u32) -> Judged {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["lessons", "--pool", "pool.jsonl", "effect", "--env", env, "--text", &row.text(number)]);
    command.args(["--placebo", "none", "--keep", "none", "--json", "--pairs", &pairs.to_string()]);
    command.args(["--seed", &(seed() * 1_000 + number).to_string()]).args(&row.options);
    command.current_dir(dir.path()).env_clear().env("HOME", dir.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verdict = lines.rfind(|line| line["type"] == "verdict");
    let verdict = verdict.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let count = |name: &str| verdict[name].as_u64().unwrap();
    Judged { verdict: verdict["verdict"].as_str().unwrap().to_owned(), won: (count("b"), count("c")) }
}

/// Measures each row so many times, prints a row of the table, and checks how often the verdict was wrong.
fn check(env: &str, measurements: u64, rows: &[Row]) {
    let is_full = std::env::var_os("RETROSPECT_SOAK").is_some_and(|mode| mode == "full");
    let runs = if is_full { measurements } else { 1 };
    for row in rows {
        let pairs = match (is_full, row.options.iter().any(|option| option == "--these")) {
            (true, _) => PAIRS,
            (false, true) => FEW_ROUNDS,
            (false, false) => FEW_PAIRS,
        };
        let mut verdicts = Verdicts::default();
        (1..=runs).for_each(|number| verdicts.count(&measure(env, row, number, pairs)));
        let (with, without) = verdicts.won;
        let wrong = verdicts.wrong(row.truth);
        let interval = wilson(wrong as usize, runs as usize).unwrap();
        println!(
            "| {env} | {} | {with} : {without} | {} | {} | {} | {} | {wrong} of {runs} [{:.0}, {:.0}] % |",
            row.name,
            verdicts.helped,
            verdicts.harmful,
            verdicts.no_effect,
            verdicts.undecided,
            100.0 * interval.low,
            100.0 * interval.high
        );
        let allowed = CLAIM + 3.0 * (CLAIM * (1.0 - CLAIM) / runs as f64).sqrt();
        assert!(wrong as f64 / runs as f64 <= allowed, "{env}, {}: {wrong} of {runs} are wrong", row.name);
        let found = verdicts.found(row.truth);
        assert!(!is_full || found * 2 > runs, "{env}, {}: found {found} of {runs} times", row.name);
        let has_right_sign = match row.truth {
            Truth::Helps => with > without,
            // To the rule-based actor, a sentence without a form is what no sentence is: no pair differs.
            Truth::Nothing => (with, without) == (0, 0),
            Truth::Harms => with < without,
        };
        assert!(has_right_sign, "{env}, {}: {with} : {without}", row.name);
    }
}

#[test]
fn household() {
    let heat = ["--tasks", "normal/heat/1-60"];
    let all = ["--tasks", "normal/*/1-20"];
    let helping = "After you heat it, put it in/on the target.";
    let wrong_places =
        look_in_cabinets(&["apple", "bread", "cup", "egg", "mug", "plate", "potato", "tomato"]);
    check(
        "household",
        MEASUREMENTS,
        &[
            Row::new("helping", helping, Truth::Helps, &heat),
            Row::new("no form", NO_FORM, Truth::Nothing, &all),
            Row::new("placebo", helping, Truth::Nothing, &all),
            Row::new("wrong places", wrong_places, Truth::Harms, &[heat[0], heat[1], "--max-steps", "40"]),
        ],
    );
}

/// Needs the real games, which are not part of the program. There are 43, so a measurement over them has as many pairs, and `no effect
/// seen` takes 51. The lessons without an effect and the harmful one are measured in rounds over games of `tests/effect/told_apart.rs`.
#[test]
fn alfworld() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/alfworld/games");
    let Ok(games) = std::fs::read_dir(&folder) else {
        println!("0 passed, 0 failed, 4 skipped: {} is absent", folder.display());
        assert!(std::env::var_os("RETROSPECT_GOLDEN").is_none_or(|value| value != "required"));
        return;
    };
    let mut games: Vec<String> = games.map(|game| game.unwrap().path().display().to_string()).collect();
    games.sort();
    let tasks: Vec<&str> = games.iter().flat_map(|game| ["--task", game.as_str()]).collect();
    let rounds_over = |starts: &[&str]| -> Vec<&str> {
        let is_chosen = |game: &&String| starts.iter().any(|start| game.contains(&format!("/{start}")));
        let chosen: Vec<&str> = games.iter().filter(is_chosen).map(String::as_str).collect();
        assert_eq!(chosen.len(), starts.len(), "{starts:?}");
        std::iter::once("--these").chain(chosen.into_iter().flat_map(|game| ["--task", game])).collect()
    };
    let with_room = rounds_over(&[
        "v042__pick_cool_then_place_in_recep-Lettuce",
        "v042__look_at_obj_in_light-Bowl",
        "v042__pick_clean_then_place_in_recep-DishSponge",
        "v042__look_at_obj_in_light-CD",
        "v042__pick_heat_then_place_in_recep-Plate",
    ]);
    let tomato = rounds_over(&["v211__pick_heat_then_place_in_recep-Tomato-None-Garb"]);
    let helping = "Do not repeat an action that did nothing.";
    let wrong_place = "Look for a tomato in/on a cabinet first.";
    check(
        "alfworld",
        MEASUREMENTS,
        &[
            Row::new("helping", helping, Truth::Helps, &tasks),
            Row::new("no form", NO_FORM, Truth::Nothing, &with_room),
            Row::new("placebo", helping, Truth::Nothing, &with_room),
            Row::new("wrong place", wrong_place, Truth::Harms, &tomato),
        ],
    );
}

/// Tasks of `tests/effect/told_apart.rs`, where there is room; a pair is one round over them.
fn rounds(tasks: &[&'static str]) -> Vec<&'static str> {
    std::iter::once("--these").chain(tasks.iter().flat_map(|task| ["--task", *task])).collect()
}

#[test]
fn babyai() {
    let with_room = rounds(&[
        "UnlockPickupDist/32",
        "UnlockPickupDist/15",
        "UnlockPickupDist/36",
        "UnlockPickupDist/13",
        "UnlockPickupDist/27",
        "UnlockPickupDist/10",
    ]);
    let one_room = rounds(&[
        "PutNextLocalS6N4/13",
        "PutNextLocalS6N4/10",
        "PutNextLocalS6N4/23",
        "PutNextLocalS6N4/2",
        "PutNextLocalS6N4/12",
        "PutNextLocalS6N4/16",
    ]);
    let lesson = "Do not turn round more than once.";
    check(
        "babyai",
        MEASUREMENTS,
        &[
            Row::new("helping", lesson, Truth::Helps, &with_room),
            Row::new("no form", NO_FORM, Truth::Nothing, &with_room),
            Row::new("placebo", lesson, Truth::Nothing, &with_room),
            Row::new("harmful here", lesson, Truth::Harms, &one_room),
        ],
    );
}

/// No lesson that the actor understands is harmful on this problem; `tests/effect/told_apart.rs` measures one that is on others.
#[test]
fn pddl() {
    let tasks = rounds(&["blockworld/17"]);
    let helping = "Put a block that is in the way on the table.";
    check(
        "pddl",
        PDDL_MEASUREMENTS,
        &[
            Row::new("helping", helping, Truth::Helps, &tasks),
            Row::new("no form", NO_FORM, Truth::Nothing, &tasks),
            Row::new("placebo", helping, Truth::Nothing, &tasks),
        ],
    );
}
