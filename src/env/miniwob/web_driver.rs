//! A client for chromedriver: the requests of W3C WebDriver that playing on a page takes.

use super::action::Pointer;
use super::keys::KeyStroke;
use crate::env::external::{HttpAnswer, HttpFailure, LoopbackHttp};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// The name under which WebDriver passes elements, from its specification.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The limit that chromedriver has for a script and for loading a page.
const DRIVER_LIMIT: Duration = Duration::from_secs(30);
/// The limit of one request. chromedriver's own limits don't end a page in an endless loop.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// The maximum length of an answer.
const MAX_ANSWER_BYTES: u64 = 16 << 20;
/// The maximum length of an excerpt in an error message.
const EXCERPT_BYTES: usize = 300;
/// Words of the messages that say that the browser or its page is gone, whatever the code.
const LOSS_WORDS: &[&str] =
    &["browser has closed", "crashed", "disconnected", "not reachable", "web view not found"];

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The driver rejected the command, and the browser is there: the error code of WebDriver, and a message.
    Rejected { code: String, message: String },
    /// There was no answer in time.
    TimedOut(Duration),
    /// The browser is gone.
    Lost(String),
    /// The driver is gone.
    Unreachable(String),
    /// The answer isn't one of WebDriver.
    Invalid(String),
}

/// An element of the page.
#[derive(Clone, Debug)]
pub(super) struct ElementHandle(String);

impl ElementHandle {
    fn from_value(value: &Value) -> Option<Self> {
        Some(Self(value.get(ELEMENT_KEY)?.as_str()?.to_owned()))
    }

    fn to_value(&self) -> Value {
        json!({ ELEMENT_KEY: self.0 })
    }
}

/// Where the pointer is moved.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// From the upper left corner of the page.
    Place(i64, i64),
    /// The middle of an element.
    Element(&'a ElementHandle),
}

/// A session of a browser.
pub(super) struct WebDriver {
    http: LoopbackHttp,
    /// The path of the session.
    session: String,
    /// When the current answer of the environment is due.
    deadline: Instant,
}

/// How the browser is started.
pub(super) struct BrowserOptions<'a> {
    pub(super) program: Option<&'a str>,
    pub(super) arguments: Vec<String>,
}

impl WebDriver {
    /// Starts a browser.
    ///
    /// # Errors
    /// Returns what went wrong; a browser that can't be started is [`Failure::Rejected`].
    pub(super) fn start(port: u16, options: &BrowserOptions<'_>, limit: Duration) -> Result<Self, Failure> {
        let mut driver = Self {
            http: LoopbackHttp::new(port).map_err(Failure::Lost)?,
            session: "/session".to_owned(),
            deadline: Instant::now() + limit,
        };
        let mut chrome = json!({ "args": options.arguments });
        if let Some(program) = options.program {
            chrome["binary"] = program.into();
        }
        let capabilities =
            json!({ "alwaysMatch": { "browserName": "chrome", "goog:chromeOptions": chrome } });
        let session = driver.post("", &json!({ "capabilities": capabilities }))?;
        let Some(id) = session.get("sessionId").and_then(Value::as_str) else {
            return Err(invalid("a session without an id", &session));
        };
        driver.session = format!("{}/{id}", driver.session);
        let millis = DRIVER_LIMIT.as_millis() as u64;
        driver.post("/timeouts", &json!({ "script": millis, "pageLoad": millis, "implicit": 0 }))?;
        Ok(driver)
    }

    /// Sets the time that all requests until the next call may take together.
    pub(super) fn begin(&mut self, limit: Duration) {
        self.deadline = Instant::now() + limit;
    }

    pub(super) fn open_page(&self, url: &str) -> Result<(), Failure> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    /// Runs a script in the page and returns its value.
    pub(super) fn run(&self, script: &str, arguments: &[Value]) -> Result<Value, Failure> {
        self.post("/execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Runs a script that calls its last argument, a function, with its value.
    pub(super) fn run_until_done(&self, script: &str, arguments: &[Value]) -> Result<Value, Failure> {
        self.post("/execute/async", &json!({ "script": script, "args": arguments }))
    }

    /// Runs a script with an element as its argument.
    pub(super) fn run_on(&self, script: &str, element: &ElementHandle) -> Result<Value, Failure> {
        self.run(script, &[element.to_value()])
    }

    /// Returns a picture of the visible part of the page, a PNG file in base64.
    pub(super) fn screenshot(&self) -> Result<String, Failure> {
        let path = format!("{}/screenshot", self.session);
        match self.ask(|limit| self.http.get(&path, limit, MAX_ANSWER_BYTES))? {
            Value::String(picture) => Ok(picture),
            other => Err(invalid("a picture", &other)),
        }
    }

    /// Moves the pointer, and then does more.
    pub(super) fn point(&self, target: Target<'_>, then: Pointer) -> Result<(), Failure> {
        let (x, y, origin) = match target {
            Target::Place(x, y) => (x, y, json!("viewport")),
            Target::Element(element) => (0, 0, element.to_value()),
        };
        let (down, up) =
            (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let mut actions =
            vec![json!({ "type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": origin })];
        match then {
            Pointer::Move => {}
            Pointer::Click => actions.extend([down, up]),
            Pointer::DoubleClick => actions.extend([down.clone(), up.clone(), down, up]),
            Pointer::Press => actions.push(down),
            Pointer::Release => actions.push(up),
        }
        let source = json!({ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions });
        self.act(&source)
    }

    /// Turns the wheel, with the pointer at a place in the page.
    pub(super) fn scroll(&self, x: i64, y: i64, pixels: i64) -> Result<(), Failure> {
        const MILLIS: u64 = 150;
        let scroll = json!({
            "type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": pixels, "duration": MILLIS, "origin": "viewport",
        });
        self.act(&json!({ "type": "wheel", "id": "wheel", "actions": [scroll] }))
    }

    /// Types a text, key by key, into the focused element.
    pub(super) fn type_text(&self, text: &str) -> Result<(), Failure> {
        self.press_all(text.chars().flat_map(|key| [("keyDown", key), ("keyUp", key)]))
    }

    pub(super) fn press(&self, stroke: &KeyStroke) -> Result<(), Failure> {
        let modifiers = || stroke.modifiers.iter().copied();
        let down = modifiers().map(|key| ("keyDown", key));
        let up = modifiers().rev().map(|key| ("keyUp", key));
        self.press_all(down.chain([("keyDown", stroke.key), ("keyUp", stroke.key)]).chain(up))
    }

    fn press_all(&self, keys: impl Iterator<Item = (&'static str, char)>) -> Result<(), Failure> {
        let actions: Vec<Value> = keys.map(|(what, key)| json!({ "type": what, "value": key })).collect();
        if actions.is_empty() {
            return Ok(());
        }
        self.act(&json!({ "type": "key", "id": "key", "actions": actions }))
    }

    fn act(&self, source: &Value) -> Result<(), Failure> {
        self.post("/actions", &json!({ "actions": [source] })).map(drop)
    }

    /// Releases all keys and buttons.
    pub(super) fn release_all(&self) -> Result<(), Failure> {
        let path = format!("{}/actions", self.session);
        self.ask(|limit| self.http.delete(&path, limit, MAX_ANSWER_BYTES)).map(drop)
    }

    /// Returns the elements of an XPath, in the order of the page.
    pub(super) fn find(&self, xpath: &str) -> Result<Vec<ElementHandle>, Failure> {
        let found = self.post("/elements", &json!({ "using": "xpath", "value": xpath }))?;
        let elements = found.as_array().map(|found| found.iter().map(ElementHandle::from_value).collect());
        elements.flatten().ok_or_else(|| invalid("a list of elements", &found))
    }

    pub(super) fn click(&self, element: &ElementHandle) -> Result<(), Failure> {
        self.post(&format!("/element/{}/click", element.0), &json!({})).map(drop)
    }

    /// Types a text into an element.
    pub(super) fn send_keys(&self, element: &ElementHandle, text: &str) -> Result<(), Failure> {
        self.post(&format!("/element/{}/value", element.0), &json!({ "text": text })).map(drop)
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        let path = format!("{}{path}", self.session);
        self.ask(|limit| self.http.post(&path, body, limit, MAX_ANSWER_BYTES))
    }

    /// Sends a request with the time that is left, and reads the answer.
    fn ask(&self, send: impl FnOnce(Duration) -> Result<HttpAnswer, HttpFailure>) -> Result<Value, Failure> {
        let limit = self.deadline.saturating_duration_since(Instant::now()).min(REQUEST_LIMIT);
        if limit.is_zero() {
            return Err(Failure::TimedOut(REQUEST_LIMIT));
        }
        let HttpAnswer { is_success, text } = send(limit).map_err(|failure| match failure {
            HttpFailure::TimedOut => Failure::TimedOut(limit),
            HttpFailure::Unreadable(why) => Failure::Invalid(format!("an answer of its driver {why}")),
            HttpFailure::Lost(why) => Failure::Unreachable(why),
        })?;
        let value = serde_json::from_str::<Map<String, Value>>(&text)
            .ok()
            .and_then(|mut fields| fields.remove("value"));
        let Some(value) = value else {
            return Err(Failure::Invalid(format!(
                "an answer of its driver has no `value`: {}",
                crate::text::prefix(&text, EXCERPT_BYTES)
            )));
        };
        if is_success { Ok(value) } else { Err(rejection(&value)) }
    }
}

/// Reads WebDriver's description of an error.
fn rejection(value: &Value) -> Failure {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (code, message) = (text("error"), text("message"));
    let first_line = message.lines().next().unwrap_or_default().trim();
    // Some messages begin with the code.
    let first_line =
        first_line.strip_prefix(code).map_or(first_line, |rest| rest.trim_start_matches([':', ' ']));
    let message = crate::text::prefix(first_line, EXCERPT_BYTES).to_owned();
    let is_lost = ["invalid session id", "no such window"].contains(&code);
    match code {
        "script timeout" | "timeout" => Failure::TimedOut(DRIVER_LIMIT),
        _ if is_lost || LOSS_WORDS.iter().any(|word| message.contains(word)) => {
            Failure::Lost(format!("the browser is gone: {message}"))
        }
        "" => invalid("an error without a code", value),
        code => Failure::Rejected { code: code.to_owned(), message },
    }
}

fn invalid(expected: &str, value: &Value) -> Failure {
    let text = value.to_string();
    Failure::Invalid(format!("expected {expected}, not {}", crate::text::prefix(&text, EXCERPT_BYTES)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_is_told_from_what_is_rejected() {
        let error = |code: &str, message: &str| rejection(&json!({ "error": code, "message": message }));
        let lost = [
            ("invalid session id", "invalid session id"),
            ("no such window", "target window already closed"),
            ("unknown error", "session deleted as the browser has closed the connection\nfrom disconnected"),
            ("unknown error", "tab crashed\n  (Session info: chrome=1)"),
        ];
        for (code, message) in lost {
            assert!(matches!(error(code, message), Failure::Lost(_)), "{code}: {message}");
        }
        assert!(matches!(error("script timeout", "x"), Failure::TimedOut(_)));
        let Failure::Rejected { code, message } = error("javascript error", " a\nb") else { panic!() };
        assert_eq!((code.as_str(), message.as_str()), ("javascript error", "a"));
        assert!(matches!(rejection(&json!(3)), Failure::Invalid(_)));
    }
}
