//! A page as text: its elements where they are (`boxes`), or else their tree, with their numbers, values and focus.

use super::boxes::draw_boxes;
use crate::domain::{Picture, PictureGlyphs, PictureRequest, PictureRole, PictureRow};
use crate::env::picture::labelled_rows;
use serde_json::Value;

/// The maximum number of elements that are drawn.
const MAX_ELEMENTS: usize = 500;
/// The maximum length of a text that is drawn.
const MAX_TEXT_BYTES: usize = 400;
/// The beginnings of the tags of elements that are made to be clicked or typed into.
const CONTROLS: &[&str] = &["a", "button", "input", "option", "select", "textarea"];

/// One element, as `shown` has it.
pub(super) struct Row<'a> {
    number: i64,
    pub(super) depth: usize,
    pub(super) tag: &'a str,
    id: &'a str,
    value: &'a str,
    pub(super) text: &'a str,
    pub(super) is_focused: bool,
    /// Left edge, upper edge, width and height in pixels; `None` in sessions of earlier versions.
    pub(super) place: Option<[i64; 4]>,
}

impl<'a> Row<'a> {
    pub(super) fn from_value(value: &'a Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        Self {
            number: value.get("ref").and_then(Value::as_i64).unwrap_or_default(),
            depth: value.get("depth").and_then(Value::as_u64).unwrap_or_default() as usize,
            tag: text("tag"),
            id: text("id"),
            value: text("value"),
            text: crate::text::prefix(text("text"), MAX_TEXT_BYTES),
            is_focused: value.get("focused") == Some(&Value::Bool(true)),
            place: value.get("box").and_then(|place| serde_json::from_value(place.clone()).ok()),
        }
    }

    /// Returns whether this is a box to tick, which is drawn as a mark.
    pub(super) fn is_mark(&self) -> bool {
        ["input_checkbox", "input_radio"].contains(&self.tag)
    }

    pub(super) fn is_control(&self) -> bool {
        let kind = self.tag.split('_').next().unwrap_or_default();
        CONTROLS.contains(&kind)
    }

    /// Returns the state of a box or the text in a field.
    fn state(&self) -> Option<String> {
        match self.tag {
            "input_checkbox" | "input_radio" => {
                Some(if self.value == "True" { "[x]" } else { "[ ]" }.to_owned())
            }
            "input_button" | "input_submit" => Some(self.value.to_owned()),
            _ if self.is_control()
                && (!self.value.is_empty() || self.tag.starts_with("input") || self.tag == "textarea") =>
            {
                Some(format!("\"{}\"", crate::text::prefix(self.value, MAX_TEXT_BYTES)))
            }
            _ => None,
        }
    }

    /// Names the element in a few words.
    fn name(&self) -> String {
        let kind = self.tag.strip_prefix("input_").unwrap_or(self.tag);
        if self.id.is_empty() { kind.to_owned() } else { format!("{kind} #{}", self.id) }
    }

    /// Returns number, state and text as characters with their roles, for a map of the page.
    pub(super) fn label(&self, goal: &str, glyphs: &PictureGlyphs) -> Vec<(PictureRole, char)> {
        let mut pieces = Vec::new();
        if self.is_focused && self.depth > 0 {
            pieces.push((PictureRole::Agent, glyphs.pointer.to_owned()));
        }
        if self.number > 0 {
            pieces.push((PictureRole::Muted, self.number.to_string()));
        }
        pieces.extend(self.state().map(|state| (PictureRole::Accent, state)));
        if !self.text.is_empty() {
            let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let role = if names(goal, self.text) { PictureRole::Goal } else { PictureRole::Observation };
            pieces.push((role, text));
        }
        let mut label = Vec::new();
        for (role, text) in pieces.iter().filter(|(_, text)| !text.is_empty()) {
            if !label.is_empty() {
                label.push((PictureRole::Text, ' '));
            }
            // One character is one cell here; what would be wider, or nothing, is replaced.
            let cells = text
                .chars()
                .map(|c| if crate::text::width(c.encode_utf8(&mut [0; 4])) == 1 { c } else { '?' });
            label.extend(cells.map(|character| (*role, character)));
        }
        label
    }

    fn draw(&self, goal: &str, indent: usize, glyphs: &PictureGlyphs) -> PictureRow {
        let number = if self.number > 0 { self.number.to_string() } else { String::new() };
        let mut row = vec![(PictureRole::Muted, format!("{number:>3} {}", " ".repeat(indent)))];
        if self.tag != "t" {
            row.push((
                if self.is_control() { PictureRole::Title } else { PictureRole::Frame },
                self.tag.to_owned(),
            ));
            if !self.id.is_empty() {
                row.push((PictureRole::Muted, format!(" #{}", self.id)));
            }
            row.push((PictureRole::Text, " ".to_owned()));
        }
        if let Some(state) = self.state() {
            row.push((PictureRole::Accent, format!("{state} ")));
        }
        if !self.text.is_empty() {
            let role = if names(goal, self.text) { PictureRole::Goal } else { PictureRole::Observation };
            let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
            row.push((role, format!("{text} ")));
        }
        // The body has the focus if nothing else has.
        if self.is_focused && self.depth > 0 {
            row.push((PictureRole::Agent, format!("{} focus", glyphs.separator)));
        }
        row
    }
}

/// Returns whether a goal contains a text as whole words.
fn names(goal: &str, text: &str) -> bool {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '.');
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !text.is_empty()
        && goal.match_indices(text).any(|(start, _)| {
            !is_inside(goal[..start].chars().next_back())
                && !is_inside(goal[start + text.len()..].chars().next())
        })
}

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
    let drawn = elements.iter().take(MAX_ELEMENTS);
    rows.extend(drawn.map(|row| row.draw(request.goal, (step * row.depth).min(columns / 3), glyphs)));
    if elements.len() > MAX_ELEMENTS {
        let more = elements.len() - MAX_ELEMENTS;
        rows.push(vec![(PictureRole::Muted, format!("{} {more} more elements", glyphs.ellipsis))]);
    }
    if elements.is_empty() {
        rows.push(vec![(PictureRole::Muted, "no page is known yet".to_owned())]);
    }
    with_summary(&elements, rows, glyphs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draw(shown: &Value, goal: &str, columns: usize) -> Picture {
        draw_picture(&PictureRequest { shown, truth: None, goal, columns, rows: 40, is_ascii: true })
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
            "  1 body",
            "  2   label",
            "  3     input_checkbox #ch0 [x]",
            "        red",
            "  4   input_text #tt \"ab\" - focus",
            "  5   button Submit",
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

    #[test]
    fn only_whole_words_are_those_of_the_goal() {
        assert!(names("Click on \"a\".", "a") && names("Select b>a", "a") && names("Click ac.", "ac."));
        assert!(!names("Click on the bar", "a") && !names("", "a") && !names("x", " "));
    }

    #[test]
    fn nothing_known_is_said() {
        assert_eq!(lines(&draw(&Value::Null, "", 40)), ["no page is known yet"]);
    }
}
