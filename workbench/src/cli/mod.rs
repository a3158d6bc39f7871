//! The command line as types. What a command does with them stands in `commands/`.

pub mod model_options;
pub mod options;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::model::provider::ModelChoice;

use self::options::{CallLimitOptions, Format, RunOptions, ScriptLimitOptions, SourceOptions};

/// Measures, on one task and the same tools, what a model reads when it calls tools one step at a
/// time, and what it reads when it writes one script that calls them.
#[derive(Debug, Parser)]
#[command(name = "workbench", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Example:\n  workbench compare met\n  workbench report met\n\nExit codes: 0 success, \
1 judged and found short, 2 usage or manifest, 3 plugin, 4 sandbox, 5 model or network, 70 bug, 130 interrupted.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Where runs are kept; without it `results/` of the workspace or of the current folder
    #[arg(long, global = true, env = crate::env::RESULTS, value_name = "FOLDER")]
    pub results: Option<PathBuf>,
}

/// The subcommands, in the order a newcomer meets them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the domains of this workspace
    #[command(after_help = "Example:\n  workbench list")]
    List(ListArguments),
    /// Show a domain (its task, rules and limits) or a run (turn by turn)
    #[command(after_help = "Examples:\n  workbench show met\n  workbench show 2026-11-29T15-30-00Z-code-1")]
    Show(ShowArguments),
    /// Show a domain's tools as a model gets them
    #[command(after_help = "Examples:\n  workbench tools met             JSON schemas, as in serial and loop\n  \
workbench tools met --python    the text code mode sees\n  \
workbench tools met --count     what they cost on every turn, in each mode")]
    Tools(ToolsArguments),
    /// Call one tool and print what a model would read
    #[command(after_help = "Examples:\n  workbench call met search_collection query=cat limit=5\n  \
workbench call met get_object '{\"object_id\": 9000003}'")]
    Call(CallArguments),
    /// Run one script in the sandbox by hand
    #[command(after_help = "Examples:\n  workbench script met domains/met/smoke.py --ledger\n  \
echo 'from tools import *; print(list_departments())' | workbench script met -")]
    Script(ScriptArguments),
    /// Fetch one address of a domain's API through the host's web client
    #[command(
        after_help = "Examples:\n  workbench fetch met /v1/departments\n  workbench fetch met '/v1/search?q=cat'"
    )]
    Fetch(FetchArguments),
    /// Try a domain without a model: its tools, its error texts, its whole task as one plain script
    #[command(after_help = "Example:\n  workbench smoke met")]
    Smoke(SmokeArguments),
    /// Run a domain's task once, in one mode, and judge the result
    #[command(after_help = "Example:\n  workbench run met --mode code")]
    Run(RunArguments),
    /// Run a domain's task in several modes, several times each, and compare what the model read
    #[command(
        after_help = "Examples:\n  workbench compare met\n  workbench compare met --modes loop,code --runs 5 --jobs 2\n  \
workbench compare met --resume    the same command line goes on where it was cut off"
    )]
    Compare(CompareArguments),
    /// Judge a finished run again, from its files
    #[command(after_help = "Examples:\n  workbench verify 2026-11-29T15-30-00Z-code-1\n  \
workbench verify 2026-11-29T15-30-00Z-code-1 --again    what is missing is asked for")]
    Verify(VerifyArguments),
    /// Show the runs of a domain, and the figures of each mode
    #[command(after_help = "Examples:\n  workbench report met\n  workbench report met --format json")]
    Report(ReportArguments),
    /// Record a domain's API into its cassette, so that it runs offline
    #[command(
        after_help = "Examples:\n  workbench record met\n  workbench record met --urls paths.txt --to my-cassette"
    )]
    Record(RecordArguments),
    /// Check this machine: toolchain, plugins, sandbox, results, keys; with `--model`, a provider's model
    #[command(after_help = "Examples:\n  workbench doctor\n  workbench doctor --model anthropic:claude-haiku-5-5")]
    Doctor(DoctorArguments),
}

/// `workbench list`
#[derive(Debug, Args)]
pub struct ListArguments {
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench show`
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// A domain's name or folder, or a run's name or folder
    #[arg(value_name = "DOMAIN|RUN")]
    pub subject: String,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench tools`
#[derive(Debug, Args)]
pub struct ToolsArguments {
    /// A domain's name or folder
    pub domain: String,
    /// Only this tool
    pub tool: Option<String>,
    /// The Python text that code mode shows, instead of JSON schemas
    #[arg(long)]
    pub python: bool,
    /// The tokens of tools and system text in each mode, which a model reads on every turn
    #[arg(long, conflicts_with_all = ["tool", "python"])]
    pub count: bool,
    /// Who counts: a provider's model; without it tokens are counted here, and marked `≈`
    #[arg(long, value_name = "MODEL", requires = "count")]
    pub model: Option<ModelChoice>,
    /// Another address of the model's API
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// How to print the count
    #[arg(long, default_value = "text", requires = "count")]
    pub format: Format,
}

/// `workbench call`
#[derive(Debug, Args)]
pub struct CallArguments {
    /// A domain's name or folder
    pub domain: String,
    /// The tool's name
    pub tool: String,
    /// Arguments as NAME=VALUE, or one JSON object
    #[arg(value_name = "NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the call
    #[command(flatten)]
    pub limits: CallLimitOptions,
}

/// `workbench script`
#[derive(Debug, Args)]
pub struct ScriptArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A Python file, or `-` for standard input
    pub file: PathBuf,
    /// Print the ledger of its tool calls after the output, one JSON line a call
    #[arg(long)]
    pub ledger: bool,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the script
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}

/// `workbench fetch`
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A path on the API's base, or a full address on one of its hosts
    pub path: String,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
}

/// `workbench smoke`
#[derive(Debug, Args)]
pub struct SmokeArguments {
    /// A domain's name or folder
    pub domain: String,
    /// Where answers come from
    #[command(flatten)]
    pub source: SourceOptions,
    /// What ends the script
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}

/// `workbench run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A domain's name or folder
    pub domain: String,
    /// How the model calls tools: serial, loop or code
    #[arg(long, default_value = "code")]
    pub mode: crate::runner::Mode,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// How the run is made
    #[command(flatten)]
    pub options: RunOptions,
}

/// `workbench compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Domains' names or folders
    #[arg(required = true, value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Modes, joined with commas
    #[arg(long, value_delimiter = ',', default_value = "serial,loop,code")]
    pub modes: Vec<crate::runner::Mode>,
    /// Runs of each mode
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Runs under way at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub jobs: u32,
    /// Go on with a comparison of these settings that was cut off, the newest or the one of this name: make the runs
    /// that are missing or unfinished, and report all
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true)]
    pub resume: Option<Option<String>>,
    /// Exit with 1 when a run of this mode was not verified; repeatable
    #[arg(long, value_name = "MODE")]
    pub require: Vec<crate::runner::Mode>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// How the runs are made
    #[command(flatten)]
    pub options: RunOptions,
}

/// `workbench verify`
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// A run's name or folder
    pub run: String,
    /// Ask for missing answers of the API where the run got its data; the sources below do so, too
    #[arg(long)]
    pub again: bool,
    /// Whose rules judge: those kept with the run, or those of the workspace's domain
    #[arg(long, default_value = "run")]
    pub rules: options::Rules,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
    /// Where missing answers come from
    #[command(flatten)]
    pub source: SourceOptions,
}

/// `workbench report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Domains' names; without one, every domain that has runs
    #[arg(value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Only runs with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only the runs of the last command that made any
    #[arg(long)]
    pub last: bool,
    /// Exit with 1 when a run of this mode was not verified; repeatable
    #[arg(long, value_name = "MODE")]
    pub require: Vec<crate::runner::Mode>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// `workbench record`
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// A domain's name or folder
    pub domain: String,
    /// A file with one path or address a line, instead of running the domain's scripts
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,
    /// Folder of the cassette, instead of the domain's own
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
    /// Send a host's requests elsewhere: HOST=URL; repeatable
    #[arg(long = "route", value_name = "HOST=URL")]
    pub routes: Vec<crate::web::Route>,
    /// What ends the scripts
    #[command(flatten)]
    pub limits: ScriptLimitOptions,
}

/// `workbench doctor`
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Ask for this model, too: whether key, address and model serve, and what the model allows
    #[arg(long, value_name = "MODEL")]
    pub model: Option<ModelChoice>,
    /// Another address of the model's API
    #[arg(long, value_name = "URL", requires = "model")]
    pub base_url: Option<String>,
    /// How to print
    #[arg(long, default_value = "text")]
    pub format: Format,
}
