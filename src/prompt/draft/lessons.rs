//! Chooses the lessons of a prompt.

use super::DraftBuilder;
use crate::domain::{DroppedSegment, Lesson, LessonOrigin, LessonStatus, SegmentOrigin};
use crate::prompt::templates::{Content, LessonFilter, MaxCount, SegmentTemplate, StoredText};
use std::collections::BTreeMap;

impl<'a> DraftBuilder<'a> {
    /// Chooses which lessons to leave out so that the others fit in the budget: the oldest first, but none that a person
    /// wrote, edited or pinned.
    pub(super) fn limit_lessons(&mut self, parts: &[SegmentTemplate], budget: u64) {
        if budget == 0 {
            return;
        }
        let max_tokens = self.state.to_estimated_tokens(self.record.role, budget);
        let active = self.state.pool.all().filter(|lesson| lesson.is_active());
        let all: u64 = active.map(|lesson| u64::from(self.cache.lesson_line(lesson).tokens)).sum();
        // Nearly always, and then nothing has to be chosen.
        if all <= max_tokens {
            return;
        }
        let mut lessons: BTreeMap<u32, &Lesson> = BTreeMap::new();
        for part in parts {
            if part.condition.as_ref().is_some_and(|condition| !condition.is_met(self.state)) {
                continue;
            }
            if let Content::Lessons(filter) = &part.content {
                lessons.extend(self.select_lessons(part, filter).into_iter().map(|l| (l.number, l)));
            }
        }
        let mut total: u64 = lessons.values().map(|l| u64::from(self.cache.lesson_line(l).tokens)).sum();
        for lesson in lessons.into_values() {
            if total <= max_tokens {
                break;
            }
            let is_a_persons = lesson.origin == LessonOrigin::Person || lesson.edited_by_person;
            if is_a_persons || lesson.status == LessonStatus::Pinned {
                continue;
            }
            let tokens = self.cache.lesson_line(lesson).tokens;
            total -= u64::from(tokens);
            self.omitted_lessons.insert(lesson.id.clone());
            self.record.dropped.push(DroppedSegment {
                origin: SegmentOrigin::Lesson { id: lesson.id.clone(), version: lesson.version() },
                reason: format!(
                    "the lessons don't fit in their budget of {budget} tokens, and it is the oldest"
                ),
                tokens,
            });
        }
    }

    /// Returns the lessons that an entry shows, if none is left out.
    fn select_lessons(&self, part: &SegmentTemplate, filter: &LessonFilter) -> Vec<&'a Lesson> {
        let state = self.state;
        let kinds = filter.kinds_under(part.label);
        let max_count = match filter.max_count {
            None => usize::MAX,
            Some(MaxCount::Number(count)) => count as usize,
            Some(MaxCount::Setting(setting)) => self.count_setting(setting).unwrap_or(usize::MAX),
        };
        let is_included = |l: &&Lesson| {
            !state.is_out_of_scope(l)
                && filter.scope.is_none_or(|scope| l.scope == scope)
                && (!filter.this_episode_only || l.learnt_at.0 == self.episode.number)
        };
        let mut shown: Vec<&Lesson> = Vec::new();
        for kind in kinds {
            let of_kind: Vec<&Lesson> = state.pool.active_of_kind(kind).filter(is_included).collect();
            let first = if filter.grouped_by_episode { 0 } else { of_kind.len().saturating_sub(max_count) };
            shown.extend(&of_kind[first..]);
        }
        if filter.grouped_by_episode {
            shown.sort_by_key(|l| l.learnt_at.0);
            let mut episodes: Vec<u32> = shown.iter().map(|l| l.learnt_at.0).collect();
            episodes.dedup();
            let omitted = episodes.len().saturating_sub(max_count);
            shown.retain(|l| !episodes[..omitted].contains(&l.learnt_at.0));
        }
        shown
    }

    pub(super) fn add_lessons(&mut self, part: &SegmentTemplate, filter: &LessonFilter) {
        let mut shown = self.select_lessons(part, filter);
        shown.retain(|lesson| !self.omitted_lessons.contains(&lesson.id));
        let mut heading = filter.heading.as_ref();
        let (mut number, mut last_group) = (filter.first_number, None);
        for (index, lesson) in shown.into_iter().enumerate() {
            if let Some(heading) = heading.take() {
                self.add_text(part, heading);
            }
            let group = if filter.grouped_by_episode { lesson.learnt_at.0 as usize } else { index };
            if last_group.replace(group) != Some(group) {
                if let Some(text) = &filter.number_text {
                    self.add_text(part, &StoredText::new(&text.replacen("{}", &number.to_string(), 1)));
                }
                number += 1;
            }
            if let Some(label) = filter.labels.get(&lesson.kind) {
                self.add_text(part, label);
            }
            let origin = SegmentOrigin::Lesson { id: lesson.id.clone(), version: lesson.version() };
            let tokens = self.cache.lesson_line(lesson).tokens;
            self.push_record(part, origin, tokens);
        }
    }
}
