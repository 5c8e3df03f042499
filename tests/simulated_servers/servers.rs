//! Servers that reply like the real ones, as far as known; every fact names its source.
//!
//! A [`Behavior`] is data: what a server rejects and with which message, where it applies stop sequences, what it does with
//! reasoning, how it counts tokens, and the format of its stream. The model behind it is [`crate::model`].

use crate::http::{Listener, Request, Response};
use crate::model::{self, Completion, Question, Style};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// How a model reasons, and how its server handles that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// It doesn't reason.
    No,
    /// It writes `<think>`, a line break, its reasoning, `</think>` and two line breaks before its reply (Qwen3's
    /// template: huggingface.co/Qwen/Qwen3-4B).
    Tags,
    /// The same, but the template has written `<think>` already (Qwen3-4B-Thinking-2507, DeepSeek R1).
    Opened,
    /// Reasoning and reply are two channels, and stop sequences apply only to the reply: hosted servers (vllm-project/vllm
    /// issue 52393: "Hosted deployments ... are immune because they scope stops to content").
    Channel,
}

/// Where a server applies stop sequences to the output of a model with reasoning tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopScope {
    /// Everywhere, reasoning included.
    Everywhere,
    /// After `</think>`, which is followed by two line breaks.
    AfterReasoning,
}

/// How a server handles the tags around reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagHandling {
    /// It leaves them in the content.
    Leaves,
    /// It removes them with the white space around them (ollama/ollama, thinking/parser.go).
    RemovesAndTrims,
    /// It removes them; the line breaks after `</think>` stay in the content (vLLM's qwen3 parser; QwenLM/Qwen3 issue
    /// 1755).
    Removes,
}

/// Token counts of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) prompt: u64,
    /// Tokens of the visible reply.
    pub(crate) answer: u64,
    pub(crate) reasoning: u64,
}

impl Counts {
    pub(crate) fn total(self) -> u64 {
        self.prompt + self.answer + self.reasoning
    }
}

/// The behaviour of a server.
#[derive(Clone)]
pub(crate) struct Behavior {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
    /// The profile that the README names for it; `None` if it names only an address.
    pub(crate) profile: Option<&'static str>,
    /// The path of its base URL.
    pub(crate) path: &'static str,
    /// The environment variable of its key in the README; `None` if it needs no key.
    pub(crate) key: Option<&'static str>,
    pub(crate) style: Style,
    /// Characters of reasoning before an action, and before any other reply.
    pub(crate) reasoning_lengths: (usize, usize),
    pub(crate) thinking: Thinking,
    pub(crate) stop_scope: StopScope,
    pub(crate) tag_handling: TagHandling,
    /// The field of a delta that has the reasoning; `None` if it is not shown.
    pub(crate) reasoning_field: Option<&'static str>,
    /// Fields that limit the length of a reply.
    pub(crate) limit_fields: &'static [&'static str],
    /// Context size in tokens, if longer prompts are silently truncated at their beginning.
    pub(crate) context_limit: Option<usize>,
    /// Returns status and body of the error if it rejects a request.
    pub(crate) rejection: fn(&Value) -> Option<(u16, String)>,
    /// Returns the failure that replaces the reply to the n-th valid request, counted from 1.
    pub(crate) failure: fn(usize) -> Option<Response>,
    /// Lines sent before the first event of a stream.
    pub(crate) comments: &'static str,
    pub(crate) headers: &'static str,
    pub(crate) usage: fn(Counts) -> Value,
    pub(crate) usage_placement: UsagePlacement,
    /// The model's id in the list of models.
    pub(crate) listed_model: &'static str,
    /// Whether the same seed gives the same wording.
    pub(crate) honours_seed: bool,
    /// Fields that it accepts, which a client must keep sending although it rejects another one.
    pub(crate) kept_fields: &'static [&'static str],
    /// Number of additional requests without a profile: to learn what the server rejects and what its model needs, and
    /// after a single failure.
    pub(crate) extra_requests: usize,
    /// Texts that `doctor` must report, those of each group in one check.
    pub(crate) doctor: &'static [&'static [&'static str]],
}

impl Behavior {
    /// Returns whether the client sees the reasoning, in a separate field or between tags.
    pub(crate) fn shows_reasoning(&self) -> bool {
        self.reasoning_field.is_some() || matches!(self.thinking, Thinking::Tags | Thinking::Opened)
    }
}

/// The position of the usage in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsagePlacement {
    /// In a separate event without choices, if `stream_options.include_usage` asks for it.
    OwnEvent,
    /// In a separate event with an empty delta.
    EmptyDelta,
    /// In the event with the finish reason, whether requested or not.
    FinishEvent,
}

/// A request and its result.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) sent: Value,
    pub(crate) status: u16,
    /// What the model produced; `None` if the request was rejected or failed.
    pub(crate) completion: Option<Completion>,
    /// The part of the reply that was sent.
    pub(crate) content: String,
    pub(crate) counts: Counts,
}

impl Exchange {
    /// Returns whether the reply is complete and usable.
    pub(crate) fn is_complete(&self) -> bool {
        self.completion.as_ref().is_some_and(|c| {
            let shown = self.content.trim();
            !shown.is_empty() && (shown.ends_with(c.answer.trim()) || shown == c.action)
        })
    }
}

/// A running simulated server.
pub(crate) struct Server {
    pub(crate) behavior: Behavior,
    listener: Listener,
    exchanges: Arc<Mutex<Vec<Exchange>>>,
}

impl Server {
    pub(crate) fn start(behavior: Behavior) -> Self {
        let exchanges = Arc::new(Mutex::new(Vec::new()));
        let (log, served) = (exchanges.clone(), behavior.clone());
        let listener = Listener::start(move |request| answer(&served, &request, &log));
        Self { behavior, listener, exchanges }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}{}", self.listener.address(), self.behavior.path)
    }

    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.lock().unwrap().clone()
    }
}

fn answer(behavior: &Behavior, request: &Request, log: &Mutex<Vec<Exchange>>) -> Response {
    if behavior.key.is_some() && request.authorization != format!("Bearer {}", key_of(behavior)) {
        let body = json!({"error": {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"}});
        return Response::Json(401, "", body.to_string());
    }
    let path = request.path.strip_prefix(behavior.path).unwrap_or("");
    match (request.method.as_str(), path) {
        ("GET", "/models") => {
            let model = json!({"id": behavior.listed_model, "object": "model", "created": 1_763_000_000, "owned_by": "library"});
            Response::Json(200, "", json!({"object": "list", "data": [model]}).to_string())
        }
        ("POST", "/chat/completions") => chat(behavior, request, log),
        _ => Response::Json(404, "", json!({"detail": "Not Found"}).to_string()),
    }
}

/// Returns the key that a server accepts.
pub(crate) fn key_of(behavior: &Behavior) -> String {
    format!("sk-simulated-{}-0123456789", behavior.name)
}

fn chat(behavior: &Behavior, request: &Request, log: &Mutex<Vec<Exchange>>) -> Response {
    let sent: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let mut log = log.lock().unwrap();
    let failed_exchange = |status, sent: &Value| Exchange {
        sent: sent.clone(),
        status,
        completion: None,
        content: String::new(),
        counts: Counts::default(),
    };
    if let Some((status, body)) = malformed(behavior, &sent).or_else(|| (behavior.rejection)(&sent)) {
        log.push(failed_exchange(status, &sent));
        return Response::Json(status, behavior.headers, body);
    }
    let number = log.iter().filter(|e| e.status == 200 || e.status >= 429).count() + 1;
    if let Some(failure) = (behavior.failure)(number) {
        log.push(failed_exchange(if let Response::Json(status, ..) = failure { status } else { 200 }, &sent));
        return failure;
    }
    let generated = generate(behavior, &sent, number);
    log.push(Exchange {
        sent: sent.clone(),
        status: 200,
        completion: Some(generated.completion.clone()),
        content: generated.content.clone(),
        counts: generated.counts,
    });
    drop(log);
    to_response(behavior, &sent, &generated)
}

/// Returns the error for requests that every server rejects.
fn malformed(behavior: &Behavior, sent: &Value) -> Option<(u16, String)> {
    let error = |status: u16, message: &str| {
        Some((status, json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}).to_string()))
    };
    if sent["model"] != behavior.model {
        return error(404, &format!("The model `{}` does not exist.", sent["model"].as_str().unwrap_or("")));
    }
    let messages = sent["messages"].as_array().filter(|m| !m.is_empty());
    let Some(messages) = messages else { return error(400, "[] is too short - 'messages'") };
    let plain = messages.iter().all(|m| m["content"].is_string());
    if plain { None } else { error(400, "messages: content must be a string") }
}

/// The model's reply to a prompt, as the server sends it.
struct Generated {
    completion: Completion,
    reasoning: String,
    content: String,
    finish: &'static str,
    counts: Counts,
}

/// Returns the number of tokens of a text: a quarter of its characters.
fn token_count(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

fn generate(behavior: &Behavior, sent: &Value, number: usize) -> Generated {
    let messages = sent["messages"].as_array().unwrap();
    let mut prompt: String = messages.iter().filter_map(|m| m["content"].as_str()).collect();
    // Templates add markers around every message.
    let mut prompt_tokens = token_count(&prompt) + 8 * messages.len() as u64;
    if let Some(limit) = behavior.context_limit.filter(|limit| prompt_tokens > *limit as u64) {
        prompt = prompt.chars().skip((prompt_tokens as usize - limit) * 4).collect();
        prompt_tokens = limit as u64;
    }
    let sampled = sent["temperature"].as_f64().is_none_or(|temperature| temperature > 0.0);
    let seed = sent["seed"].as_u64().filter(|_| behavior.honours_seed).map_or(number, |seed| seed as usize);
    let completion =
        model::complete(&prompt, behavior.style, behavior.reasoning_lengths, if sampled { seed } else { 0 });
    let thinks = behavior.thinking != Thinking::No && !is_reasoning_off(sent);
    let (opening, closing) = match behavior.thinking {
        _ if !thinks => ("", ""),
        Thinking::Tags => ("<think>\n", "\n</think>\n\n"),
        Thinking::Opened => ("", "\n</think>\n\n"),
        Thinking::No | Thinking::Channel => ("", ""),
    };
    let reasoning = if thinks { completion.reasoning.as_str() } else { "" };
    let written = format!("{opening}{reasoning}{closing}{}", completion.answer);
    // The end of the tag, followed by line breaks and the reply.
    let content_at = written.len() - completion.answer.len() - if closing.is_empty() { 0 } else { 2 };
    let search_start = match (behavior.thinking, behavior.stop_scope) {
        (Thinking::Tags | Thinking::Opened, StopScope::Everywhere) if thinks => 0,
        _ => content_at,
    };
    let max_len = behavior.limit_fields.iter().find_map(|name| sent[*name].as_u64()).unwrap_or(u64::MAX);
    let max_len =
        written.char_indices().nth(max_len.saturating_mul(4) as usize).map_or(written.len(), |(at, _)| at);
    let stops = sent["stop"].as_array().cloned().unwrap_or_else(|| vec![sent["stop"].clone()]);
    let stopped = stops.iter().filter_map(Value::as_str).filter(|s| !s.is_empty());
    // Anthropic accepts no stop sequence of white space, and proxies in front of it that don't reject one drop it.
    let stopped = stopped.filter(|s| !behavior.model.contains("claude") || !s.trim().is_empty());
    let stopped =
        stopped.filter_map(|s| Some((search_start + written[search_start..].find(s)?, s.len()))).min();
    let (end, used, finish) = match stopped {
        Some((at, length)) if at + length <= max_len => (at, at + length, "stop"),
        _ if max_len < written.len() => (max_len, max_len, "length"),
        _ => (written.len(), written.len(), "stop"),
    };
    let split = content_at.min(end);
    let (thought, content) = (&written[..split], &written[split..end]);
    let counts = Counts {
        prompt: prompt_tokens,
        reasoning: token_count(&written[..content_at.min(used)]),
        answer: token_count(&written[content_at.min(used)..used]),
    };
    let untagged = thought.trim_start_matches("<think>").trim_end_matches("</think>");
    let (reasoning, content) = match behavior.tag_handling {
        _ if !matches!(behavior.thinking, Thinking::Tags | Thinking::Opened) || !thinks => {
            (thought.to_owned(), content.to_owned())
        }
        TagHandling::Leaves => (String::new(), written[..end].to_owned()),
        TagHandling::RemovesAndTrims => (untagged.trim().to_owned(), content.trim_start().to_owned()),
        TagHandling::Removes => (untagged.to_owned(), content.to_owned()),
    };
    Generated { completion, reasoning, content, finish, counts }
}

/// Returns whether a request switches reasoning off: Ollama's `reasoning_effort: none` (openai/openai.go) or the
/// keyword of Qwen3's template.
fn is_reasoning_off(sent: &Value) -> bool {
    sent["reasoning_effort"] == "none" || sent["chat_template_kwargs"]["enable_thinking"] == false
}

/// Returns the response, as a stream if requested.
fn to_response(behavior: &Behavior, sent: &Value, generated: &Generated) -> Response {
    let usage = (behavior.usage)(generated.counts);
    if sent["stream"] != true {
        let mut message = json!({"role": "assistant", "content": generated.content});
        if let Some(field) = behavior.reasoning_field {
            message[field] = json!(generated.reasoning);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": generated.finish});
        let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "model": behavior.model, "choices": [choice], "usage": usage});
        return Response::Json(200, behavior.headers, body.to_string());
    }
    let chunk = |choices: Value, usage: Option<&Value>| {
        let mut chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_763_000_000, "model": behavior.model,
            "choices": choices,
        });
        if let Some(usage) = usage {
            chunk["usage"] = usage.clone();
        }
        format!("data: {chunk}\n\n")
    };
    let choice =
        |delta: Value, finish: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut chunks = vec![format!(
        "{}{}",
        behavior.comments,
        chunk(choice(json!({"role": "assistant", "content": ""}), None), None)
    )];
    if let Some(field) = behavior.reasoning_field {
        let deltas = split_text(&generated.reasoning, 40)
            .map(|words| chunk(choice(json!({field: words}), None), None));
        chunks.extend(deltas);
    }
    chunks.extend(
        split_text(&generated.content, 10).map(|words| chunk(choice(json!({"content": words}), None), None)),
    );
    let mut end = String::new();
    let finish_usage = (behavior.usage_placement == UsagePlacement::FinishEvent).then_some(&usage);
    let _ = write!(end, "{}", chunk(choice(json!({}), Some(generated.finish)), finish_usage));
    match behavior.usage_placement {
        UsagePlacement::OwnEvent if sent["stream_options"]["include_usage"] == true => {
            end.push_str(&chunk(json!([]), Some(&usage)));
        }
        UsagePlacement::EmptyDelta => {
            let usage = chunk(json!([{"index": 0, "delta": {}}]), Some(&usage));
            end.push_str(&usage);
        }
        UsagePlacement::OwnEvent | UsagePlacement::FinishEvent => {}
    }
    end.push_str("data: [DONE]\n\n");
    // In two chunks: a client that has what it needs may disconnect before the usage arrives.
    chunks.push(end);
    Response::Stream(behavior.headers, chunks)
}

fn split_text(text: &str, size: usize) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(size).map(|part| part.iter().collect()).collect::<Vec<String>>().into_iter()
}

/// Rejects nothing.
fn accept_all(_: &Value) -> Option<(u16, String)> {
    None
}

fn no_failure(_: usize) -> Option<Response> {
    None
}

/// The usual format: reasoning is part of the completion, and also listed separately.
fn usage_with_reasoning(counts: Counts) -> Value {
    json!({
        "prompt_tokens": counts.prompt, "completion_tokens": counts.answer + counts.reasoning, "total_tokens": counts.total(),
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    })
}

/// Doesn't list reasoning separately.
fn usage_without_reasoning(counts: Counts) -> Value {
    json!({
        "prompt_tokens": counts.prompt, "completion_tokens": counts.answer + counts.reasoning, "total_tokens": counts.total(),
    })
}

/// Qwen3 on Ollama.
///
/// - Thinking is on by default, in the field `reasoning` (openai/openai.go; QwenLM/Qwen-Agent issue 789).
/// - The runner applies stop sequences to everything the model writes, and the server removes the tags afterwards
///   (runner/ollamarunner/runner.go, thinking/parser.go): a stop at a newline matches after `<think>`, and the reply
///   is empty, with finish reason `stop` (MaartenGr/BERTopic issue 2481).
/// - `max_tokens` is `num_predict` and counts reasoning (promptfoo/promptfoo pull 10954).
/// - Unknown fields are ignored; a prompt longer than the context is cut at its beginning (server/prompt.go).
/// - The usage is an event without choices, only on request (middleware/openai.go); reasoning isn't listed.
pub(crate) fn ollama() -> Behavior {
    Behavior {
        name: "ollama",
        profile: Some("ollama"),
        model: "qwen3:4b",
        listed_model: "qwen3:4b",
        path: "/v1",
        key: None,
        style: Style::Line,
        reasoning_lengths: (1400, 2400),
        thinking: Thinking::Tags,
        stop_scope: StopScope::Everywhere,
        tag_handling: TagHandling::RemovesAndTrims,
        reasoning_field: Some("reasoning"),
        limit_fields: &["max_tokens"],
        context_limit: Some(4096),
        rejection: accept_all,
        failure: no_failure,
        comments: "",
        headers: "",
        usage: usage_without_reasoning,
        usage_placement: UsagePlacement::OwnEvent,
        honours_seed: true,
        kept_fields: &["temperature", "top_p", "seed"],
        extra_requests: 2,
        doctor: &[STOP_CUTS, &["max_tokens", "reason"]],
    }
}

/// A stop sequence at a newline ends the reply before it starts.
const STOP_CUTS: &[&str] = &["newline stop", "empty"];

/// Qwen3 on vLLM with `--reasoning-parser qwen3`.
///
/// - The detokenizer applies stop sequences to the whole output, including reasoning; a match there leaves no content, with
///   finish reason `stop` (vllm-project/vllm issues 52393, 38499, 53066). The Thinking-2507 models start inside their
///   reasoning, so its first line break ends the reply.
/// - Reasoning is in `reasoning_content` (`reasoning` in newer versions).
/// - Prompts longer than the context are rejected (issue 20409).
pub(crate) fn vllm() -> Behavior {
    Behavior {
        name: "vllm",
        profile: Some("vllm"),
        model: "Qwen/Qwen3-4B",
        listed_model: "Qwen/Qwen3-4B",
        thinking: Thinking::Opened,
        tag_handling: TagHandling::Removes,
        reasoning_field: Some("reasoning_content"),
        limit_fields: &["max_completion_tokens", "max_tokens"],
        context_limit: None,
        rejection: vllm_rejection,
        ..ollama()
    }
}

/// The same with stop sequences not applied to reasoning (vllm-project/vllm pulls 14550 and 52486): the content starts with
/// the two line breaks between `</think>` and the reply, and a stop at a newline matches there.
pub(crate) fn vllm_content_stops() -> Behavior {
    Behavior {
        name: "vllm-content-stops",
        thinking: Thinking::Tags,
        stop_scope: StopScope::AfterReasoning,
        reasoning_field: Some("reasoning"),
        ..vllm()
    }
}

/// The same without a reasoning parser: the tags are in the content (ovh/public-cloud-roadmap issue 1123).
pub(crate) fn vllm_no_parser() -> Behavior {
    Behavior {
        name: "vllm-no-parser",
        thinking: Thinking::Tags,
        tag_handling: TagHandling::Leaves,
        reasoning_field: None,
        ..vllm()
    }
}

/// The same with a model whose template opens the reasoning: the output has only the closing tag, and a stop at a
/// newline leaves the first line of the reasoning, which can't be distinguished from a reply (vllm-project/vllm issue
/// 52393).
pub(crate) fn vllm_no_parser_opened() -> Behavior {
    Behavior {
        name: "vllm-no-parser-opened",
        model: "Qwen/Qwen3-4B-Thinking-2507",
        listed_model: "Qwen/Qwen3-4B-Thinking-2507",
        thinking: Thinking::Opened,
        doctor: &[],
        ..vllm_no_parser()
    }
}

fn vllm_rejection(sent: &Value) -> Option<(u16, String)> {
    const CONTEXT: u64 = 40_960;
    let prompt: u64 =
        sent["messages"].as_array()?.iter().filter_map(|m| m["content"].as_str()).map(token_count).sum();
    let answer = sent["max_tokens"].as_u64().unwrap_or(1);
    (prompt + answer > CONTEXT).then(|| {
        let message = format!(
            "This model's maximum context length is {CONTEXT} tokens. However, you requested {} tokens ({prompt} in the messages, \
             {answer} in the completion). Please reduce the length of the messages or completion.",
            prompt + answer
        );
        (400, json!({"error": {"message": message, "type": "BadRequestError", "param": null, "code": 400}}).to_string())
    })
}

/// gpt-5-mini, hosted.
///
/// - `max_tokens`, `top_p` and `stop` are rejected, and every temperature except 1 (vibrantlabsai/ragas issue 2440,
///   huggingface/smolagents issue 1671, crystal-autobot/autobot issue 40).
/// - Reasoning is not shown, has multiples of 64 tokens, and counts towards `max_completion_tokens`: a 400-token reply
///   is all reasoning, empty, with finish reason `length` (covan-ai/covan pull 112). A limit of a few tokens is an
///   error (nextlevelbuilder/goclaw issue 245, BerriAI/litellm pull 30708).
pub(crate) fn openai() -> Behavior {
    Behavior {
        name: "openai",
        profile: Some("openai"),
        model: "gpt-5-mini",
        listed_model: "gpt-5-mini",
        key: Some("OPENAI_API_KEY"),
        reasoning_lengths: (448 * 4, 1152 * 4),
        style: Style::Remark,
        thinking: Thinking::Channel,
        reasoning_field: None,
        limit_fields: &["max_completion_tokens"],
        context_limit: None,
        rejection: openai_rejection,
        usage: usage_with_reasoning,
        honours_seed: false,
        kept_fields: &["seed"],
        extra_requests: 5,
        doctor: &[
            &["rejected max_tokens"],
            &["rejected temperature"],
            &["rejected top_p"],
            &["rejected stop"],
            &["max_tokens"],
        ],
        ..ollama()
    }
}

fn openai_rejection(sent: &Value) -> Option<(u16, String)> {
    let error = |message: String, param: Value, code: Value| {
        let error =
            json!({"message": message, "type": "invalid_request_error", "param": param, "code": code});
        Some((400, json!({"error": error}).to_string()))
    };
    if sent.get("max_tokens").is_some() {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return error(message.to_owned(), json!("max_tokens"), json!("unsupported_parameter"));
    }
    if let Some(temperature) = sent.get("temperature").filter(|t| t.as_f64() != Some(1.0)) {
        let message = format!(
            "Unsupported value: 'temperature' does not support {temperature} with this model. Only the default (1) value is supported."
        );
        return error(message, json!("temperature"), json!("unsupported_value"));
    }
    for name in ["top_p", "stop"] {
        if sent.get(name).is_some() {
            let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
            return error(message, json!(name), json!("unsupported_parameter"));
        }
    }
    if sent["max_completion_tokens"].as_u64().is_some_and(|n| n < 16) {
        let message = "Could not finish the message because max_tokens or model output limit was reached. Please try again with \
                       higher max_tokens.";
        return error(message.to_owned(), Value::Null, Value::Null);
    }
    None
}

/// Claude at Anthropic's own OpenAI-compatible address.
///
/// - `temperature` and `top_p` together are rejected, and a newer model then also rejects `temperature` alone
///   (libredb/libredb-studio issue 874).
/// - Stop sequences of only white space do nothing, `seed` is ignored, and both names of the token limit work
///   (docs.anthropic.com, api/openai-sdk).
pub(crate) fn anthropic() -> Behavior {
    Behavior {
        name: "anthropic",
        profile: Some("anthropic"),
        model: "claude-sonnet-5",
        listed_model: "claude-sonnet-5",
        key: Some("ANTHROPIC_API_KEY"),
        style: Style::Remark,
        thinking: Thinking::No,
        reasoning_lengths: (0, 0),
        reasoning_field: None,
        limit_fields: &["max_completion_tokens", "max_tokens"],
        context_limit: None,
        rejection: anthropic_rejection,
        honours_seed: false,
        kept_fields: &[],
        extra_requests: 2,
        doctor: &[&["rejected temperature"], &["seed", "ignores"]],
        ..ollama()
    }
}

const TEMPERATURE_AND_TOP_P_ERROR: &str =
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";

fn anthropic_rejection(sent: &Value) -> Option<(u16, String)> {
    let both = sent.get("temperature").is_some() && sent.get("top_p").is_some();
    let message = if both {
        TEMPERATURE_AND_TOP_P_ERROR
    } else if sent.get("temperature").is_some() {
        "`temperature` is deprecated for this model."
    } else {
        return None;
    };
    let error = json!({"code": "invalid_request_error", "message": message, "type": "invalid_request_error", "param": null});
    Some((400, json!({"error": error}).to_string()))
}

/// Claude behind a litellm proxy that drops nothing.
///
/// - `seed` is rejected by the proxy itself (kaiko-ai/eva issue 895), the rest by Anthropic's messages: `temperature`
///   with `top_p` (jekalmin/extended_openai_conversation issue 428), stop sequences of blanks (BerriAI/litellm issue 3286).
/// - A header identifies the proxy; its usage event has an empty delta.
pub(crate) fn litellm() -> Behavior {
    Behavior {
        name: "litellm",
        profile: None,
        model: "claude-sonnet-4-5",
        listed_model: "claude-sonnet-4-5",
        key: Some("OPENAI_API_KEY"),
        rejection: litellm_rejection,
        kept_fields: &["temperature"],
        extra_requests: 3,
        doctor: &[&["rejected seed"], &["rejected top_p"]],
        headers: "x-litellm-model-id: 1\r\n",
        usage_placement: UsagePlacement::EmptyDelta,
        ..anthropic()
    }
}

fn litellm_rejection(sent: &Value) -> Option<(u16, String)> {
    let upstream = |message: &str| {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        format!(
            "litellm.BadRequestError: AnthropicException - {error}. Received Model Group=claude-sonnet-4-5\nAvailable Model Group \
             Fallbacks=None"
        )
    };
    let blank = |stop: &Value| stop.as_str().is_some_and(|s| s.trim().is_empty());
    let message = if sent.get("seed").is_some() {
        "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], for model=claude-sonnet-4-5. To drop \
         these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use \
         these params dynamically send allowed_openai_params=['seed'] in your request."
            .to_owned()
    } else if sent.get("temperature").is_some() && sent.get("top_p").is_some() {
        upstream(TEMPERATURE_AND_TOP_P_ERROR)
    } else if sent["stop"].as_array().is_some_and(|all| all.iter().any(blank)) || blank(&sent["stop"]) {
        upstream("stop_sequences: each stop sequence must contain non-whitespace")
    } else {
        return None;
    };
    let error = json!({"message": message, "type": null, "param": null, "code": "400"});
    Some((400, json!({"error": error}).to_string()))
}

/// Claude on OpenRouter: Anthropic's message is text inside `metadata.raw` (charmbracelet/crush issue 910); fields that
/// the model doesn't accept are dropped.
pub(crate) fn openrouter_claude() -> Behavior {
    Behavior {
        name: "openrouter-claude",
        model: "anthropic/claude-sonnet-4.5",
        listed_model: "anthropic/claude-sonnet-4.5",
        rejection: openrouter_claude_rejection,
        kept_fields: &["temperature"],
        extra_requests: 2,
        doctor: &[&["rejected top_p"]],
        thinking: Thinking::No,
        style: Style::Remark,
        reasoning_lengths: (0, 0),
        reasoning_field: None,
        ..openrouter()
    }
}

fn openrouter_claude_rejection(sent: &Value) -> Option<(u16, String)> {
    (sent.get("temperature").is_some() && sent.get("top_p").is_some()).then(|| {
        let raw = json!({"type": "error", "error": {"type": "invalid_request_error", "message": TEMPERATURE_AND_TOP_P_ERROR}, "request_id": "req_011CX"});
        let metadata = json!({"raw": raw.to_string(), "provider_name": "Anthropic"});
        let error = json!({"message": "Provider returned error", "code": 400, "metadata": metadata});
        (400, json!({"error": error, "user_id": "user_2x"}).to_string())
    })
}

/// A reasoning model on OpenRouter.
///
/// - Comments precede the first event (openrouter.ai/docs/api/reference/streaming); reasoning is in `reasoning`.
/// - An error after the status is an event with a numeric code and finish reason `error` (damianvtran/local-operator
///   pull 223): the second request ends like that.
/// - The last event has the usage, with its cost, and an empty delta.
pub(crate) fn openrouter() -> Behavior {
    Behavior {
        name: "openrouter",
        profile: Some("openrouter"),
        model: "deepseek/deepseek-r1",
        listed_model: "deepseek/deepseek-r1",
        path: "/api/v1",
        key: Some("OPENROUTER_API_KEY"),
        style: Style::ThoughtAndAction,
        reasoning_field: Some("reasoning"),
        limit_fields: &["max_completion_tokens", "max_tokens"],
        thinking: Thinking::Channel,
        context_limit: None,
        failure: openrouter_failure,
        extra_requests: 3,
        doctor: &[&["max_tokens", "reason"]],
        comments: ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
        usage: |counts| {
            let mut usage = usage_with_reasoning(counts);
            usage["cost"] = json!(0.000_123);
            usage
        },
        usage_placement: UsagePlacement::EmptyDelta,
        ..ollama()
    }
}

fn openrouter_failure(number: usize) -> Option<Response> {
    (number == 2).then(|| {
        let choice = json!({"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "error"});
        let error = json!({"code": 502, "message": "Provider returned error", "metadata": {"error_type": "provider_unavailable"}});
        let event = json!({"id": "gen-1", "object": "chat.completion.chunk", "error": error, "choices": [choice]});
        Response::Stream("", vec![format!(": OPENROUTER PROCESSING\n\ndata: {event}\n\ndata: [DONE]\n\n")])
    })
}

/// Gemini at Google's OpenAI-compatible address.
///
/// - The base URL has no `/v1`; errors are in an array (n4ze3m/page-assist issue 406), `seed` is rejected
///   (Vali-98/ChatterUI issue 227), as is every other unknown field.
/// - Too many requests: the retry delay is only in the details of the body (RooCodeInc/Roo-Code issue 3883). The first
///   request ends like that.
/// - Thoughts are not shown, count towards `max_tokens` (googleapis/python-genai issue 811), and are only in
///   `total_tokens` (router-for-me/CLIProxyAPI issue 5733).
/// - The list of models has `models/` before each name.
pub(crate) fn gemini() -> Behavior {
    Behavior {
        name: "gemini",
        profile: Some("gemini"),
        model: "gemini-2.5-flash",
        listed_model: "models/gemini-2.5-flash",
        path: "/v1beta/openai",
        key: Some("GEMINI_API_KEY"),
        thinking: Thinking::Channel,
        reasoning_field: None,
        limit_fields: &["max_completion_tokens", "max_tokens"],
        context_limit: None,
        rejection: gemini_rejection,
        failure: gemini_failure,
        honours_seed: false,
        kept_fields: &["temperature", "top_p", "stop"],
        extra_requests: 3,
        doctor: &[&["max_tokens"]],
        usage: |counts| json!({"prompt_tokens": counts.prompt, "completion_tokens": counts.answer, "total_tokens": counts.total()}),
        usage_placement: UsagePlacement::FinishEvent,
        ..ollama()
    }
}

fn gemini_rejection(sent: &Value) -> Option<(u16, String)> {
    const KNOWN: [&str; 9] = [
        "model",
        "messages",
        "stream",
        "stream_options",
        "temperature",
        "top_p",
        "stop",
        "max_tokens",
        "max_completion_tokens",
    ];
    let unknown: Vec<String> = sent
        .as_object()?
        .keys()
        .filter(|name| !KNOWN.contains(&name.as_str()))
        .map(|name| format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."))
        .collect();
    let violations: Vec<Value> = unknown.iter().map(|words| json!({"description": words})).collect();
    let details =
        json!([{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]);
    let error =
        json!({"code": 400, "message": unknown.join("\n"), "status": "INVALID_ARGUMENT", "details": details});
    (!unknown.is_empty()).then(|| (400, json!([{"error": error}]).to_string()))
}

fn gemini_failure(number: usize) -> Option<Response> {
    (number == 1).then(|| {
        let details = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            }]},
            {"@type": "type.googleapis.com/google.rpc.Help", "links": [{"description": "Learn more about Gemini API quotas",
                "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"},
        ]);
        let message = "You exceeded your current quota, please check your plan and billing details. For more information on this \
                       error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.";
        let error = json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details});
        Response::Json(429, "", json!([{"error": error}]).to_string())
    })
}

/// DeepSeek, hosted.
///
/// - Thinking is on, in `reasoning_content`; `temperature` does nothing (api-docs.deepseek.com/guides/thinking_mode).
///   `max_tokens` counts the reasoning (api-docs.deepseek.com/zh-cn/guides/reasoning_model).
/// - Comments are sent while a request waits (api-docs.deepseek.com/quick_start/rate_limit).
/// - The usage is in the last event, with the finish reason (api-docs.deepseek.com/api/create-chat-completion).
pub(crate) fn deepseek() -> Behavior {
    Behavior {
        name: "deepseek",
        profile: Some("deepseek"),
        model: "deepseek-flash",
        listed_model: "deepseek-flash",
        key: Some("DEEPSEEK_API_KEY"),
        honours_seed: false,
        extra_requests: 2,
        doctor: &[&["reason"]],
        style: Style::ThoughtAndAction,
        thinking: Thinking::Channel,
        reasoning_field: Some("reasoning_content"),
        context_limit: None,
        comments: ": keep-alive\n\n: keep-alive\n\n",
        usage: usage_with_reasoning,
        usage_placement: UsagePlacement::FinishEvent,
        ..ollama()
    }
}

/// Returns all simulated servers.
pub(crate) fn all() -> Vec<Behavior> {
    vec![
        ollama(),
        vllm(),
        vllm_content_stops(),
        vllm_no_parser(),
        vllm_no_parser_opened(),
        openai(),
        anthropic(),
        litellm(),
        openrouter_claude(),
        openrouter(),
        gemini(),
        deepseek(),
    ]
}

/// Returns whether this exchange asked for an action.
pub(crate) fn is_action(exchange: &Exchange) -> bool {
    exchange.completion.as_ref().is_some_and(|c| c.question == Question::Action)
}
