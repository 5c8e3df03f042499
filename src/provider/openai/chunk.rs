//! Parses one JSON value of a reply, tolerating what servers omit, add and name differently.

use super::error;
use super::server_data::{ServerJson, UnredactedJson, UnredactedText};
use serde_json::Value;

/// Token counts as a server reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenCounts {
    pub(super) prompt: u64,
    pub(super) reply: u64,
    pub(super) reasoning: u64,
}

/// The largest plausible token count of a reply: far above any model's context, and small enough that no sum overflows.
const MAX_TOKENS: u64 = 1 << 32;

/// What a JSON value of a reply contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chunk {
    pub(super) text: UnredactedText,
    pub(super) reasoning: UnredactedText,
    pub(super) finish_reason: Option<String>,
    pub(super) token_counts: Option<TokenCounts>,
    /// The value had impossible counts, which `token_counts` leaves out.
    pub(super) impossible_counts: bool,
    /// The message of an error, and its code if that is an HTTP status.
    pub(super) error: Option<(String, Option<u16>)>,
    /// The text is a refusal.
    pub(super) refused: bool,
    /// Pieces of the tool calls, by their number in the reply.
    pub(super) tool_calls: Vec<(u64, ToolCallPiece)>,
    /// The value has a known field of a reply.
    pub(super) is_recognized: bool,
}

/// A piece of a tool call: what is added to its name and to its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToolCallPiece {
    pub(super) name: UnredactedText,
    pub(super) arguments: UnredactedText,
}

impl ToolCallPiece {
    pub(super) fn push(&mut self, other: &Self) {
        self.name.push(&other.name);
        self.arguments.push(&other.arguments);
    }

    pub(super) fn len(&self) -> usize {
        self.name.len() + self.arguments.len()
    }
}

/// Parses a value: a piece of a stream, a whole reply or an error. `fields` are the names of fields that contain
/// reasoning.
pub(super) fn parse_chunk(value: &ServerJson, fields: &[String]) -> Chunk {
    let mut chunk = Chunk::default();
    chunk.read_usage(value);
    chunk.error = read_error(value);
    let choices = value.get("choices").and_then(Value::as_array);
    chunk.is_recognized =
        choices.is_some() || chunk.token_counts.is_some() || chunk.impossible_counts || chunk.error.is_some();
    let unredacted_choices = value.unredacted().get("choices").into_iter().flat_map(UnredactedJson::elements);
    for (choice, unredacted) in choices.into_iter().flatten().zip(unredacted_choices) {
        // We request one choice. A server that sends more numbers them; only the first is used.
        if choice.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
            continue;
        }
        if chunk.error.is_none() {
            chunk.error = read_error(choice);
        }
        if chunk.token_counts.is_none() {
            chunk.read_usage(choice);
        }
        if let Some(finish) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|f| !["", "null"].contains(f))
        {
            chunk.finish_reason = Some(finish.to_owned());
        }
        if let Some(text) = unredacted.get("text").and_then(UnredactedJson::text) {
            chunk.text.push(&text);
        }
        for message in ["delta", "message"].iter().filter_map(|name| unredacted.get(name)) {
            read_content(message.get("content"), &mut chunk);
            read_refusal(message.get("refusal"), &mut chunk);
            let reasoning = fields.iter().filter_map(|f| message.get(f)?.text()).find(|r| !r.is_empty());
            chunk.reasoning.push(&reasoning.unwrap_or_default());
            read_tool_calls(message, &mut chunk);
        }
    }
    chunk
}

impl Chunk {
    /// Reads the usage of a value, unless it is impossible.
    fn read_usage(&mut self, value: &Value) {
        let counts = read_token_counts(value);
        let possible = |c: &TokenCounts| [c.prompt, c.reply, c.reasoning].iter().all(|n| *n <= MAX_TOKENS);
        self.impossible_counts |= counts.is_some_and(|c| !possible(&c));
        self.token_counts = counts.filter(possible);
    }
}

/// Reads `content`, which is a string or, from some servers, a list of parts that may include reasoning.
fn read_content(content: Option<UnredactedJson<'_>>, chunk: &mut Chunk) {
    let Some(content) = content else { return };
    if let Some(text) = content.text() {
        chunk.text.push(&text);
    }
    for part in content.elements() {
        if let Some(text) = part.get("text").and_then(UnredactedJson::text) {
            chunk.text.push(&text);
        }
        read_refusal(part.get("refusal"), chunk);
        let Some(thinking) = part.get("thinking") else { continue };
        let inner = thinking.elements().filter_map(|p| p.get("text")?.text());
        thinking.text().into_iter().chain(inner).for_each(|text| chunk.reasoning.push(&text));
    }
}

/// Reads tool calls, and the single `function_call` of older servers. Calls without a number are numbered by their place.
fn read_tool_calls(message: UnredactedJson<'_>, chunk: &mut Chunk) {
    let calls = message.get("tool_calls").into_iter().flat_map(UnredactedJson::elements);
    let numbered = (0..).zip(calls).map(|(place, call)| {
        let number = call.get("index").and_then(UnredactedJson::index).unwrap_or(place);
        (number, call.get("function"))
    });
    let all = numbered.chain([(0, message.get("function_call"))]);
    for (number, function) in all.filter_map(|(number, function)| Some((number, function?))) {
        let name = function.get("name").and_then(UnredactedJson::text).unwrap_or_default();
        let arguments = function.get("arguments").and_then(UnredactedJson::text_or_json).unwrap_or_default();
        let piece = ToolCallPiece { name, arguments };
        chunk.tool_calls.extend((piece.len() > 0).then_some((number, piece)));
    }
}

/// Reads a refusal, which is a field beside the content or inside one of its parts.
fn read_refusal(refusal: Option<UnredactedJson<'_>>, chunk: &mut Chunk) {
    if let Some(text) = refusal.and_then(UnredactedJson::text) {
        chunk.refused |= !text.is_empty();
        chunk.text.push(&text);
    }
}

/// Returns the message and status of an error in a value. `"error": null` is not an error.
fn read_error(value: &Value) -> Option<(String, Option<u16>)> {
    let detail = || value.get("detail").filter(|_| value.get("choices").is_none());
    let error = value.get("error").filter(|e| !e.is_null()).or_else(detail)?;
    let message = error::json_error_message(value);
    let code = error.get("code").or_else(|| error.get("status")).or_else(|| value.get("code"));
    let code = code.and_then(|c| c.as_u64().or_else(|| c.as_str()?.parse().ok()));
    let status = code.and_then(|c| u16::try_from(c).ok()).filter(|c| (400..600).contains(c));
    Some((message, status))
}

/// Returns the usage, wherever the server puts it. Returns `None` for zeros, which mean that nothing was counted.
fn read_token_counts(value: &Value) -> Option<TokenCounts> {
    let candidates = [value.get("usage"), value.get("x_groq").and_then(|x| x.get("usage"))];
    let usage = candidates.into_iter().flatten().find(|u| u.is_object())?;
    let number = |names: &[&str]| {
        let parse = |v: &Value| v.as_u64().or_else(|| v.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64));
        names.iter().find_map(|n| parse(usage.get(n)?))
    };
    let prompt = number(&["prompt_tokens", "input_tokens"]);
    let reply = number(&["completion_tokens", "output_tokens"]);
    let details = usage.get("completion_tokens_details").and_then(|d| d.get("reasoning_tokens"));
    let reasoning = details.and_then(Value::as_u64).or_else(|| number(&["reasoning_tokens"]));
    let total = number(&["total_tokens"]);
    let prompt = prompt.or_else(|| Some(total?.saturating_sub(reply?)));
    let reply = reply.or_else(|| Some(total?.saturating_sub(prompt?)));
    let (prompt, reply) = (prompt?, reply?);
    // Gemini and xAI count reasoning only in the total: it is part of the reply, and is paid for.
    let hidden = total.map_or(0, |total| total.saturating_sub(prompt.saturating_add(reply)));
    let reasoning = reasoning.filter(|tokens| *tokens > 0).unwrap_or(hidden);
    let counts = TokenCounts { prompt, reply: reply.saturating_add(hidden), reasoning };
    (counts.prompt > 0 || counts.reply > 0).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::openai::redactor::Redactor;
    use serde_json::json;

    fn parse(value: &Value, fields: &[String]) -> Chunk {
        super::parse_chunk(&Redactor::default().redact_json(value.clone()), fields)
    }

    #[test]
    fn usage_is_found_in_every_shape_and_zeros_count_as_none() {
        let cases = [
            (
                json!({"usage": {"prompt_tokens": 12, "completion_tokens": 13, "total_tokens": 25}}),
                Some((12, 13, 0)),
            ),
            (
                json!({"usage": {"prompt_tokens": 15, "completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 4}}}),
                Some((15, 10, 4)),
            ),
            (json!({"x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}}), Some((1, 2, 0))),
            (json!({"usage": {"input_tokens": 3, "output_tokens": 4}}), Some((3, 4, 0))),
            (json!({"usage": {"prompt_tokens": 3.0, "total_tokens": 7}}), Some((3, 4, 0))),
            // Gemini counts reasoning only in the total.
            (
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 412}}),
                Some((7, 405, 393)),
            ),
            (json!({"usage": {"prompt_tokens": 7, "total_tokens": 412}}), Some((7, 405, 0))),
            // xAI reports both.
            (
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 412, "completion_tokens_details": {"reasoning_tokens": 393}}}),
                Some((7, 405, 393)),
            ),
            // A total that is too small is ignored.
            (
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 12}}),
                Some((7, 12, 0)),
            ),
            (json!({"usage": null}), None),
            (json!({"usage": {}}), None),
            (json!({"usage": {"prompt_tokens": 0, "completion_tokens": 0}}), None),
            (json!({"usage": {"prompt_tokens": "many"}}), None),
            (json!({"usage": {"prompt_tokens": -1, "completion_tokens": 2}}), None),
        ];
        for (value, want) in cases {
            let got = parse(&value, &[]).token_counts.map(|c| (c.prompt, c.reply, c.reasoning));
            assert_eq!(got, want, "{value}");
        }
    }

    /// Regression: sums of such counts overflowed and caused a panic.
    #[test]
    fn impossible_counts_are_ignored() {
        let (huge, largest) = (MAX_TOKENS + 1, MAX_TOKENS);
        let cases = [
            (json!({"prompt_tokens": 1_u64 << 63, "completion_tokens": 1_u64 << 63}), None),
            (json!({"prompt_tokens": 1e300, "completion_tokens": 2}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 1e30}), None),
            (json!({"prompt_tokens": 1, "total_tokens": huge + 1}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": u64::MAX}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 2, "reasoning_tokens": huge}), None),
            (json!({"prompt_tokens": largest, "completion_tokens": 2}), Some((largest, 2))),
        ];
        for (usage, want) in cases {
            let got = parse(&json!({"usage": usage, "choices": []}), &[]);
            assert_eq!(got.token_counts.map(|c| (c.prompt, c.reply)), want, "{usage}");
            assert_eq!(got.impossible_counts, want.is_none(), "{usage}");
        }
    }

    #[test]
    fn text_and_reasoning_are_found_in_every_shape() {
        let fields = super::super::endpoint::Reasoning::default().fields;
        let choice = |inner: Value| json!({"choices": [inner]});
        let cases = [
            (choice(json!({"delta": {"content": "a"}})), "a", ""),
            (choice(json!({"delta": {"content": null, "reasoning_content": "r"}})), "", "r"),
            (choice(json!({"delta": {"content": "", "reasoning": "r", "reasoning_details": []}})), "", "r"),
            (choice(json!({"delta": {"reasoning_content": "r", "reasoning": "r"}})), "", "r"),
            (choice(json!({"message": {"content": "a", "reasoning_content": "r"}})), "a", "r"),
            (choice(json!({"text": "a", "index": 0})), "a", ""),
            (choice(json!({"index": 1, "delta": {"content": "b"}})), "", ""),
            (
                choice(
                    json!({"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}, {"type": "text", "text": "a"}]}}),
                ),
                "a",
                "r",
            ),
            (choice(json!({"delta": {"refusal": "I will not."}})), "I will not.", ""),
            (
                choice(json!({"message": {"content": [{"type": "refusal", "refusal": "I will not."}]}})),
                "I will not.",
                "",
            ),
            (choice(json!({"delta": {"content": "a", "refusal": ""}})), "a", ""),
            (choice(json!({"delta": {"content": "a", "refusal": null}})), "a", ""),
            (choice(json!({"delta": {"content": 7, "role": 1}})), "", ""),
            (json!({"choices": []}), "", ""),
            (json!({"choices": null}), "", ""),
            (json!([1]), "", ""),
        ];
        for (value, text, reasoning) in cases {
            let got = parse(&value, &fields);
            assert_eq!(
                (&got.text, &got.reasoning),
                (&UnredactedText::new(text), &UnredactedText::new(reasoning)),
                "{value}"
            );
            assert_eq!(got.error, None, "{value}");
            assert_eq!(got.refused, text == "I will not.", "{value}");
        }
    }

    #[test]
    fn tool_calls_are_found_in_every_shape() {
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
        let cases = [
            (
                json!({"delta": {"tool_calls": [{"index": 1, "id": "a", "function": call("look", json!("{\"at\":"))}]}}),
                vec![(1, "look", "{\"at\":")],
            ),
            (
                json!({"delta": {"tool_calls": [{"index": 1, "function": {"arguments": "1}"}}]}}),
                vec![(1, "", "1}")],
            ),
            (
                json!({"message": {"content": null, "tool_calls": [
                    {"function": call("look", json!("{}"))}, {"function": call("take", json!({"object": "mug"}))}
                ]}}),
                vec![(0, "look", "{}"), (1, "take", "{\"object\":\"mug\"}")],
            ),
            (json!({"message": {"function_call": call("go", json!(null))}}), vec![(0, "go", "")]),
            (json!({"delta": {"tool_calls": null, "function_call": null}}), vec![]),
            (json!({"delta": {"tool_calls": [{"index": 0}, 7], "function_call": 7}}), vec![]),
        ];
        for (choice, want) in cases {
            let got = parse(&json!({"choices": [choice]}), &[]).tool_calls;
            let text = |text: &str| UnredactedText::new(text);
            let piece = |name, arguments| ToolCallPiece { name: text(name), arguments: text(arguments) };
            let want: Vec<_> =
                want.into_iter().map(|(number, name, args)| (number, piece(name, args))).collect();
            assert_eq!(got, want, "{choice}");
        }
    }

    #[test]
    fn error_is_found_in_every_shape() {
        let cases = [
            (json!({"error": {"message": "m", "code": 429}}), "m", Some(429)),
            (json!({"error": {"message": "m", "code": "503"}}), "m", Some(503)),
            (json!({"error": {"message": "m", "code": "overloaded"}, "choices": []}), "m", None),
            (json!({"error": {"message": "m", "code": null}}), "m", None),
            (json!({"error": "m"}), "m", None),
            (json!({"detail": "m"}), "m", None),
            (
                json!({"choices": [{"finish_reason": "error", "error": {"message": "m", "code": 502}}]}),
                "m",
                Some(502),
            ),
        ];
        for (value, message, status) in cases {
            assert_eq!(parse(&value, &[]).error, Some((message.to_owned(), status)), "{value}");
        }
        assert_eq!(parse(&json!({"error": null, "choices": []}), &[]).error, None);
    }
}
