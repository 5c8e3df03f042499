//! Drafts the record of a prompt: chooses its segments, in order, within the budget.

mod episodes;
mod lessons;

use super::cache::PromptCache;
use super::render::{body_hash, dropped_steps, render_with};
use super::templates::{Content, Fact, SegmentTemplate, StoredText};
use super::{Templates, forms};
use crate::domain::{
    DroppedSegment, LessonId, MessageRole, ModelRole, PromptRecord, Purpose, SegmentLabel, SegmentOrigin,
    SegmentRecord, Step, TextForms, round_to_thousandths,
};
use crate::engine::{CarriedReward, Episode, PromptDraft, PromptRequest, State};
use std::collections::HashSet;
use std::sync::Arc;

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
        builder.limit_lessons(parts, state.settings().lesson_tokens);
    }
    for part in parts {
        builder.add_segment(part, request, templates);
    }
    builder.fit_steps(state.settings().context_tokens);
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

impl DraftBuilder<'_> {
    fn add_segment(&mut self, part: &SegmentTemplate, request: &PromptRequest, templates: &Templates) {
        if part.condition.as_ref().is_some_and(|condition| !condition.is_met(self.state)) {
            return;
        }
        match &part.content {
            Content::Text(text) => self.add_text(part, text),
            Content::EnvText(name) => {
                let task = &self.episode.task;
                if let Some(text) = templates.env_texts(&task.env).text(name, task, self.state.run.as_deref())
                {
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
            Content::RecentSuccesses(heading, count) => {
                self.add_recent_successes(part, heading.as_ref(), *count);
            }
            Content::Examples(heading, recalled) => {
                let env_texts = templates.env_texts(&self.episode.task.env);
                self.add_examples(part, heading.as_ref(), *recalled, env_texts);
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

    fn fact_text(&self, fact: Fact) -> Option<String> {
        let episode = self.episode;
        match fact {
            Fact::TaskType => episode.task.task_type.clone(),
            Fact::Trial => Some(episode.trial.to_string()),
            Fact::TotalReward => Some(self.total_with_earlier(episode.total_reward())),
            Fact::TotalProgressGain => Some(self.total_with_earlier(episode.progress_gain())),
            Fact::ProgressGain => {
                let step = episode.last_step()?;
                let earlier = step.number.checked_sub(1).and_then(|n| episode.step(n)?.answer.as_ref());
                let before = earlier.or(episode.first_observation.as_ref()).map_or(0.0, |o| o.progress);
                Some(round_to_thousandths((step.answer.as_ref()?.progress - before).max(0.0)).to_string())
            }
            Fact::Draft => {
                let open = episode.last_step().filter(|step| step.answer.is_none())?;
                Some(open.current_draft()?.action.clone())
            }
            Fact::Screen => {
                let is_plan = |step: &&Arc<Step>| {
                    step.call.is_some() && step.answer.is_some() && !step.is_thought_only()
                };
                Some((episode.steps.iter().filter(is_plan).count() + 1).to_string())
            }
            Fact::Reward => {
                let answer = episode.last_step()?.answer.as_ref()?;
                Some(round_to_thousandths(answer.reward).to_string())
            }
        }
    }

    /// Adds what the method carried over from earlier episodes to the total of this one.
    fn total_with_earlier(&self, of_episode: f64) -> String {
        let carried = CarriedReward::from_memory(&self.state.memory);
        let total = CarriedReward::after(carried, self.episode.number, of_episode);
        round_to_thousandths(total.reward).to_string()
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
