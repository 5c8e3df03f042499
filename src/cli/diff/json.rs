//! Comparisons as JSON; `docs/COMPARE.md` says what every field is.

use super::Told;
use super::line::Line;
use crate::domain::{Step, Task};
use crate::timeline::compare::{
    Comparison, Difference, EpisodePair, Outcome, PriorDifferences, Row, RowKind, SegmentText, Side,
};
use serde_json::{Map, Value, json};

/// An object whose fields are printed in this order: they are put together by hand.
fn object(fields: &[(&str, Value)]) -> String {
    let each: Vec<String> = fields.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", each.join(","))
}

/// Two episodes, as one object.
pub(super) fn comparison(found: &Comparison, lines: (&Line, &Line), only_differences: bool) -> String {
    let [same, changed, only_a, only_b] = found.counts();
    let counts = json!({
        "same": same,
        "changed": changed,
        "only_a": only_a,
        "only_b": only_b,
        "waiting": found.count_pending(),
    });
    let first = found.first_difference.map(|at| {
        let row = found.rows[at];
        json!({ "row": at, "a": row.left, "b": row.right, "parts": parts(&row) })
    });
    let reasons: Vec<&str> =
        found.reasons().into_iter().map(crate::timeline::compare::Reason::name).collect();
    let kept = found.rows.iter().filter(|r| !only_differences || r.kind() != RowKind::Same);
    let rows: Vec<Value> = kept.map(|r| row(r, found)).collect();
    object(&[
        ("type", json!("comparison")),
        ("task", task(&found.left.episode.task)),
        ("a", side(&found.left, &found.outcomes.0, lines.0)),
        ("b", side(&found.right, &found.outcomes.1, lines.1)),
        ("beforehand", json!(differing(&found.initial_differences))),
        ("meanwhile", json!(differing(&found.later_differences))),
        ("same", json!(found.first_difference.is_none())),
        ("first", json!(first)),
        ("reasons", json!(reasons)),
        ("before", found.prior.as_ref().map_or(Value::Null, before)),
        ("counts", counts),
        ("rows", json!(rows)),
    ])
}

/// An episode without its counterpart.
pub(super) fn alone(pair: &EpisodePair) -> String {
    object(&[
        ("type", json!("alone")),
        ("side", json!(if pair.left.is_some() { "a" } else { "b" })),
        ("episode", json!(pair.left.or(pair.right))),
        ("trial", json!(pair.trial)),
        ("task", task(&pair.task)),
    ])
}

/// What all came to.
pub(super) fn summary(told: &Told) -> String {
    let both = |of: (u64, u64)| json!({ "a": of.0, "b": of.1 });
    object(&[
        ("type", json!("summary")),
        ("compared", json!(told.compared)),
        ("same", json!(told.same)),
        ("different", json!(told.compared - told.same)),
        ("only_a", json!(told.only_a)),
        ("only_b", json!(told.only_b)),
        ("won", both((told.won.0.into(), told.won.1.into()))),
        ("steps", both(told.steps)),
        ("mistakes", both(told.mistakes)),
        ("tokens", both(told.tokens)),
    ])
}

fn task(task: &Task) -> Value {
    json!({ "env": task.env, "id": task.id, "seed": task.seed, "goal": task.goal })
}

fn side(side: &Side, outcome: &Outcome, line: &Line) -> Value {
    let gains: Vec<Value> = outcome
        .progress_gains
        .iter()
        .map(|(step, progress)| json!({ "step": step, "progress": progress }))
        .collect();
    json!({
        "session": line.session,
        "branch": line.branch,
        "episode": side.episode.number,
        "trial": side.episode.trial,
        "won": outcome.won,
        "reason": outcome.reason,
        "steps": outcome.steps,
        "moves": outcome.moves,
        "progress": outcome.progress,
        "gains": gains,
        "calls": outcome.calls,
        "tokens": outcome.tokens,
        "assisted": outcome.assisted,
        "mistakes": outcome.mistakes,
        "steps_after": outcome.steps_after,
        "mistakes_after": outcome.mistakes_after,
    })
}

fn before(before: &PriorDifferences) -> Value {
    let lesson = |l: &crate::timeline::compare::ComparedLesson| {
        json!({
            "number": l.number,
            "version": l.version,
            "kind": l.kind,
            "text": l.text.text,
            "solution": l.text.solution,
        })
    };
    let lessons = &before.lessons;
    let changed: Vec<Value> =
        lessons.changed.iter().map(|(a, b)| json!({ "a": lesson(a), "b": lesson(b) })).collect();
    let piece = |p: &Option<SegmentText>| p.as_ref().map(|p| json!({ "from": p.source, "words": &*p.text }));
    let segments: Vec<Value> = before
        .segments
        .iter()
        .map(|s| json!({ "label": s.label, "a": piece(&s.left), "b": piece(&s.right) }))
        .collect();
    let world = &before.world;
    json!({
        "settings": differing(&before.settings),
        "lessons": {
            "only_a": lessons.only_left.iter().map(lesson).collect::<Vec<_>>(),
            "only_b": lessons.only_right.iter().map(lesson).collect::<Vec<_>>(),
            "changed": changed,
        },
        "prompt": segments,
        "world": {
            "observation": world.observation.as_ref().map(|(a, b)| json!({ "a": a, "b": b })),
            "shown": differing(&world.shown),
            "progress": world.progress.map(|(a, b)| json!({ "a": a, "b": b })),
        },
    })
}

fn differing(list: &[Difference]) -> Vec<Value> {
    list.iter().map(|d| json!({ "name": d.name, "a": d.left, "b": d.right })).collect()
}

fn parts(row: &Row) -> Vec<&'static str> {
    row.parts.iter().map(crate::timeline::compare::StepPart::name).collect()
}

fn row(row: &Row, found: &Comparison) -> Value {
    let kind = match row.kind() {
        RowKind::Same => "same",
        RowKind::Changed => "changed",
        RowKind::OnlyLeft => "only_a",
        RowKind::OnlyRight => "only_b",
    };
    let mut told = Map::new();
    told.insert("kind".to_owned(), json!(kind));
    told.insert("parts".to_owned(), json!(parts(row)));
    for (name, number, side) in [("a", row.left, &found.left), ("b", row.right, &found.right)] {
        let told_step = number.map(|n| side.episode.step(n).map_or_else(|| start(side), step));
        told.insert(name.to_owned(), json!(told_step));
    }
    Value::Object(told)
}

fn start(side: &Side) -> Value {
    let reset = side.episode.first_observation.as_ref();
    json!({
        "step": 0,
        "thought": null,
        "action": null,
        "taken": null,
        "by": null,
        "observation": reset.map(|r| r.agent_view.as_ref().unwrap_or(&r.raw)),
        "progress": reset.map(|r| r.progress),
    })
}

fn step(step: &Step) -> Value {
    json!({
        "step": step.number,
        "thought": step.thought,
        "action": step.action(),
        "taken": step.executed.is_some() || step.answer.is_some(),
        "by": step.executed.as_ref().map(|e| e.decided_by),
        "observation": step.observation(),
        "progress": step.answer.as_ref().map(|a| a.progress),
    })
}
