//! Sends a single HTTP request, with the timeouts for connecting and for the first response.

use super::endpoint::{Api, Auth, Endpoint};
use super::error::root_cause;
use crate::domain::CallPhase;
use crate::provider::{Delta, FailureKind, ProviderError};
use futures_util::stream;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use std::convert::Infallible;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use tokio::runtime::{Handle, Id};
use tokio::sync::mpsc::UnboundedSender;

/// Why a request has no response.
pub(super) struct RequestError {
    pub(super) error: ProviderError,
    /// The connection ended before a response. Some servers close each connection after a stream without announcing it, so that the next
    /// request is lost: that says nothing about the server.
    pub(super) was_closed: bool,
}

impl From<ProviderError> for RequestError {
    fn from(error: ProviderError) -> Self {
        Self { error, was_closed: false }
    }
}

/// The HTTP clients of an endpoint, one per runtime: a pooled connection is bound to the runtime that opened it, and
/// several sessions may share a provider.
#[derive(Debug, Default)]
pub(super) struct HttpClients {
    clients: Mutex<Vec<(Id, Client)>>,
}

impl HttpClients {
    fn client(&self, endpoint: &Endpoint) -> Result<Client, ProviderError> {
        /// Limit for clients of runtimes that no longer exist.
        const MAX_CLIENTS: usize = 8;
        let runtime = Handle::current().id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|c| c.0 == runtime) {
            return Ok(client.clone());
        }
        let client = build_client(endpoint)?;
        if clients.len() == MAX_CLIENTS {
            clients.remove(0);
        }
        clients.push((runtime, client.clone()));
        Ok(client)
    }

    /// Requests a completion. Sends [`CallPhase::Waiting`] to `delta_sender` once the connection is established.
    pub(super) async fn post_completion(
        &self,
        endpoint: &Endpoint,
        body: String,
        delta_sender: &UnboundedSender<Delta>,
    ) -> Result<Response, RequestError> {
        let path = match endpoint.api {
            Api::Chat => "chat/completions",
            Api::Completions => "completions",
        };
        let request = self.build_request(endpoint, Method::POST, &endpoint.base_url, path)?;
        // The client reads the body once it is connected. reqwest gives no other sign of that.
        let (length, delta_sender) = (body.len(), delta_sender.clone());
        let body = stream::once(async move {
            let _ = delta_sender.send(Delta::Phase(CallPhase::Waiting));
            Ok::<_, Infallible>(body)
        });
        let kind =
            (!endpoint.has_header(CONTENT_TYPE.as_str())).then_some((CONTENT_TYPE, "application/json"));
        let request = kind
            .into_iter()
            .fold(request, |request, (name, value)| request.header(name, value))
            .header(CONTENT_LENGTH, length)
            .body(reqwest::Body::wrap_stream(body));
        self.send(endpoint, request).await
    }

    /// Sends a GET request for a path below `base`.
    pub(super) async fn get(
        &self,
        endpoint: &Endpoint,
        base: &str,
        path: &str,
    ) -> Result<Response, ProviderError> {
        let request = self.build_request(endpoint, Method::GET, base, path)?;
        self.send(endpoint, request).await.map_err(|failed| failed.error)
    }

    async fn send(&self, endpoint: &Endpoint, request: RequestBuilder) -> Result<Response, RequestError> {
        match tokio::time::timeout(endpoint.timeouts.first_piece, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => {
                let was_closed = was_closed(&error);
                Err(RequestError { error: connection_error(endpoint, error), was_closed })
            }
            Err(_) => Err(first_piece_timeout_error(endpoint).into()),
        }
    }

    fn build_request(
        &self,
        endpoint: &Endpoint,
        method: Method,
        base: &str,
        path: &str,
    ) -> Result<RequestBuilder, ProviderError> {
        let mut url = join_url(base, path)?;
        if !endpoint.query.is_empty() {
            url.query_pairs_mut()
                .extend_pairs(endpoint.query.iter().map(|(name, value)| (name, value.expose())));
        }
        let mut request = self.client(endpoint)?.request(method, url);
        for (name, value) in &endpoint.headers {
            request = request.header(header_name(name)?, header_value(name, value.expose())?);
        }
        // A header from the profile replaces ours: servers disagree about which of two to use.
        let is_overridden = match &endpoint.auth {
            Auth::None => false,
            Auth::Bearer => endpoint.has_header(AUTHORIZATION.as_str()),
            Auth::Header(name) => endpoint.has_header(name),
        };
        if let Some(key) = endpoint.key.as_ref().filter(|k| !k.is_empty() && !is_overridden) {
            request = match &endpoint.auth {
                Auth::None => request,
                Auth::Bearer => {
                    request.header(AUTHORIZATION, header_value("key", &format!("Bearer {}", key.expose()))?)
                }
                Auth::Header(name) => request.header(header_name(name)?, header_value("key", key.expose())?),
            };
        }
        Ok(request)
    }
}

/// Returns the error for a server that sent nothing in time.
pub(super) fn first_piece_timeout_error(endpoint: &Endpoint) -> ProviderError {
    let seconds = endpoint.timeouts.first_piece.as_secs_f64();
    ProviderError::new(
        format!("{} did not start to reply within {seconds} s", endpoint.host()),
        "retry; a server that loads its model first may need a larger first_seconds in its profile",
    )
    .with_kind(FailureKind::TimedOut)
}

/// Checks that a base URL is usable.
///
/// # Errors
/// [`ProviderError`] if the URL is invalid, is not http or https, or contains credentials or a query.
pub(super) fn check_base_url(base: &str) -> Result<(), ProviderError> {
    join_url(base, "").map(drop)
}

/// Joins a base URL and a path; a trailing slash of the base is ignored.
fn join_url(base: &str, path: &str) -> Result<Url, ProviderError> {
    let invalid = |why: &str| {
        ProviderError::new(
            format!("invalid base URL {:?}: {why}", crate::text::redact_url(base)),
            "use a base URL such as http://127.0.0.1:8080/v1",
        )
        .with_kind(FailureKind::Misconfigured)
    };
    let mut url = crate::domain::parse_base_url(base).map_err(|why| invalid(&why))?;
    if url.scheme() == "https" && cfg!(not(feature = "tls")) {
        return Err(invalid("this program was built without https (feature `tls`)"));
    }
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path.split('/'));
    }
    Ok(url)
}

fn header_name(name: &str) -> Result<HeaderName, ProviderError> {
    HeaderName::try_from(name).map_err(|_| {
        ProviderError::new(format!("invalid header name {name:?}"), "correct it in the server's profile")
            .with_kind(FailureKind::Misconfigured)
    })
}

/// Returns a header value that is marked as sensitive, so that it is never printed.
fn header_value(name: &str, value: &str) -> Result<HeaderValue, ProviderError> {
    let value = HeaderValue::from_str(value).map(|mut v| {
        v.set_sensitive(true);
        v
    });
    value.map_err(|_| {
        ProviderError::new(
            format!("the value of {name} contains a line break or another character not allowed in a header"),
            "set it again as one line",
        )
        .with_kind(FailureKind::Misconfigured)
    })
}

fn build_client(endpoint: &Endpoint) -> Result<Client, ProviderError> {
    let mut builder = Client::builder()
        .user_agent(concat!("retrospect/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(endpoint.timeouts.connect)
        // A redirect would let the server choose who receives the key.
        .redirect(reqwest::redirect::Policy::none())
        .http1_ignore_invalid_headers_in_responses(true)
        .tcp_nodelay(true);
    if endpoint.is_loopback() {
        builder = builder.no_proxy();
    }
    #[cfg(feature = "tls")]
    {
        builder = super::tls::add_trusted_certificates(builder, endpoint)?;
    }
    builder.build().map_err(|error| {
        ProviderError::new(
            format!("cannot set up connections: {}", root_cause(&error)),
            "install the system's CA certificates (ca-certificates), or name a file with them (ca_file, --ca-file or SSL_CERT_FILE)",
        )
        .with_kind(FailureKind::Misconfigured)
    })
}

/// Returns whether an established connection ended before a response.
fn was_closed(error: &reqwest::Error) -> bool {
    if error.is_connect() || error.is_timeout() {
        return false;
    }
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| match cause.downcast_ref::<io::Error>() {
        Some(error) => matches!(
            error.kind(),
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe
        ),
        // hyper's error, which has no type that could be named here.
        None => cause.to_string() == "connection closed before message completed",
    })
}

/// Returns the error for a request without any response.
fn connection_error(endpoint: &Endpoint, error: reqwest::Error) -> ProviderError {
    let host = endpoint.host().to_owned();
    let error = error.without_url();
    #[cfg(feature = "tls")]
    if let Some(refused) = super::tls::tls_error(endpoint, &error) {
        return refused;
    }
    if error.is_timeout() {
        let seconds = endpoint.timeouts.connect.as_secs_f64();
        return ProviderError::new(
            format!("connection to {host} timed out after {seconds} s"),
            connection_advice(endpoint),
        )
        .with_kind(FailureKind::TimedOut);
    }
    let why = root_cause(&error);
    // The number says nothing to a person.
    let why = why.split(" (os error ").next().unwrap_or_default();
    let (what, next) = if error.is_connect() {
        (format!("cannot connect to {host}: {why}"), connection_advice(endpoint))
    } else {
        (
            format!("{host} closed the connection before it replied: {why}"),
            "retry; check the server's log".to_owned(),
        )
    };
    ProviderError::new(what, next).with_kind(FailureKind::Unreachable)
}

/// Returns what to check after a failed connection. A proxy is named by its variable, because its URL may contain a
/// password.
fn connection_advice(endpoint: &Endpoint) -> String {
    let scheme_variables: &[&str] = if endpoint.base_url.starts_with("https:") {
        &["HTTPS_PROXY", "https_proxy"]
    } else {
        &["HTTP_PROXY", "http_proxy"]
    };
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let proxy = scheme_variables
        .iter()
        .chain(&["ALL_PROXY", "all_proxy"])
        .find(is_set)
        .filter(|_| !endpoint.is_loopback());
    let server = "check that the server is running and the base URL is correct (--base-url)";
    proxy.map_or_else(
        || server.to_owned(),
        |name| format!("{server}; requests go through the proxy in ${name} unless NO_PROXY lists the server"),
    )
}
