//! The keymap: keys, by mode, and the actions they run.
//!
//! `keymap.toml` at the top of the repository holds the shipped keys; a person's own file overrides them.
//!
//! ```toml
//! [[main]]
//! on = ["left", "h"]     # one key or several
//! run = "back"           # the name of an action, or "none" to unbind the keys
//! desc = "one step back" # optional; the default is the action's description
//! ```
//!
//! A key that a mode doesn't bind falls through to the parent mode: from a lane to `main`, from an overlay to
//! `overlay`, and from all of them to `global`.

mod key;
mod parse;

pub use super::source::Problem;
pub use crate::actions::Action;
pub use key::Key;

use crossterm::event::KeyEvent;
use std::sync::LazyLock;

/// The shipped keys, as TOML.
pub const SHIPPED: &str = include_str!("../../keymap.toml");

macro_rules! modes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $title:literal, $behind:expr, $types:literal;)*) => {
        /// The part of the screen that keys go to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Mode {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Mode {
            /// All modes, in the order of docs/KEYS.md.
            pub const ALL: &'static [Mode] = &[$(Mode::$variant),*];

            /// Returns the name in key files.
            pub const fn name(self) -> &'static str {
                match self { $(Mode::$variant => $name,)* }
            }

            /// Returns the heading in the help screen and docs/KEYS.md.
            pub const fn title(self) -> &'static str {
                match self { $(Mode::$variant => $title,)* }
            }

            /// Returns the mode that unbound keys fall through to.
            pub const fn behind(self) -> Option<Mode> {
                match self { $(Mode::$variant => $behind,)* }
            }

            /// Returns true if the mode takes typed text, so that no plain character can be bound.
            pub const fn types(self) -> bool {
                match self { $(Mode::$variant => $types,)* }
            }
        }
    };
}

modes! {
    /// The panes of the main screen.
    Main = "main", "Main screen", Some(Mode::Global), false;
    /// A lane of lessons has the focus.
    Lanes = "lanes", "Lesson lanes", Some(Mode::Main), false;
    /// Any overlay that takes no typed text.
    Overlay = "overlay", "All overlays", Some(Mode::Global), false;
    /// A choice between a few answers.
    Choice = "choice", "Dialogs with a choice", Some(Mode::Overlay), false;
    /// The prompt view.
    Prompt = "prompt", "Prompt view", Some(Mode::Overlay), false;
    /// The details of a lesson.
    LessonDetails = "details", "Lesson details", Some(Mode::Overlay), false;
    /// The details of a step.
    StepFacts = "step.details", "Step details", Some(Mode::Overlay), false;
    /// The measurement of a lesson.
    Effect = "effect", "Measurement of a lesson", Some(Mode::Overlay), false;
    /// The health of the session's lessons.
    Health = "health", "Health of lessons", Some(Mode::Overlay), false;
    /// The details of a step some of whose reflection items were dropped.
    StepDetails = "step", "Step details with dropped reflection items", Some(Mode::StepFacts), false;
    /// The samples of a step.
    Samples = "samples", "Samples of a step", Some(Mode::Overlay), false;
    /// The review of a mentor's summary.
    Summary = "summary", "Summary review", Some(Mode::Overlay), false;
    /// The picture of a search.
    SearchPicture = "search.picture", "Picture of a search", Some(Mode::Overlay), false;
    /// The list of the run's episodes.
    EpisodeList = "runs", "Episode list", Some(Mode::Overlay), false;
    /// The list of breakpoints and watches.
    Breakpoints = "breaks", "Breakpoints", Some(Mode::Overlay), false;
    /// The input of a breakpoint's condition.
    BreakpointInput = "breaks.input", "Typing a condition", Some(Mode::Global), true;
    /// Two episodes side by side.
    Compare = "compare", "Comparison", Some(Mode::Overlay), false;
    /// The two episodes of a measured pair, stepped together.
    ComparePair = "compare.pair", "Pair of a measurement", Some(Mode::Compare), false;
    /// The list of what to compare with.
    CompareWith = "compare.with", "Choosing what to compare with", Some(Mode::Global), true;
    /// The tree of branches.
    Branches = "branches", "Branch tree", Some(Mode::Overlay), false;
    /// The filter for kinds of marks.
    MarkList = "marks", "Mark filter", Some(Mode::Overlay), false;
    /// The end card.
    EndCard = "end", "End card", Some(Mode::Choice), false;
    /// The input of a search.
    SearchInput = "search.input", "Typing a search", Some(Mode::Global), true;
    /// The matches of a search.
    Search = "search", "Search results", Some(Mode::Overlay), false;
    /// The palette.
    Palette = "palette", "Palette", Some(Mode::Global), true;
    /// The help screen, whose filter takes typed text.
    Help = "help", "Help", Some(Mode::Global), true;
    /// The override box.
    OverrideInput = "input", "Override box", Some(Mode::Global), true;
    /// One line of text: a reason for a rejection, a remark.
    LineInput = "line", "Typing a reason or a remark", Some(Mode::Global), true;
    /// What is expected of a decision that is kept as a test.
    TestInput = "test", "Keeping a decision as a test", Some(Mode::Global), true;
    /// A list with a filter or an input line.
    PickList = "pick", "Lists of models, sessions or values", Some(Mode::Global), true;
    /// The lesson editor.
    LessonEditor = "editor", "Lesson editor", Some(Mode::Global), true;
    /// The editor of a thought, an observation or a prompt segment.
    Rewrite = "rewrite", "Editing a thought, observation or prompt segment", Some(Mode::Global), true;
    /// The start screen.
    Start = "start", "Start screen", Some(Mode::Global), true;
    /// Every part of the screen.
    Global = "global", "Everywhere", None, false;
}

/// One row of the keymap: the keys of an action in a mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub mode: Mode,
    pub keys: Vec<Key>,
    pub action: Action,
    /// What the action does in this mode.
    pub description: String,
    /// The label in the footer; rows without one aren't shown there.
    pub footer_label: Option<String>,
}

/// A key and its label for a footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHint<'a> {
    pub action: Action,
    /// The key as the screen writes it.
    pub key: String,
    pub label: &'a str,
}

/// All key bindings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

impl Keymap {
    /// Returns the action of a key in a mode or its parent modes.
    pub fn action_for(&self, mode: Mode, key: KeyEvent) -> Option<Action> {
        let key = Key::from_event(key);
        let mut next = Some(mode);
        while let Some(current) = next {
            if let Some(row) = self.bindings.iter().find(|b| b.mode == current && b.keys.contains(&key)) {
                return Some(row.action);
            }
            // Where text is typed, characters don't fall through.
            next = current.behind().filter(|_| !(mode.types() && key.is_character()));
        }
        None
    }

    /// Returns the first row that binds a key in another part of the screen where no text is typed: the main screen and
    /// the lanes first.
    pub fn binding_elsewhere(&self, mode: Mode, key: Key) -> Option<&Binding> {
        let others = Mode::ALL.iter().filter(|other| **other != mode && !other.types());
        others.copied().find_map(|other| self.bindings_in(other).find(|row| row.keys.contains(&key)))
    }

    /// Returns the first key of an action on the main screen, in a lane, or everywhere, as the screen writes it.
    pub fn key_label(&self, action: Action) -> Option<String> {
        [Mode::Main, Mode::Lanes, Mode::Global].into_iter().find_map(|mode| {
            let row = self.bindings.iter().find(|b| b.mode == mode && b.action == action)?;
            row.keys.first().map(|k| k.label())
        })
    }

    /// Returns the first key of an action in a mode or its parent modes.
    pub fn key_label_in(&self, mode: Mode, action: Action) -> Option<String> {
        let mut next = Some(mode);
        while let Some(current) = next {
            let row = self.bindings.iter().find(|b| b.mode == current && b.action == action);
            if let Some(key) = row.and_then(|r| r.keys.first()) {
                return Some(key.label());
            }
            next = current.behind();
        }
        None
    }

    /// Returns the footer's keys and labels for a mode: its own first, then those of its parent modes.
    pub fn key_hints(&self, mode: Mode) -> Vec<KeyHint<'_>> {
        let mut hints = Vec::new();
        let mut listed = Vec::new();
        let mut next = Some(mode);
        while let Some(current) = next {
            for row in self.bindings_in(current) {
                if let (Some(hint), Some(key)) = (&row.footer_label, row.keys.first())
                    && !listed.contains(&row.action)
                {
                    listed.push(row.action);
                    hints.push(KeyHint { action: row.action, key: key.label(), label: hint });
                }
            }
            next = current.behind();
        }
        hints
    }

    /// Returns what an action does in a mode, in a word or two: its label in the footer, else its name.
    pub fn short_label(&self, mode: Mode, action: Action) -> String {
        let hints = self.key_hints(mode);
        let label = hints.iter().find(|hint| hint.action == action).map(|hint| hint.label.to_owned());
        label.unwrap_or_else(|| action.name().replace('-', " "))
    }

    /// Returns the rows of one mode, in the order of the file.
    pub fn bindings_in(&self, mode: Mode) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |b| b.mode == mode)
    }

    /// Returns this keymap overridden by a person's file: a row of the file unbinds its keys from all other rows of the
    /// same mode; `run = "none"` does only that. Never fails: valid rows apply, the others are returned as problems.
    #[must_use]
    pub fn with_overrides(&self, file: &str, text: &str) -> (Self, Vec<Problem>) {
        let (rows, problems) = parse::parse_rows(file, text);
        let mut bindings = self.bindings.clone();
        for row in &rows {
            for old in bindings.iter_mut().filter(|b| b.mode == row.mode) {
                old.keys.retain(|k| !row.keys.contains(k));
            }
        }
        bindings.retain(|b| !b.keys.is_empty());
        // The person's rows come first, so that footers and help name the person's keys.
        let mut all: Vec<Binding> = rows.into_iter().filter_map(parse::BindingRow::into_binding).collect();
        all.extend(bindings);
        (Self { bindings: all }, problems)
    }

    /// Parses a keymap from one file alone.
    pub fn parse(file: &str, text: &str) -> (Self, Vec<Problem>) {
        Self { bindings: Vec::new() }.with_overrides(file, text)
    }
}

impl Default for Keymap {
    fn default() -> Self {
        static PARSED: LazyLock<Keymap> = LazyLock::new(|| Keymap::parse("keymap.toml", SHIPPED).0);
        PARSED.clone()
    }
}

#[cfg(test)]
mod tests;
