//! What differs from the rows of the papers' tables, as it is printed.

use super::{Format, compare_with_papers, render_metrics, single_group, three_reflexion_tasks};
use crate::catalog;
use crate::domain::{PRESET_SETTING, SettingOrigin};
use crate::method::PaperOrCode;
use std::sync::Arc;

/// Returns what a run of a method differs in from a row of DORA's second table, with these settings.
fn differences_from_dora(method: &str, row: &str, settings: &[(&str, serde_json::Value)]) -> Vec<String> {
    let mut session = three_reflexion_tasks();
    let run = Arc::make_mut(session.spec.as_mut().unwrap());
    run.method = method.to_owned();
    run.settings = catalog::defaults(method, PaperOrCode::Paper).1;
    for (name, value) in settings {
        run.settings.set(name, value.clone(), SettingOrigin::Flag);
    }
    let rows = compare_with_papers(&single_group(vec![session])).unwrap();
    let mut rows = rows.into_iter().filter(|found| found.source.starts_with("DORA") && found.row == row);
    rows.next().unwrap().differences
}

/// Regression: the paper's own prompter and matrix counted as differences, and this program's defaults as the paper's.
#[test]
fn the_papers_prompter_and_matrix_are_those_that_it_states() {
    let of_setting = |settings: &[(&str, serde_json::Value)], name: &str| {
        let all = differences_from_dora("dora", "DORA", settings);
        all.into_iter().find(|difference| difference.starts_with(&format!("{name} ")))
    };
    let told = |text: &str| Some(text.to_owned());
    assert_eq!(of_setting(&[], "prompter"), told("prompter local in the paper, text here"));
    assert_eq!(of_setting(&[], "projection"), told("projection normal in the paper, embedding here"));
    assert_eq!(of_setting(&[("prompter", "local".into())], "prompter"), None);
    for kind in ["normal", "uniform"] {
        assert_eq!(of_setting(&[("projection", kind.into())], "projection"), None, "{kind}");
    }
    // Both numbers are in the paper.
    assert_eq!(of_setting(&[("n_init", 10.into())], "n_init"), None);
    assert_eq!(of_setting(&[("n_init", 7.into())], "n_init"), told("n_init 4 in the paper, 7 here"));
    assert_eq!(of_setting(&[("alpha", 20.into())], "alpha"), told("alpha 50 in the paper, 20 here"));
}

/// Regression: a default of this program that no source states was said to be "in the paper".
#[test]
fn defaults_of_this_program_are_not_said_to_be_in_the_paper() {
    let of = |method: &str, row: &str, settings: &[(&str, serde_json::Value)]| {
        differences_from_dora(method, row, settings)
    };
    let has = |all: &[String], text: &str| all.iter().any(|difference| difference == text);
    let ours = of("dora", "DORA", &[]);
    // Where the paper is silent and the public code isn't, its value is named.
    let elsewhere = of("rci", "RCI", &[("erci", 3.into())]);
    assert!(has(&elsewhere, "erci 0 in the public code, 3 here"), "{elsewhere:?}");
    for erci in [0, 1] {
        let all = of("rci", "RCI", &[("erci", erci.into())]);
        assert!(!all.iter().any(|text| text.starts_with("erci ")), "{all:?}");
    }
    // Where nobody states one, only another than ours is, and it is said that nobody does.
    let printed = of("dora", "DORA", &[("diversity", "printed".into())]);
    assert!(
        has(&printed, "diversity not stated in the paper (distance by default), printed here"),
        "{printed:?}"
    );
    assert!(!ours.iter().any(|text| text.starts_with("diversity ")), "{ours:?}");
}

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

/// Regression: the temperatures of DORA's public code were said to be 0 in the paper, which names none.
#[test]
fn temperatures_of_the_public_code_are_accepted_where_the_paper_names_none() {
    let of_actor = |temperature: f64| {
        let all = differences_from_dora("dora", "DORA", &[("actor.temperature", temperature.into())]);
        all.into_iter().find(|difference| difference.starts_with("actor.temperature"))
    };
    assert_eq!((of_actor(0.0), of_actor(0.3)), (None, None));
    assert_eq!(of_actor(0.7).as_deref(), Some("actor.temperature 0.3 in the public code, 0.7 here"));
}
