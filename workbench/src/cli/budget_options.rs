//! Options that say what a run may use up, and what its requests cost.

use std::path::PathBuf;

use clap::Args;

use super::options::limit;
use crate::results::format::Budgets;

/// What ends a run before its next request, and what requests cost.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Budgets (of each run; looked at before each request to the model)")]
pub struct BudgetOptions {
    /// End a run that has read this many tokens
    #[arg(long, value_name = "N", value_parser = limit::<u64>)]
    pub max_tokens_read: Option<u64>,
    /// End a run that has cost this many US dollars; the price of the model must be known
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// End a run that has taken this many seconds; ends a wait for the model, but no tool call or script
    #[arg(long, value_name = "N", value_parser = limit::<u64>)]
    pub max_seconds: Option<u64>,
    /// Prices of models, which go before those built in; in the form of workbench/prices.toml
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

impl BudgetOptions {
    /// As records say them.
    pub fn budgets(&self) -> Budgets {
        Budgets { max_tokens_read: self.max_tokens_read, max_cost_usd: self.max_cost, max_seconds: self.max_seconds }
    }
}

/// An amount of money that can be spent.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) => Err("must be more than 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
