//! Keeps what was measured with the lessons: in the session if it can be written, and on the screen in any case.

use crate::domain::{LessonId, LessonOrigin, MeasuredEffect};
use crate::driver::Health;
use crate::engine::{Command, LessonCommand};
use crate::report::effect::{describe_columns, describe_fact};
use crate::ui::effect::{EffectPhase, EffectProgress};
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::model::{Model, Severity};
use crate::ui::msg::{Answer, Request};

/// Keeps the results that an answer brings. Returns the requests that record those in the session which it lacks.
pub fn keep_measured(model: &mut Model, context: &Context<'_>, answer: &Answer) -> Vec<Request> {
    match answer {
        Answer::Measured(Ok(results)) => {
            // What was measured meanwhile is newer than what the logs said.
            let newer = std::mem::take(&mut model.measured);
            model.measured = results.iter().chain(newer.iter()).cloned().collect();
            Vec::new()
        }
        Answer::Effect(Ok(progress)) if progress.0.phase == EffectPhase::Idle => {
            announce_end(model, context, &progress.0);
            let lesson = &progress.0.query.lesson;
            let results: Vec<&MeasuredEffect> =
                progress.0.columns.iter().filter_map(|column| column.kept.as_ref()).collect();
            let new: Vec<(LessonId, MeasuredEffect)> =
                results.iter().map(|result| (lesson.clone(), (*result).clone())).collect();
            model.measured = model.measured.iter().cloned().chain(new).collect();
            results.into_iter().filter_map(|result| record_request(context, lesson, result)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the request that records a result in the session, unless it can't be written or has the result.
fn record_request(context: &Context<'_>, id: &LessonId, result: &MeasuredEffect) -> Option<Request> {
    let head = &context.frame.head;
    let is_written = context.frame.live.health == Health::Running && !head.closed;
    let lesson = head.pool.get(id).filter(|_| is_written)?;
    if lesson.measured.iter().any(|known| known.is_same_result(result)) {
        return None;
    }
    let measured = Box::new(result.clone());
    Some(Request::Send(Command::Lesson(LessonCommand::Measured { id: id.clone(), measured })))
}

/// Says what a measurement has shown that ended behind the panes.
fn announce_end(model: &mut Model, context: &Context<'_>, ended: &EffectProgress) {
    let was_running = model.effect.as_ref().is_some_and(|known| known.0.is_running());
    if !was_running || model.is_covered {
        return;
    }
    let number = context.frame.head.pool.get(&ended.query.lesson).map_or(0, |lesson| lesson.number);
    let verdict = match (ended.panel(), ended.columns.as_slice()) {
        (Some(panel), [here, elsewhere]) => {
            describe_columns(panel, &here.result, &elsewhere.result, "continuing plays them again")
        }
        (_, [only, ..]) => describe_fact(&only.result).unwrap_or_else(|| only.result.verdict().to_string()),
        _ => return,
    };
    let key = context.keymap.key_label(Action::MeasureEffect);
    let again = key.map_or_else(String::new, |key| format!("; {key} shows it"));
    model.show_notice(format!("lesson {number} measured: {verdict}{again}"), Severity::Info, context.now);
}

/// Opens the measurement of the lesson that a person has just taught, once the session has it.
pub(super) fn measure_taught(model: &mut Model, context: &Context<'_>) -> Option<Request> {
    let pool = &context.frame.head.pool;
    let taught = model.measured_next.as_ref()?;
    // A new branch begins with the lesson.
    let is_branched = context.frame.epoch != taught.epoch;
    let is_there = |count: usize| !taught.on_branch && count > taught.before;
    let lesson = match &taught.lesson {
        None => {
            let last = pool.all().next_back();
            last.filter(|l| if is_branched { l.origin == LessonOrigin::Person } else { is_there(pool.len()) })
        }
        Some(id) => pool.get(id).filter(|lesson| is_branched || is_there(lesson.version() as usize)),
    };
    if lesson.is_some() || is_branched {
        model.measured_next = None;
    }
    let id = lesson?.id.clone();
    model.selected_lesson = Some(id.clone());
    Some(Request::MeasureLesson(id))
}
