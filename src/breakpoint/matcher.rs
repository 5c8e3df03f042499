//! Checks whether an event made a condition true. The cost depends on the length of the event's text, not on the
//! length of the episode.

use super::condition::{Condition, RepeatedPart, SpendLimit, SpendScope, TextPart};
use super::parse::{compile_pattern, parse};
use super::{number, reason};
use crate::domain::{Note, NoteKind, PromptRecord, ReflectionKind, SegmentOrigin, Step, pluralize};
use crate::engine::{Breakpoint, BreakpointMatch, Envelope, Episode, Event, State, Streak};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Parsed conditions by their text; `None` if the text cannot be parsed (conditions in a journal may come from another
/// version).
#[derive(Default)]
pub(super) struct ConditionCache(Mutex<HashMap<String, Option<Arc<CompiledCondition>>>>);

/// A condition with its compiled pattern.
struct CompiledCondition {
    condition: Condition,
    regex: Option<Regex>,
}

impl ConditionCache {
    /// More than the number of breakpoints that a session realistically has.
    const MAX_CACHED: usize = 512;

    pub(super) fn find_hits(
        &self,
        before: &State,
        envelope: &Envelope,
        after: &State,
    ) -> Vec<BreakpointMatch> {
        if !can_matter(&envelope.event) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for breakpoint in before.breakpoints.all.iter().filter(|b| b.enabled) {
            let Some(compiled) = self.compiled(&breakpoint.config.condition) else { continue };
            let check = BreakpointCheck {
                breakpoint,
                state_before: before,
                event: &envelope.event,
                state_after: after,
            };
            if let Some((step, explanation)) = check.check(&compiled) {
                found.push(BreakpointMatch { breakpoint: breakpoint.number, step, reason: explanation });
            }
        }
        found
    }

    fn compiled(&self, text: &str) -> Option<Arc<CompiledCondition>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = cache.get(text) {
            return cached.clone();
        }
        if cache.len() >= Self::MAX_CACHED {
            cache.clear();
        }
        let entry = parse(text).ok().map(|spec| {
            let regex = match &spec.condition {
                Condition::Text(_, pattern) => compile_pattern(pattern).ok(),
                _ => None,
            };
            Arc::new(CompiledCondition { condition: spec.condition, regex })
        });
        cache.insert(text.to_owned(), entry.clone());
        entry
    }
}

/// Returns whether an event can make some condition true.
fn can_matter(event: &Event) -> bool {
    !matches!(
        event,
        Event::RunStarted { .. }
            | Event::PoolLoaded { .. }
            | Event::TextDefined { .. }
            | Event::BreakpointSet { .. }
            | Event::BreakpointSwitched { .. }
            | Event::BreakpointRemoved { .. }
            | Event::BreakpointHit { .. }
            | Event::Closed
            | Event::Reopened
    )
}

/// One breakpoint at one event.
struct BreakpointCheck<'a> {
    breakpoint: &'a Breakpoint,
    state_before: &'a State,
    event: &'a Event,
    state_after: &'a State,
}

type Hit = Option<(u32, String)>;

impl<'a> BreakpointCheck<'a> {
    fn check(&self, compiled: &CompiledCondition) -> Hit {
        match &compiled.condition {
            Condition::Text(part, _) => self.check_text(*part, compiled.regex.as_ref()?),
            Condition::Repeated(RepeatedPart::Action, n) => {
                self.check_repeated_proposal(*n, self.state_after.breakpoints.streaks.action, step_action)
            }
            Condition::Repeated(RepeatedPart::Thought, n) => self.check_repeated_proposal(
                *n,
                self.state_after.breakpoints.streaks.thought,
                Step::thought_text,
            ),
            Condition::SpentMoreThan(scope, spend) => self.check_spend(*scope, *spend),
            Condition::Lesson(number) => self.check_lesson(*number),
            Condition::Reflection(kind) => self.check_reflection(*kind),
            Condition::SameAdvice(n) => self.check_same_advice(*n),
            Condition::EpisodeEnded(won) => self.check_episode_end(*won),
            Condition::NothingHappened(_)
            | Condition::GoingInCircles
            | Condition::Mistake
            | Condition::Note(_) => self.check_notes(&compiled.condition),
            Condition::Invalid(_)
            | Condition::Repeated(RepeatedPart::Observation, _)
            | Condition::Won
            | Condition::RewardChanged
            | Condition::ProgressChanged
            | Condition::Stalled(_)
            | Condition::Step(_) => self.check_observation(&compiled.condition),
        }
    }

    fn episode(&self) -> Option<&'a Episode> {
        self.state_after.episode.as_deref()
    }

    fn check_text(&self, part: TextPart, regex: &Regex) -> Hit {
        let (step, text) = match (part, self.event) {
            (TextPart::Action, Event::Proposed { step, action: Some(action), .. }) => {
                (*step, action.as_str())
            }
            (TextPart::Thought, Event::Proposed { step, thought: Some(thought), .. }) => {
                (*step, thought.as_str())
            }
            (TextPart::Observation, Event::WorldReset { result, agent_view, .. }) => {
                (0, agent_view.as_deref().unwrap_or(&result.observation))
            }
            (TextPart::Observation, Event::Observed { step, .. }) => {
                // The environment's answer to a thought carries no information.
                let last_step = self.state_after.last_step().filter(|s| !s.is_thought_only())?;
                (*step, last_step.observation()?)
            }
            _ => return None,
        };
        let offset = regex.find(text)?.start();
        let line = reason::line_at(text, offset);
        Some((
            step,
            match part {
                TextPart::Action => format!("`{line}` proposed at step {step}"),
                TextPart::Thought => format!("thought \"{line}\" at step {step}"),
                TextPart::Observation if step == 0 => format!("first observation: \"{line}\""),
                TextPart::Observation => format!("observed \"{line}\" at step {step}"),
            },
        ))
    }

    /// Returns a hit if the proposal extends the streak of equal steps to a length that is due for `n`. The streak in
    /// the state ends with the previous step.
    fn check_repeated_proposal<'s>(
        &'s self,
        n: u32,
        streak: Streak,
        part_of: impl Fn(&'s Step) -> Option<&'s str>,
    ) -> Hit {
        let Event::Proposed { step, .. } = self.event else { return None };
        let episode = self.episode()?;
        let current = part_of(episode.last_step()?)?.trim();
        let previous = episode.step(streak.last).and_then(part_of)?.trim();
        let count = streak.count + 1;
        if streak.count == 0 || current != previous || !self.is_due(n, count, streak.first) {
            return None;
        }
        Some((
            *step,
            format!(
                "{} time in a row at step {step}: `{}`",
                reason::ordinal(count),
                reason::shorten(current)
            ),
        ))
    }

    fn check_observation(&self, condition: &Condition) -> Hit {
        let Event::Observed { step, result, .. } = self.event else { return None };
        let (step, episode, streaks) = (*step, self.episode()?, &self.state_after.breakpoints.streaks);
        let explanation = match condition {
            Condition::Invalid(n) if self.is_streak_due(*n, streaks.invalid, step) => {
                format!(
                    "the environment rejected the action {}",
                    reason::format_streak_steps(episode, streaks.invalid, *n)
                )
            }
            Condition::Repeated(_, n) if self.is_streak_due(*n, streaks.observation, step) => {
                let observation = episode.last_step().and_then(Step::observation).unwrap_or_default();
                format!(
                    "same observation {}: \"{}\"",
                    reason::format_streak_steps(episode, streaks.observation, *n),
                    reason::shorten(observation)
                )
            }
            Condition::Won if result.won => format!("goal reached at step {step}"),
            Condition::Step(n) if *n == step => format!("step {step} is complete"),
            Condition::RewardChanged | Condition::ProgressChanged => {
                return self.check_change(condition, step);
            }
            Condition::Stalled(n) => {
                let since = step.saturating_sub(episode.progress_step);
                if !self.is_due(*n, since, episode.progress_step + 1) {
                    return None;
                }
                let steps = pluralize(since.into(), "step");
                match episode.progress_step {
                    0 => format!("no progress in the first {steps}"),
                    last => format!("no progress for {steps}, since step {last}"),
                }
            }
            _ => return None,
        };
        Some((step, explanation))
    }

    fn check_change(&self, condition: &Condition, step: u32) -> Hit {
        let previous = self.state_before.open_episode()?;
        let old = previous
            .step(previous.answered_steps())
            .and_then(|s| s.answer.as_ref())
            .or(previous.first_observation.as_ref())?;
        let new = self.state_after.last_step()?.answer.as_ref()?;
        let (name, from, to) = match condition {
            Condition::RewardChanged => ("reward", old.reward, new.reward),
            _ => ("progress rate", old.progress, new.progress),
        };
        let differs = (from - to).abs() > f64::EPSILON;
        differs.then(|| {
            (step, format!("{name} changed from {} to {} at step {step}", format_rate(from), format_rate(to)))
        })
    }

    fn check_notes(&self, condition: &Condition) -> Hit {
        let Event::Noted { step, notes } = self.event else { return None };
        let (step, streak) = (*step, self.state_after.breakpoints.streaks.nothing);
        if let Condition::NothingHappened(n) = condition {
            let is_due = self.is_streak_due(*n, streak, step);
            return is_due.then(|| {
                Some((
                    step,
                    format!("nothing happened {}", reason::format_streak_steps(self.episode()?, streak, *n)),
                ))
            })?;
        }
        let note = notes.iter().find(|note| match condition {
            Condition::GoingInCircles => note.detector == Note::CIRCLING,
            Condition::Mistake => note.kind == NoteKind::Mistake,
            Condition::Note(name) => note.detector == *name,
            _ => false,
        })?;
        let detector = note.detector.replace('_', " ");
        Some((step, format!("{detector} at step {step}: {}", reason::shorten(&note.evidence))))
    }

    fn check_reflection(&self, kind: Option<ReflectionKind>) -> Hit {
        let Event::Reflected { reflection } = self.event else { return None };
        if kind.is_some_and(|k| k != reflection.kind) {
            return None;
        }
        let text = reflection
            .items
            .first()
            .map(|i| format!(": {}", reason::shorten(&i.text.text)))
            .unwrap_or_default();
        let step = reflection.step;
        Some((step, format!("reflection ({}) written after step {step}{text}", reflection.question().name())))
    }

    /// Returns a hit if the reflection extends the run of equal advice to a length that is due for `n`, as a streak of steps is.
    fn check_same_advice(&self, n: u32) -> Hit {
        let Event::Reflected { reflection } = self.event else { return None };
        let same = reflection.same_advice.filter(|same| same.times >= n)?;
        let since = self.state_after.same_advice_since(reflection)?;
        let has_fired = self.breakpoint.last.as_ref().is_some_and(|hit| hit.seq >= since);
        (same.times.is_multiple_of(n.max(1)) || !has_fired).then(|| {
            (
                reflection.step,
                format!(
                    "{} ({}, similarity {:.2} or more)",
                    same.describe(),
                    reflection.question().name(),
                    same.cosine
                ),
            )
        })
    }

    fn check_lesson(&self, number: u32) -> Hit {
        let Event::PromptSent { prompt } = self.event else { return None };
        let id = &self.state_after.pool.by_number(number)?.id;
        let has_lesson = |p: &PromptRecord| {
            p.segments
                .iter()
                .any(|s| matches!(&s.origin, SegmentOrigin::Lesson { id: other, .. } if other == id))
        };
        let last = match prompt.question {
            // A prompt to the actor.
            None => self.state_before.actor_prompts.0.as_deref(),
            Some(question) => {
                let sent = self.state_before.mentor_prompts.iter().find(|(q, ..)| *q == question);
                sent.map(|(_, last, _)| last.as_ref())
            }
        };
        let was_in_last = last.is_some_and(|p| p.episode == prompt.episode && has_lesson(p));
        let prompt_name =
            prompt.question.map_or_else(|| "prompt".to_owned(), |q| format!("mentor prompt ({})", q.name()));
        (has_lesson(prompt) && !was_in_last).then(|| {
            (prompt.step, format!("lesson {number} is new in the {prompt_name} at step {}", prompt.step))
        })
    }

    /// Fires once per scope, because a limit once exceeded stays exceeded.
    fn check_spend(&self, scope: SpendScope, spend: SpendLimit) -> Hit {
        let number = self.episode().map_or(0, |e| e.number);
        let has_fired = match scope {
            SpendScope::Run => self.breakpoint.hits > 0,
            SpendScope::Episode => self.breakpoint.last.as_ref().is_some_and(|h| h.episode == number),
        };
        let replied = matches!(self.event, Event::ReplyReceived { .. });
        if has_fired || !(replied || matches!(spend, SpendLimit::Time(_))) {
            return None;
        }
        let (state, baseline) = (self.state_after, &self.state_after.breakpoints.baseline);
        let is_whole_run = scope == SpendScope::Run;
        let spent =
            |total: u64, at_start: u64| if is_whole_run { total } else { total.saturating_sub(at_start) };
        let text = match spend {
            SpendLimit::Tokens(limit) => {
                let used = spent(state.usage.tokens(), baseline.tokens_at_start);
                (used > limit).then(|| format!("used {used} tokens"))
            }
            SpendLimit::Cost(limit) => {
                let cost = spent(state.usage.cost_nano(), baseline.cost_at_start);
                (cost > limit).then(|| format!("cost {}", number::format_billionths(cost)))
            }
            SpendLimit::Time(limit) => {
                let time_before =
                    if is_whole_run { baseline.time_before_episode } else { std::time::Duration::ZERO };
                let elapsed = time_before.saturating_add(state.clock.elapsed);
                let describe = || format!("been running for {}", number::format_seconds(elapsed.as_secs()));
                (elapsed > std::time::Duration::from_secs(limit)).then(describe)
            }
        }?;
        let subject = if is_whole_run { "the run".to_owned() } else { format!("episode {number}") };
        Some((reason::step_number(state.last_step()), format!("{subject} has {text}")))
    }

    fn check_episode_end(&self, won: Option<bool>) -> Hit {
        let Event::EpisodeEnded { summary } = self.event else { return None };
        if won.is_some_and(|won| won != summary.won) {
            return None;
        }
        let outcome = if summary.won { "won" } else { "ended without success" };
        Some((
            reason::step_number(self.state_after.last_step()),
            format!(
                "episode {} {outcome} after {}, progress {}",
                summary.number,
                pluralize(summary.steps.into(), "step"),
                format_rate(summary.progress)
            ),
        ))
    }

    fn is_streak_due(&self, n: u32, streak: Streak, step: u32) -> bool {
        streak.last == step && self.is_due(n, streak.count, streak.first)
    }

    /// Returns whether a streak fires: when it reaches length `n`, and again at every multiple of `n`. A streak that
    /// was already longer when the condition was set fires at once.
    fn is_due(&self, n: u32, count: u32, first: u32) -> bool {
        let number = self.episode().map_or(0, |e| e.number);
        let has_fired = self.breakpoint.last.as_ref().is_some_and(|h| h.episode == number && h.step >= first);
        count >= n && (count.is_multiple_of(n.max(1)) || !has_fired)
    }
}

fn step_action(step: &Step) -> Option<&str> {
    step.action()
}

/// Formats a rate without trailing zeros.
fn format_rate(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
