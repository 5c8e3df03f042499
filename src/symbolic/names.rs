//! The names of the detectors, for code that refers to one by name. `docs/SYMBOLIC.md` and `docs/PDDL.md` explain them.

/// Detectors of every environment.
pub const COMMON_DETECTORS: &[&str] = &["only_thoughts"];

/// Detectors of the household environments.
pub(super) const HOUSEHOLD_DETECTORS: &[&str] = &[
    "already_closed",
    "already_open",
    "already_there",
    "cannot_take",
    "cannot_treat",
    "circling",
    "container_closed",
    "does_not_fit",
    "examined_without_lamp",
    "found",
    "hand_full",
    "lamp_in_hand",
    "lamp_without_object",
    "left_closed",
    "left_target",
    "no_door",
    "not_at_place",
    "not_holding",
    "nothing_happened",
    "number_missing",
    "object_not_here",
    "placed_untreated",
    "progress",
    "repeat",
    "searched_again",
    "situation",
    "subgoal",
    "took_back",
    "treated",
    "unclear",
    "unknown_action",
    "unknown_place",
    "wrong_appliance",
    "wrong_form",
    "wrong_object",
    "wrong_treatment",
];

/// Detectors of grid worlds.
pub(super) const GRID_DETECTORS: &[&str] = &[
    "barrier",
    "circling",
    "door_closed",
    "empty_hands",
    "found_door",
    "found_key",
    "found_target",
    "hands_full",
    "must_drop",
    "no_change",
    "no_key",
    "no_room",
    "no_way",
    "nothing_happened",
    "other_key",
    "progress",
    "repeat",
    "took_key",
    "unknown_action",
    "unlocked",
    "wrong_verb",
];

/// Detectors of planning problems.
pub(super) const PLANNING_DETECTORS: &[&str] = &[
    "arm_full",
    "ball_not_carried",
    "ball_not_here",
    "ball_not_wanted",
    "block_below_another",
    "block_not_held",
    "boot_closed",
    "both_hands_full",
    "carried_two",
    "did_not_leave",
    "glass_not_empty",
    "glass_not_held",
    "hand_left_free",
    "hand_not_free",
    "hub_in_the_air",
    "hub_on_the_ground",
    "ingredients_missing",
    "not_clean",
    "not_in_the_room",
    "not_needed",
    "not_now",
    "not_understood",
    "nothing_happened",
    "nut_on",
    "nut_tight",
    "pickup_for_unstack",
    "repeat",
    "set_back",
    "shook",
    "stacked_back",
    "standing",
    "subgoal",
    "took_back",
    "tool_missing",
    "two_towers",
    "undid",
    "undone",
    "unstack_for_pickup",
    "unstacked",
    "wrong_drop",
    "wrong_ingredient",
    "wrong_stack",
];

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;
    use std::collections::BTreeSet;

    /// Quoted names in the detectors' sources that are not detectors: settings, and a field of the situation note.
    const NOT_DETECTORS: &[&str] =
        &["circle_turns", "circle_visits", "circle_window", "repeat_after", "shown_in"];

    #[test]
    fn list_names_every_detector_in_the_sources() {
        let sources = [
            include_str!("symbolic_rules.rs"),
            include_str!("household/detect.rs"),
            include_str!("household/failure.rs"),
            include_str!("grid.rs"),
            include_str!("planning.rs"),
            include_str!("planning/moves.rs"),
            include_str!("household/situation.rs"),
        ];
        let quoted = Regex::new(
            r#"(?x) "([a-z]+(?:_[a-z]+)+)" | (?:note|mistake)\(\s*"([a-z]+)" | detector:\s"([a-z]+)" |
            NAME:\s&str\s=\s"([a-z]+)" | "(unclear|shook|undid|unstacked|barrier)" "#,
        )
        .unwrap();
        let mut found = BTreeSet::new();
        for source in sources {
            let code = source.split("#[cfg(test)]").next().unwrap_or_default();
            found.extend(
                quoted.captures_iter(code).flat_map(|c| {
                    c.iter().skip(1).flatten().map(|m| m.as_str().to_owned()).collect::<Vec<_>>()
                }),
            );
        }
        found.retain(|name| !NOT_DETECTORS.contains(&name.as_str()));
        let lists = [COMMON_DETECTORS, HOUSEHOLD_DETECTORS, GRID_DETECTORS, PLANNING_DETECTORS];
        let listed: BTreeSet<String> =
            lists.iter().flat_map(|list| list.iter()).map(|d| (*d).to_owned()).collect();
        assert_eq!(listed, found);
        assert!(lists.iter().all(|list| list.is_sorted()));
    }
}
