//! Options of the screen.

use crate::prompt::Templates;
use crate::ui::chapters::Chapter;
use crate::ui::glyphs::{self, Glyphs};
use crate::ui::host_services::HostServices;
use crate::ui::keymap::Keymap;
use crate::ui::model::FirstRunHint;
use crate::ui::theme::{Background, BackgroundThemes, Theme};
use crate::ui::types::Cursor;
use std::sync::Arc;

/// Options of the screen.
#[derive(Clone)]
pub struct Options {
    pub theme: Theme,
    /// The themes of which one replaces `theme` when the terminal reports its background; `None` if a theme was chosen.
    pub background_themes: Option<BackgroundThemes>,
    /// Themes to cycle through with a key, each with its name.
    pub themes: Vec<(String, Theme)>,
    pub keymap: Keymap,
    pub glyphs: Glyphs,
    /// Whether the mouse is captured from the start.
    pub capture_mouse: bool,
    /// Whether the spinner may move; `false` means reduced motion.
    pub motion: bool,
    /// The first-run hint to begin with.
    pub first_hint: FirstRunHint,
    /// The point in time that the screen opens at.
    pub start_cursor: Cursor,
    /// Access to the editor, files and reports. With `None`, keys that need them show a notice instead.
    pub host: Option<HostServices>,
    /// The command that resumes the session, or `None` if it can't be resumed.
    pub resume_command: Option<String>,
    /// The templates for the next prompt, or `None` if they aren't known.
    pub templates: Option<Arc<Templates>>,
    /// The chapters of a demo, in the order of their steps; empty for other sessions.
    pub chapters: Arc<[Chapter]>,
    /// Whether the screen opens in stage mode.
    pub stage_mode: bool,
    /// Texts that stage mode hides wherever they appear: folders and addresses.
    pub private_texts: Arc<[String]>,
    /// Models from the configuration, as written there: `openai:MODEL profile NAME`.
    pub configured_models: Arc<[String]>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            background_themes: None,
            themes: Vec::new(),
            keymap: Keymap::default(),
            glyphs: glyphs::UNICODE,
            capture_mouse: true,
            motion: true,
            first_hint: FirstRunHint::None,
            start_cursor: Cursor::Live,
            host: None,
            resume_command: None,
            templates: None,
            chapters: Arc::default(),
            stage_mode: false,
            private_texts: Arc::default(),
            configured_models: Arc::default(),
        }
    }
}

impl Options {
    /// Follows what the terminal reports about its background, once.
    pub fn follow_background(&mut self, background: Background) {
        if let Some(themes) = self.background_themes.take() {
            self.theme = themes.matching(background).clone();
        }
    }
}
