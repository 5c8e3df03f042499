//! Compares the statistics of measuring a lesson's effect with numbers that were computed with scipy, statsmodels, mpmath
//! and R packages. Numbers agree to 1e-9 (relative for values above 1), everything else exactly.

use super::{Outcome, recordings};
use retrospect::domain::WordCounts;
use retrospect::timeline::effect::special;
use retrospect::timeline::effect::{
    AssumedEffect, BootstrapKind, Difference, DifferenceCounts, FixedPower, Interval, Monitor,
    MonitoredDesign, PairCounts, Side, SplitMix64, TestVariant, Verdict, benjamini_hochberg,
    bootstrap_mean_with, e_bh, holm, rejected,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

const TOLERANCE: f64 = 1e-9;

/// What a case is compared by; every mismatch is a line.
type CompareCase = fn(&Value, &mut Mismatches);

const FILES: [(&str, CompareCase); 11] = [
    ("special", compare_special),
    ("mcnemar", compare_mcnemar),
    ("paired", compare_paired),
    ("sequence", compare_sequence),
    ("verdicts", compare_verdicts),
    ("power_fixed", compare_fixed_power),
    ("power_monitored", compare_monitored_power),
    ("needed", compare_needed_pairs),
    ("bca", compare_bootstrap),
    ("multiple", compare_multiple),
    ("similarity", compare_similarity),
];

pub(crate) fn compare_all() -> Outcome {
    let root = recordings("effect");
    if !root.is_dir() {
        return Outcome { skipped: vec![format!("no {}", root.display())], ..Outcome::default() };
    }
    let (mut outcome, mut numbers, mut counts) = (Outcome::default(), 0, Vec::new());
    for (name, compare) in FILES {
        let cases = read_cases(&root.join(format!("{name}.json"))).unwrap_or_else(|reason| {
            outcome.failures.push(reason);
            Vec::new()
        });
        counts.push(format!("{name} {}", cases.len()));
        for (index, case) in cases.iter().enumerate() {
            let mut mismatches = Mismatches::default();
            compare(case, &mut mismatches);
            numbers += mismatches.compared;
            if mismatches.compared == 0 {
                mismatches.found.push("nothing was compared".to_owned());
            }
            if mismatches.found.is_empty() {
                outcome.passed += 1;
            } else {
                outcome.failures.push(format!("{name} {index}: {}", mismatches.found.join("; ")));
            }
        }
    }
    outcome.compared = format!("{numbers} numbers (cases: {})", counts.join(", "));
    outcome
}

fn read_cases(path: &Path) -> Result<Vec<Value>, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
    let file: Value = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    let cases = file["cases"].as_array().filter(|cases| !cases.is_empty());
    cases.cloned().ok_or_else(|| failed(&"no cases"))
}

/// The differences between a case's numbers and the program's.
#[derive(Default)]
struct Mismatches {
    compared: usize,
    found: Vec<String>,
}

impl Mismatches {
    /// Compares a number, also if it is missing on one side.
    fn number(&mut self, name: &str, expected: &Value, actual: impl Into<Option<f64>>) {
        self.compared += 1;
        let actual = actual.into();
        let agree = match (expected.as_f64(), actual) {
            (Some(expected), Some(actual)) => {
                (expected - actual).abs() <= TOLERANCE * expected.abs().max(1.0)
            }
            (None, None) => expected.is_null(),
            _ => false,
        };
        if !agree {
            self.found.push(format!("{name} is {actual:?}, expected {expected}"));
        }
    }

    fn interval(&mut self, name: &str, expected: &Value, actual: Option<Interval>) {
        self.number(&format!("{name} low"), &expected[0], actual.map(|i| i.low));
        self.number(&format!("{name} high"), &expected[1], actual.map(|i| i.high));
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, name: &str, expected: &T, actual: &T) {
        self.compared += 1;
        if expected != actual {
            self.found.push(format!("{name} is {actual:?}, expected {expected:?}"));
        }
    }
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().map(float).collect()
}

fn counts(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(count).collect()
}

fn indices(value: &Value) -> Vec<usize> {
    counts(value).into_iter().map(|n| n as usize).collect()
}

fn compare_special(case: &Value, found: &mut Mismatches) {
    let x = float(&case["x"]);
    let value = match case["f"].as_str() {
        Some("normal_cdf") => Some(special::normal_cdf(x)),
        Some("normal_quantile") => Some(special::normal_quantile(x)),
        Some("ln_gamma") => Some(special::ln_gamma(x)),
        Some("beta_regularized") => special::beta_regularized(float(&case["a"]), float(&case["b"]), x),
        Some("binomial_half_cdf") => Some(special::binomial_half_cdf(count(&case["k"]), count(&case["n"]))),
        _ => None,
    };
    found.number(&case.to_string(), &case["y"], value);
}

fn compare_mcnemar(case: &Value, found: &mut Mismatches) {
    let counts = PairCounts {
        first_only: count(&case["with_only"]),
        second_only: count(&case["without_only"]),
        ..PairCounts::default()
    };
    let test = counts.mcnemar();
    found.number("exact", &case["exact"], test.exact);
    found.number("mid_p", &case["mid_p"], test.mid_p);
    found.number("p_helped", &case["p_helped"], test.p_helped);
    found.number("p_harmful", &case["p_harmful"], test.p_harmful);
}

fn compare_paired(case: &Value, found: &mut Mismatches) {
    let counts = PairCounts {
        both: count(&case["both"]),
        first_only: count(&case["with_only"]),
        second_only: count(&case["without_only"]),
        neither: count(&case["neither"]),
    };
    let confidence = float(&case["confidence"]);
    found.number("difference", &case["difference"], counts.difference());
    found.number("phi", &case["phi"], counts.phi());
    found.interval("newcombe", &case["newcombe"], counts.newcombe(confidence));
    found.interval("tango", &case["tango"], counts.tango(confidence));
    found.interval("wilson_with", &case["wilson_with"], counts.first_rate(confidence));
    found.interval("wilson_without", &case["wilson_without"], counts.second_rate(confidence));
}

fn compare_sequence(case: &Value, found: &mut Mismatches) {
    let mut differences = DifferenceCounts::default();
    for (value, times) in floats(&case["values"]).into_iter().zip(counts(&case["counts"])) {
        match Difference::new(value) {
            Some(difference) => differences.add_many(difference, times),
            None => found.found.push(format!("{value} is no difference")),
        }
    }
    for capital in case["capital"].as_array().into_iter().flatten() {
        let mean = float(&capital["m"]);
        found.number("ln_plus", &capital["ln_plus"], differences.ln_capital(Side::Above, mean));
        found.number("ln_minus", &capital["ln_minus"], differences.ln_capital(Side::Below, mean));
    }
    let range = differences.interval(float(&case["alpha"]));
    found.number("low", &case["low"], range.low);
    found.number("high", &case["high"], range.high);
    found.number("ln_e", &case["ln_e"], differences.ln_e());
}

fn compare_verdicts(case: &Value, found: &mut Mismatches) {
    let mut monitor = Monitor::new(float(&case["alpha"]), float(&case["margin"]));
    let mut changes: Vec<(u64, String)> = Vec::new();
    let mut first_decided = None;
    for sign in case["differences"].as_str().unwrap_or_default().chars() {
        monitor.push(match sign {
            '+' => Difference::FIRST_BETTER,
            '-' => Difference::SECOND_BETTER,
            _ => Difference::EQUAL,
        });
        let judgement = monitor.judgement();
        let verdict = judgement.verdict.to_string();
        if changes.last().is_none_or(|(_, last)| *last != verdict) {
            changes.push((judgement.pairs, verdict));
        }
        if judgement.verdict != Verdict::Undecided && first_decided.is_none() {
            first_decided = Some(judgement.pairs);
        }
    }
    let expected: Vec<(u64, String)> = case["verdict_from"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|change| (count(&change[0]), change[1].as_str().unwrap_or_default().to_owned()))
        .collect();
    found.equal("verdict_from", &expected, &changes);
    found.equal("first_decided", &case["first_decided"].as_u64(), &first_decided);
}

fn assumed_effect(case: &Value) -> AssumedEffect {
    AssumedEffect { difference: float(&case["difference"]), discordance: float(&case["discordance"]) }
}

fn compare_fixed_power(case: &Value, found: &mut Mismatches) {
    let pairs = count(&case["pairs"]);
    for (name, variant) in [("exact", TestVariant::Exact), ("mid_p", TestVariant::MidP)] {
        let power =
            FixedPower::new(variant, float(&case["alpha"]), assumed_effect(case), pairs).with_pairs(pairs);
        found.number(name, &case[name][0], power.helped);
        found.number(name, &case[name][1], power.harmful);
    }
}

fn compare_monitored_power(case: &Value, found: &mut Mismatches) {
    let pairs = count(&case["pairs"]) as usize;
    let design = MonitoredDesign::new(float(&case["alpha"]), float(&case["margin"]), pairs);
    let power = design.power(assumed_effect(case), pairs);
    found.number("helped", &case["helped"], power.helped);
    found.number("harmful", &case["harmful"], power.harmful);
    found.number("no_effect", &case["no_effect"], power.no_effect);
    found.number("mean_pairs", &case["mean_pairs"], power.mean_pairs);
    let by: BTreeMap<String, Value> =
        case["helped_by"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (pairs, expected) in by {
        let index: usize = pairs.parse().unwrap_or(usize::MAX);
        found.number(&format!("helped_by {pairs}"), &expected, power.helped_by.get(index).copied());
    }
}

fn compare_needed_pairs(case: &Value, found: &mut Mismatches) {
    let (alpha, limit) = (float(&case["alpha"]), count(&case["limit"]));
    let effect = assumed_effect(case);
    let fixed = FixedPower::new(TestVariant::Exact, alpha, effect, limit).pairs_for(float(&case["power"]));
    found.equal("fixed_exact", &case["fixed_exact"].as_u64(), &fixed.map(|(pairs, _)| pairs));
    found.number("power_at_fixed", &case["power_at_fixed"], fixed.map(|(_, power)| power));
    // All cases share one design, which takes longer to compute than the powers.
    static DESIGN: LazyLock<MonitoredDesign> = LazyLock::new(|| MonitoredDesign::new(0.05, 0.1, 400));
    found.equal("alpha and limit", &(0.05, 400), &(alpha, limit));
    let power = DESIGN.power(effect, limit as usize);
    found.equal("monitored_80", &case["monitored_80"].as_u64(), &power.pairs_for(0.8));
    found.equal("monitored_50", &case["monitored_50"].as_u64(), &power.pairs_for(0.5));
}

fn compare_bootstrap(case: &Value, found: &mut Mismatches) {
    let values: Vec<i64> =
        case["values"].as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let (resamples, seed) = (count(&case["resamples"]) as usize, count(&case["seed"]));
    let mut random = SplitMix64::new(seed);
    let first: Vec<usize> = (0..values.len().min(8)).map(|_| random.index_below(values.len())).collect();
    found.equal("first_indices", &indices(&case["first_indices"]), &first);
    let Some(interval) = bootstrap_mean_with(&values, float(&case["confidence"]), resamples, seed) else {
        found.found.push("no interval".to_owned());
        return;
    };
    found.number("estimate", &case["estimate"], interval.estimate);
    found.number("low", &case["low"], interval.low);
    found.number("high", &case["high"], interval.high);
    found.number("z0", &case["z0"], interval.bias);
    found.number("a", &case["a"], interval.acceleration);
    let kind = match interval.kind {
        BootstrapKind::Bca => "bca",
        BootstrapKind::Percentile => "percentile",
        BootstrapKind::Point => "point",
    };
    found.equal("kind", &case["kind"].as_str(), &Some(kind));
}

fn compare_multiple(case: &Value, found: &mut Mismatches) {
    if case["e"].is_array() {
        let ln_e: Vec<f64> = floats(&case["e"]).into_iter().map(f64::ln).collect();
        found.equal("e_bh", &indices(&case["e_bh"]), &e_bh(&ln_e, float(&case["q"])));
        return;
    }
    let (p, alpha) = (floats(&case["p"]), float(&case["alpha"]));
    for (name, adjusted) in [("holm", holm(&p)), ("bh", benjamini_hochberg(&p))] {
        found.equal(
            &format!("number of {name}"),
            &case[name].as_array().map(Vec::len),
            &Some(adjusted.len()),
        );
        for (index, adjusted) in adjusted.iter().enumerate() {
            found.number(name, &case[name][index], *adjusted);
        }
        let key = format!("{name}_rejected");
        found.equal(&key, &indices(&case[&key]), &rejected(&adjusted, alpha));
    }
}

fn compare_similarity(case: &Value, found: &mut Mismatches) {
    let [first, second] = ["a", "b"].map(|key| case[key].as_str().unwrap_or_default());
    let cosine = WordCounts::of(first).cosine(&WordCounts::of(second));
    found.equal("words_a", &count(&case["words_a"]), &WordCounts::of(first).total());
    found.number("cosine", &case["cosine"], cosine);
    found.number("rounded", &case["rounded"], (cosine * 100.0).round() / 100.0);
}
