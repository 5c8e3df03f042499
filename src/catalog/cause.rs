//! Why an episode was lost, as far as its detectors show, for lists that group many episodes.

use super::find_environment;
use crate::domain::Note;
use crate::symbolic::COMMON_DETECTORS;

/// Describes the mistake that best explains an episode of an environment, as a phrase that follows "n episodes": the one noted
/// most often, ties broken by name. "Nothing happened" counts only if no note gives a reason. `None` without mistakes.
pub fn main_cause(environment: &str, mistakes: &[(String, u32)]) -> Option<String> {
    let most_frequent = |is_vague: bool| {
        let candidates = mistakes
            .iter()
            .filter(|m| is_vague == [Note::NOTHING_HAPPENED, Note::UNCLEAR].contains(&m.0.as_str()));
        candidates.fold(None, |best: Option<&(String, u32)>, m| match best {
            Some(b) if b.1 >= m.1 => Some(b),
            _ => Some(m),
        })
    };
    let (name, _) = most_frequent(false).or_else(|| most_frequent(true))?;
    let own = find_environment(environment).map_or(&[][..], |entry| entry.rules.detectors);
    let detector = own.iter().chain(COMMON_DETECTORS).find(|detector| detector.name == *name);
    let phrase = detector.map(|detector| detector.cause).filter(|cause| !cause.is_empty());
    Some(phrase.map_or_else(|| name.replace('_', " "), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_cause_prefers_specific_mistakes_over_nothing_happened() {
        let cause_of = |mistakes: &[(&str, u32)]| {
            let mistakes: Vec<_> = mistakes.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
            main_cause("household", &mistakes)
        };
        assert_eq!(cause_of(&[]), None);
        assert_eq!(cause_of(&[("nothing_happened", 9)]).as_deref(), Some("did what changes nothing"));
        let cause = cause_of(&[("container_closed", 2), ("nothing_happened", 9), ("wrong_object", 2)]);
        assert_eq!(cause.as_deref(), Some("never opened the container"), "ties are broken by name");
        assert_eq!(cause_of(&[("went_mad", 1)]).as_deref(), Some("went mad"));
        assert_eq!(cause_of(&[("only_thoughts", 1)]).as_deref(), Some("only thought"));
    }
}
