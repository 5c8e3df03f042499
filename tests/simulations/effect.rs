//! Simulated measurements with a known truth (section 10 of `docs/EFFECT.md`): verdicts are wrong no more often than they
//! claim however often a person looks, intervals contain the truth, effects are found as often as announced.
//!
//! A bound allows for three standard errors of the simulation, so that it can't fail by bad luck more often than once in
//! about 700 settings; the seed is fixed. `cargo test` simulates a hundredth, `RETROSPECT_SOAK=full` everything.

mod calibration;

use crate::cases::{Rng, Soak};
use retrospect::timeline::effect::{
    AssumedEffect, Difference, Judgement, Monitor, MonitoredDesign, PairCounts, SplitMix64, Verdict, e_bh,
};
use serde_json::Value;
use std::path::Path;

const ALPHA: f64 = 0.05;
const MARGIN: f64 = 0.1;
/// How much more often a statement with two bounds may hold than announced: a measurement keeps a bound that it has reached, whereas
/// the table behind the announcement asks for both at the same number of pairs.
const KEPT_BOUND_SHARE: f64 = 0.001;
/// Simulated measurements of each setting.
const RUNS: u64 = 4_000;
/// Pairs of a simulated measurement.
const PAIRS: u64 = 400;

/// Pairs of successes with these probabilities that only the first and only the second arm wins.
#[derive(Clone, Copy)]
struct Rates {
    first_only: f64,
    second_only: f64,
}

impl Rates {
    fn new(difference: f64, discordance: f64) -> Self {
        Self {
            first_only: f64::midpoint(discordance, difference),
            second_only: f64::midpoint(discordance, -difference),
        }
    }

    fn draw(self, random: &mut SplitMix64) -> Difference {
        let number = random.unit();
        if number < self.first_only {
            Difference::FIRST_BETTER
        } else if number < self.first_only + self.second_only {
            Difference::SECOND_BETTER
        } else {
            Difference::EQUAL
        }
    }
}

/// How often something happened in simulated measurements.
#[derive(Clone, Copy, Default)]
struct Share {
    hits: u64,
    runs: u64,
}

impl Share {
    fn count(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.runs += 1;
    }

    fn value(self) -> f64 {
        self.hits as f64 / self.runs as f64
    }

    /// Three standard errors of a share whose probability is `p`, in this many runs.
    fn allowance(self, p: f64) -> f64 {
        3.0 * (p * (1.0 - p) / self.runs as f64).sqrt()
    }

    fn assert_at_most(self, p: f64, what: &str) {
        println!("| {what} | {p:.3} | {:.4} | {} |", self.value(), self.runs);
        assert!(
            self.value() <= p + self.allowance(p),
            "{what}: {} of {} runs, claimed {p}",
            self.hits,
            self.runs
        );
    }

    fn assert_close_to(self, p: f64, what: &str) {
        println!("| {what} | {p:.3} | {:.4} | {} |", self.value(), self.runs);
        // One run more or less is no deviation, also if the probability is almost 0 or 1.
        let allowance = self.allowance(p) + 1.0 / self.runs as f64 + KEPT_BOUND_SHARE;
        assert!(
            (self.value() - p).abs() <= allowance,
            "{what}: {} of {} runs, announced {p}",
            self.hits,
            self.runs
        );
    }
}

/// Plays a measurement and returns what it shows at the end. A statement counts from the moment at which it first holds, so
/// the end says whether it was ever reported.
fn measure(pairs: u64, mut draw: impl FnMut() -> Difference) -> Judgement {
    let mut monitor = Monitor::new(ALPHA, MARGIN);
    (0..pairs).for_each(|_| monitor.push(draw()));
    monitor.judgement()
}

fn generator(rng: &mut Rng) -> SplitMix64 {
    SplitMix64::new(rng.next())
}

#[test]
fn useless_lessons_are_rarely_called_helpful_or_harmful() {
    for discordance in [0.0, 0.02, 0.1, 0.3, 0.6] {
        let (mut helped, mut harmful) = (Share::default(), Share::default());
        Soak::new("effect: level", RUNS).run(|rng, _| {
            let mut random = generator(rng);
            let rates = Rates::new(0.0, discordance);
            let judgement = measure(PAIRS, || rates.draw(&mut random));
            helped.count(judgement.held.above_zero.is_some());
            harmful.count(judgement.held.below_zero.is_some());
        });
        helped.assert_at_most(ALPHA / 2.0, &format!("helped, no effect, discordance {discordance}"));
        harmful.assert_at_most(ALPHA / 2.0, &format!("harmful, no effect, discordance {discordance}"));
    }
}

#[test]
fn effects_as_large_as_the_margin_are_rarely_overlooked() {
    for (difference, discordance) in [(MARGIN, 0.1), (MARGIN, 0.3), (-MARGIN, 0.1), (-MARGIN, 0.6)] {
        let mut overlooked = Share::default();
        Soak::new("effect: equivalence", RUNS).run(|rng, _| {
            let mut random = generator(rng);
            let rates = Rates::new(difference, discordance);
            let held = measure(PAIRS, || rates.draw(&mut random)).held;
            overlooked.count(held.below_margin.is_some() && held.above_minus_margin.is_some());
        });
        let what = format!("no effect seen, difference {difference}, discordance {discordance}");
        overlooked.assert_at_most(ALPHA / 2.0, &what);
    }
}

/// The differences of all pairs of values, and their mean.
fn all_differences(values: &[f64], others: &[f64]) -> (Vec<Difference>, f64) {
    let all: Vec<Difference> =
        values.iter().flat_map(|x| others.iter().filter_map(move |y| Difference::new(x - y))).collect();
    let mean = all.iter().map(|d| d.value()).sum::<f64>() / all.len() as f64;
    (all, mean)
}

/// Reads the progress rate after each step of a shipped session.
fn shipped_progress(session: &str) -> Vec<f64> {
    let path = format!("sessions/examples/{session}/branches/trunk.jsonl");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|e| e["type"] == "observed").filter_map(|e| e["turn"]["progress"].as_f64()).collect()
}

#[test]
fn running_intervals_contain_the_truth() {
    let quarters: Vec<f64> = [-4, -1, 0, 0, 1, 2, 3, 3].iter().map(|n| f64::from(*n) / 4.0).collect();
    let small_steps: Vec<f64> = (-3..6).map(|n| f64::from(n) / 50.0).collect();
    let taught = shipped_progress("hot-mug-taught");
    let untaught = shipped_progress("hot-mug-untaught");
    // The shares of 50 steps at which the sessions are, as if they had ended there.
    let ends = |progress: &[f64]| (1..=progress.len()).map(|n| n as f64 / 50.0).collect::<Vec<f64>>();
    let mut settings: Vec<(&str, Vec<Difference>, f64)> = Vec::new();
    for (name, values, others) in [
        ("quarters", quarters, vec![0.0]),
        ("small differences of steps", small_steps, vec![0.0]),
        ("progress of shipped sessions", taught.clone(), untaught.clone()),
        ("steps of shipped sessions", ends(&untaught), ends(&taught)),
    ] {
        let (differences, mean) = all_differences(&values, &others);
        settings.push((name, differences, mean));
    }
    // Lists of a hundred differences of successes.
    for (name, first_only, second_only) in [
        ("wins .05 : losses .05", 5, 5),
        ("wins .2 : losses .2", 20, 20),
        ("wins .3 : losses .1", 30, 10),
        ("wins .5 : losses 0", 50, 0),
        ("wins .02 : losses 0", 2, 0),
        ("wins .95 : losses 0", 95, 0),
    ] {
        let mut differences = vec![Difference::EQUAL; 100 - first_only - second_only];
        differences.extend(vec![Difference::FIRST_BETTER; first_only]);
        differences.extend(vec![Difference::SECOND_BETTER; second_only]);
        settings.push((name, differences, (first_only as f64 - second_only as f64) / 100.0));
    }
    for (name, differences, mean) in settings {
        let mut misses = Share::default();
        Soak::new("effect: coverage", RUNS / 2).run(|rng, _| {
            let mut random = generator(rng);
            let judgement = measure(300, || differences[random.index_below(differences.len())]);
            misses.count(judgement.low > mean || judgement.high < mean);
        });
        misses.assert_at_most(ALPHA, &format!("interval misses, {name}"));
    }
}

#[test]
fn effects_are_found_as_often_as_announced() {
    let design = MonitoredDesign::new(ALPHA, MARGIN, 200);
    for (difference, discordance, pairs) in
        [(0.2, 0.34, 40), (0.2, 0.5, 100), (0.3, 0.5, 60), (0.1, 0.1, 100), (-0.2, 0.4, 60), (0.0, 0.1, 200)]
    {
        let announced = design.power(AssumedEffect { difference, discordance }, pairs);
        let mut shares = [Share::default(); 3];
        Soak::new("effect: power", RUNS).run(|rng, _| {
            let mut random = generator(rng);
            let rates = Rates::new(difference, discordance);
            let mut monitor = Monitor::new(ALPHA, MARGIN);
            while monitor.judgement().verdict == Verdict::Undecided
                && (monitor.differences().pairs() as usize) < pairs
            {
                monitor.push(rates.draw(&mut random));
            }
            let verdict = monitor.judgement().verdict;
            for (share, of) in
                shares.iter_mut().zip([Verdict::Helped, Verdict::Harmful, Verdict::NoEffectSeen])
            {
                share.count(verdict == of);
            }
        });
        let announced = [announced.helped, announced.harmful, announced.no_effect];
        for ((share, announced), verdict) in
            shares.iter().zip(announced).zip(["helped", "harmful", "no effect seen"])
        {
            let what =
                format!("first {verdict}, difference {difference}, discordance {discordance}, {pairs} pairs");
            share.assert_close_to(announced, &what);
        }
    }
}

#[test]
fn few_lessons_are_marked_without_reason() {
    const LESSONS: usize = 20;
    const USEFUL: usize = 5;
    const RATE: f64 = 0.10;
    let (mut sum, mut squares, mut runs, mut found) = (0.0, 0.0, 0_u64, 0_usize);
    Soak::new("effect: several lessons", RUNS).run(|rng, _| {
        let mut random = generator(rng);
        let mut monitors = vec![Monitor::new(ALPHA, MARGIN); LESSONS];
        let mut marked = Vec::new();
        // A person looks after every ten pairs and stops once three lessons are marked, which favours false marks.
        for pair in 1..=200 {
            let all_won = random.unit() < 0.6;
            for (lesson, monitor) in monitors.iter_mut().enumerate() {
                let rate = if lesson < USEFUL { 0.2 } else { 0.6 };
                let won = random.unit() < rate;
                let difference = f64::from(u8::from(all_won)) - f64::from(u8::from(won));
                monitor.push(Difference::new(difference).unwrap());
            }
            if pair % 10 == 0 {
                let ln_e: Vec<f64> = monitors.iter().map(|m| m.judgement().ln_e).collect();
                marked = e_bh(&ln_e, RATE);
                if marked.len() >= 3 {
                    break;
                }
            }
        }
        let wrong = marked.iter().filter(|lesson| **lesson >= USEFUL).count();
        let share = wrong as f64 / marked.len().max(1) as f64;
        (sum, squares, runs, found) =
            (sum + share, squares + share * share, runs + 1, found + marked.len() - wrong);
    });
    let mean = sum / runs as f64;
    let error = ((squares / runs as f64 - mean * mean).max(0.0) / runs as f64).sqrt();
    println!("| lessons marked without reason | {RATE:.3} | {mean:.4} | {runs} |");
    assert!(mean <= RATE + 3.0 * error, "{mean} of the marked lessons have no effect");
    assert!(found as f64 / runs as f64 >= 2.0, "useful lessons are marked");
}

/// The same simulation finds a method that is known to be wrong: a fixed test that is applied after every pair.
#[test]
fn peeking_at_a_fixed_test_is_seen_to_be_wrong() {
    for (discordance, known) in [(0.1, 0.108), (0.3, 0.186), (0.6, 0.233)] {
        let mut wrong = Share::default();
        Soak::new("effect: peeking", RUNS).run(|rng, _| {
            let mut random = generator(rng);
            let rates = Rates::new(0.0, discordance);
            let mut counts = PairCounts::default();
            let is_significant = (0..200).any(|_| {
                let difference = rates.draw(&mut random);
                counts.add(difference == Difference::FIRST_BETTER, difference == Difference::SECOND_BETTER);
                difference != Difference::EQUAL && counts.mcnemar().exact <= 0.05
            });
            wrong.count(is_significant);
        });
        // The known shares were simulated with some hundred runs themselves.
        let what = format!("exact test after every pair, discordance {discordance}");
        println!("| {what} | {known:.3} | {:.4} | {} |", wrong.value(), wrong.runs);
        let allowance = wrong.allowance(known) + KNOWN_ERROR;
        assert!((wrong.value() - known).abs() <= allowance, "{what}: {}, known {known}", wrong.value());
    }
}

/// The uncertainty of the shares that are known for peeking: three standard errors in 4,000 runs.
const KNOWN_ERROR: f64 = 0.02;
