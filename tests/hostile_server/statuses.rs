//! HTTP statuses, and parameters that a server rejects.

use crate::Expected::{Failure, Reply};
use crate::client::{ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, complete_reply, head, plain_response};
use crate::{Case, block_on, case, run_cases, send_bytes};
use retrospect::provider::{FailureKind, Provider};
use serde_json::json;

/// Gemini's rate limit, with the retry delay in its details.
const RETRY_INFO: &str = r#"[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}]"#;
const RETRY_INFO_SHORT: &str = r#"[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.01s"}]}}]"#;

#[test]
fn each_status_fails_or_is_retried() {
    let error = |status: u16, body: &'static str| plain_response(status, "", body);
    let slow_down = |status: u16, headers: &'static str| {
        plain_response(status, headers, r#"{"error":{"message":"slow down","code":"429"}}"#)
    };
    let page = |status: u16| {
        vec![send_bytes(
            &[
                head(status, "content-type: text/html\r\n"),
                b"<!DOCTYPE html><html><title>Bad Gateway</title></html>".to_vec(),
            ]
            .concat(),
        )]
    };
    let then_good = |name: &'static str, first: Vec<ScriptStep>| Case {
        scripts: vec![first, complete_reply("go")],
        ..case(name, Vec::new(), Reply("go", "", 2))
    };
    run_cases(vec![
        case(
            "no key",
            error(401, r#"{"detail":"Invalid API key"}"#),
            Failure(FailureKind::Credentials, "401: Invalid API key", 1, ""),
        ),
        case(
            "no credit",
            error(402, r#"{"error":{"message":"Insufficient credits","code":402}}"#),
            Failure(FailureKind::OutOfCredit, "Insufficient credits", 1, ""),
        ),
        case(
            "forbidden",
            error(403, r#"{"error":{"message":"flagged","code":403}}"#),
            Failure(FailureKind::Forbidden, "flagged", 1, ""),
        ),
        case(
            "wrong path",
            error(404, r#"{"detail":"Not Found"}"#),
            Failure(FailureKind::NotFound, "Not Found", 1, ""),
        ),
        case(
            "wrong method",
            error(405, r#"{"detail":"Method Not Allowed"}"#),
            Failure(FailureKind::NotFound, "405", 1, ""),
        ),
        case(
            "invalid request",
            error(422, r#"{"detail":[{"loc":["body","messages"],"msg":"field required"}]}"#),
            Failure(FailureKind::BadRequest, "body.messages: field required", 1, ""),
        ),
        case(
            "a list of errors",
            error(
                400,
                r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
            ),
            Failure(FailureKind::BadRequest, "API key not valid", 1, ""),
        ),
        case(
            "teapot",
            error(418, "short and stout"),
            Failure(FailureKind::BadRequest, "418: short and stout", 1, ""),
        ),
        case(
            "an error with an empty body",
            error(400, ""),
            Failure(FailureKind::BadRequest, "400: no error message", 1, ""),
        ),
        case(
            "quota exceeded: not a rate limit",
            error(
                429,
                r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
            ),
            Failure(FailureKind::OutOfCredit, "exceeded", 1, ""),
        ),
        case(
            "an HTML page",
            page(404),
            Failure(FailureKind::NotFound, "an HTML page, not JSON: Bad Gateway", 1, ""),
        ),
        case("an HTML page every time", page(502), Failure(FailureKind::Busy, "Bad Gateway", 5, "")),
        case(
            "500 is retried twice",
            vec![send_bytes(
                &[head(500, "content-type: text/plain\r\n"), b"Internal Server Error".to_vec()].concat(),
            )],
            Failure(FailureKind::ServerFault, "Internal Server Error (retried 2 times)", 3, ""),
        ),
        case("always busy", slow_down(503, ""), Failure(FailureKind::Busy, "retried 4 times", 5, "")),
        case(
            "busy, and the server forbids retries",
            slow_down(429, "x-should-retry: false\r\n"),
            Failure(FailureKind::Busy, "slow down", 1, ""),
        ),
        case(
            "a retry delay that is too long",
            slow_down(429, "retry-after: 60\r\n"),
            Failure(FailureKind::Busy, "retry after 60 s", 1, ""),
        ),
        case(
            "a proxy's retry delay that is too long",
            slow_down(429, "llm_provider-retry-after: 60\r\n"),
            Failure(FailureKind::Busy, "retry after 60 s", 1, ""),
        ),
        case(
            "a retry date too far in the future",
            slow_down(
                429,
                "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:59:30 GMT\r\n",
            ),
            Failure(FailureKind::Busy, "retry after 600 s", 1, ""),
        ),
        then_good("a retry delay in the body (Gemini)", error(429, RETRY_INFO_SHORT)),
        case(
            "a retry delay in the body that is too long",
            error(429, RETRY_INFO),
            Failure(FailureKind::Busy, "retry after 17 s", 1, ""),
        ),
        then_good("a retry delay in seconds", slow_down(429, "retry-after: 0.01\r\n")),
        then_good("a retry delay in milliseconds", slow_down(429, "retry-after-ms: 5\r\n")),
        then_good(
            "a retry date in the past",
            slow_down(
                503,
                "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:30 GMT\r\n",
            ),
        ),
        then_good("an invalid retry delay", slow_down(429, "retry-after: soon\r\n")),
        then_good("408", slow_down(408, "")),
        then_good("409", slow_down(409, "")),
        then_good("504", slow_down(504, "")),
        then_good("500 once", slow_down(500, "")),
        case(
            "a redirect to another host",
            plain_response(307, "location: https://evil.example/v1?key=x\r\n", ""),
            Failure(FailureKind::Misconfigured, "redirects to https://evil.example/v1 (HTTP 307)", 1, ""),
        ),
        case(
            "a compressed body",
            vec![send_bytes(
                &[
                    head(200, "content-encoding: gzip\r\ncontent-type: text/event-stream\r\n"),
                    vec![0x1f, 0x8b, 8, 0],
                ]
                .concat(),
            )],
            Failure(FailureKind::InvalidResponse, "compressed", 1, ""),
        ),
        case(
            "an empty body with status 200",
            plain_response(200, "", ""),
            Failure(FailureKind::EmptyReply, "empty reply", 2, ""),
        ),
        case(
            "204",
            vec![send_bytes(b"HTTP/1.1 204 No Content\r\n\r\n")],
            Failure(FailureKind::BadRequest, "204", 1, ""),
        ),
    ]);
}

#[test]
fn rejected_parameters_are_dropped_and_reported_once() {
    let rejection = |status: u16, body: serde_json::Value| {
        plain_response(status, "connection: close\r\n", &body.to_string())
    };
    block_on(async {
        let scripts = vec![
            rejection(
                422,
                json!({"detail": "Unexpected fields in the request: {'top_k', 'repetition_penalty'}"}),
            ),
            rejection(422, json!({"detail": "Unexpected fields in the request: {'repetition_penalty'}"})),
            rejection(
                400,
                json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens", "code": "unsupported_parameter"}}),
            ),
            rejection(
                400,
                json!({"error": {"message": "Unsupported value: 'temperature' does not support 0", "param": "temperature"}}),
            ),
            rejection(400, json!({"error": {"message": "System role not supported"}})),
            complete_reply("go"),
        ];
        let server = Server::start(scripts).await;
        let mut endpoint = endpoint(&server.base);
        endpoint.sampling.top_k = Some(50);
        endpoint.sampling.repetition_penalty = Some(1.0);
        let provider = provider(endpoint);
        let first = ask(&provider, request()).await;
        assert_eq!((first.text.as_str(), first.notices.len()), ("go", 5), "{first:?}");
        assert!(first.notices[0].contains("rejected top_k"), "{:?}", first.notices);
        let second = ask(&provider, request()).await;
        assert_eq!((second.text.as_str(), second.notices.len()), ("go", 0), "reported once");
        let last = server.requests().pop().unwrap();
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
        assert_eq!(server.requests().len(), 7);
        let unsent = provider.setting_deviations().join("; ");
        assert!(
            ["top_k", "repetition_penalty", "temperature"].iter().all(|f| unsent.contains(f)),
            "{unsent}"
        );
    });
}

/// Regression: the temperature was dropped first, so replies were sampled at 1.
#[test]
fn claude_behind_a_router_keeps_the_temperature_without_top_p() {
    block_on(async {
        let message =
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
        let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": null}});
        let server = Server::start(vec![
            plain_response(400, "connection: close\r\n", &body.to_string()),
            complete_reply("go"),
        ])
        .await;
        let client = provider(endpoint(&server.base));
        let answer = ask(&client, request()).await;
        assert_eq!((answer.text.as_str(), answer.notices.len()), ("go", 1));
        let host = client.endpoint().host();
        assert_eq!(answer.notices[0].matches(host).count(), 1, "the server once: {}", answer.notices[0]);
        assert!(answer.notices[0].contains("rejected top_p"), "{}", answer.notices[0]);
        ask(&client, request()).await;
        let sent: Vec<(bool, bool)> = server
            .requests()
            .iter()
            .map(|a| (a.body.get("temperature").is_some(), a.body.get("top_p").is_some()))
            .collect();
        assert_eq!(sent, [(true, true), (true, false), (true, false)]);
        assert!(client.setting_deviations().iter().any(|unsent| unsent.starts_with("top_p")));
    });
}

#[test]
fn a_server_that_rejects_everything_is_an_error() {
    block_on(async {
        let body = r#"{"error":{"message":"unsupported parameter","param":"PARAM"}}"#;
        let fields =
            ["temperature", "top_p", "stop", "seed", "stream_options", "max_tokens", "max_completion_tokens"];
        let mut scripts: Vec<Vec<ScriptStep>> = fields
            .iter()
            .map(|f| plain_response(400, "connection: close\r\n", &body.replace("PARAM", f)))
            .collect();
        scripts.push(plain_response(400, "connection: close\r\n", &body.replace("PARAM", "model")));
        let server = Server::start(scripts).await;
        let answer = ask(&provider(endpoint(&server.base)), request()).await;
        assert_eq!(answer.error.unwrap().kind, FailureKind::BadRequest);
        assert_eq!(server.requests().len(), 8);
    });
}
