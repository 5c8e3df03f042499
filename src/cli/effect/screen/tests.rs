//! A measurement that is continued after the session went on.

use super::*;
use crate::cli::shipped_demos::ShippedDemo;
use crate::domain::{Author, LessonOp, LessonOrigin, LessonText, ReflectionKind, Scope, Seq};
use crate::driver::measure::EpisodePlace;
use crate::engine::{Cause, Envelope, Event};

/// Returns a shipped session with a lesson of a person, which can be changed in memory.
fn session() -> (Arc<Store>, LessonId) {
    let opened = locate::open_demo(ShippedDemo::named("hot-mug-taught").unwrap(), None).unwrap();
    let store = Arc::new(Store::default());
    store.set_timeline(opened.timeline, crate::domain::BranchId::trunk());
    let id = store.head().pool.all().find(|lesson| lesson.is_active()).unwrap().id.clone();
    (store, id)
}

/// Adds a lesson of a person to the session.
fn teach(store: &Store, text: &str) {
    let op = LessonOp::Add {
        id: LessonId("abcdef012345".into()),
        kind: ReflectionKind::Abstract,
        scope: Scope::Environment,
        origin: LessonOrigin::Person,
        text: LessonText::plain(text),
        evidence: String::new(),
        rule: None,
        parents: Vec::new(),
        transition: None,
        task_key: None,
        task_type: None,
        pinned: false,
        taken_from: None,
    };
    let mut state = (*store.head()).clone();
    let event = Envelope {
        seq: Seq(state.head.0 + 1),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Person,
        batch_continues: false,
        event: Event::LessonChanged { op: Box::new(op), author: Author::Person },
    };
    state.apply(&event);
    store.append([Arc::new(event)], Arc::new(state));
}

fn ids(progress: &EffectProgress) -> Vec<String> {
    progress.columns.iter().map(|column| column.plan().effect.clone()).collect()
}

/// Regression: a measurement was another one after a lesson was taught while it was stopped, and its pairs were lost.
#[test]
fn a_stopped_measurement_goes_on_with_the_lessons_of_then() {
    let dir = tempfile::tempdir().unwrap();
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, "").unwrap();
    let config = Config::load(Some(&config_file), |_| None).unwrap();
    let service = || ScreenMeasurement { config: config.clone(), root: dir.path().join("effects") };
    let (store, lesson) = session();
    let query = EffectQuery::new(lesson, EpisodePlace::default());
    let progress = WorkProgress::default();
    let stop_after_a_pair = |shown: EffectProgress| {
        if shown.pairs().0 > 0 {
            progress.cancel();
        }
    };
    let stopped = service().run(&(store.clone(), query.clone()), &progress, &stop_after_a_pair).unwrap();
    assert!(stopped.pairs().0 > 0 && !stopped.is_running());
    assert!(!stopped.has_older_lessons);
    let asked = stopped.query.asked.clone().unwrap();
    assert_eq!(asked.seq, store.head().head);
    teach(&store, "Look twice.");
    // The query of the panel, and that of a program that was started again.
    for again in [stopped.query.clone(), query.clone()] {
        let planned = service().plan(&(store.clone(), again), &WorkProgress::default()).unwrap();
        assert_eq!((ids(&planned), planned.pairs()), (ids(&stopped), stopped.pairs()));
        assert_eq!(planned.query.asked.as_ref(), Some(&asked));
        assert!(planned.has_older_lessons, "the panel says so");
    }
    let now = AskedAt { seq: store.head().head, ..asked.clone() };
    let anew = EffectQuery { asked: Some(now), ..query.clone() };
    let planned = service().plan(&(store.clone(), anew), &WorkProgress::default()).unwrap();
    // From its start, the episode has the lessons that were in force there; the later one counts elsewhere.
    let (before, now) = (ids(&stopped), ids(&planned));
    assert!(before[0] == now[0] && before[1] != now[1], "the present lessons make another measurement");
    assert_eq!((planned.columns[1].log.settled_pairs(), planned.has_older_lessons), (0, false));
    // Another mode was never begun, so it is about now.
    let live = EffectQuery { live: true, ..query };
    let planned = service().plan(&(store.clone(), live), &WorkProgress::default()).unwrap();
    assert_eq!(planned.query.asked.unwrap().seq, store.head().head);
    // On another branch the same numbers are other events.
    let elsewhere = AskedAt { branch: crate::domain::BranchId("other".into()), ..asked };
    let query = EffectQuery { asked: Some(elsewhere), ..stopped.query };
    let refused = service().plan(&(store, query), &WorkProgress::default()).unwrap_err();
    assert!(refused.contains("another branch"), "{refused}");
}
