//! Finds the problem file of a PDDL label: AgentBoard numbers problems consecutively across its four
//! domains; within a domain they are sorted by file name.

use super::{Domain, GoalSeparator, ProblemOutline, ProblemSource};
use crate::env::{Label, TaskAccess};
use std::path::{Path, PathBuf};

/// Where AgentBoard keeps problems, relative to a folder that a person might give.
const PROBLEM_FOLDERS: [&str; 5] = [
    "",
    "problems",
    "pddlgym/pddl",
    "environment/pddl_env/pddlgym/pddl",
    "agentboard/environment/pddl_env/pddlgym/pddl",
];

/// Returns the index of a domain's first label in AgentBoard's file, and the number of its labels.
const fn label_range(domain: Domain) -> (usize, usize) {
    match domain {
        Domain::Gripper => (0, 20),
        Domain::Blockworld => (20, 10),
        Domain::Barman => (30, 20),
        Domain::Tyreworld => (50, 10),
    }
}

/// Returns the domain that a label names.
pub(super) fn domain_of_label(label: &Label) -> Result<Domain, String> {
    let name = label.info_text("subtask")?;
    Domain::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Domain::ALL.iter().map(|domain| domain.word()).collect();
        format!("`additional_info.subtask` is {name:?}; supported are {}", known.join(", "))
    })
}

/// Returns the problem file of a label, searching below the data folder and beside the label file. The
/// problem's goal must equal the label's.
pub(super) fn problem_of_label(label: &Label, access: TaskAccess) -> Result<PathBuf, String> {
    let domain = domain_of_label(label)?;
    let (first, count) = label_range(domain);
    let index = label.number.checked_sub(first).filter(|index| *index < count).ok_or_else(|| {
        format!(
            "`id` {} is out of range for {}: AgentBoard uses {first} to {}",
            label.number,
            domain.word(),
            first + count - 1
        )
    })?;
    let bases = access.options.data.iter().map(PathBuf::as_path).chain(label.file.parent());
    let folders: Vec<PathBuf> = bases
        .flat_map(|base| PROBLEM_FOLDERS.map(|subfolder| base.join(subfolder).join(domain.word())))
        .collect();
    let Some((folder, files)) = folders
        .iter()
        .map(|folder| (folder, problem_files(folder, access)))
        .find(|(_, files)| !files.is_empty())
    else {
        return Err(format!(
            "the problems of {0} were not found: set --data to the folder that contains {0}/*.pddl (as in AgentBoard's \
             pddlgym/pddl), or put them beside the label file",
            domain.word()
        ));
    };
    let file = files.get(index).ok_or_else(|| {
        format!(
            "the label needs file {index} (counted from 0) of {}, which has only {} files",
            folder.display(),
            files.len()
        )
    })?;
    let text = access.read(file).map_err(|e| e.to_string())?;
    let (problem_name, domain_name) =
        (file.display().to_string(), format!("the built-in domain {}", domain.word()));
    let source = ProblemSource {
        domain_label: &domain_name,
        domain: domain.pddl_text().as_bytes(),
        problem_label: &problem_name,
        problem: &text,
    };
    let goal = ProblemOutline::read(&source).map_err(|e| e.to_string())?.goal_text(GoalSeparator::Space);
    if goal_words(&goal) != goal_words(label.goal) {
        return Err(format!("the goal of {problem_name} differs from the label's: {goal:?}"));
    }
    Ok(file.clone())
}

/// Returns the words of a goal, however its sentences are joined.
fn goal_words(goal: &str) -> Vec<&str> {
    goal.split([' ', ',']).filter(|word| !word.is_empty()).collect()
}

/// Returns the problem files of a folder, sorted by name.
fn problem_files(folder: &Path, access: TaskAccess) -> Vec<PathBuf> {
    let is_problem = |path: &PathBuf| {
        path.extension().is_some_and(|e| e == "pddl") && path.file_stem().is_some_and(|s| s != "domain")
    };
    let mut found: Vec<PathBuf> = access.files.list(folder).into_iter().filter(is_problem).collect();
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}
