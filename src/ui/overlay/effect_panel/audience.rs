//! What the measurement of a lesson looks like in stage mode: what it says in one sentence, wins and losses, and one mark a pair,
//! with room between them. Everything else is for the person who measures.

use super::EffectPanel;
use super::rows::{
    arms_in_order, legend, pair_mark, pair_text, panel_role, percent_of, phase_text, preparing_text,
    side_by_side_lines,
};
use crate::domain::pluralize;
use crate::report::effect::describe_columns;
use crate::text::width;
use crate::ui::effect::EffectColumn;
use crate::ui::frame_data::Context;
use crate::ui::theme::Role;
use crate::ui::widget::window::{Line, paragraph};

/// The smallest width in which the columns stand side by side.
const SIDE_BY_SIDE: u16 = 60;
/// Cells between the columns.
const GAP: u16 = 4;
/// Cells for the names of the arms, and for their wins.
const NAME_CELLS: usize = 9;
const WINS_CELLS: usize = 10;
/// The most cells of a bar.
const BAR_CELLS: usize = 16;
/// The most rows of marks in a column; of more pairs, the last ones are shown.
const MAX_MARK_ROWS: usize = 4;
/// The fewest rows of a screen with empty rows between the parts.
pub(super) const MIN_SPACED_ROWS: u16 = 28;

/// Returns the rows of the panel. `is_spaced` puts empty rows between them.
pub(super) fn audience_lines(
    panel: &EffectPanel,
    context: &Context<'_>,
    columns: u16,
    is_spaced: bool,
) -> Vec<Line> {
    let Some(progress) = panel.shown.as_ref().map(|shown| &shown.0) else {
        return paragraph((Role::Muted, ""), Role::Text, &preparing_text(panel, context), columns);
    };
    let mut lines = Vec::new();
    let is_started = progress.columns.iter().any(|column| column.log.settled_pairs() > 0);
    if is_started && let (Some(verdict), [here, elsewhere]) = (progress.panel(), progress.columns.as_slice())
    {
        let sentence = describe_columns(verdict, &here.result, &elsewhere.result);
        lines.extend(paragraph((Role::Muted, ""), panel_role(verdict), &sentence, columns));
    }
    let is_side_by_side = columns >= SIDE_BY_SIDE && progress.columns.len() == 2;
    // Of columns below each other, a low screen shows the first one only.
    let are_wins_above = !is_side_by_side && progress.columns.len() == 2;
    if are_wins_above {
        lines.extend(progress.columns.iter().filter_map(|column| {
            let name = column.plan().column?.to_string();
            Some([vec![(Role::Muted, format!("{name:<11}"))], wins_line(column)?].concat())
        }));
    }
    if !progress.is_finished() {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &phase_text(panel, context), columns));
    }
    for warning in progress.outage.iter().chain(&panel.error) {
        lines.extend(paragraph((Role::Muted, ""), Role::Warning, warning, columns));
    }
    lines.push(Vec::new());
    let each = if is_side_by_side { (columns - GAP) / 2 } else { columns };
    let both: Vec<Vec<Line>> = progress
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            column_lines(panel, context, (column, index), each, (is_spaced, !are_wins_above))
        })
        .collect();
    if is_side_by_side {
        lines.extend(side_by_side_lines(&both, each + GAP));
    } else {
        lines.extend(both.into_iter().flatten());
    }
    if is_started {
        lines.push(Vec::new());
        lines.extend(legend(context, columns));
    }
    lines
}

fn column_lines(
    panel: &EffectPanel,
    context: &Context<'_>,
    (column, index): (&EffectColumn, usize),
    columns: u16,
    (is_spaced, has_wins): (bool, bool),
) -> Vec<Line> {
    let gap = |lines: &mut Vec<Line>| {
        if is_spaced {
            lines.push(Vec::new());
        }
    };
    let plan = column.plan();
    let name = plan.column.map_or_else(|| "tasks".to_owned(), |column| column.to_string()).to_uppercase();
    let mut lines = vec![vec![(Role::Title, name)]];
    gap(&mut lines);
    let settled = column.log.settled_pairs();
    if settled == 0 {
        lines.extend(paragraph((Role::Muted, ""), Role::Muted, &column.cost, columns));
        return lines;
    }
    // A placebo is for those who ask; the panel outside of stage mode has it.
    for arm in arms_in_order(plan).into_iter().filter(|arm| *arm != "placebo") {
        lines.extend(arm_line(context, column, arm, columns));
        gap(&mut lines);
    }
    if let Some(wins) = wins_line(column).filter(|_| has_wins) {
        lines.push(wins);
        gap(&mut lines);
    }
    let last = settled;
    let each = u32::from((columns / 2).max(8));
    let rows = if is_spaced { MAX_MARK_ROWS } else { 2 } as u32;
    let first = last.saturating_sub(each * rows) + 1;
    for start in (first..=last).step_by(each as usize) {
        let marks = start..=last.min(start + each - 1);
        lines.push(
            marks
                .map(|number| {
                    let (text, role) = pair_mark(context, &column.log, number);
                    let is_selected = index == panel.column && panel.pair == Some(number);
                    (if is_selected { Role::Selection } else { role }, format!("{text} "))
                })
                .collect(),
        );
    }
    if let Some(pair) = panel.pair.filter(|_| index == panel.column) {
        lines.extend(paragraph((Role::Muted, ""), Role::Text, &pair_text(column, pair), columns));
    }
    lines
}

/// Returns the pairs that only one side won, once there are pairs: `9 : 0 of 24 pairs  with : without`.
fn wins_line(column: &EffectColumn) -> Option<Line> {
    let contrast = column.result.contrasts.first().filter(|_| column.log.settled_pairs() > 0)?;
    let counts = &contrast.judged.counts;
    let pairs = pluralize(contrast.judged.pairs, "pair");
    let text = format!("{} : {} of {pairs}", counts.first_only, counts.second_only);
    Some(vec![(Role::Title, text), (Role::Muted, "  with : without".to_owned())])
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
