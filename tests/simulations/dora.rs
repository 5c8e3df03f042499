//! How often DORA finds good advice within its 46 evaluations, beside random search: with a stand-in as actor whose success
//! depends on the advice, and a stand-in as mentor whose advice depends on the instruction (`docs/methods/dora.md`).
//!
//! `RETROSPECT_SOAK=full` runs 50 seeds of each and prints the table of that page, otherwise a few short runs are made.
//! `RETROSPECT_SOAK_SEED` selects other seeds. The rows of a model need the feature `local-model`.

use crate::driver::{StandIns, play};
use crate::household;
use crate::scripted::{self, KeyRoom, PrompterName, SmoothRoom};
use retrospect::domain::{RunSpec, SettingOrigin};
use retrospect::engine::State;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What one search came to.
struct Found {
    /// After how many evaluations the best possible instruction was evaluated.
    good_after: Option<usize>,
    /// The largest share of tasks solved in one evaluation.
    best: f64,
    /// The quality of the best advice that was written, from 0 to 3.
    best_advice: usize,
    evaluations: usize,
    /// How many different instructions these evaluated.
    distinct: usize,
}

/// What a row of the table says.
struct Printed {
    /// The share of searches that found the best instruction.
    found: f64,
    /// The mean share of tasks solved in the best evaluation, and half the width of its interval.
    best: (f64, f64),
}

/// What a search must come to in 50 runs.
struct Least {
    /// The share that finds the best instruction.
    found: f64,
    /// How much more of the tasks it solves than random search.
    gain: f64,
}

/// How far the share of 50 random searches may be from the chance: four standard deviations.
const LARGEST_CHANCE: f64 = 0.16;

/// The chance that one of 46 random vectors chooses the useful sentence of eight in each of the three groups.
fn chance_of_the_best_instruction() -> f64 {
    1.0 - (1.0 - 1.0 / 512.0_f64).powi(46)
}

/// A kind of search that is compared with random search.
struct Comparison<'a> {
    name: &'a str,
    settings: &'a [(&'a str, Value)],
    stand_ins: &'a (dyn Fn(u64) -> Box<dyn StandIns> + Sync),
    spec: &'a (dyn Fn() -> RunSpec + Sync),
}

impl Comparison<'_> {
    fn run(&self, optimise: &str, seed: u64) -> Found {
        let mut spec = (self.spec)();
        spec.seed = seed;
        let common = [("optimise", json!(optimise))];
        for (name, value) in self.settings.iter().chain(&common) {
            spec.settings.set(name, value.clone(), SettingOrigin::Flag);
        }
        let mut stand_ins = (self.stand_ins)(seed);
        let state = play(spec, &mut *stand_ins);
        let best = rewards(&state, "performance").into_iter().fold(0.0, f64::max);
        let done = state.memory["done"].as_array().unwrap();
        let texts: BTreeSet<&str> = done.iter().map(|done| done["text"].as_str().unwrap()).collect();
        let (evaluations, distinct) = (done.len(), texts.len());
        Found {
            good_after: stand_ins.good_after(),
            best,
            best_advice: stand_ins.best_advice(),
            evaluations,
            distinct,
        }
    }

    /// Runs both searches with as many seeds, and prints a row of the table for each.
    fn print_both(&self, seeds: std::ops::Range<u64>) -> [Printed; 2] {
        [("bo", "Bayesian optimisation"), ("random", "random search")]
            .map(|(optimise, search)| self.print(optimise, search, seeds.clone()))
    }

    /// The same for text steering, of which one random instruction in 512 is the best: the search must come to `least`, and random
    /// search to what chance says.
    fn check_texts(&self, seeds: std::ops::Range<u64>, least: &Least) {
        let [searched, random] = self.print_both(seeds);
        let name = self.name;
        assert!(searched.found >= least.found, "{name}: found by {:.2} of the searches", searched.found);
        let gain = searched.best.0 - random.best.0;
        assert!(gain >= least.gain, "{name}: {gain:.3} more of the tasks solved than by random search");
        let chance = chance_of_the_best_instruction();
        assert!((random.found - chance).abs() <= LARGEST_CHANCE, "{name}: {:.3}, {chance:.3}", random.found);
    }

    /// Runs a shorter search, which evaluates no instruction twice.
    fn run_short(&self, optimise: &str, rounds: u64) -> Found {
        let mut settings = self.settings.to_vec();
        settings.push(("rounds", json!(rounds)));
        let found = Comparison { settings: &settings, ..*self }.run(optimise, 0);
        println!(
            "{}, {optimise}: {} evaluations of {} instructions, best advice {} of 3, {:.0} % solved",
            self.name,
            found.evaluations,
            found.distinct,
            found.best_advice,
            100.0 * found.best
        );
        found
    }

    /// Runs one search with each seed, and prints a row of the table.
    fn print(&self, optimise: &str, search: &str, seeds: std::ops::Range<u64>) -> Printed {
        let found = in_parallel(seeds.clone(), |seed| self.run(optimise, seed));
        let mut after: Vec<usize> = found.iter().filter_map(|found| found.good_after).collect();
        after.sort_unstable();
        let (low, high) = wilson_interval(after.len(), found.len());
        let best = mean_with_interval(&found.iter().map(|found| found.best).collect::<Vec<_>>());
        let distinct = found.iter().map(|found| found.distinct).sum::<usize>() as f64 / found.len() as f64;
        let median = after.get(after.len() / 2).map_or_else(|| "-".to_owned(), ToString::to_string);
        println!(
            "| {} | {search} | {distinct:.0} | {}/{} ({:.0} % to {:.0} %) | {median} | {:.0} % ± {:.0} |",
            self.name,
            after.len(),
            found.len(),
            100.0 * low,
            100.0 * high,
            100.0 * best.0,
            100.0 * best.1
        );
        Printed { found: after.len() as f64 / found.len() as f64, best }
    }
}

/// Computes each seed's result, on two threads.
fn in_parallel<T: Send>(seeds: std::ops::Range<u64>, compute: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let all: Vec<u64> = seeds.collect();
    let (first, second) = all.split_at(all.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| second.iter().map(|seed| compute(*seed)).collect::<Vec<T>>());
        let mut results: Vec<T> = first.iter().map(|seed| compute(*seed)).collect();
        results.extend(other.join().unwrap());
        results
    })
}

/// The mean, and half the width of its interval with 95 % confidence.
fn mean_with_interval(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, 1.959_964 * (squares / (count - 1.0) / count).sqrt())
}

/// Wilson's interval of a share with 95 % confidence.
fn wilson_interval(hits: usize, count: usize) -> (f64, f64) {
    let (n, z) = (count as f64, 1.959_964);
    let share = hits as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    ((middle - half) / scale, (middle + half) / scale)
}

fn rewards(state: &State, part: &str) -> Vec<f64> {
    let done = state.memory["done"].as_array().unwrap();
    done.iter().map(|done| done[part].as_f64().unwrap()).collect()
}

/// How many searches a plain test makes with the rule-based actor.
const SHORT_SEEDS: u64 = 6;

fn is_full() -> bool {
    std::env::var("RETROSPECT_SOAK").is_ok_and(|mode| mode == "full")
}

fn seeds(full: u64, short: u64) -> std::ops::Range<u64> {
    let set = std::env::var("RETROSPECT_SOAK_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let first = set.unwrap_or(0) * 1000;
    first..first + if is_full() { full } else { short }
}

/// On a smooth objective in two dimensions the whole method must beat random search with as many evaluations. The prompter writes
/// the vector's numbers into the instruction, the mentor copies them into its advice, and the tasks are won near one place, each
/// within a distance of its own. A fit follows each evaluation, so that no evaluation is saved by searches that meet.
#[test]
fn the_search_beats_random_search_on_a_smooth_objective_in_two_dimensions() {
    const ROUNDS: usize = 16;
    let run = |optimise: &str, seed: u64| {
        let mut spec = scripted::spec(SmoothRoom::TASKS, 2);
        spec.seed = seed;
        for (name, value) in [
            // Text steering would leave out vectors that choose the same sentences.
            ("prompter", json!("local")),
            ("intrinsic_dim", json!(2)),
            ("instances", json!(SmoothRoom::TASKS)),
            ("rounds", json!(ROUNDS)),
            ("batch", json!(1)),
            ("alpha", json!(0)),
            ("optimise", json!(optimise)),
        ] {
            spec.settings.set(name, value, SettingOrigin::Flag);
        }
        let state = play(spec, &mut SmoothRoom::default());
        let rewards = rewards(&state, "reward");
        assert_eq!(rewards.len(), 4 + ROUNDS, "{optimise}, seed {seed}");
        rewards.into_iter().fold(0.0, f64::max)
    };
    let best = |optimise: &str| in_parallel(seeds(50, 3), |seed| run(optimise, seed));
    let median = |best: &[f64]| {
        let mut best = best.to_vec();
        best.sort_by(f64::total_cmp);
        f64::midpoint(best[(best.len() - 1) / 2], best[best.len() / 2])
    };
    let (searched, random) = (best("bo"), best("random"));
    let (median, random_median) = (median(&searched), median(&random));
    // With the same seed, so with the same first vectors. Where both find the same, nobody wins.
    let pairs = || searched.iter().zip(&random);
    let wins = pairs().filter(|(searched, random)| searched > random).count();
    let losses = pairs().filter(|(searched, random)| searched < random).count();
    let (low, high) = wilson_interval(wins, wins + losses);
    println!(
        "smooth objective: median of the best rewards {median:.3}, random search {random_median:.3}; better in {wins} of {} \
         seeds, worse in {losses}: {:.0} % to {:.0} % of those that differ",
        searched.len(),
        100.0 * low,
        100.0 * high
    );
    assert!(median > random_median, "{median}, random search {random_median}");
    // Beyond chance; three seeds can't show that.
    assert!(!is_full() || low > 0.5, "better in {wins} seeds, worse in {losses}");
}

/// The actor follows advice of the last evaluations too, as in the paper, or only that of this one.
#[test]
fn good_advice_is_found_by_text_steering() {
    for (name, forgets) in [("text steering", false), ("text steering, advice of this evaluation only", true)]
    {
        let comparison = Comparison {
            name,
            settings: &[],
            stand_ins: &|_| Box::new(KeyRoom::new(PrompterName::Text, forgets)),
            spec: &|| scripted::spec(10, 3),
        };
        if is_full() {
            comparison.check_texts(seeds(50, 50), &Least { found: 0.1, gain: 0.0 });
            continue;
        }
        for optimise in ["bo", "random"] {
            let found = comparison.run_short(optimise, 3);
            assert_eq!(found.evaluations, 26, "{name}, {optimise}");
            // Regression: most evaluations repeated an instruction.
            assert!(optimise == "random" || found.distinct == 26, "{name}: {}", found.distinct);
            // What the mentor writes after the best instruction solves every task, and worse advice those that open with its key.
            assert_eq!(found.good_after.is_some(), found.best >= 1.0, "{name}, {optimise}");
            let solved = [0.0, 0.3, 0.6, 1.0][found.best_advice];
            assert!(
                (found.best - solved).abs() < 1e-9,
                "{name}, {optimise}: {} of advice {}",
                found.best,
                found.best_advice
            );
        }
    }
}

#[test]
fn good_advice_is_found_for_the_rule_based_actor() {
    let comparison = Comparison {
        name: "text steering, rule-based actor in household",
        settings: &[("attempts", json!(2))],
        stand_ins: &|_| Box::new(household::House::default()),
        spec: &household::spec,
    };
    if is_full() {
        comparison.check_texts(seeds(50, 50), &Least { found: 0.02, gain: -0.05 });
        return;
    }
    // A round after the first vectors, of fixed seeds: what the actor solves depends on them.
    let short = Comparison { settings: &[("rounds", json!(1)), ("attempts", json!(2))], ..comparison };
    let found = in_parallel(0..SHORT_SEEDS, |seed| short.run("bo", seed));
    for (seed, found) in found.iter().enumerate() {
        println!("seed {seed}: best advice {} of 3, {:.0} % solved", found.best_advice, 100.0 * found.best);
    }
    // As with fixed advice (`the_best_instruction_helps_the_rule_based_actor`): without a useful sentence nothing is solved.
    let (helped, unhelped): (Vec<_>, Vec<_>) = found.iter().partition(|found| found.best_advice > 0);
    assert!(unhelped.iter().all(|found| found.best <= 0.0), "solved without useful advice");
    assert!(helped.iter().any(|found| found.best > 0.0), "useful advice never helped");
}

/// Advice in the forms that the rule-based actor understands must help it; otherwise the comparison would say nothing.
#[test]
fn the_best_instruction_helps_the_rule_based_actor() {
    let solved = |quality: usize| household::share_solved(quality, 0..12);
    let (without, with) = (solved(0), solved(3));
    println!(
        "rule-based actor: {:.0} % solved with the worst advice, {:.0} % with the best",
        100.0 * without,
        100.0 * with
    );
    assert!(with > without + 0.2, "{with}, {without}");
}

#[cfg(feature = "local-model")]
#[test]
fn good_advice_is_found_with_a_model_of_random_weights() {
    let models: &[&str] = if is_full() { &["llama"] } else { &["llama", "mistral"] };
    for model in models {
        let thresholds = scripted::model_thresholds(model);
        println!(
            "{model}: shares of vowels, digits and marks above which an instruction is good: {thresholds:.3?}"
        );
        let comparison = Comparison {
            name: &format!("tiny {model} of random weights"),
            settings: &scripted::model_settings(model),
            stand_ins: &|_| Box::new(KeyRoom::new(PrompterName::Model(thresholds), true)),
            spec: &|| scripted::spec(10, 3),
        };
        if is_full() {
            // The shares of a text depend on each other, so the chance isn't known, and the search is blind.
            comparison.print_both(seeds(50, 50));
        } else {
            let settings = &scripted::short_model_settings(model);
            let found = Comparison { settings, ..comparison }.run("bo", 0);
            println!("best advice {} of 3, {:.0} % solved", found.best_advice, 100.0 * found.best);
            // Its three tasks open with any key, and only with the advice of the same evaluation: all are solved or none.
            let solved = f64::from(u8::from(found.best_advice > 0));
            assert!((found.best - solved).abs() < 1e-9, "{} of advice {}", found.best, found.best_advice);
        }
    }
}
