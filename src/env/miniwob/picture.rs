//! A page as text: its elements where they are (`boxes`), or else their tree, with their numbers, values and focus.

use super::boxes::draw_boxes;
use super::element_row::Row;
use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::labelled_rows;
use serde_json::Value;

/// The maximum number of elements that are drawn.
const MAX_ELEMENTS: usize = 500;
/// Draws the tree of elements.
pub fn draw_picture(request: &PictureRequest<'_>) -> Picture {
    let glyphs = request.glyphs();
    let columns = request.columns.max(8);
    let elements: Vec<Row<'_>> = request
        .shown
        .get("page")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(Row::from_value)
        .collect();
    let mut rows = Vec::new();
    if !request.goal.is_empty() {
        rows.extend(labelled_rows("task ", PictureRole::Goal, request.goal, columns));
    }
    if let Some(Value::String(reason)) = request.shown.get("reason") {
        rows.extend(labelled_rows("end  ", PictureRole::Accent, reason, columns));
    }
    let area = (columns, request.rows.saturating_sub(rows.len() + 1));
    if let Some(map) = draw_boxes(&elements, request.goal, area, glyphs) {
        rows.push(Vec::new());
        rows.extend(map);
        return with_summary(&elements, rows, glyphs);
    }
    // Deep trees leave room for their texts.
    let step = if columns < 50 { 1 } else { 2 };
    let outer = count_outer_containers(&elements);
    let outermost = elements.get(outer).map_or(0, |row| row.depth);
    let drawn = elements.iter().skip(outer).take(MAX_ELEMENTS);
    let indent = |row: &Row<'_>| (step * row.depth.saturating_sub(outermost)).min(columns / 3);
    rows.extend(drawn.map(|row| row.draw(request.goal, indent(row), glyphs)));
    if elements.len() > outer + MAX_ELEMENTS {
        let more = elements.len() - outer - MAX_ELEMENTS;
        rows.push(vec![(PictureRole::Muted, format!("{} {more} more elements", glyphs.ellipsis))]);
    }
    if elements.is_empty() {
        rows.push(vec![(PictureRole::Muted, "no page is known yet".to_owned())]);
    }
    with_summary(&elements, rows, glyphs)
}

/// Returns how many of the first elements only contain all others, such as the page's body. They say nothing and aren't drawn.
fn count_outer_containers(elements: &[Row<'_>]) -> usize {
    // The depth of the outermost element from each place on.
    let mut outermost = vec![usize::MAX; elements.len()];
    for (place, row) in elements.iter().enumerate().rev() {
        outermost[place] = row.depth.min(outermost.get(place + 1).copied().unwrap_or(usize::MAX));
    }
    let contains_rest = |(row, rest): &(&Row<'_>, &usize)| {
        **rest > row.depth && **rest != usize::MAX && row.text.is_empty() && !row.is_control()
    };
    elements.iter().zip(outermost.iter().skip(1)).take_while(contains_rest).count()
}

fn with_summary(elements: &[Row<'_>], rows: Vec<PictureRow>, glyphs: &PictureGlyphs) -> Picture {
    let numbered = elements.iter().filter(|row| row.number > 0).count();
    let summary = if elements.is_empty() { String::new() } else { format!("{numbered} elements") };
    let focus = elements.iter().find(|row| row.is_focused && row.depth > 0);
    let mut one_line = Vec::new();
    if let Some(focus) = focus {
        one_line.push(format!("{summary} {} focus on {}", glyphs.separator, focus.name()));
    }
    one_line.push(summary.clone());
    Picture { summary, one_line, shows_truth: false, rows }
}

/// Returns the HTML of the page, shortened as in prompts.
pub fn page_html(truth: &Value) -> Vec<(&'static str, String)> {
    let html = truth.get("html").and_then(Value::as_str).filter(|html| !html.is_empty());
    html.map(|html| ("page's HTML", html.to_owned())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draw(shown: &Value, goal: &str, columns: usize) -> Picture {
        draw_picture(&PictureRequest {
            shown,
            truth: None,
            goal,
            progress: 0.0,
            columns,
            rows: 40,
            is_ascii: true,
        })
    }

    fn lines(picture: &Picture) -> Vec<String> {
        let line = |row: &PictureRow| row.iter().map(|(_, text)| text.as_str()).collect::<String>();
        picture.rows.iter().map(|row| line(row).trim_end().to_owned()).collect()
    }

    #[test]
    fn a_page_is_a_tree_of_numbered_elements() {
        let shown = json!({"page": [
            {"ref": 1, "depth": 0, "tag": "body"},
            {"ref": 2, "depth": 1, "tag": "label"},
            {"ref": 3, "depth": 2, "tag": "input_checkbox", "id": "ch0", "value": "True"},
            {"ref": -1, "depth": 2, "tag": "t", "text": "red"},
            {"ref": 4, "depth": 1, "tag": "input_text", "id": "tt", "value": "ab", "focused": true},
            {"ref": 5, "depth": 1, "tag": "button", "text": "Submit"},
        ]});
        let picture = draw(&shown, "Select red and click Submit.", 60);
        let expected = [
            "task Select red and click Submit.",
            "  2 label",
            "  3   input_checkbox #ch0 [x]",
            "      red",
            "  4 input_text #tt \"ab\" - focus",
            "  5 button Submit",
        ];
        assert_eq!(lines(&picture), expected);
        let role_of = |text: &str| {
            picture
                .rows
                .iter()
                .skip(1)
                .flatten()
                .find(|(_, piece)| piece.trim() == text)
                .map(|(role, _)| *role)
        };
        assert_eq!([role_of("red"), role_of("Submit")], [Some(PictureRole::Goal); 2]);
        assert_eq!(picture.summary, "5 elements");
        assert_eq!(picture.one_line, ["5 elements - focus on text #tt", "5 elements"]);
    }

    /// Regression: of a page of coloured boxes, only the numbers of the boxes were shown.
    #[test]
    fn boxes_without_a_text_are_told_by_their_colors() {
        let colors = ["rgb(0, 255, 255)", "rgb(255, 165, 0)", "rgb(0, 0, 0)"];
        let boxes = colors.iter().zip(0..).map(|(color, n)| {
            json!({"ref": n + 4, "depth": 1, "tag": "div", "background": color, "box": [60 * n, 0, 52, 52]})
        });
        let body = json!({"ref": 3, "depth": 0, "tag": "body", "box": [0, 0, 172, 52]});
        let field = json!({"ref": 9, "depth": 1, "tag": "input_text", "background": "rgb(255, 255, 255)", "box": [0, 60, 50, 20]});
        let shown = json!({ "page": std::iter::once(body).chain(boxes).chain([field]).collect::<Vec<_>>() });
        let tree = [
            "task Click on the cyan colored box.",
            "  4 div cyan",
            "  5 div orange",
            "  6 div black",
            "  9 input_text \"\"",
        ];
        assert_eq!(lines(&draw(&shown, "Click on the cyan colored box.", 36)), tree);
        let map = draw(&shown, "Click on the cyan colored box.", 100);
        for (role, text) in
            [(PictureRole::Blue, "cyan"), (PictureRole::Yellow, "orange"), (PictureRole::Muted, "black")]
        {
            assert!(
                map.rows.iter().flatten().any(|piece| *piece == (role, text.to_owned())),
                "{text}: {map:?}"
            );
        }
        let frame = map.rows.iter().find_map(|row| row.first().filter(|(_, text)| text.starts_with('+')));
        assert_eq!(frame.unwrap().0, PictureRole::Blue);
    }

    #[test]
    fn nothing_known_is_said() {
        assert_eq!(lines(&draw(&Value::Null, "", 40)), ["no page is known yet"]);
    }

    #[test]
    fn the_html_has_a_label() {
        assert_eq!(page_html(&json!({"html": "<p>"})), [("page's HTML", "<p>".to_owned())]);
        assert!(page_html(&json!({"html": ""})).is_empty() && page_html(&Value::Null).is_empty());
    }
}
