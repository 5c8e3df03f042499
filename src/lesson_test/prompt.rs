//! The prompt of a test, and the exchange of its lessons.

use super::is_lesson_label;
use crate::domain::{LessonId, MessageRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A segment of a test's prompt, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSegment {
    pub label: SegmentLabel,
    pub role: MessageRole,
    pub text: String,
    /// The lesson that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lesson: Option<LessonId>,
}

impl TestSegment {
    /// Returns a rendered segment as a test keeps it.
    pub fn from_segment(segment: &Segment) -> Self {
        let lesson = match &segment.origin {
            SegmentOrigin::Lesson { id, .. } => Some(id.clone()),
            _ => None,
        };
        let (label, role) = (segment.label, segment.message_role);
        Self { label, role, text: segment.text.to_string(), lesson }
    }

    fn to_segment(&self) -> Segment {
        let origin = match &self.lesson {
            Some(id) => SegmentOrigin::Lesson { id: id.clone(), version: 1 },
            None => SegmentOrigin::Text(Arc::from("")),
        };
        Segment { label: self.label, origin, message_role: self.role, text: Arc::from(self.text.as_str()) }
    }
}

/// Returns the prompt of a test. With `drafted`, the prompt that the same run would send with other lessons, its lessons and
/// their headings take the place of those of the test; everything else remains.
pub fn replace_lessons(kept: &[TestSegment], drafted: Option<&Prompt>) -> Prompt {
    let Some(drafted) = drafted else {
        return Prompt { segments: kept.iter().map(TestSegment::to_segment).collect() };
    };
    let new: Vec<Segment> =
        drafted.segments.iter().filter(|segment| is_lesson_label(segment.label)).cloned().collect();
    // Where the lessons were; a prompt without any gets them behind what precedes them in the drafted one.
    let at = kept.iter().position(|segment| is_lesson_label(segment.label)).unwrap_or_else(|| {
        let first = drafted.segments.iter().position(|segment| is_lesson_label(segment.label));
        let before = first.and_then(|first| first.checked_sub(1)).map(|at| drafted.segments[at].label);
        let last = before.and_then(|label| kept.iter().rposition(|segment| segment.label == label));
        last.map_or(0, |last| last + 1)
    });
    let rest = |segment: &&TestSegment| !is_lesson_label(segment.label);
    let mut segments: Vec<Segment> = kept[..at].iter().map(TestSegment::to_segment).collect();
    segments.extend(new);
    segments.extend(kept[at..].iter().filter(rest).map(TestSegment::to_segment));
    Prompt { segments }
}
