//! What requests cost: the list prices of models, each with its day and its source.

use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::types::Usage;
use crate::files::{LONGEST_TEXT, read_text};

/// US dollars of an hour in a provider's container for scripts. The first 1,550 hours of an account's month are free, and
/// all of them beside the provider's newer web tools. Source: the provider's page on code execution, 2026-09.
pub const CONTAINER_HOUR: f64 = 0.05;

/// The least time that is billed of such a container. Source: as above.
pub const SHORTEST_CONTAINER: std::time::Duration = std::time::Duration::from_secs(5 * 60);

/// The prices that come with the workbench.
const BUILT_IN: &str = include_str!("../../prices.toml");

/// US dollars that a million tokens may cost at most, far more than any does: sums of it stay amounts of dollars.
const MOST_DOLLARS: f64 = 1e6;

/// Stands in the place of day and source in records of runs whose provider said itself what they cost.
pub const REPORTED: &str = "the provider's own figures";

/// Known prices. Of two of one model the first counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Prices(Vec<Price>);

/// What some models cost that cost the same.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Exact names, as `--model` takes them: `anthropic:ID`.
    pub models: Vec<String>,
    /// The day on which the source said so.
    #[serde(deserialize_with = "day")]
    pub as_of: Date,
    /// The address it stood at.
    pub source: String,
    /// One card, or several by the length of the prompt, the shortest first.
    pub cards: Vec<Card>,
}

/// US dollars for a million tokens. A part that is not there is not known.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// It holds for whole requests whose prompt has more tokens than this; 0 for all.
    #[serde(default)]
    pub above: u64,
    /// Uncached input.
    pub input: Option<f64>,
    /// Output.
    pub output: Option<f64>,
    /// Input read from a cache.
    pub cache_read: Option<f64>,
    /// Input written to a cache that lasts five minutes, the only one that is asked for.
    pub cache_write_5m: Option<f64>,
    /// Input written to a cache that lasts an hour.
    pub cache_write_1h: Option<f64>,
}

/// Why a file of prices cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The file cannot be read.
    #[error("the prices in {} could not be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is not in the form of prices.
    #[error("the prices in {} cannot be used: {reason}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    price: Vec<Price>,
}

impl Prices {
    /// Those built in, after those of `file` where one is given.
    ///
    /// # Errors
    /// When the file cannot be read or used.
    pub fn load(file: Option<&Path>) -> Result<Self, PricesError> {
        let mut prices = Vec::new();
        if let Some(path) = file {
            let text = read_text(path, LONGEST_TEXT)
                .map_err(|source| PricesError::Unreadable { path: path.to_owned(), source })?;
            prices = parse(&text).map_err(|reason| PricesError::Invalid { path: path.to_owned(), reason })?;
        }
        let built_in =
            parse(BUILT_IN).map_err(|reason| PricesError::Invalid { path: "workbench/prices.toml".into(), reason })?;
        prices.extend(built_in);
        Ok(Self(prices))
    }

    /// What this model costs, by its exact name.
    pub fn of(&self, model: &str) -> Option<&Price> {
        self.0.iter().find(|price| price.models.iter().any(|known| known == model))
    }

    /// What it cost by the list of this day and source, as records name them.
    pub fn of_origin(&self, model: &str, origin: &str) -> Option<&Price> {
        let mut of_model = self.0.iter().filter(|price| price.models.iter().any(|known| known == model));
        of_model.find(|price| price.origin() == origin)
    }
}

impl Price {
    /// What a request cost, in US dollars; nothing when a part that it used has no known price.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let prompt = usage.tokens_read();
        let card = self.cards.iter().rfind(|card| card.above == 0 || prompt > card.above)?;
        let parts = [
            (usage.input_tokens, card.input),
            (usage.output_tokens, card.output),
            (usage.cache_read_tokens, card.cache_read),
            (usage.cache_write_tokens, card.cache_write_5m),
        ];
        let used = parts.into_iter().filter(|(tokens, _)| *tokens > 0);
        let sum: Option<f64> = used.map(|(tokens, price)| price.map(|price| tokens as f64 * price)).sum();
        sum.map(|millionths| whole_nanodollars(millionths / 1e6))
    }

    /// Whether any request has a known cost: of all cards all parts are known, those of caches where tokens are read from
    /// one, which servers may do by themselves, or written to one, which is asked for.
    pub fn covers(&self, cache_reads: bool, cache_writes: bool) -> bool {
        self.cards.iter().all(|card| {
            let plain = card.input.is_some() && card.output.is_some();
            plain && (!cache_reads || card.cache_read.is_some()) && (!cache_writes || card.cache_write_5m.is_some())
        })
    }

    /// Day and source, for records.
    pub fn origin(&self) -> String {
        format!("{}, {}", self.as_of, self.source)
    }
}

/// Rounded to a billionth of a dollar, below which no list goes: sums of fractions end in no tail of digits.
pub fn whole_nanodollars(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|error| D::Error::custom(format!("`{text}` is no day: {error}")))
}

/// The entries of a table; the error is a text for people.
fn parse(text: &str) -> Result<Vec<Price>, String> {
    let Table { price: prices } = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    for price in &prices {
        let name = price.models.first().ok_or("a `[[price]]` names no model")?;
        if price.source.trim().is_empty() {
            return Err(format!("the price of `{name}` has no source"));
        }
        if price.cards.first().is_none_or(|card| card.above != 0) {
            return Err(format!("the price of `{name}` has no card that holds for short prompts"));
        }
        if !price.cards.is_sorted_by(|one, next| one.above < next.above) {
            return Err(format!("the cards of `{name}` are not in the order of `above`"));
        }
        let is_wrong = |price: Option<f64>| price.is_some_and(|price| !(0.0..=MOST_DOLLARS).contains(&price));
        let parts = |card: &Card| [card.input, card.output, card.cache_read, card.cache_write_5m, card.cache_write_1h];
        if price.cards.iter().flat_map(parts).any(is_wrong) {
            return Err(format!("a price of `{name}` is no amount of dollars"));
        }
    }
    let mut names: Vec<&String> = prices.iter().flat_map(|price| &price.models).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("`{}` stands there twice", pair[0])),
        None => Ok(prices),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Uncached input, output, read from a cache, written to one.
    fn usage([input_tokens, output_tokens, cache_read_tokens, cache_write_tokens]: [u64; 4]) -> Usage {
        Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, estimated: false }
    }

    #[test]
    fn requests_cost_what_the_list_says() {
        let prices = Prices::load(None).unwrap();
        let table: &[(&str, [u64; 4], Option<f64>)] = &[
            ("anthropic:claude-haiku-5-5", [1_000, 100, 0, 0], Some(0.000_15)),
            ("anthropic:claude-haiku-5-5", [0, 0, 0, 0], Some(0.0)),
            // The edge of the long card: what is read in all decides, and then the whole request goes by it.
            ("anthropic:claude-haiku-5-5", [100_000, 0, 0, 0], Some(0.01)),
            ("anthropic:claude-haiku-5-5", [100_001, 0, 0, 0], Some(0.050_000_5)),
            ("anthropic:claude-haiku-5-5", [50_000, 1_000, 40_000, 10_000], Some(0.007_15)),
            ("anthropic:claude-haiku-5-5", [50_000, 1_000, 40_000, 10_001], Some(0.035_750_625)),
            ("anthropic:claude-haiku-5-5", [1, 1_000_000, 0, 0], Some(0.500_000_1)),
            ("anthropic:claude-sonnet-4-5", [200_001, 0, 0, 0], Some(0.600_003)),
            ("anthropic:claude-haiku-4-5-20251001", [1_000_000, 0, 0, 0], Some(1.0)),
            ("anthropic:claude-opus-4-7", [0, 0, 1_000_000, 1_000_000], Some(6.75)),
            ("anthropic:claude-sonnet-5-5", [3, 7, 11, 13], Some(0.000_109_6)),
            // A part that is not known costs something only when it is used.
            ("anthropic:claude-fable-5-2", [1_000_000, 1_000_000, 0, 0], Some(48.0)),
            ("anthropic:claude-fable-5-2", [1_000_000, 0, 1, 0], None),
            ("anthropic:claude-fable-5-2", [1_000_000, 0, 0, 1], None),
        ];
        for (model, tokens, cost) in table {
            assert_eq!(prices.of(model).unwrap().cost(&usage(*tokens)), *cost, "{model} {tokens:?}");
        }
    }

    #[test]
    fn no_name_is_guessed() {
        let prices = Prices::load(None).unwrap();
        let unknown = [
            "rehearsal",
            "replay:2026",
            "claude-haiku-5-5",
            "anthropic:claude-haiku-5-5-20261007",
            "anthropic:claude-haiku",
            "openrouter:claude-haiku-5-5",
            "ollama:qwen3:8b",
            "llamacpp:any",
            "vllm:any",
        ];
        for model in unknown {
            assert_eq!(prices.of(model), None, "{model}");
        }
    }

    #[test]
    fn every_price_has_its_day_and_its_source() {
        let prices = Prices::load(None).unwrap();
        assert!(prices.0.len() >= 10);
        for price in &prices.0 {
            assert!(price.source.starts_with("https://") && price.as_of.year() >= 2026, "{price:?}");
            assert!(price.covers(false, false), "{price:?}");
        }
        assert!(prices.of("anthropic:claude-sonnet-5").unwrap().covers(true, true));
        assert!(!prices.of("anthropic:claude-mythos-5-2").unwrap().covers(true, true));
    }

    #[test]
    fn prices_of_a_file_go_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.toml");
        let entry = |model: &str, rest: &str| format!("[[price]]\nmodels = [{model}]\n{rest}\n");
        let good = "as_of = \"2026-11-29\"\nsource = \"our contract\"\ncards = [{ input = 7, output = 9 }]";
        std::fs::write(&path, entry("\"anthropic:claude-sonnet-5\", \"openai:own\"", good)).unwrap();
        let prices = Prices::load(Some(&path)).unwrap();
        for model in ["anthropic:claude-sonnet-5", "openai:own"] {
            let price = prices.of(model).unwrap();
            assert!(price.covers(false, false) && !price.covers(true, false), "it tells nothing of caches");
            assert_eq!(price.cost(&usage([1_000_000, 0, 0, 0])), Some(7.0));
            assert_eq!(price.origin(), "2026-11-29, our contract");
        }
        assert!(prices.of("anthropic:claude-opus-5").is_some());

        let table = [
            (entry("\"a\"", "as_of = \"2026-11-29\"\ncards = [{}]"), "missing field `source`"),
            (entry("\"a\"", "source = \"x\"\ncards = [{}]"), "missing field `as_of`"),
            (entry("\"a\"", &good.replace("2026-11-29", "lately")), "as_of = \"lately\""),
            (entry("\"a\"", &good.replace("our contract", " ")), "the price of `a` has no source"),
            (entry("\"a\"", &good.replace("output", "ouput")), "unknown field `ouput`"),
            (entry("\"a\"", &good.replace("input = 7", "input = -7")), "a price of `a` is no amount of dollars"),
            (entry("\"a\"", &good.replace("input = 7", "input = nan")), "a price of `a` is no amount of dollars"),
            (entry("\"a\"", &good.replace("input = 7", "input = 1e300")), "a price of `a` is no amount of dollars"),
            (entry("\"a\"", &good.replace("input", "above = 5, input")), "no card that holds for short prompts"),
            (entry("\"a\"", &good.replace("}]", "}, { above = 9 }, { above = 8 }]")), "order of `above`"),
            (entry("", good), "names no model"),
            (entry("\"a\", \"a\"", good), "`a` stands there twice"),
            (String::new(), "missing field `price`"),
        ];
        for (text, told) in table {
            std::fs::write(&path, &text).unwrap();
            let error = Prices::load(Some(&path)).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("prices.toml"), "{text}: {error}");
        }
        let gone = Prices::load(Some(&folder.path().join("none.toml"))).unwrap_err();
        assert!(matches!(gone, PricesError::Unreadable { .. }), "{gone}");
    }
}
