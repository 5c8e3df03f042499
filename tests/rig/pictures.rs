//! Pictures of the whole screen, a few steps into an episode of a real environment: text that is compared with committed files.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use retrospect::driver::Store;
use retrospect::engine::{Event, State};
use retrospect::journal::read_branch;
use retrospect::ui::fixture::screen_text;
use retrospect::ui::keymap::Keymap;
use retrospect::ui::theme::Theme;
use retrospect::ui::{Compositor, Context, Cursor, FrameData, Model, ViewCache, glyphs};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(u16, u16); 3] = [(200, 60), (120, 36), (80, 24)];

/// Returns what a session has recorded, without the time that replies took, which the screen shows if it is long.
fn without_times(trunk: &Path) -> Store {
    let (store, mut state) = (Store::default(), State::default());
    for mut envelope in read_branch(trunk).unwrap().events {
        if let Event::ReplyReceived { usage, .. } = &mut Arc::make_mut(&mut envelope).event {
            usage.millis = 0;
        }
        state.apply(&envelope);
        store.append([envelope], Arc::new(state.clone()));
    }
    store
}

/// Compares the screen at the end of a session's trunk with the pictures of this name.
pub(crate) fn check_pictures(name: &str, trunk: &Path) {
    for (width, height, screen) in screens(trunk) {
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen);
        });
    }
}

/// Returns the screen at the end of a session's trunk in each size, with width and height.
pub(crate) fn screens(trunk: &Path) -> Vec<(u16, u16, String)> {
    let store = without_times(trunk);
    let draw = |(width, height)| {
        let model = Model { size: (width, height), ..Model::default() };
        let context = Context {
            frame: &FrameData::at(&store, Cursor::Live),
            now: Instant::now(),
            theme: &Theme::default(),
            glyphs: &glyphs::UNICODE,
            keymap: &Keymap::default(),
            is_covered: false,
        };
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        let missing = Compositor::default().draw(&model, &context, &mut ViewCache::default(), &mut buffer);
        assert!(missing.is_empty(), "the picture lacks parts of the past");
        (width, height, screen_text(&buffer))
    };
    SIZES.map(draw).into()
}
