//! Metrics of sessions: success, progress, grounding; by type, difficulty, trial and round; calls and steps; the
//! aggregates of the paper DORA, section 4.2; the paper FCRF's measures of reflections. `docs/METRICS.md` defines each.
//!
//! Pure: the same sessions give the same numbers in any order. Assisted episodes are counted but excluded from every
//! rate; calibration episodes are excluded from all task counts.

mod aggregate;
mod attempts;
mod collect;
mod interval;
mod papers;
mod rates;
mod reflections;
mod render;
mod revision;

#[cfg(test)]
mod tests;

pub use aggregate::{Aggregate, Improvement, improvement};
pub use attempts::{TaskAttempts, collect_attempts, difficulty, short_type};
pub use collect::{MetricsCollector, SessionMetrics};
pub use interval::{Interval, wilson};
pub use papers::{
    PaperComparison, PaperRow, PublishedFigure, compare_with_papers, is_possible_share, published_results,
};
pub use rates::{Rates, TrialTotals};
pub use reflections::ReflectionStats;
pub use render::{Format, render_metrics};
pub use revision::RevisionCounts;

use crate::catalog::has_no_mentor;
use crate::domain::{EpisodeRole, RunSpec, SettingOrigin, Settings, TokenCounts};
use crate::engine::{PrefetchStats, first_trial_number};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The metrics of all sessions that were run with the same configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Metrics {
    /// Method, actor and mentor, in words.
    pub label: String,
    /// The actor is the rule-based actor or a recording, so the numbers don't measure a model.
    #[serde(rename = "stand_in")]
    pub has_stand_in_actor: bool,
    /// The mentor is a recording, so its replies are not a model's answers to this run.
    #[serde(rename = "mentor_stand_in")]
    pub has_stand_in_mentor: bool,
    /// Names of the sessions.
    pub sessions: Vec<String>,
    /// Sessions whose run has not ended.
    #[serde(rename = "open")]
    pub open_sessions: usize,
    /// Assisted tasks; excluded from every rate.
    pub assisted: usize,
    /// Calibration episodes; excluded from every rate.
    pub calibration: usize,
    /// Over all tasks.
    pub all: Rates,
    /// By type of task.
    pub by_type: BTreeMap<String, Rates>,
    /// By difficulty, as given in a label file; unlabelled ALFWorld tasks as AgentBoard labels them: `put` is easy, all
    /// others are hard.
    pub by_difficulty: BTreeMap<String, Rates>,
    /// Number of tasks first solved in each trial.
    pub by_trial: Vec<TrialTotals>,
    /// Number of solved tasks by the number of reflection rounds before the success.
    pub by_round: BTreeMap<u32, usize>,
    /// IQM, mean, median and optimality gap of the scores.
    pub aggregate: Option<Aggregate>,
    /// Length, recall and precision of the reflections.
    pub reflections: Option<ReflectionStats>,
    /// Tokens of all episodes by who counted them (server, proxy, estimate, ...), and the cost of the calls.
    #[serde(rename = "counted")]
    pub token_counts: TokenCounts,
    /// Prefetches; the other counts exclude unused ones.
    #[serde(skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
    /// The specification of the sessions' runs.
    #[serde(skip)]
    pub spec: Option<Arc<RunSpec>>,
    /// The sessions started with lessons from a file.
    #[serde(skip)]
    pub started_with_lessons: bool,
    /// The unassisted attempts, on which all rates are based.
    #[serde(skip)]
    pub attempts: Vec<TaskAttempts>,
}

impl Metrics {
    /// Returns the metrics of sessions, one entry per configuration, in order of first appearance.
    pub fn from_sessions(sessions: Vec<SessionMetrics>) -> Vec<Self> {
        let mut groups: Vec<(String, Vec<SessionMetrics>)> = Vec::new();
        for session in sessions {
            let key = session.spec.as_deref().map(group_key).unwrap_or_default()
                + &session.started_with_lessons.to_string();
            match groups.iter_mut().find(|g| g.0 == key) {
                Some((_, group)) => group.push(session),
                None => groups.push((key, vec![session])),
            }
        }
        let mut all: Vec<Self> = groups.into_iter().map(|g| Self::from_group(g.1)).collect();
        disambiguate_labels(&mut all);
        all
    }

    fn from_group(mut sessions: Vec<SessionMetrics>) -> Self {
        // The order of the input has no effect.
        sessions.sort_by(|a, b| a.session.cmp(&b.session));
        let spec = sessions.first().and_then(|s| s.spec.clone());
        let attempts: Vec<TaskAttempts> = sessions.iter().flat_map(collect_attempts).collect();
        let (assisted, unassisted): (Vec<_>, Vec<_>) = attempts.into_iter().partition(|a| a.assisted);
        let grouped = |key: &dyn Fn(&TaskAttempts) -> Option<String>| {
            let mut groups: BTreeMap<String, Vec<&TaskAttempts>> = BTreeMap::new();
            for attempt in &unassisted {
                if let Some(key) = key(attempt) {
                    groups.entry(key).or_default().push(attempt);
                }
            }
            groups.into_iter().map(|(k, g)| (k, Rates::from_tasks(&g))).collect()
        };
        let (actor, mentor) = spec.as_ref().map_or(("", ""), |s| (s.actor.as_str(), s.mentor.as_str()));
        let calibration_count =
            |g: &SessionMetrics| g.episodes.iter().filter(|e| e.role == EpisodeRole::Calibrate).count();
        let mut by_round = BTreeMap::new();
        for rounds in unassisted.iter().filter_map(|a| a.rounds_before_success) {
            *by_round.entry(rounds).or_insert(0) += 1;
        }
        Self {
            label: label(spec.as_deref()),
            has_stand_in_actor: is_stand_in(actor),
            has_stand_in_mentor: is_stand_in(mentor) && sessions.iter().any(|s| s.mentor_called),
            sessions: sessions.iter().map(|s| s.session.clone()).collect(),
            open_sessions: sessions.iter().filter(|s| s.open).count(),
            assisted: assisted.len(),
            calibration: sessions.iter().map(calibration_count).sum(),
            all: Rates::from_tasks(&unassisted.iter().collect::<Vec<_>>()),
            by_type: grouped(&|a| Some(a.task_type.clone())),
            by_difficulty: grouped(&|a| difficulty(&a.task).map(str::to_owned)),
            by_trial: TrialTotals::from_attempts(&unassisted),
            by_round,
            aggregate: Aggregate::from_attempts(&unassisted),
            reflections: ReflectionStats::from_sessions(&sessions),
            token_counts: sessions
                .iter()
                .flat_map(|s| &s.episodes)
                .fold(TokenCounts::default(), |sum, e| sum.plus(e.stats.token_counts)),
            prefetch: sessions.iter().fold(PrefetchStats::default(), |sum, s| sum.plus(s.prefetch)),
            started_with_lessons: sessions.iter().any(|s| s.started_with_lessons),
            spec,
            attempts: unassisted,
        }
    }
}

/// Returns the part of a specification that must be equal for two sessions to be aggregated: everything but the tasks,
/// the seed, the preset's name and the settings `from.*`, which record the run's origin.
fn group_key(spec: &RunSpec) -> String {
    let Settings(all) = &spec.settings;
    let settings: Vec<String> = all
        .iter()
        .filter(|(name, _)| !name.starts_with("from.") && *name != "preset")
        .map(|(name, s)| format!("{name}={}", s.value))
        .collect();
    format!(
        "{} {} {} {} {} {} {:?} {}",
        first_trial_number(spec).unwrap_or(1),
        spec.method,
        spec.actor,
        spec.mentor,
        spec.interface,
        spec.trials,
        spec.limits,
        settings.join(" ")
    )
}

/// Returns whether rules or a recording take the place of a model. A symbolic mentor doesn't: it is part of its method.
fn is_stand_in(role: &str) -> bool {
    role == "rules" || role.starts_with("recorded:")
}

/// Describes method, actor and mentor in words, naming everything that is not a model as such.
fn label(spec: Option<&RunSpec>) -> String {
    let Some(spec) = spec else { return "session without a run".to_owned() };
    let role = |name: &str| match name {
        "rules" => "rule-based (a stand-in, not a model)".to_owned(),
        "symbolic" => "symbolic rules (not a model)".to_owned(),
        recorded if recorded.starts_with("recorded:") => format!("{recorded} (a recording, not a model)"),
        "human" => "a person".to_owned(),
        other => other.to_owned(),
    };
    let mentor =
        if has_no_mentor(&spec.method) { String::new() } else { format!(", mentor {}", role(&spec.mentor)) };
    format!("{}, actor {}{mentor}", spec.method, role(&spec.actor))
}

/// Distinguishes entries with equal labels by their differences from the first of them.
fn disambiguate_labels(all: &mut [Metrics]) {
    for index in 1..all.len() {
        let (before, rest) = all.split_at_mut(index);
        let Some(entry) = rest.first_mut() else { break };
        let Some(first) = before.iter().find(|b| b.label == entry.label) else { continue };
        let (Some(a), Some(b)) = (&first.spec, &entry.spec) else { continue };
        let mut differences = Vec::new();
        if a.trials != b.trials {
            differences.push(format!("trials={}", b.trials));
        }
        if let Some(trial) = first_trial_number(b).filter(|_| first_trial_number(a) != first_trial_number(b))
        {
            differences.push(format!("trial {trial} only"));
        }
        if a.limits.steps != b.limits.steps {
            differences.push(format!("steps={}", b.limits.steps));
        }
        if first.started_with_lessons != entry.started_with_lessons {
            differences.push(format!("pool={}", if entry.started_with_lessons { "given" } else { "empty" }));
        }
        let changed = b.settings.0.iter().filter(|(name, s)| {
            !name.starts_with("from.")
                && s.origin != SettingOrigin::Person
                && a.settings.0.get(*name).map(|x| &x.value) != Some(&s.value)
        });
        differences.extend(changed.map(|(name, s)| format!("{name}={}", s.value).replace('"', "")));
        entry.label = format!("{} [{}]", entry.label, differences.join(" "));
    }
}
