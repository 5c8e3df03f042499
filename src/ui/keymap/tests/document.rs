//! Generates `docs/KEYS.md` and checks that it is up to date.

use crate::ui::keymap::{Action, Keymap, Mode};
use std::fmt::Write as _;

/// Returns the text of `docs/KEYS.md`.
fn keys_markdown(keymap: &Keymap) -> String {
    let mut page = String::from(
        "# Keys\n\n\
         This page is generated from `keymap.toml` (`UPDATE=1 cargo test --lib keys_document`).\n\n\
         To change keys, write rows like those of `keymap.toml` to `keys.toml` in the configuration folder\n\
         (`retrospect config show` prints its path). A row unbinds its keys from all other rows of its mode;\n\
         `run = \"none\"` does only that. A key that a mode doesn't bind falls through to the mode named\n\
         after \"then\". Errors in the file are reported with their line; the other rows still apply.\n\n\
         ```toml\n[[main]]\non = [\"f5\", \"n\"]\nrun = \"step\"\n\n[[main]]\non = \"x\"\nrun = \"none\"\n```\n",
    );
    for mode in Mode::ALL {
        if keymap.bindings_in(*mode).next().is_none() {
            continue;
        }
        let behind = match mode.behind() {
            Some(behind) => format!("`[[{}]]`, then `[[{}]]`", mode.name(), behind.name()),
            None => format!("`[[{}]]`", mode.name()),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "\n## {}\n\n{behind}\n\n| key | action | what it does |\n|---|---|---|\n",
            mode.title()
        );
        for row in keymap.bindings_in(*mode) {
            let keys: Vec<String> =
                row.keys.iter().map(|k| format!("`{}`", k.label().replace('|', "\\|"))).collect();
            let _ = writeln!(page, "| {} | `{}` | {} |", keys.join(" "), row.action.name(), row.description);
        }
    }
    page.push_str(
        "\n## The mouse\n\n\
         The mouse is never required. While it is on (`m` switches it on or off):\n\n\
         | where | what it does |\n|---|---|\n\
         | click a pane | focuses the pane |\n\
         | click a row of Story, Thoughts or Observations | goes to that row's step; the first observation \
         is before step 1 |\n\
         | click or drag on the timeline | goes to the step under the pointer |\n\
         | click a row of a list or a card | selects it |\n\
         | wheel | scrolls the pane under the pointer |\n",
    );
    let bound = |a: Action| Mode::ALL.iter().any(|m| keymap.bindings_in(*m).any(|r| r.action == a));
    page.push_str(
        "\n## Without a key\n\nThe palette (`:`) runs these by name; any of them can be given a key.\n\n",
    );
    page.push_str("| action | what it does |\n|---|---|\n");
    for action in Action::ALL.iter().filter(|a| !bound(**a)) {
        let _ = writeln!(page, "| `{}` | {} |", action.name(), action.about());
    }
    page
}

#[test]
fn keys_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/KEYS.md");
    let page = keys_markdown(&Keymap::default());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "docs/KEYS.md is stale; UPDATE=1 cargo test --lib keys_document regenerates it");
}
