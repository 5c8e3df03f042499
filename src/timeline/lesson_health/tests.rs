//! What the checks find and what they leave alone.

use super::pairs::Prepared;
use super::*;
use crate::domain::{
    AdviceCounts, Author, EndReason, EpisodeRole, EpisodeStats, EpisodeSummary, LessonOp, LessonOrigin,
    LessonStatus, LessonText, MeasuredEffect, MessageRole, ModelRole, Note, NoteKind, PromptRecord,
    Reflection, ReflectionItem, ReflectionKind, Scope, SegmentLabel, SegmentOrigin, SegmentRecord, Seq, Task,
};
use crate::engine::{Cause, Envelope, Event, State};
use std::sync::Arc;

fn task(id: &str) -> Task {
    Task {
        env: "household".to_owned(),
        id: id.to_owned(),
        goal: String::new(),
        task_type: Some("heat".to_owned()),
        difficulty: None,
        seed: 1,
    }
}

fn ended(number: u32, id: &str) -> Arc<EpisodeSummary> {
    Arc::new(EpisodeSummary {
        number,
        task: task(id),
        trial: 1,
        role: EpisodeRole::Test,
        won: false,
        reason: EndReason::StepLimit,
        steps: 10,
        moves: 8,
        progress: 0.0,
        calls: 5,
        tokens: 100,
        assisted: false,
        seq_range: (1, 2),
        stats: EpisodeStats::default(),
    })
}

fn envelope(event: Event) -> Envelope {
    Envelope {
        seq: Seq(1),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Policy,
        batch_continues: false,
        event,
    }
}

fn add(
    state: &mut State,
    id: &str,
    kind: ReflectionKind,
    scope: Scope,
    text: LessonText,
    rule: Option<&str>,
) {
    let op = LessonOp::Add {
        id: LessonId(id.into()),
        kind,
        scope,
        origin: LessonOrigin::Symbolic,
        text,
        evidence: String::new(),
        rule: rule.map(str::to_owned),
        parents: Vec::new(),
        transition: None,
        task_key: None,
        task_type: None,
        pinned: false,
        taken_from: None,
        sources: None,
    };
    state.apply(&envelope(Event::LessonChanged { op: Box::new(op), author: Author::File }));
}

/// Returns a state with Abstract lessons of these texts.
fn lessons(texts: &[&str]) -> State {
    let mut state = State::default();
    for (index, text) in texts.iter().enumerate() {
        let id = format!("l{}", index + 1);
        add(&mut state, &id, ReflectionKind::Abstract, Scope::Environment, LessonText::plain(*text), None);
    }
    state
}

fn names(health: &LessonHealth) -> Vec<(&'static str, Vec<u32>)> {
    let numbers = |finding: &Finding| finding.lessons().iter().map(|lesson| lesson.number).collect();
    health.findings.iter().map(|finding| (finding.name(), numbers(finding))).collect()
}

#[test]
fn lessons_with_the_same_words_are_duplicates() {
    let state = lessons(&[
        "Heat food in a microwave only.",
        "Heat food only in a microwave.",
        "Go to a place before you act on it.",
    ]);
    let health = check_lessons(state.pool.all(), |_| None);
    assert_eq!(names(&health), [("duplicate", vec![1, 2])]);
    assert_eq!((health.lessons, health.prompt_share), (3, None));
    let Finding::Duplicate { cosine, .. } = &health.findings[0] else { panic!("{health:?}") };
    assert!((cosine - 1.0).abs() < 1e-12);
    assert_eq!(health.findings[0].remedies(), [Remedy::Merge, Remedy::Retire]);
}

#[test]
fn opposite_sentences_contradict_each_other() {
    let cases = [
        (
            "Go back to a place that was already searched.",
            "Do not go back to a place that was already searched.",
            true,
        ),
        ("Never open the fridge first.", "Open the fridge first.", true),
        ("Don't open the fridge first.", "Do not open the fridge first.", false),
        ("Avoid places that were searched.", "Visit places that were searched.", true),
        ("Look for a mug in/on a shelf first.", "Look for a mug in/on a desk first.", true),
        ("Look for a mug in/on a shelf first.", "Look for a mug in/on an ottoman first.", true),
        ("Look for a mug in/on a shelf first.", "Look for a cup in/on a shelf first.", false),
        // The same place: one, and all of its kind.
        ("Look for a mug on a shelf first.", "Look for a mug on the shelves first.", false),
        ("Look for a mug on the shelves first.", "Do not look for a mug on a shelf.", true),
        ("Look for a mug on a shelf first.", "Look for a mug on the desks first.", true),
        ("Heat food in a microwave only.", "Cool food in a fridge only.", false),
        ("Heat food in a microwave only.", "Heat food in a microwave only.", false),
        ("Open the fridge.", "Take the apple.", false),
        ("", "", false),
    ];
    for (first, second, expected) in cases {
        assert_eq!(Prepared::new(first).contradicts(&Prepared::new(second)), expected, "{first} / {second}");
        assert_eq!(Prepared::new(second).contradicts(&Prepared::new(first)), expected, "{second} / {first}");
    }
    let state = lessons(&[cases[0].0, cases[0].1]);
    let health = check_lessons(state.pool.all(), |_| None);
    assert_eq!(names(&health), [("contradiction", vec![1, 2])], "listed once, and not as a duplicate");
}

#[test]
fn inactive_and_momentary_lessons_and_other_tasks_are_not_compared() {
    let text = || LessonText::plain("Heat food in a microwave only.");
    let mut state = State::default();
    add(&mut state, "a", ReflectionKind::Progress, Scope::Episode, text(), None);
    add(&mut state, "b", ReflectionKind::Progress, Scope::Episode, text(), None);
    add(&mut state, "c", ReflectionKind::Plan, Scope::Task, text(), None);
    add(&mut state, "d", ReflectionKind::Plan, Scope::Task, text(), None);
    let id = LessonId("b".into());
    let op =
        LessonOp::Status { id, previous: LessonStatus::On, status: LessonStatus::Off, merged_into: None };
    state.apply(&envelope(Event::LessonChanged { op: Box::new(op), author: Author::Person }));
    let other_tasks = |lesson: &Lesson| Some(lesson.id.0.to_string());
    assert_eq!(names(&check_lessons(state.pool.all(), other_tasks)), []);
    let same_task = |_: &Lesson| Some("t".to_owned());
    let health = check_lessons(state.pool.all(), same_task);
    assert_eq!((names(&health), health.lessons), (vec![("duplicate", vec![3, 4])], 3));
}

fn reflection(kind: ReflectionKind, author: Author, episode: u32, text: &str) -> Reflection {
    let item = ReflectionItem { text: LessonText::plain(text), ..ReflectionItem::default() };
    Reflection::new(kind, author, (episode, 9), vec![item])
}

#[test]
fn three_reflections_in_a_row_that_say_the_same_are_reported() {
    let plan = |episode, text| reflection(ReflectionKind::Plan, Author::Mentor, episode, text);
    let reflections = [
        plan(1, "I will search the shelf, then heat the mug."),
        plan(2, "Another task has another plan."),
        plan(3, "I will search the shelf, then heat the mug."),
        plan(4, "I will search the shelf, then heat the mug!"),
        plan(5, "I will look in the fridge this time."),
        plan(6, "I will look in the fridge this time."),
    ];
    let task_of = |episode| Some(if episode == 2 { "household b" } else { "household a" }.to_owned());
    let found = repeated_advice(&reflections, REPEATED_COSINE, task_of);
    let [repeated] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((repeated.times, repeated.task.as_str()), (3, "household a"));
    assert_eq!(repeated.written_at, [(1, 9), (3, 9), (4, 9)]);
    assert_eq!(
        Finding::RepeatedAdvice(repeated.clone()).describe(),
        "same advice 3 times: Plan on household a (similarity 1.00 or more)"
    );
    assert_eq!(repeated_advice(&reflections[..3], REPEATED_COSINE, task_of), [], "twice is no alarm");
}

#[test]
fn rules_may_repeat_themselves_at_every_step() {
    let cases = [
        (ReflectionKind::Error, Author::Symbolic, 0),
        (ReflectionKind::Error, Author::Mentor, 1),
        (ReflectionKind::Plan, Author::Symbolic, 1),
    ];
    for (kind, author, expected) in cases {
        let reflections: Vec<Reflection> =
            (0..4).map(|_| reflection(kind, author, 1, "Open it first.")).collect();
        assert_eq!(
            repeated_advice(&reflections, REPEATED_COSINE, |_| Some("t".to_owned())).len(),
            expected,
            "{kind:?}, {author:?}"
        );
    }
}

fn prompt(episode: u32, step: u32, lessons: &[(&str, u32)], all_tokens: u32) -> Event {
    let segment = |(id, tokens): &(&str, u32)| SegmentRecord {
        label: SegmentLabel::Error,
        origin: SegmentOrigin::Lesson { id: LessonId((*id).into()), version: 1 },
        message_role: MessageRole::User,
        tokens: *tokens,
    };
    Event::PromptSent {
        prompt: Arc::new(PromptRecord {
            role: ModelRole::Actor,
            episode,
            step,
            segments: lessons.iter().map(segment).collect(),
            tokens: all_tokens,
            ..PromptRecord::default()
        }),
    }
}

fn mistake(step: u32, detector: &str) -> Event {
    let note = |detector: &str, kind| Note {
        detector: detector.to_owned(),
        kind,
        evidence: String::new(),
        parts: std::collections::BTreeMap::new(),
    };
    // The same detector counts once a step.
    let notes = vec![
        note(detector, NoteKind::Mistake),
        note(detector, NoteKind::Mistake),
        note("seen", NoteKind::Fact),
    ];
    Event::Noted { step, notes }
}

#[test]
fn mistakes_against_lessons_in_the_prompt_are_counted() {
    let mut state = State::default();
    let text = LessonText::error("Tried to heat it with a stove.", "Only a microwave can heat things.");
    add(
        &mut state,
        "l1",
        ReflectionKind::Error,
        Scope::Environment,
        text.clone(),
        Some("error.wrong_appliance.heat"),
    );
    let same_words = LessonText::plain("Only a microwave can heat things");
    add(&mut state, "l2", ReflectionKind::Abstract, Scope::Environment, same_words, None);
    let item = ReflectionItem {
        text,
        rule: Some("error.wrong_appliance.heat".to_owned()),
        ..ReflectionItem::default()
    };
    let written = Reflection::new(ReflectionKind::Error, Author::Symbolic, (1, 1), vec![item]);
    state.reflections.push_back_mut(Arc::new(written));
    let mut collector = HealthCollector::default();
    for event in [
        mistake(1, "wrong_appliance"),
        prompt(1, 2, &[("l1", 10)], 100),
        mistake(2, "wrong_appliance"),
        prompt(1, 3, &[("l1", 10), ("l2", 50)], 100),
        mistake(3, "wrong_appliance"),
        prompt(1, 4, &[("l1", 90)], 100),
        mistake(4, "hand_full"),
        // A person plays a step: no prompt, so no lesson could be obeyed.
        Event::StepOpened { step: 5 },
        mistake(5, "wrong_appliance"),
    ] {
        collector.add_event(&envelope(event));
    }
    let health = collector.finish(&state);
    let times: Vec<(u32, usize)> = health
        .findings
        .iter()
        .filter_map(|finding| match finding {
            Finding::NotObeyed { lesson, times, .. } => Some((lesson.number, *times)),
            _ => None,
        })
        .collect();
    assert_eq!(times, [(1, 2), (2, 1)], "a lesson in the rule's words counts as the rule's");
    assert!(health.prompt_share.is_some_and(|share| (share - 0.6).abs() < 1e-12), "{health:?}");
    assert!(health.last_prompt_share.is_some_and(|share| (share - 0.9).abs() < 1e-12), "{health:?}");
    // Regression: the title gave the median alone, `0 % of the prompt` while the prompt had lessons.
    assert_eq!(health.describe_share(), ", 90 % of the prompt now, median over all steps 60 %");
    assert!(health.findings.iter().any(|finding| matches!(finding, Finding::LargeShare { .. })));
}

#[test]
fn lessons_without_a_prompt_in_three_episodes_of_their_scope_are_never_used() {
    let mut state = State::default();
    let all = LessonText::plain("Open closed containers.");
    add(&mut state, "l1", ReflectionKind::Abstract, Scope::Environment, all, None);
    for (number, id) in [(1, "a"), (2, "b")] {
        state.ended_episodes.push_back_mut(ended(number, id));
    }
    let unused = |state: &State| names(&HealthCollector::default().finish(state));
    assert_eq!(unused(&state), [], "two episodes are too few");
    state.ended_episodes.push_back_mut(ended(3, "a"));
    assert_eq!(unused(&state), [("never_used", vec![1])]);
}

fn measured(column: &str, version: u32, verdict: &str, advice: Option<AdviceCounts>) -> MeasuredEffect {
    MeasuredEffect {
        b: 1,
        c: 9,
        advice,
        difference: Some(-0.4),
        low: -0.6,
        high: -0.1,
        verdict: verdict.to_owned(),
        ..MeasuredEffect::sample(column, column, version, 20)
    }
}

/// Returns what is found about a lesson with these results.
fn found(results: &[MeasuredEffect]) -> Vec<Finding> {
    let mut state = lessons(&["Open the fridge first."]);
    for result in results {
        let op = LessonOp::Measured { id: LessonId("l1".into()), measured: Box::new(result.clone()) };
        state.apply(&envelope(Event::LessonChanged { op: Box::new(op), author: Author::Person }));
    }
    check_lessons(state.pool.all(), |_| None).findings
}

#[test]
fn measured_lessons_are_toxic_or_without_effect() {
    let counts = |effective, toxic| Some(AdviceCounts { effective, ineffective: 2, toxic });
    let harmful = |version, advice| measured("elsewhere", version, "harmful", advice);
    let verdict = |column: &str, verdict: &str| measured(column, 1, verdict, counts(1, 1));
    let no_effect = "no effect seen";
    let cases: [(&str, &[MeasuredEffect], Option<&str>); 10] = [
        ("nothing measured", &[], None),
        ("harmful, more steps", &[harmful(1, counts(4, 14))], Some("toxic")),
        ("harmful, but not by steps", &[harmful(1, counts(14, 4))], None),
        ("an earlier version counted no steps", &[harmful(1, None)], None),
        ("another wording was harmful", &[harmful(2, counts(4, 14))], None),
        ("no effect", &[verdict("elsewhere", no_effect)], Some("without_effect")),
        (
            "and undecided",
            &[verdict("here", "undecided"), verdict("elsewhere", no_effect)],
            Some("without_effect"),
        ),
        ("an answer", &[verdict("here", "helped"), verdict("elsewhere", no_effect)], None),
        ("undecided", &[verdict("here", "undecided")], None),
        ("harmful before no effect", &[verdict("here", no_effect), harmful(1, counts(0, 1))], Some("toxic")),
    ];
    for (name, results, expected) in cases {
        let found: Vec<&str> = found(results).iter().map(Finding::name).collect();
        assert_eq!(found, Vec::from_iter(expected), "{name}");
    }
    // Regression: both of two lessons that say the same were to be retired, since each had no effect beside the other.
    let beside = vec![LessonId("l2".into())];
    assert_eq!(found(&[MeasuredEffect { beside, ..verdict("elsewhere", no_effect) }]), []);
    let finding = found(&[harmful(1, counts(4, 14))]).remove(0);
    assert_eq!(
        finding.describe(),
        "lesson 1 is toxic: -40 % elsewhere [-60, -10] · 20 pairs; effective 4, ineffective 2, toxic 14 pairs"
    );
    assert_eq!(finding.remedies(), [Remedy::Retire, Remedy::Measure]);
    assert_eq!(finding.lessons()[0].number, 1);
    let finding = found(&[verdict("elsewhere", no_effect)]).remove(0);
    assert!(finding.describe().starts_with("lesson 1 is without effect: -40 % elsewhere"), "{finding:?}");
}

#[test]
fn findings_are_named_in_json() {
    let state = lessons(&["Open the fridge first.", "Never open the fridge first."]);
    let json = serde_json::to_value(check_lessons(state.pool.all(), |_| None)).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"lessons": 2, "prompt_share": null, "findings": [{
            "finding": "contradiction",
            "lessons": [
                {"number": 1, "id": "l1", "text": "Open the fridge first."},
                {"number": 2, "id": "l2", "text": "Never open the fridge first."},
            ],
        }]})
    );
}
