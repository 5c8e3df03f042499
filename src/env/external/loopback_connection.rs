//! A connection to a port on which a child process listens on this machine.

use super::child_output::MAX_LINE_BYTES;
use super::running_child::Failure;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const BUFFER_BYTES: usize = 64 << 10;
/// How long to wait before the next attempt to connect.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// A connection to a child process over the loopback interface.
#[derive(Debug)]
pub struct LoopbackConnection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl LoopbackConnection {
    /// Connects to a port of this machine. A process that doesn't listen yet is given until the end of `limit`.
    pub(super) fn open(port: u16, limit: Duration) -> Result<Self, Failure> {
        let deadline = Instant::now() + limit;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = loop {
            let left = time_left(deadline).ok_or(Failure::TimedOut(limit))?;
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => break stream,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    std::thread::sleep(RETRY_INTERVAL.min(left));
                }
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(Failure::TimedOut(limit)),
                Err(error) => {
                    return Err(Failure::Reported(format!("no connection to {address}: {error}")));
                }
            }
        };
        // Requests are small and each waits for its reply.
        let _ = stream.set_nodelay(true);
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sends a text and returns the line that is the reply, without its line break.
    pub(super) fn exchange(&mut self, request: &str, limit: Duration) -> Result<String, Failure> {
        let deadline = Instant::now() + limit;
        let exchanged = self.send(request.as_bytes(), deadline).and_then(|()| self.receive(deadline));
        exchanged.map_err(|failure| failure.unwrap_or(Failure::TimedOut(limit)))
    }

    /// `Err(None)` if the deadline has passed.
    fn send(&mut self, mut rest: &[u8], deadline: Instant) -> Result<(), Option<Failure>> {
        while !rest.is_empty() {
            let left = time_left(deadline).ok_or(None)?;
            self.stream.set_write_timeout(Some(left)).map_err(|_| Some(Failure::Disconnected))?;
            match self.stream.write(rest) {
                Ok(0) => return Err(Some(Failure::Disconnected)),
                Ok(written) => rest = &rest[written..],
                Err(error) if is_transient(error.kind()) => {}
                Err(_) => return Err(Some(Failure::Disconnected)),
            }
        }
        Ok(())
    }

    /// `Err(None)` if the deadline has passed.
    fn receive(&mut self, deadline: Instant) -> Result<String, Option<Failure>> {
        let invalid = |what: &str| Some(Failure::Protocol(what.to_owned()));
        let mut line = Vec::new();
        loop {
            let left = time_left(deadline).ok_or(None)?;
            self.stream.set_read_timeout(Some(left)).map_err(|_| Some(Failure::Disconnected))?;
            let length = match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(Some(Failure::Disconnected)),
                Ok(length) => length,
                Err(error) if is_transient(error.kind()) => continue,
                Err(_) => return Err(Some(Failure::Disconnected)),
            };
            let bytes = &self.buffer[..length];
            let end = bytes.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&bytes[..end.unwrap_or(length)]);
            if line.len() > MAX_LINE_BYTES {
                return Err(Some(Failure::Protocol(format!(
                    "a reply is longer than {} MiB",
                    MAX_LINE_BYTES >> 20
                ))));
            }
            match end {
                None => {}
                Some(end) if end + 1 < length => return Err(invalid("it replied without a request")),
                Some(_) => return String::from_utf8(line).map_err(|_| invalid("a reply is not UTF-8")),
            }
        }
    }
}

/// Returns the time until the deadline, or `None` if it has passed. A timeout of zero would mean none.
fn time_left(deadline: Instant) -> Option<Duration> {
    Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

/// Whether an attempt can be repeated until the deadline. `WouldBlock` is how Unix reports a timeout of a socket.
fn is_transient(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    const LONG: Duration = Duration::from_secs(30);

    /// Answers each line with the bytes that the function returns for it, and closes the connection after none.
    fn serve(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static) -> LoopbackConnection {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let Some(bytes) = line.ok().and_then(|line| answer(&line)) else { return };
                if stream.write_all(&bytes).is_err() {
                    return;
                }
            }
        });
        LoopbackConnection::open(port, LONG).unwrap_or_else(|_| panic!("no connection"))
    }

    #[test]
    fn replies_are_single_lines_of_bounded_length() {
        let mut connection = serve(|line| {
            let long = |length: usize| [vec![b'x'; length], b"\n".to_vec()].concat();
            match line {
                "long" => Some(long(MAX_LINE_BYTES)),
                "longer" => Some(long(MAX_LINE_BYTES + 1)),
                "close" => None,
                other => Some(format!("{other}!\n").into_bytes()),
            }
        });
        let ask = |connection: &mut LoopbackConnection, text: &str| connection.exchange(text, LONG);
        assert!(ask(&mut connection, "a\n").is_ok_and(|line| line == "a!"));
        assert!(ask(&mut connection, "é\n").is_ok_and(|line| line == "é!"));
        assert!(ask(&mut connection, "long\n").is_ok_and(|line| line.len() == MAX_LINE_BYTES));
        let error = ask(&mut connection, "longer\n");
        assert!(matches!(error, Err(Failure::Protocol(what)) if what == "a reply is longer than 16 MiB"));
        let mut connection = serve(|_| None);
        assert!(matches!(ask(&mut connection, "close\n"), Err(Failure::Disconnected)));
        let mut connection = serve(|_| Some(vec![0xff, b'\n']));
        assert!(
            matches!(ask(&mut connection, "a\n"), Err(Failure::Protocol(what)) if what.contains("UTF-8"))
        );
        let mut connection = serve(|_| Some(b"one\ntwo\n".to_vec()));
        assert!(
            matches!(ask(&mut connection, "a\n"), Err(Failure::Protocol(what)) if what.contains("without"))
        );
    }

    #[test]
    fn what_does_not_answer_has_a_limit() {
        let mut connection = serve(|_| Some(Vec::new()));
        let limit = Duration::from_millis(50);
        assert!(matches!(connection.exchange("a\n", limit), Err(Failure::TimedOut(after)) if after == limit));
        // Nobody listens on a port that was just given back.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        assert!(matches!(LoopbackConnection::open(port, limit), Err(Failure::TimedOut(_))));
    }
}
