//! Checks that the examples of `docs/REPLIES.md` are parsed as documented.

use retrospect::prompt::read;

/// Returns the rows of the page's table with this index, each as its cells without backquotes.
fn table_rows(table: usize) -> Vec<Vec<String>> {
    let text = include_str!("../../docs/REPLIES.md");
    let section = text.split("\n## ").nth(table).unwrap();
    let rows = section.lines().filter(|l| l.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split(" |").map(cell).collect()).collect()
}

fn cell(text: &str) -> String {
    let text = text.trim_start_matches('|').trim();
    text.strip_prefix('`')
        .and_then(|t| t.strip_suffix('`'))
        .unwrap_or(text)
        .replace('⏎', "\n")
        .replace('␛', "\u{1b}")
}

/// Checks that the problems are exactly those in the cell.
fn assert_complaints(cell: &str, complaints: &[String], reply: &str) {
    let expected: Vec<&str> =
        cell.split(';').map(|w| w.trim().trim_matches('`')).filter(|w| !w.is_empty()).collect();
    assert_eq!(expected.len(), complaints.len(), "{reply:?}: {complaints:?}");
    for (expected, actual) in expected.iter().zip(complaints) {
        assert!(actual.contains(expected), "{reply:?}: {expected:?} is not in {actual:?}");
    }
}

#[test]
fn actor_replies_are_parsed_as_documented() {
    let rows = table_rows(1);
    assert!(rows.len() > 12);
    for row in rows {
        let [_, reply, thought, action, complaints] = row.try_into().unwrap();
        let reading = read::read_reply(&reply);
        let actual = (reading.thought.unwrap_or_default(), reading.action.unwrap_or_default());
        assert_eq!(actual, (thought, action), "{reply:?}");
        assert_complaints(&complaints, &reading.complaints, &reply);
    }
}

#[test]
fn mentor_lists_are_parsed_as_documented() {
    let rows = table_rows(2);
    assert!(rows.len() > 15);
    for row in rows {
        let [_, reply, lessons, complaints] = row.try_into().unwrap();
        let read = read::read_items(&reply);
        let actual: Vec<String> = read
            .items
            .into_iter()
            .map(|i| match i.text.solution {
                Some(solution) => format!("{} ⇒ {solution}", i.text.text),
                None => i.text.text,
            })
            .collect();
        assert_eq!(actual.join(" / "), lessons, "{reply:?}");
        let complaints_read: Vec<String> = read.complaints.into_iter().map(|c| c.message).collect();
        assert_complaints(&complaints, &complaints_read, &reply);
    }
}
