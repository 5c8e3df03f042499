//! Reports, presets of the papers' rows, and episodes played again.

use super::Home;
use serde_json::Value;

#[test]
fn a_report_says_what_a_run_came_to_and_that_nothing_published_is_like_it() {
    let home = Home::new();
    let run = ["run", "--tasks", "easy/put/1-2", "--method", "react", "-q"];
    home.run(&run).ok();
    let text = home.run(&["report", "--last", "--against", "paper"]).ok().out;
    for words in ["stand-in, no model", "grounding", "IQM", "no table of the papers is about household"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let told: Value = serde_json::from_str(&home.run(&["report", "--last", "--json"]).ok().out).unwrap();
    assert_eq!(told["ways"][0]["all"]["tasks"], 2);
    assert!(home.run(&["report", "--last", "-f", "markdown"]).ok().out.contains("| tasks of | tasks |"));
}

#[test]
fn a_preset_is_the_settings_of_a_row_and_flags_count_more() {
    let home = Home::new();
    let args =
        ["run", "--preset", "omnireflect-1-symbolic", "--task", "easy/put/1", "--trials", "2", "--json"];
    let run = &home.run(&args).ok().lines()[0];
    assert_eq!(
        (&run["method"], &run["max_steps"], &run["trials"]),
        (&"omnireflect".into(), &50.into(), &2.into())
    );
    assert_eq!(run["settings"]["generation"], serde_json::json!({"value": "symbolic", "origin": "paper"}));
    assert_eq!(run["settings"]["preset"]["value"], "omnireflect-1-symbolic");
    let listed = home.run(&["config", "show"]).ok().out + &home.run(&["run", "--help"]).ok().out;
    assert_eq!(listed.matches("omnireflect-1-symbolic").count(), 2);
}

/// The second episode begins with what the first taught; played again alone it goes as it went.
#[test]
fn an_episode_played_again_begins_with_its_lessons_and_goes_as_it_went() {
    let home = Home::new();
    home.run(&["run", "--tasks", "normal/heat/1-2", "-q"]).ok();
    let session = home.session();
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    let again = home.run(&["rerun", "--last#2", "--json"]).ok().lines();
    let first = home.run(&["open", &name, "--json"]).ok().lines();
    let steps = |lines: &[Value], episode: u64| -> Vec<Value> {
        let of = |l: &&Value| l["type"] == "step" && l["episode"] == episode;
        lines.iter().filter(of).map(|l| serde_json::json!([l["action"], l["observation"]])).collect()
    };
    assert!(!steps(&again, 2).is_empty());
    assert_eq!(steps(&again, 2), steps(&first, 2));
    assert_eq!(again[0]["settings"]["from.session"]["value"], name);
    assert_eq!(again[0]["settings"]["from.number"]["value"], 2);
    home.run(&["verify", again[0]["name"].as_str().unwrap()]).ok();
    let none = home.run(&["rerun", &format!("{name}#3")]);
    assert!(none.code == 2 && none.err.contains("there is no episode 3; it has 2"), "{}", none.err);
}

/// What an episode asked and did, as far as it must be the same when it is played again.
fn asked(session: &std::path::Path, episode: u64) -> Vec<Value> {
    let text = std::fs::read_to_string(session.join("branches/trunk.jsonl")).unwrap();
    let events = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own = events.skip_while(|e| e["type"] != "episode_started" || e["episode"] != episode);
    let mut begun = 0;
    let own = own.take_while(|e| {
        begun += usize::from(e["type"] == "episode_started");
        begun < 2
    });
    let part = |e: Value| match e["type"].as_str() {
        Some("episode_started") => Some(serde_json::json!([e["episode"], e["trial"], e["role"]])),
        Some("prompt_sent") => Some(serde_json::json!([e["asked"], e["step"], e["seed"], e["sha256"]])),
        Some("action_taken") => Some(e["action"].clone()),
        Some("reflected") => Some(e["reflection"]["items"].clone()),
        _ => None,
    };
    own.filter_map(part).collect()
}

/// It began at trial 1, without the last attempt, and with the plans of other tasks.
#[test]
fn an_episode_played_again_has_its_trial_the_last_attempt_and_its_methods_memory() {
    let cases: &[(&str, &[&str])] = &[
        ("reflexion", &["--set", "strategy=both"]),
        ("reflexion", &["--set", "strategy=last-attempt"]),
        ("reflexion", &[]),
        ("fcrf", &[]),
        ("sweet_sour", &[]),
        ("omnireflect", &["--set", "reflect=never"]),
    ];
    for (method, more) in cases {
        let home = Home::new();
        let run = ["run", "--tasks", "hard/*/1", "--only", "4", "--max-steps", "16", "--trials", "2", "-q"];
        home.run(&[&run[..], &["--method", method], more].concat()).ok();
        let first = home.session();
        let name = first.file_name().unwrap().to_str().unwrap().to_owned();
        let ended = home.run(&["open", &name, "--json"]).ok().lines();
        let trial = ended.iter().filter(|l| l["type"] == "episode_end" && l["trial"] == 2).nth(1);
        let number =
            trial.unwrap_or_else(|| panic!("{method}: no second trial"))["episode"].as_u64().unwrap();
        home.run(&["rerun", &format!("{name}#{number}"), "-q"]).ok();
        let again = home.run(&["sessions", "--json"]).ok().lines();
        let again = std::path::PathBuf::from(again[0]["path"].as_str().unwrap());
        assert_ne!(again, first, "the newest of two sessions of the same second");
        let (was, is) = (asked(&first, number), asked(&again, number));
        assert!(was.len() > 5 && was == is, "{method} {more:?} episode {number}\n{was:#?}\n{is:#?}");
        home.run(&["verify", again.to_str().unwrap()]).ok();
    }
}
