//! Grids in cells of every size.

use super::*;
use serde_json::json;

/// A small room: a wall on the left, a red ball ahead of the agent, a locked door, and cells that weren't seen.
fn room() -> Value {
    json!({
        "size": [4, 3],
        "agent": [1, 1, 0],
        "carrying": "grey key",
        "rows": {"0": "# . . # ", "1": "# . or!y", "2": "# . bg  "},
        "view": [127, 127, 127, 127, 127, 127, 127],
    })
}

/// Returns the rows of the grid without the text beside it.
fn grid(columns: usize, rows: usize, is_ascii: bool, cell_columns: usize) -> Vec<String> {
    let shown = room();
    let request = PictureRequest { shown: &shown, truth: None, goal: "", columns, rows, is_ascii };
    let texts = draw_picture(&request).rows.into_iter();
    let text = |row: PictureRow| row.into_iter().map(|(_, text)| text).collect::<String>();
    texts.map(|row| text(row).chars().take(4 * cell_columns).collect()).collect()
}

#[test]
fn cells_are_large_where_the_grid_fits() {
    assert_eq!(
        grid(42, 6, false, 4),
        [
            "▒▒▒▒ ·   ·  ▒▒▒▒",
            "▒▒▒▒        ▒▒▒▒",
            "▒▒▒▒█▄ e▄▄▄r▐█▌y",
            "▒▒▒▒█▀ K▀▀▀ ▐◆▌ ",
            "▒▒▒▒ ·  █▀█g░░░░",
            "▒▒▒▒    █▄█ ░░░░",
        ]
    );
    assert_eq!(grid(42, 3, false, 2), ["▒▒· · ▒▒", "▒▒▶ ●r◆y", "▒▒· ■g░░"]);
    assert!(grid(42, 6, true, 4).concat().is_ascii());
}

#[test]
fn the_carried_object_has_its_colour_beside_the_agent() {
    let shown = room();
    let request =
        PictureRequest { shown: &shown, truth: None, goal: "", columns: 42, rows: 6, is_ascii: false };
    let rows = draw_picture(&request).rows;
    for (row, text) in [(2, "e"), (3, "K")] {
        assert!(
            rows[row].iter().any(|piece| *piece == (PictureRole::Grey, text.to_owned())),
            "{:?}",
            rows[row]
        );
    }
}

/// Regression: in a narrow text, the distance of a visible object was broken in the middle.
#[test]
fn distances_are_not_broken() {
    let shown = json!({
        "size": [6, 6], "agent": [1, 1, 0], "view": [127, 127, 127, 127, 127, 127, 127],
        "rows": {"1": "# . . . . . ", "3": "# . . ky. . "},
    });
    let request =
        PictureRequest { shown: &shown, truth: None, goal: "", columns: 50, rows: 20, is_ascii: true };
    let rows = draw_picture(&request).rows;
    let texts: Vec<String> = rows.iter().flatten().map(|(_, text)| text.replace('\u{a0}', " ")).collect();
    assert!(texts.iter().any(|text| text.contains("2 ahead, 2 right")), "{texts:#?}");
}
