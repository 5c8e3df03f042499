//! Who acts or reflects in a run, as the command line and journals name it: `rules`, `openai:MODEL`, `recorded:SESSION` ...

use super::ModelRole;

/// Names an actor may have, as help and errors list them.
macro_rules! actor_names {
    () => {
        "openai:MODEL, rules (built in, not a model), human or recorded:SESSION"
    };
}
/// Names a mentor may have, as help and errors list them.
macro_rules! mentor_names {
    () => {
        "openai:MODEL, symbolic (rules), recorded:SESSION or none"
    };
}
pub(crate) use {actor_names, mentor_names};

/// A name that needs nothing else: no model, no session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInRole {
    pub name: &'static str,
    /// What it does, in a few words.
    pub meaning: &'static str,
}

/// What is behind the name of an actor or a mentor. Which of them a role may have, [`RoleSource::is_allowed_as`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleSource<'a> {
    /// `rules`: the rule-based actor, a stand-in for a model.
    Rules,
    /// `symbolic`: the rules of a method's symbolic reflections, a part of the method.
    Symbolic,
    /// `human`: a person.
    Person,
    /// `none`: nobody.
    Nobody,
    /// `openai:MODEL`: a model of a server.
    Model(&'a str),
    /// `recorded:SESSION`: the replies of a recorded session.
    Recording(&'a str),
    /// A name that this program doesn't know.
    Unknown(&'a str),
}

impl<'a> RoleSource<'a> {
    /// Reads a name.
    pub fn parse(name: &'a str) -> Self {
        match name {
            Self::RULES => Self::Rules,
            Self::SYMBOLIC => Self::Symbolic,
            Self::PERSON => Self::Person,
            Self::NOBODY => Self::Nobody,
            other => {
                match (other.strip_prefix(Self::MODEL_PREFIX), other.strip_prefix(Self::RECORDING_PREFIX)) {
                    (Some(model), _) => Self::Model(model),
                    (None, Some(session)) => Self::Recording(session),
                    (None, None) => Self::Unknown(other),
                }
            }
        }
    }

    /// The name of the rule-based actor.
    pub const RULES: &'static str = "rules";
    /// The name of the rules of symbolic reflections.
    pub const SYMBOLIC: &'static str = "symbolic";
    /// The name of a person as actor.
    pub const PERSON: &'static str = "human";
    /// The name of a mentor who is nobody.
    pub const NOBODY: &'static str = "none";

    const MODEL_PREFIX: &'static str = "openai:";
    const RECORDING_PREFIX: &'static str = "recorded:";

    /// Returns the names that a role may have without a model or a session, the default first.
    pub const fn built_in(role: ModelRole) -> &'static [BuiltInRole] {
        const ACTORS: &[BuiltInRole] = &[
            BuiltInRole {
                name: RoleSource::RULES,
                meaning: "built-in rules, a stand-in for a model; they make mistakes",
            },
            BuiltInRole { name: RoleSource::PERSON, meaning: "you type the actions" },
        ];
        const MENTORS: &[BuiltInRole] = &[
            BuiltInRole {
                name: RoleSource::SYMBOLIC,
                meaning: "built-in rules read the mistakes off the steps; no model is asked",
            },
            BuiltInRole {
                name: RoleSource::NOBODY,
                meaning: "nobody reflects; you can teach lessons yourself",
            },
        ];
        match role {
            ModelRole::Actor => ACTORS,
            ModelRole::Mentor => MENTORS,
        }
    }

    /// Returns all names that a role may have, as a list in a sentence.
    pub const fn names(role: ModelRole) -> &'static str {
        match role {
            ModelRole::Actor => actor_names!(),
            ModelRole::Mentor => mentor_names!(),
        }
    }

    /// Returns whether a role may be this.
    pub fn is_allowed_as(self, role: ModelRole) -> bool {
        match self {
            Self::Rules | Self::Person => role == ModelRole::Actor,
            Self::Symbolic | Self::Nobody => role == ModelRole::Mentor,
            Self::Model(_) | Self::Recording(_) => true,
            Self::Unknown(_) => false,
        }
    }

    /// Returns the name of a model of a server.
    pub fn name_of_model(model: &str) -> String {
        [Self::MODEL_PREFIX, model].concat()
    }

    /// Returns the name of a recorded session's replies.
    pub fn name_of_recording(session: &str) -> String {
        [Self::RECORDING_PREFIX, session].concat()
    }

    /// Returns the model's name, if a server is called.
    pub fn model(self) -> Option<&'a str> {
        if let Self::Model(model) = self { Some(model) } else { None }
    }

    /// Returns whether a server is called. The replies of a recording may be anybody's.
    pub fn is_model(self) -> bool {
        self.model().is_some()
    }

    /// Returns whether it is a model, or a recording of one.
    pub fn replies_as_model(self) -> bool {
        matches!(self, Self::Model(_) | Self::Recording(_))
    }

    /// Returns whether a mentor is no model and no recording of one: nothing is asked, or the rules answer.
    pub fn is_symbolic_or_nobody(self) -> bool {
        matches!(self, Self::Symbolic | Self::Nobody)
    }

    /// Returns whether rules or a recording take the place of a model. A symbolic mentor doesn't: it is part of its method.
    pub fn is_stand_in(self) -> bool {
        matches!(self, Self::Rules | Self::Recording(_))
    }

    /// Names it in a sentence; a model by its own name.
    pub fn describe(self) -> String {
        let words = match self {
            Self::Rules => "the rule-based actor",
            Self::Symbolic => "the symbolic rules",
            Self::Person => "a person",
            Self::Nobody => "nobody",
            Self::Model(model) => model,
            Self::Recording(_) => "a recording",
            Self::Unknown(name) => name,
        };
        words.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let cases = [
            ("rules", RoleSource::Rules),
            ("symbolic", RoleSource::Symbolic),
            ("human", RoleSource::Person),
            ("none", RoleSource::Nobody),
            ("openai:qwen3:4b", RoleSource::Model("qwen3:4b")),
            ("openai:", RoleSource::Model("")),
            ("recorded:a/b", RoleSource::Recording("a/b")),
            ("Rules", RoleSource::Unknown("Rules")),
            ("", RoleSource::Unknown("")),
        ];
        for (name, expected) in cases {
            assert_eq!(RoleSource::parse(name), expected, "{name}");
        }
        assert_eq!(RoleSource::name_of_model("a:b"), "openai:a:b");
        assert_eq!(RoleSource::name_of_recording("s"), "recorded:s");
    }

    #[test]
    fn the_list_of_a_role_has_exactly_the_names_it_may_have() {
        for role in ModelRole::ALL {
            let words = RoleSource::names(role).split([',', ' ']);
            let listed: Vec<&str> =
                words.filter(|word| RoleSource::parse(word).is_allowed_as(role)).collect();
            let built_in: Vec<&str> = RoleSource::built_in(role).iter().map(|choice| choice.name).collect();
            assert!(built_in.iter().all(|name| listed.contains(name)), "{listed:?}");
            assert_eq!(listed.len(), built_in.len() + 2, "a model and a recording: {listed:?}");
        }
    }
}
