//! A local model server that follows a script, byte by byte, and records its requests.

#![allow(dead_code, reason = "each target uses only part of it")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A step of the script of a connection.
#[derive(Clone, Debug)]
pub(crate) enum ScriptStep {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes repeatedly, with a pause, as long as the connection is open.
    Forever(Vec<u8>, Duration),
    Wait(Duration),
    /// Waits until this many requests have arrived in total.
    Requests(usize),
    /// Sends nothing more and keeps the connection open.
    Hang,
    /// Resets the connection.
    Reset,
    /// Ends, and with it the connection, although the response before it didn't say so.
    CloseUnannounced,
    /// Reads the next request on the same connection. What precedes the first of these is sent without a request.
    Read,
}

/// A request that was received.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// The names of the headers, including repeated ones.
    pub(crate) names: Vec<String>,
    pub(crate) body: Value,
    /// How many other requests were being answered when it arrived.
    pub(crate) concurrent: usize,
}

pub(crate) struct Server {
    pub(crate) base: String,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
    disconnect_count: Arc<Mutex<u32>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Starts a server whose n-th connection follows the n-th script, and later ones the last script. A script
    /// without [`ScriptStep::Read`] begins with one.
    pub(crate) async fn start(scripts: Vec<Vec<ScriptStep>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let (received, disconnect_count) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let (log, disconnects, busy) = (received.clone(), disconnect_count.clone(), Arc::new(()));
        let task = tokio::spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let script = scripts[number.min(scripts.len() - 1)].clone();
                number += 1;
                let (log, disconnects, busy) = (log.clone(), disconnects.clone(), Arc::downgrade(&busy));
                tokio::spawn(async move {
                    if !run_script(stream, script, &log, &busy).await {
                        *disconnects.lock().unwrap() += 1;
                    }
                });
            }
        });
        Self { base, received, disconnect_count, task }
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.received.lock().unwrap().clone()
    }

    /// Returns how often a client closed the connection before the end of the script.
    pub(crate) fn disconnects(&self) -> u32 {
        *self.disconnect_count.lock().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs a script. Returns whether it reached its end.
async fn run_script(
    mut stream: TcpStream,
    mut script: Vec<ScriptStep>,
    log: &Mutex<Vec<ReceivedRequest>>,
    busy: &Weak<()>,
) -> bool {
    let mut answering = None;
    if !script.iter().any(|a| matches!(a, ScriptStep::Read)) {
        script.insert(0, ScriptStep::Read);
    }
    let mut steps = script.into_iter();
    while let Some(step) = steps.next() {
        let continues = match step {
            ScriptStep::Read => match read_request(&mut stream).await {
                Some(request) => {
                    drop(answering.take());
                    // One of them is the server's own.
                    let concurrent = busy.strong_count().saturating_sub(1);
                    answering = busy.upgrade();
                    log.lock().unwrap().push(ReceivedRequest { concurrent, ..request });
                    true
                }
                None => false,
            },
            ScriptStep::Send(bytes) => {
                let says_nothing = |s: &ScriptStep| {
                    matches!(s, ScriptStep::Read | ScriptStep::Reset | ScriptStep::CloseUnannounced)
                };
                let bytes =
                    if steps.as_slice().iter().any(says_nothing) { bytes } else { announce_close(bytes) };
                stream.write_all(&bytes).await.is_ok()
            }
            ScriptStep::Forever(bytes, pause) => {
                while stream.write_all(&bytes).await.is_ok() {
                    tokio::time::sleep(pause).await;
                }
                false
            }
            ScriptStep::Wait(time) => {
                tokio::time::sleep(time).await;
                true
            }
            ScriptStep::Requests(number) => {
                while log.lock().unwrap().len() < number {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                true
            }
            ScriptStep::Hang => {
                // Ends when the client closes the connection.
                let mut rest = [0; 256];
                while matches!(stream.read(&mut rest).await, Ok(n) if n > 0) {}
                false
            }
            ScriptStep::CloseUnannounced => true,
            ScriptStep::Reset => {
                let _ = stream.set_zero_linger();
                return true;
            }
        };
        if !continues {
            return false;
        }
    }
    drop(answering);
    let _ = stream.shutdown().await;
    true
}

/// Says in a response's head that the connection ends with it. Otherwise the client may send its next request on a connection that the
/// script is about to close, and loses it there.
fn announce_close(bytes: Vec<u8>) -> Vec<u8> {
    let line_end = bytes.windows(2).position(|w| w == b"\r\n");
    let is_head = bytes.starts_with(b"HTTP/1.1 ")
        && !bytes.to_ascii_lowercase().windows(11).any(|w| w == b"connection:");
    match line_end {
        Some(at) if is_head => [&bytes[..at], b"\r\nconnection: close", &bytes[at..]].concat(),
        _ => bytes,
    }
}

/// Reads a request with its body.
async fn read_request(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(n) if n > 0 => bytes.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next().unwrap_or("").to_owned();
    let headers = lines.filter_map(|l| l.split_once(':'));
    let headers: Vec<_> = headers.map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned())).collect();
    let names = headers.iter().map(|h| h.0.clone()).collect();
    let headers: BTreeMap<String, String> = headers.into_iter().collect();
    assert!(!headers.contains_key("transfer-encoding"), "the body must have a content-length");
    let length: usize = headers.get("content-length").map_or(0, |l| l.parse().unwrap());
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(n) if n > 0 => body.extend_from_slice(&chunk[..n]),
            _ => return None,
        }
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(ReceivedRequest { line, headers, names, body, concurrent: 0 })
}

/// Returns the head of a response whose body ends with the connection.
pub(crate) fn head(status: u16, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Any\r\n{headers}connection: close\r\n\r\n").into_bytes()
}

/// Returns a complete response with its length.
pub(crate) fn plain_response(status: u16, headers: &str, body: &str) -> Vec<ScriptStep> {
    let text = format!(
        "HTTP/1.1 {status} Any\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    vec![ScriptStep::Send(text.into_bytes())]
}

/// Returns an event stream in these chunks, with the final chunk if `is_complete`.
pub(crate) fn chunked(chunks: &[&[u8]], is_complete: bool) -> Vec<ScriptStep> {
    let mut steps = vec![ScriptStep::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n".to_vec(),
    )];
    for chunk in chunks {
        let mut framed = format!("{:x}\r\n", chunk.len()).into_bytes();
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
        steps.push(ScriptStep::Send(framed));
    }
    if is_complete {
        steps.push(ScriptStep::Send(b"0\r\n\r\n".to_vec()));
    }
    steps
}

/// Returns an event stream that ends with the connection.
pub(crate) fn stream(body: &[u8]) -> Vec<ScriptStep> {
    let mut bytes = head(200, "content-type: text/event-stream\r\n");
    bytes.extend_from_slice(body);
    vec![ScriptStep::Send(bytes)]
}

/// Returns the event of a piece of text.
pub(crate) fn text_event(text: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
    )
}

/// Returns the event of a piece of reasoning, in a field of this name.
pub(crate) fn reasoning_event(field: &str, text: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({"choices": [{"index": 0, "delta": {"content": null, field: text}}]})
    )
}

/// Returns the last event of a reply.
pub(crate) fn end_event(reason: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    )
}

/// Returns a complete, valid reply.
pub(crate) fn complete_reply(text: &str) -> Vec<ScriptStep> {
    chunked(&[format!("{}{}data: [DONE]\n\n", text_event(text), end_event("stop")).as_bytes()], true)
}
