//! What DORA's prompter is given: the text after the soft prompt, from the jobs that a run records. The recorded pairs are those
//! of a model as prompter in every build, since text steering draws them too.

use crate::Home;
use crate::stand_in::{Exchange, StandIn};
use retrospect::prompter::template::{VICUNA, render};
use serde_json::Value;

/// The usual first sentences of Vicuna's prompts, which DORA's public code puts before its text.
const SYSTEM: &str = "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, and polite \
     answers to the user's questions.";

/// Returns the text for a Vicuna as prompter for each instruction of the only session of a home, in order; none if its method
/// has no prompter.
pub(crate) fn prompter_requests(home: &Home) -> Vec<String> {
    let jobs = instruction_jobs(home).into_iter();
    jobs.map(|inputs| {
        let demos: Vec<[String; 2]> = serde_json::from_value(inputs["demos"].clone()).unwrap();
        render(VICUNA, &demos)
    })
    .collect()
}

fn instruction_jobs(home: &Home) -> Vec<Value> {
    let sessions = std::fs::read_dir(home.path("sessions")).unwrap().flatten();
    let mut journals: Vec<_> = sessions
        .map(|entry| entry.path().join("branches/trunk.jsonl"))
        .filter(|path| path.is_file())
        .collect();
    assert_eq!(journals.len(), 1);
    let text = std::fs::read_to_string(journals.remove(0)).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["type"] == "compute_requested" && event["job"]["name"] == "dora.instruct")
        .map(|event| event["job"]["inputs"].clone())
        .collect()
}

/// Plays three evaluations of one task whose attempts are all lost, two each. Returns the mentor's exchanges and the prompter's
/// requests.
fn play(settings: &[&str]) -> (Vec<Exchange>, Vec<String>) {
    let server = StandIn::start(|model, _, earlier| match model {
        "mentor" => format!("Try place {earlier} first."),
        _ => "look".to_owned(),
    });
    let home = Home::new();
    let mut args = vec!["run", "--env", "household", "--task", "normal/put/3", "--max-steps", "2"];
    args.extend(["--method", "dora", "--actor", "openai:actor", "--mentor", "openai:mentor"]);
    args.extend(["--set", "mentor_at_once=false", "--set", "n_init=3", "--set", "rounds=0"]);
    args.extend(["--set", "attempts=2"]);
    args.extend(settings);
    home.run(&server, &args);
    let mentor = server.take().into_iter().filter(|exchange| !exchange.is_actor()).collect();
    (mentor, prompter_requests(&home))
}

/// Section 3 of the paper: pairs of earlier prompts and suggestions, two of them, drawn at random. Its public code's order:
/// system sentence, pairs, question, each pair as input and output.
#[test]
fn the_prompter_is_given_two_earlier_pairs_of_instruction_and_advice() {
    let (mentor, requests) = play(&[]);
    assert_eq!((mentor.len(), requests.len()), (6, 3));
    let pairs: Vec<String> = mentor
        .iter()
        .map(|exchange| {
            let (_, system) = exchange.messages().into_iter().next().unwrap();
            let (instruction, _) = system.split_once("\n\nThe agent whose attempt").unwrap();
            format!("Input: {}\nOutput: {}", instruction.trim_start_matches("- ").trim(), exchange.reply)
        })
        .collect();
    for (evaluation, request) in requests.iter().enumerate() {
        let rest = request.strip_prefix(&format!("{SYSTEM} USER:\n")).unwrap();
        let rest = rest.strip_suffix(" ASSISTANT:").unwrap();
        let (shown, question) = rest.rsplit_once("\n\n").unwrap_or(("", rest));
        assert!(question.ends_with("The instruction for reflection was to"), "{question}");
        let shown: Vec<&str> = shown.split("\n\n").filter(|pair| !pair.is_empty()).collect();
        // The first instruction has none to follow.
        assert_eq!(shown.len(), if evaluation == 0 { 0 } else { 2 }, "{request}");
        let earlier = &pairs[..2 * evaluation];
        let places: Vec<usize> =
            shown.iter().map(|pair| earlier.iter().position(|known| known == pair).unwrap()).collect();
        assert!(places.is_sorted() && places.windows(2).all(|two| two[0] != two[1]), "{places:?}");
    }
}

#[test]
fn zero_shot_the_prompter_is_given_the_question_alone() {
    let (_, requests) = play(&["--set", "demos=0"]);
    assert_eq!(requests.len(), 3);
    for request in &requests {
        assert!(!request.contains("Input:") && request.contains(" USER:\nAn agent's attempt"), "{request}");
        assert_eq!(request, &requests[0]);
    }
}
