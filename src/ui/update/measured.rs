//! Keeps what was measured with the lessons: in the session if it can be written, and on the screen in any case.

use crate::domain::{LessonId, MeasuredEffect};
use crate::driver::Health;
use crate::engine::{Command, LessonCommand};
use crate::ui::effect::EffectPhase;
use crate::ui::frame_data::Context;
use crate::ui::model::Model;
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
