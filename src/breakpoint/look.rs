//! Looks whether an event made a condition true. The work is bounded by the texts of the event, not by the episode.

use super::condition::{Condition, Part, Same, Scope, Spend};
use super::parse::{compile, parse};
use super::{number, why};
use crate::domain::{NoteKind, PromptRecord, ReflectionKind, SegmentOrigin, Step};
use crate::engine::{Breakpoint, BreakpointMatch, Envelope, Episode, Event, State, Streak};
use regex::Regex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Conditions that were read, by their text; none: it cannot be read (a journal may hold anything).
#[derive(Default)]
pub(super) struct Kept(Mutex<HashMap<String, Option<Arc<Ready>>>>);

/// A condition with its pattern compiled.
struct Ready {
    condition: Condition,
    regex: Option<Regex>,
}

impl Kept {
    /// More than any session holds at a time.
    const MOST: usize = 512;

    pub(super) fn look(&self, before: &State, envelope: &Envelope, after: &State) -> Vec<BreakpointMatch> {
        if !can_matter(&envelope.event) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for breakpoint in before.breakpoints.all.iter().filter(|b| b.enabled) {
            let Some(ready) = self.ready(&breakpoint.config.condition) else { continue };
            let moment = Moment { breakpoint, before, event: &envelope.event, after };
            if let Some((step, why)) = moment.holds(&ready) {
                found.push(BreakpointMatch { breakpoint: breakpoint.number, step, reason: why });
            }
        }
        found
    }

    fn ready(&self, text: &str) -> Option<Arc<Ready>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.get(text) {
            return known.clone();
        }
        if kept.len() >= Self::MOST {
            kept.clear();
        }
        let ready = parse(text).ok().map(|meant| {
            let regex = match &meant.condition {
                Condition::Text(_, pattern) => compile(pattern).ok(),
                _ => None,
            };
            Arc::new(Ready { condition: meant.condition, regex })
        });
        kept.insert(text.to_owned(), ready.clone());
        ready
    }
}

/// Events that make some condition true.
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
struct Moment<'a> {
    breakpoint: &'a Breakpoint,
    before: &'a State,
    event: &'a Event,
    after: &'a State,
}

type Hit = Option<(u32, String)>;

impl<'a> Moment<'a> {
    fn holds(&self, ready: &Ready) -> Hit {
        match &ready.condition {
            Condition::Text(part, _) => self.text(*part, ready.regex.as_ref()?),
            Condition::Same(Same::Action, n) => {
                self.proposed_again(*n, self.after.breakpoints.streaks.action, action_of)
            }
            Condition::Same(Same::Thought, n) => {
                self.proposed_again(*n, self.after.breakpoints.streaks.thought, Step::thought_text)
            }
            Condition::Above(scope, spend) => self.above(*scope, *spend),
            Condition::Lesson(number) => self.lesson(*number),
            Condition::Reflection(kind) => self.reflection(*kind),
            Condition::End(won) => self.end(*won),
            Condition::Nothing(_) | Condition::Cycle | Condition::Mistake | Condition::Note(_) => {
                self.noted(&ready.condition)
            }
            Condition::Invalid(_)
            | Condition::Same(Same::Observation, _)
            | Condition::Won
            | Condition::Reward
            | Condition::Progress
            | Condition::Stalled(_)
            | Condition::Step(_) => self.answered(&ready.condition),
        }
    }

    fn episode(&self) -> Option<&'a Episode> {
        self.after.episode.as_deref()
    }

    fn text(&self, part: Part, regex: &Regex) -> Hit {
        let (step, text) = match (part, self.event) {
            (Part::Action, Event::Proposed { step, action: Some(action), .. }) => (*step, action.as_str()),
            (Part::Thought, Event::Proposed { step, thought: Some(thought), .. }) => {
                (*step, thought.as_str())
            }
            (Part::Observation, Event::WorldReset { result: turn, agent_view: seen, .. }) => {
                (0, seen.as_deref().unwrap_or(&turn.observation))
            }
            (Part::Observation, Event::Observed { step, .. }) => {
                // What a world says to a thought says nothing.
                let answered = self.after.last_step().filter(|s| !s.is_thought_only())?;
                (*step, answered.observation()?)
            }
            _ => return None,
        };
        let at = regex.find(text)?.start();
        let line = why::line_of(text, at);
        Some((
            step,
            match part {
                Part::Action => format!("`{line}` is proposed at turn {step}"),
                Part::Thought => format!("it thought \"{line}\" at turn {step}"),
                Part::Observation if step == 0 => format!("the world began with \"{line}\""),
                Part::Observation => format!("the world said \"{line}\" at turn {step}"),
            },
        ))
    }

    /// The proposal goes on a row of `n` steps; the row of the fold ends with the step before it.
    fn proposed_again<'s>(&'s self, n: u32, row: Streak, of: impl Fn(&'s Step) -> Option<&'s str>) -> Hit {
        let Event::Proposed { step, .. } = self.event else { return None };
        let episode = self.episode()?;
        let now = of(episode.last_step()?)?.trim();
        let before = episode.step(row.last).and_then(of)?.trim();
        let count = row.count + 1;
        if row.count == 0 || now != before || !self.due(n, count, row.first) {
            return None;
        }
        Some((*step, format!("the {} time in a row at turn {step}: `{}`", why::nth(count), why::short(now))))
    }

    fn answered(&self, condition: &Condition) -> Hit {
        let Event::Observed { step, result: turn, .. } = self.event else { return None };
        let (step, episode, rows) = (*step, self.episode()?, &self.after.breakpoints.streaks);
        let words = match condition {
            Condition::Invalid(n) if self.row_due(*n, rows.invalid, step) => {
                format!("the world refused the action {}", why::row(episode, rows.invalid, *n))
            }
            Condition::Same(_, n) if self.row_due(*n, rows.observation, step) => {
                let said = episode.last_step().and_then(Step::observation).unwrap_or_default();
                format!(
                    "the world said the same {}: \"{}\"",
                    why::row(episode, rows.observation, *n),
                    why::short(said)
                )
            }
            Condition::Won if turn.won => format!("the goal holds at turn {step}"),
            Condition::Step(n) if *n == step => format!("turn {step} was answered"),
            Condition::Reward | Condition::Progress => return self.changed(condition, step),
            Condition::Stalled(n) => {
                let since = step.saturating_sub(episode.progress_step);
                if !self.due(*n, since, episode.progress_step + 1) {
                    return None;
                }
                match episode.progress_step {
                    0 => format!("no progress in the first {since} turns"),
                    last => format!("no progress for {since} turns, since turn {last}"),
                }
            }
            _ => return None,
        };
        Some((step, words))
    }

    fn changed(&self, condition: &Condition, step: u32) -> Hit {
        let was = self.before.open_episode()?;
        let old = was
            .step(was.answered_steps())
            .and_then(|s| s.answer.as_ref())
            .or(was.first_observation.as_ref())?;
        let new = self.after.last_step()?.answer.as_ref()?;
        let (name, from, to) = match condition {
            Condition::Reward => ("reward", old.reward, new.reward),
            _ => ("progress rate", old.progress, new.progress),
        };
        let other = (from - to).abs() > f64::EPSILON;
        other.then(|| (step, format!("the {name} went from {} to {} at turn {step}", rate(from), rate(to))))
    }

    fn noted(&self, condition: &Condition) -> Hit {
        let Event::Noted { step, notes } = self.event else { return None };
        let (step, nothing) = (*step, self.after.breakpoints.streaks.nothing);
        if let Condition::Nothing(n) = condition {
            let due = self.row_due(*n, nothing, step);
            return due.then(|| {
                Some((step, format!("nothing happened {}", why::row(self.episode()?, nothing, *n))))
            })?;
        }
        let note = notes.iter().find(|note| match condition {
            Condition::Cycle => matches!(note.detector.as_str(), "circling" | "cycle"),
            Condition::Mistake => note.kind == NoteKind::Mistake,
            Condition::Note(name) => note.detector == *name,
            _ => false,
        })?;
        let named = note.detector.replace('_', " ");
        Some((step, format!("{named} at turn {step}: {}", why::short(&note.evidence))))
    }

    fn reflection(&self, kind: Option<ReflectionKind>) -> Hit {
        let Event::Reflected { reflection } = self.event else { return None };
        if kind.is_some_and(|k| k != reflection.kind) {
            return None;
        }
        let says =
            reflection.items.first().map(|i| format!(": {}", why::short(&i.text.text))).unwrap_or_default();
        let step = reflection.step;
        Some((
            step,
            format!("a reflection ({}) was written after turn {step}{says}", reflection.question().name()),
        ))
    }

    fn lesson(&self, number: u32) -> Hit {
        let Event::PromptSent { prompt } = self.event else { return None };
        let id = &self.after.pool.by_number(number)?.id;
        let in_it = |p: &PromptRecord| {
            p.segments.iter().any(|s| matches!(&s.origin, SegmentOrigin::Lesson { id: of, .. } if of == id))
        };
        let last = match prompt.question {
            None => self.before.actor_prompts.0.as_deref(),
            Some(asked) => {
                let of = self.before.mentor_prompts.iter().find(|(q, ..)| *q == asked);
                of.map(|(_, last, _)| last.as_ref())
            }
        };
        let stays = last.is_some_and(|p| p.episode == prompt.episode && in_it(p));
        let to = prompt.question.map_or_else(String::new, |q| format!(" to the mentor ({})", q.name()));
        (in_it(prompt) && !stays).then(|| {
            (prompt.step, format!("lesson {number} is new in the prompt{to} of turn {}", prompt.step))
        })
    }

    /// A sum is told once in its scope: a budget that is used up stays used up.
    fn above(&self, scope: Scope, spend: Spend) -> Hit {
        let number = self.episode().map_or(0, |e| e.number);
        let told = match scope {
            Scope::Run => self.breakpoint.hits > 0,
            Scope::Episode => self.breakpoint.last.as_ref().is_some_and(|h| h.episode == number),
        };
        let replied = matches!(self.event, Event::ReplyReceived { .. });
        if told || !(replied || matches!(spend, Spend::Time(_))) {
            return None;
        }
        let (state, meter) = (self.after, &self.after.breakpoints.baseline);
        let whole = scope == Scope::Run;
        let less = |all: u64, begun: u64| if whole { all } else { all.saturating_sub(begun) };
        let words = match spend {
            Spend::Tokens(bound) => {
                let now = less(state.usage.tokens(), meter.tokens_at_start);
                (now > bound).then(|| format!("{now} tokens"))
            }
            Spend::Cost(bound) => {
                let now = less(state.usage.cost_nano(), meter.cost_at_start);
                (now > bound).then(|| format!("costs of {}", number::decimal(now)))
            }
            Spend::Time(bound) => {
                let before = if whole { meter.earlier_time } else { std::time::Duration::ZERO };
                let now = before.saturating_add(state.clock.elapsed);
                let told = || format!("{} of moving time", number::span(now.as_secs()));
                (now > std::time::Duration::from_secs(bound)).then(told)
            }
        }?;
        let of = if whole { "the run".to_owned() } else { format!("episode {number}") };
        Some((why::number(state.last_step()), format!("{of} has taken {words}")))
    }

    fn end(&self, won: Option<bool>) -> Hit {
        let Event::EpisodeEnded { summary } = self.event else { return None };
        if won.is_some_and(|won| won != summary.won) {
            return None;
        }
        let how = if summary.won { "was won" } else { "ended without success" };
        Some((
            why::number(self.after.last_step()),
            format!(
                "episode {} {how} after {} steps, progress {}",
                summary.number,
                summary.steps,
                rate(summary.progress)
            ),
        ))
    }

    fn row_due(&self, n: u32, row: Streak, step: u32) -> bool {
        row.last == step && self.due(n, row.count, row.first)
    }

    /// A row is told when it is `n` long, and again after each further `n`; one that was longer already when the condition
    /// was set is told at once.
    fn due(&self, n: u32, count: u32, first: u32) -> bool {
        let number = self.episode().map_or(0, |e| e.number);
        let told = self.breakpoint.last.as_ref().is_some_and(|h| h.episode == number && h.step >= first);
        count >= n && (count.is_multiple_of(n.max(1)) || !told)
    }
}

fn action_of(step: &Step) -> Option<&str> {
    step.action()
}

/// A rate without needless digits.
fn rate(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
