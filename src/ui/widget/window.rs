//! The window of an overlay: position, title, key hints, and scrolling rows.

use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::Response;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, KeyHint, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::list_index::row_delta;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Widget as _};
use std::cell::Cell;

/// A row of styled pieces, from left to right.
pub(crate) type Line = Vec<(Role, String)>;

/// The position of an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowPosition {
    Middle,
    /// At the bottom, above the footer, so that the panes above stay readable.
    Bottom,
}

/// The frame around an overlay.
pub(crate) struct Window<'a> {
    pub(crate) title: &'a str,
    pub(crate) position: WindowPosition,
    /// Preferred number of rows inside.
    pub(crate) rows: u16,
    /// Preferred number of columns inside.
    pub(crate) columns: u16,
    /// The mode whose key hints are shown in the lower edge.
    pub(crate) mode: Mode,
}

/// How the keys of an overlay differ at present from those of its mode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PresentKeys<'a> {
    /// What the closing key does, if it does something else.
    pub(crate) closing_label: Option<&'a str>,
    /// What other keys do at present, if they do something else.
    pub(crate) labels: &'a [(Action, &'a str)],
    /// The actions that do nothing, whose keys aren't shown.
    pub(crate) without_effect: &'a [Action],
}

impl Window<'_> {
    /// Returns the rows from the upper edge of a bottom window to the end of the screen.
    pub(crate) fn rows_covered(rows: u16, screen: Rect) -> u16 {
        rows.saturating_add(3).min(screen.height)
    }

    /// Returns the first column of a window that prefers `columns` columns inside, and the column after its last one.
    pub(crate) fn columns_covered(columns: u16, context: &Context<'_>, screen: Rect) -> (u16, u16) {
        let width = Self::inner_columns(columns, context, screen).saturating_add(4).min(screen.width);
        let x = screen.x + (screen.width - width) / 2;
        (x, x + width)
    }

    /// Returns the columns inside a window that prefers `columns` of them. Where little of the panes would be left beside it, and in
    /// front of an audience, it has the whole width.
    pub(crate) fn inner_columns(columns: u16, context: &Context<'_>, screen: Rect) -> u16 {
        const MIN_REST_COLUMNS: u16 = 12;
        let most = screen.width.saturating_sub(4);
        let is_whole = context.frame.for_audience || columns.saturating_add(MIN_REST_COLUMNS) > most;
        if is_whole { most } else { columns }
    }

    /// Clears the area, draws the frame, and returns the area inside, which may be empty on small screens.
    pub(crate) fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) -> Rect {
        self.draw_with_keys(PresentKeys::default(), context, screen, canvas)
    }

    /// Draws like [`Self::draw`], with the keys as they are at present.
    pub(crate) fn draw_with_keys(
        &self,
        keys: PresentKeys<'_>,
        context: &Context<'_>,
        screen: Rect,
        canvas: &mut Canvas<'_>,
    ) -> Rect {
        // The first row shows goal and mode, and stays visible if there is room.
        let room = Rect { y: screen.y + 1, height: screen.height.saturating_sub(2), ..screen };
        let room = if screen.height >= 5 { room } else { screen };
        let (x, right) = Self::columns_covered(self.columns, context, room);
        let width = right - x;
        let height = self.rows.saturating_add(2).min(room.height);
        let area = Rect {
            x,
            y: match self.position {
                WindowPosition::Middle => room.y + (room.height - height) / 2,
                WindowPosition::Bottom => room.bottom() - height,
            },
            width,
            height,
        };
        canvas.clear(area);
        if width < 4 || height < 3 {
            return Rect { height: height.min(1), ..area };
        }
        self.draw_frame(keys, context, area, canvas);
        Rect { x: area.x + 2, y: area.y + 1, width: width - 4, height: height - 2 }
    }

    fn draw_frame(&self, keys: PresentKeys<'_>, context: &Context<'_>, area: Rect, canvas: &mut Canvas<'_>) {
        let frame = Block::bordered()
            .border_set(canvas.glyphs.border_set())
            .border_style(canvas.style(Role::FrameOverlay));
        frame.render(area, canvas.buffer);
        let title = format!(" {} ", self.title);
        canvas.put(area.x + 2, area.y, area.width.saturating_sub(4), &title, canvas.style(Role::Title));
        // The keys of an overlay below another one don't apply.
        if context.is_covered {
            return;
        }
        let edge = Rect { x: area.x + 1, width: area.width - 2, height: 1, ..area };
        let titled = (width(&title) as u16 + 1).min(edge.width);
        let above = Rect { x: edge.x + titled, width: edge.width - titled, ..edge };
        self.draw_keys(keys, context, (above, Rect { y: area.bottom() - 1, ..edge }), canvas);
    }

    /// Draws the key hints into the window's lower edge: always the closing key at the right, the others as far as they fit. Those
    /// that don't fit are in the upper edge, beside the title, if there is room.
    fn draw_keys(
        &self,
        keys: PresentKeys<'_>,
        context: &Context<'_>,
        (above, edge): (Rect, Rect),
        canvas: &mut Canvas<'_>,
    ) {
        let mut hints = context.keymap.key_hints(self.mode);
        hints.retain(|hint| !keys.without_effect.contains(&hint.action));
        let closing_hint = hints.iter_mut().find(|hint| hint.action == Action::Close);
        if let Some((hint, label)) = closing_hint.zip(keys.closing_label) {
            hint.label = label;
        }
        for hint in &mut hints {
            if let Some((_, label)) = keys.labels.iter().find(|(action, _)| *action == hint.action) {
                hint.label = label;
            }
        }
        let wide = |h: &KeyHint<'_>| (width(&h.key) + width(h.label) + 4) as u16;
        let (closing, others): (Vec<_>, Vec<_>) = hints.into_iter().partition(|h| h.action == Action::Close);
        let mut right = edge.right();
        let mut put = |x: u16, y: u16, hint: &KeyHint<'_>| {
            let x = x + canvas.put(x, y, wide(hint), &format!(" {} ", hint.key), canvas.style(Role::Key));
            x + canvas.put(x, y, wide(hint), &format!("{} ", hint.label), canvas.style(Role::Muted))
        };
        if let Some(hint) = closing.first().filter(|h| wide(h) <= edge.width) {
            right = edge.right() - wide(hint);
            put(right, edge.y, hint);
        }
        let mut x = edge.x + 1;
        let mut left = others.iter().peekable();
        while let Some(hint) = left.next_if(|h| x + wide(h) <= right) {
            x = put(x, edge.y, hint) + 1;
        }
        // An audience needs no rare keys.
        if context.frame.for_audience {
            return;
        }
        let mut room = above.width.saturating_sub(1);
        let fitting = left.map_while(|hint| {
            room = room.checked_sub(wide(hint) + 1)?;
            Some(hint)
        });
        let fitting: Vec<_> = fitting.collect();
        let mut x = above.right() - fitting.iter().map(|hint| wide(hint) + 1).sum::<u16>();
        for hint in fitting {
            x = put(x, above.y, hint) + 1;
        }
    }
}

/// Scroll position in a list of rows. The extent is recorded while drawing, and only used for paging and the mouse.
#[derive(Debug, Default)]
pub(crate) struct Scroll {
    top: Cell<usize>,
    extent: Cell<(usize, usize)>,
    area: Cell<Rect>,
}

/// A mouse event in scrolling rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseTarget {
    /// A click on a row, by its index among all rows.
    Row(usize),
    /// The wheel was turned: -1 up, 1 down.
    Wheel(isize),
}

/// A centred window with scrolling rows.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// Preferred number of columns inside.
    pub(crate) columns: u16,
    /// The mode whose key hints are shown in the lower edge.
    pub(crate) mode: Mode,
    pub(crate) scroll: &'a Scroll,
}

impl Page<'_> {
    /// Draws rows like [`Page::draw`], and reveals some of them, the first one in any case. `rows` also returns the indices of
    /// the first and the last of those.
    pub(crate) fn draw_with_selected(
        &self,
        keys: PresentKeys<'_>,
        context: &Context<'_>,
        screen: Rect,
        canvas: &mut Canvas<'_>,
        rows: impl Fn(u16) -> (Vec<Line>, (usize, usize)),
    ) {
        let columns = Window::inner_columns(self.columns, context, screen);
        let made = rows(columns);
        let high = u16::try_from(made.0.len()).unwrap_or(u16::MAX);
        let (title, mode) = (self.title, self.mode);
        let window =
            Window { title, position: WindowPosition::Middle, rows: high, columns: self.columns, mode };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let (lines, (first, last)) = if inside.width == columns { made } else { rows(inside.width) };
        for row in [last, first] {
            self.scroll.reveal(row, lines.len(), usize::from(inside.height));
        }
        self.scroll.draw(&lines, inside, canvas);
    }

    /// Draws the rows built for the available width, in a window of their height.
    pub(crate) fn draw<Rows: AsRef<[Line]>>(
        &self,
        context: &Context<'_>,
        screen: Rect,
        canvas: &mut Canvas<'_>,
        rows: impl Fn(u16) -> Rows,
    ) {
        self.draw_with_keys(PresentKeys::default(), context, screen, canvas, rows);
    }

    /// Draws like [`Self::draw`], with the keys as they are at present.
    pub(crate) fn draw_with_keys<Rows: AsRef<[Line]>>(
        &self,
        keys: PresentKeys<'_>,
        context: &Context<'_>,
        screen: Rect,
        canvas: &mut Canvas<'_>,
        rows: impl Fn(u16) -> Rows,
    ) {
        // The rows must be built before the window, which needs their number.
        let columns = Window::inner_columns(self.columns, context, screen);
        let made = rows(columns);
        let high = u16::try_from(made.as_ref().len()).unwrap_or(u16::MAX);
        let window = Window {
            title: self.title,
            position: WindowPosition::Middle,
            rows: high,
            columns: self.columns,
            mode: self.mode,
        };
        let inside = window.draw_with_keys(keys, context, screen, canvas);
        let made = if inside.width == columns { made } else { rows(inside.width) };
        self.scroll.draw(made.as_ref(), inside, canvas);
    }
}

impl Scroll {
    /// Scrolls by rows.
    pub(crate) fn scroll_by(&self, rows: isize) {
        let (all, height) = self.extent.get();
        self.top.set(self.top.get().saturating_add_signed(rows).min(all.saturating_sub(height)));
    }

    /// Scrolls by pages.
    pub(crate) fn scroll_pages(&self, pages: isize) {
        let height = self.extent.get().1.saturating_sub(1).max(1);
        self.scroll_by(pages.saturating_mul(isize::try_from(height).unwrap_or(isize::MAX)));
    }

    /// Returns the number of rows of a page in the last draw.
    pub(crate) fn page_rows(&self) -> isize {
        isize::try_from(self.extent.get().1.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }

    /// Returns the number of columns of the rows in the last draw.
    pub(crate) fn columns(&self) -> u16 {
        self.area.get().width
    }

    /// Scrolls to a row.
    pub(crate) fn scroll_to(&self, row: usize) {
        self.top.set(row);
    }

    /// Scrolls so that a row is visible, with `all` rows in `height`.
    pub(crate) fn reveal(&self, row: usize, all: usize, height: usize) {
        self.extent.set((all, height));
        let top = self.top.get().min(row).max((row + 1).saturating_sub(height));
        self.top.set(top.min(all.saturating_sub(height)));
    }

    /// Scrolls so that a row is visible, in the height of the last draw.
    pub(crate) fn reveal_at_last_height(&self, row: usize, all: usize) {
        self.reveal(row, all, self.extent.get().1);
    }

    /// Fits `all` rows into `height`, and returns the first visible row.
    pub(crate) fn clamp_top(&self, all: usize, height: usize) -> usize {
        self.extent.set((all, height));
        let top = self.top.get().min(all.saturating_sub(height));
        self.top.set(top);
        top
    }

    /// Returns the clicked row or the turn of the wheel. Returns `None` for all other mouse events.
    pub(crate) fn mouse_target(&self, event: MouseEvent) -> Option<MouseTarget> {
        match event.kind {
            MouseEventKind::ScrollUp => Some(MouseTarget::Wheel(-1)),
            MouseEventKind::ScrollDown => Some(MouseTarget::Wheel(1)),
            MouseEventKind::Down(MouseButton::Left) => {
                let area = self.area.get();
                let inside = area.contains(Position { x: event.column, y: event.row });
                let row = self.top.get() + usize::from(event.row.saturating_sub(area.y));
                (inside && row < self.extent.get().0).then_some(MouseTarget::Row(row))
            }
            _ => None,
        }
    }

    /// Like [`Scroll::mouse_target`], if only the last `count` rows can be clicked; the index counts from the first of
    /// them.
    pub(crate) fn mouse_target_in_last(&self, count: usize, event: MouseEvent) -> Option<MouseTarget> {
        let first = self.extent.get().0.saturating_sub(count);
        match self.mouse_target(event)? {
            MouseTarget::Row(row) => row.checked_sub(first).map(MouseTarget::Row),
            wheel @ MouseTarget::Wheel(_) => Some(wheel),
        }
    }

    /// Scrolls with the mouse wheel.
    pub(crate) fn on_wheel(&self, event: MouseEvent) {
        const ROWS_PER_NOTCH: isize = 3;
        if let Some(MouseTarget::Wheel(by)) = self.mouse_target(event) {
            self.scroll_by(by * ROWS_PER_NOTCH);
        }
    }

    /// Draws the rows of a list so that the row `chosen` is visible.
    pub(crate) fn draw_list(
        &self,
        chosen: usize,
        all: usize,
        area: Rect,
        canvas: &mut Canvas<'_>,
        row: impl Fn(usize) -> Line,
    ) {
        let height = usize::from(area.height);
        self.area.set(area);
        self.reveal(chosen, all, height);
        let top = self.clamp_top(all, height);
        for (y, place) in (area.y..).zip(top..all.min(top + height)) {
            put_line(&row(place), Rect { y, height: 1, ..area }, canvas);
        }
        self.draw_overflow_marks(area, canvas);
    }

    /// Marks at the frame to the right of a list whether there are hidden rows above or below.
    fn draw_overflow_marks(&self, area: Rect, canvas: &mut Canvas<'_>) {
        let ((all, height), top) = (self.extent.get(), self.top.get());
        if area.is_empty() {
            return;
        }
        let (x, style) = (frame_column(area, canvas), canvas.style(Role::Title));
        let [above, below] = canvas.glyphs.scroll_arrows;
        if top > 0 {
            canvas.put(x, area.y, 1, above, style);
        }
        // In a list one row high, the mark for more rows below wins.
        if top + height < all {
            canvas.put(x, area.bottom() - 1, 1, below, style);
        }
    }

    /// Draws the visible rows, with a scrollbar at the right edge.
    pub(crate) fn draw(&self, lines: &[Line], area: Rect, canvas: &mut Canvas<'_>) {
        let height = usize::from(area.height);
        self.area.set(area);
        let top = self.clamp_top(lines.len(), height);
        for (place, line) in lines.iter().skip(top).take(height).enumerate() {
            put_line(line, Rect { y: area.y + place as u16, height: 1, ..area }, canvas);
        }
        self.draw_scrollbar(area, canvas);
    }

    /// Draws the scrollbar in the frame to the right of an area.
    pub(crate) fn draw_scrollbar(&self, area: Rect, canvas: &mut Canvas<'_>) {
        let ((all, height), top) = (self.extent.get(), self.top.get());
        if all > height && area.width > 0 {
            let place = (top * height.saturating_sub(1)).checked_div(all - height).unwrap_or(0);
            let style = canvas.style(Role::FrameOverlay);
            let x = frame_column(area, canvas);
            canvas.put(x, area.y + place as u16, 1, canvas.glyphs.now, style);
        }
    }
}

/// Returns the column of the frame to the right of an inner area.
fn frame_column(area: Rect, canvas: &Canvas<'_>) -> u16 {
    (area.right() + 1).min(canvas.buffer.area.right().saturating_sub(1))
}

/// Draws the pieces of a row. A row with a piece of the role `Selection` is selected as a whole, up to the right edge.
pub(crate) fn put_line(line: &[(Role, String)], area: Rect, canvas: &mut Canvas<'_>) {
    let is_selected = line.iter().any(|(role, _)| *role == Role::Selection);
    let selection = is_selected.then(|| canvas.style(Role::Selection));
    let mut x = area.x;
    for (role, text) in line {
        let style = canvas.style(*role);
        let style = selection.map_or(style, |selection| selected_style(style, selection));
        x += canvas.put(x, area.y, area.right().saturating_sub(x), text, style);
    }
    if let Some(selection) = selection {
        let rest = area.right().saturating_sub(x);
        canvas.put(x, area.y, rest, &" ".repeat(usize::from(rest)), selection);
    }
}

/// Returns the style of a piece in a selected row. On a background of its own, the selection keeps the colours of the texts;
/// reversed, it would make blocks of them, so that all have the same style, and what was reversed before is not.
fn selected_style(piece: Style, selection: Style) -> Style {
    if !selection.add_modifier.contains(Modifier::REVERSED) {
        return Style { bg: piece.bg.or(selection.bg), ..piece };
    }
    if piece.add_modifier.contains(Modifier::REVERSED) && piece != selection {
        return piece.remove_modifier(Modifier::REVERSED);
    }
    selection
}

/// Draws as many rows as fit.
pub(crate) fn put_lines(lines: &[Line], area: Rect, canvas: &mut Canvas<'_>) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        put_line(line, Rect { y, height: 1, ..area }, canvas);
    }
}

/// Wraps a text into rows. The first row starts with `lead`, the others with a margin of its width.
pub(crate) fn paragraph(lead: (Role, &str), role: Role, text: &str, columns: u16) -> Vec<Line> {
    let margin = width(lead.1);
    let room = usize::from(columns).saturating_sub(margin).max(1);
    let rows = crate::text::wrap_at_most(text, room, 4000).0;
    rows.into_iter()
        .enumerate()
        .map(|(place, row)| {
            let head = if place == 0 { lead.1.to_owned() } else { " ".repeat(margin) };
            vec![(lead.0, head), (role, row)]
        })
        .collect()
}

/// Handles the actions that scroll and close; ignores all others.
pub(crate) fn scroll_or_close(scroll: &Scroll, action: Action) -> Response {
    match action {
        Action::Close => return Response::close(),
        // The extent is unknown before the first draw, so that scrolling by rows would stop short.
        Action::Live => scroll.scroll_to(usize::MAX),
        other => scroll.scroll_by(row_delta(other, scroll.page_rows()).unwrap_or(0)),
    }
    Response::default()
}
