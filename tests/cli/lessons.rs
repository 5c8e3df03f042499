//! `lessons`: pools, promotion, and concurrent programs.

use crate::Home;
use serde_json::Value;
use std::process::Stdio;

#[test]
fn lessons_are_stored_in_a_pool() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look in the fridge first."]).assert_success();
    home.run(&["lessons", "add", "Took from a closed fridge.", "--solution", "Open it first."])
        .assert_success();
    home.run(&["lessons", "edit", "1", "Look in the fridge last."]).assert_success();
    std::fs::write(
        home.path("more.txt"),
        "# mine\n- Heated on a stove. -> Use a microwave.\nLook in the fridge last.\n",
    )
    .unwrap();
    let imported = home.run(&["lessons", "import", "more.txt"]).assert_success();
    assert!(imported.stdout.starts_with("1 of 1 changes were new"), "{}", imported.stdout);
    home.run(&["lessons", "retire", "2"]).assert_success();
    let listed = home.run(&["lessons", "list", "--json", "--all"]).assert_success().json_lines();
    let printed: Vec<(&str, &str, u64)> = listed
        .iter()
        .map(|l| (l["text"].as_str().unwrap(), l["status"].as_str().unwrap(), l["version"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        printed,
        [
            ("Look in the fridge last.", "on", 2),
            ("Took from a closed fridge.", "retired", 1),
            ("Heated on a stove.", "on", 1)
        ]
    );
    // A run loads the pool at start and reports it.
    let run = home
        .run(&["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--headless", "--max-steps", "2"])
        .assert_success();
    assert!(run.stdout.contains("2 lessons loaded from pool.jsonl"), "{}", run.stdout);
    // Merging is by id: importing a copy changes nothing.
    let export = home.run(&["lessons", "export"]).assert_success();
    std::fs::write(home.path("copy.jsonl"), &export.stdout).unwrap();
    let merged = home.run(&["lessons", "import", "copy.jsonl"]).assert_success();
    assert!(merged.stdout.starts_with("0 of "), "{}", merged.stdout);
    let text = home.run(&["lessons", "export", "--format", "text"]).assert_success();
    assert_eq!(text.stdout, "Look in the fridge last.\nHeated on a stove. -> Use a microwave.\n");
    std::fs::write(home.path("constitution.txt"), &text.stdout).unwrap();
    let run = home
        .run(&[
            "run",
            "--task",
            "easy/put/1",
            "--constitution",
            "constitution.txt",
            "--headless",
            "--max-steps",
            "2",
        ])
        .assert_success();
    assert!(run.stdout.contains("2 lessons loaded from constitution.txt"), "{}", run.stdout);
}

#[test]
fn concurrent_programs_lose_no_lesson() {
    let home = Home::new();
    let children: Vec<_> = (0..8)
        .map(|n| {
            home.command(&["lessons", "add", &format!("Lesson {n}.")]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.run(&["lessons", "list"]).assert_success().stdout.lines().count(), 8);
}

/// Regression: adding after an incomplete line made the whole pool unreadable.
#[test]
fn a_torn_pool_line_is_removed_before_lines_are_added() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).assert_success();
    home.run(&["lessons", "add", "Look twice."]).assert_success();
    let path = home.path("pool.jsonl");
    let len = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len - 20).unwrap();
    let output = home.run(&["lessons", "add", "Look thrice."]).assert_success();
    assert!(output.stderr.contains("removed an incomplete last line"), "{}", output.stderr);
    assert_eq!(home.run(&["lessons", "add", "Look away."]).assert_success().stderr, "");
    // A complete line without a line break, as some editors leave it, is kept.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.trim_end()).unwrap();
    assert_eq!(home.run(&["lessons", "add", "Look up."]).assert_success().stderr, "");
    let text = home.run(&["lessons", "export", "--format", "text"]).assert_success();
    assert_eq!(text.stdout, "Look around.\nLook thrice.\nLook away.\nLook up.\n");
}

#[test]
fn lessons_are_exported_from_a_session() {
    let home = Home::new();
    let input = "lesson Took from a closed fridge. -> Open it first.\nlesson Look around.\nedit 2 Look twice.\nquit\n";
    home.run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    let session = home.session().display().to_string();
    let output = home.run(&["lessons", "promote", &session]).assert_success();
    assert!(output.stdout.starts_with("2 of 2 lessons were new"), "{}", output.stdout);
    let again = home.run(&["lessons", "promote", &session]).assert_success();
    assert!(again.stdout.starts_with("0 of 2 lessons were new"), "{}", again.stdout);
    let text = home.run(&["lessons", "export", "--format", "text"]).assert_success();
    assert_eq!(text.stdout, "Took from a closed fridge. -> Open it first.\nLook twice.\n");
    assert_eq!(home.run(&["lessons", "list", &session]).assert_success().stdout.lines().count(), 2);
}

/// Regression: a run that started with a pool promoted every lesson under a new id.
#[test]
fn promoting_after_a_pool_run_duplicates_nothing() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).assert_success();
    home.run(&["lessons", "add", "Look twice."]).assert_success();
    let before = std::fs::read_to_string(home.path("pool.jsonl")).unwrap();
    let play = |input: &str| {
        let args = ["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--plain", "--mentor", "none"];
        home.run_with_input(&args, input).assert_success();
        home.session().display().to_string()
    };
    let output = home.run(&["lessons", "promote", &play("quit\n")]).assert_success();
    assert!(output.stdout.starts_with("0 of 2 lessons were new;"), "{}", output.stdout);
    assert_eq!(std::fs::read_to_string(home.path("pool.jsonl")).unwrap(), before);
}

#[test]
fn edited_lessons_are_promoted_with_status_and_origin() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).assert_success();
    home.run(&["lessons", "add", "Look twice."]).assert_success();
    let args = ["run", "--task", "easy/put/1", "--pool", "pool.jsonl", "--plain", "--mentor", "none"];
    home.run_with_input(&args, "edit 2 Look thrice.\nquit\n").assert_success();
    let session = home.session().display().to_string();
    let printed = |source: &[&str]| -> Vec<(String, String, u64)> {
        let word = |l: &Value, f: &str| l[f].as_str().unwrap().to_owned();
        let args = [&["lessons", "list", "--json"], source].concat();
        home.run(&args)
            .assert_success()
            .json_lines()
            .iter()
            .map(|l| (word(l, "id"), word(l, "origin"), l["version"].as_u64().unwrap()))
            .collect()
    };
    let output = home.run(&["lessons", "promote", &session]).assert_success();
    assert!(output.stdout.starts_with("0 of 2 lessons were new, 1 changed;"), "{}", output.stdout);
    assert_eq!(printed(&[]), printed(&[&session]));
    let text = home.run(&["lessons", "export", "--format", "text"]).assert_success();
    assert_eq!(text.stdout, "Look around.\nLook thrice.\n");
    // A later edit in the pool is not overwritten.
    home.run(&["lessons", "edit", "2", "Look away."]).assert_success();
    let again = home.run(&["lessons", "promote", &session]).assert_success();
    assert!(again.stdout.starts_with("0 of 2 lessons were new;"), "{}", again.stdout);
    assert!(
        home.run(&["lessons", "export", "--format", "text"]).assert_success().stdout.contains("Look away.")
    );
}

/// Regression: an unterminated last line was removed as incomplete even in a file that isn't a pool, and lost.
#[test]
fn every_verb_rejects_a_file_that_is_not_a_pool_and_leaves_it_unchanged() {
    let home = Home::new();
    home.run(&["lessons", "add", "Look around."]).assert_success();
    let line = std::fs::read_to_string(home.path("pool.jsonl")).unwrap();
    std::fs::write(home.path("more.txt"), "Look twice.\n").unwrap();
    let input = "lesson Look up.\nquit\n";
    home.run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    let session = home.session().display().to_string();
    let texts = [
        "My diary, without a line break".to_owned(),
        "Dear diary,\ntoday I".to_owned(),
        "one line\n".to_owned(),
        "{\"name\": \"a person's own JSON\"}".to_owned(),
        "{\"name\": \"a person's own JSON, half wri".to_owned(),
        "{\n  \"name\": 1\n}".to_owned(),
        "[1, 2".to_owned(),
        format!("{line}and a note of mine"),
        format!("{line}{{\"name\": \"whole JSON that is no pool line\"}}"),
        format!("a note of mine\n{}", &line[..40]),
    ];
    for text in texts {
        let path = home.path("mine.txt");
        std::fs::write(&path, &text).unwrap();
        let verbs: [&[&str]; 9] = [
            &["lessons", "--pool", "mine.txt", "add", "Look."],
            &["lessons", "--pool", "mine.txt", "edit", "1", "Look."],
            &["lessons", "--pool", "mine.txt", "retire", "1"],
            &["lessons", "--pool", "mine.txt", "import", "more.txt"],
            &["lessons", "--pool", "mine.txt", "import", "pool.jsonl"],
            &["lessons", "--pool", "mine.txt", "promote", &session],
            &["lessons", "--pool", "mine.txt", "list"],
            &["calibrate", "--per-type", "1", "--max-steps", "2", "--out", "mine.txt"],
            &["run", "--task", "easy/put/1", "--pool", "mine.txt", "--headless", "--max-steps", "1"],
        ];
        for verb in verbs {
            let output = home.run(verb);
            assert_eq!(output.code, 1, "{verb:?} on {text:?}: {}{}", output.stdout, output.stderr);
            assert!(
                output.stderr.contains("mine.txt") && output.stderr.contains("--constitution"),
                "{}",
                output.stderr
            );
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{verb:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pool_is_private_to_its_owner_and_may_be_a_symlink() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "umask 0377; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_retrospect")]);
    command.args(["lessons", "--pool", "new.jsonl", "add", "Look."]).current_dir(home.path("."));
    assert!(command.status().unwrap().success());
    let mode = |name: &str| std::fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("new.jsonl"), 0o600);
    std::os::unix::fs::symlink("new.jsonl", home.path("link.jsonl")).unwrap();
    home.run(&["lessons", "--pool", "link.jsonl", "add", "Look twice."]).assert_success();
    assert_eq!(
        home.run(&["lessons", "--pool", "new.jsonl", "list"]).assert_success().stdout.lines().count(),
        2
    );
    let folder = home.run(&["lessons", "--pool", ".", "add", "Look."]);
    assert_eq!(folder.code, 1, "{}", folder.stderr);
}

/// Regression: a lesson that contains a key was rejected only in a run, and `lessons` wrote it into the pool.
#[test]
fn no_key_is_written_into_a_pool() {
    const KEY: &str = "sk-proj-0123456789-never-to-be-kept";
    let home = Home::new();
    let rejected = |args: &[&str]| {
        let mut command = home.command(args);
        let done = command.env("OPENAI_API_KEY", KEY).output().unwrap();
        let output = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(!output.contains(KEY), "{output}");
        (done.status.code() == Some(1)).then_some(output)
    };
    let lesson = format!("Use {KEY} to open it.");
    std::fs::write(home.path("more.txt"), format!("- Look first.\n- {lesson}\n")).unwrap();
    for args in [
        &["lessons", "add", &lesson][..],
        &["lessons", "add", "Took it.", "--solution", &lesson],
        &["lessons", "import", "more.txt"],
    ] {
        let output = rejected(args).unwrap_or_else(|| panic!("{args:?} was not rejected"));
        assert!(output.contains("the text contains the key of a model server"), "{output}");
    }
    assert!(!home.path("pool.jsonl").exists());
    // A pool that already contains one can be fixed.
    home.run(&["lessons", "add", &lesson]).assert_success();
    assert_eq!(rejected(&["lessons", "edit", "1", "Use the key to open it."]), None);
    assert!(rejected(&["lessons", "edit", "1", &lesson]).is_some());
}

/// Regression: JSON that is no pool line was answered with "missing field `v`" alone, and a binary file with a hint at permissions.
#[test]
fn files_without_lessons_are_told_apart() {
    let home = Home::new();
    std::fs::write(home.path("other.jsonl"), "{\"foo\":1}\n").unwrap();
    let said = home.run(&["lessons", "list", "--pool", "other.jsonl"]);
    assert_eq!(said.code, 1, "{}", said.stderr);
    let example = said.stderr.split_once("such as ").unwrap().1.split_once("}}").unwrap().0;
    // The example is a line of a pool.
    std::fs::write(home.path("pool.jsonl"), format!("{example}}}}}\n")).unwrap();
    let listed = home.run(&["lessons", "list", "--pool", "pool.jsonl"]).assert_success().stdout;
    assert!(listed.contains("Look in the fridge first."), "{listed}");
    std::fs::write(home.path("binary"), [b'a', 0xff, b'\n']).unwrap();
    let said = home.run(&["run", "--constitution", "binary", "--headless"]);
    assert!(
        said.stderr.contains("it isn't a text file") && !said.stderr.contains("permissions"),
        "{}",
        said.stderr
    );
}

#[test]
fn the_health_of_a_pool_and_of_a_session_is_checked() {
    let home = Home::new();
    for lesson in
        ["Heat food in a microwave only.", "Heat food only in a microwave.", "Go to the shelf first."]
    {
        home.run(&["lessons", "add", lesson]).assert_success();
    }
    let text = home.run(&["lessons", "health"]).assert_success().stdout;
    assert!(text.contains("3 active lessons\n"), "{text}");
    assert!(text.contains("lessons 1 and 2 say the same (similarity 1.00) [merge or retire]"), "{text}");
    home.run(&["run", "--task", "easy/heat/1", "--headless", "--max-steps", "30", "--pool", "pool.jsonl"])
        .assert_success();
    let session = home.session();
    let args = ["lessons", "health", session.to_str().unwrap(), "--json"];
    let health = home.run(&args).assert_success().json_lines().remove(0);
    assert!(health["lessons"].as_u64().unwrap() >= 3, "{health}");
    assert!(health["prompt_share"].as_f64().is_some_and(|share| share > 0.0 && share < 1.0), "{health}");
    let findings = health["findings"].as_array().unwrap();
    let duplicate = findings.iter().find(|f| f["finding"] == "duplicate").unwrap();
    assert_eq!(duplicate["remedies"], serde_json::json!(["merge", "retire"]));
    assert_ne!(home.run(&["lessons", "health", "absent"]).code, 0);
}
