//! Searching the journal's lines and searching restored episodes give the same hits.

use super::*;
use crate::driver::open_read_only;
use crate::ui::find::SearchHit;
use std::path::Path;

/// Returns all hits in session order.
fn collect_hits(search: impl FnOnce(&mut dyn FnMut(Vec<SearchHit>)) -> Vec<SearchHit>) -> Vec<SearchHit> {
    let mut found = Vec::new();
    let last = search(&mut |hits| found.extend(hits));
    found.extend(last);
    found.sort_by(|a: &SearchHit, b: &SearchHit| {
        let key = |h: &SearchHit| (h.episode, h.step, h.part as u8, h.range.start);
        key(a).cmp(&key(b)).then(a.text.cmp(&b.text))
    });
    found
}

#[test]
fn journal_search_and_episode_search_agree() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/examples");
    let (mut compared, mut beside) = (0, 0);
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
            // Mistakes, reflections, and what a person did.
            "tried to",
            "nothing happened",
            "you taught",
            "overridden",
            "ü",
        ] {
            let progress = WorkProgress::default();
            let lines = collect_hits(|send| search_other_episodes(&store, 0, query, &progress, send).0);
            let episodes = collect_hits(|send| {
                let (episodes, query) = (other_episodes(&head, 0), (query, SearchedParts::All));
                search_restored(&store, &head, &episodes, query, (Vec::new(), MAX_HITS), &progress, send)
            });
            assert_eq!(lines.len(), episodes.len(), "{query:?} in {}", dir.path().display());
            assert_eq!(lines, episodes, "{query:?}");
            compared += lines.len();
            beside += lines
                .iter()
                .filter(|hit| {
                    matches!(hit.part, SearchedText::Finding | SearchedText::Lesson | SearchedText::Act)
                })
                .count();
        }
    }
    assert!(compared > 500 && beside > 50, "{compared}, {beside}");
}

/// A search of the longest session restores only its newest episodes; of a usual one, all.
#[test]
fn old_episodes_of_a_very_long_session_are_not_restored() {
    let mut f = crate::ui::fixture::Fixture::for_method("react", "symbolic", 1);
    f.begin_episode();
    f.end_episode(false, crate::domain::EndReason::StepLimit);
    let ended = f.state().ended_episodes.last().unwrap().clone();
    let long = EpisodeSummary { seq_range: (0, MAX_RESTORED_EVENTS / 2), ..(*ended).clone() };
    assert_eq!(count_unrestored(&[]), 0);
    assert_eq!(count_unrestored(&[&long, &long]), 0);
    assert_eq!(count_unrestored(&[&long, &long, &ended]), 1);
    assert_eq!(count_unrestored(&[&long, &long, &long, &long]), 2);
}
