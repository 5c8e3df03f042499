//! The pane of an environment that the screen has never heard of.

use super::*;
use crate::domain::{PictureRequest, PictureRole};
use crate::ui::glyphs;
use crate::ui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

/// The picture of a made-up environment, as its entry would name it: a number and one bar for each unit.
const DRAW_COUNTER: fn(&PictureRequest<'_>) -> Picture = |request| {
    let number = request.shown["number"].as_u64().unwrap_or_default();
    let bar = |unit: u64| -> PictureRow {
        let text = if request.is_ascii { "#" } else { "█" };
        vec![(PictureRole::Red, text.to_owned()), (PictureRole::Muted, format!(" \u{1b}[2Junit\n{unit}"))]
    };
    Picture {
        summary: format!("{number} of 9"),
        one_line: vec![format!("the counter is at {number} of 9"), format!("{number}/9")],
        shows_truth: request.truth.is_some(),
        rows: (1..=number).map(bar).collect(),
    }
};

/// Returns the pane of a counter, with a title and `rows` rows.
fn drawn(shown: &Value, is_truth: bool, columns: u16, rows: u16, scroll: u16) -> (Vec<String>, Buffer) {
    let request = PictureRequest {
        shown,
        truth: is_truth.then_some(shown),
        goal: "",
        progress: 0.0,
        columns: usize::from(columns),
        rows: usize::from(rows),
        is_ascii: false,
    };
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows + 1));
    let theme = Theme::default();
    let mut canvas = Canvas { buffer: &mut buffer, theme: &theme, glyphs: &glyphs::UNICODE };
    let area = PaneArea {
        pane: crate::ui::layout::Pane::World,
        title: Some(Rect::new(0, 0, columns, 1)),
        body: Rect::new(0, 1, columns, rows),
    };
    let mut model = Model::default();
    model.scroll.world = scroll;
    place_picture(&DRAW_COUNTER(&request), &model, &area, &mut ViewCache::default(), &mut canvas);
    let lines = buffer.content.chunks(usize::from(columns));
    let line = |cells: &[ratatui::buffer::Cell]| cells.iter().map(ratatui::buffer::Cell::symbol).collect();
    (lines.map(line).map(|line: String| line.trim_end().to_owned()).collect(), buffer)
}

#[test]
fn a_new_environment_needs_only_its_picture() {
    let (lines, buffer) = drawn(&json!({"number": 2}), false, 40, 3, 0);
    assert_eq!(lines, ["  2 World                      2 of 9", " █ unit 1", " █ unit 2", ""]);
    let red = Theme::default().style(Role::ThingRed).fg;
    assert_eq!(buffer.cell((1, 1)).map(|cell| cell.fg), red);
}

#[test]
fn a_high_picture_is_scrolled() {
    let shown = json!({"number": 9});
    assert_eq!(
        drawn(&shown, false, 30, 3, 0).0[1..],
        [" █ unit 1", " █ unit 2", " █ unit 3       … 6 more rows"]
    );
    assert_eq!(drawn(&shown, false, 30, 3, 99).0[1..], [" █ unit 7", " █ unit 8", " █ unit 9"]);
}

#[test]
fn a_closed_pane_and_the_ground_truth_have_the_longest_text_that_fits() {
    let title =
        |is_truth, columns, rows| drawn(&json!({"number": 2}), is_truth, columns, rows, 0).0.remove(0);
    assert_eq!(title(false, 60, 0), "  2 World  the counter is at 2 of 9");
    assert_eq!(title(false, 30, 0), "  2 World  2/9");
    assert_eq!(title(true, 70, 2), "  2 World  ground truth (hidden from the agent)              2 of 9");
    assert_eq!(title(true, 40, 2), "  2 World  ground truth        2 of 9");
}

/// The label of the ground truth left less room than was counted, so that the line of a closed pane was cut.
#[test]
fn a_closed_pane_shortens_the_label_of_the_ground_truth_before_its_line() {
    let title = |columns| drawn(&json!({"number": 2}), true, columns, 0, 0).0.remove(0);
    assert_eq!(title(90), "  2 World  ground truth (hidden from the agent)  the counter is at 2 of 9");
    assert_eq!(title(60), "  2 World  ground truth  the counter is at 2 of 9");
    assert_eq!(title(50), "  2 World  truth  the counter is at 2 of 9");
    assert_eq!(title(40), "  2 World  ground truth  2/9");
}

/// The note hid what the last row listed: "open:   ... 6 more rows".
#[test]
fn the_note_of_hidden_rows_replaces_a_row_of_which_nothing_fits() {
    let mut picture = DRAW_COUNTER(&PictureRequest {
        shown: &json!({"number": 9}),
        truth: None,
        goal: "",
        progress: 0.0,
        columns: 30,
        rows: 3,
        is_ascii: false,
    });
    let row =
        |items: &str| vec![(PictureRole::Muted, "open: ".to_owned()), (PictureRole::Text, items.to_owned())];
    assert!(shows_an_item(&row("a cup, a very long name of a thing"), 14));
    picture.rows[2] = row("a very long name of a thing, a cup");
    assert!(!shows_an_item(&picture.rows[2], 14));
    let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 4));
    let theme = Theme::default();
    let mut canvas = Canvas { buffer: &mut buffer, theme: &theme, glyphs: &glyphs::UNICODE };
    let area = PaneArea {
        pane: crate::ui::layout::Pane::World,
        title: Some(Rect::new(0, 0, 30, 1)),
        body: Rect::new(0, 1, 30, 3),
    };
    place_picture(&picture, &Model::default(), &area, &mut ViewCache::default(), &mut canvas);
    let last: String = (0..30).map(|x| buffer[(x, 3)].symbol().to_owned()).collect();
    assert_eq!(last.trim(), "… 7 more rows");
}
