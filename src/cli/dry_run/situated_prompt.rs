//! A prompt of a dry run: what it is, when it is sent, and what the prepared run has in place of the run's own.

use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::domain::{MessageRole, Prompt, PromptRecord, Question, SegmentLabel, SegmentOrigin};
use serde_json::{Map, Value, json};

/// A prompt that the run sends, or that it would send with other settings.
pub(super) struct SituatedPrompt {
    pub(super) record: PromptRecord,
    pub(super) prompt: Prompt,
    pub(super) sampling: Map<String, Value>,
    pub(super) sampling_text: Option<String>,
    /// When it is sent.
    pub(super) situation: String,
    pub(super) changes: Changes,
}

/// What the prepared run has in place of the run's own.
#[derive(Clone, Default)]
pub(super) struct Changes {
    /// Everything that differs: trials, tasks, outcomes, settings.
    pub(super) all: Vec<String>,
    /// Why the run never sends the prompt: its values of the settings that never lead to it, such as `kind_error=false`.
    /// Empty if the run can send it.
    pub(super) prevented_by: Vec<String>,
}

/// Returns the messages of a prompt: consecutive segments of the same role are one message.
fn messages(prompt: &Prompt) -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, String)> = Vec::new();
    for segment in &prompt.segments {
        let role = match segment.message_role {
            MessageRole::System => "system",
            MessageRole::User => "user",
            MessageRole::Assistant => "assistant",
        };
        match all.last_mut() {
            Some((last, text)) if *last == role => text.push_str(&segment.text),
            _ => all.push((role, segment.text.to_string())),
        }
    }
    all
}

/// Returns the name of a question in prompt templates, such as `reflect.abstract`.
pub(super) fn question_name(question: Question) -> String {
    format!("{}.{}", question.purpose.name(), question.kind.name().to_lowercase())
}

impl SituatedPrompt {
    /// Returns whether the run can send it.
    fn is_sent(&self) -> bool {
        self.changes.prevented_by.is_empty()
    }

    /// Returns whether another prompt asks the same with the same texts of the template, whatever lessons and steps there are.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let parts = |prompt: &Self| -> Vec<SegmentLabel> {
            let texts =
                prompt.prompt.segments.iter().filter(|part| matches!(part.origin, SegmentOrigin::Text(_)));
            texts.map(|part| part.label).collect()
        };
        self.record.question == other.record.question && parts(self) == parts(other)
    }

    pub(super) fn to_json(&self) -> Value {
        let messages: Vec<Value> = messages(&self.prompt)
            .into_iter()
            .map(|(role, text)| json!({"role": role, "content": text}))
            .collect();
        let record = &self.record;
        json!({
            "role": record.role.name(), "question": record.question.map(question_name),
            "situation": self.situation, "sent_by_this_run": self.is_sent(),
            "prepared_with": self.changes.all, "episode": record.episode,
            "step": record.step, "tokens": record.tokens, "sampling": self.sampling, "messages": messages,
        })
    }

    pub(super) fn print(&self, out: &mut Output) -> Result<(), CliError> {
        let record = &self.record;
        let question = record.question.map_or_else(String::new, |q| format!(" {}", question_name(q)));
        let unsent = if self.is_sent() {
            String::new()
        } else {
            format!("; not sent by this run ({})", self.changes.prevented_by.join(", "))
        };
        out.print_line(&format!("==== {}{question}: {}{unsent}", record.role.name(), self.situation))?;
        out.print_line(&format!(
            "==== episode {}, step {}, about {} tokens{}",
            record.episode,
            record.step,
            record.tokens,
            self.sampling_text.as_ref().map_or_else(String::new, |sampling| format!("; {sampling}"))
        ))?;
        if !self.changes.all.is_empty() {
            out.print_line(&format!("==== prepared with {}", self.changes.all.join(", ")))?;
        }
        for (role, text) in messages(&self.prompt) {
            out.print_line(&format!("---- {role}"))?;
            out.print_text(&text)?;
            out.print_line("")?;
        }
        Ok(())
    }
}
