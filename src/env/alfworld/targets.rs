//! The type of a task and the kinds of objects in its goal, which progress is measured by.

use super::located_error::LocatedError;
use crate::env::EnvError;
use crate::pddl::{Formula, Model, Term};
use serde::Deserialize;

/// The six task types, with the names used in ALFWorld's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Put an object somewhere.
    PickAndPlaceSimple,
    /// Look at an object under a lamp.
    LookAtObjInLight,
    /// Clean an object and put it somewhere.
    PickCleanThenPlaceInRecep,
    /// Heat an object and put it somewhere.
    PickHeatThenPlaceInRecep,
    /// Cool an object and put it somewhere.
    PickCoolThenPlaceInRecep,
    /// Put two objects of the same kind somewhere.
    PickTwoObjAndPlace,
}

impl TaskType {
    /// All six, in the order of ALFWorld's numbers 1 to 6.
    pub const ALL: [Self; 6] = [
        Self::PickAndPlaceSimple,
        Self::LookAtObjInLight,
        Self::PickCleanThenPlaceInRecep,
        Self::PickHeatThenPlaceInRecep,
        Self::PickCoolThenPlaceInRecep,
        Self::PickTwoObjAndPlace,
    ];

    /// Returns the name used in ALFWorld's data ("pick_heat_then_place_in_recep").
    pub fn name(self) -> &'static str {
        match self {
            Self::PickAndPlaceSimple => "pick_and_place_simple",
            Self::LookAtObjInLight => "look_at_obj_in_light",
            Self::PickCleanThenPlaceInRecep => "pick_clean_then_place_in_recep",
            Self::PickHeatThenPlaceInRecep => "pick_heat_then_place_in_recep",
            Self::PickCoolThenPlaceInRecep => "pick_cool_then_place_in_recep",
            Self::PickTwoObjAndPlace => "pick_two_obj_and_place",
        }
    }

    /// Returns the task type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a task is about. Kinds are in lower case ("alarmclock"); empty if the task has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// The task type, or `None` if the goal has an unknown shape.
    pub task_type: Option<TaskType>,
    /// The kind of object to find.
    pub object: String,
    /// The kind of receptacle it goes to.
    pub receptacle: String,
    /// The kind of lamp to use.
    pub lamp: String,
}

#[derive(Deserialize)]
struct TrajData {
    task_type: String,
    pddl_params: Params,
}

#[derive(Deserialize)]
struct Params {
    #[serde(default)]
    object_target: String,
    #[serde(default)]
    parent_target: String,
    #[serde(default)]
    toggle_target: String,
}

impl Targets {
    /// Reads the targets from the `traj_data.json` beside a game. Errors refer to it as `label`.
    ///
    /// # Errors
    /// [`EnvError::Broken`] if the bytes are not such a file.
    pub fn from_traj_data(label: &str, bytes: &[u8]) -> Result<Self, EnvError> {
        let data: TrajData = serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            LocatedError::new(place, format!("not a traj_data file (task_type and pddl_params): {error}"))
                .in_file(label)
        })?;
        Ok(Self {
            task_type: TaskType::from_name(&data.task_type),
            object: data.pddl_params.object_target.to_ascii_lowercase(),
            receptacle: data.pddl_params.parent_target.to_ascii_lowercase(),
            lamp: data.pddl_params.toggle_target.to_ascii_lowercase(),
        })
    }

    /// Derives the targets from a goal: the kind of object, its destination and its condition.
    pub(super) fn from_goal(model: &Model) -> Self {
        let mut seen = GoalFacts::default();
        seen.visit(model, &model.goal);
        // The lamp is the object that must be toggleable; the object that is held or placed is the other one.
        let lamp =
            seen.objects.iter().find(|(term, _)| seen.toggled.contains(term)).map(|(_, kind)| kind.clone());
        let wanted: Vec<&(Term, String)> =
            seen.objects.iter().filter(|(term, _)| !seen.toggled.contains(term)).collect();
        let task_type = if lamp.is_some() {
            Some(TaskType::LookAtObjInLight)
        } else if seen.clean {
            Some(TaskType::PickCleanThenPlaceInRecep)
        } else if seen.hot {
            Some(TaskType::PickHeatThenPlaceInRecep)
        } else if seen.cool {
            Some(TaskType::PickCoolThenPlaceInRecep)
        } else if wanted.len() > 1 {
            Some(TaskType::PickTwoObjAndPlace)
        } else if wanted.len() == 1 && !seen.receptacle.is_empty() {
            Some(TaskType::PickAndPlaceSimple)
        } else {
            None
        };
        Self {
            task_type,
            object: wanted.first().map(|(_, kind)| kind.clone()).unwrap_or_default(),
            receptacle: seen.receptacle,
            lamp: lamp.unwrap_or_default(),
        }
    }
}

/// The facts that a goal mentions.
#[derive(Default)]
struct GoalFacts {
    objects: Vec<(Term, String)>,
    toggled: Vec<Term>,
    receptacle: String,
    clean: bool,
    hot: bool,
    cool: bool,
}

impl GoalFacts {
    fn visit(&mut self, model: &Model, formula: &Formula) {
        match formula {
            Formula::And(parts) | Formula::Or(parts) => {
                for part in parts {
                    self.visit(model, part);
                }
            }
            Formula::Exists(_, inner) => self.visit(model, inner),
            Formula::Atom(predicate, terms) => {
                let word = |term: &Term| match term {
                    Term::Constant(name) | Term::Variable(name) => model.names.text(*name),
                };
                let kind = |term: &Term| word(term).strip_suffix("type").unwrap_or(word(term)).to_owned();
                match (model.names.text(model.predicates[*predicate].name), terms.as_slice()) {
                    ("objecttype", [object, class @ Term::Constant(_)])
                        if !self.objects.iter().any(|(term, _)| term == object) =>
                    {
                        self.objects.push((*object, kind(class)));
                    }
                    ("receptacletype", [_, class @ Term::Constant(_)]) => self.receptacle = kind(class),
                    ("istoggled" | "toggleable", [object]) => self.toggled.push(*object),
                    ("isclean", _) => self.clean = true,
                    ("ishot", _) => self.hot = true,
                    ("iscool", _) => self.cool = true,
                    _ => {}
                }
            }
            Formula::Not(_) | Formula::Imply(..) | Formula::Forall(..) | Formula::Equal(..) => {}
        }
    }
}
