//! Goal sentences of ALFWorld's templates (spec/alfworld.md 9) and their sub-goals.

use regex::Regex;
use std::sync::LazyLock;

/// What has to be done to the object before it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// With a microwave.
    Heat,
    /// With a fridge.
    Cool,
    /// At a sinkbasin.
    Clean,
}

/// A parsed goal. All names are types, without numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Put one object, treated or not, or two of a type, in or on a place.
    Place {
        /// Type of the object.
        object: String,
        /// Type of the place.
        destination: String,
        /// What has to be done to the object first.
        treatment: Option<Treatment>,
        /// Number of objects: 1 or 2.
        count: usize,
    },
    /// Hold an object at a lamp's place and switch the lamp on.
    ExamineInLight {
        /// Type of the object.
        object: String,
        /// Type of the lamp.
        lamp: String,
    },
}

/// One sub-goal on the way to the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subgoal {
    /// An object of the type was seen.
    Seen,
    /// An object of the type was taken.
    Taken,
    /// The object was heated, cooled or cleaned.
    Treated(Treatment),
    /// The object was put in or on the target place.
    Placed,
    /// The lamp was seen.
    LampSeen,
    /// The lamp is on while the object is held at the lamp's place (it may have been switched on before).
    LampUsed,
}

impl Treatment {
    /// Returns the verb of the action.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Heat => "heat",
            Self::Cool => "cool",
            Self::Clean => "clean",
        }
    }

    /// Returns what an object is after it.
    pub fn participle(self) -> &'static str {
        match self {
            Self::Heat => "heated",
            Self::Cool => "cooled",
            Self::Clean => "cleaned",
        }
    }

    /// Returns the type of the appliance that does it.
    pub fn appliance(self) -> &'static str {
        match self {
            Self::Heat => "microwave",
            Self::Cool => "fridge",
            Self::Clean => "sinkbasin",
        }
    }

    /// Returns the treatment named by a verb or by a goal's adjective.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "heat" | "hot" => Some(Self::Heat),
            "cool" | "cold" => Some(Self::Cool),
            "clean" => Some(Self::Clean),
            _ => None,
        }
    }
}

impl Goal {
    /// Parses a goal sentence. Returns `None` for other forms (a person's own wording, sliced or movable objects);
    /// detectors that need no goal work without it.
    pub fn parse(sentence: &str) -> Option<Self> {
        static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
            [
                r"^put (?:an?|some|the) (?:(?<adjective>clean|hot|cool|cold) )?(?<object>\w+) (?:in/on|in|on) (?:an? |the )?(?<target>\w+)$",
                r"^(?<verb>clean|heat|cool) (?:an?|some|the) (?<object>\w+) and put it (?:in/on|in|on) (?:an? |the )?(?<target>\w+)$",
                r"^(?:put|find) (?<two>two) (?<object>\w+) (?:and put them )?(?:in/on|in|on) (?:an? |the )?(?<target>\w+)$",
                r"^(?:look at|examine) (?:an? |some |the )?(?<object>\w+) (?:under|with|using|by) (?:an? |the )?(?<lamp>\w*lamp)$",
            ]
            .iter()
            .filter_map(|form| Regex::new(form).ok())
            .collect()
        });
        let sentence = sentence.trim().trim_end_matches('.').to_lowercase();
        let found = FORMS.iter().find_map(|form| form.captures(&sentence))?;
        let word = |name: &str| found.name(name).map(|m| m.as_str().to_owned());
        let object = word("object")?;
        if let Some(lamp) = word("lamp") {
            return Some(Self::ExamineInLight { object, lamp });
        }
        let treatment = word("adjective").or_else(|| word("verb")).and_then(|w| Treatment::from_word(&w));
        let count = if word("two").is_some() { 2 } else { 1 };
        Some(Self::Place { object, destination: word("target")?, treatment, count })
    }

    /// Returns the type of the object.
    pub fn object(&self) -> &str {
        match self {
            Self::Place { object, .. } | Self::ExamineInLight { object, .. } => object,
        }
    }

    /// Returns what has to be done to the object, if anything.
    pub fn treatment(&self) -> Option<Treatment> {
        match self {
            Self::Place { treatment, .. } => *treatment,
            Self::ExamineInLight { .. } => None,
        }
    }

    /// Returns the type of the place where the object must be put, if any.
    pub fn destination(&self) -> Option<&str> {
        match self {
            Self::Place { destination: target, .. } => Some(target),
            Self::ExamineInLight { .. } => None,
        }
    }

    /// Returns the type of the lamp, if one is needed.
    pub fn lamp(&self) -> Option<&str> {
        match self {
            Self::ExamineInLight { lamp, .. } => Some(lamp),
            Self::Place { .. } => None,
        }
    }

    /// Returns the sub-goals in order (Table 19, and by analogy for the types it does not list). The last sub-goal of
    /// `ExamineInLight` is our own: seeing the lamp, Table 19's last pattern, does not solve the task.
    pub fn subgoals(&self) -> Vec<Subgoal> {
        match self {
            Self::ExamineInLight { .. } => {
                vec![Subgoal::Seen, Subgoal::Taken, Subgoal::LampSeen, Subgoal::LampUsed]
            }
            Self::Place { treatment, count, .. } => {
                let mut once = vec![Subgoal::Seen, Subgoal::Taken];
                once.extend(treatment.map(Subgoal::Treated));
                once.push(Subgoal::Placed);
                once.repeat(*count)
            }
        }
    }
}

impl Subgoal {
    /// Returns the sub-goal's name in notes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::Taken => "taken",
            Self::Treated(Treatment::Heat) => "heated",
            Self::Treated(Treatment::Cool) => "cooled",
            Self::Treated(Treatment::Clean) => "cleaned",
            Self::Placed => "placed",
            Self::LampSeen => "lamp_seen",
            Self::LampUsed => "lamp_used",
        }
    }
}
