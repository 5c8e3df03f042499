//! Input of a change's value, typed or chosen from a list.

use super::super::action_input::ActionInput;
use super::super::named_value;
use super::super::named_value::NamedValueInput;
use super::fork_point;
use crate::catalog::{METHOD_NAMES, SETTINGS, apply_mentor_defaults, defaults, switch_model};
use crate::domain::common_settings::{OVERRIDDEN_THOUGHT, OVERRIDE_SHOWN_AS};
use crate::domain::{
    ModelRole, PaperOrCode, RoleSource, RunSpec, SamplingParam, TEMPLATES_SETTING, sampling_param,
};
use crate::driver::PastAdmissible;
use crate::engine::{Command, State};
use crate::text::{one_line, truncate};
use crate::ui::canvas::Canvas;
use crate::ui::draft::ForkChange;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::types::{EventRef, WorkKind};
use crate::ui::widget::picker::{Picker, marked_row};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, paragraph, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Input for the value of a change.
pub(super) struct ValueInput {
    change: ForkChange,
    step: u32,
    /// Where the branch starts, in words.
    place: String,
    /// The current value, as text.
    previous: String,
    field: TextField,
    /// Replaces `field` for actions.
    action_input: Option<ActionInput>,
    /// Replaces `field` for settings and sampling parameters.
    named_input: Option<NamedValueInput>,
    /// The methods to choose from; empty for all other changes.
    methods: Picker<&'static str>,
    /// The event whose admissible actions were requested.
    actions_requested_at: Option<EventRef>,
}

impl ValueInput {
    /// Creates the input for the displayed state and the state that holds the episode on screen.
    pub(super) fn new(
        (shown, listed): (&State, &State),
        change: ForkChange,
        step: u32,
        actions_requested_at: Option<EventRef>,
    ) -> Self {
        let at = listed.episode.as_deref().and_then(|e| e.step(step));
        let run = shown.run.as_deref();
        let was = match &change {
            ForkChange::Action => at.and_then(|s| s.action()).map(str::to_owned),
            ForkChange::Thought => at.and_then(|s| s.thought.clone()),
            ForkChange::Observation => at.and_then(|s| s.observation()).map(str::to_owned),
            ForkChange::Method => run.map(|r| r.method.clone()),
            ForkChange::Actor => run.map(|r| r.actor.clone()),
            ForkChange::Mentor => run.map(|r| r.mentor.clone()),
            _ => None,
        }
        .unwrap_or_default();
        let named = match &change {
            ForkChange::Setting => Some(named_value::setting_values(run)),
            ForkChange::Sampling(asked) => Some(named_value::sampling_values(run, *asked)),
            _ => None,
        };
        let methods: &[&str] = if change == ForkChange::Method { &METHOD_NAMES } else { &[] };
        let field = match &change {
            ForkChange::Thought | ForkChange::Observation => TextField::multi_line(&was),
            _ => TextField::preselected(&was),
        };
        let mut methods = Picker::unfiltered(methods.to_vec());
        methods.select(|name| *name == was);
        let line = (change == ForkChange::Action).then(|| {
            let mut line = ActionInput::new(&was, Some(shown));
            if actions_requested_at.is_none() {
                line.set_admissible(Err("unknown at this point".to_owned()));
            }
            line
        });
        let place = match change {
            ForkChange::Action | ForkChange::Thought | ForkChange::Reject => format!("step {step}"),
            ForkChange::Observation => format!("after step {step}"),
            _ => fork_point::describe_position(shown),
        };
        Self {
            change,
            step,
            place,
            previous: was,
            field,
            action_input: line,
            named_input: named.map(NamedValueInput::new),
            methods,
            actions_requested_at,
        }
    }

    /// Sets the actions admissible at that point. Ignores the answer to an earlier request.
    pub(super) fn set_admissible(&mut self, at: EventRef, listed: &PastAdmissible) {
        if let Some(line) = self.action_input.as_mut().filter(|_| self.actions_requested_at == Some(at)) {
            line.set_admissible(listed.as_deref().map_err(String::clone));
        }
    }

    /// Returns whether the actions admissible at that point are still to arrive.
    pub(super) fn awaits_admissible(&self) -> bool {
        self.actions_requested_at.is_some()
            && self.action_input.as_ref().is_some_and(ActionInput::awaits_admissible)
    }

    pub(super) fn change(&self) -> &ForkChange {
        &self.change
    }

    /// Returns the text for the window's title.
    pub(super) fn title(&self, step: u32) -> String {
        match &self.change {
            ForkChange::Action => format!("another action for step {step}"),
            ForkChange::Thought => format!("another thought for step {step}"),
            ForkChange::Observation => format!("another observation for step {}", self.step),
            ForkChange::Reject => format!("reject step {step}: why?"),
            ForkChange::Method => "another method".to_owned(),
            ForkChange::Actor => "another actor".to_owned(),
            ForkChange::Mentor => "another mentor".to_owned(),
            ForkChange::Sampling(asked) => format!("{} sampling", asked.name()),
            _ => "another setting".to_owned(),
        }
    }

    /// Returns the help text shown while typing.
    fn help_text(&self, context: &Context<'_>) -> String {
        match &self.change {
            ForkChange::Action => format!("Runs instead of: {}", one_line(&self.previous)),
            ForkChange::Thought => {
                "The agent reads it as its own thought; it is marked as your edit.".to_owned()
            }
            ForkChange::Observation => {
                "The agent reads it; it is marked as your edit. The environment itself doesn't change."
                    .to_owned()
            }
            ForkChange::Reject => {
                "The agent sees the reason, and the actor is called again for this step.".to_owned()
            }
            ForkChange::Method => {
                "Lessons and reflections stay; the new method starts with its own defaults.".to_owned()
            }
            ForkChange::Actor => names_with_profile(ModelRole::Actor),
            ForkChange::Mentor => names_with_profile(ModelRole::Mentor),
            _ => {
                let help = self.named_input.as_ref().and_then(NamedValueInput::help_text);
                help.unwrap_or_else(|| match (&self.change, context.displayed_state().run.as_deref()) {
                    (ForkChange::Sampling(asked), Some(run)) => {
                        let first = format!("{}.temperature", asked.name());
                        let example = named_value::parse_value(run, &first, "off")
                            .map(|_| format!("NAME VALUE, such as {first} 0.7"));
                        example.unwrap_or_else(|why| why)
                    }
                    _ => "NAME VALUE; Enter fills in the selected name".to_owned(),
                })
            }
        }
    }

    fn has_method_list(&self) -> bool {
        !self.methods.items().is_empty()
    }

    /// Clears the text above a list. Returns whether there was any.
    pub(super) fn clear_typed(&mut self) -> bool {
        self.named_input.as_mut().is_some_and(NamedValueInput::clear)
    }

    pub(super) fn mode(&self) -> Mode {
        match self.change {
            _ if self.has_method_list() => Mode::Choice,
            _ if self.named_input.is_some() => Mode::PickList,
            ForkChange::Thought | ForkChange::Observation => Mode::Rewrite,
            ForkChange::Action => Mode::OverrideInput,
            _ => Mode::LineInput,
        }
    }

    pub(super) fn needed_rows(&self) -> u16 {
        if let Some(named) = &self.named_input {
            return named.needed_rows();
        }
        match self.change {
            _ if self.has_method_list() => self.methods.items().len() as u16 + 2,
            ForkChange::Thought | ForkChange::Observation => 9,
            ForkChange::Action => 12,
            ForkChange::Actor | ForkChange::Mentor => 4,
            _ => 3,
        }
    }

    /// Selects the typed action instead of a row of the list.
    pub(super) fn choose_typed_text(&mut self) {
        if let Some(line) = &mut self.action_input {
            line.choose_typed_text();
        }
    }

    /// Inserts a line break into an action that may have several lines. Returns whether it may.
    pub(super) fn insert_line_break(&mut self) -> bool {
        self.action_input.as_mut().is_some_and(ActionInput::insert_line_break)
    }

    pub(super) fn on_action(&mut self, action: Action) {
        if let Some(line) = &mut self.action_input {
            return line.on_action(action);
        }
        if let Some(named) = &mut self.named_input {
            return named.on_action(action);
        }
        if action == Action::NewLine {
            self.field.insert_newline();
        }
        self.methods.on_action(action, self.methods.page_rows());
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) {
        if let Some(line) = &mut self.action_input {
            line.on_key(key);
        } else if let Some(named) = &mut self.named_input {
            named.picker.on_key(key);
        } else if !self.has_method_list() {
            self.field.on_key(key);
        }
    }

    pub(super) fn on_paste(&mut self, text: &str) {
        if let Some(line) = &mut self.action_input {
            line.on_paste(text);
        } else if let Some(named) = &mut self.named_input {
            named.picker.on_paste(text);
        } else if !self.has_method_list() {
            self.field.on_paste(text);
        }
    }

    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        if let Some(line) = &mut self.action_input {
            line.on_mouse(event);
        } else if let Some(named) = &mut self.named_input {
            named.on_mouse(event);
        } else {
            self.methods.on_mouse(event);
        }
    }

    /// Returns the branch's reason and its first commands. Returns `None` if a name was filled in and its value is
    /// still to be typed. `played` means that a person played the step, so it never had a proposal.
    ///
    /// # Errors
    /// Validates the value and returns a message if it is invalid.
    pub(super) fn accept(&mut self, shown: &State, played: bool) -> Result<Option<BranchStart>, String> {
        let step = self.step;
        if let Some(method) = self.methods.selected() {
            let spec = run_spec(shown)?;
            if *method == spec.method {
                return Err("this is already the method".to_owned());
            }
            let words = format!("method {method}");
            return Ok(Some(
                self.branch_start(&words, vec![Command::ChangeRun(Box::new(with_method(spec, method)))]),
            ));
        }
        if let Some(named) = &mut self.named_input {
            let Some((name, text)) = named.accept()? else { return Ok(None) };
            let value = named_value::parse_value(&run_spec(shown)?, &name, &text)?;
            let words =
                if sampling_param(&name).is_some() { SamplingParam::format_value(&value) } else { text };
            return Ok(Some(
                self.branch_start(&format!("{name} = {words}"), vec![Command::ChangeSetting { name, value }]),
            ));
        }
        let text = match &mut self.action_input {
            Some(line) => line.accept()?,
            None => self.field.text(),
        };
        if text.is_empty() {
            return Err("type something first".to_owned());
        }
        if text == self.previous.trim() {
            return Err("unchanged; edit it, or go back with Esc".to_owned());
        }
        let line = one_line(&text).into_owned();
        Ok(Some(match &self.change {
            ForkChange::Action if played => {
                self.branch_start(&format!("another action, {line}"), vec![Command::Act(text)])
            }
            ForkChange::Action => {
                self.branch_start(&format!("another action, {line}"), vec![override_command(shown, text)])
            }
            ForkChange::Thought => {
                self.branch_start("another thought", vec![Command::EditThought { step, text }])
            }
            ForkChange::Observation => self.branch_start(
                "another observation",
                vec![Command::EditObservation { step, text }, Command::Step],
            ),
            ForkChange::Reject => self.branch_start("rejected", vec![Command::Reject(line)]),
            ForkChange::Actor => {
                let spec = switch_model(&run_spec(shown)?, ModelRole::Actor, &line)?;
                self.branch_start(&format!("actor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            ForkChange::Mentor => {
                let spec = switch_model(&run_spec(shown)?, ModelRole::Mentor, &line)?;
                self.branch_start(&format!("mentor {line}"), vec![Command::ChangeRun(Box::new(spec))])
            }
            _ => return Err("nothing to type here".to_owned()),
        }))
    }

    fn branch_start(&self, description: &str, commands: Vec<Command>) -> BranchStart {
        (truncate(&format!("{}: {description}", self.place), 120, "…"), commands)
    }

    pub(super) fn draw(
        &self,
        context: &Context<'_>,
        note: Option<&str>,
        inside: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        // Maximum number of help rows.
        const MAX_HELP_ROWS: usize = 3;
        let (role, words) =
            note.map_or_else(|| (Role::Muted, self.help_text(context)), |n| (Role::Warning, n.to_owned()));
        let about: Vec<Line> =
            paragraph((role, ""), role, &words, inside.width).into_iter().take(MAX_HELP_ROWS).collect();
        if let Some(line) = &self.action_input {
            put_lines(&about, Rect { height: inside.height.min(note.is_none().into()), ..inside }, canvas);
            let above = u16::from(note.is_none()).min(inside.height.saturating_sub(2));
            let body = Rect { y: inside.y + above, height: inside.height - above, ..inside };
            let replaying = "replaying to list the admissible actions ...";
            let waits = context.work_text(replaying, WorkKind::Admissible);
            return line.draw(context, (note, &waits), body, canvas);
        }
        if let Some(named) = &self.named_input {
            return named.draw(context, &about, inside, canvas);
        }
        let room = inside.height.saturating_sub(about.len() as u16);
        let body = Rect { height: room, ..inside };
        if self.has_method_list() {
            self.methods.draw_list(body, canvas, |name, here| {
                let now = if *name == self.previous { "  current" } else { "" };
                marked_row(context, " ", here, (*name).to_owned(), [now.to_owned()])
            });
        } else {
            self.field.draw(true, body, canvas);
        }
        put_lines(&about, Rect { y: body.bottom(), height: inside.height - room, ..inside }, canvas);
    }
}

/// A branch's reason and its first commands.
type BranchStart = (String, Vec<Command>);

fn run_spec(shown: &State) -> Result<RunSpec, String> {
    shown.run.as_deref().cloned().ok_or_else(|| "no run has started at that point".to_owned())
}

/// Returns the run with another method: settings a person chose stay, the rest are the new method's defaults. The hash of
/// the prompt templates is that of the old method's; the driver records the new one.
fn with_method(spec: RunSpec, method: &str) -> RunSpec {
    let (_, mut settings, loop_detector) = defaults(method, PaperOrCode::default());
    let kept = |name: &str| settings.contains(name) || !SETTINGS.iter().any(|s| s.name == name);
    let old = spec.settings.into_iter().filter(|(name, s)| {
        use crate::domain::SettingOrigin::{Config, Flag, Person};
        let chosen = matches!(s.origin, Config | Flag | Person);
        name != TEMPLATES_SETTING
            && kept(name)
            && (chosen || !SETTINGS.iter().any(|known| known.name == name))
    });
    let old: Vec<_> = old.collect();
    settings.extend(old);
    apply_mentor_defaults(&spec.mentor, &mut settings);
    RunSpec { method: method.to_owned(), settings, loop_detector, ..spec }
}

/// Returns the override command, with the settings for how it is shown and what happens to the thought.
fn override_command(state: &State, action: String) -> Command {
    let settings = state.run.as_ref().map(|run| &run.settings);
    let shown_as = settings.and_then(|s| s.find(OVERRIDE_SHOWN_AS)).unwrap_or_default();
    let thought = settings.and_then(|s| s.find(OVERRIDDEN_THOUGHT)).unwrap_or(OVERRIDDEN_THOUGHT.if_missing);
    Command::Override { action, shown_as, thought_disposition: thought.without_new_text() }
}
/// Returns the names that a role may have, where a model's server may be named too.
fn names_with_profile(role: ModelRole) -> String {
    format!(
        "{}; a model's server: `openai:MODEL profile NAME` or `openai:MODEL at URL`",
        RoleSource::names(role)
    )
}
