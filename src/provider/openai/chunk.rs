//! One JSON value of an answer, read with all that servers leave out, add and call otherwise.

use super::error;
use super::server_data::{ServerJson, UnredactedJson, UnredactedText};
use serde_json::Value;

/// Tokens as somebody counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenCounts {
    pub(super) prompt: u64,
    pub(super) reply: u64,
    pub(super) reasoning: u64,
}

/// The most tokens that are believed of one answer: far more than any model's context, and few enough that no sum overflows.
const MAX_TOKENS: u64 = 1 << 32;

/// What a value says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chunk {
    pub(super) text: UnredactedText,
    pub(super) reasoning: UnredactedText,
    pub(super) finish_reason: Option<String>,
    pub(super) token_counts: Option<TokenCounts>,
    /// It had counts that cannot be true; they are not in `counts`.
    pub(super) impossible_counts: bool,
    /// An error: its words, and its code where that is the number of a status.
    pub(super) error: Option<(String, Option<u16>)>,
    /// It is a refusal to answer, and its text is that.
    pub(super) refused: bool,
    /// It had something that an answer has.
    pub(super) is_recognized: bool,
}

/// Reads a value: a piece of a stream, a whole answer or an error.
pub(super) fn parse_chunk(value: &ServerJson, fields: &[String]) -> Chunk {
    let mut chunk = Chunk::default();
    chunk.count(value);
    chunk.error = read_error(value);
    let choices = value.get("choices").and_then(Value::as_array);
    chunk.is_recognized =
        choices.is_some() || chunk.token_counts.is_some() || chunk.impossible_counts || chunk.error.is_some();
    let pieces = value.unredacted().get("choices").into_iter().flat_map(UnredactedJson::elements);
    for (choice, pieces) in choices.into_iter().flatten().zip(pieces) {
        // We ask for one answer. A server that gives more numbers them.
        if choice.get("index").and_then(Value::as_u64).unwrap_or(0) != 0 {
            continue;
        }
        if chunk.error.is_none() {
            chunk.error = read_error(choice);
        }
        if chunk.token_counts.is_none() {
            chunk.count(choice);
        }
        if let Some(finish) =
            choice.get("finish_reason").and_then(Value::as_str).filter(|f| !["", "null"].contains(f))
        {
            chunk.finish_reason = Some(finish.to_owned());
        }
        if let Some(text) = pieces.get("text").and_then(UnredactedJson::text) {
            chunk.text.push(&text);
        }
        for message in ["delta", "message"].iter().filter_map(|name| pieces.get(name)) {
            read_content(message.get("content"), &mut chunk);
            refusal(message.get("refusal"), &mut chunk);
            let reasoning = fields.iter().filter_map(|f| message.get(f)?.text()).find(|r| !r.is_empty());
            chunk.reasoning.push(&reasoning.unwrap_or_default());
        }
    }
    chunk
}

impl Chunk {
    /// Takes the usage that stands in a value, unless it cannot be true.
    fn count(&mut self, value: &Value) {
        let counts = read_token_counts(value);
        let possible = |c: &TokenCounts| [c.prompt, c.reply, c.reasoning].iter().all(|n| *n <= MAX_TOKENS);
        self.impossible_counts |= counts.is_some_and(|c| !possible(&c));
        self.token_counts = counts.filter(possible);
    }
}

/// Content is a text, or (some servers) a list of parts, reasoning among them.
fn read_content(content: Option<UnredactedJson<'_>>, chunk: &mut Chunk) {
    let Some(content) = content else { return };
    if let Some(text) = content.text() {
        chunk.text.push(&text);
    }
    for part in content.elements() {
        if let Some(text) = part.get("text").and_then(UnredactedJson::text) {
            chunk.text.push(&text);
        }
        refusal(part.get("refusal"), chunk);
        let Some(thinking) = part.get("thinking") else { continue };
        let inner = thinking.elements().filter_map(|p| p.get("text")?.text());
        thinking.text().into_iter().chain(inner).for_each(|text| chunk.reasoning.push(&text));
    }
}

/// A refusal stands beside the content, or is a part of it.
fn refusal(refusal: Option<UnredactedJson<'_>>, chunk: &mut Chunk) {
    if let Some(words) = refusal.and_then(UnredactedJson::text) {
        chunk.refused |= !words.is_empty();
        chunk.text.push(&words);
    }
}

/// An error in a value. `"error": null` is none, and an empty text is none.
fn read_error(value: &Value) -> Option<(String, Option<u16>)> {
    let detail = || value.get("detail").filter(|_| value.get("choices").is_none());
    let of = value.get("error").filter(|e| !e.is_null()).or_else(detail)?;
    let words = error::json_error_message(value);
    let code = of.get("code").or_else(|| of.get("status")).or_else(|| value.get("code"));
    let code = code.and_then(|c| c.as_u64().or_else(|| c.as_str()?.parse().ok()));
    let status = code.and_then(|c| u16::try_from(c).ok()).filter(|c| (400..600).contains(c));
    Some((words, status))
}

/// The usage, wherever it stands. Nothing but zeros was not counted.
fn read_token_counts(value: &Value) -> Option<TokenCounts> {
    let places = [value.get("usage"), value.get("x_groq").and_then(|x| x.get("usage"))];
    let usage = places.into_iter().flatten().find(|u| u.is_object())?;
    let number = |names: &[&str]| {
        let of = |v: &Value| v.as_u64().or_else(|| v.as_f64().filter(|f| *f >= 0.0).map(|f| f as u64));
        names.iter().find_map(|n| of(usage.get(n)?))
    };
    let prompt = number(&["prompt_tokens", "input_tokens"]);
    let reply = number(&["completion_tokens", "output_tokens"]);
    let details = usage.get("completion_tokens_details").and_then(|d| d.get("reasoning_tokens"));
    let reasoning = details.and_then(Value::as_u64).or_else(|| number(&["reasoning_tokens"]));
    let total = number(&["total_tokens"]);
    let prompt = prompt.or_else(|| Some(total?.saturating_sub(reply?)));
    let reply = reply.or_else(|| Some(total?.saturating_sub(prompt?)));
    let (prompt, reply) = (prompt?, reply?);
    // What is in the total alone was reasoned (Gemini, xAI): it is part of the reply, and is paid for.
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
    fn usage_is_read_from_where_it_stands_and_absent_is_not_zero() {
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
            // Gemini: what it thought is in the total alone.
            (
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 412}}),
                Some((7, 405, 393)),
            ),
            (json!({"usage": {"prompt_tokens": 7, "total_tokens": 412}}), Some((7, 405, 0))),
            // xAI says both.
            (
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 12, "total_tokens": 412, "completion_tokens_details": {"reasoning_tokens": 393}}}),
                Some((7, 405, 393)),
            ),
            // A total that leaves something out says nothing.
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

    /// Sums of such counts overflowed, and the program ended by a panic.
    #[test]
    fn counts_that_cannot_be_true_are_refused() {
        let (huge, most) = (MAX_TOKENS + 1, MAX_TOKENS);
        let cases = [
            (json!({"prompt_tokens": 1_u64 << 63, "completion_tokens": 1_u64 << 63}), None),
            (json!({"prompt_tokens": 1e300, "completion_tokens": 2}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 1e30}), None),
            (json!({"prompt_tokens": 1, "total_tokens": huge + 1}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": u64::MAX}), None),
            (json!({"prompt_tokens": 1, "completion_tokens": 2, "reasoning_tokens": huge}), None),
            (json!({"prompt_tokens": most, "completion_tokens": 2}), Some((most, 2))),
        ];
        for (usage, want) in cases {
            let got = parse(&json!({"usage": usage, "choices": []}), &[]);
            assert_eq!(got.token_counts.map(|c| (c.prompt, c.reply)), want, "{usage}");
            assert_eq!(got.impossible_counts, want.is_none(), "{usage}");
        }
    }

    #[test]
    fn text_and_reasoning_are_read_from_every_shape() {
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
    fn an_error_may_stand_anywhere() {
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
        for (value, words, status) in cases {
            assert_eq!(parse(&value, &[]).error, Some((words.to_owned(), status)), "{value}");
        }
        assert_eq!(parse(&json!({"error": null, "choices": []}), &[]).error, None);
    }
}
