//! Whom to ask: another model from now on, or the same sampled otherwise, or a recording in the place of a model that
//! failed. What is known here is listed; what is typed and stands in no list is taken as it is.

use super::choice::wrapped_index;
use super::fuzzy::rank;
use super::named_value::{self, NamedValue};
use super::text_field::TextField;
use super::window::{Line, MouseTarget, Scroll, Window, WindowPosition, paragraph, put_line};
use super::{Answer, Overlay, Response, clamped_index, row_delta};
use crate::domain::{Autonomy, ModelRole, RunSpec, SAMPLING_PARAMS, SamplingParam, sampling_param};
use crate::engine::{Command, State};
use crate::method::{switch_model, unused_mentor_reason};
use crate::ui::ModelList;
use crate::ui::canvas::Canvas;
use crate::ui::context::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;
use std::sync::Arc;

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The model of a role, from now on.
    Model(ModelRole),
    /// How the answers of a role are sampled, from now on.
    Sampling(ModelRole),
    /// A recorded reply, this once.
    RecordedReply,
}

/// The box.
pub struct ModelDialog {
    purpose: Purpose,
    field: TextField,
    /// Models of the configuration, as they are written.
    configured_models: Arc<[String]>,
    /// What the servers of the roles listed, or why they did not.
    server_lists: Vec<(ModelRole, Result<ModelList, String>)>,
    /// Sessions with a few words about each; none until they have been listed.
    sessions: Option<Vec<(String, String)>>,
    matches: Vec<(String, String)>,
    selected: usize,
    scroll: Scroll,
    /// What is wrong with what was typed.
    error: Option<String>,
}

/// The role for which another model is wanted first: the one whose call failed, else the actor.
pub fn default_role(state: &State) -> ModelRole {
    let mentor = state.has_undecided_call(ModelRole::Mentor) && !state.has_undecided_call(ModelRole::Actor);
    if mentor { ModelRole::Mentor } else { ModelRole::Actor }
}

impl ModelDialog {
    /// Another model. The models of the role's server are to be listed for it.
    pub fn for_model(models: Arc<[String]>, look: &Context<'_>) -> Self {
        Self::new(Purpose::Model(default_role(&look.frame.head)), models, look)
    }

    /// A recorded reply for the calls that failed. The sessions are to be listed for it.
    pub fn for_recorded_reply(look: &Context<'_>) -> Self {
        Self::new(Purpose::RecordedReply, Arc::default(), look)
    }

    fn new(purpose: Purpose, models: Arc<[String]>, look: &Context<'_>) -> Self {
        let (field, scroll) = (TextField::single_line(""), Scroll::default());
        let mut made = Self {
            purpose,
            field,
            configured_models: models,
            server_lists: Vec::new(),
            sessions: None,
            matches: Vec::new(),
            selected: 0,
            scroll,
            error: None,
        };
        made.filter(look);
        made
    }

    /// Everything that can be chosen, each with a few words about it.
    fn candidates(&self, run: Option<&RunSpec>, params: &[NamedValue]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let mut add = |what: &str, about: &str| {
            if !all.iter().any(|a| a.0 == what) {
                all.push((what.to_owned(), about.to_owned()));
            }
        };
        match self.purpose {
            Purpose::RecordedReply => {
                let asked = |name: Option<&RunSpec>| {
                    name.is_some_and(|r| r.actor.starts_with("openai:") || r.mentor.starts_with("openai:"))
                };
                if asked(run) {
                    add("cache", "a kept answer to exactly this request, of this model");
                }
                for (name, about) in self.sessions.iter().flatten() {
                    add(name, about);
                }
            }
            Purpose::Sampling(_) => {
                for named in params {
                    add(&named.name, &named.description());
                }
            }
            Purpose::Model(asked) => {
                for model in self.configured_models.iter() {
                    add(model, "of the configuration");
                }
                let now = run.map(|r| r.provider_spec(asked));
                let roles = run.map(|r| [(&r.actor, "the actor"), (&r.mentor, "the mentor")]);
                for (model, role) in roles.into_iter().flatten() {
                    if model.starts_with("openai:") {
                        add(model, if now == Some(model) { "in force now" } else { role });
                    }
                }
                if let Some(Ok(ModelList { server, names })) = self.server_models(asked) {
                    let about = format!("at {server}");
                    for name in names {
                        add(&format!("openai:{name}"), &about);
                    }
                }
                match asked {
                    ModelRole::Actor => {
                        add("rules", "the built-in rules: a stand-in, no model");
                        add("human", "you play");
                    }
                    ModelRole::Mentor => {
                        add("symbolic", "rules over what detectors noted: no model");
                        add("none", "nobody reflects");
                    }
                }
            }
        }
        all
    }

    /// What the server of a role listed; none: it has not answered yet.
    fn server_models(&self, asked: ModelRole) -> Option<&Result<ModelList, String>> {
        self.server_lists.iter().find(|(of, _)| *of == asked).map(|(_, listed)| listed)
    }

    /// How the server's list is coming along, where it is not there; it stands above the models.
    fn listing_status(&self) -> Option<String> {
        let Purpose::Model(asked) = self.purpose else { return None };
        match self.server_models(asked) {
            None => Some("asking the server for its models...".to_owned()),
            // Of what the server says about the key only the beginning would fit the row.
            Some(Err(why)) => Some(match why.split_once(" answered 401: ") {
                Some((server, _)) => format!("no list of models: {server} rejects the key (401)"),
                None => format!("no list of models: {why}"),
            }),
            Some(Ok(ModelList { server, names })) => {
                names.is_empty().then(|| format!("{server} lists no models"))
            }
        }
    }

    /// Asks for the list of the server of a role that is looked at for the first time.
    fn request_models(&self) -> Response {
        let requests = match self.purpose {
            Purpose::Model(asked) if self.server_models(asked).is_none() => vec![Request::ListModels(asked)],
            _ => Vec::new(),
        };
        Response { requests, close: false }
    }

    fn filter(&mut self, look: &Context<'_>) {
        let run = look.frame.head.run.as_deref();
        let params = match self.purpose {
            Purpose::Sampling(asked) => params(look, asked),
            Purpose::Model(_) | Purpose::RecordedReply => Vec::new(),
        };
        let all = self.candidates(run, &params);
        let words: Vec<String> = all.iter().map(|(what, about)| format!("{what} {about}")).collect();
        let order = rank(&self.field.text(), words.iter().map(String::as_str));
        self.matches = order.into_iter().filter_map(|place| all.get(place).cloned()).collect();
        self.error = None;
        self.selected = 0;
        let typed = self.field.text();
        if let Some((named, value)) = named_value::parse_assignment(&params, &typed) {
            self.matches = vec![(named.name.clone(), named.allowed_text(!value.is_empty()))];
            return;
        }
        if let (Purpose::Model(_), Some((named, value))) = (self.purpose, param_typed(run, &typed)) {
            self.matches = vec![(named.name.clone(), named.allowed_text(!value.is_empty()))];
            return;
        }
        if typed.is_empty() {
            self.selected = self.place_in_force(look);
        }
        let whole = typed.starts_with("openai:") || typed.starts_with("recorded:") || self.matches.is_empty();
        if whole && !typed.is_empty() && !self.matches.iter().any(|f| f.0 == typed) {
            // Where what was typed is a part of a name that is known, that name is meant.
            let part = self.matches.iter().any(|(name, _)| name.contains(&typed));
            let at = if part { self.matches.len() } else { 0 };
            self.matches.insert(at, (typed, "as typed".to_owned()));
        }
    }

    /// The place of the model that is in force. After a failed call another one is wanted.
    fn place_in_force(&self, look: &Context<'_>) -> usize {
        let Purpose::Model(asked) = self.purpose else { return 0 };
        let now = self.current_model(look);
        let place = self.matches.iter().position(|(name, _)| name == now);
        place.filter(|_| !look.frame.head.has_failed_call(asked)).unwrap_or(0)
    }

    /// Sets what is typed, or puts the chosen name into the line.
    fn set_sampling(&mut self, asked: ModelRole, look: &Context<'_>) -> Response {
        let Some(run) = look.frame.head.run.as_deref() else { return Response::close() };
        let all = params(look, asked);
        let typed =
            named_value::parse_assignment(&all, &self.field.text()).filter(|(_, value)| !value.is_empty());
        let Some((name, value)) = typed.map(|(named, value)| (named.name.clone(), value)) else {
            let chosen = self.matches.get(self.selected);
            if let Some(named) = chosen.and_then(|(name, _)| all.iter().find(|n| n.name == *name)) {
                self.field = named.to_field();
                self.filter(look);
            }
            return Response::default();
        };
        match named_value::parse_value(run, &name, &value) {
            Ok(value) => {
                let mut said =
                    format!("{name} = {} from the next request on", SamplingParam::format_value(&value));
                if look.frame.head.is_asking(asked) || look.frame.head.step_awaiting_decision().is_some() {
                    let key = look.keymap.key_label(Action::AskAgain).unwrap_or_default();
                    said = format!("{said}; {key} asks this turn again with it");
                }
                let requests =
                    vec![Request::ShowNotice(said), Request::Send(Command::ChangeSetting { name, value })];
                Response { requests, close: true }
            }
            Err(why) => {
                self.error = Some(why);
                Response::default()
            }
        }
    }

    /// Who answers now, in the words of the command line.
    fn current_model<'a>(&self, look: &'a Context<'_>) -> &'a str {
        let run = look.frame.head.run.as_deref();
        match self.purpose {
            Purpose::Model(ModelRole::Mentor) | Purpose::Sampling(ModelRole::Mentor) => {
                run.map_or("", |r| r.mentor.as_str())
            }
            _ => run.map_or("", |r| r.actor.as_str()),
        }
    }

    /// The model of the role with its server and how it is sampled.
    fn current_summary(&self, look: &Context<'_>) -> String {
        let (now, run) = (self.current_model(look), look.frame.head.run.as_deref());
        let (Purpose::Model(asked) | Purpose::Sampling(asked)) = self.purpose else { return now.to_owned() };
        let Some(run) = run.filter(|_| now.starts_with("openai:")) else { return format!("Now: {now}") };
        let address = run.settings.text(&format!("{}.base_url", asked.name()), "");
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        let at = if host.is_empty() { String::new() } else { format!(" at {host}") };
        let unsent = look.frame.head.unsent_settings(asked);
        let sampling = if unsent.is_empty() {
            run.describe_sampling(asked)
        } else {
            effective_sampling(run, asked, &unsent)
        };
        format!("Now: {now}{at}; {sampling}")
    }

    fn accept(&mut self, look: &Context<'_>) -> Response {
        if let Purpose::Sampling(asked) = self.purpose {
            return self.set_sampling(asked, look);
        }
        let run = look.frame.head.run.as_deref();
        if let (Purpose::Model(asked), Some((named, _))) =
            (self.purpose, param_typed(run, &self.field.text()))
        {
            return self.set_sampling(sampling_param(&named.name).map_or(asked, |(role, _)| role), look);
        }
        let Some((what, _)) = self.matches.get(self.selected) else { return Response::default() };
        let asked = match self.purpose {
            Purpose::RecordedReply => {
                let named = what == "cache" || what.starts_with("recorded:");
                let source = if named { what.clone() } else { format!("recorded:{what}") };
                return Response::request_and_close(Request::Send(Command::RetryFromRecording(source)));
            }
            Purpose::Model(asked) | Purpose::Sampling(asked) => asked,
        };
        if what == "human" {
            return Response::request_and_close(Request::Send(Command::SetAutonomy(Autonomy::Human)));
        }
        let Some(run) = look.frame.head.run.as_deref() else { return Response::close() };
        let other = switch_model(run, asked, what);
        let vain = unused_mentor_reason(&other).filter(|_| asked == ModelRole::Mentor);
        let mut requests = vec![Request::Send(Command::ChangeRun(Box::new(other)))];
        requests.extend(vain.map(Request::ShowNotice));
        let rules = asked == ModelRole::Mentor && matches!(what.as_str(), "symbolic" | "none");
        if rules && look.frame.head.has_undecided_call(asked) {
            let key = look.keymap.key_label(Action::GiveUp).unwrap_or_default();
            let words = format!("{what} answers nothing that a model was asked; {key} goes on without");
            requests.push(Request::ShowNotice(words));
        } else if look.frame.head.has_failed_call(asked) {
            let key = look.keymap.key_label(Action::AskAgain).unwrap_or_default();
            requests.push(Request::ShowNotice(format!("{key} tries the failed call again with {what}")));
        } else if look.frame.head.has_undecided_call(asked) {
            let key = look.keymap.key_label(Action::Step).unwrap_or_default();
            requests.push(Request::ShowNotice(format!("{key} asks {what}")));
        }
        Response { requests, close: true }
    }

    fn move_selection(&mut self, by: isize) {
        self.selected = clamped_index(self.selected, by, self.matches.len());
    }

    fn title(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(ModelRole::Actor) => "Who acts from now on?",
            Purpose::Model(ModelRole::Mentor) => "Who reflects from now on?",
            Purpose::Sampling(ModelRole::Actor) => "How is the actor sampled from now on?",
            Purpose::Sampling(ModelRole::Mentor) => "How is the mentor sampled from now on?",
            Purpose::RecordedReply => "Whose recorded reply?",
        }
    }

    fn help_text(&self, look: &Context<'_>) -> String {
        match (self.purpose, &self.sessions) {
            (Purpose::RecordedReply, None) => {
                "The sessions are being listed; a name can be typed.".to_owned()
            }
            (Purpose::RecordedReply, Some(_)) => {
                "The reply to exactly this request is taken this once, and named as recorded everywhere."
                    .to_owned()
            }
            (Purpose::Model(_), _) => {
                let tab = look.keymap.key_label_in(Mode::PickList, Action::NextField).unwrap_or_default();
                format!(
                    "{}.\nType openai:MODEL [profile NAME]; {tab}: role, sampling",
                    self.current_summary(look)
                )
            }
            (Purpose::Sampling(asked), _) => {
                let run = look.frame.head.run.as_deref();
                match run.map(|r| (r.check_param_supported(asked, &SAMPLING_PARAMS[0], &false.into()), r)) {
                    Some((Err(why), _)) => format!("{}: {why}.", self.current_model(look)),
                    _ => format!(
                        "{}: NAME VALUE, such as {} 0.7.",
                        self.current_model(look),
                        SAMPLING_PARAMS[0].setting_name(asked)
                    ),
                }
            }
        }
    }

    fn row(&self, row: usize, look: &Context<'_>) -> Line {
        let status = self.listing_status();
        let Some(place) = row.checked_sub(usize::from(status.is_some())) else {
            let words = status.unwrap_or_default();
            return vec![(Role::Muted, format!("  {}", crate::text::one_line(&words)))];
        };
        let Some((what, about)) = self.matches.get(place) else { return Vec::new() };
        let (mark, role) =
            if place == self.selected { (look.glyphs.proposal, Role::Selection) } else { (" ", Role::Text) };
        vec![
            (Role::Proposal, format!("{mark} ")),
            (role, crate::text::one_line(what).into_owned()),
            (Role::Muted, format!("  {}", crate::text::one_line(about))),
        ]
    }
}

/// What can be set for a role: its sampling parameters, as they are sent, and the budget of the prompts.
fn params(look: &Context<'_>, asked: ModelRole) -> Vec<NamedValue> {
    let state = &look.frame.head;
    let run = state.run.as_deref();
    let mut all = named_value::sampling_values(run, asked);
    named_value::as_sent(&mut all, &state.unsent_settings(asked));
    all.extend(named_value::setting_values(run).into_iter().filter(|named| named.name == "context_tokens"));
    all
}

/// The sampling parameter, or the budget, that a line begins with by its whole name, as advice writes it:
/// `actor.max_tokens=4096`; and the value behind it.
fn param_typed(run: Option<&RunSpec>, line: &str) -> Option<(NamedValue, String)> {
    let mut all: Vec<NamedValue> = [ModelRole::Actor, ModelRole::Mentor]
        .iter()
        .flat_map(|r| named_value::sampling_values(run, *r))
        .collect();
    all.extend(named_value::setting_values(run).into_iter().filter(|named| named.name == "context_tokens"));
    let line = line.trim_start_matches("set ");
    let (named, value) = named_value::parse_assignment(&all, line)?;
    line.starts_with(&named.name).then(|| (named.clone(), value))
}

/// The sampling parameters as they are sent, with what was learnt of the server, and the names of what is left out because
/// of it. `unsent` has the lines of [`State::unsent_settings`].
fn effective_sampling(run: &RunSpec, asked: ModelRole, unsent: &[String]) -> String {
    let lines = || unsent.iter().filter_map(|line| line.split_once(": "));
    let name = |head: &str| head.split(' ').next().unwrap_or_default().to_owned();
    let mut words = Vec::new();
    for param in &SAMPLING_PARAMS {
        let value = run.effective_value(asked, param).0.and_then(|value| param.sent_value(&value, unsent));
        words.extend(value.map(|value| format!("{} {}", param.name, SamplingParam::format_value(&value))));
    }
    if words.is_empty() {
        words.push("as in its profile".to_owned());
    }
    let refused = |head: &str| {
        let mut params = SAMPLING_PARAMS.iter().filter(|param| param.name == name(head));
        params.any(|param| param.sent_value(&Value::from(1), unsent).is_none())
    };
    let left_out = lines().filter(|(head, _)| refused(head) || head.starts_with("stop at a newline"));
    // The stop has two lines to be told apart; of the others the name will do.
    let left_out =
        left_out.map(|(head, _)| if head.starts_with("stop") { head.to_owned() } else { name(head) });
    let left_out: Vec<String> = left_out.collect();
    let sampling = words.join(", ");
    if left_out.is_empty() { sampling } else { format!("{sampling}; left out: {}", left_out.join(", ")) }
}

/// Rows inside.
fn window_rows(screen: Rect) -> u16 {
    match screen.height {
        30.. => 13,
        24.. => 9,
        _ => 7,
    }
}

impl Overlay for ModelDialog {
    fn name(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(_) | Purpose::Sampling(_) => "model",
            Purpose::RecordedReply => "recorded",
        }
    }

    fn mode(&self) -> Mode {
        Mode::PickList
    }

    fn on_action(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(look),
            Action::NextField | Action::PreviousField => {
                const TAB_ORDER: [Purpose; 4] = [
                    Purpose::Model(ModelRole::Actor),
                    Purpose::Model(ModelRole::Mentor),
                    Purpose::Sampling(ModelRole::Actor),
                    Purpose::Sampling(ModelRole::Mentor),
                ];
                if let Some(at) = TAB_ORDER.iter().position(|p| *p == self.purpose) {
                    let by = if action == Action::NextField { 1 } else { -1 };
                    let sampled = matches!(self.purpose, Purpose::Sampling(_));
                    self.purpose = TAB_ORDER[wrapped_index(at, by, TAB_ORDER.len())];
                    // A model that was typed is meant for either role, and is no value.
                    if sampled != matches!(self.purpose, Purpose::Sampling(_)) {
                        self.field.replace("");
                    }
                    self.filter(look);
                    return self.request_models();
                }
            }
            other => self.move_selection(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if self.field.on_key(key) {
            self.filter(look);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        if self.field.on_paste(text) {
            self.filter(look);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        let chosen = self.matches.get(self.selected).cloned();
        match answer {
            Answer::Sessions(sessions) => self.sessions = Some(sessions),
            Answer::Models { role: asked, models: listed } => {
                self.server_lists.retain(|(of, _)| *of != asked);
                self.server_lists.push((asked, listed));
            }
            _ => return Response::default(),
        }
        self.filter(look);
        // The cursor stays on what it was on.
        let place = chosen.and_then(|(name, _)| self.matches.iter().position(|(other, _)| *other == name));
        self.selected = place.unwrap_or(0);
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.mouse_target(event) {
            Some(MouseTarget::Row(row)) => {
                if let Some(place) = row.checked_sub(usize::from(self.listing_status().is_some())) {
                    self.selected = place;
                }
            }
            Some(MouseTarget::Wheel(by)) => self.move_selection(by),
            None => {}
        }
        Response::default()
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(window_rows(screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: self.title(),
            position: WindowPosition::Bottom,
            rows: window_rows(screen),
            columns: 100,
            mode: Mode::PickList,
        };
        let inside = window.draw(look, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        self.field.draw(true, row(0), canvas);
        let (role, words) = match &self.error {
            Some(why) => (Role::Warning, why.clone()),
            None => (Role::Muted, self.help_text(look)),
        };
        let told: Vec<Line> =
            words.lines().flat_map(|line| paragraph((role, ""), role, line, inside.width)).collect();
        // The list keeps three rows.
        let most = usize::from(inside.height.saturating_sub(4)).min(4);
        let above = 1 + told.len().min(most) as u16;
        for (place, line) in told.iter().take(most).enumerate() {
            if row(1 + place as u16).height > 0 {
                put_line(line, row(1 + place as u16), canvas);
            }
        }
        let list = Rect { y: inside.y + above, height: inside.height.saturating_sub(above), ..inside };
        let status = usize::from(self.listing_status().is_some());
        let (chosen, all) = (self.selected + status, self.matches.len() + status);
        self.scroll.draw_list(chosen, all, list, canvas, |row| self.row(row, look));
    }
}
