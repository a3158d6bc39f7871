//! Options that several commands share.

use std::fmt::Display;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::budget_options::BudgetOptions;
use super::model_options::ModelOptions;
use super::sandbox_options::SandboxOptions;
use crate::domain::manifest::Limits;
use crate::web::{Injection, Route};

/// How a command prints its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Whose rules judge a run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rules {
    /// Those kept in the run's folder.
    Run,
    /// Those of the workspace's domain of that name.
    Workspace,
}

/// Where answers of an API come from: one source a command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Source of data")]
pub struct SourceOptions {
    /// Ask the API itself, not the cassette
    #[arg(long, conflicts_with = "offline")]
    pub live: bool,
    /// Send a host's requests elsewhere (a mirror, a test server): HOST=URL; repeatable. Ignores the cassette.
    /// `WORKBENCH_ROUTES` holds more, joined with commas; those for other domains' hosts are passed over
    #[arg(long = "route", value_name = "HOST=URL")]
    pub routes: Vec<Route>,
    /// Never touch the network; what neither cassette nor cache holds is an error that names it
    #[arg(long)]
    pub offline: bool,
    /// Start from one empty cache for this command
    #[arg(long)]
    pub fresh: bool,
    /// Put a fault in the way: path=GLOB,status=410[,message=TEXT] or path=GLOB,swallow=BODY;
    /// `after=N` and `first=N` choose among the requests of a run; repeatable
    #[arg(long = "inject", value_name = "RULE")]
    pub injections: Vec<Injection>,
}

impl SourceOptions {
    /// Whether any of them was given.
    pub fn is_given(&self) -> bool {
        let Self { live, routes, offline, fresh, injections } = self;
        *live || *offline || *fresh || !routes.is_empty() || !injections.is_empty()
    }
}

/// What ends a tool call, and how many there may be.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits (default: the domain's)")]
pub struct CallLimitOptions {
    /// Seconds of one tool call, without its waits for the API
    #[arg(long, value_name = "N", value_parser = limit::<u64>)]
    pub tool_seconds: Option<u64>,
    /// Tool calls in all, those of scripts included
    #[arg(long, value_name = "N", value_parser = limit::<u32>)]
    pub tool_calls: Option<u32>,
}

/// What ends a script and its tool calls.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits (default: the domain's)")]
pub struct ScriptLimitOptions {
    /// Wall seconds of one script
    #[arg(long, value_name = "N", value_parser = limit::<u64>)]
    pub script_seconds: Option<u64>,
    /// Memory of one script in megabytes
    #[arg(long, value_name = "N", value_parser = limit::<u64>)]
    pub script_memory_mb: Option<u64>,
    /// Its tool calls
    #[command(flatten)]
    pub calls: CallLimitOptions,
}

/// All of the manifest's `[limits]`, each under its own name.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits (default: the domain's)")]
pub struct RunLimitOptions {
    /// Model turns in mode serial
    #[arg(long, value_name = "N", value_parser = limit::<u32>)]
    pub serial_turns: Option<u32>,
    /// Model turns in mode loop
    #[arg(long, value_name = "N", value_parser = limit::<u32>)]
    pub loop_turns: Option<u32>,
    /// Model turns in mode code
    #[arg(long, value_name = "N", value_parser = limit::<u32>)]
    pub code_turns: Option<u32>,
    /// Model turns in mode hosted
    #[arg(long, value_name = "N", value_parser = limit::<u32>)]
    pub hosted_turns: Option<u32>,
    /// Characters of a script's output that a model reads
    #[arg(long, value_name = "N", value_parser = limit::<usize>)]
    pub output_chars: Option<usize>,
    /// Its scripts
    #[command(flatten)]
    pub scripts: ScriptLimitOptions,
}

/// How a run is made.
#[derive(Clone, Debug, Default, Args)]
pub struct RunOptions {
    /// Who is asked
    #[command(flatten)]
    pub model: ModelOptions,
    /// Where its scripts run
    #[command(flatten)]
    pub sandbox: SandboxOptions,
    /// A word kept with the run, to find it again
    #[arg(long, value_parser = tag)]
    pub tag: Option<String>,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the run
    #[command(flatten)]
    pub limits: RunLimitOptions,
    /// What it may use up beside that
    #[command(flatten)]
    pub budgets: BudgetOptions,
}

/// A tag stands in tables and is typed again.
fn tag(text: &str) -> Result<String, String> {
    const LONGEST: usize = 100;
    match text {
        "" => Err("it is empty".to_owned()),
        text if text.chars().any(char::is_control) => Err("it has control characters".to_owned()),
        text if text.chars().count() > LONGEST => Err(format!("it has more than {LONGEST} characters")),
        text => Ok(text.to_owned()),
    }
}

impl CallLimitOptions {
    /// The domain's limits, with those given here in their place.
    pub fn over(&self, domain: &Limits) -> Limits {
        Limits {
            tool_seconds: self.tool_seconds.unwrap_or(domain.tool_seconds),
            tool_calls: self.tool_calls.unwrap_or(domain.tool_calls),
            ..domain.clone()
        }
    }
}

impl ScriptLimitOptions {
    /// The domain's limits, with those given here in their place.
    pub fn over(&self, domain: &Limits) -> Limits {
        Limits {
            script_seconds: self.script_seconds.unwrap_or(domain.script_seconds),
            script_memory_mb: self.script_memory_mb.unwrap_or(domain.script_memory_mb),
            ..self.calls.over(domain)
        }
    }
}

impl RunLimitOptions {
    /// The domain's limits, with those given here in their place.
    pub fn over(&self, domain: &Limits) -> Limits {
        Limits {
            serial_turns: self.serial_turns.unwrap_or(domain.serial_turns),
            loop_turns: self.loop_turns.unwrap_or(domain.loop_turns),
            code_turns: self.code_turns.unwrap_or(domain.code_turns),
            hosted_turns: self.hosted_turns.unwrap_or(domain.hosted_turns),
            output_chars: self.output_chars.unwrap_or(domain.output_chars),
            ..self.scripts.over(domain)
        }
    }
}

/// A limit as the manifest takes it: a whole number, at least 1.
pub(super) fn limit<T: FromStr<Err: Display> + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    match text.parse::<T>() {
        Ok(number) if number >= T::from(1) => Ok(number),
        Ok(_) => Err("must be at least 1".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    /// What each limit is set to by `COMMAND … --limit N`; nothing where the flag is refused.
    fn set_by_flags(command: &[&str], limits: impl Fn(Command) -> Limits) -> Vec<&'static str> {
        let entries = Limits::default().entries();
        let taken = entries.into_iter().filter(|(key, _)| {
            let flag = format!("--{}", key.replace('_', "-"));
            let words = ["workbench"].iter().chain(command).copied().chain([flag.as_str(), "7"]);
            let Ok(cli) = Cli::try_parse_from(words) else { return false };
            let set: Vec<&str> =
                limits(cli.command).entries().iter().filter(|entry| entry.1 == 7).map(|entry| entry.0).collect();
            assert_eq!(set, [*key]);
            true
        });
        taken.map(|(key, _)| key).collect()
    }

    #[test]
    fn each_limit_is_a_flag_where_it_counts() {
        let domain = Limits::default();
        let all: Vec<&str> = domain.entries().iter().map(|entry| entry.0).collect();
        let run = set_by_flags(&["run", "d"], |command| match command {
            Command::Run(arguments) => arguments.options.limits.over(&domain),
            other => panic!("{other:?}"),
        });
        assert_eq!(run, all);
        let compare = set_by_flags(&["compare", "d"], |command| match command {
            Command::Compare(arguments) => arguments.options.limits.over(&domain),
            other => panic!("{other:?}"),
        });
        assert_eq!(compare, all);
        let replay = set_by_flags(&["replay", "r"], |command| match command {
            Command::Replay(arguments) => arguments.limits.over(&domain),
            other => panic!("{other:?}"),
        });
        assert_eq!(replay, all);
        let call = set_by_flags(&["call", "d", "t"], |command| match command {
            Command::Call(arguments) => arguments.limits.over(&domain),
            other => panic!("{other:?}"),
        });
        assert_eq!(call, ["tool_seconds", "tool_calls"]);
        for command in [&["script", "d", "-"][..], &["smoke", "d"], &["record", "d"]] {
            let script = set_by_flags(command, |command| match command {
                Command::Script(arguments) => arguments.limits.over(&domain),
                Command::Smoke(arguments) => arguments.limits.over(&domain),
                Command::Record(arguments) => arguments.limits.over(&domain),
                other => panic!("{other:?}"),
            });
            assert_eq!(script, ["script_seconds", "script_memory_mb", "tool_seconds", "tool_calls"], "{command:?}");
        }
    }
}
