//! The drawing characters, and what stands for them where only ASCII is to be had.

/// One set of drawing characters. Every one is a single cell wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// Sixteen joints, by the arms they have: 1 up, 2 right, 4 down, 8 left.
    pub joints: [&'static str; 16],
    /// A progress cell that is reached, and one that is not.
    pub bar: [&'static str; 2],
    /// Heights of the sparkline, from nothing to full.
    pub spark: [&'static str; 8],
    /// Now, on the sparkline.
    pub now: &'static str,
    /// The proposal that waits.
    pub proposal: &'static str,
    /// The chosen step's edge.
    pub edge: &'static str,
    /// Something new.
    pub new: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    /// Something was cut off.
    pub more: &'static str,
    /// There are rows above, and below, what is to be seen.
    pub beyond: [&'static str; 2],
    /// Between parts of a line.
    pub dot: &'static str,
    /// A subgoal reached.
    pub done: &'static str,
    /// Pinned.
    pub pin: &'static str,
    /// Switched off.
    pub off: &'static str,
    /// A person's hand.
    pub person: &'static str,
    /// A breakpoint, and where it stopped.
    pub stop: &'static str,
    /// A watch, and where it told.
    pub watch: &'static str,
    /// A mistake.
    pub mistake: &'static str,
    /// A remark.
    pub remark: &'static str,
    /// The left margin of reasoning.
    pub quote: &'static str,
    /// The pictures of a mark that turns while a model works.
    pub spin: [&'static str; 4],
}

/// For terminals with Unicode.
pub const UNICODE: Glyphs = Glyphs {
    joints: ["─", "│", "─", "└", "│", "│", "┌", "├", "─", "┘", "─", "┴", "┐", "┤", "┬", "┼"],
    bar: ["▮", "▯"],
    spark: ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"],
    now: "┃",
    proposal: "▸",
    edge: "▌",
    new: "•",
    instead: "→",
    more: "…",
    beyond: ["↑", "↓"],
    dot: "·",
    done: "✓",
    pin: "◆",
    off: "○",
    person: "✎",
    stop: "■",
    watch: "□",
    mistake: "!",
    remark: "\"",
    quote: "│",
    spin: ["◐", "◓", "◑", "◒"],
};

/// For terminals without.
pub const ASCII: Glyphs = Glyphs {
    joints: ["-", "|", "-", "+", "|", "|", "+", "+", "-", "+", "-", "+", "+", "+", "+", "+"],
    bar: ["#", "."],
    spark: ["_", "_", ".", "-", "-", "=", "*", "#"],
    now: "|",
    proposal: ">",
    edge: "|",
    new: "*",
    instead: ">",
    more: "~",
    beyond: ["^", "v"],
    dot: "-",
    done: "+",
    pin: "^",
    off: "o",
    person: "@",
    stop: "X",
    watch: "x",
    mistake: "!",
    remark: "\"",
    quote: "|",
    spin: ["|", "/", "-", "\\"],
};
