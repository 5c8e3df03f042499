//! Comparisons as JSON; `docs/COMPARE.md` documents every field.

use super::Totals;
use super::compared_branch::ComparedBranch;
use crate::domain::{Step, Task};
use crate::timeline::compare::{
    Comparison, Difference, EpisodePair, Outcome, PriorDifferences, Row, RowKind, SegmentText, Side,
};
use serde_json::{Map, Value, json};

/// Formats an object with its fields in this order (`serde_json` would sort them).
fn ordered_object(fields: &[(&str, Value)]) -> String {
    let each: Vec<String> = fields.iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
    format!("{{{}}}", each.join(","))
}

/// Formats the comparison of two episodes as one object.
pub(super) fn comparison_json(
    comparison: &Comparison,
    branches: (&ComparedBranch, &ComparedBranch),
    only_differences: bool,
) -> String {
    let [same, changed, only_a, only_b] = comparison.counts();
    let counts = json!({
        "same": same,
        "changed": changed,
        "only_a": only_a,
        "only_b": only_b,
        "waiting": comparison.count_pending(),
    });
    let first = comparison.first_difference.map(|at| {
        let row = comparison.rows[at];
        json!({ "row": at, "a": row.left, "b": row.right, "parts": part_names(&row) })
    });
    let reasons: Vec<&str> =
        comparison.reasons().into_iter().map(crate::timeline::compare::Reason::name).collect();
    let shown_rows = comparison.rows.iter().filter(|r| !only_differences || r.kind() != RowKind::Same);
    let rows: Vec<Value> = shown_rows.map(|r| row_json(r, comparison)).collect();
    ordered_object(&[
        ("type", json!("comparison")),
        ("task", task_json(&comparison.left.episode.task)),
        ("a", side_json(&comparison.left, &comparison.outcomes.0, branches.0)),
        ("b", side_json(&comparison.right, &comparison.outcomes.1, branches.1)),
        ("beforehand", json!(differences_json(&comparison.initial_differences))),
        ("meanwhile", json!(differences_json(&comparison.later_differences))),
        ("same", json!(comparison.first_difference.is_none())),
        ("first", json!(first)),
        ("reasons", json!(reasons)),
        ("before", comparison.prior.as_ref().map_or(Value::Null, prior_json)),
        ("counts", counts),
        ("rows", json!(rows)),
    ])
}

/// Formats an episode that only one side has.
pub(super) fn unpaired_json(pair: &EpisodePair) -> String {
    ordered_object(&[
        ("type", json!("alone")),
        ("side", json!(if pair.left.is_some() { "a" } else { "b" })),
        ("episode", json!(pair.left.or(pair.right))),
        ("trial", json!(pair.trial)),
        ("task", task_json(&pair.task)),
    ])
}

/// Formats the totals over all pairs.
pub(super) fn summary_json(totals: &Totals) -> String {
    let both_json = |(a, b): (u64, u64)| json!({ "a": a, "b": b });
    ordered_object(&[
        ("type", json!("summary")),
        ("compared", json!(totals.compared)),
        ("same", json!(totals.identical)),
        ("different", json!(totals.compared - totals.identical)),
        ("only_a", json!(totals.only_a)),
        ("only_b", json!(totals.only_b)),
        ("won", both_json((totals.won.0.into(), totals.won.1.into()))),
        ("steps", both_json(totals.steps)),
        ("mistakes", both_json(totals.mistakes)),
        ("tokens", both_json(totals.tokens)),
    ])
}

fn task_json(task: &Task) -> Value {
    json!({ "env": task.env, "id": task.id, "seed": task.seed, "goal": task.goal })
}

fn side_json(side: &Side, outcome: &Outcome, branch: &ComparedBranch) -> Value {
    let gains: Vec<Value> = outcome
        .progress_gains
        .iter()
        .map(|(step, progress)| json!({ "step": step, "progress": progress }))
        .collect();
    json!({
        "session": branch.session,
        "branch": branch.branch,
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

fn prior_json(prior: &PriorDifferences) -> Value {
    let lesson = |l: &crate::timeline::compare::ComparedLesson| {
        json!({
            "number": l.number,
            "version": l.version,
            "kind": l.kind,
            "text": l.text.text,
            "solution": l.text.solution,
        })
    };
    let lessons = &prior.lessons;
    let changed: Vec<Value> =
        lessons.changed.iter().map(|(a, b)| json!({ "a": lesson(a), "b": lesson(b) })).collect();
    let segment_json =
        |p: &Option<SegmentText>| p.as_ref().map(|p| json!({ "from": p.source, "words": &*p.text }));
    let segments: Vec<Value> = prior
        .segments
        .iter()
        .map(|s| json!({ "label": s.label, "a": segment_json(&s.left), "b": segment_json(&s.right) }))
        .collect();
    let world = &prior.world;
    json!({
        "settings": differences_json(&prior.settings),
        "lessons": {
            "only_a": lessons.only_left.iter().map(lesson).collect::<Vec<_>>(),
            "only_b": lessons.only_right.iter().map(lesson).collect::<Vec<_>>(),
            "changed": changed,
        },
        "prompt": segments,
        "world": {
            "observation": world.observation.as_ref().map(|(a, b)| json!({ "a": a, "b": b })),
            "shown": differences_json(&world.known_facts),
            "progress": world.progress.map(|(a, b)| json!({ "a": a, "b": b })),
        },
    })
}

fn differences_json(list: &[Difference]) -> Vec<Value> {
    list.iter().map(|d| json!({ "name": d.name, "a": d.left, "b": d.right })).collect()
}

fn part_names(row: &Row) -> Vec<&'static str> {
    row.parts.iter().map(crate::timeline::compare::StepPart::name).collect()
}

fn row_json(row: &Row, comparison: &Comparison) -> Value {
    let kind = match row.kind() {
        RowKind::Same => "same",
        RowKind::Changed => "changed",
        RowKind::OnlyLeft => "only_a",
        RowKind::OnlyRight => "only_b",
    };
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), json!(kind));
    fields.insert("parts".to_owned(), json!(part_names(row)));
    for (name, number, side) in [("a", row.left, &comparison.left), ("b", row.right, &comparison.right)] {
        let step = number.map(|n| side.episode.step(n).map_or_else(|| reset_json(side), step_json));
        fields.insert(name.to_owned(), json!(step));
    }
    Value::Object(fields)
}

fn reset_json(side: &Side) -> Value {
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

fn step_json(step: &Step) -> Value {
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
