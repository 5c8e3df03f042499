//! An element of a page as pictures draw it.

use super::color::Color;
use crate::domain::{PictureGlyphs, PictureRole, PictureRow};
use serde_json::Value;

/// The maximum length of a text that is drawn.
const MAX_TEXT_BYTES: usize = 400;
/// The beginnings of the tags of elements that are made to be clicked or typed into.
const CONTROLS: &[&str] = &["a", "button", "input", "option", "select", "textarea"];

/// One element, as `shown` has it.
pub(super) struct Row<'a> {
    pub(super) number: i64,
    pub(super) depth: usize,
    pub(super) tag: &'a str,
    id: &'a str,
    value: &'a str,
    pub(super) text: &'a str,
    pub(super) is_focused: bool,
    /// The colour of an element that has nothing else to tell it by. `None` also in sessions of earlier versions.
    pub(super) color: Option<Color>,
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
            color: Color::parse(text("background")),
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

    /// Returns the colour to draw. A field to type into, which is white, has none.
    pub(super) fn shown_color(&self) -> Option<Color> {
        self.color.filter(|_| !self.is_control())
    }

    /// Names the element in a few words.
    pub(super) fn name(&self) -> String {
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
        pieces.extend(self.shown_color().map(|color| (color.role(), color.name())));
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

    pub(super) fn draw(&self, goal: &str, indent: usize, glyphs: &PictureGlyphs) -> PictureRow {
        let number = if self.number > 0 { self.number.to_string() } else { String::new() };
        let mut row = vec![(PictureRole::Muted, format!("{number:>3} {}", " ".repeat(indent)))];
        if self.tag != "t" {
            row.push((
                if self.is_control() { PictureRole::Title } else { PictureRole::Muted },
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
        if let Some(color) = self.shown_color() {
            row.push((color.role(), format!("{} ", color.name())));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_those_of_the_goal() {
        assert!(names("Click on \"a\".", "a") && names("Select b>a", "a") && names("Click ac.", "ac."));
        assert!(!names("Click on the bar", "a") && !names("", "a") && !names("x", " "));
    }
}
