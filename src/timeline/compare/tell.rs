//! What a comparison has to say, side by side, for whoever shows it.

use super::{Before, Comparison, Outcome, Told};
use std::collections::BTreeMap;

/// Something that stands side by side: a side without it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// What it is about: `settings`, `lessons`, `prompt`, `world`, `outcome`.
    pub about: &'static str,
    /// Its name there, such as `seed` or `Error 6`.
    pub name: String,
    /// What the left side has.
    pub a: Option<String>,
    /// What the right side has.
    pub b: Option<String>,
}

fn saying(about: &'static str, name: impl Into<String>, a: Option<String>, b: Option<String>) -> Saying {
    Saying { about, name: name.into(), a, b }
}

impl Before {
    /// What differs, side by side: lessons, prompt, world, settings. A lesson is told once, though it stands in the prompt
    /// as well.
    pub fn sayings(&self) -> Vec<Saying> {
        let mut all = Vec::new();
        let name = |l: &Told| match l.version {
            0 | 1 => format!("{} {}", l.kind.name(), l.number),
            version => format!("{} {} v{version}", l.kind.name(), l.number),
        };
        for lesson in &self.lessons.only_a {
            all.push(saying("lessons", name(lesson), Some(words(lesson)), None));
        }
        for lesson in &self.lessons.only_b {
            all.push(saying("lessons", name(lesson), None, Some(words(lesson))));
        }
        for (a, b) in &self.lessons.changed {
            all.push(saying("lessons", name(b), Some(words(a)), Some(words(b))));
        }
        let told = self.lessons != super::Lessons::default();
        for pair in &self.segments {
            let from = [&pair.a, &pair.b].into_iter().flatten().next().map_or("", |p| p.from.as_str());
            if told && from.starts_with("lesson ") {
                continue;
            }
            let name = if from.is_empty() {
                pair.label.name().to_owned()
            } else {
                format!("{}, {from}", pair.label.name())
            };
            let side = |p: &Option<super::Piece>| p.as_ref().map(|p| p.words.trim().to_owned());
            all.push(saying("prompt", name, side(&pair.a), side(&pair.b)));
        }
        if let Some((a, b)) = &self.world.observation {
            all.push(saying("world", "last seen", Some(a.clone()), Some(b.clone())));
        }
        if let Some((a, b)) = self.world.progress {
            all.push(saying("world", "progress", Some(format!("{a:.2}")), Some(format!("{b:.2}"))));
        }
        let differing = |about, list: &[super::Differing]| {
            list.iter().map(|d| saying(about, d.name.clone(), d.a.clone(), d.b.clone())).collect::<Vec<_>>()
        };
        all.extend(differing("world", &self.world.shown));
        all.extend(differing("settings", &self.settings));
        all
    }
}

fn words(lesson: &Told) -> String {
    match &lesson.text.solution {
        Some(solution) => format!("{} -> {solution}", lesson.text.text),
        None => lesson.text.text.clone(),
    }
}

impl Comparison {
    /// What the sides came to, side by side.
    pub fn results(&self) -> Vec<Saying> {
        let row = |name: &str, of: &dyn Fn(&Outcome) -> String| {
            saying("outcome", name, Some(of(&self.outcomes.0)), Some(of(&self.outcomes.1)))
        };
        let mut rows = vec![
            row("outcome", &|o| {
                o.verdict().to_owned() + if o.assisted { ", with a person's hand" } else { "" }
            }),
            row("steps", &|o| format!("{}, {} of them moves", o.steps, o.moves)),
            row("progress", &|o| format!("{:.2}", o.progress)),
            row("it rose at", &gains),
            row("mistakes", &mistakes),
            row("cost", &|o| format!("{} calls, {} tokens", o.calls, o.tokens)),
        ];
        if self.first.is_some() {
            rows.push(row("from there on", &|o| {
                format!("{} steps, {} mistakes", o.steps_after, o.mistakes_after)
            }));
        }
        rows
    }
}

fn gains(outcome: &Outcome) -> String {
    let each: Vec<String> =
        outcome.gains.iter().map(|(step, to)| format!("turn {step} to {to:.2}")).collect();
    if each.is_empty() { "no turn".to_owned() } else { each.join(", ") }
}

fn mistakes(outcome: &Outcome) -> String {
    let told = |all: &BTreeMap<String, u32>| {
        let each: Vec<String> =
            all.iter().map(|(name, n)| format!("{n} {}", name.replace('_', " "))).collect();
        each.join(", ")
    };
    match outcome.mistaken() {
        0 => "none noted".to_owned(),
        all => format!("{all}: {}", told(&outcome.mistakes)),
    }
}
