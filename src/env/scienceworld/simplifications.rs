//! The simplifications of the simulator: their names, and which tasks can't have them.

use super::task_types::TaskType;

/// Removes `connect` and `disconnect`.
const NO_ELECTRICAL_ACTION: &str = "noElectricalAction";
/// All names, as the simulator writes them.
const NAMES: [&str; 5] =
    ["teleportAction", "openDoors", "selfWateringFlowerPots", "openContainers", NO_ELECTRICAL_ACTION];
/// The simulator's word for all but `openContainers`; it leaves out what makes a task unsolvable.
const EASY: &str = "easy";

/// Returns the simplifications in the form that the simulator takes. Names are separated by commas; their case doesn't
/// matter.
///
/// # Errors
/// Returns which name is unknown, or that the task can't be solved with a simplification: the simulator doesn't check either.
pub(super) fn parse_simplifications(text: &str, task_type: &TaskType) -> Result<String, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case(EASY) {
        return Ok(EASY.to_owned());
    }
    let mut known = Vec::new();
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let name = NAMES.into_iter().find(|name| name.eq_ignore_ascii_case(word));
        let name = name.ok_or_else(|| {
            format!("unknown simplification {word:?}: choose {EASY} alone, or some of {}", NAMES.join(", "))
        })?;
        if name == NO_ELECTRICAL_ACTION && task_type.needs_wires() {
            return Err(format!("{} can't be solved with {name}: leave it out", task_type.name));
        }
        if !known.contains(&name) {
            known.push(name);
        }
    }
    Ok(known.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        let [boil, power] = ["boil", "power-component"].map(|name| TaskType::find(name).unwrap());
        let cases = [
            ("", Ok("")),
            (" , ", Ok("")),
            ("easy", Ok("easy")),
            (" EASY ", Ok("easy")),
            ("openDoors", Ok("openDoors")),
            (" opendoors , TELEPORTACTION,openDoors", Ok("openDoors,teleportAction")),
            ("noElectricalAction", Ok("noElectricalAction")),
            ("easy,openDoors", Err("unknown simplification \"easy\"")),
            ("open doors", Err("unknown simplification \"open doors\"")),
        ];
        for (text, expected) in cases {
            match (parse_simplifications(text, boil), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
        assert_eq!(parse_simplifications("easy", power).unwrap(), "easy");
        assert!(
            parse_simplifications("openDoors,noelectricalaction", power)
                .unwrap_err()
                .contains("power-component")
        );
    }
}
