//! Problems of the gripper domain: balls to carry between rooms.

use super::{Difficulty, Draft, LabelledRng};

/// Easy: two rooms, two or three balls, all to be moved to the other room. Normal: two rooms, four to eight balls.
/// Hard: three or four rooms, seven to ten balls. From normal on, both the initial and the target rooms are random.
pub(super) fn draw(rng: &mut LabelledRng, difficulty: Difficulty) -> Draft {
    let (rooms, balls) = match difficulty {
        Difficulty::Easy => (2, rng.between(2, 3)),
        Difficulty::Normal => (2, rng.between(4, 8)),
        Difficulty::Hard => (rng.between(3, 4), rng.between(7, 10)),
    };
    let names: Vec<&str> = ["rooma", "roomb", "roomc", "roomd"].into_iter().take(rooms as usize).collect();
    let mut draft = Draft::default();
    let mut add_typed = |name: &str, kind: &str| {
        draft.add_object(name, "");
        draft.add_fact(format!("{kind} {name}"));
    };
    for room in &names {
        add_typed(room, "room");
    }
    let balls: Vec<String> = (1..=balls).map(|number| format!("ball{number}")).collect();
    for ball in &balls {
        add_typed(ball, "ball");
    }
    for hand in ["left", "right"] {
        add_typed(hand, "gripper");
    }
    draft.add_fact("free left");
    draft.add_fact("free right");
    let first = if difficulty == Difficulty::Easy { 0 } else { rng.below(names.len() as u32) as usize };
    draft.add_fact(format!("at-robby {}", names[first]));
    for ball in &balls {
        let (from, to) = if difficulty == Difficulty::Easy {
            (0, 1)
        } else {
            let from = rng.below(names.len() as u32) as usize;
            // Three of four balls have to move.
            let away = rng.between(1, rooms - 1) as usize;
            (from, if rng.chance_permille(750) { (from + away) % names.len() } else { from })
        };
        draft.add_fact(format!("at {ball} {}", names[from]));
        draft.add_goal(format!("at {ball} {}", names[to]));
    }
    draft
}
