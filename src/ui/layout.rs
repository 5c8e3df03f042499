//! Computes the area of each pane. Pure arithmetic on rectangles that works for any size, down to a single cell.

use crate::ui::types::Focus;
use ratatui::layout::{Constraint, Layout, Rect};

/// The digit that focuses the first lane. Story has 1 and World 2; what follows the lanes has the next digits.
pub const FIRST_LANE: usize = 3;

/// How the panes are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// One column: Story, one row of World, one lane, Time.
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
            Self::OneColumn if width >= 84 => Self::TwoColumns,
            Self::TwoColumns if width >= 120 => Self::ThreeColumns,
            _ => Self::OneColumn,
        }
    }
}

/// Computes the layout. `lanes` is the number of the method's lanes; `zoom` gives the whole area to one pane.
pub fn compute_layout(
    area: Rect,
    arrangement: Arrangement,
    lanes: usize,
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
        Arrangement::TwoColumns => lay_out_two_columns(&mut plan, rest, lanes),
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

fn lay_out_two_columns(plan: &mut ScreenLayout, area: Rect, lanes: usize) {
    let (area, time) = cut_bottom(area, if area.height >= 12 { 2 } else { 0 });
    let right_width = (area.width * 2 / 5).clamp(30.min(area.width / 2), 64);
    let (left, line, right) = split_with_divider(area, area.width.saturating_sub(right_width + 1));
    plan.push_divider(line);
    plan.push_pane(Pane::Story, left, true);
    let world_rows = (right.height * 2 / 5).max(3).min(right.height);
    let (world, lane_area) = cut_top(right, world_rows);
    plan.push_pane(Pane::World, world, true);
    stack_lanes(plan, lane_area, lanes);
    if time.height > 0 {
        plan.push_pane(Pane::Timeline, time, true);
    }
}

fn lay_out_three_columns(plan: &mut ScreenLayout, area: Rect, lanes: usize) {
    let (area, time) = cut_bottom(area, if area.height >= 12 { 2 } else { 0 });
    let side = area.width * 3 / 10;
    let (left, line, rest) = split_with_divider(area, side);
    plan.push_divider(line);
    let right_width = side.min(rest.width);
    let (middle, line, right) = split_with_divider(rest, rest.width.saturating_sub(right_width + 1));
    plan.push_divider(line);
    let (world, observations) = cut_top(left, (left.height * 2 / 5).max(2).min(left.height));
    plan.push_pane(Pane::World, world, true);
    plan.push_pane(Pane::Observations, observations, true);
    plan.push_pane(Pane::Thoughts, middle, true);
    stack_lanes(plan, right, lanes);
    if time.height > 0 {
        plan.push_pane(Pane::Timeline, time, true);
    }
}

/// Stacks the lanes. Rows left over from an uneven division go to the middle ones: errors need two rows each.
fn stack_lanes(plan: &mut ScreenLayout, area: Rect, lanes: usize) {
    let lanes = lanes.max(1);
    let mut rest = area;
    for lane in 0..lanes {
        let left = (lanes - lane) as u16;
        let extra = u16::from(lane > 0 && !rest.height.is_multiple_of(left));
        let rows = if left == 1 { rest.height } else { (rest.height / left + extra).min(rest.height) };
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
}

impl StepRuler {
    /// Returns the step at a column, or the nearest one.
    pub fn step_at(self, column: u16) -> u32 {
        (self.first_step + u32::from(column.saturating_sub(self.first_column))).min(self.last_step)
    }

    /// Scrolls by a quarter of the bar's length if the mouse was dragged to one of its ends and there are more steps
    /// in that direction.
    #[must_use]
    pub fn scrolled_by_drag(self, column: u16) -> Self {
        let shown = self.last_step - self.first_step;
        let quarter = (shown / 4).max(1);
        let first = if column <= self.first_column {
            self.first_step.saturating_sub(quarter).max(1)
        } else if column >= self.first_column.saturating_add(u16::try_from(shown).unwrap_or(u16::MAX)) {
            (self.first_step + quarter).min(self.episode_steps - shown)
        } else {
            self.first_step
        };
        Self { first_step: first, last_step: first + shown, ..self }
    }
}
