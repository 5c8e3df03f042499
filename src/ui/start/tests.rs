//! The start screen, from keys to the choice it returns.

mod dependent_settings;
mod pages;

use super::chooser::{Section, TreeRow};
use super::*;
use crate::domain::{MAX_NUMBER, SettingOrigin};
use crate::ui::keymap::Keymap;
use crate::ui::options::Options;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Returns the role that the command line gives a setting.
fn role_of(name: &str) -> SettingRole {
    match name {
        "run.preset" => SettingRole::Preset,
        "run.method" => SettingRole::Method,
        "run.as" => SettingRole::PaperOrCode,
        "run.actor" => SettingRole::Actor,
        "run.mentor" => SettingRole::Mentor,
        "run.profile" => SettingRole::ActorProfile,
        "run.mentor_profile" => SettingRole::MentorProfile,
        _ => SettingRole::Other,
    }
}

fn group_of(name: &str) -> SettingGroup {
    match role_of(name) {
        SettingRole::Preset | SettingRole::Method | SettingRole::PaperOrCode => SettingGroup::Method,
        SettingRole::Other => SettingGroup::Advanced("Other"),
        _ => SettingGroup::Agent,
    }
}

/// Shows the page of a setting and selects it.
fn select_setting(chooser: &mut Chooser, name: &str) {
    chooser.select_setting(name);
    let place = chooser.selected_setting().map(|place| chooser.model.settings[place].name.clone());
    assert_eq!(place.as_deref(), Some(name));
}

/// Returns the state of a screen whose settings stay the same whatever is chosen.
fn chooser_of(model: StartModel) -> Chooser {
    Chooser::new(model, Box::new(|_| None))
}

fn model() -> StartModel {
    let task = |id: &str, goal: &str, kind: &str| TaskRow {
        id: id.into(),
        goal: goal.into(),
        task_type: kind.into(),
    };
    let setting = |name: &str, label: &str, value: &str, origin, choices: &[&str]| SettingRow {
        name: name.into(),
        role: role_of(name),
        group: group_of(name),
        label: label.into(),
        value: value.into(),
        origin,
        allowed: match choices {
            [] => AllowedValues::Number(0, u64::MAX),
            words => AllowedValues::OneOf(words.iter().map(|c| (*c).to_owned()).collect()),
        },
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    };
    StartModel {
        session_count: 0,
        environments: vec![
            EnvironmentRow {
                name: "household".into(),
                description: "built in".into(),
                tasks: vec![
                    task("normal/heat/1", "put a hot apple in fridge", "pick_heat_then_place_in_recep"),
                    task("normal/heat/7", "put a hot egg in countertop", "pick_heat_then_place_in_recep"),
                    task(
                        "normal/clean/2",
                        "put a clean mug in coffeemachine",
                        "pick_clean_then_place_in_recep",
                    ),
                ],
            },
            EnvironmentRow {
                name: "alfworld".into(),
                description: "no data here: set ALFWORLD_DATA or give --data".into(),
                tasks: Vec::new(),
            },
        ],
        environment: 0,
        task: 1,
        settings: vec![
            setting("run.method", "method", "omnireflect", SettingOrigin::BuiltIn, &["react", "omnireflect"]),
            setting("run.actor", "actor", "rules", SettingOrigin::BuiltIn, &["rules", "human"]),
            setting("run.seed", "seed", "0", SettingOrigin::BuiltIn, &[]),
            setting("run.steps", "steps", "50", SettingOrigin::Paper, &[]),
        ],
        model_profiles: Vec::new(),
        sessions: vec![
            SessionRow {
                path: "/s/one".into(),
                goal: "put a hot apple in fridge".into(),
                status: "crashed".into(),
                branches: 1,
                about: "step 12  11-20 10:40".into(),
                details: "12 steps; omnireflect, actor rules".into(),
            },
            SessionRow {
                path: "/s/two".into(),
                goal: "put two mugs in cabinet".into(),
                status: "stopped".into(),
                branches: 1,
                about: "1 of 1 won  11-19 09:00".into(),
                details: "3 steps; reflexion, actor openai:small".into(),
            },
        ],
    }
}

fn press(chooser: &mut Chooser, code: KeyCode) -> ChooserOutcome {
    chooser.key(KeyEvent::new(code, KeyModifiers::NONE), &Keymap::default())
}

fn type_text(chooser: &mut Chooser, text: &str) {
    for c in text.chars() {
        press(chooser, KeyCode::Char(c));
    }
}

fn chosen_run(task: &str, changed: &[(&str, &str)]) -> ChooserOutcome {
    let changed = changed.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    ChooserOutcome::Chosen(StartChoice::Run { env: "household".into(), task: task.into(), changed })
}

fn render(chooser: &Chooser, w: u16, h: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, w, h));
    draw(chooser, &Options::default(), &mut buffer);
    let row = |y| (0..w).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..h).map(row).collect()
}

#[test]
fn enter_starts_what_is_preselected() {
    assert_eq!(press(&mut chooser_of(model()), KeyCode::Enter), chosen_run("normal/heat/7", &[]));
}

#[test]
fn typing_searches_by_goal() {
    let mut chooser = chooser_of(model());
    type_text(&mut chooser, "clean mug");
    assert_eq!(press(&mut chooser, KeyCode::Enter), chosen_run("normal/clean/2", &[]));
    assert_eq!(press(&mut chooser, KeyCode::Esc), ChooserOutcome::Continue);
    let shown = render(&chooser, 80, 24);
    assert!(shown.contains("put a hot egg"), "all tasks are listed again: {shown}");
    assert_eq!(
        press(&mut chooser, KeyCode::Enter),
        chosen_run("normal/clean/2", &[]),
        "what was found stays selected"
    );
    assert_eq!(press(&mut chooser, KeyCode::Esc), ChooserOutcome::Quit);
}

#[test]
fn changed_settings_are_returned() {
    let mut chooser = chooser_of(model());
    select_setting(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    select_setting(&mut chooser, "run.seed");
    type_text(&mut chooser, "42");
    assert_eq!(
        press(&mut chooser, KeyCode::Enter),
        chosen_run("normal/heat/7", &[("run.method", "react"), ("run.seed", "42")])
    );
}

#[test]
fn an_environment_without_tasks_starts_nothing_and_says_why() {
    let mut chooser = chooser_of(model());
    press(&mut chooser, KeyCode::PageDown);
    assert_eq!(press(&mut chooser, KeyCode::Enter), ChooserOutcome::Continue);
    assert!(render(&chooser, 80, 24).contains("set ALFWORLD_DATA"));
    press(&mut chooser, KeyCode::Tab);
    assert_eq!(press(&mut chooser, KeyCode::Enter), ChooserOutcome::Continue);
    assert!(render(&chooser, 80, 24).contains("no task is selected yet: choose one here"));
}

#[test]
fn a_session_is_resumed() {
    let mut chooser = chooser_of(model());
    chooser.section = Section::Sessions;
    press(&mut chooser, KeyCode::Down);
    let expected = ChooserOutcome::Chosen(StartChoice::Resume("/s/two".into()));
    assert_eq!(press(&mut chooser, KeyCode::Enter), expected);
}

/// Regression: the page offered to resume sessions that were finished.
#[test]
fn a_finished_session_is_opened_not_resumed() {
    let mut model = model();
    model.sessions[1].status = "finished".into();
    let mut chooser = chooser_of(model);
    chooser.section = Section::Sessions;
    let shown = render(&chooser, 100, 24);
    assert!(shown.contains("Recent sessions") && shown.contains("Enter resume"), "{shown}");
    press(&mut chooser, KeyCode::Down);
    let shown = render(&chooser, 100, 24);
    assert!(shown.contains("Enter open") && shown.contains(" opens  put two mugs"), "{shown}");
    assert!(!shown.contains("resume"), "{shown}");
}

/// Regression: at 60 columns the last hint was cut to "type to sea…".
#[test]
fn a_hint_that_does_not_fit_is_left_out() {
    let mut chooser = chooser_of(model());
    for section in [Section::Tasks, Section::Method, Section::Sessions] {
        chooser.section = section;
        for w in 10..=120 {
            let shown = render(&chooser, w, 16);
            let hints = shown.lines().last().unwrap();
            assert!(!hints.contains('…'), "{w}: {hints}");
            assert!(w < 71 || section != Section::Tasks || hints.ends_with("type to search"), "{w}: {hints}");
        }
    }
}

#[test]
fn pictures_of_the_tasks() {
    for (w, h) in [(60, 16), (80, 24), (120, 36), (200, 60)] {
        insta::assert_snapshot!(format!("start_{w}x{h}"), render(&chooser_of(model()), w, h));
    }
}

#[test]
fn any_size_and_an_empty_model_are_drawn() {
    for (w, h) in [(0, 0), (1, 1), (3, 2), (8, 5), (20, 9), (300, 3), (200, 60)] {
        render(&chooser_of(model()), w, h);
        render(&chooser_of(StartModel::default()), w, h);
    }
    assert_eq!(press(&mut chooser_of(StartModel::default()), KeyCode::Enter), ChooserOutcome::Continue);
}

#[test]
fn later_updates_keep_the_selection() {
    let mut chooser = chooser_of(StartModel {
        environments: vec![EnvironmentRow {
            tasks: vec![TaskRow { id: "b".into(), ..TaskRow::default() }],
            ..EnvironmentRow::default()
        }],
        ..StartModel::default()
    });
    let task = |id: &str| TaskRow { id: id.into(), ..TaskRow::default() };
    let tasks = ["a", "b", "c"].map(task).to_vec();
    chooser.apply_update(StartUpdate::Environment(EnvironmentRow { tasks, ..EnvironmentRow::default() }));
    chooser.apply_update(StartUpdate::Sessions { rows: model().sessions, all: 2 });
    let is = |outcome, id: &str| matches!(outcome, ChooserOutcome::Chosen(StartChoice::Run { task, .. }) if task == id);
    assert!(is(press(&mut chooser, KeyCode::Enter), "b"));
    press(&mut chooser, KeyCode::Down);
    assert!(is(press(&mut chooser, KeyCode::Enter), "c"));
    let shown = render(&chooser, 80, 24);
    assert!(shown.contains("Sessions 2") && !shown.contains("Sessions 2 of"), "{shown}");
    chooser.apply_update(StartUpdate::Sessions { rows: model().sessions, all: 212 });
    assert!(render(&chooser, 80, 24).contains("Sessions 2 of 212"));
    chooser.section = Section::Sessions;
    assert!(render(&chooser, 80, 24).contains("crashed"));
}

/// Regression: the screen showed the defaults of the configured environment for a task of any other, which the run didn't have.
#[test]
fn defaults_follow_the_selected_environment() {
    let mut model = model();
    let value =
        |environment, value: &str, origin| ValueInEnvironment { environment, value: value.into(), origin };
    model.settings.push(SettingRow {
        name: "own_steps".into(),
        role: role_of("own_steps"),
        group: group_of("own_steps"),
        label: "steps".into(),
        value: "50".into(),
        origin: SettingOrigin::Paper,
        allowed: AllowedValues::Number(1, 99),
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: vec![
            value(Some("alfworld"), "6", SettingOrigin::Code),
            value(None, "50", SettingOrigin::Paper),
        ],
    });
    let mut chooser = chooser_of(model);
    let last = |chooser: &Chooser| {
        let row = chooser.model.settings.last().unwrap();
        (row.value.clone(), row.origin)
    };
    assert_eq!(last(&chooser), ("50".to_owned(), SettingOrigin::Paper));
    press(&mut chooser, KeyCode::PageDown);
    assert_eq!(last(&chooser), ("6".to_owned(), SettingOrigin::Code));
    press(&mut chooser, KeyCode::PageUp);
    assert_eq!(last(&chooser), ("50".to_owned(), SettingOrigin::Paper));
    // What the person has chosen stays.
    select_setting(&mut chooser, "own_steps");
    press(&mut chooser, KeyCode::Right);
    chooser.section = Section::Tasks;
    press(&mut chooser, KeyCode::PageDown);
    assert_eq!(last(&chooser), ("51".to_owned(), SettingOrigin::Person));
}

/// A setting of another environment is left out; its value comes back with its environment.
#[test]
fn settings_of_other_environments_are_hidden() {
    let mut model = model();
    let setting = |name: &str, environment: &str| SettingRow {
        name: name.into(),
        role: role_of(name),
        group: group_of(name),
        label: name.into(),
        value: "3".into(),
        origin: SettingOrigin::BuiltIn,
        allowed: AllowedValues::Number(0, 9),
        summary: String::new(),
        meanings: Vec::new(),
        environments: vec![environment.into()],
        by_environment: Vec::new(),
    };
    model.settings.extend([setting("visits", "household"), setting("turns", "alfworld")]);
    let mut chooser = chooser_of(model);
    let last =
        |chooser: &Chooser| chooser.model.settings.last().map(|row| (row.name.clone(), row.value.clone()));
    assert_eq!(chooser.model.settings.len(), 5);
    select_setting(&mut chooser, "visits");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(last(&chooser), Some(("visits".to_owned(), "4".to_owned())));
    chooser.section = Section::Tasks;
    press(&mut chooser, KeyCode::PageDown);
    assert_eq!(last(&chooser), Some(("turns".to_owned(), "3".to_owned())));
    press(&mut chooser, KeyCode::PageUp);
    assert_eq!(last(&chooser), Some(("visits".to_owned(), "4".to_owned())));
}

/// Regression: an invalid number ended the program with an error after the screen had closed.
#[test]
fn invalid_value_is_reported_and_nothing_starts() {
    let mut model = model();
    model.settings.push(SettingRow {
        name: "examples".into(),
        role: role_of("examples"),
        group: group_of("examples"),
        label: "examples".into(),
        value: "2".into(),
        origin: SettingOrigin::Paper,
        allowed: AllowedValues::Number(0, 2),
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    });
    let mut chooser = chooser_of(model);
    select_setting(&mut chooser, "examples");
    // Typing replaces the value.
    type_text(&mut chooser, "27");
    let error = "examples 27: expected a whole number from 0 to 2";
    assert!(render(&chooser, 80, 24).contains(error), "reported while typing");
    press(&mut chooser, KeyCode::Tab);
    press(&mut chooser, KeyCode::Tab);
    assert!(!render(&chooser, 80, 24).contains(error));
    assert_eq!(press(&mut chooser, KeyCode::Enter), ChooserOutcome::Continue);
    let shown = render(&chooser, 60, 16);
    assert!(shown.contains(error) && shown.contains("< 27 >"), "{shown}");
    press(&mut chooser, KeyCode::Backspace);
    press(&mut chooser, KeyCode::Tab);
    assert_eq!(press(&mut chooser, KeyCode::Enter), chosen_run("normal/heat/7", &[("examples", "2")]));
}

#[test]
fn arrows_keep_numbers_in_range() {
    let mut model = model();
    model.settings = vec![SettingRow {
        name: "examples".into(),
        role: role_of("examples"),
        group: group_of("examples"),
        label: "examples".into(),
        value: "1".into(),
        origin: SettingOrigin::Paper,
        allowed: AllowedValues::Number(0, 2),
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    }];
    let mut chooser = chooser_of(model);
    select_setting(&mut chooser, "examples");
    for (code, expected) in [(KeyCode::Right, "2"), (KeyCode::Left, "0")] {
        for _ in 0..5 {
            press(&mut chooser, code);
        }
        assert_eq!(chooser.model.settings[0].value, expected);
    }
}

/// Regression: prompt templates could only be set on the command line.
#[test]
fn a_folder_of_prompt_templates_is_typed_or_pasted() {
    let mut model = model();
    model.settings.truncate(0);
    model.settings.push(SettingRow {
        name: "run.prompts".into(),
        role: role_of("run.prompts"),
        group: group_of("run.prompts"),
        label: "prompts".into(),
        value: String::new(),
        origin: SettingOrigin::BuiltIn,
        allowed: AllowedValues::Text {
            none_label: "built in",
            suggestions: Vec::new(),
            expected: "the path of a folder",
        },
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    });
    let mut chooser = chooser_of(model);
    select_setting(&mut chooser, "run.prompts");
    assert!(render(&chooser, 80, 24).contains("< built in >"));
    assert!(render(&chooser, 80, 24).contains("type or paste the path of a folder"));
    type_text(&mut chooser, "my 2");
    chooser.paste("/prompts\n\u{1b}[31m");
    press(&mut chooser, KeyCode::Left);
    assert!(render(&chooser, 60, 24).contains("< my 2/prompts >"), "{}", render(&chooser, 60, 24));
    assert_eq!(
        press(&mut chooser, KeyCode::Enter),
        chosen_run("normal/heat/7", &[("run.prompts", "my 2/prompts")])
    );
}

/// Regression: after another method was chosen, the settings of the previous one remained.
#[test]
fn settings_follow_the_method_and_keep_what_was_changed() {
    let setting = |name: &str, value: &str, answers| SettingRow {
        name: name.into(),
        role: role_of(name),
        group: group_of(name),
        label: name.into(),
        value: value.into(),
        origin: SettingOrigin::Paper,
        allowed: answers,
        summary: String::new(),
        meanings: Vec::new(),
        environments: Vec::new(),
        by_environment: Vec::new(),
    };
    let words = |all: &[&str]| AllowedValues::OneOf(all.iter().map(|w| (*w).to_owned()).collect());
    let settings = |method: &str, trials: &str, own: &str| {
        vec![
            setting("run.method", method, words(&["react", "fcrf"])),
            setting("run.as", "paper", words(&["paper", "code"])),
            setting("run.trials", trials, AllowedValues::Number(1, u64::MAX)),
            setting("run.seed", "0", AllowedValues::Number(0, u64::MAX)),
            setting(own, "1", AllowedValues::Number(0, 9)),
        ]
    };
    let all = [settings("react", "1", "examples"), settings("fcrf", "5", "memory")];
    let start = StartModel { settings: all[0].clone(), ..model() };
    let settings_for = move |wanted: SettingsWanted<'_>| {
        let of_method = all.iter().find(|rows| wanted.method.is_none_or(|method| method == rows[0].value));
        of_method.filter(|_| wanted.preset.is_empty()).cloned()
    };
    let mut chooser = Chooser::new(start, Box::new(settings_for));
    let map = Keymap::default();
    let press = |chooser: &mut Chooser, code| chooser.key(KeyEvent::new(code, KeyModifiers::NONE), &map);
    select_setting(&mut chooser, "run.seed");
    press(&mut chooser, KeyCode::Char('7'));
    select_setting(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    let listed = |chooser: &Chooser| {
        let settings = chooser.model.settings.iter();
        settings.map(|k| format!("{} {}", k.name, k.value)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(listed(&chooser), "run.method fcrf, run.as paper, run.trials 5, run.seed 7, memory 1");
    select_setting(&mut chooser, "memory");
    press(&mut chooser, KeyCode::Char('2'));
    select_setting(&mut chooser, "run.method");
    press(&mut chooser, KeyCode::Right);
    assert_eq!(listed(&chooser), "run.method react, run.as paper, run.trials 1, run.seed 7, examples 1");
    press(&mut chooser, KeyCode::Right);
    assert!(
        listed(&chooser).ends_with("memory 1"),
        "a setting that only the other method has is not remembered"
    );
}

/// Regression: "lettuce" also matched "put a spraybottle in toilet".
#[test]
fn a_search_finds_tasks_that_contain_all_its_words() {
    let mut start = model();
    let goals =
        ["put a spraybottle in toilet", "put a chilled lettuce in diningtable", "put a lettuce in fridge"];
    start.environments[0].tasks = goals
        .iter()
        .enumerate()
        .map(|(n, goal)| TaskRow { id: format!("normal/x/{n}"), goal: (*goal).into(), task_type: "x".into() })
        .collect();
    let found = |query: &str| {
        let mut chooser = chooser_of(start.clone());
        chooser.paste(query);
        chooser
            .tasks
            .rows()
            .map(|row| match row {
                TreeRow::Task { task, .. } => task.goal.clone(),
                other => format!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(found("lettuce"), goals[1..]);
    assert_eq!(found("Lettuce fridge"), goals[2..]);
    assert!(found("letuce").is_empty());
}

/// Regression: stage mode hid hosts and paths everywhere but here.
#[test]
fn stage_mode_covers_the_start_screen() {
    let mut chooser = chooser_of(model());
    let path = "/home/ada/lessons/a-folder-with-a-long-name/that-is-broken-over-two-rows/pool.jsonl";
    chooser.note = Some(format!("--pool {path}: no such file"));
    let shown = |stage_mode| {
        let options = Options { stage_mode, ..Options::default() };
        let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 16));
        draw(&chooser, &options, &mut buffer);
        let rows = (0..16).map(|y| (0..60).map(|x| buffer[(x, y)].symbol()).collect::<String>());
        rows.collect::<Vec<_>>().join("\n")
    };
    assert!(shown(false).contains("/home/ada") && shown(false).contains("pool.jsonl"), "{}", shown(false));
    let hidden = shown(true);
    for part in ["/home", "ada", "folder", "broken"] {
        assert!(!hidden.contains(part), "{part}: {hidden}");
    }
    assert!(hidden.contains("pool.jsonl: no such file"), "{hidden}");
}

/// Regression: `?` searched the tasks, and on a page of settings it became the value of the selected one.
#[test]
fn a_question_mark_explains_the_keys() {
    let mut chooser = chooser_of(model());
    for _ in 0..chooser.sections().count() {
        press(&mut chooser, KeyCode::Char('?'));
        assert!(render(&chooser, 120, 36).contains("typing searches the tasks"));
        assert_eq!(chooser.tasks.query(), "");
        press(&mut chooser, KeyCode::Tab);
    }
    press(&mut chooser, KeyCode::Char('?'));
    assert_eq!(
        press(&mut chooser, KeyCode::Esc),
        ChooserOutcome::Continue,
        "Esc quit instead of closing the hint"
    );
    assert!(!render(&chooser, 120, 36).contains("typing searches the tasks"));
    assert_eq!(press(&mut chooser, KeyCode::Esc), ChooserOutcome::Quit);
    // In a search it is a letter like any other.
    type_text(&mut chooser, "why?");
    assert_eq!(chooser.tasks.query(), "why?");
}
