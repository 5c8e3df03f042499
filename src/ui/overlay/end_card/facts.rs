//! The facts about an ended episode on the end card.

use crate::catalog::RULES;
use crate::domain::{EpisodeSummary, Observation, Step, TokenCounts, pluralize};
use crate::engine::Episode;
use crate::text::{one_line, truncate};
use crate::ui::branches::BranchInfo;
use crate::ui::facts::{counted_unit, first_mistake, is_same_task, is_vague, outcome_sentence};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::progress_text;
use crate::ui::theme::Role;
use crate::ui::types::EpisodeRef;
use crate::ui::widget::window::{Line, paragraph};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

/// Columns for the label of a fact.
const LABEL_COLUMNS: usize = 17;
/// The most columns of an action inside a fact.
const MAX_ACTION_COLUMNS: usize = 40;
/// Maximum number of steps listed individually.
const MAX_LISTED_STEPS: usize = 8;

fn step_list(all: &[u32]) -> String {
    let named: Vec<String> = all.iter().take(MAX_LISTED_STEPS).map(u32::to_string).collect();
    let more = if all.len() > MAX_LISTED_STEPS { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

/// Returns whether progress rose above `before` after a step, before the next move to another place.
fn led_to_progress(episode: &Episode, step: &Step, before: f64) -> bool {
    let after = (step.number + 1..=episode.steps.len() as u32).filter_map(|n| episode.step(n));
    after
        .filter(|s| !s.is_thought_only())
        .take_while(|s| !s.action().is_some_and(|action| RULES.is_navigation(episode, action)))
        .any(|s| s.answer.as_ref().is_some_and(|a| a.progress > before))
}

/// Returns useless repeats of actions, with their steps, the most frequent action first. A repeat is useless if the
/// environment rejected it, or if its observation is the same as last time and neither progress nor reward has risen
/// since. What it did to the world isn't compared: a step doesn't contain it. Returning to a place isn't useless if progress was made there afterwards.
fn useless_repeats(episode: &Episode) -> Vec<(&str, Vec<u32>)> {
    let mut last: HashMap<&str, &Observation> = HashMap::new();
    let mut useless: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for step in episode.steps.iter().filter(|s| !s.is_thought_only()) {
        let (Some(done), Some(answer)) = (&step.executed, &step.answer) else { continue };
        let before = last.insert(&done.action, answer);
        let same = |b: &Observation| {
            b.raw == answer.raw && answer.progress <= b.progress && answer.reward <= b.reward
        };
        let needed =
            || RULES.is_navigation(episode, &done.action) && led_to_progress(episode, step, answer.progress);
        if before.is_some_and(|b| !answer.valid || (same(b) && !needed())) {
            useless.entry(&done.action).or_default().push(step.number);
        }
    }
    let mut useless: Vec<_> = useless.into_iter().collect();
    useless.sort_by_key(|(_, at)| std::cmp::Reverse(at.len()));
    useless
}

/// The play of a task that the card puts on the left of the one on screen.
pub(super) struct OtherPlay<'a> {
    ending: &'a EpisodeSummary,
    /// What each is called above its column.
    names: [String; 2],
    /// What both are called in one line.
    both: String,
    /// Names it for a comparison.
    pub(super) reference: EpisodeRef,
}

impl<'a> OtherPlay<'a> {
    /// Returns the play of the same episode on the branch that the one on screen was forked from, or else the last play of the
    /// task before it.
    pub(super) fn find(
        episode: &Episode,
        parent: Option<&'a BranchInfo>,
        context: &Context<'a>,
    ) -> Option<Self> {
        let on_parent = parent.and_then(|parent| {
            let ending = parent.last.as_deref().filter(|play| play.number == episode.number)?;
            let names = [format!("branch {}", parent.display_name()), "this branch".to_owned()];
            let both = names.join(" and ");
            Some(Self { ending, names, both, reference: EpisodeRef::on_branch(&parent.id) })
        });
        let earlier = || {
            let is_earlier = |p: &&Arc<EpisodeSummary>| {
                p.number < episode.number && p.role == episode.role && is_same_task(&p.task, &episode.task)
            };
            let plays = context.frame.head.ended_episodes.iter().filter(is_earlier);
            let ending = &**plays.max_by_key(|p| p.number)?;
            let names = [format!("trial {}", ending.trial), format!("trial {} (this one)", episode.trial)];
            let both = format!("trials {} and {}", ending.trial, episode.trial);
            let reference = EpisodeRef { episode: Some(ending.number), ..EpisodeRef::default() };
            Some(Self { ending, names, both, reference })
        };
        on_parent.or_else(earlier)
    }
}

/// Returns both plays of a task side by side, the other one on the left; one line if they ended alike.
fn both_plays(
    other: &OtherPlay<'_>,
    outcome: &EpisodeSummary,
    context: &Context<'_>,
    columns: u16,
) -> Vec<Line> {
    let OtherPlay { ending: earlier, names: [left, right], both, .. } = other;
    let room = usize::from(columns).saturating_sub(LABEL_COLUMNS + 2) / 2;
    let cell = |text: &str| format!("{:<room$}  ", truncate(text, room, context.glyphs.ellipsis));
    let role = |play: &EpisodeSummary| if play.won { Role::Good } else { Role::Bad };
    let row = |label: &str, (left, a): (Role, &str), (right, b): (Role, &str)| {
        vec![
            (Role::Muted, format!("{label:<LABEL_COLUMNS$}")),
            (left, cell(a)),
            (right, truncate(b, room, context.glyphs.ellipsis)),
        ]
    };
    let plain = |label: &str, value: &dyn Fn(&EpisodeSummary) -> String| {
        row(label, (Role::Text, &value(earlier)), (Role::Text, &value(outcome)))
    };
    let dot = context.glyphs.separator;
    let progress = |play: &EpisodeSummary| progress_text(play.progress, &context.frame.head);
    let facts = |play: &EpisodeSummary| (play.ending(), play.steps, progress(play));
    let mut lines = Vec::new();
    let are_alike = facts(earlier) == facts(outcome);
    if are_alike {
        let text = format!(
            "{both} ended alike at {}; {} and {} tokens",
            progress(outcome),
            earlier.tokens,
            outcome.tokens
        );
        let label = format!("{:<LABEL_COLUMNS$}", "both plays");
        lines.extend(paragraph((Role::Muted, &label), Role::Text, &text, columns));
    } else {
        let unit = counted_unit(&context.frame.head);
        lines.extend([
            row("both plays", (Role::SideA, left), (Role::SideB, right)),
            row("outcome", (role(earlier), &earlier.ending()), (role(outcome), &outcome.ending())),
            plain(&format!("{unit}s {dot} progress"), &|p| format!("{} {dot} {}", p.steps, progress(p))),
        ]);
    }
    let key = context.keymap.key_label_in(Mode::EndCard, Action::MeasureEffect);
    let measures = key.map_or_else(String::new, |key| format!(" {dot} {key} measures"));
    let caution = format!("one play each: an example, not evidence{measures}");
    lines.extend(paragraph((Role::Muted, &" ".repeat(LABEL_COLUMNS)), Role::Muted, &caution, columns));
    if !are_alike {
        lines.push(plain("tokens", &|p| p.tokens.to_string()));
    }
    lines
}

/// Adds a labelled fact, if there is one.
fn add_fact(lines: &mut Vec<Line>, label: &str, role: Role, text: &str, columns: u16) {
    if !text.is_empty() {
        lines.extend(paragraph((Role::Muted, &format!("{label:<LABEL_COLUMNS$}")), role, text, columns));
    }
}

/// Returns the first mistake with the key that goes there; empty without a reason, since what changed nothing has a row of its own.
fn first_mistake_text(episode: &Episode, context: &Context<'_>) -> String {
    let Some((step, note)) = first_mistake(episode).filter(|(_, note)| !is_vague(note)) else {
        return String::new();
    };
    let finding = RULES.describe_finding(episode, step, note);
    let finding = finding.unwrap_or_else(|| note.detector.replace('_', " "));
    let key = context.keymap.key_label_in(Mode::EndCard, Action::FirstMistake);
    let key = key.map_or_else(String::new, |key| format!(" ({key} goes there)"));
    format!("step {}: {}{key}", step.number, one_line(&finding))
}

/// Returns the useless repeats in words; empty if there are none.
fn repeats_text(episode: &Episode) -> String {
    let repeats = useless_repeats(episode);
    let named: Vec<String> = repeats
        .iter()
        .take(3)
        .map(|(action, at)| match at[..] {
            [only] => format!("{action}, again at step {only}"),
            _ => format!("{action}, again at steps {}", step_list(at)),
        })
        .collect();
    if named.is_empty() { String::new() } else { format!("{} (nothing new)", named.join("; ")) }
}

/// Returns the facts as rows.
pub(super) fn fact_lines(
    episode: &Episode,
    outcome: &EpisodeSummary,
    parent: Option<&BranchInfo>,
    context: &Context<'_>,
    columns: u16,
) -> Vec<Line> {
    let limit = context.frame.head.run.as_ref().map_or(0, |r| r.limits.steps);
    let role = if outcome.won { Role::Good } else { Role::Bad };
    let mut lines = paragraph(
        (role, ""),
        role,
        &outcome_sentence(outcome, limit, counted_unit(&context.frame.head)),
        columns,
    );
    let repeats = repeats_text(episode);
    // Why it was lost comes before the rest, of which a small screen shows the beginning.
    if !outcome.won {
        add_fact(&mut lines, "first mistake", Role::Bad, &first_mistake_text(episode, context), columns);
        let missing = RULES.missing_part(episode).unwrap_or_default();
        add_fact(&mut lines, "missing", Role::Warning, &missing, columns);
        add_fact(&mut lines, "repeated", Role::Text, &repeats, columns);
    }
    if let Some(other) = OtherPlay::find(episode, parent, context) {
        lines.extend(both_plays(&other, outcome, context, columns));
    }
    let mut add = |label: &str, role, text: &str| add_fact(&mut lines, label, role, text, columns);
    add("goal", Role::Text, &episode.task.goal);
    let progress = progress_text(outcome.progress, &context.frame.head);
    let last = match episode.step(episode.progress_step).and_then(|s| s.action()) {
        Some(action) => {
            // A program is an action, too.
            let action = truncate(&one_line(action), MAX_ACTION_COLUMNS, context.glyphs.ellipsis);
            format!("{progress}, last at step {} ({action})", episode.progress_step)
        }
        None => format!("{progress}, no step made progress"),
    };
    add("progress", Role::Text, &last);
    let invalid: Vec<u32> = episode
        .steps
        .iter()
        .filter(|s| !s.is_thought_only() && s.answer.as_ref().is_some_and(|a| !a.valid))
        .map(|s| s.number)
        .collect();
    if !invalid.is_empty() {
        let words = match invalid[..] {
            [only] => format!("once, at step {only}"),
            _ => format!("{} times: steps {}", invalid.len(), step_list(&invalid)),
        };
        let is_yours = |number: &u32| episode.step(*number).is_some_and(Step::is_person_action);
        let yours: Vec<u32> = invalid.iter().copied().filter(is_yours).collect();
        let words = match yours[..] {
            [] => words,
            _ if yours == invalid => format!("{words} (your own)"),
            _ => format!("{words} (your own: {})", step_list(&yours)),
        };
        add("nothing happened", Role::Text, &words);
    }
    if outcome.won {
        add("repeated", Role::Text, &repeats);
    }
    let assisted = if outcome.assisted { "; assisted" } else { "" };
    add(
        "cost",
        Role::Muted,
        &format!(
            "{}, {} tokens{}, {}{assisted}",
            requests_text(outcome, context),
            outcome.tokens,
            counting_note(&outcome.stats.token_counts),
            pluralize(u64::from(outcome.moves), "move")
        ),
    );
    let spent = &context.frame.head.usage;
    if spent.has_other_calls() || context.frame.head.ended_episodes.len() > 1 {
        add("whole run", Role::Muted, &context.frame.head.describe_usage());
    }
    if let Some(words) = context.frame.head.prefetch_stats().describe() {
        add("prefetched", Role::Muted, &words);
    }
    lines
}

/// Returns how often models were called. If the rules play, it is the number of prompts that they have read.
fn requests_text(outcome: &EpisodeSummary, context: &Context<'_>) -> String {
    let Some(run) = context.frame.head.run.as_deref() else { return String::new() };
    let requests = pluralize(u64::from(outcome.calls), run.request_word());
    let counts = &outcome.stats.token_counts;
    // After a change of the actor, models have been called as well.
    let is_without_model = run.is_without_model() && counts.tokens() == counts.estimated;
    if is_without_model { format!("no model was called; {requests}") } else { requests }
}

/// Returns who counted the tokens if the server didn't report them all, and the cost if it is known.
fn counting_note(counted: &TokenCounts) -> String {
    let all = counted.tokens();
    let mut words = String::new();
    if all > 0 && counted.reported < all {
        let sources = if counted.estimated == all { "estimated".to_owned() } else { counted.describe() };
        words = format!(" ({sources})");
    }
    if let Some(cost) = counted.format_cost() {
        let _ = write!(words, ", cost {cost}");
    }
    words
}
