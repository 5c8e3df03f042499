//! `demo`: plays the sessions that ship with the program, and sessions of one's own like them.

use super::config::Config;
use super::error::CliError;
use super::locate::OpenedSession;
use super::output::Output;
use super::shipped_demos::{DEMOS, ShippedDemo};
use super::{args, locate, open, screen};
use crate::report::StepRef;
use std::path::Path;

/// Runs `demo [NAME]`.
pub(super) fn demo(config: &Config, args: &args::Demo, mut out: Output) -> Result<(), CliError> {
    if args.list {
        return list_demos(&mut out);
    }
    let opened = match args.name.as_deref() {
        None => open_shipped(&DEMOS[0])?,
        Some(name) => open_named(config, name)?,
    };
    open::show_session(config, opened, false, false, &args.screen, out)
}

/// Opens a shipped demo at its start: the end would be known before the story began.
fn open_shipped(demo: &'static ShippedDemo) -> Result<OpenedSession, CliError> {
    let mut opened = locate::open_demo(demo, None)?;
    opened.position = demo.guide()?.chapters.first().map(|chapter| chapter.at);
    Ok(opened)
}

/// Opens the demo of a name, or any session, read-only, to be played as one.
fn open_named(config: &Config, name: &str) -> Result<OpenedSession, CliError> {
    let is_path = ShippedDemo::named(name).is_none() && (name.contains('/') || Path::new(name).exists());
    if let Some(demo) = find_demo(name).filter(|_| !is_path) {
        return open_shipped(demo);
    }
    let mut opened = locate::open_session(config, Some(name)).map_err(|error| {
        if is_path {
            return error;
        }
        let names: Vec<&str> = DEMOS.iter().map(|demo| demo.name).collect();
        CliError::usage(
            format!("no demo named {name:?} (available: {}), and {}", names.join(", "), error.message),
            "`retrospect demo --list` lists the demos; a session's folder or exported report plays as one, too",
        )
    })?;
    let head = opened.timeline.head();
    let first = head.ended_episodes.first().map(|ended| ended.number);
    let first = first.or(head.episode.as_ref().map(|episode| episode.number));
    opened.position = opened.position.or(first.map(|episode| StepRef { episode, step: 0 }));
    opened.is_demo = true;
    Ok(opened)
}

/// Returns the demo of a name, or the first whose name contains the text.
fn find_demo(name: &str) -> Option<&'static ShippedDemo> {
    ShippedDemo::named(name).or_else(|| DEMOS.iter().find(|demo| demo.name.contains(name)))
}

/// Prints each demo: its name and title, how long it plays at normal speed, and what it shows.
fn list_demos(out: &mut Output) -> Result<(), CliError> {
    let width = DEMOS.iter().map(|demo| demo.name.len()).max().unwrap_or(0);
    for demo in &DEMOS {
        let opened = locate::open_demo(demo, None)?;
        let time = screen::picture::playing_time(&opened)?.map(|time| format!(" ({} s)", time.as_secs()));
        let (title, time) = (&opened.meta.title, time.unwrap_or_default());
        out.print_line(&format!("{:width$}  {title}{time}", demo.name))?;
        out.print_line(&format!("{:width$}  shows {}", "", demo.guide()?.teaches))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: the shipped sessions were read from a folder of the machine that built the program.
    #[test]
    fn the_binary_contains_every_shipped_session() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
        let mut found: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(root).unwrap() {
            let dir = entry.unwrap().path();
            let name = dir.file_name().unwrap().to_string_lossy().into_owned();
            let demo = ShippedDemo::named(&name).unwrap_or_else(|| panic!("{name} isn't in the table"));
            for (file, text) in demo.session().files {
                assert_eq!(text, std::fs::read_to_string(dir.join(&file)).unwrap(), "{name}: {file}");
            }
            found.push(name);
        }
        assert_eq!(found.len(), DEMOS.len());
    }

    /// Regression: a report of a demo was written into the source folder, and a demo had nothing to be compared with.
    #[cfg(feature = "tui")]
    #[test]
    fn a_demo_is_exported_elsewhere_and_compared_with_the_others() {
        use crate::driver::Store;
        use crate::ui::types::WorkProgress;
        let temp = tempfile::tempdir().unwrap();
        let demo = &DEMOS[0];
        let store = Store::default();
        let opened = locate::open_demo(demo, None).unwrap();
        store.set_timeline(opened.timeline, opened.branch.id);
        let folder = temp.path().join("sessions");
        let path = demo
            .export(&folder, &store, crate::ui::types::ReportQuery::default(), &WorkProgress::default())
            .unwrap();
        assert_eq!(std::path::Path::new(&path).parent(), Some(folder.as_path()));
        let page = std::fs::read_to_string(path).unwrap();
        let embedded = crate::journal::extract_session(&page).unwrap();
        assert_eq!(embedded.files, demo.session().files, "the report can be opened again");

        let others = demo.others().unwrap();
        assert_eq!(others.len() + 1, DEMOS.len());
        assert_eq!((others[0].outcome.as_str(), others[0].tasks.len()), ("lost (step limit), 50 steps", 1));
        let branches = demo.branches().unwrap();
        assert_eq!((branches.len(), branches[0].outcome.as_str()), (1, "won"));
        let config = Config::load(None, |_| None).unwrap();
        for name in [demo.name, others[0].session.as_deref().unwrap()] {
            let opened = locate::open_session(&config, Some(name)).unwrap();
            assert_eq!(opened.meta.session, name);
        }
    }

    /// Regression: who prepares a talk had no demo of their own: `demo` knew only the shipped ones.
    #[cfg(feature = "tui")]
    #[test]
    fn a_session_of_ones_own_is_a_demo_with_its_remarks_as_captions() {
        let temp = tempfile::tempdir().unwrap();
        let (dir, config) = (temp.path().join("talk"), Config::load(None, |_| None).unwrap());
        std::fs::create_dir_all(dir.join("branches")).unwrap();
        let shipped = ShippedDemo::named("hot-mug-taught").unwrap();
        for (name, text) in shipped.session().files {
            std::fs::write(dir.join(name), text).unwrap();
        }
        let store = crate::driver::Store::default();
        let opened = locate::open_demo(shipped, None).unwrap();
        store.set_timeline(opened.timeline, opened.branch.id);
        let (query, progress) = Default::default();
        let page = shipped.export(&temp.path().join("reports"), &store, query, &progress).unwrap();
        for path in [dir.display().to_string(), page] {
            let opened = open_named(&config, &path).unwrap();
            assert!(opened.is_demo && opened.demo.is_none());
            assert_eq!(opened.position, Some(StepRef { episode: 1, step: 0 }));
            let chapters = crate::ui::chapters::remark_chapters(opened.timeline.head());
            let captions: Vec<(u32, &str)> =
                chapters.iter().map(|chapter| (chapter.at.step, chapter.text.as_str())).collect();
            let [(0, "put a hot mug in coffeemachine"), (10, remark)] = captions[..] else {
                panic!("{captions:?}")
            };
            assert!(remark.starts_with("It still holds the cellphone"));
        }
        let unknown = open_named(&config, "nothing-like-it").map(|_| ()).unwrap_err();
        assert!(unknown.message.contains("available: hot-mug-taught"), "{}", unknown.message);
    }

    #[test]
    fn chapters_are_in_order_and_name_steps_that_exist() {
        for demo in &DEMOS {
            let opened = locate::open_demo(demo, None).unwrap();
            let guide = demo.guide().unwrap();
            assert!(guide.chapters.is_sorted_by(|a, b| a.at < b.at), "{}", demo.name);
            assert_eq!(guide.chapters[0].at, StepRef { episode: 1, step: 0 }, "{}", demo.name);
            for chapter in &guide.chapters {
                locate::check_position(opened.timeline.head(), chapter.at).unwrap();
                assert!(
                    (20..=130).contains(&chapter.text.chars().count()),
                    "{}: {}",
                    demo.name,
                    chapter.text
                );
            }
        }
    }
}
