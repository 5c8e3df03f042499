//! Task names, files and filters.

mod pddl;

use super::*;
use std::fs;
use std::path::Path;

/// Regression: BabyAI's calibration played all 40 levels, those of the test split too; PDDL's played problems of the list.
#[test]
fn calibration_tasks_are_in_no_list_of_test_tasks() {
    for (env, per_kind, expected) in
        [("household", 1, 6), ("babyai", 1, 12), ("babyai", 3, 36), ("pddl", 2, 8)]
    {
        let tasks = super::list_calibration_tasks(env, per_kind, &default_options()).unwrap();
        assert_eq!(tasks.len(), expected, "{env}");
        let listed = list_tasks(env, &Selection::default(), &default_options()).unwrap();
        assert!(tasks.iter().all(|task| !listed.contains(task)), "{env}");
        if env == "babyai" {
            let test = Selection { split: Some("test".to_owned()), ..Selection::default() };
            let level = |task: &crate::domain::Task| task.id.split('/').next().unwrap().to_owned();
            let tested: Vec<String> =
                list_tasks(env, &test, &default_options()).unwrap().iter().map(level).collect();
            assert!(tasks.iter().all(|task| !tested.contains(&level(task))), "no level of the test split");
        }
    }
}

fn default_options() -> TaskOptions {
    TaskOptions::default()
}

fn select_list(list: &str) -> Selection {
    Selection { list: Some(list.to_owned()), ..Selection::default() }
}

/// Creates a folder of generated games in ALFWorld's layout, some of which its loader skips.
fn alfworld_data() -> (tempfile::TempDir, TaskOptions) {
    let dir = tempfile::tempdir().unwrap();
    let write_game = |below: &str, seed: u32, change: fn(String) -> String| {
        let id = format!("easy/heat/{seed}").parse().unwrap();
        let game = crate::env::household::generate(&id).unwrap();
        let folder = dir.path().join("json_2.1.1").join(below);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("game.tw-pddl"), change(game.game_json)).unwrap();
        fs::write(folder.join("traj_data.json"), game.traj_json).unwrap();
    };
    let unchanged: fn(String) -> String = |s| s;
    write_game("valid_seen/a-1/trial_1", 1, unchanged);
    write_game("valid_unseen/b-1/trial_1", 2, unchanged);
    write_game("valid_unseen/b-1/trial_2", 3, unchanged);
    write_game("valid_unseen/movable-1/trial_1", 4, unchanged);
    write_game("valid_unseen/AppleSliced-1/trial_1", 5, unchanged);
    write_game("valid_unseen/c-1/unsolvable", 6, |s| s.replace("\"solvable\":true", "\"solvable\":false"));
    write_game("valid_unseen/c-1/no_key", 7, |s| s.replace("\"solvable\":true,", ""));
    let options = TaskOptions { data: Some(dir.path().to_owned()), ..TaskOptions::default() };
    (dir, options)
}

fn ids(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|t| t.id.as_str()).collect()
}

#[test]
fn games_are_filtered_as_by_the_real_loader() {
    let (_dir, options) = alfworld_data();
    let all = list_tasks("alfworld", &Selection::default(), &options).unwrap();
    assert_eq!(
        ids(&all),
        [
            "json_2.1.1/valid_seen/a-1/trial_1",
            "json_2.1.1/valid_unseen/b-1/trial_1",
            "json_2.1.1/valid_unseen/b-1/trial_2"
        ]
    );
    let unseen = Selection { split: Some("valid_unseen".to_owned()), ..Selection::default() };
    let unseen = list_tasks("alfworld", &unseen, &options).unwrap();
    assert_eq!(unseen.len(), 2);
    assert_eq!(unseen[0].task_type.as_deref(), Some("pick_heat_then_place_in_recep"));
    let mut world = open(&unseen[0], &options).unwrap();
    let first = world.reset().unwrap().observation;
    assert!(first.contains(&format!("Your task is to: {}.", unseen[0].goal)), "{first}");
}

#[test]
fn a_game_is_found_by_file_folder_and_name() {
    let (dir, options) = alfworld_data();
    let folder = dir.path().join("json_2.1.1/valid_seen/a-1/trial_1");
    let file = folder.join("game.tw-pddl");
    for text in [
        file.to_str().unwrap(),
        folder.to_str().unwrap(),
        "json_2.1.1/valid_seen/a-1/trial_1",
        "valid_seen/a-1/trial_1",
        "a-1/trial_1",
        "a-1",
    ] {
        assert_eq!(
            find("alfworld", text, &options).unwrap().id,
            "json_2.1.1/valid_seen/a-1/trial_1",
            "{text}"
        );
    }
    let outside = find("alfworld", folder.to_str().unwrap(), &default_options()).unwrap();
    assert!(Path::new(&outside.id).is_absolute() && open(&outside, &default_options()).is_ok());
}

#[test]
fn unknown_tasks_are_reported_with_a_hint() {
    let (dir, options) = alfworld_data();
    let cases: [(&str, &str, &TaskOptions, &str); 6] = [
        ("alfworld", "b-1", &options, "it has 2 trials"),
        ("alfworld", "nowhere", &options, "no such game"),
        ("alfworld", "nowhere", &default_options(), "ALFWORLD_DATA is not set"),
        ("alfworld", "", &options, "a task id is a game.tw-pddl"),
        ("household", "normal/boil/1", &default_options(), "normal/heat/17"),
        ("moonbase", "1", &default_options(), "available: household, alfworld, babyai"),
    ];
    for (env, text, options, words) in cases {
        let error = find(env, text, options).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(!error.hint().is_empty());
    }
    let no_split = Selection { split: Some("valid_maybe".to_owned()), ..Selection::default() };
    let error = list_tasks("alfworld", &no_split, &options).unwrap_err().to_string();
    assert!(error.contains("valid_seen, valid_unseen"), "{error}");
    assert!(
        select_tasks("alfworld", &Selection::default(), &options)
            .unwrap_err()
            .to_string()
            .contains("--split")
    );
    // Regression: who gave the file of a game without --env was only told the forms of household's tasks.
    let file = dir.path().join("json_2.1.1/valid_seen/a-1/trial_1/game.tw-pddl");
    let given = |path: &Path| {
        let tasks = vec![path.to_str().unwrap().to_owned()];
        let selection = Selection { tasks, ..Selection::default() };
        select_tasks("household", &selection, &default_options()).unwrap_err().to_string()
    };
    assert!(given(&file).ends_with("`--env alfworld` plays this file"), "{}", given(&file));
    assert!(!given(Path::new("nowhere/game.tw-pddl")).contains("--env"));
    // Regression: the split was called a task, and the hint named no environment.
    let error = list_tasks("household", &no_split, &options).unwrap_err();
    assert!(error.to_string().starts_with("household has no split \"valid_maybe\": "), "{error}");
    assert!(error.to_string().contains("no splits"), "{error}");
    assert_eq!(error.hint(), "`retrospect tasks --env household` lists the tasks");
}

#[test]
fn patterns_expand_to_household_tasks() {
    let first = select_tasks(
        "household",
        &Selection { only: Some(7), ..select_list("normal/*/1-20") },
        &default_options(),
    )
    .unwrap();
    assert_eq!(
        ids(&first),
        [
            "normal/put/1",
            "normal/look/1",
            "normal/clean/1",
            "normal/heat/1",
            "normal/cool/1",
            "normal/two/1",
            "normal/put/2"
        ]
    );
    assert_eq!(select_tasks("household", &select_list("*/cool/3"), &default_options()).unwrap().len(), 3);
    assert_eq!(select_tasks("household", &select_list("hard/two/5-9"), &default_options()).unwrap().len(), 5);
    assert_eq!(
        ids(&select_tasks("household", &Selection::default(), &default_options()).unwrap()),
        ["normal/heat/71"]
    );
    for bad in ["normal/*", "x/*/1", "normal/*/9-1", "normal/*/a-b", "normal/*/0-4294967295"] {
        assert!(select_tasks("household", &select_list(bad), &default_options()).is_err(), "{bad}");
    }
}

#[test]
fn a_file_of_tasks_is_read_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tasks.txt");
    fs::write(&file, "# mine\neasy/put/1\n\n{\"task\":\"hard/two/2\",\"seed\":9}\n").unwrap();
    let found = select_tasks("household", &select_list(file.to_str().unwrap()), &default_options()).unwrap();
    assert_eq!(ids(&found), ["easy/put/1", "hard/two/2"]);
    assert_eq!(found[1].seed, 9);
    fs::write(&file, "easy/put/1\nnonsense\n").unwrap();
    let error = select_tasks("household", &select_list(file.to_str().unwrap()), &default_options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("tasks.txt:2:"), "{error}");
    fs::write(&file, "{\"id\":1}\n").unwrap();
    let error = select_tasks("household", &select_list(file.to_str().unwrap()), &default_options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("tasks.txt:1:") && error.contains("task"), "{error}");
}

#[test]
fn listed_tasks_have_their_goals() {
    for task in list_tasks("household", &select_list("normal/*/1"), &default_options()).unwrap() {
        assert!(!task.goal.is_empty(), "{}", task.id);
    }
}

#[test]
fn a_start_screen_offers_the_smallest_split() {
    let (_dir, options) = alfworld_data();
    let offered = list_offered_tasks("alfworld", &options).unwrap();
    assert!(ids(&offered).iter().all(|id| id.contains("valid_unseen")), "{:?}", ids(&offered));
    let listed = list_tasks(
        "alfworld",
        &Selection { split: Some("valid_unseen".to_owned()), ..Selection::default() },
        &options,
    );
    assert_eq!(offered[0].goal, listed.unwrap()[0].goal);
    let built_in = super::list_offered_tasks("household", &default_options()).unwrap();
    assert_eq!(built_in[0].id, "normal/heat/71");
    assert_eq!(built_in.len(), 25);
    assert!(
        super::list_offered_tasks("alfworld", &default_options())
            .unwrap_err()
            .hint()
            .contains("ALFWORLD_DATA")
    );
}

#[test]
fn only_selects_the_first_listed_tasks() {
    let only = Selection { only: Some(6), ..Selection::default() };
    let first = select_tasks("household", &only, &default_options()).unwrap();
    let listed = list_tasks("household", &Selection::default(), &default_options()).unwrap();
    assert_eq!(ids(&first), ids(&listed)[..6]);
    let (_dir, options) = alfworld_data();
    let only = Selection { only: Some(2), ..Selection::default() };
    assert_eq!(select_tasks("alfworld", &only, &options).unwrap().len(), 2);
    let error = select_tasks("alfworld", &only, &default_options()).unwrap_err();
    assert!(error.to_string().contains("ALFWORLD_DATA is not set"), "{error}");
    assert!(error.hint().contains("--data"));
}

#[test]
fn a_file_that_is_not_a_game_is_rejected_before_it_is_played() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("passwd", "root:x:0:0"), ("empty.json", "{}")] {
        let file = dir.path().join(name);
        fs::write(&file, text).unwrap();
        let error = find("alfworld", file.to_str().unwrap(), &default_options()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("is not a game.tw-pddl"), "{error}");
    }
}

/// Large data is often kept elsewhere and linked to; a link to a parent folder must not be followed forever.
#[cfg(unix)]
#[test]
fn linked_game_folders_are_found_under_their_own_names() {
    let (dir, _) = alfworld_data();
    let elsewhere = tempfile::tempdir().unwrap();
    let split = elsewhere.path().join("json_2.1.1/valid_seen");
    fs::create_dir_all(&split).unwrap();
    std::os::unix::fs::symlink(dir.path().join("json_2.1.1/valid_seen/a-1"), split.join("linked-1")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), split.join("loop")).unwrap();
    let linked = TaskOptions { data: Some(elsewhere.path().to_owned()), ..TaskOptions::default() };
    let seen = Selection { split: Some("valid_seen".to_owned()), ..Selection::default() };
    let found = list_tasks("alfworld", &seen, &linked).unwrap();
    assert_eq!(ids(&found), ["json_2.1.1/valid_seen/linked-1/trial_1"]);
    assert!(open(&find("alfworld", &found[0].id, &linked).unwrap(), &linked).is_ok());
}

#[test]
fn level_names_include_their_seeds() {
    let options = TaskOptions { seed: 9, ..TaskOptions::default() };
    for (text, id, seed) in [
        ("2", "GoToRedBall/9", 9),
        ("GoToRedBall", "GoToRedBall/9", 9),
        ("BabyAI-GoToRedBall-v0", "GoToRedBall/9", 9),
        ("BossLevel/18446744073709551615", "BossLevel/18446744073709551615", u64::MAX),
    ] {
        let task = find("babyai", text, &options).unwrap();
        assert_eq!((task.id.as_str(), task.seed), (id, seed));
    }
    let again = with_seed(find("babyai", "2", &options).unwrap(), 4);
    assert_eq!((again.id.as_str(), again.seed), ("GoToRedBall/4", 4));
    let mut world = open(&again, &options).unwrap();
    let first = world.reset().unwrap();
    let listed = list_tasks("babyai", &select_list("GoToRedBall/4"), &options).unwrap();
    assert_eq!(first.shown["goal"], listed[0].goal);
    assert_eq!(select_tasks("babyai", &select_list("*/3-4"), &options).unwrap().len(), 80);
    assert_eq!(list_tasks("babyai", &Selection::default(), &options).unwrap().len(), 40);
    let test = Selection { split: Some("test".to_owned()), ..Selection::default() };
    assert_eq!(select_tasks("babyai", &test, &options).unwrap()[52].id, "OpenDoorLoc/1234");
    for (text, words) in [
        ("41", "short name or full id"),
        ("GoToRedBall/x", "short name or full id"),
        ("no.json", "level file"),
    ] {
        let error = find("babyai", text, &options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(matches!(
        select_tasks("babyai", &Selection::default(), &options),
        Err(TaskError::NoTaskChosen { .. })
    ));
}

#[test]
fn level_files_and_label_rows_are_tasks() {
    let dir = tempfile::tempdir().unwrap();
    let level = r#"{"grid":[["W","W","W"],["W",null,0]],"objects":[{"type":"ball","color":"red"}],"agent":[1,1,0],
        "instr":{"op":"pickup","desc":{"type":"ball"}},"max_steps":9}"#;
    let file = dir.path().join("own.json");
    fs::write(&file, level).unwrap();
    let task = find("babyai", file.to_str().unwrap(), &default_options()).unwrap();
    assert_eq!(task.goal, "pick up the ball");
    let mut world = open(&task, &default_options()).unwrap();
    world.reset().unwrap();
    assert!(world.step("pickup red ball 1").unwrap().won);
    let list = dir.path().join("test.jsonl");
    let label = r#"{"task":"babyai","goal":"go to the red ball","subgoals":["There is a ** ball"],"difficulty":"easy"}"#;
    fs::write(&list, format!("{label}\n{label}\n{}\nBossLevel/3\n", level.replace('\n', ""))).unwrap();
    let found = list_tasks("babyai", &select_list(list.to_str().unwrap()), &default_options()).unwrap();
    let types: Vec<_> = found.iter().map(|t| (t.task_type.as_deref(), t.seed)).collect();
    let label = Some("GoToRedBallGrey");
    assert_eq!(types, [(label, 1234), (label, 1235), (None, 0), (Some("BossLevel"), 3)]);
    for task in &found {
        open(task, &default_options()).unwrap().reset().unwrap();
    }
    fs::write(&list, "{\"grid\":[]}\n").unwrap();
    let error = list_tasks("babyai", &select_list(list.to_str().unwrap()), &default_options())
        .unwrap_err()
        .to_string();
    assert!(error.contains("test.jsonl:1:") && error.contains("`objects` is missing"), "{error}");
}

/// Regression: `help` and `look` were asked again where a reply needs five characters, although both are actions.
#[test]
fn the_short_actions_of_an_environment_are_all_listed() {
    let tasks =
        [("household", "normal/put/1"), ("household", "easy/heat/23"), ("babyai", "UnlockPickupDist/900005")];
    for (env, id) in tasks {
        let entry = crate::catalog::find_environment(env).unwrap();
        let listed = entry.texts.short_actions.unwrap();
        let selection = Selection { tasks: vec![id.to_owned()], ..Selection::default() };
        let tasks = select_tasks(env, &selection, &default_options()).unwrap();
        let mut world = open(&tasks[0], &default_options()).unwrap();
        world.reset().unwrap();
        for _ in 0..3 {
            let actions = world.admissible().unwrap();
            let short = actions.iter().filter(|action| action.chars().count() < 5);
            let unlisted: Vec<&String> = short.filter(|action| !listed.contains(&action.as_str())).collect();
            assert!(unlisted.is_empty(), "{env}: {unlisted:?}");
            world.step(actions.last().unwrap()).unwrap();
        }
    }
}

/// Regression: explorations "without a goal" of questions began with the question.
#[test]
fn an_exploration_begins_without_the_goal() {
    for (env, is_goal) in [("household", false), ("babyai", false), ("pddl", false), ("hotpotqa", true)] {
        let texts = &crate::catalog::find_environment(env).unwrap().texts;
        assert_eq!(texts.goal_lines.is_none(), is_goal, "{env}");
        let tasks = super::list_calibration_tasks(env, 1, &default_options()).unwrap();
        for task in tasks {
            let first = open(&task, &default_options()).unwrap().reset().unwrap();
            let goal = first.shown.get("goal").and_then(|goal| goal.as_str()).unwrap_or(&task.goal);
            let goal = if goal.is_empty() {
                crate::prompt::interface::goal_from_reset(&first)
            } else {
                goal.to_owned()
            };
            let seen = crate::prompt::interface::without_goal(texts, &first.observation);
            assert!(
                !goal.is_empty() && seen.contains(&goal) == is_goal,
                "{env} {}: {goal:?} in {seen:?}",
                task.id
            );
        }
    }
}

/// Regression: environments were asked with the defaults, so that ScienceWorld's JAR was never found, and MiniWoB++ advised what was
/// chosen already.
#[test]
fn warnings_follow_the_chosen_options() {
    let task = |env: &str, id: &str| Task {
        env: env.to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: None,
        difficulty: None,
        seed: 0,
    };
    let menu = |values: &[(&'static str, &str)]| {
        let chosen = values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        warnings(&task("miniwob", "click-menu/0"), &TaskOptions { chosen, ..default_options() }).concat()
    };
    assert!(menu(&[]).contains("set miniwob.view to `detailed`"), "{}", menu(&[]));
    assert!(menu(&[("miniwob.actions", "paper")]).contains("needs `move_coords`"));
    for value in [("miniwob.view", "detailed"), ("miniwob.actions", "rci")] {
        assert_eq!(menu(&[value]), "", "{value:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join("other.jar");
    fs::write(&jar, "not the known one").unwrap();
    let options = TaskOptions { paths: [("scienceworld.jar", jar)].into(), ..default_options() };
    let found = warnings(&task("scienceworld", "boil/0"), &options).concat();
    assert!(found.contains("other.jar is not ScienceWorld 1.2.3"), "{found}");
}
