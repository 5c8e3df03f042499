//! What the indexes of the pool save, and that they say the same as looking at every lesson.

use super::Pool;
use crate::domain::{Author, Kind, LessonId, LessonOp, LessonOrigin, LessonStatus, LessonText, Scope, Seq};
use proptest::prelude::*;
use std::cell::Cell;

thread_local! {
    /// Lessons looked at by this thread.
    pub(super) static LOOKED: Cell<usize> = const { Cell::new(0) };
}

fn add(n: usize, kind: Kind, scope: Scope) -> LessonOp {
    LessonOp::Add {
        id: LessonId(format!("l{n}")),
        kind,
        scope,
        origin: LessonOrigin::Symbolic,
        text: LessonText::plain(format!("Lesson {}.", n / 2)),
        evidence: String::new(),
        rule: Some(format!("rule.{}", n / 3)),
    }
}

fn status(n: usize, status: LessonStatus) -> LessonOp {
    LessonOp::Status { id: LessonId(format!("l{n}")), was: LessonStatus::On, status }
}

fn apply(pool: &mut Pool, op: &LessonOp) {
    pool.apply(op, Seq(1), (1, 1), Author::Symbolic);
}

/// The work of a step: the prompt's lessons, their uses, and one drawn lesson.
fn step(pool: &mut Pool) -> usize {
    let before = LOOKED.get();
    let ids: Vec<LessonId> = pool.in_force(Kind::Error).map(|l| l.id.clone()).collect();
    for id in &ids {
        pool.used(id, Seq(2));
        assert!(pool.get(id).is_some());
    }
    assert_eq!(pool.of_rule(Kind::Error, "rule.0").count(), 3);
    assert_eq!(pool.saying(Kind::Error, "lesson 0").count(), 2);
    LOOKED.get() - before
}

#[test]
fn a_step_looked_at_every_lesson_there_ever_was() {
    let mut pool = Pool::default();
    for n in 0..20 {
        apply(&mut pool, &add(n, Kind::Error, Scope::Environment));
    }
    let few = step(&mut pool);
    for n in 20..5_000 {
        apply(&mut pool, &add(n, Kind::Error, Scope::Environment));
        apply(&mut pool, &status(n, if n % 2 == 0 { LessonStatus::Retired } else { LessonStatus::Off }));
        apply(&mut pool, &add(n + 5_000, Kind::Abstract, Scope::Task));
    }
    assert_eq!(step(&mut pool), few, "lessons that are off, deleted or of another kind cost a step nothing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_indexes_say_what_the_lessons_say(moves in prop::collection::vec((0u8..7, 0usize..12), 1..80)) {
        const KINDS: [Kind; 3] = [Kind::Abstract, Kind::Error, Kind::Progress];
        let mut pool = Pool::default();
        for (number, (which, n)) in moves.into_iter().enumerate() {
            let id = LessonId(format!("l{n}"));
            let op = match which {
                0 if pool.get(&id).is_none() => add(n, KINDS[n % 3], if n % 4 == 0 { Scope::Episode } else { Scope::Task }),
                1 => status(n, LessonStatus::Retired),
                2 => status(n, LessonStatus::Off),
                3 => status(n, LessonStatus::Pinned),
                4 => LessonOp::Edit { id, was: LessonText::default(), text: LessonText::plain(format!("Now {number}")) },
                5 => LessonOp::Move { id, was: 0, to: number % 4 },
                _ => LessonOp::Rescope { id, was: Scope::Task, scope: Scope::Episode },
            };
            apply(&mut pool, &op);
            if number % 17 == 16 {
                pool.end_episode();
                prop_assert!(pool.all().all(|l| l.scope != Scope::Episode));
            }
            for kind in KINDS {
                let ids = |found: Vec<&crate::domain::Lesson>| found.iter().map(|l| l.id.0.clone()).collect::<Vec<_>>();
                let of = |keep: &dyn Fn(&crate::domain::Lesson) -> bool| {
                    ids(pool.all().filter(|l| l.kind == kind && keep(l)).collect())
                };
                prop_assert_eq!(ids(pool.of(kind).collect()), of(&|l| l.status != LessonStatus::Retired));
                prop_assert_eq!(ids(pool.in_force(kind).collect()), of(&|l| l.in_force()));
                prop_assert_eq!(ids(pool.of_rule(kind, "rule.1").collect()), of(&|l| l.rule.as_deref() == Some("rule.1")));
                let said = |l: &crate::domain::Lesson| l.text().said() == "lesson 2" && l.status != LessonStatus::Retired;
                prop_assert_eq!(ids(pool.saying(kind, "lesson 2").collect()), of(&said));
            }
            for lesson in pool.all() {
                prop_assert_eq!(pool.get(&lesson.id).map(|l| l.number), Some(lesson.number));
            }
        }
    }
}
