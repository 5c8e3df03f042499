//! A measurement that is continued after the session went on.

use super::*;
use crate::cli::args::EffectArgs;
use crate::cli::config::method_entries;
use crate::cli::effect::output::ResultPrinter;
use crate::cli::effect::{design, run};
use crate::cli::output::Output;
use crate::cli::shipped_demos::ShippedDemo;
use crate::domain::{Author, LessonOp, LessonOrigin, LessonText, ReflectionKind, RunSpec, Scope, Seq};
use crate::driver::measure::EpisodePlace;
use crate::engine::{Cause, Envelope, Event};
use crate::timeline::effect::{EffectPlan, StopReason};

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
    let op = LessonOp::plain(
        LessonId("abcdef012345".into()),
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonOrigin::Person,
        LessonText::plain(text),
    );
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
    let service = || ScreenMeasurement {
        config: config.clone(),
        root: dir.path().join("effects"),
        times: Arc::default(),
    };
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

/// Regression: once it was finished, a measurement was another one after a lesson was taught, or from another step.
#[test]
fn a_finished_measurement_is_found_from_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, "").unwrap();
    let config = Config::load(Some(&config_file), |_| None).unwrap();
    let service = ScreenMeasurement { config, root: dir.path().join("effects"), times: Arc::default() };
    let (store, lesson) = session();
    let at = |step| EpisodePlace { episode: Some(1), step };
    let query = EffectQuery { pairs: Some(2), ..EffectQuery::new(lesson.clone(), at(Some(6))) };
    let finished = service.run(&(store.clone(), query), &WorkProgress::default(), &|_| {}).unwrap();
    assert!(finished.columns.iter().all(|column| column.log.stopped() == Some(StopReason::Pairs)));
    teach(&store, "Look twice.");
    let plan = |query| service.plan(&(store.clone(), query), &WorkProgress::default()).unwrap();
    for place in [at(Some(6)), at(Some(8)), at(None)] {
        let opened = EffectQuery { or_earlier: true, ..EffectQuery::new(lesson.clone(), place) };
        let found = plan(opened.clone());
        assert_eq!((ids(&found), found.pairs()), (ids(&finished), finished.pairs()), "{place:?}");
        assert!(found.query.place == at(Some(6)) && found.has_older_lessons && !found.query.or_earlier);
        assert!(found.query.answers(&opened));
    }
    // Asked for from another place alone, it is another measurement.
    let other = plan(EffectQuery::new(lesson.clone(), at(Some(8))));
    assert!(ids(&other)[0] != ids(&finished)[0] && other.query.place == at(Some(8)));
    // The one of the place on screen comes before a later one.
    let now = store.head().asked_at(&crate::domain::BranchId::trunk());
    let later = EffectQuery { pairs: Some(2), asked: Some(now), ..other.query };
    let later = service.run(&(store.clone(), later), &WorkProgress::default(), &|_| {}).unwrap();
    for (place, expected) in [(at(Some(6)), &finished), (at(Some(8)), &later), (at(Some(9)), &later)] {
        let opened = EffectQuery { or_earlier: true, ..EffectQuery::new(lesson.clone(), place) };
        assert_eq!(ids(&plan(opened)), ids(expected), "{place:?}");
    }
}

/// A lesson that was taught afterwards is played from an earlier step, with it and without it.
#[test]
fn a_later_lesson_is_measured_from_an_earlier_step() {
    let dir = tempfile::tempdir().unwrap();
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, "").unwrap();
    let config = Config::load(Some(&config_file), |_| None).unwrap();
    let service = ScreenMeasurement { config, root: dir.path().join("effects"), times: Arc::default() };
    let (store, _) = session();
    teach(&store, "Look for a mug in/on a shelf first.");
    let place = EpisodePlace { episode: Some(1), step: Some(6) };
    let taught = LessonId("abcdef012345".into());
    let query = EffectQuery { pairs: Some(2), ..EffectQuery::new(taught.clone(), place) };
    let measured = service.run(&(store, query), &WorkProgress::default(), &|_| {}).unwrap();
    let here = &measured.columns[0];
    assert!(matches!(here.plan().start, crate::domain::EffectStart::Moment { episode: 1, step: 6, .. }));
    let moment = here.plan().start.clone();
    assert_eq!((here.log.settled_pairs(), here.plan().lesson.as_ref()), (2, Some(&taught)), "{moment:?}");
    let pool = |arm: &str| here.plan().pools.get(arm).cloned().unwrap();
    assert!(pool("with") != pool("without") && pool("with") != pool("placebo"));
}

/// The plan of a stand-in's measurement named no time at all, also where episodes like these had been played before.
#[test]
fn the_time_is_that_of_the_episodes_played_before() {
    let dir = tempfile::tempdir().unwrap();
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, "").unwrap();
    let config = Config::load(Some(&config_file), |_| None).unwrap();
    let service = ScreenMeasurement { config, root: dir.path().join("effects"), times: Arc::default() };
    let (store, lesson) = session();
    let at = |step| EpisodePlace { episode: Some(1), step };
    let query = EffectQuery { pairs: Some(2), ..EffectQuery::new(lesson.clone(), at(Some(6))) };
    let costs = |query: &EffectQuery| {
        let planned = service.plan(&(store.clone(), query.clone()), &WorkProgress::default()).unwrap();
        planned.columns.iter().map(|column| column.cost.clone()).collect::<Vec<String>>()
    };
    let unknown = "no model is called, time: after the first pairs)";
    assert!(costs(&query).iter().all(|cost| cost.ends_with(unknown)), "{:?}", costs(&query));
    service.run(&(store.clone(), query.clone()), &WorkProgress::default(), &|_| {}).unwrap();
    let known = |cost: &String| cost.contains("no model is called, about ") && cost.ends_with(" s)");
    let live = EffectQuery { live: true, ..query.clone() };
    let rest_of_the_same = EffectQuery { pairs: Some(4), ..query };
    assert!(costs(&rest_of_the_same).iter().all(known), "{:?}", costs(&rest_of_the_same));
    assert!(costs(&live).iter().all(|cost| cost.ends_with(unknown)), "{:?}", costs(&live));
    // From another step, episodes here are shorter or longer; those elsewhere are the same.
    let later = costs(&EffectQuery { pairs: Some(4), ..EffectQuery::new(lesson, at(Some(8))) });
    assert!(later[0].ends_with(unknown) && known(&later[1]), "{later:?}");
    let measured = service.times.0.lock().unwrap();
    assert_eq!(measured.values().map(|(episodes, _)| *episodes).collect::<Vec<u32>>(), [6, 6]);
}

/// The flags of `lessons effect`, as a program of its own.
#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    effect: EffectArgs,
}

/// Regression: the screen measured with seed 1 and the command line with 0, so the same measurement had other numbers on both.
#[test]
fn the_screen_and_the_command_line_give_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let (config_file, pool) = (dir.path().join("config.toml"), dir.path().join("pool.jsonl"));
    std::fs::write(&config_file, "[run]\nseed = 7\n").unwrap();
    let mut config = Config::load(Some(&config_file), |_| None).unwrap();
    let service =
        ScreenMeasurement { config: config.clone(), root: dir.path().join("screen"), times: Arc::default() };
    let (store, lesson) = session();
    let query = EffectQuery { pairs: Some(3), ..EffectQuery::new(lesson.clone(), EpisodePlace::default()) };
    let shown = service.run(&(store, query), &WorkProgress::default(), &|_| {}).unwrap();
    let flags = ["effect", "--session", "hot-mug-taught", "--lesson", &lesson.0, "--pairs", "3"];
    let args = <Flags as clap::Parser>::try_parse_from(flags).unwrap().effect;
    let mut out = Output::new();
    let mut prepared = design::prepare(&mut config, &pool, &args, &mut out).unwrap();
    for column in &mut prepared {
        column.log = dir.path().join(&column.measurement.plan.effect).join(LOG_NAME);
    }
    let (_sender, wanted) = watch::channel(Wanted::Running);
    let measured = run(&prepared, &args, &wanted, &mut ResultPrinter::new(&args, &mut out)).unwrap();
    assert_eq!((shown.columns.len(), measured.len()), (2, 2));
    for (shown, measured) in shown.columns.iter().zip(&measured) {
        let plan = |plan: &EffectPlan| EffectPlan { asked: None, ..plan.clone() };
        assert_eq!(plan(shown.plan()), plan(&measured.plan));
        assert_eq!((measured.result.settled, &shown.result), (3, &measured.result));
    }
}

/// Regression: `--session` ignored the options of methods other than `--exemplars`, such as `--prompter`, without a word.
#[test]
fn the_options_of_methods_are_refused_with_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::without_file(Some(&dir.path().join("config.toml")), |_| None);
    let (_, lesson) = session();
    let entries = method_entries();
    assert!(["--exemplars", "--prompter"].iter().all(|flag| entries.iter().any(|entry| entry.flag == *flag)));
    for entry in entries {
        let flags = ["effect", "--session", "hot-mug-taught", "--lesson", &lesson.0, entry.flag, "x"];
        let args = <Flags as clap::Parser>::try_parse_from(flags).unwrap().effect;
        let refused =
            design::prepare(&mut config, &dir.path().join("pool.jsonl"), &args, &mut Output::new()).err();
        let message = refused.expect(entry.flag).message;
        assert!(
            message.starts_with(&format!("{}: with --session, the session's own", entry.flag)),
            "{message}"
        );
    }
}

/// Regression: DORA's instruction and the results of its evaluations were measured, which no prompt of the agent shows.
#[test]
fn what_the_agent_never_reads_is_not_measured() {
    let dir = tempfile::tempdir().unwrap();
    let config_file = dir.path().join("config.toml");
    std::fs::write(&config_file, "").unwrap();
    let config = Config::load(Some(&config_file), |_| None).unwrap();
    let (store, id) = session();
    let mut state = (*store.head()).clone();
    let spec = RunSpec { method: "dora".to_owned(), ..(**state.run.as_ref().unwrap()).clone() };
    state.run = Some(Arc::new(spec));
    let is_refused = |kind: ReflectionKind, frozen: bool| {
        let session = MeasuredSession {
            name: state.session.clone(),
            timeline: store.timeline(),
            asked: Arc::new(state.clone()),
            lesson: Lesson { kind, ..state.pool.get(&id).unwrap().clone() },
        };
        let choices = MeasureChoices { frozen, ..MeasureChoices::default() };
        let designed = design_panel(&config, &session, EpisodePlace::default(), Some(2), &choices);
        designed.err().is_some_and(|error| to_text(&error).contains("don't show this lesson"))
    };
    assert!(is_refused(ReflectionKind::Instruction, true));
    assert!(!is_refused(ReflectionKind::Instruction, false), "a mentor that is asked reads it");
    assert!(is_refused(ReflectionKind::Progress, false) && !is_refused(ReflectionKind::Advice, true));
}
