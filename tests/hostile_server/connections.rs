//! Connections that fail, that are closed, and that are reopened.

use crate::Expected::{Failure, Reply};
use crate::client::{ask, endpoint, provider, request};
use crate::server::{ScriptStep, Server, chunked, complete_reply, reasoning_event, stream, text_event};
use crate::{Case, MS, block_on, case, run_cases, send_bytes};
use futures_util::StreamExt as _;
use retrospect::domain::CallPhase;
use retrospect::provider::openai::{Endpoint, Secret};
use retrospect::provider::{Delta, FailureKind, Provider};

#[test]
fn failed_connections_are_reported_or_retried() {
    let then_hang = |begin: Vec<ScriptStep>| begin.into_iter().chain([ScriptStep::Hang]).collect::<Vec<_>>();
    let then_reset =
        |begin: Vec<ScriptStep>| begin.into_iter().chain([ScriptStep::Reset]).collect::<Vec<_>>();
    let go = text_event("go to");
    let partial_reply = || chunked(&[go.as_bytes()], false);
    let thought = reasoning_event("reasoning_content", "hm");
    let short_first_timeout = |e: &mut Endpoint| e.timeouts.first_piece = 60 * MS;
    let short_idle_timeout = |e: &mut Endpoint| e.timeouts.idle = 60 * MS;
    run_cases(vec![
        Case {
            configure: short_first_timeout,
            ..case(
                "hangs before the response head",
                vec![ScriptStep::Hang],
                Failure(FailureKind::TimedOut, "did not start to reply", 1, ""),
            )
        },
        Case {
            configure: short_first_timeout,
            ..case(
                "hangs within the response head",
                then_hang(vec![send_bytes(b"HTTP/1.1 200 OK\r\nconten")]),
                Failure(FailureKind::TimedOut, "did not start to reply", 1, ""),
            )
        },
        Case {
            configure: short_first_timeout,
            ..case(
                "hangs after the response head",
                then_hang(chunked(&[], false)),
                Failure(FailureKind::TimedOut, "", 1, ""),
            )
        },
        Case {
            configure: short_idle_timeout,
            ..case(
                "hangs in the middle",
                then_hang(partial_reply()),
                Failure(FailureKind::TimedOut, "sent nothing for", 1, "go to"),
            )
        },
        Case {
            configure: short_idle_timeout,
            ..case(
                "hangs within a line",
                then_hang(chunked(&[go.as_bytes(), b"data: {\"cho"], false)),
                Failure(FailureKind::TimedOut, "sent nothing for", 1, "go to"),
            )
        },
        Case {
            configure: |e| e.timeouts.total = Some(80 * MS),
            ..case(
                "total time limit, if configured",
                chunked(&[go.as_bytes()], false)
                    .into_iter()
                    .chain([ScriptStep::Forever(b"1\r\n:\r\n".to_vec(), MS)])
                    .collect(),
                Failure(FailureKind::TimedOut, "was not complete after", 1, "go to"),
            )
        },
        Case {
            configure: short_first_timeout,
            ..case(
                "sends keep-alive comments forever",
                chunked(&[], false)
                    .into_iter()
                    .chain([ScriptStep::Forever(b"3\r\n:\n\n\r\n".to_vec(), MS)])
                    .collect(),
                Failure(FailureKind::TimedOut, "", 1, ""),
            )
        },
        Case {
            configure: short_first_timeout,
            ..case(
                "starts to reply, then sends keep-alive comments forever",
                partial_reply()
                    .into_iter()
                    .chain([ScriptStep::Forever(b"3\r\n:\n\n\r\n".to_vec(), MS)])
                    .collect(),
                Failure(FailureKind::TimedOut, "is alive but has sent no text", 1, "go to"),
            )
        },
        Case {
            configure: short_first_timeout,
            ..case(
                "sends single bytes but never a complete event",
                chunked(&[b"data: {"], false)
                    .into_iter()
                    .chain([ScriptStep::Forever(b"1\r\n \r\n".to_vec(), MS)])
                    .collect(),
                Failure(FailureKind::TimedOut, "", 1, ""),
            )
        },
        case(
            "always resets the connection before the response head",
            vec![ScriptStep::Read, ScriptStep::Reset],
            Failure(FailureKind::Unreachable, "before it replied", 6, ""),
        ),
        case(
            "resets the connection within the response head",
            then_reset(vec![send_bytes(b"HTTP/1.1 200 OK\r\nconten")]),
            Failure(FailureKind::Unreachable, "before it replied", 6, ""),
        ),
        case(
            "resets the connection after the response head",
            then_reset(chunked(&[], false)),
            Failure(FailureKind::Unreachable, "before it replied", 5, ""),
        ),
        case(
            "killed in the middle",
            then_reset(partial_reply()),
            Failure(FailureKind::Interrupted, "was cut off", 1, "go to"),
        ),
        case(
            "a truncated chunk",
            then_reset(vec![partial_reply()[0].clone(), send_bytes(format!("ff\r\n{go}").as_bytes())]),
            Failure(FailureKind::Interrupted, "was cut off", 1, "go to"),
        ),
        case(
            "reset during the reasoning",
            then_reset(chunked(&[thought.as_bytes()], false)),
            Failure(FailureKind::Interrupted, "was cut off", 1, ""),
        ),
        case(
            "a body shorter than its content-length",
            vec![send_bytes(
                format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\n{go}"
                )
                .as_bytes(),
            )],
            Failure(FailureKind::Interrupted, "was cut off", 1, "go to"),
        ),
        case(
            "ends without a finish reason",
            stream(go.as_bytes()),
            Failure(FailureKind::Interrupted, "without a finish_reason", 1, "go to"),
        ),
        case(
            "ends in the middle of a line",
            stream(format!("{go}data: {{\"choices\": [").as_bytes()),
            Failure(FailureKind::InvalidResponse, "not valid JSON", 1, "go to"),
        ),
        case(
            "not HTTP",
            vec![send_bytes(b"SSH-2.0-OpenSSH_9.6\r\n")],
            Failure(FailureKind::Unreachable, "", 5, ""),
        ),
        Case {
            scripts: vec![
                vec![ScriptStep::Read, ScriptStep::Reset],
                vec![ScriptStep::Read, ScriptStep::Reset],
                complete_reply("go"),
            ],
            ..case("available again at the third attempt", Vec::new(), Reply("go", "", 3))
        },
    ]);
}

#[test]
fn an_unreachable_or_invalid_address_is_reported() {
    block_on(async {
        let base = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}/v1", listener.local_addr().unwrap())
        };
        let answer = ask(&provider(endpoint(&base)), request()).await;
        let error = answer.error.unwrap();
        assert_eq!(error.kind, FailureKind::Unreachable);
        assert!(
            error.message.contains("cannot connect to") && error.message.contains("retried 4 times"),
            "{}",
            error.message
        );
        assert_eq!(answer.notices.len(), 4, "every retry is reported: {:?}", answer.notices);
        let invalid_addresses = [
            ("ftp://h/v1", "must start with http"),
            ("", "base URL"),
            ("http://me:sekretpass@h/v1", "name or password"),
        ];
        for (base, words) in invalid_addresses {
            let error = ask(&provider(endpoint(base)), request()).await.error.unwrap();
            assert!(
                error.kind == FailureKind::Misconfigured && error.message.contains(words),
                "{base}: {error:?}"
            );
            assert!(!format!("{error:?}").contains("sekretpass"));
        }
        let mut bad_key = endpoint(&base);
        bad_key.key = Some(Secret::new("two\nlines-of-a-key"));
        let error = ask(&provider(bad_key), request()).await.error.unwrap();
        assert!(
            error.kind == FailureKind::Misconfigured && !format!("{error:?}").contains("lines-of"),
            "{error:?}"
        );
    });
}

/// Dropping the stream closes the connection at once.
#[test]
fn dropping_the_stream_closes_the_connection() {
    block_on(async {
        let scripts = vec![
            vec![ScriptStep::Hang],
            chunked(&[text_event("go").as_bytes()], false).into_iter().chain([ScriptStep::Hang]).collect(),
            chunked(&[], false)
                .into_iter()
                .chain([ScriptStep::Forever(b"3\r\n:\n\n\r\n".to_vec(), MS)])
                .collect(),
            complete_reply("after"),
        ];
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(&server.base));
        for delta in [Delta::Phase(CallPhase::Waiting), Delta::Text("go".to_owned()), Delta::KeepAlive] {
            let mut stream = provider.stream(request());
            while stream.next().await.unwrap().unwrap() != delta {}
        }
        for _ in 0..2000 {
            if server.disconnects() == 3 {
                break;
            }
            tokio::time::sleep(5 * MS).await;
        }
        assert_eq!(server.disconnects(), 3);
        assert_eq!(ask(&provider, request()).await.text, "after");
    });
}

/// If the server closed the connection between two requests, the client opens a new one.
#[test]
fn a_closed_keep_alive_connection_is_reopened() {
    block_on(async {
        let closed = |text| [complete_reply(text), vec![ScriptStep::CloseUnannounced]].concat();
        let server = Server::start(["one", "two", "three"].map(closed).to_vec()).await;
        let provider = provider(endpoint(&server.base));
        for expected in ["one", "two", "three"] {
            assert_eq!(ask(&provider, request()).await.text, expected);
            tokio::time::sleep(5 * MS).await;
        }
        let two_replies = [complete_reply("one"), vec![ScriptStep::Read], complete_reply("two")].concat();
        let server = Server::start(vec![[vec![ScriptStep::Read], two_replies].concat()]).await;
        let provider = self::provider(endpoint(&server.base));
        assert_eq!(ask(&provider, request()).await.text, "one");
        assert_eq!(ask(&provider, request()).await.text, "two", "over the same connection");
    });
}

/// Regression: a server that announces keep-alive and closes each connection after its stream (llama.cpp's) got half of the requests a
/// notice and a wait.
#[test]
fn a_request_that_is_lost_on_a_closing_connection_is_sent_again_at_once() {
    block_on(async {
        let lost = vec![ScriptStep::Read, ScriptStep::CloseUnannounced];
        let then_closes = |text| [vec![ScriptStep::Read], complete_reply(text), lost.clone()].concat();
        let server = Server::start(vec![
            then_closes("one"),
            then_closes("two"),
            lost.clone(),
            complete_reply("three"),
        ])
        .await;
        let provider = provider(endpoint(&server.base));
        assert_eq!(ask(&provider, request()).await.text, "one");
        let answer = ask(&provider, request()).await;
        assert_eq!((answer.text.as_str(), server.requests().len()), ("two", 3));
        assert_eq!(answer.notices, Vec::<String>::new(), "nobody is told");
        assert!(
            answer.phases.iter().all(|phase| !matches!(phase, CallPhase::Retrying(_))),
            "{:?}",
            answer.phases
        );
        // The second one in a row is a retry like any other.
        let answer = ask(&provider, request()).await;
        assert_eq!((answer.text.as_str(), server.requests().len()), ("three", 6));
        assert!(
            answer.notices.len() == 1 && answer.notices[0].contains("retry 1 of 4"),
            "{:?}",
            answer.notices
        );
    });
}

#[test]
fn a_provider_outlives_the_runtime_it_was_first_used_in() {
    let mut first_provider = None;
    for text in ["one", "two"] {
        block_on(async {
            let server = Server::start(vec![complete_reply(text)]).await;
            let provider = first_provider.take().unwrap_or_else(|| provider(endpoint(&server.base)));
            if text == "one" {
                assert_eq!(ask(&provider, request()).await.text, "one");
            } else {
                // The first server ended with its runtime.
                assert_eq!(ask(&provider, request()).await.error.unwrap().kind, FailureKind::Unreachable);
            }
            first_provider = Some(provider);
        });
    }
}
