//! The content of a comparison as side-by-side entries for display.

use super::difference_labels::{fact_label, run_value_label, setting_label, value_label};
use super::{ComparedLesson, Comparison, Difference, Outcome, PriorDifferences, Side, action_or_thought};
use crate::domain::{DecidedBy, ModelRole, RoleSource, RunSpec, SegmentLabel, Step, pluralize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An entry with its text on both sides; `None` if a side doesn't have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonEntry {
    /// The topic, such as `settings`, `lessons`, `prompt`, `world`, `step` or `outcome`.
    pub topic: &'static str,
    /// Name within the topic, such as `seed` or `Error 6`.
    pub name: String,
    pub left: Option<String>,
    pub right: Option<String>,
}

impl ComparisonEntry {
    /// Returns whether the sides differ.
    pub fn differs(&self) -> bool {
        self.left != self.right
    }
}

fn entry(
    topic: &'static str,
    name: impl Into<String>,
    left: Option<String>,
    right: Option<String>,
) -> ComparisonEntry {
    ComparisonEntry { topic, name: name.into(), left, right }
}

/// Returns the differences between two runs, in the words of the screen.
fn run_entries(topic: &'static str, differences: &[Difference]) -> impl Iterator<Item = ComparisonEntry> {
    differences.iter().map(move |d| {
        let value = |side: &Option<String>| side.as_deref().map(|text| run_value_label(&d.name, text));
        entry(topic, setting_label(&d.name), value(&d.left), value(&d.right))
    })
}

/// Returns the differences in what the agent may know, in the words of the screen.
fn fact_entries(differences: &[Difference]) -> impl Iterator<Item = ComparisonEntry> {
    differences.iter().map(|d| {
        let value = |side: &Option<String>| side.as_deref().map(value_label);
        entry("world", fact_label(&d.name), value(&d.left), value(&d.right))
    })
}

impl PriorDifferences {
    /// Returns the differences side by side: lessons, prompt, world, settings. A lesson appears once, although it is in
    /// the prompt as well.
    pub fn entries(&self) -> Vec<ComparisonEntry> {
        let mut all = Vec::new();
        let name = |l: &ComparedLesson| match l.version {
            0 | 1 => format!("{} {}", l.kind.name(), l.number),
            version => format!("{} {} v{version}", l.kind.name(), l.number),
        };
        for lesson in &self.lessons.only_left {
            all.push(entry("lessons", name(lesson), Some(lesson_text(lesson)), None));
        }
        for lesson in &self.lessons.only_right {
            all.push(entry("lessons", name(lesson), None, Some(lesson_text(lesson))));
        }
        for (a, b) in &self.lessons.changed {
            all.push(entry("lessons", name(b), Some(lesson_text(a)), Some(lesson_text(b))));
        }
        let lessons_differ = self.lessons != super::LessonDifferences::default();
        for pair in &self.segments {
            let source =
                [&pair.left, &pair.right].into_iter().flatten().next().map_or("", |p| p.source.as_str());
            let is_lesson_label = matches!(
                pair.label,
                SegmentLabel::Abstract | SegmentLabel::Error | SegmentLabel::Progress | SegmentLabel::Memory
            );
            // Headings of lessons appear and disappear with the lessons.
            if lessons_differ && is_lesson_label && (source.is_empty() || source.starts_with("lesson ")) {
                continue;
            }
            // The column of names is too narrow for "observation".
            let label = if pair.label == SegmentLabel::Observation { "seen" } else { pair.label.name() };
            let name = match source.strip_prefix("turn ").unwrap_or(source) {
                "" => label.to_owned(),
                // The source says "turn", as the JSON output does; it may be a range, such as "turns 2-4".
                source => format!("{label} {}", source.replacen("turn", "step", 1)),
            };
            let side = |p: &Option<super::SegmentText>| p.as_ref().map(|p| p.text.trim().to_owned());
            all.push(entry("prompt", name, side(&pair.left), side(&pair.right)));
        }
        if let Some((a, b)) = &self.world.observation {
            all.push(entry("world", "last observation", Some(a.clone()), Some(b.clone())));
        }
        if let Some((a, b)) = self.world.progress {
            all.push(entry("world", "progress", Some(format!("{a:.2}")), Some(format!("{b:.2}"))));
        }
        all.extend(fact_entries(&self.world.known_facts));
        all.extend(run_entries("settings", &self.settings));
        all
    }
}

fn lesson_text(lesson: &ComparedLesson) -> String {
    match &lesson.text.solution {
        Some(solution) => format!("{} -> {solution}", lesson.text.text),
        None => lesson.text.text.clone(),
    }
}

/// Describes why a step is not completed yet. Returns `None` for a step that was executed and answered.
pub fn pending_label(step: &Step) -> Option<&'static str> {
    match (&step.executed, &step.answer) {
        (_, Some(_)) => None,
        (None, None) if action_or_thought(step).is_empty() => Some("no proposal yet"),
        (None, None) => Some("proposed, not taken"),
        (Some(_), None) => Some("taken, no observation yet"),
    }
}

impl Comparison {
    /// Returns the differences between the runs that no row shows: those before the first step, and settings changed
    /// later.
    pub fn run_entries(&self) -> Vec<ComparisonEntry> {
        let initial = run_entries("differences before the first step", &self.initial_differences);
        let later = run_entries("changed during the run", &self.later_differences);
        initial.chain(later).collect()
    }

    /// Returns what the sides did at a row, and who decided. A side without a step in the row is shown with its next
    /// one.
    pub fn decision_entries(&self, row: usize) -> Vec<ComparisonEntry> {
        let numbers = self.next_steps(row);
        let step = |side: &Side, number: Option<u32>| number.and_then(|n| side.episode.step_arc(n)).cloned();
        let (left, right) = (step(&self.left, numbers.0), step(&self.right, numbers.1));
        let both = |name: &str, text: &dyn Fn(&Step) -> Option<String>| {
            let text = |s: &Option<Arc<Step>>| s.as_deref().and_then(text);
            entry("step", name, text(&left), text(&right))
        };
        let number =
            |n: Option<u32>, step: &Option<Arc<Step>>| match (n, step.as_deref().and_then(pending_label)) {
                (Some(0), _) => "the first observation".to_owned(),
                (Some(n), None) => format!("step {n}"),
                (Some(n), Some(pending)) => format!("step {n}: {pending}"),
                (None, _) => "no further step".to_owned(),
            };
        let mut all =
            vec![entry("step", "step", Some(number(numbers.0, &left)), Some(number(numbers.1, &right)))];
        if numbers == (Some(0), Some(0)) {
            let first_observation = |s: &Side| {
                s.episode.first_observation.as_ref().map(|r| r.agent_view.as_ref().unwrap_or(&r.raw).clone())
            };
            all.push(entry("step", "saw", first_observation(&self.left), first_observation(&self.right)));
            return all;
        }
        let actor = |side: &Side| match side.run().map(|run| (run.role_source(ModelRole::Actor), &run.actor))
        {
            None => "the actor".to_owned(),
            Some((rules @ RoleSource::Rules, _)) => rules.describe(),
            Some((_, name)) => name.clone(),
        };
        // A thought beside an action is the same part as the thought of the action's reply.
        let thinks = |s: &Option<Arc<Step>>| s.as_deref().map(Step::is_thought_only);
        let is_beside_action = matches!((thinks(&left), thinks(&right)), (Some(a), Some(b)) if a != b);
        let who = |s: &Option<Arc<Step>>, side: &Side| s.as_ref().map(|s| decided_by(s, &actor(side)));
        all.extend([
            both("thought", &|s| {
                if s.is_thought_only() {
                    s.thought_text().filter(|_| is_beside_action).map(str::to_owned)
                } else {
                    s.thought.clone()
                }
            }),
            both("did", &|s| {
                if s.is_thought_only() && is_beside_action {
                    Some("only thought".to_owned())
                } else {
                    let action = Some(action_or_thought(s).into_owned()).filter(|t| !t.is_empty());
                    let is_taken = s.executed.is_some() || s.answer.is_some();
                    action.map(|text| if is_taken { text } else { format!("{text} (not taken)") })
                }
            }),
            entry("step", "decided by", who(&left, &self.left), who(&right, &self.right)),
            both("then saw", &|s| s.observation().map(str::to_owned)),
        ]);
        all.retain(|s| s.left.is_some() || s.right.is_some());
        all
    }

    /// Returns the outcomes of both sides: how each ended, its steps, its progress and its tokens.
    pub fn outcome_entries(&self) -> Vec<ComparisonEntry> {
        let cost = |side: &Side, outcome: &Outcome| {
            let word = side.run.as_deref().map_or("call", RunSpec::request_word);
            format!("{} ({})", outcome.tokens, pluralize(outcome.calls.into(), word))
        };
        let (left, right) = &self.outcomes;
        vec![
            self.outcome_entry("outcome", &Outcome::ending),
            self.outcome_entry("steps", &|o| format!("{} ({})", o.steps, pluralize(o.moves.into(), "move"))),
            self.outcome_entry("progress", &|o| format!("{:.2}", o.progress)),
            entry("outcome", "tokens", Some(cost(&self.left, left)), Some(cost(&self.right, right))),
        ]
    }

    /// Returns what else the outcomes say: where progress rose, the mistakes, and what followed the first difference.
    pub fn detailed_outcome_entries(&self) -> Vec<ComparisonEntry> {
        let mut all = vec![
            self.outcome_entry("progress rose", &gains_text),
            self.outcome_entry("mistakes", &mistakes_text),
        ];
        if self.first_difference.is_some() {
            all.push(self.outcome_entry("afterwards", &|o| {
                format!(
                    "{}, {}",
                    pluralize(o.steps_after.into(), "step"),
                    pluralize(o.mistakes_after.into(), "mistake")
                )
            }));
        }
        all
    }

    fn outcome_entry(&self, name: &str, describe: &dyn Fn(&Outcome) -> String) -> ComparisonEntry {
        entry("outcome", name, Some(describe(&self.outcomes.0)), Some(describe(&self.outcomes.1)))
    }
}

/// Returns who decided on a step, a person or the actor, and whether the interface rewrote the action.
fn decided_by(step: &Step, actor: &str) -> String {
    let decider = match &step.executed {
        Some(executed) if executed.decided_by == DecidedBy::Person => "a person",
        None if step.call.is_none() => "a person",
        _ => actor,
    };
    let is_rewritten = step.executed.as_ref().is_some_and(|e| e.rewrite_rule.is_some());
    if is_rewritten { format!("{decider}, rewritten for the environment") } else { decider.to_owned() }
}

fn gains_text(outcome: &Outcome) -> String {
    let each: Vec<String> =
        outcome.progress_gains.iter().map(|(step, to)| format!("step {step} to {to:.2}")).collect();
    if each.is_empty() { "never".to_owned() } else { each.join(", ") }
}

fn mistakes_text(outcome: &Outcome) -> String {
    let list_counts = |counts: &BTreeMap<String, u32>| {
        let each: Vec<String> =
            counts.iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
        each.join(", ")
    };
    match outcome.mistake_count() {
        0 => "none detected".to_owned(),
        total => format!("{total}: {}", list_counts(&outcome.mistakes)),
    }
}
