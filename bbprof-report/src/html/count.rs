//! Counts that keep every digit: JavaScript's numbers are exact up to 2^53, so what is larger is written as text.

use serde::{Serialize, Serializer};

/// The largest integer below which JavaScript's numbers have no gaps.
const LARGEST_NUMBER: u128 = (1 << 53) - 1;

/// A change of a count, or a count that may be below zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signed(pub(super) i128);

impl Serialize for Signed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(number) if self.0.unsigned_abs() <= LARGEST_NUMBER => serializer.serialize_i64(number),
            _ => serializer.collect_str(&self.0),
        }
    }
}

/// A count, or a sum of counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count(pub(super) u128);

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Self(u128::from(count))
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(number) if self.0 <= LARGEST_NUMBER => serializer.serialize_u64(number),
            _ => serializer.collect_str(&self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Signed};

    #[test]
    fn every_digit_is_kept() {
        let largest = (1_u128 << 53) - 1;
        let written = serde_json::to_string(&[Count(0), Count(largest), Count(largest + 1), Count(u128::MAX)]).expect("JSON");
        assert_eq!(written, r#"[0,9007199254740991,"9007199254740992","340282366920938463463374607431768211455"]"#);
        let largest = (1_i128 << 53) - 1;
        let written = serde_json::to_string(&[Signed(-largest), Signed(-largest - 1), Signed(largest + 1)]).expect("JSON");
        assert_eq!(written, r#"[-9007199254740991,"-9007199254740992","9007199254740992"]"#);
    }
}
