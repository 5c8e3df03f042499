//! The transcript of `docs/ENVIRONMENTS.md` is what the program of these tests answers, and what the adapter understands.

use super::command;
use super::processes::wait_until;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

#[test]
fn the_transcript_of_the_documentation_is_true() {
    let page = include_str!("../../docs/ENVIRONMENTS.md");
    let (_, rest) = page.split_once("## A transcript").unwrap();
    let (_, rest) = rest.split_once("```text\n").unwrap();
    let (transcript, _) = rest.split_once("```").unwrap();
    let words = command();
    let mut program = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    // What isn't an object is log.
    let mut replies = lines.map_while(Result::ok).filter(|line| line.starts_with('{'));
    let (mut requests, mut answers) = (0, 0);
    for line in transcript.lines() {
        let (mark, text) = line.split_once(' ').unwrap();
        let value: Value = serde_json::from_str(text).unwrap();
        match mark {
            ">" => {
                requests += 1;
                assert_eq!(value["id"], requests, "{line}");
                writeln!(input, "{text}").unwrap();
            }
            "<" => {
                answers += 1;
                let reply: Value = serde_json::from_str(&replies.next().unwrap()).unwrap();
                assert_eq!(reply, value, "{line}");
            }
            _ => panic!("{line}"),
        }
    }
    assert!(requests == 16 && answers == 17);
    let exited = std::cell::RefCell::new(program);
    wait_until("it is still running", || exited.borrow_mut().try_wait().unwrap().is_some());
    assert!(exited.borrow_mut().wait().unwrap().success());
}
