//! OmniReflect with a mentor: when it is called (Algorithm 1), how its replies are used, and how many calls a run
//! makes.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    LessonOrigin, LessonStatus, LessonText, PromptRecord, Purpose, Question, ReflectionKind, RunSpec, Scope,
    SegmentLabel, SettingOrigin,
};
use crate::engine::{Command, LessonCommand};
use crate::prompt::render;

fn neural(tasks: &[(&str, &str)]) -> RunSpec {
    let mut spec = test_spec("omnireflect", tasks);
    spec.settings.set("generation", "neural", SettingOrigin::Flag);
    spec
}

/// Starts a run in which all reflections are different, and every summary is one sentence.
fn start_run(spec: RunSpec) -> TestRun {
    let mut test_run = TestRun::new(spec);
    let mut count = 0;
    test_run.mentor = Box::new(move |prompt: &PromptRecord| {
        count += 1;
        match prompt.question.unwrap() {
            Question { kind: ReflectionKind::Error, purpose: Purpose::Reflect } => {
                format!("[{{'mistake': 'Mistake {count}.', 'solution': 'Remedy {count}.'}}]")
            }
            Question { purpose: Purpose::Reflect, .. } => format!("['Said {count}.']"),
            Question { kind: ReflectionKind::Error, .. } => {
                "[{'mistake': 'All of it.', 'solution': 'None of it.'}]".to_owned()
            }
            Question { .. } => "['In short.']".to_owned(),
        }
    });
    test_run
}

/// Returns the questions of a run, each with the step it came after.
fn questions_asked(test_run: &TestRun) -> Vec<(u32, Question)> {
    test_run.prompts.iter().filter_map(|(_, p)| Some((p.step, p.question?))).collect()
}

#[test]
fn mentor_calls_follow_the_schedule_of_algorithm_1() {
    // Offset, r_freq, and the steps (numbered from 1) after which the mentor was called.
    let cases: &[(u64, u64, &[u32])] = &[
        (0, 10, &[1, 11, 21, 31, 41]),
        (10, 10, &[11, 21, 31, 41]),
        (9, 10, &[10, 20, 30, 40, 50]),
        (0, 25, &[1, 26]),
    ];
    for (offset, every, steps) in cases {
        let mut spec = neural(&[("a", "")]);
        spec.settings.set("offset", *offset, SettingOrigin::Flag);
        spec.settings.set("r_freq", *every, SettingOrigin::Flag);
        let mut test_run = start_run(spec);
        test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
        let kinds = [ReflectionKind::Error, ReflectionKind::Abstract, ReflectionKind::Progress];
        let expected: Vec<_> =
            steps.iter().flat_map(|t| kinds.map(|kind| (*t, Question::reflect(kind)))).collect();
        assert_eq!(questions_asked(&test_run), expected, "offset {offset}, every {every}");
    }
}

#[test]
fn the_calls_of_an_episode_match_the_paper() {
    // The paper: 50 actor calls and 5 rounds of 3 mentor calls; symbolic generation and ReAct call only the actor.
    for (spec, calls) in [
        (neural(&[("a", "")]), (50, 15)),
        (test_spec("omnireflect", &[("a", "")]), (50, 0)),
        (test_spec("react", &[("a", "")]), (50, 0)),
    ] {
        let mut test_run = start_run(spec);
        test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
        let usage = test_run.state().usage;
        assert_eq!((usage.actor_calls, usage.mentor_calls), calls);
        assert!(test_run.state().run_over);
    }
}

#[test]
fn a_summary_after_every_tenth_task_replaces_the_lessons_it_summarizes() {
    let tasks: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|t| (t.as_str(), "")).collect();
    let mut spec = neural(&tasks);
    spec.limits.steps = 2;
    spec.settings.set("summary_keeps", 0, SettingOrigin::Flag);
    let mut test_run = start_run(spec);
    // A person's own lesson, added before anything is learned.
    let own_lesson = LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonText::plain("Mine."),
        String::new(),
    );
    test_run.command(Command::Lesson(own_lesson));
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
    let state = test_run.state();
    let active_texts =
        |kind| state.pool.active_of_kind(kind).map(|l| l.text().text.as_str()).collect::<Vec<_>>();
    assert_eq!(active_texts(ReflectionKind::Abstract), ["Mine.", "In short."]);
    assert_eq!(active_texts(ReflectionKind::Error), ["All of it."]);
    let summary = state.pool.active_of_kind(ReflectionKind::Abstract).last().unwrap();
    assert_eq!(summary.origin, LessonOrigin::Mentor);
    assert_eq!(summary.parents.len(), 10, "one lesson of each task, all named as parents");
    let retired =
        state.pool.all().filter(|l| l.kind == ReflectionKind::Abstract && l.status == LessonStatus::Retired);
    assert_eq!(retired.count(), 10);
    let last: Vec<Question> = questions_asked(&test_run).iter().rev().take(2).map(|(_, q)| *q).collect();
    assert!(last.iter().all(|q| q.purpose == Purpose::Summarise), "{last:?}");
    assert_eq!(state.usage.mentor_calls, 10 * 3 + 2);
}

/// Regression: a summary that repeated a lesson verbatim retired it and added it again, so that the diff showed the
/// same line twice.
#[test]
fn a_lesson_repeated_by_a_summary_is_kept() {
    let mut spec = neural(&[("a", ""), ("b", "")]);
    spec.limits.steps = 1;
    spec.settings.set("s_freq", 2, SettingOrigin::Flag);
    let mut test_run = start_run(spec);
    let mut count = 0;
    test_run.mentor = Box::new(move |prompt| match prompt.question.unwrap() {
        Question { purpose: Purpose::Summarise, .. } => "['Said 2.', 'In short.']".to_owned(),
        Question { kind: ReflectionKind::Abstract, .. } => {
            count += 2;
            format!("['Said {count}.', 'Beside {count}.']")
        }
        _ => "[]".to_owned(),
    });
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 9]);
    let lessons: Vec<_> = test_run.state().pool.active_of_kind(ReflectionKind::Abstract).collect();
    let texts: Vec<_> = lessons.iter().map(|l| l.text().text.as_str()).collect();
    assert_eq!(texts, ["Said 2.", "In short."]);
    assert!(lessons[0].parents.is_empty(), "the existing lesson was kept");
    assert_eq!(lessons[1].parents.len(), 3, "the three lessons that it replaced");
}

/// Regression: a model that broke the format answered with a single rule, which replaced a list of twelve.
#[test]
fn a_summary_that_lost_nearly_everything_keeps_the_old_list_and_can_be_asked_for_again() {
    let tasks: Vec<String> = (0..6).map(|n| format!("t{n}")).collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|t| (t.as_str(), "")).collect();
    let mut spec = neural(&tasks);
    spec.limits.steps = 1;
    spec.settings.set("s_freq", 6, SettingOrigin::Flag);
    let mut test_run = start_run(spec);
    let (mut count, mut summaries) = (0, 0);
    test_run.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.unwrap() {
            q if q.kind != ReflectionKind::Abstract => "[]".to_owned(),
            q if q.purpose == Purpose::Summarise => {
                summaries += 1;
                if summaries == 1 { "['One rule.']" } else { "['One rule.', 'And another.']" }.to_owned()
            }
            _ => format!("['Said {count}.']"),
        }
    });
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 9]);
    let active = |test_run: &TestRun| {
        let lessons = test_run.state().pool.active_of_kind(ReflectionKind::Abstract);
        lessons.map(|l| l.text().text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(active(&test_run).len(), 6, "1 of 6 is less than 20 %");
    let summary =
        test_run.state().reflections.iter().rev().find(|r| r.purpose == Purpose::Summarise).unwrap();
    assert_eq!(
        summary.complaints.last().map(String::as_str),
        Some("the summary has 1 of 6 lessons, fewer than summary_keeps=20 %; the old list stays")
    );
    assert_eq!(summary.dropped[0].text, "One rule.", "a person can still accept it");
    test_run.command(Command::Reflect(ReflectionKind::Abstract));
    test_run.advance(&mut |_| unreachable!(), &mut |_| None);
    assert_eq!(active(&test_run), ["One rule.", "And another."], "2 of 6 are enough");
}

#[test]
fn an_unusable_summary_keeps_the_old_list_and_is_reported() {
    let mut spec = neural(&[("a", ""), ("b", "")]);
    spec.limits.steps = 1;
    spec.settings.set("s_freq", 2, SettingOrigin::Flag);
    let mut test_run = start_run(spec);
    let mut count = 0;
    test_run.mentor = Box::new(move |prompt| {
        count += 1;
        let summary = prompt.question.is_some_and(|q| q.purpose == Purpose::Summarise);
        if summary { String::new() } else { format!("['Said {count}.']") }
    });
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 9]);
    let state = test_run.state();
    assert_eq!(state.pool.active_of_kind(ReflectionKind::Abstract).count(), 2);
    let complaints = state.reflections.iter().filter(|r| r.purpose == Purpose::Summarise);
    let complaints: Vec<_> = complaints.filter_map(|r| r.complaints.last().cloned()).collect();
    assert_eq!(complaints.len(), 2);
    assert!(complaints[0].contains("the old list stays"), "{complaints:?}");
}

#[test]
fn progress_lessons_are_replaced_or_appended() {
    for (value, lessons) in [("replace", 1), ("append", 2)] {
        let mut spec = neural(&[("a", "")]);
        spec.settings.set("progress", value, SettingOrigin::Flag);
        spec.limits.steps = 12;
        let mut test_run = start_run(spec);
        test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 12]);
        assert_eq!(
            test_run.state().pool.active_of_kind(ReflectionKind::Progress).count(),
            lessons,
            "{value}"
        );
    }
}

#[test]
fn kinds_can_be_switched_off() {
    let mut spec = neural(&[("a", "")]);
    spec.settings.set("kind_error", false, SettingOrigin::Flag);
    spec.limits.steps = 5;
    let mut test_run = start_run(spec);
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 5]);
    let kinds: Vec<ReflectionKind> = questions_asked(&test_run).iter().map(|(_, q)| q.kind).collect();
    assert_eq!(kinds, [ReflectionKind::Abstract, ReflectionKind::Progress]);
}

#[test]
fn the_mentors_prompt_contains_instruction_constitution_task_and_steps() {
    let mut spec = neural(&[("a", "")]);
    spec.limits.steps = 12;
    let mut test_run = start_run(spec);
    test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 12]);
    let (state, record) = test_run.prompts.iter().filter(|(_, p)| p.question.is_some()).nth(3).unwrap();
    assert_eq!((record.step, record.question), (11, Some(Question::reflect(ReflectionKind::Error))));
    let prompt = render(state, record);
    assert_eq!(crate::prompt::body_hash(&prompt), record.sha256, "rebuilt from the record alone");
    let mut labels: Vec<SegmentLabel> = prompt.segments.iter().map(|s| s.label).collect();
    labels.dedup();
    assert_eq!(
        labels[..5],
        [
            SegmentLabel::Instruction,
            SegmentLabel::Abstract,
            SegmentLabel::Error,
            SegmentLabel::Task,
            SegmentLabel::Action
        ]
    );
    assert_eq!(labels.last(), Some(&SegmentLabel::Cue));
    let body = prompt.body();
    assert!(body.contains("- Said 2.") && body.contains("> look"), "{body}");
}

#[test]
fn a_constitution_adds_no_calls() {
    // The paper: 50 calls with a constitution alone, 50 + 15 with reflection as well. The last case adds the two
    // summaries after the tenth task.
    let ten: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let ten: Vec<(&str, &str)> = ten.iter().map(|t| (t.as_str(), "")).collect();
    for (spec, calls) in [
        (test_spec("react", &[("a", "")]), (50, 0)),
        (neural(&[("a", "")]), (50, 15)),
        (neural(&ten), (500, 10 * 15 + 2)),
    ] {
        let lesson = |kind, text: &str| {
            let command =
                LessonCommand::add(kind, Scope::Environment, LessonText::plain(text), String::new());
            ("constitution.jsonl".to_owned(), command)
        };
        let pool = vec![
            lesson(ReflectionKind::Abstract, "Look first."),
            lesson(ReflectionKind::Error, "Ran in circles."),
        ];
        let mentor = start_run(spec.clone()).mentor;
        let mut test_run = TestRun::with_pool(spec, pool);
        test_run.mentor = mentor;
        test_run.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 600]);
        let usage = test_run.state().usage;
        assert_eq!((usage.actor_calls, usage.mentor_calls), calls);
        let (state, first) = &test_run.prompts[0];
        let body = render(state, first).body();
        assert!(body.contains("Look first.") && body.contains("Ran in circles."), "{body}");
    }
}
