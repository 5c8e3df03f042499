//! The actions on a page: their text form, DORA's form, and RCI's.

use super::keys::{self, KeyStroke};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// What the pointer does after it was moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    Move,
    Click,
    DoubleClick,
    Press,
    Release,
}

/// An action on a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Nothing,
    ClickElement(i64),
    /// Types into the focused element.
    Type(Typed),
    /// Clicks an element and types.
    TypeInto(i64, Typed),
    PressKey(KeyStroke),
    /// At a place in pixels from the upper left corner of the page.
    PointAt(Pointer, i64, i64),
    /// Turns the wheel by this many pixels, at a place.
    Scroll(i64, i64, i64),
    /// Clicks the first element of an XPath that can be clicked.
    ClickXPath(String),
    /// Moves the pointer over each element of an XPath.
    HoverXPath(String),
}

/// What is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    /// A field of the task's text, counted from 0.
    Field(usize),
}

/// Which actions are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionSet {
    /// All of them.
    Full,
    /// Those of DORA's public code: without XPaths.
    Code,
    /// Those of DORA's paper: without coordinates, single keys and XPaths.
    Paper,
    /// RCI's.
    Rci,
}

impl ActionSet {
    pub(super) const WORDS: &'static [&'static str] = &["full", "code", "paper", "rci"];

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "code" => Self::Code,
            "paper" => Self::Paper,
            "rci" => Self::Rci,
            _ => Self::Full,
        }
    }
}

/// How far one scroll action turns the wheel, in pixels.
const SCROLL_PIXELS: i64 = 50;

/// Parses an action.
///
/// # Errors
/// Returns why it is none, as a clause.
pub(super) fn parse(text: &str, set: ActionSet) -> Result<Action, String> {
    let text = text.trim_start();
    let unknown = || format!("`{}` is not an action of a page", crate::text::prefix(text, 60));
    if matches!(set, ActionSet::Full | ActionSet::Rci)
        && let Some(action) = parse_rci(text)
    {
        return action;
    }
    if set == ActionSet::Rci {
        return Err(unknown());
    }
    let action = if text.starts_with('{') {
        parse_object(text)?
    } else {
        parse_plain(text).unwrap_or_else(|| Err(unknown()))?
    };
    let needs_full = matches!(action, Action::PointAt(..) | Action::Scroll(..) | Action::PressKey(_));
    if needs_full && set == ActionSet::Paper {
        return Err("this action is not in the action set `paper`".to_owned());
    }
    Ok(action)
}

/// Parses the text form. `None` if the first word names no action.
fn parse_plain(text: &str) -> Option<Result<Action, String>> {
    let (name, rest) = text.split_once(' ').unwrap_or((text.trim_end(), ""));
    let rest_line = rest.trim();
    let with_ref = |build: &dyn Fn(i64, &str) -> Result<Action, String>| {
        let (word, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        build(parse_ref(word)?, rest)
    };
    Some(match name.trim_end() {
        "none" if rest_line.is_empty() => Ok(Action::Nothing),
        "click_element" => parse_ref(rest_line).map(Action::ClickElement),
        "focus_element_and_type_text" => {
            with_ref(&|element, text| Ok(Action::TypeInto(element, Typed::Text(text.to_owned()))))
        }
        "focus_element_and_type_field" => {
            with_ref(&|element, number| Ok(Action::TypeInto(element, Typed::Field(parse_field(number)?))))
        }
        "type_text" => Ok(Action::Type(Typed::Text(rest.to_owned()))),
        "type_field" => parse_field(rest_line).map(|number| Action::Type(Typed::Field(number))),
        "press_key" => keys::parse_stroke(if rest == " " { rest } else { rest_line }).map(Action::PressKey),
        name => return parse_pointer(name, rest_line),
    })
}

fn parse_pointer(name: &str, rest: &str) -> Option<Result<Action, String>> {
    let build = place_action(name)?;
    let mut numbers = rest.split([' ', ',']).filter(|word| !word.is_empty()).map(str::parse::<f64>);
    let place = match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(x)), Some(Ok(y)), None) if x.is_finite() && y.is_finite() => Ok((x, y)),
        _ => Err(format!("`{name}` takes two numbers, X and Y, not `{rest}`")),
    };
    Some(place.map(|(x, y)| build(x, y)))
}

/// Returns what a verb about a place makes of it. The numbers are cut toward zero, as the pages' package does.
fn place_action(name: &str) -> Option<fn(f64, f64) -> Action> {
    Some(match name {
        "move_coords" => |x, y| Action::PointAt(Pointer::Move, x as i64, y as i64),
        "click_coords" => |x, y| Action::PointAt(Pointer::Click, x as i64, y as i64),
        // DORA's code spells it so.
        "dblclick_coords" | "dbclick_coords" => {
            |x, y| Action::PointAt(Pointer::DoubleClick, x as i64, y as i64)
        }
        "mousedown_coords" => |x, y| Action::PointAt(Pointer::Press, x as i64, y as i64),
        "mouseup_coords" => |x, y| Action::PointAt(Pointer::Release, x as i64, y as i64),
        "scroll_up_coords" => |x, y| Action::Scroll(x as i64, y as i64, -SCROLL_PIXELS),
        "scroll_down_coords" => |x, y| Action::Scroll(x as i64, y as i64, SCROLL_PIXELS),
        _ => return None,
    })
}

/// Parses the number of an element, also in the brackets in which observations have it.
fn parse_ref(word: &str) -> Result<i64, String> {
    let number = word.strip_prefix('[').and_then(|word| word.strip_suffix(']')).unwrap_or(word);
    number.parse().map_err(|_| format!("`{word}` is not the number of an element"))
}

fn parse_field(word: &str) -> Result<usize, String> {
    word.trim().parse().map_err(|_| format!("`{}` is not the number of a field", word.trim()))
}

/// Parses DORA's form: an object with `name` and `input_args_schema`, or one that has it as `action`. JSON, or a literal of
/// Python.
fn parse_object(text: &str) -> Result<Action, String> {
    let text = text.trim();
    let value: Value = serde_json::from_str(text)
        .or_else(|error| {
            if text.contains('"') { Err(error) } else { serde_json::from_str(&text.replace('\'', "\"")) }
        })
        .map_err(|error| format!("the action is no JSON object: {error}"))?;
    let action = value.get("action").unwrap_or(&value);
    let name = action.get("name").and_then(Value::as_str).ok_or("the action has no `name`")?;
    let arguments = action.get("input_args_schema").unwrap_or(&Value::Null);
    let number = |key: &str| {
        arguments.get(key).and_then(Value::as_f64).ok_or_else(|| format!("`{name}` needs a number `{key}`"))
    };
    let whole = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_i64)
            .ok_or_else(|| format!("`{name}` needs a whole number `{key}`"))
    };
    let index = |key: &str| {
        whole(key).and_then(|number| usize::try_from(number).map_err(|_| format!("`{key}` is negative")))
    };
    let typed = || {
        let text = arguments.get("text").and_then(Value::as_str);
        text.map(|text| Typed::Text(text.to_owned())).ok_or_else(|| format!("`{name}` needs a `text`"))
    };
    Ok(match name {
        "none" => Action::Nothing,
        "click_element" => Action::ClickElement(whole("ref")?),
        "type_text" => Action::Type(typed()?),
        "type_field" => Action::Type(Typed::Field(index("field")?)),
        "focus_element_and_type_text" => Action::TypeInto(whole("ref")?, typed()?),
        "focus_element_and_type_field" => Action::TypeInto(whole("ref")?, Typed::Field(index("field")?)),
        "press_key" => Action::PressKey(match arguments.get("key") {
            Some(Value::String(key)) => keys::parse_stroke(key)?,
            _ => keys::stroke_of_index(index("key")?)?,
        }),
        name => {
            let build = place_action(name).ok_or_else(|| format!("`{name}` is not an action of a page"))?;
            let coordinate = |key: &str, other: &str| number(key).or_else(|_| number(other));
            build(coordinate("left", "x")?, coordinate("top", "y")?)
        }
    })
}

/// Parses RCI's form. `None` if the text has none of its verbs.
fn parse_rci(text: &str) -> Option<Result<Action, String>> {
    static FORM: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?is)^(type|press|clickxpath|clickoption|movemouse)\s(.+)$").ok());
    let parts = FORM.as_ref()?.captures(text)?;
    let (verb, rest) = (parts.get(1)?.as_str().to_lowercase(), parts.get(2)?.as_str());
    let xpath = || {
        let text = rest.trim();
        let text = text.strip_prefix('"').unwrap_or(text);
        text.strip_suffix('"').unwrap_or(text).to_owned()
    };
    Some(match verb.as_str() {
        "type" => Ok(Action::Type(Typed::Text(rest.replace('"', "")))),
        "press" => keys::rci_stroke(rest.trim()).map(Action::PressKey),
        "movemouse" => Ok(Action::HoverXPath(xpath())),
        _ => Ok(Action::ClickXPath(xpath())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(text: &str) -> Result<Action, String> {
        parse(text, ActionSet::Full)
    }

    fn text(text: &str) -> Typed {
        Typed::Text(text.to_owned())
    }

    #[test]
    fn the_text_form_is_parsed() {
        let key = |key: &str| keys::parse_stroke(key).unwrap();
        let cases = [
            ("click_element 7", Action::ClickElement(7)),
            (" click_element [7] ", Action::ClickElement(7)),
            ("click_element -3", Action::ClickElement(-3)),
            ("focus_element_and_type_text 5 two  words ", Action::TypeInto(5, text("two  words "))),
            ("focus_element_and_type_text 5 \"a\"", Action::TypeInto(5, text("\"a\""))),
            ("focus_element_and_type_text 5", Action::TypeInto(5, text(""))),
            ("focus_element_and_type_field 5 0", Action::TypeInto(5, Typed::Field(0))),
            ("type_text a b", Action::Type(text("a b"))),
            ("type_field 1", Action::Type(Typed::Field(1))),
            ("press_key <Enter>", Action::PressKey(key("<Enter>"))),
            ("press_key C-S-a", Action::PressKey(key("C-S-a"))),
            ("press_key  ", Action::PressKey(key(" "))),
            ("move_coords 25.9688 98.5", Action::PointAt(Pointer::Move, 25, 98)),
            ("click_coords -0.7, 3", Action::PointAt(Pointer::Click, 0, 3)),
            ("dbclick_coords 1 2", Action::PointAt(Pointer::DoubleClick, 1, 2)),
            ("mousedown_coords 1 2", Action::PointAt(Pointer::Press, 1, 2)),
            ("scroll_up_coords 1 2", Action::Scroll(1, 2, -50)),
            ("none", Action::Nothing),
        ];
        for (line, action) in cases {
            assert_eq!(full(line), Ok(action), "{line:?}");
        }
    }

    #[test]
    fn doras_form_is_parsed() {
        let cases = [
            (r#"{"name": "click_element", "input_args_schema": {"ref": 4}}"#, Action::ClickElement(4)),
            (r#"{"think": "t", "action": {"name": "none", "input_args_schema": {}}}"#, Action::Nothing),
            (r"{'name': 'type_text', 'input_args_schema': {'text': 'ab'}}", Action::Type(text("ab"))),
            (
                r#"{"name": "click_coords", "input_args_schema": {"left": 3, "top": 4.9}}"#,
                Action::PointAt(Pointer::Click, 3, 4),
            ),
            (
                r#"{"name": "press_key", "input_args_schema": {"key": 0}}"#,
                Action::PressKey(keys::parse_stroke("<Enter>").unwrap()),
            ),
            (
                r#"{"name": "focus_element_and_type_field", "input_args_schema": {"ref": 5, "field": 1}}"#,
                Action::TypeInto(5, Typed::Field(1)),
            ),
        ];
        for (line, action) in cases {
            assert_eq!(full(line), Ok(action), "{line:?}");
        }
    }

    #[test]
    fn rcis_form_is_parsed() {
        let cases = [
            ("type \"hello\" you", Action::Type(text("hello you"))),
            ("Press ENTER", Action::PressKey(keys::parse_stroke("<Enter>").unwrap())),
            ("clickxpath //*[@id=\"subbtn\"]", Action::ClickXPath("//*[@id=\"subbtn\"]".to_owned())),
            ("clickxpath \"//button\"", Action::ClickXPath("//button".to_owned())),
            ("clickoption //option[2]", Action::ClickXPath("//option[2]".to_owned())),
            ("movemouse //li", Action::HoverXPath("//li".to_owned())),
        ];
        for (line, action) in cases {
            assert_eq!(full(line), Ok(action.clone()), "{line:?}");
            assert_eq!(parse(line, ActionSet::Rci), Ok(action), "{line:?}");
            assert!(parse(line, ActionSet::Paper).is_err(), "{line:?}");
        }
    }

    #[test]
    fn what_is_no_action_is_said() {
        let cases = [
            ("", "`` is not an action of a page"),
            ("click the button", "`click the button` is not an action of a page"),
            ("click_element", "`` is not the number of an element"),
            ("click_element submit", "`submit` is not the number of an element"),
            ("move_coords 1", "`move_coords` takes two numbers, X and Y, not `1`"),
            ("move_coords 1 2 3", "takes two numbers"),
            ("move_coords inf 1", "takes two numbers"),
            ("type_field x", "`x` is not the number of a field"),
            ("press_key <Power>", "`<Power>` is not a key"),
            ("press f1", "`f1` is not a key"),
            ("{\"name\": 3}", "the action has no `name`"),
            ("{name", "the action is no JSON object"),
            ("{\"name\": \"fly\"}", "`fly` is not an action of a page"),
            ("{\"name\": \"click_element\"}", "`click_element` needs a whole number `ref`"),
        ];
        for (line, part) in cases {
            let what = full(line).unwrap_err();
            assert!(what.contains(part), "{line:?}: {what}");
        }
        for line in ["move_coords 1 2", "press_key a", "scroll_up_coords 1 2"] {
            assert!(parse(line, ActionSet::Paper).is_err(), "{line}");
        }
        for line in ["click_element 3", "{\"name\": \"none\"}"] {
            assert!(parse(line, ActionSet::Rci).is_err() && parse(line, ActionSet::Paper).is_ok(), "{line}");
        }
    }
}
