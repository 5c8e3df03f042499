//! Pictures of environments, as plain data: what a person sees of a world beside the texts.

use serde_json::Value;

/// What an environment's picture is drawn from.
#[derive(Clone, Copy, Debug)]
pub struct PictureRequest<'a> {
    /// What the agent may know: `shown` of all step results so far, merged.
    pub shown: &'a Value,
    /// The ground truth, if a person wants to see it.
    pub truth: Option<&'a Value>,
    /// The goal of the episode; empty if unknown.
    pub goal: &'a str,
    /// The progress of the episode, from 0 to 1; 0 before it begins.
    pub progress: f64,
    /// The width of the area. Wider rows are cut.
    pub columns: usize,
    /// The height of the area. A higher picture can be scrolled.
    pub rows: usize,
    /// Whether only ASCII characters may be drawn.
    pub is_ascii: bool,
}

impl PictureRequest<'_> {
    /// Returns the characters to draw with.
    pub fn glyphs(&self) -> &'static PictureGlyphs {
        if self.is_ascii { &PictureGlyphs::ASCII } else { &PictureGlyphs::UNICODE }
    }
}

/// What a person sees of an environment. Its texts may come from the environment as they are: whoever draws them
/// removes control characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The text at the right end of the title, such as `3 of 20 places seen`; may be empty.
    pub summary: String,
    /// The whole picture in one line, for an area without rows: variants from long to short.
    pub one_line: Vec<String>,
    /// Whether it shows what is hidden from the agent, and must be labelled so.
    pub shows_truth: bool,
    pub rows: Vec<PictureRow>,
}

/// One row: pieces of text from left to right, and what each means.
pub type PictureRow = Vec<(PictureRole, String)>;

/// The meaning of a piece of a picture; the screen's theme gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureRole {
    Text,
    /// Labels and other secondary text.
    Muted,
    /// A heading, such as the name of the place where the agent is.
    Title,
    /// The agent itself.
    Agent,
    /// Lines around and below things.
    Frame,
    /// What the environment said, such as the contents of a place.
    Observation,
    /// What stands out, such as what the agent holds.
    Accent,
    /// What the goal names.
    Goal,
    /// A part of the goal that holds.
    Good,
    /// What may be in the way, such as a closed container.
    Warning,
    /// A red object.
    Red,
    /// A green object.
    Green,
    /// A blue object.
    Blue,
    /// A purple object.
    Purple,
    /// A yellow object.
    Yellow,
    /// A grey object.
    Grey,
}

/// Characters that pictures share with the rest of the screen. Each is one cell wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureGlyphs {
    /// Sixteen line joints, indexed by their arms: 1 up, 2 right, 4 down, 8 left.
    pub box_drawing: [&'static str; 16],
    /// Marks cut text.
    pub ellipsis: &'static str,
    /// Separates the parts of a line.
    pub separator: &'static str,
    /// Points at where the agent is.
    pub pointer: &'static str,
    /// Marks a part of the goal that holds.
    pub tick: &'static str,
    /// Marks what the agent hasn't seen.
    pub unseen: &'static str,
}

impl PictureGlyphs {
    /// Characters for terminals with Unicode.
    pub const UNICODE: Self = Self {
        box_drawing: ["─", "│", "─", "└", "│", "│", "┌", "├", "─", "┘", "─", "┴", "┐", "┤", "┬", "┼"],
        ellipsis: "…",
        separator: "·",
        pointer: "▸",
        tick: "✓",
        unseen: "░",
    };
    /// Characters for ASCII-only terminals.
    pub const ASCII: Self = Self {
        box_drawing: ["-", "|", "-", "+", "|", "|", "+", "+", "-", "+", "-", "+", "+", "+", "+", "+"],
        ellipsis: "~",
        separator: "-",
        pointer: ">",
        tick: "+",
        unseen: ":",
    };
}
