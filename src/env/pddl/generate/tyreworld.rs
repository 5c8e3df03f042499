//! Flat tyres to be replaced.

use super::{Dice, Difficulty, Draft};

/// Easy: one hub, and a part of the work. Normal: one or two hubs, the spare wheels on, perhaps inflated and fastened. Hard: two
/// or three hubs and everything: wheels inflated and fastened, flat ones and tools back in the closed boot.
pub(super) fn draw(dice: &mut Dice, difficulty: Difficulty) -> Draft {
    let hubs = match difficulty {
        Difficulty::Easy => 1,
        Difficulty::Normal => dice.between(1, 2),
        Difficulty::Hard => dice.between(2, 3),
    };
    let mut draft = Draft::default();
    draft.object("boot", "container");
    let tools = ["wrench", "jack", "pump"];
    for tool in tools {
        draft.object(tool, "tool");
    }
    draft.fact("unlocked boot");
    // A boot that stands open, and tools that are at hand, spare a few steps.
    let open = difficulty == Difficulty::Easy && dice.chance(400);
    draft.fact(if open { "isopen boot" } else { "closed boot" });
    for tool in tools {
        let at_hand = difficulty != Difficulty::Hard && dice.chance(150);
        draft.fact(if at_hand { format!("have {tool}") } else { format!("in {tool} boot") });
    }
    for number in 1..=hubs {
        draft.object(format!("the-hub{number}"), "hub");
        draft.object(format!("nuts{number}"), "nut");
        draft.object(format!("r{number}"), "wheel");
        draft.object(format!("w{number}"), "wheel");
        for fact in
            ["on w# the-hub#", "on-ground the-hub#", "fastened the-hub#", "intact r#", "not-inflated r#"]
        {
            draft.fact(fact.replace('#', &number.to_string()));
        }
        draft.fact(format!("in r{number} boot"));
        let loose = difficulty == Difficulty::Easy && dice.chance(300);
        draft.fact(format!("{} nuts{number} the-hub{number}", if loose { "loose" } else { "tight" }));
        let (inflated, fastened, away) = match difficulty {
            Difficulty::Easy => (dice.chance(300), false, dice.chance(300)),
            Difficulty::Normal => (dice.chance(600), dice.chance(600), dice.chance(600)),
            Difficulty::Hard => (true, true, true),
        };
        draft.want(format!("on r{number} the-hub{number}"));
        if inflated {
            draft.want(format!("inflated r{number}"));
        }
        if fastened {
            draft.want(format!("tight nuts{number} the-hub{number}"));
        }
        if away {
            draft.want(format!("in w{number} boot"));
        }
    }
    if difficulty == Difficulty::Hard || difficulty == Difficulty::Normal && dice.chance(300) {
        for tool in tools {
            draft.want(format!("in {tool} boot"));
        }
        draft.want("closed boot");
    }
    draft
}
