//! The elements of a page, and the text that describes them.

use crate::text::prefix;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The maximum length of an observation.
const MAX_OBSERVATION_BYTES: usize = 1 << 20;
/// The tag of a text node beside elements.
const TEXT_NODE: &str = "t";

/// An element as the pages' `core.getDOMInfo` describes it, with those inside it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Element {
    #[serde(rename = "ref")]
    pub(super) number: i64,
    tag: String,
    #[serde(default)]
    id: Value,
    /// An object for elements of SVG.
    #[serde(default)]
    classes: Value,
    /// A text, or whether a box is checked.
    #[serde(default)]
    value: Value,
    text: Option<String>,
    #[serde(default)]
    focused: bool,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    #[serde(rename = "bgColor", default)]
    background: Option<String>,
    children: Vec<Element>,
}

impl Element {
    fn tag(&self) -> String {
        self.tag.to_lowercase()
    }

    fn id(&self) -> &str {
        self.id.as_str().unwrap_or_default()
    }

    fn class(&self) -> &str {
        match &self.classes {
            Value::String(classes) => classes,
            Value::Object(_) => "SVG_CLASS",
            _ => "",
        }
    }

    /// Returns the value as the pages' package prints it.
    fn value(&self) -> &str {
        match &self.value {
            Value::String(text) => text,
            Value::Bool(true) => "True",
            _ => "",
        }
    }

    /// Returns the background colour, unless it is transparent.
    fn background(&self) -> Option<&str> {
        self.background.as_deref().filter(|color| *color != "rgba(0, 0, 0, 0)")
    }

    /// Returns whether it contains nothing, neither elements nor a text or a value.
    fn is_blank(&self) -> bool {
        self.children.is_empty() && self.text().trim().is_empty() && self.value().is_empty()
    }

    /// Returns whether everything inside is text, which then counts as the text of this element.
    fn is_leaf(&self) -> bool {
        self.children.iter().all(|child| child.tag == TEXT_NODE)
    }

    fn text(&self) -> String {
        if self.children.is_empty() || !self.is_leaf() {
            return self.text.clone().unwrap_or_default();
        }
        let texts = self.children.iter().map(|child| child.text.as_deref().unwrap_or_default());
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Calls a function for this element and those inside it, in the order of the page, each with its depth.
    pub(super) fn visit(&self, visitor: &mut impl FnMut(&Element, usize)) {
        self.visit_from(0, visitor);
    }

    fn visit_from(&self, depth: usize, visitor: &mut impl FnMut(&Element, usize)) {
        visitor(self, depth);
        if !self.is_leaf() {
            for child in &self.children {
                child.visit_from(depth + 1, visitor);
            }
        }
    }

    /// Returns the numbers of the elements that can be named, in the order of the page.
    pub(super) fn numbers(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        self.visit(&mut |element, _| numbers.extend(Some(element.number).filter(|number| *number > 0)));
        numbers
    }

    /// Describes the page, one element a line. With `has_details`, also where each is and its background.
    pub(super) fn describe(&self, has_details: bool) -> String {
        let mut lines = Vec::new();
        self.visit(&mut |element, _| lines.push(element.line(has_details)));
        cut(lines.join("\n"), MAX_OBSERVATION_BYTES)
    }

    fn line(&self, has_details: bool) -> String {
        let mut line = format!("[{}] <{}", self.number, self.tag());
        for (name, value) in [("id", self.id()), ("class", self.class()), ("value", self.value())] {
            if !value.is_empty() {
                let _ = write!(line, " {name}=\"{value}\"");
            }
        }
        if has_details {
            let [x, y, width, height] = self.place();
            let _ = write!(line, " at=\"{},{}\" size=\"{width}x{height}\"", x + width / 2, y + height / 2);
            if let Some(background) = self.background() {
                let _ = write!(line, " background=\"{background}\"");
            }
        }
        let _ = write!(line, "> {}", self.text());
        line.truncate(line.trim_end().len());
        line
    }

    /// Left edge, upper edge, width and height in pixels.
    fn place(&self) -> [i64; 4] {
        [self.left, self.top, self.width, self.height].map(|pixels| pixels as i64)
    }

    /// Returns the elements as the picture needs them: a list of objects, in the order of the page.
    pub(super) fn rows(&self) -> Value {
        let mut rows = Vec::new();
        self.visit(&mut |element, depth| {
            let mut row = json!({ "ref": element.number, "depth": depth, "tag": element.tag() });
            for (name, value) in
                [("id", element.id()), ("value", element.value()), ("text", element.text().trim())]
            {
                if !value.is_empty() {
                    row[name] = value.into();
                }
            }
            row["box"] = element.place().into();
            // What else a person could tell it by.
            if let Some(background) = element.background().filter(|_| element.is_blank()) {
                row["background"] = background.into();
            }
            if element.focused {
                row["focused"] = true.into();
            }
            rows.push(row);
        });
        Value::Array(rows)
    }
}

/// Counts the elements that an observation lists: its lines of elements, or the tags of its HTML.
pub fn count_elements(observation: &str) -> usize {
    let is_element = |line: &str| {
        let number = line.strip_prefix('[').and_then(|line| line.split_once("] <")).map(|(number, _)| number);
        number.is_some_and(|number| number.parse::<i64>().is_ok())
    };
    match observation.lines().filter(|line| is_element(line)).count() {
        0 => observation
            .split('<')
            .skip(1)
            .filter(|tag| tag.starts_with(|c: char| c.is_ascii_alphabetic()))
            .count(),
        count => count,
    }
}

/// Cuts a text that is too long, and says so.
pub(super) fn cut(text: String, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text;
    }
    let kept = prefix(&text, max_bytes);
    format!("{kept}\n[cut: {} more bytes]", text.len() - kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(value: Value) -> Element {
        let mut value = value;
        fill(&mut value);
        Element::deserialize(value).unwrap()
    }

    #[test]
    fn elements_are_counted_in_every_view() {
        let page =
            "The action was not carried out: no.\n[1] <body>\n[3] <div at=\"8,50\"> a < b\n[-1] <t> [5] text";
        assert_eq!(count_elements(page), 3);
        assert_eq!(count_elements("<div id=\"wrap\"><b>1 < 2</b>\n<br></div>"), 3);
        assert_eq!(count_elements("OK."), 0);
    }

    /// Adds the fields that every element has.
    fn fill(value: &mut Value) {
        let fields = value.as_object_mut().unwrap();
        for (name, number) in [("left", 8.25), ("top", 50.0), ("width", 20.0), ("height", 11.0)] {
            fields.entry(name).or_insert_with(|| number.into());
        }
        fields.entry("bgColor").or_insert_with(|| "rgba(0, 0, 0, 0)".into());
        let children = fields.entry("children").or_insert_with(|| json!([])).as_array_mut().unwrap();
        children.iter_mut().for_each(fill);
    }

    fn page() -> Element {
        element(json!({"tag": "BODY", "ref": 1, "id": "", "classes": "", "children": [
            {"tag": "P", "ref": 2, "id": "p", "classes": "a b", "children": [
                {"tag": "t", "ref": -1, "text": "one"}, {"tag": "t", "ref": -2, "text": "two"},
            ]},
            {"tag": "LABEL", "ref": 3, "classes": "", "children": [
                {"tag": "INPUT_checkbox", "ref": 4, "id": "ch0", "value": true, "text": ""},
                {"tag": "t", "ref": -3, "text": "box "},
            ]},
            {"tag": "INPUT_checkbox", "ref": 5, "value": false, "text": ""},
            {"tag": "INPUT_text", "ref": 6, "value": "é\"", "text": "", "focused": true},
            {"tag": "path", "ref": 7, "classes": {"baseVal": "", "animVal": ""}, "text": " ", "bgColor": "rgb(1, 2, 3)"},
        ]}))
    }

    #[test]
    fn a_page_is_described_line_by_line() {
        let lines = [
            "[1] <body>",
            "[2] <p id=\"p\" class=\"a b\"> one two",
            "[3] <label>",
            "[4] <input_checkbox id=\"ch0\" value=\"True\">",
            "[-3] <t> box",
            "[5] <input_checkbox>",
            "[6] <input_text value=\"é\"\">",
            "[7] <path class=\"SVG_CLASS\">",
        ];
        assert_eq!(page().describe(false), lines.join("\n"));
        let detailed = page().describe(true);
        let last = "[7] <path class=\"SVG_CLASS\" at=\"18,55\" size=\"20x11\" background=\"rgb(1, 2, 3)\">";
        assert_eq!(detailed.lines().last(), Some(last));
        assert_eq!(page().numbers(), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn rows_have_depth_value_place_and_focus() {
        let rows = page().rows();
        assert_eq!(
            rows[1],
            json!({"ref": 2, "depth": 1, "tag": "p", "id": "p", "text": "one two", "box": [8, 50, 20, 11]})
        );
        assert_eq!(
            rows[3],
            json!({"ref": 4, "depth": 2, "tag": "input_checkbox", "id": "ch0", "value": "True", "box": [8, 50, 20, 11]})
        );
        assert_eq!(rows[6]["focused"], json!(true));
        let backgrounds: Vec<Option<&str>> =
            rows.as_array().unwrap().iter().map(|row| row.get("background")?.as_str()).collect();
        assert_eq!(backgrounds, [None, None, None, None, None, None, None, Some("rgb(1, 2, 3)")]);
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        assert_eq!(cut("abc".to_owned(), 3), "abc");
        assert_eq!(cut("aéb".to_owned(), 2), "a\n[cut: 3 more bytes]");
    }
}
