//! Checks whether an event made a condition true. The work is bounded by the texts of the event, not by the episode.

use super::condition::{Condition, RepeatedPart, SpendLimit, SpendScope, TextPart};
use super::parse::{compile_pattern, parse};
use super::{number, reason};
use crate::domain::{NoteKind, PromptRecord, ReflectionKind, SegmentOrigin, Step};
use crate::engine::{Breakpoint, BreakpointMatch, Envelope, Episode, Event, State, Streak};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Parsed conditions by their text; `None` if the text cannot be parsed (a journal may contain anything).
#[derive(Default)]
pub(super) struct ConditionCache(Mutex<HashMap<String, Option<Arc<CompiledCondition>>>>);

/// A condition with its compiled pattern.
struct CompiledCondition {
    condition: Condition,
    regex: Option<Regex>,
}

impl ConditionCache {
    /// More than any session has at a time.
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
            let Some(ready) = self.compiled(&breakpoint.config.condition) else { continue };
            let moment = BreakpointCheck {
                breakpoint,
                state_before: before,
                event: &envelope.event,
                state_after: after,
            };
            if let Some((step, why)) = moment.check(&ready) {
                found.push(BreakpointMatch { breakpoint: breakpoint.number, step, reason: why });
            }
        }
        found
    }

    fn compiled(&self, text: &str) -> Option<Arc<CompiledCondition>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(text) {
            return known.clone();
        }
        if kept.len() >= Self::MAX_CACHED {
            kept.clear();
        }
        let ready = parse(text).ok().map(|spec| {
            let regex = match &spec.condition {
                Condition::Text(_, pattern) => compile_pattern(pattern).ok(),
                _ => None,
            };
            Arc::new(CompiledCondition { condition: spec.condition, regex })
        });
        kept.insert(text.to_owned(), ready.clone());
        ready
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
    fn check(&self, ready: &CompiledCondition) -> Hit {
        match &ready.condition {
            Condition::Text(part, _) => self.check_text(*part, ready.regex.as_ref()?),
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
            Condition::EpisodeEnded(won) => self.check_episode_end(*won),
            Condition::NothingHappened(_)
            | Condition::GoingInCircles
            | Condition::Mistake
            | Condition::Note(_) => self.check_notes(&ready.condition),
            Condition::Invalid(_)
            | Condition::Repeated(RepeatedPart::Observation, _)
            | Condition::Won
            | Condition::RewardChanged
            | Condition::ProgressChanged
            | Condition::Stalled(_)
            | Condition::Step(_) => self.check_observation(&ready.condition),
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
            (TextPart::Observation, Event::WorldReset { result: turn, agent_view: seen, .. }) => {
                (0, seen.as_deref().unwrap_or(&turn.observation))
            }
            (TextPart::Observation, Event::Observed { step, .. }) => {
                // An environment's answer to a thought carries no information.
                let answered = self.state_after.last_step().filter(|s| !s.is_thought_only())?;
                (*step, answered.observation()?)
            }
            _ => return None,
        };
        let at = regex.find(text)?.start();
        let line = reason::line_at(text, at);
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

    /// Returns a hit if the proposal continues a streak of `n` equal steps; the streak in the state ends with the
    /// previous step.
    fn check_repeated_proposal<'s>(
        &'s self,
        n: u32,
        row: Streak,
        of: impl Fn(&'s Step) -> Option<&'s str>,
    ) -> Hit {
        let Event::Proposed { step, .. } = self.event else { return None };
        let episode = self.episode()?;
        let now = of(episode.last_step()?)?.trim();
        let before = episode.step(row.last).and_then(of)?.trim();
        let count = row.count + 1;
        if row.count == 0 || now != before || !self.is_due(n, count, row.first) {
            return None;
        }
        Some((
            *step,
            format!("{} time in a row at step {step}: `{}`", reason::ordinal(count), reason::shorten(now)),
        ))
    }

    fn check_observation(&self, condition: &Condition) -> Hit {
        let Event::Observed { step, result: turn, .. } = self.event else { return None };
        let (step, episode, rows) = (*step, self.episode()?, &self.state_after.breakpoints.streaks);
        let words = match condition {
            Condition::Invalid(n) if self.is_streak_due(*n, rows.invalid, step) => {
                format!(
                    "the environment rejected the action {}",
                    reason::format_streak_steps(episode, rows.invalid, *n)
                )
            }
            Condition::Repeated(_, n) if self.is_streak_due(*n, rows.observation, step) => {
                let observation = episode.last_step().and_then(Step::observation).unwrap_or_default();
                format!(
                    "same observation {}: \"{}\"",
                    reason::format_streak_steps(episode, rows.observation, *n),
                    reason::shorten(observation)
                )
            }
            Condition::Won if turn.won => format!("goal reached at step {step}"),
            Condition::Step(n) if *n == step => format!("step {step} is complete"),
            Condition::RewardChanged | Condition::ProgressChanged => {
                return self.check_change(condition, step);
            }
            Condition::Stalled(n) => {
                let since = step.saturating_sub(episode.progress_step);
                if !self.is_due(*n, since, episode.progress_step + 1) {
                    return None;
                }
                match episode.progress_step {
                    0 => format!("no progress in the first {since} steps"),
                    last => format!("no progress for {since} steps, since step {last}"),
                }
            }
            _ => return None,
        };
        Some((step, words))
    }

    fn check_change(&self, condition: &Condition, step: u32) -> Hit {
        let was = self.state_before.open_episode()?;
        let old = was
            .step(was.answered_steps())
            .and_then(|s| s.answer.as_ref())
            .or(was.first_observation.as_ref())?;
        let new = self.state_after.last_step()?.answer.as_ref()?;
        let (name, from, to) = match condition {
            Condition::RewardChanged => ("reward", old.reward, new.reward),
            _ => ("progress rate", old.progress, new.progress),
        };
        let other = (from - to).abs() > f64::EPSILON;
        other.then(|| {
            (step, format!("{name} changed from {} to {} at step {step}", format_rate(from), format_rate(to)))
        })
    }

    fn check_notes(&self, condition: &Condition) -> Hit {
        let Event::Noted { step, notes } = self.event else { return None };
        let (step, nothing) = (*step, self.state_after.breakpoints.streaks.nothing);
        if let Condition::NothingHappened(n) = condition {
            let due = self.is_streak_due(*n, nothing, step);
            return due.then(|| {
                Some((
                    step,
                    format!("nothing happened {}", reason::format_streak_steps(self.episode()?, nothing, *n)),
                ))
            })?;
        }
        let note = notes.iter().find(|note| match condition {
            Condition::GoingInCircles => matches!(note.detector.as_str(), "circling" | "cycle"),
            Condition::Mistake => note.kind == NoteKind::Mistake,
            Condition::Note(name) => note.detector == *name,
            _ => false,
        })?;
        let named = note.detector.replace('_', " ");
        Some((step, format!("{named} at step {step}: {}", reason::shorten(&note.evidence))))
    }

    fn check_reflection(&self, kind: Option<ReflectionKind>) -> Hit {
        let Event::Reflected { reflection } = self.event else { return None };
        if kind.is_some_and(|k| k != reflection.kind) {
            return None;
        }
        let says = reflection
            .items
            .first()
            .map(|i| format!(": {}", reason::shorten(&i.text.text)))
            .unwrap_or_default();
        let step = reflection.step;
        Some((step, format!("reflection ({}) written after step {step}{says}", reflection.question().name())))
    }

    fn check_lesson(&self, number: u32) -> Hit {
        let Event::PromptSent { prompt } = self.event else { return None };
        let id = &self.state_after.pool.by_number(number)?.id;
        let in_it = |p: &PromptRecord| {
            p.segments.iter().any(|s| matches!(&s.origin, SegmentOrigin::Lesson { id: of, .. } if of == id))
        };
        let last = match prompt.question {
            None => self.state_before.actor_prompts.0.as_deref(),
            Some(asked) => {
                let of = self.state_before.mentor_prompts.iter().find(|(q, ..)| *q == asked);
                of.map(|(_, last, _)| last.as_ref())
            }
        };
        let stays = last.is_some_and(|p| p.episode == prompt.episode && in_it(p));
        let to = prompt.question.map_or_else(String::new, |q| format!(" to the mentor ({})", q.name()));
        (in_it(prompt) && !stays).then(|| {
            (prompt.step, format!("lesson {number} is new in the prompt{to} of step {}", prompt.step))
        })
    }

    /// Fires once per scope: a budget that is used up stays used up.
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
        let (state, meter) = (self.state_after, &self.state_after.breakpoints.baseline);
        let whole = scope == SpendScope::Run;
        let less = |all: u64, begun: u64| if whole { all } else { all.saturating_sub(begun) };
        let words = match spend {
            SpendLimit::Tokens(bound) => {
                let now = less(state.usage.tokens(), meter.tokens_at_start);
                (now > bound).then(|| format!("used {now} tokens"))
            }
            SpendLimit::Cost(bound) => {
                let now = less(state.usage.cost_nano(), meter.cost_at_start);
                (now > bound).then(|| format!("cost {}", number::format_billionths(now)))
            }
            SpendLimit::Time(bound) => {
                let before = if whole { meter.earlier_time } else { std::time::Duration::ZERO };
                let now = before.saturating_add(state.clock.elapsed);
                let describe = || format!("been running for {}", number::format_seconds(now.as_secs()));
                (now > std::time::Duration::from_secs(bound)).then(describe)
            }
        }?;
        let of = if whole { "the run".to_owned() } else { format!("episode {number}") };
        Some((reason::step_number(state.last_step()), format!("{of} has {words}")))
    }

    fn check_episode_end(&self, won: Option<bool>) -> Hit {
        let Event::EpisodeEnded { summary } = self.event else { return None };
        if won.is_some_and(|won| won != summary.won) {
            return None;
        }
        let how = if summary.won { "won" } else { "ended without success" };
        Some((
            reason::step_number(self.state_after.last_step()),
            format!(
                "episode {} {how} after {} steps, progress {}",
                summary.number,
                summary.steps,
                format_rate(summary.progress)
            ),
        ))
    }

    fn is_streak_due(&self, n: u32, row: Streak, step: u32) -> bool {
        row.last == step && self.is_due(n, row.count, row.first)
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
