//! Displayed names of objects, such as "apple 1" and "countertop 2".

use crate::pddl::{FastMap, ObjectId, Task};

/// The displayed name of every object.
#[derive(Debug)]
pub(super) struct Entities {
    names: Vec<Box<str>>,
}

impl Entities {
    /// Names everything that occurs in an initial fact. Within one base name, numbers run in the opposite order of the
    /// ids.
    pub(super) fn new(task: &Task) -> Self {
        let mut occurs = vec![false; task.object_count()];
        for at in task.initial().facts().ones() {
            for object in task.arguments_at(at) {
                occurs[object.index()] = true;
            }
        }
        let mut left: FastMap<String, usize> = FastMap::default();
        for object in task.objects().filter(|object| occurs[object.index()]) {
            if let Some(base) = base_name(task.object_name(object)) {
                *left.entry(base).or_default() += 1;
            }
        }
        let name = |object: ObjectId| {
            let id = task.object_name(object);
            if !occurs[object.index()] {
                return id.into();
            }
            let Some(base) = base_name(id) else { return format!("{id} ").into_boxed_str() };
            let number = left.entry(base.clone()).or_default();
            let name = format!("{base} {number}");
            *number -= 1;
            name.into_boxed_str()
        };
        Self { names: task.objects().map(name).collect() }
    }

    /// Returns an object's displayed name. Unnumbered objects have a trailing space; objects that occur in no fact keep
    /// their id.
    #[inline]
    pub(super) fn name(&self, object: ObjectId) -> &str {
        &self.names[object.index()]
    }
}

/// Returns the part of the name before the number: the id up to the first bar, with basins kept apart. Returns `None`
/// if the id has no bar.
fn base_name(id: &str) -> Option<String> {
    let (base, _) = id.split_once("_bar_")?;
    Some(if id.contains("basin") { format!("{base}basin") } else { base.to_owned() })
}
