//! The detectors. `docs/SYMBOLIC.md` and `docs/PDDL.md` explain them.

use super::environment_rules::Detector;

/// Detectors of every environment.
pub const COMMON_DETECTORS: &[Detector] = &[Detector::described("only_thoughts", "only thought")];

/// Detectors of the household environments.
pub(super) const HOUSEHOLD_DETECTORS: &[Detector] = &[
    Detector::described("already_closed", "closed something already closed"),
    Detector::described("already_open", "opened something already open"),
    Detector::described("already_there", "went to the place where they already were"),
    Detector::described("cannot_take", "tried to take something that cannot be taken"),
    Detector::described("cannot_treat", "tried to heat, cool or clean an unsuitable object"),
    Detector::described("circling", "went in circles"),
    Detector::described("container_closed", "never opened the container"),
    Detector::described("does_not_fit", "put an object where it does not fit"),
    Detector::described("examined_without_lamp", "examined without the lamp"),
    Detector::named("found"),
    Detector::described("hand_full", "took with a full hand"),
    Detector::named("lamp_in_hand"),
    Detector::described("lamp_without_object", "used the lamp without the object"),
    Detector::described("left_closed", "left a container closed"),
    Detector::described("left_target", "left the place without using it"),
    Detector::described("no_door", "tried to open something without a door"),
    Detector::described("not_at_place", "acted on a place without being there"),
    Detector::described("not_holding", "used an object without holding it"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::described("number_missing", "named things without their number"),
    Detector::described("object_not_here", "tried to take an object that was not there"),
    Detector::described("placed_untreated", "put the object down untreated"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::described("searched_again", "searched the same places again"),
    Detector::named("situation"),
    Detector::named("subgoal"),
    Detector::described("took_back", "took an object away from its destination"),
    Detector::named("treated"),
    Detector::described("unclear", "did what changes nothing"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("unknown_place", "tried to go to an unknown place"),
    Detector::described("wrong_appliance", "used the wrong appliance"),
    Detector::described("wrong_form", "worded the action wrongly"),
    Detector::described("wrong_object", "took the wrong object"),
    Detector::described("wrong_treatment", "treated the object wrongly"),
];

/// Detectors of grid worlds.
pub(super) const GRID_DETECTORS: &[Detector] = &[
    Detector::named("barrier"),
    Detector::described("circling", "went in circles"),
    Detector::named("door_closed"),
    Detector::named("empty_hands"),
    Detector::named("found_door"),
    Detector::named("found_key"),
    Detector::named("found_target"),
    Detector::named("hands_full"),
    Detector::named("must_drop"),
    Detector::named("no_change"),
    Detector::named("no_key"),
    Detector::named("no_room"),
    Detector::named("no_way"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("other_key"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("took_key"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::named("unlocked"),
    Detector::named("wrong_verb"),
];

/// Detectors of planning problems.
pub(super) const PLANNING_DETECTORS: &[Detector] = &[
    Detector::named("arm_full"),
    Detector::named("ball_not_carried"),
    Detector::named("ball_not_here"),
    Detector::named("ball_not_wanted"),
    Detector::named("block_below_another"),
    Detector::named("block_not_held"),
    Detector::named("boot_closed"),
    Detector::named("both_hands_full"),
    Detector::named("carried_two"),
    Detector::named("did_not_leave"),
    Detector::named("glass_not_empty"),
    Detector::named("glass_not_held"),
    Detector::named("hand_left_free"),
    Detector::named("hand_not_free"),
    Detector::named("hub_in_the_air"),
    Detector::named("hub_on_the_ground"),
    Detector::named("ingredients_missing"),
    Detector::named("not_clean"),
    Detector::named("not_in_the_room"),
    Detector::named("not_needed"),
    Detector::named("not_now"),
    Detector::named("not_understood"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("nut_on"),
    Detector::named("nut_tight"),
    Detector::named("pickup_for_unstack"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("set_back"),
    Detector::named("shook"),
    Detector::named("stacked_back"),
    Detector::named("standing"),
    Detector::named("subgoal"),
    Detector::described("took_back", "took an object away from its destination"),
    Detector::named("tool_missing"),
    Detector::named("two_towers"),
    Detector::named("undid"),
    Detector::named("undone"),
    Detector::named("unstack_for_pickup"),
    Detector::named("unstacked"),
    Detector::named("wrong_drop"),
    Detector::named("wrong_ingredient"),
    Detector::named("wrong_stack"),
];

/// Detectors of ScienceWorld.
pub(super) const SCIENCE_DETECTORS: &[Detector] = &[
    Detector::described("door_closed", "walked into a closed door"),
    Detector::described("no_way", "tried to go to a room that is not next to theirs"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::named("opened_door"),
    Detector::named("progress"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::named("several_meanings"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("wrong_focus", "focused on the wrong thing"),
    Detector::described("wrong_place", "put something in the wrong place"),
];

/// Detectors of questions.
pub(super) const QUESTION_DETECTORS: &[Detector] = &[
    Detector::named("found_page"),
    Detector::described("no_page", "looked for words without a page"),
    Detector::described("nothing_happened", "did what changes nothing"),
    Detector::described("page_not_found", "searched for a page that does not exist"),
    Detector::described("repeat", "repeated an action that did nothing"),
    Detector::described("term_not_found", "looked for words that are not on the page"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::described("wrong_answer", "gave a wrong answer"),
];

/// Detectors of programs.
pub(super) const PROGRAM_DETECTORS: &[Detector] = &[
    Detector::described("hidden_test_failed", "failed only the hidden tests"),
    Detector::described("no_tests", "wrote no tests"),
    Detector::described("own_test_failed", "failed a test of their own"),
    Detector::described("took_too_long", "wrote a program that took too long"),
    Detector::described("unknown_action", "used an unknown action"),
    Detector::named("wrote_tests"),
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
            include_str!("question.rs"),
            include_str!("program.rs"),
            include_str!("science.rs"),
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
        let lists = [
            COMMON_DETECTORS,
            HOUSEHOLD_DETECTORS,
            GRID_DETECTORS,
            PLANNING_DETECTORS,
            SCIENCE_DETECTORS,
            QUESTION_DETECTORS,
            PROGRAM_DETECTORS,
        ];
        let listed: BTreeSet<String> =
            lists.iter().flat_map(|list| list.iter()).map(|d| d.name.to_owned()).collect();
        assert_eq!(listed, found);
        assert!(lists.iter().all(|list| list.is_sorted_by_key(|detector| detector.name)));
    }
}
