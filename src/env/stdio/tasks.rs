//! The tasks of a program.

use super::connection::Connection;
use super::environment::{OWN_CHOICE, StdioEnvironment};
use super::message::{Fields, optional_count, optional_text, required_text, wrong_type};
use crate::domain::Task;
use crate::env::{
    EnvError, Environment, ExternalProgram, TaskAccess, TaskCheck, TaskError, TaskSource, TimeLimits,
};
use serde_json::{Map, Value, json};

/// The maximum number of tasks of one reply, and of all replies.
const PAGE_TASKS: u64 = 4_096;
const MAX_TASKS: usize = 100_000;
/// What to do if there is no program.
const PROGRAM_HINT: &str = "give its command after `--`, as in `retrospect run --env stdio -- python3 bridge.py`, or as \
                            [environments.NAME] in the configuration (docs/ENVIRONMENTS.md)";

/// The tasks of the program that is configured for an environment.
pub struct StdioTasks {
    /// The name of the environment.
    pub env: &'static str,
}

impl StdioTasks {
    fn program<'a>(&self, access: TaskAccess<'a>) -> Result<&'a ExternalProgram, TaskError> {
        access.options.programs.get(self.env).ok_or_else(|| TaskError::NoData {
            what: format!("the environment {} has no program on this machine", self.env),
            hint: PROGRAM_HINT,
        })
    }

    fn connect(&self, access: TaskAccess) -> Result<Connection, TaskError> {
        Ok(Connection::open(self.program(access)?)?)
    }

    fn task(&self, id: &str, access: TaskAccess) -> Task {
        Task {
            env: self.env.to_owned(),
            id: id.to_owned(),
            goal: String::new(),
            task_type: None,
            difficulty: None,
            seed: access.options.seed,
        }
    }

    /// Asks a program for its tasks. Without a split, for all; a program that lists none chooses one itself.
    fn ask_for_tasks(
        &self,
        connection: &mut Connection,
        split: Option<&str>,
        max: usize,
        access: TaskAccess,
    ) -> Result<Vec<Task>, EnvError> {
        if !connection.notes.hello.capabilities.tasks {
            return Ok(vec![self.task(OWN_CHOICE, access)]);
        }
        let mut tasks = Vec::new();
        let mut offset = 0;
        while tasks.len() < max {
            let mut fields = Map::new();
            if let Some(split) = split {
                fields.insert("split".to_owned(), json!(split));
            }
            if offset > 0 {
                fields.insert("offset".to_owned(), json!(offset));
            }
            fields.insert("limit".to_owned(), json!(PAGE_TASKS.min((max - tasks.len()) as u64)));
            let limit = connection.limits.tasks;
            let (page, next) = connection.ask("tasks", &Value::Object(fields), limit, |fields| {
                let next = optional_count(&fields, "next")?;
                if next.is_some_and(|next| next <= offset) {
                    return Err(wrong_type("next", fields.get("next"), "a later offset"));
                }
                let page = read_tasks(&fields, |id| self.task(id, access))?;
                if page.is_empty() && next.is_some() {
                    return Err(
                        "`next` after an empty page: a page that isn't the last has at least one task"
                            .to_owned(),
                    );
                }
                Ok((page, next))
            })?;
            tasks.extend(page);
            match next {
                Some(next) => offset = next,
                None => break,
            }
        }
        tasks.truncate(max);
        Ok(tasks)
    }
}

fn read_tasks(fields: &Fields, new_task: impl Fn(&str) -> Task) -> Result<Vec<Task>, String> {
    let Some(Value::Array(rows)) = fields.get("tasks") else {
        return Err(wrong_type("tasks", fields.get("tasks"), "a list of tasks"));
    };
    let read = |row: &Value| {
        let Value::Object(row) = row else { return Err(wrong_type("tasks", Some(row), "a list of objects")) };
        Ok(Task {
            goal: optional_text(row, "goal")?.unwrap_or_default(),
            task_type: optional_text(row, "type")?,
            difficulty: match row.get("difficulty") {
                Some(Value::Number(level)) => Some(level.to_string()),
                _ => optional_text(row, "difficulty")?,
            },
            ..new_task(&required_text(row, "id")?)
        })
    };
    rows.iter().map(read).collect()
}

impl TaskSource for StdioTasks {
    fn open(&self, task: &Task, access: TaskAccess) -> Result<Box<dyn Environment>, EnvError> {
        let program = self.program(access).map_err(|error| error.to_env_error())?;
        Ok(Box::new(StdioEnvironment::new(Connection::open(program)?, task)))
    }

    fn find(&self, text: &str, access: TaskAccess) -> Result<Task, TaskError> {
        // The program isn't started for it: it rejects an unknown task when the episode begins.
        self.program(access)?;
        Ok(self.task(text, access))
    }

    fn list(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(self.ask_for_tasks(&mut self.connect(access)?, None, MAX_TASKS, access)?)
    }

    fn default_tasks(&self, access: TaskAccess) -> Result<Vec<Task>, TaskError> {
        Ok(self.ask_for_tasks(&mut self.connect(access)?, None, 1, access)?)
    }

    fn list_split(&self, split: &str, access: TaskAccess) -> Result<Option<Vec<Task>>, TaskError> {
        let mut connection = self.connect(access)?;
        if !connection.notes.hello.capabilities.tasks {
            return Ok(None);
        }
        let tasks = self.ask_for_tasks(&mut connection, Some(split), MAX_TASKS, access)?;
        if tasks.is_empty() {
            return Err(TaskError::unknown_split(self.env, split, "the program has no tasks in it"));
        }
        Ok(Some(tasks))
    }

    fn time_limits(&self, access: TaskAccess) -> Option<TimeLimits> {
        let limits = self.program(access).map(|program| program.limits).unwrap_or_default();
        // Taking a snapshot may first drop another one, and ends with a look at the state.
        let snapshots = limits.snapshot.saturating_mul(2).saturating_add(limits.peek);
        let extended = |limit: std::time::Duration| limit.saturating_add(snapshots);
        Some(TimeLimits {
            // A reset lists the actions, and is repeated if that changes the environment.
            open: extended(
                limits.hello.saturating_add(limits.reset.saturating_mul(2)).saturating_add(limits.list),
            ),
            // A step that is only tried is followed by its undoing, which looks at the state as well.
            step: extended(limits.step).saturating_add(limits.snapshot).saturating_add(limits.peek),
            list: extended(limits.list.max(limits.peek))
                .saturating_add(limits.snapshot)
                .saturating_add(limits.peek),
        })
    }

    fn end_idle_processes(&self) {
        super::connection::end_idle_programs();
    }

    fn lacks_command(&self, access: TaskAccess) -> bool {
        self.program(access).is_err()
    }

    fn is_external(&self) -> bool {
        true
    }

    fn check(&self, access: TaskAccess) -> Option<TaskCheck> {
        let program = self.program(access).ok()?;
        Some(match Connection::open(program) {
            Ok(connection) => TaskCheck::Ok(connection.notes.hello.describe()),
            Err(error) => TaskCheck::Broken {
                detail: format!("{}: {error}", program.words.join(" ")),
                hint: "run the command by hand and send it a hello line (docs/ENVIRONMENTS.md)",
            },
        })
    }
}
