//! Corrections for several lessons measured at once (`docs/EFFECT.md`).

/// The share of falsely marked lessons that is accepted among several.
pub const FALSE_DISCOVERY_RATE: f64 = 0.10;

/// Returns the positions that e-BH marks at rate `q`, ascending: the expected share of lessons without effect among them is
/// at most `q`, whatever the lessons' results have in common and whenever the measurement stops (Wang and Ramdas 2022).
/// The e values are given as logarithms.
pub fn e_bh(ln_e: &[f64], q: f64) -> Vec<usize> {
    let order = sorted_positions(ln_e, |x, y| y.total_cmp(x));
    let lessons = ln_e.len() as f64;
    let count = (1..=order.len())
        .rev()
        .find(|rank| {
            let e = rank
                .checked_sub(1)
                .and_then(|index| order.get(index))
                .and_then(|position| ln_e.get(*position));
            e.is_some_and(|ln_e| *ln_e >= (lessons / (q * *rank as f64)).ln() - 1e-12)
        })
        .unwrap_or(0);
    let mut marked: Vec<usize> = order.into_iter().take(count).collect();
    marked.sort_unstable();
    marked
}

/// Returns Holm's adjusted p values: comparing them with alpha bounds the probability of any false rejection.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = sorted_positions(p, f64::total_cmp);
    let mut largest = 0.0_f64;
    adjust(p, order.iter().enumerate(), |rank, p, count| {
        largest = largest.max((count - rank) as f64 * p).min(1.0);
        largest
    })
}

/// Returns Benjamini and Hochberg's adjusted p values: comparing them with q bounds the expected share of false rejections,
/// if the tests are independent or depend on each other positively.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = sorted_positions(p, f64::total_cmp);
    let mut smallest = 1.0_f64;
    adjust(p, order.iter().enumerate().rev(), |rank, p, count| {
        smallest = smallest.min(count as f64 * p / (rank + 1) as f64);
        smallest
    })
}

/// Returns the positions whose adjusted p value is at most `level`.
pub fn rejected(adjusted: &[f64], level: f64) -> Vec<usize> {
    adjusted.iter().enumerate().filter(|(_, p)| **p <= level).map(|(position, _)| position).collect()
}

fn sorted_positions(values: &[f64], compare: impl Fn(&f64, &f64) -> std::cmp::Ordering) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|x, y| compare(&x.1, &y.1));
    order.into_iter().map(|(position, _)| position).collect()
}

fn adjust<'a>(
    p: &[f64],
    order: impl Iterator<Item = (usize, &'a usize)>,
    mut next: impl FnMut(usize, f64, usize) -> f64,
) -> Vec<f64> {
    let count = p.len();
    let mut adjusted = p.to_vec();
    for (rank, position) in order {
        if let (Some(p), Some(adjusted)) = (p.get(*position), adjusted.get_mut(*position)) {
            *adjusted = next(rank, *p, count);
        }
    }
    adjusted
}
