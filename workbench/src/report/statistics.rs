//! Figures of several runs, and how far they can be trusted. `docs/statistics.md` tells what may be claimed from them.

use serde::Serialize;

/// Samples that an interval is made of.
const RESAMPLES: usize = 10_000;
/// One in so many samples lies beyond each end: 95 of 100 are within.
const BEYOND: usize = 40;
/// Where the random numbers begin, always: the same runs have the same interval.
const SEED: u64 = 0x5EED;
/// Fewer runs than this say nothing about how runs scatter.
const FEWEST: usize = 3;

/// Median and range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle value; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

/// Why a ratio has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoInterval {
    /// A side has fewer than three runs.
    TooFewRuns,
    /// On each side all runs are the same, so nothing is known of how they would scatter.
    IdenticalRuns,
}

impl Spread {
    /// Median and range of `values`, if there are any.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values = sorted(&values.collect::<Vec<f64>>());
        Some(Self { median: median(&values)?, min: *values.first()?, max: *values.last()? })
    }
}

/// The interval that holds the ratio of the medians of `above` and `below` 95 times in 100, as far as their runs can
/// tell: the percentile bootstrap, each side drawn with replacement by itself. The order of the values does not matter.
///
/// # Errors
/// When the runs cannot tell.
pub fn interval(above: &[f64], below: &[f64]) -> Result<[f64; 2], NoInterval> {
    interval_of(above, below, RESAMPLES)
}

fn interval_of(above: &[f64], below: &[f64], resamples: usize) -> Result<[f64; 2], NoInterval> {
    if above.len() < FEWEST || below.len() < FEWEST {
        return Err(NoInterval::TooFewRuns);
    }
    let (above, below) = (sorted(above), sorted(below));
    if [&above, &below].iter().all(|side| side.first() == side.last()) {
        return Err(NoInterval::IdenticalRuns);
    }
    let (mut random, mut places) = (Random(SEED), Vec::new());
    let mut sample = |side: &[f64]| random.median_of_sample(side, &mut places);
    let mut ratios: Vec<f64> = (0..resamples).map(|_| sample(&above) / sample(&below)).collect();
    ratios.sort_by(f64::total_cmp);
    let beyond = resamples / BEYOND;
    Ok([ratios[beyond], ratios[resamples - 1 - beyond]])
}

/// The chance that `k` runs drawn from `n`, of which `passed` passed, all passed: the unbiased estimate of pass^k.
pub fn pass_hat(passed: usize, n: usize, k: usize) -> f64 {
    (0..k).map(|drawn| passed.saturating_sub(drawn) as f64 / (n - drawn) as f64).product()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of values in order.
fn median(values: &[f64]) -> Option<f64> {
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

/// SplitMix64, by Steele, Lea and Flood (2014): small, and good enough to draw runs by.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// The median of as many values as there are, drawn with replacement; they are in order, and there are some.
    fn median_of_sample(&mut self, values: &[f64], places: &mut Vec<usize>) -> f64 {
        places.clear();
        places.extend((0..values.len()).map(|_| self.below(values.len())));
        // Places of values in order are in the order of the values.
        let middle = places.len() / 2;
        let (lower, upper, _) = places.select_nth_unstable(middle);
        let upper = values[*upper];
        match lower.iter().max() {
            Some(below) if values.len().is_multiple_of(2) => f64::midpoint(values[*below], upper),
            _ => upper,
        }
    }

    /// A number below `count`, each as likely as the others.
    fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.next()) * count as u128) >> 64) as usize
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_any_number_of_values() {
        let table: &[(&[f64], Option<f64>)] =
            &[(&[], None), (&[4.0], Some(4.0)), (&[9.0, 1.0], Some(5.0)), (&[3.0, 1.0, 2.0], Some(2.0))];
        for (values, expected) in table {
            assert_eq!(Spread::of(values.iter().copied()).map(|spread| spread.median), *expected, "{values:?}");
        }
    }

    #[test]
    fn an_interval_depends_on_the_runs_and_on_nothing_else() {
        let (above, below) = ([30.0, 10.0, 20.0, 25.0], [5.0, 4.0, 6.0]);
        let first = interval(&above, &below).unwrap();
        assert_eq!(interval(&above, &below), Ok(first));
        assert_eq!(interval(&[10.0, 20.0, 25.0, 30.0], &[6.0, 5.0, 4.0]), Ok(first));
        assert!(first[0] < 22.5 / 5.0 && 22.5 / 5.0 < first[1], "{first:?}");
        // With three runs on each side its ends are those of the range.
        assert_eq!(interval(&[10.0, 20.0, 30.0], &[4.0, 5.0, 6.0]), Ok([10.0 / 6.0, 30.0 / 4.0]));
        assert_eq!(interval(&[10.0; 3], &[4.0, 5.0, 6.0]), Ok([10.0 / 6.0, 10.0 / 4.0]));
    }

    #[test]
    fn runs_that_cannot_tell_have_no_interval() {
        let table: &[(&[f64], &[f64], NoInterval)] = &[
            (&[], &[], NoInterval::TooFewRuns),
            (&[1.0, 2.0], &[1.0, 2.0, 3.0], NoInterval::TooFewRuns),
            (&[1.0, 2.0, 3.0], &[1.0, 2.0], NoInterval::TooFewRuns),
            (&[7.0; 5], &[3.0; 3], NoInterval::IdenticalRuns),
        ];
        for (above, below, reason) in table {
            assert_eq!(interval(above, below), Err(*reason), "{above:?} {below:?}");
        }
    }

    /// How often the interval holds the ratio that runs are drawn from: nine times in ten with three runs a mode, as it
    /// promises from five on. `docs/statistics.md` says so.
    #[test]
    fn intervals_hold_the_truth_as_often_as_is_said() {
        let mut random = Random(7);
        // About log-normal, around 1: a sum of uniform numbers is as good as normal here.
        let mut run = || {
            let sum: f64 = (0..12).map(|_| random.next() as f64 / u64::MAX as f64).sum();
            ((sum - 6.0) * 0.3).exp()
        };
        for (n, least, most) in [(3, 86, 94), (5, 94, 100), (10, 93, 100)] {
            let held = (0..400).filter(|_| {
                let mut side = || (0..n).map(|_| run()).collect::<Vec<f64>>();
                let [low, high] = interval_of(&side(), &side(), 400).unwrap();
                low <= 1.0 && 1.0 <= high
            });
            let of_100 = held.count() / 4;
            assert!((least..=most).contains(&of_100), "{n} runs: {of_100} of 100");
        }
    }

    #[test]
    fn all_of_k_runs_pass() {
        for (passed, n, k, expected) in [
            (3, 3, 3, 1.0),
            (0, 3, 1, 0.0),
            (2, 3, 1, 2.0 / 3.0),
            (2, 3, 2, 1.0 / 3.0),
            (2, 3, 3, 0.0),
            (7, 10, 5, 21.0 / 252.0),
        ] {
            assert!((pass_hat(passed, n, k) - expected).abs() < 1e-12, "{passed} of {n}, {k}");
        }
    }
}
