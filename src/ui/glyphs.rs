//! The drawing characters, and what stands for them where only ASCII is to be had.

/// One set of drawing characters. Every one is a single cell wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Sixteen joints, by the arms they have: 1 up, 2 right, 4 down, 8 left.
    pub box_drawing: [&'static str; 16],
    /// A progress cell that is reached, and one that is not.
    pub progress_cells: [&'static str; 2],
    /// Heights of the sparkline, from nothing to full.
    pub sparkline: [&'static str; 8],
    /// Now, on the sparkline.
    pub now: &'static str,
    /// The proposal that waits.
    pub proposal: &'static str,
    /// The chosen step's edge.
    pub selection_edge: &'static str,
    /// Something new.
    pub new_lesson: &'static str,
    /// What to do instead.
    pub solution: &'static str,
    /// Something was cut off.
    pub ellipsis: &'static str,
    /// There are rows above, and below, what is to be seen.
    pub scroll_arrows: [&'static str; 2],
    /// Between parts of a line.
    pub separator: &'static str,
    /// A subgoal reached.
    pub subgoal: &'static str,
    /// Pinned.
    pub pin: &'static str,
    /// Switched off.
    pub off: &'static str,
    /// A person's hand.
    pub person: &'static str,
    /// A breakpoint, and where it stopped.
    pub breakpoint: &'static str,
    /// A watch, and where it told.
    pub watch: &'static str,
    /// A mistake.
    pub mistake: &'static str,
    /// A remark.
    pub remark: &'static str,
    /// The left margin of reasoning.
    pub reasoning_margin: &'static str,
    /// The pictures of a mark that turns while a model works.
    pub spinner: [&'static str; 4],
}

/// For terminals with Unicode.
pub const UNICODE: Glyphs = Glyphs {
    box_drawing: ["─", "│", "─", "└", "│", "│", "┌", "├", "─", "┘", "─", "┴", "┐", "┤", "┬", "┼"],
    progress_cells: ["▮", "▯"],
    sparkline: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    now: "┃",
    proposal: "▸",
    selection_edge: "▌",
    new_lesson: "•",
    solution: "→",
    ellipsis: "…",
    scroll_arrows: ["↑", "↓"],
    separator: "·",
    subgoal: "✓",
    pin: "◆",
    off: "○",
    person: "✎",
    breakpoint: "■",
    watch: "□",
    mistake: "!",
    remark: "\"",
    reasoning_margin: "│",
    spinner: ["◐", "◓", "◑", "◒"],
};

/// For terminals without.
pub const ASCII: Glyphs = Glyphs {
    box_drawing: ["-", "|", "-", "+", "|", "|", "+", "+", "-", "+", "-", "+", "+", "+", "+", "+"],
    progress_cells: ["#", "."],
    sparkline: ["_", "_", ".", "-", "-", "=", "*", "#"],
    now: "|",
    proposal: ">",
    selection_edge: "|",
    new_lesson: "*",
    solution: ">",
    ellipsis: "~",
    scroll_arrows: ["^", "v"],
    separator: "-",
    subgoal: "+",
    pin: "^",
    off: "o",
    person: "@",
    breakpoint: "X",
    watch: "x",
    mistake: "!",
    remark: "\"",
    reasoning_margin: "|",
    spinner: ["|", "/", "-", "\\"],
};
