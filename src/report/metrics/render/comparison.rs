//! What configurations have to do with each other: reflections against attempts without any, settings that differ, and cost.

use super::{
    Format, MAX_LISTED, Metrics, POINT_HEAD, Table, escape_line, format_interval, format_percent_interval,
    name_tasks, trial_point, write_table,
};
use crate::domain::AdviceCounts;
use crate::report::metrics::{AdviceComparison, LeftOutReason, compare_advice};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How a comparison of steps must be read.
const ADVICE_NOTE: &str = "Environment steps up to the first success; an unsolved task counts all steps that it was allowed. An observation \
                           per task, not a verdict.";

/// Writes everything about several configurations together.
pub(super) fn write_comparisons(out: &mut String, format: Format, all: &[Metrics]) {
    if all.len() > 1 {
        write_table(out, format, &efficiency_table(all));
    }
    for (base, group) in by_base_label(all) {
        let _ = writeln!(out, "Success by setting: {}", escape_line(format, base));
        end_paragraph(out, format);
        write_table(out, format, &settings_table(&group));
    }
    for (with, without, result) in advice_comparisons(all) {
        match result {
            Ok(comparison) => write_advice(out, format, (with, without), &comparison),
            Err(differences) => {
                let _ = writeln!(
                    out,
                    "Steps not compared: {} and {} also differ in {}.\n",
                    escape_line(format, &with.label),
                    escape_line(format, &without.label),
                    differences.join(", ")
                );
            }
        }
    }
}

/// Returns success against calls, one series per configuration (the figure on call efficiency in OmniReflect's paper).
fn efficiency_table(all: &[Metrics]) -> Table {
    let rows = all.iter().flat_map(|metrics| {
        metrics.by_trial.iter().map(|trial| {
            let mut row = vec![metrics.label.clone(), trial.trial.to_string()];
            row.extend(trial_point(metrics, trial));
            row
        })
    });
    let mut head = vec!["call efficiency", "trial"];
    head.extend(POINT_HEAD);
    Table { head, rows: rows.collect() }
}

/// Returns the configurations that differ in settings alone, by the label that they share.
fn by_base_label(all: &[Metrics]) -> BTreeMap<&str, Vec<&Metrics>> {
    let mut groups: BTreeMap<&str, Vec<&Metrics>> = BTreeMap::new();
    for metrics in all.iter().filter(|metrics| !metrics.differing_settings.is_empty()) {
        groups.entry(metrics.base_label()).or_default().push(metrics);
    }
    groups
}

/// Returns success by the values of the settings that differ (DORA, figures 7 and 8), numbers in ascending order.
fn settings_table(group: &[&Metrics]) -> Table {
    let mut sorted = group.to_vec();
    let number = |value: &str| value.parse::<f64>().unwrap_or(f64::INFINITY);
    sorted.sort_by(|a, b| {
        let values = a.differing_settings.values().zip(b.differing_settings.values());
        let by_value = values.map(|(a, b)| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
        by_value.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let rows = sorted.into_iter().map(|metrics| {
        vec![
            metrics.format_differing_settings(),
            metrics.all.tasks.to_string(),
            metrics.all.solved.to_string(),
            metrics.all.success.as_ref().map_or_else(|| "-".to_owned(), format_percent_interval),
            metrics.aggregate.as_ref().map_or_else(|| "-".to_owned(), |a| format_interval(&a.mean)),
        ]
    });
    let head = vec!["setting", "tasks", "solved", "success % (95 %)", "mean score (95 %)"];
    Table { head, rows: rows.collect() }
}

type AdviceResult<'a> = (&'a Metrics, &'a Metrics, Result<AdviceComparison, Vec<&'static str>>);

/// Compares each configuration that reflects with each that doesn't.
fn advice_comparisons(all: &[Metrics]) -> Vec<AdviceResult<'_>> {
    let pairs = all.iter().flat_map(|with| all.iter().map(move |without| (with, without)));
    pairs.filter_map(|(with, without)| Some((with, without, compare_advice(with, without)?))).collect()
}

/// Writes DORA's figure 6 for two configurations.
fn write_advice(
    out: &mut String,
    format: Format,
    (with, without): (&Metrics, &Metrics),
    comparison: &AdviceComparison,
) {
    let _ = writeln!(
        out,
        "Reflections against as many attempts without: {} against {}, at most {} a task",
        escape_line(format, &with.label),
        escape_line(format, &without.label),
        if comparison.attempts == 1 {
            "1 attempt".to_owned()
        } else {
            format!("{} attempts", comparison.attempts)
        }
    );
    let _ = writeln!(out, "{ADVICE_NOTE}");
    if comparison.other_seeds > 0 {
        let _ = writeln!(out, "Pairs whose runs have different seeds: {}.", comparison.other_seeds);
    }
    for (reason, tasks) in left_out_by_reason(comparison) {
        let line = format!("Left out, {}: {}.", reason.describe(), name_tasks(tasks.iter()));
        let _ = writeln!(out, "{}", escape_line(format, &line));
    }
    end_paragraph(out, format);
    write_table(out, format, &counts_table(comparison.counts));
    write_table(out, format, &pairs_table(comparison));
    if comparison.pairs.len() > MAX_LISTED {
        let _ = writeln!(out, "{} more tasks; --json has all.\n", comparison.pairs.len() - MAX_LISTED);
    }
}

fn counts_table(counts: AdviceCounts) -> Table {
    let rows = counts.by_effect().into_iter().filter(|_| counts.total() > 0).map(|(effect, pairs)| {
        vec![effect.name().to_owned(), pairs.to_string(), format!("{:.1}", share(pairs, counts) * 100.0)]
    });
    Table { head: vec!["reflections", "tasks", "share %"], rows: rows.collect() }
}

fn share(pairs: u64, counts: AdviceCounts) -> f64 {
    pairs as f64 / counts.total().max(1) as f64
}

fn pairs_table(comparison: &AdviceComparison) -> Table {
    let several = duplicate_ids(comparison.pairs.iter().map(|pair| pair.task.as_str()));
    let rows = comparison.pairs.iter().take(MAX_LISTED).map(|pair| {
        let is_several = several.contains(pair.task.as_str());
        vec![
            if is_several { format!("{} (seed {})", pair.task, pair.seed) } else { pair.task.clone() },
            pair.steps_with.to_string(),
            pair.steps_without.to_string(),
            pair.effect.name().to_owned(),
        ]
    });
    Table { head: vec!["task", "steps with", "steps without", "reflections"], rows: rows.collect() }
}

/// Returns the ids that occur several times, so that a seed must tell the tasks apart.
fn duplicate_ids<'a>(ids: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut known = BTreeSet::new();
    ids.filter(|id| !known.insert(*id)).collect()
}

fn left_out_by_reason(comparison: &AdviceComparison) -> BTreeMap<LeftOutReason, Vec<String>> {
    let mut all: BTreeMap<LeftOutReason, Vec<String>> = BTreeMap::new();
    for run in &comparison.left_out {
        all.entry(run.reason).or_default().push(run.task.clone());
    }
    all
}

/// Returns the comparisons of steps for the JSON document.
pub(super) fn advice_values(all: &[Metrics]) -> Vec<Value> {
    let value = |(with, without, result): AdviceResult<'_>| match result {
        Ok(comparison) => {
            let counts = comparison.counts;
            let shares: BTreeMap<&str, f64> =
                counts.by_effect().map(|(effect, pairs)| (effect.name(), share(pairs, counts))).into();
            json!({
                "of": with.label, "over": without.label, "comparison": comparison, "shares": shares, "note": ADVICE_NOTE,
            })
        }
        Err(differences) => json!({"of": with.label, "over": without.label, "differences": differences}),
    };
    advice_comparisons(all).into_iter().map(value).collect()
}

/// Returns success by the settings that differ, for the JSON document.
pub(super) fn settings_values(all: &[Metrics]) -> Vec<Value> {
    let group_value = |(base, group): (&str, Vec<&Metrics>)| {
        let row = |metrics: &&Metrics| {
            json!({
                "settings": metrics.differing_settings, "tasks": metrics.all.tasks, "solved": metrics.all.solved,
                "success": metrics.all.success, "mean": metrics.aggregate.as_ref().map(|a| &a.mean),
            })
        };
        json!({"label": base, "values": group.iter().map(row).collect::<Vec<_>>()})
    };
    by_base_label(all).into_iter().map(group_value).collect()
}

/// Ends a paragraph before a table, which Markdown needs.
fn end_paragraph(out: &mut String, format: Format) {
    if format == Format::Markdown {
        out.push('\n');
    }
}
