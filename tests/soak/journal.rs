//! Broken journals: every file is read or rejected with file and line, and what was read can be folded.

use crate::cases::{Rng, Soak};
use crate::hostile;
use crate::rig::{FILE, Rig, assert_folds_to, spec};
use crate::wreck;
use retrospect::catalog;
use retrospect::domain::{
    BranchId, EndReason, Interface, LessonText, PromptRecord, ReflectionKind, Scope, Seq, ShownAs,
    ThoughtDisposition,
};
use retrospect::engine::{Command, Engine, Envelope, Event, Input, LessonCommand, State};
use retrospect::journal::{Session, fold_events, read_branch_bytes};
use retrospect::timeline::Timeline;
use std::path::Path;
use std::sync::Arc;

/// Returns valid journals with every kind of event.
fn corpus() -> Vec<Vec<Vec<u8>>> {
    let mut files = vec![wreck::lines(&documented_journal())];
    for (method, interface, id) in [
        ("omnireflect", Interface::React, "easy/heat/23"),
        ("react", Interface::Agentboard, "easy/put/1"),
        ("omnireflect", Interface::Raw, "easy/two/2"),
    ] {
        files.push(wreck::lines(&played_session(method, interface, id).file()));
    }
    files
}

/// Returns a short session with human interventions.
fn played_session(method: &str, interface: Interface, id: &str) -> Rig {
    let mut rig = Rig::new(spec(method, interface, &[id, id]));
    let add = |text: &str, kind| {
        Command::Lesson(LessonCommand::add(kind, Scope::Environment, LessonText::plain(text), String::new()))
    };
    let commands = [
        Command::Step,
        add("Heat food in a microwave only.", ReflectionKind::Error),
        Command::StepStage,
        Command::StepStage,
        Command::Override {
            action: "look".to_owned(),
            shown_as: ShownAs::HumanEdit,
            thought_disposition: ThoughtDisposition::Dropped,
        },
        Command::Step,
        Command::Reject("not there".to_owned()),
        Command::Undo,
        add("Use the number of every object and place.", ReflectionKind::Abstract),
        Command::Remark { episode: None, step: 1, text: "here".to_owned() },
        Command::ChangeSetting { name: "max_steps".to_owned(), value: 12.into() },
        Command::AskAgain,
        Command::Run,
        Command::EndEpisode(EndReason::Person),
        Command::Close,
        Command::Reopen,
    ];
    for command in &commands {
        // A command that is rejected here leaves no event, which is fine too.
        let _ = rig.send(command);
        rig.answer(if matches!(command, Command::Run) { 40 } else { 4 });
    }
    rig
}

/// Returns the events of the documentation as a branch file.
fn documented_journal() -> Vec<u8> {
    let page = include_str!("../../docs/JOURNAL.md");
    let mut lines: Vec<&str> =
        page.lines().filter(|l| l.starts_with("{\"v\":1,\"type\":\"branch\"")).take(1).collect();
    lines.extend(page.lines().filter(|l| l.starts_with("{\"seq\":")));
    lines.join("\n").into_bytes()
}

#[test]
fn mutated_journals_are_read_or_rejected_with_file_and_line() {
    let files = corpus();
    let (mut read, mut events) = (0_u64, 0_u64);
    Soak::new("journals", 100_000).run(|rng, _| {
        let (file, other) = (rng.below(files.len()), rng.below(files.len()));
        let bytes = wreck::mutate_branch(rng, &files[file], &files[other]);
        if let Some(timeline) = read_or_check_error(&bytes) {
            read += 1;
            events += timeline.len();
            read_timeline(rng, &timeline);
        }
    });
    println!("journals: {read} files were readable, with {events} events");
    assert!(read > 0, "no mutated file reached the fold");
}

/// Reads a file; an error must name the line.
fn read_or_check_error(bytes: &[u8]) -> Option<Timeline> {
    let branch = match read_branch_bytes(Path::new(FILE), bytes) {
        Ok(branch) => branch,
        Err(error) => {
            let words = error.to_string();
            let line = words.strip_prefix(FILE).and_then(|w| w.strip_prefix(':')).unwrap_or_default();
            assert!(line.starts_with(|c: char| c.is_ascii_digit()), "the error names no line: {words:.200}");
            return None;
        }
    };
    assert!(branch.valid_len as usize <= bytes.len());
    if branch.header.at_seq == Seq(0) {
        // What a writer would continue from is read back completely and unchanged.
        let reread = read_branch_bytes(Path::new(FILE), &bytes[..branch.valid_len as usize]).unwrap();
        assert_eq!((reread.events.len(), reread.torn_tail), (branch.events.len(), None));
        let state = fold_events(branch.events.clone());
        assert_folds_to(&branch.events, state.head());
    }
    Some(fold_events(branch.events))
}

/// Reads a timeline as screens and exports do.
fn read_timeline(rng: &mut Rng, timeline: &Timeline) {
    let head = timeline.head();
    if timeline.is_empty() {
        return;
    }
    let first = timeline.event(Seq(1)).map_or(1, |e| e.seq.0);
    let at = Seq(first + rng.below(timeline.len() as usize) as u64);
    let state = timeline.state_at(at);
    if first == 1 {
        let mut plain = State::default();
        timeline.events_after(Seq(0)).iter().take_while(|e| e.seq <= at).for_each(|e| plain.apply(e));
        assert_eq!(*state, plain, "the state at {at} equals the fold of the events up to it");
    }
    for state in [head, &state] {
        let text = serde_json::to_string(state.as_ref()).unwrap();
        let reread: State = serde_json::from_str(&text).unwrap();
        assert_eq!(&reread, state.as_ref(), "a state is read back as written");
        for record in [&state.actor_prompts.0, &state.actor_prompts.1].into_iter().flatten() {
            let prompt = retrospect::prompt::render(state, record);
            let _ = retrospect::prompt::body_hash(&prompt);
        }
        let _ = retrospect::catalog::RULES.detect(state);
        let _ = (
            state.is_waiting(),
            state.step_awaiting_decision(),
            state.is_world_busy(),
            state.has_reflected(ReflectionKind::Error),
        );
    }
    for record in timeline.events_after(Seq(0)).iter().filter_map(prompt_record) {
        let _ = retrospect::prompt::render(head, record);
    }
    let _ = retrospect::journal::summarize(head, &BranchId::trunk(), 0);
    resume_state(head);
}

/// Resumes a session as a driver does, and advances as far as possible without a reply.
fn resume_state(state: &State) {
    let Some(policy) = state
        .run
        .as_ref()
        .and_then(|r| catalog::build_policy(r, Arc::new(retrospect::catalog::builtin_templates())).ok())
    else {
        return;
    };
    let mut engine = Engine::resume(state.clone(), policy, BranchId::trunk());
    for command in [Command::Reopen, Command::Step, Command::Run] {
        let mut events = engine.decide(&Input::Command(command)).unwrap_or_default();
        // No reply arrives, so the engine must become idle.
        for _ in 0..32 {
            for (cause, event) in events {
                let seq = Seq(engine.state.head.0 + 1);
                engine.state.apply(&Envelope {
                    seq,
                    timestamp: jiff::Timestamp::UNIX_EPOCH,
                    cause,
                    batch_continues: false,
                    event,
                });
            }
            events = engine.advance();
            if events.is_empty() {
                break;
            }
        }
        assert!(events.is_empty(), "the engine never becomes idle: {:?}", events[0].1);
    }
}

fn prompt_record(envelope: &Arc<Envelope>) -> Option<&PromptRecord> {
    match &envelope.event {
        Event::PromptSent { prompt } | Event::PromptDrafted { prompt } => Some(prompt),
        _ => None,
    }
}

#[test]
fn mutated_meta_files_are_read_or_rejected_with_file_and_line() {
    const META: &str = "v = 1\nsession = \"20261120T104000Z-x-k3f9qa\"\ncreated = \"2026-11-20T10:40:00Z\"\nprogram = \"0.1.0\"\nenv = \"household\"\nmethod = \"omnireflect\"\nactor = \"rules\"\ntitle = \"put a hot apple in the fridge\"\nbookmark = \"1.7\"\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("meta.toml");
    let mut read = 0_u64;
    Soak::new("meta files", 20_000).run(|rng, _| {
        let mut lines = wreck::lines(META.as_bytes());
        for _ in 0..[1, 1, 1, 2, 4][rng.below(5)] {
            let at = rng.below(lines.len());
            match rng.below(8) {
                0 if lines.len() > 1 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[rng.below(lines.len())].clone()),
                2 => lines[at] = hostile::text(rng, 100).into_bytes(),
                3 => {
                    let depth = [10, 90, 1_000, 100_000][rng.below(4)];
                    let open = ["[", "{a=", "a."][rng.below(3)];
                    lines[at] = format!("title = {}", open.repeat(depth)).into_bytes();
                }
                4 => lines[at] = format!("title = {:?}", hostile::text(rng, 100)).into_bytes(),
                5 => lines[at] = b"v = 99999999999999999999"[..4 + rng.below(21)].to_vec(),
                _ => wreck::mutate_bytes(rng, &mut lines[at]),
            }
        }
        std::fs::write(&path, lines.join(&b'\n')).unwrap();
        match Session::open(dir.path()) {
            Ok(session) => {
                read += 1;
                session.save_meta().unwrap();
                assert_eq!(
                    Session::open(dir.path()).unwrap(),
                    session,
                    "the meta file is read back as written"
                );
            }
            Err(error) => {
                let words = error.to_string();
                assert!(
                    words.starts_with(&path.display().to_string()),
                    "the error names no file: {words:.200}"
                );
            }
        }
    });
    println!("meta files: {read} files were readable");
}
