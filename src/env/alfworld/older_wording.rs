//! The wording of the games of ALFWorld's data version 2.1.1: `put X in/on Y` instead of `move X to Y`.

/// Returns whether an observation is one of a game with the older wording: only those name a location on arrival.
pub fn has_older_wording(observation: &str) -> bool {
    observation.starts_with("You arrive at loc ")
}

/// Rewrites a line of an example in the older wording. Drops the sentence `You arrive at X.`, as ReAct's code does for
/// such games.
pub fn to_older_wording(line: &str) -> String {
    if let Some((object, receptacle)) = line.strip_prefix("> move ").and_then(|r| r.split_once(" to ")) {
        return format!("> put {object} in/on {receptacle}");
    }
    if let Some((object, receptacle)) =
        line.strip_prefix("You move the ").and_then(|r| r.split_once(" to the "))
    {
        return format!("You put the {object} in/on the {receptacle}");
    }
    let arrival = line.strip_prefix("You arrive at ").and_then(|r| r.split_once(". "));
    arrival.map_or(line, |(_, description)| description).to_owned()
}
