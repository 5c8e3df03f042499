//! Every detector is listed with its family's rules.

use crate::symbolic::{
    COMMON_DETECTORS, Detector, GRID_RULES, HOUSEHOLD_RULES, PLANNING_RULES, PROGRAM_RULES, QUESTION_RULES,
    SCIENCE_RULES,
};
use regex::Regex;
use std::collections::BTreeSet;

/// Quoted names in the detectors' sources that are not detectors: settings, and a field of the situation note.
const NOT_DETECTORS: &[&str] =
    &["circle_turns", "circle_visits", "circle_window", "repeat_after", "shown_in"];

#[test]
fn list_names_every_detector_in_the_sources() {
    let sources = [
        include_str!("../symbolic_rules.rs"),
        include_str!("../household/detect.rs"),
        include_str!("../household/failure.rs"),
        include_str!("../grid.rs"),
        include_str!("../planning.rs"),
        include_str!("../planning/moves.rs"),
        include_str!("../question.rs"),
        include_str!("../program.rs"),
        include_str!("../science.rs"),
        include_str!("../household/situation.rs"),
    ];
    let quoted = Regex::new(
        r#"(?x) "([a-z]+(?:_[a-z]+)+)" | (?:note|mistake)\(\s*"([a-z]+)" | detector:\s"([a-z]+)" |
        NAME:\s&str\s=\s"([a-z]+)" | "(unclear|shook|undid|unstacked|barrier)" "#,
    )
    .unwrap();
    let mut found = BTreeSet::new();
    for source in sources {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        // Without the list itself.
        let (before, list) = code.split_once("const DETECTORS").unwrap_or((code, ""));
        let code = [before, list.split_once("\n];").map_or("", |(_, after)| after)].concat();
        found.extend(
            quoted
                .captures_iter(&code)
                .flat_map(|c| c.iter().skip(1).flatten().map(|m| m.as_str().to_owned()).collect::<Vec<_>>()),
        );
    }
    found.retain(|name| !NOT_DETECTORS.contains(&name.as_str()));
    let families =
        [&HOUSEHOLD_RULES, &GRID_RULES, &PLANNING_RULES, &SCIENCE_RULES, &QUESTION_RULES, &PROGRAM_RULES];
    let lists: Vec<&[Detector]> =
        families.iter().map(|rules| rules.detectors).chain([COMMON_DETECTORS]).collect();
    let listed: BTreeSet<String> =
        lists.iter().flat_map(|list| list.iter()).map(|d| d.name.to_owned()).collect();
    assert_eq!(listed, found);
    assert!(lists.iter().all(|list| list.is_sorted_by_key(|detector| detector.name)));
}
