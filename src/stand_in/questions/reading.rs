//! Finds names, words and sentences in texts.

/// Words that begin with a capital letter only because they begin a sentence, and others that name nothing.
const NO_NAMES: [&str; 46] = [
    "a", "an", "the", "in", "on", "at", "of", "by", "to", "for", "from", "under", "before", "after", "with",
    "which", "what", "who", "whom", "whose", "where", "when", "why", "how", "is", "are", "was", "were", "do",
    "does", "did", "has", "have", "can", "it", "its", "he", "his", "she", "her", "they", "their", "one",
    "most", "between", "and",
];
/// Words that say nothing about the content of a sentence.
const FILLERS: [&str; 20] = [
    "that", "this", "these", "those", "than", "or", "as", "be", "been", "first", "other", "made", "kind",
    "name", "named", "called", "person", "not", "also", "same",
];

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn is_filler(word: &str) -> bool {
    let word = bare(word).to_lowercase();
    NO_NAMES.contains(&word.as_str()) || FILLERS.contains(&word.as_str())
}

/// Returns the names in a text: the longest runs of words with capital letters, each once.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut run: Vec<&str> = Vec::new();
    let mut begins_sentence = true;
    for word in text.split_whitespace() {
        let name = bare(word);
        let name = name.strip_suffix("'s").or(name.strip_suffix("’s")).unwrap_or(name);
        let is_capital = name.chars().next().is_some_and(char::is_uppercase);
        // `The Salt Road` is a name of three words, but `The ferry` is none.
        let is_article = name == "The" && !begins_sentence;
        if is_capital && (is_article || !is_filler(name)) {
            run.push(name);
        } else {
            end_run(&mut run, &mut found);
        }
        let ends = word.ends_with([',', '.', '?', ';', ':', ')']);
        if ends {
            end_run(&mut run, &mut found);
        }
        begins_sentence = word.ends_with(['.', '?', '!']);
    }
    end_run(&mut run, &mut found);
    found
}

fn end_run(run: &mut Vec<&str>, found: &mut Vec<String>) {
    let name = run.join(" ");
    run.clear();
    if !name.is_empty() && name != "The" && !found.contains(&name) {
        found.push(name);
    }
}

/// Returns the words of a text that say what it is about, in lower case, each once.
pub(super) fn content_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace().filter(|word| !is_filler(word)) {
        let word = bare(word).to_lowercase();
        if word.chars().count() > 2 && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Returns the sentence that shares most words with a question; of several the last one, which was read last.
pub(super) fn best_sentence<'a>(question: &str, texts: &[&'a str]) -> Option<&'a str> {
    let wanted = content_words(question);
    let sentences = texts.iter().flat_map(|text| text.split_inclusive(". ")).map(str::trim);
    let scored = sentences.filter(|sentence| !sentence.is_empty()).map(|sentence| {
        let words = content_words(sentence);
        (words.iter().filter(|word| wanted.contains(word)).count(), sentence)
    });
    scored.max_by_key(|(shared, _)| *shared).map(|(_, sentence)| sentence)
}

/// Returns what may be the answer in a sentence: names that the question doesn't contain, then its last words.
pub(super) fn candidates(question: &str, sentence: &str) -> Vec<String> {
    let lower = question.to_lowercase();
    let mut found: Vec<String> =
        names(sentence).into_iter().filter(|name| !lower.contains(&name.to_lowercase())).collect();
    found.reverse();
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let mut last: Vec<&str> =
        words.iter().rev().take_while(|word| !is_filler(word)).take(2).copied().collect();
    last.reverse();
    let last = last.join(" ");
    if !bare(&last).is_empty() {
        found.push(bare(&last).to_owned());
    }
    found
}

/// Returns the titles that an answer names in place of a page that wasn't found.
pub(super) fn similar_titles(answer: &str) -> Vec<&str> {
    let Some((_, list)) = answer.split_once("Similar: [").filter(|_| answer.starts_with("Could not find"))
    else {
        return Vec::new();
    };
    let mut titles = Vec::new();
    let mut rest = list;
    while let Some(quote) = rest.chars().find(|c| matches!(c, '\'' | '"')) {
        let Some((_, after)) = rest.split_once(quote) else { break };
        // A quote inside a title is not followed by a comma or the end of the list.
        let end =
            after.match_indices(quote).map(|(at, _)| at).find(|at| after[at + 1..].starts_with([',', ']']));
        let Some(end) = end else { break };
        titles.push(&after[..end]);
        rest = &after[end + 1..];
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_runs_of_capital_words() {
        for (text, expected) in [
            ("From which village did the engineer of the lighthouse of Tolmara come?", vec!["Tolmara"]),
            ("What was the director of the film The Salt Road before he made films?", vec!["The Salt Road"]),
            (
                "Which club was founded first, Dunmar FC or Merrowin Rovers?",
                vec!["Dunmar FC", "Merrowin Rovers"],
            ),
            (
                "Is the tower of Lisgar Cathedral higher than Merrowin Cathedral's?",
                vec!["Lisgar Cathedral", "Merrowin Cathedral"],
            ),
            ("The ferry carries 240 passengers. Her engine is old.", vec![]),
            ("Brena Salvik (1832–1904) was an engineer from Hesk.", vec!["Brena Salvik", "Hesk"]),
            ("", vec![]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn titles_are_read_from_the_list() {
        let answer = r#"Could not find [x]. Similar: ['A (b)', "It's", 'C, D']"#;
        assert_eq!(similar_titles(answer), ["A (b)", "It's", "C, D"]);
        assert_eq!(similar_titles("Could not find [x]. Similar: []"), Vec::<&str>::new());
        assert_eq!(similar_titles("A page. Similar: ['x']"), Vec::<&str>::new());
        assert_eq!(similar_titles("Could not find [x]. Similar: ['x"), Vec::<&str>::new());
    }

    #[test]
    fn the_answer_comes_from_the_sentence_that_fits_best() {
        let texts = ["Tolmara is a town. The lighthouse was built by Brena Salvik.", "Nothing."];
        let question = "Who built the lighthouse of Tolmara?";
        let sentence = best_sentence(question, &texts).unwrap();
        assert_eq!(sentence, "The lighthouse was built by Brena Salvik.");
        assert_eq!(candidates(question, sentence), ["Brena Salvik", "Brena Salvik"]);
        assert_eq!(candidates("What was he?", "He was a tram driver."), ["tram driver"]);
        assert_eq!(best_sentence(question, &[]), None);
    }
}
