//! An input line for an action, with completion from the admissible actions. Used for overrides, for manual play, and
//! for replacing a past action on a new branch.

use crate::catalog::find_environment;
use crate::domain::common_settings::ActorReply;
use crate::engine::State;
use crate::text::one_line;
use crate::ui::canvas::Canvas;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::theme::Role;
use crate::ui::widget::picker::{Picker, marked_row};
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::put_line;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use ratatui::layout::Rect;

/// Stands for a line break in the line, where an action may have several lines.
const LINE_BREAK: char = '↵';

/// The input line and the list of admissible actions below it. Typing selects the best match; moving up from it selects
/// the typed text.
pub(super) struct ActionInput {
    picker: Picker<String>,
    /// Whether the admissible actions are known, or why not. `None` until the answer arrives.
    admissible: Option<Result<(), String>>,
    /// Whether the text was edited, so that it filters the list.
    is_edited: bool,
    /// Whether an action may have several lines, as a program has.
    keeps_lines: bool,
    /// Whether the environment accepts no action that it doesn't list.
    lists_all_actions: bool,
    /// The text that a person was warned about; accepting it again runs it.
    confirmed: Option<String>,
}

impl ActionInput {
    /// Creates a line with preselected text, which typing replaces.
    pub(super) fn new(text: &str, state: Option<&State>) -> Self {
        let search = |all: &[String], query: &str| rank_actions(all, query);
        let keeps_lines = state.is_some_and(|state| state.settings().actor_reply == ActorReply::Whole);
        let text = if keeps_lines { mark_line_breaks(text) } else { text.to_owned() };
        let picker = Picker::preferring_text(TextField::preselected(&text), search);
        let episode = state.and_then(|state| state.episode.as_ref());
        let environment = episode.and_then(|episode| find_environment(&episode.task.env));
        let lists_all_actions = environment.is_none_or(|entry| entry.task_facts.lists_all_actions);
        Self { picker, admissible: None, is_edited: false, keeps_lines, lists_all_actions, confirmed: None }
    }

    /// Returns the selected action, else the typed text.
    ///
    /// # Errors
    /// Returns a message if nothing is typed, or if the environment wouldn't accept the typed text. In the latter case
    /// the next call returns the text if it is still the same.
    pub(super) fn accept(&mut self) -> Result<String, String> {
        if let Some(row) = self.picker.selected() {
            return Ok(row.clone());
        }
        let text = self.picker.text();
        if text.is_empty() {
            return Err("type an action, or choose one".to_owned());
        }
        match self.objection(&text) {
            Some(reason) if self.confirmed.as_ref() != Some(&text) => {
                self.confirmed = Some(text);
                Err(format!("{reason}; press again to run it as typed"))
            }
            _ if self.keeps_lines => Ok(text.replace(LINE_BREAK, "\n")),
            _ => Ok(text),
        }
    }

    /// Selects the typed text instead of a row of the list, whether the environment would accept it or not.
    pub(super) fn choose_typed_text(&mut self) {
        self.picker.move_selection(isize::MIN);
        self.picker.move_selection(-1);
        self.confirmed = Some(self.picker.text());
    }

    /// Returns why the environment might not accept a text. A thought is always accepted.
    fn objection(&self, text: &str) -> Option<&'static str> {
        let actions = self.picker.items();
        match &self.admissible {
            _ if text.starts_with("think:") || !self.lists_all_actions => None,
            None => Some("the admissible actions are still loading"),
            Some(Ok(())) if !actions.is_empty() && !actions.iter().any(|a| a == text) => {
                Some("not admissible here")
            }
            Some(_) => None,
        }
    }

    /// Returns the actions that do nothing, since no row of the list matches.
    pub(super) fn actions_without_effect(&self) -> &'static [Action] {
        if self.picker.matches().len() == 0 { &[Action::NextField] } else { &[] }
    }

    /// Returns whether the admissible actions are still to arrive.
    pub(super) fn awaits_admissible(&self) -> bool {
        self.admissible.is_none()
    }

    /// Sets the admissible actions.
    pub(super) fn set_admissible(&mut self, actions: Result<&[String], String>) {
        let all = actions.as_deref().unwrap_or_default().iter().map(|a| one_line(a).into_owned());
        self.picker.set_items(all.collect());
        self.admissible = Some(actions.map(|_| ()));
        self.confirmed = None;
        if self.is_edited {
            self.preselect_best_match();
        } else {
            // The prefilled text isn't a query: list all actions until something is typed.
            self.picker.filter("");
        }
    }

    /// Handles the actions that move the selection or complete the line.
    pub(super) fn on_action(&mut self, action: Action) {
        match action {
            Action::NextField => {
                if let Some(row) = self.picker.selected_or_first().cloned() {
                    self.picker.set_text(&row);
                    self.is_edited = true;
                    self.preselect_best_match();
                }
            }
            other => self.picker.on_action(other, 8),
        }
    }

    /// Handles a typed key. Returns whether the text changed.
    pub(super) fn on_key(&mut self, key: KeyEvent) -> bool {
        let breaks_line = key.code == KeyCode::Enter && key.modifiers.contains(KeyModifiers::ALT);
        if breaks_line && self.insert_line_break() {
            return true;
        }
        let changed = self.picker.on_key(key);
        self.after_edit(changed)
    }

    /// Inserts a line break, where an action may have several lines. Returns whether it may.
    pub(super) fn insert_line_break(&mut self) -> bool {
        if self.keeps_lines {
            let changed = self.picker.on_paste(&LINE_BREAK.to_string());
            self.after_edit(changed);
        }
        self.keeps_lines
    }

    /// Handles pasted text. Returns whether the text changed.
    pub(super) fn on_paste(&mut self, text: &str) -> bool {
        let changed = if self.keeps_lines {
            self.picker.on_paste(&mark_line_breaks(text))
        } else {
            self.picker.on_paste(text)
        };
        self.after_edit(changed)
    }

    /// Handles a click or the wheel in the list.
    pub(super) fn on_mouse(&mut self, event: MouseEvent) {
        self.picker.on_mouse(event);
    }

    fn after_edit(&mut self, changed: bool) -> bool {
        if changed {
            self.is_edited = true;
            self.preselect_best_match();
        }
        changed
    }

    fn preselect_best_match(&mut self) {
        if !self.picker.text().is_empty() {
            self.picker.preselect_first();
        }
    }

    /// Draws the line, a message about the list, and the list. Shows `note` if given; otherwise `loading_message` until
    /// the admissible actions have arrived.
    pub(super) fn draw(
        &self,
        context: &Context<'_>,
        (note, loading_message): (Option<&str>, &str),
        area: Rect,
        canvas: &mut Canvas<'_>,
    ) {
        self.picker.draw_field((Role::Proposal, context.glyphs.proposal), true, area, canvas);
        let (role, words) = match note {
            Some(note) => (Role::Warning, note.to_owned()),
            None => self.list_message(context, loading_message),
        };
        put_line(&[(role, words)], Rect { y: area.y + 1, height: area.height.min(1), ..area }, canvas);
        let list = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        self.picker.draw_list(list, canvas, |action, here| marked_row(context, "", here, action.clone(), []));
    }

    /// Returns what is known about the list, and what accepting does if that isn't obvious.
    fn list_message(&self, context: &Context<'_>, loading_message: &str) -> (Role, String) {
        let (all, dot) = (self.picker.items().len(), context.glyphs.separator);
        let typed = self.picker.text();
        match &self.admissible {
            None => (Role::Muted, loading_message.to_owned()),
            Some(Err(why)) => (Role::Muted, format!("no list: {why}; type any action")),
            Some(_) if all == 0 && self.keeps_lines => {
                let key = context.keymap.key_label_in(Mode::OverrideInput, Action::AcceptTyped);
                let keys = key.map_or_else(String::new, |key| format!("{key} or "));
                let text = format!(
                    "type or paste the whole reply {dot} {LINE_BREAK} is a line break ({keys}Alt-Enter)"
                );
                (Role::Muted, text)
            }
            Some(Ok(())) if all == 0 => {
                (Role::Muted, "this environment lists no actions; type any action".to_owned())
            }
            Some(Ok(())) => {
                if self.is_edited
                    && self.picker.selected().is_none()
                    && !typed.is_empty()
                    && let Some(reason) = self.objection(&typed)
                {
                    let key = context.keymap.key_label_in(Mode::OverrideInput, Action::Accept);
                    let key = key.unwrap_or_default();
                    return (Role::Warning, format!("{reason} {dot} {key} twice runs it as typed"));
                }
                let shown = self.picker.matches().len();
                let typed = if typed.is_empty() || self.picker.selected().is_none() {
                    "or type any action".to_owned()
                } else {
                    let key = context.keymap.key_label_in(Mode::OverrideInput, Action::AcceptTyped);
                    format!("{} as typed", key.unwrap_or_default())
                };
                (Role::Muted, format!("{shown} of {all} {dot} the agent sees no list {dot} {typed}"))
            }
        }
    }
}

fn mark_line_breaks(text: &str) -> String {
    text.trim().replace("\r\n", "\n").replace(['\n', '\r'], &LINE_BREAK.to_string())
}

/// Returns the indices of the actions that match a query, ignoring case: equal ones and those that begin with it first,
/// then those with a word for each word of it, in order, that begins with that word, then those with its letters in
/// order. Ties keep the environment's order, and an empty query matches all actions.
fn rank_actions(actions: &[String], query: &str) -> Vec<usize> {
    let query = query.trim().to_lowercase();
    let mut ranked: Vec<(u8, usize)> = (0..actions.len())
        .filter_map(|index| Some((match_rank(&actions[index].to_lowercase(), &query)?, index)))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, index)| index).collect()
}

/// Returns how well an action matches a query, 0 for the best, or `None` if it doesn't. Both are in lower case.
fn match_rank(action: &str, query: &str) -> Option<u8> {
    if action.starts_with(query) {
        return Some(u8::from(action != query && !query.is_empty()));
    }
    let mut words = action.split_whitespace();
    if query.split_whitespace().all(|part| words.any(|word| word.starts_with(part))) {
        return Some(2);
    }
    let mut letters = action.chars();
    let mut wanted = query.chars().filter(|letter| !letter.is_whitespace());
    wanted.all(|letter| letters.any(|other| other == letter)).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: a pasted program lost its line breaks.
    #[test]
    fn line_breaks_are_kept_where_a_whole_reply_is_the_action() {
        let mut input = ActionInput::new("", None);
        input.keeps_lines = true;
        input.on_paste("code\r\ndef f(x):\n    return x\n");
        assert_eq!(input.picker.text(), "code↵def f(x):↵    return x");
        input.on_key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
        input.on_paste("y = 1");
        // The key of the lesson editor, which ran what was typed so far.
        assert!(input.insert_line_break());
        input.on_paste("z = 2");
        input.choose_typed_text();
        assert_eq!(input.accept().unwrap(), "code\ndef f(x):\n    return x\ny = 1\nz = 2");
        input.keeps_lines = false;
        assert!(!input.insert_line_break());
        input.on_paste("a\nb");
        assert!(input.picker.text().ends_with("z = 2a b"));
    }

    #[test]
    fn actions_rank_by_prefix_then_words_then_letters_and_keep_their_order() {
        let actions = [
            "take apple 1 from cabinet 10",
            "go to cabinet 10",
            "go to cabinet 1",
            "go to countertop 1",
            "examine cabinet 1",
            "look",
        ];
        let actions = actions.map(str::to_owned);
        let cases: [(&str, &[usize]); 8] = [
            ("", &[0, 1, 2, 3, 4, 5]),
            ("go to cabinet 1", &[2, 1]),
            ("GO TO C", &[1, 2, 3]),
            ("cab 1", &[0, 1, 2, 4]),
            // `take apple` and the two ways to the cabinet have the letters; only the first has the words.
            ("a f c", &[0]),
            ("gcab", &[1, 2]),
            ("o", &[0, 1, 2, 3, 5]),
            ("fly", &[]),
        ];
        for (query, expected) in cases {
            assert_eq!(rank_actions(&actions, query), expected, "{query}");
        }
    }
}
