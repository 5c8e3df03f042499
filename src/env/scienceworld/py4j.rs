//! The text protocol of py4j, by which the simulator's methods are called: a request is some lines, a reply is one line.
//!
//! Source: py4j (`Protocol.java`), versions 0.10.3 and 0.10.9.9.

/// An argument of a call. Java looks for a method with exactly these types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument<'a> {
    Text(&'a str),
    Int(i32),
    Bool(bool),
}

/// What a method returns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Int(i64),
    Double(f64),
    Bool(bool),
    /// A list or another object, by its id. It stays in the other program's memory until it is released.
    Reference(String),
    /// Nothing, or null.
    Nothing,
}

/// What the other program answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Value(Value),
    /// The method has thrown an exception, which has this id.
    Exception(String),
    /// The request is wrong: an unknown method or object, or wrong types. With a stack trace.
    Rejected(String),
}

/// Returns the request for a new object of a class.
pub(super) fn construct_request(class: &str) -> String {
    format!("i\n{class}\ne\n")
}

/// Returns the request for a call of a method.
pub(super) fn call_request(object: &str, method: &str, arguments: &[Argument]) -> String {
    let mut request = format!("c\n{object}\n{method}\n");
    for argument in arguments {
        match argument {
            Argument::Text(text) => {
                request.push('s');
                push_escaped(&mut request, text);
            }
            Argument::Int(number) => {
                request.push('i');
                request.push_str(&number.to_string());
            }
            Argument::Bool(true) => request.push_str("bTrue"),
            Argument::Bool(false) => request.push_str("bFalse"),
        }
        request.push('\n');
    }
    request.push_str("e\n");
    request
}

/// Returns the request to release an object.
pub(super) fn release_request(object: &str) -> String {
    format!("m\nd\n{object}\ne\n")
}

/// Returns the request that must come first if the gateway expects a token.
pub(super) fn authentication_request(token: &str) -> String {
    format!("A\n{token}\n")
}

/// Parses a reply without its line break.
///
/// # Errors
/// Returns what violates the protocol.
pub(super) fn parse_reply(line: &str) -> Result<Reply, String> {
    let invalid = || format!("invalid reply {:?}", crate::text::prefix(line, 200));
    let body = line.strip_prefix('!').ok_or_else(invalid)?;
    if let Some(value) = body.strip_prefix('y') {
        return parse_value(value).map(Reply::Value).ok_or_else(invalid);
    }
    if let Some(id) = body.strip_prefix("xr") {
        return Ok(Reply::Exception(id.to_owned()));
    }
    if let Some(text) = body.strip_prefix("xs").or_else(|| body.strip_prefix("zs")) {
        return Ok(Reply::Rejected(unescape(text)));
    }
    Err(invalid())
}

fn parse_value(text: &str) -> Option<Value> {
    let mut chars = text.chars();
    let kind = chars.next()?;
    let rest = chars.as_str();
    Some(match kind {
        's' => Value::Text(unescape(rest)),
        'i' | 'L' => Value::Int(rest.parse().ok()?),
        // Java and Rust write numbers such as `1.0E-4` alike.
        'd' => Value::Double(rest.parse().ok()?),
        'b' => Value::Bool(match rest {
            "true" => true,
            "false" => false,
            _ => return None,
        }),
        'r' | 'l' if !rest.is_empty() => Value::Reference(rest.to_owned()),
        'v' | 'n' => Value::Nothing,
        _ => return None,
    })
}

fn push_escaped(request: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\\' => request.push_str("\\\\"),
            '\n' => request.push_str("\\n"),
            '\r' => request.push_str("\\r"),
            other => request.push(other),
        }
    }
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_lines() {
        let arguments = [
            Argument::Text("boil"),
            Argument::Int(-1),
            Argument::Text(""),
            Argument::Bool(false),
            Argument::Bool(true),
        ];
        assert_eq!(call_request("o0", "load", &arguments), "c\no0\nload\nsboil\ni-1\ns\nbFalse\nbTrue\ne\n");
        assert_eq!(
            call_request("o0", "step", &[Argument::Text("a\\b\nc\rd")]),
            "c\no0\nstep\nsa\\\\b\\nc\\rd\ne\n"
        );
        assert_eq!(construct_request("a.B"), "i\na.B\ne\n");
        assert_eq!(release_request("o2"), "m\nd\no2\ne\n");
        assert_eq!(authentication_request("t"), "A\nt\n");
    }

    #[test]
    fn replies_are_values_exceptions_or_errors() {
        let value = |value| Ok(Reply::Value(value));
        let cases = [
            ("!ys", value(Value::Text(String::new()))),
            ("!ysa\\nb\\\\n\\r\t", value(Value::Text("a\nb\\n\r\t".to_owned()))),
            ("!yi30", value(Value::Int(30))),
            ("!yL-5000000000", value(Value::Int(-5_000_000_000))),
            ("!yd1.0E-4", value(Value::Double(1e-4))),
            ("!yd0.0", value(Value::Double(0.0))),
            ("!ybtrue", value(Value::Bool(true))),
            ("!ybfalse", value(Value::Bool(false))),
            ("!yro0", value(Value::Reference("o0".to_owned()))),
            ("!ylo12", value(Value::Reference("o12".to_owned()))),
            ("!yv", value(Value::Nothing)),
            ("!yn", value(Value::Nothing)),
            ("!xro2", Ok(Reply::Exception("o2".to_owned()))),
            (
                "!xspy4j.Py4JException: no\\n\tat",
                Ok(Reply::Rejected("py4j.Py4JException: no\n\tat".to_owned())),
            ),
            ("!zsfatal", Ok(Reply::Rejected("fatal".to_owned()))),
        ];
        for (line, expected) in cases {
            assert_eq!(parse_reply(line), expected, "{line}");
        }
        for line in ["", "!", "!y", "!yq", "!yi", "!yix", "!ybTrue", "!yr", "!x", "yv", "!ydx"] {
            assert!(parse_reply(line).is_err(), "{line}");
        }
    }
}
