//! Named values of which one is to be another: a list with how each is now, over it a line with the words of `set`: a name
//! and, behind a blank, its value. The box of models and the fork dialog have the same.

use super::field::Field;
use super::fuzzy::rank;
use super::moved;
use super::window::{Line, Pointed, Scroll, put_line};
use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, SamplingParam, SettingOrigin, sampling_param};
use crate::method::{SETTINGS, SettingSpec};
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::Action;
use crate::ui::overlay::stepped;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The name, as `set` has it.
    pub(super) name: String,
    /// The value, as it is typed; empty where nobody knows it.
    now: String,
    /// What is sent in its place, where that is something else.
    sent: Option<String>,
    /// Whose it is, where that is to be said.
    whose: &'static str,
    /// What it means.
    meaning: &'static str,
    /// What it may be.
    allowed: String,
}

impl Named {
    /// What stands behind the name in the list.
    pub(super) fn about(&self) -> String {
        let now = match (self.now.as_str(), self.whose) {
            _ if self.sent.is_some() => format!("{}; ", self.sent.as_deref().unwrap_or_default()),
            ("", _) => String::new(),
            (now, "") => format!("{now}; "),
            (now, whose) => format!("{now} ({whose}); "),
        };
        format!("{now}{}", self.meaning)
    }

    /// What is to be known while its value is typed.
    pub(super) fn told(&self, typed: bool) -> String {
        let words = if typed { "as typed" } else { self.meaning };
        format!("{words}: {}", self.allowed)
    }

    /// The line with its name and value; typing replaces the value.
    pub(super) fn field(&self) -> Field {
        Field::replaceable_from(&format!("{} {}", self.name, self.now), self.name.chars().count() + 1)
    }
}

/// How a role is sampled.
pub(super) fn knobs(run: Option<&RunSpec>, asked: ModelRole) -> Vec<Named> {
    let named = SAMPLING_PARAMS.iter().map(|knob| {
        let (now, chosen) = run.map_or((None, false), |r| r.effective_value(asked, knob));
        Named {
            name: knob.setting_name(asked),
            now: now.as_ref().map_or_else(String::new, SamplingParam::format_value),
            sent: None,
            whose: match run.and_then(|r| r.settings.0.get(&knob.setting_name(asked))).map(|s| s.origin) {
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
pub(super) fn as_sent(all: &mut [Named], unsent: &[String]) {
    for named in all {
        let Some((asked, param)) = sampling_param(&named.name) else { continue };
        let newline = param.name == "stop" && asked == ModelRole::Actor && named.now.is_empty();
        if newline {
            r#"["\n"]"#.clone_into(&mut named.now);
        }
        let cut = newline && unsent.iter().any(|line| line.starts_with("stop at a newline: "));
        let value = serde_json::from_str(&named.now).unwrap_or_else(|_| Value::from(named.now.as_str()));
        named.sent = match param.sent_value(&value, unsent).filter(|_| !cut) {
            None => Some("not sent".to_owned()),
            Some(sent) if sent != value => Some(format!("{sent} (raised from {})", named.now)),
            Some(_) => None,
        };
    }
}

/// The settings of a run, but for what is changed with its models and their sampling.
pub(super) fn settings(run: Option<&RunSpec>) -> Vec<Named> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let of_a_role = |name: &str| ["actor.", "mentor."].iter().any(|role| name.starts_with(role));
    let all = run.into_iter().flat_map(|r| &r.settings.0);
    let named = all.filter(|(name, _)| *name != "templates" && !of_a_role(name)).map(|(name, setting)| {
        let spec = SETTINGS.iter().find(|s| s.name == name);
        Named {
            name: name.clone(),
            now: word(&setting.value),
            sent: None,
            whose: if setting.origin == SettingOrigin::Mentor { "because the mentor is a model" } else { "" },
            meaning: spec.map_or("", |s| s.meaning),
            allowed: spec.map_or_else(String::new, SettingSpec::allowed_values),
        }
    });
    named.collect()
}

/// The named one that is typed, and the value behind it: `set actor.temperature 0.5`, `actor.temperature=0.5`, and where
/// all names have the same role also `temperature 0.5`; a name with `_` may be typed with blanks. None: the line begins with no whole name.
pub(super) fn typed<'a>(all: &'a [Named], line: &str) -> Option<(&'a Named, String)> {
    let (name, value) = apart(line);
    let role = |n: &Named| n.name.split_once('.').is_some_and(|(_, knob)| knob == name);
    let exact = all.iter().find(|n| n.name == name).or_else(|| all.iter().find(|n| role(n)));
    let (named, value) = exact.map(|named| (named, value)).or_else(|| spaced(all, line))?;
    Some((named, value.trim_start_matches([' ', '=']).to_owned()))
}

/// The one whose name, with blanks for `_`, begins the line, and what is behind it.
fn spaced<'a, 'l>(all: &'a [Named], line: &'l str) -> Option<(&'a Named, &'l str)> {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    all.iter().find_map(|named| {
        let knob = named.name.split_once('.').map(|(_, knob)| knob);
        let names = std::iter::once(named.name.as_str()).chain(knob).filter(|name| name.contains('_'));
        let mut rests = names.filter_map(|name| line.strip_prefix(name.replace('_', " ").as_str()));
        rests.find(|rest| rest.is_empty() || rest.starts_with([' ', '='])).map(|rest| (named, rest))
    })
}

/// A line without `set`, as its name and what is behind it.
fn apart(line: &str) -> (&str, &str) {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    line.split_once([' ', '=']).unwrap_or((line, ""))
}

/// What was typed for a name, as its value.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn read(run: &RunSpec, name: &str, text: &str) -> Result<Value, String> {
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
pub(super) struct NamedLine {
    all: Vec<Named>,
    field: Field,
    fitting: Vec<Named>,
    chosen: usize,
    scroll: Scroll,
}

impl NamedLine {
    /// An empty line over all of them.
    pub(super) fn new(all: Vec<Named>) -> Self {
        let fitting = all.clone();
        Self { all, field: Field::line(""), fitting, chosen: 0, scroll: Scroll::default() }
    }

    /// The rows it would like.
    pub(super) fn rows(&self) -> u16 {
        self.all.len() as u16 + 2
    }

    fn filter(&mut self) {
        let line = self.field.text();
        self.fitting = if let Some((named, _)) = typed(&self.all, &line) {
            vec![named.clone()]
        } else {
            let words: Vec<String> = self.all.iter().map(|n| format!("{} {}", n.name, n.meaning)).collect();
            let order = rank(apart(&line).0, words.iter().map(String::as_str));
            order.into_iter().filter_map(|place| self.all.get(place).cloned()).collect()
        };
        self.chosen = 0;
    }

    /// Back to the whole list; whether anything was typed.
    pub(super) fn clear(&mut self) -> bool {
        let any = !self.field.text().is_empty();
        if any {
            let was = typed(&self.all, &self.field.text()).map(|(named, _)| named.name.clone());
            self.field.replace("");
            self.filter();
            let at = was.and_then(|name| self.fitting.iter().position(|n| n.name == name));
            self.chosen = at.unwrap_or(0);
        }
        any
    }

    /// What is typed as a name and another value than it has now; none: the chosen name was put into the line.
    ///
    /// # Errors
    /// What is missing, in words.
    pub(super) fn taken(&mut self) -> Result<Option<(String, String)>, String> {
        let line = self.field.text();
        let Some((named, value)) = typed(&self.all, &line).filter(|(_, value)| !value.is_empty()) else {
            if self.fitting.is_empty() {
                return Err(format!("nothing here is called `{}`; the list has every name", apart(&line).0));
            }
            self.fill();
            return Ok(None);
        };
        if value == named.now {
            return Err("this is what it was; change it, or go back with Esc".to_owned());
        }
        Ok(Some((named.name.clone(), value)))
    }

    fn fill(&mut self) {
        if let Some(named) = self.fitting.get(self.chosen) {
            self.field = named.field();
            self.filter();
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::NextField => self.fill(),
            other => self.by(moved(other, self.scroll.page()).unwrap_or(0)),
        }
    }

    fn by(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.fitting.len());
    }

    pub(super) fn key(&mut self, key: KeyEvent) {
        if self.field.key(key) {
            self.filter();
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if self.field.paste(text) {
            self.filter();
        }
    }

    pub(super) fn mouse(&mut self, event: MouseEvent) {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) if row == self.chosen => self.fill(),
            Some(Pointed::Row(row)) => self.chosen = row,
            Some(Pointed::Wheel(by)) => self.by(by),
            None => {}
        }
    }

    /// What is to be known of the line.
    pub(super) fn told(&self) -> Option<String> {
        typed(&self.all, &self.field.text()).map(|(named, _)| named.told(false))
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
        self.scroll.list(self.chosen, self.fitting.len(), list, canvas, |place| {
            let Some(named) = self.fitting.get(place) else { return Line::new() };
            let here = place == self.chosen;
            let (mark, role) = if here { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
            vec![
                (Role::Proposal, format!("{mark} ")),
                (role, named.name.clone()),
                (Role::Dim, " ".repeat(wide.saturating_sub(named.name.chars().count()) + 2)),
                (Role::Dim, named.about()),
            ]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, typed};

    /// `max moves 5` lost its 5: the line began with no whole name.
    #[test]
    fn a_name_may_be_typed_with_blanks_and_keeps_its_value() {
        let named = |name: &str| Named {
            name: name.to_owned(),
            now: "0".to_owned(),
            sent: None,
            whose: "",
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
            let found = typed(&all, line);
            assert_eq!(found.as_ref().map(|(n, v)| (n.name.as_str(), v.as_str())), due, "{line}");
        }
    }
}
