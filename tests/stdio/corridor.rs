//! The program that the tests use as an environment: a corridor of five cells, which misbehaves if it is told to.
//!
//! `FAULT` is `KIND@OPERATION` or `KIND`. If `MARKS` names a folder, a fault happens only once, and the folder lists the
//! processes.

use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::Duration;

/// The last cell.
const LAST: i64 = 4;

#[derive(Clone, Copy)]
struct Corridor {
    cell: i64,
    goal: i64,
    moves: i64,
}

struct Faults {
    kind: String,
    operation: String,
    marks: Option<PathBuf>,
}

impl Faults {
    fn from_variables() -> Self {
        let text = std::env::var("FAULT").unwrap_or_default();
        let (kind, operation) = text.split_once('@').unwrap_or((&text, "step"));
        let marks = std::env::var_os("MARKS").map(PathBuf::from);
        Self { kind: kind.to_owned(), operation: operation.to_owned(), marks }
    }

    /// Returns whether the fault of this kind happens now.
    fn happens(&self, kind: &str, operation: &str) -> bool {
        let is_due = self.kind == kind && self.operation == operation;
        is_due && self.marks.as_ref().is_none_or(|folder| fs::create_dir(folder.join(kind)).is_ok())
    }

    fn is_first_process(&self) -> bool {
        let pids = self.marks.as_ref().map(|folder| fs::read_to_string(folder.join("pids")).unwrap());
        pids.is_none_or(|pids| pids.lines().count() == 1)
    }
}

/// What a terminal would take for a title.
const MARK: &str = "\u{1b}]0;title\u{7}";

/// Runs the program until its input ends.
pub(crate) fn main() {
    let faults = Faults::from_variables();
    if let Some(folder) = &faults.marks {
        let mut pids = fs::OpenOptions::new().create(true).append(true).open(folder.join("pids")).unwrap();
        writeln!(pids, "{}", std::process::id()).unwrap();
    }
    if faults.kind == "ignores_term" {
        let received = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGTERM, received).unwrap();
    }
    let mut corridor: Option<Corridor> = None;
    let mut snapshots: Vec<(String, Corridor)> = Vec::new();
    let mut last_reply = String::new();
    for line in stdin().lock().lines() {
        // What comes back of the marked texts.
        let line = line.unwrap().replace(r"\u001b]0;title\u0007", "");
        let request: Value = serde_json::from_str(&line).unwrap();
        let operation = request["op"].as_str().unwrap();
        fail_before(&faults, operation);
        if corridor.is_some_and(|state| state.cell == 1) && faults.happens("differs", operation) {
            exit(3);
        }
        let mut reply = answer(&faults, operation, &request, &mut corridor, &mut snapshots);
        if faults.kind == "marks_all_texts" {
            mark_texts(&mut reply);
        }
        reply["id"] = request["id"].clone();
        if reply.get("ok").is_none() {
            reply["ok"] = true.into();
        }
        last_reply = write_reply(&faults, operation, &reply, &last_reply);
        if operation == "close" && faults.kind != "ignores_term" {
            exit(0);
        }
    }
    // One that ignores all requests to end.
    if faults.kind == "ignores_term" {
        loop {
            sleep(Duration::from_secs(1));
        }
    }
    exit(0);
}

/// Adds the mark to every text of a reply but its error code and the names of capabilities, and to the names of fields inside it.
fn mark_texts(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(MARK),
        Value::Array(items) => items.iter_mut().for_each(mark_texts),
        Value::Object(fields) => {
            let kept = ["code", "caps", "enumeration", "snapshot"];
            fields
                .iter_mut()
                .filter(|(name, _)| !kept.contains(&name.as_str()))
                .for_each(|(_, field)| mark_texts(field));
            for name in ["peek", "shown", "info"] {
                if let Some(inner) = fields.get_mut(name).and_then(Value::as_object_mut) {
                    *inner =
                        std::mem::take(inner).into_iter().map(|(key, field)| (key + MARK, field)).collect();
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn fail_before(faults: &Faults, operation: &str) {
    let happens = |kind: &str| faults.happens(kind, operation);
    if happens("exit") {
        eprintln!("\u{1b}[31mTraceback:\u{1b}[0m out of cells");
        exit(3);
    }
    if happens("exit0") {
        exit(0);
    }
    if happens("kill") {
        kill_process(getpid(), Signal::KILL).unwrap();
    }
    if happens("grandchild") {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        fs::write(faults.marks.as_ref().unwrap().join("grandchild_pid"), child.id().to_string()).unwrap();
        exit(5);
    }
    if happens("hang") {
        loop {
            sleep(Duration::from_secs(1000));
        }
    }
    if happens("closes_output") {
        let nowhere = fs::OpenOptions::new().write(true).open("/dev/null").unwrap();
        rustix::stdio::dup2_stdout(&nowhere).unwrap();
        loop {
            sleep(Duration::from_secs(1000));
        }
    }
    if happens("noise") {
        print!(
            "loading [####] 10%\n\n[1, 2]\n\u{feff}{{\n  {{\n\u{1b}[2J\0\n{{\"event\":\"log\",\"text\":\"from an \\u001b[31mevent\"}}\n"
        );
        println!("{{\"event\":\"progress\",\"deep\":{{\"id\":1}}}}");
        let _ = stdout().write_all(b"\xff\xfe\n");
    }
    if happens("floods") {
        let (noise, errors) = ("noise\n".repeat(50_000), "error\n".repeat(50_000));
        print!("{noise}");
        eprint!("{errors}");
    }
}

fn answer(
    faults: &Faults,
    operation: &str,
    request: &Value,
    corridor: &mut Option<Corridor>,
    snapshots: &mut Vec<(String, Corridor)>,
) -> Value {
    let error = |code: &str, message: &str| json!({"ok": false, "error": {"code": code, "message": message, "fatal": false}});
    if faults.happens("env_error", operation) {
        return error("env_error", "the floor \u{1b}[5mis gone");
    }
    if faults.happens("refuses", operation) {
        let mut refusal = error("env_error", "not now");
        refusal["error"]["unchanged"] = true.into();
        return refusal;
    }
    match operation {
        "hello" => {
            let no_peek = faults.kind.ends_with("_unseen");
            let caps: Vec<&str> = ["tasks", "valid_actions", "peek", "snapshot", "hint", "seed"]
                .into_iter()
                .filter(|cap| !(no_peek && *cap == "peek"))
                .collect();
            json!({
                "protocol": if faults.kind == "version" { 2 } else { 1 }, "name": "corridor", "version": "0.3", "caps": caps,
                "deterministic": true,
                "enumeration": if faults.kind == "listing_moves" { "changes_world" } else { "free" },
                "max_snapshots": if faults.kind == "few_snapshots" { 2 } else { 64 },
            })
        }
        "tasks" => {
            let all: Vec<Value> = (2..=LAST)
                .map(|cell| {
                    let mark = if faults.kind == "control_sequences" { MARK } else { "" };
                    json!({"id": format!("east-{cell}{mark}"), "goal": format!("{mark}reach cell {cell}"), "type": "walk", "difficulty": cell})
                })
                .collect();
            let first = request["offset"].as_u64().unwrap_or(0) as usize;
            let last = (first + request["limit"].as_u64().unwrap_or(100) as usize).min(all.len());
            if faults.kind == "endless_tasks" {
                return json!({"tasks": [], "next": first + 1});
            }
            let mut reply = json!({"tasks": all[first..last], "total": all.len()});
            if last < all.len() {
                reply["next"] = last.into();
            }
            if request.get("split").is_some_and(|split| split != "train") {
                reply = json!({"tasks": [], "total": 0});
            }
            reply
        }
        "reset" => {
            let goal = request["task"].as_str().unwrap_or("east-2").strip_prefix("east-");
            let goal = goal
                .and_then(|cell| cell.trim_end_matches(MARK).parse().ok())
                .filter(|cell| (1..=LAST).contains(cell));
            let Some(goal) = goal else { return error("bad_task", "there are cells 0 to 4") };
            *corridor = Some(Corridor { cell: 0, goal, moves: 0 });
            println!("{}", json!({"event": "log", "level": "info", "text": "a corridor of 5 cells"}));
            let title = match faults.kind.as_str() {
                "paragraphs" => "The corridor\n\nIt is dark.\n\n",
                "control_sequences" => "\u{1b}]0;title\u{7}",
                _ => "",
            };
            json!({
                "observation": format!("{title}You are in cell 0. A sign says: {goal}."), "reward": 0.0, "done": false,
                "goal": format!("reach cell {goal}"), "score": 0, "max_score": goal, "moves": 0, "shown": {"cell": 0},
            })
        }
        "step" => {
            let Some(state) = corridor else { return error("not_reset", "reset comes first") };
            step(faults, state, request["action"].as_str().unwrap())
        }
        "valid_actions" if faults.kind.starts_with("listing_moves") => {
            corridor.as_mut().unwrap().cell += 1;
            json!({"actions": ["east", "west", "wait"], "total": 3, "pure": false})
        }
        "valid_actions" => {
            json!({"actions": ["east", "west", "wait"], "total": 3, "pure": faults.kind != "impure"})
        }
        "peek" => {
            let cell = corridor.map(|state| state.cell);
            json!({"peek": {"inventory": [], "cell": cell}, "pure": true})
        }
        "snapshot" => {
            let id = format!("s{}", snapshots.len() + 1);
            snapshots.push((id.clone(), corridor.unwrap()));
            json!({"snapshot": id, "bytes": 24})
        }
        "restore" => {
            let found = snapshots.iter().find(|(id, _)| *id == request["snapshot"].as_str().unwrap());
            let Some((_, state)) = found else { return error("env_error", "no such snapshot") };
            if !faults.kind.starts_with("lies") {
                *corridor = Some(*state);
            }
            json!({})
        }
        "drop" => {
            if let Some(marks) = &faults.marks {
                let mut dropped =
                    fs::OpenOptions::new().create(true).append(true).open(marks.join("dropped")).unwrap();
                writeln!(dropped, "{}", request["snapshot"].as_str().unwrap()).unwrap();
            }
            json!({})
        }
        "hint" if faults.kind == "control_sequences" => {
            json!({"hint": "\u{1b}[2J\u{9b}1mGo east once more."})
        }
        "hint" => json!({"hint": "Go east once more."}),
        "close" => {
            if let Some(marks) = &faults.marks {
                fs::write(marks.join("closed"), "").unwrap();
            }
            json!({})
        }
        other => error("unsupported", other),
    }
}

fn step(faults: &Faults, state: &mut Corridor, action: &str) -> Value {
    let move_by = match action {
        "east" => 1,
        "west" => -1,
        "wait" => 0,
        other => {
            return json!({
                "observation": format!("I do not know how to {other}."), "reward": 0.0, "done": false, "accepted": false,
                "score": state.cell, "max_score": state.goal, "moves": state.moves,
            });
        }
    };
    let before = state.cell;
    state.cell = (state.cell + move_by).clamp(0, LAST);
    state.moves += 1;
    let won = state.cell == state.goal;
    let mut reply = json!({
        "observation": format!("You are in cell {}.{}", state.cell, if won { " You win." } else { "" }),
        "reward": (state.cell - before) as f64, "done": won, "accepted": true,
        "score": state.cell, "max_score": state.goal, "moves": state.moves, "shown": {"cell": state.cell},
    });
    if won {
        reply["won"] = true.into();
    }
    if ["differs", "drifts"].contains(&faults.kind.as_str()) && !faults.is_first_process() {
        reply["observation"] = format!("You are in the cell number {}.", state.cell).into();
    }
    if faults.kind == "info_unseen" {
        reply["info"] = json!({"cell": state.cell});
    }
    if faults.kind == "control_sequences" {
        reply["observation"] =
            format!("\u{1b}[31mYou\u{9b}2J are in cell {}.\u{7}\u{202e}", state.cell).into();
        reply["shown"] = json!({"ce\u{1b}[1mll": "\u{1b}]0;title\u{7}"});
        reply["info"] = json!({"\u{1b}": "\u{0}"});
    }
    reply
}

/// Writes a reply, or something else in its place. Returns its text.
fn write_reply(faults: &Faults, operation: &str, reply: &Value, last: &str) -> String {
    let mut line = reply.to_string();
    let happens = |kind: &str| faults.happens(kind, operation);
    let with = |name: &str, value: Value| {
        let mut other = reply.clone();
        other[name] = value;
        other.to_string()
    };
    let without = |name: &str| {
        let mut other = reply.clone();
        other.as_object_mut().unwrap().remove(name);
        other.to_string()
    };
    let raw = |bytes: &[u8]| {
        let mut out = stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    };
    if happens("half_line") {
        raw(&line.as_bytes()[..line.len() / 2]);
        loop {
            sleep(Duration::from_secs(1000));
        }
    }
    if happens("half_line_exit") {
        raw(&line.as_bytes()[..line.len() / 2]);
        exit(4);
    }
    if happens("slow") {
        for byte in line.as_bytes() {
            raw(&[*byte]);
            sleep(Duration::from_millis(50));
        }
    }
    if happens("invalid_utf8") {
        raw(b"{\"id\":1,\"ok\":true,\"observation\":\"\xff\"}\n");
    }
    if happens("endless_line") {
        raw(b"{\"observation\":\"");
        loop {
            raw(&[b'x'; 1 << 14]);
        }
    }
    line = match () {
        () if happens("wrong_id") => with("id", json!(4711)),
        () if happens("missing_id") => without("id"),
        () if happens("string_id") => with("id", json!(reply["id"].to_string())),
        () if happens("repeated_id") => last.to_owned(),
        () if happens("invalid_json") => "{\"id\": 1, ok: true".to_owned(),
        () if happens("no_object") => format!("{line}]"),
        () if happens("deep") => format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)),
        () if happens("long_line") => with("observation", json!("x".repeat(20_000_000))),
        () if happens("nul") => line.replace("cell", "c\0ll"),
        () if happens("nan") => line.replace("\"reward\":1.0", "\"reward\":NaN"),
        () if happens("nan_text") => with("reward", json!("NaN")),
        () if happens("huge_reward") => line.replace("\"reward\":1.0", "\"reward\":1e999"),
        () if happens("no_observation") => without("observation"),
        () if happens("no_name") => without("name"),
        () if happens("two_replies") => format!("{line}\n{line}"),
        () if happens("unknown_fields") => with("later", json!({"id": 9, "event": [null, {}]})),
        () => line,
    };
    raw(format!("{line}\n").as_bytes());
    if happens("noise_after") {
        println!("bye for now");
        println!("{{\"event\":\"log\",\"text\":\"after the reply\"}}");
    }
    line
}
