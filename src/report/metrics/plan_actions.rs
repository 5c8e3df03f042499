//! Which actions a plan in prose tells the agent to take.

/// A plan as clauses of words, without those that only say what not to do or what went wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlanActions {
    clauses: Vec<Vec<String>>,
}

/// Words of clauses that forbid an action or report it.
const NOT_PRESCRIBING: &[&str] = &[
    "not", "don't", "didn't", "won't", "can't", "cannot", "never", "avoid", "without", "instead", "tried",
    "failed", "mistake",
];

/// How many other words may stand between two words of an action: `take the first egg 1` contains `take egg 1`.
const MAX_GAP: usize = 2;

impl PlanActions {
    /// Parses a plan. A clause ends at a mark other than those inside a word, or at the word `then`.
    pub(super) fn parse(plan: &str) -> Self {
        let text = plan.to_lowercase().replace('’', "'");
        let sentences = text.split(['.', ',', ';', ':', '!', '?', '\n', '(', ')']);
        let clauses = sentences
            .map(words)
            .flat_map(|words| words.split(|word| word == "then").map(Vec::from).collect::<Vec<_>>());
        let prescribes = |clause: &Vec<String>| !clause.iter().any(|w| NOT_PRESCRIBING.contains(&w.as_str()));
        Self { clauses: clauses.filter(prescribes).collect() }
    }

    /// Returns whether the plan tells the agent to take this action: one clause has all of its words in order, almost
    /// without others between them. A number belongs to the word before it.
    pub(super) fn has(&self, action: &str) -> bool {
        let action = words(&action.to_lowercase());
        !action.is_empty() && self.clauses.iter().any(|clause| contains_in_order(clause, &action))
    }
}

/// Splits a text into words; a number becomes part of the word before it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let is_edge = |c: char| !c.is_alphanumeric();
    for word in text.split_whitespace().map(|word| word.trim_matches(is_edge)).filter(|w| !w.is_empty()) {
        match words.last_mut() {
            Some(last) if word.chars().all(|c| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn contains_in_order(clause: &[String], action: &[String]) -> bool {
    let starts = (0..clause.len()).filter(|start| clause[*start] == action[0]);
    starts.into_iter().any(|start| {
        let mut at = start + 1;
        action[1..].iter().all(|word| {
            let window = &clause[at.min(clause.len())..(at + MAX_GAP + 1).min(clause.len())];
            let found = window.iter().position(|candidate| candidate == word);
            at += found.map_or(0, |index| index + 1);
            found.is_some()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_the_actions_that_it_tells_the_agent_to_take() {
        let plan = PlanActions::parse(
            "I took egg 1 too late and tried to open drawer 1. Next time I'll take the egg 1 from countertop 1, \
             go to microwave 1 and heat egg 1 with microwave 1. Don't go to garbagecan 1 before that; never use \
             desklamp 1! Then put egg 1 in/on garbagecan 12 (look).",
        );
        for action in
            ["take egg 1 from countertop 1", "go to microwave 1", "heat egg 1 with microwave 1", "look"]
        {
            assert!(plan.has(action), "{action}");
        }
        for action in [
            "open drawer 1",
            "go to garbagecan 1",
            "use desklamp 1",
            "put egg 1 in/on garbagecan 1",
            "take egg 12 from countertop 1",
            "go to egg 1",
            "",
        ] {
            assert!(!plan.has(action), "{action}");
        }
    }
}
