//! The rows of one lesson.

use super::LaneRow;
use crate::catalog::LaneFormat;
use crate::domain::{
    Author, Lesson, LessonOrigin, LessonStatus, LessonText, MeasuredEffect, ReflectionKind, Scope,
    Transition, pluralize,
};
use crate::engine::State;
use crate::text::{fits, one_line, prefix, truncate, width, wrap_at_most};
use crate::ui::frame_data::Context;
use crate::ui::glyphs::Glyphs;
use crate::ui::labels::measured_role;
use crate::ui::theme::Role;
use std::borrow::Cow;

/// Returns a lesson as rows of `columns` columns, with at most `most` lines of text.
pub(super) fn lesson_rows(
    lesson: &Lesson,
    context: &Context<'_>,
    form: LaneFormat,
    columns: u16,
    digits: usize,
    most: usize,
) -> Vec<LaneRow> {
    let g = context.glyphs;
    let is_new = is_new(lesson) && form != LaneFormat::Record;
    let mark = match lesson.status {
        LessonStatus::Off | LessonStatus::Retired => (Role::Muted, g.off),
        LessonStatus::Pinned => (Role::LessonPinned, g.pin),
        LessonStatus::On if is_worded_by_person(lesson) => {
            (if is_new { Role::LessonNew } else { Role::MarkPerson }, g.person)
        }
        LessonStatus::On if is_new => (Role::LessonNew, g.new_lesson),
        LessonStatus::On => (Role::Muted, " "),
    };
    let elsewhere = lesson.is_active() && context.displayed_state().is_out_of_scope(lesson);
    let off = lesson.status == LessonStatus::Off;
    let paint = |role| {
        if off {
            Role::LessonOff
        } else if elsewhere {
            Role::Muted
        } else {
            role
        }
    };
    let lead = format!(" {:>digits$}  ", lesson.number);
    let indent = width(&lead);
    let text = &*current_text(lesson, context.displayed_state());
    let content = text.solution.as_deref().unwrap_or(&text.text);
    let arrow = if text.solution.is_some() { 2 } else { 0 };
    let room = usize::from(columns).saturating_sub(indent + arrow + 3).max(4);
    let shown = context.displayed_state().episode.as_ref().map_or(0, |e| e.number);
    let source = source_labels(lesson, form, context.displayed_state(), shown, g.separator);
    let (long, short) = (source.long, short_source([source.name, source.step], lesson, room, g));
    let enters = !off && !elsewhere && enters_prompt(lesson, context.displayed_state());
    let measured = measured_label(lesson, context);
    let mut note = method_note(lesson, context, usize::from(columns).saturating_sub(indent + 3));
    // With a row to spare, the result has one of its own; else it takes the place of the source.
    let (measured_row, measured_short) = if most > 1 { (measured, None) } else { (None, measured) };
    let measured_room = usize::from(columns).saturating_sub(indent + 3);
    // A row each, if the text keeps one.
    let is_divided = |label: &MeasuredLabel| {
        let is_long = label.both.as_ref().is_some_and(|texts| width(&texts[0]) > measured_room);
        note.is_empty() && is_long && most >= 3
    };
    let measured_each = measured_row.as_ref().filter(|label| is_divided(label)).and_then(|l| l.each.clone());
    let most = most - usize::from(measured_row.is_some()) - usize::from(measured_each.is_some());
    // The text keeps a row.
    note.truncate(most.saturating_sub(1).min(MAX_NOTE_ROWS));
    let most = most - note.len();
    let ignored = !off && !elsewhere && context.is_ignored_lesson(lesson);
    let (long, short) = if ignored {
        (format!("{long}; the built-in rules ignore it"), "ignored".to_owned())
    } else if enters {
        ("enters the prompt at this step".to_owned(), "now used".to_owned())
    } else if elsewhere {
        (format!("{long}; about another task"), "other task".to_owned())
    } else {
        (long, short)
    };
    let (long, short, source_role) = match &measured_short {
        _ if enters && !ignored => (long, short, Role::LessonNew),
        Some(label) => {
            let both = label.both.as_ref().map(|texts| &texts[2]);
            let texts = both.into_iter().chain([&label.full, &label.short]);
            // The column is named wherever some of the lesson's words remain beside it.
            let mut fitting = texts.filter(|text| width(text) * 2 <= room);
            let fitting = fitting
                .next()
                .or_else(|| Some(&label.short).filter(|text| width(text) + MIN_TEXT_COLUMNS <= room));
            (label.full.clone(), fitting.unwrap_or(&label.shortest).clone(), label.role)
        }
        None => (long, short, if ignored { Role::Warning } else { Role::Muted }),
    };
    let roomy = room >= 56 && fits(&one_line(bounded_prefix(content)), room.saturating_sub(width(&long) + 3));
    // A record's numbers come first: they take the place of the step, which its details have.
    let is_cut =
        |source: &str| !fits(&one_line(bounded_prefix(content)), room.saturating_sub(width(source) + 2));
    let source = match (roomy, form) {
        (true, _) => long,
        (false, LaneFormat::Record) if most == 1 && is_cut(&short) => String::new(),
        (false, _) => short,
    };
    let beside = room.saturating_sub(width(&source) + 2).max(4);
    // Spare lines go to the mistake first: it comes before what to do instead.
    let mistake = text.solution.is_some().then(|| {
        wrap_words(&text.text, usize::from(columns).saturating_sub(indent + 3).max(4), most, g.ellipsis)
    });
    let most = most - mistake.as_ref().map_or(0, |m| m.len() - 1);
    let mut lines = wrap_beside(content, (beside, room), most, g.ellipsis);
    // Where the text is cut, it comes before where it comes from. How often it was used takes a few columns only.
    let is_needed = enters || elsewhere || ignored || off || measured_short.is_some();
    let is_cut = lines.last().is_some_and(|line| line.ends_with(g.ellipsis));
    let count = use_count(lesson, g).filter(|_| form != LaneFormat::Record);
    let source = if is_needed || !is_cut { Some(source) } else { count };
    if is_cut && !is_needed {
        let beside = source.as_ref().map_or(room, |count| room.saturating_sub(width(count) + 2).max(4));
        lines = wrap_beside(content, (beside, room), most, g.ellipsis);
    }
    let first = lines.remove(0);
    if form == LaneFormat::Actions && content.lines().nth(1).is_some() {
        let source = source.as_deref().unwrap_or_default();
        return super::plan::plan_rows(lesson, content, context, mark, (&lead, source), columns, most);
    }
    let row = |mark, lead, role, text, source: Option<String>| LaneRow {
        lesson: lesson.number,
        mark,
        lead,
        text: (role, text),
        source: source.map(|text| (source_role, text)),
    };
    // What is new at this step is where the eye falls first.
    let state = context.displayed_state();
    let now = (state.episode.as_ref().map_or(0, |episode| episode.number), context.frame.selected_step());
    let words_role = if is_new && lesson.learnt_at == now { Role::LessonNew } else { Role::Lesson };
    let blank = (Role::Muted, " ");
    let mut rows = Vec::new();
    if let Some(mistake) = mistake {
        for (place, line) in mistake.into_iter().enumerate() {
            let (mark, lead) = if place == 0 { (mark, lead.clone()) } else { (blank, " ".repeat(indent)) };
            rows.push(row(mark, lead, paint(words_role), line, None));
        }
        let lead = format!("{:indent$}{} ", "", g.solution);
        rows.push(row(blank, lead, paint(Role::LessonSolution), first, source));
    } else {
        rows.push(row(mark, lead, paint(words_role), first, source));
    }
    let role = paint(if text.solution.is_some() { Role::LessonSolution } else { words_role });
    let rest = lines.into_iter().map(|line| row(blank, " ".repeat(indent + arrow), role, line, None));
    rows.extend(rest);
    rows.extend(note.into_iter().map(|note| row(blank, " ".repeat(indent), Role::Muted, note, None)));
    if let Some(each) = measured_each {
        for (role, texts) in each {
            let [.., shortest] = &texts;
            let fitting = texts.iter().find(|text| width(text) <= measured_room).unwrap_or(shortest);
            rows.push(row(blank, " ".repeat(indent), role, fitting.clone(), None));
        }
    } else if let Some(label) = measured_row {
        let room = measured_room;
        // Of advice, its paper's words come first.
        let mut all: Vec<String> = Vec::new();
        if let Some(advice) = label.advice {
            all.extend([format!("{advice}: {}", label.full), advice]);
        }
        all.extend(label.both.into_iter().flatten());
        all.extend([
            format!("{}, {}", label.full, label.verdict),
            label.full,
            label.without_start,
            label.short,
        ]);
        let fitting = all.into_iter().find(|text| width(text) <= room).unwrap_or(label.shortest);
        rows.push(row(blank, " ".repeat(indent), label.role, fitting, None));
    }
    if form == LaneFormat::MemoryTuples
        && let Some(transition) = &lesson.transition
    {
        // The mark, the five-letter label, and the right edge.
        let tuple =
            memory_rows(transition, usize::from(columns).saturating_sub(indent + 8).max(4), g.ellipsis);
        let rest = tuple.into_iter().map(|(lead, role, line)| {
            row(blank, format!("{:indent$}{lead:<5}", ""), paint(role), line, None)
        });
        rows.extend(rest);
    }
    rows
}

/// Returns whether no prompt has had the lesson as it is worded now. One that the run began with isn't new.
pub(super) fn is_new(lesson: &Lesson) -> bool {
    let is_loaded = lesson.learnt_at == (0, 0) && lesson.versions.len() == 1;
    lesson.uses_of_wording() == 0 && !is_loaded
}

/// Returns whether a person wrote the lesson as it is worded now. An edit that was undone leaves no mark.
fn is_worded_by_person(lesson: &Lesson) -> bool {
    let first = lesson.versions.iter().find(|version| version.text == *lesson.text());
    let edit = first.and_then(|version| version.edit);
    edit.map_or(lesson.origin == LessonOrigin::Person, |edit| edit.author == Author::Person)
}

/// Returns how many lines of [`lesson_rows`] show, besides one of the text, what the method knows of a lesson and what was measured;
/// 1 if the method knows nothing.
pub(super) fn noted_lines(lesson: &Lesson, context: &Context<'_>, columns: u16, digits: usize) -> usize {
    // The number has a space before it and two after it.
    let note = method_note(lesson, context, usize::from(columns).saturating_sub(digits + 6));
    if note.is_empty() {
        return 1;
    }
    1 + note.len().min(MAX_NOTE_ROWS) + usize::from(measured_label(lesson, context).is_some())
}

/// Returns what the method knows of a lesson, in rows.
fn method_note(lesson: &Lesson, context: &Context<'_>, room: usize) -> Vec<String> {
    let state = context.displayed_state();
    let mut note = crate::catalog::lesson_note(state, lesson).unwrap_or_default();
    if let Some(unmeasured) = crate::catalog::unmeasured_note(state, lesson)
        && !note.is_empty()
        && MeasuredEffect::headline(context.measured_results(lesson), lesson.version()).is_none()
    {
        note.push_str("; ");
        note.push_str(unmeasured);
    }
    note_rows(&note, room)
}

/// What was measured of a lesson, at several lengths.
struct MeasuredLabel {
    role: Role,
    /// `+20 % elsewhere [12, 27] · 120 pairs`.
    full: String,
    /// `+20 % here [12, 27] · 120 pairs`, also if it has a start.
    without_start: String,
    /// `+20 % elsewhere`.
    short: String,
    /// `+20 %`, or `undecided`.
    shortest: String,
    verdict: String,
    /// Both columns, if both were measured: with start and interval, with the interval, and without.
    both: Option<[String; 3]>,
    /// Both columns, for a row each: with start, interval and verdict, without verdict, without start, without both, and without interval.
    each: Option<[(Role, [String; 5]); 2]>,
    /// `effective 17, ineffective 2, toxic 1`, of advice.
    advice: Option<String>,
}

/// The columns that a lesson's words keep beside a result that names its column.
const MIN_TEXT_COLUMNS: usize = 14;

/// The most rows of what a method says of a lesson.
const MAX_NOTE_ROWS: usize = 2;

/// Divides a note into rows, at its semicolons. What doesn't fit into a row by itself is left out.
fn note_rows(note: &str, room: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for part in note.split("; ").filter(|part| !part.is_empty() && width(part) <= room) {
        match rows.last_mut().filter(|row| width(row) + 2 + width(part) <= room) {
            Some(row) => {
                row.push_str("; ");
                row.push_str(part);
            }
            None => rows.push(part.to_owned()),
        }
    }
    rows
}

/// Returns what was measured of a lesson. A result of an earlier wording says so and is dimmed.
fn measured_label(lesson: &Lesson, context: &Context<'_>) -> Option<MeasuredLabel> {
    let (version, is_advice) = (lesson.version(), lesson.kind == ReflectionKind::Advice);
    let result = MeasuredEffect::headline(context.measured_results(lesson), version)?;
    let (role, of) = if result.version == version {
        (measured_role(result), String::new())
    } else {
        (Role::Muted, format!("version {}: ", result.version))
    };
    let both = MeasuredEffect::both_columns(&context.measured_results(lesson), version);
    let lengths = |result: &MeasuredEffect| {
        let (full, bare) = (result.describe(), result.describe_without_start());
        let verdict = result.describe_verdict();
        let texts =
            [format!("{full}, {verdict}"), full, format!("{bare}, {verdict}"), bare, result.describe_short()];
        let role = if role == Role::Muted { role } else { measured_role(result) };
        (role, texts.map(|text| format!("{of}{text}")))
    };
    Some(MeasuredLabel {
        role,
        each: both.map(|both| both.map(lengths)),
        full: format!("{of}{}", result.describe()),
        without_start: format!("{of}{}", result.describe_without_start()),
        short: format!("{of}{}", result.describe_short()),
        shortest: result.describe_shortest(),
        verdict: result.describe_verdict().to_owned(),
        both: both.map(|both| {
            let join =
                |describe: fn(&MeasuredEffect) -> String| format!("{of}{}", both.map(describe).join(", "));
            [MeasuredEffect::describe, MeasuredEffect::describe_without_start, MeasuredEffect::describe_short]
                .map(join)
        }),
        advice: result.advice.filter(|counts| is_advice && counts.total() > 0).map(|counts| {
            let counts = counts.by_effect().map(|(effect, count)| format!("{} {count}", effect.name()));
            format!("{of}{}", counts.join(", "))
        }),
    })
}

/// Returns whether the selected step's prompt is the first one that shows the lesson as it is worded now.
fn enters_prompt(lesson: &Lesson, state: &State) -> bool {
    let first = state.last_step().map(|step| step.first_seq);
    first.zip(lesson.first_shown).is_some_and(|(first, shown)| shown >= first)
}

/// Returns a lesson's text. Progress lessons from the rules lose their `Next: ` part once the episode is over.
fn current_text<'a>(lesson: &'a Lesson, state: &State) -> Cow<'a, LessonText> {
    let ended = state.episode.as_ref().is_some_and(|e| e.outcome.is_some());
    let text = lesson.text();
    match text.text.split_once("Next: ") {
        Some((so_far, _))
            if ended
                && lesson.kind == ReflectionKind::Progress
                && lesson.origin == LessonOrigin::Symbolic =>
        {
            let so_far = so_far.trim_end();
            Cow::Owned(LessonText::plain(if so_far.is_empty() { "The episode is over." } else { so_far }))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Returns what the agent saw, what it did, and the reward.
fn memory_rows(transition: &Transition, room: usize, more: &str) -> [(&'static str, Role, String); 2] {
    let saw = truncate(&one_line(bounded_prefix(&transition.observation)), room, more);
    let reward = format!(", reward {}", transition.reward);
    let did = truncate(
        &one_line(bounded_prefix(&transition.action)),
        room.saturating_sub(width(&reward)).max(4),
        more,
    );
    [("saw", Role::Observation, saw), ("did", Role::Action, format!("{did}{reward}"))]
}

/// Wraps a lesson's text into at least one and at most `most` lines.
fn wrap_words(content: &str, room: usize, most: usize, more: &str) -> Vec<String> {
    let content = one_line(bounded_prefix(content)).split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut lines, cut) = wrap_at_most(&content, room, most);
    if cut && let Some(last) = lines.pop() {
        // A row ends at a space, or inside a word that is longer than a row.
        let rest = lines
            .iter()
            .try_fold(content.as_str(), |rest, line| rest.strip_prefix(line.as_str()).map(str::trim_start));
        lines.push(truncate(rest.unwrap_or(&last), room, more));
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Wraps a lesson's text, whose first line has a note beside it and so less room than the others.
fn wrap_beside(content: &str, (first, room): (usize, usize), most: usize, more: &str) -> Vec<String> {
    let mut lines = wrap_words(content, first, most, more);
    if lines.len() > 1 {
        let content = one_line(bounded_prefix(content)).split_whitespace().collect::<Vec<_>>().join(" ");
        lines.truncate(1);
        let rest = content.strip_prefix(lines[0].as_str()).unwrap_or(&content);
        lines.extend(wrap_words(rest, room, most - 1, more));
    }
    lines
}

/// Maximum columns of a file name in a short label.
const SHORT_FILE_COLUMNS: usize = 16;

/// Bounds the text that is laid out: no lane shows more of a lesson.
fn bounded_prefix(text: &str) -> &str {
    prefix(text, 4096)
}

/// Where a lesson comes from.
struct SourceLabels {
    /// The author, the step and the number of prompts it was in.
    long: String,
    /// A name, such as that of a file; may be empty.
    name: String,
    /// The step; may be empty.
    step: String,
}

/// Returns a lesson's source. A step of another episode than the one shown is `episode.step`.
fn source_labels(lesson: &Lesson, form: LaneFormat, state: &State, shown: u32, dot: &str) -> SourceLabels {
    let origin = origin_labels(lesson, form, shown, dot);
    let place = match (form, lesson.scope) {
        (LaneFormat::Record, _) => return origin,
        (LaneFormat::Plain | LaneFormat::Actions, _) => {
            let mut numbers: Vec<u32> =
                lesson.parents.iter().filter_map(|id| state.pool.get(id)).map(|l| l.number).collect();
            numbers.sort_unstable();
            let Some(first) = numbers.first() else { return origin };
            let all = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            let more = if numbers.len() > 1 { format!("+{}", numbers.len() - 1) } else { String::new() };
            return SourceLabels {
                long: format!("based on {all} {dot} {}", origin.long),
                name: format!("from {first}{more}"),
                step: String::new(),
            };
        }
        (LaneFormat::MemoryTuples, Scope::Episode) => "short-term",
        (LaneFormat::MemoryTuples, _) => "long-term",
        (LaneFormat::Other, _) => lesson.kind.name(),
    };
    let name =
        if origin.name.is_empty() { place.to_owned() } else { format!("{place} {dot} {}", origin.name) };
    SourceLabels { long: format!("{place} {dot} {}", origin.long), name, ..origin }
}

/// Returns how many prompts an active lesson was in as it is worded now, such as `7×`; `None` if in none.
fn use_count(lesson: &Lesson, glyphs: &Glyphs) -> Option<String> {
    let uses = lesson.uses_of_wording();
    (uses > 0 && lesson.is_active()).then(|| format!("{uses}{}", glyphs.times))
}

/// The fewest columns of a row that says both where a lesson comes from and how often it was used.
const MIN_USES_COLUMNS: usize = 52;

/// Joins the name, the step and how often the lesson was used. Where there is no room for step and uses, the uses say more.
fn short_source([name, step]: [String; 2], lesson: &Lesson, room: usize, glyphs: &Glyphs) -> String {
    let used = use_count(lesson, glyphs).map(|count| format!("used {count}"));
    let step = if used.is_some() && room < MIN_USES_COLUMNS { String::new() } else { step };
    let mut parts = vec![name, step, used.unwrap_or_default()];
    parts.retain(|part| !part.is_empty());
    parts.join(&format!(" {} ", glyphs.separator))
}

/// Returns the author, the step and the number of prompts it was in.
fn origin_labels(lesson: &Lesson, form: LaneFormat, shown: u32, dot: &str) -> SourceLabels {
    let labels = |long, name, step| SourceLabels { long, name, step };
    let who = match lesson.origin {
        LessonOrigin::Symbolic => "rules",
        LessonOrigin::Mentor => "mentor",
        LessonOrigin::Person => "you",
        LessonOrigin::File => "file",
    };
    let uses = match (lesson.uses_of_wording(), lesson.status) {
        (_, LessonStatus::Off) => "off".to_owned(),
        (0, _) if form == LaneFormat::Record => "a record, in no prompt".to_owned(),
        (0, _) => "new, not in a prompt yet".to_owned(),
        (n, _) => format!("in {}", pluralize(n.into(), "prompt")),
    };
    if let Some(name) = lesson.file_name() {
        let short = truncate(&one_line(name), SHORT_FILE_COLUMNS, "...");
        return labels(format!("file {name} {dot} {uses}"), short, String::new());
    }
    let is_edited = lesson.edit_by_another().is_some_and(|edit| edit.author == Author::Person);
    let short = if is_edited { "edited" } else { who };
    let who = if is_edited { format!("{who}, edited by you") } else { who.to_owned() };
    if lesson.learnt_at == (0, 0) {
        return labels(format!("{who} {dot} {uses}"), short.to_owned(), String::new());
    }
    let who = if lesson.taken_from.is_some() { "you, taken over".to_owned() } else { who };
    let (episode, step) = lesson.worded_at();
    if episode != shown {
        let place = format!("step {episode}.{step}");
        return labels(format!("{who} {dot} {place} {dot} {uses}"), String::new(), place);
    }
    if step == 0 {
        let long = format!("{who} {dot} before step 1 {dot} {uses}");
        return labels(long, String::new(), "start".to_owned());
    }
    let place = format!("step {step}");
    labels(format!("{who} {dot} {place} {dot} {uses}"), String::new(), place)
}

#[cfg(test)]
mod tests {
    use super::{note_rows, wrap_beside, wrap_words};

    #[test]
    fn a_note_is_divided_at_its_semicolons() {
        let note = "v2, |v| 0.56; expected 0.61 ± 0.12; text steering";
        assert_eq!(note_rows(note, 60), [note]);
        assert_eq!(note_rows(note, 40), ["v2, |v| 0.56; expected 0.61 ± 0.12", "text steering"]);
        assert_eq!(note_rows(note, 15), ["v2, |v| 0.56", "text steering"]);
        assert_eq!(note_rows("", 60), Vec::<String>::new());
    }

    /// Regression: a note beside the first line made all lines of a lesson narrower.
    #[test]
    fn only_the_line_beside_the_note_is_narrower() {
        let text = "one two three four five";
        assert_eq!(wrap_beside(text, (8, 16), 3, "~"), ["one two", "three four five"]);
        assert_eq!(wrap_beside(text, (8, 11), 2, "~"), ["one two", "three four~"]);
        assert_eq!(wrap_beside(text, (8, 11), 1, "~"), ["one two~"]);
        assert_eq!(wrap_beside("one", (8, 11), 3, "~"), ["one"]);
        assert_eq!(wrap_beside("unbelievable", (4, 6), 3, "~"), ["unbe", "lievab", "le"]);
    }

    /// A space was counted at every break, also where a long word was split, so that letters were lost.
    #[test]
    fn a_word_longer_than_a_lane_loses_no_letter() {
        assert_eq!(wrap_words("unbelievable more words", 6, 3, "~"), ["unbeli", "evable", "more ~"]);
        assert_eq!(wrap_words("unbelievable", 4, 2, "~"), ["unbe", "lie~"]);
        assert_eq!(wrap_words("one two three", 7, 1, "~"), ["one tw~"]);
    }
}
