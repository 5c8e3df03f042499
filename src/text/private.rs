//! Hosts, addresses and folders in a text: what an audience isn't shown.

use std::ops::Range;

/// Endings of host names. Other words with a dot in them are none.
const HOST_ENDINGS: [&str; 12] =
    ["com", "org", "net", "edu", "gov", "io", "ai", "dev", "cloud", "local", "lan", "internal"];
/// Names of hosts that reveal nothing and are ordinary words of the screen.
const COMMON_HOSTS: [&str; 7] = ["agent", "api", "host", "llm", "model", "models", "server"];
/// Endings of file names, which aren't private: only the folder is.
const FILE_ENDINGS: [&str; 8] = ["html", "json", "jsonl", "toml", "txt", "md", "svg", "gguf"];
/// The most characters that stand for a private part of a text: a long path doesn't become rows of them.
const MAX_COVER: usize = 8;

/// Returns the hosts of the addresses in a text, each with its port and without.
pub fn hosts_of(text: &str) -> Vec<String> {
    let mut hosts = Vec::new();
    for rest in text.split("://").skip(1) {
        let is_end = |c: char| c.is_whitespace() || "/?#\"'`()<>{},;".contains(c);
        let address = rest.split(is_end).next().unwrap_or_default();
        let address = address.rsplit('@').next().unwrap_or_default().trim_end_matches(['.', ':']);
        // An address of version 6 is in brackets.
        let host = match address.split_once(']') {
            Some((host, _)) => &address[..=host.len()],
            None => address.rsplit_once(':').map_or(address, |(host, _)| host),
        };
        let is_private = |host: &&&str| host.len() > 1 && !COMMON_HOSTS.contains(*host);
        hosts.extend([address, host].iter().filter(is_private).map(|host| (*host).to_owned()));
    }
    hosts.dedup();
    hosts
}

/// Returns a text with every private part replaced by `cover`, at most eight times. `known` are texts that are private
/// for sure, such as the session's folder; the hosts of the text's own addresses are, too.
pub fn hide_private(text: &str, known: &[String], cover: &str) -> String {
    let known: Vec<String> = known.iter().cloned().chain(hosts_of(text)).collect();
    replace_parts(text, &parts_where(text, |word| is_location(word) || is_known(word, &known)), cover)
}

/// Returns a page (HTML) with every private part of its texts replaced by `cover`. In tags, scripts and styles, whose addresses
/// are the page's own, only what is `known` is private.
pub fn hide_private_in_page(page: &str, known: &[String], cover: &str) -> String {
    let hide_known =
        |text: &str| replace_parts(text, &parts_where(text, |word| is_known(word, known)), cover);
    let mut hidden = String::with_capacity(page.len());
    let mut is_code = false;
    for (place, piece) in page.split('<').enumerate() {
        let (tag, text) = match piece.split_once('>').filter(|_| place > 0) {
            Some((tag, text)) => (Some(tag), text),
            None => (None, piece),
        };
        if place > 0 {
            hidden.push('<');
        }
        if let Some(tag) = tag {
            let is_of = |name: &str| tag.trim_start_matches('/').starts_with(name);
            if is_of("script") || is_of("style") {
                is_code = !tag.starts_with('/');
            }
            hidden.push_str(&hide_known(tag));
            hidden.push('>');
        }
        hidden.push_str(&if is_code { hide_known(text) } else { hide_private(text, known, cover) });
    }
    hidden
}

fn replace_parts(text: &str, parts: &[Range<usize>], cover: &str) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut done = 0;
    for range in parts {
        hidden.push_str(&text[done..range.start]);
        hidden.push_str(&cover.repeat(text[range.clone()].chars().count().min(MAX_COVER)));
        done = range.end;
    }
    hidden.push_str(&text[done..]);
    hidden
}

/// Returns the byte ranges of the private parts of a row on the screen, in order. The row may be too short for a path or a host.
pub fn private_parts(text: &str, known: &[String]) -> Vec<Range<usize>> {
    parts_where(text, |word| {
        // What was cut at its left begins with a mark.
        let word = word.trim_start_matches('…').trim_start_matches("...");
        is_location(word) || is_known(word, known) || known.iter().any(|host| is_part_of_host(word, host))
    })
}

/// The shortest part of a host that is recognised.
const MIN_HOST_PART: usize = 6;

/// Returns whether a word is, begins with or ends with a part of a host. A part that looks like any other word isn't recognised, nor
/// is one of a folder, whose names are also those of sessions.
fn is_part_of_host(word: &str, host: &str) -> bool {
    if host.contains('/') {
        return false;
    }
    let is_distinct = |part: &str| {
        part.len() >= MIN_HOST_PART && part.contains(|c: char| c.is_ascii_digit() || ".:-_".contains(c))
    };
    let cuts = || host.char_indices().map(|(at, _)| host.split_at(at));
    host.contains(word) && is_distinct(word)
        || cuts().any(|(start, end)| {
            is_distinct(start) && word.ends_with(start) || is_distinct(end) && word.starts_with(end)
        })
}

/// Returns whether a word contains a known text, not as a part of a longer name: `coffeemachine` doesn't name the server `mac`.
fn is_known(word: &str, known: &[String]) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let goes_on =
        |edge: Option<char>, next: Option<char>| edge.is_some_and(is_name) && next.is_some_and(is_name);
    let is_whole = |(at, private): (usize, &str)| {
        let (before, after) = (&word[..at], &word[at + private.len()..]);
        !goes_on(private.chars().next(), before.chars().next_back())
            && !goes_on(private.chars().next_back(), after.chars().next())
    };
    known.iter().any(|private| word.match_indices(private.as_str()).any(is_whole))
}

/// Returns the byte ranges of the words that are private, without the name of a file at the end of a path.
fn parts_where(text: &str, is_private: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let is_break = |c: char| c.is_whitespace() || "\"'`()<>{},;│|".contains(c);
    let mut parts = Vec::new();
    let mut start = 0;
    for word in text.split_inclusive(is_break) {
        let name = word.trim_end_matches(|c: char| is_break(c) || ".:!?…".contains(c));
        if is_private(name) {
            parts.push(start..start + folder_of_file(name).unwrap_or(name).len());
        }
        start += word.len();
    }
    parts
}

/// Returns the folder of a path to a file; `None` for everything else.
fn folder_of_file(word: &str) -> Option<&str> {
    let (folder, file) = word.rsplit_once('/')?;
    let (_, ending) = file.rsplit_once('.')?;
    (!word.contains("://") && FILE_ENDINGS.contains(&ending)).then_some(folder)
}

/// Returns whether a word is an address, a host or a path; a page of the program's own documentation is none.
fn is_location(word: &str) -> bool {
    let page = word.strip_prefix("docs/").and_then(|page| page.strip_suffix(".md"));
    if page.is_some_and(|page| page.chars().all(|c| c.is_ascii_alphabetic() || c == '_')) {
        return false;
    }
    let is_path = ["/", "~/", "./", "../"].iter().any(|prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
    });
    let (host, port) = match word.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => (host, true),
        _ => (word, false),
    };
    let has_dot = host.trim_matches('.').contains('.');
    let ending = host.rsplit('.').next().unwrap_or_default();
    let is_name = has_dot
        && (HOST_ENDINGS.contains(&ending) || (port && ending.starts_with(|c: char| c.is_alphabetic())));
    word.contains("://") || word.contains(":\\") || is_path || host == "localhost" || is_name || is_ip(host)
}

/// Returns whether a text looks like an IP address, of either version.
fn is_ip(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    let is_number = |part: &&str| part.parse::<u8>().is_ok();
    let hex = host.trim_matches(['[', ']']);
    let is_v6 = hex.matches(':').count() > 1 && hex.chars().all(|c| c == ':' || c.is_ascii_hexdigit());
    (parts.len() == 4 && parts.iter().all(is_number)) || is_v6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_hidden_and_other_words_stay() {
        let known = ["work-sessions".to_owned()];
        let cases = [
            ("connection to http://127.0.0.1:8080 timed out", "http://127.0.0.1:8080"),
            ("wrote /home/ada/report-lamp.html.", "/home/ada"),
            ("my-secret-host refused: http://my-secret-host/v1", "http://my-secret-host/v1"),
            ("server \"gpu7.lab:8000\" refused", "gpu7.lab:8000"),
            ("localhost:8080 is slow", "localhost:8080"),
            ("resume ~/s/20261120T104000Z-hot-apple", "~/s/20261120T104000Z-hot-apple"),
            ("in work-sessions/x1, step 2", "work-sessions/x1"),
            ("│api.example.com│", "api.example.com"),
            ("[::1]:80 answered", "[::1]:80"),
            ("asked llm.cs.uni.edu", "llm.cs.uni.edu"),
        ];
        for (text, private) in cases {
            let cover = |text: &str| "*".repeat(text.chars().count().min(MAX_COVER));
            // The host of an address is private wherever it stands.
            let host = hosts_of(private).pop().unwrap_or_else(|| private.to_owned());
            let hidden = text.replace(private, &cover(private)).replace(&host, &cover(&host));
            assert_eq!(hide_private(text, &known, "*"), hidden);
        }
        for text in [
            "put it in/on the coffeemachine 1.",
            "household easy/look/3, step 2.14 of 13; 0.75 -> 1.00",
            "meta-llama/Llama-3.1-8B at 8:30, e.g. qwen3:8b",
            "/ search  ? help  : all",
            "override.shown_as = own",
            "copied to report-lamp.html",
            "in one of their own forms (docs/LESSON_FORMS.md)",
        ] {
            assert_eq!(hide_private(text, &known, "*"), text);
        }
    }

    /// Regression: with a server named `mac`, the goal was `put a hot mug in` and dots; with one named `model`, that word was.
    #[test]
    fn a_short_name_of_a_server_hides_no_other_words() {
        let hosts: Vec<String> =
            ["http://mac:8000/v1", "http://model:8000", "http://[::1]/v1"].map(hosts_of).concat();
        assert_eq!(hosts, ["mac:8000", "mac", "model:8000", "[::1]"]);
        let hidden =
            hide_private("a mug in the coffeemachine rows[:3] of mac, model:8000 and the model", &hosts, "*");
        assert_eq!(hidden, "a mug in the coffeemachine rows[:3] of ***, ******** and the model");
    }

    /// Regression: on a row that was too short for a host, the rest of it was shown to the audience.
    #[test]
    fn parts_of_a_known_host_are_hidden_where_a_row_was_too_short_for_it() {
        let known = [
            "llm.cs.example-university.edu:8443",
            "llm.cs.example-university.edu",
            "/home/ada/hot-mug-taught",
        ];
        let known = known.map(str::to_owned);
        let hidden = [
            ("base url  ….example-university.edu:8443/v1  config", "….example-university.edu:8443/v1"),
            ("cannot connect to llm.cs.example-university.ed…", "llm.cs.example-university.ed"),
            ("no answer from llm.cs.exam", "llm.cs.exam"),
            ("ple-university.edu:8443 for 3 s", "ple-university.edu:8443"),
            ("see http://llm.cs.exam", "http://llm.cs.exam"),
            ("in …/ada/hot-mug-taught", "…/ada/hot-mug-taught"),
        ];
        for (text, part) in hidden {
            let found: Vec<&str> =
                private_parts(text, &known).into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, [part]);
        }
        for text in ["university", "hot-mug-taught", "for example: ...", "an edu", "8443 steps", "cs.ex"] {
            assert!(private_parts(text, &known).is_empty(), "{text}");
        }
    }

    /// Regression: reports that were written on stage had the host in them.
    #[test]
    fn a_page_keeps_its_own_addresses_and_hides_hosts() {
        let page = "<a href=\"https://example.org/\">docs</a><style>a>b{}</style><td>server http://gpu7/v1 failed: \
                    gpu7 is down</td><td title=\"http://rack9:80/v1\">x</td>";
        let hidden = hide_private_in_page(page, &["rack9".to_owned()], "*");
        assert_eq!(
            hidden,
            "<a href=\"https://example.org/\">docs</a><style>a>b{}</style><td>server ******** failed: \
             **** is down</td><td title=\"********\">x</td>"
        );
    }
}
