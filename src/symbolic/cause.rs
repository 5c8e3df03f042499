//! Why an episode was lost, as far as its detectors show, for lists that group many episodes.

/// Returns the mistake that best explains an episode: the one noted most often, ties broken by name. "Nothing happened"
/// counts only if no note gives a reason.
pub fn main_cause(mistakes: &[(String, u32)]) -> Option<&str> {
    let most_frequent = |is_vague: bool| {
        let candidates =
            mistakes.iter().filter(|m| is_vague == matches!(m.0.as_str(), "nothing_happened" | "unclear"));
        candidates.fold(None, |best: Option<&(String, u32)>, m| match best {
            Some(b) if b.1 >= m.1 => Some(b),
            _ => Some(m),
        })
    };
    most_frequent(false).or_else(|| most_frequent(true)).map(|m| m.0.as_str())
}

/// Describes a detector's finding as a phrase that follows "n episodes"; falls back to the detector's name.
pub fn cause_text(detector: &str) -> String {
    let phrase = match detector {
        "already_closed" => "closed something already closed",
        "already_open" => "opened something already open",
        "already_there" => "went to the place where they already were",
        "cannot_take" => "tried to take something that cannot be taken",
        "cannot_treat" => "tried to heat, cool or clean an unsuitable object",
        "container_closed" => "never opened the container",
        "does_not_fit" => "put an object where it does not fit",
        "examined_without_lamp" => "examined without the lamp",
        "hand_full" => "took with a full hand",
        "lamp_without_object" => "used the lamp without the object",
        "left_closed" => "left a container closed",
        "left_target" => "left the place without using it",
        "no_door" => "tried to open something without a door",
        "not_at_place" => "acted on a place without being there",
        "not_holding" => "used an object without holding it",
        "nothing_happened" | "unclear" => "did what changes nothing",
        "number_missing" => "named things without their number",
        "object_not_here" => "tried to take an object that was not there",
        "only_thoughts" => "only thought",
        "placed_untreated" => "put the object down untreated",
        "circling" => "went in circles",
        "repeat" => "repeated an action that did nothing",
        "searched_again" => "searched the same places again",
        "took_back" => "took an object away from its destination",
        "unknown_action" => "used an unknown action",
        "unknown_place" => "tried to go to an unknown place",
        "wrong_appliance" => "used the wrong appliance",
        "wrong_form" => "worded the action wrongly",
        "wrong_object" => "took the wrong object",
        "wrong_treatment" => "treated the object wrongly",
        other => return other.replace('_', " "),
    };
    phrase.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_cause_prefers_specific_mistakes_over_nothing_happened() {
        let cause_of = |mistakes: &[(&str, u32)]| {
            let mistakes: Vec<_> = mistakes.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
            main_cause(&mistakes).map(str::to_owned)
        };
        assert_eq!(cause_of(&[]), None);
        assert_eq!(cause_of(&[("nothing_happened", 9)]).as_deref(), Some("nothing_happened"));
        let cause = cause_of(&[("container_closed", 2), ("nothing_happened", 9), ("wrong_object", 2)]);
        assert_eq!(cause.as_deref(), Some("container_closed"), "ties are broken by name");
        assert_eq!(cause_text("went_mad"), "went mad");
    }
}
