//! The help screen: the main keys, all keys by area, panes and marks, with a filter.

use super::samples::SampleList;
use crate::text::width;
use crate::ui::canvas::Canvas;
use crate::ui::component::{Component, Response};
use crate::ui::facts::is_driver_required;
use crate::ui::frame_data::Context;
use crate::ui::keymap::{Action, Binding, Mode};
use crate::ui::labels::other_words;
use crate::ui::theme::Role;
use crate::ui::widget::list_index::row_delta;
use crate::ui::widget::text_field::TextField;
use crate::ui::widget::window::{Line, Scroll, Window, WindowPosition, paragraph, put_line};
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Columns of the keys and marks, before their descriptions.
const LEAD_COLUMNS: usize = 14;

/// The actions that a person needs first, with a phrase that is shorter than the action's own.
const MAIN_KEYS: [(&[Action], &str); 12] = [
    (&[Action::Step], "run the proposed action"),
    (&[Action::PauseRun], "run without stopping, or pause"),
    (&[Action::Override], "replace the proposed action; lists all"),
    (&[Action::RejectOrToggle], "reject it; in a lane: lesson on or off"),
    (&[Action::AskAgain], "ask again, with the current lessons"),
    (&[Action::AddLesson], "teach: add a lesson"),
    (&[Action::Undo, Action::Redo], "undo or redo your last change"),
    (&[Action::Prompt], "the prompt: what the model sees"),
    (&[Action::ShowDetails], "details of this step or lesson"),
    (
        &[Action::Back, Action::Forward, Action::PreviousMark, Action::NextMark],
        "back and forward in time, or to a mark",
    ),
    (&[Action::Palette], "every action by name"),
    (&[Action::Quit], "one level back, then quit"),
];

/// The actions that a person needs first in a session that can't be changed.
const MAIN_KEYS_READ_ONLY: [(&[Action], &str); 12] = [
    (&[Action::PauseRun], PLAYS),
    (&[Action::Step], STEPS),
    (&[Action::Faster, Action::Slower], "play faster or slower"),
    (&[Action::Back, Action::Forward], "back and forward in time"),
    (&[Action::PreviousMark, Action::NextMark], "to the previous or next mark"),
    (&[Action::PreviousEpisode, Action::NextEpisode], "to the previous or next episode or chapter"),
    (&[Action::Prompt], "the prompt: what the model sees"),
    (&[Action::ShowDetails], "details of this step or lesson"),
    (&[Action::Compare], "compare with another trial, branch or session"),
    (&[Action::EndCard], "how it ended; play the task yourself"),
    (&[Action::Palette], "every action by name"),
    (&[Action::Quit], "one level back, then quit"),
];

/// What these actions do in a session that can't be changed.
const STEPS: &str = "go to the next step";
const PLAYS: &str = "play or pause the recording";

/// Says why keys are missing.
const LEFT_OUT: &str = "read-only: keys that change a session are left out";

/// The modes in which something is changed.
const MODES_OF_CHANGES: [Mode; 4] = [Mode::OverrideInput, Mode::LessonEditor, Mode::Rewrite, Mode::Summary];

/// Returns whether an action does nothing on the screen's session, because it can't be changed.
fn is_left_out(action: Action, context: &Context<'_>) -> bool {
    let is_needless = match action {
        Action::Step | Action::PauseRun => false,
        Action::Sample => !SampleList::has_samples(context, None),
        Action::Breakpoints => context.frame.head.breakpoints.all.is_empty(),
        _ => is_driver_required(action),
    };
    context.is_read_only() && is_needless
}

/// The areas of the main screen's actions. Those in none of them are listed last.
const AREAS: [(&str, &[Action]); 4] = [
    (
        "Stepping",
        &[
            Action::Step,
            Action::Open,
            Action::StepStage,
            Action::PauseRun,
            Action::Faster,
            Action::Slower,
            Action::ToggleConfirm,
            Action::ToggleHuman,
            Action::Override,
            Action::RejectOrToggle,
            Action::Breakpoints,
            Action::AskAgain,
            Action::GiveUp,
            Action::ChangeModel,
            Action::UseRecordedReply,
            Action::EndEpisode,
        ],
    ),
    (
        "Lessons and remarks",
        &[
            Action::AddLesson,
            Action::LessonFromOverride,
            Action::EditLesson,
            Action::MeasureEffect,
            Action::LessonHealth,
            Action::SearchPicture,
            Action::ReflectNow,
            Action::Summary,
            Action::Undo,
            Action::Redo,
            Action::Remark,
        ],
    ),
    (
        "Time and branches",
        &[
            Action::Back,
            Action::Forward,
            Action::PreviousMark,
            Action::NextMark,
            Action::PreviousEpisode,
            Action::NextEpisode,
            Action::EpisodeStart,
            Action::Live,
            Action::Fork,
            Action::Branches,
            Action::Search,
            Action::Compare,
            Action::EpisodeList,
        ],
    ),
    (
        "Panes and view",
        &[
            Action::Up,
            Action::Down,
            Action::PageUp,
            Action::PageDown,
            Action::NextPane,
            Action::PreviousPane,
            Action::Pane(1),
            Action::Pane(2),
            Action::Pane(3),
            Action::Pane(4),
            Action::Pane(5),
            Action::Pane(6),
            Action::Pane(7),
            Action::Zoom,
            Action::NextArrangement,
            Action::ToggleStageMode,
            Action::ToggleTruth,
            Action::ToggleReasoning,
            Action::NextTheme,
            Action::ToggleMouse,
        ],
    ),
];

/// A row of the help: keys or a mark, and what they mean.
struct Entry {
    role: Role,
    /// The keys or the mark, as the screen shows them.
    lead: String,
    /// The keys one by one, which a filter can name; empty for marks.
    keys: Vec<String>,
    meaning: String,
    /// Words that find the row, too.
    other_words: &'static str,
}

/// A heading with its rows.
struct Section {
    title: String,
    entries: Vec<Entry>,
}

/// The help overlay, generated from the active key bindings.
pub(super) struct Help {
    /// The keys of the overlay below, which stand first.
    below: Option<Mode>,
    filter: TextField,
    scroll: Scroll,
}

impl Help {
    /// Creates the help above an overlay with these keys, if there is one.
    pub(super) fn above(below: Option<Mode>) -> Self {
        Self { below, filter: TextField::single_line(""), scroll: Scroll::default() }
    }

    /// Returns the rows that match the filter, below their headings.
    fn lines(&self, context: &Context<'_>, columns: u16) -> Vec<Line> {
        let mut sections = sections(context, self.below);
        let filter = self.filter.text();
        retain_matches(&mut sections, &filter);
        let mut lines = Vec::new();
        if context.is_read_only() {
            lines.push(vec![(Role::Muted, LEFT_OUT.to_owned())]);
        }
        for section in &sections {
            if !lines.is_empty() {
                lines.push(Vec::new());
            }
            lines.push(vec![(Role::Title, section.title.clone())]);
            for entry in &section.entries {
                let gap = " ".repeat(LEAD_COLUMNS.saturating_sub(width(&entry.lead)).max(1));
                let lead = format!("  {}{gap}", entry.lead);
                let mut rows = paragraph((Role::Text, &lead), Role::Text, &entry.meaning, columns);
                // Only the keys or the mark have a style: that of blanks may be a line.
                let pieces =
                    [(Role::Text, "  ".to_owned()), (entry.role, entry.lead.clone()), (Role::Text, gap)];
                if let Some(first) = rows.first_mut() {
                    first.splice(..1, pieces);
                }
                lines.extend(rows);
            }
        }
        if sections.is_empty() {
            lines.push(vec![(Role::Muted, "no key or mark matches".to_owned())]);
        }
        lines
    }

    fn edit(&mut self, is_changed: bool) {
        if is_changed {
            self.scroll.scroll_to(0);
        }
    }
}

impl Component for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn mode(&self, _: &Context<'_>) -> Mode {
        Mode::Help
    }

    fn on_action(&mut self, action: Action, _: &Context<'_>) -> Response {
        match action {
            // One level back: the filter first.
            Action::Close if !self.filter.text().is_empty() => {
                self.filter.replace("");
                self.scroll.scroll_to(0);
            }
            Action::Close => return Response::close(),
            Action::EpisodeStart => self.scroll.scroll_to(0),
            // The extent is unknown before the first draw, so that scrolling by rows would stop short.
            Action::Live => self.scroll.scroll_to(usize::MAX),
            other => self.scroll.scroll_by(row_delta(other, self.scroll.page_rows()).unwrap_or(0)),
        }
        Response::default()
    }

    fn on_key(&mut self, key: KeyEvent, _: &Context<'_>) -> Response {
        let is_changed = self.filter.on_key(key);
        self.edit(is_changed);
        Response::default()
    }

    fn on_paste(&mut self, text: &str, _: &Context<'_>) -> Response {
        let is_changed = self.filter.on_paste(text);
        self.edit(is_changed);
        Response::default()
    }

    fn on_mouse(&mut self, event: MouseEvent, _: &Context<'_>) -> Response {
        self.scroll.on_wheel(event);
        Response::default()
    }

    fn draw(&self, context: &Context<'_>, screen: Rect, canvas: &mut Canvas<'_>) {
        let window = Window {
            title: "Help",
            position: WindowPosition::Middle,
            // As high as the screen, so that the window keeps its place while a filter shortens the list.
            rows: u16::MAX,
            columns: 84,
            mode: Mode::Help,
        };
        let inside = window.draw(context, screen, canvas);
        let prompt = "filter ";
        let head = Rect { height: inside.height.min(1), ..inside };
        put_line(&[(Role::Muted, prompt.to_owned())], head, canvas);
        let used = (prompt.len() as u16).min(inside.width);
        self.filter.draw(true, Rect { x: head.x + used, width: head.width - used, ..head }, canvas);
        if self.filter.text().is_empty() {
            let rest = Rect { x: head.x + used + 1, width: head.width.saturating_sub(used + 1), ..head };
            put_line(&[(Role::Muted, "type a key or a word".to_owned())], rest, canvas);
        }
        let gap = u16::from(inside.height > 12);
        let rest = inside.height.saturating_sub(1 + gap);
        let body = Rect { y: inside.y + 1 + gap, height: rest, ..inside };
        self.scroll.draw(&self.lines(context, inside.width), body, canvas);
    }
}

/// Keeps the rows that match a filter, and the sections that have some. A filter that is a key, exactly as the screen
/// writes it, finds the rows of that key; any other finds the rows with all its words.
fn retain_matches(sections: &mut Vec<Section>, filter: &str) {
    if filter.is_empty() {
        return;
    }
    // The rows of the main keys are in their areas, too.
    sections.retain(|section| section.title != MAIN_TITLE);
    let has_key = |entry: &Entry| entry.keys.iter().any(|key| key == filter);
    let is_key = sections.iter().flat_map(|section| &section.entries).any(has_key);
    let words: Vec<String> = filter.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let has_words = |title: &str, entry: &Entry| {
        let text = format!("{title} {} {} {}", entry.lead, entry.meaning, entry.other_words).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    // A heading finds its rows only if no row by itself has the words.
    let by_rows = sections.iter().flat_map(|section| &section.entries).any(|entry| has_words("", entry));
    for section in sections.iter_mut() {
        let title = if by_rows { "" } else { section.title.as_str() };
        section.entries.retain(|entry| if is_key { has_key(entry) } else { has_words(title, entry) });
    }
    sections.retain(|section| !section.entries.is_empty());
}

const MAIN_TITLE: &str = "The main keys";

/// Returns the sections, first those of the keys `here`.
fn sections(context: &Context<'_>, here: Option<Mode>) -> Vec<Section> {
    let of_mode = |mode: &Mode| section(mode.title(), context.keymap.bindings_in(*mode), context);
    let mut all: Vec<Section> = here.iter().map(of_mode).collect();
    all.push(main_keys(context));
    let areas = AREAS.iter().map(|(title, actions)| {
        let rows = context.keymap.bindings_in(Mode::Main).filter(|row| actions.contains(&row.action));
        section(title, rows, context)
    });
    all.extend(areas);
    let in_an_area = |action| AREAS.iter().any(|(_, actions)| actions.contains(&action));
    let others = context.keymap.bindings_in(Mode::Main).filter(|row| !in_an_area(row.action));
    all.push(section("Also on the main screen", others, context));
    let is_listed = |mode: &&Mode| {
        let changes = context.is_read_only() && MODES_OF_CHANGES.contains(mode);
        **mode != Mode::Main && Some(**mode) != here && !changes
    };
    all.extend(Mode::ALL.iter().filter(is_listed).map(of_mode));
    all.extend(lesson_forms(context).filter(|_| !context.is_read_only()));
    all.push(pane_digits(context));
    all.push(marks(context));
    all.retain(|section| !section.entries.is_empty());
    all
}

/// Returns the main keys, as they are bound now.
fn main_keys(context: &Context<'_>) -> Section {
    let actions = if context.is_read_only() { &MAIN_KEYS_READ_ONLY } else { &MAIN_KEYS };
    let entries = actions.iter().filter_map(|(actions, meaning)| {
        let keys: Vec<String> = actions.iter().filter_map(|a| context.keymap.key_label(*a)).collect();
        let lead = keys.join(" ");
        (!keys.is_empty()).then(|| Entry {
            role: Role::Key,
            lead,
            keys,
            meaning: (*meaning).to_owned(),
            other_words: "",
        })
    });
    Section { title: MAIN_TITLE.to_owned(), entries: entries.collect() }
}

/// Returns a section with the rows that do something on the screen's session.
fn section<'a>(title: &str, rows: impl Iterator<Item = &'a Binding>, context: &Context<'_>) -> Section {
    let entries = rows.filter(|row| !is_left_out(row.action, context)).map(|row| {
        let keys: Vec<String> = row.keys.iter().map(|key| key.label()).collect();
        Entry {
            role: Role::Key,
            lead: keys.join(" "),
            keys,
            meaning: match row.action {
                Action::Step if context.is_read_only() => STEPS.to_owned(),
                Action::PauseRun if context.is_read_only() => PLAYS.to_owned(),
                Action::Open if context.is_read_only() && row.mode == Mode::Main => {
                    "open what is selected".to_owned()
                }
                _ => row.description.clone(),
            },
            other_words: other_words(row.action),
        }
    });
    Section { title: title.to_owned(), entries: entries.collect() }
}

/// Returns the sentences that the rule-based actor understands, if it plays.
fn lesson_forms(context: &Context<'_>) -> Option<Section> {
    let entries = context.lesson_forms()?.sentences.iter().map(|sentence| Entry {
        role: Role::Muted,
        lead: "form".to_owned(),
        keys: Vec::new(),
        meaning: (*sentence).to_owned(),
        other_words: "",
    });
    let title = "Lessons that the built-in rules understand (also with other things and places)";
    Some(Section { title: title.to_owned(), entries: entries.collect() })
}

fn pane_digits(context: &Context<'_>) -> Section {
    let lanes = context.lanes().iter().map(|lane| lane.title);
    let names =
        ["Story", "World"].into_iter().chain(lanes).chain(["Observations (in wide layouts)", "Timeline"]);
    let entries = names.zip(1..).map(|(name, digit)| Entry {
        role: Role::Key,
        lead: digit.to_string(),
        keys: Vec::new(),
        meaning: name.to_owned(),
        other_words: "",
    });
    Section { title: "Panes by digit".to_owned(), entries: entries.collect() }
}

fn marks(context: &Context<'_>) -> Section {
    let g = context.glyphs;
    let legend = [
        (Role::Proposal, g.proposal, "the proposed action; not run yet"),
        (Role::LessonNew, g.new_lesson, "a lesson not in any prompt yet"),
        (Role::LessonPinned, g.pin, "pinned: only you can remove it"),
        (Role::LessonOff, g.off, "off: not in prompts"),
        (Role::Muted, g.solution, "what to do instead of the mistake"),
        (Role::Person, g.person, "assisted: a person stepped in; at a lesson: its wording is a person's"),
        (Role::MarkMistake, g.mistake, "a detected mistake"),
        (Role::MarkProgress, g.subgoal, "a subgoal was reached"),
        (Role::MarkPerson, g.remark, "your remark"),
        (Role::Good, "+", "the step made progress"),
        (Role::FrameFocus, g.selection_edge, "on the left: the selected step or lesson"),
        (Role::MarkNow, g.now, "timeline: the step that all panes show"),
        (
            Role::Mark,
            g.sparkline[5],
            "timeline: its height is the progress; without a row of marks, a step's mark stands in its place",
        ),
        (Role::MarkReflection, g.new_lesson, "timeline: a reflection was written"),
        (Role::MarkPerson, g.person, "timeline: you acted, or rejected a proposal"),
        (Role::MarkBreakpoint, g.breakpoint, "timeline: stopped by a breakpoint"),
        (Role::MarkBreakpoint, g.watch, "timeline: a watch was hit"),
        (Role::MarkPerson, g.branch, "timeline: a branch was forked"),
    ];
    let entries = legend.map(|(role, mark, meaning)| Entry {
        role,
        lead: mark.to_owned(),
        keys: Vec::new(),
        meaning: meaning.to_owned(),
        other_words: "",
    });
    Section { title: "Marks".to_owned(), entries: entries.into() }
}
