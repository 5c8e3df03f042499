//! The size of the constitution, and how many of the mentor's replies could be read (OmniReflect, appendix A.2).

use super::interval::mean;
use super::{ConstitutionSize, SessionMetrics};
use crate::domain::{Author, Purpose, Reflection, ReflectionKind};
use serde::Serialize;

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
        let progress = reflections().filter(|reflection| reflection.kind == ReflectionKind::Progress);
        let progress: usize = progress.map(|reflection| reflection.items.len()).sum();
        let episodes: usize = sessions.iter().map(|session| session.episodes.len()).sum();
        let stats = Self {
            abstract_lessons: size(|size| size.abstract_lessons),
            error_lessons: size(|size| size.error_lessons),
            progress_per_episode: progress as f64 / episodes.max(1) as f64,
            replies: replies().count(),
            malformed: malformed().count(),
            unreadable: malformed()
                .filter(|reply| reply.items.is_empty() && reply.dropped.is_empty())
                .count(),
        };
        let has_lessons = stats.abstract_lessons + stats.error_lessons > 0.0;
        (has_lessons || stats.replies > 0).then_some(stats)
    }

    /// Returns a part of the replies as a share, or `None` if there are none.
    pub(super) fn share_of_replies(&self, part: usize) -> Option<f64> {
        (self.replies > 0).then(|| part as f64 / self.replies as f64)
    }
}
