//! The simulator: a Java program that listens on a port of this machine, and the calls of its methods.

use super::installation::{Installation, TOKEN_FLAG};
use super::py4j::{
    Argument, Reply, Value, authentication_request, call_request, construct_request, parse_reply,
    release_request,
};
use crate::env::EnvError;
use crate::env::external::{ChildCommand, ChildProcess, IdleChildren, LoopbackConnection};
use crate::text::prefix;
use std::ffi::OsString;
use std::time::Duration;

/// The simulators that wait for their next episode: that of a run, and the copy for questions about its past.
static IDLE: IdleChildren = IdleChildren::new(2);

/// Starting Java and making the interface object: 2 s on an idle machine, 10 s on a busy one.
pub(super) const START_LIMIT: Duration = Duration::from_secs(90);
/// A line that follows the one before.
const TOKEN_LIMIT: Duration = Duration::from_secs(20);
/// Loading a task.
pub(super) const LOAD_LIMIT: Duration = Duration::from_secs(60);
/// One action.
pub(super) const STEP_LIMIT: Duration = Duration::from_secs(60);
/// Listing the valid actions, of which there may be thousands, or the actions of a solution.
pub(super) const LIST_LIMIT: Duration = Duration::from_secs(60);
/// A method that only returns what is there.
pub(super) const QUERY_LIMIT: Duration = Duration::from_secs(20);

/// Makes the identity hash of every object 1. Otherwise the order of some sets, and with it texts and menus, differs from
/// process to process.
const PINNED_HASH_FLAGS: [&str; 2] = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"];
/// Little memory, and no files in the system's temporary folder.
const MEMORY_FLAGS: [&str; 3] = ["-XX:+UseSerialGC", "-Xmx768m", "-XX:-UsePerfData"];
const GATEWAY_CLASS: &str = "py4j.GatewayServer";
const INTERFACE_CLASS: &str = "scienceworld.runtime.pythonapi.PythonInterface";
/// The maximum number of actions of a list.
const MAX_ACTIONS: usize = 100_000;
/// The maximum length of a part of a reply in an error message.
const QUOTED_BYTES: usize = 400;

/// Ends the simulators that wait for their next episode.
pub(super) fn end_idle_simulators() {
    IDLE.end_all();
}

/// What belongs to a process and stays with it between episodes.
struct ProcessNotes {
    connection: LoopbackConnection,
    /// The id of the interface object.
    interface: String,
    is_pinned: bool,
}

/// A running simulator.
///
/// Every failure ends the process. Later calls fail with the same error.
pub(super) struct Simulator {
    child: ChildProcess,
    /// `None` only while this is dropped.
    notes: Option<ProcessNotes>,
    failure: Option<EnvError>,
}

impl Simulator {
    /// Starts a simulator, or takes one that has played an episode.
    ///
    /// # Errors
    /// Returns the errors of the process: without Java, or if Java doesn't know a flag, its message is in them.
    pub(super) fn open(installation: &Installation) -> Result<Self, EnvError> {
        let has_token = installation.py4j_jar.is_some();
        let command = ChildCommand {
            words: command_words(installation),
            variables: Vec::new(),
            folder: None,
            reply_prefix: "",
            has_events: false,
        };
        let mut child = ChildProcess::start_or_reuse(&command, &IDLE).map_err(explain_missing_java)?;
        if let Some(notes) = child.take_notes() {
            return Ok(Self { child, notes: Some(notes), failure: None });
        }
        let port = child.wait_for_line(START_LIMIT).map_err(explain_missing_java)?;
        let port = port.trim().parse().map_err(|_| {
            child.reject_reply(format!("its first line is {:?}, not a port", prefix(&port, QUOTED_BYTES)))
        })?;
        // The gateway prints it right after the port.
        let token = if has_token { Some(child.wait_for_line(TOKEN_LIMIT)?) } else { None };
        child.ignore_output();
        let connection = child.connect(port, START_LIMIT)?;
        let notes = ProcessNotes { connection, interface: String::new(), is_pinned: false };
        let mut simulator = Self { child, notes: Some(notes), failure: None };
        if let Some(token) = token {
            simulator.request(&authentication_request(token.trim()), "authentication", START_LIMIT)?;
        }
        let made = simulator.request(&construct_request(INTERFACE_CLASS), "the start", START_LIMIT)?;
        let Value::Reference(interface) = made else {
            return Err(simulator.reject("the start", &made));
        };
        if let Some(notes) = &mut simulator.notes {
            notes.interface = interface;
        }
        let description = simulator.text("toString", &[], QUERY_LIMIT)?;
        if let Some(notes) = &mut simulator.notes {
            notes.is_pinned = description.ends_with("@1");
        }
        Ok(simulator)
    }

    /// Returns whether the same task and actions give the same texts in every process.
    pub(super) fn is_pinned(&self) -> bool {
        self.notes.as_ref().is_some_and(|notes| notes.is_pinned)
    }

    /// Loads a variation of a task, with a solution if wanted.
    ///
    /// # Errors
    /// Returns [`EnvError::Refused`] if the simulator has no such task.
    pub(super) fn load(
        &mut self,
        task: &str,
        variation: u32,
        simplifications: &str,
        with_solution: bool,
    ) -> Result<(), EnvError> {
        let arguments = [
            Argument::Text(task),
            Argument::Int(i32::try_from(variation).unwrap_or(i32::MAX)),
            Argument::Text(simplifications),
            Argument::Bool(with_solution),
        ];
        let complaint = self.text("load", &arguments, LOAD_LIMIT)?;
        if complaint.is_empty() { Ok(()) } else { Err(EnvError::Refused { what: complaint }) }
    }

    /// Executes an action and returns the text that answers it.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn step(&mut self, action: &str) -> Result<String, EnvError> {
        self.text("step", &[Argument::Text(action)], STEP_LIMIT)
    }

    /// Returns the score after the last step, from -100 to 100.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn score(&mut self) -> Result<i64, EnvError> {
        match self.call("getScore", &[], QUERY_LIMIT)? {
            // Python's `round`, which the package uses, rounds halves to the even number.
            Value::Double(score) => Ok((100.0 * score).round_ties_even() as i64),
            other => Err(self.reject("getScore", &other)),
        }
    }

    /// Returns whether the simulator says that the task is over.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn is_completed(&mut self) -> Result<bool, EnvError> {
        match self.call("getCompleted", &[], QUERY_LIMIT)? {
            Value::Bool(is_completed) => Ok(is_completed),
            other => Err(self.reject("getCompleted", &other)),
        }
    }

    /// Returns the simulator's own count of moves.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn moves(&mut self) -> Result<i64, EnvError> {
        match self.call("getNumMoves", &[], QUERY_LIMIT)? {
            Value::Int(moves) => Ok(moves),
            other => Err(self.reject("getNumMoves", &other)),
        }
    }

    /// Returns the text of a method without arguments that changes nothing.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn query(&mut self, method: &str) -> Result<String, EnvError> {
        self.text(method, &[], QUERY_LIMIT)
    }

    /// Lists the valid actions, as the simulator does: unsorted, some more than once. That takes numbers from the random
    /// generator of the simulation.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn valid_actions(&mut self) -> Result<Vec<String>, EnvError> {
        #[derive(serde::Deserialize)]
        struct Listed {
            action: String,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct List {
            valid_actions: Vec<Listed>,
        }
        const METHOD: &str = "getValidActionObjectCombinationsJSON";
        let text = self.text(METHOD, &[], LIST_LIMIT)?;
        let list: Result<List, _> = serde_json::from_str(&text);
        let list = list.map_err(|error| self.fail_with(format!("{METHOD}: invalid JSON: {error}")))?;
        Ok(list.valid_actions.into_iter().take(MAX_ACTIONS).map(|listed| listed.action).collect())
    }

    /// Returns the actions of the solution; none if the task was loaded without one.
    ///
    /// # Errors
    /// Returns the errors of the process.
    pub(super) fn solution(&mut self) -> Result<Vec<String>, EnvError> {
        const METHOD: &str = "getGoldActionSequence";
        let list = match self.call(METHOD, &[], LIST_LIMIT)? {
            Value::Reference(list) => list,
            other => return Err(self.reject(METHOD, &other)),
        };
        let size = match self.call_on(&list, "size", &[], QUERY_LIMIT)? {
            Value::Int(size) => i32::try_from(size).unwrap_or_default(),
            other => return Err(self.reject(METHOD, &other)),
        };
        let mut actions = Vec::new();
        for index in 0..size {
            match self.call_on(&list, "get", &[Argument::Int(index)], QUERY_LIMIT)? {
                Value::Text(action) => actions.push(action),
                other => return Err(self.reject(METHOD, &other)),
            }
        }
        self.request(&release_request(&list), METHOD, QUERY_LIMIT)?;
        Ok(actions)
    }

    /// Ends the process because the simulation is broken, and returns the error to report.
    pub(super) fn end_after_report(&mut self, what: String) -> EnvError {
        let error = self.child.end_after_report(what);
        self.failure = Some(error.clone());
        error
    }

    fn text(&mut self, method: &str, arguments: &[Argument], limit: Duration) -> Result<String, EnvError> {
        match self.call(method, arguments, limit)? {
            Value::Text(text) => Ok(text),
            other => Err(self.reject(method, &other)),
        }
    }

    fn call(&mut self, method: &str, arguments: &[Argument], limit: Duration) -> Result<Value, EnvError> {
        let interface = self.notes.as_ref().map(|notes| notes.interface.clone()).unwrap_or_default();
        self.call_on(&interface, method, arguments, limit)
    }

    fn call_on(
        &mut self,
        object: &str,
        method: &str,
        arguments: &[Argument],
        limit: Duration,
    ) -> Result<Value, EnvError> {
        self.request(&call_request(object, method, arguments), method, limit)
    }

    /// Sends a request and returns its value. `what` names it in errors.
    fn request(&mut self, request: &str, what: &str, limit: Duration) -> Result<Value, EnvError> {
        match self.exchange(request, what, limit)? {
            Reply::Value(value) => Ok(value),
            Reply::Rejected(text) => Err(self.fail_with(format!("{what}: {}", prefix(&text, QUOTED_BYTES)))),
            Reply::Exception(id) => {
                let described = self.exchange(&call_request(&id, "toString", &[]), what, QUERY_LIMIT)?;
                let text = match described {
                    Reply::Value(Value::Text(text)) => text,
                    other => format!("{other:?}"),
                };
                Err(self.end_after_report(format!("{what} failed: {}", prefix(&text, QUOTED_BYTES))))
            }
        }
    }

    fn exchange(&mut self, request: &str, what: &str, limit: Duration) -> Result<Reply, EnvError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let Some(notes) = &mut self.notes else {
            return Err(EnvError::Died { what: "it has no connection".to_owned() });
        };
        let line = self.child.exchange_over(&mut notes.connection, request, limit).inspect_err(|error| {
            self.failure = Some(error.clone());
        })?;
        parse_reply(&line).map_err(|reply| self.fail_with(format!("{what}: {reply}")))
    }

    /// Ends the process because a value has another type than it should.
    fn reject(&mut self, what: &str, value: &Value) -> EnvError {
        let value = format!("{value:?}");
        self.fail_with(format!("{what} returned {}", prefix(&value, QUOTED_BYTES)))
    }

    /// Ends the process because it violates the protocol.
    fn fail_with(&mut self, what: String) -> EnvError {
        let error = self.child.reject_reply(what);
        self.failure = Some(error.clone());
        error
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        if let Some(notes) = self.notes.take() {
            self.child.keep_notes(notes);
        }
    }
}

/// Adds what is most likely wrong if the process ends before it listens.
fn explain_missing_java(error: EnvError) -> EnvError {
    match error {
        EnvError::Died { what } => EnvError::Died {
            what: format!(
                "{what}; is Java 8 or newer installed, and is the JAR ScienceWorld's? (docs/SCIENCEWORLD.md)"
            ),
        },
        EnvError::NotStarted { what } => EnvError::NotStarted {
            what: format!("{what}; it is Java 8 or newer that is needed (docs/SCIENCEWORLD.md)"),
        },
        other => other,
    }
}

fn command_words(installation: &Installation) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![installation.java.clone().into()];
    words.extend(PINNED_HASH_FLAGS.into_iter().chain(MEMORY_FLAGS).map(OsString::from));
    words.push("-classpath".into());
    let mut classes = OsString::new();
    // The first class of a name counts: the newer gateway hides the one in the simulator's JAR.
    for jar in installation.py4j_jar.iter().chain([&installation.jar]) {
        if !classes.is_empty() {
            classes.push(":");
        }
        classes.push(jar);
    }
    words.push(classes);
    words.extend([GATEWAY_CLASS, "--die-on-broken-pipe"].map(OsString::from));
    if installation.py4j_jar.is_some() {
        words.push(TOKEN_FLAG.into());
    }
    words.push("0".into());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{Ipv4Addr, TcpListener};
    use std::path::Path;
    use std::process::Command;
    use std::thread::JoinHandle;

    /// Listens like the newer gateway, which answers nobody without its token. Returns its port, and what it has received when the
    /// connection is closed.
    fn gateway(token: &'static str) -> (u16, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let mut received = Vec::new();
            let mut refuse = |why: &str, received: String| {
                writeln!(stream, "!xsAuthentication error: {why}.").unwrap();
                vec![received]
            };
            match lines.next() {
                Some(command) if command == "A" => {}
                command => return refuse("unexpected command", command.unwrap_or_default()),
            }
            let sent = lines.next().unwrap_or_default();
            if sent != token {
                return refuse("bad auth token received", format!("A {sent}"));
            }
            received.push(format!("A {sent}"));
            stream.write_all(b"!yv\n").unwrap();
            loop {
                let request: Vec<String> = lines.by_ref().take_while(|line| line != "e").collect();
                let Some(command) = request.first() else { return received };
                let reply = match command.as_str() {
                    "i" => "!yro0\n",
                    "c" => "!ysscienceworld.runtime.pythonapi.PythonInterface@1\n",
                    other => panic!("{other}"),
                };
                received.push(request.join(" "));
                stream.write_all(reply.as_bytes()).unwrap();
            }
        };
        (port, std::thread::spawn(serve))
    }

    /// Writes a program that is started instead of Java: it prints the gateway's port and this token, and ends with its input.
    fn installation(folder: &Path, port: u16, token: &str, py4j_jar: Option<&str>) -> Installation {
        let java = folder.join("java");
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\necho {port}\necho {token}\nexec cat >/dev/null\n",
            folder.join("words").display()
        );
        // Another process writes it: while this one has it open, no other thread's child could start it.
        let written = Command::new("sh")
            .args(["-c", "printf '%s' \"$1\" >\"$0\" && chmod +x \"$0\""])
            .arg(&java)
            .arg(&script)
            .status()
            .unwrap();
        assert!(written.success());
        Installation { java, jar: "/opt/scienceworld.jar".into(), py4j_jar: py4j_jar.map(Into::into) }
    }

    const NEWER: Option<&str> = Some("/opt/py4j.jar");

    #[test]
    fn the_newer_gateway_gets_its_token_first() {
        let folder = tempfile::tempdir().unwrap();
        let (port, served) = gateway("s3cret");
        let simulator = Simulator::open(&installation(folder.path(), port, "s3cret", NEWER)).unwrap();
        assert!(simulator.is_pinned());
        drop(simulator);
        end_idle_simulators();
        let expected = ["A s3cret", "i scienceworld.runtime.pythonapi.PythonInterface", "c o0 toString"];
        assert_eq!(served.join().unwrap(), expected);
        let words = std::fs::read_to_string(folder.path().join("words")).unwrap();
        let classes = "-classpath\n/opt/py4j.jar:/opt/scienceworld.jar\npy4j.GatewayServer\n";
        assert!(words.contains(classes) && words.ends_with("\n--enable-auth\n0\n"), "{words}");
    }

    #[test]
    fn a_gateway_that_refuses_the_token_is_asked_nothing_else() {
        // A wrong token, and none.
        for (py4j_jar, received, why) in [
            (NEWER, "A other", "authentication: Authentication error: bad auth token received"),
            (None, "i", "the start: Authentication error: unexpected command"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let (port, served) = gateway("s3cret");
            let opened = Simulator::open(&installation(folder.path(), port, "other", py4j_jar));
            let error = opened.map(drop).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert_eq!(served.join().unwrap(), [received]);
            let words = std::fs::read_to_string(folder.path().join("words")).unwrap();
            assert_eq!(words.contains(TOKEN_FLAG), py4j_jar.is_some(), "{words}");
        }
    }
}
