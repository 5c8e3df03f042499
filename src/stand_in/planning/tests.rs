//! Tests that the actor solves planning problems from the prompt alone, and that lessons save steps.

use crate::domain::{MessageRole, Prompt, Segment, SegmentLabel, SegmentOrigin};
use crate::env::Environment;
use crate::env::pddl::{Domain, GoalSeparator, generate};
use std::sync::Arc;

fn segment(label: SegmentLabel, text: String) -> Segment {
    Segment { label, origin: SegmentOrigin::Task, message_role: MessageRole::User, text: Arc::from(text) }
}

/// Plays a problem with the actor for at most `max_steps`. Returns whether it was won, and the number of steps.
fn play(task: &str, lessons: &[&str], max_steps: usize) -> (bool, usize) {
    let mut world = generate(&task.parse().unwrap()).unwrap().open(GoalSeparator::Comma);
    let first = world.reset().unwrap();
    let goal = first.shown["goal"].as_str().unwrap().to_owned();
    let mut segments: Vec<Segment> =
        lessons.iter().map(|lesson| segment(SegmentLabel::Error, format!("- {lesson}\n"))).collect();
    segments.push(segment(
        SegmentLabel::Task,
        format!("{}\nYour task is to: {goal}\n", first.observation.trim_end()),
    ));
    for step in 1..=max_steps {
        let action = super::super::tests::answer(&Prompt { segments: segments.clone() }, step as u64);
        let result = world.step(&action).unwrap();
        if result.won {
            return (true, step);
        }
        segments.push(segment(SegmentLabel::Action, format!("> {action}\n")));
        segments.push(segment(SegmentLabel::Observation, format!("{}\n", result.observation.trim_end())));
    }
    (false, max_steps)
}

#[test]
fn problems_of_every_domain_are_won_and_lessons_save_steps() {
    const LESSONS: [&str; 6] = [
        "Mistake: x Solution: Fill both hands before you move.",
        "Mistake: x Solution: Drop a ball only where it belongs.",
        "Mistake: x Solution: Use unstack for a block that lies on another. Put a block that is in the way on the table.",
        "Mistake: x Solution: Leave what you hold on the table between tasks. Clean a glass after it was emptied.",
        "Mistake: x Solution: Loosen a nut on the ground before you jack the hub up.",
        "Mistake: x Solution: Open a container first.",
    ];
    for domain in Domain::ALL {
        let (mut steps_without, mut steps_with) = (0, 0);
        for number in 1..=3 {
            let task = format!("{}/{number}", domain.word());
            let (won, steps) = play(&task, &LESSONS, 80);
            assert!(won, "{task} with lessons");
            steps_with += steps;
            steps_without += play(&task, &[], 80).1;
        }
        assert!(
            steps_with <= steps_without,
            "{domain:?}: {steps_with} steps with lessons, {steps_without} without"
        );
    }
}
