//! What the measurement of a lesson looks like.

use super::{EffectPanel, Start};
use crate::domain::{MeasuredEffect, ModelRole, describe_alpha, pluralize};
use crate::report::effect::{
    column_name, describe_columns, describe_contrast, describe_discarded, describe_fact, describe_mode,
    describe_other_outcomes, describe_start, describe_stop, describe_verdict, percent, remarks,
    wording_remark,
};
use crate::text::width;
use crate::timeline::effect::{ContrastResult, EffectLog, EffectPlan, PanelVerdict, StopReason, Verdict};
use crate::ui::effect::{EffectColumn, EffectPhase, EffectProgress};
use crate::ui::facts::counted_unit;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::types::WorkKind;
use crate::ui::widget::window::{Line, paragraph};

/// The smallest width in which the columns stand side by side.
const SIDE_BY_SIDE: u16 = 100;
/// Cells between the columns.
const GAP: u16 = 3;
/// Cells for the names of the arms, and for their wins.
const NAME_CELLS: usize = 9;
const WINS_CELLS: usize = 11;
/// The most rows of marks in a column; of more pairs, those that differ are shown first.
const MAX_DOT_ROWS: usize = 6;

/// What the numbers mean if no model plays.
const STAND_IN_NOTE: &str = "the actor is a stand-in: these numbers say nothing about a model. The built-in rules understand a lesson only in one of their own forms: `form` in the help lists them";

/// Returns the rows of the panel.
pub(super) fn panel_lines(panel: &EffectPanel, context: &Context<'_>, columns: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    let Some(shown) = &panel.shown else {
        let text = preparing_text(panel, context);
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &text, columns));
        return lines;
    };
    let progress = &shown.0;
    if let (Some(panel), [here, elsewhere]) = (progress.panel(), progress.columns.as_slice())
        && progress.columns.iter().any(|column| column.log.settled_pairs() > 0)
    {
        let sentence = describe_columns(panel, &here.result, &elsewhere.result, &retry_text(context));
        lines.extend(paragraph((Role::Muted, ""), panel_role(panel), &sentence, columns));
    }
    let is_side_by_side = columns >= SIDE_BY_SIDE && progress.columns.len() == 2;
    if !is_side_by_side && progress.columns.len() == 2 {
        // The second column is below the first one, where a low screen doesn't show it.
        lines.extend(progress.columns.iter().flat_map(|column| summary_lines(column, columns)));
    }
    // What a key does next, and what holds it up, stand where a low screen shows them.
    lines.extend(paragraph((Role::Muted, ""), Role::Text, &phase_text(panel, context), columns));
    for warning in progress.outage.iter().chain(&panel.error) {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, warning, columns));
    }
    let level = level_lines(progress, columns);
    // A low screen has no row to spare.
    let is_apart = level.is_empty() || is_side_by_side;
    lines.extend(level);
    if is_apart {
        lines.push(Vec::new());
    }
    if progress.columns.iter().all(|column| column.log.settled_pairs() == 0) {
        // Of a measurement elsewhere, such as the one that a demo tells of, only the result is here.
        let lesson = context.frame.head.pool.get(&progress.query.lesson);
        let results = lesson.map_or_else(Vec::new, |lesson| context.measured_results(lesson));
        // With another wording as one more arm, it was measured again; the last result of each place is enough.
        let place = |result: &MeasuredEffect| {
            (result.version, result.column.clone(), result.start.clone(), result.live)
        };
        let is_repeated = |index: usize| {
            let result = results[index];
            let has_wording = |later: &MeasuredEffect| {
                let text = |of: &MeasuredEffect| of.edited.as_ref().map(|edited| edited.text.clone());
                result.edited.is_none() || text(result) == text(later)
            };
            results.iter().skip(index + 1).any(|later| place(later) == place(result) && has_wording(later))
        };
        for (index, result) in results.iter().enumerate() {
            if is_repeated(index) {
                continue;
            }
            let of = match lesson {
                Some(lesson) if lesson.version() != result.version => format!("version {}: ", result.version),
                _ => String::new(),
            };
            let text = format!("measured before: {of}{}, {}", result.describe(), result.describe_verdict());
            lines.extend(paragraph((Role::Muted, ""), Role::Lesson, &text, columns));
            if let Some(edited) = lesson.and_then(|lesson| result.describe_edited(lesson.text())) {
                let text = format!("measured before: {edited}");
                lines.extend(paragraph((Role::Muted, ""), Role::Lesson, &text, columns));
            }
        }
    }
    if is_side_by_side {
        lines.extend(side_by_side(panel, context, progress, columns));
    } else {
        for index in 0..progress.columns.len() {
            lines.extend(column_lines(panel, context, progress, index, columns));
            lines.push(Vec::new());
        }
    }
    if lines.last().is_some_and(|line| !line.is_empty()) {
        lines.push(Vec::new());
    }
    if let Some(reason) = &progress.missing_column {
        let text = format!("only one column: {reason}");
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, &text, columns));
    }
    let unjudged =
        |what: &str| progress.columns.iter().find_map(|column| wording_remark(&column.result, what));
    if !panel.is_running()
        && let Some(remark) = unjudged(&wording_verdict_text(panel, context))
    {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &remark, columns));
    }
    if let Some(edited) = &progress.query.edited {
        let text = edited.solution.as_ref().map_or_else(
            || edited.text.clone(),
            |solution| format!("{} {} {solution}", edited.text, context.glyphs.solution),
        );
        lines.extend(paragraph((Role::Muted, "edited   "), Role::Lesson, &text, columns));
    }
    let budget = progress.budget().describe();
    if !budget.is_empty() {
        let text = format!("each column stops at {budget}");
        lines.extend(paragraph((Role::Muted, "budget   "), Role::Text, &text, columns));
    }
    if let Some(first) = progress.columns.first() {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, describe_mode(first.plan()), columns));
    }
    if let Some(warning) = &progress.unknown_sources {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, warning, columns));
    }
    if let Some(text) = renewal_text(panel, context) {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, &text, columns));
    }
    if context.frame.head.run.as_ref().is_some_and(|run| run.role_source(ModelRole::Actor).is_stand_in()) {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, STAND_IN_NOTE, columns));
    }
    if progress.columns.iter().any(|column| column.log.settled_pairs() > 0) {
        lines.extend(legend(context, columns));
    }
    // Last, so that they are in the way of nothing on a low screen, which scrolls to them.
    for column in &progress.columns {
        let primary = column.result.contrasts.first();
        let others = primary.and_then(|contrast| describe_other_outcomes(column.plan(), contrast));
        let lead = format!("{}: ", column_name(column.plan().column));
        lines.extend(
            others.into_iter().flat_map(|text| paragraph((Role::Muted, &lead), Role::Muted, &text, columns)),
        );
    }
    lines
}

/// Returns the level of the columns' verdicts and intervals; nothing before the first pair, and nothing of facts, which have none.
pub(super) fn level_lines(progress: &EffectProgress, columns: u16) -> Vec<Line> {
    let is_sample = progress.columns.iter().any(|column| column.result.fact.is_none());
    let Some(plan) = progress.columns.first().filter(|_| is_sample && progress.pairs().0 > 0) else {
        return Vec::new();
    };
    let each = if progress.columns.len() > 1 { "each column: " } else { "" };
    let alpha = describe_alpha(plan.plan().alpha, plan.plan().margin);
    paragraph((Role::Muted, each), Role::Muted, &alpha, columns)
}

/// Says what a measurement from the present moment would do differently, and which key makes it; `None` if nothing.
fn renewal_text(panel: &EffectPanel, context: &Context<'_>) -> Option<String> {
    let key_of = |action| context.keymap.key_label_in(Mode::Effect, action).unwrap_or_default();
    let mut key = key_of(Action::RenewEffect);
    if panel.is_running() {
        key = format!("after {}, which stops it, {key}", key_of(Action::StopEffect));
    }
    let older = "the lessons have changed since it began: it goes on with those of then";
    let Some(place) = panel.other_place() else {
        return panel.has_older_lessons().then(|| format!("{older}; {key} measures with the present ones"));
    };
    let moment = place.step.map_or_else(|| "the start".to_owned(), |step| format!("step {step}"));
    let episode = place.episode.map_or_else(String::new, |episode| format!(" of episode {episode}"));
    Some(if panel.has_older_lessons() {
        format!("{older}; {key} measures from {moment}{episode} with the present ones")
    } else {
        format!("it is about another moment; {key} measures from {moment}{episode}")
    })
}

/// Says how another wording gets a verdict: as a lesson of its own.
fn wording_verdict_text(panel: &EffectPanel, context: &Context<'_>) -> String {
    let measure = context.keymap.key_label(Action::MeasureEffect).unwrap_or_default();
    if panel.is_edited_better() {
        let take = context.keymap.key_label_in(Mode::Effect, Action::TakeWording).unwrap_or_default();
        return format!("give it to the lesson with {take}, then measure the lesson with {measure}");
    }
    let teach = context.keymap.key_label(Action::AddLesson).unwrap_or_default();
    format!("teach it as a lesson of its own with {teach}, then measure that with {measure}")
}

/// Returns what is shown before the plan is known.
pub(super) fn preparing_text(panel: &EffectPanel, context: &Context<'_>) -> String {
    match &panel.error {
        Some(error) => error.clone(),
        None if panel.start == Start::WhenPlanned => context
            .cancellable_work_text("preparing the measurement, then it starts ...", WorkKind::EffectPlan),
        None => context.cancellable_work_text("preparing the measurement ...", WorkKind::EffectPlan),
    }
}

/// Returns what a column has shown so far: `elsewhere  +11 % [0.2, 23.6] · 12 : 1 · 100 pairs, helped`.
fn summary_lines(column: &EffectColumn, columns: u16) -> Vec<Line> {
    let primary = column.result.contrasts.first().filter(|contrast| contrast.judged.pairs > 0);
    let Some((contrast, name)) = primary.zip(column.plan().column) else { return Vec::new() };
    let lead = format!("{:<11}", name.to_string());
    let text = match contrast.fact {
        Some(fact) => format!("a fact, not a sample: {}", fact.describe()),
        None => format!("{}, {}", describe_contrast(contrast), contrast.judged.verdict),
    };
    paragraph((Role::Muted, &lead), verdict_role(contrast.judged.verdict), &text, columns)
}

fn side_by_side(
    panel: &EffectPanel,
    context: &Context<'_>,
    progress: &EffectProgress,
    columns: u16,
) -> Vec<Line> {
    let each = (columns - GAP) / 2;
    let both: Vec<Vec<Line>> =
        (0..2).map(|index| column_lines(panel, context, progress, index, each)).collect();
    side_by_side_lines(&both, each + GAP)
}

/// Puts the lines of two columns beside each other, the second from column `start` on.
pub(super) fn side_by_side_lines(both: &[Vec<Line>], start: u16) -> Vec<Line> {
    let [left, right] = both else { return both.concat() };
    (0..left.len().max(right.len()))
        .map(|row| {
            let mut line = left.get(row).cloned().unwrap_or_default();
            let used: usize = line.iter().map(|(_, text)| width(text)).sum();
            line.push((Role::Text, " ".repeat(usize::from(start).saturating_sub(used))));
            line.extend(right.get(row).cloned().unwrap_or_default());
            line
        })
        .collect()
}

pub(super) fn phase_text(panel: &EffectPanel, context: &Context<'_>) -> String {
    let key = |action| context.keymap.key_label_in(Mode::Effect, action).unwrap_or_default();
    let Some(progress) = panel.shown.as_ref().map(|shown| &shown.0) else { return String::new() };
    // If all that was played was discarded, there is no episode.
    let has_begun =
        |column: &EffectColumn| column.log.totals().episodes > 0 || column.log.settled_pairs() > 0;
    let started = progress.columns.iter().any(has_begun);
    match (panel.is_running(), started) {
        (true, _) => {
            let left = panel.time_left(context.now);
            let left = left.map_or_else(String::new, |left| format!(", {left}"));
            format!(
                "measuring{left}; {} leaves it running, {} stops it",
                key(Action::Close),
                key(Action::StopEffect)
            )
        }
        (false, _) if panel.start == Start::Begun && context.frame.work(WorkKind::Effect).is_some() => {
            "starting ...".to_owned()
        }
        (false, false) => format!("{} starts", key(Action::Open)),
        (false, true) if progress.is_finished() => {
            let more = panel.key_for_more(context).map_or_else(String::new, |more| format!("; {more}"));
            format!("finished; the result stays with the lesson{more}")
        }
        (false, true) if progress.columns.iter().any(|column| column.log.can_retry()) => {
            let has_failed = |column: &EffectColumn| column.log.stopped() == Some(StopReason::FailedCalls);
            let pairs = if progress.columns.iter().any(has_failed) { "pairs" } else { "discarded pairs" };
            format!("{} continues, and plays the {pairs} again", key(Action::Open))
        }
        (false, true) => format!("{} continues", key(Action::Open)),
    }
}

/// Says which key plays discarded pairs again.
pub(super) fn retry_text(context: &Context<'_>) -> String {
    let key = context.keymap.key_label_in(Mode::Effect, Action::Open).unwrap_or_default();
    format!("{key} plays them again")
}

pub(super) fn legend(context: &Context<'_>, columns: u16) -> Vec<Line> {
    let [first, second, both, neither] = context.glyphs.pair_marks;
    let text = format!(
        "one mark a pair: {first} won only with the lesson, {second} only without, {both} both, {neither} neither"
    );
    paragraph((Role::Muted, ""), Role::Muted, &text, columns)
}

fn column_lines(
    panel: &EffectPanel,
    context: &Context<'_>,
    progress: &EffectProgress,
    index: usize,
    columns: u16,
) -> Vec<Line> {
    let Some(column) = progress.columns.get(index) else { return Vec::new() };
    let (plan, result) = (column.plan(), &column.result);
    let name = column_name(plan.column).to_uppercase();
    let lead = format!("{name}  ");
    let is_selected = index == panel.column && (panel.pair.is_some() || progress.columns.len() > 1);
    let role = if is_selected { Role::SelectedPart } else { Role::Title };
    let mut lines = paragraph((role, &lead), Role::Muted, &describe_start(plan), columns);
    let settled = column.log.settled_pairs();
    if settled == 0 {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &column.cost, columns));
        if let Some(detectable) = &column.detectable {
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, detectable, columns));
        }
    }
    let arms = arms_in_order(plan).into_iter();
    lines.extend(arms.filter_map(|arm| arm_line(context, column, arm, columns)).filter(|_| {
        // Before the first episode there is nothing to count.
        result.arms.iter().any(|arm| arm.episodes > 0)
    }));
    lines.extend(dot_rows(panel, context, column, index, columns));
    if let Some(fact) = describe_fact(result) {
        lines.extend(paragraph((Role::Muted, ""), Role::Title, &fact, columns));
        return lines;
    }
    let played = result.contrasts.iter().filter(|contrast| contrast.judged.pairs > 0);
    for (place, contrast) in played.enumerate() {
        lines.extend(contrast_lines(contrast, place == 0, plan.alpha, columns));
    }
    for remark in remarks(plan.outcome, result) {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, &remark, columns));
    }
    match result.stopped {
        // The verdict stands above.
        Some(StopReason::Decided) if result.discarded == 0 => {}
        Some(_) => {
            let why = describe_stop(result).unwrap_or_default();
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, &why, columns));
        }
        None if progress.phase == EffectPhase::Running && settled > 0 => {
            let discarded = describe_discarded(result).map_or_else(String::new, |pairs| format!("; {pairs}"));
            let text = format!("{settled} of at most {} pairs{discarded}", column.log.last_pair());
            lines.extend(paragraph((Role::Muted, ""), Role::Muted, &text, columns));
        }
        None => {}
    }
    lines
}

/// Returns the arms from the one without the lesson on, as a person reads them.
pub(super) fn arms_in_order(plan: &EffectPlan) -> Vec<&str> {
    let mut arms = plan.arms();
    let rank = |arm: &str| ["without", "with", "placebo", "edited"].iter().position(|name| *name == arm);
    arms.sort_by_key(|arm| rank(arm).unwrap_or(usize::MAX));
    arms
}

/// Returns an arm's wins, with a bar of its success rate: `without   0 of 30   0 %  ▯▯▯▯`.
fn arm_line(context: &Context<'_>, column: &EffectColumn, name: &str, columns: u16) -> Option<Line> {
    let arm = column.result.arms.iter().find(|arm| arm.name == name)?;
    let wins = format!("{} of {}", arm.won, arm.episodes);
    let share = percent_of(arm.won, arm.episodes) / 100.0;
    let rate = if arm.episodes == 0 { String::new() } else { format!("{} %", percent(share)) };
    let mut line = vec![
        (Role::Text, format!("{name:<NAME_CELLS$}")),
        (Role::Title, format!("{wins:>WINS_CELLS$} {rate:>6}  ")),
    ];
    let used: usize = line.iter().map(|(_, text)| width(text)).sum();
    let cells = usize::from(columns).saturating_sub(used).min(20);
    if arm.episodes > 0 && cells >= 5 {
        let [on, off] = context.glyphs.progress_cells;
        let full = (share * cells as f64).round() as usize;
        line.push((Role::ProgressFull, on.repeat(full)));
        line.push((Role::ProgressEmpty, off.repeat(cells - full)));
    }
    Some(line)
}

/// Returns a share in percent, 0 of nothing.
pub(super) fn percent_of(won: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { won as f64 * 100.0 / all as f64 }
}

/// Returns the difference and the verdict of a contrast. The first is what the measurement is about.
fn contrast_lines(contrast: &ContrastResult, is_primary: bool, alpha: f64, columns: u16) -> Vec<Line> {
    let lead = format!("{} ", contrast.judged.contrast);
    let mut text = describe_contrast(contrast);
    // That of the column stands above.
    if contrast.alpha.total_cmp(&alpha).is_ne() {
        text = format!("{text} · alpha {}", contrast.alpha);
    }
    if !is_primary && !contrast.has_claim {
        let mut lines = paragraph((Role::Muted, &lead), Role::Muted, &text, columns);
        if contrast.exploratory.is_some() {
            lines.extend(paragraph((Role::Muted, "  "), Role::Muted, &describe_verdict(contrast), columns));
        }
        return lines;
    }
    let role = if is_primary { Role::Title } else { Role::Text };
    let mut lines = paragraph((Role::Muted, &lead), role, &text, columns);
    let verdict = verdict_role(contrast.judged.verdict);
    lines.extend(paragraph((Role::Muted, "  "), verdict, &describe_verdict(contrast), columns));
    if is_primary && contrast.advice.total() > 0 {
        // Whose definition this is stands in the lesson's details and in exports.
        let counts = format!("{} by steps", contrast.advice.describe());
        lines.extend(paragraph((Role::Muted, "  "), Role::Muted, &counts, columns));
    }
    lines
}

pub(super) fn verdict_role(verdict: Verdict) -> Role {
    match verdict {
        Verdict::Helped => Role::Good,
        Verdict::Harmful | Verdict::Inconsistent => Role::Bad,
        Verdict::NoEffectSeen => Role::Title,
        Verdict::Undecided => Role::Text,
    }
}

pub(super) fn panel_role(verdict: PanelVerdict) -> Role {
    match verdict {
        PanelVerdict::Lesson => Role::Good,
        PanelVerdict::Answer => Role::Warning,
        PanelVerdict::Harmful | PanelVerdict::Inconsistent => Role::Bad,
        PanelVerdict::NoEffectSeen | PanelVerdict::Undecided => Role::Title,
    }
}

/// Returns one mark a pair, and what is known of the selected one.
fn dot_rows(
    panel: &EffectPanel,
    context: &Context<'_>,
    column: &EffectColumn,
    index: usize,
    columns: u16,
) -> Vec<Line> {
    let each = columns.saturating_sub(2).max(8);
    let mut rows = mark_rows((panel, context), (column, index), each, (MAX_DOT_ROWS, ""));
    if let Some(pair) = panel.pair.filter(|_| index == panel.column) {
        rows.extend(paragraph((Role::Muted, ""), Role::Text, &pair_text(context, column, pair), columns));
    }
    rows
}

/// Returns one mark a pair, `each` in a row, with a gap after each. If they don't fit into the rows, those of the pairs that
/// differ, which are what counts, and the selected one, with the number of the others.
pub(super) fn mark_rows(
    (panel, context): (&EffectPanel, &Context<'_>),
    (column, index): (&EffectColumn, usize),
    each: u16,
    (max_rows, gap): (usize, &str),
) -> Vec<Line> {
    let (log, last) = (&column.log, column.log.settled_pairs());
    let selected = panel.pair.filter(|_| index == panel.column);
    let room = usize::from(each) * max_rows;
    let mut numbers: Vec<u32> = (1..=last).collect();
    let mut others = None;
    if numbers.len() > room {
        let differs = |number: u32| pair_outcome(log, number).is_some_and(|(first, second)| first != second);
        numbers.retain(|number| differs(*number) || selected == Some(*number));
        let equal = last as usize - numbers.iter().filter(|number| differs(**number)).count();
        // The last row is for what isn't shown. The selected pair is shown in any case.
        let kept = room - usize::from(each);
        let end = selected.and_then(|pair| numbers.iter().position(|number| *number == pair));
        let end = end.map_or(numbers.len(), |place| (place + 1).max(kept)).min(numbers.len());
        let hidden = numbers.len().saturating_sub(kept);
        numbers.truncate(end);
        numbers.drain(..end.saturating_sub(kept));
        let more = if hidden > 0 { format!(", {hidden} more that differ") } else { String::new() };
        others = Some(format!("+ {equal} equal{more}"));
    }
    let mut rows: Vec<Line> = Vec::new();
    for numbers in numbers.chunks(usize::from(each)) {
        let mut row: Line = Vec::new();
        for number in numbers {
            let (text, role) = pair_mark(context, log, *number);
            let role = if selected == Some(*number) { Role::SelectedPart } else { role };
            match row.last_mut() {
                Some((last, texts)) if *last == role && gap.is_empty() => texts.push_str(text),
                _ => row.push((role, format!("{text}{gap}"))),
            }
        }
        rows.push(row);
    }
    rows.extend(others.map(|others| vec![(Role::Muted, others)]));
    rows
}

/// Returns whether each side of the primary contrast won a pair; `None` if it doesn't count. With repeats, a side won the pair if
/// it won more of them.
fn pair_outcome(log: &EffectLog, number: u32) -> Option<(bool, bool)> {
    let pair = log.pairs().get(&number).filter(|_| log.discarded(number).is_none())?;
    let contrast = log.plan().contrasts.first()?;
    let wins = |arm: &str| pair.episodes_of(arm).filter(|episode| episode.won).count();
    pair.episodes_of(&contrast.first).next()?;
    pair.episodes_of(&contrast.second).next()?;
    let (first, second) = (wins(&contrast.first), wins(&contrast.second));
    Some(match first.cmp(&second) {
        std::cmp::Ordering::Greater => (true, false),
        std::cmp::Ordering::Less => (false, true),
        std::cmp::Ordering::Equal => (first > 0, second > 0),
    })
}

fn pair_mark(context: &Context<'_>, log: &EffectLog, number: u32) -> (&'static str, Role) {
    let [first, second, both, neither] = context.glyphs.pair_marks;
    match pair_outcome(log, number) {
        Some((true, false)) => (first, Role::Good),
        Some((false, true)) => (second, Role::Bad),
        Some((true, true)) => (both, Role::Muted),
        Some((false, false)) => (neither, Role::Muted),
        None => (" ", Role::Muted),
    }
}

/// Describes the selected pair: `pair 3 of 30: with won in 12 steps, without lost (step limit)`.
pub(super) fn pair_text(context: &Context<'_>, column: &EffectColumn, number: u32) -> String {
    let of = format!("pair {number} of {}", column.log.settled_pairs());
    if let Some(discarded) = column.log.discarded(number) {
        return format!("{of}: doesn't count: {}", discarded.reason);
    }
    let Some(pair) = column.log.pairs().get(&number) else { return of };
    let describe = |arm: &str| {
        let episode = pair.episode(arm, 1)?;
        Some(if episode.won {
            format!("{arm} won in {}", pluralize(episode.steps.into(), counted_unit(&context.frame.head)))
        } else {
            format!("{arm} lost ({})", episode.reason)
        })
    };
    let arms: Vec<String> = arms_in_order(column.plan()).into_iter().take(2).filter_map(describe).collect();
    format!("{of}: {}", arms.join(", "))
}
