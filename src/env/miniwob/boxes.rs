//! A page as a map: each element where its rectangle is, scaled to the area of the picture.

use super::color::Color;
use super::element_row::Row;
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};

/// The smallest area in which a map is tried. Below, numbers and texts don't find their places.
const MIN_COLUMNS: usize = 40;
const MIN_ROWS: usize = 12;
/// A cell is never smaller than this, so that a small page isn't stretched over a large area.
const MIN_PIXELS_PER_COLUMN: f64 = 2.0;
/// A cell is about twice as high as it is wide.
const CELL_ASPECT: f64 = 2.0;
/// The tags of inline elements, which have no frame of their own.
const UNFRAMED: &[&str] =
    &["a", "b", "i", "label", "li", "p", "path", "span", "strong", "t", "text", "tspan"];

/// The cells of an element: from the upper left one to the lower right one, which belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cells {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Cells {
    fn overlaps(self, other: Self) -> bool {
        self.left <= other.right
            && other.left <= self.right
            && self.top <= other.bottom
            && other.top <= self.bottom
    }

    fn width(self) -> usize {
        self.right + 1 - self.left
    }

    fn height(self) -> usize {
        self.bottom + 1 - self.top
    }
}

/// How pixels become cells.
struct Scale {
    left: i64,
    top: i64,
    pixels_per_column: f64,
    pixels_per_row: f64,
    columns: usize,
    rows: usize,
}

impl Scale {
    fn new(places: &[[i64; 4]], columns: usize, rows: usize) -> Option<Self> {
        let left = places.iter().map(|place| place[0]).min()?;
        let top = places.iter().map(|place| place[1]).min()?;
        let right = places.iter().map(|place| place[0].saturating_add(place[2])).max()?;
        let bottom = places.iter().map(|place| place[1].saturating_add(place[3])).max()?;
        let pixels_per_column = ((right - left) as f64 / columns as f64).max(MIN_PIXELS_PER_COLUMN);
        let pixels_per_row = ((bottom - top) as f64 / rows as f64).max(CELL_ASPECT * pixels_per_column);
        Some(Self { left, top, pixels_per_column, pixels_per_row, columns, rows })
    }

    fn cells(&self, [x, y, width, height]: [i64; 4]) -> Cells {
        let cell = |pixels: i64, per_cell: f64| (pixels.max(0) as f64 / per_cell) as usize;
        let (x, y) = (x - self.left, y - self.top);
        let left = cell(x, self.pixels_per_column).min(self.columns - 1);
        let top = cell(y, self.pixels_per_row).min(self.rows - 1);
        let right = cell(x + width - 1, self.pixels_per_column).clamp(left, self.columns - 1);
        let bottom = cell(y + height - 1, self.pixels_per_row).clamp(top, self.rows - 1);
        Cells { left, top, right, bottom }
    }
}

/// The picture as it is drawn: characters with their roles.
struct Canvas {
    cells: Vec<Vec<Option<(PictureRole, char)>>>,
    /// Which cells belong to a label; lines of frames may be covered.
    is_label: Vec<Vec<bool>>,
    /// The row of the last label, so that a box and the text beside it are in one.
    last_row: Option<usize>,
}

impl Canvas {
    fn new(columns: usize, rows: usize) -> Self {
        Self {
            cells: vec![vec![None; columns]; rows],
            is_label: vec![vec![false; columns]; rows],
            last_row: None,
        }
    }

    fn put(&mut self, row: usize, column: usize, role: PictureRole, text: &str) {
        let cell = self.cells.get_mut(row).and_then(|row| row.get_mut(column));
        if let (Some(cell), Some(first)) = (cell, text.chars().next()) {
            *cell = Some((role, first));
        }
    }

    fn frame(&mut self, cells: Cells, role: PictureRole, glyphs: &PictureGlyphs) {
        let Cells { left, top, right, bottom } = cells;
        let joint = |index: usize| glyphs.box_drawing.get(index).copied().unwrap_or(" ");
        for column in left + 1..right {
            self.put(top, column, role, joint(10));
            self.put(bottom, column, role, joint(10));
        }
        for row in top + 1..bottom {
            self.put(row, left, role, joint(5));
            self.put(row, right, role, joint(5));
        }
        let corners = [(top, left, 6), (top, right, 12), (bottom, left, 3), (bottom, right, 9)];
        for (row, column, index) in corners {
            self.put(row, column, role, joint(index));
        }
    }

    /// Returns whether a label of this width has room here, with a blank cell between it and its neighbours.
    fn is_free(&self, row: usize, column: usize, width: usize) -> bool {
        let Some(cells) = self.is_label.get(row).filter(|cells| column + width <= cells.len()) else {
            return false;
        };
        let around = column.saturating_sub(1)..(column + width + 1).min(cells.len());
        cells.get(around).is_some_and(|cells| !cells.contains(&true))
    }

    fn write(&mut self, row: usize, column: usize, label: &[(PictureRole, char)]) {
        for (offset, cell) in label.iter().enumerate() {
            if let Some(place) = self.cells.get_mut(row).and_then(|row| row.get_mut(column + offset)) {
                *place = Some(*cell);
            }
            if let Some(place) = self.is_label.get_mut(row).and_then(|row| row.get_mut(column + offset)) {
                *place = true;
            }
        }
    }

    /// Writes a label in one line at a free place within some cells, the nearest to the row of the last label, or to their middle. It may be wider than they
    /// are.
    fn write_in_line(&mut self, cells: Cells, label: &[(PictureRole, char)]) -> bool {
        let beside = self.last_row.filter(|row| (cells.top..=cells.bottom).contains(row));
        let wanted = beside.unwrap_or(usize::midpoint(cells.top, cells.bottom));
        let mut rows: Vec<usize> = (cells.top..=cells.bottom).collect();
        rows.sort_by_key(|row| row.abs_diff(wanted));
        let columns = cells.left..=cells.left.max((cells.right + 1).saturating_sub(label.len()));
        let places = rows.into_iter().flat_map(|row| columns.clone().map(move |column| (row, column)));
        let free = places.into_iter().find(|(row, column)| self.is_free(*row, *column, label.len()));
        if let Some((row, column)) = free {
            self.write(row, column, label);
            self.last_row = Some(row);
        }
        free.is_some()
    }

    /// Writes a label in several lines that fill some cells.
    fn write_in_lines(&mut self, cells: Cells, label: &[(PictureRole, char)]) -> bool {
        let lines = wrap(label, cells.width());
        let fits = lines.len() <= cells.height()
            && lines.iter().enumerate().all(|(index, line)| {
                line.len() <= cells.width() && self.is_free(cells.top + index, cells.left, line.len())
            });
        if fits {
            for (index, line) in lines.iter().enumerate() {
                self.write(cells.top + index, cells.left, line);
            }
        }
        fits
    }

    fn into_rows(self) -> Vec<PictureRow> {
        let mut rows: Vec<PictureRow> = self.cells.iter().map(|cells| merge_cells(cells)).collect();
        while rows.last().is_some_and(Vec::is_empty) {
            rows.pop();
        }
        rows
    }
}

/// Joins neighbouring cells of the same role, without the blanks at the end.
fn merge_cells(cells: &[Option<(PictureRole, char)>]) -> PictureRow {
    let used = cells.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let mut row = PictureRow::new();
    for cell in cells.iter().take(used) {
        let (role, character) = cell.unwrap_or((PictureRole::Text, ' '));
        match row.last_mut() {
            Some((last, text)) if *last == role => text.push(character),
            _ => row.push((role, character.to_string())),
        }
    }
    row
}

/// Divides a label at its blanks into lines of this width. A longer word is a line of its own.
fn wrap(label: &[(PictureRole, char)], width: usize) -> Vec<Vec<(PictureRole, char)>> {
    let mut lines: Vec<Vec<(PictureRole, char)>> = Vec::new();
    for word in label.split(|(_, character)| *character == ' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push((PictureRole::Text, ' '));
                line.extend_from_slice(word);
            }
            _ => lines.push(word.to_vec()),
        }
    }
    lines
}

/// Draws the elements where they are. Returns `None` if the area is too small for all their numbers and texts, or if it isn't
/// known where they are.
pub(super) fn draw_boxes(
    elements: &[Row<'_>],
    goal: &str,
    (columns, rows): (usize, usize),
    glyphs: &PictureGlyphs,
) -> Option<Vec<PictureRow>> {
    if columns < MIN_COLUMNS || rows < MIN_ROWS {
        return None;
    }
    let following = elements.iter().skip(1).map(|row| row.depth).chain([0]);
    let drawn: Vec<(&Row<'_>, [i64; 4])> = elements
        .iter()
        .zip(following)
        .filter(|(row, next_depth)| *next_depth <= row.depth || row.is_control() || !row.text.is_empty())
        .map(|(row, _)| Some((row, row.place?)))
        .collect::<Option<_>>()?;
    let places: Vec<[i64; 4]> = drawn.iter().map(|(_, place)| *place).collect();
    let scale = Scale::new(&places, columns, rows)?;
    let drawn: Vec<(&Row<'_>, Cells)> =
        drawn.into_iter().map(|(row, place)| (row, scale.cells(place))).collect();
    let mut canvas = Canvas::new(columns, rows);
    let mut frames: Vec<Cells> = Vec::new();
    let mut insides = Vec::new();
    for (row, cells) in &drawn {
        let has_room = cells.height() >= 3 && cells.width() >= 4;
        // A text of the page in the row of a frame's edge would be between pieces of the line.
        let is_crossed = || {
            drawn.iter().any(|(other, place)| {
                other.tag == "t"
                    && place.overlaps(*cells)
                    && !(cells.top < place.top && place.bottom < cells.bottom)
            })
        };
        let is_framed = has_room
            && !UNFRAMED.contains(&row.tag)
            && !row.is_mark()
            && !is_crossed()
            && !frames.iter().any(|frame| frame.overlaps(*cells));
        if is_framed {
            frames.push(*cells);
            let color = row.shown_color().map_or(PictureRole::Frame, Color::role);
            canvas.frame(*cells, if row.is_focused { PictureRole::Agent } else { color }, glyphs);
        }
        insides.push(if is_framed {
            Cells {
                left: cells.left + 1,
                top: cells.top + 1,
                right: cells.right - 1,
                bottom: cells.bottom - 1,
            }
        } else {
            *cells
        });
    }
    // What has a text stays where it is; a mere number finds a place beside.
    let mut labels: Vec<(Vec<(PictureRole, char)>, Cells)> =
        drawn.iter().zip(insides).map(|((row, _), inside)| (row.label(goal, glyphs), inside)).collect();
    labels.sort_by_key(|(label, _)| label.iter().all(|(_, character)| character.is_ascii_digit()));
    for (label, inside) in labels {
        let is_written =
            label.is_empty() || canvas.write_in_line(inside, &label) || canvas.write_in_lines(inside, &label);
        if !is_written {
            return None;
        }
    }
    Some(canvas.into_rows())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn draw(page: &Value, goal: &str, size: (usize, usize)) -> Option<Vec<String>> {
        let elements: Vec<Row<'_>> = page.as_array().unwrap().iter().map(Row::from_value).collect();
        let rows = draw_boxes(&elements, goal, size, &PictureGlyphs::ASCII)?;
        Some(rows.iter().map(|row| row.iter().map(|(_, text)| text.as_str()).collect()).collect())
    }

    fn form() -> Value {
        json!([
            {"ref": 1, "depth": 0, "tag": "body", "box": [0, 0, 160, 210]},
            {"ref": 2, "depth": 1, "tag": "label", "box": [10, 50, 100, 12]},
            {"ref": 3, "depth": 2, "tag": "input_checkbox", "value": "True", "box": [10, 50, 12, 12]},
            {"ref": -1, "depth": 2, "tag": "t", "text": "red", "box": [26, 50, 20, 12]},
            {"ref": 4, "depth": 1, "tag": "input_text", "value": "ab", "focused": true, "box": [10, 70, 100, 24]},
            {"ref": 5, "depth": 1, "tag": "button", "text": "Submit", "box": [10, 110, 60, 30]},
        ])
    }

    #[test]
    fn elements_are_drawn_where_they_are() {
        let expected = [
            "",
            "3 [x]   red",
            "",
            "",
            "",
            "+------------------------------------------------+",
            "|                                                |",
            "|> 4 \"ab\"                                        |",
            "|                                                |",
            "|                                                |",
            "+------------------------------------------------+",
            "",
            "",
            "",
            "",
            "+----------------------------+",
        ];
        let drawn = draw(&form(), "Select red.", (60, 24)).unwrap();
        assert_eq!(drawn[..expected.len()], expected, "{drawn:#?}");
        assert!(drawn.iter().any(|line| line.starts_with("|5 Submit ")), "{drawn:#?}");
        assert!(drawn.len() <= 24);
    }

    /// Regression: a text below a button that rounding puts into the row of its lower edge stood between pieces of the line.
    #[test]
    fn no_text_stands_in_the_line_of_a_frame() {
        let page = json!([
            {"ref": 1, "depth": 0, "tag": "h3", "text": "Section", "box": [0, 0, 160, 24]},
            {"ref": -1, "depth": 0, "tag": "t", "text": "vitae nisl", "box": [4, 25, 60, 8]},
            {"ref": 2, "depth": 0, "tag": "h3", "text": "Other", "box": [0, 180, 160, 30]},
        ]);
        let drawn = draw(&page, "", (60, 24)).unwrap();
        let text_row = drawn.iter().find(|row| row.contains("vitae nisl")).unwrap();
        assert!(!text_row.contains('-'), "{drawn:#?}");
        let drawn = draw(&page, "", (160, 105)).unwrap();
        assert!(drawn[0].starts_with("+--"), "with room there is a frame: {drawn:#?}");
    }

    /// Every number and every text is drawn, or nothing.
    #[test]
    fn without_room_there_is_no_map() {
        assert_eq!(draw(&form(), "", (39, 24)), None);
        assert_eq!(draw(&form(), "", (60, 11)), None);
        let crowded: Vec<Value> = (0..30)
            .map(|n| json!({"ref": n + 1, "depth": 0, "tag": "span", "text": format!("word {n}"), "box": [n, 0, 5, 5]}))
            .collect();
        assert_eq!(draw(&Value::Array(crowded), "", (60, 24)), None);
        let mut old = form();
        old[4].as_object_mut().unwrap().remove("box");
        assert_eq!(draw(&old, "", (60, 24)), None, "sessions of earlier versions don't have places");
        assert_eq!(draw(&json!([]), "", (60, 24)), None);
        for size in [(40, 12), (60, 24), (200, 60)] {
            let Some(drawn) = draw(&form(), "", size) else { continue };
            let text = drawn.join("\n");
            for word in ["3 [x]", "red", "4 \"ab\"", "5 Submit"] {
                assert!(text.contains(word), "{size:?} {word}: {text}");
            }
        }
    }

    #[test]
    fn a_long_text_fills_its_rectangle() {
        let words = ["lorem"; 20].join(" ");
        let page = json!([
            {"ref": 1, "depth": 0, "tag": "p", "text": words, "box": [0, 0, 160, 60]},
            {"ref": 2, "depth": 0, "tag": "circle", "box": [0, 100, 20, 20]},
            {"ref": 3, "depth": 0, "tag": "circle", "box": [5, 105, 20, 20]},
        ]);
        let drawn = draw(&page, "", (60, 24)).unwrap();
        assert_eq!(drawn[0], format!("1 {}", ["lorem"; 9].join(" ")));
        assert_eq!(drawn.join(" ").matches("lorem").count(), 20);
        // Overlapping shapes: one frame, both numbers.
        assert!(drawn.iter().any(|line| line.contains('2')) && drawn.iter().any(|line| line.contains('3')));
    }
}
