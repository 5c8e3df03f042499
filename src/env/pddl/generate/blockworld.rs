//! Towers to be built from other towers.

use super::{Difficulty, Draft, LabelledRng};

/// Easy: three or four blocks; normal: five or six; hard: seven to nine. Start and end are both drawn; what is wanted are the
/// pairs of blocks that lie on each other in the end.
pub(super) fn draw(dice: &mut LabelledRng, difficulty: Difficulty) -> Draft {
    let count = match difficulty {
        Difficulty::Easy => dice.between(3, 4),
        Difficulty::Normal => dice.between(5, 6),
        Difficulty::Hard => dice.between(7, 9),
    };
    let blocks: Vec<String> = (1..=count).map(|number| format!("b{number}")).collect();
    let mut draft = Draft::default();
    for block in &blocks {
        draft.add_object(block, "");
    }
    draft.add_fact("arm-empty");
    for tower in towers(dice, &blocks) {
        for (at, block) in tower.iter().enumerate() {
            match tower.get(at.wrapping_sub(1)) {
                None => draft.add_fact(format!("on-table {block}")),
                Some(below) => draft.add_fact(format!("on {block} {below}")),
            }
        }
        if let Some(top) = tower.last() {
            draft.add_fact(format!("clear {top}"));
        }
    }
    for tower in towers(dice, &blocks) {
        for pair in tower.windows(2) {
            draft.add_goal(format!("on {} {}", pair[1], pair[0]));
        }
    }
    draft
}

/// The blocks in towers, each from the bottom to the top.
fn towers<'b>(dice: &mut LabelledRng, blocks: &'b [String]) -> Vec<Vec<&'b String>> {
    let mut order: Vec<&String> = blocks.iter().collect();
    dice.shuffle(&mut order);
    let mut towers: Vec<Vec<&String>> = Vec::new();
    for block in order {
        // A third of the blocks begin a tower, so that towers of two to four are usual.
        match towers.len() {
            0 => towers.push(vec![block]),
            _ if dice.chance(333) => towers.push(vec![block]),
            many => {
                let at = dice.below(many as u32) as usize;
                towers[at].push(block);
            }
        }
    }
    towers
}
