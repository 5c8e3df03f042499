//! What a task is about: its type and the kinds of things in its goal. Progress is measured by these.

use super::located_error::LocatedError;
use crate::env::EnvError;
use crate::pddl::{Formula, Model, Term};
use serde::Deserialize;

/// The six task types, by the names of ALFWorld's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Put a thing somewhere.
    PickAndPlaceSimple,
    /// Look at a thing under a lamp.
    LookAtObjInLight,
    /// Clean a thing and put it somewhere.
    PickCleanThenPlaceInRecep,
    /// Heat a thing and put it somewhere.
    PickHeatThenPlaceInRecep,
    /// Cool a thing and put it somewhere.
    PickCoolThenPlaceInRecep,
    /// Put two things of one kind somewhere.
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

    /// Its name in ALFWorld's data ("pick_heat_then_place_in_recep").
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

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.name() == name)
    }
}

/// What a task is about. Kinds are in lower case ("alarmclock"); empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// The type of task; none where the goal is of no known shape.
    pub task_type: Option<TaskType>,
    /// The kind of thing to find.
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
    /// Reads them from the `traj_data.json` beside a game. `label` is its name in errors.
    ///
    /// # Errors
    /// [`EnvError::Panicked`] when the bytes are not such a file.
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

    /// Reads them off a goal: the class of what is wanted, where, and in which condition.
    pub(super) fn from_goal(model: &Model) -> Self {
        let mut seen = GoalFacts::default();
        seen.visit(model, &model.goal);
        // A lamp is the object that must be toggleable; what is held or placed is the other one.
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

/// What a goal speaks of.
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
                    Term::Constant(name) | Term::Variable(name) => model.names.word(*name),
                };
                let kind = |term: &Term| word(term).strip_suffix("type").unwrap_or(word(term)).to_owned();
                match (model.names.word(model.predicates[*predicate].name), terms.as_slice()) {
                    ("objecttype", [object, of @ Term::Constant(_)])
                        if !self.objects.iter().any(|(term, _)| term == object) =>
                    {
                        self.objects.push((*object, kind(of)));
                    }
                    ("receptacletype", [_, of @ Term::Constant(_)]) => self.receptacle = kind(of),
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
