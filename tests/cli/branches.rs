//! Branches on the command line: going on from the past line by line, and every verb that reads a session.

use crate::Home;

/// A session whose third turn was gone back to, with another action there; and then the trunk again.
fn forked(home: &Home) -> String {
    let input = "step\nstep\nstep\nstep\nfork 3 go to shelf 1\nstep\nbranches\nbranch-name b1 shelf first\nswitch trunk\nstep\nquit\n";
    let said = home.says(&["run", "--task", "easy/put/1", "--plain", "--mentor", "none"], input).ok();
    assert!(said.out.contains("Branch b1, from step 3"), "{}", said.out);
    assert!(
        said.out.contains("* b1 from trunk after event") && said.out.contains("override: go to shelf 1"),
        "{}",
        said.out
    );
    assert!(said.out.contains("b1 (shelf first)"), "{}", said.out);
    assert!(said.out.contains("Branch trunk, from step"), "{}", said.out);
    home.session().display().to_string()
}

#[test]
fn every_verb_reads_a_branch_as_its_parent_and_then_itself() {
    let home = Home::new();
    let session = forked(&home);
    let at = |branch: &str| format!("{session}@{branch}");
    let transcript = |branch: &str| {
        let args = ["export", &at(branch), "--format", "text"];
        home.run(&args).ok().out
    };
    let (trunk, fork) = (transcript("trunk"), transcript("b1"));
    assert!(fork.contains("go to shelf 1") && trunk != fork);
    assert_eq!(transcript("shelf first"), fork, "a branch answers to the name it was given");
    let shared = fork.lines().zip(trunk.lines()).take_while(|(a, b)| a == b).count();
    assert!(shared > 5, "both begin alike:\n{fork}\n{trunk}");
    // The branch that was written last is the one that is meant where none is named.
    assert_eq!(home.run(&["export", &session, "--format", "text"]).ok().out, trunk);
    let listed = home.run(&["sessions", "--json"]).ok();
    assert_eq!(listed.lines()[0]["branches"], 2);
    assert!(home.run(&["sessions"]).ok().out.contains("2 branches"));
    let verified = home.run(&["verify", &session]).ok();
    assert!(verified.out.contains("on 2 branches") && verified.out.contains("whole:"), "{}", verified.out);
    let one = home.run(&["verify", &at("b1"), "--json"]).ok();
    assert_eq!(one.lines()[0]["branches"], 1);
    let opened = home.run(&["open", &format!("{session}@b1#1.3"), "--json"]).ok();
    assert!(opened.out.contains("go to shelf 1"));
    // Gone on with without a screen, and by a report that carries both.
    home.run(&["resume", &at("b1"), "--headless", "-q", "--break", "step=7"]);
    assert!(transcript("b1").starts_with(fork.trim_end().rsplit_once('\n').unwrap().0));
    assert_eq!(
        home.run(&["export", &session, "--format", "text"]).ok().out,
        transcript("b1"),
        "b1 was written last"
    );
    let page = home.path("page.html").display().to_string();
    home.run(&["export", &session, "--format", "html", "--out", &page]).ok();
    assert!(home.run(&["open", &page, "--json"]).ok().out.contains("go to shelf 1"));
    assert!(!home.run(&["open", &format!("{page}@trunk"), "--json"]).ok().out.contains("go to shelf 1"));
    assert!(home.run(&["verify", &page]).ok().out.contains("on 2 branches"));
    let refused = home.run(&["open", &at("b9"), "--json"]);
    assert!(
        refused.code != 0 && refused.out.contains("no branch") && refused.out.contains("trunk, b1"),
        "{}",
        refused.out
    );
}

/// `diff` knew the ids of branches alone.
#[test]
fn a_comparison_takes_the_name_of_a_branch() {
    let home = Home::new();
    let session = forked(&home);
    let told = |branch: &str| {
        home.run(&["diff", &format!("{session}@trunk"), &format!("{session}@{branch}"), "--json"])
    };
    let named = told("shelf first").ok().lines();
    assert_eq!(named, told("b1").ok().lines());
    assert_eq!(named[0]["b"]["branch"], "b1");
    assert_eq!((&named[0]["first"]["a"], &named[0]["first"]["b"]), (&3.into(), &3.into()));
    let refused = told("shelf last");
    let said = r#"there is no branch \"shelf last\""#;
    assert!(
        refused.code != 0 && refused.out.contains(said) && refused.out.contains("trunk, b1"),
        "{}",
        refused.out
    );
}

#[test]
fn a_changed_fork_is_found_out_by_its_name() {
    let home = Home::new();
    let session = forked(&home);
    let fork = home.session().join("branches/b1.jsonl");
    let text = std::fs::read_to_string(&fork).unwrap();
    let line = text.lines().find(|l| l.contains("\"type\":\"observed\"")).unwrap();
    std::fs::write(
        &fork,
        text.replace(line, &line.replacen("\"observation\":\"", "\"observation\":\"Oh. ", 1)),
    )
    .unwrap();
    let said = home.run(&["verify", &session]);
    assert!(said.code == 1 && said.out.contains("PROBLEM branch b1, event"), "{}", said.out);
}
