//! The wording of facts and actions: one table for every domain, taken from AgentBoard, including its mistakes.
//!
//! Each `{}` is replaced by the next argument; surplus arguments are omitted (so `holding` in barman mentions only the
//! hand). Trailing full stops and spaces are part of the text. Anything that is not in the table is written as its name
//! and arguments.

/// Sentence templates of facts.
const FACT_SENTENCES: &[(&str, &str)] = &[
    ("on", "{} is on {}."),
    ("arm-empty", "Your arm is empty."),
    ("on-table", "{} is on the table."),
    ("clear", "The {} is clear."),
    ("holding", "You are holding {}. "),
    ("at-robby", "Robby is at {}. "),
    ("at", "{} is at {}. "),
    ("ball", "{} is a ball. "),
    ("gripper", "{} is a gripper. "),
    ("free", "{} is free. "),
    ("carry", "{} is carrying {}. "),
    ("ontable", "{} is on the table. "),
    ("empty", "{} is empty. "),
    ("contains", "{} contains {}. "),
    ("clean", "{} is clean. "),
    ("used", "Pour {} from a shot glass to a used shaker {}"),
    ("dispenses", "{} dispenses {}. "),
    ("shaker-empty-level", "{} is at empty level {}. "),
    ("shaker-level", "{} is at level {}. "),
    ("next", "level {} is next to level {}. "),
    ("unshaked", "{} is unshaked. "),
    ("shaked", "{} is shaked. "),
    ("cocktail-part1", "{} part1 ingredient is {}. "),
    ("cocktail-part2", "{} part2 ingredient is {}. "),
    ("isopen", "{} is open."),
    ("closed", "{} is closed."),
    ("have", "You have {}."),
    ("in", "{} is in {}."),
    ("loose", "The nut {} on the hub {} is loose."),
    ("tight", "The nut {} on the hub {} is tight."),
    ("unlocked", "{} is unlocked."),
    ("on-ground", "Hub {} is on the ground."),
    ("not-on-ground", "Hub {} is not on the ground."),
    ("inflated", "Wheel {} is inflated."),
    ("not-inflated", "Wheel {} is not inflated."),
    ("fastened", "Hub {} is fastened."),
    ("unfastened", "Hub {} is unfastened."),
    ("intact", "Wheel {} is intact."),
];

/// Sentence templates of actions.
const ACTION_SENTENCES: &[(&str, &str)] = &[
    ("move", "Move from {} to {}. "),
    ("pick", "Pick up {} at {} with arm {}. "),
    ("pickup", "Pickup {}."),
    ("putdown", "Putdown {}."),
    ("stack", "Stack {} on {}."),
    ("unstack", "Unstack {} from {}."),
    ("grasp", "{} grasp {}. "),
    ("leave", "{} leave {}. "),
    ("fill-shot", "fill-shot glass {} with {} with {} and {} holding {}. "),
    ("refill-shot", "refill-shot {} with {} with {} and {} holding {}. "),
    ("empty-shot", "use hand {} to empty-shot glass {} with beverage {}. "),
    ("clean-shot", "clean-shot glass {} with {} with hand {} holding shot glass and {}. "),
    (
        "pour-shot-to-clean-shaker",
        "pour-shot-to-clean-shaker from a shot glass {} with {} to a clean shaker {} with hand {} from level {} to level {}",
    ),
    (
        "pour-shot-to-used-shaker",
        "pour-shot-to-used-shaker from a shot glass {} with {} to a used shaker {} with hand {} from level {} to level {}",
    ),
    ("empty-shaker", "use hand {} to empty-shaker {} with ingredient {} from level {} to level {}."),
    ("clean-shaker", "use hand {} and hand {} to clean-shaker {}"),
    (
        "shake",
        "shake a cocktail {} with ingredient {} and ingredient {} in a shaker {} with hand {} and hand {}",
    ),
    (
        "pour-shaker-to-shot",
        "pour-shaker-to-shot to a shot glass {} the ingredient {} with hand {} from shaker {} from level {} to level {}",
    ),
    ("open", "Open {}."),
    ("close", "Close {}."),
    ("fetch", "Fetch {} from {}."),
    ("put-away", "Put-away {} in {}."),
    ("loosen", "Loosen the nut {} on the hub {}."),
    ("tighten", "Tighten the nut {} on the hub {}."),
    ("jack-up", "jack-up the hub {}."),
    ("jack-down", "Jack-down the hub {}."),
    ("undo", "Undo the fastening of the nut {} on the hub {}."),
    ("do-up", "Do-up the nut {} on the hub {}."),
    ("remove-wheel", "Remove-wheel {} from the hub {}."),
    ("put-on-wheel", "put-on-wheel {} on the hub {}."),
    ("inflate", "Inflate the wheel {}."),
];

/// Returns the template of a fact with `arity` arguments, or `None` if the fact is written as its name and arguments.
pub(super) fn fact_sentence(name: &str, arity: usize) -> Option<&'static str> {
    find_sentence(FACT_SENTENCES, name).filter(|sentence| hole_count(sentence) <= arity)
}

/// Returns the template of an action. A template that would lose an argument is not used, because listed actions must
/// be parseable.
pub(super) fn action_sentence(name: &str, arity: usize) -> Option<&'static str> {
    find_sentence(ACTION_SENTENCES, name).filter(|sentence| hole_count(sentence) == arity)
}

/// Appends the sentence for these arguments, or the name and the arguments if there is no template.
pub(super) fn write_sentence<'a>(
    sentence: Option<&str>,
    name: &str,
    arguments: impl Iterator<Item = &'a str>,
    out: &mut String,
) {
    let Some(sentence) = sentence else {
        out.push_str(name);
        for argument in arguments {
            out.push(' ');
            out.push_str(argument);
        }
        return;
    };
    let mut pieces = sentence.split("{}");
    out.push_str(pieces.next().unwrap_or_default());
    for (piece, argument) in pieces.zip(arguments) {
        out.push_str(argument);
        out.push_str(piece);
    }
}

/// Makes the first letter upper case and all others lower case. PDDL texts are ASCII.
pub(super) fn capitalise(sentence: &mut str) {
    sentence.make_ascii_lowercase();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
}

fn find_sentence(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, sentence)| sentence)
}

fn hole_count(sentence: &str) -> usize {
    sentence.matches("{}").count()
}
