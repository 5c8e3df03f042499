//! Parses and formats the numbers in conditions: counts, numbers of tokens, costs and durations. Never panics. Parsing
//! a formatted number returns the same number.

use std::fmt::Write as _;

/// The highest count that a condition may contain.
const MAX_COUNT: u64 = 1_000_000;

/// Parses a count of at least `min`.
pub(super) fn parse_count(text: &str, min: u32) -> Option<u32> {
    let n: u64 = text.parse().ok().filter(|n| *n <= MAX_COUNT)?;
    u32::try_from(n).ok().filter(|n| *n >= min)
}

/// Parses a number of tokens: `20000`, `20_000`, `20k`, `1.5M`.
pub(super) fn parse_tokens(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1_000),
        None => text.strip_suffix(['m', 'M']).map_or((text.as_str(), 1), |millions| (millions, 1_000_000)),
    };
    let billionths = parse_billionths(digits)?;
    let product = billionths.checked_mul(factor)?;
    (product % BILLION == 0).then_some(product / BILLION)
}

/// Parses a cost such as `0.5` or `$2` and returns it in billionths.
pub(super) fn parse_cost(text: &str) -> Option<u64> {
    parse_billionths(text.strip_prefix('$').unwrap_or(text).trim_start())
}

const BILLION: u64 = 1_000_000_000;

/// Parses a decimal number with at most nine decimal places and returns it in billionths.
fn parse_billionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if !(is_digits(whole) && is_digits(fraction) && fraction.len() <= 9) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(BILLION)?.checked_add(fraction)
}

/// Formats billionths as the shortest decimal number.
pub(super) fn format_billionths(billionths: u64) -> String {
    let (whole, fraction) = (billionths / BILLION, billionths % BILLION);
    let text = format!("{whole}.{fraction:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Parses a duration such as `10m`, `90s` or `1h30m` and returns it in seconds. A number without a unit means seconds.
pub(super) fn parse_seconds(text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let (mut total, mut digits, mut previous_unit) = (0_u64, String::new(), u64::MAX);
    for c in text.chars().filter(|c| *c != ' ') {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit = match c {
            'h' => 3600,
            'm' => 60,
            's' => 1,
            _ => return None,
        };
        // Larger units come first, and each at most once.
        if unit >= previous_unit {
            return None;
        }
        previous_unit = unit;
        total = total.checked_add(digits.parse::<u64>().ok()?.checked_mul(unit)?)?;
        digits.clear();
    }
    match digits.as_str() {
        "" => Some(total),
        number if previous_unit == u64::MAX => number.parse().ok(),
        _ => None,
    }
}

/// Formats seconds as a duration, such as `1h30m`.
pub(super) fn format_seconds(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    let mut text = String::new();
    for (n, unit) in [(hours, 'h'), (minutes, 'm'), (rest, 's')] {
        if n > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, "{n}{unit}");
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_parse_in_the_usual_notations() {
        assert_eq!(
            (parse_count("3", 1), parse_count("0", 1), parse_count("1000001", 1), parse_count("x", 1)),
            (Some(3), None, None, None)
        );
        assert_eq!(parse_tokens("20000"), Some(20_000));
        assert_eq!(
            (parse_tokens("20_000"), parse_tokens("20k"), parse_tokens("1.5M")),
            (Some(20_000), Some(20_000), Some(1_500_000))
        );
        assert_eq!(
            (
                parse_tokens("0.5"),
                parse_tokens("-1"),
                parse_tokens("k"),
                parse_tokens("99999999999999999999")
            ),
            (None, None, None, None)
        );
        assert_eq!(
            (parse_cost("0.5"), parse_cost("$2"), parse_cost(".5"), parse_cost("1e3")),
            (Some(500_000_000), Some(2_000_000_000), None, None)
        );
        assert_eq!(
            (parse_seconds("10m"), parse_seconds("1h30m"), parse_seconds("45"), parse_seconds("90s")),
            (Some(600), Some(5400), Some(45), Some(90))
        );
        assert_eq!(
            (parse_seconds("m"), parse_seconds("3m2h"), parse_seconds("1h5"), parse_seconds("é")),
            (None, None, None, None)
        );
        assert_eq!(
            (format_billionths(500_000_000), format_billionths(2_000_000_000), format_billionths(1)),
            ("0.5".into(), "2".into(), "0.000000001".into())
        );
        assert_eq!(
            (format_seconds(5400), format_seconds(90), format_seconds(0)),
            ("1h30m".to_owned(), "1m30s".to_owned(), "0s".to_owned())
        );
    }
}
