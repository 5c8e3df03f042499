//! PDDL problems by name, by pattern and by path.

use super::*;
use crate::env::pddl::task_id_from_files as pddl_files;

/// A problem of the built-in gripper domain that names another domain.
const PROBLEM: &str =
    "(define (problem p) (:domain carriers) (:objects rooma roomb) (:init (room rooma) (room roomb)
    (at-robby rooma)) (:goal (at-robby roomb)))";

fn selected_ids(list: &str) -> Vec<String> {
    select_tasks("pddl", &select_list(list), &TaskOptions::default())
        .unwrap()
        .into_iter()
        .map(|task| task.id)
        .collect()
}

#[test]
fn patterns_alternate_between_the_domains() {
    assert_eq!(selected_ids("gripper/2-3"), ["gripper/2", "gripper/3"]);
    assert_eq!(selected_ids("*/hard/7")[..2], ["gripper/hard/7", "blockworld/hard/7"]);
    assert_eq!(selected_ids("barman/*/1"), ["barman/easy/1", "barman/1", "barman/hard/1"]);
    let error = select_tasks("pddl", &select_list("chess/1-2"), &TaskOptions::default()).unwrap_err();
    assert!(error.to_string().contains("*/hard/1-5"), "{error}");
    let nothing = select_tasks("pddl", &Selection::default(), &TaskOptions::default()).unwrap();
    assert_eq!(ids(&nothing), ["gripper/easy/1"]);
}

#[test]
fn the_id_of_a_file_task_finds_the_files_again() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let domain = write("domain.pddl", crate::env::pddl::Domain::Gripper.pddl_text());
    let problem = write("problem.pddl", PROBLEM);
    let options = TaskOptions {
        chosen: [(crate::env::pddl::GOAL_OPTION.name, "blank".to_owned())].into(),
        ..TaskOptions::default()
    };
    let task = find("pddl", &pddl_files(Some(&domain), &problem), &options).unwrap();
    assert_eq!(task.goal, "The goal is to satisfy the following conditions: Robby is at roomb. ");
    assert_eq!(task.task_type.as_deref(), Some("gripper"));
    assert_eq!(
        warnings(&task, &options),
        ["the problem is for the domain \"carriers\", but the domain file is \"gripper-strips\""]
    );
    let mut world = open(&find("pddl", &task.id, &options).unwrap(), &options).unwrap();
    let first = world.reset().unwrap();
    assert_eq!(
        (first.shown["goal"].as_str(), first.truth["plan"].as_u64()),
        (Some(task.goal.as_str()), Some(1))
    );
    assert!(world.step("move from rooma to roomb").unwrap().won);
    // Without a domain file the domain must be built in.
    let error = find("pddl", &pddl_files(None, &problem), &options).unwrap_err();
    assert!(error.to_string().contains("\"carriers\", which is not built in"), "{error}");
    let ours = write("ours.pddl", &PROBLEM.replace("carriers", "gripper-strips"));
    let task = find("pddl", &pddl_files(None, &ours), &options).unwrap();
    assert!(warnings(&task, &options).is_empty() && open(&task, &options).is_ok());
    let error = find("pddl", &pddl_files(Some(&problem), &problem), &options).unwrap_err();
    assert!(error.to_string().contains("PDDL domain, line 1"), "{error}");
}
