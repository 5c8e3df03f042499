//! HTTP with a program on this machine, such as the driver of a browser.

use reqwest::blocking::{Client, RequestBuilder};
use serde_json::Value;
use std::io::Read as _;
use std::time::Duration;

/// A client for one program.
pub struct LoopbackHttp {
    client: Client,
    port: u16,
}

/// What the program answered.
pub struct HttpAnswer {
    pub is_success: bool,
    pub text: String,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum HttpFailure {
    TimedOut,
    /// It is longer than the limit, in bytes, or isn't UTF-8.
    Unreadable(String),
    /// The connection broke.
    Lost(String),
}

impl LoopbackHttp {
    /// Creates a client. No proxy is used and no redirection followed.
    ///
    /// # Errors
    /// Returns why it can't be created.
    pub fn new(port: u16) -> Result<Self, String> {
        // The client prepares for https, although the program is spoken to without.
        #[cfg(feature = "tls")]
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
        Ok(Self { client: client.map_err(|error| with_causes(&error))?, port })
    }

    /// Asks for a path.
    ///
    /// # Errors
    /// Fails if there is no answer of at most `max_bytes` within `limit`.
    pub fn get(&self, path: &str, limit: Duration, max_bytes: u64) -> Result<HttpAnswer, HttpFailure> {
        read_answer(self.client.get(self.url(path)).timeout(limit), max_bytes)
    }

    /// Deletes what a path names.
    ///
    /// # Errors
    /// The same as [`Self::get`].
    pub fn delete(&self, path: &str, limit: Duration, max_bytes: u64) -> Result<HttpAnswer, HttpFailure> {
        read_answer(self.client.delete(self.url(path)).timeout(limit), max_bytes)
    }

    /// Sends JSON to a path.
    ///
    /// # Errors
    /// The same as [`Self::get`].
    pub fn post(
        &self,
        path: &str,
        body: &Value,
        limit: Duration,
        max_bytes: u64,
    ) -> Result<HttpAnswer, HttpFailure> {
        let request = self.client.post(self.url(path)).header("content-type", "application/json");
        read_answer(request.body(body.to_string()).timeout(limit), max_bytes)
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn read_answer(request: RequestBuilder, max_bytes: u64) -> Result<HttpAnswer, HttpFailure> {
    let answer = request.send().map_err(failure)?;
    let is_success = answer.status().is_success();
    let mut bytes = Vec::new();
    let read = answer.take(max_bytes + 1).read_to_end(&mut bytes);
    if let Err(error) = read {
        let text = error.to_string();
        let source = error.into_inner().and_then(|inner| inner.downcast::<reqwest::Error>().ok());
        return Err(source.map_or(HttpFailure::Lost(text), |error| failure(*error)));
    }
    if bytes.len() as u64 > max_bytes {
        return Err(HttpFailure::Unreadable(format!("is longer than {} MiB", max_bytes >> 20)));
    }
    let text = String::from_utf8(bytes);
    Ok(HttpAnswer { is_success, text: text.map_err(|_| HttpFailure::Unreadable("isn't UTF-8".to_owned()))? })
}

/// The address says nothing to a person, who hasn't chosen it.
fn failure(error: reqwest::Error) -> HttpFailure {
    if error.is_timeout() {
        HttpFailure::TimedOut
    } else {
        HttpFailure::Lost(with_causes(&error.without_url()))
    }
}

/// Returns an error's text with those of its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write as _;
    use std::net::TcpListener;

    const SOON: Duration = Duration::from_secs(30);

    /// Serves one answer, whatever is asked, and returns the port.
    fn serve(answer: impl FnOnce(&mut std::net::TcpStream) + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            answer(&mut stream);
        });
        port
    }

    /// Regression: an answer without a length was read whatever its size.
    #[test]
    fn an_answer_without_a_length_is_limited() {
        let port = serve(|stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        });
        let answer = LoopbackHttp::new(port).unwrap().post("/", &json!({}), SOON, 1 << 20);
        assert!(matches!(answer, Err(HttpFailure::Unreadable(reason)) if reason == "is longer than 1 MiB"));
    }

    #[test]
    fn silence_a_lost_connection_and_other_bytes_are_told_apart() {
        let hangs = serve(|stream| drop(stream.read(&mut [0; 1])));
        let get = |port, limit| LoopbackHttp::new(port).unwrap().get("/", limit, 1 << 20).err().unwrap();
        assert!(matches!(get(hangs, Duration::from_millis(50)), HttpFailure::TimedOut));
        // The limit counts for the rest of an answer, too.
        let stops = serve(|stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab");
            drop(stream.read(&mut [0; 1]));
        });
        assert!(matches!(get(stops, Duration::from_millis(200)), HttpFailure::TimedOut));
        // Regression: the message had the address.
        let lost = get(serve(|_| ()), SOON);
        assert!(matches!(&lost, HttpFailure::Lost(why) if !why.contains("127.0.0.1")), "{lost:?}");
        let bytes = serve(|stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n\xff");
        });
        assert!(matches!(get(bytes, SOON), HttpFailure::Unreadable(_)));
    }
}
