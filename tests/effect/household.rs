//! The README's episode and the two lessons that are told apart in it, ready to be measured.

#![allow(dead_code, reason = "each target uses only part of it")]
#![allow(clippy::unwrap_used)]

use retrospect::catalog::builtin_templates;
use retrospect::domain::{
    Author, EffectStart, Lesson, LessonId, LessonOp, LessonOrigin, LessonText, ReflectionKind, Scope, Seq,
    Task,
};
use retrospect::driver::measure::{
    FreshStart, Measurement, MeasurementDesign, StartingPoint, arms_for_lesson, moment_before_step,
};
use retrospect::driver::{EpisodeReplay, RunConfig, worlds};
use retrospect::engine::{Cause, Envelope, Event, State};
use retrospect::env::TaskOptions;
use retrospect::journal::{Session, fold_events, read_branch};
use retrospect::provider::Provider;
use retrospect::timeline::Timeline;
use retrospect::timeline::effect::{
    Column, EffectBudget, EffectScope, MeasuredLesson, Outcome, PlannedTask, placebo_text,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Helps in the README's episode and nowhere else.
pub(crate) const ANSWER: &str = "Look for a mug in/on a shelf first.";
/// Does nothing there, and helps elsewhere.
pub(crate) const LESSON: &str = "Do not repeat an action that did nothing.";

const EPISODE: &str = "hot-mug-untaught";

/// Where the episodes of a measurement begin.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Start,
    Step(u32),
}

/// Returns the shipped session of the README's episode.
pub(crate) fn session() -> Timeline {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples").join(EPISODE);
    let session = Session::open(&dir).unwrap();
    fold_events(read_branch(&session.trunk()).unwrap().events)
}

/// Returns a lesson of a person about the environment.
pub(crate) fn lesson(text: &str) -> Lesson {
    let op = LessonOp::plain(
        LessonId("abcdef012345".into()),
        ReflectionKind::Abstract,
        Scope::Environment,
        LessonOrigin::Person,
        LessonText::plain(text),
    );
    let mut state = State::default();
    state.apply(&Envelope {
        seq: Seq(1),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        cause: Cause::Person,
        batch_continues: false,
        event: Event::LessonChanged { op: Box::new(op), author: Author::Person },
    });
    state.pool.all().next().unwrap().clone()
}

/// Measures a lesson and a placebo in the README's episode, all pairs.
pub(crate) fn here(text: &str, place: Place, pairs: u32) -> Measurement {
    here_with(text, place, pairs, Arms { placebo: true })
}

/// Measures a lesson in the README's episode without a placebo, all pairs.
pub(crate) fn two_arms_here(text: &str, place: Place, pairs: u32) -> Measurement {
    here_with(text, place, pairs, Arms { placebo: false })
}

/// Which arms there are besides those with and without the lesson.
#[derive(Clone, Copy)]
struct Arms {
    placebo: bool,
}

fn here_with(text: &str, place: Place, pairs: u32, arms: Arms) -> Measurement {
    let timeline = session();
    let lesson = lesson(text);
    let replay = EpisodeReplay::from_timeline(&timeline, EPISODE, 1).unwrap();
    let (start, described) = match place {
        Place::Start => {
            let lessons = replay.lessons.iter().cloned().chain([lesson.clone()]).collect();
            let start = FreshStart {
                spec: replay.spec.clone(),
                lessons,
                source: replay.source.clone(),
                replay_start: Some(Box::new(replay.start.clone())),
            };
            let described = EffectStart::Episode { session: EPISODE.to_owned(), episode: 1 };
            (StartingPoint::Start(Box::new(start)), described)
        }
        Place::Step(step) => {
            let moment = moment_before_step(&timeline, step, vec![lesson.clone()]).unwrap();
            let seq = moment.state.head;
            let described = EffectStart::Moment { session: EPISODE.to_owned(), episode: 1, step, seq };
            (StartingPoint::Moment(Box::new(moment)), described)
        }
    };
    let task = replay.spec.tasks[0].clone();
    let mut design = design(&lesson, pairs, vec![task], arms);
    design.column = Some(Column::Here);
    design.scope = EffectScope::Moment;
    design.start = described;
    design.excluded_seeds = vec![replay.spec.seed];
    let config = config(&start);
    Measurement::new(design, start, config)
}

/// Measures a lesson and a placebo in 120 other games.
pub(crate) fn elsewhere(text: &str, pairs: u32) -> Measurement {
    elsewhere_with(text, pairs, Arms { placebo: true })
}

/// Measures a lesson in 120 other games without a placebo.
pub(crate) fn two_arms_elsewhere(text: &str, pairs: u32) -> Measurement {
    elsewhere_with(text, pairs, Arms { placebo: false })
}

fn elsewhere_with(text: &str, pairs: u32, arms: Arms) -> Measurement {
    let timeline = session();
    let lesson = lesson(text);
    let run = timeline.head().run.clone().unwrap();
    // In the order of `--tasks 'normal/*/1-20'`.
    let kinds = ["put", "look", "clean", "heat", "cool", "two"];
    let ids = (1..=20).flat_map(|n| kinds.map(|kind| format!("normal/{kind}/{n}")));
    let tasks: Vec<Task> =
        ids.map(|id| worlds::find("household", &id, &TaskOptions::default()).unwrap()).collect();
    let start = FreshStart {
        spec: (*run).clone(),
        lessons: vec![lesson.clone()],
        source: "pool.jsonl".to_owned(),
        replay_start: None,
    };
    let start = StartingPoint::Start(Box::new(start));
    let mut design = design(&lesson, pairs, tasks, arms);
    design.column = Some(Column::Elsewhere);
    let config = config(&start);
    Measurement::new(design, start, config)
}

fn design(lesson: &Lesson, pairs: u32, tasks: Vec<Task>, arms: Arms) -> MeasurementDesign {
    let placebo = LessonText::plain(placebo_text(&lesson.text().text, &lesson.id.0, lesson.version()));
    let (arms, contrasts) = arms_for_lesson(&lesson.id, arms.placebo.then_some(placebo), None);
    MeasurementDesign {
        lessons: vec![MeasuredLesson {
            id: lesson.id.clone(),
            version: lesson.version(),
            text: lesson.text().clone(),
        }],
        groups: Vec::new(),
        column: None,
        arms,
        contrasts,
        orders: false,
        scope: EffectScope::Tasks,
        start: EffectStart::Tasks,
        outcome: Outcome::Success,
        margin: 0.10,
        alpha: 0.025,
        pairs,
        budget: EffectBudget { keep_going: true, ..EffectBudget::default() },
        frozen: true,
        seed: 1,
        repeats: 1,
        shard: None,
        tasks: tasks.into_iter().map(|task| PlannedTask { task, learned: false }).collect(),
        task_blocks: Vec::new(),
        excluded_seeds: Vec::new(),
    }
}

fn config(start: &StartingPoint) -> RunConfig {
    let open = Arc::new(|task: &Task| worlds::open(task, &TaskOptions::default()));
    RunConfig::from_spec(start.run().unwrap(), Arc::new(builtin_templates()), open, Duration::ZERO).unwrap()
}

/// Replaces the actor of a measurement.
pub(crate) fn with_actor(measurement: Measurement, actor: Arc<dyn Provider>) -> Measurement {
    measurement.with_actor(actor)
}
