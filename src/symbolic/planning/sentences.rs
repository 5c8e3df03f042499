//! The sentences drawn from notes about planning problems.

use crate::domain::{Note, Scope};
use crate::symbolic::common_lessons;
use crate::symbolic::environment_rules::{LessonTemplate, abstract_lesson, error_lesson};

/// Returns what a note teaches about the domain in general.
pub(in crate::symbolic) fn abstract_lessons(note: &Note) -> Vec<LessonTemplate> {
    let text = match note.detector.as_str() {
        "carried_two" => "Carry a ball in each hand before you move to another room.",
        "shook" => "Pour both ingredients of a cocktail into the shaker before you shake it.",
        "undid" => "Loosen a nut while its hub is on the ground, then jack up the hub, then undo the nut.",
        "unstacked" => "Use unstack to take a block off another one, starting at the top of the tower.",
        _ => return Vec::new(),
    };
    abstract_lesson(note, Scope::TaskType, text)
}

/// Returns the mistake a note shows, and what to do instead.
pub(in crate::symbolic) fn error_lessons(note: &Note) -> Vec<LessonTemplate> {
    let (mistake, solution) = match note.detector.as_str() {
        "not_understood" => (
            "Wrote something that matches no action possible now.",
            "Write an action from the list with all of its objects in order; check valid actions lists what you can do.",
        ),
        "not_now" => (
            "Tried an action whose preconditions did not hold.",
            "Make an action's preconditions true before you take it.",
        ),
        "undone" => {
            ("Undid a goal condition that already held.", "Do not undo goal conditions that already hold.")
        }
        "not_in_the_room" => (
            "Tried to pick or drop a ball in another room.",
            "Move to the room before you pick or drop a ball there.",
        ),
        "hand_not_free" => (
            "Tried to pick up a ball with a hand that already held one.",
            "Use the free hand, or first drop the ball you carry where it belongs.",
        ),
        "ball_not_here" => (
            "Tried to pick up a ball that was somewhere else.",
            "Check where a ball is before you pick it up.",
        ),
        "ball_not_carried" => (
            "Tried to drop a ball that this hand did not carry.",
            "Drop a ball with the hand that carries it.",
        ),
        "ball_not_wanted" => {
            ("Picked up a ball the goal doesn't mention.", "Pick up only balls that the goal wants moved.")
        }
        "wrong_drop" => (
            "Dropped a ball in a room where it did not belong.",
            "Drop a ball only in the room where the goal wants it.",
        ),
        "hand_left_free" => (
            "Moved with a free hand while another ball waited in the room.",
            "Fill both hands before you move to another room.",
        ),
        "arm_full" => (
            "Tried to take a block while holding another.",
            "Put down or stack the block you hold before you take another.",
        ),
        "pickup_for_unstack" => (
            "Used pickup for a block that was on another one.",
            "Use unstack for a block on another block, and pickup for one on the table.",
        ),
        "unstack_for_pickup" => (
            "Used unstack for a block that was on the table.",
            "Use pickup for a block on the table, and unstack for one on another block.",
        ),
        "block_below_another" => {
            ("Tried to take a block that had another one on it.", "First remove what is on top of a block.")
        }
        "block_not_held" => {
            ("Tried to stack a block without holding it.", "Take a block before you stack it.")
        }
        "wrong_stack" => (
            "Stacked a block where the goal doesn't want it.",
            "Put a block that is in the way on the table.",
        ),
        "two_towers" => (
            "Built the upper part of a tower before the lower part.",
            "Build a tower from the bottom up; a tower cannot be put on another one.",
        ),
        "stacked_back" => (
            "Stacked a block back where it had just come from.",
            "Put an unstacked block on the table, or where the goal wants it.",
        ),
        "did_not_leave" => {
            ("Tried to use a hand that was still full.", "Leave what you hold on the table between tasks.")
        }
        "both_hands_full" => (
            "Grasped something with the second hand too, although most actions need it empty.",
            "Leave one container before you grasp the next.",
        ),
        "glass_not_held" => (
            "Tried to use a glass or shaker without holding it.",
            "Grasp a glass or shaker before you use it.",
        ),
        "glass_not_empty" => {
            ("Tried to fill a glass that was not empty.", "Empty a glass before you fill it.")
        }
        "not_clean" => (
            "Tried to use a glass or shaker that was not clean.",
            "Clean a glass after you empty it, and empty and clean the shaker before the next cocktail.",
        ),
        "ingredients_missing" => (
            "Tried to shake without both ingredients in the shaker.",
            "Pour both ingredients into the shaker before you shake it.",
        ),
        "wrong_ingredient" => (
            "Poured in an ingredient that no cocktail still needed mixes with what is in the shaker.",
            "Pour in only the two ingredients of one cocktail that is still needed.",
        ),
        "boot_closed" => (
            "Tried to reach into a closed container.",
            "Open a container before you fetch something from it or put something away.",
        ),
        "tool_missing" => (
            "Tried to work without the right tool.",
            "Fetch the wrench, jack or pump before the work that needs it.",
        ),
        "hub_in_the_air" => (
            "Tried to loosen or tighten a nut while the hub was jacked up.",
            "Loosen and tighten nuts while the hub is on the ground.",
        ),
        "hub_on_the_ground" => (
            "Tried to work on a wheel while the hub was on the ground.",
            "Jack up the hub before you undo the nut or change the wheel.",
        ),
        "nut_tight" => {
            ("Tried to undo a nut that was still tight.", "Loosen a nut before you jack up its hub.")
        }
        "nut_on" => (
            "Tried to change a wheel while its nut was still on.",
            "Undo the nut before you take a wheel off or put one on.",
        ),
        "not_needed" => (
            "Fetched something that the rest of the goal doesn't need.",
            "Fetch only the tools and wheels that the goal needs.",
        ),
        _ => return common_lessons::error_lessons(note),
    };
    error_lesson(note, Scope::TaskType, mistake, solution)
}
