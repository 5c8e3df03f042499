//! The pages of the start screen: the tree of tasks with its preview, settings with their meaning, sessions.

use super::*;
use serde_json::json;

/// Two types with three tasks each, so that a type is worth a branch.
fn model_with_types() -> StartModel {
    let mut start = model();
    start.environments[0].tasks = ["heat", "cool"]
        .iter()
        .flat_map(|kind| {
            (1..=3).map(move |n| TaskRow {
                id: format!("normal/{kind}/{n}"),
                goal: format!("put a {kind} thing {n}"),
                task_type: (*kind).into(),
            })
        })
        .collect();
    start.task = 4;
    start
}

fn rows(chooser: &Chooser) -> Vec<String> {
    let name = |row: &TreeRow| match row {
        TreeRow::Environment { name, is_folded, .. } => format!("{name} {is_folded}"),
        TreeRow::Type { name, is_folded, tasks, .. } => format!(".{name} {tasks} {is_folded}"),
        TreeRow::Task { task, .. } => format!("..{}", task.id),
    };
    chooser.tasks.rows().map(name).collect()
}

#[test]
fn branches_fold_and_unfold() {
    let mut chooser = chooser_of(model_with_types());
    assert_eq!(chooser.tasks.selected_task().unwrap().1.id, "normal/cool/2");
    assert_eq!(rows(&chooser).len(), 1 + 2 + 6 + 1, "a small environment is shown whole");
    press(&mut chooser, KeyCode::Left);
    press(&mut chooser, KeyCode::Left);
    assert_eq!(rows(&chooser)[5..], [".cool 3 true", "alfworld true"]);
    press(&mut chooser, KeyCode::Left);
    press(&mut chooser, KeyCode::Left);
    assert_eq!(rows(&chooser), ["household true", "alfworld true"]);
    press(&mut chooser, KeyCode::Enter);
    assert_eq!(rows(&chooser).len(), 10, "Enter unfolds a branch and starts nothing");
    press(&mut chooser, KeyCode::Down);
    press(&mut chooser, KeyCode::Enter);
    assert_eq!(rows(&chooser)[1..3], [".heat 3 true", ".cool 3 false"]);
    press(&mut chooser, KeyCode::Right);
    assert_eq!(rows(&chooser)[1..3], [".heat 3 false", "..normal/heat/1"]);
}

/// Regression: End did nothing on the page of settings.
#[test]
fn home_and_end_go_to_the_first_and_the_last_row() {
    let mut chooser = chooser_of(model_with_types());
    chooser.section = Section::Advanced;
    let count = chooser.settings_of(Section::Advanced).count();
    let all: Vec<usize> = chooser.settings_of(Section::Advanced).map(|(place, _)| place).collect();
    press(&mut chooser, KeyCode::End);
    assert_eq!(chooser.selected_setting(), all.last().copied(), "{count} settings");
    press(&mut chooser, KeyCode::Home);
    assert_eq!(chooser.selected_setting(), all.first().copied());
}

/// For an audience, the page of tasks says who plays how, and leaves out ids and numbers.
#[test]
fn an_audience_sees_what_starts_without_ids() {
    let chooser = chooser_of(model_with_types());
    for (width, height) in [(120, 36), (80, 24)] {
        let shown = |stage_mode| {
            let options = Options { stage_mode, ..Options::default() };
            let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
            draw(&chooser, &options, &mut buffer);
            let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>() + "\n";
            (0..height).map(row).collect::<String>()
        };
        assert!(
            shown(false).contains("normal/cool/1") && shown(false).contains(" starts "),
            "{}",
            shown(false)
        );
        assert!(!shown(true).contains("normal/cool/1"), "{}", shown(true));
        assert!(
            shown(true).contains("actor   rules") && shown(true).contains("omnireflect"),
            "{}",
            shown(true)
        );
    }
}

#[test]
fn a_large_environment_shows_only_the_type_of_the_selected_task() {
    let mut start = model_with_types();
    let more = (4..60).map(|n| TaskRow {
        id: format!("normal/heat/{n}"),
        goal: String::new(),
        task_type: "heat".into(),
    });
    start.environments[0].tasks.extend(more);
    let chooser = chooser_of(start);
    let expected = [
        "household false",
        ".heat 59 true",
        ".cool 3 false",
        "..normal/cool/1",
        "..normal/cool/2",
        "..normal/cool/3",
        "alfworld true",
    ];
    assert_eq!(rows(&chooser), expected);
}

#[test]
fn a_preview_is_wanted_once_for_each_selected_task() {
    let mut chooser = chooser_of(model());
    let first = ("household".to_owned(), "normal/heat/7".to_owned());
    assert_eq!(chooser.wanted_preview(), Some(first.clone()));
    let text = "You are in a room.\n\u{1b}[31mIt is dark.".to_owned();
    chooser.set_preview(first, Ok(TaskPreview { text, ..TaskPreview::default() }));
    assert_eq!(chooser.wanted_preview(), None);
    let shown = render(&chooser, 120, 36);
    assert!(shown.contains("You are in a room.") && !shown.contains('\u{1b}'), "{shown}");
    press(&mut chooser, KeyCode::Down);
    let second = ("household".to_owned(), "normal/clean/2".to_owned());
    assert_eq!(chooser.wanted_preview(), Some(second.clone()));
    assert!(render(&chooser, 120, 36).contains("reading ..."), "the text of another task is not shown");
    chooser.set_preview(second, Err("the file is damaged".to_owned()));
    assert!(render(&chooser, 120, 36).contains("the file is damaged"));
    press(&mut chooser, KeyCode::Tab);
    assert_eq!(chooser.wanted_preview(), None);
}

/// Regression: tasks of ScienceWorld, whose goals are known only when they begin, were shown without a goal.
#[test]
fn a_preview_has_the_goal_that_the_list_does_not_know() {
    let mut start = model();
    let task = start.environments[0].tasks.iter_mut().find(|task| task.id == "normal/heat/7");
    task.unwrap().goal.clear();
    let mut chooser = chooser_of(start);
    let key = chooser.wanted_preview().unwrap();
    assert_eq!(key.1, "normal/heat/7");
    let preview = |goal: &str| TaskPreview {
        goal: goal.to_owned(),
        text: "You are in a room.".to_owned(),
        ..TaskPreview::default()
    };
    chooser.set_preview(key, Ok(preview("Your task is to boil water.")));
    for (columns, rows) in [(120, 36), (80, 24)] {
        let shown = render(&chooser, columns, rows);
        let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("no {text}: {shown}"));
        assert!(at("Your task is to boil water.") < at("You are in a room."), "{shown}");
    }
    // A goal that the list has is shown once.
    press(&mut chooser, KeyCode::Down);
    let key = chooser.wanted_preview().unwrap();
    chooser.set_preview(key, Ok(preview("another goal")));
    assert!(!render(&chooser, 120, 36).contains("another goal"));
}

/// Most of a large screen was empty: below the first observation, and below the few settings of a page.
#[test]
fn a_large_screen_shows_the_world_and_the_task() {
    let mut chooser = chooser_of(model());
    let key = chooser.wanted_preview().unwrap();
    let shown = json!({"seen": {"fridge 1": {"open": false}}, "receptacles": ["fridge 1", "shelf 1"]});
    let text = "You are in a kitchen.".to_owned();
    chooser.set_preview(key, Ok(TaskPreview { text, shown, ..TaskPreview::default() }));
    let first = render(&chooser, 200, 60);
    assert!(first.contains("World") && first.contains("fridge 1") && first.contains("shelf 1"), "{first}");
    // The picture is whole or absent.
    for (columns, rows) in [(120, 14), (80, 24), (60, 16)] {
        let shown = render(&chooser, columns, rows);
        assert!(!shown.contains("World"), "{columns}x{rows}: {shown}");
    }
    press(&mut chooser, KeyCode::Tab);
    let settings = render(&chooser, 200, 60);
    for part in ["Who acts", "put a hot egg in countertop", "You are in a kitchen.", "fridge 1"] {
        assert!(settings.contains(part), "{part}: {settings}");
    }
    let small = render(&chooser, 120, 24);
    assert!(!small.contains("You are in a kitchen."), "{small}");
}

/// The last title was cut on a small screen with ten sessions or more.
#[test]
fn all_titles_of_pages_are_whole() {
    let mut start = model();
    start.sessions = vec![start.sessions[0].clone(); 12];
    let shown = render(&chooser_of(start), 60, 16);
    assert!(shown.lines().next().unwrap().ends_with("Sessions 12   Advanced"), "{shown}");
}

/// Regression: a limit that is off was shown as 4294967295.
#[test]
fn the_greatest_number_is_shown_as_unlimited() {
    let mut start = model();
    let row = start.settings.iter_mut().find(|row| row.name == "run.steps").unwrap();
    row.allowed = AllowedValues::Number(1, MAX_NUMBER);
    row.value = MAX_NUMBER.to_string();
    let mut chooser = chooser_of(start);
    select_setting(&mut chooser, "run.steps");
    let shown = render(&chooser, 80, 24);
    assert!(shown.contains("< unlimited >") && !shown.contains("42949"), "{shown}");
}

/// Regression: the line that says what starts was cut in the name of the method.
#[test]
fn the_line_that_says_what_starts_leaves_out_what_does_not_fit() {
    let line =
        |columns| render(&chooser_of(model()), columns, 24).lines().nth(1).unwrap().trim_end().to_owned();
    assert_eq!(line(60), " starts  put a hot egg in countertop  · omnireflect");
    assert!(line(80).starts_with(" starts  put a hot egg in countertop  · omnireflect · actor rules"));
}

/// Regression: `max moves 0` and `wall seconds 0` read like limits of nothing.
#[test]
fn a_limit_of_zero_is_shown_as_unlimited() {
    let mut start = model();
    for (row, name) in start.settings.iter_mut().rev().zip(["max_moves", "least_reply"]) {
        row.name = name.into();
        row.allowed = AllowedValues::Number(0, 1000);
        row.value = "0".into();
    }
    let mut chooser = chooser_of(start);
    let value = |name: &str, chooser: &mut Chooser| {
        select_setting(chooser, name);
        let shown = render(chooser, 80, 24);
        let row = shown.lines().find(|line| line.contains('<')).unwrap_or_default();
        row.split(['<', '>']).nth(1).unwrap_or_default().trim().to_owned()
    };
    assert_eq!(["max_moves", "least_reply"].map(|name| value(name, &mut chooser)), ["unlimited", "0"]);
}

#[test]
fn pictures_of_the_other_pages() {
    let mut start = model();
    let method = start.settings.iter_mut().find(|row| row.name == "run.method").unwrap();
    method.summary = "the method".into();
    method.meanings = vec![("react".into(), "Thoughts and actions in turn.".into())];
    let mut chooser = chooser_of(start);
    for section in [Section::Method, Section::Sessions, Section::Advanced] {
        chooser.section = section;
        let name = section.title().to_lowercase();
        insta::assert_snapshot!(format!("start_{name}_100x24"), render(&chooser, 100, 24));
    }
    chooser.section = Section::Sessions;
    let long = "put two clean mugs and a hot potato on the diningtable in the kitchen";
    for session in &mut chooser.model.sessions {
        (session.goal, session.about) = (long.to_owned(), "omnireflect, 4 of 4 won".to_owned());
    }
    for (w, h) in [(60, 16), (80, 24)] {
        let shown = render(&chooser, w, h);
        assert!(shown.contains("… omnireflect, 4 of 4 won"), "{shown}");
        insta::assert_snapshot!(format!("start_long_sessions_{w}x{h}"), shown);
    }
    chooser.section = Section::Method;
    insta::assert_snapshot!("start_method_60x16", render(&chooser, 60, 16));
}

/// Regression: on a small screen the text about a session or setting had two rows, under empty ones, and was cut within a word.
#[test]
fn what_is_known_of_a_row_has_the_rows_that_it_needs() {
    let mut start = model();
    let steps = start.settings.iter_mut().find(|row| row.name == "run.steps").unwrap();
    steps.group = SettingGroup::Advanced("Limits");
    steps.summary =
        "how many steps an episode may have before it is lost; thoughts count unless the method says that \
                     they are free, and what a person decides counts too, at its very end"
            .into();
    let mut chooser = chooser_of(start);
    for (section, ends) in [
        (Section::Sessions, vec!["12 steps; omnireflect, actor rules", "/s/one"]),
        (Section::Advanced, vec!["at its very", "an integer of at least 0"]),
    ] {
        chooser.section = section;
        if section == Section::Advanced {
            select_setting(&mut chooser, "run.steps");
        }
        let shown = render(&chooser, 60, 16);
        for end in ends {
            assert!(shown.contains(end), "{end}: {shown}");
        }
    }
}

/// Regression: a search for an environment whose data is missing found nothing, and nothing said what was missing.
#[test]
fn an_environment_without_tasks_is_found_and_says_what_is_missing() {
    let mut chooser = chooser_of(model());
    type_text(&mut chooser, "alfworld");
    assert!(render(&chooser, 80, 24).contains("1 found"));
    assert_eq!(press(&mut chooser, KeyCode::Enter), ChooserOutcome::Continue);
    let shown = render(&chooser, 80, 24);
    assert!(shown.contains("set ALFWORLD_DATA or give --data"), "{shown}");
}

/// Regression: while something was typed, the keys were those of the tree, and `Esc quit` didn't quit.
#[test]
fn the_keys_of_a_search_are_those_that_do_something() {
    let mut chooser = chooser_of(model_with_types());
    let keys = |chooser: &Chooser| render(chooser, 120, 36).lines().last().unwrap().to_owned();
    assert!(keys(&chooser).contains("Esc quit") && keys(&chooser).contains("fold"), "{}", keys(&chooser));
    type_text(&mut chooser, "heat");
    let found = keys(&chooser);
    assert!(found.contains("Enter start") && found.contains("Esc clear the search"), "{found}");
    assert!(!found.contains("fold") && !found.contains("quit"), "{found}");
    type_text(&mut chooser, "zzz");
    assert!(!keys(&chooser).contains("Enter"), "{}", keys(&chooser));
}

/// Regression: the reason was cut beside a third of an empty row.
#[test]
fn a_missing_environment_says_why_in_the_whole_row() {
    let mut start = model();
    start.environments[1].description = "no data: set ALFWORLD_DATA or alfworld.data, or give --data".into();
    let shown = render(&chooser_of(start), 80, 24);
    assert!(shown.contains("  no data: set ALFWORLD_DATA or alfworld.data, or give --data\n"), "{shown}");
}

/// Regression: who looked for the demos found an empty page.
#[test]
fn a_search_for_demos_says_how_they_are_played() {
    let mut chooser = chooser_of(model_with_types());
    for letter in "demo".chars() {
        press(&mut chooser, KeyCode::Char(letter));
    }
    assert!(rows(&chooser).is_empty());
    let shown = render(&chooser, 120, 36);
    assert!(shown.contains("demo` plays a demo"), "{shown}");
}

/// Regression: an emptied search left the cursor on the environment, so that Enter started nothing.
#[test]
fn an_emptied_search_selects_the_task_from_before() {
    let mut chooser = chooser_of(model_with_types());
    type_text(&mut chooser, "heat");
    assert_ne!(chooser.tasks.selected_task().unwrap().1.id, "normal/cool/2");
    for _ in 0..4 {
        press(&mut chooser, KeyCode::Backspace);
    }
    assert_eq!(chooser.tasks.selected_task().unwrap().1.id, "normal/cool/2");
}

/// Regression: what was typed on another page searched the tasks.
#[test]
fn typing_searches_only_on_the_page_of_tasks() {
    for section in [Section::Agent, Section::Method, Section::Sessions] {
        let mut chooser = chooser_of(model_with_types());
        chooser.section = section;
        if let Some(place) = chooser.selected_setting()
            && matches!(chooser.model.settings[place].allowed, AllowedValues::Text { .. })
        {
            continue;
        }
        type_text(&mut chooser, "heat");
        assert_eq!((chooser.section, chooser.tasks.query().as_str()), (section, ""));
        assert!(chooser.note.as_deref().is_some_and(|note| note.contains("on the page Task")));
    }
}

/// Regression: on a branch, Enter was said to start something.
#[test]
fn enter_says_what_it_does_with_a_branch() {
    let mut chooser = chooser_of(model_with_types());
    assert!(render(&chooser, 80, 24).contains("Enter start"));
    press(&mut chooser, KeyCode::Left);
    assert!(render(&chooser, 80, 24).contains("Enter fold"), "{}", render(&chooser, 80, 24));
    press(&mut chooser, KeyCode::Left);
    assert!(render(&chooser, 80, 24).contains("Enter unfold"), "{}", render(&chooser, 80, 24));
}
