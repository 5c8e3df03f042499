//! Prints the plan, the pairs and the results of a measurement, as text, Markdown or JSON.

use super::design::{Prepared, estimate};
use super::{Measured, panel_verdict};
use crate::cli::args::EffectArgs;
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::driver::measure::ServerOutage;
use crate::report::effect::{
    column_name, describe_columns, describe_cost, describe_detectable, describe_mode, describe_start,
    describe_time_left, result_lines, result_markdown, several_lessons_remarks, sorted_contrasts,
};
use crate::timeline::effect::{EffectLog, EffectPlan, EffectRecord, EffectResult, FIXED_CONFIDENCE, PairLog};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// The format of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Markdown,
    Json,
}

/// Prints a measurement.
pub(super) struct ResultPrinter<'a> {
    out: &'a mut Output,
    format: Format,
    /// How many pairs of each measurement are printed.
    printed_pairs: BTreeMap<String, u32>,
    /// When each measurement was started or continued, and how many pairs it had then.
    begun: BTreeMap<String, (Instant, u32)>,
}

impl<'a> ResultPrinter<'a> {
    pub(super) fn new(args: &EffectArgs, out: &'a mut Output) -> Self {
        let format = match (args.json, args.markdown) {
            (true, _) => Format::Json,
            (false, true) => Format::Markdown,
            (false, false) => Format::Text,
        };
        Self { out, format, printed_pairs: BTreeMap::new(), begun: BTreeMap::new() }
    }

    pub(super) fn out(&mut self) -> &mut Output {
        self.out
    }

    /// Prints what will be measured, what it costs and what it can show.
    pub(super) fn print_plan(&mut self, column: &Prepared, jobs: usize) -> Result<(), CliError> {
        let (plan, recorded) = (&column.measurement.plan, column.recorded.as_deref());
        let (cost, detectable) = estimate(&column.measurement, recorded, jobs);
        if self.format == Format::Json {
            let mut line = json!({"type": "plan"});
            merge_fields(&mut line, serde_json::to_value(plan).unwrap_or_default());
            merge_fields(
                &mut line,
                json!({
                    "expected": {
                        "played": cost.played, "pairs": cost.pairs, "episodes": cost.episodes, "calls": cost.calls, "tokens": cost.tokens,
                        "cost_nano": cost.cost_nano, "seconds": cost.seconds,
                    },
                    "detectable": {"independent": detectable.independent, "best": detectable.best},
                    "log": column.log.display().to_string(),
                }),
            );
            return self.out.print_json(&line.to_string());
        }
        for lesson in &plan.lessons {
            let solution = lesson.text.solution.as_deref().map_or_else(String::new, |s| format!(" -> {s}"));
            let (id, version) = (&lesson.id, lesson.version);
            self.note(&format!("lesson {id}, version {version}: {}{solution}", lesson.text.text));
        }
        for remark in several_lessons_remarks(plan) {
            self.note(&remark);
        }
        self.note(&format!(
            "{}: {}; arms {}",
            column_name(plan.column),
            describe_start(plan),
            plan.arms().join(", ")
        ));
        self.note(&format!("  {}", describe_cost(&cost)));
        if let Some(detectable) = describe_detectable(detectable) {
            self.note(&format!("  {detectable}"));
        }
        self.note(&format!("  {}; log {}", describe_mode(plan), column.log.display()));
        Ok(())
    }

    /// Says that the measurement waits for its model server, or that the server has answered.
    pub(super) fn on_outage(&mut self, outage: Option<&ServerOutage>) {
        match outage {
            Some(outage) => self.note(&outage.describe()),
            None => self.note("the model server answers again"),
        }
    }

    /// Prints the pairs that a record has completed.
    pub(super) fn on_record(&mut self, log: &EffectLog, record: &EffectRecord) -> Result<(), CliError> {
        let effect = log.plan().effect.clone();
        let (since, before) =
            *self.begun.entry(effect.clone()).or_insert_with(|| (Instant::now(), log.settled_pairs()));
        if let EffectRecord::Planned(_) = record {
            // Pairs of an earlier run of the command aren't printed again, except as JSON.
            if self.format != Format::Json {
                self.printed_pairs.insert(effect, log.settled_pairs());
                return Ok(());
            }
        }
        let printed = self.printed_pairs.get(&effect).copied().unwrap_or(0);
        for number in printed + 1..=log.settled_pairs() {
            let Some(pair) = log.pairs().get(&number) else { continue };
            if self.format == Format::Json {
                self.out.print_json(&pair_line(log, number, pair).to_string())?;
            }
        }
        self.printed_pairs.insert(effect, log.settled_pairs().max(printed));
        if self.format == Format::Text && matches!(record, EffectRecord::Episode(_)) {
            let (settled, all) = (log.settled_pairs(), log.last_pair());
            let column = column_name(log.plan().column);
            let played = settled.saturating_sub(before);
            let left = describe_time_left(since.elapsed(), played, all.saturating_sub(settled));
            let left = left.map_or_else(String::new, |left| format!(", {left}"));
            self.out.show_progress(&format!("{column}: pair {settled} of {all}{left}"));
        }
        Ok(())
    }

    /// Prints the results of all columns.
    pub(super) fn print_results(&mut self, measured: &[Measured]) -> Result<(), CliError> {
        // Of shards, only their logs together are judged.
        let panel = panel_verdict(measured).filter(|_| measured.iter().all(|m| m.plan.shard.is_none()));
        let sentence = match (panel, measured) {
            (Some(panel), [here, elsewhere]) => {
                let retry = "the same command plays them again";
                Some(describe_columns(panel, &here.result, &elsewhere.result, retry))
            }
            _ => None,
        };
        match self.format {
            Format::Json => {
                for Measured { plan, result } in measured {
                    self.print_verdict_lines(plan, result)?;
                }
                if let Some(panel) = panel {
                    let facts: Vec<&Option<String>> = measured.iter().map(|m| &m.result.fact).collect();
                    let line = json!({"type": "panel", "verdict": panel, "text": sentence, "facts": facts});
                    self.out.print_json(&line.to_string())?;
                }
                Ok(())
            }
            Format::Markdown => {
                let all: Vec<_> = measured.iter().map(|m| (m.plan.clone(), m.result.clone())).collect();
                self.out.print_text(&result_markdown(&all, sentence.as_deref()))
            }
            Format::Text => {
                for Measured { plan, result } in measured {
                    for line in result_lines(plan, result) {
                        self.out.print_line(&line)?;
                    }
                }
                sentence.map_or(Ok(()), |sentence| self.out.print_line(&sentence))
            }
        }
    }

    fn print_verdict_lines(&mut self, plan: &EffectPlan, result: &EffectResult) -> Result<(), CliError> {
        let judged = if plan.shard.is_some() { Vec::new() } else { sorted_contrasts(result) };
        for contrast in judged {
            let mut line = json!({"type": "verdict"});
            merge_fields(&mut line, serde_json::to_value(contrast).unwrap_or_default());
            self.out.print_json(&line.to_string())?;
        }
        let line = json!({
            "type": "summary", "effect": plan.effect, "start": plan.start, "asked": plan.asked, "settled": result.settled, "discarded": result.discarded,
            "timed_out": result.timed_out,
            "can_retry": result.can_retry, "stopped": result.stopped, "arms": result.arms, "fact": result.fact, "meaning": result.meaning, "totals": result.totals,
            "first_failed_call": result.first_failed_call, "first_discard_reason": result.first_discard_reason,
            "fixed_confidence": FIXED_CONFIDENCE, "shard_pairs": result.shard_pairs,
        });
        self.out.print_json(&line.to_string())
    }

    /// Prints a line of the plan: beside the result, not in it.
    fn note(&mut self, text: &str) {
        self.out.print_note(text);
    }
}

/// Returns a pair as one JSON object.
fn pair_line(log: &EffectLog, number: u32, pair: &PairLog) -> Value {
    let mut arms = Map::new();
    for arm in log.plan().arms() {
        let episodes: Vec<Value> =
            pair.episodes_of(arm).map(|episode| serde_json::to_value(episode).unwrap_or_default()).collect();
        arms.insert(arm.to_owned(), Value::Array(episodes));
    }
    let differences: Map<String, Value> = log
        .contrasts()
        .iter()
        .filter_map(|contrast| {
            let counted = contrast.pairs().iter().find(|counted| counted.pair == number)?;
            Some((contrast.contrast.to_string(), json!(counted.difference)))
        })
        .collect();
    let discarded = log.discarded(number).map(|discarded| discarded.reason.as_str());
    json!({
        "type": "pair", "effect": log.plan().effect, "pair": number, "arms": arms,
        "differences": differences, "discarded": discarded,
    })
}

/// Adds the fields of an object to another one.
fn merge_fields(target: &mut Value, fields: Value) {
    if let (Value::Object(target), Value::Object(fields)) = (target, fields) {
        target.extend(fields);
    }
}
