//! Why an episode was lost, as far as its detectors show, for lists that group many episodes.

/// Returns the mistake that best explains an episode: the one noted most often, ties broken by name. "Nothing happened"
/// counts only if no note says why.
pub fn main_cause(mistakes: &[(String, u32)]) -> Option<&str> {
    let most = |plain: bool| {
        let of = mistakes.iter().filter(|m| plain == matches!(m.0.as_str(), "nothing_happened" | "unclear"));
        of.fold(None, |best: Option<&(String, u32)>, m| match best {
            Some(b) if b.1 >= m.1 => Some(b),
            _ => Some(m),
        })
    };
    most(false).or_else(|| most(true)).map(|m| m.0.as_str())
}

/// Describes a detector's finding as a phrase that follows "n episodes"; falls back to the detector's name.
pub fn cause_text(detector: &str) -> String {
    let words = match detector {
        "already_closed" => "closed what was closed",
        "already_open" => "opened what was open",
        "already_there" => "went where they were",
        "cannot_take" => "took what cannot be taken",
        "cannot_treat" => "heated, cooled or cleaned what cannot be",
        "container_closed" => "never opened the container",
        "does_not_fit" => "put it where it does not fit",
        "examined_without_lamp" => "examined without the lamp",
        "hand_full" => "took with a full hand",
        "lamp_without_object" => "used the lamp without the object",
        "left_closed" => "left a container closed",
        "left_target" => "left the place without using it",
        "no_door" => "opened what has no door",
        "not_at_place" => "acted on a place they were not at",
        "not_holding" => "used what they did not hold",
        "nothing_happened" | "unclear" => "did what changes nothing",
        "number_missing" => "named things without their number",
        "object_not_here" => "took what was not there",
        "only_thoughts" => "only thought",
        "placed_untreated" => "put it down untreated",
        "circling" => "went in circles",
        "repeat" => "repeated what did nothing",
        "searched_again" => "searched the same places again",
        "took_back" => "took back what was in place",
        "unknown_action" => "used words the world does not know",
        "unknown_place" => "went to places that are not there",
        "wrong_appliance" => "used the wrong appliance",
        "wrong_form" => "worded the action wrongly",
        "wrong_object" => "took the wrong object",
        "wrong_treatment" => "treated the object wrongly",
        other => return other.replace('_', " "),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_what_says_why() {
        let of = |all: &[(&str, u32)]| {
            let all: Vec<_> = all.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
            main_cause(&all).map(str::to_owned)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("nothing_happened", 9)]).as_deref(), Some("nothing_happened"));
        let cause = of(&[("container_closed", 2), ("nothing_happened", 9), ("wrong_object", 2)]);
        assert_eq!(cause.as_deref(), Some("container_closed"), "of equal ones the first by name");
        assert_eq!(cause_text("went_mad"), "went mad");
    }
}
