//! With autonomy `confirm`, a summary waits until a person has decided on each of its lines.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::{
    Autonomy, LessonStatus, PoolSummaryItem, Purpose, Question, ReflectionKind, SettingOrigin,
};
use crate::engine::{Command, Engine, Envelope, Event, Input, LessonCommand, State};

/// A neural run in which a summary is due after the second of three tasks.
fn play(autonomy: Autonomy) -> TestRun {
    let mut run = test_spec("omnireflect", &[("a", ""), ("b", ""), ("c", "")]);
    run.settings.set("generation", "neural", SettingOrigin::Flag);
    run.settings.set("s_freq", 2, SettingOrigin::Flag);
    (run.mentor, run.limits.steps, run.autonomy) = ("script".to_owned(), 1, autonomy);
    let mut play = TestRun::new(run);
    let mut count = 0;
    play.mentor = Box::new(move |prompt| {
        count += 1;
        match prompt.question.unwrap() {
            Question { kind: ReflectionKind::Error, purpose: Purpose::Reflect } => {
                format!("[{{'mistake': 'Mistake {count}.', 'solution': 'Remedy {count}.'}}]")
            }
            Question { purpose: Purpose::Reflect, .. } => format!("['Said {count}.']"),
            Question { kind: ReflectionKind::Error, .. } => {
                "[{'mistake': 'All.', 'solution': 'None.'}]".to_owned()
            }
            Question { .. } => "['In short.', 'And more.']".to_owned(),
        }
    });
    play
}

/// Accepts every proposal until a summary waits or the run is over.
fn accept_until_summary(play: &mut TestRun) {
    let mut household = FakeHousehold::kitchen("put a hot apple in garbagecan");
    for _ in 0..20 {
        if play.state().run_over || !play.state().waiting_summaries.is_empty() {
            return;
        }
        play.play_script(&mut household, &["look"; 20]);
    }
}

fn play_until_summary() -> TestRun {
    let mut play = play(Autonomy::Confirm);
    accept_until_summary(&mut play);
    assert_eq!(play.state().waiting_summaries.len(), 2, "Abstract and Error were asked for at the same time");
    play
}

fn lessons(state: &State, kind: ReflectionKind) -> Vec<(&str, LessonStatus)> {
    state.pool.all().filter(|l| l.kind == kind).map(|l| (l.text().text.as_str(), l.status)).collect()
}

fn error_of(play: &TestRun, command: Command) -> String {
    play.engine.decide(&Input::Command(command)).unwrap_err().message
}

#[test]
fn a_summary_changes_nothing_until_settled_and_then_only_accepted_lines() {
    let (on, retired) = (LessonStatus::On, LessonStatus::Retired);
    let mut play = play_until_summary();
    let state = play.state();
    let question = Question { kind: ReflectionKind::Abstract, purpose: Purpose::Summarise };
    let first = state.waiting_summaries.iter().position(|c| c.question == question).unwrap();
    assert_eq!(
        lessons(state, ReflectionKind::Abstract).iter().filter(|l| l.1 == on).count(),
        2,
        "the old list is still active"
    );
    let retires: Vec<bool> = state.waiting_summaries[first]
        .items
        .iter()
        .map(|l| matches!(l, PoolSummaryItem::Retire { .. }))
        .collect();
    assert_eq!(retires, [true, true, false, false]);
    assert!(state.is_waiting() && play.engine.advance().is_empty());
    for command in [Command::Step, Command::Run, Command::StepStage] {
        assert!(error_of(&play, command).contains("is waiting for your decision"));
    }
    assert!(error_of(&play, Command::ApplySummary { refused: vec![9] }).contains("no line 10"));

    // The oldest summary is settled first. Of the Abstract one, the first old lesson is kept and the last new one
    // rejected.
    for _ in 0..2 {
        let refused =
            if play.state().waiting_summaries[0].question == question { vec![0, 3] } else { vec![] };
        play.command(Command::ApplySummary { refused });
    }
    let state = play.state();
    let abstract_lessons = lessons(state, ReflectionKind::Abstract);
    assert_eq!(abstract_lessons.iter().map(|l| l.1).collect::<Vec<_>>(), [on, retired, on]);
    assert_eq!(abstract_lessons[2].0, "In short.");
    let edited: Vec<bool> =
        state.pool.visible_of_kind(ReflectionKind::Abstract).map(|l| l.edited_by_person).collect();
    assert_eq!(edited, [true, true], "a person changed this list");
    assert_eq!(
        lessons(state, ReflectionKind::Error).iter().map(|l| l.1).collect::<Vec<_>>(),
        [retired, retired, on]
    );
    assert!(
        state.pool.visible_of_kind(ReflectionKind::Error).all(|l| !l.edited_by_person),
        "accepting everything is not an edit"
    );
    accept_until_summary(&mut play);
    assert!(play.state().run_over && play.state().ended_episodes.len() == 3);
    assert!(error_of(&play, Command::ApplySummary { refused: vec![] }).contains("no summary is waiting"));

    // The journal folds to the same state.
    let mut folded = State::default();
    for envelope in &play.journal {
        let line = serde_json::to_string(envelope).unwrap();
        folded.apply(&serde_json::from_str::<Envelope>(&line).unwrap());
    }
    assert_eq!(&folded, play.state());
}

#[test]
fn with_autonomy_auto_a_summary_is_applied_at_once() {
    let mut play = play(Autonomy::Auto);
    accept_until_summary(&mut play);
    assert!(play.state().run_over);
    let waited = play.journal.iter().any(|e| matches!(e.event, Event::SummaryProposed { .. }));
    assert!(!waited);
    // The third task adds a new lesson of its own.
    assert_eq!(play.state().pool.active_of_kind(ReflectionKind::Abstract).count(), 3);
}

#[test]
fn a_lesson_changed_while_the_summary_waits_is_kept() {
    let mut play = play_until_summary();
    let kind = play.state().waiting_summaries[0].question.kind;
    let id = play.state().pool.visible_of_kind(kind).next().unwrap().id.clone();
    play.command(Command::Lesson(LessonCommand::Status { id: id.clone(), status: LessonStatus::Pinned }));
    play.command(Command::ApplySummary { refused: vec![] });
    assert_eq!(play.state().pool.get(&id).unwrap().status, LessonStatus::Pinned);
    assert_eq!(play.state().waiting_summaries.len(), 1);
}

#[test]
fn switching_to_autonomy_auto_settles_waiting_summaries() {
    let mut play = play_until_summary();
    play.command(Command::SetAutonomy(Autonomy::Auto));
    accept_until_summary(&mut play);
    assert!(play.state().waiting_summaries.len() < 3);
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), &["look"; 20]);
    assert!(play.state().run_over && play.state().waiting_summaries.is_empty());
    // A session that was closed while the summary waited still waits after resuming.
    let waiting = play_until_summary();
    let saved: State = serde_json::from_str(&serde_json::to_string(waiting.state()).unwrap()).unwrap();
    let resumed = Engine::resume(saved, waiting.engine.policy.clone(), waiting.engine.branch.clone());
    assert!(resumed.advance().is_empty() && resumed.state.waiting_summaries.len() == 2);
}
