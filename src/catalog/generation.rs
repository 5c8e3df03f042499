//! Whether the templates of a run have what its generation of reflections needs.

use crate::domain::{ReflectionKind, RunSpec, Task};
use crate::method::omnireflect::settings::{GENERATION, Generation};
use crate::prompt::Templates;

/// Checks that neuro-symbolic generation differs from neural generation: in every environment of the run the mentor is shown
/// examples of reflections that rules wrote (`papers/omnireflect.txt` 2.2).
///
/// # Errors
/// Returns which examples are missing for which environment.
pub fn check_generation(run: &RunSpec, templates: &Templates) -> Result<(), String> {
    if run.settings.get(GENERATION) != Generation::NeuroSymbolic {
        return Ok(());
    }
    let kinds = [ReflectionKind::Abstract, ReflectionKind::Error, ReflectionKind::Progress];
    let has_any = |task: &Task| kinds.iter().any(|kind| templates.has_exemplars(task, *kind));
    match run.tasks.iter().find(|task| !has_any(task)) {
        None => Ok(()),
        Some(task) => Err(format!(
            "{}=neuro-symbolic shows the mentor examples of reflections that rules wrote, but the templates of {} have none",
            GENERATION.spec.name, task.env
        )),
    }
}
