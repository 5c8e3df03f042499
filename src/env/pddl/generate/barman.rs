//! Problems of the barman domain: orders to serve at a bar.

use super::{Difficulty, Draft, LabelledRng};

/// Easy: serve one shot, with three ingredients and two cocktails. Normal: two shots, three cocktails. Hard: three or
/// four shots, four ingredients and four cocktails. Two of three orders are cocktails.
pub(super) fn draw(rng: &mut LabelledRng, difficulty: Difficulty) -> Draft {
    let (orders, ingredient_count, cocktail_count, spare_shots) = match difficulty {
        Difficulty::Easy => (1, 3, 2, 2),
        Difficulty::Normal => (2, 3, 3, rng.between(1, 2)),
        Difficulty::Hard => (rng.between(3, 4), 4, 4, 1),
    };
    let numbered = |word: &str, count: i32| -> Vec<String> {
        (1..=count).map(|number| format!("{word}{number}")).collect()
    };
    let shots = numbered("shot", orders + spare_shots);
    let (ingredients, cocktails) =
        (numbered("ingredient", ingredient_count), numbered("cocktail", cocktail_count));
    let dispensers = numbered("dispenser", ingredient_count);
    let mut draft = Draft::default();
    draft.add_object("shaker1", "shaker");
    for hand in ["left", "right"] {
        draft.add_object(hand, "hand");
        draft.add_fact(format!("handempty {hand}"));
    }
    for vessel in shots.iter().map(String::as_str).chain(["shaker1"]) {
        if vessel != "shaker1" {
            draft.add_object(vessel, "shot");
        }
        for state in ["ontable", "clean", "empty"] {
            draft.add_fact(format!("{state} {vessel}"));
        }
    }
    for (ingredient, dispenser) in ingredients.iter().zip(&dispensers) {
        draft.add_object(ingredient, "ingredient");
        draft.add_object(dispenser, "dispenser");
        draft.add_fact(format!("dispenses {dispenser} {ingredient}"));
    }
    for level in ["l0", "l1", "l2"] {
        draft.add_object(level, "level");
    }
    draft.add_fact("next l0 l1");
    draft.add_fact("next l1 l2");
    draft.add_fact("shaker-empty-level shaker1 l0");
    draft.add_fact("shaker-level shaker1 l0");
    let mut pairs: Vec<(usize, usize)> = (0..ingredients.len())
        .flat_map(|first| (first + 1..ingredients.len()).map(move |second| (first, second)))
        .collect();
    rng.shuffle(&mut pairs);
    for (cocktail, (first, second)) in cocktails.iter().zip(pairs.into_iter().cycle()) {
        draft.add_object(cocktail, "cocktail");
        let (first, second) = if rng.chance_permille(500) { (first, second) } else { (second, first) };
        draft.add_fact(format!("cocktail-part1 {cocktail} {}", ingredients[first]));
        draft.add_fact(format!("cocktail-part2 {cocktail} {}", ingredients[second]));
    }
    for shot in shots.iter().take(orders as usize) {
        let menu = if rng.chance_permille(667) { &cocktails } else { &ingredients };
        let drink = rng.below(menu.len() as u32) as usize;
        draft.add_goal(format!("contains {shot} {}", menu[drink]));
    }
    draft
}
