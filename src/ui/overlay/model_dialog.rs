//! The dialog that changes a role's model or sampling parameters from now on, or replaces a failed call's reply with a
//! recorded one. Known values are listed; a typed value that isn't listed is used as typed.

use super::named_value;
use super::named_value::NamedValue;
use crate::catalog::{switch_model, unused_mentor_reason};
use crate::domain::common_settings::CONTEXT_TOKENS;
use crate::domain::{
    Autonomy, ModelRole, RoleSource, RunSpec, SAMPLING_PARAMS, SamplingParam, sampling_param,
};
use crate::engine::Command;
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::facts::default_role;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::msg::{Answer, Request};
use crate::ui::theme::Role;
use crate::ui::types::{ModelList, WorkKind};
use crate::ui::widget::list_index::wrapped_index;
use crate::ui::widget::picker::{Picker, marked_row, rank};
use crate::ui::widget::window::{Line, Window, WindowPosition, paragraph, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use serde_json::Value;
use std::sync::Arc;

/// What the dialog chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A role's model, from now on.
    Model(ModelRole),
    /// A role's sampling parameters, from now on.
    Sampling(ModelRole),
    /// A recorded reply, used once.
    RecordedReply,
}

/// A name and a short description. Without a name it is the status of the server's list, which can't be selected.
type Candidate = (String, String);

/// Dialog that chooses a model, sampling parameters or a recorded reply.
pub(super) struct ModelDialog {
    purpose: Purpose,
    picker: Picker<Candidate>,
    /// The configured models, as written there.
    configured_models: Arc<[String]>,
    /// The models that each role's server lists, or why the request failed.
    server_lists: Vec<(ModelRole, Result<ModelList, String>)>,
    /// The sessions' names and descriptions. `None` until they have been listed.
    sessions: Option<Vec<Candidate>>,
    /// Why the typed value is invalid.
    error: Option<String>,
}

impl ModelDialog {
    /// Creates the dialog that changes a model. The caller must request the models of the role's server.
    pub(super) fn for_model(models: Arc<[String]>, context: &Context<'_>) -> Self {
        Self::new(Purpose::Model(default_role(&context.frame.head)), models, context)
    }

    /// Creates the dialog that chooses a recorded reply for failed calls. The caller must request the sessions.
    pub(super) fn for_recorded_reply(context: &Context<'_>) -> Self {
        Self::new(Purpose::RecordedReply, Arc::default(), context)
    }

    fn new(purpose: Purpose, models: Arc<[String]>, context: &Context<'_>) -> Self {
        let mut dialog = Self {
            purpose,
            picker: Picker::unfiltered(Vec::new()).with_headings(|(name, _)| name.is_empty()),
            configured_models: models,
            server_lists: Vec::new(),
            sessions: None,
            error: None,
        };
        dialog.filter(context);
        dialog
    }

    /// Returns all candidates, each with a short description.
    fn candidates(&self, run: Option<&RunSpec>, params: &[NamedValue]) -> Vec<Candidate> {
        let mut all: Vec<Candidate> = Vec::new();
        let mut add = |name: &str, about: &str| {
            if !all.iter().any(|a| a.0 == name) {
                all.push((name.to_owned(), about.to_owned()));
            }
        };
        match self.purpose {
            Purpose::RecordedReply => {
                let uses_server = |run: Option<&RunSpec>| {
                    run.is_some_and(|r| ModelRole::ALL.iter().any(|role| r.role_source(*role).is_model()))
                };
                if uses_server(run) {
                    add("cache", "this model's cached reply to exactly this request");
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
                    add(model, "configured");
                }
                let now = run.map(|r| r.provider_spec(asked));
                let roles = run.map(|r| [(&r.actor, "the actor"), (&r.mentor, "the mentor")]);
                for (model, role) in roles.into_iter().flatten() {
                    if RoleSource::parse(model).is_model() {
                        add(model, if now == Some(model) { "current" } else { role });
                    }
                }
                if let Some(Ok(ModelList { server, names })) = self.server_models(asked) {
                    let about = format!("at {server}");
                    for name in names {
                        add(&RoleSource::name_of_model(name), &about);
                    }
                }
                for choice in RoleSource::built_in(asked) {
                    add(choice.name, choice.meaning);
                }
            }
        }
        all
    }

    /// Returns the models that a role's server lists. Returns `None` until it has answered.
    fn server_models(&self, asked: ModelRole) -> Option<&Result<ModelList, String>> {
        self.server_lists.iter().find(|(role, _)| *role == asked).map(|(_, listed)| listed)
    }

    /// Returns the status line above the models if the server's list is pending, failed or empty.
    fn listing_status(&self) -> Option<String> {
        let Purpose::Model(asked) = self.purpose else { return None };
        match self.server_models(asked) {
            None => Some("loading models from the server ...".to_owned()),
            // The server's whole message about the key wouldn't fit the row.
            Some(Err(why)) => Some(match why.split_once(" returned HTTP 401: ") {
                Some((server, _)) => format!("can't list models: {server} rejects the key (401)"),
                None => format!("can't list models: {why}"),
            }),
            Some(Ok(ModelList { server, names })) => {
                names.is_empty().then(|| format!("{server} lists no models"))
            }
        }
    }

    /// Requests the models of the role's server when the role is first shown.
    fn request_models(&self) -> Response {
        let requests = match self.purpose {
            Purpose::Model(asked) if self.server_models(asked).is_none() => vec![Request::ListModels(asked)],
            _ => Vec::new(),
        };
        Response { requests, close: false }
    }

    fn filter(&mut self, context: &Context<'_>) {
        let run = context.frame.head.run.as_deref();
        let params = match self.purpose {
            Purpose::Sampling(asked) => params(context, asked),
            Purpose::Model(_) | Purpose::RecordedReply => Vec::new(),
        };
        self.error = None;
        let typed = self.picker.text();
        let assigned = match self.purpose {
            Purpose::Model(_) => param_typed(run, &typed),
            _ => named_value::parse_assignment(&params, &typed).map(|(named, value)| (named.clone(), value)),
        };
        let mut rows: Vec<Candidate> = match assigned {
            Some((named, value)) => vec![(named.name.clone(), named.allowed_text(!value.is_empty()))],
            None => self.matching_candidates(&typed, run, &params),
        };
        rows.splice(0..0, self.listing_status().map(|status| (String::new(), status)));
        self.picker.set_items(rows);
        // After a failed call, another model than the current one is wanted.
        if let Purpose::Model(asked) = self.purpose
            && typed.is_empty()
            && !context.frame.head.has_failed_call(asked)
        {
            let now = self.current_model(context);
            self.picker.select(|(name, _)| name == now);
        }
    }

    /// Returns the candidates that match the typed text, and the text itself if it may be meant as typed.
    fn matching_candidates(
        &self,
        typed: &str,
        run: Option<&RunSpec>,
        params: &[NamedValue],
    ) -> Vec<Candidate> {
        if let Some(moved) = self.moved_model(typed, run) {
            return vec![(moved, "the same model at this address".to_owned())];
        }
        let all = self.candidates(run, params);
        let order = rank(&all, typed, |(name, about)| [format!("{name} {about}")]);
        let mut matches: Vec<_> = order.into_iter().map(|place| all[place].clone()).collect();
        let whole = RoleSource::parse(typed).replies_as_model() || matches.is_empty();
        if whole && !typed.is_empty() && !matches.iter().any(|(name, _)| name == typed) {
            // If the typed text is part of a known name, that name is probably meant.
            let part = matches.iter().any(|(name, _)| name.contains(typed));
            let at = if part { matches.len() } else { 0 };
            matches.insert(at, (typed.to_owned(), "as typed".to_owned()));
        }
        matches
    }

    /// Returns the role's model at a typed address.
    fn moved_model(&self, typed: &str, run: Option<&RunSpec>) -> Option<String> {
        let Purpose::Model(asked) = self.purpose else { return None };
        let url = typed.strip_prefix("at ").unwrap_or(typed).trim();
        let is_url = url.starts_with("http://") || url.starts_with("https://");
        let model = run?.provider_spec(asked);
        (is_url && RoleSource::parse(model).is_model()).then(|| format!("{model} at {url}"))
    }

    /// Sets the typed value, or fills the selected name into the line.
    fn set_sampling(&mut self, asked: ModelRole, context: &Context<'_>) -> Response {
        let Some(run) = context.frame.head.run.as_deref() else { return Response::close() };
        let all = params(context, asked);
        let typed =
            named_value::parse_assignment(&all, &self.picker.text()).filter(|(_, value)| !value.is_empty());
        let Some((name, value)) = typed.map(|(named, value)| (named.name.clone(), value)) else {
            let chosen = self.picker.selected();
            if let Some(named) = chosen.and_then(|(name, _)| all.iter().find(|n| n.name == *name)) {
                self.picker.set_field(named.to_field());
                self.filter(context);
            }
            return Response::default();
        };
        match named_value::parse_value(run, &name, &value) {
            Ok(value) => {
                let mut notice =
                    format!("{name} = {} from the next request", SamplingParam::format_value(&value));
                if context.frame.head.is_asking(asked)
                    || context.frame.head.step_awaiting_decision().is_some()
                {
                    let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
                    notice = format!("{notice}; {key} retries this step with it");
                }
                let requests =
                    vec![Request::ShowNotice(notice), Request::Send(Command::ChangeSetting { name, value })];
                Response { requests, close: true }
            }
            Err(why) => {
                self.error = Some(why);
                Response::default()
            }
        }
    }

    /// Returns the current model of the role, as written on the command line.
    fn current_model<'a>(&self, context: &'a Context<'_>) -> &'a str {
        let run = context.frame.head.run.as_deref();
        match self.purpose {
            Purpose::Model(ModelRole::Mentor) | Purpose::Sampling(ModelRole::Mentor) => {
                run.map_or("", |r| r.mentor.as_str())
            }
            _ => run.map_or("", |r| r.actor.as_str()),
        }
    }

    /// Returns the role's model with its server and sampling parameters.
    fn current_summary(&self, context: &Context<'_>) -> String {
        let (now, run) = (self.current_model(context), context.frame.head.run.as_deref());
        let (Purpose::Model(asked) | Purpose::Sampling(asked)) = self.purpose else { return now.to_owned() };
        let Some(run) = run.filter(|_| RoleSource::parse(now).is_model()) else {
            return format!("Now: {now}");
        };
        let address = run.settings.text(&format!("{}.base_url", asked.name()), "");
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        let at = if host.is_empty() { String::new() } else { format!(" at {host}") };
        let unsent = context.frame.head.setting_deviations(asked);
        let sampling = if unsent.is_empty() {
            run.describe_sampling(asked)
        } else {
            effective_sampling(run, asked, &unsent)
        };
        format!("Now: {now}{at}; {sampling}")
    }

    fn accept(&mut self, context: &Context<'_>) -> Response {
        if let Purpose::Sampling(asked) = self.purpose {
            return self.set_sampling(asked, context);
        }
        let run = context.frame.head.run.as_deref();
        if let (Purpose::Model(asked), Some((named, _))) =
            (self.purpose, param_typed(run, &self.picker.text()))
        {
            return self.set_sampling(sampling_param(&named.name).map_or(asked, |(role, _)| role), context);
        }
        let Some((name, _)) = self.picker.selected() else { return Response::default() };
        let asked = match self.purpose {
            Purpose::RecordedReply => {
                let named = name == "cache" || RoleSource::parse(name).replies_as_model();
                let source = if named { name.clone() } else { RoleSource::name_of_recording(name) };
                return Response::request_and_close(Request::Send(Command::RetryFromRecording(source)));
            }
            Purpose::Model(asked) | Purpose::Sampling(asked) => asked,
        };
        let source = RoleSource::parse(name);
        if source == RoleSource::Person {
            return Response::request_and_close(Request::Send(Command::SetAutonomy(Autonomy::Human)));
        }
        let Some(run) = context.frame.head.run.as_deref() else { return Response::close() };
        let changed = match switch_model(run, asked, name) {
            Ok(changed) => changed,
            Err(why) => {
                self.error = Some(why);
                return Response::default();
            }
        };
        let unused = unused_mentor_reason(&changed).filter(|_| asked == ModelRole::Mentor);
        let mut requests = vec![Request::Send(Command::ChangeRun(Box::new(changed)))];
        requests.extend(unused.map(Request::ShowNotice));
        let rules = asked == ModelRole::Mentor && source.is_symbolic_or_nobody();
        if rules && context.frame.head.has_undecided_call(asked) {
            let key = context.keymap.key_label(Action::GiveUp).unwrap_or_default();
            let words = format!("{name} can't answer a model's prompt; {key} continues without it");
            requests.push(Request::ShowNotice(words));
        } else if context.frame.head.has_failed_call(asked) {
            let key = context.keymap.key_label(Action::AskAgain).unwrap_or_default();
            requests.push(Request::ShowNotice(format!("{key} retries the failed call with {name}")));
        } else if context.frame.head.has_undecided_call(asked) {
            let key = context.keymap.key_label(Action::Step).unwrap_or_default();
            requests.push(Request::ShowNotice(format!("{key} calls {name}")));
        }
        Response { requests, close: true }
    }

    fn title(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(ModelRole::Actor) => "Actor from now on",
            Purpose::Model(ModelRole::Mentor) => "Mentor from now on",
            Purpose::Sampling(ModelRole::Actor) => "Actor sampling from now on",
            Purpose::Sampling(ModelRole::Mentor) => "Mentor sampling from now on",
            Purpose::RecordedReply => "Recorded reply from",
        }
    }

    fn help_text(&self, context: &Context<'_>) -> String {
        match (self.purpose, &self.sessions) {
            (Purpose::RecordedReply, None) => {
                let loading = context.work_text("Loading sessions ...", WorkKind::Sessions);
                format!("{loading}; you can type a name.")
            }
            (Purpose::RecordedReply, Some(_)) => {
                "The recorded reply to exactly this request is used once, and marked as recorded.".to_owned()
            }
            (Purpose::Model(_), _) => {
                let tab = context.keymap.key_label_in(Mode::PickList, Action::NextField).unwrap_or_default();
                format!(
                    "{}.\nopenai:MODEL [profile P] [at URL]; {tab}: role, sampling",
                    self.current_summary(context)
                )
            }
            (Purpose::Sampling(asked), _) => {
                let run = context.frame.head.run.as_deref();
                match run.map(|r| (r.check_param_supported(asked, &SAMPLING_PARAMS[0], &false.into()), r)) {
                    Some((Err(why), _)) => format!("{}: {why}.", self.current_model(context)),
                    _ => format!(
                        "{}: NAME VALUE, such as {} 0.7.",
                        self.current_model(context),
                        SAMPLING_PARAMS[0].setting_name(asked)
                    ),
                }
            }
        }
    }
}

/// Returns the values to set for a role: its sampling parameters, as sent, and the prompt budget.
fn params(context: &Context<'_>, asked: ModelRole) -> Vec<NamedValue> {
    let state = &context.frame.head;
    let run = state.run.as_deref();
    let mut all = named_value::sampling_values(run, asked);
    named_value::as_sent(&mut all, &state.setting_deviations(asked));
    all.extend(prompt_budget(run));
    all
}

/// Returns the setting of the prompt budget.
fn prompt_budget(run: Option<&RunSpec>) -> impl Iterator<Item = NamedValue> {
    named_value::setting_values(run).into_iter().filter(|named| named.name == CONTEXT_TOKENS.spec.name)
}

/// Parses a line that starts with the full name of a sampling parameter or of the prompt budget, as hints write it
/// (`actor.max_tokens=4096`). Returns the parameter and the typed value.
fn param_typed(run: Option<&RunSpec>, line: &str) -> Option<(NamedValue, String)> {
    let mut all: Vec<NamedValue> = [ModelRole::Actor, ModelRole::Mentor]
        .iter()
        .flat_map(|r| named_value::sampling_values(run, *r))
        .collect();
    all.extend(prompt_budget(run));
    let line = line.trim_start_matches("set ");
    let (named, value) = named_value::parse_assignment(&all, line)?;
    line.starts_with(&named.name).then(|| (named.clone(), value))
}

/// Describes the sampling parameters as sent to the server, and names those left out because the server rejected them.
/// `unsent` holds the lines of [`crate::engine::State::setting_deviations`].
fn effective_sampling(run: &RunSpec, asked: ModelRole, unsent: &[String]) -> String {
    let lines = || unsent.iter().filter_map(|line| line.split_once(": "));
    let name = |head: &str| head.split(' ').next().unwrap_or_default().to_owned();
    let mut words = Vec::new();
    for param in &SAMPLING_PARAMS {
        let value = run.effective_value(asked, param).0.and_then(|value| param.sent_value(&value, unsent));
        words.extend(value.map(|value| format!("{} {}", param.name, SamplingParam::format_value(&value))));
    }
    if words.is_empty() {
        words.push("profile defaults".to_owned());
    }
    let is_rejected = |head: &str| {
        let mut params = SAMPLING_PARAMS.iter().filter(|param| param.name == name(head));
        params.any(|param| param.sent_value(&Value::from(1), unsent).is_none())
    };
    let left_out = lines().filter(|(head, _)| is_rejected(head) || head.starts_with("stop at a newline"));
    // There are two kinds of lines about `stop`; for all others the name suffices.
    let left_out =
        left_out.map(|(head, _)| if head.starts_with("stop") { head.to_owned() } else { name(head) });
    let left_out: Vec<String> = left_out.collect();
    let sampling = words.join(", ");
    if left_out.is_empty() { sampling } else { format!("{sampling}; left out: {}", left_out.join(", ")) }
}

/// Returns the number of rows inside the window.
fn window_rows(screen: Rect) -> u16 {
    match screen.height {
        30.. => 13,
        24.. => 9,
        _ => 7,
    }
}

impl Component for ModelDialog {
    fn name(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(_) | Purpose::Sampling(_) => "model",
            Purpose::RecordedReply => "recorded",
        }
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::PickList
    }

    fn on_action(&mut self, action: Action, context: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(context),
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
                    // A typed model name suits either role, but isn't a sampling value.
                    if sampled != matches!(self.purpose, Purpose::Sampling(_)) {
                        self.picker.set_text("");
                    }
                    self.filter(context);
                    return self.request_models();
                }
            }
            other => self.picker.on_action(other, self.picker.page_rows()),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, context: &Context<'_>) -> Response {
        if self.picker.on_key(key) {
            self.filter(context);
        }
        Response::default()
    }

    fn on_paste(&mut self, text: &str, context: &Context<'_>) -> Response {
        if self.picker.on_paste(text) {
            self.filter(context);
        }
        Response::default()
    }

    fn on_answer(&mut self, answer: Answer, context: &Context<'_>) -> Response {
        let chosen = self.picker.selected().cloned();
        match answer {
            Answer::Sessions(sessions) => self.sessions = Some(sessions),
            Answer::Models { role: asked, models: listed } => {
                self.server_lists.retain(|(role, _)| *role != asked);
                self.server_lists.push((asked, listed));
            }
            _ => return Response::default(),
        }
        self.filter(context);
        // Keep the selected candidate selected.
        if let Some((chosen, _)) = chosen {
            self.picker.select(|(name, _)| *name == chosen);
        }
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.picker.on_mouse(event);
        Response::default()
    }

    fn awaits(&self) -> Option<WorkKind> {
        match self.purpose {
            Purpose::RecordedReply => self.sessions.is_none().then_some(WorkKind::Sessions),
            Purpose::Model(asked) => self.server_models(asked).is_none().then_some(WorkKind::Models),
            Purpose::Sampling(_) => None,
        }
    }

    fn rows_covered(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::rows_covered(window_rows(screen), screen)
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: self.title(),
            position: WindowPosition::Bottom,
            rows: window_rows(screen),
            columns: 100,
            mode: Mode::PickList,
        };
        let inside = window.draw(context, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        self.picker.draw_field((Role::Key, ""), true, row(0), canvas);
        let (role, words) = match &self.error {
            Some(why) => (Role::Warning, why.clone()),
            None => (Role::Muted, self.help_text(context)),
        };
        let help: Vec<Line> =
            words.lines().flat_map(|line| paragraph((role, ""), role, line, inside.width)).collect();
        // Leave three rows to the list.
        let most = usize::from(inside.height.saturating_sub(4)).min(4);
        let above = 1 + help.len().min(most) as u16;
        put_lines(&help, Rect { y: inside.y + 1, height: above - 1, ..inside }, canvas);
        let list = Rect { y: inside.y + above, height: inside.height.saturating_sub(above), ..inside };
        self.picker.draw_list(list, canvas, |(name, about), here| {
            let (name, about) = (one_line(name).into_owned(), format!("  {}", one_line(about)));
            if name.is_empty() {
                vec![(Role::Muted, about)]
            } else {
                marked_row(context, "", here, name, [about])
            }
        });
    }
}
