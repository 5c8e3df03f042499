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
    let request =
        PictureRequest { shown: &shown, truth: None, goal: "", progress: 0.0, columns, rows, is_ascii };
    let texts = draw_picture(&request).rows.into_iter();
    let text = |row: PictureRow| row.into_iter().map(|(_, text)| text).collect::<String>();
    texts.map(|row| text(row).chars().take(4 * cell_columns).collect()).collect()
}

#[test]
fn cells_are_as_large_as_the_grid_fits() {
    assert_eq!(
        grid(50, 9, false, 6),
        [
            "▒▒▒▒▒▒            ▒▒▒▒▒▒",
            "▒▒▒▒▒▒  ·     ·   ▒▒▒▒▒▒",
            "▒▒▒▒▒▒            ▒▒▒▒▒▒",
            "▒▒▒▒▒▒█▄▄ Ke▄███▄ ╔╦══╦╗",
            "▒▒▒▒▒▒█████ ██r██ ╠╬y═╬╣",
            "▒▒▒▒▒▒█▀▀   ▀███▀ ╚╩══╩╝",
            "▒▒▒▒▒▒      █▀▀▀█ ░░░░░░",
            "▒▒▒▒▒▒  ·   █ g █ ░░░░░░",
            "▒▒▒▒▒▒      █▄▄▄█ ░░░░░░",
        ]
    );
    assert_eq!(
        grid(46, 6, false, 5),
        [
            "▒▒▒▒▒  ·    ·  ▒▒▒▒▒",
            "▒▒▒▒▒          ▒▒▒▒▒",
            "▒▒▒▒▒██▄▄e▄██▄r╬═y═╬",
            "▒▒▒▒▒██▀▀K▀██▀ ╬═══╬",
            "▒▒▒▒▒  ·  █▀▀█g░░░░░",
            "▒▒▒▒▒     █▄▄█ ░░░░░",
        ]
    );
    assert_eq!(grid(42, 3, false, 2), ["▒▒· · ▒▒", "▒▒► ●r╬y", "▒▒· ■g░░"]);
    for (columns, rows, cell_columns) in [(50, 9, 6), (46, 6, 5), (42, 3, 2)] {
        assert!(grid(columns, rows, true, cell_columns).concat().is_ascii());
    }
}

/// Every shape has the rows and columns of its cell, and no two are alike, also without colours.
#[test]
fn shapes_differ_and_fill_their_cells() {
    for is_ascii in [false, true] {
        for size in [CellSize::SMALL, CellSize::LARGE, CellSize::HUGE] {
            let mut seen = Vec::new();
            for (place, cell) in
                ["/r", "|r", "!r", "or", "br", "kr", ". ", ". ", ". ", ". "].iter().enumerate()
            {
                let direction = place.saturating_sub(6);
                let shown =
                    json!({"size": [2, 1], "agent": [1, 0, direction], "rows": {"0": format!("{cell}. ")}});
                let request = PictureRequest {
                    shown: &shown,
                    truth: None,
                    goal: "",
                    progress: 0.0,
                    columns: 1,
                    rows: 1,
                    is_ascii,
                };
                let grid = Grid::parse(&request).unwrap();
                let x = usize::from(place >= 6);
                let rows: Vec<String> = (0..size.rows)
                    .map(|row| grid.cell_row((x, 0), size, row).into_iter().map(|(_, part)| part).collect())
                    .collect();
                assert!(rows.iter().all(|row| row.chars().count() == size.columns), "{rows:?}");
                assert!(!seen.contains(&rows), "{rows:?}");
                seen.push(rows);
            }
        }
    }
}

#[test]
fn the_carried_object_has_its_colour_beside_the_agent() {
    let shown = room();
    let request = PictureRequest {
        shown: &shown,
        truth: None,
        goal: "",
        progress: 0.0,
        columns: 46,
        rows: 6,
        is_ascii: false,
    };
    let rows = draw_picture(&request).rows;
    for (row, text) in [(2, "e"), (3, "K")] {
        assert!(
            rows[row].iter().any(|piece| *piece == (PictureRole::Grey, text.to_owned())),
            "{:?}",
            rows[row]
        );
    }
}

/// The legend had doors where there were none, and didn't say what the letters mean: without colours, `e` was a riddle.
#[test]
fn the_legend_has_what_the_grid_has() {
    let legend = |cells: &str, columns, rows| {
        let shown = json!({
            "size": [4, 3], "agent": [1, 1, 0], "view": [127, 127, 127, 127, 127, 127, 127],
            "rows": {"0": "# . . # ", "1": format!("# . {cells}# "), "2": "# . . # "},
        });
        let request = PictureRequest {
            shown: &shown,
            truth: None,
            goal: "",
            progress: 0.0,
            columns,
            rows,
            is_ascii: false,
        };
        let rows = draw_picture(&request).rows;
        let texts = rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect::<String>());
        texts.collect::<Vec<_>>().join("\n")
    };
    for (columns, rows) in [(42, 6), (60, 12), (120, 20)] {
        let ball = legend("oe", columns, rows);
        assert!(ball.contains("ball") && ball.contains("e grey") && ball.contains("· in view"), "{ball}");
        for absent in ["key", "door", "box", "red", "not seen"] {
            assert!(!ball.contains(absent), "{absent}: {ball}");
        }
        let door = legend("!p", columns, rows);
        assert!(door.contains("locked door") && door.contains("p purple"), "{door}");
        assert!(!door.contains("ball"), "{door}");
    }
}

/// Regression: a legend without room for all its rows ended as if there were no other colours.
#[test]
fn a_cut_legend_says_that_there_is_more() {
    let row = |y: usize| if y == 4 { "# . . oekgbpkyor. " } else { "# . . . . . . . . . . # " };
    let rows: serde_json::Map<_, _> = (0..12).map(|y| (y.to_string(), json!(row(y)))).collect();
    let view = vec![127; 7];
    let shown = json!({"size": [12, 12], "agent": [1, 4, 0], "view": view, "rows": rows});
    let mut cut = 0;
    for (columns, rows) in (36..60).flat_map(|columns| (8..26).map(move |rows| (columns, rows))) {
        let (truth, goal, progress, is_ascii) = (None, "", 0.0, false);
        let request = PictureRequest { shown: &shown, truth, goal, progress, columns, rows, is_ascii };
        let drawn = draw_picture(&request).rows;
        let texts = drawn.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect::<String>());
        let texts: Vec<String> = texts.collect();
        assert!(texts.iter().all(|row| crate::text::width(row) <= columns), "{texts:?}");
        let text = texts.join("\n");
        if text.contains("● ball") && !text.contains("in view") {
            cut += 1;
            assert!(texts.iter().any(|row| row.ends_with(" …")), "{columns}x{rows}: {text}");
        }
    }
    assert!(cut > 0);
}

/// Regression: in a pane too narrow for the whole grid, cells of one column had no letter, so that only colours told objects apart.
#[test]
fn objects_have_the_letter_of_their_colour_at_every_size() {
    let row = |y: usize| if y == 20 { "# . . or. !yke" } else { "# " };
    let rows: serde_json::Map<_, _> = (0..22).map(|y| (y.to_string(), json!(row(y)))).collect();
    let shown = json!({"size": [22, 22], "agent": [2, 20, 0], "rows": rows});
    for (columns, rows) in [(118, 50), (60, 26), (58, 13), (44, 30), (40, 13), (30, 8), (20, 6)] {
        for is_ascii in [false, true] {
            let request = PictureRequest {
                shown: &shown,
                truth: None,
                goal: "",
                progress: 0.0,
                columns,
                rows,
                is_ascii,
            };
            let drawn = draw_picture(&request).rows;
            let letter = |role| {
                let pieces = drawn.iter().flatten().filter(move |piece| piece.0 == role);
                pieces.map(|(_, text)| text.as_str()).collect::<String>()
            };
            for (role, name) in
                [(PictureRole::Red, 'r'), (PictureRole::Yellow, 'y'), (PictureRole::Grey, 'e')]
            {
                assert!(letter(role).contains(name), "{name} at {columns}x{rows}: {drawn:?}");
            }
            let widths =
                drawn.iter().map(|row| row.iter().map(|(_, text)| text.chars().count()).sum::<usize>());
            assert!(drawn.len() <= rows && widths.max() <= Some(columns), "{columns}x{rows}: {drawn:?}");
        }
    }
}

/// Regression: in a narrow text, the distance of a visible object was broken in the middle.
#[test]
fn distances_are_not_broken() {
    let shown = json!({
        "size": [6, 6], "agent": [1, 1, 0], "view": [127, 127, 127, 127, 127, 127, 127],
        "rows": {"1": "# . . . . . ", "3": "# . . ky. . "},
    });
    let request = PictureRequest {
        shown: &shown,
        truth: None,
        goal: "",
        progress: 0.0,
        columns: 50,
        rows: 20,
        is_ascii: true,
    };
    let rows = draw_picture(&request).rows;
    let texts: Vec<String> = rows.iter().flatten().map(|(_, text)| text.replace('\u{a0}', " ")).collect();
    assert!(texts.iter().any(|text| text.contains("2 ahead, 2 right")), "{texts:#?}");
}
