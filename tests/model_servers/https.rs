//! Model servers behind HTTPS and proxies: which certificates are trusted, how others are reported, and who gets the
//! key.

use crate::client::{KEY, ask, endpoint, provider, request};
use crate::front::{TlsFront, tls_file};
use crate::server::{ScriptStep, Server, chunked, complete_reply, head, plain_response, text_event};
use futures_util::StreamExt as _;
use retrospect::provider::openai::Endpoint;
use retrospect::provider::{Delta, FailureKind, Provider};
use std::future::Future;
use std::process::Command;

fn block_on(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test);
}

/// Returns an endpoint that trusts the CA of these tests.
fn trusting_endpoint(base: &str) -> Endpoint {
    let mut endpoint = endpoint(base);
    endpoint.ca_file = Some(tls_file("ca.pem"));
    endpoint
}

#[test]
fn a_trusted_server_streams_and_notices_a_disconnect() {
    block_on(async {
        let stalled: Vec<ScriptStep> =
            chunked(&[text_event("go").as_bytes()], false).into_iter().chain([ScriptStep::Hang]).collect();
        let interrupted: Vec<ScriptStep> = chunked(&[text_event("go to").as_bytes()], false)
            .into_iter()
            .chain([ScriptStep::Reset])
            .collect();
        let server = Server::start(vec![complete_reply("open the door"), stalled, interrupted]).await;
        let front = TlsFront::start(&server.base, "server.pem").await;
        let provider = provider(trusting_endpoint(&front.base));
        let answer = ask(&provider, request()).await;
        assert_eq!((answer.text.as_str(), answer.error), ("open the door", None));
        assert_eq!(server.requests()[0].headers["authorization"], format!("Bearer {KEY}"));
        // The first chunk arrives while the server holds back the rest; then the client cancels.
        let mut stream = provider.stream(request());
        while stream.next().await.unwrap().unwrap() != Delta::Text("go".to_owned()) {}
        drop(stream);
        for _ in 0..12_000 {
            if server.disconnects() == 1 {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(server.disconnects(), 1);
        let error = ask(&provider, request()).await.error.unwrap();
        assert_eq!(
            (error.kind, error.partial_reply.as_str()),
            (FailureKind::Interrupted, "go to"),
            "{error:?}"
        );
    });
}

/// An untrusted server receives nothing and is contacted once; the error says what to do.
#[test]
fn an_untrusted_server_gets_no_key_and_the_error_says_what_to_do() {
    block_on(async {
        let server = Server::start(vec![complete_reply("never")]).await;
        let front = TlsFront::start(&server.base, "server.pem").await;
        let other = TlsFront::start(&server.base, "other.pem").await;
        // Like real servers, it takes a TLS client hello for a malformed request.
        let http = Server::start(vec![vec![ScriptStep::Send(head(400, "")), ScriptStep::Read]]).await;
        let http = http.base.replace("http:", "https:");
        let with_ca_file = |base: &str, file: &str| {
            let mut endpoint = endpoint(base);
            endpoint.ca_file = Some(tls_file(file));
            endpoint
        };
        let cases = [
            (endpoint(&front.base), "signed by an unknown authority", "--ca-file FILE"),
            (trusting_endpoint(&other.base), "is for another name", "base URL"),
            (trusting_endpoint(&http), "does not speak https", "http://"),
            (with_ca_file(&front.base, "server.key"), "no certificate found in ca_file", "PEM"),
            (with_ca_file(&front.base, "nowhere.pem"), "nowhere.pem: could not read ca_file", "PEM"),
        ];
        for (endpoint, message, hint) in cases {
            let answer = ask(&provider(endpoint), request()).await;
            let error = answer.error.unwrap();
            assert_eq!(error.kind, FailureKind::Misconfigured, "{error:?}");
            assert!(error.message.contains(message) && error.hint.contains(hint), "{error:?}");
            assert!(answer.notices.is_empty(), "it is not contacted again: {:?}", answer.notices);
        }
        assert!(server.requests().is_empty(), "unexpected requests: {:?}", server.requests());
        // The other way round, both server and client receive garbage.
        let plain = front.base.replace("https:", "http:");
        assert!(ask(&provider(endpoint(&plain)), request()).await.error.is_some());
        assert!(server.requests().is_empty());
    });
}

#[test]
fn redirects_are_not_followed_with_the_key() {
    block_on(async {
        let elsewhere = Server::start(vec![complete_reply("stolen")]).await;
        for status in [301, 302, 303, 307, 308] {
            let location = format!("location: {}/chat/completions\r\n", elsewhere.base);
            let server = Server::start(vec![plain_response(status, &location, "")]).await;
            let front = TlsFront::start(&server.base, "server.pem").await;
            let answer = ask(&provider(trusting_endpoint(&front.base)), request()).await;
            let error = answer.error.unwrap();
            assert!(
                error.kind == FailureKind::Misconfigured && error.message.contains("redirects to"),
                "{status}: {error:?}"
            );
            assert_eq!(server.requests().len(), 1);
        }
        assert!(elsewhere.requests().is_empty());
    });
}

/// Runs the program with only these variables; returns exit code and output.
async fn run_program(home: &tempfile::TempDir, args: &[&str], variables: &[(&str, &str)]) -> (i32, String) {
    let path_of = |name: &str| home.path().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(args).current_dir(home.path()).env_clear().env("HOME", path_of("home"));
    command.env("RETROSPECT_CONFIG_DIR", path_of("config")).env("RETROSPECT_SESSIONS", path_of("sessions"));
    command.env("OPENAI_API_KEY", KEY).envs(variables.iter().copied());
    let finished = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let output = [finished.stdout, finished.stderr].concat();
    let output = String::from_utf8(output).unwrap();
    assert!(!output.contains(KEY), "the key is on the screen: {output}");
    (finished.status.code().unwrap_or(-1), output)
}

const RUN_ARGS: &[&str] =
    &["run", "--headless", "--max-steps", "1", "--actor", "openai:tiny", "--method", "react", "--base-url"];

#[test]
fn every_documented_way_to_add_a_ca_works() {
    block_on(async {
        let home = tempfile::tempdir().unwrap();
        let server = Server::start(vec![complete_reply("look")]).await;
        let front = TlsFront::start(&server.base, "server.pem").await;
        let ca = tls_file("ca.pem").display().to_string();
        let run: Vec<&str> = [RUN_ARGS, &[&front.base]].concat();
        let profile = home.path().join("mine.toml");
        std::fs::write(&profile, format!("[models.mine]\nca_file = {ca:?}\n")).unwrap();
        let profile = profile.display().to_string();
        let (code, output) = run_program(&home, &run, &[]).await;
        assert!(
            code == 3 && output.contains("signed by an unknown authority") && output.contains("--ca-file"),
            "{code}: {output}"
        );
        assert!(server.requests().is_empty());
        type AuthorityCase<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
        let cases: &[AuthorityCase<'_>] = &[
            (&["--ca-file", &ca], &[]),
            (&[], &[("RETROSPECT_CA_FILE", &ca)]),
            (&["--profile", "mine", "--config", &profile], &[]),
            #[cfg(target_os = "linux")]
            (&[], &[("SSL_CERT_FILE", &ca)]),
        ];
        for (n, (flags, variables)) in cases.iter().enumerate() {
            let (code, output) = run_program(&home, &[run.as_slice(), flags].concat(), variables).await;
            assert_eq!(code, 0, "{flags:?} {variables:?}: {output}");
            assert_eq!(server.requests().len(), n + 1);
        }
        let (code, output) =
            run_program(&home, &[run.as_slice(), &["--ca-file", "nowhere.pem"]].concat(), &[]).await;
        assert!(code != 0 && output.contains("nowhere.pem: ca_file could not be read"), "{code}: {output}");
        let doctor = ["doctor", "--base-url", &front.base];
        assert!(run_program(&home, &doctor, &[]).await.1.contains("signed by an unknown authority"));
        let (_, output) = run_program(&home, &[doctor.as_slice(), &["--ca-file", &ca]].concat(), &[]).await;
        assert!(!output.contains("signed by an unknown authority"), "{output}");
    });
}

#[test]
fn proxies_from_the_environment_are_used_and_reported_except_for_localhost() {
    block_on(async {
        let home = tempfile::tempdir().unwrap();
        let server = Server::start(vec![complete_reply("look")]).await;
        let proxy = server.base.trim_end_matches("/v1").to_owned();
        let port = proxy.rsplit(':').next().unwrap();
        let run = |base: &str, extra: &[&str]| -> Vec<String> {
            [RUN_ARGS, &[base], extra].concat().into_iter().map(str::to_owned).collect()
        };
        let run_with_env = async |run: Vec<String>, variables: &[(&str, &str)]| {
            let run: Vec<&str> = run.iter().map(String::as_str).collect();
            run_program(&home, &run, variables).await
        };
        // A plain HTTP proxy gets the whole URL.
        let (code, output) =
            run_with_env(run("http://model.example/v1", &[]), &[("HTTP_PROXY", &proxy)]).await;
        assert_eq!(code, 0, "{output}");
        assert_eq!(server.requests()[0].line, "POST http://model.example/v1/chat/completions HTTP/1.1");
        // Through a tunnel, the proxy doesn't see the key.
        let front = TlsFront::start(&server.base, "server.pem").await;
        let tunnel = TlsFront::start_tunnel(&front.base).await;
        let ca = tls_file("ca.pem").display().to_string();
        let with_ca = ["--ca-file", &ca];
        let (code, output) =
            run_with_env(run("https://model.example/v1", &with_ca), &[("HTTPS_PROXY", &tunnel.base)]).await;
        assert_eq!(code, 0, "{output}");
        let heads = tunnel.request_heads();
        assert!(heads[0].starts_with("CONNECT model.example:443 HTTP/1.1"), "{heads:?}");
        assert!(!heads.concat().contains(KEY), "{heads:?}");
        assert_eq!(server.requests().len(), 2);
        // An unreachable proxy is named as the cause; an excluded one is not used.
        let unreachable_proxy = ("ALL_PROXY", "http://127.0.0.1:9");
        let profile = home.path().join("once.toml");
        std::fs::write(&profile, "[models.once]\nretries = 0\n").unwrap();
        let once = ["--profile", "once", "--config", profile.to_str().unwrap()];
        let (code, output) = run_with_env(run("http://0.0.0.0:1/v1", &once), &[unreachable_proxy]).await;
        assert!(code == 3 && output.contains("proxy"), "{code}: {output}");
        let direct = format!("http://0.0.0.0:{port}/v1");
        assert_eq!(run_with_env(run(&direct, &[]), &[unreachable_proxy, ("NO_PROXY", "0.0.0.0")]).await.0, 0);
        assert_eq!(run_with_env(run(&server.base, &[]), &[unreachable_proxy]).await.0, 0);
        assert_eq!(server.requests().len(), 4);
    });
}
