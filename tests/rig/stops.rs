//! The rows of `tests/data/stops.txt`.

/// Session, task, condition, and the steps at which it stops.
pub(crate) type Row = (&'static str, &'static str, &'static str, Vec<u32>);

pub(crate) fn rows() -> Vec<Row> {
    let lines = include_str!("../data/stops.txt").lines().filter(|l| !l.starts_with('#'));
    lines
        .map(|line| {
            let mut cells = line.split('|').map(str::trim);
            let mut cell = || cells.next().unwrap_or_default();
            let (session, task, condition) = (cell(), cell(), cell());
            (session, task, condition, cell().split_whitespace().filter_map(|n| n.parse().ok()).collect())
        })
        .collect()
}
