//! Which changes of the template files a run notices.

use crate::catalog::fixture::test_spec;
use crate::catalog::{ENVIRONMENTS, METHODS, parse_templates, templates};
use crate::domain::{CALIBRATION_SETTING, RunSpec, SettingOrigin};
use crate::prompt::Templates;

fn run(method: &str) -> RunSpec {
    test_spec(method, &[("easy/put/1", "put"), ("easy/put/2", "put")])
}

fn calibrated(method: &str) -> RunSpec {
    let mut run = run(method);
    run.settings.set(CALIBRATION_SETTING, 1, SettingOrigin::Flag);
    run
}

/// Returns whether the hash of a run changes if a comment is added to a built-in file.
fn notices(run: &RunSpec, file: &str) -> bool {
    let program = templates::files(&METHODS, &ENVIRONMENTS);
    let (_, text) = program.files.iter().find(|(name, _)| *name == file).expect(file);
    let changed = parse_templates(vec![(file.to_owned(), format!("{text}# changed\n"))]).expect("it parses");
    changed.hash_for(run) != parse_templates(Vec::new()).expect("they parse").hash_for(run)
}

#[test]
fn another_method_or_environment_changes_no_hash() {
    let program = templates::files(&METHODS, &ENVIRONMENTS);
    let mut extended = templates::files(&METHODS, &ENVIRONMENTS);
    extended.methods.push("another");
    extended.environments.push("elsewhere");
    extended.files.push(("another.toml", "method = \"another\"\n[[segment]]\nlabel = \"task\"\n"));
    let question = "method = \"another\"\nquestion = \"reflect.error\"\n[[segment]]\nlabel = \"guidance\"\nworld = \"hint\"\n";
    extended.files.push(("another-error.toml", question));
    extended.files.push(("elsewhere.toml", "envs = [\"elsewhere\"]\n[texts]\nhint = \"Look up.\"\n"));
    let [before, after] =
        [program, extended].map(|program| Templates::parse(&program, Vec::new()).expect("they parse"));
    for method in METHODS.iter().map(|entry| entry.name) {
        for run in [run(method), calibrated(method)] {
            assert_eq!(before.hash_for(&run), after.hash_for(&run), "{method}");
        }
    }
    assert_ne!(after.hash_for(&run("another")), after.hash_for(&run("react")), "it has prompts of its own");
}

#[test]
fn a_run_notices_changes_of_what_it_can_show() {
    // An example, the actor's prompt, a question to the mentor.
    assert!(notices(&run("react"), "put.txt"));
    assert!(notices(&run("react"), "react.toml"));
    assert!(notices(&run("reflexion"), "reflexion-plan.toml"));
    // What another method plays.
    assert!(notices(&calibrated("react"), "omnireflect-error.toml"));
    assert!(!notices(&run("react"), "omnireflect-error.toml"));
    assert!(!notices(&run("react"), "reflexion-plan.toml"));
    let mut babyai = run("react");
    for task in &mut babyai.tasks {
        "babyai".clone_into(&mut task.env);
    }
    assert!(!notices(&babyai, "put.txt"));
}
