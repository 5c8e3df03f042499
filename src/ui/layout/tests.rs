//! Properties of the layout.

use super::*;
use proptest::prelude::*;

/// Regression: beside lanes without a lesson, a world that was cut had no more than three fifths of its column.
#[test]
fn a_world_has_the_rows_that_lanes_do_not_need() {
    let rows = |lanes: &[LaneRows], world: u16| {
        let area = Rect { x: 0, y: 0, width: 120, height: 42 };
        let plan = compute_layout(area, Arrangement::TwoColumns, (world, lanes), None);
        let world = plan.areas.iter().find(|area| area.pane == Pane::World).unwrap();
        world.body.height + 1
    };
    let column = 37;
    let empty = [LaneRows::of_text(1); 3];
    assert_eq!((rows(&empty, 0), rows(&empty, 20)), (column * 2 / 5, 20));
    assert_eq!(rows(&empty, 90), column - 9, "three rows are left to each lane");
    assert_eq!(rows(&[LaneRows::wanting(20); 3], 90), column * 2 / 5);
}

/// Regression: a lane with four lessons had two rows beside one with twenty.
#[test]
fn a_short_lane_is_whole_beside_a_long_one() {
    let mut plan = ScreenLayout::default();
    let lanes = [6, 30, 4].map(LaneRows::wanting);
    stack_lanes(&mut plan, Rect { x: 0, y: 0, width: 50, height: 24 }, &lanes);
    let rows: Vec<u16> = plan.areas.iter().map(|area| area.body.height).collect();
    assert_eq!(rows, [6, 11, 4]);
}

proptest! {
    /// Whatever the lanes hold, they fill their column without gaps, and those that hold more have no fewer rows.
    #[test]
    fn lanes_share_the_whole_height(height in 1u16..80, lanes in prop::collection::vec(0u16..40, 1..6)) {
        let mut plan = ScreenLayout::default();
        let wanted: Vec<LaneRows> = lanes.iter().map(|rows| LaneRows::wanting(*rows)).collect();
        stack_lanes(&mut plan, Rect { x: 3, y: 2, width: 30, height }, &wanted);
        let rows = |area: &PaneArea| area.title.map_or(0, |title| title.height) + area.body.height;
        prop_assert_eq!(plan.areas.iter().map(rows).sum::<u16>(), height);
        let mut next = 2;
        for area in &plan.areas {
            prop_assert_eq!(area.title.map(|title| title.y), Some(next));
            next += rows(area);
        }
        if plan.areas.len() == lanes.len() {
            for (one, other) in (0..lanes.len()).flat_map(|a| (0..lanes.len()).map(move |b| (a, b))) {
                if lanes[one] > lanes[other] {
                    prop_assert!(rows(&plan.areas[one]) + 1 >= rows(&plan.areas[other]));
                }
            }
        }
    }

    /// A lane without lessons has the rows of its text, and those with lessons share what is left.
    #[test]
    fn lanes_without_lessons_take_no_rows_that_others_have_a_use_for(height in 24u16..80, text in 1u16..4, lessons in prop::collection::vec(1u16..4, 1..3)) {
        let mut plan = ScreenLayout::default();
        let mut lanes = vec![LaneRows::of_text(text)];
        lanes.extend(lessons.iter().map(|rows| LaneRows::wanting(*rows)));
        stack_lanes(&mut plan, Rect { x: 3, y: 2, width: 30, height }, &lanes);
        let rows: Vec<u16> = plan.areas.iter().map(|area| area.body.height).collect();
        prop_assert_eq!(rows[0], text + 1);
        let shared = (height - rows[0] - 1) / lessons.len() as u16;
        prop_assert!(rows[1..].iter().all(|rows| rows + 3 >= shared));
    }

    /// A lane that keeps some rows has them beside any number of long ones, which have most of the others.
    #[test]
    fn a_lane_keeps_its_least_rows(height in 1u16..80, others in prop::collection::vec(0u16..400, 1..4), least in 3u16..9) {
        let mut plan = ScreenLayout::default();
        let mut lanes: Vec<LaneRows> = others.iter().map(|rows| LaneRows::wanting(*rows)).collect();
        lanes.push(LaneRows { least, ..LaneRows::wanting(11) });
        stack_lanes(&mut plan, Rect { x: 3, y: 2, width: 30, height }, &lanes);
        let rows = |area: &PaneArea| area.title.map_or(0, |title| title.height) + area.body.height;
        prop_assert_eq!(plan.areas.iter().map(rows).sum::<u16>(), height);
        let count = lanes.len() as u16;
        if height >= 3 * count + 2 * (least - 3) {
            prop_assert!(rows(plan.areas.last().unwrap()) >= least);
            let needed = lanes.iter().map(|lane| (lane.wanted + 1).clamp(2, 3));
            prop_assert!(plan.areas.iter().zip(needed).all(|(area, needed)| rows(area) >= needed));
        }
    }

    /// Lanes that all keep some rows have them as soon as there are enough for each.
    #[test]
    fn lanes_that_all_keep_rows_have_them(least in prop::collection::vec(4u16..9, 1..4), more in 0u16..40, wanted in 0u16..400) {
        let mut plan = ScreenLayout::default();
        let lanes: Vec<LaneRows> = least.iter().map(|least| LaneRows { least: *least, ..LaneRows::wanting(wanted) }).collect();
        let height = least.iter().sum::<u16>() + more;
        stack_lanes(&mut plan, Rect { x: 3, y: 2, width: 30, height }, &lanes);
        let rows = |area: &PaneArea| area.title.map_or(0, |title| title.height) + area.body.height;
        prop_assert!(plan.areas.iter().zip(&least).all(|(area, least)| rows(area) >= *least));
    }

    /// Each column of a step leads back to it, and a step has at least one.
    #[test]
    fn columns_and_steps_agree(room in 1u32..400, more in 0u16..400, first_step in 1u32..5000, offset in 0u32..400) {
        let columns = u16::try_from(room).unwrap() + more;
        let ruler = StepRuler {
            first_column: 1,
            first_step,
            last_step: first_step + room - 1,
            episode_steps: first_step + room,
            room,
            columns,
        };
        let step = first_step + offset % room;
        let (from, to) = (ruler.column_of(step), ruler.column_of(step + 1));
        prop_assert!(from < to);
        for column in from..to {
            prop_assert_eq!(ruler.step_at(column), step);
        }
    }
}
