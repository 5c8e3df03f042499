//! Which branch a word on the command line means, and what is said where it means none.

use crate::cli::config::closest_name;
use crate::cli::error::CliError;
use crate::domain::BranchId;
use crate::journal::{Label, Session};
use crate::text::one_line;
use std::collections::BTreeMap;

/// A branch by its id or by the name a person gave it.
///
/// # Errors
/// Of the command line, where no branch or more than one is called so; else why the session cannot be read.
pub(in crate::cli) fn find_branch(session: &Session, word: &str) -> Result<BranchId, CliError> {
    let ids: Vec<BranchId> = session.headers()?.into_iter().map(|h| h.id).collect();
    if !ids.iter().any(|id| id.0 == word)
        && let Some((_, why)) = session.unreadable_branches()?.into_iter().find(|(id, _)| id.0 == word)
    {
        return Err(why.into());
    }
    find_branch_among(&session.meta.session, &ids, &session.labels()?, word)
}

/// The branch of these that a word means: its id comes before any name. `of` is what they are branches of.
pub(super) fn find_branch_among(
    of: &str,
    ids: &[BranchId],
    labels: &BTreeMap<BranchId, Label>,
    word: &str,
) -> Result<BranchId, CliError> {
    let name = |id: &BranchId| labels.get(id).and_then(|l| l.name.as_deref());
    if let Some(id) = ids.iter().find(|id| id.0 == word) {
        return Ok(id.clone());
    }
    let named: Vec<&BranchId> = ids.iter().filter(|id| name(id) == Some(word)).collect();
    // As the tree has them: the id, and the name a person gave it.
    let told = |id: &&BranchId| match name(id) {
        Some(name) => format!("{id} ({})", one_line(name)),
        None => id.to_string(),
    };
    let list = |ids: &[&BranchId]| ids.iter().map(told).collect::<Vec<_>>().join(", ");
    match named.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let words = ids.iter().map(|id| id.0.as_str()).chain(ids.iter().filter_map(name));
            let near = closest_name(word, words)
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            let all: Vec<&BranchId> = ids.iter().collect();
            Err(CliError::usage(
                format!("{of}: there is no branch {word:?}{near}"),
                format!("its branches are {}", list(&all)),
            ))
        }
        several => Err(CliError::usage(
            format!("{of}: {} branches are called {word:?}", several.len()),
            format!("name one by its id: {}", list(several)),
        )),
    }
}
