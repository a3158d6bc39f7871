//! What goes wrong in a run through no fault of the model, collected while it happens.

use std::sync::{Mutex, PoisonError};

use super::format::Fault;

/// Different texts that are kept: of an API that is down, every address has its own.
const KEPT: usize = 20;
/// Characters of a text that are kept: a plugin that dies may say anything, and the texts stand in `run.json`.
const LONGEST: usize = 1000;
/// What stands for the rest.
pub const OTHERS: &str = "others";

/// The faults a run has met so far. Shared by those who meet them.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Counts a fault; `text` says what failed, with which value.
    pub fn note(&self, text: &str) {
        let cut = text.char_indices().nth(LONGEST).map(|(end, _)| format!("{}…", &text[..end]));
        let text = cut.as_deref().unwrap_or(text);
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = faults.iter().any(|fault| fault.text == text);
        let text = if is_known || faults.len() < KEPT { text } else { OTHERS };
        match faults.iter_mut().find(|fault| fault.text == text) {
            Some(fault) => fault.count += 1,
            None => faults.push(Fault { text: text.to_owned(), count: 1 }),
        }
    }

    /// The faults so far, in the order in which they were first met.
    pub fn met(&self) -> Vec<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_faults_are_counted_and_the_list_is_bounded() {
        let faults = Faults::default();
        for number in 0..1000 {
            faults.note(&format!("fault {}", number % 100));
        }
        let met = faults.met();
        let counts: Vec<(&str, u64)> = met.iter().map(|fault| (fault.text.as_str(), fault.count)).collect();
        assert_eq!(counts.len(), KEPT + 1);
        assert_eq!((counts[0], counts[KEPT]), (("fault 0", 10), (OTHERS, 800)));
    }

    #[test]
    fn a_long_text_is_cut() {
        let faults = Faults::default();
        for length in [LONGEST, LONGEST + 1, 50_000, 60_000] {
            faults.note(&"é".repeat(length));
        }
        let met: Vec<_> = faults.met().iter().map(|fault| (fault.text.chars().count(), fault.count)).collect();
        assert_eq!(met, [(LONGEST, 1), (LONGEST + 1, 3)]);
    }
}
