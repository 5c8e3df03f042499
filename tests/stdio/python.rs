//! The environments in Python that the documentation shows and the examples are: each is deterministic, and can be played to its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The name, the program's arguments, and actions that win its first task or the one named.
struct Case {
    name: &'static str,
    arguments: Vec<PathBuf>,
    task: &'static str,
    actions: &'static [&'static str],
}

/// Returns the program of the documentation, as somebody who copies it has it.
fn documented_program() -> String {
    let page = include_str!("../../docs/ENVIRONMENTS.md");
    let (_, rest) = page.split_once("```python\nimport json").unwrap();
    let (program, _) = rest.split_once("```").unwrap();
    format!("import json{program}")
}

#[test]
fn the_documented_python_programs_work() {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no python3");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path().join("guess.py");
    fs::write(&copied, documented_program()).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let cases = [
        Case {
            name: "guess",
            arguments: vec![copied],
            task: "default",
            // It says more or less; one of nine is right.
            actions: &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
        },
        Case {
            name: "jugs",
            arguments: vec![examples.join("jugs/jugs.py")],
            task: "3-5-4",
            actions: &[
                "fill jug 5",
                "pour jug 5 into jug 3",
                "empty jug 3",
                "pour jug 5 into jug 3",
                "fill jug 5",
                "pour jug 5 into jug 3",
            ],
        },
        Case {
            name: "corridor",
            arguments: vec![examples.join("bridge/bridge.py"), "corridor:Corridor".into()],
            task: "east-3",
            actions: &["east", "east", "east"],
        },
    ];
    for case in cases {
        let mut words = vec!["python3".to_owned()];
        words.extend(case.arguments.iter().map(|word| word.to_str().unwrap().to_owned()));
        let config = format!(
            "[environments.{}]\nkind = \"stdio\"\ncommand = {}\n",
            case.name,
            serde_json::to_string(&words).unwrap()
        );
        fs::write(folder.path().join("config.toml"), config).unwrap();
        let doctor = super::program::output(folder.path(), &["doctor", "--env", case.name]);
        let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
        assert!(
            doctor.status.success() && text.contains("the same answers three times"),
            "{}: {text}",
            case.name
        );
        let arguments = ["play", "--env", case.name, "--task", case.task, "--json"];
        let lines = super::program::play_actions(folder.path(), &arguments, case.actions);
        assert!(lines.iter().any(|line| line["won"] == true), "{}: {lines:#?}", case.name);
    }
}
