//! One HTTP request: how it is made, sent and answered, with its first two time-outs.

use super::endpoint::{Api, Auth, Endpoint};
use super::error::root_cause;
use crate::provider::{Delta, FailureKind, Phase, ProviderError};
use futures_util::stream;
use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use tokio::runtime::{Handle, Id};
use tokio::sync::mpsc::UnboundedSender;

/// The clients of an endpoint: one for each runtime, because a pooled connection lives and dies with the runtime that
/// made it, and several sessions may share a provider.
#[derive(Debug, Default)]
pub(super) struct HttpClients {
    clients: Mutex<Vec<(Id, Client)>>,
}

impl HttpClients {
    fn client(&self, endpoint: &Endpoint) -> Result<Client, ProviderError> {
        /// Runtimes that come and go leave clients behind; so many are kept.
        const MAX_CLIENTS: usize = 8;
        let here = Handle::current().id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|c| c.0 == here) {
            return Ok(client.clone());
        }
        let client = build_client(endpoint)?;
        if clients.len() == MAX_CLIENTS {
            clients.remove(0);
        }
        clients.push((here, client.clone()));
        Ok(client)
    }

    /// Asks for an answer; `tell` is told when the request is on its way.
    pub(super) async fn post_completion(
        &self,
        endpoint: &Endpoint,
        body: String,
        tell: &UnboundedSender<Delta>,
    ) -> Result<Response, ProviderError> {
        let path = match endpoint.api {
            Api::Chat => "chat/completions",
            Api::Completions => "completions",
        };
        let request = self.build_request(endpoint, Method::POST, &endpoint.base_url, path)?;
        // The body is asked for when the connection stands: that is the only sign of it one gets.
        let (length, tell) = (body.len(), tell.clone());
        let body = stream::once(async move {
            let _ = tell.send(Delta::Phase(Phase::Waiting));
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

    /// Gets something below an address.
    pub(super) async fn get(
        &self,
        endpoint: &Endpoint,
        base: &str,
        path: &str,
    ) -> Result<Response, ProviderError> {
        let request = self.build_request(endpoint, Method::GET, base, path)?;
        self.send(endpoint, request).await
    }

    async fn send(&self, endpoint: &Endpoint, request: RequestBuilder) -> Result<Response, ProviderError> {
        match tokio::time::timeout(endpoint.timeouts.first_piece, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(connection_error(endpoint, error)),
            Err(_) => Err(first_token_timeout_error(endpoint)),
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
        // A header that a person gives stands alone: which of two a server would believe is anybody's guess.
        let given = match &endpoint.auth {
            Auth::None => false,
            Auth::Bearer => endpoint.has_header(AUTHORIZATION.as_str()),
            Auth::Header(name) => endpoint.has_header(name),
        };
        if let Some(key) = endpoint.key.as_ref().filter(|k| !k.is_empty() && !given) {
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

/// Nothing came in time.
pub(super) fn first_token_timeout_error(endpoint: &Endpoint) -> ProviderError {
    let seconds = endpoint.timeouts.first_piece.as_secs_f64();
    ProviderError::new(
        format!("{} did not begin to answer within {seconds} s", endpoint.host()),
        "retry; a server that loads its model first may need a longer first_seconds in its profile",
    )
    .with_kind(FailureKind::TimedOut)
}

/// Whether anything can be asked at this address, so far as the address says.
///
/// # Errors
/// Why not, in words.
pub(super) fn check_base_url(base: &str) -> Result<(), ProviderError> {
    join_url(base, "").map(drop)
}

/// The address of a path below a base, both without the last or first slash.
fn join_url(base: &str, path: &str) -> Result<Url, ProviderError> {
    let setup = |why: &str| {
        ProviderError::new(
            format!("the base URL cannot be used: {why}"),
            "give one such as http://127.0.0.1:8080/v1",
        )
        .with_kind(FailureKind::Misconfigured)
    };
    let mut url = Url::parse(base).map_err(|e| setup(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(setup("it begins with neither http:// nor https://"));
    }
    if url.scheme() == "https" && cfg!(not(feature = "tls")) {
        return Err(setup("this program was built without https (feature `tls`)"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(setup("it holds a name or password; put it into a header of the endpoint's profile"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(setup("it holds a query; put it into `query` of the endpoint's profile"));
    }
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path.split('/'));
    }
    Ok(url)
}

fn header_name(name: &str) -> Result<HeaderName, ProviderError> {
    HeaderName::try_from(name).map_err(|_| {
        ProviderError::new(format!("{name:?} is no name of a header"), "mend the endpoint's profile")
            .with_kind(FailureKind::Misconfigured)
    })
}

/// A value that is never printed.
fn header_value(what: &str, value: &str) -> Result<HeaderValue, ProviderError> {
    let value = HeaderValue::from_str(value).map(|mut v| {
        v.set_sensitive(true);
        v
    });
    value.map_err(|_| {
        ProviderError::new(
            format!("the value of {what} has a line end or another sign that a header cannot have"),
            "set it anew, in one line",
        )
        .with_kind(FailureKind::Misconfigured)
    })
}

fn build_client(endpoint: &Endpoint) -> Result<Client, ProviderError> {
    let mut builder = Client::builder()
        .user_agent(concat!("retrospect/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(endpoint.timeouts.connect)
        // Following would show the key to whoever the server names.
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
            format!("no connection can be made here: {}", root_cause(&error)),
            "install the system's certificates (ca-certificates), or name a file of them (ca_file, --ca-file, SSL_CERT_FILE)",
        )
        .with_kind(FailureKind::Misconfigured)
    })
}

/// No answer came at all.
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
            format!("{host} took no connection within {seconds} s"),
            connection_advice(endpoint),
        )
        .with_kind(FailureKind::TimedOut);
    }
    let why = root_cause(&error);
    let (what, next) = if error.is_connect() {
        (format!("{host} cannot be reached: {why}"), connection_advice(endpoint))
    } else {
        (
            format!("{host} broke the connection before it answered: {why}"),
            "retry; look at the server's own log".to_owned(),
        )
    };
    ProviderError::new(what, next).with_kind(FailureKind::Unreachable)
}

/// What to look at where no connection came about. A proxy is named by its variable, for its address may hold a password.
fn connection_advice(endpoint: &Endpoint) -> String {
    let own: &[&str] = if endpoint.base_url.starts_with("https:") {
        &["HTTPS_PROXY", "https_proxy"]
    } else {
        &["HTTP_PROXY", "http_proxy"]
    };
    let set = |name: &&&str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let proxy = own.iter().chain(&["ALL_PROXY", "all_proxy"]).find(set).filter(|_| !endpoint.is_loopback());
    let server = "check that the server runs and the base URL is right";
    proxy.map_or_else(
        || server.to_owned(),
        |name| format!("{server}; it is asked through the proxy of ${name}, unless NO_PROXY names it"),
    )
}
