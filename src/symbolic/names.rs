//! The names of all detectors, for code that refers to one by name.

/// Every detector name that a note can have, sorted. `docs/SYMBOLIC.md` and `docs/PDDL.md` explain them.
pub const DETECTORS: &[&str] = &[
    "already_closed",
    "already_open",
    "already_there",
    "arm_full",
    "ball_not_carried",
    "ball_not_here",
    "ball_not_wanted",
    "barrier",
    "block_below_another",
    "block_not_held",
    "boot_closed",
    "both_hands_full",
    "cannot_take",
    "cannot_treat",
    "carried_two",
    "circling",
    "container_closed",
    "did_not_leave",
    "does_not_fit",
    "door_closed",
    "empty_hands",
    "examined_without_lamp",
    "found",
    "found_door",
    "found_key",
    "found_target",
    "glass_not_empty",
    "glass_not_held",
    "hand_full",
    "hand_left_free",
    "hand_not_free",
    "hands_full",
    "hub_in_the_air",
    "hub_on_the_ground",
    "ingredients_missing",
    "lamp_in_hand",
    "lamp_without_object",
    "left_closed",
    "left_target",
    "must_drop",
    "no_change",
    "no_door",
    "no_key",
    "no_room",
    "no_way",
    "not_at_place",
    "not_clean",
    "not_holding",
    "not_in_the_room",
    "not_needed",
    "not_now",
    "not_understood",
    "nothing_happened",
    "number_missing",
    "nut_on",
    "nut_tight",
    "object_not_here",
    "only_thoughts",
    "other_key",
    "pickup_for_unstack",
    "placed_untreated",
    "progress",
    "repeat",
    "searched_again",
    "set_back",
    "shook",
    "situation",
    "stacked_back",
    "standing",
    "subgoal",
    "took_back",
    "took_key",
    "tool_missing",
    "treated",
    "two_towers",
    "unclear",
    "undid",
    "undone",
    "unknown_action",
    "unknown_place",
    "unlocked",
    "unstack_for_pickup",
    "unstacked",
    "wrong_appliance",
    "wrong_drop",
    "wrong_form",
    "wrong_ingredient",
    "wrong_object",
    "wrong_stack",
    "wrong_treatment",
    "wrong_verb",
];

#[cfg(test)]
mod tests {
    use super::DETECTORS;
    use regex::Regex;
    use std::collections::BTreeSet;

    /// Quoted names in the detectors' sources that are not detectors: settings, and a field of the situation note.
    const NOT_DETECTORS: &[&str] =
        &["circle_turns", "circle_visits", "circle_window", "repeat_after", "shown_in"];

    #[test]
    fn list_names_every_detector_in_the_sources() {
        let sources = [
            include_str!("detect.rs"),
            include_str!("failure.rs"),
            include_str!("grid.rs"),
            include_str!("planning.rs"),
            include_str!("planning/moves.rs"),
            include_str!("situation.rs"),
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
        let listed: BTreeSet<String> = DETECTORS.iter().map(|d| (*d).to_owned()).collect();
        assert_eq!(listed, found);
        assert!(DETECTORS.is_sorted());
    }
}
