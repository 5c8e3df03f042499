//! What differs from the rows of the papers' tables, as it is printed.

use super::{Format, render_metrics, single_group, three_reflexion_tasks};
use std::sync::Arc;

/// Regression: what differs from all rows was repeated for each of them.
#[test]
fn what_differs_from_all_rows_is_printed_once() {
    let mut session = three_reflexion_tasks();
    Arc::make_mut(session.spec.as_mut().unwrap()).actor = "rules".to_owned();
    let text = render_metrics(&[single_group(vec![session])], Format::Text, true);
    let (_, listed) = text.split_once("and what differs:\n").unwrap();
    let mut lines = listed.lines().take_while(|line| line.starts_with("- "));
    let common = lines.next().unwrap_or_else(|| panic!("{text}"));
    let rows: Vec<&str> = lines.collect();
    let (count, common) =
        common.strip_prefix("- from all ").unwrap_or_else(|| panic!("{text}")).split_once(" rows: ").unwrap();
    assert_eq!(count, rows.len().to_string());
    assert!(common.contains("a language model acts in the paper"), "{common}");
    for difference in common.split("; ") {
        assert!(!rows.iter().any(|row| row.contains(difference)), "{difference}: {rows:?}");
    }
    assert!(rows.len() > 1 && rows.iter().all(|row| row.contains("): ")), "{rows:?}");
}
