//! The server checks of `doctor`: reachability, models, one token, streaming, stop sequences, seed, and a reply to a
//! request like those of a run.

use super::call::{Call, REASONING_MAX_TOKENS};
use super::call_timer::CallTimer;
use super::endpoint::Endpoint;
use super::finish::Finish;
use super::learned_quirks::{LearnedQuirks, QuirkStore, TokenLimit};
use super::rejected_param::RequestChange;
use super::reply_reader::Completion;
use super::server_data::RedactedText;
use super::{Api, OpenAi, request};
use crate::domain::{MessageRole, ModelRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
use crate::provider::{Delta, FailureKind, ProviderError, Request, SamplingOverrides};
use crate::text;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Good,
    /// Works with a limitation that a person should know.
    Warning,
    /// Does not work.
    Bad,
}

/// A result of checking a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked.
    pub topic: &'static str,
    pub verdict: Verdict,
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

fn new_finding(
    topic: &'static str,
    verdict: Verdict,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Finding {
    Finding { topic, verdict, message: message.into(), hint: hint.into() }
}

fn failure_finding(topic: &'static str, error: &ProviderError) -> Finding {
    // `doctor` does not need to recommend itself.
    let hint: Vec<&str> =
        error.hint.split("; ").filter(|part| !part.contains("`retrospect doctor`")).collect();
    new_finding(topic, Verdict::Bad, error.message.clone(), hint.join("; "))
}

/// Checks a server for a role. Checks that depend on a failed one are skipped. `user_fields` are the sampling
/// parameters that a run would send instead of the profile's.
pub async fn check_server(
    openai: &OpenAi,
    role: ModelRole,
    user_fields: &Map<String, Value>,
) -> Vec<Finding> {
    let redact = |text: &str| openai.redactor.redact(text);
    let redact = |f: Finding| Finding { message: redact(&f.message), hint: redact(&f.hint), ..f };
    run_checks(openai, role, user_fields).await.into_iter().map(redact).collect()
}

async fn run_checks(openai: &OpenAi, role: ModelRole, user_fields: &Map<String, Value>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut openai = openai.clone();
    match fetch_models_within(LIST_TIMEOUT, &openai).await {
        Err(finding) => {
            let is_fatal = finding.verdict == Verdict::Bad;
            findings.push(finding);
            if is_fatal {
                return findings;
            }
        }
        Ok(models) => {
            if openai.endpoint.model.is_empty()
                && let Some(first) = models.first()
            {
                let endpoint = Endpoint { model: first.clone(), ..(*openai.endpoint).clone() };
                openai.endpoint = Arc::new(endpoint);
            }
            findings.push(check_model_is_listed(&openai.endpoint, &models));
        }
    }
    let first = ask_to_count(&openai, 1, 0.0, 1, Vec::new()).await;
    match &first {
        Err(error) => {
            findings.push(failure_finding("one token", error));
            return findings;
        }
        Ok(reply) => findings.push(report_first_token(&openai.endpoint, reply)),
    }
    let streamed = match ask_to_count(&openai, 24, 0.0, 1, Vec::new()).await {
        Ok(reply) => reply,
        Err(error) => {
            findings.push(failure_finding("streaming", &error));
            return findings;
        }
    };
    findings.push(report_streaming(&streamed));
    if let Some(stop) = choose_stop_sequence(&streamed.completion.text) {
        findings.push(match ask_to_count(&openai, 24, 0.0, 1, vec![stop.clone()]).await {
            Ok(reply) => report_stop(&stop, &streamed.completion.text, &reply.completion),
            Err(error) => failure_finding("stop", &error),
        });
    }
    findings.push(check_seed(&openai).await);
    findings.extend(check_run_request(&openai, role, user_fields).await);
    findings.extend(check_reasoning(&openai, role, &[first.ok(), Some(streamed)]));
    findings
}

/// Prefix of the message about a server that does not list its models.
const NO_MODEL_LIST: &str = "cannot list the models: ";

/// Returns the names of the server's models.
///
/// # Errors
/// Returns why the models cannot be listed, such as no reply within ten seconds.
pub async fn list_models(openai: &OpenAi) -> Result<Vec<String>, String> {
    let models = fetch_models_within(LIST_TIMEOUT, openai).await;
    models
        .map_err(|finding| finding.message.strip_prefix(NO_MODEL_LIST).unwrap_or(&finding.message).to_owned())
}

/// How long a server may take to list its models.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the server's models, or a finding if it does not list them in time.
async fn fetch_models_within(timeout: Duration, openai: &OpenAi) -> Result<Vec<String>, Finding> {
    if let Ok(models) = tokio::time::timeout(timeout, fetch_models(openai)).await {
        return models;
    }
    let host = openai.endpoint.host();
    let message = format!("{host} listed no models within {} s", timeout.as_secs());
    Err(new_finding("server", Verdict::Bad, message, "check the server's log"))
}

/// The reply to a request of the check.
struct CheckReply {
    completion: Arc<Completion>,
    piece_count: usize,
    notices: Vec<String>,
}

impl CheckReply {
    /// Returns the reasoning and the text together.
    fn all_text(&self) -> String {
        format!("{}{}", self.completion.reasoning, self.completion.text)
    }
}

async fn ask_to_count(
    openai: &OpenAi,
    tokens: u32,
    temperature: f64,
    seed: u64,
    stop: Vec<String>,
) -> Result<CheckReply, ProviderError> {
    let mut endpoint = (*openai.endpoint).clone();
    // The check sets the stop sequences itself, so the profile's must not apply.
    endpoint.sampling.stop = None;
    let question = "Count from one to twenty in words, separated by spaces.";
    let sampling = SamplingOverrides {
        temperature: Some(temperature),
        max_tokens: Some(tokens),
        ..SamplingOverrides::default()
    };
    let request = Request { seed, stop, sampling, ..build_request(ModelRole::Actor, question) };
    send_request(openai, Arc::new(endpoint), openai.quirks.clone(), request).await
}

fn build_request(role: ModelRole, text: &str) -> Request {
    let segment = Segment {
        label: SegmentLabel::Instruction,
        origin: SegmentOrigin::Task,
        message_role: MessageRole::User,
        text: Arc::from(text),
    };
    Request { role, prompt: Arc::new(Prompt { segments: vec![segment] }), ..Request::default() }
}

async fn send_request(
    openai: &OpenAi,
    endpoint: Arc<Endpoint>,
    quirks: Arc<QuirkStore>,
    request: Request,
) -> Result<CheckReply, ProviderError> {
    // Unbounded, because it is read after the call; the reply's length is limited.
    let (delta_sender, mut deltas) = unbounded_channel();
    let (http, redactor) = (openai.http.clone(), openai.redactor.clone());
    let timer = CallTimer::start();
    let call = Call { endpoint, quirks, http, redactor, request, delta_sender, timer };
    let completion = call.run().await?;
    let (mut piece_count, mut notices) = (0, Vec::new());
    while let Ok(delta) = deltas.try_recv() {
        match delta {
            Delta::Text(_) | Delta::Reasoning(_) => piece_count += 1,
            Delta::Notice(notice) => notices.push(notice),
            _ => {}
        }
    }
    Ok(CheckReply { completion, piece_count, notices })
}

/// Checks a request with the stop sequence and token limit of a run: whether there is a reply, and what had to be omitted
/// or raised to get one.
async fn check_run_request(
    openai: &OpenAi,
    role: ModelRole,
    user_fields: &Map<String, Value>,
) -> Vec<Finding> {
    let question = "A dirty mug is in the sink and a clean cup is in the cabinet. Your task: put a clean mug on the desk. \
                    What do you do first: take the mug, take the cup, or go to the desk? Answer with one of the three.";
    let stop = if role == ModelRole::Actor { vec!["\n".to_owned()] } else { Vec::new() };
    let sampling = SamplingOverrides { user_fields: user_fields.clone(), ..SamplingOverrides::default() };
    let request = Request { seed: 1, stop, sampling, ..build_request(role, question) };
    let wanted = request::wanted_max_tokens(&openai.endpoint, &request);
    // Rejected fields are still known; what only replies show is learned again.
    let known = openai.quirks.learned();
    let reset = LearnedQuirks {
        match_stops_locally: false,
        min_limit: None,
        raised_limits: BTreeMap::new(),
        ..known.clone()
    };
    let quirks = Arc::new(QuirkStore::from_learned(reset));
    let reply = match send_request(openai, openai.endpoint.clone(), quirks.clone(), request).await {
        Ok(reply) => reply,
        Err(error) => return vec![failure_finding("reply", &error)],
    };
    let (completion, learned, role_name) = (&reply.completion, quirks.learned(), role.name());
    let has_choice = role != ModelRole::Actor || names_one_action(&completion.text);
    let mut findings = Vec::new();
    if learned.match_stops_locally {
        findings.push(new_finding(
            "stop",
            Verdict::Warning,
            "the newline stop ends the model's reasoning before its reply begins: the reply was empty",
            // `--set actor.stop=off` is not recommended, because replies would then not be truncated locally either.
            "a run learns this from its first reply and then applies the stop itself; omit = [\"stop\"] in the server's profile \
             ([models.NAME]) skips the first attempt",
        ));
    }
    if completion.is_empty() {
        let message = match reply.notices.last() {
            Some(notice) => notice.clone(),
            None => {
                format!("the reply is empty (finish_reason {})", completion.finish_reason_text())
            }
        };
        let hint = match completion.server_finish() {
            Some(Finish::ToolCall | Finish::Filter) => {
                "choose another model, or change the server's settings".to_owned()
            }
            Some(Finish::Length) if learned.empty_without_limit => {
                format!("turn off the model's reasoning ({DISABLE_THINKING}), or choose another model")
            }
            Some(Finish::Length) => format!(
                "turn off the model's reasoning ({DISABLE_THINKING}), allow more tokens (--set {role_name}.max_tokens=N), or choose another model"
            ),
            _ => "check the model's chat template, or choose another model".to_owned(),
        };
        findings.push(new_finding("reply", Verdict::Bad, message, hint));
    } else if completion.refused {
        let message = format!("the model refused to answer: {}", text::truncate(&completion.text, 120, "…"));
        findings.push(new_finding(
            "reply",
            Verdict::Warning,
            message,
            "choose another model, or change the server's settings",
        ));
    } else if let Some(needed) = learned.min_limit {
        let (outcome, value) = match needed {
            TokenLimit::Tokens(n) => (format!("{n} was enough"), n.to_string()),
            TokenLimit::ServerDefault => ("it replied without a limit".to_owned(), "off".to_owned()),
        };
        findings.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("reasoning used up max_tokens {wanted} before the reply began; {outcome}"),
            format!(
                "a run learns this from its first reply; --set {role_name}.max_tokens={value} skips the first attempt"
            ),
        ));
    } else if has_any_reasoning(completion)
        && completion.max_tokens.is_some_and(|limit| limit < REASONING_MAX_TOKENS)
    {
        findings.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("the model reasons, and its reasoning counts toward max_tokens {wanted}: long reasoning leaves no room for a reply"),
            format!("a run then retries with {REASONING_MAX_TOKENS}; --set {role_name}.max_tokens={REASONING_MAX_TOKENS} skips the first attempt"),
        ));
    } else if completion.has_hit_limit() {
        findings.push(new_finding(
            "reply",
            Verdict::Warning,
            reply.notices.last().map_or("the reply was cut off", String::as_str),
            format!("turn off what makes its replies so long, or allow more tokens with --set {role_name}.max_tokens=N"),
        ));
    } else if has_choice {
        let limit =
            completion.max_tokens.map_or("no max_tokens".to_owned(), |limit| format!("max_tokens {limit}"));
        findings.push(new_finding(
            "reply",
            Verdict::Good,
            format!("the model replies to a request like those of a run ({limit})"),
            "",
        ));
    }
    if !has_choice && !completion.is_empty() && !completion.refused {
        let excerpt = completion.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let excerpt = text::truncate(&excerpt, 80, "…");
        findings.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("the model did not choose one of the three actions offered: {excerpt}"),
            "check the model's chat template on the server: with the wrong one, a model continues the prompt instead of \
             answering it",
        ));
    }
    // The check's earlier requests send no stop sequence, so a server that rejects it does so here.
    let rejected = learned
        .dropped_fields
        .difference(&known.dropped_fields)
        .map(|name| RequestChange::DropField(name.clone()));
    let rejected: Vec<String> = rejected.map(|change| change.describe(&openai.endpoint, "")).collect();
    if let Some(finding) = findings.last_mut().filter(|_| !rejected.is_empty()) {
        finding.message = format!("{}; {}", finding.message, rejected.join("; "));
    }
    findings
}

/// Returns whether the reply names exactly one of the offered actions, in one short line.
fn names_one_action(reply: &str) -> bool {
    const MAX_WORDS: usize = 12;
    let reply = reply.trim().to_lowercase();
    let named =
        ["take the mug", "take the cup", "go to the desk"].iter().filter(|action| reply.contains(**action));
    named.count() == 1 && reply.lines().count() == 1 && reply.split_whitespace().count() <= MAX_WORDS
}

/// Requests the server's models. Returns a finding if there is no usable list.
async fn fetch_models(openai: &OpenAi) -> Result<Vec<String>, Finding> {
    let endpoint = &*openai.endpoint;
    let redactor = &openai.redactor;
    let list = |base: String| async move {
        let response = openai.http.get(endpoint, &base, "models").await?;
        let status = response.status().as_u16();
        let body = tokio::time::timeout(endpoint.timeouts.idle, read_bounded(response)).await;
        Ok::<_, ProviderError>((status, redactor.redact_body(&body.unwrap_or_default())))
    };
    let (status, body) = list(endpoint.base_url.clone()).await.map_err(|e| failure_finding("server", &e))?;
    if status == 200
        && let Some(models) = parse_model_names(&body)
    {
        return Ok(models);
    }
    let v1_url = format!("{}/v1", endpoint.base_url);
    if !endpoint.base_url.ends_with("/v1")
        && let Ok((200, body)) = list(v1_url.clone()).await
        && parse_model_names(&body).is_some()
    {
        return Err(new_finding(
            "server",
            Verdict::Bad,
            format!("{} lists no models, but {v1_url} does", endpoint.display_url()),
            format!("add /v1 to the base URL: {v1_url}"),
        ));
    }
    let error = super::error::http_status_error(endpoint, status, &body, 0);
    if matches!(error.kind, FailureKind::Credentials | FailureKind::Forbidden) {
        return Err(failure_finding("server", &error));
    }
    Err(new_finding("server", Verdict::Warning, format!("{NO_MODEL_LIST}{}", error.message), ""))
}

/// Reads a body. Returns an empty one if it is far too long for a list of models.
async fn read_bounded(mut response: reqwest::Response) -> Vec<u8> {
    const MAX_BYTES: usize = 16 << 20;
    let mut body = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        if body.len() + piece.len() > MAX_BYTES {
            return Vec::new();
        }
        body.extend_from_slice(&piece);
    }
    body
}

fn parse_model_names(body: &RedactedText) -> Option<Vec<String>> {
    /// In characters.
    const MAX_NAME_LEN: usize = 200;
    let value: Value = serde_json::from_str(body).ok()?;
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value).as_array()?;
    let name = |m: &Value| ["id", "name"].iter().find_map(|k| m.get(k)?.as_str().map(str::to_owned));
    let shown = |name: String| crate::text::truncate(&crate::text::one_line(&name), MAX_NAME_LEN, "...");
    Some(list.iter().filter_map(name).map(shown).collect())
}

fn check_model_is_listed(endpoint: &Endpoint, models: &[String]) -> Finding {
    let names = models.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    let more = models.len().saturating_sub(8);
    let names = if more > 0 { format!("{names} and {more} more") } else { names };
    // Gemini lists `models/NAME` and accepts both forms.
    if models.iter().any(|m| *m == endpoint.model || m.strip_prefix("models/") == Some(&endpoint.model)) {
        new_finding(
            "server",
            Verdict::Good,
            format!("{} is running and has {}", endpoint.host(), endpoint.model),
            "",
        )
    } else {
        new_finding(
            "server",
            Verdict::Warning,
            format!(
                "{} is running, but does not list {:?} among its models: {names}",
                endpoint.host(),
                endpoint.model
            ),
            "some servers accept any name; otherwise choose a listed one with openai:MODEL",
        )
    }
}

fn report_first_token(endpoint: &Endpoint, reply: &CheckReply) -> Finding {
    let counts = match &reply.completion.token_counts {
        Some(c) => format!("the server counted {} prompt tokens and {} reply tokens", c.prompt, c.reply),
        None => "the server reports no token counts; they are estimated".to_owned(),
    };
    let api = if endpoint.api == Api::Chat { "chat completions" } else { "completions" };
    let mut message = format!("{api} work; {counts}");
    for notice in &reply.notices {
        message.push_str("; ");
        message.push_str(notice);
    }
    new_finding("one token", Verdict::Good, message, "")
}

fn report_streaming(reply: &CheckReply) -> Finding {
    if reply.piece_count > 1 {
        new_finding(
            "streaming",
            Verdict::Good,
            format!("a reply arrived in {} pieces", reply.piece_count),
            "",
        )
    } else if reply.all_text().is_empty() {
        new_finding(
            "streaming",
            Verdict::Warning,
            "no text arrived within 24 tokens, so it is unknown whether replies are streamed",
            "",
        )
    } else {
        new_finding(
            "streaming",
            Verdict::Warning,
            format!("a reply of up to 24 tokens arrived in {} piece(s)", reply.piece_count),
            "this works, but a thought or an action is shown only once it is complete",
        )
    }
}

/// Chooses a character from the middle of a reply as stop sequence.
fn choose_stop_sequence(text: &str) -> Option<String> {
    let chars: Vec<char> = text.chars().collect();
    let middle = chars.len() / 2;
    chars.iter().skip(middle).find(|c| c.is_alphanumeric()).map(ToString::to_string)
}

/// Reports whether the server applied a stop sequence. `unstopped` is the reply to the same request without the stop sequence;
/// if the two differ before it, the test is inconclusive.
fn report_stop(stop: &str, unstopped: &str, completion: &Completion) -> Finding {
    let expected = unstopped.split(stop).next().unwrap_or_default();
    if completion.stopped_locally {
        new_finding(
            "stop",
            Verdict::Warning,
            format!(
                "the server did not end the reply at the stop sequence {stop:?}, so it was truncated locally"
            ),
            "tokens after the stop sequence cost money until the connection is closed",
        )
    } else if completion.text.trim_end() != expected.trim_end() {
        new_finding(
            "stop",
            Verdict::Warning,
            format!(
                "the same prompt got a different reply without the stop sequence {stop:?}, so it is unknown whether the server \
                 applies stop sequences"
            ),
            "if it does not, replies are truncated locally instead",
        )
    } else {
        new_finding(
            "stop",
            Verdict::Good,
            format!("the server ends a reply at a stop sequence ({stop:?})"),
            "",
        )
    }
}

async fn check_seed(openai: &OpenAi) -> Finding {
    let mut texts = Vec::new();
    for seed in [11, 11, 12, 13] {
        match ask_to_count(openai, 24, 1.0, seed, Vec::new()).await {
            Ok(reply) => texts.push(reply.all_text()),
            Err(error) => return failure_finding("seed", &error),
        }
    }
    if texts.iter().all(String::is_empty) {
        return new_finding(
            "seed",
            Verdict::Warning,
            "no text arrived within 24 tokens, so it is unknown whether the server uses `seed`",
            "",
        );
    }
    let (is_repeatable, varies) = (texts[0] == texts[1], texts[2..].iter().any(|t| *t != texts[0]));
    match (is_repeatable, varies) {
        (true, true) => new_finding(
            "seed",
            Verdict::Good,
            "at temperature 1 the same seed gives the same reply, and another seed a different one",
            "",
        ),
        (true, false) => new_finding(
            "seed",
            Verdict::Warning,
            "three seeds at temperature 1 gave the same reply: sampling seems to have no effect",
            "check whether a setting of the server fixes the sampling",
        ),
        (false, _) => new_finding(
            "seed",
            Verdict::Warning,
            "the same seed gave two replies at temperature 1: the server ignores `seed`",
            "runs with a temperature above 0 are repeatable only from the reply cache",
        ),
    }
}

/// Returns whether the model reasoned, as shown by its text or its token counts.
fn has_any_reasoning(completion: &Completion) -> bool {
    completion.has_reasoning() || completion.token_counts.is_some_and(|counts| counts.reasoning > 0)
}

/// The setting that turns off reasoning on servers whose chat template supports it.
const DISABLE_THINKING: &str =
    "extra = { chat_template_kwargs = { enable_thinking = false } } in its profile";

fn check_reasoning(openai: &OpenAi, role: ModelRole, replies: &[Option<CheckReply>]) -> Option<Finding> {
    let (endpoint, dropped) = (&openai.endpoint, openai.quirks.learned().dropped_fields);
    let reasons = replies.iter().flatten().any(|reply| has_any_reasoning(&reply.completion));
    let is_sent = !endpoint.omit.contains("temperature") && !dropped.contains("temperature");
    let at_zero = endpoint.sampling.temperature == Some(0.0) && is_sent;
    (reasons && at_zero).then(|| {
        new_finding(
            "reasoning",
            Verdict::Warning,
            "the model reasons at temperature 0, which vendors of such models advise against (endless repetition) or ignore",
            format!("raise it with --set {}.temperature=0.6, or turn off reasoning ({DISABLE_THINKING})", role.name()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::redactor::Redactor;

    /// Regression: a name of 3 MB was printed in full.
    #[test]
    fn long_model_name_is_truncated() {
        let list = serde_json::json!({"data": [{"id": "m".repeat(3 << 20)}, {"id": "qwen3:4b"}]}).to_string();
        let names = parse_model_names(&Redactor::default().redact_body(list.as_bytes())).unwrap();
        assert_eq!((names[0].len(), &*names[1]), (200, "qwen3:4b"));
    }

    /// Regression: `doctor` printed nothing for a minute.
    #[tokio::test]
    async fn listing_models_times_out() {
        // The kernel completes the connection from the listener's queue; nothing accepts it or replies.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let openai = OpenAi::new(Endpoint::new(&base_url, "m"));
        let began = std::time::Instant::now();
        let finding = fetch_models_within(Duration::from_secs(1), &openai).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(finding.message.contains("listed no models within 1 s"), "{finding:?}");
    }
}
