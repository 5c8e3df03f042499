//! Tests of layers, errors and the reference.

use super::*;
use std::fs;

fn load_config(text: &str, variables: &[(&str, &str)]) -> Result<Config, CliError> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    fs::write(&file, text).unwrap();
    Config::load(Some(&file), |name| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_owned()))
}

#[test]
fn later_layers_override_earlier_ones() {
    let file = "[run]\nactor = \"human\"\n";
    let variable = [("RETROSPECT_ACTOR", "recorded:x")];
    let mut config = load_config("", &[]).unwrap();
    assert_eq!((config.get(keys::ACTOR), config.origin(&keys::ACTOR)), ("rules", &ValueOrigin::Default));
    config = load_config(file, &[]).unwrap();
    assert_eq!(config.get(keys::ACTOR), "human");
    assert!(matches!(config.origin(&keys::ACTOR), ValueOrigin::File(_, 2)));
    config = load_config(file, &variable).unwrap();
    assert_eq!(
        (config.get(keys::ACTOR), config.origin(&keys::ACTOR)),
        ("recorded:x", &ValueOrigin::Variable("RETROSPECT_ACTOR"))
    );
    config.set_flag(&keys::ACTOR, Some("rules")).unwrap();
    assert_eq!(
        (config.get(keys::ACTOR), config.origin(&keys::ACTOR)),
        ("rules", &ValueOrigin::Flag("--actor"))
    );
    config.set_flag(&keys::ACTOR, None).unwrap();
    assert_eq!(config.get(keys::ACTOR), "rules");
}

/// Regression: programs built on this crate share the configuration folder, and a key of one made every command of the
/// others fail.
#[test]
fn tables_of_another_program_are_ignored_with_a_warning() {
    let text = "[run]\ntrials = 2\n\n[counter]\npast = \"refused\"\n[preset.mine]\nadditions = 5\n[preset.a]\nr_freq = 5\n";
    let config = load_config(text, &[]).unwrap();
    assert_eq!(config.get(keys::TRIALS), 2);
    assert_eq!(config.preset_names().collect::<Vec<_>>(), ["a"]);
    let [table, preset] = config.warnings.as_slice() else { panic!("{:?}", config.warnings) };
    assert!(table.contains("config.toml:4: the table [counter] is ignored"), "{table}");
    assert!(preset.contains("config.toml:7: preset.mine is ignored"), "{preset}");
    assert!(load_config("[run]\ntrials = 2\n", &[]).unwrap().warnings.is_empty());
}

#[test]
fn errors_name_file_line_and_allowed_values() {
    let cases = [
        ("sessions = \n", "config.toml:1: invalid TOML"),
        (
            "\n[screen]\nthem = \"x\"\n",
            "config.toml:3: unknown key \"screen.them\"; did you mean \"screen.theme\"?",
        ),
        // A misspelt table of this program is no other program's.
        (
            "[scren]\ntheme = \"x\"\n",
            "config.toml:2: unknown key \"scren.theme\"; did you mean \"screen.theme\"?",
        ),
        ("[modles.a]\nmodel = \"x\"\n", "config.toml:1: unknown key"),
        ("theme = \"x\"\n", "config.toml:1: unknown key \"theme\"; did you mean \"screen.theme\"?"),
        ("[run]\ntrials = 0\n", "config.toml:2: run.trials: expected a whole number, at least 1"),
        ("[run]\nmethod = \"dreams\"\n", "config.toml:2: run.method: expected react, omnireflect"),
        ("[screen]\nmouse = \"yes\"\n", "config.toml:2: screen.mouse: expected true or false"),
        ("sessions = [1]\n", "config.toml:1: sessions: expected a path"),
        ("[preset.a]\nr_frek = 5\n", "config.toml:2: unknown setting \"r_frek\"; did you mean \"r_freq\"?"),
        (
            "[preset.a]\nseed = 5\n",
            "config.toml:2: \"seed\" is a configuration key, not a setting of a run; set it with --seed",
        ),
        ("[preset.a]\nr_freq = []\n", "config.toml:2: r_freq: expected a number, a boolean or a string"),
        ("[preset]\na = 1\n", "config.toml:2: preset.a is not a table"),
    ];
    for (text, words) in cases {
        let error = load_config(text, &[]).unwrap_err();
        assert!(error.message.contains(words), "{}", error.message);
        assert!(!error.hint.is_empty());
    }
    let error = load_config("", &[("RETROSPECT_TRIALS", "many")]).unwrap_err();
    assert!(
        error.message.starts_with("RETROSPECT_TRIALS=\"many\": expected a whole number"),
        "{}",
        error.message
    );
    assert_eq!(error.exit_code(), 1);
    let error = load_config("", &[]).unwrap().set_flag(&keys::INTERFACE, Some("3d")).unwrap_err();
    assert!(
        error.message.contains("--interface \"3d\": expected raw, react, agentboard"),
        "{}",
        error.message
    );
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn presets_are_named_groups_of_settings() {
    let config = load_config("[preset.fast]\nreflect = \"periodic\"\nr_freq = 5\n", &[]).unwrap();
    let preset: std::collections::BTreeMap<_, _> =
        config.preset_settings("fast").unwrap().iter().cloned().collect();
    assert_eq!(preset["r_freq"], 5);
    assert_eq!(preset["reflect"], "periodic");
    assert!(config.preset_settings("slow").unwrap_err().hint.contains("your own: fast"));
}

#[test]
fn sample_file_is_the_default_configuration() {
    let config = load_config(&sample_file(), &[]).unwrap();
    assert!(config.values.values().all(|v| v.1 == ValueOrigin::Default));
    let uncommented: String = sample_file()
        .lines()
        .map(|l| match l.strip_prefix('#') {
            Some(set) if set.contains(" = ") && !set.starts_with(' ') => format!("{set}\n"),
            Some(table) if table.starts_with('[') => format!("{table}\n"),
            _ => format!("{l}\n"),
        })
        .collect();
    let set = load_config(&uncommented, &[]).unwrap();
    for entry in ENTRIES.iter() {
        assert_eq!(set.values[entry.name].0, config.values[entry.name].0, "{}", entry.name);
        assert!(matches!(set.origin(entry), ValueOrigin::File(..)), "{}", entry.name);
    }
    assert_eq!(set.preset_settings("every-five").unwrap().len(), 2);
}

#[test]
fn every_default_is_valid_for_its_type() {
    for entry in ENTRIES.iter() {
        assert!(read::parse_value(entry, entry.default).is_ok(), "{}", entry.name);
    }
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIG.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, reference_page()).unwrap();
    }
    let current = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == reference_page(),
        "docs/CONFIG.md is stale: UPDATE=1 cargo test the_reference rewrites it"
    );
}

#[test]
fn settings_table_in_methods_document_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/METHODS.md");
    let written = std::fs::read_to_string(path).unwrap();
    let (text, table) = written.split_once("## Settings\n\n").unwrap();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, format!("{text}## Settings\n\n{}", reference::settings_table())).unwrap();
        return;
    }
    assert_eq!(table, reference::settings_table(), "docs/METHODS.md is stale: UPDATE=1 rewrites it");
}
