//! Properties and cases of the statistics. `tests/golden/effect.rs` compares them with published software.

use super::*;
use proptest::prelude::*;

fn difference(value: f64) -> Difference {
    Difference::new(value).unwrap()
}

fn result(won: bool, progress: f64, steps: u64, tokens: u64) -> EpisodeResult {
    EpisodeResult { won, progress, steps, tokens }
}

#[test]
fn splitmix_has_its_published_numbers() {
    // The first outputs of Vigna's reference program for the state 1234567.
    let mut random = SplitMix64::new(1_234_567);
    let numbers: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
    assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    assert_eq!(random.index_below(0), 0);
}

#[test]
fn sample_seeds_are_the_head_of_a_sha256() {
    // printf 'retrospect effect' and three big-endian words | sha256sum
    assert_eq!(sample_seed(7, 1, 1), 6_783_995_359_707_570_193);
    let mut seeds: Vec<u64> = (1..=50).flat_map(|k| (1..=4).map(move |j| sample_seed(1, k, j))).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 200, "pairs and repeats have seeds of their own");
}

#[test]
fn task_orders_are_permutations_that_depend_on_the_seed() {
    let order = block_order(&[100], 3);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    assert_eq!(order, block_order(&[100], 3));
    assert_ne!(order, block_order(&[100], 4));
    assert_eq!((block_order(&[0], 1), block_order(&[1], 1)), (vec![], vec![0]));
}

#[test]
fn outcomes_are_positive_if_the_first_arm_did_better() {
    let won = result(true, 0.4, 12, 1_000);
    let lost = result(false, 0.4, 3, 2_000);
    let cases = [
        (Outcome::Success, Some(1.0), 1),
        (Outcome::Progress, Some(0.6), 600_000),
        (Outcome::Steps, Some(0.76), 38),
        (Outcome::Tokens, None, 693_147),
    ];
    for (outcome, expected, exact) in cases {
        assert_eq!(outcome.difference(&won, &lost, 50).map(Difference::value), expected, "{outcome}");
        assert_eq!(outcome.exact_difference(&won, &lost, 50), exact, "{outcome}");
        assert_eq!(outcome.exact_difference(&lost, &won, 50), -exact, "{outcome}");
        assert_eq!(outcome.default_margin().is_some(), expected.is_some(), "{outcome}");
        assert!(outcome.value(&won, 50) > outcome.value(&lost, 50), "{outcome}");
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
    }
    // Nothing is left to play at the starting point.
    assert_eq!(Outcome::Steps.difference(&won, &lost, 0), Some(Difference::EQUAL));
}

#[test]
fn pairing_gain_is_what_common_seeds_save() {
    let same = [(1.0, 1.0), (0.0, 0.0), (1.0, 1.0), (0.0, 0.0)];
    assert_eq!(pairing_gain(&same), Some(1.0));
    let unrelated = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)];
    assert_eq!(pairing_gain(&unrelated), Some(0.0));
    assert_eq!(pairing_gain(&[(1.0, 0.0), (1.0, 0.0)]), None, "nothing varies");
    assert_eq!(pairing_gain(&[(1.0, 0.0)]), None);
}

#[test]
fn differences_stay_within_their_bounds() {
    for value in [f64::NAN, 1.000_001, -1.1, f64::INFINITY] {
        assert_eq!(Difference::new(value), None);
    }
    assert_eq!(Difference::new(-0.0).unwrap().value().to_bits(), 0.0_f64.to_bits());
    assert_eq!(Difference::mean(&[]), None);
    assert_eq!(Difference::mean(&[difference(1.0), difference(0.5)]), Difference::new(0.75));
}

#[test]
fn columns_combine_into_a_panel() {
    use Verdict::{Harmful, Helped, Inconsistent, NoEffectSeen, Undecided};
    let cases = [
        (Helped, Helped, PanelVerdict::Lesson),
        (Undecided, Helped, PanelVerdict::Lesson),
        (NoEffectSeen, Helped, PanelVerdict::Lesson),
        (Helped, NoEffectSeen, PanelVerdict::Answer),
        (Helped, Undecided, PanelVerdict::Undecided),
        (NoEffectSeen, NoEffectSeen, PanelVerdict::NoEffectSeen),
        (Undecided, NoEffectSeen, PanelVerdict::Undecided),
        (NoEffectSeen, Undecided, PanelVerdict::Undecided),
        (Undecided, Undecided, PanelVerdict::Undecided),
        (Harmful, Helped, PanelVerdict::Harmful),
        (Helped, Harmful, PanelVerdict::Harmful),
        (Undecided, Harmful, PanelVerdict::Harmful),
        (Inconsistent, Helped, PanelVerdict::Inconsistent),
        (Harmful, Inconsistent, PanelVerdict::Inconsistent),
    ];
    for (here, elsewhere, expected) in cases {
        assert_eq!(PanelVerdict::combine(here, elsewhere), expected, "{here}, {elsewhere}");
    }
    assert_eq!((column_alpha(1), column_alpha(2)), (0.05, 0.025));
}

#[test]
fn a_level_for_two_columns_needs_more_pairs() {
    let pairs_until_helped = |alpha: f64| {
        let mut monitor = Monitor::new(alpha, 0.1);
        while monitor.judgement().verdict == Verdict::Undecided {
            monitor.push(Difference::FIRST_BETTER);
        }
        monitor.judgement().pairs
    };
    assert_eq!((pairs_until_helped(0.05), pairs_until_helped(0.025)), (8, 9));
}

#[test]
fn the_number_of_further_pairs_is_right_if_the_rates_stay() {
    // One win and two ties in turn: the prediction after 30 pairs is close to the pairs that it takes.
    let mut monitor = Monitor::new(0.05, 0.1);
    assert_eq!(monitor.further_pairs(1_000), None, "no rates are known yet");
    let cycle = [Difference::FIRST_BETTER, Difference::EQUAL, Difference::EQUAL];
    let (mut predicted, mut needed) = (None, 0);
    for pair in (0..).map(|index| cycle[index % 3]) {
        monitor.push(pair);
        if monitor.judgement().pairs == 12 {
            predicted = monitor.further_pairs(1_000);
        }
        if monitor.judgement().verdict != Verdict::Undecided {
            break;
        }
        needed += u64::from(monitor.judgement().pairs >= 12);
    }
    assert_eq!(monitor.judgement().verdict, Verdict::Helped);
    assert!(predicted.is_some_and(|p| p.abs_diff(needed) <= 3), "{predicted:?}, {needed}");
    assert_eq!(monitor.further_pairs(1_000), Some(0));

    // Without any difference there is a verdict after 51 pairs.
    let mut monitor = Monitor::new(0.05, 0.1);
    (0..10).for_each(|_| monitor.push(Difference::EQUAL));
    assert_eq!(monitor.further_pairs(1_000), Some(41));
    assert_eq!(monitor.further_pairs(40), None);
}

#[test]
fn small_effects_are_told_from_large_ones() {
    let mut monitor = Monitor::new(0.05, 0.5);
    for pair in 0..400 {
        monitor.push(if pair % 5 == 0 { Difference::FIRST_BETTER } else { Difference::EQUAL });
    }
    let judgement = monitor.judgement();
    assert_eq!(judgement.verdict, Verdict::Helped);
    assert!(judgement.is_small_effect());
    assert!(judgement.low > 0.0 && judgement.low < 0.2 && judgement.high > 0.2, "{judgement:?}");
    assert!(judgement.anytime_p <= 0.05);
}

#[test]
fn contradicting_pairs_are_inconsistent_and_leave_no_mean() {
    let mut monitor = Monitor::new(0.05, 0.1);
    (0..30).for_each(|_| monitor.push(Difference::FIRST_BETTER));
    (0..300).for_each(|_| monitor.push(Difference::SECOND_BETTER));
    let judgement = monitor.judgement();
    assert_eq!(judgement.verdict, Verdict::Inconsistent);
    assert!(DifferenceRange { low: judgement.low, high: judgement.high }.is_empty());
    assert_eq!(judgement.held.above_zero, Some(8));
    assert!(judgement.held.below_zero > Some(30));
}

#[test]
fn more_than_a_twentieth_of_discarded_pairs_prevents_a_verdict() {
    let cases =
        [(9, 10, false), (0, 19, false), (19, 1, false), (18, 2, true), (95, 5, false), (94, 6, true)];
    for (counted, discarded, expected) in cases {
        assert_eq!(too_many_discarded(counted, discarded), expected, "{counted}, {discarded}");
    }
}

#[test]
fn detectable_differences_follow_the_monitored_power() {
    let design = MonitoredDesign::new(0.05, 0.1, 60);
    let best = detectable_difference(&design, 60, |d| Some(AssumedEffect::best_case(d)));
    let independent = detectable_difference(&design, 60, |d| AssumedEffect::independent_arms(0.4, d));
    assert_eq!((best, independent), (Some(0.2), Some(0.35)));
    assert_eq!(detectable_difference(&design, 5, |d| Some(AssumedEffect::best_case(d))), None);
    assert_eq!(AssumedEffect::independent_arms(0.9, 0.2), None);
    let certain = AssumedEffect::independent_arms(0.7, 0.3).unwrap();
    assert!((certain.discordance - 0.3).abs() < 1e-12);
    assert_eq!((estimated_rate(0, 0), estimated_rate(3, 4)), (0.5, 4.0 / 6.0));
}

#[test]
fn empty_measurements_have_no_numbers() {
    let none = PairCounts::default();
    assert_eq!((none.difference(), none.newcombe(0.95), none.tango(0.95)), (None, None, None));
    assert!((none.mcnemar().exact - 1.0).abs() < f64::EPSILON);
    assert_eq!(bootstrap_mean(&[], 0.95), None);
    let judgement = Monitor::new(0.05, 0.1).judgement();
    assert_eq!((judgement.pairs, judgement.difference, judgement.low, judgement.high), (0, None, -1.0, 1.0));
    assert_eq!(judgement.verdict, Verdict::Undecided);
}

#[test]
fn pair_counts_follow_the_episodes() {
    let mut counts = PairCounts::default();
    for (first, second) in [(true, true), (true, false), (true, false), (false, true), (false, false)] {
        counts.add(first, second);
    }
    assert_eq!(counts, PairCounts { both: 1, first_only: 2, second_only: 1, neither: 1 });
    assert_eq!((counts.pairs(), counts.difference()), (5, Some(0.2)));
    assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"a":1,"b":2,"c":1,"d":1}"#);
}

#[test]
fn shuffled_texts_have_the_same_words() {
    let text = "Look for a mug in/on a shelf first.\n  Then stop.";
    let shuffled = shuffled_text(text, "l1", 1);
    assert_ne!(shuffled, text);
    assert_eq!(shuffled.chars().count(), text.chars().count());
    let sorted = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(sorted(&shuffled), sorted(text));
    assert_eq!(shuffled, shuffled_text(text, "l1", 1));
    assert_ne!(shuffled, shuffled_text(text, "l1", 2));
    assert_eq!(shuffled_text("go go", "l1", 1), "go go");
    assert_eq!(shuffled_text("", "l1", 1), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn placebo_texts_have_the_length_of_the_lesson(text in "\\PC{0,300}", id in "[a-z0-9]{1,8}", version in 1_u32..9) {
        let placebo = placebo_text(&text, &id, version);
        prop_assert_eq!(placebo.chars().count(), text.chars().count());
        prop_assert!(placebo.is_empty() || placebo.ends_with('.'));
        prop_assert!(!placebo.contains("  ") && !placebo.starts_with(' '));
        prop_assert_eq!(placebo, placebo_text(&text, &id, version));
    }

    #[test]
    fn capitals_depend_on_counts_and_not_on_order(signs in prop::collection::vec(-2_i8..3, 1..60), seed: u64) {
        let mut shuffled = signs.clone();
        SplitMix64::new(seed).shuffle(&mut shuffled);
        let fold = |signs: &[i8]| {
            let mut counts = DifferenceCounts::default();
            for sign in signs {
                counts.add(difference(f64::from(*sign) / 2.0));
            }
            (counts.ln_e().to_bits(), counts.interval(0.05).low.to_bits(), counts.interval(0.05).high.to_bits())
        };
        prop_assert_eq!(fold(&signs), fold(&shuffled));
    }

    #[test]
    fn running_intervals_are_the_intersection_of_all(signs in prop::collection::vec(-4_i8..5, 1..80)) {
        let mut monitor = Monitor::new(0.05, 0.1);
        let (mut low, mut high) = (-1.0_f64, 1.0_f64);
        for sign in signs {
            monitor.push(difference(f64::from(sign) / 4.0));
            let now = monitor.differences().interval(0.05);
            (low, high) = (low.max(now.low), high.min(now.high));
            let judgement = monitor.judgement();
            prop_assert!((judgement.low - low).abs() < 1e-11 && (judgement.high - high).abs() < 1e-11);
            prop_assert!(judgement.verdict != Verdict::Helped || judgement.low > -1e-12);
        }
    }

    #[test]
    fn exchanging_the_arms_mirrors_every_result(signs in prop::collection::vec(-1_i8..2, 1..120)) {
        let fold = |sign: i8| {
            let mut monitor = Monitor::new(0.05, 0.1);
            for one in &signs {
                monitor.push(difference(f64::from(sign * one)));
            }
            monitor.judgement()
        };
        let (there, back) = (fold(1), fold(-1));
        prop_assert!((there.low + back.high).abs() < 1e-11 && (there.high + back.low).abs() < 1e-11);
        prop_assert_eq!((there.wins, there.losses), (back.losses, back.wins));
        let mirrored = match there.verdict {
            Verdict::Helped => Verdict::Harmful,
            Verdict::Harmful => Verdict::Helped,
            other => other,
        };
        prop_assert_eq!(back.verdict, mirrored);
    }

    #[test]
    fn intervals_contain_their_estimate(a in 0_u64..60, b in 0_u64..60, c in 0_u64..60, d in 0_u64..60) {
        let counts = PairCounts { both: a, first_only: b, second_only: c, neither: d };
        prop_assume!(counts.pairs() > 0);
        for interval in [counts.newcombe(0.95), counts.tango(0.95), counts.first_rate(0.95)].into_iter().flatten() {
            prop_assert!(interval.low <= interval.value + 1e-12 && interval.value <= interval.high + 1e-12);
            prop_assert!(interval.low >= -1.0 - 1e-12 && interval.high <= 1.0 + 1e-12);
        }
        let test = counts.mcnemar();
        prop_assert!(test.mid_p <= test.exact && test.exact <= 1.0 && test.mid_p > 0.0);
    }
}
