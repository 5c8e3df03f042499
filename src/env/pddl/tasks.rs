//! PDDL problems: generated ones by name, and files by path.
//!
//! The task id of a pair of files is `DOMAIN.pddl::PROBLEM.pddl`, with full paths. Without a domain
//! (`::PROBLEM.pddl`), the problem names a built-in one.

use super::label_problem::{domain_of_label, problem_of_label};
use super::{
    Difficulty, Domain, Game, GeneratedProblem, GoalSeparator, NAME, PddlEnvironment, ProblemOutline,
    ProblemSource, TaskId, generate, offered_ids, task, task_without_goal,
};
use crate::domain::Task;
use crate::env::task_name::{parse_range, select};
use crate::env::{
    EnvError, Environment, EnvironmentOption, Label, LabelSource, OptionValues, TaskAccess, TaskError,
    TaskSource,
};
use crate::pddl::SearchLimits;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Separates the two paths of a task id.
const PATH_SEPARATOR: &str = "::";
/// The limits of the search for a reference plan when a file is opened: some tens of milliseconds.
const REFERENCE_PLAN_LIMITS: SearchLimits = SearchLimits { states: 4_000, work: 12_000_000 };

/// The number of the first calibration problem of a domain.
const FIRST_CALIBRATION_NUMBER: u32 = 900_001;

/// How goals are joined; see [`GoalSeparator`].
pub const GOAL_OPTION: EnvironmentOption = EnvironmentOption {
    name: "pddl.goal",
    meaning: "how the sentences of a PDDL goal are joined: `comma`, as in AgentBoard's code, or `blank` (a space), as in its labels",
    values: OptionValues::Words(&["comma", "blank"]),
    variable: "RETROSPECT_PDDL_GOAL",
};

fn goal_separator(access: TaskAccess) -> GoalSeparator {
    if access.options.word(&GOAL_OPTION) == "blank" { GoalSeparator::Space } else { GoalSeparator::Comma }
}

/// Generated problems by name, and problem files.
pub struct PddlTasks;

impl TaskSource for PddlTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        if let Ok(id) = task.id.parse::<TaskId>() {
            return Ok(Box::new(generate_cached(id)?.open(goal_separator(access))));
        }
        open_files(&task.id, access)
    }

    /// Returns the task of a name or of files. Reads the files, so that invalid ones don't create a session.
    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let id = text.parse::<TaskId>();
        match id {
            Ok(id) => Ok(task_without_goal(&id)),
            Err(bad) if !text.contains(PATH_SEPARATOR) && !access.files.is_file(Path::new(text)) => {
                Err(TaskError::unknown_task(
                    NAME,
                    text,
                    format!("{bad}; nor is it a problem file, or DOMAIN.pddl{PATH_SEPARATOR}PROBLEM.pddl"),
                ))
            }
            Err(_) => {
                let files = ProblemFiles::parse(text, access)?;
                let outline = ProblemOutline::read(&files.read_texts(access)?.source())?;
                // The domain's word in task names, if it is one of the four.
                let known = Domain::from_name(&outline.domain);
                let task_type =
                    known.map_or_else(|| outline.domain.clone(), |domain| domain.word().to_owned());
                let task_type = Some(task_type).filter(|domain| !domain.is_empty());
                let goal = outline.goal_text(goal_separator(access));
                Ok(Task { env: NAME.to_owned(), id: files.id(), goal, task_type, difficulty: None, seed: 0 })
            }
        }
    }

    fn list(&self, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(offered_ids().map(|id| task_without_goal(&id)).collect())
    }

    /// Adds the goal of a generated task; that of files is known from the start.
    fn add_goal(&self, known: Task, access: TaskAccess) -> Result<Task, TaskError> {
        match known.id.parse() {
            Ok(id) => Ok(task(&id, goal_separator(access))?),
            Err(_) => Ok(known),
        }
    }

    /// Returns `tasks_per_kind` problems of normal difficulty of every domain, with numbers that no list shows.
    fn list_calibration(&self, tasks_per_kind: usize, _: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let tasks_per_kind = u32::try_from(tasks_per_kind).unwrap_or(u32::MAX - FIRST_CALIBRATION_NUMBER);
        let numbers = FIRST_CALIBRATION_NUMBER..FIRST_CALIBRATION_NUMBER.saturating_add(tasks_per_kind);
        let ids = numbers.flat_map(|number| {
            Domain::ALL.map(|domain| TaskId { domain, difficulty: Difficulty::Normal, number })
        });
        Ok(ids.map(|id| task_without_goal(&id)).collect())
    }

    fn list_split(&self, split: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let why = "the environment has no splits; use --tasks 'gripper/1-20' for a set";
        Err(TaskError::unknown_split(NAME, split, why))
    }

    fn expand_set(&self, text: &str, _: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        Ok(expand_pattern(text).map(|ids| ids.iter().map(task_without_goal).collect()))
    }

    fn set_forms(&self) -> Option<&'static str> {
        Some(
            "a set such as `gripper/1-20`, `*/hard/1-5` or `barman/*/7` (gripper|blockworld|barman|tyreworld|*, \
             easy|normal|hard|*, numbers)",
        )
    }

    fn labels(&self) -> Option<&'static dyn LabelSource> {
        Some(&Self)
    }

    fn warnings(&self, task: &Task, access: TaskAccess) -> Vec<String> {
        if !task.id.contains(PATH_SEPARATOR) {
            return Vec::new();
        }
        let outline = ProblemFiles::parse(&task.id, access)
            .and_then(|files| files.read_texts(access))
            .and_then(|texts| Ok(ProblemOutline::read(&texts.source())?));
        outline.map(|outline| outline.warnings()).unwrap_or_default()
    }
}

/// A label's number selects a problem file of AgentBoard.
impl LabelSource for PddlTasks {
    fn complete_task(&self, label: &Label, task: &mut Task) -> Result<(), String> {
        task.task_type = Some(domain_of_label(label)?.word().to_owned());
        Ok(())
    }

    fn check_playable(&self, label: &Label, access: TaskAccess) -> Result<(), String> {
        problem_of_label(label, access).map(drop)
    }

    fn open(&self, label: &Label, access: TaskAccess) -> Result<Box<dyn Environment>, String> {
        let id = task_id_from_files(None, &problem_of_label(label, access)?);
        open_files(&id, access).map_err(|e| e.to_string())
    }
}

/// Opens the environment of two files.
fn open_files(id: &str, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
    let files = ProblemFiles::parse(id, access)
        .and_then(|files| files.read_texts(access))
        .map_err(|e| e.to_env_error())?;
    let game = Game::load(&files.source())?;
    let reference_plan = game.reference_plan(REFERENCE_PLAN_LIMITS);
    Ok(Box::new(PddlEnvironment::new(game, goal_separator(access), Some(reference_plan))))
}

/// Generates a problem. Caches the last one, because going back in an episode opens it again, and proving it
/// solvable takes a while.
fn generate_cached(id: TaskId) -> Result<GeneratedProblem, EnvError> {
    static LAST: Mutex<Option<GeneratedProblem>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = last.as_ref().filter(|cached| cached.id == id) {
        return Ok(cached.clone());
    }
    let generated = generate(&id)?;
    *last = Some(generated.clone());
    Ok(generated)
}

/// Returns the task id of two files.
pub fn task_id_from_files(domain: Option<&Path>, problem: &Path) -> String {
    let domain = domain.map(|path| path.display().to_string()).unwrap_or_default();
    format!("{domain}{PATH_SEPARATOR}{}", problem.display())
}

/// Returns the tasks of a pattern such as `gripper/1-20`, `*/hard/1-5` or `barman/*/7`: `*` is every domain or
/// difficulty. The domains alternate, so that the first few tasks cover all of them. Returns `None` if the text is
/// not a pattern.
fn expand_pattern(text: &str) -> Option<Vec<TaskId>> {
    let parts: Vec<&str> = text.strip_prefix("pddl/").unwrap_or(text).split('/').collect();
    let (domain, difficulty, numbers) = match parts[..] {
        [domain, numbers] => (domain, Difficulty::Normal.word(), numbers),
        [domain, difficulty, numbers] => (domain, difficulty, numbers),
        _ => return None,
    };
    let domains = select(domain, &Domain::ALL, Domain::word)?;
    let numbers = parse_range::<u32>(numbers)?;
    let mut ids = Vec::new();
    for difficulty in select(difficulty, &Difficulty::ALL, Difficulty::word)? {
        for number in numbers.clone() {
            ids.extend(domains.iter().map(|&domain| TaskId { domain, difficulty, number }));
        }
    }
    Some(ids)
}

/// A problem file and its domain file; `None` is a built-in domain.
struct ProblemFiles {
    domain: Option<PathBuf>,
    problem: PathBuf,
}

impl ProblemFiles {
    /// Parses the two paths. The files must exist.
    fn parse(text: &str, access: TaskAccess) -> Result<Self, TaskError> {
        let (domain, problem) = text.split_once(PATH_SEPARATOR).unwrap_or(("", text));
        let canonical = |path: &str| {
            let path = PathBuf::from(path);
            access.files.canonicalize(&path).map_err(|source| TaskError::Io { path, source })
        };
        let domain = if domain.is_empty() { None } else { Some(canonical(domain)?) };
        Ok(Self { domain, problem: canonical(problem)? })
    }

    fn id(&self) -> String {
        task_id_from_files(self.domain.as_deref(), &self.problem)
    }

    fn read_texts(&self, access: TaskAccess) -> Result<PddlTexts, TaskError> {
        let problem = (self.problem.display().to_string(), access.read(&self.problem)?);
        if let Some(path) = &self.domain {
            return Ok(PddlTexts { domain: (path.display().to_string(), access.read(path)?), problem });
        }
        let name = declared_domain(&problem.1);
        let known = Domain::from_name(&name).ok_or_else(|| {
            let names: Vec<&str> = Domain::ALL.iter().map(|domain| domain.pddl_name()).collect();
            let why = format!(
                "it is for the domain {name:?}, which is not built in ({}); give its file with --domain",
                names.join(", ")
            );
            TaskError::unknown_task(NAME, &problem.0, why)
        })?;
        let domain = (format!("the built-in domain {}", known.word()), known.pddl_text().as_bytes().to_vec());
        Ok(PddlTexts { domain, problem })
    }
}

/// Returns the word after `:domain` without parsing the rest, whose syntax is checked later.
fn declared_domain(problem: &[u8]) -> String {
    let text = String::from_utf8_lossy(problem).to_ascii_lowercase();
    let uncommented = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let mut words =
        uncommented.flat_map(|line| line.split(|c: char| c.is_whitespace() || c == '(' || c == ')'));
    let mut after =
        words.by_ref().skip_while(|word| *word != ":domain").skip(1).filter(|word| !word.is_empty());
    after.next().unwrap_or_default().chars().take(100).collect()
}

/// The contents of two files, with their names.
struct PddlTexts {
    domain: (String, Vec<u8>),
    problem: (String, Vec<u8>),
}

impl PddlTexts {
    fn source(&self) -> ProblemSource<'_> {
        ProblemSource {
            domain_label: &self.domain.0,
            domain: &self.domain.1,
            problem_label: &self.problem.0,
            problem: &self.problem.1,
        }
    }
}
