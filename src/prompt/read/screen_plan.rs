//! Parses an actor's reply that plans several actions, one a line.

use super::json_action::{KeyRole, key_role};
use super::label::strip_bullet;
use super::value::{Entry, Value, read_value};
use super::{ParseLog, has_words, lines, quote_start, read_reply};
use crate::domain::PlannedAction;
use crate::engine::ParsedActorReply;

/// Parses a reply of which each line is an action, a thought before one, or an object with both (`{"think": ..., "action": ...}`, JSON
/// or a literal of Python). An action that is an object itself is kept as it is written. What can't be used becomes a complaint.
pub(super) fn read_plan(reply: &str) -> ParsedActorReply {
    let mut log = ParseLog::new(reply);
    let text = log.after_reasoning();
    let mut plan = PlanReader::default();
    let mut complaints: Vec<String> = log.complaints.drain(..).map(|complaint| complaint.message).collect();
    let mut is_closed = false;
    for line in text.lines().filter(|line| has_words(line) && !lines::is_fence(line)) {
        let bare = line.trim_start_matches([' ', '\t', '>', '`']);
        let bare = strip_bullet(bare).unwrap_or(bare);
        is_closed = false;
        if bare.to_lowercase().starts_with("observation") {
            complaints
                .push(format!("an observation that the model made up was not used: {}", quote_start(line)));
            break;
        }
        if bare.starts_with('{') || bare.starts_with("[{") {
            let mut log = ParseLog::new(bare);
            let (value, _) = read_value(bare, &mut log);
            is_closed = plan.add_value(value);
            if !is_closed {
                complaints
                    .push(format!("an object without a complete action was not used: {}", quote_start(line)));
            }
        } else if bare.starts_with(['"', '\'']) && (bare.contains("\":") || bare.contains("':")) {
            complaints.push(format!("an object of several lines was not used: {}", quote_start(line)));
        } else {
            let read = read_reply(line);
            complaints.extend(read.complaints);
            plan.add_thought(read.thought.as_deref());
            if let Some(action) = read.action {
                plan.add_action(action);
            }
        }
    }
    let PlanReader { thought, mut actions } = plan;
    let complete = actions.len() > 1 || is_closed || reply.ends_with('\n');
    if actions.is_empty() {
        if thought.is_none() {
            let problem =
                if reply.trim().is_empty() { "the reply is empty" } else { "the reply has no action" };
            complaints.push(problem.to_owned());
        }
        return ParsedActorReply { thought, complaints, complete, ..ParsedActorReply::default() };
    }
    if let Some(thought) = thought {
        complaints.push(format!("a thought after the last action was not used: {}", quote_start(&thought)));
    }
    let planned = actions.split_off(1);
    let first = actions.pop();
    let (thought, action) = first.map_or((None, None), |first| (first.thought, Some(first.action)));
    ParsedActorReply { thought, action, planned, complaints, complete, is_unlabelled: false }
}

/// The actions so far, and the thought before the next one.
#[derive(Default)]
struct PlanReader {
    thought: Option<String>,
    actions: Vec<PlannedAction>,
}

impl PlanReader {
    fn add_thought(&mut self, text: Option<&str>) {
        let Some(text) = text.filter(|text| has_words(text)) else { return };
        match &mut self.thought {
            Some(thought) => {
                thought.push(' ');
                thought.push_str(text);
            }
            None => self.thought = Some(text.to_owned()),
        }
    }

    fn add_action(&mut self, action: String) {
        self.actions.push(PlannedAction { thought: self.thought.take(), action });
    }

    /// Adds the action of an object, or of each object of a list. Returns whether there was one, and no incomplete one.
    fn add_value(&mut self, value: Value<'_>) -> bool {
        match value {
            Value::Text(_) => false,
            Value::List(values, _) => {
                let count = values.len();
                let usable =
                    values.into_iter().filter_map(|value| self.add_value(value).then_some(())).count();
                count > 0 && usable == count
            }
            // An action without a thought around it.
            Value::Dict(entries, source) if entries.iter().any(|entry| entry.key == "name") => {
                self.add_object(source)
            }
            Value::Dict(entries, _) => self.add_entries(entries),
        }
    }

    /// Adds thought and action, whichever comes first.
    fn add_entries(&mut self, entries: Vec<Entry<'_>>) -> bool {
        let (mut actions, mut has_action) = (Vec::new(), false);
        for entry in entries {
            match (key_role(&entry.key), entry.value) {
                (KeyRole::Thought, Value::Text(text)) => self.add_thought(Some(&text.text)),
                (KeyRole::Action, value) => actions.push(value),
                _ => {}
            }
        }
        for action in actions {
            has_action |= match action {
                Value::Text(text) if has_words(&text.text) && !text.truncated => {
                    self.add_action(text.text);
                    true
                }
                Value::Text(_) => false,
                Value::Dict(_, source) => self.add_object(source),
                list @ Value::List(..) => self.add_value(list),
            };
        }
        has_action
    }

    /// Adds an action that is an object, if all of its brackets are closed.
    fn add_object(&mut self, source: &str) -> bool {
        let is_closed = source.matches('{').count() == source.matches('}').count();
        if is_closed {
            self.add_action(crate::text::clean(source).trim().to_owned());
        }
        is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &str) -> (Vec<(Option<String>, String)>, usize) {
        let parsed = read_plan(reply);
        let first = parsed.action.map(|action| (parsed.thought, action));
        let planned = parsed.planned.into_iter().map(|planned| (planned.thought, planned.action));
        (first.into_iter().chain(planned).collect(), parsed.complaints.len())
    }

    fn plain(actions: &[&str]) -> Vec<(Option<String>, String)> {
        actions.iter().map(|action| (None, (*action).to_owned())).collect()
    }

    #[test]
    fn each_line_is_an_action() {
        assert_eq!(
            read("click_element 4\nclick_element 7"),
            (plain(&["click_element 4", "click_element 7"]), 0)
        );
        assert_eq!(
            read("```\n1. click_element 4\n2. type_text a b\n```\n").0,
            plain(&["click_element 4", "type_text a b"])
        );
        let (actions, complaints) =
            read("think: The box first.\n> click_element 4\nObservation: [1] <body>\n[2] <div>");
        assert_eq!(actions, [(Some("The box first.".to_owned()), "click_element 4".to_owned())]);
        assert_eq!(complaints, 1);
        assert_eq!(read("<think>hm\nhm</think>\nclick_element 4"), (plain(&["click_element 4"]), 1));
        assert_eq!(read(""), (Vec::new(), 1));
    }

    /// The form of DORA's public code, as JSON and as a literal of Python; `think` belongs to its own action.
    #[test]
    fn an_object_in_a_line_has_a_thought_and_an_action() {
        let click = r#"{"name": "click_element", "input_args_schema": {"ref": 5}}"#;
        let python = "{'name': 'type_text', 'input_args_schema': {'text': 'a  b'}}";
        let reply = format!(
            "{{\"think\": \"It is  red.\", \"action\": {click}}}\n{{'think': 'Now', 'action': {python}}},\n{click}"
        );
        let expected = [
            (Some("It is red.".to_owned()), click.to_owned()),
            (Some("Now".to_owned()), python.to_owned()),
            (None, click.to_owned()),
        ];
        assert_eq!(read(&reply), (expected.to_vec(), 0));
        assert!(read_plan(&reply).complete);
        let list = format!("[{{\"think\": \"It is red.\", \"action\": {click}}}, {click}]");
        assert_eq!(read(&list), (vec![expected[0].clone(), expected[2].clone()], 0));
        // The last line was cut off.
        let cut = format!("{{\"action\": {click}}}\n{{\"think\": \"b\", \"action\": {{\"name\": \"click_el");
        assert_eq!(read(&cut).0[..1], plain(&[click])[..]);
        assert_eq!(read(&cut).0.len(), 1);
        // Neither a part of an object is an action, nor prose.
        let (actions, complaints) = read("{\n\"think\": \"b\",\n\"action\": {\n\"ref\": 5\n}\n}");
        assert_eq!((actions.len(), complaints), (0, 4));
    }
}
