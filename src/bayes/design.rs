//! The first points of a search, before any reward is known.

use super::random::RandomNumbers;

/// Returns `count` points of the box `[low, high]^dimension` (a Latin hypercube): in each dimension, each of `count` equal
/// parts of the range has exactly one point, at a random place.
pub fn latin_hypercube(count: usize, dimension: usize, [low, high]: [f64; 2], seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = RandomNumbers::from_seed(seed);
    let mut points = vec![Vec::with_capacity(dimension); count];
    for _ in 0..dimension {
        let mut cells: Vec<usize> = (0..count).collect();
        numbers.shuffle(&mut cells);
        for (point, cell) in points.iter_mut().zip(cells) {
            point.push(low + (high - low) * (cell as f64 + numbers.unit()) / count as f64);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_each_dimension_has_one_point() {
        for (count, dimension, seed) in [(4, 10, 1), (10, 3, 2), (1, 1, 3)] {
            let points = latin_hypercube(count, dimension, [0.0, 1.0], seed);
            assert_eq!(points.len(), count);
            for axis in 0..dimension {
                let mut cells: Vec<usize> =
                    points.iter().map(|point| (point[axis] * count as f64) as usize).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..count).collect::<Vec<_>>());
            }
            assert_eq!(points, latin_hypercube(count, dimension, [0.0, 1.0], seed));
        }
    }
}
