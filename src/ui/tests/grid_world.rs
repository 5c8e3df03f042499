//! The picture of a grid world: shapes and letters, visible and unseen cells, and the ground truth.

use super::{SIZES, TestScreen, screen_text};
use crate::env::Environment;
use crate::env::babyai::{Level, World};
use crate::ui::fixture::Fixture;
use crate::ui::glyphs;
use crate::ui::types::Focus;
use serde_json::{Value, json};
use std::sync::Arc;

/// An episode of a few steps in a real BabyAI environment.
pub(super) fn grid_fixture(name: &str, seed: u64) -> Fixture {
    let mut world = World::new(Arc::new(Level::from_name(name).unwrap().generate(seed).unwrap()));
    let mut fixture = Fixture::new();
    fixture.begin_episode_in("babyai");
    let mut first = world.reset().unwrap().shown;
    first["receptacles"] = Value::Null;
    fixture.actor_step("check", "You can take the following actions: turn left", 0.0, first);
    for action in ["turn left", "turn left", "move forward"] {
        let result = world.step(action).unwrap();
        fixture.actor_step(action, &result.observation, 0.0, result.shown);
    }
    fixture
}

fn drawn_text(stage: &mut TestScreen) -> String {
    stage.model.focus = Focus::World;
    stage.model.zoomed = true;
    screen_text(&stage.draw())
}

#[test]
fn a_grid_shows_shapes_letters_visible_and_unseen_cells() {
    for (w, h) in SIZES {
        let mut stage = TestScreen::new(grid_fixture("GoToLocalS8N7", 3), w, h);
        insta::assert_snapshot!(format!("grid_{w}x{h}"), drawn_text(&mut stage));
    }
    let mut stage = TestScreen::new(grid_fixture("GoToLocalS8N7", 3), 80, 24);
    stage.glyphs = glyphs::ASCII;
    let plain = drawn_text(&mut stage);
    assert!(plain.is_ascii(), "{plain}");
    insta::assert_snapshot!("grid_ascii_80x24", plain);
}

/// Regression: beside a grid of eight columns, the inventory and the end of the legend were cut off.
#[test]
fn text_beside_a_grid_is_not_cut_off() {
    let mut stage = TestScreen::new(grid_fixture("GoToRedBall", 7), 120, 36);
    let text = screen_text(&stage.draw());
    assert!(text.contains("nothing") && text.contains("in view"), "{text}");
}

#[test]
fn grids_of_every_shape_fit_every_screen() {
    for name in ["GoToObjS6", "GoToLocalS8N7", "UnlockToUnlock", "BossLevel"] {
        let fixture = grid_fixture(name, 5);
        let mut stage = TestScreen::new(fixture, 10, 10);
        for (w, h) in SIZES.into_iter().chain([(1, 1), (7, 3), (30, 8), (300, 90)]) {
            stage.model.size = (w, h);
            for zoomed in [false, true] {
                (stage.model.zoomed, stage.model.focus) = (zoomed, Focus::World);
                let text = screen_text(&stage.draw());
                let is_shown = text.contains("cells seen");
                assert!(is_shown || !zoomed || w < 60, "{name} at {w}x{h}:\n{text}");
            }
        }
    }
}

#[test]
fn a_tampered_grid_is_drawn_safely_or_left_out() {
    for shown in [
        json!({"size": [1, 1], "agent": [0, 0, 0]}),
        json!({"size": [3, 2], "agent": [9, 9, 9], "rows": {"0": "\u{1b}[2J漢字", "1": 7}, "view": [1e300, -1, "x"]}),
        json!({"size": [256, 256], "agent": [255, 255, 3], "view": [255, 255], "carrying": "\u{202e}key", "rows": []}),
        json!({"size": [0, 5], "agent": [0, 0, 0]}),
        json!({"size": [4, 4], "agent": [-1, 2, 0]}),
        json!({"size": [9_999_999, 1], "agent": null}),
    ] {
        let mut fixture = Fixture::new();
        fixture.begin_episode_in("babyai");
        fixture.actor_step("look", "You see it.", 0.0, shown);
        for (w, h) in SIZES {
            let mut stage = TestScreen::new(Fixture::new(), w, h);
            stage.fixture.store = fixture.store.clone();
            for truth in [false, true] {
                stage.model.show_truth = truth;
                assert!(!drawn_text(&mut stage).contains('\u{1b}'));
            }
        }
    }
}
