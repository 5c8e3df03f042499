//! The exports of a small session with a person's actions, a mistake, a reflection and hostile text.

mod played;

use super::*;
use crate::domain::{AdviceCounts, EffectStart, LessonId, MeasuredEffect};
use crate::engine::{Envelope, State};
use crate::journal::import::ImportedSession;
use crate::journal::{embed_session, extract_session};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

const SESSION: &str = r#"
{"type":"run_started","session":"s1","spec":{"method":"omnireflect","actor":"rules","mentor":"symbolic","interface":"raw","tasks":[{"env":"household","id":"easy/heat/23","goal":""}],"trials":1,"seed":0,"autonomy":"auto","limits":{"steps":50},"loop_detector":false,"settings":{"frequency":{"value":5,"origin":"paper"}}}}
{"type":"episode_started","episode":1,"task":{"env":"household","id":"easy/heat/23"},"trial":1,"role":"test","call":1}
{"type":"world_reset","call":1,"turn":{"observation":"You are in a room.\n\nYour task is to: heat <b>apple</b>.","reward":0,"progress":0,"done":false,"won":false,"valid":true},"goal":"heat <b>apple</b>"}
{"type":"prompt_sent","call":2,"asked":"actor","episode":1,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"00"}
{"type":"proposed","step":1,"thought":"The stove \u001b[31mis hot\u001b[0m.","action":"go to stoveburner 1"}
{"type":"action_overridden","step":1,"was":"go to stoveburner 1","action":"go to microwave 1","shown_as":"human_edit","thought":"dropped"}
{"type":"action_taken","step":1,"call":3,"action":"go to microwave 1","by":"person","shown_as":"human_edit","fate":{"thought":"dropped"}}
{"type":"observed","step":1,"call":3,"turn":{"observation":"You arrive. </script><!-- `x`","reward":0,"progress":0.5,"done":false,"won":false,"valid":true}}
{"type":"noted","step":1,"notes":[{"detector":"wrong_appliance","kind":"mistake","evidence":"go to stoveburner 1"}]}
{"type":"reflected","reflection":{"kind":"error","author":"symbolic","episode":1,"step":1,"items":[{"text":{"text":"Went to a stove.","solution":"Heat in a microwave."}}]}}
{"type":"lesson_changed","op":"add","id":"aa","kind":"error","scope":"environment","origin":"symbolic","text":{"text":"Went to a stove.","solution":"Heat in a microwave."},"by":"symbolic"}
{"type":"episode_ended","summary":{"number":1,"task":{"env":"household","id":"easy/heat/23","goal":"heat <b>apple</b>"},"trial":1,"role":"test","won":false,"reason":"step_limit","steps":1,"moves":1,"progress":0.5,"calls":1,"tokens":10,"assisted":true,"span":[2,12]}}
{"type":"run_ended"}
"#;

fn events() -> Vec<Arc<Envelope>> {
    events_of(SESSION)
}

fn events_of(session: &str) -> Vec<Arc<Envelope>> {
    session
        .lines()
        .filter(|l| !l.is_empty())
        .enumerate()
        .map(|(n, line)| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["seq"] = (n + 1).into();
            value["at"] = "2026-11-20T10:40:00Z".into();
            let is_person = line.contains("overridden") || line.contains(r#""cause":"person""#);
            let cause = if is_person { "person" } else { "policy" };
            value["cause"] = cause.into();
            Arc::new(serde_json::from_value(value).unwrap())
        })
        .collect()
}

/// Returns the record of all events of a branch.
fn record_of(events: &[Arc<Envelope>]) -> SessionRecord {
    let mut recorder = SessionRecorder::default();
    for envelope in events {
        recorder.add_event(envelope);
    }
    recorder.finish()
}

fn html_page(record: &SessionRecord, at: StepRef, files: &BTreeMap<String, String>) -> String {
    let session = ImportedSession { files: files.clone(), branch: None };
    page_of(|write| {
        write_html(record, at, Some(&|part| embed_session(&session.session_files(), None, part)), write)
    })
}

fn page_of(
    write_page: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), Infallible>) -> Result<(), Infallible>,
) -> String {
    let mut page = String::new();
    write_page(&mut |part| {
        page.push_str(part);
        Ok(())
    })
    .unwrap();
    page
}

fn files() -> BTreeMap<String, String> {
    [("meta.toml", "v = 1\n"), ("branches/trunk.jsonl", SESSION)]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into()
}

#[test]
fn a_transcript_contains_no_control_sequences() {
    let output = render_transcript(&events());
    insta::assert_snapshot!(output);
    assert!(!output.contains('\u{1b}'));
}

/// A transcript continued from any state equals the rest of the complete transcript.
#[test]
fn a_transcript_can_continue_from_any_event() {
    let events = events();
    let mut states = vec![State::default()];
    for envelope in &events {
        let mut state = states.last().unwrap().clone();
        state.apply(envelope);
        states.push(state);
    }
    let rest = |mut output: Transcript, from: usize| -> String {
        (from..events.len()).map(|n| output.event_lines(&events[n], &states[n + 1])).collect()
    };
    for cut in 0..events.len() {
        let mut whole = Transcript::default();
        for n in 0..cut {
            whole.event_lines(&events[n], &states[n + 1]);
        }
        assert_eq!(rest(Transcript::from_state(&states[cut]), cut), rest(whole, cut), "from event {cut}");
    }
}

/// Regression: a lesson that entered the prompt and was then switched off entered it again, after it was switched off and
/// once more with the next prompt of the step.
#[test]
fn a_switched_off_lesson_does_not_enter_the_prompt_again() {
    let taught = r#"{"type":"lesson_changed","cause":"person","op":"add","id":"a2","kind":"error","scope":"environment","origin":"person","text":{"text":"Stoves burn."},"by":"person"}"#;
    let switched_off = r#"{"type":"lesson_changed","cause":"person","op":"status","id":"a2","was":"on","status":"off","by":"person"}"#;
    let asked_again = r#"{"type":"asked_again","cause":"person","step":1}"#;
    let proposed = r#"{"type":"proposed","step":1,"action":"go to microwave 1"}"#;
    let prompt = |retry: u32, lessons: &str| {
        let call = retry + 2;
        format!(
            r#"{{"type":"prompt_sent","call":{call},"asked":"actor","episode":1,"step":1,"retry":{retry},"seed":7,"segments":[{lessons}],"tokens":10,"sha256":"00"}}"#
        )
    };
    let lesson = r#"{"label":"error","origin":{"lesson":{"id":"a2","version":1}},"role":"user","tokens":5}"#;
    let end = [
        r#"{"type":"action_taken","step":1,"call":9,"action":"go to microwave 1","by":"actor"}"#,
        r#"{"type":"observed","step":1,"call":9,"turn":{"observation":"You arrive.","reward":0,"progress":0,"done":false,"won":false,"valid":true}}"#,
    ];
    let (with, without) = (prompt(0, lesson), prompt(0, ""));
    let (again_with, again_without) = (prompt(1, lesson), prompt(1, ""));
    let cases: [(&[&str], [&str; 3]); 3] = [
        (
            &[taught, &with, proposed, switched_off, asked_again, &again_without, proposed],
            ["enters the prompt", "switched off lesson 1", "asked again"],
        ),
        (
            &[&without, proposed, taught, asked_again, &again_with, proposed, switched_off],
            ["asked again", "enters the prompt", "switched off lesson 1"],
        ),
        (
            &[&without, proposed, taught, asked_again, &again_with, proposed],
            ["taught lesson 1", "asked again", "enters the prompt"],
        ),
    ];
    for (lines, order) in cases {
        let start: Vec<&str> = SESSION.lines().filter(|line| !line.is_empty()).take(3).collect();
        let events = events_of(&[&start, lines, &end].concat().join("\n"));
        for page in [render_transcript(&events), render_markdown(&record_of(&events))] {
            let places = order.map(|words| page.find(words).unwrap_or_else(|| panic!("{words}: {page}")));
            assert!(places.is_sorted(), "{order:?}: {page}");
            assert_eq!(page.matches("enters the prompt").count(), 1, "{page}");
        }
    }
}

/// Regression: a remark on a step of an episode that had ended was at a step of another one, or after the end of the run.
#[test]
fn every_export_has_a_remark_at_the_step_that_it_is_about() {
    let later = r#"
{"type":"episode_started","episode":2,"task":{"env":"household","id":"easy/heat/23"},"trial":2,"role":"test","call":5}
{"type":"world_reset","call":5,"turn":{"observation":"You are in a room.","reward":0,"progress":0,"done":false,"won":false,"valid":true},"goal":"heat <b>apple</b>"}
{"type":"prompt_sent","call":6,"asked":"actor","episode":2,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"00"}
{"type":"proposed","step":1,"action":"look"}
{"type":"remarked","episode":1,"step":1,"text":"that was a stove","cause":"person"}
{"type":"remarked","episode":1,"step":0,"text":"a first try","cause":"person"}
{"type":"remarked","step":1,"text":"once more","cause":"person"}
{"type":"run_ended"}
"#;
    let events = events_of(&SESSION.replace("{\"type\":\"run_ended\"}\n", later.trim_start()));
    let record = record_of(&events);
    let remarks = |episode: usize| &record.episodes[episode - 1].episode.step(1).unwrap().remarks;
    assert_eq!(
        (&remarks(1)[..], &remarks(2)[..]),
        (&["that was a stove".to_owned()][..], &["once more".to_owned()][..])
    );
    let page = html_page(&record, StepRef { episode: 1, step: 1 }, &files());
    for text in [render_transcript(&events), render_markdown(&record), page] {
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        let places = [at("a first try"), at("go to microwave 1"), at("that was a stove"), at("once more")];
        assert!(places.is_sorted(), "{text}");
        assert!(text.matches("that was a stove").count() == 1, "{text}");
    }
    let text = render_transcript(&events);
    assert!(text.find("that was a stove") < text.find("Episode 1 lost"), "{text}");
}

#[test]
fn markdown_has_the_whole_trajectory() {
    insta::assert_snapshot!(render_markdown(&record_of(&events())));
}

/// Regression: a lesson that was taught for one episode was missing after it.
#[test]
fn a_lesson_taught_for_an_episode_is_listed_after_it() {
    let taught = r#"{"type":"lesson_changed","op":"add","id":"bb","kind":"error","scope":"episode","origin":"person","text":{"text":"Look first."},"by":"person"}"#;
    let next = r#"{"type":"episode_started","episode":2,"task":{"env":"household","id":"easy/heat/24"},"trial":1,"role":"test","call":9}"#;
    let session = SESSION
        .replace(r#"{"type":"episode_ended""#, &format!("{taught}\n{{\"type\":\"episode_ended\""))
        .replace(r#"{"type":"run_ended"}"#, next);
    let output = render_markdown(&record_of(&events_of(&session)));
    let line = output.lines().find(|line| line.contains("Error: `Look first.`")).unwrap_or_default();
    assert!(line.contains("for its episode, ended with episode 1"), "{output}");
}

#[test]
fn episode_headings_show_goal_and_task_id() {
    let task =
        |goal: &str| format!(r#""task":{{"env":"household","id":"easy/heat/23"{goal}}},"trial":1,"role""#);
    let session = SESSION.replace(&task(""), &task(r#","goal":"heat <b>apple</b>""#));
    assert_ne!(session, SESSION);
    let events = events_of(&session);
    let output = render_transcript(&events);
    assert!(
        output.contains("\nEpisode 1: heat <b>apple</b> (household easy/heat/23), trial 1\n"),
        "{output}"
    );
    assert_eq!(
        output.matches("heat <b>apple</b>").count(),
        2,
        "in the heading and in the observation: {output}"
    );
    assert_eq!(
        output,
        render_transcript(&self::events()),
        "the result is the same if the goal is known only from the first observation"
    );
    let page = render_markdown(&record_of(&events));
    assert!(
        page.contains("\n## Episode 1: heat &lt;b>apple&lt;/b> (household `easy/heat/23`), trial 1\n"),
        "{page}"
    );
}

/// Regression: after a person's edit, the pages credited the person's words to the rules, and the lesson's origin moved to the
/// step of the edit.
#[test]
fn an_edited_lesson_keeps_its_origin_and_names_its_editor() {
    let edit = r#"{"type":"lesson_changed","op":"edit","id":"aa","was":{"text":"Went to a stove.","solution":"Heat in a microwave."},"text":{"text":"Mine."},"by":"person"}"#;
    let later = r#"{"type":"prompt_sent","call":4,"asked":"actor","episode":1,"step":2,"seed":7,"segments":[],"tokens":10,"sha256":"00"}
{"type":"proposed","step":2,"action":"look"}"#;
    let end = SESSION.find("{\"type\":\"episode_ended\"").unwrap();
    let session = format!("{}{later}\n{edit}\n{}", &SESSION[..end], &SESSION[end..]);
    let record = record_of(&events_of(&session));
    let lesson = record.lessons()[0];
    assert_eq!((lesson.learnt_at, lesson.worded_at()), ((1, 1), (1, 1)));
    let edit = lesson.edit_by_another().unwrap();
    assert_eq!((edit.author, edit.at), (crate::domain::Author::Person, (1, 2)));
    let (markdown, page) =
        (render_markdown(&record), html_page(&record, StepRef { episode: 1, step: 1 }, &files()));
    for shown in [markdown, page] {
        assert!(shown.contains("by the rules, edited by a person at 1.2"), "{shown}");
    }
    let unedited = record_of(&events());
    assert_eq!(unedited.lessons()[0].edit_by_another(), None);
}

#[test]
fn markdown_escapes_tags_outside_code() {
    let hostile = SESSION
        .replace("`x`", "<script>")
        .replace("household", "<script>alert(1)</script>")
        .replace("wrong_appliance", "<script>")
        .replace("frequency", "<script>");
    let output = render_markdown(&record_of(&events_of(&hostile)));
    let outside: String = output.split('`').step_by(2).collect();
    assert!(output.contains("<script>") && outside.contains("&lt;script>"), "{output}");
    assert!(!outside.contains('<'), "{outside}");
}

/// Regression: violet was a thought on a page and a person on the screen, and what a person had taught was grey.
#[test]
fn a_page_has_the_colours_of_the_screen() {
    let css = include_str!("html/page.css");
    let (light_css, dark_css) = css.split_once("@media (prefers-color-scheme: dark)").unwrap();
    let theme = |text: &str| text.parse::<toml::Table>().unwrap();
    let dark = theme(include_str!("../../themes/dark.toml"));
    let light = theme(include_str!("../../themes/light.toml"));
    for (css, palette) in [(light_css, &light["palette"]), (dark_css, &dark["palette"])] {
        for role in ["text", "muted", "action", "thought", "human", "good", "bad"] {
            let style = &dark["role"][role];
            let name = style.as_str().or_else(|| style["fg"].as_str()).unwrap();
            let variable = format!("--{role}: {};", palette[name].as_str().unwrap());
            assert!(css.contains(&variable), "{variable}");
        }
    }
    let taught = r#"{"type":"lesson_changed","op":"add","id":"bb","kind":"error","scope":"episode","origin":"person","text":{"text":"Mine."},"by":"person","cause":"person"}"#;
    let end = SESSION.find("{\"type\":\"episode_ended\"").unwrap();
    let session = format!("{}{taught}\n{}", &SESSION[..end], &SESSION[end..]);
    let page = html_page(&record_of(&events_of(&session)), StepRef { episode: 1, step: 1 }, &files());
    assert!(page.contains("<p class=\"human\">a person taught lesson 2"), "{page}");
}

/// Regression: a page told at its top neither whether the episode was won nor where, and "assisted" as if it were its result.
#[test]
fn a_page_begins_with_the_outcome() {
    let page = html_page(&record_of(&events()), StepRef { episode: 1, step: 1 }, &files());
    let (_, top) = page.split_once("</h1>").unwrap();
    let outcome = "<p><b class=\"bad\">lost (step limit)</b> · reward 0.00 · 1 step</p>\n<p class=\"human\">A person has helped";
    assert!(top.trim_start().starts_with(outcome), "{top}");
}

#[test]
fn json_has_the_whole_trajectory() {
    let text = render_json(&record_of(&events()));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let step = &value["episodes"][0]["steps"][0];
    assert_eq!(value["format"], "retrospect-trajectory");
    assert_eq!(step["proposed"], "go to stoveburner 1");
    assert_eq!(step["executed"]["action"], "go to microwave 1");
    assert_eq!(step["answer"]["raw"], "You arrive. </script><!-- `x`");
    assert_eq!(step["notes"][0]["detector"], "wrong_appliance");
    assert_eq!(value["episodes"][0]["reflections"][0]["kind"], "error");
    assert_eq!(value["lessons"][0]["versions"][0]["text"]["solution"], "Heat in a microwave.");
    assert_eq!(value["episodes"][0]["outcome"]["reason"], "step_limit");
    assert_eq!(value["run"]["settings"]["frequency"]["value"], 5);
    assert_eq!(value["tally"]["assisted"], 1);
    assert_eq!(value["tally"]["success_rate"], serde_json::Value::Null);
}

#[test]
fn an_html_report_is_self_contained_and_embeds_its_session() {
    let page = html_page(&record_of(&events()), StepRef { episode: 1, step: 1 }, &files());
    insta::assert_snapshot!(page.split("</style>").nth(1).unwrap().split("<script").next().unwrap());
    for outside in ["http://", "https://", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 1, "one data block, no executable script");
    assert_eq!(page.matches("</script>").count(), 1, "hostile text cannot end the block");
    assert!(page.contains("prefers-color-scheme: dark"));
    assert_eq!(page.matches("class=\"step marked\"").count(), 1, "one marked step");
    assert!(!page.contains("autofocus"), "it opens at the top");
    assert!(page.contains("<p>Marked: <a href=\"#s1-1\">"), "a link leads to the marked step");
    assert_eq!(extract_session(&page).unwrap().files, files());
}

#[test]
fn invalid_reports_are_rejected() {
    let page = page_of(|write| {
        let session = ImportedSession { files: files(), branch: None };
        embed_session(&session.session_files(), None, write)
    });
    let cases: [(&str, &str); 4] = [
        ("<html></html>", "damaged: it is missing"),
        (&page[..page.len() - 20], "damaged"),
        (&page.replace("\"v\":1,\"files\"", "\"v\":9,\"files\""), "version 9"),
        (&page.replace("branches/trunk.jsonl", "branches/../../x.jsonl"), "is not a file of a session"),
    ];
    for (text, words) in cases {
        let error = extract_session(text).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn run_lines_keep_their_fields_in_order() {
    let mut state = crate::engine::State::default();
    let lines: Vec<String> = events()
        .iter()
        .filter_map(|e| {
            state.apply(e);
            let extras = || StepExtras {
                admissible: vec!["look".to_owned()],
                world: serde_json::json!({"inventory": []}),
            };
            RunLines::default().event_line(e, &state, "sessions/s1", extras)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    insta::assert_snapshot!(summary_line(
        &Tally::from_states([&state]),
        "finished",
        &["sessions/s1".to_owned()]
    ));
}

/// Regression: the summary of a stopped run ignored the open episode.
#[test]
fn the_summary_of_a_stopped_run_includes_the_open_episode() {
    let mut state = State::default();
    let open = format!(
        "{}{}",
        SESSION.split_once("{\"type\":\"episode_ended\"").unwrap().0,
        concat!(
            r#"{"type":"asked_ahead","number":1,"asked":"actor","now":"asked","usage":{"prompt_tokens":30,"reply_tokens":0,"estimated":true}}"#,
            "\n",
            r#"{"type":"prompt_sent","call":4,"asked":"actor","episode":1,"step":2,"seed":7,"segments":[],"tokens":10,"sha256":"00"}"#,
            "\n",
            r#"{"type":"reply_received","call":4,"text":"look","usage":{"prompt_tokens":10,"reply_tokens":2}}"#,
        )
    );
    let mut collector = metrics::MetricsCollector::default();
    for envelope in events_of(&open) {
        state.apply(&envelope);
        collector.add_event(&envelope);
    }
    let tally = Tally::from_states([&state]);
    assert_eq!(
        (tally.episodes, tally.open_episodes, tally.counted_episodes, tally.success_rate),
        (0, 1, 0, None)
    );
    assert_eq!((tally.steps, tally.moves, tally.calls, tally.tokens), (1, 1, 2, 12));
    assert_eq!(tally.token_counts.reported, 12);
    let prefetched = "prefetched: 1 sent, 0 used, 0 unused; 1 pending, 30 tokens";
    assert_eq!(tally.describe(), format!("0 episodes and 1 in progress, 1 step; {prefetched}"));
    let line: serde_json::Value = serde_json::from_str(&summary_line(&tally, "interrupted", &[])).unwrap();
    assert_eq!((&line["open"], &line["steps"], &line["calls"]), (&1.into(), &1.into(), &2.into()));
    // The session was killed and has not been resumed.
    assert_eq!(collector.finish().prefetch.pending.tokens(), 30);
}

#[test]
fn step_refs_are_parsed() {
    assert_eq!("2.14".parse(), Ok(StepRef { episode: 2, step: 14 }));
    assert_eq!("14".parse(), Ok(StepRef { episode: 1, step: 14 }));
    for bad in ["", "0.1", "1.", "a.b", "1.2.3", "-1"] {
        assert!(bad.parse::<StepRef>().is_err(), "{bad}");
    }
}

#[cfg(feature = "tui")]
#[test]
fn svg_merges_equally_styled_cells_and_draws_borders() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Modifier, Style};
    let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 3));
    buffer.set_string(0, 0, "┌─ a <goal> ─┐", Style::new());
    buffer.set_string(0, 1, "│ 日本 red ▄", Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
    buffer.set_string(0, 2, "sel", Style::new().add_modifier(Modifier::REVERSED));
    insta::assert_snapshot!(render_svg(&buffer, &SvgColors::dark(), "a test"));
}

/// Panics unless every element of a document is closed in order and texts contain no bare `<` or `&`.
#[cfg(feature = "tui")]
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page.trim();
    while let Some((text, after)) = rest.split_once('<') {
        assert!(
            !text
                .replace("&lt;", "")
                .replace("&gt;", "")
                .replace("&amp;", "")
                .replace("&quot;", "")
                .replace("&#39;", "")
                .contains('&'),
            "{text}"
        );
        let (tag, after) = after.split_once('>').unwrap();
        assert!(!tag.contains('<') && tag.matches('"').count() % 2 == 0, "{tag}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        rest = after;
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

#[cfg(feature = "tui")]
#[test]
fn a_cast_draws_equal_parts_once_and_merges_equal_frames() {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style};
    use std::time::Duration;
    let frame = |text: &str, millis| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 30, 3));
        buffer.set_string(0, 0, "still & <hostile>", Style::new().fg(Color::Red));
        buffer.set_string(0, 1, format!("{text:<10}│ same"), Style::new());
        buffer.set_string(0, 2, "x\u{1b}[31m\u{7}", Style::new());
        CastFrame { buffer, duration: Duration::from_millis(millis) }
    };
    let frames = [frame("one", 500), frame("one", 500), frame("two", 1000), frame("one", 2000)];
    let page = render_svg_cast(&frames, &SvgColors::dark(), "a \"test\"");
    assert_well_formed(&page);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page}");
    for (text, count) in [("still &amp;", 1), (">same<", 1), (">one<", 1), (">two<", 1)] {
        assert_eq!(page.matches(text).count(), count, "{text}: {page}");
    }
    // Three frames of one second, one second and two; only the part that changes is in them.
    assert!(page.contains("animation:play 4.00s step-end infinite"), "{page}");
    for moment in ["0.000%", "25.000%", "50.000%"] {
        assert!(page.contains(moment), "{moment}: {page}");
    }
    let strip = page.split("class=\"strip\">").nth(1).unwrap();
    assert_eq!((strip.matches("translate(").count(), strip.matches("<use ").count()), (3, 3), "{page}");
    assert!(!page.contains("<script"));
    let single = render_svg_cast(&frames[..1], &SvgColors::light(), "one frame");
    assert_well_formed(&single);
    assert!(!single.contains("@keyframes"), "a single frame doesn't move");
    assert_well_formed(&render_svg_cast(&[], &SvgColors::dark(), "nothing"));
}

#[test]
fn exports_show_questions_complaints_failed_calls_and_parents() {
    let session = r#"
{"type":"run_started","session":"s1","spec":{"method":"fcrf","actor":"rules","mentor":"openai:small","interface":"raw","tasks":[{"env":"household","id":"easy/heat/23","goal":""}],"trials":5,"seed":0,"autonomy":"auto","limits":{"steps":50},"loop_detector":false,"settings":{}}}
{"type":"lesson_changed","op":"add","id":"aa","kind":"lesson","scope":"environment","origin":"mentor","text":{"text":"Open first."},"by":"mentor"}
{"type":"episode_started","episode":1,"task":{"env":"household","id":"easy/heat/23"},"trial":1,"role":"test","call":1}
{"type":"world_reset","call":1,"turn":{"observation":"A room.","reward":0,"progress":0,"done":false,"won":false,"valid":true},"goal":"rest"}
{"type":"prompt_sent","call":2,"asked":"actor","episode":1,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"00"}
{"type":"reply_received","call":2,"text":"hm","usage":{"prompt_tokens":10,"reply_tokens":1}}
{"type":"asked_again","step":1,"unusable":"there was no action in the reply"}
{"type":"prompt_sent","call":3,"asked":"actor","episode":1,"step":1,"retry":1,"seed":7,"segments":[],"tokens":10,"sha256":"00"}
{"type":"reply_received","call":3,"text":"look, then rest","usage":{"prompt_tokens":10,"reply_tokens":4}}
{"type":"proposed","step":1,"action":"look","complaints":["a second action was not read: rest"]}
{"type":"action_taken","step":1,"call":4,"action":"look","by":"actor"}
{"type":"observed","step":1,"call":4,"turn":{"observation":"A room.","reward":0,"progress":0,"done":false,"won":false,"valid":true}}
{"type":"noted","step":1}
{"type":"prompt_drafted","call":5,"asked":"mentor","question":{"kind":"lesson","purpose":"choose"},"episode":1,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"01","edited":true}
{"type":"prompt_sent","call":5,"asked":"mentor","question":{"kind":"lesson","purpose":"choose"},"episode":1,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"01","edited":true}
{"type":"prompt_sent","call":6,"asked":"mentor","question":{"kind":"experience"},"episode":1,"step":1,"seed":7,"segments":[],"tokens":10,"sha256":"02"}
{"type":"call_failed","call":6,"failure":{"what":"connection refused","place":"mentor","next":"try again"}}
{"type":"reply_received","call":5,"text":"Open it. Look.","usage":{"prompt_tokens":10,"reply_tokens":3}}
{"type":"reflected","reflection":{"kind":"lesson","purpose":"choose","author":"mentor","episode":1,"step":1,"call":5,"items":[{"text":{"text":"Open it."}}],"complaints":["one tip is asked for: the rest was not kept"]}}
{"type":"lesson_changed","op":"add","id":"bb","kind":"lesson","scope":"task","origin":"mentor","text":{"text":"Open it."},"parents":["aa"],"by":"mentor"}
{"type":"given_up","call":6}
{"type":"reflected","reflection":{"kind":"experience","author":"mentor","episode":1,"step":1,"call":6,"items":[],"complaints":["given up after a failed call: connection refused"]}}
"#;
    let events = events_of(session);
    let record = record_of(&events);
    insta::assert_snapshot!("mentor_transcript", render_transcript(&events));
    insta::assert_snapshot!("mentor_markdown", render_markdown(&record));
    let page = html_page(&record, StepRef::default(), &files());
    let expected = [
        "a call failed: mentor (Experience, given up): connection refused; try again",
        "<b>best-fitting Lesson reflection (mentor)</b>",
        "about the reply: one tip is asked for: the rest was not kept",
        "about the reply: a second action was not read: rest",
        "1 unusable reply",
        "in 0 prompts, made from lesson 1</td>",
    ];
    for text in expected {
        assert!(page.to_lowercase().contains(&text.to_lowercase()), "{text}");
    }
    let document: serde_json::Value = serde_json::from_str(&render_json(&record)).unwrap();
    assert_eq!(document["episodes"][0]["failures"][0]["given_up"], true);
    assert_eq!(document["episodes"][0]["failures"][0]["question"]["kind"], "experience");
    assert_eq!(document["spent"]["mentor_calls"], 2);
    assert_eq!(document["episodes"][0]["steps"][0]["unusable"], 1);
}

/// Regression: a program was printed on one line.
#[test]
fn a_transcript_has_each_line_of_a_program() {
    let session = SESSION.replace("go to microwave 1", "def f():\\n\\n    return 1");
    let output = render_transcript(&events_of(&session));
    assert!(output.contains(")\n        def f():\n            return 1\n"), "{output}");
}

/// Regression: an action that replaced a thought was shown as replacing nothing, with the thought kept.
#[test]
fn an_action_that_replaces_a_thought_is_shown_in_every_export() {
    let session = SESSION
        .replace(r#","action":"go to stoveburner 1"}"#, "}")
        .replace(r#""was":"go to stoveburner 1""#, r#""was":"think: hot""#);
    let record = record_of(&events_of(&session));
    let output = render_json(&record);
    assert!(
        output.contains(r#""proposed": "think: "#) && !output.contains(r#""proposed": null"#),
        "{output}"
    );
    for page in [render_markdown(&record), html_page(&record, StepRef { episode: 1, step: 1 }, &files())] {
        assert!(page.contains("instead of: ") && !page.contains("instead of: <del><code>nothing"), "{page}");
        assert!(!page.contains("instead of: ~~`nothing`") && page.contains("dropped from later prompts"));
    }
}

/// Regression: Markdown and HTML left out what is written before the first step, such as a plan; the transcript left out
/// lessons that a method adds without a reflection.
#[test]
fn plans_and_lessons_without_a_step_are_shown() {
    let plan = r#"{"type":"reflected","reflection":{"kind":"plan","author":"symbolic","episode":1,"step":0,"items":[{"text":{"text":"go, take"}}],"dropped":[{"text":"rest"}]}}
{"type":"lesson_changed","op":"add","id":"p1","kind":"plan","scope":"episode","origin":"symbolic","text":{"text":"go, take"},"by":"symbolic"}
{"type":"lesson_changed","op":"add","id":"p2","kind":"advice","scope":"task","origin":"symbolic","text":{"text":"Look first."},"by":"symbolic"}
{"type":"prompt_sent""#;
    let session = SESSION.replacen(r#"{"type":"prompt_sent""#, plan, 1);
    let events = events_of(&session);
    let transcript = render_transcript(&events);
    assert_eq!(transcript.matches("go, take").count(), 1, "{transcript}");
    assert!(transcript.contains("      lesson 2 added (Advice): Look first.\n"), "{transcript}");
    let record = record_of(&events);
    let markdown = render_markdown(&record);
    let expected =
        "```\n\n- **Plan reflection (rules)**\n  - `go, take`\n  - 1 text not kept\n\n### Step 1\n";
    assert!(markdown.contains(expected), "{markdown}");
    let page = html_page(&record, StepRef::default(), &files());
    let steps = page.split("<section").nth(1).unwrap();
    assert!(steps.contains("id=\"s1-0\"") && steps.contains("<li>go, take</li>"), "{steps}");
}

/// Regression: the pages and the transcript of a method that never asks an actor named one.
#[test]
fn only_roles_that_a_run_has_are_facts() {
    let with_method = |method: &str| {
        let session = SESSION.replace(r#""method":"omnireflect""#, &format!(r#""method":"{method}""#));
        let events = events_of(&session);
        (render_transcript(&events), render_markdown(&record_of(&events)))
    };
    let (transcript, markdown) = with_method("planning");
    assert!(transcript.starts_with("planning with mentor symbolic, 1 task, seed 0\n"), "{transcript}");
    assert!(markdown.contains("- method: `planning`, mentor: `symbolic`, interface"), "{markdown}");
    let (transcript, markdown) = with_method("react");
    assert!(transcript.starts_with("react with actor rules, 1 task, seed 0\n"), "{transcript}");
    assert!(
        markdown.contains("- method: `react`, actor: rules (a stand-in, not a model), interface"),
        "{markdown}"
    );
}

/// Regression: no export, and no first line of a transcript, said that the instructions aren't made by the paper's soft prompt.
#[test]
fn pages_and_transcripts_name_what_makes_the_instructions() {
    const NAME: &str = "text steering, not the paper's soft prompt";
    let events = events_of(&SESSION.replace(r#""method":"omnireflect""#, r#""method":"dora""#));
    let transcript = render_transcript(&events);
    let first: Vec<&str> = transcript.lines().take(3).collect();
    assert_eq!(first[1], format!("instructions: {NAME}"), "{transcript}");
    assert!(first[2].starts_with("search: at most 46 evaluations of 1 task, "), "{transcript}");
    let record = record_of(&events);
    assert!(render_markdown(&record).contains(&format!("- instructions: {NAME}\n- search: at most 46")));
    let page = html_page(&record, StepRef::default(), &files());
    let heading = page.split("<section").next().unwrap();
    assert!(
        heading.contains("text steering, not the paper") && heading.contains("138 episodes"),
        "{heading}"
    );
    let json: serde_json::Value = serde_json::from_str(&render_json(&record)).unwrap();
    assert_eq!(json["run_notes"]["instructions"], NAME);
}

/// Regression: journals of old versions can contain counts near `u64::MAX`; every command that reported such a session
/// panicked.
#[test]
fn sums_of_counts_from_a_journal_do_not_overflow() {
    let mut state = State::default();
    for event in events() {
        state.apply(&event);
    }
    let mut episode = state.ended_episodes[0].as_ref().clone();
    episode.tokens = u64::MAX;
    state.ended_episodes = [Arc::new(episode.clone()), Arc::new(episode)].into_iter().collect();
    assert_eq!(Tally::from_states([&state, &state]).tokens, u64::MAX);
}

/// What was measured of a lesson is in every export.
#[test]
fn exports_say_what_was_measured_of_a_lesson() {
    let measured = concat!(
        r#"{"type":"lesson_changed","op":"measured","id":"aa","measured":{"date":"2026-11-20","effect":"0a","version":1,"#,
        r#""scope":"tasks","column":"elsewhere","arms":["with","without"],"outcome":"success","pairs":120,"b":25,"c":1,"#,
        r#""difference":0.2,"low":0.12,"high":0.27,"alpha":0.025,"margin":0.1,"verdict":"helped","model":"rules"},"by":"person"}"#,
        "\n{\"type\":\"run_ended\"}",
    );
    let events = events_of(&SESSION.replace("{\"type\":\"run_ended\"}", measured));
    let record = record_of(&events);
    let result = "+20 % elsewhere [12, 27] · 120 pairs";
    let details = "with - without, 25 : 1, alpha 0.025 (97.5 % interval), margin 0.10, rules, frozen, 2026-11-20, version 1";
    let html = html_page(&record, StepRef { episode: 1, step: 1 }, &files());
    assert!(html.contains(&format!("<br>measured {result}: helped ({details})")), "{html}");
    let plain = |text: String| text.replace('\\', "");
    let markdown = plain(render_markdown(&record));
    assert!(markdown.contains(&format!("    - measured {result}: helped ({details})")), "{markdown}");
    let transcript = render_transcript(&events);
    assert!(transcript.contains(&format!("lesson 1 measured: {result}, helped")), "{transcript}");
    let json: serde_json::Value = serde_json::from_str(&render_json(&record)).unwrap();
    assert_eq!(json["lessons"][0]["measured"][0]["pairs"], 120);
}

/// What only the log of a measurement says is in the exports of a closed session as well, once.
#[test]
fn exports_say_what_the_logs_of_measurements_say() {
    let mut record = record_of(&events_of(SESSION));
    let lesson = record.lessons()[0].id.clone();
    let result = MeasuredEffect {
        start: Some(EffectStart::Tasks),
        b: 12,
        c: 0,
        advice: Some(AdviceCounts { effective: 30, ineffective: 88, toxic: 2 }),
        low: 0.1,
        high: 0.3,
        ..MeasuredEffect::sample("0a", "elsewhere", 1, 60)
    };
    let longer = MeasuredEffect { pairs: 120, b: 24, ..result.clone() };
    let of_another = (LessonId("not-here".into()), result.clone());
    record.logged_measurements = vec![(lesson.clone(), result), (lesson, longer), of_another];
    let html = html_page(&record, StepRef { episode: 1, step: 1 }, &files());
    let markdown = render_markdown(&record).replace('\\', "");
    for page in [html, markdown] {
        assert_eq!(page.matches("measured +20 %").count(), 1, "{page}");
        assert!(page.contains("120 pairs: helped"), "{page}");
        assert!(
            page.contains(
                "; effective 30, ineffective 88, toxic 2 pairs (fewer, as many, more steps; with : without"
            ),
            "{page}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&render_json(&record)).unwrap();
    let measured = json["lessons"][0]["measured"].as_array().unwrap();
    assert_eq!((measured.len(), &measured[0]["pairs"]), (1, &120.into()));
}
