//! The evolution strategy CMA-ES, which maximises what has no derivative.

use cmaes::{CMAESOptions, DVector, Mode};

/// How a search is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvolutionOptions {
    pub(super) step: f64,
    /// The points of a generation; `None`: as many as the dimension suggests.
    pub(super) population: Option<usize>,
    pub(super) generations: usize,
    pub(super) seed: u64,
}

/// Searches for the largest value of a function. Returns the best point that was looked at, and its value.
///
/// # Errors
/// Returns the error of `on_generation`, which is called after each generation.
pub(super) fn maximise(
    function: impl Fn(&[f64]) -> f64,
    start: &[f64],
    options: EvolutionOptions,
    mut on_generation: impl FnMut() -> Result<(), String>,
) -> Result<(Vec<f64>, f64), String> {
    let mut settings = CMAESOptions::new(start.to_vec(), options.step)
        .mode(Mode::Maximize)
        .max_generations(options.generations)
        .seed(options.seed);
    if let Some(population) = options.population {
        settings = settings.population_size(population);
    }
    let objective = |point: &DVector<f64>| function(point.as_slice());
    let mut search =
        settings.build(objective).map_err(|error| format!("the search can't start: {error:?}"))?;
    while search.next().is_none() {
        on_generation()?;
    }
    Ok(match search.overall_best_individual() {
        Some(best) => (best.point.as_slice().to_vec(), best.value),
        None => (start.to_vec(), function(start)),
    })
}

/// Moves a point into a box. Returns it with the squared distance that it was moved.
pub(super) fn clamp(point: &[f64], bounds: impl Iterator<Item = [f64; 2]>) -> (Vec<f64>, f64) {
    let mut overshoot = 0.0;
    let clamped = point.iter().zip(bounds).map(|(value, [low, high])| {
        let inside = value.max(low).min(high);
        overshoot += (value - inside).powi(2);
        inside
    });
    (clamped.collect(), overshoot)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: EvolutionOptions =
        EvolutionOptions { step: 0.5, population: Some(12), generations: 100, seed: 4 };

    fn bump(point: &[f64]) -> f64 {
        -point.iter().map(|value| (value - 0.25).powi(2)).sum::<f64>()
    }

    #[test]
    fn finds_the_top_of_a_bump_and_the_same_one_for_the_same_seed() {
        let (point, value) = maximise(bump, &[-1.0, 0.9], OPTIONS, || Ok(())).expect("not cancelled");
        assert!(value > -1e-6, "{point:?}");
        assert_eq!(maximise(bump, &[-1.0, 0.9], OPTIONS, || Ok(())), Ok((point, value)));
    }

    #[test]
    fn a_cancelled_search_ends_after_its_generation() {
        let mut generations = 0;
        let cancelled = maximise(bump, &[-1.0, 0.9], OPTIONS, || {
            generations += 1;
            if generations == 3 { Err("cancelled".to_owned()) } else { Ok(()) }
        });
        assert_eq!((cancelled, generations), (Err("cancelled".to_owned()), 3));
    }

    #[test]
    fn clamping_measures_what_it_moved() {
        let (point, overshoot) = clamp(&[2.0, -0.5, -4.0], std::iter::repeat([-1.0, 1.0]));
        assert_eq!((point, overshoot), (vec![1.0, -0.5, -1.0], 10.0));
    }
}
