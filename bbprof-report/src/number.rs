//! Numbers as people read them, and as other tools can.

use std::fmt::Display;
use std::io;

/// With a comma between thousands: `1,234,567`.
pub(crate) fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.char_indices() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many of what `noun` names, with an `s` where it is not one.
pub(crate) fn numbered(number: u128, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A share of a whole with one decimal: `45.1`; `-` of nothing. What is not all is never shown as 100.0, nor something as 0.0
/// unless it is below a thousandth.
pub(crate) fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let tenths = match part.checked_mul(2000) {
        Some(scaled) => (scaled / whole).div_ceil(2),
        None => part / (whole / 1000).max(1),
    };
    let tenths = if part < whole { tenths.min(999) } else { tenths };
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A number in a format whose readers hold 64 bits: they refuse more, or take other numbers for it.
/// `what` is said of it in the error, `format` names the format.
pub(crate) fn in_64_bits(number: u128, of: impl Display, what: &str, format: &str) -> io::Result<u64> {
    u64::try_from(number).map_err(|_| {
        let said = format!("{of}: {number} {what} do not fit into the 64 bits of a number in {format}");
        io::Error::new(io::ErrorKind::InvalidData, said)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!([0, 1, 1_000].map(|number| numbered(number, "path")), ["0 paths", "1 path", "1,000 paths"]);
    }

    #[test]
    fn thousands() {
        let numbers = [0, 7, 999, 1_000, 1_234_567, u128::from(u64::MAX)];
        let texts = ["0", "7", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(grouped), texts);
    }

    #[test]
    fn shares() {
        assert_eq!(percent(0, 0), "-");
        assert_eq!(percent(1, 3), "33.3");
        assert_eq!(percent(2, 3), "66.7");
        assert_eq!(percent(99_999, 100_000), "99.9");
        assert_eq!(percent(5, 5), "100.0");
        assert_eq!(percent(u128::MAX / 2, u128::MAX), "50.0");
    }
}
