//! A page as an environment.

use super::action::{self, Action, ActionSet, Pointer, Typed};
use super::browser::{Browser, Rejected};
use super::by_xpath::{Outcome, click_first, hover_all, outcome};
use super::dom::Element;
use super::fields::fields_of_text;
use super::html;
use super::web_driver::{Failure, Target, WebDriver};
use crate::domain::{EnvInfo, LOST_BECAUSE, ListingCost, SCREENSHOT, StepResult, picture_url};
use crate::env::{EnvError, Environment};
use serde::Deserialize;
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;

/// How long a reset may take, without the start of the browser, and an action, without the pause after it.
pub(super) const RESET_LIMIT: Duration = Duration::from_secs(60);
pub(super) const STEP_LIMIT: Duration = Duration::from_secs(60);
/// How long the picture may take after a step that doesn't end the page's episode. The driver waits for longer than that.
const SCREENSHOT_LIMIT: Duration = Duration::from_secs(5);

/// The time limit of an episode in milliseconds: a day. Without it a page ends an episode after some seconds, while a
/// model thinks. It is below the largest number of milliseconds that timers of browsers have.
const EPISODE_MILLIS: u64 = 86_400_000;
/// Makes time pass by frames for Raphael, which draws the menu of click-pie. Each frame of its animations depends on the one before,
/// so with a real clock, which each frame reads at another time, even the menu at rest is never the same twice.
const COUNT_FRAMES: &str = "\
if (window.Raphael && !window.countsFrames) {
  const millis_per_frame = 16;
  let now = Date.now();
  const count = () => { now += millis_per_frame; requestAnimationFrame(count); };
  count();
  window.Date = new Proxy(Date, {
    construct: (date, parts, target) => Reflect.construct(date, parts.length > 0 ? parts : [now], target),
    get: (date, name) => name === 'now' ? () => now : Reflect.get(date, name),
  });
  window.countsFrames = true;
}";
/// Starts an episode from a seed, which must be a number: a text gives another page.
const START_EPISODE: &str = "core.EPISODE_MAX_TIME = arguments[1]; core.endEpisode(0); Math.seedrandom(arguments[0]); \
                             core.setDataMode('train'); core.startEpisodeReal();";
/// How often, and at what intervals, to ask whether a page is ready.
const READY_CHECKS: u32 = 20;
const READY_INTERVAL: Duration = Duration::from_millis(50);
/// How many dialogs of the page are closed before the page is read.
const MAX_ALERTS: u32 = 3;
/// Reads the state of the episode, and while it lasts the elements and the HTML: of the page's own part, and of what some pages
/// show beside it. It is read after the elements, whose numbers it then has.
const READ_PAGE: &str = "\
const page = { done: WOB_DONE_GLOBAL, raw_reward: WOB_RAW_REWARD_GLOBAL, reason: WOB_REWARD_REASON };
if (!page.done) {
  page.elements = core.getDOMInfo();
  const left_out = ['wrap', 'reward-display', 'click-canvas', 'sync-task-cover'];
  const wrap = document.getElementById('wrap');
  const beside = arguments[0] ? Array.from(document.body.children).filter(e => !left_out.includes(e.id)) : [];
  page.html = (wrap ? [wrap] : []).concat(beside).map(e => e.outerHTML).join('\\n');
}
return page;";
/// Waits until the page has looked the same for some frames, or is over, and returns whether it does: what is read while it moves is
/// never the same twice. A window that isn't shown has no frames, so a timer ends the wait.
const WAIT_UNTIL_STILL: &str = "\
const [frames, limit, done] = arguments;
const look = () => document.body.outerHTML;
const is_moving = () => document.getAnimations().some(a => a.playState === 'running');
const timer = setTimeout(() => done(false), limit);
let last = look(), still = 0;
const check = () => {
  const now = look();
  still = now === last && !is_moving() ? still + 1 : 0;
  last = now;
  if (still < frames && !WOB_DONE_GLOBAL) return requestAnimationFrame(check);
  clearTimeout(timer);
  done(true);
};
requestAnimationFrame(check);";
/// For how many frames a page must look the same; some animations run by timers of about the length of one.
const STILL_FRAMES: u32 = 4;
/// How long to wait for that. The longest animation of a page, that of click-pie, has 94 frames, which take 1.6 s or, on a busy machine,
/// more; three pages never rest.
const STILL_LIMIT: Duration = Duration::from_secs(12);
/// Shows or hides what covers the page when the episode is over.
const SET_COVER: &str = "if (core.cover_div) { core.cover_div.style.display = arguments[0]; }";
/// The pages of which RCI's prompts have more than their own part.
const PAGES_WITH_PARTS_BESIDE: &[&str] =
    &["click-dialog", "click-dialog-2", "use-autocomplete", "choose-date"];
/// The answer to an action after the end of the episode.
const OVER: &str = "The episode is over.";
/// The answer to a thought, which is no action of a page.
const THOUGHT_ANSWER: &str = "OK.";

/// What the agent is shown of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// The elements.
    Dom,
    /// The elements, with their places and backgrounds.
    Detailed,
    /// The HTML.
    Html,
}

impl View {
    pub(super) const WORDS: &'static [&'static str] = &["dom", "detailed", "html"];

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "detailed" => Self::Detailed,
            "html" => Self::Html,
            _ => Self::Dom,
        }
    }
}

/// How a page is played.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlayOptions {
    pub(super) actions: ActionSet,
    pub(super) view: View,
    /// How long to wait after each action, as some start their animation late, before waiting for its end.
    pub(super) pause: Duration,
    /// Whether a picture of the page is taken when the episode is over.
    pub(super) has_screenshot: bool,
    /// Whether the page is loaded before each episode. Otherwise later ones find what earlier ones have left in it.
    pub(super) reloads: bool,
}

/// What a page says about itself.
#[derive(Deserialize)]
struct PageState {
    done: bool,
    raw_reward: f64,
    #[serde(default)]
    reason: Value,
    elements: Option<Element>,
    html: Option<String>,
}

/// What a page gives for a solved task.
const SOLVED: f64 = 1.0;

/// A page as an environment.
pub(super) struct PageEnvironment {
    browser: Browser,
    page: String,
    seed: u64,
    options: PlayOptions,
    /// The task's text.
    utterance: String,
    fields: Vec<String>,
    /// The last text that was observed.
    observation: String,
    /// The elements that can be named, in the order of the page.
    numbers: Vec<i64>,
    /// The rows of the picture that were shown last.
    rows: Value,
    /// The HTML that was read last, shortened.
    html: String,
    /// The reward without the deduction for time; 0 until the end.
    raw_reward: f64,
    is_over: bool,
    /// Whether it is a page that never rests, so that waiting for it is useless.
    never_rests: bool,
}

impl PageEnvironment {
    pub(super) fn new(browser: Browser, page: &str, seed: u64, options: PlayOptions) -> Self {
        Self {
            browser,
            page: page.to_owned(),
            seed,
            options,
            utterance: String::new(),
            fields: Vec::new(),
            observation: String::new(),
            numbers: Vec::new(),
            rows: Value::Null,
            html: String::new(),
            raw_reward: 0.0,
            is_over: false,
            never_rests: false,
        }
    }

    /// Carries out commands that a page must not reject.
    fn require<T>(&mut self, commands: impl FnOnce(&WebDriver) -> Result<T, Failure>) -> Result<T, EnvError> {
        let answer = self.browser.ask(commands)?;
        answer.map_err(|Rejected { code, message }| {
            self.browser.reject(format!("the page {}: {code}: {message}", self.page))
        })
    }

    /// Loads the page if it must be, and starts an episode.
    fn start_episode(&mut self) -> Result<(), EnvError> {
        self.require(WebDriver::release_all)?;
        if self.options.reloads || !self.browser.has_page(&self.page) {
            self.load_page()?;
        }
        let seed = self.seed;
        self.require(|web| {
            web.run(COUNT_FRAMES, &[])?;
            web.run(START_EPISODE, &[seed.into(), EPISODE_MILLIS.into()])?;
            for _ in 0..READY_CHECKS {
                if web.run("return Boolean(WOB_TASK_READY);", &[])? == Value::Bool(true) {
                    return Ok(());
                }
                thread::sleep(READY_INTERVAL);
            }
            let limit = READY_INTERVAL * READY_CHECKS;
            Err(Failure::Invalid(format!("the page isn't ready after {} ms", limit.as_millis())))
        })
    }

    fn load_page(&mut self) -> Result<(), EnvError> {
        let Some(url) = self.browser.page_url(&self.page) else {
            return Err(EnvError::Died { what: "its browser was ended after an error".to_owned() });
        };
        self.browser.set_page(None);
        let is_page = self.require(|web| {
            // The pointer is where the last episode has left it, which may be above something of the page.
            web.open_page("about:blank")?;
            web.point(Target::Place(0, 0), Pointer::Move)?;
            web.open_page(&url)?;
            web.run("return typeof core === 'object';", &[])
        })?;
        if is_page != Value::Bool(true) {
            return Err(EnvError::Refused { what: format!("{url} is not a page of MiniWoB++") });
        }
        self.browser.set_page(Some(&self.page));
        Ok(())
    }

    /// Waits until the animations of the page have ended. A script that a dialog interrupts is rejected; what the page has become then
    /// is reported by whoever reads it.
    fn wait_until_still(&mut self) -> Result<(), EnvError> {
        if self.never_rests {
            return Ok(());
        }
        let arguments = [STILL_FRAMES.into(), (STILL_LIMIT.as_millis() as u64).into()];
        let answer = self.browser.ask(|web| web.run_until_done(WAIT_UNTIL_STILL, &arguments))?;
        self.never_rests = matches!(answer, Ok(Value::Bool(false)));
        Ok(())
    }

    /// Reads the page. A dialog that it has opened is closed by the driver, which rejects one command for it.
    fn read_page(&mut self) -> Result<PageState, EnvError> {
        let has_parts_beside = PAGES_WITH_PARTS_BESIDE.contains(&self.page.as_str());
        let mut alerts = 0;
        let value = loop {
            let answer = self.browser.ask(|web| web.run(READ_PAGE, &[has_parts_beside.into()]))?;
            match answer {
                Ok(value) => break value,
                Err(Rejected { code, .. }) if code == "unexpected alert open" && alerts < MAX_ALERTS => {
                    alerts += 1;
                }
                Err(Rejected { code, message }) => {
                    return Err(self.browser.reject(format!("the page {}: {code}: {message}", self.page)));
                }
            }
        };
        PageState::deserialize(value).map_err(|error| {
            self.browser
                .reject(format!("the page {} describes itself in an unknown form: {error}", self.page))
        })
    }

    /// Observes the page after an action, or at the beginning.
    fn observe(&mut self, complaint: Option<String>) -> Result<StepResult, EnvError> {
        let state = self.read_page()?;
        let valid = complaint.is_none();
        let (mut shown, mut truth) = (json!({}), json!({}));
        self.is_over = state.done;
        if state.done {
            if let Some(url) = self.take_screenshot() {
                truth[SCREENSHOT] = url.into();
            }
            self.raw_reward = state.raw_reward;
            (self.observation, self.numbers) = (String::new(), Vec::new());
            if self.raw_reward < SOLVED {
                shown[LOST_BECAUSE] = "the page counts it as failed".into();
            }
            if let Value::String(reason) = state.reason {
                shown["reason"] = reason.into();
            }
        }
        if let Some(elements) = state.elements {
            let html = html::shorten(state.html.as_deref().unwrap_or_default());
            self.observation = match self.options.view {
                View::Html => html.clone(),
                view => elements.describe(view == View::Detailed),
            };
            if html != self.html {
                truth["html"] = html.clone().into();
                self.html = html;
            }
            self.numbers = elements.numbers();
            let rows = elements.rows();
            if rows != self.rows {
                shown["page"] = rows.clone();
                self.rows = rows;
            }
        }
        let result = StepResult { truth: object_or_null(truth), ..self.result(valid, shown) };
        Ok(complain(result, complaint))
    }

    /// Takes a picture of the page as it is, without what covers it at the end of its episode. An episode without one is whole, so
    /// what goes wrong is not reported.
    fn take_screenshot(&mut self) -> Option<String> {
        if !self.options.has_screenshot {
            return None;
        }
        let is_covered = self.is_over;
        let picture = self.browser.ask(|web| {
            if !is_covered {
                return web.screenshot();
            }
            web.run(SET_COVER, &["none".into()])?;
            let picture = web.screenshot();
            web.run(SET_COVER, &["block".into()])?;
            picture
        });
        picture_url(&picture.ok()?.ok()?)
    }

    fn result(&self, valid: bool, shown: Value) -> StepResult {
        let won = self.is_over && self.raw_reward >= SOLVED;
        StepResult {
            observation: self.observation.clone(),
            reward: if self.is_over { self.raw_reward } else { 0.0 },
            progress: f64::from(won),
            done: self.is_over,
            won,
            valid,
            shown: object_or_null(shown),
            truth: Value::Null,
        }
    }

    /// Returns the result of an action that was not carried out.
    fn refuse(&self, why: String) -> StepResult {
        complain(self.result(false, Value::Null), Some(why))
    }

    fn check_number(&self, number: i64) -> Outcome {
        if self.numbers.contains(&number) {
            return Ok(());
        }
        Err(if number < 0 {
            format!("{number} is a text, which can't be clicked; name the element around it")
        } else {
            format!("there is no element {number} on the page now")
        })
    }

    fn typed_text(&self, typed: &Typed) -> Result<String, String> {
        match typed {
            Typed::Text(text) => Ok(text.clone()),
            Typed::Field(number) => self.fields.get(*number).cloned().ok_or_else(|| {
                format!("the task has no field {number}; it has {}, numbered from 0", self.fields.len())
            }),
        }
    }

    fn click_number(&mut self, number: i64) -> Result<Outcome, EnvError> {
        if let Err(why) = self.check_number(number) {
            return Ok(Err(why));
        }
        let script = "return core.elementClick(arguments[0]);";
        let clicked = self.browser.ask(|web| web.run(script, &[number.into()]))?;
        Ok(match clicked {
            // A script that a dialog interrupts has no value.
            Ok(Value::Bool(true) | Value::Null) => Ok(()),
            Ok(Value::String(what)) => Err(format!("element {number} can't be clicked: {what}")),
            Ok(_) => Err(format!("element {number} can't be clicked")),
            Err(rejected) => outcome(rejected),
        })
    }

    /// Carries out commands whose rejection means that the action has failed.
    fn attempt(
        &mut self,
        commands: impl FnOnce(&WebDriver) -> Result<Outcome, Failure>,
    ) -> Result<Outcome, EnvError> {
        Ok(self.browser.ask(commands)?.unwrap_or_else(outcome))
    }

    fn perform(&mut self, action: &Action) -> Result<Outcome, EnvError> {
        match action {
            Action::Nothing => Ok(Ok(())),
            Action::ClickElement(number) => self.click_number(*number),
            Action::Type(typed) => match self.typed_text(typed) {
                Ok(text) => self.attempt(|web| web.type_text(&text).map(Ok)),
                Err(why) => Ok(Err(why)),
            },
            Action::TypeInto(number, typed) => {
                let text = match self.typed_text(typed) {
                    Ok(text) => text,
                    Err(why) => return Ok(Err(why)),
                };
                match self.click_number(*number)? {
                    Ok(()) => self.attempt(|web| web.type_text(&text).map(Ok)),
                    refused => Ok(refused),
                }
            }
            Action::PressKey(stroke) => self.attempt(|web| web.press(stroke).map(Ok)),
            Action::PointAt(then, x, y) => {
                self.attempt(|web| web.point(Target::Place(*x, *y), *then).map(Ok))
            }
            Action::Scroll(x, y, pixels) => self.attempt(|web| web.scroll(*x, *y, *pixels).map(Ok)),
            Action::ClickXPath(xpath) => self.attempt(|web| click_first(web, xpath)),
            Action::HoverXPath(xpath) => self.attempt(|web| hover_all(web, xpath)),
        }
    }
}

impl Environment for PageEnvironment {
    fn info(&self) -> EnvInfo {
        EnvInfo { snapshots: false, deterministic: true, listing_cost: ListingCost::Free }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        self.browser.begin(RESET_LIMIT);
        (self.raw_reward, self.is_over, self.rows) = (0.0, false, Value::Null);
        self.never_rests = false;
        self.html.clear();
        self.start_episode()?;
        self.wait_until_still()?;
        // A text, or an object with the text and its fields.
        let task = self.require(|web| web.run("return core.getUtterance();", &[]))?;
        let utterance = task.get("utterance").unwrap_or(&task).as_str().unwrap_or_default().to_owned();
        self.fields = match task.get("fields").and_then(Value::as_object) {
            Some(fields) => fields
                .values()
                .map(|field| field.as_str().map_or_else(|| field.to_string(), str::to_owned))
                .collect(),
            None => fields_of_text(&utterance),
        };
        self.utterance = utterance;
        let mut result = self.observe(None)?;
        if !result.shown.is_object() {
            result.shown = json!({});
        }
        result.shown["goal"] = self.utterance.clone().into();
        Ok(result)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        if self.is_over {
            return Ok(StepResult { observation: OVER.to_owned(), ..self.result(false, Value::Null) });
        }
        if action.trim_start().starts_with("think:") {
            return Ok(StepResult {
                observation: THOUGHT_ANSWER.to_owned(),
                ..self.result(true, Value::Null)
            });
        }
        let action = match action::parse(action, self.options.actions) {
            Ok(action) => action,
            Err(why) => return Ok(self.refuse(why)),
        };
        self.browser.begin(STEP_LIMIT.saturating_add(self.options.pause));
        // A page may end the episode by itself.
        let is_over = self.require(|web| web.run("return Boolean(WOB_DONE_GLOBAL);", &[]))?;
        if is_over == Value::Bool(true) {
            return self.observe(Some("the episode has ended before".to_owned()));
        }
        let complaint = self.perform(&action)?.err();
        thread::sleep(self.options.pause);
        self.wait_until_still()?;
        self.observe(complaint)
    }

    fn last_step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let mut result = self.step(action)?;
        if !result.done {
            self.browser.begin(SCREENSHOT_LIMIT);
            if let Some(url) = self.take_screenshot() {
                result.truth[SCREENSHOT] = url.into();
            }
        }
        Ok(result)
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        Ok(self.numbers.iter().map(|number| format!("click_element {number}")).collect())
    }

    fn world_summary(&self) -> Value {
        json!({ "utterance": self.utterance, "raw_reward": self.raw_reward, "seed": self.seed })
    }
}

/// Returns an object with fields as it is, and an empty one as null.
fn object_or_null(value: Value) -> Value {
    if value.as_object().is_none_or(serde_json::Map::is_empty) { Value::Null } else { value }
}

/// Puts the reason why an action was not carried out before the observation.
fn complain(result: StepResult, why: Option<String>) -> StepResult {
    let Some(why) = why else { return result };
    let sentence = format!("The action was not carried out: {why}.");
    let observation = [sentence.as_str(), &result.observation].join("\n");
    StepResult { observation: observation.trim_end().to_owned(), ..result }
}
