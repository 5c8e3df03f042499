//! The size of the constitution, and how many of the mentor's replies could be read (OmniReflect, appendix A.2).

use super::interval::mean;
use super::{ConstitutionSize, SessionMetrics};
use crate::domain::{Author, Purpose, Reflection, ReflectionKind};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a mentor wrote, and the constitution that came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConstitutionStats {
    /// Mean number of Abstract lessons at the end of a session.
    #[serde(rename = "abstract")]
    pub abstract_lessons: f64,
    /// Mean number of Error lessons at the end of a session.
    #[serde(rename = "error")]
    pub error_lessons: f64,
    /// Mean number of Progress items written in an episode.
    #[serde(rename = "progress_an_episode")]
    pub progress_per_episode: f64,
    /// Whether there are lessons or reflections of these kinds; a method with kinds of its own has none.
    #[serde(skip)]
    pub has_constitution_kinds: bool,
    /// Mean number of items of other kinds written in an episode.
    #[serde(rename = "other_items_an_episode", skip_serializing_if = "BTreeMap::is_empty")]
    pub other_items_per_episode: BTreeMap<&'static str, f64>,
    /// Replies of the mentor.
    pub replies: usize,
    /// Replies of which a part could not be read; includes the unreadable ones.
    pub malformed: usize,
    /// Replies of which nothing could be read.
    pub unreadable: usize,
}

/// Returns whether a reply is a summary that could be read completely and lost too much of the list. Its lines were dropped
/// for that reason alone, which is its only complaint.
fn is_short_summary(reply: &Reflection) -> bool {
    reply.purpose == Purpose::Summarise
        && reply.truncated.is_none()
        && reply.complaints.len() == 1
        && !reply.dropped.is_empty()
}

impl ConstitutionStats {
    /// Computes the statistics of these sessions. Returns `None` if they have no constitution and no mentor replied.
    pub(super) fn from_sessions(sessions: &[SessionMetrics]) -> Option<Self> {
        let reflections = || sessions.iter().flat_map(|session| &session.reflections);
        let replies = || reflections().filter(|reflection| reflection.author == Author::Mentor);
        let malformed = || {
            replies().filter(|reflection| !reflection.complaints.is_empty() && !is_short_summary(reflection))
        };
        let size = |lessons: fn(&ConstitutionSize) -> usize| {
            mean(sessions.iter().map(|session| lessons(&session.constitution) as f64)).unwrap_or(0.0)
        };
        let episodes: usize = sessions.iter().map(|session| session.episodes.len()).sum();
        let mut items: BTreeMap<&'static str, usize> = BTreeMap::new();
        for reflection in reflections() {
            *items.entry(reflection.kind.name()).or_default() += reflection.items.len();
        }
        let per_episode = |items: usize| items as f64 / episodes.max(1) as f64;
        let [of_abstract, of_error, of_progress] =
            [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress]
                .map(|kind| items.remove(kind.name()));
        let mut stats = Self {
            abstract_lessons: size(|size| size.abstract_lessons),
            error_lessons: size(|size| size.error_lessons),
            progress_per_episode: per_episode(of_progress.unwrap_or(0)),
            has_constitution_kinds: [of_abstract, of_error, of_progress].iter().any(Option::is_some),
            other_items_per_episode: items
                .into_iter()
                .map(|(kind, items)| (kind, per_episode(items)))
                .collect(),
            replies: replies().count(),
            malformed: malformed().count(),
            unreadable: malformed()
                .filter(|reply| reply.items.is_empty() && reply.dropped.is_empty())
                .count(),
        };
        let has_lessons = stats.abstract_lessons + stats.error_lessons > 0.0;
        stats.has_constitution_kinds |= has_lessons;
        (has_lessons || stats.replies > 0).then_some(stats)
    }

    /// Returns a part of the replies as a share, or `None` if there are none.
    pub(super) fn share_of_replies(&self, part: usize) -> Option<f64> {
        (self.replies > 0).then(|| part as f64 / self.replies as f64)
    }
}
