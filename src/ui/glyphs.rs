//! Drawing characters, in Unicode and ASCII.

use crate::domain::PictureGlyphs;
use ratatui::symbols::border;

/// A set of drawing characters. Each is one cell wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Sixteen line joints, indexed by their arms: 1 up, 2 right, 4 down, 8 left.
    pub box_drawing: [&'static str; 16],
    /// A filled and an empty cell of the progress bar.
    pub progress_cells: [&'static str; 2],
    /// A pair of a measurement: won only with the lesson, only without it, in both arms, in neither.
    pub pair_marks: [&'static str; 4],
    /// Sparkline levels, from empty to full.
    pub sparkline: [&'static str; 8],
    /// The selected step on the sparkline.
    pub now: &'static str,
    /// The pending proposal.
    pub proposal: &'static str,
    /// A marked row of a list.
    pub marked: &'static str,
    /// The left edge of the selected step or lesson.
    pub selection_edge: &'static str,
    pub new_lesson: &'static str,
    /// Precedes what to do instead of a mistake.
    pub solution: &'static str,
    /// Marks cut text.
    pub ellipsis: &'static str,
    /// Marks that more rows are above, and below.
    pub scroll_arrows: [&'static str; 2],
    /// Separates the parts of a line.
    pub separator: &'static str,
    /// Stands beside how many times something was used.
    pub times: &'static str,
    /// A reached subgoal.
    pub subgoal: &'static str,
    /// A pinned lesson.
    pub pin: &'static str,
    /// A lesson that is off, and other inactive things.
    pub off: &'static str,
    /// A human intervention.
    pub person: &'static str,
    /// A breakpoint, and a step at which it stopped.
    pub breakpoint: &'static str,
    /// A watch, and a step that it marked.
    pub watch: &'static str,
    /// A step at which a branch was forked.
    pub branch: &'static str,
    pub mistake: &'static str,
    pub remark: &'static str,
    pub reasoning_margin: &'static str,
    /// Playback is running.
    pub playing: &'static str,
    /// Stands for a character that stage mode hides.
    pub cover: &'static str,
    /// The frames of the spinner shown while a model works.
    pub spinner: [&'static str; 4],
}

impl Glyphs {
    /// Returns the characters of a rectangular frame.
    pub fn border_set(&self) -> border::Set<'static> {
        let joint = |arms: usize| self.box_drawing[arms];
        border::Set {
            top_left: joint(2 | 4),
            top_right: joint(4 | 8),
            bottom_left: joint(1 | 2),
            bottom_right: joint(1 | 8),
            vertical_left: joint(1 | 4),
            vertical_right: joint(1 | 4),
            horizontal_top: joint(2 | 8),
            horizontal_bottom: joint(2 | 8),
        }
    }
}

/// Characters for terminals with Unicode.
pub const UNICODE: Glyphs = Glyphs {
    box_drawing: PictureGlyphs::UNICODE.box_drawing,
    progress_cells: ["▮", "▯"],
    pair_marks: ["▲", "▼", "●", "○"],
    sparkline: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    now: "┃",
    proposal: PictureGlyphs::UNICODE.pointer,
    marked: "✓",
    selection_edge: "▌",
    new_lesson: "•",
    solution: "→",
    ellipsis: PictureGlyphs::UNICODE.ellipsis,
    scroll_arrows: ["↑", "↓"],
    separator: PictureGlyphs::UNICODE.separator,
    times: "×",
    subgoal: PictureGlyphs::UNICODE.tick,
    pin: "◆",
    off: "○",
    person: "✎",
    breakpoint: "■",
    watch: "□",
    branch: "Y",
    mistake: "!",
    remark: "\"",
    reasoning_margin: "│",
    playing: "▶",
    cover: "•",
    spinner: ["◐", "◓", "◑", "◒"],
};

/// Characters for ASCII-only terminals.
pub const ASCII: Glyphs = Glyphs {
    box_drawing: PictureGlyphs::ASCII.box_drawing,
    progress_cells: ["#", "."],
    pair_marks: ["+", "-", "=", "."],
    sparkline: ["_", "_", ".", "-", "-", "=", "*", "#"],
    now: "|",
    proposal: PictureGlyphs::ASCII.pointer,
    marked: "*",
    selection_edge: "|",
    new_lesson: "*",
    solution: ">",
    ellipsis: PictureGlyphs::ASCII.ellipsis,
    scroll_arrows: ["^", "v"],
    separator: PictureGlyphs::ASCII.separator,
    times: "x",
    subgoal: PictureGlyphs::ASCII.tick,
    pin: "^",
    off: "o",
    person: "@",
    breakpoint: "X",
    watch: "x",
    branch: "Y",
    mistake: "!",
    remark: "\"",
    reasoning_margin: "|",
    playing: ">",
    cover: "*",
    spinner: ["|", "/", "-", "\\"],
};
