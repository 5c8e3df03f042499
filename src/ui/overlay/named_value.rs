//! Input that changes one of several named values: a list with the current values, below a line with the syntax of
//! `set`, `NAME VALUE`. The model dialog and the fork dialog use it.

use crate::catalog::{environments_with_setting, find_setting};
use crate::domain::common_settings::MAX_STEPS;
use crate::domain::{ModelRole, RunSpec, SAMPLING_PARAMS, SamplingParam, SettingOrigin, sampling_param};
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::Action;
use crate::ui::theme::Role;
use crate::ui::widget::picker::{Click, Picker, marked_row, rank};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, paragraph, put_lines};
use crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use serde_json::Value;

/// A setting or sampling parameter with its current value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedValue {
    /// The name as used with `set`.
    pub(super) name: String,
    /// What the list calls it; it may be typed, too.
    label: String,
    /// The value as typed; empty if unknown.
    current: String,
    /// The value that is sent instead, if it differs.
    sent: Option<String>,
    /// Where the value comes from; empty if it is the default.
    origin: &'static str,
    /// The meaning, in a few words.
    meaning: &'static str,
    /// The allowed values, in words.
    allowed: String,
}

impl NamedValue {
    /// Returns the text after the name in the list: the current value and the meaning.
    pub(super) fn description(&self) -> String {
        let now = match (self.current.as_str(), self.origin) {
            _ if self.sent.is_some() => format!("{}; ", self.sent.as_deref().unwrap_or_default()),
            ("", _) => String::new(),
            (now, "") => format!("{now}; "),
            (now, origin) => format!("{now} ({origin}); "),
        };
        format!("{now}{}", self.meaning)
    }

    /// Returns the allowed values, shown while the value is typed.
    pub(super) fn allowed_text(&self, typed: bool) -> String {
        let words = if typed { "as typed" } else { self.meaning };
        format!("{words}: {}", self.allowed)
    }

    /// Returns a text field with the label and the preselected value, which typing replaces.
    pub(super) fn to_field(&self) -> TextField {
        let label = &self.label;
        TextField::preselected_from(&format!("{label} {}", self.current), label.chars().count() + 1)
    }
}

/// Returns the sampling parameters of a role.
pub(super) fn sampling_values(run: Option<&RunSpec>, asked: ModelRole) -> Vec<NamedValue> {
    let named = SAMPLING_PARAMS.iter().map(|param| {
        let (now, chosen) = run.map_or((None, false), |r| r.effective_value(asked, param));
        NamedValue {
            name: param.setting_name(asked),
            label: param.setting_name(asked),
            current: now.as_ref().map_or_else(String::new, SamplingParam::format_value),
            sent: None,
            origin: match run.and_then(|r| r.settings.recorded(&param.setting_name(asked))).map(|s| s.origin)
            {
                _ if !chosen => "",
                Some(SettingOrigin::Flag) => "by a flag",
                Some(SettingOrigin::Config) => "by the configuration",
                Some(SettingOrigin::Paper) => "by the paper",
                Some(SettingOrigin::Code) => "by the public code",
                Some(SettingOrigin::BuiltIn) => "by default",
                Some(SettingOrigin::Mentor | SettingOrigin::Person) | None => "by a person",
            },
            meaning: param.meaning,
            allowed: param.allowed.to_owned(),
        }
    });
    named.collect()
}

/// Sets [`NamedValue::sent`] where the server made the driver send another value, or none. A stop at a newline is the
/// actor's default if no other stop is set.
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

/// Returns the settings of a run that a person may change, without the sampling parameters of its models and without those
/// of environments in which it has no task.
pub(super) fn setting_values(run: Option<&RunSpec>) -> Vec<NamedValue> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // The step limit isn't recorded among the settings.
    let step_limit = run.and_then(|run| run.current_setting(MAX_STEPS.spec.name));
    let step_limit = step_limit.iter().map(|setting| (MAX_STEPS.spec.name, setting));
    let all = step_limit.chain(run.into_iter().flat_map(|r| r.settings.iter()));
    let named = all.filter_map(|(name, setting)| {
        let spec = find_setting(name).filter(|_| run.is_none_or(|run| concerns_tasks(run, name)))?;
        Some(NamedValue {
            name: name.to_owned(),
            label: spec.label().into_owned(),
            current: word(&setting.value),
            sent: None,
            origin: if setting.origin == SettingOrigin::Mentor {
                "because the mentor is a model"
            } else {
                ""
            },
            meaning: spec.meaning,
            allowed: spec.allowed_values(),
        })
    });
    named.collect()
}

/// Returns whether a setting concerns an environment of the run's tasks, or all of them.
fn concerns_tasks(run: &RunSpec, name: &str) -> bool {
    environments_with_setting(name)
        .is_none_or(|names| run.tasks.iter().any(|task| names.contains(&task.env.as_str())))
}

/// Parses an assignment: `set actor.temperature 0.5`, `actor.temperature=0.5`, or without the role `temperature 0.5`.
/// Labels and names with blanks for `_` may be typed, too. Returns `None` if the line doesn't start with a full name.
pub(super) fn parse_assignment<'a>(all: &'a [NamedValue], line: &str) -> Option<(&'a NamedValue, String)> {
    let (name, value) = split_name(line);
    let role = |n: &NamedValue| n.name.split_once('.').is_some_and(|(_, param)| param == name);
    let exact = all.iter().find(|n| n.name == name).or_else(|| all.iter().find(|n| role(n)));
    let (named, value) = exact.map(|named| (named, value)).or_else(|| match_spaced_name(all, line))?;
    Some((named, value.trim_start_matches([' ', '=']).to_owned()))
}

/// Finds the value whose label, or name with blanks for `_`, starts the line. Returns it and the rest of the line.
fn match_spaced_name<'a, 'l>(all: &'a [NamedValue], line: &'l str) -> Option<(&'a NamedValue, &'l str)> {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    let matches = all.iter().filter_map(|named| {
        let param = named.name.split_once('.').map(|(_, param)| param);
        let names = [named.label.as_str(), named.name.as_str()].into_iter().chain(param);
        let mut rests = names.filter_map(|name| line.strip_prefix(name.replace('_', " ").as_str()));
        rests.find(|rest| rest.is_empty() || rest.starts_with([' ', '='])).map(|rest| (named, rest))
    });
    // One name may begin with another one.
    matches.min_by_key(|(_, rest)| rest.len())
}

/// Ranks the values by a line, which may be the beginning of a name with blanks, of which the last words may be a value.
fn rank_by_name(all: &[NamedValue], line: &str) -> Vec<usize> {
    let line = line.strip_prefix("set ").unwrap_or(line).split('=').next().unwrap_or_default();
    let text = |n: &NamedValue| format!("{} {} {}", n.label, n.name, n.meaning);
    let words: Vec<&str> = line.split_whitespace().collect();
    for count in (1..=words.len()).rev() {
        let typed = &words[..count];
        let found = rank(all, &typed.join(" "), |n| [text(n)]);
        if !found.is_empty() {
            return found;
        }
    }
    rank(all, "", |n| [text(n)]).into_iter().filter(|_| words.is_empty()).collect()
}

/// Splits a line, without a leading `set`, into the name and the rest.
fn split_name(line: &str) -> (&str, &str) {
    let line = line.strip_prefix("set ").unwrap_or(line).trim_start();
    line.split_once([' ', '=']).unwrap_or((line, ""))
}

/// Parses the typed value of a setting or sampling parameter.
///
/// # Errors
/// Validates the value and returns a message if it is invalid.
pub(super) fn parse_value(run: &RunSpec, name: &str, text: &str) -> Result<Value, String> {
    if let Some((asked, param)) = sampling_param(name) {
        let value = param.parse(text)?;
        return run.check_param_supported(asked, param, &value).map(|()| value);
    }
    let spec = find_setting(name).ok_or_else(|| format!("no setting named `{name}`"))?;
    let value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
    spec.validate(&value).map(|()| value)
}

/// The most rows of the selected value's description, below the list.
const PREVIEW_ROWS: u16 = 2;

/// The input line and the list below it.
pub(super) struct NamedValueInput {
    pub(super) picker: Picker<NamedValue>,
}

impl NamedValueInput {
    /// Creates the input with an empty line, which lists all values.
    pub(super) fn new(all: Vec<NamedValue>) -> Self {
        let search = |all: &[NamedValue], line: &str| match parse_assignment(all, line) {
            Some((named, _)) => all.iter().position(|other| other.name == named.name).into_iter().collect(),
            None => rank_by_name(all, line),
        };
        Self { picker: Picker::new(all, search) }
    }

    /// Returns the preferred number of rows.
    pub(super) fn needed_rows(&self) -> u16 {
        self.picker.items().len() as u16 + 3 + PREVIEW_ROWS
    }

    /// Returns the value whose name is typed, and the text after the name.
    fn typed_value(&self) -> Option<(&NamedValue, String)> {
        parse_assignment(self.picker.items(), &self.picker.text())
    }

    /// Clears the line, which lists all values again. Returns whether anything was typed.
    pub(super) fn clear(&mut self) -> bool {
        let was = self.typed_value().map(|(named, _)| named.name.clone());
        let any = !self.picker.text().is_empty();
        self.picker.set_text("");
        self.picker.select(|named| Some(&named.name) == was.as_ref());
        any
    }

    /// Returns the typed name and its new value. Returns `None` after filling the selected name into the line.
    ///
    /// # Errors
    /// Returns a message if the name is unknown or the value is unchanged.
    pub(super) fn accept(&mut self) -> Result<Option<(String, String)>, String> {
        let Some((named, value)) = self.typed_value().filter(|(_, value)| !value.is_empty()) else {
            if self.picker.selected().is_none() {
                let line = self.picker.text();
                let name = split_name(&line).0;
                return Err(format!("no setting named `{name}`; clear the line to see every name"));
            }
            self.fill_in_selected();
            return Ok(None);
        };
        if value == named.current {
            return Err("unchanged; edit it, or go back with Esc".to_owned());
        }
        Ok(Some((named.name.clone(), value)))
    }

    fn fill_in_selected(&mut self) {
        if let Some(field) = self.picker.selected().map(NamedValue::to_field) {
            self.picker.set_field(field);
        }
    }

    pub(super) fn on_action(&mut self, action: Action) {
        match action {
            Action::NextField => self.fill_in_selected(),
            other => self.picker.on_action(other, self.picker.page_rows()),
        }
    }

    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        if self.picker.on_mouse(event) == Some(Click::SelectedItem) {
            self.fill_in_selected();
        }
    }

    /// Returns the help for the typed name. Returns `None` if no name is typed.
    pub(super) fn help_text(&self) -> Option<String> {
        self.typed_value().map(|(named, _)| named.allowed_text(false))
    }

    /// Draws the line, the help below it, and the list.
    pub(super) fn draw(&self, context: &Context<'_>, help: &[Line], area: Rect, canvas: &mut Canvas<'_>) {
        let row = |n: u16| Rect { y: area.y + n, height: u16::from(area.height > n), ..area };
        self.picker.draw_field((Role::Key, ""), true, row(0), canvas);
        put_lines(help, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, canvas);
        let above = 1 + help.len() as u16;
        let list = Rect { y: area.y + above, height: area.height.saturating_sub(above), ..area };
        let wide = self.picker.items().iter().map(|n| n.label.chars().count()).max().unwrap_or(0);
        let row = |named: &NamedValue, here: bool, _: bool| {
            let gap = " ".repeat(wide.saturating_sub(named.label.chars().count()) + 2);
            marked_row(context, "", here, named.label.clone(), [gap, named.description()])
        };
        // A row may have no room for all that there is to say; of a typed name, the help says it.
        let is_typed = self.typed_value().is_some();
        self.picker.draw_with_preview(PREVIEW_ROWS, list, canvas, row, |named, area, canvas| {
            let named = named.filter(|_| !is_typed);
            let words = named.map_or_else(String::new, |named| named.allowed_text(false));
            put_lines(&paragraph((Role::Muted, ""), Role::Muted, &words, area.width), area, canvas);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{NamedValue, NamedValueInput, parse_assignment, sampling_values, setting_values};
    use crate::catalog::fixture::test_spec;
    use crate::domain::{ModelRole, SettingOrigin};

    /// Regression: the fork dialog listed settings of environments in which the run has no task.
    #[test]
    fn settings_of_other_environments_are_not_listed() {
        let listed = |env: &str| {
            let mut run = test_spec("react", &[("a", "")]);
            run.tasks[0].env = env.to_owned();
            setting_values(Some(&run)).into_iter().map(|named| named.name).collect::<Vec<_>>()
        };
        let has = |env: &str, name: &str| listed(env).iter().any(|listed| listed == name);
        assert!(has("babyai", "circle_turns") && !has("babyai", "circle_visits"), "{:?}", listed("babyai"));
        assert!(has("household", "circle_visits") && !has("household", "circle_turns"));
        assert!(has("babyai", "max_moves") && has("pddl", "max_moves"));
    }

    /// Regression: the list of settings had no step limit, and called settings by names such as `r_freq`.
    #[test]
    fn the_step_limit_is_listed_and_settings_have_labels() {
        let mut run = test_spec("omnireflect", &[("a", "")]);
        run.limits.steps = 17;
        let all = setting_values(Some(&run));
        let labels: Vec<&str> = all.iter().map(|named| named.label.as_str()).collect();
        assert!(
            labels.contains(&"reflection interval") && !labels.iter().any(|l| l.contains('_')),
            "{labels:?}"
        );
        let mut input = NamedValueInput::new(all);
        for (label, value, expected) in [
            ("max steps", "max steps 17", ("max_steps", "9")),
            ("reflection interval", "reflection interval 10", ("r_freq", "9")),
        ] {
            input.picker.set_text(label);
            assert_eq!(input.accept(), Ok(None));
            assert_eq!(input.picker.text(), value);
            input.picker.set_text(&format!("{} 9", value.rsplit_once(' ').unwrap().0));
            assert_eq!(input.accept(), Ok(Some((expected.0.to_owned(), expected.1.to_owned()))));
        }
    }

    /// Regression: `kind err` left the cursor on the first setting with the word `kind`, because all after the first blank was taken
    /// for a value.
    #[test]
    fn the_beginning_of_a_name_with_blanks_selects_it() {
        let run = test_spec("omnireflect", &[("a", "")]);
        let mut input = NamedValueInput::new(setting_values(Some(&run)));
        for (line, name) in [
            ("kind err", "kind_error"),
            ("set kind err", "kind_error"),
            ("kind err true", "kind_error"),
            ("kind prog=", "kind_progress"),
            ("kind", "kind_abstract"),
        ] {
            input.picker.set_text(line);
            assert_eq!(input.picker.selected().map(|named| named.name.as_str()), Some(name), "{line}");
        }
    }

    /// Regression: a value by the paper was called the person's.
    #[test]
    fn a_value_by_the_paper_is_not_the_persons() {
        let mut run = test_spec("omnireflect", &[("a", "")]);
        run.settings.set("actor.top_p", false, SettingOrigin::Paper);
        let all = sampling_values(Some(&run), ModelRole::Actor);
        let top_p = all.iter().find(|named| named.name == "actor.top_p").unwrap();
        assert!(top_p.description().starts_with("off (by the paper); "), "{}", top_p.description());
    }

    /// Regression: `max moves 5` lost its 5, because the line didn't start with a full name.
    #[test]
    fn a_name_may_be_typed_with_blanks_and_keeps_its_value() {
        let named = |name: &str| NamedValue {
            name: name.to_owned(),
            label: name.replace('_', " "),
            current: "0".to_owned(),
            sent: None,
            origin: "",
            meaning: "",
            allowed: String::new(),
        };
        let all = ["max_steps", "max_moves", "seed", "actor.max_tokens", "early_stop", "early_stop_cosine"];
        let all = all.map(named);
        let cases = [
            ("max_moves 5", Some(("max_moves", "5"))),
            ("max moves 5", Some(("max_moves", "5"))),
            ("max moves=5", Some(("max_moves", "5"))),
            ("set max moves 5", Some(("max_moves", "5"))),
            ("max moves", Some(("max_moves", ""))),
            ("max tokens 9", Some(("actor.max_tokens", "9"))),
            ("seed 3", Some(("seed", "3"))),
            ("early stop on", Some(("early_stop", "on"))),
            ("early stop cosine 0.8", Some(("early_stop_cosine", "0.8"))),
            ("max movesx 5", None),
            ("max 5", None),
        ];
        for (line, due) in cases {
            let found = parse_assignment(&all, line);
            assert_eq!(found.as_ref().map(|(n, v)| (n.name.as_str(), v.as_str())), due, "{line}");
        }
    }
}
