//! The page of `docs/` that lists the keys.

use super::{Action, Keymap, Mode};
use std::fmt::Write as _;

/// The text of `docs/KEYS.md`.
pub fn keys_markdown(keymap: &Keymap) -> String {
    let mut page = String::from(
        "# Keys\n\n\
         This page is written from `keymap.toml` by a test (`UPDATE=1 cargo test --lib keys_document`).\n\n\
         Every key can be changed: write rows like those of `keymap.toml` into `keys.toml` in the configuration folder\n\
         (`retrospect config show` names it). A row takes its keys from all other rows of its mode; `run = \"none\"` only\n\
         takes them away. A mode that does not know a key asks the one behind it. What is wrong in the file is told with\n\
         its line, and the rest counts.\n\n\
         ```toml\n[[main]]\non = [\"f5\", \"n\"]\nrun = \"step\"\n\n[[main]]\non = \"x\"\nrun = \"none\"\n```\n",
    );
    for mode in Mode::ALL {
        if keymap.bindings_in(*mode).next().is_none() {
            continue;
        }
        let behind = match mode.behind() {
            Some(next) => format!("`[[{}]]`, then `[[{}]]`", mode.name(), next.name()),
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
         While it belongs to the screen, and nowhere is it needed:\n\n\
         | where | what it does |\n|---|---|\n\
         | click on a pane | the pane has the keys |\n\
         | click on a row of Story, Thoughts or Observations | goes to that row's turn; the first observation is the \
         moment before turn 1 |\n\
         | click or drag on the time bar | goes to the turn under it |\n\
         | click on a row of a list or a card | chooses it |\n\
         | wheel | scrolls what is under it |\n",
    );
    let bound = |a: Action| Mode::ALL.iter().any(|m| keymap.bindings_in(*m).any(|r| r.action == a));
    page.push_str(
        "\n## Without a key\n\nThe palette (`:`) offers these by name, and a key can be given to each.\n\n",
    );
    page.push_str("| action | what it does |\n|---|---|\n");
    for action in Action::ALL.iter().filter(|a| !bound(**a)) {
        let _ = writeln!(page, "| `{}` | {} |", action.name(), action.about());
    }
    page
}
