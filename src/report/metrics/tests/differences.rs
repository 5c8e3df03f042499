//! What differs from the rows of the papers' tables, as it is printed.

use super::{Format, compare_with_papers, render_metrics, single_group, three_reflexion_tasks};
use crate::domain::{PRESET_SETTING, SettingOrigin};
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

/// Regression: the row of the run's own preset was somewhere among the others.
#[test]
fn the_row_of_the_own_preset_comes_first() {
    let rows = |preset: Option<&str>| -> Vec<String> {
        let mut session = three_reflexion_tasks();
        if let Some(preset) = preset {
            let run = Arc::make_mut(session.spec.as_mut().unwrap());
            run.settings.set(PRESET_SETTING, preset, SettingOrigin::Flag);
        }
        let rows = compare_with_papers(&single_group(vec![session])).unwrap();
        rows.into_iter().map(|row| row.source + &row.row).collect()
    };
    let (unset, fcrf) = (rows(None), rows(Some("fcrf-1-reflexion")));
    assert!(!unset[0].starts_with("FCRF") && fcrf[0].starts_with("FCRF"), "{unset:?} {fcrf:?}");
    let others = |all: &[String]| all.iter().filter(|row| **row != fcrf[0]).cloned().collect::<Vec<_>>();
    assert_eq!(others(&unset), others(&fcrf));
}

/// Regression: a parameter that isn't sent was printed as `false`.
#[test]
fn a_parameter_that_is_not_sent_is_off() {
    let mut session = three_reflexion_tasks();
    let run = Arc::make_mut(session.spec.as_mut().unwrap());
    run.settings.set("actor.top_p", false, SettingOrigin::Flag);
    let text = render_metrics(&[single_group(vec![session])], Format::Text, true);
    assert!(text.contains("actor.top_p 0.7 in the paper, off here"), "{text}");
}
