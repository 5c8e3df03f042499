//! Runs HTTPS or a tunnelling proxy in front of a test server.

#![allow(dead_code, reason = "each target uses only part of it")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Returns the path of a file in `tests/data/tls`.
pub(crate) fn tls_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls").join(name)
}

pub(crate) struct TlsFront {
    pub(crate) base: String,
    received_heads: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl TlsFront {
    /// Starts an HTTPS front with this certificate for the server at `upstream`.
    pub(crate) async fn start(upstream: &str, certificate: &str) -> Self {
        let chain = vec![CertificateDer::from_pem_file(tls_file(certificate)).unwrap()];
        let key = PrivateKeyDer::from_pem_file(tls_file("server.key")).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let (listener, upstream) = (listen().await, host_and_port(upstream));
        let base = format!("https://{}/v1", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, upstream) = (acceptor.clone(), upstream.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        connect_streams(stream, &upstream).await;
                    }
                });
            }
        });
        Self { base, received_heads: Arc::default(), task }
    }

    /// Starts a proxy that connects every client that requests a tunnel to the server at `upstream`.
    pub(crate) async fn start_tunnel(upstream: &str) -> Self {
        let (listener, upstream) = (listen().await, host_and_port(upstream));
        let base = format!("http://{}", listener.local_addr().unwrap());
        let received_heads = Arc::new(Mutex::new(Vec::new()));
        let shared_heads = received_heads.clone();
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (shared_heads, upstream) = (shared_heads.clone(), upstream.clone());
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = stream.read_u8().await else { return };
                        head.push(byte);
                    }
                    shared_heads.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
                    if stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.is_ok() {
                        connect_streams(stream, &upstream).await;
                    }
                });
            }
        });
        Self { base, received_heads, task }
    }

    /// Returns the heads of all requests.
    pub(crate) fn request_heads(&self) -> Vec<String> {
        self.received_heads.lock().unwrap().clone()
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// Returns host and port of an address.
fn host_and_port(base: &str) -> String {
    base.split("://").nth(1).unwrap().split('/').next().unwrap().to_owned()
}

async fn connect_streams(mut stream: impl AsyncRead + AsyncWrite + Unpin, upstream: &str) {
    if let Ok(mut server) = TcpStream::connect(upstream).await {
        // If one side closes, the other is closed too.
        let _ = copy_bidirectional(&mut stream, &mut server).await;
    }
}
