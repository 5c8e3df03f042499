//! Places of points of many dimensions in a plane, for pictures.

use nalgebra::{DMatrix, SymmetricEigen};

/// Returns the place of each point in the plane in which the points differ most (their first two principal components), and the
/// share of their variance that it shows. Points of one or two dimensions keep their coordinates.
pub fn project_to_plane(points: &[Vec<f64>]) -> (Vec<[f64; 2]>, f64) {
    let dimension = points.first().map_or(0, Vec::len);
    let at = |point: &[f64], axis: usize| point.get(axis).copied().unwrap_or(0.0);
    if dimension <= 2 || points.len() < 2 {
        return (points.iter().map(|point| [at(point, 0), at(point, 1)]).collect(), 1.0);
    }
    let count = points.len() as f64;
    let means: Vec<f64> =
        (0..dimension).map(|axis| points.iter().map(|point| at(point, axis)).sum::<f64>() / count).collect();
    let centred = DMatrix::from_fn(points.len(), dimension, |row, axis| at(&points[row], axis) - means[axis]);
    let eigen = SymmetricEigen::new(centred.transpose() * &centred);
    let mut order: Vec<usize> = (0..dimension).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let directions = [order[0], order[1]].map(|index| {
        let direction = eigen.eigenvectors.column(index).into_owned();
        // A direction and its opposite are equally good: the largest entry decides, so that pictures don't flip.
        let largest = direction.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
        if largest < 0.0 { -direction } else { direction }
    });
    let places =
        (0..points.len()).map(|row| [0, 1].map(|axis| (centred.row(row) * &directions[axis])[(0, 0)]));
    let all: f64 = eigen.eigenvalues.iter().map(|value| value.max(0.0)).sum();
    let shown: f64 = order[..2].iter().map(|index| eigen.eigenvalues[*index].max(0.0)).sum();
    (places.collect(), if all > 0.0 { shown / all } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dimensions_are_kept() {
        let points = vec![vec![0.5, -0.25], vec![-1.0, 1.0]];
        assert_eq!(project_to_plane(&points), (vec![[0.5, -0.25], [-1.0, 1.0]], 1.0));
        assert_eq!(project_to_plane(&[vec![0.5]]).0, [[0.5, 0.0]]);
        assert_eq!(project_to_plane(&[]), (vec![], 1.0));
    }

    #[test]
    fn points_of_a_plane_keep_their_distances() {
        // A plane in four dimensions, spanned by two directions of length 1.
        let (a, b) = ([0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5]);
        let flat = [[0.0, 0.0], [1.0, 0.0], [0.3, 0.8], [-0.6, 0.2]];
        let points: Vec<Vec<f64>> =
            flat.iter().map(|[x, y]| (0..4).map(|axis| x * a[axis] + y * b[axis]).collect()).collect();
        let (places, shown) = project_to_plane(&points);
        assert!((shown - 1.0).abs() < 1e-9);
        for (p, one) in places.iter().zip(&flat) {
            for (q, other) in places.iter().zip(&flat) {
                let distance = |u: &[f64; 2], v: &[f64; 2]| (u[0] - v[0]).hypot(u[1] - v[1]);
                assert!((distance(p, q) - distance(one, other)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn equal_points_are_all_in_one_place() {
        let (places, shown) = project_to_plane(&vec![vec![0.1, 0.2, 0.3]; 3]);
        assert!(places.iter().flatten().all(|value| value.abs() < 1e-12));
        assert!((shown - 1.0).abs() < 1e-12);
    }
}
