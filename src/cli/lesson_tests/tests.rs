//! Flips between two runs, and the file to which tests are appended.

use super::*;
#[cfg(feature = "tui")]
use crate::cli::config::Config;
use flips::{Flip, PastResult, find_flip};

/// Each row: complied, samples and needed replies before and now, and the flip.
#[test]
fn a_flip_needs_more_than_chance() {
    let result = |(complied, samples, need)| PastResult { complied, samples, need };
    let rows = [
        ((1, 1, 1), (0, 1, 1), Some(Flip::PassToFail)),
        ((0, 1, 1), (1, 1, 1), Some(Flip::FailToPass)),
        ((1, 1, 1), (1, 1, 1), None),
        // Shares near the limit pass and fail by chance: the intervals overlap.
        ((8, 10, 8), (7, 10, 8), None),
        ((5, 10, 8), (8, 10, 8), None),
        ((10, 10, 8), (2, 10, 8), Some(Flip::PassToFail)),
        ((1, 10, 8), (9, 10, 8), Some(Flip::FailToPass)),
        // A single reply says too little about a share.
        ((1, 1, 1), (5, 10, 8), None),
        ((9, 10, 8), (10, 10, 8), None),
    ];
    for (before, now, expected) in rows {
        assert_eq!(find_flip(result(before), result(now)), expected, "{before:?} {now:?}");
    }
}

#[cfg(feature = "tui")]
fn documented_test() -> LessonTest {
    let page = include_str!("../../../docs/LESSON_TESTS.md");
    parse_tests(page.split("```json\n").nth(1).unwrap().split("```").next().unwrap()).unwrap().remove(0)
}

#[cfg(feature = "tui")]
#[test]
fn each_decision_is_kept_once() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::load(None, |_| None).unwrap();
    let path = tests_path(&dir.path().join("pools/pool.jsonl"));
    let test = documented_test();
    let said = keep_test(&config, &path, &test).unwrap();
    assert!(said.starts_with("kept as test 1 of ") && said.ends_with("expects go to microwave 1"), "{said}");
    let error = keep_test(&config, &path, &test).unwrap_err();
    assert!(error.contains("is test 5d1c0f8a2b37 in"), "{error}");
    // An editor may leave the last line without its end.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.trim_end()).unwrap();
    let other = LessonTest { id: "000000000000".to_owned(), ..test.clone() };
    assert!(keep_test(&config, &path, &other).unwrap().starts_with("kept as test 2 of "));
    assert_eq!(parse_tests(&std::fs::read_to_string(&path).unwrap()).unwrap(), [test, other]);
    std::fs::write(&path, "{}\n").unwrap();
    let error = keep_test(&config, &path, &documented_test()).unwrap_err();
    assert!(error.contains("tests.jsonl:1: "), "{error}");
}

/// Regression: the replies of a failed test were on the row of its name.
#[cfg(feature = "tui")]
#[test]
fn a_failed_test_has_its_replies_in_rows_of_their_own() {
    let test = documented_test();
    let outcome = |complied| Outcome {
        test: &test,
        samples: 2,
        need: 2,
        replies: Replies {
            complied,
            proposals: vec![("look".to_owned(), 1), ("go to\nshelf 1".to_owned(), 1)],
            unanswered: 0,
            errors: vec!["context overflow".to_owned()],
        },
        flip: None,
    };
    let printed = |complied| outcome(complied).lines();
    let failed = printed(1);
    assert!(failed[0].starts_with("FAIL  5d1c0f8a2b37  ") && failed[0].ends_with(", needs 2"), "{failed:?}");
    assert_eq!(
        failed[1..],
        ["        got: look", "        got: go to shelf 1", "        call failed: context overflow"]
    );
    assert_eq!(printed(2).len(), 1, "{:?}", printed(2));
}

/// Regression: the proposals stood in the order in which each was made first (5, 2 and 3 times).
#[test]
fn the_most_frequent_proposal_comes_first() {
    let mut replies = Replies::default();
    for text in ["look", "wait", "go to shelf 1", "go to shelf 1", "examine shelf 1"] {
        replies.add_proposal(Some(text.to_owned()));
    }
    let proposals: Vec<(&str, u32)> =
        replies.proposals.iter().map(|(text, count)| (text.as_str(), *count)).collect();
    assert_eq!(proposals, [("go to shelf 1", 2), ("examine shelf 1", 1), ("look", 1), ("wait", 1)]);
}
