//! Compares episodes folded from events as a driver writes them.

mod test_branch;

use super::{Comparison, Reason, Row, RowKind, StepPart, find_counterpart, pair_episodes};
use crate::domain::{DecidedBy, SegmentLabel};
use crate::timeline::no_progress;
use proptest::prelude::*;
use test_branch::{TestBranch, render, task};

fn compare(a: &TestBranch, b: &TestBranch) -> Comparison {
    Comparison::new(a.side(None).unwrap(), b.side(None).unwrap(), render, &no_progress).unwrap()
}

/// Formats the rows as letters: `=` same, `~` changed, `<` only left, `>` only right, without the row of first
/// observations.
fn row_letters(rows: &[Row]) -> String {
    let letter = |r: &Row| match r.kind() {
        RowKind::Same => '=',
        RowKind::Changed => '~',
        RowKind::OnlyLeft => '<',
        RowKind::OnlyRight => '>',
    };
    rows.iter().skip(1).map(letter).collect()
}

#[test]
fn steps_are_aligned_by_their_actions() {
    let cases: &[(&str, &str, &str)] = &[
        ("", "", ""),
        ("a|b|c", "a|b|c", "==="),
        ("a|b|c", "a|c", "=<="),
        ("a|c", "a|b|c", "=>="),
        ("a|b|c", "a|x|c", "=~="),
        ("a", "", "<"),
        ("", "a|b", ">>"),
        // Actions with the same first word are aligned, and one in place of one.
        ("go 1|take x|go 3", "look|go 2|take x|go 3", ">~=="),
        ("a|go 1|b|go 2", "a|go 1|x|go 2", "==~="),
        // The first two steps that differ stand side by side; later ones that have nothing in common don't.
        ("a|b|c|d", "x|y", "~<<<>"),
        ("go 1|a|b|c|d|e|f", "go 1|f", "=~<<<<<"),
        ("go 1|a|b|f", "go 1|f", "=<<="),
        ("go 1|think: a|b|c", "go 1|x|y", "=<<<>>"),
        // A thought is never aligned with a move.
        ("think: I go|go 1", "go 1", "<="),
        ("think: I go|go 1", "take x|go 1", "<>="),
        ("think: this|go 1", "think: that|go 1", "~="),
        // The longest match, not the first that fits.
        ("go 1|go 2|go 3|go 1|go 2", "go 1|go 2|go 9", "==~<<"),
        ("b|a|c|a", "a|c|a|b", "<===>"),
    ];
    let split = |text: &'static str| text.split('|').filter(|t| !t.is_empty()).collect::<Vec<_>>();
    for (a, b, rows) in cases {
        let comparison = compare(&TestBranch::with_actions(&split(a)), &TestBranch::with_actions(&split(b)));
        assert_eq!(row_letters(&comparison.rows), *rows, "{a} compared with {b}");
    }
}

/// Regression: a fork from temperature 0.0 to 0.7 was shown as one from no temperature, since the first value was the
/// profile's.
#[test]
fn the_temperature_of_the_profile_is_compared_with_a_changed_one() {
    let mut profile = TestBranch::with_actions(&["go 1"]);
    profile.change_setting("actor.sampling", serde_json::json!({"temperature": 0.0, "seed": true}));
    let mut changed = profile.clone();
    changed.change_setting("actor.temperature", 0.7.into());
    let comparison = compare(&profile, &changed);
    let difference = super::Difference {
        name: "actor.temperature".to_owned(),
        left: Some("0.0".to_owned()),
        right: Some("0.7".to_owned()),
    };
    assert_eq!(comparison.later_differences, [difference]);
}

/// Regression: `n` went through 40 steps that only one side has one by one.
#[test]
fn steps_that_only_one_side_has_are_one_difference() {
    let a = TestBranch::with_actions(&["go 1", "b", "c", "d", "look", "take x"]);
    let b = TestBranch::with_actions(&["go 1", "x", "look", "y"]);
    let comparison = compare(&a, &b);
    assert_eq!(row_letters(&comparison.rows), "=~<<=~");
    let visited: Vec<usize> =
        std::iter::successors(Some(0), |row| comparison.next_difference(*row, false)).collect();
    assert_eq!(visited, [0, 2, 3, 6]);
    assert_eq!(comparison.next_difference(6, true), Some(3));
}

/// Regression: two plays with the same actions had "no difference" although a lesson was in the prompts of one.
#[test]
fn equal_actions_after_other_prompts_are_told_from_equal_plays() {
    let plain = TestBranch::with_actions(&["go 1", "go 2", "take x"]);
    let comparison = compare(&plain, &plain.clone());
    assert_eq!((comparison.first_prompt_difference, comparison.row_of_interest()), (None, None));
    let mut taught = TestBranch::with_actions(&["go 1"]);
    taught.add_lesson("l1", "Open it first.").add_step("go 2").add_step("take x");
    let comparison = compare(&plain, &taught);
    assert_eq!(comparison.first_difference, None);
    let row = comparison.first_prompt_difference.unwrap();
    assert!(row >= 2, "row {row}");
    assert_eq!(comparison.prior.as_ref().unwrap().lessons.only_right.len(), 1);
}

#[test]
fn differing_parts_of_a_step_are_listed() {
    let mut a = TestBranch::with_actions(&["go 1", "go 2", "take x"]);
    let mut b = a.clone();
    a.add_step_with("open it", "It is open.", 0.5, DecidedBy::Actor);
    b.add_step_with("open it", "Nothing happens.", 0.0, DecidedBy::Person);
    let comparison = compare(&a, &b);
    let row = comparison.rows[comparison.first_difference.unwrap()];
    assert_eq!((row.left, row.right, row.kind()), (Some(4), Some(4), RowKind::Changed));
    let parts: Vec<StepPart> = row.parts.iter().collect();
    assert_eq!(parts, [StepPart::DecidedBy, StepPart::Observation, StepPart::Progress]);
    assert_eq!(comparison.outcomes.0.progress_gains, [(4, 0.5)]);
    let counts = |o: &super::Outcome| (o.mistake_count(), o.mistakes_after, o.steps_after);
    assert_eq!((counts(&comparison.outcomes.0), counts(&comparison.outcomes.1)), ((0, 0, 1), (1, 1, 1)));
    assert_eq!(comparison.reasons()[0], Reason::Person);
}

#[test]
fn differences_before_the_first_differing_row_are_listed() {
    let common = ["go 1", "go 2"];
    // The same branch, then with one more lesson, with another wording of it, with another model.
    let mut taught = TestBranch::with_actions(&common);
    let mut plain = taught.clone();
    let comparison =
        compare(taught.add_lesson("l1", "Open it first.").add_step("open it"), plain.add_step("take x"));
    let prior = comparison.prior.as_ref().unwrap();
    assert_eq!(
        prior.lessons.only_left.iter().map(|l| l.text.text.as_str()).collect::<Vec<_>>(),
        ["Open it first."]
    );
    assert!(
        prior.lessons.only_right.is_empty() && prior.lessons.changed.is_empty() && prior.settings.is_empty()
    );
    let segments: Vec<_> =
        prior.segments.iter().map(|s| (s.label, s.left.as_ref().map(|p| p.source.as_str()))).collect();
    assert_eq!(segments, [(SegmentLabel::Error, Some("lesson 1 v1"))]);
    assert_eq!(comparison.reasons(), [Reason::Lessons]);

    let mut other = TestBranch::with_actions(&common);
    other.add_lesson("l1", "Open it.").add_step("take x");
    let comparison = compare(&taught, &other);
    let changed = &comparison.prior.as_ref().unwrap().lessons.changed;
    assert_eq!((changed.len(), changed[0].1.text.text.as_str()), (1, "Open it."));

    // The same text under another id is the same lesson: every session assigns its own ids.
    let mut again = TestBranch::with_actions(&common);
    again.add_lesson("l9", "Open it first.").add_step("take x");
    let comparison = compare(&taught, &again);
    assert_eq!(comparison.prior.as_ref().unwrap().lessons, super::LessonDifferences::default());
    assert_eq!(comparison.reasons(), [Reason::Chance]);

    let mut seeded = TestBranch::new("openai:m", 7);
    seeded.add_step("go 9");
    let comparison = compare(&TestBranch::with_actions(&["go 1"]), &seeded);
    let settings: Vec<_> =
        comparison.prior.as_ref().unwrap().settings.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(settings, ["actor", "seed"]);
    assert_eq!(comparison.reasons(), [Reason::Settings]);
}

#[test]
fn a_different_answer_of_the_environment_is_a_reason() {
    let mut a = TestBranch::with_actions(&["go 1"]);
    let mut b = TestBranch::with_actions(&["go 1"]);
    a.add_step_with("look", "A cup.", 0.0, DecidedBy::Actor);
    b.add_step_with("look", "A bowl.", 0.0, DecidedBy::Actor);
    let first = compare(&a, &b);
    assert_eq!(first.reasons(), [Reason::DifferentAnswer]);
    let last = compare(a.add_step("take cup"), b.add_step("take bowl"));
    assert_eq!((row_letters(&last.rows).as_str(), last.first_difference), ("=~~", Some(2)));
    let world = last.prior_differences(3, render, &no_progress).unwrap().world;
    assert_eq!(world.observation, Some(("A cup.".to_owned(), "A bowl.".to_owned())));
    assert_eq!(world.known_facts[0].name, "place");
    assert_eq!((last.next_difference(2, false), last.next_difference(3, true)), (Some(3), Some(2)));
    assert_eq!((last.next_difference(3, false), last.next_difference(2, true)), (None, None));
}

#[test]
fn episodes_are_found_by_number_and_paired_by_task_and_trial() {
    let mut a = TestBranch::with_actions(&["go 1"]);
    a.end_episode();
    a.start_episode("one", 2);
    a.add_step("go 2").end_episode();
    a.start_episode("two", 1);
    let mut b = TestBranch::with_actions(&["go 1"]);
    b.end_episode();
    b.start_episode("three", 1);
    b.add_step("x");
    let found: Vec<_> = pair_episodes(&a.state, &b.state)
        .into_iter()
        .map(|p| (p.task.id, p.trial, p.left, p.right))
        .collect();
    let row = |id: &str, trial, a, b| (id.to_owned(), trial, a, b);
    let expected = [
        row("one", 1, Some(1), Some(1)),
        row("one", 2, Some(2), None),
        row("two", 1, Some(3), None),
        row("three", 1, None, Some(2)),
    ];
    assert_eq!(found, expected);
    assert_eq!(find_counterpart((&task("one"), 9), &a.state), Some(1));
    assert_eq!(find_counterpart((&task("none"), 1), &a.state), None);
    // Two trials of one session.
    let trials =
        Comparison::new(a.side(Some(1)).unwrap(), a.side(Some(2)).unwrap(), render, &no_progress).unwrap();
    assert_eq!(row_letters(&trials.rows), "~");
    let missing = a.side(Some(7)).err().unwrap();
    assert!(missing.contains("no episode 7; it has 3"), "{missing}");
}

/// Regression: a person's edit in the common past of two branches was reported as no difference.
#[test]
fn an_edit_in_the_common_past_is_a_difference() {
    type Edit = (&'static str, fn(&mut TestBranch), StepPart);
    let edits: [Edit; 3] = [
        ("an observation", |branch| branch.edit_observation(2, "There is a lamp."), StepPart::Observation),
        ("a thought", |branch| branch.edit_thought(2, "I take the lamp."), StepPart::Thought),
        ("a step that is a thought", |branch| branch.edit_thought(3, "a lamp"), StepPart::Thought),
    ];
    for (edited_part, edit, part) in edits {
        let trunk = TestBranch::with_actions(&["go 1", "go 2", "think: a cup"]);
        let mut fork = trunk.clone();
        edit(&mut fork);
        for (a, b) in [(&trunk, &fork), (&fork, &trunk)] {
            let comparison = compare(a, b);
            let changed: Vec<_> = comparison.rows.iter().filter(|r| r.kind() != RowKind::Same).collect();
            assert_eq!(changed.len(), 1, "{edited_part}: {:?}", comparison.rows);
            assert_eq!(changed[0].kind(), RowKind::Changed, "{edited_part}");
            assert_eq!(changed[0].parts.iter().collect::<Vec<_>>(), [part], "{edited_part}");
            assert_eq!(comparison.reasons(), [Reason::Edited], "{edited_part}");
        }
        // It stays the first difference after the branches diverge.
        let mut continued = trunk.clone();
        continued.add_step("take x");
        fork.add_step("take y");
        assert_eq!(compare(&continued, &fork).reasons(), [Reason::Edited], "{edited_part}");
    }
}

#[test]
fn an_edit_does_not_hide_other_reasons() {
    let mut a = TestBranch::with_actions(&["go 1"]);
    let mut b = a.clone();
    a.add_step_with("look", "A cup.", 0.0, DecidedBy::Actor);
    b.add_step_with("look", "A bowl.", 0.0, DecidedBy::Actor);
    b.edit_observation(2, "A lamp.");
    assert_eq!(compare(&a, &b).reasons(), [Reason::Edited, Reason::DifferentAnswer]);
    // If the edited text equals the other side's, the original text is not compared.
    b.edit_observation(2, "A cup.");
    assert_eq!(compare(&a, &b).first_difference, None);
    let (mut a, mut b) = (TestBranch::with_actions(&["go 1"]), TestBranch::with_actions(&["go 1"]));
    a.add_step("take x");
    b.add_step("take y").edit_thought(2, "I take it.");
    assert_eq!(compare(&a, &b).reasons(), [Reason::Edited, Reason::Chance], "the action differs, too");
}

/// Regression, found by a new user: right after a fork, the comparison reported a different answer of the environment.
#[test]
fn a_pending_step_is_not_a_different_answer() {
    let mut a = TestBranch::with_actions(&["go 1", "look"]);
    let mut b = TestBranch::with_actions(&["go 1"]);
    b.propose("look");
    assert_eq!(compare(&a, &b).first_difference, None, "{:?}", compare(&a, &b).rows);
    a.add_step("take x");
    assert_eq!(compare(&a, &b).reasons().last(), Some(&Reason::End));
}

/// Regression: the side that was further ahead had learned something and moved elsewhere by then, and both were
/// reported as reasons.
#[test]
fn being_further_ahead_is_not_a_reason() {
    let mut a = TestBranch::with_actions(&["go 1", "look"]);
    let mut b = a.clone();
    b.add_lesson("l9", "Be careful.").propose("take x");
    a.add_step("take x").add_lesson("l1", "Open it first.").add_step("open it");
    let none: &[&str] = &[];
    for (a, b, only_lessons, reasons) in [
        (&a, &b, [none, &["Be careful."]], vec![Reason::Lessons, Reason::End]),
        (&b, &a, [&["Be careful."], none], vec![Reason::Lessons, Reason::End]),
        (&a, &TestBranch::with_actions(&["go 1", "look", "take x"]), [none, none], vec![Reason::End]),
        (&TestBranch::with_actions(&[]), &a, [none, none], vec![Reason::End]),
    ] {
        let comparison = compare(a, b);
        let prior = comparison.prior.as_ref().unwrap();
        let texts =
            |l: &[super::ComparedLesson]| l.iter().map(|l| l.text.text.clone()).collect::<Vec<String>>();
        assert_eq!([texts(&prior.lessons.only_left), texts(&prior.lessons.only_right)], only_lessons);
        assert_eq!(prior.world, super::WorldDifferences::default());
        assert_eq!(comparison.reasons(), reasons);
    }
}

/// Regression: a branch made by asking the agent again was attributed to chance, although the person's request was
/// recorded.
#[test]
fn asking_again_is_a_reason() {
    let mut a = TestBranch::with_actions(&["go 1"]);
    a.propose("take x");
    let mut b = a.clone();
    b.ask_again("take y");
    assert_eq!(compare(&a, &b).reasons(), [Reason::AskedAgain]);
    assert_eq!(compare(&b, &a).reasons(), [Reason::AskedAgain]);
    assert!(compare(&a, &a.clone()).reasons().is_empty());
}

/// Regression: a waiting proposal was counted as a step here but not in the branch tree.
#[test]
fn an_unanswered_proposal_is_not_a_step() {
    let mut a = TestBranch::with_actions(&["go 1", "look", "take x"]);
    a.propose("go 9");
    for (proposed, expected_difference) in [("take x", None), ("take y", Some(3))] {
        let mut b = TestBranch::with_actions(&["go 1", "look"]);
        b.propose(proposed);
        for (comparison, steps) in [(compare(&a, &b), [3, 2]), (compare(&b, &a), [2, 3])] {
            assert_eq!([comparison.outcomes.0.steps, comparison.outcomes.1.steps], steps, "{proposed}");
            // They are shown, in rows that count neither as the same nor as different.
            assert_eq!(
                (comparison.counts().iter().sum::<usize>(), comparison.count_pending()),
                (3, 2),
                "{:?}",
                comparison.rows
            );
            assert_eq!(comparison.rows.len(), 5);
            let pending: Vec<bool> = comparison.rows.iter().map(|r| r.pending).collect();
            assert_eq!(pending, [false, false, false, true, true]);
            assert_eq!(
                comparison.first_difference,
                expected_difference.or(Some(4)),
                "{proposed}: {:?}",
                comparison.rows
            );
            let entry = &comparison.decision_entries(3)[0];
            let labels = [entry.left.as_deref().unwrap(), entry.right.as_deref().unwrap()];
            assert!(
                labels.contains(&"step 3") && labels.contains(&"step 3: proposed, not taken"),
                "{labels:?}"
            );
        }
        let outcomes = compare(&a, &b).outcomes;
        assert_eq!(
            (outcomes.0.steps_after, outcomes.1.steps_after),
            (u32::from(expected_difference.is_some()), 0),
            "{proposed}"
        );
    }
}

/// Regression: two branches with the same steps were reported as equal, although another model played one of them.
#[test]
fn initial_differences_are_listed_even_if_all_steps_are_equal() {
    let names =
        |differences: &[super::Difference]| differences.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
    let mut a = TestBranch::with_actions(&["go 1", "look"]);
    let mut b = TestBranch::new("openai:m", 7);
    b.add_step("go 1").add_step("look");
    let comparison = compare(&a, &b);
    assert_eq!(
        (comparison.first_difference, names(&comparison.initial_differences)),
        (None, vec!["actor".to_owned(), "seed".to_owned()])
    );
    assert!(comparison.later_differences.is_empty());
    // Settings changed during the run are listed separately, under their own heading.
    a.change_setting("actor.temperature", 0.7.into());
    b.change_setting("r_freq", 3.into());
    let comparison = compare(&a, &b);
    assert_eq!((comparison.first_difference, names(&comparison.initial_differences).len()), (None, 2));
    assert_eq!(names(&comparison.later_differences), ["actor.temperature", "r_freq"]);
    let topics: Vec<&str> = comparison.run_entries().iter().map(|s| s.topic).collect();
    assert_eq!(topics[0], "differences before the first step");
    assert_eq!(topics[2..], ["changed during the run"; 2]);
    // A branch has no differences from itself, nor has one where a setting was changed back.
    assert!(compare(&a, &a.clone()).run_entries().is_empty());
    let (mut x, y) = (TestBranch::with_actions(&["go 1"]), TestBranch::with_actions(&["go 1"]));
    x.change_setting("r_freq", 3.into());
    x.change_setting("r_freq", serde_json::Value::Null);
    assert!(compare(&x, &y).later_differences.is_empty(), "{:?}", compare(&x, &y).later_differences);
}

/// Regression, found by a new user: the agent's action was in a row of its own before the person's override.
#[test]
fn an_override_in_the_next_row_is_a_reason() {
    let (mut a, mut b) = (TestBranch::with_actions(&["go 1"]), TestBranch::with_actions(&["go 1"]));
    a.add_step("take x").add_step("go 2").add_step("look");
    b.add_step_with("wait", "Nothing.", 0.0, DecidedBy::Person);
    for comparison in [compare(&a, &b), compare(&b, &a)] {
        assert!(
            comparison.reasons().contains(&Reason::Person),
            "{:?}: {:?}",
            comparison.reasons(),
            comparison.rows
        );
    }
}

fn actions() -> impl Strategy<Value = Vec<&'static str>> {
    let known = ["go 1", "go 2", "take x", "take y", "look", "think: I look", "think: I go", ""];
    proptest::collection::vec(proptest::sample::select(known.to_vec()), 0..24)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 120, ..ProptestConfig::default() })]
    #[test]
    fn every_step_is_in_one_row_in_order(a in actions(), b in actions()) {
        let comparison = compare(&TestBranch::with_actions(&a), &TestBranch::with_actions(&b));
        let left: Vec<u32> = comparison.rows.iter().filter_map(|r| r.left).collect();
        let right: Vec<u32> = comparison.rows.iter().filter_map(|r| r.right).collect();
        prop_assert_eq!(left, (0..=a.len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(right, (0..=b.len() as u32).collect::<Vec<_>>());
        for row in comparison.rows.iter().filter(|r| r.kind() == RowKind::Same && r.left != Some(0)) {
            prop_assert_eq!(a[row.left.unwrap() as usize - 1], b[row.right.unwrap() as usize - 1]);
        }
        prop_assert_eq!(comparison.first_difference.is_none(), a == b);
        prop_assert_eq!(comparison.reasons().is_empty(), a == b);
    }

    #[test]
    fn swapped_sides_give_the_mirrored_comparison(a in actions(), b in actions()) {
        let (x, y) = (TestBranch::with_actions(&a), TestBranch::with_actions(&b));
        let (forward, backward) = (compare(&x, &y), compare(&y, &x));
        let mirrored: Vec<Row> = backward.rows.iter().map(|r| Row { left: r.right, right: r.left, ..*r }).collect();
        prop_assert_eq!(&forward.rows, &mirrored);
        prop_assert_eq!(&forward.outcomes.0, &backward.outcomes.1);
        prop_assert_eq!(forward.reasons(), backward.reasons());
        if let (Some(x), Some(y)) = (&forward.prior, &backward.prior) {
            prop_assert_eq!(&x.lessons.only_left, &y.lessons.only_right);
            prop_assert_eq!(x.segments.len(), y.segments.len());
        }
    }

    #[test]
    fn a_branch_has_no_differences_from_itself(a in actions()) {
        let branch = TestBranch::with_actions(&a);
        let comparison = compare(&branch, &branch.clone());
        prop_assert!(comparison.first_difference.is_none() && comparison.prior.is_none());
        prop_assert_eq!(comparison.counts(), [a.len() + 1, 0, 0, 0]);
    }
}
