//! Balls to be carried between rooms.

use super::{Dice, Difficulty, Draft};

/// Easy: two rooms, two or three balls, all to be carried over. Normal: two rooms, four to eight balls. Hard: three or four
/// rooms, seven to ten balls. Where balls lie and belong is chance from normal on.
pub(super) fn draw(dice: &mut Dice, difficulty: Difficulty) -> Draft {
    let (rooms, balls) = match difficulty {
        Difficulty::Easy => (2, dice.between(2, 3)),
        Difficulty::Normal => (2, dice.between(4, 8)),
        Difficulty::Hard => (dice.between(3, 4), dice.between(7, 10)),
    };
    let names: Vec<&str> = ["rooma", "roomb", "roomc", "roomd"].into_iter().take(rooms as usize).collect();
    let mut draft = Draft::default();
    let mut of_kind = |name: &str, kind: &str| {
        draft.object(name, "");
        draft.fact(format!("{kind} {name}"));
    };
    for room in &names {
        of_kind(room, "room");
    }
    let balls: Vec<String> = (1..=balls).map(|number| format!("ball{number}")).collect();
    for ball in &balls {
        of_kind(ball, "ball");
    }
    for hand in ["left", "right"] {
        of_kind(hand, "gripper");
    }
    draft.fact("free left");
    draft.fact("free right");
    let first = if difficulty == Difficulty::Easy { 0 } else { dice.below(names.len() as u32) as usize };
    draft.fact(format!("at-robby {}", names[first]));
    for ball in &balls {
        let (from, to) = if difficulty == Difficulty::Easy {
            (0, 1)
        } else {
            let from = dice.below(names.len() as u32) as usize;
            // Three of four balls are to move.
            let away = dice.between(1, rooms - 1) as usize;
            (from, if dice.chance(750) { (from + away) % names.len() } else { from })
        };
        draft.fact(format!("at {ball} {}", names[from]));
        draft.want(format!("at {ball} {}", names[to]));
    }
    draft
}
