//! Problems of the tyreworld domain: flat tyres to replace.

use super::{Difficulty, Draft, LabelledRng};

/// Easy: one hub, and only part of the work. Normal: one or two hubs, with the spare wheels mounted and possibly
/// inflated and fastened. Hard: two or three hubs and the complete job: wheels inflated and fastened, flat wheels and
/// tools back in the closed boot.
pub(super) fn draw(rng: &mut LabelledRng, difficulty: Difficulty) -> Draft {
    let hubs = match difficulty {
        Difficulty::Easy => 1,
        Difficulty::Normal => rng.between(1, 2),
        Difficulty::Hard => rng.between(2, 3),
    };
    let mut draft = Draft::default();
    draft.add_object("boot", "container");
    let tools = ["wrench", "jack", "pump"];
    for tool in tools {
        draft.add_object(tool, "tool");
    }
    draft.add_fact("unlocked boot");
    // An open boot and tools in hand save a few steps.
    let open = difficulty == Difficulty::Easy && rng.chance_permille(400);
    draft.add_fact(if open { "isopen boot" } else { "closed boot" });
    for tool in tools {
        let is_in_hand = difficulty != Difficulty::Hard && rng.chance_permille(150);
        draft.add_fact(if is_in_hand { format!("have {tool}") } else { format!("in {tool} boot") });
    }
    for number in 1..=hubs {
        draft.add_object(format!("the-hub{number}"), "hub");
        draft.add_object(format!("nuts{number}"), "nut");
        draft.add_object(format!("r{number}"), "wheel");
        draft.add_object(format!("w{number}"), "wheel");
        for fact in
            ["on w# the-hub#", "on-ground the-hub#", "fastened the-hub#", "intact r#", "not-inflated r#"]
        {
            draft.add_fact(fact.replace('#', &number.to_string()));
        }
        draft.add_fact(format!("in r{number} boot"));
        let is_loose = difficulty == Difficulty::Easy && rng.chance_permille(300);
        draft.add_fact(format!("{} nuts{number} the-hub{number}", if is_loose { "loose" } else { "tight" }));
        let (is_inflated, is_fastened, is_stowed) = match difficulty {
            Difficulty::Easy => (rng.chance_permille(300), false, rng.chance_permille(300)),
            Difficulty::Normal => {
                (rng.chance_permille(600), rng.chance_permille(600), rng.chance_permille(600))
            }
            Difficulty::Hard => (true, true, true),
        };
        draft.add_goal(format!("on r{number} the-hub{number}"));
        if is_inflated {
            draft.add_goal(format!("inflated r{number}"));
        }
        if is_fastened {
            draft.add_goal(format!("tight nuts{number} the-hub{number}"));
        }
        if is_stowed {
            draft.add_goal(format!("in w{number} boot"));
        }
    }
    if difficulty == Difficulty::Hard || difficulty == Difficulty::Normal && rng.chance_permille(300) {
        for tool in tools {
            draft.add_goal(format!("in {tool} boot"));
        }
        draft.add_goal("closed boot");
    }
    draft
}
