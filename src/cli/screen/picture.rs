//! Pictures of the screen of a recorded session: at one step, or an animated one of all steps.

use super::chapters::{captions, last_event_of_step, place_chapters, steps_after};
use super::private::private_texts;
use super::themes::load_theme;
use crate::cli::config::{Config, keys};
use crate::cli::error::{CliError, CliErrorKind};
use crate::cli::locate::OpenedSession;
use crate::domain::{BranchId, Seq};
use crate::driver::{Health, Store};
use crate::engine::State;
use crate::report::{CastFrame, StepRef, recorded_private_texts, render_svg, render_svg_cast};
use crate::timeline::Timeline;
use crate::ui::canvas::Canvas;
use crate::ui::chapters::{Chapter, display_time, shown_position};
use crate::ui::keymap::Keymap;
use crate::ui::playback::{Playback, Speed};
use crate::ui::theme::{AUTO, Theme, svg_colors};
use crate::ui::{Compositor, Context, Cursor, FrameData, Model, ViewCache, glyphs};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most frames of an animated picture: more would neither fit into a page nor be watched.
const MAX_FRAMES: usize = 400;
/// How long the last frame is shown at least, before the picture begins again.
const LAST_FRAME_TIME: Duration = Duration::from_secs(4);
/// How often a frame is drawn at most until all that it shows of the past is loaded.
const MAX_LOADS: usize = 16;

/// The read-only screen of a session, of a fixed size.
struct RecordedScreen {
    store: Arc<Store>,
    frame: FrameData,
    model: Model,
    theme: Theme,
    keymap: Keymap,
    now: Instant,
}

impl RecordedScreen {
    /// `stage` are the texts that the stage mode hides; `None` for the whole screen.
    fn new(
        timeline: Timeline,
        theme: Theme,
        size: (u16, u16),
        chapters: Vec<Chapter>,
        stage: Option<Arc<[String]>>,
    ) -> Self {
        let store = Arc::new(Store::default());
        store.set_timeline(timeline, BranchId::trunk());
        store.edit_live(|live| live.health = Health::ReadOnly);
        let model = Model {
            size,
            chapters: chapters.into(),
            stage_mode: stage.is_some(),
            private_texts: stage.unwrap_or_default(),
            ..Model::default()
        };
        let (frame, keymap) = (FrameData::default(), Keymap::default());
        Self { store, frame, model, theme, keymap, now: Instant::now() }
    }

    /// Draws the screen after an event, with all that it shows of the past.
    fn draw(&mut self, seq: Seq) -> Result<Buffer, CliError> {
        let cursor = if seq < self.store.head().head { Cursor::At(seq) } else { Cursor::Live };
        self.model.cursor = cursor;
        for _ in 0..MAX_LOADS {
            self.frame.refresh(&self.store, cursor);
            let context = Context {
                frame: &self.frame,
                now: self.now,
                theme: &self.theme,
                glyphs: &glyphs::UNICODE,
                keymap: &self.keymap,
                is_covered: false,
            };
            let mut buffer = Buffer::empty(Rect::new(0, 0, self.model.size.0, self.model.size.1));
            let mut cache = ViewCache::default();
            let missing = Compositor::default().draw(&self.model, &context, &mut cache, &mut buffer);
            // Nobody can press a key in a picture.
            let mut canvas = Canvas { buffer: &mut buffer, theme: &self.theme, glyphs: &glyphs::UNICODE };
            canvas.clear(cache.layout.footer);
            if missing.is_empty() {
                return Ok(buffer);
            }
            for part in missing {
                self.store.timeline().load(part, &|_, _| Ok(())).map_err(|why| unreadable(seq, &why))?;
            }
        }
        Err(unreadable(seq, "it is never complete"))
    }
}

fn unreadable(seq: Seq, why: &str) -> CliError {
    CliError::new(
        CliErrorKind::Session,
        format!("event {seq}: the past could not be read: {why}"),
        "run `retrospect verify` on the session",
    )
}

/// Returns what the stage mode hides of a session.
fn hidden_on_stage(config: &Config, opened: &OpenedSession) -> Arc<[String]> {
    let dir = opened.dir.as_deref().unwrap_or(Path::new(""));
    let recorded = recorded_private_texts(&dir.display().to_string(), opened.timeline.head());
    private_texts(config, dir).iter().cloned().chain(recorded).collect()
}

/// Renders the screen at one step as SVG, with a theme, in stage mode or not.
pub(in crate::cli) fn screen_svg(
    config: &Config,
    opened: OpenedSession,
    at: StepRef,
    size: (u16, u16),
    (theme_name, is_stage): (Option<&str>, bool),
) -> Result<String, CliError> {
    let theme = valid_theme(config, theme_name)?;
    let colors = svg_colors(&theme);
    let stage = is_stage.then(|| hidden_on_stage(config, &opened));
    let last = opened.timeline.head().head;
    let chapters = captions_of(&opened)?;
    let seq = last_event_of_step(&opened.timeline, at).unwrap_or(last);
    let seq = shown_position(&chapters, seq);
    let buffer = RecordedScreen::new(opened.timeline, theme, size, chapters, stage).draw(seq)?;
    Ok(render_svg(&buffer, &colors, &format!("retrospect, episode {} step {}", at.episode, at.step)))
}

/// Renders the screen while the session plays from one step to another as an animated SVG, with the captions of a demo.
/// `speed` is a label of [`Speed`], with or without its `x`.
pub(in crate::cli) fn screen_cast(
    config: &Config,
    opened: OpenedSession,
    (from, to): (Option<StepRef>, Option<StepRef>),
    speed: &str,
    size: (u16, u16),
    (theme_name, is_stage): (Option<&str>, bool),
) -> Result<String, CliError> {
    let speed = Speed::from_label(speed).ok_or_else(|| {
        CliError::usage(
            format!("--speed {speed:?} is not a speed of playback"),
            format!("choose one of {}", Speed::labels().join(", ")),
        )
    })?;
    let theme = valid_theme(config, theme_name)?;
    let colors = svg_colors(&theme);
    let chapters = captions_of(&opened)?;
    let title = format!("retrospect playing {}", opened.meta.session);
    let steps = step_ends(&opened.timeline, from, to);
    if steps.is_empty() {
        return Err(CliError::usage("no step to play", "check --at and --to, which are EPISODE.STEP"));
    }
    if steps.len() > MAX_FRAMES {
        return Err(CliError::usage(
            format!("{} steps are too many for a picture, which has at most {MAX_FRAMES}", steps.len()),
            "choose a part with --at and --to, such as --at 1.1 --to 1.50",
        ));
    }
    let stage = is_stage.then(|| hidden_on_stage(config, &opened));
    let mut screen = RecordedScreen::new(opened.timeline, theme, size, chapters, stage);
    let mut frames = Vec::with_capacity(steps.len());
    let last = steps.len() - 1;
    for (place, (step, seq)) in steps.into_iter().enumerate() {
        let is_last = place == last;
        screen.model.playback =
            Playback { speed, due: (!is_last).then_some(screen.now), ..Playback::default() };
        let shown = display_time(&screen.model.chapters, speed, step);
        let duration = if is_last { shown.max(LAST_FRAME_TIME) } else { shown };
        frames
            .push(CastFrame { buffer: screen.draw(shown_position(&screen.model.chapters, seq))?, duration });
    }
    Ok(render_svg_cast(&frames, &colors, &title))
}

/// Returns the captions of a session in pictures: none if it has neither captions nor remarks.
fn captions_of(opened: &OpenedSession) -> Result<Vec<Chapter>, CliError> {
    let (dir, head) = (opened.dir.as_deref().unwrap_or(Path::new("")), opened.timeline.head());
    let mut chapters = captions(dir, opened.demo, head)?;
    if opened.demo.is_none() && chapters.len() == 1 && head.remarks.is_empty() {
        chapters.clear();
    }
    place_chapters(&mut chapters, &opened.timeline);
    Ok(chapters)
}

/// Returns how long a demo plays at normal speed.
pub(in crate::cli) fn playing_time(opened: &OpenedSession) -> Result<Option<Duration>, CliError> {
    let chapters = captions_of(opened)?;
    let steps = step_ends(&opened.timeline, None, None).into_iter();
    Ok(Some(steps.map(|(step, _)| display_time(&chapters, Speed::NORMAL, step)).sum()))
}

/// Returns each step from one to another (by default all), step 0 of an episode being its start, with its last event,
/// after which all of the step is visible.
fn step_ends(timeline: &Timeline, from: Option<StepRef>, to: Option<StepRef>) -> Vec<(StepRef, Seq)> {
    let mut ends: Vec<(StepRef, Seq)> = Vec::new();
    for (step, event) in steps_after(timeline, State::default()) {
        if from.is_some_and(|from| step < from) || to.is_some_and(|to| step > to) {
            continue;
        }
        match ends.last_mut() {
            Some((last, seq)) if *last == step => *seq = event,
            _ => ends.push((step, event)),
        }
    }
    ends
}

/// Loads the theme of a picture. By default it looks like the screen of a dark terminal with true colour.
fn valid_theme(config: &Config, name: Option<&str>) -> Result<Theme, CliError> {
    let name = name.unwrap_or_else(|| config.get(keys::THEME));
    let name = Some(if name == AUTO { "dark" } else { name });
    let (theme, problems) = load_theme(config, name)?;
    match problems.first() {
        None => Ok(theme),
        Some(problem) => Err(CliError::new(
            CliErrorKind::Config,
            problem.to_string(),
            "fix the theme, or choose another one with --theme",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::locate;
    use crate::cli::shipped_demos::ShippedDemo;

    fn cast(name: &str, range: (Option<StepRef>, Option<StepRef>), size: (u16, u16)) -> String {
        let config = Config::without_file(None, |_| None);
        let opened = locate::open_session(&config, Some(name)).unwrap();
        screen_cast(&config, opened, range, "2", size, (Some("dark"), false)).unwrap()
    }

    fn step(text: &str) -> StepRef {
        text.parse().unwrap()
    }

    /// Regression: the story of 90 seconds took more than two minutes.
    #[test]
    fn the_measured_story_plays_in_ninety_seconds() {
        let demo = ShippedDemo::named("measured-lesson").unwrap();
        let opened = locate::open_demo(demo, None).unwrap();
        let seconds = playing_time(&opened).unwrap().unwrap().as_secs();
        assert!((85..=95).contains(&seconds), "{seconds} s");
    }

    #[test]
    fn a_cast_has_a_frame_for_each_step_and_the_captions_of_the_demo() {
        let page = cast("hot-mug-taught", (None, None), (100, 30));
        // The start and 27 steps.
        assert_eq!(page.matches("<g transform=\"translate(").count() - 1, 28);
        assert!(page.contains("A first mistake: it takes a cellphone"));
        assert!(page.contains("playing 2x") && page.contains("WON"));
        assert!(page.len() < 1_000_000, "{}", page.len());
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'));
        for path in ["/home/", "/tmp/", "/root/", env!("CARGO_MANIFEST_DIR")] {
            assert!(!page.contains(path), "{path}");
        }
        assert_eq!(page, cast("hot-mug-taught", (None, None), (100, 30)), "equal input, equal picture");
    }

    /// Regression: the chapter that measures a lesson already showed the wording that the next one measures.
    #[test]
    fn a_chapter_shows_the_state_at_its_own_position() {
        let page = cast("measured-lesson", (Some(step("1.50")), Some(step("1.50"))), (200, 60));
        assert!(page.contains("on a shelf first"), "the lesson is taught");
        assert!(!page.contains("Do not repeat"), "{page}");
        let page = cast("measured-lesson", (Some(step("2.0")), Some(step("2.0"))), (200, 60));
        assert!(page.contains("Do not repeat"));
    }

    /// Regression: a recording was always one of the whole screen.
    #[test]
    fn a_cast_of_the_stage_shows_the_stage() {
        let config = Config::without_file(None, |_| None);
        let opened = locate::open_session(&config, Some("measured-lesson")).unwrap();
        let range = (Some(step("2.19")), Some(step("2.20")));
        let page = screen_cast(&config, opened, range, "2", (80, 24), (Some("dark"), true)).unwrap();
        assert!(!page.contains("Story") && page.contains("move mug 1 to coffeemachine 1"), "{page}");
    }

    /// Regression: in a browser, figures such as `0 of 24    0 %` were one number, because several spaces collapsed.
    #[test]
    fn several_spaces_stay_in_a_browser() {
        let page = cast("measured-lesson", (Some(step("1.50")), Some(step("1.50"))), (120, 36));
        assert!(!page.contains("  ") && page.contains("\u{a0}\u{a0}"), "{page}");
    }

    /// Regression: of a forked branch, the frames of the steps before the fork showed the end of the branch.
    #[test]
    fn a_cast_of_a_forked_branch_plays_it_from_its_beginning() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("forked");
        let files = ShippedDemo::named("hot-mug-taught").unwrap().session().files;
        let trunk = &files["branches/trunk.jsonl"];
        let events: Vec<&str> = trunk.lines().skip(1).collect();
        let at = (60..events.len()).find(|place| !events[place - 1].contains("\"more\":true")).unwrap();
        let header = format!(
            "{{\"v\":1,\"type\":\"branch\",\"id\":\"b1\",\"parent\":\"trunk\",\"at_seq\":{at},\
             \"reason\":\"after step 5\",\"created\":\"2026-11-22T21:09:35Z\"}}"
        );
        std::fs::create_dir_all(dir.join("branches")).unwrap();
        std::fs::write(dir.join("meta.toml"), &files["meta.toml"]).unwrap();
        std::fs::write(dir.join("branches/trunk.jsonl"), trunk).unwrap();
        let own = [&[header.as_str()], &events[at..]].concat().join("\n");
        std::fs::write(dir.join("branches/b1.jsonl"), own + "\n").unwrap();
        let recording = |branch: &str| cast(&format!("{}@{branch}", dir.display()), (None, None), (80, 24));
        let page = recording("b1");
        assert_eq!(page.matches("<g transform=\"translate(").count() - 1, 28, "the start and 27 steps");
        assert!(page == recording("trunk"), "both branches have the same events");
    }

    /// Regression: a picture had the theme of a terminal without true colour, keys that nobody can press, and no caption.
    #[test]
    fn a_picture_looks_like_the_screen() {
        let config = Config::without_file(None, |_| None);
        let picture = |theme: Option<&str>| {
            let opened = locate::open_session(&config, Some("hot-mug-taught")).unwrap();
            screen_svg(&config, opened, step("1.5"), (120, 36), (theme, false)).unwrap()
        };
        let page = picture(None);
        assert_eq!(page, picture(Some("dark")));
        assert_ne!(page, picture(Some("default")));
        assert!(page.contains("A first mistake"), "{page}");
        assert!(!page.contains("marks") && !page.contains("chapters"), "{page}");
    }

    #[test]
    fn a_cast_plays_the_chosen_steps() {
        let page = cast("hot-mug-taught", (Some(step("1.5")), Some(step("1.9"))), (80, 24));
        assert_eq!(page.matches("<g transform=\"translate(").count() - 1, 5);
        let config = Config::without_file(None, |_| None);
        let opened = || locate::open_session(&config, Some("lamp")).unwrap();
        let bad = screen_cast(&config, opened(), (Some(step("9.1")), None), "1", (80, 24), (None, false))
            .unwrap_err();
        assert!(bad.message.contains("no step to play"), "{}", bad.message);
        let bad = screen_cast(&config, opened(), (None, None), "3", (80, 24), (None, false)).unwrap_err();
        assert!(bad.message.contains("not a speed"), "{}", bad.message);
    }

    /// The pictures of the README are made by the commands that it names; `UPDATE=1` makes them again.
    #[test]
    fn the_pictures_of_the_readme_are_current() {
        let config = Config::without_file(None, |_| None);
        let opened = locate::open_session(&config, Some("hot-mug-taught")).unwrap();
        let picture = screen_svg(&config, opened, step("1.10"), (120, 36), (Some("dark"), false)).unwrap();
        let recording = cast("hot-mug-taught", (None, None), (120, 36));
        for (name, page) in [("picture.svg", picture), ("recording.svg", recording)] {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&path, &page).unwrap();
            }
            let stored = std::fs::read_to_string(&path).unwrap();
            assert!(stored == page, "docs/{name} is stale: run the test with UPDATE=1");
        }
    }
}
