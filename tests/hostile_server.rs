//! A model server that misbehaves in every way that servers do, and what our client makes of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may stop where it is wrong"
)]

#[path = "serving/asking.rs"]
mod asking;
#[path = "serving/server.rs"]
mod server;

use asking::{Answer, KEY, ask, endpoint, provider, request};
use futures_util::StreamExt as _;
use retrospect::provider::openai::{Api, Auth, Endpoint, Key, MaxTokensField, Prices};
use retrospect::provider::{Cache, Cached, Delta, FailureKind, Phase, Provider};
use serde_json::json;
use server::{Act, Server, chunked, ends, good, head, plain, reasons, says, stream};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// What a case should come to.
enum Want {
    /// Text and reasoning, after so many requests.
    Answer(&'static str, &'static str, usize),
    /// A failure of this kind whose words hold these, after so many requests, with what had come.
    Fail(FailureKind, &'static str, usize, &'static str),
}
use Want::{Answer as Says, Fail};

struct Case {
    name: &'static str,
    scripts: Vec<Vec<Act>>,
    set: fn(&mut Endpoint),
    want: Want,
}

fn case(name: &'static str, script: Vec<Act>, want: Want) -> Case {
    Case { name, scripts: vec![script], set: |_| {}, want }
}

fn cases(all: Vec<Case>) {
    run(async {
        for case in all {
            let server = Server::start(case.scripts).await;
            let mut endpoint = endpoint(&server.base);
            (case.set)(&mut endpoint);
            let answer = ask(&provider(endpoint), request()).await;
            let asked = server.asked().len();
            let name = case.name;
            match case.want {
                Says(text, reasoning, times) => {
                    assert_eq!(answer.error, None, "{name}");
                    let got = (answer.text.as_str(), answer.reasoning.as_str(), asked);
                    assert_eq!(got, (text, reasoning, times), "{name}: {:?}", answer.notices);
                    assert!(answer.usage.is_some(), "{name}: a whole answer has its usage");
                }
                Fail(kind, words, times, partial) => {
                    let error =
                        answer.error.unwrap_or_else(|| panic!("{name}: it answered {:?}", answer.text));
                    assert_eq!((error.kind, asked), (kind, times), "{name}: {error:?}");
                    assert!(error.what.contains(words), "{name}: {}", error.what);
                    if partial != "*" {
                        assert_eq!(answer.text, partial, "{name}");
                    }
                    assert_eq!(error.partial, answer.text, "{name}: what was shown is what is kept");
                    assert!(!error.next.is_empty(), "{name}: it says what to do next");
                    assert!(!error.what.contains('\n') && error.what.len() < 900, "{name}: {}", error.what);
                }
            }
        }
    });
}

fn sent(bytes: &[u8]) -> Act {
    Act::Send(bytes.to_vec())
}

/// What llama.cpp's server says of a prompt that is too long, where it says anything.
const OVERFLOW: &str = r#"{"error":{"message":"This model's maximum context length is 512 tokens. However, you requested 2065 tokens (2053 in the messages, 12 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;

/// The streams that real servers sent, as they were captured.
#[test]
fn answers_of_real_servers() {
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
    let whole = r#"{"id":"chatcmpl-284df61e","object":"chat.completion","created":1795169320,"model":"tiny","choices":[{"index":0,"message":{"content":"iheIinalS\u0010 sameut {\"=","role":"assistant"},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":12,"completion_tokens":13,"total_tokens":25}}"#;
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
        says("go"),
        ends("stop")
    );
    let overflow = format!("{}data: [DONE]\n\n", ends("stop"));
    cases(vec![
        case("llama_cpp.server", chunked(&[llama.as_bytes()], true), Says("i", "", 1)),
        case("transformers serve: no [DONE]", chunked(&[transformers.as_bytes()], true), Says("{\"", "", 1)),
        case("litellm", chunked(&[proxy.as_bytes()], true), Says("go", "", 1)),
        case(
            "a plain answer in place of a stream",
            plain(200, "", whole),
            Says("iheIinalS\u{10} sameut {\"=", "", 1),
        ),
        case("azure: empty choices", chunked(&[azure.as_bytes()], true), Says("go", "", 1)),
        case("openrouter: comments", chunked(&[router.as_bytes()], true), Says("go", "", 1)),
        Case {
            scripts: vec![chunked(&[], true), plain(200, "", whole)],
            ..case(
                "no event at all, and an answer without a stream",
                Vec::new(),
                Says("iheIinalS\u{10} sameut {\"=", "", 2),
            )
        },
        Case {
            scripts: vec![chunked(&[], true), plain(400, "", OVERFLOW)],
            ..case(
                "overflow: no event at all, and words without a stream",
                Vec::new(),
                Fail(FailureKind::TooLong, "maximum context length is 512", 2, ""),
            )
        },
        case(
            "overflow: no event at all",
            chunked(&[], true),
            Fail(FailureKind::Empty, "longer than its context", 2, ""),
        ),
        case(
            "overflow behind litellm: an end without a word",
            chunked(&[overflow.as_bytes()], true),
            Says("", "", 1),
        ),
        case(
            "overflow in words",
            plain(400, "", OVERFLOW),
            Fail(FailureKind::TooLong, "maximum context length is 512", 1, ""),
        ),
        case(
            "after max_completion_tokens: 500",
            plain(
                500,
                "",
                r#"{"error":{"message":"llama_decode returned 1","type":"internal_server_error"}}"#,
            ),
            Fail(FailureKind::ServerFault, "llama_decode returned 1", 3, ""),
        ),
    ]);
}

/// Usage is whose it is; absent is estimated and says so.
#[test]
fn usage_is_reported_by_a_proxy_or_estimated() {
    run(async {
        let counted = format!(
            "{}{}data: {}\n\n",
            says("go to desk 1"),
            ends("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 40, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}})
        );
        let zeros = format!(
            "{}{}data: {}\n\n",
            says("go"),
            ends("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}})
        );
        let mut proxied = chunked(&[counted.as_bytes()], true);
        proxied[0] = sent(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-litellm-call-id: 7\r\ntransfer-encoding: chunked\r\n\r\n");
        let scripts = vec![
            chunked(&[counted.as_bytes()], true),
            proxied,
            chunked(&[zeros.as_bytes()], true),
            good("go to desk 1 now"),
        ];
        let server = Server::start(scripts).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.prices = Some(Prices { prompt: 0.5, reply: 2.0 });
        let provider = provider(endpoint);
        let mut usages = Vec::new();
        for _ in 0..4 {
            usages.push(ask(&provider, request()).await.usage.unwrap());
        }
        let who: Vec<(bool, bool)> = usages.iter().map(|u| (u.estimated, u.proxy)).collect();
        assert_eq!(who, [(false, false), (false, true), (true, false), (true, false)]);
        assert_eq!((usages[0].prompt_tokens, usages[0].reply_tokens, usages[0].reasoning_tokens), (40, 9, 5));
        assert_eq!(usages[0].cost_nano, 40 * 500 + 9 * 2000);
        // The first count calibrates the estimates; the proxy's, who does not answer itself, does not.
        assert_eq!(usages[3].prompt_tokens, 40);
        assert_eq!(usages[3].reply_tokens, 4);
    });
}

#[test]
fn connections_that_fail() {
    let hangs = |begin: Vec<Act>| begin.into_iter().chain([Act::Hang]).collect::<Vec<_>>();
    let cut = |begin: Vec<Act>| begin.into_iter().chain([Act::Reset]).collect::<Vec<_>>();
    let go = says("go to");
    let begun = || chunked(&[go.as_bytes()], false);
    let thought = reasons("reasoning_content", "hm");
    let quick_first = |e: &mut Endpoint| e.times.first = 60 * MS;
    let quick_idle = |e: &mut Endpoint| e.times.idle = 60 * MS;
    cases(vec![
        Case {
            set: quick_first,
            ..case(
                "hangs before its head",
                vec![Act::Hang],
                Fail(FailureKind::TimedOut, "did not begin to answer", 1, ""),
            )
        },
        Case {
            set: quick_first,
            ..case(
                "hangs in its head",
                hangs(vec![sent(b"HTTP/1.1 200 OK\r\nconten")]),
                Fail(FailureKind::TimedOut, "did not begin to answer", 1, ""),
            )
        },
        Case {
            set: quick_first,
            ..case("hangs after its head", hangs(chunked(&[], false)), Fail(FailureKind::TimedOut, "", 1, ""))
        },
        Case {
            set: quick_idle,
            ..case(
                "hangs in the middle",
                hangs(begun()),
                Fail(FailureKind::TimedOut, "nothing came from", 1, "go to"),
            )
        },
        Case {
            set: quick_idle,
            ..case(
                "hangs in a line",
                hangs(chunked(&[go.as_bytes(), b"data: {\"cho"], false)),
                Fail(FailureKind::TimedOut, "nothing came from", 1, "go to"),
            )
        },
        Case {
            set: |e| e.times.total = Some(80 * MS),
            ..case(
                "is bounded in all, where that is set",
                chunked(&[go.as_bytes()], false)
                    .into_iter()
                    .chain([Act::Forever(b"1\r\n:\r\n".to_vec(), MS)])
                    .collect(),
                Fail(FailureKind::TimedOut, "was not done within", 1, "go to"),
            )
        },
        Case {
            set: quick_first,
            ..case(
                "sends signs of life for ever",
                chunked(&[], false)
                    .into_iter()
                    .chain([Act::Forever(b"3\r\n:\n\n\r\n".to_vec(), MS)])
                    .collect(),
                Fail(FailureKind::TimedOut, "", 1, ""),
            )
        },
        Case {
            set: quick_first,
            ..case(
                "sends a byte at a time and no piece",
                chunked(&[b"data: {"], false)
                    .into_iter()
                    .chain([Act::Forever(b"1\r\n \r\n".to_vec(), MS)])
                    .collect(),
                Fail(FailureKind::TimedOut, "", 1, ""),
            )
        },
        case(
            "breaks before its head, always",
            vec![Act::Read, Act::Reset],
            Fail(FailureKind::Unreachable, "before it answered", 5, ""),
        ),
        case(
            "breaks in its head",
            cut(vec![sent(b"HTTP/1.1 200 OK\r\nconten")]),
            Fail(FailureKind::Unreachable, "before it answered", 5, ""),
        ),
        case(
            "breaks after its head",
            cut(chunked(&[], false)),
            Fail(FailureKind::Unreachable, "before it answered", 5, ""),
        ),
        case("killed in the middle", cut(begun()), Fail(FailureKind::CutOff, "broke off", 1, "go to")),
        case(
            "a chunk is cut",
            cut(vec![begun()[0].clone(), sent(format!("ff\r\n{go}").as_bytes())]),
            Fail(FailureKind::CutOff, "broke off", 1, "go to"),
        ),
        case(
            "cut while it reasons",
            cut(chunked(&[thought.as_bytes()], false)),
            Fail(FailureKind::CutOff, "broke off", 1, ""),
        ),
        case(
            "a body with too few bytes",
            vec![sent(
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\n{go}"
                )
                .as_bytes(),
            )],
            Fail(FailureKind::CutOff, "broke off", 1, "go to"),
        ),
        case(
            "ends without an end",
            stream(go.as_bytes()),
            Fail(FailureKind::CutOff, "without saying", 1, "go to"),
        ),
        case(
            "ends in the middle of a line",
            stream(format!("{go}data: {{\"choices\": [").as_bytes()),
            Fail(FailureKind::Odd, "no whole JSON", 1, "go to"),
        ),
        case("is no HTTP", vec![sent(b"SSH-2.0-OpenSSH_9.6\r\n")], Fail(FailureKind::Unreachable, "", 5, "")),
        Case {
            scripts: vec![vec![Act::Read, Act::Reset], vec![Act::Read, Act::Reset], good("go")],
            ..case("comes back", Vec::new(), Says("go", "", 3))
        },
    ]);
}

#[test]
fn nobody_listens() {
    run(async {
        let base = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}/v1", listener.local_addr().unwrap())
        };
        let answer = ask(&provider(endpoint(&base)), request()).await;
        let error = answer.error.unwrap();
        assert_eq!(error.kind, FailureKind::Unreachable);
        assert!(
            error.what.contains("cannot be reached") && error.what.contains("asked again 4 times"),
            "{}",
            error.what
        );
        assert_eq!(answer.notices.len(), 4, "every repetition is told: {:?}", answer.notices);
        let bad = [
            ("ftp://h/v1", "neither http"),
            ("", "base URL"),
            ("http://me:sekretpass@h/v1", "name or password"),
        ];
        for (base, words) in bad {
            let error = ask(&provider(endpoint(base)), request()).await.error.unwrap();
            assert!(error.kind == FailureKind::Setup && error.what.contains(words), "{base}: {error:?}");
            assert!(!format!("{error:?}").contains("sekretpass"));
        }
        let mut strange = endpoint(&base);
        strange.key = Some(Key::new("two\nlines-of-a-key"));
        let error = ask(&provider(strange), request()).await.error.unwrap();
        assert!(error.kind == FailureKind::Setup && !format!("{error:?}").contains("lines-of"), "{error:?}");
    });
}

#[test]
fn statuses() {
    let no = |status: u16, body: &'static str| plain(status, "", body);
    let asks = |status: u16, headers: &'static str| {
        plain(status, headers, r#"{"error":{"message":"slow down","code":"429"}}"#)
    };
    let page = |status: u16| {
        vec![sent(
            &[
                head(status, "content-type: text/html\r\n"),
                b"<!DOCTYPE html><html><title>Bad Gateway</title></html>".to_vec(),
            ]
            .concat(),
        )]
    };
    let then_good = |name: &'static str, first: Vec<Act>| Case {
        scripts: vec![first, good("go")],
        ..case(name, Vec::new(), Says("go", "", 2))
    };
    cases(vec![
        case(
            "no key",
            no(401, r#"{"detail":"Invalid API key"}"#),
            Fail(FailureKind::Credentials, "401: Invalid API key", 1, ""),
        ),
        case(
            "no credit",
            no(402, r#"{"error":{"message":"Insufficient credits","code":402}}"#),
            Fail(FailureKind::Credit, "Insufficient credits", 1, ""),
        ),
        case(
            "forbidden",
            no(403, r#"{"error":{"message":"flagged","code":403}}"#),
            Fail(FailureKind::Forbidden, "flagged", 1, ""),
        ),
        case(
            "wrong path",
            no(404, r#"{"detail":"Not Found"}"#),
            Fail(FailureKind::NotFound, "Not Found", 1, ""),
        ),
        case(
            "wrong method",
            no(405, r#"{"detail":"Method Not Allowed"}"#),
            Fail(FailureKind::NotFound, "405", 1, ""),
        ),
        case(
            "no such request",
            no(422, r#"{"detail":[{"loc":["body","messages"],"msg":"field required"}]}"#),
            Fail(FailureKind::Refused, "body.messages: field required", 1, ""),
        ),
        case(
            "a list of errors",
            no(400, r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#),
            Fail(FailureKind::Refused, "API key not valid", 1, ""),
        ),
        case("teapot", no(418, "short and stout"), Fail(FailureKind::Refused, "418: short and stout", 1, "")),
        case(
            "an error without a word",
            no(400, ""),
            Fail(FailureKind::Refused, "400: without a word", 1, ""),
        ),
        case(
            "quota is no rate",
            no(429, r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
            Fail(FailureKind::Credit, "exceeded", 1, ""),
        ),
        case(
            "a page",
            page(404),
            Fail(FailureKind::NotFound, "a page for people, not for programs: Bad Gateway", 1, ""),
        ),
        case("a page, always", page(502), Fail(FailureKind::ServerFault, "Bad Gateway", 5, "")),
        case(
            "500 is asked again twice",
            vec![sent(
                &[head(500, "content-type: text/plain\r\n"), b"Internal Server Error".to_vec()].concat(),
            )],
            Fail(FailureKind::ServerFault, "Internal Server Error (asked again 2 times)", 3, ""),
        ),
        case("busy, always", asks(503, ""), Fail(FailureKind::Busy, "asked again 4 times", 5, "")),
        case(
            "busy, and no more tries wanted",
            asks(429, "x-should-retry: false\r\n"),
            Fail(FailureKind::Busy, "slow down", 1, ""),
        ),
        case(
            "a wait too long",
            asks(429, "retry-after: 60\r\n"),
            Fail(FailureKind::Busy, "it asks to wait 60 s", 1, ""),
        ),
        case(
            "a proxy's wait too long",
            asks(429, "llm_provider-retry-after: 60\r\n"),
            Fail(FailureKind::Busy, "it asks to wait 60 s", 1, ""),
        ),
        case(
            "a date too far",
            asks(
                429,
                "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:59:30 GMT\r\n",
            ),
            Fail(FailureKind::Busy, "it asks to wait 600 s", 1, ""),
        ),
        then_good("a wait in seconds", asks(429, "retry-after: 0.01\r\n")),
        then_good("a wait in milliseconds", asks(429, "retry-after-ms: 5\r\n")),
        then_good(
            "a date that is past",
            asks(
                503,
                "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:30 GMT\r\n",
            ),
        ),
        then_good("a wait that cannot be read", asks(429, "retry-after: soon\r\n")),
        then_good("408", asks(408, "")),
        then_good("409", asks(409, "")),
        then_good("504", asks(504, "")),
        then_good("once 500", asks(500, "")),
        case(
            "elsewhere",
            plain(307, "location: https://evil.example/v1?key=x\r\n", ""),
            Fail(FailureKind::Setup, "sends elsewhere (307): https://evil.example/v1", 1, ""),
        ),
        case(
            "packed",
            vec![sent(
                &[
                    head(200, "content-encoding: gzip\r\ncontent-type: text/event-stream\r\n"),
                    vec![0x1f, 0x8b, 8, 0],
                ]
                .concat(),
            )],
            Fail(FailureKind::Odd, "packed", 1, ""),
        ),
        case("nothing, with success", plain(200, "", ""), Fail(FailureKind::Empty, "without a word", 2, "")),
        case("204", vec![sent(b"HTTP/1.1 204 No Content\r\n\r\n")], Fail(FailureKind::Refused, "204", 1, "")),
    ]);
}

#[test]
fn bodies() {
    let done = format!("{}data: [DONE]\n\n", ends("stop"));
    let whole = |text: &str| stream(format!("{}{done}", says(text)).as_bytes());
    let error = |json: &str| format!("data: {json}\n\n");
    let go = says("go");
    let long = says(&"x".repeat(10 << 20));
    let numbered = error(
        r#"{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
    );
    let html = [
        head(200, "content-type: text/html\r\n"),
        b"<html><head><title>Log in</title></head>\n<body></body></html>".to_vec(),
    ]
    .concat();
    let wrong_type = [head(200, "content-type: text/plain\r\n"), format!("{go}{done}").into_bytes()].concat();
    let json_lines = format!(
        "{}\n{}\n",
        json!({"choices": [{"delta": {"content": "go"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    );
    let pretty = serde_json::to_string_pretty(
        &json!({"choices": [{"message": {"content": "go"}, "finish_reason": "stop"}]}),
    )
    .unwrap();
    let mut letters: Vec<Vec<u8>> = Vec::new();
    for byte in format!("{}{done}", says("é€𝄞 go")).bytes() {
        letters.push(vec![byte]);
    }
    let letters: Vec<&[u8]> = letters.iter().map(Vec::as_slice).collect();
    let raw_utf8 = |bytes: &[u8]| {
        stream(
            &[b"data: {\"choices\":[{\"delta\":{\"content\":\"a", bytes, b"b\"}}]}\n\n", done.as_bytes()]
                .concat(),
        )
    };
    cases(vec![
        case("a character a byte at a time", chunked(&letters, true), Says("é€𝄞 go", "", 1)),
        case("no UTF-8", raw_utf8(b"\xff\xc3"), Says("a\u{fffd}\u{fffd}b", "", 1)),
        case("U+FFFD in the text", whole("a\u{fffd}b"), Says("a\u{fffd}b", "", 1)),
        case(
            "control characters",
            whole("go \u{10}\u{14}\u{1b}[31m"),
            Says("go \u{10}\u{14}\u{1b}[31m", "", 1),
        ),
        case("white space first", whole("\n\n go\nmore"), Says("go", "", 1)),
        case("a line of 10 MB", stream(long.as_bytes()), Fail(FailureKind::Odd, "without an end", 1, "")),
        case(
            "words without an end",
            chunked(&[], false)
                .into_iter()
                .chain([Act::Forever(chunk(&says(&"word ".repeat(200))), Duration::ZERO)])
                .collect(),
            Fail(FailureKind::Odd, "without an end", 1, "*"),
        ),
        case(
            "signs of life between pieces",
            stream(format!(": x\n\n{}: y\n\n{done}", says("go")).as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "no blank lines",
            stream(format!("{go}{done}").replace("\n\n", "\n").as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "carriage returns",
            stream(format!("{go}{done}").replace('\n', "\r\n").as_bytes()),
            Says("go", "", 1),
        ),
        case("no [DONE]", stream(format!("{go}{}", ends("stop")).as_bytes()), Says("go", "", 1)),
        case(
            "[DONE] and no finish_reason",
            stream(format!("{go}data: [DONE]\n\n").as_bytes()),
            Says("go", "", 1),
        ),
        case("only [DONE]", stream(b"data: [DONE]\n\n"), Fail(FailureKind::Empty, "without a word", 2, "")),
        case("only comments", stream(b": a\n\n: b\n\n"), Fail(FailureKind::Empty, "without a word", 2, "")),
        case(
            "breaks after its end",
            chunked(&[format!("{go}{}", ends("stop")).as_bytes()], false)
                .into_iter()
                .chain([Act::Reset])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "hangs after its end",
            chunked(&[format!("{go}{}", ends("stop")).as_bytes()], false)
                .into_iter()
                .chain([Act::Hang])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "talks on after its end",
            chunked(&[format!("{go}{done}").as_bytes()], false)
                .into_iter()
                .chain([Act::Forever(chunk(&says("more")), Duration::ZERO)])
                .collect(),
            Says("go", "", 1),
        ),
        case(
            "rubbish after its end",
            stream(format!("{go}{done}data: {{\"cho\n\n").as_bytes()),
            Says("go", "", 1),
        ),
        case(
            "a page, with success",
            vec![sent(&html)],
            Fail(FailureKind::Odd, "a page for people, not for programs: Log in", 1, ""),
        ),
        case("another content type", vec![sent(&wrong_type)], Says("go", "", 1)),
        case("JSON lines", stream(json_lines.as_bytes()), Says("go", "", 1)),
        case("a plain answer over several lines", stream(pretty.as_bytes()), Says("go", "", 1)),
        case("other JSON", plain(200, "", r#"{"hello":"world"}"#), Fail(FailureKind::Odd, "hello", 1, "")),
        case(
            "a broken piece",
            stream(format!("{go}data: {{\"choices\": [}}\n\n{done}").as_bytes()),
            Fail(FailureKind::Odd, "no whole JSON", 1, "go"),
        ),
        case(
            "an error first",
            stream(error(r#"{"error":{"message":"it broke","code":"bad"}}"#).as_bytes()),
            Fail(FailureKind::ServerFault, "it broke", 1, ""),
        ),
        case(
            "an error with a number, in words",
            stream(error(r#"{"error":{"message":"no credit","code":402}}"#).as_bytes()),
            Fail(FailureKind::Credit, "no credit", 1, ""),
        ),
        case(
            "an error that may pass is asked again",
            stream(numbered.as_bytes()),
            Fail(FailureKind::ServerFault, "Provider disconnected", 5, ""),
        ),
        case(
            "an error in the middle is not",
            stream(format!("{go}{numbered}").as_bytes()),
            Fail(FailureKind::ServerFault, "Provider disconnected", 1, "go"),
        ),
        case(
            "an event called error",
            stream(format!("{go}event: error\ndata: {{\"message\": \"it broke\"}}\n\n").as_bytes()),
            Fail(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "an event called error, in words",
            stream(format!("{go}event: error\ndata: it broke\n\n").as_bytes()),
            Fail(FailureKind::ServerFault, "it broke", 1, "go"),
        ),
        case(
            "detail in the stream",
            stream(error(r#"{"detail":"Not enough memory"}"#).as_bytes()),
            Fail(FailureKind::ServerFault, "Not enough memory", 1, ""),
        ),
        case(
            "an overflow in the stream",
            stream(
                error(r#"{"error":{"message":"the prompt exceeds the available context size","code":400}}"#)
                    .as_bytes(),
            ),
            Fail(FailureKind::TooLong, "context size", 1, ""),
        ),
        case(
            "an error with success",
            plain(200, "", r#"{"error":"no such model"}"#),
            Fail(FailureKind::ServerFault, "no such model", 1, ""),
        ),
        case("a server that ignores stop", whole("go to desk 1\n> look\n"), Says("go to desk 1", "", 1)),
        case(
            "two answers",
            stream(
                format!(
                    "data: {}\n\n{go}{done}",
                    json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]})
                )
                .as_bytes(),
            ),
            Says("go", "", 1),
        ),
    ]);
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

#[test]
fn reasoning_is_never_text() {
    let end = ends("stop");
    let all = |pieces: &[String]| stream(format!("{}{end}data: [DONE]\n\n", pieces.concat()).as_bytes());
    let field = |name: &str| all(&[reasons(name, "let me "), reasons(name, "see\n"), says("go")]);
    let letters = |text: &str| all(&text.chars().map(|c| says(&c.to_string())).collect::<Vec<_>>());
    let no_stop = |e: &mut Endpoint| e.sampling.stop = Some(Vec::new());
    let opened = |e: &mut Endpoint| e.reasoning.opened = true;
    cases(vec![
        case("reasoning_content", field("reasoning_content"), Says("go", "let me see\n", 1)),
        case("reasoning", field("reasoning"), Says("go", "let me see\n", 1)),
        case("tags", all(&[says("<think>let me see\n</think>\n\ngo")]), Says("go", "let me see\n", 1)),
        case(
            "tags, letter by letter",
            letters("<think>let me see\n</think>\n\ngo"),
            Says("go", "let me see\n", 1),
        ),
        Case {
            set: no_stop,
            ..case("no opening tag", letters("let me see\n</think>\n\ngo"), Says("go", "let me see\n", 1))
        },
        Case {
            set: opened,
            ..case(
                "no opening tag, and it is known",
                letters("let me see\n</think>\n\ngo"),
                Says("go", "let me see\n", 1),
            )
        },
        case("only reasoning", all(&[reasons("reasoning_content", "hm")]), Says("", "hmhm", 2)),
        case(
            "cut in a tag",
            stream(format!("{}{}", says("<think>hm</thi"), ends("length")).as_bytes()),
            Says("", "hm</thi", 1),
        ),
        Case {
            scripts: vec![all(&[says("<think>")]), all(&[says("<think>a\nb</think>go")])],
            ..case("a stop text that ends the reasoning is not sent again", Vec::new(), Says("go", "a\nb", 2))
        },
    ]);
}

#[test]
fn what_a_server_refuses_is_left_away_and_told_once() {
    let refusal =
        |status: u16, body: serde_json::Value| plain(status, "connection: close\r\n", &body.to_string());
    run(async {
        let scripts = vec![
            refusal(
                422,
                json!({"detail": "Unexpected fields in the request: {'top_k', 'repetition_penalty'}"}),
            ),
            refusal(422, json!({"detail": "Unexpected fields in the request: {'repetition_penalty'}"})),
            refusal(
                400,
                json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens", "code": "unsupported_parameter"}}),
            ),
            refusal(
                400,
                json!({"error": {"message": "Unsupported value: 'temperature' does not support 0", "param": "temperature"}}),
            ),
            refusal(400, json!({"error": {"message": "System role not supported"}})),
            good("go"),
        ];
        let server = Server::start(scripts).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.sampling.top_k = Some(50);
        endpoint.sampling.repetition_penalty = Some(1.0);
        let provider = provider(endpoint);
        let first = ask(&provider, request()).await;
        assert_eq!((first.text.as_str(), first.notices.len()), ("go", 5), "{first:?}");
        assert!(first.notices[0].contains("refused top_k"), "{:?}", first.notices);
        let second = ask(&provider, request()).await;
        assert_eq!((second.text.as_str(), second.notices.len()), ("go", 0), "it is told once");
        let last = server.asked().pop().unwrap();
        let fields: Vec<&str> = last.body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            fields,
            [
                "max_completion_tokens",
                "messages",
                "model",
                "seed",
                "stop",
                "stream",
                "stream_options",
                "top_p"
            ]
        );
        assert_eq!(last.body["messages"].as_array().unwrap().len(), 1);
        assert_eq!(server.asked().len(), 7);
        let unsent = provider.unsent().join("; ");
        assert!(
            ["top_k", "repetition_penalty", "temperature"].iter().all(|f| unsent.contains(f)),
            "{unsent}"
        );
    });
}

#[test]
fn a_server_that_refuses_everything_is_given_up() {
    run(async {
        let body = r#"{"error":{"message":"unsupported parameter","param":"PARAM"}}"#;
        let fields =
            ["temperature", "top_p", "stop", "seed", "stream_options", "max_tokens", "max_completion_tokens"];
        let mut scripts: Vec<Vec<Act>> =
            fields.iter().map(|f| plain(400, "connection: close\r\n", &body.replace("PARAM", f))).collect();
        scripts.push(plain(400, "connection: close\r\n", &body.replace("PARAM", "model")));
        let server = Server::start(scripts).await;
        let answer = ask(&provider(endpoint(&server.base)), request()).await;
        assert_eq!(answer.error.unwrap().kind, FailureKind::Refused);
        assert_eq!(server.asked().len(), 8);
    });
}

#[test]
fn what_is_sent_and_how() {
    run(async {
        let server = Server::start(vec![good("go"), stream(b"data: {\"choices\":[{\"text\":\"go\"}]}\n\ndata: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n"), good("go")]).await;
        let chat = endpoint(&server.base);
        let mut raw = chat.clone();
        raw.api = Api::Completions;
        raw.auth = Auth::Header("api-key".to_owned());
        raw.query = vec![("api-version".to_owned(), Key::new("2024-10-21"))];
        raw.headers = vec![("x-team".to_owned(), Key::new("reflection"))];
        let mut none = chat.clone();
        none.auth = Auth::None;
        none.max_tokens_field = MaxTokensField::MaxCompletionTokens;
        for endpoint in [chat, raw, none] {
            let answer = ask(&provider(endpoint), request()).await;
            assert_eq!((answer.text.as_str(), answer.error), ("go", None));
            assert_eq!(answer.phases, [Phase::Connecting, Phase::Waiting, Phase::Answering]);
        }
        let asked = server.asked();
        let header = |n: usize, name: &str| asked[n].headers.get(name).map(String::as_str);
        assert_eq!(asked[0].line, "POST /v1/chat/completions HTTP/1.1");
        assert_eq!(header(0, "authorization").unwrap(), format!("Bearer {KEY}"));
        assert_eq!(header(0, "content-type"), Some("application/json"));
        assert_eq!(
            asked[0].body["messages"][1],
            json!({"role": "user", "content": "Put a clean mug on the desk.\n>"})
        );
        assert_eq!(asked[1].line, "POST /v1/completions?api-version=2024-10-21 HTTP/1.1");
        assert_eq!(
            (header(1, "api-key"), header(1, "authorization"), header(1, "x-team")),
            (Some(KEY), None, Some("reflection"))
        );
        assert_eq!(asked[1].body["prompt"], json!("You are in a kitchen.Put a clean mug on the desk.\n>"));
        assert_eq!((header(2, "api-key"), header(2, "authorization")), (None, None));
        assert!(asked[2].body.get("max_tokens").is_none());
    });
}

/// A server that says the key back, in an error, in a page, in its answer, in pieces.
#[test]
fn a_key_that_is_said_back_is_not_seen() {
    let (front, back) = KEY.split_at(9);
    let inside =
        format!("{}{}{}", says(&format!("your key is {front}")), says(&format!("{back} ok")), ends("stop"));
    let error = format!("data: {}\n\n", json!({"error": {"message": format!("bad key {KEY}")}}));
    let location = format!("location: http://elsewhere/{KEY}\r\n");
    let scripts = vec![
        plain(
            401,
            "",
            &json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}}).to_string(),
        ),
        stream(inside.as_bytes()),
        stream(error.as_bytes()),
        stream(format!("{}{}", reasons("reasoning", KEY), ends("length")).as_bytes()),
        plain(307, &location, ""),
        plain(200, "", &format!("<html><title>{KEY}</title></html>")),
        plain(400, "", KEY),
    ];
    run(async {
        let count = scripts.len();
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(&server.base));
        let mut answers: Vec<Answer> = Vec::new();
        for _ in 0..count {
            // The helper looks for the key in all that comes.
            answers.push(ask(&provider, request()).await);
        }
        assert_eq!(answers[1].text, "your key is [hidden] ok");
        let told =
            answers.iter().filter_map(|a| a.error.as_ref()).filter(|e| e.what.contains("[hidden]")).count();
        assert_eq!(told, 5, "{answers:#?}");
        assert!(!format!("{provider:?}").contains(KEY));
    });
}

/// Whoever does not want the answer any more closes the connection in the same moment.
#[test]
fn dropping_the_stream_closes_the_connection() {
    run(async {
        let scripts = vec![
            vec![Act::Hang],
            chunked(&[says("go").as_bytes()], false).into_iter().chain([Act::Hang]).collect(),
            good("after"),
        ];
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(&server.base));
        for wanted in [Delta::Phase(Phase::Waiting), Delta::Text("go".to_owned())] {
            let mut stream = provider.stream(request());
            while stream.next().await.unwrap().unwrap() != wanted {}
        }
        for _ in 0..2000 {
            if server.gone() == 2 {
                break;
            }
            tokio::time::sleep(5 * MS).await;
        }
        assert_eq!(server.gone(), 2);
        assert_eq!(ask(&provider, request()).await.text, "after");
    });
}

/// A connection that the server has closed between two questions costs nothing but another connection.
#[test]
fn a_kept_connection_that_was_closed_is_made_anew() {
    run(async {
        let server = Server::start(vec![good("one"), good("two"), good("three")]).await;
        let provider = provider(endpoint(&server.base));
        for want in ["one", "two", "three"] {
            assert_eq!(ask(&provider, request()).await.text, want);
            tokio::time::sleep(5 * MS).await;
        }
        let twice = [good("one"), vec![Act::Read], good("two")].concat();
        let server = Server::start(vec![[vec![Act::Read], twice].concat()]).await;
        let provider = self::provider(endpoint(&server.base));
        assert_eq!(ask(&provider, request()).await.text, "one");
        assert_eq!(ask(&provider, request()).await.text, "two", "over the same connection");
    });
}

#[test]
fn a_provider_outlives_the_runtime_it_was_first_used_in() {
    let mut kept = None;
    for text in ["one", "two"] {
        run(async {
            let server = Server::start(vec![good(text)]).await;
            let provider = kept.take().unwrap_or_else(|| provider(endpoint(&server.base)));
            if text == "one" {
                assert_eq!(ask(&provider, request()).await.text, "one");
            } else {
                // The first server has gone with its runtime.
                assert_eq!(ask(&provider, request()).await.error.unwrap().kind, FailureKind::Unreachable);
            }
            kept = Some(provider);
        });
    }
}

#[test]
fn the_cache_answers_the_same_question_alone() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let server =
            Server::start(vec![good("one"), good("two"), good("three"), plain(401, "", "no"), good("four")])
                .await;
        let inner = provider(endpoint(&server.base));
        let identity = inner.endpoint().identity();
        assert!(!identity.contains(KEY));
        let cached = |mode| Cached::new(Arc::new(inner.clone()), identity.clone(), folder.path(), mode);
        let both = cached(Cache::ReadWrite);
        assert_eq!(ask(&both, request()).await.text, "one");
        let again = ask(&both, request()).await;
        assert_eq!((again.text.as_str(), again.usage.map(|u| u.cached)), ("one", Some(true)));
        let mut other = request();
        other.seed = 8;
        assert_eq!(
            ask(&cached(Cache::Read), other.clone()).await.text,
            "two",
            "the seed is part of the question"
        );
        assert_eq!(ask(&both, other.clone()).await.text, "three", "and what was only read is not kept");
        other.wish.temperature = Some(0.2);
        assert!(ask(&both, other.clone()).await.error.is_some());
        assert_eq!(ask(&both, other.clone()).await.text, "four", "a failure is not kept");
        // A file that is no answer is none.
        for file in files(folder.path()) {
            assert!(!String::from_utf8_lossy(&std::fs::read(&file).unwrap()).contains(KEY));
            std::fs::write(file, "{").unwrap();
        }
        assert_eq!(ask(&cached(Cache::Read), request()).await.text, "four");
        assert_eq!(ask(&cached(Cache::Off), request()).await.text, "four");
    });
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() { all.extend(files(&entry.path())) } else { all.push(entry.path()) }
    }
    all
}
