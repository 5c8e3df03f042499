//! `demo`: opens the sessions that ship with the program.

use super::config::Config;
use super::error::CliError;
use super::output::Output;
use super::shipped_demos::{DEMOS, ShippedDemo};
use super::{args, locate, open};

/// Runs `demo [NAME]`.
pub(super) fn demo(config: &Config, args: &args::Demo, mut out: Output) -> Result<(), CliError> {
    if args.list {
        return list_demos(&mut out);
    }
    let wanted = args.name.as_deref();
    let demo = wanted.map_or(DEMOS.first(), find_demo).ok_or_else(|| {
        let names: Vec<&str> = DEMOS.iter().map(|demo| demo.name).collect();
        CliError::usage(
            format!("no demo named {:?}; available: {}", wanted.unwrap_or(""), names.join(", ")),
            "`retrospect demo --list` lists them",
        )
    })?;
    let mut opened = locate::open_demo(demo, None)?;
    // The end would be known before the story began.
    opened.position = demo.guide()?.chapters.first().map(|chapter| chapter.at);
    open::show_session(config, opened, false, false, &args.screen, out)
}

/// Returns the demo of a name, or the first whose name contains the text.
fn find_demo(name: &str) -> Option<&'static ShippedDemo> {
    ShippedDemo::named(name).or_else(|| DEMOS.iter().find(|demo| demo.name.contains(name)))
}

/// Prints each demo: its name and title, and what it shows.
fn list_demos(out: &mut Output) -> Result<(), CliError> {
    let width = DEMOS.iter().map(|demo| demo.name.len()).max().unwrap_or(0);
    for demo in &DEMOS {
        let title = locate::open_demo(demo, None)?.meta.title;
        out.print_line(&format!("{:width$}  {title}", demo.name))?;
        out.print_line(&format!("{:width$}  shows {}", "", demo.guide()?.teaches))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::StepRef;

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
