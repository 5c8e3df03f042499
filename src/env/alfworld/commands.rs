//! The command texts of all action instances. Texts that depend only on static facts are expanded once.

use super::expand::{CompiledGrammar, Expander};
use super::limits;
use super::located_error::{LocatedError, excerpt};
use crate::pddl::{ActionId, FastMap, ObjectId, OpId, Task};

/// How an action instance is expressed as a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// By the text with this index.
    Text(u32),
    /// By a text that depends on changing facts and is expanded in each state.
    Varying,
    /// The text cannot be expanded, which is an error as soon as the instance is applicable. Holds the index of the
    /// error.
    Broken(u32),
}

/// All commands of a game.
#[derive(Debug)]
pub(super) struct Commands {
    /// Sorted by bytes, unique.
    texts: Vec<Box<str>>,
    numbers: FastMap<Box<str>, u32>,
    by_op: Vec<Command>,
    op_starts: Vec<u32>,
    ops: Vec<OpId>,
    broken: Vec<LocatedError>,
    has_varying: bool,
}

impl Commands {
    /// Expands the templates of all instances. The expander must work over the initial facts.
    pub(super) fn new(
        task: &Task,
        compiled: &CompiledGrammar,
        expander: &mut Expander<'_>,
    ) -> Result<Self, LocatedError> {
        let mut found: FastMap<Box<str>, u32> = FastMap::default();
        let mut texts: Vec<Box<str>> = Vec::new();
        let mut broken = Vec::new();
        let mut by_op = Vec::with_capacity(task.op_count());
        let dependencies: Vec<_> = task
            .actions()
            .map(|action| {
                compiled.texts_of(action).map(|texts| compiled.dependencies(task, action, &texts.template))
            })
            .collect();
        let mut commands_by_key: FastMap<(ActionId, Vec<ObjectId>), Command> = FastMap::default();
        let mut without_text: FastMap<ActionId, u32> = FastMap::default();
        let (mut text, mut bytes) = (String::new(), 0);
        for op in task.ops() {
            let action = task.action_of(op);
            let (Some(source), Some(dependencies)) =
                (compiled.texts_of(action), &dependencies[action.index()])
            else {
                let at = *without_text.entry(action).or_insert_with(|| {
                    let name = excerpt(task.action_name(action));
                    broken.push(LocatedError::new(
                        "grammar",
                        format!("the admissible action {name} has no text"),
                    ));
                    broken.len() as u32 - 1
                });
                by_op.push(Command::Broken(at));
                continue;
            };
            if !dependencies.is_static {
                by_op.push(Command::Varying);
                continue;
            }
            let bound = task.bound_objects(op);
            let key = dependencies.parameters.as_ref().map(|positions| {
                (action, positions.iter().map(|&position| bound[position]).collect::<Vec<ObjectId>>())
            });
            if let Some(&command) = key.as_ref().and_then(|key| commands_by_key.get(key)) {
                by_op.push(command);
                continue;
            }
            text.clear();
            let command = match expander.expand(&source.template, Some((action, bound)), &mut text) {
                Ok(()) => {
                    let number = texts.len() as u32;
                    let index = *found.entry(text.as_str().into()).or_insert(number);
                    if index == number {
                        bytes += text.len() + size_of::<Box<str>>();
                        if bytes > limits::COMMAND_BYTES {
                            let reason = format!(
                                "the commands of the game exceed {} bytes in total",
                                limits::COMMAND_BYTES
                            );
                            return Err(LocatedError::new("grammar", reason));
                        }
                        texts.push(text.as_str().into());
                    }
                    Command::Text(index)
                }
                Err(reason) if expander.is_exhausted => return Err(reason),
                Err(reason) => {
                    broken.push(reason);
                    Command::Broken(broken.len() as u32 - 1)
                }
            };
            if let Some(key) = key {
                commands_by_key.insert(key, command);
            }
            by_op.push(command);
        }
        let varying = by_op.contains(&Command::Varying);
        Ok(Self::sort_and_index(texts, by_op, broken, varying))
    }

    /// Sorts the texts, assigns their indexes and groups the instances by text.
    fn sort_and_index(
        texts: Vec<Box<str>>,
        mut by_op: Vec<Command>,
        broken: Vec<LocatedError>,
        has_varying: bool,
    ) -> Self {
        let mut order: Vec<u32> = (0..texts.len() as u32).collect();
        order.sort_unstable_by(|&left, &right| texts[left as usize].cmp(&texts[right as usize]));
        let mut rank = vec![0_u32; texts.len()];
        for (at, &number) in order.iter().enumerate() {
            rank[number as usize] = at as u32;
        }
        let mut texts: Vec<Option<Box<str>>> = texts.into_iter().map(Some).collect();
        let texts: Vec<Box<str>> = order.iter().filter_map(|&number| texts[number as usize].take()).collect();
        let mut op_starts = vec![0_u32; texts.len() + 1];
        for command in &mut by_op {
            if let Command::Text(number) = command {
                *number = rank[*number as usize];
                op_starts[*number as usize + 1] += 1;
            }
        }
        for at in 0..texts.len() {
            op_starts[at + 1] += op_starts[at];
        }
        let mut next = op_starts.clone();
        let mut ops = vec![OpId::FIRST; op_starts.last().map_or(0, |&count| count as usize)];
        for (op, command) in by_op.iter().enumerate() {
            if let Command::Text(number) = command {
                let slot = &mut next[*number as usize];
                ops[*slot as usize] = OpId::from_index(op);
                *slot += 1;
            }
        }
        let numbers = texts.iter().enumerate().map(|(at, text)| (text.clone(), at as u32)).collect();
        Self { texts, numbers, by_op, op_starts, ops, broken, has_varying }
    }

    /// Returns the number of texts.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    #[inline]
    pub(super) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Returns the index of a text.
    #[inline]
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    /// Returns the instances that a text stands for.
    #[inline]
    pub(super) fn ops(&self, number: u32) -> &[OpId] {
        &self.ops[self.op_starts[number as usize] as usize..self.op_starts[number as usize + 1] as usize]
    }

    #[inline]
    pub(super) fn command_of(&self, op: OpId) -> Command {
        self.by_op[op.index()]
    }

    /// Returns why an instance has no text.
    pub(super) fn broken_reason(&self, at: u32) -> &LocatedError {
        &self.broken[at as usize]
    }

    /// Returns whether any text depends on changing facts.
    pub(super) fn has_varying(&self) -> bool {
        self.has_varying
    }
}
