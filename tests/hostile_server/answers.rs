//! Replies of real servers, their usage and their reasoning.

use crate::Expected::{Failure, Reply};
use crate::client::{ask, endpoint, provider, request};
use crate::server::{
    Server, chunked, complete_reply, end_event, plain_response, reasoning_event, stream, text_event,
};
use crate::{Case, OVERFLOW, block_on, case, run_cases, send_bytes};
use retrospect::provider::FailureKind;
use retrospect::provider::openai::{Endpoint, Prices};
use serde_json::json;

/// Streams captured from real servers.
#[test]
fn replies_of_real_servers_are_read() {
    let llama = concat!(
        r#"data: {"id": "chatcmpl-02f0", "model": "tiny", "created": 1795169320, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}, "logprobs": null, "finish_reason": null}]}"#,
        "\n\n",
        r#"data: {"id": "chatcmpl-02f0", "choices": [{"index": 0, "delta": {"content": "i"}, "logprobs": null, "finish_reason": null}]}"#,
        "\n\n",
        r#"data: {"id": "chatcmpl-02f0", "choices": [{"index": 0, "delta": {"content": ""}, "logprobs": null, "finish_reason": null}]}"#,
        "\n\n",
        r#"data: {"id": "chatcmpl-02f0", "choices": [{"index": 0, "delta": {}, "logprobs": null, "finish_reason": "length"}]}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    let transformers = concat!(
        r#"data: {"id":"88c4","choices":[{"delta":{"content":" {\""},"index":0}],"created":1795168145,"model":"MODEL_DIR@main","object":"chat.completion.chunk","system_fingerprint":""}"#,
        "\n\n",
        r#"data: {"id":"88c4","choices":[{"delta":{},"index":0,"finish_reason":"length"}],"usage":{"completion_tokens":12,"prompt_tokens":12,"total_tokens":24}}"#,
        "\n\n",
    );
    let proxy = concat!(
        r#"data: {"id":"chatcmpl-57e5","choices":[{"index":0,"delta":{"content":"go"}}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-57e5","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-57e5","created":1795169468,"model":"tiny","object":"chat.completion.chunk","choices":[{"index":0,"delta":{}}],"usage":{"completion_tokens":10,"prompt_tokens":15,"total_tokens":25,"completion_tokens_details":{"reasoning_tokens":0,"text_tokens":10}}}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    let unstreamed = r#"{"id":"chatcmpl-284df61e","object":"chat.completion","created":1795169320,"model":"tiny","choices":[{"index":0,"message":{"content":"iheIinalS\u0010 sameut {\"=","role":"assistant"},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":12,"completion_tokens":13,"total_tokens":25}}"#;
    let azure = concat!(
        r#"data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"go","role":"assistant"},"content_filter_offsets":{},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        "\n\n",
        r#"data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}"#,
        "\n\ndata: [DONE]\n\n",
    );
    let router = format!(
        ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n{}{}data: [DONE]\n\n",
        text_event("go"),
        end_event("stop")
    );
    let overflow = format!("{}data: [DONE]\n\n", end_event("stop"));
    run_cases(vec![
        // The token limit truncated the reply, so it is requested once more with a larger limit.
        case("llama_cpp.server", chunked(&[llama.as_bytes()], true), Reply("i", "", 2)),
        case("transformers serve: no [DONE]", chunked(&[transformers.as_bytes()], true), Reply("{\"", "", 2)),
        case("litellm", chunked(&[proxy.as_bytes()], true), Reply("go", "", 1)),
        case(
            "an unstreamed reply instead of a stream",
            plain_response(200, "", unstreamed),
            Reply("iheIinalS\u{10} sameut {\"=", "", 2),
        ),
        case("azure: empty choices", chunked(&[azure.as_bytes()], true), Reply("go", "", 1)),
        case("openrouter: comments", chunked(&[router.as_bytes()], true), Reply("go", "", 1)),
        Case {
            scripts: vec![chunked(&[], true), plain_response(200, "", &unstreamed.replace("length", "stop"))],
            ..case(
                "no event, then a reply without streaming",
                Vec::new(),
                Reply("iheIinalS\u{10} sameut {\"=", "", 2),
            )
        },
        Case {
            scripts: vec![chunked(&[], true), plain_response(400, "", OVERFLOW)],
            ..case(
                "overflow: no event, then an error message without streaming",
                Vec::new(),
                Failure(FailureKind::TooLong, "maximum context length is 512", 2, ""),
            )
        },
        case(
            "overflow: no event",
            chunked(&[], true),
            Failure(FailureKind::EmptyReply, "exceeds its context", 2, ""),
        ),
        case(
            "overflow behind litellm: an end without text",
            chunked(&[overflow.as_bytes()], true),
            Reply("", "", 2),
        ),
        case(
            "overflow with an error message",
            plain_response(400, "", OVERFLOW),
            Failure(FailureKind::TooLong, "maximum context length is 512", 1, ""),
        ),
        case(
            "after max_completion_tokens: 500",
            plain_response(
                500,
                "",
                r#"{"error":{"message":"llama_decode returned 1","type":"internal_server_error"}}"#,
            ),
            Failure(FailureKind::ServerFault, "llama_decode returned 1", 3, ""),
        ),
    ]);
}

/// Usage is attributed to its source; missing usage is estimated and marked so.
#[test]
fn usage_is_reported_by_a_proxy_or_estimated() {
    block_on(async {
        let counted = format!(
            "{}{}data: {}\n\n",
            text_event("go to desk 1"),
            end_event("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}})
        );
        let zeros = format!(
            "{}{}data: {}\n\n",
            text_event("go"),
            end_event("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}})
        );
        let mut proxied = chunked(&[counted.as_bytes()], true);
        proxied[0] = send_bytes(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-litellm-call-id: 7\r\ntransfer-encoding: chunked\r\n\r\n");
        let scripts = vec![
            chunked(&[counted.as_bytes()], true),
            proxied,
            chunked(&[zeros.as_bytes()], true),
            complete_reply("go to desk 1 now"),
        ];
        let server = Server::start(scripts).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.prices = Some(Prices { prompt_per_million: 0.5, reply_per_million: 2.0 });
        let provider = provider(endpoint);
        let mut usages = Vec::new();
        for _ in 0..4 {
            usages.push(ask(&provider, request()).await.usage.unwrap());
        }
        let sources: Vec<(bool, bool)> = usages.iter().map(|u| (u.estimated, u.counted_by_proxy)).collect();
        assert_eq!(sources, [(false, false), (false, true), (true, false), (true, false)]);
        assert_eq!((usages[0].prompt_tokens, usages[0].reply_tokens, usages[0].reasoning_tokens), (40, 9, 5));
        assert_eq!(usages[0].cost_nano, 40 * 500 + 9 * 2000);
        // The first count calibrates the estimates. The count of a proxy doesn't: it doesn't run the model.
        assert_eq!(usages[3].prompt_tokens, 40);
        assert_eq!(usages[3].reply_tokens, 4);
    });
}

#[test]
fn reasoning_is_never_text() {
    let end = end_event("stop");
    let all = |pieces: &[String]| stream(format!("{}{end}data: [DONE]\n\n", pieces.concat()).as_bytes());
    let field = |name: &str| {
        all(&[reasoning_event(name, "let me "), reasoning_event(name, "see\n"), text_event("go")])
    };
    let letters = |text: &str| all(&text.chars().map(|c| text_event(&c.to_string())).collect::<Vec<_>>());
    let no_stop = |e: &mut Endpoint| e.sampling.stop = Some(Vec::new());
    let opened = |e: &mut Endpoint| e.reasoning.opened = true;
    run_cases(vec![
        case("reasoning_content", field("reasoning_content"), Reply("go", "let me see\n", 1)),
        case("reasoning", field("reasoning"), Reply("go", "let me see\n", 1)),
        case("tags", all(&[text_event("<think>let me see\n</think>\n\ngo")]), Reply("go", "let me see\n", 1)),
        case(
            "tags, letter by letter",
            letters("<think>let me see\n</think>\n\ngo"),
            Reply("go", "let me see\n", 1),
        ),
        Case {
            configure: no_stop,
            ..case("no opening tag", letters("let me see\n</think>\n\ngo"), Reply("go", "let me see\n", 1))
        },
        Case {
            configure: opened,
            ..case(
                "no opening tag, as configured",
                letters("let me see\n</think>\n\ngo"),
                Reply("go", "let me see\n", 1),
            )
        },
        case("only reasoning", all(&[reasoning_event("reasoning_content", "hm")]), Reply("", "hm", 2)),
        case(
            "truncated within a tag",
            stream(format!("{}{}", text_event("<think>hm</thi"), end_event("length")).as_bytes()),
            Reply("", "hm</thi", 3),
        ),
        Case {
            scripts: vec![all(&[text_event("<think>")]), all(&[text_event("<think>a\nb</think>go")])],
            ..case(
                "a stop sequence that ends the reasoning is not sent again",
                Vec::new(),
                Reply("go", "a\nb", 2),
            )
        },
    ]);
}
