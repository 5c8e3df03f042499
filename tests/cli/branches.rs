//! Branches on the command line: forks in `--plain` mode, and every verb that reads a session.

use crate::Home;

/// Creates a session with a fork at step 3 (another action), then continues on the trunk.
fn session_with_fork(home: &Home) -> String {
    let input = "step\nstep\nstep\nstep\nfork 3 go to shelf 1\nstep\nbranches\nbranch-name b1 shelf first\nswitch trunk\nstep\nquit\n";
    let output = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    assert!(output.stdout.contains("Branch b1, from step 3"), "{}", output.stdout);
    assert!(
        output.stdout.contains("* b1 from trunk after event")
            && output.stdout.contains("override: go to shelf 1"),
        "{}",
        output.stdout
    );
    assert!(output.stdout.contains("b1 (shelf first)"), "{}", output.stdout);
    assert!(output.stdout.contains("Branch trunk, from step"), "{}", output.stdout);
    home.session().display().to_string()
}

#[test]
fn every_verb_reads_a_branch_with_its_inherited_events() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let at = |branch: &str| format!("{session}@{branch}");
    let transcript = |branch: &str| {
        let args = ["export", &at(branch), "--format", "text"];
        home.run(&args).assert_success().stdout
    };
    let (trunk, fork) = (transcript("trunk"), transcript("b1"));
    assert!(fork.contains("go to shelf 1") && trunk != fork);
    assert_eq!(transcript("shelf first"), fork, "a branch is found by its name");
    let shared = fork.lines().zip(trunk.lines()).take_while(|(a, b)| a == b).count();
    assert!(shared > 5, "both start alike:\n{fork}\n{trunk}");
    // Without a name, the branch written last is used.
    assert_eq!(home.run(&["export", &session, "--format", "text"]).assert_success().stdout, trunk);
    let listed = home.run(&["sessions", "--json"]).assert_success();
    assert_eq!(listed.json_lines()[0]["branches"], 2);
    assert!(home.run(&["sessions"]).assert_success().stdout.contains("2 branches"));
    let verified = home.run(&["verify", &session]).assert_success();
    assert!(
        verified.stdout.contains("on 2 branches") && verified.stdout.contains("OK:"),
        "{}",
        verified.stdout
    );
    let one = home.run(&["verify", &at("b1"), "--json"]).assert_success();
    assert_eq!(one.json_lines()[0]["branches"], 1);
    let opened = home.run(&["open", &format!("{session}@b1#1.3"), "--json"]).assert_success();
    assert!(opened.stdout.contains("go to shelf 1"));
    // Resumes without a screen, then reads a report that contains both branches.
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
    let rejected = home.run(&["open", &at("b9"), "--json"]);
    assert!(
        rejected.code != 0 && rejected.stdout.contains("no branch") && rejected.stdout.contains("trunk, b1"),
        "{}",
        rejected.stdout
    );
}

/// Regression: `fork N ACTION` overrode a proposal, which the steps that a person plays don't have.
#[test]
fn a_step_that_a_person_played_is_forked_with_another_action() {
    let home = Home::new();
    let input = "act look\nact inventory\nact look\nfork 2 examine shelf 1\nbranches\nquit\n";
    let run = ["run", "--task", "easy/put/1", "--plain", "--mentor", "none", "--actor", "human"];
    let said = home.run_with_input(&run, input).assert_success().stdout;
    assert!(said.contains("2 > examine shelf 1") && said.contains("* b1"), "{said}");
}

/// Regression: `diff` accepted only ids of branches.
#[test]
fn diff_accepts_branch_names() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let printed = |branch: &str| {
        home.run(&["diff", &format!("{session}@trunk"), &format!("{session}@{branch}"), "--json"])
    };
    let named = printed("shelf first").assert_success().json_lines();
    assert_eq!(named, printed("b1").assert_success().json_lines());
    assert_eq!(named[0]["b"]["branch"], "b1");
    assert_eq!((&named[0]["first"]["a"], &named[0]["first"]["b"]), (&3.into(), &3.into()));
    let rejected = printed("shelf last");
    let message = r#"no branch named \"shelf last\""#;
    assert!(
        rejected.code == 2 && rejected.stdout.contains(message) && rejected.stdout.contains("trunk, b1"),
        "{}",
        rejected.stdout
    );
}

/// Regression: the trunk was headed by the name of the session, which, typed again, means the branch written last.
#[test]
fn diff_heads_each_side_with_a_name_that_finds_it_again() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let args = ["diff", &format!("{session}@trunk"), &format!("{session}@b1"), "--width", "120"];
    let text = home.run(&args).assert_success().stdout;
    assert!(text.contains("@trunk#1") && text.contains("@b1#1"), "{text}");
}

/// Regression: the error for an unknown name listed only ids, and the exit code was 1 instead of 2.
#[test]
fn an_unknown_branch_is_a_usage_error_that_lists_the_branches() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let page = home.path("page.html").display().to_string();
    home.run(&["export", &session, "--format", "html", "--out", &page]).assert_success();
    let verbs = |target: &str| -> Vec<Vec<String>> {
        let args = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        vec![
            args(&["diff", target, &session]),
            args(&["diff", &session, target]),
            args(&["diff", &format!("{target}#1"), &session]),
            args(&["open", target, "--json"]),
            args(&["open", &format!("{target}#1.2"), "--json"]),
            args(&["resume", target, "--headless"]),
            args(&["verify", target]),
            args(&["verify", target, "--json"]),
            args(&["export", target, "--format", "text"]),
            args(&["report", target]),
            args(&["rerun", &format!("{target}#1"), "--headless"]),
            args(&["lessons", "promote", target]),
            args(&["run", "--actor", &format!("recorded:{target}"), "--headless"]),
        ]
    };
    let all = ["trunk", "b1 (shelf first)"].join(", ");
    for (word, near) in [
        ("shelf fist", "did you mean \"shelf first\"?"),
        ("trnk", "did you mean \"trunk\"?"),
        ("nowhere", ""),
    ] {
        for source in [&session, &page] {
            for args in verbs(&format!("{source}@{word}")) {
                // A session from a report cannot be resumed.
                if source == &page && args[0] == "resume" {
                    continue;
                }
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let output = home.run(&args);
                let words = format!("{}{}", output.stdout, output.stderr).replace("\\\"", "\"");
                assert_eq!(output.code, 2, "{args:?}: {words}");
                for expected in [format!("no branch named \"{word}\""), near.to_owned(), all.clone()] {
                    assert!(words.contains(&expected), "{args:?}: {expected}: {words}");
                }
            }
        }
    }
    // For two branches with the same name, the error lists ids. The program never creates them, but a file may contain
    // them.
    let labels = home.session().join("branches/labels.jsonl");
    let mut lines = std::fs::read_to_string(&labels).unwrap();
    lines.push_str("{\"branch\":\"trunk\",\"name\":\"shelf first\"}\n");
    std::fs::write(&labels, lines).unwrap();
    let output = home.run(&["open", &format!("{session}@shelf first"), "--json"]);
    assert_eq!(output.code, 2, "{}", output.stdout);
    let expected = "use an id: trunk (shelf first), b1 (shelf first)";
    assert!(
        output.stdout.contains("2 branches are named") && output.stdout.contains(expected),
        "{}",
        output.stdout
    );
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
    let output = home.run(&["verify", &session]);
    assert!(output.code == 1 && output.stdout.contains("PROBLEM branch b1, event"), "{}", output.stdout);
}

/// Regression: exports did not name their branch.
#[test]
fn an_export_names_its_branch() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let printed = |branch: &str, format: &str| {
        home.run(&["export", &format!("{session}@{branch}"), "--format", format]).assert_success().stdout
    };
    for (branch, words, name) in [("trunk", "trunk", None), ("b1", "b1 (shelf first)", Some("shelf first"))] {
        let page = printed(branch, "markdown");
        assert!(page.contains(&format!("- branch: `{words}`\n")), "{page}");
        let json: serde_json::Value = serde_json::from_str(&printed(branch, "json")).unwrap();
        assert_eq!((json["branch"].as_str(), json["branch_name"].as_str()), (Some(branch), name));
        let page = printed(branch, "html");
        assert!(page.contains(&format!("<dt>branch</dt><dd>{words}</dd>")), "{page}");
    }
}

/// Regression: a report was always compared by its trunk, whatever branch it showed.
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
    let printed =
        |a: &str, b: &str| home.run(&["diff", a, b, "--json"]).assert_success().json_lines().remove(0);
    let branches = |printed: &serde_json::Value| {
        ["a", "b"].map(|side| printed[side]["branch"].as_str().unwrap_or_default().to_owned())
    };
    let compared = printed(&trunk, &fork);
    assert_eq!(branches(&compared), ["trunk", "b1"]);
    assert_eq!(compared["first"]["a"], 3);
    assert_eq!(branches(&printed(&format!("{fork}@trunk"), &format!("{trunk}@b1"))), ["trunk", "b1"]);
    assert_eq!(branches(&printed(&format!("{trunk}@shelf first#1"), &fork)), ["b1", "b1"], "by its name");
    let rejected = home.run(&["diff", &format!("{trunk}@b9"), &fork]);
    assert!(rejected.code != 0 && rejected.stderr.contains("b9"), "{}", rejected.stderr);
    // The trunk was written last, but the other branch's page opens that branch.
    assert!(home.run(&["open", &fork, "--json"]).assert_success().stdout.contains("go to shelf 1"));
    assert!(!home.run(&["open", &trunk, "--json"]).assert_success().stdout.contains("go to shelf 1"));
    // Older pages don't name the branch: the branch written last is used.
    let old = home.path("old.html");
    let text = std::fs::read_to_string(&fork).unwrap();
    assert!(text.contains("\"branch\":\"b1\",\"files\""));
    std::fs::write(&old, text.replace("\"branch\":\"b1\",\"files\"", "\"files\"")).unwrap();
    assert_eq!(branches(&printed(&old.display().to_string(), &fork)), ["trunk", "b1"]);
}

/// A skipped branch is reported in one line, and the session is read without it.
#[test]
fn a_broken_branch_file_is_skipped_with_a_message() {
    let home = Home::new();
    let session = session_with_fork(&home);
    let broken = home.session().join("branches/b7.jsonl");
    std::fs::write(&broken, "{\"v\":1,\"type\":\"branch\"}\n").unwrap();
    let count = |stderr: &str| stderr.lines().filter(|l| l.contains("branch b7 skipped: ")).count();
    let opened = home.run(&["open", &session, "--json"]).assert_success();
    assert_eq!(count(&opened.stderr), 1, "{}", opened.stderr);
    assert!(opened.stderr.contains("b7.jsonl"), "it names the file: {}", opened.stderr);
    let resumed = home.run(&["resume", &session, "--headless", "-q", "--break", "step=6"]);
    assert_eq!(count(&resumed.stderr), 1, "{}", resumed.stderr);
    let verified = home.run(&["verify", &session]);
    assert_eq!((verified.code, count(&verified.stdout)), (1, 1), "{}", verified.stdout);
    let named = home.run(&["open", &format!("{session}@b7"), "--json"]);
    assert!(named.code != 0 && named.stdout.contains("b7.jsonl"), "{} {}", named.stdout, named.stderr);
}

/// An older cached summary without tasks is rebuilt; the session itself doesn't change.
#[test]
fn a_summary_names_the_tasks_and_an_old_one_is_rebuilt() {
    let home = Home::new();
    let session = std::path::PathBuf::from(session_with_fork(&home));
    home.run(&["sessions"]).assert_success();
    let summary_file = session.join("index/summary.json");
    let read =
        || serde_json::from_slice::<serde_json::Value>(&std::fs::read(&summary_file).unwrap()).unwrap();
    let new = read();
    assert_eq!(new["tasks"].as_array().map(Vec::len), Some(1), "{new}");
    let mut old = new.clone();
    old.as_object_mut().unwrap().remove("tasks");
    std::fs::write(&summary_file, old.to_string()).unwrap();
    let trunk = std::fs::read(session.join("branches/trunk.jsonl")).unwrap();
    home.run(&["sessions"]).assert_success();
    assert_eq!(read()["tasks"], new["tasks"]);
    assert_eq!(std::fs::read(session.join("branches/trunk.jsonl")).unwrap(), trunk);
}

/// Regression: after a branch was renamed, undo silently undid the lesson before it and kept the name.
/// Regression: the list of branches credited a fork with the outcome of a later trial.
#[test]
fn a_fork_is_credited_with_the_episode_that_it_forked() {
    let home = Home::new();
    let input = "step\nstep\nfork 2 go to shelf 1\nstep\nend\nagain\nstep\nbranches\nquit\n";
    let output = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    let line = output.stdout.lines().find(|line| line.contains("b1 from trunk")).unwrap_or_default();
    assert!(line.contains("ep. 1/2 lost (ended by a person)"), "{}", output.stdout);
}

#[test]
fn a_branch_rename_is_undone_before_earlier_changes() {
    let home = Home::new();
    let input = "step\nlesson Look first.\nbranch-name trunk one\nbranch-name trunk two\nundo\nbranches\nredo\nbranches\nundo\nundo\nundo\nquit\n";
    let output = home
        .run_with_input(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input)
        .assert_success();
    let printed: Vec<&str> = output
        .stdout
        .lines()
        .map(str::trim)
        .filter_map(|l| match l.strip_prefix("* trunk (") {
            Some(rest) => rest.split(')').next(),
            None => Some(l).filter(|l| l.starts_with("undone") || l.starts_with("redone")),
        })
        .collect();
    let expected = [
        "one",
        "two",
        "undone: branch trunk named two",
        "one",
        "redone: branch trunk named two",
        "two",
        "undone: branch trunk named two",
        "undone: branch trunk named one",
        "undone: lesson 1 is gone",
    ];
    assert_eq!(printed, expected, "{}", output.stdout);
}
