//! What `doctor` asks of a server: is it there, which models, one token, streaming, stop, seed, and a reply as a run asks for it.

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

/// How something came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It works.
    Good,
    /// It works, but a person should know this.
    Warning,
    /// It does not work.
    Bad,
}

/// Something that was found out about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub topic: &'static str,
    /// How it came out.
    pub verdict: Verdict,
    /// In words.
    pub message: String,
    /// What to do next; empty where there is nothing to do.
    pub hint: String,
}

fn new_finding(
    about: &'static str,
    verdict: Verdict,
    what: impl Into<String>,
    next: impl Into<String>,
) -> Finding {
    Finding { topic: about, verdict, message: what.into(), hint: next.into() }
}

fn failure_finding(about: &'static str, error: &ProviderError) -> Finding {
    // `doctor` need not point at itself.
    let next: Vec<&str> =
        error.hint.split("; ").filter(|part| !part.contains("`retrospect doctor`")).collect();
    new_finding(about, Verdict::Bad, error.message.clone(), next.join("; "))
}

/// Looks at a server as it is used in a role; what depends on something that does not work is not asked. `chosen` are the
/// sampling parameters that a run would send in place of the profile's.
pub async fn check_server(openai: &OpenAi, asked: ModelRole, chosen: &Map<String, Value>) -> Vec<Finding> {
    let clean = |text: &str| openai.redactor.redact(text);
    let clean = |f: Finding| Finding { message: clean(&f.message), hint: clean(&f.hint), ..f };
    run_checks(openai, asked, chosen).await.into_iter().map(clean).collect()
}

async fn run_checks(openai: &OpenAi, asked: ModelRole, chosen: &Map<String, Value>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut openai = openai.clone();
    match models_in_time(&openai).await {
        Err(finding) => {
            let over = finding.verdict == Verdict::Bad;
            found.push(finding);
            if over {
                return found;
            }
        }
        Ok(models) => {
            if openai.endpoint.model.is_empty()
                && let Some(first) = models.first()
            {
                let endpoint = Endpoint { model: first.clone(), ..(*openai.endpoint).clone() };
                openai.endpoint = Arc::new(endpoint);
            }
            found.push(check_model_is_listed(&openai.endpoint, &models));
        }
    }
    let one = ask_to_count(&openai, 1, 0.0, 1, Vec::new()).await;
    match &one {
        Err(error) => {
            found.push(failure_finding("one token", error));
            return found;
        }
        Ok(asked) => found.push(report_first_token(&openai.endpoint, asked)),
    }
    let several = match ask_to_count(&openai, 24, 0.0, 1, Vec::new()).await {
        Ok(several) => several,
        Err(error) => {
            found.push(failure_finding("streaming", &error));
            return found;
        }
    };
    found.push(report_streaming(&several));
    if let Some(stop) = choose_stop_text(&several.completion.text) {
        found.push(match ask_to_count(&openai, 24, 0.0, 1, vec![stop.clone()]).await {
            Ok(asked) => report_stop(&stop, &several.completion.text, &asked.completion),
            Err(error) => failure_finding("stop", &error),
        });
    }
    found.push(check_seed(&openai).await);
    found.extend(check_run_request(&openai, asked, chosen).await);
    found.extend(check_reasoning(&openai, asked, &[one.ok(), Some(several)]));
    found
}

/// What the check says of a server without a list.
const NO_MODEL_LIST: &str = "it lists no models: ";

/// The names of the server's models. The server gets ten seconds.
///
/// # Errors
/// Why they cannot be had.
pub async fn list_models(openai: &OpenAi) -> Result<Vec<String>, String> {
    let named = models_in_time(openai).await;
    named
        .map_err(|finding| finding.message.strip_prefix(NO_MODEL_LIST).unwrap_or(&finding.message).to_owned())
}

/// The server's models, if it lists them in time.
async fn models_in_time(openai: &OpenAi) -> Result<Vec<String>, Finding> {
    const LIST_TIMEOUT: Duration = Duration::from_secs(10);
    if let Ok(named) = tokio::time::timeout(LIST_TIMEOUT, fetch_models(openai)).await {
        return named;
    }
    let what = format!("{} listed no models within {} s", openai.endpoint.host(), LIST_TIMEOUT.as_secs());
    Err(new_finding("server", Verdict::Bad, what, "look at the server's own log"))
}

/// A question of the check and its answer.
struct CheckReply {
    completion: Arc<Completion>,
    piece_count: usize,
    notices: Vec<String>,
}

impl CheckReply {
    /// All words that came, thought or said.
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
    // The check asks for what it looks at, whatever the profile says.
    endpoint.sampling.stop = None;
    let words = "Count from one to twenty in words, with a blank between them.";
    let wish = SamplingOverrides {
        temperature: Some(temperature),
        max_tokens: Some(tokens),
        ..SamplingOverrides::default()
    };
    let request = Request { seed, stop, sampling: wish, ..build_request(ModelRole::Actor, words) };
    send_request(openai, Arc::new(endpoint), openai.quirks.clone(), request).await
}

fn build_request(asked: ModelRole, words: &str) -> Request {
    let words = Segment {
        label: SegmentLabel::Instruction,
        origin: SegmentOrigin::Task,
        message_role: MessageRole::User,
        text: Arc::from(words),
    };
    Request { role: asked, prompt: Arc::new(Prompt { segments: vec![words] }), ..Request::default() }
}

async fn send_request(
    openai: &OpenAi,
    endpoint: Arc<Endpoint>,
    memory: Arc<QuirkStore>,
    request: Request,
) -> Result<CheckReply, ProviderError> {
    let (tell, mut told) = unbounded_channel();
    let (http, redactor) = (openai.http.clone(), openai.redactor.clone());
    let timer = CallTimer::start();
    let call = Call { endpoint, quirks: memory, http, redactor, request, delta_sender: tell, timer };
    let whole = call.run().await?;
    let (mut pieces, mut notices) = (0, Vec::new());
    while let Ok(delta) = told.try_recv() {
        match delta {
            Delta::Text(_) | Delta::Reasoning(_) => pieces += 1,
            Delta::Notice(words) => notices.push(words),
            _ => {}
        }
    }
    Ok(CheckReply { completion: whole, piece_count: pieces, notices })
}

/// A question with the stop text and the bound that a run sends: whether a reply comes, and what has to be left away or raised
/// until one does.
async fn check_run_request(openai: &OpenAi, asked: ModelRole, chosen: &Map<String, Value>) -> Vec<Finding> {
    let words = "A dirty mug is in the sink, and a clean cup in the cabinet. A clean mug is to be put on the desk. What comes \
                 first: take the mug, take the cup, or go to the desk? Answer with one of the three.";
    let stop = if asked == ModelRole::Actor { vec!["\n".to_owned()] } else { Vec::new() };
    let wish = SamplingOverrides { user_fields: chosen.clone(), ..SamplingOverrides::default() };
    let request = Request { seed: 1, stop, sampling: wish, ..build_request(asked, words) };
    let wanted = request::wanted_max_tokens(&openai.endpoint, &request);
    // What the server refuses is known; what its replies show is looked for.
    let known = openai.quirks.learned();
    let looks = LearnedQuirks {
        match_stops_locally: false,
        min_limit: None,
        raised_limits: BTreeMap::new(),
        ..known.clone()
    };
    let memory = Arc::new(QuirkStore::from_learned(looks));
    let seen = match send_request(openai, openai.endpoint.clone(), memory.clone(), request).await {
        Ok(seen) => seen,
        Err(error) => return vec![failure_finding("reply", &error)],
    };
    let (whole, learnt, role) = (&seen.completion, memory.learned(), asked.name());
    let chooses = asked != ModelRole::Actor || chooses(&whole.text);
    let mut found = Vec::new();
    if learnt.match_stops_locally {
        found.push(new_finding(
            "stop",
            Verdict::Warning,
            "a stop at a newline ends the model's reasoning before its reply begins: the reply was empty",
            // `--set actor.stop=off` would take the cut here away too.
            "a run finds this out with its first reply, and then cuts replies here; omit = [\"stop\"] in the server's profile \
             ([models.NAME]) skips the first try",
        ));
    }
    if whole.is_empty() {
        let what = match seen.notices.last() {
            Some(words) => words.clone(),
            None => {
                format!("the reply is empty (finish_reason {})", whole.reason())
            }
        };
        let next = match whole.ending() {
            Some(Finish::ToolCall | Finish::Filter) => {
                "choose another model, or change the server's settings".to_owned()
            }
            Some(Finish::Length) if learnt.empty_unbounded => {
                format!("switch the model's reasoning off ({DISABLE_THINKING}), or choose another model")
            }
            Some(Finish::Length) => format!(
                "switch the model's reasoning off ({DISABLE_THINKING}), set {role}.max_tokens=N (--set), or choose another model"
            ),
            _ => "check the model's chat template, or choose another model".to_owned(),
        };
        found.push(new_finding("reply", Verdict::Bad, what, next));
    } else if whole.refused {
        let what = format!("the model refused to answer: {}", text::truncate(&whole.text, 120, "…"));
        found.push(new_finding(
            "reply",
            Verdict::Warning,
            what,
            "choose another model, or change the server's settings",
        ));
    } else if let Some(room) = learnt.min_limit {
        let (what, set) = match room {
            TokenLimit::Tokens(n) => (format!("with {n} it did"), n.to_string()),
            TokenLimit::ServerDefault => ("without a bound it did".to_owned(), "off".to_owned()),
        };
        found.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("the model did not get from its reasoning to a reply within max_tokens {wanted}; {what}"),
            format!(
                "a run finds this out with its first reply; --set {role}.max_tokens={set} skips the first try"
            ),
        ));
    } else if has_any_reasoning(whole) && whole.max_tokens.is_some_and(|bound| bound < REASONING_MAX_TOKENS) {
        found.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("the model reasons, and its reasoning counts towards max_tokens {wanted}: longer reasoning leaves no reply"),
            format!("a run asks again with {REASONING_MAX_TOKENS} then; --set {role}.max_tokens={REASONING_MAX_TOKENS} skips the first try"),
        ));
    } else if whole.has_hit_limit() {
        found.push(new_finding(
            "reply",
            Verdict::Warning,
            seen.notices.last().map_or("the reply was cut off", String::as_str),
            format!("switch off what makes its replies that long, or --set {role}.max_tokens=N"),
        ));
    } else if chooses {
        let bound =
            whole.max_tokens.map_or("no max_tokens".to_owned(), |bound| format!("max_tokens {bound}"));
        found.push(new_finding(
            "reply",
            Verdict::Good,
            format!("a reply came to what a run sends ({bound})"),
            "",
        ));
    }
    if !chooses && !whole.is_empty() && !whole.refused {
        let words = whole.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = text::truncate(&words, 80, "…");
        found.push(new_finding(
            "reply",
            Verdict::Warning,
            format!("the reply is not one of the three actions it was asked to choose from: {words}"),
            "check the model's chat template on the server: with a wrong one a model goes on with the prompt in place of \
             answering it",
        ));
    }
    // The questions before this one send no stop text, so that a refusal of it comes here.
    let refused = learnt
        .dropped_fields
        .difference(&known.dropped_fields)
        .map(|name| RequestChange::DropField(name.clone()));
    let refused: Vec<String> = refused.map(|change| change.describe(&openai.endpoint, "")).collect();
    if let Some(reply) = found.last_mut().filter(|_| !refused.is_empty()) {
        reply.message = format!("{}; {}", reply.message, refused.join("; "));
    }
    found
}

/// The reply is one of the actions that the question names, in one line and with few words around it.
fn chooses(reply: &str) -> bool {
    const WORDS: usize = 12;
    let small = reply.trim().to_lowercase();
    let named =
        ["take the mug", "take the cup", "go to the desk"].iter().filter(|action| small.contains(**action));
    named.count() == 1 && small.lines().count() == 1 && small.split_whitespace().count() <= WORDS
}

/// The server's models; else what became of the question.
async fn fetch_models(openai: &OpenAi) -> Result<Vec<String>, Finding> {
    let endpoint = &*openai.endpoint;
    let redactor = &openai.redactor;
    let listed = |base: String| async move {
        let answer = openai.http.get(endpoint, &base, "models").await?;
        let status = answer.status().as_u16();
        let body = tokio::time::timeout(endpoint.timeouts.idle, bounded(answer)).await;
        Ok::<_, ProviderError>((status, redactor.redact_body(&body.unwrap_or_default())))
    };
    let (status, body) =
        listed(endpoint.base_url.clone()).await.map_err(|e| failure_finding("server", &e))?;
    if status == 200
        && let Some(models) = parse_model_names(&body)
    {
        return Ok(models);
    }
    let elsewhere = format!("{}/v1", endpoint.base_url);
    if !endpoint.base_url.ends_with("/v1")
        && let Ok((200, body)) = listed(elsewhere.clone()).await
        && parse_model_names(&body).is_some()
    {
        return Err(new_finding(
            "server",
            Verdict::Bad,
            format!("{} has no models, {elsewhere} has", endpoint.display_url()),
            format!("add /v1 to the base URL: {elsewhere}"),
        ));
    }
    let error = super::error::http_status_error(endpoint, status, &body, 0);
    if matches!(error.kind, FailureKind::Credentials | FailureKind::Forbidden) {
        return Err(failure_finding("server", &error));
    }
    Err(new_finding("server", Verdict::Warning, format!("{NO_MODEL_LIST}{}", error.message), ""))
}

/// A body; of one that is far too long for a list of models, nothing.
async fn bounded(mut answer: reqwest::Response) -> Vec<u8> {
    const LARGEST: usize = 16 << 20;
    let mut body = Vec::new();
    while let Ok(Some(piece)) = answer.chunk().await {
        if body.len() + piece.len() > LARGEST {
            return Vec::new();
        }
        body.extend_from_slice(&piece);
    }
    body
}

fn parse_model_names(body: &RedactedText) -> Option<Vec<String>> {
    /// Nobody could type a longer name.
    const LONGEST: usize = 200;
    let value: Value = serde_json::from_str(body).ok()?;
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value).as_array()?;
    let name = |m: &Value| ["id", "name"].iter().find_map(|k| m.get(k)?.as_str().map(str::to_owned));
    let shown = |name: String| crate::text::truncate(&crate::text::one_line(&name), LONGEST, "...");
    Some(list.iter().filter_map(name).map(shown).collect())
}

fn check_model_is_listed(endpoint: &Endpoint, models: &[String]) -> Finding {
    let some = models.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
    let more = models.len().saturating_sub(8);
    let some = if more > 0 { format!("{some} and {more} more") } else { some };
    // Gemini lists `models/NAME` and takes either.
    if models.iter().any(|m| *m == endpoint.model || m.strip_prefix("models/") == Some(&endpoint.model)) {
        new_finding(
            "server",
            Verdict::Good,
            format!("{} is there and has {}", endpoint.host(), endpoint.model),
            "",
        )
    } else {
        new_finding(
            "server",
            Verdict::Warning,
            format!(
                "{} is there; it does not list {:?} among its models: {some}",
                endpoint.host(),
                endpoint.model
            ),
            "some servers take any name; choose one of those with openai:MODEL",
        )
    }
}

fn report_first_token(endpoint: &Endpoint, seen: &CheckReply) -> Finding {
    let counted = match &seen.completion.token_counts {
        Some(c) => format!("it counted {} tokens of the prompt and {} of the answer", c.prompt, c.reply),
        None => "it counted no tokens; they are estimated".to_owned(),
    };
    let api = if endpoint.api == Api::Chat { "chat completions" } else { "completions" };
    let mut what = format!("{api} answer; {counted}");
    for notice in &seen.notices {
        what.push_str("; ");
        what.push_str(notice);
    }
    new_finding("one token", Verdict::Good, what, "")
}

fn report_streaming(seen: &CheckReply) -> Finding {
    if seen.piece_count > 1 {
        new_finding("streaming", Verdict::Good, format!("an answer came in {} pieces", seen.piece_count), "")
    } else if seen.all_text().is_empty() {
        new_finding(
            "streaming",
            Verdict::Warning,
            "no word came within 24 tokens, so whether replies are streamed is not known",
            "",
        )
    } else {
        new_finding(
            "streaming",
            Verdict::Warning,
            format!("an answer of up to 24 tokens came in {} piece(s)", seen.piece_count),
            "it works, but thoughts and actions do not appear while they are written",
        )
    }
}

/// A piece from the middle of an answer to stop at.
fn choose_stop_text(text: &str) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    let middle = letters.len() / 2;
    letters.iter().skip(middle).find(|c| c.is_alphanumeric()).map(ToString::to_string)
}

/// The answer without the stop text is known: another answer that only happens not to hold it shows nothing.
fn report_stop(stop: &str, without: &str, whole: &Completion) -> Finding {
    let before = without.split(stop).next().unwrap_or_default();
    if whole.stopped_locally {
        new_finding(
            "stop",
            Verdict::Warning,
            format!("it wrote on after the stop text {stop:?}; the answer is cut here instead"),
            "tokens after the stop text are paid for until the connection is closed",
        )
    } else if whole.text.trim_end() != before.trim_end() {
        new_finding(
            "stop",
            Verdict::Warning,
            format!(
                "the same question had another answer, without the stop text {stop:?}: whether it stops there is not shown"
            ),
            "wherever it does not, the answer is cut here instead",
        )
    } else {
        new_finding("stop", Verdict::Good, format!("it stops at a stop text ({stop:?})"), "")
    }
}

async fn check_seed(openai: &OpenAi) -> Finding {
    let mut texts = Vec::new();
    for seed in [11, 11, 12, 13] {
        match ask_to_count(openai, 24, 1.0, seed, Vec::new()).await {
            Ok(seen) => texts.push(seen.all_text()),
            Err(error) => return failure_finding("seed", &error),
        }
    }
    if texts.iter().all(String::is_empty) {
        return new_finding(
            "seed",
            Verdict::Warning,
            "no word came within 24 tokens, so whether the seed is heeded is not known",
            "",
        );
    }
    let (same, other) = (texts[0] == texts[1], texts[2..].iter().any(|t| *t != texts[0]));
    match (same, other) {
        (true, true) => new_finding(
            "seed",
            Verdict::Good,
            "the same seed gives the same answer at temperature 1, another one another",
            "",
        ),
        (true, false) => new_finding(
            "seed",
            Verdict::Warning,
            "temperature 1 and three seeds gave one answer: sampling seems to be without effect",
            "look for a setting of the server that fixes it",
        ),
        (false, _) => new_finding(
            "seed",
            Verdict::Warning,
            "the same seed gave two answers at temperature 1: it is not heeded",
            "runs with a temperature above 0 cannot be repeated; the cache repeats what was recorded",
        ),
    }
}

/// The model reasons, seen or only counted.
fn has_any_reasoning(whole: &Completion) -> bool {
    whole.has_reasoning() || whole.token_counts.is_some_and(|counts| counts.reasoning > 0)
}

/// How reasoning is switched off where a server's template can.
const DISABLE_THINKING: &str =
    "extra = { chat_template_kwargs = { enable_thinking = false } } in its profile";

fn check_reasoning(openai: &OpenAi, asked: ModelRole, seen: &[Option<CheckReply>]) -> Option<Finding> {
    let (endpoint, refused) = (&openai.endpoint, openai.quirks.learned().dropped_fields);
    let reasons = seen.iter().flatten().any(|seen| has_any_reasoning(&seen.completion));
    let sent = !endpoint.omit.contains("temperature") && !refused.contains("temperature");
    let at_zero = endpoint.sampling.temperature == Some(0.0) && sent;
    (reasons && at_zero).then(|| {
        new_finding(
            "reasoning",
            Verdict::Warning,
            "the model reasons, and temperature is 0: makers of such models warn of endless repetition there, or heed no temperature at all",
            format!("--set {}.temperature=0.6 sets another one; or switch reasoning off ({DISABLE_THINKING})", asked.name()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::redactor::Redactor;

    /// A name of 3 MB was printed whole.
    #[test]
    fn a_name_without_an_end_is_cut() {
        let list = serde_json::json!({"data": [{"id": "m".repeat(3 << 20)}, {"id": "qwen3:4b"}]}).to_string();
        let names = parse_model_names(&Redactor::default().redact_body(list.as_bytes())).unwrap();
        assert_eq!((names[0].len(), &*names[1]), (200, "qwen3:4b"));
    }

    /// `doctor` printed nothing for a minute.
    #[tokio::test]
    async fn a_server_that_never_lists_its_models_is_given_up() {
        // A connection comes about in its queue; nobody takes it, and nothing is said.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let openai = OpenAi::new(Endpoint::new(&base_url, "m"));
        let began = std::time::Instant::now();
        let finding = models_in_time(&openai).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(finding.message.contains("listed no models within 10 s"), "{finding:?}");
    }
}
