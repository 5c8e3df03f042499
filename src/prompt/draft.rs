//! Drafts the record of a prompt: chooses its segments, in order, within the budget.

use super::cache::PromptCache;
use super::interface::OtherWording;
use super::render::{body_hash, dropped_steps, render_with};
use super::templates::{Content, Fact, LessonFilter, SegmentTemplate, StoredText};
use super::{Templates, forms};
use crate::domain::common_settings::{CONTEXT_TOKENS, EXAMPLES, LESSON_TOKENS, LESSONS_BY_SCOPE};
use crate::domain::{
    DroppedSegment, Lesson, LessonId, LessonOrigin, LessonStatus, MessageRole, ModelRole, PromptRecord,
    Purpose, ReflectionKind, Scope, SegmentLabel, SegmentOrigin, SegmentRecord, TextForms,
    round_to_thousandths,
};
use crate::engine::{Episode, PromptDraft, PromptRequest, State};
use std::collections::{BTreeMap, HashSet};

/// Drafts the requested prompt and stores it, rendered, as the cache's last draft.
pub(super) fn draft(
    state: &State,
    request: &PromptRequest,
    templates: &Templates,
    cache: &mut PromptCache,
) -> PromptDraft {
    let (Some(run), Some(episode)) = (state.run.as_deref(), state.episode.as_deref()) else {
        return PromptDraft::default();
    };
    cache.set_version(TextForms::CURRENT);
    let mut builder = DraftBuilder {
        state,
        episode,
        cache,
        record: PromptRecord::default(),
        texts: Vec::new(),
        steps_position: None,
        omitted_lessons: HashSet::new(),
    };
    builder.record.text_forms = TextForms::CURRENT;
    builder.record.role = request.role;
    builder.record.episode = episode.number;
    builder.record.step = request.step;
    builder.record.retry = request.retry;
    builder.record.question = request.question;
    let method = templates.layout_method(&run.method, episode.role);
    let layout = match request.question {
        None => Some(templates.layout(method)),
        Some(question) => templates.question_layout(method, question),
    };
    let parts = layout.map_or(&[][..], |l| &l.segments);
    // A summary must see the whole list.
    if request.question.is_none_or(|question| question.purpose != Purpose::Summarise) {
        builder.limit_lessons(parts, state.setting(LESSON_TOKENS));
    }
    for part in parts {
        builder.add_segment(part, request, templates);
    }
    builder.fit_steps(state.setting(CONTEXT_TOKENS));
    builder.finish()
}

struct DraftBuilder<'a> {
    state: &'a State,
    episode: &'a Episode,
    cache: &'a mut PromptCache,
    record: PromptRecord,
    texts: Vec<StoredText>,
    /// Index of the steps among the segments, and the role of their messages.
    steps_position: Option<(usize, MessageRole)>,
    /// Lessons left out because all of them together exceed their budget.
    omitted_lessons: HashSet<LessonId>,
}

impl<'a> DraftBuilder<'a> {
    fn add_segment(&mut self, part: &SegmentTemplate, request: &PromptRequest, templates: &Templates) {
        if part.condition.as_ref().is_some_and(|condition| !condition.is_met(self.state)) {
            return;
        }
        match &part.content {
            Content::Text(text) => self.add_text(part, text),
            Content::EnvText(name) => {
                let task = &self.episode.task;
                if let Some(text) = templates.env_texts(&task.env).text(name, task) {
                    self.add_text(part, text);
                }
            }
            Content::Fact(fact, template) => {
                if let Some(value) = self.fact_text(*fact) {
                    self.add_text(part, &StoredText::new(&template.replacen("{}", &value, 1)));
                }
            }
            Content::Lessons(filter) => self.add_lessons(part, filter),
            Content::LastAttempt(heading) => self.add_last_attempt(part, heading.as_ref()),
            Content::Examples(heading) => {
                let count = self.state.setting(EXAMPLES).min(2) as usize;
                let env_texts = templates.env_texts(&self.episode.task.env);
                let in_other_wording =
                    env_texts.other_wording.is_some_and(|wording| is_used_in(wording, self.episode));
                let chosen = env_texts.examples_for(&self.episode.task, count, in_other_wording);
                if let (Some(heading), false) = (heading, chosen.is_empty()) {
                    self.add_text(part, heading);
                }
                for example in chosen {
                    self.add_text(part, example);
                }
            }
            Content::Task(heading) => {
                if let Some(heading) = heading {
                    self.add_text(part, heading);
                }
                let tokens = forms::estimate_tokens(&forms::task_text(self.episode));
                self.push_record(part, SegmentOrigin::Task, tokens);
            }
            Content::Steps => self.steps_position = Some((self.record.segments.len(), part.message_role)),
            Content::Rejections(heading) => {
                let Some(step) = self.episode.step(request.step).filter(|s| !s.rejections.is_empty()) else {
                    return;
                };
                if let Some(heading) = heading {
                    self.add_text(part, heading);
                }
                for (proposal, reason) in &step.rejections {
                    let tokens = forms::estimate_tokens(&forms::rejection_line(proposal, reason));
                    self.push_record(part, SegmentOrigin::Step(step.number), tokens);
                }
            }
        }
    }

    /// Chooses which lessons to leave out so that the others fit in the budget: the oldest first, but none that a person
    /// wrote, edited or pinned.
    fn limit_lessons(&mut self, parts: &[SegmentTemplate], budget: u64) {
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
        let by_scope = state.setting(LESSONS_BY_SCOPE);
        let kinds = if filter.kinds.is_empty() { kinds_for_label(part.label) } else { &filter.kinds };
        let max_count = filter.count_setting.as_deref().map_or(usize::MAX, |setting| {
            let count = state.run.as_ref().map(|run| run.settings.number(setting, u64::MAX));
            count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX)
        });
        let is_included = |l: &&Lesson| {
            // A lesson about a task applies only to that task, and a memory of a task type only to that type.
            let is_scope_bound =
                l.scope == Scope::Task || (part.label == SegmentLabel::Memory && l.scope == Scope::TaskType);
            (!(by_scope || is_scope_bound) || state.is_in_scope(l))
                && filter.scope.is_none_or(|scope| l.scope == scope)
                && (!filter.this_episode_only || l.learnt_at.0 == self.episode.number)
        };
        let mut shown: Vec<&Lesson> = Vec::new();
        for kind in kinds {
            let of_kind: Vec<&Lesson> = state.pool.active_of_kind(*kind).filter(is_included).collect();
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

    fn add_lessons(&mut self, part: &SegmentTemplate, filter: &LessonFilter) {
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

    /// Adds the last attempt at the task; if it exceeds half of the budget, only its newest steps.
    fn add_last_attempt(&mut self, part: &SegmentTemplate, heading: Option<&StoredText>) {
        let Some(attempt) = self.state.last_attempt(&self.episode.task) else { return };
        if let Some(heading) = heading {
            self.add_text(part, heading);
        }
        let (number, to) = (attempt.number, attempt.steps.len() as u32);
        let budget = self.state.setting(CONTEXT_TOKENS);
        let mut remaining = self.state.to_estimated_tokens(self.record.role, budget) / 2;
        let mut from = to + 1;
        while from > 1 {
            let cost = u64::from(estimate_step_tokens(attempt, from - 1));
            if cost > remaining {
                break;
            }
            remaining -= cost;
            from -= 1;
        }
        if from > 1 {
            self.record.dropped.push(DroppedSegment {
                origin: SegmentOrigin::Attempt { episode: number, from: 1, to: from - 1 },
                reason: "an earlier attempt may use at most half of the budget".to_owned(),
                tokens: (1..from).map(|n| estimate_step_tokens(attempt, n)).sum(),
            });
        }
        let tokens = forms::estimate_tokens(&forms::attempt_text(attempt, from, to));
        self.push_record(part, SegmentOrigin::Attempt { episode: number, from, to }, tokens);
    }

    fn fact_text(&self, fact: Fact) -> Option<String> {
        let episode = self.episode;
        match fact {
            Fact::TaskType => episode.task.task_type.clone(),
            Fact::Trial => Some(episode.trial.to_string()),
            Fact::TotalReward => {
                let memory = &self.state.memory;
                let earlier = memory.get("reward").and_then(serde_json::Value::as_f64).unwrap_or(0.0);
                // Once the episode has ended, its reward is already part of the total in memory.
                let last_counted = memory.get("episode").and_then(serde_json::Value::as_u64);
                let is_counted = last_counted == Some(u64::from(episode.number));
                let current = if is_counted { 0.0 } else { episode.total_reward() };
                Some(round_to_thousandths(earlier + current).to_string())
            }
            Fact::ProgressGain => {
                let step = episode.last_step()?;
                let earlier = step.number.checked_sub(1).and_then(|n| episode.step(n)?.answer.as_ref());
                let before = earlier.or(episode.first_observation.as_ref()).map_or(0.0, |o| o.progress);
                Some(round_to_thousandths((step.answer.as_ref()?.progress - before).max(0.0)).to_string())
            }
            Fact::Reward => {
                let answer = episode.last_step()?.answer.as_ref()?;
                Some(round_to_thousandths(answer.reward).to_string())
            }
        }
    }

    fn add_text(&mut self, part: &SegmentTemplate, text: &StoredText) {
        if text.text.is_empty() {
            return;
        }
        if !self.texts.iter().any(|t| t.hash == text.hash) {
            self.texts.push(text.clone());
        }
        self.push_record(part, SegmentOrigin::Text(text.hash.clone()), text.tokens);
    }

    fn push_record(&mut self, part: &SegmentTemplate, origin: SegmentOrigin, tokens: u32) {
        self.record.tokens += tokens;
        self.record.segments.push(SegmentRecord {
            label: part.label,
            origin,
            message_role: part.message_role,
            tokens,
        });
    }

    /// Adds the newest answered steps that fit in the budget, at least the newest one.
    fn fit_steps(&mut self, budget: u64) {
        let Some((index, message_role)) = self.steps_position else { return };
        let newest = self.episode.answered_steps();
        let max_tokens = self.state.to_estimated_tokens(self.record.role, budget);
        let mut remaining = u32::try_from(max_tokens).unwrap_or(u32::MAX).saturating_sub(self.record.tokens);
        let (mut from, mut tokens) = (newest + 1, 0);
        while from > 1 {
            let cost = self.step_tokens(from - 1, newest);
            // The newest step is always shown: without its observation, the prompt makes no sense.
            if cost > remaining && from <= newest {
                break;
            }
            remaining = remaining.saturating_sub(cost);
            tokens += cost;
            from -= 1;
        }
        if from > 1 {
            let dropped_tokens = self.dropped_tokens(from - 1);
            self.record.dropped.push(DroppedSegment {
                origin: SegmentOrigin::Steps { from: 1, to: from - 1 },
                reason: format!("older steps don't fit in the prompt budget of {budget} tokens"),
                tokens: dropped_tokens,
            });
        }
        if from <= newest {
            let origin = SegmentOrigin::Steps { from, to: newest };
            let steps = SegmentRecord { label: SegmentLabel::Action, origin, message_role, tokens };
            self.record.tokens += tokens;
            self.record.segments.insert(index, steps);
        }
    }

    /// Returns the estimated tokens of a step in a prompt whose newest step is `newest`.
    fn step_tokens(&mut self, step: u32, newest: u32) -> u32 {
        let episode = self.episode;
        let step = episode.step_arc(step).filter(|s| forms::is_shown(s, newest));
        step.map_or(0, |step| self.cache.step_lines(episode.number, step).tokens)
    }

    /// Returns the estimated tokens of steps 1 to `to`. Starts from the previous prompt's total, so that a long history
    /// isn't summed again.
    fn dropped_tokens(&mut self, to: u32) -> u32 {
        let newest = self.episode.answered_steps();
        let last = self.state.actor_prompts.0.as_deref().filter(|p| p.episode == self.episode.number);
        let previous =
            last.and_then(|p| dropped_steps(&p.dropped)).filter(|_| self.record.role == ModelRole::Actor);
        match previous {
            Some((1, last_dropped, tokens)) if last_dropped <= to => tokens
                .saturating_add((last_dropped + 1..=to).map(|n| self.step_tokens(n, newest)).sum::<u32>()),
            // A manipulated journal may name steps that never existed.
            Some((1, last_dropped, tokens)) if last_dropped <= newest => {
                tokens.saturating_sub((to + 1..=last_dropped).map(|n| self.step_tokens(n, newest)).sum())
            }
            _ => (1..=to).map(|n| self.step_tokens(n, newest)).sum(),
        }
    }

    fn finish(mut self) -> PromptDraft {
        let texts = &self.texts;
        let stored = |hash: &str| texts.iter().find(|t| *t.hash == *hash).map(|t| t.text.clone());
        let prompt = render_with(self.state, &self.record, self.cache, stored);
        self.record.sha256 = body_hash(&prompt);
        let corrected = self.state.to_corrected_tokens(self.record.role, u64::from(self.record.tokens));
        let corrected = u32::try_from(corrected).unwrap_or(u32::MAX);
        self.record.corrected_tokens = if corrected == self.record.tokens { 0 } else { corrected };
        self.cache.last_draft = Some((self.record.clone(), prompt));
        let known = &self.state.texts;
        let texts = texts.iter().filter(|t| !known.contains_key(&*t.hash));
        let texts = texts.map(|t| (t.hash.to_string(), t.text.to_string())).collect();
        PromptDraft { texts, record: self.record }
    }
}

/// Estimates the tokens of a step.
fn estimate_step_tokens(episode: &Episode, step: u32) -> u32 {
    let lines = episode.step(step).map(forms::step_lines).unwrap_or_default();
    lines.iter().map(|(_, line)| forms::estimate_tokens(line)).sum()
}

/// Returns whether one of the first observations of an episode has this wording.
fn is_used_in(wording: OtherWording, episode: &Episode) -> bool {
    let first = (1..=8).filter_map(|n| episode.step(n)?.answer.as_ref());
    first.map(|answer| answer.raw.as_str()).any(wording.is_used)
}

/// Returns the kinds of lessons shown under a label.
fn kinds_for_label(label: SegmentLabel) -> &'static [ReflectionKind] {
    match label {
        SegmentLabel::Abstract => &[ReflectionKind::Abstract],
        SegmentLabel::Error => &[ReflectionKind::Error],
        SegmentLabel::Progress => &[ReflectionKind::Progress],
        _ => &[
            ReflectionKind::Plan,
            ReflectionKind::Experience,
            ReflectionKind::Lesson,
            ReflectionKind::Positive,
            ReflectionKind::Negative,
            ReflectionKind::Advice,
        ],
    }
}
