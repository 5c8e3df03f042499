//! A hash of the fold's source code. Checkpoints of a program with a different fold are not used.

/// The source files of the fold and its types.
const SOURCES: &[&[u8]] = &[
    include_bytes!("../../engine/apply.rs"),
    include_bytes!("../../engine/advice.rs"),
    include_bytes!("../../engine/last_advice.rs"),
    include_bytes!("../../engine/apply/advice.rs"),
    include_bytes!("../../engine/prefetch.rs"),
    include_bytes!("../../engine/apply/prefetch.rs"),
    include_bytes!("../../engine/samples.rs"),
    include_bytes!("../../engine/apply/samples.rs"),
    include_bytes!("../../domain/sample.rs"),
    include_bytes!("../../domain/advice_effect.rs"),
    include_bytes!("../../domain/measured_effect.rs"),
    include_bytes!("../../engine/apply/cancelled.rs"),
    include_bytes!("../../engine/apply/interventions.rs"),
    include_bytes!("../../engine/apply/manual_edit.rs"),
    include_bytes!("../../engine/apply/method_writes.rs"),
    include_bytes!("../../engine/apply/state_updates.rs"),
    include_bytes!("../../engine/apply/prompt.rs"),
    include_bytes!("../../engine/apply/breakpoints.rs"),
    include_bytes!("../../engine/apply/clock.rs"),
    include_bytes!("../../engine/clock.rs"),
    include_bytes!("../../engine/undo_action.rs"),
    include_bytes!("../../engine/effect.rs"),
    include_bytes!("../../engine/envelope.rs"),
    include_bytes!("../../engine/episode.rs"),
    include_bytes!("../../engine/event.rs"),
    include_bytes!("../../engine/event/failure.rs"),
    include_bytes!("../../engine/replay_start.rs"),
    include_bytes!("../../engine/token_ratio.rs"),
    include_bytes!("../../engine/pool.rs"),
    include_bytes!("../../engine/reply_tally.rs"),
    include_bytes!("../../engine/state.rs"),
    include_bytes!("../../engine/breakpoints.rs"),
    include_bytes!("../../engine/waiting_prompts.rs"),
    include_bytes!("../../domain/partial_reply.rs"),
    include_bytes!("../../domain/failure.rs"),
    include_bytes!("../../domain/manual_edit.rs"),
    include_bytes!("../../domain/id.rs"),
    include_bytes!("../../domain/intervention.rs"),
    include_bytes!("../../domain/job.rs"),
    include_bytes!("../../domain/lesson.rs"),
    include_bytes!("../../domain/lesson_text.rs"),
    include_bytes!("../../domain/note.rs"),
    include_bytes!("../../domain/plural.rs"),
    include_bytes!("../../domain/prompt.rs"),
    include_bytes!("../../domain/reflection.rs"),
    include_bytes!("../../domain/run.rs"),
    include_bytes!("../../domain/run_limit.rs"),
    include_bytes!("../../domain/sampling.rs"),
    include_bytes!("../../domain/scope.rs"),
    include_bytes!("../../domain/role_source.rs"),
    include_bytes!("../../domain/run_sampling.rs"),
    include_bytes!("../../domain/run_settings.rs"),
    include_bytes!("../../domain/setting.rs"),
    include_bytes!("../../domain/settings.rs"),
    include_bytes!("../../domain/similarity.rs"),
    include_bytes!("../../domain/common_settings.rs"),
    include_bytes!("../../domain/step.rs"),
    include_bytes!("../../domain/breakpoint.rs"),
    include_bytes!("../../domain/search_history.rs"),
    include_bytes!("../../domain/task.rs"),
    include_bytes!("../../domain/tool_call.rs"),
    include_bytes!("../../domain/truncation.rs"),
    include_bytes!("../../domain/step_result.rs"),
    include_bytes!("../../domain/usage.rs"),
    include_bytes!("checkpoint_file.rs"),
];

/// The FNV-1a hash of all of them, computed at compile time, so that it changes with the fold.
const FOLD_HASH: u64 = {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut n = 0;
    while n < SOURCES.len() {
        let (source, mut at) = (SOURCES[n], 0);
        while at < source.len() {
            hash = (hash ^ source[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        n += 1;
    }
    hash
};

/// Returns the version of the program and the hash of its fold.
pub(super) fn fold_fingerprint() -> String {
    format!("{} {FOLD_HASH:016x}", env!("CARGO_PKG_VERSION"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The list must contain everything in `domain`, and the parts of the engine that change or form the state.
    #[test]
    fn all_sources_of_the_fold_are_hashed() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = |folder: &str| -> BTreeSet<String> {
            std::fs::read_dir(src.join(folder))
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.strip_suffix(".rs").is_some())
                .map(|name| format!("{folder}/{name}"))
                .collect()
        };
        let mut expected = files("domain");
        expected.extend(files("engine/apply"));
        expected.extend(files("engine/event"));
        expected.extend(
            [
                "prefetch",
                "samples",
                "apply",
                "replay_start",
                "clock",
                "effect",
                "episode",
                "event",
                "token_ratio",
                "pool",
                "reply_tally",
                "state",
                "breakpoints",
                "waiting_prompts",
            ]
            .map(|n| format!("engine/{n}.rs")),
        );
        // Pictures are drawn from a state, what a job or an environment may use is taken from one, the verbs of actions are read from
        // a prompt, an address is checked before it is recorded, and a switch of models is an event with the whole run: none of these is ever in a state.
        let outside_states = [
            "action_verbs",
            "base_url",
            "call_phase",
            "picture",
            "job_context",
            "job_services",
            "model_switch",
            "trial_info",
        ]
        .map(|name| format!("domain/{name}.rs"));
        expected.retain(|name| !name.ends_with("tests.rs") && !outside_states.contains(name));
        let this_file = include_str!("fingerprint.rs");
        let missing: Vec<_> =
            expected.iter().filter(|n| !this_file.contains(&format!("\"../../{n}\""))).collect();
        assert!(missing.is_empty(), "not in SOURCES: {missing:?}");
    }
}
