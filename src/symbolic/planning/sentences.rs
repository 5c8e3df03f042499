//! The sentences drawn from notes about planning problems.

use crate::domain::Note;

/// Returns a lesson about the domain in general, as its rule and its sentence.
pub(in crate::symbolic) fn abstract_lesson(note: &Note) -> Option<(String, String)> {
    let text = match note.detector.as_str() {
        "carried_two" => "Carry a ball in each hand before you move to another room.",
        "shook" => "Pour both ingredients of a cocktail into the shaker before you shake it.",
        "undid" => "Loosen a nut on the ground, then jack the hub up, then undo the nut.",
        "unstacked" => {
            "Take a block that lies on another one with unstack, from the top of a tower downwards."
        }
        _ => return None,
    };
    Some((format!("abstract.{}", note.detector), text.to_owned()))
}

/// Returns the mistake behind a detector of planning problems, and what to do instead.
pub(in crate::symbolic) fn error_lesson(detector: &str) -> Option<(&'static str, &'static str)> {
    Some(match detector {
        "not_understood" => (
            "Used words in which the world found no action that can be done now.",
            "Name an action of the list and all of its objects in their order; check valid actions lists what can be done.",
        ),
        "not_now" => (
            "Tried an action whose conditions do not hold.",
            "Make the conditions of an action true before you take it.",
        ),
        "undone" => {
            ("Undid a condition of the goal that already held.", "Leave alone what the goal has reached.")
        }
        "not_in_the_room" => {
            ("Reached for a ball from another room.", "Move to the room before you pick or drop there.")
        }
        "hand_not_free" => (
            "Tried to pick up a ball with a hand that carries one.",
            "Use the free hand, or drop what you carry where it belongs first.",
        ),
        "ball_not_here" => {
            ("Tried to pick up a ball that lies elsewhere.", "Look where a ball lies before you pick it up.")
        }
        "ball_not_carried" => (
            "Tried to drop a ball that this hand does not carry.",
            "Drop a ball with the hand that carries it.",
        ),
        "ball_not_wanted" => {
            ("Picked up a ball that the goal does not name.", "Pick up only balls that the goal moves.")
        }
        "wrong_drop" => (
            "Dropped a ball in a room where it does not belong.",
            "Drop a ball only in the room that the goal names for it.",
        ),
        "hand_left_free" => (
            "Moved with a free hand while another ball waited in the room.",
            "Fill both hands before you move to another room.",
        ),
        "arm_full" => (
            "Tried to take a block while holding another.",
            "Put down or stack what you hold before you take another block.",
        ),
        "pickup_for_unstack" => (
            "Used pickup for a block that lies on another one.",
            "Use unstack for a block that lies on another, pickup for one on the table.",
        ),
        "unstack_for_pickup" => (
            "Used unstack for a block that lies on the table.",
            "Use pickup for a block on the table, unstack for one that lies on another.",
        ),
        "block_below_another" => {
            ("Reached for a block that has another one on it.", "Take away what lies on a block first.")
        }
        "block_not_held" => ("Tried to stack a block that is not held.", "Take a block before you stack it."),
        "wrong_stack" => (
            "Stacked a block where the goal does not want it.",
            "Put a block that is in the way on the table.",
        ),
        "two_towers" => (
            "Built the upper part of a tower before its lower part stood.",
            "Build a tower from the bottom; towers cannot be put on each other.",
        ),
        "stacked_back" => (
            "Stacked a block back where it was just taken from.",
            "Put an unstacked block on the table or where the goal wants it.",
        ),
        "did_not_leave" => (
            "Needed an empty hand while both held something.",
            "Leave what you hold on the table between tasks.",
        ),
        "both_hands_full" => (
            "Grasped something with the second hand too, which most actions need empty.",
            "Leave one thing before you grasp the next.",
        ),
        "glass_not_held" => {
            ("Used a glass or shaker that is not in the hand.", "Grasp a glass or shaker before you use it.")
        }
        "glass_not_empty" => ("Filled a glass that was not empty.", "Empty a glass before you fill it."),
        "not_clean" => (
            "Used a glass or shaker that was not clean.",
            "Clean a glass after it was emptied, and empty and clean the shaker before the next cocktail.",
        ),
        "ingredients_missing" => (
            "Shook without both ingredients in the shaker.",
            "Pour both ingredients into the shaker before you shake it.",
        ),
        "wrong_ingredient" => (
            "Poured an ingredient into the shaker that no wanted cocktail mixes with what is in it.",
            "Pour only the two parts of one cocktail that is still wanted.",
        ),
        "boot_closed" => (
            "Reached into a closed container.",
            "Open a container before you fetch from it or put something away.",
        ),
        "tool_missing" => {
            ("Started work without its tool.", "Fetch wrench, jack or pump before the work that needs it.")
        }
        "hub_in_the_air" => (
            "Turned a nut while the hub was jacked up.",
            "Loosen and tighten nuts while the hub is on the ground.",
        ),
        "hub_on_the_ground" => (
            "Worked on a wheel while the hub was on the ground.",
            "Jack the hub up before you undo the nut or change the wheel.",
        ),
        "nut_tight" => {
            ("Tried to undo a nut that is tight.", "Loosen a nut on the ground before you jack the hub up.")
        }
        "nut_on" => (
            "Tried to change a wheel while its nut was on.",
            "Undo the nut before you take the wheel off or put one on.",
        ),
        "not_needed" => (
            "Fetched something that the rest of the goal does not need.",
            "Fetch only the tools and wheels that the goal needs.",
        ),
        _ => return None,
    })
}
