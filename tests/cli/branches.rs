//! Branches on the command line: going on from the past line by line, and every verb that reads a session.

use crate::Home;

/// A session whose third turn was gone back to, with another action there; and then the trunk again.
fn session_with_fork(home: &Home) -> String {
    let input = "step\nstep\nstep\nstep\nfork 3 go to shelf 1\nstep\nbranches\nbranch-name b1 shelf first\nswitch trunk\nstep\nquit\n";
    let said = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    assert!(said.stdout.contains("Branch b1, from step 3"), "{}", said.stdout);
    assert!(
        said.stdout.contains("* b1 from trunk after event")
            && said.stdout.contains("override: go to shelf 1"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("b1 (shelf first)"), "{}", said.stdout);
    assert!(said.stdout.contains("Branch trunk, from step"), "{}", said.stdout);
    home.session().display().to_string()
}

#[test]
fn every_verb_reads_a_branch_as_its_parent_and_then_itself() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let at = |branch: &str| format!("{session}@{branch}");
    let transcript = |branch: &str| {
        let args = ["export", &at(branch), "--format", "text"];
        home.run(&args).assert_success().stdout
    };
    let (trunk, fork) = (transcript("trunk"), transcript("b1"));
    assert!(fork.contains("go to shelf 1") && trunk != fork);
    assert_eq!(transcript("shelf first"), fork, "a branch answers to the name it was given");
    let shared = fork.lines().zip(trunk.lines()).take_while(|(a, b)| a == b).count();
    assert!(shared > 5, "both begin alike:\n{fork}\n{trunk}");
    // The branch that was written last is the one that is meant where none is named.
    assert_eq!(home.run(&["export", &session, "--format", "text"]).assert_success().stdout, trunk);
    let listed = home.run(&["sessions", "--json"]).assert_success();
    assert_eq!(listed.json_lines()[0]["branches"], 2);
    assert!(home.run(&["sessions"]).assert_success().stdout.contains("2 branches"));
    let verified = home.run(&["verify", &session]).assert_success();
    assert!(
        verified.stdout.contains("on 2 branches") && verified.stdout.contains("whole:"),
        "{}",
        verified.stdout
    );
    let one = home.run(&["verify", &at("b1"), "--json"]).assert_success();
    assert_eq!(one.json_lines()[0]["branches"], 1);
    let opened = home.run(&["open", &format!("{session}@b1#1.3"), "--json"]).assert_success();
    assert!(opened.stdout.contains("go to shelf 1"));
    // Gone on with without a screen, and by a report that carries both.
    home.run(&["resume", &at("b1"), "--headless", "-q", "--break", "step=7"]);
    assert!(transcript("b1").starts_with(fork.trim_end().rsplit_once('\n').unwrap().0));
    assert_eq!(
        home.run(&["export", &session, "--format", "text"]).assert_success().stdout,
        transcript("b1"),
        "b1 was written last"
    );
    let page = home.path("page.html").display().to_string();
    home.run(&["export", &session, "--format", "html", "--out", &page]).assert_success();
    assert!(home.run(&["open", &page, "--json"]).assert_success().stdout.contains("go to shelf 1"));
    assert!(
        !home
            .run(&["open", &format!("{page}@trunk"), "--json"])
            .assert_success()
            .stdout
            .contains("go to shelf 1")
    );
    assert!(home.run(&["verify", &page]).assert_success().stdout.contains("on 2 branches"));
    let refused = home.run(&["open", &at("b9"), "--json"]);
    assert!(
        refused.code != 0 && refused.stdout.contains("no branch") && refused.stdout.contains("trunk, b1"),
        "{}",
        refused.stdout
    );
}

/// `diff` knew the ids of branches alone.
#[test]
fn a_comparison_takes_the_name_of_a_branch() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let told = |branch: &str| {
        home.run(&["diff", &format!("{session}@trunk"), &format!("{session}@{branch}"), "--json"])
    };
    let named = told("shelf first").assert_success().json_lines();
    assert_eq!(named, told("b1").assert_success().json_lines());
    assert_eq!(named[0]["b"]["branch"], "b1");
    assert_eq!((&named[0]["first"]["a"], &named[0]["first"]["b"]), (&3.into(), &3.into()));
    let refused = told("shelf last");
    let said = r#"there is no branch \"shelf last\""#;
    assert!(
        refused.code == 2 && refused.stdout.contains(said) && refused.stdout.contains("trunk, b1"),
        "{}",
        refused.stdout
    );
}

/// An unknown name was answered with ids alone, and ended with 1 where the page says 2.
#[test]
fn an_unknown_branch_is_a_usage_error_that_lists_the_branches() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let page = home.path("page.html").display().to_string();
    home.run(&["export", &session, "--format", "html", "--out", &page]).assert_success();
    let verbs = |place: &str| -> Vec<Vec<String>> {
        let of = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        vec![
            of(&["diff", place, &session]),
            of(&["diff", &session, place]),
            of(&["diff", &format!("{place}#1"), &session]),
            of(&["open", place, "--json"]),
            of(&["open", &format!("{place}#1.2"), "--json"]),
            of(&["resume", place, "--headless"]),
            of(&["verify", place]),
            of(&["verify", place, "--json"]),
            of(&["export", place, "--format", "text"]),
            of(&["report", place]),
            of(&["rerun", &format!("{place}#1"), "--headless"]),
            of(&["lessons", "promote", place]),
            of(&["run", "--actor", &format!("recorded:{place}"), "--headless"]),
        ]
    };
    let all = ["trunk", "b1 (shelf first)"].join(", ");
    for (word, near) in [
        ("shelf fist", "did you mean \"shelf first\"?"),
        ("trnk", "did you mean \"trunk\"?"),
        ("nowhere", ""),
    ] {
        for of in [&session, &page] {
            for args in verbs(&format!("{of}@{word}")) {
                // What came out of a report is not gone on with.
                if of == &page && args[0] == "resume" {
                    continue;
                }
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let said = home.run(&args);
                let words = format!("{}{}", said.stdout, said.stderr).replace("\\\"", "\"");
                assert_eq!(said.code, 2, "{args:?}: {words}");
                for due in [format!("there is no branch \"{word}\""), near.to_owned(), all.clone()] {
                    assert!(words.contains(&due), "{args:?}: {due}: {words}");
                }
            }
        }
    }
    // Of two with one name the ids are told.
    // The program gives no name twice; a file may have it all the same.
    let labels = home.session().join("branches/labels.jsonl");
    let mut lines = std::fs::read_to_string(&labels).unwrap();
    lines.push_str("{\"branch\":\"trunk\",\"name\":\"shelf first\"}\n");
    std::fs::write(&labels, lines).unwrap();
    let two = home.run(&["open", &format!("{session}@shelf first"), "--json"]);
    assert_eq!(two.code, 2, "{}", two.stdout);
    let due = "name one by its id: trunk (shelf first), b1 (shelf first)";
    assert!(two.stdout.contains("2 branches are called") && two.stdout.contains(due), "{}", two.stdout);
}

#[test]
fn verify_names_a_changed_fork() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let fork = home.session().join("branches/b1.jsonl");
    let text = std::fs::read_to_string(&fork).unwrap();
    let line = text.lines().find(|l| l.contains("\"type\":\"observed\"")).unwrap();
    std::fs::write(
        &fork,
        text.replace(line, &line.replacen("\"observation\":\"", "\"observation\":\"Oh. ", 1)),
    )
    .unwrap();
    let said = home.run(&["verify", &session]);
    assert!(said.code == 1 && said.stdout.contains("PROBLEM branch b1, event"), "{}", said.stdout);
}

/// Markdown and JSON did not say which branch they tell, and neither did the page.
#[test]
fn an_export_names_its_branch() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let told = |branch: &str, format: &str| {
        home.run(&["export", &format!("{session}@{branch}"), "--format", format]).assert_success().stdout
    };
    for (branch, words, name) in [("trunk", "trunk", None), ("b1", "b1 (shelf first)", Some("shelf first"))] {
        let page = told(branch, "markdown");
        assert!(page.contains(&format!("- branch: `{words}`\n")), "{page}");
        let json: serde_json::Value = serde_json::from_str(&told(branch, "json")).unwrap();
        assert_eq!((json["branch"].as_str(), json["branch_name"].as_str()), (Some(branch), name));
        let page = told(branch, "html");
        assert!(page.contains(&format!("<dt>branch</dt><dd>{words}</dd>")), "{page}");
    }
}

/// A report was compared by its trunk, whatever branch it shows, and by that alone.
#[test]
fn a_report_opens_the_branch_on_its_page() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let page = |branch: &str| {
        let file = home.path(&format!("{branch}.html")).display().to_string();
        home.run(&["export", &format!("{session}@{branch}"), "--format", "html", "--out", &file])
            .assert_success();
        file
    };
    let (trunk, fork) = (page("trunk"), page("b1"));
    let told = |a: &str, b: &str| home.run(&["diff", a, b, "--json"]).assert_success().json_lines().remove(0);
    let branches = |told: &serde_json::Value| {
        ["a", "b"].map(|side| told[side]["branch"].as_str().unwrap_or_default().to_owned())
    };
    let compared = told(&trunk, &fork);
    assert_eq!(branches(&compared), ["trunk", "b1"]);
    assert_eq!(compared["first"]["a"], 3);
    assert_eq!(branches(&told(&format!("{fork}@trunk"), &format!("{trunk}@b1"))), ["trunk", "b1"]);
    assert_eq!(branches(&told(&format!("{trunk}@shelf first#1"), &fork)), ["b1", "b1"], "by its name");
    let refused = home.run(&["diff", &format!("{trunk}@b9"), &fork]);
    assert!(refused.code != 0 && refused.stderr.contains("b9"), "{}", refused.stderr);
    // The trunk was written last; the page of the other branch opens at that one.
    assert!(home.run(&["open", &fork, "--json"]).assert_success().stdout.contains("go to shelf 1"));
    assert!(!home.run(&["open", &trunk, "--json"]).assert_success().stdout.contains("go to shelf 1"));
    // Pages of before say nothing of it: the branch that was written last is meant.
    let old = home.path("old.html");
    let text = std::fs::read_to_string(&fork).unwrap();
    assert!(text.contains("\"branch\":\"b1\",\"files\""));
    std::fs::write(&old, text.replace("\"branch\":\"b1\",\"files\"", "\"files\"")).unwrap();
    assert_eq!(branches(&told(&old.display().to_string(), &fork)), ["trunk", "b1"]);
}

/// What is passed over is said in a line, and the session is read without it.
#[test]
fn a_broken_branch_file_is_skipped_with_a_message() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let broken = home.session().join("branches/b7.jsonl");
    std::fs::write(&broken, "{\"v\":1,\"type\":\"branch\"}\n").unwrap();
    let said = |said: &str| said.lines().filter(|l| l.contains("branch b7 was passed over: ")).count();
    let opened = home.run(&["open", &session, "--json"]).assert_success();
    assert_eq!(said(&opened.stderr), 1, "{}", opened.stderr);
    assert!(opened.stderr.contains("b7.jsonl"), "it names the file: {}", opened.stderr);
    let resumed = home.run(&["resume", &session, "--headless", "-q", "--break", "step=6"]);
    assert_eq!(said(&resumed.stderr), 1, "{}", resumed.stderr);
    let verified = home.run(&["verify", &session]);
    assert_eq!((verified.code, said(&verified.stdout)), (1, 1), "{}", verified.stdout);
    let named = home.run(&["open", &format!("{session}@b7"), "--json"]);
    assert!(named.code != 0 && named.stdout.contains("b7.jsonl"), "{} {}", named.stdout, named.stderr);
}

/// A kept summary of before names no tasks: it is made anew, and nothing of the session changes.
#[test]
fn a_summary_names_the_tasks_and_an_old_one_is_rebuilt() {
    let home = Home::new();
    let session = std::path::PathBuf::from(session_with_fork(&home));
    home.run(&["sessions"]).assert_success();
    let kept = session.join("index/summary.json");
    let read = || serde_json::from_slice::<serde_json::Value>(&std::fs::read(&kept).unwrap()).unwrap();
    let new = read();
    assert_eq!(new["tasks"].as_array().map(Vec::len), Some(1), "{new}");
    let mut old = new.clone();
    old.as_object_mut().unwrap().remove("tasks");
    std::fs::write(&kept, old.to_string()).unwrap();
    let trunk = std::fs::read(session.join("branches/trunk.jsonl")).unwrap();
    home.run(&["sessions"]).assert_success();
    assert_eq!(read()["tasks"], new["tasks"]);
    assert_eq!(std::fs::read(session.join("branches/trunk.jsonl")).unwrap(), trunk);
}

/// After a branch was renamed, an undo took back the lesson before it without a word, and left the name.
#[test]
fn a_branch_rename_is_undone_before_earlier_changes() {
    let home = Home::new();
    let input = "step\nlesson Look first.\nbranch-name trunk one\nbranch-name trunk two\nundo\nbranches\nredo\nbranches\nundo\nundo\nundo\nquit\n";
    let said = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    let told: Vec<&str> = said
        .stdout
        .lines()
        .map(str::trim)
        .filter_map(|l| match l.strip_prefix("* trunk (") {
            Some(rest) => rest.split(')').next(),
            None => Some(l).filter(|l| l.starts_with("undone") || l.starts_with("redone")),
        })
        .collect();
    let due = [
        "one",
        "two",
        "undone: branch trunk called two",
        "one",
        "redone: branch trunk called two",
        "two",
        "undone: branch trunk called two",
        "undone: branch trunk called one",
        "undone: lesson 1 added",
    ];
    assert_eq!(told, due, "{}", said.stdout);
}
