//! OmniReflect with a mentor: when it is called (Algorithm 1), what becomes of its replies, and what a whole run costs.

use super::super::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    LessonOrigin, LessonStatus, LessonText, PromptRecord, Purpose, Question, ReflectionKind, RunSpec, Scope,
    SegmentLabel, SettingOrigin,
};
use crate::engine::{Command, LessonCommand};
use crate::prompt::render;

fn neural(tasks: &[(&str, &str)]) -> RunSpec {
    let mut run = test_spec("omnireflect", tasks);
    run.settings.set("generation", "neural", SettingOrigin::Flag);
    run
}

/// A run in which every reflection says something new, and every summary is one sentence.
fn play(run: RunSpec) -> TestRun {
    let mut play = TestRun::new(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt: &PromptRecord| {
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
    play
}

/// Returns the questions of a run, each with the step it came after.
fn questions_asked(play: &TestRun) -> Vec<(u32, Question)> {
    play.prompts.iter().filter_map(|(_, p)| Some((p.step, p.question?))).collect()
}

#[test]
fn the_mentor_is_asked_by_the_clock_of_algorithm_1() {
    // Offset, r_freq, and the steps (numbered from 1) after which the mentor was called.
    let cases: &[(u64, u64, &[u32])] = &[
        (0, 10, &[1, 11, 21, 31, 41]),
        (10, 10, &[11, 21, 31, 41]),
        (9, 10, &[10, 20, 30, 40, 50]),
        (0, 25, &[1, 26]),
    ];
    for (offset, every, turns) in cases {
        let mut run = neural(&[("a", "")]);
        run.settings.set("offset", *offset, SettingOrigin::Flag);
        run.settings.set("r_freq", *every, SettingOrigin::Flag);
        let mut play = play(run);
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
        let kinds = [ReflectionKind::Error, ReflectionKind::Abstract, ReflectionKind::Progress];
        let expected: Vec<_> =
            turns.iter().flat_map(|t| kinds.map(|kind| (*t, Question::reflect(kind)))).collect();
        assert_eq!(questions_asked(&play), expected, "offset {offset}, every {every}");
    }
}

#[test]
fn a_whole_episode_costs_what_the_paper_says() {
    // methods.md 5: 50 turns and 5 rounds of 3 kinds; symbolic generation and ReAct call only the actor.
    for (run, calls) in [
        (neural(&[("a", "")]), (50, 15)),
        (test_spec("omnireflect", &[("a", "")]), (50, 0)),
        (test_spec("react", &[("a", "")]), (50, 0)),
    ] {
        let mut play = play(run);
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
        let spent = play.state().usage;
        assert_eq!((spent.actor_calls, spent.mentor_calls), calls);
        assert!(play.state().run_over);
    }
}

#[test]
fn a_summary_after_every_tenth_task_replaces_what_it_was_shown() {
    let tasks: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let tasks: Vec<(&str, &str)> = tasks.iter().map(|t| (t.as_str(), "")).collect();
    let mut run = neural(&tasks);
    run.limits.steps = 2;
    let mut play = play(run);
    // A person's lesson, added before anything is learned, and one that is switched off.
    let own = LessonCommand::add(
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonText::plain("Mine."),
        String::new(),
    );
    play.command(Command::Lesson(own));
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 60]);
    let state = play.state();
    let in_force = |kind| state.pool.active_of_kind(kind).map(|l| l.text().text.as_str()).collect::<Vec<_>>();
    assert_eq!(in_force(ReflectionKind::Abstract), ["Mine.", "In short."]);
    assert_eq!(in_force(ReflectionKind::Error), ["All of it."]);
    let summary = state.pool.active_of_kind(ReflectionKind::Abstract).last().unwrap();
    assert_eq!(summary.origin, LessonOrigin::Mentor);
    assert_eq!(summary.parents.len(), 10, "one lesson of each task, all named as parents");
    let retired =
        state.pool.all().filter(|l| l.kind == ReflectionKind::Abstract && l.status == LessonStatus::Retired);
    assert_eq!(retired.count(), 10);
    let last: Vec<Question> = questions_asked(&play).iter().rev().take(2).map(|(_, q)| *q).collect();
    assert!(last.iter().all(|q| q.purpose == Purpose::Summarise), "{last:?}");
    assert_eq!(state.usage.mentor_calls, 10 * 3 + 2);
}

/// Regression: a summary that repeated a lesson verbatim retired it and added it again, so that the diff showed the
/// same line twice.
#[test]
fn a_lesson_that_a_summary_says_again_word_for_word_stays() {
    let mut run = neural(&[("a", ""), ("b", "")]);
    run.limits.steps = 1;
    run.settings.set("s_freq", 2, SettingOrigin::Flag);
    let mut play = play(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| match prompt.question.unwrap() {
        Question { purpose: Purpose::Summarise, .. } => "['Said 2.', 'In short.']".to_owned(),
        Question { kind: ReflectionKind::Abstract, .. } => {
            count += 2;
            format!("['Said {count}.', 'Beside {count}.']")
        }
        _ => "[]".to_owned(),
    });
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 9]);
    let lessons: Vec<_> = play.state().pool.active_of_kind(ReflectionKind::Abstract).collect();
    let texts: Vec<_> = lessons.iter().map(|l| l.text().text.as_str()).collect();
    assert_eq!(texts, ["Said 2.", "In short."]);
    assert!(lessons[0].parents.is_empty(), "it is the lesson that it was");
    assert_eq!(lessons[1].parents.len(), 3, "the three that gave way");
}

#[test]
fn an_unusable_summary_keeps_the_old_list_and_says_so() {
    let mut run = neural(&[("a", ""), ("b", "")]);
    run.limits.steps = 1;
    run.settings.set("s_freq", 2, SettingOrigin::Flag);
    let mut play = play(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        let summary = prompt.question.is_some_and(|q| q.purpose == Purpose::Summarise);
        if summary { String::new() } else { format!("['Said {count}.']") }
    });
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 9]);
    let state = play.state();
    assert_eq!(state.pool.active_of_kind(ReflectionKind::Abstract).count(), 2);
    let complaints = state.reflections.iter().filter(|r| r.purpose == Purpose::Summarise);
    let complaints: Vec<_> = complaints.filter_map(|r| r.complaints.last().cloned()).collect();
    assert_eq!(complaints.len(), 2);
    assert!(complaints[0].contains("the old list stays"), "{complaints:?}");
}

#[test]
fn progress_is_replaced_or_appended_and_ends_with_its_episode() {
    for (how, lessons) in [("replace", 1), ("append", 2)] {
        let mut run = neural(&[("a", "")]);
        run.settings.set("progress", how, SettingOrigin::Flag);
        run.limits.steps = 12;
        let mut play = play(run);
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 12]);
        assert_eq!(play.state().pool.active_of_kind(ReflectionKind::Progress).count(), lessons, "{how}");
    }
}

#[test]
fn kinds_can_be_switched_off() {
    let mut run = neural(&[("a", "")]);
    run.settings.set("kind_error", false, SettingOrigin::Flag);
    run.limits.steps = 5;
    let mut play = play(run);
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 5]);
    let kinds: Vec<ReflectionKind> = questions_asked(&play).iter().map(|(_, q)| q.kind).collect();
    assert_eq!(kinds, [ReflectionKind::Abstract, ReflectionKind::Progress]);
}

#[test]
fn the_mentors_prompt_has_the_world_the_constitution_the_task_and_the_turns() {
    let mut run = neural(&[("a", "")]);
    run.limits.steps = 12;
    let mut play = play(run);
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 12]);
    let (state, record) = play.prompts.iter().filter(|(_, p)| p.question.is_some()).nth(3).unwrap();
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
fn a_constitution_costs_nothing_and_a_whole_run_what_the_paper_says() {
    // methods.md 5: co-operative mode is 50 calls, both modes together 50 + 15; ten tasks and the summaries after the
    // tenth.
    let ten: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let ten: Vec<(&str, &str)> = ten.iter().map(|t| (t.as_str(), "")).collect();
    for (run, calls) in [
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
        let mentor = play(run.clone()).mentor;
        let mut play = TestRun::with_pool(run, pool);
        play.mentor = mentor;
        play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 600]);
        let spent = play.state().usage;
        assert_eq!((spent.actor_calls, spent.mentor_calls), calls);
        let (state, first) = &play.prompts[0];
        let body = render(state, first).body();
        assert!(body.contains("Look first.") && body.contains("Ran in circles."), "{body}");
    }
}
