//! Searching the journal's lines and searching restored episodes give the same hits.

use super::*;
use crate::driver::open_read_only;
use crate::ui::find::{SearchHit, SearchStatus};
use std::path::Path;

/// Returns all hits in session order, and how many partial batches were reported.
fn collect_hits(search: impl FnOnce(&mut ReportHits<'_>)) -> (Vec<SearchHit>, usize) {
    let (mut found, mut more) = (Vec::new(), 0);
    search(&mut |hits, progress| {
        found.extend(hits);
        more += usize::from(progress == SearchStatus::Partial);
        ControlFlow::Continue(())
    });
    found.sort_by(|a: &SearchHit, b: &SearchHit| {
        let key = |h: &SearchHit| (h.episode, h.step, h.part as u8, h.range.start);
        key(a).cmp(&key(b)).then(a.text.cmp(&b.text))
    });
    (found, more)
}

#[test]
fn journal_search_and_episode_search_agree() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
    let mut compared = 0;
    for dir in std::fs::read_dir(examples).unwrap().flatten() {
        let store = Store::default();
        store.set_timeline(open_read_only(&dir.path()).unwrap().1, crate::domain::BranchId::trunk());
        let head = store.head();
        for query in [
            "mug",
            "GO TO",
            "heat mug 1",
            "think",
            "i find",
            "coffeemachine 1, you",
            "\"",
            "\\",
            "e",
            "zzz",
            "ü",
        ] {
            let (lines, _) = collect_hits(|report| search_other_episodes(&store, 0, query, report));
            let (episodes, _) =
                collect_hits(|report| search_restored_episodes(&store, &head, 0, query, Vec::new(), report));
            assert_eq!(lines.len(), episodes.len(), "{query:?} in {}", dir.path().display());
            assert_eq!(lines, episodes, "{query:?}");
            compared += lines.len();
        }
    }
    assert!(compared > 500, "{compared}");
}
