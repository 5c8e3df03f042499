//! The search for the next points: inputs, limits, and functions with a known optimum.

use super::*;

fn inputs(points: Vec<Vec<f64>>, rewards: Vec<f64>) -> NextPointsInputs {
    NextPointsInputs {
        dimension: points.first().map_or(2, Vec::len),
        bounds: [-1.0, 1.0],
        points,
        rewards,
        scores: vec![],
        kernel: KernelVariant::Paper,
        fit: FitOptions::default(),
        search: SearchVariant::Ours,
        count: 10,
        min_distance: 1e-6,
        seed: 11,
        version: 1,
    }
}

fn ask(inputs: &NextPointsInputs) -> Result<NextPoints, String> {
    next_points(inputs, &mut |_| Ok(()))
}

/// A smooth hill whose top is not in the middle of the box.
fn hill(point: &[f64]) -> f64 {
    (-point.iter().zip([0.4, -0.3]).map(|(value, top)| (value - top).powi(2)).sum::<f64>() / 0.5).exp()
}

/// Runs a whole search as DORA does: 4 first points, 5 rounds of at most 10. Returns the best value, and how many were tried.
fn run_search(seed: u64) -> (f64, usize) {
    let mut points = crate::bayes::latin_hypercube(4, 2, [-1.0, 1.0], mix_seed(seed, "dora.init"));
    for round in 0..5 {
        let rewards = points.iter().map(|point| hill(point)).collect();
        let mut asked = inputs(points.clone(), rewards);
        asked.seed = mix_seed(seed, &format!("round {round}"));
        points.extend(ask(&asked).unwrap().points.into_iter().map(|found| found.v));
    }
    (points.iter().map(|point| hill(point)).fold(0.0, f64::max), points.len())
}

#[test]
fn beats_random_search_on_a_smooth_hill_in_two_dimensions() {
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let seeds = 0..5_u64;
    let searched: Vec<(f64, usize)> = seeds.clone().map(run_search).collect();
    assert!(searched.iter().all(|(_, tried)| *tried <= 46), "{searched:?}");
    let random = seeds.map(|seed| {
        let mut numbers = RandomNumbers::from_seed(seed);
        (0..46).map(|_| hill(&numbers.point(2, [-1.0, 1.0]))).fold(0.0, f64::max)
    });
    let random = median(random.collect());
    let searched = median(searched.into_iter().map(|(best, _)| best).collect());
    assert!(searched > random && searched > 0.999, "{searched} against {random}");
}

#[test]
fn the_same_inputs_lead_to_the_same_points_in_the_box_by_falling_improvement() {
    let points = vec![vec![0.2, 0.1], vec![-0.6, 0.9], vec![0.9, -0.9]];
    let asked = inputs(points, vec![0.5, 0.1, 0.3]);
    let found = ask(&asked).unwrap();
    assert_eq!(ask(&asked).unwrap(), found);
    assert!(!found.points.is_empty() && found.points.len() <= 3);
    assert!(found.points.iter().flat_map(|point| &point.v).all(|value| (-1.0..=1.0).contains(value)));
    assert!(found.points.windows(2).all(|pair| pair[0].improvement.ei >= pair[1].improvement.ei));
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<NextPoints>(&text).unwrap(), found);
}

#[test]
fn the_best_candidates_are_those_with_the_largest_improvement() {
    let points = vec![vec![0.2, 0.1], vec![-0.6, 0.9], vec![0.9, -0.9]];
    let asked = NextPointsInputs { count: 2, ..inputs(points, vec![0.5, 0.1, 0.3]) };
    let candidates = vec![vec![-0.5, 0.8], vec![0.9, 0.9], vec![0.3, 0.0], vec![0.3, 0.0], vec![0.2, 0.1]];
    let (next, best) = best_candidates(&asked, &candidates, &mut |_| Ok(())).unwrap();
    let all = NextPointsInputs { count: 9, ..asked.clone() };
    let (every, order) = best_candidates(&all, &candidates, &mut |_| Ok(())).unwrap();
    assert_eq!((next.points.len(), &best[..]), (2, &order[..2]));
    assert_eq!(order.len(), 5);
    assert!(every.points.windows(2).all(|pair| pair[0].improvement.ei >= pair[1].improvement.ei));
    // Of equal ones the first.
    let place = |index| order.iter().position(|other| *other == index).unwrap();
    assert_eq!(place(2) + 1, place(3));
    assert_eq!(every.points[0].v, candidates[order[0]]);
    // The same process as without candidates.
    assert_eq!(ask(&asked).unwrap().hyper, next.hyper);
    let message = best_candidates(&asked, &[vec![0.1]], &mut |_| Ok(())).unwrap_err();
    assert!(message.contains("1 coordinates, not 2"), "{message}");
}

/// Searches of one model end near each other; a larger distance keeps fewer of them.
#[test]
fn points_nearer_than_the_least_distance_are_the_same() {
    let points: Vec<Vec<f64>> = (0..6).map(|index| vec![0.1 * f64::from(index), 0.0]).collect();
    let rewards = points.iter().map(|point| hill(point)).collect();
    let asked = inputs(points, rewards);
    let found = |min_distance| ask(&NextPointsInputs { min_distance, ..asked.clone() }).unwrap().points;
    assert!(found(1e-6).len() > 1);
    // So far apart that every point of the box is near a known one: the random point in their place is left.
    assert_eq!(found(1.9).len(), 1);
    // Journals of older versions don't have it.
    let mut older = serde_json::to_value(&asked).unwrap();
    older.as_object_mut().unwrap().remove("min_distance");
    assert_eq!(serde_json::from_value::<NextPointsInputs>(older).unwrap(), asked);
}

#[test]
fn equal_rewards_and_repeated_points_lead_to_numbers() {
    for (points, rewards) in [
        (vec![vec![0.0, 0.0]; 5], vec![0.0; 5]),
        (vec![vec![1.0, 1.0], vec![1.0, 1.0]], vec![0.0, 1.0]),
        (vec![vec![0.3, 0.3]], vec![0.7]),
    ] {
        let found = ask(&inputs(points, rewards)).unwrap();
        assert!(found.objective.is_finite() && (0.0..=1.0).contains(&found.blind), "{found:?}");
        let numbers =
            found.points.iter().flat_map(|point| [point.mean, point.deviation, point.improvement.ei]);
        assert!(!found.points.is_empty() && numbers.into_iter().all(f64::is_finite), "{found:?}");
    }
}

#[test]
fn progress_rises_and_a_cancelled_search_ends() {
    let asked = inputs(vec![vec![0.2, 0.1], vec![-0.6, 0.9]], vec![0.5, 0.1]);
    let mut reports = Vec::new();
    let cancelled = next_points(&asked, &mut |progress| {
        reports.push(progress);
        if progress.done > 1210 { Err("cancelled".to_owned()) } else { Ok(()) }
    });
    assert_eq!(cancelled.map(|_| ()), Err("cancelled".to_owned()));
    assert!(reports.is_sorted() && reports.iter().all(|report| report.done <= report.all), "{reports:?}");
    // The words of the stage are those of the numbers.
    assert_eq!(reports[0].to_string(), "fit 1 of 4, generation 1 of 300");
    let stage = |stage: SearchStage| reports.iter().filter(move |report| report.stage == stage);
    let mut fits: Vec<u64> = stage(SearchStage::Fit).map(|report| report.search).collect();
    fits.dedup();
    assert_eq!(fits, [1, 2, 3, 4]);
    assert!(reports.iter().all(|report| report.generation <= report.generations), "{reports:?}");
    let vectors: Vec<String> = stage(SearchStage::Improve).map(ToString::to_string).collect();
    assert_eq!(vectors[0], "vector 1 of 2, generation 1 of 60");
    assert_eq!(vectors.len(), 11);
}

#[test]
fn contradicting_inputs_are_errors() {
    let good = inputs(vec![vec![0.2, 0.1]], vec![0.5]);
    let cases: [(NextPointsInputs, &str); 3] = [
        (NextPointsInputs { dimension: 3, ..good.clone() }, "coordinates"),
        (NextPointsInputs { rewards: vec![], ..good.clone() }, "rewards"),
        (NextPointsInputs { bounds: [1.0, -1.0], ..good }, "box"),
    ];
    for (asked, reason) in cases {
        let message = ask(&asked).unwrap_err();
        assert!(message.contains(reason), "{message}");
    }
}
