//! Named values of which one is to be another: a list with how each is now, over it a line with the words of `set`: a name
//! and, behind a blank, its value. The box of models and the fork dialog have the same.

use super::fuzzy::rank;
use super::row_delta;
use super::text_field::TextField;
use super::window::{Line, MouseTarget, Scroll, put_line};
use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, SamplingParam, SettingOrigin, sampling_param};
use crate::method::{SETTINGS, SettingSpec};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::overlay::clamped_index;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedValue {
    /// The name, as `set` has it.
    pub(super) name: String,
    /// The value, as it is typed; empty where nobody knows it.
    current: String,
    /// What is sent in its place, where that is something else.
    sent: Option<String>,
    /// Whose it is, where that is to be said.
    origin: &'static str,
    /// What it means.
    meaning: &'static str,
    /// What it may be.
    allowed: String,
}

impl NamedValue {
    /// What stands behind the name in the list.
    pub(super) fn description(&self) -> String {
        let now = match (self.current.as_str(), self.origin) {
            _ if self.sent.is_some() => format!("{}; ", self.sent.as_deref().unwrap_or_default()),
            ("", _) => String::new(),
            (now, "") => format!("{now}; "),
            (now, whose) => format!("{now} ({whose}); "),
        };
        format!("{now}{}", self.meaning)
    }

    /// What is to be known while its value is typed.
    pub(super) fn allowed_text(&self, typed: bool) -> String {
        let words = if typed { "as typed" } else { self.meaning };
        format!("{words}: {}", self.allowed)
    }

    /// The line with its name and value; typing replaces the value.
    pub(super) fn to_field(&self) -> TextField {
        TextField::preselected_from(&format!("{} {}", self.name, self.current), self.name.chars().count() + 1)
    }
}

/// How a role is sampled.
pub(super) fn sampling_values(run: Option<&RunSpec>, asked: ModelRole) -> Vec<NamedValue> {
    let named = SAMPLING_PARAMS.iter().map(|knob| {
        let (now, chosen) = run.map_or((None, false), |r| r.effective_value(asked, knob));
        NamedValue {
            name: knob.setting_name(asked),
            current: now.as_ref().map_or_else(String::new, SamplingParam::format_value),
            sent: None,
            origin: match run.and_then(|r| r.settings.0.get(&knob.setting_name(asked))).map(|s| s.origin) {
                _ if !chosen => "",
                Some(SettingOrigin::Flag) => "by a flag",
                Some(SettingOrigin::Config) => "by the configuration",
                _ => "a person's",
            },
            meaning: knob.meaning,
            allowed: knob.allowed.to_owned(),
        }
    });
    named.collect()
}

/// Says of the sampling parameters of a role what is sent in their place, after what was learnt of its model. A stop at a newline
/// is the actor's own where nobody has chosen another.
pub(super) fn as_sent(all: &mut [NamedValue], unsent: &[String]) {
    for named in all {
        let Some((asked, param)) = sampling_param(&named.name) else { continue };
        let newline = param.name == "stop" && asked == ModelRole::Actor && named.current.is_empty();
        if newline {
            r#"["\n"]"#.clone_into(&mut named.current);
        }
        let cut = newline && unsent.iter().any(|line| line.starts_with("stop at a newline: "));
        let value =
            serde_json::from_str(&named.current).unwrap_or_else(|_| Value::from(named.current.as_str()));
        named.sent = match param.sent_value(&value, unsent).filter(|_| !cut) {
            None => Some("not sent".to_owned()),
            Some(sent) if sent != value => Some(format!("{sent} (raised from {})", named.current)),
            Some(_) => None,
        };
    }
}

/// The settings of a run, but for what is changed with its models and their sampling.
pub(super) fn setting_values(run: Option<&RunSpec>) -> Vec<NamedValue> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of_a_role = |name: &str| ["actor.", "mentor."].iter().any(|role| name.starts_with(role));
    let all = run.into_iter().flat_map(|r| &r.settings.0);
    let named = all.filter(|(name, _)| *name != "templates" && !of_a_role(name)).map(|(name, setting)| {
        let spec = SETTINGS.iter().find(|s| s.name == name);
        NamedValue {
            name: name.clone(),
            current: word(&setting.value),
            sent: None,
            origin: if setting.origin == SettingOrigin::Mentor {
                "because the mentor is a model"
            } else {
                ""
            },
            meaning: spec.map_or("", |s| s.meaning),
            allowed: spec.map_or_else(String::new, SettingSpec::allowed_values),
        }
    });
    named.collect()
}

/// The named one that is typed, and the value behind it: `set actor.temperature 0.5`, `actor.temperature=0.5`, and where
/// all names have the same role also `temperature 0.5`; a name with `_` may be typed with blanks. None: the line begins with no whole name.
pub(super) fn parse_assignment<'a>(all: &'a [NamedValue], line: &str) -> Option<(&'a NamedValue, String)> {
    let (name, value) = split_name(line);
    let role = |n: &NamedValue| n.name.split_once('.').is_some_and(|(_, knob)| knob == name);
    let exact = all.iter().find(|n| n.name == name).or_else(|| all.iter().find(|n| role(n)));
    let (named, value) = exact.map(|named| (named, value)).or_else(|| match_spaced_name(all, line))?;
    Some((named, value.trim_start_matches([' ', '=']).to_owned()))
}

/// The one whose name, with blanks for `_`, begins the line, and what is behind it.
fn match_spaced_name<'a, 'l>(all: &'a [NamedValue], line: &'l str) -> Option<(&'a NamedValue, &'l str)> {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    all.iter().find_map(|named| {
        let knob = named.name.split_once('.').map(|(_, knob)| knob);
        let names = std::iter::once(named.name.as_str()).chain(knob).filter(|name| name.contains('_'));
        let mut rests = names.filter_map(|name| line.strip_prefix(name.replace('_', " ").as_str()));
        rests.find(|rest| rest.is_empty() || rest.starts_with([' ', '='])).map(|rest| (named, rest))
    })
}

/// A line without `set`, as its name and what is behind it.
fn split_name(line: &str) -> (&str, &str) {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    line.split_once([' ', '=']).unwrap_or((line, ""))
}

/// What was typed for a name, as its value.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn parse_value(run: &RunSpec, name: &str, text: &str) -> Result<Value, String> {
    if let Some((asked, knob)) = sampling_param(name) {
        let value = knob.parse(text)?;
        return run.check_param_supported(asked, knob, &value).map(|()| value);
    }
    let value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
    if let Some(spec) = SETTINGS.iter().find(|s| s.name == name) {
        spec.validate(&value)?;
    }
    Ok(value)
}

/// The line and the list below it.
pub(super) struct NamedValueInput {
    all: Vec<NamedValue>,
    field: TextField,
    matches: Vec<NamedValue>,
    selected: usize,
    scroll: Scroll,
}

impl NamedValueInput {
    /// An empty line over all of them.
    pub(super) fn new(all: Vec<NamedValue>) -> Self {
        let fitting = all.clone();
        Self {
            all,
            field: TextField::single_line(""),
            matches: fitting,
            selected: 0,
            scroll: Scroll::default(),
        }
    }

    /// The rows it would like.
    pub(super) fn needed_rows(&self) -> u16 {
        self.all.len() as u16 + 2
    }

    fn filter(&mut self) {
        let line = self.field.text();
        self.matches = if let Some((named, _)) = parse_assignment(&self.all, &line) {
            vec![named.clone()]
        } else {
            let words: Vec<String> = self.all.iter().map(|n| format!("{} {}", n.name, n.meaning)).collect();
            let order = rank(split_name(&line).0, words.iter().map(String::as_str));
            order.into_iter().filter_map(|place| self.all.get(place).cloned()).collect()
        };
        self.selected = 0;
    }

    /// Back to the whole list; whether anything was typed.
    pub(super) fn clear(&mut self) -> bool {
        let any = !self.field.text().is_empty();
        if any {
            let was = parse_assignment(&self.all, &self.field.text()).map(|(named, _)| named.name.clone());
            self.field.replace("");
            self.filter();
            let at = was.and_then(|name| self.matches.iter().position(|n| n.name == name));
            self.selected = at.unwrap_or(0);
        }
        any
    }

    /// What is typed as a name and another value than it has now; none: the chosen name was put into the line.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(super) fn accept(&mut self) -> Result<Option<(String, String)>, String> {
        let line = self.field.text();
        let Some((named, value)) = parse_assignment(&self.all, &line).filter(|(_, value)| !value.is_empty())
        else {
            if self.matches.is_empty() {
                return Err(format!(
                    "nothing here is called `{}`; the list has every name",
                    split_name(&line).0
                ));
            }
            self.fill_in_selected();
            return Ok(None);
        };
        if value == named.current {
            return Err("this is what it was; change it, or go back with Esc".to_owned());
        }
        Ok(Some((named.name.clone(), value)))
    }

    fn fill_in_selected(&mut self) {
        if let Some(named) = self.matches.get(self.selected) {
            self.field = named.to_field();
            self.filter();
        }
    }

    pub(super) fn on_action(&mut self, action: Action) {
        match action {
            Action::NextField => self.fill_in_selected(),
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.matches.len());
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) {
        if self.field.on_key(key) {
            self.filter();
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if self.field.on_paste(text) {
            self.filter();
        }
    }

    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) if row == self.selected => self.fill_in_selected(),
            Some(MouseTarget::Row(row)) => self.selected = row,
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
    }

    /// What is to be known of the line.
    pub(super) fn help_text(&self) -> Option<String> {
        parse_assignment(&self.all, &self.field.text()).map(|(named, _)| named.allowed_text(false))
    }

    /// The line, what is to be known of it, and the list.
    pub(super) fn draw(&self, look: &Context<'_>, told: &[Line], area: Rect, canvas: &mut Canvas<'_>) {
        let row = |n: u16| Rect { y: area.y + n, height: u16::from(area.height > n), ..area };
        self.field.draw(true, row(0), canvas);
        for (place, line) in (1..).zip(told) {
            if row(place).height > 0 {
                put_line(line, row(place), canvas);
            }
        }
        let above = 1 + told.len() as u16;
        let list = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
        let wide = self.all.iter().map(|n| n.name.chars().count()).max().unwrap_or(0);
        self.scroll.draw_list(self.selected, self.matches.len(), list, canvas, |place| {
            let Some(named) = self.matches.get(place) else { return Line::new() };
            let here = place == self.selected;
            let (mark, role) = if here { (look.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
            vec![
                (Role::Proposal, format!("{mark} ")),
                (role, named.name.clone()),
                (Role::Muted, " ".repeat(wide.saturating_sub(named.name.chars().count()) + 2)),
                (Role::Muted, named.description()),
            ]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedValue, parse_assignment};

    /// `max moves 5` lost its 5: the line began with no whole name.
    #[test]
    fn a_name_may_be_typed_with_blanks_and_keeps_its_value() {
        let named = |name: &str| NamedValue {
            name: name.to_owned(),
            current: "0".to_owned(),
            sent: None,
            origin: "",
            meaning: "",
            allowed: String::new(),
        };
        let all = ["max_steps", "max_moves", "seed", "actor.max_tokens"].map(named);
        let cases = [
            ("max_moves 5", Some(("max_moves", "5"))),
            ("max moves 5", Some(("max_moves", "5"))),
            ("max moves=5", Some(("max_moves", "5"))),
            ("set max moves 5", Some(("max_moves", "5"))),
            ("max moves", Some(("max_moves", ""))),
            ("max tokens 9", Some(("actor.max_tokens", "9"))),
            ("seed 3", Some(("seed", "3"))),
            ("max movesx 5", None),
            ("max 5", None),
        ];
        for (line, due) in cases {
            let found = parse_assignment(&all, line);
            assert_eq!(found.as_ref().map(|(n, v)| (n.name.as_str(), v.as_str())), due, "{line}");
        }
    }
}
