//! The words with which actions begin, as replies are read in each environment.

use crate::catalog::fixture::{FakeHousehold, TestRun, test_spec};
use crate::domain::ActionVerbs;
use crate::prompt::action_verbs;
use std::sync::Arc;

fn play_in(env: &str, task_type: &str, replies: &[&str], files: Vec<(String, String)>) -> TestRun {
    let mut spec = test_spec("react", &[("put/1", task_type)]);
    env.clone_into(&mut spec.tasks[0].env);
    let templates = crate::catalog::parse_templates(files).unwrap();
    let mut play = TestRun::with_templates(spec, Vec::new(), Arc::new(templates));
    play.play_script(&mut FakeHousehold::kitchen("put a hot apple in garbagecan"), replies);
    play
}

fn verbs_in(env: &str, task_type: &str) -> ActionVerbs {
    let play = play_in(env, task_type, &["look"], Vec::new());
    let (state, prompt) = play.prompts.last().unwrap();
    action_verbs(state, prompt)
}

/// Regression: with an environment of another program whose verb is `add`, the first line was executed; with `move`, which one of the
/// built-in environments has, the second.
#[test]
fn the_forms_of_an_instruction_tell_an_action_from_the_sentence_before_it() {
    let instruction = "Write a single line. The actions:\n- add [number]\n- think: [a thought]\n";
    let texts = format!("envs = []\n[texts]\ninstruction = '''\n{instruction}'''\n");
    for (reply, thought) in
        [("Start with the five.\nadd 5", "Start with the five."), ("Move on.\nadd 5", "Move on.")]
    {
        let play = play_in("calculator", "", &[reply], vec![("any.toml".to_owned(), texts.clone())]);
        let step = play.state().open_episode().unwrap().step(1).unwrap();
        let executed = step.executed.as_ref().map(|executed| executed.action.as_str());
        assert_eq!((step.thought.as_deref(), executed), (Some(thought), Some("add 5")));
    }
}

/// The reader knows no environment: the words are in the instructions and the examples.
#[test]
fn the_prompts_of_each_environment_show_the_verbs_of_its_actions() {
    let household = "go to desk 1|open box 1|close box 1|take cd 1 from desk 1|put cd 1 in/on desk 1|move cd 1 to desk 1|\
        heat egg 1 with microwave 1|cool egg 1 with fridge 1|clean egg 1 with sinkbasin 1|use desklamp 1|\
        slice egg 1 with knife 1|examine cd 1|look|inventory";
    for (env, task_type, actions) in [
        ("household", "put", household),
        ("alfworld", "put", household),
        (
            "babyai",
            "",
            "turn left|move forward|go to red ball 1|pickup key 1|drop|toggle|go through red door 1|check available actions",
        ),
        (
            "pddl",
            "gripper",
            "move rooma roomb|pick ball1 rooma left|drop ball1 rooma left|look around|check valid actions",
        ),
        ("pddl", "blockworld", "pickup b1|putdown b1|stack b1 b2|unstack b1 b2"),
        (
            "pddl",
            "barman",
            "left grasp shot1|right leave shot1|fill-shot shot1|refill-shot shot1|empty-shot left shot1|clean-shot shot1|\
             pour-shot-to-clean-shaker shot1|empty-shaker left shaker1|shake cocktail1",
        ),
        (
            "pddl",
            "tyreworld",
            "open boot|close boot|fetch jack boot|put-away jack boot|loosen nut1 hub1|tighten nut1 hub1|jack-up hub1|undo nut1 hub1|\
             do-up nut1 hub1|remove-wheel w1 hub1|put-on-wheel w1 hub1|inflate w1",
        ),
        (
            "scienceworld",
            "",
            "open door|close door|activate sink|deactivate sink|connect a to b|disconnect a|use a on b|look around|read book|\
             move a to b|pick up a|put down a|pour a in b|dunk a in b|mix a|go to hall|eat a|flush toilet|focus on a|wait|wait1|\
             inventory|task",
        ),
        (
            "miniwob",
            "click-color",
            "click_element 3|focus_element_and_type_text 3 a|press_key a|clickxpath //a|type a|press enter",
        ),
        ("hotpotqa", "", "Search[Rome]|Lookup[capital]|Finish[Rome]"),
    ] {
        let verbs = verbs_in(env, task_type);
        for action in actions.split('|') {
            assert!(verbs.begin(action), "{env} {task_type}: {action} in {verbs:?}");
        }
        assert!(!verbs.begin("Start with the five."), "{env}");
    }
    // An instruction that lists no forms leaves the usual verbs.
    let usual = verbs_in("stdio", "");
    assert!(usual.begin("take cd 1") && !usual.begin("unstack b1 b2"));
}
