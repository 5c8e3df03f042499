//! Placeholder of the roles until the theme room is merged.
use ratatui::style::{Color, Modifier, Style};

/// What a piece of text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Plain text.
    Text,
    /// Secondary.
    Dim,
    /// Frames.
    Frame,
    /// Frames in the past.
    Past,
    /// A title.
    Title,
    /// The focused title.
    Focus,
    /// The chosen thing.
    Chosen,
    /// A key.
    Key,
    /// A thought.
    Thought,
    /// An action.
    Action,
    /// An observation.
    Observation,
    /// The proposal.
    Proposal,
    /// Good.
    Good,
    /// Bad.
    Bad,
    /// Warning.
    Warn,
    /// A person.
    Person,
    /// New.
    New,
    /// Reflection.
    Reflection,
    /// Mode word
    Mode,
}

/// Colours.
#[derive(Clone, Debug, Default)]
pub struct Theme;

impl Theme {
    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        let s = Style::new();
        match role {
            Role::Text | Role::Observation => s,
            Role::Dim | Role::Frame => s.add_modifier(Modifier::DIM),
            Role::Past => s.fg(Color::Magenta),
            Role::Title => s.add_modifier(Modifier::BOLD),
            Role::Focus | Role::Chosen => s.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            Role::Key => s.fg(Color::Cyan),
            Role::Thought => s.add_modifier(Modifier::ITALIC),
            Role::Action => s.fg(Color::Blue),
            Role::Proposal => s.fg(Color::Yellow).add_modifier(Modifier::BOLD),
            Role::Good => s.fg(Color::Green),
            Role::Bad => s.fg(Color::Red),
            Role::Warn | Role::New => s.fg(Color::Yellow),
            Role::Person => s.fg(Color::Magenta),
            Role::Reflection => s.fg(Color::Green),
            Role::Mode => s.add_modifier(Modifier::BOLD),
        }
    }
}
