//! The table: a row for each promise, as Markdown.

use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::rounds::Pair;

/// The rows so far.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<[String; 5]>,
}

/// What a row promises: a ratio, or a time.
#[derive(Clone, Copy)]
pub(crate) enum Figure {
    Ratio(f64),
    Time(Duration),
}

impl Table {
    /// A row of something measured in turn with its stand-in.
    pub(crate) fn against(&mut self, what: &str, pair: &Pair, limit: Option<f64>) {
        let figure = Figure::Ratio(pair.ratio);
        self.row(what, time(pair.ours), time(pair.theirs), figure, limit.map(Figure::Ratio));
    }

    /// A row of something that has no stand-in.
    pub(crate) fn alone(&mut self, what: &str, took: Duration, limit: Option<Duration>) {
        self.row(what, time(took), String::new(), Figure::Time(took), limit.map(Figure::Time));
    }

    /// A row with words of its own.
    pub(crate) fn row(&mut self, what: &str, ours: String, theirs: String, figure: Figure, limit: Option<Figure>) {
        let promised = match limit {
            None => String::new(),
            Some(limit) if figure.value() <= limit.value() => limit.to_string(),
            Some(limit) => format!("{limit} **missed**"),
        };
        eprintln!("{what}: {figure}");
        self.rows.push([what.to_owned(), ours, theirs, figure.to_string(), promised]);
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text =
            String::from("| what | workbench | stand-in | figure | at most |\n| --- | ---: | ---: | ---: | ---: |\n");
        for row in &self.rows {
            // Writing to a string cannot fail.
            _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }
}

impl Figure {
    fn value(self) -> f64 {
        match self {
            Self::Ratio(ratio) => ratio,
            Self::Time(time) => time.as_secs_f64(),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio(ratio) => write!(formatter, "{ratio:.2} ×"),
            Self::Time(duration) => formatter.write_str(&time(*duration)),
        }
    }
}

/// A time with three digits.
pub(crate) fn time(duration: Duration) -> String {
    let (number, unit) = match duration.as_secs_f64() {
        seconds if seconds < 1e-3 => (seconds * 1e6, "µs"),
        seconds if seconds < 1.0 => (seconds * 1e3, "ms"),
        seconds => (seconds, "s"),
    };
    let digits = if number < 10.0 {
        2
    } else if number < 100.0 {
        1
    } else {
        0
    };
    format!("{number:.digits$} {unit}")
}
