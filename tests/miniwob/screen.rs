//! The screen: what it shows, and DORA's ten tasks, played there by the rule-based actor.

use crate::episodes::{Test, options};
use crate::pictures::check_pictures;
use crate::processes::{in_groups_of, wait_until_all_gone};
use crate::rewind::PlayedSession;
use crate::terminal::Terminal;
use portable_pty::CommandBuilder;
use retrospect::driver::worlds;
use retrospect::engine::Event;
use retrospect::env::miniwob::level;
use retrospect::journal::read_branch;
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) const TESTS: &[Test] = &[
    ("the screen shows an episode", the_screen_shows_an_episode),
    ("the HTML of a page and its picture are shown", the_html_and_the_picture_are_shown),
    ("DORA's ten tasks are played on the screen", ten_tasks_are_played),
];

/// Longer than a browser takes to start and a page to be played.
const LONG: Duration = Duration::from_secs(180);

fn the_screen_shows_an_episode() {
    let root = tempfile::tempdir().unwrap();
    let task = worlds::find("miniwob", "click-collapsible-2/3", &options(&[])).unwrap();
    let played = PlayedSession::watch(root.path(), task, &options(&[]), 3);
    check_pictures("miniwob", &played.session.trunk());
    played.end();
}

/// The step details have the page's HTML, and the exported report a picture of the page at the end.
fn the_html_and_the_picture_are_shown() {
    let id = "click-test/1";
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(["run", "--env", "miniwob", "--task", id, "--actor", "rules", "--mentor", "none"]);
    command.args(["--method", "react", "--max-steps", "5"]);
    let mut window = Terminal::start(command, 120, 36, None);
    wait_for(&window, id, "your turn");
    window.press("i");
    wait_for(&window, id, "page's HTML");
    assert!(window.text().contains("page's HTML <div id=\"wrap\">"), "{}", window.text());
    window.press("\x1b");
    window.wait_until_gone("page's HTML");
    window.press(" ");
    wait_for(&window, id, "Episode 1 ended");
    window.press("\x1b");
    window.wait_until_gone("Episode 1 ended");
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0);
    let mut export = std::process::Command::new(env!("CARGO_BIN_EXE_retrospect"));
    export.args(["export", "--last", "--format", "html"]).env("RETROSPECT_SESSIONS", window.sessions.path());
    let output = export.env("RETROSPECT_CONFIG_DIR", window.sessions.path()).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let picture =
        "<img class=\"shot\" alt=\"screenshot at the end of episode 1\" src=\"data:image/png;base64,iVBOR";
    assert!(page.contains(picture), "{}", String::from_utf8_lossy(&output.stderr));
}

fn ten_tasks_are_played() {
    let options = retrospect::env::TaskOptions { seed: 1, ..options(&[]) };
    let mut tasks = worlds::list_tasks("miniwob", &worlds::Selection::default(), &options).unwrap();
    tasks.retain(|task| level(task).is_some());
    assert_eq!(tasks.len(), 10);
    let won = tasks.iter().filter(|task| play_on_screen(&task.id)).count();
    // It plays badly, but not that badly.
    assert!(won > 0, "none was won");
}

/// Plays a task to its end. Returns whether the screen says that it was won.
fn play_on_screen(id: &str) -> bool {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_retrospect"));
    command.args(["run", "--env", "miniwob", "--task", id, "--actor", "rules", "--mentor", "none"]);
    command.args(["--method", "react", "--max-steps", "10"]);
    let mut window = Terminal::start(command, 120, 36, None);
    wait_for(&window, id, "your turn");
    wait_for(&window, id, "World");
    window.press(" ");
    wait_for(&window, id, "Episode 1 ended");
    let text = window.text();
    let is_won = text.contains("Won: ");
    assert!(is_won != text.contains("Lost: "), "{id}: the end card doesn't say how it ended:\n{text}");
    window.press("\x1b");
    // An Escape with a key at once would be another key.
    window.wait_until_gone("Episode 1 ended");
    wait_for(&window, id, if is_won { "WON" } else { "LOST" });
    let processes = in_groups_of(window.child.process_id().unwrap());
    window.press("q");
    assert_eq!(window.wait_for_exit(), 0, "{id}");
    window.assert_terminal_restored();
    assert_eq!(wait_until_all_gone(&processes), Vec::<String>::new(), "{id}");
    assert_eq!(recorded_outcome(window.sessions.path()), Some(is_won), "{id}");
    is_won
}

fn wait_for(window: &Terminal, id: &str, words: &str) {
    let start = Instant::now();
    while !window.text().contains(words) {
        assert!(start.elapsed() < LONG, "{id}: no {words:?} on the screen:\n{}", window.text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns whether the only episode of the only session was won; `None` if it or the run hasn't ended.
fn recorded_outcome(sessions: &Path) -> Option<bool> {
    let mut folders = std::fs::read_dir(sessions).unwrap().map(|entry| entry.unwrap().path());
    let journal =
        folders.find_map(|folder| Some(folder.join("branches/trunk.jsonl")).filter(|path| path.is_file()))?;
    let events = read_branch(&journal).unwrap().events;
    let has_ended = events.iter().any(|envelope| matches!(envelope.event, Event::RunEnded));
    let won = events.iter().find_map(|envelope| match &envelope.event {
        Event::EpisodeEnded { summary } => Some(summary.won),
        _ => None,
    });
    won.filter(|_| has_ended)
}
