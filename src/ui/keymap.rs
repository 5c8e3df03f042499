//! Keys by meaning. `keymap.toml` at the top of the repository holds them all; a person's own file is laid over it.
//!
//! ```toml
//! [[main]]
//! on = ["left", "h"]     # one key or several
//! run = "back"           # an action by its name, or "none" to take the keys away
//! desc = "one step back" # left out: what the action says of itself
//! ```
//!
//! Where a mode does not know a key, the mode behind it is asked: a lane asks `main`, an overlay asks `overlay`, and
//! all of them `global`.

mod action;
mod document;
mod key;
mod parse;

pub use super::source::Problem;
pub use action::Action;
pub use document::keys_markdown;
pub use key::Key;

use crossterm::event::KeyEvent;

/// The keys that come with the program.
pub const SHIPPED: &str = include_str!("../../keymap.toml");

macro_rules! modes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $title:literal, $behind:expr, $types:literal;)*) => {
        /// What has the keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Mode {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Mode {
            /// Every mode, in the order of the documents.
            pub const ALL: &'static [Mode] = &[$(Mode::$variant),*];

            /// Its name in key files.
            pub const fn name(self) -> &'static str {
                match self { $(Mode::$variant => $name,)* }
            }

            /// Its heading in help and documents.
            pub const fn title(self) -> &'static str {
                match self { $(Mode::$variant => $title,)* }
            }

            /// The mode that is asked next.
            pub const fn behind(self) -> Option<Mode> {
                match self { $(Mode::$variant => $behind,)* }
            }

            /// Whether characters are typed here, so that no bare one can be a command.
            pub const fn types(self) -> bool {
                match self { $(Mode::$variant => $types,)* }
            }
        }
    };
}

modes! {
    /// The panes.
    Main = "main", "On the main screen", Some(Mode::Global), false;
    /// The lanes of lessons have the focus.
    Lanes = "lanes", "In a lane of lessons", Some(Mode::Main), false;
    /// Anything that lies over the panes and is only read.
    Overlay = "overlay", "In everything that lies over the panes", Some(Mode::Global), false;
    /// One of a few answers is chosen.
    Choice = "choice", "Where one of a few answers is chosen", Some(Mode::Overlay), false;
    /// The prompt view.
    Prompt = "prompt", "In the prompt view", Some(Mode::Overlay), false;
    /// Details of a lesson.
    LessonDetails = "details", "In the details of a lesson", Some(Mode::Overlay), false;
    /// Details of a step whose reflections dropped something.
    StepDetails = "step", "In the details of a step where words of the mentor were not kept", Some(Mode::Overlay), false;
    /// A summary that waits.
    Summary = "summary", "Over a summary that waits for your word", Some(Mode::Overlay), false;
    /// The list of the run's episodes.
    EpisodeList = "runs", "In the list of the run's episodes", Some(Mode::Overlay), false;
    /// The list of breakpoints.
    Breakpoints = "breaks", "In the list of breakpoints", Some(Mode::Overlay), false;
    /// A condition is typed.
    BreakpointInput = "breaks.input", "While typing a condition", Some(Mode::Global), true;
    /// Two episodes side by side.
    Compare = "compare", "In a comparison", Some(Mode::Overlay), false;
    /// What to compare with is chosen.
    CompareWith = "compare.with", "While choosing what to compare with", Some(Mode::Global), true;
    /// The tree of branches.
    Branches = "branches", "In the tree of branches", Some(Mode::Overlay), false;
    /// The kinds of marks.
    MarkList = "marks", "In the list of marks", Some(Mode::Overlay), false;
    /// The end card.
    EndCard = "end", "On the end card", Some(Mode::Choice), false;
    /// Words to search for are typed.
    SearchInput = "search.input", "While typing what to search for", Some(Mode::Global), true;
    /// Matches are walked through.
    Search = "search", "While a search is open", Some(Mode::Overlay), false;
    /// The palette.
    Palette = "palette", "In the palette", Some(Mode::Global), true;
    /// The box for an action.
    OverrideInput = "input", "In the override box", Some(Mode::Global), true;
    /// A line of words: why a proposal is rejected, a remark.
    LineInput = "line", "While typing a reason or a remark", Some(Mode::Global), true;
    /// A list is typed into.
    PickList = "pick", "In a list of models or sessions", Some(Mode::Global), true;
    /// The lesson editor.
    LessonEditor = "editor", "In the lesson editor", Some(Mode::Global), true;
    /// A thought or an observation is rewritten.
    Rewrite = "rewrite", "While rewriting a thought or an observation", Some(Mode::Global), true;
    /// The start screen.
    Start = "start", "On the start screen", Some(Mode::Global), true;
    /// Everywhere.
    Global = "global", "Everywhere", None, false;
}

/// One row of the map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The mode it counts in.
    pub mode: Mode,
    /// The keys.
    pub keys: Vec<Key>,
    /// What they do.
    pub action: Action,
    /// What that means here.
    pub description: String,
    /// The word for it in the footer; rows without one are not shown there.
    pub footer_label: Option<String>,
}

/// A key and its word for a footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHint<'a> {
    /// What it does.
    pub action: Action,
    /// The key.
    pub key: String,
    /// The word.
    pub label: &'a str,
}

/// What every key means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<Binding>,
}

impl Keymap {
    /// The meaning of a key.
    pub fn action_for(&self, mode: Mode, key: KeyEvent) -> Option<Action> {
        let key = Key::from_event(key);
        let mut asked = Some(mode);
        while let Some(now) = asked {
            if let Some(row) = self.bindings.iter().find(|b| b.mode == now && b.keys.contains(&key)) {
                return Some(row.action);
            }
            // A box takes every character for itself.
            asked = now.behind().filter(|_| !(mode.types() && key.is_character()));
        }
        None
    }

    /// The first key of an action on the main screen, or in a lane, as the screen writes it.
    pub fn key_label(&self, action: Action) -> Option<String> {
        [Mode::Main, Mode::Lanes, Mode::Global].into_iter().find_map(|mode| {
            let row = self.bindings.iter().find(|b| b.mode == mode && b.action == action)?;
            row.keys.first().map(|k| k.label())
        })
    }

    /// The first key of an action in a mode, or in one behind it.
    pub fn key_label_in(&self, mode: Mode, action: Action) -> Option<String> {
        let mut asked = Some(mode);
        while let Some(now) = asked {
            let row = self.bindings.iter().find(|b| b.mode == now && b.action == action);
            if let Some(key) = row.and_then(|r| r.keys.first()) {
                return Some(key.label());
            }
            asked = now.behind();
        }
        None
    }

    /// Keys and words for the footer of a mode, its own first, then those of the modes behind it.
    pub fn key_hints(&self, mode: Mode) -> Vec<KeyHint<'_>> {
        let mut hints = Vec::new();
        let mut told = Vec::new();
        let mut asked = Some(mode);
        while let Some(now) = asked {
            for row in self.bindings_in(now) {
                if let (Some(hint), Some(key)) = (&row.footer_label, row.keys.first())
                    && !told.contains(&row.action)
                {
                    told.push(row.action);
                    hints.push(KeyHint { action: row.action, key: key.label(), label: hint });
                }
            }
            asked = now.behind();
        }
        hints
    }

    /// The rows of one mode, in the order of the file.
    pub fn bindings_in(&self, mode: Mode) -> impl Iterator<Item = &Binding> {
        self.bindings.iter().filter(move |b| b.mode == mode)
    }

    /// This map with a person's own file laid over it: a row of the file takes its keys from every other row of the same
    /// mode; `run = "none"` only takes them away. Total: what is wrong is told, and the rest counts.
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

    /// A map from the text of one file alone.
    pub fn parse(file: &str, text: &str) -> (Self, Vec<Problem>) {
        Self { bindings: Vec::new() }.with_overrides(file, text)
    }
}

impl Default for Keymap {
    fn default() -> Self {
        Self::parse("keymap.toml", SHIPPED).0
    }
}

#[cfg(test)]
mod tests;
