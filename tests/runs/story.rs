//! The preselected episode tells a story: a mistake and a reflection within eight steps, a loss, and one typed lesson
//! that turns it into a win. Uses the settings of a bare start, with driver, journal and environment.

use crate::run::{self, household, meta, until};
use retrospect::domain::{LessonText, NoteKind, ReflectionKind, RunSpec, Scope};
use retrospect::driver::worlds;
use retrospect::driver::{Driver, OpenWorld, RunConfig};
use retrospect::engine::{Command, LessonCommand, State};
use retrospect::env::TaskOptions;
use retrospect::env::household::PRESELECTED;
use std::sync::Arc;
use std::time::Duration;

/// The lesson that the tour tells the reader to type.
const TOUR_LESSON: &str = "Look for a mug in/on a shelf first.";

fn spec() -> RunSpec {
    run::spec("omnireflect", vec![household(PRESELECTED.to_string())])
}

/// Returns the number of the first step for which `condition` is true.
fn first_step(state: &State, condition: impl Fn(&retrospect::domain::Step) -> bool) -> Option<u32> {
    state.episode.as_deref()?.steps.iter().find(|s| condition(s)).map(|s| s.number)
}

fn first_mistake(state: &State) -> Option<u32> {
    first_step(state, |s| s.notes.iter().any(|n| n.kind == NoteKind::Mistake))
}

/// Steps until `teach_at` steps are done and a mistake was made, adds the lesson if there is one, and runs to the end.
fn play(teach_at: u32, lesson: Option<(ReflectionKind, LessonText)>) -> Arc<State> {
    let dir = tempfile::tempdir().unwrap();
    let open: OpenWorld = Arc::new(|task| worlds::open(task, &TaskOptions::default()));
    let run_config = RunConfig::from_spec(
        &spec(),
        Arc::new(retrospect::catalog::builtin_templates()),
        open,
        Duration::ZERO,
    )
    .unwrap();
    let meta = meta("story", &spec());
    let (handle, thread, _session) = Driver::start(dir.path(), meta, spec(), Vec::new(), run_config).unwrap();
    loop {
        let before = handle.store.head().step_awaiting_decision().map_or(0, |s| s.number);
        handle.send(Command::Step);
        until(&handle, |s| {
            s.run_over || (s.is_waiting() && s.step_awaiting_decision().is_some_and(|s| s.number > before))
        });
        let state = handle.store.head();
        if state.run_over || (first_mistake(&state).is_some() && before >= teach_at) {
            break;
        }
    }
    if let Some((kind, text)) = lesson {
        handle.send(Command::Lesson(LessonCommand::add(kind, Scope::Environment, text, String::new())));
    }
    handle.send(Command::Run);
    until(&handle, |s| s.run_over || s.failed_call.is_some());
    let state = handle.store.head();
    assert!(state.failed_call.is_none(), "{:?}", state.failed_call);
    handle.quit();
    thread.join().unwrap();
    state
}

fn general_lesson(text: &str) -> (ReflectionKind, LessonText) {
    (ReflectionKind::Abstract, LessonText::plain(text))
}

#[test]
fn the_first_episode_has_a_mistake_a_reflection_and_is_lost() {
    let state = play(0, None);
    assert!(first_mistake(&state).unwrap() <= 8);
    let reflected = first_step(&state, |s| {
        s.reflections
            .iter()
            .any(|i| state.reflections.get(*i as usize).unwrap().kind == ReflectionKind::Error)
    });
    assert!(reflected.unwrap() <= 8);
    let ended = state.ended_episodes.first().unwrap();
    assert!(!ended.won && !ended.assisted, "{ended:?}");
    assert_eq!(ended.steps, 50);
}

#[test]
fn one_typed_lesson_turns_the_loss_into_a_win() {
    // The reader may not stop at exactly the documented step.
    for teach_at in [0, 6, 8, 10] {
        let state = play(teach_at, Some(general_lesson(TOUR_LESSON)));
        let ended = state.ended_episodes.first().unwrap();
        assert!(ended.won && ended.assisted, "taught after step {teach_at}: {ended:?}");
    }
    // Nor type exactly this text, nor choose this kind.
    let others = [
        general_lesson("look for the mug on a shelf first"),
        (ReflectionKind::Error, LessonText::plain(TOUR_LESSON)),
        (ReflectionKind::Error, LessonText::error("It takes what it comes upon.", TOUR_LESSON)),
    ];
    for (kind, text) in others {
        assert!(play(0, Some((kind, text.clone()))).ended_episodes.first().unwrap().won, "{kind:?} {text:?}");
    }
}

/// An unrelated lesson leaves the episode lost: the lesson wins it, not the intervention as such.
#[test]
fn another_lesson_does_not_win() {
    let state = play(0, Some(general_lesson("Look for a mug on a toaster first.")));
    assert!(!state.ended_episodes.first().unwrap().won);
}
