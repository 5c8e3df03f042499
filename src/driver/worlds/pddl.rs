//! PDDL problems: generated ones by name, and files by path.
//!
//! The task id of a pair of files is `DOMAIN.pddl::PROBLEM.pddl`, with full paths. Without a domain
//! (`::PROBLEM.pddl`), the problem names a built-in one.

use super::{WorldError, WorldOptions, read_file, to_env_error};
use crate::domain::Task;
use crate::env::pddl::{
    self, Difficulty, Domain, Game, GeneratedProblem, GoalSeparator, PddlEnvironment, ProblemOutline,
    ProblemSource, TaskId,
};
use crate::env::{EnvError, Environment};
use crate::pddl::SearchLimits;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Separates the two paths of a task id.
const PATH_SEPARATOR: &str = "::";
/// The limits of the search for a reference plan when a file is opened: some tens of milliseconds.
const REFERENCE_PLAN_LIMITS: SearchLimits = SearchLimits { states: 4_000, work: 12_000_000 };

/// Opens the environment of a task.
pub(super) fn open(task: &Task, options: &WorldOptions) -> Result<Box<dyn Environment>, EnvError> {
    if let Ok(id) = task.id.parse::<TaskId>() {
        return Ok(Box::new(generate_cached(id)?.open(options.goal_separator)));
    }
    open_files(&task.id, options)
}

/// Opens the environment of two files.
pub(super) fn open_files(id: &str, options: &WorldOptions) -> Result<Box<dyn Environment>, EnvError> {
    let files = PddlFiles::parse(id).and_then(|files| files.read_texts()).map_err(|e| to_env_error(&e))?;
    let game = Game::load(&files.source())?;
    let reference_plan = game.reference_plan(REFERENCE_PLAN_LIMITS);
    Ok(Box::new(PddlEnvironment::new(game, options.goal_separator, Some(reference_plan))))
}

/// Generates a problem. Caches the last one, because going back in an episode opens it again, and proving it
/// solvable takes a while.
fn generate_cached(id: TaskId) -> Result<GeneratedProblem, EnvError> {
    static LAST: Mutex<Option<GeneratedProblem>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = last.as_ref().filter(|cached| cached.id == id) {
        return Ok(cached.clone());
    }
    let generated = pddl::generate(&id)?;
    *last = Some(generated.clone());
    Ok(generated)
}

/// Returns the task of a name or of files. Reads the files, so that invalid ones don't create a session.
pub(super) fn find(text: &str, options: &WorldOptions) -> Result<Task, WorldError> {
    let id = text.parse::<TaskId>();
    match id {
        Ok(id) => Ok(pddl::task_without_goal(&id)),
        Err(bad) if !text.contains(PATH_SEPARATOR) && !Path::new(text).is_file() => Err(unknown_task(
            text,
            &format!("{bad}; nor is it a problem file, or DOMAIN.pddl{PATH_SEPARATOR}PROBLEM.pddl"),
        )),
        Err(_) => {
            let files = PddlFiles::parse(text)?;
            let outline = ProblemOutline::read(&files.read_texts()?.source())?;
            // The domain's word in task names, if it is one of the four.
            let known = Domain::from_name(&outline.domain);
            let task_type = known.map_or_else(|| outline.domain.clone(), |domain| domain.word().to_owned());
            let task_type = Some(task_type).filter(|domain| !domain.is_empty());
            let goal = outline.goal_text(options.goal_separator);
            Ok(Task { env: "pddl".to_owned(), id: files.id(), goal, task_type, difficulty: None, seed: 0 })
        }
    }
}

/// Returns the task id of two files.
pub fn task_id_from_files(domain: Option<&Path>, problem: &Path) -> String {
    let domain = domain.map(|path| path.display().to_string()).unwrap_or_default();
    format!("{domain}{PATH_SEPARATOR}{}", problem.display())
}

/// Returns warnings about the files of a task that can be played nevertheless.
pub(super) fn warnings(task: &Task) -> Vec<String> {
    if !task.id.contains(PATH_SEPARATOR) {
        return Vec::new();
    }
    let outline = PddlFiles::parse(&task.id)
        .and_then(|files| files.read_texts())
        .and_then(|texts| Ok(ProblemOutline::read(&texts.source())?));
    outline.map(|outline| outline.warnings()).unwrap_or_default()
}

/// Returns the tasks to list, with their goals.
pub(super) fn list_offered_tasks(joining: GoalSeparator) -> Result<Vec<Task>, WorldError> {
    Ok(pddl::offered_ids().map(|id| pddl::task(&id, joining)).collect::<Result<_, _>>()?)
}

/// Adds the missing goals of generated tasks.
pub(super) fn add_goals(tasks: &mut [Task], joining: GoalSeparator) -> Result<(), WorldError> {
    for task in tasks.iter_mut().filter(|task| task.env == "pddl" && task.goal.is_empty()) {
        if let Ok(id) = task.id.parse() {
            *task = pddl::task(&id, joining)?;
        }
    }
    Ok(())
}

/// Returns the tasks of a pattern such as `gripper/1-20`, `*/hard/1-5` or `barman/*/7`: `*` is every domain or
/// difficulty. The domains alternate, so that the first few tasks cover all of them. Returns `None` if the text is
/// not a pattern.
pub(super) fn expand_pattern(text: &str) -> Option<Vec<TaskId>> {
    let parts: Vec<&str> = text.strip_prefix("pddl/").unwrap_or(text).split('/').collect();
    let (domain, difficulty, numbers) = match parts[..] {
        [domain, numbers] => (domain, Difficulty::Normal.word(), numbers),
        [domain, difficulty, numbers] => (domain, difficulty, numbers),
        _ => return None,
    };
    let domains: Vec<Domain> =
        Domain::ALL.into_iter().filter(|d| domain == "*" || d.word() == domain).collect();
    let difficulties: Vec<Difficulty> =
        Difficulty::ALL.into_iter().filter(|d| difficulty == "*" || d.word() == difficulty).collect();
    let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    const MAX_PROBLEMS: u32 = 100_000;
    if domains.is_empty() || difficulties.is_empty() || last < first || last - first >= MAX_PROBLEMS {
        return None;
    }
    let mut ids = Vec::new();
    for difficulty in difficulties {
        for number in first..=last {
            ids.extend(domains.iter().map(|&domain| TaskId { domain, difficulty, number }));
        }
    }
    Some(ids)
}

/// A problem file and its domain file; `None` is a built-in domain.
struct PddlFiles {
    domain: Option<PathBuf>,
    problem: PathBuf,
}

impl PddlFiles {
    /// Parses the two paths. The files must exist.
    fn parse(text: &str) -> Result<Self, WorldError> {
        let (domain, problem) = text.split_once(PATH_SEPARATOR).unwrap_or(("", text));
        let canonical = |path: &str| {
            let path = PathBuf::from(path);
            path.canonicalize().map_err(|source| WorldError::Io { path, source })
        };
        let domain = if domain.is_empty() { None } else { Some(canonical(domain)?) };
        Ok(Self { domain, problem: canonical(problem)? })
    }

    fn id(&self) -> String {
        task_id_from_files(self.domain.as_deref(), &self.problem)
    }

    fn read_texts(&self) -> Result<PddlTexts, WorldError> {
        let problem = (self.problem.display().to_string(), read_file(&self.problem)?);
        if let Some(path) = &self.domain {
            return Ok(PddlTexts { domain: (path.display().to_string(), read_file(path)?), problem });
        }
        let name = declared_domain(&problem.1);
        let known = Domain::from_name(&name).ok_or_else(|| {
            let names: Vec<&str> = Domain::ALL.iter().map(|domain| domain.pddl_name()).collect();
            let why = format!(
                "it is for the domain {name:?}, which is not built in ({}); give its file with --domain",
                names.join(", ")
            );
            unknown_task(&problem.0, &why)
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

fn unknown_task(task: &str, why: &str) -> WorldError {
    WorldError::UnknownTask { env: "pddl".to_owned(), task: task.to_owned(), why: why.to_owned() }
}
