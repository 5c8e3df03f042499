//! The palette: runs any action by name.

use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Mode};
use crate::ui::labels::other_words;
use crate::ui::msg::Request;
use crate::ui::theme::Role;
use crate::ui::widget::picker::{Picker, rank};
use crate::ui::widget::window::{Window, WindowPosition, paragraph, put_line, put_lines};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Columns of the mark of the selected row.
const MARK_COLUMNS: usize = 2;
/// Columns of a key: those of `Shift-Tab` and a gap.
const KEY_COLUMNS: usize = 10;

/// Columns of a name: those of the longest one and a gap.
const NAME_COLUMNS: usize = 21;

/// The most rows of the selected action's description, below the list.
const PREVIEW_ROWS: u16 = 2;

/// The palette overlay. Its query is part of an action's name or description, or a step number.
pub(super) struct Palette {
    picker: Picker<Action>,
}

impl Palette {
    /// Creates the palette. Of equal matches, an action that has nothing to show comes last.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let mut all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        let has_search = !crate::catalog::search_histories(context.displayed_state()).is_empty();
        all.sort_by_key(|action| *action == Action::SearchPicture && !has_search);
        Self { picker: Picker::new(all, find_actions) }
    }
}

/// Returns the matching actions, the best first: by name, then by description and other words.
fn find_actions(all: &[Action], query: &str) -> Vec<usize> {
    let text = |a: &Action| format!("{} {} {}", a.name(), a.about(), other_words(*a));
    rank(all, query, |a| [a.name().to_owned(), text(a)])
}

impl Palette {
    /// Parses a position: `14` is step 14, `2.14` is step 14 of episode 2.
    fn typed_step(&self) -> Option<(Option<u32>, u32)> {
        let text = self.picker.text();
        let text = text.trim_start_matches(':');
        match text.split_once('.') {
            Some((episode, step)) => Some((Some(episode.parse().ok()?), step.parse().ok()?)),
            None => Some((None, text.parse().ok()?)),
        }
    }

    /// Parses the name of a theme: `theme light`.
    fn typed_theme(&self) -> Option<String> {
        let text = self.picker.text();
        let name = text.trim_start_matches(':').strip_prefix("theme ")?.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn run_selected(&self) -> Response {
        if let Some(name) = self.typed_theme() {
            return Response::request_and_close(Request::SwitchTheme(Some(name)));
        }
        if let Some((episode, step)) = self.typed_step() {
            return Response::request_and_close(Request::GoToStep { episode, step });
        }
        // Don't run a match for a negative number: its digits would match action names such as `pane-1`.
        if let Ok(negative) = self.picker.text().trim_start_matches(':').trim().parse::<i64>() {
            return Response::request_and_close(Request::ShowNotice(format!("no step {negative}")));
        }
        self.picker
            .selected()
            .map_or_else(Response::default, |a| Response::request_and_close(Request::RunAction(*a)))
    }
}

impl Component for Palette {
    fn name(&self) -> &'static str {
        "palette"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Palette
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            Action::Close => return Response::close(),
            Action::Accept | Action::Open => return self.run_selected(),
            other => self.picker.on_action(other, 10),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        self.picker.on_key(key);
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        self.picker.on_paste(text);
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.picker.on_mouse(event);
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: "Actions",
            position: WindowPosition::Middle,
            rows: 17,
            columns: 88,
            mode: Mode::Palette,
        };
        let inside = window.draw(context, screen, canvas);
        self.picker.draw_field((Role::Key, ":"), true, inside, canvas);
        if self.picker.text().is_empty() {
            let room = Rect { x: inside.x + 4, width: inside.width.saturating_sub(4), ..inside };
            put_line(&[(Role::Muted, "a name, or a step: 14, 2.14".to_owned())], room, canvas);
        }
        let list = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        if let Some((episode, step)) = self.typed_step() {
            let suffix = episode.map_or_else(String::new, |e| format!(" of episode {e}"));
            put_line(&[(Role::Selection, format!("go to step {step}{suffix}"))], list, canvas);
            return;
        }
        if self.picker.matches().len() == 0 {
            put_line(&[(Role::Muted, "nothing found".to_owned())], list, canvas);
            return;
        }
        let row = |action: &Action, here: bool, _: bool| {
            let role = if here { Role::Selection } else { Role::Text };
            let key = context.keymap.key_label(*action).unwrap_or_default();
            let mark = if here { context.glyphs.proposal } else { " " };
            vec![
                (Role::Proposal, format!("{mark:<MARK_COLUMNS$}")),
                (Role::Key, format!("{key:<KEY_COLUMNS$}")),
                (role, format!("{:<NAME_COLUMNS$}", action.name())),
                (Role::Muted, action.about().to_owned()),
            ]
        };
        // A row may have no room for the whole description.
        self.picker.draw_with_preview(PREVIEW_ROWS, list, canvas, row, |action, area, canvas| {
            let is_cut = |words: &&str| {
                MARK_COLUMNS + KEY_COLUMNS + NAME_COLUMNS + width(words) > usize::from(list.width)
            };
            let words = action.map(|action| action.about()).filter(is_cut).unwrap_or_default();
            put_lines(&paragraph((Role::Muted, ""), Role::Muted, words, area.width), area, canvas);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: nothing led to the list of the actions that a past step had.
    #[test]
    fn the_list_of_actions_is_found_by_its_words() {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        for query in ["admissible", "list of actions", "valid actions", "another action", "past step"] {
            let first = find_actions(&all, query).first().map(|index| all[*index].name());
            assert_eq!(first, Some(Action::Override.name()), "{query}");
        }
        assert!(Action::Override.about().contains("past step"));
    }

    #[test]
    fn words_of_a_person_find_the_action() {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        for (query, expected) in [
            ("raw reply", Action::ShowDetails),
            ("details", Action::ShowDetails),
            ("response", Action::ShowDetails),
            ("teach", Action::AddLesson),
            ("diff", Action::Compare),
            ("revert", Action::Undo),
            ("html", Action::Export),
            ("markdown", Action::ExportMarkdown),
            ("export", Action::Export),
            ("chapter", Action::NextEpisode),
            ("hide", Action::ToggleStageMode),
            ("present", Action::ToggleStageMode),
            ("step", Action::Step),
        ] {
            let found = find_actions(&all, query);
            let names: Vec<&str> = found.iter().take(3).map(|index| all[*index].name()).collect();
            assert!(names.contains(&expected.name()), "{query}: {names:?}");
        }
    }

    /// Regression: letters somewhere in a description matched, so that Enter ran what nobody meant: `both` quit.
    #[test]
    fn words_that_no_action_has_find_nothing() {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        for query in ["both", "xyzzy", "zoo lesson", "quti"] {
            let names: Vec<&str> = find_actions(&all, query).iter().map(|index| all[*index].name()).collect();
            assert_eq!(names, [""; 0], "{query}");
        }
        for (query, expected) in [
            ("note", Action::Remark),
            ("caption", Action::Remark),
            ("less", Action::AddLesson),
            ("lad", Action::AddLesson),
            ("exit", Action::Quit),
            ("dark", Action::NextTheme),
        ] {
            let first = find_actions(&all, query).first().map(|index| all[*index].name());
            assert_eq!(first, Some(expected.name()), "{query}");
        }
    }

    /// Regression: a whole name found other actions first, which only mention it.
    #[test]
    fn the_name_of_an_action_finds_it_first() {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        for action in &all {
            let first = find_actions(&all, action.name()).first().map(|index| all[*index].name());
            assert_eq!(first, Some(action.name()));
        }
    }

    /// Regression: `html` and `action` found unrelated entries first, whose names have these letters somewhere.
    #[test]
    fn entries_that_have_the_typed_word_come_first() {
        let all: Vec<Action> = Action::ALL.iter().copied().filter(|a| a.is_in_palette()).collect();
        for query in ["html", "action", "lesson", "model"] {
            let has_word = |index: &usize| {
                let action = all[*index];
                format!("{} {} {}", action.name(), action.about(), other_words(action))
                    .to_lowercase()
                    .contains(query)
            };
            let found = find_actions(&all, query);
            let with_word = found.iter().take_while(|index| has_word(index)).count();
            assert!(with_word > 0 && !found[with_word..].iter().any(has_word), "{query}");
            assert_eq!(with_word, (0..all.len()).filter(has_word).count(), "{query}");
        }
    }
}
