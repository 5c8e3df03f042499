//! Actions that exist only on the screen.

/// Returns what to use instead of a palette action that exists only on the screen.
pub(super) fn screen_only_message(word: &str) -> Option<String> {
    let instead = match word {
        "previous-mark" | "next-mark" | "marks" | "previous-episode" | "next-episode" | "first"
        | "last-progress" | "search" => "here: `story N` shows a step",
        "lesson-up" | "lesson-down" => "here: `move N PLACE`",
        "lesson-from-override" => "here: `lesson MISTAKE -> SOLUTION`",
        "override-questions" => {
            "here: `set override.shown_as own` (as the agent's own action) or `human_edit`"
        }
        "result" => "here: `story` and `world`",
        "compare" => "here: quit, then `retrospect diff A B`",
        "tasks" | "only-failed" | "sort" | "group" => "here: quit, then `retrospect report`",
        "preview" => "here: `prompt` shows the last prompt sent",
        "truth" => "here: `world` shows what the agent may know",
        "export" => "here: quit, then `retrospect export`",
        "suspend" => "here: Ctrl-Z",
        "break-add" => "here: `break CONDITION`",
        "break-once" => "here: `break once CONDITION`",
        "break-toggle" => "here: `break-on N` and `break-off N`",
        "break-warn" => "here: `watch CONDITION`",
        "branch-back" => "here: `switch B`",
        "branch-archive" => "here: `archive B` and `unarchive B`",
        "branch-all" => "here: `branches`",
        "reject-all" => "here: `refuse`",
        "rerun" => "here: quit, then `retrospect rerun SESSION#N`",
        "difference" => "here: `prompt`",
        "next-pane" | "previous-pane" | "zoom" | "arrange" | "reasoning" | "copy" | "theme" | "mouse"
        | "redraw" | "only-this" | "up" | "down" | "page-up" | "page-down" | "palette" | "close"
        | "new-line" | "editor" | "next-field" | "previous-field" | "next-match" | "previous-match" => {
            "resume without --plain"
        }
        pane if pane.strip_prefix("pane-").is_some_and(|n| n.parse::<u8>().is_ok()) => {
            "resume without --plain"
        }
        _ => return None,
    };
    Some(format!("`{word}` needs the screen; {instead}"))
}
