//! The types of tasks, and how many variations each has.
//!
//! Source: the simulator's `getTaskNames`, `getTaskMaxVariations` and `getVariationsTrain`, `Dev` and `Test`, version 1.2.3.

/// A type of tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TaskType {
    /// The number of its topic and its number in it, such as `1-1`.
    pub(super) number: &'static str,
    pub(super) name: &'static str,
    /// How many variations there are, numbered from 0.
    pub(super) variations: u32,
}

/// A part of the variations of each type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Split {
    Train,
    Dev,
    Test,
}

impl Split {
    pub(super) const NAMES: [&'static str; 3] = ["train", "dev", "test"];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "train" => Self::Train,
            "dev" => Self::Dev,
            "test" => Self::Test,
            _ => return None,
        })
    }
}

impl TaskType {
    /// Finds a type by its name or its number.
    pub(super) fn find(text: &str) -> Option<&'static Self> {
        TASK_TYPES.iter().find(|known| known.name == text || known.number == text)
    }

    /// Returns the variations of a split: the first half, the next quarter and the rest, the quarter rounded down.
    pub(super) fn split(&self, split: Split) -> std::ops::Range<u32> {
        let quarter = self.variations / 4;
        match split {
            Split::Train => 0..2 * quarter,
            Split::Dev => 2 * quarter..3 * quarter,
            Split::Test => 3 * quarter..self.variations,
        }
    }

    /// Returns whether the task is about wires, so that it can't be solved without `connect`.
    pub(super) fn needs_wires(&self) -> bool {
        self.name.contains("power-component") || self.name.contains("conductivity")
    }
}

const fn task_type(number: &'static str, name: &'static str, variations: u32) -> TaskType {
    TaskType { number, name, variations }
}

/// All types, by number.
pub(super) const TASK_TYPES: [TaskType; 30] = [
    task_type("1-1", "boil", 30),
    task_type("1-2", "melt", 30),
    task_type("1-3", "freeze", 30),
    task_type("1-4", "change-the-state-of-matter-of", 30),
    task_type("2-1", "use-thermometer", 540),
    task_type("2-2", "measure-melting-point-known-substance", 436),
    task_type("2-3", "measure-melting-point-unknown-substance", 300),
    task_type("3-1", "power-component", 20),
    task_type("3-2", "power-component-renewable-vs-nonrenewable-energy", 20),
    task_type("3-3", "test-conductivity", 900),
    task_type("3-4", "test-conductivity-of-unknown-substances", 600),
    task_type("4-1", "find-living-thing", 300),
    task_type("4-2", "find-non-living-thing", 300),
    task_type("4-3", "find-plant", 300),
    task_type("4-4", "find-animal", 300),
    task_type("5-1", "grow-plant", 126),
    task_type("5-2", "grow-fruit", 126),
    task_type("6-1", "chemistry-mix", 32),
    task_type("6-2", "chemistry-mix-paint-secondary-color", 36),
    task_type("6-3", "chemistry-mix-paint-tertiary-color", 36),
    task_type("7-1", "lifespan-longest-lived", 125),
    task_type("7-2", "lifespan-shortest-lived", 125),
    task_type("7-3", "lifespan-longest-lived-then-shortest-lived", 125),
    task_type("8-1", "identify-life-stages-1", 14),
    task_type("8-2", "identify-life-stages-2", 10),
    task_type("9-1", "inclined-plane-determine-angle", 168),
    task_type("9-2", "inclined-plane-friction-named-surfaces", 1386),
    task_type("9-3", "inclined-plane-friction-unnamed-surfaces", 162),
    task_type("10-1", "mendelian-genetics-known-plant", 120),
    task_type("10-2", "mendelian-genetics-unknown-plant", 480),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_those_of_the_simulator() {
        let test_starts =
            [("1-1", 21), ("2-1", 405), ("2-2", 327), ("8-1", 9), ("8-2", 6), ("9-2", 1038), ("9-1", 126)];
        for (number, start) in test_starts {
            let found = TaskType::find(number).unwrap();
            assert_eq!(found.split(Split::Test), start..found.variations, "{number}");
            assert_eq!(TaskType::find(found.name), Some(found));
        }
        for known in &TASK_TYPES {
            let [train, dev, test] = [Split::Train, Split::Dev, Split::Test].map(|split| known.split(split));
            assert!(train.start == 0 && train.end == dev.start && dev.end == test.start && !test.is_empty());
        }
        let first_ten: usize = TASK_TYPES.iter().map(|known| known.split(Split::Test).len().min(10)).sum();
        assert_eq!(first_ten, 271, "Sweet&Sour's tasks");
        assert!(Split::NAMES.iter().all(|name| Split::from_name(name).is_some()));
        assert_eq!((TaskType::find("boiling"), Split::from_name("valid")), (None, None));
    }
}
