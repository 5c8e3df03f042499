//! Metrics of sessions: success, progress, grounding; by type, difficulty, trial and round; calls and steps; the
//! aggregates of the paper DORA, section 4.2; the paper FCRF's measures of reflections. `docs/METRICS.md` defines each.
//!
//! Pure: the same sessions give the same numbers in any order. Assisted episodes are counted but excluded from every
//! rate; calibration episodes, and those at which the environment failed, are excluded from all task counts.

mod advice;
mod aggregate;
mod attempts;
mod collect;
mod constitution;
mod interval;
mod papers;
mod plan_actions;
mod rates;
mod reflections;
mod render;
mod revision;

#[cfg(test)]
mod tests;

pub use advice::{AdviceComparison, AdvicePair, LeftOut, LeftOutReason, compare_advice};
pub use aggregate::{Aggregate, Improvement, improvement};
pub use attempts::{RewardRange, TaskAttempts, collect_attempts, difficulty, reward_ranges, short_type};
pub use collect::{ConstitutionSize, MetricsCollector, SessionMetrics};
pub use constitution::ConstitutionStats;
pub use interval::{Interval, wilson};
pub use papers::{PaperComparison, RowComparison, compare_with_papers};
pub use rates::{Rates, TrialTotals};
pub use reflections::{ReflectionStats, TrialRevision};
pub use render::{Format, render_metrics};
pub use revision::RevisionCounts;

use crate::catalog::{run_asks_actor, run_roles};
use crate::domain::{
    EpisodeRole, ModelRole, PLACE_PREFIX, PRESET_SETTING, RoleSource, RunSpec, SampleStats, TokenCounts,
};
use crate::engine::PrefetchStats;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The metrics of all sessions that were run with the same configuration.
#[derive(Clone, Debug, Serialize)]
pub struct Metrics {
    /// Method, actor and mentor, in words.
    pub label: String,
    /// An actor is asked, and it is the rule-based actor or a recording, so the numbers don't measure a model.
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
    /// Episodes that ended because the environment failed; excluded from every rate.
    pub env_failures: usize,
    /// The tasks of these episodes, by id, without repeats.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub env_failed_tasks: BTreeSet<String>,
    /// Over all tasks.
    pub all: Rates,
    /// By type of task.
    pub by_type: BTreeMap<String, Rates>,
    /// By difficulty, as given in a label file; tasks without a label as the entry of
    /// their environment rates them.
    pub by_difficulty: BTreeMap<String, Rates>,
    /// The results of each trial, and what they cost.
    pub by_trial: Vec<TrialTotals>,
    /// Number of solved tasks by the number of reflection rounds before the success.
    pub by_round: BTreeMap<u32, usize>,
    /// Number of solved tasks by the attempt that solved them, counted from 1 over all attempts at the task.
    pub by_attempt: BTreeMap<u32, usize>,
    /// How the rewards of the attempts are spread.
    pub rewards: Vec<RewardRange>,
    /// IQM, mean, median and optimality gap of the scores.
    pub aggregate: Option<Aggregate>,
    /// Length, recall and precision of the reflections.
    pub reflections: Option<ReflectionStats>,
    /// The size of the constitution, and the mentor's replies.
    pub constitution: Option<ConstitutionStats>,
    /// Tokens of all episodes by who counted them (server, proxy, estimate, ...), and the cost of the calls.
    #[serde(rename = "counted")]
    pub token_counts: TokenCounts,
    /// Prefetches; the other counts exclude unused ones.
    #[serde(skip_serializing_if = "PrefetchStats::is_empty")]
    #[serde(rename = "ahead")]
    pub prefetch: PrefetchStats,
    /// Samples that a person requested; the other counts exclude them.
    #[serde(skip_serializing_if = "SampleStats::is_empty")]
    pub samples: SampleStats,
    /// The settings that differ among configurations with the same label, by name, with this one's values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub differing_settings: BTreeMap<String, String>,
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
        let mut groups: Vec<(Configuration, Vec<SessionMetrics>)> = Vec::new();
        for session in sessions {
            let key = configuration(&session);
            match groups.iter_mut().find(|g| g.0 == key) {
                Some((_, group)) => group.push(session),
                None => groups.push((key, vec![session])),
            }
        }
        let (configurations, sessions): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let mut all: Vec<Self> = sessions.into_iter().map(Self::from_group).collect();
        disambiguate_labels(&mut all, &configurations);
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
        let actor_is_stand_in =
            |spec: &RunSpec| spec.role_source(ModelRole::Actor).is_stand_in() && run_asks_actor(spec);
        let mentor_is_stand_in =
            spec.as_ref().is_some_and(|s| s.role_source(ModelRole::Mentor).is_stand_in());
        let calibration_count =
            |g: &SessionMetrics| g.episodes.iter().filter(|e| e.role == EpisodeRole::Calibrate).count();
        let env_failures: Vec<_> = sessions
            .iter()
            .flat_map(|session| &session.episodes)
            .filter(|episode| episode.reason.is_env_failure())
            .collect();
        let mut by_round = BTreeMap::new();
        for rounds in unassisted.iter().filter_map(|a| a.rounds_before_success) {
            *by_round.entry(rounds).or_insert(0) += 1;
        }
        let mut by_attempt = BTreeMap::new();
        for attempt in unassisted.iter().filter_map(TaskAttempts::first_success) {
            *by_attempt.entry(attempt).or_insert(0) += 1;
        }
        Self {
            label: label(spec.as_deref()),
            has_stand_in_actor: spec.as_deref().is_some_and(actor_is_stand_in),
            has_stand_in_mentor: mentor_is_stand_in && sessions.iter().any(|s| s.mentor_called),
            sessions: sessions.iter().map(|s| s.session.clone()).collect(),
            open_sessions: sessions.iter().filter(|s| s.open).count(),
            assisted: assisted.len(),
            calibration: sessions.iter().map(calibration_count).sum(),
            env_failures: env_failures.len(),
            env_failed_tasks: env_failures.iter().map(|episode| episode.task.id.clone()).collect(),
            all: Rates::from_tasks(&unassisted.iter().collect::<Vec<_>>()),
            by_type: grouped(&|a| Some(a.task_type.clone())),
            by_difficulty: grouped(&|a| difficulty(&a.task).map(str::to_owned)),
            by_trial: TrialTotals::from_attempts(&unassisted),
            by_round,
            by_attempt,
            rewards: reward_ranges(&unassisted),
            aggregate: Aggregate::from_attempts(&unassisted),
            reflections: ReflectionStats::from_sessions(&sessions),
            constitution: ConstitutionStats::from_sessions(&sessions),
            token_counts: sessions
                .iter()
                .flat_map(|s| &s.episodes)
                .fold(TokenCounts::default(), |sum, e| sum.plus(e.stats.token_counts)),
            prefetch: sessions.iter().fold(PrefetchStats::default(), |sum, s| sum.plus(s.prefetch)),
            samples: sessions.iter().fold(SampleStats::default(), |sum, s| sum.plus(s.samples)),
            started_with_lessons: sessions.iter().any(|s| s.started_with_lessons),
            differing_settings: BTreeMap::new(),
            spec,
            attempts: unassisted,
        }
    }
}

impl Metrics {
    /// Formats the settings that differ among configurations with the same label: `alpha=20 trials=3`.
    fn format_differing_settings(&self) -> String {
        let values = self.differing_settings.iter().map(|(name, value)| format!("{name}={value}"));
        values.collect::<Vec<_>>().join(" ")
    }

    /// Returns the label without the settings that differ.
    fn base_label(&self) -> &str {
        let suffix = format!(" [{}]", self.format_differing_settings());
        self.label.strip_suffix(&suffix).unwrap_or(&self.label)
    }
}

/// What must be equal for two sessions to be aggregated, by name.
type Configuration = BTreeMap<String, String>;

/// Returns the configuration of a session: everything but the tasks, the seed, the preset's name, who would fill a role that
/// the run doesn't have, and the settings `from.*`, which record the run's origin.
fn configuration(session: &SessionMetrics) -> Configuration {
    let mut all = Configuration::new();
    if let Some(spec) = session.spec.as_deref() {
        let settings = &spec.settings;
        let settings =
            settings.iter().filter(|(name, _)| !name.starts_with(PLACE_PREFIX) && *name != PRESET_SETTING);
        all.extend(settings.map(|(name, s)| (name.to_owned(), s.value.to_string().replace('"', ""))));
        let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |n| n.to_string());
        let fields = [
            ("method", spec.method.clone()),
            ("interface", spec.interface.word().to_owned()),
            ("trials", spec.trials.to_string()),
            ("first_trial", spec.settings.typed().place.first_trial.unwrap_or(1).to_string()),
            ("steps", spec.limits.steps.to_string()),
            ("moves", limit(spec.limits.moves.map(u64::from))),
            ("wall_seconds", limit(spec.limits.wall_seconds)),
        ];
        all.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        all.extend(run_roles(spec).map(|(role, who)| (role.to_owned(), who.to_owned())));
    }
    let pool = if session.started_with_lessons { "given" } else { "empty" };
    all.insert("pool".to_owned(), pool.to_owned());
    all
}

/// Describes the method and the run's roles in words, naming everything that is not a model as such.
fn label(spec: Option<&RunSpec>) -> String {
    let Some(spec) = spec else { return "session without a run".to_owned() };
    let describe = |name: &str| match RoleSource::parse(name) {
        RoleSource::Rules => "rule-based (a stand-in, not a model)".to_owned(),
        RoleSource::Symbolic => "symbolic rules (not a model)".to_owned(),
        RoleSource::Recording(_) => format!("{name} (a recording, not a model)"),
        RoleSource::Person => "a person".to_owned(),
        _ => name.to_owned(),
    };
    let roles = run_roles(spec).map(|(role, who)| format!(", {role} {}", describe(who)));
    [spec.method.clone()].into_iter().chain(roles).collect()
}

/// Adds to equal labels whatever differs among their configurations. Every label states its own values, so that none
/// has to be read together with another.
fn disambiguate_labels(all: &mut [Metrics], configurations: &[Configuration]) {
    let labels: Vec<String> = all.iter().map(|metrics| metrics.label.clone()).collect();
    for (entry, own) in all.iter_mut().zip(configurations) {
        let others = labels.iter().zip(configurations).filter(|(label, _)| **label == entry.label);
        let others: Vec<&Configuration> = others.map(|(_, other)| other).collect();
        let names: BTreeSet<&String> = others.iter().flat_map(|other| other.keys()).collect();
        let differs = |name: &&String| others.iter().any(|other| other.get(*name) != own.get(*name));
        let value = |name: &String| own.get(name).map_or("unset", String::as_str).to_owned();
        entry.differing_settings =
            names.into_iter().filter(differs).map(|name| (name.clone(), value(name))).collect();
        let values = entry.format_differing_settings();
        if !values.is_empty() {
            entry.label = format!("{} [{values}]", entry.label);
        }
    }
}
