//! The table of methods, and the methods' intents in whole runs.

mod action_verbs;
mod benefit;
mod calibrated;
mod dora;
mod early_stop;
mod exemplars;
mod expel;
mod fcrf;
mod fcrf_material;
mod mentor;
mod neural;
mod own_texts;
mod planning;
mod prompt_order;
mod rci;
mod reflexion;
mod runs;
mod screen_plan;
mod summary_approval;
mod sweet_sour;
mod template_hash;
mod truncated;

use super::fixture::test_spec;
use super::*;
use crate::domain::{DefaultValue, PaperOrCode, SettingOrigin, SettingSpec, TypedSetting};
use crate::env::{EnvironmentOption, OptionValues};

#[test]
fn unknown_methods_are_rejected_with_a_clear_error() {
    let templates = Arc::new(crate::catalog::builtin_templates());
    for name in METHOD_NAMES.iter() {
        let policy = build_policy(&test_spec(name, &[]), Arc::clone(&templates)).unwrap();
        assert_eq!(policy.method.name(), *name);
    }
    let error = build_policy(&test_spec("raect", &[]), Arc::clone(&templates)).err().unwrap();
    assert_eq!(error.to_string(), format!("unknown method \"raect\"; known: {}", METHOD_NAMES.join(", ")));
    let mut omnireflect = test_spec("omnireflect", &[]);
    omnireflect.settings.set("generation", "oracular", SettingOrigin::Flag);
    let error = build_policy(&omnireflect, templates).err().unwrap();
    assert_eq!(
        (error.to_string(), error.hint()),
        (
            "unknown generation \"oracular\" for OmniReflect; known: symbolic, neural, neuro-symbolic"
                .to_owned(),
            "choose one of them with --set generation=...".to_owned()
        )
    );
}

/// Only an environment of the run can have an episode that the model makes up.
#[test]
fn a_made_up_episode_is_cut_by_the_openings_of_the_runs_environments() {
    let plan = "I will open the fridge first.";
    let reply =
        format!("{plan}\nYou are in the middle of a room. Looking quickly around you, you see a bed 1.");
    let read = |env: &str| {
        let mut run = test_spec("reflexion", &[("a", "")]);
        run.tasks[0].env = env.to_owned();
        let question = questions(&run)[0].question;
        let policy = build_policy(&run, Arc::new(builtin_templates())).unwrap();
        (policy.parse_mentor_reply)(question, &reply, None)
    };
    for env in ["household", "alfworld"] {
        let parsed = read(env);
        assert_eq!(parsed.items[0].text.text, plan, "{env}");
        assert!(parsed.complaints[0].contains("a trial that the model made up"), "{:?}", parsed.complaints);
    }
    let parsed = read("babyai");
    assert_eq!((&parsed.items[0].text.text, parsed.complaints.len()), (&reply, 0));
}

#[test]
fn defaults_have_an_origin_and_every_setting_is_listed_once() {
    let steps = |method, source| defaults(method, source).0.steps;
    assert_eq!(steps("react", PaperOrCode::Paper), 50);
    assert_eq!(steps("react", PaperOrCode::Code), 49);
    assert_eq!(steps("omnireflect", PaperOrCode::Code), 50);
    let (_, settings, loops) = defaults("omnireflect", PaperOrCode::Paper);
    assert!(!loops);
    assert_eq!(settings.recorded("reflect").unwrap().origin, SettingOrigin::Paper);
    assert_eq!(settings.recorded("progress").unwrap().origin, SettingOrigin::BuiltIn);
    assert!(!defaults("react", PaperOrCode::Paper).1.contains("reflect"));
    let mut names: Vec<_> = SETTINGS.iter().map(|s| s.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SETTINGS.len());
    // The papers' numbers of trials, used if none is given.
    for (name, trials) in
        [("omnireflect", 1), ("reflexion", 15), ("fcrf", 5), ("sweet_sour", 4), ("planning", 5), ("dora", 1)]
    {
        assert_eq!(default_trials(name), trials, "{name}");
    }
}

/// Regression: the settings table called the limits of every method those of a paper.
#[test]
fn limits_of_an_own_method_are_not_those_of_a_paper() {
    let origins = |entry: &MethodEntry| {
        let of = [PaperOrCode::Paper, PaperOrCode::Code].map(|source| entry.step_limit_origin(source));
        (of, entry.trials_origin())
    };
    use SettingOrigin::{BuiltIn, Code, Paper};
    let own = MethodEntry { limits_origin: BuiltIn, trials: 3, step_limits: (9, 9), ..*BASE_METHOD };
    assert_eq!(origins(&own), ([BuiltIn, BuiltIn], BuiltIn));
    assert_eq!(origins(find_method("react").unwrap()), ([Paper, Code], BuiltIn));
    assert_eq!(origins(find_method("fcrf").unwrap()), ([Paper, Code], Paper));
    let without_paper = MethodEntry::new("own", BASE_METHOD.build, ModelNeed::NoMentor);
    assert_eq!(without_paper.paper_origin(), BuiltIn);
    for name in
        ["react", "omnireflect", "reflexion", "fcrf", "sweet_sour", "planning", "expel", "rci", "dora"]
    {
        assert_eq!(find_method(name).unwrap().paper_origin(), Paper, "{name}");
    }
}

/// Regression: a mistake in an extension's template emptied the prompts of every method without a word.
#[test]
fn entries_that_clash_or_cannot_be_used_are_refused() {
    assert_eq!(extend::check(&Extension::default()), Ok(()), "the built-in entries");
    let refused = |method: MethodEntry| {
        let methods: &'static [&'static MethodEntry] = vec![&*Box::leak(Box::new(method))].leak();
        extend::check(&Extension { methods, environments: &[] }).unwrap_err().to_string()
    };
    let entry = || MethodEntry { name: "own", templates: &[], ..*BASE_METHOD };
    let lanes: &'static [Lane] = vec![BASE_METHOD.lanes[0]; 2].leak();
    const EMPTY: &[Lane] = &[Lane::plain("Own", &[])];
    const CLASH: SettingSpec = TypedSetting::number("examples", "", 9, (0, 9), SettingOrigin::BuiltIn).spec;
    let template = |text: &'static str| MethodEntry { templates: vec![("own.toml", text)].leak(), ..entry() };
    const SMALL: MethodPreset =
        MethodPreset { name: "small", meaning: "", trials: 1, steps: 9, settings: &[] };
    let preset = |name: &'static str, setting: &'static str| {
        let settings = vec![(setting, DefaultValue::Number(9))].leak();
        MethodEntry { presets: vec![MethodPreset { name, settings, ..SMALL }].leak(), ..entry() }
    };
    let job = JobEntry { name: "job", label: "", compute: |_, _| Ok(Value::Null) };
    let jobs: &'static [JobEntry] = vec![JobEntry { ..job }, job].leak();
    let cases = [
        (MethodEntry { name: "react", ..entry() }, "there are two methods named \"react\""),
        (MethodEntry { settings: &[CLASH], ..entry() }, "there are two settings named \"examples\""),
        (MethodEntry { jobs, ..entry() }, "there are two jobs named \"job\""),
        (
            preset("small", "exmples"),
            "the preset small of the method own: the method has no setting \"exmples\"",
        ),
        (preset("small", "examples"), "the preset small of the method own: setting examples: "),
        (
            MethodEntry { presets: vec![SMALL, SMALL].leak(), ..entry() },
            "there are two presets named \"small\"",
        ),
        // Rows of published tables are presets, too.
        (
            MethodEntry {
                presets: vec![MethodPreset { name: "fcrf-1-planning", ..SMALL }].leak(),
                ..entry()
            },
            "there are two presets named \"fcrf-1-planning\"",
        ),
        (
            MethodEntry { published: &["[paper]\ntitle = 'Own'\ntasks = {}\nsplitt = 'all'\n"], ..entry() },
            "the published tables of the method own: TOML parse error at line 4",
        ),
        // Regression: a question without a template sent an empty prompt, and nothing said so.
        (
            MethodEntry { questions: find_method("reflexion").unwrap().questions, ..entry() },
            "the method own asks its mentor reflect.plan, but has no prompt for it; add a file with `method = \"own\"`, \
             `question = \"reflect.plan\"`",
        ),
        (MethodEntry { lanes, ..entry() }, "method own: two lanes show lessons of the kind"),
        (MethodEntry { lanes: EMPTY, ..entry() }, "method own: the lane \"Own\" shows no kind of lesson"),
        (template("method = "), "own.toml:1: "),
        (template("method = 'owm'"), "own.toml:1: no method is named \"owm\"; expected one of react, "),
        (
            template("method = 'own'\n[[segment]]\nlabel = 'instruction'\nworld = 'instructoin'"),
            "own.toml:4: no text of an environment is named \"instructoin\"; expected one of ",
        ),
        (
            template("method = 'own'\n[[segment]]\nlabel = 'memory'\nlast = 'memories'"),
            "own.toml:4: no setting with a whole number is named \"memories\"; expected one of ",
        ),
        // Regression: a limit by a setting that is no number showed all lessons, and nothing said so.
        (
            template("method = 'own'\n[[segment]]\nlabel = 'memory'\nlast = 'generation'"),
            "own.toml:4: no setting with a whole number is named \"generation\"; expected one of ",
        ),
        (
            template("method = 'own'\n[[segment]]\nlabel = 'memory'\nlast = 0"),
            "own.toml:4: `last` is 0, so no lesson would ever be shown",
        ),
        (
            template(
                "method = 'own'\n[[segment]]\nlabel = 'cue'\ntext = '>'\nwhen = { setting = 'generation', is = 'neurall' }",
            ),
            "own.toml:5: generation is never \"neurall\"; expected symbolic, ",
        ),
        // Regression: a segment with a condition that can't hold never appeared, and nothing said so.
        (
            template(
                "method = 'own'\n[[segment]]\nlabel = 'cue'\ntext = '>'\nwhen = { setting = 'thoughts_count', is = 'on' }",
            ),
            "own.toml:5: thoughts_count is never \"on\"; expected true or false",
        ),
        (
            template(
                "method = 'own'\n[[segment]]\nlabel = 'cue'\ntext = '>'\nwhen = { setting = 'method', is = 'owm' }",
            ),
            "own.toml:5: method is never \"owm\"; expected one of react, ",
        ),
        (
            template(
                "method = 'own'\n[[segment]]\nlabel = 'cue'\ntext = '>'\nwhen = { setting = 'role', is = 'calibration' }",
            ),
            "own.toml:5: role is never \"calibration\"; expected one of test, calibrate, explore",
        ),
        (template("envs = ['counter', 'housold']"), "own.toml:1: no environment is named \"counter\""),
        // Regression: no prompt ever asked for a misspelt text of an environment, and nothing said so.
        (
            template("envs = ['household']\n[texts]\ninstruction = 'Act.'\n'answer_eror.put' = '[]'\n"),
            "own.toml:4: no text that a prompt shows is named \"answer_eror\"; expected one of agentboard, answer_",
        ),
        (
            template(
                "envs = ['miniwob']\n[[variant]]\nwhen = { setting = 'miniwob.action', is = 'rci' }\ntexts = {}",
            ),
            "own.toml:3: no option of an environment is named \"miniwob.action\"; expected one of ",
        ),
        (
            template(
                "envs = ['miniwob']\n[[variant]]\nwhen = { setting = 'miniwob.actions', is = 'rcy' }\ntexts = {}",
            ),
            "own.toml:3: miniwob.actions is never \"rcy\"; expected one of full, code, paper, rci",
        ),
        (MethodEntry { templates: BASE_METHOD.templates, ..entry() }, "there are two template files named"),
    ];
    for (entry, expected) in cases {
        let message = refused(entry);
        assert!(message.starts_with(expected), "{message:?} instead of {expected:?}");
    }
    let environments: &'static [_] = &[DEFAULT_ENVIRONMENT];
    let error = extend::check(&Extension { methods: &[], environments }).unwrap_err();
    assert!(error.to_string().starts_with("there are two environments named"), "{error}");
    let values = OptionValues::Words(&[]);
    let option = EnvironmentOption { name: "own.way", meaning: "", values, variable: "OWN_WAY" };
    let refused = |option| {
        let options: &'static [_] = vec![option].leak();
        let own = EnvironmentEntry {
            name: "own",
            options,
            templates: &[],
            task_facts: TaskFacts::NONE,
            ..*DEFAULT_ENVIRONMENT
        };
        let environments: &'static [&'static EnvironmentEntry] = vec![&*Box::leak(Box::new(own))].leak();
        extend::check(&Extension { methods: &[], environments }).unwrap_err()
    };
    assert_eq!(refused(option), ExtensionError::NoWords { option: "own.way" });
    let values = OptionValues::Number { minimum: 2, default: 1 };
    let too_small = ExtensionError::DefaultTooSmall { option: "own.way", minimum: 2 };
    assert_eq!(refused(EnvironmentOption { values, ..option }), too_small);
    let option = EnvironmentOption { name: "run.seed", values: OptionValues::Path, ..option };
    assert_eq!(refused(option), ExtensionError::OptionPrefix { environment: "own", option: "run.seed" });
    let second = EnvironmentEntry {
        name: "own",
        public_files: find_environment("alfworld").unwrap().public_files,
        options: &[],
        templates: &[],
        task_facts: TaskFacts::NONE,
        ..*DEFAULT_ENVIRONMENT
    };
    let environments: &'static [&'static EnvironmentEntry] = vec![&*Box::leak(Box::new(second))].leak();
    let error = extend::check(&Extension { methods: &[], environments }).unwrap_err();
    assert_eq!(error, ExtensionError::PublicFiles { first: "alfworld", second: "own" });
}
