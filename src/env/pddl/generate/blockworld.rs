//! Problems of the blockworld domain: towers to rebuild.

use super::{Difficulty, Draft, LabelledRng};

/// Easy: three or four blocks; normal: five or six; hard: seven to nine. Both the initial and the final towers are
/// random; the goal lists the pairs of blocks that are on top of each other in the end.
pub(super) fn draw(rng: &mut LabelledRng, difficulty: Difficulty) -> Draft {
    let count = match difficulty {
        Difficulty::Easy => rng.between(3, 4),
        Difficulty::Normal => rng.between(5, 6),
        Difficulty::Hard => rng.between(7, 9),
    };
    let blocks: Vec<String> = (1..=count).map(|number| format!("b{number}")).collect();
    let mut draft = Draft::default();
    for block in &blocks {
        draft.add_object(block, "");
    }
    draft.add_fact("arm-empty");
    for tower in towers(rng, &blocks) {
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
    for tower in towers(rng, &blocks) {
        for pair in tower.windows(2) {
            draft.add_goal(format!("on {} {}", pair[1], pair[0]));
        }
    }
    draft
}

/// Stacks the blocks into towers, each listed from bottom to top.
fn towers<'b>(rng: &mut LabelledRng, blocks: &'b [String]) -> Vec<Vec<&'b String>> {
    let mut order: Vec<&String> = blocks.iter().collect();
    rng.shuffle(&mut order);
    let mut towers: Vec<Vec<&String>> = Vec::new();
    for block in order {
        // A third of the blocks start a new tower, which typically gives towers of two to four.
        match towers.len() {
            0 => towers.push(vec![block]),
            _ if rng.chance_permille(333) => towers.push(vec![block]),
            many => {
                let at = rng.below(many as u32) as usize;
                towers[at].push(block);
            }
        }
    }
    towers
}
