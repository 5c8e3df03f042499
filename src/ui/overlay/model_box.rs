//! Whom to ask: another model from now on, or the same sampled otherwise, or a recording in the place of a model that
//! failed. What is known here is listed; what is typed and stands in no list is taken as it is.

use super::choice::around;
use super::field::Field;
use super::fuzzy::rank;
use super::named::{self, Named};
use super::window::{Line, Place, Pointed, Scroll, Window, paragraph, put_line};
use super::{Answer, Overlay, Response, moved, stepped};
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
    Recorded,
}

/// The box.
pub struct ModelBox {
    purpose: Purpose,
    field: Field,
    /// Models of the configuration, as they are written.
    models: Arc<[String]>,
    /// What the servers of the roles listed, or why they did not.
    listed: Vec<(ModelRole, Result<ModelList, String>)>,
    /// Sessions with a few words about each; none until they have been listed.
    sessions: Option<Vec<(String, String)>>,
    fitting: Vec<(String, String)>,
    chosen: usize,
    scroll: Scroll,
    /// What is wrong with what was typed.
    note: Option<String>,
}

/// The role for which another model is wanted first: the one whose call failed, else the actor.
pub fn role_in_question(state: &State) -> ModelRole {
    let mentor = state.has_undecided_call(ModelRole::Mentor) && !state.has_undecided_call(ModelRole::Actor);
    if mentor { ModelRole::Mentor } else { ModelRole::Actor }
}

impl ModelBox {
    /// Another model. The models of the role's server are to be listed for it.
    pub fn model(models: Arc<[String]>, look: &Context<'_>) -> Self {
        Self::new(Purpose::Model(role_in_question(&look.moment.head)), models, look)
    }

    /// A recorded reply for the calls that failed. The sessions are to be listed for it.
    pub fn recorded(look: &Context<'_>) -> Self {
        Self::new(Purpose::Recorded, Arc::default(), look)
    }

    fn new(purpose: Purpose, models: Arc<[String]>, look: &Context<'_>) -> Self {
        let (field, scroll) = (Field::line(""), Scroll::default());
        let mut made = Self {
            purpose,
            field,
            models,
            listed: Vec::new(),
            sessions: None,
            fitting: Vec::new(),
            chosen: 0,
            scroll,
            note: None,
        };
        made.filter(look);
        made
    }

    /// Everything that can be chosen, each with a few words about it.
    fn all(&self, run: Option<&RunSpec>, params: &[Named]) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        let mut add = |what: &str, about: &str| {
            if !all.iter().any(|a| a.0 == what) {
                all.push((what.to_owned(), about.to_owned()));
            }
        };
        match self.purpose {
            Purpose::Recorded => {
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
                    add(&named.name, &named.about());
                }
            }
            Purpose::Model(asked) => {
                for model in self.models.iter() {
                    add(model, "of the configuration");
                }
                let now = run.map(|r| r.provider_spec(asked));
                let roles = run.map(|r| [(&r.actor, "the actor"), (&r.mentor, "the mentor")]);
                for (model, role) in roles.into_iter().flatten() {
                    if model.starts_with("openai:") {
                        add(model, if now == Some(model) { "in force now" } else { role });
                    }
                }
                if let Some(Ok(ModelList { server, names })) = self.listing(asked) {
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
    fn listing(&self, asked: ModelRole) -> Option<&Result<ModelList, String>> {
        self.listed.iter().find(|(of, _)| *of == asked).map(|(_, listed)| listed)
    }

    /// How the server's list is coming along, where it is not there; it stands above the models.
    fn status(&self) -> Option<String> {
        let Purpose::Model(asked) = self.purpose else { return None };
        match self.listing(asked) {
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
    fn ask_for_models(&self) -> Response {
        let requests = match self.purpose {
            Purpose::Model(asked) if self.listing(asked).is_none() => vec![Request::Models(asked)],
            _ => Vec::new(),
        };
        Response { requests, close: false }
    }

    fn filter(&mut self, look: &Context<'_>) {
        let run = look.moment.head.run.as_deref();
        let params = match self.purpose {
            Purpose::Sampling(asked) => params(look, asked),
            Purpose::Model(_) | Purpose::Recorded => Vec::new(),
        };
        let all = self.all(run, &params);
        let words: Vec<String> = all.iter().map(|(what, about)| format!("{what} {about}")).collect();
        let order = rank(&self.field.text(), words.iter().map(String::as_str));
        self.fitting = order.into_iter().filter_map(|place| all.get(place).cloned()).collect();
        self.note = None;
        self.chosen = 0;
        let typed = self.field.text();
        if let Some((named, value)) = named::typed(&params, &typed) {
            self.fitting = vec![(named.name.clone(), named.told(!value.is_empty()))];
            return;
        }
        if let (Purpose::Model(_), Some((named, value))) = (self.purpose, param_typed(run, &typed)) {
            self.fitting = vec![(named.name.clone(), named.told(!value.is_empty()))];
            return;
        }
        if typed.is_empty() {
            self.chosen = self.place_in_force(look);
        }
        let whole = typed.starts_with("openai:") || typed.starts_with("recorded:") || self.fitting.is_empty();
        if whole && !typed.is_empty() && !self.fitting.iter().any(|f| f.0 == typed) {
            // Where what was typed is a part of a name that is known, that name is meant.
            let part = self.fitting.iter().any(|(name, _)| name.contains(&typed));
            let at = if part { self.fitting.len() } else { 0 };
            self.fitting.insert(at, (typed, "as typed".to_owned()));
        }
    }

    /// The place of the model that is in force. After a failed call another one is wanted.
    fn place_in_force(&self, look: &Context<'_>) -> usize {
        let Purpose::Model(asked) = self.purpose else { return 0 };
        let now = self.now(look);
        let place = self.fitting.iter().position(|(name, _)| name == now);
        place.filter(|_| !look.moment.head.has_failed_call(asked)).unwrap_or(0)
    }

    /// Sets what is typed, or puts the chosen name into the line.
    fn sample(&mut self, asked: ModelRole, look: &Context<'_>) -> Response {
        let Some(run) = look.moment.head.run.as_deref() else { return Response::close() };
        let all = params(look, asked);
        let typed = named::typed(&all, &self.field.text()).filter(|(_, value)| !value.is_empty());
        let Some((name, value)) = typed.map(|(named, value)| (named.name.clone(), value)) else {
            let chosen = self.fitting.get(self.chosen);
            if let Some(named) = chosen.and_then(|(name, _)| all.iter().find(|n| n.name == *name)) {
                self.field = named.field();
                self.filter(look);
            }
            return Response::default();
        };
        match named::read(run, &name, &value) {
            Ok(value) => {
                let mut said =
                    format!("{name} = {} from the next request on", SamplingParam::format_value(&value));
                if look.moment.head.is_asking(asked) || look.moment.head.step_awaiting_decision().is_some() {
                    let key = look.keymap.label(Action::AskAgain).unwrap_or_default();
                    said = format!("{said}; {key} asks this turn again with it");
                }
                let requests =
                    vec![Request::Say(said), Request::Send(Command::ChangeSetting { name, value })];
                Response { requests, close: true }
            }
            Err(why) => {
                self.note = Some(why);
                Response::default()
            }
        }
    }

    /// Who answers now, in the words of the command line.
    fn now<'a>(&self, look: &'a Context<'_>) -> &'a str {
        let run = look.moment.head.run.as_deref();
        match self.purpose {
            Purpose::Model(ModelRole::Mentor) | Purpose::Sampling(ModelRole::Mentor) => {
                run.map_or("", |r| r.mentor.as_str())
            }
            _ => run.map_or("", |r| r.actor.as_str()),
        }
    }

    /// The model of the role with its server and how it is sampled.
    fn in_force(&self, look: &Context<'_>) -> String {
        let (now, run) = (self.now(look), look.moment.head.run.as_deref());
        let (Purpose::Model(asked) | Purpose::Sampling(asked)) = self.purpose else { return now.to_owned() };
        let Some(run) = run.filter(|_| now.starts_with("openai:")) else { return format!("Now: {now}") };
        let address = run.settings.text(&format!("{}.base_url", asked.name()), "");
        let host = address.split_once("://").map_or(address, |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host);
        let at = if host.is_empty() { String::new() } else { format!(" at {host}") };
        let unsent = look.moment.head.unsent_settings(asked);
        let sampling = if unsent.is_empty() {
            run.describe_sampling(asked)
        } else {
            sampling_in_force(run, asked, &unsent)
        };
        format!("Now: {now}{at}; {sampling}")
    }

    fn accept(&mut self, look: &Context<'_>) -> Response {
        if let Purpose::Sampling(asked) = self.purpose {
            return self.sample(asked, look);
        }
        let run = look.moment.head.run.as_deref();
        if let (Purpose::Model(asked), Some((named, _))) =
            (self.purpose, param_typed(run, &self.field.text()))
        {
            return self.sample(sampling_param(&named.name).map_or(asked, |(role, _)| role), look);
        }
        let Some((what, _)) = self.fitting.get(self.chosen) else { return Response::default() };
        let asked = match self.purpose {
            Purpose::Recorded => {
                let named = what == "cache" || what.starts_with("recorded:");
                let source = if named { what.clone() } else { format!("recorded:{what}") };
                return Response::done(Request::Send(Command::RetryFromRecording(source)));
            }
            Purpose::Model(asked) | Purpose::Sampling(asked) => asked,
        };
        if what == "human" {
            return Response::done(Request::Send(Command::SetAutonomy(Autonomy::Human)));
        }
        let Some(run) = look.moment.head.run.as_deref() else { return Response::close() };
        let other = switch_model(run, asked, what);
        let vain = unused_mentor_reason(&other).filter(|_| asked == ModelRole::Mentor);
        let mut requests = vec![Request::Send(Command::ChangeRun(Box::new(other)))];
        requests.extend(vain.map(Request::Say));
        let rules = asked == ModelRole::Mentor && matches!(what.as_str(), "symbolic" | "none");
        if rules && look.moment.head.has_undecided_call(asked) {
            let key = look.keymap.label(Action::GiveUp).unwrap_or_default();
            let words = format!("{what} answers nothing that a model was asked; {key} goes on without");
            requests.push(Request::Say(words));
        } else if look.moment.head.has_failed_call(asked) {
            let key = look.keymap.label(Action::AskAgain).unwrap_or_default();
            requests.push(Request::Say(format!("{key} tries the failed call again with {what}")));
        } else if look.moment.head.has_undecided_call(asked) {
            let key = look.keymap.label(Action::Step).unwrap_or_default();
            requests.push(Request::Say(format!("{key} asks {what}")));
        }
        Response { requests, close: true }
    }

    fn choose(&mut self, by: isize) {
        self.chosen = stepped(self.chosen, by, self.fitting.len());
    }

    fn title(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(ModelRole::Actor) => "Who acts from now on?",
            Purpose::Model(ModelRole::Mentor) => "Who reflects from now on?",
            Purpose::Sampling(ModelRole::Actor) => "How is the actor sampled from now on?",
            Purpose::Sampling(ModelRole::Mentor) => "How is the mentor sampled from now on?",
            Purpose::Recorded => "Whose recorded reply?",
        }
    }

    fn told(&self, look: &Context<'_>) -> String {
        match (self.purpose, &self.sessions) {
            (Purpose::Recorded, None) => "The sessions are being listed; a name can be typed.".to_owned(),
            (Purpose::Recorded, Some(_)) => {
                "The reply to exactly this request is taken this once, and named as recorded everywhere."
                    .to_owned()
            }
            (Purpose::Model(_), _) => {
                let tab = look.keymap.label_in(Mode::Pick, Action::NextField).unwrap_or_default();
                format!("{}.\nType openai:MODEL [profile NAME]; {tab}: role, sampling", self.in_force(look))
            }
            (Purpose::Sampling(asked), _) => {
                let run = look.moment.head.run.as_deref();
                match run.map(|r| (r.check_param_supported(asked, &SAMPLING_PARAMS[0], &false.into()), r)) {
                    Some((Err(why), _)) => format!("{}: {why}.", self.now(look)),
                    _ => format!(
                        "{}: NAME VALUE, such as {} 0.7.",
                        self.now(look),
                        SAMPLING_PARAMS[0].setting_name(asked)
                    ),
                }
            }
        }
    }

    fn row(&self, row: usize, look: &Context<'_>) -> Line {
        let status = self.status();
        let Some(place) = row.checked_sub(usize::from(status.is_some())) else {
            let words = status.unwrap_or_default();
            return vec![(Role::Dim, format!("  {}", crate::text::one_line(&words)))];
        };
        let Some((what, about)) = self.fitting.get(place) else { return Vec::new() };
        let (mark, role) =
            if place == self.chosen { (look.glyphs.proposal, Role::Chosen) } else { (" ", Role::Text) };
        vec![
            (Role::Proposal, format!("{mark} ")),
            (role, crate::text::one_line(what).into_owned()),
            (Role::Dim, format!("  {}", crate::text::one_line(about))),
        ]
    }
}

/// What can be set for a role: its sampling parameters, as they are sent, and the budget of the prompts.
fn params(look: &Context<'_>, asked: ModelRole) -> Vec<Named> {
    let state = &look.moment.head;
    let run = state.run.as_deref();
    let mut all = named::knobs(run, asked);
    named::as_sent(&mut all, &state.unsent_settings(asked));
    all.extend(named::settings(run).into_iter().filter(|named| named.name == "context_tokens"));
    all
}

/// The sampling parameter, or the budget, that a line begins with by its whole name, as advice writes it:
/// `actor.max_tokens=4096`; and the value behind it.
fn param_typed(run: Option<&RunSpec>, line: &str) -> Option<(Named, String)> {
    let mut all: Vec<Named> =
        [ModelRole::Actor, ModelRole::Mentor].iter().flat_map(|r| named::knobs(run, *r)).collect();
    all.extend(named::settings(run).into_iter().filter(|named| named.name == "context_tokens"));
    let line = line.trim_start_matches("set ");
    let (named, value) = named::typed(&all, line)?;
    line.starts_with(&named.name).then(|| (named.clone(), value))
}

/// The sampling parameters as they are sent, with what was learnt of the server, and the names of what is left out because
/// of it. `unsent` has the lines of [`State::unsent_settings`].
fn sampling_in_force(run: &RunSpec, asked: ModelRole, unsent: &[String]) -> String {
    let lines = || unsent.iter().filter_map(|line| line.split_once(": "));
    let name = |head: &str| head.split(' ').next().unwrap_or_default().to_owned();
    let mut words = Vec::new();
    for param in &SAMPLING_PARAMS {
        let value = run.effective_value(asked, param).0.and_then(|value| param.sent_value(&value, unsent));
        words.extend(value.map(|value| format!("{} {}", param.name, SamplingParam::format_value(&value))));
    }
    if words.is_empty() {
        words.push("as its profile has it".to_owned());
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
fn rows(screen: Rect) -> u16 {
    match screen.height {
        30.. => 13,
        24.. => 9,
        _ => 7,
    }
}

impl Overlay for ModelBox {
    fn name(&self) -> &'static str {
        match self.purpose {
            Purpose::Model(_) | Purpose::Sampling(_) => "model",
            Purpose::Recorded => "recorded",
        }
    }

    fn mode(&self) -> Mode {
        Mode::Pick
    }

    fn act(&mut self, action: Action, look: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.accept(look),
            Action::NextField | Action::PreviousField => {
                const ROUND: [Purpose; 4] = [
                    Purpose::Model(ModelRole::Actor),
                    Purpose::Model(ModelRole::Mentor),
                    Purpose::Sampling(ModelRole::Actor),
                    Purpose::Sampling(ModelRole::Mentor),
                ];
                if let Some(at) = ROUND.iter().position(|p| *p == self.purpose) {
                    let by = if action == Action::NextField { 1 } else { -1 };
                    let sampled = matches!(self.purpose, Purpose::Sampling(_));
                    self.purpose = ROUND[around(at, by, ROUND.len())];
                    // A model that was typed is meant for either role, and is no value.
                    if sampled != matches!(self.purpose, Purpose::Sampling(_)) {
                        self.field.replace("");
                    }
                    self.filter(look);
                    return self.ask_for_models();
                }
            }
            other => self.choose(moved(other, self.scroll.page()).unwrap_or(0)),
        }
        Response::default()
    }

    fn key(&mut self, key: KeyEvent, look: &Context<'_>) -> Response {
        if self.field.key(key) {
            self.filter(look);
        }
        Response::default()
    }

    fn paste(&mut self, text: &str, look: &Context<'_>) -> Response {
        if self.field.paste(text) {
            self.filter(look);
        }
        Response::default()
    }

    fn answer(&mut self, answer: Answer, look: &Context<'_>) -> Response {
        let chosen = self.fitting.get(self.chosen).cloned();
        match answer {
            Answer::Sessions(sessions) => self.sessions = Some(sessions),
            Answer::Models { asked, listed } => {
                self.listed.retain(|(of, _)| *of != asked);
                self.listed.push((asked, listed));
            }
            _ => return Response::default(),
        }
        self.filter(look);
        // The cursor stays on what it was on.
        let place = chosen.and_then(|(name, _)| self.fitting.iter().position(|(other, _)| *other == name));
        self.chosen = place.unwrap_or(0);
        Response::default()
    }

    fn mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        match self.scroll.pointed(event) {
            Some(Pointed::Row(row)) => {
                if let Some(place) = row.checked_sub(usize::from(self.status().is_some())) {
                    self.chosen = place;
                }
            }
            Some(Pointed::Wheel(by)) => self.choose(by),
            None => {}
        }
        Response::default()
    }

    fn covers(&self, _: &Context<'_>, screen: Rect) -> u16 {
        Window::covers(rows(screen), screen)
    }

    fn draw(&self, look: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: self.title(),
            place: Place::Below,
            rows: rows(screen),
            columns: 100,
            mode: Mode::Pick,
        };
        let inside = window.draw(look, screen, canvas);
        let row = |n: u16| Rect { y: inside.y + n, height: u16::from(inside.height > n), ..inside };
        self.field.draw(true, row(0), canvas);
        let (role, words) = match &self.note {
            Some(why) => (Role::Warn, why.clone()),
            None => (Role::Dim, self.told(look)),
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
        let status = usize::from(self.status().is_some());
        let (chosen, all) = (self.chosen + status, self.fitting.len() + status);
        self.scroll.list(chosen, all, list, canvas, |row| self.row(row, look));
    }
}
