//! A program as an environment.

use super::connection::{Connection, Feature};
use super::message::{Fields, optional_flag, quote, required_text, text_list, wrong_type};
use super::step_reply::StepReply;
use crate::domain::{EnvInfo, ListingCost, StepResult, Task, VERBS, merge_patch};
use crate::env::{EnvError, Environment, Snapshot};
use crate::text::one_line;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The id of the task that the program chooses itself.
pub(super) const OWN_CHOICE: &str = "default";
/// The maximum number of actions in a list.
const MAX_ACTIONS: usize = 100_000;
/// The maximum number of actions that are asked for after a reset, and of words with which they may begin: where there are more, the
/// first word of an action is no verb.
const MAX_FIRST_ACTIONS: usize = 1_000;
const MAX_VERBS: usize = 100;

/// An environment that is a program.
pub(super) struct StdioEnvironment {
    /// Shared, because taking a snapshot doesn't change the environment.
    connection: RefCell<Connection>,
    task: Task,
    /// Whether a list of actions was seen to change the environment.
    listing_changes_world: bool,
    /// Whether looking at the environment was seen to change it.
    peek_changes_world: RefCell<bool>,
    /// What the last reply added, which nothing interprets.
    info: Value,
}

/// A snapshot that the program keeps. It is valid only in the process that has taken it.
struct ProgramSnapshot {
    id: Arc<str>,
    /// What `peek` showed when it was taken, if that doesn't change the environment.
    known: Option<Value>,
}

impl StdioEnvironment {
    pub(super) fn new(connection: Connection, task: &Task) -> Self {
        Self {
            connection: RefCell::new(connection),
            task: task.clone(),
            listing_changes_world: false,
            peek_changes_world: RefCell::new(false),
            info: Value::Null,
        }
    }

    /// Asks what is known about the environment. `None` if the program doesn't say, or if asking changes something.
    fn look(&self, connection: &mut Connection) -> Result<Option<Map<String, Value>>, EnvError> {
        if !connection.notes.hello.capabilities.peek || *self.peek_changes_world.borrow() {
            return Ok(None);
        }
        let limit = connection.limits.peek;
        let (known, is_pure) = connection.ask("peek", &Value::Null, limit, |fields| read_peek(&fields))?;
        *self.peek_changes_world.borrow_mut() |= !is_pure;
        Ok(Some(known))
    }

    /// The same where nobody asks for it: a failure is reported by the next request.
    fn look_silently(&self, connection: &mut Connection) -> Option<Map<String, Value>> {
        self.look(connection).ok().flatten()
    }

    /// Begins the episode.
    fn begin(&mut self) -> Result<StepResult, EnvError> {
        let connection = self.connection.get_mut();
        let mut fields = Map::new();
        if connection.notes.hello.capabilities.tasks || self.task.id != OWN_CHOICE {
            fields.insert("task".to_owned(), json!(self.task.id));
        }
        fields.insert("seed".to_owned(), json!(self.task.seed));
        fields.insert("options".to_owned(), json!({}));
        let limit = connection.limits.reset;
        let reply = connection.ask("reset", &Value::Object(fields), limit, StepReply::from_fields)?;
        Ok(self.take_reply(reply))
    }

    fn list_actions(&mut self, max: usize) -> Result<Vec<String>, EnvError> {
        let connection = self.connection.get_mut();
        if !connection.notes.hello.capabilities.valid_actions {
            return Ok(Vec::new());
        }
        let limit = connection.limits.list;
        let (actions, is_pure) =
            connection.ask("valid_actions", &json!({ "limit": max }), limit, |fields| {
                Ok((text_list(&fields, "actions", max)?, optional_flag(&fields, "pure")?))
            })?;
        self.listing_changes_world |= is_pure == Some(false);
        Ok(actions)
    }

    fn lists_actions_freely(&self) -> bool {
        self.info().listing_cost == ListingCost::Free
            && !self.connection.borrow().has_given_up(Feature::Lists)
    }

    /// Returns the words with which the actions begin that are possible now; none if there are too many.
    fn list_verbs(&mut self) -> Result<Vec<String>, EnvError> {
        let actions = match self.list_actions(MAX_FIRST_ACTIONS) {
            Err(EnvError::Refused { .. }) => Vec::new(),
            // After the restart the episode begins without a list.
            Err(error) => {
                self.connection.get_mut().give_up(Feature::Lists);
                return Err(error);
            }
            Ok(actions) => actions,
        };
        let words = actions.iter().filter_map(|action| action.split_whitespace().next());
        let words: BTreeSet<&str> = words.collect();
        let is_list_of_verbs = words.len() <= MAX_VERBS;
        Ok(words.into_iter().filter(|_| is_list_of_verbs).map(str::to_owned).collect())
    }

    fn take_reply(&mut self, reply: StepReply) -> StepResult {
        self.info = reply.info;
        reply.result
    }
}

impl Environment for StdioEnvironment {
    fn info(&self) -> EnvInfo {
        let connection = self.connection.borrow();
        let hello = &connection.notes.hello;
        EnvInfo {
            snapshots: connection.takes_snapshots(),
            deterministic: hello.deterministic == Some(true),
            listing_cost: if self.listing_changes_world {
                ListingCost::ChangesWorld
            } else {
                hello.listing_cost
            },
        }
    }

    fn reset(&mut self) -> Result<StepResult, EnvError> {
        let mut result = self.begin()?;
        if result.shown.get(VERBS).is_some() || !self.lists_actions_freely() {
            return Ok(result);
        }
        let verbs = self.list_verbs()?;
        if self.listing_changes_world {
            result = self.begin()?;
        }
        if !verbs.is_empty() {
            merge_patch(&mut result.shown, &json!({ VERBS: verbs }));
        }
        Ok(result)
    }

    fn step(&mut self, action: &str) -> Result<StepResult, EnvError> {
        let connection = self.connection.get_mut();
        let limit = connection.limits.step;
        let reply = connection.ask("step", &json!({ "action": action }), limit, StepReply::from_fields)?;
        Ok(self.take_reply(reply))
    }

    fn admissible(&mut self) -> Result<Vec<String>, EnvError> {
        self.list_actions(MAX_ACTIONS)
    }

    fn hint(&mut self) -> Result<Option<String>, EnvError> {
        let connection = self.connection.get_mut();
        if !connection.notes.hello.capabilities.hint {
            return Ok(None);
        }
        let limit = connection.limits.list;
        let hint = connection.ask("hint", &Value::Null, limit, |fields| required_text(&fields, "hint"));
        Ok(Some(one_line(&hint?).into_owned()))
    }

    fn is_hint_risky(&self) -> bool {
        self.connection.borrow().notes.hello.capabilities.hint
    }

    fn world_summary(&self) -> Value {
        let known = self.look_silently(&mut self.connection.borrow_mut());
        let mut summary = known.unwrap_or_default();
        if !self.info.is_null() {
            summary.entry("info").or_insert_with(|| self.info.clone());
        }
        Value::Object(summary)
    }

    fn peek(&self) -> Result<Option<Value>, EnvError> {
        Ok(self.look(&mut self.connection.borrow_mut())?.map(Value::Object))
    }

    fn snapshot(&self) -> Option<Snapshot> {
        if !self.info().snapshots {
            return None;
        }
        let mut connection = self.connection.borrow_mut();
        make_room(&mut connection).ok()?;
        let limit = connection.limits.snapshot;
        let id = connection.ask("snapshot", &Value::Null, limit, |fields| required_text(&fields, "snapshot"));
        let Ok(id) = id else {
            // A failure is reported by the next request; after the restart the program is used without snapshots.
            connection.give_up(Feature::Snapshots);
            return None;
        };
        let id: Arc<str> = id.into();
        connection.notes.snapshots.push_back(id.clone());
        let known = self.look_silently(&mut connection).filter(|_| !*self.peek_changes_world.borrow());
        Some(Snapshot(Box::new(ProgramSnapshot { id, known: known.map(Value::Object) })))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<(), EnvError> {
        let connection = self.connection.get_mut();
        let is_kept = |snapshot: &&ProgramSnapshot| {
            connection.notes.snapshots.iter().any(|kept| Arc::ptr_eq(kept, &snapshot.id))
        };
        let Some(ProgramSnapshot { id, known }) = snapshot.0.downcast_ref().filter(is_kept) else {
            return Err(EnvError::Refused { what: "the program no longer has this snapshot".to_owned() });
        };
        let (fields, limit) = (json!({ "snapshot": **id }), connection.limits.snapshot);
        connection.ask("restore", &fields, limit, |_| Ok(()))?;
        let Some(known) = known else { return Ok(()) };
        let limit = connection.limits.peek;
        connection.ask("peek", &Value::Null, limit, |fields| {
            let now = Value::Object(read_peek(&fields)?.0);
            let [before, after] = [known, &now].map(|value| quote(&value.to_string()));
            if now == *known {
                Ok(())
            } else {
                Err(format!("it shows {after} after `restore`, but {before} before"))
            }
        })
    }

    fn snapshots_need_check(&self) -> bool {
        true
    }
}

/// Returns what is known, and whether asking for it has changed nothing.
fn read_peek(fields: &Fields) -> Result<(Map<String, Value>, bool), String> {
    let is_pure = optional_flag(fields, "pure")?;
    match fields.get("peek") {
        Some(Value::Object(known)) => Ok((known.clone(), is_pure != Some(false))),
        other => Err(wrong_type("peek", other, "an object")),
    }
}

/// Drops the snapshots that nobody can restore any more, and as many of the oldest as the program has no room for.
fn make_room(connection: &mut Connection) -> Result<(), EnvError> {
    let notes = &mut connection.notes;
    let max = notes.hello.max_snapshots.unwrap_or(u64::MAX);
    let mut dropped = Vec::new();
    notes.snapshots.retain(|id| {
        let is_shared = Arc::strong_count(id) > 1;
        if !is_shared {
            dropped.push(id.clone());
        }
        is_shared
    });
    while notes.snapshots.len() as u64 >= max.max(1) {
        dropped.extend(notes.snapshots.pop_front());
    }
    let limit = connection.limits.snapshot;
    for id in dropped {
        match connection.ask("drop", &json!({ "snapshot": *id }), limit, |_| Ok(())) {
            // The program has forgotten it already.
            Ok(()) | Err(EnvError::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
