//! Computes the area of each pane. Pure arithmetic on rectangles that works for any size, down to a single cell.

use crate::ui::types::Focus;
use ratatui::layout::{Constraint, Layout, Rect};

/// The digit that focuses the first lane. Story has 1 and World 2; what follows the lanes has the next digits.
pub const FIRST_LANE: usize = 3;

/// How the panes are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One column: Story, one row of World, one lane, Timeline.
    OneColumn,
    /// Story on the left; World and all lanes stacked on the right.
    TwoColumns,
    /// World and Observations, Thoughts & actions, and the lanes.
    ThreeColumns,
}

/// The content of a screen area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Thoughts, actions and observations together.
    Story,
    Thoughts,
    Observations,
    /// The environment, as far as the agent knows it.
    World,
    /// The selected lane, with the others as tabs.
    LaneTabs,
    /// One lane, by its index among the method's lanes.
    Lane(usize),
    /// The progress rate over the steps, with marks.
    Timeline,
}

/// A pane and its area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaneArea {
    pub pane: Pane,
    /// The row of its title, or `None` if it has no title.
    pub title: Option<Rect>,
    /// The cells below the title; may be empty.
    pub body: Rect,
}

/// The rows of a lane in a stack of lanes, title included in `least` only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRows {
    /// How many rows its content could use.
    pub wanted: u16,
    /// How many it keeps, whatever the others want, if they have enough then.
    pub least: u16,
    /// It has no lessons, only a text that says why.
    pub is_empty: bool,
}

impl LaneRows {
    /// Creates the rows of a lane that keeps the smallest height.
    pub const fn wanting(wanted: u16) -> Self {
        Self { wanted, least: MIN_LANE_ROWS, is_empty: false }
    }

    /// Returns whether it keeps more than the smallest height.
    pub fn keeps_more(&self) -> bool {
        self.least > MIN_LANE_ROWS
    }

    /// Creates the rows of a lane without lessons, which gets no more than its text needs.
    pub const fn of_text(rows: u16) -> Self {
        Self { is_empty: true, ..Self::wanting(rows) }
    }
}

/// The layout of the whole screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenLayout {
    /// The first row: goal, progress, step and mode.
    pub status: Rect,
    pub areas: Vec<PaneArea>,
    /// Vertical dividers: column, first row, and last row (exclusive).
    pub dividers: Vec<(u16, u16, u16)>,
    /// A horizontal line without a title at the bottom of the columns, if there is one.
    pub bottom_rule: Option<Rect>,
    /// The last row: keys and messages.
    pub footer: Rect,
}

/// Smallest width for three columns.
const THREE_COLUMN_WIDTH: u16 = 160;
/// Smallest width for two columns.
const TWO_COLUMN_WIDTH: u16 = 104;
/// Smallest width for two columns if a person asks for them.
pub const MIN_COLUMNS_BESIDE: u16 = 84;

impl Arrangement {
    /// Returns the default arrangement for a size.
    pub fn for_size(width: u16, height: u16) -> Self {
        match (width, height) {
            (THREE_COLUMN_WIDTH.., 20..) => Self::ThreeColumns,
            (TWO_COLUMN_WIDTH.., 20..) => Self::TwoColumns,
            _ => Self::OneColumn,
        }
    }

    /// Returns the next arrangement that makes sense at this width.
    pub fn next(self, width: u16) -> Self {
        match self {
            Self::OneColumn if width >= MIN_COLUMNS_BESIDE => Self::TwoColumns,
            Self::TwoColumns if width >= 120 => Self::ThreeColumns,
            _ => Self::OneColumn,
        }
    }
}

/// Computes the layout. `world` and `lanes` are the rows that the World pane, title included, and the content of each of the
/// method's lanes could use; `zoom` gives the whole area to one pane.
pub fn compute_layout(
    area: Rect,
    arrangement: Arrangement,
    (world, lanes): (u16, &[LaneRows]),
    zoom: Option<Pane>,
) -> ScreenLayout {
    let mut plan = ScreenLayout::default();
    if area.is_empty() {
        return plan;
    }
    let (status, rest) = cut_top(area, 1);
    plan.status = status;
    let (rest, footer) = if area.height >= 5 { cut_bottom(rest, 1) } else { (rest, Rect::default()) };
    plan.footer = footer;
    if let Some(pane) = zoom {
        plan.push_pane(pane, rest, true);
        return plan;
    }
    match arrangement {
        Arrangement::OneColumn => lay_out_one_column(&mut plan, rest),
        Arrangement::TwoColumns => lay_out_two_columns(&mut plan, rest, (world, lanes)),
        Arrangement::ThreeColumns => lay_out_three_columns(&mut plan, rest, lanes),
    }
    plan
}

fn lay_out_one_column(plan: &mut ScreenLayout, area: Rect) {
    // Parts below the story, most important first: each appears as soon as the story keeps six rows.
    let lane_rows = if area.height >= 20 { 4 } else { 2 };
    let mut spare = area.height.saturating_sub(7);
    let mut take = |rows: u16| {
        let granted = if spare >= rows { rows } else { 0 };
        spare -= granted;
        granted
    };
    let lanes = take(lane_rows + 1);
    let time = if area.height >= 18 { take(2) } else { take(1) };
    let world = if area.height >= 18 && area.width >= 70 { take(1) } else { 0 };
    let (rest, time_area) = cut_bottom(area, time);
    let (rest, lane_area) = cut_bottom(rest, lanes);
    let (story, world_area) = cut_bottom(rest, world);
    plan.push_pane(Pane::Story, story, true);
    if world > 0 {
        plan.push_pane(Pane::World, world_area, true);
    }
    if lanes > 0 {
        plan.push_pane(Pane::LaneTabs, lane_area, true);
    }
    if time > 0 {
        plan.push_pane(Pane::Timeline, time_area, time > 1);
    }
}

/// Returns the rows of the Timeline pane with its title, below columns on a screen of this height. Where they leave little to the
/// columns, 0.
pub const fn rows_of_wide_timeline(screen_height: u16) -> u16 {
    if screen_height >= 30 { time_rows(screen_height - 2) } else { 0 }
}

/// Returns the rows of the Timeline pane with its title, beside columns of this height.
const fn time_rows(height: u16) -> u16 {
    match height {
        0..12 => 0,
        12..28 => 2,
        _ => 3,
    }
}

/// Returns the columns of the lanes that are stacked in an area; 0 if only one is shown.
pub fn stacked_lane_columns(area: Rect, arrangement: Arrangement) -> u16 {
    match arrangement {
        Arrangement::OneColumn => 0,
        Arrangement::TwoColumns => (area.width * 2 / 5).clamp(30.min(area.width / 2), 64),
        Arrangement::ThreeColumns => area.width * 3 / 10,
    }
}

fn lay_out_two_columns(plan: &mut ScreenLayout, area: Rect, (world, lanes): (u16, &[LaneRows])) {
    let (area, time) = cut_bottom(area, time_rows(area.height));
    let right_width = stacked_lane_columns(area, Arrangement::TwoColumns);
    let (left, line, right) = split_with_divider(area, area.width.saturating_sub(right_width + 1));
    plan.push_divider(line);
    plan.push_pane(Pane::Story, left, true);
    // The world has two fifths, and whatever it needs that the lanes don't.
    let used =
        |sum: u16, rows: &LaneRows| sum.saturating_add(rows.wanted.saturating_add(1).max(MIN_LANE_ROWS));
    let spare = right.height.saturating_sub(lanes.iter().fold(0, used));
    let world_rows = world.min(spare).max(right.height * 2 / 5).max(3).min(right.height);
    let (world, lane_area) = cut_top(right, world_rows);
    plan.push_pane(Pane::World, world, true);
    stack_lanes(plan, lane_area, lanes);
    if time.height > 0 {
        plan.push_pane(Pane::Timeline, time, true);
    }
}

fn lay_out_three_columns(plan: &mut ScreenLayout, area: Rect, lanes: &[LaneRows]) {
    let (area, time) = cut_bottom(area, time_rows(area.height));
    let side = stacked_lane_columns(area, Arrangement::ThreeColumns);
    let (left, line, rest) = split_with_divider(area, side);
    plan.push_divider(line);
    let right_width = side.min(rest.width);
    let (middle, line, right) = split_with_divider(rest, rest.width.saturating_sub(right_width + 1));
    plan.push_divider(line);
    let (world, observations) = cut_top(left, (left.height / 2).max(2).min(left.height));
    plan.push_pane(Pane::World, world, true);
    plan.push_pane(Pane::Observations, observations, true);
    plan.push_pane(Pane::Thoughts, middle, true);
    stack_lanes(plan, right, lanes);
    if time.height > 0 {
        plan.push_pane(Pane::Timeline, time, true);
    }
}

/// The rows that every lane keeps, title included, where there is room.
const MIN_LANE_ROWS: u16 = 3;

/// Stacks the lanes. Each keeps a few rows; the others go to those that could use more.
fn stack_lanes(plan: &mut ScreenLayout, area: Rect, lanes: &[LaneRows]) {
    let only = [LaneRows::wanting(0)];
    let lanes = if lanes.is_empty() { &only } else { lanes };
    let count = lanes.len() as u16;
    let least = MIN_LANE_ROWS.min(area.height / count);
    // What has one row needs no empty one beside lanes that are cut.
    let kept_rows = |lane: &LaneRows| least.min(lane.wanted.saturating_add(1).max(2));
    let mut rows: Vec<u16> = lanes.iter().map(kept_rows).collect();
    let mut spare = area.height - rows.iter().sum::<u16>();
    let kept: u16 = lanes.iter().fold(0, |sum, lane| sum.saturating_add(lane.least.max(MIN_LANE_ROWS)));
    let is_for_all = kept <= area.height && lanes.iter().all(LaneRows::keeps_more);
    for (lane, rows) in lanes.iter().zip(&mut rows).filter(|(lane, _)| lane.keeps_more()).rev() {
        // The others share at least a third of what is left, unless there is enough for each.
        let most = if is_for_all { spare } else { spare - spare.div_ceil(3) };
        let granted = lane.least.saturating_sub(*rows).min(most);
        *rows += granted;
        spare -= granted;
    }
    // Row by row to the lane with the fewest rows of those that lack some of their content, so that a short one is whole beside long
    // ones; then a blank row to those without lessons, and all others evenly to those that have some, else to the last one.
    while spare > 0 {
        let lacks = |place: usize| lanes[place].wanted.saturating_add(1).saturating_sub(rows[place]);
        let lacking = (0..lanes.len()).filter(|place| lacks(*place) > 0);
        let Some(place) = lacking.min_by_key(|place| rows[*place]) else { break };
        rows[place] += 1;
        spare -= 1;
    }
    for (lane, rows) in lanes.iter().zip(&mut rows).filter(|(lane, _)| lane.is_empty) {
        let blank = spare.min((lane.wanted + 2).saturating_sub(*rows));
        *rows += blank;
        spare -= blank;
    }
    let mut filled: Vec<usize> = (0..lanes.len()).filter(|place| !lanes[*place].is_empty).collect();
    if filled.is_empty() {
        filled.push(lanes.len() - 1);
    }
    for place in filled.into_iter().cycle().take(usize::from(spare)) {
        rows[place] += 1;
    }
    let mut rest = area;
    for (lane, rows) in rows.into_iter().enumerate() {
        let (block, below) = cut_top(rest, rows);
        plan.push_pane(Pane::Lane(lane), block, true);
        rest = below;
    }
}

impl ScreenLayout {
    fn push_pane(&mut self, pane: Pane, area: Rect, titled: bool) {
        if area.is_empty() {
            return;
        }
        let (title, body) = if titled { cut_top(area, 1) } else { (Rect::default(), area) };
        self.areas.push(PaneArea { pane, title: titled.then_some(title), body });
    }

    fn push_divider(&mut self, line: Rect) {
        if !line.is_empty() {
            self.dividers.push((line.x, line.y, line.bottom()));
        }
    }

    /// Returns the area of the pane with a focus.
    pub fn area_for(&self, focus: Focus, lane: usize) -> Option<&PaneArea> {
        self.areas.iter().find(|b| b.pane.has_focus(focus, lane))
    }

    /// Returns the area under a cell.
    pub fn area_at(&self, x: u16, y: u16) -> Option<&PaneArea> {
        let inside = |r: Rect| x >= r.x && x < r.right() && y >= r.y && y < r.bottom();
        self.areas.iter().find(|b| inside(b.body) || b.title.is_some_and(inside))
    }
}

impl Pane {
    /// Returns the focus it belongs to.
    pub fn focus(self) -> Focus {
        match self {
            Self::Story | Self::Thoughts => Focus::Story,
            Self::Observations => Focus::Observations,
            Self::World => Focus::World,
            Self::LaneTabs | Self::Lane(_) => Focus::Lanes,
            Self::Timeline => Focus::Timeline,
        }
    }

    /// Returns whether it has a focus; of several lanes only the selected one does.
    pub fn has_focus(self, focus: Focus, lane: usize) -> bool {
        self.focus() == focus && !matches!(self, Self::Lane(n) if n != lane)
    }
}

fn cut_top(area: Rect, rows: u16) -> (Rect, Rect) {
    Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(area).into()
}

fn cut_bottom(area: Rect, rows: u16) -> (Rect, Rect) {
    Layout::vertical([Constraint::Fill(1), Constraint::Length(rows)]).areas(area).into()
}

/// Splits an area into a left part, one column for the divider, and a right part.
fn split_with_divider(area: Rect, left: u16) -> (Rect, Rect, Rect) {
    let parts = [Constraint::Max(left), Constraint::Max(1), Constraint::Fill(1)];
    Layout::horizontal(parts).areas(area).into()
}

/// Maps the bar's columns to steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRuler {
    /// The column of `first_step`.
    pub(super) first_column: u16,
    /// The first step that is shown.
    pub(super) first_step: u32,
    /// The last step that is shown.
    pub(super) last_step: u32,
    /// The number of steps in the episode.
    pub(super) episode_steps: u32,
    /// The steps that the columns have room for, at least 1.
    pub(super) room: u32,
    /// The columns of these steps; at least one for each.
    pub(super) columns: u16,
}

impl StepRuler {
    /// Returns the step at a column, or the nearest one.
    pub fn step_at(self, column: u16) -> u32 {
        let column = u64::from(column.saturating_sub(self.first_column));
        let steps = ((column + 1) * u64::from(self.room) - 1) / u64::from(self.columns.max(1));
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.first_step.saturating_add(steps).min(self.last_step)
    }

    /// Returns the first column of a step.
    pub fn column_of(self, step: u32) -> u16 {
        let steps = u64::from(step.saturating_sub(self.first_step));
        let columns = steps * u64::from(self.columns) / u64::from(self.room.max(1));
        self.first_column.saturating_add(u16::try_from(columns).unwrap_or(u16::MAX))
    }

    /// Scrolls by a quarter of the bar's length if the mouse was dragged to one of its ends and there are more steps
    /// in that direction.
    #[must_use]
    pub fn scrolled_by_drag(self, column: u16) -> Self {
        let shown = self.last_step - self.first_step;
        let quarter = (shown / 4).max(1);
        let first = if column <= self.first_column {
            self.first_step.saturating_sub(quarter).max(1)
        } else if column >= self.column_of(self.last_step) {
            (self.first_step + quarter).min(self.episode_steps - shown)
        } else {
            self.first_step
        };
        Self { first_step: first, last_step: first + shown, ..self }
    }
}

#[cfg(test)]
mod tests;
