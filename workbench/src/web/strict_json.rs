//! Checks a JSON document as its readers will: what passes here can be read by every tool and by the verifier.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Checks `text`. Beyond the grammar, as `serde_json` reads values: texts decode to Unicode (no lone surrogates), numbers
/// are finite, and nothing is nested deeper than 127. Takes no memory to speak of.
pub(super) fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Seen>(text).map(|_| ())
}

/// Any value, decoded and forgotten. `IgnoredAny` would pass over what is inside it without decoding.
struct Seen;

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Seen {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn passes_what_readers_can_read() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let table = [
            (r#"{"a": [1, -2.5e3, "é\n", true, null, {}]}"#.to_owned(), true),
            (r#"{"a": 1, "a": 2}"#.to_owned(), true),
            (r#""\ud83d\ude00""#.to_owned(), true),
            (r#""\ud83d""#.to_owned(), false),
            (r#"{"\ude00": 1}"#.to_owned(), false),
            ("1".repeat(300), true),
            ("1e999".to_owned(), false),
            ("NaN".to_owned(), false),
            ("[1] 2".to_owned(), false),
            (deep(127), true),
            (deep(128), false),
            (deep(100_000), false),
        ];
        for (text, passes) in table {
            let start: String = text.chars().take(20).collect();
            assert_eq!(check(&text).is_ok(), passes, "{start}");
            assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), passes, "{start}, as it is read");
        }
    }
}
