//! A page as prompts show it: one element a line, such as `[4] <input_text id="tt" value="ab"> text`.

/// An element of a page, or a text beside elements (number below 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) number: i64,
    pub(super) tag: &'a str,
    pub(super) id: &'a str,
    pub(super) class: &'a str,
    pub(super) value: &'a str,
    pub(super) text: &'a str,
    /// Whether it seems to contain others: a page doesn't say so, but these tags are made for that.
    pub(super) has_children: bool,
}

impl<'a> Element<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (number, rest) = line.strip_prefix('[')?.split_once("] <")?;
        // A value may contain the sign that ends the tag, so the last one that a blank or the end follows counts.
        let end = rest.match_indices('>').map(|(at, _)| at).find(|at| {
            rest[..*at].matches('"').count().is_multiple_of(2)
                && matches!(rest.as_bytes().get(at + 1), None | Some(b' '))
        })?;
        let (head, text) = (&rest[..end], rest[end + 1..].trim());
        let tag = head.split(' ').next().unwrap_or_default();
        let attribute = |name: &str| {
            let start = head.find(&format!(" {name}=\""))? + name.len() + 3;
            head.get(start..)?.split('"').next()
        };
        let number = number.parse().ok()?;
        let id = attribute("id").unwrap_or_default();
        Some(Self {
            number,
            tag,
            id,
            class: attribute("class").unwrap_or_default(),
            value: attribute("value").unwrap_or_default(),
            text,
            has_children: ["body", "svg", "ul", "li", "label", "select"].contains(&tag)
                || ["wrap", "area"].contains(&id),
        })
    }

    pub(super) fn is_box(&self) -> bool {
        ["input_checkbox", "input_radio"].contains(&self.tag)
    }

    pub(super) fn is_ticked(&self) -> bool {
        self.value == "True"
    }

    pub(super) fn is_field(&self) -> bool {
        self.tag == "input_text" || self.tag == "textarea"
    }

    /// Returns whether its text or value is this word, in any case.
    pub(super) fn names(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word) || self.value.eq_ignore_ascii_case(word)
    }
}

/// Returns the elements in a text; none if the text has no page.
pub(super) fn parse_page(text: &str) -> Vec<Element<'_>> {
    text.lines().filter_map(Element::parse).collect()
}

/// Returns whether two pages have the same elements. The numbers of texts are new in each observation.
pub(super) fn is_same(before: &[Element<'_>], after: &[Element<'_>]) -> bool {
    let comparable = |element: &Element<'_>| {
        (element.number.max(0), element.value.to_owned(), element.text.to_owned(), element.class.to_owned())
    };
    before.iter().map(comparable).eq(after.iter().map(comparable))
}
