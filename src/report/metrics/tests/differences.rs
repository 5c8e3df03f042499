//! What differs from the rows of the papers' tables, as it is printed.

use super::{
    Format, compare_with_papers, episode, render_metrics, session, single_group, spec, task,
    three_reflexion_tasks,
};
use crate::catalog::{self, PaperRow, published_results};
use crate::domain::{PRESET_SETTING, PaperOrCode, RunSpec, SettingOrigin, Task};
use crate::report::metrics::{RowComparison, SessionMetrics};
use serde_json::Value;
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

/// Returns a run of a row's preset with nothing else chosen: ten tasks of each type that the row has figures of, the first solved.
fn run_of_preset(row: &PaperRow, env: &str) -> SessionMetrics {
    let long_type = |short: &str| match short {
        "put" => "pick_and_place_simple".to_owned(),
        "clean" | "heat" | "cool" => format!("pick_{short}_then_place_in_recep"),
        "examine" => "look_at_obj_in_light".to_owned(),
        "puttwo" => "pick_two_obj_and_place".to_owned(),
        page => page.to_owned(),
    };
    let types = row.task_types_in(env).into_iter().map(long_type);
    let tasks = types.flat_map(|name| {
        (0..10).map(move |n| match env {
            "alfworld" => task(&format!("json/valid_unseen/{name}-{n}"), &name),
            _ => Task { env: env.to_owned(), ..task(&format!("{name}/{n}"), &name) },
        })
    });
    let episodes = tasks.enumerate().map(|(index, task)| {
        let won = index % 10 == 0;
        episode(index as u32 + 1, &task, 1, won, f64::from(u8::from(won)))
    });
    let (_, mut settings, loop_detector) = catalog::defaults(&row.method, PaperOrCode::Paper);
    let of_row = row.settings_in(env).into_iter().map(|(name, value)| (name, value.clone()));
    let options = row.options.iter().map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
    for (name, value) in of_row.chain(options) {
        settings.set(name, value, SettingOrigin::Paper);
    }
    let mut run =
        RunSpec { method: row.method.clone(), trials: row.trials, loop_detector, settings, ..spec() };
    run.limits.steps = row.steps;
    let mut session = session("s", episodes.collect());
    session.spec = Some(Arc::new(run));
    session
}

/// What a row of DORA's tables has beside a run: its figures, differences and notes.
fn beside(row: &PaperRow, session: SessionMetrics) -> RowComparison {
    let rows = compare_with_papers(&single_group(vec![session])).unwrap();
    rows.into_iter().find(|found| found.source == row.source() && found.row == row.label).unwrap()
}

fn rows_of_dora() -> impl Iterator<Item = (&'static PaperRow, &'static str)> {
    let rows = published_results().iter().filter(|row| row.paper.title == "DORA");
    rows.map(|row| (row, if row.preset.starts_with("dora-1") { "miniwob" } else { "alfworld" }))
}

/// Regression: what nobody knows of DORA's runs (seeds, split, number of tasks) kept every figure of its tables away, also those
/// of RCI, from the runs of their own presets.
#[test]
fn the_figures_of_doras_tables_stand_beside_runs_of_their_presets() {
    assert_eq!(rows_of_dora().count(), 20);
    // Both halves of a table have the same settings, so each run is compared with two rows.
    for (preset, env) in rows_of_dora().filter(|(row, _)| !row.preset.contains("vicuna")) {
        let mut session = run_of_preset(preset, env);
        if preset.method == "dora" {
            let run = Arc::make_mut(session.spec.as_mut().unwrap());
            run.settings.set("prompter", "local", SettingOrigin::Flag);
        }
        let found = compare_with_papers(&single_group(vec![session])).unwrap();
        let rows = rows_of_dora().filter(|(row, of)| of == &env && row.label == preset.label);
        for (row, _) in rows {
            let name = &row.preset;
            let found =
                found.iter().find(|found| found.source == row.source() && found.row == row.label).unwrap();
            assert_eq!(found.differences, Vec::<String>::new(), "{name}");
            assert_eq!(found.figures.len(), row.figures.len(), "{name}");
            assert!(found.figures.iter().all(|figure| (figure.ours.value - 10.0).abs() < 1e-9), "{name}");
            assert!(found.notes[0].starts_with("the paper names no "), "{:?}", found.notes);
            let has_note = |words: &str| found.notes.iter().any(|note| note.contains(words));
            assert_eq!(has_note("soft prompt of "), row.method == "dora", "{name}");
            assert_eq!(has_note("RCI"), row.method == "rci", "{name}");
            // Two digits are no reason to call a figure an impossible share; the average of this row can't be one.
            let notes = found.figures.iter().filter_map(|figure| figure.note.as_deref());
            let impossible = notes.filter(|note| note.contains("not a share")).count();
            assert_eq!(impossible, usize::from(name == "dora-2-vicuna-rci"), "{name}");
        }
    }
}

/// The paper says neither which tasks of a type it plays, nor how many of three numbers.
#[test]
fn runs_of_other_prompters_or_numbers_of_tasks_have_no_figures_of_dora() {
    let (row, env) = rows_of_dora().find(|(row, _)| row.preset == "dora-2").unwrap();
    let steered_by_text = beside(row, run_of_preset(row, env));
    assert_eq!(steered_by_text.differences, ["prompter local in the paper, text here"]);
    assert_eq!(steered_by_text.figures, []);
    let (row, env) = rows_of_dora().find(|(row, _)| row.preset == "dora-1-react").unwrap();
    let mut session = run_of_preset(row, env);
    session.episodes.pop();
    assert_eq!(
        beside(row, session.clone()).differences,
        Vec::<String>::new(),
        "nine are the figures' number"
    );
    session.episodes.pop();
    let found = beside(row, session.clone());
    let expected =
        "9 or 10 or 11 tasks of each of 10 types in the paper, other numbers here: use-autocomplete 8";
    assert_eq!(found.differences, [expected]);
    assert_eq!(found.figures, []);
    session.episodes.retain(|episode| episode.task.task_type.as_deref() == Some("click-pie"));
    let found = beside(row, session);
    let others = &found.differences[0];
    assert!(others.contains("click-color 0") && !others.contains("click-pie"), "{others}");
}

#[test]
fn what_published_figures_leave_open_is_printed_beside_them() {
    let row = published_results().iter().find(|row| row.preset == "dora-2-rci").unwrap();
    let all = [single_group(vec![run_of_preset(row, "alfworld")])];
    let text = render_metrics(&all, Format::Text, true);
    let note = "- DORA, Table 2 (Llama3-8b) (RCI): the paper names no ALFWorld split and no step limit";
    assert!(text.contains("\nWhat these figures leave open, or have otherwise than here:\n"), "{text}");
    assert!(text.contains(note), "{text}");
    let json: Value = serde_json::from_str(&render_metrics(&all, Format::Json, true)).unwrap();
    let notes = json["configurations"][0]["against_paper"]["notes"].as_array().unwrap();
    assert!(
        notes.iter().any(|found| format!("- {}", found.as_str().unwrap()).starts_with(note)),
        "{notes:?}"
    );
    // Without figures there is nothing to say about them.
    let text = render_metrics(&[single_group(vec![three_reflexion_tasks()])], Format::Text, true);
    assert!(!text.contains("What these figures leave open"), "{text}");
}
