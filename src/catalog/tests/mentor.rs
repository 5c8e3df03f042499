//! Settings derived from the mentor, and the cases in which it is never called.

use crate::catalog::fixture::test_spec;
use crate::catalog::{
    ENVIRONMENTS, METHODS, apply_mentor_defaults, builtin_templates, ignored_lesson_reason, parse_templates,
    switch_model, unshown_lessons_warning, unsuited_actor_warning, unused_mentor_reason,
};
use crate::domain::{LessonText, ModelRole, ReflectionKind, RunSpec, SettingOrigin};
use crate::prompt::Templates;
use serde_json::json;

fn generation(run: &RunSpec) -> (&str, SettingOrigin) {
    (run.settings.text("generation", ""), run.settings.recorded("generation").unwrap().origin)
}

/// Regression: a model named as mentor was silently never called unless `generation` was set too.
#[test]
fn a_model_as_mentor_makes_the_default_generation_neural() {
    use SettingOrigin::{BuiltIn, Config, Flag, Mentor, Paper, Person};
    // Mentor; previous value and origin of generation (none: the default); whether a preset was chosen; the expected
    // result.
    type Case = (&'static str, Option<(&'static str, SettingOrigin)>, bool, (&'static str, SettingOrigin));
    let cases: [Case; 12] = [
        ("symbolic", None, false, ("symbolic", BuiltIn)),
        ("none", None, false, ("symbolic", BuiltIn)),
        ("openai:m", None, false, ("neural", Mentor)),
        ("recorded:s", None, false, ("neural", Mentor)),
        ("openai:m", None, true, ("neural", Mentor)),
        ("openai:m", Some(("symbolic", Flag)), false, ("symbolic", Flag)),
        ("openai:m", Some(("symbolic", Config)), true, ("symbolic", Config)),
        ("openai:m", Some(("symbolic", Person)), false, ("symbolic", Person)),
        ("openai:m", Some(("neuro-symbolic", Flag)), false, ("neuro-symbolic", Flag)),
        // A preset sets the origin `paper`. Version 0.1 recorded it for the default, too, without a preset.
        ("openai:m", Some(("symbolic", Paper)), true, ("symbolic", Paper)),
        ("openai:m", Some(("symbolic", Paper)), false, ("neural", Mentor)),
        ("symbolic", Some(("neural", Mentor)), false, ("symbolic", BuiltIn)),
    ];
    for (mentor, before, preset, expected) in cases {
        let mut run = test_spec("omnireflect", &[("a", "")]);
        if let Some((value, origin)) = before {
            run.settings.set("generation", value, origin);
        }
        if preset {
            run.settings.set("preset", "some", Flag);
        }
        apply_mentor_defaults(mentor, &mut run.settings);
        assert_eq!(generation(&run), expected, "{mentor} {before:?} {preset}");
    }
    // A fork, the model dialog and `--plain` can switch the mentor and switch it back.
    let run = test_spec("omnireflect", &[("a", "")]);
    let other = switch_model(&run, ModelRole::Mentor, "openai:m").unwrap();
    assert_eq!(generation(&other), ("neural", Mentor));
    assert_eq!(
        json!(other.settings.recorded("generation").unwrap()),
        json!({"value": "neural", "origin": "mentor"})
    );
    assert_eq!(switch_model(&other, ModelRole::Mentor, "symbolic").unwrap().settings, run.settings);
    // A method without the setting doesn't get it.
    assert_eq!(
        switch_model(&test_spec("fcrf", &[]), ModelRole::Mentor, "openai:m").unwrap().settings,
        test_spec("fcrf", &[]).settings
    );
}

/// Regression: with other settings, too, a model named as mentor was silently never called.
#[test]
fn an_unused_mentor_is_reported_with_the_setting_to_change() {
    // Method; trials; settings; words expected in the reason and the suggestion (none: the mentor is called).
    type Case = (&'static str, u32, &'static [(&'static str, &'static str)], &'static [&'static str]);
    let cases: &[Case] = &[
        ("react", 1, &[], &["ReAct", "--calibrate"]),
        ("react", 1, &[("calibration", "1"), ("generation", "neural")], &[]),
        ("react", 1, &[("calibration", "1"), ("generation", "symbolic")], &["rules", "generation=neural"]),
        ("omnireflect", 1, &[], &["rules", "generation=neural"]),
        ("omnireflect", 1, &[("generation", "neural")], &[]),
        (
            "omnireflect",
            1,
            &[("generation", "neural"), ("reflect", "never")],
            &["no reflections", "reflect=periodic"],
        ),
        ("omnireflect", 1, &[("generation", "neural"), ("reflect", "never"), ("s_freq", "2")], &[]),
        ("omnireflect", 1, &[("generation", "neural"), ("kind_error", "false")], &[]),
        (
            "omnireflect",
            1,
            &[
                ("generation", "neural"),
                ("kind_error", "false"),
                ("kind_abstract", "false"),
                ("kind_progress", "false"),
            ],
            &["no reflections", "kind_abstract"],
        ),
        ("reflexion", 2, &[], &[]),
        ("reflexion", 2, &[("strategy", "both")], &[]),
        ("reflexion", 2, &[("strategy", "none")], &["writes no plans", "strategy=reflexion"]),
        ("reflexion", 2, &[("strategy", "last-attempt")], &["writes no plans", "strategy=reflexion"]),
        ("reflexion", 1, &[], &["one trial", "--trials 2"]),
        ("reflexion", 1, &[("reflect_after_last", "true")], &[]),
        ("fcrf", 2, &[], &[]),
        ("fcrf", 1, &[], &["one trial", "reflect_after_last=true"]),
        ("fcrf", 1, &[("lesson_pool", "summary")], &[]),
        ("sweet_sour", 1, &[("positive", "false")], &[]),
        ("sweet_sour", 1, &[("positive", "false"), ("negative", "false")], &["off", "negative=true"]),
        ("planning", 1, &[], &[]),
    ];
    for (method, trials, settings, expected) in cases {
        let mut run = test_spec(method, &[("a", ""), ("b", "")]);
        run.trials = *trials;
        for (name, value) in *settings {
            let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            run.settings.set(name, value, SettingOrigin::Flag);
        }
        assert_eq!(unused_mentor_reason(&run), None, "{method}: a symbolic mentor is never reported");
        run.mentor = "openai:m".to_owned();
        let reason = unused_mentor_reason(&run);
        assert_eq!(reason.is_some(), !expected.is_empty(), "{method} {settings:?}: {reason:?}");
        if let Some(reason) = reason {
            assert!(reason.starts_with("the mentor openai:m will never be called: "), "{reason}");
            assert!(expected.iter().all(|word| reason.contains(word)), "{method} {settings:?}: {reason}");
        }
    }
}

/// The rule-based actor plays every built-in environment, so only other programs and extensions get its warning.
#[test]
fn the_rule_based_actor_suits_all_built_in_environments() {
    for entry in ENVIRONMENTS.iter().filter(|entry| !entry.tasks.is_external()) {
        let mut run = test_spec("react", &[("a", "")]);
        run.tasks[0].env = entry.name.to_owned();
        assert_eq!(unsuited_actor_warning(&run), None, "{}", entry.name);
    }
    let unknown = ENVIRONMENTS.iter().find(|entry| entry.rule_based_reply.is_none());
    let mut run = test_spec("react", &[("a", "")]);
    run.tasks[0].env = unknown.unwrap().name.to_owned();
    let warning = unsuited_actor_warning(&run).unwrap();
    assert!(warning.contains("it will only look around"), "{warning}");
}

/// Regression: 400 episodes were played without a valid action and without a warning.
#[cfg(unix)]
#[test]
fn the_rule_based_actor_is_warned_of_a_view_that_it_cannot_read() {
    let mut run = test_spec("react", &[("a", "")]);
    run.tasks[0].env = "miniwob".to_owned();
    assert_eq!(unsuited_actor_warning(&run), None);
    for (name, value) in [("miniwob.view", "html"), ("miniwob.actions", "rci")] {
        run.settings.set(name, value, SettingOrigin::Flag);
    }
    let warning = unsuited_actor_warning(&run).unwrap();
    for part in
        ["miniwob.view=html and miniwob.actions=rci", "--set miniwob.view=dom --set miniwob.actions=full"]
    {
        assert!(warning.contains(part), "{warning}");
    }
    run.actor = "openai:m".to_owned();
    assert_eq!(unsuited_actor_warning(&run), None);
}

/// Regression: a lesson that the rules don't understand was saved as if it could change something.
#[test]
fn a_lesson_that_the_rules_ignore_is_said_to_change_nothing() {
    let mut checked = 0;
    for entry in ENVIRONMENTS.iter() {
        let Some(forms) = entry.task_facts.lesson_forms else { continue };
        let mut run = test_spec("react", &[("a", "")]);
        run.actor = "rules".to_owned();
        let reason = |run: &RunSpec, text: &str| {
            ignored_lesson_reason(run, entry.name, ReflectionKind::Abstract, &LessonText::plain(text))
        };
        let document = include_str!("../../../docs/LESSON_FORMS.md");
        for sentence in forms.sentences {
            assert_eq!(reason(&run, sentence), None);
            // The table says `Look for a X in/on a Y first.`
            let form = sentence.replace("a mug", "a X").replace("a shelf", "a Y");
            assert!(document.contains(&form), "docs/LESSON_FORMS.md lacks {form}");
        }
        let said = reason(&run, "Be brave.").unwrap();
        assert!(said.contains(forms.sentences[0]), "{said}");
        run.actor = "openai:m".to_owned();
        assert_eq!(reason(&run, "Be brave."), None, "a model reads any sentence");
        checked += 1;
    }
    assert!(checked > 0);
}

/// Regression: an instruction for a mentor that is a model was called ignored, because the rule-based actor doesn't read it.
#[test]
fn a_text_that_only_the_mentor_reads_is_not_called_ignored_by_the_actor() {
    for (method, of_mentor, of_actor) in [
        ("dora", ReflectionKind::Instruction, ReflectionKind::Advice),
        ("rci", ReflectionKind::Negative, ReflectionKind::Plan),
    ] {
        let mut run = test_spec(method, &[("a", "")]);
        (run.actor, run.mentor) = ("rules".to_owned(), "openai:m".to_owned());
        let reason = |kind| ignored_lesson_reason(&run, "household", kind, &LessonText::plain("Be brave."));
        assert_eq!(reason(of_mentor), None, "{method}");
        assert!(reason(of_actor).is_some(), "{method}");
    }
}

/// Regression: with a template without a segment for the method's lessons none reached a prompt, and nothing said so.
#[test]
fn a_kind_of_lesson_without_a_segment_is_warned_of() {
    let warning =
        |method, templates: &Templates| unshown_lessons_warning(&test_spec(method, &[("a", "")]), templates);
    for entry in METHODS.iter() {
        assert_eq!(warning(entry.name, &builtin_templates()), None, "{}", entry.name);
    }
    let with_label = |label| {
        let text = format!(
            "method = \"reflexion\"\n[[segment]]\nlabel = \"{label}\"\n[[segment]]\nlabel = \"task\"\n"
        );
        parse_templates(vec![("reflexion.toml".to_owned(), text)]).unwrap()
    };
    assert_eq!(warning("reflexion", &with_label("memory")), None);
    let text = warning("reflexion", &with_label("abstract")).unwrap();
    assert!(
        text.starts_with("no prompt will show lessons of the kind Plan: the templates of reflexion"),
        "{text}"
    );
    assert!(text.ends_with("kinds = [\"plan\"]"), "{text}");
}

/// What an entry says about its kinds must be true of its templates: the first one is the actor's.
#[test]
fn kinds_for_the_mentor_alone_are_in_no_segment_of_the_actor() {
    let mut checked = 0;
    for entry in METHODS.iter() {
        let Some((_, actor)) = entry.templates.first() else { continue };
        let others: String = entry.templates[1..].iter().map(|(_, text)| *text).collect();
        for kind in entry.mentor_only {
            let word = format!("\"{}\"", kind.name().to_lowercase());
            let shows = |text: &str| {
                text.lines().any(|line| line.trim_start().starts_with("kinds") && line.contains(&word))
            };
            assert!(!shows(actor) && shows(&others), "{} {word}", entry.name);
            checked += 1;
        }
    }
    assert!(checked >= 2);
}
