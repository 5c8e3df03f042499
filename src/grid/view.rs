//! Parser for observation sentences, which describe what is in front of the agent.

/// An object in the agent's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisibleObject<'a> {
    pub colour: &'a str,
    /// `ball`, `box`, `key` or `door`.
    pub kind: &'a str,
    /// `open`, `closed` or `locked`, for doors.
    pub door_state: &'a str,
    /// The full name with its number, as actions expect it.
    pub name: &'a str,
    /// Distance ahead, in cells.
    pub ahead: i32,
    /// Distance to the right, in cells; negative to the left.
    pub right: i32,
}

/// A parsed observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View<'a> {
    /// Visible objects, nearest first.
    pub objects: Vec<VisibleObject<'a>>,
    /// Distance in cells to the wall or box straight ahead.
    pub barrier: Option<i32>,
    /// Colour and kind of the carried object.
    pub carrying: Option<(&'a str, &'a str)>,
}

impl<'a> View<'a> {
    /// Parses an observation. Returns `None` if the text is some other reply.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut view = View::default();
        let (_, carried) = text.split_once("You are carrying a ").unzip();
        if let Some(carried) = carried {
            let mut words = carried.split(['.', ' ']);
            view.carrying = Some((words.next()?, words.next()?));
        } else if !text.contains("You are not carrying anything.") {
            return None;
        }
        view.objects = text.split("There is a ").skip(1).filter_map(parse_object).collect();
        let facing = text.split_once("You are facing a ").map(|(_, rest)| rest);
        view.barrier = facing.and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        Some(view)
    }

    /// Returns the object on the cell directly ahead.
    pub fn object_ahead(&self) -> Option<&VisibleObject<'a>> {
        self.objects.iter().find(|object| (object.ahead, object.right) == (1, 0))
    }

    /// Returns whether the cell directly ahead is free.
    pub fn is_free_ahead(&self) -> bool {
        self.barrier.is_none_or(|steps| steps > 1) && self.object_ahead().is_none()
    }
}

/// Parses `red closed door 1 3 steps in front of you and 2 steps to your left. ...`.
fn parse_object(text: &str) -> Option<VisibleObject<'_>> {
    let sentence = text.split('.').next()?;
    let digit = sentence.find(|c: char| c.is_ascii_digit())?;
    let end = digit + sentence[digit..].find(' ')?;
    let (name, rest) = (sentence.get(..end)?, sentence.get(end..)?.trim());
    let mut words = name.split(' ');
    let (colour, second, third) = (words.next()?, words.next()?, words.next()?);
    let (door_state, kind) = if third == "door" { (second, third) } else { ("", second) };
    let mut numbers = rest.split(' ').filter_map(|word| word.parse::<i32>().ok());
    let ahead = numbers.next()?;
    let aside = numbers.next().unwrap_or(0);
    let right = if rest.ends_with("left") { -aside } else { aside };
    Some(VisibleObject { colour, kind, door_state, name, ahead, right })
}
