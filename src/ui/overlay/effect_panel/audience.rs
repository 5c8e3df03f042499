//! What the measurement of a lesson looks like in stage mode: what it says in one sentence, wins and losses, the difference with its
//! interval and their level, and one mark a pair, with room between them. Everything else is for the person who measures.

use super::rows::{
    arms_in_order, legend, level_lines, mark_rows, pair_text, panel_role, percent_of, phase_text,
    preparing_text, retry_text, side_by_side_lines, verdict_role,
};
use super::{EffectPanel, describe_text};
use crate::domain::{ModelRole, describe_level, pluralize};
use crate::driver::measure::{EDITED, WITH};
use crate::report::effect::{
    column_name, describe_columns, describe_difference, describe_fact, describe_start, describe_verdict,
};
use crate::text::width;
use crate::timeline::effect::{Contrast, ContrastResult};
use crate::ui::effect::EffectColumn;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph};

/// The smallest width in which the columns stand side by side.
const SIDE_BY_SIDE: u16 = 50;
/// Cells between the columns.
const GAP: u16 = 4;
/// Cells for the names of the arms, and for their wins.
const NAME_CELLS: usize = 9;
const WINS_CELLS: usize = 10;
/// The most cells of a bar.
const BAR_CELLS: usize = 16;
/// What the numbers mean if no model plays.
const STAND_IN_NOTE: &str = "a stand-in plays: these numbers say nothing about a model";
/// The fewest rows of a screen with empty rows between the parts.
const MIN_SPACED_ROWS: u16 = 28;

/// Returns the rows of the panel on a screen of a height, with empty rows between them if there is room.
pub(super) fn audience_lines(
    panel: &EffectPanel,
    context: &Context<'_>,
    columns: u16,
    height: u16,
) -> Vec<Line> {
    let Some(progress) = panel.shown.as_ref().map(|shown| &shown.0) else {
        return paragraph((Role::Muted, ""), Role::Text, &preparing_text(panel, context), columns);
    };
    let mut lines = Vec::new();
    let is_started = progress.columns.iter().any(|column| column.log.settled_pairs() > 0);
    if is_started && let (Some(verdict), [here, elsewhere]) = (progress.panel(), progress.columns.as_slice())
    {
        let sentence = describe_columns(verdict, &here.result, &elsewhere.result, &retry_text(context));
        // It isn't about the other wording.
        let lead = if progress.query.edited.is_some() { "as it is  " } else { "" };
        lines.extend(paragraph((Role::Muted, lead), panel_role(verdict), &sentence, columns));
    }
    if is_started && let [only] = progress.columns.as_slice() {
        lines.extend(verdict_lines(only, columns));
    }
    if !progress.is_finished() {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &phase_text(panel, context), columns));
    }
    lines.push(Vec::new());
    let is_side_by_side = columns >= SIDE_BY_SIDE && progress.columns.len() == 2;
    let each = if is_side_by_side { (columns - GAP) / 2 } else { columns };
    let both: Vec<Vec<Line>> = progress
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| column_lines(panel, context, (column, index), each, height))
        .collect();
    if is_side_by_side {
        lines.extend(side_by_side_lines(&both, each + GAP));
    } else {
        lines.extend(both.into_iter().flatten());
    }
    // Below the wins, which a low screen has to show.
    for warning in progress.outage.iter().chain(&panel.error) {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, warning, columns));
    }
    if is_started {
        lines.push(Vec::new());
        // With more room, each column has its own.
        if !is_spaced(height) {
            lines.extend(level_lines(progress, columns));
        }
        lines.extend(legend(context, columns));
    }
    if let Some(edited) = &progress.query.edited {
        let text = describe_text(edited);
        lines.extend(paragraph((Role::Muted, "edited   "), Role::Lesson, &text, columns));
    }
    if context.frame.head.run.as_ref().is_some_and(|run| run.role_source(ModelRole::Actor).is_stand_in()) {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, STAND_IN_NOTE, columns));
    }
    lines
}

/// Returns whether a screen has room for empty rows between the parts.
fn is_spaced(height: u16) -> bool {
    height >= MIN_SPACED_ROWS
}

/// Returns what the only column says in one sentence.
fn verdict_lines(column: &EffectColumn, columns: u16) -> Vec<Line> {
    let Some(contrast) = column.result.contrasts.first() else { return Vec::new() };
    let sentence = describe_fact(&column.result).unwrap_or_else(|| describe_verdict(contrast));
    paragraph((Role::Muted, ""), verdict_role(contrast.judged.verdict), &sentence, columns)
}

fn column_lines(
    panel: &EffectPanel,
    context: &Context<'_>,
    (column, index): (&EffectColumn, usize),
    columns: u16,
    height: u16,
) -> Vec<Line> {
    let is_spaced = is_spaced(height);
    let gap = |lines: &mut Vec<Line>| {
        if is_spaced {
            lines.push(Vec::new());
        }
    };
    let plan = column.plan();
    let name = column_name(plan.column).to_uppercase();
    let settled = column.log.settled_pairs();
    let mut lines = vec![vec![(Role::Title, name)]];
    if is_spaced {
        // What the name means, and a gap.
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &describe_start(plan), columns));
    }
    gap(&mut lines);
    if settled == 0 {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &column.cost, columns));
        let arms = format!("a pair is an episode each: {}", arms_in_order(plan).join(", "));
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &arms, columns));
        return lines;
    }
    // A placebo is for those who ask; the panel outside of stage mode has it.
    for arm in arms_in_order(plan).into_iter().filter(|arm| *arm != "placebo") {
        lines.extend(arm_line(context, column, arm, columns));
        gap(&mut lines);
    }
    if let Some(contrast) = column.result.contrasts.first() {
        let counts = &contrast.judged.counts;
        let pairs = pluralize(contrast.judged.pairs, "pair");
        let text = format!("{} : {} of {pairs}", counts.first_only, counts.second_only);
        let sides = "  with : without".to_owned();
        let fits = width(&text) + width(&sides) <= usize::from(columns);
        lines.push([(Role::Title, text)].into_iter().chain(fits.then_some((Role::Muted, sides))).collect());
        gap(&mut lines);
        if let Some(difference) = describe_difference(contrast) {
            let level = describe_level(1.0 - contrast.alpha, "interval");
            lines.extend(if is_spaced {
                let level = format!("{level}, alpha {}", contrast.alpha);
                paragraph((Role::Title, &format!("{difference}  ")), Role::Muted, &level, columns)
            } else {
                paragraph((Role::Muted, ""), Role::Title, &difference, columns)
            });
            gap(&mut lines);
        }
    }
    let is_edited = |contrast: &&ContrastResult| contrast.judged.contrast == Contrast::new(EDITED, WITH);
    let edited = column.result.contrasts.iter().find(is_edited);
    if let Some(contrast) = edited.filter(|contrast| contrast.judged.pairs > 0) {
        let counts = &contrast.judged.counts;
        let pairs = pluralize(contrast.judged.pairs, "pair");
        let verdict =
            if contrast.has_claim { contrast.judged.verdict.to_string() } else { "no verdict".to_owned() };
        let difference = describe_difference(contrast).map_or_else(String::new, |text| format!("{text} · "));
        let text =
            format!("{difference}{} : {} of {pairs}, {verdict}", counts.first_only, counts.second_only);
        lines.extend(paragraph((Role::Muted, "edited : with  "), Role::Title, &text, columns));
        gap(&mut lines);
    }
    let rows = if is_spaced {
        height.saturating_sub(24).clamp(4, 10)
    } else {
        height.saturating_sub(18).clamp(2, 6)
    };
    lines.extend(mark_rows((panel, context), (column, index), (columns / 2).max(8), (rows.into(), " ")));
    if let Some(pair) = panel.pair.filter(|_| index == panel.column) {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &pair_text(context, column, pair), columns));
    }
    lines
}

/// Returns an arm's wins with a bar: `with    9 of 24  ▮▮▮▮▯▯▯▯`.
fn arm_line(context: &Context<'_>, column: &EffectColumn, name: &str, columns: u16) -> Option<Line> {
    let arm = column.result.arms.iter().find(|arm| arm.name == name && arm.episodes > 0)?;
    let wins = format!("{} of {}", arm.won, arm.episodes);
    let mut line =
        vec![(Role::Text, format!("{name:<NAME_CELLS$}")), (Role::Title, format!("{wins:>WINS_CELLS$}  "))];
    let used: usize = line.iter().map(|(_, text)| width(text)).sum();
    let cells = usize::from(columns).saturating_sub(used).min(BAR_CELLS);
    let [on, off] = context.glyphs.progress_cells;
    let full = (percent_of(arm.won, arm.episodes) / 100.0 * cells as f64).round() as usize;
    line.push((Role::ProgressFull, on.repeat(full)));
    line.push((Role::ProgressEmpty, off.repeat(cells - full)));
    Some(line)
}
