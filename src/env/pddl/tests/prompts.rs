//! The actions in the texts of prompts are actions of the environment.

use super::super::{GoalSeparator, World, generate};
use crate::env::played_attempts::attempts;

/// The problems in which the failed attempts of each domain were played.
const ATTEMPTS: [(&str, [&str; 2]); 4] = [
    ("gripper", ["gripper/easy/900021", "gripper/easy/900022"]),
    ("blockworld", ["blockworld/easy/900022", "blockworld/900023"]),
    ("barman", ["barman/easy/900021", "barman/easy/900022"]),
    ("tyreworld", ["tyreworld/easy/900022", "tyreworld/easy/900021"]),
];

fn text(name: &str) -> String {
    let file: toml::Table = toml::from_str(include_str!("../prompts/pddl.toml")).unwrap();
    file["texts"][name].as_str().unwrap().to_owned()
}

fn open(task: &str) -> World {
    World::new(generate(&task.parse().unwrap()).unwrap().game)
}

#[test]
fn failed_attempts_in_prompts_are_those_of_the_environment() {
    for (domain, tasks) in ATTEMPTS {
        for name in ["failures", "tips", "experiences"] {
            let attempts = attempts(&text(&format!("{name}.{domain}")));
            assert_eq!(attempts.len(), tasks.len(), "{name}.{domain}");
            for (attempt, task) in attempts.iter().zip(tasks) {
                let mut world = open(task);
                let goal = world.game().goal_text(GoalSeparator::Comma);
                let mut transcript =
                    format!("{}\nYour task is to: {}\n", world.restart().trim_end(), goal.trim_end());
                for line in attempt.lines().filter_map(|line| line.strip_prefix("> ")) {
                    let answer =
                        if line.starts_with("think:") { "OK." } else { world.play(line).observation };
                    transcript.extend(["> ", line, "\n", answer.trim_end(), "\n"]);
                }
                assert_eq!(attempt.trim_end(), transcript.trim_end(), "{name}.{domain}: {task}");
                assert!(!world.is_won(), "{name}.{domain}: {task}");
            }
        }
    }
}

/// Returns whether a text is an action of a problem's domain: the name of one and, in any order, as many other words as it
/// has objects.
fn is_action(world: &World, text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').collect();
    let mut named = words.iter().filter_map(|word| world.game().listing.action_named(word));
    named.next().is_some_and(|action| world.game().task().parameters(action).len() + 1 == words.len())
}

#[test]
fn programs_in_prompts_name_actions_of_the_environment() {
    for (domain, [task, _]) in ATTEMPTS {
        let world = open(task);
        assert!(!is_action(&world, "look at ball1") && !is_action(&world, "check"), "{domain}");
        let program = text(&format!("program.{domain}"));
        let lines = program.lines().skip_while(|line| !line.starts_with('#'));
        let actions: Vec<&str> = lines
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.rsplit("else: ").next().unwrap().trim())
            .collect();
        assert!(actions.len() >= 5, "{program}");
        for action in actions {
            assert!(is_action(&world, action), "program.{domain}: {action}");
        }
    }
}
