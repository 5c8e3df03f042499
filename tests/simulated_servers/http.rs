//! A minimal HTTP server for the simulated model servers: blocking, with keep-alive and one thread per connection.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A received request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The `Authorization` header.
    pub(crate) authorization: String,
    pub(crate) body: Vec<u8>,
}

/// A response.
pub(crate) enum Response {
    /// Status, additional header lines, and a JSON body.
    Json(u16, &'static str, String),
    /// Additional header lines, and an event stream in chunks.
    Stream(&'static str, Vec<String>),
}

/// A server on this machine; dropping it stops it.
pub(crate) struct Listener {
    address: String,
    stopped: Arc<AtomicBool>,
}

impl Listener {
    pub(crate) fn start(answer: impl Fn(Request) -> Response + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let stopped = Arc::new(AtomicBool::new(false));
        let (answer, stop) = (Arc::new(answer), stopped.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(stream), answer) = (stream, answer.clone()) else { continue };
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        Self { address, stopped }
    }

    /// Returns host and port.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // The accept loop checks the flag after each connection.
        let _ = TcpStream::connect(&self.address);
    }
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(Request) -> Response) {
    let _ = stream.set_nodelay(true);
    while let Some(request) = read(&mut stream) {
        if write(&mut stream, answer(request)).is_err() {
            break;
        }
    }
}

fn write(stream: &mut TcpStream, response: Response) -> std::io::Result<()> {
    match response {
        Response::Json(status, headers, body) => write!(
            stream,
            "HTTP/1.1 {status} Any\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        ),
        Response::Stream(headers, chunks) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{headers}transfer-encoding: chunked\r\n\r\n"
            )?;
            for chunk in chunks {
                write!(stream, "{:x}\r\n{chunk}\r\n", chunk.len())?;
            }
            write!(stream, "0\r\n\r\n")
        }
    }
}

/// Reads a request with its body; returns `None` if the client has disconnected.
fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 << 10];
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        let count = stream.read(&mut chunk).ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let header = |wanted: &str| {
        let fields = text.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim().to_owned())
            .next()
    };
    let length: usize = header("content-length").map_or(0, |l| l.parse().unwrap());
    let mut body = bytes.split_off(head + 4);
    while body.len() < length {
        let count = stream.read(&mut chunk).ok().filter(|n| *n > 0)?;
        body.extend_from_slice(&chunk[..count]);
    }
    let mut first = text.lines().next()?.split(' ').map(str::to_owned);
    Some(Request {
        method: first.next()?,
        path: first.next()?,
        authorization: header("authorization").unwrap_or_default(),
        body,
    })
}
