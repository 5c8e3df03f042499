//! Finds branches by id or by the name a person gave them.

use crate::cli::error::CliError;
use crate::domain::BranchId;
use crate::journal::{Label, Session};
use crate::text::{nearest_name, one_line};
use std::collections::BTreeMap;

/// Finds a branch by its id or by the name a person gave it.
///
/// # Errors
/// Fails with a usage error if no branch or more than one matches, and if the session cannot be read.
pub(in crate::cli) fn find_branch(session: &Session, word: &str) -> Result<BranchId, CliError> {
    let ids: Vec<BranchId> = session.headers()?.into_iter().map(|h| h.id).collect();
    if !ids.iter().any(|id| id.0 == word)
        && let Some((_, why)) = session.unreadable_branches()?.into_iter().find(|(id, _)| id.0 == word)
    {
        return Err(why.into());
    }
    find_branch_among(&session.meta.session, &ids, &session.labels()?, word)
}

/// Finds a branch among `ids`; ids take precedence over names. `owner` names the session in messages.
pub(super) fn find_branch_among(
    owner: &str,
    ids: &[BranchId],
    labels: &BTreeMap<BranchId, Label>,
    word: &str,
) -> Result<BranchId, CliError> {
    let name = |id: &BranchId| labels.get(id).and_then(|l| l.name.as_deref());
    if let Some(id) = ids.iter().find(|id| id.0 == word) {
        return Ok(id.clone());
    }
    let named: Vec<&BranchId> = ids.iter().filter(|id| name(id) == Some(word)).collect();
    // As in the branch tree: the id, then the name a person gave it.
    let describe = |id: &&BranchId| match name(id) {
        Some(name) => format!("{id} ({})", one_line(name)),
        None => id.to_string(),
    };
    let list = |ids: &[&BranchId]| ids.iter().map(describe).collect::<Vec<_>>().join(", ");
    match named.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let candidates = ids.iter().map(|id| id.0.as_str()).chain(ids.iter().filter_map(name));
            let near = nearest_name(word, candidates)
                .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            let all: Vec<&BranchId> = ids.iter().collect();
            Err(CliError::usage(
                format!("{owner}: no branch named {word:?}{near}"),
                format!("branches: {}", list(&all)),
            ))
        }
        several => Err(CliError::usage(
            format!("{owner}: {} branches are named {word:?}", several.len()),
            format!("use an id: {}", list(several)),
        )),
    }
}
