//! The fields of a task's text: what is to be typed or clicked.

/// Returns the quoted parts of a task's text, or else the words that the ten tasks without quotes name. Pages that have fields
/// of their own say them.
pub(super) fn fields_of_text(utterance: &str) -> Vec<String> {
    let quoted: Vec<String> = utterance.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    if !quoted.is_empty() && !utterance.starts_with("Find the ") {
        return quoted;
    }
    let between = |before: &str, after: &str| {
        let (_, rest) = utterance.split_once(before)?;
        rest.rsplit_once(after).map(|(field, _)| field.to_owned())
    };
    // click-color, find-word, click-option and click-checkboxes-soft, click-menu, click-shape.
    let field = between("Click on the ", " colored box")
        .or_else(|| between("Find the ", " word in the paragraph"))
        .or_else(|| between("Select words similar to ", " and click Submit"))
        .or_else(|| between("Select ", " and click Submit"))
        .or_else(|| utterance.strip_prefix("Select ").map(str::to_owned))
        .or_else(|| utterance.strip_prefix("Click on a ").map(str::to_owned));
    field.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::fields_of_text;

    #[test]
    fn the_ten_tasks_have_fields() {
        let cases: [(&str, &[&str]); 8] = [
            ("Enter an item that starts with \"Ce\" and ends with \"lic\".", &["Ce", "lic"]),
            ("Click on the grey colored box.", &["grey"]),
            (
                "Find the 2nd word in the paragraph, type that into the textbox and press \"Submit\".",
                &["2nd"],
            ),
            ("Select words similar to red, blue and click Submit.", &["red, blue"]),
            ("Select GDKkQ and click Submit.", &["GDKkQ"]),
            ("Select Lilly>Gusella", &["Lilly>Gusella"]),
            ("Click on a small letter", &["small letter"]),
            ("Do something.", &[]),
        ];
        for (utterance, fields) in cases {
            assert_eq!(fields_of_text(utterance), fields, "{utterance}");
        }
    }
}
