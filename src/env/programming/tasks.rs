//! The exercises as tasks: those of a file of a data set, and our own.

use super::NAME;
use super::environment::{JudgeWhen, PlayOptions, ProgrammingEnvironment};
use super::exercise::{Exercise, looks_like_exercises, parse_exercises};
use super::judge::{HIDDEN_LIMIT, TEST_LIMIT, wait_limit};
use super::sandbox::{START_LIMIT, Sandbox};
use crate::domain::Task;
use crate::env::parsed_file::{ParsedFile, split_file_id};
use crate::env::{
    EnvError, Environment, EnvironmentOption, OptionValues, TaskAccess, TaskCheck, TaskError, TaskSource,
    TimeLimits,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// The file with the exercises.
pub const EXERCISES_OPTION: EnvironmentOption = EnvironmentOption {
    name: "programming.exercises",
    meaning: "the file with the exercises, one a line: HumanEval, MBPP or another one in their forms; by default a few exercises of our own",
    values: OptionValues::Path,
    variable: "PROGRAMMING_EXERCISES",
};
/// The interpreter.
pub const PYTHON_OPTION: EnvironmentOption = EnvironmentOption {
    name: "programming.python",
    meaning: "the Python 3 that runs the programs; by default that of the system",
    values: OptionValues::Path,
    variable: "RETROSPECT_PROGRAMMING_PYTHON",
};
/// Whether programs are run in a sandbox.
pub const SANDBOX_OPTION: EnvironmentOption = EnvironmentOption {
    name: "programming.sandbox",
    meaning: "whether programs run in a sandbox (`bubblewrap`) or as any other program of yours (`none`); set by the flag --unsandboxed alone",
    values: OptionValues::LocalWords(&["bubblewrap", NO_SANDBOX]),
    variable: "",
};
const NO_SANDBOX: &str = "none";
/// How many of the agent's tests are kept.
pub const MAX_TESTS_OPTION: EnvironmentOption = EnvironmentOption {
    name: "programming.max_tests",
    meaning: "how many of the agent's own tests are kept, at most 20; chosen by the run's seed",
    values: OptionValues::Number { minimum: 0, default: 1 },
    variable: "RETROSPECT_PROGRAMMING_MAX_TESTS",
};
/// When the hidden tests are run.
pub const JUDGE_OPTION: EnvironmentOption = EnvironmentOption {
    name: "programming.judge",
    meaning: "when the hidden tests judge a program with `retry_on=hidden`: `always`, or only if it passes the agent's own tests (`own-tests-passed`)",
    values: OptionValues::Words(JudgeWhen::WORDS),
    variable: "RETROSPECT_PROGRAMMING_JUDGE",
};

const MAX_TESTS: u64 = 20;
/// The type of the program's own exercises.
const OWN_TYPE: &str = "own";
const EXERCISES_HINT: &str =
    "name a file of HumanEval or MBPP with one exercise a line (docs/PROGRAMMING.md)";

/// The exercises that are part of the program.
static OWN_EXERCISES: LazyLock<Vec<Exercise>> =
    LazyLock::new(|| match parse_exercises(include_bytes!("own_exercises.jsonl")) {
        Ok(exercises) => exercises,
        // The file is part of the program, and a test parses it.
        Err((line, error)) => unreachable!("the program's own exercises don't parse: line {line}: {error}"),
    });
/// The type of the tasks of HumanEval, as published tables name it.
const HUMAN_EVAL: &str = "HumanEval";
/// The names, without ending, of files of HumanEval in Python: OpenAI's (164 exercises) and those of Reflexion's code (161 of them). Files of a smaller
/// part of them, such as `humaneval-py_hardest50`, keep their own name.
const HUMAN_EVAL_FILES: &[&str] = &["HumanEval", "human-eval", "humaneval-py"];
static EXERCISES: ParsedFile<Vec<Exercise>> = ParsedFile::new();

/// The tasks.
pub struct ProgrammingTasks;

fn load_exercises(path: &Path, access: TaskAccess) -> Result<Arc<Vec<Exercise>>, TaskError> {
    EXERCISES.load(path, access, |bytes| {
        parse_exercises(bytes).map_err(|(line, reason)| TaskError::List {
            path: path.to_owned(),
            line,
            reason,
        })
    })
}

/// Returns the exercise of a task, and the file that it is in. One of our own is found also if a file is set.
fn find_exercise(id: &str, access: TaskAccess) -> Result<(Exercise, Option<PathBuf>), TaskError> {
    let (file, exercise_id) = split_file_id(id, &EXERCISES_OPTION, access);
    let with_id = |known: &[Exercise]| known.iter().find(|exercise| exercise.id == exercise_id).cloned();
    if let Some(file) = &file
        && let Some(found) = with_id(&load_exercises(file, access)?)
    {
        return Ok((found, Some(file.clone())));
    }
    let place = file
        .map_or("among our own; programming.exercises names a file of others".to_owned(), |file| {
            format!("in {}", file.display())
        });
    let found = with_id(&OWN_EXERCISES).map(|exercise| (exercise, None));
    found.ok_or_else(|| TaskError::unknown_task(NAME, id, format!("no such exercise {place}")))
}

/// Returns the data set that a file's name stands for, which is the type of its tasks: one spelling for the names of HumanEval's
/// published files, and otherwise the name without its ending.
fn data_set_of(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.display().to_string();
    let is_human_eval = HUMAN_EVAL_FILES.iter().any(|name| stem.eq_ignore_ascii_case(name));
    Some(if is_human_eval { HUMAN_EVAL.to_owned() } else { stem })
}

/// Returns the task of an exercise in a file; `is_named` if its id must name the file.
fn task_of(exercise: &Exercise, file: Option<&Path>, is_named: bool) -> Task {
    let data_set = exercise.data_set.clone().or_else(|| file.and_then(data_set_of));
    let named = file.filter(|_| is_named);
    Task {
        env: NAME.to_owned(),
        id: named.map_or_else(|| exercise.id.clone(), |file| format!("{}#{}", file.display(), exercise.id)),
        goal: exercise.goal(),
        task_type: Some(data_set.unwrap_or_else(|| OWN_TYPE.to_owned())),
        difficulty: None,
        seed: 0,
    }
}

fn max_tests(access: TaskAccess) -> u64 {
    access.options.number(&MAX_TESTS_OPTION).min(MAX_TESTS)
}

fn find_sandbox(access: TaskAccess) -> Result<Sandbox, TaskError> {
    let is_closed = access.options.word(&SANDBOX_OPTION) != NO_SANDBOX;
    let sandbox = Sandbox::find(access.options.path(&PYTHON_OPTION), is_closed, access)?;
    sandbox.check()?;
    Ok(sandbox)
}

impl TaskSource for ProgrammingTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let (exercise, _) = find_exercise(&task.id, access).map_err(|error| error.to_env_error())?;
        if let Some(what) = exercise.refusal() {
            return Err(EnvError::Refused { what });
        }
        let sandbox = find_sandbox(access).map_err(|error| error.to_start_error())?;
        let options = PlayOptions {
            max_tests: usize::try_from(max_tests(access)).unwrap_or(usize::MAX),
            judge_when: JudgeWhen::from_word(access.options.word(&JUDGE_OPTION)),
            seed: access.options.seed,
        };
        Ok(Box::new(ProgrammingEnvironment::new(exercise, sandbox, options)))
    }

    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        let text = text.strip_prefix("programming/").unwrap_or(text);
        let (exercise, file) = find_exercise(text, access)?;
        // Where no program can be run, no session is created.
        find_sandbox(access)?;
        Ok(task_of(&exercise, file.as_deref(), text.contains('#')))
    }

    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        let Some(path) = access.options.path(&EXERCISES_OPTION) else {
            return Ok(OWN_EXERCISES.iter().map(|exercise| task_of(exercise, None, false)).collect());
        };
        let exercises = load_exercises(path, access)?;
        Ok(exercises.iter().map(|exercise| task_of(exercise, Some(path), false)).collect())
    }

    fn default_tasks(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        find_sandbox(access)?;
        Ok(self.list(access)?.into_iter().take(1).collect())
    }

    fn tasks_of_file(
        &self,
        list: &Path,
        bytes: &[u8],
        access: TaskAccess,
    ) -> Option<Result<Vec<Task>, TaskError>> {
        if !looks_like_exercises(bytes) {
            return None;
        }
        let file = access.absolute_path(list);
        let exercises = load_exercises(&file, access);
        Some(
            exercises
                .map(|found| found.iter().map(|exercise| task_of(exercise, Some(&file), true)).collect()),
        )
    }

    /// Returns the task as it is: nothing of an exercise is random.
    fn with_seed(&self, task: Task, _: u64) -> Task {
        task
    }

    fn time_limits(&self, access: TaskAccess) -> Option<TimeLimits> {
        let start = START_LIMIT;
        let one_test = (start + wait_limit(TEST_LIMIT)).saturating_mul(2);
        let tests = one_test.saturating_mul(u32::try_from(max_tests(access)).unwrap_or(u32::MAX));
        let step = tests.saturating_add(start).saturating_add(wait_limit(HIDDEN_LIMIT));
        Some(TimeLimits { open: start, step: step.max(start + wait_limit(TEST_LIMIT)), list: start })
    }

    fn is_external(&self) -> bool {
        true
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let exercises = match access.options.path(&EXERCISES_OPTION) {
            None => format!("{} exercises of our own", OWN_EXERCISES.len()),
            Some(path) => match load_exercises(path, access) {
                Ok(found) => format!("{} exercises in {}", found.len(), path.display()),
                Err(error) => {
                    return Some(TaskCheck::Broken { detail: error.to_string(), hint: EXERCISES_HINT });
                }
            },
        };
        Some(match find_sandbox(access) {
            Ok(sandbox) if sandbox.is_closed => {
                TaskCheck::Ok(format!("{exercises}; programs run under bubblewrap"))
            }
            Ok(_) => TaskCheck::Ok(format!("{exercises}; programs run WITHOUT a sandbox")),
            Err(TaskError::NoData { what, hint }) => TaskCheck::Missing { detail: what, hint },
            Err(error) => TaskCheck::Broken { detail: error.to_string(), hint: EXERCISES_HINT },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_exercises_can_be_judged() {
        assert_eq!(OWN_EXERCISES.len(), 10);
        for exercise in OWN_EXERCISES.iter() {
            assert_eq!(exercise.refusal(), None, "{}", exercise.id);
            assert!(exercise.solution.is_some() && exercise.entry_point.is_some(), "{}", exercise.id);
        }
    }

    #[test]
    fn files_of_human_eval_have_one_type() {
        for (file, data_set) in [
            ("/data/HumanEval.jsonl", "HumanEval"),
            ("humaneval-py.jsonl", "HumanEval"),
            ("/data/human-eval.jsonl", "HumanEval"),
            ("humaneval-py_hardest50.jsonl", "humaneval-py_hardest50"),
            ("mbpp-py.jsonl", "mbpp-py"),
        ] {
            assert_eq!(data_set_of(Path::new(file)).as_deref(), Some(data_set), "{file}");
        }
    }

    /// Regression: they shared one type, and so one row of a report.
    #[test]
    fn the_data_sets_of_one_file_have_a_type_each() {
        let row = |id: &str| format!(r#"{{"task_id":{id},"prompt":"p","test":"t"}}"#);
        let types = |ids: &[&str]| {
            let rows: Vec<String> = ids.iter().map(|id| row(id)).collect();
            let exercises = parse_exercises(rows.join("\n").as_bytes()).unwrap();
            let task_type =
                |exercise| task_of(exercise, Some(Path::new("/data/all.jsonl")), true).task_type.unwrap();
            exercises.iter().map(task_type).collect::<Vec<_>>()
        };
        let mixed = [
            r#""HumanEval/0""#,
            "11",
            r#""HumanEval_3_has_close""#,
            r#""mbpp_3_is_not_prime""#,
            r#""is_odd""#,
        ];
        assert_eq!(types(&mixed), ["HumanEval", "mbpp", "HumanEval", "mbpp", "all"]);
        // A file of one data set has the name that tells it from others of that data set.
        assert_eq!(types(&mixed[1..2]), ["all"]);
        assert_eq!(types(&[mixed[0], mixed[2]]), ["all", "all"]);
    }

    #[test]
    fn a_task_names_its_file_only_if_a_list_does() {
        let exercise = &OWN_EXERCISES[0];
        let file = Path::new("/data/mbpp-py.jsonl");
        let ids = [(None, false), (Some(file), false), (Some(file), true)]
            .map(|(file, is_named)| task_of(exercise, file, is_named));
        assert_eq!(ids[0].id, "count-steps");
        assert_eq!(ids[1].id, "count-steps");
        assert_eq!(ids[2].id, "/data/mbpp-py.jsonl#count-steps");
        assert_eq!(ids.map(|task| task.task_type.unwrap()), ["own", "mbpp-py", "mbpp-py"]);
    }
}
