//! Writes a furnished room as a PDDL problem, and assigns the names that the agent will read.

use super::furnish::TaskGoal;
use super::id::TaskKind;
use super::scene::Scene;
use super::stock::Stock;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The displayed names of furniture and objects, in the order of the scene.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) furniture: Vec<String>,
    pub(super) things: Vec<String>,
}

/// Assigns names as ALFWorld does: the first part of the id and a number. Within one kind, numbers descend as the ids
/// ascend.
pub(super) fn assign_names(scene: &Scene) -> Names {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let ids = scene.furniture.iter().map(|place| &place.id).chain(scene.things.iter().map(|thing| &thing.id));
    for id in ids {
        let id = id.to_lowercase();
        kinds.entry(base_name(&id)).or_default().insert(id);
    }
    let name = |id: &String| {
        let id = id.to_lowercase();
        let base = base_name(&id);
        let number = kinds.get(&base).map_or(0, |ids| ids.range(id..).count());
        format!("{base} {number}")
    };
    Names {
        furniture: scene.furniture.iter().map(|place| name(&place.id)).collect(),
        things: scene.things.iter().map(|thing| name(&thing.id)).collect(),
    }
}

fn base_name(id: &str) -> String {
    let head = id.split("_bar_").next().unwrap_or_default();
    if id.contains("basin") { format!("{head}basin") } else { head.to_owned() }
}

/// Kinds that the rules of `domain.pddl` mention, so that every problem must declare them.
const NAMED_BY_RULES: ([&str; 3], [&str; 2]) =
    (["Fridge", "Microwave", "SinkBasin"], ["ButterKnife", "Knife"]);

/// Writes the problem. Facts are grouped by subject: the room first, then the furniture, then the objects.
pub(super) fn problem_text(stock: &Stock, scene: &Scene, goal: &TaskGoal, name: &str) -> String {
    let mut text = String::with_capacity(40_000);
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a `String` cannot fail.
        let _ = text.write_fmt(parts);
        text.push('\n');
    };
    let receptacle_kinds: BTreeSet<&str> = scene.furniture.iter().map(|place| place.kind).collect();
    let thing_kinds: BTreeSet<&str> = scene.things.iter().map(|thing| thing.kind).collect();

    line(format_args!("(define (problem {name})\n(:domain alfred)\n(:objects\n  agent1 - agent"));
    for spot in &scene.spots {
        line(format_args!("  {} - location", spot.id));
    }
    for place in &scene.furniture {
        line(format_args!("  {} - receptacle", place.id));
    }
    for thing in &scene.things {
        line(format_args!("  {} - object", thing.id));
    }
    for kind in receptacle_kinds.iter().copied().chain(NAMED_BY_RULES.0).collect::<BTreeSet<_>>() {
        line(format_args!("  {kind}Type - rtype"));
    }
    for kind in thing_kinds.iter().copied().chain(NAMED_BY_RULES.1).collect::<BTreeSet<_>>() {
        line(format_args!("  {kind}Type - otype"));
    }
    line(format_args!(")\n(:init"));

    if let Some(start) = scene.spots.get(scene.start) {
        line(format_args!("  (atLocation agent1 {})", start.id));
    }
    for receptacle in &receptacle_kinds {
        for thing in &thing_kinds {
            if stock.things.get(*thing).is_some_and(|about| about.can_be_put_in(receptacle)) {
                line(format_args!("  (canContain {receptacle}Type {thing}Type)"));
            }
        }
    }
    for place in &scene.furniture {
        line(format_args!("\n  (receptacleType {} {}Type)", place.id, place.kind));
        if let Some(spot) = scene.spots.get(place.spot) {
            line(format_args!("  (receptacleAtLocation {} {})", place.id, spot.id));
        }
        if place.is_openable {
            line(format_args!("  (openable {})", place.id));
        }
    }
    for thing in &scene.things {
        line(format_args!("\n  (objectType {} {}Type)", thing.id, thing.kind));
        if let Some(spot) = scene.spots.get(thing.spot) {
            line(format_args!("  (objectAtLocation {} {})", thing.id, spot.id));
        }
        for place in thing.furniture.iter().filter_map(|&place| scene.furniture.get(place)) {
            line(format_args!("  (inReceptacle {} {})", thing.id, place.id));
        }
        if let Some(outer) = thing.container.and_then(|outer| scene.things.get(outer)) {
            line(format_args!("  (inReceptacleObject {} {})", thing.id, outer.id));
        }
        if thing.is_cool {
            line(format_args!("  (isCool {})", thing.id));
        }
        for (verb, predicate) in AFFORDANCES {
            if stock.things.get(thing.kind).is_some_and(|about| about.allows(verb)) {
                line(format_args!("  ({predicate} {})", thing.id));
            }
        }
    }
    line(format_args!(")\n(:goal"));
    line(format_args!("{}", goal_text(goal)));
    line(format_args!("))"));
    text
}

/// Pairs of an ability's name in the stock and in the PDDL rules.
const AFFORDANCES: [(&str, &str); 7] = [
    ("take", "pickupable"),
    ("clean", "cleanable"),
    ("heat", "heatable"),
    ("cool", "coolable"),
    ("slice", "sliceable"),
    ("switch", "toggleable"),
    ("hold", "isReceptacleObject"),
];

/// Writes the goal in the shape of ALFWorld's goals, which programs that measure progress parse.
fn goal_text(goal: &TaskGoal) -> String {
    let (object, target, lamp) = (goal.object, goal.target, goal.lamp);
    let treated = |can: &str, is: &str| {
        format!(
            "  (and (exists (?r - receptacle) (exists (?o - object)\n    (and ({can} ?o) (objectType ?o {object}Type) (receptacleType ?r {target}Type) ({is} ?o) (inReceptacle ?o ?r)))))"
        )
    };
    match goal.kind {
        TaskKind::Clean => treated("cleanable", "isClean"),
        TaskKind::Heat => treated("heatable", "isHot"),
        TaskKind::Cool => treated("coolable", "isCool"),
        TaskKind::Put => format!(
            "  (and (exists (?r - receptacle) (exists (?o - object)\n    (and (inReceptacle ?o ?r) (objectType ?o {object}Type) (receptacleType ?r {target}Type)))))"
        ),
        TaskKind::Two => format!(
            "  (and (exists (?r - receptacle) (exists (?o1 - object)\n    (and (objectType ?o1 {object}Type) (receptacleType ?r {target}Type) (inReceptacle ?o1 ?r)\n      (exists (?o2 - object)\n        (and (not (= ?o1 ?o2)) (objectType ?o2 {object}Type) (receptacleType ?r {target}Type) (inReceptacle ?o2 ?r)))))))"
        ),
        TaskKind::Look => format!(
            "  (and\n    (exists (?ot - object ?r - receptacle ?a - agent ?l - location)\n      (and (objectType ?ot {lamp}Type) (toggleable ?ot) (isToggled ?ot)\n        (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))\n    (exists (?o - object ?a - agent)\n      (and (objectType ?o {object}Type) (holds ?a ?o))))"
        ),
    }
}
