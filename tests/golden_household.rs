//! Generated household games, played natively, against what the Python stack said when it played the same files.
//!
//! `cargo test --test golden_household -- --write DIR [ID]...` writes game folders for the recorder instead
//! (`tests/golden/household/README.md`).

use retrospect::env::household::{Difficulty, Kind, PRESELECTED, TaskId, export_folder};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some("--write") {
        let Some(dir) = args.next() else {
            eprintln!("--write needs a directory");
            return ExitCode::from(2);
        };
        write(Path::new(&dir), args.collect());
    }
    ExitCode::SUCCESS
}

/// The games whose traces are committed: every kind of task in every difficulty, and the one offered first.
fn recorded() -> Vec<String> {
    let mut ids = vec![PRESELECTED.to_string()];
    for difficulty in Difficulty::ALL {
        ids.extend(Kind::ALL.map(|kind| TaskId { difficulty, kind, seed: 1 }.to_string()));
    }
    ids
}

fn write(dir: &Path, ids: Vec<String>) {
    let ids = if ids.is_empty() { recorded() } else { ids };
    let mut list = String::new();
    for id in ids {
        let game = export_folder(&TaskId::parse(&id).unwrap()).unwrap();
        let folder = dir.join(&game.folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in game.files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        println!("{id}\t{}", folder.display());
        list += &format!("{id}\t{}\n", game.folder);
    }
    std::fs::write(dir.join("list.tsv"), list).unwrap();
}
